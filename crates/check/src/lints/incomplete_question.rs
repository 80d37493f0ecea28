//! A question lacks a key that it needs.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::value_of;
use riskbreaker_script::syntax::{Expression, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "incomplete-question",
    severity: Severity::Error,
    summary: "a question lacks a key that it needs",
    explanation: "Each question needs `seat` and `topic`, a choice needs `options`, a number `min` and `max`, and \
                  `rb.allot` a `total`. Without them the call is refused.",
    bad: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1 })
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1, max = 3 })
rb.say("{}", by)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a choice without options and a number without its bounds.
    pub(crate) fn lacks_bounds(&mut self, ask: &str, table: Expression<'_>, items: &[TableItem<'_>], cards: bool) {
        let value = |wanted: &str| value_of(items, wanted);
        if matches!(ask, "choose" | "choose_many" | "allot" | "order") && value("options").is_none() && !cards {
            self.problem(
                &LINT,
                table.location(),
                (format!("rb.{ask} lacks `options`"), "add options = a list of what is open".into()),
            );
        }
        for name in ["min", "max", "total"] {
            let wanted = match ask {
                "number" => name != "total",
                "allot" => name == "total",
                _ => false,
            };
            if wanted && value(name).is_none() {
                self.problem(
                    &LINT,
                    table.location(),
                    (format!("rb.{ask} lacks `{name}`"), format!("add {name} = a whole number").into()),
                );
            }
        }
    }

    /// Reports a question without a seat or a topic.
    pub(crate) fn asks_nobody(&mut self, ask: &str, table: Expression<'_>, items: &[TableItem<'_>], misspelt: bool) {
        let value = |wanted: &str| value_of(items, wanted);
        for (name, cure) in [
            ("seat", "add seat = who is asked, such as ctx.actor.seat or \"gm\""),
            ("topic", "add topic = a word for what is asked, such as \"stake\""),
        ] {
            // An unknown key has been reported already, and may be the missing one.
            if value(name).is_none() && !misspelt {
                self.problem(&LINT, table.location(), (format!("rb.{ask} lacks `{name}`"), cure.into()));
            }
        }
    }
}
