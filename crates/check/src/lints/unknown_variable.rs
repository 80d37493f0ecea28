//! A variable is read that the file does not declare.

use crate::elsewhere::GLOBALS;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use riskbreaker_ruleset::{TextChange, slips};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Location, TextPosition};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-variable",
    severity: Severity::Error,
    summary: "a variable is read that the file does not declare",
    explanation: "A name without `local` before its declaration is a global. A ruleset has no globals but those \
                  of Luau, so the name is nil when it is read, and using it is a fault. Correct the name, declare \
                  it, require the file that has it, or put quotes around a text.",
    bad: Example::Resolve(r#"rb.say("{} pulls", actr)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor)"#),
};

impl ScriptReader<'_> {
    pub(crate) fn global(&mut self, name: &str, at: Location) {
        if api::globals().any(|known| known == name) || !self.told.insert(name.to_string()) {
            return;
        }
        let cure = match api::NOT_HERE.iter().chain(&ELSEWHERE).chain(GLOBALS).find(|(not, _)| *not == name) {
            Some((_, cure)) => (*cure).to_string(),
            None if self.known.stack.file(&format!("lib/{name}")).is_some() => {
                format!("write `local {name} = require(\"lib/{name}\")` at the top")
            }
            None if name == "act" => "did you mean `rb.act`?".to_owned(),
            None if self.is_declared_name(name) && !self.is_slip_of_a_local(name) => {
                format!("write it in quotes: \"{name}\"")
            }
            None if api::word(name).is_some() => format!("did you mean `rb.{name}`?"),
            None => match self.nearest_local(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.has_local(name) => {
                    format!(
                        "`{name}` is known in another part of the file: hand it to this function, `function({name})`"
                    )
                }
                None => "declare it by `local`, put it in quotes if it is a text, or correct the name".into(),
            },
        };
        let change = self.instead_of_global(name, &cure, at);
        self.problem_with(&LINT, at, (format!("there is no `{name}`"), cure), change);
    }

    /// The change that a cure of an unknown variable names.
    fn instead_of_global(&self, name: &str, cure: &str, at: Location) -> Option<TextChange> {
        if let Some(quoted) = cure.strip_prefix("write it in quotes: ") {
            return Some(self.replaced(at, quoted));
        }
        if cure.starts_with(&format!("write `local {name} = require")) {
            let code = cure.strip_prefix("write `").and_then(|rest| rest.split_once('`'))?.0;
            let first = self.text.split_inclusive('\n').position(|line| line.contains("require(\"@riskbreaker\")"));
            let line = first.map_or(0, |first| first as u32 + 1);
            return Some(self.inserted(TextPosition::new(line, 0), format!("{code}\n")));
        }
        if let Some(word) = cure.strip_prefix("did you mean `rb.").and_then(|rest| rest.strip_suffix("`?")) {
            return Some(self.replaced(at, format!("rb.{word}")));
        }
        let meant = match cure {
            "Luau writes `nil` for it" => "nil",
            "write `true`" => "true",
            "write `false`" => "false",
            // The first value of `rb.say` is a text.
            _ if cure.starts_with("use rb.say") => {
                let behind = self.text.get(self.offset_of(at.end)..)?;
                behind.strip_prefix('(').filter(|inside| inside.starts_with(['"', '`'])).map(|_| "rb.say")?
            }
            _ => return None,
        };
        Some(self.replaced(at, meant))
    }

    /// Whether a text is a name of the ruleset: of a kind, a field, a card or the like.
    fn is_declared_name(&self, name: &str) -> bool {
        const SORTS: [&str; 9] = ["kind", "field", "card", "item", "hook", "entry", "seat", "scenario", "policy"];
        SORTS.iter().any(|sort| self.known.names(sort).is_some_and(|names| names.iter().any(|known| known == name)))
    }

    /// Whether a local variable differs from a name by one letter.
    fn is_slip_of_a_local(&self, name: &str) -> bool {
        self.locals.names.iter().any(|local| local != name && slips(local, name, 1).is_some())
    }

    pub(crate) fn nearest_local(&self, name: &str) -> Option<String> {
        let mut known: Vec<&str> = vec!["rb"];
        for global in api::globals() {
            known.push(global);
        }
        // A local variable of that name elsewhere in the file is out of scope here.
        known.extend(self.locals.names.iter().map(String::as_str).filter(|local| *local != name));
        self.known.nearest(name, known).map(str::to_string)
    }
}

/// Names from other languages, and `rb` before it is required, with what to write instead.
const ELSEWHERE: [(&str, &str); 7] = [
    ("rb", "write `local rb = require(\"@riskbreaker\")` at the top"),
    ("null", "Luau writes `nil` for it"),
    ("None", "Luau writes `nil` for it"),
    ("undefined", "Luau writes `nil` for it"),
    ("True", "write `true`"),
    ("False", "write `false`"),
    ("this", "write `self`, and take it as the first parameter"),
];
