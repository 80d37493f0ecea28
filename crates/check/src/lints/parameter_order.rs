//! The names of a verb stand in another order than the parameters of its function.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "parameter-order",
    severity: Severity::Error,
    summary: "the names of a verb stand in another order than the parameters of its function",
    explanation: "A verb names its values in a list, and its function takes them in the order of that list. Here \
                  both have the same names in different orders, so that hooks see one value under the name of \
                  another.",
    bad: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ { "rope", rb.ref("rope") }, { "by", rb.int() }, { "who", rb.ref("puller") } }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
	greet = rb.verb({ { "who", rb.ref("puller") }, { "times", rb.int() } }, function(times, who)
		rb.say("{} bows {} times", who, times)
	end),
})
"#,
    )]),
    good: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ { "rope", rb.ref("rope") }, { "by", rb.int() }, { "who", rb.ref("puller") } }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
	greet = rb.verb({ { "who", rb.ref("puller") }, { "times", rb.int() } }, function(who, times)
		rb.say("{} bows {} times", who, times)
	end),
})
"#,
    )]),
};
