//! Executes the line of an ambiguous name with the name that a number chooses.

use riskbreaker::Refusal;

use super::unclear_name::UnclearName;
use super::{Complaint, Done, Repl};

impl Repl {
    /// Executes a line. After a line with an ambiguous name, a number chooses the name, and anything else is a new
    /// line.
    pub(super) fn line_or_number(&mut self, line: &str) -> Done {
        let unclear = self.unclear.take();
        let chosen = unclear.as_ref().and_then(|unclear| Some((unclear, unclear.chosen(line)?)));
        match chosen {
            Some((unclear, candidate)) => self.go_on_with_name(unclear, candidate),
            None => {
                let before = self.session.decision_count();
                let done = self.line(line);
                let is_same = self.session.decision_count() == before;
                self.ask_which(line, 0, done, is_same)
            }
        }
    }

    /// Executes the line of an ambiguous name with the chosen name. If the name occurs several times, the first
    /// occurrence for which the line is not refused is used.
    fn go_on_with_name(&mut self, unclear: &UnclearName, candidate: &str) -> Done {
        let mut refused: Option<(String, usize, Complaint)> = None;
        for (line, end) in unclear.lines_with(candidate) {
            let before = self.session.decision_count();
            let complaint = match self.line(&line) {
                Err(complaint) if self.session.decision_count() == before => complaint,
                done => return done,
            };
            if matches!(complaint, Complaint::Broken(_)) {
                return Err(complaint);
            }
            // A refused line has no effect.
            self.step = self.session.advance()?;
            self.session.take_events();
            self.own.clear();
            let is_unclear = |complaint: &Complaint| matches!(complaint, Complaint::Refused(Refusal::Ambiguous { .. }));
            if refused.as_ref().is_none_or(|(_, _, first)| !is_unclear(first) && is_unclear(&complaint)) {
                refused = Some((line, end, complaint));
            }
        }
        match refused {
            Some((line, end, complaint)) => self.ask_which(&line, end, Err(complaint), true),
            None => Ok(()),
        }
    }

    /// Asks which name is meant, if a person typed a line that was refused for an ambiguous name and changed nothing.
    fn ask_which(&self, line: &str, from: usize, done: Done, is_same: bool) -> Done {
        match done {
            Err(Complaint::Refused(refusal)) if self.attended && is_same && !self.screen.json() => {
                Err(match UnclearName::of(line, from, &refusal) {
                    Some(unclear) => Complaint::Unclear(unclear),
                    None => Complaint::Refused(refusal),
                })
            }
            done => done,
        }
    }
}
