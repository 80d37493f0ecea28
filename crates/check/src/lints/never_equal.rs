//! Two values are compared that are never equal.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "never-equal",
    severity: Severity::Error,
    summary: "two values are compared that are never equal",
    explanation: "Values of different types are never equal: a text is no number, an entity is no text, a list is \
                  no number. The condition is always false (or with `~=` always true). Compare the field or the \
                  number that is meant.",
    bad: Example::Resolve(
        r#"if ctx.actor.strength == "3" then
	rb.say("weak")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.actor.strength == 3 then
	rb.say("weak")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a comparison of values that are never equal, because their types differ.
    pub(crate) fn never_equal(&mut self, lhs: Expression<'_>, rhs: Expression<'_>) {
        let holder = |side: Expression<'_>| self.symbol(side) == Some(Symbol::Holder);
        let named = |side: Expression<'_>| matches!(side.kind(), ExpressionKind::IndexName { .. });
        for (one, other) in [(lhs, rhs), (rhs, lhs)] {
            if holder(one) && named(other) && !holder(other) {
                let wrong = "this is what is attached, and no entity".to_string();
                return self.problem(&LINT, one.location(), (wrong, "name whom it is attached to: `.owner`".into()));
            }
        }
        for (field, nil) in [(lhs, rhs), (rhs, lhs)] {
            if matches!(nil.kind(), ExpressionKind::Nil) && self.never_nil(field) {
                return;
            }
        }
        for (entity, other) in [(lhs, rhs), (rhs, lhs)] {
            let is_entity =
                || self.value_type(entity) == Some(ValueType::Entity) || self.is_named_like_a_reference(entity);
            if let Some((wrong, cure)) = self.no_entity(other).filter(|_| is_entity() && !self.is_spec()) {
                return self.problem(
                    &LINT,
                    other.location(),
                    (format!("this is compared with an entity, and {wrong}"), cure),
                );
            }
        }
        let (Some(one), Some(other)) = (self.type_or_list(lhs), self.type_or_list(rhs)) else { return };
        let plain = |sort| matches!(sort, ValueType::Number | ValueType::Text | ValueType::Truth);
        if one == other || !plain(one) && !plain(other) || one == ValueType::Function || other == ValueType::Function {
            return;
        }
        let cure = match (one, other) {
            (table, ValueType::Number) | (ValueType::Number, table) if table.is_table() => "count a list with `#`",
            (ValueType::Text, ValueType::Number) | (ValueType::Number, ValueType::Text) => {
                "write a number without quotes, or name the field that holds one"
            }
            (ValueType::Entity, _) | (_, ValueType::Entity) => "name the field that is meant: entity.field",
            (ValueType::Sum, _) | (_, ValueType::Sum) => "compare the number of the sum: sum.total",
            _ => "compare it with a value that it can have",
        };
        let wrong = format!("{} and {} are never equal", one.words(), other.words());
        self.problem(&LINT, rhs.location(), (wrong, cure.to_string()));
    }
}
