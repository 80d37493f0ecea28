//! Expectations of a spec about refusals: a part of the text, or kind, rule and further fields.

use serde_json::{Map, Value as Json, to_value};

use super::checked_step::{CheckedStep, some_reason, words, wrong};
use super::coverage::is_id;
use super::events::says;
use riskbreaker_play::Refusal;
use riskbreaker_ruleset::instead;
use riskbreaker_state::Value;

/// The kinds of refusals, as `kind` in JSON, with the fields of each.
pub const KINDS: &[(&str, &[&str])] = &[
    ("stale", &["question"]),
    ("not_asked", &["topic", "asked"]),
    ("not_an_option", &["topic", "given", "near", "open"]),
    ("ambiguous", &["topic", "given", "candidates"]),
    ("greyed", &["label", "reason"]),
    ("twice", &["label"]),
    ("out_of_bounds", &["bound", "given", "min", "max"]),
    ("wrong_type", &["topic", "wanted", "given"]),
    ("control_character", &[]),
    ("only_answer", &["topic", "answer"]),
    ("against_rules", &["topic", "reason"]),
    ("unknown_name", &["sentence", "given", "near", "known"]),
    ("not_your_seat", &["seat", "acting"]),
    ("stands", &["acting", "since"]),
    ("nothing_to_undo", &[]),
    ("nothing_to_redo", &["diverged"]),
    ("over", &[]),
    ("no_fault", &[]),
    ("no_entity", &["entity"]),
    ("bad_value", &["field", "problem"]),
    ("bad_switch_value", &["switch", "given", "allowed", "nearest"]),
    ("invalid", &["message"]),
    ("failed", &["message"]),
];

/// Fields whose texts come from a ruleset.
const OF_RULES: &[&str] =
    &["label", "labels", "reason", "topic", "asked", "open", "candidates", "answer", "near", "known", "seat", "field"];
/// Fields that a warning suggests, besides `kind` and `rule`, if the refusal has no rule.
const SUGGESTED: &[&str] = &["label", "topic", "min", "max", "answer", "seat"];

/// The expectation of a spec about a refusal.
pub(super) enum WantedRefusal {
    /// A part of its text.
    Text(String),
    /// Its kind, rule or other fields.
    Data(Vec<(String, Value)>),
}

/// The result of comparing a refusal with the expectation.
pub(super) enum Fit {
    Yes,
    /// Only the host's own wording contains the expected text. Contains the text to write instead.
    Worded(String),
    No,
}

impl WantedRefusal {
    /// Reads the argument of a method of `t`.
    ///
    /// # Errors
    ///
    /// An empty text or table, which would fit every refusal; or an unknown kind or field.
    pub fn read(value: &Value) -> CheckedStep<WantedRefusal> {
        match value {
            Value::Text(text) => {
                some_reason(text)?;
                Ok(WantedRefusal::Text(text.to_string()))
            }
            Value::Int(number) => Ok(WantedRefusal::Text(number.to_string())),
            Value::Map(fields) if !fields.is_empty() => {
                let fields: Vec<(String, Value)> =
                    fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
                known_fields(&fields)?;
                Ok(WantedRefusal::Data(fields))
            }
            other => Err(wrong(format!(
                "a refusal is expected as a part of its text, or as a table such as {{ kind = \"greyed\", rule = \
                 \"ABC-1\" }}, not as {}",
                words(other)
            ))),
        }
    }

    /// Compares a refusal.
    pub fn fits(&self, refusal: &Refusal) -> Fit {
        let Ok(Json::Object(data)) = to_value(refusal) else { return Fit::No };
        match self {
            WantedRefusal::Data(fields) => {
                let fits = fields.iter().all(|(name, wanted)| match (name.as_str(), wanted) {
                    ("rule", Value::Text(rule)) => of_rules(&data).iter().any(|text| names(text, rule)),
                    ("kind", Value::Text(kind)) => data.get("kind").is_some_and(|found| found == &**kind),
                    ("bound", Value::Map(parts)) => {
                        let found = |name: &str| data.get("bound").and_then(|bound| bound.get(name));
                        parts.iter().all(|(name, wanted)| found(name).is_some_and(|found| says(found, wanted)))
                    }
                    (name, wanted) => data.get(name).is_some_and(|found| says(found, wanted)),
                });
                if fits { Fit::Yes } else { Fit::No }
            }
            WantedRefusal::Text(text) if of_rules(&data).iter().any(|own| own.contains(&**text)) => Fit::Yes,
            WantedRefusal::Text(text) if refusal.to_string().contains(&**text) => {
                Fit::Worded(suggestion(refusal, &data))
            }
            WantedRefusal::Text(_) => Fit::No,
        }
    }

    /// Formats the expectation for a message.
    pub fn shown(&self) -> String {
        match self {
            WantedRefusal::Text(text) => format!("\"{text}\""),
            WantedRefusal::Data(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name} = {}", literal(value))).collect();
                format!("{{ {} }}", fields.join(", "))
            }
        }
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        other => words(other),
    }
}

/// Refuses fields that the kind, or every kind, lacks.
fn known_fields(fields: &[(String, Value)]) -> CheckedStep<()> {
    let kind = fields.iter().find(|(name, _)| name == "kind").map(|(_, kind)| kind);
    let known: Vec<&str> = match kind {
        Some(Value::Text(kind)) => match KINDS.iter().find(|(known, _)| **known == **kind) {
            Some((_, fields)) => fields.to_vec(),
            None => {
                let meant = instead(kind, KINDS.iter().map(|(known, _)| *known));
                return Err(wrong(format!("no refusal is of the kind `{kind}`; {meant}")));
            }
        },
        Some(other) => return Err(wrong(format!("the kind of a refusal is a text, not {}", words(other)))),
        None => KINDS.iter().flat_map(|(_, fields)| *fields).copied().collect(),
    };
    for (name, value) in fields {
        if name == "rule" && !matches!(value, Value::Text(rule) if !rule.trim().is_empty()) {
            return Err(wrong(format!("the rule of a refusal is the id of a rule, not {}", words(value))));
        }
        if !["kind", "rule"].contains(&name.as_str()) && !known.contains(&name.as_str()) {
            let meant = instead(name, known.iter().copied().chain(["kind", "rule"]));
            let what = match kind {
                Some(kind) => format!("a refusal of the kind `{kind}`"),
                None => "a refusal".to_owned(),
            };
            return Err(wrong(format!("{what} has no field `{name}`; {meant}")));
        }
    }
    Ok(())
}

/// The texts in the data of a refusal that come from a ruleset.
fn of_rules(data: &Map<String, Json>) -> Vec<&str> {
    fn collect<'d>(data: &'d Json, own: bool, found: &mut Vec<&'d str>) {
        match data {
            Json::String(text) if own => found.push(text),
            Json::Array(items) => items.iter().for_each(|item| collect(item, own, found)),
            Json::Object(fields) => found.extend(of_rules(fields)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    data.iter().for_each(|(name, value)| collect(value, OF_RULES.contains(&name.as_str()), &mut found));
    found
}

/// True if a text contains the id of a rule as a whole word.
fn names(text: &str, rule: &str) -> bool {
    text.match_indices(rule).any(|(at, found)| {
        !text[..at].ends_with(is_of_id) && !text[at + found.len()..].starts_with(is_of_id) && !found.is_empty()
    })
}

/// True if a character can be part of the id of a rule.
fn is_of_id(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

/// Suggests an expectation that does not depend on the host's wording.
fn suggestion(refusal: &Refusal, data: &Map<String, Json>) -> String {
    let mut parts = vec![format!("kind = \"{}\"", refusal.kind())];
    let rule = of_rules(data).into_iter().find_map(|text| text.split(|c: char| !is_of_id(c)).find(|word| is_id(word)));
    match rule {
        Some(rule) => parts.push(format!("rule = \"{rule}\"")),
        None => {
            for name in SUGGESTED {
                match data.get(*name) {
                    Some(Json::String(text)) => parts.push(format!("{name} = {text:?}")),
                    Some(Json::Number(number)) => parts.push(format!("{name} = {number}")),
                    _ => {}
                }
            }
        }
    }
    format!("{{ {} }}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_play::Bound;

    fn greyed() -> Refusal {
        Refusal::Greyed { label: "Feint".into(), reason: Some("it needs luck (AB-12)".into()) }
    }

    fn wanted(fields: &[(&'static str, Value)]) -> WantedRefusal {
        WantedRefusal::read(&Value::map(fields.iter().map(|(name, value)| (*name, value.clone())))).unwrap()
    }

    fn fits(wanted: &WantedRefusal, refusal: &Refusal) -> bool {
        matches!(wanted.fits(refusal), Fit::Yes)
    }

    #[test]
    fn each_kind_is_known() {
        let source = include_str!("../../play/src/model/refusal.rs");
        let arms = source.split("pub fn kind(&self)").nth(1).and_then(|rest| rest.split("\n    }").next()).unwrap();
        let mut kinds: Vec<&str> =
            arms.lines().filter_map(|line| line.split("=> \"").nth(1)?.split('"').next()).collect();
        let mut known: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).chain(["fault"]).collect();
        kinds.sort_unstable();
        known.sort_unstable();
        assert_eq!(kinds, known);
    }

    #[test]
    fn a_rule_id_in_a_refusal_is_a_whole_word() {
        let by_rule = |rule: &str| wanted(&[("kind", Value::text("greyed")), ("rule", Value::text(rule))]);
        assert!(fits(&by_rule("AB-12"), &greyed()));
        assert!(!fits(&by_rule("AB-1"), &greyed()));
        assert!(!fits(&by_rule("Feint is"), &greyed()));
        assert!(!fits(&wanted(&[("kind", Value::text("twice"))]), &greyed()));
    }

    #[test]
    fn expecting_a_host_message_is_refused_with_a_correction() {
        let text = |text: &str| WantedRefusal::read(&Value::text(text)).unwrap();
        assert!(matches!(text("needs luck").fits(&greyed()), Fit::Yes));
        assert!(matches!(text("nothing of it").fits(&greyed()), Fit::No));
        let Fit::Worded(instead) = text("is not open").fits(&greyed()) else { panic!("not told") };
        assert_eq!(instead, "{ kind = \"greyed\", rule = \"AB-12\" }");
        let bound = Bound::Number { topic: "risk".into() };
        let refusal = Refusal::OutOfBounds { bound, given: 4, min: 1, max: 3 };
        let Fit::Worded(instead) = text("it must be 1 to 3").fits(&refusal) else { panic!("not told") };
        assert_eq!(instead, "{ kind = \"out_of_bounds\", min = 1, max = 3 }");
        assert!(fits(&wanted(&[("kind", Value::text("out_of_bounds")), ("max", Value::Int(3))]), &refusal));
        let of = Value::map([("of", Value::text("number")), ("topic", Value::text("risk"))]);
        assert!(fits(&wanted(&[("bound", of)]), &refusal));
    }

    #[test]
    fn unknown_fields_of_a_refusal_are_refused() {
        for wrong in [
            Value::None,
            Value::text(" "),
            Value::map::<&str>([]),
            Value::map([("kind", Value::text("grayed"))]),
            Value::map([("kind", Value::text("twice")), ("max", Value::Int(1))]),
            Value::map([("rule", Value::Int(1))]),
            Value::map([("reasons", Value::text("x"))]),
        ] {
            assert!(WantedRefusal::read(&wrong).is_err(), "{wrong}");
        }
    }
}
