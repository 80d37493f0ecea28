//! The command `amend`: changes a decision at an entry of the campaign.

use serde_json::json;

use super::campaign::{no_campaign, wrong};
use super::line::{Phrases, split_first};
use super::pending::PlannedAmendment;
use super::reader::answers;
use super::{Complaint, Done, Repl};
use crate::cli::row::{Row, Tone};

use riskbreaker::Event;
use riskbreaker::play::event_lines;
use riskbreaker::store::{AmendReport, Amendment, StoreError};

/// The most lines that are shown of each of the two courses.
const MOST_LINES: usize = 8;

/// The most decisions that are listed as left out.
const MOST_LEFT_OUT: usize = 20;

impl Repl {
    /// The command `amend N ANSWER`, `amend N dice FACES`, `amend N NAME FIELD VALUE`, `amend yes`, `amend back`.
    pub(super) fn amend(&mut self, rest: &str) -> Done {
        match rest.to_lowercase().as_str() {
            "yes" => return self.amend_now(),
            "back" => return self.unamend(),
            _ => {}
        }
        let (number, what) = split_first(rest);
        let (Ok(entry), false) = (number.parse::<u32>(), what.is_empty()) else {
            return Err(Complaint::wrong(
                "Type an entry and what is different: `amend 12 ANSWER`, `amend 12 dice 6, 5` or `amend 12 NAME FIELD \
                 VALUE`. `log --all` lists the entries.",
            ));
        };
        let mut amendment = self.amendment(entry, what)?;
        let several = self.several_answers(&amendment);
        let Some(campaign) = &self.campaign else { return Err(no_campaign("amend")) };
        let here = campaign.head();
        let report = match (campaign.preview_amendment(entry, &amendment), several) {
            // The words are no answer to the first question of the entry.
            (Err(StoreError::Refused(_)), Some(several)) => {
                amendment = several;
                campaign.preview_amendment(entry, &amendment)
            }
            (previewed, _) => previewed,
        };
        let report = report.map_err(wrong)?;
        self.show_amendment(entry, &report)?;
        self.amendment = Some(PlannedAmendment { entry, amendment, here });
        Ok(())
    }

    /// Parses the change of an entry.
    fn amendment(&self, entry: u32, what: &str) -> Result<Amendment, Complaint> {
        let Some(campaign) = &self.campaign else { return Err(no_campaign("amend")) };
        let (first, faces) = split_first(what);
        if first.eq_ignore_ascii_case("dice") {
            let faces = faces.split([',', ' ']).filter(|face| !face.is_empty());
            let faces: Vec<u32> = faces.map(str::parse).collect::<Result<_, _>>().map_err(|_| {
                Complaint::Wrong(format!("Give the faces as numbers with commas: `amend {entry} dice 6, 5`."))
            })?;
            if faces.is_empty() {
                return Err(Complaint::Wrong(format!("Give the faces: `amend {entry} dice 6, 5`.")));
            }
            return Ok(Amendment::Dice(faces));
        }
        Ok(match campaign.is_edit(entry).map_err(wrong)? {
            true => Amendment::Edit(self.edit_of(what)?),
            false => Amendment::Answer(what.to_owned()),
        })
    }

    /// An answer that contains small words, as answers by topic: `guard risk 1`. `None` if it contains none.
    fn several_answers(&self, amendment: &Amendment) -> Option<Amendment> {
        let Amendment::Answer(text) = amendment else { return None };
        let Phrases { head, named } = answers(text, &self.words().with_topics(self.session.ruleset().topics()));
        let first = Some(head.text).filter(|text| !text.is_empty());
        let named: Vec<(String, String)> = named.into_iter().map(|(topic, phrase)| (topic, phrase.text)).collect();
        (!named.is_empty()).then_some(Amendment::Answers { first, named })
    }

    fn show_amendment(&mut self, entry: u32, report: &AmendReport) -> Done {
        let AmendReport { text, kept, other, made_again, left_out, ended, ends } = report;
        if self.screen.json() {
            let (kept, other) = (event_lines(kept), event_lines(other));
            return Ok(self.screen.event(
                "amendment",
                &json!({
                    "entry": entry, "text": text, "kept": kept, "other": other, "made_again": made_again,
                    "left_out": left_out, "ended": ended, "ends": ends,
                }),
            )?);
        }
        self.screen.row(&Row::at(0).plain(format!("Entry {entry} is: {text}")))?;
        if kept.is_empty() && other.is_empty() {
            self.screen.row(&Row::at(0).plain("Nothing that was told would be different."))?;
        } else {
            self.show_course("It was", kept)?;
            self.show_course("It would be", other)?;
        }
        let again = match made_again {
            0 => "No later decision is made again.".to_owned(),
            1 => "One later decision is made again.".to_owned(),
            n => format!("{n} later decisions are made again."),
        };
        self.screen.row(&Row::at(0).plain(again))?;
        if !left_out.is_empty() {
            self.screen.row(&Row::at(0).plain("No longer possible:"))?;
        }
        for left in left_out.iter().take(MOST_LEFT_OUT) {
            let line = format!("{} {}: {}", left.entry, left.text, left.why);
            self.screen.row(&Row::at(2).with(line, Tone::Note))?;
        }
        if left_out.len() > MOST_LEFT_OUT {
            let more = format!("and {} more", left_out.len() - MOST_LEFT_OUT);
            self.screen.row(&Row::at(2).with(more, Tone::Note))?;
        }
        if ended != ends {
            let words = |end: &Option<String>| end.as_ref().map_or("not over".to_owned(), |end| format!("over: {end}"));
            self.screen.row(&Row::at(0).plain(format!(
                "The game was {}; it would be {}.",
                words(ended),
                words(ends)
            )))?;
        }
        Ok(self.screen.row(&Row::at(2).with("`amend yes` does it. Until then nothing changes.", Tone::Faint))?)
    }

    pub(super) fn show_course(&mut self, title: &str, events: &[Event]) -> Done {
        self.screen.row(&Row::at(0).plain(format!("{title}:")))?;
        let rows = self.rows_of(events);
        self.screen.rows(&rows[..rows.len().min(MOST_LINES)])?;
        let more = match rows.len() {
            0 => "nothing more".to_owned(),
            n if n > MOST_LINES => format!("and {} more lines", n - MOST_LINES),
            _ => return Ok(()),
        };
        Ok(self.screen.row(&Row::at(2).with(more, Tone::Faint))?)
    }

    /// Applies the amendment that the last `amend` showed.
    fn amend_now(&mut self) -> Done {
        let Some(PlannedAmendment { entry, amendment, here }) = self.amendment.take() else {
            return Err(Complaint::wrong("Type first what is different: `amend 12 ANSWER` shows the result."));
        };
        let Some(campaign) = &mut self.campaign else { return Err(no_campaign("amend")) };
        if campaign.head() != here {
            let text =
                format!("The game has continued since then. Type `amend {entry} ...` again to see the result now.");
            return Err(Complaint::Wrong(text));
        }
        let (session, report) = campaign.amend(entry, &amendment).map_err(wrong)?;
        self.before_amend = Some(here);
        let left = match report.left_out.len() {
            0 => String::new(),
            1 => ", one was left out".to_owned(),
            n => format!(", {n} were left out"),
        };
        let text = format!("Entry {entry} is amended; later decisions made again: {}{left}.", report.made_again);
        self.screen.row(&Row::at(2).plain(text))?;
        self.screen.row(&Row::at(2).with("`amend back` returns to the game as it was.", Tone::Faint))?;
        self.take_session(session)?;
        self.settle()
    }

    /// Returns to the entry before the last amendment.
    fn unamend(&mut self) -> Done {
        let Some(entry) = self.before_amend.take() else {
            return Err(Complaint::wrong(
                "Nothing was amended since you sat down. `branch` lists the ends of all branches.",
            ));
        };
        self.go_to(&entry.to_string())
    }
}
