//! Finds the block that has no `end`, by the indentation of the lines.

/// A block that is open.
struct OpenBlock {
    indent: usize,
    line: u32,
    word: &'static str,
}

/// Finds the block without an `end`: its line, its word, and the line before which the `end` is missing (`None` for the
/// end of the file). `None` if the indentation does not show it.
///
/// A block has no `end` if a later line is indented no further than the line that opened it.
pub(crate) fn find(text: &str) -> Option<(u32, &'static str, Option<u32>)> {
    let mut open: Vec<OpenBlock> = Vec::new();
    for (at, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let code = code.split("--").next().unwrap_or_default().trim_end();
        if code.is_empty() {
            continue;
        }
        let first = first_word(code);
        let top = open.last();
        match first {
            "end" | "until" => match top {
                Some(top) if top.indent > indent => return Some((top.line, top.word, Some(at))),
                Some(top) if top.indent == indent && (top.word == "repeat") != (first == "until") => {
                    return Some((top.line, top.word, Some(at)));
                }
                Some(top) if top.indent == indent => drop(open.pop()),
                _ => return None,
            },
            "else" | "elseif" => match top {
                Some(top) if top.indent > indent => return Some((top.line, top.word, Some(at))),
                _ => {}
            },
            _ => {
                if let Some(top) = top.filter(|top| top.indent >= indent) {
                    return Some((top.line, top.word, Some(at)));
                }
                if let Some(word) = opener(code, first) {
                    open.push(OpenBlock { indent, line: at, word });
                }
            }
        }
    }
    open.last().map(|top| (top.line, top.word, None))
}

/// Returns the word that opens a block which the line does not close.
fn opener(code: &str, first: &str) -> Option<&'static str> {
    let words = || code.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let closed = words().filter(|word| *word == "end").count();
    let functions = words().filter(|word| *word == "function").count();
    match first {
        "repeat" if closed == 0 => Some("repeat"),
        "if" if code.ends_with("then") && functions == closed => Some("then"),
        "for" | "while" if code.ends_with("do") && functions == closed => Some("do"),
        "do" if code == "do" => Some("do"),
        _ => (functions > closed).then_some("function"),
    }
}

fn first_word(code: &str) -> &str {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_without_an_end_is_named_by_its_indentation() {
        let whole = "local function a()\n\tfor n = 1, 3 do\n\t\tb()\n\tend\n\tif c then\n\t\td()\n\telse\n\t\te()\n\tend\nend\n";
        assert_eq!(find(whole), None);
        let without = |line: usize| {
            let lines: Vec<&str> = whole.lines().enumerate().filter(|(at, _)| at + 1 != line).map(|(_, l)| l).collect();
            find(&lines.join("\n"))
        };
        assert_eq!(without(4), Some((2, "do", Some(4))));
        assert_eq!(without(9), Some((5, "then", Some(9))));
        assert_eq!(without(10), Some((1, "function", None)));
        assert_eq!(find("x(function()\n\ty()\n\nlocal z = 1\n"), Some((1, "function", Some(4))));
        let loops = "repeat\n\ta()\nuntil b\nfor n = 1, 2 do\n\trepeat\n\t\tc()\n\tend\nend\n";
        assert_eq!(find(loops), Some((5, "repeat", Some(7))));
        assert_eq!(find("a = { b = function() return 1 end }\nc()\n"), None);
    }
}
