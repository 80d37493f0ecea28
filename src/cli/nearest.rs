/// The word of `words` that was most likely meant by `typed`: one slip in a short word, two in a longer one.
///
/// Case does not count. Of words equally near the first wins.
pub fn nearest<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let allowed = match typed.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    words
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&typed, &word.to_lowercase()), word))
        .filter(|(slips, _)| (1..=allowed).contains(slips))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, word)| word)
}

/// The one of `words` that `typed` names: exactly, or by a beginning that only one of them has. Case does not count.
pub fn named<'a, T>(typed: &str, items: &'a [T], word: impl Fn(&T) -> &str) -> Named<'a, T> {
    let typed = typed.trim().to_lowercase();
    if let Some(item) = items.iter().find(|item| word(item).to_lowercase() == typed) {
        return Named::One(item);
    }
    let mut found = items.iter().filter(|item| !typed.is_empty() && word(item).to_lowercase().starts_with(&typed));
    match (found.next(), found.next()) {
        (Some(item), None) => Named::One(item),
        (Some(_), Some(_)) => Named::Several,
        (None, _) => Named::Nobody,
    }
}

/// What a typed name stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum Named<'a, T> {
    One(&'a T),
    Several,
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_in_a_short_word_and_two_in_a_long_one() {
        let words = ["undo", "options", "log", "quit"];
        assert_eq!(nearest("udno", words), Some("undo"));
        assert_eq!(nearest("optoins", words), Some("options"));
        assert_eq!(nearest("optons", words), Some("options"));
        assert_eq!(nearest("lo", words), None);
        assert_eq!(nearest("hello", ["help"]), None);
    }

    #[test]
    fn a_name_is_known_by_a_beginning_that_is_its_own() {
        let names = ["Bandit".to_owned(), "Bandit Chief".to_owned(), "Archer".to_owned()];
        assert_eq!(named("arch", &names, |name| name), Named::One(&names[2]));
        assert_eq!(named("bandit", &names, |name| name), Named::One(&names[0]));
        assert_eq!(named("band", &names, |name| name), Named::Several);
        assert_eq!(named("", &names, |name| name), Named::Nobody);
    }
}
