//! A campaign played again from its beginning: entry by entry, compared with what was kept, or under other rules.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::StoreFile;
use super::log::label;
use super::rows::{MomentBody, MomentRow};
use riskbreaker_play::{Done, Event, Ruleset, Session, event_lines};

/// An entry that was played again.
pub struct Replayed<'s> {
    /// The number of the entry.
    pub entry: u32,
    /// What was decided, in words.
    pub text: String,
    /// The title of the scene, where it begins here.
    pub scene: Option<String>,
    /// What it told.
    pub events: Vec<Event>,
    /// Whether a checkpoint stands here, and was compared.
    pub checkpoint: bool,
    /// The game behind the last action of the entry.
    pub session: &'s mut Session,
}

/// What a replay went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// Entries that were played again.
    pub entries: u32,
    /// Scenes among them.
    pub scenes: u32,
    /// Checkpoints that were compared.
    pub checkpoints: u32,
}

/// Where a game under other rules first differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The first entry that differs.
    pub entry: u32,
    /// What was decided there.
    pub text: String,
    /// What happened, a line each.
    pub kept: Vec<String>,
    /// What happens under the other rules instead; where they ask for something else, that.
    pub other: Vec<String>,
}

/// An entry on the way to another one.
pub(super) struct Waypoint {
    pub row: MomentRow,
    pub body: MomentBody,
}

impl Campaign {
    /// Plays the entries on the way to `to` again (to where the campaign stands if none is named), each compared with the
    /// hash of the state that was kept. `visit` sees each, and may end it.
    ///
    /// # Errors
    ///
    /// The first entry that goes another way or leads to another state than the one that was kept.
    pub fn replay(
        &self,
        to: Option<u32>,
        visit: impl FnMut(Replayed<'_>) -> ControlFlow<()>,
    ) -> Result<ReplaySummary, StoreError> {
        self.replay_since(0, to, visit)
    }

    /// The same without the scenes that ended before the entry `since`.
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

    /// Plays the scenes on the way to where the campaign stands under other rules, and says where it first differs.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`]; other rules that cannot begin the scene.
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

    /// The entries on the way to one, the first one first.
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

/// The actions behind one up to another one, the oldest first.
pub(super) fn actions_between(
    file: &StoreFile,
    game: u32,
    from: u32,
    to: u32,
    scene: u32,
) -> Result<Arc<[Done]>, StoreError> {
    let (mut done, mut at) = (Vec::new(), to);
    while at != from {
        if at < from {
            return Err(StoreError::damaged(format!("the tape between the actions {from} and {to}")));
        }
        let row = file.checked_action(game, at, scene)?;
        done.push(file.done(&row)?);
        at = row.parent;
    }
    done.reverse();
    Ok(done.into())
}
