use super::cure::Cure;
use riskbreaker_state::{Type, Value};

/// Longer names, in letters, are similar only to themselves: comparing takes the product of two lengths.
const LONGEST: usize = 64;

/// The edit distance of two names, if it is at most `most`. An edit is a letter too many, missing or wrong, or two
/// swapped. `None` if the names differ by more, or if they differ and one has over 64 letters.
pub fn slips(one: &str, other: &str, most: usize) -> Option<usize> {
    if one == other {
        return Some(0);
    }
    let letters = |text: &str| Some(text).filter(|text| text.len() <= 4 * LONGEST).map(|text| text.chars().count());
    let (one_has, other_has) = (letters(one)?, letters(other)?);
    if one_has.max(other_has) > LONGEST || one_has.abs_diff(other_has) > most {
        return None;
    }
    let (mut one_letters, mut other_letters) = (['\0'; LONGEST], ['\0'; LONGEST]);
    one.chars().zip(&mut one_letters).for_each(|(letter, place)| *place = letter);
    other.chars().zip(&mut other_letters).for_each(|(letter, place)| *place = letter);
    slips_within(&one_letters[..one_has], &other_letters[..other_has], most)
}

/// The optimal string alignment distance, if it is at most `most`. Computes only the `2 * most + 1` cells of a row that
/// can be that small, and stops at the first row without one.
fn slips_within(one: &[char], other: &[char], most: usize) -> Option<usize> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    let same = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    let far = most + 1;
    // The last two rows and the current one; cells outside the band count as too far.
    let mut rows = [[far; LONGEST + 1]; 3];
    (0..=other.len().min(most)).for_each(|at| rows[0][at] = at);
    for (at, letter) in one.iter().enumerate() {
        let (row, last, before) = ((at + 1) % 3, at % 3, (at + 2) % 3);
        let (from, to) = ((at + 1).saturating_sub(most), (at + 1 + most).min(other.len()));
        let mut least = far;
        rows[row] = [far; LONGEST + 1];
        for place in from..=to {
            let mut cell = rows[last][place] + 1;
            if place > 0 {
                cell = cell.min(rows[row][place - 1] + 1);
                cell = cell.min(rows[last][place - 1] + usize::from(*letter != other[place - 1]));
            }
            if at > 0 && place > 1 && *letter == other[place - 2] && one[at - 1] == other[place - 1] {
                cell = cell.min(rows[before][place - 2] + 1);
            }
            rows[row][place] = cell.min(far);
            least = least.min(cell);
        }
        if least > most {
            return None;
        }
    }
    Some(rows[one.len() % 3][other.len()]).filter(|found| *found <= most)
}

/// Finds the candidate that was most likely meant by a misspelt word, if any is similar enough.
///
/// A candidate is similar if it has the same words in another order (`max_health` for `health_max`), if it is the same
/// but for leading zeros in its numbers (`AB-1` for `AB-01`), or if its edit distance is at most one for each three letters of the word, at least one and at
/// most four. An edit is a letter too many, missing or wrong, or two swapped; case does not count. A candidate that
/// begins with the word is similar, too, if the word has three letters or more. Of equally similar ones, those that
/// begin with the word go first, then those that are not in capitals if the word is not, then those with the same letters
/// in another order, then the alphabetically first.
/// Words over 64 letters are similar to nothing.
pub fn nearest<'c, I>(word: &str, candidates: I) -> Option<&'c str>
where
    I: IntoIterator<Item = &'c str>,
{
    let has_small = |text: &str| text.chars().any(char::is_lowercase);
    let (is_small, word) = (has_small(word), word.to_lowercase());
    let letters = word.chars().count();
    if letters == 0 || letters > LONGEST {
        return None;
    }
    let letters_in_order = sorted(&word);
    let most = if letters == 1 { 0 } else { (letters / 3).clamp(1, 4) };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 4 * LONGEST)
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let begins = letters >= 3 && lower.starts_with(&word);
            let distance = if is_rearranged(&word, &lower) {
                0
            } else if begins {
                lower.chars().count() - letters
            } else {
                slips(&word, &lower, most)?
            };
            // `actr` means `actor` rather than a constant `ACT`.
            let is_constant = is_small && !has_small(candidate);
            // `AB-21` means `AB-12` rather than `AB-20`.
            let has_others = sorted(&lower) != letters_in_order;
            Some((distance, !begins, is_constant, has_others, candidate))
        })
        .min()
        .map(|(.., candidate)| candidate)
}

/// Whether two words are equal but for the order of their parts, or for leading zeros in their numbers.
fn is_rearranged(one: &str, other: &str) -> bool {
    let parts = |text: &str| {
        let mut parts: Vec<String> = words_of(text).map(without_zeros).collect();
        parts.sort_unstable();
        parts
    };
    if one == other || one.len().abs_diff(other.len()) > LONGEST {
        return false;
    }
    let is_number = |text: &str| text.contains(|letter: char| letter.is_ascii_digit());
    let in_order = |text: &str| words_of(text).map(without_zeros).collect::<Vec<_>>();
    in_order(one) == in_order(other) || !is_number(one) && words_of(one).count() > 1 && parts(one) == parts(other)
}

/// The words of a name, without what separates them.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(['_', '-', ' ', '.']).filter(|word| !word.is_empty())
}

/// A number without its leading zeros; another word as it is.
fn without_zeros(word: &str) -> String {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let short = word.trim_start_matches('0');
    if is_number && !short.is_empty() { short.to_owned() } else { word.to_owned() }
}

/// The fewest letters that two words of one stem have in common.
const STEM: usize = 4;

/// A word without the ending of an inflected form: `brac` for `braced`, `bracing` and `brace`.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 11] = ["ations", "ation", "ings", "ing", "ures", "ure", "ers", "er", "ed", "es", "s"];
    let cut = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= STEM - 1));
    let cut = cut.unwrap_or(word);
    cut.strip_suffix('e').filter(|rest| rest.len() >= STEM - 1).unwrap_or(cut)
}

/// How a candidate is related to a word that it is not near to: of one stem, one a beginning of the other, or with a word
/// in common. Lower is closer.
fn relation(word: &str, other: &str) -> Option<(usize, usize)> {
    let (word, other) = (word.to_lowercase(), other.to_lowercase());
    let shorter = word.len().min(other.len());
    let longer = word.len().max(other.len());
    let common = word.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let is_stem = shorter >= STEM - 1 && stem(&word) == stem(&other);
    let begins = shorter >= STEM - 1 && (word.starts_with(&*other) || other.starts_with(&*word));
    // A sentence has words in common with too many names.
    let shares = || {
        !word.contains(' ')
            && words_of(&word).any(|one| one.len() >= STEM && words_of(&other).any(|two| stem(one) == stem(two)))
    };
    match (is_stem, begins) {
        (true, _) => Some((0, longer - shorter)),
        (_, true) => Some((1, longer - shorter)),
        _ if common >= STEM && common * 2 > longer => Some((2, longer - common)),
        _ if shares() => Some((3, longer - shorter)),
        _ => None,
    }
}

/// Finds the candidate that was most likely meant by a name that is certainly wrong: the result of [`nearest`], or else the
/// one that is of the same stem, is a beginning of the word or begins with it, or has a word in common. `None` if several
/// are equally likely.
pub fn likeliest<'c, I>(word: &str, candidates: I) -> Option<&'c str>
where
    I: IntoIterator<Item = &'c str>,
{
    let all: Vec<&str> = candidates.into_iter().filter(|candidate| candidate.len() <= 4 * LONGEST).collect();
    nearest(word, all.iter().copied()).or_else(|| {
        if word.len() > 4 * LONGEST {
            return None;
        }
        let mut related: Vec<_> = all.iter().filter_map(|other| Some((relation(word, other)?, *other))).collect();
        related.sort_unstable();
        related.dedup();
        match related.as_slice() {
            [(first, _), (second, _), ..] if first == second => None,
            [(_, only), ..] => Some(only),
            [] => None,
        }
    })
}

/// How unlike a word is to another one, to sort by: the edit distance, less for what both begin with.
pub(super) fn unlikeness(word: &str, other: &str) -> (bool, usize) {
    let related = nearest(word, [other]).is_some() || relation(word, other).is_some();
    (!related, slips(word, other, LONGEST).unwrap_or(LONGEST))
}

/// The letters of a word in alphabetical order.
fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// The correction of an unknown word: the likeliest candidate, as `` did you mean `evening`? ``, or else the first
/// twenty, as `known: evening, morning`.
pub fn instead<'c, I>(word: &str, candidates: I) -> Cure
where
    I: IntoIterator<Item = &'c str>,
{
    const LISTED: usize = 20;
    let all: Vec<&str> = candidates.into_iter().collect();
    let known = match all.as_slice() {
        [] => "there are none".into(),
        all => Cure::Known {
            written: word.to_owned(),
            known: all.iter().take(LISTED).map(ToString::to_string).collect(),
            more: all.len().saturating_sub(LISTED),
        },
    };
    instead_or(word, all, known)
}

/// The correction of an unknown word: the likeliest candidate, or else the text `otherwise`.
pub fn instead_or<'c, I>(word: &str, candidates: I, otherwise: impl Into<Cure>) -> Cure
where
    I: IntoIterator<Item = &'c str>,
{
    likeliest(word, candidates).map_or_else(|| otherwise.into(), |near| Cure::meant(word, near))
}

/// The correction of a text that is no value of an enum. `None` for other types and values.
pub fn instead_of_value(ty: &Type, value: &Value) -> Option<Cure> {
    let (Type::Enum(texts), Value::Text(text)) = (ty, value) else { return None };
    Some(instead_or(text, texts.iter().map(|text| &**text), "write one of them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["title", "version", "extends", "layers", "id"];

    #[test]
    fn a_misspelling_finds_the_word_and_another_word_finds_nothing() {
        assert_eq!(nearest("tittle", KEYS), Some("title"));
        assert_eq!(nearest("Version", KEYS), Some("version"));
        assert_eq!(nearest("extnds", KEYS), Some("extends"));
        assert_eq!(nearest("layres", KEYS), Some("layers"));
        assert_eq!(nearest("di", KEYS), Some("id"));
        assert_eq!(nearest("actr", ["ACT", "actor"]), Some("actor"));
        assert_eq!(nearest("ACTR", ["ACT", "actor"]), Some("ACT"));
        assert_eq!(nearest("AB-219", ["AB-019", "AB-129"]), Some("AB-129"));
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(nearest("x", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
    }

    #[test]
    fn words_in_another_order_and_leading_zeros_are_near() {
        assert_eq!(nearest("speed_least", ["least_speed", "speed"]), Some("least_speed"));
        assert_eq!(nearest("AB-03", ["AB-30", "AB-3"]), Some("AB-3"));
        assert_eq!(nearest("AB-3", ["AB-30", "AB-003"]), Some("AB-003"));
        assert_eq!(nearest("grim", ["girm", "brim"]), Some("girm"));
    }

    #[test]
    fn a_wrong_name_means_the_one_of_its_stem() {
        assert_eq!(likeliest("walking", ["walked", "talk", "wall"]), Some("walked"));
        assert_eq!(likeliest("closure", ["close", "open"]), Some("close"));
        assert_eq!(likeliest("long_rest", ["long", "short"]), Some("long"));
        assert_eq!(likeliest("last_harm", ["old_harm", "speed"]), Some("old_harm"));
        assert_eq!(likeliest("harm", ["old_harm", "new_harm"]), None, "both are as likely");
        assert_eq!(likeliest("colour", KEYS), None);
    }

    #[test]
    fn a_prefix_finds_the_whole_word() {
        assert_eq!(nearest("risk", ["riskbreaker-0.0.3", "riskbreaker-0.0.1"]), Some("riskbreaker-0.0.1"));
        assert_eq!(nearest("switch", ["sketch", "switches"]), Some("switches"));
    }

    #[test]
    fn the_nearest_name_or_the_known_names_are_suggested() {
        assert_eq!(instead("titel", KEYS), "did you mean `title`?");
        assert_eq!(instead("colour", KEYS), "known: title, version, extends, layers, id");
        assert_eq!(instead("colour", ["id"; 22]), format!("known: {}id and 2 more", "id, ".repeat(19)));
        assert_eq!(instead("colour", ["id"; 20]), format!("known: {}id", "id, ".repeat(19)));
        assert_eq!(instead("a", []), "there are none");
        assert_eq!(instead_or("colour", KEYS, "declare it"), "declare it");
    }

    #[test]
    fn bounded_and_unbounded_edit_distances_agree() {
        let words =
            ["", "a", "ab", "ba", "abc", "acb", "abcd", "bacd", "xabcd", "abdce", "kitten", "sitting", "grau", "grün"];
        for (one, other) in words.iter().flat_map(|one| words.iter().map(move |other| (one, other))) {
            let whole = strsim::osa_distance(one, other);
            for most in 0..5 {
                assert_eq!(slips(one, other, most), Some(whole).filter(|found| *found <= most), "{one} {other} {most}");
            }
        }
    }

    #[test]
    fn a_word_of_absurd_length_is_like_nothing() {
        assert_eq!(nearest(&"t".repeat(100_000), KEYS), None);
    }
}
