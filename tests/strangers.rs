//! Games of hidden information: two worlds that differ only in a secret look the same to others.
//!
//! Each ruleset in `tests/strangers` has the scenarios `one` and `other`. They differ in what the seats of `secret`
//! know; all other seats, and a watcher, have to get the same bytes in both, for `steps` decisions.
//! `RISKBREAKER_STRANGERS=FOLDER cargo test --test strangers` tests other rulesets.

#![cfg(feature = "serve")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use riskbreaker::lab::{Limits, OddsQuery, SeatExt as _};
use riskbreaker::serve::{Connection, Host};
use riskbreaker::{
    Answer, Driver, EntityId, Library, Question, QuestionId, Ruleset, Session, Setup, Step, Value, Viewer,
};
use serde_json::{Value as Json, json};

/// The scenarios of the two worlds.
const WORLDS: [&str; 2] = ["one", "other"];

fn folder() -> PathBuf {
    let named = std::env::var_os("RISKBREAKER_STRANGERS").map(PathBuf::from);
    named.unwrap_or_else(|| [env!("CARGO_MANIFEST_DIR"), "tests", "strangers"].iter().collect())
}

fn library() -> Library {
    Library::open(folder()).unwrap()
}

/// A game with the parameters of the comparison from its scenarios.
struct Game {
    rules: Arc<Ruleset>,
    /// The seats that know the secret.
    secret: BTreeSet<String>,
    steps: usize,
    /// All texts of the scenarios: names that could be guessed.
    words: BTreeSet<String>,
}

fn games() -> Vec<Game> {
    let library = library();
    let game = |id: String| {
        let rules = Ruleset::load(&library, &id).unwrap_or_else(|error| panic!("{error}"));
        let mut words = BTreeSet::new();
        for world in WORLDS {
            texts(&rules.scenarios()[world], &mut words);
        }
        let Value::Map(scenario) = &rules.scenarios()["one"] else { panic!("{id}: no table") };
        let secret = match scenario.get("insiders") {
            Some(Value::List(seats)) => seats.iter().map(|seat| seat.as_text().unwrap().to_owned()).collect(),
            _ => panic!("{id}: `insiders` lists the seats that know the secret"),
        };
        let steps = scenario.get("steps").and_then(Value::as_int).unwrap_or(8) as usize;
        Game { rules, secret, steps, words }
    };
    library.ids().into_iter().map(game).collect()
}

fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Text(text) => _ = found.insert(text.to_string()),
        Value::List(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Map(items) => items.iter().for_each(|(_, item)| texts(item, found)),
        _ => {}
    }
}

impl Game {
    fn start(&self, world: &str, seed: u64) -> Session {
        let mut setup = Setup::scenario(world).seed(seed);
        for seat in self.rules.seats().keys() {
            setup = setup.seat(seat, Driver::Human);
        }
        let mut session = Session::start(&self.rules, setup).unwrap();
        go_on(&mut session);
        session
    }

    /// The viewers that may not learn the secret.
    fn viewers(&self) -> Vec<Viewer> {
        let seats = self.rules.seats().keys().filter(|seat| *seat != "gm" && !self.secret.contains(*seat));
        seats.map(|seat| Viewer::seat(seat)).chain([Viewer::watcher()]).collect()
    }
}

fn go_on(session: &mut Session) {
    if let Step::Fault(fault) = session.advance().unwrap() {
        panic!("{}: {fault}", session.ruleset().id());
    }
}

/// A deterministic random number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// All distinguishable exact answers, and a few lines for a question for text.
fn answers(question: &Question) -> Vec<Answer> {
    let lines = || ["one", "two words", "W:Line"].map(|text| Answer::Line(text.into())).to_vec();
    let mut answers = question.answers(400).unwrap_or_else(lines);
    answers.retain(|answer| question.check(answer).is_ok());
    answers
}

/// An answer that is possible in both worlds.
fn common(questions: &[Question; 2], chance: &mut Chance) -> Option<[Answer; 2]> {
    let [first, second] = questions.each_ref().map(|question| {
        let told = answers(question).into_iter().map(|answer| (question.tell(&answer), answer));
        told.collect::<BTreeMap<_, _>>()
    });
    let both: Vec<[Answer; 2]> =
        first.iter().filter_map(|(told, answer)| Some([answer.clone(), second.get(told)?.clone()])).collect();
    (!both.is_empty()).then(|| both[chance.next(both.len())].clone())
}

/// A query that follows a few paths.
fn quick() -> OddsQuery {
    OddsQuery { limits: Limits { ways: 20, samples: 20, ..Limits::default() }, ..OddsQuery::default() }
}

/// Everything that a viewer gets without changing anything.
fn looks(session: &mut Session, viewer: &Viewer, game: &Game, entities: &BTreeSet<EntityId>) -> String {
    let policies = game.rules.policies().to_vec();
    let mut seat = session.seen_by(viewer.clone());
    let mut text = seat.everything();
    for question in seat.questions() {
        let odds = seat.odds(question.id, quick()).map(|odds| (odds.lines(), odds.unseen_in_words(), odds.answers));
        text.push_str(&format!("odds of {}: {odds:?}\n", question.topic));
        for policy in &policies {
            text.push_str(&format!("{policy:?}: {:?}\n", seat.suggest(question.id, policy)));
        }
    }
    // Everything that exists in one of the worlds is requested by its number, and by its name.
    for id in entities {
        let (sheet, overview) = (seat.sheet(*id), seat.overview(*id));
        let (why, derived) = (seat.why(*id, "name"), seat.derived(*id, "worth", &[]));
        text.push_str(&format!("{id}: {sheet:?} {overview:?} {why:?} {derived:?}\n"));
    }
    for word in &game.words {
        text.push_str(&format!("{word}: {:?}\n", seat.view().find(word)));
    }
    let view = seat.view();
    let attached: Vec<_> = view.entities().map(|id| (id, view.attached(id).collect::<Vec<_>>())).collect();
    text.push_str(&format!("{:?} {attached:?}\n", view.agenda()));
    text
}

/// The results of a viewer's attempts, each on the same game.
fn attempts(session: &Session, viewer: &Viewer, game: &Game) -> Vec<String> {
    let saved = session.save();
    let again = || {
        let mut copy = Session::load_with(&library(), &game.rules, &saved).unwrap();
        go_on(&mut copy);
        copy
    };
    let mut told = Vec::new();
    let mut copy = again();
    let mut seat = copy.seen_by(viewer.clone());
    // Answers that do not fit, and answers to questions that may belong to another seat.
    for action in 0..8 {
        for ordinal in 0..4 {
            let id = QuestionId { action, ordinal };
            if seat.asked().iter().any(|question| question.id == id) {
                let wrong = seat.answer(id, Answer::Choice("no such option".into()));
                told.push(format!("{id} {wrong:?}"));
                continue;
            }
            told.push(format!("{id} {:?}", seat.answer(id, Answer::Confirm(true))));
            told.push(format!("{id} {:?}", seat.odds(id, quick()).err()));
        }
    }
    for word in &game.words {
        for question in seat.asked() {
            told.push(format!("{word} {:?}", question.read(&Value::text(word))));
        }
        let replies = [("no-topic".to_owned(), Value::text(word))];
        told.push(format!("{word} {:?}", seat.reply(&replies)));
    }
    let seats: Vec<String> = game.rules.seats().keys().map(|seat| seat.to_string()).collect();
    let acts: Vec<String> = game.rules.free_acts().iter().map(|act| act.name.to_string()).collect();
    for seat in &seats {
        for act in &acts {
            let mut copy = again();
            let done = copy.seen_by(viewer.clone()).act(seat, act);
            go_on(&mut copy);
            told.push(format!("{seat} {act} {done:?} {}", copy.seen_by(viewer.clone()).everything()));
        }
    }
    let mut copy = again();
    let undone = copy.seen_by(viewer.clone()).undo();
    told.push(format!("undo {undone:?}"));
    if undone.is_err() {
        copy.undo().ok();
    }
    told.push(copy.seen_by(viewer.clone()).everything());
    told.push(format!("redo {:?}", copy.seen_by(viewer.clone()).redo()));
    go_on(&mut copy);
    told.push(copy.seen_by(viewer.clone()).everything());
    told
}

/// Compares two texts of many fields; panics at the first difference.
fn must_be_equal(one: &str, other: &str, what: impl Fn() -> String) {
    if one != other {
        let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let part = |text: &str| {
            let (from, to) = (at.saturating_sub(160), (at + 160).min(text.len()));
            String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned()
        };
        panic!("{}:\n  {}\n  {}", what(), part(one), part(other));
    }
}

#[test]
fn viewers_without_a_secret_get_the_same_messages_in_both_worlds() {
    let seeds = if std::env::var_os("RISKBREAKER_ALL").is_some() { 4 } else { 1 };
    for game in games() {
        let id = game.rules.id();
        let mut compared = 0;
        for seed in 1..=seeds {
            let mut chance = Chance(seed);
            let mut worlds = WORLDS.map(|world| game.start(world, seed));
            for step in 0..game.steps {
                let entities: BTreeSet<EntityId> = worlds.iter().flat_map(|world| world.view().entities()).collect();
                for viewer in game.viewers() {
                    let what = || format!("{id}, seed {seed}, step {step}, {}", viewer.words());
                    let [one, other] = worlds.each_mut().map(|world| looks(world, &viewer, &game, &entities));
                    must_be_equal(&one, &other, what);
                    compared += 1;
                    if step % 4 == 3 {
                        let [one, other] = worlds.each_ref().map(|world| attempts(world, &viewer, &game));
                        must_be_equal(&one.join("\n"), &other.join("\n"), what);
                    }
                }
                let open = worlds.each_ref().map(|world| world.questions().len());
                assert_eq!(open[0], open[1], "{id}, seed {seed}, step {step}");
                if open[0] == 0 {
                    break;
                }
                let nth = chance.next(open[0]);
                let asked = worlds.each_ref().map(|world| world.questions()[nth].clone());
                let Some(both) = common(&asked, &mut chance) else { break };
                for ((world, question), answer) in worlds.iter_mut().zip(asked).zip(both) {
                    world.answer(question.id, answer).unwrap_or_else(|error| panic!("{id}: {error}"));
                    go_on(world);
                }
            }
        }
        assert!(compared >= 4, "{id}: {compared}");
    }
}

/// These rules use seats, lists of seats and entities as audiences: the check accepts them all.
#[test]
#[cfg(feature = "check")]
fn the_check_finds_nothing_in_these_rules() {
    for id in library().ids() {
        let found = riskbreaker::check::findings(&library(), &id, &[]);
        assert!(found.is_empty(), "{id}: {found:?}");
    }
}

/// A client of the protocol that records the messages to each viewer.
struct Client {
    connection: Connection,
    viewers: BTreeMap<String, Json>,
    told: BTreeMap<String, Vec<String>>,
}

impl Client {
    fn open(game: &Game, world: &str) -> Client {
        let connection = Host::new(library()).connect(true);
        let mut client = Client { connection, viewers: BTreeMap::new(), told: BTreeMap::new() };
        let seats: BTreeMap<&str, &str> = game.rules.seats().keys().map(|seat| (&**seat, "human")).collect();
        let setup = json!({ "table": "a", "ruleset": game.rules.id(), "scenario": world, "seed": 5, "seats": seats });
        client.ask("operator", "table.new", setup);
        let seats = game.rules.seats().keys().map(|seat| (seat.to_string(), json!({ "role": "seat", "seat": seat })));
        let others = [("watcher", json!({ "role": "watcher" })), ("master", json!({ "role": "game_master" }))];
        for (name, mut params) in seats.chain(others.map(|(name, params)| (name.to_owned(), params))) {
            params["table"] = "a".into();
            let answer = client.ask(&name, "hello", params);
            client.viewers.insert(name, answer["result"]["viewer"].clone());
        }
        client
    }

    /// Sends a request of a viewer and returns the answer.
    fn ask(&mut self, viewer: &str, method: &str, mut params: Json) -> Json {
        if let Some(number) = self.viewers.get(viewer) {
            params["viewer"] = number.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }).to_string();
        let mut lines = self.connection.call(&message);
        let last = lines.pop().unwrap();
        for line in lines {
            let notice: Json = serde_json::from_str(&line).unwrap();
            // Its time depends on the clock.
            if notice["method"] == "presence" {
                continue;
            }
            let to = self.viewers.iter().find(|(_, number)| **number == notice["params"]["viewer"]);
            let to = to.map_or("nobody", |(name, _)| name).to_owned();
            self.told.entry(to).or_default().push(line);
        }
        self.told.entry(viewer.to_owned()).or_default().push(last.clone());
        serde_json::from_str(&last).unwrap()
    }

    /// Sends all requests of a viewer that do not change the game.
    fn look(&mut self, viewer: &str, game: &Game, entities: &BTreeSet<EntityId>, odds: bool) {
        let view = self.ask(viewer, "view", json!({ "since": 0 }))["result"].clone();
        self.ask(viewer, "acts", json!({}));
        for question in view["questions"].as_array().into_iter().flatten() {
            let question = &question["id"];
            self.ask(viewer, "answers", json!({ "question": question }));
            if odds {
                self.ask(viewer, "odds", json!({ "question": question }));
            }
            for policy in game.rules.policies() {
                self.ask(viewer, "suggest", json!({ "question": question, "policy": policy.to_string() }));
            }
        }
        for id in entities {
            self.ask(viewer, "sheet", json!({ "entity": id.0 }));
            for name in ["purse", "role", "kept", "name", "worth"] {
                self.ask(viewer, "why", json!({ "entity": id.0, "name": name }));
            }
        }
        self.ask(viewer, "answer", json!({ "question": { "action": 1, "ordinal": 1 }, "value": true }));
        for word in &game.words {
            self.ask(viewer, "reply", json!({ "pairs": [["no-topic", word]] }));
        }
        let seq = view["seq"].clone();
        self.ask(viewer, "undo", json!({ "expect": seq }));
        self.ask(viewer, "redo", json!({}));
    }
}

#[test]
fn the_protocol_sends_the_same_bytes_in_both_worlds() {
    for game in games() {
        let id = game.rules.id();
        let mut chance = Chance(9);
        let mut clients = WORLDS.map(|world| Client::open(&game, world));
        let names: Vec<String> = game
            .viewers()
            .iter()
            .map(|viewer| viewer.names().next().map_or("watcher", |name| &**name).to_string())
            .collect();
        for step in 0..game.steps {
            let mut entities = BTreeSet::new();
            for client in &mut clients {
                let view = client.ask("master", "view", json!({}));
                let found = view["result"]["entities"].as_array().unwrap().iter();
                entities.extend(found.map(|entity| EntityId(entity["id"].as_u64().unwrap() as u32)));
            }
            for client in &mut clients {
                for name in names.iter().filter(|_| step % 3 == 2) {
                    // Odds take long: once a game.
                    client.look(name, &game, &entities, step == 2);
                }
            }
            for name in &names {
                let [one, other] =
                    clients.each_mut().map(|client| client.told.remove(name).unwrap_or_default().join("\n"));
                must_be_equal(&one, &other, || format!("{id}, step {step}, {name}"));
            }
            let views = clients.each_mut().map(|client| client.ask("master", "view", json!({}))["result"].clone());
            let open = views.each_ref().map(|view| view["questions"].as_array().map_or(0, Vec::len));
            if open[0] == 0 || step % 3 == 2 && open[0] != open[1] {
                break;
            }
            let nth = chance.next(open[0]);
            let both = clients.each_mut().map(|client| {
                let view = client.ask("master", "view", json!({}))["result"].clone();
                let question = view["questions"][nth].clone();
                let answers = client.ask("master", "answers", json!({ "question": question["id"], "most": 400 }));
                let mut answers = answers["result"]["answers"].as_array().cloned().unwrap_or_default();
                if answers.is_empty() {
                    answers.push("a letter".into());
                }
                (question["id"].clone(), answers)
            });
            let common: Vec<Json> = both[0].1.iter().filter(|answer| both[1].1.contains(answer)).cloned().collect();
            if common.is_empty() {
                break;
            }
            let value = common[chance.next(common.len())].clone();
            for (client, (question, _)) in clients.iter_mut().zip(&both) {
                let answer = client.ask("master", "answer", json!({ "question": question, "value": value }));
                let kind = &answer["error"]["data"]["kind"];
                assert!(kind.is_null() || kind == "refused", "{id}: {answer}");
            }
        }
    }
}
