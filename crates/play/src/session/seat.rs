use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Serialize;

use super::Session;
use super::step::Step;
use super::undone::Undone;
use crate::context::{must_be_there, must_take, takes_more, with};
use crate::machine::known_seat;
use crate::model::{not_yours, words_of};
use crate::{
    Answer, Call, Edit, Event, Explanation, Fault, FreeAct, Game, Happening, MASTER, Machine, Question, QuestionId,
    Refusal, Remedy, RollForm, SheetRow, View, Viewer,
};
use riskbreaker_state::{Audience, EntityId, OutcomeKind, Value};

/// A game as one viewer sees it, with the requests that this viewer may make: the interface for a client of a seat.
///
/// All results are built for the viewer and contain nothing hidden from it. Sheets, derived values and explanations are
/// computed from the game as the viewer knows it (see [`Seat::view`]), never from the whole game.
pub struct Seat<'s> {
    #[doc(hidden)]
    pub session: &'s mut Session,
    #[doc(hidden)]
    pub viewer: Viewer,
    /// The game as the viewer knows it, built at the first use.
    known: Option<Known>,
}

/// An event sent to a viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct SeatEvent {
    /// The number of the event. It rises by one with each event for this viewer and never decreases.
    pub revision: u64,
    /// The other viewers who may see it.
    #[serde(skip_serializing_if = "Audience::is_everybody", default)]
    pub audience: Audience,
    /// What happened.
    #[serde(flatten)]
    pub happening: Happening,
    /// If the event is a roll: the roll in a form common to all games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roll: Option<Box<RollForm>>,
}

/// Everything that a viewer may know of a game at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// The viewer.
    pub viewer: Viewer,
    /// The last revision of the viewer; [`Seat::events_since`] returns later events.
    pub revision: u64,
    /// The visible entities, in the order of their numbers.
    pub entities: Vec<SnapshotEntity>,
    /// The open questions that the viewer may see, its own and others'.
    pub questions: Vec<Question>,
    /// The seats that have not answered yet.
    pub waiting: Vec<Arc<str>>,
    /// The free acts of the viewer's seats.
    pub free_acts: Vec<FreeAct>,
    /// Values of the house rules.
    pub switches: BTreeMap<String, Value>,
    /// The events that were not taken back.
    pub log: Vec<SeatEvent>,
    /// The outcome, if the game is over.
    pub outcome: Option<String>,
    /// The fault that stopped the game. Only the game master gets the details.
    pub fault: Option<Fault>,
}

/// An entity as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotEntity {
    /// Its number.
    pub id: EntityId,
    /// Its kind.
    pub kind: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// The fields that the viewer may see.
    pub fields: BTreeMap<Arc<str>, Value>,
}

/// The game as a viewer knows it at one moment, read-only. Contains `None` if the viewer knows the whole game.
pub struct Known(Option<Box<Game>>);

impl Known {
    /// The state as the viewer knows it. `session`: the unchanged game from which this was computed.
    pub fn view<'v>(&'v self, session: &'v Session) -> View<'v> {
        match &self.0 {
            Some(game) => View::new(&game.context),
            None => session.view(),
        }
    }
}

impl Session {
    /// Computes the game as a viewer knows it now: see [`Seat::view`].
    pub fn known(&self, viewer: &Viewer) -> Known {
        Known(self.game().known_to(viewer).map(Box::new))
    }

    /// The seats that have not answered, each with the number of its open questions that a viewer sees; 0 if all are
    /// hidden.
    #[doc(hidden)]
    pub fn waits_for(&self, viewer: &Viewer) -> BTreeMap<Arc<str>, u32> {
        let mut seats: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        for question in self.questions() {
            *seats.entry(question.seat.clone()).or_default() += u32::from(viewer.sees(&question.audience));
        }
        seats
    }

    /// The game as a seat sees it; `gm` is the game master's, who sees everything.
    ///
    /// # Errors
    ///
    /// The ruleset has no such seat; the message names the most similar one.
    pub fn seat(&mut self, name: &str) -> Result<Seat<'_>, Refusal> {
        if name != MASTER {
            known_seat(self.ruleset(), name).map_err(Refusal::new)?;
        }
        Ok(self.seen_by(Viewer::seat(name)))
    }

    /// Notes that a step of a table is over: the events since the step before belong to it. `step` rises from step to step.
    pub fn end_step(&mut self, step: u64) {
        self.game_mut().stream.end_step(step);
    }

    /// The game as any viewer sees it: several seats at one screen, or a watcher without a seat.
    pub fn seen_by(&mut self, viewer: Viewer) -> Seat<'_> {
        Seat { session: self, viewer, known: None }
    }
}

impl Seat<'_> {
    /// The viewer.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    // Open questions

    /// The open questions that the viewer may see, its own and public ones of others.
    ///
    /// The numbers are the viewer's own: `action` rises with each action that shows it a question, `ordinal` with each
    /// question of that action. They reveal nothing hidden. The game master's numbers are those of
    /// [`Session::questions`].
    pub fn questions(&self) -> Vec<Question> {
        self.session.questions_seen_by(&self.viewer)
    }

    /// The open questions that the viewer is asked, numbered likewise.
    pub fn asked(&self) -> Vec<Question> {
        let mut open = self.questions();
        open.retain(|question| self.viewer.names().any(|seat| *seat == question.seat));
        open
    }

    /// The seats that have not answered, without duplicates. The fact that a seat is awaited is public, its question
    /// may be secret.
    pub fn waiting(&self) -> Vec<Arc<str>> {
        self.session.waits_for(&self.viewer).into_keys().collect()
    }

    /// The fault that stopped the game. Only the game master gets the details.
    pub fn fault(&self) -> Option<Fault> {
        match self.viewer.is_master() {
            true => self.session.fault().cloned(),
            false => self.session.fault_for_seats(),
        }
    }

    /// The outcome, if the game is over.
    pub fn outcome(&self) -> Option<&str> {
        self.session.outcome()
    }

    // Events

    /// The number of the last event sent to the viewer.
    pub fn revision(&mut self) -> u64 {
        self.session.game_mut().stream.revision(&self.viewer)
    }

    /// The viewer's events after a revision; 0 for all. A long game keeps the valid events and a few thousand
    /// revisions; then 0 returns only the valid events (those not taken back).
    ///
    /// To keep a log, append each event. At [`Happening::Back`] drop the events with a revision above its `to` instead.
    /// [`Happening::Aside`] is not part of the log.
    ///
    /// # Errors
    ///
    /// The viewer has no such revision yet (another game was loaded), or it is no longer kept. Begin again from a
    /// [`Snapshot`].
    pub fn events_since(&mut self, revision: u64) -> Result<Vec<SeatEvent>, Refusal> {
        let events = self.session.game_mut().stream.since(&self.viewer, revision).ok_or_else(|| {
            Refusal::new(format!("there is no revision {revision}; begin again from a snapshot of the game"))
        })?;
        let results = self.session.ruleset().results();
        Ok(events.into_iter().map(|event| SeatEvent::of(event, results)).collect())
    }

    /// The viewer's events that were not taken back.
    pub fn log(&mut self) -> Vec<SeatEvent> {
        self.last_events(usize::MAX)
    }

    /// The last `most` events of [`Seat::log`].
    pub fn last_events(&mut self, most: usize) -> Vec<SeatEvent> {
        let events = self.session.game_mut().stream.log(&self.viewer, most);
        let results = self.session.ruleset().results();
        events.into_iter().map(|event| SeatEvent::of(event, results)).collect()
    }

    /// The steps of the table that told the viewer the valid events after a revision, oldest first: the number of each, from
    /// [`Session::end_step`], and the revisions of its events. Only the last few thousand steps are known.
    pub fn steps_after(&mut self, revision: u64) -> Vec<(u64, RangeInclusive<u64>)> {
        self.session.game_mut().stream.steps_after(&self.viewer, revision)
    }

    // The state

    /// The state as the viewer knows it. Hidden entities and fields are missing, and hidden titles are replaced by
    /// numbers.
    pub fn view(&mut self) -> View<'_> {
        let session = &*self.session;
        self.known.get_or_insert_with(|| session.known(&self.viewer)).view(session)
    }

    /// The sheet of an entity, in rows of label and text. Hidden fields count as not set, and a last row lists them.
    ///
    /// # Errors
    ///
    /// The entity does not exist for the viewer, or a script fails.
    pub fn sheet(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        Ok(self.sheet_rows(entity)?.into_iter().map(SheetRow::line).collect())
    }

    /// Like [`Seat::sheet`], with the numbers in its rows.
    ///
    /// # Errors
    ///
    /// As for [`Seat::sheet`].
    pub fn sheet_rows(&mut self, entity: EntityId) -> Result<Vec<SheetRow>, Fault> {
        let (rows, hidden) = self.look_through(move |game, vm| vm.sheet(&mut game.context, entity))?;
        let mut rows = rows?;
        if !hidden.is_empty() {
            rows.push(SheetRow { label: "hidden".into(), text: hidden.join(", "), number: None });
        }
        Ok(rows)
    }

    /// The overview rows of an entity. Empty if its kind has no overview.
    pub fn overview(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.overviews(vec![entity]).map(|all| all.into_iter().next().unwrap_or_default())
    }

    /// The overview rows of several entities, whose scripts share the budget of one action.
    pub fn overviews(&mut self, entities: Vec<EntityId>) -> Result<Vec<Vec<(String, String)>>, Fault> {
        self.look(move |game, vm| vm.overview(&mut game.context, &entities))
    }

    /// A view of the ruleset (`views` in `play.luau`) for a seat of the viewer. Any other `seat` means the viewer's first one.
    pub fn show(&mut self, name: &str, seat: &str) -> Result<Vec<(String, String)>, Fault> {
        let seat = if self.viewer.plays(seat) { Arc::from(seat) } else { self.own_seat() };
        let name = name.to_owned();
        self.look(move |game, vm| vm.view(&mut game.context, &name, &seat))
    }

    /// The text that the ruleset shows before the prompt.
    pub fn prompt(&mut self) -> String {
        let asked = self.asked().into_iter().next();
        let question = asked.or_else(|| self.questions().into_iter().next());
        let (about, seat) = question.map_or((None, self.own_seat()), |question| (question.about, question.seat));
        self.look(move |game, vm| vm.prompt(&mut game.context, about, &seat)).unwrap_or_default()
    }

    /// Computes a derived value of an entity from the game as the viewer knows it.
    ///
    /// # Errors
    ///
    /// The fault of the script or of the call; the entity does not exist or is hidden; or the value depends on hidden
    /// fields.
    pub fn derived(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Value, Fault> {
        self.know();
        must_be_there(&self.view(), entity, args)?;
        let (owned, args) = (name.to_string(), args.to_vec());
        let (found, hidden) = self.look_through(move |game, vm| {
            vm.look(&mut game.context, &Call::Derived { entity, name: &owned, args: &args })
        })?;
        match hidden.as_slice() {
            [] => found,
            hidden => Err(Fault::new(self.depends(name, hidden))),
        }
    }

    /// Explains a number: the terms of a derived value, or the changes of a field.
    ///
    /// # Errors
    ///
    /// A sentence if the entity has no such field or value, or hides it from this viewer.
    pub fn why(&mut self, entity: EntityId, name: &str) -> Result<Explanation, Refusal> {
        self.why_of(entity, name, &[])
    }

    /// Explains a derived value that takes arguments, as [`Session::why_of`] does.
    ///
    /// # Errors
    ///
    /// As [`Session::why_of`]; or the value depends on hidden fields.
    pub fn why_of(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Explanation, Refusal> {
        self.know();
        let view = self.view();
        if !view.exists(entity) {
            return Err(Refusal::NoEntity { entity });
        }
        must_take(&view, entity, name, args)?;
        if let Some(takes) = view.derived_takes(entity, name) {
            let alike = view.alike(entity);
            let explain = |seat: &mut Self, args: &[Value]| {
                let (name, args) = (name.to_string(), args.to_vec());
                let looked = seat.look_through(move |game, vm| vm.explain(&mut game.context, entity, &name, &args));
                looked.map_err(Refusal::fault)
            };
            let (found, hidden) = explain(self, args)?;
            if !hidden.is_empty() {
                return Err(Refusal::new(self.depends(name, &hidden)));
            }
            let fault = match found {
                Ok(found) => return Ok(found),
                Err(fault) => fault,
            };
            if takes.is_some_and(|takes| args.len() >= takes) {
                return Err(Refusal::fault(fault));
            }
            let works = |looked: (Result<Explanation, Fault>, Vec<String>)| looked.0.is_ok() && looked.1.is_empty();
            let other = alike.into_iter().find(|other| explain(self, &with(args, *other)).is_ok_and(works));
            return Err(takes_more(&self.view(), (entity, name), args, other, fault));
        }
        if !self.knows_less() {
            return self.session.why(entity, name);
        }
        let view = self.view();
        let value = view.field(entity, name).cloned();
        let title = view.title(entity);
        let unknown = view.unknown_name(entity, name);
        let Some(value) = value else {
            return Err(match self.session.view().field(entity, name) {
                Some(_) => Refusal::new(format!("{} may not see `{name}` of {title}", self.viewer.words())),
                None => unknown,
            });
        };
        let text = self.view().words(&value);
        let changes = self.changes_of(entity, name);
        Ok(Explanation { title: format!("{title}: {name}"), value: text, terms: Vec::new(), changes })
    }

    /// The changes of a field that the viewer has seen.
    fn changes_of(&mut self, entity: EntityId, name: &str) -> Vec<String> {
        let told = self.log().into_iter().filter_map(|event| match event.happening {
            Happening::Changed { entity: of, field, text, .. } if of == entity && *field == *name => Some(text),
            _ => None,
        });
        let mut changes: Vec<String> = told.collect();
        if changes.is_empty() {
            // The effects of a change of rules on the value have no events, so the field may have changed.
            let done = self.session.game().history.iter();
            let of_rules = done.filter(|done| done.swap.is_some());
            changes.extend(of_rules.map(|done| format!("action {} ({})", done.number, words_of(&done.cause))));
        }
        changes
    }

    /// The free acts of the viewer's seats; for the game master, of all seats.
    pub fn free_acts(&mut self) -> Vec<FreeAct> {
        if self.session.ruleset().free_acts().is_empty() {
            return Vec::new();
        }
        let mut acts = self.look(|game, vm| Ok(vm.free_acts(&mut game.context))).unwrap_or_default();
        // An act that runs before the open action starts from the state before it, and so does its `when`.
        let game = self.session.game();
        let comes_first = |act: &FreeAct| !game.act_waits(&act.seat);
        if game.changes_something() && acts.iter().any(comes_first) {
            let early: Vec<bool> = acts.iter().map(comes_first).collect();
            let before = Box::new(game.known_before(&self.viewer));
            if let Ok((_, found)) = self.session.run_on(before, |game, vm| vm.free_acts(&mut game.context)) {
                acts = acts
                    .into_iter()
                    .zip(early)
                    .filter_map(|(act, early)| match early {
                        true => found.iter().find(|other| other.seat == act.seat && other.name == act.name).cloned(),
                        false => Some(act),
                    })
                    .collect();
            }
        }
        acts.retain(|act| self.viewer.plays(&act.seat));
        if let Some(reason) = self.session.game().no_free_act() {
            // The act that another seat takes may be secret.
            let reason = Some(reason).filter(|_| !self.knows_less());
            for act in acts.iter_mut().filter(|act| act.enabled) {
                (act.enabled, act.reason) = (false, reason.clone());
            }
        }
        acts
    }

    /// Collects everything that the viewer may know now.
    pub fn snapshot(&mut self) -> Snapshot {
        let view = self.view();
        let entity = |id: EntityId| SnapshotEntity {
            id,
            kind: Arc::from(view.kind(id).unwrap_or_default()),
            title: view.title(id),
            fields: view.fields(id).map(|(field, value)| (field.name.clone(), value.clone())).collect(),
        };
        let entities = view.entities().map(entity).collect();
        Snapshot {
            entities,
            viewer: self.viewer.clone(),
            revision: self.revision(),
            questions: self.questions(),
            waiting: self.waiting(),
            free_acts: self.free_acts(),
            switches: self.session.switches().clone(),
            log: self.log(),
            outcome: self.outcome().map(str::to_owned),
            fault: self.fault(),
        }
    }

    /// Formats everything that the viewer can read now, except look-aheads, as one text: for tests of secrecy.
    pub fn everything(&mut self) -> String {
        let mut text = String::new();
        self.parts_of_everything(&mut |part| {
            text.push_str(&part);
            false
        });
        text
    }

    /// True if [`Seat::everything`] has a line that contains a text. Looks no further than that line.
    #[doc(hidden)]
    pub fn reads(&mut self, text: &str) -> bool {
        self.parts_of_everything(&mut |part| part.contains(text))
    }

    /// Gives one line of [`Seat::everything`] after the other until `is_enough` returns true. Returns false if it never
    /// does.
    fn parts_of_everything(&mut self, is_enough: &mut dyn FnMut(String) -> bool) -> bool {
        let mut add = |what: &str, found: String| is_enough(format!("{what}: {found}\n"));
        let snapshot = serde_json::to_string(&self.snapshot()).unwrap_or_default();
        if add("snapshot", snapshot) {
            return true;
        }
        let events = serde_json::to_string(&self.events_since(0).unwrap_or_default()).unwrap_or_default();
        let prompt = serde_json::to_string(&self.prompt()).unwrap_or_default();
        if add("events", events) || add("prompt", prompt) {
            return true;
        }
        let views: Vec<String> = self.session.ruleset().views().iter().map(|view| view.name.to_string()).collect();
        for view in views {
            let seat = self.own_seat();
            if add(&view, format!("{:?}", self.show(&view, &seat))) {
                return true;
            }
        }
        let view = self.view();
        let names_of = |id| {
            let fields: Vec<String> = view.fields(id).map(|(field, _)| field.name.to_string()).collect();
            let derived: Vec<String> = view.derived_names(id).iter().map(|name| name.to_string()).collect();
            (id, view.title(id), fields, derived)
        };
        let known: Vec<_> = view.entities().map(names_of).collect();
        known.into_iter().any(|(id, title, fields, derived)| {
            let mut parts_of = |seat: &mut Self| {
                add(&format!("sheet of {title}"), format!("{:?}", seat.sheet(id)))
                    || add(&format!("overview of {title}"), format!("{:?}", seat.overview(id)))
                    || derived
                        .iter()
                        .any(|name| add(&format!("{name} of {title}"), format!("{:?}", seat.derived(id, name, &[]))))
                    || (fields.iter().chain(&derived))
                        .any(|name| add(&format!("why {name} of {title}"), format!("{:?}", seat.why(id, name))))
            };
            parts_of(self)
        })
    }

    // Requests of the viewer

    /// Takes an exact answer to a question of the viewer's. The game master may answer for anyone.
    ///
    /// # Errors
    ///
    /// The question is of another seat; or a sentence that says what does not fit. The game is unchanged then.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let id = self.own(id)?;
        self.forget();
        self.session.answer(id, answer)
    }

    /// Like [`Seat::answer`], for an answer that a program gives for its player. Undo does not stop at it: see
    /// [`Session::answer_by_program`].
    ///
    /// # Errors
    ///
    /// As for [`Seat::answer`].
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let id = self.own(id)?;
        self.forget();
        self.session.answer_by_program(id, answer)
    }

    /// Answers the viewer's open questions by topic, with loose values. Takes either all answers to the currently open
    /// questions, or none. Taken answers count: if an answer to a later question does not fit, or its topic is not
    /// asked, a notice reports it. Otherwise a reply could be used to see dice and secrets for free. For the game
    /// master, who sees them anyway, all answers are taken or none.
    ///
    /// # Errors
    ///
    /// A topic that only other seats are asked for; or a sentence that says what does not fit.
    pub fn reply(&mut self, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.forget();
        let step = self.session.reply_as(&self.viewer, replies)?;
        Ok(self.step_of(step))
    }

    /// Like [`Seat::reply`], but plays at most to the end of the open action.
    #[cfg(feature = "serve")]
    #[doc(hidden)]
    pub fn take_replies(&mut self, replies: &[(String, Value)]) -> Result<(), Refusal> {
        self.forget();
        self.session.take_replies(&self.viewer, replies)
    }

    /// Takes a free act for one of the viewer's seats.
    ///
    /// # Errors
    ///
    /// The seat belongs to somebody else, the ruleset has no such act, or the act is not open now.
    pub fn act(&mut self, seat: &str, name: &str) -> Result<(), Refusal> {
        self.may_decide_for(seat)?;
        let open = self.free_acts().into_iter().find(|act| *act.seat == *seat && *act.name == *name);
        let hidden = self.knows_less();
        self.forget();
        match open {
            // Give the reason as the viewer knows it.
            Some(act) if !act.enabled && hidden => {
                Err(Refusal::Greyed { label: act.title.to_string(), reason: act.reason })
            }
            Some(act) if hidden => {
                self.session.act(seat, name).map_err(|_| Refusal::Greyed { label: act.title.to_string(), reason: None })
            }
            _ => self.session.act(seat, name),
        }
    }

    /// Undoes the last decision, if it was the viewer's own and has shown it no secret. The game master may undo any
    /// decision.
    ///
    /// # Errors
    ///
    /// The last decision was another seat's, or there is none; or [`Refusal::Stands`]: it has shown the viewer a
    /// secret, or the rules let it stand (`stands` in `play.luau`).
    pub fn undo(&mut self) -> Result<Undone, Refusal> {
        if let Some(seat) = self.session.game().last_decider() {
            self.may_decide_for(&seat)?;
        }
        self.forget();
        self.session.undo_for(&self.viewer)
    }

    /// Redoes the last undone decision, if it was the viewer's own.
    ///
    /// # Errors
    ///
    /// As for [`Seat::undo`].
    pub fn redo(&mut self) -> Result<Undone, Refusal> {
        if let Some(seat) = self.session.game().next_redo_by() {
            self.may_decide_for(&seat)?;
        }
        self.forget();
        self.session.redo_for(&self.viewer)
    }

    /// Makes a manual edit.
    ///
    /// # Errors
    ///
    /// The viewer is not the game master; or a sentence that says what does not fit.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        self.may_decide_for(MASTER)?;
        self.forget();
        self.session.edit(edit)
    }

    /// Applies the game master's choice after a fault.
    ///
    /// # Errors
    ///
    /// The viewer is not the game master, or there is no fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        self.may_decide_for(MASTER)?;
        self.forget();
        self.session.remedy(remedy)
    }

    // Internal

    /// The open question with this number for the viewer. A question that it may not see counts as not open.
    #[doc(hidden)]
    pub fn open(&self, number: QuestionId) -> Result<&Question, Refusal> {
        self.session.question_of(&self.viewer, number).ok_or(Refusal::Stale { question: number })
    }

    /// The game's own id of an open question that the viewer may decide.
    #[doc(hidden)]
    pub fn own(&self, number: QuestionId) -> Result<QuestionId, Refusal> {
        let open = self.open(number)?;
        self.may_decide_for(&open.seat)?;
        Ok(open.id)
    }

    /// Refuses unless the viewer may decide for `seat`.
    pub fn may_decide_for(&self, seat: &str) -> Result<(), Refusal> {
        if self.viewer.plays(seat) {
            return Ok(());
        }
        Err(not_yours(seat, &self.viewer))
    }

    /// A step as the viewer may know it.
    fn step_of(&self, step: Step) -> Step {
        match step {
            Step::Fault(fault) => Step::Fault(self.fault().unwrap_or(fault)),
            step => step,
        }
    }

    pub(crate) fn own_seat(&self) -> Arc<str> {
        self.viewer.names().next().cloned().unwrap_or_else(|| Arc::from(""))
    }

    fn depends(&self, name: &str, hidden: &[String]) -> String {
        format!("`{name}` depends on what {} may not see: {}", self.viewer.words(), hidden.join(", "))
    }

    /// Discards the cached knowledge of the viewer, before the game changes.
    fn forget(&mut self) {
        self.known = None;
    }

    /// The game as the viewer knows it now.
    #[cfg(feature = "serve")]
    pub fn into_known(mut self) -> Known {
        self.know();
        self.known.unwrap_or(Known(None))
    }

    fn know(&mut self) {
        if self.known.is_none() {
            self.known = Some(self.session.known(&self.viewer));
        }
    }

    /// True if the viewer knows the whole game.
    #[cfg(feature = "serve")]
    pub fn knows_all(&mut self) -> bool {
        self.know();
        !self.knows_less()
    }

    /// True if the viewer was found to know less than the whole game.
    fn knows_less(&self) -> bool {
        matches!(self.known, Some(Known(Some(_))))
    }

    /// Runs read-only work on the game as the viewer knows it.
    pub(crate) fn look<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> Result<R, Fault> + Send + 'static,
    ) -> Result<R, Fault> {
        self.know();
        let Some(Known(Some(game))) = self.known.take() else {
            self.known = Some(Known(None));
            return self.session.look(work);
        };
        let (game, result) = self.session.run_on(game, work).map_err(|error| Fault::new(error.to_string()))?;
        self.known = Some(Known(Some(game)));
        result
    }

    /// Like [`Seat::look`]; also returns the labels of the hidden fields that scripts read.
    fn look_through<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Game, &mut dyn Machine) -> R + Send + 'static,
    ) -> Result<(R, Vec<String>), Fault> {
        self.look(move |game, vm| {
            game.context.take_looked_at();
            let found = work(game, vm);
            Ok((found, game.context.take_looked_at()))
        })
    }

    /// The answer of a policy to a question of the viewer's, based on what the viewer knows. Except for the game
    /// master, the policy draws from other dice than the game, so the answer does not reveal the next rolls.
    ///
    /// # Errors
    ///
    /// As for [`Session::suggest`]; the question is of another seat, or the policy reads a hidden field.
    pub fn suggest(&mut self, question: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal> {
        let question = self.own(question)?;
        let viewer = self.viewer.clone();
        self.session.suggest_for(question, policy, &viewer)
    }
}

impl SeatEvent {
    fn of((revision, event): (u64, Event), results: &[(Arc<str>, OutcomeKind)]) -> SeatEvent {
        let roll = RollForm::of(&event.happening, results).map(Box::new);
        SeatEvent { revision, audience: event.audience, happening: event.happening, roll }
    }
}
