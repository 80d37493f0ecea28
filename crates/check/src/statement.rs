//! Checks the statements of a script.

use super::evidence::is_length_of;
use super::lints;
use super::script::ScriptReader;
use super::symbol::Symbol;
use super::syntax::{is_text_map, leaves_loop, literal, text};
use super::value_type::ValueType;
use riskbreaker_script::syntax::{
    Block, Expression, ExpressionKind, Local, Location, Statement, StatementLocal, StatementLoop, StatementView,
    TableItem,
};

impl ScriptReader<'_> {
    pub(super) fn block(&mut self, block: Block<'_>) {
        for statement in block.as_slice() {
            if self.is_over() {
                return;
            }
            self.statement(*statement);
        }
    }

    fn statement(&mut self, statement: Statement<'_>) {
        match statement.view() {
            StatementView::Block(block) => self.block(block),
            StatementView::Assign(assign) => {
                assign.values.iter().for_each(|value| self.kept(*value));
                assign.vars.iter().for_each(|var| self.written(*var));
            }
            StatementView::CompoundAssign(assign) => {
                self.expression(assign.value);
                // A compound assignment also reads its target.
                if matches!(assign.var.kind(), ExpressionKind::IndexName { .. }) {
                    self.expression(assign.var);
                }
                self.operands(assign.var, assign.op, assign.value);
                self.written(assign.var);
            }
            StatementView::Expression(statement) => {
                self.expression(statement.expr);
                self.thrown_away(statement.expr);
            }
            StatementView::NumericFor(numeric) => {
                self.value_types.insert(numeric.name.id, ValueType::Number);
                for counted in [numeric.start, numeric.limit].into_iter().chain(numeric.step) {
                    self.base(counted);
                    self.counted_with(counted);
                }
                self.block(numeric.body);
            }
            StatementView::GenericFor(generic) => {
                generic.values.iter().for_each(|value| self.expression(*value));
                if let Some(value) = generic.values.first() {
                    self.loops_over(*value, generic.names);
                }
                self.block(generic.body);
            }
            StatementView::FunctionDeclaration(declaration) => {
                self.written(declaration.name);
                self.expression(declaration.function);
            }
            StatementView::If(branch) => {
                self.asking(branch.condition);
                self.condition(branch.condition);
                self.block(branch.then_body);
                branch.else_body.into_iter().for_each(|body| self.statement(body));
            }
            StatementView::LocalFunction(local) => {
                self.local_function(local.name.id);
                self.expression(local.function);
            }
            StatementView::Local(local) => self.local(local),
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

    fn endless(&mut self, looped: &StatementLoop<'_>, goes_on: bool, cure: &str) {
        if goes_on && !leaves_loop(looped.body) {
            self.problem(
                &lints::endless_loop::LINT,
                looped.condition.location(),
                ("this loop never ends".into(), cure.into()),
            );
        }
    }

    /// Notes what is known of new local variables.
    fn local(&mut self, local: &StatementLocal<'_>) {
        local.values.iter().for_each(|value| self.expression(*value));
        for (binding, value) in local.bindings.iter().zip(local.values) {
            let id = binding.id;
            if let Some(thing) = self.symbol(*value) {
                self.symbols.insert(id, thing);
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
            if self.locals.changing.contains(&id) {
                continue;
            }
            if !self.value_types.contains_key(&id) && self.known_by_uses(binding) == Some(ValueType::List) {
                self.value_types.insert(id, ValueType::List);
            }
            self.named_dice(&text(binding.name), *value);
            if let Some(constant) = literal(*value) {
                self.constants.insert(id, constant);
            }
            if let Some(ids) = self.chosen_ids(*value) {
                self.choices.insert(id, ids);
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
            if self.is_always_there(*value) {
                self.always_there.insert(id);
            }
            if matches!(value.kind(), ExpressionKind::FunctionLiteral(_)) {
                self.local_function(id);
            }
        }
    }

    /// Gives a variable without a known type the type that most of its uses have.
    pub(super) fn by_its_uses(&mut self, variable: &Local<'_>) {
        if let Some(ty) = self.known_by_uses(variable) {
            self.value_types.entry(variable.id).or_insert(ty);
        }
    }

    fn known_by_uses(&self, variable: &Local<'_>) -> Option<ValueType> {
        if self.locals.changing.contains(&variable.id) || self.symbols.contains_key(&variable.id) || self.is_spec() {
            return None;
        }
        self.evidence.mostly(variable.id, &text(variable.name), self.known.names.fields())
    }

    fn local_function(&mut self, id: u64) {
        if let Some(signature) = self.known.names.function(self.full_path(), id) {
            self.functions.insert(id, signature.clone());
        }
    }

    /// Checks the target of an assignment. A function that assigns a variable of the file would keep state outside the
    /// game.
    fn written(&mut self, target: Expression<'_>) {
        match target.kind() {
            ExpressionKind::Global(name) => {
                let name = text(name);
                self.told.insert(name.clone());
                let wrong = format!("`{name}` is written as a global, and a ruleset has none");
                self.problem(
                    &lints::global_variable::LINT,
                    target.location(),
                    (wrong, format!("write `local {name}`")),
                );
            }
            ExpressionKind::Local { local, upvalue } => {
                if upvalue && local.function_depth == 0 && !self.is_spec() {
                    let name = text(local.name);
                    let wrong = format!(
                        "a function changes `{name}`, a variable of the file: a script keeps nothing between calls"
                    );
                    self.problem(
                        &lints::kept_state::LINT,
                        target.location(),
                        (wrong, "keep it in a field of an entity".into()),
                    );
                }
                self.symbols.remove(&local.id);
            }
            ExpressionKind::IndexName { expr, index, .. } => {
                self.expression(expr);
                let of_an_actor = matches!(expr.kind(), ExpressionKind::IndexName { expr: of, index, .. }
                    if matches!(of.kind(), ExpressionKind::Local { .. })
                        && ["actor", "owner", "target", "side", "opponent", "holder"].iter().any(|known| index == *known));
                let is_field = self.known.types_of(&text(index)).next().is_some();
                let of_a_verb = matches!(expr.kind(), ExpressionKind::Local { local, .. }
                    if self.handed_to_verbs.contains(&local.id));
                if self.symbol(expr) == Some(Symbol::Word("switches")) {
                    let wrong = format!("a script changes no house rule: `{}` is set by the game master", text(index));
                    let cure = "keep what changes in a field of an entity".to_string();
                    self.problem(&lints::switch_assignment::LINT, target.location(), (wrong, cure));
                }
                let of_a_list = is_one_of_a_list(expr) && !self.known.names.is_own_key(&text(index));
                let entity = matches!(self.symbol(expr), Some(Symbol::Entity(_)));
                if entity || (of_an_actor || of_a_verb || of_a_list) && is_field {
                    let name = text(index);
                    let wrong = format!("`{name}` of an entity is written like a table's");
                    let cure = match is_field {
                        true => format!("write :set(\"{name}\", value) or :add(\"{name}\", n)"),
                        false => format!("declare it in kinds.luau, and write :set(\"{name}\", value)"),
                    };
                    self.problem(&lints::field_assignment::LINT, target.location(), (wrong, cure));
                }
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
                if is_length_of(index, expr) && self.evidence.stays_empty(expr) {
                    let wrong = "an empty list has no last place, and so this list stays empty".to_string();
                    self.problem(
                        &lints::past_the_end::LINT,
                        target.location(),
                        (wrong, "write table.insert(list, value)".into()),
                    );
                }
                self.fills(expr, target.location());
            }
            _ => self.expression(target),
        }
    }

    /// Reports an assignment to a member that no file reads.
    fn read_by_nobody(&mut self, table: Expression<'_>, name: &str, at: Location) {
        // A ruleset that extends this one may read the member.
        let complete = self.known.stack.scenario().is_some() && !self.elsewhere && !self.is_spec();
        if !complete || self.path.starts_with("convert/") || !self.known.names.is_only_written(name) {
            return;
        }
        let cure = match table.kind() {
            ExpressionKind::Local { local, .. } if local.function_depth > 0 => {
                self.known.names.read_and_near(name).map(|meant| format!("did you mean `{meant}`?"))
            }
            _ if is_one_of_a_list(table) => {
                Some(format!("if it belongs to an entity, declare it in kinds.luau, and write :set(\"{name}\", value)"))
            }
            _ => None,
        };
        if let Some(cure) = cure {
            self.problem(&lints::unread_member::LINT, at, (format!("nothing reads `{name}`"), cure));
        }
    }

    /// Reports a function that writes into a table of the file, which would keep state between calls.
    pub(super) fn fills(&mut self, table: Expression<'_>, at: Location) {
        let ExpressionKind::Local { local, upvalue } = table.kind() else { return };
        if upvalue && local.function_depth == 0 && self.depth > 0 && !self.is_spec() {
            let name = text(local.name);
            let wrong =
                format!("a function writes into `{name}`, a table of the file: a script keeps nothing between calls");
            self.problem(
                &lints::kept_state::LINT,
                at,
                (wrong, "make the table inside the function, or keep it in a field of an entity".into()),
            );
        }
    }

    /// Reports a first number, last number or step of a loop that is not a number.
    fn counted_with(&mut self, value: Expression<'_>) {
        let list = !self.is_spec()
            && matches!(value.kind(), ExpressionKind::IndexName { index, .. } if self.known.names.is_list(&text(index)));
        let sort = if list { Some(ValueType::List) } else { self.value_type(value) };
        if let Some(sort) = sort.filter(|sort| *sort != ValueType::Number) {
            let wrong = format!("a loop counts with numbers, and this is {}", sort.words());
            self.problem(
                &lints::loop_bound::LINT,
                value.location(),
                (wrong, "count a list with `#`, or name a number".into()),
            );
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
        if let ExpressionKind::Local { local, .. } = table.kind()
            && self.keyed_by_entities.contains(&local.id)
        {
            let wrong = format!(
                "a loop over `{}`, whose keys are entities: their order differs from run to run",
                text(local.name)
            );
            self.problem(
                &lints::entity_keys::LINT,
                value.location(),
                (wrong, "use entity.id as the key, or loop over rb.each".into()),
            );
        }
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
        if let [place] = names
            && (places && !self.evidence.is_told(place.id) || self.value_type(table) == Some(ValueType::List))
            && self.evidence.is_no_place(place.id)
        {
            let name = text(place.name);
            let wrong = format!("`{name}` is the index in the list, not the element");
            self.problem(&lints::loop_index::LINT, place.location, (wrong, format!("write `for _, {name} in`")));
        }
        if let Some(place) = names.first()
            && (places || self.value_type(value) == Some(ValueType::List))
            && !self.locals.changing.contains(&place.id)
        {
            self.value_types.insert(place.id, ValueType::Number);
        }
    }
}

/// Whether an expression is an element of a member list, `thing.list[1]`.
fn is_one_of_a_list(expression: Expression<'_>) -> bool {
    let ExpressionKind::IndexExpr { expr, index } = expression.kind() else { return false };
    matches!(expr.kind(), ExpressionKind::IndexName { .. }) && matches!(index.kind(), ExpressionKind::Number { .. })
}

/// Whether an expression is a table literal without keys.
fn is_list(value: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = value.kind() else { return false };
    !items.is_empty() && items.iter().all(|item| matches!(item, TableItem::List { .. }))
}
