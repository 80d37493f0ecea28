//! Conditions on the outcome of a card: `Bandit.harm >= 3 and Ann.gold < 2 or Bandit.stunned = yes`.

use std::fmt;

use riskbreaker::Value;
use riskbreaker::dice::Fraction;
use riskbreaker::lab::{Compared, Odds, Outcome};

/// A condition in disjunctive form: true if all conditions of one of these lists hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions(Vec<Vec<Condition>>);

/// A field or derived value compared with a value.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    title: String,
    field: String,
    relation: Relation,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Is,
    IsNot,
    AtLeast,
    AtMost,
    Over,
    Under,
}

/// The signs of relations; a longer sign comes before its prefix.
const SIGNS: [(&str, Relation); 7] = [
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    ("!=", Relation::IsNot),
    ("==", Relation::Is),
    (">", Relation::Over),
    ("<", Relation::Under),
    ("=", Relation::Is),
];

/// The fields and derived values that a call reads, each once, in the order of [`Outcome::watched`].
#[derive(Clone, Debug, Default)]
pub struct WatchedFields(pub Vec<(String, String)>);

/// Parses `NAME.FIELD`.
pub fn place(text: &str) -> Result<(String, String), String> {
    let text = text.trim();
    let parts = text.rsplit_once('.').map(|(name, field)| (name.trim().to_owned(), field.trim().to_owned()));
    parts
        .filter(|(name, field)| !name.is_empty() && !field.is_empty())
        .ok_or_else(|| format!("`{text}` names no field: write NAME.FIELD, such as Bandit.harm"))
}

impl Conditions {
    pub fn read(text: &str) -> Result<Conditions, String> {
        let all = |part: &str| part.split(" and ").map(Condition::read).collect::<Result<Vec<_>, _>>();
        text.split(" or ").map(all).collect::<Result<_, _>>().map(Conditions)
    }

    /// Adds the fields that the conditions read.
    pub fn note(&self, places: &mut WatchedFields) {
        for condition in self.0.iter().flatten() {
            places.note(&condition.title, &condition.field);
        }
    }

    /// The comparisons in the conditions.
    pub fn compared(&self) -> impl Iterator<Item = Compared> + '_ {
        self.0.iter().flatten().map(|Condition { title, field, relation, value }| Compared {
            title: title.clone(),
            field: field.clone(),
            value: value.clone(),
            by_order: !matches!(relation, Relation::Is | Relation::IsNot),
        })
    }

    pub fn hold(&self, places: &WatchedFields, outcome: &Outcome) -> bool {
        self.0.iter().any(|all| all.iter().all(|condition| condition.holds(places.value(outcome, &condition.place()))))
    }

    /// The chance that the conditions hold.
    pub fn chance(&self, places: &WatchedFields, odds: &Odds) -> Fraction {
        odds.chance(|outcome| self.hold(places, outcome))
    }
}

impl WatchedFields {
    /// Adds a field unless it is already there.
    pub fn note(&mut self, title: &str, field: &str) {
        let place = (title.to_owned(), field.to_owned());
        if !self.0.contains(&place) {
            self.0.push(place);
        }
    }

    /// The value of a field at the end of an outcome.
    pub fn value<'o>(&self, outcome: &'o Outcome, place: &(String, String)) -> &'o Value {
        let at = self.0.iter().position(|known| known == place);
        at.and_then(|at| outcome.watched.get(at)).unwrap_or(&Value::None)
    }
}

impl Condition {
    fn read(text: &str) -> Result<Condition, String> {
        let at = text.find(['<', '>', '=', '!']);
        let sign =
            at.and_then(|at| SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign)).map(|found| (at, found)));
        let Some((at, (sign, relation))) = sign else {
            return Err(format!(
                "`{}` is no condition: write NAME.FIELD >= N, with >=, <=, >, <, = or !=",
                text.trim()
            ));
        };
        let (title, field) = place(&text[..at])?;
        let value = text[at + sign.len()..].trim().trim_matches(['"', '\'']).to_owned();
        if value.is_empty() {
            return Err(format!("`{}` compares with nothing: write a value behind `{sign}`", text.trim()));
        }
        if !matches!(relation, Relation::Is | Relation::IsNot) && value.parse::<i64>().is_err() {
            return Err(format!("`{sign}` compares whole numbers; `{value}` is not one"));
        }
        Ok(Condition { title, field, relation: *relation, value })
    }

    fn place(&self) -> (String, String) {
        (self.title.clone(), self.field.clone())
    }

    fn holds(&self, found: &Value) -> bool {
        let order = match (found.as_int(), self.value.parse::<i64>()) {
            (Some(found), Ok(value)) => Some(found.cmp(&value)),
            _ => None,
        };
        match self.relation {
            Relation::Is => same(found, &self.value),
            Relation::IsNot => !same(found, &self.value),
            Relation::AtLeast => order.is_some_and(|order| order.is_ge()),
            Relation::AtMost => order.is_some_and(|order| order.is_le()),
            Relation::Over => order.is_some_and(|order| order.is_gt()),
            Relation::Under => order.is_some_and(|order| order.is_lt()),
        }
    }
}

/// True if a value matches the written one: numbers, texts, `yes`, `no`, `none`, titles of entities.
fn same(found: &Value, written: &str) -> bool {
    match found {
        Value::Bool(yes) => matches!((yes, written), (true, "yes" | "true" | "on") | (false, "no" | "false" | "off")),
        Value::None => written == "none",
        Value::Int(n) => written.parse() == Ok(*n),
        Value::Ratio(..) => Value::read_ratio(written).as_ref() == Some(found),
        Value::Text(text) => text.eq_ignore_ascii_case(written),
        other => other.to_string() == written,
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, all) in self.0.iter().enumerate() {
            write!(f, "{}", if at == 0 { "" } else { " or " })?;
            for (at, Condition { title, field, relation, value }) in all.iter().enumerate() {
                let (sign, _) = SIGNS.iter().rfind(|(_, known)| known == relation).expect("each relation has a sign");
                write!(f, "{}{title}.{field} {sign} {value}", if at == 0 { "" } else { " and " })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Conditions::read(text).unwrap_err()
    }

    #[test]
    fn conditions_are_read_with_and_before_or() {
        for (written, shown) in [
            ("Big Foe.harm>=3", "Big Foe.harm >= 3"),
            ("A.b = yes and C.d<2 or E.f!='a b'", "A.b = yes and C.d < 2 or E.f != a b"),
            ("A.b == 1", "A.b = 1"),
        ] {
            assert_eq!(Conditions::read(written).unwrap().to_string(), shown);
        }
        assert!(refusal("Bandit >= 3").starts_with("`Bandit` names no field"));
        assert!(refusal("A.b").contains("is no condition"));
        assert!(refusal("A.b >= ").contains("a value behind `>=`"));
        assert_eq!(refusal("A.b >= two"), "`>=` compares whole numbers; `two` is not one");
        assert!(refusal("").contains("is no condition"));
    }

    #[test]
    fn a_condition_compares_the_written_form_of_a_value() {
        let mut places = WatchedFields::default();
        let holds = |text: &str, value: Value| {
            let conditions = Conditions::read(text).unwrap();
            let mut places = places.clone();
            conditions.note(&mut places);
            conditions.hold(&places, &Outcome { watched: vec![value], ..Outcome::default() })
        };
        assert!(
            holds("A.b >= 3", Value::Int(3)) && !holds("A.b > 3", Value::Int(3)) && holds("A.b < 4", Value::Int(-3))
        );
        assert!(holds("A.b = yes", Value::Bool(true)) && holds("A.b != yes", Value::Bool(false)));
        assert!(holds("A.b = ann", Value::text("Ann")) && !holds("A.b = 3", Value::text("Ann")));
        assert!(holds("A.b = none", Value::None) && !holds("A.b <= 9", Value::None) && holds("A.b != 3", Value::None));
        places.note("A", "b");
        places.note("A", "b");
        assert_eq!(places.0.len(), 1);
    }
}
