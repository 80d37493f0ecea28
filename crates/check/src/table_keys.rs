//! Tables of a file whose keys are words, and the values by which they are read.

use std::collections::{BTreeMap, BTreeSet};

use crate::inference::words_of_value::DeclaredWords;
use crate::lints::stray_key::LINT;
use crate::reader::ScriptReader;
use crate::syntax::{is_text_map, literal, local_id};
use riskbreaker_ruleset::{Cure, instead};
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, Expression, ExpressionKind, Location, StatementView, TableItem, TextPosition,
};

/// A local table whose keys are words.
#[derive(Default)]
pub(crate) struct TableOfWords {
    keys: Vec<(String, Location)>,
    /// How often the file names the variable.
    uses: usize,
    /// The places where it is read by an expression.
    read_at: BTreeSet<TextPosition>,
    /// The words that the expressions can be; `None` if one of them may be something else.
    words: Option<DeclaredWords>,
    is_open: bool,
}

/// The local tables of a file whose keys are words, by the numbers of their variables.
#[derive(Default)]
pub(crate) struct TablesOfWords(BTreeMap<u64, TableOfWords>);

impl<'ast> AstVisitor<'ast> for TablesOfWords {
    fn visit_node(&mut self, node: AstNode<'ast>) -> bool {
        match node {
            AstNode::Statement(statement) => {
                if let StatementView::Local(local) = statement.view() {
                    for (binding, value) in local.bindings.iter().zip(local.values) {
                        if is_text_map(*value) {
                            self.0
                                .insert(binding.id, TableOfWords { keys: keys_of(*value), ..TableOfWords::default() });
                        }
                    }
                }
            }
            AstNode::Expression(expression) => {
                if let Some(table) = local_id(expression).and_then(|id| self.0.get_mut(&id)) {
                    table.uses += 1;
                }
            }
        }
        true
    }
}

fn keys_of(table: Expression<'_>) -> Vec<(String, Location)> {
    let ExpressionKind::Table { items } = table.kind() else { return Vec::new() };
    let keys = items.iter().filter_map(|item| match item {
        TableItem::Record { key, .. } | TableItem::General { key, .. } => Some((literal(*key)?, key.location())),
        TableItem::List { .. } => None,
    });
    keys.collect()
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
