//! The vocabulary for authors: types for editors, and the reference page.

use std::fmt::Write as _;

use super::api::{self, WordGroup};
use super::derived_types::DerivedTypes;
use riskbreaker_ruleset::{Param, ParamType, Rulebook, SwitchKind, Verb};
use riskbreaker_state::{Field, Kind, Type};

/// Returns the Luau type of that name which all rulesets have; `None` if there is none.
pub fn common_type(name: &str) -> Option<&'static str> {
    let declared = |line: &'static str| line.strip_prefix("export type ")?.strip_prefix(name)?.strip_prefix(" = ");
    COMMON.lines().find_map(declared)
}

/// The types common to all rulesets.
pub(super) const COMMON: &str = r#"export type Declaration = { [string]: any }
export type Verb = { [string]: any }
export type FieldType = { [string]: any }
export type VerbParameters = { [any]: any } -- { text = "...", { "target", rb.ref("character") } }
export type Changed = any
export type Audience = string | { any }
export type Dice = string | { any }
export type Sum = any -- a number, or what rb.sum gives
export type Key = number | string | { number } | { number | string }
export type Place = { x: number, y: number, [string]: any }
export type FieldOptions = { default: any?, label: string?, show: (boolean | "said")?, audience: (string | { string })?, peek: boolean? }
export type BoolOptions = { default: boolean?, by_hand: boolean?, label: string?, show: (boolean | "said")?, audience: (string | { string })?, peek: boolean? }
export type IntOptions = { default: number?, min: number?, max: number?, label: string?, show: (boolean | "said")?, audience: (string | { string })?, peek: boolean? }
export type Holder = { id: number, hook: string, owner: any, data: any }
export type Card = CardFacts & { id: string, title: string, text: string?, rules: { string }?, resolve: (ctx: Context) -> (), [string]: any }
export type Item = ItemFacts & { id: string, title: string?, text: string?, rules: { string }?, [string]: any }
export type KindBody = { title: string?, fields: { [string]: any }?, derived: { [string]: any }?, sheet: ((self: any) -> { any })?, overview: ((self: any) -> { any })?, seat: string?, side: (string | { by: string, words: { [string]: string }? })?, numbers: { string | { [any]: any } }?, position: { x: string?, y: string?, h: string?, place: string?, unit: string?, per: number? }?, audience: (string | { string })?, peek: boolean?, relates: { string }?, mutual: boolean?, timed: boolean?, ended: ((self: any) -> ())? }
export type CardBody = CardFacts & { id: string, title: string?, rules: { string }?, text: string?, when: ((ctx: Context) -> ...any)?, resolve: ((ctx: Context) -> ...any)?, recap: { success: string?, failure: string? }?, [string]: any }
export type ItemBody = ItemFacts & { id: string, title: string?, rules: { string }?, text: string?, before: Hooks?, after: Hooks?, wrap: Wraps?, [string]: any }
export type HookBody = { id: string, title: string?, rules: { string }?, text: string?, priority: number?, always: boolean?, data: { [string]: any }?, before: Hooks?, after: Hooks?, wrap: Wraps? }
export type PolicyBody = { id: string, title: string?, text: string?, base: string?, answer: ((q: AskedQuestion) -> any)?, act: ((seat: string, acts: { string }) -> string?)? }
export type PlayBody = { start: ((scenario: any) -> ())?, entries: { [string]: any }?, free: { [string]: any }?, views: { [string]: any }?, boundary: string?, stands: ("nothing" | "secrets" | "dice" | "everything")?, horizon: string?, hit: string?, results: { [string]: "success" | "failure" | "other" }?, prompt: ((about: any, seat: string) -> string)?, order: ((seat: string) -> Order?)?, deal: ((seat: string) -> ())?, card: { [string]: string }?, item: { [string]: string }?, context: { [string]: any }?, topics: { [string]: any }?, [string]: any }
export type Order = { label: string?, turns: { Turn } }
export type Turn = { who: any, state: "acted" | "now" | "to_come" | "out", at: number?, note: string? }
export type CreationBody = { check: ((sheet: any) -> { any })?, build: ((sheet: any) -> (string, { [string]: any }))?, steps: (() -> { SheetStep })?, price: ((sheet: any) -> Price)?, sheet: ((entity: any) -> { [string]: any })?, position: ((sides: { Side }) -> { [string]: any })? }
export type SheetStep = { key: string, title: string?, text: string?, form: ("text" | "number" | "yes or no" | "list" | "map")?, options: { string }?, by_play: boolean? }
export type Price = { lines: { { text: string, cost: number } }, have: number? }
export type Side = { name: string, sheets: { any } }
export type Change = { from: string, version: string, switches: { [string]: any }, agenda: { AgendaEntry }, was: (entity: any) -> any, each: (kind: string) -> { any }, carried: (topic: string, text: string, ...any) -> (), defaulted: (topic: string, text: string, ...any) -> (), dormant: (topic: string, text: string, ...any) -> (), returned: (topic: string, text: string, ...any) -> (), decide: (topic: string, text: string, ...any) -> (), refused: (topic: string, text: string, ...any) -> (), breach: (rule: string, topic: string, text: string, ...any) -> (), shelve: (entity: any) -> (), keep: (entity: any, name: string, value: any) -> (), kept: (entity: any, name: string) -> any, forget: (entity: any, name: string) -> () }
export type ConversionStep = { from: string?, renamed: { [string]: string | { [string]: string } }?, dropped: { [string]: boolean | { string } }?, run: ((change: Change) -> ())? }
export type ConvertBody = ConversionStep & { id: string, title: string?, text: string?, rules: { string }?, steps: { ConversionStep }? }
export type AgendaEntry = { id: number, key: { number }, what: string, owner: any, args: any }
export type Breach = { rule: string?, text: string, cost: number?, have: number?, warning: boolean? }
export type Option = { id: string, label: string?, value: any, enabled: boolean?, reason: string?, note: string?, max: number? }
export type Question = { seat: string?, topic: Topic?, about: any, why: (string | (any) -> string)?, default: any, audience: Audience?, auto: boolean?, sealed: boolean?, propose: boolean?, peek: boolean? }
export type OptionsQuestion = Question & { options: ({ any } | (any) -> { any })?, note: ((any, any) -> string?)? }
export type ChooseQuestion = OptionsQuestion & { other: boolean?, cards: { string }?, ctx: any, more: { any }? }
export type ManyQuestion = OptionsQuestion & { min: number?, max: number? }
export type NumberQuestion = Question & { min: number?, max: number? }
export type AllotQuestion = OptionsQuestion & { total: number, least: number? }
export type LineQuestion = Question & { max: number? }
export type QuestionKind = "choose" | "choose_many" | "number" | "allot" | "confirm" | "order" | "line"
export type AskedQuestion = { kind: QuestionKind, seat: string, topic: Topic, about: any, options: { any }, cards: { string }?, ctx: any, min: number, max: number, total: number, least: number?, default: any, other: boolean?, [string]: any }
"#;

/// The module `@riskbreaker` with its types for an editor, including those of the ruleset's kinds, verbs and switches.
/// `derived`: what its derived values give.
pub fn type_module(rules: &Rulebook, derived: &DerivedTypes) -> String {
    let mut text = String::from("--!strict\n");
    let _ = writeln!(
        text,
        "-- The vocabulary with the types of {}. `riskbreaker types` writes it anew; changes are lost.\n",
        rules.id()
    );
    text.push_str(COMMON);
    let kinds = &rules.schema().kinds;
    let types: Vec<(&Kind, String)> = kinds.iter().map(|kind| (kind, type_name(&kind.name))).collect();
    for (kind, name) in &types {
        let _ = write!(text, "\n{}", kind_type(kind, name, derived));
    }
    let union = types.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(text, "\nexport type Entity = {}", if union.is_empty() { "any" } else { &union });
    let items = || rules.items().iter().map(|item| &item.id);
    let _ = writeln!(text, "export type KindName = {}", one_of(kinds.iter().map(|kind| &kind.name)));
    let _ = writeln!(text, "export type CardName = {}", one_of(rules.cards().iter().map(|card| &card.id)));
    let _ = writeln!(text, "export type ItemName = {}", one_of(items()));
    let _ = writeln!(text, "export type HookName = {}", one_of(rules.hooks().iter().chain(items())));
    let _ = writeln!(text, "export type EntryName = {}", one_of(rules.entries()));
    let topics = rules.declared_topics().iter().map(|param| &param.name);
    let _ = writeln!(text, "export type Topic = {}", one_of(topics));
    let _ = writeln!(text, "export type CardFacts = {}", facts_type(&rules.declarations().card_facts));
    let _ = writeln!(text, "export type ItemFacts = {}", facts_type(&rules.declarations().item_facts));
    let by_kind = |one: &dyn Fn(&Kind, &str) -> String| {
        let all: Vec<String> = types.iter().map(|(kind, name)| format!("({})", one(kind, name))).collect();
        if all.is_empty() { "(kind: string, ...any) -> any".to_string() } else { all.join("\n\t& ") }
    };
    let fields_of = |kind: &Kind| {
        let field = |field: &Field| format!("{}: {}", key(&field.name), optional(&luau_type(&field.ty)));
        kind.fields.iter().map(field).collect::<Vec<_>>().join(", ")
    };
    for (word, list) in [("Each", true), ("First", false)] {
        let one = |kind: &Kind, name: &str| {
            let found = if list { format!("{{ {name} }}") } else { name.to_string() };
            format!("(kind: {:?}, fields: {{ {} }}?) -> {found}", &*kind.name, fields_of(kind))
        };
        let _ = writeln!(text, "export type {word} = {}", by_kind(&one));
    }
    let spawn =
        |kind: &Kind, name: &str| format!("(kind: {:?}, fields: {{ {} }}?) -> {name}", &*kind.name, fields_of(kind));
    let _ = writeln!(text, "export type Spawn = {}", by_kind(&spawn));
    text.push_str(&context_type(rules));
    text.push_str(&verb_types(rules));
    text.push_str(&holder_types(rules));
    text.push_str("export type Switches = {\n");
    for switch in rules.switches() {
        let ty = match &switch.kind {
            SwitchKind::Choice { values } => one_of(values),
            SwitchKind::Toggle => "boolean".to_string(),
            SwitchKind::Range { .. } => "number".to_string(),
        };
        let _ = writeln!(text, "\t-- {}\n\t{}: {ty},", switch.text.replace('\n', " "), key(&switch.name));
    }
    text.push_str("}\n\nexport type Vocabulary = {\n");
    for word in api::WORDS {
        let _ = writeln!(text, "\t-- {}\n\t{}: {},", word.text, word.name, word.ty);
    }
    text.push_str("}\n\nexport type Spec = {\n");
    for method in api::SPEC_METHODS {
        let (params, result) = method.ty;
        let params = if params.is_empty() { String::new() } else { format!(", {params}") };
        let _ = writeln!(text, "\t-- {}\n\t{}: (self: Spec{params}) -> {result},", method.text, method.name);
    }
    text.push_str("}\n\nlocal rb: Vocabulary = nil :: any\nreturn rb\n");
    text
}

/// Returns the type of a table with declared facts.
fn facts_type(facts: &[(String, String)]) -> String {
    let of_one = |ty: &str| match ty {
        "number" | "string" | "boolean" => ty.to_owned(),
        "function" => "((...any) -> ...any)".to_owned(),
        "table" => "{ [any]: any }".to_owned(),
        _ => "any".to_owned(),
    };
    let fact = |(name, ty): &(String, String)| {
        let types: Vec<String> = ty.trim_end_matches('?').split('|').map(|one| of_one(one.trim())).collect();
        let ty = types.join(" | ");
        // A layer may change one fact of a card and leave the others out.
        format!("{}: {}", key(name), optional(&ty))
    };
    format!("{{ {} }}", facts.iter().map(fact).collect::<Vec<_>>().join(", "))
}

/// Returns the type of `ctx` of a card.
fn context_type(rules: &Rulebook) -> String {
    if rules.context().is_empty() {
        return "export type Context = any\n".into();
    }
    let mut text = "export type Context = {\n".to_string();
    for param in rules.context() {
        if !param.text.is_empty() {
            let _ = writeln!(text, "\t-- {}", param.text.replace('\n', " "));
        }
        let _ = writeln!(text, "\t{}: {},", key(&param.name), type_of_param(param));
    }
    text + "\t[string]: any,\n}\n"
}

/// Returns the types of the verbs, of the data of hooks at each verb, and of hooks.
fn verb_types(rules: &Rulebook) -> String {
    let mut text = String::new();
    let events: Vec<(&Verb, String)> =
        rules.verbs().iter().map(|verb| (verb, format!("{}Event", type_name(&verb.name)))).collect();
    for (verb, event) in &events {
        let params = verb.params.iter().map(|param| format!("\t{}: {},\n", key(&param.name), type_of_param(param)));
        let result = if verb.param("result").is_some() { "" } else { "\tresult: any,\n" };
        let _ = writeln!(text, "export type {event} = {{\n{}{result}}}", params.collect::<String>());
    }
    for (name, function) in [
        ("Hooks", "(e: EVENT, holder: Holder) -> ...any"),
        ("Wraps", "(e: EVENT, proceed: (e: EVENT) -> ...any, holder: Holder) -> ...any"),
    ] {
        let _ = writeln!(text, "export type {name} = {{");
        for (verb, event) in &events {
            let _ = writeln!(text, "\t{}: ({})?,", key(&verb.name), function.replace("EVENT", event));
        }
        text.push_str("}\n");
    }
    text.push_str("export type Verbs = {\n");
    for verb in rules.verbs() {
        let params: Vec<String> =
            verb.params.iter().map(|param| format!("{}: {}", param.name, type_of_param(param))).collect();
        let params = if params.is_empty() && !verb.is_typed { "...any".to_string() } else { params.join(", ") };
        if !verb.text.is_empty() {
            let _ = writeln!(text, "\t-- {}", verb.text.replace('\n', " "));
        }
        for param in verb.params.iter().filter(|param| !param.text.is_empty()) {
            let _ = writeln!(text, "\t-- {}: {}", param.name, param.text.replace('\n', " "));
        }
        let _ = writeln!(text, "\t{}: ({params}) -> ...any,", key(&verb.name));
    }
    text.push_str("}\n");
    text
}

/// Returns the types of the data of attachments, where hooks and items declare them, and of their holders: `ArmourData`
/// and `ArmourHolder` of the hook `armour`.
fn holder_types(rules: &Rulebook) -> String {
    let mut text = String::new();
    for id in rules.hooks().iter().chain(rules.items().iter().map(|item| &item.id)) {
        let Some(data) = rules.hook_data(id).filter(|data| !data.is_empty()) else { continue };
        let name = type_name(id);
        let _ = writeln!(text, "export type {name}Data = {{");
        for param in data {
            if !param.text.is_empty() {
                let _ = writeln!(text, "\t-- {}", param.text.replace('\n', " "));
            }
            let _ = writeln!(text, "\t{}: {},", key(&param.name), type_of_param(param));
        }
        let _ = writeln!(
            text,
            "}}\nexport type {name}Holder = {{ id: number, hook: string, owner: any, data: {name}Data }}"
        );
    }
    text
}

/// Returns the type of a verb's parameter in Luau.
pub fn type_of_param(param: &Param) -> String {
    let ty = type_of(&param.ty);
    if param.optional && param.ty != ParamType::Any { optional(&ty) } else { ty }
}

fn type_of(ty: &ParamType) -> String {
    match ty {
        ParamType::Any => "any".into(),
        ParamType::Value(ty) => luau_type(ty),
        ParamType::OneOf(types) => types.iter().map(type_of).collect::<Vec<_>>().join(" | "),
        ParamType::Record(names) if names.is_empty() => "{ [any]: any }".into(),
        ParamType::Record(names) => {
            let names = names.iter().map(|param| format!("{}: {}", key(&param.name), type_of_param(param)));
            format!("{{ {} }}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

fn kind_type(kind: &Kind, name: &str, types: &DerivedTypes) -> String {
    let mut text = format!("export type {name} = {{\n\tid: number,\n\tkind: string,\n");
    for field in &kind.fields {
        let _ = writeln!(text, "\t{}: {},", key(&field.name), luau_type(&field.ty));
    }
    for derived in &kind.derived {
        let gives = types.get(&**derived).map_or("any", |ty| ty.luau());
        let _ = writeln!(text, "\t{}: (self: {name}, ...any) -> {gives},", key(derived));
    }
    let all = one_of(kind.fields.iter().map(|field| &field.name));
    let numbers = kind.fields.iter().filter(|field| matches!(field.ty, Type::Int { .. }));
    let numbers = one_of(numbers.map(|field| &field.name));
    let _ = writeln!(text, "\tset: (self: {name}, field: {all}, value: any, why: string?) -> (),");
    let _ = writeln!(text, "\tadd: (self: {name}, field: {numbers}, n: number, why: string?) -> number,");
    let _ = writeln!(text, "\tshift: (self: {name}, field: {numbers}, n: number, why: string?) -> (),");
    let _ = writeln!(text, "\treaches: (self: {name}, field: {numbers}, least: number) -> boolean,");
    let _ = writeln!(text, "\texists: (self: {name}) -> boolean,\n}}");
    text
}

/// The type of a text that is one of these; of any text if the list is empty.
fn one_of<N: std::fmt::Debug>(names: impl IntoIterator<Item = N>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("{name:?}")).collect();
    if names.is_empty() { "string".into() } else { names.join(" | ") }
}

/// The Luau type of a field.
pub fn luau_type(ty: &Type) -> String {
    match ty {
        Type::Int { .. } => "number".into(),
        Type::Bool => "boolean".into(),
        Type::Text => "string".into(),
        Type::Enum(values) => one_of(values),
        // An empty reference is nil, but its type is not optional: the script must know that it is set.
        Type::Ref(Some(kind)) => type_name(kind),
        Type::Ref(None) => "any".into(),
        Type::Ratio => "{ number }".into(),
        Type::List(element) => format!("{{ {} }}", luau_type(element)),
        Type::Map(element) => format!("{{ [string]: {} }}", luau_type(element)),
    }
}

fn optional(ty: &str) -> String {
    if ty.contains('|') { format!("({ty})?") } else { format!("{ty}?") }
}

/// Converts a name to a type name: `fight_side` to `FightSide`. A name of a common type gets an ending.
fn type_name(kind: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    let name: String = kind.split(|c: char| !c.is_ascii_alphanumeric()).map(word).collect();
    let own = [
        "Entity",
        "Each",
        "First",
        "Spawn",
        "Verbs",
        "Hooks",
        "Wraps",
        "Context",
        "Switches",
        "Vocabulary",
        "Spec",
        "Topic",
        "CardFacts",
        "ItemFacts",
    ];
    let reserved = own.contains(&&*name) || ["Name", "Event", "Data", "Holder"].iter().any(|end| name.ends_with(end));
    let taken = COMMON.contains(&format!("export type {name} ")) || reserved;
    if taken || name.starts_with(|c: char| c.is_ascii_digit()) { format!("{name}Entity") } else { name }
}

const KEYWORDS: &[&str] = &[
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
    "repeat", "return", "then", "true", "until", "while",
];

/// Formats a key of a table type.
fn key(name: &str) -> String {
    if is_luau_name(name) { name.to_string() } else { format!("[{name:?}]") }
}

/// True for a Luau identifier, usable after a dot and as a parameter name.
pub(super) fn is_luau_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&name)
}

/// The reference page of the vocabulary, in Markdown.
pub fn reference_page() -> String {
    let mut text = String::from(
        "# Reference of the vocabulary\n\nEvery word of `local rb = require(\"@riskbreaker\")`. This page is made from the table that the\n\
         types and the check are made from (`riskbreaker types --reference`); [Writing rules in\n\
         Luau](scripting.md) explains how the words go together. A word marked * does something, and is a\n\
         fault where a rule may only read.\n",
    );
    for (group, title) in WordGroup::ALL {
        let _ = write!(text, "\n## {title}\n\n| word | does |\n|---|---|\n");
        for word in api::WORDS.iter().filter(|word| word.group == group) {
            let mark = if word.acts { " *" } else { "" };
            let _ =
                writeln!(text, "| `{}`{mark} | {} |", word.usage.replace('|', "\\|"), word.text.replace('|', "\\|"));
        }
    }
    text.push_str("\n## Fields of questions\n\n");
    let list = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let common: Vec<&str> = api::QUESTION_FIELDS.iter().copied().filter(|name| *name != "ask").collect();
    let _ = writeln!(
        text,
        "Every question takes the fields below; in `rb.all` also `ask`.\n\n{}\n\nBesides:\n\n| question | fields |\n|---|---|",
        wrapped(&list(&common), "")
    );
    for (ask, own) in api::QUESTIONS {
        let _ = writeln!(text, "| `rb.{ask}` | {} |", if own.is_empty() { "none".to_string() } else { list(own) });
    }
    text.push_str("\n## Entities\n\n`e.id`, `e.kind`, every field of its kind, `e:set(field, value)`, `e:add(field, n)`,\n`e:shift(field, n)`, `e:reaches(field, n)`, `e:exists()`, and every derived value of its kind as\na method.\n");
    text.push_str("\n## What a spec can do\n\n| method | does |\n|---|---|\n");
    for method in api::SPEC_METHODS {
        let _ = writeln!(text, "| `{}` | {} |", method.usage, method.text);
    }
    text.push_str("\n## What else a file may use\n\n");
    let libraries: Vec<String> = api::globals()
        .map(|name| match api::library(name) {
            Some(names) => wrapped(&format!("- `{name}`: {}", list(names)), "  "),
            None => format!("- `{name}`"),
        })
        .collect();
    text.push_str(&libraries.join("\n"));
    text.push_str("\n\nWhat other Lua has and this has not:\n\n| word | instead |\n|---|---|\n");
    for (name, cure) in api::NOT_HERE {
        let _ = writeln!(text, "| `{name}` | {cure} |");
    }
    text
}

/// Wraps a paragraph at 100 columns; all lines but the first begin with `indent`.
pub(super) fn wrapped(text: &str, indent: &str) -> String {
    let options = textwrap::Options::new(100).subsequent_indent(indent).break_words(false);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_play::Ruleset;

    #[test]
    fn the_reference_page_is_that_of_the_table() {
        let page = include_str!("../../../docs/reference.md").replace("\r\n", "\n");
        assert!(
            page == reference_page(),
            "docs/reference.md is old: `riskbreaker types --reference > docs/reference.md`"
        );
    }

    #[test]
    fn names_of_types_do_not_clash() {
        assert_eq!(type_name("fight_side"), "FightSide");
        assert_eq!(type_name("item"), "ItemEntity");
        assert_eq!(type_name("entity"), "EntityEntity");
        assert_eq!(key("end"), "[\"end\"]");
        assert_eq!(key("wit"), "wit");
    }

    #[cfg(feature = "check")]
    #[test]
    fn the_module_reads_as_luau() {
        use super::super::syntax;
        let rulesets = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rulesets");
        let library = riskbreaker_ruleset::Library::open(rulesets).unwrap();
        for id in library.ids().iter().flat_map(|id| library.ways_to_play(id)) {
            let rules = Ruleset::load(&library, &id).unwrap();
            let text = type_module(&rules, &DerivedTypes::new());
            if let Err(error) = syntax::parse(&syntax::Arena::new(), &text) {
                panic!("{id}: {} at {:?}\n{text}", error.message, error.location);
            }
        }
    }
}
