//! An answer or a default is none of the options.

use crate::inference::call::Called;
use crate::lint::{Example, Lint, Severity};
use crate::misspelling::LETTERS;
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::instead;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-option",
    severity: Severity::Error,
    summary: "an answer or a default is none of the options",
    explanation: "The answer of `rb.choose` is the id of one of its options. A comparison with another text is \
                  never true, a default that no option has is refused, and a policy that returns one is ignored. \
                  Name an option, not its label.",
    bad: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
if way == "Up" then
	rb.say("up")
end"#,
    ),
    good: Example::Resolve(
        r#"local way = rb.choose({ seat = ctx.actor.seat, topic = "way", options = { "up", "down" } })
if way == "up" then
	rb.say("up")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports an answer of a policy that is no card and occurs in no option and no data.
    pub(crate) fn offered_nowhere(&mut self, answer: Expression<'_>) {
        let Some(word) = literal(answer).filter(|word| word.len() >= LETTERS && *word != "yes") else { return };
        let names = &self.known.names;
        let cards = self.known.names("card").unwrap_or_default();
        if cards.is_empty()
            || cards.contains(&word)
            || self.known.names("free act").is_some_and(|acts| acts.contains(&word))
            || names.times(&word) > 1
            || names.is_key(&word)
            || names.said(&word) > 0
        {
            return;
        }
        let wrong = format!("nothing offers \"{word}\": it stands nowhere else, and no card is called so");
        let acts = self.known.names("free act").unwrap_or_default();
        let offered: Vec<String> = acts.into_iter().chain(cards).collect();
        self.problem(&LINT, answer.location(), (wrong, self.known.instead(&word, &offered)));
    }

    /// Reports a text that is no id, where all other calls of the function give ids of cards, items or options.
    pub(crate) fn no_id_in_call(&mut self, called: &Called, arg: Expression<'_>, at: usize) {
        let Some((word, rules)) = literal(arg).zip(self.known.rules).filter(|_| !self.is_spec()) else { return };
        let names = &self.known.names;
        let Some(given) = called.known_as().and_then(|name| names.given_to(&name)) else { return };
        let others: Vec<&str> = given.texts_at(at).map(|(text, _)| text).filter(|text| *text != word).collect();
        let ids = names.ids();
        let is_named_otherwise = ids.contains(&word)
            || names.said(&word) > 0
            || names.is_key(&word) && !rules.has_entry(&word)
            || ["item", "hook", "policy", "cast", "kind"]
                .iter()
                .any(|sort| rules.names_of(sort).is_some_and(|known| known.contains(&&*word)));
        if others.len() < FEWEST_IDS || is_named_otherwise || !others.iter().all(|other| ids.contains(*other)) {
            return;
        }
        let wrong = format!("`{word}` is the id of no card and no option");
        let cure = instead(&word, others);
        self.problem(&LINT, arg.location(), (wrong, cure));
    }

    /// Reports a comparison of an answer with a text that is the id of no option.
    pub(crate) fn answer_is_never(&mut self, given: &str, ids: &[String], at: Location) {
        let wrong = format!("the answer is never \"{given}\": it is the id of an option");
        self.problem(&LINT, at, (wrong, self.known.instead_alike(given, ids)));
    }

    /// Reports a default that is none of the options.
    pub(crate) fn default_is_no_option(&mut self, default: Expression<'_>, ids: &[String]) {
        if let Some(name) = literal(default).filter(|name| !ids.contains(name)) {
            let mistake = (format!("no option is `{name}`"), self.known.instead(&name, ids));
            self.problem(&LINT, default.location(), mistake);
        }
    }
}

/// The number of different ids that other calls of a function give from which on a text that is no id is reported.
const FEWEST_IDS: usize = 3;
