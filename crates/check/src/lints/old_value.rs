//! A conversion uses what an entity was in a way that is not possible.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{byte_of, local_id, place_in, text};
use riskbreaker_play::Ruleset;
use riskbreaker_ruleset::{Library, Problem, Source, Stack, TextChange, instead};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Arena, AstNode, Expression, ExpressionKind, Location, StatementView, parse};

pub(crate) static LINT: Lint = Lint {
    name: "old-value",
    severity: Severity::Error,
    summary: "a conversion uses what an entity was in a way that is not possible",
    explanation: "`change.was(entity)` gives the old fields of the entity as plain values, with `id` and `kind`. It has no \
                  methods: write to the entity itself. It has the fields that the old rules declare; another one is always \
                  nil, and the value that is meant is lost.",
    bad: Example::Files(&[("convert/pull.luau", CONVERSION_OF_WAS)]),
    good: Example::Files(&[("convert/pull.luau", CONVERSION)]),
};

const CONVERSION_OF_WAS: &str = r#"local rb = require("@riskbreaker")

return rb.convert({
	id = "pull",
	text = "Breaks become rests.",
	run = function(change)
		for _, puller in ipairs(rb.each("puller")) do
			local was = change.was(puller)
			was:set("rests", was.breaks)
		end
	end,
})
"#;

const CONVERSION: &str = r#"local rb = require("@riskbreaker")

return rb.convert({
	id = "pull",
	text = "Breaks become rests.",
	run = function(change)
		for _, puller in ipairs(rb.each("puller")) do
			local was = change.was(puller)
			puller:set("rests", was.breaks)
		end
	end,
})
"#;

/// Returns the problems of the conversions of a stack, from a part on. The rulesets that they convert from are looked up in
/// the library.
pub(crate) fn wrong_old_values(library: &Library, stack: &Stack, own: usize) -> Vec<Problem> {
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        for (path, source) in &part.folder.files {
            let Some(old) = path.strip_prefix("convert/").and_then(|file| file.strip_suffix(".luau")) else { continue };
            let is_own = stack.parts().iter().any(|part| part.id() == old);
            let fields = if is_own { None } else { fields_of(library, old) };
            found.extend(of_conversion(source, old, fields.as_ref()));
        }
    }
    found
}

/// The fields of all kinds of a ruleset; `None` if it is not in the library or does not load.
fn fields_of(library: &Library, id: &str) -> Option<BTreeSet<String>> {
    if !library.contains(id) {
        return None;
    }
    let stack = Stack::resolve(library, id, &[]).ok()?;
    let rules = Ruleset::load_read(Arc::new(stack), &[]).ok()?;
    let kinds = &rules.book().schema().kinds;
    Some(kinds.iter().flat_map(|kind| &kind.fields).map(|field| field.name.to_string()).collect())
}

fn of_conversion(source: &Source, old: &str, fields: Option<&BTreeSet<String>>) -> Vec<Problem> {
    let arena = Arena::new();
    let Ok(root) = parse(&arena, &source.text) else { return Vec::new() };
    // The variables that hold what an entity was, with the code of the entity.
    let mut held: BTreeMap<u64, Location> = BTreeMap::new();
    root.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Statement(statement) = node
            && let StatementView::Local(local) = statement.view()
        {
            let given = local.bindings.iter().zip(local.values);
            held.extend(given.filter_map(|(binding, value)| Some((binding.id, entity_of_was(*value)?))));
        }
        true
    });
    let mut found = Vec::new();
    root.visit(&mut |node: AstNode<'_>| {
        let AstNode::Expression(expression) = node else { return true };
        let ExpressionKind::IndexName { expr, index, index_location, .. } = expression.kind() else { return true };
        let Some(entity) = entity_of_was(expr).or_else(|| held.get(&local_id(expr)?).copied()) else { return true };
        let name = text(index);
        let bytes = |at: Location| byte_of(&source.text, at.begin)..byte_of(&source.text, at.end);
        if api::ENTITY_METHODS.contains(&&*name)
            && source.text[byte_of(&source.text, index_location.end)..].starts_with('(')
        {
            let meant = source.text.get(bytes(entity)).unwrap_or_default();
            let place = bytes(expr.location());
            let wrong = "this is what the entity was: plain values, without methods".to_owned();
            let problem = LINT.problem(&*source.path, wrong).at(place_in(&source.text, expr.location().begin));
            let change = TextChange { begin: place.start, end: place.end, text: meant.to_owned() };
            found.push(problem.with_cure(format!("write to the entity itself: `{meant}`")).with_change(change));
        } else if let Some(fields) = fields.filter(|fields| !fields.contains(&name))
            && !api::ENTITY_FIELDS.contains(&&*name)
            && name != "kind"
        {
            let wrong = format!("no kind of `{old}` has a field `{name}`");
            let problem = LINT.problem(&*source.path, wrong).at(place_in(&source.text, index_location.begin));
            found.push(problem.with_cure(instead(&name, fields.iter().map(String::as_str))));
        }
        true
    });
    found
}

/// The place of the entity in `change.was(entity)`.
fn entity_of_was(call: Expression<'_>) -> Option<Location> {
    let ExpressionKind::Call { func, args: [entity], self_call: false, .. } = call.kind() else { return None };
    let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
    (index == "was" && local_id(expr).is_some()).then(|| entity.location())
}
