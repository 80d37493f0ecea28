//! A least value is above the greatest.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{constant, value_of};
use riskbreaker_script::syntax::{Expression, TableItem};
use riskbreaker_state::Value;

pub(crate) static LINT: Lint = Lint {
    name: "empty-range",
    severity: Severity::Error,
    summary: "a least value is above the greatest",
    explanation: "No number lies between the two. Exchange them.",
    bad: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 3, max = 1 })
rb.say("{}", by)"#,
    ),
    good: Example::Resolve(
        r#"local by = rb.number({ seat = ctx.actor.seat, topic = "by", min = 1, max = 3 })
rb.say("{}", by)"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports `math.clamp` with a least value above the greatest.
    pub(crate) fn clamps_to_nothing(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "math.clamp"
            && let [_, least, most] = args
            && let Some((low, high)) = self.whole_number(*least).zip(self.whole_number(*most))
            && low > high
        {
            let wrong = format!("the least value, {low}, is above the greatest, {high}");
            let change = self.exchanged_with(*least, *most);
            let cure = "it is written math.clamp(value, least, greatest)".into();
            self.cured(&LINT, least.location(), (wrong, cure), change);
        }
    }

    /// Reports a least number above the greatest.
    pub(crate) fn empty_range(&mut self, items: &[TableItem<'_>]) {
        let value = |wanted: &str| value_of(items, wanted);
        if let (Some(Value::Int(min)), Some(Value::Int(max))) =
            (value("min").and_then(constant), value("max").and_then(constant))
            && min > max
            && let (Some(least), Some(place)) = (value("min"), value("max"))
        {
            let wrong = format!("no number is from {min} to {max}");
            let is_first = least.location().begin < place.location().begin;
            let (one, other) = if is_first { (least, place) } else { (place, least) };
            let change = self.exchanged_with(one, other);
            self.cured(&LINT, place.location(), (wrong, format!("write min = {max}, max = {min}").into()), change);
        }
    }
}
