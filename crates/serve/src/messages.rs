//! The requests with their parameters and results. Every request also takes the parameters of [`COMMON`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::frames::{QuestionName, Snapshot, VoteOutcome, VoteReport, Voter, is_zero};
use super::options::UndoPolicy;
use super::role::RoleName;
use riskbreaker_lab::Chance;
use riskbreaker_play::{
    Choice, DiceSource, Driver, Edit, Explanation, FreeAct, MigrationNote, Remedy, SheetRow, TakenBack, Undone,
};
use riskbreaker_ruleset::{Switch, SwitchKind, SwitchValue};
use riskbreaker_state::{EntityId, OutcomeKind, Value};
use riskbreaker_store::{CampaignScene, LeftOutDecision, LogEntry};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The most bytes of one message to the host.
pub const MOST_BYTES: usize = 64 * 1024;
/// The most requests that wait at one table.
pub const MOST_WAITING: usize = 64;
/// The number of results kept for repeated keys, per table.
pub const KEYS_KEPT: usize = 1024;
/// The most bytes of the events of a step, as JSON; older events are left out.
pub const EVENT_BYTES: usize = 1 << 20;
/// The most characters of a line of the chat.
pub const MOST_SAID: usize = 1_000;
/// The number of lines of the log in a snapshot, and of the chat.
pub const LINES_SHOWN: usize = 50;

/// Parameters that every request takes: name, type and description.
pub const COMMON: [(&str, &str, &str); 3] = [
    ("viewer", "integer", "a number from `hello`; every method takes it, every notice has it"),
    ("table", "string", "for an operator without a viewer: the table that is meant"),
    ("key", "string", "an idempotency key of at most 64 characters: a repeated key gets the first result"),
];

fn is_false(value: &bool) -> bool {
    !value
}

fn yes() -> bool {
    true
}

fn protocol() -> u32 {
    PROTOCOL
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    #[serde(default = "protocol")]
    pub protocol: u32,
    /// The name of the client.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the messages")]
    pub client: Option<String>,
    /// The token of an invitation, or of a device.
    #[serde(default)]
    pub token: Option<String>,
    /// A code to exchange for the token of a new device: of an invitation, or the join code of a table.
    #[serde(default)]
    pub code: Option<String>,
    /// With a code: the name of the person, 1 to 40 characters.
    #[serde(default)]
    pub name: Option<String>,
    /// True to watch a table that lets everybody watch.
    #[serde(default)]
    pub watch: bool,
    /// For an operator: true if the presence list does not count this viewer.
    #[serde(default)]
    pub unseen: bool,
    /// For an operator: the role of this viewer at `table`. Without it, the viewer is for the host's own data only.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// For an operator: the seat of a viewer with the role `seat`. For a person with several seats: the seat that this
    /// viewer plays; the first one if omitted.
    #[serde(default)]
    pub seat: Option<String>,
    /// For an operator: several seats of a viewer with the role `seat`, instead of `seat`.
    #[serde(default)]
    pub seats: Vec<String>,
    /// The last revision that the client has: `view.log` begins after it.
    #[serde(default)]
    pub since: Option<u64>,
    /// The last step that the client has. If the host has restarted the revisions after it, `since` is ignored.
    #[serde(default)]
    pub seq: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Welcome {
    pub protocol: u32,
    pub host: String,
    /// Omitted in the waiting room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// All seats of the person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<String>,
    /// The token of this device, in exchange for a code. It is sent only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// True in the waiting room: the notice `admitted` brings the decision of the game master. Nothing of the table is
    /// sent before.
    #[serde(skip_serializing_if = "is_false")]
    pub waiting: bool,
    /// The number of the new viewer, for `viewer` in later requests. Every message to this viewer contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewer: Option<u32>,
    pub limits: ProtocolLimits,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<Snapshot>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ProtocolLimits {
    /// The most bytes of one message to the host.
    pub message: usize,
    /// The most requests that wait at one table.
    pub waiting: usize,
    /// The number of results kept for repeated keys, per table.
    pub keys: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewParams {
    /// The log begins after this revision.
    #[serde(default)]
    pub since: Option<u64>,
    /// The last step that the client has, as in `hello`.
    #[serde(default)]
    pub seq: Option<u64>,
}

/// The result of an accepted command: the number of its step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Accepted {
    pub seq: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerParams {
    pub question: QuestionName,
    /// The answer in its exact form: an option's id, a list of ids, a number, points by option id, true or false, a line.
    pub value: Value,
    /// For a game master: the seat to answer for. It has to be the asked seat.
    #[serde(rename = "as", default)]
    pub acting: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyParams {
    /// Early answers by topic, in order: options by name, beginning or number. All are accepted, or none.
    pub pairs: Vec<(String, Value)>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActParams {
    pub name: String,
    /// For a game master: the seat to act for.
    #[serde(rename = "as", default)]
    pub acting: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswersParams {
    pub question: QuestionName,
    /// The most answers to list; 1,000 if omitted, which is also the maximum.
    #[serde(default)]
    pub most: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Answers {
    /// Every possible answer; null if there are more than `most`, or if any line is an answer.
    pub answers: Option<Vec<Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindParams {
    pub question: QuestionName,
    /// Parts of the name, the id or the note of an option, separated by blanks. An option must contain all of them.
    pub text: String,
}

/// Options of a question that were searched for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// The first 100 of the options that were found, open ones before closed ones.
    pub options: Vec<Choice>,
    /// The number of options that were found and are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(default)]
    pub more: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestParams {
    pub question: QuestionName,
    /// The policy of the ruleset to ask.
    pub policy: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Suggestion {
    /// The answer in its exact form; null if the policy does not answer.
    pub value: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintParams {
    pub question: QuestionName,
    /// The number of games over all answers; 4,000 if omitted, which is also the maximum.
    #[serde(default)]
    pub games: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OddsParams {
    pub question: QuestionName,
    /// Given answers, by topic.
    #[serde(default)]
    pub given: Vec<(String, Value)>,
    /// The horizon: names of agenda entries, separated by commas. The odds stop before the next of them. `action` is
    /// the end of the open action. If omitted, the horizon of the ruleset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// The odds of the open action.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OddsReport {
    /// True if the chances are exact; otherwise they are shares of random plays.
    pub exact: bool,
    /// True if a limit was reached, or the work was cancelled: the chances are then an estimate.
    pub partial: bool,
    /// The reason for the estimate, and the number of plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateReport>,
    pub outcomes: Vec<OutcomeReport>,
    /// The chance of paths that were not followed to their end.
    pub remaining: Chance,
    /// The assumed answers to later questions.
    pub answers: Vec<AssumedReport>,
    /// The chance of each named target to be hit, by title, if the ruleset defines a hit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hits: BTreeMap<String, Chance>,
    /// The agenda entries at which the odds stop; empty if they end with the open action.
    pub until: Vec<Arc<str>>,
    /// Why they end with the open action although the ruleset names a later horizon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_further: Option<String>,
    /// What the viewer cannot see: kinds of entities by name, and single fields as `kind.field`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// True if the rules dealt these anew by chance; otherwise they are left out.
    pub dealt: bool,
}

/// An assumed answer to a later question.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssumedReport {
    /// The title of the entity that the question was about, or else the seat that was asked.
    pub who: Arc<str>,
    pub topic: Arc<str>,
    pub answer: String,
    /// The source: `given`, `default`, `first possible`, `best`, or `policy` with its name.
    pub source: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EstimateReport {
    pub samples: u64,
    pub why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OutcomeReport {
    pub text: String,
    pub chance: Chance,
    /// The kind of the outcome for the asked seat.
    pub kind: OutcomeKind,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The id of the request to cancel, on this connection.
    pub id: Json,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    /// True if the request was waiting or running and could be cancelled.
    pub cancelled: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhyParams {
    pub entity: EntityId,
    /// A field or a derived value.
    pub name: String,
    /// The entities that a derived value takes as further arguments.
    #[serde(default)]
    pub with: Vec<EntityId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyReport {
    pub explanation: Explanation,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityParams {
    pub entity: EntityId,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Sheet {
    /// Labels and texts, line by line.
    pub lines: Vec<(String, String)>,
    /// The same lines with their numbers.
    pub rows: Vec<SheetRow>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CardParams {
    pub card: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CardReport {
    pub id: Arc<str>,
    pub title: Arc<str>,
    pub text: String,
    /// Ids of the rules that it implements.
    pub rules: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Acts {
    pub acts: Vec<FreeAct>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoParams {
    /// The last `seq` that the client has seen: a client cannot undo steps that it has not seen.
    pub expect: u64,
    /// Returns to the state after this step; if omitted, one decision is taken back.
    #[serde(default)]
    pub to: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoPreviewParams {
    /// The step that the undo would return to; if omitted, one decision is taken back.
    #[serde(default)]
    pub to: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoPreview {
    /// The last step. Send it as `expect` of an `undo` to take back just this.
    pub seq: u64,
    /// The number of decisions.
    pub decisions: u32,
    /// The decisions, the last one first. There can be fewer, if earlier ones are only in the campaign.
    pub takes_back: Vec<TakenBack>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedoParams {
    /// The last `seq` that the client has seen.
    pub expect: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UndoReport {
    pub seq: u64,
    /// The decisions that were undone or redone, the last first.
    pub undone: Vec<Undone>,
    /// The vote, if the table is asked first: nothing is undone yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteReport>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoteParams {
    /// The vote, by the `id` in the notice `vote`.
    pub id: u64,
    /// True to agree. The viewer that asked for the undo cancels it by `false`.
    pub agree: bool,
}

/// The result of voting.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VoteResult {
    pub outcome: VoteOutcome,
    /// The step of the undo, if it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// A vote on an undo has begun, somebody has agreed, or it was refused. An accepted vote ends with the step of its
/// undo.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VoteNotice {
    pub table: String,
    pub outcome: VoteOutcome,
    /// The voter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Voter>,
    /// The vote, while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteReport>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionsParams {
    /// The viewers who may take decisions back; unchanged if omitted.
    #[serde(default)]
    pub undo: Option<UndoPolicy>,
    /// True if seats may ask for `odds` and for a `hint`; unchanged if omitted.
    #[serde(default)]
    pub odds: Option<bool>,
    /// The delay of watchers in seconds, 0 to 300; unchanged if omitted.
    #[serde(default)]
    pub delay: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditParams {
    pub edit: Edit,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemedyParams {
    pub remedy: Remedy,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchParams {
    pub name: String,
    pub value: Value,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesParams {
    pub ruleset: String,
    #[serde(default)]
    pub layers: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesPreview {
    pub from: String,
    pub to: String,
    /// The differences between the rules, a sentence each.
    pub changes: Vec<String>,
    pub notes: Vec<MigrationNote>,
    /// The agenda entry that the change waits for.
    pub waits_for: Option<String>,
    /// The step of the change, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeatParams {
    pub seat: String,
    pub driver: Driver,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseParams {
    pub paused: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InviteParams {
    /// `seat` if omitted and a seat is given.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// For the role `seat`.
    #[serde(default)]
    pub seat: Option<String>,
    /// For a code: several seats.
    #[serde(default)]
    pub seats: Vec<String>,
    #[serde(default)]
    pub kind: InvitationKind,
    /// For a code: the person who gets another device, instead of a role.
    #[serde(default)]
    pub person: Option<u32>,
    /// For a code: the name of the person.
    #[serde(default)]
    pub name: Option<String>,
    /// For a code: true if it can be used only once.
    #[serde(default = "yes")]
    pub once: bool,
    /// True if the campaign stores it.
    #[serde(default = "yes")]
    pub kept: bool,
    /// For a code of seats: the viewer sees what the seats see, cannot play, and is not counted anywhere. The code is
    /// valid while the host runs.
    #[serde(default)]
    pub look: bool,
    /// For an operator who chooses the token: 8 to 128 characters. If omitted, the host generates one.
    #[serde(default)]
    pub token: Option<String>,
}

/// The kind of an invitation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvitationKind {
    /// A token, which can open any number of viewers.
    #[default]
    Token,
    /// A code, which is exchanged for the token of a new device.
    Code,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct InvitationResult {
    /// The number of a code, for `revoke`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The thing to revoke: exactly one of the four.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeParams {
    #[serde(default)]
    pub token: Option<String>,
    /// The number of an invitation.
    #[serde(default)]
    pub id: Option<u32>,
    /// The number of a person: all devices end.
    #[serde(default)]
    pub person: Option<u32>,
    #[serde(default)]
    pub device: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdmitParams {
    /// The request in the waiting room, from `people`.
    pub request: u32,
    #[serde(default)]
    pub role: Option<RoleName>,
    #[serde(default)]
    pub seat: Option<String>,
    #[serde(default)]
    pub seats: Vec<String>,
    /// The person who gets another device, instead of a role.
    #[serde(default)]
    pub person: Option<u32>,
    /// True to refuse the request.
    #[serde(default)]
    pub refuse: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Admitted {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonParams {
    pub person: u32,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub role: Option<RoleName>,
    #[serde(default)]
    pub seat: Option<String>,
    /// The new seats.
    #[serde(default)]
    pub seats: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// The name, 1 to 40 characters.
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Named {
    /// The name as stored.
    pub name: Arc<str>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LobbyParams {
    /// For game masters: true to accept the join code.
    #[serde(default)]
    pub open: Option<bool>,
    /// For game masters: true to let anybody watch.
    #[serde(default)]
    pub watch: Option<bool>,
    /// For game masters: true to replace the join code.
    #[serde(default)]
    pub renew: bool,
}

/// The ways for people to join a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LobbyReport {
    /// True if the join code is accepted: it leads to the waiting room.
    pub open: bool,
    /// True if anybody may watch.
    pub watch: bool,
    /// The join code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The address of the page for players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// The people of a table, and those who want to join.
#[derive(Debug, Serialize, JsonSchema)]
pub struct People {
    pub waiting: Vec<WaitingPerson>,
    pub people: Vec<PersonReport>,
    pub invitations: Vec<InvitationReport>,
    pub lobby: LobbyReport,
}

/// A person in the waiting room.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingPerson {
    /// The number for `admit`.
    pub request: u32,
    pub name: Arc<str>,
    /// True if the person is connected.
    pub here: bool,
}

/// A person who was admitted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PersonReport {
    pub person: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    pub role: RoleName,
    pub seats: Vec<String>,
    pub devices: Vec<DeviceReport>,
}

/// A browser or a program of a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceReport {
    /// The number for `revoke`.
    pub device: u32,
    /// The number of its open viewers.
    pub viewers: u32,
}

/// A valid invitation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InvitationReport {
    /// The number for `revoke`.
    pub id: u32,
    pub role: RoleName,
    pub seats: Vec<String>,
    /// True for an unused code.
    pub code: bool,
    /// The person who gets another device by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The number of viewers that used it.
    pub viewers: u32,
}

/// The list of `people` has changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeopleNotice {
    pub table: String,
}

/// The decision of a game master about a person in the waiting room.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdmittedNotice {
    /// If true, `hello` with the token returns the view now.
    pub admitted: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiceParams {
    /// The faces of the next rolls, in order, after those already queued. They are no decision: an undo does not remove
    /// them. An empty list clears the queue.
    pub faces: Vec<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// A ruleset of the library; its default if omitted.
    #[serde(default)]
    pub ruleset: Option<String>,
    #[serde(default)]
    pub layers: Vec<String>,
    /// A scenario of the ruleset by name; its default if omitted.
    #[serde(default)]
    pub scenario: Option<String>,
    /// A custom starting position instead of a scenario.
    #[serde(default)]
    pub position: Option<BTreeMap<String, Value>>,
    /// The seed of the dice, at most 2^53 - 1; random if omitted.
    #[serde(default)]
    pub seed: Option<u64>,
    #[serde(default)]
    pub dice: DiceSource,
    /// The driver of a seat: `human`, `absent`, or the id of a policy.
    #[serde(default)]
    pub seats: BTreeMap<String, String>,
    #[serde(default)]
    pub switches: BTreeMap<String, Value>,
    /// A campaign file to create, `NAME.rbsave`: each command is stored in it before it is acknowledged.
    #[serde(default)]
    pub campaign: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadTable {
    /// The file of a saved game, or of a campaign, `NAME.rbsave`.
    #[serde(default)]
    pub path: Option<String>,
    /// A saved game as text, as returned by `table.save`.
    #[serde(default)]
    pub game: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveTable {
    /// The file to write; if omitted, the game is returned as text. `NAME.rbsave` is a campaign file to create: from
    /// then on, each command is stored in it before it is acknowledged.
    #[serde(default)]
    pub path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedTable {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    pub seq: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TableOpened {
    pub table: String,
    pub seq: u64,
    pub ruleset: String,
    pub hash: String,
    pub seed: u64,
    /// The driver of each seat.
    pub seats: BTreeMap<Arc<str>, Driver>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntriesParams {
    /// True to list undone entries as well.
    #[serde(default)]
    pub all: bool,
    /// The most entries to list, counted from the last one.
    #[serde(default)]
    pub most: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Entries {
    pub entries: Vec<LogEntry>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GotoParams {
    /// The number of an entry, as `entries` lists them.
    pub entry: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecapParams {
    /// For game masters: true for the whole campaign instead of the last sitting.
    #[serde(default)]
    pub all: bool,
}

/// A recap as prose.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecapText {
    /// A paragraph for each scene.
    pub paragraphs: Vec<String>,
}

/// The scenes of a campaign.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Scenes {
    /// The scenes played so far, the oldest first. `goto` with `last` returns to the end of one.
    pub scenes: Vec<CampaignScene>,
}

/// A side of an encounter.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SideParams {
    /// The title; the first sides have default names.
    #[serde(default)]
    pub title: Option<String>,
    pub members: Vec<MemberParams>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberParams {
    /// A character of the roster, or a sheet of the ruleset's cast.
    pub name: String,
    /// The number of such characters; one if omitted.
    #[serde(default = "one")]
    pub count: usize,
}

fn one() -> usize {
    1
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncounterParams {
    pub sides: Vec<SideParams>,
    /// The policies that play seats in the simulation; the first policy of the ruleset plays the others.
    #[serde(default)]
    pub seats: BTreeMap<String, String>,
}

/// The share of games that each side wins when policies play an encounter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EncounterReport {
    /// A title that says who meets whom.
    pub title: String,
    /// The number of games that ended.
    pub games: u64,
    /// The number of games without an end after 2,000 actions.
    pub undecided: usize,
    /// The results, the most frequent first.
    pub results: Vec<EncounterResult>,
    /// The driver of each seat.
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// Sentences about sheets that do not fit the rules.
    pub notes: Vec<String>,
    /// True if it was cancelled, or if games did not end.
    pub partial: bool,
}

/// A result of an encounter, with the 95 % interval of its share.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EncounterResult {
    pub result: String,
    pub count: u64,
    /// The share, 0 to 1, like `low` and `high`.
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// The start of the next scene: a scenario of the ruleset, or an encounter. With neither, the default scenario.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneParams {
    #[serde(default)]
    pub scenario: Option<String>,
    /// The sides of an encounter, as `encounter` takes them.
    #[serde(default)]
    pub sides: Option<Vec<SideParams>>,
    /// The seed of the dice, at most 2^53 - 1; random if omitted.
    #[serde(default)]
    pub seed: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SceneBegun {
    pub seq: u64,
    pub title: String,
}

/// The change of an entry: exactly one of `answer`, `faces` and `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendParams {
    /// The number of an entry, as `entries` lists them.
    pub entry: u32,
    /// Another answer, as a person types it.
    #[serde(default)]
    pub answer: Option<String>,
    /// Other faces for the first dice rolled after it.
    #[serde(default)]
    pub faces: Option<Vec<u32>>,
    /// Another manual edit.
    #[serde(default)]
    pub edit: Option<Edit>,
}

/// The effect of amending an entry.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Amended {
    /// The decision at the entry.
    pub text: String,
    /// The events from the first difference on as they are now, a line each; empty once the entry is amended.
    pub kept: Vec<String>,
    /// The events that replace them; empty once the entry is amended.
    pub other: Vec<String>,
    /// The number of later decisions that are repeated.
    pub made_again: u32,
    /// Later decisions that no longer apply.
    pub left_out: Vec<LeftOutDecision>,
    /// The outcome, if the game is then over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// The last entry before the change, for `goto`. Only once the entry is amended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// The step of the change, once the entry is amended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SayParams {
    /// The text, 1 to 1,000 characters. Control characters are removed.
    pub text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SaidReport {
    /// The number of the line.
    pub id: u64,
}

/// A new line of the chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatNotice {
    pub table: String,
    pub line: super::frames::ChatLine,
}

/// A message for the game masters that is not part of the game, such as that rule files were reloaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoticeParams {
    pub text: String,
}

/// A message about the table that is not part of the game.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableNotice {
    pub table: String,
    pub text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TableList {
    pub tables: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesetList {
    pub rulesets: Vec<String>,
}

/// The choices of a game master.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Offers {
    /// The rulesets of the library, for `rules.change`.
    pub rulesets: Vec<String>,
    /// The policies of the rules in force, for `seat` and `suggest`.
    pub policies: Vec<Arc<str>>,
    /// The house rules of the rules in force, for `switch`.
    pub switches: Vec<OfferedSwitch>,
    /// The scenarios of the rules in force, for `scene`.
    pub scenarios: Vec<OfferedScenario>,
    /// The sheets of the ruleset's cast, for `encounter`; empty if the ruleset cannot build scenes from sheets.
    pub cast: Vec<String>,
}

/// A scenario that can be started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedScenario {
    pub name: String,
    pub title: String,
}

/// A house rule that can be set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedSwitch {
    pub name: String,
    /// Its meaning, in a sentence.
    pub text: String,
    /// The ids of the rules that it concerns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The default value.
    pub default: Value,
    /// The possible values; missing if it is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// The smallest and largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(i64, i64)>,
}

impl From<&Switch> for OfferedSwitch {
    fn from(switch: &Switch) -> OfferedSwitch {
        let (values, range) = match &switch.kind {
            SwitchKind::Choice { values } => {
                (Some(values.iter().map(|value| SwitchValue::Text(value.clone()).as_value()).collect()), None)
            }
            SwitchKind::Toggle => (Some([false, true].map(|on| SwitchValue::Bool(on).as_value()).into()), None),
            SwitchKind::Range { min, max } => (None, Some((*min, *max))),
        };
        OfferedSwitch {
            name: switch.name.clone(),
            text: switch.text.clone(),
            rules: switch.rules.clone(),
            default: switch.default.as_value(),
            values,
            range,
        }
    }
}

/// Somebody has connected or left.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresenceNotice {
    pub table: String,
    pub presence: Vec<super::frames::Present>,
}

/// Steps were dropped because the connection reads too slowly. No further steps come before the next `view`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResyncNotice {
    pub table: String,
    pub reason: String,
}

/// The viewer has ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ByeNotice {
    pub table: String,
    pub reason: String,
}
