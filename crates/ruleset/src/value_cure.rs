//! What to write in the place of a value that does not fit its type.

use super::cure::{Cure, Replacement};
use super::nearest::{likeliest, unlikeness};
use super::switch::{Switch, SwitchKind};
use riskbreaker_state::{Type, Unfit, Value};

/// The number that is next to another one within bounds.
#[doc(hidden)]
pub fn nearest_bound(number: i64, (min, max): (Option<i64>, Option<i64>)) -> i64 {
    let least = min.map_or(number, |min| number.max(min));
    max.map_or(least, |max| least.min(max))
}

/// The number within bounds that was meant by one that is not: the one that has a digit less, if the digit is a zero at
/// the end or is written twice, or else the bound that is next to it.
#[doc(hidden)]
pub fn number_meant(number: i64, bounds: (Option<i64>, Option<i64>)) -> i64 {
    let near = nearest_bound(number, bounds);
    let shorter = number / 10;
    let is_slip = number.abs() >= 10 && (number % 10 == 0 || shorter % 10 == number % 10);
    // One that is just past its bound is no slip of a key.
    let is_far = number.abs_diff(near) > near.unsigned_abs().max(1);
    if near != number && is_slip && is_far && nearest_bound(shorter, bounds) == shorter { shorter } else { near }
}

/// The number that a text stands for: its digits, perhaps with a unit, or an English number up to twelve.
#[doc(hidden)]
pub fn number_in(text: &str) -> Option<i64> {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let text = text.trim().to_lowercase();
    if let Some(at) = WORDS.iter().position(|word| *word == text) {
        return Some(at as i64);
    }
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let unit = digits[end..].trim();
    let number = digits[..end].parse::<i64>().ok()?;
    let is_unit = unit.chars().all(|letter| letter.is_alphabetic() || letter == '%');
    is_unit.then_some(if digits.len() < text.len() { -number } else { number })
}

/// The truth value that a text or a number stands for.
#[doc(hidden)]
pub fn truth_in(value: &Value) -> Option<bool> {
    match value {
        Value::Int(0) => Some(false),
        Value::Int(1) => Some(true),
        Value::Text(text) => match text.trim().to_lowercase().as_str() {
            "yes" | "true" | "on" => Some(true),
            "no" | "false" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// What to write in the place of a value that does not fit. `None` if that is not known.
#[doc(hidden)]
pub fn cure_of_value(unfit: &Unfit) -> Option<Cure> {
    let bare = |written: String, code: String| {
        let sentence = format!("write {code} without quotes");
        Some(Cure::rewrite(written, code, sentence))
    };
    match (&unfit.wanted, &unfit.given) {
        (Type::Int { min, max }, Value::Int(n)) => {
            let code = number_meant(*n, (*min, *max)).to_string();
            Some(Cure::rewrite(n.to_string(), code, format!("write {}", unfit.wanted.wanted())))
        }
        (Type::Int { min, max }, Value::Text(text)) => match number_in(text) {
            Some(number) if nearest_bound(number, (*min, *max)) == number => {
                bare(format!("\"{text}\""), number.to_string())
            }
            _ => Some(format!("write {}", unfit.wanted.wanted()).into()),
        },
        (Type::Bool, given) => {
            let written = given.as_text().map_or_else(|| given.to_string(), |text| format!("\"{text}\""));
            bare(written, truth_in(given)?.to_string())
        }
        (Type::Text, Value::Int(n)) => {
            let code = format!("\"{n}\"");
            Some(Cure::rewrite(n.to_string(), &*code, format!("put it in quotes: {code}")))
        }
        (Type::Enum(values), Value::Text(text)) => {
            Some(one_of(text, &values.iter().map(|value| &**value).collect::<Vec<_>>()))
        }
        _ => None,
    }
}

/// A truth value, as it is.
fn truth_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        _ => None,
    }
}

/// What to write in the place of a value that a switch does not have, as it is written in a file: the value that is meant,
/// and then the others.
#[doc(hidden)]
pub fn cure_of_switch(switch: &Switch, given: &Value) -> Option<Cure> {
    match (&switch.kind, given) {
        (SwitchKind::Range { min, max }, _) => {
            cure_of_value(&Unfit::with_clause(&Type::Int { min: Some(*min), max: Some(*max) }, given, String::new()))
        }
        (SwitchKind::Toggle, _) => cure_of_value(&Unfit::with_clause(&Type::Bool, given, String::new())),
        (SwitchKind::Choice { values }, Value::Text(text)) => {
            Some(one_of(text, &values.iter().map(String::as_str).collect::<Vec<_>>()))
        }
        // The first value is the default, in which the house rule is most often off.
        (SwitchKind::Choice { values }, _) => {
            let (first, others) = values.split_first()?;
            let written = truth_of(given).map_or_else(|| given.to_string(), |truth| truth.to_string());
            let in_order: Vec<&String> = match truth_in(given).or(truth_of(given)) {
                Some(true) => others.iter().chain([first]).collect(),
                _ => values.iter().collect(),
            };
            let choices = in_order.iter().map(|value| Replacement::of(&*written, format!("\"{value}\"")));
            Some(Cure::one_of(choices, format!("write \"{}\"", in_order.first()?)))
        }
    }
}

/// What to write in the place of a text that is none of a list: the one that is meant, and then the others; without a
/// preferred one if none is near.
#[doc(hidden)]
pub fn one_of(text: &str, values: &[&str]) -> Cure {
    let Some(meant) = likeliest(text, values.iter().copied()) else {
        let known = values.iter().map(|value| (*value).to_owned()).collect();
        return Cure::Known { written: text.to_owned(), known, more: 0 };
    };
    let mut others: Vec<&str> = values.iter().copied().filter(|value| *value != meant).collect();
    others.sort_by_key(|value| unlikeness(text, value));
    let choices = std::iter::once(meant).chain(others).take(Cure::MOST_OFFERED);
    let choices = choices.map(|value| Replacement::of(format!("\"{text}\""), format!("\"{value}\"")));
    Cure::one_of(choices, format!("did you mean \"{meant}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_bounds_means_one_with_a_digit_less_or_the_nearest_bound() {
        let within = (Some(2), Some(12));
        let meant = |number| number_meant(number, within);
        assert_eq!([60, 55, 13, 20, 1, -4, 130, 7].map(meant), [6, 5, 12, 12, 2, 2, 12, 7]);
        assert_eq!(number_meant(-50, (Some(-9), None)), -5);
        assert_eq!(nearest_bound(5, (None, None)), 5);
    }

    #[test]
    fn a_text_stands_for_a_number_or_a_truth_value() {
        let numbers = [" 8 ", "200 m", "-3", "two", "50%", "m 3", "1d6", "", "3 or 4"].map(number_in);
        assert_eq!(numbers, [Some(8), Some(200), Some(-3), Some(2), Some(50), None, None, None, None]);
        let truths = [Value::from("Yes"), Value::from("off"), Value::Int(1), Value::from("maybe"), Value::Int(2)];
        assert_eq!(truths.each_ref().map(truth_in), [Some(true), Some(false), Some(true), None, None]);
    }

    #[test]
    fn a_value_of_another_type_is_rewritten() {
        let schema = riskbreaker_state::Schema::default();
        let state = riskbreaker_state::State::new();
        let told = |ty: Type, value: Value| {
            let unfit = ty.check(&value, &schema, &state).unwrap_err();
            let cure = cure_of_value(&unfit);
            let written = cure.as_ref().and_then(Cure::written).unwrap_or_default().to_owned();
            (written, cure.map(|cure| cure.to_string()).unwrap_or_default())
        };
        let number = Type::Int { min: Some(1), max: Some(9) };
        assert_eq!(told(number.clone(), Value::Int(0)), ("0".into(), "write a whole number from 1 to 9".into()));
        assert_eq!(told(number.clone(), Value::from("8")), ("\"8\"".into(), "write 8 without quotes".into()));
        assert_eq!(told(number, Value::from("80")), (String::new(), "write a whole number from 1 to 9".into()));
        assert_eq!(told(Type::Bool, Value::from("yes")), ("\"yes\"".into(), "write true without quotes".into()));
        assert_eq!(told(Type::Text, Value::Int(5)), ("5".into(), "put it in quotes: \"5\"".into()));
        let moods = Type::Enum(vec!["calm".into(), "wild".into()]);
        assert_eq!(told(moods.clone(), Value::from("clam")).1, "did you mean \"calm\"?");
        assert_eq!(told(moods, Value::from("angry")), ("angry".into(), "known: calm, wild".into()));
    }
}
