//! `rb`, `t` of a spec or a library of Luau has no member of that name.

use crate::elsewhere::MEMBERS;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::{Cure, TextChange};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, Location};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-word",
    severity: Severity::Error,
    summary: "`rb`, `t` of a spec or a library of Luau has no member of that name",
    explanation: "The words of `rb`, the methods of `t` in a spec and the functions of `math`, `table`, `string`, \
                  `bit32` and `utf8` are listed in the reference. Others are nil. Some names of other programs \
                  and of other versions of Lua are known to the check, and the cure says what to write here.",
    bad: Example::Resolve(r#"rb.sya("{} pulls", ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports a word that `rb` does not have.
    pub(crate) fn no_word(&mut self, name: &str, at: Location) {
        // Words of former versions are accepted.
        if api::word(name).is_some() || api::FORMER_WORDS.contains(&name) {
            return;
        }
        let names: Vec<String> = api::WORDS.iter().map(|word| word.name.to_string()).collect();
        let is_verb = self.known.names("verb").is_some_and(|verbs| verbs.iter().any(|verb| verb == name));
        let cure = match is_verb {
            true => {
                Cure::rewrite(format!("rb.{name}"), format!("rb.act.{name}"), format!("it is a verb: rb.act.{name}"))
            }
            false => self.known.instead_alike(name, &names),
        };
        self.problem(&LINT, at, (format!("rb has no `{name}`"), cure));
    }

    /// Reports a method that `t` of a spec does not have.
    pub(crate) fn no_method_of_a_spec(&mut self, name: &str, at: Location) {
        if api::spec_method(name).is_none() {
            let names: Vec<String> = api::SPEC_METHODS.iter().map(|method| method.name.to_string()).collect();
            self.problem(&LINT, at, (format!("a spec has no `t:{name}`"), self.known.instead_alike(name, &names)));
        }
    }

    /// Checks a member of a library of Luau.
    pub(crate) fn member_of_library(&mut self, of: Expression<'_>, library: &'static str, name: &str, at: Location) {
        let names = api::library(library).unwrap_or_default();
        if !names.contains(&name) {
            let cure = match (library, name) {
                ("math", "random" | "randomseed") if self.path.starts_with("policies/") => {
                    "a policy rolls no dice: rb.pick(q, n) gives a number from 1 to n".into()
                }
                ("math", "random" | "randomseed") => "roll dice: rb.roll(\"1d6\", \"what for\")".into(),
                _ if let Some((.., cure)) =
                    MEMBERS.iter().find(|(of, member, _)| *of == library && *member == name) =>
                {
                    (*cure).into()
                }
                _ => self.known.instead_alike(name, &names.iter().map(|name| name.to_string()).collect::<Vec<_>>()),
            };
            let change = self.instead_of_function(of, library, name, at);
            let mistake = (format!("{library} has no `{name}`"), cure);
            self.problem_with(&LINT, at, mistake, change);
        }
    }

    /// The call that is written instead of one of another Lua: `#list`, `a % b`, a roll of one die.
    fn instead_of_function(&self, of: Expression<'_>, library: &str, name: &str, at: Location) -> Option<TextChange> {
        // Another name for the same arguments.
        let renamed = match (library, name) {
            ("table", "join") => Some("table.concat"),
            ("table", "push" | "append" | "add") => Some("table.insert"),
            ("table", "indexOf") => Some("table.find"),
            ("table", "pop") => Some("table.remove"),
            ("table", "copy") => Some("table.clone"),
            ("table", "shuffle") => Some("rb.shuffle"),
            ("table", "filter") => Some("rb.filter"),
            ("string", "toUpperCase") => Some("string.upper"),
            ("string", "toLowerCase") => Some("string.lower"),
            _ => None,
        };
        if let Some(renamed) = renamed {
            return Some(self.replaced(Location::new(of.location().begin, at.end), renamed));
        }
        let (inside, end) = self.arguments_behind(at)?;
        let values: Vec<&str> = inside.split(',').map(str::trim).collect();
        let text = match (library, name, values.as_slice()) {
            ("table", "getn" | "length" | "size" | "count" | "len", [list]) => format!("#{list}"),
            ("math", "mod" | "fmod", [a, b]) => format!("{a} % {b}"),
            ("table", "contains" | "includes", [list, value]) => format!("table.find({list}, {value}) ~= nil"),
            ("string", "length", [text]) => format!("#{text}"),
            ("math", "random", ["1", most] | [most]) if self.path.starts_with("policies/") && self.is_in_scope("q") => {
                format!("rb.pick(q, {most})")
            }
            ("math", "random", ["1", faces] | [faces]) if faces.parse::<u32>().is_ok_and(|faces| faces > 1) => {
                format!("rb.roll(\"1d{faces}\", \"what for\")")
            }
            _ => return None,
        };
        Some(TextChange { begin: self.offset_of(of.location().begin), end, text })
    }
}
