use riskbreaker::names::{places, title_and_number};
use riskbreaker::{Ask, Refusal};

use crate::cli::row::{Row, Span};
use crate::cli::screen::Screen;

/// An ambiguous name in a typed line. The prompt asks which one is meant, and a number answers.
#[derive(Debug)]
pub struct UnclearName {
    line: String,
    given: String,
    candidates: Vec<String>,
    /// The byte offset from which the name is searched: the part before it is already resolved.
    from: usize,
}

impl UnclearName {
    /// Returns `None` if the refusal has another reason, or if the refused name is not in the line.
    pub fn of(line: &str, from: usize, refusal: &Refusal) -> Option<UnclearName> {
        let Refusal::Ambiguous { given, candidates, .. } = refusal else { return None };
        let unclear = UnclearName { line: line.to_owned(), given: given.clone(), candidates: candidates.clone(), from };
        (candidates.len() > 1 && unclear.places().next().is_some()).then_some(unclear)
    }

    /// The candidate that a line chooses by its number.
    pub fn chosen(&self, line: &str) -> Option<&str> {
        let number: usize = line.trim().parse().ok()?;
        self.candidates.get(number.checked_sub(1)?).map(String::as_str)
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        places(&self.given, &self.line).filter(|at| *at >= self.from)
    }

    /// The line with the name replaced by the candidate, once for each occurrence, and the offset after it.
    pub fn lines_with(&self, candidate: &str) -> Vec<(String, usize)> {
        let line = |at: usize| {
            let (before, after) = (&self.line[..at], &self.line[at + self.given.len()..]);
            let is_quoted = before.ends_with('"');
            // A comma or a small word would end the name.
            let needs_quotes = candidate.contains([',', ' '])
                && title_and_number(candidate).is_none_or(|(title, _)| title.contains([',', ' ']));
            let before = match needs_quotes && !is_quoted && !before.trim().is_empty() && !candidate.contains('"') {
                true => format!("{before}\"{candidate}\""),
                false => format!("{before}{candidate}"),
            };
            (format!("{before}{after}"), before.len())
        };
        self.places().map(line).collect()
    }

    /// Prints the refusal and the candidates by number.
    pub fn tell(&self, screen: &mut Screen) -> anyhow::Result<()> {
        let text =
            format!("`{}` fits {} names. Type the number of the one you mean:", self.given, self.candidates.len());
        screen.row(&Row::at(2).plain(text))?;
        let rows = self.candidates.iter().zip(1..).take(Ask::MOST_SHOWN);
        let cells = rows.map(|(name, number)| vec![Span::plain(format!("{number}")), Span::strong(name)]).collect();
        screen.columns(3, cells)?;
        if let more @ 1.. = self.candidates.len().saturating_sub(Ask::MOST_SHOWN) {
            screen.row(&Row::at(3).faint(format!("and {more} more: type more of the name")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unclear(line: &str, from: usize, candidates: &[&str]) -> Option<UnclearName> {
        let candidates = candidates.iter().map(ToString::to_string).collect();
        UnclearName::of(line, from, &Refusal::Ambiguous { topic: None, given: "ann".into(), candidates })
    }

    #[test]
    fn a_number_of_the_list_chooses_and_anything_else_is_a_new_line() {
        let unclear = unclear("set ann harm 3", 0, &["Ann (#1)", "Ann (#2)"]).unwrap();
        assert_eq!(unclear.chosen("2"), Some("Ann (#2)"));
        assert_eq!(unclear.chosen(" 1 "), Some("Ann (#1)"));
        for line in ["0", "3", "-1", "ann", "2 2", "", "#2"] {
            assert_eq!(unclear.chosen(line), None, "{line}");
        }
        assert_eq!(unclear.lines_with("Ann (#2)"), [("set Ann (#2) harm 3".to_owned(), 12)]);
    }

    #[test]
    fn the_name_is_replaced_where_it_stands_as_a_word() {
        let lines = |line: &str, from: usize, candidate: &str| {
            let unclear = unclear(line, from, &["Ann (#1)", candidate]).unwrap();
            unclear.lines_with(candidate).into_iter().map(|(line, _)| line).collect::<Vec<_>>()
        };
        assert_eq!(lines("annoy hanna on ann", 0, "Ann (#2)"), ["annoy hanna on Ann (#2)"]);
        assert_eq!(lines("ann: strike on ann", 0, "Ann (#2)"), ["Ann (#2): strike on ann", "ann: strike on Ann (#2)"]);
        assert_eq!(lines("ann: strike on ann", 3, "Ann (#2)"), ["ann: strike on Ann (#2)"]);
        assert_eq!(lines("strike on ann, bob", 0, "Ann, the old"), ["strike on \"Ann, the old\", bob"]);
        assert_eq!(lines("strike on \"ann\"", 0, "Ann, the old"), ["strike on \"Ann, the old\""]);
        assert_eq!(lines("ann", 0, "Ann the old"), ["Ann the old"]);
        assert!(
            unclear("strike on Ann", 0, &["Ann (#1)", "Ann (#2)"]).is_none(),
            "it is not the name that was refused"
        );
    }
}
