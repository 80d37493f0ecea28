use super::checked_step::CheckedStep;
use super::checked_step::some_reason;
use super::checked_step::words;
use super::checked_step::wrong;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lines::cards_in;
use super::refusals::{Fit, WantedRefusal};
use super::report::SpecWarning;
use super::{SpecRulesets, events};
use riskbreaker_play::plain::value_of;
use riskbreaker_play::{
    Ask, Choice, DICE_RUN_OUT, DiceSource, Happening, Migration, Question, Refusal, Ruleset, Scenario, Session, Setup,
    Step, Viewer, event_lines,
};
use riskbreaker_ruleset::{Breach, nearest};
use riskbreaker_state::{EntityId, Key, Value};

/// A running spec: `t`.
///
/// It has many methods, since each word of a spec is one.
pub(super) struct Case {
    pub shelf: Arc<SpecRulesets>,
    pub rules: Arc<Ruleset>,
    pub setup: Setup,
    pub session: Option<Session>,
    pub position: String,
    pub dice: Vec<u32>,
    /// The title and the fields of every entity right after `given`, by id.
    pub baseline: BTreeMap<EntityId, (String, Vec<Value>)>,
    /// The result of the last change of rules.
    pub migration: Option<Migration>,
    pub cards: Vec<String>,
    /// The line of the spec that calls the running method.
    pub line: Option<u32>,
    pub warnings: Vec<SpecWarning>,
    /// Values read while an action had open questions, since the spec last continued.
    pub read_in_the_middle: Vec<(LookedUp, Value)>,
    /// Everything that a seat gets, by seat, as long as the spec only asks for that.
    pub seen: Vec<(String, String)>,
}

/// A part of the state that a spec reads.
pub(super) enum LookedUp {
    /// A field or derived value of an entity, with its arguments.
    Value(String, String, Vec<Value>),
    /// The titles of all entities of a kind.
    Titles(String),
}

impl LookedUp {
    fn read(&self, session: &mut Session) -> CheckedStep<Value> {
        match self {
            LookedUp::Value(title, field, rest) => value_of(session, title, field, rest),
            LookedUp::Titles(kind) => {
                let view = session.view();
                Ok(Value::list(view.of_kind(kind).map(|id| Value::Text(view.title(id)))))
            }
        }
    }

    fn words(&self) -> String {
        match self {
            LookedUp::Value(title, field, _) => format!("{title}.{field}"),
            LookedUp::Titles(kind) => format!("the titles of `{kind}`"),
        }
    }
}

/// The most questions answered by their defaults while waiting for one.
const MOST_DEFAULTS: usize = 10_000;
/// The most questions of one action answered by their defaults.
const MOST_DEFAULTS_OF_ACTION: usize = 300;

impl Case {
    pub fn new(shelf: &Arc<SpecRulesets>) -> Case {
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
            line: None,
            warnings: Vec::new(),
            read_in_the_middle: Vec::new(),
            seen: Vec::new(),
        }
    }

    pub fn session(&mut self) -> CheckedStep<&mut Session> {
        self.session.as_mut().ok_or_else(|| wrong("t:given(...) comes first"))
    }

    /// Begins the game with a position, for another ruleset if one is named.
    pub fn given(&mut self, scenario: &Value, ruleset: Option<&str>) -> CheckedStep<()> {
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
        // People play all seats that `t:seat` does not assign: policies of the scenario are ignored.
        self.setup.seats_in_scenario = false;
        for seat in self.rules.seats().keys() {
            self.setup.seats.entry(Arc::from(&**seat)).or_insert(riskbreaker_play::Driver::Human);
        }
        let mut session = Session::start(&self.rules, self.setup.clone()).map_err(wrong)?;
        for taken in 0.. {
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Ask if session.last_done().0 == 0 => take_one_more_default(&mut session, taken)?,
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

    pub fn add_dice(&mut self, faces: Vec<u32>) -> CheckedStep<()> {
        if let Some(session) = &mut self.session {
            session.push_faces(&faces).map_err(wrong)?;
        }
        self.dice.extend(faces);
        Ok(())
    }

    /// Checks that a position is refused for a reason.
    pub fn given_refused(&mut self, scenario: &Value, reason: &str, ruleset: Option<&str>) -> CheckedStep<()> {
        some_reason(reason)?;
        let rules = self.rules.clone();
        let given = self.given(scenario, ruleset);
        self.rules = rules;
        match given {
            Ok(()) => Err(wrong("the position was not refused")),
            Err(found) => {
                if found.contains(reason) && !found.contains(DICE_RUN_OUT) {
                    return Ok(());
                }
                Err(wrong(format!(
                    "the position was refused for another reason: expected \"{reason}\", found \"{found}\""
                )))
            }
        }
    }

    /// Plays on to a question that satisfies `wanted`, taking defaults for other questions, for at most one round.
    pub fn run_to(
        &mut self,
        what: &str,
        wanted: impl Fn(&Session, &Question) -> bool,
        never: impl Fn(&Question) -> bool,
    ) -> CheckedStep<Question> {
        let session = self.session()?;
        let began = session.boundaries();
        let mut passed = BTreeSet::new();
        for _ in 0..MOST_DEFAULTS {
            match session.advance().map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Over(text) => return Err(wrong(format!("the game is over ({text}) before {what} is asked"))),
                Step::Ask => {}
            }
            if let Some(question) = session.questions().iter().find(|question| wanted(session, question)) {
                return Ok(question.clone());
            }
            if let Some(question) = session.questions().iter().find(|question| never(question)) {
                let about = of_whom(session, question);
                let message =
                    format!("{what} is not asked: `{}`{about} is open first ({})", question.topic, question.why);
                return Err(wrong(message));
            }
            let again = session.questions().iter().any(|open| !passed.insert((open.topic.clone(), open.about)));
            if again && session.boundaries() > began + 1 {
                return Err(wrong(format!("{what} is not asked within the round")));
            }
            take_default(session).map_err(|why| wrong(format!("{what} is not asked: {why}")))?;
        }
        Err(wrong(format!("{what} is never asked")))
    }

    /// The next question of a topic about an entity, or to a seat.
    pub fn turn_of(&mut self, about: &str, topic: &str) -> CheckedStep<Question> {
        let session = self.session()?;
        let entity = match session.view().find(about) {
            Ok(entity) => Some(entity),
            Err(_) if session.seats().contains_key(about) => None,
            Err(refusal) => return Err(wrong(refusal)),
        };
        let what = format!("`{topic}` of {about}");
        let is_asked = |question: &Question| match entity {
            Some(entity) => question.about == Some(entity),
            None => *question.seat == *about,
        };
        self.run_to(
            &what,
            |_, question| *question.topic == *topic && is_asked(question),
            |question| *question.topic == *topic,
        )
    }

    /// An option of the next question of a topic.
    pub fn option_of(&mut self, about: &str, topic: &str, name: &str) -> CheckedStep<Choice> {
        let question = self.turn_of(about, topic)?;
        let options = question.ask.options();
        if options.is_empty() {
            return Err(wrong(format!("`{topic}` has no options: t:refused_answer says what it does not take")));
        }
        match options.iter().find(|option| *option.id == *name || *option.label == *name) {
            Some(option) => Ok(option.clone()),
            None => Err(wrong(format!("{name} is not among the options of {about}"))),
        }
    }

    /// Answers the questions of an action by topic until all given answers are used: of the open action, unless another
    /// is named. Then plays the entries that the action has scheduled before its own key.
    pub fn answer_all(&mut self, answers: Vec<(String, Value)>, action: Option<u32>) -> CheckedStep<()> {
        let place = self.session()?.key_under_way();
        self.answer_action(answers, action)?;
        self.play_before(place)
    }

    /// Plays the entries that are due before a key, until a question is open.
    fn play_before(&mut self, place: Option<Key>) -> CheckedStep<()> {
        let session = self.session()?;
        while place.as_ref().is_some_and(|place| session.is_due_before(place)) {
            match session.advance_by(1).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Over(_) => break,
                Step::Ask => {}
            }
        }
        Ok(())
    }

    /// Answers the questions of an action by topic. For a question with only one possible answer, which is not asked,
    /// compares the answer.
    fn answer_action(&mut self, answers: Vec<(String, Value)>, action: Option<u32>) -> CheckedStep<()> {
        let mut left: Vec<Reply> = answers.into_iter().map(Reply::new).collect();
        let mut topics = BTreeSet::new();
        let session = self.session.as_mut().ok_or_else(|| wrong("t:given(...) comes first"))?;
        let asking = || session.questions().first().map(|question| question.id.action);
        let Some(action) = action.or_else(asking) else {
            return Err(wrong("no question is open"));
        };
        for defaults in 0.. {
            let open: Vec<Question> = session.questions().to_vec();
            if open.is_empty() || open[0].id.action != action {
                break;
            }
            let mut taken = false;
            for question in &open {
                topics.insert(question.topic.to_string());
                let Some(at) = left.iter().position(|reply| *reply.topic == *question.topic) else { continue };
                let Some((value, name)) = for_question(session, question, &left[at].value) else { continue };
                let answer = question.read(&value).map_err(wrong)?;
                self.cards.extend(cards_in(&self.rules, &answer));
                session.answer(question.id, answer).map_err(wrong)?;
                taken = true;
                match name {
                    Some(name) => drop(left[at].used.insert(name)),
                    None => drop(left.remove(at)),
                }
            }
            if !taken {
                if left.iter().all(Reply::is_spent) {
                    break;
                }
                take_one_more_default(session, defaults)
                    .map_err(|why| wrong(format!("{why}{}", misspelt(&left, &topics))))?;
            }
            let of_questions = left.iter().filter(|reply| !matches!(reply.value, Value::Map(_)));
            session.compare_early(of_questions.map(|reply| (reply.topic.clone(), reply.value.clone())).collect());
            let step = session.advance_by(0).map_err(wrong)?;
            session.compare_early(Vec::new());
            match step {
                Step::Fault(fault) => {
                    let told = |fault| format!("{fault}{}", misspelt(&left, &topics));
                    return Err(session.take_refusal().map_or_else(|| told(fault), wrong));
                }
                Step::Over(_) => break,
                Step::Ask if left.iter().all(Reply::is_spent) => break,
                Step::Ask => {}
            }
        }
        for reply in &left {
            for (name, value) in reply.unsaid() {
                match (session.fits_auto(action, &reply.topic, value), name) {
                    (Some(fits), _) => fits.map_err(wrong)?,
                    (None, Some(name)) => {
                        return Err(wrong(format!("`{}` of {name} is not asked", reply.topic)));
                    }
                    (None, None) => {
                        let near = misspelt(&left, &topics);
                        return Err(wrong(format!("{}{near}", session.nothing_asks(&Viewer::master(), &reply.topic))));
                    }
                }
            }
        }
        Ok(())
    }

    /// Answers the next question of a topic; or, with a table by names, the questions of each named entity or seat.
    pub fn answer(&mut self, topic: &str, value: &Value) -> CheckedStep<()> {
        let mut reply = Reply::new((topic.to_owned(), value.clone()));
        let asked_of = RefCell::new(BTreeSet::new());
        let found = self.run_to(
            &in_words_of(topic, value),
            |session, question| {
                if *question.topic != *topic {
                    return false;
                }
                asked_of.borrow_mut().extend(question.about.map(|about| session.view().title(about).to_string()));
                for_question(session, question, value).is_some()
            },
            |_| false,
        );
        if let Err(error) = found {
            let names: Vec<String> = asked_of.take().into_iter().collect();
            let asked = if names.is_empty() { String::new() } else { format!("; it is asked of {}", names.join(", ")) };
            return Err(wrong(format!("{}{asked}", error)));
        }
        let place = self.session()?.key_under_way();
        loop {
            let mut taken = false;
            for question in self.session()?.questions().to_vec() {
                // The first answer in a race closes the other questions; seats outside the race are asked again.
                let is_open = self.session()?.questions().iter().any(|open| open.id == question.id);
                if !is_open || *question.topic != *topic {
                    continue;
                }
                let Some((own, name)) = for_question(self.session()?, &question, value) else { continue };
                if name.as_ref().is_some_and(|name| reply.used.contains(name)) {
                    continue;
                }
                let answer = question.read(&own).map_err(wrong)?;
                self.cards.extend(cards_in(&self.rules, &answer));
                self.session()?.answer(question.id, answer).map_err(wrong)?;
                taken = true;
                match name {
                    Some(name) => drop(reply.used.insert(name)),
                    None => {
                        reply.done = true;
                        break;
                    }
                }
            }
            let session = self.session()?;
            if let Step::Fault(fault) = session.advance_by(0).map_err(wrong)? {
                return Err(session.take_refusal().map_or_else(|| wrong(fault), wrong));
            }
            if reply.is_spent() {
                return self.play_before(place);
            }
            if !taken {
                let names: Vec<&str> = reply.unsaid().into_iter().filter_map(|(name, _)| name).collect();
                return Err(wrong(format!("`{topic}` is not asked of {}", names.join(", "))));
            }
        }
    }

    /// Checks that an answer to the next question of a topic is refused for a reason, and that nothing changes.
    pub fn refused_answer(&mut self, topic: &str, value: &Value, wanted: &WantedRefusal) -> CheckedStep<()> {
        let what = in_words_of(topic, value);
        let question = self.run_to(
            &what,
            |session, question| *question.topic == *topic && for_question(session, question, value).is_some(),
            |_| false,
        )?;
        let session = self.session()?;
        let Some((own, _)) = for_question(session, &question, value) else { return Err(wrong("nothing is asked")) };
        let (decisions, before) = (session.decisions(), session.state_bytes());
        let found = try_answer(session, &question, &own);
        if session.decisions() != decisions {
            session.game_mut().rewind(decisions);
            let _ = session.advance_by(0);
        }
        let unchanged = session.state_bytes() == before;
        self.refusal_is(&format!("the answer to {what}"), wanted, found, unchanged)
    }

    /// Takes the defaults of all open questions, so that the end of the actions is examined.
    pub fn settle(&mut self) -> CheckedStep<()> {
        for taken in 0.. {
            let session = self.session()?;
            if !session.is_unfinished() {
                break;
            }
            // An action interrupted by a free act continues afterwards.
            let next = u64::from(session.open_action().is_none());
            match session.advance_by(next).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Over(_) => break,
                Step::Ask if !session.is_unfinished() => break,
                Step::Ask => {
                    if session.questions().iter().any(|question| question.default.is_none()) {
                        break;
                    }
                    take_one_more_default(session, taken)?;
                }
            }
        }
        match self.session()?.fault() {
            Some(fault) => Err(wrong(fault)),
            None => Ok(()),
        }
    }

    /// Finishes an open action with its defaults.
    ///
    /// # Errors
    ///
    /// One of its questions has no default, or a script fails.
    pub fn finish_action(&mut self) -> CheckedStep<()> {
        let session = self.session()?;
        for taken in 0.. {
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Ask if session.in_the_middle() => take_one_more_default(session, taken)?,
                Step::Over(_) | Step::Ask => break,
            }
        }
        Ok(())
    }

    /// Reads a part of the state, and remembers the value if an action has open questions.
    pub fn look_up(&mut self, what: LookedUp) -> CheckedStep<Value> {
        let session = self.session()?;
        let found = what.read(session)?;
        if session.is_unfinished() {
            self.read_in_the_middle.push((what, found.clone()));
        }
        Ok(found)
    }

    /// Checks that the values last read during an action are the same at its end: otherwise the spec would not show the
    /// effect of the questions left to their defaults.
    fn read_to_the_end(&mut self) -> CheckedStep<()> {
        for (what, was) in std::mem::take(&mut self.read_in_the_middle) {
            let now = what.read(self.session()?)?;
            if now != was {
                let (what, was, now) = (what.words(), words(&was), words(&now));
                return Err(wrong(format!(
                    "{what} was looked up in the middle of an action: {was} there, {now} at its end; answer what it \
                     asks first, or expect it with t:expect, which plays the action to its end"
                )));
            }
        }
        Ok(())
    }

    pub fn expect(&mut self, expected: &Value) -> CheckedStep<()> {
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

    /// Checks that playing a card is refused for a reason, and that nothing changes.
    pub fn refused(&mut self, about: &str, replies: &[(String, Value)], wanted: &WantedRefusal) -> CheckedStep<()> {
        let card = replies.first().map_or(String::new(), |(_, card)| card.to_string());
        self.turn_of(about, "card")?;
        let session = self.session()?;
        let before = session.state_bytes();
        let found = session.reply_whole(replies).map(|_| ());
        let unchanged = session.state_bytes() == before;
        self.refusal_is(&format!("{card} by {about}"), wanted, found, unchanged)
    }

    /// Checks that a request was refused as expected. A failed script, missing dice and an unasked answer are no
    /// refusals.
    fn refusal_is(
        &mut self,
        what: &str,
        wanted: &WantedRefusal,
        found: Result<(), Refusal>,
        unchanged: bool,
    ) -> CheckedStep<()> {
        let refusal = match found {
            Ok(()) => return Err(wrong(format!("{what} was not refused"))),
            Err(refusal @ (Refusal::Fault { .. } | Refusal::Failed { .. } | Refusal::NotAsked { .. })) => {
                return Err(wrong(format!("{what} was not refused: {refusal}")));
            }
            Err(refusal) => refusal,
        };
        self.refusal_fits(&format!("{what} was refused"), wanted, &refusal)?;
        if unchanged { Ok(()) } else { Err(wrong(format!("{what} was refused, but something has changed"))) }
    }

    /// Checks that a refusal is as expected. Adds a warning if only the host's own wording contains the expected text.
    /// `what` begins the message: `pull by Ann was refused`.
    pub fn refusal_fits(&mut self, what: &str, wanted: &WantedRefusal, refusal: &Refusal) -> CheckedStep<()> {
        let expected = wanted.shown();
        match wanted.fits(refusal) {
            Fit::Yes => Ok(()),
            Fit::Worded(instead) => {
                let text = format!("{expected} is the host's own wording, which may change; write {instead}");
                self.warnings.push(SpecWarning { line: self.line, text });
                Ok(())
            }
            Fit::No => Err(wrong(format!("{what} for another reason: expected {expected}, found \"{refusal}\""))),
        }
    }

    /// Counts the events of a kind with the expected content.
    pub fn count(&mut self, sort: &str, wanted: &[(String, Value)]) -> CheckedStep<usize> {
        self.settle()?;
        let happenings: Vec<Happening> = self.session()?.log().into_iter().map(|event| event.happening).collect();
        events::count(&happenings, sort, wanted)
    }

    pub fn unchanged(&mut self, title: &str) -> CheckedStep<()> {
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

    /// Checks at the end of a spec that no dice and answers are left.
    pub fn end_of_spec(&mut self) -> CheckedStep<()> {
        if self.session.is_none() {
            return Ok(());
        }
        self.settle()?;
        let session = self.session()?;
        if session.is_unfinished() {
            let open: Vec<&str> = session.questions().iter().map(|question| &*question.topic).collect();
            return Err(wrong(format!("a question is left open: {}", open.join(", "))));
        }
        let left = session.unrolled();
        self.read_to_the_end()?;
        match left {
            0 => Ok(()),
            1 => Err(wrong("1 of the dice was not rolled")),
            left => Err(wrong(format!("{left} of the dice were not rolled"))),
        }
    }

    /// Requests other rules and plays on until they take effect, if they do so at once. Returns the preview of the
    /// change.
    pub fn change_rules(&mut self, id: &str) -> CheckedStep<Migration> {
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

    /// The rules that a sheet breaks under the current rules and the house rules of the spec.
    pub fn breaches(&self, sheet: &Value) -> CheckedStep<Vec<Breach>> {
        match &self.session {
            Some(session) => session.ruleset().check_sheet_under(sheet, session.switches().clone()),
            None => {
                let mut switches = self.rules.default_switches();
                switches.extend(self.setup.switches.clone());
                self.rules.check_sheet_under(sheet, switches)
            }
        }
        .map_err(wrong)
    }

    /// Checks that a sheet breaks exactly these rules, and causes exactly these warnings: each is a rule id, or a rule
    /// id and a part of its text (`RB1-008: 2 points`).
    pub fn breaks_exactly(&self, sheet: &Value, breaches: Vec<String>, warnings: Vec<String>) -> CheckedStep<()> {
        let found = self.breaches(sheet)?;
        for (warning, expected) in [(false, breaches), (true, warnings)] {
            let mut left: Vec<&Breach> = found.iter().filter(|breach| breach.warning == warning).collect();
            let what = if warning { "warnings" } else { "breaches" };
            let all: Vec<String> = left.iter().map(|breach| format!("{}: {}", breach.rule, breach.text)).collect();
            let told = if all.is_empty() { "none".to_owned() } else { all.join("; ") };
            for one in expected {
                let (rule, text) = one.split_once(": ").unwrap_or((&one, ""));
                match left.iter().position(|breach| breach.rule == rule && breach.text.contains(text)) {
                    Some(at) => drop(left.remove(at)),
                    None => return Err(wrong(format!("{what}: expected {one}, found {told}"))),
                }
            }
            if let Some(more) = left.first() {
                return Err(wrong(format!("{what}: {} was not expected; found {told}", more.rule)));
            }
        }
        Ok(())
    }

    /// True if a line of what a seat gets contains a text. `nobody` is a watcher. `all`: reads everything, and keeps it
    /// for the next call, because the text should not be there.
    fn is_seen(&mut self, seat: &str, text: &str, all: bool) -> CheckedStep<bool> {
        self.settle()?;
        if let Some((_, known)) = self.seen.iter().find(|(of, _)| of == seat) {
            return Ok(known.contains(text));
        }
        let session = self.session()?;
        let mut seen = match seat {
            "nobody" => session.seen_by(Viewer::watcher()),
            seat => session.seat(seat).map_err(wrong)?,
        };
        if !all {
            return Ok(seen.reads(text));
        }
        let everything = seen.everything();
        let found = everything.contains(text);
        self.seen.push((seat.to_owned(), everything));
        Ok(found)
    }

    /// Checks that a seat gets a text.
    pub fn sees(&mut self, seat: &str, text: &str) -> CheckedStep<()> {
        if self.is_seen(seat, text, false)? { Ok(()) } else { Err(format!("{seat} sees \"{text}\" nowhere")) }
    }

    /// Checks that a seat does not get a text.
    pub fn hidden(&mut self, seat: &str, text: &str) -> CheckedStep<()> {
        if self.is_seen(seat, text, true)? { Err(format!("{seat} sees \"{text}\"")) } else { Ok(()) }
    }

    pub fn log(&self) -> Vec<String> {
        self.session.as_ref().map(|session| event_lines(&session.log())).unwrap_or_default()
    }

    pub fn end(&self) -> Vec<u8> {
        let mut bytes = self.session.as_ref().map(Session::state_bytes).unwrap_or_default();
        bytes.extend(self.log().join("\n").into_bytes());
        bytes
    }
}

/// The answer of a spec to all questions of a topic.
struct Reply {
    topic: String,
    value: Value,
    /// For a table by titles or seats: the names whose question was answered.
    used: BTreeSet<Arc<str>>,
    done: bool,
}

impl Reply {
    fn new((topic, value): (String, Value)) -> Reply {
        Reply { topic, value, used: BTreeSet::new(), done: false }
    }

    /// The unused parts of the answer, with their names if it is a table by names.
    fn unsaid(&self) -> Vec<(Option<&str>, &Value)> {
        match &self.value {
            _ if self.done => Vec::new(),
            Value::Map(by_name) => {
                let left = by_name.iter().filter(|(name, _)| !self.used.contains(*name));
                left.map(|(name, value)| (Some(&**name), value)).collect()
            }
            value => vec![(None, value)],
        }
    }

    fn is_spent(&self) -> bool {
        self.unsaid().is_empty()
    }
}

/// Suggests similar asked topics for the topics of unused answers.
fn misspelt(left: &[Reply], asked: &BTreeSet<String>) -> String {
    let unasked = left.iter().filter(|reply| !asked.contains(&reply.topic));
    let told = unasked.filter_map(|reply| {
        let near = nearest(&reply.topic, asked.iter().map(String::as_str))?;
        Some(format!("; nothing asks for `{}`: did you mean `{near}`?", reply.topic))
    });
    told.collect()
}

/// The answer to a question: the given value, or its entry for the question's entity or seat if it is a table by titles
/// or seats.
fn for_question(session: &Session, question: &Question, value: &Value) -> Option<(Value, Option<Arc<str>>)> {
    if let Value::Map(by_title) = value {
        let title = question.about.map(|about| session.view().title(about));
        let points = matches!(question.ask, Ask::Allot { .. });
        let name = title.into_iter().chain([question.seat.clone()]).find(|name| by_title.contains_key(name));
        match name.and_then(|name| Some((by_title.get(&name)?.clone(), name))) {
            Some((own, name)) if !points || matches!(own, Value::Map(_) | Value::List(_)) => {
                return Some((own, Some(name)));
            }
            None if !points => return None,
            _ => {}
        }
    }
    Some((value.clone(), None))
}

/// Answers a question, and those open together with it by their defaults. Returns the refusal, if any.
fn try_answer(session: &mut Session, question: &Question, value: &Value) -> Result<(), Refusal> {
    let beside: Vec<Question> = session.questions().iter().filter(|other| other.id != question.id).cloned().collect();
    session.answer(question.id, question.read(value)?)?;
    for other in beside {
        if let Some(default) = other.default.clone() {
            session.answer(other.id, default)?;
        }
    }
    let step = session.advance_by(0).map_err(|error| Refusal::new(error.to_string()))?;
    match (session.take_refusal(), step) {
        (Some(refusal), _) => Err(refusal),
        (None, Step::Fault(fault)) => Err(Refusal::fault(fault)),
        _ => Ok(()),
    }
}

/// ` of Ann`, if a question is about an entity.
fn of_whom(session: &Session, question: &Question) -> String {
    question.about.map_or(String::new(), |about| format!(" of {}", session.view().title(about)))
}

/// Formats a topic, with the titles if the answer is a table by titles.
fn in_words_of(topic: &str, value: &Value) -> String {
    match value {
        Value::Map(by_title) => {
            let titles: Vec<&str> = by_title.keys().map(|title| &**title).collect();
            format!("`{topic}` of {}", titles.join(" or "))
        }
        _ => format!("`{topic}`"),
    }
}

/// Takes the default of each open question.
pub(super) fn take_default(session: &mut Session) -> CheckedStep<()> {
    take_one_more_default(session, 0)
}

/// Like [`take_default`], in an action that took `taken` defaults before. Fails if the action asks too many questions.
fn take_one_more_default(session: &mut Session, taken: usize) -> CheckedStep<()> {
    for question in session.questions().to_vec() {
        let taken = taken.max(question.id.ordinal as usize);
        if taken >= MOST_DEFAULTS_OF_ACTION {
            let topic = &question.topic;
            return Err(format!(
                "`{topic}` is still asked after {taken} questions of this action took their defaults; answer it, or \
                 look whether its `check` refuses its default"
            ));
        }
        let Some(default) = question.default.clone() else {
            let about = of_whom(session, &question);
            return Err(format!("`{}`{about} is asked and not answered: {}", question.topic, question.why));
        };
        session.answer(question.id, default).map_err(wrong)?;
    }
    Ok(())
}

/// True if a value is as expected; an empty reference may be expected as "none".
pub(super) fn same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::None, Value::Text(word)) => &**word == "none",
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::List(b)) => a.is_empty() && b.is_empty(),
        (Value::Ratio(n, 1), Value::Int(whole)) => n == whole,
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
