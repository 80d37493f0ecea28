//! Parts of a small ruleset, `bad`, for hostile or broken scripts.

pub const KINDS: &str = r#"local rb = require("@riskbreaker")
return rb.kinds({ thing = { title = "name", fields = {
	name = rb.text({ default = "it" }), n = rb.int({ min = 0, max = 9 }), other = rb.ref("thing"), all = rb.list(rb.int()),
}, derived = { double = function(self)
return self.n * 2
end } } })"#;

pub const PLAY: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function() rb.schedule("turn", 1, rb.spawn("thing", {})) end,
	entries = { turn = function(thing)
		rb.schedule("turn", 1, thing)
		local card = rb.choose({ seat = "players", topic = "card", about = thing, options = rb.options(rb.card_ids, { thing = thing }) })
		card.resolve({ thing = thing })
	end },
})"#;

/// A harmless card.
pub const HONEST: &str = r#"local rb = require("@riskbreaker")
return rb.maneuver({ id = "honest", resolve = function(ctx) ctx.thing:add("n", 1) end })"#;
