use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::problem::{Problem, TextChange};
use super::source::Source;
use riskbreaker_state::LARGEST_NUMBER;

/// A parsed TOML file with the place of every key and value.
pub struct Document<'s> {
    source: &'s Source,
    root: DeTable<'s>,
}

/// One `key = value`, with the place of the key.
pub struct KeyValue<'d> {
    pub key: &'d str,
    pub key_span: Range<usize>,
    pub value: &'d DeValue<'d>,
    pub span: Range<usize>,
}

impl<'s> Document<'s> {
    /// The most problems reported of one file.
    pub const MOST_PROBLEMS: usize = 40;

    /// Parses a source as TOML and passes it to `reader`.
    ///
    /// # Errors
    ///
    /// The first TOML error; otherwise the problems found by the reader.
    pub fn read<T, R>(source: &'s Source, reader: R) -> Result<T, Vec<Problem>>
    where
        T: Send,
        R: FnOnce(&Document<'s>) -> Result<T, Vec<Problem>> + Send,
    {
        let read = move || reader(&Document::parse(source)?);
        if !may_nest_deeply(&source.text) {
            return read();
        }
        // The TOML parser accepts 80 nested tables of 80 dotted keys, and drops them recursively.
        const STACK_BYTES: usize = 16 * 1024 * 1024;
        thread::scope(|scope| match thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => Err(vec![Problem::new(&*source.path, format!("cannot be read: no thread for it: {error}"))]),
        })
    }

    fn parse(source: &'s Source) -> Result<Self, Vec<Problem>> {
        let (root, errors) = DeTable::parse_recoverable(&source.text);
        let document = Document { source, root: root.into_inner() };
        if errors.is_empty() {
            return Ok(document);
        }
        let problem = |error: &toml::de::Error| {
            let message = format!("not TOML: {}", error.message());
            let problem = match error.span() {
                Some(span) => document.problem(&span, message),
                None => Problem::new(&*source.path, message),
            };
            match error.span().and_then(|span| change_of(error.message(), &span, &source.text)) {
                Some((cure, change)) => problem.with_cure(cure).with_change(change),
                None => problem.with_cure(cure_of(error.message())),
            }
        };
        // After the first error, further ones may be consequences.
        let first = errors.iter().min_by_key(|error| error.span().map(|span| span.start));
        Err(first.map(problem).into_iter().collect())
    }

    /// The table of the whole file.
    pub fn root(&self) -> &DeTable<'s> {
        &self.root
    }

    /// Creates a problem at a place in this file.
    pub fn problem(&self, span: &Range<usize>, message: impl Into<String>) -> Problem {
        let problem = Problem::new(&*self.source.path, message).at(self.source.position(span.start));
        match self.source.text.get(span.clone()).filter(|about| !about.contains('\n')) {
            Some(about) => problem.over(about.chars().count() as u32),
            None => problem,
        }
    }

    /// The file.
    pub fn source(&self) -> &'s Source {
        self.source
    }
}

/// The cure of a TOML error whose line shows what was meant, and the change that carries it out: a comment that begins as in
/// a script, a comma that is missing.
fn change_of(message: &str, span: &Range<usize>, text: &str) -> Option<(&'static str, TextChange)> {
    let before = text.get(..span.start)?;
    if message.contains("missing comma") {
        let begin = before.trim_end().len();
        return Some((
            "write a comma after the value before this one",
            TextChange { begin, end: begin, text: ",".into() },
        ));
    }
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let written = text[line..].lines().next()?;
    let indent = written.len() - written.trim_start().len();
    let column = match written.trim_start() {
        code if code.starts_with("--") || code.starts_with("//") => indent,
        // After a number or a truth value: in a text, the mark is a part of the text.
        _ => {
            let begin = span.start.checked_sub(line)?;
            let (value, _) = written.get(begin..)?.split_once("--")?;
            let is_plain = matches!(value.trim(), "" | "true" | "false") || value.trim().parse::<i64>().is_ok();
            is_plain.then_some(begin + value.len())?
        }
    };
    let begin = line + column;
    Some(("a comment in TOML begins with `#`", TextChange { begin, end: begin + 2, text: "#".into() }))
}

/// Advice for a TOML error.
fn cure_of(message: &str) -> &'static str {
    if message.contains("duplicate key") {
        "name it once"
    } else if message.contains("comma") || message.contains("array") {
        "look here and in the line before: a list is written [\"a\", \"b\"]"
    } else if message.contains("string") || message.contains("float") || message.contains("quoted") {
        "put texts in quotes: name = \"Fox\""
    } else {
        "write `key = value`, texts in quotes, and [name] before a table"
    }
}

/// True unless the file has too few dots and brackets for tables nested more than 1000 deep.
fn may_nest_deeply(text: &str) -> bool {
    const LIMIT_OF_READER: usize = 80;
    let count = |wanted: &[u8]| text.bytes().filter(|byte| wanted.contains(byte)).count().min(LIMIT_OF_READER);
    (count(b".") + 1) * (count(b"[{") + 2) > 1000
}

/// The entries of a table in the order of the file.
pub fn in_order<'d>(table: &'d DeTable<'_>) -> Vec<KeyValue<'d>> {
    let entry = |(key, value): (&'d Spanned<toml::de::DeString<'_>>, &'d Spanned<DeValue<'_>>)| KeyValue {
        key: key.get_ref(),
        key_span: key.span(),
        value: value.get_ref(),
        span: value.span(),
    };
    let mut entries: Vec<KeyValue<'d>> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

/// Names the type of a value for a sentence: "must be a text, not ...".
pub(crate) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The value of a whole number, if it is from -[`LARGEST_NUMBER`] to [`LARGEST_NUMBER`].
pub(crate) fn whole_number(number: &DeInteger<'_>) -> Option<i64> {
    let value = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
    (-LARGEST_NUMBER..=LARGEST_NUMBER).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::read("g/x.toml", text.as_bytes()).unwrap()
    }

    #[test]
    fn the_first_toml_error_is_reported() {
        let source = source("a = 1\nb = 2\nb = 3\nc = [1,\n");
        let problems = Document::parse(&source).err().unwrap();
        assert!(problems.len() == 1 && problems[0].line == Some(3), "{problems:?}");
    }

    #[test]
    fn comments_and_commas_of_other_languages_are_changed() {
        for (text, right) in [
            ("a = 1\n-- why\nb = 2\n", "a = 1\n# why\nb = 2\n"),
            ("a = 1 -- why\n", "a = 1 # why\n"),
            ("// why\n[b]\n", "# why\n[b]\n"),
            ("a = [\"x\" \"y\"]\n", "a = [\"x\", \"y\"]\n"),
        ] {
            let problems = Document::parse(&source(text)).err().unwrap();
            let change = problems[0].change.clone().unwrap_or_else(|| panic!("{text}: {problems:?}"));
            let changed = change.applied_to(text).unwrap();
            assert_eq!(changed, right);
            assert!(Document::parse(&source(&changed)).is_ok(), "{changed}");
        }
    }

    #[test]
    fn entries_come_as_written() {
        let source = source("z = 1\n[b]\n[a.c]\nx = 2\n");
        let document = Document::parse(&source).unwrap();
        let keys: Vec<_> = in_order(document.root()).iter().map(|entry| entry.key.to_owned()).collect();
        assert_eq!(keys, ["z", "b", "a"]);
    }

    #[test]
    fn numbers_stay_within_what_a_script_holds_without_loss() {
        let source = source("a = 9_007_199_254_740_991\nb = 9007199254740992\nc = -0x10\nd = 0x10\n");
        let problems = Document::parse(&source).err().unwrap();
        assert_eq!(problems[0].line, Some(3));
        let source =
            self::source("a = 9_007_199_254_740_991\nb = 9007199254740992\nc = 99999999999999999999\nd = 0x10\n");
        let document = Document::parse(&source).unwrap();
        let numbers: Vec<_> =
            in_order(document.root()).iter().map(|entry| entry.value.as_integer().and_then(whole_number)).collect();
        assert_eq!(numbers, [Some(LARGEST_NUMBER), None, None, Some(16)]);
    }

    /// The deepest nesting that the TOML parser accepts: nested tables of dotted keys.
    #[test]
    fn deep_nesting_does_not_overflow_a_small_stack() {
        let path = ["a"; 79].join(".");
        let deepest = format!("x = {}1{}", format!("{{{path} = ").repeat(79), "}".repeat(79));
        let just_below = format!("x = {}1{}", "{a.a.a.a.a.a.a.a.a.a.a = ".repeat(7), "}".repeat(7));
        assert!(may_nest_deeply(&deepest) && !may_nest_deeply(&just_below));
        for text in [deepest.clone(), format!("{deepest}\n{deepest}"), just_below] {
            let reader = thread::Builder::new().stack_size(512 * 1024);
            let read = move || Document::read(&source(&text), |document| Ok(in_order(document.root()).len())).is_ok();
            let _ = reader.spawn(read).unwrap().join().unwrap();
        }
    }
}
