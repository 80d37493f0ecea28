//! A member of the change in a conversion is unknown, or a function that is not called.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use crate::type_pieces::pieces_of_type;
use riskbreaker_script::common_type;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "change-member",
    severity: Severity::Error,
    summary: "a conversion reads a member that `change` does not have, or off a function of it",
    explanation: "The function of a conversion takes the change: its values, such as `change.from`, and its functions, which \
                  are called with a dot. The old values of an entity are those of `change.was(entity)`.",
    bad: Example::Files(&[(
        "convert/tug.luau",
        r#"local rb = require("@riskbreaker")

return rb.convert({
	id = "tug",
	run = function(change)
		for _, who in ipairs(rb.each("puller")) do
			who:set("rests", change.was.naps)
		end
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "convert/tug.luau",
        r#"local rb = require("@riskbreaker")

return rb.convert({
	id = "tug",
	run = function(change)
		for _, who in ipairs(rb.each("puller")) do
			who:set("rests", change.was(who).naps)
		end
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Whether an expression is the change that a conversion takes.
    pub(crate) fn is_change(&self, expression: Expression<'_>) -> bool {
        self.path.starts_with("convert/")
            && matches!(expression.kind(), ExpressionKind::Local { local, .. } if local.name == "change")
    }

    /// Reports a member that the change does not have, and one that is read off a function of it. Returns whether the
    /// expression is the change or such a function.
    pub(crate) fn member_of_change(&mut self, of: Expression<'_>, name: &str, at: Location) -> bool {
        if self.is_change(of) {
            let names: Vec<String> = members().map(|(name, _)| name.to_owned()).collect();
            if !names.iter().any(|known| known == name) {
                let cure = self.known.instead(name, &names);
                self.problem(&LINT, at, (format!("`change` has no `{name}`"), cure));
            }
            return true;
        }
        let ExpressionKind::IndexName { expr, index, index_location, .. } = of.kind() else { return false };
        let function = text(index);
        if !self.is_change(expr) || !members().any(|(name, is_function)| is_function && name == function) {
            return false;
        }
        let wrong = format!("`change.{function}` is a function, and has no `{name}`");
        let cure = format!("write `change.{function}(...).{name}`");
        self.problem(&LINT, index_location, (wrong, cure.into()));
        true
    }
}

/// The members of the change, and whether each is a function.
fn members() -> impl Iterator<Item = (&'static str, bool)> {
    let ty = common_type("Change").unwrap_or_default().trim_start_matches("{ ").trim_end_matches(" }");
    pieces_of_type(ty, ',').into_iter().filter_map(|piece| {
        let (name, ty) = piece.split_once(':')?;
        Some((name.trim(), ty.contains("->")))
    })
}
