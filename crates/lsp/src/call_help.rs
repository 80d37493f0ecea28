use std::ops::Range;

use serde_json::{Value as Json, json};

use super::completion::operand_before;
use super::host_keys::METHODS;
use super::lookup::FileLookup;
use super::target::code;
use super::token::{Token, TokenKind};
use riskbreaker_check::Members;
use riskbreaker_script::api;

/// The signature of a call, for the parameter hint of an editor.
#[derive(Debug, PartialEq)]
struct CallForm {
    /// The whole call: `rb.each(kind, filter)`.
    label: String,
    text: String,
}

/// The signature of the call around a byte of a script, with the active parameter.
pub(super) fn call_help(lookup: &FileLookup<'_>, text: &str, at: usize) -> Option<Json> {
    let tokens: Vec<Token> = code(text).into_iter().take_while(|token| token.begin < at).collect();
    let (open, given) = open_call(text, &tokens)?;
    let form = form_of(lookup, text, &tokens[..open])?;
    let params: Vec<Json> = parameters(&form.label)
        .into_iter()
        .map(|range| {
            let units = |end: usize| form.label[..end].encode_utf16().count();
            json!({ "label": [units(range.start), units(range.end)] })
        })
        .collect();
    // All arguments from `...` on belong to it.
    let active = given.min(params.len().saturating_sub(1));
    let signature = json!({
        "label": form.label,
        "documentation": { "kind": "markdown", "value": form.text },
        "parameters": params,
        "activeParameter": active,
    });
    Some(json!({ "signatures": [signature], "activeSignature": 0, "activeParameter": active }))
}

/// The index of the open bracket of the innermost call at the end of `tokens`, and the number of commas after it.
fn open_call(text: &str, tokens: &[Token]) -> Option<(usize, usize)> {
    let (mut depth, mut commas) = (0usize, 0);
    for (index, token) in tokens.iter().enumerate().rev() {
        match (token.kind, token.text(text)) {
            (TokenKind::Sign, ")" | "]" | "}") => depth += 1,
            (TokenKind::Sign, "(") if depth == 0 => {
                // A bracket after a sign or a keyword only groups.
                let called = index.checked_sub(1).is_some_and(|before| tokens[before].kind == TokenKind::Name);
                if called {
                    return Some((index, commas));
                }
                commas = 0;
            }
            // Commas inside a table or an index are not those of the call.
            (TokenKind::Sign, "{" | "[") if depth == 0 => commas = 0,
            (TokenKind::Sign, "(" | "[" | "{") => depth -= 1,
            (TokenKind::Sign, ",") if depth == 0 => commas += 1,
            // The body of a function argument is outside of the call.
            (TokenKind::Name, "function" | "end" | "then" | "do" | "return") if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The signature of the function that the last of `tokens` names.
fn form_of(lookup: &FileLookup<'_>, text: &str, tokens: &[Token]) -> Option<CallForm> {
    let word = |back: usize| tokens.len().checked_sub(back).map_or("", |at| tokens[at].text(text));
    let name = word(1);
    match (word(5), word(4), word(3), word(2)) {
        ("rb", ".", "act", ".") => {
            let verb = lookup.books().find_map(|book| book.verb(name))?;
            let text = if verb.text.is_empty() { "verb".to_owned() } else { verb.text.clone() };
            Some(CallForm { label: format!("rb.act.{}", verb.signature()), text })
        }
        (_, _, "rb", ".") => {
            let word = api::word(name)?;
            Some(CallForm { label: word.usage.into(), text: word.text.into() })
        }
        (_, _, "t", ":") if lookup.place.inside.starts_with("specs/") => {
            let method = api::spec_method(name)?;
            Some(CallForm { label: method.usage.into(), text: method.text.into() })
        }
        (_, _, _, ":") => {
            let is_it = |(usage, _): &&(&str, &str)| usage["entity:".len()..].split('(').next() == Some(name);
            let (usage, text) = METHODS.iter().find(is_it)?;
            Some(CallForm { label: (*usage).into(), text: (*text).into() })
        }
        (_, _, _, ".") => {
            let Some(Members::Module(members)) = lookup.members_before(text, &tokens[..tokens.len() - 1]) else {
                return None;
            };
            let (_, params) = members.into_iter().find(|(member, _)| member == name)?;
            let of = &text[operand_before(text, &tokens[..tokens.len() - 1])..tokens[tokens.len() - 1].begin];
            Some(CallForm { label: format!("{of}{name}({})", params?.join(", ")), text: String::new() })
        }
        _ => None,
    }
}

/// The byte ranges of the parameters in a signature: the parts between its commas, outside of inner brackets.
fn parameters(label: &str) -> Vec<Range<usize>> {
    let Some(open) = label.find('(') else { return Vec::new() };
    let (mut found, mut depth, mut from) = (Vec::new(), 0, open + 1);
    let mut add = |from: usize, to: usize| {
        let piece = &label[from..to];
        let begin = from + piece.len() - piece.trim_start().len();
        if !piece.trim().is_empty() {
            found.push(begin..begin + piece.trim().len());
        }
    };
    for (at, letter) in label.char_indices().skip_while(|(at, _)| *at <= open) {
        match letter {
            '(' | '{' | '[' => depth += 1,
            ')' if depth == 0 => {
                add(from, at);
                break;
            }
            ')' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                add(from, at);
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_split_into_its_parameters() {
        let named =
            |label: &str| parameters(label).into_iter().map(|range| label[range].to_owned()).collect::<Vec<_>>();
        assert_eq!(named("rb.each(kind, filter?)"), ["kind", "filter?"]);
        assert_eq!(named("rb.verb({ \"a\", \"b\" }, function(a, b) end)"), ["{ \"a\", \"b\" }", "function(a, b) end"]);
        assert_eq!(named("t:dice(...)"), ["..."]);
        assert!(named("t:step()").is_empty() && named("rb").is_empty());
    }

    #[test]
    fn the_innermost_open_call_is_found_with_the_number_of_its_commas() {
        let open = |text: &str| open_call(text, &code(text)).map(|(at, commas)| (code(text)[at - 1].begin, commas));
        assert_eq!(open("f(a, g(b, c), "), Some((0, 2)));
        assert_eq!(open("f(a, g(b, "), Some((5, 1)));
        assert_eq!(open("f(a, { b, c, "), Some((0, 1)));
        assert_eq!(open("f(a, (b + "), Some((0, 1)));
        assert_eq!(open("f(a)"), None);
        assert_eq!(open("f(function() return x "), None);
    }
}
