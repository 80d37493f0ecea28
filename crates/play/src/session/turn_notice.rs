//! Whose turn it is, for people who are not looking at the game.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::Session;
use crate::{Driver, QuestionId};

/// A seat is asked something that it was not asked before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnNotice {
    /// The seat.
    pub seat: Arc<str>,
    /// The question as everybody may know it; of a question that only some may see, no more than that there is one.
    pub title: String,
}

/// Finds the seats of people that are asked something new.
#[derive(Clone, Debug, Default)]
pub struct TurnNotices {
    /// The questions that were open when it was looked last.
    open: BTreeSet<(QuestionId, Arc<str>)>,
}

/// The title of a question that not everybody may see.
const HIDDEN: &str = "a decision";

impl TurnNotices {
    /// The seats that people play and that are asked something new since the last call: one notice for each, about its first new
    /// question.
    pub fn new_in(&mut self, session: &Session) -> Vec<TurnNotice> {
        let view = session.view();
        let (mut open, mut found) = (BTreeSet::new(), Vec::<TurnNotice>::new());
        for question in session.questions() {
            let known = (question.id, question.topic.clone());
            let is_new = !self.open.contains(&known);
            open.insert(known);
            let by_a_person = session.seats().get(&question.seat) == Some(&Driver::Human);
            if !is_new || !by_a_person || found.iter().any(|notice| notice.seat == question.seat) {
                continue;
            }
            let is_public =
                question.audience.is_everybody() && question.about.is_none_or(|about| !view.is_secret(about));
            let title = match question.about {
                _ if !is_public => HIDDEN.to_owned(),
                Some(about) if !question.why.contains(&*view.title(about)) => {
                    format!("{}: {}", view.title(about), question.why)
                }
                _ => question.why.clone(),
            };
            found.push(TurnNotice { seat: question.seat.clone(), title });
        }
        self.open = open;
        found
    }
}
