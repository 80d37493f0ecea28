use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::foresight::{Foresight, Seeing};
use super::simulation_error::SimulationError;
use super::tally::{LeftOut, Sum, Tally};
use riskbreaker_dice::DiceRng;
use riskbreaker_play::{
    ActionContext, CardCounts, DicePosition, Engine, Fault, Game, Halt, Machine, Memo, Prepared, Traces,
};
use riskbreaker_ruleset::Statistic;
use riskbreaker_state::{EntryId, State};

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

/// A prepared variant: the data that all its games share.
pub(super) struct ReadyVariant {
    pub prepared: Prepared,
    pub ahead: BTreeMap<Arc<str>, Foresight>,
    pub boundary: Option<Arc<str>>,
    pub statistics: Arc<[Statistic]>,
    /// The traces that all threads share.
    pub traces: Arc<Traces>,
    /// The number of actions in the opening of the first table. Traces count actions from there.
    pub opens_after: OnceLock<u64>,
}

/// A table that plays the games of one variant one after the other.
pub(super) struct TrialTable<'r> {
    ready: &'r ReadyVariant,
    prepared: Prepared,
    /// `None` until first used, and after a machine was discarded: the old one is dropped before a new one is built.
    pub vm: Option<Box<dyn Machine>>,
    opening: Option<SharedOpening>,
    /// The state of the last game, whose allocations the next game reuses.
    spare: State,
    use_memo: MemoUse,
    pub memo: Option<Box<Memo>>,
    rounds: Rounds,
    /// Rounds and actions of the last game.
    pub last: (usize, u64),
    /// The number of tables that play at the same time, one for each thread.
    tables: usize,
}

/// The number of entries run by script after which the memo is turned off unless more were replayed.
const JUDGED_AFTER: u64 = 5_000;

/// The bytes that the machines of all tables share, and the least share of one table.
const TOGETHER: usize = 64 << 20;
const LEAST_SHARE: usize = 16 << 20;

/// The processor time after which a game is left out, without the time of looking ahead. Checked every `SLICE` actions.
pub(super) const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 6 } else { 3 });
const SLICE: u64 = 32;
pub(super) const TOO_LONG: &str = "it took more than three seconds of processor time";

/// Held while a game runs that needs more memory than its table's share. Only one game at a time may use the full
/// limit.
static ALONE: Mutex<()> = Mutex::new(());

impl TrialTable<'_> {
    /// Creates one of `tables` tables that play at the same time.
    pub fn new(ready: &ReadyVariant, tables: usize, use_memo: MemoUse) -> Result<TrialTable<'_>, SimulationError> {
        // A seat that looks ahead plays forks of the game between two entries, which the memo does not cover.
        let use_memo = if ready.ahead.is_empty() { use_memo } else { MemoUse::Never };
        let prepared = ready.prepared.apart();
        let (spare, rounds) = (State::default(), Rounds::new(ready));
        let mut table = TrialTable {
            ready,
            prepared,
            vm: None,
            opening: None,
            spare,
            use_memo,
            memo: None,
            rounds,
            last: (0, 0),
            tables,
        };
        let mut vm = table.machine()?;
        // An action that exceeds the budget of its machine does so again in each trial, where it is reported.
        table.opening =
            opening(&table.prepared, vm.as_mut(), &mut table.rounds, if ready.ahead.is_empty() { ALIKE } else { 1 });
        // The time limit may have stopped a script of the opening here and not on another thread.
        let opens_after = table.opening.as_ref().map_or(0, |opening| opening.game.actions);
        if *ready.opens_after.get_or_init(|| opens_after) != opens_after {
            table.use_memo = MemoUse::Never;
        }
        let (schema, place) = (ready.prepared.rules.schema(), table.engine().place());
        let opening = table.opening.as_mut().map(|opening| &mut opening.game.context.state);
        table.memo =
            (table.use_memo != MemoUse::Never).then(|| Box::new(Memo::new(&ready.traces, opening, schema, place)));
        table.vm = Some(vm);
        table.clear();
        Ok(table)
    }

    /// Starts a machine with this table's share of memory.
    fn machine(&self) -> Result<Box<dyn Machine>, SimulationError> {
        let mut vm = machine(&self.prepared)?;
        vm.hold_to((TOGETHER / self.tables.max(1)).max(LEAST_SHARE));
        Ok(vm)
    }

    fn engine(&self) -> &'static dyn Engine {
        self.prepared.rules.engine()
    }

    /// True if the memo is worth its cost: more entries were replayed than run, or too few have run to judge.
    fn pays(&self) -> bool {
        let (replayed, recorded) = self.memo.as_ref().map(|memo| memo.counts()).unwrap_or_default();
        self.use_memo != MemoUse::WhereItPays || recorded < JUDGED_AFTER || replayed > recorded
    }

    /// Discards the machine if it exceeded a budget.
    fn clear(&mut self) {
        if self.vm.as_ref().is_some_and(|vm| vm.is_dead()) {
            self.vm = None;
            self.engine().give_back();
        }
    }

    /// Returns a game after the shared opening, or before its start if there is none.
    fn game(&mut self) -> Game {
        let mut game = match &self.opening {
            Some(opening) => {
                self.rounds.passed.begin_as(&opening.passed);
                let mut state = std::mem::take(&mut self.spare);
                state.clone_from(&opening.game.context.state);
                opening.game.go_on_over(state)
            }
            None => {
                self.rounds.passed = Passed::default();
                self.prepared.game()
            }
        };
        // Without a log, there is no need to record which rolls and answers a seat that looks ahead may not see.
        game.context.log.listening = !self.ready.ahead.is_empty();
        game.context.keeps_tape = false;
        game.context.observers.counts = Some(Box::new(CardCounts::default()));
        game.context.observers.memo = self.memo.take();
        game
    }

    /// Plays one game and counts it. Returns its result; `None` if the game is left out. Once `stop` is set, the game
    /// ends soon and does not count.
    ///
    /// # Errors
    ///
    /// A discarded machine cannot be started again. A game that fails is no error.
    pub fn play(
        &mut self,
        seed: u64,
        trial: u64,
        actions: u64,
        tally: &mut Tally,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<String>, SimulationError> {
        let mut result = self.play_through(seed, trial, actions, tally, stop)?;
        if self.vm.as_ref().is_some_and(|vm| vm.ran_out_of_memory()) {
            self.clear();
            let _alone = ALONE.lock();
            tally.left_out.pop();
            self.vm = Some(machine(&self.prepared)?);
            result = self.play_through(seed, trial, actions, tally, stop)?;
            self.vm = None;
            self.engine().give_back();
        }
        self.clear();
        if let Some(found) = self.memo.as_mut().and_then(|memo| memo.take_difference()) {
            return Err(SimulationError::Differs {
                entry: found.entry.to_string(),
                seed,
                trial,
                known: found.known,
                found: found.found,
            });
        }
        if !self.pays() {
            self.settle(tally);
            self.use_memo = MemoUse::Never;
            self.memo = None;
        }
        Ok(result)
    }

    /// Adds the card counts of replayed entries, for all games that counted since the last call.
    pub fn settle(&mut self, tally: &mut Tally) {
        for (seat, card, counts) in self.memo.iter_mut().flat_map(|memo| memo.take_played()) {
            count_card(tally, &seat, &card, counts);
        }
    }

    /// Like [`TrialTable::play`], in the current machine.
    fn play_through(
        &mut self,
        seed: u64,
        trial: u64,
        actions: u64,
        tally: &mut Tally,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<String>, SimulationError> {
        let mut game = self.game();
        let ready = self.ready;
        if self.vm.is_none() {
            self.vm = Some(self.machine()?);
        }
        let vm = self.vm.as_deref_mut().expect("it was made above");
        game.context.dice.rng = DiceRng::stream(seed, trial);
        let rounds = &mut self.rounds;
        let mut time = TimeLimit::default();
        let seeing = Seeing { ahead: ready.ahead.clone(), seed, trial };
        let left_out = |why| LeftOut::new(trial, why);
        let fault = |fault| LeftOut::by_fault(trial, fault);
        let ended = loop {
            if game.actions >= actions {
                break Err(LeftOut::unended(trial, not_ended(actions)));
            }
            if time.is_spent(vm) {
                break Err(LeftOut::unended(trial, TOO_LONG));
            }
            if let Err(found) = rounds.pass(vm, &mut game) {
                break Err(fault(found));
            }
            let halt = game.advance_to(vm, SLICE.min(actions - game.actions), rounds.boundary());
            drop(game.take_events());
            match halt {
                Halt::Ask | Halt::Paused | Halt::Boundary if stop.load(Ordering::Relaxed) => {
                    break Err(left_out("it was interrupted".to_string()));
                }
                Halt::Paused | Halt::Boundary => {}
                Halt::Over(text) => break Ok(text),
                Halt::Fault(found) => break Err(fault(found)),
                Halt::Ask => {
                    time = TimeLimit::default();
                    if let Err(why) = seeing.answer(&mut game, vm, Some(stop)) {
                        break Err(left_out(why));
                    }
                }
            }
        };
        self.last = (rounds.passed.round, game.actions);
        let counts = game.context.observers.counts.take();
        let ended = ended.and_then(|text| {
            let result = rounds.end(vm, &mut game).map_err(fault)?;
            Ok((result.unwrap_or_else(|| text.clone()), text))
        });
        self.memo = game.context.observers.memo.take();
        self.memo.iter_mut().for_each(|memo| memo.end_game(ended.is_ok()));
        let (result, text) = match ended {
            Ok(ended) => ended,
            Err(left_out) => {
                tally.left_out.push(left_out);
                return Ok(None);
            }
        };
        tally.trials += 1;
        tally.actions += game.actions;
        self.spare = game.context.state;
        *place(&mut tally.results, &result) += 1;
        *place(&mut tally.outcomes, &text) += 1;
        if ready.boundary.is_some() {
            *tally.rounds.entry(rounds.passed.round as u32).or_insert(0) += 1;
        }
        for (seat, card, counts) in counts.into_iter().flat_map(|mut counts| counts.take()) {
            count_card(tally, &seat, &card, counts);
        }
        for (which, statistic) in ready.statistics.iter().enumerate() {
            let sums = place(&mut tally.statistics, &statistic.label);
            for (_, round, value) in rounds.passed.samples.iter().filter(|sample| sample.0 == which) {
                sums.resize(sums.len().max(round + 1), Sum::default());
                sums[*round].games += 1;
                sums[*round].sum += value;
            }
        }
        Ok(Some(result))
    }
}

/// Counts the plays, rolls and successes of a card.
fn count_card(tally: &mut Tally, seat: &str, card: &str, counts: [u64; 3]) {
    place(place(&mut tally.cards, seat), card).add(counts);
}

/// Checks whether a game has used up its processor time.
#[derive(Default)]
struct TimeLimit {
    looks: u32,
    /// The time of the first check.
    began: Option<Instant>,
    /// The processor time of the thread when half of the limit had passed in wall time: reading it takes a system call.
    clock: Option<Duration>,
}

impl TimeLimit {
    fn is_spent(&mut self, vm: &dyn Machine) -> bool {
        self.looks += 1;
        if !self.looks.is_multiple_of(4) || self.began.get_or_insert_with(Instant::now).elapsed() < LONGEST / 2 {
            return false;
        }
        let clock = vm.clock();
        clock.saturating_sub(*self.clock.get_or_insert(clock)) > LONGEST / 2
    }
}

/// Returns the value under a name, inserting a default if there is none. Copies the name only then.
fn place<'m, V: Default>(map: &'m mut BTreeMap<String, V>, name: &str) -> &'m mut V {
    if !map.contains_key(name) {
        map.insert(name.to_string(), V::default());
    }
    map.get_mut(name).expect("it was made above")
}

/// Starts a machine with the full memory limit of a script.
fn machine(prepared: &Prepared) -> Result<Box<dyn Machine>, SimulationError> {
    let rules = &prepared.rules;
    rules.machine().map_err(|error| SimulationError::Machine(rules.id().to_string(), error.to_string()))
}

/// The common start of all games of a variant.
struct SharedOpening {
    game: Game,
    /// The rounds that have passed in it.
    passed: Passed,
}

/// The most actions that are played once for all games.
const ALIKE: usize = 100;

/// The limit on the work of scripts in a shared opening, since it cannot be interrupted and its time is not charged to
/// a game.
const MOST_WORK: u64 = 2_000_000;

/// Plays the first actions, at most `most`, that involve no dice and no card: every trial begins after them. `None` if
/// there are none.
fn opening(prepared: &Prepared, vm: &mut dyn Machine, rounds: &mut Rounds, most: usize) -> Option<SharedOpening> {
    let mut game = prepared.game();
    game.context.log.listening = false;
    game.context.observers.counts = Some(Box::new(CardCounts::default()));
    rounds.passed = Passed::default();
    let (mut opening, mut work) = (None, 0);
    for _ in 0..most {
        if work > MOST_WORK {
            break;
        }
        if rounds.pass(vm, &mut game).is_err() {
            break;
        }
        let stands = game.advance_to(vm, 1, rounds.boundary());
        work += vm.work_of_last_call();
        let alike = stands == Halt::Paused
            && game.context.dice.position() == DicePosition::default()
            && game.context.observers.counts.as_ref().is_some_and(|counts| counts.is_empty());
        if !alike {
            break;
        }
        opening = Some(SharedOpening {
            game: game.go_on_over(game.context.state.before_journal()),
            passed: rounds.passed.clone(),
        });
    }
    opening.map(|mut opening| {
        opening.game.context.state.set_apart();
        opening
    })
}

/// The rounds of a game, and the statistics that the ruleset follows in each.
pub(super) struct Rounds {
    boundary: Option<Arc<str>>,
    statistics: Arc<[Statistic]>,
    /// The labels of the statistics that scripts compute.
    labels: Vec<Arc<str>>,
    passed: Passed,
}

/// The rounds of a game that have passed.
#[derive(Clone, Debug, Default)]
struct Passed {
    /// The boundary entry at which the last round was counted. If a free act runs before it, it is due again.
    counted: Option<EntryId>,
    round: usize,
    /// The samples: index of the statistic, round, and value.
    samples: Vec<(usize, usize, i128)>,
}

impl Passed {
    /// Becomes a copy of `other` and reuses the allocations.
    fn begin_as(&mut self, other: &Passed) {
        (self.counted, self.round) = (other.counted, other.round);
        self.samples.clone_from(&other.samples);
    }
}

impl Rounds {
    /// Creates the rounds with copies of the texts, so that threads do not contend for reference counts.
    pub fn new(ready: &ReadyVariant) -> Rounds {
        let (boundary, statistics): (_, Arc<[Statistic]>) =
            (ready.boundary.as_deref().map(Arc::from), ready.statistics.iter().cloned().collect());
        let worked_out = statistics.iter().filter(|statistic| statistic.field.is_none());
        let labels = worked_out.map(|statistic| statistic.label.clone()).collect();
        Rounds { boundary, statistics, labels, passed: Passed::default() }
    }

    /// Counts a round and reads the statistics if the next entry is the boundary of a round.
    ///
    /// # Errors
    ///
    /// The fault of a statistic: the game then does not count.
    pub fn pass(&mut self, vm: &mut dyn Machine, game: &mut Game) -> Result<(), Fault> {
        let due = game.context.state.agenda().first().filter(|entry| Some(&entry.what) == self.boundary.as_ref());
        let due = due.map(|entry| entry.id).filter(|_| game.open.is_none());
        if due.is_none() || due == self.passed.counted {
            return Ok(());
        }
        self.passed.counted = due;
        self.sample(vm, &mut game.context)?;
        self.passed.round += 1;
        Ok(())
    }

    /// Reads the statistics at the end of the game. Returns the ruleset's name for its result.
    pub fn end(&mut self, vm: &mut dyn Machine, game: &mut Game) -> Result<Option<String>, Fault> {
        self.sample(vm, &mut game.context)?;
        vm.result(&mut game.context)
    }

    /// The number of rounds that have passed.
    pub fn passed_rounds(&self) -> usize {
        self.passed.round
    }

    /// The agenda entry that ends a round; `None` if the ruleset has no rounds.
    pub fn boundary(&self) -> Option<&Arc<str>> {
        self.boundary.as_ref()
    }

    fn sample(&mut self, vm: &mut dyn Machine, context: &mut ActionContext) -> Result<(), Fault> {
        let mut worked_out = vm.statistics(context, &self.labels)?.into_iter();
        for (which, statistic) in self.statistics.iter().enumerate() {
            let value = match statistic.field {
                Some((kind, field)) => context.sum_of(kind, field),
                None => worked_out.next().unwrap_or_default().into(),
            };
            self.passed.samples.push((which, self.passed.round, value));
        }
        Ok(())
    }
}

/// The reason for leaving out a game that did not end.
pub(super) fn not_ended(actions: u64) -> String {
    format!("it has not ended after {actions} actions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Simulation, Variant};
    use riskbreaker_play::{Driver, Ruleset, Setup};
    use riskbreaker_ruleset::Library;

    fn simulation(files: &[(&str, &str)], id: &str, scenario: &str, trials: u64) -> Simulation {
        let files = files.iter().map(|(path, text)| (format!("{id}/{path}"), text.as_bytes().to_vec()));
        let rules = Ruleset::load(&Library::from_files(files), id).expect("it loads");
        let variant = Variant::new("one", &rules, Setup::scenario(scenario).seat("left", Driver::Absent));
        Simulation {
            scenario: scenario.into(),
            variants: vec![variant.expect("it starts")],
            trials,
            seed: 11,
            until: None,
            actions: 2_000,
            memo: MemoUse::Always,
        }
    }

    /// Plays games of the imps until the memo and the script differ, with the memo unchanged or with a bug
    /// reintroduced.
    fn play_imps(most: u64, change: fn(&mut Memo)) -> Result<(), SimulationError> {
        let files = [
            ("ruleset.toml", include_str!("../../../tests/data/imps/ruleset.toml")),
            ("kinds.luau", include_str!("../../../tests/data/imps/kinds.luau")),
            ("play.luau", include_str!("../../../tests/data/imps/play.luau")),
            ("scenarios/cave.toml", include_str!("../../../tests/data/imps/scenarios/cave.toml")),
        ];
        let ready = simulation(&files, "imps", "cave", most).ready()?.remove(0);
        let mut table = TrialTable::new(&ready, 1, MemoUse::Always)?;
        change(table.memo.as_mut().expect("it records"));
        let (mut tally, stop) = (Tally::default(), Arc::new(AtomicBool::new(false)));
        (1..=most).try_for_each(|trial| table.play(11, trial, 2_000, &mut tally, &stop).map(drop))
    }

    #[test]
    fn a_start_without_dice_is_played_once_and_counted_in_each_game() {
        let play = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("rope", {})
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local rope = rb.first("rope")
			if rope:add("at", 1) > 3 and rb.under("1d2", 2) then
				rb.finish("over")
			end
		end,
	},
	boundary = "turn",
	statistics = { At = "rope.at" },
})"#;
        let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ rope = { fields = { at = rb.int() } } })"#;
        let files = [
            ("ruleset.toml", "id = \"rope\"\ntitle = \"Rope\"\nversion = \"1\"\n[seats]\nleft = \"who climbs\"\n"),
            ("kinds.luau", kinds),
            ("play.luau", play),
            ("scenarios/hall.toml", "title = \"Hall\"\n"),
        ];
        for memo in [MemoUse::Always, MemoUse::Never] {
            let simulation = simulation(&files, "rope", "hall", 200);
            let ready = simulation.ready().expect("it can begin").remove(0);
            let mut table = TrialTable::new(&ready, 1, memo).expect("there is a machine");
            assert_eq!(
                table.opening.as_ref().map(|opening| opening.game.actions),
                Some(4),
                "the start, and three turns"
            );
            let (mut tally, stop) = (Tally::default(), Arc::new(AtomicBool::new(false)));
            for trial in 1..=200 {
                table.play(11, trial, 2_000, &mut tally, &stop).expect("it plays");
            }
            // Each game has a start and its turns, and a value of the statistic before each turn and at the end.
            let turns: u64 = tally.rounds.iter().map(|(turns, games)| u64::from(*turns) * games).sum();
            assert_eq!((tally.trials, tally.actions), (200, 200 + turns), "{memo:?}");
            let at = &tally.statistics["At"];
            assert!((0..5).all(|turn| at[turn].games == 200 && at[turn].sum == 200 * turn as i128), "{at:?}");
            // A game with a limit of three actions does not end.
            assert_eq!(table.play(11, 1, 3, &mut tally, &stop).expect("it plays"), None);
        }
    }

    #[test]
    fn a_trace_that_notes_relations_without_their_ends_is_found_by_the_check_of_replays() {
        assert!(play_imps(300, |_| {}).is_ok());
        let found = play_imps(300, Memo::forget_ends);
        assert!(matches!(found, Err(SimulationError::Differs { .. })), "{found:?}");
    }
}
