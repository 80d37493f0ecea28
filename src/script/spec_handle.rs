use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{
    Error, Function, Lua, MetaMethod, MultiValue, Result, Table as LuaTable, UserData, UserDataMethods, Value as Lv,
    Variadic,
};
use num_rational::BigRational;

use super::exchange::{plain_from, plain_to};
use super::fault::fault_of_program;
use super::game_handle::{notes_table, question_table, replies_of, value_of};
use super::sandbox::{self, Budget, Code, charge, guarded};
use super::table::in_words;
use super::{api, spec_events, spec_odds};
use crate::play::{DiceSource, Edit, Fault, Happening, Question, Scenario, Session, Setup, Step, Transfer};
use crate::ruleset::{Breach, Ruleset, nearest};
use crate::spec::Shelf;
use crate::state::{EntityId, Value};

/// A file of specs in a machine of its own.
pub(crate) struct SpecFile {
    /// Keeps the functions of the specs alive.
    _machine: Lua,
    specs: Vec<Registered>,
    name: String,
    text: String,
}

/// A spec as its file declares it: one of its cases, where it has several.
struct Registered {
    name: String,
    rules: Vec<String>,
    case: Option<LuaTable>,
    run: Function,
}

/// What came of one spec.
pub(crate) struct Ran {
    pub fault: Option<Fault>,
    pub position: String,
    pub dice: Vec<u32>,
    pub log: Vec<String>,
    /// State and log at the end, to compare two runs.
    pub end: Vec<u8>,
    /// Ids of the cards that were played.
    pub cards: Vec<String>,
}

impl SpecFile {
    /// Reads a file of specs.
    ///
    /// # Errors
    ///
    /// What is wrong with the file.
    pub fn load(name: &str, text: &str) -> std::result::Result<SpecFile, Fault> {
        let specs = Rc::new(RefCell::new(Vec::new()));
        let (registered, more) = (specs.clone(), specs.clone());
        let (loaded, spent) = guarded(Budget::LOAD, || {
            let (lua, allowed) = sandbox::machine(Code::Interpreted)?;
            sandbox::close(&lua, &allowed)?;
            let rb = lua.create_table()?;
            let spec = lua.create_function(move |_, values: MultiValue| {
                registered.borrow_mut().push(read_spec(values)?);
                not_too_many(&registered.borrow())
            })?;
            rb.raw_set("spec", spec)?;
            let cases = lua.create_function(move |_, values| {
                more.borrow_mut().extend(read_cases(values)?);
                not_too_many(&more.borrow())
            })?;
            rb.raw_set("cases", cases)?;
            rb.set_readonly(true);
            let require = lua.create_function(move |_, module: String| {
                if module == "@riskbreaker" {
                    return Ok(rb.clone());
                }
                Err(Error::RuntimeError(format!("a spec can only require \"@riskbreaker\", not \"{module}\"")))
            })?;
            let environment = sandbox::environment(&lua, &allowed, require)?;
            sandbox::compile(&lua, name, text, &environment)?.call::<()>(())?;
            Ok(lua)
        });
        let machine = loaded.map_err(|error| fault_of_program(&error, spent, name, text))?;
        Ok(SpecFile { _machine: machine, specs: specs.take(), name: name.to_string(), text: text.to_string() })
    }

    /// Names and rule ids, in the order of the file.
    pub fn list(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.specs.iter().map(|spec| (&*spec.name, &*spec.rules))
    }

    /// Plays one spec with a ruleset.
    pub fn run(&self, at: usize, shelf: &Arc<Shelf>) -> Ran {
        let case = Rc::new(RefCell::new(Case::new(shelf)));
        let spec = &self.specs[at];
        let (result, spent) = guarded(Budget::SPEC, || {
            spec.run.call::<()>((CaseHandle(case.clone()), spec.case.clone()))?;
            case.borrow_mut().close()
        });
        let case = case.borrow();
        Ran {
            fault: result.err().map(|error| fault_of_program(&error, spent, &self.name, &self.text)),
            position: case.position.clone(),
            dice: case.dice.clone(),
            log: case.log(),
            end: case.end(),
            cards: case.cards.clone(),
        }
    }
}

/// Reads what `rb.spec` is given: a name, rule ids (which may be left out) and the function.
fn read_spec(values: MultiValue) -> Result<Registered> {
    let mut values = values.into_iter();
    let usage = || wrong("rb.spec takes a name, a list of rule ids, and a function(t)");
    let Some(Lv::String(name)) = values.next() else { return Err(usage()) };
    let (rules, run) = match (values.next(), values.next()) {
        (Some(Lv::Table(rules)), Some(Lv::Function(run))) => {
            (rules.sequence_values().collect::<Result<_>>().map_err(|_| usage())?, run)
        }
        (Some(Lv::Table(_)), Some(Lv::Table(_))) => {
            return Err(wrong("rb.spec takes no cases: rb.cases(name, rules, cases, function(t, case) ... end) does"));
        }
        (Some(Lv::Function(run)), None) => (Vec::new(), run),
        _ => return Err(usage()),
    };
    Ok(Registered { name: name.to_string_lossy().to_string(), rules, case: None, run })
}

/// Reads what `rb.cases` is given: a spec for each case.
fn read_cases((name, rules, cases, run): (String, Vec<String>, LuaTable, Function)) -> Result<Vec<Registered>> {
    let mut registered = Vec::new();
    for case in cases.sequence_values::<Lv>() {
        let Lv::Table(case) = case? else {
            return Err(wrong("each case of rb.cases is a table, such as { risk = 1, loss = 2 }"));
        };
        let (name, rules, run) = (name_of(&name, &case), rules.clone(), run.clone());
        registered.push(Registered { name, rules, case: Some(case), run });
    }
    if registered.is_empty() {
        return Err(wrong(
            "the list of cases is empty: it is a list of tables, such as { { risk = 1 }, { risk = 2 } }",
        ));
    }
    Ok(registered)
}

fn not_too_many(specs: &[Registered]) -> Result<()> {
    if specs.len() <= MOST_SPECS {
        return Ok(());
    }
    Err(wrong(format!("a file has at most {MOST_SPECS} specs")))
}

/// The name of a case: `{key}` filled in, or what the case holds behind it.
fn name_of(name: &str, case: &LuaTable) -> String {
    let mut filled = name.to_string();
    for (key, value) in case.pairs::<String, Lv>().flatten() {
        let words = match &value {
            Lv::String(text) => text.to_string_lossy().to_string(),
            value => in_words(value),
        };
        filled = filled.replace(&format!("{{{key}}}"), &words);
    }
    if filled == name { format!("{name} {}", in_words(&Lv::Table(case.clone()))) } else { filled }
}

/// What a look at the game costs of a spec's budget of work: a spec may look at it some thousand times.
const COST: i64 = 1_000;

/// Most specs of one file.
const MOST_SPECS: usize = 5_000;

/// A spec under way.
struct Case {
    shelf: Arc<Shelf>,
    rules: Arc<Ruleset>,
    setup: Setup,
    session: Option<Session>,
    position: String,
    dice: Vec<u32>,
    /// What every entity was right after `given`, by id: its title and fields.
    baseline: BTreeMap<EntityId, (String, Vec<Value>)>,
    /// What the last change of rules told.
    transfer: Option<Transfer>,
    cards: Vec<String>,
}

fn wrong(message: impl std::fmt::Display) -> Error {
    Error::RuntimeError(message.to_string())
}

impl Case {
    fn new(shelf: &Arc<Shelf>) -> Case {
        Case {
            shelf: shelf.clone(),
            rules: shelf.rules.clone(),
            setup: Setup { dice: DiceSource::Written(Vec::new()), ..Setup::default() },
            session: None,
            position: String::new(),
            dice: Vec::new(),
            baseline: BTreeMap::new(),
            transfer: None,
            cards: Vec::new(),
        }
    }

    fn session(&mut self) -> Result<&mut Session> {
        charge(COST);
        self.session.as_mut().ok_or_else(|| wrong("t:given(...) comes first"))
    }

    /// Begins in a position, of another ruleset if one is named.
    fn given(&mut self, scenario: &Lv, ruleset: Option<&str>) -> Result<()> {
        if self.session.is_some() {
            return Err(wrong("t:given(...) is called once"));
        }
        if let Some(id) = ruleset {
            self.rules = self.shelf.ruleset(id).map_err(wrong)?;
        }
        self.setup.scenario = match scenario {
            Lv::Nil => Scenario::Default,
            Lv::String(name) => Scenario::Named(name.to_string_lossy().to_string()),
            table @ Lv::Table(_) => match plain_from(table)? {
                Value::List(items) if items.is_empty() => Scenario::Table(Value::map::<&str>([])),
                value => Scenario::Table(value),
            },
            other => {
                return Err(wrong(format!("t:given takes a table or a scenario's name, not a {}", other.type_name())));
            }
        };
        self.position = in_words(scenario);
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

    fn add_dice(&mut self, faces: Vec<u32>) {
        if let Some(session) = &mut self.session {
            session.write_dice(&faces);
        }
        self.dice.extend(faces);
    }

    /// Runs on to a question that `wanted` says yes to, taking defaults on the way.
    fn run_to(
        &mut self,
        what: &str,
        wanted: impl Fn(&Session, &Question) -> bool,
        never: impl Fn(&Question) -> bool,
    ) -> Result<Question> {
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

    fn turn_of(&mut self, about: &str, topic: &str) -> Result<Question> {
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
    fn answer_all(&mut self, answers: Vec<(String, Value)>) -> Result<()> {
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
    fn settle(&mut self) -> Result<()> {
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

    fn expect(&mut self, expected: LuaTable) -> Result<()> {
        self.settle()?;
        let Value::Map(expected) = plain_from(&Lv::Table(expected))? else {
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
    fn refused(&mut self, about: &str, card: &str, answers: Option<LuaTable>, reason: &str) -> Result<()> {
        let mut replies = vec![("card".to_string(), Value::text(card))];
        replies.extend(replies_of(answers)?);
        self.turn_of(about, "card")?;
        let session = self.session()?;
        let before = session.state_bytes();
        match session.reply(&replies) {
            Ok(_) => Err(wrong(format!("{card} by {about} was not refused"))),
            Err(refusal) if !refusal.message.contains(reason) => Err(wrong(format!(
                "{card} by {about} was refused for another reason: expected \"{reason}\", found \"{refusal}\""
            ))),
            Err(_) if session.state_bytes() != before => {
                Err(wrong(format!("{card} by {about} was refused, but something has changed")))
            }
            Err(_) => Ok(()),
        }
    }

    /// How many events are of a sort and say what is wanted.
    fn count(&mut self, sort: &str, wanted: Option<LuaTable>) -> Result<usize> {
        let wanted = replies_of(wanted)?;
        self.settle()?;
        let happenings: Vec<Happening> = self.session()?.log().into_iter().map(|event| event.happening).collect();
        spec_events::count(&happenings, sort, &wanted)
    }

    fn unchanged(&mut self, title: &str) -> Result<()> {
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
    fn close(&mut self) -> Result<()> {
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
    fn change_rules(&mut self, id: &str) -> Result<Transfer> {
        let rules = self.shelf.ruleset(id).map_err(wrong)?;
        let session = self.session()?;
        let transfer = session.change_rules(&rules).map_err(wrong)?;
        self.transfer = Some(transfer.clone());
        let session = self.session()?;
        match session.advance_by(0).map_err(wrong)? {
            Step::Fault(fault) => Err(wrong(fault)),
            _ => Ok(transfer),
        }
    }

    /// What a sheet breaks under the house rules of the spec.
    fn breaches(&self, sheet: &Lv) -> Result<Vec<Breach>> {
        let mut switches = self.rules.default_switches();
        match &self.session {
            Some(session) => switches.clone_from(session.switches()),
            None => switches.extend(self.setup.switches.clone()),
        }
        self.rules.check_sheet_under(&plain_from(sheet)?, switches).map_err(wrong)
    }

    fn log(&self) -> Vec<String> {
        self.session.iter().flat_map(|session| session.log()).map(|event| event.happening.line()).collect()
    }

    fn end(&self) -> Vec<u8> {
        let mut bytes = self.session.as_ref().map(Session::state_bytes).unwrap_or_default();
        bytes.extend(self.log().join("\n").into_bytes());
        bytes
    }
}

/// An answer may be one for every entity that is asked, or for every seat: a table by titles or by seats.
fn for_question(session: &Session, question: &Question, value: &Value) -> (Option<Value>, bool) {
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
fn take_default(session: &mut Session) -> Result<()> {
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

struct CaseHandle(Rc<RefCell<Case>>);

impl CaseHandle {
    /// The exact chance that a card comes to something, compared with the one that is expected.
    #[allow(clippy::type_complexity)] // the arguments as a script gives them
    fn odds(
        _: &Lua,
        t: &CaseHandle,
        (about, card, answers, outcome, chance): (String, String, Option<LuaTable>, Lv, String),
    ) -> Result<()> {
        let expected: BigRational = read_chance(&chance).ok_or_else(|| {
            wrong(format!("`{chance}` is no chance: write it as a fraction such as \"3/5\", or as \"60 %\""))
        })?;
        let answers = replies_of(answers)?;
        let outcome = plain_from(&outcome)?;
        let mut case = t.0.borrow_mut();
        let question = case.turn_of(&about, "card")?;
        let found = spec_odds::chance(case.session()?, &question, &card, answers, &outcome)?;
        if found == expected {
            return Ok(());
        }
        Err(wrong(format!("{card} by {about}: expected a chance of {expected}, found {found}")))
    }
}

/// `3/5`, `1`, `60 %` or `12.5 %`.
fn read_chance(text: &str) -> Option<BigRational> {
    let (number, hundredth) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let mut chance: BigRational = format!("{whole}{places}").parse().ok()?;
    if number.contains('/') && !places.is_empty() {
        return None;
    }
    for _ in 0..places.len() + if hundredth { 2 } else { 0 } {
        chance /= BigRational::from_integer(10.into());
    }
    Some(chance)
}

impl UserData for CaseHandle {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |_, _, name: Lv| -> Result<()> {
            let name = in_words(&name);
            let name = name.trim_matches('"');
            let known = api::SPEC_METHODS.iter().map(|method| method.name);
            Err(wrong(match nearest(name, known) {
                Some(near) => format!("a spec has no `t:{name}`; did you mean `t:{near}`?"),
                None => format!("a spec has no `t:{name}`; docs/reference.md lists what it has"),
            }))
        });
        methods.add_method("switch", |_, t, (name, value): (String, Lv)| {
            let mut case = t.0.borrow_mut();
            let value = plain_from(&value)?;
            match &mut case.session {
                // In a game it is turned as the GM would.
                Some(session) => {
                    session.set_switch(&name, value).map_err(wrong)?;
                    session.advance_by(0).map(|_| ()).map_err(wrong)
                }
                None => {
                    case.setup.switches.insert(name, value);
                    Ok(())
                }
            }
        });
        methods.add_method("seat", |_, t, (seat, driver): (String, String)| {
            let Ok(driver) = driver.parse();
            let mut case = t.0.borrow_mut();
            match &mut case.session {
                Some(session) => session.set_seat(&seat, driver).map_err(wrong),
                None => {
                    case.setup.seats.insert(Arc::from(seat), driver);
                    Ok(())
                }
            }
        });
        methods.add_method("given", |_, t, (scenario, ruleset): (Lv, Option<String>)| {
            t.0.borrow_mut().given(&scenario, ruleset.as_deref())
        });
        methods.add_method("dice", |_, t, faces: Variadic<Lv>| {
            let mut read = Vec::new();
            for face in faces.iter() {
                match plain_from(face)? {
                    Value::Int(face) if face > 0 => read.push(face as u32),
                    Value::List(faces) => {
                        read.extend(faces.iter().filter_map(Value::as_int).filter_map(|face| u32::try_from(face).ok()));
                    }
                    other => return Err(wrong(format!("t:dice takes the faces of dice, not {other}"))),
                }
            }
            t.0.borrow_mut().add_dice(read);
            Ok(())
        });
        methods.add_method("play", |_, t, (about, card, answers): (String, String, Option<LuaTable>)| {
            let mut replies = vec![("card".to_string(), Value::text(card))];
            replies.extend(replies_of(answers)?);
            let mut case = t.0.borrow_mut();
            case.turn_of(&about, "card")?;
            case.answer_all(replies)
        });
        methods.add_method("turn", |_, t, (about, answers): (String, Option<LuaTable>)| {
            let replies = replies_of(answers)?;
            let mut case = t.0.borrow_mut();
            let entity = case.session()?.view().find(&about).map_err(wrong)?;
            case.run_to(&format!("a question for {about}"), |_, question| question.about == Some(entity), |_| false)?;
            case.answer_all(replies)
        });
        methods.add_method("answer", |_, t, (topic, value): (String, Lv)| {
            let mut case = t.0.borrow_mut();
            let value = plain_from(&value)?;
            let asked = |session: &Session, question: &Question| {
                if *question.topic == *topic { for_question(session, question, &value).0 } else { None }
            };
            case.run_to(
                &in_words_of(&topic, &value),
                |session, question| asked(session, question).is_some(),
                |_| false,
            )?;
            let open = case.session()?.questions().to_vec();
            for question in open {
                let Some(own) = asked(case.session()?, &question) else { continue };
                let answer = question.read(&own).map_err(wrong)?;
                if topic == "card" {
                    case.cards.push(question.tell(&answer));
                }
                case.session()?.answer(question.id, answer).map_err(wrong)?;
                if !matches!(value, Value::Map(_)) {
                    break;
                }
            }
            let session = case.session()?;
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => Err(wrong(fault)),
                _ => Ok(()),
            }
        });
        methods.add_method("asked", |lua, t, topic: String| {
            let mut case = t.0.borrow_mut();
            let question = case.run_to(&format!("`{topic}`"), |_, question| *question.topic == *topic, |_| false)?;
            question_table(lua, case.session()?, &question)
        });
        methods.add_method("open", |lua, t, ()| {
            let mut case = t.0.borrow_mut();
            let session = case.session()?;
            let _ = session.advance().map_err(wrong)?;
            let list = lua.create_table()?;
            for question in session.questions() {
                list.raw_push(question_table(lua, session, question)?)?;
            }
            Ok(list)
        });
        methods.add_method(
            "refused",
            |_, t, (about, card, answers, reason): (String, String, Option<LuaTable>, String)| {
                t.0.borrow_mut().refused(&about, &card, answers, &reason)
            },
        );
        methods.add_method(
            "refused_because",
            |_, t, (about, card, reason, answers): (String, String, String, Option<LuaTable>)| {
                t.0.borrow_mut().refused(&about, &card, answers, &reason)
            },
        );
        methods.add_method("greyed", |_, t, (about, card, reason): (String, String, Option<String>)| {
            let mut case = t.0.borrow_mut();
            let question = case.turn_of(&about, "card")?;
            let option = question.ask.options().iter().find(|option| *option.id == *card || *option.label == *card);
            match option {
                None => Err(wrong(format!("{card} is not among the options of {about}"))),
                Some(option) if option.enabled => Err(wrong(format!("{card} is open to {about}"))),
                Some(option) => {
                    let found = option.reason.clone().unwrap_or_default();
                    match reason.filter(|reason| !found.contains(reason)) {
                        Some(reason) => Err(wrong(format!(
                            "{card} is greyed for another reason: expected \"{reason}\", found \"{found}\""
                        ))),
                        None => Ok(()),
                    }
                }
            }
        });
        methods.add_method("enabled", |_, t, (about, card): (String, String)| {
            let mut case = t.0.borrow_mut();
            let question = case.turn_of(&about, "card")?;
            let option = question.ask.options().iter().find(|option| *option.id == *card || *option.label == *card);
            match option {
                None => Err(wrong(format!("{card} is not among the options of {about}"))),
                Some(option) if !option.enabled => {
                    Err(wrong(format!("{card} is greyed: {}", option.reason.as_deref().unwrap_or_default())))
                }
                Some(_) => Ok(()),
            }
        });
        methods.add_method("run", |_, t, what: Option<String>| {
            let mut case = t.0.borrow_mut();
            let session = case.session()?;
            let rules = session.ruleset().clone();
            let Some(what) = what else {
                return match session.advance().map_err(wrong)? {
                    Step::Fault(fault) => Err(wrong(fault)),
                    _ => Ok(()),
                };
            };
            if !rules.entry_names().any(|name| name == what) {
                return Err(wrong(match nearest(&what, rules.entry_names()) {
                    Some(near) => format!("no agenda entry is called `{what}`; did you mean `{near}`?"),
                    None => format!("no agenda entry is called `{what}`"),
                }));
            }
            for _ in 0..100_000 {
                let done = session.last_done().0;
                let step = session.advance_by(1).map_err(wrong)?;
                if let Step::Fault(fault) = step {
                    return Err(wrong(fault));
                }
                // The entry may be the one that ends the game.
                if session.last_done().0 > done && session.last_done().1 == Some(&*what) {
                    return Ok(());
                }
                if let Step::Over(text) = step {
                    return Err(wrong(format!("the game is over ({text}) before `{what}` has run")));
                }
                take_default(session)?;
            }
            Err(wrong(format!("`{what}` never runs")))
        });
        methods.add_method("free", |_, t, (seat, name, answers): (String, String, Option<LuaTable>)| {
            let replies = replies_of(answers)?;
            let mut case = t.0.borrow_mut();
            // Once its dice are rolled an action is played to its end first.
            if case.session()?.dice_are_cast() {
                case.settle()?;
            }
            let session = case.session()?;
            let _ = session.advance().map_err(wrong)?;
            session.act(&seat, &name).map_err(wrong)?;
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => return Err(wrong(fault)),
                Step::Ask | Step::Over(_) => {}
            }
            if replies.is_empty() { Ok(()) } else { case.answer_all(replies) }
        });
        methods.add_method("edit", |_, t, (title, field, value): (String, String, Lv)| {
            let value = plain_from(&value)?;
            let mut case = t.0.borrow_mut();
            let session = case.session()?;
            let entity = session.view().find(&title).map_err(wrong)?;
            let value = entity_value(session, entity, &field, value);
            session.edit(Edit::Set { entity, field, value }).map_err(wrong)?;
            match session.advance_by(0).map_err(wrong)? {
                Step::Fault(fault) => Err(wrong(fault)),
                _ => Ok(()),
            }
        });
        methods.add_method("rules", |lua, t, id: String| {
            let transfer = t.0.borrow_mut().change_rules(&id)?;
            notes_table(lua, &transfer)
        });
        methods.add_method("noted", |_, t, (fate, text): (String, String)| {
            let case = t.0.borrow();
            let notes = case.transfer.as_ref().map(|transfer| &*transfer.notes).unwrap_or_default();
            let lines: Vec<String> = notes
                .iter()
                .map(|note| {
                    format!(
                        "{}: {}: {} {}",
                        note.fate.word(),
                        note.topic,
                        note.text,
                        note.rule.as_deref().unwrap_or_default()
                    )
                })
                .collect();
            if lines.iter().any(|line| line.starts_with(&format!("{fate}: ")) && line.contains(&text)) {
                return Ok(());
            }
            Err(wrong(format!("nothing {fate} was told that contains \"{text}\"; told was:\n{}", lines.join("\n"))))
        });
        methods.add_method("rules_refused", |_, t, (id, reason): (String, String)| {
            let mut case = t.0.borrow_mut();
            let rules = case.shelf.ruleset(&id).map_err(wrong)?;
            let session = case.session()?;
            let before = session.state_bytes();
            match session.change_rules(&rules) {
                Ok(_) => Err(wrong(format!("the change to {id} was not refused"))),
                Err(error) if !error.to_string().contains(&reason) => Err(wrong(format!(
                    "the change to {id} was refused for another reason: expected \"{reason}\", found \"{error}\""
                ))),
                Err(_) if session.state_bytes() != before => {
                    Err(wrong(format!("the change to {id} was refused, but something has changed")))
                }
                Err(_) => Ok(()),
            }
        });
        methods.add_method("undo", |_, t, ()| {
            let mut case = t.0.borrow_mut();
            let session = case.session()?;
            session.undo().map_err(wrong)?;
            session.advance_by(0).map(|_| ()).map_err(wrong)
        });
        methods.add_method("redo", |_, t, ()| {
            let mut case = t.0.borrow_mut();
            let session = case.session()?;
            session.redo().map_err(wrong)?;
            session.advance_by(0).map(|_| ()).map_err(wrong)
        });
        methods.add_method("expect", |_, t, expected: LuaTable| t.0.borrow_mut().expect(expected));
        methods.add_method("value", |lua, t, (title, field, args): (String, String, Variadic<Lv>)| {
            let args: Vec<Value> = args.iter().map(plain_from).collect::<Result<_>>()?;
            let mut case = t.0.borrow_mut();
            case.settle()?;
            let value = value_of(case.session()?, &title, &field, &args)?;
            plain_to(lua, &value)
        });
        methods.add_method("titles", |_, t, kind: String| {
            let mut case = t.0.borrow_mut();
            case.settle()?;
            let session = case.session()?;
            let view = session.view();
            Ok(view.of_kind(&kind).map(|id| view.title(id).to_string()).collect::<Vec<_>>())
        });
        methods.add_method("said", |_, t, text: String| {
            let mut case = t.0.borrow_mut();
            case.settle()?;
            if case.log().iter().any(|line| line.contains(&text)) {
                return Ok(());
            }
            Err(wrong(format!("nothing that happened contains \"{text}\"")))
        });
        methods.add_method("happened", |_, t, (sort, wanted, times): (String, Option<LuaTable>, Option<usize>)| {
            let words = wanted.clone().map_or(String::new(), |wanted| format!(" {}", in_words(&Lv::Table(wanted))));
            match (t.0.borrow_mut().count(&sort, wanted)?, times) {
                (0, None) => Err(wrong(format!("no event `{sort}`{words} has happened"))),
                (found, Some(times)) if found != times => {
                    Err(wrong(format!("`{sort}`{words}: expected {times} times, found {found}")))
                }
                _ => Ok(()),
            }
        });
        methods.add_method("odds", Self::odds);
        methods.add_method("over", |_, t, text: Option<String>| {
            let mut case = t.0.borrow_mut();
            case.settle()?;
            let session = case.session()?;
            let _ = session.advance().map_err(wrong)?;
            match (session.outcome(), text) {
                (None, _) => Err(wrong("the game is not over")),
                (Some(outcome), Some(text)) if !outcome.contains(&text) => {
                    Err(wrong(format!("the outcome is \"{outcome}\", expected \"{text}\"")))
                }
                _ => Ok(()),
            }
        });
        methods.add_method("ongoing", |_, t, ()| {
            let mut case = t.0.borrow_mut();
            case.settle()?;
            let session = case.session()?;
            let _ = session.advance().map_err(wrong)?;
            match session.outcome() {
                Some(outcome) => Err(wrong(format!("the game is over: {outcome}"))),
                None => Ok(()),
            }
        });
        methods.add_method("legal", |_, t, sheet: Lv| {
            let case = t.0.borrow();
            let breaches = case.breaches(&sheet)?;
            match breaches.iter().find(|breach| !breach.warning) {
                Some(breach) => Err(wrong(format!("the sheet breaks {}: {}", breach.rule, breach.text))),
                None => Ok(()),
            }
        });
        methods.add_method("breach", |_, t, (sheet, rule, text): (Lv, String, Option<String>)| {
            let case = t.0.borrow();
            let breaches = case.breaches(&sheet)?;
            let found = breaches
                .iter()
                .find(|breach| breach.rule == rule && text.as_ref().is_none_or(|text| breach.text.contains(text)));
            if found.is_some() {
                return Ok(());
            }
            let all: Vec<String> = breaches.iter().map(|breach| format!("{}: {}", breach.rule, breach.text)).collect();
            Err(wrong(format!("the sheet does not break {rule}; it breaks: {}", all.join("; "))))
        });
        methods.add_method("equal", |_, _, (found, expected, what): (Lv, Lv, Option<String>)| {
            let what = what.map_or(String::new(), |what| format!("{what}: "));
            let plain = |value: &Lv| plain_from(value);
            match (plain(&found), plain(&expected)) {
                (Ok(a), Ok(b)) if same(&a, &b) => Ok(()),
                _ => Err(wrong(format!("{what}expected {}, found {}", in_words(&expected), in_words(&found)))),
            }
        });
    }
}

/// An edit of a reference names the entity by its title.
fn entity_value(session: &Session, entity: EntityId, field: &str, value: Value) -> Value {
    let view = session.view();
    let declared = view.fields(entity).find(|(known, _)| *known.name == *field);
    let refers = declared.is_some_and(|(known, _)| matches!(known.ty, crate::state::Type::Ref(_)));
    match &value {
        Value::Text(title) if refers && &**title == "none" => Value::None,
        Value::Text(title) if refers => view.find(title).map_or(value.clone(), Value::Entity),
        _ => value,
    }
}
