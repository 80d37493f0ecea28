use super::script::ScriptReader;
use super::syntax::{literal, text};
use super::value_type::ValueType;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind};
use riskbreaker_state::Type;

/// The meaning of an expression, as far as the check can know it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Symbol {
    Vocabulary,
    Word(&'static str),
    Entity(Option<String>),
    Entities(Option<String>),
    Library(&'static str),
    /// The table that another file returns, by the file's path.
    Module(String),
    /// The value of a house rule, by its name.
    Switch(String),
    /// The event that a hook takes, by its verb.
    Event(String),
    /// Something that is attached to an entity, as hooks and `rb.attached` get it.
    Holder,
    /// The question that a policy answers.
    Question,
    Spec,
}

/// The longest chain of members and calls that is followed. Beyond it, the meaning is unknown.
const LONGEST_CHAIN: usize = 32;

impl ScriptReader<'_> {
    pub(super) fn symbol(&self, expression: Expression<'_>) -> Option<Symbol> {
        self.symbol_within(expression, LONGEST_CHAIN)
    }

    /// Returns the meaning of an expression, following a chain of at most `links` links.
    fn symbol_within(&self, expression: Expression<'_>, links: usize) -> Option<Symbol> {
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
                    Symbol::Entity(None) => self.known.always_refers(&name).then_some(Symbol::Entity(None)),
                    Symbol::Holder if name == "owner" => Some(Symbol::Entity(None)),
                    Symbol::Event(verb) if self.is_entity_given(&verb, &name) => Some(Symbol::Entity(None)),
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
                let Some(Symbol::Word(word)) = self.symbol_within(func, links) else { return None };
                let kind = args.first().and_then(|arg| literal(*arg)).filter(|kind| self.known.kind(kind).is_some());
                match word {
                    "each" => Some(Symbol::Entities(kind)),
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
}

impl ScriptReader<'_> {
    /// Whether a parameter of a verb is an entity: its function uses it as one, or its callers pass one.
    fn is_entity_given(&self, verb: &str, name: &str) -> bool {
        let params = self.known.rules.and_then(|rules| rules.verb_params(verb)).unwrap_or_default();
        let Some(at) = params.iter().position(|param| *param == name) else { return false };
        let declared = self.known.names.verb(verb).filter(|declared| declared.params.len() == params.len());
        match declared.and_then(|declared| declared.uses.get(at).copied().flatten()) {
            Some(used) => used == ValueType::Entity,
            None => self.known.names.is_handed_entities(verb, at),
        }
    }
}

pub(super) fn of_type(ty: &Type) -> Option<Symbol> {
    let name = |kind: &Option<std::sync::Arc<str>>| kind.as_ref().map(|kind| kind.to_string());
    match ty {
        Type::Ref(kind) => Some(Symbol::Entity(name(kind))),
        Type::List(element) => match &**element {
            Type::Ref(kind) => Some(Symbol::Entities(name(kind))),
            _ => None,
        },
        _ => None,
    }
}
