//! Decodes the bytes that `tree.cpp` writes. Both have the same parts in the same order.

use super::tree::*;
use super::{Arena, SyntaxError};

macro_rules! tags {
    ($($name:ident)*) => {
        /// The type of a node.
        #[derive(Clone, Copy)]
        enum Tag {
            $($name,)*
        }

        const TAGS: &[Tag] = &[$(Tag::$name,)*];
    };
}

// In the order of `tree.cpp`.
tags! {
    Nil Boolean Number Integer String Local Global Varargs Call IndexName IndexExpr Function Table Unary Binary
    Group TypeAssertion IfElse Interpolated Instantiate
    Block If While Repeat Break Continue Return Expression Locals NumericFor GenericFor Assign CompoundAssign
    FunctionDeclaration LocalFunction
    Other
}

/// In the order of `AstExprBinary::Op`.
const OPERATORS: [BinaryOp; 16] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::FloorDivide,
    BinaryOp::Modulo,
    BinaryOp::Power,
    BinaryOp::Concat,
    BinaryOp::NotEqual,
    BinaryOp::Equal,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::And,
    BinaryOp::Or,
];

pub(super) struct TreeReader<'a, 'b> {
    arena: &'a Arena,
    bytes: &'b [u8],
    locals: Vec<&'a Local<'a>>,
}

impl<'a, 'b> TreeReader<'a, 'b> {
    pub fn new(arena: &'a Arena, bytes: &'b [u8]) -> TreeReader<'a, 'b> {
        TreeReader { arena, bytes, locals: Vec::new() }
    }

    pub fn root(&mut self) -> Block<'a> {
        self.block()
    }

    pub fn error(&mut self) -> SyntaxError {
        let location = self.location();
        SyntaxError { location, message: self.text().to_string() }
    }

    fn take(&mut self, count: usize) -> &'b [u8] {
        let (taken, rest) = self.bytes.split_at(count);
        self.bytes = rest;
        taken
    }

    fn number(&mut self) -> u32 {
        u32::from_ne_bytes(self.take(4).try_into().expect("four bytes were taken"))
    }

    fn wide(&mut self) -> [u8; 8] {
        self.take(8).try_into().expect("eight bytes were taken")
    }

    fn flag(&mut self) -> bool {
        self.number() != 0
    }

    fn bytes(&mut self) -> &'a [u8] {
        let count = self.number() as usize;
        let taken = self.take(count);
        self.arena.alloc_slice_copy(taken)
    }

    /// Names and messages are UTF-8 like the script; a message may cut a letter in two.
    fn text(&mut self) -> &'a str {
        let bytes = self.bytes();
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => self.arena.alloc_str(&String::from_utf8_lossy(bytes)),
        }
    }

    fn name(&mut self) -> AstName<'a> {
        AstName(self.text())
    }

    fn location(&mut self) -> Location {
        let begin = TextPosition::new(self.number(), self.number());
        Location::new(begin, TextPosition::new(self.number(), self.number()))
    }

    fn several<T: Copy>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> &'a [T] {
        let count = self.number();
        let read: Vec<T> = (0..count).map(|_| one(self)).collect();
        self.arena.alloc_slice_copy(&read)
    }

    fn expressions(&mut self) -> &'a [Expression<'a>] {
        self.several(Self::expression)
    }

    fn r#type(&mut self) -> Option<TypeNode<'a>> {
        match self.number() {
            0 => None,
            1 => Some(TypeNode::Named(self.name())),
            2 => Some(TypeNode::Table),
            _ => Some(TypeNode::Other),
        }
    }

    fn local(&mut self) -> &'a Local<'a> {
        let n = self.number() as usize;
        if let Some(known) = self.locals.get(n) {
            return known;
        }
        let (name, location, function_depth) = (self.name(), self.location(), self.number() as usize);
        let annotation = self.r#type();
        let local = self.arena.alloc(Local { id: n as u64, name, location, function_depth, annotation });
        self.locals.push(local);
        local
    }

    fn locals(&mut self) -> &'a [&'a Local<'a>] {
        self.several(Self::local)
    }

    fn expression(&mut self) -> Expression<'a> {
        let tag = TAGS[self.number() as usize];
        let location = self.location();
        let kind = match tag {
            Tag::Nil => ExpressionKind::Nil,
            Tag::Boolean => ExpressionKind::Boolean(self.flag()),
            Tag::Number => ExpressionKind::Number { value: f64::from_ne_bytes(self.wide()) },
            Tag::Integer => ExpressionKind::Integer { value: i64::from_ne_bytes(self.wide()) },
            Tag::String => ExpressionKind::String { value: self.bytes() },
            Tag::Local => ExpressionKind::Local { local: self.local(), upvalue: self.flag() },
            Tag::Global => ExpressionKind::Global(self.name()),
            Tag::Varargs => ExpressionKind::Varargs,
            Tag::Call => {
                ExpressionKind::Call { func: self.expression(), args: self.expressions(), self_call: self.flag() }
            }
            Tag::IndexName => ExpressionKind::IndexName {
                expr: self.expression(),
                index: self.name(),
                index_location: self.location(),
            },
            Tag::IndexExpr => ExpressionKind::IndexExpr { expr: self.expression(), index: self.expression() },
            Tag::Function => {
                let (args, vararg, returns) = (self.locals(), self.flag(), self.r#type());
                let body = self.block();
                ExpressionKind::FunctionLiteral(self.arena.alloc(Function { location, args, vararg, returns, body }))
            }
            Tag::Table => ExpressionKind::Table { items: self.several(Self::item) },
            Tag::Unary => {
                let op = match self.number() {
                    0 => UnaryOp::Not,
                    1 => UnaryOp::Negate,
                    _ => UnaryOp::Length,
                };
                ExpressionKind::Unary { op, rhs: self.expression() }
            }
            Tag::Binary => {
                ExpressionKind::Binary { op: self.operator(), lhs: self.expression(), rhs: self.expression() }
            }
            Tag::Group => ExpressionKind::Grouped(self.expression()),
            Tag::TypeAssertion => ExpressionKind::TypeAssertion { expr: self.expression() },
            Tag::IfElse => ExpressionKind::If {
                condition: self.expression(),
                then_expression: self.expression(),
                else_expression: self.expression(),
            },
            Tag::Interpolated => ExpressionKind::InterpString { expressions: self.expressions() },
            Tag::Instantiate => ExpressionKind::Instantiate { expr: self.expression() },
            _ => ExpressionKind::Other,
        };
        Expression(self.arena.alloc(ExpressionNode { location, kind }))
    }

    fn item(&mut self) -> TableItem<'a> {
        match self.number() {
            0 => TableItem::List { value: self.expression() },
            1 => TableItem::Record { key: self.expression(), value: self.expression() },
            _ => TableItem::General { key: self.expression(), value: self.expression() },
        }
    }

    fn operator(&mut self) -> BinaryOp {
        OPERATORS[self.number() as usize]
    }

    fn block(&mut self) -> Block<'a> {
        match self.statement().view() {
            StatementView::Block(block) => block,
            _ => unreachable!("a block is written where one is read"),
        }
    }

    fn statement(&mut self) -> Statement<'a> {
        let tag = TAGS[self.number() as usize];
        let location = self.location();
        let arena = self.arena;
        let view = match tag {
            Tag::Block => StatementView::Block(Block { location, statements: self.several(Self::statement) }),
            Tag::If => {
                let (condition, then_body) = (self.expression(), self.block());
                let else_body = self.flag().then(|| self.statement());
                StatementView::If(arena.alloc(StatementIf { condition, then_body, else_body }))
            }
            Tag::While => {
                StatementView::While(arena.alloc(StatementLoop { condition: self.expression(), body: self.block() }))
            }
            Tag::Repeat => {
                let (body, condition) = (self.block(), self.expression());
                StatementView::Repeat(arena.alloc(StatementLoop { condition, body }))
            }
            Tag::Break => StatementView::Break,
            Tag::Continue => StatementView::Continue,
            Tag::Return => StatementView::Return(arena.alloc(StatementReturn { expressions: self.expressions() })),
            Tag::Expression => StatementView::Expression(arena.alloc(StatementExpression { expr: self.expression() })),
            Tag::Locals => {
                let (bindings, values) = (self.locals(), self.expressions());
                StatementView::Local(arena.alloc(StatementLocal { bindings, values }))
            }
            Tag::NumericFor => {
                let (name, start, limit) = (self.local(), self.expression(), self.expression());
                let step = self.flag().then(|| self.expression());
                let body = self.block();
                StatementView::NumericFor(arena.alloc(StatementNumericFor { name, start, limit, step, body }))
            }
            Tag::GenericFor => {
                let (names, values, body) = (self.locals(), self.expressions(), self.block());
                StatementView::GenericFor(arena.alloc(StatementGenericFor { names, values, body }))
            }
            Tag::Assign => {
                let (vars, values) = (self.expressions(), self.expressions());
                StatementView::Assign(arena.alloc(StatementAssign { vars, values }))
            }
            Tag::CompoundAssign => {
                let (op, var, value) = (self.operator(), self.expression(), self.expression());
                StatementView::CompoundAssign(arena.alloc(StatementCompoundAssign { op, var, value }))
            }
            Tag::FunctionDeclaration => {
                let (name, function) = (self.expression(), self.expression());
                StatementView::FunctionDeclaration(arena.alloc(StatementFunctionDeclaration { name, function }))
            }
            Tag::LocalFunction => {
                let (name, function) = (self.local(), self.expression());
                StatementView::LocalFunction(arena.alloc(StatementLocalFunction { name, function }))
            }
            _ => StatementView::Other,
        };
        Statement { location, view }
    }
}
