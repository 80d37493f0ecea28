//! A value that may be nil is used without a test.

use crate::inference::absent::{Absent, AbsentValue};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::local_id;
use riskbreaker_script::syntax::Expression;

pub(crate) static LINT: Lint = Lint {
    name: "may-be-nil",
    severity: Severity::Error,
    summary: "a value that may be nil is used without a test",
    explanation: "A function that searches may give nil: where several places test its result, the others of its own \
                  file have to. A map has no entry for a key that nobody has set, and data that may be left out are \
                  nil. Reading a member of nil and calculating with it are faults when they are played. Test the \
                  value first, or write a default behind `or`.",
    bad: Example::Files(&[
        ("hooks/tired.luau", TIRED),
        (
            "maneuvers/tire.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "tire",
	title = "Tire",
	text = "Pull less from now on.",
	resolve = function(ctx)
		rb.attach("tired", ctx.actor, { less = 1 })
		for _, held in rb.attached(ctx.actor) do
			if held.hook == "tired" then
				rb.say("{} less", held.data.less + 1)
			end
		end
	end,
})
"#,
        ),
    ]),
    good: Example::Files(&[
        ("hooks/tired.luau", TIRED),
        (
            "maneuvers/tire.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "tire",
	title = "Tire",
	text = "Pull less from now on.",
	resolve = function(ctx)
		rb.attach("tired", ctx.actor, { less = 1 })
		for _, held in rb.attached(ctx.actor) do
			if held.hook == "tired" then
				rb.say("{} less", (held.data.less or 0) + 1)
			end
		end
	end,
})
"#,
        ),
    ]),
};

const TIRED: &str = r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "tired",
	data = { less = { rb.int(), optional = true } },
	before = {
		move_rope = function(e, holder)
			e.by = e.by - (holder.data.less or 1)
		end,
	},
})
"#;

impl ScriptReader<'_> {
    /// Reports a member that is read off a value which may be nil.
    pub(crate) fn read_off_nil(&mut self, value: Expression<'_>) {
        if let Some(absent) = self.may_be_nil(value) {
            let named = self.shown(value);
            let cure = match local_id(value) {
                Some(_) => format!("test it first: `if {named} then`"),
                None => "keep it in a variable, and test that first: `if found then`".to_owned(),
            };
            let wrong = format!("`{named}` may be nil here: {}", absent.reason());
            self.problem(&LINT, value.location(), (wrong, cure.into()));
        }
    }

    /// Reports an operand that may be nil. Returns whether it did.
    pub(crate) fn nil_operand(&mut self, side: Expression<'_>, sign: &str) -> bool {
        let Some(absent) = self.may_be_nil(side) else { return false };
        let wrong = format!("`{sign}` takes no nil, and `{}` may be nil: {}", self.shown(side), absent.reason());
        let is_number = matches!(absent.why, Absent::Entry { is_number: true, .. });
        let change = is_number.then(|| match local_id(side) {
            Some(_) => self.inserted(absent.at.end, " or 0"),
            None => self.replaced(side.location(), format!("({} or 0)", self.source(side))),
        });
        let cure = match (is_number, local_id(side)) {
            (true, Some(_)) => "write `or 0` behind its value".to_owned(),
            (true, None) => format!("write `({} or 0)`", self.source(side)),
            (false, _) => "test it first, or write a default behind `or`".to_owned(),
        };
        self.problem_with(&LINT, side.location(), (wrong, cure.into()), change);
        true
    }

    /// The source of an expression for a message, if it is short.
    fn shown(&self, value: Expression<'_>) -> String {
        self.source_of(value).unwrap_or_else(|| "this".to_owned())
    }
}

impl AbsentValue {
    /// The reason as a clause of a message.
    fn reason(&self) -> String {
        match &self.why {
            Absent::Entry { map, .. } => format!("`{map}` need not have an entry for this key"),
            Absent::Search(function) => format!("`{function}` gives nil if it finds nothing"),
            Absent::LeftOut(name) => format!("`{name}` may be left out"),
            Absent::NotGiven { hook, name: None } => format!("`{hook}` is attached without data"),
            Absent::NotGiven { hook, name: Some(name) } => format!("`{hook}` is attached without `{name}` in its data"),
        }
    }
}
