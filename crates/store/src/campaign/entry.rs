//! Writes the progress of a session to its campaign, as a new entry or as a known one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ActionRows, Campaign, Head, NowPlayed, write_moment};
use crate::date;
use crate::error::StoreError;
use crate::file::{StoreFile, lock};
use crate::generation::{Files, Generation};
use crate::host::{HostRow, write_rows};
use crate::label::{DecisionNames, decided, scene_words};
use crate::notes::write_note;
use crate::pack::Dictionary;
use crate::rows::{ActionRow, GameRow, MomentBody, MomentRow, Piece, action_sum, checkpoint_sum, key, moment_sum};
use riskbreaker_play::{Cause, Done, Ruleset, Session};
use riskbreaker_state::readable_name;

/// The number of actions between two checkpoints. A checkpoint is also written after every change of rules, since
/// another version of the program may convert a game differently.
pub(super) const BETWEEN_CHECKPOINTS: usize = 64;

/// The result of [`Campaign::keep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kept {
    /// There was nothing new.
    Nothing,
    /// A new entry, by number.
    New(u32),
    /// The session is at this earlier entry again.
    Known(u32),
}

/// The progress of a session since it was last kept, as an entry that the file may contain already.
struct KeptStep {
    /// The number of unchanged actions in memory.
    from: usize,
    /// The row before the first new action.
    before: (u32, i64),
    /// Number of actions since the last checkpoint.
    since: usize,
    /// The preceding entry.
    parent: Head,
    /// The piece of the scene.
    scene: u32,
    /// The piece of the seating.
    seating: u32,
    /// True if the seating is new.
    sits_anew: bool,
    decisions: u32,
    /// The decisions, as text.
    text: String,
    body: Vec<u8>,
    /// The new actions.
    actions: Vec<Vec<u8>>,
    /// True if one of the new actions changed the rules.
    changes_rules: bool,
}

impl KeptStep {
    fn has_checkpoint(&self) -> bool {
        self.changes_rules || self.since >= BETWEEN_CHECKPOINTS && !self.actions.is_empty()
    }
}

impl Campaign {
    /// Writes the progress of the session since the last call. It is on disk when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Changed`] if another program has changed the file. [`StoreError::Refused`] for a session that does
    /// not continue this campaign at its current entry, such as one of another campaign, an older one, or a copy, and
    /// for one that has not been advanced since it was set up. If the file cannot be written, it stays unchanged, and
    /// the session is ahead of it. Go back with [`Campaign::session`], or try again.
    pub fn keep(&mut self, session: &mut Session) -> Result<Kept, StoreError> {
        let kept = self.keep_step(session).and_then(|kept| self.file().release().map(|()| kept));
        match kept {
            Ok(_) => self.turned = None,
            Err(_) => self.turn_back(),
        }
        kept
    }

    pub(crate) fn keep_step(&mut self, session: &mut Session) -> Result<Kept, StoreError> {
        // If the command is not kept, neither are its host rows.
        let besides = std::mem::take(&mut self.waiting);
        self.must_continue(session)?;
        let shared = self.file.clone();
        if besides.is_empty() && self.row.head == self.head.id && self.is_kept(&mut lock(&shared), session)? {
            return Ok(Kept::Nothing);
        }
        self.read_anew()?;
        let file = &mut *lock(&shared);
        file.must_be_unchanged()?;
        let Some(step) = self.step(file, session)? else {
            let row = GameRow { head: self.head.id, ..self.row.clone() };
            if row.head != self.row.head || !besides.is_empty() {
                file.write(|to| {
                    write_rows(to, self.game, &besides)?;
                    to.game(self.game, &row)
                })?;
                self.row = row;
            }
            return Ok(Kept::Nothing);
        };
        if !session.has_started() {
            let message = "the game was set up and has not been advanced: call `Session::advance` before it is kept";
            return Err(StoreError::Refused(message.into()));
        }
        let mut row = self.row.clone();
        row.have_identity();
        let found = match self.on_the_way(file, &step)? {
            Some(found) => Some(found),
            None => self.known(file, &step)?.map(|(moment, rows)| (moment, rows, None)),
        };
        let (kept, moment, rows, act) = match found {
            Some((moment, rows, act)) => {
                row.head = moment.id;
                file.write(|to| {
                    write_rows(to, self.game, &besides)?;
                    to.game(self.game, &row)
                })?;
                (Kept::Known(moment.id), moment, rows, act)
            }
            None => {
                let (moment, rows, base) = self.write_step(file, session, &step, &mut row, &besides)?;
                let (seating, rules) = (Some(session.seating()), file.hash_of(session.ruleset()));
                self.scene = NowPlayed { piece: step.scene, new: None, seating, rules };
                (self.base, self.sat_down) = (base, true);
                (Kept::New(moment.id), moment, rows, None)
            }
        };
        self.row = row;
        self.since_checkpoint = if matches!(kept, Kept::New(_)) && step.has_checkpoint() { 0 } else { step.since };
        self.rows.truncate(step.from);
        self.rows.extend(rows);
        let KeptStep { scene, seating, .. } = step;
        let made = session.decision_count().made;
        self.head = Head { made, scene, seating, roster: self.head.roster, act, ..Head::bare(moment) };
        self.note_kept(session);
        Ok(kept)
    }

    /// True if the last written entry is the current state of the session. Does not read the file on disk.
    fn is_kept(&self, file: &mut StoreFile, session: &Session) -> Result<bool, StoreError> {
        let (tape, unchanged) = session.tape();
        let sits_anew = self.scene.seating.as_ref() != Some(&session.seating());
        if self.scene.new.is_some() || sits_anew || tape.len() != self.rows.len() || unchanged < self.rows.len() {
            return Ok(false);
        }
        let (scene, act) = (self.scene.piece, self.head.act.clone());
        let (seating, roster) = (self.head.seating, self.head.roster);
        let body = MomentBody { scene, seating, roster, act, place: Some(session.place()) };
        Ok(file.words.pack(&body)? == self.head.body)
    }

    /// The progress of the session since the last call. `None` if there is none.
    fn step(&self, file: &mut StoreFile, session: &Session) -> Result<Option<KeptStep>, StoreError> {
        let (tape, unchanged) = session.tape();
        let from = unchanged.min(self.rows.len());
        let decisions = session.decisions();
        let (begins, sits_anew) = (self.scene.new.is_some(), self.scene.seating.as_ref() != Some(&session.seating()));
        let pieces = self.row.pieces;
        let scene = if begins { pieces + 1 } else { self.scene.piece };
        let seating = if sits_anew { pieces + 1 + u32::from(begins) } else { self.head.seating };
        let (roster, act, place) = (self.head.roster, self.head.act.clone(), Some(session.place()));
        let body = MomentBody { scene, seating, roster, act, place };
        let new = &tape[from..];
        if self.is_kept(file, session)? {
            return Ok(None);
        }
        let body = MomentBody { act: None, ..body };
        let parent = if begins { self.head.clone() } else { self.parent(file, from, decisions)? };
        let text = match (&self.scene.new, parent.id != 0 && parent.scene == scene) {
            (_, true) => {
                // All actions after the parent, including rows that are in the file already.
                let at = self.rows[..from].binary_search_by_key(&parent.tip, |(id, _)| *id).map_or(0, |at| at + 1);
                let view = session.view();
                let name =
                    |entity| if view.exists(entity) { view.title(entity).to_string() } else { entity.to_string() };
                let rules = session.ruleset();
                let option = |id: &str| match (rules.card(id), view.find(id)) {
                    (Some(card), _) => card.title.to_string(),
                    (None, Ok(entity)) if id.starts_with('#') => name(entity),
                    _ => readable_name(id),
                };
                let names = DecisionNames { entity: &name, option: &option };
                decided(parent.made, &tape[at..], body.place.as_ref(), &names)
            }
            (Some(new), false) => scene_words(&new.title),
            (None, false) => scene_words(&file.scene(self.game, scene)?.title),
        };
        Ok(Some(KeptStep {
            from,
            before: from.checked_sub(1).map_or(self.base, |at| self.rows[at]),
            since: (self.since_checkpoint + new.len()).saturating_sub(self.rows.len() - from),
            parent,
            scene,
            seating,
            sits_anew,
            decisions,
            text,
            body: file.words.pack(&body)?,
            actions: new.iter().map(|done| pack_action(&mut file.words, done)).collect::<Result<_, _>>()?,
            changes_rules: new.iter().any(|done| done.cause.brings_rules()),
        }))
    }

    /// The latest entry on the path to the head that has fewer decisions, all of which are still valid.
    fn parent(&self, file: &StoreFile, from: usize, decisions: u32) -> Result<Head, StoreError> {
        let mut at = self.head.clone();
        if from == self.rows.len() && decisions >= at.decisions {
            return Ok(at);
        }
        // The actions up to it must be those of the session, too.
        let (kept, first) = (&self.rows[..from], self.base.0);
        let stands = |tip: u32| tip <= first || kept.binary_search_by_key(&tip, |(id, _)| *id).is_ok();
        while at.id != 0 && at.scene == self.scene.piece && (at.decisions >= decisions || !stands(at.tip)) {
            at = match file.moment(self.game, at.id)?.parent {
                0 => Head::default(),
                id => {
                    let (row, body) = file.checked_moment(self.game, id)?;
                    Head::of(row, &body)
                }
            };
        }
        Ok(at)
    }

    /// An earlier entry on the path to the head that equals the step, with its actions and its decision outside the
    /// game. An undo leads back to it.
    fn on_the_way(
        &self,
        file: &mut StoreFile,
        step: &KeptStep,
    ) -> Result<Option<(MomentRow, ActionRows, Option<String>)>, StoreError> {
        // A step with more decisions than the head leads to no entry before it.
        let may_lead_back = self.scene.new.is_none() && !step.sits_anew && self.head.decisions >= step.decisions;
        let mut id = if may_lead_back { self.head.id } else { 0 };
        while id != 0 {
            let (row, body) = file.checked_moment(self.game, id)?;
            if body.scene != step.scene || row.decisions < step.decisions {
                break;
            }
            let act = body.act.clone();
            if file.words.pack(&MomentBody { act: None, ..body })? == step.body
                && let Some(rows) = self.same_rows(file, step, row.tip)?
            {
                return Ok(Some((row, rows, act)));
            }
            id = row.parent;
        }
        Ok(None)
    }

    /// The rows of the new actions of a step, if those up to `tip` are equal.
    fn same_rows(&self, file: &StoreFile, step: &KeptStep, tip: u32) -> Result<Option<ActionRows>, StoreError> {
        let (mut rows, mut at) = (Vec::new(), tip);
        for body in step.actions.iter().rev() {
            if at == 0 {
                break;
            }
            let row = file.action(self.game, at)?;
            if row.body != *body {
                break;
            }
            rows.push((row.id, row.sum));
            at = row.parent;
        }
        rows.reverse();
        Ok((rows.len() == step.actions.len() && at == step.before.0).then_some(rows))
    }

    /// The entry after the parent of a step that equals the step, with its actions.
    fn known(&self, file: &StoreFile, step: &KeptStep) -> Result<Option<(MomentRow, ActionRows)>, StoreError> {
        if self.scene.new.is_some() || step.sits_anew {
            return Ok(None);
        }
        for id in file.moments_after(self.game, step.parent.id)?.into_iter().rev() {
            let moment = file.moment(self.game, id)?;
            if moment.body == step.body
                && let Some(rows) = self.same_rows(file, step, moment.tip)?
            {
                return Ok(Some((moment, rows)));
            }
        }
        Ok(None)
    }

    /// Writes a step as a new entry, with its actions and the rows they need. The last value of the result is the row
    /// before the first action in memory.
    fn write_step(
        &self,
        file: &mut StoreFile,
        session: &Session,
        step: &KeptStep,
        row: &mut GameRow,
        besides: &[HostRow],
    ) -> Result<(MomentRow, ActionRows, (u32, i64)), StoreError> {
        let loaded = self.rules_in_use(file, session, step.from);
        let mut rules: Vec<(String, Generation, Files)> =
            loaded.iter().map(|rules| (rules.hash(), Generation::of(rules), rules.files())).collect();
        self.add_rules_between(file, &session.tape().0[step.from..], &mut rules)?;
        let checkpoint = step.has_checkpoint().then(|| session.checkpoint());
        let (game, state) = (self.game, session.state_checksum().short());
        row.played = date::now();
        let written = file.write(|to| {
            for (hash, generation, files) in &rules {
                to.rules(hash, generation, files)?;
            }
            write_rows(to, game, besides)?;
            if !self.sat_down {
                write_note(to, game, row, None)?;
            }
            let (mut base, (mut parent, mut sum)) = (self.base, step.before);
            if let Some(scene) = &self.scene.new {
                sum = to.piece(game, step.scene, &Piece::Scene(scene.clone()))?;
                (base, row.pieces) = ((0, sum), step.scene);
            }
            if step.sits_anew {
                to.piece(game, step.seating, &Piece::Seating(session.seating()))?;
                row.pieces = step.seating;
            }
            let mut rows = Vec::with_capacity(step.actions.len());
            for body in &step.actions {
                row.actions += 1;
                let action = ActionRow { id: row.actions, parent, body: body.clone(), sum: action_sum(sum, body) };
                to.action(game, &action)?;
                (parent, sum) = (action.id, action.sum);
                rows.push((parent, sum));
            }
            if let Some(checkpoint) = &checkpoint {
                let body = to.words.pack(checkpoint)?;
                to.body("checkpoint", key(game, parent), &body, checkpoint_sum(sum, &body))?;
            }
            let moment = MomentRow {
                id: row.moments + 1,
                parent: step.parent.id,
                decisions: step.decisions,
                tip: parent,
                state,
                sum: moment_sum(step.parent.sum, sum, (step.decisions, parent, state), &step.body),
                body: step.body.clone(),
            };
            write_moment(to, game, row, &moment, &step.text)?;
            Ok((moment, rows, base))
        })?;
        file.generations.extend(rules.into_iter().map(|(hash, ..)| hash));
        file.rules.extend(loaded.into_iter().map(|rules| (rules.hash(), rules)));
        Ok(written)
    }

    /// The rules in memory that are in force, requested, or were in force since an action, and are not in the file.
    fn rules_in_use(&self, file: &StoreFile, session: &Session, from: usize) -> Vec<Arc<Ruleset>> {
        let began = self.scene.new.as_ref().and_then(|scene| file.rules.get(&scene.rules));
        let now = [Some(session.ruleset()), began].into_iter().flatten().chain(session.rules_asked_for()).cloned();
        let all = now.chain(session.rules_on_the_way(from));
        let mut new: Vec<Arc<Ruleset>> = Vec::new();
        for rules in all.filter(|rules| !file.generations.contains(&file.hash_of(rules))) {
            if new.iter().all(|known| known.hash() != rules.hash()) {
                new.push(rules);
            }
        }
        new
    }

    /// Adds the rules between consecutive reloads, reconstructed from their patches.
    fn add_rules_between(
        &self,
        file: &StoreFile,
        tape: &[Done],
        rules: &mut Vec<(String, Generation, Files)>,
    ) -> Result<(), StoreError> {
        let mut before = &self.scene.rules;
        for done in tape {
            let (Cause::Reload { rules: hash, files } | Cause::Rules { hash, files, .. }) = &done.cause else {
                continue;
            };
            if !file.generations.contains(hash) && rules.iter().all(|(known, ..)| known != hash) {
                let (generation, mut all) = match rules.iter().find(|(known, ..)| known == before) {
                    Some((_, generation, files)) => (generation.clone(), files.clone()),
                    None => {
                        let generation = file.generation(before)?;
                        let files = file.files(&generation)?;
                        (generation, files.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
                    }
                };
                for (path, text) in files {
                    match text {
                        Some(text) => all.insert(path.clone(), text.clone()),
                        None => all.remove(path),
                    };
                }
                rules.push((hash.clone(), generation, all));
            }
            before = hash;
        }
        Ok(())
    }
}

/// Packs an action without the rule files that it brought, which are stored by hash.
fn pack_action(words: &mut Dictionary, done: &Done) -> Result<Vec<u8>, StoreError> {
    if !done.cause.brings_rules() {
        return words.pack(done);
    }
    let mut bare = done.clone();
    if let Cause::Reload { files, .. } | Cause::Rules { files, .. } = &mut bare.cause {
        *files = BTreeMap::new();
    }
    words.pack(&bare)
}
