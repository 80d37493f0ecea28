use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::action::Done;
use super::packed::push_sparing;
use super::{Event, Events, Happening, Viewer};
use riskbreaker_state::Audience;

/// The events of a game, for any number of readers.
///
/// It compares the log with the part that was sent before, takes undone events back from the end, and sends new ones. So a
/// reader that applies all events has the log. Each viewer has its own revisions, which count only what that viewer was told and
/// so reveal nothing else. Events that no reader can ask for are dropped; a viewer that reads for the first time after that gets
/// only the events that were not taken back.
#[derive(Debug)]
pub(super) struct Stream {
    /// What was told: all that stands, and what some reader still knows.
    told: Vec<ToldEvent>,
    /// The log as it was told last, by place in `told`.
    standing: Vec<u32>,
    /// All changes, for those who look for the first time; `None` where those are told what stands.
    past: Option<Vec<Batch>>,
    readers: Vec<(Viewer, StreamReader)>,
    /// How many actions at the start of the history, and events in them, were told and have not changed since.
    settled: (usize, usize),
}

impl Default for Stream {
    fn default() -> Stream {
        let (told, standing, readers) = (Vec::new(), Vec::new(), Vec::new());
        Stream { told, standing, past: Some(Vec::new()), readers, settled: (0, 0) }
    }
}

/// An event that was told: a copy, or the one that the history keeps.
#[derive(Debug)]
enum ToldEvent {
    Copy(Box<Event>),
    /// The event at a place of what an action told.
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

/// What one change of the game told.
#[derive(Debug, Default)]
struct Batch {
    /// What no longer stands, in the order of the log.
    dropped: Box<[u32]>,
    added: Box<[u32]>,
    /// What is said beside the log.
    asides: Box<[u32]>,
    note: Option<Arc<RevisionNote>>,
}

/// Why the log goes back.
#[derive(Clone, Debug)]
pub(super) struct RevisionNote {
    pub cause: &'static str,
    /// What was taken back, in a sentence, and for those who may not know it.
    pub text: String,
    pub public: String,
    pub audience: Audience,
}

/// How far one viewer has been told, and what.
#[derive(Debug, Default)]
struct StreamReader {
    /// Revisions before the first of `items`.
    forgotten: u64,
    /// The last revision.
    revision: u64,
    items: VecDeque<Item>,
    /// What stands: revisions with their places.
    standing: Vec<(u64, EventRow)>,
    /// How many events stand.
    stand: usize,
}

/// Places in `told` that follow one another. A viewer who sees everything is told long rows.
#[derive(Clone, Copy, Debug)]
struct EventRow {
    first: u32,
    count: u32,
}

/// One revision of a viewer, or as many as a row has places.
#[derive(Clone, Debug)]
enum Item {
    Told(EventRow),
    Back(Box<RevisionBack>),
}

/// Back to this revision.
#[derive(Clone, Debug)]
struct RevisionBack {
    to: u64,
    note: Option<Arc<RevisionNote>>,
}

/// This many revisions, besides the events that have not been undone, are kept for a viewer who was away. A viewer who was away
/// for longer begins again from a snapshot.
const KEPT: usize = 2_000;

/// Unneeded events are dropped when `told` is longer than twice the log plus this number.
const SLACK: usize = 1_000;

impl Stream {
    /// Notes that the history was cut: the actions from there on may be told anew.
    pub fn history_cut(&mut self, actions: usize, events: usize) {
        if self.settled.0 > actions {
            self.settled = (actions, self.settled.1.saturating_sub(events));
        }
    }

    /// Tells what has changed in the log: what was done and what the open action tells.
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

    /// From now on, who looks for the first time is told what stands then.
    pub fn forget_past(&mut self) {
        self.past = None;
    }

    /// Forgets the events that neither stand nor can be asked for.
    fn forget(&mut self) {
        self.forget_past();
        let mut used = vec![false; self.told.len()];
        let of_readers = self.readers.iter().flat_map(|(_, reader)| {
            reader.items.iter().filter_map(|item| match item {
                Item::Told(row) => Some(row),
                Item::Back(_) => None,
            })
        });
        // What stands for a reader stands in the log, or differs from it only in what others were told.
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
        // All places of a row are used: they still follow one another.
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

    /// What a viewer was told after a revision, the newest last; `None` if there is no such revision, or not any more.
    pub fn since(&mut self, viewer: &Viewer, revision: u64) -> Option<Vec<(u64, Event)>> {
        if revision == 0 && self.reader(viewer).forgotten > 0 {
            // Who begins anew needs only what stands.
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
        // The first of them may hold the whole game: only what is new is unpacked.
        let known = (revision + 1).saturating_sub(first) as usize;
        let skips = std::iter::once(known).chain(std::iter::repeat(0));
        let told = items.iter().zip(skips).flat_map(|(item, skip)| self.events_of(viewer, item, skip));
        Some((first + known as u64..).zip(told).collect())
    }

    /// The number of the last thing that a viewer was told.
    pub fn revision(&mut self, viewer: &Viewer) -> u64 {
        self.reader(viewer).revision
    }

    /// The last `most` events that stand for a viewer.
    pub fn log(&mut self, viewer: &Viewer, most: usize) -> Vec<(u64, Event)> {
        let reader = self.reader(viewer);
        let from = reader.stand.saturating_sub(most);
        let standing = reader.standing.iter().flat_map(|(revision, row)| (*revision..).zip(row.places()));
        let standing: Vec<(u64, u32)> = standing.skip(from).collect();
        standing.into_iter().map(|(revision, at)| (revision, self.told[at as usize].event())).collect()
    }

    /// What the revisions of an item tell, without the first `skip`.
    fn events_of<'s>(&'s self, viewer: &Viewer, item: &'s Item, skip: usize) -> impl Iterator<Item = Event> + 's {
        let (row, back) = match item {
            Item::Told(row) => (Some(*row), None),
            Item::Back(back) => (None, Some(Stream::back(viewer, back)).filter(|_| skip == 0)),
        };
        let told =
            row.into_iter().flat_map(move |row| row.places().skip(skip)).map(move |at| self.told[at as usize].event());
        told.chain(back)
    }

    /// How a viewer is told that the log goes back.
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
    /// How many revisions it is.
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
        // What others were told may differ while this viewer's part is the same.
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

    /// The last events do not stand any more.
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

    /// Forgets the oldest revisions, if there are more than `most`.
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
