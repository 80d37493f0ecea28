//! What a seat sees of the state while it decides, in a form that can be compared and shown.

use std::sync::Arc;

use super::state_bytes::{write_number, write_value};
use crate::context::masked;
use crate::{ActionContext, Question, Viewer};
use riskbreaker_state::{Audience, FieldId};

/// What the seat that is asked sees of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenState {
    /// Equal for two states between which the seat sees no difference.
    pub bytes: Box<[u8]>,
    /// The shown fields of all entities that it sees: the title of the entity and the label of the field, and the value.
    pub shown: Vec<(String, String)>,
    /// Who learns the answer once it is published.
    pub learns: Audience,
    /// The place of the answer on the tape of the action.
    pub place: u32,
    /// The places of earlier answers of the action that are not published yet; only their seats know them. Known only if the
    /// context listens.
    pub unpublished: Vec<u32>,
    /// True if the question or a part of the state is hidden from some seat.
    pub is_partial: bool,
}

impl SeenState {
    /// The state as the seat of a question sees it.
    pub fn at(context: &ActionContext, question: &Question) -> SeenState {
        let viewer = Viewer::seat(&question.seat);
        let schema = context.rules.schema();
        let hides = schema.has_secrets() && !viewer.is_master();
        let known = hides.then(|| masked(context, context.state.clone(), &viewer));
        let (state, masked) = known.unzip();
        let state = state.as_ref().unwrap_or(&context.state);
        let (mut bytes, mut shown) = (Vec::new(), Vec::new());
        for (id, entity) in state.entities() {
            write_number(&mut bytes, u64::from(id.0));
            write_number(&mut bytes, u64::from(entity.kind.0));
            let kind = schema.kind(entity.kind);
            for (at, (field, value)) in kind.fields.iter().zip(&entity.fields).enumerate() {
                write_value(&mut bytes, value);
                let is_hidden = masked.as_ref().is_some_and(|masked| masked.hides(id, FieldId(at as u16)));
                if field.show && !is_hidden && kind.title != Some(FieldId(at as u16)) {
                    let name = format!("{} {}", context.title(id), field.label);
                    shown.push((name, context.words(value)));
                }
            }
        }
        let learns = question.audience.clone();
        let unpublished: Vec<u32> = context.log.untold.iter().map(|answer| answer.ordinal).collect();
        let is_partial = hides || !learns.is_everybody() || !unpublished.is_empty();
        let place = context.playback.before().len() as u32;
        SeenState { bytes: bytes.into(), shown, learns, place, unpublished, is_partial }
    }

    /// The same, shared.
    pub(super) fn shared(context: &ActionContext, question: &Question) -> Arc<SeenState> {
        Arc::new(SeenState::at(context, question))
    }
}
