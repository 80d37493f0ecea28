//! Classifies outcomes as successes or failures of the asked seat, from what the ruleset declares: hits, numbers and
//! sides.

use std::sync::Arc;

use super::odds::Odds;
use super::outcome::{Effect, Outcome};
use riskbreaker_play::{Question, Session, View, Viewer, WorkedOut};
use riskbreaker_state::{EntityId, NumberSource, OutcomeKind};

/// The sides of a game, as its ruleset declares them.
struct Sides<'v, 's> {
    view: &'v View<'s>,
    /// The side of the entity that the question is about.
    own: Option<Arc<str>>,
    /// The seat that is asked.
    seat: Arc<str>,
}

impl Sides<'_, '_> {
    /// 1 for the own side, -1 for another, 0 if the side is not known.
    fn sign(&self, id: EntityId) -> i64 {
        let profile = self.view.profile(id, &WorkedOut::new());
        match (&self.own, profile.side.map(|side| side.title), profile.seat) {
            (Some(own), Some(side), _) => {
                if *own == side {
                    1
                } else {
                    -1
                }
            }
            (_, _, Some(seat)) => {
                if seat == self.seat {
                    1
                } else {
                    -1
                }
            }
            _ => 0,
        }
    }
}

/// Returns the kinds of the outcomes of `odds`, in their order, for the seat that `question` asks, as far as `viewer`
/// can tell.
///
/// An outcome is a success if it hits somebody of another side, or else if the numbers that the ruleset declares change
/// for the better of the own side. It is a failure if they change for the worse. An outcome without such a change is a
/// failure if there are successes, a success if there are failures, and otherwise neither.
pub fn kinds_of_outcomes(session: &Session, odds: &Odds, question: &Question, viewer: &Viewer) -> Vec<OutcomeKind> {
    // A side that the viewer does not know is treated as unknown.
    let known = session.known(viewer);
    let view = known.view(session);
    let side_of = |id: EntityId| view.profile(id, &WorkedOut::new()).side.map(|side| side.title);
    let of_seat = || {
        let mut own =
            view.entities().filter(|id| view.profile(*id, &WorkedOut::new()).seat.as_ref() == Some(&question.seat));
        own.find_map(side_of)
    };
    let own = question.about.and_then(side_of).or_else(of_seat);
    let sides = Sides { view: &view, own, seat: question.seat.clone() };
    let scores: Vec<i64> = odds.outcomes.iter().map(|(outcome, _)| sides.score(session, outcome)).collect();
    let (better, worse) = (scores.iter().any(|score| *score > 0), scores.iter().any(|score| *score < 0));
    let kind = |score: i64| match (score.signum(), better, worse) {
        (1, ..) | (0, false, true) => OutcomeKind::Success,
        (-1, ..) | (0, true, false) => OutcomeKind::Failure,
        _ => OutcomeKind::Other,
    };
    scores.into_iter().map(kind).collect()
}

impl Sides<'_, '_> {
    /// The score of an outcome: above 0 if it is good for the own side, below 0 if it is bad.
    fn score(&self, session: &Session, outcome: &Outcome) -> i64 {
        let hits = outcome.hit.iter().filter_map(|title| self.view.find(title).ok()).map(|id| -self.sign(id));
        let hits: Vec<i64> = hits.collect();
        if let Some(best) = hits.into_iter().max().filter(|best| *best != 0) {
            return best;
        }
        let schema = session.ruleset().schema();
        let worth = |effect: &Effect| {
            let Effect::Changed { entity, field, from, to, .. } = effect else { return None };
            let kind = schema.kind(schema.kind_named(self.view.kind(*entity)?)?);
            let is_it =
                |source: &NumberSource| matches!(source, NumberSource::Field(at) if kind.field(*at).name == *field);
            let number = kind.profile.numbers.iter().find(|number| is_it(&number.value))?;
            let change = (to.as_int()? - from.as_int()?).signum();
            Some(self.sign(*entity) * if number.harm { -change } else { change })
        };
        outcome.effects.iter().filter_map(worth).sum()
    }
}
