//! The text of an entry: its decisions in words, as stored or made from the tape.

use super::checksum::sum;
use super::error::StoreError;
use super::file::StoreFile;
use super::rows::{actions_between, key};
use super::writer::FileWriter;
use riskbreaker_play::{Done, Place, Slot};
use riskbreaker_state::{EntityId, readable_name};

/// The stored text of an entry; for an entry without one, it is made from the tape.
pub(super) fn label(file: &StoreFile, game: u32, id: u32) -> Result<String, StoreError> {
    if file.format < 2 {
        return text_of(file, game, id);
    }
    let query = "SELECT label.text, label.sum, moment.sum FROM label JOIN moment USING (id) WHERE id = ?1";
    let found = file.find(query, [key(game, id)], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    match found? {
        None => text_of(file, game, id),
        Some((text, known, moment)) if known == label_sum(moment, &text) => Ok(text),
        Some(_) => Err(StoreError::damaged(format!("the words of entry {id}"))),
    }
}

impl FileWriter<'_> {
    /// Writes the text of an entry. `moment`: the checksum of the entry.
    pub fn label(&self, id: i64, moment: i64, text: &str) -> Result<(), StoreError> {
        self.put("INSERT INTO label (id, text, sum) VALUES (?1, ?2, ?3)", [&id, &text, &label_sum(moment, text)])
    }
}

pub(super) fn label_sum(moment: i64, text: &str) -> i64 {
    sum(&[b"label", &moment.to_le_bytes(), text.as_bytes()])
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
        Some((before, of)) if of.scene == body.scene => (of.counted(before.decisions).made, before.tip),
        _ => return Ok(scene_words(&file.scene(game, body.scene)?.title)),
    };
    let done = actions_between(file, game, tip, row.tip, body.scene)?;
    let names = DecisionNames { entity: &|entity| entity.to_string(), option: &readable_name };
    Ok(decided(known, &done, body.place.as_ref(), &names))
}

pub(super) fn scene_words(title: &str) -> String {
    format!("scene: {title}")
}

/// Describes the decisions after the first `known` ones, in actions and in the position after them.
pub(super) fn decided(known: u32, done: &[Done], place: Option<&Place>, names: &DecisionNames<'_>) -> String {
    let mut told: Vec<(u32, String)> = Vec::new();
    let mut note = |slot: &Slot| {
        if let Some(seq) = slot.seq().filter(|seq| *seq > known) {
            told.push((seq, words(slot, names)));
        }
    };
    for done in done {
        done.tape.get().slots.iter().flatten().for_each(&mut note);
    }
    if let Some(place) = place {
        place.slots().for_each(&mut note);
    }
    told.extend(done.iter().filter_map(|done| Some((done.seq.unwrap_or(0), done.cause.by_hand(names.entity)?))));
    told.sort();
    let texts: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    match texts.as_slice() {
        [] => place.and_then(Place::asks_for_rules).unwrap_or("the game continued").into(),
        texts => texts.join(" · "),
    }
}

/// The functions that name entities and options in the text of an entry.
pub(super) struct DecisionNames<'n> {
    pub entity: &'n dyn Fn(EntityId) -> String,
    pub option: &'n dyn Fn(&str) -> String,
}

fn words(slot: &Slot, names: &DecisionNames<'_>) -> String {
    match slot {
        Slot::Answer { topic, seat, answer, .. } => {
            format!("{seat}: {} {}", readable_name(topic), answer.in_words(names.option))
        }
        // The names that the script inserts into the label are not on the tape.
        Slot::Roll { label, dice, .. } if label.contains("{}") => format!("{dice} {:?}", slot.rolled()),
        Slot::Roll { label, dice, .. } => format!("{dice} {:?} ({label})", slot.rolled()),
        Slot::Closed { .. } => "closed by an earlier answer".into(),
    }
}
