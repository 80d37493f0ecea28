//! A spec expects what no play can give.

use crate::lint::{Example, Lint, Severity};
use crate::lints::field_type::value_instead;
use crate::misspelling::is_slip;
use crate::reader::ScriptReader;
use crate::syntax::{constant, literal, named, number};
use riskbreaker_ruleset::{Cure, instead, nearest_bound};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};
use riskbreaker_spec::{EVENT_SORTS, REFUSAL_KINDS};
use riskbreaker_state::{Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-expectation",
    severity: Severity::Error,
    summary: "a spec expects what no play can give",
    explanation: "`t:expect` takes changed fields, `\"unchanged\"` or `\"gone\"`. Refusals have the kinds and \
                  fields, and events the kinds, that the reference lists. A spec that expects something else \
                  always fails.",
    bad: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchange" })
end)
"#,
    )]),
    good: Example::Files(&[(
        "specs/example.luau",
        r#"local rb = require("@riskbreaker")

rb.spec("TUG-2: a rest moves nothing", { "TUG-2" }, function(t)
	t:given("two")
	t:play("Ann", "rest")
	t:expect({ rope = "unchanged" })
end)
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports an expected value that the field never has: a number in quotes, or a word that is none of its words.
    pub(crate) fn value_of_field(&mut self, field: &str, value: Expression<'_>) {
        if let Some(Value::Int(number)) = constant(value).filter(|_| !self.elsewhere) {
            return self.number_of_field(field, number, value);
        }
        let Some(given) = literal(value).filter(|_| !self.elsewhere) else { return };
        let mut kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        if matches!(&*given, "unchanged" | "gone" | "none") {
            return;
        }
        if kinds.any(|kind| kind.has_derived(field)) {
            let words = self.known.names.words_of_derived(field).filter(|words| !words.contains(&given));
            if let Some(words) = words.filter(|_| self.known.types_of(field).next().is_none()) {
                let cure = instead(&given, words.iter().map(String::as_str));
                self.problem(&LINT, value.location(), (format!("`{field}` never gives \"{given}\""), cure));
            }
            return;
        }
        let types: Vec<&Type> = self.known.types_of(field).collect();
        let never = |ty: &&Type| match ty {
            Type::Int { .. } => given.trim().parse::<i64>().is_ok(),
            Type::Enum(values) => values.iter().all(|value| **value != *given),
            _ => false,
        };
        if types.is_empty() || !types.iter().all(never) {
            return;
        }
        let wrong = format!("`{field}` is never \"{given}\"");
        let (cure, meant) = value_instead(&types, &Value::text(&*given));
        let change = meant.map(|meant| self.replaced(value.location(), meant));
        self.problem_with(&LINT, value.location(), (wrong, cure), change);
    }

    /// Reports an expected number outside the bounds of the field.
    fn number_of_field(&mut self, field: &str, number: i64, value: Expression<'_>) {
        let mut kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        if kinds.any(|kind| kind.has_derived(field)) {
            return;
        }
        let bounds: Option<Vec<_>> = self.known.types_of(field).map(bounds_of).collect();
        let Some(bounds) = bounds.filter(|bounds| !bounds.is_empty()) else { return };
        let is_outside = |bounds: &(Option<i64>, Option<i64>)| nearest_bound(number, *bounds) != number;
        if !bounds.iter().all(is_outside) {
            return;
        }
        let takes = match bounds[0] {
            (Some(min), Some(max)) => format!("it is from {min} to {max}"),
            (Some(min), None) => format!("it is at least {min}"),
            (None, Some(max)) => format!("it is at most {max}"),
            (None, None) => return,
        };
        // Only the neighbour of a bound is most likely meant to be the bound.
        let bound = nearest_bound(number, bounds[0]);
        let change = (bound.abs_diff(number) == 1).then(|| self.replaced(value.location(), bound.to_string()));
        let mistake = (format!("`{field}` is never {number}"), takes.into());
        self.problem_with(&LINT, value.location(), mistake, change);
    }

    /// Checks the names in an expected change, `{ title = { field = value } }`.
    pub(crate) fn expected(&mut self, arg: Option<&Expression<'_>>) {
        let Some(ExpressionKind::Table { items }) = arg.map(|arg| arg.kind()) else { return };
        for item in items {
            let (key, value) = match item {
                TableItem::Record { key, value } => (key, value),
                // One of several expected outcomes: { wanted, chance }.
                TableItem::List { value } => {
                    if let ExpressionKind::Table { items } = value.kind()
                        && let Some(TableItem::List { value }) = items.first()
                    {
                        self.expected(Some(value));
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(title) = literal(*key) {
                // `said` is an expected message beside the fields.
                if title == "said" && literal(*value).is_some() {
                    continue;
                }
                self.somebody(&title, key.location());
            }
            match value.kind() {
                ExpressionKind::Table { .. } => {
                    for (field, at, value) in named(*value) {
                        self.field_or_value(&field, at);
                        self.value_of_field(&field, value);
                    }
                }
                _ => {
                    if number(*value).is_some() || matches!(value.kind(), ExpressionKind::Boolean(_)) {
                        let (name, is) = (literal(*key).unwrap_or_default(), self.source(*value));
                        let wrong = format!("an expectation names who has changed, and `{name} = {is}` names nobody");
                        let cure = format!("write {{ NAME = {{ {name} = {is} }} }}");
                        self.problem(&LINT, value.location(), (wrong, cure.into()));
                    }
                    if let Some(word) = literal(*value).filter(|word| !matches!(&**word, "unchanged" | "gone")) {
                        let cure = self.known.instead_alike(&word, &["unchanged".to_string(), "gone".to_string()]);
                        self.problem(&LINT, value.location(), (format!("nothing is expected by \"{word}\""), cure));
                    }
                }
            }
        }
    }

    /// Checks an expected refusal, `{ kind = "greyed", rule = "ABC-1" }`.
    pub(crate) fn refusal(&mut self, arg: Option<&Expression<'_>>) {
        for (field, at, value) in arg.into_iter().flat_map(|arg| named(*arg)) {
            let fields = || REFUSAL_KINDS.iter().flat_map(|(_, fields)| *fields).copied().chain(["kind", "rule"]);
            match (field.as_str(), literal(value)) {
                ("kind", Some(kind)) if REFUSAL_KINDS.iter().all(|(known, _)| *known != kind) => {
                    let cure = riskbreaker_ruleset::instead(&kind, REFUSAL_KINDS.iter().map(|(known, _)| *known));
                    self.problem(&LINT, value.location(), (format!("no refusal is of the kind `{kind}`"), cure));
                }
                ("rule", Some(rule)) => self.unknown_rule(&rule, value.location()),
                (field, _) if fields().all(|known| known != field) => {
                    let cure = riskbreaker_ruleset::instead(field, fields());
                    self.problem(&LINT, at, (format!("no refusal has a field `{field}`"), cure));
                }
                _ => {}
            }
        }
    }

    /// Reports a face of `t:dice` that no die of the ruleset has.
    pub(crate) fn no_such_face(&mut self, face: Expression<'_>) {
        let Some(shown) = number(face).filter(|_| !self.elsewhere) else { return };
        if shown < 1.0 || shown.fract() != 0.0 {
            let wrong = format!("no die shows {shown}");
            return self.problem(&LINT, face.location(), (wrong, "write a whole number of at least 1".into()));
        }
        let Some(largest) = self.known.names.largest_die().filter(|sides| shown > f64::from(*sides)) else { return };
        let wrong = format!("no die of these rules shows {shown}: the largest one has {largest} faces");
        let sentence = format!("write a face from 1 to {largest}");
        self.problem(&LINT, face.location(), (wrong, Cure::rewrite(shown.to_string(), largest.to_string(), sentence)));
    }

    /// Reports a reason or a message that no script gives, if a script gives one that is nearly the same.
    pub(crate) fn said_by_nobody(&mut self, arg: Option<&Expression<'_>>) {
        let Some((text, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        let names = &self.known.names;
        // Words of other texts, such as the title of a card, may be put together.
        if self.elsewhere || !text.contains(' ') || names.times(&text) > 0 {
            return;
        }
        // A part of a text is enough.
        if names.texts().any(|other| other.contains(&*text) || fills(other, &text)) {
            return;
        }
        // Scripts may put a text together, so only a slip of a letter or another word in an otherwise equal text is certain.
        let near = names.texts().filter(|other| other.contains(' ') && self.known.may_compare(1));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let mut meant = near.filter_map(|other| match is_slip(&text, other) && digits(&text) == digits(other) {
            true => Some((other, other)),
            false => Some((with_one_other_word(other, &text)?, other)),
        });
        if let Some((meant, whole)) = meant.next().map(|(meant, whole)| (meant.to_owned(), whole.to_owned())) {
            let wrong = match meant == whole {
                true => format!("no script says \"{text}\""),
                false => format!("no script says \"{text}\"; one says \"{whole}\""),
            };
            self.problem(&LINT, at, (wrong, Cure::meant_text(text, meant)));
        }
    }

    /// Reports a sort of event that there is not.
    pub(crate) fn no_event(&mut self, sort: &str, at: Location) {
        let sorts: Vec<String> = EVENT_SORTS.iter().map(|(sort, _)| sort.to_string()).collect();
        if !sorts.iter().any(|known| known == sort) {
            self.problem(
                &LINT,
                at,
                (format!("there is no kind of event `{sort}`"), self.known.instead_alike(sort, &sorts)),
            );
        }
    }
}

/// The bounds of a whole number; `None` for another type.
fn bounds_of(ty: &Type) -> Option<(Option<i64>, Option<i64>)> {
    match ty {
        Type::Int { min, max } => Some((*min, *max)),
        _ => None,
    }
}

/// Whether a text with values in the place of its `{}` can be another one.
fn fills(pattern: &str, text: &str) -> bool {
    if !pattern.contains('{') {
        return false;
    }
    let mut rest = text;
    let mut fixed = 0;
    let parts = pattern.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or(part, |(_, fixed)| fixed),
    });
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        fixed += part.trim().len();
    }
    fixed > 0
}

/// The part of a longer text that has as many words as an expected one, and differs from it in one word. One of the equal words
/// must be a number of a rule in brackets, so that both speak of the same rule.
fn with_one_other_word<'t>(text: &'t str, expected: &str) -> Option<&'t str> {
    let wanted: Vec<&str> = expected.split(' ').collect();
    let is_rule = |word: &&str| word.starts_with('(') && word.ends_with(')') && word.contains('-');
    if wanted.len() < FEWEST_WORDS || !wanted.iter().any(is_rule) {
        return None;
    }
    let words: Vec<(usize, &str)> =
        text.split(' ').map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word)).collect();
    let part = words.windows(wanted.len()).find(|part| {
        let mut odd = part.iter().zip(&wanted).filter(|((_, word), wanted)| word != *wanted);
        let is_plain = odd.next().is_some_and(|((_, word), wanted)| {
            [*word, *wanted].iter().all(|word| word.chars().all(char::is_alphabetic))
        });
        is_plain && odd.next().is_none()
    })?;
    let ((begin, _), (end, last)) = (part.first()?, part.last()?);
    text.get(*begin..end + last.len())
}

/// The fewest words of an expected text that is compared word by word.
const FEWEST_WORDS: usize = 3;

#[cfg(test)]
mod tests {
    use super::{fills, with_one_other_word};

    #[test]
    fn a_text_differs_in_one_word_from_a_part_of_another_text() {
        let part = with_one_other_word("somebody is too near (SC-3)", "too close (SC-3)");
        assert_eq!(part, Some("too near (SC-3)"));
        assert_eq!(with_one_other_word("somebody is too near (SC-4)", "too close (SC-3)"), None);
        assert_eq!(with_one_other_word("somebody is too near", "is too close"), None);
    }

    #[test]
    fn a_text_fills_a_pattern_whose_fixed_parts_it_has_in_order() {
        assert!(fills("{} pulls {name}'s rope", "Ann pulls Bob's rope"));
        assert!(!fills("{} pulls {}", "Ann rests"));
        assert!(!fills("Ann rests", "Ann rests") && !fills("{}", "Ann rests"));
    }
}
