//! A question lacks a key that it needs.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{number, value_of};
use riskbreaker_script::syntax::{Expression, Location, TableItem};

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

    /// Reports a number with bounds that leave no number, or with a default outside of them.
    pub(crate) fn asks_for_no_number(&mut self, items: &[TableItem<'_>]) {
        let value = |key: &str| value_of(items, key).and_then(|value| Some((value, number(value)?)));
        let (Some((least_at, least)), Some((most_at, most))) = (value("min"), value("max")) else { return };
        if least > most {
            let wrong = format!("no number is at least {least} and at most {most}");
            let place = Location::new(least_at.location().begin, most_at.location().end);
            let is_in_order = place.begin < place.end;
            let between = Location::new(least_at.location().end, most_at.location().begin);
            let change = is_in_order.then(|| {
                let between = self.text.get(self.bytes_of(between)).unwrap_or(", ");
                self.replaced(place, [self.source(most_at), between, self.source(least_at)].concat())
            });
            return self.problem_with(&LINT, least_at.location(), (wrong, "exchange them".into()), change);
        }
        if let Some((at, usual)) = value("default").filter(|(_, usual)| *usual < least || *usual > most) {
            let nearest = usual.clamp(least, most);
            let wrong = format!("the default {usual} is not from {least} to {most}");
            let change = self.replaced(at.location(), nearest.to_string());
            self.cured(&LINT, at.location(), (wrong, format!("write {nearest}, or other bounds").into()), change);
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
