use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use riskbreaker::lab::{AdviceLimits, Advised, SeatExt as _, SessionExt as _};
use riskbreaker::play::{Explanation, Known, Order, Profile};
use riskbreaker::{
    Answer, Driver, Edit, EntityId, Event, Fault, FreeAct, Happening, Question, QuestionId, Refusal, Remedy, Seat,
    SeatEvent, Session, Step, Undone, Value, View, Viewer,
};

/// Holds the session at the prompt, which a Lua program may borrow.
///
/// It shows what the seats at the screen may see, and plays for them.
///
/// It has many methods, since each operation of a Lua program on a game is one.
pub struct SessionSlot {
    session: Option<Session>,
    /// The seats at the screen; by default all seats of people.
    seats: Option<Vec<String>>,
    known: OnceCell<Known>,
    questions: OnceCell<Vec<Question>>,
    /// The printed events for each viewer.
    told: BTreeMap<Viewer, PrintedEvents>,
    /// Notices that are already on the screen.
    printed: Vec<String>,
}

/// The last event printed for a viewer, and the printed events that are still valid.
#[derive(Default)]
struct PrintedEvents {
    revision: u64,
    log: Vec<SeatEvent>,
}

const HERE: &str = "a game returns from every loan";

impl SessionSlot {
    pub fn new(session: Session) -> SessionSlot {
        let (known, questions) = (OnceCell::new(), OnceCell::new());
        SessionSlot {
            session: Some(session),
            seats: None,
            known,
            questions,
            told: BTreeMap::new(),
            printed: Vec::new(),
        }
    }

    /// Restricts the screen to these seats.
    pub fn sit(&mut self, seats: Vec<String>) {
        self.seats = Some(seats);
        self.forget();
    }

    /// Replaces the game, for the same seats.
    pub fn replace(&mut self, session: Session) {
        self.session = Some(session);
        self.told.clear();
        self.forget();
    }

    /// Lends the session out. It must be returned before the next use.
    pub fn lend(&mut self) -> Session {
        self.forget();
        self.session.take().expect(HERE)
    }

    pub fn give_back(&mut self, session: Session) {
        self.session = Some(session);
        self.forget();
    }

    /// True if the screen is restricted to some seats.
    pub fn is_restricted(&self) -> bool {
        self.seats.is_some()
    }

    /// The viewer at the screen.
    pub fn viewer(&self) -> Viewer {
        match &self.seats {
            Some(seats) => Viewer::seats(seats),
            None => {
                // At a screen for everybody, the user is the game master.
                let people = self.seats().iter().filter(|(_, driver)| **driver == Driver::Human);
                Viewer::seats(people.map(|(seat, _)| &**seat).chain(["gm"]))
            }
        }
    }

    /// The seat that must come to the screen, if no seat at the screen is asked.
    pub fn next_seat(&self) -> Option<String> {
        let viewer = self.viewer();
        let open = self.deref().questions();
        let seat = open.first().map(|question| question.seat.to_string());
        seat.filter(|_| !open.iter().any(|question| viewer.names().any(|own| *own == question.seat)))
    }

    /// The seats that have to answer.
    pub fn waiting(&mut self) -> Vec<String> {
        self.seat().waiting().iter().map(ToString::to_string).collect()
    }

    fn seat(&mut self) -> Seat<'_> {
        let viewer = self.viewer();
        self.deref_mut().seen_by(viewer)
    }

    fn forget(&mut self) {
        self.known.take();
        self.questions.take();
    }

    // Viewing

    pub fn questions(&self) -> &[Question] {
        let open = self.deref().questions();
        if !self.is_restricted() {
            return open;
        }
        self.questions.get_or_init(|| {
            let viewer = self.viewer();
            open.iter().filter(|question| viewer.plays(&question.seat)).cloned().collect()
        })
    }

    /// A question numbered for these seats. The numbers of the game would reveal hidden questions.
    pub fn as_told(&self, question: &Question) -> Question {
        let number = self.number(question.id);
        Question { id: number, ..question.clone() }
    }

    /// The number of an open question for the seats at the screen.
    fn number(&self, question: QuestionId) -> QuestionId {
        match self.is_restricted() {
            true => self.deref().number_for(&self.viewer(), question).unwrap_or(question),
            false => question,
        }
    }

    pub fn view(&self) -> View<'_> {
        self.known.get_or_init(|| self.deref().known(&self.viewer())).view(self.deref())
    }

    pub fn log(&self) -> Vec<Event> {
        let viewer = self.viewer();
        self.deref().log().into_iter().filter(|event| viewer.sees(&event.audience)).collect()
    }

    /// The events since the last call. For some seats only, each event is returned once, even if its action runs again.
    pub fn take_events(&mut self) -> Vec<Event> {
        let viewer = self.viewer();
        if !self.is_restricted() {
            return self.deref_mut().take_events();
        }
        let since = self.told.get(&viewer).map_or(0, |told| told.revision);
        let Ok(events) = self.seat().events_since(since) else { return Vec::new() };
        let told = self.told.entry(viewer).or_default();
        // The printed lines that were taken back, the new lines, and where the action began again.
        let (mut dropped, mut fresh, mut replayed) = (Vec::new(), Vec::new(), None);
        for event in events {
            told.revision = event.revision;
            match &event.happening {
                Happening::Back { to, cause, .. } => {
                    let stands = told.log.partition_point(|line| line.revision <= *to);
                    let gone = told.log.split_off(stands);
                    fresh.retain(|line: &SeatEvent| gone.iter().all(|gone| gone.revision != line.revision));
                    dropped.extend(gone.into_iter().filter(|gone| gone.revision <= since).map(|gone| gone.happening));
                    // An undo is printed by the command itself.
                    if !matches!(cause.as_str(), "undo" | "redo") {
                        replayed = Some((fresh.len(), event));
                    }
                }
                Happening::Aside { text } => {
                    let happening = Happening::Notice { text: text.clone() };
                    fresh.push(SeatEvent { happening, ..event });
                }
                _ => {
                    fresh.push(event.clone());
                    told.log.push(event);
                }
            }
        }
        // Lines that are repeated are already on the screen.
        let mut gone = dropped.clone();
        let mut is_new = |line: &SeatEvent| match gone.iter().position(|gone| *gone == line.happening) {
            Some(again) => {
                gone.remove(again);
                false
            }
            None => true,
        };
        let new: Vec<SeatEvent> = fresh.iter().filter(|line| is_new(line)).cloned().collect();
        // The withdrawn lines are no longer in `fresh`, so the note withdraws none: its `from` is above all numbers.
        match replayed.filter(|_| !gone.is_empty()) {
            Some((at, back)) => {
                fresh.insert(at, SeatEvent { happening: Happening::Withdrawn { from: u32::MAX }, ..back })
            }
            None => fresh = new,
        }
        let printed = std::mem::take(&mut self.printed);
        let is_printed =
            |line: &SeatEvent| matches!(&line.happening, Happening::Notice { text } if printed.contains(text));
        let lines = fresh.into_iter().filter(|line| !is_printed(line)).enumerate();
        lines
            .map(|(n, line)| Event { action: 2, n: n as u32, audience: line.audience, happening: line.happening })
            .collect()
    }

    /// Leaves these notices out of the next events, since the command prints them itself.
    pub fn note_printed(&mut self, notices: &[String]) {
        if self.is_restricted() {
            self.printed = notices.to_vec();
        }
    }

    pub fn sheet(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.seat().sheet(entity)
    }

    pub fn overview(&mut self, entity: EntityId) -> Result<Vec<(String, String)>, Fault> {
        self.seat().overview(entity)
    }

    pub fn overviews(&mut self, entities: Vec<EntityId>) -> Result<Vec<Vec<(String, String)>>, Fault> {
        self.seat().overviews(entities)
    }

    pub fn show(&mut self, name: &str, seat: &str) -> Result<Vec<(String, String)>, Fault> {
        self.seat().show(name, seat)
    }

    pub fn why(&mut self, entity: EntityId, name: &str, args: &[Value]) -> Result<Explanation, Refusal> {
        self.seat().why_of(entity, name, args)
    }

    /// The profiles of all entities, by title.
    pub fn profiles(&mut self) -> Vec<(Arc<str>, Profile)> {
        let mut seat = self.seat();
        let profiles = seat.profiles();
        let view = seat.view();
        profiles.into_iter().map(|(id, profile)| (view.label(id), profile)).collect()
    }

    /// The order of play; `None` if the rules have none or it cannot be computed.
    pub fn order_of_play(&mut self) -> Option<Order> {
        self.seat().order().ok().flatten()
    }

    pub fn prompt(&mut self) -> String {
        self.seat().prompt()
    }

    pub fn free_acts(&mut self) -> Vec<FreeAct> {
        self.seat().free_acts()
    }

    pub fn advise(
        &mut self,
        question: QuestionId,
        limits: AdviceLimits,
        interrupt: Option<&Arc<AtomicBool>>,
    ) -> Result<Advised, Refusal> {
        // Even at a screen for everybody, the advice is for the asked seat.
        let own = self.questions().iter().any(|open| open.id == question && self.viewer().plays(&open.seat));
        match self.deref().number_for(&self.viewer(), question).filter(|_| own) {
            Some(number) => self.seat().advise(number, limits, interrupt),
            None => self.deref_mut().advise(question, limits, interrupt),
        }
    }

    pub fn suggest(&mut self, question: QuestionId, policy: &str) -> Result<Option<Answer>, Refusal> {
        let number = self.number(question);
        self.decider().suggest(number, policy)
    }

    /// The suggested answer for the asked seat, from what that seat knows.
    pub fn propose(&mut self, question: &Question) -> Option<Answer> {
        self.deref_mut().propose(question)
    }

    // Playing

    /// The seat that decides here: the seats at the screen, or at a screen for everybody the game master, who may
    /// decide for all.
    fn decider(&mut self) -> Seat<'_> {
        let viewer = if self.is_restricted() { self.viewer() } else { Viewer::master() };
        self.deref_mut().seen_by(viewer)
    }

    pub fn answer(&mut self, id: QuestionId, answer: Answer) -> Result<(), Refusal> {
        let number = self.number(id);
        self.decider().answer(number, answer)
    }

    pub fn reply(&mut self, replies: &[(String, Value)]) -> Result<Step, Refusal> {
        self.decider().reply(replies)
    }

    pub fn act(&mut self, seat: &str, name: &str) -> Result<(), Refusal> {
        self.decider().act(seat, name)
    }

    pub fn undo(&mut self) -> Result<Undone, Refusal> {
        self.decider().undo()
    }

    pub fn redo(&mut self) -> Result<Undone, Refusal> {
        self.decider().redo()
    }

    pub fn edit(&mut self, edit: Edit) -> Result<(), Refusal> {
        self.decider().edit(edit)
    }

    pub fn remedy(&mut self, remedy: Remedy) -> Result<(), Refusal> {
        self.decider().remedy(remedy)
    }
}

impl Deref for SessionSlot {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session.as_ref().expect(HERE)
    }
}

/// Every change of the game resets the cached view.
impl DerefMut for SessionSlot {
    fn deref_mut(&mut self) -> &mut Session {
        self.forget();
        self.session.as_mut().expect(HERE)
    }
}
