//! The methods of the protocol with their parameters and results. The schema and the page of the guide are generated
//! from this table.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::frames::{Snapshot, StepFrame};
use super::messages::*;
use riskbreaker_lab::AdviceReport;
use riskbreaker_store::Roster;

/// A method of the protocol.
pub struct Method {
    /// The name in requests.
    pub name: &'static str,
    pub(super) who: Who,
    /// True if it changes a game: it then takes a `key`.
    pub changes: bool,
    /// True if it has no parameters of its own.
    pub(super) bare: bool,
    /// Its description, in a sentence.
    pub text: &'static str,
    pub(super) params: fn(&mut SchemaGenerator) -> Schema,
    pub(super) result: fn(&mut SchemaGenerator) -> Schema,
}

/// The roles that may call a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Anyone,
    /// Seats, game masters and the operator.
    Players,
    Masters,
    Operator,
}

impl Method {
    /// The roles that may call it, in words.
    pub fn callers(&self) -> &'static str {
        match self.who {
            Who::Anyone => "all",
            Who::Players => "seat, game master",
            Who::Masters => "game master",
            Who::Operator => "operator",
        }
    }
}

const fn method<P: JsonSchema, R: JsonSchema>(name: &'static str, who: Who, text: &'static str) -> Method {
    Method {
        name,
        who,
        changes: false,
        bare: false,
        text,
        params: SchemaGenerator::subschema_for::<P>,
        result: SchemaGenerator::subschema_for::<R>,
    }
}

/// A method that changes a game.
const fn command<P: JsonSchema, R: JsonSchema>(name: &'static str, who: Who, text: &'static str) -> Method {
    Method { changes: true, ..method::<P, R>(name, who, text) }
}

/// A method without parameters of its own.
const fn bare<R: JsonSchema>(name: &'static str, who: Who, text: &'static str) -> Method {
    Method { bare: true, ..method::<Nothing, R>(name, who, text) }
}

use Who::{Anyone, Masters, Operator, Players};

/// Declares the methods, one row each: the enum [`MethodName`] and the table [`METHODS`].
macro_rules! methods {
    ($($name:ident = $method:expr),* $(,)?) => {
        /// Names a method. A new one does not compile until the host or a table carries it out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum MethodName {
            $($name,)*
        }

        /// All methods.
        pub const METHODS: &[Method] = &[$($method,)*];

        impl MethodName {
            /// All methods, in the order of [`METHODS`].
            const ALL: &[MethodName] = &[$(MethodName::$name,)*];
        }
    };
}

impl MethodName {
    /// The method that a request names; `None` if there is none.
    pub fn of(name: &str) -> Option<MethodName> {
        METHODS.iter().position(|method| method.name == name).map(|at| MethodName::ALL[at])
    }

    /// What is declared of it.
    pub fn method(self) -> &'static Method {
        &METHODS[self as usize]
    }
}

methods! {
    Hello = method::<Hello, Welcome>("hello", Anyone, "opens a viewer: by a token, or as an operator at any table in any role"),
    Bye = bare::<Done>("bye", Anyone, "closes the viewer"),
    Ping = bare::<Done>("ping", Anyone, "is answered at once, also while scripts run"),
    View = method::<ViewParams, Snapshot>("view", Anyone, "everything that this viewer may know"),
    Answer = command::<AnswerParams, Accepted>("answer", Players, "answers a question exactly"),
    Reply = command::<ReplyParams, Accepted>(
        "reply",
        Players,
        "answers by topic with loose values; of the open questions all or none",
    ),
    Act = command::<ActParams, Accepted>("act", Players, "takes a free act"),
    Acts = bare::<Acts>("acts", Players, "the free acts of the viewer's seats"),
    Answers = method::<AnswersParams, Answers>("answers", Players, "every answer that a question takes"),
    Find = method::<FindParams, Found>("find", Players, "the options of a question that contain some words, at most 100"),
    Suggest = method::<SuggestParams, Suggestion>("suggest", Players, "what a policy of the ruleset would answer"),
    Odds = method::<OddsParams, OddsReport>(
        "odds",
        Players,
        "what the open action, or the game up to a horizon, can come to; may be cancelled",
    ),
    Hint = method::<HintParams, AdviceReport>("hint", Players, "ranks the answers to a question; may be cancelled"),
    Cancel = method::<CancelParams, Cancelled>(
        "cancel",
        Anyone,
        "ends an `odds`, a `hint` or an `encounter` of this connection",
    ),
    Why = method::<WhyParams, WhyReport>(
        "why",
        Anyone,
        "where a number comes from; `with` names the entities that a derived value takes",
    ),
    Sheet = method::<EntityParams, Sheet>("sheet", Anyone, "the sheet of an entity"),
    Card = method::<CardParams, CardReport>("card", Anyone, "the text of a card"),
    Undo = command::<UndoParams, UndoReport>(
        "undo",
        Players,
        "takes decisions back: a game master any, a seat as the options of the table say",
    ),
    UndoPreview = method::<UndoPreviewParams, UndoPreview>("undo.preview", Players, "what an undo would take back; changes nothing"),
    Redo = command::<RedoParams, UndoReport>("redo", Players, "does again what the last undo took back"),
    Vote = command::<VoteParams, VoteResult>("vote", Players, "agrees to an undo that the table is asked for, or refuses it"),
    Edit = command::<EditParams, Accepted>("edit", Masters, "changes a value, removes something or changes the agenda"),
    Remedy = command::<RemedyParams, Accepted>("remedy", Masters, "says how the game continues after a fault"),
    Switch = command::<SwitchParams, Accepted>("switch", Masters, "sets a house rule"),
    Dice = command::<DiceParams, Accepted>("dice", Masters, "gives the faces of the next rolls"),
    RulesPreview = method::<RulesParams, RulesPreview>("rules.preview", Masters, "what other rules would do to the game"),
    RulesChange = command::<RulesParams, RulesPreview>(
        "rules.change",
        Masters,
        "asks for other rules; after a fault, edited files of those in force count at once",
    ),
    RulesKeep = Method { changes: true, ..bare::<Accepted>("rules.keep", Masters, "calls the change of rules off") },
    Seat = command::<SeatParams, Accepted>("seat", Masters, "says who plays a seat"),
    Pause = command::<PauseParams, Accepted>("pause", Masters, "refuses commands by seats, or accepts them again"),
    Options = command::<OptionsParams, Accepted>(
        "options",
        Masters,
        "says who takes decisions back, whether seats get odds, and how much later watchers see",
    ),
    Invite = method::<InviteParams, InvitationResult>("invite", Masters, "makes a token or a code for a role at this table"),
    Revoke = method::<RevokeParams, Done>(
        "revoke",
        Masters,
        "ends an invitation, a person or a device, and the viewers that came by it",
    ),
    Admit = method::<AdmitParams, Admitted>("admit", Masters, "lets a waiting person in, or refuses"),
    People = bare::<People>("people", Masters, "who waits, who was admitted with which devices, and the invitations"),
    Person = method::<PersonParams, Done>("person", Masters, "gives a person another name or other seats"),
    Name = method::<NameParams, Named>("name", Anyone, "gives the person behind this viewer another name"),
    Lobby = method::<LobbyParams, LobbyReport>("lobby", Anyone, "the join code and the address; only game masters change them"),
    Say = method::<SayParams, SaidReport>("say", Players, "says something to everybody at the table; no part of the game"),
    Offers = bare::<Offers>("offers", Masters, "the rulesets, policies, house rules, scenarios and sheets that can be chosen"),
    Roster = bare::<Roster>("roster", Masters, "the characters of a campaign between scenes"),
    Entries = method::<EntriesParams, Entries>("entries", Masters, "the decisions of a campaign, with its branches"),
    Recap = method::<RecapParams, RecapText>("recap", Anyone, "what happened since people sat down last, as prose"),
    Scenes = bare::<Scenes>("scenes", Masters, "the scenes of a campaign"),
    Encounter = method::<EncounterParams, EncounterReport>(
        "encounter",
        Masters,
        "how often each side of an encounter wins; may be cancelled",
    ),
    Scene = command::<SceneParams, SceneBegun>("scene", Masters, "begins a scene: a scenario, or an encounter"),
    AmendPreview = method::<AmendParams, Amended>("amend.preview", Masters, "what another decision at an entry would come to"),
    Amend = command::<AmendParams, Amended>("amend", Masters, "decides an entry in another way, and later ones again"),
    Goto = command::<GotoParams, Accepted>("goto", Masters, "goes to an entry of the campaign; nothing is lost"),
    TableNew = method::<NewTable, TableOpened>("table.new", Operator, "begins a game; `table` names it"),
    TableLoad = method::<LoadTable, TableOpened>("table.load", Operator, "continues a saved game; `table` names it"),
    TableSave = method::<SaveTable, SavedTable>("table.save", Operator, "saves a game to a file, or gives it back"),
    Notice = method::<NoticeParams, Done>("notice", Operator, "tells the game masters a line that is no part of the game"),
    TableList = bare::<TableList>("table.list", Operator, "the names of the tables"),
    TableClose = bare::<Done>("table.close", Operator, "ends a table for all viewers"),
    Rulesets = bare::<RulesetList>("rulesets", Operator, "the rulesets of the library"),
    Schema = bare::<serde_json::Value>("schema", Anyone, "this schema"),
    Shutdown = bare::<Done>("shutdown", Operator, "ends the host once all requests are answered"),
}

/// A notification that the host sends on its own.
pub struct Notice {
    pub name: &'static str,
    pub text: &'static str,
    pub params: fn(&mut SchemaGenerator) -> Schema,
}

const fn notice<P: JsonSchema>(name: &'static str, text: &'static str) -> Notice {
    Notice { name, text, params: SchemaGenerator::subschema_for::<P> }
}

pub const NOTICES: &[Notice] = &[
    notice::<StepFrame>("step", "all that one accepted command did, for this viewer"),
    notice::<PresenceNotice>("presence", "somebody came or went"),
    notice::<ChatNotice>("chat", "somebody said something beside the game"),
    notice::<VoteNotice>("vote", "to those who play: a vote on an undo has begun, continues, or was refused"),
    notice::<TableNotice>("notice", "to game masters: a line that is no part of the game, such as a reload of rules"),
    notice::<PeopleNotice>("people", "to game masters: the list of `people` is different"),
    notice::<AdmittedNotice>("admitted", "to somebody in the waiting room: whether the game master lets them in"),
    notice::<ResyncNotice>("resync", "steps were dropped; none come before the next `view`"),
    notice::<ByeNotice>("bye", "the viewer is no more: its table was closed, or its invitation revoked"),
];
