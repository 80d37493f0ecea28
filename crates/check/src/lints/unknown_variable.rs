//! A variable is read that the file does not declare.

use crate::elsewhere::GLOBALS;
use crate::inference::symbol::{Symbol, declared};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::type_pieces::closing_bracket;
use riskbreaker_ruleset::{Cure, TextChange, slips};
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
        let (cure, change) = self.instead_of_global(name, at);
        self.problem_with(&LINT, at, (format!("there is no `{name}`"), cure), change);
    }

    /// What to write instead of an unknown variable, and the change that does so.
    fn instead_of_global(&self, name: &str, at: Location) -> (Cure, Option<TextChange>) {
        if name == "f"
            && let Some(change) = self.filled_text(at)
        {
            return ("leave out the `f`: a text between backquotes fills its braces".into(), Some(change));
        }
        if let Some((_, cure)) = api::NOT_HERE.iter().chain(&ELSEWHERE).chain(GLOBALS).find(|(not, _)| *not == name) {
            return ((*cure).into(), self.instead_of_foreign(name, at));
        }
        if self.known.stack.file(&format!("lib/{name}")).is_some() {
            let code = format!("local {name} = require(\"lib/{name}\")");
            let change = self.required_at_top(&code);
            return (format!("write `{code}` at the top").into(), Some(change));
        }
        if let Some(owner) = self.owner_of(name) {
            let owned = format!("{owner}.{name}");
            return (Cure::meant(name, &*owned), Some(self.replaced(at, owned)));
        }
        if let Some(params) = self.verb_params.last().filter(|params| params.iter().any(|param| param == name)) {
            return (format!("write `function({})`", params.join(", ")).into(), None);
        }
        if self.is_declared_name(name) && !self.is_slip_of_a_local(name) && name != "act" {
            let quoted = format!("\"{name}\"");
            return (format!("write it in quotes: {quoted}").into(), Some(self.replaced(at, quoted)));
        }
        if name == "act" || api::word(name).is_some() {
            return (Cure::meant(name, format!("rb.{name}")), None);
        }
        let cure = match self.nearest_local(name) {
            Some(near) => Cure::meant(name, near),
            None if let Some(line) = self.declared_below(name, at) => {
                format!("`{name}` is declared below, in line {line}: move it above this function").into()
            }
            None if self.is_in_closed_block(name, at) => {
                format!("the block that declares `{name}` ends before this line: declare it before the block").into()
            }
            None if self.has_local(name) => {
                format!("`{name}` is known in another part of the file: hand it to this function, `function({name})`")
                    .into()
            }
            None => "declare it by `local`, put it in quotes if it is a text, or correct the name".into(),
        };
        (cure, None)
    }

    /// The parameter of an enclosing function off which a name is read: `ctx`, `self`, `e`, `q` or `holder`. Of several,
    /// that of the innermost function.
    fn owner_of(&self, name: &str) -> Option<String> {
        let variables = self.scopes.iter().rev().flat_map(|scope| scope.iter().rev());
        let mut owners = variables.filter(|variable| match self.symbols.get(&variable.id) {
            Some(Symbol::Context) => self.known.rules.is_some_and(|rules| declared(rules.context(), name).is_some()),
            Some(Symbol::Entity(Some(kind))) if variable.name == "self" => {
                self.known.kind(kind).is_some_and(|kind| kind.field_named(name).is_some())
            }
            Some(Symbol::Event(verb)) => {
                self.known.rules.and_then(|rules| rules.verb(verb)).is_some_and(|verb| verb.param(name).is_some())
            }
            Some(Symbol::Question) => matches!(name, "topic" | "about" | "seat" | "options" | "min" | "max" | "total"),
            Some(Symbol::Holder) => matches!(name, "owner" | "data"),
            _ => false,
        });
        owners.next().map(|variable| variable.name.clone())
    }

    /// The change of a name of another language or environment.
    fn instead_of_foreign(&self, name: &str, at: Location) -> Option<TextChange> {
        let meant = match name {
            "rb" => return Some(self.required_at_top("local rb = require(\"@riskbreaker\")")),
            "null" | "None" | "undefined" => "nil",
            "True" => "true",
            "False" => "false",
            "len" => {
                let begin = self.offset_of(at.begin);
                let inside = self.text.get(self.offset_of(at.end)..)?.strip_prefix('(')?;
                let inside = &inside[..closing_bracket(inside)?];
                let end = self.offset_of(at.end) + inside.len() + 2;
                return Some(TextChange { begin, end, text: format!("#{inside}") });
            }
            // The first value of `rb.say` is a text.
            "print" => {
                let behind = self.text.get(self.offset_of(at.end)..)?;
                behind.strip_prefix('(').filter(|inside| inside.starts_with(['"', '`'])).map(|_| "rb.say")?
            }
            _ => return None,
        };
        Some(self.replaced(at, meant))
    }

    /// The change of `f"..."` to a text between backquotes.
    fn filled_text(&self, at: Location) -> Option<TextChange> {
        let (begin, rest) = (self.offset_of(at.begin), self.text.get(self.offset_of(at.end)..)?);
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let inner = &rest[1..];
        let inner = &inner[..inner.find(quote)?];
        let is_plain = !inner.contains(['`', '\\', '\n']);
        let end = self.offset_of(at.end) + inner.len() + 2;
        is_plain.then(|| TextChange { begin, end, text: format!("`{inner}`") })
    }

    /// The line in which a local variable at the top of the file is declared below a place.
    fn declared_below(&self, name: &str, at: Location) -> Option<usize> {
        let declares = |line: &str| {
            let rest = line.strip_prefix("local ").map(|rest| rest.strip_prefix("function ").unwrap_or(rest));
            rest.is_some_and(|rest| word_at_start(rest) == name)
        };
        let mut below = self.text.lines().enumerate().skip(at.begin.line as usize + 1);
        below.find(|(_, line)| declares(line)).map(|(number, _)| number + 1)
    }

    /// Whether an inner block of the same function declares a local variable above a place, and ends before it.
    fn is_in_closed_block(&self, name: &str, at: Location) -> bool {
        let own = self.indent_of(at.begin).len();
        let above: Vec<&str> = self.text.lines().take(at.begin.line as usize).collect();
        let mut of_function = above.iter().rev().take_while(|line| {
            let indent = line.len() - line.trim_start().len();
            line.trim().is_empty() || indent >= own || !line.contains("function")
        });
        let declares = |line: &str| {
            let code = line.trim_start();
            let is_inner = line.len() - code.len() > own;
            is_inner && code.strip_prefix("local ").is_some_and(|rest| word_at_start(rest) == name)
        };
        own > 0 && of_function.any(|line| declares(line))
    }

    /// The change that adds a line behind the one that requires the vocabulary.
    fn required_at_top(&self, code: &str) -> TextChange {
        let first = self.text.split_inclusive('\n').position(|line| line.contains("require(\"@riskbreaker\")"));
        let line = first.map_or(0, |first| first as u32 + 1);
        self.inserted(TextPosition::new(line, 0), format!("{code}\n"))
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

/// The word at the beginning of a text.
fn word_at_start(text: &str) -> &str {
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(text.len());
    &text[..end]
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
