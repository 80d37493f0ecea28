//! Replays the game from its start under the new rules at each save.

use std::sync::Arc;

use riskbreaker::Ruleset;
use riskbreaker::play::recorded::{RecordedCourse, ReplayedGame};
use riskbreaker::play::{DecisionCount, event_lines};
use riskbreaker::ruleset::FileChange;
use riskbreaker::watch::fixed_in_words;
use serde_json::json;

use super::pending::ReplayedCourse;
use super::reload::reloaded;
use super::{Done, Repl};
use crate::cli::figures::counted;
use crate::cli::row::{Row, Tone};

/// The most answers that are listed as no longer possible.
const MOST_LEFT_OUT: usize = 8;

impl Repl {
    /// Replays the game under changed rules, with the same answers and dice, and prints the first difference.
    ///
    /// If nothing was decided since the last save, the previous course is replayed again: a script error or an answer
    /// that did not fit loses nothing.
    pub(super) fn play_again(&mut self, rules: &Arc<Ruleset>, changed: &[FileChange], fixed: &[String]) -> Done {
        if !changed.is_empty() && changed.iter().all(is_of_spec) {
            return Ok(());
        }
        let (course, lines, worked) = match self.replayed.take() {
            Some(last) if last.count == self.session.decision_count() => (last.course, last.lines, last.worked),
            _ => (RecordedCourse::of(&self.session), self.done.iter().map(|mark| mark.made).collect(), None),
        };
        let last_log = worked.unwrap_or_else(|| self.session.log());
        let kept = last_log.clone();
        let replayed = match course.play_again(&self.session, rules) {
            Ok(replayed) => replayed,
            Err(error) => {
                if self.screen.json() {
                    self.screen.event("refused_rules", &json!({ "message": error.to_string() }))?;
                }
                let text = format!("~ The game cannot start under the changed rules: {error}");
                return Ok(self.screen.row(&Row::at(0).with(text, Tone::Bad))?);
            }
        };
        let ReplayedGame { session, made_again, left_out, waiting, counts } = replayed;
        let viewer = self.session.viewer();
        let other: Vec<_> = session.log().into_iter().filter(|event| viewer.sees(&event.audience)).collect();
        let same = kept.iter().zip(&other).take_while(|(one, other)| one.happening == other.happening).count();
        let (kept, other) = (&kept[same..], &other[same..]);
        // A line that `undo` can take back begins before the same decision as before.
        let first_behind = |made: &u32| counts.iter().find(|(number, _)| number > made).map(|(_, count)| *count);
        let now = session.decision_count();
        let mut marks: Vec<DecisionCount> = lines.iter().filter_map(first_behind).filter(|mark| *mark < now).collect();
        marks.dedup();
        if self.screen.json() {
            let left_out: Vec<_> =
                left_out.iter().map(|(decision, why)| json!({ "text": decision.act.words(), "why": why })).collect();
            self.screen.event(
                "replayed",
                &json!({
                    "changed": changed, "made_again": made_again, "left_out": left_out, "waiting": waiting,
                    "kept": event_lines(kept), "other": event_lines(other),
                }),
            )?;
        }
        let told = changed.iter().map(|change| format!("~ {}", reloaded(change)));
        let again = changed.is_empty().then(|| format!("~ {}", fixed_in_words(rules.id(), fixed)));
        for line in told.chain(again).collect::<Vec<String>>() {
            self.screen.row(&Row::at(0).with(line, Tone::Note))?;
        }
        let again = counted(made_again, "decision was", "decisions were");
        let result = if kept.is_empty() && other.is_empty() { "; nothing differs." } else { ":" };
        self.screen.row(&Row::at(0).plain(format!("Played again from the start, {again} made again{result}")))?;
        if !self.screen.json() && result == ":" {
            self.show_course("It was", kept)?;
            self.show_course("It is now", other)?;
        }
        if !left_out.is_empty() {
            self.screen.row(&Row::at(0).plain("No longer possible:"))?;
        }
        for (decision, why) in left_out.iter().take(MOST_LEFT_OUT) {
            self.screen.row(&Row::at(2).with(format!("{}: {why}", decision.act.words()), Tone::Note))?;
        }
        if let more @ 1.. = left_out.len().saturating_sub(MOST_LEFT_OUT) {
            self.screen.row(&Row::at(2).with(format!("and {more} more"), Tone::Note))?;
        }
        if waiting > 0 {
            let text = format!(
                "{} until the script is corrected.",
                counted(waiting as u32, "decision waits", "decisions wait")
            );
            self.screen.row(&Row::at(0).plain(text))?;
        }
        let worked = session.fault().is_some().then_some(last_log);
        self.replace_session(session);
        self.done = marks;
        self.session.take_events();
        self.settle()?;
        self.replayed = Some(ReplayedCourse { course, lines, count: self.session.decision_count(), worked });
        Ok(())
    }
}

/// True if a line about a change is about a spec, which does not affect games.
fn is_of_spec(FileChange { path, .. }: &FileChange) -> bool {
    path.starts_with("specs/") || path.contains("/specs/")
}
