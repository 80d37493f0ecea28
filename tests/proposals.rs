//! What is proposed to players: with `ok` alone a game comes to its end.

use std::sync::Arc;

use riskbreaker::{Answer, Library, Ruleset, Session, Setup, Step};

/// The most answers of one game.
const MOST: usize = 3_000;

/// Plays a game in which each question takes its proposal, and returns its outcome.
fn play(rules: &Arc<Ruleset>, seed: u64) -> String {
    let mut session = Session::start(rules, Setup::default().seed(seed)).expect("it begins");
    for _ in 0..MOST {
        match session.advance().expect("it goes on") {
            Step::Over(outcome) => return outcome,
            Step::Fault(fault) => panic!("{}: {fault}", rules.id()),
            Step::Ask => {}
        }
        let question = session.questions()[0].clone();
        let before = session.state_bytes();
        let proposal = session.propose(&question).unwrap_or_else(|| panic!("{}: {}", rules.id(), question.why));
        assert_eq!(session.state_bytes(), before, "a proposal changes nothing");
        assert_eq!(session.questions()[0], question);
        session.answer(question.id, proposal).unwrap_or_else(|refusal| panic!("{}: {refusal}", rules.id()));
    }
    panic!("{}: no end after {MOST} answers", rules.id());
}

#[test]
fn the_first_scenario_of_each_game_ends_with_proposals_alone() {
    let library = Library::embedded();
    for id in ["riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "silent-winter", "rbf"] {
        let rules = Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
        assert!(!play(&rules, 7).is_empty(), "{id}");
    }
}

#[test]
fn a_player_is_proposed_what_the_first_policy_answers_and_not_the_default() {
    let rules = Ruleset::load(&Library::embedded(), "riskbreaker-0.0.1").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::default().seed(7)).expect("it begins");
    let mut compared = 0;
    while let Step::Ask = session.advance().expect("it goes on") {
        let question = session.questions()[0].clone();
        let policy = rules.policies()[0].clone();
        let wanted: Option<Answer> = session.suggest(question.id, &policy).expect("a policy that answers");
        let proposal = session.propose(&question);
        if wanted.is_some() && *question.seat != *"gm" {
            assert_eq!(proposal, wanted, "{}", question.why);
            compared += usize::from(wanted != question.default);
        }
        session.answer(question.id, proposal.expect("a proposal")).expect("it fits");
    }
    assert!(compared > 0, "some proposal is not the default");
}
