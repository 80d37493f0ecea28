//! A function of a card takes its values in another order, or under another name, than those of all other cards.

use crate::inference::symbol::declared;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_of_name, members_of, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Function, Location};

/// A card whose function `repeats` has these parameters.
macro_rules! card {
    ($id:literal, $title:literal, $params:literal) => {
        concat!(
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({\n\tid = \"",
            $id,
            "\",\n\ttitle = \"",
            $title,
            "\",\n\ttext = \"Pull that often.\",\n\trepeats = function(",
            $params,
            ")\n\t\treturn if plan then 1 else ctx.actor.pull\n\tend,\n\tresolve = function(ctx)\n",
            "\t\trb.act.move_rope(ctx.rope, ctx.actor.pull, ctx.actor)\n\tend,\n})\n",
        )
    };
}

pub(crate) static LINT: Lint = Lint {
    name: "card-parameters",
    severity: Severity::Error,
    summary: "a function of a card takes its values in another order or under another name than other cards",
    explanation: "Whoever calls `resolve`, `when` or `note` hands all cards the same values in the same order. A function \
                  that names them in another order, or calls the context by a name that the context contains, takes one \
                  value for another.",
    bad: Example::Files(&[
        ("maneuvers/haul.luau", card!("haul", "Haul", "ctx, plan")),
        ("maneuvers/heave.luau", card!("heave", "Heave", "ctx, plan")),
        ("maneuvers/tow.luau", card!("tow", "Tow", "ctx, plan")),
        ("maneuvers/drag.luau", card!("drag", "Drag", "plan, ctx")),
    ]),
    good: Example::Files(&[
        ("maneuvers/haul.luau", card!("haul", "Haul", "ctx, plan")),
        ("maneuvers/heave.luau", card!("heave", "Heave", "ctx, plan")),
        ("maneuvers/tow.luau", card!("tow", "Tow", "ctx, plan")),
        ("maneuvers/drag.luau", card!("drag", "Drag", "ctx, plan")),
    ]),
};

/// The number of cards that must agree before another one is reported.
const AGREEING: usize = 3;

impl ScriptReader<'_> {
    /// Checks the parameters of a function under a key of a card.
    pub(crate) fn parameters_of_card(&mut self, key: &str, function: &Function<'_>) {
        if self.path.starts_with("maneuvers/") && self.is_fact_of_a_card() && !self.exchanged_params(key, function) {
            self.misnamed_context(key, function);
            self.context_for_entity(key, function);
        }
    }

    /// Reports two parameters that all other cards have in each other's places. Returns whether it did.
    fn exchanged_params(&mut self, key: &str, function: &Function<'_>) -> bool {
        let names: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
        let times = |at: usize, name: &String| self.known.names.cards_that_take(key, at, name);
        let exchanged = |first: usize, second: usize| {
            let (one, other) = (&names[first], &names[second]);
            let is_usual = times(first, other) >= AGREEING && times(second, one) >= AGREEING;
            is_usual && times(first, one) <= 1 && times(second, other) <= 1
        };
        let pairs = (1..names.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        let Some((first, second)) = pairs.into_iter().find(|(first, second)| exchanged(*first, *second)) else {
            return false;
        };
        let (one, other) = (&function.args[first], &function.args[second]);
        let wrong = format!("`{key}` of other cards takes `{}` before `{}`", names[second], names[first]);
        let mut right = names.clone();
        right.swap(first, second);
        let whole = Location::new(one.location.begin, other.location.end);
        let change = self.replaced(whole, right[first..=second].join(", "));
        let is_plain = function.args[first..=second].iter().all(|arg| arg.annotation.is_none());
        let cure = format!("write function({})", right.join(", "));
        self.problem_with(&LINT, one.location, (wrong, cure.into()), is_plain.then_some(change));
        true
    }

    /// Whether a function of a card takes an entity first, under the name that the other cards give it.
    pub(crate) fn takes_an_entity_first(&self, key: &str, function: &Function<'_>) -> bool {
        let Some(first) = function.args.first() else { return false };
        let usual = self.known.names.usual_parameter(key, 0);
        let is_usual = usual.is_some_and(|(usual, times)| first.name == usual && times > AGREEING);
        is_usual && first.name != "ctx" && self.known.names.is_entity_variable(&text(first.name))
    }

    /// Reports a context where all other cards take an entity: a parameter `ctx`, off which names are read that no entity has.
    fn context_for_entity(&mut self, key: &str, function: &Function<'_>) {
        let Some(first) = function.args.first().filter(|first| first.name == "ctx") else { return };
        let names = &self.known.names;
        let Some((usual, times)) = names.usual_parameter(key, 0) else { return };
        let read = members_of(function, first.id);
        let is_of_entity = |name: &String| {
            let mut kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
            api::ENTITY_FIELDS.contains(&&**name) || kinds.any(|kind| kind.members().any(|member| member == name))
        };
        let strange: Vec<&String> = read.iter().filter(|name| !is_of_entity(name)).collect();
        let is_odd = usual != "ctx" && times > AGREEING && names.cards_that_take(key, 0, "ctx") <= 1;
        let Some(first_strange) = strange.first().filter(|_| is_odd && names.is_entity_variable(usual)) else { return };
        let wrong = format!(
            "`{key}` of other cards takes an entity first, `{usual}`, and this one reads `ctx.{first_strange}`"
        );
        // Other cards read some of the names off the second parameter. The only other name is the entity.
        let second = names.usual_parameter(key, 1).map(|(second, _)| second);
        let (of_second, of_first): (Vec<&String>, Vec<&String>) =
            read.iter().partition(|name| names.reads_of_parameter(key, 1, name) > 0);
        let bytes = self.bytes_of(Location::new(first.location.begin, function.location.end));
        let meant = match (of_first.as_slice(), second) {
            ([entity], second) if function.args.len() == 1 => {
                let code = self.text.get(bytes.clone()).unwrap_or_default();
                let mut code = exchanged_words(code, &format!("ctx.{entity}"), usual);
                for name in &of_second {
                    let by = format!("{}.{name}", second.unwrap_or_default());
                    code = exchanged_words(&code, &format!("ctx.{name}"), &by);
                }
                let params = match second.filter(|_| !of_second.is_empty()) {
                    Some(second) => format!("{usual}, {second}"),
                    None => usual.to_owned(),
                };
                Some(exchanged_words(&code, "ctx", &params))
            }
            _ => None,
        };
        let change = meant.map(|text| TextChange { begin: bytes.start, end: bytes.end, text });
        let cure = match (second, of_second.first()) {
            (Some(second), Some(name)) => {
                format!(
                    "write function({usual}, {second}), {usual} for ctx.{first_strange}, and {second}.{name} for ctx.{name}"
                )
            }
            _ => format!("write function({usual}), and {usual} for ctx.{first_strange}"),
        };
        self.problem_with(&LINT, first.location, (wrong, cure.into()), change);
    }

    /// Reports a context that is called like a member of the context.
    fn misnamed_context(&mut self, key: &str, function: &Function<'_>) {
        let Some((first, rules)) = function.args.first().zip(self.known.rules) else { return };
        let name = text(first.name);
        let is_member = declared(rules.context(), &name).is_some();
        let is_usual = self.known.names.cards_that_take(key, 0, "ctx") >= AGREEING
            && self.known.names.cards_that_take(key, 0, &name) <= 1;
        // The host hands the context to these.
        let by_host = matches!(key, "when" | "note");
        if is_member && (is_usual || by_host) {
            let wrong = format!("the first value of `{key}` is the context, and here it is called `{name}`");
            let cure = format!("write function(ctx), and ctx.{name} for {name}");
            let bytes = self.bytes_of(Location::new(first.location.end, function.location.end));
            let rest = self.text.get(bytes.clone()).unwrap_or_default();
            let text = format!("ctx{}", exchanged_words(rest, &name, &format!("ctx.{name}")));
            let change = TextChange { begin: bytes.start - name.len(), end: bytes.end, text };
            let is_plain = first.annotation.is_none();
            self.problem_with(&LINT, first.location, (wrong, cure.into()), is_plain.then_some(change));
        }
    }
}

/// Replaces a word of code, such as `ctx` or `ctx.actor`, where it is not a part of a longer name.
fn exchanged_words(code: &str, word: &str, by: &str) -> String {
    let mut written = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(word) {
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        let is_whole =
            !before.ends_with(|letter: char| is_of_name(letter) || letter == '.') && !behind.starts_with(is_of_name);
        written += before;
        written += if is_whole { by } else { word };
        rest = behind;
    }
    written + rest
}
