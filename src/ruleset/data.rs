use std::collections::BTreeMap;

use serde_json::Value;
use toml::Spanned;
use toml::de::DeValue;

use super::document::{Document, Entry, LARGEST_NUMBER, in_order, kind_of, whole_number};
use super::problem::Problem;
use super::quoted::{quoted, turns_direction};
use super::source::Source;

/// A data file of a ruleset: a character, a position. Texts, whole numbers, true and false, lists and tables.
#[derive(Debug, Clone)]
pub struct Data {
    /// The file's table. Its numbers are whole and from -(2^53 - 1) to 2^53 - 1; its keys are sorted.
    pub value: Value,
    source: Source,
    places: Places,
}

/// Where each value stands: by the number of the value around it and the step from there. A pointer in full for every
/// value would let a small file of long keys fill the memory.
#[derive(Debug, Clone, Default)]
struct Places {
    number_of: BTreeMap<(usize, String), usize>,
    offsets: Vec<usize>,
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
            let places = Places { number_of: BTreeMap::new(), offsets: vec![0] };
            let mut reader = Reader { document, problems: Vec::new(), places, around: 0 };
            let value = reader.table(in_order(document.root()), 1);
            if reader.problems.is_empty() {
                Ok(Data { value, places: reader.places, source: source.clone() })
            } else {
                Err(reader.problems)
            }
        })
    }

    /// Makes a problem of the value at a JSON pointer (`/characters/0/name`), or of the nearest value around it.
    pub fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        let mut found = 0;
        for step in pointer.split('/').skip(1) {
            match self.places.number_of.get(&(found, step.replace("~1", "/").replace("~0", "~"))) {
                Some(&number) => found = number,
                None => break,
            }
        }
        let problem = Problem::new(&*self.source.path, message);
        if found == 0 { problem } else { problem.at(self.source.position(self.places.offsets[found])) }
    }
}

struct Reader<'d, 's> {
    document: &'d Document<'s>,
    problems: Vec<Problem>,
    places: Places,
    /// The number of the table or list that is being read.
    around: usize,
}

impl Reader<'_, '_> {
    fn table(&mut self, entries: Vec<Entry<'_>>, depth: usize) -> Value {
        let mut table = serde_json::Map::new();
        for entry in entries {
            let value = self.inside(entry.key, entry.key_span.start, |reader| {
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

    fn list(&mut self, items: &[Spanned<DeValue<'_>>], depth: usize) -> Value {
        let mut list = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let span = item.span();
            list.push(self.inside(&place.to_string(), span.start, |reader| reader.value(item.get_ref(), &span, depth)));
        }
        Value::Array(list)
    }

    fn inside(&mut self, step: &str, offset: usize, read: impl FnOnce(&mut Self) -> Value) -> Value {
        // Enough is said of this file: it is refused, whatever the rest of it holds.
        if self.problems.len() >= Document::MOST_PROBLEMS {
            return Value::Null;
        }
        let number = self.places.offsets.len();
        self.places.offsets.push(offset);
        self.places.number_of.insert((self.around, step.to_owned()), number);
        let around = std::mem::replace(&mut self.around, number);
        let value = read(self);
        self.around = around;
        value
    }

    fn value(&mut self, value: &DeValue<'_>, span: &std::ops::Range<usize>, depth: usize) -> Value {
        let problem = match value {
            DeValue::Boolean(value) => return Value::Bool(*value),
            DeValue::String(text) => {
                let odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || turns_direction(c);
                if !text.chars().any(odd) {
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
            DeValue::Float(_) => self
                .document
                .problem(span, "a number with a point; numbers are whole")
                .with_cure("count in a smaller unit, or write it as a text"),
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
    fn what_is_no_data_is_told_with_its_place_all_of_it() {
        let problems =
            read("a = 1.5\nb = [1, 1979-05-27]\nc = 9007199254740992\nd = \"\\u001b\"\ne = { f = nan }\n").unwrap_err();
        let places: Vec<_> = problems.iter().map(|problem| (problem.line.unwrap(), problem.column.unwrap())).collect();
        assert_eq!(places, [(1, 5), (2, 9), (3, 5), (4, 5), (5, 11)]);
        assert_eq!(
            problems[0].to_string(),
            "g/cast/fox.toml:1:5: a number with a point; numbers are whole (count in a smaller unit, or write it as a text)"
        );
    }

    #[test]
    fn a_later_check_can_say_where_a_value_stands() {
        let data = read("wit = 5\n[[bag]]\nid = \"rope\"\n").unwrap();
        assert_eq!(data.problem("/bag/0/id", "no such item").to_string(), "g/cast/fox.toml:3:1: no such item");
        assert_eq!(data.problem("/bag/0/weight", "is missing").line, Some(2));
        assert_eq!(data.problem("/colour", "is missing").to_string(), "g/cast/fox.toml: is missing");
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
