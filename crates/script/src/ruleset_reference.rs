//! The reference page of a ruleset: its declarations, for authors of cards and house rules.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::derived_types::DerivedTypes;
use super::types::wrapped;
use riskbreaker_ruleset::{Param, ParamType, Rulebook, Switch, Verb};
use riskbreaker_state::{Kind, Value};

/// Returns the reference of a ruleset in Markdown: its kinds with their fields, its verbs with their parameters, its
/// house rules, and the names that cards, questions and the agenda use. `derived`: what its derived values give.
pub fn ruleset_reference(rules: &Rulebook, derived: &DerivedTypes) -> String {
    let mut text = format!("# Reference of {}\n\n", rules.id());
    let about = format!(
        "What the files of `{}` declare, for cards and house rules. `riskbreaker reference {}` prints this page; \
         the words of `rb` are in the [reference of the vocabulary](../reference.md).",
        rules.id(),
        rules.id()
    );
    let _ = writeln!(text, "{}", wrapped(&about, ""));
    text.push_str("\n## Verbs\n");
    for verb in rules.verbs() {
        text.push_str(&verb_section(verb));
    }
    text.push_str(&named_section("`ctx` of a card", rules.context()));
    text.push_str(&named_section("Topics of questions", rules.declared_topics()));
    for hook in rules.hooks().iter().chain(rules.items().iter().map(|item| &item.id)) {
        let data = rules.hook_data(hook).unwrap_or_default();
        text.push_str(&named_section(&format!("Data of `{hook}`"), data));
    }
    text.push_str("\n## Kinds\n");
    for kind in &rules.schema().kinds {
        text.push_str(&kind_section(kind, derived));
    }
    text.push_str(&switch_section(rules));
    for (title, about, names) in name_lists(rules) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(text, "\n## {title}\n\n{}\n", wrapped(&format!("{about}: {}", names.join(", ")), ""));
        }
    }
    text
}

fn verb_section(verb: &Verb) -> String {
    let mut text = format!("\n### `{}`\n\n", verb.signature());
    if !verb.text.is_empty() {
        let _ = writeln!(text, "{}\n", wrapped(&verb.text, ""));
    }
    if verb.is_typed && !verb.params.is_empty() {
        text.push_str("| parameter | takes | |\n|---|---|---|\n");
        verb.params.iter().for_each(|param| param_rows(param, "", &mut text));
        text.push('\n');
    }
    let _ = writeln!(text, "In `{}`.", verb.origin);
    text
}

/// Formats a section of names with their types; empty if there are none.
fn named_section(title: &str, names: &[Param]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## {title}\n\n| name | holds | |\n|---|---|---|\n");
    names.iter().for_each(|param| param_rows(param, "", &mut text));
    text
}

/// Adds the row of a parameter, and rows for the names of a record.
fn param_rows(param: &Param, around: &str, text: &mut String) {
    let name = format!("{around}{}", param.name);
    let optional = if param.optional { "; can be left out" } else { "" };
    let _ = writeln!(text, "| `{name}` | {}{optional} | {} |", cell(&param.ty.to_string()), cell(&param.text));
    if let ParamType::Record(names) = &param.ty {
        names.iter().for_each(|inner| param_rows(inner, &format!("{name}."), text));
    }
}

fn kind_section(kind: &Kind, types: &DerivedTypes) -> String {
    let mut text = format!("\n### `{}`\n\n", kind.name);
    if !kind.fields.is_empty() {
        text.push_str("| field | holds | at first | called |\n|---|---|---|---|\n");
    }
    for field in &kind.fields {
        let holds = cell(&ParamType::Value(field.ty.clone()).to_string());
        let label = if field.show { cell(&field.label) } else { String::new() };
        let _ = writeln!(text, "| `{}` | {holds} | {} | {label} |", field.name, first_value(&field.default));
    }
    if !kind.derived.is_empty() {
        let called = |(name, takes): (&std::sync::Arc<str>, &Option<u8>)| match takes {
            Some(0) => format!("`{name}()`"),
            _ => format!("`{name}(...)`"),
        };
        text.push_str("\n| derived value | gives |\n|---|---|\n");
        for derived in kind.derived.iter().zip(&kind.derived_takes) {
            let gives = types.get(&**derived.0).map_or(String::new(), |ty| ty.words());
            let _ = writeln!(text, "| {} | {gives} |", called(derived));
        }
    }
    text
}

/// Formats the default of a field; empty if it is the usual one of its type.
fn first_value(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Text(text) if !text.is_empty() => format!("`{}`", cell(text)),
        _ => String::new(),
    }
}

fn switch_section(rules: &Rulebook) -> String {
    let switches: Vec<&Switch> = rules.switches().collect();
    if switches.is_empty() {
        return String::new();
    }
    let mut text = "\n## House rules\n\nThe values stand in `rb.switches`; the first is the default.\n\n| switch | values | decides |\n|---|---|---|\n".to_string();
    for switch in switches {
        let values = switch.kind.to_string();
        let _ = writeln!(text, "| `{}` | {} | {} |", switch.name, cell(&values), cell(&switch.text));
    }
    text
}

/// Lists the names that scripts write as texts, in groups.
fn name_lists(rules: &Rulebook) -> Vec<(&'static str, &'static str, BTreeSet<String>)> {
    let cards = || rules.cards().iter().chain(rules.items());
    let texts = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect::<BTreeSet<String>>();
    vec![
        ("Cards", "`rb.cards`", texts(&mut rules.cards().iter().map(|card| &*card.id))),
        ("Items", "`rb.items`", texts(&mut rules.items().iter().map(|item| &*item.id))),
        (
            "Facts of cards and items",
            "`rb.fact(card, NAME, ctx)`",
            texts(&mut cards().flat_map(|card| card.facts.keys().map(|name| &**name))),
        ),
        ("Hooks", "`rb.attach(NAME, owner)`", texts(&mut rules.hooks().iter().map(|hook| &**hook))),
        ("Questions", "`topic` of a question", rules.topics()),
        ("Entries of the agenda", "`rb.schedule(NAME, key)`", texts(&mut rules.entries())),
        ("Policies", "Who answers for a seat", texts(&mut rules.policies().iter().map(|policy| &**policy))),
    ]
}

/// Escapes a text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
