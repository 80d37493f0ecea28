//! Converts the script engine's errors to faults that a rule author can read.

use mlua::Error;

use super::budget::{HELD, noted_cure};
use super::file_place::FilePlace;
use super::source_span::span_of;
use riskbreaker_play::{Fault, Stop};
use riskbreaker_ruleset::{Cure, Stack, nearest, slips};
use riskbreaker_state::{Kind, Schema};

/// Longest message of a fault, in characters.
const MAX_MESSAGE: usize = 500;
/// The most calls in the chain of a fault.
const MAX_CHAIN: usize = 8;

/// Converts an engine error to a fault. `stop`: the host's refusal. `spent`: the exhausted budget, with its location,
/// and the location to use if neither that nor the error has one.
pub(super) fn fault_of(
    error: &Error,
    stop: Option<&Stop>,
    spent: Option<(&'static str, [Option<FilePlace>; 2])>,
    stack: &Stack,
) -> Fault {
    let (message, trace) = parts(error);
    let is_spent = spent.is_some();
    let mut chain = places(&trace);
    let (own, message) = match place_before(&message) {
        Some((place, rest)) => (Some(place), rest.to_string()),
        None => (None, message),
    };
    let mut fault = Fault::new(explained(tidy(&message)));
    let mut first = own.or_else(|| chain.first().cloned());
    if let Some(Stop::Fault { message, cure, kind, unfit }) = stop {
        fault.message = tidy(message);
        fault.kind = *kind;
        fault.unfit = unfit.clone();
        fault.cure = cure.clone();
        first = chain.first().cloned().or(first);
    }
    if fault.message.is_empty() {
        fault.message = "the script raised an error without a readable message".into();
    }
    if let Some((what, [place, about])) = spent {
        let (message, cure) = match what {
            "memory" => (
                "the script used up its memory",
                "look for a loop that does not end, or a table or text that grows in one",
            ),
            HELD => (
                "the script used up its memory: new entities, changes, rolls, questions and log lines of one action may take \
                 8 MiB, those of `start` 32 MiB",
                "look for a loop that does not end; keep a large map in a list or map field of one entity, or make it \
                 in `start` or in several actions: rb.schedule the next part",
            ),
            "size" => (
                "the script makes a text or table that is too large",
                "a text has at most 256 KiB, and a table as many entries as fit into 4 MiB",
            ),
            "time" => ("the script ran out of time", "look for a loop that does not end"),
            _ => ("the script used up its budget of work", "look for a loop that does not end"),
        };
        (fault.message, fault.cure, fault.fatal) = (message.into(), Some(cure.into()), true);
        first = place.or(first).or(about);
    } else if fault.cure.is_none() {
        fault.cure = noted_cure().or_else(|| cure_for(&fault.message)).map(str::to_owned);
    }
    if let Some(place) = first {
        if chain.first() == Some(&place) {
            chain.remove(0);
        }
        fault.source_line = source_line(stack, &place);
        if !is_spent {
            mark(&mut fault);
        }
        let place = match above(&place, &chain, stack).filter(|_| !is_spent) {
            // A wrong argument given to lower rules fails there; report the line that gives it first.
            Some(at) => {
                let own = chain.drain(..=at).next_back().unwrap_or_else(|| place.clone());
                fault.message = format!("{} (in {}:{})", fault.message, place.path, place.line);
                fault.source_line = source_line(stack, &own);
                (fault.column, fault.length) = (None, 0);
                own
            }
            None => place,
        };
        fault.line = Some(place.line);
        fault.path = Some(place.path);
    }
    fault.chain = chain.into_iter().take(MAX_CHAIN).map(|place| format!("{}:{}", place.path, place.line)).collect();
    fault
}

/// The index in a call chain, innermost first, of the first call in the highest ruleset, if that is above the ruleset
/// of the place.
fn above(place: &FilePlace, chain: &[FilePlace], stack: &Stack) -> Option<usize> {
    let level = |place: &FilePlace| stack.part_of(&place.path).map(|(at, _)| at);
    let highest = chain.iter().filter_map(level).max().filter(|highest| Some(*highest) > level(place))?;
    chain.iter().position(|place| level(place) == Some(highest))
}

/// If an expression is nil because its last name is an unknown field, names the most similar field.
pub(super) fn teach(fault: &mut Fault, schema: &Schema) {
    let Some((nil, _)) = fault.message.strip_prefix('`').and_then(|rest| rest.split_once("` is nil: ")) else { return };
    let plain = |letter: char| letter.is_alphanumeric() || letter == '_';
    let expression = nil.split('(').next().unwrap_or(nil);
    let Some((before, name)) = expression.rsplit_once(['.', ':']).filter(|(_, name)| name.chars().all(plain)) else {
        return;
    };
    let known: Vec<&str> = schema.kinds.iter().flat_map(Kind::members).collect();
    if before == "rb" || known.contains(&name) {
        return;
    }
    if let Some(near) = nearest(name, known.iter().copied()) {
        fault.cure = Some(format!("no kind has a field `{name}`; did you mean `{near}`?"));
    }
}

/// Marks the expression in the source line, and names it if it is nil.
fn mark(fault: &mut Fault) {
    let Some(span) = fault.source_line.as_deref().and_then(|line| span_of(line, &fault.message)) else { return };
    fault.column = Some(span.column);
    fault.length = span.length;
    if let Some(nil) = span.nil {
        fault.message = format!("`{nil}` is nil: {}", fault.message);
        if fault.cure.is_none() {
            fault.cure = Some(format!("is `{nil}` misspelt, or not there yet?"));
        }
    }
}

/// Converts an error in a program that drives games. `name` and `text`: those of the program.
pub(super) fn fault_of_program(error: &Error, spent: Option<&'static str>, name: &str, text: &str) -> Fault {
    let (message, trace) = parts(error);
    let inside = |message: &str| -> Option<u32> {
        let at = message.find(&format!("{name}:"))?;
        leading_line(&message[at + name.len() + 1..]).map(|(line, _)| line)
    };
    let line = inside(&message).or_else(|| trace.lines().find_map(inside));
    let plain = match message.strip_prefix(&format!("{name}:")) {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(':'),
        None => &message,
    };
    let mut fault = Fault::new(tidy(plain));
    if let Some(what) = spent {
        (fault.message, fault.cure) = match what {
            "size" => (
                "the program makes a text or table that is too large".into(),
                Some("a text has at most 256 KiB".into()),
            ),
            _ => (format!("the program used up its {what}"), Some("look for a loop that does not end".into())),
        };
        fault.fatal = true;
    }
    fault.cure = fault.cure.or_else(|| noted_cure().map(str::to_owned));
    fault.path = Some(name.to_string());
    fault.line = line;
    fault.source_line =
        line.and_then(|line| text.lines().nth(line as usize - 1)).map(|line| line.trim_end().to_string());
    if fault.message.starts_with("attempt to call a nil value") {
        fault.message = match fault.source_line.as_deref().map(called).as_deref() {
            Some([only]) => format!("there is no function `{only}`"),
            _ => "something is called here that is no function".into(),
        };
    }
    move_to_rules(&mut fault);
    fault
}

/// Moves a fault of a program to the place in the rules that its message begins with, if there is one. The line of the
/// program becomes the first call of the chain.
fn move_to_rules(fault: &mut Fault) {
    let Some((place, column, rest)) = place_before(&fault.message).map(|(place, rest)| {
        let column = leading_line(rest).and_then(|(column, rest)| Some((column, rest.strip_prefix(':')?.trim_start())));
        (place, column.map(|(column, _)| column), column.map_or(rest, |(_, rest)| rest).to_owned())
    }) else {
        return;
    };
    // A place in the program itself, or in the host, is none in the rules.
    if fault.path.as_deref() == Some(&*place.path) || !place.path.contains('/') {
        return;
    }
    fault.chain.extend(fault.path.iter().zip(fault.line).map(|(path, line)| format!("{path}:{line}")));
    let (message, cure) = meant(rest);
    let cure = cure.map(String::from);
    (fault.message, fault.column, fault.line, fault.source_line) = (message, column, Some(place.line), None);
    fault.path = Some(place.path);
    fault.cure = cure.or(fault.cure.take());
}

/// The undeclared names called in a line of a program.
fn called(line: &str) -> Vec<String> {
    const KNOWN: [&str; 14] = [
        "print", "roll", "start", "tostring", "tonumber", "pairs", "ipairs", "next", "select", "type", "typeof",
        "assert", "error", "unpack",
    ];
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut names: Vec<String> = Vec::new();
    for (at, _) in line.match_indices('(') {
        let before = line[..at].trim_end();
        let start = before.rfind(|letter| !part(letter)).map_or(0, |end| end + 1);
        let name = &before[start..];
        let field = before[..start].ends_with(['.', ':']);
        let plain = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        if plain && !field && !KNOWN.contains(&name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The text of a line in a ruleset's file.
pub(super) fn source_line(stack: &Stack, place: &FilePlace) -> Option<String> {
    stack.line_of(&place.path, place.line).map(|line| line.chars().take(200).collect())
}

/// The message and the trace of an error, across nested calls.
fn parts(error: &Error) -> (String, String) {
    match error {
        Error::CallbackError { traceback, cause } => {
            let (message, inner) = parts(cause);
            (message, if inner.is_empty() { traceback.clone() } else { format!("{inner}\n{traceback}") })
        }
        Error::RuntimeError(message) => match message.split_once("\nstack traceback:") {
            Some((message, trace)) => (message.to_string(), trace.to_string()),
            None => (message.clone(), String::new()),
        },
        Error::SyntaxError { message, .. } => (message.clone(), String::new()),
        Error::BadArgument { to: Some(to), name: Some(name), .. } if name == "self" => {
            let method = to.rsplit('.').next().unwrap_or(to);
            (format!("a dot stands where a colon belongs: write `:{method}(...)`"), String::new())
        }
        other => (other.to_string(), String::new()),
    }
}

/// Splits a message of the form `path:line: rest`. `None` for others.
fn place_before(message: &str) -> Option<(FilePlace, &str)> {
    let (path, line, rest) = place_at(message)?;
    let rest = rest.strip_prefix(':')?;
    (!path.contains(['\n', ' ', '"'])).then(|| (FilePlace { path: path.to_string(), line }, rest.trim_start()))
}

/// Splits a text that begins with the path of a script and a line. `None` for others.
fn place_at(text: &str) -> Option<(&str, u32, &str)> {
    let end = text.find(".lua")?;
    let colon = end + text[end..].find(':')?;
    let (line, rest) = leading_line(&text[colon + 1..])?;
    Some((&text[..colon], line, rest))
}

/// Splits a text that begins with a line number, from 1. `None` for others.
fn leading_line(text: &str) -> Option<(u32, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = text[..text.len() - rest.len()].parse::<u32>().ok().filter(|line| *line > 0)?;
    Some((line, rest))
}

/// The places of a trace in files of a ruleset, innermost first.
fn places(trace: &str) -> Vec<FilePlace> {
    let mut places: Vec<FilePlace> = Vec::new();
    for line in trace.lines() {
        let line = line.trim();
        let line = line.strip_prefix("[string \"").unwrap_or(line);
        let Some((path, line, _)) = place_at(line) else { continue };
        let place = FilePlace { path: path.trim_end_matches("\"]").to_string(), line };
        if places.last() != Some(&place) {
            places.push(place);
        }
    }
    places
}

/// A suggestion for a file that is no valid Luau.
pub fn cure_of_syntax(message: &str) -> Option<&'static str> {
    for (start, cure) in [
        ("Unexpected '!", "not equal is written `~=`, and the opposite of something `not`"),
        ("Unexpected '&&'", "write `and`"),
        ("Unexpected '||'", "write `or`"),
        ("Malformed string", "close the text with the mark that opens it, in the same line"),
        ("Expected ',' after table", "put a comma behind what stands before this place"),
        (
            "Incomplete statement",
            "a line gives a value to a name, `n = 1`, or calls something, `f()`; to add one write `n += 1`; `elif` is written `elseif`; a comment begins with `--`",
        ),
        ("Expected identifier when parsing method name", "in a table a name and its value stand around `=`, not `:`"),
        ("Expected identifier when parsing expression, got 'true'", "is `return` missing before it?"),
        ("Expected identifier when parsing expression, got 'false'", "is `return` missing before it?"),
        ("Expected identifier when parsing expression, got '+'", "adding to a value is written `n += 1`"),
        ("Expected function call arguments", "a colon calls a function: put its values in brackets, `unit:name()`"),
        ("Expected '(' when parsing function", "put its parameters in brackets: `function(ctx)`"),
        ("Ambiguous syntax", "put the bracket into the line before, or a `;` behind that line"),
        ("Malformed number", "write a number as 12 or 0.5, and a text in quotes"),
        (
            "Expected '}' (to close '{'",
            "close the brace that is named, or put a comma, a bracket or a word right before this place",
        ),
        (
            "Expected ')' (to close '('",
            "close the bracket that is named, or put a comma, a bracket or a word right before this place",
        ),
    ] {
        if message.starts_with(start) && !(start.contains("close '('") && message.ends_with("got '='")) {
            return Some(cure);
        }
    }
    if message.starts_with("Expected 'end'") {
        return Some(if message.contains("did you forget to close") {
            "an `end` is missing for the line that is named; `else if` is written `elseif`"
        } else {
            "an `end` is missing for what begins in the line that is named"
        });
    }
    if message.starts_with("Expected 'then'") && !message.ends_with("got '='") {
        return Some("a condition ends with `then`: `if n > 1 then`");
    }
    let (_, got) = message.split_once("got ")?;
    Some(match got.trim_matches('\'') {
        _ if !message.starts_with("Expected") && !message.starts_with("Incomplete") => return None,
        "=" if message.contains("'then'") || message.contains("'do'") => "two values are compared with `==`",
        "=" if message.contains("to close '('") => "names with values stand in a table: `{ name = value }`",
        "!" => "not equal is written `~=`, and the opposite of something `not`",
        "<eof>" => "an `end` or a closing bracket is missing, from the line that is named on",
        _ => "look just before this place: a comma, a bracket or a word such as `then` is missing or too many",
    })
}

/// Splits the error of a script, which is only a text, into the problem and its final question "did you mean".
///
/// The name that is meant cannot travel as data: the host words such an error for the script engine, and a script may catch
/// it, and raise it again or put its own words before it.
pub fn meant(message: String) -> (String, Option<Cure>) {
    let Some((wrong, meant)) = message.rsplit_once("; did you mean") else { return (message, None) };
    let name = meant.strip_prefix(" `").and_then(|meant| meant.strip_suffix("`?"));
    let cure = match name {
        Some(name) => {
            let quoted = wrong.split('`').skip(1).step_by(2);
            let distance = |written: &str| slips(written, name, MOST_SLIPS).map(|slips| (slips, written.to_owned()));
            let written = quoted.filter_map(distance).min().map(|(_, written)| written);
            written.map_or_else(|| format!("did you mean{meant}").into(), |written| Cure::meant(written, name))
        }
        None if meant.ends_with('?') => format!("did you mean{meant}").into(),
        None => return (message, None),
    };
    (wrong.to_owned(), Some(cure))
}

/// The most letters in which a misspelt name differs from the one that is meant.
const MOST_SLIPS: usize = 4;

/// A suggestion for a failed script. The first that fits is used.
fn cure_for(message: &str) -> Option<&'static str> {
    let has = |part: &str| message.contains(part);
    let cures = [
        (
            has("attempt to index nil with 'maneuver'") || has("`rb` is nil"),
            "write `local rb = require(\"@riskbreaker\")` at the top",
        ),
        (
            has("attempt to index nil") || has("attempt to perform arithmetic") && has("nil"),
            "look whether it is there first: `if ... then`, or is it misspelt?",
        ),
        (has("stack overflow"), "look for a function that calls itself, or is called by what it calls, without end"),
        (has("has no option"), "look for a misspelling among what it takes"),
        (has("takes the type of its elements"), "write the type without quotes: rb.text(), rb.int(), rb.ref(\"kind\")"),
        (has("attempt to perform arithmetic"), "calculate with numbers only: a text or an entity is not a number"),
        (
            has("attempt to compare") && has("userdata"),
            "what rb.schedule gives stands for an entry: compare it with `==`, and give it to rb.cancel",
        ),
        (
            message.starts_with("invalid argument #"),
            "give the function what it expects there; tostring(value) makes a text of any value",
        ),
        (has("attempt to compare"), "compare two numbers, or two texts"),
        (has("attempt to concatenate"), "put texts and numbers together only, or fill them in: \"{} falls\""),
        (has("attempt to call a nil value"), "there is no function of that name here: look for a misspelling"),
        (
            has("attempt to call a ") && !has("nil value"),
            "only a function is called by brackets: look for a misspelling, or a missing comma before them",
        ),
    ];
    cure_of_syntax(message).or_else(|| cures.iter().find(|(fits, _)| *fits).map(|(_, cure)| *cure))
}

/// Removes the line of the prelude from a message, which has no meaning for authors.
fn without_host_line(message: &str) -> &str {
    let Some(rest) = message.strip_prefix("host:") else { return message };
    let text = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    text.strip_prefix(": ").filter(|_| text.len() < rest.len()).unwrap_or(message)
}

/// Adds advice to common engine messages. It is part of the message, which may be shown without a suggestion.
fn explained(message: String) -> String {
    if message != "attempt to modify a readonly table" {
        return message;
    }
    format!(
        "{message}: write a field with `entity:set(\"field\", value)`; tables of a ruleset are frozen once it is loaded"
    )
}

/// Reduces a message to one paragraph without addresses and control characters.
fn tidy(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some(at) = rest.find("0x") {
        text.push_str(&rest[..at]);
        rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    text.push_str(rest);
    let told = without_host_line(text.trim_start_matches("runtime error: "));
    let mut letters = told.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut told: String = letters.by_ref().take(MAX_MESSAGE - 3).collect();
    let rest: String = letters.take(4).collect();
    told.push_str(if rest.chars().count() > 3 { "..." } else { rest.as_str() });
    told.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_off_the_front_of_a_message() {
        let (place, rest) = place_before("my-game/lib/a.luau:12: attempt to index nil").unwrap();
        assert_eq!(place, FilePlace { path: "my-game/lib/a.luau".into(), line: 12 });
        assert_eq!(rest, "attempt to index nil");
        assert_eq!(place_before("a sentence about a.luau and more"), None);
        assert_eq!(place_before("my-game/lib/a.luau:0: made up by a script"), None);
    }

    #[test]
    fn a_fault_of_the_rules_is_shown_at_its_line_in_them() {
        let name = "game/specs/a.luau";
        let of = |message: &str| fault_of_program(&Error::RuntimeError(message.into()), None, name, "one\ntwo(1)");
        let fault = of("game/specs/a.luau:2: game/maneuvers/b.luau:11:10: there is no `x`; did you mean `y`?");
        assert_eq!(
            (fault.path.as_deref(), fault.line, fault.column),
            (Some("game/maneuvers/b.luau"), Some(11), Some(10))
        );
        assert_eq!((fault.message.as_str(), fault.cure.as_deref()), ("there is no `x`", Some("did you mean `y`?")));
        assert_eq!(fault.chain, ["game/specs/a.luau:2"]);
        let nil = of("game/specs/a.luau:2: game/verbs.luau:4: `rb.x` is nil: attempt to call a nil value");
        assert_eq!((nil.path.as_deref(), nil.line, nil.column), (Some("game/verbs.luau"), Some(4), None));
        assert_eq!(nil.message, "`rb.x` is nil: attempt to call a nil value");
        let own = of("game/specs/a.luau:2: attempt to call a nil value");
        assert_eq!((own.path.as_deref(), own.line), (Some(name), Some(2)));
        assert_eq!((own.message.as_str(), own.chain.len()), ("there is no function `two`", 0));
    }

    #[test]
    fn addresses_and_control_characters_do_not_reach_a_message() {
        assert_eq!(tidy("table: 0x5581f2a0 \u{1b}[31mred"), "table:   [31mred");
        assert_eq!(tidy("host:183: invalid argument #2"), "invalid argument #2");
        assert_eq!(tidy("host: a word"), "host: a word");
    }
}
