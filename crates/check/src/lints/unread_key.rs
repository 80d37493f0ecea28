//! No script reads a key of a scenario, a sheet or a row, and one of a similar name is read.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::{Example, Lint, Severity};
use crate::misspelling::is_slip;
use crate::reader::ScriptReader;
use crate::syntax::{constant, listed, literal, members_of, named, value_of};
use riskbreaker_ruleset::{Cure, instead, slips};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "unread-key",
    severity: Severity::Error,
    summary: "no script reads a key of a scenario, a sheet or a row, and one of a similar name is read",
    explanation: "Scenarios, files of cast/, sheets and the positions of specs are read by the scripts of the \
                  ruleset, key by key. A key that no script reads has no effect. The check reports it if a key of \
                  a similar name is read, or if one row of a list has a key that is spelt otherwise in all the \
                  other rows.",
    bad: Example::Files(&[(
        "scenarios/three.toml",
        r#"title = "Cid against Dora"
left = "Cid"
rihgt = "Dora"
"#,
    )]),
    good: Example::Files(&[(
        "scenarios/three.toml",
        r#"title = "Cid against Dora"
left = "Cid"
right = "Dora"
"#,
    )]),
};

/// The keys of a breach that `check` of the creation returns.
const BREACH: [&str; 5] = ["rule", "text", "cost", "have", "warning"];

impl ScriptReader<'_> {
    /// Reports a key of one row in a list of tables if the other rows have one of almost the same name.
    pub(crate) fn odd_key(&mut self, items: &[TableItem<'_>]) {
        let rows: Vec<BTreeMap<String, Location>> = items.iter().filter_map(keys_of).collect();
        if rows.len() < ROWS || rows.len() != items.len() {
            return;
        }
        for row in &rows {
            let times = |key: &str| rows.iter().filter(|row| row.contains_key(key)).count();
            for (key, at) in row.iter().filter(|(key, _)| times(key) == 1) {
                let others = rows.iter().flat_map(BTreeMap::keys);
                let near = others.filter(|other| is_slip(key, other) && !row.contains_key(*other));
                let Some(meant) = near.max_by_key(|other| times(other)).filter(|other| times(other) + 1 == rows.len())
                else {
                    continue;
                };
                let wrong = format!("every other row has `{meant}`, and this one `{key}`");
                self.problem(&LINT, *at, (wrong, Cure::meant(key.as_str(), meant.as_str())));
            }
        }
    }

    /// Reports a key of a table that nothing reads, if another table of the ruleset has the same keys but for one of almost the same
    /// name that is read.
    pub(crate) fn key_of_siblings(&mut self, items: &[TableItem<'_>]) {
        if self.is_spec() || self.elsewhere {
            return;
        }
        let keys: Vec<(String, Location)> = items.iter().filter_map(record_key).collect();
        if keys.len() < FEWEST_KEYS || keys.len() != items.len() {
            return;
        }
        let all: BTreeSet<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
        for (key, at) in &keys {
            if self.known.names.is_read(key) {
                continue;
            }
            let others: BTreeSet<&str> = all.iter().copied().filter(|other| other != key).collect();
            if let Some(meant) = self.known.names.key_of_similar_table(key, &others).map(str::to_owned) {
                let wrong = format!("nothing reads `{key}`, and a table with the same other keys has `{meant}`");
                self.problem(&LINT, *at, (wrong, Cure::meant(key.as_str(), meant)));
            }
        }
    }

    /// Reports a key in a row of `rb.cases` that the function of the cases does not read, if it reads one of a similar name
    /// which the row lacks.
    pub(crate) fn rows_of_cases(&mut self, args: &[Expression<'_>]) {
        let function = args.iter().find_map(|arg| match arg.kind() {
            ExpressionKind::FunctionLiteral(function) => Some(function),
            _ => None,
        });
        let Some((function, case)) = function.and_then(|function| Some((function, function.args.get(1)?))) else {
            return;
        };
        let read = members_of(function, case.id);
        let rows = args.iter().flat_map(|arg| listed(*arg)).flat_map(|row| named(row).map(|(key, ..)| key));
        self.row = Some((case.id, rows.collect(), read.clone()));
        let written = args.iter().flat_map(|arg| listed(*arg)).flat_map(named);
        self.row_values =
            written.filter_map(|(key, _, value)| Some((key, constant(value)?, value.location()))).collect();
        let title = args.first().and_then(|title| literal(*title)).unwrap_or_default();
        let is_read = |key: &str| read.contains(key) || title.contains(&format!("{{{key}}}"));
        self.names_no_key_of_a_row(args);
        let mut found = Vec::new();
        for row in args.iter().flat_map(|arg| listed(*arg)) {
            let keys: Vec<(String, Location)> = named(row).map(|(key, at, _)| (key, at)).collect();
            let is_missing = |other: &&String| !keys.iter().any(|(key, _)| key == *other);
            let unread: Vec<&(String, Location)> = keys.iter().filter(|(key, _)| !is_read(key)).collect();
            let missing: Vec<&String> = read.iter().filter(is_missing).collect();
            // One name was renamed in all rows but this one.
            if let ([(key, at)], [meant]) = (unread.as_slice(), missing.as_slice()) {
                found.push((*at, key.clone(), (*meant).clone()));
                continue;
            }
            for (key, at) in unread {
                let near = missing.iter().filter(|other| slips(key, other, 2).is_some());
                if let Some(meant) = near.min_by_key(|other| slips(key, other, 2)) {
                    found.push((*at, key.clone(), (*meant).clone()));
                }
            }
        }
        for (at, key, meant) in found {
            let wrong = format!("nothing reads `{key}`, and the row has no `{meant}`");
            self.problem(&LINT, at, (wrong, Cure::meant(key, meant)));
        }
    }

    /// Reports a key of a breach that the host does not read.
    pub(crate) fn key_of_a_breach(&mut self, items: &[TableItem<'_>]) {
        let is_breach = ["rule", "text"].into_iter().all(|key| value_of(items, key).is_some());
        if self.path != "creation.luau" || !is_breach {
            return;
        }
        for item in items {
            let TableItem::Record { key, .. } = item else { continue };
            let Some(name) = literal(*key).filter(|name| !BREACH.contains(&&**name)) else { continue };
            let mistake = (format!("a breach has no `{name}`"), instead(&name, BREACH));
            self.problem(&LINT, key.location(), mistake);
        }
    }

    /// Reports a name in braces in the title of cases that no row has, if a row has a similar key that the title lacks.
    fn names_no_key_of_a_row(&mut self, args: &[Expression<'_>]) {
        let Some((title, at)) = args.first().and_then(|title| Some((literal(*title)?, title.location()))) else {
            return;
        };
        let keys: BTreeSet<String> =
            args.iter().flat_map(|arg| listed(*arg)).flat_map(|row| named(row).map(|(key, ..)| key)).collect();
        let names = title.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
        let is_named = |key: &str| title.contains(&format!("{{{key}}}"));
        for name in names.filter(|name| !name.is_empty() && !keys.contains(*name)) {
            if let Some(meant) = self.known.nearest(name, keys.iter().map(String::as_str).filter(|key| !is_named(key)))
            {
                let wrong = format!("no row has `{name}`, which the title names");
                self.problem(&LINT, at, (wrong, Cure::meant(name, meant)));
            }
        }
    }

    /// Reports keys of a position that no script reads.
    pub(crate) fn position(&mut self, arg: Option<&Expression<'_>>) {
        for (name, at, _) in arg.into_iter().flat_map(|arg| named(*arg)) {
            if !self.known.names.is_read(&name)
                && !self.known.stack.seats().contains_key(&name)
                && let Some(near) = self.known.names.meant(&name)
            {
                self.problem(&LINT, at, (format!("nothing reads `{name}`"), Cure::meant(name.as_str(), near)));
            }
        }
    }

    /// Reports a name in a sheet that nothing reads.
    pub(crate) fn unread_name_of_a_sheet(&mut self, key: &str, at: Location) {
        if !self.known.names.is_read(key)
            && let Some(near) = self.known.names.meant(key)
        {
            self.problem(&LINT, at, (format!("nothing reads `{key}`"), Cure::meant(key, near)));
        }
    }
}

/// The fewest rows of a list whose keys are compared.
const ROWS: usize = 3;
/// The fewest keys of a table that is compared with other tables.
const FEWEST_KEYS: usize = 2;

/// The key of an item with a name.
fn record_key(item: &TableItem<'_>) -> Option<(String, Location)> {
    match item {
        TableItem::Record { key, .. } => Some((literal(*key)?, key.location())),
        _ => None,
    }
}

/// Returns the keys of a table in a list, with their positions.
fn keys_of(item: &TableItem<'_>) -> Option<BTreeMap<String, Location>> {
    let TableItem::List { value } = item else { return None };
    let ExpressionKind::Table { .. } = value.kind() else { return None };
    Some(named(*value).map(|(key, at, _)| (key, at)).collect())
}
