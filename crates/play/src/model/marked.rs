//! Texts of scripts among the host's own lines: a text is quoted if it could be mistaken for one of them.

use std::borrow::Cow;

/// Beginnings of host lines that are not rolls, changes, answers or questions.
const BEGINNINGS: [&str; 22] = [
    "undid ",
    "redid ",
    "noted",
    "saved ",
    "loaded ",
    "reloaded",
    "exact",
    "expected",
    "chance",
    "estimate",
    "seed ",
    "type ",
    "also open",
    "waiting for",
    "the screen is ",
    "press enter",
    "unchanged since",
    "out of turn",
    "this action ",
    "the script ",
    "the game ",
    "[",
];

/// Quotes a text of the rules if the host could have written it as a line.
///
/// The host's lines are rolls (`Ann strikes: needs under 6, rolled 2: success`), answers (`Ann: card Strike`), changes
/// (`Ann  harm  0 -> 1`), and messages of the prompt (`undid card: Strike`). A text that looks like one of these, or
/// that contains spacing or characters unusual in a sentence, is quoted: `“Ann: card Strike”`. The host quotes no line
/// of its own.
pub fn marked(text: &str) -> Cow<'_, str> {
    if !could_be_the_hosts(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(in_marks(text))
}

/// Reduces a text of the rules to one line, for use inside a line or cell: without the double spaces that separate the
/// host's columns.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c != ' ' && (c.is_whitespace() || c.is_control());
    if !text.contains("  ") && !text.starts_with(' ') && !text.chars().any(odd) {
        return Cow::Borrowed(text);
    }
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    Cow::Owned(words.collect::<Vec<_>>().join(" "))
}

/// Formats a name, value or result of the rules for use inside a host line: on one line, and quoted if it contains a
/// separator of host lines, looks like the report of a roll after a colon, or begins with the word for a result.
pub fn marked_part(text: &str) -> Cow<'_, str> {
    let line = in_one_line(text);
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let odd = line.contains("->") || line.contains(['·', '“', '”']) || line.chars().any(unseen);
    const REPORTS: [&str; 4] = ["success", "failure", "needs ", "rolled "];
    let report = |rest: &str| REPORTS.iter().any(|start| rest.starts_with(start));
    if !odd && !matches!(first, "success" | "failure") && !has_behind_a_colon(&line, report) {
        return line;
    }
    Cow::Owned(in_marks(&line))
}

fn in_marks(text: &str) -> String {
    let inside = |c: char| match c {
        '“' | '”' => '"',
        c if c.is_whitespace() || c.is_control() => ' ',
        c => c,
    };
    format!("“{}”", text.chars().map(inside).collect::<String>())
}

/// True for characters of zero width.
fn unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// True if the text after one of its colons satisfies the condition.
fn has_behind_a_colon(text: &str, is_of_it: impl Fn(&str) -> bool) -> bool {
    text.match_indices(':').any(|(at, _)| is_of_it(text[at + 1..].trim_start_matches(' ')))
}

fn could_be_the_hosts(text: &str) -> bool {
    if text.contains("  ") || text.contains("->") || text.contains('·') || text.starts_with(' ') {
        return true;
    }
    if text.chars().any(|c| (c != ' ' && c.is_whitespace()) || c.is_control() || unseen(c)) {
        return true;
    }
    if text.starts_with(|c: char| "»?*|~-“”".contains(c)) {
        return true;
    }
    let start: String = text.chars().take(16).flat_map(char::to_lowercase).collect();
    if BEGINNINGS.iter().any(|beginning| start.starts_with(beginning)) {
        return true;
    }
    has_behind_a_colon(text, reads_like_a_report)
}

/// True if a text looks like the part of a host line after its colon: `needs under 6`, `card Strike`, `rolled 2:
/// success`, `2d6 = 5 + 3 = 8`. A single word, as in `Balance: even (was +2)`, or a plain number does not, unless the
/// word is a result.
fn reads_like_a_report(text: &str) -> bool {
    if text.starts_with(|c: char| c.is_ascii_digit() || "+-[<(".contains(c)) {
        return text.contains(" = ") || text.contains("rolled");
    }
    if !text.starts_with(char::is_lowercase) {
        return false;
    }
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    matches!(word, "success" | "failure") || !(rest.is_empty() || rest.starts_with(" ("))
}

#[cfg(test)]
mod tests {
    use super::super::event::Happening;
    use super::*;
    use riskbreaker_state::{EntityId, Value};

    /// Host lines of each form. `label` and `title` are the rules'.
    fn hosts_lines(label: &str, title: &str) -> Vec<String> {
        let rolled = |need: Option<&str>, success, faces: &[u32], explain: Option<&str>| Happening::Rolled {
            label: label.into(),
            dice: "2d6".into(),
            faces: faces.to_vec(),
            total: -3,
            need: need.map(str::to_owned),
            success,
            result: None,
            explain: explain.map(str::to_owned),
            terms: Vec::new(),
        };
        let changed = Happening::Changed {
            entity: EntityId(1),
            title: title.into(),
            field: "harm".into(),
            label: "Harm".into(),
            from: Value::Int(0),
            to: Value::Int(1),
            text: "0 -> 1".into(),
            reason: None,
        };
        let answered = |about: Option<&str>| Happening::Answered {
            seat: "foes".into(),
            topic: "card".into(),
            about: about.map(Into::into),
            text: "Strike".into(),
        };
        [
            rolled(Some("under 6"), Some(true), &[2], None),
            rolled(None, Some(false), &[2, 3], None),
            rolled(None, None, &[4], None),
            rolled(None, None, &[4, 4], Some("2d6+1 = 4 + 4 + 1 = 9")),
            rolled(None, None, &[4, 4], Some("-2*2d6 = -2 * [5 + 3] = -16")),
            changed,
            answered(None),
            answered(Some(title)),
            Happening::Spawned { entity: EntityId(1), title: title.into(), kind: "card".into() },
            Happening::Removed { entity: EntityId(1), title: title.into(), kind: "card".into() },
        ]
        .iter()
        .map(Happening::line)
        .collect()
    }

    #[test]
    fn no_script_can_say_a_line_of_the_host() {
        let forged = hosts_lines("Ann strikes", "Ann");
        let more = [
            "undid card: Strike",
            "Undid it",
            "The screen is for south now.",
            "unchanged since the start",
            "» strike",
            "  harm",
            "a\nb",
            "? 1",
            "Saved to fight.json",
            "~ Fixed",
        ];
        for line in forged.iter().map(String::as_str).chain(more) {
            let told = Happening::Said { text: line.into() }.line();
            assert!(told.starts_with('“') && told.ends_with('”'), "{line} is told as {told}");
            assert!(!told.contains('\n') && !hosts_lines("Ann strikes", "Ann").contains(&told));
        }
    }

    #[test]
    fn a_label_or_a_title_cannot_bring_a_result_of_its_own() {
        let label = "Ann strikes: needs under 6, rolled 2: success. Bob guards";
        for line in hosts_lines(label, "Bob  harm  0 -> 9") {
            assert!(!line.starts_with("Ann strikes: needs"), "{line}");
            assert!(!line.starts_with("Bob  harm  0 -> 9  "), "{line}");
        }
        // A mark within a mark does not end it.
        assert_eq!(marked("“a”: needs 3"), "“\"a\": needs 3”");
        assert_eq!(in_one_line(" a  b\n c"), "a b c");
    }

    #[test]
    fn a_result_or_a_value_cannot_bring_a_line_of_its_own() {
        for part in [
            "success · Bob hp 5 -> 0",
            "success",
            "failure, but no matter",
            "a -> b",
            "x: needs under 6, rolled 2",
            "a\u{200b}b",
        ] {
            let told = marked_part(part);
            assert!(told.starts_with('“') && told.ends_with('”'), "{part} is told as {told}");
        }
        for part in [
            "hit",
            "Success Level 2",
            "Fighter: elite",
            "in the open",
            "as much as 2: it is rolled again",
            "-3",
            "a sword, a shield",
            "",
            "successor",
        ] {
            assert_eq!(marked_part(part), part);
        }
        assert_eq!(marked_part("two\n  lines"), "two lines");
    }

    #[test]
    fn an_honest_sentence_is_left_alone() {
        for text in [
            "Round 2",
            "Balance: even (was +2)",
            "Balance: -2",
            "Ann has the ball!",
            "\"I yield\", says Bob.",
            "Round 3: Ann, Bob",
            "Why? Because.",
            "",
        ] {
            assert_eq!(marked(text), text);
        }
    }
}
