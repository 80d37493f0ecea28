//! Expectations of a spec about events.

use serde_json::{Value as Json, to_value};

use super::checked_step::CheckedStep;
use riskbreaker_play::Happening;
use riskbreaker_ruleset::instead;
use riskbreaker_state::Value;

/// The kinds of events, as named in JSON, with their fields.
pub const SORTS: &[(&str, &[&str])] = &[
    ("said", &["text"]),
    ("rolled", &["label", "dice", "faces", "total", "need", "success", "result", "explain", "terms"]),
    ("changed", &["title", "field", "label", "from", "to", "text", "reason"]),
    ("spawned", &["title", "kind"]),
    ("removed", &["title", "kind"]),
    ("answered", &["seat", "topic", "about", "text"]),
    ("edited", &["text"]),
    ("notice", &["text"]),
    ("cut", &["reason"]),
    ("over", &["text"]),
];

/// Counts the events of a kind with these field values. A text matches if it contains the expected one.
pub(super) fn count(happenings: &[Happening], sort: &str, wanted: &[(String, Value)]) -> CheckedStep<usize> {
    let Some((_, known)) = SORTS.iter().find(|(name, _)| *name == sort) else {
        return Err(wrong("no event is", sort, SORTS.iter().map(|(name, _)| *name)));
    };
    for (name, _) in wanted {
        if !known.contains(&name.as_str()) {
            return Err(wrong(&format!("an event `{sort}` does not say"), name, known.iter().copied()));
        }
    }
    let fits = |happening: &&Happening| {
        let Ok(Json::Object(event)) = to_value(happening) else { return false };
        event.get("event").is_some_and(|name| name == sort)
            && wanted.iter().all(|(name, wanted)| event.get(name).is_some_and(|found| says(found, wanted)))
    };
    Ok(happenings.iter().filter(fits).count())
}

/// True if a JSON value is as expected; a text matches if it contains the expected one.
pub(super) fn says(found: &Json, wanted: &Value) -> bool {
    match (found, wanted) {
        (Json::String(found), Value::Text(wanted)) => found.contains(&**wanted),
        (Json::Array(found), Value::List(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted.iter()).all(|(found, wanted)| says(found, wanted))
        }
        // Values of the state are written with their type.
        (Json::Object(one), wanted) if one.len() == 1 => one.values().all(|inner| says(inner, wanted)),
        (Json::Number(found), Value::Int(wanted)) => found.as_i64() == Some(*wanted),
        (Json::Bool(found), Value::Bool(wanted)) => found == wanted,
        _ => false,
    }
}

fn wrong<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    format!("{what} `{name}`; {}", instead(name, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_their_fields() {
        let rolled = |total| Happening::Rolled {
            label: "Ann tests Sword".into(),
            dice: "1d10".into(),
            faces: vec![3],
            total,
            need: None,
            success: Some(true),
            result: None,
            explain: None,
            terms: Vec::new(),
        };
        let all = [rolled(3), rolled(4), Happening::Said { text: "well".into() }];
        let of = |pairs: &[(&str, Value)]| {
            let wanted: Vec<_> = pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            count(&all, "rolled", &wanted)
        };
        assert_eq!(of(&[]).unwrap(), 2);
        assert_eq!(of(&[("total", Value::Int(4)), ("success", Value::Bool(true))]).unwrap(), 1);
        assert_eq!(of(&[("label", Value::text("Sword")), ("faces", Value::list([Value::Int(3)]))]).unwrap(), 2);
        assert_eq!(of(&[("label", Value::text("Bow"))]).unwrap(), 0);
        assert!(of(&[("lable", Value::Int(4))]).unwrap_err().contains("did you mean `label`?"));
        assert!(count(&all, "roled", &[]).unwrap_err().contains("did you mean `rolled`?"));
    }

    /// The table has the same kinds as the events in JSON.
    #[test]
    fn every_sort_of_event_is_known() {
        let source = include_str!("../../play/src/model/event.rs");
        let body = source.split("pub enum Happening {").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
        let sorts = body.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(" {"));
        for sort in sorts.filter(|sort| !sort.starts_with(' ')) {
            let small = sort.to_lowercase();
            let beside = ["withdrawn", "back", "aside"];
            assert!(beside.contains(&&*small) || SORTS.iter().any(|(name, _)| *name == small), "{sort} is not known");
        }
    }
}
