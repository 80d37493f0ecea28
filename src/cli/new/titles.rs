//! Titles and prefixes of rules that follow from an id.

/// Converts an id to a title: `my-game` to `My Game`.
pub fn title_of(id: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    id.split(['-', '_']).map(word).collect::<Vec<_>>().join(" ")
}

/// Converts an id to a prefix of rule ids: `my-game` to `MG`; an id of one word gives its first letters.
pub fn rule_prefix(id: &str) -> String {
    let initials: String = id.split(['-', '_']).filter_map(|word| word.chars().next()).collect();
    let short =
        if initials.len() > 1 { initials } else { id.chars().filter(char::is_ascii_alphabetic).take(4).collect() };
    short.to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_titles_and_prefixes() {
        assert_eq!(title_of("my-game"), "My Game");
        assert_eq!(rule_prefix("my-game"), "MG");
        assert_eq!(rule_prefix("tug"), "TUG");
    }
}
