//! The requests with what they take and give. Every request may also have the parameters of [`COMMON`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::frames::{QuestionName, Snapshot};
use super::options::UndoPolicy;
use super::undo_vote::{VoteOutcome, VoteReport, Voter};
use super::viewer::RoleName;
use riskbreaker_lab::Chance;
use riskbreaker_play::{
    DiceSource, Driver, Edit, Explanation, FreeAct, MigrationNote, Remedy, SheetRow, TakenBack, Undone,
};
use riskbreaker_ruleset::{Switch, SwitchKind, SwitchValue};
use riskbreaker_state::{EntityId, OutcomeKind, Value};
use riskbreaker_store::{CampaignScene, LeftOutDecision, LogEntry};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// Most bytes of one message to the host.
pub const MOST_BYTES: usize = 64 * 1024;
/// Most requests that wait at one table.
pub const MOST_WAITING: usize = 64;
/// Results of commands that are kept for repeated keys, a table.
pub const KEYS_KEPT: usize = 1024;
/// Most bytes of the events of a step, as JSON; older ones are left out.
pub const EVENT_BYTES: usize = 1 << 20;
/// Most characters of a line of the chat.
pub const MOST_SAID: usize = 1_000;
/// Lines of the log in a snapshot, and of the chat.
pub const LINES_SHOWN: usize = 50;

/// What every request may have besides its own parameters: name, type and text.
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
    /// What the client calls itself.
    #[serde(default)]
    #[expect(dead_code, reason = "for whoever reads the messages")]
    pub client: Option<String>,
    /// The token of an invitation, or of a device.
    #[serde(default)]
    pub token: Option<String>,
    /// A code, which is exchanged for the token of a new device: that of an invitation, or the join code of a table.
    #[serde(default)]
    pub code: Option<String>,
    /// With a code: what the person is called, 1 to 40 characters.
    #[serde(default)]
    pub name: Option<String>,
    /// To watch a table that lets everybody watch.
    #[serde(default)]
    pub watch: bool,
    /// For an operator: this viewer is not counted among those who are there.
    #[serde(default)]
    pub unseen: bool,
    /// For an operator: what this viewer is to be at `table`. Nothing: only the host's own data are asked for.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// For an operator: the seat of a viewer with the role `seat`. For a person with several seats: which of them this viewer
    /// plays; the first one if it is left out.
    #[serde(default)]
    pub seat: Option<String>,
    /// For an operator: several seats of a viewer with the role `seat`, instead of `seat`.
    #[serde(default)]
    pub seats: Vec<String>,
    /// The revision that was told last: `view.log` begins behind it.
    #[serde(default)]
    pub since: Option<u64>,
    /// The step that was told last. Where the host has begun to count revisions anew behind it, `since` does not count.
    #[serde(default)]
    pub seq: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Welcome {
    pub protocol: u32,
    pub host: String,
    /// Left out in the waiting room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// All seats of the person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<String>,
    /// The token of this device, where a code was exchanged for it. It is told once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Whether it is in the waiting room: the notice `admitted` tells what the game master says. Nothing of the table is told before.
    #[serde(skip_serializing_if = "is_false")]
    pub waiting: bool,
    /// The number of the new viewer, for `viewer` in further requests; it stands in all that this viewer is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewer: Option<u32>,
    pub limits: ProtocolLimits,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<Snapshot>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ProtocolLimits {
    /// Most bytes of one message to the host.
    pub message: usize,
    /// Most requests that wait at one table.
    pub waiting: usize,
    /// Results that are kept for repeated keys, a table.
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
    /// The log begins behind this revision.
    #[serde(default)]
    pub since: Option<u64>,
    /// The step that was told last, as for `hello`.
    #[serde(default)]
    pub seq: Option<u64>,
}

/// What an accepted command gives: the number of its step.
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
    /// For a game master: the seat that is answered for. It has to be the seat that is asked.
    #[serde(rename = "as", default)]
    pub acting: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplyParams {
    /// Loose answers by topic, in order: options by name, beginning or number. All are taken, or none.
    pub pairs: Vec<(String, Value)>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActParams {
    pub name: String,
    /// For a game master: the seat that acts.
    #[serde(rename = "as", default)]
    pub acting: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswersParams {
    pub question: QuestionName,
    /// Most answers to list; 1,000 if it is left out, and at most.
    #[serde(default)]
    pub most: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Answers {
    /// Every answer that the question takes; nothing where there are more than `most`, or any line would do.
    pub answers: Option<Vec<Value>>,
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
    /// The answer in its exact form; nothing where the policy does not answer.
    pub value: Option<Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintParams {
    pub question: QuestionName,
    /// How many games are played from all answers together; 4,000 if it is left out, and at most.
    #[serde(default)]
    pub games: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OddsParams {
    pub question: QuestionName,
    /// Answers that are given, by topic.
    #[serde(default)]
    pub given: Vec<(String, Value)>,
    /// How far ahead: names of agenda entries, separated by commas; the odds stop before the next of them. `action` is the end
    /// of the open action. Without it, as far as the ruleset says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// What the open action can come to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OddsReport {
    /// Whether the chances are exact; otherwise they are shares of random plays.
    pub exact: bool,
    /// Whether a limit was reached, or the work was cancelled: the chances are an estimate then.
    pub partial: bool,
    /// Why they are estimated, and from how many plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<EstimateReport>,
    pub outcomes: Vec<OutcomeReport>,
    /// The chance of what was not followed to its end.
    pub remaining: Chance,
    /// The answers that were taken for whoever was asked.
    pub answers: Vec<AssumedReport>,
    /// The chance of each named target to be hit, by title, where the ruleset says what a hit is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hits: BTreeMap<String, Chance>,
    /// The agenda entries before the next of which the odds stop; empty where they end with the open action.
    pub until: Vec<Arc<str>>,
    /// Why they end with the open action although the ruleset names a horizon behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_further: Option<String>,
    /// What the viewer cannot see: kinds of entities by name, and single fields as `kind.field`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// Whether the rules dealt that anew by chance; otherwise it is left out.
    pub dealt: bool,
}

/// An answer that was taken for whoever was asked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssumedReport {
    /// The title of the entity that the question was about, or else the seat that was asked.
    pub who: Arc<str>,
    pub topic: Arc<str>,
    pub answer: String,
    /// Where it came from: `given`, `default`, `first possible`, `best`, or `policy` with its name.
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
    /// What it is for the one who is asked.
    pub kind: OutcomeKind,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The id of the request of this connection that is to end.
    pub id: Json,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    /// Whether the request was under way and could be ended.
    pub cancelled: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhyParams {
    pub entity: EntityId,
    /// A field or a derived value.
    pub name: String,
    /// What a derived value takes after the entity: other entities.
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
    /// Label and text, line by line.
    pub lines: Vec<(String, String)>,
    /// The same lines with the numbers that they tell.
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
    /// The `seq` that the client has seen: nobody takes back what they have not seen.
    pub expect: u64,
    /// Goes back to where the table was after this step; without it, by one decision.
    #[serde(default)]
    pub to: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoPreviewParams {
    /// The step to which an undo would go back; without it, by one decision.
    #[serde(default)]
    pub to: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoPreview {
    /// The step that is the last one now: `expect` of an `undo` that takes back just this.
    pub seq: u64,
    /// The number of decisions.
    pub decisions: u32,
    /// The decisions, the last one first. They can be fewer, where the earlier ones are only in the campaign.
    pub takes_back: Vec<TakenBack>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedoParams {
    /// The `seq` that the client has seen.
    pub expect: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UndoReport {
    pub seq: u64,
    /// What was taken back or done again, the last first.
    pub undone: Vec<Undone>,
    /// The table is asked first: nothing is taken back yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteReport>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoteParams {
    /// The vote, as the notice `vote` names it.
    pub id: u64,
    /// Whether you agree. Whoever asked for the undo calls it off by `false`.
    pub agree: bool,
}

/// What came of a word in a vote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VoteResult {
    pub outcome: VoteOutcome,
    /// The step of the undo, if it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

/// A vote on an undo has begun, somebody has agreed, or it was refused. A vote that is accepted ends with the step of its undo.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VoteNotice {
    pub table: String,
    pub outcome: VoteOutcome,
    /// Who has just voted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Voter>,
    /// The vote, as long as it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteReport>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionsParams {
    /// Who takes decisions back; as before if it is left out.
    #[serde(default)]
    pub undo: Option<UndoPolicy>,
    /// Whether seats may ask for `odds` and for a `hint`; as before if it is left out.
    #[serde(default)]
    pub odds: Option<bool>,
    /// How many seconds later watchers are told what happens, 0 to 300; as before if it is left out.
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
    /// What differs in the rules, a sentence each.
    pub changes: Vec<String>,
    pub notes: Vec<MigrationNote>,
    /// The agenda entry that the change waits for.
    pub waits_for: Option<String>,
    /// The step of the change, where one was asked for.
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
    /// `seat` if it is left out and there is a seat.
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
    /// For a code: the person who gets one more device, instead of a role.
    #[serde(default)]
    pub person: Option<u32>,
    /// For a code: what the person is called.
    #[serde(default)]
    pub name: Option<String>,
    /// For a code: whether it ends when it is used.
    #[serde(default = "yes")]
    pub once: bool,
    /// Whether the campaign remembers it.
    #[serde(default = "yes")]
    pub kept: bool,
    /// For a code of seats: it only looks. Whoever shows it sees what the seats see, plays nothing, and is counted nowhere. It holds
    /// as long as the host runs.
    #[serde(default)]
    pub look: bool,
    /// For an operator who makes tokens: 8 to 128 characters. Otherwise the host makes one.
    #[serde(default)]
    pub token: Option<String>,
}

/// What an invitation is shown by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvitationKind {
    /// A token, which opens a viewer each time.
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

/// One of the four says what ends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeParams {
    #[serde(default)]
    pub token: Option<String>,
    /// An invitation.
    #[serde(default)]
    pub id: Option<u32>,
    /// A person, with all devices.
    #[serde(default)]
    pub person: Option<u32>,
    #[serde(default)]
    pub device: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdmitParams {
    /// Who waits.
    pub request: u32,
    #[serde(default)]
    pub role: Option<RoleName>,
    #[serde(default)]
    pub seat: Option<String>,
    #[serde(default)]
    pub seats: Vec<String>,
    /// Whose further device it is, instead of a role.
    #[serde(default)]
    pub person: Option<u32>,
    /// Whether they are not let in.
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
    /// The seats from now on.
    #[serde(default)]
    pub seats: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// 1 to 40 characters.
    pub name: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Named {
    /// As it is kept.
    pub name: Arc<str>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LobbyParams {
    /// For game masters: whether the join code is taken.
    #[serde(default)]
    pub open: Option<bool>,
    /// For game masters: whether anybody may watch.
    #[serde(default)]
    pub watch: Option<bool>,
    /// For game masters: makes another join code.
    #[serde(default)]
    pub renew: bool,
}

/// How people come to a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LobbyReport {
    /// Whether the join code is taken: it leads to the waiting room.
    pub open: bool,
    /// Whether anybody may watch.
    pub watch: bool,
    /// The join code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The address of the page for players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Who comes to a table, and who wants to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct People {
    pub waiting: Vec<WaitingPerson>,
    pub people: Vec<PersonReport>,
    pub invitations: Vec<InvitationReport>,
    pub lobby: LobbyReport,
}

/// Somebody in the waiting room.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingPerson {
    /// For `admit`.
    pub request: u32,
    pub name: Arc<str>,
    /// Whether they are connected.
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
    /// For `revoke`.
    pub device: u32,
    /// How many viewers it has open.
    pub viewers: u32,
}

/// An invitation that holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InvitationReport {
    /// For `revoke`.
    pub id: u32,
    pub role: RoleName,
    pub seats: Vec<String>,
    /// Whether it is a code that nobody has used.
    pub code: bool,
    /// Whose further device it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// How many viewers came by it.
    pub viewers: u32,
}

/// The list of `people` is different.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeopleNotice {
    pub table: String,
}

/// What a game master said to somebody in the waiting room.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdmittedNotice {
    /// If true, `hello` with the token gives the view now.
    pub admitted: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiceParams {
    /// Faces that the next rolls show, in order, behind those that wait already. They are no decision: no undo takes them back.
    /// An empty list takes away all that wait.
    pub faces: Vec<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTable {
    /// The library's default if it is left out.
    #[serde(default)]
    pub ruleset: Option<String>,
    #[serde(default)]
    pub layers: Vec<String>,
    /// A scenario of the ruleset by name; its default if it is left out.
    #[serde(default)]
    pub scenario: Option<String>,
    /// A starting position of one's own instead of a scenario.
    #[serde(default)]
    pub position: Option<BTreeMap<String, Value>>,
    /// The seed of the dice, at most 2^53 - 1; chosen at random if it is left out.
    #[serde(default)]
    pub seed: Option<u64>,
    #[serde(default)]
    pub dice: DiceSource,
    /// Who plays a seat: `human`, `absent`, or the id of a policy.
    #[serde(default)]
    pub seats: BTreeMap<String, String>,
    #[serde(default)]
    pub switches: BTreeMap<String, Value>,
    /// A campaign file to make, `NAME.rbsave`: each command is kept in it before it is acknowledged.
    #[serde(default)]
    pub campaign: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadTable {
    /// The file of a saved game, or a campaign, `NAME.rbsave`.
    #[serde(default)]
    pub path: Option<String>,
    /// A saved game itself, as `table.save` gives it.
    #[serde(default)]
    pub game: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveTable {
    /// The file to write; without it the game is given back. `NAME.rbsave` is a campaign file to make: from then on each
    /// command is kept in it before it is acknowledged.
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
    /// Who plays which seat.
    pub seats: BTreeMap<Arc<str>, Driver>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntriesParams {
    /// Whether what was undone is listed as well.
    #[serde(default)]
    pub all: bool,
    /// So many at the most, the last ones.
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
    /// For game masters: the whole campaign, instead of what happened since people sat down last.
    #[serde(default)]
    pub all: bool,
}

/// What happened, as prose.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecapText {
    /// A paragraph for each scene.
    pub paragraphs: Vec<String>,
}

/// The scenes of a campaign.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Scenes {
    /// Those that were played, the oldest first. `goto` with `last` goes back to the end of one.
    pub scenes: Vec<CampaignScene>,
}

/// A side of an encounter.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SideParams {
    /// What it is called; the first sides have a usual name.
    #[serde(default)]
    pub title: Option<String>,
    pub members: Vec<MemberParams>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberParams {
    /// A character of the roster, or a sheet of the ruleset's cast.
    pub name: String,
    /// How many; one if it is left out.
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
    /// The policies that play seats in the simulation; the first one of the ruleset plays the others.
    #[serde(default)]
    pub seats: BTreeMap<String, String>,
}

/// How often each side wins when policies play an encounter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EncounterReport {
    /// Who meets whom.
    pub title: String,
    /// Games that had an end.
    pub games: u64,
    /// Games without an end after 2,000 actions.
    pub undecided: usize,
    /// The results, the most frequent first.
    pub results: Vec<EncounterResult>,
    /// Who played each seat.
    pub seats: BTreeMap<Arc<str>, Driver>,
    /// Sentences about sheets that do not fit the rules.
    pub notes: Vec<String>,
    /// Whether it was cancelled, or games had no end.
    pub partial: bool,
}

/// A result of an encounter, with the 95 % interval of its share.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EncounterResult {
    pub result: String,
    pub count: u64,
    /// 0 to 1, like `low` and `high`.
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

/// How the next scene begins: by a scenario of the ruleset, or by an encounter. By neither, with the usual scenario.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneParams {
    #[serde(default)]
    pub scenario: Option<String>,
    /// The sides of an encounter, as `encounter` takes them.
    #[serde(default)]
    pub sides: Option<Vec<SideParams>>,
    /// The seed of the dice, at most 2^53 - 1; chosen at random if it is left out.
    #[serde(default)]
    pub seed: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SceneBegun {
    pub seq: u64,
    pub title: String,
}

/// What is to be different about an entry: one of `answer`, `faces` and `edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendParams {
    /// The number of an entry, as `entries` lists them.
    pub entry: u32,
    /// Another answer, as a person types it.
    #[serde(default)]
    pub answer: Option<String>,
    /// Other faces for the first dice that were rolled after it.
    #[serde(default)]
    pub faces: Option<Vec<u32>>,
    /// Another manual edit.
    #[serde(default)]
    pub edit: Option<Edit>,
}

/// What an amended entry comes to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Amended {
    /// What was decided at the entry.
    pub text: String,
    /// What happened from the first difference on, a line each; empty once it is amended.
    pub kept: Vec<String>,
    /// What happens instead; empty once it is amended.
    pub other: Vec<String>,
    /// How many later decisions are made again.
    pub made_again: u32,
    /// Later decisions that no longer apply.
    pub left_out: Vec<LeftOutDecision>,
    /// How the game ends then, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// The entry at which the campaign stood before; `goto` goes back there. Only once it is amended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// The step of the change, once it is amended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SayParams {
    /// 1 to 1,000 characters. Control characters are left out.
    pub text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SaidReport {
    /// The number of the line.
    pub id: u64,
}

/// Somebody has said something beside the game.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChatNotice {
    pub table: String,
    pub line: super::frames::ChatLine,
}

/// A line for the game masters that is no part of the game, such as that files of the rules were read again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoticeParams {
    pub text: String,
}

/// Something that concerns the table and is no part of the game.
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

/// What a game master can choose from.
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
    /// The sheets of the ruleset's cast, for `encounter`; none if it does not make scenes of sheets.
    pub cast: Vec<String>,
}

/// A starting position.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedScenario {
    pub name: String,
    pub title: String,
}

/// A house rule that can be set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OfferedSwitch {
    pub name: String,
    /// What it decides, in a sentence.
    pub text: String,
    /// The ids of the rules that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The value where nobody sets one.
    pub default: Value,
    /// The values that it may have; missing if it is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// The smallest number and the largest.
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

/// Somebody came or went.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresenceNotice {
    pub table: String,
    pub presence: Vec<super::frames::Present>,
}

/// Steps were dropped because the connection reads too slowly. None come before the next `view`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResyncNotice {
    pub table: String,
    pub reason: String,
}

/// The viewer is no more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ByeNotice {
    pub table: String,
    pub reason: String,
}
