//! Two values are compared that are never equal.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::literal;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

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
    /// Reports a comparison of a reference with a text.
    pub(crate) fn reference_is_no_text(&mut self, name: &str, at: Location) {
        let wrong = format!("`{name}` is an entity and never equal to a text");
        self.problem(&LINT, at, (wrong, "compare a field of it, such as its name".into()));
    }

    /// Reports a comparison of values that are never equal, because their types differ.
    pub(crate) fn never_equal(&mut self, lhs: Expression<'_>, rhs: Expression<'_>) {
        let holder = |side: Expression<'_>| self.symbol(side) == Some(Symbol::Holder);
        let named = |side: Expression<'_>| matches!(side.kind(), ExpressionKind::IndexName { .. });
        for (one, other) in [(lhs, rhs), (rhs, lhs)] {
            if holder(one) && named(other) && !holder(other) {
                let wrong = "this is an attachment, and no entity".to_string();
                let change = self.inserted(one.location().end, ".owner");
                let cure = "name whom it is attached to: `.owner`".into();
                return self.cured(&LINT, one.location(), (wrong, cure), change);
            }
        }
        for (number, name) in [(lhs, rhs), (rhs, lhs)] {
            if let ExpressionKind::IndexName { expr, index, index_location, .. } = number.kind()
                && index == "id"
                && holder(expr)
                && literal(name).is_some()
            {
                let wrong = "the `id` of an attachment is a number and never equal to a text".to_owned();
                let change = self.replaced(index_location, "hook");
                return self.cured(&LINT, number.location(), (wrong, "`hook` holds its name: `.hook`".into()), change);
            }
        }
        for (field, nil) in [(lhs, rhs), (rhs, lhs)] {
            if matches!(nil.kind(), ExpressionKind::Nil) && self.never_nil(field, nil) {
                return;
            }
        }
        for (entity, other) in [(lhs, rhs), (rhs, lhs)] {
            let is_entity =
                || self.value_type(entity) == Some(ValueType::Entity) || self.is_named_like_a_reference(entity);
            if let Some(what) = self.no_entity(other).filter(|_| is_entity() && !self.is_spec()) {
                let change = self.change_to_entity(other, &what);
                let (wrong, cure) = (format!("this is compared with an entity, and {}", what.wrong()), what.cure());
                return self.problem_with(&LINT, other.location(), (wrong, cure), change);
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
                "compare it with a number, or name the member that holds a text"
            }
            (ValueType::Entity, _) | (_, ValueType::Entity) => "name the field that is meant: entity.field",
            (ValueType::Sum, _) | (_, ValueType::Sum) => "compare the number of the sum: sum.total",
            _ => "compare it with a value that it can have",
        };
        let wrong = format!("{} and {} are never equal", one.words(), other.words());
        let counted = match (one, other) {
            (table, ValueType::Number) if table.is_table() => Some(lhs),
            (ValueType::Number, table) if table.is_table() => Some(rhs),
            _ => None,
        };
        let change = counted.map(|list| self.inserted(list.location().begin, "#"));
        if let Some((cure, change)) = self.by_its_name(lhs, rhs).or_else(|| self.truth_as_word(lhs, rhs)) {
            return self.cured(&LINT, rhs.location(), (wrong, cure.into()), change);
        }
        let is_number = [one, other].contains(&ValueType::Number);
        let quoted = [lhs, rhs].into_iter().find(|side| is_number && literal(*side).is_some());
        let change = change.or_else(|| self.unquoted(quoted?));
        self.problem_with(&LINT, rhs.location(), (wrong, cure.into()), change);
    }
}

impl ScriptReader<'_> {
    /// The cure for an entity that is compared with a text: the field that names it.
    fn by_its_name(&self, lhs: Expression<'_>, rhs: Expression<'_>) -> Option<(String, TextChange)> {
        let (entity, _) = [(lhs, rhs), (rhs, lhs)].into_iter().find(|(_, text)| literal(*text).is_some())?;
        let Some(Symbol::Entity(Some(kind))) = self.symbol(entity) else { return None };
        let title = self.known.kind(&kind)?;
        let title = title.field(title.title?).name.clone();
        let change = self.inserted(entity.location().end, format!(".{title}"));
        Some((format!("compare its name: `{}.{title}`", self.source(entity)), change))
    }

    /// The cure for true or false that is compared with a word such as "yes".
    fn truth_as_word(&self, lhs: Expression<'_>, rhs: Expression<'_>) -> Option<(String, TextChange)> {
        let meant = match &*literal(rhs)? {
            "yes" | "true" => "true",
            "no" | "false" => "false",
            _ => return None,
        };
        let is_truth = self.value_type(lhs) == Some(ValueType::Truth);
        is_truth.then(|| (format!("write {meant} without quotes"), self.replaced(rhs.location(), meant)))
    }
}
