//! Amending a campaign: decides an entry in another way and repeats the later decisions with the same dice.

use serde::Serialize;

use super::campaign::Campaign;
use super::error::StoreError;
use super::file::lock;
use super::label::label;
use super::replay::Waypoint;
use super::rows::actions_between;
use riskbreaker_dice::Dice;
use riskbreaker_play::recorded::{FindRules, RecordedAct, RecordedCourse, RecordedDecision, RecordedRoll};
use riskbreaker_play::{Edit, Event, Refusal, Session, Viewer};
use riskbreaker_state::Value;

/// The change of an entry.
#[derive(Clone, Debug)]
pub enum Amendment {
    /// Another answer, as typed by a person.
    Answer(String),
    /// Other answers to some questions of an entry with several, as typed by a person.
    Answers {
        /// The answer to the first question of the entry; `None` if it stays as it was.
        first: Option<String>,
        /// The answers to questions by topic. A topic that the entry did not answer is answered at its end.
        named: Vec<(String, String)>,
    },
    /// Other faces for the first dice rolled after its decision, in order.
    Dice(Vec<u32>),
    /// Another manual edit.
    Edit(Edit),
}

/// The effects of amending an entry.
#[derive(Clone, Debug, Default)]
pub struct AmendReport {
    /// The original decision.
    pub text: String,
    /// The original events from the first difference on.
    pub kept: Vec<Event>,
    /// The new events from the first difference on.
    pub other: Vec<Event>,
    /// The number of later decisions that were repeated.
    pub made_again: u32,
    /// Later decisions that no longer apply.
    pub left_out: Vec<LeftOutDecision>,
    /// The original outcome, if the game was over.
    pub ended: Option<String>,
    /// The new outcome, if the game is over.
    pub ends: Option<String>,
}

/// A decision that no longer applies after an entry was amended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct LeftOutDecision {
    /// The number of its entry.
    pub entry: u32,
    /// The decision as text.
    pub text: String,
    /// The reason why it does not apply.
    pub why: String,
}

/// The amended entry or a later one.
struct AmendedEntry {
    id: u32,
    text: String,
    decisions: Vec<RecordedDecision>,
    /// The reason why it can never be repeated, if there is one.
    never: Option<&'static str>,
}

/// The data needed to replay a game from an entry on.
struct AmendPlan {
    /// The entry before the amended one.
    parent: u32,
    /// The last entry of the same scene.
    end: u32,
    /// The amended entry and the later ones, in order.
    entries: Vec<AmendedEntry>,
    rolls: Vec<RecordedRoll>,
}

impl Campaign {
    /// Computes the game that results if an entry is decided in another way. Leaves the campaign unchanged.
    ///
    /// Later decisions of people are repeated in order, and policies decide again. Equal rolls keep their faces; other
    /// rolls come from the generator of the campaign.
    ///
    /// # Errors
    ///
    /// The entry is not on the path to the current entry, it begins a scene, or the amendment does not fit it.
    pub fn preview_amendment(&self, entry: u32, amendment: &Amendment) -> Result<AmendReport, StoreError> {
        let plan = self.amend_plan(entry)?;
        let open = |id: u32| self.open_at(&mut self.file(), id, None).map(|opened| opened.session);
        let (before, mut session) = (open(plan.end)?, open(plan.parent)?);
        let mut find = |hash: &str| self.file().find_rules(hash).map_err(|error| error.to_string());
        let mut report = plan.play(amendment, &mut session, &mut find, &mut |_| Ok(()))?;
        let (kept, other) = (before.log(), session.log());
        let same = kept.iter().zip(&other).take_while(|(one, other)| one.happening == other.happening).count();
        (report.kept, report.other) = (kept[same..].to_vec(), other[same..].to_vec());
        report.ended = before.outcome().map(str::to_owned);
        Ok(report)
    }

    /// Decides an entry in another way and repeats the later decisions, as a new branch: see
    /// [`Campaign::preview_amendment`]. The old entries stay in the file, and [`Campaign::go_to`] returns to them.
    ///
    /// The report contains no events.
    ///
    /// # Errors
    ///
    /// As [`Campaign::preview_amendment`] and [`Campaign::keep`]. The campaign then stays at its current entry.
    pub fn amend(&mut self, entry: u32, amendment: &Amendment) -> Result<(Session, AmendReport), StoreError> {
        let (mut session, report) = self.turn_amended(entry, amendment)?;
        self.keep(&mut session)?;
        Ok((session, report))
    }

    /// Like [`Campaign::amend`], but writes to the file with the next [`Campaign::keep`], in the same transaction. If
    /// that fails, the campaign stays at its current entry.
    ///
    /// # Errors
    ///
    /// As [`Campaign::amend`].
    #[doc(hidden)]
    pub fn turn_amended(&mut self, entry: u32, amendment: &Amendment) -> Result<(Session, AmendReport), StoreError> {
        let (plan, shared) = (self.amend_plan(entry)?, self.file.clone());
        let mut find = |hash: &str| lock(&shared).find_rules(hash).map_err(|error| error.to_string());
        self.file().hold()?;
        let amended = self.turn_to(plan.parent).and_then(|mut session| {
            let mut keep = |session: &mut Session| self.keep_step(session).map(drop);
            let report = plan.play(amendment, &mut session, &mut find, &mut keep)?;
            Ok((session, report))
        });
        if amended.is_err() {
            self.turn_back();
        }
        amended
    }

    /// True if an entry is a manual edit.
    ///
    /// # Errors
    ///
    /// As [`Campaign::preview_amendment`].
    pub fn is_edit(&self, entry: u32) -> Result<bool, StoreError> {
        let plan = self.amend_plan(entry)?;
        let acts = plan.entries.first().into_iter().flat_map(|target| &target.decisions);
        Ok(acts.clone().any(|made| matches!(made.act, RecordedAct::Edit(_))))
    }

    /// Collects the decisions and rolls from an entry on.
    fn amend_plan(&self, entry: u32) -> Result<AmendPlan, StoreError> {
        let refused = |message: String| Err(StoreError::Refused(message));
        let way = self.way(self.head())?;
        let Some(at) = way.iter().position(|point| point.row.id == entry) else {
            if entry == 0 || entry > self.entries() {
                return Err(self.no_entry(entry));
            }
            return refused(format!("entry {entry} was undone: go there first, with `goto`"));
        };
        if let Some(act) = &way[at].body.act {
            return refused(format!("entry {entry} is no decision in the game: {act}"));
        }
        let scene = way[at].body.scene;
        let parent = at.checked_sub(1).map(|before| &way[before]).filter(|before| before.body.scene == scene);
        let Some((parent, place)) = parent.and_then(|parent| Some((parent, parent.body.place.as_ref()?))) else {
            return refused(format!("entry {entry} begins a scene, and nothing is decided there"));
        };
        let same_scene = way[at..].iter().take_while(|point| point.body.scene == scene).count();
        let end = &way[at + same_scene - 1];
        let (file, game) = (self.file(), self.game());
        let done = actions_between(&file, game, parent.row.tip, end.row.tip, scene)?;
        let RecordedCourse { decisions, rolls } = RecordedCourse::between(place, &done, end.body.place.as_ref());
        let mut decisions = decisions.into_iter().peekable();
        let mut entries = Vec::new();
        for Waypoint { row, body } in &way[at..] {
            let never = match (&body.act, body.scene == scene) {
                (_, false) => Some("it belongs to a later scene"),
                (Some(_), true) => Some("it changes what is kept beside the game"),
                (None, true) => None,
            };
            let made = body.counted(row.decisions).made;
            let mut own = Vec::new();
            while never.is_none() && decisions.peek().is_some_and(|decision| decision.number <= made) {
                own.extend(decisions.next());
            }
            entries.push(AmendedEntry { id: row.id, text: label(&file, game, row.id)?, decisions: own, never });
        }
        Ok(AmendPlan { parent: parent.row.id, end: end.row.id, entries, rolls })
    }
}

impl AmendPlan {
    /// Replays the game from the entry before the amended one, at which `session` is. Calls `keep` after each entry.
    fn play(
        mut self,
        amendment: &Amendment,
        session: &mut Session,
        find: &mut FindRules<'_>,
        keep: &mut dyn FnMut(&mut Session) -> Result<(), StoreError>,
    ) -> Result<AmendReport, StoreError> {
        let refused = |refusal: Refusal| StoreError::Refused(refusal.to_string());
        let target = self.entries.remove(0);
        let mut report = AmendReport { text: target.text.clone(), ..AmendReport::default() };
        if let Amendment::Dice(faces) = amendment {
            self.set_faces(&target, faces)?;
        }
        session.take_recorded_faces(std::mem::take(&mut self.rolls).into_iter().collect());
        let _ = session.advance().map_err(Refusal::from).map_err(refused)?;
        let mut is_amended = matches!(amendment, Amendment::Dice(_));
        let (mut first, mut named) = match amendment {
            Amendment::Answer(text) => (Some(text.clone()), Vec::new()),
            Amendment::Answers { first, named } => (first.clone(), named.clone()),
            Amendment::Dice(_) | Amendment::Edit(_) => (None, Vec::new()),
        };
        let mut last_seat = None;
        for decision in &target.decisions {
            if let RecordedAct::Answer { seat, topic, .. } = &decision.act {
                last_seat = Some(seat);
                let at = named.iter().position(|(of, _)| **of == **topic);
                if let Some(text) = first.take().or_else(|| Some(named.remove(at?).1)) {
                    let replies = [(topic.to_string(), Value::text(text))];
                    let _ = session.seen_by(Viewer::seat(seat)).reply(&replies).map_err(refused)?;
                    is_amended = true;
                    continue;
                }
            }
            match (&decision.act, amendment) {
                (RecordedAct::Edit(_), Amendment::Edit(edit)) if !is_amended => {
                    let act = RecordedAct::Edit(edit.clone());
                    session.decide_again(&act, find).map_err(refused)?;
                    is_amended = true;
                }
                (act, _) => {
                    if let Err(refusal) = session.decide_again(act, find) {
                        report.leave_out(&target, refusal.to_string());
                    }
                }
            }
        }
        if let Some(seat) = last_seat.filter(|_| !named.is_empty()) {
            let replies: Vec<(String, Value)> =
                named.into_iter().map(|(topic, text)| (topic, Value::text(text))).collect();
            let _ = session.seen_by(Viewer::seat(seat)).reply(&replies).map_err(refused)?;
            is_amended = true;
        }
        if !is_amended {
            let what = match amendment {
                Amendment::Edit(_) => "is no manual edit",
                _ => "answers no question",
            };
            return Err(StoreError::Refused(format!("entry {} {what}: {}", target.id, target.text)));
        }
        keep(session)?;
        for later in &self.entries {
            match later.never {
                Some(why) => report.leave_out(later, why.to_owned()),
                None => {
                    later.decisions.iter().for_each(|made| report.note(later, session.decide_again(&made.act, find)))
                }
            }
            keep(session)?;
        }
        session.take_recorded_faces(std::iter::empty().collect());
        report.ends = session.outcome().map(str::to_owned);
        Ok(report)
    }

    /// Replaces the faces of the first dice rolled after the decision of the entry.
    fn set_faces(&mut self, target: &AmendedEntry, faces: &[u32]) -> Result<(), StoreError> {
        let numbers = target.decisions.iter().map(|decision| decision.number);
        let (first, last) = (numbers.clone().min().unwrap_or_default(), numbers.max().unwrap_or_default());
        let own = self.rolls.iter_mut().filter(|roll| (first..=last).contains(&roll.after));
        let (mut given, mut rolled) = (faces, Vec::new());
        for roll in own {
            let own = given.len().min(roll.faces.len());
            rolled.push(format!("{} {:?}", roll.dice, roll.faces));
            roll.faces[..own].copy_from_slice(&given[..own]);
            given = &given[own..];
            let fits = Dice::parse(&roll.dice).map_err(|error| error.to_string());
            if let Err(error) = fits.and_then(|dice| dice.roll_faces(&roll.faces).map_err(|error| error.to_string())) {
                return Err(StoreError::Refused(format!(
                    "the faces {:?} do not fit {}: {error}",
                    roll.faces, roll.dice
                )));
            }
        }
        if given.is_empty() && !rolled.is_empty() {
            return Ok(());
        }
        Err(StoreError::Refused(match rolled.as_slice() {
            [] => format!("nothing was rolled after entry {}: {}", target.id, target.text),
            rolled => format!("{} faces are too many; rolled were {}", faces.len(), rolled.join(", ")),
        }))
    }
}

impl AmendReport {
    /// Records whether a decision was repeated.
    fn note(&mut self, entry: &AmendedEntry, made: Result<(), Refusal>) {
        match made {
            Ok(()) => self.made_again += 1,
            Err(refusal) => self.leave_out(entry, refusal.to_string()),
        }
    }

    fn leave_out(&mut self, entry: &AmendedEntry, why: String) {
        self.left_out.push(LeftOutDecision { entry: entry.id, text: entry.text.clone(), why });
    }
}
