use std::borrow::Cow;

use reedline::{PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus};

use crate::cli::row::{harmless, width_of};

/// The text before the cursor.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The parts: the state of the game, the asked entity, and the topic.
    pub parts: Vec<String>,
    /// True in the middle of a Lua program.
    pub continued: bool,
}

impl Prompt {
    /// Joins the parts. A part that an earlier one contains is left out.
    pub fn text(&self) -> String {
        if self.continued {
            return "  ".to_owned();
        }
        let mut told: Vec<String> = Vec::new();
        for part in self.parts.iter().map(|part| harmless(part.trim())).filter(|part| !part.is_empty()) {
            // `Ranger` is contained in `Ranger (bow 5)`.
            let says = |earlier: &str| {
                earlier == part || earlier.strip_prefix(&*part).is_some_and(|more| more.starts_with(" ("))
            };
            if !told.iter().any(|earlier| earlier.split(" · ").any(says)) {
                told.push(part);
            }
        }
        told.join(" · ")
    }

    /// The prompt for a terminal of this width. Parts that would leave too little room for typing go on a line of their
    /// own.
    pub fn fitted(&self, width: usize) -> String {
        let text = self.text();
        match width_of(&text) {
            0 => String::new(),
            wide if wide + 20 <= width || self.continued => format!("{text} "),
            wide if wide < width => format!("{text}\n"),
            _ => textwrap::fill(&text, width.saturating_sub(1).max(1)) + "\n",
        }
    }
}

/// The prompt in the form of the line editor.
pub struct LinePrompt(pub String);

impl reedline::Prompt for LinePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("» ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let failing = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "not found ",
        };
        Cow::Owned(format!("({failing}earlier: {}) ", search.term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(parts: &[&str]) -> Prompt {
        Prompt { parts: parts.iter().map(|part| (*part).to_owned()).collect(), continued: false }
    }

    #[test]
    fn a_prompt_does_not_repeat_a_part() {
        let prompt = prompt(&["round 1 · Ranger (bow 5)", "Ranger", "card"]);
        assert_eq!(prompt.text(), "round 1 · Ranger (bow 5) · card");
    }

    #[test]
    fn a_part_of_the_prompt_is_left_out_only_if_another_part_equals_it() {
        assert_eq!(
            prompt(&["round 1 · no fight · Ranger", "Ranger", "fight"]).text(),
            "round 1 · no fight · Ranger · fight"
        );
    }

    #[test]
    fn on_a_narrow_terminal_the_cursor_has_a_line_of_its_own() {
        let prompt = prompt(&["round 1 · bridge: even", "Ranger"]);
        assert_eq!(prompt.fitted(80), "round 1 · bridge: even · Ranger ");
        assert_eq!(prompt.fitted(40), "round 1 · bridge: even · Ranger\n");
    }
}
