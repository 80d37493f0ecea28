//! Everything that was ever decided in a campaign, in words: what stands, and what was undone and stays reachable.

use serde::Serialize;

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::StoreFile;
use crate::play::{Slot, told};

/// One entry of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct LogEntry {
    /// Its number, from 1.
    pub entry: u32,
    /// The entry that it follows; 0 for the first.
    pub after: u32,
    /// What was decided, in words.
    pub text: String,
    /// Whether it is on the way to where the campaign stands.
    pub stands: bool,
    /// Whether the campaign stands here.
    pub here: bool,
    /// Whether nothing follows it: the end of a branch.
    pub last: bool,
}

impl Campaign {
    /// The entries of a campaign in the order in which they were made: those that stand, or with `all` also those that were
    /// undone; at most the last `most` of them.
    pub fn log(&self, all: bool, most: usize) -> Result<Vec<LogEntry>, StoreError> {
        let (file, game) = (self.file(), self.game());
        let mut way = Vec::new();
        let mut at = self.head();
        while at != 0 && (all || way.len() < most) {
            way.push(at);
            let before = file.moment(game, at)?.parent;
            if before >= at {
                return Err(StoreError::damaged(format!("entry {at}")));
            }
            at = before;
        }
        way.reverse();
        let ids: Vec<u32> = match all {
            true => {
                let there = |id: &u32| !self.row().recovered || file.has("moment", super::rows::key(game, *id));
                (1..=self.entries()).filter(there).collect()
            }
            false => way.clone(),
        };
        let skipped = ids.len().saturating_sub(most);
        ids[skipped..]
            .iter()
            .map(|id| {
                let row = file.moment(game, *id)?;
                Ok(LogEntry {
                    entry: *id,
                    after: row.parent,
                    text: text_of(&file, game, *id)?,
                    stands: way.binary_search(id).is_ok(),
                    here: *id == self.head(),
                    last: file.moments_after(game, *id)?.is_empty(),
                })
            })
            .collect()
    }

    /// What was decided with an entry, in words.
    pub fn text(&self, entry: u32) -> Result<String, StoreError> {
        text_of(&self.file(), self.game(), entry)
    }
}

pub(super) fn text_of(file: &StoreFile, game: u32, id: u32) -> Result<String, StoreError> {
    let (row, body) = file.checked_moment(game, id)?;
    if let Some(act) = body.act {
        return Ok(act);
    }
    let before = match row.parent {
        0 => None,
        parent => Some(file.checked_moment(game, parent)?),
    };
    let (known, tip) = match &before {
        Some((before, of)) if of.scene == body.scene => (before.decisions, before.tip),
        _ => (0, 0),
    };
    if before.as_ref().is_none_or(|(_, of)| of.scene != body.scene) {
        return Ok(format!("scene: {}", file.scene(game, body.scene)?.title));
    }
    let mut told: Vec<(u32, String)> = Vec::new();
    let mut note = |slot: &Slot| {
        if let Some(seq) = slot.seq().filter(|seq| *seq > known) {
            told.push((seq, words(slot)));
        }
    };
    let mut at = row.tip;
    let mut others = Vec::new();
    while at != tip && at != 0 {
        let action = file.action(game, at)?;
        let done = file.done(&action)?;
        done.tape.slots.iter().flatten().for_each(&mut note);
        if let Some(text) = done.cause.by_hand() {
            others.push((done.seq.unwrap_or(0), text));
        }
        at = action.parent;
    }
    if let Some(place) = &body.place {
        place.slots().for_each(&mut note);
    }
    told.extend(others);
    told.sort();
    let texts: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    Ok(if texts.is_empty() { "the game went on".into() } else { texts.join(" · ") })
}

fn words(slot: &Slot) -> String {
    match slot {
        Slot::Answer { topic, seat, answer, .. } => format!("{seat}: {} {}", topic.replace('_', " "), told(answer)),
        Slot::Roll { label, dice, faces, .. } => format!("{dice} {faces:?} ({label})"),
        Slot::Closed { .. } => "closed by an earlier answer".into(),
    }
}
