//! A text is used only once, and differs by one letter from a text that is used elsewhere.

use crate::inference::call::Called;
use crate::lint::{Example, Lint, Severity};
use crate::misspelling::{LETTERS, is_slip, is_slip_compared};
use crate::reader::ScriptReader;
use crate::syntax::{listed, literal};
use riskbreaker_ruleset::{Cure, Fact, likeliest, slips};
use riskbreaker_script::syntax::{Expression, TableItem};
use riskbreaker_state::Value;

pub(crate) static LINT: Lint = Lint {
    name: "misspelt-text",
    severity: Severity::Error,
    summary: "a text is used only once, and differs by one letter from a text that is used elsewhere",
    explanation: "Words in quotes connect files: a fact of a card, a name in a list, a profile in cast/. A word \
                  that is used only once and differs by one letter from another that is used often is most \
                  likely misspelt. If it is meant, allow the lint in this line.",
    bad: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		local mood = rb.choose({ seat = ctx.actor.seat, topic = "mood", options = rb.options({ "steady" }, ctx), default = "pull" })
		if mood == "staedy" then
			rb.say("{} stands", ctx.actor)
		end
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/dig.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "dig",
	title = "Dig in",
	text = "Stand firm.",
	resolve = function(ctx)
		local mood = rb.choose({ seat = ctx.actor.seat, topic = "mood", options = { "steady", "wild" }, default = "wild" })
		if mood == "steady" then
			rb.say("{} stands", ctx.actor)
		end
	end,
})
"#,
    )]),
};

/// The most texts in a list whose texts are compared with each other.
const LONGEST_LIST: usize = 64;

impl ScriptReader<'_> {
    /// Reports a fact of a card that no script mentions and that is almost a word that scripts or other cards use.
    pub(crate) fn fact(&mut self, name: &str, value: Expression<'_>) {
        if !self.is_fact_of_a_card() || matches!(name, "id" | "title" | "text") {
            return;
        }
        listed(value).for_each(|one| self.unlike_other_cards(name, one));
        let Some(fact) = literal(value) else { return };
        if !is_plain_word(&fact) {
            return;
        }
        if self.known.names.times(&fact) > 1 {
            return self.like_other_cards(name, &fact, value);
        }
        let like_it = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let words: Vec<&str> = self.known.names.texts().filter(|word| **word != *fact && like_it(word)).collect();
        let wrong = format!("no script knows the {name} \"{fact}\"");
        // What other cards have for this fact goes before any other word.
        let of_cards: Vec<&str> = self.facts_of_cards(name).into_iter().filter(|other| *other != fact).collect();
        let of_others = likeliest(&fact, of_cards.iter().copied()).map(str::to_owned);
        if let Some(meant) = of_others {
            self.problem(&LINT, value.location(), (wrong, Cure::meant_text(fact.as_str(), meant)));
        } else if of_cards.len() > MANY && self.known.nearest(&fact, words.iter().copied()).is_some() {
            // The value of another fact that is near is not meant here.
            let mut known = of_cards.clone();
            known.sort_unstable();
            known.dedup();
            let cure = riskbreaker_ruleset::instead(&fact, known);
            self.problem(&LINT, value.location(), (wrong, cure));
        } else if let Some(near) = self.known.nearest(&fact, words.iter().copied()) {
            self.problem(&LINT, value.location(), (wrong, Cure::meant_text(fact.as_str(), near)));
        } else if let Some(others) = self.values_of_others(name, &fact) {
            let cure = match likeliest(&fact, others.split(", ")) {
                Some(meant) => Cure::meant_text(fact.as_str(), meant),
                None => format!("other cards have {others}").into(),
            };
            self.problem(&LINT, value.location(), (wrong, cure));
        }
    }

    /// Reports a word in a list of a card that occurs nowhere else and is near a word in the lists of other cards.
    fn unlike_other_cards(&mut self, name: &str, value: Expression<'_>) {
        let Some(word) = literal(value).filter(|word| is_plain_word(word) && self.is_only_here(word)) else { return };
        let others = self.facts_of_cards(name);
        let times = |wanted: &str| others.iter().filter(|other| **other == wanted).count();
        let shared = others.iter().copied().filter(|other| *other != word && times(other) > 1);
        if let Some(meant) = self.known.nearest(&word, shared) {
            let wrong = format!("no script knows the {name} \"{word}\"");
            self.problem(&LINT, value.location(), (wrong, Cure::meant_text(word.as_str(), meant)));
        }
    }

    /// Reports a text in a call that occurs nowhere else and is one letter away from a text that other calls of the
    /// function give in its place.
    pub(crate) fn misspelt_in_call(&mut self, called: &Called, arg: Expression<'_>, at: usize) {
        let Some(word) = literal(arg).filter(|word| is_plain_word(word) && self.is_only_here(word)) else { return };
        let Some(given) = called.known_as().and_then(|name| self.known.names.given_to(&name)) else { return };
        let near = |(other, times): &(&str, usize)| *times > 1 && slips(&word, other, 1) == Some(1);
        if let Some((meant, _)) = given.texts_at(at).filter(near).max_by_key(|(_, times)| *times) {
            let told = (format!("the text \"{word}\" stands nowhere else"), Cure::meant_text(word.as_str(), meant));
            self.problem(&LINT, arg.location(), told);
        }
    }

    /// Whether a word occurs only once in all scripts, and neither in data nor as a key.
    fn is_only_here(&self, word: &str) -> bool {
        let names = &self.known.names;
        let own = usize::from(!self.is_spec());
        names.times(word) <= own && !names.is_key(word) && names.said(word) == 0 && names.reads(word) <= own
    }

    /// Reports a fact that no other card has and that is one letter away from the fact of many cards.
    pub(crate) fn like_other_cards(&mut self, name: &str, fact: &str, value: Expression<'_>) {
        let named_otherwise = self.known.types_of(fact).next().is_some() || self.known.kind(fact).is_some();
        let others = self.facts_of_cards(name);
        let times = |wanted: &str| others.iter().filter(|other| **other == wanted).count();
        let near = |other: &&&str| slips(other, fact, 1) == Some(1) && times(other) > MANY;
        if named_otherwise
            && times(fact) == 1
            && let Some(meant) = others.iter().find(near)
        {
            let wrong = format!("no other card has the {name} \"{fact}\"");
            self.problem(&LINT, value.location(), (wrong, Cure::meant_text(fact, *meant)));
        }
    }

    /// Returns the values that other cards have for a fact, joined by commas; `None` unless they are a few words that
    /// scripts know, each of them of several cards.
    pub(crate) fn values_of_others(&self, name: &str, own: &str) -> Option<String> {
        let values: Vec<&str> = self.facts_of_cards(name).into_iter().filter(|value| *value != own).collect();
        let mut different = values.clone();
        different.sort_unstable();
        different.dedup();
        let known = different.iter().all(|value| self.known.names.times(value) > 1);
        // Where one card alone has some value, another one may have a value of its own, too.
        let is_shared = |value: &&str| values.iter().filter(|other| **other == *value).count() > 1;
        let known = known && different.iter().all(is_shared);
        (values.len() > MANY && different.len() * 2 <= values.len() && known).then(|| different.join(", "))
    }

    /// Returns the text values that cards have for a fact, alone or in lists.
    pub(crate) fn facts_of_cards(&self, name: &str) -> Vec<&str> {
        let cards = self.known.rules.map(|rules| rules.cards()).unwrap_or_default();
        let texts = cards.iter().filter_map(|card| match card.facts.get(name)? {
            Fact::Plain(Value::List(list)) => Some(list.iter().filter_map(Value::as_text).collect::<Vec<_>>()),
            Fact::Plain(value) => value.as_text().map(|text| vec![text]),
            Fact::Function => None,
        });
        texts.flatten().collect()
    }

    /// Reports a text in a list of texts that occurs nowhere else, and is near to a text which the list or other places have.
    pub(crate) fn misspelt_in_list(&mut self, items: &[TableItem<'_>]) {
        let texts: Option<Vec<_>> = items
            .iter()
            .map(|item| match item {
                TableItem::List { value } => literal(*value).map(|text| (text, *value)),
                _ => None,
            })
            .collect();
        let is_short = |texts: &[_]| texts.len() > 2 && texts.len() <= LONGEST_LIST;
        let Some(texts) = texts.filter(|texts| is_short(texts) && !self.path.starts_with("kinds")) else { return };
        for (text, value) in &texts {
            if !self.known.may_compare(2 * texts.len()) {
                return;
            }
            // A list in which a near text comes twice shows that the text is one more of them.
            let near = |other: &String| other.len() >= LETTERS && is_slip(text, other);
            let times = texts.iter().filter(|(other, _)| near(other)).count();
            let elsewhere = || texts.iter().any(|(other, _)| near(other) && self.known.names.times(other) > 1);
            if times > 0 && elsewhere() {
                self.slip(*value);
            }
        }
    }

    /// Reports a text of a list that stands nowhere else, if another list has all other texts and one that is almost the same
    /// in its place.
    pub(crate) fn misspelt_in_equal_list(&mut self, items: &[TableItem<'_>]) {
        let texts: Option<Vec<_>> = items
            .iter()
            .map(|item| match item {
                TableItem::List { value } => literal(*value).map(|text| (text, *value)),
                _ => None,
            })
            .collect();
        let Some(texts) = texts.filter(|texts| texts.len() > 2 && texts.len() <= LONGEST_LIST && !self.is_spec())
        else {
            return;
        };
        for (text, value) in &texts {
            if !is_plain_word(text) || !self.is_only_here(text) || !self.known.may_compare(texts.len()) {
                continue;
            }
            let others = || texts.iter().map(|(other, _)| other).filter(|other| *other != text);
            let Some(first) = others().next() else { return };
            let meant = self.known.names.lists_with(std::iter::once(first.as_str())).find_map(|list| {
                let is_equal = list.len() == texts.len() && others().all(|other| list.contains(other));
                let mut instead = list.iter().filter(|other| !texts.iter().any(|(text, _)| text == *other));
                instead.next().filter(|other| is_equal && is_slip(text, other))
            });
            if let Some(meant) = meant.cloned() {
                let told = (format!("the text \"{text}\" stands nowhere else"), Cure::meant_text(text.as_str(), meant));
                return self.problem(&LINT, value.location(), told);
            }
        }
    }

    pub(crate) fn slip_for(&mut self, value: Expression<'_>, counts: impl Fn(&str, &str) -> bool) {
        let Some(word) = literal(value).filter(|_| !self.is_spec()) else { return };
        let names = &self.known.names;
        // The results of `type` and `typeof` are no names of the ruleset.
        if LUAU_TYPES.contains(&word.as_str()) {
            return;
        }
        let rest = word.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
        let like_a_name = word.len() >= LETTERS
            && rest.len() + 1 >= word.len()
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !like_a_name
            || names.times(&word) > 1
            || names.is_key(&word)
            || names.said(&word) > 0
            || names.reads(&word) > 1
        {
            return;
        }
        let Some(meant) = names
            .texts()
            // A text of one or two letters is a piece of which longer ones are built.
            .filter(|other| other.len() >= LETTERS && is_slip_compared(&word, other) && counts(&word, other))
            .max_by_key(|other| names.times(other))
        else {
            return;
        };
        let told = (format!("the text \"{word}\" stands nowhere else"), Cure::meant_text(word.as_str(), meant));
        self.problem(&LINT, value.location(), told);
    }
}

/// Whether a text has only lower-case letters and `_`, and at least three of them.
fn is_plain_word(text: &str) -> bool {
    text.len() >= LETTERS && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// The number of cards that must have a fact before its other values count as the possible ones.
const MANY: usize = 5;

const LUAU_TYPES: [&str; 8] = ["nil", "boolean", "number", "string", "table", "function", "thread", "userdata"];
