use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{FromLua, Lua, Result, Table, Value as Lv};

use super::super::account::charge;
use super::super::budget::hold;
use super::super::conversion::{from_lua, text_of, whole_of};
use super::super::field_names::Name;
use super::super::handles::Handles;
use super::answering::{BY_ONLY, by_of, misfit};
use super::arguments::{audience_arg, fill, text_arg};
use super::cost::{ASKED, MOST_NAMED, OPTION};
use super::refusal::{fault, gone_option, not_about, stopped};
use super::state::{HostState, host_function};
use riskbreaker_play::{
    ActionContext, Answer, Ask, AskKind, Asked, Asking, By, Choice, DicePosition, Happening, Limits, Op, Question,
    QuestionId, Refusal, Shape, Taped, Untold, Viewer,
};
use riskbreaker_state::{Audience, EntityId, Value};

pub(super) fn add(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // ask_whole(kind, question): returns the source of the answer like `ask`; or 3 and the answer as indices, 4 if the
    // question is open, 5 if another one was answered first.
    host_function!(lua, host, table, "ask_whole", |lua, b, (kind, q): (KindNumber, Table)| {
        let context = b.context()?;
        if let Some(known) = context.asked_before().map_err(stopped)? {
            let (question, answer) = &*known;
            context.record(Asking::of(question), answer.clone(), By::Default, DicePosition::default());
            return Ok((ANSWERED, places(lua, question, answer)?));
        }
        let handles = b.handles.borrow();
        let question = question_of(context, &handles, kind.0, &q)?;
        match context.ask(&question).map_err(stopped)? {
            Asked::Answered(answer) => Ok((ANSWERED, found(lua, context, &question, &answer)?)),
            Asked::Policy(policy) => {
                b.before_policy.set(context.dice.position());
                if let Some(explorer) = &mut context.paths {
                    explorer.remember(None);
                }
                Ok((1, Lv::String(lua.create_string(&*policy)?)))
            }
            Asked::Default => {
                b.before_policy.set(context.dice.position());
                Ok((2, Lv::Nil))
            }
            Asked::Open => Ok((OPEN, Lv::Nil)),
        }
    });
    // waits_for_person(kind, question): while paths are explored, returns whether a person would have to answer, and
    // whether an answer was given. Faults if the question could not be asked.
    host_function!(lua, host, table, "waits_for_person", |_, b, (kind, q): (KindNumber, Table)| {
        let context = b.context()?;
        let question = question_of(context, &b.handles.borrow(), kind.0, &q)?;
        Ok(context.waits_for_person(&question))
    });
    // from_tape(kind, question, whether the chosen card is known to be open): returns the answer on the tape, like
    // `ask_whole`; 6 if it did not fit and was cut off.
    host_function!(lua, host, table, "from_tape", |lua, b, (kind, q, opened): (KindNumber, Table, bool)| {
        let context = b.context()?;
        let handles = b.handles.borrow();
        let question = undefaulted(context, &handles, kind.0, &q, opened)?;
        match context.taped(&question).map_err(stopped)? {
            Taped::Answered(answer) => Ok((ANSWERED, found(lua, context, &question, &answer)?)),
            Taped::Closed => Ok((CLOSED, Lv::Nil)),
            Taped::Cut => Ok((AGAIN_ASKED, Lv::Nil)),
        }
    });
    // put_out(kind, question): opens the question.
    host_function!(lua, host, table, "put_out", |_, b, (kind, q): (KindNumber, Table)| {
        let context = b.context()?;
        let question = question_of(context, &b.handles.borrow(), kind.0, &q)?;
        // Undo the draws of a policy that gave no answer.
        context.dice.set_position(b.before_policy.get());
        context.put_out(question);
        Ok(())
    });
    // default_places(kind, question): returns the default, loosely named, as indices; nothing if there is none.
    host_function!(lua, host, table, "default_places", |lua, b, (kind, q): (KindNumber, Table)| {
        let context = b.context()?;
        let question = question_of(context, &b.handles.borrow(), kind.0, &q)?;
        match &question.default {
            Some(answer) => places(lua, &question, answer),
            None => Ok(Lv::Nil),
        }
    });
    // noted(kind, question, answer as indices, source, the option itself if only that was evaluated): records a valid
    // answer with its text, if needed.
    host_function!(lua, host, table, "noted", |_, b, (kind, q, answer, by, only): (KindNumber, Table, Lv, i64, Lv)| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let handles = b.handles.borrow();
        if by == BY_ONLY {
            // The answer was automatic, but an early answer may have been given.
            if context.log.listening || context.keeps_tape || context.paths.is_some() {
                let question = undefaulted(context, &handles, kind.0, &q, false)?;
                let answer = answer_of(context, &question, &answer)?;
                context.note_only_answer(question, answer).map_err(stopped)?;
            }
            return Ok(());
        }
        let asking = asking_of(context, &handles, &q)?;
        let (answer, text) = in_words(context, &handles, kind.0, &q, &answer, &only)?;
        if context.log.listening || context.notes_answers() {
            let audience = question_audience(context, &handles, &q, &asking)?;
            context.note_assumed(&asking, &audience, &text, by_of(by));
            let sealed = is_sealed(&handles, &q)?;
            tell_answer(context, context.playback.cursor, asking.clone(), audience, sealed, text);
        }
        context.record(asking, answer, by_of(by), b.before_policy.get());
        context.may_go_on().map_err(stopped)
    });
    host_function!(lua, host, table, "begin_race", |_, b, (): ()| b.context()?.begin_race().map_err(stopped));
    host_function!(lua, host, table, "end_race", |_, b, won: bool| {
        b.context()?.end_race(won);
        Ok(())
    });
    // all_answered(including sealed ones): publishes the answers that were held back.
    host_function!(lua, host, table, "all_answered", |_, b, sealed: bool| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        context.tell_untold(sealed);
        Ok(())
    });
    add_checks(lua, host, table)?;
    add_refusals(lua, host, table)
}

/// A refusal: the topic, the reason, values for its placeholders, the seat, and whether its policy has just given the
/// answer.
type LuaRefusal = (String, Lv, Table, String, bool);

fn add_refusals(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // refuse_closed(question, the closed option, its index, source)
    host_function!(lua, host, table, "refuse_closed", |_, b, (q, option, at, by): (Table, Lv, usize, i64)| {
        let (context, handles) = (b.context()?, b.handles.borrow());
        let asking = asking_of(context, &handles, &q)?;
        let (Choice { label, reason, .. }, _) = choice_at(context, &handles, &option, at, &asking.seat)?;
        let refusal = Refusal::Greyed { label: label.to_string(), reason }.to_string();
        Err::<(), _>(stopped(misfit(context, (&asking.topic, &asking.seat), by, &refusal)))
    });
    host_function!(lua, host, table, "refuse", |_, b, (topic, reason, args, seat, by_policy): LuaRefusal| {
        let context = b.context()?;
        context.may_go_on().map_err(stopped)?;
        let reason = text_arg(context, &reason, "the reason of a question's check")?;
        let reason = filled_reason(context, &b.handles.borrow(), &reason, &args)?;
        Err::<(), _>(stopped(context.refuse(&topic, &reason, &seat, by_policy)))
    });
    Ok(())
}

/// Adds the functions that check questions and report mistakes in them.
fn add_checks(lua: &Lua, host: &Rc<HostState>, table: &Table) -> Result<()> {
    // check_audience(audience, what it is): faults if it is invalid.
    host_function!(lua, host, table, "check_audience", |_, b, (audience, what): (Lv, String)| {
        let context = b.context()?;
        audience_arg(context, &audience, &b.handles.borrow(), &what).map(|_| ())
    });
    // is_there(handle): returns true if its entity exists, without recording this for the memo.
    host_function!(lua, host, table, "is_there", |_, b, handle: Table| Ok(b.handles.borrow().id_of(&handle).is_some()));
    host_function!(lua, host, table, "gone_option", |_, b, at: usize| {
        Err::<(), _>(stopped(gone_option(b.context()?, at)))
    });
    // title(handle): returns the title of an entity, for messages.
    host_function!(lua, host, table, "title", |_, b, handle: Table| {
        let context = b.context()?;
        let id = b.handles.borrow().id_of(&handle);
        Ok(id.map_or_else(String::new, |id| context.title(id).to_string()))
    });
    // no_answer(question, options): faults with the reasons why no option can be chosen.
    host_function!(lua, host, table, "no_answer", |_, b, (q, options): (Table, Table)| {
        let context = b.context()?;
        let handles = b.handles.borrow();
        let Asking { topic, seat, .. } = asking_of(context, &handles, &q)?;
        let greyed: Vec<String> = choices(context, &handles, &options, &seat)?
            .iter()
            .filter(|option| !option.enabled)
            .map(|option| format!("{}: {}", option.label, option.reason.as_deref().unwrap_or("not open")))
            .collect();
        let count = options.raw_len();
        if let Some(least) = whole_of(&handles.read(&q, Name::Min)?).filter(|least| *least > count as i64) {
            let message = format!("the question `{topic}` takes at least {least} of its options, and it has {count}");
            let cure = format!("write min = math.min({least}, #options), or do not ask");
            return Err(stopped(context.no_open_answer(message, Some(cure))));
        }
        let message = if greyed.is_empty() {
            format!("the question `{topic}` has no possible answer")
        } else if greyed.len() == count {
            format!("the question `{topic}` has no option that is open ({})", greyed.join("; "))
        } else {
            format!("the question `{topic}` has no possible answer: too few options are open ({})", greyed.join("; "))
        };
        Err::<(), _>(stopped(context.no_open_answer(message, None)))
    });
    Ok(())
}

/// The fault of a question that changed after it was checked, which scripts cannot cause.
const UNCHECKED: &str = "the question has changed since its shape was checked";

/// The codes for the result of asking a question.
const ANSWERED: u8 = 3;
const OPEN: u8 = 4;
const CLOSED: u8 = 5;
/// The code for a tape that did not fit: the question is asked again.
const AGAIN_ASKED: u8 = 6;

/// The kind of a question by the prelude's code: its index in [`AskKind::ALL`], from 1.
struct KindNumber(AskKind);

impl FromLua for KindNumber {
    fn from_lua(value: Lv, lua: &Lua) -> Result<KindNumber> {
        let kind = usize::from_lua(value, lua)?.checked_sub(1).and_then(|at| AskKind::ALL.get(at));
        kind.copied().map(KindNumber).ok_or_else(|| mlua::Error::runtime("there is no such kind of question"))
    }
}

/// Records and publishes an answer found in place, and returns it as indices.
fn found(lua: &Lua, context: &mut ActionContext, question: &Question, answer: &Answer) -> Result<Lv> {
    if let Some(explorer) = &mut context.paths {
        explorer.remember(Some((question, answer)));
    }
    let text = question.tell(answer);
    let (asking, audience) = (Asking::of(question), question.audience.clone());
    tell_answer(context, context.playback.cursor - 1, asking, audience, question.sealed, text);
    places(lua, question, answer)
}

/// Records an answer to be published, at the earliest when all questions asked together with it are answered.
fn tell_answer(
    context: &mut ActionContext,
    place: usize,
    asking: Asking,
    audience: Audience,
    sealed: bool,
    text: String,
) {
    if context.log.listening {
        let about = asking.about.map(|about| context.title_for(about, &audience));
        let happening = Happening::Answered { seat: asking.seat, topic: asking.topic, about, text };
        context.log.untold.push(Untold { ordinal: place as u32, happening, audience, sealed });
    }
}

fn is_sealed(handles: &Handles, q: &Table) -> Result<bool> {
    Ok(matches!(handles.read(q, Name::Sealed)?, Lv::Boolean(true)))
}

/// The audience of a question and its answer: the declared viewers who may see everything that it names, and the asked
/// seat.
fn question_audience(context: &mut ActionContext, handles: &Handles, q: &Table, asking: &Asking) -> Result<Audience> {
    let declared = handles.read(q, Name::Audience)?;
    let mut audience = audience_arg(context, &declared, handles, "the `audience` of a question")?;
    if context.rules.schema().has_secrets() {
        let schema = context.rules.schema();
        let (viewer, mut titles) = (Viewer::seat(&asking.seat), Audience::Everybody);
        let mut narrow =
            |id: EntityId| audience = std::mem::take(&mut audience).and(&context.state.audience(schema, id));
        asking.about.into_iter().for_each(&mut narrow);
        if let Lv::Table(options) = handles.read(q, Name::Options)? {
            for option in options.sequence_values::<Lv>() {
                let Lv::Table(option) = option? else { continue };
                let entity = match handles.id_of(&option) {
                    Some(id) => Some(id),
                    None => handles.entity_in(&handles.read(&option, Name::Value)?),
                };
                entity.into_iter().for_each(&mut narrow);
                // The title of an option may be shown to the asked seat.
                let named = entity.and_then(|id| context.title_audience(id));
                if let Some(named) = named.filter(|named| viewer.sees(named)) {
                    titles = titles.and(&named);
                }
            }
        }
        audience = audience.and(&titles);
    }
    Ok(audience.with(&asking.seat))
}

/// True if a question that is not public may show its seat a new secret: one with its own `audience`, unless it has
/// `peek = false`, and one that names an entity made or changed by the action.
fn shows_secrets(context: &ActionContext, handles: &Handles, q: &Table, asking: &Asking) -> Result<bool> {
    if matches!(handles.read(q, Name::Peek)?, Lv::Boolean(false)) {
        return Ok(false);
    }
    if !handles.read(q, Name::Audience)?.is_nil() || asking.about.is_some_and(|about| context.has_touched(about)) {
        return Ok(true);
    }
    let Lv::Table(options) = handles.read(q, Name::Options)? else { return Ok(false) };
    for option in options.sequence_values::<Lv>() {
        let Lv::Table(option) = option? else { continue };
        let named = handles.id_of(&option);
        let entity =
            named.or_else(|| handles.read(&option, Name::Value).ok().and_then(|value| handles.entity_in(&value)));
        if entity.is_some_and(|entity| context.has_touched(entity)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A valid answer with option ids, and as text.
fn in_words(
    context: &mut ActionContext,
    handles: &Handles,
    kind: AskKind,
    q: &Table,
    answer: &Lv,
    only: &Lv,
) -> Result<(Answer, String)> {
    match (kind, answer) {
        (AskKind::Number, number) => {
            let n = whole_of(number).unwrap_or_default();
            Ok((Answer::Number(n), n.to_string()))
        }
        (AskKind::Confirm, yes) => {
            let yes = *yes == Lv::Boolean(true);
            Ok((Answer::Confirm(yes), if yes { "yes" } else { "no" }.into()))
        }
        (AskKind::Choose, Lv::Integer(_) | Lv::Number(_)) => {
            let option = match handles.read(q, Name::Options)? {
                Lv::Table(options) => options.raw_get(whole_of(answer).unwrap_or_default())?,
                _ => only.clone(),
            };
            let choice = one_choice(context, handles, q, &option)?;
            Ok((Answer::Choice(choice.id), choice.label.to_string()))
        }
        _ => {
            let question = undefaulted(context, handles, kind, q, false)?;
            let answer = answer_of(context, &question, answer)?;
            let text = question.tell(&answer);
            Ok((answer, text))
        }
    }
}

fn asking_of(context: &mut ActionContext, handles: &Handles, q: &Table) -> Result<Asking> {
    let seat = handles.read(q, Name::Seat)?;
    let seat = text_arg(context, &seat, "the `seat` of a question")?;
    let topic = handles.read(q, Name::Topic)?;
    let topic = text_arg(context, &topic, "the `topic` of a question")?;
    let about = match handles.read(q, Name::About)? {
        Lv::Nil => None,
        value => {
            let entity = handles.entity_in(&value);
            Some(entity.ok_or_else(|| stopped(not_about(context, value.type_name())))?)
        }
    };
    context.open_seat(&seat).map_err(stopped)?;
    Ok(Asking { seat, topic, about })
}

/// The work of a question without its options: asking, answering and publishing it.
const WORK_OF_QUESTION: i64 = 128;

/// Builds the question of a script.
fn question_of(context: &mut ActionContext, handles: &Handles, kind: AskKind, q: &Table) -> Result<Question> {
    charge(WORK_OF_QUESTION);
    let mut question = undefaulted(context, handles, kind, q, false)?;
    question.default = default_of(context, handles, &question, q)?;
    Ok(question)
}

/// The default of a question, if it has one. For an order, it is the order of its options.
fn default_of(
    context: &mut ActionContext,
    handles: &Handles,
    question: &Question,
    q: &Table,
) -> Result<Option<Answer>> {
    let value = match handles.read(q, Name::Default)? {
        Lv::Nil => {
            let Ask::Order { options } = &question.ask else { return Ok(None) };
            return Ok(Some(Answer::Order(options.iter().map(|option| option.id.clone()).collect())));
        }
        value => default_value(context, handles, question, q, &value)?,
    };
    // A person may type a number for a line of text; a script must give the right type.
    let is_of_kind = match &question.ask {
        Ask::Number { .. } => matches!(value, Value::Int(_)),
        Ask::Confirm => matches!(value, Value::Bool(_)),
        Ask::Line { .. } => matches!(value, Value::Text(_)),
        Ask::Choose { .. } | Ask::ChooseMany { .. } | Ask::Allot { .. } | Ask::Order { .. } | Ask::Dice { .. } => true,
    };
    let wrong = || Refusal::WrongType { topic: None, wanted: question.ask.wanted(), given: None };
    match if is_of_kind { question.read(&value) } else { Err(wrong()) } {
        Ok(answer) => Ok(Some(answer)),
        // A disabled option is not taken as the default.
        Err(_) if value.as_text().is_some_and(|name| context.state.left_out().contains(name)) => Ok(None),
        Err(refusal) => {
            let reason = match (&refusal, question.ask.shape()) {
                (Refusal::WrongType { .. }, Some(shape)) => format!("it is not {}", shape.returned()),
                _ => refusal.to_string(),
            };
            let message = format!("the default of the question `{}` does not fit: {reason}", question.topic);
            Err(fault(context, message))
        }
    }
}

/// Builds a question without its default. The prelude's `check_question` has checked its shape. `opened`: only the
/// chosen card was evaluated.
fn undefaulted(
    context: &mut ActionContext,
    handles: &Handles,
    kind: AskKind,
    q: &Table,
    opened: bool,
) -> Result<Question> {
    hold(ASKED)?;
    let asking = asking_of(context, handles, q)?;
    let why = match handles.read(q, Name::Why)? {
        // The text is only computed if the question is shown.
        Lv::Nil | Lv::Function(_) => String::new(),
        value => text_arg(context, &value, "the `why` of a question")?.to_string(),
    };
    let open = question_audience(context, handles, q, &asking)?;
    let audience = context.log.secrecy.narrowed(open).with(&asking.seat);
    context.log.question_shows =
        context.log.listening && !audience.is_everybody() && shows_secrets(context, handles, q, &asking)?;
    let options = match handles.read(q, Name::Options)? {
        _ if !kind.has_options() => Vec::new(),
        _ if opened => cards_of(context, &handles.read(q, Name::Cards)?)?,
        Lv::Table(options) => choices(context, handles, &options, &asking.seat)?,
        _ => return Err(fault(context, UNCHECKED)),
    };
    let whole = |name: Name| -> Result<Option<i64>> { Ok(whole_of(&handles.read(q, name)?)) };
    let (min, max, total, least) = match kind {
        AskKind::ChooseMany | AskKind::Number | AskKind::Line => (whole(Name::Min)?, whole(Name::Max)?, None, None),
        AskKind::Allot => (None, None, whole(Name::Total)?, whole(Name::Least)?),
        _ => (None, None, None, None),
    };
    let other = matches!(handles.read(q, Name::Other)?, Lv::Boolean(true));
    let limits = Limits { min, max, total, least, other };
    let Ok(Shape { min, max, other, .. }) = Shape::new(kind, options.len(), limits) else {
        return Err(fault(context, UNCHECKED));
    };
    let ask = match kind {
        AskKind::Choose => Ask::Choose { options, other },
        AskKind::ChooseMany => Ask::ChooseMany { options, min: min as usize, max: max as usize },
        AskKind::Number => Ask::Number { min, max },
        AskKind::Allot => Ask::Allot { options, total: max, least: min },
        AskKind::Confirm => Ask::Confirm,
        AskKind::Order => Ask::Order { options },
        AskKind::Line => Ask::Line { max: max as usize },
    };
    let question = Question {
        id: QuestionId { action: context.run.action, ordinal: context.playback.cursor as u32 },
        seat: asking.seat,
        topic: asking.topic,
        about: asking.about,
        why,
        ask,
        default: None,
        proposes: !matches!(handles.read(q, Name::Propose)?, Lv::Boolean(false)),
        audience,
        sealed: is_sealed(handles, q)?,
        race: false,
        checked: handles.read(q, Name::Check)? != Lv::Nil,
    };
    Ok(question)
}

/// Reads a default like an answer: option ids, values of options, numbers.
fn default_value(
    context: &mut ActionContext,
    handles: &Handles,
    question: &Question,
    q: &Table,
    value: &Lv,
) -> Result<Value> {
    if let Lv::Table(options) = handles.read(q, Name::Options)? {
        let id_of = |one: &Lv| -> Result<Option<Value>> {
            let mut closed = None;
            for (at, choice) in (1..=options.raw_len()).zip(question.ask.options()) {
                let option: Lv = options.raw_get(at)?;
                let own = match &option {
                    Lv::Table(table) if handles.id_of(table).is_none() => handles.read(table, Name::Value)?,
                    _ => option.clone(),
                };
                // Of several options with the same value, take the first that can be chosen.
                if !own.is_nil() && own == *one {
                    let id = Value::Text(choice.id.clone());
                    if choice.enabled {
                        return Ok(Some(id));
                    }
                    closed.get_or_insert(id);
                }
            }
            Ok(closed)
        };
        if let Some(found) = id_of(value)? {
            return Ok(found);
        }
        if let Lv::Table(list) = value
            && handles.id_of(list).is_none()
            && list.raw_len() > 0
            // A list in an allotment contains points.
            && !matches!(question.ask, Ask::Allot { .. })
        {
            if list.pairs::<Lv, Lv>().count() != list.raw_len() {
                let topic: String = q.raw_get("topic")?;
                let message = format!("the default of the question `{topic}` is a list with a gap");
                return Err(stopped(context.fault_with(message, Some("leave out what is nil".into()))));
            }
            let mut ids = Vec::new();
            for at in 1..=list.raw_len() {
                let one: Lv = list.raw_get(at)?;
                ids.push(match id_of(&one)? {
                    Some(found) => found,
                    None => from_lua(&one, handles)?,
                });
            }
            return Ok(Value::List(ids.into()));
        }
    }
    from_lua(value, handles)
}

/// Converts options for a seat.
fn choices(context: &mut ActionContext, handles: &Handles, options: &Table, seat: &str) -> Result<Vec<Choice>> {
    let mut made: Vec<(Choice, Option<EntityId>)> = Vec::new();
    for at in 1..=number_of(options)? {
        made.push(choice_at(context, handles, &options.raw_get(at)?, at, seat)?);
    }
    ActionContext::settle_ids(&mut made);
    for (choice, entity) in &made {
        // It shares its title with another option and has its number in its id.
        if let Some(entity) = entity.filter(|_| choice.id != choice.label) {
            context.observers.observe(&Op::ReadId { entity, state: &context.state });
        }
    }
    Ok(made.into_iter().map(|(choice, _)| choice).collect())
}

/// Cards as options with only their ids and titles.
fn cards_of(context: &ActionContext, ids: &Lv) -> Result<Vec<Choice>> {
    let Lv::Table(ids) = ids else { return Ok(Vec::new()) };
    let choice = |id: mlua::LuaString| {
        let id = text_of(&id)?;
        let label = context.rules.card(&id).map_or_else(|| id.clone(), |card| Arc::from(&*card.title));
        Ok(Choice { id, label, enabled: true, reason: None, note: None, max: None, entity: None })
    };
    ids.sequence_values::<mlua::LuaString>().map(|id| choice(id?)).collect()
}

/// The number of options in a list. Charges reading them.
fn number_of(options: &Table) -> Result<usize> {
    let count = options.raw_len();
    charge(count as i64);
    hold(count * OPTION)?;
    Ok(count)
}

/// Converts one option. Also returns the entity from which it has its id, if any.
fn choice_at(
    context: &mut ActionContext,
    handles: &Handles,
    option: &Lv,
    at: usize,
    seat: &str,
) -> Result<(Choice, Option<EntityId>)> {
    let plain = |text: Arc<str>| Choice {
        id: text.clone(),
        label: text,
        enabled: true,
        reason: None,
        note: None,
        max: None,
        entity: None,
    };
    match option {
        Lv::String(text) => Ok((plain(text_of(text)?), None)),
        Lv::Table(table) => match handles.id_of(table) {
            Some(id) => Ok((Choice { entity: Some(id), ..plain(context.read_title(id, seat)) }, Some(id))),
            None if table.metatable().is_some() => Err(stopped(gone_option(context, at))),
            None => choice_of(context, handles, table, seat),
        },
        _ => Err(fault(context, UNCHECKED)),
    }
}

/// The chosen option alone, with the id that it has among all options of the question.
fn one_choice(context: &mut ActionContext, handles: &Handles, q: &Table, option: &Lv) -> Result<Choice> {
    let seat = text_arg(context, &handles.read(q, Name::Seat)?, "the `seat` of a question")?;
    let (choice, entity) = choice_at(context, handles, option, 1, &seat)?;
    let (Some(_), Lv::Table(options)) = (entity, handles.read(q, Name::Options)?) else { return Ok(choice) };
    // The id of an entity is its title, unless another option has the same title.
    let mut made = vec![(choice, entity)];
    for at in 1..=number_of(&options)? {
        let other: Lv = options.raw_get(at)?;
        let (label, another) = choice_at(context, handles, &other, at, &seat)?;
        if another != entity {
            made.push((label, another));
        }
    }
    ActionContext::settle_ids(&mut made);
    Ok(made.swap_remove(0).0)
}

fn choice_of(
    context: &mut ActionContext,
    handles: &Handles,
    table: &Table,
    seat: &str,
) -> Result<(Choice, Option<EntityId>)> {
    let text = |name: Name| -> Result<Option<Arc<str>>> {
        match handles.read(table, name)? {
            Lv::String(text) => text_of(&text).map(Some),
            _ => Ok(None),
        }
    };
    let entity = handles.entity_in(&handles.read(table, Name::Value)?);
    let label = text(Name::Label)?;
    let id = text(Name::Id)?;
    let named = id.is_some();
    let title = entity.map(|entity| context.read_title(entity, seat));
    let Some(id) = id.or_else(|| title.clone()).or_else(|| label.clone()) else {
        return Err(fault(context, UNCHECKED));
    };
    let reason = match handles.read(table, Name::Reason)? {
        Lv::String(template) => {
            let template = text_of(&template)?;
            match handles.read(table, Name::ReasonArgs)? {
                Lv::Table(args) => Some(filled_reason(context, handles, &template, &args)?),
                _ => Some(fill(&template, &[], context, handles)),
            }
        }
        _ => None,
    };
    let max = whole_of(&handles.read(table, Name::Max)?);
    // An option with its own id and label is not the entity that is its value.
    let is_entity = title.as_ref() == Some(&id) || title.is_some() && title == label;
    let choice = Choice {
        entity: entity.filter(|_| is_entity),
        label: label.or(title).unwrap_or_else(|| id.clone()),
        id,
        enabled: !matches!(handles.read(table, Name::Enabled)?, Lv::Boolean(false)),
        reason,
        note: text(Name::Note)?.map(|note| note.to_string()),
        max,
    };
    Ok((choice, entity.filter(|_| !named)))
}

/// Formats a reason with the values for its placeholders.
fn filled_reason(context: &ActionContext, handles: &Handles, template: &str, args: &Table) -> Result<String> {
    let args: Vec<Lv> = args.sequence_values().take(MOST_NAMED).collect::<Result<_>>()?;
    Ok(fill(template, &args, context, handles))
}

/// Converts an answer for the prelude: indices of options, numbers, texts.
fn places(lua: &Lua, question: &Question, answer: &Answer) -> Result<Lv> {
    let options = question.ask.options();
    let list = |ids: &[Arc<str>]| -> Vec<usize> {
        let places: HashMap<&str, usize> = options.iter().zip(1..).map(|(option, at)| (&*option.id, at)).collect();
        ids.iter().filter_map(|id| places.get(&**id).copied()).collect()
    };
    Ok(match answer {
        Answer::Choice(id) => match options.iter().position(|option| option.id == *id) {
            Some(at) => Lv::Number((at + 1) as f64),
            None => Lv::String(lua.create_string(&**id)?),
        },
        Answer::Choices(ids) => {
            // Use the order of the options, not that of the answer.
            let mut at = list(ids);
            at.sort_unstable();
            Lv::Table(lua.create_sequence_from(at)?)
        }
        Answer::Order(ids) => Lv::Table(lua.create_sequence_from(list(ids))?),
        Answer::Number(n) => Lv::Number(*n as f64),
        Answer::Allotment(parts) => {
            let points = options
                .iter()
                .map(|option| parts.iter().find(|(id, _)| *id == option.id).map_or(0, |(_, points)| *points));
            Lv::Table(lua.create_sequence_from(points)?)
        }
        Answer::Confirm(yes) => Lv::Boolean(*yes),
        Answer::Line(line) => Lv::String(lua.create_string(line)?),
        Answer::Faces(faces) => Lv::Table(lua.create_sequence_from(faces.iter().copied())?),
    })
}

/// Converts an answer from indices to option ids.
fn answer_of(context: &mut ActionContext, question: &Question, value: &Lv) -> Result<Answer> {
    let options = question.ask.options();
    let id_at = |value: &Lv| {
        let at = usize::try_from(whole_of(value)?).ok()?.checked_sub(1)?;
        options.get(at).map(|option| option.id.clone())
    };
    let items = |value: &Lv| -> Option<Vec<Lv>> {
        let Lv::Table(table) = value else { return None };
        table.sequence_values::<Lv>().take(options.len() + 1).collect::<Result<_>>().ok()
    };
    let ids = |value: &Lv| -> Option<Vec<Arc<str>>> { items(value)?.iter().map(id_at).collect() };
    let answer = match &question.ask {
        Ask::Choose { other, .. } => match value {
            Lv::String(text) if *other => Some(Answer::Choice(text_of(text)?)),
            value => id_at(value).map(Answer::Choice),
        },
        Ask::ChooseMany { .. } => ids(value).map(Answer::Choices),
        Ask::Order { .. } => ids(value).map(Answer::Order),
        Ask::Number { .. } => whole_of(value).map(Answer::Number),
        Ask::Allot { .. } => items(value).and_then(|items| {
            let points: Option<Vec<i64>> = items.iter().map(whole_of).collect();
            let points = points?;
            (points.len() <= options.len()).then(|| {
                let named = options.iter().map(|option| option.id.clone()).zip(points);
                Answer::Allotment(named.filter(|(_, points)| *points != 0).collect())
            })
        }),
        Ask::Confirm => match value {
            Lv::Boolean(yes) => Some(Answer::Confirm(*yes)),
            _ => None,
        },
        Ask::Line { .. } => match value {
            Lv::String(text) => Some(Answer::Line(text_of(text)?.to_string())),
            _ => None,
        },
        Ask::Dice { .. } => None,
    };
    answer.ok_or_else(|| {
        let message = format!(
            "the policy answered `{}` with {}; wanted: {}",
            question.topic,
            value.type_name(),
            question.ask.wanted()
        );
        fault(context, message)
    })
}
