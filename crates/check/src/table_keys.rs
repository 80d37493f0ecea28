//! Tables of a file whose keys are words, and the values by which they are read.

use std::collections::{BTreeMap, BTreeSet};

use crate::inference::words_of_value::DeclaredWords;
use crate::syntax::{is_text_map, literal, local_id};
use riskbreaker_script::syntax::{
    AstNode, AstVisitor, Expression, ExpressionKind, Location, StatementView, TableItem, TextPosition,
};

/// A local table whose keys are words.
#[derive(Default)]
pub(crate) struct TableOfWords {
    pub keys: Vec<(String, Location)>,
    /// How often the file names the variable.
    pub uses: usize,
    /// The places where it is read by an expression.
    pub read_at: BTreeSet<TextPosition>,
    /// The words that the expressions can be; `None` if one of them may be something else.
    pub words: Option<DeclaredWords>,
    /// Whether the words of its uses are not the same, or not known.
    pub is_open: bool,
}

/// The local tables of a file whose keys are words, by the numbers of their variables.
#[derive(Default)]
pub(crate) struct TablesOfWords(pub BTreeMap<u64, TableOfWords>);

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
