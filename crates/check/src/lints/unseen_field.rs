//! A policy reads a field that its seat does not see.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::lints::hidden_option::{KINDS, KINDS_PATH};
use crate::reader::ScriptReader;
use crate::syntax::{literal, local_id, text, value_of};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};
use riskbreaker_state::AudienceRule;

pub(crate) static LINT: Lint = Lint {
    name: "unseen-field",
    severity: Severity::Error,
    summary: "a policy reads a field that its seat does not see",
    explanation: "A policy sees what its seat sees. Of an entity of another seat, a field with an audience, such as a hidden \
                  hand, is empty, and so is a derived value that is calculated from it. Decide by what the seat can know.",
    bad: Example::Files(&[(KINDS_PATH, KINDS), ("policies/spying.luau", SPYING)]),
    good: Example::Files(&[(KINDS_PATH, KINDS), ("policies/spying.luau", FAIR)]),
};

const SPYING: &str = r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "spying",
	answer = function(q)
		local other = rb.first("puller", { seat = if q.seat == "left" then "right" else "left" })
		if q.topic == "card" then
			return if #other.tricks > 0 then "rest" else "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#;

const FAIR: &str = r#"local rb = require("@riskbreaker")

return rb.policy({
	id = "spying",
	answer = function(q)
		local other = rb.first("puller", { seat = if q.seat == "left" then "right" else "left" })
		if q.topic == "card" then
			return if other.rests > 0 then "rest" else "pull"
		end
		return rb.pick(q, 3)
	end,
})
"#;

impl Inference<'_> {
    /// Whether all kinds with a field of that name show it to the seat of the entity alone.
    pub(crate) fn is_hidden_everywhere(&self, name: &str) -> bool {
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let mut fields = kinds.filter_map(|kind| Some(kind.field(kind.field_named(name)?))).peekable();
        let is_hidden = |rule: &Option<AudienceRule>| matches!(rule, Some(AudienceRule::Path(path)) if path.len() == 1);
        fields.peek().is_some() && fields.all(|field| is_hidden(&field.audience))
    }

    /// Whether an expression is the seat for which the policy answers.
    fn is_own_seat(&self, seat: Expression<'_>) -> bool {
        let ExpressionKind::IndexName { expr, index, .. } = seat.kind() else { return false };
        index == "seat" && self.symbol(expr) == Some(Symbol::Question)
    }

    /// Whether a value is an entity of another seat: `rb.first(KIND, { seat = if q.seat == "a" then "b" else "a" })`.
    pub(crate) fn is_of_another_seat(&self, value: Expression<'_>) -> bool {
        let ExpressionKind::Call { func, args: [_, filter], .. } = value.kind() else { return false };
        let ExpressionKind::Table { items } = filter.kind() else { return false };
        if self.symbol(func) != Some(Symbol::Word("first")) {
            return false;
        }
        let Some(ExpressionKind::If { condition, then_expression, else_expression, .. }) =
            value_of(items, "seat").map(|seat| seat.kind())
        else {
            return false;
        };
        let ExpressionKind::Binary { lhs, op: BinaryOp::Equal, rhs } = condition.kind() else { return false };
        let (own, named) = if self.is_own_seat(lhs) { (lhs, rhs) } else { (rhs, lhs) };
        let seats = literal(named).zip(literal(then_expression)).zip(literal(else_expression));
        self.is_own_seat(own) && seats.is_some_and(|((own, then), other)| own != then && own == other)
    }

    /// The variable of an entity of another seat in `other.seat ~= q.seat`, by itself or as a part of `and`.
    pub(crate) fn stranger_in(&self, condition: Expression<'_>) -> Option<u64> {
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.stranger_in(inner),
            ExpressionKind::Binary { lhs, op: BinaryOp::And, rhs } => {
                self.stranger_in(lhs).or_else(|| self.stranger_in(rhs))
            }
            ExpressionKind::Binary { lhs, op: BinaryOp::NotEqual, rhs } => {
                let of = |seat: Expression<'_>| match seat.kind() {
                    ExpressionKind::IndexName { expr, index, .. } if index == "seat" => local_id(expr),
                    _ => None,
                };
                match (self.is_own_seat(lhs), self.is_own_seat(rhs)) {
                    (true, false) => of(rhs),
                    (false, true) => of(lhs),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a hidden field that a policy reads off an entity of another seat, or a derived value calculated from one.
    pub(crate) fn unseen(&mut self, of: Expression<'_>, name: &str, at: Location) {
        if !self.path.starts_with("policies/") || !local_id(of).is_some_and(|id| self.strangers.contains(&id)) {
            return;
        }
        let hidden = match self.is_hidden_everywhere(name) {
            true => Some(name.to_owned()),
            false => {
                self.known.names.read_by_derived(name).find(|field| self.is_hidden_everywhere(field)).map(str::to_owned)
            }
        };
        let Some(hidden) = hidden else { return };
        let owner = match of.kind() {
            ExpressionKind::Local { local, .. } => text(local.name),
            _ => return,
        };
        let wrong = match hidden == name {
            true => format!("the seat of this policy does not see `{name}` of `{owner}`, so it is empty here"),
            false => format!("`{name}` reads `{hidden}`, which the seat of this policy does not see of `{owner}`"),
        };
        self.problem(&LINT, at, (wrong, "decide by what the seat can see".into()));
    }
}
