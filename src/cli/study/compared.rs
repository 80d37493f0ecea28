//! Compares two studies of the same trials: with and without a card, as written and mirrored, or under two rulesets.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::lab::{Difference, Exchange, Progress, Rate, Recorded, Study, StudyFigures};
use riskbreaker::state::readable_name;
use serde_json::json;

use super::super::call_error;
use super::super::interrupt::interrupted_code;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::tallies::rate_text;
use super::parts::StudyWork;
use super::text::points;

/// Two studies of the same trials, each with its name.
pub struct Columns {
    /// The title of the report.
    pub title: String,
    pub names: [String; 2],
    pub studies: [Study; 2],
}

/// The least number of pairs of games in a turn.
const LEAST_TURN: u64 = 32;

impl Columns {
    /// Compares a study with and without cards.
    pub fn without(title: String, study: Study, bans: &[(String, String)]) -> Columns {
        let mut restricted = study.clone();
        restricted.bans.extend(bans.iter().map(|(seat, card)| (Arc::from(seat.as_str()), Arc::from(card.as_str()))));
        let named: Vec<String> = bans.iter().map(|(seat, card)| format!("{seat} without {card}")).collect();
        Columns { title, names: ["as written".into(), named.join(", ")], studies: [study, restricted] }
    }

    /// Compares a study as written and mirrored.
    ///
    /// # Errors
    ///
    /// A call error: fewer than two seats, or an exchange that the ruleset does not allow.
    pub fn mirrored(title: String, study: Study, exchange: Exchange) -> Result<Columns> {
        let seats = study.first_seats().map_err(|error| call_error(error.to_string()))?;
        let seats = seats.ok_or_else(|| call_error("`--mirror` needs a ruleset with two seats"))?;
        let mirrored = study.mirrored(exchange, &seats);
        let mirrored = mirrored.map_err(|why| call_error(format!("`--mirror {exchange}` is not possible: {why}")))?;
        let [first, second] = &seats;
        let names = ["as written".into(), format!("{exchange} of {first} and {second} exchanged")];
        Ok(Columns { title, names, studies: [study, mirrored] })
    }

    /// Plays both studies and prints the differences.
    pub fn show(&self, work: &StudyWork, json: bool) -> Result<ExitCode> {
        let one = &self.studies[0];
        let recorded = self.record(work)?;
        work.finish();
        let figures = [recorded[0].figures(), recorded[1].figures()];
        let mut screen = Screen::stdout(json).at_most(80);
        if json {
            let differences = differences(&recorded).map(|(seat, found)| json!({ "seat": seat, "more": found }));
            screen.object(&json!({
                "title": self.title, "seed": one.seed, "names": self.names, "figures": figures,
                "differences": differences.collect::<Vec<_>>(),
                "forced": recorded.each_ref().map(Recorded::forced), "same_result": same_result(&recorded),
            }))?;
        } else {
            self.tell(&mut screen, &recorded, &figures)?;
        }
        let counted = figures.iter().all(|figures| !figures.results.is_empty());
        Ok(match (work.is_interrupted(), counted) {
            (true, _) => ExitCode::from(interrupted_code()),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::FAILURE,
        })
    }

    /// Plays both studies by turns, so that an early end leaves pairs of games.
    fn record(&self, work: &StudyWork) -> Result<[Recorded; 2]> {
        let [one, other] = &self.studies;
        let (all, mut done) = (one.trials, 0);
        let mut known: Option<[Recorded; 2]> = None;
        loop {
            // The time to begin a turn does not count beside a quarter of the games before.
            let trials = (done / 4).max(LEAST_TURN).min(all - done);
            let turn = |study: &Study, trials: u64| {
                let study = Study { first: study.first + done, trials, ..study.clone() };
                let share = (done + trials) as f64 / all.max(1) as f64;
                work.until(share, |threads, told: &mut dyn FnMut(Progress) -> bool| {
                    study.record(threads, &mut |progress| {
                        told(Progress { done: done + progress.done, of: all.max(done + progress.of) })
                    })
                })
            };
            let (mut first, is_whole) = turn(one, trials)?;
            // The second one plays no more games than the first.
            let (second, is_second_whole) = turn(other, first.games.len() as u64)?;
            first.games.truncate(second.games.len());
            done += second.games.len() as u64;
            let is_cut = !is_whole || !is_second_whole || (second.games.len() as u64) < trials;
            let recorded = match known.take() {
                None => [first, second],
                Some([mut one, mut other]) => {
                    one.games.extend(first.games);
                    other.games.extend(second.games);
                    [one, other]
                }
            };
            if is_cut || done >= all {
                return Ok(recorded);
            }
            known = Some(recorded);
        }
    }

    fn tell(&self, screen: &mut Screen, recorded: &[Recorded; 2], figures: &[StudyFigures; 2]) -> Result<()> {
        let wanted = self.studies[0].trials;
        let games = figures[0].games;
        screen.row(
            &Row::at(0).strong(format!("{} · {games} pairs of games · seed {}", self.title, self.studies[0].seed)),
        )?;
        if games < wanted {
            screen
                .row(&Row::prose(0).plain(format!("{games} of {wanted} pairs were played before the work ended.")))?;
        }
        let text =
            "Both columns have the same dice. Shares have the interval that holds the true one in 95 of 100 cases.";
        screen.row(&Row::prose(0).faint(text))?;
        let heads: Vec<&str> = ["result"].into_iter().chain(self.names.iter().map(String::as_str)).collect();
        screen.table(&heads, result_rows(figures))?;
        screen.table(&[&["length"], &heads[1..]].concat(), length_rows(figures))?;
        let cards = card_rows(figures);
        if !cards.is_empty() {
            screen.table(&[&["seat", "card chosen when offered"], &heads[1..]].concat(), cards)?;
        }
        for (seat, found) in differences(recorded) {
            let verdict = if found.is_found() { "" } else { "; no difference found" };
            let (name, points) = (&self.names[0], points(&found));
            let text = format!("In the first column ({name}), {seat} wins {points} more of 100 games{verdict}.");
            screen.row(&Row::prose(0).plain(text))?;
        }
        let text =
            format!("With the same dice, {} of the games have the same result.", rate_text(&same_result(recorded)));
        screen.row(&Row::prose(0).plain(text))?;
        for ((name, recorded), figures) in self.names.iter().zip(recorded).zip(figures) {
            let unended = [&figures.endless, &figures.too_long, &figures.stuck, &figures.failed];
            let count: usize = unended.iter().map(|trials| trials.len()).sum();
            if let Some(first) = unended.iter().flat_map(|trials| trials.iter()).min() {
                let text = format!("{name}: {count} games have no end; the first is trial {first}.");
                screen.row(&Row::prose(0).plain(text))?;
            }
            if recorded.forced() > 0 {
                let text =
                    format!("{name}: a banned card was used {} times since nothing else was open.", recorded.forced());
                screen.row(&Row::prose(0).plain(text))?;
            }
        }
        Ok(())
    }
}

/// The share of games won by each seat in the first column minus that in the second.
fn differences(recorded: &[Recorded; 2]) -> impl Iterator<Item = (Arc<str>, Difference)> {
    let [one, other] = recorded;
    let found = one.seats.iter().map(|seat| (seat.clone(), one.difference(other, seat)));
    found.filter(|(_, found)| found.pairs > 0).collect::<Vec<_>>().into_iter()
}

/// The share of pairs with the same result, among pairs in which both games ended.
fn same_result(recorded: &[Recorded; 2]) -> Rate {
    let [one, other] = recorded;
    let pairs = one.games.iter().zip(&other.games).filter(|(one, other)| one.is_whole() && other.is_whole());
    let same = pairs.clone().filter(|(one, other)| one.end == other.end).count() as u64;
    Rate::of(same, pairs.count() as u64)
}

/// The share of each result in both columns.
fn result_rows(figures: &[StudyFigures; 2]) -> Vec<Vec<String>> {
    let mut results: Vec<&String> = figures.iter().flat_map(|figures| figures.results.keys()).collect();
    results.sort();
    results.dedup();
    let of = |figures: &StudyFigures, result: &String| {
        let ended = figures.results.values().map(|rate| rate.count).sum();
        rate_text(&figures.results.get(result).copied().unwrap_or_else(|| Rate::of(0, ended)))
    };
    results.iter().map(|result| vec![(*result).clone(), of(&figures[0], result), of(&figures[1], result)]).collect()
}

/// The median lengths of games in both columns.
fn length_rows(figures: &[StudyFigures; 2]) -> Vec<Vec<String>> {
    let row = |name: &str, of: fn(&StudyFigures) -> Option<riskbreaker::lab::Spread>| {
        let cell = |figures| of(figures).map_or_else(|| "-".to_owned(), |spread| super::text::percentile(&spread.p50));
        vec![name.to_owned(), cell(&figures[0]), cell(&figures[1])]
    };
    vec![row("rounds, p50", |figures| figures.rounds), row("decisions, p50", |figures| figures.decisions)]
}

/// Formats the rows of cards: the numbers of offers and choices, in both columns.
fn card_rows(figures: &[StudyFigures; 2]) -> Vec<Vec<String>> {
    let offered = |figures: &StudyFigures, seat: &str, card: &str| {
        let found = figures.cards.iter().find(|found| *found.seat == *seat && *found.card == *card);
        let found = found.filter(|found| found.offer.offered > 0);
        found.map_or_else(|| "-".to_owned(), |found| rate_text(&found.chosen_when_offered))
    };
    let cards = figures.iter().flat_map(|figures| &figures.cards).filter(|card| card.offer.offered > 0);
    let mut keys: Vec<_> = cards.map(|card| (card.seat.clone(), card.card.clone())).collect();
    keys.sort();
    keys.dedup();
    let row = |(seat, card): &(Arc<str>, Arc<str>)| {
        let cells = figures.iter().map(|figures| offered(figures, seat, card));
        [seat.to_string(), readable_name(card)].into_iter().chain(cells).collect()
    };
    keys.iter().map(row).collect()
}
