use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::damage::no_count;
use super::tally::{LeftOut, Tally, add_counts};
use super::trial::{LONGEST, ReadyVariant, Rounds, TOO_LONG, TrialTable, answer_ahead};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    Driver, Event, Halt, Happening, MACHINE_STACK, Prepared, Ruleset, Session, SessionError, Setup, StartError,
};
use riskbreaker_ruleset::typed_text::read_json;
use riskbreaker_state::Audience;

/// Many games of one scenario, under one set of rules or several, on the same dice.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What it is called in reports.
    pub scenario: String,
    /// What is compared: rules with their settings, one at least.
    pub variants: Vec<Variant>,
    /// Games that each variant plays.
    pub trials: u64,
    /// The seed of all games: the same seed, the same games.
    pub seed: u64,
    /// Stop as soon as the shares of all results are known to this precision, up and down.
    pub until: Option<f64>,
    /// A game that has not ended after so many actions is left out.
    pub actions: u64,
    /// Whether agenda entries are replayed from their traces. What comes of a simulation does not depend on it.
    pub memo: MemoUse,
}

/// Whether a simulation records what agenda entries do, and replays it where the same is found again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoUse {
    /// Every script is run.
    Never,
    /// For as long as more is replayed than run.
    #[default]
    WhereItPays,
    /// Even where little is replayed.
    Always,
}

/// One set of rules.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What the variant is called in tables.
    pub name: String,
    /// The rules.
    pub rules: Arc<Ruleset>,
    /// Scenario, seats and house rules.
    pub setup: Setup,
    /// Seats that look one step ahead, by what the ruleset says a state is worth.
    pub ahead: BTreeSet<Arc<str>>,
}

/// Part of a simulation: the `index`th of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u64,
    /// How many parts there are.
    pub count: u64,
}

/// What a simulation, or a part of one, has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The version of the file format.
    pub format: u32,
    /// What was simulated.
    pub plan: Plan,
    /// `None` if it is the whole.
    pub shard: Option<Shard>,
    /// Blocks of trials that are in it, in order from the first.
    pub blocks: u64,
    /// Whether all that was wanted is in it.
    pub complete: bool,
    /// By variant.
    pub tallies: Vec<Tally>,
    /// For each variant behind the first: results of the first, then its own results on the same dice, with how often.
    pub pairs: Vec<BTreeMap<String, BTreeMap<String, u64>>>,
}

/// What was to be played: two findings of one plan belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The scenario, by name.
    pub scenario: String,
    /// The seed of all games.
    pub seed: u64,
    /// Games of each variant.
    pub trials: u64,
    /// Actions after which a game is left.
    pub actions: u64,
    /// The margin at which it ended, if it was to end there: a share, 0 to 1.
    pub until: Option<f64>,
    /// What was compared.
    pub variants: Vec<PlannedVariant>,
}

/// A variant as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedVariant {
    /// What it is called in tables.
    pub name: String,
    /// The id of the ruleset.
    pub ruleset: String,
    /// The version of the ruleset.
    pub version: String,
    /// The ids of the layers over it, bottom first.
    pub layers: Vec<String>,
    /// The hash of the rules.
    pub hash: String,
    /// House rules that were set, by name.
    pub switches: BTreeMap<String, String>,
    /// The house rules that the caller set, as opposed to defaults.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Who plays which seat.
    pub seats: BTreeMap<String, String>,
}

/// Why a simulation cannot be run, or findings cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// No game was to be played.
    #[error("zero trials were asked for; `--trials 1000` plays a thousand games")]
    NoTrials,
    /// There is nothing to simulate.
    #[error("nothing is to be played")]
    NoVariants,
    /// A game cannot begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A part that there is not.
    #[error("a shard is one of several, such as 1/4 or 4/4, not {index}/{count}")]
    Shard {
        /// Which part was asked for.
        index: u64,
        /// How many parts there are.
        count: u64,
    },
    /// A part of a simulation cannot end at a margin.
    #[error("where it stops is decided over all trials: leave `--until` out where there are shards")]
    UntilInShards,
    /// Findings that cannot be read or put together.
    #[error("{0}")]
    Findings(String),
    /// A policy looks ahead, but the ruleset does not say what a state is worth.
    #[error("{0} looks ahead but does not say what a state is worth: it needs `value = function(seat)` in play.luau")]
    NoValue(String),
    /// What was recorded and what the script does are not the same.
    #[error(
        "the trace cache and the script of `{entry}` differ, in trial {trial} of seed {seed}: this is a bug of the host, or the \
         script keeps something between calls. Recorded: {known}. The script: {found}. `--every-script` plays without the cache"
    )]
    Differs {
        /// The agenda entry.
        entry: String,
        /// The seed of the simulation.
        seed: u64,
        /// The number of the game.
        trial: u64,
        /// What the trace gave.
        known: String,
        /// What the script gave.
        found: String,
    },
    /// No script machine can be had: the variant, and why.
    #[error("the machine of {0} could not be started: {1}")]
    Machine(String, String),
}

/// One game of a simulation, for tables of other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameRow {
    /// The number of the trial, from 1.
    pub trial: u64,
    /// The place of the variant, from 0.
    pub variant: usize,
    /// What came of it; `None` if it does not count.
    pub result: Option<String>,
    /// Why it does not count.
    pub left_out: Option<String>,
    /// Rounds that passed.
    pub rounds: usize,
    /// Actions.
    pub actions: u64,
}

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Games that have ended.
    pub done: u64,
    /// Games in all.
    pub of: u64,
}

const FORMAT: u32 = 1;
/// Most blocks of trials that are looked at one by one.
const MOST_BLOCKS: u64 = 40_000_000;
/// Missing shards that are named one by one.
const NAMED: usize = 8;

/// How often `told` is called while no block has been finished.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(200);

/// Trials in a block, which are counted together. Results do not depend on it, except where `until` stops.
pub const BLOCK: u64 = 250;

/// If all of this many first games of a variant are left out, no more are played. Fewer suffice if they took too long.
pub(super) const GIVEN_UP_AFTER: usize = 25;
const GIVEN_UP_AFTER_LONG: usize = 2;

/// The name for a seat that looks one step ahead by what the ruleset says a state is worth.
pub const AHEAD: &str = "ahead";

impl Variant {
    /// A variant. Seats that are left to people are played by the ruleset's first policy, or take their defaults if it has
    /// none. The game master's seat always takes defaults.
    pub fn new(name: impl Into<String>, rules: &Arc<Ruleset>, mut setup: Setup) -> Result<Variant, StartError> {
        let wanted: BTreeSet<Arc<str>> = setup
            .seats
            .iter()
            .filter(|(_, driver)| **driver == Driver::Policy(AHEAD.into()))
            .map(|(seat, _)| seat.clone())
            .collect();
        for seat in &wanted {
            setup.seats.insert(seat.clone(), Driver::Human);
        }
        let prepared = Prepared::new(rules, setup.clone())?;
        for (seat, driver) in &prepared.seats {
            let driver = match (driver, rules.policies().first()) {
                (Driver::Human, _) if wanted.contains(seat) => Driver::Human,
                (Driver::Human, Some(_)) if &**seat == "gm" => Driver::Absent,
                (Driver::Human, Some(policy)) => Driver::Policy(policy.clone()),
                (Driver::Human, None) => Driver::Absent,
                (driver, _) => driver.clone(),
            };
            setup.seats.insert(seat.clone(), driver);
        }
        Ok(Variant { name: name.into(), rules: rules.clone(), setup, ahead: wanted })
    }

    /// `seed`: that of the simulation, by which a game also numbers what is made in secret.
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

/// What came of one block of trials.
struct TrialBlock {
    tallies: Vec<Tally>,
    pairs: Vec<BTreeMap<String, BTreeMap<String, u64>>>,
    /// No more are played, see [`GIVEN_UP_AFTER`].
    given_up: bool,
    /// The games, where they are asked for.
    rows: Vec<GameRow>,
}

/// A block that a thread has played, by its place in the run.
type PlayedBlock = Result<(u64, TrialBlock), SimulationError>;

/// The blocks of trials that a run plays: all, or those of a shard.
#[derive(Clone, Copy)]
pub(super) struct TrialPart {
    /// The first block.
    pub first: u64,
    /// How far each block is behind the one before it.
    pub step: u64,
    /// How many they are.
    pub blocks: u64,
    /// Whether the games are kept one by one.
    keeps_rows: bool,
}

impl TrialPart {
    /// The blocks of a shard, out of `all`.
    pub fn of(all: u64, shard: Option<Shard>) -> TrialPart {
        let (first, step) = shard.map_or((0, 1), |shard| (shard.index - 1, shard.count));
        TrialPart { first, step, blocks: all.saturating_sub(first).div_ceil(step), keeps_rows: false }
    }

    /// The games in the first blocks, where there are `trials` in all. The last block of all may be a short one.
    pub fn games(self, blocks: u64, trials: u64) -> u64 {
        let has_last = blocks > 0 && self.block(blocks - 1) == trials.div_ceil(BLOCK) - 1;
        let missing = if has_last { trials.div_ceil(BLOCK) * BLOCK - trials } else { 0 };
        blocks * BLOCK - missing
    }

    /// Which of all blocks stands at a place of the run.
    fn block(self, at: u64) -> u64 {
        self.first + at * self.step
    }
}

impl Simulation {
    /// The simulation as it is written down.
    pub fn plan(&self) -> Result<Plan, SimulationError> {
        let variants = self.variants.iter().map(|variant| {
            let prepared = Prepared::new(&variant.rules, variant.setup.clone())?;
            let driver = |(seat, driver): (&Arc<str>, &Driver)| {
                let name = match driver {
                    Driver::Human if variant.ahead.contains(seat) => AHEAD.to_string(),
                    Driver::Human => "human".into(),
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
        Ok(Plan {
            scenario: self.scenario.clone(),
            seed: self.seed,
            trials: self.trials,
            actions: self.actions,
            until: self.until,
            variants: variants.collect::<Result<_, StartError>>()?,
        })
    }

    /// Plays all trials, or those of a shard, on so many threads. What comes of it does not depend on their number.
    ///
    /// It ends early when the shares are known as precisely as `until` asks, or when all of the first 25 games of a variant are
    /// left out. Two are enough if they took more than three seconds of processor time.
    ///
    /// `before` is the result of an interrupted run. `told` is called for each block in order, and ends the run by returning
    /// false. Then the findings are incomplete; a later run can go on from them.
    ///
    /// # Errors
    ///
    /// Impossible requests, each with a sentence. A game that fails is no error: it is left out and listed.
    pub fn run(
        &self,
        threads: usize,
        shard: Option<Shard>,
        before: Option<Findings>,
        told: &mut dyn FnMut(&Findings, Progress) -> bool,
    ) -> Result<Findings, SimulationError> {
        self.run_with_rows(threads, shard, before, told, None)
    }

    /// The same; the games of each block that is played go to `rows`, in the order of their trials.
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
        let part = TrialPart::of(self.trials.div_ceil(BLOCK), shard);
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

    /// The findings that a run goes on from.
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
        let trials = |at: u64| self.trials_of(part.block(at)).count() as u64;
        let of = (0..part.blocks).map(trials).sum();
        let mut done = (0..findings.blocks).map(trials).sum();
        let mut waiting: BTreeMap<u64, TrialBlock> = BTreeMap::new();
        loop {
            let result = match receive.recv_timeout(LOOKED_AT_EVERY) {
                Ok(result) => result,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                // A block may take long; whoever looks on may have had enough.
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
                done += trials(findings.blocks);
                findings.blocks += 1;
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

    /// Each variant, ready to be played.
    pub(super) fn ready(&self) -> Result<Vec<ReadyVariant>, SimulationError> {
        self.variants.iter().map(|variant| variant.ready(self.seed)).collect()
    }

    /// The trials of a block, counted from 1.
    fn trials_of(&self, block: u64) -> std::ops::RangeInclusive<u64> {
        block * BLOCK + 1..=self.trials.min((block + 1) * BLOCK)
    }

    /// The block at a place of a run; nothing if it was stopped. A shard gives up where the whole does, by the same first games.
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
        self.block(tables, (block == 0, self.trials_of(block)), part.keeps_rows, stop)
    }

    /// Plays the trials of a block; nothing if it was stopped. `is_first`: it is the first block of all shards, which may give up.
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

    /// One trial as a game that can be looked at: `trial` is counted from 1.
    ///
    /// # Errors
    ///
    /// As [`Session::start`].
    pub fn game(&self, variant: usize, trial: u64) -> Result<Session, SimulationError> {
        let variant = self.variants.get(variant).ok_or(SimulationError::NoVariants)?;
        let setup = variant.setup.clone().seed(self.seed);
        let mut session = Session::start(&variant.rules, setup)?;
        session.game_mut().context.chance = DiceRng::stream(self.seed, trial);
        Ok(session)
    }

    /// Plays one trial again, as the simulation plays it, and tells what happens. Gives the text that it ends with, or
    /// else why it does not count.
    ///
    /// # Errors
    ///
    /// As [`Session::start`], and only if no thread for scripts can be had.
    pub fn replay(
        &self,
        variant: usize,
        trial: u64,
        told: &mut dyn FnMut(Event),
    ) -> Result<Result<String, LeftOut>, SimulationError> {
        let mut session = self.game(variant, trial)?;
        // As in the simulation: a tape would only count against the limit of what a game keeps.
        session.game_mut().context.keeps_tape = false;
        let ahead = &self.variants[variant].ahead;
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
                        // The agenda has run empty, which is no action of its own: it is told with the last one.
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
                    let ahead = ahead.clone();
                    let answered = session.lend(move |game, vm| answer_ahead(game, vm, &ahead, None));
                    if let Err(why) = answered.map_err(machine)? {
                        return Ok(Err(LeftOut::new(trial, why)));
                    }
                }
            }
        }
    }
}

/// The shards out of `count` that were not seen, by name; empty if all were.
fn missing_shards(seen: &BTreeMap<(u64, u64), &str>, count: u64) -> String {
    let missing = (1..=count).filter(|index| !seen.contains_key(&(count, *index)));
    let missing: Vec<String> = missing.take(NAMED).map(|index| format!("{index}/{count}")).collect();
    match count - seen.len() as u64 - missing.len() as u64 {
        more if more > 0 && !missing.is_empty() => format!("{} and {more} more", missing.join(", ")),
        _ => missing.join(", "),
    }
}

/// Blocks that no part holds, in ascending order.
fn missing_blocks(held: &[bool]) -> Vec<u64> {
    (0..).zip(held).filter(|(_, held)| !**held).map(|(block, _)| block).collect()
}

/// Whether so many games were played in vain that no more are.
pub(super) fn is_hopeless(tally: &Tally) -> bool {
    let long = || tally.left_out.iter().filter(|left| left.why == TOO_LONG).count();
    tally.trials == 0 && (tally.left_out.len() == GIVEN_UP_AFTER || long() == GIVEN_UP_AFTER_LONG)
}

/// A trial that is told is given up after so much processor time: five times what it may take where nobody looks.
const LONGEST_TOLD: Duration = LONGEST.saturating_mul(5);

/// Why a game is left out that goes on and on.
pub(super) fn not_ended(actions: u64) -> String {
    format!("it has not ended after {actions} actions")
}

impl Findings {
    /// Whether fewer games were played than wanted, since none of the first ones counts with a variant.
    pub fn gave_up_on(&self, variant: usize) -> bool {
        let wanted = self.plan.trials / self.shard.map_or(1, |shard| shard.count);
        let in_vain = |tally: &Tally| wanted > tally.left_out.len() as u64 && is_hopeless(tally);
        self.complete && self.tallies.get(variant).is_some_and(in_vain)
    }

    fn add_counts(&mut self, tallies: &[Tally], pairs: &[BTreeMap<String, BTreeMap<String, u64>>]) {
        for (own, more) in self.tallies.iter_mut().zip(tallies) {
            own.add(more);
        }
        for (own, more) in self.pairs.iter_mut().zip(pairs) {
            for (first, results) in more {
                add_counts(own.entry(first.clone()).or_default(), results);
            }
        }
    }

    /// Half the width of the widest interval of a result, of any variant; 1 for as long as no game of some variant counts.
    fn precision(&self) -> f64 {
        let rates =
            self.tallies.iter().flat_map(|tally| tally.results.keys().map(|result| tally.rate(result).precision()));
        rates.fold(if self.tallies.iter().any(|tally| tally.trials == 0) { 1.0 } else { 0.0 }, f64::max)
    }

    /// Puts the parts of one simulation together: the result is that of the whole. Parts of different splits go together.
    ///
    /// # Errors
    ///
    /// Parts of different simulations, a trial in two parts, missing trials, or a part that was interrupted.
    pub fn merge(parts: Vec<(String, Findings)>) -> Result<Findings, SimulationError> {
        Findings::merged(&parts, false)
    }

    /// Puts together what is known of a simulation: trials may be missing, and parts may have been interrupted. The result is not
    /// complete then. The second value names the trials that are missing; `None` if there are none.
    ///
    /// # Errors
    ///
    /// Parts of different simulations, or a trial in two parts.
    pub fn merge_known(parts: Vec<(String, Findings)>) -> Result<(Findings, Option<String>), SimulationError> {
        let merged = Findings::merged(&parts, true)?;
        let missing = missing_blocks(&merged.held_by(&parts)?);
        let missing = (!missing.is_empty()).then(|| merged.trials_in_words(&missing));
        Ok((merged, missing))
    }

    fn merged(parts: &[(String, Findings)], partial: bool) -> Result<Findings, SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        let Some((first_name, first)) = parts.first() else { return wrong("there is nothing to put together".into()) };
        let Some(Shard { count, .. }) = first.shard else {
            return match parts {
                [(_, only)] => Ok(only.clone()),
                _ => wrong(format!("{first_name} is no shard but a whole simulation")),
            };
        };
        let mut whole = Findings {
            shard: None,
            blocks: 0,
            complete: true,
            tallies: vec![Tally::default(); first.tallies.len()],
            pairs: vec![BTreeMap::new(); first.pairs.len()],
            ..first.clone()
        };
        let mut seen: BTreeMap<(u64, u64), &str> = BTreeMap::new();
        for (name, part) in parts {
            part.goes_with(name, first_name, first, partial)?;
            let Some(shard) = part.shard else { return wrong(format!("{name} is a whole simulation and no shard")) };
            if let Some(twin) = seen.insert((shard.count, shard.index), name) {
                return wrong(format!("{twin} and {name} are both shard {}/{}", shard.index, shard.count));
            }
            // A simulation that is given up has the same first games in every shard.
            let is_repeated = |tally: &Tally| tally.left_out.first().is_some_and(|left| left.trial == 1);
            if shard.index > 1 && part.tallies.iter().any(is_repeated) {
                continue;
            }
            whole.blocks += part.blocks;
            whole.add_counts(&part.tallies, &part.pairs);
        }
        let same_split = seen.keys().all(|shard| shard.0 == count);
        if same_split && !partial {
            let missing = missing_shards(&seen, count);
            return if missing.is_empty() { Ok(whole) } else { wrong(format!("shard {missing} is missing")) };
        }
        let missing = missing_blocks(&whole.held_by(parts)?);
        if !missing.is_empty() && !partial {
            return wrong(format!(
                "trials {} are missing; `--partial` shows what is known",
                whole.trials_in_words(&missing)
            ));
        }
        whole.complete = missing.is_empty();
        Ok(whole)
    }

    /// By block of trials: whether one of the parts holds it.
    ///
    /// # Errors
    ///
    /// Two parts hold the same trials, or there are too many to be looked at one by one.
    fn held_by(&self, parts: &[(String, Findings)]) -> Result<Vec<bool>, SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        let blocks = self.plan.trials.div_ceil(BLOCK);
        if blocks > MOST_BLOCKS {
            return wrong(format!("parts of different splits are merged up to {} trials", MOST_BLOCKS * BLOCK));
        }
        let mut held = vec![false; usize::try_from(blocks).unwrap_or_default()];
        for (name, part) in parts {
            let own = TrialPart::of(blocks, part.shard);
            // A simulation that is given up is so in every part: no block of it is missing.
            let known = if part.complete { own.blocks } else { part.blocks };
            for block in (0..known).map(|at| own.block(at)) {
                let place = usize::try_from(block).ok().and_then(|block| held.get_mut(block));
                if place.is_some_and(|place| std::mem::replace(place, true)) {
                    let trials = self.trials_in_words(&[block]);
                    return wrong(format!("{name} holds trials {trials}, and so does a part before it"));
                }
            }
        }
        Ok(held)
    }

    /// Checks that findings belong to the simulation of others.
    fn goes_with(&self, name: &str, first_name: &str, first: &Findings, partial: bool) -> Result<(), SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        if self.format != FORMAT {
            return wrong(format!("{name} has format {}, this program reads format {FORMAT}", self.format));
        }
        if let Some(damage) = self.damage() {
            return wrong(format!("{name} is damaged: {damage}"));
        }
        if self.plan != first.plan {
            return wrong(format!("{name} belongs to another simulation than {first_name}"));
        }
        if !self.complete && !partial {
            return wrong(format!("{name} was interrupted: run the same call again, it continues where it stopped"));
        }
        Ok(())
    }

    /// The trials of blocks in ascending order, as ranges: `251 to 500, 751 to 1000`.
    fn trials_in_words(&self, blocks: &[u64]) -> String {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for block in blocks {
            let (from, to) = (block * BLOCK + 1, ((block + 1) * BLOCK).min(self.plan.trials));
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == from => *end = to,
                _ => ranges.push((from, to)),
            }
        }
        let named: Vec<String> = ranges.iter().take(NAMED).map(|(from, to)| format!("{from} to {to}")).collect();
        match ranges.len().saturating_sub(named.len()) {
            0 => named.join(", "),
            more => format!("{} and {more} more ranges", named.join(", ")),
        }
    }

    /// Reads findings that were written as JSON.
    ///
    /// # Errors
    ///
    /// A text that is none, or whose numbers cannot be.
    pub fn read(text: &str) -> Result<Findings, SimulationError> {
        let found: Findings = read_json(text.as_bytes()).map_err(|error| {
            let json = serde_json::from_str(text).unwrap_or_default();
            SimulationError::Findings(match no_count(&json) {
                Some(damage) => format!("the findings are damaged: {damage}"),
                None => format!("no findings of a simulation: {error}"),
            })
        })?;
        match found.damage() {
            Some(damage) => Err(SimulationError::Findings(format!("the findings are damaged: {damage}"))),
            None => Ok(found),
        }
    }
}
