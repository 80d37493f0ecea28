//! Checks the statements of a script.

use crate::control_flow::falls_through;
use crate::inference::absent::AbsentValue;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::reader::{Scope, ScopeVariable, ScriptReader};
use crate::symbols::names::local_name;
use crate::symbols::surroundings::member_name;
use crate::syntax::{is_list, is_text_map, literal, text};
use riskbreaker_script::syntax::{
    BinaryOp, Block, Expression, ExpressionKind, Function, Local, Statement, StatementIf, StatementLocal, StatementView,
};

impl ScriptReader<'_> {
    /// Checks a value that is assigned to something.
    pub(crate) fn kept(&mut self, value: Expression<'_>) {
        if matches!(value.kind(), ExpressionKind::Call { .. }) {
            self.has_come_back(value);
        }
        self.expression(value);
    }

    pub(crate) fn block(&mut self, block: Block<'_>) {
        self.scopes.push(Scope::new());
        for statement in block.as_slice() {
            if self.is_over() {
                break;
            }
            self.statement(*statement);
        }
        self.scopes.pop();
    }

    /// Notes variables of the innermost block.
    pub(crate) fn declares(&mut self, names: &[&Local<'_>]) {
        let variables = names
            .iter()
            .map(|variable| ScopeVariable { name: text(variable.name), line: variable.location.begin.line + 1 });
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(variables);
        }
    }

    pub(crate) fn statement(&mut self, statement: Statement<'_>) {
        match statement.view() {
            StatementView::Block(block) => self.block(block),
            StatementView::Assign(assign) => {
                assign.values.iter().for_each(|value| self.kept(*value));
                let value = if let ([_], [value]) = (assign.vars, assign.values) { Some(*value) } else { None };
                assign.vars.iter().for_each(|var| self.written(*var, None, value));
            }
            StatementView::CompoundAssign(assign) => {
                self.expression(assign.value);
                // A compound assignment also reads its target.
                if matches!(assign.var.kind(), ExpressionKind::IndexName { .. }) {
                    self.expression(assign.var);
                }
                self.operands(assign.var, assign.op, assign.value);
                self.written(assign.var, Some(assign.op), Some(assign.value));
            }
            StatementView::Expression(statement) => {
                self.expression(statement.expr);
                self.thrown_away(statement.expr);
            }
            StatementView::NumericFor(numeric) => {
                self.value_types.insert(numeric.name.id, ValueType::Number);
                self.indexes_from_0(numeric);
                for counted in [numeric.start, numeric.limit].into_iter().chain(numeric.step) {
                    self.base(counted);
                    self.counted_with(counted);
                }
                self.block(numeric.body);
            }
            StatementView::GenericFor(generic) => {
                generic.values.iter().for_each(|value| self.expression(*value));
                if let [looped] = generic.values {
                    self.loops_over_number(*looped);
                }
                self.inference.loop_keys.extend(generic.names.first().map(|name| name.id));
                if let Some(value) = generic.values.first() {
                    self.loops_over(*value, generic.names);
                }
                self.block(generic.body);
            }
            StatementView::FunctionDeclaration(declaration) => {
                match declaration.name.kind() {
                    ExpressionKind::Global(name) => {
                        self.global_function(text(name), statement.location().begin, declaration.name.location());
                    }
                    _ => self.written(declaration.name, None, None),
                }
                self.expression(declaration.function);
                self.member_answers_its_callers(declaration.name, declaration.function);
            }
            StatementView::If(branch) => self.branch(branch),
            StatementView::LocalFunction(local) => {
                self.local_function(local.name.id);
                self.unused_variables(&[local.name], &[local.function], statement.location());
                self.declares(&[local.name]);
                self.expression(local.function);
                if let Some(function) = local.function.as_function() {
                    self.answers_its_callers(local.name, function);
                }
            }
            StatementView::Local(local) => {
                self.unused_variables(local.bindings, local.values, statement.location());
                self.declares(local.bindings);
                self.local(local);
                for (binding, value) in local.bindings.iter().zip(local.values) {
                    self.lacks_of_context(binding, *value);
                    if let ExpressionKind::FunctionLiteral(function) = value.kind() {
                        self.answers_its_callers(binding, function);
                    }
                }
            }
            StatementView::Repeat(repeat) => {
                let goes_on = matches!(repeat.condition.kind(), ExpressionKind::Boolean(false) | ExpressionKind::Nil);
                self.endless(repeat, goes_on, "add a `break`, or a condition that becomes true");
                self.block(repeat.body);
                self.asking(repeat.condition);
            }
            StatementView::Return(returned) => {
                returned.expressions.iter().for_each(|value| self.expression(*value));
                // The answer of a policy is a name that other files have, too.
                if let [answer] = returned.expressions
                    && self.path.starts_with("policies/")
                {
                    self.answers_its_question(*answer);
                    self.slip(*answer);
                    self.offered_nowhere(*answer);
                }
            }
            StatementView::While(looped) => {
                self.asking(looped.condition);
                self.condition(looped.condition);
                let goes_on =
                    matches!(looped.condition.kind(), ExpressionKind::Boolean(true) | ExpressionKind::Number { .. });
                self.endless(looped, goes_on, "add a `break`, or a condition that becomes false");
                self.ends(looped.condition, looped.body);
                self.block(looped.body);
            }
            _ => {}
        }
    }

    /// Checks an `if` with its branches. What the condition asks for is known in the first one.
    fn branch(&mut self, branch: &StatementIf<'_>) {
        self.asking(branch.condition);
        self.condition(branch.condition);
        let topic = self.topic_compared(branch.condition);
        let answered = self.answered.len();
        self.answered.extend(topic);
        let held = self.hook_compared(branch.condition, false);
        self.inference.holder_hooks.extend(held.clone());
        let stranger = self.stranger_in(branch.condition).filter(|id| self.inference.strangers.insert(*id));
        self.branches += 1;
        self.block(branch.then_body);
        self.branches -= 1;
        if let Some(id) = stranger {
            self.inference.strangers.remove(&id);
        }
        held.iter().for_each(|(id, _)| drop(self.inference.holder_hooks.remove(id)));
        self.answered.truncate(answered);
        self.branches += 1;
        branch.else_body.into_iter().for_each(|body| self.statement(body));
        self.branches -= 1;
        // `if held.hook ~= "watch" then continue end`
        if branch.else_body.is_none() && !falls_through(branch.then_body) {
            let held = self.hook_compared(branch.condition, true);
            self.inference.holder_hooks.extend(held);
        }
    }

    /// Checks that a function which is a member of the file's table gives what its callers use.
    fn member_answers_its_callers(&mut self, name: Expression<'_>, function: Expression<'_>) {
        if let (ExpressionKind::IndexName { index, .. }, Some(function)) = (name.kind(), function.as_function())
            && let Some(known) = member_name(self.full, &text(index))
        {
            let what = format!("`{}`", self.source(name));
            self.half_answered(function, &[known], &what);
        }
    }

    /// Checks that a local function, which the file may hand to others under its name, gives what its callers use.
    fn answers_its_callers(&mut self, variable: &Local<'_>, function: &Function<'_>) {
        self.note_helper_of_specs(variable.id, function);
        let name = text(variable.name);
        let exported = self.known.names.module(self.full).is_some_and(|module| module.members.contains_key(&name));
        let known_as = member_name(self.full, &name).filter(|_| exported);
        let names: Vec<String> = known_as.into_iter().chain([local_name(self.full, variable.id)]).collect();
        self.half_answered(function, &names, &format!("`{name}`"));
    }

    /// Notes what is known of new local variables.
    pub(crate) fn local(&mut self, local: &StatementLocal<'_>) {
        local.values.iter().for_each(|value| self.expression(*value));
        // `rb.draw` gives an element of a list, and the list without it.
        if let ([_, rest], [draw]) = (local.bindings, local.values)
            && let ExpressionKind::Call { func, .. } = draw.kind()
            && self.symbol(func) == Some(Symbol::Word("draw"))
            && !self.locals.changing.contains(&rest.id)
        {
            self.value_types.insert(rest.id, ValueType::List);
        }
        for (binding, value) in local.bindings.iter().zip(local.values) {
            let id = binding.id;
            if let Some(thing) = self.symbol(*value) {
                self.symbols.insert(id, thing);
            }
            if self.value_type(*value).is_some_and(ValueType::is_table) {
                self.made_tables.insert(id);
            }
            if let Some(silent) = self.silent_call(*value) {
                self.silent.insert(id, silent);
            }
            if !self.locals.reassigned.contains(&id)
                && !matches!(value.kind(), ExpressionKind::FunctionLiteral(_))
                && let Some(sort) = self.value_type(*value)
            {
                self.value_types.insert(id, sort);
            }
            if !self.locals.reassigned.contains(&id) {
                self.note_division(id, *value);
            }
            if self.locals.changing.contains(&id) {
                continue;
            }
            if !self.value_types.contains_key(&id) && self.known_by_uses(binding) == Some(ValueType::List) {
                self.value_types.insert(id, ValueType::List);
            }
            self.named_dice(&text(binding.name), *value);
            if let Some(rolled) = self.range_of_roll(*value) {
                self.rolled.insert(id, rolled);
            }
            if self.is_of_another_seat(*value) {
                self.strangers.insert(id);
            }
            if let Some(number) = self.whole_number(*value) {
                self.numbers.insert(id, number);
            }
            if let Some(constant) = literal(*value) {
                self.constants.insert(id, constant);
            }
            if let Some(ids) = self.chosen_ids(*value).or_else(|| self.words_of_answer(*value)) {
                self.choices.insert(id, ids);
            }
            if let Some(declared) = self.words_of_value(*value) {
                self.declared_words.insert(id, declared);
            }
            if let Some(given) = self.words_of_call(*value) {
                self.words_of_results.insert(id, given);
            }
            if !self.locals.filled.contains(&id) && is_text_map(*value) {
                self.text_maps.insert(id);
            }
            if !self.locals.filled.contains(&id) && is_list(*value) {
                self.lists.insert(id);
            }
            if matches!(value.kind(), ExpressionKind::Nil) {
                self.nothing.insert(id);
            }
            if matches!(value.kind(), ExpressionKind::Call { .. }) && self.value_type(*value) == Some(ValueType::Text) {
                self.computed_texts.insert(id);
            }
            if self.is_always_there(*value) {
                self.always_there.insert(id);
            }
            if let Some((_, name)) = self.table_of_entity(*value) {
                self.entity_tables.insert(id, (value.location(), name));
            }
            if let Some(why) = self.why_absent(*value) {
                self.absent.insert(id, AbsentValue { why, at: value.location() });
            }
            if matches!(value.kind(), ExpressionKind::FunctionLiteral(_)) {
                self.local_function(id);
            }
        }
    }

    /// Gives a variable without a known type the type that most of its uses have.
    pub(crate) fn by_its_uses(&mut self, variable: &Local<'_>) {
        if let Some(ty) = self.known_by_uses(variable) {
            self.value_types.entry(variable.id).or_insert(ty);
        }
    }

    fn local_function(&mut self, id: u64) {
        if let Some(signature) = self.known.names.function(self.full_path(), id) {
            self.functions.insert(id, signature.clone());
        }
    }

    /// Checks the target of an assignment, with the operator of a compound one and the value if it is a single one. A
    /// function that assigns a variable of the file would keep state outside the
    /// game.
    pub(crate) fn written(&mut self, target: Expression<'_>, op: Option<BinaryOp>, value: Option<Expression<'_>>) {
        match target.kind() {
            ExpressionKind::Global(name) => {
                self.global_written(text(name), target.location());
            }
            ExpressionKind::Local { local, upvalue } => {
                self.variable_kept(local, upvalue, target.location());
                self.symbols.remove(&local.id);
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.expression(expr);
                self.switch_written(expr, &text(index), target.location());
                self.field_written(expr, &text(index), target, op, value);
                self.read_by_nobody(expr, &text(index), target.location());
                self.fills(expr, target.location());
            }
            ExpressionKind::IndexExpr { expr, index } => {
                self.expression(expr);
                self.expression(index);
                if let (ExpressionKind::Local { local, .. }, Some(Symbol::Entity(_))) =
                    (expr.kind(), self.symbol(index))
                {
                    self.keyed_by_entities.insert(local.id);
                }
                self.place_of_empty(expr, index, target.location());
                self.element_written(expr, target, op, value);
                self.fills(expr, target.location());
            }
            _ => self.expression(target),
        }
    }

    fn loops_over(&mut self, value: Expression<'_>, names: &[&Local<'_>]) {
        let mut table = value;
        if let ExpressionKind::Call { func, args, .. } = value.kind()
            && let ExpressionKind::Global(name) = func.kind()
            && (name == "pairs" || name == "ipairs")
            && let Some(first) = args.first()
        {
            table = *first;
        }
        self.entity_keys(table, value.location());
        if let ExpressionKind::Call { func, .. } = table.kind()
            && self.symbol(func) == Some(Symbol::Word("attached"))
            && let Some(name) = names.get(1)
        {
            self.symbols.insert(name.id, Symbol::Holder);
        }
        if let (Some(Symbol::Entities(kind)), Some(name)) = (self.symbol(table), names.get(1)) {
            self.symbols.insert(name.id, Symbol::Entity(kind));
        } else if let Some(name) = names.get(1) {
            self.by_its_uses(name);
        }
        let places = matches!(value.kind(), ExpressionKind::Call { func, .. }
            if matches!(func.kind(), ExpressionKind::Global(name) if name == "ipairs"));
        self.index_for_element(table, names, places);
        if let Some(place) = names.first()
            && (places || self.value_type(value) == Some(ValueType::List))
            && !self.locals.changing.contains(&place.id)
        {
            self.value_types.insert(place.id, ValueType::Number);
        }
    }
}
