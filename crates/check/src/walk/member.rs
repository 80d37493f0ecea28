//! Reads members that are read off an expression.

use crate::inference::symbol::{Symbol, declared};
use crate::members::Members;
use crate::reader::ScriptReader;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

impl ScriptReader<'_> {
    /// Checks a member that is read off an expression by name.
    pub(crate) fn member(&mut self, of: Expression<'_>, name: &str, at: Location) {
        if name == Members::MARK {
            self.members = self.members_of(of);
            return;
        }
        if self.no_key_of_scenarios(of, name, at) {
            return;
        }
        let symbol = self.symbol(of);
        let is_context = symbol == Some(Symbol::Context);
        if is_context && self.known.rules.is_some_and(|rules| declared(rules.context(), name).is_some()) {
            return;
        }
        // A script may put more into the context than is declared.
        match symbol.filter(|_| !is_context) {
            Some(Symbol::Vocabulary) => self.no_word(name, at),
            Some(Symbol::Word(word)) => self.member_of_word(word, name, at),
            Some(Symbol::Library(library)) => self.member_of_library(of, library, name, at),
            Some(Symbol::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    self.member_of_entity(kind, name, at);
                }
            }
            Some(Symbol::Module(path)) => self.member_of_module(&path, name, at),
            Some(Symbol::Event { verb, may_be_over }) => self.member_of_event(of, (&verb, may_be_over), name, at),
            Some(Symbol::HookData(hook)) => self.member_of_data(&hook, name, at),
            Some(Symbol::AnyHookData) => self.in_no_data(name, at),
            Some(Symbol::Question) => self.member_of_question(name, at),
            Some(Symbol::Change) => self.member_of_change(name, at),
            Some(Symbol::Spec | Symbol::Switch(_) | Symbol::Entities(_) | Symbol::Context) => {}
            Some(Symbol::Holder) if self.always && matches!(name, "owner" | "id") => self.holder_of_nobody(name, at),
            Some(Symbol::Holder) if !matches!(name, "id" | "hook" | "owner" | "data") => {
                self.no_holder_member(name, at)
            }
            None if self.is_no_context_member(of, name) => self.no_context_member(name, at),
            None if let Some(owner) = self.has_instead_of_context(of, name) => self.member_of_another(name, &owner, at),
            Some(Symbol::Entity(None)) | None
                if self.is_subject(of)
                    && !api::ENTITY_FIELDS.contains(&name)
                    && !api::ENTITY_METHODS.contains(&name) =>
            {
                self.field_or_value(name, at);
            }
            Some(Symbol::Entity(None) | Symbol::Holder) | None => self.nothing_has(of, name, at),
        }
    }

    /// Whether an expression is the entity that a question is about: the value of the prompt, or `q.about` of a policy.
    fn is_subject(&self, of: Expression<'_>) -> bool {
        match of.kind() {
            ExpressionKind::Local { local, .. } => self.subjects.contains(&local.id),
            ExpressionKind::IndexName { expr, index, .. } => {
                index == "about" && self.symbol(expr) == Some(Symbol::Question)
            }
            _ => false,
        }
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
        let names = &self.known.names;
        // What a file calls by a colon on its own `self` may be a function of its own table.
        let is_self = matches!(of.kind(), ExpressionKind::Local { local, .. } if local.name == "self");
        let is_value = || {
            names.type_everywhere(name).is_some()
                || !is_self && names.is_no_function(name)
                || self.is_entity_by_name(of)
        };
        if is_field && args.is_empty() && is_value() {
            return self.called_field(name, at);
        }
        let of_cards = matches!(name, "when" | "resolve") && !matches!(symbol, Some(Symbol::Entity(_)));
        if of_cards && !is_field {
            self.function_of_a_card_by_colon(name, at);
        }
    }
}
