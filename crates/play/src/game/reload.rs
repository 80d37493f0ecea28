use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::Game;
use super::action::{Done, events_of};
use super::first_rules::FirstRules;
use super::open::Open;
use super::stacked::Stacked;
use super::swap::Swap;
use super::undo_report::UndoReport;
use crate::migration::renames;
use crate::model::{Patch, patch_of_files};
use crate::{Cause, Driver, Happening, Refusal, Ruleset};
use riskbreaker_ruleset::{FileChange, changes_between};
use riskbreaker_state::{
    Audience, Converted, EntityId, Kept, Orphans, Passage, Renames, Schema, State, Value, pass, put_aside,
};

/// The effects of a reload on a running game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReloadReport {
    /// The hash of the rules now in force.
    pub hash: String,
    /// The changes in the rules, file by file. Empty if the rules are equal.
    pub changed: Vec<FileChange>,
    /// The effects on the state.
    pub state: Converted,
    /// House rules, seats, agenda entries and attachments that the new rules lack, a sentence each.
    pub warnings: Vec<String>,
    /// True if an action is open, which runs again under the new rules.
    pub under_way: bool,
}

impl ReloadReport {
    /// The report in lines: the changes in the rules, then their effects on the game.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.changed.iter().map(FileChange::to_string).collect();
        lines.extend(self.effects());
        lines
    }

    /// The effects on the game, without the changes in the rules.
    pub fn effects(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |what: &str, list: &[String]| {
            if !list.is_empty() {
                lines.push(format!("{what}: {}", list.join(", ")));
            }
        };
        say("new fields", &self.state.defaulted);
        say("kept aside", &self.state.kept_aside);
        say("there again", &self.state.returned);
        say("gone", &self.state.gone);
        lines.extend(self.warnings.iter().cloned());
        lines
    }
}

impl Game {
    /// Puts other rules of the same ruleset in force before the open action.
    pub fn reload(&mut self, to: &Arc<Ruleset>) -> Result<ReloadReport, Refusal> {
        let from = self.context.rules.clone();
        if to.id() != from.id() {
            return Err(Refusal::new(format!("this game belongs to the ruleset {}, not to {}", from.id(), to.id())));
        }
        let under_way = self.open.as_ref().is_some_and(|open| !open.tape.slots.is_empty());
        let mut report = ReloadReport { hash: to.hash(), under_way, ..ReloadReport::default() };
        if to.hash() == from.hash() {
            self.park();
            self.context.rules = to.clone();
            return Ok(report);
        }
        let fits = from.schema().fits(to.schema());
        let names = renames(&from, to);
        let mut converted = None;
        if !fits || self.context.state.dormant().holds_entities() {
            // The changes of the open action do not count. If the rules are refused, it stays as it is.
            let mut before = self.context.state.before_journal();
            before.settle_unread();
            let over = converted_by(&before, from.schema(), to, &names, Orphans::Refuse).map_err(Refusal::new)?;
            converted = Some(over).filter(|(state, _)| !fits || *state != before);
        }
        self.park();
        report.changed = changes_between(&from, to);
        let mut swap = None;
        if let Some((state, told)) = converted {
            let state = std::mem::replace(&mut self.context.state, state);
            swap = Some(Swap { schema: from.schema().clone(), state, names, in_force: None });
            report.state = told;
        }
        let before = (self.context.switches.clone(), self.context.answers.seats.clone());
        self.renew_switches(&from, to, &mut report.warnings);
        for (seat, policy) in seat_people(&mut self.context.answers.seats, to) {
            report.warnings.push(format!("the policy `{policy}` is gone: {seat} is asked now"));
        }
        let is_plain = swap.is_none() && before == (self.context.switches.clone(), self.context.answers.seats.clone());
        self.context.rules = to.clone();
        self.find_strangers(to, &mut report.warnings, &mut report.state.secret);
        self.note_first_rules(&from);
        let patch = patch_between(&from, to);
        let mut told = notices(&report.lines(), &Audience::Everybody);
        told.extend(notices(&report.state.secret, &Audience::nobody()));
        self.note_reload(to, patch, swap, is_plain, told);
        Ok(report)
    }

    /// Stores the rules with which the game began, before others take effect for the first time.
    pub(crate) fn note_first_rules(&mut self, from: &Ruleset) {
        let first = || Box::new(FirstRules { stacked: Stacked::of(from), hash: from.hash(), files: from.files() });
        self.first_rules.get_or_insert_with(first);
    }

    /// Records a reload in the history. Merges consecutive plain reloads (which change neither state, house rules nor
    /// seats) into one entry, so that a replay changes from the first rules to the last in one step.
    fn note_reload(
        &mut self,
        to: &Ruleset,
        mut patch: Patch,
        swap: Option<Swap>,
        is_plain: bool,
        told: Vec<(Audience, Happening)>,
    ) {
        let (mut number, before) = (None, self.context.dice.position());
        self.forget_places_of_rules();
        for open in self.open.iter_mut().chain(&mut self.held) {
            open.renewed = true;
        }
        let was_plain = std::mem::replace(&mut self.plain_reload, is_plain.then_some(self.history.len() + 1));
        if is_plain
            && !self.context.playback.strict
            && was_plain == Some(self.history.len())
            && matches!(self.history.last(), Some(Done { cause: Cause::Reload { .. }, .. }))
            && let Some(last) = self.pop_done()
        {
            number = Some(last.number);
            if let Cause::Reload { files: mut earlier, .. } = last.cause {
                earlier.append(&mut patch);
                patch = earlier;
            }
            self.plain_reload = Some(self.history.len() + 1);
        }
        let number = number.unwrap_or_else(|| self.take_number());
        (self.idle, self.retried_bytes) = (0, 0);
        let cause = Cause::Reload { rules: to.hash(), files: patch };
        self.history.push(Done {
            events: events_of(number, &told),
            told,
            swap: swap.map(Box::new),
            ..Done::new(number, cause, before)
        });
    }

    /// Carries house rules over by name. New ones get their default, and so do those that had the old default if that
    /// has changed.
    fn renew_switches(&mut self, from: &Ruleset, to: &Ruleset, warnings: &mut Vec<String>) {
        let mut was = BTreeMap::clone(&self.context.switches);
        let aside = &mut self.context.state.dormant_mut().switches;
        let stands_in =
            |name: &str, value: &Value| aside.get(name).is_some_and(|kept| kept.instead.as_ref() == Some(value));
        was.retain(|name, value| {
            let default = from.switch(name).map(|switch| switch.default.as_value());
            default.as_ref() != Some(value) || stands_in(name, value)
        });
        let passed = switches_over(&was, to, aside);
        for (switch, (value, passage)) in to.switches().zip(&passed) {
            match passage {
                Passage::Carried | Passage::Defaulted => {}
                Passage::Returned => warnings.push(format!("the house rule `{}` is {value} again", switch.name)),
                Passage::StandIn => {
                    let given = aside.get(&*switch.name).map(|kept| kept.value.to_string());
                    let wrong = given.and_then(|given| switch.parse(&given).err());
                    warnings.extend(wrong.map(|wrong| format!("{wrong}; it is {value} now")));
                }
            }
        }
        let gone = self.context.switches.iter().filter(|(name, _)| to.switch(name).is_none());
        warnings.extend(gone.map(|(name, value)| match was.contains_key(name) {
            true => format!("the house rule `{name}` is gone; {value} is dormant"),
            false => format!("the house rule `{name}` is gone"),
        }));
        let values = passed.into_iter().map(|(value, _)| value);
        self.context.switches = Arc::new(to.switches().map(|switch| switch.name.clone()).zip(values).collect());
    }

    /// Adds warnings about agenda entries and attachments whose names the new rules lack. `secret`: receives those
    /// about owners that are not public.
    fn find_strangers(&self, to: &Ruleset, warnings: &mut Vec<String>, secret: &mut Vec<String>) {
        let state = &self.context.state;
        let mut say = |owner: Option<EntityId>, line: String| {
            let is_open = owner.is_none_or(|owner| state.audience(to.schema(), owner).is_everybody());
            let lines = if is_open { &mut *warnings } else { &mut *secret };
            if !lines.contains(&line) {
                lines.push(line);
            }
        };
        for entry in state.agenda().entries() {
            if !to.has_entry(&entry.what) {
                let line = format!("`{}` is on the agenda, and the rules have no such entry any more", entry.what);
                say(entry.owner, line);
            }
        }
        for attachment in state.attachments().values() {
            if !to.has_holder(&attachment.hook) {
                let line = format!(
                    "`{}` is attached to somebody but does nothing: the new rules have no such hook",
                    attachment.hook
                );
                say(Some(attachment.owner), line);
            }
        }
    }

    // Undo

    /// Puts the rules in force again after an undo passed over reloads (newest first), as an entry at the new end of
    /// the history. `set_under`: the rules to which the house rules belong, if the undo restored others.
    pub(crate) fn reload_again(
        &mut self,
        passed: Vec<Done>,
        before: &State,
        set_under: Option<&Arc<Ruleset>>,
        turned: &mut UndoReport,
    ) {
        if passed.is_empty() {
            return;
        }
        let rules = self.context.rules.clone();
        let mut patch = Patch::new();
        for done in passed.iter().rev() {
            if let Cause::Reload { files, .. } = &done.cause {
                patch.extend(files.iter().map(|(path, text)| (path.clone(), text.clone())));
            }
        }
        let first = passed.iter().rev().find_map(|done| done.swap.as_ref());
        let schema = first.map(|swap| swap.schema.clone());
        let was_told = passed.iter().rev().flat_map(|done| done.events.iter());
        let mut told: Vec<(Audience, Happening)> = was_told.map(|event| (event.audience, event.happening)).collect();
        let mut lines = Vec::new();
        let mut swap = None;
        if let Some(schema) = schema {
            let mut names = Renames::default();
            let swaps = passed.iter().rev().filter_map(|done| done.swap.as_ref());
            swaps.for_each(|swap| names.append(swap.names.clone()));
            match converted_by(&self.context.state, &schema, &rules, &names, Orphans::Shelve) {
                Ok((state, over)) => {
                    lines.extend(over.gone.iter().map(|gone| format!("kept aside: {gone}")));
                    let state = std::mem::replace(&mut self.context.state, state);
                    swap = Some(Swap { schema, state, names, in_force: None });
                }
                Err(message) => lines.push(message),
            }
            turned.changes = self.differences(before);
        }
        // House rules restored by the undo belong to the rules in force again.
        self.renew_switches(set_under.unwrap_or(&rules), &rules, &mut lines);
        told.extend(notices(&lines, &Audience::Everybody));
        self.note_reload(&rules, patch, swap, false, told);
    }

    /// Lists the differences from an earlier state in the same schema, as change events.
    fn differences(&self, before: &State) -> Vec<(Audience, Happening)> {
        let mut told = Vec::new();
        for (id, entity) in self.context.state.entities() {
            let Some(was) = before.entity(id).filter(|was| was.kind == entity.kind) else { continue };
            for (at, (from, to)) in was.fields.iter().zip(&entity.fields).enumerate() {
                if from != to {
                    told.extend(self.context.changed(id, riskbreaker_state::FieldId(at as u16), from, to));
                }
            }
        }
        told
    }

    /// Restarts the open action without its tape, because the tape does not fit the new rules.
    pub(crate) fn start_again(&mut self, mut open: Open) {
        self.context.state.rollback(0);
        self.context.stop = None;
        self.context.run.questions.clear();
        self.context.dice.take_back(open.before);
        open.tape = Default::default();
        open.questions.clear();
        open.ran = false;
        let text = format!(
            "{} starts again: under the new rules it goes another way than before",
            crate::model::words_of(&open.cause)
        );
        // The owner of the entry, and the act that a seat takes, may be secret.
        let schema = self.context.rules.schema();
        let audience = match &open.cause {
            Cause::Entry { owner: Some(owner), .. } => self.context.state.audience(schema, *owner),
            Cause::Free { seat, .. } if schema.has_secrets() => Audience::named(seat),
            _ => Audience::Everybody,
        };
        self.notice_to(&text, audience);
        self.open = Some(open);
    }
}

/// Converts a state to another schema and restores dormant values that fit.
fn converted_by(
    state: &State,
    from: &Schema,
    to: &Ruleset,
    names: &Renames,
    orphans: Orphans,
) -> Result<(State, Converted), String> {
    let (mut state, told) = state.converted(from, to.schema(), names, &to.parts(), orphans)?;
    state.take_belongings_back(&|what| to.has_entry(what), &|hook| to.has_holder(hook));
    Ok((state, told))
}

/// Converts lines of the host to events.
pub(crate) fn notices(lines: &[String], audience: &Audience) -> Vec<(Audience, Happening)> {
    lines.iter().map(|line| (audience.clone(), Happening::Notice { text: line.clone() })).collect()
}

/// Gives new seats, and seats whose policy the rules lack, to people. Returns the latter with their policies.
pub(crate) fn seat_people(seats: &mut BTreeMap<Arc<str>, Driver>, to: &Ruleset) -> Vec<(Arc<str>, Arc<str>)> {
    for seat in to.seats().keys() {
        seats.entry(Arc::from(&**seat)).or_insert(Driver::Human);
    }
    let mut lost = Vec::new();
    for (seat, driver) in seats {
        if let Driver::Policy(policy) = driver
            && !to.policies().contains(policy)
        {
            lost.push((seat.clone(), policy.clone()));
            *driver = Driver::Human;
        }
    }
    lost
}

/// Carries the house rules over to other rules, in the order of `Ruleset::switches`, with the fate of each value.
/// `now`: the old values. Rules that do not exist any more become dormant.
pub(crate) fn switches_over(
    now: &BTreeMap<String, Value>,
    to: &Ruleset,
    aside: &mut BTreeMap<Arc<str>, Kept>,
) -> Vec<(Value, Passage)> {
    for (name, value) in now.iter().filter(|(name, _)| to.switch(name).is_none()) {
        put_aside(aside, &Arc::from(&**name), value, None);
    }
    let over = to.switches().map(|switch| {
        let settled = |value: &Value| switch.parse(&value.to_string()).ok().map(|value| value.as_value());
        let default = |_: Option<&Value>| switch.default.as_value();
        pass(aside, &Arc::from(&*switch.name), now.get(&switch.name), settled, default)
    });
    over.collect()
}

/// The patch that turns the files of `from` into those of `to`.
pub(crate) fn patch_between(from: &Ruleset, to: &Ruleset) -> Patch {
    patch_of_files(from.files(), to.files())
}
