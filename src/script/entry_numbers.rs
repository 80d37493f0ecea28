use crate::ruleset::Stack;

/// What makes an entry of the agenda, and gives back its number.
const MAKERS: [&str; 2] = ["schedule", "recur"];

/// Whether a script may keep or compare the numbers of the entries that it makes. Where each call that makes one is a statement
/// of its own, none can.
pub(super) fn are_seen(stack: &Stack) -> bool {
    stack.scripts().any(|(_, path, source)| !path.starts_with("specs/") && may_see(&source.text))
}

fn may_see(text: &str) -> bool {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("--")).flat_map(|line| [line, "\n"]).collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let whole = |at: usize, word: &str| !code[..at].ends_with(is_name) && !code[at + word.len()..].starts_with(is_name);
    let places = |word: &'static str| code.match_indices(word).map(|(at, _)| at).filter(move |at| whole(*at, word));
    let stands_alone = |at: usize, word: &str| {
        let called = code[at + word.len()..].starts_with('(');
        called && code[..at].strip_suffix("rb.").is_some_and(|before| begins_statement(before.trim_end()))
    };
    code.contains("rb[") || MAKERS.iter().any(|word| places(word).any(|at| !stands_alone(at, word)))
}

/// Whether a statement can begin behind this code; what goes on with an expression does not end so.
fn begins_statement(before: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match before.chars().last() {
        None | Some(')' | ']' | '}' | '"' | '\'' | '`' | ';') => true,
        Some(last) if is_name(last) => {
            let word = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
            !matches!(word, "return" | "and" | "or" | "not" | "in" | "if" | "elseif" | "while" | "until")
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_seen_where_a_call_is_not_a_statement() {
        for alone in [
            "rb.schedule(\"turn\", 1)",
            "if x then\n\trb.schedule(\"turn\", 1)\nend",
            "f()\nrb.recur(\"turn\", 1, 1)",
            "-- rb.schedule gives the number\nlocal function schedule_turn() end",
        ] {
            assert!(!may_see(alone), "{alone}");
        }
        for seen in [
            "local id = rb.schedule(\"turn\", 1)",
            "local id =\n\trb.schedule(\"turn\", 1)",
            "return rb.schedule(\"turn\", 1)",
            "f(1, rb.recur(\"turn\", 1, 1))",
            "local make = rb.schedule\n",
            "local make = rb[\"sche\" .. \"dule\"]",
            "local host = rb\nhost.schedule(\"turn\", 1)",
        ] {
            assert!(may_see(seen), "{seen}");
        }
    }
}
