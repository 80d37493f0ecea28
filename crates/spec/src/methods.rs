use dashu_int::{IBig, UBig};

use super::case::{Case, LookedUp, same, take_default};
use super::checked_step::{CheckedStep, some_reason, words, wrong};
use super::lines::cards_in;
use super::odds;
use super::refusals::WantedRefusal;
use riskbreaker_dice::{Fraction, ratio};
use riskbreaker_play::plain::{self, replies};
use riskbreaker_play::{Edit, MASTER, Refusal, Session, Step, without_parts};
use riskbreaker_ruleset::instead;
use riskbreaker_script::SpecMethods;
use riskbreaker_script::api::SpecCall;
use riskbreaker_state::{EntityId, Value};

/// The most entries that `t:run` plays before the awaited one.
const MOST_ENTRIES: usize = 2_000;
/// The most rounds that `t:run` plays without the awaited entry on the agenda; a round may be as short as a tick of a
/// clock.
const MOST_ROUNDS: usize = 20;

impl SpecMethods for Case {
    fn call(&mut self, method: SpecCall, args: &[Value], line: Option<u32>) -> CheckedStep<Value> {
        if self.shelf.budget.is_spent() {
            return Err(wrong("the budget of work of the specs is spent"));
        }
        let before = self.session.as_ref().map_or(0, Session::work);
        let result = self.carry_out(method, args, line);
        let after = self.session.as_ref().map_or(0, Session::work);
        self.shelf.budget.spend(after.saturating_sub(before));
        result
    }

    fn close(&mut self) -> CheckedStep<()> {
        self.end_of_spec()
    }
}

impl Case {
    /// Runs a method of `t`.
    fn carry_out(&mut self, method: SpecCall, args: &[Value], line: Option<u32>) -> CheckedStep<Value> {
        let args = MethodArgs { method: method.name(), values: args };
        self.line = line;
        if !matches!(method, SpecCall::Value | SpecCall::Titles | SpecCall::Equal) {
            self.read_in_the_middle.clear();
        }
        if !matches!(method, SpecCall::Sees | SpecCall::Hidden) {
            self.seen.clear();
        }
        let done = |result: CheckedStep<()>| result.map(|()| Value::None);
        match method {
            SpecCall::Switch => done(self.turn_switch(&args)),
            SpecCall::Seat => done(self.seat(&args)),
            SpecCall::Given => done(self.given(args.value(0), args.optional_text(1)?.as_deref())),
            SpecCall::GivenRefused => {
                let ruleset = args.optional_text(2)?;
                done(self.given_refused(args.value(0), &args.text(1)?, ruleset.as_deref()))
            }
            SpecCall::Dice => done(self.dice(&args)),
            SpecCall::Play => done(self.play(&args)),
            SpecCall::Turn => done(self.turn(&args)),
            SpecCall::Answer => done(self.answer(&args.text(0)?, args.value(1))),
            SpecCall::RefusedAnswer => {
                done(self.refused_answer(&args.text(0)?, args.value(1), &WantedRefusal::read(args.value(2))?))
            }
            SpecCall::Asked => self.asked(&args),
            SpecCall::Open => self.open(),
            SpecCall::Refused => {
                let replies = self.card_and(&args, 2)?;
                done(self.refused(&args.text(0)?, &replies, &WantedRefusal::read(args.value(3))?))
            }
            SpecCall::RefusedBecause => {
                let replies = self.card_and(&args, 3)?;
                done(self.refused(&args.text(0)?, &replies, &WantedRefusal::read(args.value(2))?))
            }
            SpecCall::Greyed => done(self.greyed(&args)),
            SpecCall::Enabled => done(self.enabled(&args)),
            SpecCall::Run => done(self.run(&args)),
            SpecCall::Free => done(self.free(&args)),
            SpecCall::Closed => done(self.closed(&args)),
            SpecCall::Edit => done(self.edit(&args)),
            SpecCall::Rules => self.change_rules(&args.text(0)?).map(|migration| plain::notes(&migration)),
            SpecCall::Noted => done(self.noted(&args)),
            SpecCall::RulesRefused => done(self.rules_refused(&args)),
            SpecCall::Undo => done(self.undo(&args)),
            SpecCall::UndoRefused => done(self.undo_refused(&args)),
            SpecCall::Redo => done(self.redo()),
            SpecCall::Expect => done(self.expect(args.value(0))),
            SpecCall::Value => self.value(&args),
            SpecCall::Titles => self.titles(&args),
            SpecCall::Said => done(self.said(&args)),
            SpecCall::Sees => done(self.sees(&args.text(0)?, &args.text(1)?)),
            SpecCall::Hidden => done(self.hidden(&args.text(0)?, &args.text(1)?)),
            SpecCall::Happened => done(self.happened(&args)),
            SpecCall::Odds => done(self.odds(&args)),
            SpecCall::Over => done(self.over(&args)),
            SpecCall::Ongoing => done(self.ongoing()),
            SpecCall::Legal => done(self.legal(&args)),
            SpecCall::Breach => done(self.breach(&args)),
            SpecCall::Breaches => done(self.breaks_exactly(args.value(0), args.texts(1)?, args.texts(2)?)),
            SpecCall::Equal => done(equal(&args)),
        }
    }
}

/// The arguments of a method of `t`.
struct MethodArgs<'a> {
    method: &'a str,
    values: &'a [Value],
}

impl MethodArgs<'_> {
    /// An argument by its index; `None` if it is missing.
    fn value(&self, at: usize) -> &Value {
        self.values.get(at).unwrap_or(&Value::None)
    }

    fn rest(&self, from: usize) -> &[Value] {
        self.values.get(from..).unwrap_or_default()
    }

    fn text(&self, at: usize) -> CheckedStep<String> {
        self.optional_text(at)?.ok_or_else(|| self.misfit(at, "a text"))
    }

    fn optional_text(&self, at: usize) -> CheckedStep<Option<String>> {
        match self.value(at) {
            Value::None => Ok(None),
            Value::Text(text) => Ok(Some(text.to_string())),
            Value::Int(number) => Ok(Some(number.to_string())),
            _ => Err(self.misfit(at, "a text")),
        }
    }

    /// A list of texts; empty if it is missing.
    fn texts(&self, at: usize) -> CheckedStep<Vec<String>> {
        match self.value(at) {
            Value::None => Ok(Vec::new()),
            Value::List(items) => Ok(items.iter().map(ToString::to_string).collect()),
            _ => Err(self.misfit(at, "a list of texts")),
        }
    }

    fn optional_count(&self, at: usize) -> CheckedStep<Option<usize>> {
        match self.value(at) {
            Value::None => Ok(None),
            value => match value.as_int().and_then(|count| usize::try_from(count).ok()) {
                Some(count) => Ok(Some(count)),
                None => Err(self.misfit(at, "a whole number of at least 0")),
            },
        }
    }

    fn misfit(&self, at: usize, wanted: &str) -> String {
        let found = self.value(at).type_name();
        format!("argument {} of t:{} must be {wanted}, not {found}", at + 1, self.method)
    }
}

impl Case {
    /// The card in the second argument, with the further answers in argument `answers`.
    fn card_and(&self, args: &MethodArgs, answers: usize) -> CheckedStep<Vec<(String, Value)>> {
        let mut all = vec![("card".to_string(), Value::text(args.text(1)?))];
        all.extend(replies(args.value(answers))?);
        Ok(all)
    }

    /// Plays on to the next question. A failed script fails the spec.
    fn go_on(&mut self) -> CheckedStep<()> {
        match self.session()?.advance_by(0).map_err(wrong)? {
            Step::Fault(fault) => Err(wrong(fault)),
            Step::Ask | Step::Over(_) => Ok(()),
        }
    }

    fn turn_switch(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (name, value) = (args.text(0)?, args.value(1).clone());
        match &mut self.session {
            // In a running game, the game master sets it.
            Some(session) => {
                session.set_switch(&name, value).map_err(wrong)?;
                session.advance_by(0).map(|_| ()).map_err(wrong)
            }
            None => {
                self.setup.switches.insert(name, value);
                Ok(())
            }
        }
    }

    fn seat(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let seat = args.text(0)?;
        let Ok(driver) = args.text(1)?.parse();
        match &mut self.session {
            Some(session) => session.set_seat(&seat, driver).map_err(wrong),
            None => {
                self.setup.seats.insert(seat.into(), driver);
                Ok(())
            }
        }
    }

    fn dice(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let mut read = Vec::new();
        for given in args.values {
            let faces: &[Value] = match given {
                Value::List(faces) => faces,
                one => std::slice::from_ref(one),
            };
            for face in faces {
                match face.as_int().and_then(|face| u32::try_from(face).ok()).filter(|face| *face > 0) {
                    Some(face) => read.push(face),
                    None => return Err(wrong(format!("t:dice takes the faces of dice, not {face}"))),
                }
            }
        }
        self.add_dice(read)
    }

    fn play(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let all = self.card_and(args, 2)?;
        self.turn_of(&args.text(0)?, "card")?;
        self.answer_all(all, None)
    }

    fn turn(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (about, answers) = (args.text(0)?, replies(args.value(1))?);
        let entity = self.session()?.view().find(&about).map_err(wrong)?;
        self.run_to(&format!("a question for {about}"), |_, question| question.about == Some(entity), |_| false)?;
        self.answer_all(answers, None)
    }

    fn asked(&mut self, args: &MethodArgs) -> CheckedStep<Value> {
        let topic = args.text(0)?;
        let question = self.run_to(&format!("`{topic}`"), |_, question| *question.topic == *topic, |_| false)?;
        Ok(plain::question(self.session()?, &question))
    }

    fn open(&mut self) -> CheckedStep<Value> {
        let session = self.session()?;
        let _ = session.advance().map_err(wrong)?;
        Ok(Value::list(session.questions().iter().map(|question| plain::question(session, question))))
    }

    fn greyed(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (about, name) = (args.text(0)?, args.text(1)?);
        let wanted = match args.value(2) {
            Value::None => None,
            Value::Text(text) if text.is_empty() => None,
            wanted => Some(WantedRefusal::read(wanted)?),
        };
        let option = self.option_of(&about, args.optional_text(3)?.as_deref().unwrap_or("card"), &name)?;
        if option.enabled {
            return Err(wrong(format!("{name} is open to {about}")));
        }
        let refusal = Refusal::Greyed { label: option.label.to_string(), reason: option.reason };
        wanted.map_or(Ok(()), |wanted| self.refusal_fits(&format!("{name} is closed"), &wanted, &refusal))
    }

    fn enabled(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (about, name) = (args.text(0)?, args.text(1)?);
        let option = self.option_of(&about, args.optional_text(2)?.as_deref().unwrap_or("card"), &name)?;
        match option.enabled {
            true => Ok(()),
            false => Err(wrong(format!("{name} is greyed: {}", option.reason.unwrap_or_default()))),
        }
    }

    fn run(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let what = args.optional_text(0)?;
        let session = self.session()?;
        let rules = session.ruleset().clone();
        let Some(what) = what else {
            return match session.advance().map_err(wrong)? {
                Step::Fault(fault) => Err(wrong(fault)),
                _ => Ok(()),
            };
        };
        if !rules.entry_names().any(|name| name == what) {
            let meant = instead(&what, rules.entry_names());
            return Err(wrong(format!("no agenda entry is called `{what}`; {meant}")));
        }
        let began = session.boundaries();
        for _ in 0..MOST_ENTRIES {
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
            if session.boundaries() > began + MOST_ROUNDS && !session.is_due(&what) {
                let message =
                    format!("`{what}` has not run within {MOST_ROUNDS} rounds, and no such entry is on the agenda");
                return Err(wrong(message));
            }
            take_default(session)?;
        }
        Err(wrong(format!("`{what}` has not run after {MOST_ENTRIES} other entries")))
    }

    fn free(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let answers = replies(args.value(2))?;
        self.act(args)?.map_err(wrong)?;
        // The act waits for the end of an open action.
        while self.session()?.has_waiting_acts() {
            self.finish_action()?;
            let _ = self.session()?.advance_by(1).map_err(wrong)?;
        }
        let action = self.session()?.open_action();
        self.go_on()?;
        if answers.is_empty() { Ok(()) } else { self.answer_all(answers, action) }
    }

    /// Checks that a free act that `t:free` would take cannot be taken, for a reason.
    fn closed(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (seat, name, wanted) = (args.text(0)?, args.text(1)?, WantedRefusal::read(args.value(2))?);
        match self.act(args)? {
            Ok(()) => Err(wrong(format!("{name} is open to {seat}"))),
            Err(refusal @ Refusal::Greyed { .. }) => self.refusal_fits(&format!("{name} is closed"), &wanted, &refusal),
            Err(other) => Err(wrong(other)),
        }
    }

    /// Takes a free act at the next question, if it is open. An action whose dice are rolled is finished first.
    fn act(&mut self, args: &MethodArgs) -> CheckedStep<Result<(), Refusal>> {
        let (seat, name) = (args.text(0)?, args.text(1)?);
        // The result is the same whether the next question was looked at before or not.
        let _ = self.session()?.advance().map_err(wrong)?;
        if self.session()?.act_waits(&seat) {
            self.finish_action()?;
            let _ = self.session()?.advance().map_err(wrong)?;
        }
        Ok(self.session()?.act(&seat, &name))
    }

    fn edit(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (title, field, value) = (args.text(0)?, args.text(1)?, args.value(2).clone());
        let session = self.session()?;
        let entity = session.view().find(&title).map_err(wrong)?;
        let value = entity_value(session, entity, &field, value);
        session.edit(Edit::Set { entity, field, value }).map_err(wrong)?;
        self.go_on()
    }

    fn noted(&self, args: &MethodArgs) -> CheckedStep<()> {
        let (fate, text) = (args.text(0)?, args.text(1)?);
        some_reason(&text)?;
        let notes = self.migration.as_ref().map(|migration| &*migration.notes).unwrap_or_default();
        let lines: Vec<String> = notes
            .iter()
            .map(|note| {
                let rule = note.rule.as_deref().unwrap_or_default();
                format!("{}: {}: {} {rule}", note.fate.word(), note.topic, note.text)
            })
            .collect();
        if lines.iter().any(|line| line.starts_with(&format!("{fate}: ")) && line.contains(&text)) {
            return Ok(());
        }
        Err(wrong(format!("nothing {fate} was told that contains \"{text}\"; told was:\n{}", lines.join("\n"))))
    }

    fn rules_refused(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (id, reason) = (args.text(0)?, args.text(1)?);
        some_reason(&reason)?;
        let rules = self.shelf.ruleset(&id).map_err(wrong)?;
        let session = self.session()?;
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
    }

    /// Undoes the last decision, as the game master or as the named seat.
    fn undo(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let seat = if *args.value(0) == Value::None { MASTER.to_owned() } else { args.text(0)? };
        let session = self.session()?;
        session.seat(&seat).map_err(wrong)?.undo().map_err(wrong)?;
        session.advance_by(0).map(|_| ()).map_err(wrong)
    }

    /// Checks that a seat cannot undo its last decision.
    fn undo_refused(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let seat = args.text(0)?;
        match self.session()?.seat(&seat).map_err(wrong)?.undo() {
            Ok(undone) => Err(wrong(format!("{seat} could take it back: {}", undone.text))),
            Err(Refusal::Stands { .. }) => Ok(()),
            Err(other) => Err(wrong(other)),
        }
    }

    fn redo(&mut self) -> CheckedStep<()> {
        let session = self.session()?;
        session.redo().map_err(wrong)?;
        session.advance_by(0).map(|_| ()).map_err(wrong)
    }

    fn value(&mut self, args: &MethodArgs) -> CheckedStep<Value> {
        let looked_up = LookedUp::Value(args.text(0)?, args.text(1)?, args.rest(2).to_vec());
        self.look_up(looked_up)
    }

    fn titles(&mut self, args: &MethodArgs) -> CheckedStep<Value> {
        let looked_up = LookedUp::Titles(args.text(0)?);
        self.look_up(looked_up)
    }

    fn said(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let text = args.text(0)?;
        some_reason(&text)?;
        self.settle()?;
        // The parts of a number may be omitted.
        if self.log().iter().any(|line| line.contains(&text) || without_parts(line).contains(&text)) {
            return Ok(());
        }
        Err(wrong(format!("nothing that happened contains \"{text}\"")))
    }

    fn happened(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (sort, wanted, times) = (args.text(0)?, replies(args.value(1))?, args.optional_count(2)?);
        let shown = match args.value(1) {
            Value::None => String::new(),
            wanted => format!(" {}", words(wanted)),
        };
        match (self.count(&sort, &wanted)?, times) {
            (0, None) => Err(wrong(format!("no event `{sort}`{shown} has happened"))),
            (found, Some(times)) if found != times => {
                Err(wrong(format!("`{sort}`{shown}: expected {times} times, found {found}")))
            }
            _ => Ok(()),
        }
    }

    /// Compares the odds of a card with the expected ones: one chance, or a list of pairs.
    fn odds(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let (about, card, wanted) = (args.text(0)?, args.text(1)?, args.value(3));
        // A list of pairs contains its chances, so the next argument is the options.
        let (chance, options) = match (wanted, args.value(4), args.value(5)) {
            (Value::List(_), options @ Value::Map(_), Value::None) => (&Value::None, options),
            (_, chance, options) => (chance, options),
        };
        let expected = match (wanted, chance) {
            (Value::List(pairs), Value::None) => pairs.iter().map(expected_pair).collect::<CheckedStep<Vec<_>>>()?,
            (wanted, chance) => vec![odds::ExpectedOutcomes { wanted: wanted.clone(), chance: chance_in(chance)? }],
        };
        if expected.is_empty() {
            return Err(wrong("nothing is expected: write a list of { wanted, chance }"));
        }
        let (mut within, mut until) = (None, "action".to_owned());
        match options {
            Value::None => {}
            Value::Map(options) => {
                for (name, value) in options.iter() {
                    match (&**name, value) {
                        ("within", value) => within = Some(chance_in(value)?),
                        ("horizon", Value::Text(names)) => until = names.to_string(),
                        (name, _) => {
                            let known = "there are `within`, and `horizon` with the name of an agenda entry";
                            return Err(wrong(format!("odds have no option `{name}`; {known}")));
                        }
                    }
                }
            }
            other => return Err(wrong(format!("the options of odds are {{ within = \"2 %\" }}, not {other}"))),
        }
        let answers = replies(args.value(2))?;
        let question = self.turn_of(&about, "card")?;
        if let Ok(answer) = question.read(&Value::text(&card)) {
            self.cards.extend(cards_in(&self.rules, &answer));
        }
        let budget = self.shelf.budget.clone();
        odds::compare(self.session()?, &question, (&*card, answers), &expected, (within.as_ref(), &*until), budget)
    }

    fn over(&mut self, args: &MethodArgs) -> CheckedStep<()> {
        let text = args.optional_text(0)?;
        self.settle()?;
        let session = self.session()?;
        let _ = session.advance().map_err(wrong)?;
        match (session.outcome(), text) {
            (None, _) => Err(wrong("the game is not over")),
            (Some(outcome), Some(text)) if !outcome.contains(&text) => {
                Err(wrong(format!("the outcome is \"{outcome}\", expected \"{text}\"")))
            }
            _ => Ok(()),
        }
    }

    fn ongoing(&mut self) -> CheckedStep<()> {
        self.settle()?;
        let session = self.session()?;
        let _ = session.advance().map_err(wrong)?;
        match session.outcome() {
            Some(outcome) => Err(wrong(format!("the game is over: {outcome}"))),
            None => Ok(()),
        }
    }

    fn legal(&self, args: &MethodArgs) -> CheckedStep<()> {
        let breaches = self.breaches(args.value(0))?;
        match breaches.iter().find(|breach| !breach.warning) {
            Some(breach) => Err(wrong(format!("the sheet breaks {}: {}", breach.rule, breach.text))),
            None => Ok(()),
        }
    }

    fn breach(&self, args: &MethodArgs) -> CheckedStep<()> {
        let (rule, text) = (args.text(1)?, args.optional_text(2)?);
        let breaches = self.breaches(args.value(0))?;
        let found = breaches
            .iter()
            .find(|breach| breach.rule == rule && text.as_ref().is_none_or(|text| breach.text.contains(text)));
        if found.is_some() {
            return Ok(());
        }
        let all: Vec<String> = breaches.iter().map(|breach| format!("{}: {}", breach.rule, breach.text)).collect();
        Err(wrong(format!("the sheet does not break {rule}; it breaks: {}", all.join("; "))))
    }
}

fn equal(args: &MethodArgs) -> CheckedStep<()> {
    let (found, expected) = (args.value(0), args.value(1));
    let what = args.optional_text(2)?.map_or(String::new(), |what| format!("{what}: "));
    if same(found, expected) {
        return Ok(());
    }
    Err(wrong(format!("{what}expected {}, found {}", words(expected), words(found))))
}

/// Reads a pair of an expected outcome and its chance.
fn expected_pair(pair: &Value) -> CheckedStep<odds::ExpectedOutcomes> {
    match pair {
        Value::List(parts) if parts.len() == 2 => {
            Ok(odds::ExpectedOutcomes { wanted: parts[0].clone(), chance: chance_in(&parts[1])? })
        }
        other => Err(wrong(format!("a list of odds holds pairs {{ wanted, chance }}, not {other}"))),
    }
}

fn chance_in(value: &Value) -> CheckedStep<Fraction> {
    let text = match value {
        Value::None => {
            return Err(wrong("a chance is missing: write it as a fraction such as \"3/5\", or as \"60 %\""));
        }
        Value::Text(text) => text.to_string(),
        other => other.to_string(),
    };
    let chance = read_chance(&text).filter(|chance| (Fraction::ZERO..=Fraction::ONE).contains(chance));
    chance
        .ok_or_else(|| wrong(format!("`{text}` is no chance: write it as a fraction such as \"3/5\", or as \"60 %\"")))
}

/// Parses `3/5`, `1`, `60 %` or `12.5 %`.
fn read_chance(text: &str) -> Option<Fraction> {
    let (number, hundredth) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), true),
        None => (text.trim(), false),
    };
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let (part, of) = match number.split_once('/') {
        Some(_) if !places.is_empty() => return None,
        Some((part, of)) => (part.to_owned(), of.parse().ok()?),
        None => (format!("{whole}{places}"), UBig::ONE),
    };
    if of.is_zero() {
        return None;
    }
    let decimals = places.len() + if hundredth { 2 } else { 0 };
    Some(ratio(part.parse::<IBig>().ok()?, of * UBig::from(10_u8).pow(decimals)))
}

/// Converts the title in an edit of a reference to the entity.
fn entity_value(session: &Session, entity: EntityId, field: &str, value: Value) -> Value {
    let view = session.view();
    let declared = view.fields(entity).find(|(known, _)| *known.name == *field);
    let schema = session.ruleset().schema();
    let kind = view.kind(entity).and_then(|kind| schema.kind_named(kind));
    let relates = || kind.is_some_and(|kind| schema.relation_from(kind, field).is_some());
    let refers = match declared {
        Some((known, _)) => matches!(known.ty, riskbreaker_state::Type::Ref(_)),
        None => relates(),
    };
    match &value {
        Value::Text(title) if refers && &**title == "none" => Value::None,
        Value::Text(title) if refers => view.find(title).map_or(value.clone(), Value::Entity),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_does_not_fit_is_named() {
        let values = [Value::text("Ann"), Value::list([])];
        let args = MethodArgs { method: "play", values: &values };
        assert_eq!(args.text(1).unwrap_err(), "argument 2 of t:play must be a text, not a list");
        assert_eq!(args.text(2).unwrap_err(), "argument 3 of t:play must be a text, not nothing");
    }

    #[test]
    fn a_chance_is_read_as_it_is_written() {
        let chances = ["3/5", "60 %", "12.5 %", "0.04", "1"].map(read_chance);
        assert_eq!(chances, [(3, 5), (3, 5), (1, 8), (1, 25), (1, 1)].map(|(n, d)| Some(ratio(n, d))));
        for text in ["3/0", "1.5/2", "/2", "1/", "half", ""] {
            assert_eq!(read_chance(text), None, "{text}");
        }
    }
}
