//! Replays a campaign from its beginning: entry by entry, compared with the stored states, or under other rules.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::campaign::Campaign;
use super::error::StoreError;
use super::label::label;
use super::rows::{MomentBody, MomentRow, actions_between};
use riskbreaker_play::{Event, Ruleset, Session, event_lines};

/// A replayed entry.
pub struct Replayed<'s> {
    /// The number of the entry.
    pub entry: u32,
    /// The decision as text.
    pub text: String,
    /// The title of the scene, if one begins here.
    pub scene: Option<String>,
    /// Its events.
    pub events: Vec<Event>,
    /// True if there is a checkpoint here, which was compared.
    pub checkpoint: bool,
    /// The game after the last action of the entry.
    pub session: &'s mut Session,
}

/// The extent of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// The number of replayed entries.
    pub entries: u32,
    /// The number of scenes among them.
    pub scenes: u32,
    /// The number of compared checkpoints.
    pub checkpoints: u32,
}

/// The first difference between a game and its replay under other rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The first entry that differs.
    pub entry: u32,
    /// Its decision.
    pub text: String,
    /// The original events, a line each.
    pub kept: Vec<String>,
    /// The events under the other rules, or the other question if they ask a different one.
    pub other: Vec<String>,
}

/// An entry on a path.
pub(super) struct Waypoint {
    pub row: MomentRow,
    pub body: MomentBody,
}

impl Campaign {
    /// Replays the entries on the path to `to` (default: the current entry). Compares each with the stored hash of its
    /// state. `visit` gets each entry, and may stop the replay.
    ///
    /// # Errors
    ///
    /// The first entry whose replay differs, or gives another state than the stored one.
    pub fn replay(
        &self,
        to: Option<u32>,
        visit: impl FnMut(Replayed<'_>) -> ControlFlow<()>,
    ) -> Result<ReplaySummary, StoreError> {
        self.replay_since(0, to, visit)
    }

    /// Like [`Campaign::replay`], without the scenes that ended before the entry `since`.
    pub(super) fn replay_since(
        &self,
        since: u32,
        to: Option<u32>,
        mut visit: impl FnMut(Replayed<'_>) -> ControlFlow<()>,
    ) -> Result<ReplaySummary, StoreError> {
        let game = self.game();
        let mut summary = ReplaySummary::default();
        let mut way = self.way(to.unwrap_or(self.head()))?;
        let scene = way.iter().find(|at| at.row.id > since).map(|at| at.body.scene);
        way.retain(|at| since == 0 || Some(at.body.scene) >= scene);
        let mut played: Option<(u32, Session, u32)> = None;
        for Waypoint { row, body } in way {
            let id = row.id;
            if body.place.is_none() {
                summary.entries += 1;
                continue;
            }
            let file = &mut *self.file();
            let mut title = None;
            if played.as_ref().is_none_or(|(scene, ..)| *scene != body.scene) {
                let scene = file.scene(game, body.scene)?;
                let rules = file.find_rules(&scene.rules)?;
                played = Some((body.scene, Session::before_its_start(&rules, scene.setup)?, 0));
                summary.scenes += 1;
                title = Some(scene.title);
            }
            let Some((_, session, tip)) = &mut played else { continue };
            let checkpoint = file.play_to(game, session, *tip, &row, &body)?;
            *tip = row.tip;
            summary.checkpoints += u32::from(checkpoint);
            summary.entries += 1;
            let text = label(file, game, id)?;
            let events = session.take_events();
            if visit(Replayed { entry: id, text, scene: title, events, checkpoint, session }).is_break() {
                break;
            }
        }
        Ok(summary)
    }

    /// Replays the scenes on the path to the current entry under other rules. Returns the first difference.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`]; or the scene cannot begin under the other rules.
    pub fn differs_under(&self, other: &Arc<Ruleset>) -> Result<Option<FirstDifference>, StoreError> {
        let game = self.game();
        let way = self.way(self.head())?;
        let mut sessions: Option<(Session, Session)> = None;
        let (mut tip, mut of) = (0, 0);
        for Waypoint { row, body } in way.into_iter().filter(|at| at.body.place.is_some()) {
            let file = &mut *self.file();
            if std::mem::replace(&mut of, body.scene) != body.scene {
                tip = 0;
                let scene = file.scene(game, body.scene)?;
                let rules = file.find_rules(&scene.rules)?;
                let setup = scene.setup;
                sessions =
                    Some((Session::before_its_start(&rules, setup.clone())?, Session::before_its_start(other, setup)?));
            }
            let Some((kept, changed)) = &mut sessions else { continue };
            let part = actions_between(file, game, tip, row.tip, body.scene)?;
            tip = row.tip;
            let text = label(file, game, row.id)?;
            let mut find = |hash: &str| file.find_rules(hash).map_err(|error| error.to_string());
            kept.replay(&part, &mut find).map_err(|message| StoreError::Diverged { entry: row.id, message })?;
            let before = event_lines(&kept.take_events());
            let mut stay = |_: &str| Err("the rules change here, so the comparison ends".to_owned());
            let went = changed.replay(&part, &mut stay);
            let mut after = event_lines(&changed.take_events());
            if let Err(message) = went {
                after.push(message);
            } else if before == after {
                continue;
            }
            let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
            return Ok(Some(FirstDifference {
                entry: row.id,
                text,
                kept: before[same..].to_vec(),
                other: after[same..].to_vec(),
            }));
        }
        Ok(None)
    }

    /// The entries on the path to one, in order.
    pub(super) fn way(&self, to: u32) -> Result<Vec<Waypoint>, StoreError> {
        let (file, game) = (self.file(), self.game());
        if to > self.entries() {
            return Err(self.no_entry(to));
        }
        let (mut way, mut at) = (Vec::new(), to);
        while at != 0 {
            let (row, body) = file.checked_moment(game, at)?;
            at = row.parent;
            way.push(Waypoint { row, body });
        }
        way.reverse();
        Ok(way)
    }
}
