//! Suggested answers: a game played with `ok` only reaches its end.

use std::sync::Arc;

use riskbreaker::{Answer, Driver, Library, Ruleset, Session, Setup, Step};

/// The most answers of one game.
const MOST: usize = 3_000;

/// The games, each with a part of the outcome if the players have won.
const GAMES: [(&str, &str); 5] = [
    ("riskbreaker-0.0.1", "Challenger won"),
    ("riskbreaker-0.0.3", "Heroes won"),
    ("contest", "goes to Heroes"),
    ("silent-winter", "Players stand"),
    ("rbf", "the players hold the field"),
];

/// Plays a game in which each question to a person gets its suggested answer, and returns the outcome. The players are
/// people, or the policy plays for them.
fn play_by(rules: &Arc<Ruleset>, seed: u64, policy: Option<&Arc<str>>) -> String {
    let mut setup = Setup::default().seed(seed);
    if let Some(policy) = policy {
        setup.seats.insert("players".into(), Driver::Policy(policy.clone()));
    }
    let mut session = Session::start(rules, setup).expect("it begins");
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

/// Plays the first scenario of each game with suggested answers and with the first policy, and compares how often the
/// players win.
fn compare_wins(seeds: u64, most_behind: u64) {
    let library = Library::embedded();
    for (id, won) in GAMES {
        let rules = Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
        let policy = rules.policies()[0].clone();
        let wins = |policy: Option<&Arc<str>>| {
            (1..=seeds).filter(|seed| play_by(&rules, *seed, policy).contains(won)).count() as u64
        };
        let (proposed, played) = (wins(None), wins(Some(&policy)));
        println!("{id}: {proposed} of {seeds} with proposals, {played} with `{policy}`");
        assert!(
            proposed + most_behind >= played,
            "{id}: {proposed} of {seeds} with proposals, {played} with `{policy}`"
        );
    }
}

#[test]
fn the_first_scenario_of_each_game_ends_with_proposals_alone_and_not_badly() {
    compare_wins(6, 2);
}

/// `cargo test --test proposals -- --ignored --nocapture` prints the shares.
#[test]
#[ignore = "takes minutes"]
fn proposals_win_at_most_ten_points_fewer_games_than_the_first_policy() {
    compare_wins(200, 20);
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
