//! Descriptions of names and values for a hover, in Markdown.

use super::call_help::method_of_entities;
use super::target::NameSense;
use riskbreaker_check::Members;
use riskbreaker_ruleset::{Fact, Param, Rulebook, Switch, SwitchKind, Verb};
use riskbreaker_script::luau_type;
use riskbreaker_state::{Field, Type, Value};

/// Describes everything that a ruleset declares under a name, a paragraph each. `derived`: what a derived value of that
/// name is, if that is known.
pub(super) fn described(book: &Rulebook, name: &str, sense: NameSense, derived: Option<&str>) -> Vec<String> {
    let verb = || book.verb(name).map(verb_description);
    let context = || {
        let param = book.context().iter().find(|param| param.name == name)?;
        Some(format!("in `ctx` of a card\n\n{}", param_description(param)))
    };
    let switch = || book.switch(name).map(switch_description);
    let by_place = match sense {
        NameSense::Any => None,
        NameSense::Verb => verb(),
        NameSense::Context => context(),
        NameSense::Switch => switch(),
        NameSense::Fact => return facts_described(book, name),
    };
    if let Some(told) = by_place {
        return vec![told];
    }
    let mut told = Vec::new();
    for (sort, cards) in [("card", book.cards()), ("item", book.items())] {
        if let Some(card) = cards.iter().find(|card| *card.id == *name) {
            let rules = if card.rules.is_empty() { String::new() } else { format!("\n\n{}", card.rules.join(", ")) };
            told.push(format!("**{}** ({sort} `{name}`)\n\n{}{rules}", card.title, card.text));
        }
    }
    for kind in &book.schema().kinds {
        if *kind.name == *name {
            let fields: Vec<String> =
                kind.fields.iter().map(|field| format!("{}: {}", field.name, luau_type(&field.ty))).collect();
            told.push(format!("kind `{name}`\n```luau\n{{ {} }}\n```", fields.join(", ")));
        }
        if let Some(field) = kind.fields.iter().find(|field| *field.name == *name) {
            let label = if field.label == field.name { String::new() } else { format!(", {}", field.label) };
            let bounds = field_bounds(field);
            let ty = luau_type(&field.ty);
            told.push(format!("field of `{}`{label}\n```luau\n{name}: {ty}\n```{bounds}", kind.name));
        }
        if kind.has_derived(name) {
            let ty = derived.map_or(String::new(), |ty| format!(": {ty}"));
            told.push(format!("derived value of `{}`{ty}", kind.name));
        }
    }
    told.extend(verb());
    told.extend(context());
    if let Some(param) = book.declared_topic(name) {
        told.push(format!("topic of a question\n\n{}", param_description(param)));
    }
    told.extend(switch());
    if book.hooks().iter().any(|hook| **hook == *name) {
        told.push(format!("hook `{name}`"));
    }
    if book.policies().iter().any(|policy| **policy == *name) {
        told.push(format!("policy `{name}`"));
    }
    if book.scenarios().contains_key(name) {
        told.push(format!("scenario `{name}`"));
    }
    if let Some(act) = book.free_acts().iter().find(|act| *act.name == *name) {
        told.push(format!("free act `{name}`: {}", act.title));
    }
    if let Some((usage, text)) = method_of_entities(name) {
        told.push(format!("```luau\n{usage}\n```\n{text}"));
    }
    if book.has_entry(name) {
        told.push(format!("entry of the agenda `{name}`"));
    }
    if let Some(title) = book.seats().get(name) {
        told.push(format!("seat `{name}`: {title}"));
    }
    told
}

/// Describes the bounds of a field and its default.
fn field_bounds(field: &Field) -> String {
    let mut told = Vec::new();
    if let Type::Int { min, max } = &field.ty {
        told.extend(min.map(|min| format!("at least {min}")));
        told.extend(max.map(|max| format!("at most {max}")));
    }
    if field.default != Value::None && field.default != Value::text("") {
        told.push(format!("default {}", field.default));
    }
    if told.is_empty() { String::new() } else { format!("\n{}", told.join(", ")) }
}

/// Describes a switch: its sentence, its values and its default.
fn switch_description(switch: &Switch) -> String {
    let values = match &switch.kind {
        SwitchKind::Choice { values } => values.join(", "),
        SwitchKind::Toggle => "true, false".into(),
        SwitchKind::Range { min, max } => format!("{min} to {max}"),
    };
    format!("switch `{}`\n\n{}\n\nvalues: {values}; default {}", switch.name, switch.text, switch.default)
}

/// Describes a fact of cards and of items: its declared type, and the values that it has on some of them.
fn facts_described(book: &Rulebook, name: &str) -> Vec<String> {
    let declarations = book.declarations();
    let sorts = [("cards", &declarations.card_facts, book.cards()), ("items", &declarations.item_facts, book.items())];
    let mut told = Vec::new();
    for (sort, declared, cards) in sorts {
        let declared = declared.iter().find(|(known, _)| known == name).map(|(_, ty)| ty);
        let mut values: Vec<String> = Vec::new();
        for fact in cards.iter().filter_map(|card| card.facts.get(name)) {
            let value = match fact {
                Fact::Plain(value) => format!("`{value}`"),
                Fact::Function => "computed".to_owned(),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if declared.is_none() && values.is_empty() {
            continue;
        }
        let ty = declared.map_or(String::new(), |ty| format!("\n```luau\n{name}: {ty}\n```"));
        let more = if values.len() > MOST_VALUES { ", ..." } else { "" };
        values.truncate(MOST_VALUES);
        let values = if values.is_empty() { String::new() } else { format!("\n\nvalues: {}{more}", values.join(", ")) };
        told.push(format!("fact `{name}` of {sort}{ty}{values}"));
    }
    told
}

/// The most values of a fact in its description.
const MOST_VALUES: usize = 8;

/// Describes a verb: its sentence, and each parameter.
fn verb_description(verb: &Verb) -> String {
    let mut told = format!("verb\n```luau\nrb.act.{}\n```", verb.signature());
    if !verb.text.is_empty() {
        told = format!("{told}\n{}", verb.text);
    }
    if verb.is_typed && !verb.params.is_empty() {
        let params = verb.params.iter().map(|param| format!("- {}", param_description(param)));
        told = format!("{told}\n\n{}", params.collect::<Vec<_>>().join("\n"));
    }
    told
}

/// Describes a parameter with its type and purpose: "`cause`: a text, can be left out. Why it happens."
fn param_description(param: &Param) -> String {
    let left_out = if param.optional { ", can be left out" } else { "" };
    let text = if param.text.is_empty() { String::new() } else { format!(". {}", param.text) };
    format!("`{}`: {}{left_out}{text}", param.name, param.ty)
}

/// Describes a value by what can be read off it.
pub(super) fn held(members: &Members) -> Option<String> {
    let listed = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Some(match members {
        Members::Entity(Some(kind)) => format!("a `{kind}`"),
        Members::Entity(None) => "an entity".into(),
        Members::Event(names) => format!("what the verb is given: {}", listed(names)),
        Members::Attached => "what is attached: `id`, `hook`, `owner`, `data`".into(),
        Members::Question => "the question that the policy answers".into(),
        Members::Context(names) => format!("the context of a card: {}", listed(names)),
        Members::Data(names) => format!("the data of the attachment: {}", listed(names)),
        Members::Module(names) => {
            let names: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
            format!("what the file returns: {}", listed(&names))
        }
        _ => return None,
    })
}
