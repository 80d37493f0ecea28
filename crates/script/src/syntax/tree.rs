//! The nodes of a syntax tree. They are small and copyable, and live in an arena.

/// A position in a text: line, and byte in the line, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: u32,
    pub column: u32,
}

impl TextPosition {
    pub fn new(line: u32, column: u32) -> TextPosition {
        TextPosition { line, column }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub begin: TextPosition,
    pub end: TextPosition,
}

impl Location {
    pub fn new(begin: TextPosition, end: TextPosition) -> Location {
        Location { begin, end }
    }
}

/// An identifier of the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AstName<'a>(pub &'a str);

impl PartialEq<str> for AstName<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for AstName<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// The declaration of a local variable.
#[derive(Debug)]
pub struct Local<'a> {
    /// Its number in the file.
    pub id: u64,
    pub name: AstName<'a>,
    pub location: Location,
    /// The number of enclosing functions.
    pub function_depth: usize,
    pub annotation: Option<TypeNode<'a>>,
}

/// A type annotation, as far as it is read.
#[derive(Debug, Clone, Copy)]
pub enum TypeNode<'a> {
    /// A type of one name, without a module.
    Named(AstName<'a>),
    Table,
    Other,
}

#[derive(Debug)]
pub struct Function<'a> {
    pub location: Location,
    pub args: &'a [&'a Local<'a>],
    pub vararg: bool,
    /// The first annotated return type; `None` if there is no annotation.
    pub returns: Option<TypeNode<'a>>,
    pub body: Block<'a>,
}

#[derive(Debug)]
pub(super) struct ExpressionNode<'a> {
    pub location: Location,
    pub kind: ExpressionKind<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct Expression<'a>(pub(super) &'a ExpressionNode<'a>);

impl<'a> Expression<'a> {
    pub fn location(self) -> Location {
        self.0.location
    }

    pub fn kind(self) -> ExpressionKind<'a> {
        self.0.kind
    }

    pub fn as_function(self) -> Option<&'a Function<'a>> {
        match self.kind() {
            ExpressionKind::FunctionLiteral(function) => Some(function),
            _ => None,
        }
    }

    /// Visits the node, then its children.
    pub fn visit<V: AstVisitor<'a>>(self, visitor: &mut V) {
        if !visitor.visit_node(AstNode::Expression(self)) {
            return;
        }
        match self.kind() {
            ExpressionKind::Nil
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Number { .. }
            | ExpressionKind::Integer { .. }
            | ExpressionKind::String { .. }
            | ExpressionKind::Local { .. }
            | ExpressionKind::Global(_)
            | ExpressionKind::Varargs
            | ExpressionKind::Other => {}
            ExpressionKind::Call { func, args, .. } => {
                func.visit(visitor);
                visit_all(args, visitor);
            }
            ExpressionKind::IndexName { expr: inner, .. }
            | ExpressionKind::Unary { rhs: inner, .. }
            | ExpressionKind::Grouped(inner)
            | ExpressionKind::TypeAssertion { expr: inner, .. }
            | ExpressionKind::Instantiate { expr: inner, .. } => inner.visit(visitor),
            ExpressionKind::IndexExpr { expr: one, index: other }
            | ExpressionKind::Binary { lhs: one, rhs: other, .. } => {
                one.visit(visitor);
                other.visit(visitor);
            }
            ExpressionKind::FunctionLiteral(function) => function.body.visit(visitor),
            ExpressionKind::Table { items } => items.iter().for_each(|item| match item {
                TableItem::List { value } => value.visit(visitor),
                TableItem::Record { key, value } | TableItem::General { key, value } => {
                    key.visit(visitor);
                    value.visit(visitor);
                }
            }),
            ExpressionKind::If { condition, then_expression, else_expression } => {
                [condition, then_expression, else_expression].into_iter().for_each(|part| part.visit(visitor));
            }
            ExpressionKind::InterpString { expressions } => visit_all(expressions, visitor),
        }
    }
}

fn visit_all<'a, V: AstVisitor<'a>>(expressions: &[Expression<'a>], visitor: &mut V) {
    expressions.iter().for_each(|expression| expression.visit(visitor));
}

#[derive(Debug, Clone, Copy)]
pub enum ExpressionKind<'a> {
    Nil,
    Boolean(bool),
    Number { value: f64 },
    Integer { value: i64 },
    String { value: &'a [u8] },
    Local { local: &'a Local<'a>, upvalue: bool },
    Global(AstName<'a>),
    Varargs,
    Call { func: Expression<'a>, args: &'a [Expression<'a>], self_call: bool },
    IndexName { expr: Expression<'a>, index: AstName<'a>, index_location: Location },
    IndexExpr { expr: Expression<'a>, index: Expression<'a> },
    FunctionLiteral(&'a Function<'a>),
    Table { items: &'a [TableItem<'a>] },
    Unary { op: UnaryOp, rhs: Expression<'a> },
    Binary { op: BinaryOp, lhs: Expression<'a>, rhs: Expression<'a> },
    Grouped(Expression<'a>),
    TypeAssertion { expr: Expression<'a> },
    If { condition: Expression<'a>, then_expression: Expression<'a>, else_expression: Expression<'a> },
    InterpString { expressions: &'a [Expression<'a>] },
    Instantiate { expr: Expression<'a> },
    Other,
}

#[derive(Debug, Clone, Copy)]
pub enum TableItem<'a> {
    List { value: Expression<'a> },
    Record { key: Expression<'a>, value: Expression<'a> },
    General { key: Expression<'a>, value: Expression<'a> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
    Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    Concat,
    NotEqual,
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl BinaryOp {
    /// The operator as written in scripts.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::FloorDivide => "//",
            BinaryOp::Modulo => "%",
            BinaryOp::Power => "^",
            BinaryOp::Concat => "..",
            BinaryOp::NotEqual => "~=",
            BinaryOp::Equal => "==",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Statement<'a> {
    pub(super) location: Location,
    pub(super) view: StatementView<'a>,
}

impl<'a> Statement<'a> {
    /// The targets of an assignment, plain or compound. Empty for other statements.
    pub fn assigned(self) -> &'a [Expression<'a>] {
        match self.view() {
            StatementView::Assign(assign) => assign.vars,
            StatementView::CompoundAssign(assign) => std::slice::from_ref(&assign.var),
            _ => &[],
        }
    }

    pub fn location(self) -> Location {
        self.location
    }

    pub fn view(self) -> StatementView<'a> {
        self.view
    }

    /// Calls the visitor with this statement, then with its children.
    pub fn visit<V: AstVisitor<'a>>(self, visitor: &mut V) {
        if !visitor.visit_node(AstNode::Statement(self)) {
            return;
        }
        match self.view() {
            StatementView::Break | StatementView::Continue | StatementView::Other => {}
            StatementView::Block(block) => block.statements.iter().for_each(|inner| inner.visit(visitor)),
            StatementView::If(branch) => {
                branch.condition.visit(visitor);
                branch.then_body.visit(visitor);
                if let Some(rest) = branch.else_body {
                    rest.visit(visitor);
                }
            }
            StatementView::While(looped) => {
                looped.condition.visit(visitor);
                looped.body.visit(visitor);
            }
            StatementView::Repeat(looped) => {
                looped.body.visit(visitor);
                looped.condition.visit(visitor);
            }
            StatementView::Return(returned) => visit_all(returned.expressions, visitor),
            StatementView::Expression(called) => called.expr.visit(visitor),
            StatementView::Local(local) => visit_all(local.values, visitor),
            StatementView::NumericFor(looped) => {
                looped.start.visit(visitor);
                looped.limit.visit(visitor);
                if let Some(step) = looped.step {
                    step.visit(visitor);
                }
                looped.body.visit(visitor);
            }
            StatementView::GenericFor(looped) => {
                visit_all(looped.values, visitor);
                looped.body.visit(visitor);
            }
            StatementView::Assign(assign) => {
                visit_all(assign.vars, visitor);
                visit_all(assign.values, visitor);
            }
            StatementView::CompoundAssign(assign) => {
                assign.var.visit(visitor);
                assign.value.visit(visitor);
            }
            StatementView::FunctionDeclaration(declaration) => {
                declaration.name.visit(visitor);
                declaration.function.visit(visitor);
            }
            StatementView::LocalFunction(local) => local.function.visit(visitor),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum StatementView<'a> {
    Block(Block<'a>),
    If(&'a StatementIf<'a>),
    While(&'a StatementLoop<'a>),
    Repeat(&'a StatementLoop<'a>),
    Break,
    Continue,
    Return(&'a StatementReturn<'a>),
    Expression(&'a StatementExpression<'a>),
    Local(&'a StatementLocal<'a>),
    NumericFor(&'a StatementNumericFor<'a>),
    GenericFor(&'a StatementGenericFor<'a>),
    Assign(&'a StatementAssign<'a>),
    CompoundAssign(&'a StatementCompoundAssign<'a>),
    FunctionDeclaration(&'a StatementFunctionDeclaration<'a>),
    LocalFunction(&'a StatementLocalFunction<'a>),
    Other,
}

/// A sequence of statements.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    pub(super) location: Location,
    pub(super) statements: &'a [Statement<'a>],
}

impl<'a> Block<'a> {
    pub fn as_slice(self) -> &'a [Statement<'a>] {
        self.statements
    }

    pub fn visit<V: AstVisitor<'a>>(self, visitor: &mut V) {
        Statement { location: self.location, view: StatementView::Block(self) }.visit(visitor);
    }
}

#[derive(Debug)]
pub struct StatementIf<'a> {
    pub condition: Expression<'a>,
    pub then_body: Block<'a>,
    /// The `else` block, or the next `elseif`.
    pub else_body: Option<Statement<'a>>,
}

#[derive(Debug)]
pub struct StatementLoop<'a> {
    pub condition: Expression<'a>,
    pub body: Block<'a>,
}

#[derive(Debug)]
pub struct StatementReturn<'a> {
    pub expressions: &'a [Expression<'a>],
}

#[derive(Debug)]
pub struct StatementExpression<'a> {
    pub expr: Expression<'a>,
}

#[derive(Debug)]
pub struct StatementLocal<'a> {
    pub bindings: &'a [&'a Local<'a>],
    pub values: &'a [Expression<'a>],
}

#[derive(Debug)]
pub struct StatementNumericFor<'a> {
    pub name: &'a Local<'a>,
    pub start: Expression<'a>,
    pub limit: Expression<'a>,
    pub step: Option<Expression<'a>>,
    pub body: Block<'a>,
}

#[derive(Debug)]
pub struct StatementGenericFor<'a> {
    pub names: &'a [&'a Local<'a>],
    pub values: &'a [Expression<'a>],
    pub body: Block<'a>,
}

#[derive(Debug)]
pub struct StatementAssign<'a> {
    pub vars: &'a [Expression<'a>],
    pub values: &'a [Expression<'a>],
}

#[derive(Debug)]
pub struct StatementCompoundAssign<'a> {
    pub op: BinaryOp,
    pub var: Expression<'a>,
    pub value: Expression<'a>,
}

#[derive(Debug)]
pub struct StatementFunctionDeclaration<'a> {
    pub name: Expression<'a>,
    pub function: Expression<'a>,
}

#[derive(Debug)]
pub struct StatementLocalFunction<'a> {
    pub name: &'a Local<'a>,
    pub function: Expression<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum AstNode<'a> {
    Statement(Statement<'a>),
    Expression(Expression<'a>),
}

/// A visitor of a syntax tree, from the outside in.
pub trait AstVisitor<'a> {
    /// Visits a node. Returns true to visit its children, too.
    fn visit_node(&mut self, node: AstNode<'a>) -> bool;
}

impl<'a, F: FnMut(AstNode<'a>) -> bool> AstVisitor<'a> for F {
    fn visit_node(&mut self, node: AstNode<'a>) -> bool {
        self(node)
    }
}
