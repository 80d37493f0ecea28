//! Reloads the rules when their files change while a game runs.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riskbreaker::ruleset::{FileChange, Problem, updates_between};
use riskbreaker::watch::{Watched, fixed_in_words};
use riskbreaker::{Ruleset, Step};
use serde_json::json;

use super::command::Command;
use super::rules_watcher::{RulesWatcher, WatchEvent};
use super::{Complaint, Done, Repl, line};
use crate::cli::figures::counted;
use crate::cli::row::{Row, Tone};
use crate::cli::rules::rules_note;
use crate::cli::{migration, report};

/// The most problems that are listed individually.
const MOST_TOLD: usize = 3;

impl Repl {
    /// Watches the files of the rules if there is a `bell`. `kept`: true if the rules in the campaign differ from those
    /// on disk; they stay in force, so nothing is watched until others are chosen.
    pub fn with_lookout(mut self, bell: Option<Arc<AtomicBool>>, kept: bool) -> Repl {
        self.bell = bell;
        match kept {
            true => self.kept = Some(self.session.ruleset().hash()),
            false => self.look_out_anew(),
        }
        self
    }

    /// Watches the rules of another entry of the campaign, if they differ from `before`. Rules that differ from those
    /// on disk stay in force, as when the campaign is opened there, and a note says so.
    pub(super) fn look_out_at_entry(&mut self, before: &str) -> Done {
        if self.session.ruleset().hash() == before {
            return Ok(());
        }
        let Some(note) = rules_note(&self.session, &self.library) else {
            self.look_out_anew();
            return Ok(());
        };
        self.lookout = None;
        self.kept = Some(self.session.ruleset().hash());
        Ok(self.screen.row(&Row::prose(0).plain(note))?)
    }

    /// Watches the files of the current rules.
    pub(super) fn look_out_anew(&mut self) {
        self.kept = None;
        let start = |bell: &Arc<AtomicBool>| RulesWatcher::start(&self.library, self.session.ruleset(), bell.clone());
        self.lookout = self.bell.as_ref().and_then(start);
    }

    /// Applies pending changes before a line is executed. A line that was typed for a question that is no longer open
    /// is dropped.
    pub(super) fn take_news_before(&mut self, text: &str) -> Done {
        let asked = self.session.questions().to_vec();
        self.take_news(false)?;
        let command = Command::find(line::split_first(text).0).is_some();
        if asked == self.session.questions() || command || text.trim().is_empty() {
            return Ok(());
        }
        Err(Complaint::wrong("The rules have changed and the question is another one now; the line was ignored."))
    }

    /// Applies pending changes: puts the new rules in force, or prints what is wrong with them. `above`: true to print
    /// above a prompt with text in it.
    pub(super) fn take_news(&mut self, above: bool) -> Done {
        let Some(lookout) = &self.lookout else { return Ok(()) };
        lookout.bell.store(false, Ordering::Relaxed);
        let news: Vec<WatchEvent> = lookout.news.try_iter().collect();
        if news.is_empty() {
            return Ok(());
        }
        if above {
            // The prompt is printed again below. The editor would draw it over the message if that were less than two
            // lines away.
            let mut err = io::stderr();
            let _ = write!(err, "\r\u{1b}[J\n");
            let _ = err.flush();
        }
        for told in news {
            let told = match told {
                WatchEvent::Seen(told) => told,
                WatchEvent::Found(problems) => {
                    self.tell_found(&problems)?;
                    continue;
                }
            };
            match told {
                Watched::Loaded { rules, changed, fixed } if self.replays => {
                    self.play_again(&rules, &changed, &fixed)?;
                }
                Watched::Loaded { rules, fixed, .. } => self.put_in_force(rules, &fixed)?,
                Watched::Broken(error) => {
                    if self.screen.json() {
                        self.screen.event("broken_rules", &json!({ "problems": error.problems }))?;
                    }
                    for problem in &error.problems {
                        let told = report::problem(problem, &self.library, self.screen.coloured(), self.screen.width());
                        self.screen.verbatim(&told)?;
                    }
                    let what = counted(error.problems.len(), "error", "errors");
                    let text = format!("~ {what}; still using the last working rules.");
                    self.screen.row(&Row::at(0).with(text, Tone::Note))?;
                }
                other => {
                    for line in other.lines() {
                        self.screen.row(&Row::at(0).with(format!("~ {line}"), Tone::Note))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints the problems that the check found in the current rules, one line each.
    fn tell_found(&mut self, problems: &[Problem]) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event("findings", &json!({ "problems": problems }))?);
        }
        for problem in problems.iter().take(MOST_TOLD) {
            self.screen.row(&Row::at(0).with(format!("~ {problem}"), Tone::Bad))?;
        }
        if problems.len() > MOST_TOLD {
            let text = format!("~ and {} more; `riskbreaker check` lists them", problems.len() - MOST_TOLD);
            self.screen.row(&Row::at(0).with(text, Tone::Note))?;
        }
        Ok(())
    }

    /// Reports that another version of the rules was installed. The current ones stay in force, as in a campaign that
    /// stores its rules: `rules NAME yes` switches.
    fn offer_update(&mut self, rules: &Arc<Ruleset>, updates: &[String]) -> Done {
        self.lookout = None;
        self.kept = Some(self.session.ruleset().hash());
        let updates = updates.join(", ");
        if !self.masters() {
            let text = format!("~ Installed: {updates}. This game stays as it is; the game master can switch it.");
            return Ok(self.screen.row(&Row::at(0).with(text, Tone::Note))?);
        }
        if self.screen.json() {
            self.screen.event("update", &json!({ "updates": updates, "rules": rules.name() }))?;
        }
        let text = format!("~ Installed: {updates}. This game stays as it is until you switch it.");
        self.screen.row(&Row::at(0).with(text, Tone::Note))?;
        match self.session.preview_rules(rules) {
            Ok(migration) => Ok(migration::show(&migration, false, &mut self.screen)?),
            Err(error) => {
                let text = format!("it cannot take effect now: {error}; `rules {}` tries again", rules.name());
                Ok(self.screen.row(&Row::prose(2).with(text, Tone::Note))?)
            }
        }
    }

    fn put_in_force(&mut self, rules: Arc<Ruleset>, fixed: &[String]) -> Done {
        let updates = updates_between(self.session.ruleset(), &rules);
        if !updates.is_empty() {
            return self.offer_update(&rules, &updates);
        }
        let (asked, stuck) = (self.session.questions().to_vec(), matches!(self.step, Step::Fault(_)));
        let id = rules.id().to_owned();
        let report = match self.session.reload(rules) {
            Ok(report) => report,
            Err(refusal) => {
                // It may reveal the number of secrets.
                let why = match self.masters() {
                    true => refusal.to_string(),
                    false => "the game master is told why".to_owned(),
                };
                if self.screen.json() {
                    self.screen.event("refused_rules", &json!({ "message": why }))?;
                }
                let text = format!("~ The changed rules cannot be used: {why}");
                return Ok(self.screen.row(&Row::at(0).with(text, Tone::Bad))?);
            }
        };
        if self.screen.json() {
            self.screen.event("reloaded", &json!({ "report": report }))?;
        }
        let secret = if self.viewer().is_master() { report.state.secret.clone() } else { Vec::new() };
        let printed = [report.lines(), secret.clone()].concat();
        let mut rows: Vec<String> = report.changed.iter().map(reloaded).collect();
        rows.extend(report.effects().into_iter().chain(secret));
        if rows.is_empty() {
            rows.push(fixed_in_words(&id, fixed));
        }
        for row in rows {
            self.screen.row(&Row::at(0).with(format!("~ {row}"), Tone::Note))?;
        }
        self.session.note_printed(&printed);
        self.play_on()?;
        if stuck || asked != self.session.questions() {
            self.show_standing()?;
        }
        Ok(())
    }
}

/// What is printed of a file that was read again: `maneuvers/feint.luau reloaded: max_risk 3 -> 2`.
pub(super) fn reloaded(FileChange { path, what }: &FileChange) -> String {
    format!("{path} reloaded: {what}")
}
