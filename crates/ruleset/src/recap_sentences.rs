use serde::Serialize;

/// The sentences with which a recap describes a card. Each is a text with names in braces: `{actor}` is the character
/// who played the card, `{other}` the target, and any other name the answer to the question with that topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecapSentences {
    /// The sentence for a success, or for a card without a roll.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<String>,
    /// The sentence for a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The name for the character who played the card.
const ACTOR: &str = "actor";
/// The name for the target of the card.
const OTHER: &str = "other";

impl RecapSentences {
    /// The keys of the table in a card's declaration.
    pub const KEYS: [&str; 2] = ["success", "failure"];

    /// True if the card has no sentences.
    pub fn is_empty(&self) -> bool {
        *self == RecapSentences::default()
    }

    /// Sets the sentence of a key.
    #[doc(hidden)]
    pub fn put(&mut self, key: &str, sentence: String) {
        match key {
            "success" => self.success = Some(sentence),
            _ => self.failure = Some(sentence),
        }
    }

    /// Returns the sentence for a card that this actor has played, with the answers to its questions by topic. `None`
    /// if the card has no sentence for this outcome, if the sentence names an unknown target, or if a question that it
    /// names was not asked.
    pub fn told<'a>(
        &self,
        success: Option<bool>,
        (actor, other): (&str, Option<&str>),
        answer: impl Fn(&str) -> Option<&'a str>,
    ) -> Option<String> {
        let sentence = if success == Some(false) { &self.failure } else { &self.success };
        let mut told = String::new();
        for part in parts(sentence.as_deref()?).ok()? {
            told.push_str(match part {
                Part::Text(text) => text,
                Part::Name(ACTOR) => actor,
                Part::Name(OTHER) => other?,
                Part::Name(topic) => answer(topic).filter(|text| !text.is_empty())?,
            });
        }
        Some(told)
    }

    /// Returns the topics of questions that occur in the sentences.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        let sentences = [&self.success, &self.failure].into_iter().flatten();
        sentences.flat_map(|sentence| parts(sentence).unwrap_or_default()).filter_map(|part| match part {
            Part::Name(topic) if ![ACTOR, OTHER].contains(&topic) => Some(topic),
            _ => None,
        })
    }

    /// Returns the error of a sentence; `None` if it is valid.
    #[doc(hidden)]
    pub fn mistake_in(sentence: &str) -> Option<String> {
        match parts(sentence) {
            Err(message) => Some(message),
            Ok(_) if !sentence.trim_end().ends_with(['.', '!', '?']) => {
                Some("ends without `.`, `!` or `?`, and is a whole sentence".into())
            }
            Ok(_) => None,
        }
    }
}

/// A part of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'s> {
    Text(&'s str),
    Name(&'s str),
}

/// Splits a sentence into its parts.
fn parts(sentence: &str) -> Result<Vec<Part<'_>>, String> {
    let (mut found, mut rest) = (Vec::new(), sentence);
    while let Some((text, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { return Err("has a `{` without `}`".into()) };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(format!("has `{{{name}}}`, which is neither `{{{ACTOR}}}` nor `{{{OTHER}}}` nor a topic"));
        }
        found.extend([Part::Text(text), Part::Name(name)]);
        rest = after;
    }
    if rest.contains('}') {
        return Err("has a `}` without `{`".into());
    }
    found.push(Part::Text(rest));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences() -> RecapSentences {
        RecapSentences {
            success: Some("{actor} trips {other} with the {weapon}.".into()),
            failure: Some("{actor} stumbles and falls.".into()),
        }
    }

    #[test]
    fn names_in_braces_are_filled_in() {
        let answer = |topic: &str| (topic == "weapon").then_some("staff");
        let told = |success| sentences().told(success, ("Ann", Some("the Ogre")), answer);
        assert_eq!(told(Some(true)).as_deref(), Some("Ann trips the Ogre with the staff."));
        assert_eq!(told(None).as_deref(), Some("Ann trips the Ogre with the staff."));
        assert_eq!(told(Some(false)).as_deref(), Some("Ann stumbles and falls."));
    }

    #[test]
    fn an_unknown_name_gives_no_sentence() {
        assert_eq!(sentences().told(Some(true), ("Ann", Some("the Ogre")), |_| None), None);
        assert_eq!(sentences().told(Some(true), ("Ann", None), |_| Some("staff")), None);
        assert_eq!(RecapSentences::default().told(Some(true), ("Ann", Some("Bob")), |_| Some("x")), None);
        assert_eq!(sentences().topics().collect::<Vec<_>>(), ["weapon"]);
    }

    #[test]
    fn a_mistake_in_a_sentence_is_named() {
        assert_eq!(RecapSentences::mistake_in("{actor} runs."), None);
        for (sentence, part) in [
            ("{actor} runs", "without `.`"),
            ("{actor runs.", "`{` without `}`"),
            ("actor} runs.", "`}` without `{`"),
            ("{} runs.", "nor a topic"),
            ("{the actor} runs.", "nor a topic"),
        ] {
            let message = RecapSentences::mistake_in(sentence).unwrap();
            assert!(message.contains(part), "{sentence}: {message}");
        }
    }
}
