//! A variable is read that the file does not declare.

use crate::elsewhere::GLOBALS;
use crate::inference::symbol::{Symbol, declared};
use crate::lint::{Example, Lint, Severity};
use crate::members::Members;
use crate::reader::{FunctionScope, ScriptReader};
use crate::syntax::is_of_name;
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
        if let Some(found) = self.instead_of_parameter(name) {
            return found;
        }
        if let Some((_, cure)) = api::NOT_HERE.iter().chain(&ELSEWHERE).chain(GLOBALS).find(|(not, _)| *not == name) {
            return ((*cure).into(), self.instead_of_foreign(name, at));
        }
        if self.known.stack.file(&format!("lib/{name}")).is_some() {
            let code = format!("local {name} = require(\"lib/{name}\")");
            let change = self.required_at_top(&code);
            return (format!("write `{code}` at the top").into(), Some(change));
        }
        if self.declared_below(name, at).is_none()
            && !self.is_in_closed_block(name, at)
            && let Some(found) = self.instead_of_member(name, at)
        {
            return found;
        }
        if self.is_declared_name(name) && self.can_be_text(at) && !self.is_slip_of_a_local(name) && name != "act" {
            let quoted = format!("\"{name}\"");
            return (format!("write it in quotes: {quoted}").into(), Some(self.replaced(at, quoted)));
        }
        if name == "act" || api::word(name).is_some() {
            return (Cure::meant(name, format!("rb.{name}")), None);
        }
        let is_elsewhere = self.has_local(name) || name == "t" && self.is_spec();
        if is_elsewhere
            && self.nearest_local(name).is_none()
            && self.declared_below(name, at).is_none()
            && !self.is_in_closed_block(name, at)
            && let Some(change) = self.as_only_parameter(name)
        {
            let cure =
                format!("`{name}` is known in another part of the file: hand it to this function, `function({name})`");
            return (cure.into(), Some(change));
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
            None if self.can_be_text(at) => {
                "declare it by `local`, put it in quotes if it is a text, or correct the name".into()
            }
            None => "declare it by `local` above this line, or correct the name".into(),
        };
        (cure, None)
    }

    /// What to write where an enclosing function is handed a value of that name and does not take it, or calls it otherwise.
    fn instead_of_parameter(&self, name: &str) -> Option<(Cure, Option<TextChange>)> {
        let is_given = |scope: &&FunctionScope| scope.given.iter().any(|given| given == name);
        let scope = self.enclosing.iter().rev().find(is_given)?;
        let place = scope.given.iter().position(|given| given == name)?;
        // Facts of cards are functions with parameters of their own.
        if name == "ctx" && !scope.params.is_empty() {
            return None;
        }
        if let Some((_, other)) = scope.params.get(place).filter(|(_, other)| !scope.given.contains(other)) {
            return Some((format!("the function calls it `{other}`").into(), None));
        }
        let taken = scope.params.iter().map(|(_, name)| name);
        let is_beginning = taken.eq(scope.given.iter().take(scope.params.len())) && place >= scope.params.len();
        let written = scope.given[..=place].join(", ");
        let cure = format!("the function is handed `{name}`: write `function({written})`");
        let change = || {
            let begin = self.offset_of(scope.begin);
            let opened = begin + self.text.get(begin..)?.find('(')? + 1;
            let end = opened + closing_bracket(&self.text[opened..])?;
            let missing = scope.given[scope.params.len()..=place].join(", ");
            let text = if scope.params.is_empty() { missing } else { format!(", {missing}") };
            Some(TextChange { begin: end, end, text })
        };
        is_beginning.then(|| (cure.into(), change()))
    }

    /// The change that makes a name the parameter of the function around, if it has none: in a spec, of the outermost one.
    fn as_only_parameter(&self, name: &str) -> Option<TextChange> {
        let scope = if self.is_spec() { self.enclosing.first() } else { self.enclosing.last() };
        let begin = self.offset_of(scope.filter(|scope| scope.params.is_empty())?.begin);
        let opened = begin + self.text.get(begin..)?.find('(')? + 1;
        self.text[opened..].starts_with(')').then(|| TextChange { begin: opened, end: opened, text: name.to_owned() })
    }

    /// What to write where parameters of the enclosing functions have a member of that name: `self.mugs`, `ctx.risk`.
    fn instead_of_member(&self, name: &str, at: Location) -> Option<(Cure, Option<TextChange>)> {
        let params = self.enclosing.iter().flat_map(|function| &function.params);
        let is_called = self.text.get(self.offset_of(at.end)..).is_some_and(|rest| rest.starts_with('('));
        let mut found: Vec<String> =
            params.filter_map(|(id, param)| self.read_off_param(*id, param, name, is_called)).collect();
        found.dedup();
        match found.as_slice() {
            [] => None,
            [only] => Some((Cure::meant(name, only.as_str()), Some(self.replaced(at, only.as_str())))),
            several => {
                let written: Vec<String> = several.iter().map(|one| format!("`{one}`")).collect();
                Some((format!("write {}", written.join(" or ")).into(), None))
            }
        }
    }

    /// The code that reads a member of that name off a parameter; `None` if it has none, or if it is not known.
    fn read_off_param(&self, id: u64, param: &str, name: &str, is_called: bool) -> Option<String> {
        let symbol = self.symbols.get(&id).cloned();
        let of_kind = |kind: &str| {
            let kind = self.known.kind(kind)?;
            let is_derived = kind.has_derived(name);
            match (is_derived, is_called) {
                (true, true) => Some(format!("{param}:{name}")),
                (true, false) => Some(format!("{param}:{name}()")),
                (false, _) => (kind.field_named(name).is_some() && !is_called).then(|| format!("{param}.{name}")),
            }
        };
        let has = match symbol {
            Some(Symbol::Entity(Some(kind))) => return of_kind(&kind),
            Some(Symbol::Event { verb, .. }) => self.known.rules?.verb(&verb)?.param(name).is_some(),
            Some(Symbol::Question) => api::QUESTION_FIELDS.contains(&name),
            Some(Symbol::Holder) if matches!(name, "owner" | "id" | "hook" | "data") => true,
            Some(Symbol::Holder) => {
                let hook = self.hook_of_variable(id)?;
                let has = declared(self.known.rules?.hook_data(&hook)?, name).is_some();
                return has.then(|| format!("{param}.data.{name}"));
            }
            Some(Symbol::Context) => self.is_of_context(name),
            None if param == "ctx" => self.is_of_context(name),
            None if param == "case" && self.is_spec() => self.known.names.read_off("case").any(|read| read == name),
            Some(Symbol::Entity(None)) | None => return of_kind(param),
            Some(_) => false,
        };
        has.then(|| format!("{param}.{name}"))
    }

    /// Whether the context of a card has a member: one that is declared, or that scripts read.
    fn is_of_context(&self, name: &str) -> bool {
        matches!(self.members_of_context(), Members::Context(names) if names.iter().any(|known| known == name))
    }

    /// Whether a text can stand in a place: it is no operand of a calculation, nothing is read off it, it is not called, and
    /// no verb or function wants something else there.
    fn can_be_text(&self, at: Location) -> bool {
        let (begin, end) = (self.offset_of(at.begin), self.offset_of(at.end));
        let before = self.text.get(..begin).unwrap_or_default().trim_end();
        let behind = self.text.get(end..).unwrap_or_default().trim_start();
        let is_base = behind.starts_with(['.', ':', '(', '[']) && !behind.starts_with("..");
        let reckons = behind.starts_with(['+', '-', '*', '/', '%', '^', '<', '>']) && !behind.starts_with("--")
            || before.ends_with(['+', '-', '*', '/', '%', '^', '<', '>', '#'])
            || before.ends_with(">=")
            || before.ends_with("<=");
        !is_base && !reckons && !self.no_texts.contains(&at.begin)
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
    let end = text.find(|letter| !is_of_name(letter)).unwrap_or(text.len());
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
