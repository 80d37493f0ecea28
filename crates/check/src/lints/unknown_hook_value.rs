//! A hook reads a value that its verb or its attachment does not have.

use std::sync::Arc;

use crate::inference::symbol::declared;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::name_of;
use crate::value_use::ValueUse;
use riskbreaker_ruleset::{Cure, Param, ParamType, Replacement, TextChange, instead, instead_or, likeliest, nearest};
use riskbreaker_script::syntax::{Expression, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "unknown-hook-value",
    severity: Severity::Error,
    summary: "a hook reads a value that its verb or its attachment does not have",
    explanation: "The first value of a function in a hook has the parameters of the verb, and `result` after the \
                  verb. The second has `owner` and the data that `rb.attach` was given, as the hook declares \
                  them. A hook that is always on is attached to nobody and has no owner.",
    bad: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.amount - 1
		end,
	},
})
"#,
    )]),
    good: Example::Files(&[(
        "hooks/slack.luau",
        r#"local rb = require("@riskbreaker")

return rb.hook({
	id = "slack",
	always = true,
	before = {
		move_rope = function(e)
			e.by = e.by - 1
		end,
	},
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Checks a member of an event, of which `of` is the variable: a parameter of the verb, what a hook has written into the
    /// event, or `result` where the verb may be over.
    pub(crate) fn member_of_event(
        &mut self,
        of: Expression<'_>,
        (verb, may_be_over): (&str, bool),
        name: &str,
        at: Location,
    ) {
        let declared = self.known.rules.and_then(|rules| rules.verb(verb));
        let Some(declared) = declared.filter(|verb| verb.is_typed || !verb.params.is_empty()) else { return };
        let is_given = declared.param(name).is_some() || name == "result" && may_be_over;
        if is_given || self.known.names.is_written_to_event(name_of(of).as_deref(), name) {
            return;
        }
        if name == "result" {
            let wrong = format!("`{name}` is there only after `{verb}` has run, and this function runs before it");
            return self.problem(&LINT, at, (wrong, "move it to a function of `after`".into()));
        }
        let names: Vec<String> = declared.names().chain(may_be_over.then_some("result")).map(str::to_owned).collect();
        let wrong = format!("a hook at `{verb}` is given no `{name}`");
        // A number is calculated with, and an entity has members.
        let (wanted, member) = (self.use_of(at), self.member_behind(at));
        let has_member = |kind: &Option<Arc<str>>| {
            let kind = kind.as_ref().and_then(|kind| self.known.kind(kind));
            member.is_none_or(|member| kind.is_none_or(|kind| kind.members().any(|known| known == member)))
        };
        let fits = |param: &&Param| match (&param.ty, wanted) {
            (ParamType::Value(Type::Int { .. }), Some(ValueUse::Number)) => true,
            (ParamType::Value(Type::Ref(kind)), Some(ValueUse::Entity)) => has_member(kind),
            _ => false,
        };
        let fitting: Vec<String> = declared.params.iter().filter(fits).map(|param| param.name.to_string()).collect();
        // Where some parameters fit, a name that is alike and does not fit is not meant.
        let cure = match fitting.as_slice() {
            [] => self.known.instead(name, &names),
            [only] => Cure::meant(name, only.as_str()),
            // A verb most often names first who it is done to.
            several => {
                let meant = likeliest(name, several.iter().map(String::as_str)).unwrap_or(&several[0]);
                let others = several.iter().map(String::as_str).filter(|other| *other != meant);
                let choices = std::iter::once(meant).chain(others).map(|other| Replacement::of(name, other));
                Cure::one_of(choices, format!("did you mean `{meant}`?"))
            }
        };
        self.problem(&LINT, at, (wrong, cure));
    }

    /// Checks a member of the data of an attachment: one that its hook declares.
    pub(crate) fn member_of_data(&mut self, hook: &str, name: &str, at: Location) {
        let data = self.known.rules.and_then(|rules| rules.hook_data(hook)).unwrap_or_default();
        if declared(data, name).is_none() {
            let names = data.iter().map(|param| &*param.name);
            let cure = instead_or(name, names, "declare it in `data` of the hook");
            self.problem(&LINT, at, (format!("the data of `{hook}` have no `{name}`"), cure));
        }
    }

    /// Reports a member that an attachment does not have.
    pub(crate) fn no_holder_member(&mut self, name: &str, at: Location) {
        let wrong = format!("an attachment has `id`, `hook`, `owner` and `data`, and no `{name}`");
        match self.names_of_any_data().contains(&name) {
            true => {
                let change = self.replaced(at, format!("data.{name}"));
                self.cured(&LINT, at, (wrong, Cure::meant(name, format!("data.{name}"))), change);
            }
            // It is compared with an entity, or has members.
            false if self.use_of(at) == Some(ValueUse::Entity) && nearest(name, ["id", "hook", "data"]).is_none() => {
                let change = self.replaced(at, "owner".to_owned());
                self.cured(&LINT, at, (wrong, Cure::meant(name, "owner")), change);
            }
            false => {
                let otherwise = "what it is given is in `data`, and what it hangs on is `owner`";
                self.problem(&LINT, at, (wrong, instead_or(name, ["id", "hook", "owner", "data"], otherwise)));
            }
        }
    }

    /// Reports `owner` and `id` of a hook that is always on. If some script attaches it, it need not be.
    pub(crate) fn holder_of_nobody(&mut self, name: &str, at: Location) {
        let wrong = format!("a hook that is always on hangs on nobody, and has no `{name}`");
        let id = self.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".luau");
        let change = self.text.find("always = true").filter(|_| self.known.names.is_attached(id)).map(|at| {
            let begin = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let behind = at + "always = true".len();
            let end = self.text[behind..].find('\n').map_or(behind, |newline| behind + newline + 1);
            let is_alone =
                self.text[begin..at].trim().is_empty() && self.text[behind..end].trim().trim_matches(',').is_empty();
            match is_alone {
                true => TextChange { begin, end, text: String::new() },
                false => TextChange { begin: at, end: behind, text: "always = false".to_owned() },
            }
        });
        let cure = match change {
            Some(_) => "take `always = true` out: the hook is attached where it begins",
            None => "take it from what the verb is given, or attach the hook where it begins, without `always`",
        };
        self.problem_with(&LINT, at, (wrong, cure.into()), change);
    }

    /// Reports a name that the data of no hook have, and that is near to one of theirs.
    pub(crate) fn in_no_data(&mut self, name: &str, at: Location) {
        let known = self.names_of_any_data();
        if known.contains(&name) {
            return;
        }
        if let Some(near) = self.known.nearest(name, known) {
            let mistake = (format!("no hook declares `{name}` in its data"), Cure::meant(name, near));
            self.problem(&LINT, at, mistake);
        }
    }

    /// Reports a name in the data of a new attachment that its hook does not declare.
    pub(crate) fn undeclared_data(
        &mut self,
        hook: &str,
        params: &[Param],
        (name, at): (&str, Location),
        is_given: impl Fn(&str) -> bool,
    ) {
        // The only one that the table lacks is most likely meant.
        let mut free = params.iter().map(|param| &*param.name).filter(|name| !is_given(name));
        let cure = match free.next().filter(|_| free.next().is_none()) {
            Some(only) => Cure::meant(name, only),
            None => instead(name, params.iter().map(|param| &*param.name)),
        };
        self.problem(&LINT, at, (format!("`{hook}` declares no `{name}` in its data"), cure));
    }
}
