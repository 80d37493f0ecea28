//! Adds the entries of a conflicting copy as branches of the original campaign.

use std::collections::HashMap;
use std::sync::Arc;

use super::campaign::{Campaign, write_moment};
use super::error::StoreError;
use super::file::StoreFile;
use super::generation::Files;
use super::label::label;
use super::rows::{ActionRow, GameRow, MomentBody, MomentRow, Piece, action_sum, checkpoint_sum, key, moment_sum};
use super::writer::FileWriter;
use riskbreaker_play::Checkpoint;

/// An entry of the target campaign, with the numbers and checksums of the rows it refers to.
#[derive(Clone)]
struct OwnEntry {
    entry: (u32, i64),
    tip: (u32, i64),
    pieces: [(u32, i64); 3],
}

/// The rows of the copy by their numbers, with their numbers and checksums in the target campaign.
#[derive(Default)]
struct Taken {
    pieces: HashMap<u32, (u32, i64)>,
    actions: HashMap<u32, (u32, i64)>,
    moments: HashMap<u32, (u32, i64)>,
}

impl Campaign {
    /// Adds the entries of another copy of this campaign that this one lacks, as branches. The current entry stays the
    /// same. Returns their number.
    ///
    /// # Errors
    ///
    /// The files are not copies of the same campaign: not even their first entries are equal. One of them is damaged.
    /// The file cannot be written. Nothing is added then.
    pub fn add_branches_of(&mut self, copy: &Campaign) -> Result<u32, StoreError> {
        if Arc::ptr_eq(&self.file, &copy.file) {
            return Err(StoreError::Refused("a campaign has all of its own entries".into()));
        }
        let (their_game, game) = (copy.game(), self.game());
        let theirs = &mut *copy.file();
        theirs.must_be_whole(their_game)?;
        let mut taken = Taken::default();
        {
            let own = &mut *self.file();
            own.must_be_whole(game)?;
            taken.note_common(&own.known_entries(game)?, theirs, their_game)?;
        }
        if taken.moments.is_empty() && self.entries() > 0 {
            let message = "these are two campaigns, not two copies of one: they have no entry in common";
            return Err(StoreError::Refused(message.into()));
        }
        let theirs = &*theirs;
        let row = theirs.game(their_game)?;
        let hashes: Vec<String> = theirs.generations.iter().cloned().collect();
        let mut rules = Vec::new();
        for hash in hashes {
            let generation = theirs.generation(&hash)?;
            let files: Files =
                theirs.files(&generation)?.into_iter().map(|(path, text)| (path.into(), text.into())).collect();
            rules.push((hash, generation, files));
        }
        let before = self.entries();
        self.write_row(|to, game, own| {
            for (hash, generation, files) in &rules {
                to.rules(hash, generation, files)?;
            }
            let head = own.head;
            let source = BranchSource { file: theirs, game: their_game };
            for id in theirs.numbers("moment", their_game, &row, row.moments) {
                if taken.moments.contains_key(&id) {
                    continue;
                }
                let (moment, body) = theirs.checked_moment(their_game, id)?;
                let text = label(theirs, their_game, id)?;
                let target = &mut BranchTarget { to: &mut *to, game, row: &mut *own };
                let moment = taken.take_moment(target, &source, &moment, body)?;
                write_moment(to, game, own, &moment, &text)?;
                taken.moments.insert(id, (moment.id, moment.sum));
            }
            own.head = head;
            Ok(())
        })?;
        let added = self.entries() - before;
        self.file().generations.extend(rules.into_iter().map(|(hash, ..)| hash));
        Ok(added)
    }
}

impl StoreFile {
    /// The entries of a campaign by their content. The row checksums are unsuitable, since each file has its own
    /// dictionary numbers.
    fn known_entries(&mut self, game: u32) -> Result<HashMap<i64, OwnEntry>, StoreError> {
        let row = self.game(game)?;
        let sums = self.entry_sums(game, 0, row.moments)?;
        let mut known = HashMap::new();
        for id in self.numbers("moment", game, &row, row.moments) {
            let (moment, body) = self.checked_moment(game, id)?;
            let piece = |piece: u32| match piece {
                0 => Ok((0, 0)),
                piece => self.numbered("piece", game, piece).map(|(_, sum)| (piece, sum)),
            };
            let own = OwnEntry {
                entry: (id, moment.sum),
                tip: (moment.tip, self.sum_of(game, moment.tip, body.scene)?),
                pieces: [piece(body.scene)?, piece(body.seating)?, piece(body.roster)?],
            };
            known.insert(sums[id as usize], own);
        }
        Ok(known)
    }
}

impl Taken {
    /// Records an entry of the copy that the campaign has already.
    fn note_same(&mut self, moment: &MomentRow, body: &MomentBody, same: &OwnEntry) {
        self.moments.insert(moment.id, same.entry);
        if moment.tip != 0 {
            self.actions.insert(moment.tip, same.tip);
        }
        for (theirs, own) in [body.scene, body.seating, body.roster].into_iter().zip(same.pieces) {
            self.pieces.entry(theirs).or_insert(own);
        }
    }

    /// Records all entries of the copy that the campaign has already, with the rows they refer to.
    fn note_common(
        &mut self,
        known: &HashMap<i64, OwnEntry>,
        theirs: &mut StoreFile,
        their_game: u32,
    ) -> Result<(), StoreError> {
        let row = theirs.game(their_game)?;
        let sums = theirs.entry_sums(their_game, 0, row.moments)?;
        for id in theirs.numbers("moment", their_game, &row, row.moments) {
            let (moment, body) = theirs.checked_moment(their_game, id)?;
            if let Some(same) = known.get(&sums[id as usize]) {
                self.note_same(&moment, &body, same);
            }
        }
        Ok(())
    }
}

/// A campaign from which rows are copied.
struct BranchSource<'f> {
    file: &'f StoreFile,
    game: u32,
}

/// A campaign to which rows are added.
struct BranchTarget<'t, 'c> {
    to: &'t mut FileWriter<'c>,
    game: u32,
    row: &'t mut GameRow,
}

impl Taken {
    /// Writes the rows that an entry needs. Returns the entry in the form to be written.
    fn take_moment(
        &mut self,
        target: &mut BranchTarget<'_, '_>,
        source: &BranchSource<'_>,
        moment: &MomentRow,
        body: MomentBody,
    ) -> Result<MomentRow, StoreError> {
        let scene = self.take_piece(target, source, body.scene)?;
        let seating = self.take_piece(target, source, body.seating)?;
        let roster = self.take_piece(target, source, body.roster)?;
        let (tip, reached) = match moment.tip {
            0 => (0, scene.1),
            tip => self.take_actions(target, source, tip, (body.scene, scene.1))?,
        };
        let (parent, parent_sum) = match moment.parent {
            0 => (0, 0),
            parent => *self.moments.get(&parent).ok_or_else(|| StoreError::damaged(format!("entry {parent}")))?,
        };
        let body = MomentBody { scene: scene.0, seating: seating.0, roster: roster.0, ..body };
        let body = target.to.words.pack(&body)?;
        let MomentRow { decisions, state, .. } = *moment;
        let sum = moment_sum(parent_sum, reached, (decisions, tip, state), &body);
        Ok(MomentRow { id: target.row.moments + 1, parent, decisions, tip, state, body, sum })
    }

    /// Writes a piece unless it exists. Returns its number and its checksum.
    fn take_piece(
        &mut self,
        target: &mut BranchTarget<'_, '_>,
        source: &BranchSource<'_>,
        id: u32,
    ) -> Result<(u32, i64), StoreError> {
        if id == 0 {
            return Ok((0, 0));
        }
        if let Some(known) = self.pieces.get(&id) {
            return Ok(*known);
        }
        let piece: Piece = source.file.piece(source.game, id)?;
        target.row.pieces += 1;
        let taken = (target.row.pieces, target.to.piece(target.game, target.row.pieces, &piece)?);
        self.pieces.insert(id, taken);
        Ok(taken)
    }

    /// Writes the missing actions up to one, with their checkpoints. Returns the number and the checksum of the last.
    /// `scene`: the piece of the scene in the source, with its checksum in the target.
    fn take_actions(
        &mut self,
        target: &mut BranchTarget<'_, '_>,
        source: &BranchSource<'_>,
        tip: u32,
        scene: (u32, i64),
    ) -> Result<(u32, i64), StoreError> {
        let (mut way, mut at) = (Vec::new(), tip);
        while at != 0 && !self.actions.contains_key(&at) {
            let row = source.file.checked_action(source.game, at, scene.0)?;
            at = row.parent;
            way.push(row);
        }
        let mut last = self.actions.get(&at).copied().unwrap_or((0, scene.1));
        for row in way.into_iter().rev() {
            let done = source.file.words.unpack_value(&row.body)?;
            let body = target.to.words.pack(&done)?;
            target.row.actions += 1;
            let sum = action_sum(last.1, &body);
            target.to.action(target.game, &ActionRow { id: target.row.actions, parent: last.0, body, sum })?;
            last = (target.row.actions, sum);
            self.actions.insert(row.id, last);
            if let Some((body, _)) = source.file.checkpoint(source.game, row.id)? {
                let checkpoint: Checkpoint = source.file.words.unpack(&body)?;
                let body = target.to.words.pack(&checkpoint)?;
                target.to.body("checkpoint", key(target.game, last.0), &body, checkpoint_sum(sum, &body))?;
            }
        }
        Ok(last)
    }
}
