use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::DeValue;

use super::document::{Document, KeyValue, in_order, kind_of, whole_number};
use super::problem::{Problem, TextChange};
use super::quoted::{is_unprintable, quoted, turns_direction};
use super::source::Source;
use riskbreaker_state::LARGEST_NUMBER;

/// A data file of a ruleset: a character, a position. Texts, whole numbers, true and false, lists and tables.
#[derive(Debug, Clone)]
pub struct Data {
    /// The table of the file. Its numbers are whole and from -(2^53 - 1) to 2^53 - 1; its keys are sorted.
    pub value: Value,
}

impl Data {
    /// The deepest nesting of lists and tables.
    pub const MAX_DEPTH: usize = 32;

    /// Reads a TOML source as data.
    ///
    /// # Errors
    ///
    /// Every place (up to 40) that is not TOML or not data: numbers with a point, dates, numbers too large, texts with
    /// control characters in them, nesting deeper than [`Data::MAX_DEPTH`].
    pub fn read(source: &Source) -> Result<Self, Vec<Problem>> {
        Document::read(source, |document| {
            let mut reader = DataReader { document, problems: Vec::new() };
            let value = reader.table(in_order(document.root()), 1);
            if reader.problems.is_empty() { Ok(Data { value }) } else { Err(reader.problems) }
        })
    }
}

struct DataReader<'d, 's> {
    document: &'d Document<'s>,
    problems: Vec<Problem>,
}

impl DataReader<'_, '_> {
    fn table(&mut self, entries: Vec<KeyValue<'_>>, depth: usize) -> Value {
        let mut table = serde_json::Map::new();
        for entry in entries {
            let value = self.inside(|reader| {
                if entry.key.is_empty() || entry.key.chars().any(|c| c.is_control() || turns_direction(c)) {
                    let message = format!("{} is no name", quoted(entry.key));
                    reader.problem(reader.document.problem(&entry.key_span, message));
                }
                reader.value(entry.value, &entry.span, depth)
            });
            table.insert(entry.key.to_owned(), value);
        }
        Value::Object(table)
    }

    /// A number with a point: the whole numbers next to it are the cures.
    fn fraction(&self, span: &Range<usize>, written: &str) -> Problem {
        let problem = self.document.problem(span, "a number with a point; numbers are whole");
        let problem = problem.with_cure("round it, or count in a smaller unit");
        let change = |number: f64| TextChange { begin: span.start, end: span.end, text: format!("{number:.0}") };
        match written.replace('_', "").parse::<f64>() {
            Ok(number) if number.abs() <= LARGEST_NUMBER as f64 && number.floor() < number.ceil() => {
                problem.with_change(change(number.floor())).or_change(change(number.ceil()))
            }
            Ok(number) if number.abs() <= LARGEST_NUMBER as f64 => problem.with_change(change(number)),
            _ => problem,
        }
    }

    fn list(&mut self, items: &[Spanned<DeValue<'_>>], depth: usize) -> Value {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let span = item.span();
            list.push(self.inside(|reader| reader.value(item.get_ref(), &span, depth)));
        }
        Value::Array(list)
    }

    fn inside(&mut self, read: impl FnOnce(&mut Self) -> Value) -> Value {
        // Report no more problems: the file is refused anyway.
        if self.problems.len() >= Document::MOST_PROBLEMS {
            return Value::Null;
        }
        read(self)
    }

    fn value(&mut self, value: &DeValue<'_>, span: &std::ops::Range<usize>, depth: usize) -> Value {
        let problem = match value {
            DeValue::Boolean(value) => return Value::Bool(*value),
            DeValue::String(text) => {
                if !text.contains(is_unprintable) {
                    return Value::String(text.to_string());
                }
                self.document.problem(span, "a text holds control characters").with_cure("delete them")
            }
            DeValue::Integer(number) => match whole_number(number) {
                Some(number) => return Value::from(number),
                None => self
                    .document
                    .problem(span, format!("{} is too large", quoted(number.as_str())))
                    .with_cure(format!("numbers are from -{LARGEST_NUMBER} to {LARGEST_NUMBER}")),
            },
            DeValue::Array(_) | DeValue::Table(_) if depth >= Data::MAX_DEPTH => {
                self.document.problem(span, format!("lists and tables nest deeper than {}", Data::MAX_DEPTH))
            }
            DeValue::Array(items) => return self.list(items, depth + 1),
            DeValue::Table(table) => return self.table(in_order(table), depth + 1),
            DeValue::Float(number) => self.fraction(span, number.as_str()),
            DeValue::Datetime(_) => self
                .document
                .problem(span, format!("{} is no data of a game", kind_of(value)))
                .with_cure("write it as a text"),
        };
        self.problem(problem);
        Value::Null
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Data, Vec<Problem>> {
        Data::read(&Source::read("g/cast/fox.toml", text.as_bytes()).unwrap())
    }

    #[test]
    fn a_data_file_becomes_plain_data() {
        let data =
            read("name = \"Fox\"\nwit = 5\nout = false\nskills = { bow = 3 }\n[[bag]]\nid = \"rope\"\n").unwrap();
        let expected = json!({"name": "Fox", "wit": 5, "out": false, "skills": {"bow": 3}, "bag": [{"id": "rope"}]});
        assert_eq!(data.value, expected);
    }

    #[test]
    fn all_values_that_are_no_data_are_reported_with_their_places() {
        let problems =
            read("a = 1.5\nb = [1, 1979-05-27]\nc = 9007199254740992\nd = \"\\u001b\"\ne = { f = nan }\n").unwrap_err();
        let places: Vec<_> = problems.iter().map(|problem| (problem.line.unwrap(), problem.column.unwrap())).collect();
        assert_eq!(places, [(1, 5), (2, 9), (3, 5), (4, 5), (5, 11)]);
        assert_eq!(
            problems[0].to_string(),
            "g/cast/fox.toml:1:5: a number with a point; numbers are whole (round it, or count in a smaller unit)"
        );
    }

    #[test]
    fn depth_and_number_of_problems_are_bounded() {
        let deep = |n: usize| read(&format!("a = {}{}", "[".repeat(n), "]".repeat(n)));
        assert!(deep(Data::MAX_DEPTH - 1).is_ok());
        assert!(deep(Data::MAX_DEPTH).is_err());
        let many: String = (0..5000).map(|n| format!("k{n} = 0.5\n")).collect();
        assert_eq!(read(&many).unwrap_err().len(), Document::MOST_PROBLEMS);
    }
}
