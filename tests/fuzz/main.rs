//! Differential fuzzing: small random rulesets are played in every mode, and the modes must agree.
//!
//! | group | modes | compared |
//! |---|---|---|
//! | simulated | every script run, memo; in one case of thirty also two threads of each | results (the whole state in words), outcomes, rounds, actions, statistics, cards, and why games do not count |
//! | told | a simulation and its games told one by one | the same of each game, and the events of `replay` and of the log |
//! | table | told, headless, told with a person at a seat that is never asked, the replay of its tape | state, log, tape, questions, outcome or fault |
//! | decisions | people who answer anything: told, saved and loaded at each decision, taken back, done again | the same |
//! | hands | people who answer anything, edits, free acts, actions that are left out, scripts written anew, house rules and another ruleset that come and go: told, saved and loaded after each deed, taken back, done again | the same |
//! | odds | every card of the first turn: enumerated, and counted by writing all faces one after the other; what a seat is told for whom hidden things are dealt anew, and the same cards with the deal written into them | the exact chance of each value of each field, and of each outcome |
//!
//! For a table, the views of all seats are compared, too.
//!
//! A mode with less data is compared in that data only: a headless game has no log and no tape, a simulation stops at
//! its limit of actions, and an unanswered question is a fault where nobody can be asked, while a table waits. An undo
//! across reloaded rules keeps them: from there on the game is only saved and loaded.
//!
//! ```text
//! cargo test --test fuzz                                               100 cases, of most in half of the groups
//! RISKBREAKER_FUZZ=10000 cargo test --test fuzz                        as many cases as that, every group
//! RISKBREAKER_FUZZ_SEED=77 RISKBREAKER_FUZZ=1 cargo test --test fuzz   one case
//! RISKBREAKER_FUZZ_FEATURES=entry_numbers,agenda_limit ...             with these switches of `Features` turned on; `all` for all
//! RISKBREAKER_FUZZ_GROUP=simulated ...                                  in one group only
//! RISKBREAKER_FUZZ_FAILURES=5 ...                                      goes on until so many cases have failed
//! ```
//!
//! A failed case is minimized as long as the same two modes disagree. Its files, seed and group are printed, and the
//! lines in which the two modes differ.
//!
//! A switch of [`Features`] that is off names what few cases write or what takes long. Disagreements were found and mended with
//! `entry_numbers` and `refused_answers` (rows 1 and 3 of the table of findings), `faults_loaded`, `option_tables`, `unfit_defaults`,
//! `large_numbers`, `refusal_words`, `computed_keys`, `named_allotments`, `writing_when`, `checks_in_lists`, `secrets`, `layers` and `reloads`.

mod additions;
#[path = "../answers/mod.rs"]
mod answers;
mod generator;
mod minimize;
mod model;
mod modes;
mod random;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use generator::{Features, generate};
use model::Case;
use modes::{Compared, Disagreement, Group, check};

/// The number of cases by default.
const CASES: u64 = 100;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn features() -> Features {
    let mut features = Features::NOW;
    for name in
        std::env::var("RISKBREAKER_FUZZ_FEATURES").unwrap_or_default().split(',').filter(|name| !name.is_empty())
    {
        assert!(features.turn_on(name), "there is no feature `{name}`");
    }
    features
}

#[test]
fn all_modes_agree() {
    let features = features();
    let (first, wanted) = (number("RISKBREAKER_FUZZ_SEED").unwrap_or(1), number("RISKBREAKER_FUZZ"));
    let only = std::env::var("RISKBREAKER_FUZZ_GROUP").ok();
    let last = first + wanted.unwrap_or(CASES);
    let most = number("RISKBREAKER_FUZZ_FAILURES").unwrap_or(1) as usize;
    let (next, all, failed) = (AtomicU64::new(first), Mutex::new(Compared::default()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last || failed.lock().unwrap().len() >= most {
                return;
            }
            let case = generate(seed, features);
            for group in Group::ALL {
                if only.as_ref().is_some_and(|only| *only != format!("{group:?}").to_lowercase()) {
                    continue;
                }
                // Simulations differ most often; a case is played in half of the other groups.
                if wanted.is_none() && group != Group::Simulated && (seed + group as u64).is_multiple_of(2) {
                    continue;
                }
                match check(&case, features, group) {
                    Ok(compared) => all.lock().unwrap().add(&compared),
                    Err(found) => failed.lock().unwrap().push(report(&case, features, group, &found)),
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (all, failed) = (all.into_inner().unwrap(), failed.into_inner().unwrap());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    println!("{all:?}");
    // The generator must write code that can be compared.
    assert!(all.unloaded as u64 * 10 < wanted.unwrap_or(CASES), "too many rulesets cannot be loaded: {all:?}");
    if wanted.is_none() {
        let compared = all.ended > all.left_out && all.decisions > 50 && all.hands > 50 && all.counted > 50;
        assert!(compared, "too little is compared: {all:?}");
    }
}

/// Minimizes a case that fails in a group and describes it.
fn report(case: &Case, features: Features, group: Group, found: &Disagreement) -> String {
    let Err(first) = check(case, features, group) else {
        return format!("seed {}, {group:?}: it has failed once, and not again:\n{}", case.seed, found.lines());
    };
    let fails = |case: &Case| check(case, features, group).is_err_and(|other| other.modes == first.modes);
    let small = minimize::minimized(case, &fails);
    let found = check(&small, features, group).err().unwrap_or(first);
    let files = small.files();
    let files = files.iter().filter(|(path, _)| path.ends_with(".luau") && !path.contains("/lib/"));
    let files: String = files.map(|(path, text)| format!("-- {path}\n{text}\n")).collect();
    format!("{files}seed {}, {group:?}, {} games, {} rounds:\n{}", case.seed, small.trials, small.rounds, found.lines())
}

#[test]
fn the_same_seed_gives_the_same_ruleset() {
    let files = |seed| generate(seed, Features::ALL).files();
    assert_eq!(files(7), files(7));
    assert_ne!(files(7), files(8));
}

#[test]
fn a_case_is_made_smaller_for_as_long_as_it_fails() {
    let case = generate(3, Features::NOW);
    let rolls = |case: &Case| case.files().values().any(|text| text.contains("rb.schedule"));
    assert!(rolls(&case));
    let small = minimize::minimized(&case, &rolls);
    let length = |case: &Case| case.files().values().map(String::len).sum::<usize>();
    assert!(rolls(&small) && length(&small) + 500 < length(&case));
    assert_eq!(minimize::minimized(&small, &rolls), small);
}
