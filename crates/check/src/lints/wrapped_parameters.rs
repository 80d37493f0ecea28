//! A wrapped function does not take the function below first.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::signature::Signature;
use crate::syntax::{members_of, text};
use riskbreaker_script::syntax::{Function, Local, Location};

pub(crate) static LINT: Lint = Lint {
    name: "wrapped-parameters",
    severity: Severity::Error,
    summary: "a wrapped function does not take the function below first",
    explanation: "The function in `rb.wrapped` takes the function that it wraps as its first value, and then the \
                  values of that function. Here the first parameter is used like one of those values.",
    bad: Example::Files(&[(
        "maneuvers/pull.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "pull",
	title = "Pull",
	text = "Pull.",
	when = rb.wrapped(function(ctx)
		return ctx.actor.rests < 2
	end),
	resolve = function(ctx)
		rb.act.move_rope(ctx.rope, ctx.actor.pull, ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/pull.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "pull",
	title = "Pull",
	text = "Pull.",
	when = function(ctx)
		return ctx.actor.rests < 2
	end,
	resolve = function(ctx)
		rb.act.move_rope(ctx.rope, ctx.actor.pull, ctx.actor)
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Notes that the wrapped function takes the wrapper's parameters without the first one.
    pub(crate) fn takes_below(&mut self, function: &Function<'_>) {
        let Some((below, own)) = function.args.split_first() else { return };
        let name = text(below.name);
        let verb = self.keys.last().and_then(|verb| self.known.rules?.verb(verb));
        let is_param = verb.is_some_and(|verb| verb.names().next() == Some(&*name));
        if is_param || !members_of(function, below.id).is_empty() {
            let wrong =
                format!("the first value of a wrapped function is the function below, and here it is called `{name}`");
            if let Some(other) = own.iter().find(|arg| arg.name == "below") {
                let in_order = |arg: &&Local<'_>| match (arg.id == below.id, arg.id == other.id) {
                    (true, _) => "below".to_owned(),
                    (_, true) => name.clone(),
                    _ => text(arg.name),
                };
                let written: Vec<String> = function.args.iter().map(in_order).collect();
                let between = self.bytes_of(Location::new(below.location.end, other.location.begin));
                let exchanged = format!("below{}{name}", self.text.get(between).unwrap_or(", "));
                let change = self.replaced(Location::new(below.location.begin, other.location.end), exchanged);
                let cure = format!("write function({})", written.join(", "));
                return self.cured(&LINT, below.location, (wrong, cure.into()), change);
            }
            let own: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
            let change = self.inserted(below.location.begin, "below, ");
            let cure = format!("write function(below, {})", own.join(", "));
            return self.cured(&LINT, below.location, (wrong, cure.into()), change);
        }
        self.uses_below(below);
        let params: Vec<String> = own.iter().map(|arg| text(arg.name)).collect();
        let signature = Signature { needed: params.len(), params, spread: function.vararg, ..Signature::default() };
        self.functions.insert(below.id, signature);
    }
}
