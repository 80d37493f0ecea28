//! The answers of choices.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::syntax::{literal, value_of};
use riskbreaker_script::syntax::{Expression, ExpressionKind, TableItem};

impl Inference<'_> {
    /// Returns the ids that a choice can yield; `None` unless all its options are literals and yield their ids.
    pub(crate) fn chosen_ids(&self, choice: Expression<'_>) -> Option<Vec<String>> {
        let ExpressionKind::Call { func, args, .. } = choice.kind() else { return None };
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let [table] = args else { return None };
        let ExpressionKind::Table { items } = table.kind() else { return None };
        if index != "choose" || self.symbol(expr) != Some(Symbol::Vocabulary) {
            return None;
        }
        if value_of(items, "other").is_some() || value_of(items, "more").is_some() {
            return None;
        }
        let ExpressionKind::Table { items } = value_of(items, "options")?.kind() else { return None };
        let ids = items.iter().map(|item| match item {
            TableItem::List { value: option } => match option.kind() {
                ExpressionKind::Table { items } if value_of(items, "value").is_none() => {
                    literal(value_of(items, "id")?)
                }
                _ => literal(*option),
            },
            _ => None,
        });
        ids.collect()
    }
}
