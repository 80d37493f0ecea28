use riskbreaker::names::{exactly, typed};
use riskbreaker::play::in_one_line;
use riskbreaker::ruleset::nearest;
use riskbreaker::state::readable_name;
use riskbreaker::{EntityId, Refusal, View};

use super::complaint::Complaint;
use super::line::{Word, words};

/// The refusal of an ambiguous name, with labels that distinguish the candidates.
pub fn ambiguous<N: ToString>(given: &str, candidates: impl IntoIterator<Item = N>) -> Complaint {
    let candidates = candidates.into_iter().map(|name| name.to_string()).collect();
    Complaint::Refused(Refusal::Ambiguous { topic: None, given: given.to_owned(), candidates })
}

/// Finds the name in `known` that a typed text means; `None` if there is none.
///
/// # Errors
///
/// [`ambiguous`] if several names match.
pub fn one_of<'k, S: AsRef<str>>(given: &str, known: &'k [S]) -> Result<Option<&'k S>, Complaint> {
    match typed(given, || known.iter().map(|name| name.as_ref()).enumerate()).as_slice() {
        [] => Ok(None),
        [at] => Ok(Some(&known[*at])),
        several => Err(ambiguous(given, several.iter().map(|at| known[*at].as_ref()))),
    }
}

/// Finds the entity that the first words of `text` name (see [`View::find_typed`]). Returns it and the rest of the
/// text.
pub fn entity<'t>(view: &View<'_>, text: &'t str) -> Result<(EntityId, &'t str), Complaint> {
    let words = words(text);
    let spoken = |count: usize| match words.as_slice() {
        [only, ..] if count == 1 => only.text.clone(),
        _ => text[words[0].start..words[count - 1].end].to_owned(),
    };
    let rest = |count: usize| text[words[count - 1].end..].trim_start_matches([' ', ',']).trim();
    for typed in [false, true] {
        let find = |name: &str| if typed { view.find_typed(name) } else { view.find(name) };
        // The longest name wins: `Bandit Chief` before `Bandit`.
        for count in (1..=words.len()).rev() {
            match find(&spoken(count)) {
                Ok(id) => return Ok((id, rest(count))),
                Err(refusal @ Refusal::Ambiguous { .. }) => return Err(refusal.into()),
                Err(_) => {}
            }
        }
    }
    match words.first() {
        None => Err(Complaint::wrong("Type a name. `who` lists them.")),
        Some(Word { text, .. }) => Err(Complaint::Wrong(match view.find(text) {
            Err(refusal @ Refusal::UnknownName { near: Some(_), .. }) => refusal.to_string(),
            _ => format!("There is no `{text}`. `who` lists the names."),
        })),
    }
}

/// Finds the field in `known` (name and label) that the first words of `text` name. Returns its name and the rest of
/// the text. The fields for examples in messages come first in `known`.
pub fn field<'t>(whose: &str, known: &[(String, String)], text: &'t str) -> Result<(String, &'t str), Complaint> {
    let words = words(text);
    let Some(first) = words.first() else {
        let some = some_of(known);
        return Err(Complaint::Wrong(format!("Type one of {whose}'s values after the name, such as {some}.")));
    };
    let both: Vec<(&str, String)> = known
        .iter()
        .flat_map(|(name, label)| {
            [name.clone(), readable_name(name), label.clone()].map(|spelling| (name.as_str(), spelling))
        })
        .collect();
    let spellings = || both.iter().map(|(name, spelling)| (*name, spelling));
    for whole in [true, false] {
        // The longest name wins; the words after it are the value.
        for count in (1..=words.len()).rev() {
            let end = words[count - 1].end;
            let spoken = &text[first.start..end];
            let found = if whole { exactly(spoken, spellings) } else { typed(spoken, spellings) };
            match found.as_slice() {
                [] => {}
                [name] => return Ok(((*name).to_owned(), text[end..].trim())),
                several => return Err(ambiguous(&text[first.start..end], labels_apart(several, known))),
            }
        }
    }
    // Headings of tables are often abbreviated: `KD` for `Kill Damage`.
    let initials = |label: &str| label.split([' ', '_']).filter_map(|part| part.chars().next()).collect::<String>();
    let short: Vec<&(String, String)> = known
        .iter()
        .filter(|(name, label)| {
            [name, label].iter().any(|text| initials(text).to_lowercase() == first.text.to_lowercase())
        })
        .collect();
    if let [(name, _)] = short.as_slice()
        && first.text.chars().count() > 1
    {
        return Ok((name.clone(), text[first.end..].trim()));
    }
    let near = nearest(&first.text, both.iter().map(|(_, spelling)| spelling.as_str()));
    let near = near.and_then(|near| known.iter().find(|(name, label)| name == near || label == near));
    let wrong = match near {
        Some((_, label)) => format!("{whose} has no `{}`. Did you mean `{label}`?", first.text),
        None => format!("{whose} has no `{}`. Values are {} and others: `sheet {whose}`.", first.text, some_of(known)),
    };
    Err(Complaint::Wrong(in_one_line(&wrong).into_owned()))
}

/// The values of an entity as name and label: first the public ones, then the derived ones, then the rest.
pub fn values(view: &View<'_>, entity: EntityId) -> Vec<(String, String)> {
    let named = |shown: bool| {
        let fields = view.fields(entity).filter(move |(field, _)| field.show == shown);
        fields.map(|(field, _)| (field.name.to_string(), field.label.to_string()))
    };
    let derived = view.derived_names(entity).iter().map(|name| (name.to_string(), readable_name(name)));
    named(true).chain(derived).chain(named(false)).collect()
}

/// The labels of the fields with these names, or the name itself if several have the same label.
fn labels_apart<'k>(names: &[&str], known: &'k [(String, String)]) -> Vec<&'k str> {
    let fields: Vec<&(String, String)> = known.iter().filter(|(name, _)| names.contains(&name.as_str())).collect();
    let shared = |label: &str| fields.iter().filter(|(_, other)| other == label).count() > 1;
    fields.iter().map(|(name, label)| if shared(label) { name.as_str() } else { label.as_str() }).collect()
}

/// A few of the labels, for a message.
fn some_of(known: &[(String, String)]) -> String {
    let names: Vec<String> = known.iter().take(EXAMPLES).map(|(_, label)| format!("`{label}`")).collect();
    names.join(", ")
}

/// The number of names that a message gives as examples.
const EXAMPLES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_name_label_or_beginning() {
        let known = [("max_harm".to_owned(), "Most harm".to_owned()), ("wit".to_owned(), "Wit".to_owned())];
        for text in ["max_harm 3", "max harm 3", "most_harm 3", "most harm 3", "max 3", "MOST HARM 3"] {
            let (name, rest) = field("Foe", &known, text).ok().unwrap();
            assert_eq!((name.as_str(), rest), ("max_harm", "3"), "{text}");
        }
        let Err(Complaint::Wrong(sentence)) = field("Foe", &known, "wti 3") else { panic!() };
        assert_eq!(sentence, "Foe has no `wti`. Did you mean `Wit`?");
        let equal = ["hurt", "harm"].map(|name| (name.to_owned(), "Harm".to_owned()));
        assert_eq!(field("Foe", &equal, "harm 3").ok().unwrap(), ("harm".to_owned(), "3"), "a whole name is exact");
        let Err(Complaint::Refused(Refusal::Ambiguous { candidates, .. })) = field("Foe", &equal, "Harm 3") else {
            panic!()
        };
        assert_eq!(candidates, ["hurt", "harm"]);
    }
}
