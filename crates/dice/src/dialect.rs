//! Words of other dice programs, with their translations to this notation.

use super::foreign::{Foreign, bare, foreign};
use super::notation::{Dice, NotationError, Suggested, squeezed};

/// A word that another program writes after dice.
pub(super) struct DialectWord {
    /// Its spellings.
    words: &'static [&'static str],
    /// The reason for the refusal, as the end of a sentence that begins with the word.
    pub message: &'static str,
    /// Possible replacements.
    pub writes: &'static [&'static str],
    /// True if omitting the word gives the same total.
    pub leaves: bool,
    /// Advice if no replacement is valid.
    pub words_instead: &'static str,
}

const fn word(words: &'static [&'static str], message: &'static str, writes: &'static [&'static str]) -> DialectWord {
    DialectWord { words, message, writes, leaves: false, words_instead: "write dice as in `4d6kh3` or `4d6ro1`" }
}

const NO_SUCH: &str = "is an operation of another program that has no like here";

/// Words after dice.
const BEHIND_DICE: [DialectWord; 21] = [
    word(&["k", "keep"], "alone can mean two things (keep the highest or the lowest)", &["kh", "kl"]),
    word(&["d", "drop"], "alone can mean two things (drop the highest or the lowest)", &["dh", "dl"]),
    word(&["r", "reroll"], "alone can mean two things (roll again once or as long as needed)", &["ro", "rr"]),
    word(
        &["h", "b", "best", "highest", "largest", "high", "top", "keephighest", "keephigh"],
        "is written `kh` here",
        &["kh"],
    ),
    word(
        &["l", "w", "worst", "lowest", "smallest", "least", "low", "bottom", "keeplowest", "keeplow"],
        "is written `kl` here",
        &["kl"],
    ),
    word(&["droplowest", "droplow", "pl"], "is written `dl` here", &["dl"]),
    word(&["drophighest", "drophigh", "ph"], "is written `dh` here", &["dh"]),
    word(&["rerollonce"], "is written `ro` here", &["ro"]),
    word(&["minimum"], "is written `min` here", &["min"]),
    word(&["maximum"], "is written `max` here", &["max"]),
    word(
        &["e", "explode", "explodes", "exploding", "ie", "open", "ex"],
        "is written with an exclamation mark here",
        &["!"],
    ),
    word(&["x"], "can mean two things (multiply, or explode)", &["*", "!"]),
    word(
        &["t", "s", "cs", "succ", "success", "successes", "hit", "hits", "target", "count", "ge", "gte"],
        "is a comparison here: it counts dice",
        &["", ">="],
    ),
    DialectWord {
        words: &["sa", "sd", "sort", "sorted", "asc", "desc"],
        message: "only changes the order that another program shows",
        writes: &[],
        leaves: true,
        words_instead: "leave it out",
    },
    DialectWord {
        words: &["f", "cf", "df", "sf", "ms", "margin", "u", "unique", "uniq", "m", "match", "matches", "mt"],
        message: NO_SUCH,
        writes: &[],
        leaves: false,
        words_instead: "count the dice that fit, as in `10d10>=8`, or leave it out",
    },
    DialectWord {
        words: &["p", "ra", "rp", "xo", "eo", "xx", "c", "o", "rc", "drc", "cc"],
        message: NO_SUCH,
        writes: &[],
        leaves: false,
        words_instead: "roll again once with `4d6ro1`, explode with `3d6!`, or roll the further dice by themselves",
    },
    word(&["f1", "fate", "fudge"], "is written `F` here", &["F"]),
    word(&["lt"], "is written `<` here", &["<"]),
    word(&["gt"], "is written `>` here", &[">"]),
    word(&["lte", "le"], "is written `<=` here", &["<="]),
    word(&["eq", "n"], "is written `=` here", &["="]),
];

impl Dice {
    /// True if a text is meant as dice, even if it is invalid: it contains dice or operators, and is no mere name.
    pub fn is_meant(text: &str) -> bool {
        let text = text.trim().to_ascii_lowercase();
        let bytes = text.as_bytes();
        let begins = bytes.first().is_some_and(|c| c.is_ascii_digit() || b"+-({[/!.%".contains(c));
        let has_dice = bytes.iter().enumerate().filter(|(_, c)| **c == b'd').any(|(at, _)| {
            let inside = at > 0 && (bytes[at - 1].is_ascii_alphabetic() || bytes[at - 1] == b'_');
            let faces = bytes.get(at + 1).is_some_and(|c| c.is_ascii_digit() || b"%[{(".contains(c));
            let fate = bytes.get(at + 1) == Some(&b'f') && !bytes.get(at + 2).is_some_and(u8::is_ascii_alphabetic);
            !inside && (faces || fate)
        });
        // The id of a card, such as `2_handed` or `d6_trick`.
        let is_id = bytes.contains(&b'_') && bytes.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
        !is_id && (begins || has_dice || text == "d" || text.contains(['<', '>', '=', '*', '@', '{']))
    }
}

/// The meaning of a lower-case word after dice in another program.
pub(super) fn behind_dice(word: &str) -> Option<&'static DialectWord> {
    BEHIND_DICE.iter().find(|known| known.words.contains(&word))
}

/// The character of the notation for a character of other keyboards. Empty if it is a space.
pub(super) fn plain_of(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{d7}' | '\u{b7}' | '\u{22c5}' => "*",
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{feff}' => " ",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{ff0b}' => "+",
        '\u{2026}' => "..",
        _ => return None,
    })
}

/// Suggests at most three of these texts that are valid. `None` if none is.
pub(super) fn cure(writes: impl IntoIterator<Item = String>, reads: impl Fn(&str) -> bool) -> Option<String> {
    let mut known: Vec<String> = Vec::new();
    for text in writes {
        if known.len() < 3 && !known.contains(&text) && !text.contains('`') && reads(&text) {
            known.push(text);
        }
    }
    match known.as_slice() {
        [] => None,
        [only] => Some(format!("write `{only}`")),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|text| format!("`{text}`")).collect();
            Some(format!("write {} or `{last}`", first.join(", ")))
        }
    }
}

/// Adds the meaning of the text in another program to a refusal, if it is known. A suggestion for a place in the text
/// has priority, unless it only omits a word.
pub(super) fn translated(error: NotationError, reads: impl Fn(&str) -> bool) -> NotationError {
    if error.text.len() > LONGEST || !error.text.is_ascii() {
        return error;
    }
    if let Some(Foreign { message, writes, words }) = foreign(&error.text) {
        match (cure(writes, &reads), words) {
            (Some(cure), _) => {
                return NotationError { message: message.to_owned(), cure, suggested: Suggested::Meaning, ..error };
            }
            (None, "") => {}
            (None, words) => {
                return NotationError {
                    message: message.to_owned(),
                    cure: words.to_owned(),
                    suggested: Suggested::Nothing,
                    ..error
                };
            }
        }
    }
    if error.suggested == Suggested::Meaning {
        return error;
    }
    let text = error.text.to_ascii_lowercase();
    let Translation { reason, writes } = translation(text.trim(), error.message.starts_with('`'));
    let message = reason.map_or_else(|| error.message.clone(), |(message, _)| message.to_owned());
    let meant = writes.into_iter().filter_map(|text| squeezed(&text, "", "")).find(|text| reads(text));
    match (cure(meant, &reads), reason) {
        (Some(cure), _) => NotationError { message, cure, suggested: Suggested::Meaning, ..error },
        (None, Some((_, words))) if error.suggested == Suggested::Nothing => {
            NotationError { message, cure: words.to_owned(), ..error }
        }
        _ => error,
    }
}

/// The longest text that is translated, in bytes.
const LONGEST: usize = 200;

/// The translation of a text: the reason for the refusal with advice, and possible meanings.
struct Translation {
    reason: Option<(&'static str, &'static str)>,
    writes: Vec<String>,
}

/// The possible meanings of a lower-case text in another program. `unknown`: the text contains an unknown character or
/// word.
fn translation(text: &str, unknown: bool) -> Translation {
    let phrased = phrased(text);
    let mut writes = vec![phrased.clone()];
    writes.extend(called(&phrased));
    writes.extend(best_of_two(&phrased));
    let bare = bare(&phrased);
    writes.push(bare.clone());
    writes.extend(called(&bare));
    writes.extend(best_of_two(&bare));
    writes.extend(without_brackets(&bare));
    writes.push(bare.replace(" and ", "+"));
    Translation { reason: reason(text, unknown), writes }
}

/// Replaces spoken words by those of the notation.
fn phrased(text: &str) -> String {
    let mut text = format!(" {text} ");
    for (from, to) in [
        ("keep the highest", "kh"),
        ("keep the lowest", "kl"),
        ("drop the highest", "dh"),
        ("drop the lowest", "dl"),
        ("keep highest", "kh"),
        ("keep lowest", "kl"),
        ("keep best", "kh"),
        ("keep worst", "kl"),
        ("drop highest", "dh"),
        ("drop lowest", "dl"),
        ("take highest", "kh"),
        ("take lowest", "kl"),
        ("reroll once", "ro"),
        ("-l ", "dl1 "),
        ("-h ", "dh1 "),
        (" plus ", "+"),
        (" minus ", "-"),
        (" times ", "*"),
        ("dfate", "dF"),
        ("dfudge", "dF"),
    ] {
        text = text.replace(from, to);
    }
    // Dice of German programs, `2w6`, and `4f` for Fate dice.
    let bytes: Vec<char> = text.chars().collect();
    let is_digit = |i: usize| bytes.get(i).is_some_and(char::is_ascii_digit);
    let letter = |i: usize| i > 0 && bytes.get(i - 1).is_some_and(char::is_ascii_alphabetic);
    let swapped = bytes.iter().enumerate().map(|(i, c)| match c {
        'w' if is_digit(i + 1) && !letter(i) => "d".to_owned(),
        'f' if i > 0 && is_digit(i - 1) && !bytes.get(i + 1).is_some_and(char::is_ascii_alphanumeric) => {
            "dF".to_owned()
        }
        other => other.to_string(),
    });
    swapped.collect::<String>().trim().to_owned()
}

/// A call of another program: `highest 3 of 4d6`, `max 2d20`, `largest(2d20)`, `count >= 5 10d6`, `explode d6`.
fn called(text: &str) -> Vec<String> {
    let plain: String = text.chars().map(|c| if matches!(c, '(' | ')' | ',') { ' ' } else { c }).collect();
    let mut words: Vec<&str> = plain.split_ascii_whitespace().collect();
    words.retain(|word| !matches!(*word, "of" | "in" | "the" | "from" | "dice" | "sum" | "keep" | "and"));
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let keep = match *first {
        "highest" | "max" | "maximum" | "largest" | "best" | "high" | "top" => "kh",
        "lowest" | "min" | "minimum" | "least" | "worst" | "smallest" | "low" | "bottom" => "kl",
        "drop" if rest.first() == Some(&"lowest") => "dl",
        "drop" if rest.first() == Some(&"highest") => "dh",
        "explode" | "accumulate" => return rest.last().map(|dice| vec![format!("{dice}!")]).unwrap_or_default(),
        "reroll" => {
            return match rest {
                [face, dice] => vec![format!("{dice}ro{face}"), format!("{dice}rr{face}")],
                [dice] => vec![format!("{dice}ro1"), format!("{dice}rr1")],
                _ => Vec::new(),
            };
        }
        "count" => {
            let Some((dice, condition)) = rest.split_last() else { return Vec::new() };
            let signs = condition.iter().any(|word| word.contains(['<', '>', '=']));
            let condition = condition.join(if signs { "" } else { "," }).replace(['{', '}'], "");
            let condition = match condition.strip_suffix(['<', '>']) {
                // `count 4< 5d6` compares the number with the dice.
                Some(number) if condition.ends_with('<') => format!(">{number}"),
                Some(number) => format!("<{number}"),
                None if condition.starts_with(['<', '>', '=']) => condition,
                None => format!("={condition}"),
            };
            return vec![format!("{dice}{condition}")];
        }
        _ => {
            // `2d20 highest`, `1@4d6`.
            return match first.split_once('@') {
                Some(("1", dice)) => vec![format!("{dice}kh1")],
                _ => Vec::new(),
            };
        }
    };
    let rest: Vec<&str> = rest.iter().copied().filter(|word| !matches!(*word, "lowest" | "highest")).collect();
    match rest.as_slice() {
        [number, dice] if number.bytes().all(|c| c.is_ascii_digit()) => vec![format!("{dice}{keep}{number}")],
        [dice, number] if number.bytes().all(|c| c.is_ascii_digit()) && text.contains('(') => {
            vec![format!("{dice}{keep}{number}")]
        }
        [dice] => vec![format!("{dice}{keep}1")],
        [one, other] => vec![format!("{{{one},{other}}}{keep}1")],
        _ => Vec::new(),
    }
}

/// The better or the worse of two dice: `d20 adv`, `2d20 dis`, or the same words in full.
fn best_of_two(text: &str) -> Option<String> {
    // The words in full begin and end like this.
    let is_better =
        |word: &str| matches!(word, "adv" | "adva") || (word.starts_with("advan") && word.ends_with("tage"));
    let at = text.find("dis").or_else(|| text.find("adv"))?;
    let end = text[at..].find(|c: char| !c.is_ascii_alphabetic()).map_or(text.len(), |length| at + length);
    let word = &text[at..end];
    let keep = match word.strip_prefix("dis") {
        Some(rest) if rest.is_empty() || is_better(rest) => "kl1",
        None if is_better(word) => "kh1",
        _ => return None,
    };
    let rest: String = text.replace(word, " ").replace("with", " ").split_ascii_whitespace().collect();
    let rest = rest.trim_matches(|c: char| matches!(c, '(' | ')' | ',')).to_owned();
    let (before, after) = match rest.split_once('d') {
        Some((before, after)) if before.is_empty() || before == "1" || before == "2" => ("2d", after.to_owned()),
        None if rest.is_empty() || rest.starts_with(['+', '-']) => ("2d20", rest.clone()),
        _ => return None,
    };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (faces, more) = if before == "2d" { after.split_at(digits) } else { ("", after.as_str()) };
    Some(format!("{before}{faces}{keep}{more}"))
}

/// `d(6)` and `(2)d6` without the brackets.
fn without_brackets(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, '(' | ')')).collect();
    let number_in_brackets = text.contains("d(") || text.contains(")d");
    let inside = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    let number = inside.bytes().all(|c| c.is_ascii_digit());
    if number_in_brackets && number && text.matches('d').count() == 1 { vec![plain] } else { Vec::new() }
}

/// The reason why a text of another program is refused, with advice, if the whole text is known.
fn reason(text: &str, unknown: bool) -> Option<(&'static str, &'static str)> {
    let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic() && c != '(');
    if text.contains(")d") || words.any(|word| word.starts_with("d(")) {
        return Some((
            "the number and the faces of dice are written as numbers",
            "write the dice out, such as `2d6`; a card can roll one number and then as many dice",
        ));
    }
    if text.starts_with(['/', '!']) && !text.starts_with("!=") {
        return Some(("commands of another program are not known here", "write the dice alone, such as `2d6+1`"));
    }
    if !unknown {
        return None;
    }
    if has(&["floor", "ceil", "round", "/", "abs(", "trunc"]) {
        return Some(("there is no division, and nothing is rounded", "divide the total afterwards"));
    }
    if has(&["@", "?{", "${", "{{"]) {
        return Some(("the names of another program's values are not known here", "write the number itself"));
    }
    if has(&["loop", ":=", "foreach", "let ", "function", "if ", "?", "d{d", "choose"]) {
        return Some((
            "this is a program, and an expression is a sum",
            "write a sum of dice, such as `2d6+1`, or a card that rolls",
        ));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let times = digits > 0 && text[digits..].trim_start().starts_with(['x', '#', '(', '{']);
    if times || has(&["repeat", "rolls of", ";"]) || !text.contains(['{', '(', '[']) && text.contains(',') {
        return Some(("an expression gives one total", "roll once for each total, or write a sum, such as `2d6+1d8`"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Dice;
    use proptest::prelude::*;

    /// The texts in backticks of a cure.
    fn suggested(cure: &str) -> impl Iterator<Item = &str> {
        cure.split('`').skip(1).step_by(2)
    }

    fn assert_suggestions_are_read(text: &str) {
        if let Err(error) = Dice::parse(text) {
            for suggestion in suggested(&error.cure) {
                assert!(Dice::parse(suggestion).is_ok(), "{text:?}: {error}");
            }
        }
    }

    #[test]
    fn notations_of_other_programs_are_read_or_refused_with_a_correction() {
        let table = include_str!("../../../tests/data/dialects.txt");
        let rows = table.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
        let mut count = 0;
        for row in rows {
            let (text, wanted) = row.split_once('\t').unwrap();
            let found = match Dice::parse(text) {
                Ok(dice) => format!("= {dice}"),
                Err(error) => format!("! {}", error.cure),
            };
            assert_eq!(found, wanted, "{text}");
            assert_suggestions_are_read(text);
            count += 1;
        }
        assert!(count >= 450, "{count}");
    }

    #[test]
    fn texts_meant_as_dice_are_distinguished_from_names() {
        for dice in [
            "dF",
            "4dF",
            "max 2d20",
            "{4d6,3d8}kh1",
            "d",
            "2d",
            "d%x",
            "/r 2d6",
            "[highest of 2d6]",
            "3d6>=4",
            "d{1..4",
            "max(a, b)*2",
        ] {
            assert!(Dice::is_meant(dice), "{dice}");
        }
        for name in ["strike", "deal_damage", "d6_trick", "dfoo", "Deal Damage", "dodge", "2_handed", "adventure"] {
            assert!(!Dice::is_meant(name), "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_suggestion_can_be_read(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "d6", "4d6", "2d20", "dF", "4dF", "d%", "d{1..4}", "d[0,1]", "{", "}", "(", ")", "[", "]", ",", "+", "-", "*",
                    "!", "!!", "!=", "<", ">", "=", ">=", "==", "k", "d", "r", "kh", "kl", "dh", "dl", "ro", "rr", "min", "max",
                    "keep", "drop", "x", "t", "cs", "e", "sa", "f", "p", "adv", "dis", "highest", "of", "and", "count", "damage",
                    "L", "1", "2", "6", "0", "10", " ", " ", ".", ":", "#", "/r", "@", "w6", "f", "keep highest",
                ]),
                1..9,
            )
        ) {
            assert_suggestions_are_read(&words.concat());
        }

        #[test]
        fn every_suggestion_for_any_text_can_be_read(text in "[ 0-9dkhlrofmxintacs!<>=+*()\\[\\]{},.:%#@/-]{0,20}") {
            assert_suggestions_are_read(&text);
        }
    }
}
