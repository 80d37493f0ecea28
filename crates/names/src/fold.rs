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
    // The Turkish `ı` has no accent that could be taken away.
    let dotted = name.chars().map(|letter| if letter == 'ı' { 'i' } else { letter });
    let bare: String = dotted.nfkd().filter(|letter| !is_combining_mark(*letter)).collect();
    // Small letters of some capitals, such as `İ`, carry a mark of their own.
    spelling(&bare).nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

/// The same in Latin letters: `ø` is `o`, `ß` is `ss`, Cyrillic and other scripts are transliterated.
pub(super) fn ascii(name: &str) -> String {
    let composed: String = name.nfkc().collect();
    fold(&deunicode(&composed))
}

/// The places where `name` stands in `text` as whole words, in bytes from its start.
pub fn places(name: &str, text: &str) -> impl Iterator<Item = usize> {
    let letter = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    // At an end of the name that is no letter a word ends anyway.
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
