//! A file is not valid Luau.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use crate::syntax::is_of_name;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Arena, Location, SyntaxError, TextPosition, parse};

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
    pub(crate) fn idiom_of_another_lua(&self, at: Location) -> Option<SyntaxFinding> {
        let line = self.text.lines().nth(at.begin.line as usize)?;
        let place = |column: usize| {
            let begin = TextPosition::new(at.begin.line, column as u32);
            Location::new(begin, begin)
        };
        let told =
            |column: usize, wrong: &str, cure: &str| Some((place(column), (wrong.to_owned(), cure.into()), None));
        let code = line.split("--").next().unwrap_or_default();
        if let Some(begin) = word_in(code, "goto") {
            let label: String = code[begin + 4..]
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            let wrong = format!("Luau has no `goto {label}`");
            let goto = Location::new(TextPosition::new(at.begin.line, begin as u32), at.begin);
            let label_at = begin + 4 + line[begin + 4..].find(&label).unwrap_or_default();
            let whole = (begin, label_at + label.len());
            let word = |word: &str| self.in_line(goto.begin.line, whole, word);
            // Outside of a loop, only the function can be left.
            let is_in_loop = !self.is_refused(&word("continue"), "must be inside a loop");
            let meant = if is_in_loop { "continue" } else { self.leaving(&word) };
            let (cure, change) = (format!("write `{meant}`"), word(meant));
            return Some((place(begin), (wrong, cure.into()), Some(change)));
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
                let before = code[..begin].trim_end().len();
                let change = self.in_line(at.begin.line, (before, begin + attribute.len()), "");
                let cure = format!("leave out `{attribute}`: `local` is enough");
                return Some((place(begin), (wrong, cure.into()), Some(change)));
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

    /// A change in one line: the columns, and the text in their place.
    fn in_line(&self, line: u32, (begin, end): (usize, usize), text: &str) -> TextChange {
        let place = |column: usize| TextPosition::new(line, column as u32);
        self.replaced(Location::new(place(begin), place(end)), text)
    }

    /// The first syntax error of the script with a change; `None` if it is valid then.
    pub(crate) fn error_with(&self, change: &TextChange) -> Option<SyntaxError> {
        parse(&Arena::new(), &change.applied_to(self.text)?).err()
    }

    /// Whether the script with a change has a syntax error with these words in it.
    fn is_refused(&self, change: &TextChange, words: &str) -> bool {
        self.error_with(change).is_some_and(|error| error.message.contains(words))
    }

    /// The statement that leaves the function at the place of a change: `return` ends a block.
    fn leaving(&self, change: &dyn Fn(&str) -> TextChange) -> &'static str {
        match self.error_with(&change("return")) {
            None => "return",
            Some(_) => "do return end",
        }
    }

    /// Keeps a change after which the script is valid, or has its first error in a later line.
    fn if_it_helps(&self, change: TextChange, at: Location) -> Option<TextChange> {
        let later = self.error_with(&change).is_none_or(|error| error.location.begin.line > at.begin.line);
        later.then_some(change)
    }

    /// The place, the mistake and the change of a syntax error whose line shows what was meant.
    fn meant_in_line(&self, at: Location, message: &str) -> Option<SyntaxFinding> {
        let number = at.begin.line;
        let line = self.text.lines().nth(number as usize)?;
        let code = line.split(" --").next().unwrap_or_default().trim_end();
        let indent = code.len() - code.trim_start().len();
        let begins = Location::new(TextPosition::new(number, indent as u32), at.end);
        let told = |at: Location, wrong: &str, cure: String, change: TextChange| {
            Some((at, (wrong.to_owned(), cure.into()), self.if_it_helps(change, at)))
        };
        if message.starts_with("Expected ',' after table") {
            return Some(self.missing_comma(at, message));
        }
        if message.contains("must be inside a loop") {
            let word = if message.starts_with("break") { "break" } else { "continue" };
            let column = at.begin.column as usize;
            let meant = self.leaving(&|meant: &str| self.in_line(number, (column, column + word.len()), meant));
            let change = self.in_line(number, (column, column + word.len()), meant);
            let cure = format!("write `{meant}`, which leaves the function");
            return told(at, &format!("`{word}` ends a loop, and here is none"), cure, change);
        }
        let rest = code.get(at.begin.column as usize..)?;
        if rest.starts_with('=') && !rest.starts_with("==") && message.ends_with("got '='") {
            let column = at.begin.column as usize;
            let change = self.in_line(number, (column, column + 1), "==");
            if self.error_with(&change).is_none() {
                return told(at, "`=` gives a value to a name", "two values are compared with `==`".to_owned(), change);
            }
        }
        if message.starts_with("Unexpected '!") {
            let column = at.begin.column as usize;
            let (length, meant) = if rest.starts_with("!=") { (2, "~=") } else { (1, "not ") };
            let change = self.in_line(number, (column, column + length), meant);
            let cure = "not equal is written `~=`, and the opposite of something `not`".to_owned();
            return told(at, message.split(';').next().unwrap_or(message), cure, change);
        }
        if let Some((cure, change)) = self.counted_up(number, code) {
            return told(begins, "Luau has no `++` and no `--` behind a value", cure, change);
        }
        if let Some((cure, change)) = self.ternary(number, code).filter(|_| rest.starts_with('?')) {
            return told(at, "Luau has no `? :`", cure, change);
        }
        if message.starts_with("Incomplete statement") {
            let first: String = code.trim_start().chars().take_while(|letter| letter.is_alphanumeric()).collect();
            let word = (indent, indent + first.len());
            if matches!(&*first, "let" | "var" | "const" | "int" | "float" | "string" | "bool") && code.contains('=') {
                let wrong = format!("Luau has no `{first}`");
                return told(begins, &wrong, "write `local`".into(), self.in_line(number, word, "local"));
            }
            if first == "elif" {
                return told(
                    begins,
                    "Luau has no `elif`",
                    "write `elseif`".into(),
                    self.in_line(number, word, "elseif"),
                );
            }
            if self.is_value(number, code) {
                let cure = "write `return` before it, or `NAME = ` if it is to be kept".to_owned();
                return told(
                    begins,
                    "this is a value, and nothing is done with it",
                    cure,
                    self.in_line(number, (indent, indent), "return "),
                );
            }
        }
        None
    }

    /// A missing comma is reported at the end of the entry before it, not where the next entry begins.
    fn missing_comma(&self, at: Location, message: &str) -> SyntaxFinding {
        let cure = "put a comma behind what stands before this place".to_owned();
        let before = at.begin.line;
        let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("--");
        let lines: Vec<&str> = self.text.lines().take(before as usize).collect();
        let same = self.text.lines().nth(before as usize).and_then(|line| line.get(..at.begin.column as usize));
        let (number, line) = match same.filter(code) {
            Some(line) => (before, line),
            None => match lines.iter().rposition(code) {
                Some(number) => (number as u32, lines[number]),
                None => return (at, (message.to_owned(), cure.into()), None),
            },
        };
        let column = line.split(" --").next().unwrap_or_default().trim_end().len();
        let comma = self.in_line(number, (column, column), ",");
        // A name before a value lacks its equal sign.
        let equals = self.in_line(number, (column, column), " =");
        let last = TextPosition::new(number, column.saturating_sub(1) as u32);
        let (cure, change) = match (self.error_with(&comma), self.error_with(&equals)) {
            (Some(_), None) => (format!("write `{} =`", line.trim()), Some(equals)),
            _ => (cure, self.if_it_helps(comma, Location::new(last, last))),
        };
        (Location::new(last, last), (message.to_owned(), cure.into()), change)
    }

    /// `n++` and `n--` on a line of their own.
    fn counted_up(&self, number: u32, code: &str) -> Option<(String, TextChange)> {
        let (name, sign) = match code.trim().strip_suffix("++") {
            Some(name) => (name, "+"),
            None => (code.trim().strip_suffix("--")?, "-"),
        };
        let name = name.trim_end();
        let is_name = |part: &str| !part.is_empty() && part.chars().all(is_of_name);
        if !name.split('.').all(is_name) {
            return None;
        }
        let field = name.rsplit_once('.').filter(|(_, field)| {
            // Without the rest of the rules, a member of a member is taken for a field.
            self.known.types_of(field).next().is_some() || self.known.rules.is_none() && name.matches('.').count() > 1
        });
        let (meant, cure) = match field {
            Some((owner, field)) => {
                let by = if sign == "+" { "1" } else { "-1" };
                let call = format!("{owner}:add(\"{field}\", {by})");
                (call.clone(), format!("write `{call}`; a variable is counted by `n += 1`"))
            }
            None => (format!("{name} {sign}= 1"), format!("write `{name} {sign}= 1`: `n += 1` adds to a value")),
        };
        let indent = code.len() - code.trim_start().len();
        Some((cure, self.in_line(number, (indent, code.len()), &meant)))
    }

    /// `condition ? one : other` after `=` or `return`.
    fn ternary(&self, number: u32, code: &str) -> Option<(String, TextChange)> {
        let cure = "write `if condition then one else other`".to_owned();
        let begin = match code.find(" = ") {
            Some(equals) => equals + 3,
            None => code.find("return ")? + 7,
        };
        let (condition, rest) = code[begin..].split_once('?')?;
        let (one, other) = rest.split_once(':')?;
        let meant = format!("if {} then {} else {}", condition.trim(), one.trim(), other.trim());
        Some((cure, self.in_line(number, (begin, code.len()), &meant)))
    }

    /// Whether a line is an expression that ends a block, or a comparison.
    fn is_value(&self, number: u32, code: &str) -> bool {
        let code = code.trim();
        let compares = ["==", "~=", "<=", ">=", " < ", " > ", " and ", " or "].iter().any(|sign| code.contains(sign));
        let next = self.text.lines().skip(number as usize + 1).map(str::trim).find(|line| !line.is_empty());
        let ends = next.is_some_and(|next| ["end", "else", "elseif"].iter().any(|word| next.starts_with(word)));
        let is_plain = code.chars().all(|letter| letter.is_alphanumeric() || "._:()\"' ".contains(letter));
        !code.contains(" = ") && !code.starts_with("//") && (compares || ends && is_plain && !code.contains(' '))
    }

    /// The first line with a keyword or a comment of another language at its beginning: `elif`, `elsif`, `#` and `//`.
    fn foreign_line(&self) -> Option<(Location, &'static str, &'static str, TextChange)> {
        let of_line = |(number, line): (u32, &str)| {
            let code = line.trim_start();
            let column = line.len() - code.len();
            let (sign, meant, wrong, cure) = match code.split_whitespace().next()? {
                "elif" if code.ends_with("then") => ("elif", "elseif", "Luau has no `elif`", "write `elseif`"),
                "elsif" if code.ends_with("then") => ("elsif", "elseif", "Luau has no `elsif`", "write `elseif`"),
                "#" => ("#", "--", "`#` begins no comment", "a comment begins with `--`"),
                "//" => ("//", "--", "`//` begins no comment", "a comment begins with `--`"),
                _ => return None,
            };
            let place = |column: usize| TextPosition::new(number, column as u32);
            let at = Location::new(place(column), place(column + sign.len()));
            Some((at, wrong, cure, self.replaced(at, meant)))
        };
        (0..).zip(self.text.lines()).find_map(of_line).filter(|(.., change)| {
            self.error_with(change).is_none_or(|error| error.location.begin.line > self.line_of(change.begin))
        })
    }

    /// The number of the line of a byte, from 0.
    fn line_of(&self, byte: usize) -> u32 {
        self.text[..byte.min(self.text.len())].matches('\n').count() as u32
    }

    pub(crate) fn unreadable(&mut self, at: Location, message: &str) {
        self.reads = false;
        if let Some(foreign) = self.foreign_line() {
            let (at, wrong, cure, change) = foreign;
            return self.cured(&LINT, at, (wrong.to_owned(), cure.into()), change);
        }
        let is_else_if = |line: &&str| line.trim().starts_with("else if ") && line.trim().ends_with(" then");
        if let Some((line, text)) = (0..).zip(self.text.lines()).find(|(_, line)| is_else_if(line)) {
            let begin = TextPosition::new(line, (text.len() - text.trim_start().len()) as u32);
            let wrong = "`else if` opens a block of its own, which has no `end`".to_string();
            let from = self.offset_of(begin);
            let change = TextChange { begin: from, end: from + "else if".len(), text: "elseif".into() };
            return self.cured(&LINT, Location::new(begin, begin), (wrong, "write `elseif`".into()), change);
        }
        // A word that is almost a keyword explains what follows it.
        if let [respelt, others @ ..] = self.misspelt_words(at).as_slice() {
            return self.repaired(at, message, respelt.clone(), others);
        }
        if let Some((at, wrong, change)) = self.idiom_of_another_lua(at).or_else(|| self.meant_in_line(at, message)) {
            return self.problem_with(&LINT, at, wrong, change);
        }
        if let Some((at, wrong, change)) = self.unclosed_bracket(at, message) {
            return self.problem_with(&LINT, at, wrong, change);
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
            let change = self.closing(end, line, at);
            let repairs = if change.is_some() { Vec::new() } else { self.repairs(at, message) };
            if let Some((first, others)) = repairs.split_first() {
                return self.repaired(at, message, first.clone(), others);
            }
            return self.problem_with(&LINT, at, (wrong, format!("add `{end}` where that block ends").into()), change);
        }
        if let Some((first, others)) = self.repairs(at, message).split_first() {
            return self.repaired(at, message, first.clone(), others);
        }
        match open.filter(|(_, block)| matches!(block.as_str(), "then" | "else" | "do" | "function" | "repeat" | "{")) {
            Some((line, block)) => {
                let end = match block.as_str() {
                    "{" => "}",
                    "repeat" => "until",
                    _ => "end",
                };
                let wrong = format!("`{end}` is missing: the `{block}` of line {line} is still open ({message})");
                self.problem(&LINT, at, (wrong, format!("add `{end}` where that block ends").into()));
            }
            None => self.problem(&LINT, at, does_not_read(message)),
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a syntax error that a change of one token cures. A token that is missing or misspelt is reported at its place.
    fn repaired(&mut self, at: Location, message: &str, change: TextChange, others: &[TextChange]) {
        let place = self.position_of(change.begin);
        let is_before = place.line < at.begin.line;
        let at = if is_before || change.end > change.begin { Location::new(place, place) } else { at };
        let removed = &self.text[change.begin..change.end];
        let cure = match (removed.trim(), change.text.trim()) {
            ("", put) => format!("write `{put}` there"),
            (taken, "") => format!("take `{taken}` out"),
            (written, meant) => format!("did you mean `{meant}` instead of `{written}`?"),
        };
        let is_respelt = change.end > change.begin && change.text.starts_with(char::is_alphabetic);
        let told = riskbreaker_script::cure_of_syntax(message).filter(|_| !is_respelt).map_or(cure, str::to_owned);
        self.problem_with(&LINT, at, (message.to_owned(), told.into()), Some(change));
        if let Some(problem) = self.found.last_mut() {
            problem.choices = others.iter().take(4).cloned().collect();
        }
    }

    /// A bracket that is opened in an earlier line than that of the error, if closing it at the end of its own line makes
    /// the script valid.
    fn unclosed_bracket(&self, at: Location, message: &str) -> Option<SyntaxFinding> {
        let close = message.strip_prefix("Expected '")?.chars().next().filter(|close| ")]}".contains(*close))?;
        let (before, number) = message.rsplit_once(" at line ")?;
        let open = before.strip_suffix('\'')?.chars().next_back()?;
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let number = digits.parse::<u32>().ok()?.checked_sub(1).filter(|number| *number < at.begin.line)?;
        let code = self.text.lines().nth(number as usize)?.split(" --").next()?.trim_end();
        let column = code.strip_suffix(',').unwrap_or(code).len();
        let change = self.in_line(number, (column, column), &close.to_string());
        if self.error_with(&change).is_some() {
            return None;
        }
        let last = TextPosition::new(number, column.saturating_sub(1) as u32);
        let wrong = format!("`{close}` is missing: the `{open}` of this line is still open");
        Some((
            Location::new(last, last),
            (wrong, format!("write `{close}` at the end of the line").into()),
            Some(change),
        ))
    }

    /// The end of a block that is open since a line, put in before the line of a place. `None` if the script is not
    /// valid with it.
    fn closing(&self, end: &str, opened: u32, at: Location) -> Option<TextChange> {
        let indent = self.indent_of(TextPosition::new(opened - 1, 0));
        let place = TextPosition::new(at.begin.line, 0);
        let written = |end: &str| self.inserted(place, format!("{indent}{end}\n"));
        let ends = [end.to_owned(), format!("{end},"), format!("{end})"), format!("{end}),")];
        ends.iter().filter(|_| end == "end").map(|end| written(end)).find(|change| self.error_with(change).is_none())
    }
}

/// A syntax error: its place, its message with its cure, and the change that carries the cure out.
type SyntaxFinding = (Location, Mistake, Option<TextChange>);

/// Where a whole word begins in a line.
fn word_in(line: &str, word: &str) -> Option<usize> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '"' | '\'' | '.');
    let whole = |at: &usize| !line[..*at].ends_with(part) && line[at + word.len()..].starts_with(char::is_whitespace);
    line.match_indices(word).map(|(at, _)| at).find(whole)
}

/// Returns the message and the cure for a file that is not valid Luau.
fn does_not_read(message: &str) -> Mistake {
    let cure = riskbreaker_script::cure_of_syntax(message).unwrap_or("the file does not read as Luau");
    (message.to_string(), cure.into())
}
