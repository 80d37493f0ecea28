//! A question shows a seat what another seat alone may see.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{text, value_of};
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "hidden-option",
    severity: Severity::Error,
    summary: "a question shows a seat what another seat alone may see",
    explanation: "The options of the question are read off a field with an audience, such as a hidden hand, and the question \
                  goes to the seat of another entity. That seat sees the options. Ask the seat of the entity whose field it \
                  is.",
    bad: Example::Files(&[(KINDS_PATH, KINDS), ("maneuvers/trick.luau", ASKS_ROPE)]),
    good: Example::Files(&[(KINDS_PATH, KINDS), ("maneuvers/trick.luau", ASKS_ACTOR)]),
};

pub(crate) const KINDS_PATH: &str = "kinds.luau";

/// Kinds of which one has a field that only its own seat sees.
pub(crate) const KINDS: &str = r#"local rb = require("@riskbreaker")

return rb.kinds({
	rope = {
		fields = { at = rb.int({ min = -50, max = 50, label = "rope" }), by = rb.ref("puller", { show = false }) },
	},
	puller = {
		title = "name",
		fields = {
			name = rb.text({ show = false }),
			seat = rb.text({ show = false }),
			tricks = rb.list(rb.text(), { audience = "seat" }),
			pull = rb.int({ default = 1, show = false }),
			strength = rb.int({ min = 0, max = 10, default = 5 }),
			rests = rb.int({ min = 0, label = "rests" }),
		},
		derived = {
			need = function(self)
				return rb.sum("strength", self.strength) + rb.sum("every pull", 1)
			end,
		},
	},
})
"#;

const ASKS_ROPE: &str = r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "trick",
	title = "Trick",
	text = "Play a trick.",
	resolve = function(ctx)
		local trick = rb.choose({
			seat = ctx.rope.by.seat,
			topic = "trick",
			about = ctx.actor,
			options = ctx.actor.tricks,
		})
		rb.say("{} plays {}", ctx.actor, trick)
	end,
})
"#;

const ASKS_ACTOR: &str = r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "trick",
	title = "Trick",
	text = "Play a trick.",
	resolve = function(ctx)
		local trick = rb.choose({
			seat = ctx.actor.seat,
			topic = "trick",
			about = ctx.actor,
			options = ctx.actor.tricks,
		})
		rb.say("{} plays {}", ctx.actor, trick)
	end,
})
"#;

impl ScriptReader<'_> {
    /// Reports a question to the seat of one entity whose options are read off a hidden field of another one, which the
    /// question is about.
    pub(crate) fn shows_hidden_options(&mut self, items: &[TableItem<'_>]) {
        let value = |name: &str| value_of(items, name);
        let (Some(seat), Some(about), Some(options)) = (value("seat"), value("about"), value("options")) else {
            return;
        };
        let ExpressionKind::IndexName { expr: asked, index, .. } = seat.kind() else { return };
        let is_entity = matches!(self.symbol(asked), Some(Symbol::Entity(_)));
        let (asked, about) = (self.source(asked), self.source(about));
        // `ctx.seat` is that of no entity.
        let is_entity = index == "seat" && (is_entity || asked.contains('.')) && asked != about;
        let Some(field) = self.hidden_field_of(options, about).filter(|_| is_entity) else { return };
        let wrong = format!(
            "the options show `{field}` of `{about}`, which its seat alone may see, and `{asked}.seat` is asked"
        );
        let meant = format!("{about}.seat");
        let change = self.replaced(seat.location(), &*meant);
        self.cured(&LINT, seat.location(), (wrong, format!("write `{meant}`").into()), change);
    }

    /// The name of a field with the audience `seat` of its entity that an expression reads off an entity, as it is written.
    fn hidden_field_of(&self, value: Expression<'_>, owner: &str) -> Option<String> {
        let mut found = None;
        value.visit(&mut |node: AstNode<'_>| {
            if let AstNode::Expression(expression) = node
                && let ExpressionKind::IndexName { expr, index, .. } = expression.kind()
                && self.source(expr) == owner
            {
                let name = text(index);
                if self.is_hidden_everywhere(&name) {
                    found = found.take().or(Some(name));
                }
            }
            true
        });
        found
    }
}
