//! Lua at the prompt: programs of one or more lines that may play, query and edit the game.

use riskbreaker::Fault;
use riskbreaker::lab::{advice_for_program, odds_for_program};
use riskbreaker::ruleset::nearest;
use riskbreaker::script::{Evaluated, Table};
use serde_json::json;

use super::command::Command;
use super::{Complaint, Done, Repl, unknown_word};
use crate::cli::report;
use crate::cli::row::Row;

impl Repl {
    /// Runs a line of Lua, or begins a program of several.
    pub(super) fn lua(&mut self, source: &str) -> Done {
        if source.is_empty() {
            return Err(Complaint::wrong("Type Lua after the `=`: `= 1 + 2`"));
        }
        self.run_lua(source, false)
    }

    /// Prints a variable of Lua at the prompt. A word without a variable is reported as an unknown command.
    pub(super) fn variable(&mut self, word: &str) -> Done {
        match self.evaluate(word) {
            Ok(Evaluated { value: Some(value), .. }) if value != "nil" => self.show_lua("value", &value),
            _ => Err(unknown_word(word, nearest(word, Command::names()).filter(|near| *near != word))),
        }
    }

    /// Adds a line to an incomplete program. An empty line ends it.
    pub(super) fn go_on_with_lua(&mut self, line: &str, end: bool) -> Done {
        let mut source = std::mem::take(&mut self.chunk);
        source.push('\n');
        source.push_str(line);
        self.run_lua(&source, end)
    }

    fn run_lua(&mut self, source: &str, end: bool) -> Done {
        let result = self.evaluate(source);
        let printed = match &result {
            Ok(evaluated) => evaluated.printed.clone(),
            Err(_) => self.machine.as_mut().map(Table::take_printed).unwrap_or_default(),
        };
        for line in &printed {
            self.show_lua("print", line)?;
        }
        match result {
            Ok(evaluated) if evaluated.incomplete && !end => {
                self.chunk = source.to_owned();
                Ok(())
            }
            Ok(evaluated) if evaluated.incomplete => Err(Complaint::wrong("the Lua has no end")),
            Ok(evaluated) => {
                if let Some(value) = &evaluated.value {
                    self.show_lua("value", value)?;
                }
                self.settle()
            }
            Err(fault) => {
                self.settle()?;
                Err(Complaint::Wrong(report::fault(&fault, false, self.screen.width())))
            }
        }
    }

    /// Runs a program with the game, and takes the game back whatever the result.
    fn evaluate(&mut self, source: &str) -> Result<Evaluated, Fault> {
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => {
                let mut machine = Table::new(&self.library)?;
                machine.look_ahead_by(odds_for_program);
                machine.advise_by(advice_for_program);
                machine
            }
        };
        machine.attach(self.session.lend());
        let result = machine.eval(source, "prompt");
        if let Some(session) = machine.detach() {
            self.session.give_back(session);
        }
        self.machine = Some(machine);
        result
    }

    fn show_lua(&mut self, event: &str, text: &str) -> Done {
        if self.screen.json() {
            return Ok(self.screen.event(event, &json!({ "text": text }))?);
        }
        for line in text.split('\n') {
            self.screen.row(&Row::at(2).plain(line))?;
        }
        Ok(())
    }
}
