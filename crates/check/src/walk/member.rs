//! Reads members that are read off an expression.

use crate::elsewhere::MEMBERS;
use crate::inference::symbol::{Symbol, declared};
use crate::lints;
use crate::members::Members;
use crate::reader::ScriptReader;
use riskbreaker_ruleset::{TextChange, instead_or};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

impl ScriptReader<'_> {
    /// Checks a member that is read off an expression by name.
    pub(crate) fn member(&mut self, of: Expression<'_>, name: &str, at: Location) {
        if name == Members::MARK {
            self.members = self.members_of(of);
            return;
        }
        let symbol = self.symbol(of);
        let is_context = symbol == Some(Symbol::Context);
        if is_context && self.known.rules.is_some_and(|rules| declared(rules.context(), name).is_some()) {
            return;
        }
        // A script may put more into the context than is declared.
        match symbol.filter(|_| !is_context) {
            Some(Symbol::Vocabulary) if api::word(name).is_none() => {
                let names: Vec<String> = api::WORDS.iter().map(|word| word.name.to_string()).collect();
                let is_verb = self.known.names("verb").is_some_and(|verbs| verbs.iter().any(|verb| verb == name));
                // Words of former versions are accepted.
                if api::FORMER_WORDS.contains(&name) {
                    return;
                }
                let cure =
                    if is_verb { format!("it is a verb: rb.act.{name}") } else { self.known.instead(name, &names) };
                self.problem(&lints::unknown_word::LINT, at, (format!("rb has no `{name}`"), cure));
            }
            Some(Symbol::Word(word)) => self.member_of_word(word, name, at),
            Some(Symbol::Library(library)) => self.member_of_library(of, library, name, at),
            Some(Symbol::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    let more: Vec<&str> = api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).copied().collect();
                    self.tell(&lints::unknown_field::LINT, at, self.known.wrong_member(kind, name, &more));
                }
            }
            Some(Symbol::Module(path)) => {
                if let Some(module) = self.known.names.module(&path)
                    && !module.members.contains_key(name)
                {
                    let names: Vec<String> = module.members.keys().cloned().collect();
                    if self.asked && self.known.nearest(name, names.iter().map(String::as_str)).is_none() {
                        return; // whether a layer above has put it there
                    }
                    self.problem(
                        &lints::unknown_member::LINT,
                        at,
                        (format!("{path} gives no `{name}`"), self.known.instead(name, &names)),
                    );
                }
            }
            Some(Symbol::Event(verb)) => self.member_of_event(&verb, name, at),
            Some(Symbol::HookData(hook)) => self.member_of_data(&hook, name, at),
            Some(Symbol::Question) => {
                let own = api::QUESTIONS.iter().flat_map(|(_, own)| own.iter());
                let known: Vec<String> =
                    api::QUESTION_FIELDS.iter().chain(own).chain(&["kind"]).map(ToString::to_string).collect();
                if !known.iter().any(|known| known == name) {
                    let otherwise =
                        "it has topic, about, seat, kind, options, min, max, total; `about` is who is asked for";
                    let cure = instead_or(name, known.iter().map(String::as_str), otherwise);
                    self.problem(&lints::unknown_member::LINT, at, (format!("a question has no `{name}`"), cure));
                }
            }
            Some(Symbol::Vocabulary | Symbol::Spec | Symbol::Switch(_) | Symbol::Entities(_) | Symbol::Context) => {}
            Some(Symbol::Holder) if self.always && matches!(name, "owner" | "id") => {
                let wrong = format!("a hook that is always on hangs on nobody, and has no `{name}`");
                let cure = "take it from what the verb is given, or attach the hook where it begins, without `always`";
                self.problem(&lints::unknown_hook_value::LINT, at, (wrong, cure.into()));
            }
            None if self.is_no_context_member(of, name) => {
                let members: Vec<String> =
                    self.known.names.members_of_context().into_iter().flatten().map(str::to_string).collect();
                let otherwise = format!("write `ctx.{name} = ...` where the card is asked for, or correct the name");
                let cure = instead_or(name, members.iter().map(String::as_str), otherwise);
                self.problem(
                    &lints::unknown_context_member::LINT,
                    at,
                    (format!("nothing puts a `{name}` into `ctx`"), cure),
                );
            }
            None if let Some(owner) = self.has_instead_of_context(of, name) => {
                let wrong = format!("nothing puts a `{name}` into `ctx`");
                self.problem(
                    &lints::unknown_context_member::LINT,
                    at,
                    (wrong, format!("did you mean `ctx.{owner}.{name}`?")),
                );
            }
            Some(Symbol::Entity(None) | Symbol::Holder) | None => self.nothing_has(of, name, at),
        }
    }

    /// Checks a member of a library of Luau.
    fn member_of_library(&mut self, of: Expression<'_>, library: &'static str, name: &str, at: Location) {
        let names = api::library(library).unwrap_or_default();
        if !names.contains(&name) {
            let cure = match (library, name) {
                ("math", "random" | "randomseed") => "roll dice: rb.roll(\"1d6\", \"what for\")".to_string(),
                _ if let Some((.., cure)) =
                    MEMBERS.iter().find(|(of, member, _)| *of == library && *member == name) =>
                {
                    cure.to_string()
                }
                _ => self.known.instead(name, &names.iter().map(|name| name.to_string()).collect::<Vec<_>>()),
            };
            let change = self.instead_of_function(of, library, name, at);
            let mistake = (format!("{library} has no `{name}`"), cure);
            self.problem_with(&lints::unknown_word::LINT, at, mistake, change);
        }
    }

    /// The call that is written instead of one of another Lua: `#list`, `a % b`, a roll of one die.
    fn instead_of_function(&self, of: Expression<'_>, library: &str, name: &str, at: Location) -> Option<TextChange> {
        let (inside, end) = self.arguments_behind(at)?;
        let values: Vec<&str> = inside.split(',').map(str::trim).collect();
        let text = match (library, name, values.as_slice()) {
            ("table", "getn", [list]) => format!("#{list}"),
            ("math", "mod" | "fmod", [a, b]) => format!("{a} % {b}"),
            ("math", "random", ["1", faces] | [faces]) if faces.parse::<u32>().is_ok_and(|faces| faces > 1) => {
                format!("rb.roll(\"1d{faces}\", \"what for\")")
            }
            _ => return None,
        };
        Some(TextChange { begin: self.offset_of(of.location().begin), end, text })
    }

    /// Whether this is the context of a card, and all members that it can have are known.
    fn is_known_context(&self, of: Expression<'_>) -> bool {
        let context = matches!(of.kind(), ExpressionKind::Local { local, .. } if local.name == "ctx");
        // A ruleset that extends this one may add members.
        let complete = self.known.stack.file("play").is_some() && !self.elsewhere && !self.path.starts_with("convert/");
        context && complete && !self.asked
    }

    /// Whether a member of a card's context is one that no script sets.
    fn is_no_context_member(&self, of: Expression<'_>, name: &str) -> bool {
        let members = || self.known.names.members_of_context();
        self.is_known_context(of) && members().is_some_and(|mut members| !members.any(|member| member == name))
    }

    /// Returns the member of the context that has the name which a script reads off the context itself.
    fn has_instead_of_context(&self, of: Expression<'_>, name: &str) -> Option<String> {
        if !self.is_known_context(of) || self.is_spec() {
            return None;
        }
        self.known.names.has_instead_of_context(name).map(str::to_string)
    }

    /// Reports a field that is called, and a card's function that is called with a colon.
    pub(crate) fn called_as_method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>], at: Location) {
        let symbol = self.symbol(of);
        let outside =
            matches!(symbol, Some(Symbol::Module(_) | Symbol::Spec | Symbol::Vocabulary | Symbol::Library(_)));
        if self.is_spec() || outside || api::ENTITY_METHODS.contains(&name) {
            return;
        }
        let mut kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        if kinds.any(|kind| kind.has_derived(name)) {
            return;
        }
        let is_field = self.known.types_of(name).next().is_some();
        if is_field && args.is_empty() && self.known.names.type_everywhere(name).is_some() {
            let wrong = format!("`{name}` is a field, and no function");
            let mistake = (wrong, format!("write `.{name}`, without brackets"));
            let change = self.mark_before(at, ".").map(|mark| {
                let end = self.offset_of(at.end);
                let brackets = self.text[end..].find(')').map_or(0, |closing| closing + 1);
                TextChange { begin: mark.begin, end: end + brackets, text: format!(".{name}") }
            });
            return self.problem_with(&lints::called_field::LINT, at, mistake, change);
        }
        let of_cards = matches!(name, "when" | "resolve") && !matches!(symbol, Some(Symbol::Entity(_)));
        if of_cards && !is_field {
            let wrong = "a colon stands where a dot belongs: it hands over the card first".to_string();
            let change = self.mark_before(at, ".");
            self.problem_with(&lints::dot_or_colon::LINT, at, (wrong, format!("write `.{name}(...)`")), change);
        }
    }
}
