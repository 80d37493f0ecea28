//! Describes how the functions of a ruleset are called, and what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::control_flow::{falls_through, promised_type};
use crate::inference::evidence::{Evidence, is_arithmetic_with, is_math};
use crate::inference::value_type::{ValueType, params_of, result_of, type_named};
use crate::symbols::entity_lists::GivenEntities;
use crate::symbols::given_words::GivenWords;
use crate::symbols::result_type::{ResultType, certain_result};
use crate::symbols::surroundings::{Callee, Surroundings, is_vocabulary};
use crate::syntax::{local_id, returned, text};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, BinaryOp, Block, Expression, ExpressionKind, Function, Local, Location, Statement,
    StatementView, TableItem, TypeNode, UnaryOp,
};

/// The parameters of a function of a script, and what it returns and does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Signature {
    pub params: Vec<String>,
    /// The number of leading parameters that a call must give: the last of them is used on every path.
    pub needed: usize,
    /// Whether it takes any number of further values.
    pub spread: bool,
    /// The type of each parameter, by its annotation or because all its uses agree.
    pub uses: Vec<Option<ValueType>>,
    /// What each parameter names, such as `card`: the function looks it up among the cards.
    pub sorts: Vec<Option<&'static str>>,
    /// The members that are read off each parameter on every path.
    pub reads: Arc<Vec<BTreeSet<String>>>,
    /// Whether each parameter may be nil, by its annotation or because the function tests it.
    pub may_lack: Vec<bool>,
    /// The position of the parameter whose `{}` the further values fill.
    pub fills: Option<usize>,
    /// The position of its `end`, if it never returns a value.
    pub silent: Option<Location>,
    /// The type of its result, by its annotation or because all its returns agree.
    pub gives: Option<ValueType>,
    /// The type of its result, as long as `gives` is not known.
    pub result: Option<ResultType>,
    /// The functions whose results it returns, if it returns nothing else.
    pub gives_of: Vec<Callee>,
    /// The texts that it returns, if all of them are written down; those of the functions that it calls come with them.
    pub words: Option<BTreeSet<String>>,
    /// The same, as long as `words` is not known.
    pub words_of: Option<GivenWords>,
    /// The kind of the entities in the list that it returns; `Some(None)` for entities of any kind.
    pub entities: Option<Option<String>>,
    /// The same, as long as `entities` is not known.
    pub entities_of: Option<GivenEntities>,
    /// Whether it returns what it searches, or nil on some path and a value on others.
    pub gives_nil: bool,
    /// Whether it returns two values or more wherever it returns.
    pub is_several: bool,
    /// Whether it returns a value on some path.
    pub answers_at_times: bool,
    /// Whether it returns a value on every path.
    pub answers: bool,
    /// Whether it changes nothing, asks nothing and reports nothing.
    pub pure: bool,
    /// The functions that it calls.
    pub calls: Vec<Callee>,
    /// The parameters that it passes on unchanged.
    pub passes: Vec<Pass>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pass {
    param: usize,
    callee: Callee,
    /// The position of the argument, from 0.
    at: usize,
    /// Whether the call is on every path.
    certain: bool,
}

/// Returns the function that a word of the vocabulary runs, and its arguments: `f` and `a` in `rb.openly(f, a)`.
pub(crate) fn run_by<'a, 'b>(
    func: Expression<'a>,
    args: &'b [Expression<'a>],
) -> Option<(Expression<'a>, &'b [Expression<'a>])> {
    let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
    let name = text(index);
    let (params, spread) = params_of(api::word(&name).filter(|_| is_vocabulary(expr))?.ty)?;
    let at = params.iter().position(|param| param.name == "run").filter(|_| spread)?;
    Some((*args.get(at)?, &args[at + 1..]))
}

impl Signature {
    pub fn of(function: &Function<'_>, around: Surroundings<'_>) -> Signature {
        let params = function.args.iter().map(|arg| text(arg.name)).collect();
        let TestedValues { locals: mut asked, compared, .. } = TestedValues::of(function.body);
        asked.extend(compared);
        let mut certain = CertainUses { around, used: BTreeSet::new(), read: BTreeMap::new(), calls: Vec::new() };
        certain.block(function.body.as_slice());
        let used = |arg: &Local<'_>| certain.used.contains(&arg.id) && !asked.contains(&arg.id);
        let needs = |arg: &Local<'_>| used(arg) || arg.annotation.is_some_and(is_needed);
        let needed = function.args.iter().rposition(|arg| needs(arg));
        let reads = function.args.iter().map(|arg| match asked.contains(&arg.id) {
            true => BTreeSet::new(),
            false => certain.read.remove(&arg.id).unwrap_or_default(),
        });
        let reads = Arc::new(reads.collect());
        let may_be_nil = |arg: &&Local<'_>| asked.contains(&arg.id) || arg.annotation.is_some_and(|ty| !is_needed(ty));
        let evidence = Evidence::of(function.body, around.fields);
        let use_of = |arg: &&Local<'_>| arg.annotation.and_then(type_named).or_else(|| evidence.certain(arg.id));
        let uses = function.args.iter().map(use_of).collect();
        let returns = returned(function.body);
        let silent = returns.iter().all(|values| values.is_empty()).then(|| crate::control_flow::end_of(function));
        let is_value_of = |values: &&[Expression<'_>]| {
            values.first().is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil))
        };
        let answers_at_times = returns.iter().any(is_value_of);
        let answers = !falls_through(function.body) && !returns.is_empty() && returns.iter().all(is_value_of);
        let handed_on = |values: &&[Expression<'_>]| match values.first()?.kind() {
            ExpressionKind::Call { func, self_call: false, .. } => around.callee(func),
            _ => None,
        };
        let gives_of: Option<Vec<Callee>> = returns.iter().map(handed_on).collect();
        let mut acts = FunctionActs::new(around);
        function.body.visit(&mut acts);
        let place = |id: u64| function.args.iter().position(|arg| arg.id == id);
        let sort_of = |arg: &&Local<'_>| acts.sorts.get(&arg.id).copied().flatten();
        let sorts = function.args.iter().map(sort_of).collect();
        let fills = acts.filled.and_then(place).filter(|at| at + 1 == function.args.len() && function.vararg);
        let is_found = |value: &Expression<'_>| {
            is_search(*value) || local_id(*value).is_some_and(|id| acts.searched.contains(&id) && !asked.contains(&id))
        };
        let is_nil =
            |values: &&[Expression<'_>]| matches!(values.first().map(|first| first.kind()), Some(ExpressionKind::Nil));
        let gives_nil = returns.iter().filter_map(|values| values.first()).any(is_found)
            || answers_at_times && returns.iter().any(is_nil);
        let mut passes = Vec::new();
        for (callee, args) in &acts.calls {
            for (at, id) in args.iter().enumerate() {
                let Some(param) = id.and_then(place) else { continue };
                let certain =
                    certain.calls.contains(&(callee.clone(), args.clone())) && id.is_none_or(|id| !asked.contains(&id));
                passes.push(Pass { param, callee: callee.clone(), at, certain });
            }
        }
        Signature {
            params,
            needed: needed.map_or(0, |last| last + 1),
            spread: function.vararg,
            uses,
            sorts,
            reads,
            may_lack: function.args.iter().map(may_be_nil).collect(),
            fills,
            silent,
            gives: given_by(function, &returns, &acts.own, &evidence),
            result: certain_result(function, around),
            gives_of: gives_of.unwrap_or_default(),
            words: None,
            words_of: GivenWords::of(function, around),
            entities: None,
            entities_of: GivenEntities::of(function, around),
            gives_nil,
            is_several: !returns.is_empty() && returns.iter().all(|values| values.len() > 1),
            answers_at_times,
            answers,
            pure: !acts.acts,
            calls: acts.calls.into_iter().map(|(callee, _)| callee).collect(),
            passes,
        }
    }

    /// Takes over what is known of the called functions: what they need of its parameters, what they return, and
    /// whether they are pure. Returns whether anything has changed.
    pub fn propagate(
        &mut self,
        known: &dyn Fn(&Callee) -> Option<Signature>,
        derived: &dyn Fn(&str) -> Option<ValueType>,
    ) -> bool {
        let before = (self.needed, self.uses.clone(), self.pure, self.gives, self.gives_nil, self.words.is_some());
        let read_before = (self.reads.clone(), self.sorts.clone());
        self.pure &= self.calls.iter().all(|callee| known(callee).is_some_and(|called| called.pure));
        for param in 0..self.params.len() {
            let passes = || self.passes.iter().filter(move |pass| pass.param == param);
            if self.sorts.get(param) == Some(&None) {
                self.sorts[param] =
                    passes().find_map(|pass| known(&pass.callee)?.sorts.get(pass.at).copied().flatten());
            }
            let mut wanted = passes().filter_map(|pass| known(&pass.callee)?.uses.get(pass.at).copied().flatten());
            if self.uses[param].is_none()
                && let Some(first) = wanted.next()
                && wanted.all(|other| other == first)
            {
                self.uses[param] = Some(first);
            }
            let needs = |pass: &Pass| {
                known(&pass.callee).is_some_and(|called| called.needed > pass.at && called.params.len() > pass.at)
            };
            if passes().any(|pass| pass.certain && needs(pass)) {
                self.needed = self.needed.max(param + 1);
            }
            let further = passes().filter(|pass| pass.certain);
            let further: Vec<_> = further.filter_map(|pass| Some((known(&pass.callee)?.reads, pass.at))).collect();
            for read in further.iter().filter_map(|(reads, at)| reads.get(*at)) {
                if !read.is_subset(&self.reads[param]) {
                    Arc::make_mut(&mut self.reads)[param].extend(read.iter().cloned());
                }
            }
        }
        if self.gives.is_none() {
            let mut given = self.gives_of.iter().map(|callee| known(callee)?.gives);
            let first = given.next().flatten();
            self.gives = first.filter(|_| given.all(|other| other == first));
        }
        if self.gives.is_none()
            && let Some(result) = &self.result
        {
            let ty = result.resolved(derived, &|callee, _| known(callee)?.gives);
            self.gives = ty.filter(|ty| ty.is_constant() || *ty == ValueType::Sum);
        }
        self.gives_nil |= self.gives_of.iter().any(|callee| known(callee).is_some_and(|called| called.gives_nil));
        if self.words.is_none()
            && let Some(given) = &self.words_of
        {
            let words_of = |callee: &Callee| {
                let called = known(callee)?;
                let is_no_text = || called.silent.is_some() || called.gives.is_some_and(|ty| ty != ValueType::Text);
                called.words.clone().or_else(|| is_no_text().then(BTreeSet::new))
            };
            self.words = given.resolved(&words_of);
        }
        let knows_entities = self.entities.is_some();
        if let (None, Some(given)) = (&self.entities, &self.entities_of) {
            self.entities = given.resolved(&|callee| known(callee)?.entities);
        }
        before != (self.needed, self.uses.clone(), self.pure, self.gives, self.gives_nil, self.words.is_some())
            || read_before != (self.reads.clone(), self.sorts.clone())
            || knows_entities != self.entities.is_some()
    }
}

/// Whether a value is a search that may find nothing: `rb.relation(...)`, or `rb.first` with a filter.
fn is_search(value: Expression<'_>) -> bool {
    let ExpressionKind::Call { func, args, .. } = value.kind() else { return false };
    let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return false };
    is_vocabulary(expr) && (index == "relation" || index == "first" && args.len() > 1)
}

/// Returns what the first argument of a word of the vocabulary names, such as `card`. `None` if it is no name.
pub(crate) fn sort_of_first(word: &str) -> Option<&'static str> {
    match word {
        "each" | "first" | "spawn" | "ref" => Some("kind"),
        "relate" | "unrelate" | "relation" | "related" | "relating" => Some("kind"),
        "card" => Some("card"),
        "item_of" => Some("item"),
        "attach" => Some("hook"),
        "schedule" | "recur" => Some("entry"),
        _ => None,
    }
}

/// Returns which argument of a word of the vocabulary is a text that the arguments behind it fill, from 0.
pub(crate) fn told_at(word: &str) -> Option<usize> {
    match word {
        "roll" | "faces" | "ordered_faces" | "ranks" | "whisper" => Some(1),
        "under" | "at_most" | "at_least" | "check" | "band" => Some(2),
        "say" | "cut" | "finish" | "result" => Some(0),
        _ => None,
    }
}

/// Returns the result type of a function: its annotation, or the type of all its returns.
fn given_by(
    function: &Function<'_>,
    returns: &[&[Expression<'_>]],
    tables: &BTreeSet<u64>,
    evidence: &Evidence,
) -> Option<ValueType> {
    let promised = promised_type(function);
    if promised.is_some_and(|promised| promised != ValueType::Table) {
        return promised;
    }
    let ty = |value: Expression<'_>| match value.kind() {
        ExpressionKind::Table { items } => match items {
            [] => Some(None),
            items if items.iter().all(|item| matches!(item, TableItem::List { .. })) => Some(Some(ValueType::List)),
            items if items.iter().all(|item| matches!(item, TableItem::Record { .. })) => Some(Some(ValueType::Record)),
            _ => None,
        },
        ExpressionKind::Call { func, .. } => match func.kind() {
            ExpressionKind::IndexName { expr, index, .. } if is_vocabulary(expr) => {
                let lists = index == "each" || result_of(api::word(&text(index))?.ty) == Some(ValueType::List);
                lists.then_some(Some(ValueType::List))
            }
            _ => None,
        },
        ExpressionKind::Local { local, .. } if tables.contains(&local.id) => {
            evidence.certain(local.id).filter(|ty| *ty == ValueType::List).map(Some)
        }
        _ => None,
    };
    let mut all = None;
    for first in returns.iter().filter_map(|values| values.first()) {
        if matches!(first.kind(), ExpressionKind::Nil) {
            continue;
        }
        let Some(found) = ty(*first) else { return promised };
        if found.is_some() && all.is_some() && all != found {
            return promised;
        }
        all = all.or(found);
    }
    all.or(promised)
}

/// Collects whether a function changes, asks or reports anything, and the functions that it calls.
struct FunctionActs<'f> {
    around: Surroundings<'f>,
    acts: bool,
    /// The tables that it makes itself.
    own: BTreeSet<u64>,
    /// The functions of the ruleset that it calls, with the local variables among the arguments.
    calls: Vec<(Callee, Vec<Option<u64>>)>,
    /// The local variable that a word of the vocabulary takes as a text, with `...` behind it to fill its places.
    filled: Option<u64>,
    /// The local variables that hold what was searched.
    searched: BTreeSet<u64>,
    /// The local variables that are names of a sort, as words of the vocabulary look them up; `None` for a variable that is
    /// assigned or looked up among several sorts.
    sorts: BTreeMap<u64, Option<&'static str>>,
}

impl FunctionActs<'_> {
    fn new(around: Surroundings<'_>) -> FunctionActs<'_> {
        let (own, searched) = (BTreeSet::new(), BTreeSet::new());
        FunctionActs { around, acts: false, own, calls: Vec::new(), filled: None, searched, sorts: BTreeMap::new() }
    }

    fn writes(&mut self, target: Expression<'_>) {
        self.sorts.extend(local_id(target).map(|id| (id, None)));
        match target.kind() {
            ExpressionKind::Local { upvalue, .. } => self.acts |= upvalue,
            ExpressionKind::IndexName { expr, .. } | ExpressionKind::IndexExpr { expr, .. } => {
                self.acts |= !local_id(expr).is_some_and(|id| self.own.contains(&id));
            }
            _ => self.acts = true,
        }
    }

    pub(crate) fn call(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        if let Some(callee) = self.around.callee(func).filter(|_| !self_call) {
            self.acts |= matches!(callee, Callee::Verb(_));
            self.calls.push((callee, args.iter().map(|arg| local_id(*arg)).collect()));
            return;
        }
        if let Some((run, handed)) = run_by(func, args) {
            self.call(run, handed, false);
        }
        if let (ExpressionKind::IndexName { expr, index, .. }, Some(id)) =
            (func.kind(), args.first().and_then(|arg| local_id(*arg)))
            && is_vocabulary(expr)
            && let Some(sort) = sort_of_first(&text(index))
        {
            let known = self.sorts.entry(id).or_insert(Some(sort));
            *known = known.filter(|known| *known == sort);
        }
        if let [.., told, last] = args
            && matches!(last.kind(), ExpressionKind::Varargs)
            && let ExpressionKind::IndexName { expr, index, .. } = func.kind()
            && is_vocabulary(expr)
            && told_at(&text(index)) == Some(args.len() - 2)
        {
            self.filled = local_id(*told);
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else {
            let harmless = ["ipairs", "pairs", "select", "type", "typeof", "tonumber", "tostring", "unpack"];
            self.acts |= !matches!(func.kind(), ExpressionKind::Global(name) if harmless.contains(&&*text(name)));
            return;
        };
        let name = text(index);
        self.acts |= match expr.kind() {
            _ if self_call => matches!(&*name, "set" | "add" | "shift"),
            ExpressionKind::Global(library) if library == "table" => match &*name {
                "insert" | "remove" | "sort" | "move" | "clear" => {
                    !args.first().and_then(|arg| local_id(*arg)).is_some_and(|id| self.own.contains(&id))
                }
                _ => false,
            },
            ExpressionKind::Global(_) => false,
            _ if is_vocabulary(expr) => {
                api::word(&name).is_none_or(|word| word.acts || word.ty.ends_with("()") || name == "term")
            }
            _ => true,
        };
    }
}

impl<'ast> AstVisitor<'ast> for FunctionActs<'_> {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::Local(local) => {
                    for (binding, value) in local.bindings.iter().zip(local.values) {
                        let cloned = |func: Expression<'_>| matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "clone");
                        let made = match value.kind() {
                            ExpressionKind::Table { .. } => true,
                            ExpressionKind::Call { func, .. } => cloned(func),
                            _ => false,
                        };
                        if made {
                            self.own.insert(binding.id);
                        }
                        self.searched.extend(is_search(*value).then_some(binding.id));
                    }
                }
                StatementView::Assign(assign) => assign.vars.iter().for_each(|var| self.writes(*var)),
                StatementView::CompoundAssign(assign) => self.writes(assign.var),
                _ => {}
            },
            AstNode::Expression(expression) => {
                if let ExpressionKind::Call { func, args, self_call, .. } = expression.kind() {
                    self.call(func, args, self_call);
                }
            }
        }
        true
    }
}

/// Whether a parameter of that type cannot be left out: the type is plain, and not `T?`, `T | nil` or `any`.
fn is_needed(ty: TypeNode<'_>) -> bool {
    type_named(ty).is_some() || matches!(ty, TypeNode::Table)
}

/// The parameters that a function reads members of, calls or calculates with on every path.
struct CertainUses<'f> {
    around: Surroundings<'f>,
    used: BTreeSet<u64>,
    /// The members that are read off local variables.
    read: BTreeMap<u64, BTreeSet<String>>,
    /// The functions of the ruleset that it calls, with the local variables among the arguments.
    calls: Vec<(Callee, Vec<Option<u64>>)>,
}

impl CertainUses<'_> {
    pub(crate) fn block(&mut self, statements: &[Statement<'_>]) {
        for statement in statements {
            match statement.view() {
                StatementView::Local(local) => local.values.iter().for_each(|value| self.expression(*value)),
                StatementView::Assign(assign) => assign.values.iter().for_each(|value| self.expression(*value)),
                StatementView::CompoundAssign(assign) => {
                    self.reckoned(assign.var);
                    self.reckoned(assign.value);
                }
                StatementView::Expression(statement) => self.expression(statement.expr),
                StatementView::Return(returned) => {
                    returned.expressions.iter().for_each(|value| self.expression(*value));
                    return;
                }
                StatementView::If(branch) => {
                    self.expression(branch.condition);
                    let mut leaves = false;
                    // A `return` of an inner function counts too, which only makes the check miss a problem.
                    statement.visit(&mut |node: AstNode<'_>| {
                        if let AstNode::Statement(inner) = node {
                            leaves |= matches!(inner.view(), StatementView::Return(_) | StatementView::Break);
                        }
                        true
                    });
                    if leaves {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    pub(crate) fn expression(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Grouped(inner) | ExpressionKind::TypeAssertion { expr: inner, .. } => {
                self.expression(inner)
            }
            ExpressionKind::Unary { op, rhs } => match op {
                UnaryOp::Not => self.expression(rhs),
                _ => self.reckoned(rhs),
            },
            ExpressionKind::Binary { lhs, op, rhs } => match op {
                BinaryOp::And | BinaryOp::Or => self.expression(lhs),
                BinaryOp::Equal | BinaryOp::NotEqual => {
                    self.expression(lhs);
                    self.expression(rhs);
                }
                _ => {
                    self.reckoned(lhs);
                    self.reckoned(rhs);
                }
            },
            ExpressionKind::IndexName { expr, index, .. } => {
                if let Some(id) = local_id(expr) {
                    self.read.entry(id).or_default().insert(text(index));
                }
                self.reckoned(expr);
            }
            ExpressionKind::IndexExpr { expr, index } => {
                self.reckoned(expr);
                self.expression(index);
            }
            ExpressionKind::Call { func, args, .. } => {
                self.reckoned(func);
                args.iter().for_each(|arg| self.expression(*arg));
                if matches!(func.kind(), ExpressionKind::IndexName { expr, .. } if is_math(expr)) {
                    args.iter().for_each(|arg| self.reckoned(*arg));
                }
                let (called, handed) = run_by(func, args).unwrap_or((func, args));
                if let Some(callee) = self.around.callee(called) {
                    self.calls.push((callee, handed.iter().map(|arg| local_id(*arg)).collect()));
                }
                if let ExpressionKind::IndexName { expr, index, .. } = func.kind()
                    && is_vocabulary(expr)
                    && let Some((params, _)) = api::word(&text(index)).and_then(|word| params_of(word.ty))
                {
                    let wanted = args.iter().zip(&params).filter(|(_, param)| !param.optional);
                    wanted.for_each(|(arg, _)| self.reckoned(*arg));
                }
            }
            ExpressionKind::If { condition, .. } => self.expression(condition),
            ExpressionKind::Table { items } => {
                for item in items {
                    match item {
                        TableItem::List { value } | TableItem::Record { value, .. } => self.expression(*value),
                        TableItem::General { key, value } => {
                            self.expression(*key);
                            self.expression(*value);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes an expression that must not be nil here.
    pub(crate) fn reckoned(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.used.insert(local.id);
            }
            _ => self.expression(expression),
        }
    }
}

/// What a script tests or assigns.
#[derive(Default)]
pub(crate) struct TestedValues {
    /// The local variables.
    pub locals: BTreeSet<u64>,
    /// The local variables that are only compared with others.
    pub compared: BTreeSet<u64>,
    /// The places of tested members, elements and calls.
    pub places: Vec<Location>,
}

impl TestedValues {
    pub fn of(block: Block<'_>) -> TestedValues {
        let mut tested = TestedValues::default();
        block.visit(&mut tested);
        tested
    }

    fn about(&mut self, expression: Expression<'_>) {
        match expression.kind() {
            ExpressionKind::Local { local, .. } => {
                self.locals.insert(local.id);
            }
            ExpressionKind::Grouped(inner) => self.about(inner),
            ExpressionKind::IndexName { .. } | ExpressionKind::IndexExpr { .. } | ExpressionKind::Call { .. } => {
                self.places.push(expression.location());
            }
            _ => {}
        }
    }
}

impl<'ast> AstVisitor<'ast> for TestedValues {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => match statement.view() {
                StatementView::If(branch) => self.about(branch.condition),
                StatementView::While(looped) => self.about(looped.condition),
                StatementView::Assign(assign) => {
                    let values = assign.values.iter().map(Some).chain(std::iter::repeat(None));
                    for (var, value) in assign.vars.iter().zip(values) {
                        // A new value that is computed from the old one requires the old one.
                        let id = local_id(*var);
                        if !value.zip(id).is_some_and(|(value, id)| is_arithmetic_with(*value, id)) {
                            self.about(*var);
                        }
                    }
                }
                _ => {}
            },
            AstNode::Expression(expression) => match expression.kind() {
                ExpressionKind::Unary { op: UnaryOp::Not, rhs } => self.about(rhs),
                ExpressionKind::Binary { lhs, op: BinaryOp::And | BinaryOp::Or, rhs } => {
                    self.about(lhs);
                    self.about(rhs);
                }
                ExpressionKind::Binary { lhs, op: BinaryOp::Equal | BinaryOp::NotEqual, rhs } => {
                    match local_id(lhs).zip(local_id(rhs)) {
                        Some((one, other)) => self.compared.extend([one, other]),
                        None => {
                            self.about(lhs);
                            self.about(rhs);
                        }
                    }
                }
                ExpressionKind::If { condition, .. } => self.about(condition),
                ExpressionKind::Call { func, args, .. } => {
                    if let ExpressionKind::Global(_) = func.kind() {
                        args.iter().for_each(|arg| self.about(*arg));
                    }
                }
                _ => {}
            },
        }
        true
    }
}
