//! `odds --game SCENARIO --best SEAT`: the best play of one seat against fixed players, or of two seats against each other.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use riskbreaker::lab::{BestAnswer, GameLimits, Payoff, SkillAndLuck, Solution, solve_game};
use riskbreaker::{Driver, Refusal, Ruleset, Setup};
use serde_json::{Value as Json, json};

use super::super::call_error;
use super::super::figures::bar;
use super::super::interrupt::{interrupted_code, watched_briefly};
use super::super::meter::spinner;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::tallies::{MOST_RESULTS, rarer};
use super::refused;
use super::show::table_of_chances;

/// What an end of the game counts for a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PayoffChoice {
    /// What `value` in play.luau gives
    Value,
    /// 1 for a game won, 1/2 for a draw, 0 for a game lost
    Won,
}

/// Most decisions that are shown; JSON has all.
const MOST_DECISIONS: usize = 40;

/// How often a solution that is computed in a thread looks at Ctrl-C.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(20);

/// A call for the best play.
pub struct BestPlay<'a> {
    pub scenario: &'a str,
    pub rules: &'a Arc<Ruleset>,
    pub setup: Setup,
    pub seats: &'a [String],
    pub payoff: Option<PayoffChoice>,
}

/// What a policy gives away: the play of both seats, if it is known, and by how much the best response gains on it.
struct Exploited {
    /// The seat of the policy, and the policy.
    seat: Arc<str>,
    policy: Arc<str>,
    /// The value of the game to the one who responds, if both play their best.
    value: (f64, f64),
    /// What the response gains on that.
    gain: (f64, f64),
}

impl BestPlay<'_> {
    pub fn show(&self, json: bool) -> Result<ExitCode> {
        let interrupt = watched_briefly();
        let seats: Vec<Arc<str>> = self.seats.iter().map(|seat| Arc::from(&**seat)).collect();
        self.check_seats()?;
        let waits = spinner("the best play");
        let found = self.solve(&seats, interrupt.clone())();
        let found = found.inspect_err(|_| waits.finish_and_clear()).map_err(|refusal| refused(&refusal))?;
        let exploited = self.exploited(&found, &interrupt);
        waits.finish_and_clear();
        let is_cut = found.interrupted || interrupt.load(Ordering::Relaxed);
        let code = if is_cut { ExitCode::from(interrupted_code()) } else { ExitCode::SUCCESS };
        let mut screen = Screen::stdout(json);
        match json {
            true => screen.object(&self.as_json(&found, exploited.as_ref()))?,
            false => self.tell(&mut screen, &found, exploited.as_ref())?,
        }
        Ok(code)
    }

    fn check_seats(&self) -> Result<()> {
        let known: Vec<&str> = self.setup.seats.keys().map(|seat| &**seat).filter(|seat| *seat != "gm").collect();
        match self.seats.iter().find(|seat| !known.contains(&seat.as_str())) {
            Some(wrong) => Err(call_error(format!(
                "`--best {wrong}`: {} has no such seat; it has {}",
                self.rules.name(),
                known.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// The work that solves the game for these seats.
    fn solve(
        &self,
        seats: &[Arc<str>],
        interrupt: Arc<AtomicBool>,
    ) -> impl FnOnce() -> Result<Solution, Refusal> + Send + 'static {
        let payoff = self.payoff.map(|payoff| match payoff {
            PayoffChoice::Value => Payoff::Value,
            PayoffChoice::Won => Payoff::Won,
        });
        let (rules, setup, seats) = (self.rules.clone(), self.setup.clone(), seats.to_vec());
        move || solve_game(&rules, setup, &seats, payoff, GameLimits::default(), Some(interrupt))
    }

    /// Solves the game for these seats in a thread, which is abandoned if the work is interrupted: so what is known already can be
    /// printed in time. `None` if it was interrupted or there is no solution.
    fn solve_unless_interrupted(&self, seats: &[Arc<str>], interrupt: &Arc<AtomicBool>) -> Option<Solution> {
        let (send, receive) = mpsc::channel();
        let work = self.solve(seats, interrupt.clone());
        // Nobody may listen any more.
        thread::Builder::new().name("solution".into()).spawn(move || drop(send.send(work()))).ok()?;
        loop {
            match receive.recv_timeout(LOOKED_AT_EVERY) {
                Ok(found) => return found.ok(),
                Err(RecvTimeoutError::Timeout) if !interrupt.load(Ordering::Relaxed) => {}
                Err(_) => return None,
            }
        }
    }

    /// What the other seat's policy gives away; `None` if that is not known or there is no such policy.
    fn exploited(&self, found: &Solution, interrupt: &Arc<AtomicBool>) -> Option<Exploited> {
        let [own] = &found.seats[..] else { return None };
        let mut others = self.setup.seats.iter().filter(|(seat, _)| seat != &own && &***seat != "gm");
        let (seat, policy) = match (others.next(), others.next()) {
            (Some((seat, Driver::Policy(policy))), None) => (seat.clone(), policy.clone()),
            _ => return None,
        };
        if found.is_partial() {
            return None;
        }
        let both = self.solve_unless_interrupted(&[own.clone(), seat.clone()], interrupt)?;
        if both.payoff != found.payoff || both.is_partial() {
            return None;
        }
        let gain = ((found.low - both.high).max(0.0), (found.high - both.low).max(0.0));
        Some(Exploited { seat, policy, value: (both.low, both.high), gain })
    }

    fn tell(&self, screen: &mut Screen, found: &Solution, exploited: Option<&Exploited>) -> Result<()> {
        screen.row(&Row::at(0).strong(format!("{} · {}", self.scenario, self.rules.name())))?;
        screen.row(&Row::at(0).plain(self.headline(found)))?;
        let longest = found.results.iter().map(|(_, chance)| *chance).fold(0.0, f64::max);
        let rows = found.results.iter().take(MOST_RESULTS);
        let rows = rows.map(|(name, chance)| vec![percent(*chance), name.clone(), bar(*chance, longest, 24)]);
        table_of_chances(screen, &["chance", "result", ""], rows.collect())?;
        if let more @ 1.. = found.results.len().saturating_sub(MOST_RESULTS) {
            screen.row(&Row::at(0).faint(rarer(more)))?;
        }
        if let Some(known) = exploited {
            let unit = Unit(found.payoff);
            let text = format!(
                "If both play their best, {} gets {}. So {} of {} gives away {}.",
                found.seats[0],
                unit.between(known.value),
                known.policy,
                known.seat,
                unit.between(known.gain),
            );
            screen.row(&Row::at(0).plain(text))?;
        }
        let all = decision_rows(found);
        let shown = &all[..all.len().min(MOST_DECISIONS)];
        if !shown.is_empty() {
            let heads: &[&str] = match found.seats.len() {
                1 => &["decision", "answer", "comes up"],
                _ => &["seat", "decision", "answer", "comes up"],
            };
            screen.table(heads, shown.to_vec())?;
        }
        if let more @ 1.. = all.len().saturating_sub(MOST_DECISIONS) {
            screen.row(
                &Row::at(0).faint(format!("and {more} decisions more, which are less likely: `--json` lists all")),
            )?;
        }
        for note in self.notes(found) {
            screen.row(&Row::at(0).faint(note))?;
        }
        Ok(())
    }

    /// The value of the game, in a sentence.
    fn headline(&self, found: &Solution) -> String {
        let unit = Unit(found.payoff);
        match &found.seats[..] {
            [one, other] => format!(
                "{one} and {other} against each other: {one} gets {}, {other} {}",
                unit.between(found.value_of(0)),
                unit.between(found.value_of(1)),
            ),
            seats => {
                let who = |(seat, driver): (&Arc<str>, &Driver)| match driver {
                    Driver::Policy(policy) => format!("{policy} ({seat})"),
                    Driver::Absent => format!("the defaults of {seat}"),
                    Driver::Human => seat.to_string(),
                };
                let others = self.setup.seats.iter().filter(|(seat, _)| !seats.contains(seat) && &***seat != "gm");
                let others: Vec<String> = others.map(who).collect();
                let own = seats.first().map_or("", |seat| &**seat);
                let others = if others.is_empty() { "nobody".into() } else { others.join(" and ") };
                format!("the best play of {own} against {others} gets {}", unit.between(found.value_of(0)))
            }
        }
    }

    /// How the figures are meant, and what they leave out.
    fn notes(&self, found: &Solution) -> Vec<String> {
        let mut notes = Vec::new();
        const WON: &str =
            "Maximised: the share of games won, by the highest `value` at the end; a draw is half a game won.";
        notes.push(match (found.payoff, found.counts_won, found.seats.len()) {
            (Payoff::Value, ..) => {
                "Maximised: the average of what `value` of the ruleset gives at the end. `--payoff won` maximises games won."
                    .to_owned()
            }
            (Payoff::Won, false, _) => WON.to_owned(),
            (Payoff::Won, true, 1) => format!(
                "{WON} The values of both seats do not sum to the same number in all ends, so a higher `value` need not win: \
                 `--payoff value` maximises it."
            ),
            (Payoff::Won, true, _) => format!(
                "{WON} The values of both seats do not sum to the same number in all ends, so they cannot be the payoff of two \
                 seats against each other."
            ),
        });
        notes.push(match (found.hidden, found.seats.len()) {
            (false, _) => format!("Nothing is hidden: value iteration over {} states of the game.", found.states),
            (true, 1) => format!(
                "The seat knows what it sees and which answers it has seen; over a tree of {} nodes.",
                found.nodes
            ),
            (true, _) => format!(
                "Each seat knows what it sees and which answers it has seen. Both bounds are proven: each is what a best response \
                 gets against the play below. CFR+, {} iterations over a tree of {} nodes.",
                found.iterations, found.nodes
            ),
        });
        if let Some(SkillAndLuck { skill, luck, index: Some(index) }) = found.skill_and_luck {
            notes.push(format!(
                "Skill and luck: under this play, the answers move the payoff of {} by {skill:.3} in all, dice and other draws by \
                 {luck:.3}. Index {index:+.2}: -1 if luck alone moves it, +1 if skill alone does.",
                found.seats.first().map_or("", |seat| &**seat)
            ));
        }
        let followed: f64 = found.results.iter().map(|(_, chance)| chance).sum();
        if found.is_partial() && followed < 1.0 - 1e-9 {
            notes.push(format!("Results: {} of the games under this play were not followed.", percent(1.0 - followed)));
        }
        let (least, most) = found.payoffs;
        if let Some(limit) = &found.limit {
            notes.push(format!(
                "not exact: {limit}; the bounds hold if games that were not followed pay between {least} and {most}, as those do \
                 that were, to any seat"
            ));
        }
        if found.interrupted {
            notes.push(format!(
                "interrupted after {} states: the bounds are those that were known by then",
                found.states
            ));
        }
        notes
    }

    fn as_json(&self, found: &Solution, exploited: Option<&Exploited>) -> Json {
        let exploited = exploited.map(|known| {
            json!({
                "seat": known.seat, "policy": known.policy,
                "value": { "low": known.value.0, "high": known.value.1 },
                "gives_away": { "low": known.gain.0, "high": known.gain.1 },
            })
        });
        let values: Vec<Json> = found
            .seats
            .iter()
            .enumerate()
            .map(|(at, seat)| {
                let (low, high) = found.value_of(at);
                json!({ "seat": seat, "low": low, "high": high })
            })
            .collect();
        json!({
            "scenario": self.scenario, "ruleset": self.rules.name(), "values": values, "solution": found,
            "partial": found.is_partial(), "exploited": exploited,
        })
    }
}

/// The rows of the table of decisions. Decisions that are written alike are one row, which comes up as often as all of them: they
/// differ in something that no field shows.
fn decision_rows(found: &Solution) -> Vec<Vec<String>> {
    let mut rows: HashMap<Vec<String>, f64> = HashMap::new();
    for decision in &found.decisions {
        *rows.entry(decision_cells(decision, found.seats.len() > 1)).or_default() += decision.reach;
    }
    let mut rows: Vec<(Vec<String>, f64)> = rows.into_iter().collect();
    rows.sort_by(|(one, reach), (other, other_reach)| other_reach.total_cmp(reach).then_with(|| one.cmp(other)));
    let with_reach = |(mut cells, reach): (Vec<String>, f64)| {
        cells.push(match reach {
            0.0 => "never".into(),
            // Several decisions of one game are written alike.
            often if often > 1.000_001 => format!("{often:.2} times"),
            share => percent(share),
        });
        cells
    };
    rows.into_iter().map(with_reach).collect()
}

/// The cells of a row of the table of decisions, but for how often it comes up.
fn decision_cells(decision: &BestAnswer, with_seat: bool) -> Vec<String> {
    let fields = decision.sees.iter().map(|(name, value)| format!("{name} {value}"));
    // What the seat sees tells more than the answers before, which it mostly follows from.
    let mut known: Vec<String> = fields.collect();
    if known.is_empty() {
        known.extend(decision.after.iter().cloned());
    }
    let at = if known.is_empty() { String::new() } else { format!(" at {}", known.join(", ")) };
    let mut given: Vec<_> = decision.answers.iter().filter(|answer| answer.share >= SELDOM).collect();
    given.sort_by(|one, other| other.share.total_cmp(&one.share));
    let answer = match &given[..] {
        [only] => only.answer.clone(),
        several => {
            let shares = several.iter().map(|answer| format!("{} {}", answer.answer, percent(answer.share)));
            shares.collect::<Vec<_>>().join(", ")
        }
    };
    let seat = with_seat.then(|| decision.seat.to_string());
    seat.into_iter().chain([format!("{}{at}", decision.topic), answer]).collect()
}

/// Answers that are given more seldom are left out of the table.
const SELDOM: f64 = 0.0005;

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// How payoffs are written.
struct Unit(Payoff);

impl Unit {
    /// A number that lies between two bounds.
    fn between(&self, (low, high): (f64, f64)) -> String {
        let text = |number: f64| match self.0 {
            Payoff::Value => format!("{}", rounded(number)),
            Payoff::Won => format!("{:.2}", rounded(100.0 * number)),
        };
        let unit = if self.0 == Payoff::Won { " of 100 games" } else { "" };
        // Bounds that agree as far as they are written are one number.
        match (text(low), text(high)) {
            (low, high) if low == high => format!("{low}{unit}"),
            (low, high) => format!("between {low} and {high}{unit}"),
        }
    }
}

/// Rounded to four digits after the point, and never `-0`.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0 + 0.0
}
