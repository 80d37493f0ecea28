//! The effect of an undo or redo, for people.

use std::sync::Arc;

use serde::Serialize;

use crate::game::UndoReport;
use crate::{Happening, Viewer};

/// The effect of an undo or redo.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Undone {
    /// A sentence that describes the decision.
    pub text: String,
    /// The seat that decided; `None` for an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<str>>,
    /// The resulting changes, as events.
    pub changes: Vec<Happening>,
}

impl Undone {
    pub(crate) fn of(report: UndoReport, viewer: &Viewer, verb: &str) -> Undone {
        let text = report.text_for(viewer, verb);
        let changes = report.changes.into_iter().filter(|(audience, _)| viewer.sees(audience));
        Undone { text, seat: report.seat, changes: changes.map(|(_, happening)| happening).collect() }
    }
}
