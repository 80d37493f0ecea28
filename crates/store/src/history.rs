//! The history of a campaign: the events of every scene up to its current entry.

use serde::Serialize;

use super::campaign::Campaign;
use super::error::StoreError;
use super::replay::Waypoint;
use riskbreaker_play::{DecisionCount, Event};

/// The events of a scene that were not undone.
#[derive(Clone, Debug)]
pub struct SceneLog {
    /// The title of the scene.
    pub title: String,
    /// The events, oldest first. Check the audience of each: show a seat only what it may see.
    pub events: Vec<Event>,
}

/// A scene of a campaign, up to its current entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct CampaignScene {
    /// The title of the scene.
    pub title: String,
    /// Its first entry.
    pub first: u32,
    /// Its last entry so far.
    pub last: u32,
}

impl Campaign {
    /// Returns the scenes up to the current entry of the campaign, the oldest first.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub fn scenes(&self) -> Result<Vec<CampaignScene>, StoreError> {
        let mut ends: Vec<(u32, u32, u32)> = Vec::new();
        for Waypoint { row, body } in self.way(self.head())? {
            match ends.last_mut() {
                Some((scene, _, end)) if *scene == body.scene => *end = row.id,
                _ => ends.push((body.scene, row.id, row.id)),
            }
        }
        let file = self.file();
        ends.into_iter()
            .map(|(scene, first, last)| Ok(CampaignScene { title: file.scene(self.game(), scene)?.title, first, last }))
            .collect()
    }

    /// The events of all scenes that were not undone. Each scene is replayed from its beginning; if this program gets
    /// another state than the stored one, from its last checkpoint.
    ///
    /// # Errors
    ///
    /// As [`Campaign::session`].
    pub fn history(&self) -> Result<Vec<SceneLog>, StoreError> {
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for Waypoint { row, body } in self.way(self.head())?.iter().filter(|at| at.body.place.is_some()) {
            match ends.last_mut() {
                Some((scene, end)) if *scene == body.scene => *end = row.id,
                _ => ends.push((body.scene, row.id)),
            }
        }
        let mut file = self.file();
        ends.into_iter()
            .map(|(scene, end)| {
                let title = file.scene(self.game(), scene)?.title;
                let opened = self.open_as_it_fits(&mut file, end, None)?;
                Ok(SceneLog { title, events: opened.session.log() })
            })
            .collect()
    }

    /// The number of decisions before each of the last entries of this scene, oldest first. An undo goes back to the last
    /// of these numbers, however many answers an entry holds. Returns at most `most` of them.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub fn decisions_before(&self, most: usize) -> Result<Vec<DecisionCount>, StoreError> {
        let (file, mut at) = (self.file(), self.head());
        let mut marks = Vec::new();
        let mut scene = None;
        while at != 0 && marks.len() <= most {
            let (row, body) = file.checked_moment(self.game(), at)?;
            if *scene.get_or_insert(body.scene) != body.scene {
                break;
            }
            let mark = body.counted(row.decisions);
            if marks.last() != Some(&mark) {
                marks.push(mark);
            }
            at = row.parent;
        }
        marks.reverse();
        marks.pop();
        Ok(marks)
    }
}
