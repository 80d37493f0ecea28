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
    fn a_name_is_known_by_a_beginning_that_is_its_own() {
        let names = ["Bandit".to_owned(), "Bandit Chief".to_owned(), "Archer".to_owned()];
        assert_eq!(named("arch", &names, |name| name), Named::One(&names[2]));
        assert_eq!(named("bandit", &names, |name| name), Named::One(&names[0]));
        assert_eq!(named("band", &names, |name| name), Named::Several);
        assert_eq!(named("", &names, |name| name), Named::Nobody);
    }
}
