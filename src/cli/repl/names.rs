use riskbreaker::play::in_one_line;
use riskbreaker::ruleset::nearest;
use riskbreaker::state::readable_name;
use riskbreaker::{EntityId, Refusal, View};

use super::Complaint;
use super::line::{Word, words};
use crate::cli::named::{Named, named};

/// The entity that the first words of `text` name, by its title or an unambiguous beginning of it, and what follows.
pub fn entity<'t>(view: &View<'_>, text: &'t str) -> Result<(EntityId, &'t str), Complaint> {
    let words = words(text);
    let spoken = |count: usize| match words.as_slice() {
        [only, ..] if count == 1 => only.text.clone(),
        _ => text[words[0].start..words[count - 1].end].to_owned(),
    };
    let rest = |count: usize| text[words[count - 1].end..].trim_start_matches([' ', ',']).trim();
    // The longest name wins: `Bandit Chief` before `Bandit`.
    for count in (1..=words.len()).rev() {
        if let Ok(id) = view.find(&spoken(count)) {
            return Ok((id, rest(count)));
        }
    }
    let titles: Vec<(String, EntityId)> = view.entities().map(|id| (view.title(id).to_string(), id)).collect();
    for count in (1..=words.len()).rev() {
        if let Named::One((_, id)) = named(&spoken(count), &titles, |(title, _)| title) {
            return Ok((*id, rest(count)));
        }
    }
    match words.first() {
        None => Err(Complaint::wrong("Type a name. `who` lists them.")),
        Some(Word { text, .. }) => Err(Complaint::Wrong(match view.find(text) {
            Err(refusal @ (Refusal::Ambiguous { .. } | Refusal::UnknownName { near: Some(_), .. })) => {
                refusal.to_string()
            }
            _ => match named(text, &titles, |(title, _)| title) {
                Named::Several => format!("`{text}` can be {}. Type more of the name.", beginning(text, &titles)),
                _ => format!("There is no `{text}`. `who` lists the names."),
            },
        })),
    }
}

fn beginning(text: &str, titles: &[(String, EntityId)]) -> String {
    let text = text.to_lowercase();
    let matching =
        titles.iter().map(|(title, _)| title.as_str()).filter(|title| title.to_lowercase().starts_with(&text));
    matching.collect::<Vec<_>>().join(" or ")
}

/// The one of `known` (name and label) that the first words of `text` name, and what follows. Those that a message may name
/// stand first.
pub fn field<'t>(whose: &str, known: &[(String, String)], text: &'t str) -> Result<(String, &'t str), Complaint> {
    let words = words(text);
    let Some(first) = words.first() else {
        let some = some_of(known);
        return Err(Complaint::Wrong(format!("Type one of {whose}'s values after the name, such as {some}.")));
    };
    let both: Vec<(&str, &str)> =
        known.iter().flat_map(|(name, label)| [(name.as_str(), name.as_str()), (label, name)]).collect();
    for count in (1..=words.len()).rev() {
        let spoken = &text[first.start..words[count - 1].end];
        let plain = readable_name(spoken);
        let exact = both.iter().find(|(spelling, _)| readable_name(spelling).eq_ignore_ascii_case(&plain));
        if let Some((_, name)) = exact {
            return Ok(((*name).to_owned(), text[words[count - 1].end..].trim()));
        }
    }
    let begins: Vec<&(String, String)> = known
        .iter()
        .filter(|(name, label)| {
            [name, label].iter().any(|spelling| spelling.to_lowercase().starts_with(&first.text.to_lowercase()))
        })
        .collect();
    if let [(name, _)] = begins.as_slice() {
        return Ok((name.clone(), text[first.end..].trim()));
    }
    let near = nearest(&first.text, both.iter().map(|(spelling, _)| *spelling));
    let near = near.and_then(|near| known.iter().find(|(name, label)| name == near || label == near));
    let wrong = match near {
        Some((_, label)) => format!("{whose} has no `{}`. Did you mean `{label}`?", first.text),
        None => format!("{whose} has no `{}`. Values are {} and others: `sheet {whose}`.", first.text, some_of(known)),
    };
    Err(Complaint::Wrong(in_one_line(&wrong).into_owned()))
}

/// The values of an entity as name and label: first what the table sees, then what the rules work out, then the rest.
pub fn values(view: &View<'_>, entity: EntityId) -> Vec<(String, String)> {
    let named = |shown: bool| {
        let fields = view.fields(entity).filter(move |(field, _)| field.show == shown);
        fields.map(|(field, _)| (field.name.to_string(), field.label.to_string()))
    };
    let derived = view.derived_names(entity).iter().map(|name| (name.to_string(), readable_name(name)));
    named(true).chain(derived).chain(named(false)).collect()
}

/// A few of the names, for a message.
fn some_of(known: &[(String, String)]) -> String {
    let names: Vec<String> = known.iter().take(EXAMPLES).map(|(_, label)| format!("`{label}`")).collect();
    names.join(", ")
}

/// Names that a message gives as examples.
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
    }
}
