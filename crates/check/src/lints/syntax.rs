//! A file is not valid Luau.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use riskbreaker_script::syntax::{Location, TextPosition};

pub(crate) static LINT: Lint = Lint {
    name: "syntax",
    severity: Severity::Error,
    summary: "a file is not valid Luau",
    explanation: "The file cannot be read. The check looks for the block without an `end` by the indentation of \
                  the lines, and knows idioms of other languages. It is the only finding of its file, because \
                  others may follow from it.",
    bad: Example::Resolve(
        r#"if ctx.rope.at > 1 then
	rb.say("far")
else if ctx.rope.at > 0 then
	rb.say("near")
end"#,
    ),
    good: Example::Resolve(
        r#"if ctx.rope.at > 1 then
	rb.say("far")
elseif ctx.rope.at > 0 then
	rb.say("near")
end"#,
    ),
};

impl ScriptReader<'_> {
    /// An idiom of another Lua at the place of a syntax error, or before it in the same line: `goto`, `<const>`, `&`.
    pub(crate) fn idiom_of_another_lua(&self, at: Location) -> Option<(Location, Mistake)> {
        let line = self.text.lines().nth(at.begin.line as usize)?;
        let place = |column: usize| {
            let begin = TextPosition::new(at.begin.line, column as u32);
            Location::new(begin, begin)
        };
        let told = |column: usize, wrong: &str, cure: &str| Some((place(column), (wrong.to_owned(), cure.to_owned())));
        let code = line.split("--").next().unwrap_or_default();
        if let Some(begin) = word_in(code, "goto") {
            let label: String = code[begin + 4..]
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            return told(begin, &format!("Luau has no `goto {label}`"), "write `continue`");
        }
        if let Some(begin) = code.find("::").filter(|_| code.trim().starts_with("::") && code.trim().len() > 4) {
            return told(
                begin,
                "Luau has no labels, since it has no `goto`",
                "leave the label out; `continue` ends a round of a loop",
            );
        }
        for attribute in ["<const>", "<close>"] {
            if let Some(begin) = code.find(attribute) {
                let wrong = format!("Luau has no `{attribute}`");
                return told(begin, &wrong, &format!("leave out `{attribute}`: `local` is enough"));
            }
        }
        let rest = code.get(at.begin.column as usize..)?;
        let before = code.get(..at.begin.column as usize)?.trim_end();
        let (sign, function) =
            [("<<", "lshift"), (">>", "rshift"), ("&", "band"), ("|", "bor")].into_iter().find(|(sign, _)| {
                // The parser complains of the second of two equal signs, or of what follows both.
                let is_doubled = before.ends_with(sign) || before.ends_with(&sign[..1]) && rest.starts_with(&sign[..1]);
                if sign.len() == 2 { is_doubled } else { rest.starts_with(sign) && !is_doubled }
            })?;
        let column = match sign.len() {
            1 => at.begin.column as usize,
            _ => code[..(at.begin.column as usize + 1).min(code.len())].rfind(sign)?,
        };
        let wrong = format!("Luau has no `{sign}` between numbers");
        told(column, &wrong, &format!("write `bit32.{function}(a, b)`; for two conditions write `and` or `or`"))
    }

    pub(crate) fn unreadable(&mut self, at: Location, message: &str) {
        self.reads = false;
        let is_else_if = |line: &&str| line.trim().starts_with("else if ") && line.trim().ends_with(" then");
        if let Some((line, text)) = (0..).zip(self.text.lines()).find(|(_, line)| is_else_if(line)) {
            let begin = TextPosition::new(line, (text.len() - text.trim_start().len()) as u32);
            let wrong = "`else if` opens a block of its own, which has no `end`".to_string();
            return self.problem(&LINT, Location::new(begin, begin), (wrong, "write `elseif`".into()));
        }
        if let Some((at, wrong)) = self.idiom_of_another_lua(at) {
            return self.problem(&LINT, at, wrong);
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
            && let Some((line, block, here)) = crate::open_block::find(self.text)
        {
            let end = if block == "repeat" { "until" } else { "end" };
            let at = here.map_or(at, |here| {
                let begin = TextPosition::new(here - 1, 0);
                Location::new(begin, begin)
            });
            let wrong = format!("`{end}` is missing: the `{block}` of line {line} is still open");
            return self.problem(&LINT, at, (wrong, format!("add `{end}` where that block ends")));
        }
        match open.filter(|(_, block)| matches!(block.as_str(), "then" | "else" | "do" | "function" | "repeat" | "{")) {
            Some((line, block)) => {
                let end = match block.as_str() {
                    "{" => "}",
                    "repeat" => "until",
                    _ => "end",
                };
                let wrong = format!("`{end}` is missing: the `{block}` of line {line} is still open ({message})");
                self.problem(&LINT, at, (wrong, format!("add `{end}` where that block ends")));
            }
            None => self.problem(&LINT, at, does_not_read(message)),
        }
    }
}

/// Where a whole word begins in a line.
fn word_in(line: &str, word: &str) -> Option<usize> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\'' | '.');
    let whole = |at: &usize| !line[..*at].ends_with(part) && line[at + word.len()..].starts_with(char::is_whitespace);
    line.match_indices(word).map(|(at, _)| at).find(whole)
}

/// Returns the message and the cure for a file that is not valid Luau.
fn does_not_read(message: &str) -> Mistake {
    let cure = riskbreaker_script::cure_of_syntax(message).unwrap_or("the file does not read as Luau");
    (message.to_string(), cure.to_string())
}
