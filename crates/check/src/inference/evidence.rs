//! Infers the type of a local variable from its uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::inference::value_type::{ValueType, params_of, reckons};
use crate::syntax::{literal, local_id, named, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, StatementView, UnaryOp,
};
use riskbreaker_state::Schema;

/// The names of fields and members over all kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldEvidence {
    /// The type of each field name; `None` if kinds disagree.
    pub types: BTreeMap<String, Option<ValueType>>,
    /// The fields, derived values and methods of all kinds.
    members: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl FieldEvidence {
    pub fn new(schema: Option<&Schema>) -> FieldEvidence {
        let mut fields = FieldEvidence::default();
        for kind in schema.iter().flat_map(|schema| &schema.kinds) {
            fields.kinds.insert(kind.name.to_string());
            fields.members.extend(kind.members().map(str::to_string));
            for field in &kind.fields {
                let ty = ValueType::of_type(&field.ty);
                let known = fields.types.entry(field.name.to_string()).or_insert(Some(ty));
                if *known != Some(ty) {
                    *known = None;
                }
            }
        }
        let of_all = api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS);
        fields.members.extend(of_all.map(ToString::to_string));
        fields
    }

    /// Whether some kind has a member of that name. True for every name if no kinds are known.
    fn is_member(&self, name: &str) -> bool {
        self.kinds.is_empty() || self.members.contains(name)
    }

    /// Returns the type of the fields of that name, if all kinds agree.
    pub fn type_of(&self, name: &str) -> Option<ValueType> {
        self.types.get(name).copied().flatten()
    }

    pub fn is_kind(&self, name: &str) -> bool {
        self.kinds.contains(name)
    }

    /// Returns the usual type of a variable of that name: an entity if a kind has the name, otherwise the type of the
    /// fields of that name.
    fn usual(&self, name: &str) -> Option<ValueType> {
        if self.is_kind(name) { Some(ValueType::Entity) } else { self.type_of(name) }
    }
}

/// The uses of each local variable of a file or a function, by the variable's number.
#[derive(Default)]
pub(crate) struct Evidence(BTreeMap<u64, VariableUses>);

/// How often a variable is used as each type.
#[derive(Clone, Debug, Default)]
struct VariableUses {
    /// The number of times that a method is called on it, or that it is passed where only an entity can be.
    entity: usize,
    /// The number of times that a member of some entity is read off it.
    named: usize,
    /// The number of times that a member which no entity has is read off it.
    record: usize,
    number: usize,
    text: usize,
    list: usize,
    /// Whether it may have one of several types, or is assigned again.
    open: bool,
    used: bool,
    /// Whether it is used as a key of a table.
    key: bool,
    /// Whether it is joined into a text or stored.
    told: bool,
    /// Whether it is declared as an empty table.
    empty: bool,
    /// Whether something may be added to it.
    filled: bool,
    /// Whether something is added to it under a name.
    has_names: bool,
}

impl VariableUses {
    /// Returns the number of uses for each possible type.
    fn scores(&self) -> [(usize, ValueType); 4] {
        let table = match (self.entity, self.record) {
            (0, 0) => ValueType::Table,
            (_, 0) => ValueType::Entity,
            (0, _) => ValueType::Record,
            _ => ValueType::Table,
        };
        [
            (self.entity + self.named + self.record, table),
            (self.number, ValueType::Number),
            (self.text, ValueType::Text),
            (self.list, ValueType::List),
        ]
    }
}

impl Evidence {
    pub fn of(block: Block<'_>, fields: &FieldEvidence) -> Evidence {
        let mut found = EvidenceFinder { fields, uses: BTreeMap::new(), keys: Vec::new() };
        block.visit(&mut found);
        for (of, key) in std::mem::take(&mut found.keys) {
            // A key with which something is read off an entity is a text.
            if found.uses.get(&of).is_some_and(|uses| uses.entity > 0 && uses.list == 0) {
                found.uses.entry(key).or_default().text += 1;
            }
        }
        Evidence(found.uses)
    }

    /// Returns the type of a variable if all its uses agree.
    pub fn certain(&self, id: u64) -> Option<ValueType> {
        let uses = self.0.get(&id).filter(|uses| !uses.open)?;
        let mut known = uses.scores().into_iter().filter(|(times, _)| *times > 0);
        let (_, only) = known.next()?;
        known.next().is_none().then_some(only)
    }

    /// Whether a variable is used at all.
    pub fn is_used(&self, id: u64) -> bool {
        self.0.get(&id).is_some_and(|uses| uses.used)
    }

    /// Whether a variable is used, but never as an index of a list.
    pub fn is_no_place(&self, id: u64) -> bool {
        let reads_off = |uses: &VariableUses| uses.named + uses.entity > 0;
        self.0
            .get(&id)
            .is_some_and(|uses| uses.used && uses.number == 0 && !uses.key && (!uses.open || reads_off(uses)))
    }

    /// Whether an expression is a local table to which something is added under a name.
    pub fn has_names(&self, expression: Expression<'_>) -> bool {
        local_id(expression).and_then(|id| self.0.get(&id)).is_some_and(|uses| uses.has_names)
    }

    /// Whether a variable is joined into a text or stored, as an index of a list may be, too.
    pub fn is_told(&self, id: u64) -> bool {
        self.0.get(&id).is_some_and(|uses| uses.told)
    }

    /// Whether an expression is a local table that is declared empty and to which nothing is ever added.
    pub fn stays_empty(&self, expression: Expression<'_>) -> bool {
        let uses = local_id(expression).and_then(|id| self.0.get(&id));
        uses.is_some_and(|uses| uses.empty && !uses.filled && !uses.open)
    }

    /// Returns the type of a variable that most of its uses have. Its name counts as one use.
    pub fn mostly(&self, id: u64, name: &str, fields: &FieldEvidence) -> Option<ValueType> {
        let uses = self.0.get(&id).filter(|uses| !uses.open)?;
        let mut scores = uses.scores();
        let usual = fields.usual(name);
        for (times, ty) in &mut scores {
            let like_an_entity = matches!(ty, ValueType::Table | ValueType::Entity) && usual == Some(ValueType::Entity);
            *times += usize::from(*times > 0 && (Some(*ty) == usual || like_an_entity));
        }
        let all: usize = scores.iter().map(|(times, _)| times).sum();
        scores.into_iter().find(|(times, _)| *times > all - times).map(|(_, ty)| ty)
    }
}

/// Whether `length` is `#list` for a list in a local variable.
pub(crate) fn is_length_of(length: Expression<'_>, list: Expression<'_>) -> bool {
    let ExpressionKind::Unary { op: UnaryOp::Length, rhs } = length.kind() else { return false };
    local_id(list).is_some_and(|id| local_id(rhs) == Some(id))
}

/// Whether an expression is a number, whatever its operands are.
fn is_arithmetic(expression: Expression<'_>) -> bool {
    match expression.kind() {
        ExpressionKind::Grouped(inner) => is_arithmetic(inner),
        ExpressionKind::Number { .. } => true,
        ExpressionKind::Binary { op, .. } => reckons(op),
        ExpressionKind::Call { func, .. } => {
            matches!(func.kind(), ExpressionKind::IndexName { expr, .. } if is_math(expr))
        }
        _ => false,
    }
}

/// Whether an expression is a number that is computed from this variable.
pub(crate) fn is_arithmetic_with(expression: Expression<'_>, id: u64) -> bool {
    let is = |part: Expression<'_>| local_id(part) == Some(id) || is_arithmetic_with(part, id);
    is_arithmetic(expression)
        && match expression.kind() {
            ExpressionKind::Grouped(inner) => is(inner),
            ExpressionKind::Binary { lhs, rhs, .. } => is(lhs) || is(rhs),
            ExpressionKind::Call { args, .. } => args.iter().any(|arg| is(*arg)),
            _ => false,
        }
}

/// Whether an expression is the library `math`.
pub(crate) fn is_math(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Global(library) if library == "math")
}

struct EvidenceFinder<'f> {
    fields: &'f FieldEvidence,
    uses: BTreeMap<u64, VariableUses>,
    /// Pairs of a variable and the variable that indexes it.
    keys: Vec<(u64, u64)>,
}

impl EvidenceFinder<'_> {
    pub(crate) fn note(&mut self, expression: Expression<'_>, note: impl FnOnce(&mut VariableUses)) {
        if let Some(id) = local_id(expression) {
            note(self.uses.entry(id).or_default());
        }
    }

    fn is(&mut self, expression: Expression<'_>, ty: Option<ValueType>) {
        self.note(expression, |uses| match ty {
            Some(ValueType::Entity) => uses.entity += 1,
            Some(ValueType::Number) => uses.number += 1,
            Some(ValueType::Text) => uses.text += 1,
            Some(ValueType::List) => uses.list += 1,
            Some(ValueType::Record) => uses.record += 1,
            _ => {}
        });
    }

    fn open(&mut self, expression: Expression<'_>) {
        self.note(expression, |uses| uses.open = true);
    }

    pub(crate) fn assigned(&mut self, target: Expression<'_>) {
        match target.kind() {
            // An assignment to `list[#list]` changes the last element and adds none.
            ExpressionKind::IndexExpr { expr, index } if is_length_of(index, expr) => {}
            ExpressionKind::IndexName { expr, .. } => {
                self.note(expr, |uses| (uses.filled, uses.has_names) = (true, true));
            }
            ExpressionKind::IndexExpr { expr, .. } => self.note(expr, |uses| uses.filled = true),
            _ => self.open(target),
        }
    }

    /// Notes an assignment. A variable that is assigned a number is taken to have held a number before.
    fn assigned_value(&mut self, target: Expression<'_>, value: Option<&Expression<'_>>) {
        match value {
            Some(value) if local_id(target).is_some() && is_arithmetic(*value) => {
                self.is(target, Some(ValueType::Number))
            }
            _ => self.assigned(target),
        }
    }

    pub(crate) fn field(&mut self, field: &str, value: Expression<'_>) {
        let ty = self.fields.type_of(field);
        // A value that is set as a list or a map may have other shapes as well.
        self.is(value, ty.filter(|ty| matches!(ty, ValueType::Entity | ValueType::Number)));
    }

    pub(crate) fn method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>]) {
        match name {
            "set" | "add" | "shift" => {
                self.is(of, Some(ValueType::Entity));
                if let Some(field) = args.first() {
                    self.is(*field, Some(ValueType::Text));
                }
                if let (Some(field), Some(value)) = (args.first().and_then(|arg| literal(*arg)), args.get(1)) {
                    match name {
                        "add" | "shift" => self.is(*value, Some(ValueType::Number)),
                        _ => self.field(&field, *value),
                    }
                }
            }
            _ if self.fields.is_member(name) => self.is(of, Some(ValueType::Entity)),
            _ => self.open(of),
        }
    }

    pub(crate) fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>]) {
        let inserts = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "insert");
        let tells = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "say");
        for arg in args.iter().skip(1).filter(|_| inserts || tells) {
            self.note(*arg, |uses| uses.told = true);
        }
        for arg in args.iter().take(if inserts { 1 } else { args.len() }) {
            self.note(*arg, |uses| uses.filled = true);
        }
        match func.kind() {
            ExpressionKind::Local { .. } => self.open(func),
            ExpressionKind::Global(name) if name == "type" || name == "typeof" || name == "tonumber" => {
                args.iter().for_each(|arg| self.open(*arg));
            }
            ExpressionKind::Global(name) if name == "ipairs" => {
                args.iter().take(1).for_each(|arg| self.is(*arg, Some(ValueType::List)));
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                let name = text(index);
                match expr.kind() {
                    _ if is_math(expr) => {
                        args.iter().for_each(|arg| self.is(*arg, Some(ValueType::Number)));
                    }
                    ExpressionKind::Global(library) if library == "table" => {
                        if matches!(&*name, "insert" | "remove" | "sort" | "concat") {
                            args.iter().take(1).for_each(|arg| self.is(*arg, Some(ValueType::List)));
                        }
                    }
                    ExpressionKind::Local { local, .. } if local.name == "rb" => {
                        let Some((params, _)) = api::word(&name).and_then(|word| params_of(word.ty)) else { return };
                        for (arg, param) in args.iter().zip(&params) {
                            let ty = match param.ty.trim_end_matches('?') {
                                "Entity" => Some(ValueType::Entity),
                                "number" => Some(ValueType::Number),
                                "string" => Some(ValueType::Text),
                                name if name.ends_with("Question") => Some(ValueType::Record),
                                _ => None,
                            };
                            self.is(*arg, ty);
                        }
                        if let ("spawn" | "relate", Some(fields)) = (&*name, args.last()) {
                            named(*fields).for_each(|(field, _, value)| self.field(&field, value));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    pub(crate) fn binary(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        match op {
            op if reckons(op) => {
                self.is(lhs, Some(ValueType::Number));
                self.is(rhs, Some(ValueType::Number));
            }
            BinaryOp::Concat => [lhs, rhs].into_iter().for_each(|side| self.note(side, |uses| uses.told = true)),
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual => {
                for (one, other) in [(lhs, rhs), (rhs, lhs)] {
                    match other.kind() {
                        ExpressionKind::Number { .. } => self.is(one, Some(ValueType::Number)),
                        // A variable that is compared with a word may hold the word or something else.
                        ExpressionKind::String { .. } | ExpressionKind::Boolean(_) => self.open(one),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

impl<'ast> AstVisitor<'ast> for EvidenceFinder<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Assign(assign) => {
                    let values = assign.values.iter().map(Some).chain(std::iter::repeat(None));
                    assign.vars.iter().zip(values).for_each(|(var, value)| self.assigned_value(*var, value));
                }
                StatementView::Local(local) => {
                    for (binding, value) in local.bindings.iter().zip(local.values) {
                        let empty = matches!(value.kind(), ExpressionKind::Table { items: [] });
                        self.uses.entry(binding.id).or_default().empty = empty;
                    }
                }
                StatementView::CompoundAssign(assign) => {
                    self.assigned(assign.var);
                    if assign.op != BinaryOp::Concat {
                        self.is(assign.value, Some(ValueType::Number));
                    }
                }
                StatementView::NumericFor(looped) => {
                    self.is(looped.start, Some(ValueType::Number));
                    self.is(looped.limit, Some(ValueType::Number));
                }
                _ => {}
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Local { .. } => self.note(expression, |uses| uses.used = true),
                ExpressionKind::Call { func, args, self_call: true, .. } => {
                    if let ExpressionKind::IndexName { expr, index, .. } = func.kind() {
                        self.method(expr, &text(index), args);
                        expr.visit(self);
                        args.iter().for_each(|arg| arg.visit(self));
                        return false;
                    }
                }
                ExpressionKind::Call { func, args, .. } => self.call(func, args),
                ExpressionKind::IndexName { expr, index, .. } => {
                    let member = self.fields.is_member(&text(index));
                    self.note(expr, |uses| if member { uses.named += 1 } else { uses.record += 1 });
                }
                ExpressionKind::IndexExpr { expr, index } if matches!(index.kind(), ExpressionKind::Number { .. }) => {
                    self.is(expr, Some(ValueType::List));
                }
                ExpressionKind::IndexExpr { expr, index } => {
                    self.note(index, |uses| uses.key = true);
                    self.keys.extend(local_id(expr).zip(local_id(index)));
                }
                ExpressionKind::InterpString { expressions, .. } => {
                    expressions.iter().for_each(|told| self.note(*told, |uses| uses.told = true));
                }
                ExpressionKind::Binary { lhs, op, rhs } => self.binary(lhs, op, rhs),
                ExpressionKind::Unary { op: UnaryOp::Negate, rhs } => self.is(rhs, Some(ValueType::Number)),
                _ => {}
            },
        }
        true
    }
}
