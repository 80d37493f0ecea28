//! The parts of a study, and how they share the time.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::ProgressBar;
use riskbreaker::lab::{
    CardWorth, Exchange, Foresight, LadderPair, Mirrored, Progress, Recorded, SimulationError, Study, StudyFigures,
    WeighedPositions,
};

use super::super::call_error;
use super::super::sim::meter;

/// A part of a study that plays games of its own, besides those that are recorded for all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Part {
    /// The same games with policies, order of play or sides exchanged
    Fairness,
    /// What each card is worth: the same games without it
    Worth,
    /// Cards that are never better than another, and answers that make no difference, by exact odds
    Dominated,
    /// Players against each other, with their seats exchanged
    Skill,
}

impl Part {
    pub const ALL: [Part; 4] = [Part::Fairness, Part::Worth, Part::Dominated, Part::Skill];

    /// What the report calls it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Fairness => "fairness",
            Part::Worth => "the worth of cards",
            Part::Dominated => "the comparison of cards by exact odds",
            Part::Skill => "luck and skill",
        }
    }

    /// The share of the time that has passed when the part ends at the latest.
    fn ends_at(self) -> f64 {
        match self {
            Part::Fairness => 0.4,
            Part::Worth => 0.65,
            Part::Dominated => 0.8,
            Part::Skill => 1.0,
        }
    }
}

/// The share of the time after which no more games are recorded for all parts.
const RECORDED_BY: f64 = 0.3;

/// Everything that was found.
pub struct Found {
    pub recorded: Recorded,
    pub figures: StudyFigures,
    /// What each card is worth; empty if the part is not wanted, or without `value`.
    pub worth: Vec<CardWorth>,
    /// The exchanges between two seats, or why the ruleset does not allow one; empty if the part is not wanted.
    pub fairness: Vec<(Exchange, Result<Mirrored, String>)>,
    /// The exact values in reached positions.
    pub positions: Option<WeighedPositions>,
    /// Players against each other.
    pub ladder: Vec<LadderPair>,
    /// What was left out, each a sentence.
    pub notes: Vec<String>,
}

/// The time of a study, Ctrl-C, and the bar that shows how far it is.
pub struct Work {
    began: Instant,
    /// The time after which every part has ended; `None` without a limit.
    longest: Option<Duration>,
    interrupted: Arc<AtomicBool>,
    meter: ProgressBar,
    threads: usize,
}

impl Work {
    pub fn new(longest: Option<Duration>, interrupted: Arc<AtomicBool>, threads: usize) -> Work {
        Work { began: Instant::now(), longest, interrupted, meter: meter(), threads }
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.meter.finish_and_clear();
    }

    /// Does a part that may take the time up to this share of the whole. The second result is false if the time or Ctrl-C ended it.
    pub fn until<R>(
        &self,
        share: f64,
        part: impl FnOnce(usize, &mut dyn FnMut(Progress) -> bool) -> Result<R, SimulationError>,
    ) -> Result<(R, bool)> {
        let whole = Cell::new(true);
        let found = part(self.threads, &mut |progress| {
            self.meter.set_length(progress.of);
            self.meter.set_position(progress.done);
            let late = self.longest.is_some_and(|longest| self.began.elapsed() > longest.mul_f64(share));
            let go_on = progress.done >= progress.of || !late && !self.is_interrupted();
            whole.set(whole.get() && go_on);
            go_on
        });
        let found = found.map_err(|error| call_error(error.to_string()))?;
        Ok((found, whole.get()))
    }
}

/// Records the games of a study and does the parts, in their order.
pub fn find(study: &Study, parts: &[Part], work: &Work) -> Result<Found> {
    let share = if parts.is_empty() { 1.0 } else { RECORDED_BY };
    let (recorded, _) = work.until(share, |threads, told| study.record(threads, told))?;
    let figures = recorded.figures();
    let mut found = Found {
        recorded,
        figures,
        worth: Vec::new(),
        fairness: Vec::new(),
        positions: None,
        ladder: Vec::new(),
        notes: Vec::new(),
    };
    let games = found.recorded.games.len() as u64;
    if games < study.trials {
        found.notes.push(format!("{games} of {} games were recorded before the work ended.", study.trials));
    }
    let has_value = study.variant.rules.measures();
    for part in Part::ALL.into_iter().filter(|part| parts.contains(part) && has_value) {
        if work.is_interrupted() {
            found.notes.push(format!("Not begun: {}.", part.name()));
            continue;
        }
        let whole = found.add(study, part, work)?;
        if !whole {
            let text = format!("{} ended early, with fewer games; `--trials` sets no limit of time.", part.name());
            found.notes.push(capital(&text));
        }
    }
    work.finish();
    Ok(found)
}

impl Found {
    /// Does a part. False if the time or Ctrl-C ended it.
    fn add(&mut self, study: &Study, part: Part, work: &Work) -> Result<bool> {
        let (recorded, until) = (&self.recorded, part.ends_at());
        let seats = study.compared_seats(recorded);
        let whole = match (part, seats) {
            (Part::Worth, _) => {
                let (worth, whole) =
                    work.until(until, |threads, told| study.worth_of_cards(recorded, threads, told))?;
                self.worth = worth;
                whole
            }
            (Part::Dominated, _) => {
                let (positions, whole) =
                    work.until(until, |threads, told| study.weigh_positions(recorded, threads, told))?;
                self.positions = Some(positions);
                whole
            }
            (Part::Fairness | Part::Skill, None) => {
                self.notes.push(format!("Left out: {}, which needs two seats.", part.name()));
                true
            }
            (Part::Fairness, Some(seats)) => {
                let (fairness, whole) =
                    work.until(until, |threads, told| study.mirror(recorded, &seats, &Exchange::ALL, threads, told))?;
                self.fairness = fairness;
                whole
            }
            (Part::Skill, Some(seats)) => {
                let (from, mut whole) = (Part::Dominated.ends_at(), true);
                let at = |share: f64| from + (until - from) * share;
                // Looking ahead takes longer than all else, and a search longer still: each has its share of the time.
                let groups = [(None, at(0.3)), (Some(false), at(0.6)), (Some(true), until)];
                for (searches, until) in groups {
                    let pairs =
                        pairs_of(&study.players()).into_iter().filter(|(_, other)| searches_as(other) == searches);
                    let pairs = &pairs.collect::<Vec<_>>();
                    if pairs.is_empty() {
                        continue;
                    }
                    let (ladder, all) =
                        work.until(until, |threads, told| study.ladder(recorded, &seats, pairs, threads, told))?;
                    self.ladder.extend(ladder);
                    whole &= all;
                }
                whole
            }
        };
        Ok(whole)
    }
}

/// Whether a player searches; `None` if it does not look ahead at all.
fn searches_as(player: &str) -> Option<bool> {
    match Foresight::named(player) {
        Ok(Some(Foresight::OneStep)) => Some(false),
        Ok(Some(Foresight::Search(_))) => Some(true),
        Ok(None) | Err(_) => None,
    }
}

/// Each player with each that follows it.
fn pairs_of(players: &[String]) -> Vec<(String, String)> {
    let pairs = players
        .iter()
        .enumerate()
        .flat_map(|(at, one)| players[at + 1..].iter().map(move |other| (one.clone(), other.clone())));
    pairs.collect()
}

/// The text with a capital at its beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
