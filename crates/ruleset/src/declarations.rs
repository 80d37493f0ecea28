use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::{Card, Conversion, CreationPart, Param, Verb};
use riskbreaker_state::{FieldId, KindId, OutcomeKind, Schema};

/// The declarations of a ruleset, as plain data.
#[derive(Debug, Default)]
pub struct Declarations {
    pub schema: Schema,
    pub cards: Vec<Card>,
    pub items: Vec<Card>,
    pub hooks: Vec<Arc<str>>,
    /// The verbs, by name.
    pub verbs: Vec<Verb>,
    /// The names in `ctx` of a card; empty if none are declared.
    pub context: Vec<Param>,
    /// The topics of questions, with the type of their answers; empty if none are declared.
    pub topics: Vec<Param>,
    /// The facts that cards have besides those of all rulesets, with their types as `play.luau` writes them:
    /// `number|function?`.
    pub card_facts: Vec<(String, String)>,
    /// The same of items.
    pub item_facts: Vec<(String, String)>,
    /// The names in the data of attachments, by hook or item; without those that declare none.
    pub hook_data: BTreeMap<Arc<str>, Vec<Param>>,
    pub policies: Vec<Arc<str>>,
    /// Policies that may take free acts.
    pub acting: Vec<Arc<str>>,
    pub entries: Vec<EntryName>,
    pub free: Vec<FreeName>,
    /// Views that can be shown by name.
    pub views: Vec<FreeName>,
    pub prompt: bool,
    /// True if the ruleset declares an order of play.
    pub order: bool,
    /// The functions of `creation.luau`.
    pub creation: BTreeSet<CreationPart>,
    /// True if the ruleset measures the value of a state for a seat.
    pub value: bool,
    /// True if the ruleset resamples hidden values for a look-ahead.
    pub deal: bool,
    /// True if the ruleset names the result of a game.
    pub result: bool,
    /// The kinds of the results of rolls, by the beginning of their text, the longest first.
    pub results: Vec<(Arc<str>, OutcomeKind)>,
    /// Numbers recorded from round to round.
    pub statistics: Vec<Statistic>,
    /// Facts of cards to print, with their labels on paper. `None`: all.
    pub printed: Option<Vec<(String, String)>>,
    /// The entry that begins a round.
    pub boundary: Option<Arc<str>>,
    /// The entries at which a look-ahead for odds stops. Empty: at the end of the action.
    pub horizon: Vec<Arc<str>>,
    /// Fields that show a hit.
    pub hit: Vec<HitSign>,
    /// The decisions that a seat cannot undo.
    pub stands: LetStand,
    /// The files in `convert/`.
    pub converts: Vec<Conversion>,
}

impl Declarations {
    /// True if both declare the same names, types and facts. The printed texts and the recaps of cards do not count.
    pub(crate) fn declares_same(&self, other: &Declarations) -> bool {
        let Declarations {
            schema,
            cards,
            items,
            hooks,
            verbs,
            context,
            topics,
            card_facts,
            item_facts,
            hook_data,
            policies,
            acting,
            entries,
            free,
            views,
            prompt,
            order,
            creation,
            value,
            deal,
            result,
            results,
            statistics,
            printed,
            boundary,
            horizon,
            hit,
            stands,
            converts,
        } = self;
        let names =
            (schema, hooks, verbs, context, topics, card_facts, item_facts, hook_data, policies, acting, entries);
        let same_names = (
            &other.schema,
            &other.hooks,
            &other.verbs,
            &other.context,
            &other.topics,
            &other.card_facts,
            &other.item_facts,
            &other.hook_data,
            &other.policies,
            &other.acting,
            &other.entries,
        );
        let rest = (free, views, prompt, order, creation, value, deal, result, results, statistics);
        let same_rest = (
            &other.free,
            &other.views,
            &other.prompt,
            &other.order,
            &other.creation,
            &other.value,
            &other.deal,
            &other.result,
            &other.results,
            &other.statistics,
        );
        let last = (printed, boundary, horizon, hit, stands, converts);
        let same_last = (&other.printed, &other.boundary, &other.horizon, &other.hit, &other.stands, &other.converts);
        names == same_names
            && rest == same_rest
            && last == same_last
            && Card::have_same_facts(cards, &other.cards)
            && Card::have_same_facts(items, &other.items)
    }
}

/// A field that shows that an entity was hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitSign {
    pub kind: KindId,
    pub field: FieldId,
    pub counts: HitCount,
    /// If a hit makes an entity refer to its target: the field of that entity which refers to the attacker. `None` if
    /// the ruleset does not declare it.
    pub by: Option<FieldId>,
}

/// The change that counts as a hit of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitCount {
    /// A number of the entity has increased.
    Rises,
    /// A number of the entity has decreased.
    Falls,
    /// More entities refer to it by the field.
    Refers,
}

/// A ruleset's declaration of which of its own decisions a seat cannot undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LetStand {
    /// A seat can undo all its decisions.
    Nothing,
    /// Decisions that have shown the seat a secret.
    #[default]
    Secrets,
    /// Decisions that have shown the seat a secret, and decisions before dice that it has seen.
    Dice,
    /// All decisions.
    Everything,
}

impl LetStand {
    /// The names of the variants in rulesets, from the loosest to the strictest.
    pub const WORDS: [(&str, LetStand); 4] = [
        ("nothing", LetStand::Nothing),
        ("secrets", LetStand::Secrets),
        ("dice", LetStand::Dice),
        ("everything", LetStand::Everything),
    ];
}

/// A number recorded from round to round.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    pub label: Arc<str>,
    /// The field to sum over all entities of its kind. `None` if a function computes the number.
    pub field: Option<(KindId, FieldId)>,
}

/// An agenda entry that scripts may schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryName {
    /// The name.
    pub name: Arc<str>,
    /// True if its key is computed again before each action.
    pub key: bool,
    /// True if the ruleset decides between entries with equal keys.
    pub tie: bool,
}

/// The name and title of a free act or a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FreeName {
    /// The name in scripts.
    pub name: Arc<str>,
    /// The label for people.
    pub title: Arc<str>,
}
