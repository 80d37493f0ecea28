//! The types of expressions, where they are certain.

use crate::inference::Inference;
use crate::inference::symbol::{Symbol, declared};
use crate::inference::value_type::{ValueType, is_default, reckons, result_of, type_of_param};
use crate::syntax::{name_of, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Local, TableItem, UnaryOp};
use riskbreaker_state::Value;

impl Inference<'_> {
    /// Returns the type of an expression; `None` if it is not certain.
    pub(crate) fn value_type(&self, expression: Expression<'_>) -> Option<ValueType> {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.value_type(inner),
            ExpressionKind::Number { .. } | ExpressionKind::Integer { .. } => Some(ValueType::Number),
            ExpressionKind::String { .. } | ExpressionKind::InterpString { .. } => Some(ValueType::Text),
            ExpressionKind::Boolean(_) => Some(ValueType::Truth),
            ExpressionKind::Table { items: [] } => Some(ValueType::Table),
            ExpressionKind::Table { items } => {
                let list = items.iter().all(|item| matches!(item, TableItem::List { .. }));
                Some(if list { ValueType::List } else { ValueType::Table })
            }
            ExpressionKind::FunctionLiteral(_) => Some(ValueType::Function),
            ExpressionKind::Unary { op: UnaryOp::Not, .. } => Some(ValueType::Truth),
            ExpressionKind::Unary { op: UnaryOp::Negate, rhs } if self.value_type(rhs) == Some(ValueType::Sum) => {
                Some(ValueType::Sum)
            }
            ExpressionKind::Unary { .. } => Some(ValueType::Number),
            ExpressionKind::Binary { lhs, op, rhs } => match op {
                BinaryOp::Concat => Some(ValueType::Text),
                BinaryOp::And => None,
                // A default has the type of the value that it replaces.
                BinaryOp::Or => {
                    let sort = self.value_type(rhs)?;
                    let stands_for = self.value_type(lhs).or_else(|| is_default(rhs).then_some(sort));
                    (stands_for == Some(sort)).then_some(sort)
                }
                _ if reckons(op) => match (self.value_type(lhs), self.value_type(rhs)) {
                    (Some(ValueType::Sum), _) | (_, Some(ValueType::Sum)) => Some(ValueType::Sum),
                    _ => Some(ValueType::Number),
                },
                _ => Some(ValueType::Truth),
            },
            ExpressionKind::If { then_expression, else_expression, .. } => {
                let sort = self.value_type(then_expression)?;
                (self.value_type(else_expression) == Some(sort)).then_some(sort)
            }
            ExpressionKind::Local { local, .. } => {
                let id = local.id;
                if self.functions.contains_key(&id) {
                    return Some(ValueType::Function);
                }
                self.value_types.get(&id).copied().or_else(|| self.type_of_symbol(expression))
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                let Some(symbol) = self.symbol(expr) else {
                    // Whatever its owner, the member is a field, unless the owner is a table of the script's own.
                    return self
                        .known
                        .names
                        .type_everywhere(&name)
                        // A variable may hold a table with the names of fields, such as a sheet.
                        .filter(|ty| *ty != ValueType::List || !matches!(expr.kind(), ExpressionKind::Local { .. }))
                        .filter(|_| !self.is_spec() && !self.elsewhere && !self.is_own_table(expr))
                        .or_else(|| self.type_of_symbol(expression));
                };
                match symbol {
                    Symbol::Module(path) => {
                        let member = self.known.names.module(&path)?.members.get(&name)?;
                        member.as_ref().map(|_| ValueType::Function)
                    }
                    Symbol::Entity(Some(kind)) => {
                        let kind = self.known.kind(&kind)?;
                        // Of a derived value that is not called, that alone is reported.
                        if kind.has_derived(&name) {
                            return None;
                        }
                        Some(ValueType::of_type(&kind.field(kind.field_named(&name)?).ty))
                    }
                    Symbol::Entity(None) => self.known.names.fields().type_of(&name),
                    Symbol::Word("switches") => {
                        let switch = self.known.rules?.switch(&name)?;
                        Some(match switch.default.as_value() {
                            Value::Int(_) => ValueType::Number,
                            Value::Bool(_) => ValueType::Truth,
                            _ => ValueType::Text,
                        })
                    }
                    Symbol::HookData(hook) => {
                        let data = self.known.rules?.hook_data(&hook)?;
                        type_of_param(&declared(data, &name)?.ty)
                    }
                    Symbol::Context => type_of_param(&declared(self.known.rules?.context(), &name)?.ty),
                    Symbol::Event { verb, may_be_over } => self.type_in_event(&verb, may_be_over, expr, &name),
                    Symbol::Holder if name == "id" => Some(ValueType::Number),
                    Symbol::Holder if name == "hook" => Some(ValueType::Text),
                    _ => self.type_of_symbol(expression),
                }
            }
            ExpressionKind::Call { func, self_call, .. } => self.type_of_call(func, self_call, expression),
            _ => None,
        }
    }

    /// The type of a value of an event: of a parameter, by its declaration, or of the result, by what the verb gives. A hook
    /// may write values of its own into the event.
    fn type_in_event(&self, verb: &str, may_be_over: bool, event: Expression<'_>, name: &str) -> Option<ValueType> {
        let declared = self.known.rules?.verb(verb)?;
        if let Some(param) = declared.param(name).filter(|_| declared.is_typed) {
            return type_of_param(&param.ty);
        }
        let names = &self.known.names;
        let is_result = name == "result" && may_be_over && !names.is_declared_again(verb) && !names.is_reworked(verb);
        let is_own = is_result && !names.is_written_to_event(name_of(event).as_deref(), name);
        names.verb(verb).filter(|_| is_own)?.gives
    }

    pub(crate) fn type_of_symbol(&self, expression: Expression<'_>) -> Option<ValueType> {
        match self.symbol(expression)? {
            // A reference and the first of a kind may be nil; otherwise they are entities.
            Symbol::Entity(_) => Some(ValueType::Entity),
            Symbol::Entities(_) => Some(ValueType::List),
            Symbol::Holder => Some(ValueType::Attached),
            _ => None,
        }
    }

    pub(crate) fn type_of_call(
        &self,
        func: Expression<'_>,
        self_call: bool,
        call: Expression<'_>,
    ) -> Option<ValueType> {
        if let ExpressionKind::Global(name) = func.kind() {
            return match text(name).as_str() {
                "tostring" => Some(ValueType::Text),
                "tonumber" => Some(ValueType::Number),
                _ => None,
            };
        }
        if let Some(called) = self.called(func, self_call) {
            return called.signature.gives;
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr) {
            Some(Symbol::Vocabulary) if !self_call && name == "choose" => self.type_of_answer(call),
            Some(Symbol::Vocabulary) if !self_call => {
                result_of(api::word(&name)?.ty).or_else(|| self.type_of_symbol(call))
            }
            Some(Symbol::Library("math")) => Some(ValueType::Number),
            Some(Symbol::Library("string")) => {
                matches!(&*name, "format" | "lower" | "upper" | "rep" | "sub" | "reverse").then_some(ValueType::Text)
            }
            Some(Symbol::Library("table")) => match &*name {
                "concat" => Some(ValueType::Text),
                "clone" | "pack" | "create" => Some(ValueType::Table),
                _ => None,
            },
            Some(Symbol::Entity(_)) if self_call && name == "add" => Some(ValueType::Number),
            Some(Symbol::Entity(_)) if self_call && matches!(&*name, "exists" | "reaches") => Some(ValueType::Truth),
            Some(Symbol::Entity(_)) | None if self_call && self.known.is_derived(&name) => {
                self.known.names.type_of_derived(&name)
            }
            _ => None,
        }
    }

    /// The type of the answer to a question whose topic is declared.
    fn type_of_answer(&self, question: Expression<'_>) -> Option<ValueType> {
        let ExpressionKind::Call { args: [table, ..], .. } = question.kind() else { return None };
        self.topic_of(*table).and_then(|topic| type_of_param(&topic.ty)).or_else(|| self.type_of_symbol(question))
    }

    /// Whether an expression is certainly a reference: all fields of its name are references, and no table of the
    /// ruleset's own has the name.
    pub(crate) fn refers(&self, expression: Expression<'_>) -> bool {
        let ExpressionKind::IndexName { expr, index, .. } = expression.kind() else { return false };
        let own = self.known.names.may_be_own(&text(index)) || self.is_own_table(expr);
        self.is_named_like_a_reference(expression) && !own
    }

    /// Whether an expression reads a member off an unknown value, and all fields of that name are references.
    pub(crate) fn is_named_like_a_reference(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::IndexName { expr, index, .. } => {
                self.symbol(expr).is_none() && self.known.always_refers(&text(index))
            }
            _ => false,
        }
    }

    /// Whether an expression is a variable that holds a table of the script's own.
    pub(crate) fn is_own_table(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.is_own_table(inner),
            ExpressionKind::TypeAssertion { expr, .. } => self.is_own_table(expr),
            ExpressionKind::Local { local, .. } => self.value_types.get(&local.id).is_some_and(|ty| ty.is_table()),
            _ => false,
        }
    }

    /// Returns the type of an expression, or a list if its member name is used only for lists.
    pub(crate) fn type_or_list(&self, expression: Expression<'_>) -> Option<ValueType> {
        let is_list = || !self.is_spec() && self.known.names.is_list_of(expression);
        self.value_type(expression).or_else(|| is_list().then_some(ValueType::List))
    }

    /// Whether an expression is `nil`, or a variable that is always nil.
    pub(crate) fn is_nothing(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Nil => true,
            ExpressionKind::Local { local, .. } => self.nothing.contains(&local.id),
            _ => false,
        }
    }

    /// Whether a value is never nil.
    pub(crate) fn is_always_there(&self, expression: Expression<'_>) -> bool {
        match expression.kind() {
            ExpressionKind::Grouped(inner) => self.is_always_there(inner),
            ExpressionKind::Local { local, .. } => self.always_there.contains(&local.id),
            ExpressionKind::Unary { .. } | ExpressionKind::Table { .. } | ExpressionKind::InterpString { .. } => true,
            ExpressionKind::Binary { op, .. } => reckons(op) || op == BinaryOp::Concat,
            ExpressionKind::Call { func, self_call, .. } => match func.kind() {
                ExpressionKind::Global(name) => name == "tostring",
                ExpressionKind::IndexName { expr, .. }
                    if matches!(self.symbol(expr), Some(Symbol::Vocabulary | Symbol::Library(_))) =>
                {
                    true
                }
                _ => self.called(func, self_call).is_some_and(|called| called.signature.answers),
            },
            _ => false,
        }
    }

    pub(crate) fn known_by_uses(&self, variable: &Local<'_>) -> Option<ValueType> {
        if self.locals.changing.contains(&variable.id) || self.symbols.contains_key(&variable.id) || self.is_spec() {
            return None;
        }
        self.evidence.mostly(variable.id, &text(variable.name), self.known.names.fields())
    }
}
