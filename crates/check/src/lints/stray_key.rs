//! A key of a table is none of the names to which the other keys belong.

use std::collections::{BTreeMap, BTreeSet};

use crate::inference::words_of_value::DeclaredWords;
use crate::lint::{Example, Lint, Severity};
use crate::misspelling::is_slip;
use crate::reader::ScriptReader;
use crate::syntax::{literal, local_id};
use riskbreaker_ruleset::{Cure, instead};
use riskbreaker_script::syntax::{Expression, Location, TableItem};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "stray-key",
    severity: Severity::Error,
    summary: "a key of a table is none of the names to which the other keys belong",
    explanation: "The keys of the table are the values of a field, the ids of cards, or the texts of a list, but for one: \
                  one key is none of them, and one of them has no key. A look-up under that name finds nil.",
    bad: Example::Files(&[
        (
            "lib/ways.luau",
            r#"local ways = {}

ways.ALL = { "north", "south", "inland" }
ways.COST = { north = 1, south = 2, island = 4 }

return ways
"#,
        ),
        USED,
    ]),
    good: Example::Files(&[
        (
            "lib/ways.luau",
            r#"local ways = {}

ways.ALL = { "north", "south", "inland" }
ways.COST = { north = 1, south = 2, inland = 4 }

return ways
"#,
        ),
        USED,
    ]),
};

const USED: (&str, &str) = (
    "maneuvers/walk.luau",
    r#"local rb = require("@riskbreaker")
local ways = require("lib/ways")

return rb.maneuver({
	id = "walk",
	title = "Walk",
	text = "Walk all ways.",
	resolve = function(ctx)
		for _, way in ipairs(ways.ALL) do
			rb.say("{} walks {} for {}", ctx.actor, way, ways.COST[way])
		end
	end,
})
"#,
);

/// The number of keys that must be right before the other one is wrong, if it is not near to the missing name.
const SURE: usize = 3;

impl ScriptReader<'_> {
    /// Reports the key of a table with texts as keys that is none of the names to which all the others belong.
    pub(crate) fn stray_key(&mut self, items: &[TableItem<'_>]) {
        // A declaration has names of its own.
        if items.len() < 3 || self.is_spec() {
            return;
        }
        let mut keys: BTreeMap<String, Location> = BTreeMap::new();
        for item in items {
            let key = match item {
                TableItem::Record { key, .. } | TableItem::General { key, .. } => *key,
                TableItem::List { .. } => return,
            };
            let Some(name) = literal(key) else { return };
            keys.insert(name, key.location());
        }
        let Some((stray, missing)) = self.name_sets(&keys).iter().find_map(|names| stray_of(&keys, names)) else {
            return;
        };
        // A name that scripts read is one of a record.
        if self.known.names.reads(&stray) > 0 {
            return;
        }
        let wrong = format!("the other keys are names of a list or field that has `{missing}` and no `{stray}`");
        let at = keys[&stray];
        let is_quoted = self.text.get(self.bytes_of(at)).is_some_and(|key| key.starts_with(['"', '\'']));
        let change = self.replaced(at, if is_quoted { format!("\"{missing}\"") } else { missing.clone() });
        self.cured(&LINT, at, (wrong, Cure::meant(stray, missing)), change);
    }

    /// The sets of names to which the keys may belong: the values of fields, and lists of texts in scripts.
    fn name_sets(&self, keys: &BTreeMap<String, Location>) -> Vec<BTreeSet<String>> {
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let values = kinds.flat_map(|kind| &kind.fields).filter_map(|field| match &field.ty {
            Type::Enum(values) => Some(values),
            Type::List(element) => match &**element {
                Type::Enum(values) => Some(values),
                _ => None,
            },
            _ => None,
        });
        let of_fields = values.map(|values| values.iter().map(ToString::to_string).collect::<BTreeSet<String>>());
        let of_lists = self.known.names.lists_with(keys.keys().map(String::as_str));
        let sorts = ["card", "item", "hook", "kind"].into_iter().filter_map(|sort| self.known.names(sort));
        let mut sets: Vec<BTreeSet<String>> = of_fields.chain(sorts.map(|names| names.into_iter().collect())).collect();
        sets.extend(of_lists.cloned());
        sets.retain(|names| names.len() == keys.len() && self.known.may_compare(1));
        sets
    }
}

impl ScriptReader<'_> {
    /// Notes that a table is read by an expression.
    pub(crate) fn read_by_value(&mut self, table: Expression<'_>, index: Expression<'_>) {
        let Some(id) = local_id(table).filter(|id| self.tables_of_words.0.contains_key(id)) else { return };
        let words = self.words_of_value(index);
        let Some(known) = self.tables_of_words.0.get_mut(&id) else { return };
        if known.read_at.insert(table.location().begin) {
            known.is_open |= words.is_none() || known.words.is_some() && known.words != words;
            known.words = words;
        }
    }

    /// Reports keys of tables under which nothing is read: the file reads the table only by a value that has other words.
    pub(crate) fn keys_that_are_no_words(&mut self) {
        for (_, table) in std::mem::take(&mut self.tables_of_words.0) {
            let Some(DeclaredWords { of, words }) = table.words.filter(|_| !table.is_open) else { continue };
            if table.uses != table.read_at.len() || self.is_spec() {
                continue;
            }
            let has_key = |word: &str| table.keys.iter().any(|(key, _)| key == word);
            let missing: Vec<&str> = words.iter().map(String::as_str).filter(|word| !has_key(word)).collect();
            let strays: Vec<_> = table.keys.iter().filter(|(key, _)| !words.contains(key)).collect();
            if missing.is_empty() || strays.len() == table.keys.len() {
                continue;
            }
            for (key, at) in &strays {
                let cure = match missing.as_slice() {
                    [only] if strays.len() == 1 => Cure::meant(key.as_str(), *only),
                    _ => instead(key, missing.iter().copied()),
                };
                let wrong = format!("{of} is never `{key}`, and this table has no `{}`", missing.join("`, `"));
                self.problem(&LINT, *at, (wrong, cure));
            }
        }
    }
}

/// The only key that is none of some names, and the only name without a key.
fn stray_of(keys: &BTreeMap<String, Location>, names: &BTreeSet<String>) -> Option<(String, String)> {
    let mut strays = keys.keys().filter(|key| !names.contains(*key));
    let (stray, None) = (strays.next()?, strays.next()) else { return None };
    let missing = names.iter().find(|name| !keys.contains_key(*name))?;
    let right = keys.len() - 1;
    let is_sure = right >= SURE || right >= 2 && (is_slip(stray, missing) || is_slip(missing, stray));
    is_sure.then(|| (stray.clone(), missing.clone()))
}
