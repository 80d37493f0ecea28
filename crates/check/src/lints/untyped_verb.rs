//! A verb names its parameters without types.

use super::{Example, Lint, Severity};

pub(crate) static LINT: Lint = Lint {
    name: "untyped-verb",
    severity: Severity::Warning,
    summary: "a verb names its parameters without types",
    explanation: "A verb that declares types is checked at each call, names the line of the caller, and is known \
                  to editors and to the reference. The form without types still works. In an editor, one action \
                  rewrites the whole file.",
    bad: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ "rope", "by", "who" }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
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
})
"#,
    )]),
};
