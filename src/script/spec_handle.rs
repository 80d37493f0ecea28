use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Lua, MetaMethod, Result, Table as LuaTable, UserData, UserDataMethods, Value as Lv, Variadic};
use num_rational::BigRational;

use super::conversion::{plain_from, plain_to};
use super::game_handle::{notes_table, question_table, replies_of, value_of};
use super::spec_case::{Case, for_question, in_words_of, same, take_default, wrong};
use super::table::in_words;
use super::{api, spec_odds};
use crate::play::{Edit, Question, Session, Step};
use crate::ruleset::nearest;
use crate::state::{EntityId, Value};

/// A spec under way as its script has it: `t`.
pub(super) struct CaseHandle(pub Rc<RefCell<Case>>);

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
            let migration = t.0.borrow_mut().change_rules(&id)?;
            notes_table(lua, &migration)
        });
        methods.add_method("noted", |_, t, (fate, text): (String, String)| {
            let case = t.0.borrow();
            let notes = case.migration.as_ref().map(|migration| &*migration.notes).unwrap_or_default();
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
