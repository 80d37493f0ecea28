use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsp_server::RequestId;

use riskbreaker_dice::sum;
use riskbreaker_lab::{Limits, Odds, OddsQuery, Opening, Place, Position, chance_of, fraction_of, until};
use riskbreaker_play::{Refusal, Ruleset};
use riskbreaker_ruleset::Library;

/// A request for the odds of a card.
pub(super) struct CardOddsJob {
    pub request: RequestId,
    pub of: HoveredCard,
}

/// A card that the mouse points at.
pub(super) struct HoveredCard {
    /// Its id.
    pub card: String,
    /// The rules, with the unsaved texts of the editor.
    pub rules: Arc<Ruleset>,
    /// The saved rulesets; `None` if all texts are saved.
    pub saved: Option<Library>,
}

/// The most outcomes in the table.
const MOST_OUTCOMES: usize = 10;

/// The most assumed answers that are listed.
const MOST_ANSWERS: usize = 4;

/// The limits for the odds in a hover: about half a second for each of the two tables.
const LIMITS: Limits = Limits { ways: 100_000, points: 80_000, bytes: 32 << 20, samples: 2_000, work: 100_000_000 };

/// The odds of a card as Markdown: in the default scenario or, if the card is closed there, in a similar position. If a
/// text is not saved, the table also has the odds by the saved rules in the same position.
pub(super) fn card_odds(of: &HoveredCard, stop: &Arc<AtomicBool>) -> String {
    let HoveredCard { card, rules, saved } = of;
    let query = OddsQuery {
        limits: LIMITS,
        until: until(rules, None).unwrap_or_default(),
        interrupt: Some(stop.clone()),
        ..OddsQuery::default()
    };
    let position = Position { card: card.clone(), query, ..Position::default() };
    let now = position.odds_where_open(rules);
    if stop.load(Ordering::Relaxed) {
        return String::new();
    }
    let open = now.as_ref().map_or(&position, |(.., open)| open).clone();
    let before = saved.as_ref().map(|library| saved_odds(library, rules, &open));
    let (now, place, openings) = match now {
        Ok((now, place, openings, _)) => (now, place, openings),
        Err(refusal) => return format!("No odds of `{card}`: {refusal}"),
    };
    let mut text = format!("**Odds** {}", place_in_words(rules, &place, &openings));
    if let Some(until) = now.until_in_words() {
        text.push_str(&format!(", {until}"));
    }
    match &before {
        Some(Ok(before)) if is_same(before, &now) => {
            text.push_str(&format!("\n\n{}\n\nThe edit does not change them.", table(&[("chance", &now)])));
        }
        Some(Ok(before)) => {
            text.push_str(&format!("\n\n{}", table(&[("saved", before), ("edited", &now)])));
            if !before.is_exact() {
                text.push_str(&format!("\n\nsaved: {}", before.proof_in_words()));
            }
        }
        Some(Err(why)) => {
            text.push_str(&format!("\n\n{}\n\nNo odds by the saved rules: {why}", table(&[("chance", &now)])));
        }
        None => text.push_str(&format!("\n\n{}", table(&[("chance", &now)]))),
    }
    for line in now.answers_in_words().iter().take(MOST_ANSWERS) {
        text.push_str(&format!("\n\n{}", plain(line)));
    }
    text.push_str(&format!("\n\n{}", plain(&now.proof_in_words())));
    text
}

/// The odds by the saved rules, in the position used for the edited rules.
fn saved_odds(library: &Library, rules: &Ruleset, position: &Position) -> Result<Odds, String> {
    let saved = Ruleset::load_with(library, rules.id(), rules.extra_layers());
    let saved = saved.map_err(|_| "they do not load".to_owned())?;
    position.odds(&saved).map(|(odds, _)| odds).map_err(|refusal: Refusal| refusal.to_string())
}

/// Describes where the card is played: the scenario, the actor, and the changes that open it.
fn place_in_words(rules: &Ruleset, place: &Place, openings: &[Opening]) -> String {
    let scenario = rules.default_scenario().map_or(String::new(), |name| format!("in the scenario `{name}`"));
    let actor = place.actor.iter().map(|actor| format!(", played by {}", plain(actor)));
    let others = openings.iter().filter(|opening| !matches!(opening, Opening::Actor(_)));
    let others = others.map(|opening| format!(", {}", plain(&opening.to_string())));
    format!("{scenario}{}", actor.chain(others).collect::<String>())
}

fn is_same(one: &Odds, other: &Odds) -> bool {
    let chances = |odds: &Odds| odds.outcomes.iter().map(|(_, chance)| chance.clone()).collect::<Vec<_>>();
    one.lines() == other.lines() && chances(one) == chances(other) && one.remaining == other.remaining
}

/// The outcomes with their chances, a column for each set of rules. The outcomes of the last one come first.
fn table(columns: &[(&str, &Odds)]) -> String {
    let told: Vec<Vec<String>> = columns.iter().map(|(_, odds)| odds.lines()).collect();
    let mut lines: Vec<&String> = Vec::new();
    for line in told.iter().rev().flatten() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let heads: String = columns.iter().map(|(name, _)| format!(" {name} |")).collect();
    let rule = " ---: |".repeat(columns.len());
    let mut rows = vec![format!("|{heads} outcome |"), format!("|{rule} --- |")];
    for line in lines.iter().take(MOST_OUTCOMES) {
        let cells: String = columns
            .iter()
            .zip(&told)
            .map(|((_, odds), told)| {
                let like_it = told.iter().zip(&odds.outcomes).filter(|(other, _)| other == line);
                let chance = sum(like_it.map(|(_, (_, chance))| chance));
                match chance.is_zero() {
                    true => " - |".to_owned(),
                    false => {
                        let exactly = fraction_of(odds, &chance);
                        format!(" {} |", format!("{} {exactly}", chance_of(odds, &chance)).trim_end())
                    }
                }
            })
            .collect();
        rows.push(format!("|{cells} {} |", plain(line)));
    }
    if lines.len() > MOST_OUTCOMES {
        let more = lines.len() - MOST_OUTCOMES;
        rows.push(format!("|{} {more} more |", " |".repeat(columns.len())));
    }
    rows.join("\n")
}

/// Escapes a text of the rules for Markdown and puts it on one line.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '<' | '[' | '\\' => shown.extend(['\\', letter]),
            letter if letter.is_control() => shown.push(' '),
            letter => shown.push(letter),
        }
    }
    shown
}
