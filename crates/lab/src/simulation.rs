use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::damage::no_count;
use super::foresight::{Foresight, Seeing};
use super::tally::{LeftOut, Tally, add_counts};
use super::trial::{LONGEST, ReadyVariant, Rounds, TOO_LONG, TrialTable};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    Driver, Event, Halt, Happening, MACHINE_STACK, Prepared, Ruleset, Session, SessionError, Setup, StartError,
};
use riskbreaker_ruleset::typed_text::read_json;
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

/// When a simulation records agenda entries in the memo and replays them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoUse {
    /// Never: every script is run.
    Never,
    /// While more entries are replayed than run.
    #[default]
    WhereItPays,
    /// Always, even if few entries are replayed.
    Always,
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

/// Part of a simulation: the `index`th of `count`, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u64,
    /// The number of parts.
    pub count: u64,
}

/// The results of a simulation, or of a shard of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// The version of the file format.
    pub format: u32,
    /// The plan of the simulation.
    pub plan: Plan,
    /// The shard; `None` for the whole simulation.
    pub shard: Option<Shard>,
    /// The number of blocks of trials played, in order from the first.
    pub blocks: u64,
    /// True if all wanted trials were played.
    pub complete: bool,
    /// The counts by variant.
    pub tallies: Vec<Tally>,
    /// For each variant after the first: the results of the first variant, and how often each result of this variant
    /// came with it on the same dice.
    pub pairs: Vec<BTreeMap<String, BTreeMap<String, u64>>>,
}

/// The plan of a simulation. Findings can be merged only if they have the same plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the scenario.
    pub scenario: String,
    /// The seed of all games.
    pub seed: u64,
    /// The number of games of each variant.
    pub trials: u64,
    /// The number of actions after which a game is left out.
    pub actions: u64,
    /// The margin at which the simulation was to end: a share, 0 to 1.
    pub until: Option<f64>,
    /// The compared variants.
    pub variants: Vec<PlannedVariant>,
}

/// A variant as stored in findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedVariant {
    /// The name of the variant in tables.
    pub name: String,
    /// The id of the ruleset.
    pub ruleset: String,
    /// The version of the ruleset.
    pub version: String,
    /// The ids of the layers on top of it, bottom first.
    pub layers: Vec<String>,
    /// The hash of the rules.
    pub hash: String,
    /// All house rules with their values, by name.
    pub switches: BTreeMap<String, String>,
    /// The house rules that the caller set, as opposed to defaults.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// The driver of each seat.
    pub seats: BTreeMap<String, String>,
}

/// An error of a simulation, or of merging findings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// Zero trials were requested.
    #[error("zero trials were asked for; `--trials 1000` plays a thousand games")]
    NoTrials,
    /// No variant was given.
    #[error("nothing is to be played")]
    NoVariants,
    /// A game cannot begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A shard that does not exist.
    #[error("a shard is one of several, such as 1/4 or 4/4, not {index}/{count}")]
    Shard {
        /// The number of the requested part.
        index: u64,
        /// The number of parts.
        count: u64,
    },
    /// A margin was given for a shard. Only a whole simulation can stop at a margin.
    #[error("where it stops is decided over all trials: leave `--until` out where there are shards")]
    UntilInShards,
    /// Findings that cannot be read or merged.
    #[error("{0}")]
    Findings(String),
    /// A policy looks ahead, but the ruleset has no `value`.
    #[error("{0} looks ahead but does not say what a state is worth: it needs `value = function(seat)` in play.luau")]
    NoValue(String),
    /// The memo and the script gave different results.
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
        /// The recorded result.
        known: String,
        /// The result of the script.
        found: String,
    },
    /// A script machine could not be started: the variant, and why.
    #[error("the machine of {0} could not be started: {1}")]
    Machine(String, String),
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

const FORMAT: u32 = 1;
/// The most blocks of trials that are tracked individually when parts are merged.
const MOST_BLOCKS: u64 = 40_000_000;
/// The most missing shards that a message names.
const NAMED: usize = 8;

/// The interval at which `told` is called while no block has been finished.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(200);

/// The number of trials in a block. The results do not depend on it, except for when `until` stops the simulation.
pub const BLOCK: u64 = 250;

/// The number of first games of a variant after which it is given up if all were left out. Fewer suffice if they took
/// too long.
pub(super) const GIVEN_UP_AFTER: usize = 25;
const GIVEN_UP_AFTER_LONG: usize = 2;

/// The driver name of a seat that looks one step ahead, with the ruleset's `value` as the measure.
pub const AHEAD: &str = "ahead";

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

/// The blocks of trials in a run: all, or those of a shard.
#[derive(Clone, Copy)]
pub(super) struct TrialPart {
    /// The first block.
    pub first: u64,
    /// The distance from each block to the next.
    pub step: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// True if each game is kept as a row.
    keeps_rows: bool,
}

impl TrialPart {
    /// Returns the blocks of a shard, out of `all`.
    pub fn of(all: u64, shard: Option<Shard>) -> TrialPart {
        let (first, step) = shard.map_or((0, 1), |shard| (shard.index - 1, shard.count));
        TrialPart { first, step, blocks: all.saturating_sub(first).div_ceil(step), keeps_rows: false }
    }

    /// The number of games in the first `blocks` blocks of this part, out of `trials` in all. The last block of all may
    /// be short.
    pub fn games(self, blocks: u64, trials: u64) -> u64 {
        let has_last = blocks > 0 && self.block(blocks - 1) == trials.div_ceil(BLOCK) - 1;
        let missing = if has_last { trials.div_ceil(BLOCK) * BLOCK - trials } else { 0 };
        blocks * BLOCK - missing
    }

    /// The number of the block at an index of the run.
    fn block(self, at: u64) -> u64 {
        self.first + at * self.step
    }
}

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
        Ok(Plan {
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
        let trials = |at: u64| self.trials_of(part.block(at)).count() as u64;
        let of = (0..part.blocks).map(trials).sum();
        let mut done = (0..findings.blocks).map(trials).sum();
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

    /// Prepares each variant.
    pub(super) fn ready(&self) -> Result<Vec<ReadyVariant>, SimulationError> {
        self.variants.iter().map(|variant| variant.ready(self.seed)).collect()
    }

    /// The range of trials in a block, counted from 1.
    fn trials_of(&self, block: u64) -> std::ops::RangeInclusive<u64> {
        block * BLOCK + 1..=self.trials.min((block + 1) * BLOCK)
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
        self.block(tables, (block == 0, self.trials_of(block)), part.keeps_rows, stop)
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

/// The missing shards out of `count`, by name; empty if none is missing.
fn missing_shards(seen: &BTreeMap<(u64, u64), &str>, count: u64) -> String {
    let missing = (1..=count).filter(|index| !seen.contains_key(&(count, *index)));
    let missing: Vec<String> = missing.take(NAMED).map(|index| format!("{index}/{count}")).collect();
    match count - seen.len() as u64 - missing.len() as u64 {
        more if more > 0 && !missing.is_empty() => format!("{} and {more} more", missing.join(", ")),
        _ => missing.join(", "),
    }
}

/// The blocks that no part contains, in ascending order.
fn missing_blocks(held: &[bool]) -> Vec<u64> {
    (0..).zip(held).filter(|(_, held)| !**held).map(|(block, _)| block).collect()
}

/// True if the first games of a variant were all left out, so that no more are played.
pub(super) fn is_hopeless(tally: &Tally) -> bool {
    let long = || tally.left_out.iter().filter(|left| left.why == TOO_LONG).count();
    tally.trials == 0 && (tally.left_out.len() == GIVEN_UP_AFTER || long() == GIVEN_UP_AFTER_LONG)
}

/// The processor time after which a trial with a log is given up: five times the limit without a log.
const LONGEST_TOLD: Duration = LONGEST.saturating_mul(5);

/// The reason for leaving out a game that did not end.
pub(super) fn not_ended(actions: u64) -> String {
    format!("it has not ended after {actions} actions")
}

impl Findings {
    /// True if fewer games than wanted were played because none of the first ones counts for a variant.
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

    /// Half the width of the widest interval of any result of any variant; 1 if no game of some variant counts yet.
    fn precision(&self) -> f64 {
        let rates =
            self.tallies.iter().flat_map(|tally| tally.results.keys().map(|result| tally.rate(result).precision()));
        rates.fold(if self.tallies.iter().any(|tally| tally.trials == 0) { 1.0 } else { 0.0 }, f64::max)
    }

    /// Merges the parts of one simulation; the result equals that of the whole. The parts may come from different
    /// splits.
    ///
    /// # Errors
    ///
    /// Parts of different simulations, a trial in two parts, missing trials, or a part that was interrupted.
    pub fn merge(parts: Vec<(String, Findings)>) -> Result<Findings, SimulationError> {
        Findings::merged(&parts, false)
    }

    /// Merges the known parts of a simulation: trials may be missing, and parts may have been interrupted. The result
    /// is then incomplete, and the second value names the missing trials; `None` if none is missing.
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
            // If a simulation is given up, every shard contains the same first games.
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

    /// For each block of trials, true if one of the parts contains it.
    ///
    /// # Errors
    ///
    /// Two parts contain the same trials, or there are too many blocks to track.
    fn held_by(&self, parts: &[(String, Findings)]) -> Result<Vec<bool>, SimulationError> {
        let wrong = |message: String| Err(SimulationError::Findings(message));
        let blocks = self.plan.trials.div_ceil(BLOCK);
        if blocks > MOST_BLOCKS {
            return wrong(format!("parts of different splits are merged up to {} trials", MOST_BLOCKS * BLOCK));
        }
        let mut held = vec![false; usize::try_from(blocks).unwrap_or_default()];
        for (name, part) in parts {
            let own = TrialPart::of(blocks, part.shard);
            // If a simulation is given up, every part is given up: no block of it is missing.
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

    /// Checks that findings belong to the same simulation as others.
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

    /// Formats the trials of blocks as ranges: `251 to 500, 751 to 1000`. `blocks` is in ascending order.
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

    /// Parses findings from JSON.
    ///
    /// # Errors
    ///
    /// A text that is no JSON of findings, or that contains impossible numbers.
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
