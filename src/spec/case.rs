use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Shelf, events};
use crate::play::plain::value_of;
use crate::play::{DiceSource, Happening, Migration, Question, Ruleset, Scenario, Session, Setup, Step};
use crate::ruleset::Breach;
use crate::state::{EntityId, Value};

/// A spec under way: `t`.
pub(super) struct Case {
    pub shelf: Arc<Shelf>,
    pub rules: Arc<Ruleset>,
    pub setup: Setup,
    pub session: Option<Session>,
    pub position: String,
    pub dice: Vec<u32>,
    /// What every entity was right after `given`, by id: its title and fields.
    pub baseline: BTreeMap<EntityId, (String, Vec<Value>)>,
    /// What the last change of rules told.
    pub migration: Option<Migration>,
    pub cards: Vec<String>,
}

/// What comes of a step of a spec, or why the spec fails.
pub(super) type Told<T> = Result<T, String>;

impl Case {
    pub fn new(shelf: &Arc<Shelf>) -> Case {
        Case {
            shelf: shelf.clone(),
            rules: shelf.rules.clone(),
            setup: Setup { dice: DiceSource::Written(Vec::new()), ..Setup::default() },
            session: None,
            position: String::new(),
            dice: Vec::new(),
            baseline: BTreeMap::new(),
            migration: None,
            cards: Vec::new(),
        }
    }

    pub fn session(&mut self) -> Told<&mut Session> {
        self.session.as_mut().ok_or_else(|| wrong("t:given(...) comes first"))
    }

    /// Begins in a position, of another ruleset if one is named.
    pub fn given(&mut self, scenario: &Value, ruleset: Option<&str>) -> Told<()> {
        if self.session.is_some() {
            return Err(wrong("t:given(...) is called once"));
        }
        if let Some(id) = ruleset {
            self.rules = self.shelf.ruleset(id).map_err(wrong)?;
        }
        self.setup.scenario = match scenario {
            Value::None => Scenario::Default,
            Value::Text(name) => Scenario::Named(name.to_string()),
            Value::List(items) if items.is_empty() => Scenario::Table(Value::map::<&str>([])),
            table @ (Value::List(_) | Value::Map(_)) => Scenario::Table(table.clone()),
            other => {
                return Err(format!("t:given takes a table or a scenario's name, not {}", other.type_name()));
            }
        };
        self.position = words(scenario);
        self.setup.dice = DiceSource::Written(self.dice.clone());
        // Everybody answers for themselves in a spec, whoever the scenario seats.
        for seat in self.rules.seats().keys() {
            self.setup.seats.entry(Arc::from(&**seat)).or_insert(crate::play::Driver::Human);
        }
        let mut session = Session::start(&self.rules, self.setup.clone()).map_err(wrong)?;
        loop {
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Ask if session.last_done().0 == 0 => take_default(&mut session)?,
                _ => break,
            }
        }
        let ids: Vec<EntityId> = session.view().entities().collect();
        for id in ids {
            let view = session.view();
            let fields = view.fields(id).map(|(_, value)| value.clone()).collect();
            self.baseline.insert(id, (view.title(id).to_string(), fields));
        }
        self.session = Some(session);
        Ok(())
    }

    pub fn add_dice(&mut self, faces: Vec<u32>) {
        if let Some(session) = &mut self.session {
            session.write_dice(&faces);
        }
        self.dice.extend(faces);
    }

    /// Runs on to a question that `wanted` says yes to, taking defaults on the way.
    pub fn run_to(
        &mut self,
        what: &str,
        wanted: impl Fn(&Session, &Question) -> bool,
        never: impl Fn(&Question) -> bool,
    ) -> Told<Question> {
        let session = self.session()?;
        for _ in 0..100_000 {
            match session.advance().map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Over(text) => return Err(wrong(format!("the game is over ({text}) before {what} is asked"))),
                Step::Ask => {}
            }
            if let Some(question) = session.questions().iter().find(|question| wanted(session, question)) {
                return Ok(question.clone());
            }
            if let Some(question) = session.questions().iter().find(|question| never(question)) {
                let about =
                    question.about.map_or(String::new(), |about| format!(" of {}", session.view().title(about)));
                let message =
                    format!("{what} is not asked: `{}`{about} is open first ({})", question.topic, question.why);
                return Err(wrong(message));
            }
            take_default(session)?;
        }
        Err(wrong(format!("{what} is never asked")))
    }

    pub fn turn_of(&mut self, about: &str, topic: &str) -> Told<Question> {
        let session = self.session()?;
        let entity = session.view().find(about).map_err(wrong)?;
        let what = format!("`{topic}` of {about}");
        self.run_to(
            &what,
            |_, question| *question.topic == *topic && question.about == Some(entity),
            |question| *question.topic == *topic,
        )
    }

    /// Answers the open action by topic until everything given has been said.
    pub fn answer_all(&mut self, answers: Vec<(String, Value)>) -> Told<()> {
        let mut left = answers;
        let session = self.session.as_mut().ok_or_else(|| wrong("t:given(...) comes first"))?;
        let Some(action) = session.questions().first().map(|question| question.id.action) else {
            return Err(wrong("no question is open"));
        };
        loop {
            let open: Vec<Question> = session.questions().to_vec();
            if open.is_empty() || open[0].id.action != action {
                break;
            }
            let mut taken = false;
            for question in &open {
                let Some(at) = left.iter().position(|(topic, _)| *topic == *question.topic) else { continue };
                let (value, whole) = for_question(session, question, &left[at].1);
                let Some(value) = value else { continue };
                let answer = question.read(&value).map_err(wrong)?;
                if &*question.topic == "card" {
                    self.cards.push(question.tell(&answer));
                }
                session.answer(question.id, answer).map_err(wrong)?;
                taken = true;
                if whole {
                    left.remove(at);
                }
            }
            if !taken {
                if left.iter().all(|(_, value)| matches!(value, Value::Map(_))) {
                    break;
                }
                take_default(session)?;
            }
            let of_questions = left.iter().filter(|(_, value)| !matches!(value, Value::Map(_)));
            session.name_ahead(of_questions.cloned().collect());
            let step = session.advance_by(0).map_err(wrong)?;
            session.name_ahead(Vec::new());
            match step {
                Step::Fault(fault) => return Err(session.take_refusal().map_or_else(|| wrong(fault), wrong)),
                Step::Over(_) => break,
                Step::Ask if left.is_empty() => break,
                Step::Ask => {}
            }
        }
        for (topic, value) in &left {
            if matches!(value, Value::Map(_)) {
                continue;
            }
            match session.fits_auto(action, topic, value) {
                Some(fits) => fits.map_err(wrong)?,
                None => return Err(wrong(session.nothing_asks(topic))),
            }
        }
        Ok(())
    }

    /// Takes the defaults of an action that has begun, so that what is looked at is its end.
    pub fn settle(&mut self) -> Told<()> {
        let session = self.session()?;
        while session.in_the_middle() {
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Over(_) => break,
                Step::Ask if !session.in_the_middle() => break,
                Step::Ask => {
                    if session.questions().iter().any(|question| question.default.is_none()) {
                        break;
                    }
                    take_default(session)?;
                }
            }
        }
        if let Some(fault) = session.fault() {
            return Err(wrong(fault));
        }
        Ok(())
    }

    pub fn expect(&mut self, expected: &Value) -> Told<()> {
        self.settle()?;
        let Value::Map(expected) = expected else {
            return Err(wrong("t:expect takes a table by entity title"));
        };
        for (title, wanted) in expected.iter() {
            match wanted {
                Value::Text(word) if &**word == "unchanged" => self.unchanged(title)?,
                Value::Text(word) if &**word == "gone" => {
                    if let Ok(id) = self.session()?.view().find(title) {
                        return Err(wrong(format!("{title} is still there ({id})")));
                    }
                }
                Value::Map(fields) => {
                    for (field, wanted) in fields.iter() {
                        let session = self.session()?;
                        let found = value_of(session, title, field, &[])?;
                        if !same(&found, wanted) {
                            return Err(wrong(format!(
                                "{title}.{field}: expected {}, found {}",
                                shown(wanted),
                                shown(&found)
                            )));
                        }
                    }
                }
                other => {
                    let message = format!(
                        "what is expected of {title} is a table of fields, \"unchanged\" or \"gone\", not {other}"
                    );
                    return Err(wrong(message));
                }
            }
        }
        Ok(())
    }

    /// The play of a card is refused for a reason, and nothing has changed.
    pub fn refused(&mut self, about: &str, replies: &[(String, Value)], reason: &str) -> Told<()> {
        let card = replies.first().map_or(String::new(), |(_, card)| card.to_string());
        self.turn_of(about, "card")?;
        let session = self.session()?;
        let before = session.state_bytes();
        match session.reply(replies) {
            Ok(_) => Err(wrong(format!("{card} by {about} was not refused"))),
            Err(refusal) if !refusal.to_string().contains(reason) => Err(wrong(format!(
                "{card} by {about} was refused for another reason: expected \"{reason}\", found \"{refusal}\""
            ))),
            Err(_) if session.state_bytes() != before => {
                Err(wrong(format!("{card} by {about} was refused, but something has changed")))
            }
            Err(_) => Ok(()),
        }
    }

    /// How many events are of a sort and say what is wanted.
    pub fn count(&mut self, sort: &str, wanted: &[(String, Value)]) -> Told<usize> {
        self.settle()?;
        let happenings: Vec<Happening> = self.session()?.log().into_iter().map(|event| event.happening).collect();
        events::count(&happenings, sort, wanted)
    }

    pub fn unchanged(&mut self, title: &str) -> Told<()> {
        let baseline = self.baseline.clone();
        let session = self.session()?;
        let id = session.view().find(title).map_err(wrong)?;
        let Some((_, fields)) = baseline.get(&id) else {
            return Err(wrong(format!("{title} was not there at the start")));
        };
        let view = session.view();
        for ((field, now), was) in view.fields(id).zip(fields) {
            if now != was {
                return Err(wrong(format!(
                    "{title}.{} has changed: {} -> {}",
                    field.name,
                    view.words(was),
                    view.words(now)
                )));
            }
        }
        Ok(())
    }

    /// At the end: nothing may be left over.
    pub fn end_of_spec(&mut self) -> Told<()> {
        if self.session.is_none() {
            return Ok(());
        }
        self.settle()?;
        let session = self.session()?;
        if session.in_the_middle() {
            let open: Vec<&str> = session.questions().iter().map(|question| &*question.topic).collect();
            return Err(wrong(format!("a question is left open: {}", open.join(", "))));
        }
        match session.unrolled() {
            0 => Ok(()),
            left => Err(wrong(format!("{left} of the dice were not rolled"))),
        }
    }

    /// Asks for other rules and plays on to where they come into force, if they do at once. Gives back what becomes of what.
    pub fn change_rules(&mut self, id: &str) -> Told<Migration> {
        let rules = self.shelf.ruleset(id).map_err(wrong)?;
        let session = self.session()?;
        let migration = session.change_rules(&rules).map_err(wrong)?;
        self.migration = Some(migration.clone());
        let session = self.session()?;
        match session.advance_by(0).map_err(wrong)? {
            Step::Fault(fault) => Err(wrong(fault)),
            _ => Ok(migration),
        }
    }

    /// What a sheet breaks under the house rules of the spec.
    pub fn breaches(&self, sheet: &Value) -> Told<Vec<Breach>> {
        let mut switches = self.rules.default_switches();
        match &self.session {
            Some(session) => switches.clone_from(session.switches()),
            None => switches.extend(self.setup.switches.clone()),
        }
        self.rules.check_sheet_under(sheet, switches).map_err(wrong)
    }

    pub fn log(&self) -> Vec<String> {
        self.session.iter().flat_map(|session| session.log()).map(|event| event.happening.line()).collect()
    }

    pub fn end(&self) -> Vec<u8> {
        let mut bytes = self.session.as_ref().map(Session::state_bytes).unwrap_or_default();
        bytes.extend(self.log().join("\n").into_bytes());
        bytes
    }
}

/// An answer may be one for every entity that is asked, or for every seat: a table by titles or by seats.
pub(super) fn for_question(session: &Session, question: &Question, value: &Value) -> (Option<Value>, bool) {
    if let (Value::Map(by_title), Some(about)) = (value, question.about) {
        let title = session.view().title(about);
        if let Some(own) = by_title.get(&title).or_else(|| by_title.get(&question.seat)) {
            let points = matches!(question.ask, crate::play::Ask::Allot { .. });
            if !points || matches!(own, Value::Map(_) | Value::List(_)) {
                return (Some(own.clone()), false);
            }
        } else if !matches!(question.ask, crate::play::Ask::Allot { .. }) {
            return (None, false);
        }
    }
    (Some(value.clone()), true)
}

/// A topic, with the titles where the answer is a table by them.
pub(super) fn in_words_of(topic: &str, value: &Value) -> String {
    match value {
        Value::Map(by_title) => {
            let titles: Vec<&str> = by_title.keys().map(|title| &**title).collect();
            format!("`{topic}` of {}", titles.join(" or "))
        }
        _ => format!("`{topic}`"),
    }
}

/// Takes the default of each open question.
pub(super) fn take_default(session: &mut Session) -> Told<()> {
    for question in session.questions().to_vec() {
        let Some(default) = question.default.clone() else {
            let about = question.about.map_or(String::new(), |about| format!(" of {}", session.view().title(about)));
            return Err(wrong(format!("`{}`{about} is asked and not answered: {}", question.topic, question.why)));
        };
        session.answer(question.id, default).map_err(wrong)?;
    }
    Ok(())
}

/// Whether a value is as expected; an empty reference may be expected as "none".
pub(super) fn same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::None, Value::Text(word)) => &**word == "none",
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::List(b)) => a.is_empty() && b.is_empty(),
        (Value::Ratio(n, d), Value::List(parts)) => **parts == [Value::Int(*n), Value::Int(*d)],
        _ => found == wanted,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Bool(yes) => yes.to_string(),
        other => other.to_string(),
    }
}

/// A value in words, as messages show what a spec was given.
pub(super) fn words(value: &Value) -> String {
    match value {
        Value::None => "nil".into(),
        Value::Text(text) => text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect(),
        Value::List(_) | Value::Map(_) => format!("{{{value}}}"),
        Value::Bool(yes) => yes.to_string(),
        other => other.to_string(),
    }
}

pub(super) fn wrong(message: impl std::fmt::Display) -> String {
    message.to_string()
}
