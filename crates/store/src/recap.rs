//! Recaps: the last sitting as prose, made from its events.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::campaign::Campaign;
use super::error::StoreError;
use super::notes::CampaignNote;
use riskbreaker_play::{Event, Happening, Viewer};

impl Campaign {
    /// Describes the events since the last beginning of a sitting, in one paragraph a scene. Contains only what the
    /// viewer may see; manual edits and notes are only for the game master. [`Viewer::watcher`] gets what all players
    /// may know.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn recap(&self, viewer: &Viewer) -> Result<Vec<String>, StoreError> {
        match self.last_sitting()? {
            Some(sitting) => self.recap_since(&sitting, viewer),
            None => Ok(Vec::new()),
        }
    }

    /// Describes the whole campaign like [`Campaign::recap`], from its first day on.
    ///
    /// # Errors
    ///
    /// As [`Campaign::replay`].
    pub fn recap_all(&self, viewer: &Viewer) -> Result<Vec<String>, StoreError> {
        match self.notes()?.into_iter().next() {
            Some(first) => self.recap_since(&CampaignNote { entry: 0, text: None, ..first }, viewer),
            None => Ok(Vec::new()),
        }
    }

    fn recap_since(&self, sitting: &CampaignNote, viewer: &Viewer) -> Result<Vec<String>, StoreError> {
        let mut scenes: Vec<(String, Vec<Event>)> = Vec::new();
        let mut title = String::new();
        self.replay_since(sitting.entry, None, |played| {
            let began = played.scene.is_some();
            if let Some(scene) = played.scene {
                title = scene;
            }
            if played.entry > sitting.entry {
                if began || scenes.is_empty() {
                    scenes.push((title.clone(), Vec::new()));
                }
                if let Some((_, events)) = scenes.last_mut() {
                    events.extend(played.events);
                }
            }
            ControlFlow::Continue(())
        })?;
        let date = sitting.date.get(..10).unwrap_or(&sitting.date);
        let mut told = Vec::new();
        if scenes.is_empty() {
            told.push(format!("Everything played since {date} was undone."));
        }
        for (at, (title, events)) in scenes.iter().enumerate() {
            let opening = match (at, sitting.entry) {
                (0, 0) => format!("On {date} you began “{title}”."),
                (0, _) => format!("On {date} you played on in “{title}”."),
                _ => format!("Then came “{title}”."),
            };
            told.push(paragraph(opening, events, viewer));
        }
        if !viewer.is_master() {
            return Ok(told);
        }
        told.extend(
            self.notes()?
                .into_iter()
                .filter(|note| note.date >= sitting.date)
                .filter_map(|note| note.text)
                .map(|text| format!("Noted: {text}")),
        );
        Ok(told)
    }
}

/// Writes a paragraph: the lines, the changes and rolls, and the outcome.
fn paragraph(opening: String, events: &[Event], viewer: &Viewer) -> String {
    let mut sentences = vec![opening];
    let mut net: BTreeMap<(String, String), (usize, String, String)> = BTreeMap::new();
    let (mut rolls, mut won) = (0, 0);
    for (at, event) in events.iter().enumerate().filter(|(_, event)| viewer.sees(&event.audience)) {
        let mark = if event.audience.is_everybody() { "" } else { "(secret) " };
        match &event.happening {
            Happening::Said { text } => sentences.push(sentence(&format!("{mark}{}", text.trim()))),
            Happening::Rolled { success, .. } => {
                rolls += 1;
                won += u32::from(*success == Some(true));
            }
            Happening::Changed { title, label, text, .. } => {
                let (from, to) = text.split_once(" -> ").unwrap_or(("", text));
                let place = net
                    .entry((title.to_string(), label.to_string()))
                    .or_insert_with(|| (at, from.to_owned(), String::new()));
                place.2 = to.to_owned();
            }
            Happening::Edited { text } if viewer.is_master() => sentences.push(sentence(&format!("{mark}{text}"))),
            Happening::Over { text } => sentences.push(format!("It ended: {}", sentence(text))),
            _ => {}
        }
    }
    if rolls > 0 {
        sentences.push(format!("{rolls} rolls, {won} of them successes."));
    }
    let mut changes: Vec<_> = net.into_iter().filter(|(_, (_, from, to))| from != to).collect();
    changes.sort_by_key(|(_, (at, ..))| *at);
    let changes: Vec<String> = changes
        .into_iter()
        .map(|((title, label), (_, from, to))| format!("{label} of {title} went from {from} to {to}"))
        .collect();
    if !changes.is_empty() {
        sentences.push(sentence(&format!("In the end {}", changes.join(", "))));
    }
    sentences.join(" ")
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.chars().last() {
        Some('.' | '!' | '?' | ':') => text.to_owned(),
        _ => format!("{text}."),
    }
}
