//! A question to the game master has no default.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{listed, literal, named, value_of};
use riskbreaker_script::syntax::TableItem;

pub(crate) static LINT: Lint = Lint {
    name: "missing-default",
    severity: Severity::Error,
    summary: "a question to the game master has no default",
    explanation: "A table may have no game master. Then the question is answered by its `default`, and without \
                  one it is refused.",
    bad: Example::Resolve(
        r#"local far = rb.confirm({ seat = "gm", topic = "far" })
rb.say("{}", far)"#,
    ),
    good: Example::Resolve(
        r#"local far = rb.confirm({ seat = "gm", topic = "far", default = false })
rb.say("{}", far)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a question to the game master without a default.
    pub(crate) fn missing_default(&mut self, ask: &str, items: &[TableItem<'_>]) {
        let value = |wanted: &str| value_of(items, wanted);
        // The default of `rb.order` is the order of the list.
        if let Some(seat) = value("seat")
            && ask != "order"
            && literal(seat).as_deref() == Some("gm")
            && value("default").is_none()
        {
            let wrong = "a question to the game master has no `default`".to_string();
            let meant = match ask {
                "confirm" => Some("false".to_owned()),
                "number" => value("min").map(|min| self.source(min).to_owned()),
                "choose" => value("options").and_then(|options| {
                    let first = listed(options).next()?;
                    let id = literal(first)
                        .or_else(|| named(first).find(|(key, ..)| key == "id").and_then(|(.., id)| literal(id)));
                    id.map(|id| format!("\"{id}\""))
                }),
                _ => None,
            };
            let cure = match &meant {
                Some(meant) => format!("add default = {meant}, the answer at a table without a game master"),
                None => "add default = the answer at a table without a game master".to_owned(),
            };
            let change = meant.map(|meant| self.inserted(seat.location().end, format!(", default = {meant}")));
            self.problem_with(&LINT, seat.location(), (wrong, cure.into()), change);
        }
    }
}
