use std::sync::Arc;

use super::advice::Advice;
use super::odds::{FieldOdds, Odds};
use riskbreaker_dice::{Fraction, float, sum};
use riskbreaker_play::{Game, Question};
use riskbreaker_state::{EntityId, Value};

/// The most parts of a reason.
const PARTS: usize = 2;

/// Gives each answer with exact odds of the next step a short reason: what it keeps that another answer may change, and
/// what it may gain or lose that not every answer does. The words are the titles and labels of the ruleset.
pub(super) fn give_reasons(advice: &mut [Advice], game: &Game, question: &Question) {
    let exact: Vec<Option<&Odds>> =
        advice.iter().map(|one| one.odds.as_ref().ok().filter(|odds| odds.is_exact())).collect();
    let reasons: Vec<Option<String>> = (0..advice.len())
        .map(|at| exact[at].and_then(|odds| reason(odds, exact.iter().flatten().copied(), game, question)))
        .collect();
    for (one, reason) in advice.iter_mut().zip(reasons) {
        one.reason = reason;
    }
}

/// A number that is shown at the table and can change.
struct ReasonChange<'o> {
    field: &'o FieldOdds,
    from: i64,
    /// The chance to be higher than before, with the least and most change; `down` likewise for lower.
    up: Option<ReasonStep>,
    down: Option<ReasonStep>,
}

struct ReasonStep {
    chance: Fraction,
    least: u64,
    most: u64,
}

impl ReasonChange<'_> {
    fn of(field: &FieldOdds) -> Option<ReasonChange<'_>> {
        let from = field.from.as_int().filter(|_| field.shown)?;
        let step = |is_up: bool| {
            let there = field.to.iter().filter_map(|(to, chance)| Some((to.as_int()?, chance)));
            let there: Vec<(i64, &Fraction)> =
                there.filter(|(to, _)| if is_up { *to > from } else { *to < from }).collect();
            let by = || there.iter().map(|(to, _)| to.abs_diff(from));
            let (least, most) = (by().min()?, by().max()?);
            Some(ReasonStep { chance: sum(there.iter().map(|(_, chance)| *chance)), least, most })
        };
        let (up, down) = (step(true), step(false));
        (up.is_some() || down.is_some()).then_some(ReasonChange { field, from, up, down })
    }

    fn is_of(&self, other: &ReasonChange) -> bool {
        self.field.entity == other.field.entity && self.field.field == other.field.field
    }

    /// True if the same field has the same values with the same chances.
    fn is_same(&self, other: &ReasonChange) -> bool {
        self.is_of(other) && self.field.to == other.field.to
    }
}

fn reason<'o>(odds: &'o Odds, all: impl Iterator<Item = &'o Odds>, game: &Game, question: &Question) -> Option<String> {
    let own = changes(odds);
    let others: Vec<Vec<ReasonChange>> = all.filter(|other| !std::ptr::eq(*other, odds)).map(changes).collect();
    if others.is_empty() {
        return None;
    }
    let mut kept: Vec<String> = Vec::new();
    for change in others.iter().flatten() {
        let is_lost = change.down.is_some() && is_own(game, question, change.field.entity);
        if is_lost && change.from > 0 && !own.iter().any(|known| known.is_of(change)) {
            let text = format!("keeps {} {}", change.from, change.field.label);
            if !kept.contains(&text) {
                kept.push(text);
            }
        }
    }
    // A change that is the same for every answer is no reason for one of them.
    let apart = own.iter().filter(|change| !others.iter().all(|other| other.iter().any(|known| known.is_same(change))));
    let mut told: Vec<(bool, Fraction, String)> = Vec::new();
    for change in apart {
        let is_own = is_own(game, question, change.field.entity);
        for (step, [will, may, that]) in
            [(&change.up, ["gains", "to gain", "gains"]), (&change.down, ["loses", "to lose", "loses"])]
        {
            let Some(ReasonStep { chance, least, most }) = step else { continue };
            let amount = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let what = format!("{amount} {}", change.field.label);
            let percent = percent(chance);
            let text = match (*chance == Fraction::ONE, is_own) {
                (true, true) => format!("{will} {what}"),
                (false, true) => format!("{percent} {may} {what}"),
                (true, false) => format!("{} {that} {what}", change.field.title),
                (false, false) => format!("{percent} that {} {that} {what}", change.field.title),
            };
            told.push((is_own, chance.clone(), text));
        }
    }
    told.sort_by(|(own, chance, _), (others, other, _)| others.cmp(own).then_with(|| other.cmp(chance)));
    kept.truncate(1);
    let parts: Vec<String> = kept.into_iter().chain(told.into_iter().map(|(_, _, text)| text)).take(PARTS).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn changes(odds: &Odds) -> Vec<ReasonChange<'_>> {
    odds.fields.iter().filter_map(ReasonChange::of).collect()
}

/// True if an entity is the one that the question is about, or one of another kind that a field of it names.
fn is_own(game: &Game, question: &Question, entity: EntityId) -> bool {
    let Some(about) = question.about else { return false };
    let state = &game.context.state;
    let kind = |id: EntityId| state.entity(id).map(|found| found.kind);
    let names = |value: &Value| matches!(value, Value::Entity(named) if *named == entity);
    entity == about
        || kind(entity) != kind(about) && state.entity(about).is_some_and(|found| found.fields.iter().any(names))
}

/// A chance below 1 in percent without decimals; never 0 or 100.
fn percent(chance: &Fraction) -> Arc<str> {
    let percent = 100.0 * float(chance);
    if percent < 0.5 {
        "under 1 %".into()
    } else if percent >= 99.5 {
        "over 99 %".into()
    } else {
        format!("{percent:.0} %").into()
    }
}
