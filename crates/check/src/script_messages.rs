//! Edits for problems that scripts of a ruleset have told with `error`.
//!
//! Such a problem is only a text, as in `error("there is no skill Swrod; did you mean Sword?")`: what is wrong and what was
//! meant is nowhere else. What loading itself finds carries its cure as data.

use std::ops::Range;

use crate::syntax::is_of_name;
use riskbreaker_ruleset::{Cure, Problem, TextChange, find_whole, likeliest, slips};

/// A problem with the text of its file.
struct ScriptMessage<'p> {
    problem: &'p Problem,
    text: &'p str,
}

/// Gives a problem without an edit the one that the message of a script describes, as far as the place is certain. Moves
/// the problem to the value that the script has named.
pub(crate) fn cure_by_message(problem: &mut Problem, text: &str) {
    if problem.changes_in(text).all().next().is_some() {
        return;
    }
    let told = ScriptMessage { problem, text };
    if let Some((sentence, change)) = told.exchanged_rating() {
        problem.change = Some(change);
        problem.cure = Some(sentence.into());
        return;
    }
    if let Some((span, meant)) = told.suggested() {
        let begin = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
        problem.line = Some(text[..begin].matches('\n').count() as u32 + 1);
        problem.column = Some(text[begin..span.start].chars().count() as u32 + 1);
        problem.cure = Some(Cure::meant_text(&text[span.clone()], &*meant));
        problem.change = Some(TextChange { begin: span.start, end: span.end, text: meant });
    }
}

impl<'p> ScriptMessage<'p> {
    fn message(&self) -> &'p str {
        &self.problem.message
    }

    /// The bytes of the line of the problem.
    fn line(&self) -> Option<Range<usize>> {
        let line = self.text.split_inclusive('\n').nth(self.problem.line?.checked_sub(1)? as usize)?;
        let begin = line.as_ptr() as usize - self.text.as_ptr() as usize;
        Some(begin..begin + line.trim_end().len())
    }

    /// A value with its number behind it, where the file has the number first: `"Axe: 5"` for `"5: Axe"`.
    fn exchanged_rating(&self) -> Option<(String, TextChange)> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let line = self.line()?;
        let code = &self.text[line.clone()];
        let begin = line.start + code.find('"')? + 1;
        let value = self.text[begin..line.end].split('"').next()?;
        let (words, number) = value.rsplit_once(':')?;
        let has_first = |line: &str| {
            let value = line.split('"').nth(1).unwrap_or_default();
            value.split_once(':').is_some_and(|(number, _)| is_number(number.trim()))
        };
        let fits = self.message().contains(value) && is_number(number.trim()) && self.text.lines().any(has_first);
        let text = format!("{}: {}", number.trim(), words.trim());
        let change = TextChange { begin, end: begin + value.len(), text: text.clone() };
        fits.then(|| (format!("write \"{text}\""), change))
    }

    /// The place of the wrong word in the file and the right one, where a script suggests it or lists the possible words.
    fn suggested(&self) -> Option<(Range<usize>, String)> {
        let message = self.message();
        if let Some((before, meant)) = message.rsplit_once("did you mean ") {
            let meant = meant.split('?').next()?.trim_matches(['`', '"']);
            let words: Vec<&str> =
                before.split([' ', ',', ':', ';', '`', '"']).filter(|word| !word.is_empty()).collect();
            let spans = (1..=3).flat_map(|length| words.windows(length).map(|words| words.join(" ")));
            let near = |word: String| Some((slips(&word, meant, 4)?, word)).filter(|(slips, _)| *slips > 0);
            let (distance, wrong) = spans.filter_map(near).filter(|(_, word)| self.only(word).is_some()).min()?;
            let span = self.only(&wrong)?;
            // A name of the same file that is about as near goes before others.
            let begins = |word: &str| word.chars().next() == wrong.chars().next();
            let is_as_near =
                |word: &&str| **word != *wrong && begins(word) && slips(word, &wrong, distance + 1).is_some();
            let own = self.text.split(|letter| !is_of_name(letter)).filter(|word| word.len() > 2).find(is_as_near);
            let own = own.filter(|_| !wrong.contains(' ') && !self.text.contains(meant));
            return Some((span, own.unwrap_or(meant).to_owned()));
        }
        let (before, list) = message.rsplit_once(": ")?;
        let list = list.split(" (").next()?;
        let names =
            [" have ", " are ", "known "].iter().find_map(|mark| list.split_once(*mark).map(|(_, rest)| rest))?;
        let names: Vec<&str> = names.split(", ").flat_map(|name| name.split(" and ")).map(str::trim).collect();
        let wrong = before.rsplit(' ').next()?.trim_matches(['`', '"']);
        let span = self.only(wrong)?;
        let is_small = wrong.chars().all(|letter| !letter.is_uppercase());
        let small: Vec<String> =
            names.iter().map(|name| if is_small { name.to_lowercase() } else { (*name).to_owned() }).collect();
        let free: Vec<&str> =
            small.iter().map(String::as_str).filter(|name| find_whole(self.text, name).is_none()).collect();
        let near = likeliest(wrong, small.iter().map(String::as_str));
        let meant = near.or(match free.as_slice() {
            [only] => Some(*only),
            _ => None,
        })?;
        Some((span, meant.to_owned()))
    }

    /// The only place in the file where a word occurs, outside of comments.
    fn only(&self, word: &str) -> Option<Range<usize>> {
        let begin = find_whole(self.text, word)?;
        let end = begin + word.len();
        let is_once = find_whole(&self.text[end..], word).is_none();
        is_once.then_some(begin..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::cast_fails;

    /// The text after the edit of a problem with a message, and the line of the problem then.
    fn cured(text: &str, line: u32, message: &str) -> (String, Option<u32>) {
        let mut problem = cast_fails::LINT.problem("g/cast/ann.toml", message).at((line, 1));
        cure_by_message(&mut problem, text);
        let after = problem.change.as_ref().and_then(|change| change.applied_to(text));
        (after.unwrap_or_else(|| text.to_owned()), problem.line)
    }

    #[test]
    fn a_suggestion_is_an_edit_of_the_only_place_of_the_word() {
        let sheet = "name = \"Ann\"\nskills = [\"Swrod\"]\n";
        let (after, line) = cured(sheet, 1, "there is no skill Swrod: did you mean Sword?");
        assert_eq!((after.as_str(), line), ("name = \"Ann\"\nskills = [\"Sword\"]\n", Some(2)));
        let twice = "skills = [\"Swrod\", \"Swrod\"]\n";
        assert_eq!(cured(twice, 1, "there is no skill Swrod: did you mean Sword?").0, twice);
    }

    #[test]
    fn a_list_of_names_is_an_edit_if_one_is_near() {
        let (after, _) = cured("class = \"figther\"\n", 1, "no class figther: the classes are fighter, thief and mage");
        assert_eq!(after, "class = \"fighter\"\n");
        assert_eq!(cured("class = \"x\"\n", 1, "no class x: the classes are fighter and mage").0, "class = \"x\"\n");
    }

    #[test]
    fn a_number_behind_its_value_moves_before_it() {
        let (after, _) = cured("a = \"5: Axe\"\nb = \"Bow: 4\"\n", 2, "`Bow: 4` is no weapon with its rating");
        assert_eq!(after, "a = \"5: Axe\"\nb = \"4: Bow\"\n");
    }

    #[test]
    fn a_problem_with_an_edit_keeps_it() {
        let change = TextChange { begin: 0, end: 1, text: "b".into() };
        let problem = cast_fails::LINT.problem("g/cast/ann.toml", "no a: did you mean c?").at((1, 1));
        let mut problem = problem.with_change(change.clone());
        cure_by_message(&mut problem, "a");
        assert_eq!(problem.change, Some(change));
    }
}
