//! The completions at one place.

use std::collections::BTreeMap;

use gen_lsp_types::{CompletionItem, CompletionItemKind, Documentation};

/// Completions by label, each once.
#[derive(Default)]
pub(super) struct FoundItems(BTreeMap<String, CompletionItem>);

impl FoundItems {
    pub fn add(&mut self, label: &str, kind: CompletionItemKind, detail: impl Into<String>, text: &str) {
        self.0.entry(label.to_owned()).or_insert_with(|| CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: Some(detail.into()),
            documentation: (!text.is_empty()).then(|| Documentation::String(text.to_owned())),
            ..CompletionItem::default()
        });
    }

    /// Removes the completions that are among some names.
    pub fn leave_out(&mut self, names: &[&str]) {
        self.0.retain(|label, _| !names.contains(&label.as_str()));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_items(self) -> Vec<CompletionItem> {
        self.0.into_values().collect()
    }
}
