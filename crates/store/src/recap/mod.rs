//! The story of a campaign: who did what to whom with which card, and how it ended. It is made of events, not of printed lines.

mod moment;
mod telling;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use self::moment::{Moment, Watched};
use self::telling::Telling;
use super::campaign::Campaign;
use super::error::StoreError;
use super::notes::CampaignNote;
use super::replay::actions_between;
use super::rows::Scene;
use super::whole::must_be_at;
use riskbreaker_play::{Session, Viewer};

/// The story of a campaign or of its last session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Recap {
    /// Its scenes, in the order in which they were played.
    pub scenes: Vec<RecapScene>,
    /// Notes, for the game master only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One scene.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecapScene {
    /// Its title; empty if all that was played was undone.
    pub title: String,
    /// What happened, in paragraphs of whole sentences.
    pub paragraphs: Vec<RecapParagraph>,
}

/// Some sentences of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecapParagraph {
    /// The sentences.
    pub text: String,
    /// Whether it tells a turning point: the ruleset measured a large change of the game's value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub turning_point: bool,
}

impl Recap {
    /// All paragraphs of the story and the notes, one after the other.
    pub fn paragraphs(&self) -> Vec<String> {
        let told = self.scenes.iter().flat_map(|scene| &scene.paragraphs).map(|paragraph| paragraph.text.clone());
        told.chain(self.notes.iter().map(|note| format!("Noted: {note}"))).collect()
    }
}

impl Campaign {
    /// Tells what happened since people sat down last. It has only what the viewer may see; manual edits and notes are told to the
    /// game master alone. [`Viewer::watcher`] is told what all players may know.
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

    /// Tells the whole campaign in the same way, from the day on which it began.
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

    /// What a viewer saw of the scenes on the way to where the campaign stands, action by action, from the entry after `since` on.
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
    /// Those who take part, by the side that they were on first; without the sides that nobody declares.
    cast: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    moments: Vec<Moment>,
    /// Whether something of it belongs to the recap.
    told: bool,
}

/// A scene that is played again.
struct Playing {
    scene: u32,
    session: Session,
    /// The last action that was played.
    tip: u32,
    watched: Watched,
}
