use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::{Card, CreationPart, Param, Verb};
use riskbreaker_state::{FieldId, KindId, OutcomeKind, Schema};

/// What a ruleset declares, as plain data.
#[derive(Debug, Default)]
pub struct Declarations {
    pub schema: Schema,
    pub cards: Vec<Card>,
    pub items: Vec<Card>,
    pub hooks: Vec<Arc<str>>,
    /// In the order of their names.
    pub verbs: Vec<Verb>,
    /// What `ctx` of a card holds; empty if nothing is declared.
    pub context: Vec<Param>,
    /// The data of attachments, by hook or item; those that declare none are left out.
    pub hook_data: BTreeMap<Arc<str>, Vec<Param>>,
    pub policies: Vec<Arc<str>>,
    /// Policies that may take free acts.
    pub acting: Vec<Arc<str>>,
    pub entries: Vec<EntryName>,
    pub free: Vec<FreeName>,
    /// What can be looked at by name.
    pub views: Vec<FreeName>,
    pub prompt: bool,
    /// Whether it says who acts when.
    pub order: bool,
    /// What `creation.luau` can do.
    pub creation: BTreeSet<CreationPart>,
    /// Whether the ruleset measures what a state is worth to a seat.
    pub value: bool,
    /// Whether it deals anew what a seat cannot see, for those who look ahead.
    pub deal: bool,
    /// Whether it names how a game has ended.
    pub result: bool,
    /// The kinds of the results of rolls, by the beginning of their words: the longest first.
    pub results: Vec<(Arc<str>, OutcomeKind)>,
    /// Numbers that it follows from round to round.
    pub statistics: Vec<Statistic>,
    /// Facts of cards that are printed on paper, with what they are called there; all where nothing is said.
    pub printed: Option<Vec<(String, String)>>,
    /// The entry that a round begins with.
    pub boundary: Option<Arc<str>>,
    /// The entries up to the next of which odds look ahead; none: to the end of the action.
    pub horizon: Vec<Arc<str>>,
    /// What a hit is: fields by which it is told that a target was hit.
    pub hit: Vec<HitSign>,
    /// What a seat cannot take back.
    pub stands: LetStand,
    /// Rulesets whose games it can take over by a file of `convert/`.
    pub converts: Vec<Arc<str>>,
}

/// A field by which it is told that an entity was hit.
#[derive(Clone, Copy, Debug)]
pub struct HitSign {
    pub kind: KindId,
    pub field: FieldId,
    pub counts: HitCount,
    /// Where a hit makes an entity refer to its target: the field of that entity which refers to the attacker. `None` if the
    /// ruleset does not say.
    pub by: Option<FieldId>,
}

/// What counts as a hit of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitCount {
    /// A number of the entity is higher afterwards.
    Rises,
    /// A number of the entity is lower afterwards.
    Falls,
    /// More entities refer to it by the field.
    Refers,
}

/// What of its own decisions a seat cannot take back, as a ruleset declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LetStand {
    /// It takes back any of its own.
    Nothing,
    /// What has shown it something that not everybody may see.
    #[default]
    Secrets,
    /// The same, and what came before dice that it has seen.
    Dice,
    /// Every decision.
    Everything,
}

impl LetStand {
    /// The words for it, from the loosest to the strictest.
    pub const WORDS: [(&str, LetStand); 4] = [
        ("nothing", LetStand::Nothing),
        ("secrets", LetStand::Secrets),
        ("dice", LetStand::Dice),
        ("everything", LetStand::Everything),
    ];
}

/// A number that a ruleset follows from round to round.
#[derive(Clone, Debug)]
pub struct Statistic {
    pub label: Arc<str>,
    /// The field whose sum over all entities of its kind it is; otherwise a function works it out.
    pub field: Option<(KindId, FieldId)>,
}

/// An agenda entry that scripts may schedule.
#[derive(Clone, Debug)]
pub struct EntryName {
    /// What it is named by.
    pub name: Arc<str>,
    /// Its key is worked out anew before each pop.
    pub key: bool,
    /// Equal keys are settled by the ruleset.
    pub tie: bool,
}

/// An act that is nobody's turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FreeName {
    /// What it is named by.
    pub name: Arc<str>,
    /// What it is called at the table.
    pub title: Arc<str>,
}
