//! Two cards or two items have the same title.

use std::collections::BTreeMap;

use crate::fact::problem;
use crate::lint::{Example, Lint, Severity};
use riskbreaker_ruleset::{Card, Cure, Problem, Stack};

pub(crate) static LINT: Lint = Lint {
    name: "same-title",
    severity: Severity::Warning,
    summary: "two cards or two items have the same title",
    explanation: "The title is the word that people see and type. With the same title, two cards are the same word \
                  at the prompt and on paper. Most often one of them is a copy whose title was not changed.",
    bad: Example::Files(&[(
        "maneuvers/heave.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "heave",
	title = "Pull",
	text = "Pull hard.",
	resolve = function(ctx)
		rb.say("{} heaves", ctx.actor)
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "maneuvers/heave.luau",
        r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "heave",
	title = "Heave",
	text = "Pull hard.",
	resolve = function(ctx)
		rb.say("{} heaves", ctx.actor)
	end,
})
"#,
    )]),
};

/// Returns a problem for each of several cards with one title whose id does not read like the title; for all of them but the first
/// if none does.
pub(crate) fn same_titles(stack: &Stack, cards: &[Card]) -> Vec<Problem> {
    let mut titled: BTreeMap<&str, Vec<&Card>> = BTreeMap::new();
    for card in cards {
        titled.entry(&card.title).or_default().push(card);
    }
    let mut found = Vec::new();
    for (title, cards) in titled.into_iter().filter(|(_, cards)| cards.len() > 1) {
        let like_it = |card: &&&Card| *card.id == title.to_lowercase().replace([' ', '-'], "_");
        let rightful = cards.iter().position(|card| like_it(&card)).unwrap_or(0);
        for (at, card) in cards.iter().enumerate().filter(|(at, _)| *at != rightful) {
            let other = cards[if at == rightful { 0 } else { rightful }];
            let message = format!("`{}` has the title \"{title}\" as well", other.id);
            let own = title_like(&card.id, title);
            let cure = match cards.iter().any(|other| *other.title == *own) || own == title {
                true => "give one of them another title".into(),
                false => {
                    Cure::rewrite(format!("\"{title}\""), format!("\"{own}\""), format!("write title = \"{own}\""))
                }
            };
            let told = (message, cure);
            found.extend(problem(&LINT, (stack, card), ("title", title), told));
        }
    }
    found
}

/// The title of a card by its id, with capitals like another title.
fn title_like(id: &str, other: &str) -> String {
    let has_capitals = other.split(' ').skip(1).any(|word| word.starts_with(char::is_uppercase));
    let words = id.split('_').enumerate().map(|(at, word)| {
        let mut letters = word.chars();
        let first =
            letters.next().map(|first| if at == 0 || has_capitals { first.to_ascii_uppercase() } else { first });
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_reads_like_the_id() {
        assert_eq!(title_like("dig_in", "Pull hard"), "Dig in");
        assert_eq!(title_like("dig_in", "Pull Hard"), "Dig In");
    }
}
