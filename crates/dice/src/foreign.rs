//! Whole notations of other dice programs with a known meaning, and their translation.

use super::notation::squeezed;

/// A notation of another program.
pub(super) struct Foreign {
    /// The effect in the other program.
    pub message: &'static str,
    /// The text that gives the same distribution here; `None` if there is none.
    pub writes: Option<String>,
    /// Advice if there is no translation.
    pub words: &'static str,
}

const A_CARD: &str = "let a card roll the dice and look at their faces";

/// Recognizes the notation of a text. `None` if it is not known as a whole.
pub(super) fn foreign(text: &str) -> Option<Foreign> {
    let bare = bare(text);
    exploded_sum(text.trim()).or_else(|| {
        let text = squeezed(&bare, "", "")?;
        merged(&text).or_else(|| places(&text)).or_else(|| sum(&text))
    })
}

/// A sum with a term of another program.
fn sum(text: &str) -> Option<Foreign> {
    let mut found: Option<Foreign> = None;
    let mut whole = String::new();
    for (sign, written) in terms(text) {
        whole.push_str(sign);
        match term(written) {
            // A sum behind a minus sign would need brackets.
            Some(Foreign { writes: Some(writes), .. }) if sign == "-" && writes.contains(['+', '-']) => return None,
            Some(Foreign { message, writes: Some(writes), words }) => {
                whole.push_str(&writes);
                found = Some(Foreign { message, writes: None, words });
            }
            Some(refused) => return Some(refused),
            None => whole.push_str(written),
        }
    }
    found.map(|found| Foreign { writes: Some(whole), ..found })
}

/// Translates one term of a sum.
fn term(text: &str) -> Option<Foreign> {
    group(text).or_else(|| listed(text)).or_else(|| pool(text))
}

/// Translates `(d6,d8)kh1`, `(3d4+2d6)kl2`, `{4d6+3d8}kh4`, `{6d6!}>5`, and groups with members in the notation of
/// another program.
fn group(text: &str) -> Option<Foreign> {
    let close = match text.as_bytes().first()? {
        b'(' => ')',
        b'{' => '}',
        _ => return None,
    };
    let (inside, behind) = text[1..].split_once(close)?;
    if inside.contains(['(', '{']) {
        return None;
    }
    if let Some(counted) = counted(inside, behind).filter(|_| close == '}') {
        return Some(counted);
    }
    let (word, number) = behind.split_at_checked(2)?;
    let word = word.to_ascii_lowercase();
    if !matches!(word.as_str(), "kh" | "kl" | "dh" | "dl") || !number.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let number = if number.is_empty() { "1" } else { number };
    let keep = format!("{word}{number}");
    let members = pieces(inside, ',');
    if members.len() > 1 {
        let mut known = close == ')';
        let mut translated = Vec::new();
        for member in members {
            match exploding(member).or_else(|| sum(member).and_then(|found| found.writes)) {
                Some(writes) => {
                    known = true;
                    translated.push(writes);
                }
                None => translated.push(one_less(member).to_owned()),
            }
        }
        return known.then(|| Foreign {
            message: match close {
                ')' => "rolls that are compared stand in braces here",
                _ => "a roll of this group is written otherwise here",
            },
            writes: Some(format!("{{{}}}{keep}", translated.join(","))),
            words: "",
        });
    }
    let pools: Option<Vec<Plain>> = pieces(inside, '+').into_iter().map(Plain::alone).collect();
    let pools = pools.filter(|pools| pools.len() > 1)?;
    Some(Foreign {
        message: "some programs keep single dice of this sum, and others its total",
        writes: Plain::kept(&pools, &keep),
        words: "",
    })
}

/// Translates `{6d6!}>5`: Roll20 counts every die, and its comparisons include the number itself.
fn counted(inside: &str, behind: &str) -> Option<Foreign> {
    let (dice, rest) = Plain::read(inside)?;
    let sign = match behind.as_bytes().first()? {
        b'>' => ">=",
        b'<' => "<=",
        _ => return None,
    };
    let number = number(&behind[1..])?;
    let explodes = match rest {
        "" => String::new(),
        "!" => format!("!{}", dice.faces),
        _ => {
            let (sign, face) = match rest.strip_prefix('!')? {
                rest if rest.starts_with('>') => (">=", &rest[1..]),
                rest if rest.starts_with('<') => ("<=", &rest[1..]),
                rest => ("", rest),
            };
            format!("!{sign}{}", self::number(face)?)
        }
    };
    Some(Foreign {
        message: "the dice of this group are counted, in Roll20 with the number itself",
        writes: Some(format!("{dice}{explodes}{sign}{number}")),
        words: "",
    })
}

/// Translates `1L[2,2,3,5]`, `1L[1[2],3[4]]` of DiceParser.
fn listed(text: &str) -> Option<Foreign> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let list = text[digits..].strip_prefix(['L', 'l'])?.strip_prefix('[')?.strip_suffix(']')?;
    if !list.bytes().all(|c| c.is_ascii_digit() || b",[]-.".contains(&c)) {
        return None;
    }
    let count = if digits == 0 || &text[..digits] == "1" { "" } else { &text[..digits] };
    let writes = if list.contains('[') {
        format!("{count}d{{{}}}", list.replace('[', ":").replace(']', ""))
    } else {
        format!("{count}d[{list}]")
    };
    let message = "a list of faces follows the `d` of a die";
    Some(Foreign { message, writes: Some(writes), words: "list whole numbers, as in `d[0,0,1,1,2,3]`" })
}

/// Translates dice with an operation of another program: `10d10c[>=8]`, `6d10K4`, `2d10ro1ro3`, `6d6even`.
fn pool(text: &str) -> Option<Foreign> {
    let fate = [("even", "=0"), ("odd", "=-1,1")].into_iter().find_map(|(word, faces)| {
        let dice = text.strip_suffix(word)?;
        let count = dice.strip_suffix("dF").or_else(|| dice.strip_suffix("df"))?;
        count.bytes().all(|c| c.is_ascii_digit()).then(|| format!("{count}dF{faces}"))
    });
    if let Some(writes) = fate {
        return Some(Foreign { message: "the faces that count are listed here", writes: Some(writes), words: A_CARD });
    }
    let (dice, rest) = Plain::read(text)?;
    let faces = dice.faces;
    let known = |message, writes: String| Some(Foreign { message, writes: Some(writes), words: A_CARD });
    // A capital letter has its own meaning only if the dice are written in lower case.
    let capitals = !text.contains('D');
    if let Some(number) = rest.strip_prefix('K').filter(|_| capitals).and_then(number) {
        return known("`K` of DiceParser explodes the dice and keeps the highest", format!("{dice}!kh{number}"));
    }
    let small = rest.to_ascii_lowercase();
    if let Some((operation, condition)) = rest.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
        let condition = bracketed(condition, faces);
        let word = match operation {
            "c" => "",
            "r" => "ro",
            "R" if capitals => "rr",
            "R" => "ro",
            "e" => "!",
            _ => return None,
        };
        let writes = match condition? {
            condition if word.is_empty() && !condition.starts_with(['<', '>']) => format!("{dice}={condition}"),
            condition => format!("{dice}{word}{condition}"),
        };
        return known("conditions are written without brackets here", writes);
    }
    if matches!(small.as_str(), "t" | "cs" | "succ" | "success" | "successes" | "hit" | "hits" | "count" | "target") {
        return Some(Foreign {
            message: match small.as_str() {
                "t" => "`t` of DiceParser explodes dice that show the same, and other programs count with it",
                _ => "it does not say which faces count",
            },
            writes: None,
            words: "count the dice that fit, as in `10d10>=8`",
        });
    }
    if let Some((face, keep)) = small.strip_prefix('e').and_then(|rest| rest.split_once('k')) {
        let (face, keep) = (number(face)?, number(keep)?);
        let explodes = if face == faces { "!".to_owned() } else { format!("!{face}") };
        return known("`e` of DiceParser explodes, and its `k` keeps the highest", format!("{dice}{explodes}kh{keep}"));
    }
    if let Some(most) = small.strip_prefix("ir").and_then(number) {
        let message = "`ir` of Dice Maiden rolls again as long as the die shows the number or less";
        return known(message, format!("{dice}rr<={most}"));
    }
    let parity = match small.as_str() {
        "even" => Some(0),
        "odd" => Some(1),
        _ => None,
    };
    if let Some(parity) = parity {
        let fit: Vec<String> = (1..=faces.min(101)).filter(|face| face % 2 == parity).map(|n| n.to_string()).collect();
        let writes = (faces <= 100).then(|| format!("{dice}={}", fit.join(",")));
        return Some(Foreign { message: "the faces that count are listed here", writes, words: A_CARD });
    }
    if let Some(margin) = small.strip_prefix("ms") {
        let target = number(margin.strip_prefix(">=").or_else(|| margin.strip_prefix('>'))?)?;
        return known("a margin is the total less the number", format!("{dice}-{target}"));
    }
    if let Some(failures) = small.strip_prefix("cf").filter(|rest| rest.starts_with(['<', '>', '='])) {
        return known("`cf` of Foundry counts the dice that fit", format!("{dice}{failures}"));
    }
    if let Some(other) = small.strip_prefix("<>").and_then(number) {
        let others = match other {
            1 => ">1".to_owned(),
            other if other == faces => format!("<{other}"),
            other => format!("<{other},>{other}"),
        };
        return known("`<>` counts the dice that do not show the number", format!("{dice}{others}"));
    }
    rerolled(&dice, &small)
}

/// Translates repeated rerolls of faces: `2d10ro1ro3`. A bare `r` written twice is that of Roll20.
fn rerolled(dice: &Plain, rest: &str) -> Option<Foreign> {
    let word = ["ro", "rr", "r"].into_iter().find(|word| rest.starts_with(word))?;
    let mut conditions = Vec::new();
    let mut rest = rest;
    while let Some(next) = rest.strip_prefix(word).filter(|next| !next.starts_with(['o', 'r'])) {
        let length = next.bytes().take_while(|c| c.is_ascii_digit() || b"<>=,".contains(c)).count();
        let (condition, behind) = next.split_at(length);
        let condition = condition.strip_prefix('=').unwrap_or(condition);
        // Roll20's `<3` includes the 3.
        if condition.is_empty() || word == "r" && condition.contains(['<', '>']) {
            return None;
        }
        conditions.push(condition);
        rest = behind;
    }
    let kept = rest.is_empty() || ["kh", "kl", "dh", "dl"].iter().any(|keep| rest.starts_with(keep));
    let (message, word) = match word {
        "r" => ("`r` written twice is that of Roll20, which rolls again as long as a die shows such a face", "rr"),
        word => ("the faces to roll again are listed with commas", word),
    };
    (conditions.len() > 1 && kept).then(|| Foreign {
        message,
        writes: Some(format!("{dice}{word}{}{rest}", conditions.join(","))),
        words: "list the faces with commas, as in `2d10ro1,3`",
    })
}

/// Translates `[explode 2d6]` of AnyDice: the sum explodes, and only on its highest total.
fn exploded_sum(text: &str) -> Option<Foreign> {
    let plain: String = text.chars().map(|c| if matches!(c, '[' | ']') { ' ' } else { c }).collect();
    let plain = plain.to_ascii_lowercase();
    let words: Vec<&str> = plain.split_ascii_whitespace().filter(|word| *word != "output").collect();
    let ["explode", dice] = words.as_slice() else { return None };
    let dice = Plain::alone(dice)?;
    if dice.count == 1 {
        let writes = Some(format!("{}!", one_less(&dice.to_string())));
        let message = "`explode` of AnyDice ends after two more dice, and `!` continues";
        return Some(Foreign { message, writes, words: A_CARD });
    }
    let message = "AnyDice explodes the sum of these dice, and only on its highest total";
    Some(Foreign { message, writes: None, words: "let a card roll again after the highest total" })
}

/// Translates `{1,2}@4d6` of AnyDice: the sum of the dice at these ranks, the highest die first.
fn places(text: &str) -> Option<Foreign> {
    let (list, dice) = text.split_once('@')?;
    let (dice, behind) = Plain::read(dice)?;
    if !(behind.is_empty() || behind.starts_with(['+', '-'])) {
        return None;
    }
    let list = list.strip_prefix('{').and_then(|list| list.strip_suffix('}')).unwrap_or(list);
    let mut places = Vec::new();
    for place in list.split(',') {
        match place.split_once("..") {
            Some((low, high)) => places.extend(number(low)?..=number(high)?.min(dice.count.saturating_add(1))),
            None => places.push(number(place)?),
        }
    }
    places.sort_unstable();
    let many = places.len() as u32;
    let gaps = places.windows(2).any(|pair| pair[0] + 1 != pair[1]);
    let keep = match (places.first()?, places.last()?) {
        _ if gaps => None,
        (1, _) => Some("kh"),
        (_, last) if *last == dice.count => Some("kl"),
        _ => None,
    };
    Some(Foreign {
        message: "`@` of AnyDice adds dice by their place, the highest first",
        writes: keep.map(|keep| format!("{dice}{keep}{many}{behind}")),
        words: A_CARD,
    })
}

/// Translates `1d6;1d8mk1` of DiceParser: the dice of all rolls are merged, and the highest kept.
fn merged(text: &str) -> Option<Foreign> {
    let (rolls, keep) = text.split_once("mk")?;
    let pools: Option<Vec<Plain>> = rolls.split(';').map(Plain::alone).collect();
    let pools = pools.filter(|pools| pools.len() > 1)?;
    let writes = Plain::kept(&pools, &format!("kh{}", number(keep)?));
    Some(Foreign {
        message: "`m` of DiceParser merges rolls, and its `k` keeps the highest dice",
        writes,
        words: A_CARD,
    })
}

/// Translates `1d8x`: the exploding dice of Foundry.
fn exploding(text: &str) -> Option<String> {
    let (dice, rest) = Plain::read(text)?;
    rest.eq_ignore_ascii_case("x").then(|| one_less(&format!("{dice}!")).to_owned())
}

/// Shortens `1d6` to `d6`.
fn one_less(dice: &str) -> &str {
    dice.strip_prefix('1').filter(|rest| rest.starts_with('d')).unwrap_or(dice)
}

/// Converts a condition of DiceParser without its brackets: `>=8`, `8..10`, `6`.
fn bracketed(text: &str, faces: u32) -> Option<String> {
    if let Some((low, high)) = text.split_once("..") {
        let (low, high) = (number(low)?, number(high)?);
        return match (low, high) {
            (low, high) if low > high || high > faces => None,
            (low, high) if high == faces => Some(format!(">={low}")),
            (1, high) => Some(format!("<={high}")),
            (low, high) if high - low < 100 => {
                Some((low..=high).map(|face| face.to_string()).collect::<Vec<_>>().join(","))
            }
            _ => None,
        };
    }
    let sign = text.bytes().take_while(|c| b"<>=".contains(c)).count();
    let (sign, face) = text.split_at(sign);
    let face = number(face)?;
    match sign {
        "" | "=" | "==" => Some(face.to_string()),
        "<" | ">" | "<=" | ">=" => Some(format!("{sign}{face}")),
        _ => None,
    }
}

/// Parses a text that is a number of at most six digits.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|c| c.is_ascii_digit()) && (1..=6).contains(&text.len());
    digits.then(|| text.parse().ok()).flatten()
}

/// Splits a text at a character, outside brackets.
fn pieces(text: &str, between: char) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && c == between
    })
    .collect()
}

/// Splits a sum into its terms, each with the sign before it.
fn terms(text: &str) -> Vec<(&str, &str)> {
    let mut terms = Vec::new();
    let (mut depth, mut start, mut sign) = (0, 0, "");
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '+' | '-' if depth == 0 => {
                if at > 0 {
                    terms.push((sign, &text[start..at]));
                }
                (start, sign) = (at + 1, &text[at..=at]);
            }
            _ => {}
        }
    }
    terms.push((sign, &text[start..]));
    terms
}

/// Dice without operations, `4d6`.
struct Plain {
    count: u32,
    faces: u32,
    /// The number of dice and faces as written.
    written: String,
}

impl Plain {
    /// Parses the dice at the beginning of a text; returns the rest as well.
    fn read(text: &str) -> Option<(Plain, &str)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let count = if digits == 0 { 1 } else { number(&text[..digits])? };
        let rest = text[digits..].strip_prefix(['d', 'D'])?;
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (faces, rest) = match rest.strip_prefix('%') {
            Some(rest) => (100, rest),
            None => (number(&rest[..length])?, &rest[length..]),
        };
        let written = text[..text.len() - rest.len()].to_ascii_lowercase();
        Some((Plain { count, faces, written }, rest))
    }

    /// Parses a text that contains only dice.
    fn alone(text: &str) -> Option<Plain> {
        Plain::read(text).filter(|(_, rest)| rest.is_empty()).map(|(dice, _)| dice)
    }

    /// Writes the expression that keeps some of the dice of several pools.
    fn kept(pools: &[Plain], keep: &str) -> Option<String> {
        let count: u64 = pools.iter().map(|pool| u64::from(pool.count)).sum();
        let faces = pools.first()?.faces;
        if pools.iter().all(|pool| pool.faces == faces) {
            return Some(format!("{count}d{faces}{keep}"));
        }
        if count > 20 {
            return None;
        }
        let dice = pools.iter().flat_map(|pool| (0..pool.count).map(|_| format!("d{}", pool.faces)));
        Some(format!("{{{}}}{keep}", dice.collect::<Vec<_>>().join(",")))
    }
}

impl std::fmt::Display for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written)
    }
}

/// The text without the command, the comment and the label of other programs.
pub(super) fn bare(text: &str) -> String {
    let mut text = text.trim();
    for command in ["/roll", "/r ", "/gmroll", "/gr ", "!roll", "!r ", "roll ", "output ", "throw ", "sum "] {
        text = text.strip_prefix(command).unwrap_or(text).trim();
    }
    text = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]")).unwrap_or(text).trim();
    text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text).trim();
    text = text.strip_prefix("sum(").and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
    text = text.trim_matches(|c: char| matches!(c, '"' | '\'' | ';')).trim();
    for mark in ["#", "\\", "//"] {
        text = text.split(mark).next().filter(|text| text.contains('d')).unwrap_or(text).trim();
    }
    // `2d6[fire]` is labelled.
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        match after.split_once(']') {
            Some((label, behind)) if label.chars().any(char::is_alphabetic) && !before.ends_with('d') => {
                bare += before;
                rest = behind;
            }
            _ => break,
        }
    }
    bare += rest;
    bare.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Dice, float};
    use proptest::prelude::*;

    type Chances = BTreeMap<i64, f64>;

    /// Chances of one die, followed through explosions until they are rare. `again`: faces that are rerolled; true:
    /// without limit, false: once.
    fn die(faces: i64, explodes: impl Fn(i64) -> bool, again: Option<(&dyn Fn(i64) -> bool, bool)>) -> Chances {
        let even = 1.0 / faces as f64;
        let mut first: Chances = (1..=faces).map(|face| (face, even)).collect();
        if let Some((again, long)) = again {
            let taken: f64 = first.iter().filter(|(face, _)| again(**face)).map(|(_, chance)| chance).sum();
            for (face, chance) in &mut first {
                *chance = match (long, again(*face)) {
                    (true, true) => 0.0,
                    (true, false) => *chance / (1.0 - taken),
                    (false, true) => taken * even,
                    (false, false) => *chance + taken * even,
                };
            }
        }
        let (mut done, mut open) = (Chances::new(), Chances::from([(0, 1.0)]));
        while open.values().sum::<f64>() > 1e-7 {
            let mut next = Chances::new();
            for (total, chance) in &open {
                for (face, one) in &first {
                    let into = if explodes(*face) { &mut next } else { &mut done };
                    *into.entry(total + face).or_default() += chance * one;
                }
            }
            open = next;
        }
        done
    }

    /// The chances of the result of `of` on the faces of dice, in rising order.
    fn rolled(dice: &[Chances], of: impl Fn(&[i64]) -> i64) -> Chances {
        let mut all = vec![(Vec::new(), 1.0)];
        for die in dice {
            let more = |(faces, chance): &(Vec<i64>, f64)| {
                let (faces, chance) = (faces.clone(), *chance);
                let added = die.iter().map(move |(face, one)| ([&faces[..], &[*face]].concat(), chance * one));
                added.collect::<Vec<_>>()
            };
            all = all.iter().flat_map(more).collect();
        }
        let mut chances = Chances::new();
        for (mut faces, chance) in all {
            faces.sort_unstable();
            *chances.entry(of(&faces)).or_default() += chance;
        }
        chances
    }

    /// Checks that the one suggestion for a text has these chances.
    fn assert_means(text: &str, wanted: &Chances) {
        let error = Dice::parse(text).expect_err(text);
        let suggested: Vec<&str> = error.cure.split('`').skip(1).step_by(2).collect();
        let [suggested] = suggested.as_slice() else { panic!("{text}: {error}") };
        let found = Dice::parse(suggested).unwrap().distribution().unwrap();
        for total in found.totals().chain(wanted.keys().copied()) {
            let (found, wanted) = (float(&found.chance(total)), wanted.get(&total).copied().unwrap_or_default());
            assert!((found - wanted).abs() < 1e-5, "{text}: {suggested}: {total}: {found} and not {wanted}");
        }
    }

    fn plain(faces: i64) -> Chances {
        die(faces, |_| false, None)
    }

    fn highest(many: usize) -> impl Fn(&[i64]) -> i64 {
        move |faces| faces.iter().rev().take(many).sum()
    }

    fn lowest(many: usize) -> impl Fn(&[i64]) -> i64 {
        move |faces| faces.iter().take(many).sum()
    }

    fn total(faces: &[i64]) -> i64 {
        faces.iter().sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_translation_has_the_chances_of_what_was_written(
            (n, faces, face, other, many) in (1usize..=3, 3i64..=8)
                .prop_flat_map(|(n, faces)| (Just(n), Just(faces), 1..=faces, 2i64..=8, 1..=n))
        ) {
            let dice = vec![plain(faces); n];
            let count = |fits: &dyn Fn(i64) -> bool| {
                rolled(&dice, |faces| faces.iter().filter(|face| fits(**face)).count() as i64)
            };
            let again = |fits: &dyn Fn(i64) -> bool, long| {
                rolled(&vec![die(faces, |_| false, Some((fits, long))); n], total)
            };
            let same = |shown: i64| shown == face;
            assert_means(&format!("{n}d{faces}c[>={face}]"), &count(&|shown| shown >= face));
            assert_means(&format!("{n}d{faces}c[{face}..{faces}]"), &count(&|shown| shown >= face));
            assert_means(&format!("{n}d{faces}c[1..{face}]"), &count(&|shown| shown <= face));
            assert_means(&format!("{n}d{faces}<>{face}"), &count(&|shown| shown != face));
            assert_means(&format!("{n}d{faces}even"), &count(&|shown| shown % 2 == 0));
            assert_means(&format!("{n}d{faces}odd"), &count(&|shown| shown % 2 == 1));
            assert_means(&format!("{n}d{faces}cf<={face}"), &count(&|shown| shown <= face));
            assert_means(&format!("{n}d{faces}r[={face}]"), &again(&same, false));
            assert_means(&format!("{n}d{faces}R[={face}]"), &again(&same, true));
            let two = |shown: i64| shown == face || shown == faces;
            assert_means(&format!("{n}d{faces}ro{face}ro{faces}"), &again(&two, false));
            assert_means(&format!("{n}d{faces}r{face}r{faces}"), &again(&two, true));
            if face < faces {
                assert_means(&format!("{n}d{faces} ir{face}"), &again(&|shown| shown <= face, true));
            }
            let margin = rolled(&dice, |faces| total(faces) - other);
            assert_means(&format!("{n}d{faces}ms>{other}"), &margin);
            let ranked: Vec<String> = (1..=many).map(|place| place.to_string()).collect();
            assert_means(&format!("{{{}}}@{n}d{faces}", ranked.join(",")), &rolled(&dice, highest(many)));
            let list: Vec<String> = (1..=faces).map(|_| other.to_string()).chain([face.to_string()]).collect();
            let listed = Chances::from([(other, faces as f64), (face, 1.0)]);
            if face != other {
                let listed = listed.into_iter().map(|(face, ways)| (face, ways / (faces + 1) as f64)).collect();
                assert_means(&format!("1L[{}]", list.join(",")), &listed);
                assert_means(&format!("1L[{other}[{faces}],{face}[1]]"), &listed);
            }
            let mut mixed = dice.clone();
            mixed.push(plain(other));
            assert_means(&format!("({n}d{faces}+1d{other})kh{many}"), &rolled(&mixed, highest(many)));
            assert_means(&format!("({n}d{faces}+1d{other})kl{many}"), &rolled(&mixed, lowest(many)));
            assert_means(&format!("{{{n}d{faces}+1d{other}}}kh{many}"), &rolled(&mixed, highest(many)));
            assert_means(&format!("{n}d{faces};1d{other}mk{many}"), &rolled(&mixed, highest(many)));
            assert_means(&format!("(1d{faces},1d{other})kh1"), &rolled(&[plain(faces), plain(other)], highest(1)));
        }

        #[test]
        fn a_translation_of_exploding_dice_has_the_chances_of_what_was_written(
            (n, faces, face, many) in (1usize..=2, 4i64..=8)
                .prop_flat_map(|(n, faces)| (Just(n), Just(faces), 2..=faces, 1..=n))
        ) {
            let highest_explodes = vec![die(faces, |shown| shown == faces, None); n];
            assert_means(&format!("{n}d{faces}K{many}"), &rolled(&highest_explodes, highest(many)));
            let one = vec![die(faces, |shown| shown == face, None); n];
            assert_means(&format!("{n}d{faces}e{face}k{many}"), &rolled(&one, highest(many)));
            let above = vec![die(faces, |shown| shown >= face, None); n];
            assert_means(&format!("{n}d{faces}e[>={face}]"), &rolled(&above, total));
            let both = [die(faces, |shown| shown == faces, None), die(4, |shown| shown == 4, None)];
            assert_means(&format!("{{1d{faces}x,1d4x}}kh"), &rolled(&both, highest(1)));
            // In a chain every die but the last shows the highest face, and counts.
            let counted = |total: &i64| total / faces + i64::from(total % faces >= face);
            let chain: Chances = die(faces, |shown| shown == faces, None).iter().fold(Chances::new(), |mut sum, (total, chance)| {
                *sum.entry(counted(total)).or_default() += chance;
                sum
            });
            assert_means(&format!("{{{n}d{faces}!}}>{face}"), &rolled(&vec![chain; n], total));
            let fate = rolled(&vec![plain(3); n], |faces| faces.iter().filter(|face| **face == 2).count() as i64);
            assert_means(&format!("{n}dFeven"), &fate);
        }
    }

    #[test]
    fn notation_without_an_equivalent_has_no_suggestion() {
        for text in
            ["[explode 2d6]", "output [explode 3d8]", "2d6t", "5d6 count", "{1,3}@4d6", "2@3d20", "3d10K4", "4d6a[=6]"]
        {
            let error = Dice::parse(text).unwrap_err();
            let example = error.cure.contains("as in");
            assert!(example || !error.cure.starts_with("write `"), "{text}: {error}");
        }
    }
}
