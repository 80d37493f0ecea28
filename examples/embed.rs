//! Plays a fight through the public API: `cargo run --example embed`.
//!
//! The host never calls back and holds no thread: `advance` plays until a question is open, `answer` answers it. This
//! driver takes the default of every question, or the first open option.

use std::error::Error;

use riskbreaker::{Answer, Ask, Driver, Library, Question, Remedy, Ruleset, Session, Setup, Step};

fn main() -> Result<(), Box<dyn Error>> {
    let library = Library::locate(None)?;
    let rules = Ruleset::load(&library, "riskbreaker-0.0.1")?;
    let setup =
        Setup::scenario("duel").seed(7719).seat("players", Driver::Human).seat("foes", Driver::Policy("bold".into()));
    let mut session = Session::start(&rules, setup)?;
    loop {
        match session.advance()? {
            Step::Ask => {
                let question = session.questions()[0].clone();
                let answer = decide(&question);
                println!("> {}: {}", question.why, question.tell(&answer));
                session.answer(question.id, answer)?;
            }
            Step::Fault(fault) => {
                eprintln!("{fault}");
                session.remedy(Remedy::SkipAction)?;
            }
            Step::Over(outcome) => {
                println!("{outcome}");
                return Ok(());
            }
        }
        for event in session.take_events() {
            println!("  {}", event.happening.line());
        }
    }
}

/// The first open card that does something, otherwise the default.
fn decide(question: &Question) -> Answer {
    let open = question.ask.options().iter().filter(|option| option.enabled);
    let mut ids = open.map(|option| option.id.clone());
    match &question.ask {
        Ask::Choose { .. } if &*question.topic == "card" => ids.next().map(Answer::Choice),
        Ask::ChooseMany { min, .. } if question.default.is_none() => {
            Some(Answer::Choices(ids.take(*min.max(&1)).collect()))
        }
        Ask::Choose { .. } if question.default.is_none() => ids.next().map(Answer::Choice),
        Ask::Number { min, .. } if question.default.is_none() => Some(Answer::Number(*min)),
        Ask::Allot { total, .. } if question.default.is_none() => {
            ids.next().map(|id| Answer::Allotment(vec![(id, *total)]))
        }
        _ => None,
    }
    .or_else(|| question.default.clone())
    .unwrap_or(Answer::Confirm(true))
}
