//! Looks up things by name, by one rule for characters, fields, options, cards, switches, seats and rulesets.
//!
//! Scripts, specs and clients of the protocol give exact names ([`exactly`]). People may also type less ([`typed`]):
//! the beginning of a name, a word in it, or the name without its accents. A name that fits several things finds all of
//! them; the caller refuses it or asks which is meant, and never takes the first.
//!
//! ```
//! use riskbreaker_names::{exactly, typed};
//!
//! let names = ["Éowyn", "Bandit", "Bandit Chief"];
//! let known = || names.iter().map(|name| (*name, *name));
//! assert_eq!(exactly("bandit", known), ["Bandit"]);
//! assert_eq!(typed("eowyn", known), ["Éowyn"]);
//! assert_eq!(typed("band", known), ["Bandit", "Bandit Chief"]);
//! ```

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

mod fold;

use fold::ascii;
pub use fold::{fold, places, spelling};

/// Finds the things that a script, a spec or a client of the protocol names: those with exactly this name, or else
/// those whose name differs only in case.
///
/// `known`: each thing with its name; a thing with several names occurs once for each. The result is empty if nothing
/// has the name, and has several elements if the name is ambiguous.
pub fn exactly<T, S, I>(given: &str, known: impl Fn() -> I) -> Vec<T>
where
    T: PartialEq,
    S: AsRef<str>,
    I: Iterator<Item = (T, S)>,
{
    let lower = given.to_lowercase();
    let same: [&dyn Fn(&str) -> bool; 2] = [&|name| name == given, &|name| name.to_lowercase() == lower];
    first_that_fits(&same, known)
}

/// Finds the things that a person names by typing: the result of [`exactly`], or else of the first of these rules that
/// fits anything.
///
/// 1. The same words, separated by spaces, `_` or `-`, in any case.
/// 2. The beginning of the name.
/// 3. The name without accents, in any case and any Unicode normalization; for a name typed in plain letters (`bjorn`,
///    `strasse`) also its usual transliteration.
/// 4. The beginning of that.
/// 5. A whole word of the name, then also without accents.
pub fn typed<T, S, I>(given: &str, known: impl Fn() -> I) -> Vec<T>
where
    T: PartialEq,
    S: AsRef<str>,
    I: Iterator<Item = (T, S)>,
{
    let given = given.trim();
    if given.is_empty() {
        return Vec::new();
    }
    let found = exactly(given, &known);
    if !found.is_empty() {
        return found;
    }
    let (plain, folded) = (spelling(given), fold(given));
    // Other scripts are compared in Latin letters only with a name typed in Latin letters.
    let latin = |name: &str| if folded.is_ascii() { ascii(name) } else { fold(name) };
    if folded.is_empty() {
        return Vec::new();
    }
    let rules: [&dyn Fn(&str) -> bool; 8] = [
        &|name| spelling(name) == plain,
        &|name| spelling(name).starts_with(&*plain),
        &|name| fold(name) == folded,
        &|name| latin(name) == folded,
        &|name| fold(name).starts_with(&*folded),
        &|name| latin(name).starts_with(&*folded),
        &|name| places(&plain, &spelling(name)).next().is_some(),
        &|name| places(&folded, &latin(name)).next().is_some(),
    ];
    let found = first_that_fits(&rules, &known);
    // `the bandit` is the bandit, if no name begins with `the`.
    match folded.split_once(' ') {
        Some(("the" | "a" | "an", rest)) if found.is_empty() => typed(rest, known),
        _ => found,
    }
}

/// The label of a thing whose title is not unique: `Ann (#2)`. `number`: its number with its sign, `#2`.
pub fn numbered(title: &str, number: impl std::fmt::Display) -> String {
    format!("{title} ({number})")
}

/// Splits a label made by [`numbered`] into title and number. `None` for other names. `Ann #2` and `Ann#2` are
/// accepted, too.
pub fn title_and_number(label: &str) -> Option<(&str, u64)> {
    let (title, number) = label.trim().rsplit_once('#')?;
    let (title, number) = match number.strip_suffix(')') {
        Some(number) => (title.trim_end().strip_suffix('(')?, number),
        None => (title, number),
    };
    let number = number.parse().ok()?;
    Some((title.trim(), number)).filter(|(title, _)| !title.is_empty())
}

/// The things whose names satisfy the first rule that any name satisfies, without duplicates, in the order of `known`.
fn first_that_fits<T, S, I>(rules: &[&dyn Fn(&str) -> bool], known: impl Fn() -> I) -> Vec<T>
where
    T: PartialEq,
    S: AsRef<str>,
    I: Iterator<Item = (T, S)>,
{
    for fits in rules {
        let mut found = Vec::new();
        for (item, name) in known() {
            if fits(name.as_ref()) && !found.contains(&item) {
                found.push(item);
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(given: &str, names: &[&str]) -> Vec<usize> {
        typed(given, || names.iter().enumerate())
    }

    #[test]
    fn a_typed_name_is_exact_or_a_beginning_that_only_one_has() {
        let names = ["Bandit", "Bandit Chief", "Archer", "max_harm"];
        assert_eq!(find("arch", &names), [2]);
        assert_eq!(find("bandit", &names), [0]);
        assert_eq!(find("BANDIT", &names), [0]);
        assert_eq!(find("band", &names), [0, 1]);
        assert_eq!(find("bandit c", &names), [1]);
        assert_eq!(find("chief", &names), [1]);
        assert_eq!(find("max harm", &names), [3]);
        for nothing in ["", " ", "andit", "bandits", "\u{301}"] {
            assert_eq!(find(nothing, &names), [0; 0], "{nothing:?}");
        }
    }

    #[test]
    fn accents_case_and_normalization_do_not_count_when_a_person_types() {
        let names = ["Éowyn", "Bjørn", "Straße", "Łukasz", "Олег", "李", "O’Brien", "Ａnn", "ﬁsh"];
        for (given, at) in [
            ("eowyn", 0),
            ("e\u{301}owyn", 0),
            ("E\u{301}OWYN", 0),
            ("eow", 0),
            ("bjorn", 1),
            ("strasse", 2),
            ("STRASSE", 2),
            ("lukasz", 3),
            ("олег", 4),
            ("oleg", 4),
            ("李", 5),
            ("o'brien", 6),
            ("ann", 7),
            ("fish", 8),
        ] {
            assert_eq!(find(given, &names), [at], "{given}");
        }
        assert_eq!(find("里", &names), [0; 0], "another word of the same sound");
        assert_eq!(find("éowyn", &["Eowyn"]), [0]);
        assert_eq!(find("eowyn", &["Éowyn", "Eowyn"]), [1], "the exact name goes first");
        assert_eq!(find("eowyn", &["Éowyn", "Èowyn"]), [0, 1]);
        assert_eq!(find("İzmir", &["izmir"]), [0]);
        assert_eq!(find("ılker", &["İlker"]), [0]);
        assert_eq!(find("ISPARTA", &["Isparta", "ısparta"]), [0]);
        assert_eq!(find("dragon", &["🐉", "Bo"]), [0]);
        assert_eq!(find("🐉", &["🐲", "🐉"]), [1]);
        assert_eq!(find("\u{301}", &["\u{301}", "\u{300}"]), [0], "nothing is left of it without accents");
        assert_eq!(find("\u{302}", &["\u{301}", "\u{300}"]), [0; 0]);
    }

    #[test]
    fn equal_names_are_all_found_and_a_thing_of_two_names_is_found_once() {
        assert_eq!(find("ann", &["Ann", "Bob", "Ann"]), [0, 2]);
        let known = || [(7, "ann"), (7, "Ann"), (8, "Annabel")].into_iter();
        assert_eq!(typed("ann", known), [7]);
        assert_eq!(typed("an", known), [7, 8]);
    }

    #[test]
    fn a_label_with_a_number_is_found_as_printed() {
        assert_eq!(title_and_number(&numbered("Ann", "#2")), Some(("Ann", 2)));
        assert_eq!(title_and_number("Ann (the old) #12"), Some(("Ann (the old)", 12)));
        assert_eq!(title_and_number("Ann#2"), Some(("Ann", 2)));
        for other in ["Ann", "#2", "(#2)", "Ann (#x)", "Ann (#2", "Ann #2)", "Ann (2)", ""] {
            let read = title_and_number(other);
            assert!(read.is_none() || other == "Ann (#2", "{other}: {read:?}");
        }
    }

    #[test]
    fn a_script_names_exactly() {
        let names = || ["Éowyn", "Bandit Chief"].iter().map(|name| (*name, *name));
        assert_eq!(exactly("éowyn", names), ["Éowyn"]);
        for loose in ["eowyn", "bandit", "chief", "bandit_chief", "e\u{301}owyn", ""] {
            assert_eq!(exactly(loose, names), [""; 0], "{loose}");
        }
    }
}
