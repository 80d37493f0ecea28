//! A function reads a member off a value that has no such member.

use crate::inference::call::Called;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::lints::argument_type::field_to;
use crate::members::Members;
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use riskbreaker_ruleset::{Cure, Param, ParamType};
use riskbreaker_script::api;
use riskbreaker_script::syntax::Expression;
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "argument-member",
    severity: Severity::Error,
    summary: "a function reads a member off a value that has no such member",
    explanation: "A call gives an entity or `ctx` to a function of the ruleset, and the function reads a member \
                  that only entities of another kind have. It is a fault or nil when it is played. Give the \
                  entity that the function is for.",
    bad: Example::Files(&[
        ("lib/tired.luau", LIBRARY),
        (
            "maneuvers/nap.luau",
            r#"local rb = require("@riskbreaker")
local tired = require("lib/tired")

return rb.maneuver({
	id = "nap",
	title = "Nap",
	text = "Sleep.",
	resolve = function(ctx)
		rb.say("{} naps for {}", ctx.actor, tired.by(rb.first("rope")))
	end,
})
"#,
        ),
    ]),
    good: Example::Files(&[
        ("lib/tired.luau", LIBRARY),
        (
            "maneuvers/nap.luau",
            r#"local rb = require("@riskbreaker")
local tired = require("lib/tired")

return rb.maneuver({
	id = "nap",
	title = "Nap",
	text = "Sleep.",
	resolve = function(ctx)
		rb.say("{} naps for {}", ctx.actor, tired.by(rb.first("puller")))
	end,
})
"#,
        ),
    ]),
};

const LIBRARY: &str = r#"local tired = {}

function tired.by(who)
	return who.rests + 1
end

return tired
"#;

impl ScriptReader<'_> {
    /// Reports an entity or a context without a member that the function reads off its parameter on every path. Returns
    /// whether it did.
    pub(crate) fn lacks_members(&mut self, called: &Called, args: &[Expression<'_>], at: usize) -> bool {
        let arg = args[at];
        let Some(read) = called.signature.reads.get(at).filter(|read| !read.is_empty()) else { return false };
        let wanted: Vec<String> = self.kinds_with(read).map(str::to_owned).collect();
        if wanted.is_empty() || called.declared.get(at).is_some() || self.elsewhere {
            return false;
        }
        if let Some(other) = self.belongs_there(called, args, at, &wanted) {
            let (one, two) = (args[at.min(other)], args[at.max(other)]);
            let change = self.exchanged_with(one, two);
            let (first, second) = (self.source(one), self.source(two));
            let param = &called.signature.params[at];
            let wrong = format!("`{param}` of `{}` stands in another place", called.name);
            let cure = format!("exchange {first} and {second}; {}", called.written());
            self.cured(&LINT, arg.location(), (wrong, cure.into()), change);
            return true;
        }
        let mistake = match self.symbol(arg) {
            Some(Symbol::Context) => self.no_member_of_context(called, (arg, at), &wanted),
            Some(Symbol::Entity(Some(given))) => self.no_member_of_kind(called, (arg, at), &given, &wanted),
            Some(Symbol::Entity(None)) => None,
            _ => self.no_member_of_plain_value(called, (arg, at)),
        };
        let Some((mistake, meant)) = mistake else { return false };
        let change = meant.map(|meant| self.replaced(arg.location(), meant));
        self.problem_with(&LINT, arg.location(), mistake, change);
        true
    }

    /// The argument in whose place an entity belongs: its kind fits here, and the kind of the entity fits there.
    fn belongs_there(&self, called: &Called, args: &[Expression<'_>], at: usize, wanted: &[String]) -> Option<usize> {
        let kind_of = |arg: Expression<'_>| match self.symbol(arg) {
            Some(Symbol::Entity(Some(kind))) => Some(kind),
            _ => None,
        };
        let given = kind_of(args[at]).filter(|given| !wanted.contains(given))?;
        (0..args.len()).filter(|other| *other != at).find(|other| {
            let is_named = called.signature.params.get(*other).is_some_and(|param| *param == given);
            let fits_here = match self.symbol(args[*other]) {
                Some(Symbol::Entity(Some(kind))) => wanted.contains(&kind),
                Some(Symbol::Entity(None)) => is_named,
                _ => false,
            };
            let read = called.signature.reads.get(*other).filter(|read| !read.is_empty());
            fits_here && (is_named || read.is_some_and(|read| self.kinds_with(read).any(|kind| *kind == *given)))
        })
    }

    /// The mistake of a context that is given for one of its entities, and that entity.
    fn no_member_of_context(
        &self,
        called: &Called,
        (arg, at): (Expression<'_>, usize),
        wanted: &[String],
    ) -> Option<(Mistake, Option<String>)> {
        let (read, param) = (&called.signature.reads[at], &called.signature.params[at]);
        let Members::Context(known) = self.members_of_context() else { return None };
        let missing = read.iter().find(|name| !known.contains(name) && !self.known.names.may_context_get(name))?;
        let fits = |member: &&Param| match &member.ty {
            ParamType::Value(Type::Ref(kind)) => {
                kind.as_ref().is_none_or(|kind| wanted.iter().any(|name| **name == **kind))
            }
            _ => false,
        };
        let entities: Vec<&Param> = self.known.rules?.context().iter().filter(fits).collect();
        let named = |name: &str| entities.iter().find(|member| member.name == name);
        let meant = named(param).or_else(|| named("actor")).or(entities.first());
        let meant = meant.map(|member| format!("{}.{}", self.source(arg), member.name));
        let wrong = format!("`{}` reads `{param}.{missing}`, and `ctx` has no `{missing}`", called.name);
        let cure = match &meant {
            Some(meant) => Cure::meant(self.source(arg), meant.as_str()),
            None => "name the entity that is meant".into(),
        };
        Some(((wrong, cure), meant))
    }

    /// The mistake of a number, a sum, a text or a truth value that is given where members of an entity are read.
    fn no_member_of_plain_value(
        &self,
        called: &Called,
        (arg, at): (Expression<'_>, usize),
    ) -> Option<(Mistake, Option<String>)> {
        let (read, param) = (&called.signature.reads[at], &called.signature.params[at]);
        let given = self.value_type(arg)?;
        let of_plain: &[&str] = match given {
            ValueType::Number | ValueType::Sum => &["total", "least", "most", "parts"],
            ValueType::Text => api::library("string").unwrap_or_default(),
            ValueType::Truth => &[],
            _ => return None,
        };
        let missing = read.iter().find(|name| !of_plain.contains(&name.as_str()))?;
        let wrong = format!("`{}` reads `{param}.{missing}`, and this is {}", called.name, given.words());
        Some(((wrong, called.written().into()), None))
    }

    /// The mistake of an entity whose kind lacks what a function reads, and a field of the entity that has it.
    fn no_member_of_kind(
        &self,
        called: &Called,
        (arg, at): (Expression<'_>, usize),
        given: &str,
        wanted: &[String],
    ) -> Option<(Mistake, Option<String>)> {
        let (read, param) = (&called.signature.reads[at], &called.signature.params[at]);
        let kind = self.known.kind(given)?;
        let own = |name: &str| api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).any(|own| *own == name);
        let missing = read.iter().find(|name| !own(name) && !kind.members().any(|member| member == **name))?;
        let written = self.source_of(arg)?;
        let meant = wanted.iter().find_map(|wanted| field_to(kind, wanted));
        let meant = meant.map(|field| format!("{written}.{field}"));
        let wrong = format!("`{}` reads `{param}.{missing}`, and a {given} has no `{missing}`", called.name);
        let cure = match &meant {
            Some(meant) => Cure::meant(written, meant.as_str()),
            None => format!("name an entity of the kind `{}`", wanted.join("` or `")).into(),
        };
        Some(((wrong, cure), meant))
    }
}
