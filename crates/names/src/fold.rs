use deunicode::deunicode;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Converts a name to lower-case words separated by single spaces; `_` and `-` count as spaces.
pub fn spelling(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| letter.is_whitespace() || letter == '_' || letter == '-');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Like [`spelling`], without accents. Equal for all Unicode normalizations of a name.
pub fn fold(name: &str) -> String {
    // The Turkish `ı` has no accent to remove.
    let dotted = name.chars().map(|letter| if letter == 'ı' { 'i' } else { letter });
    let bare: String = dotted.nfkd().filter(|letter| !is_combining_mark(*letter)).collect();
    // Lower-case forms of some letters, such as `İ`, contain a combining mark.
    spelling(&bare).nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

/// Like [`fold`], in Latin letters: `ø` is `o`, `ß` is `ss`, Cyrillic and other scripts are transliterated.
pub(super) fn ascii(name: &str) -> String {
    let composed: String = name.nfkc().collect();
    fold(&deunicode(&composed))
}

/// The byte offsets at which `text` contains `name` as whole words.
pub fn places(name: &str, text: &str) -> impl Iterator<Item = usize> {
    let letter = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    // No check is needed at an end of the name that is no letter.
    let (first, last) = (letter(name.chars().next()), letter(name.chars().next_back()));
    let found: Vec<usize> = match name {
        "" => Vec::new(),
        name => text.match_indices(name).map(|(at, _)| at).collect(),
    };
    let ends = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        !(first && letter(before.chars().next_back()) || last && letter(after.chars().next()))
    };
    found.into_iter().filter(ends).collect::<Vec<_>>().into_iter()
}
