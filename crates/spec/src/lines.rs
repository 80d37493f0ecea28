//! Line coverage: the script lines reached by a ruleset's specs and some random games, and the cards played.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use riskbreaker_dice::DiceRng;
use riskbreaker_play::{Answer, Driver, Hits, Ruleset, Scenario, Session, Setup, Step};
use riskbreaker_ruleset::Rulebook;

/// The coverage of a ruleset's own scripts.
#[derive(Debug, Default, Serialize)]
pub struct LineCoverage {
    /// Files with unreached lines, by path.
    pub files: Vec<FileLines>,
    /// The number of executable lines.
    pub lines: usize,
    /// The number of executed lines.
    pub reached: usize,
    /// Ids of the cards that neither a spec nor random play ever played.
    pub unplayed: Vec<String>,
}

/// The unreached lines of a file.
#[derive(Debug, Serialize)]
pub struct FileLines {
    /// The file.
    pub path: String,
    /// First and last line of each range of unreached lines.
    pub unreached: Vec<(u32, u32)>,
}

impl LineCoverage {
    /// Computes the coverage from a machine's line counts. Files of parents do not count.
    #[doc(hidden)]
    pub fn of(rules: &Rulebook, hits: &Hits, played: &BTreeSet<String>) -> LineCoverage {
        let mut coverage = LineCoverage::default();
        let own = format!("{}/", rules.id());
        for (path, lines) in hits.iter().filter(|(path, _)| path.starts_with(&own)) {
            coverage.lines += lines.len();
            coverage.reached += lines.values().filter(|hits| **hits > 0).count();
            let mut unreached: Vec<(u32, u32)> = Vec::new();
            let mut open = false;
            for (line, hits) in lines {
                match unreached.last_mut() {
                    _ if *hits > 0 => open = false,
                    Some((_, last)) if open => *last = *line,
                    _ => {
                        unreached.push((*line, *line));
                        open = true;
                    }
                }
            }
            if !unreached.is_empty() {
                coverage.files.push(FileLines { path: path.clone(), unreached });
            }
        }
        let cards = rules.cards().iter();
        let cards = cards.filter(|card| !played.contains(&*card.id));
        coverage.unplayed = cards.map(|card| card.id.to_string()).collect();
        coverage
    }
}

/// The number of random games for each scenario.
const GAMES: u64 = 4;
/// The most answers in a random game.
const ANSWERS: usize = 400;

/// Plays every scenario with random answers. Returns the cards that were played.
pub(crate) fn play_at_random(rules: &Arc<Ruleset>) -> BTreeSet<String> {
    let mut played = BTreeSet::new();
    for name in rules.scenarios().keys() {
        for seed in 0..GAMES {
            let mut setup =
                Setup { scenario: Scenario::Named(name.clone()), seed, seats_in_scenario: false, ..Setup::default() };
            for seat in rules.seats().keys() {
                setup = setup.seat(seat, Driver::Human);
            }
            let Ok(mut session) = Session::start(rules, setup) else { continue };
            let mut chance = DiceRng::new(seed);
            for _ in 0..ANSWERS {
                if !matches!(session.advance(), Ok(Step::Ask)) || !answer_one(&mut session, &mut chance, &mut played) {
                    break;
                }
            }
        }
    }
    played
}

/// The cards that an answer chooses, whatever the question: a reaction and a spell count like any other card.
pub(super) fn cards_in(rules: &Rulebook, answer: &Answer) -> Vec<String> {
    let chosen: &[Arc<str>] = match answer {
        Answer::Choice(id) => std::slice::from_ref(id),
        Answer::Choices(ids) => ids,
        _ => &[],
    };
    chosen.iter().filter(|id| rules.card(id).is_some()).map(ToString::to_string).collect()
}

/// Answers the first question at random. Returns false if no answer is known.
fn answer_one(session: &mut Session, chance: &mut DiceRng, played: &mut BTreeSet<String>) -> bool {
    let Some(question) = session.questions().first().cloned() else { return false };
    let answers = question.answers(200).filter(|answers| !answers.is_empty());
    let answer = match answers {
        Some(answers) => Some(answers[chance.face(answers.len() as u32) as usize - 1].clone()),
        None => question.default.clone(),
    };
    let Some(answer) = answer else { return false };
    played.extend(cards_in(session.ruleset(), &answer));
    // If the question's own `check` refuses the answer, it is asked again.
    session.answer(question.id, answer).is_ok()
}
