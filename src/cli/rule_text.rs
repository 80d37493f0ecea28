//! Parses rule texts: their items and table rows, and the line about a word.

use std::borrow::Cow;

/// The blocks of a rule text, each joined to one line: headings, items, table rows and paragraphs.
pub fn paragraphs(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // Whether a plain line continues the last block.
    let mut goes_on = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if goes_on
            && !trimmed.is_empty()
            && !begins_anew(trimmed)
            && let Some(last) = found.last_mut()
        {
            last.push(' ');
            last.push_str(trimmed);
            continue;
        }
        goes_on = !trimmed.is_empty() && !trimmed.starts_with(['#', '|']);
        found.push(line.to_owned());
    }
    found
}

/// True if a line begins a new block: an item, a table row, a heading or a code fence.
fn begins_anew(line: &str) -> bool {
    let item = line.strip_prefix(['-', '*', '+']).is_some_and(|rest| rest.starts_with(' '));
    item || line.starts_with(['#', '|', '`'])
}

/// Finds the line that begins with `key`, a rule id or a word in backquotes, and returns its text. In a table row, each
/// cell is preceded by the heading of its column: `seat: owner · what is asked: which weapon`.
pub fn line_of<'t>(texts: impl Iterator<Item = &'t str>, key: &str) -> Option<String> {
    let cells = cells_of(texts, key)?;
    let told = cells.into_iter().map(|(head, cell)| if head.is_empty() { cell } else { format!("{head}: {cell}") });
    Some(told.collect::<Vec<_>>().join(" · "))
}

/// Like [`line_of`], as cells with the headings of their columns. A heading is empty outside of tables and for the only
/// cell of a row.
pub fn cells_of<'t>(texts: impl Iterator<Item = &'t str>, key: &str) -> Option<Cells> {
    // The text of the topmost ruleset is last in the list, and is searched first.
    let texts: Vec<&str> = texts.collect();
    best(texts.iter().rev().flat_map(|text| rows_of(text)).filter(|row| names(&row.key, key)))
}

/// The cells of a line with the headings of their columns.
pub type Cells = Vec<(String, String)>;

/// A line that begins with a word or an id, or a list of them.
#[derive(Clone)]
struct KeyedLine {
    /// The heading of its first column; empty outside of a table.
    column: String,
    key: String,
    cells: Cells,
}

/// The first row; but if a word is in several tables, the row in the table of questions.
fn best(mut rows: impl Iterator<Item = KeyedLine>) -> Option<Cells> {
    let first = rows.next()?;
    let asks = |row: &KeyedLine| row.column == "topic";
    let asked = if asks(&first) { None } else { rows.find(asks) };
    Some(asked.unwrap_or(first).cells)
}

/// The lines of a text that begin with a word or an id.
fn rows_of(text: &str) -> Vec<KeyedLine> {
    let lines = paragraphs(text);
    let below = lines.iter().skip(1).map(String::as_str).chain([""]);
    let (mut head, mut found) = ("", Vec::new());
    for (line, below) in lines.iter().zip(below) {
        if !line.trim_start().starts_with('|') {
            head = "";
        } else if is_rule_of_table(below) {
            // This is the heading of a table.
            head = line;
            continue;
        }
        let column = head.trim().trim_matches('|').split('|').next().unwrap_or_default().trim().to_owned();
        found.extend(told(line, head).map(|(key, cells)| KeyedLine { column, key, cells }));
    }
    found
}

/// True for the line between the heading and the rows of a table.
fn is_rule_of_table(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|letter| "|-: ".contains(letter))
}

/// Splits a line into its key and the cells after it.
fn told(line: &str, head: &str) -> Option<(String, Cells)> {
    let line = line.trim();
    if line.starts_with('|') {
        let cells = |row: &str| -> Vec<String> {
            row.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let mut heads = cells(head);
        heads.resize(cells(line).len(), String::new());
        let mut row = heads.into_iter().zip(cells(line));
        let (_, first) = row.next()?;
        let mut rest: Cells = row.filter(|(_, cell)| !cell.is_empty()).collect();
        if let [(head, _)] = rest.as_mut_slice() {
            head.clear();
        }
        return (!rest.is_empty()).then_some((first, rest));
    }
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start();
    let (first, rest) = match item.strip_prefix("**").and_then(|bold| bold.split_once("**")) {
        Some(cut) => cut,
        None => item.split_once(char::is_whitespace)?,
    };
    Some((first.to_owned(), vec![(String::new(), rest.trim_start_matches([':', ' ']).to_owned())]))
}

/// True if a cell is `key`, or a list that contains it.
fn names(cell: &str, key: &str) -> bool {
    cell.split(',').any(|part| plain(part).eq_ignore_ascii_case(key))
}

/// Removes the Markdown marks of a word or an id.
fn plain(part: &str) -> &str {
    part.trim().trim_matches(['`', '*', ':'])
}

/// Removes rule ids in brackets from a text: `no enemy is in reach (CON-040)` loses the brackets, too.
pub fn without_ids(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let Some((inside, behind)) = after.split_once(')') else { break };
        if inside.contains('(') {
            kept.push_str(before);
            kept.push('(');
            rest = after;
            continue;
        }
        let parts: Vec<&str> = inside.split([',', ';']).map(str::trim).collect();
        let left: Vec<&str> = parts.iter().filter(|part| !names_rules(part)).copied().collect();
        match left.len() {
            0 => kept.push_str(before.trim_end_matches(' ')),
            count if count == parts.len() => kept.push_str(&format!("{before}({inside})")),
            _ => kept.push_str(&format!("{before}({})", left.join(", "))),
        }
        rest = behind;
    }
    if rest.len() == text.len() { Cow::Borrowed(text) } else { Cow::Owned(kept + rest) }
}

/// True if a text consists of rule ids only: `RB1-029`, `RB1-A-12 to RB1-A-15`.
fn names_rules(text: &str) -> bool {
    let is_id = |word: &str| {
        let (first, rest) = word.split_once('-').unwrap_or((word, ""));
        let capital = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        first.starts_with(|letter: char| letter.is_ascii_uppercase())
            && first.chars().all(capital)
            && rest.chars().all(|letter| capital(letter) || letter == '-')
            && rest.ends_with(|letter: char| letter.is_ascii_digit())
    };
    let mut words = text.split_whitespace().filter(|word| !matches!(*word, "to" | "and" | "or")).peekable();
    words.peek().is_some() && words.all(is_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_rules_are_left_out_and_other_words_in_brackets_stay() {
        let without = |text| without_ids(text).into_owned();
        assert_eq!(without("no enemy is in reach (CON-040)"), "no enemy is in reach");
        assert_eq!(without("declare Fighter (Sword)? (RB1-029, RB1-A-12 to RB1-A-15)"), "declare Fighter (Sword)?");
        assert_eq!(without("(Nerve 4 + margin (RB1-072) 2)"), "(Nerve 4 + margin 2)");
        assert_eq!(without("at most 3 (per target, RBF-R-5) here"), "at most 3 (per target) here");
        for text in ["Ann (#2)", "Charm (lantern)", "a (b", "T-shirt (x-1)", "(2d6-1)"] {
            assert_eq!(without(text), text);
        }
    }

    const TEXT: &str = "# Rules\n\nA-1 is no item.\n- **A-1** Everyone has four stats.\n| A-2, A-3 | the ruling | `x` |\n| `on` | owner | at whom |\n\n\
                        | to | reads |\n|---|:--|\n| `to` | where to |\n";

    #[test]
    fn an_item_includes_its_wrapped_lines() {
        let text = "# Rules\n- **A-1** Everyone has\n  four stats.\n- **A-2** Next.\n\nAside.\n| A-3 | x |\nno row\n";
        assert_eq!(line_of([text].into_iter(), "A-1").as_deref(), Some("Everyone has four stats."));
        assert_eq!(line_of([text].into_iter(), "A-2").as_deref(), Some("Next."));
        assert_eq!(line_of([text].into_iter(), "A-3").as_deref(), Some("x"));
    }

    #[test]
    fn items_and_rows_are_found_by_their_beginning() {
        let line = |key: &str| line_of([TEXT].into_iter(), key);
        assert_eq!(line("a-1").as_deref(), Some("Everyone has four stats."));
        assert_eq!(line("A-3").as_deref(), Some("the ruling · `x`"));
        assert_eq!(line("on").as_deref(), Some("owner · at whom"));
        assert_eq!(line("to").as_deref(), Some("where to"));
        let table = "| topic | seat | asks |\n|---|---|---|\n| `skill` | owner | which skill |\n";
        let row = line_of([table].into_iter(), "skill");
        assert_eq!(row.as_deref(), Some("seat: owner · asks: which skill"));
        let verbs = "| verb | does |\n|---|---|\n| `skill` | nothing |\n\n";
        let both = [verbs, table].concat();
        assert_eq!(line_of([both.as_str()].into_iter(), "skill"), row);
        assert_eq!(line("A-4"), None);
        assert_eq!(line("Rules"), None);
    }
}
