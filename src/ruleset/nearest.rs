/// Finds the candidate that was most likely meant by a misspelt word, if any is near enough.
///
/// A candidate is near if it has at most one slip for each three letters of the word, at least one and at most four. A slip is
/// a letter too many, too few or wrong, or two swapped; case does not count. A candidate that begins with the word is near,
/// too, if the word has three letters or more. Of equally near ones the first in the alphabet wins. Words over 64 letters are
/// like nothing.
pub(crate) fn nearest<'c, I>(word: &str, candidates: I) -> Option<&'c str>
where
    I: IntoIterator<Item = &'c str>,
{
    const LONGEST: usize = 64;
    let word = word.to_lowercase();
    let letters = word.chars().count();
    if letters == 0 || letters > LONGEST {
        return None;
    }
    let slips = if letters == 1 { 0 } else { (letters / 3).clamp(1, 4) };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = strsim::damerau_levenshtein(&word, &lower);
            let begins = letters >= 3 && lower.starts_with(&word);
            (distance <= slips || begins).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// What to write instead of a word that was not understood: the nearest candidate, or else all of them.
pub(crate) fn instead<'c, I>(word: &str, candidates: I) -> String
where
    I: IntoIterator<Item = &'c str> + Clone,
{
    match nearest(word, candidates.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", candidates.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Says what may stand where a word was not understood: the nearest candidate first, then all of them.
pub(crate) fn did_you_mean<'c, I>(word: &str, list_name: &str, candidates: I) -> String
where
    I: IntoIterator<Item = &'c str>,
{
    const LISTED: usize = 20;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let mut text = match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => String::new(),
    };
    if candidates.is_empty() {
        text.push_str(&format!("{list_name}: none"));
        return text;
    }
    text.push_str(&format!("{list_name}: {}", candidates[..candidates.len().min(LISTED)].join(", ")));
    if candidates.len() > LISTED {
        text.push_str(&format!(" and {} more", candidates.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["title", "version", "extends", "layers", "id"];

    #[test]
    fn a_slip_finds_the_word_and_another_word_finds_nothing() {
        assert_eq!(nearest("tittle", KEYS), Some("title"));
        assert_eq!(nearest("Version", KEYS), Some("version"));
        assert_eq!(nearest("extnds", KEYS), Some("extends"));
        assert_eq!(nearest("layres", KEYS), Some("layers"));
        assert_eq!(nearest("di", KEYS), Some("id"));
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(nearest("x", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
    }

    #[test]
    fn a_beginning_finds_the_whole_word() {
        assert_eq!(nearest("risk", ["riskbreaker-0.0.3", "riskbreaker-0.0.1"]), Some("riskbreaker-0.0.1"));
    }

    #[test]
    fn the_choices_are_listed_after_the_nearest() {
        assert_eq!(did_you_mean("ides", "allowed", ["id"]), "allowed: id");
        assert_eq!(did_you_mean("titel", "allowed", ["id", "title"]), "did you mean `title`? allowed: id, title");
        assert_eq!(did_you_mean("a", "known", []), "known: none");
    }

    #[test]
    fn a_word_of_absurd_length_is_like_nothing() {
        assert_eq!(nearest(&"t".repeat(100_000), KEYS), None);
    }
}
