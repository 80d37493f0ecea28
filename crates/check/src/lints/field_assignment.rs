//! A field of an entity is assigned like that of a table.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use crate::syntax::{is_one_of_a_list, local_id, text};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "field-assignment",
    severity: Severity::Error,
    summary: "a field of an entity is assigned like that of a table",
    explanation: "Entities are written through the host, so that every change can be undone and explained: \
                  `entity:set(\"field\", value)` or `entity:add(\"field\", n)`.",
    bad: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	puller.strength = 3
end"#,
    ),
    good: Example::Resolve(
        r#"for _, puller in rb.each("puller") do
	puller:set("strength", 3)
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a field of an entity that is assigned, with the operator of a compound assignment.
    pub(crate) fn field_written(
        &mut self,
        expr: Expression<'_>,
        name: &str,
        target: Expression<'_>,
        op: Option<BinaryOp>,
        value: Option<Expression<'_>>,
    ) {
        if matches!(self.symbol(expr), Some(Symbol::HookData(_) | Symbol::AnyHookData)) {
            return self.data_written(expr, name, target, op.is_none().then_some(value).flatten());
        }
        let of_an_actor = matches!(expr.kind(), ExpressionKind::IndexName { expr: of, index, .. }
            if matches!(of.kind(), ExpressionKind::Local { .. })
                && ["actor", "owner", "target", "side", "opponent", "holder"].iter().any(|known| index == *known));
        let is_field = self.known.types_of(name).next().is_some();
        let of_a_verb = matches!(expr.kind(), ExpressionKind::Local { local, .. }
            if self.handed_to_verbs.contains(&local.id));
        let of_a_list = is_one_of_a_list(expr) && !self.known.names.is_own_key(name);
        let entity = matches!(self.symbol(expr), Some(Symbol::Entity(_)));
        if !(entity || (of_an_actor || of_a_verb || of_a_list) && is_field) {
            return;
        }
        let wrong = format!("`{name}` of an entity is written like a table's");
        let cure = match is_field {
            true => format!("write :set(\"{name}\", value) or :add(\"{name}\", n)"),
            false => format!("declare it in kinds.luau, and write :set(\"{name}\", value)"),
        };
        let change = value.filter(|_| is_field).map(|value| {
            let (owner, given) = (self.source(expr), self.source(value));
            let simple = !matches!(value.kind(), ExpressionKind::Binary { .. } | ExpressionKind::If { .. });
            let call = match op {
                None => format!(":set(\"{name}\", {given})"),
                Some(BinaryOp::Add) => format!(":add(\"{name}\", {given})"),
                Some(BinaryOp::Subtract) if simple => format!(":add(\"{name}\", -{given})"),
                Some(BinaryOp::Subtract) => format!(":add(\"{name}\", -({given}))"),
                Some(op) => format!(":set(\"{name}\", {owner}.{name} {} {given})", op.symbol()),
            };
            let whole = Location::new(target.location().begin, value.location().end);
            self.replaced(whole, format!("{owner}{call}"))
        });
        self.problem_with(&LINT, target.location(), (wrong, cure.into()), change);
    }

    /// Reports a name of the data of an attachment that is assigned; `value` is what is plainly assigned.
    fn data_written(
        &mut self,
        data: Expression<'_>,
        name: &str,
        target: Expression<'_>,
        value: Option<Expression<'_>>,
    ) {
        let ExpressionKind::IndexName { expr: holder, .. } = data.kind() else { return };
        let holder = self.source(holder);
        let wrong = format!("`{name}` in the data of an attachment is written like a table's");
        let cure = format!("write rb.set_data({holder}.id, {{ {name} = value }}), with all names of the data");
        let declared = match self.symbol(data) {
            Some(Symbol::HookData(hook)) => self.known.rules.and_then(|rules| rules.hook_data(&hook)),
            _ => None,
        };
        let is_all = declared.is_some_and(|params| params.len() == 1 && params[0].name == name);
        let change = value.filter(|_| is_all).map(|value| {
            let whole = Location::new(target.location().begin, value.location().end);
            self.replaced(whole, format!("rb.set_data({holder}.id, {{ {name} = {} }})", self.source(value)))
        });
        self.problem_with(&LINT, target.location(), (wrong, cure.into()), change);
    }

    /// Reports an element of a list or map of an entity that is assigned.
    pub(crate) fn element_written(
        &mut self,
        table: Expression<'_>,
        target: Expression<'_>,
        op: Option<BinaryOp>,
        value: Option<Expression<'_>>,
    ) {
        let Some((owner, name)) = self.table_of_entity(table) else { return };
        let (wrong, cure) = replaced_whole(&name);
        let change = value.map(|value| {
            let sign = op.map_or(String::new(), |op| op.symbol().to_owned());
            let (behind, given) = (self.bytes_of(target.location()), self.source(value));
            let place = self.text.get(self.offset_of(table.location().end)..behind.end).unwrap_or_default();
            let whole = Location::new(target.location().begin, value.location().end);
            let lines = [
                format!("local changed = table.clone({})", self.source(table)),
                format!("changed{place} {sign}= {given}"),
                format!("{owner}:set(\"{name}\", changed)"),
            ];
            self.replaced(whole, lines.join(&format!("\n{}", self.indent_of(target.location().begin))))
        });
        self.problem_with(&LINT, target.location(), (wrong, cure), change);
    }

    /// Reports a list of an entity that a function of the library changes: `table.insert(actor.friends, other)`.
    pub(crate) fn changes_table_of_entity(&mut self, table: Expression<'_>) {
        if let Some((_, name)) = self.table_of_entity(table) {
            return self.problem(&LINT, table.location(), replaced_whole(&name));
        }
        let Some((at, name)) = local_id(table).and_then(|id| self.entity_tables.get(&id)).cloned() else { return };
        let wrong = format!("this is `{name}` of an entity itself, and it is changed like a table");
        let copied = format!("table.clone({})", self.source_at(at));
        // The copy must be written back.
        let written = format!(":set(\"{name}\", {})", self.source(table));
        let is_written = self.text.contains(&written);
        let cure = match is_written {
            true => format!("write `{copied}` where the variable is declared"),
            false => format!("write `{copied}` where the variable is declared, and `{written}` behind the change"),
        };
        let change = is_written.then(|| self.replaced(at, copied));
        self.problem_with(&LINT, table.location(), (wrong, cure.into()), change);
    }

    /// The source of the entity and the name of the field, if an expression is a list or map of an entity.
    pub(crate) fn table_of_entity(&self, table: Expression<'_>) -> Option<(String, String)> {
        let ExpressionKind::IndexName { expr, index, .. } = table.kind() else { return None };
        let name = text(index);
        let owner = match self.symbol(expr) {
            Some(Symbol::Entity(kind)) => Some(Symbol::Entity(kind)),
            None if self.is_entity_by_name(expr) => None,
            // Nothing but entities has a member of that name.
            None if !self.known.names.may_be_own(&name) && !self.is_own_table(expr) => None,
            _ => return None,
        };
        let types = self.types_at(&owner, &name);
        let is_table = !types.is_empty() && types.iter().all(|ty| matches!(ty, Type::List(_) | Type::Map(_)));
        is_table.then(|| (self.source(expr).to_owned(), name))
    }
}

/// The finding of a list or map of an entity that is changed in place.
fn replaced_whole(name: &str) -> Mistake {
    let wrong = format!("`{name}` of an entity is changed like a table's");
    (wrong, format!("copy it by table.clone, change the copy, and write :set(\"{name}\", copy)").into())
}
