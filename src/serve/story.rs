use super::frames::{Back, Line, Sight, Told};
use crate::play::{Event, Session};

/// What one role has been told: a stream in which nothing is changed, only taken back by saying so.
#[derive(Debug, Default)]
pub(super) struct Story {
    lines: Vec<Line>,
    /// Places in `lines` of the events that stand.
    standing: Vec<usize>,
    /// So many actions, with so many events that stand, are told: they are compared again only where something was taken
    /// back.
    settled: (usize, usize),
}

impl Story {
    /// Looks at the whole log the next time: something in it may have changed.
    pub fn unsettle(&mut self) {
        self.settled = (0, 0);
    }

    /// Brings the story to where the log is; gives what that adds to it.
    pub fn follow(&mut self, sight: &Sight<'_>, session: &Session) -> &[Line] {
        let before = self.lines.len();
        let (actions, told) = self.settled;
        let (log, done) = session.log_behind(actions);
        let log: Vec<&Event> = log.filter(|event| sight.sees_event(event)).collect();
        let stands = |at: &usize, event: &Event| matches!(&self.lines[*at].told, Told::Event(told) if told == event);
        let behind = self.standing.get(told..).unwrap_or_default();
        let same = told + behind.iter().zip(&log).take_while(|(at, event)| stands(at, event)).count();
        if same < self.standing.len() {
            self.standing.truncate(same);
            let to = self.standing.last().map_or(0, |at| self.lines[*at].revision);
            self.tell(Told::Back(Back { event: "back", to }));
        }
        for event in &log[same - told..] {
            self.standing.push(self.lines.len());
            self.tell(Told::Event((*event).clone()));
        }
        let (open, _) = session.log_behind(done);
        let open = open.filter(|event| sight.sees_event(event)).count();
        self.settled = (done, self.standing.len() - open);
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
