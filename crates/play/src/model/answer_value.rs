//! Answers as plain values, for clients: an option is its id, points are an object by option id.

use std::sync::Arc;

use super::question::{Answer, Ask, Question};
use super::refusal::Refusal;
use riskbreaker_state::Value;

impl Answer {
    /// Converts the answer to a plain value: a text, a list of texts, a number, an object of points, or a boolean.
    pub fn to_value(&self) -> Value {
        let texts = |ids: &[Arc<str>]| Value::list(ids.iter().cloned().map(Value::Text));
        match self {
            Answer::Choice(id) => Value::Text(id.clone()),
            Answer::Choices(ids) | Answer::Order(ids) => texts(ids),
            Answer::Number(n) => Value::Int(*n),
            Answer::Allotment(parts) => Value::map(parts.iter().map(|(id, points)| (id, Value::Int(*points)))),
            Answer::Confirm(yes) => Value::Bool(*yes),
            Answer::Line(line) => Value::text(line),
            Answer::Faces(faces) => Value::list(faces.iter().map(|face| Value::Int(i64::from(*face)))),
        }
    }
}

impl Question {
    /// Reads a plain value as an exact answer, with options by id only, and checks it.
    ///
    /// # Errors
    ///
    /// [`Refusal::WrongType`] if the value has the wrong form for the question; otherwise the refusal of
    /// [`Question::check`].
    pub fn exact_answer(&self, value: &Value) -> Result<Answer, Refusal> {
        if value.is_too_deep() {
            return Err(Refusal::too_deep());
        }
        let answer = self.answer_of(value).ok_or_else(|| Refusal::WrongType {
            topic: Some(self.topic.clone()),
            wanted: self.ask.wanted(),
            given: Some(value.to_string()),
        })?;
        self.check(&answer)?;
        Ok(answer)
    }

    fn answer_of(&self, value: &Value) -> Option<Answer> {
        let ids = || match value {
            Value::List(items) => items.iter().map(text).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        match &self.ask {
            Ask::Choose { .. } => text(value).map(Answer::Choice),
            Ask::ChooseMany { .. } => ids().map(Answer::Choices),
            Ask::Order { .. } => ids().map(Answer::Order),
            Ask::Number { .. } => value.as_int().map(Answer::Number),
            Ask::Allot { .. } => match value {
                Value::Map(items) => {
                    let parts = items.iter().map(|(id, points)| Some((id.clone(), points.as_int()?)));
                    parts.collect::<Option<Vec<_>>>().map(Answer::Allotment)
                }
                _ => None,
            },
            Ask::Confirm => match value {
                Value::Bool(yes) => Some(Answer::Confirm(*yes)),
                _ => None,
            },
            Ask::Line { .. } => value.as_text().map(|line| Answer::Line(line.to_owned())),
            Ask::Dice { .. } => match value {
                Value::List(items) => {
                    let faces = items.iter().map(|item| u32::try_from(item.as_int()?).ok());
                    faces.collect::<Option<Vec<_>>>().map(Answer::Faces)
                }
                _ => None,
            },
        }
    }
}

fn text(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}
