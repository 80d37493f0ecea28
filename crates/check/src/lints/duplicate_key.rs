//! A table has a key twice.

use std::collections::BTreeSet;

use crate::lint::{Example, Lint, Severity};
use crate::syntax::{literal, number};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_script::syntax::TableItem;

pub(crate) static LINT: Lint = Lint {
    name: "duplicate-key",
    severity: Severity::Error,
    summary: "a table has a key twice",
    explanation: "The second value replaces the first. Remove one of the two, or correct its name.",
    bad: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left", name = "Dora" })"#),
    good: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left" })"#),
};

impl SyntaxLints<'_> {
    pub(crate) fn keys(&mut self, items: &[TableItem<'_>]) {
        let mut seen = BTreeSet::new();
        for item in items {
            let key = match item {
                TableItem::Record { key, .. } | TableItem::General { key, .. } => key,
                TableItem::List { .. } => continue,
            };
            let name = literal(*key).map(|key| format!("{key:?}")).or_else(|| number(*key).map(|key| key.to_string()));
            let Some(name) = name else { continue };
            if seen.contains(&name) {
                let wrong = format!("the key `{}` stands in this table twice", name.trim_matches('"'));
                self.tell(&LINT, key.location(), wrong, "one of the two keys can go, or was another meant?");
            }
            seen.insert(name);
        }
    }
}
