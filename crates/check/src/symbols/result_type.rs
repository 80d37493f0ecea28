//! The types of what functions return, as far as their expressions show: those of derived values.

use std::collections::BTreeMap;

use crate::control_flow::{falls_through, promised_type};
use crate::inference::evidence::is_math;
use crate::inference::value_type::{ValueType, is_default, orders, reckons, result_of, type_named};
use crate::symbols::given_words::GivenWords;
use crate::symbols::surroundings::{Callee, Surroundings, is_vocabulary};
use crate::syntax::{literal, local_id, returned, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, BinaryOp, Expression, ExpressionKind, Function, StatementView, TableItem, UnaryOp,
};

/// The type of an expression before it is known what the functions and derived values give that it calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResultType {
    Known(ValueType),
    /// The result of a derived value.
    Derived(String),
    /// The result of a function of the ruleset, which is called in this file.
    Called(Callee, String),
    /// A calculation with values of these types.
    Calculated(Vec<ResultType>),
    /// One of several values.
    OneOf(Vec<ResultType>),
    Unknown,
}

/// What a derived value gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DerivedResult {
    pub ty: ResultType,
    /// Whether it gives nil on some path.
    pub may_lack: bool,
    /// The texts that it gives, if all of them are written down.
    pub words: Option<GivenWords>,
    /// The number of values that it takes besides its entity; `None` for any number.
    pub takes: Option<usize>,
}

/// The most values of which a type is kept. A variable that takes more is unknown.
const MOST_VALUES: usize = 24;

impl ResultType {
    /// One of several values. Each is kept once, however often a variable takes it.
    fn one_of(types: Vec<ResultType>) -> ResultType {
        let parts = types.into_iter().flat_map(|ty| match ty {
            ResultType::OneOf(types) => types,
            ty => vec![ty],
        });
        match distinct(parts).as_mut_slice() {
            [] => ResultType::Unknown,
            [one] => std::mem::replace(one, ResultType::Unknown),
            types if types.contains(&ResultType::Unknown) || types.len() > MOST_VALUES => ResultType::Unknown,
            types => ResultType::OneOf(types.to_vec()),
        }
    }

    /// A calculation. Only the values that it is made of count, each once: so a sum in a loop stays small.
    fn calculated(types: Vec<ResultType>) -> ResultType {
        fn add_values(ty: ResultType, values: &mut Vec<ResultType>) {
            match ty {
                ResultType::Calculated(types) | ResultType::OneOf(types) => {
                    types.into_iter().for_each(|ty| add_values(ty, values));
                }
                ty => values.push(ty),
            }
        }
        let mut values = Vec::new();
        types.into_iter().for_each(|ty| add_values(ty, &mut values));
        let values = distinct(values.into_iter());
        match values.contains(&ResultType::Unknown) || values.len() > MOST_VALUES {
            true => ResultType::Unknown,
            false => ResultType::Calculated(values),
        }
    }

    /// Returns the type, if what the called functions give is known. `known` answers for a name of a derived value and for a
    /// function in a file.
    pub fn resolved(
        &self,
        derived: &dyn Fn(&str) -> Option<ValueType>,
        called: &dyn Fn(&Callee, &str) -> Option<ValueType>,
    ) -> Option<ValueType> {
        let resolve = |ty: &ResultType| ty.resolved(derived, called);
        match self {
            ResultType::Known(ty) => Some(*ty),
            ResultType::Derived(name) => derived(name),
            ResultType::Called(callee, file) => called(callee, file),
            ResultType::Calculated(types) => {
                let types = types.iter().map(resolve).collect::<Option<Vec<_>>>()?;
                let is_number = |ty: &ValueType| matches!(ty, ValueType::Number | ValueType::Sum);
                let sum = types.contains(&ValueType::Sum);
                types.iter().all(is_number).then_some(if sum { ValueType::Sum } else { ValueType::Number })
            }
            ResultType::OneOf(types) => {
                let mut types = types.iter().map(resolve);
                let first = types.next()??;
                // The number of a sum may take the place of the sum.
                let plain = |ty: ValueType| if ty == ValueType::Sum { ValueType::Number } else { ty };
                types.all(|ty| ty.map(plain) == Some(plain(first))).then_some(first)
            }
            ResultType::Unknown => None,
        }
    }
}

/// The types without repetitions, in their order.
fn distinct(types: impl Iterator<Item = ResultType>) -> Vec<ResultType> {
    let mut kept: Vec<ResultType> = Vec::new();
    for ty in types {
        if !kept.contains(&ty) {
            kept.push(ty);
        }
    }
    kept
}

impl DerivedResult {
    /// What is known of a derived value whose function is not written down.
    pub fn unknown() -> DerivedResult {
        DerivedResult { ty: ResultType::Unknown, may_lack: true, words: None, takes: None }
    }

    /// What the function of a derived value returns.
    pub fn of(function: &Function<'_>, around: Surroundings<'_>, file: &str) -> DerivedResult {
        let returns = returned(function.body);
        let is_nil = |value: &Expression<'_>| matches!(value.kind(), ExpressionKind::Nil);
        let values: Vec<Expression<'_>> = returns.iter().filter_map(|values| values.first()).copied().collect();
        let reader = ResultReader { around, file, locals: locals_of(function, around, file) };
        let given = values.iter().filter(|value| !is_nil(value));
        let types: Vec<ResultType> = given.map(|value| reader.read(*value)).collect();
        let may_lack = values.iter().any(|value| is_nil(value) || has_nil(*value))
            || returns.iter().any(|values| values.is_empty())
            || falls_through(function.body);
        let ty = match promised_type(function) {
            Some(ty) if ty != ValueType::Table => ResultType::Known(ty),
            promised => match types.as_slice() {
                [] => promised.map_or(ResultType::Unknown, ResultType::Known),
                _ => ResultType::one_of(types),
            },
        };
        let takes = (!function.vararg).then_some(function.args.len().saturating_sub(1));
        DerivedResult { ty, may_lack, words: GivenWords::of(function, around), takes }
    }
}

/// Returns the type of what a function returns on every path; `None` if it may be nil or nothing of it is known.
pub(crate) fn certain_result(function: &Function<'_>, around: Surroundings<'_>) -> Option<ResultType> {
    let result = DerivedResult::of(function, around, "");
    (!result.may_lack && result.ty != ResultType::Unknown).then_some(result.ty)
}

/// Whether a branch of a conditional expression is nil.
fn has_nil(value: Expression<'_>) -> bool {
    match value.kind() {
        ExpressionKind::Nil => true,
        ExpressionKind::Grouped(inner) => has_nil(inner),
        ExpressionKind::If { then_expression, else_expression, .. } => {
            has_nil(then_expression) || has_nil(else_expression)
        }
        _ => false,
    }
}

/// The types of the parameters and of the local variables of a function that are assigned once.
fn locals_of(function: &Function<'_>, around: Surroundings<'_>, file: &str) -> BTreeMap<u64, ResultType> {
    let mut reader = ResultReader { around, file, locals: BTreeMap::new() };
    for arg in function.args {
        let ty = match arg.annotation.and_then(type_named) {
            None if arg.name == "self" => Some(ValueType::Entity),
            named => named,
        };
        reader.locals.extend(ty.map(|ty| (arg.id, ResultType::Known(ty))));
    }
    function.body.visit(&mut |node: AstNode<'_>| {
        let AstNode::Statement(statement) = node else { return true };
        match statement.view() {
            StatementView::Local(local) => {
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    let ty = reader.read(*value);
                    reader.locals.insert(binding.id, ty);
                }
            }
            StatementView::NumericFor(looped) => {
                reader.locals.insert(looped.name.id, ResultType::Known(ValueType::Number));
            }
            // A number to which a number is added stays one.
            StatementView::CompoundAssign(assign) if assign.op != BinaryOp::Concat => {
                if let Some(id) = local_id(assign.var) {
                    let types = vec![reader.read(assign.var), reader.read(assign.value)];
                    reader.locals.insert(id, ResultType::calculated(types));
                }
            }
            StatementView::Assign(assign) => {
                for (id, at) in assign.vars.iter().enumerate().filter_map(|(at, var)| Some((local_id(*var)?, at))) {
                    let value = assign.values.get(at).map_or(ResultType::Unknown, |value| reader.read(*value));
                    let before = reader.locals.remove(&id).unwrap_or(ResultType::Unknown);
                    reader.locals.insert(id, ResultType::one_of(vec![before, value]));
                }
            }
            _ => {}
        }
        true
    });
    reader.locals
}

struct ResultReader<'f> {
    around: Surroundings<'f>,
    file: &'f str,
    locals: BTreeMap<u64, ResultType>,
}

impl ResultReader<'_> {
    /// Returns the type of an expression, as far as its own form shows it.
    fn read(&self, expression: Expression<'_>) -> ResultType {
        let known = match expression.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                return self.read(inner);
            }
            ExpressionKind::Local { local, .. } => {
                return self.locals.get(&local.id).cloned().unwrap_or(ResultType::Unknown);
            }
            ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => return self.read(rhs),
            ExpressionKind::Binary { lhs, op, rhs } => return self.binary(lhs, op, rhs),
            ExpressionKind::If { then_expression, else_expression, .. } => {
                let branches = [then_expression, else_expression].into_iter();
                let given = branches.filter(|branch| !matches!(branch.kind(), ExpressionKind::Nil));
                return ResultType::one_of(given.map(|branch| self.read(branch)).collect());
            }
            ExpressionKind::Call { func, args, self_call, .. } => return self.call(func, args, self_call),
            ExpressionKind::Number { .. } | ExpressionKind::Unary { op: UnaryOp::Length, .. } => ValueType::Number,
            ExpressionKind::String { .. } | ExpressionKind::InterpString { .. } => ValueType::Text,
            ExpressionKind::Boolean(_) | ExpressionKind::Unary { op: UnaryOp::Not, .. } => ValueType::Truth,
            ExpressionKind::Table { items } if items.iter().all(|item| matches!(item, TableItem::List { .. })) => {
                ValueType::List
            }
            ExpressionKind::IndexName { expr, index, .. } if self.is_entity(expr) => {
                return self.around.fields.type_of(&text(index)).map_or(ResultType::Unknown, ResultType::Known);
            }
            _ => return ResultType::Unknown,
        };
        ResultType::Known(known)
    }

    /// Whether an expression is an entity: `self`, or a reference of it.
    fn is_entity(&self, expression: Expression<'_>) -> bool {
        self.read(expression) == ResultType::Known(ValueType::Entity)
    }

    fn binary(&self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) -> ResultType {
        match op {
            BinaryOp::Concat => ResultType::Known(ValueType::Text),
            BinaryOp::Equal | BinaryOp::NotEqual => ResultType::Known(ValueType::Truth),
            op if orders(op) => ResultType::Known(ValueType::Truth),
            op if reckons(op) => ResultType::calculated(vec![self.read(lhs), self.read(rhs)]),
            BinaryOp::And | BinaryOp::Or => match (self.read(lhs), self.read(rhs)) {
                // A default has the type of the value that it replaces.
                (ResultType::Unknown, default) if op == BinaryOp::Or && is_default(rhs) => default,
                (one, other) if op == BinaryOp::Or => ResultType::one_of(vec![one, other]),
                (ResultType::Known(ValueType::Truth), other) => {
                    ResultType::one_of(vec![ResultType::Known(ValueType::Truth), other])
                }
                _ => ResultType::Unknown,
            },
            _ => ResultType::Unknown,
        }
    }

    fn call(&self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) -> ResultType {
        if let Some(callee) = self.around.callee(func).filter(|_| !self_call) {
            return ResultType::Called(callee, self.file.to_owned());
        }
        let named = |ty: Option<ValueType>| ty.map_or(ResultType::Unknown, ResultType::Known);
        match func.kind() {
            ExpressionKind::Global(name) => named(match &*text(name) {
                "tostring" => Some(ValueType::Text),
                "tonumber" => Some(ValueType::Number),
                _ => None,
            }),
            ExpressionKind::IndexName { expr, index, .. } if self_call => match &*text(index) {
                "add" if args.first().is_some_and(|field| literal(*field).is_some()) => {
                    ResultType::Known(ValueType::Number)
                }
                name if self.is_entity(expr) => match name {
                    "reaches" | "exists" => ResultType::Known(ValueType::Truth),
                    name => ResultType::Derived(name.to_owned()),
                },
                _ => ResultType::Unknown,
            },
            ExpressionKind::IndexName { expr, .. } if is_math(expr) => ResultType::Known(ValueType::Number),
            ExpressionKind::IndexName { expr, index, .. } if is_vocabulary(expr) => match &*text(index) {
                "each" => ResultType::Known(ValueType::List),
                name => named(api::word(name).and_then(|word| result_of(word.ty))),
            },
            ExpressionKind::IndexName { expr, index, .. } => match expr.kind() {
                ExpressionKind::Global(library) => named(match (&*text(library), &*text(index)) {
                    ("string", "format" | "lower" | "upper" | "rep" | "sub" | "reverse") | ("table", "concat") => {
                        Some(ValueType::Text)
                    }
                    _ => None,
                }),
                _ => ResultType::Unknown,
            },
            _ => ResultType::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_stays_small_however_often_a_variable_is_assigned() {
        let number = ResultType::Known(ValueType::Number);
        let mut ty = ResultType::Derived("weight".into());
        for _ in 0..1_000 {
            ty = ResultType::one_of(vec![ty.clone(), ResultType::calculated(vec![ty, number.clone()])]);
        }
        let weight = ResultType::Derived("weight".into());
        assert_eq!(ty, ResultType::OneOf(vec![weight.clone(), ResultType::Calculated(vec![weight, number.clone()])]));
        let resolved = |found: Option<ValueType>| ty.resolved(&move |_| found, &|_, _| None);
        assert_eq!((resolved(Some(ValueType::Number)), resolved(None)), (Some(ValueType::Number), None));
        assert_eq!(resolved(Some(ValueType::Text)), None);
        // What is not known stays so.
        assert_eq!(ResultType::calculated(vec![ResultType::Unknown, number.clone()]), ResultType::Unknown);
        assert_eq!(ResultType::one_of(vec![number.clone(), number.clone()]), number);
    }
}
