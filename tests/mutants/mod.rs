//! Mutants of spec files, each with one wrong expected value. A mutant that survives shows a spec that asserts nothing.

use std::collections::BTreeSet;
use std::ops::Range;

/// A spec file with one changed expected value.
pub struct Mutant {
    /// The line of the value, from 1.
    pub line: usize,
    /// The original value, and the new one.
    pub was: String,
    pub now: String,
    /// The spec that contains it, with the file's helpers; other specs are left out.
    pub text: String,
}

/// Returns all mutants of a spec file.
pub fn mutants(text: &str) -> Vec<Mutant> {
    let chunks = chunks(text);
    let mut found = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        // A helper may be used by every spec; any other statement declares specs.
        let whole = is_helper(&text[chunk.clone()]);
        for (place, now) in wrong_values(&text[chunk.clone()]) {
            let place = chunk.start + place.start..chunk.start + place.end;
            let mut mutated = String::with_capacity(text.len());
            for (other, range) in chunks.iter().enumerate() {
                if other == at {
                    mutated.push_str(&text[range.start..place.start]);
                    mutated.push_str(&now);
                    mutated.push_str(&text[place.end..range.end]);
                } else if whole || is_helper(&text[range.clone()]) {
                    mutated.push_str(&text[range.clone()]);
                } else {
                    mutated.extend(text[range.clone()].chars().filter(|c| *c == '\n'));
                }
            }
            let line = text[..place.start].matches('\n').count() + 1;
            found.push(Mutant { line, was: text[place].to_owned(), now, text: mutated });
        }
    }
    found
}

fn is_helper(chunk: &str) -> bool {
    chunk.trim_start().starts_with("local ") || chunk.trim_start().starts_with("--")
}

/// Splits a file into statements that begin in the first column, with the lines that belong to them.
fn chunks(text: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begins = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if begins && !["end", "then", "else", "do"].iter().any(|word| line.starts_with(word)) && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| start..end).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Name,
    Number,
    Text,
    Symbol,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    place: Range<usize>,
}

fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let kind = if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if text[at..].starts_with("--") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        } else if matches!(byte, b'"' | b'\'' | b'`') {
            at += 1;
            while at < bytes.len() && bytes[at] != byte {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
            Kind::Text
        } else if byte.is_ascii_digit() {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.') {
                at += 1;
            }
            Kind::Number
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            Kind::Name
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            Kind::Symbol
        };
        found.push(Token { kind, place: start..at.min(text.len()) });
    }
    found
}

/// The indices of the arguments with expected values, for each method of specs.
fn expected_arguments(word: &str) -> &'static [usize] {
    match word {
        "expect" | "said" | "over" => &[0],
        "equal" | "rules_refused" | "given_refused" => &[1],
        "happened" | "breach" | "breaches" => &[1, 2],
        "noted" => &[1],
        "greyed" | "refused_because" | "refused_answer" => &[2],
        "refused" => &[3],
        "odds" => &[3, 4],
        _ => &[],
    }
}

/// The expected values of a chunk, each with a wrong one.
fn wrong_values(chunk: &str) -> Vec<(Range<usize>, String)> {
    let tokens = tokens(chunk);
    let word = |at: usize| tokens.get(at).map_or("", |token| &chunk[token.place.clone()]);
    let mut found = Vec::new();
    let mut expected = BTreeSet::new(); // tokens that stand in expected arguments
    for at in 0..tokens.len() {
        if word(at) != "t" || word(at + 1) != ":" || word(at + 3) != "(" {
            continue;
        }
        let method = word(at + 2);
        let wanted = expected_arguments(method);
        let (mut depth, mut calls, mut argument, mut inner) = (0, 0, 0, at + 3);
        while inner < tokens.len() {
            match word(inner) {
                "(" | "{" | "[" => {
                    depth += 1;
                    calls += usize::from(word(inner) == "(" && depth > 1);
                }
                ")" | "}" | "]" => {
                    calls -= usize::from(word(inner) == ")" && calls > 0);
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                "," if depth == 1 => argument += 1,
                _ if wanted.contains(&argument) => {
                    expected.insert(inner);
                    let is_index = word(inner - 1) == "[" && word(inner + 1) == "]";
                    if calls == 0 && !is_index {
                        let wrong = wrong(&tokens[inner], word(inner), method);
                        found.extend(wrong.map(|wrong| (tokens[inner].place.clone(), wrong)));
                    }
                }
                _ => {}
            }
            inner += 1;
        }
    }
    found.extend(wrong_cases(chunk, &tokens, &expected));
    found
}

/// Fields of the cases that only an expectation reads.
fn wrong_cases(chunk: &str, tokens: &[Token], expected: &BTreeSet<usize>) -> Vec<(Range<usize>, String)> {
    let word = |at: usize| tokens.get(at).map_or("", |token| &chunk[token.place.clone()]);
    let (mut read, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    for at in 0..tokens.len() {
        if word(at) == "case" && word(at + 1) == "." {
            let names = if expected.contains(&at) { &mut read } else { &mut elsewhere };
            names.insert(word(at + 2));
        }
    }
    let is_case = |at: usize| tokens[at].kind == Kind::Name && word(at + 1) == "=" && word(at + 2) != "=";
    let begins = (0..tokens.len()).find(|at| word(*at) == "cases").unwrap_or(tokens.len());
    let ends = (begins..tokens.len()).find(|at| word(*at) == "function").unwrap_or(tokens.len());
    let places = (begins..ends).filter(|at| is_case(*at) && read.contains(word(*at)) && !elsewhere.contains(word(*at)));
    let values = places.map(|at| if word(at + 2) == "-" { at + 3 } else { at + 2 });
    let wrong = values.filter_map(|at| Some((tokens.get(at)?.place.clone(), wrong(&tokens[at], word(at), "case")?)));
    wrong.collect()
}

/// A different value; `None` if the token is no value.
fn wrong(token: &Token, text: &str, method: &str) -> Option<String> {
    match (token.kind, text) {
        (Kind::Number, number) => number.parse::<i64>().ok().map(|number| (number + 1).to_string()),
        (Kind::Name, "true") => Some("false".into()),
        (Kind::Name, "false") => Some("true".into()),
        (Kind::Text, "\"unchanged\"" | "\"gone\"") => None,
        (Kind::Text, chance) if method == "odds" && chance.len() < 9 => Some("\"1/97\"".into()),
        (Kind::Text, text) => Some(format!("{0}~{1}", &text[..1], &text[1..])),
        _ => None,
    }
}

#[test]
fn each_expected_value_has_a_mutant() {
    let text = r#"local rb = require("@riskbreaker")
local function given(t)
	t:given({ a = 1 })
end
rb.cases("a {n}", {}, { { n = 1, loss = -2 } }, function(t, case)
	given(t)
	t:play("A", "pull", { risk = case.n })
	t:expect({ A = { at = -case.loss, out = true, ["x y"] = "B" }, C = "unchanged" })
end)
rb.spec("b", {}, function(t)
	t:equal(t:value("A", "at"), { 1 }) -- 7
	t:happened("rolled", { total = 6 }, 2)
end)
"#;
    let found: Vec<String> =
        mutants(text).iter().map(|mutant| format!("{}: {} -> {}", mutant.line, mutant.was, mutant.now)).collect();
    assert_eq!(
        found,
        ["8: true -> false", "8: \"B\" -> \"~B\"", "5: 2 -> 3", "11: 1 -> 2", "12: 6 -> 7", "12: 2 -> 3"]
    );
    let one = &mutants(text)[0].text;
    assert!(one.contains("given(t)") && one.contains("out = false") && !one.contains("\"b\""), "{one}");
    assert_eq!(one.lines().count(), text.lines().count());
}
