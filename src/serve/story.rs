use super::frames::{Back, Line, Told};
use crate::play::Event;

/// What one role has been told: a stream in which nothing is changed, only taken back by saying so.
#[derive(Debug, Default)]
pub(super) struct Story {
    lines: Vec<Line>,
    /// Places in `lines` of the events that stand.
    standing: Vec<usize>,
}

impl Story {
    /// Brings the story to where the log is; gives what that adds to it.
    pub fn follow(&mut self, log: &[Event]) -> &[Line] {
        let before = self.lines.len();
        let stands = |at: &usize, event: &Event| matches!(&self.lines[*at].told, Told::Event(told) if told == event);
        let same = self.standing.iter().zip(log).take_while(|(at, event)| stands(at, event)).count();
        if same < self.standing.len() {
            self.standing.truncate(same);
            let to = self.standing.last().map_or(0, |at| self.lines[*at].revision);
            self.tell(Told::Back(Back { event: "back", to }));
        }
        for event in &log[same..] {
            self.standing.push(self.lines.len());
            self.tell(Told::Event(event.clone()));
        }
        &self.lines[before..]
    }

    fn tell(&mut self, told: Told) {
        self.lines.push(Line { revision: self.lines.len() as u64 + 1, told });
    }

    pub fn revision(&self) -> u64 {
        self.lines.len() as u64
    }

    /// What was told after a revision; nothing if there is no such revision.
    pub fn since(&self, revision: u64) -> Option<&[Line]> {
        self.lines.get(usize::try_from(revision).ok()?..)
    }

    /// The last events that stand.
    pub fn last(&self, count: usize) -> Vec<Line> {
        let from = self.standing.len().saturating_sub(count);
        self.standing[from..].iter().map(|at| self.lines[*at].clone()).collect()
    }
}
