//! A value that is never nil is compared with nil.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "never-nil",
    severity: Severity::Error,
    summary: "a value that is never nil is compared with nil",
    explanation: "A field has the default of its declaration, and a calculated value is always there; only \
                  references can be nil. Compare a number with 0, a text with `\"\"`, and count a list with `#`.",
    bad: Example::Resolve(
        r#"local need = ctx.actor.strength + 1
if need == nil then
	rb.say("none")
end"#,
    ),
    good: Example::Resolve(
        r#"local need = ctx.actor.strength + 1
if need == 0 then
	rb.say("none")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a comparison with nil of a field or another value that is never nil. Returns whether it did.
    pub(crate) fn never_nil(&mut self, value: Expression<'_>, nil: Expression<'_>) -> bool {
        let field = match value.kind() {
            ExpressionKind::IndexName { expr, index, .. } => {
                matches!(self.symbol(expr), Some(Symbol::Entity(_))).then(|| format!("the field `{}`", text(index)))
            }
            ExpressionKind::Local { local, .. } => Some(format!("`{}`", text(local.name))),
            _ => Some("this".to_string()),
        };
        let is_field = matches!(value.kind(), ExpressionKind::IndexName { .. });
        let Some(named) = field.filter(|_| !self.is_spec() && (is_field || self.is_always_there(value))) else {
            return false;
        };
        let cure = match self.value_type(value) {
            Some(ValueType::Number) => "compare it with a number: `== 0`",
            Some(ValueType::Text) => "an empty text is `\"\"`",
            Some(ValueType::Truth) if is_field => "write the field alone, or `not` before it",
            Some(ValueType::List) => "count it: `#` before it",
            _ => return false,
        };
        let is_text = self.value_type(value) == Some(ValueType::Text);
        let is_list = self.value_type(value) == Some(ValueType::List);
        let is_truth = self.value_type(value) == Some(ValueType::Truth);
        let change = match (is_text, is_list) {
            _ if is_truth => {
                let begin = self.offset_of(value.location().begin);
                let end = self.offset_of(nil.location().end);
                let is_before = value.location().begin < nil.location().begin;
                let sign = if self.text.get(begin..end).is_some_and(|text| text.contains("~=")) { "" } else { "not " };
                let text = format!("{sign}{}", self.source(value));
                is_before.then_some(TextChange { begin, end, text })
            }
            (true, _) => Some(self.replaced(nil.location(), "\"\"")),
            // `list ~= nil` asks whether something is in it.
            (_, true) => {
                let begin = self.offset_of(value.location().begin);
                let end = self.offset_of(nil.location().end);
                let sign = if self.text[begin..end].contains("~=") { ">" } else { "==" };
                let is_before = value.location().begin < nil.location().begin;
                let text = format!("#{} {sign} 0", self.source(value));
                is_before.then_some(TextChange { begin, end, text })
            }
            _ => None,
        };
        let wrong = format!("{named} always has a value and is never nil");
        self.problem_with(&LINT, value.location(), (wrong, cure.into()), change);
        true
    }
}
