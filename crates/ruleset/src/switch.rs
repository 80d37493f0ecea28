use std::fmt;

use serde::{Deserialize, Serialize};

use super::nearest::nearest;
use super::quoted::quoted;

/// A house rule, with its possible values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Switch {
    /// The name in scripts.
    pub name: String,
    /// The possible values.
    pub kind: SwitchKind,
    /// The default value.
    pub default: SwitchValue,
    /// The effect, in a sentence.
    pub text: String,
    /// The ids of the rules concerned.
    pub rules: Vec<String>,
    /// The manifest that declares it (`my-game/ruleset.toml`).
    pub path: String,
    /// The line there, from 1.
    pub line: u32,
}

impl Switch {
    /// Parses a typed value: one of the texts, true or false (also on or off, yes or no), or a number.
    ///
    /// # Errors
    ///
    /// The switch does not have the value; the refusal lists the possible values and the most similar one.
    pub fn parse(&self, given: &str) -> Result<SwitchValue, SwitchRefusal> {
        let given = given.trim();
        let value = match &self.kind {
            SwitchKind::Choice { .. } => Some(SwitchValue::Text(given.to_owned())),
            SwitchKind::Toggle => match given.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" => Some(SwitchValue::Bool(true)),
                "false" | "off" | "no" => Some(SwitchValue::Bool(false)),
                _ => None,
            },
            SwitchKind::Range { .. } => given.parse().ok().map(SwitchValue::Int),
        };
        match value {
            Some(value) if self.kind.has(&value) => Ok(value),
            _ => Err(self.refusal(given)),
        }
    }

    /// Checks a value that comes from a script or a file.
    ///
    /// # Errors
    ///
    /// As for [`Switch::parse`].
    pub fn check(&self, value: &SwitchValue) -> Result<(), SwitchRefusal> {
        if self.kind.has(value) { Ok(()) } else { Err(self.refusal(&value.to_string())) }
    }

    fn refusal(&self, given: &str) -> SwitchRefusal {
        let nearest = match &self.kind {
            SwitchKind::Choice { values } => nearest(given, values.iter().map(String::as_str)).map(str::to_owned),
            SwitchKind::Toggle => nearest(given, ["true", "false"]).map(str::to_owned),
            SwitchKind::Range { .. } => None,
        };
        SwitchRefusal { switch: self.name.clone(), given: given.to_owned(), allowed: self.kind.to_string(), nearest }
    }
}

/// The possible values of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SwitchKind {
    /// One of some texts.
    Choice {
        /// The texts, as declared: the default first.
        values: Vec<String>,
    },
    /// True or false.
    Toggle,
    /// A whole number.
    Range {
        /// The smallest allowed number.
        min: i64,
        /// The largest allowed number.
        max: i64,
    },
}

impl SwitchKind {
    /// True if a value is possible.
    pub fn has(&self, value: &SwitchValue) -> bool {
        match (self, value) {
            (SwitchKind::Choice { values }, SwitchValue::Text(text)) => values.contains(text),
            (SwitchKind::Toggle, SwitchValue::Bool(_)) => true,
            (SwitchKind::Range { min, max }, SwitchValue::Int(n)) => (min..=max).contains(&n),
            _ => false,
        }
    }

    /// True if all possible values of the other are possible here.
    pub(crate) fn has_all_of(&self, other: &SwitchKind) -> bool {
        match (self, other) {
            (SwitchKind::Choice { values }, SwitchKind::Choice { values: others }) => {
                others.iter().all(|value| values.contains(value))
            }
            (SwitchKind::Toggle, SwitchKind::Toggle) => true,
            (SwitchKind::Range { min, max }, SwitchKind::Range { min: least, max: most }) => {
                min <= least && most <= max
            }
            _ => false,
        }
    }
}

/// Prints the values for a sentence: `low or high`, `true or false`, `0 to 10`.
impl fmt::Display for SwitchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchKind::Choice { values } => match values.split_last() {
                Some((last, [])) => f.write_str(last),
                Some((last, rest)) => write!(f, "{} or {last}", rest.join(", ")),
                None => f.write_str("nothing"),
            },
            SwitchKind::Toggle => f.write_str("true or false"),
            SwitchKind::Range { min, max } => write!(f, "{min} to {max}"),
        }
    }
}

/// The value of a switch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SwitchValue {
    /// The value of a [`SwitchKind::Toggle`].
    Bool(bool),
    /// The value of a [`SwitchKind::Range`].
    Int(i64),
    /// The value of a [`SwitchKind::Choice`].
    Text(String),
}

impl SwitchValue {
    /// Converts the value to the form in scripts and in the state.
    pub fn as_value(&self) -> riskbreaker_state::Value {
        match self {
            SwitchValue::Text(text) => riskbreaker_state::Value::text(text),
            SwitchValue::Bool(yes) => riskbreaker_state::Value::Bool(*yes),
            SwitchValue::Int(n) => riskbreaker_state::Value::Int(*n),
        }
    }
}

impl fmt::Display for SwitchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchValue::Bool(value) => value.fmt(f),
            SwitchValue::Int(value) => value.fmt(f),
            SwitchValue::Text(value) => value.fmt(f),
        }
    }
}

/// The refusal of a value that a switch does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("switch `{switch}` cannot be {}: it is {allowed}{}", quoted(given), meant(nearest.as_deref()))]
#[non_exhaustive]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct SwitchRefusal {
    /// The switch.
    pub switch: String,
    /// The given value.
    pub given: String,
    /// The possible values, as a phrase.
    pub allowed: String,
    /// The most similar possible value.
    pub nearest: Option<String>,
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(kind: SwitchKind, default: SwitchValue) -> Switch {
        let (text, path) = ("What it decides.".to_owned(), "g/ruleset.toml".to_owned());
        Switch { name: "growth".to_owned(), kind, default, text, rules: Vec::new(), path, line: 1 }
    }

    #[test]
    fn a_choice_accepts_its_texts_and_suggests_the_nearest() {
        let values = vec!["difference".to_owned(), "flat_one".to_owned()];
        let growth = switch(SwitchKind::Choice { values }, SwitchValue::Text("difference".to_owned()));
        assert_eq!(growth.parse(" flat_one "), Ok(SwitchValue::Text("flat_one".to_owned())));
        assert_eq!(
            growth.parse("flat_on").unwrap_err().to_string(),
            "switch `growth` cannot be `flat_on`: it is difference or flat_one; did you mean `flat_one`?"
        );
        assert!(growth.check(&SwitchValue::Bool(true)).is_err());
    }

    #[test]
    fn a_toggle_takes_the_words_that_people_type() {
        let toggle = switch(SwitchKind::Toggle, SwitchValue::Bool(false));
        assert_eq!(toggle.parse("ON"), Ok(SwitchValue::Bool(true)));
        assert_eq!(toggle.parse("false"), Ok(SwitchValue::Bool(false)));
        let refusal = toggle.parse("ture").unwrap_err().to_string();
        assert_eq!(refusal, "switch `growth` cannot be `ture`: it is true or false; did you mean `true`?");
    }

    #[test]
    fn a_range_takes_its_bounds_and_nothing_beyond() {
        let range = switch(SwitchKind::Range { min: 0, max: 10 }, SwitchValue::Int(2));
        assert_eq!(range.parse("10"), Ok(SwitchValue::Int(10)));
        assert_eq!(range.parse("11").unwrap_err().to_string(), "switch `growth` cannot be `11`: it is 0 to 10");
        assert!(range.parse("2.5").is_err());
    }

    #[test]
    fn values_survive_json() {
        let values = vec![SwitchValue::Bool(true), SwitchValue::Int(3), SwitchValue::Text("3".to_owned())];
        let json = serde_json::to_string(&values).unwrap();
        assert_eq!(json, r#"[true,3,"3"]"#);
        assert_eq!(serde_json::from_str::<Vec<SwitchValue>>(&json).unwrap(), values);
    }
}
