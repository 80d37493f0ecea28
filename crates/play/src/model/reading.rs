//! Replies: loose answers by topic, typed or from a program. They are converted to exact answers and given to the open
//! action whenever it asks.

use std::collections::HashMap;
use std::sync::Arc;

use super::question::{Answer, Ask, Choice, Question, number_in_words};
use super::refusal::{Bound, Refusal};
use riskbreaker_ruleset::nearest;
use riskbreaker_state::Value;

impl Question {
    /// Converts a loose reply, as typed or given by a program, to an exact answer to this question.
    ///
    /// Options are found by id, label or number among those that can be chosen, in any case, or by an unambiguous
    /// beginning.
    ///
    /// # Errors
    ///
    /// A sentence that names the nearest option, or the expected form.
    pub fn read(&self, reply: &Value) -> Result<Answer, Refusal> {
        let answer = read(self, reply)?;
        self.check(&answer)?;
        Ok(answer)
    }

    /// Converts a typed reply like [`Question::read`], but also finds options by their name without accents, in any
    /// Unicode normalization (see [`riskbreaker_names::typed`]), and reads a text as people say it: `the Ogre`,
    /// `all of them`, `I rolled a 7`, `2 points to Ann`.
    ///
    /// # Errors
    ///
    /// As [`Question::read`].
    pub fn read_typed(&self, reply: &Value) -> Result<Answer, Refusal> {
        let read = self.read_by_name(reply);
        let Some(text) = reply.as_text() else { return read };
        match &read {
            // The rule's reason is clearer than another reading.
            Err(Refusal::Greyed { .. } | Refusal::Ambiguous { .. }) => return read,
            Ok(answer) if !self.is_own_text(answer) => return read,
            _ => {}
        }
        for form in super::spoken::forms(self, text) {
            match self.read_by_name(&Value::text(form)) {
                Ok(answer) if !self.is_own_text(&answer) => return Ok(answer),
                Err(refusal @ (Refusal::Greyed { .. } | Refusal::Ambiguous { .. })) if read.is_err() => {
                    return Err(refusal);
                }
                _ => {}
            }
        }
        read
    }

    /// True if the answer is a text that is the name of no option.
    #[doc(hidden)]
    pub fn is_own_text(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Line(_) => true,
            Answer::Choice(id) => !self.ask.options().iter().any(|option| option.id == *id),
            _ => false,
        }
    }

    fn read_by_name(&self, reply: &Value) -> Result<Answer, Refusal> {
        let in_digits = if matches!(self.ask, Ask::Number { .. }) { number_in_words(reply) } else { None };
        let mut reply = in_digits.unwrap_or_else(|| reply.clone());
        let mut read = self.read(&reply);
        // Each round replaces one typed name by the label of an option.
        for _ in 0..self.ask.options().len() {
            let Err(refusal) = &read else { break };
            let Some(better) = retyped(&reply, refusal)? else { break };
            reply = better;
            read = self.read(&reply);
        }
        read
    }
}

/// Takes the reply at index `at` as the answer to a question. If the question takes no list, a list (with `in_parts`)
/// holds several answers to the topic: takes the first of them and leaves the rest.
pub(crate) fn take_reply(
    left: &mut Vec<(String, Value)>,
    at: usize,
    question: &Question,
    in_parts: bool,
) -> Result<Answer, Refusal> {
    let (topic, value) = left.remove(at);
    let refusal = match question.read(&value) {
        Ok(answer) => return Ok(answer),
        Err(refusal) => refusal,
    };
    let Value::List(parts) = &value else { return Err(refusal) };
    if !in_parts {
        return Err(refusal);
    }
    let Some((first, rest)) = parts.split_first().filter(|(_, rest)| !rest.is_empty()) else { return Err(refusal) };
    // For a question that takes several options, a list is one answer; several answers are a list of lists.
    let takes_several = matches!(question.ask, Ask::ChooseMany { .. } | Ask::Order { .. } | Ask::Allot { .. });
    if takes_several && !matches!(first, Value::List(_) | Value::Map(_)) {
        return Err(refusal);
    }
    let Ok(answer) = question.read(first) else { return Err(refusal) };
    let rest = if let [last] = rest { last.clone() } else { Value::list(rest.iter().cloned()) };
    left.insert(at, (topic, rest));
    Ok(answer)
}

/// Converts a reply to an answer, without checking the question's bounds.
pub(crate) fn read(question: &Question, reply: &Value) -> Result<Answer, Refusal> {
    let wanted = || Refusal::WrongType {
        topic: Some(question.topic.clone()),
        wanted: question.ask.wanted(),
        given: Some(reply.to_string()),
    };
    match &question.ask {
        Ask::Choose { options, other } => match reply {
            Value::List(items) if items.len() == 1 => read(question, &items[0]),
            Value::List(_) | Value::Map(_) | Value::None => Err(wanted()),
            // A number may be a free text, so it is not read as a position.
            reply if *other => Ok(Answer::Choice(match find_named(question, options, reply, false) {
                Ok(id) => id,
                Err(_) => Arc::from(reply.to_string().trim()),
            })),
            reply => find(question, options, reply).map(Answer::Choice),
        },
        Ask::ChooseMany { options, .. } => Ok(Answer::Choices(find_all(question, options, reply)?)),
        Ask::Order { options } => {
            // The named options go first, the others follow in list order.
            let mut order = find_all(question, options, reply)?;
            let rest: Vec<Arc<str>> =
                options.iter().map(|option| &option.id).filter(|id| !order.contains(id)).cloned().collect();
            if !order.is_empty() {
                order.extend(rest);
            }
            Ok(Answer::Order(order))
        }
        Ask::Number { .. } => number(reply).map(Answer::Number).ok_or_else(wanted),
        Ask::Confirm => match reply {
            Value::Bool(yes) => Ok(Answer::Confirm(*yes)),
            Value::Text(text) => yes_or_no(text).map(Answer::Confirm).ok_or_else(wanted),
            _ => Err(wanted()),
        },
        Ask::Line { .. } => match reply {
            Value::Text(text) => Ok(Answer::Line(text.to_string())),
            Value::Int(n) => Ok(Answer::Line(n.to_string())),
            _ => Err(wanted()),
        },
        Ask::Dice { sides, .. } => {
            // Spaces between faces are read like commas.
            let faces = split(reply).into_iter().flat_map(|item| match item {
                Value::Text(text) => text.split_whitespace().map(Value::text).collect(),
                item => vec![item],
            });
            let faces = faces.map(|item| number(&item).and_then(|n| u32::try_from(n).ok())).collect::<Option<Vec<_>>>();
            let faces = faces.map(|faces| faces.into_iter().enumerate().map(|(at, face)| face_of(face, sides.get(at))));
            let faces = faces.map(Iterator::collect);
            // The example in the message already shows the topic.
            faces.map(Answer::Faces).ok_or_else(|| Refusal::WrongType {
                topic: None,
                wanted: question.ask.wanted(),
                given: Some(reply.to_string()),
            })
        }
        Ask::Allot { options, total, .. } => allotment(question, options, *total, reply),
    }
}

/// Converts the face `0`: on a die of ten it is 10, on a die of a hundred 100.
pub(crate) fn face_of(shown: u32, sides: Option<&u32>) -> u32 {
    match sides {
        Some(sides @ (10 | 100)) if shown == 0 => *sides,
        _ => shown,
    }
}

/// Parses a yes or no in common forms. `None` for other texts.
fn yes_or_no(text: &str) -> Option<bool> {
    let text = text.trim().trim_end_matches(['!', '.']).to_lowercase();
    match text.strip_suffix(" please").unwrap_or(&text).trim_end_matches(',') {
        "yes" | "y" | "true" | "yeah" | "yep" | "yup" | "sure" | "of course" | "aye" => Some(true),
        "no" | "n" | "false" | "nope" | "nah" | "no thanks" | "no thank you" | "nay" => Some(false),
        _ => None,
    }
}

pub(crate) fn number(reply: &Value) -> Option<i64> {
    match reply {
        Value::Int(n) => Some(*n),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Splits a reply into items: a list as it is, a text at its commas.
fn split(reply: &Value) -> Vec<Value> {
    match reply {
        Value::List(items) => items.to_vec(),
        Value::Text(text) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Value::text).collect(),
        Value::None => Vec::new(),
        other => vec![other.clone()],
    }
}

fn find_all(question: &Question, options: &[Choice], reply: &Value) -> Result<Vec<Arc<str>>, Refusal> {
    if let Value::Text(text) = reply {
        // The name of an option may contain a comma.
        if let Ok(id) = find(question, options, reply) {
            return Ok(vec![id]);
        }
        match &*text.trim().to_lowercase() {
            "none" | "nobody" | "nothing" => return Ok(Vec::new()),
            "all" | "everybody" => {
                return Ok(options.iter().filter(|option| option.enabled).map(|option| option.id.clone()).collect());
            }
            _ => {}
        }
    }
    if let Value::Map(_) = reply {
        let topic = Some(question.topic.clone());
        return Err(Refusal::WrongType { topic, wanted: question.ask.wanted(), given: None });
    }
    split(reply).iter().map(|item| find(question, options, item)).collect()
}

/// Replaces a name that was typed without its accents by the label of the option. `None` if the refusal has another
/// reason, or no option has such a name.
///
/// # Errors
///
/// [`Refusal::Ambiguous`] if the name fits several options.
pub fn retyped(reply: &Value, refusal: &Refusal) -> Result<Option<Value>, Refusal> {
    let Refusal::NotAnOption { topic, given, open, .. } = refusal else { return Ok(None) };
    match riskbreaker_names::typed(given, || open.iter().map(|label| (label, label))).as_slice() {
        [] => Ok(None),
        [label] if ***label == **given => Ok(None),
        [label] => Ok(replaced(reply, given, label)),
        several => Err(Refusal::Ambiguous {
            topic: topic.clone(),
            given: given.clone(),
            candidates: several.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// Replaces the first `given` in a value by `label`. `None` if the value does not contain it as whole words.
fn replaced(reply: &Value, given: &str, label: &str) -> Option<Value> {
    match reply {
        Value::Text(text) => {
            let at = riskbreaker_names::places(given, text).next()?;
            Some(Value::text(format!("{}{label}{}", &text[..at], &text[at + given.len()..])))
        }
        Value::List(items) => {
            let at = items.iter().position(|item| replaced(item, given, label).is_some())?;
            let item = |(place, item): (usize, &Value)| match place == at {
                true => replaced(item, given, label).unwrap_or_else(|| item.clone()),
                false => item.clone(),
            };
            Some(Value::list(items.iter().enumerate().map(item)))
        }
        _ => None,
    }
}

impl Choice {
    /// The labels of some of `options`, each with its number or id if several of `options` have that label: `Ann (#2)` for
    /// an entity, `Strike (strike_low)` for a card.
    pub fn labels_among(some: &[&Choice], options: &[Choice]) -> Vec<String> {
        let mut labels: HashMap<&str, usize> = HashMap::new();
        options.iter().for_each(|option| *labels.entry(&option.label).or_default() += 1);
        let label = |option: &&Choice| match labels.get(&*option.label) {
            Some(2..) => label_apart(option),
            _ => option.label.to_string(),
        };
        some.iter().map(label).collect()
    }
}

/// The label of an option with its number or id: `Ann (#2)` for an entity, `Strike (strike_low)` for a card.
fn label_apart(option: &Choice) -> String {
    let number = option.id.strip_prefix(&*option.label).filter(|rest| rest.starts_with('#'));
    riskbreaker_names::numbered(&option.label, number.unwrap_or(&option.id))
}

/// Finds an option by id, label, position among the available options, entity number, or an unambiguous beginning.
pub(crate) fn find(question: &Question, options: &[Choice], reply: &Value) -> Result<Arc<str>, Refusal> {
    find_named(question, options, reply, true)
}

/// Finds the option that a reply names. `by_place`: a number may be a position in the list.
fn find_named(question: &Question, options: &[Choice], reply: &Value, by_place: bool) -> Result<Arc<str>, Refusal> {
    let text = match reply {
        Value::Text(text) => text.trim().to_string(),
        Value::Entity(id) => {
            let mark = id.to_string();
            if let Some(option) =
                options.iter().find(|option| option.id.ends_with(&mark) || option.note.as_deref() == Some(&mark))
            {
                return Ok(option.id.clone());
            }
            mark
        }
        other => other.to_string(),
    };
    // Scripts and programs write ids, and another option may have the id as its label.
    if let Some(option) = options.iter().find(|option| *option.id == *text) {
        return Ok(option.id.clone());
    }
    let lower = text.to_lowercase();
    let plain = lower.replace([' ', '-'], "_");
    let exact = |option: &&Choice| {
        option.id.to_lowercase() == lower
            || option.label.to_lowercase() == lower
            || option.id.to_lowercase() == plain
            || lower.ends_with(')') && label_apart(option).to_lowercase() == lower
    };
    let mut found: Vec<&Choice> = options.iter().filter(exact).collect();
    if found.is_empty() {
        if by_place
            && let Ok(place) = text.parse::<usize>()
            && let Some(option) = place.checked_sub(1).and_then(|at| options.iter().filter(|one| one.enabled).nth(at))
        {
            return Ok(option.id.clone());
        }
        found = options
            .iter()
            .filter(|option| {
                !lower.is_empty()
                    && (option.id.to_lowercase().starts_with(&plain) || option.label.to_lowercase().starts_with(&lower))
            })
            .collect();
    }
    if found.is_empty() {
        // Words from the middle of a name. A number alone is none: `2` is not `Ann 2`.
        let wanted: Vec<&str> = lower.split([' ', '_']).filter(|word| !word.is_empty()).collect();
        let is_number = lower.parse::<f64>().is_ok();
        let has = |option: &&Choice| {
            let label = option.label.to_lowercase();
            let parts: Vec<&str> = label.split([' ', '_']).collect();
            !wanted.is_empty() && !is_number && parts.windows(wanted.len()).any(|part| part == wanted)
        };
        found = options.iter().filter(has).collect();
    }
    if found.is_empty() && options.len() > Ask::MOST_SHOWN && lower.chars().any(char::is_alphabetic) {
        // Nobody has read such a list: a part of a name finds it.
        found = question.ask.search(&text);
    }
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        [] => {
            let names: Vec<&str> = options.iter().flat_map(|option| [&*option.id, &*option.label]).collect();
            let near =
                by_initials(&lower, options).or_else(|| nearest(&text, names.iter().copied())).map(str::to_owned);
            let open = options.iter().filter(|option| option.enabled).map(|option| option.label.clone()).collect();
            Err(Refusal::NotAnOption { topic: Some(question.topic.clone()), given: text, near, open })
        }
        several => {
            // Two options with the same name: take the only one that can be chosen.
            let open: Vec<_> = several.iter().filter(|option| option.enabled).collect();
            if let [only] = open.as_slice() {
                return Ok(only.id.clone());
            }
            let candidates = Choice::labels_among(several, options);
            Err(Refusal::Ambiguous { topic: Some(question.topic.clone()), given: text, candidates })
        }
    }
}

/// The label whose words begin with these letters: `Kill Damage` for `kd`. `None` if there are several or none.
fn by_initials<'o>(letters: &str, options: &'o [Choice]) -> Option<&'o str> {
    let initials = |label: &str| label.split([' ', '_']).filter_map(|word| word.chars().next()).collect::<String>();
    let mut found = options.iter().filter(|option| initials(&option.label).to_lowercase() == letters);
    match (found.next(), found.next()) {
        (Some(option), None) if letters.chars().count() > 1 => Some(&option.label),
        _ => None,
    }
}

/// Reads points by name: a map, a list in the order of the options, `a 1, b 2`, or one name or number that gets all
/// points.
fn allotment(question: &Question, options: &[Choice], total: i64, reply: &Value) -> Result<Answer, Refusal> {
    let wanted = || Refusal::WrongType { topic: None, wanted: question.ask.wanted(), given: Some(reply.to_string()) };
    let mut parts: Vec<(Arc<str>, i64)> = Vec::new();
    let mut give = |id: Arc<str>, points: i64| match parts.iter_mut().find(|(known, _)| *known == id) {
        Some(part) => part.1 = part.1.saturating_add(points),
        None => parts.push((id, points)),
    };
    match reply {
        Value::Map(items) => {
            for (name, points) in items.iter() {
                give(find(question, options, &Value::Text(name.clone()))?, number(points).ok_or_else(wanted)?);
            }
        }
        Value::List(items) if items.iter().all(|item| item.as_int().is_some()) => {
            if items.len() > options.len() {
                let labels = options.iter().map(|option| option.label.clone()).collect();
                let (bound, max) = (Bound::Parts { topic: question.topic.clone(), labels }, options.len() as i64);
                return Err(Refusal::OutOfBounds { bound, given: items.len() as i64, min: 0, max });
            }
            for (option, points) in options.iter().zip(items.iter()) {
                give(option.id.clone(), number(points).ok_or_else(wanted)?);
            }
        }
        reply => {
            let items = split(reply);
            for item in &items {
                let Value::Text(text) = item else { return Err(wanted()) };
                match text.trim().rsplit_once(|c: char| c.is_whitespace() || c == ':' || c == '=') {
                    Some((name, points)) if points.trim().parse::<i64>().is_ok() => {
                        let points = points.trim().parse().unwrap_or_default();
                        give(find(question, options, &Value::text(name.trim_end_matches([':', '='])))?, points);
                    }
                    _ if items.len() == 1 => give(find(question, options, item)?, total),
                    _ => return Err(wanted()),
                }
            }
        }
    }
    parts.retain(|(_, points)| *points != 0);
    Ok(Answer::Allotment(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(id: &str, label: &str, reason: Option<&str>) -> Choice {
        Choice {
            id: id.into(),
            label: label.into(),
            enabled: reason.is_none(),
            reason: reason.map(String::from),
            note: None,
            max: None,
            entity: None,
        }
    }

    fn cards() -> Question {
        Question::for_test(Ask::Choose {
            options: vec![
                option("kill_it", "Kill it", Some("needs two")),
                option("keep", "Keep", None),
                option("kick", "Kick", None),
            ],
            other: false,
        })
    }

    #[test]
    fn an_option_is_found_by_id_label_place_or_beginning() {
        for text in ["keep", "KEEP", "1", "kee"] {
            assert_eq!(cards().read(&text.into()), Ok(Answer::Choice("keep".into())), "{text}");
        }
    }

    #[test]
    fn a_greyed_option_is_refused_with_its_reason_and_a_typo_gets_the_nearest_name() {
        assert_eq!(cards().read(&"kill it".into()).unwrap_err().to_string(), "Kill it is not open: needs two");
        assert!(cards().read(&"it".into()).unwrap_err().to_string().contains("needs two"));
        assert!(cards().read(&"kepe".into()).unwrap_err().to_string().contains("Did you mean `Keep`?"));
        let told = |text: &str| cards().read(&text.into()).unwrap_err().to_string();
        assert_eq!(told("run"), "No answer here is called `run`. Type one of: Keep, Kick.");
        // If two names begin alike, the option that can be chosen is meant.
        assert_eq!(cards().read(&"ki".into()), Ok(Answer::Choice("kick".into())));
    }

    #[test]
    fn a_word_of_several_names_lists_them() {
        let options =
            vec![option("a", "Walking Corpse", None), option("b", "Second Corpse", None), option("c", "Imp", None)];
        let asked = Question::for_test(Ask::Choose { options, other: false });
        let told = asked.read(&"corpse".into()).unwrap_err().to_string();
        assert_eq!(told, "`corpse` may be Walking Corpse or Second Corpse. Type more of the name.");
        assert_eq!(asked.read(&"second".into()), Ok(Answer::Choice("b".into())));
        let options = vec![option("a", "Walking Corpse", Some("is dead")), option("b", "Second Corpse", None)];
        let asked = Question::for_test(Ask::Choose { options, other: false });
        assert_eq!(asked.read(&"corpse".into()), Ok(Answer::Choice("b".into())));
    }

    #[test]
    fn where_words_of_ones_own_are_allowed_a_number_is_such_words_unless_an_option_is_called_so() {
        let options = vec![option("five", "5", None), option("seven", "7", None), option("far", "Far away", None)];
        let asked = Question::for_test(Ask::Choose { options, other: true });
        let chosen = |reply: Value| asked.read(&reply).unwrap();
        assert_eq!(chosen("2".into()), Answer::Choice("2".into()));
        assert_eq!(chosen(Value::Int(1)), Answer::Choice("1".into()));
        assert_eq!(chosen(Value::Int(7)), Answer::Choice("seven".into()));
        assert_eq!(chosen(Value::list([Value::Int(3)])), Answer::Choice("3".into()));
        assert_eq!(chosen("far".into()), Answer::Choice("far".into()));
        let options = vec![option("a", "Ann 2", None)];
        let asked = Question::for_test(Ask::Choose { options, other: true });
        assert_eq!(asked.read(&"2".into()).unwrap(), Answer::Choice("2".into()), "a number is no word of a name");
    }

    #[test]
    fn yes_and_no_are_read_as_people_say_them() {
        let asked = Question::for_test(Ask::Confirm);
        for text in ["yes", "Y", "yeah", "Sure", "yes please", "yes, please!", "yep."] {
            assert_eq!(asked.read(&text.into()), Ok(Answer::Confirm(true)), "{text}");
        }
        for text in ["no", "N", "no!", "nope", "No thanks."] {
            assert_eq!(asked.read(&text.into()), Ok(Answer::Confirm(false)), "{text}");
        }
        for text in ["maybe", "yes 2", "nothing", "please", ""] {
            assert!(asked.read(&text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn points_are_read_from_words_maps_and_lists() {
        let ask = Question::for_test(Ask::Allot {
            options: vec![option("a", "Archer", None), option("b", "Big Bandit", None)],
            total: 3,
            least: 3,
        });
        let expected = Answer::Allotment(vec![("a".into(), 1), ("b".into(), 2)]);
        assert_eq!(ask.read(&"archer 1, big bandit 2".into()), Ok(expected.clone()));
        assert_eq!(ask.read(&Value::map([("Archer", Value::Int(1)), ("b", Value::Int(2))])), Ok(expected.clone()));
        assert_eq!(ask.read(&Value::list([Value::Int(1), Value::Int(2)])), Ok(expected));
        assert_eq!(ask.read(&"archer".into()), Ok(Answer::Allotment(vec![("a".into(), 3)])));
        assert!(ask.read(&"archer 1".into()).is_err());
    }
}
