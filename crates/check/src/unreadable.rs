//! Reports files that are not valid Luau, with a message and a position.

use super::known::Mistake;
use super::lints;
use super::script::ScriptReader;
use riskbreaker_script::syntax::{Location, TextPosition};

impl ScriptReader<'_> {
    pub(super) fn unreadable(&mut self, at: Location, message: &str) {
        self.reads = false;
        let is_else_if = |line: &&str| line.trim().starts_with("else if ") && line.trim().ends_with(" then");
        if let Some((line, text)) = (0..).zip(self.text.lines()).find(|(_, line)| is_else_if(line)) {
            let begin = TextPosition::new(line, (text.len() - text.trim_start().len()) as u32);
            let wrong = "`else if` opens a block of its own, which has no `end`".to_string();
            return self.problem(&lints::syntax::LINT, Location::new(begin, begin), (wrong, "write `elseif`".into()));
        }
        if let Some((at, wrong)) = self.idiom_of_another_lua(at) {
            return self.problem(&lints::syntax::LINT, at, wrong);
        }
        // If a block has no `end`, the position is where the block begins.
        let open = message.rsplit_once(" at line ").and_then(|(before, line)| {
            let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
            let block = before.rsplit_once('\'').and_then(|(rest, _)| rest.rsplit_once('\'')).map(|(_, word)| word)?;
            Some((digits.parse::<u32>().ok()?, block.to_string()))
        });
        let closes = self.text.lines().nth(at.begin.line as usize).is_some_and(|line| line.trim().starts_with("end"));
        let behind_end = closes && (message.ends_with("got ','") || message.ends_with("got ')'"));
        if (message.contains("Expected 'end'") || message.ends_with("got 'end'") || behind_end)
            && let Some((line, block, here)) = super::open_block::find(self.text)
        {
            let end = if block == "repeat" { "until" } else { "end" };
            let at = here.map_or(at, |here| {
                let begin = TextPosition::new(here - 1, 0);
                Location::new(begin, begin)
            });
            let wrong = format!("`{end}` is missing: the `{block}` of line {line} is still open");
            return self.problem(&lints::syntax::LINT, at, (wrong, format!("add `{end}` where that block ends")));
        }
        match open.filter(|(_, block)| matches!(block.as_str(), "then" | "else" | "do" | "function" | "repeat" | "{")) {
            Some((line, block)) => {
                let end = match block.as_str() {
                    "{" => "}",
                    "repeat" => "until",
                    _ => "end",
                };
                let wrong = format!("`{end}` is missing: the `{block}` of line {line} is still open ({message})");
                self.problem(&lints::syntax::LINT, at, (wrong, format!("add `{end}` where that block ends")));
            }
            None => self.problem(&lints::syntax::LINT, at, does_not_read(message)),
        }
    }
}

/// Returns the message and the cure for a file that is not valid Luau.
fn does_not_read(message: &str) -> Mistake {
    let cure = riskbreaker_script::cure_of_syntax(message).unwrap_or("the file does not read as Luau");
    (message.to_string(), cure.to_string())
}
