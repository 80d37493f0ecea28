use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::action::words_of;
use super::explanation::{must_be_there, must_take, takes_more, with};
use super::prepared::known_seat;
use super::{
    Answer, Call, Edit, Event, Explanation, Fault, FreeAct, Game, Happening, MASTER, Machine, Question, QuestionId,
    Refusal, Remedy, RollForm, Session, SheetRow, Step, Undone, View, Viewer,
};
use riskbreaker_state::{Audience, EntityId, OutcomeKind, Value};

/// A game as one viewer sees it, and what that viewer may do: all that a client of a seat needs.
///
/// Everything here is built for the viewer. It has nothing that the viewer may not see. Sheets, derived values and explanations
/// are computed from the game as the viewer knows it (see [`Seat::view`]), never from the whole game.
pub struct Seat<'s> {
    #[doc(hidden)]
    pub session: &'s mut Session,
    #[doc(hidden)]
    pub viewer: Viewer,
    /// The game as the viewer knows it, built at the first use.
    known: Option<Known>,
}

/// Something that a viewer was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct SeatEvent {
    /// Rises by one with everything that this viewer is told, and never goes back.
    pub revision: u64,
    /// Who else may see it.
    #[serde(skip_serializing_if = "Audience::is_everybody", default)]
    pub audience: Audience,
    /// What happened.
    #[serde(flatten)]
    pub happening: Happening,
    /// A roll in the form that is the same for all games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roll: Option<Box<RollForm>>,
}

/// Everything that a viewer may know of a game at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// Who looks.
    pub viewer: Viewer,
    /// The last revision of the viewer: what follows is told by [`Seat::events_since`].
    pub revision: u64,
    /// What is there, in the order of the numbers.
    pub entities: Vec<SnapshotEntity>,
    /// The open questions that it may see, its own and others'.
    pub questions: Vec<Question>,
    /// The seats that somebody waits for.
    pub waiting: Vec<Arc<str>>,
    /// The free acts of the viewer's seats.
    pub free_acts: Vec<FreeAct>,
    /// House rules in force.
    pub switches: BTreeMap<String, Value>,
    /// The events that were not taken back.
    pub log: Vec<SeatEvent>,
    /// What the game ended with.
    pub outcome: Option<String>,
    /// The fault that stopped the game; only the game master is told what it was.
    pub fault: Option<Fault>,
}

/// An entity as a viewer sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotEntity {
    /// Its number.
    pub id: EntityId,
    /// The name of its kind.
    pub kind: Arc<str>,
    /// What it is called.
    pub title: Arc<str>,
    /// Those of its fields that the viewer may see.
    pub fields: BTreeMap<Arc<str>, Value>,
}

/// The game as a viewer knows it at one moment, for reading; inside is nothing where that is all of it.
pub struct Known(Option<Box<Game>>);

impl Known {
    /// The state as the viewer knows it. `session`: the game that it was asked of, unchanged since.
    pub fn view<'v>(&'v self, session: &'v Session) -> View<'v> {
        match &self.0 {
            Some(game) => View::new(&game.context),
            None => session.view(),
        }
    }
}

impl Session {
    /// What a viewer knows of the game now: see [`Seat::view`].
    pub fn known(&self, viewer: &Viewer) -> Known {
        Known(self.game().known_to(viewer).map(Box::new))
    }

    /// The seats that have not answered, each with how many of its open questions a viewer sees: 0 if all are hidden.
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
    /// A seat that the ruleset does not have, with the nearest.
    pub fn seat(&mut self, name: &str) -> Result<Seat<'_>, Refusal> {
        if name != MASTER {
            known_seat(self.ruleset(), name).map_err(Refusal::new)?;
        }
        Ok(self.seen_by(Viewer::seat(name)))
    }

    /// The game as any viewer sees it: several seats at one screen, or a watcher without a seat.
    pub fn seen_by(&mut self, viewer: Viewer) -> Seat<'_> {
        Seat { session: self, viewer, known: None }
    }
}

impl Seat<'_> {
    /// Who looks.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    // What is open

    /// The open questions that the viewer may see, its own and those of others that are no secret.
    ///
    /// Their numbers are the viewer's own: `action` rises with each action that shows it a question, `ordinal` with each
    /// question of that action. Neither tells of what is hidden from the viewer. The game master has the numbers of
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

    /// The seats that have not answered, each once. That somebody is waited for is no secret, what for may be.
    pub fn waiting(&self) -> Vec<Arc<str>> {
        self.session.waits_for(&self.viewer).into_keys().collect()
    }

    /// The fault that stopped the game. Only the game master is told what it was.
    pub fn fault(&self) -> Option<Fault> {
        match self.viewer.is_master() {
            true => self.session.fault().cloned(),
            false => self.session.fault_for_seats(),
        }
    }

    /// What the game ended with, if it is over.
    pub fn outcome(&self) -> Option<&str> {
        self.session.outcome()
    }

    // What was told

    /// The number of the last thing that the viewer was told.
    pub fn revision(&mut self) -> u64 {
        self.session.game_mut().stream.revision(&self.viewer)
    }

    /// The events that the viewer was told after a revision; 0 gives all. A long game keeps only the events that were not taken
    /// back and a few thousand revisions; then 0 gives the events that were not taken back.
    ///
    /// To keep a log, append each event. At [`Happening::Back`] drop the events with a revision above its `to` instead.
    /// [`Happening::Aside`] is not part of the log.
    ///
    /// # Errors
    ///
    /// A revision that the viewer has not been told yet (another game was loaded), or one that is no longer kept. Begin again
    /// from a [`Snapshot`].
    pub fn events_since(&mut self, revision: u64) -> Result<Vec<SeatEvent>, Refusal> {
        let events = self.session.game_mut().stream.since(&self.viewer, revision).ok_or_else(|| {
            Refusal::new(format!("there is no revision {revision}; begin again from a snapshot of the game"))
        })?;
        let results = self.session.ruleset().results();
        Ok(events.into_iter().map(|event| SeatEvent::of(event, results)).collect())
    }

    /// The events that the viewer was told and that were not taken back.
    pub fn log(&mut self) -> Vec<SeatEvent> {
        self.last_events(usize::MAX)
    }

    /// The last `most` events of [`Seat::log`].
    pub fn last_events(&mut self, most: usize) -> Vec<SeatEvent> {
        let events = self.session.game_mut().stream.log(&self.viewer, most);
        let results = self.session.ruleset().results();
        events.into_iter().map(|event| SeatEvent::of(event, results)).collect()
    }

    // What is there

    /// The state as the viewer knows it. Entities and fields that it may not see are missing, and titles that it may not see
    /// are numbers.
    pub fn view(&mut self) -> View<'_> {
        let session = &*self.session;
        self.known.get_or_insert_with(|| session.known(&self.viewer)).view(session)
    }

    /// The sheet of an entity: label and text, line by line. What the viewer may not see counts as not set, and a last line
    /// says so.
    ///
    /// # Errors
    ///
    /// An entity that is not there for the viewer, or the fault of a script.
    pub fn sheet(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        Ok(self.sheet_rows(entity)?.into_iter().map(SheetRow::line).collect())
    }

    /// The same with the numbers that its lines tell.
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

    /// What an overview says of an entity: nothing where its kind has none.
    pub fn overview(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.overviews(vec![entity]).map(|all| all.into_iter().next().unwrap_or_default())
    }

    /// The same of several entities, whose scripts have the budget of one action together.
    pub fn overviews(&mut self, entities: Vec<EntityId>) -> Result<Vec<Vec<(String, String)>>, Fault> {
        self.look(move |game, vm| vm.overview(&mut game.context, &entities))
    }

    /// A view of the ruleset (`views` in `play.luau`) for a seat of the viewer. Any other `seat` means the viewer's first one.
    pub fn show(&mut self, name: &str, seat: &str) -> Result<Vec<(String, String)>, Fault> {
        let seat = if self.viewer.plays(seat) { Arc::from(seat) } else { self.own_seat() };
        let name = name.to_owned();
        self.look(move |game, vm| vm.view(&mut game.context, &name, &seat))
    }

    /// The text that the ruleset puts before the prompt.
    pub fn prompt(&mut self) -> String {
        let asked = self.asked().into_iter().next();
        let question = asked.or_else(|| self.questions().into_iter().next());
        let (about, seat) = question.map_or((None, self.own_seat()), |question| (question.about, question.seat));
        self.look(move |game, vm| vm.prompt(&mut game.context, about, &seat)).unwrap_or_default()
    }

    /// Works out a derived value of an entity from what the viewer knows.
    ///
    /// # Errors
    ///
    /// The fault of the script or of the call, an entity that is not there or that the viewer may not see, or a value that depends
    /// on what the viewer may not see.
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

    /// Explains a number: the terms of a derived value, or the changes that made a field.
    ///
    /// # Errors
    ///
    /// A sentence, if the entity has no such field or value, or not for this viewer.
    pub fn why(&mut self, entity: EntityId, name: &str) -> Result<Explanation, Refusal> {
        self.why_of(entity, name, &[])
    }

    /// Explains a derived value that takes arguments, as [`Session::why_of`] does.
    ///
    /// # Errors
    ///
    /// As [`Session::why_of`], and if the value depends on what the viewer may not see.
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

    /// The changes of a field that the viewer was told of.
    fn changes_of(&mut self, entity: EntityId, name: &str) -> Vec<String> {
        let told = self.log().into_iter().filter_map(|event| match event.happening {
            Happening::Changed { entity: of, field, text, .. } if of == entity && *field == *name => Some(text),
            _ => None,
        });
        let mut changes: Vec<String> = told.collect();
        if changes.is_empty() {
            // What a change of rules has made of the value is not told, so nobody can say that it never changed.
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
        // An act that comes before the open action starts from the state before it: so does its `when`.
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
            // Which act another seat takes may be a secret.
            let reason = Some(reason).filter(|_| !self.knows_less());
            for act in acts.iter_mut().filter(|act| act.enabled) {
                (act.enabled, act.reason) = (false, reason.clone());
            }
        }
        acts
    }

    /// Everything that the viewer may know at this moment.
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

    /// All that the viewer can get at this moment short of looking ahead, as one text: for tests of secrecy.
    pub fn everything(&mut self) -> String {
        let mut text = String::new();
        let mut add = |what: &str, found: serde_json::Result<String>| {
            text.push_str(what);
            text.push_str(": ");
            text.push_str(&found.unwrap_or_default());
            text.push('\n');
        };
        add("snapshot", serde_json::to_string(&self.snapshot()));
        add("events", serde_json::to_string(&self.events_since(0).unwrap_or_default()));
        add("prompt", serde_json::to_string(&self.prompt()));
        let views: Vec<String> = self.session.ruleset().views().iter().map(|view| view.name.to_string()).collect();
        for view in views {
            let seat = self.own_seat();
            add(&view, Ok(format!("{:?}", self.show(&view, &seat))));
        }
        let view = self.view();
        let names_of = |id| {
            let fields: Vec<String> = view.fields(id).map(|(field, _)| field.name.to_string()).collect();
            let derived: Vec<String> = view.derived_names(id).iter().map(|name| name.to_string()).collect();
            (id, view.title(id), fields, derived)
        };
        let known: Vec<_> = view.entities().map(names_of).collect();
        for (id, title, fields, derived) in known {
            add(&format!("sheet of {title}"), Ok(format!("{:?}", self.sheet(id))));
            add(&format!("overview of {title}"), Ok(format!("{:?}", self.overview(id))));
            for name in &derived {
                add(&format!("{name} of {title}"), Ok(format!("{:?}", self.derived(id, name, &[]))));
            }
            for name in fields.iter().chain(&derived) {
                add(&format!("why {name} of {title}"), Ok(format!("{:?}", self.why(id, name))));
            }
        }
        text
    }

    // What the viewer does

    /// Takes an exact answer to a question of the viewer's. The game master may answer for anyone.
    ///
    /// # Errors
    ///
    /// A question of another seat, or a sentence that says what does not fit. Nothing has changed then.
    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let id = self.own(id)?;
        self.forget();
        self.session.answer(id, answer)
    }

    /// The same for an answer that a program gives for its player. `undo` never stops at it: see [`Session::answer_by_program`].
    ///
    /// # Errors
    ///
    /// As for [`Seat::answer`].
    pub fn answer_by_program(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let id = self.own(id)?;
        self.forget();
        self.session.answer_by_program(id, answer)
    }

    /// Answers the viewer's open questions by topic, with loose values. Either all answers to the questions that are open now
    /// are taken, or none. Once they are taken they stand: if an answer to a later question does not fit, or its topic is not
    /// asked, an aside says so. If the reply was taken back, it would show dice and secrets, and cost nothing. The game master
    /// sees them anyway: all answers are taken, or none.
    ///
    /// # Errors
    ///
    /// A topic that only others are asked for, or a sentence that says what does not fit.
    pub fn reply(&mut self, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.forget();
        let step = self.session.reply_as(&self.viewer, replies)?;
        Ok(self.step_of(step))
    }

    /// The same, but plays no further than to the end of the open action.
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
    /// Another's seat, an act that the ruleset does not have, or one that is not open now.
    pub fn act(&mut self, seat: &str, name: &str) -> Result<(), Refusal> {
        self.may_decide_for(seat)?;
        let open = self.free_acts().into_iter().find(|act| *act.seat == *seat && *act.name == *name);
        let hidden = self.knows_less();
        self.forget();
        match open {
            // The reason as the viewer knows it.
            Some(act) if !act.enabled && hidden => {
                Err(Refusal::Greyed { label: act.title.to_string(), reason: act.reason })
            }
            Some(act) if hidden => {
                self.session.act(seat, name).map_err(|_| Refusal::Greyed { label: act.title.to_string(), reason: None })
            }
            _ => self.session.act(seat, name),
        }
    }

    /// Takes back the last decision, if it was the viewer's own and has shown it no secret; the game master takes back any.
    ///
    /// # Errors
    ///
    /// The last decision was another's, or there is none; or [`Refusal::Stands`]: it has shown the viewer what not everybody may
    /// see, or the rules let it stand (`stands` in `play.luau`).
    pub fn undo(&mut self) -> Result<Undone, Refusal> {
        if let Some(seat) = self.session.game().last_decider() {
            self.may_decide_for(&seat)?;
        }
        self.forget();
        self.session.undo_for(&self.viewer)
    }

    /// Does again what the last undo took back, if it was the viewer's own.
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

    /// Changes something by hand.
    ///
    /// # Errors
    ///
    /// Only the game master may; or a sentence that says what does not fit.
    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        self.may_decide_for(MASTER)?;
        self.forget();
        self.session.edit(edit)
    }

    /// Says how the game goes on after a fault.
    ///
    /// # Errors
    ///
    /// Only the game master may; or there is no fault.
    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        self.may_decide_for(MASTER)?;
        self.forget();
        self.session.remedy(remedy)
    }

    // Inside

    /// The open question that has this number for the viewer. A question that it may not see counts as not open.
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

    /// Refuses unless the viewer of this seat may decide for `seat`.
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

    pub(super) fn own_seat(&self) -> Arc<str> {
        self.viewer.names().next().cloned().unwrap_or_else(|| Arc::from(""))
    }

    fn depends(&self, name: &str, hidden: &[String]) -> String {
        format!("`{name}` depends on what {} may not see: {}", self.viewer.words(), hidden.join(", "))
    }

    /// The game is about to change: what is known of it has to be found out anew.
    fn forget(&mut self) {
        self.known = None;
    }

    /// What the viewer knows of the game now.
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

    /// Whether the viewer knows all of the game.
    #[cfg(feature = "serve")]
    pub fn knows_all(&mut self) -> bool {
        self.know();
        !self.knows_less()
    }

    /// Whether the viewer is known to see less than all.
    fn knows_less(&self) -> bool {
        matches!(self.known, Some(Known(Some(_))))
    }

    /// Runs something that only reads, on the game as the viewer knows it.
    pub(super) fn look<R: Send + 'static>(
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

    /// The same, with the labels of the hidden fields that scripts looked at there.
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

    /// What a policy would answer to a question of the viewer's, from what the viewer knows. For all but the game master,
    /// the policy draws from other dice than the game, so the answer does not foretell the next rolls.
    ///
    /// # Errors
    ///
    /// As for [`Session::suggest`]; a question of another seat, or a policy that reads what the viewer
    /// may not see.
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

/// A refusal of what is another's to decide.
pub(super) fn not_yours(seat: &str, viewer: &Viewer) -> Refusal {
    Refusal::NotYourSeat { seat: Arc::from(seat), acting: Arc::from(viewer.words()) }
}
