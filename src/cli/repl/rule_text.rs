//! Finding the line of a rule text that says what a word means.

/// The line that begins with `key` - the id of a rule, or a word in backticks - as its text, with cells of a table parted.
pub fn line_of<'t>(texts: impl Iterator<Item = &'t str>, key: &str) -> Option<String> {
    // The topmost ruleset's own text comes last, and goes first.
    let texts: Vec<&str> = texts.collect();
    texts.iter().rev().find_map(|text| text.lines().find_map(|line| told(line, key)))
}

fn told(line: &str, key: &str) -> Option<String> {
    let line = line.trim();
    if let Some(row) = line.strip_prefix('|') {
        let mut cells = row.trim_end_matches('|').split('|').map(str::trim);
        let first = cells.next()?;
        let rest: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        return (names(first, key) && !rest.is_empty()).then(|| rest.join(" · "));
    }
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start();
    let (first, rest) = match item.strip_prefix("**").and_then(|bold| bold.split_once("**")) {
        Some(cut) => cut,
        None => item.split_once(char::is_whitespace)?,
    };
    names(first, key).then(|| rest.trim_start_matches([':', ' ']).to_owned())
}

/// Whether a cell is `key`, or a list with it.
fn names(cell: &str, key: &str) -> bool {
    cell.split(',').any(|part| part.trim().trim_matches(['`', '*', ':']).eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Rules\n\nA-1 is no item.\n- **A-1** Everyone has four stats.\n| A-2, A-3 | the ruling | `x` |\n| `on` | owner | at whom |\n";

    #[test]
    fn items_and_rows_are_found_by_what_they_begin_with() {
        let line = |key: &str| line_of([TEXT].into_iter(), key);
        assert_eq!(line("a-1").as_deref(), Some("Everyone has four stats."));
        assert_eq!(line("A-3").as_deref(), Some("the ruling · `x`"));
        assert_eq!(line("on").as_deref(), Some("owner · at whom"));
        assert_eq!(line("A-4"), None);
        assert_eq!(line("Rules"), None);
    }
}
