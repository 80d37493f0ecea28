use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::findings::{
    BLOCK, BLOCK_AHEAD, FORMAT, Findings, GIVEN_UP_AFTER, Plan, PlannedVariant, Shard, TrialPart, is_hopeless,
};
use super::foresight::{Foresight, Seeing};
use super::simulation_error::SimulationError;
use super::tally::{LeftOut, Tally};
use super::trial::{LONGEST, MemoUse, ReadyVariant, Rounds, TrialTable, not_ended};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    Driver, Event, Halt, Happening, MACHINE_STACK, Prepared, Ruleset, Session, SessionError, Setup, StartError,
};
use riskbreaker_state::Audience;

/// Many games of one scenario, under one set of rules or several, on the same dice.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The name of the scenario in reports.
    pub scenario: String,
    /// The rules to compare, each with its settings; at least one.
    pub variants: Vec<Variant>,
    /// The number of games that each variant plays.
    pub trials: u64,
    /// The seed of all games. The same seed gives the same games.
    pub seed: u64,
    /// The precision of the shares of all results at which the simulation stops, as half the width of the interval.
    pub until: Option<f64>,
    /// The number of actions after which a game without an end is left out.
    pub actions: u64,
    /// The use of the memo. The results do not depend on it.
    pub memo: MemoUse,
}

/// One set of rules.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the variant in tables.
    pub name: String,
    /// The rules.
    pub rules: Arc<Ruleset>,
    /// Scenario, seats and house rules.
    pub setup: Setup,
    /// Seats that look ahead or search, by what the ruleset says a state is worth.
    pub ahead: BTreeMap<Arc<str>, Foresight>,
}

/// One game of a simulation, as a row for other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameRow {
    /// The number of the trial, from 1.
    pub trial: u64,
    /// The index of the variant, from 0.
    pub variant: usize,
    /// The result; `None` if the game does not count.
    pub result: Option<String>,
    /// The reason for which the game does not count; `None` if it counts.
    pub left_out: Option<String>,
    /// The number of rounds that passed.
    pub rounds: usize,
    /// The number of actions.
    pub actions: u64,
}

/// The progress of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of games that have ended.
    pub done: u64,
    /// The total number of games.
    pub of: u64,
}

/// The interval at which `told` is called while no block has been finished.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(200);

impl Variant {
    /// Creates a variant. Human seats are played by the ruleset's first policy, or take defaults if it has none. The
    /// game master's seat always takes defaults.
    pub fn new(name: impl Into<String>, rules: &Arc<Ruleset>, mut setup: Setup) -> Result<Variant, StartError> {
        let mut wanted: BTreeMap<Arc<str>, Foresight> = BTreeMap::new();
        for (seat, driver) in &setup.seats {
            if let Driver::Policy(name) = driver
                && let Some(foresight) = Foresight::named(name).map_err(StartError::Seat)?
            {
                wanted.insert(seat.clone(), foresight);
            }
        }
        for seat in wanted.keys() {
            setup.seats.insert(seat.clone(), Driver::Human);
        }
        let prepared = Prepared::new(rules, setup.clone())?;
        for (seat, driver) in &prepared.seats {
            let driver = match (driver, rules.policies().first()) {
                (Driver::Human, _) if wanted.contains_key(seat) => Driver::Human,
                (Driver::Human, Some(_)) if &**seat == "gm" => Driver::Absent,
                (Driver::Human, Some(policy)) => Driver::Policy(policy.clone()),
                (Driver::Human, None) => Driver::Absent,
                (driver, _) => driver.clone(),
            };
            setup.seats.insert(seat.clone(), driver);
        }
        Ok(Variant { name: name.into(), rules: rules.clone(), setup, ahead: wanted })
    }

    /// Prepares the variant. `seed`: the seed of the simulation, which also numbers what a game creates in secret.
    pub(super) fn ready(&self, seed: u64) -> Result<ReadyVariant, SimulationError> {
        if !self.ahead.is_empty() && !self.rules.measures() {
            return Err(SimulationError::NoValue(self.rules.id().to_string()));
        }
        let declarations = self.rules.declarations();
        Ok(ReadyVariant {
            prepared: Prepared::new(&self.rules, self.setup.clone().seed(seed))?,
            ahead: self.ahead.clone(),
            boundary: declarations.boundary.clone(),
            statistics: declarations.statistics.clone().into(),
            traces: Arc::default(),
            opens_after: OnceLock::new(),
        })
    }
}

/// The results of one block of trials.
struct TrialBlock {
    tallies: Vec<Tally>,
    pairs: Vec<BTreeMap<String, BTreeMap<String, u64>>>,
    /// True if no more blocks are played: see [`GIVEN_UP_AFTER`].
    given_up: bool,
    /// The games, if rows were requested.
    rows: Vec<GameRow>,
}

/// A block that a thread has played, with its index in the run.
type PlayedBlock = Result<(u64, TrialBlock), SimulationError>;

impl Simulation {
    /// The plan of the simulation, as stored in findings.
    pub fn plan(&self) -> Result<Plan, SimulationError> {
        let variants = self.variants.iter().map(|variant| {
            let prepared = Prepared::new(&variant.rules, variant.setup.clone())?;
            let driver = |(seat, driver): (&Arc<str>, &Driver)| {
                let name = match driver {
                    Driver::Human => variant.ahead.get(seat).map_or("human".into(), Foresight::to_string),
                    Driver::Absent => "absent".into(),
                    Driver::Policy(policy) => policy.to_string(),
                };
                (seat.to_string(), name)
            };
            let switches: BTreeMap<String, String> =
                prepared.switches.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
            let mut set = switches.clone();
            set.retain(|name, _| variant.setup.switches.contains_key(name.as_str()));
            Ok(PlannedVariant {
                name: variant.name.clone(),
                ruleset: variant.rules.id().to_string(),
                version: variant.rules.version().to_string(),
                layers: variant.rules.extra_layers().to_vec(),
                hash: variant.rules.hash(),
                switches,
                set,
                seats: prepared.seats.iter().map(driver).collect(),
            })
        });
        let looks_ahead = self.variants.iter().any(|variant| !variant.ahead.is_empty());
        Ok(Plan {
            block: if looks_ahead { BLOCK_AHEAD } else { BLOCK },
            scenario: self.scenario.clone(),
            seed: self.seed,
            trials: self.trials,
            actions: self.actions,
            until: self.until,
            variants: variants.collect::<Result<_, StartError>>()?,
        })
    }

    /// Plays all trials, or those of a shard, on this number of threads. The results do not depend on it.
    ///
    /// Ends early when the shares are as precise as `until` asks, or when all of the first 25 games of a variant are
    /// left out. Two are enough if they took more than three seconds of processor time.
    ///
    /// `before`: the findings of an interrupted run to continue. `told` is called for each block in order and ends the
    /// run by returning false; the findings are then incomplete, and a later run can continue them.
    ///
    /// # Errors
    ///
    /// An impossible request, with a sentence that says why. A game that fails is no error: it is left out and listed.
    pub fn run(
        &self,
        threads: usize,
        shard: Option<Shard>,
        before: Option<Findings>,
        told: &mut dyn FnMut(&Findings, Progress) -> bool,
    ) -> Result<Findings, SimulationError> {
        self.run_with_rows(threads, shard, before, told, None)
    }

    /// Like [`Simulation::run`]; passes the games of each played block to `rows`, in the order of their trials.
    ///
    /// # Errors
    ///
    /// As [`Simulation::run`].
    #[allow(clippy::type_complexity)] // a function that takes rows, or none
    pub fn run_with_rows(
        &self,
        threads: usize,
        shard: Option<Shard>,
        before: Option<Findings>,
        told: &mut dyn FnMut(&Findings, Progress) -> bool,
        mut rows: Option<&mut dyn FnMut(&[GameRow])>,
    ) -> Result<Findings, SimulationError> {
        self.can_run(shard)?;
        let mut findings = self.begun(before, shard)?;
        let ready = self.ready()?;
        if findings.complete {
            return Ok(findings);
        }
        let part = TrialPart::of(&findings.plan, shard);
        let (next, stop) = (AtomicU64::new(findings.blocks), Arc::new(AtomicBool::new(false)));
        let threads = threads.clamp(1, 256);
        let part = TrialPart { keeps_rows: rows.is_some(), ..part };
        thread::scope(|scope| {
            let (send, receive) = mpsc::sync_channel(threads * 4);
            for _ in 0..threads {
                let (send, ready, next, stop) = (send.clone(), &ready, &next, &stop);
                let work = move || self.play_blocks(ready, threads * ready.len(), part, next, stop, &send);
                let started =
                    thread::Builder::new().name("trials".into()).stack_size(MACHINE_STACK).spawn_scoped(scope, work);
                if let Err(error) = started {
                    return Err(SimulationError::Machine(self.variants[0].rules.id().to_string(), error.to_string()));
                }
            }
            drop(send);
            self.gather(&mut findings, part, &receive, &stop, told, &mut rows)
        })?;
        findings.complete |= findings.blocks == part.blocks;
        Ok(findings)
    }

    fn can_run(&self, shard: Option<Shard>) -> Result<(), SimulationError> {
        match shard {
            _ if self.trials == 0 => Err(SimulationError::NoTrials),
            _ if self.variants.is_empty() => Err(SimulationError::NoVariants),
            Some(Shard { index, count }) if index < 1 || index > count => Err(SimulationError::Shard { index, count }),
            Some(_) if self.until.is_some() => Err(SimulationError::UntilInShards),
            _ => Ok(()),
        }
    }

    /// Returns the findings that a run continues, or empty ones.
    fn begun(&self, before: Option<Findings>, shard: Option<Shard>) -> Result<Findings, SimulationError> {
        let plan = self.plan()?;
        let before = before.map(|mut before| {
            // Findings of a program up to 0.1.0 have the same rules under another hash.
            for (old, (variant, new)) in before.plan.variants.iter_mut().zip(self.variants.iter().zip(&plan.variants)) {
                if variant.rules.has_hash(&old.hash) {
                    old.hash.clone_from(&new.hash);
                }
            }
            before
        });
        match before {
            Some(before) if before.plan != plan || before.shard != shard => Err(SimulationError::Findings(
                "these are findings of another simulation: other rules, seats, trials, seed or shard".into(),
            )),
            Some(before) => Ok(before),
            None => Ok(Findings {
                format: FORMAT,
                plan,
                shard,
                blocks: 0,
                complete: false,
                tallies: vec![Tally::default(); self.variants.len()],
                pairs: vec![BTreeMap::new(); self.variants.len() - 1],
            }),
        }
    }

    /// One thread of a run: plays one block after another, until none is left or the run stops.
    fn play_blocks(
        &self,
        ready: &[ReadyVariant],
        tables: usize,
        part: TrialPart,
        next: &AtomicU64,
        stop: &Arc<AtomicBool>,
        send: &mpsc::SyncSender<PlayedBlock>,
    ) {
        let tables = ready.iter().map(|ready| TrialTable::new(ready, tables, self.memo)).collect::<Result<Vec<_>, _>>();
        let mut tables = match tables {
            Ok(tables) => tables,
            Err(error) => return drop(send.send(Err(error))),
        };
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= part.blocks || stop.load(Ordering::Relaxed) {
                return;
            }
            let block = match self.block_at(&mut tables, part, at, stop) {
                Ok(Some(block)) => Ok((at, block)),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            if send.send(block).is_err() {
                return;
            }
        }
    }

    /// Takes the blocks in order as the threads of a run send them.
    #[allow(clippy::type_complexity)] // a function that takes rows, or none
    fn gather(
        &self,
        findings: &mut Findings,
        part: TrialPart,
        receive: &mpsc::Receiver<PlayedBlock>,
        stop: &AtomicBool,
        told: &mut dyn FnMut(&Findings, Progress) -> bool,
        rows: &mut Option<&mut dyn FnMut(&[GameRow])>,
    ) -> Result<(), SimulationError> {
        let of = part.games(part.blocks, self.trials);
        let mut done = part.games(findings.blocks, self.trials);
        let mut waiting: BTreeMap<u64, TrialBlock> = BTreeMap::new();
        loop {
            let result = match receive.recv_timeout(LOOKED_AT_EVERY) {
                Ok(result) => result,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                // A block may take long, so the observer is asked whether to stop.
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if !stop.load(Ordering::Relaxed) && !told(findings, Progress { done, of }) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    continue;
                }
            };
            let (at, block) = result.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            waiting.insert(at, block);
            while let Some(block) = waiting.remove(&findings.blocks) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                findings.blocks += 1;
                done = part.games(findings.blocks, self.trials);
                findings.add_counts(&block.tallies, &block.pairs);
                if let Some(rows) = rows {
                    (**rows)(&block.rows);
                }
                let known = self.until.is_some_and(|precision| findings.precision() <= precision);
                let enough = known || block.given_up;
                findings.complete = enough || findings.blocks == part.blocks;
                let go_on = told(findings, Progress { done, of });
                if enough || !go_on {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// Prepares each variant.
    pub(super) fn ready(&self) -> Result<Vec<ReadyVariant>, SimulationError> {
        self.variants.iter().map(|variant| variant.ready(self.seed)).collect()
    }

    /// Plays the block at an index of the run; `None` if it was stopped. A shard gives up if the whole simulation
    /// would, by the same first games.
    fn block_at(
        &self,
        tables: &mut [TrialTable],
        part: TrialPart,
        at: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<TrialBlock>, SimulationError> {
        if at == 0 && part.first > 0 {
            let first = 1..=self.trials.min(GIVEN_UP_AFTER as u64);
            match self.block(tables, (true, first), false, stop)? {
                Some(block) if !block.given_up => {}
                ended => return Ok(ended),
            }
        }
        let block = part.block(at);
        self.block(tables, (block == 0, part.trials_of(block, self.trials)), part.keeps_rows, stop)
    }

    /// Plays the trials of a block; `None` if it was stopped. `is_first`: true for the first block of all shards, which
    /// may give up.
    fn block(
        &self,
        tables: &mut [TrialTable],
        (is_first, trials): (bool, std::ops::RangeInclusive<u64>),
        keeps_rows: bool,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<TrialBlock>, SimulationError> {
        let (mut given_up, mut rows) = (false, Vec::new());
        let mut tallies = vec![Tally::default(); tables.len()];
        let mut pairs = vec![BTreeMap::<String, BTreeMap<String, u64>>::new(); tables.len() - 1];
        for trial in trials {
            let mut results = Vec::with_capacity(tables.len());
            for (variant, (table, tally)) in tables.iter_mut().zip(&mut tallies).enumerate() {
                let result = table.play(self.seed, trial, self.actions, tally, stop)?;
                if keeps_rows {
                    let why = || tally.left_out.last().map(|left| left.why.clone());
                    let left_out = if result.is_none() { why() } else { None };
                    let (rounds, actions) = table.last;
                    rows.push(GameRow { trial, variant, result: result.clone(), left_out, rounds, actions });
                }
                results.push(result);
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            for (result, pairs) in results[1..].iter().zip(&mut pairs) {
                if let (Some(first), Some(result)) = (&results[0], result) {
                    *pairs.entry(first.clone()).or_default().entry(result.clone()).or_insert(0) += 1;
                }
            }
            if is_first && tallies.iter().any(is_hopeless) {
                given_up = true;
                break;
            }
        }
        for (table, tally) in tables.iter_mut().zip(&mut tallies) {
            table.settle(tally);
        }
        Ok(Some(TrialBlock { tallies, pairs, given_up, rows }))
    }

    /// Returns one trial as a session to inspect. `trial` is counted from 1.
    ///
    /// # Errors
    ///
    /// As [`Session::start`].
    pub fn game(&self, variant: usize, trial: u64) -> Result<Session, SimulationError> {
        let variant = self.variants.get(variant).ok_or(SimulationError::NoVariants)?;
        let setup = variant.setup.clone().seed(self.seed);
        let mut session = Session::start(&variant.rules, setup)?;
        session.game_mut().context.dice.rng = DiceRng::stream(self.seed, trial);
        Ok(session)
    }

    /// Plays one trial again as the simulation does, and reports its events. Returns the text that it ends with, or
    /// else why it does not count.
    ///
    /// # Errors
    ///
    /// Those of [`Session::start`]; the thread for scripts cannot be started.
    pub fn replay(
        &self,
        variant: usize,
        trial: u64,
        told: &mut dyn FnMut(Event),
    ) -> Result<Result<String, LeftOut>, SimulationError> {
        let mut session = self.game(variant, trial)?;
        // As in the simulation: a tape would only count against the memory limit of a game.
        session.game_mut().context.keeps_tape = false;
        let seeing = Arc::new(Seeing { ahead: self.variants[variant].ahead.clone(), seed: self.seed, trial });
        let mut rounds = Rounds::new(&self.variants[variant].ready(self.seed)?);
        let mut took = Duration::ZERO;
        let (mut last, mut end_told) = ((0, 0), false);
        let machine = |error: SessionError| {
            SimulationError::Machine(self.variants[variant].rules.id().to_string(), error.to_string())
        };
        loop {
            let left = self.actions.saturating_sub(session.actions());
            let (standing, passed) = session
                .lend(move |game, vm| {
                    let standing = rounds.pass(vm, game).and_then(|()| {
                        let (standing, time) = game.advance_slice(vm, left, rounds.boundary());
                        if matches!(standing, Halt::Over(_)) {
                            rounds.end(vm, game)?;
                        }
                        Ok((standing, time))
                    });
                    (standing, rounds)
                })
                .map_err(machine)?;
            rounds = passed;
            for event in session.take_events() {
                last = (event.action, event.n);
                end_told = matches!(event.happening, Happening::Over { .. });
                told(event);
            }
            let (standing, time) = match standing {
                Ok(played) => played,
                Err(fault) => return Ok(Err(LeftOut::by_fault(trial, fault))),
            };
            took += time;
            match standing {
                Halt::Over(text) => {
                    if !end_told {
                        // The last event, that the agenda is empty, belongs to no action: it is reported with the last
                        // one.
                        let action = u32::try_from(session.actions()).unwrap_or(u32::MAX);
                        let n = if last.0 == action { last.1 + 1 } else { 0 };
                        let happening = Happening::Over { text: text.clone() };
                        told(Event { action, n, audience: Audience::Everybody, happening });
                    }
                    return Ok(Ok(text));
                }
                Halt::Fault(fault) => return Ok(Err(LeftOut::by_fault(trial, fault))),
                Halt::Paused | Halt::Boundary if took > LONGEST_TOLD => {
                    let seconds = LONGEST_TOLD.as_secs();
                    let why = format!("told in full it takes more than {seconds} seconds of processor time");
                    return Ok(Err(LeftOut::new(trial, why)));
                }
                Halt::Paused | Halt::Boundary if session.actions() < self.actions => {}
                Halt::Paused | Halt::Boundary => return Ok(Err(LeftOut::unended(trial, not_ended(self.actions)))),
                Halt::Ask => {
                    let seeing = seeing.clone();
                    let answered = session.lend(move |game, vm| seeing.answer(game, vm, None));
                    if let Err(why) = answered.map_err(machine)? {
                        return Ok(Err(LeftOut::new(trial, why)));
                    }
                }
            }
        }
    }
}

/// The processor time after which a trial with a log is given up: five times the limit without a log.
const LONGEST_TOLD: Duration = LONGEST.saturating_mul(5);
