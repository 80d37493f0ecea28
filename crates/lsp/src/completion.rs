use std::collections::BTreeMap;

use gen_lsp_types::{CompletionItem, CompletionItemKind, Documentation};

use super::lookup::FileLookup;
use super::target::code;
use super::token::{Token, TokenKind};
use riskbreaker_script::{api, luau_type};

/// What can be written at a byte of a file.
pub(super) fn completions(lookup: &FileLookup<'_>, text: &str, at: usize) -> Vec<CompletionItem> {
    let inside = &lookup.place.inside;
    let mut found = FoundItems::default();
    if inside.ends_with(".luau") || inside.ends_with(".lua") {
        of_script(lookup, text, at, &mut found);
    } else if inside.ends_with(".toml") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        if line.matches('"').count() % 2 == 1 {
            names(lookup, &SORTS, &mut found);
        } else if !line.contains('=') {
            fields(lookup, &mut found);
        }
    }
    found.0.into_values().collect()
}

/// By their labels, each once.
#[derive(Default)]
struct FoundItems(BTreeMap<String, CompletionItem>);

impl FoundItems {
    fn add(&mut self, label: &str, kind: CompletionItemKind, detail: impl Into<String>, text: &str) {
        self.0.entry(label.to_owned()).or_insert_with(|| CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: Some(detail.into()),
            documentation: (!text.is_empty()).then(|| Documentation::String(text.to_owned())),
            ..CompletionItem::default()
        });
    }
}

/// Sorts of names that stand in quotes.
const SORTS: [&str; 9] = ["kind", "card", "hook", "entry", "field", "cast", "scenario", "switch", "free act"];

fn of_script(lookup: &FileLookup<'_>, text: &str, at: usize, found: &mut FoundItems) {
    let tokens: Vec<Token> = code(text).into_iter().take_while(|token| token.begin < at).collect();
    let Some(last) = tokens.last() else { return };
    if last.kind == TokenKind::Text && at <= last.inner(text).end && at > last.begin {
        return in_quotes(lookup, text, &tokens, found);
    }
    // The word that is being typed does not count.
    let count = tokens.len() - usize::from(last.kind == TokenKind::Name && last.end >= at);
    let word = |back: usize| count.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    let inside = &lookup.place.inside;
    match (word(4), word(3), word(2), word(1)) {
        ("rb", ".", "act", ".") => verbs(lookup, found),
        ("rb", ".", "switches", ".") => {
            for switch in lookup.books().flat_map(|book| book.switches()) {
                found.add(&switch.name, CompletionItemKind::Constant, "switch", &switch.text);
            }
        }
        (_, _, "rb", ".") => {
            for known in api::WORDS {
                found.add(known.name, CompletionItemKind::Function, known.usage, known.text);
            }
        }
        (_, _, "t", ":") if lookup.place.inside.starts_with("specs/") => {
            for method in api::SPEC_METHODS {
                found.add(method.name, CompletionItemKind::Method, method.usage, method.text);
            }
        }
        (_, _, library, ".") if api::library(library).is_some() => {
            for name in api::library(library).unwrap_or_default() {
                found.add(name, CompletionItemKind::Function, library, "");
            }
        }
        (_, _, _, ":") => {
            api::ENTITY_METHODS.iter().for_each(|name| found.add(name, CompletionItemKind::Method, "every entity", ""));
            derived(lookup, found);
        }
        (_, _, "ctx", ".") if lookup.books().any(|book| !book.context().is_empty()) => {
            for param in lookup.books().flat_map(|book| book.context()) {
                found.add(&param.name, CompletionItemKind::Field, format!("ctx: {}", param.ty), &param.text);
            }
        }
        ("holder", ".", "data", ".") => {
            for param in lookup.books().filter_map(|book| book.hook_data(stem_of(inside))).flatten() {
                found.add(&param.name, CompletionItemKind::Field, format!("data: {}", param.ty), &param.text);
            }
        }
        (_, _, _, ".") => fields(lookup, found),
        _ => {}
    }
}

/// The name of a file without its folder and its ending.
fn stem_of(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file)
}

/// Names in quotes: those that the call before them takes, else all that can stand in quotes.
fn in_quotes(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) {
    let word =
        |back: usize| tokens.len().checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    // The text itself is the last word.
    let (callee, before) = (word(3), word(2));
    if before == "(" || before == "require" {
        match (word(4), callee) {
            (_, "require") => {
                found.add("@riskbreaker", CompletionItemKind::Module, "the vocabulary", "");
                for path in lookup.required() {
                    found.add(&path, CompletionItemKind::File, "file", "");
                }
                return;
            }
            (":", "set" | "add" | "shift") => return fields(lookup, found),
            (".", "each" | "first" | "spawn" | "ref" | "relate" | "unrelate" | "related" | "relating" | "relation") => {
                return names(lookup, &["kind"], found);
            }
            (".", "card") => return names(lookup, &["card"], found),
            (".", "attach" | "item_of") => return names(lookup, &["hook"], found),
            (".", "schedule" | "recur") => return names(lookup, &["entry"], found),
            (":", "switch") => return names(lookup, &["switch"], found),
            _ => {}
        }
    }
    match (callee, before) {
        ("topic", "=") => {
            for topic in lookup.books().flat_map(|book| book.topics()) {
                found.add(&topic, CompletionItemKind::Value, "topic", "");
            }
            return;
        }
        ("seat", "=") => {
            for (seat, title) in lookup.books().flat_map(|book| book.seats()) {
                found.add(seat, CompletionItemKind::Value, "seat", title);
            }
            return;
        }
        _ => {}
    }
    if is_among_rules(text, tokens) {
        for id in lookup.rule_ids() {
            found.add(&id, CompletionItemKind::Reference, "rule", "");
        }
        return;
    }
    names(lookup, &SORTS, found);
}

/// Whether the last word stands in `rules = { ... }`.
fn is_among_rules(text: &str, tokens: &[Token]) -> bool {
    let mut back =
        tokens.iter().rev().skip(1).skip_while(|token| token.kind == TokenKind::Text || token.text(text) == ",");
    let mut next = || back.next().map_or("", |token| token.text(text));
    (next(), next(), next()) == ("{", "=", "rules")
}

fn names(lookup: &FileLookup<'_>, sorts: &[&str], found: &mut FoundItems) {
    for book in lookup.books() {
        for sort in sorts {
            for name in book.names_of(sort).unwrap_or_default() {
                let card = book.cards().iter().chain(book.items()).find(|card| *card.id == *name);
                found.add(name, CompletionItemKind::Value, *sort, card.map_or("", |card| &*card.text));
            }
        }
    }
}

fn verbs(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for book in lookup.books() {
        for verb in book.verbs() {
            found.add(&verb.name, CompletionItemKind::Function, format!("rb.act.{}", verb.signature()), &verb.text);
        }
    }
}

fn fields(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
        for field in &kind.fields {
            found.add(&field.name, CompletionItemKind::Field, format!("{}: {}", kind.name, luau_type(&field.ty)), "");
        }
    }
}

fn derived(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for kind in lookup.books().flat_map(|book| &book.schema().kinds) {
        for name in &kind.derived {
            found.add(name, CompletionItemKind::Method, format!("derived value of {}", kind.name), "");
        }
    }
}
