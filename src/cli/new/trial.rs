use riskbreaker::{Happening, Question, Session, Step, Value};

use super::spec_text::written_as_luau;

/// The play of a card in the default scenario: its actor, dice and answers.
pub struct Trial {
    pub about: String,
    pub kind: String,
    pub faces: Vec<u32>,
    pub said: Vec<String>,
    /// The answers that were needed, by topic, as Luau source.
    pub answers: Vec<(String, String)>,
}

/// Plays to the first question for a card, plays this card, and returns the dice and answers.
pub fn play_once(session: &mut Session, card: &str) -> Option<Trial> {
    let mut action = None;
    let mut trial = None;
    let mut answers = Vec::new();
    for _ in 0..40 {
        let step = session.advance().ok()?;
        let open = if matches!(step, Step::Ask) { session.questions().first().cloned() } else { None };
        let ended = trial.is_some() && open.as_ref().map(|question| question.id.action) != action;
        if ended || !matches!(step, Step::Ask) {
            if matches!(step, Step::Fault(_)) {
                return None;
            }
            break;
        }
        let question = open?;
        if trial.is_none() && &*question.topic == "card" {
            action = Some(question.id.action);
            let about = question.about?;
            let view = session.view();
            trial = Some((view.title(about).to_string(), view.kind(about)?.to_owned()));
            let answer = question.read(&Value::text(card)).ok()?;
            session.answer(question.id, answer).ok()?;
            continue;
        }
        if let Some(default) = question.default.clone() {
            session.answer(question.id, default).ok()?;
            continue;
        }
        let value = some_answer(&question)?;
        if trial.is_some() {
            answers.push((question.topic.to_string(), written_as_luau(&value)?));
        }
        session.answer(question.id, question.read(&value).ok()?).ok()?;
    }
    let (about, kind) = trial?;
    let (mut faces, mut said) = (Vec::new(), Vec::new());
    for event in session.log() {
        match event.happening {
            Happening::Rolled { faces: rolled, .. } => faces.extend(rolled),
            Happening::Said { text } => said.push(text),
            _ => {}
        }
    }
    Some(Trial { about, kind, faces, said, answers })
}

/// Finds a possible answer to a question without a default.
fn some_answer(question: &Question) -> Option<Value> {
    let open = question.ask.options().iter().filter(|option| option.enabled);
    let ids: Vec<Value> = open.map(|option| Value::text(&option.id)).collect();
    let mut tried = ids.clone();
    tried.extend([Value::Int(1), Value::Int(0), Value::Bool(true)]);
    tried.extend([Value::list(ids.iter().take(1).cloned()), Value::list(ids)]);
    tried.into_iter().find(|value| question.read(value).is_ok())
}
