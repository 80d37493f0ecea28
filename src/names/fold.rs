use deunicode::deunicode;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The words of a name in small letters, with one blank between them; `_` and `-` count as blanks.
pub fn spelling(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| letter.is_whitespace() || letter == '_' || letter == '-');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The same without accents, equal for all Unicode normalizations of a name.
pub fn fold(name: &str) -> String {
    let bare: String = name.nfkd().filter(|letter| !is_combining_mark(*letter)).collect();
    // Small letters of some capitals, such as `İ`, carry a mark of their own.
    spelling(&bare).nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

/// The same in Latin letters: `ø` is `o`, `ß` is `ss`, Cyrillic and other scripts are transliterated.
pub(super) fn ascii(name: &str) -> String {
    let composed: String = name.nfkc().collect();
    fold(&deunicode(&composed))
}

/// Whether `word` stands in `name` as whole words.
pub(super) fn has_word(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let letter = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        !letter(name[..at].chars().next_back()) && !letter(name[at + word.len()..].chars().next())
    })
}
