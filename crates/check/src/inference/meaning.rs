//! The meanings of expressions.

use crate::inference::Inference;
use crate::inference::symbol::{LONGEST_CHAIN, Symbol, declared, of_type, symbol_of_param};
use crate::inference::value_type::ValueType;
use crate::syntax::{literal, local_id, text, value_of};
use riskbreaker_ruleset::{Param, ParamType};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind};
use riskbreaker_state::Type;

impl Inference<'_> {
    pub(crate) fn symbol(&self, expression: Expression<'_>) -> Option<Symbol> {
        self.symbol_within(expression, LONGEST_CHAIN)
    }

    /// Returns the meaning of an expression, following a chain of at most `links` links.
    pub(crate) fn symbol_within(&self, expression: Expression<'_>, links: usize) -> Option<Symbol> {
        let links = links.checked_sub(1)?;
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.symbol_within(inner, links),
            ExpressionKind::TypeAssertion { expr, .. } => self.symbol_within(expr, links),
            ExpressionKind::Local { local, .. } => {
                let id = local.id;
                let entity = || self.locals.is_entity(id) || self.value_types.get(&id) == Some(&ValueType::Entity);
                self.symbols.get(&id).cloned().or_else(|| entity().then_some(Symbol::Entity(None)))
            }
            ExpressionKind::Global(name) => {
                let name = text(name);
                let found = riskbreaker_script::api::globals().find(|known| *known == name)?;
                api::library(found).map(|_| Symbol::Library(found))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                let Some(symbol) = self.symbol_within(expr, links) else {
                    let entity = !self.is_spec() && !self.elsewhere && self.known.names.is_entity_member(&name);
                    return entity.then_some(Symbol::Entity(None));
                };
                match symbol {
                    Symbol::Vocabulary => api::word(&name).map(|word| Symbol::Word(word.name)),
                    Symbol::Word("switches") => Some(Symbol::Switch(name)),
                    Symbol::Entity(Some(kind)) => {
                        let kind = self.known.kind(&kind)?;
                        of_type(&kind.field(kind.field_named(&name)?).ty)
                    }
                    Symbol::Entity(None) => match self.known.always_refers(&name) {
                        true => Some(Symbol::Entity(None)),
                        false => self.list_of_all(&name),
                    },
                    Symbol::Holder if name == "owner" => Some(Symbol::Entity(None)),
                    Symbol::Holder if name == "data" => self.data_of(expr),
                    Symbol::Context => symbol_of_param(declared(self.known.rules?.context(), &name)?),
                    Symbol::HookData(hook) => symbol_of_param(declared(self.known.rules?.hook_data(&hook)?, &name)?),
                    Symbol::Event { verb, .. } => self.given_to_hook(&verb, &name),
                    _ => None,
                }
            }
            ExpressionKind::IndexExpr { expr, .. } => match self.symbol_within(expr, links)? {
                Symbol::Entities(kind) => Some(Symbol::Entity(kind)),
                _ => None,
            },
            ExpressionKind::Call { func, args, .. } => {
                if let ExpressionKind::Global(name) = func.kind() {
                    let required = args.first().and_then(|arg| literal(*arg));
                    return match required.as_deref().filter(|_| name == "require")? {
                        "@riskbreaker" => Some(Symbol::Vocabulary),
                        file => self.file_named(file).map(|source| Symbol::Module(source.path.clone())),
                    };
                }
                let Some(Symbol::Word(word)) = self.symbol_within(func, links) else {
                    return match func.kind() {
                        ExpressionKind::IndexName { expr, index, .. }
                            if index == "clone"
                                && self.symbol_within(expr, links) == Some(Symbol::Library("table")) =>
                        {
                            self.entities_in(*args.first()?, links)
                        }
                        _ => self.entities_given_by(func, links).map(Symbol::Entities),
                    };
                };
                let kind = args.first().and_then(|arg| literal(*arg)).filter(|kind| self.known.kind(kind).is_some());
                match word {
                    "choose" | "choose_many" | "order" => symbol_of_param(self.topic_of(*args.first()?)?),
                    "each" => Some(Symbol::Entities(kind)),
                    "filter" | "shuffle" => self.entities_in(*args.first()?, links),
                    "first" | "spawn" | "relate" | "relation" => Some(Symbol::Entity(kind)),
                    "related" | "relating" => {
                        let kind = self.known.kind(&kind?)?;
                        let end = kind.relates.get(usize::from(word == "related"))?;
                        match of_type(&kind.field(*end).ty)? {
                            Symbol::Entity(kind) => Some(Symbol::Entities(kind)),
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The meaning of a field if it is the same list of entities in all kinds that have it.
    fn list_of_all(&self, field: &str) -> Option<Symbol> {
        of_type(self.known.type_of_all(field)?).filter(|symbol| matches!(symbol, Symbol::Entities(_)))
    }

    /// The kind of the elements of a list that a function runs through: of a list of entities, or of a member whose name is
    /// used for nothing but such a list.
    pub(crate) fn kind_of_elements(&self, list: Expression<'_>) -> Option<Option<String>> {
        let by_name = || match list.kind() {
            ExpressionKind::IndexName { expr, index, .. }
                if self.symbol(expr).is_none() && !self.is_made_here(expr) =>
            {
                let name = text(index);
                let is_everywhere = self.known.names.type_everywhere(&name) == Some(ValueType::List);
                self.list_of_all(&name).filter(|_| is_everywhere && !self.is_spec())
            }
            _ => None,
        };
        match self.symbol(list).or_else(by_name)? {
            Symbol::Entities(kind) => Some(kind),
            _ => None,
        }
    }

    /// The meaning of a list of entities; `None` for any other value.
    fn entities_in(&self, list: Expression<'_>, links: usize) -> Option<Symbol> {
        self.symbol_within(list, links).filter(|symbol| matches!(symbol, Symbol::Entities(_)))
    }

    /// The kind of the entities in the list that a function of the ruleset returns; `None` if it may return anything else.
    fn entities_given_by(&self, func: Expression<'_>, links: usize) -> Option<Option<String>> {
        let signature = match func.kind() {
            ExpressionKind::Local { local, .. } => self.functions.get(&local.id)?,
            ExpressionKind::IndexName { expr, index, .. } => match self.symbol_within(expr, links)? {
                Symbol::Module(path) => self.known.names.module(&path)?.members.get(&text(index))?.as_ref()?,
                _ => return None,
            },
            _ => return None,
        };
        let kind = signature.entities.clone()?;
        Some(kind.filter(|kind| self.known.kind(kind).is_some()))
    }

    /// The data of an attachment: those of its hook where the hook is known and declares them, or those of any hook.
    fn data_of(&self, holder: Expression<'_>) -> Option<Symbol> {
        match self.hook_of(holder) {
            Some(hook) => self.known.rules?.hook_data(&hook).map(|_| Symbol::HookData(hook)),
            None => Some(Symbol::AnyHookData),
        }
    }

    /// The id of the hook or item of an attachment: that of this file, or that with which a condition compares it.
    pub(crate) fn hook_of(&self, holder: Expression<'_>) -> Option<String> {
        self.hook_of_variable(local_id(holder)?)
    }

    /// The same for a variable, by its number in the file.
    pub(crate) fn hook_of_variable(&self, id: u64) -> Option<String> {
        if let Some(hook) = self.holder_hooks.get(&id) {
            return Some(hook.clone());
        }
        let (folder, file) = self.path.split_once('/').filter(|_| self.own_holders.contains(&id))?;
        let id = file.rsplit('/').next()?.split('.').next()?;
        matches!(folder, "hooks" | "items").then(|| id.to_owned())
    }

    /// The variable and the hook of `held.hook == "watch"`, by itself or as a part of `and`; with the operator `~=` instead
    /// of `==` if `denied`.
    pub(crate) fn hook_compared(&self, condition: Expression<'_>, denied: bool) -> Option<(u64, String)> {
        match condition.kind() {
            ExpressionKind::Grouped(inner) => self.hook_compared(inner, denied),
            ExpressionKind::Binary { lhs, op: BinaryOp::And, rhs } if !denied => {
                self.hook_compared(lhs, denied).or_else(|| self.hook_compared(rhs, denied))
            }
            ExpressionKind::Binary { lhs, op, rhs }
                if op == if denied { BinaryOp::NotEqual } else { BinaryOp::Equal } =>
            {
                let ExpressionKind::IndexName { expr, index, .. } = lhs.kind() else { return None };
                let is_holder = index == "hook" && self.symbol(expr) == Some(Symbol::Holder);
                local_id(expr).zip(literal(rhs)).filter(|_| is_holder)
            }
            _ => None,
        }
    }

    /// The names that the data of hooks and items declare.
    pub(crate) fn names_of_any_data(&self) -> Vec<&str> {
        let Some(rules) = self.known.rules else { return Vec::new() };
        let holders = rules.hooks().iter().map(|hook| &**hook).chain(rules.items().iter().map(|item| &*item.id));
        holders.filter_map(|hook| rules.hook_data(hook)).flatten().map(|param| &*param.name).collect()
    }

    /// What a hook finds under a name: by what its verb declares, or else by what the function of the verb does with it and what
    /// those that call it hand over.
    pub(crate) fn given_to_hook(&self, verb: &str, name: &str) -> Option<Symbol> {
        let verb = self.known.rules?.verb(verb)?;
        let at = verb.params.iter().position(|param| param.name == name)?;
        if verb.is_typed {
            return symbol_of_param(&verb.params[at]);
        }
        let known = self.known.names.verb(&verb.name).filter(|known| known.params.len() == verb.params.len());
        let is_entity = match known.and_then(|known| known.uses.get(at).copied().flatten()) {
            Some(used) => used == ValueType::Entity,
            None => self.known.names.is_handed_entities(&verb.name, at),
        };
        is_entity.then_some(Symbol::Entity(None))
    }
}

impl<'r> Inference<'r> {
    /// The words that a declared member of `ctx`, of what a hook is given or of the data of a hook can have; `None` if it
    /// is not declared as one of several words.
    pub(crate) fn words_of_param(&self, of: &Symbol, name: &str) -> Option<Vec<String>> {
        let rules = self.known.rules?;
        let param = match of {
            Symbol::Context => declared(rules.context(), name)?,
            Symbol::Event { verb, .. } => rules.verb(verb)?.param(name)?,
            Symbol::HookData(hook) => declared(rules.hook_data(hook)?, name)?,
            _ => return None,
        };
        words_of(&param.ty)
    }

    /// The words that the answer to a question can be, by the declaration of its topic; `None` if it may be another text,
    /// or never is a text.
    pub(crate) fn words_of_answer(&self, question: Expression<'_>) -> Option<Vec<String>> {
        let ExpressionKind::Call { func, args, .. } = question.kind() else { return None };
        match self.symbol(func)? {
            Symbol::Word("choose") => words_of(&self.topic_of(*args.first()?)?.ty),
            _ => None,
        }
    }

    /// The declared topic of the table of a question.
    pub(crate) fn topic_of(&self, question: Expression<'_>) -> Option<&'r Param> {
        let ExpressionKind::Table { items } = question.kind() else { return None };
        self.known.rules?.declared_topic(&literal(value_of(items, "topic")?)?)
    }
}

/// The texts that a value of a type can be; `None` if it may be any text, or never is a text.
fn words_of(ty: &ParamType) -> Option<Vec<String>> {
    match ty {
        ParamType::Value(Type::Enum(words)) => Some(words.iter().map(ToString::to_string).collect()),
        ParamType::OneOf(types) => {
            let may_be_other = |ty: &ParamType| match ty {
                ParamType::Any | ParamType::Record(_) | ParamType::OneOf(_) | ParamType::Value(Type::Text) => true,
                ParamType::Value(_) => false,
            };
            let words: Vec<String> = types.iter().filter_map(words_of).flatten().collect();
            (!words.is_empty() && !types.iter().any(may_be_other)).then_some(words)
        }
        ParamType::Any | ParamType::Record(_) | ParamType::Value(_) => None,
    }
}
