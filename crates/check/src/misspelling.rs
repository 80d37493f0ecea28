//! Words that are most likely misspelt.

use riskbreaker_ruleset::slips;

/// The fewest letters of a word that is checked.
pub(crate) const LETTERS: usize = 3;

/// The fewest letters of a word in which one other letter counts as a misspelling. Short words such as `top` and `tap`
/// are different words.
const LETTERS_WITH_ONE_CHANGED: usize = 6;

/// Whether two words differ by one added, missing or swapped letter, or long ones by one changed letter. A plural does
/// not count.
pub(crate) fn is_slip(word: &str, other: &str) -> bool {
    let (word, other) = (word.to_lowercase(), other.to_lowercase());
    let (letters, others) = (word.chars().count(), other.chars().count());
    if slips(&word, &other, 1) != Some(1) {
        return false;
    }
    let swapped = letters == others && strsim::levenshtein(&word, &other) == 2;
    let one_off = letters.abs_diff(others) == 1;
    let plural = other.strip_suffix('s') == Some(&word) || word.strip_suffix('s') == Some(&other);
    let changed = letters == others && letters >= LETTERS_WITH_ONE_CHANGED;
    (swapped || one_off || changed) && !plural
}

/// The same, where a word is compared: there a changed letter counts in words of five letters, too, if it is not the first.
pub(crate) fn is_slip_compared(word: &str, other: &str) -> bool {
    let changed = || {
        let letters = |word: &str| word.chars().count();
        letters(word) + 1 == LETTERS_WITH_ONE_CHANGED
            && letters(other) == letters(word)
            && word.chars().next() == other.chars().next()
            && word.chars().zip(other.chars()).filter(|(one, other)| one != other).count() == 1
    };
    is_slip(word, other) || changed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter_more_or_less_or_two_swapped() {
        assert!(is_slip("rol", "roll") && is_slip("flehs", "flesh") && is_slip("Swword", "sword"));
        assert!(is_slip("maneuver", "maneuvar"));
        assert!(!is_slip("top", "tap") && !is_slip("side", "sides") && !is_slip("roll", "roll"));
        assert!(
            is_slip_compared("knive", "knife") && !is_slip("knive", "knife") && !is_slip_compared("round", "sound")
        );
    }
}
