//! The functions that calls call, as far as they are known.

use crate::inference::Inference;
use crate::inference::call::Called;
use crate::inference::silent::Silent;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::type_of_param;
use crate::symbols::signature::Signature;
use crate::syntax::text;
use riskbreaker_ruleset::{Cure, Param};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

/// What an expression is that cannot be an entity.
pub(crate) enum NoEntity {
    /// Something that is attached to an entity.
    Attached,
    /// A list, by its name.
    List(String),
    /// The field `id`.
    Id,
}

impl NoEntity {
    /// Returns what the expression is, as a clause.
    pub fn wrong(&self) -> String {
        match self {
            NoEntity::Attached => "this is what is attached".into(),
            NoEntity::List(name) => format!("`{name}` is a list"),
            NoEntity::Id => "`id` is not one".into(),
        }
    }

    /// Returns how an entity is named instead.
    pub fn cure(&self) -> Cure {
        match self {
            NoEntity::Attached => "name whom it is attached to: `.owner`".into(),
            NoEntity::List(name) => format!("name one of it: {name}[1]").into(),
            NoEntity::Id => "name the entity itself, without `.id`".into(),
        }
    }

    /// Returns the code of an entity, by the code of the expression; `None` if it is not known.
    pub fn instead(&self, written: &str) -> Option<String> {
        match self {
            NoEntity::Attached => Some(format!("{written}.owner")),
            NoEntity::List(_) => Some(format!("{written}[1]")),
            NoEntity::Id => written.strip_suffix(".id").map(str::to_owned),
        }
    }
}

impl Inference<'_> {
    /// Returns why an expression cannot be an entity; `None` if it may be one. The type of what it is read off does not
    /// matter.
    pub(crate) fn no_entity(&self, expression: Expression<'_>) -> Option<NoEntity> {
        if self.symbol(expression) == Some(Symbol::Holder) {
            return Some(NoEntity::Attached);
        }
        let ExpressionKind::IndexName { index, .. } = expression.kind() else { return None };
        let name = text(index);
        if self.known.names.is_list(&name) {
            return Some(NoEntity::List(name));
        }
        // `id` is an entity's number or a card's name.
        let is_id = name == "id" && self.known.types_of(&name).next().is_none();
        is_id.then_some(NoEntity::Id)
    }

    /// Returns the function of the ruleset that an expression calls; `None` if it is unknown.
    pub(crate) fn called(&self, func: Expression<'_>, self_call: bool) -> Option<Called> {
        match func.kind() {
            ExpressionKind::Local { local, .. } => {
                let signature = self.functions.get(&local.id)?.clone();
                let file = Some(self.full_path().to_string());
                Some(Called { name: text(local.name), signature, verb: false, declared: Vec::new(), file })
            }
            ExpressionKind::IndexName { expr, index, .. } if !self_call => {
                let name = text(index);
                match self.symbol(expr)? {
                    Symbol::Module(path) => {
                        let signature = self.known.names.module(&path)?.members.get(&name)?.clone()?;
                        let before = match expr.kind() {
                            ExpressionKind::Local { local, .. } => format!("{}.", text(local.name)),
                            _ => String::new(),
                        };
                        let name = format!("{before}{name}");
                        Some(Called { name, signature, verb: false, declared: Vec::new(), file: Some(path) })
                    }
                    Symbol::Word("act") => self.called_verb(&name),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A verb: by what it declares, or else by what its function does.
    pub(crate) fn called_verb(&self, name: &str) -> Option<Called> {
        let verb = self.known.rules?.verb(name)?;
        let params: Vec<String> = verb.names().map(str::to_owned).collect();
        let known = self.known.names.verb(name);
        let same = known.filter(|signature| signature.params.len() == params.len());
        let (needed, uses, declared) = match verb.is_typed {
            true => (
                verb.params.iter().rposition(Param::is_needed).map_or(0, |last| last + 1),
                verb.params.iter().map(|param| type_of_param(&param.ty)).collect(),
                verb.params.clone(),
            ),
            // House rules may put another function in its place.
            false => (
                same.map_or(0, |signature| signature.needed),
                same.map_or(Vec::new(), |signature| signature.uses.clone()),
                Vec::new(),
            ),
        };
        let signature = match known {
            Some(signature) => Signature { params, needed, uses, ..signature.clone() },
            None if verb.is_typed => Signature { params, needed, uses, ..Signature::default() },
            None => return None,
        };
        let file = self.known.names.file_of_verb(name).map(str::to_string);
        Some(Called { name: format!("rb.act.{name}"), signature, verb: true, declared, file })
    }

    /// Returns the usage and the type of a function that the host declares.
    pub(crate) fn declared(&self, func: Expression<'_>, self_call: bool) -> Option<(String, String)> {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr)? {
            Symbol::Vocabulary if !self_call => {
                api::word(&name).map(|word| (word.usage.to_string(), word.ty.to_string()))
            }
            Symbol::Spec if self_call => {
                let method = api::spec_method(&name)?;
                Some((method.usage.to_string(), format!("({}) -> {}", method.ty.0, method.ty.1)))
            }
            Symbol::Entity(_) if self_call => Some(match &*name {
                "set" => (
                    ":set(\"field\", value, why?)".into(),
                    "(field: string, value: unknown, why: string?) -> ()".into(),
                ),
                "add" => {
                    (":add(\"field\", n, why?)".into(), "(field: string, n: number, why: string?) -> number".into())
                }
                "shift" => {
                    (":shift(\"field\", n, why?)".into(), "(field: string, n: number, why: string?) -> ()".into())
                }
                _ => return None,
            }),
            _ => None,
        }
    }

    /// Returns the function that an expression calls, if the function returns nothing.
    pub(crate) fn silent_call(&self, expression: Expression<'_>) -> Option<Silent> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.silent_call(inner),
            ExpressionKind::If { then_expression, else_expression, .. } => {
                self.silent_call(then_expression).or_else(|| self.silent_call(else_expression))
            }
            ExpressionKind::Call { func, self_call, .. } => {
                let called = self.called(func, self_call)?;
                Some(Silent { end: called.signature.silent?, file: called.file, name: called.name })
            }
            _ => None,
        }
    }
}
