//! The curtain for several people with secrets at one screen: the screen is cleared between two turns.

use riskbreaker::Step;
use serde_json::json;

use super::{Complaint, Done, Repl};
use crate::cli::row::{Row, Tone};

/// Clears a terminal and its scrollback.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

impl Repl {
    /// Shows only what these seats may see and plays only for them. With a curtain, one seat at a time uses the screen.
    pub fn seen_by(mut self, seats: Vec<String>, curtain: bool) -> Repl {
        if curtain || !seats.is_empty() {
            self.session.sit(seats);
        }
        self.curtain = curtain;
        self
    }

    /// Clears the screen if another seat must answer now. Returns true if the screen is cleared.
    pub(super) fn is_hidden(&mut self) -> Result<bool, Complaint> {
        if !self.curtain {
            return Ok(false);
        }
        if let Some(seat) = self.session.next_seat() {
            self.hand_over(seat)?;
        }
        Ok(self.drawn)
    }

    /// Clears the screen for the game master, who alone can continue after a fault.
    pub(super) fn call_master(&mut self) -> Done {
        if self.curtain && !self.masters() { self.hand_over("gm".into()) } else { Ok(()) }
    }

    fn hand_over(&mut self, seat: String) -> Done {
        self.drawn = true;
        self.asked = None;
        let text = format!("The screen is for {seat} now. Press Enter when nobody else looks.");
        let event = json!({ "seat": seat });
        self.session.sit(vec![seat]);
        if self.screen.json() {
            return Ok(self.screen.event("curtain", &event)?);
        }
        if self.screen.width().is_some() {
            self.screen.verbatim(CLEAR)?;
        }
        Ok(self.screen.row(&Row::at(0).with(text, Tone::Note))?)
    }

    /// Shows the screen to the player who has sat down.
    pub(super) fn open_curtain(&mut self, line: &str) -> Done {
        if !line.trim().is_empty() {
            return Err(Complaint::wrong("Press Enter first: the screen is meant for somebody else."));
        }
        self.drawn = false;
        let events = self.session.take_events();
        self.tell(&events, false)?;
        match self.step {
            Step::Fault(_) => self.show_standing(),
            _ => self.ask(true),
        }
    }

    /// Prints who has to answer, if no seat at the screen is asked.
    pub(super) fn wait_for_others(&mut self) -> Done {
        if !self.session.is_restricted() {
            return Ok(());
        }
        let seats = self.session.waiting();
        if seats.is_empty() {
            return Ok(());
        }
        Ok(self.screen.row(&Row::at(2).faint(format!("Waiting for {}.", seats.join(", "))))?)
    }
}
