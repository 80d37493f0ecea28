//! An answer or a default is none of the options.

use crate::lint::{Example, Lint, Severity};
use crate::misspelling::LETTERS;
use crate::reader::ScriptReader;
use crate::syntax::literal;
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
            || names.times(&word) > 1
            || names.is_key(&word)
            || names.said(&word) > 0
        {
            return;
        }
        let wrong = format!("nothing offers \"{word}\": it stands nowhere else, and no card is called so");
        self.problem(&LINT, answer.location(), (wrong, self.known.instead(&word, &cards)));
    }

    /// Reports a comparison of an answer with a text that is the id of no option.
    pub(crate) fn answer_is_never(&mut self, given: &str, ids: &[String], at: Location) {
        let wrong = format!("the answer is never \"{given}\": it is the id of an option");
        self.problem(&LINT, at, (wrong, self.known.instead(given, ids)));
    }

    /// Reports a default that is none of the options.
    pub(crate) fn default_is_no_option(&mut self, default: Expression<'_>, ids: &[String]) {
        if let Some(name) = literal(default).filter(|name| !ids.contains(name)) {
            let mistake = (format!("no option is `{name}`"), self.known.instead(&name, ids));
            self.problem(&LINT, default.location(), mistake);
        }
    }
}
