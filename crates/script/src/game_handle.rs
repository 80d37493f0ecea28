use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{Error, Lua, Result, Table as LuaTable, UserData, UserDataMethods, Value as Lv, Variadic};

use super::budget::renew_program;
use super::conversion::{plain_from, plain_to};
use super::table::SharedTable;
use riskbreaker_play::{DiceSource, Driver, Edit, MASTER, Ruleset, Scenario, Session, Setup, Step, event_lines, plain};
use riskbreaker_ruleset::Library;
use riskbreaker_state::Value;

/// A game for a program, with entities by title.
pub(super) struct GameHandle(HandlePlace);

enum HandlePlace {
    /// The current game of the table.
    Attached(Rc<SharedTable>),
    Own(Rc<RefCell<Session>>, Rc<SharedTable>),
}

fn said(message: impl std::fmt::Display) -> Error {
    Error::RuntimeError(message.to_string())
}

impl GameHandle {
    pub fn attached(shared: &Rc<SharedTable>) -> GameHandle {
        GameHandle(HandlePlace::Attached(shared.clone()))
    }

    /// Starts a game of the program: `start{ rules = "...", scenario = "...", seed = 1, dice = {...}, seats = {...} }`.
    pub fn start(shared: &Rc<SharedTable>, options: Option<LuaTable>) -> Result<GameHandle> {
        let options = match options {
            Some(options) => plain_from(&Lv::Table(options))?,
            None => Value::None,
        };
        let session = start_session(&shared.library, &options).map_err(said)?;
        Ok(GameHandle(HandlePlace::Own(Rc::new(RefCell::new(session)), shared.clone())))
    }

    fn with<R>(&self, work: impl FnOnce(&mut Session) -> Result<R>) -> Result<R> {
        match &self.0 {
            HandlePlace::Attached(shared) => match shared.game.borrow_mut().as_mut() {
                Some(session) => work(session),
                None => Err(said("no game is on; begin one with start{ rules = \"...\" }")),
            },
            HandlePlace::Own(session, _) => work(&mut session.borrow_mut()),
        }
    }

    /// A ruleset of the program's library.
    fn ruleset(&self, id: &str) -> Result<Arc<Ruleset>> {
        let (HandlePlace::Attached(shared) | HandlePlace::Own(_, shared)) = &self.0;
        Ruleset::shared(&shared.library, id, &[]).map_err(said)
    }
}

/// Starts a game from a table of options.
///
/// # Errors
///
/// A sentence: an unknown option, ruleset, scenario, seat or switch.
pub(super) fn start_session(library: &Library, options: &Value) -> std::result::Result<Session, String> {
    let mut setup = Setup::default();
    let (mut id, mut layers) = (None, Vec::new());
    let empty = Default::default();
    let fields = match options {
        Value::Map(fields) => fields,
        Value::None => &empty,
        Value::List(items) if items.is_empty() => &empty,
        other => return Err(format!("start takes a table of options, not {}", other.type_name())),
    };
    for (name, value) in fields.iter() {
        match (&**name, value) {
            ("rules", Value::Text(text)) => id = Some(text.to_string()),
            ("layers", Value::List(items)) => layers = items.iter().map(Value::to_string).collect(),
            ("scenario", Value::Text(text)) => setup.scenario = Scenario::Named(text.to_string()),
            ("scenario", table @ Value::Map(_)) => setup.scenario = Scenario::Table(table.clone()),
            ("seed", Value::Int(seed)) => setup.seed = *seed as u64,
            ("dice", Value::List(faces)) => {
                let faces = faces.iter().map(|face| face.as_int().and_then(|face| u32::try_from(face).ok()));
                let faces = faces.collect::<Option<_>>().ok_or("dice takes a list of faces")?;
                setup.dice = DiceSource::Written(faces);
            }
            ("seats", Value::Map(seats)) => {
                for (seat, driver) in seats.iter() {
                    let Ok(driver) = driver.to_string().parse();
                    setup.seats.insert(seat.clone(), driver);
                }
            }
            ("switches", Value::Map(switches)) => {
                setup.switches = switches.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            }
            ("seats" | "switches", Value::List(items)) if items.is_empty() => {}
            (name, value) => {
                return Err(format!(
                    "start knows rules, layers, scenario, seed, dice, seats and switches, not `{name}` as {}",
                    value.type_name()
                ));
            }
        }
    }
    let id = match id {
        Some(id) => id,
        None => library.default_id().ok_or("there are no rulesets")?,
    };
    let rules = Ruleset::shared(library, &id, &layers).map_err(|error| error.to_string())?;
    Session::start(&rules, setup).map_err(|error| error.to_string())
}

/// Plays until a question is open, a script fails or the game is over.
fn advance(session: &mut Session) -> Result<Step> {
    let step = session.advance().map_err(said);
    renew_program();
    step
}

/// A step for a program: its name, and the outcome or fault as text.
fn step_words(step: Step) -> (&'static str, Option<String>) {
    match step {
        Step::Ask => ("ask", None),
        Step::Over(text) => ("over", Some(text)),
        Step::Fault(fault) => ("fault", Some(fault.to_string())),
    }
}

/// Converts plain data for a program; null is `nil`.
fn lua_of(lua: &Lua, data: &serde_json::Value) -> Result<Lv> {
    use serde_json::Value as Json;
    Ok(match data {
        Json::Null => Lv::Nil,
        Json::Bool(value) => Lv::Boolean(*value),
        Json::Number(number) => Lv::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Lv::String(lua.create_string(text)?),
        Json::Array(items) => {
            let items = items.iter().map(|item| lua_of(lua, item)).collect::<Result<Vec<_>>>()?;
            Lv::Table(lua.create_sequence_from(items)?)
        }
        Json::Object(fields) => {
            let table = lua.create_table()?;
            for (name, value) in fields {
                table.raw_set(name.as_str(), lua_of(lua, value)?)?;
            }
            Lv::Table(table)
        }
    })
}

/// Reads a table of answers by topic, as [`Session::reply`] takes them.
fn replies_of(table: Option<LuaTable>) -> Result<Vec<(String, Value)>> {
    let table = table.map_or(Ok(Value::None), |table| plain_from(&Lv::Table(table)))?;
    plain::replies(&table).map_err(said)
}

impl UserData for GameHandle {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        add_playing(methods);
        add_looking(methods);
        add_ruling(methods);
    }
}

/// Adds the methods that play and undo.
fn add_playing<M: UserDataMethods<GameHandle>>(methods: &mut M) {
    methods.add_method("advance", |_, game, ()| game.with(|session| advance(session).map(step_words)));
    methods.add_method("questions", |lua, game, ()| {
        game.with(|session| {
            let list = lua.create_table()?;
            for question in session.questions() {
                list.raw_push(plain_to(lua, &plain::question(session, question))?)?;
            }
            Ok(list)
        })
    });
    methods.add_method("answer", |_, game, (topic, value): (String, Lv)| {
        let value = plain_from(&value)?;
        game.with(|session| session.reply(&[(topic, value)]).map(step_words).map_err(said))
    });
    methods.add_method("reply", |_, game, answers: LuaTable| {
        let replies = replies_of(Some(answers))?;
        game.with(|session| session.reply(&replies).map(step_words).map_err(said))
    });
    methods.add_method("try", |_, game, answers: LuaTable| {
        let replies = replies_of(Some(answers))?;
        game.with(|session| match session.reply(&replies) {
            Ok(_) => Ok((true, None)),
            Err(refusal) => Ok((false, Some(refusal.to_string()))),
        })
    });
    methods.add_method("play", |_, game, (card, answers): (String, Option<LuaTable>)| {
        let mut replies = vec![("card".to_string(), Value::text(card))];
        replies.extend(replies_of(answers)?);
        game.with(|session| session.reply(&replies).map(step_words).map_err(said))
    });
    methods.add_method("get", |lua, game, (title, name, args): (String, String, mlua::Variadic<Lv>)| {
        let args: Vec<Value> = args.iter().map(plain_from).collect::<Result<_>>()?;
        game.with(|session| plain_to(lua, &plain::value_of(session, &title, &name, &args).map_err(said)?))
    });
    methods.add_method("titles", |_, game, kind: String| {
        game.with(|session| {
            let view = session.view();
            Ok(view.of_kind(&kind).map(|id| view.title(id).to_string()).collect::<Vec<_>>())
        })
    });
    methods.add_method("edit", |_, game, (title, field, value): (String, String, Lv)| {
        let value = plain_from(&value)?;
        game.with(|session| {
            let entity = session.view().find(&title).map_err(said)?;
            session.edit(Edit::Set { entity, field, value }).map_err(said)?;
            advance(session).map(step_words)
        })
    });
    methods.add_method("undo", |_, game, seat: Option<String>| {
        game.with(|session| {
            let undone =
                session.seat(seat.as_deref().unwrap_or(MASTER)).and_then(|mut seat| seat.undo()).map_err(said)?;
            advance(session).map(|_| undone.text)
        })
    });
    methods.add_method("redo", |_, game, seat: Option<String>| {
        game.with(|session| {
            let undone =
                session.seat(seat.as_deref().unwrap_or(MASTER)).and_then(|mut seat| seat.redo()).map_err(said)?;
            advance(session).map(|_| undone.text)
        })
    });
    methods.add_method("act", |_, game, (seat, name): (String, String)| {
        game.with(|session| {
            session.act(&seat, &name).map_err(said)?;
            advance(session).map(step_words)
        })
    });
    methods.add_method("seat", |_, game, (seat, driver): (String, String)| {
        let Ok(driver) = driver.parse::<Driver>();
        game.with(|session| session.set_seat(&seat, driver).map_err(said))
    });
}

/// Adds the methods that read the state and the events.
fn add_looking<M: UserDataMethods<GameHandle>>(methods: &mut M) {
    methods.add_method("events", |_, game, ()| game.with(|session| Ok(event_lines(&session.take_events()))));
    methods.add_method("log", |_, game, ()| game.with(|session| Ok(event_lines(&session.log()))));
    methods.add_method("sheet", |lua, game, title: String| {
        game.with(|session| {
            let entity = session.view().find(&title).map_err(said)?;
            let lines = session.sheet(entity).map_err(said)?;
            let rows = lines.into_iter().map(|(label, text)| Value::list([Value::text(label), Value::text(text)]));
            plain_to(lua, &Value::list(rows))
        })
    });
    methods.add_method("why", |_, game, (title, name, more): (String, String, Variadic<String>)| {
        game.with(|session| {
            let view = session.view();
            let entity = view.find(&title).map_err(said)?;
            let others = more.iter().map(|title| view.find(title).map(Value::Entity).map_err(said));
            let others = others.collect::<Result<Vec<_>>>()?;
            let why = session.why_of(entity, &name, &others).map_err(said)?;
            let terms =
                why.terms.iter().map(|term| format!("{} {} ({}:{})", term.label, term.value, term.path, term.line));
            Ok(std::iter::once(format!("{} = {}", why.title, why.value))
                .chain(terms)
                .chain(why.changes)
                .collect::<Vec<_>>())
        })
    });
    methods.add_method("odds", |lua, game, (answers, until): (Option<LuaTable>, Option<String>)| {
        let replies = replies_of(answers)?;
        let (HandlePlace::Attached(shared) | HandlePlace::Own(_, shared)) = &game.0;
        let look_ahead = shared.look_ahead.get().ok_or_else(|| said("this host computes no odds"))?;
        game.with(|session| {
            let found = look_ahead(session, replies, until.as_deref()).map_err(said);
            renew_program();
            plain_to(lua, &found?)
        })
    });
    methods.add_method("hint", |lua, game, topic: Option<String>| {
        let (HandlePlace::Attached(shared) | HandlePlace::Own(_, shared)) = &game.0;
        let advise = shared.advise.get().ok_or_else(|| said("this host gives no hints"))?;
        game.with(|session| {
            let open = session.questions();
            let found = match &topic {
                Some(topic) => open.iter().find(|question| *question.topic == **topic),
                None => open.first(),
            };
            let question = found.map(|question| question.id);
            let question = question.ok_or_else(|| match &topic {
                Some(topic) => said(format!("no question of the topic `{topic}` is open")),
                None => said("no question is open"),
            })?;
            let report = advise(session, question).map_err(said);
            renew_program();
            lua_of(lua, &report?)
        })
    });
    methods.add_method("outcome", |_, game, ()| game.with(|session| Ok(session.outcome().map(str::to_string))));
}

/// Adds the methods about rules and house rules.
fn add_ruling<M: UserDataMethods<GameHandle>>(methods: &mut M) {
    methods.add_method("switch", |lua, game, (name, value): (String, Lv)| {
        let value = plain_from(&value)?;
        game.with(|session| {
            if value != Value::None {
                session.set_switch(&name, value).map_err(said)?;
                let _ = advance(session)?;
            }
            match session.switch(&name) {
                Some(value) => plain_to(lua, value),
                None => Err(said(format!("there is no switch `{name}`"))),
            }
        })
    });
    methods.add_method("preview_rules", |lua, game, id: String| {
        let rules = game.ruleset(&id)?;
        game.with(|session| plain_to(lua, &plain::notes(&session.preview_rules(&rules).map_err(said)?)))
    });
    methods.add_method("change_rules", |lua, game, id: String| {
        let rules = game.ruleset(&id)?;
        game.with(|session| {
            let migration = session.change_rules(&rules).map_err(said)?;
            let _ = advance(session)?;
            plain_to(lua, &plain::notes(&migration))
        })
    });
    methods.add_method("keep_rules", |_, game, ()| game.with(|session| session.keep_rules().map_err(said)));
    methods.add_method("pending_rules", |_, game, ()| {
        game.with(|session| Ok(session.pending_rules().map(|rules| rules.id().to_string())))
    });
    methods.add_method("seed", |_, game, ()| game.with(|session| Ok(session.seed())));
    methods.add_method("rules", |_, game, ()| game.with(|session| Ok(session.ruleset().id().to_string())));
}
