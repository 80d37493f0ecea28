//! Lua at the prompt: a program of one line or several that may play, ask and edit like anyone at the table.

use crate::cli::pending::Table;
use serde_json::json;

use super::{Complaint, Done, Repl};
use crate::cli::report;
use crate::cli::screen::Row;

impl Repl {
    /// Runs a line of Lua, or begins a program of several.
    pub(super) fn lua(&mut self, source: &str) -> Done {
        if source.is_empty() {
            return Err(Complaint::wrong("Lua stands behind the `=`: `= 1 + 2`"));
        }
        self.run_lua(source, false)
    }

    /// One more line of a program that had no end yet; an empty one ends it as it is.
    pub(super) fn go_on_with_lua(&mut self, line: &str, end: bool) -> Done {
        let mut source = std::mem::take(&mut self.chunk);
        source.push('\n');
        source.push_str(line);
        self.run_lua(&source, end)
    }

    fn run_lua(&mut self, source: &str, end: bool) -> Done {
        if self.machine.is_none() {
            self.machine = Some(Table::new(&self.library));
        }
        let Some(machine) = self.machine.as_mut() else { return Ok(()) };
        // What a program decides is taken back step by step.
        self.done.clear();
        let result = machine.eval_with(&mut self.session, source, "prompt");
        match result {
            Ok(evaluated) if evaluated.incomplete && !end => {
                self.chunk = source.to_owned();
                Ok(())
            }
            Ok(evaluated) => {
                for line in &evaluated.printed {
                    self.show_lua("print", line)?;
                }
                if let Some(value) = &evaluated.value {
                    self.show_lua("value", value)?;
                }
                if evaluated.incomplete {
                    return Err(Complaint::wrong("the Lua has no end"));
                }
                self.settle()
            }
            Err(fault) => {
                self.settle()?;
                Err(Complaint::Wrong(report::fault(&fault, false, None)))
            }
        }
    }

    fn show_lua(&mut self, event: &str, text: &str) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event(event, &json!({ "text": text }))?);
        }
        for line in text.lines() {
            self.screen.row(&Row::at(2).plain(line))?;
        }
        Ok(())
    }
}
