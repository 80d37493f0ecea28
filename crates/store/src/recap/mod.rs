//! The recap of a campaign: the actions of each scene, their cards and the outcome, in sentences that are made from
//! events.

mod moment;
mod telling;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use self::moment::{Moment, Watched};
pub use self::telling::RecapParagraph;
use self::telling::Telling;
use super::campaign::Campaign;
use super::error::StoreError;
use super::notes::CampaignNote;
use super::rows::{Scene, actions_between};
use super::whole::must_be_at;
use riskbreaker_play::{Session, Viewer};

/// A recap of a campaign, or of its last session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recap {
    /// The scenes, in the order of play.
    pub scenes: Vec<RecapScene>,
    /// The notes, for the game master only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A scene of a recap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecapScene {
    /// The title of the scene; empty if all its actions were undone.
    pub title: String,
    /// The story of the scene, in paragraphs of whole sentences.
    pub paragraphs: Vec<RecapParagraph>,
}

impl Recap {
    /// Returns all paragraphs of the scenes, then the notes.
    pub fn paragraphs(&self) -> Vec<String> {
        let told = self.scenes.iter().flat_map(|scene| &scene.paragraphs).map(|paragraph| paragraph.text.clone());
        told.chain(self.notes.iter().map(|note| format!("Noted: {note}"))).collect()
    }
}

impl Campaign {
    /// Returns the recap of the last session of play. It has only what the viewer may see; manual edits and notes are
    /// for the game master alone. With [`Viewer::watcher`] it has what all players may see.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn recap(&self, viewer: &Viewer) -> Result<Recap, StoreError> {
        match self.last_sitting()? {
            Some(sitting) => self.recap_since(&sitting, viewer),
            None => Ok(Recap::default()),
        }
    }

    /// Returns the recap of the whole campaign from its first day; otherwise like [`Campaign::recap`].
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn recap_all(&self, viewer: &Viewer) -> Result<Recap, StoreError> {
        match self.notes()?.into_iter().next() {
            Some(first) => self.recap_since(&CampaignNote { entry: 0, text: None, ..first }, viewer),
            None => Ok(Recap::default()),
        }
    }

    fn recap_since(&self, sitting: &CampaignNote, viewer: &Viewer) -> Result<Recap, StoreError> {
        let mut played = self.scenes_since(sitting.entry, viewer)?;
        played.retain(|scene| scene.told);
        let date = sitting.date.get(..10).unwrap_or(&sitting.date);
        let mut recap = Recap::default();
        if played.is_empty() {
            let text = format!("Everything played since {date} was undone.");
            let paragraphs = vec![RecapParagraph { text, turning_point: false }];
            recap.scenes.push(RecapScene { title: String::new(), paragraphs });
        }
        for (at, scene) in played.into_iter().enumerate() {
            let opening = match (at, sitting.entry) {
                (0, 0) => format!("On {date} you began “{}”.", scene.title),
                (0, _) => format!("On {date} you played on in “{}”.", scene.title),
                _ => format!("Then came “{}”.", scene.title),
            };
            let telling = Telling { opening, cast: scene.cast, moments: scene.moments };
            recap.scenes.push(RecapScene { title: scene.title, paragraphs: telling.paragraphs() });
        }
        if viewer.is_master() {
            let later = self.notes()?.into_iter().filter(|note| note.date >= sitting.date);
            recap.notes = later.filter_map(|note| note.text).collect();
        }
        Ok(recap)
    }

    /// Returns the scenes up to the current entry as a viewer saw them, with the actions of the entries after `since`.
    fn scenes_since(&self, since: u32, viewer: &Viewer) -> Result<Vec<PlayedScene>, StoreError> {
        let mut way = self.way(self.head())?;
        let first = way.iter().find(|at| at.row.id > since).map(|at| at.body.scene);
        way.retain(|at| at.body.place.is_some() && Some(at.body.scene) >= first);
        let mut scenes: Vec<PlayedScene> = Vec::new();
        let mut playing: Option<Playing> = None;
        for at in way {
            if playing.as_ref().is_none_or(|playing| playing.scene != at.body.scene) {
                let begun = self.file().scene(self.game(), at.body.scene)?;
                let (scene, session) = self.begin_scene(begun)?;
                scenes.push(scene);
                playing = Some(Playing { scene: at.body.scene, session, tip: 0, watched: Watched::default() });
            }
            let (Some(playing), Some(scene)) = (&mut playing, scenes.last_mut()) else { continue };
            let is_told = at.row.id > since;
            let part = actions_between(&self.file(), self.game(), playing.tip, at.row.tip, at.body.scene)?;
            for done in part.iter() {
                let mut file = self.file();
                let mut find = |hash: &str| file.find_rules(hash).map_err(|error| error.to_string());
                let replayed = playing.session.replay(&Arc::from([done.clone()]), &mut find);
                replayed.map_err(|message| StoreError::Diverged { entry: at.row.id, message })?;
                drop(file);
                let moment = playing.watched.see(&mut playing.session, viewer, &done.cause);
                scene.cast = playing.watched.cast();
                scene.moments.extend(moment.filter(|_| is_told));
            }
            must_be_at(&playing.session, &at.row)?;
            playing.tip = at.row.tip;
            scene.told |= is_told;
        }
        Ok(scenes)
    }

    fn begin_scene(&self, begun: Scene) -> Result<(PlayedScene, Session), StoreError> {
        let rules = self.file().find_rules(&begun.rules)?;
        let session = Session::before_its_start(&rules, begun.setup)?;
        Ok((PlayedScene { title: begun.title, ..PlayedScene::default() }, session))
    }
}

/// A scene as a viewer saw it.
#[derive(Default)]
struct PlayedScene {
    title: String,
    /// The characters, by their first side. A character without a declared side is missing.
    cast: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    moments: Vec<Moment>,
    /// True if the recap has entries of this scene.
    told: bool,
}

/// A scene whose actions are replayed.
struct Playing {
    scene: u32,
    session: Session,
    /// The last action that was replayed.
    tip: u32,
    watched: Watched,
}
