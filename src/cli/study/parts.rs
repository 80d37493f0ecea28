//! The parts of a study, and their shares of the time.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::ValueEnum;
use indicatif::ProgressBar;

use super::super::call_error;
use super::super::meter::{WHOLE, meter_of_parts};
use super::job::StudyJob;
use super::ladder::SearchUse;
use riskbreaker::lab::{
    CardWorth, Exchange, FirstBias, GameFacts, LadderPair, Progress, Recorded, SeatBias, SeatExchange, SimulationError,
    Study, StudyFigures, WeighedPositions,
};

/// A part of a study that plays its own games, in addition to those recorded for all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum StudyPart {
    /// The same games with policies, order of play or sides exchanged
    Fairness,
    /// What each card is worth: the same games without it
    Worth,
    /// Cards that are never better than another, and answers that make no difference, by exact odds
    Dominated,
    /// Players against each other, with their seats exchanged
    Skill,
}

impl StudyPart {
    pub const ALL: [StudyPart; 4] = [StudyPart::Fairness, StudyPart::Worth, StudyPart::Dominated, StudyPart::Skill];

    /// The name on the command line.
    pub fn id(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The part of a name on the command line.
    ///
    /// # Errors
    ///
    /// A call error: no part has this name.
    pub fn named(name: &str) -> Result<StudyPart> {
        StudyPart::from_str(name, false).map_err(call_error)
    }

    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            StudyPart::Fairness => "fairness",
            StudyPart::Worth => "the worth of cards",
            StudyPart::Dominated => "the comparison of cards by exact odds",
            StudyPart::Skill => "luck and skill",
        }
    }

    /// The name at the progress bar: short enough for a line of 80 columns.
    pub fn short_name(self) -> &'static str {
        match self {
            StudyPart::Fairness => "fairness",
            StudyPart::Worth => "worth of cards",
            StudyPart::Dominated => "comparison of cards",
            StudyPart::Skill => "players",
        }
    }

    /// The share of the total time at which the part ends at the latest.
    pub fn ends_at(self) -> f64 {
        match self {
            StudyPart::Fairness => 0.38,
            StudyPart::Worth => 0.6,
            StudyPart::Dominated => 0.72,
            StudyPart::Skill => 1.0,
        }
    }
}

/// The share of the time after which no more games are recorded.
const RECORDED_BY: f64 = 0.28;

/// All results of a study.
pub struct StudyFindings {
    pub recorded: Recorded,
    pub figures: StudyFigures,
    /// The worth of each card; empty if the part was not requested, or without `value`.
    pub worth: Vec<CardWorth>,
    /// The seats that are compared: those that won a recorded game, or else the first two. Fewer than two if the game has fewer.
    pub seats: Vec<Arc<str>>,
    /// The bias of each of them in the recorded games; empty with fewer than two.
    pub biases: Vec<SeatBias>,
    /// The bias of the seat that is asked first.
    pub first: Option<FirstBias>,
    /// The exchanges between two seats; empty if the part was not requested.
    pub fairness: Vec<SeatExchange>,
    /// The exact values in reached positions.
    pub positions: Option<WeighedPositions>,
    /// The comparisons of players.
    pub ladder: Vec<LadderPair>,
    /// The search among the players; `None` if it played no game.
    pub search: Option<SearchUse>,
    /// Sentences about what was left out.
    pub notes: Vec<String>,
}

/// The time of a study, Ctrl-C, and the progress bar.
pub struct StudyWork {
    began: Instant,
    /// The time limit of the whole study; `None` without one.
    longest: Option<Duration>,
    interrupted: Arc<AtomicBool>,
    meter: ProgressBar,
    /// The part that runs, and its place in the progress bar: from, to, 0 to 1.
    part: RefCell<(String, f64, f64)>,
    threads: usize,
}

impl StudyWork {
    pub fn new(longest: Option<Duration>, interrupted: Arc<AtomicBool>, threads: usize) -> StudyWork {
        let part = RefCell::new(("games".to_owned(), 0.0, 1.0));
        StudyWork { began: Instant::now(), longest, interrupted, meter: meter_of_parts(), part, threads }
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Names the part that runs next, and its place in the progress bar: from, to, 0 to 1.
    pub fn begin(&self, name: &str, from: f64, to: f64) {
        self.part.replace((name.to_owned(), from, to));
    }

    /// Shows the progress of the part that runs.
    fn tell(&self, progress: Progress) {
        let (name, from, to) = &*self.part.borrow();
        let done = progress.done as f64 / progress.of.max(1) as f64;
        self.meter.set_position((WHOLE as f64 * (from + (to - from) * done)) as u64);
        let left = self.longest.map(|longest| longest.saturating_sub(self.began.elapsed()).as_secs());
        let left = left.map_or_else(String::new, |left| format!(" · {left} s left"));
        self.meter.set_message(format!("{name}: {} of {}{left}", progress.done, progress.of));
    }

    /// True if the study has a limit of time.
    pub fn is_limited(&self) -> bool {
        self.longest.is_some()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The time until this share of the total time has passed; zero without a limit.
    pub fn left(&self, share: f64) -> Duration {
        self.longest.unwrap_or_default().mul_f64(share).saturating_sub(self.began.elapsed())
    }

    /// Removes the progress bar.
    pub fn finish(&self) {
        self.meter.finish_and_clear();
    }

    /// Runs a part up to this share of the total time. The second result is false if the time or Ctrl-C ended it.
    pub fn until<R>(
        &self,
        share: f64,
        part: impl FnOnce(usize, &mut dyn FnMut(Progress) -> bool) -> Result<R, SimulationError>,
    ) -> Result<(R, bool)> {
        let whole = Cell::new(true);
        let found = part(self.threads, &mut |progress| {
            self.tell(progress);
            let late = self.longest.is_some_and(|longest| self.began.elapsed() > longest.mul_f64(share));
            let go_on = progress.done >= progress.of || !late && !self.is_interrupted();
            whole.set(whole.get() && go_on);
            go_on
        });
        let found = found.map_err(|error| call_error(error.to_string()))?;
        Ok((found, whole.get()))
    }
}

/// Records the games of a study and runs the parts, in their order.
pub fn find(asked: &StudyJob, parts: &[StudyPart], work: &StudyWork) -> Result<StudyFindings> {
    let study = &asked.study;
    let share = if parts.is_empty() { 1.0 } else { RECORDED_BY };
    work.begin("recorded games", 0.0, share);
    let (recorded, _) = work.until(share, |threads, told| study.record(threads, told))?;
    let figures = recorded.figures();
    let seats = study.compared_seats(&recorded);
    let is_contest = recorded.has_value && seats.len() > 1 && !figures.is_cooperative;
    let is_common = recorded.seats.len() == 1 || figures.is_cooperative;
    let can_be_compared = recorded.has_value && recorded.games.iter().any(GameFacts::is_whole);
    let (biases, first) = match is_contest {
        true => (recorded.biases(&seats), recorded.first_bias(&seats)),
        false => (Vec::new(), None),
    };
    let mut found = StudyFindings {
        recorded,
        figures,
        worth: Vec::new(),
        seats,
        biases,
        first,
        fairness: Vec::new(),
        positions: None,
        ladder: Vec::new(),
        search: None,
        notes: Vec::new(),
    };
    let games = found.recorded.games.len() as u64;
    if games < study.trials {
        found.notes.push(format!("{games} of {} games were recorded before the work ended.", study.trials));
    }
    let mut from = RECORDED_BY;
    for part in StudyPart::ALL.into_iter().filter(|part| parts.contains(part) && can_be_compared) {
        // Where no seat wins against another, the figures name what is missing.
        let is_possible = match part {
            StudyPart::Dominated => true,
            StudyPart::Worth => is_contest || is_common,
            StudyPart::Fairness | StudyPart::Skill => is_contest,
        };
        if !is_possible {
            continue;
        }
        work.begin(part.short_name(), std::mem::replace(&mut from, part.ends_at()), part.ends_at());
        if work.is_interrupted() {
            found.notes.push(format!("Not begun: {}.", part.name()));
            continue;
        }
        let whole = found.add(asked, part, work)?;
        if !whole {
            let why = match work.is_interrupted() {
                true => "was interrupted, and has fewer games.",
                false => "ended early, with fewer games; `--trials` sets no limit of time.",
            };
            found.notes.push(capital(&format!("{} {why}", part.name())));
        }
    }
    if work.is_interrupted() {
        found.notes.insert(0, "The study was interrupted: the figures are those that were known by then.".to_owned());
    }
    work.finish();
    Ok(found)
}

impl StudyFindings {
    /// Runs a part. False if the time or Ctrl-C ended it.
    fn add(&mut self, asked: &StudyJob, part: StudyPart, work: &StudyWork) -> Result<bool> {
        let study: &Study = &asked.study;
        let (recorded, until) = (&self.recorded, part.ends_at());
        let seats = &self.seats;
        let whole = match part {
            StudyPart::Worth => {
                let (worth, whole) =
                    work.until(until, |threads, told| study.worth_of_cards(recorded, threads, told))?;
                self.worth = worth;
                whole
            }
            StudyPart::Dominated => {
                let (positions, whole) =
                    work.until(until, |threads, told| study.weigh_positions(recorded, threads, told))?;
                self.positions = Some(positions);
                whole
            }
            StudyPart::Fairness => {
                let pairs = pairs_of_seats(seats);
                let (fairness, whole) =
                    work.until(until, |threads, told| study.mirror(recorded, &pairs, &Exchange::ALL, threads, told))?;
                self.fairness = fairness;
                whole
            }
            StudyPart::Skill => self.play_ladder(asked, work)?,
        };
        Ok(whole)
    }
}

/// The largest number of pairs of seats that are all compared.
const MOST_PAIRS: usize = 6;

/// The pairs of seats whose exchanges are played: all pairs, or if these are too many, each seat with the next one.
fn pairs_of_seats(seats: &[Arc<str>]) -> Vec<[Arc<str>; 2]> {
    let all: Vec<[Arc<str>; 2]> = seats
        .iter()
        .enumerate()
        .flat_map(|(at, one)| seats[at + 1..].iter().map(move |other| [one.clone(), other.clone()]))
        .collect();
    if all.len() <= MOST_PAIRS {
        return all;
    }
    seats.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

/// The text with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_four_seats_exchange_in_all_pairs_and_more_with_the_next_one() {
        let seats = |count: usize| (0..count).map(|at| Arc::from(format!("s{at}"))).collect::<Vec<Arc<str>>>();
        let pairs = |count: usize| -> Vec<String> {
            pairs_of_seats(&seats(count)).iter().map(|[one, other]| format!("{one} {other}")).collect()
        };
        assert_eq!(pairs(3), ["s0 s1", "s0 s2", "s1 s2"]);
        assert_eq!(pairs(4).len(), 6);
        assert_eq!(pairs(5), ["s0 s1", "s1 s2", "s2 s3", "s3 s4"]);
    }
}
