//! `when` returns a reason first, which counts as yes.

use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{literal, local_id, returned, text};
use riskbreaker_script::syntax::{ExpressionKind, Function};

pub(crate) static LINT: Lint = Lint {
    name: "when-result",
    severity: Severity::Error,
    summary: "`when` returns a reason first, which counts as yes",
    explanation: "`when` returns true, or false and a reason. Only the first value decides, and a text counts as \
                  true. So a reason in the first place opens the card.",
    bad: Example::Card(
        r#"when = function(ctx)
	if ctx.actor.rests > 1 then
		return "too tired"
	end
	return true
end,"#,
    ),
    good: Example::Card(
        r#"when = function(ctx)
	if ctx.actor.rests > 1 then
		return false, "too tired"
	end
	return true
end,"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a `when` that returns a reason first, which counts as yes.
    pub(crate) fn says_yes_by_a_text(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for values in &returns {
            if let [first, _, ..] = values
                && matches!(first.kind(), ExpressionKind::Boolean(false))
            {
                self.filled(values, 1);
            }
            if let [first, second, ..] = values
                && matches!(second.kind(), ExpressionKind::Boolean(false))
                && !matches!(first.kind(), ExpressionKind::Boolean(_) | ExpressionKind::Nil)
            {
                let wrong =
                    "`when` returns its reason first and `false` second; only the first value decides".to_string();
                let change = self.exchanged_with(*first, *second);
                self.cured(&LINT, first.location(), (wrong, "write `return false, reason`".into()), change);
            }
        }
        let reasons: Vec<_> = returns.iter().filter_map(|values| local_id(*values.get(1)?)).collect();
        for values in &returns {
            if let [only] = values
                && let ExpressionKind::Local { local, .. } = only.kind()
                && (reasons.contains(&local.id) || local.name == "reason")
            {
                let name = text(local.name);
                let wrong = format!("`when` returns `{name}` first, and a reason counts as yes");
                // A reason that another function gave is nil where there is none.
                let answer = format!("{name} == nil, ");
                let change = self.inserted(only.location().begin, answer.clone());
                let cure = format!("write `return {answer}{name}`, or `return false, {name}` where it is never nil");
                self.cured(&LINT, only.location(), (wrong, cure.into()), change);
            }
        }
        for values in &returns {
            let Some(first) = values.first() else { continue };
            if let Some(reason) = literal(*first) {
                let condition = values.get(1).filter(|second| self.value_type(**second) == Some(ValueType::Truth));
                if let Some(condition) = condition {
                    let wrong = "`when` returns its reason first and its answer second; only the first value decides";
                    let change = self.exchanged_with(*first, *condition);
                    let cure = "write the condition first, and the reason behind it".into();
                    self.cured(&LINT, first.location(), (wrong.to_owned(), cure), change);
                    continue;
                }
                let wrong = "`when` returns a text first, and that counts as yes".to_string();
                let change = self.inserted(first.location().begin, "false, ");
                self.cured(
                    &LINT,
                    first.location(),
                    (wrong, format!("write `return false, \"{reason}\"`").into()),
                    change,
                );
            }
        }
    }
}
