//! Runs entry after entry without readers.

use super::Memo;
use super::recording::ExpectedOutcome;
use super::replay::TraceLookup;
use super::traces::TraceTable;
use crate::ActionContext;
use crate::context::Current;
use riskbreaker_state::{Entry, FieldId, KindId};

impl ActionContext {
    /// Finishes the running action. If `goes_on`, takes the next entry that a script has to run off the agenda. `None`
    /// ends the loop.
    pub fn next_headless(&mut self, goes_on: bool) -> Option<&Entry> {
        let headless = self.headless.as_mut()?;
        if headless.current.take().is_some() {
            let pulsed = self.run.pulse != headless.pulse;
            headless.count(pulsed);
            self.state.settle_unread();
            let played = self.observers.counts.as_mut().map(|counts| counts.end_action()).unwrap_or_default();
            if let Some(memo) = &mut self.observers.memo {
                memo.finish(&self.state, pulsed, played);
            }
        }
        self.forget_rolls();
        if !goes_on {
            return None;
        }
        let known = self.headless.as_mut()?.replayed.take();
        let expected = match known {
            Some(expected) => expected,
            None => self.replay_known(),
        };
        let id = self.next_due()?.id;
        self.settle_replays();
        let before = self.dice.position();
        if let Some(memo) = &mut self.observers.memo {
            memo.start(&mut self.state, expected);
        }
        let entry = self.state.take_entry(id)?;
        self.run.entry_key = Some(entry.key);
        let pulse = self.run.pulse;
        let headless = self.headless.as_mut()?;
        headless.pulse = pulse;
        Some(&headless.current.insert(Current { entry, before }).entry)
    }

    /// Replays entries with known traces, before the script machine is entered. Returns true if a script has to run the
    /// next entry.
    pub fn needs_script(&mut self) -> bool {
        if self.observers.memo.is_none() {
            return true;
        }
        let expected = self.replay_known();
        let due = self.next_due().is_some();
        if due {
            self.settle_replays();
        }
        if let Some(headless) = &mut self.headless {
            headless.replayed = Some(expected);
        }
        due
    }

    /// Writes the changes of replays to the state. Call this before reading the state.
    pub fn settle_replays(&mut self) {
        if let Some(memo) = &mut self.observers.memo {
            memo.settle(&mut self.state);
        }
    }

    /// True if the state contains all changes of replays.
    pub fn is_settled(&self) -> bool {
        self.observers.memo.as_ref().is_none_or(|memo| memo.is_settled())
    }

    /// The sum of a field over all entities of a kind, including unwritten changes of replays.
    pub fn sum_of(&self, kind: KindId, field: FieldId) -> i128 {
        if let Some(memo) = &self.observers.memo {
            return memo.sum_of(kind, field, &self.state);
        }
        let of_kind = self.state.entities().filter(|(_, entity)| entity.kind == kind);
        of_kind.filter_map(|(_, entity)| entity.fields.get(field.0 as usize)?.as_int()).map(i128::from).sum()
    }

    /// Replays entries up to one without a known trace. Returns the expected outcome of that entry, if it runs only to
    /// be checked.
    fn replay_known(&mut self) -> Option<ExpectedOutcome> {
        let mut memo = self.observers.memo.take()?;
        let traces = memo.traces();
        let expected = loop {
            memo.commit_finished();
            let table = traces.read();
            memo.begin_replay(&mut self.state);
            let expected = self.replay_with(&mut memo, &table);
            memo.end_replay(&mut self.state);
            if !memo.must_tell() {
                break expected;
            }
        };
        self.observers.memo = Some(memo);
        expected
    }

    /// Like [`ActionContext::replay_known`], until the trace table has to be written to.
    fn replay_with(&mut self, memo: &mut Memo, table: &TraceTable) -> Option<ExpectedOutcome> {
        while !memo.must_tell() && self.next_due().is_some() {
            let before = self.dice.position();
            match memo.replay(table, &mut self.state, &mut self.dice.rng) {
                TraceLookup::Replayed { pulsed } => {
                    if let Some(headless) = &mut self.headless {
                        headless.count(pulsed);
                    }
                }
                TraceLookup::Missing => {
                    self.dice.set_position(before);
                    return None;
                }
                TraceLookup::Check(known) => {
                    self.dice.set_position(before);
                    return Some(known);
                }
            }
        }
        None
    }

    /// The next entry of the agenda. `None` if the loop has to stop first.
    fn next_due(&self) -> Option<&Entry> {
        let headless = self.headless.as_ref()?;
        let ends = headless.left == 0 || headless.idle >= headless.most_idle || self.must_be_weighed();
        if ends || self.state.outcome().is_some() || headless.settles_ties && self.is_tied() {
            return None;
        }
        let first = self.state.agenda().first()?;
        if headless.done > 0 && headless.boundary.as_ref().is_some_and(|boundary| *boundary == first.what) {
            return None;
        }
        self.is_plain(first).then_some(first)
    }

    /// True if an entry is neither disabled by the game master nor recurs beyond the largest key. Other entries are
    /// handled outside the loop: the log reports the first, the second is a fault.
    #[inline]
    pub fn is_plain(&self, entry: &Entry) -> bool {
        !self.state.left_out().contains(&entry.what) && !entry.recurs_too_far()
    }

    /// True if so many bytes were written that the size of the state must be measured again.
    pub fn must_be_weighed(&self) -> bool {
        self.state.written > UNWEIGHED
    }

    /// The entry that runs in the headless loop.
    pub fn due(&self) -> Option<&Entry> {
        Some(&self.headless.as_ref()?.current.as_ref()?.entry)
    }
}

/// The number of written bytes after which the size of all values is measured again.
pub(crate) const UNWEIGHED: usize = 8 << 20;
