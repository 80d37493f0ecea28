//! Rules that change on the disk while the table is open.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use riskbreaker::{Library, Ruleset, Step, Watched, Watcher};
use serde_json::json;

use super::command::Command;
use super::{Complaint, Done, Repl, line};
use crate::cli::report;
use crate::cli::row::{Row, Tone};

/// Looks out for changes of the rules and rings when there are any.
pub struct Lookout {
    news: Receiver<Watched>,
    bell: Arc<AtomicBool>,
    /// The ruleset and the layers that it looks at.
    of: (String, Vec<String>),
    /// Gone with this, so that the thread ends.
    _open: Arc<()>,
}

impl Lookout {
    /// `None` where none of the rules lies on the disk.
    pub fn start(library: &Library, rules: &Arc<Ruleset>, bell: Arc<AtomicBool>) -> Option<Lookout> {
        let watcher = Watcher::start(library, rules)?;
        let (tell, news) = mpsc::channel();
        let open = Arc::new(());
        let (alive, rings) = (Arc::downgrade(&open), bell.clone());
        let forward = move || {
            while Weak::strong_count(&alive) > 0 {
                if let Some(told) = watcher.wait(Duration::from_millis(500)) {
                    if tell.send(told).is_err() {
                        return;
                    }
                    rings.store(true, Ordering::Relaxed);
                }
            }
        };
        thread::Builder::new().name("lookout".into()).spawn(forward).ok()?;
        let of = (rules.id().to_owned(), rules.extra_layers().to_vec());
        Some(Lookout { news, bell, of, _open: open })
    }

    /// Whether it looks at the files of these rules.
    pub fn watches(&self, rules: &Ruleset) -> bool {
        self.of.0 == rules.id() && self.of.1 == rules.extra_layers()
    }
}

impl Repl {
    pub fn with_lookout(mut self, lookout: Option<Lookout>) -> Repl {
        self.lookout = lookout;
        self
    }

    /// Looks out for changes of the rules of another game than before.
    pub(super) fn look_out_anew(&mut self) {
        if let Some(lookout) = self.lookout.take() {
            self.lookout = Lookout::start(&self.library, self.session.ruleset(), lookout.bell.clone());
        }
    }

    /// Takes what the lookout has seen before a line is carried out. A line that was written for another question than
    /// the one that is open now is not.
    pub(super) fn take_news_before(&mut self, text: &str) -> Done {
        let asked = self.session.questions().to_vec();
        self.take_news(false)?;
        let command = Command::find(line::split_first(text).0).is_some();
        if asked == self.session.questions() || command || text.trim().is_empty() {
            return Ok(());
        }
        Err(Complaint::wrong("the rules have changed what is asked: the line was not taken"))
    }

    /// Takes what the lookout has seen: other rules come into force, or all that is wrong with them is told. `above` is
    /// for a prompt with something in it.
    pub(super) fn take_news(&mut self, above: bool) -> Done {
        let Some(lookout) = &self.lookout else { return Ok(()) };
        let news: Vec<Watched> = lookout.news.try_iter().collect();
        if news.is_empty() {
            return Ok(());
        }
        lookout.bell.store(false, Ordering::Relaxed);
        if above {
            // The prompt stands here, and comes again below.
            let mut err = io::stderr();
            let _ = write!(err, "\r\u{1b}[J");
            let _ = err.flush();
        }
        for told in news {
            match told {
                Watched::Loaded { rules, .. } => self.put_in_force(rules)?,
                Watched::Broken(error) => {
                    if self.screen.json() {
                        self.screen.event("broken_rules", &json!({ "problems": error.problems }))?;
                    }
                    for problem in &error.problems {
                        let told = report::problem(problem, &self.library, self.screen.coloured(), self.screen.width());
                        self.screen.verbatim(&told)?;
                    }
                    let count = error.problems.len();
                    let what = if count == 1 { "one problem".to_owned() } else { format!("{count} problems") };
                    let text = format!("~ {what}: the game goes on by the last good rules");
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

    fn put_in_force(&mut self, rules: Arc<Ruleset>) -> Done {
        let (asked, stuck) = (self.session.questions().to_vec(), matches!(self.step, Step::Fault(_)));
        let id = rules.id().to_owned();
        let report = match self.session.reload(rules) {
            Ok(report) => report,
            Err(refusal) => {
                if self.screen.json() {
                    self.screen.event("refused_rules", &json!({ "message": refusal.message }))?;
                }
                let text = format!("~ the new rules cannot come into force: {refusal}");
                return Ok(self.screen.row(&Row::at(0).with(text, Tone::Bad))?);
            }
        };
        if self.screen.json() {
            self.screen.event("reloaded", &json!({ "report": report }))?;
        }
        let lines = report.lines();
        if lines.is_empty() {
            self.screen.row(&Row::at(0).with(format!("~ {id} is whole again"), Tone::Note))?;
        }
        for (at, line) in lines.iter().enumerate() {
            let told = match line.split_once(": ") {
                Some((file, what)) if at < report.changed.len() => format!("~ {file} reloaded: {what}"),
                _ => format!("~ {line}"),
            };
            self.screen.row(&Row::at(0).with(told, Tone::Note))?;
        }
        self.play_on()?;
        if stuck || asked != self.session.questions() {
            self.show_standing()?;
        }
        Ok(())
    }
}
