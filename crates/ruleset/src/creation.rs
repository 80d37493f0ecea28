//! The declarations of `creation.luau` about character sheets, as plain data.

use serde::Serialize;

use riskbreaker_state::{Value, readable_name};

/// The functions of `creation.luau`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CreationPart {
    /// Returns the rules that a sheet breaks.
    Check,
    /// Converts a sheet to the kind and fields of an entity.
    Build,
    /// Returns the questions for writing a sheet, in order.
    Steps,
    /// Returns the price of a sheet.
    Price,
    /// Writes the sheet of an entity in play.
    Sheet,
    /// Builds a starting position from sides with sheets.
    Position,
}

impl CreationPart {
    /// All functions.
    pub const ALL: [CreationPart; 6] = [
        CreationPart::Check,
        CreationPart::Build,
        CreationPart::Steps,
        CreationPart::Price,
        CreationPart::Sheet,
        CreationPart::Position,
    ];

    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            CreationPart::Check => "check",
            CreationPart::Build => "build",
            CreationPart::Steps => "steps",
            CreationPart::Price => "price",
            CreationPart::Sheet => "sheet",
            CreationPart::Position => "position",
        }
    }
}

/// A rule of creation that a sheet breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// Id of the rule.
    pub rule: String,
    /// The problem, as a sentence.
    pub text: String,
    /// The cost, if the rule is about a cost.
    pub cost: Option<i64>,
    /// The available amount, if the rule is about an amount.
    pub have: Option<i64>,
    /// True for a warning: the sheet is valid nevertheless.
    pub warning: bool,
}

/// One entry of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SheetStep {
    /// The key in the sheet.
    pub key: String,
    /// The label for people.
    pub title: String,
    /// A description of valid values, with an example.
    pub text: String,
    /// The form of its value.
    pub form: SheetForm,
    /// The valid values; empty if any value is valid.
    pub options: Vec<String>,
    /// True if the value only changes in play, such as harm, and is not asked for when a sheet is written.
    pub by_play: bool,
}

/// The form of a value in a sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SheetForm {
    /// Any text.
    #[default]
    Text,
    /// A whole number.
    Number,
    /// True or false.
    YesOrNo,
    /// Texts separated by commas.
    List,
    /// Names with a number each, separated by commas.
    Map,
}

/// The price of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SheetPrice {
    /// The items with their costs; a negative cost gives points back.
    pub lines: Vec<(String, i64)>,
    /// The available points, if there is a limit.
    pub have: Option<i64>,
}

impl SheetPrice {
    /// The total cost.
    pub fn cost(&self) -> i64 {
        self.lines.iter().map(|(_, cost)| *cost).sum()
    }
}

impl SheetForm {
    fn named(name: &str) -> Option<SheetForm> {
        Some(match name {
            "text" => SheetForm::Text,
            "number" => SheetForm::Number,
            "yes or no" => SheetForm::YesOrNo,
            "list" => SheetForm::List,
            "map" => SheetForm::Map,
            _ => return None,
        })
    }

    /// Parses a typed value.
    ///
    /// # Errors
    ///
    /// A sentence that says what to type instead.
    pub fn read(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let number = |text: &str| text.parse::<i32>().map(|number| Value::Int(i64::from(number)));
        match self {
            SheetForm::Text => Ok(Value::text(text)),
            SheetForm::Number => {
                number(text).map_err(|_| format!("`{text}` is not a whole number; type one, for example `5`"))
            }
            SheetForm::YesOrNo => match text.to_lowercase().as_str() {
                "yes" | "y" | "true" => Ok(Value::Bool(true)),
                "no" | "n" | "false" => Ok(Value::Bool(false)),
                _ => Err(format!("`{text}` is neither yes nor no")),
            },
            SheetForm::List => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "none");
                Ok(Value::list(words.map(|word| number(word).unwrap_or_else(|_| Value::text(word)))))
            }
            SheetForm::Map => {
                let mut pairs = Vec::new();
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "none") {
                    let (name, value) = part.rsplit_once(' ').unwrap_or((part, ""));
                    let value =
                        number(value).map_err(|_| format!("`{part}` is not a name and a number, as in `rope 2`"))?;
                    pairs.push((name.trim().to_owned(), value));
                }
                Ok(Value::map(pairs))
            }
        }
    }
}

impl Breach {
    /// Formats the breach as a sentence with its rule.
    pub fn in_words(&self) -> String {
        let text = Breach::with_capital(&self.text);
        if self.rule.is_empty() { format!("{text}.") } else { format!("{text} ({}).", self.rule) }
    }

    /// Returns the text with a capital first letter.
    #[doc(hidden)]
    pub fn with_capital(text: &str) -> String {
        let mut letters = text.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    #[doc(hidden)]
    pub fn all(found: &Value) -> Result<Vec<Breach>, &'static str> {
        let Value::List(rows) = found else { return Err("creation.check must return a list of breaches") };
        let breach = |row: &Value| -> Option<Breach> {
            let Value::Map(fields) = row else { return None };
            let text = |name: &str| fields.get(name).and_then(Value::as_text).map(str::to_string);
            let number = |name: &str| fields.get(name).and_then(Value::as_int);
            Some(Breach {
                rule: text("rule").unwrap_or_default(),
                text: text("text")?,
                cost: number("cost"),
                have: number("have"),
                warning: fields.get("warning") == Some(&Value::Bool(true)),
            })
        };
        rows.iter().map(|row| breach(row).ok_or("a breach is a table with `rule` and `text`")).collect()
    }
}

impl SheetStep {
    #[doc(hidden)]
    pub fn all(found: &Value) -> Result<Vec<SheetStep>, &'static str> {
        const WRONG: &str = "a step is a table with `key`, and perhaps `title`, `text`, `form`, `options`, `by_play`";
        let Value::List(rows) = found else { return Err("creation.steps must return a list of steps") };
        let step = |row: &Value| -> Option<SheetStep> {
            let Value::Map(fields) = row else { return None };
            let text = |name: &str| fields.get(name).and_then(Value::as_text).map(str::to_string);
            let key = text("key")?;
            let options = match fields.get("options") {
                None => Vec::new(),
                Some(Value::List(options)) => {
                    options.iter().map(|option| option.as_text().map(str::to_string)).collect::<Option<_>>()?
                }
                Some(_) => return None,
            };
            Some(SheetStep {
                title: text("title").unwrap_or_else(|| readable_name(&key)),
                text: text("text").unwrap_or_default(),
                form: match fields.get("form") {
                    None => SheetForm::Text,
                    Some(form) => SheetForm::named(form.as_text()?)?,
                },
                options,
                by_play: fields.get("by_play") == Some(&Value::Bool(true)),
                key,
            })
        };
        rows.iter().map(|row| step(row).ok_or(WRONG)).collect()
    }
}

impl SheetPrice {
    #[doc(hidden)]
    pub fn of(found: &Value) -> Option<SheetPrice> {
        let Value::Map(fields) = found else { return None };
        let line = |row: &Value| -> Option<(String, i64)> {
            let Value::Map(fields) = row else { return None };
            Some((fields.get("text")?.as_text()?.to_owned(), fields.get("cost")?.as_int()?))
        };
        let lines = match fields.get("lines")? {
            Value::List(rows) => rows.iter().map(line).collect::<Option<_>>()?,
            _ => return None,
        };
        Some(SheetPrice { lines, have: fields.get("have").and_then(Value::as_int) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_values_of_a_sheet_are_read_by_form() {
        assert_eq!(SheetForm::Number.read(" 4 "), Ok(Value::Int(4)));
        assert!(SheetForm::Number.read("four").is_err() && SheetForm::Number.read("99999999999").is_err());
        assert_eq!(SheetForm::YesOrNo.read("Yes"), Ok(Value::Bool(true)));
        assert_eq!(SheetForm::List.read("a, 2,"), Ok(Value::list([Value::text("a"), Value::Int(2)])));
        let pairs = [("long rope".to_owned(), Value::Int(2))];
        assert_eq!(SheetForm::Map.read("long rope 2"), Ok(Value::map(pairs)));
        assert!(SheetForm::Map.read("rope").is_err());
    }
}
