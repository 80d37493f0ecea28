//! Sentences about what the host itself names: the keys of its tables and the methods of entities.

use std::ops::Range;

use super::expected::call_place;
use super::target::code;
use super::token::TokenKind;

/// The methods of every entity, with their descriptions.
pub(super) const METHODS: [(&str, &str); 5] = [
    ("entity:set(field, value, why?)", "Writes a field. `nil` empties a reference. The log shows `why`."),
    (
        "entity:add(field, amount, why?)",
        "Adds to a number field and returns the new value. Out of its bounds is a fault.",
    ),
    (
        "entity:shift(field, amount, why?)",
        "Adds to a number field and returns nothing, so odds do not depend on the number.",
    ),
    (
        "entity:reaches(field, least)",
        "True if a number field is at least that number. Odds depend on the answer alone.",
    ),
    ("entity:exists()", "False once the entity is removed."),
];

/// The words that take some keys, and these keys with a sentence each.
type KeysOfWords = (&'static [&'static str], &'static [(&'static str, &'static str)]);

/// The keys of the tables that words of the vocabulary take.
const KEYS: &[KeysOfWords] = &[
    (
        &["rb.hook", "rb.item"],
        &[
            (
                "before",
                "Functions by verb that run before the verb: they get its parameters in `e` and may change them. `false` and a reason stop the verb.",
            ),
            ("after", "Functions by verb that run after the verb: they get its parameters and its `result` in `e`."),
            ("wrap", "Functions by verb that run in place of the verb: `proceed(e)` runs what is below."),
            ("priority", "A number: of several hooks at one verb, the smaller runs first. 0 if it is left out."),
            ("always", "True: the hook is in force without being attached to an entity."),
            ("data", "The names and types of the data of its attachments."),
        ],
    ),
    (
        &["rb.policy"],
        &[
            (
                "answer",
                "Answers a question `q` of a seat without a person: a value of its options, or nil for what `base` or the host answers.",
            ),
            ("act", "Chooses a free act of the seat from a list of names; nil for none."),
            ("base", "The id of the policy that answers what this one does not."),
        ],
    ),
    (
        &["rb.int", "rb.number"],
        &[
            ("min", "The least number, itself allowed. Without it, there is no lower bound but that of all numbers."),
            (
                "max",
                "The greatest number, itself allowed. Without it, there is no upper bound but that of all numbers.",
            ),
        ],
    ),
    (
        &["rb.choose_many"],
        &[
            ("min", "The least number of options, 0 if it is left out; not more than there are options."),
            ("max", "The greatest number of options; all of them if it is left out."),
        ],
    ),
    (&["rb.line"], &[("max", "The greatest length of the text in letters, 200 if it is left out.")]),
    (
        &["rb.allot"],
        &[
            ("total", "The number of points to give out."),
            ("least", "The least number of points that must be given out; `total` if it is left out."),
        ],
    ),
    (
        &["rb.int", "rb.bool", "rb.text", "rb.ratio", "rb.enum", "rb.ref", "rb.list", "rb.map"],
        &[
            ("default", "The value of a new entity whose maker gives none."),
            ("label", "The name that people read."),
            (
                "show",
                "False: the log has no line when the field changes, and sheets do not list it. \"said\": scripts tell its changes themselves.",
            ),
            (
                "audience",
                "Who sees the field: a seat, a list of seats, \"nobody\", or the name of a field that holds the seat.",
            ),
            ("peek", "False: who reads the field may still take the action back."),
            ("by_hand", "True: the host sets the field when the game master edits the game or turns a house rule."),
        ],
    ),
    (
        &["rb.choose", "rb.choose_many", "rb.number", "rb.allot", "rb.confirm", "rb.order", "rb.line"],
        &[
            ("seat", "The seat that is asked; without it, the game master."),
            ("topic", "The name of the question, by which specs, policies and early answers find it."),
            ("about", "The entity that the question is about."),
            ("why", "What people read: the question in a sentence."),
            ("default", "The answer of `ok`, and of a seat without a person or a policy."),
            ("audience", "Who sees the question besides the seat that is asked."),
            ("auto", "True: the question is answered by itself if there is one possible answer."),
            ("sealed", "True: the answer is shown when the action ends, or with `rb.reveal()`."),
            ("propose", "False: the default is not offered to people."),
            ("peek", "False: who answers may still take the action back."),
            ("options", "The possible answers: a list of values, or of `{ id, label, value }`."),
            ("other", "True: any line of text is an answer, too."),
            ("cards", "The ids of the cards that are options, as `rb.options` gives them."),
            ("ctx", "The context in which `when` of the cards is run."),
        ],
    ),
];

/// Keys of tables inside of words, with a sentence each.
const INNER_KEYS: &[(&str, &[&str], &str)] = &[
    ("rb.kinds", &["fields"], "The fields that each entity of the kind has, by name."),
    (
        "rb.kinds",
        &["derived"],
        "Functions of an entity that are called like methods: `entity:NAME(...)`. They only read.",
    ),
    ("rb.kinds", &["sheet"], "Lists the lines of the entity's sheet."),
    ("rb.kinds", &["relates"], "The two references between which an entity of this kind is a relation."),
    ("rb.kinds", &["timed"], "True: an entity of the kind can have an end, set with `rb.lasts`."),
    ("rb.kinds", &["ended"], "Runs when the entity ends."),
    ("rb.kinds", &["title"], "The field that holds the name of the entity for people."),
];

/// Describes what the host names at a byte of a script: a key of one of its tables, or a method of an entity.
pub(super) fn host_key_at(text: &str, at: usize) -> Option<(String, Range<usize>)> {
    let tokens = code(text);
    let index =
        tokens.iter().position(|token| token.kind == TokenKind::Name && token.begin <= at && at <= token.end)?;
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text(text));
    let before = |back: usize| index.checked_sub(back).map_or("", word);
    let (name, range) = (word(index), tokens[index].begin..tokens[index].end);
    if before(1) == ":" && before(2) != "t" {
        let is_it = |usage: &str| usage["entity:".len()..].split('(').next() == Some(name);
        let (usage, sentence) = METHODS.iter().find(|(usage, _)| is_it(usage))?;
        return Some((format!("```luau\n{usage}\n```\n{sentence}"), range));
    }
    if !matches!(before(1), "{" | "," | ";") || word(index + 1) != "=" || word(index + 2) == "=" {
        return None;
    }
    let place = call_place(text, &tokens[..index])?;
    let told = |sentence: &str| format!("`{name}` of `{}`\n\n{sentence}", place.callee);
    if place.keys.is_empty() {
        let of_word = KEYS.iter().filter(|(words, _)| words.contains(&&*place.callee));
        let (_, sentence) = of_word.flat_map(|(_, keys)| *keys).find(|(key, _)| *key == name)?;
        return Some((told(sentence), range));
    }
    let inner = INNER_KEYS.iter().find(|(word, keys, _)| *word == place.callee && keys.contains(&name));
    let (_, _, sentence) = inner.filter(|_| place.keys.len() == 1)?;
    Some((told(sentence), range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker_script::api;

    #[test]
    fn every_method_of_an_entity_and_every_word_is_known_to_the_host() {
        let named: Vec<&str> =
            METHODS.iter().filter_map(|(usage, _)| usage["entity:".len()..].split('(').next()).collect();
        assert_eq!(named, api::ENTITY_METHODS);
        for (words, _) in KEYS {
            for word in *words {
                assert!(api::word(word.strip_prefix("rb.").unwrap()).is_some(), "{word}");
            }
        }
        for (ask, own) in api::QUESTIONS {
            let word = format!("rb.{ask}");
            let of_word = KEYS.iter().filter(|(words, _)| words.contains(&&*word)).flat_map(|(_, keys)| *keys);
            let known: Vec<&str> = of_word.map(|(key, _)| *key).collect();
            for key in *own {
                let is_known = known.contains(key) || ["note", "when", "more"].contains(key);
                assert!(is_known, "{word}: {key}");
            }
        }
    }

    #[test]
    fn a_key_is_described_by_the_word_that_takes_it() {
        let told = |text: &str, piece: &str| host_key_at(text, text.find(piece).unwrap() + 1).map(|(told, _)| told);
        let has = |text: &str, piece: &str, part: &str| {
            let told = told(text, piece).unwrap_or_default();
            assert!(told.contains(part), "{text}: {told}");
        };
        has("rb.kinds({ foe = { fields = { hits = rb.int({ min = 0 }) } } })", "min", "The least number");
        has("rb.kinds({ foe = { fields = { hits = rb.int({ min = 0 }) } } })", "fields", "The fields that each entity");
        has("rb.hook({ before = { hurt = f } })", "before", "before the verb");
        has("rb.policy({ answer = f })", "answer", "without a person");
        has("rb.line({ max = 3 })", "max", "in letters");
        has("foe:add(\"hits\", 1)", "add", "returns the new value");
        for (text, piece) in [
            ("rb.kinds({ foe = { fields = { fields = rb.int() } } })", "fields = rb"),
            ("rb.maneuver({ min = 2 })", "min"),
            ("t:add(1)", "add"),
            ("local min = 2", "min"),
        ] {
            assert_eq!(told(text, piece), None, "{text}");
        }
    }
}
