//! Finds rules of a text that have another id than their place says.

use std::ops::Range;

use riskbreaker_spec::leading_ids;

/// A rule that has another id than its place in the rule text says.
#[derive(Clone, Debug)]
pub(crate) struct Misnumbered {
    /// The path of the rule text, with the ruleset's id.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The id in the text, in bytes.
    pub at: Range<usize>,
    /// The id that it has.
    pub id: String,
    /// The ids of the rules before and after it.
    pub between: [String; 2],
    /// The id by its place.
    pub meant: String,
}

/// Returns the rules of a text between number 6 and number 8 that are not number 7, if number 7 is missing.
pub(crate) fn misnumbered(path: &str, text: &str, is_missing: impl Fn(&str) -> bool) -> Vec<Misnumbered> {
    let mut begin = 0;
    let mut rules: Vec<(u32, Range<usize>, String)> = Vec::new();
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if let [id] = leading_ids(line).as_slice() {
            let at = begin + line.find(id.as_str()).unwrap_or_default();
            rules.push((number, at..at + id.len(), id.clone()));
        }
        begin += line.len();
    }
    let of_three = |three: &[(u32, Range<usize>, String)]| {
        let [(_, _, before), (line, at, id), (_, _, after)] = three else { return None };
        let meant = following(before).filter(|meant| meant != id && following(meant).as_ref() == Some(after))?;
        let between = [before.clone(), after.clone()];
        let (path, id) = (path.to_owned(), id.clone());
        is_missing(&meant).then(|| Misnumbered { path, line: *line, at: at.clone(), id, between, meant })
    };
    rules.windows(3).filter_map(of_three).collect()
}

/// Returns the next id: `ABC-08` for `ABC-07`.
fn following(id: &str) -> Option<String> {
    let (stem, digits) = id.rsplit_once('-')?;
    let number: u32 = digits.parse().ok()?;
    Some(format!("{stem}-{:0width$}", number.checked_add(1)?, width = digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_with_another_id_than_its_place_says_is_found_if_that_id_is_missing() {
        let text = "# Rules\n\n- **AB-08** one\n- **AB-90** two\n- **AB-10** three\n";
        let found = misnumbered("g/RULES.md", text, |id| id == "AB-09");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, &text[found[0].at.clone()], &*found[0].meant), (4, "AB-90", "AB-09"));
        assert!(misnumbered("g/RULES.md", text, |_| false).is_empty());
        assert!(misnumbered("g/RULES.md", "- **AB-1** x\n- **AB-2** y\n- **AB-3** z\n", |_| true).is_empty());
    }
}
