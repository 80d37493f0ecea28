use std::collections::BTreeMap;

use super::{Event, Happening, Viewer};
use crate::state::Audience;

/// What a game has told, for any number of readers.
///
/// It is made by comparing the log with what was told of it before, so that whoever applies it always has the log: the
/// events that no longer stand are taken back from the end, and those that are new are told. Each viewer has revisions of
/// its own, which count what that viewer was told: they give nothing away of what others were told.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Everything that was ever told.
    told: Vec<Event>,
    /// The log as it was told last, by place in `told`.
    standing: Vec<u32>,
    batches: Vec<Batch>,
    readers: BTreeMap<Viewer, Reader>,
    /// So many actions of the history, with so many events, are told and have not been touched since.
    settled: (usize, usize),
}

/// What one change of the game told.
#[derive(Debug)]
struct Batch {
    /// What no longer stands, in the order of the log.
    dropped: Vec<u32>,
    added: Vec<u32>,
    /// What is said beside the log.
    asides: Vec<u32>,
    note: Option<Note>,
}

/// Why the log goes back.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub cause: &'static str,
    /// What was taken back, in a sentence, and for those who may not know it.
    pub text: String,
    pub public: String,
    pub audience: Audience,
}

/// How far one viewer has been told, and what.
#[derive(Debug, Default)]
struct Reader {
    batches: usize,
    items: Vec<Item>,
    /// The revisions of what stands.
    standing: Vec<u64>,
}

/// One revision of a viewer.
#[derive(Clone, Copy, Debug)]
enum Item {
    Told(u32),
    /// Back to this revision, because of what this batch did.
    Back {
        to: u64,
        batch: usize,
    },
}

impl Stream {
    /// Notes that the history was cut: the actions from there on may be told anew.
    pub fn history_cut(&mut self, actions: usize, events: usize) {
        if self.settled.0 > actions {
            self.settled = (actions, self.settled.1.saturating_sub(events));
        }
    }

    /// The actions at the front of the history that need no comparing.
    pub fn settled(&self) -> (usize, usize) {
        self.settled
    }

    /// Tells what has changed. `rest`: the log behind the settled actions; `settled`: what is settled from now on.
    pub fn publish<'e>(
        &mut self,
        rest: impl Iterator<Item = &'e Event>,
        settled: (usize, usize),
        asides: &mut Vec<Event>,
        note: Option<Note>,
    ) {
        let from = self.settled.1;
        let mut rest = rest.peekable();
        let mut same = from;
        while let Some(event) = rest.peek()
            && let Some(at) = self.standing.get(same)
            && self.told[*at as usize] == **event
        {
            same += 1;
            rest.next();
        }
        let dropped = self.standing.split_off(same);
        let keep = |told: &mut Vec<Event>, event: &Event| {
            told.push(event.clone());
            told.len() as u32 - 1
        };
        let added: Vec<u32> = rest.map(|event| keep(&mut self.told, event)).collect();
        self.standing.extend(&added);
        let asides: Vec<u32> = asides.drain(..).map(|event| keep(&mut self.told, &event)).collect();
        self.settled = settled;
        if !(dropped.is_empty() && added.is_empty() && asides.is_empty() && note.is_none()) {
            self.batches.push(Batch { dropped, added, asides, note });
        }
    }

    /// What a viewer was told after a revision, the newest last; `None` if there is no such revision.
    pub fn since(&mut self, viewer: &Viewer, revision: u64) -> Option<Vec<(u64, Event)>> {
        self.catch_up(viewer);
        let reader = self.readers.get(viewer)?;
        let items = reader.items.get(usize::try_from(revision).ok()?..)?;
        let number = |at: usize| revision + at as u64 + 1;
        Some(items.iter().enumerate().map(|(at, item)| (number(at), self.event_of(viewer, item))).collect())
    }

    /// The number of the last thing that a viewer was told.
    pub fn revision(&mut self, viewer: &Viewer) -> u64 {
        self.catch_up(viewer);
        self.readers.get(viewer).map_or(0, |reader| reader.items.len() as u64)
    }

    /// What stands for a viewer.
    pub fn log(&mut self, viewer: &Viewer) -> Vec<(u64, Event)> {
        self.catch_up(viewer);
        let Some(reader) = self.readers.get(viewer) else { return Vec::new() };
        let standing = reader.standing.iter();
        standing.map(|revision| (*revision, self.event_of(viewer, &reader.items[*revision as usize - 1]))).collect()
    }

    fn event_of(&self, viewer: &Viewer, item: &Item) -> Event {
        match item {
            Item::Told(at) => self.told[*at as usize].clone(),
            Item::Back { to, batch } => {
                let note = self.batches[*batch].note.as_ref();
                let text = note.map(|note| if viewer.sees(&note.audience) { &note.text } else { &note.public });
                let cause = note.map_or("rerun", |note| note.cause).to_string();
                let happening = Happening::Back { to: *to, cause, text: text.cloned().unwrap_or_default() };
                Event { action: 0, n: 0, audience: Audience::Everybody, happening }
            }
        }
    }

    fn catch_up(&mut self, viewer: &Viewer) {
        let Stream { told, batches, readers, .. } = self;
        if !readers.contains_key(viewer) {
            readers.insert(viewer.clone(), Reader::default());
        }
        let Some(reader) = readers.get_mut(viewer) else { return };
        let sees = |at: &&u32| viewer.sees(&told[**at as usize].audience);
        for (number, batch) in batches.iter().enumerate().skip(reader.batches) {
            let gone: Vec<u32> = batch.dropped.iter().filter(sees).copied().collect();
            let mut come = batch.added.iter().filter(sees).copied().peekable();
            // What others were told may differ while this viewer's part is the same.
            let mut gone_for_good = gone.iter().peekable();
            while let (Some(old), Some(new)) = (gone_for_good.peek(), come.peek())
                && told[**old as usize].happening == told[*new as usize].happening
            {
                gone_for_good.next();
                come.next();
            }
            let lost = gone_for_good.count();
            reader.standing.truncate(reader.standing.len() - lost);
            if lost > 0 || batch.note.is_some() {
                let to = reader.standing.last().copied().unwrap_or(0);
                reader.items.push(Item::Back { to, batch: number });
            }
            for at in come {
                reader.items.push(Item::Told(at));
                reader.standing.push(reader.items.len() as u64);
            }
            reader.items.extend(batch.asides.iter().filter(sees).map(|at| Item::Told(*at)));
        }
        reader.batches = batches.len();
    }
}
