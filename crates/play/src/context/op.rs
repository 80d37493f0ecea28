//! The finished operations of scripts, as observers see them.

use std::sync::Arc;

use crate::{Query, Sight};
use riskbreaker_dice::Dice;
use riskbreaker_state::{Attachment, AttachmentId, Entity, EntityId, Entry, FieldId, RelativeKey, State, Type, Value};

/// A finished operation, as passed to observers.
///
/// Observers match it exhaustively, so the compiler names each observer that does not handle a new operation.
#[derive(Debug)]
pub enum Op<'a> {
    Read {
        entity: EntityId,
        field: FieldId,
        value: &'a Value,
        state: &'a State,
    },
    /// A query for entities: `rb.each`, relations, and the entities that are removed together with one.
    ReadPopulation {
        query: Query,
        state: &'a State,
    },
    /// A field was compared with a lower bound: `e:reaches(field, least)`.
    ReadAtLeast {
        entity: EntityId,
        field: FieldId,
        least: i64,
        value: &'a Value,
        state: &'a State,
    },
    /// A script asked whether an entity exists.
    ReadExists {
        entity: EntityId,
    },
    /// A script used the id of an entity as a number.
    ReadId {
        entity: EntityId,
        state: &'a State,
    },
    ReadAttachments,
    ReadAgenda,
    /// A script used the token of an agenda entry as a number.
    ReadEntryNumber,
    /// An entry read its own key.
    ReadKey,
    Roll {
        dice: &'a Arc<Dice>,
        sight: &'a Sight,
        seen: &'a Value,
    },
    /// The total of an earlier test or band was read.
    Look {
        total: i64,
    },
    /// The next `Look` is at an earlier roll.
    ReturnToRoll,
    /// A card was drawn from a deck.
    Deal {
        dice: &'a Arc<Dice>,
        drawn: u32,
    },
    Pick {
        n: u32,
        picked: u32,
    },
    /// A question was answered by a card.
    Answer {
        seat: Arc<str>,
        card: Arc<str>,
    },
    /// The question's own `check` refused an answer.
    Refuse,
    Write {
        entity: EntityId,
        field: FieldId,
        value: &'a Value,
    },
    /// A number was added to a field that holds one.
    Add {
        entity: EntityId,
        field: FieldId,
        by: i64,
        /// The value after the addition.
        sum: &'a Value,
        /// The type of the field.
        ty: &'a Type,
    },
    Spawn {
        id: EntityId,
        entity: &'a Entity,
    },
    /// `touched`: fields of other entities that referred to it.
    Remove {
        id: EntityId,
        touched: &'a [(EntityId, FieldId)],
    },
    Attach {
        made: &'a Attachment,
    },
    Detach {
        id: AttachmentId,
    },
    SetData {
        id: AttachmentId,
        data: &'a Value,
    },
    /// `key`: the key as the script gave it.
    Schedule {
        entry: &'a Entry,
        key: RelativeKey,
    },
    Cancel,
    Rekey,
    Say,
    /// `plain`: true if the outcome names no entity.
    Finish {
        outcome: &'a str,
        plain: bool,
    },
    Cut,
    /// Scripts now read the state as a seat knows it, not the state of the game.
    Glimpse,
    /// Something was made whose kind has an audience: its number depends on who may see it.
    MayHide,
    /// A conversion from other rules added a note.
    Note,
}
