//! A comparison with a value that a field, a switch, a roll or a function never gives.

use crate::inference::choice::WordsOfCall;
use crate::inference::symbol::Symbol;
use crate::inference::words_of_value::DeclaredWords;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{constant, literal};
use riskbreaker_dice::Dice;
use riskbreaker_ruleset::{Cure, SwitchKind, SwitchValue, TextChange, instead, number_meant};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, UnaryOp};
use riskbreaker_state::{Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "impossible-value",
    severity: Severity::Error,
    summary: "a comparison with a value that a field, a switch, a roll or a function never gives",
    explanation: "A switch and a field of words have the values that their declarations list, and a function gives the \
                  words that it returns. A comparison with another value is never true. Name one of the values, or \
                  add it to the declaration or the function. A roll is compared with a number that its dice can give.",
    bad: Example::Resolve(
        r#"if rb.switches.wins_at == "five" then
	rb.say("to five")
end"#,
    ),
    good: Example::Resolve(
        r#"if rb.switches.wins_at == 5 then
	rb.say("to five")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports the state of a turn in the order of play that there is not.
    pub(crate) fn state_of_turn(&mut self, value: Expression<'_>) {
        if let ExpressionKind::If { then_expression, else_expression, .. } = value.kind() {
            self.state_of_turn(then_expression);
            return self.state_of_turn(else_expression);
        }
        if let Some(word) = literal(value).filter(|word| !TURN_STATES.contains(&&**word)) {
            let wrong = format!("a turn is never `{word}`");
            self.problem(&LINT, value.location(), (wrong, instead(&word, TURN_STATES)));
        }
    }

    /// Reports a value that a house rule never has, in a comparison.
    pub(crate) fn switch_is_never(&mut self, name: &str, constant: &Value, at: Location) {
        let Some(switch) = self.known.stack.switch(name) else { return };
        let fits = match (&switch.kind, constant) {
            (SwitchKind::Choice { values }, Value::Text(text)) => values.iter().any(|value| **value == **text),
            (SwitchKind::Toggle, Value::Bool(_)) | (SwitchKind::Range { .. }, Value::Int(_)) => true,
            _ => false,
        };
        if !fits {
            let cure = match (&switch.kind, constant) {
                (SwitchKind::Choice { values }, Value::Text(text)) => self.instead_of_choice(text, values),
                (SwitchKind::Choice { values }, Value::Bool(truth)) => match word_of_truth(*truth, values) {
                    Some(word) => {
                        let sentence = format!("it is {}", switch.kind);
                        Cure::rewrite(truth.to_string(), format!("\"{word}\""), sentence)
                    }
                    None => format!("it is {}", switch.kind).into(),
                },
                _ => format!("it is {}", switch.kind).into(),
            };
            let shown = match constant {
                Value::Text(text) => format!("\"{text}\""),
                Value::Bool(truth) => format!("`{truth}`"),
                other => other.to_string(),
            };
            self.problem(&LINT, at, (format!("the switch `{name}` is never {shown}"), cure));
        }
    }

    /// Reports a word that a declared parameter, which has one of these values, never is.
    pub(crate) fn param_is_never(&mut self, name: &str, given: &str, values: &[String], at: Location) {
        if !values.iter().any(|value| value == given) {
            let cure = self.known.instead_of_value(given, values);
            self.problem(&LINT, at, (format!("`{name}` is never \"{given}\""), cure));
        }
    }

    /// Reports a word that a variable never is, which holds one of some declared words.
    pub(crate) fn word_is_never(&mut self, declared: &DeclaredWords, given: &str, at: Location) {
        if !declared.words.iter().any(|word| word == given) {
            let cure = self.known.instead_of_value(given, &declared.words);
            self.problem(&LINT, at, (format!("{} is never \"{given}\"", declared.of), cure));
        }
    }

    /// Reports a comparison of what a function gives with a text that it never gives.
    pub(crate) fn never_given(&mut self, given: &str, call: &WordsOfCall, at: Location) {
        let cure = instead(given, call.words.iter().map(String::as_str));
        self.problem(&LINT, at, (format!("`{}` never gives \"{given}\"", call.name), cure));
    }

    /// Reports a value to which a spec cannot set a house rule.
    pub(crate) fn switch_is_never_set(&mut self, name: &str, kind: &SwitchKind, value: &SwitchValue, at: Location) {
        if kind.has(value) {
            return;
        }
        let sentence = format!("it is {kind}");
        let (shown, cure) = match (kind, value) {
            (SwitchKind::Choice { values }, SwitchValue::Text(text)) => {
                (format!("\"{text}\""), self.instead_of_choice(text, values))
            }
            (SwitchKind::Choice { values }, SwitchValue::Bool(truth)) => {
                let word = word_of_truth(*truth, values);
                let cure = word.map(|word| Cure::rewrite(truth.to_string(), format!("\"{word}\""), &*sentence));
                (format!("`{truth}`"), cure.unwrap_or_else(|| sentence.into()))
            }
            (SwitchKind::Range { min, max }, SwitchValue::Int(number)) => {
                let bound = number_meant(*number, (Some(*min), Some(*max)));
                (number.to_string(), Cure::rewrite(number.to_string(), bound.to_string(), sentence))
            }
            _ => (value.to_string(), sentence.into()),
        };
        self.problem(&LINT, at, (format!("the switch `{name}` is never {shown}"), cure));
    }

    /// The cure for a word that a switch never is: the word of the same truth value, or else the likeliest value.
    fn instead_of_choice(&self, word: &str, values: &[String]) -> Cure {
        let of_truth = WORDS_OF_TRUTH.iter().position(|words| words.contains(&word));
        let meant = of_truth.and_then(|truth| word_of_truth(truth == 1, values));
        meant.map_or_else(|| self.known.instead(word, values), |meant| Cure::meant_text(word, meant))
    }

    /// Reports the word of one row of `rb.cases` that a switch never is, if the other rows name all of its values but one.
    /// Returns whether it did.
    pub(crate) fn row_sets_no_value(
        &mut self,
        name: &str,
        kind: &SwitchKind,
        (word, at): (&str, Location),
        named: &[&str],
    ) -> bool {
        let SwitchKind::Choice { values } = kind else { return false };
        let mut unnamed = values.iter().filter(|value| !named.contains(&value.as_str()));
        let (Some(only), None) = (unnamed.next(), unnamed.next()) else { return false };
        let is_wrong = named.len() > 1 && !values.iter().any(|value| value == word);
        if is_wrong {
            let wrong = format!("the switch `{name}` is never \"{word}\"");
            self.problem(&LINT, at, (wrong, Cure::meant_text(word, only.as_str())));
        }
        is_wrong
    }

    /// Reports a text that a field with these types never has. `certain`: whether the kind of the entity is known; then a
    /// text that is near to no value counts, too.
    pub(crate) fn field_is_never(&mut self, name: &str, given: &str, types: &[&Type], certain: bool, at: Location) {
        let mut values: Vec<String> = Vec::new();
        for ty in types {
            let Type::Enum(texts) = ty else { return };
            values.extend(texts.iter().map(ToString::to_string));
        }
        let is_meant = certain
            || !self.known.names.may_be_own(name)
            || self.known.nearest(given, values.iter().map(String::as_str)).is_some();
        if is_meant && !values.iter().any(|value| value == given) {
            self.problem(
                &LINT,
                at,
                (format!("`{name}` is never \"{given}\""), self.known.instead_of_value(given, &values)),
            );
        }
    }
}

impl ScriptReader<'_> {
    /// The dice of a roll, with the least and the greatest total; `None` if they are not written there, or explode.
    pub(crate) fn range_of_roll(&self, roll: Expression<'_>) -> Option<(String, i64, i64)> {
        match roll.kind() {
            ExpressionKind::Grouped(inner) => self.range_of_roll(inner),
            ExpressionKind::Local { local, .. } => self.rolled.get(&local.id).cloned(),
            ExpressionKind::Call { func, args, .. } => match self.symbol(func)? {
                Symbol::Word("roll") => self.range_of_dice(*args.first()?),
                Symbol::Word("pick") => match constant(*args.get(1)?)? {
                    Value::Int(most) => Some((self.source(roll).to_owned(), 1, most)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn range_of_dice(&self, dice: Expression<'_>) -> Option<(String, i64, i64)> {
        let written = self.text_of(dice)?;
        let (count, sides, constant) = Dice::parse(&written).ok()?.simple()?;
        let (count, sides) = (i64::from(count), i64::from(sides));
        Some((written, count + constant, count * sides + constant))
    }

    /// Reports a field that is set to the negative of another value although it is never below zero: `add` takes the value away.
    /// Returns whether it did. `of`: the entity, before the name of the method.
    pub(crate) fn set_to_negative(
        &mut self,
        field: &str,
        ty: &Type,
        value: Expression<'_>,
        of: Expression<'_>,
    ) -> bool {
        let ExpressionKind::Unary { op: UnaryOp::Negate, rhs } = value.kind() else { return false };
        let is_plain = matches!(rhs.kind(), ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. });
        let Type::Int { min: Some(0..), .. } = ty else { return false };
        if !is_plain {
            return false;
        }
        let (taken, written) = (self.source(rhs).to_owned(), self.source(value).to_owned());
        let wrong = format!("`{field}` is never below zero, and `{written}` is, unless `{taken}` is not above zero");
        let cure = format!("to take {taken} away, write :add(\"{field}\", {written})");
        let begin = self.offset_of(of.location().end) + ":".len();
        let end = begin + "set".len();
        let is_method = self.text.get(begin - 1..end) == Some(":set");
        let change = is_method.then(|| TextChange { begin, end, text: "add".into() });
        self.problem_with(&LINT, value.location(), (wrong, cure.into()), change);
        true
    }

    /// Reports a comparison of a roll with a number, in either order, that all or none of its results fulfil.
    pub(crate) fn roll_compared(&mut self, lhs: Expression<'_>, op: BinaryOp, rhs: Expression<'_>) {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let exchanged = match op {
            Less => Greater,
            LessEqual => GreaterEqual,
            Greater => Less,
            GreaterEqual => LessEqual,
            _ => op,
        };
        let found = match (self.range_of_roll(lhs), constant(rhs), self.range_of_roll(rhs), constant(lhs)) {
            (Some(range), Some(Value::Int(than)), ..) => (range, op, than, rhs),
            (.., Some(range), Some(Value::Int(than))) => (range, exchanged, than, lhs),
            _ => return,
        };
        let ((dice, least, most), of_roll, than, number) = found;
        let (always, never) = match of_roll {
            Greater => (least > than, most <= than),
            GreaterEqual => (least >= than, most < than),
            Less => (most < than, least >= than),
            LessEqual => (most <= than, least > than),
            Equal => (false, than < least || than > most),
            NotEqual => (than < least || than > most, false),
            _ => return,
        };
        if !always && !never {
            return;
        }
        let word = if always { "always" } else { "never" };
        let wrong = format!("{dice} gives {least} to {most}, so this is {word} true");
        // The border itself was most likely meant: `> 6` of a die.
        let is_border = of_roll == Greater && than == most || of_roll == Less && than == least;
        let between = self.offset_of(lhs.location().end)..self.offset_of(rhs.location().begin);
        let sign = self.text.get(between.clone()).and_then(|text| text.find(op.symbol())).filter(|_| is_border);
        let change = sign.map(|at| {
            let end = between.start + at + op.symbol().len();
            TextChange { begin: end, end, text: "=".into() }
        });
        let cure = match is_border {
            true => format!("write `{}=` instead of `{}`", op.symbol(), op.symbol()),
            false => format!("compare it with a number from {least} to {most}"),
        };
        self.problem_with(&LINT, number.location(), (wrong, cure.into()), change);
    }

    /// Reports `rb.at_least("1d6", 7, ...)` and the like, which always or never succeed.
    pub(crate) fn need_of_roll(&mut self, word: &str, args: &[Expression<'_>]) {
        let [dice, need, ..] = args else { return };
        let Some((dice, least, most)) = self.range_of_dice(*dice) else { return };
        let Some(Value::Int(need_of)) = constant(*need) else { return };
        let (always, never) = match word {
            "at_least" => (need_of <= least, need_of > most),
            "at_most" => (need_of >= most, need_of < least),
            "under" => (need_of > most, need_of <= least),
            _ => return,
        };
        if always || never {
            let word = if always { "always" } else { "never" };
            let wrong = format!("{dice} gives {least} to {most}, so this {word} succeeds");
            let cure = format!("write a number from {least} to {most} with which it can succeed and fail");
            self.problem(&LINT, need.location(), (wrong, cure.into()));
        }
    }
}

/// The states of a turn in the order of play.
const TURN_STATES: [&str; 4] = ["acted", "now", "to_come", "out"];

/// Words for false and for true.
const WORDS_OF_TRUTH: [[&str; 4]; 2] = [["no", "off", "false", "never"], ["yes", "on", "true", "always"]];

/// The only one of some values that is a word for true or for false.
fn word_of_truth(truth: bool, values: &[String]) -> Option<&str> {
    let mut words =
        values.iter().map(String::as_str).filter(|value| WORDS_OF_TRUTH[usize::from(truth)].contains(value));
    words.next().filter(|_| words.next().is_none())
}
