//! Reports misspelt words: a text or a key that occurs once, one letter away from a known one.

use std::collections::BTreeMap;

use super::lints;
use super::script::ScriptReader;
use super::syntax::{listed, literal, named};
use riskbreaker_ruleset::slips;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};

/// The fewest rows of a list whose keys are compared.
const ROWS: usize = 3;
/// The fewest letters of a word that is checked.
const LETTERS: usize = 3;
const LUAU_TYPES: [&str; 8] = ["nil", "boolean", "number", "string", "table", "function", "thread", "userdata"];

/// Whether two words differ by one added, missing or swapped letter. A plural does not count.
pub(super) fn is_slip(word: &str, other: &str) -> bool {
    let (word, other) = (word.to_lowercase(), other.to_lowercase());
    let (letters, others) = (word.chars().count(), other.chars().count());
    if slips(&word, &other, 1) != Some(1) {
        return false;
    }
    let swapped = letters == others && strsim::levenshtein(&word, &other) == 2;
    let one_off = letters.abs_diff(others) == 1;
    let plural = other.strip_suffix('s') == Some(&word) || word.strip_suffix('s') == Some(&other);
    (swapped || one_off) && !plural
}

impl ScriptReader<'_> {
    /// Reports a misspelt text argument of a ruleset function, or one in a list.
    ///
    /// An added letter does not count, because names such as `whom` beside `who` often occur once.
    pub(super) fn slip_in_call(&mut self, value: Expression<'_>) {
        listed(value).for_each(|one| self.slip_in_call(one));
        self.slip_for(value, |word, other| other.len() >= word.len());
    }

    /// Reports a misspelt text that occurs nowhere else.
    pub(super) fn slip(&mut self, value: Expression<'_>) {
        self.slip_for(value, |_, _| true);
    }

    /// Reports an answer of a policy that is no card and occurs in no option and no data.
    pub(super) fn offered_nowhere(&mut self, answer: Expression<'_>) {
        let Some(word) = literal(answer).filter(|word| word.len() >= LETTERS && *word != "yes") else { return };
        let names = &self.known.names;
        let cards = self.known.names("card").unwrap_or_default();
        if cards.is_empty()
            || cards.contains(&word)
            || names.times(&word) > 1
            || names.is_key(&word)
            || names.said(&word) > 0
        {
            return;
        }
        let wrong = format!("nothing offers \"{word}\": it stands nowhere else, and no card is called so");
        self.problem(&lints::unknown_option::LINT, answer.location(), (wrong, self.known.instead(&word, &cards)));
    }

    fn slip_for(&mut self, value: Expression<'_>, counts: impl Fn(&str, &str) -> bool) {
        let Some(word) = literal(value).filter(|_| !self.is_spec()) else { return };
        let names = &self.known.names;
        // The results of `type` and `typeof` are no names of the ruleset.
        if LUAU_TYPES.contains(&word.as_str()) {
            return;
        }
        let rest = word.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
        let like_a_name = word.len() >= LETTERS
            && rest.len() + 1 >= word.len()
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        if !like_a_name
            || names.times(&word) > 1
            || names.is_key(&word)
            || names.said(&word) > 0
            || names.reads(&word) > 1
        {
            return;
        }
        let Some(meant) = names
            .texts()
            // A text of one or two letters is a piece of which longer ones are built.
            .filter(|other| other.len() >= LETTERS && is_slip(&word, other) && counts(&word, other))
            .max_by_key(|other| names.times(other))
        else {
            return;
        };
        let told = (format!("the text \"{word}\" stands nowhere else"), format!("did you mean \"{meant}\"?"));
        self.problem(&lints::misspelt_text::LINT, value.location(), told);
    }

    /// Reports a key of one row in a list of tables if the other rows have one of almost the same name.
    pub(super) fn odd_key(&mut self, items: &[TableItem<'_>]) {
        let rows: Vec<BTreeMap<String, Location>> = items.iter().filter_map(keys_of).collect();
        if rows.len() < ROWS || rows.len() != items.len() {
            return;
        }
        for row in &rows {
            let times = |key: &str| rows.iter().filter(|row| row.contains_key(key)).count();
            for (key, at) in row.iter().filter(|(key, _)| times(key) == 1) {
                let others = rows.iter().flat_map(BTreeMap::keys);
                let near = others.filter(|other| is_slip(key, other) && !row.contains_key(*other));
                let Some(meant) = near.max_by_key(|other| times(other)).filter(|other| times(other) + 1 == rows.len())
                else {
                    continue;
                };
                let wrong = format!("every other row has `{meant}`, and this one `{key}`");
                self.problem(&lints::unread_key::LINT, *at, (wrong, format!("did you mean `{meant}`?")));
            }
        }
    }
}

/// Returns the keys of a table in a list, with their positions.
fn keys_of(item: &TableItem<'_>) -> Option<BTreeMap<String, Location>> {
    let TableItem::List { value } = item else { return None };
    let ExpressionKind::Table { .. } = value.kind() else { return None };
    Some(named(*value).map(|(key, at, _)| (key, at)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter_more_or_less_or_two_swapped() {
        assert!(is_slip("rol", "roll") && is_slip("flehs", "flesh") && is_slip("Swword", "sword"));
        assert!(!is_slip("top", "tap") && !is_slip("side", "sides") && !is_slip("roll", "roll"));
    }
}
