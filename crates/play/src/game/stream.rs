use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::action::Done;
use super::revision_note::RevisionNote;
use crate::{Event, Events, Happening, Viewer, push_sparing};
use riskbreaker_state::Audience;

/// The events of a game, for any number of readers.
///
/// It compares the log with the events already sent, takes undone events back from the end, and sends new ones. So a
/// reader that applies all events has the log. Each viewer has its own revisions, which count only its own events and
/// so reveal nothing else. Events that no reader can ask for are dropped; a viewer that reads for the first time after
/// that gets only the valid events (those not taken back).
#[derive(Debug)]
pub(crate) struct Stream {
    /// All valid events, and those that some reader still needs.
    told: Vec<ToldEvent>,
    /// The log as it was last sent: indices into `told`.
    standing: Vec<u32>,
    /// All changes, for new readers. `None` if new readers get only the valid events.
    past: Option<Vec<Batch>>,
    readers: Vec<(Viewer, StreamReader)>,
    /// Number of leading actions of the history, and of events in them, that were sent and are unchanged since.
    settled: (usize, usize),
    /// The last steps of a table that sent events, oldest first: the length of `told` at its end, and the number of the step.
    steps: VecDeque<(u32, u64)>,
}

impl Default for Stream {
    fn default() -> Stream {
        let (told, standing, readers) = (Vec::new(), Vec::new(), Vec::new());
        Stream { told, standing, past: Some(Vec::new()), readers, settled: (0, 0), steps: VecDeque::new() }
    }
}

/// An event that was sent: a copy, or a reference into the history.
#[derive(Debug)]
enum ToldEvent {
    Copy(Box<Event>),
    /// The event at this offset of an action's events.
    Kept(Events, u32),
}

impl ToldEvent {
    fn event(&self) -> Event {
        match self {
            ToldEvent::Copy(event) => Event::clone(event),
            ToldEvent::Kept(events, place) => events.at(*place),
        }
    }

    fn is_seen_by(&self, viewer: &Viewer) -> bool {
        match self {
            ToldEvent::Copy(event) => viewer.sees(&event.audience),
            ToldEvent::Kept(events, place) => viewer.sees(&events.audience_at(*place)),
        }
    }

    fn is(&self, other: &Event) -> bool {
        match self {
            ToldEvent::Copy(event) => **event == *other,
            ToldEvent::Kept(events, place) => events.at(*place) == *other,
        }
    }
}

/// The events of one change of the game.
#[derive(Debug, Default)]
struct Batch {
    /// The events that are no longer valid, in the order of the log.
    dropped: Box<[u32]>,
    added: Box<[u32]>,
    /// Messages outside the log.
    asides: Box<[u32]>,
    note: Option<Arc<RevisionNote>>,
}

/// The revisions of one viewer.
#[derive(Debug, Default)]
struct StreamReader {
    /// The number of revisions before the first of `items`.
    forgotten: u64,
    /// The last revision.
    revision: u64,
    items: VecDeque<Item>,
    /// The valid events: revisions, with their rows in `told`.
    standing: Vec<(u64, EventRow)>,
    /// The number of valid events.
    stand: usize,
}

/// Consecutive indices into `told`. A viewer who sees everything has long rows.
#[derive(Clone, Copy, Debug)]
struct EventRow {
    first: u32,
    count: u32,
}

/// One revision of a viewer, or one for each index of a row.
#[derive(Clone, Debug)]
enum Item {
    Told(EventRow),
    Back(Box<RevisionBack>),
}

/// Takes the events after revision `to` back.
#[derive(Clone, Debug)]
struct RevisionBack {
    to: u64,
    note: Option<Arc<RevisionNote>>,
}

/// The number of revisions kept for an absent viewer, besides the valid events. A viewer who missed more begins again
/// from a snapshot.
const KEPT: usize = 2_000;

/// Unneeded events are dropped when `told` is longer than twice the log plus this number.
const SLACK: usize = 1_000;

/// The number of steps that are known.
const STEPS: usize = 4_000;

impl Stream {
    /// Notes that the history was cut: later actions may have new events.
    pub fn history_cut(&mut self, actions: usize, events: usize) {
        if self.settled.0 > actions {
            self.settled = (actions, self.settled.1.saturating_sub(events));
        }
    }

    /// Sends the changes of the log: the finished actions and the open action.
    pub fn publish(&mut self, history: &[Done], open: &[Event], asides: &mut Vec<Event>, note: Option<RevisionNote>) {
        let (actions, from) = self.settled;
        let kept = history[actions..].iter().flat_map(|done| {
            let place = |(place, event)| (Cow::Owned(event), Some((&done.events, place)));
            done.events.places().map(place)
        });
        let mut rest = kept.chain(open.iter().map(|event| (Cow::Borrowed(event), None))).peekable();
        let mut same = from;
        while let Some((event, kept)) = rest.peek()
            && let Some(at) = self.standing.get(same)
            && self.told[*at as usize].is(event)
        {
            if let Some((events, place)) = kept {
                self.told[*at as usize] = ToldEvent::Kept((*events).clone(), *place);
            }
            same += 1;
            rest.next();
        }
        let dropped = self.standing.split_off(same);
        let keep = |told: &mut Vec<ToldEvent>, event: ToldEvent| {
            push_sparing(told, event);
            told.len() as u32 - 1
        };
        let told = |(event, kept): (Cow<'_, Event>, Option<(&Events, u32)>)| match kept {
            Some((events, place)) => ToldEvent::Kept(events.clone(), place),
            None => ToldEvent::Copy(Box::new(event.into_owned())),
        };
        let added: Vec<u32> = rest.map(|event| keep(&mut self.told, told(event))).collect();
        added.iter().for_each(|at| push_sparing(&mut self.standing, *at));
        let asides = asides.drain(..).map(|event| keep(&mut self.told, ToldEvent::Copy(Box::new(event))));
        let asides: Vec<u32> = asides.collect();
        self.settled = (history.len(), self.standing.len() - open.len());
        if dropped.is_empty() && added.is_empty() && asides.is_empty() && note.is_none() {
            return;
        }
        let (dropped, added, asides) = (dropped.into(), added.into(), asides.into());
        let batch = Batch { dropped, added, asides, note: note.map(Arc::new) };
        for (viewer, reader) in &mut self.readers {
            reader.follow(viewer, &self.told, &batch);
        }
        if let Some(past) = &mut self.past {
            past.push(batch);
        }
        if self.told.len() > 2 * self.standing.len() + SLACK {
            self.forget();
        }
    }

    /// Ends a step of a table: the events that were sent since the end of the step before belong to it.
    pub fn end_step(&mut self, step: u64) {
        let end = self.told.len() as u32;
        if self.steps.back().is_none_or(|(last, _)| *last < end) {
            self.steps.push_back((end, step));
            if self.steps.len() > STEPS {
                self.steps.pop_front();
            }
        }
    }

    /// The steps of a viewer's valid events after a revision, oldest first, each with the revisions of its events.
    ///
    /// An event that was sent again with the same words belongs to the step that sent it first. The first known step is left
    /// out, since its events may be those of earlier ones, too.
    pub fn steps_after(&mut self, viewer: &Viewer, revision: u64) -> Vec<(u64, RangeInclusive<u64>)> {
        let rows = self.reader(viewer).standing.clone();
        let standing = rows.iter().flat_map(|(first, row)| (*first..).zip(row.places()));
        let mut steps = self.steps.iter().peekable();
        let before = steps.next().map_or(u32::MAX, |(end, _)| *end);
        let mut found: Vec<(u64, RangeInclusive<u64>)> = Vec::new();
        for (to, at) in standing.filter(|(to, at)| *to > revision && *at >= before) {
            while steps.next_if(|(end, _)| *end <= at).is_some() {}
            match (steps.peek(), found.last_mut()) {
                (Some((_, step)), Some((last, events))) if last == step => *events = *events.start()..=to,
                (Some((_, step)), _) => found.push((*step, to..=to)),
                (None, _) => break,
            }
        }
        found
    }

    /// Drops the past: new readers get only the valid events from now on.
    pub fn forget_past(&mut self) {
        self.past = None;
    }

    /// Drops the events that are neither valid nor needed by a reader.
    fn forget(&mut self) {
        self.forget_past();
        let mut used = vec![false; self.told.len()];
        let of_readers = self.readers.iter().flat_map(|(_, reader)| {
            reader.items.iter().filter_map(|item| match item {
                Item::Told(row) => Some(row),
                Item::Back(_) => None,
            })
        });
        // A reader's valid events are those of the log, apart from events hidden from the reader.
        let of_logs = self.readers.iter().flat_map(|(_, reader)| reader.standing.iter().map(|(_, row)| row));
        let of_rows = of_readers.chain(of_logs).flat_map(|row| row.places());
        for at in self.standing.iter().copied().chain(of_rows) {
            used[at as usize] = true;
        }
        let mut places = vec![0; used.len()];
        let mut next = 0;
        for (place, used) in places.iter_mut().zip(&used) {
            *place = next;
            next += u32::from(*used);
        }
        let mut kept = used.iter();
        self.told.retain(|_| kept.next().copied().unwrap_or_default());
        self.told.shrink_to_fit();
        for (end, _) in &mut self.steps {
            *end = places.get(*end as usize).copied().unwrap_or(next);
        }
        // All indices of a row are used, so they stay consecutive.
        let moved = |at: &mut u32| *at = places[*at as usize];
        self.standing.iter_mut().for_each(moved);
        for (_, reader) in &mut self.readers {
            reader.standing.iter_mut().for_each(|(_, row)| moved(&mut row.first));
            for item in &mut reader.items {
                if let Item::Told(row) = item {
                    moved(&mut row.first);
                }
            }
        }
    }

    /// The events of a viewer after a revision, the newest last. `None` if there is no such revision or it is no longer
    /// kept.
    pub fn since(&mut self, viewer: &Viewer, revision: u64) -> Option<Vec<(u64, Event)>> {
        if revision == 0 && self.reader(viewer).forgotten > 0 {
            // A reader that begins needs only the valid events.
            return Some(self.log(viewer, usize::MAX));
        }
        let reader = self.reader(viewer);
        if !(reader.forgotten..=reader.revision).contains(&revision) {
            return None;
        }
        let (mut first, mut at) = (reader.revision + 1, reader.items.len());
        while first > revision + 1 && at > 0 {
            at -= 1;
            first -= reader.items[at].revisions();
        }
        let items: Vec<Item> = reader.items.iter().skip(at).cloned().collect();
        // The first item may hold the whole game: decode only the new events.
        let known = (revision + 1).saturating_sub(first) as usize;
        let skips = std::iter::once(known).chain(std::iter::repeat(0));
        let told = items.iter().zip(skips).flat_map(|(item, skip)| self.events_of(viewer, item, skip));
        Some((first + known as u64..).zip(told).collect())
    }

    /// The last revision of a viewer.
    pub fn revision(&mut self, viewer: &Viewer) -> u64 {
        self.reader(viewer).revision
    }

    /// The last `most` valid events of a viewer.
    pub fn log(&mut self, viewer: &Viewer, most: usize) -> Vec<(u64, Event)> {
        let reader = self.reader(viewer);
        let from = reader.stand.saturating_sub(most);
        let standing = reader.standing.iter().flat_map(|(revision, row)| (*revision..).zip(row.places()));
        let standing: Vec<(u64, u32)> = standing.skip(from).collect();
        standing.into_iter().map(|(revision, at)| (revision, self.told[at as usize].event())).collect()
    }

    /// The events of an item, without the first `skip` revisions.
    fn events_of<'s>(&'s self, viewer: &Viewer, item: &'s Item, skip: usize) -> impl Iterator<Item = Event> + 's {
        let (row, back) = match item {
            Item::Told(row) => (Some(*row), None),
            Item::Back(back) => (None, Some(Stream::back(viewer, back)).filter(|_| skip == 0)),
        };
        let told =
            row.into_iter().flat_map(move |row| row.places().skip(skip)).map(move |at| self.told[at as usize].event());
        told.chain(back)
    }

    /// The event that tells a viewer to take events back.
    fn back(viewer: &Viewer, back: &RevisionBack) -> Event {
        let note = back.note.as_deref();
        let text = note.map(|note| if viewer.sees(&note.audience) { &note.text } else { &note.public });
        let cause = note.map_or("rerun", |note| note.cause).to_string();
        let happening = Happening::Back { to: back.to, cause, text: text.cloned().unwrap_or_default() };
        Event { action: 0, n: 0, audience: Audience::Everybody, happening }
    }

    fn reader(&mut self, viewer: &Viewer) -> &StreamReader {
        let Stream { told, standing, past, readers, .. } = self;
        let known = readers.iter().position(|(of, _)| of == viewer);
        let at = known.unwrap_or_else(|| {
            let mut reader = StreamReader::default();
            match past {
                Some(past) => past.iter().for_each(|batch| reader.follow(viewer, told, batch)),
                None => {
                    let batch = Batch { added: standing.clone().into(), ..Batch::default() };
                    reader.follow(viewer, told, &batch);
                }
            }
            readers.reserve_exact(1);
            readers.push((viewer.clone(), reader));
            readers.len() - 1
        });
        &readers[at].1
    }
}

impl EventRow {
    fn places(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }

    fn ends_before(self, at: u32) -> bool {
        at == self.first + self.count
    }
}

impl Item {
    /// The number of revisions of the item.
    fn revisions(&self) -> u64 {
        match self {
            Item::Told(row) => u64::from(row.count),
            Item::Back(_) => 1,
        }
    }
}

impl StreamReader {
    fn follow(&mut self, viewer: &Viewer, told: &[ToldEvent], batch: &Batch) {
        let sees = |at: &&u32| told[**at as usize].is_seen_by(viewer);
        let gone: Vec<u32> = batch.dropped.iter().filter(sees).copied().collect();
        let mut come = batch.added.iter().filter(sees).copied().peekable();
        // Other viewers' events may differ while this viewer's are equal.
        let mut gone_for_good = gone.iter().peekable();
        while let (Some(old), Some(new)) = (gone_for_good.peek(), come.peek())
            && told[**old as usize].event().happening == told[*new as usize].event().happening
        {
            gone_for_good.next();
            come.next();
        }
        let lost = gone_for_good.count();
        self.drop_last(lost);
        if lost > 0 || batch.note.is_some() {
            let last = self.standing.last();
            let to = last.map_or(0, |(revision, row)| revision + u64::from(row.count) - 1);
            self.revision += 1;
            self.items.push_back(Item::Back(Box::new(RevisionBack { to, note: batch.note.clone() })));
        }
        for at in come {
            self.tell(at);
            self.stand += 1;
            match self.standing.last_mut() {
                Some((first, row)) if *first + u64::from(row.count) == self.revision && row.ends_before(at) => {
                    row.count += 1;
                }
                _ => self.standing.push((self.revision, EventRow { first: at, count: 1 })),
            }
        }
        batch.asides.iter().filter(sees).for_each(|at| self.tell(*at));
        self.forget(KEPT + self.stand);
    }

    fn tell(&mut self, at: u32) {
        self.revision += 1;
        match self.items.back_mut() {
            Some(Item::Told(row)) if row.ends_before(at) => row.count += 1,
            _ => self.items.push_back(Item::Told(EventRow { first: at, count: 1 })),
        }
    }

    /// Removes the last `lost` valid events.
    fn drop_last(&mut self, mut lost: usize) {
        self.stand -= lost;
        while let Some((_, row)) = self.standing.last_mut()
            && lost > 0
        {
            let of_row = lost.min(row.count as usize);
            row.count -= of_row as u32;
            lost -= of_row;
            self.standing.pop_if(|(_, row)| row.count == 0);
        }
    }

    /// Drops the oldest revisions if there are more than `most`.
    fn forget(&mut self, most: usize) {
        let mut surplus = (self.revision - self.forgotten).saturating_sub(most as u64);
        self.forgotten += surplus;
        while surplus > 0
            && let Some(item) = self.items.front_mut()
        {
            match item {
                Item::Told(row) if u64::from(row.count) > surplus => {
                    row.first += surplus as u32;
                    row.count -= surplus as u32;
                    surplus = 0;
                }
                _ => {
                    surplus -= item.revisions();
                    self.items.pop_front();
                }
            }
        }
    }
}
