//! The path of a run in words.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Explorer;
use super::choice_point::Fork;
use crate::model::without_places;

/// The most rolls of a path, and faces of a roll, in a message.
pub(crate) const MOST_TOLD: usize = 20;

/// Formats faces for a message, as `3+5`.
pub(crate) fn in_words(faces: &[impl ToString]) -> String {
    let mut words: Vec<String> = faces.iter().take(MOST_TOLD).map(ToString::to_string).collect();
    if faces.len() > MOST_TOLD {
        words.push("…".into());
    }
    words.join("+")
}

impl Explorer {
    /// The rolls and choices of the last run, such as ` (blow 7, parry yes)`. Empty if there are none.
    pub fn told(&self) -> String {
        let mut at = self.last.filter(|_| self.sampling.rng.is_none());
        let mut gone = Vec::new();
        while let Some((point, branch)) = at {
            let point = &self.points[point as usize];
            at = point.from;
            gone.push(match &point.fork {
                Fork::Roll(ranked) => {
                    let branch = &ranked.partition.branches[branch as usize];
                    let faces = &branch.faces;
                    let shown = if faces.is_empty() { branch.total.to_string() } else { in_words(faces) };
                    format!("{} {shown}", without_places(&point.label))
                }
                Fork::Answers { topic, answers, .. } => format!("{topic} {}", answers[branch as usize].1),
                Fork::Entry => continue,
            });
        }
        gone.reverse();
        gone.extend(self.sampling.rolled.iter().map(|(label, faces)| format!("{} {faces}", without_places(label))));
        let more = gone.len().saturating_sub(MOST_TOLD) + self.sampling.made.saturating_sub(self.sampling.rolled.len());
        if more > 0 {
            gone.truncate(MOST_TOLD);
            gone.push(format!("and {more} more"));
        }
        if gone.is_empty() { String::new() } else { format!(" ({})", gone.join(", ")) }
    }

    /// The seats that made a choice on the current path.
    pub fn deciding(&self) -> BTreeSet<&Arc<str>> {
        let mut seats = BTreeSet::new();
        let mut at = self.last;
        while let Some((point, _)) = at {
            let point = &self.points[point as usize];
            if let Fork::Answers { seat, .. } = &point.fork {
                seats.insert(seat);
            }
            at = point.from;
        }
        seats
    }
}
