//! The protocol: transcripts, clients that connect and leave, malformed messages, and the clients in other languages.

#![cfg(feature = "serve")]

#[allow(dead_code)] // other tests use the rest of it
#[path = "store/failing_disk.rs"]
mod failing_disk;
#[path = "serve/keys.rs"]
mod keys;
#[path = "serve/profiles.rs"]
mod profiles;
mod together;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use riskbreaker::serve::{Connection, Host, METHODS, Received, schema};
use riskbreaker::store::Store;
use riskbreaker::{Library, Viewer};
use serde_json::{Value as Json, json};

const RULESETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rulesets");

fn host() -> Host {
    Host::new(Library::open(RULESETS).unwrap())
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Sends a request, runs it, and returns its answer and all other messages.
fn ask(connection: &Connection, method: &str, params: Json) -> (Json, Vec<Json>) {
    let message = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }).to_string();
    let mut told: Vec<Json> =
        connection.call(&message).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = told.pop().unwrap_or_else(|| panic!("{method} is not answered"));
    assert_eq!(answer["id"], "x", "{answer}");
    (answer, told)
}

fn done(connection: &Connection, method: &str, params: Json) -> (Json, Vec<Json>) {
    let (answer, told) = ask(connection, method, params);
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    (answer["result"].clone(), told)
}

fn refused(connection: &Connection, method: &str, params: Json) -> Json {
    let (answer, told) = ask(connection, method, params);
    assert!(told.is_empty(), "{method}: {told:?}");
    let error = &answer["error"]["data"];
    assert!(error["kind"].is_string(), "{method}: {answer}");
    if error["kind"] == "refused" { error["refusal"].clone() } else { error.clone() }
}

/// The knowledge of a client that never asks again.
#[derive(Clone)]
struct Mirror {
    viewer: Json,
    view: Json,
    /// The step that told each line, by the revision of the line.
    told: BTreeMap<u64, u64>,
}

impl Mirror {
    fn hello(connection: &Connection, params: Json) -> Mirror {
        let (welcome, _) = done(connection, "hello", params);
        Mirror { viewer: welcome["viewer"].clone(), view: welcome["view"].clone(), told: BTreeMap::new() }
    }

    fn take(&mut self, told: &[Json]) {
        let viewer = self.viewer.clone();
        for notice in told.iter().filter(|notice| notice["params"]["viewer"] == viewer) {
            let step = &notice["params"];
            match notice["method"].as_str() {
                Some("presence") => self.view["presence"] = step["presence"].clone(),
                Some("step") => self.step(step),
                other => panic!("{other:?}"),
            }
        }
    }

    fn step(&mut self, step: &Json) {
        assert_eq!(step["seq"].as_u64(), self.view["seq"].as_u64().map(|seq| seq + 1), "no hole in the numbers");
        let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
        let mut entities: BTreeMap<u64, Json> =
            list(&self.view["entities"]).into_iter().map(|entity| (entity["id"].as_u64().unwrap(), entity)).collect();
        for entity in list(&step["changed"]) {
            let id = entity["id"].as_u64().unwrap();
            if entity["gone"] == true {
                entities.remove(&id)
            } else {
                entities.insert(id, entity)
            };
        }
        self.view["entities"] = entities.into_values().collect();
        let mut log = list(&self.view["log"]);
        for line in list(&step["events"]) {
            self.view["revision"] = line["revision"].clone();
            self.told.insert(line["revision"].as_u64().unwrap(), step["seq"].as_u64().unwrap());
            if line["event"] == "back" {
                log.retain(|known| known["revision"].as_u64() <= line["to"].as_u64());
            } else {
                log.push(line);
            }
        }
        self.view["log"] = log.into();
        for name in ["seq", "state", "questions", "waiting", "undo", "order", "settings"] {
            if let Some(now) = step.get(name) {
                self.view[name] = now.clone();
            }
        }
    }

    fn assert_fresh(&self, connection: &Connection) {
        let (fresh, told) = done(connection, "view", json!({ "viewer": self.viewer }));
        assert!(told.is_empty(), "{told:?}");
        for name in
            ["seq", "revision", "state", "settings", "entities", "questions", "waiting", "undo", "order", "presence"]
        {
            assert_eq!(self.view[name], fresh[name], "{name}");
        }
        let steps = fresh["steps"].as_array().cloned().unwrap_or_default();
        // A client may have fewer lines if old ones were not in its first view, or more than a view shows.
        let (own, fresh) = (self.view["log"].as_array().unwrap(), fresh["log"].as_array().unwrap());
        let count = own.len().min(fresh.len());
        assert_eq!(own[own.len() - count..], fresh[fresh.len() - count..]);
        let step_of = |line: &Json| {
            let revision = line["revision"].as_u64().unwrap();
            let has = |step: &&Json| (step["first"].as_u64()..=step["last"].as_u64()).contains(&Some(revision));
            (revision, steps.iter().find(has).and_then(|step| step["seq"].as_u64()))
        };
        for (revision, step) in fresh[fresh.len() - count..].iter().map(step_of) {
            assert_eq!(step, self.told.get(&revision).copied(), "the step of line {revision}: {steps:?}");
        }
    }
}

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

/// A value that a schema of the protocol accepts.
fn sample(schema: &Json, definitions: &Json) -> Json {
    let of = |part: &Json| sample(part, definitions);
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return of(&definitions[name]);
    }
    if let Some(options) = schema["oneOf"].as_array() {
        return of(&options[0]);
    }
    if let Some(one) = schema.get("const").or(schema["enum"].get(0)) {
        return one.clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(true),
        Some("string") => json!("x"),
        Some("array") => json!([]),
        Some("object") => {
            let names = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
            names.map(|name| (name.to_owned(), of(&schema["properties"][name]))).collect()
        }
        _ => json!(1),
    }
}

/// Values that a schema of the protocol refuses.
fn unfit(schema: &Json) -> Vec<Json> {
    let types = schema["type"].to_string();
    match schema["$ref"].as_str().or(schema["anyOf"][0]["$ref"].as_str()) {
        Some("#/$defs/Value") => vec![json!(1.5), json!({ "entity": "x" })],
        Some(_) => vec![json!(true), json!(1.5), json!({ "x": 1 })],
        None if types == "null" => vec![],
        None if types.contains("boolean") => vec![json!("x"), json!([])],
        None if types.contains("array") => vec![json!(true), json!([1.5]), json!([["x"]])],
        None if types.contains("object") => vec![json!(true), json!({ "x": 1.5 })],
        None => vec![json!(true), json!(1.5), json!([1])],
    }
}

#[test]
fn ids_come_back_as_sent_and_notifications_are_never_answered() {
    let host = host();
    let operator = host.connect(true);
    for id in ["-0", "0", "1e2", "-2.50", "18446744073709551615", r#""a\u0041\n""#, "null"] {
        let told = operator.call(&format!(r#"{{"jsonrpc":"2.0","method":"ping","id" : {id}}}"#));
        assert_eq!(told, [format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{{}}}}"#)]);
    }
    // The examples of the JSON-RPC specification, and similar ones.
    for notification in [
        r#"{"jsonrpc":"2.0","method":"update","params":[1,2,3,4,5]}"#,
        r#"{"jsonrpc":"2.0","method":"foobar"}"#,
        r#"{"jsonrpc":"2.0","method":"ping","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"ping","params":{"viewer":-1}}"#,
        r#"{"jsonrpc":"2.0","method":"pause","params":{"table":"nowhere","paused":3}}"#,
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
    ] {
        assert!(operator.call(notification).is_empty(), "{notification}");
    }
    let code = |message: &str| {
        let told = operator.call(message);
        let [answer] = told.as_slice() else { panic!("{message}: {told:?}") };
        let answer: Json = serde_json::from_str(answer).unwrap();
        (answer["error"]["code"].as_i64().unwrap_or_default(), answer["id"].clone())
    };
    for params in ["[1,2]", "3", "\"x\"", r#"{"viewer":-1}"#, r#"{"x":{}}"#] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"foobar","params":{params}}}"#);
        assert_eq!(code(&message), (-32601, json!(7)), "{message}");
    }
    for (message, id) in [
        (r#"{"jsonrpc":"2.0","id":3,"id":4,"method":"ping"}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"shutdown"}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"goto","params":{"table":"a","entry":1,"entry":2}}"#, json!(3)),
        (r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, Json::Null),
        ("[]", Json::Null),
    ] {
        assert_eq!(code(message), (-32600, id), "{message}");
    }
}

#[test]
fn many_watchers_are_a_count_and_cost_few_notices() {
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 1 }));
    let master = host.connect(true);
    done(&master, "hello", json!({ "table": "a", "role": "game_master" }));
    master.outbox().take();
    let watchers: Vec<_> = (0..60).map(|_| host.connect(true)).collect();
    for watcher in &watchers {
        done(watcher, "hello", json!({ "table": "a", "role": "watcher" }));
    }
    let notices: Vec<Json> = master.outbox().take().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(watchers.iter().all(|watcher| watcher.outbox().take().is_empty()));
    // The last state comes when its second is over.
    let last = master.outbox().wait().unwrap();
    let last: Json = serde_json::from_str(&last[0]).unwrap();
    let counted = json!([{ "role": "game_master", "viewers": 1 }, { "role": "watcher", "viewers": 60 }]);
    assert_eq!(last["params"]["presence"], counted);
}

#[test]
fn pushed_faces_can_be_removed() {
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "dicey", "seed": 5 }));
    let refused = refused(&operator, "dice", json!({ "table": "a", "faces": [0] }));
    assert!(refused.to_string().contains("there is no face 0"), "{refused}");
    done(&operator, "dice", json!({ "table": "a", "faces": [1_000_000] }));
    done(&operator, "dice", json!({ "table": "a", "faces": [] }));
    let (view, _) = done(&operator, "view", json!({ "table": "a" }));
    let question = view["questions"][0].clone();
    let (answers, _) = done(&operator, "answers", json!({ "table": "a", "question": question["id"] }));
    let value = &answers["answers"][0];
    done(&operator, "answer", json!({ "table": "a", "question": question["id"], "value": value }));
    let (view, _) = done(&operator, "view", json!({ "table": "a" }));
    assert_ne!(view["state"]["is"], "fault", "{view}");
}

#[test]
fn parameters_that_do_not_fit_are_refused_in_words_of_the_protocol() {
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 1 }));
    let refusal = |method: &str, params: &Json| {
        let mut params = params.clone();
        params["table"] = json!("a");
        let refused = refused(&operator, method, params);
        assert_eq!(refused["kind"], "bad_params", "{method}: {refused}");
        refused["message"].as_str().unwrap().to_owned()
    };
    let examples = [
        ("pause", json!({ "paused": "yes" }), "`paused` takes true or false, not \"yes\""),
        ("goto", json!({}), "`entry` is missing: it is a whole number from 0 to 4294967295"),
        ("goto", json!({ "entry": -1 }), "`entry` takes a whole number from 0 to 4294967295, not -1"),
        ("undo", json!({ "expect": "now" }), "`expect` takes a whole number from 0, not \"now\""),
        (
            "answer",
            json!({ "question": 3, "value": 1 }),
            "`question` takes an object with `action`, `generation`, `ordinal`, not 3",
        ),
        (
            "answer",
            json!({ "question": { "action": 1 }, "value": 1 }),
            "`question.ordinal` is missing: it is a whole number from 0 to 4294967295",
        ),
        ("table.new", json!({ "position": 3 }), "`position` takes an object, not 3"),
        (
            "table.new",
            json!({ "seed": 9_007_199_254_740_992_u64 }),
            "`seed` takes a whole number from 0 to 9007199254740991, not 9007199254740992",
        ),
        (
            "edit",
            json!({ "edit": { "say": { "text": "x" }, "cancel": { "entry": 1 } } }),
            "`edit` takes an object with one of `set`, `remove`, `cancel`, `face`, `leave_out`, `take_in`, `switch`, `say`, \
             `other_dice`, not {\"cancel\":{\"entry\":1},\"say\":{\"text\":\"x\"} ...",
        ),
        (
            "answer",
            json!({ "question": { "action": 1, "ordinal": 0 }, "value": 1e19 }),
            "`value`: 1e+19 is too large; whole numbers go to 9007199254740991",
        ),
        (
            "seat",
            json!({ "seat": "left", "driver": "policy" }),
            "`driver` takes \"human\" or \"absent\" or an object with `policy`, not \"policy\"",
        ),
        ("reply", json!({ "pairs": [["a"]] }), "`pairs[0]` takes a list of a text and a value, not [\"a\"]"),
        ("reply", json!({ "pairs": [["a", 1], [2, 1]] }), "`pairs[1][0]` takes a text, not 2"),
        ("remedy", json!({ "remedy": "x" }), "`remedy` takes \"retry\" or \"skip_action\", not \"x\""),
        (
            "edit",
            json!({ "edit": { "remove": { "entity": "Bo" } } }),
            "`edit.remove.entity` takes a whole number from 0 to 4294967295, not \"Bo\"",
        ),
        (
            "switch",
            json!({ "name": "x", "value": [1.5] }),
            "`value`: 1.5 is not a whole number; a fraction is written as {\"ratio\": \"1/2\"}",
        ),
        ("view", json!({ "sicne": 3 }), "there is no parameter `sicne`; did you mean `since`?"),
        ("answer", json!({ "qestion": 3, "value": 1 }), "there is no parameter `qestion`; did you mean `question`?"),
        ("ping", json!({ "x": 1 }), "there is no parameter `x`; known: viewer, table, key"),
        ("pause", json!({ "viewr": 1, "paused": true }), "there is no parameter `viewr`; did you mean `viewer`?"),
        ("pause", json!({ "viewer": -1 }), "`viewer` takes a whole number from 0 to 4294967295, not -1"),
        (
            "dice",
            json!({ "faces": 6 }),
            "`faces` takes a list, each of which is a whole number from 0 to 4294967295, not 6",
        ),
    ];
    for (method, params, told) in examples {
        assert_eq!(refusal(method, &params), told, "{method}");
    }
    let told = operator.call(r#"{"jsonrpc":"2.0","id":1,"method":"table.new","prams":{"table":"b"}}"#);
    assert!(told[0].contains("a request has no `prams`; did you mean `params`?"), "{told:?}");
    let of_rust =
        ["u8", "u32", "u64", "i64", "usize", "f64", "expected", "invalid", "struct", "enum", "variant", "tuple"];
    let (schema, mut tried) = (schema(), 0);
    for method in METHODS.iter().map(|method| method.name) {
        let own = schema["methods"][method]["params"]["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
        let own = &schema["$defs"][own];
        let whole = sample(own, &schema["$defs"]);
        let check = |name: &str, params: Json| {
            let told = refusal(method, &params);
            assert!(told.contains(&format!("`{name}")), "{method} {params}: {told}");
            let rust = of_rust.iter().find(|word| told.contains(*word));
            assert!(rust.is_none() && !told.contains("`schema` says"), "{method} {params}: {told}");
        };
        let mut misspelt = whole.clone();
        misspelt["seeed"] = json!(1);
        check("seeed", misspelt);
        for (name, form) in own["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != "table") {
            for wrong in unfit(form) {
                let mut params = whole.clone();
                params[name] = wrong;
                check(name, params);
                tried += 1;
            }
            let mut params = whole.clone();
            if params.as_object_mut().unwrap().remove(name).is_some() {
                check(name, params);
            }
        }
    }
    assert!(tried > 100, "only {tried} were tried");
}

#[test]
fn clients_that_reconnect_and_repeat_requests_have_the_newest_view() {
    for seed in 1..=6 {
        let host = host();
        let (operator, other) = (host.connect(true), host.connect(false));
        done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": seed }));
        let token = |role: &str, seat: Json| {
            let params = json!({ "table": "a", "role": role, "seat": seat });
            done(&operator, "invite", params).0["token"].as_str().unwrap().to_owned()
        };
        let tokens = [
            token("seat", json!("left")),
            token("seat", json!("right")),
            token("watcher", Json::Null),
            token("game_master", Json::Null),
        ];
        let mut mirrors: Vec<Mirror> = Vec::new();
        for token in &tokens {
            mirrors.push(Mirror::hello(&other, json!({ "token": token })));
        }
        let mut presence = Vec::new();
        for message in other.call(r#"{"jsonrpc":"2.0","method":"ping"}"#) {
            presence.push(serde_json::from_str(&message).unwrap());
        }
        mirrors.iter_mut().for_each(|mirror| mirror.take(&presence));
        // Presence notices went only to those who were connected at the time; a new view is complete.
        for mirror in &mut mirrors {
            mirror.view["presence"] = done(&other, "view", json!({ "viewer": mirror.viewer })).0["presence"].clone();
        }
        let mut dice = Dice(seed * 7919);
        let mut sent: Vec<(&str, Json)> = Vec::new();
        let mut seqs = vec![1];
        for turn in 0..60 {
            let who = dice.below(4);
            let mirror = &mirrors[who];
            let (viewer, view) = (mirror.viewer.clone(), &mirror.view);
            let request = match dice.below(10) {
                0 if !sent.is_empty() => dice.pick(&sent).clone(),
                1 => ("undo", json!({ "viewer": viewer, "expect": view["seq"], "key": format!("u{turn}") })),
                2 => ("redo", json!({ "viewer": viewer, "expect": view["seq"] })),
                3 => ("edit", json!({ "viewer": viewer, "edit": { "say": { "text": format!("turn {turn}") } } })),
                4 => ("undo", json!({ "viewer": viewer, "expect": view["seq"], "to": dice.pick(&seqs) })),
                _ => {
                    let questions = view["questions"].as_array().unwrap();
                    let key = format!("a{turn}");
                    match questions.first() {
                        // It is over: the game master undoes something.
                        None => ("undo", json!({ "viewer": mirrors[3].viewer, "expect": view["seq"], "key": key })),
                        Some(question) => {
                            let options = question["ask"]["options"].as_array().cloned().unwrap_or_default();
                            let ids = options.iter().map(|option| option["id"].clone());
                            let value = dice.pick(&ids.chain([json!(1), json!(2)]).collect::<Vec<_>>()).clone();
                            (
                                "answer",
                                json!({ "viewer": viewer, "question": question["id"], "value": value, "key": key }),
                            )
                        }
                    }
                }
            };
            sent.push(request.clone());
            let (answer, told) = ask(&other, request.0, request.1);
            assert_ne!(answer["error"]["data"]["kind"], "internal", "{answer}");
            mirrors.iter_mut().for_each(|mirror| mirror.take(&told));
            if let Some(step) = told.first() {
                let seq = step["params"]["seq"].as_u64().unwrap();
                assert!(seqs.iter().all(|earlier| *earlier < seq), "a number never comes again");
                seqs.push(seq);
            }
            for mirror in &mirrors {
                mirror.assert_fresh(&other);
            }
            if dice.below(8) == 0 {
                // One disconnects, and continues where it was.
                let known = mirrors[who].clone();
                done(&other, "bye", json!({ "viewer": known.viewer }));
                let since = known.view["revision"].clone();
                let welcome =
                    done(&other, "hello", json!({ "token": tokens[who], "since": since, "seq": known.view["seq"] })).0;
                assert_eq!(welcome["view"]["log"], json!([]), "nothing happened meanwhile");
                assert_eq!(welcome["view"]["after"], since);
                let unknown = done(&other, "view", json!({ "viewer": welcome["viewer"], "since": 99_999 })).0;
                assert!(unknown.get("after").is_none());
                mirrors[who] = Mirror { viewer: welcome["viewer"].clone(), ..known };
                for name in ["seq", "state", "settings", "entities", "questions", "waiting", "undo"] {
                    mirrors[who].view[name] = welcome["view"][name].clone();
                }
                for mirror in &mut mirrors {
                    mirror.view["presence"] =
                        done(&other, "view", json!({ "viewer": mirror.viewer })).0["presence"].clone();
                }
            }
        }
        assert!(seqs.len() > 5, "{seqs:?}");
    }
}

/// A bold pawn has 4 points with a chance of 2/5; the others play safe by default.
#[test]
fn odds_of_a_seat_answer_no_question_of_another() {
    for (is_about, seats) in [(true, 2), (false, 2), (true, 3), (false, 3)] {
        let host = Host::new(together::library(together::ALL, is_about, seats));
        let connection = host.connect(true);
        done(&connection, "table.new", json!({ "table": "a", "ruleset": "together", "seed": 3 }));
        let (welcome, _) = done(&connection, "hello", json!({ "table": "a", "role": "seat", "seat": "south" }));
        let questions = welcome["view"]["questions"].as_array().unwrap();
        let own = questions.iter().find(|question| question["yours"] == true).unwrap();
        let given = json!([["card", "bold"], ["push", true]]);
        let params = json!({ "viewer": welcome["viewer"], "question": own["id"], "given": given });
        let (odds, _) = done(&connection, "odds", params);
        let chances: Vec<&Json> =
            odds["outcomes"].as_array().unwrap().iter().map(|outcome| &outcome["chance"]["fraction"]).collect();
        assert_eq!(chances, ["3/5", "2/5"], "{is_about} {seats}: {odds}");
        assert_eq!(odds["exact"], true);
        for one in odds["answers"].as_array().unwrap() {
            let expected = match (one["topic"].as_str().unwrap(), one["source"].as_str().unwrap()) {
                ("push", "given") => "yes",
                ("card", "default") => "safe",
                ("push", "default") => "no",
                _ => panic!("{one}"),
            };
            assert_eq!(one["answer"], expected, "{one}");
        }
        // The same ranking twice, with any number of threads; no data of a seat contain the seed of the game.
        let params = json!({ "viewer": welcome["viewer"], "question": own["id"], "games": 200 });
        let (hint, _) = done(&connection, "hint", params.clone());
        assert_eq!(hint["answers"].as_array().map(Vec::len), Some(2), "{hint}");
        let (again, _) = done(&connection, "hint", params);
        if hint["out_of_time"] == false && again["out_of_time"] == false {
            assert_eq!(again, hint);
        }
    }
}

#[test]
fn a_repeated_key_gets_the_first_result_and_another_request_with_it_is_refused() {
    let host = host();
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let answer = json!({ "table": "a", "question": { "action": 2, "ordinal": 0 }, "value": "pull", "key": "k" });
    let (first, _) = done(&connection, "answer", answer.clone());
    let (again, told) = done(&connection, "answer", answer);
    assert_eq!((first, told.len()), (again, 0));
    let other = json!({ "table": "a", "edit": { "say": { "text": "no" } }, "key": "k" });
    assert_eq!(refused(&connection, "edit", other)["kind"], "key_reused");
}

/// A client that keeps only the last step knows the open questions: after an undo, a reroll, an edit, and if the
/// question is the same as before.
#[test]
fn every_step_has_the_open_questions() {
    let host = host();
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let (welcome, _) = done(&connection, "hello", json!({ "table": "a", "role": "seat", "seat": "left" }));
    let asked = |told: &[Json]| {
        let step = told.iter().rfind(|told| told["method"] == "step").expect("a step is told");
        step["params"]["questions"][0].clone()
    };
    let first = welcome["view"]["questions"][0].clone();
    let answer = json!({ "viewer": welcome["viewer"], "question": first["id"], "value": "pull" });
    let (_, told) = done(&connection, "answer", answer.clone());
    assert_eq!(asked(&told)["topic"], "risk");
    for (method, params) in [
        ("edit", json!({ "table": "a", "edit": { "say": { "text": "a line" } } })),
        ("edit", json!({ "table": "a", "edit": { "other_dice": { "words": 64 } } })),
        ("edit", json!({ "table": "a", "edit": { "other_dice": { "words": 64 } } })),
        ("seat", json!({ "table": "a", "seat": "right", "driver": "absent" })),
        ("pause", json!({ "table": "a", "paused": false })),
    ] {
        let (_, told) = done(&connection, method, params);
        assert_eq!(asked(&told)["topic"], "risk", "{method}");
    }
    let seq = done(&connection, "view", json!({ "viewer": welcome["viewer"] })).0["seq"].clone();
    let (_, told) = done(&connection, "undo", json!({ "table": "a", "expect": seq, "to": 1 }));
    let again = asked(&told);
    assert_eq!((&again["topic"], &again["ask"]), (&first["topic"], &first["ask"]));
    // It is asked anew, and an answer to the previous question is late.
    assert_eq!(refused(&connection, "answer", answer)["questions"][0], again);
    let value = json!({ "viewer": welcome["viewer"], "question": again["id"], "value": "rest" });
    done(&connection, "answer", value);
}

#[test]
fn a_request_that_was_refused_as_busy_is_not_under_way() {
    let operator = host().connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let params = json!({ "table": "a", "question": { "action": 1, "ordinal": 0 } });
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "odds", "params": params }).to_string();
    let Received::Job(job) = operator.receive(&message) else { panic!("odds are no job") };
    job.refuse_busy(64);
    assert!(operator.outbox().take()[0].contains("\"busy\""));
    assert_eq!(done(&operator, "cancel", json!({ "id": 7 })).0, json!({ "cancelled": false }));
}

#[test]
fn a_client_that_goes_before_its_hello_is_carried_out_is_no_viewer() {
    let host = host();
    let (operator, other) = (host.connect(true), host.connect(false));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let token = done(&operator, "invite", json!({ "table": "a", "role": "watcher" })).0["token"].clone();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "hello", "params": { "token": token } }).to_string();
    let Received::Job(job) = other.receive(&hello) else { panic!("a viewer is opened by a job") };
    other.close();
    job.run();
    assert_eq!(done(&operator, "view", json!({ "table": "a" })).0["presence"], json!([]));
}

#[test]
fn roles_come_from_the_connection() {
    let host = host();
    let (operator, other) = (host.connect(true), host.connect(false));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    for (method, params) in [
        ("view", json!({ "table": "a" })),
        ("table.list", json!({})),
        ("hello", json!({ "table": "a", "role": "game_master" })),
        ("hello", json!({ "token": "no such token" })),
        ("view", json!({ "table": "a", "viewer": 0 })),
    ] {
        let kind = refused(&other, method, params)["kind"].clone();
        assert!(kind == "unknown_viewer" || kind == "unknown_token", "{method}: {kind}");
    }
    let token = done(&operator, "invite", json!({ "table": "a", "role": "watcher" })).0["token"].clone();
    done(&other, "hello", json!({ "token": token, "role": "game_master" }));
    for (method, params) in [
        ("answer", json!({ "question": { "action": 2, "ordinal": 0 }, "value": "pull", "as": "left" })),
        ("edit", json!({ "edit": { "say": { "text": "no" } } })),
        ("table.save", json!({})),
        ("table.close", json!({})),
        ("shutdown", json!({})),
        ("invite", json!({ "role": "game_master" })),
    ] {
        assert_eq!(refused(&other, method, params)["kind"], "forbidden", "{method}");
    }
    let (_, told) = done(&operator, "revoke", json!({ "table": "a", "token": token }));
    assert!(told.is_empty());
    assert_eq!(refused(other_after(&other), "view", json!({}))["kind"], "unknown_viewer");
}

/// The connection, once its viewers have been sent away.
fn other_after(connection: &Connection) -> &Connection {
    let told = connection.outbox().take();
    assert!(told.iter().any(|line| line.contains(r#""method":"bye""#)), "{told:?}");
    connection
}

/// Requests sent before an invitation was revoked, and run after that.
#[test]
fn requests_queued_before_a_revocation_are_refused() {
    let host = host();
    let (operator, other) = (host.connect(true), host.connect(false));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let token = done(&operator, "invite", json!({ "table": "a", "role": "seat", "seat": "left" })).0["token"].clone();
    let viewer = done(&other, "hello", json!({ "token": token })).0["viewer"].clone();
    let job = |connection: &Connection, method: &str, params: Json| {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
        match connection.receive(&message) {
            Received::Job(job) => job,
            _ => panic!("{method} is no job"),
        }
    };
    let jobs = [
        job(&operator, "revoke", json!({ "table": "a", "token": token })),
        job(&other, "answer", json!({ "viewer": viewer, "question": { "action": 1, "ordinal": 0 }, "value": "pull" })),
        job(&other, "hello", json!({ "token": token })),
    ];
    for job in jobs {
        job.run();
    }
    let told: Vec<Json> = other.outbox().take().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answers = told.iter().filter(|message| message.get("id").is_some());
    let kinds: Vec<&Json> = answers.map(|answer| &answer["error"]["data"]["kind"]).collect();
    assert_eq!(kinds, ["unknown_viewer", "unknown_token"], "{told:?}");
}

#[test]
fn secrets_of_the_game_master_are_in_no_message_to_others() {
    const MARK: &str = "CANARY-4711";
    let host = host();
    let (operator, other) = (host.connect(true), host.connect(false));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "dicey", "seed": 5 }));
    let mut viewers = Vec::new();
    for (role, seat) in [("seat", json!("player")), ("watcher", Json::Null)] {
        let token = done(&operator, "invite", json!({ "table": "a", "role": role, "seat": seat })).0["token"].clone();
        viewers.push(done(&other, "hello", json!({ "token": token })).0["viewer"].clone());
    }
    let (view, _) = done(&operator, "view", json!({ "table": "a" }));
    let pot = view["entities"].as_array().unwrap().iter().find(|entity| entity["kind"] == "pot").unwrap()["id"].clone();
    let edit = json!({ "set": { "entity": pot, "field": "plan", "value": MARK } });
    done(&operator, "edit", json!({ "table": "a", "edit": edit }));
    let (master, _) = done(&operator, "view", json!({ "table": "a" }));
    assert!(master.to_string().contains(MARK), "the game master sees it");
    let question = master["questions"][0]["id"].clone();
    let mut told = Vec::new();
    for viewer in &viewers {
        let requests = [
            ("view", json!({ "since": 0 })),
            ("sheet", json!({ "entity": pot })),
            ("why", json!({ "entity": pot, "name": "plan" })),
            ("answers", json!({ "question": question })),
            ("suggest", json!({ "question": question, "policy": "bold" })),
            ("odds", json!({ "question": question })),
            ("hint", json!({ "question": question, "games": 1 })),
            ("card", json!({ "card": "coin" })),
            ("acts", json!({})),
            ("act", json!({ "name": "coin" })),
            ("undo", json!({ "expect": 2 })),
            ("redo", json!({ "expect": 2 })),
            ("edit", json!({ "edit": { "set": { "entity": pot, "field": "plan", "value": "x" } } })),
            ("entries", json!({})),
            ("goto", json!({ "entry": 1 })),
            ("rules.preview", json!({ "ruleset": "dicey" })),
            ("reply", json!({ "pairs": [["card", "coin"]] })),
            ("answer", json!({ "question": question, "value": "coin" })),
        ];
        for (method, mut params) in requests {
            params["viewer"] = viewer.clone();
            let answer = ask(&other, method, params).0;
            assert_ne!(answer["error"]["code"], -32602, "{method}: {answer}");
            told.push(answer.to_string());
        }
    }
    told.extend(other.outbox().take());
    for line in &told {
        // A seat may not see an edit of a hidden value, since the log line contains the value.
        assert!(!line.contains(MARK), "{line}");
    }
}

/// A table with a connection for each seat and one for a watcher.
struct World {
    /// Keeps the table; its outbox is not read.
    _host: Host,
    operator: Connection,
    others: Vec<(String, Connection)>,
}

impl World {
    fn begin(game: &str, seats: &[&str]) -> World {
        let host = host();
        let operator = host.connect(true);
        let human: BTreeMap<&str, &str> = seats.iter().chain(&["gm"]).map(|seat| (*seat, "human")).collect();
        done(&operator, "table.new", json!({ "table": "a", "ruleset": game, "seed": 5, "seats": human }));
        let join = |seat: &str| {
            let connection = host.connect(false);
            let role =
                if seat.is_empty() { json!({ "role": "watcher" }) } else { json!({ "role": "seat", "seat": seat }) };
            let mut params = role;
            params["table"] = "a".into();
            let token = done(&operator, "invite", params).0["token"].clone();
            done(&connection, "hello", json!({ "token": token }));
            (seat.to_owned(), connection)
        };
        let others = seats.iter().chain(&[""]).map(|seat| join(seat)).collect();
        World { _host: host, operator, others }
    }

    fn view(&self) -> Json {
        done(&self.operator, "view", json!({ "table": "a" })).0
    }

    /// Everything that a viewer was sent and can request, as one text.
    fn gets(&self, viewer: usize, names: &[&str]) -> String {
        let connection = &self.others[viewer].1;
        let mut all = connection.outbox().take();
        let mut note = |method: &str, params: Json| {
            let (answer, told) = ask(connection, method, params);
            all.push(format!("{method} {answer} {told:?}"));
            answer["result"].clone()
        };
        let view = note("view", json!({}));
        for entity in 1..=8 {
            note("sheet", json!({ "entity": entity }));
            for name in names {
                note("why", json!({ "entity": entity, "name": name }));
            }
        }
        note("acts", json!({}));
        note("undo", json!({ "expect": 0 }));
        note("edit", json!({ "edit": { "set": { "entity": 2, "field": names[0], "value": 1 } } }));
        note("reply", json!({ "pairs": [["bid", "x"], ["room", 1]] }));
        for ordinal in 0..4 {
            let action = view["questions"][0]["id"]["action"].as_u64().unwrap_or(2);
            let question = json!({ "action": action, "ordinal": ordinal });
            note("answers", json!({ "question": question }));
            note("suggest", json!({ "question": question, "policy": "calm" }));
            note("answer", json!({ "question": question, "value": ["no such"] }));
        }
        all.join("\n")
    }
}

/// Two worlds that differ only in a secret of one seat: everything that another viewer is sent, requests or is refused
/// is equal, including all numbers and the order.
#[test]
fn no_message_to_a_viewer_depends_on_a_secret_of_another() {
    // Secrets that no rule reveals before the end: the kind of entity, the fields, and two values of each.
    type Secret = (&'static str, Json, Json);
    let games: [(&str, &[&str], &str, Vec<Secret>); 3] = [
        (
            "bluff",
            &["north", "south"],
            "player",
            vec![("notes", json!("A"), json!("BBB")), ("bid", json!(1), json!(7))],
        ),
        (
            "auction",
            &["north", "south", "east"],
            "bidder",
            vec![
                ("limit", json!(5), json!(8)),
                ("mood", json!("calm"), json!("hot")),
                ("favourite", json!({ "entity": 2 }), json!({ "entity": 3 })),
            ],
        ),
        (
            "manor",
            &["ada", "ben", "cy", "dot"],
            "guest",
            vec![
                ("diary", json!("A"), json!("BBB")),
                ("suspects", json!([]), json!([{ "entity": 3 }])),
                ("room", json!("hall"), json!("cellar")),
            ],
        ),
    ];
    let runs = games.iter().flat_map(|game| game.1.iter().take(2).map(move |of| (game, *of)));
    for ((game, seats, kind, secrets), of) in runs {
        let mut dice = Dice(77);
        let worlds = [World::begin(game, seats), World::begin(game, seats)];
        let names: Vec<&str> =
            secrets.iter().map(|(field, ..)| *field).chain(["clues", "nerve", "deck", "none"]).collect();
        let mut compared = 0;
        for turn in 0..5 {
            let views = [worlds[0].view(), worlds[1].view()];
            let (field, one, other) = dice.pick(secrets);
            let entities = views[0]["entities"].as_array().unwrap();
            let own = entities.iter().find(|entity| entity["kind"] == *kind && entity["fields"]["seat"] == of).unwrap();
            for (world, value) in worlds.iter().zip([one, other]) {
                let edit = json!({ "set": { "entity": own["id"], "field": field, "value": value } });
                done(&world.operator, "edit", json!({ "table": "a", "edit": edit }));
            }
            for (viewer, (seat, _)) in worlds[0].others.iter().enumerate().filter(|(_, (seat, _))| *seat != of) {
                let [first, second] = [0, 1].map(|world: usize| worlds[world].gets(viewer, &names));
                let differs = first.lines().zip(second.lines()).find(|(first, second)| first != second);
                assert_eq!(first, second, "{game}, turn {turn}: {field} of {of} reaches {seat}: {differs:?}");
                compared += 1;
            }
            let questions = views[0]["questions"].as_array().unwrap();
            assert_eq!(views[0]["questions"][0]["id"], views[1]["questions"][0]["id"]);
            let Some(question) = (!questions.is_empty()).then(|| dice.pick(questions)) else { break };
            let open = |option: &&Json| option["enabled"] == true;
            let value = match question["ask"]["kind"].as_str() {
                Some("confirm") => json!(dice.below(2) == 0),
                Some("number") => json!(dice.below(3).min(question["ask"]["max"].as_u64().unwrap() as usize)),
                Some("line") => json!("a line"),
                _ => question["ask"]["options"].as_array().unwrap().iter().rfind(open).unwrap()["id"].clone(),
            };
            for world in &worlds {
                done(&world.operator, "answer", json!({ "table": "a", "question": question["id"], "value": value }));
            }
        }
        assert!(compared >= 5, "{game}: {compared}");
    }
}

#[test]
fn a_slow_reader_gets_resync_and_delays_nobody() {
    let host = host();
    let (operator, slow) = (host.connect(true), host.connect(false));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let token = done(&operator, "invite", json!({ "table": "a", "role": "watcher" })).0["token"].clone();
    done(&slow, "hello", json!({ "token": token }));
    for turn in 0..2_100 {
        let edit = json!({ "say": { "text": turn.to_string() } });
        done(&operator, "edit", json!({ "table": "a", "edit": edit }));
    }
    let told = slow.outbox().take();
    let resyncs = told.iter().filter(|line| line.contains(r#""method":"resync""#)).count();
    assert_eq!((told.len(), resyncs), (2_001, 1));
    done(&operator, "edit", json!({ "table": "a", "edit": { "say": { "text": "unheard" } } }));
    assert!(slow.outbox().take().is_empty());
    done(&slow, "view", json!({}));
    done(&operator, "edit", json!({ "table": "a", "edit": { "say": { "text": "heard" } } }));
    assert_eq!(slow.outbox().take().len(), 1);
}

#[test]
fn a_ping_is_answered_while_a_table_works() {
    let host = host();
    let connection = host.connect(true);
    let new = r#"{"jsonrpc":"2.0","id":1,"method":"table.new","params":{"ruleset":"tug"}}"#;
    let Received::Job(job) = connection.receive(new) else { panic!("a game is begun by a job") };
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(connection.call(ping), [r#"{"id":2,"jsonrpc":"2.0","result":{}}"#]);
    job.run();
    assert!(connection.outbox().take()[0].contains(r#""table":"t1""#));
}

/// Malformed and nearly correct messages: `RISKBREAKER_FUZZ=100000 cargo test --release --test serve silly`.
#[test]
fn invalid_messages_are_answered_and_affect_no_other_game() {
    let count = std::env::var("RISKBREAKER_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(3_000);
    let host = host();
    let (operator, witness) = (host.connect(true), host.connect(true));
    for table in ["a", "witness"] {
        done(&operator, "table.new", json!({ "table": table, "ruleset": "tug", "seed": 5 }));
    }
    done(&operator, "hello", json!({ "table": "a", "role": "seat", "seat": "left" }));
    let before = done(&witness, "view", json!({ "table": "witness" })).0;
    let seed = std::env::var("RISKBREAKER_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_122);
    let mut dice = Dice(seed);
    let schema = schema();
    let known = |method: &str| {
        let own = schema["methods"][method]["params"]["$ref"].as_str().unwrap().trim_start_matches("#/$defs/");
        schema["$defs"][own]["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let names = METHODS.iter().map(|method| method.name).filter(|name| !["shutdown", "schema"].contains(name));
    let methods: Vec<(&str, Vec<String>)> = names.map(|name| (name, known(name))).collect();
    for turn in 0..count {
        let message = silly(&mut dice, &methods);
        if message.contains("witness") {
            continue;
        }
        let told = operator.call(&message);
        let answers: Vec<Json> = told
            .iter()
            .map(|line| serde_json::from_str::<Json>(line).unwrap_or_else(|_| panic!("{line}")))
            .filter(|told| told.get("method").is_none())
            .collect();
        let id = serde_json::from_str::<Json>(&message).ok().and_then(|message| message.get("id").cloned());
        if id.is_some() {
            assert_eq!(answers.len(), 1, "{message}: {told:?}");
        }
        for answer in &answers {
            assert_ne!(answer["error"]["data"]["kind"], "internal", "{message}: {answer}");
        }
        if turn % 500 == 0 {
            ask(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
            // Games started by the messages.
            for name in done(&operator, "table.list", json!({})).0["tables"].as_array().unwrap() {
                if name != "a" && name != "witness" {
                    done(&operator, "table.close", json!({ "table": name }));
                }
            }
        }
    }
    assert_eq!(done(&witness, "view", json!({ "table": "witness" })).0, before);
    done(&witness, "answer", json!({ "table": "witness", "question": { "action": 2, "ordinal": 0 }, "value": "pull" }));
}

fn silly(dice: &mut Dice, methods: &[(&str, Vec<String>)]) -> String {
    let (method, names) = dice.pick(methods);
    let mut params = serde_json::Map::new();
    if dice.below(2) == 0 {
        params.insert("table".into(), json!("a"));
    }
    for _ in 0..dice.below(5) {
        // No file is written or read.
        let name = if dice.below(20) == 0 { "values" } else { dice.pick(names) };
        if name != "path" {
            params.insert(name.into(), silly_value(dice, 3));
        }
    }
    let method = if dice.below(20) == 0 { json!(silly_value(dice, 1)) } else { json!(method) };
    let mut message = json!({ "jsonrpc": "2.0", "id": dice.below(99), "method": method, "params": params });
    match dice.below(12) {
        0 => message["params"] = silly_value(dice, 2),
        1 => message["id"] = silly_value(dice, 1),
        2 => message["jsonrpc"] = silly_value(dice, 1),
        3 => message = silly_value(dice, 4),
        _ => {}
    }
    let mut text = message.to_string();
    if dice.below(10) == 0 {
        // Cut or changed in the middle, on a character boundary.
        let at = (0..=dice.below(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        if dice.below(2) == 0 {
            text.truncate(at)
        } else {
            text.insert_str(at, dice.pick::<&str>(&["{", "\"", "\\", "é", "[[", "\u{0}"]))
        }
    }
    text
}

fn silly_value(dice: &mut Dice, depth: usize) -> Json {
    const TEXTS: [&str; 22] = [
        "a",
        "left",
        "right",
        "gm",
        "pull",
        "rest",
        "human",
        "absent",
        "seat",
        "watcher",
        "game_master",
        "tug",
        "nonsense",
        "",
        "é\u{202e}",
        "1/0",
        "retry",
        "skip_action",
        "typed",
        "seeded",
        "wins_at",
        "let_go",
    ];
    match dice.below(if depth == 0 { 6 } else { 13 }) {
        0 => Json::Null,
        1 => json!(dice.below(2) == 0),
        2 => json!(dice.below(9)),
        3 => json!(*dice.pick(&[i64::MIN, -1, i64::MAX, 1 << 53, i64::from(u32::MAX), 0])),
        4 => json!(*dice.pick(&[0.5, 1e300, -0.0])),
        5 => json!(dice.pick(&TEXTS)),
        6 => json!({ "action": dice.below(5), "ordinal": dice.below(3) }),
        7 => json!([[dice.pick(&["card", "risk", "x"]), silly_value(dice, depth - 1)]]),
        8 => {
            json!({ "set": { "entity": dice.below(5), "field": dice.pick(&["at", "name", "seat", "x"]), "value": silly_value(dice, depth - 1) } })
        }
        9 => {
            json!({ *dice.pick(&["remove", "cancel", "face", "leave_out", "take_in", "switch", "say"]): silly_value(dice, depth - 1) })
        }
        10 => {
            json!({ *dice.pick(&["entity", "ratio", "map", "written", "pushed", "policy", "x"]): silly_value(dice, depth - 1) })
        }
        11 => (0..dice.below(4)).map(|_| silly_value(dice, depth - 1)).collect(),
        _ => {
            json!({ "entity": dice.below(5), "entry": dice.below(5), "ordinal": dice.below(5), "faces": [dice.below(12)], "name": dice.pick(&TEXTS), "value": dice.pick(&TEXTS), "text": "t" })
        }
    }
}

#[test]
fn too_long_and_too_deep_messages_are_refused() {
    let host = host();
    let connection = host.connect(true);
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(70_000));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    let lone = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud800"}}"#.to_owned();
    for (message, kind) in [(long, "too_large"), (deep, "not_json"), (lone, "not_json")] {
        let answer: Json = serde_json::from_str(&connection.call(&message)[0]).unwrap();
        assert_eq!(answer["error"]["data"]["kind"], kind);
        assert_eq!(answer["id"], 1, "whoever sent it waits for the answer");
    }
}

/// A saved paused game is loaded paused.
#[test]
fn a_pause_is_kept_in_a_saved_game() {
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    for paused in [true, false] {
        done(&operator, "pause", json!({ "table": "a", "paused": paused }));
        let game = done(&operator, "table.save", json!({ "table": "a" })).0["game"].clone();
        done(&operator, "table.load", json!({ "table": "b", "game": game }));
        let view = done(&operator, "view", json!({ "table": "b" })).0;
        assert_eq!(view["settings"]["paused"], paused, "{view}");
        done(&operator, "table.close", json!({ "table": "b" }));
    }
}

/// An id is repeated exactly, or refused.
#[test]
fn an_id_that_would_be_rounded_is_refused() {
    let host = host();
    let connection = host.connect(true);
    let call = |id: &str| connection.call(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).remove(0);
    for id in ["18446744073709551615", "-9223372036854775808", "-2.5"] {
        assert_eq!(call(id), format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{{}}}}"#));
    }
    for id in ["18446744073709551616", "-9223372036854775809", "1e300", "true"] {
        let answer: Json = serde_json::from_str(&call(id)).unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["data"]["kind"]),
            (&Json::Null, &json!("not_a_request")),
            "{answer}"
        );
    }
}

/// The program under test, over its pipes.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start() -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(["serve", "--stdio", "--rulesets", "tests/rulesets"])
            .current_dir(root("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Program { child, input, output }
    }

    /// Sends a line, and returns all lines up to its answer.
    fn send(&mut self, line: &str) -> Vec<String> {
        writeln!(self.input, "{line}").unwrap();
        let mut told = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the program has ended: {told:?}");
            let is_answer = serde_json::from_str::<Json>(&line).unwrap().get("method").is_none();
            told.push(line.trim_end().to_owned());
            if is_answer {
                return told;
            }
        }
    }

    fn request(&mut self, method: &str, params: Json) -> Json {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        serde_json::from_str(&self.send(&message).pop().unwrap()).unwrap()
    }
}

/// `>` lines are sent, `<` lines are expected. `TRYCMD=overwrite cargo test --test serve transcripts` updates the
/// expected lines.
#[test]
fn transcripts_are_as_written() {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root("tests/serve")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let written = fs::read_to_string(&path).unwrap();
        let mut program = Program::start();
        let mut told = String::new();
        for line in written.lines().filter(|line| !line.starts_with("< ")) {
            told += &format!("{line}\n");
            if let Some(message) = line.strip_prefix("> ") {
                for answer in program.send(message) {
                    told += &format!("< {answer}\n");
                }
            }
        }
        drop(program.input);
        assert!(program.child.wait().unwrap().success());
        if std::env::var("TRYCMD").is_ok_and(|what| what == "overwrite") {
            fs::write(&path, told).unwrap();
        } else {
            assert_eq!(told, written, "{}", path.display());
        }
    }
}

#[test]
fn all_requests_before_the_end_of_input_are_answered() {
    let mut program = Program::start();
    let mut lines = String::new();
    for table in 0..20 {
        lines += &json!({ "jsonrpc": "2.0", "id": table, "method": "table.new", "params": { "table": table.to_string(), "ruleset": "tug" } }).to_string();
        lines.push('\n');
        lines +=
            &json!({ "jsonrpc": "2.0", "id": 100 + table, "method": "view", "params": { "table": table.to_string() } })
                .to_string();
        lines.push('\n');
    }
    lines += "no JSON, and no end of line";
    program.input.write_all(lines.as_bytes()).unwrap();
    drop(program.input);
    let told: Vec<Json> = program.output.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(told.len(), 41);
    assert_eq!(told.iter().filter(|told| told.get("result").is_some()).count(), 40);
    assert!(program.child.wait().unwrap().success());
}

/// The questions of a view, without the generation of the game.
fn asked(view: &Json) -> Json {
    let mut questions = view["questions"].clone();
    for question in questions.as_array_mut().unwrap() {
        question["id"].as_object_mut().unwrap().remove("generation");
    }
    questions
}

#[test]
fn a_saved_game_continues_after_a_kill_with_new_step_numbers() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served.json");
    let path = path.to_str().unwrap();
    let mut program = Program::start();
    program.request("table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    for turn in 0..4 {
        let view = program.request("view", json!({ "table": "a" }))["result"].clone();
        let value = *["pull", "rest"].get(turn % 2).unwrap();
        program.request("answer", json!({ "table": "a", "question": view["questions"][0]["id"], "value": value }));
    }
    let before = program.request("view", json!({ "table": "a" }))["result"].clone();
    let saved = program.request("table.save", json!({ "table": "a", "path": path }));
    assert_eq!(saved["result"]["seq"], before["seq"], "{saved}");
    let lost = program.request("table.save", json!({ "table": "a", "path": "no such folder/a.json" }));
    assert!(!lost["error"].to_string().contains("os error"), "{lost}");
    assert_eq!(lost["error"]["data"]["kind"], "file", "{lost}");
    program.child.kill().unwrap();
    let _ = program.child.wait();
    let mut program = Program::start();
    let loaded = program.request("table.load", json!({ "table": "a", "path": path }));
    assert!(loaded["result"]["seq"].as_u64() > before["seq"].as_u64(), "{loaded}");
    let after = program.request("view", json!({ "table": "a" }))["result"].clone();
    for name in ["entities", "waiting", "settings", "state", "log"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert_eq!(asked(&after), asked(&before));
    program.child.kill().unwrap();
    let _ = program.child.wait();
}

#[test]
fn an_undo_reaches_before_the_checkpoint_of_an_opened_campaign() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served_long.rbsave");
    let _ = std::fs::remove_file(&path);
    let path = path.to_str().unwrap();
    let mut program = Program::start();
    program.request("table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
    let view = |program: &mut Program| program.request("view", json!({ "table": "a" }))["result"].clone();
    let first = view(&mut program);
    for at in 0..110 {
        let set = json!({ "set": { "entity": 1, "field": "at", "value": at % 2 } });
        let done = program.request("edit", json!({ "table": "a", "edit": set }));
        assert!(done["result"]["seq"].is_u64(), "{done}");
    }
    program.request("table.close", json!({ "table": "a" }));
    program.request("table.load", json!({ "table": "a", "path": path }));
    for left in (0..110).rev() {
        let seq = view(&mut program)["seq"].clone();
        let undone = program.request("undo", json!({ "table": "a", "expect": seq }));
        assert!(undone["result"]["seq"].is_u64(), "{left}: {undone}");
        assert_eq!(view(&mut program)["undo"]["decisions"], left);
    }
    assert_eq!(view(&mut program)["entities"], first["entities"]);
    program.child.kill().unwrap();
    let _ = program.child.wait();
}

#[test]
fn a_campaign_has_each_acknowledged_answer_and_every_branch() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served.rbsave");
    let _ = std::fs::remove_file(&path);
    let path = path.to_str().unwrap();
    let mut program = Program::start();
    let new = json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path });
    let opened = program.request("table.new", new.clone());
    assert_eq!(opened["result"]["seq"], 1, "{opened}");
    let answer = |program: &mut Program, value: &str| {
        let view = program.request("view", json!({ "table": "a" }))["result"].clone();
        let question = &view["questions"][0];
        let value = match question["ask"]["kind"].as_str() {
            Some("choose") => json!(value),
            Some("number") => json!(1),
            kind => panic!("{kind:?}: {question}"),
        };
        program.request("answer", json!({ "table": "a", "question": question["id"], "value": value }))
    };
    for turn in 0..4 {
        let done = answer(&mut program, ["pull", "rest"][turn % 2]);
        assert!(done["result"]["seq"].is_u64(), "{done}");
    }
    let before = program.request("view", json!({ "table": "a" }))["result"].clone();
    // Nobody has saved, and the program ends.
    program.child.kill().unwrap();
    let _ = program.child.wait();
    let mut program = Program::start();
    let again = program.request("table.new", new);
    assert_eq!(again["error"]["data"]["kind"], "file", "a campaign is not written over: {again}");
    let loaded = program.request("table.load", json!({ "table": "a", "path": path }));
    assert!(loaded["result"]["seq"].as_u64() > before["seq"].as_u64(), "{loaded}");
    let after = program.request("view", json!({ "table": "a" }))["result"].clone();
    for name in ["entities", "waiting", "settings", "state"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert_eq!(asked(&after), asked(&before));
    let entries = |program: &mut Program| {
        let told = program.request("entries", json!({ "table": "a", "all": true }));
        told["result"]["entries"].as_array().unwrap_or_else(|| panic!("{told}")).clone()
    };
    let first = entries(&mut program);
    assert!(first.len() >= 4 && first.last().unwrap()["here"] == true, "{first:?}");
    // After two undone decisions and another answer, both branches exist.
    let back = first[first.len() - 3]["entry"].clone();
    // A command without an entry has a step number as well, which is not reused either.
    let paused = program.request("pause", json!({ "table": "a", "paused": false }));
    assert!(paused["result"]["seq"].as_u64() > loaded["result"]["seq"].as_u64(), "{paused}");
    program.child.kill().unwrap();
    let _ = program.child.wait();
    let mut program = Program::start();
    let loaded = program.request("table.load", json!({ "table": "a", "path": path }));
    assert!(loaded["result"]["seq"].as_u64() > paused["result"]["seq"].as_u64(), "{loaded}");
    let gone = program.request("goto", json!({ "table": "a", "entry": back }));
    assert!(gone["result"]["seq"].as_u64() > loaded["result"]["seq"].as_u64(), "{gone}");
    let _ = answer(&mut program, "rest");
    let second = entries(&mut program);
    assert!(second.len() > first.len(), "{second:?}");
    assert!(second.iter().filter(|entry| entry["last"] == true).count() >= 2, "{second:?}");
    let last = first.last().unwrap()["entry"].clone();
    // A client that returns after a `goto` is told that the revisions are different.
    let known = program.request("view", json!({ "table": "a" }))["result"].clone();
    let back = json!({ "table": "a", "since": known["revision"], "seq": known["seq"] });
    let view = program.request("view", back.clone())["result"].clone();
    assert_eq!((&view["after"], &view["log"]), (&known["revision"], &json!([])));
    program.request("goto", json!({ "table": "a", "entry": last }));
    let view = program.request("view", back)["result"].clone();
    assert!(view["after"].is_null() && view["log"] != json!([]), "{view}");
    let there = program.request("view", json!({ "table": "a" }))["result"].clone();
    assert_eq!(there["entities"], before["entities"]);
    // Undo reaches the beginning, beyond the decisions in memory.
    let mut steps = 0;
    while steps < 20 {
        let seq = program.request("view", json!({ "table": "a" }))["result"]["seq"].clone();
        if program.request("undo", json!({ "table": "a", "expect": seq })).get("error").is_some() {
            break;
        }
        steps += 1;
    }
    assert!(steps >= 4, "{steps}");
    let no_entry = program.request("goto", json!({ "table": "a", "entry": 999 }));
    assert_eq!(no_entry["error"]["data"]["kind"], "file", "{no_entry}");
    program.child.kill().unwrap();
    let _ = program.child.wait();
}

fn without_descriptions(schema: Json) -> Json {
    match schema {
        Json::Object(members) => {
            let kept = members.into_iter().filter(|(name, value)| name != "description" || !value.is_string());
            kept.map(|(name, value)| (name, without_descriptions(value))).collect()
        }
        Json::Array(items) => items.into_iter().map(without_descriptions).collect(),
        other => other,
    }
}

/// `TRYCMD=overwrite` updates it.
#[test]
fn the_published_schema_is_that_of_the_program() {
    let path = root("docs/protocol.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var("TRYCMD").is_ok_and(|what| what == "overwrite") {
        fs::write(&path, &text).unwrap();
    }
    let published: Json = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    // Comments on the types may be reworded without a new copy.
    let same = without_descriptions(published) == without_descriptions(schema());
    assert!(same, "TRYCMD=overwrite cargo test --test serve schema");
    let page = fs::read_to_string(root("docs/protocol.md")).unwrap();
    for method in METHODS {
        let row = format!("| `{}` | {} | {} |", method.name, method.callers(), method.text);
        assert!(page.contains(&row), "docs/protocol.md lacks: {row}");
    }
}

/// Public events have no `audience`, odds of a viewer that sees all have no `unseen`.
#[test]
fn optional_members_are_not_required_by_the_schema() {
    let schema = schema();
    for (name, field) in [("SeatEvent", "audience"), ("OddsReport", "unseen")] {
        let required = schema["$defs"][name]["required"].as_array().unwrap();
        assert!(!required.contains(&json!(field)), "{name} requires {field}");
    }
}

/// Runs a test of a client in another language, if the language is installed.
fn client(program: &str, arguments: &[&str]) {
    if Command::new(program).arg("--version").output().is_err() {
        eprintln!("{program} is not installed: its client is not tested");
        return;
    }
    let output = Command::new(program).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let told = [output.stdout.as_slice(), &output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn the_python_client_plays() {
    let test = root("clients/python/test_client.py");
    client("python3", &[test.to_str().unwrap(), env!("CARGO_BIN_EXE_riskbreaker"), RULESETS]);
    let types = root("clients/python/test_package.py");
    client("python3", &[types.to_str().unwrap(), env!("CARGO_BIN_EXE_riskbreaker"), "TypesTest"]);
}

#[test]
fn the_javascript_client_plays() {
    let test = root("clients/javascript/test_client.mjs");
    client("node", &[test.to_str().unwrap(), env!("CARGO_BIN_EXE_riskbreaker"), RULESETS]);
}

#[test]
fn the_foundry_module_mirrors_a_table() {
    let test = root("clients/foundry/test_module.mjs");
    client("node", &[test.to_str().unwrap(), env!("CARGO_BIN_EXE_riskbreaker"), RULESETS]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_c_interface_plays() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("cc is not installed: the C interface is not tested");
        return;
    }
    let built = Path::new(env!("CARGO_BIN_EXE_riskbreaker")).with_file_name("examples");
    let library = built.join("libriskbreaker_c.so");
    // `cargo test` builds it; `cargo test --test serve` needs `--example riskbreaker_c` in addition.
    if !library.exists() {
        eprintln!("{} is not built: the C interface is not tested", library.display());
        return;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("test_client");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Werror", "-o"])
        .arg(&program)
        .arg(root("clients/c/test_client.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", built.display()))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).arg(RULESETS).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// `cargo test --release --test serve measured -- --ignored --nocapture` prints the answers a second with 500 games,
/// over pipes.
#[ignore = "a measurement"]
#[test]
fn answers_a_second_are_measured() {
    const GAMES: usize = 500;
    const ANSWERS: usize = 50_000;
    let mut program = Program::start();
    for game in 0..GAMES {
        let table = game.to_string();
        let switches = json!({ "wins_at": 20 });
        program.request("table.new", json!({ "table": table, "ruleset": "tug", "seed": game, "switches": switches }));
        program.request("hello", json!({ "table": table, "role": "game_master" }));
    }
    let mut output = program.output;
    let mut input = program.input;
    // The question of each game, from the last step.
    let mut asked: Vec<Option<String>> = vec![Some(r#"{"action":2,"ordinal":0}"#.to_owned()); GAMES];
    let mut is_card = vec![true; GAMES];
    let (mut answered, mut line) = (0, String::new());
    let start = std::time::Instant::now();
    while answered < ANSWERS && asked.iter().any(Option::is_some) {
        let mut batch = String::new();
        let mut sent = 0;
        for (game, question) in asked.iter().enumerate() {
            let Some(question) = question else { continue };
            let value = if is_card[game] { "\"pull\"" } else { "1" };
            let viewer = game + 1;
            batch += &format!(
                r#"{{"jsonrpc":"2.0","id":{game},"method":"answer","params":{{"viewer":{viewer},"question":{question},"value":{value}}}}}"#
            );
            batch.push('\n');
            sent += 1;
        }
        input.write_all(batch.as_bytes()).unwrap();
        let mut done = 0;
        while done < sent {
            line.clear();
            output.read_line(&mut line).unwrap();
            let Some((_, viewer)) = line.split_once(r#""method":"step","params":{"viewer":"#) else {
                assert!(line.contains(r#""result""#), "{line}");
                done += 1;
                continue;
            };
            let game = viewer.split(',').next().unwrap().parse::<usize>().unwrap() - 1;
            asked[game] = line.split_once(r#""questions":[{"id":"#).map(|(_, rest)| {
                is_card[game] = rest.contains(r#""topic":"card""#);
                rest[..=rest.find('}').unwrap()].to_owned()
            });
        }
        answered += sent;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{answered} answers in {GAMES} games: {:.0} a second", answered as f64 / seconds);
    drop(input);
    assert!(program.child.wait().unwrap().success());
}

/// North decides in secret, one of its questions has only one answer, and then south is asked in the same action.
const FOG: &[(&str, &str)] = &[
    (
        "fog/ruleset.toml",
        "id = \"fog\"\ntitle = \"Fog\"\nversion = \"1.0.0\"\nsummary = \"Fog.\"\nscenario = \"fog\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\n",
    ),
    ("fog/scenarios/fog.toml", "title = \"Fog\"\n"),
    (
        "fog/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({
	unit = {
		title = "name",
		fields = {
			seat = rb.text({ show = false }),
			name = rb.text({ audience = "seat" }),
			ward = rb.bool({ audience = "seat" }),
		},
	},
})
"#,
    ),
    (
        "fog/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		for _, seat in { "north", "south" } do
			rb.spawn("unit", { seat = seat, name = `Agent {seat}` })
		end
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local north = rb.each("unit")[1]
			local plan = rb.choose({ seat = "north", topic = "plan", audience = "north", options = { "wait", "look", "ward" } })
			if plan == "look" then
				rb.draw({ 1, 2, 3 })
			end
			north:set("ward", plan == "ward")
			rb.choose({ seat = "north", topic = "card", audience = "north", auto = true, options = { if plan == "wait" then "queen" else "king" } })
			rb.confirm({ seat = "south", topic = "listen", about = north, default = false })
			if plan == "look" then
				rb.draw({ 1, 2, 3 })
			end
			rb.confirm({ seat = "north", topic = "again", default = false })
		end,
	},
	free = {
		strike = {
			title = "Strike",
			seats = { "south" },
			when = function()
				return not rb.each("unit")[1].ward, "a ward"
			end,
			run = function()
				rb.say("a blow")
			end,
		},
	},
})
"#,
    ),
];

/// Plays to south's question, after north has planned something.
fn in_fog(plan: &str) -> (Host, Connection, [Json; 2]) {
    let host = Host::new(Library::from_files(FOG.iter().copied()));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "fog", "seed": 1 }));
    let viewers = ["north", "south"].map(|seat| {
        done(&connection, "hello", json!({ "table": "a", "role": "seat", "seat": seat })).0["viewer"].clone()
    });
    connection.outbox().take();
    done(&connection, "reply", json!({ "viewer": viewers[0], "pairs": [["plan", plan]] }));
    (host, connection, viewers)
}

/// A layer over `fog`.
const MIST: &[(&str, &str)] = &[
    (
        "mist/ruleset.toml",
        "id = \"mist\"\ntitle = \"Mist\"\nversion = \"1.0.0\"\nsummary = \"Mist.\"\nover = [\"fog\"]\n",
    ),
    (
        "mist/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({ unit = rb.extend({ fields = { luck = rb.int({ default = 2 }) } }) })
"#,
    ),
];

#[test]
fn everybody_sees_the_waiting_seats_but_no_hidden_question() {
    let host = Host::new(Library::from_files(FOG.iter().copied()));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "fog", "seed": 1 }));
    let [north, south, watcher] = [
        json!({ "table": "a", "role": "seat", "seat": "north" }),
        json!({ "table": "a", "role": "seat", "seat": "south" }),
        json!({ "table": "a", "role": "watcher" }),
    ]
    .map(|params| Mirror::hello(&connection, params));
    // North plans in secret.
    for (mirror, seen) in [(&north, 1), (&south, 0), (&watcher, 0)] {
        assert_eq!(mirror.view["state"]["is"], "asking");
        assert_eq!(mirror.view["waiting"], json!([{ "seat": "north", "questions": seen }]));
        assert_eq!(mirror.view["questions"].as_array().unwrap().len(), seen);
    }
    let (_, told) = done(&connection, "reply", json!({ "viewer": north.viewer, "pairs": [["plan", "wait"]] }));
    for mut mirror in [north, south, watcher] {
        mirror.take(&told);
        assert_eq!(mirror.view["waiting"], json!([{ "seat": "south", "questions": 1 }]));
    }
}

#[test]
fn settings_name_the_layers_in_force() {
    let host = Host::new(Library::from_files(FOG.iter().chain(MIST).copied()));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "fog", "seed": 1 }));
    let mut master = Mirror::hello(&connection, json!({ "table": "a", "role": "game_master" }));
    assert_eq!(master.view["settings"]["rules"]["layers"], json!([]));
    let layers = json!(["mist"]);
    let change = json!({ "viewer": master.viewer, "ruleset": "fog", "layers": layers });
    master.take(&done(&connection, "rules.change", change).1);
    // They come into force before the second turn at the latest.
    for (topic, value) in [("plan", json!("wait")), ("listen", json!(false)), ("again", json!(false))] {
        let reply = json!({ "viewer": master.viewer, "pairs": [[topic, value]] });
        master.take(&done(&connection, "reply", reply).1);
    }
    let rules = &master.view["settings"]["rules"];
    assert_eq!((&rules["id"], &rules["layers"], &rules["pending"]), (&json!("fog"), &layers, &Json::Null));
    master.assert_fresh(&connection);
    // A game that starts with them gives the same.
    done(&connection, "table.new", json!({ "table": "b", "ruleset": "fog", "layers": layers }));
    let (view, _) = done(&connection, "view", json!({ "table": "b" }));
    assert_eq!(view["settings"]["rules"], *rules);
}

/// After they have come into force, the request for them does not wait any more.
#[test]
fn an_undo_to_a_step_before_a_change_of_rules_undoes_the_change() {
    let host = Host::new(Library::from_files(FOG.iter().chain(MIST).copied()));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "fog", "seed": 1 }));
    let reply = |topic: &str, value: Json| {
        done(&connection, "reply", json!({ "table": "a", "pairs": [[topic, value]] }));
    };
    reply("plan", json!("wait"));
    done(&connection, "rules.change", json!({ "table": "a", "ruleset": "fog", "layers": ["mist"] }));
    reply("listen", json!(false));
    reply("again", json!(false));
    let view = || done(&connection, "view", json!({ "table": "a" })).0;
    assert_eq!(view()["settings"]["rules"]["layers"], json!(["mist"]));
    for (to, count, topic) in [(4, 2, "again"), (3, 1, "listen")] {
        let (report, _) = done(&connection, "undo", json!({ "table": "a", "expect": view()["seq"], "to": to }));
        assert_eq!(report["undone"].as_array().map(Vec::len), Some(count), "{report}");
        assert_eq!(view()["questions"][0]["topic"], topic);
    }
}

#[test]
fn a_reply_answers_for_its_own_seat_alone() {
    let (_host, connection, [north, south]) = in_fog("wait");
    done(&connection, "answer", json!({ "viewer": south, "question": { "action": 1, "ordinal": 0 }, "value": false }));
    done(&connection, "reply", json!({ "viewer": north, "pairs": [["again", false]] }));
    // South is asked later in the action that north begins: that question is still south's.
    let refusal = refused(&connection, "reply", json!({ "viewer": north, "pairs": [["listen", true]] }));
    assert_eq!(refusal["kind"], "not_asked", "{refusal}");
    let pairs = json!([["plan", "wait"], ["listen", true]]);
    done(&connection, "reply", json!({ "viewer": north, "pairs": pairs }));
    let refusal = refused(&connection, "reply", json!({ "viewer": north, "pairs": [["listen", true]] }));
    assert_eq!(refusal["kind"], "not_your_seat", "{refusal}");
}

#[test]
fn no_reply_reveals_whether_its_answer_caused_a_hidden_roll() {
    let told = ["wait", "look"].map(|plan| {
        let (_host, connection, [north, south]) = in_fog(plan);
        let mut steps = Vec::new();
        let mut reply = |viewer: &Json, pairs: Json| {
            let params = json!({ "viewer": viewer, "pairs": pairs });
            let (result, notices) = ask(&connection, "reply", params);
            let notices: Vec<_> = notices.iter().filter(|notice| notice["params"]["viewer"] == south).collect();
            steps.push(format!("{result} {notices:?}"));
        };
        reply(&south, json!([["listen", true], ["mist", 1]]));
        reply(&south, json!([["listen", true], ["again", true]]));
        reply(&south, json!([]));
        reply(&north, json!([["again", true]]));
        steps
    });
    assert_eq!(told[0], told[1]);
    assert!(told[0][1].contains("`again` was not asked"), "{:?}", told[0]);
    assert!(told[0][2].contains("`pairs` is empty"), "{:?}", told[0]);
}

/// North is asked twice in one action, with a roll in between. Another plan fails, and names a spy.
const OMEN: &[(&str, &str)] = &[
    (
        "omen/ruleset.toml",
        "id = \"omen\"\ntitle = \"Omen\"\nversion = \"1.0.0\"\nsummary = \"Omen.\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\n",
    ),
    ("omen/scenarios/s.toml", "title = \"S\"\n"),
    (
        "omen/kinds.luau",
        r#"
local rb = require("@riskbreaker")
return rb.kinds({ spy = { title = "name", audience = "nobody", fields = { name = rb.text() } } })
"#,
    ),
    (
        "omen/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("spy", { name = "Mata" })
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			local plan = rb.choose({ seat = "north", topic = "plan", options = { "dare", "fail" } })
			if plan == "fail" then
				error(`{rb.first("spy").name} is the spy`)
			end
			local fate = rb.roll("1d20", "fate")
			rb.choose({ seat = "north", topic = "then", options = { `low {fate}`, `high {fate}` } })
		end,
	},
})
"#,
    ),
];

#[test]
fn a_seat_cannot_preview_a_reply_and_undo_it() {
    let host = Host::new(Library::from_files(OMEN.iter().copied()));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "omen", "seed": 1 }));
    let north =
        done(&connection, "hello", json!({ "table": "a", "role": "seat", "seat": "north" })).0["viewer"].clone();
    connection.outbox().take();
    let reply = |pairs: Json| {
        let (_, told) = done(&connection, "reply", json!({ "viewer": north, "pairs": pairs }));
        told.into_iter().find(|notice| notice["method"] == "step").unwrap()["params"].take()
    };
    let step = reply(json!([["plan", "dare"], ["then", "neither"]]));
    assert_eq!(step["questions"][0]["topic"], "then", "the roll stands: {step}");
    assert!(step["events"].to_string().contains("No answer here is called `neither`"), "{step}");
    reply(json!([["then", "low"]]));
    // Nor does the seat see what failed.
    let step = reply(json!([["plan", "fail"], ["then", "low"]]));
    assert_eq!(step["state"], json!({ "is": "fault" }));
    assert!(!step.to_string().contains("Mata"), "{step}");
    // Answers to questions that are open at once are accepted as a whole, or not at all.
    done(&connection, "undo", json!({ "table": "a", "expect": 4 }));
    let refusal = refused(&connection, "reply", json!({ "viewer": north, "pairs": [["plan", "neither"]] }));
    assert_eq!(refusal["kind"], "not_an_option", "{refusal}");
}

#[test]
fn no_refusal_depends_on_what_another_has_done_in_secret() {
    let told = ["wait", "look", "ward"].map(|plan| {
        let (_host, connection, [_, south]) = in_fog(plan);
        let mut all = Vec::new();
        let mut note = |method: &str, mut params: Json| {
            params["viewer"] = south.clone();
            all.push(format!("{method} {params}: {:?}", ask(&connection, method, params.clone())));
        };
        for pair in [["plan", "wait"], ["card", "queen"], ["card", "king"], ["again", "yes"], ["nothing", "x"]] {
            note("reply", json!({ "pairs": [pair] }));
        }
        note("why", json!({ "entity": 1, "name": "nothing" }));
        note("why", json!({ "entity": 1, "name": "ward" }));
        note("acts", json!({}));
        note("view", json!({}));
        // A free act comes before the open action, even if that has rolled what the seat does not see.
        note("act", json!({ "name": "strike" }));
        let south = format!("\"viewer\": Number({south})");
        for told in all.iter_mut().filter(|told| told.starts_with("act ")) {
            // Only the messages to south: those to north differ.
            *told = told.split("Object {\"jsonrpc\"").filter(|told| told.contains(&south)).collect();
            assert!(told.contains("a blow"), "{told}");
        }
        all
    });
    for other in &told[1..] {
        for (one, other) in told[0].iter().zip(other) {
            assert_eq!(one, other);
        }
    }
    let all = told[0].join("\n");
    assert!(!all.contains("Agent north") && !all.contains("queen\\\\"), "{all}");
}

/// Games that never ask: `spin` by many short entries, `hang` by a script without an end.
const ENDLESS: &[(&str, &str)] = &[
    (
        "spin/ruleset.toml",
        "id = \"spin\"\ntitle = \"Spin\"\nversion = \"1.0.0\"\nsummary = \"Spin.\"\nscenario = \"s\"\n[seats]\nall = \"All\"\n",
    ),
    ("spin/scenarios/s.toml", "title = \"S\"\n"),
    (
        "spin/play.luau",
        r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			if #rb.each("thing") == 0 then
				local go = rb.choose({ seat = "all", topic = "go", options = { "spin", "hang" } })
				rb.spawn("thing", { hangs = go == "hang" })
				return
			end
			rb.roll("1d6", "spin")
			for _ = 1, if rb.each("thing")[1].hangs then 1e9 else 1e4 do
			end
		end,
	},
})
"#,
    ),
    (
        "spin/kinds.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ thing = { fields = { hangs = rb.bool() } } })\n",
    ),
];

#[test]
fn a_job_gives_its_thread_back_between_two_actions_and_ends_with_the_same_answers() {
    let host = Host::new(Library::from_files(ENDLESS.iter().copied()));
    let connection = host.connect(true);
    let job = |id: u32, method: &str, params: Json| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        match connection.receive(&message) {
            Received::Job(job) => job,
            _ => panic!("{method} is a job"),
        }
    };
    let told = || connection.outbox().take().join("\n");
    assert!(job(1, "table.new", json!({ "table": "a", "ruleset": "spin" })).run_slice().is_none());
    assert!(job(2, "hello", json!({ "table": "a", "role": "game_master" })).run_slice().is_none());
    told();
    let mut rest = job(3, "reply", json!({ "viewer": 1, "pairs": [["go", "spin"]], "key": "k" })).run_slice();
    let mut slices = 0;
    while let Some(job) = rest {
        assert_eq!(told(), "", "nobody is told before it stands");
        slices += 1;
        rest = job.run_slice();
    }
    let first = told();
    assert!(slices > 3, "{slices} slices: {first}");
    assert!(first.contains(r#""id":3"#) && first.contains("took long without a decision"), "{first}");
    // The same request again is answered without effect.
    assert!(job(4, "reply", json!({ "viewer": 1, "pairs": [["go", "spin"]], "key": "k" })).run_slice().is_none());
    let again = told();
    assert!(again.contains(r#""seq":2"#) && !again.contains("step"), "{again}");
    // A table that is closed meanwhile: the rest is refused.
    let rest = job(5, "remedy", json!({ "viewer": 1, "remedy": "retry" })).run_slice().unwrap();
    done(&connection, "table.close", json!({ "table": "a" }));
    assert!(rest.run_slice().is_none());
    let closed = told();
    assert!(closed.contains(r#""id":5"#) && closed.contains("unknown_table"), "{closed}");
}

/// A game without an end: retries share one limit of stored events, and a step does not send all events.
#[test]
fn retries_share_a_ceiling_and_steps_have_a_size() {
    let talks = ENDLESS.iter().map(|(path, text)| {
        let loud = "rb.roll(\"1d6\", \"spin\")\n\t\t\tfor _ = 1, 1000 do rb.say(string.rep(\"a\", 2000)) end\n\t\t\tif true then return end";
        (*path, text.replace("rb.roll(\"1d6\", \"spin\")", loud))
    });
    let host = Host::new(Library::from_files(talks));
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "spin", "seed": 1 }));
    let mut revision =
        done(&connection, "hello", json!({ "table": "a", "role": "game_master" })).0["view"]["revision"].clone();
    let mut told_of = |told: &[Json]| {
        let step = &told.iter().find(|notice| notice["method"] == "step").expect("a step is told")["params"];
        let size = step.to_string().len();
        assert!(size < 1_300_000, "{size} bytes");
        let events = step["events"].as_array().unwrap();
        let new = events.last().map_or(0, |event| event["revision"].as_u64().unwrap() - revision.as_u64().unwrap());
        let left_out = step["left_out"].as_u64().unwrap_or_default();
        assert_eq!(left_out + events.len() as u64, new, "all are sent or counted");
        if let Some(last) = events.last() {
            revision = last["revision"].clone();
        }
        (left_out, step["state"]["fault"]["message"].as_str().unwrap_or_default().to_owned())
    };
    let reply = json!({ "viewer": 1, "pairs": [["go", "spin"]] });
    let retry = json!({ "viewer": 1, "remedy": "retry" });
    let (left_out, fault) = told_of(&done(&connection, "reply", reply.clone()).1);
    assert!(left_out > 500 && fault.contains("without a decision by a person"), "{left_out}: {fault}");
    let (mut kept, mut retries) = (left_out, 0);
    let refusal = loop {
        let (answer, told) = ask(&connection, "remedy", retry.clone());
        match answer.get("error") {
            Some(error) => break error["message"].as_str().unwrap().to_owned(),
            None => kept += told_of(&told).0,
        }
        retries += 1;
        assert!(retries < 300, "{kept} events are left out");
    };
    // 128 MiB of such events are about 57,000.
    assert!(refusal.contains("and goes no further") && kept < 80_000, "{retries} {kept}: {refusal}");
}

/// A game whose every turn fails, in files that can be corrected, with a layer.
fn failing(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (path, text) in [
        (
            "slip/ruleset.toml",
            "id = \"slip\"\ntitle = \"Slip\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\nall = \"All\"\n",
        ),
        ("slip/scenarios/s.toml", "title = \"S\"\n"),
        ("slip/play.luau", SLIP),
        ("mud/ruleset.toml", "id = \"mud\"\ntitle = \"Mud\"\nversion = \"1.0.0\"\nover = [\"slip\"]\n"),
    ] {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const SLIP: &str = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.recur("turn", 1, 1)
	end,
	entries = {
		turn = function()
			rb.confirm({ seat = "all", topic = "go", default = false })
			error("a slip")
		end,
	},
})
"#;

/// The table of such a game at a fault.
fn failed(folder: &Path) -> (Host, Connection, Mirror) {
    let host = Host::new(Library::open(folder).unwrap());
    let connection = host.connect(true);
    done(&connection, "table.new", json!({ "table": "a", "ruleset": "slip", "seed": 1 }));
    let mut master = Mirror::hello(&connection, json!({ "table": "a", "role": "game_master" }));
    let question = &master.view["questions"][0]["id"];
    let answer = json!({ "viewer": master.viewer, "question": question, "value": true });
    master.take(&done(&connection, "answer", answer).1);
    assert_eq!(master.view["state"]["is"], "fault");
    (host, connection, master)
}

#[test]
fn a_corrected_script_counts_at_once_after_a_fault() {
    let folder = failing("corrected");
    let (_host, connection, mut master) = failed(&folder);
    let change = json!({ "viewer": master.viewer, "ruleset": "slip" });
    assert_eq!(refused(&connection, "rules.change", change.clone())["kind"], "rules_refused");
    fs::write(folder.join("slip/play.luau"), SLIP.replace("error(\"a slip\")", "rb.say(\"no slip\")")).unwrap();
    let retry = json!({ "viewer": master.viewer, "remedy": "retry" });
    master.take(&done(&connection, "remedy", retry).1);
    assert_eq!(master.view["state"]["is"], "fault", "it runs the rules in force");
    let (result, told) = done(&connection, "rules.change", change);
    master.take(&told);
    assert_eq!(result["waits_for"], Json::Null, "{result}");
    assert_eq!(
        (&master.view["state"]["is"], &master.view["settings"]["rules"]["pending"]),
        (&json!("asking"), &Json::Null)
    );
    assert!(master.view["log"].to_string().contains("no slip"), "{}", master.view["log"]);
    master.assert_fresh(&connection);
}

#[test]
fn other_rules_wait_for_the_end_of_a_failed_action_and_a_message_says_so() {
    let (_host, connection, mut master) = failed(&failing("left-out"));
    let change = json!({ "viewer": master.viewer, "ruleset": "slip", "layers": ["mud"] });
    let (result, told) = done(&connection, "rules.change", change);
    master.take(&told);
    let notes = result["notes"].to_string();
    assert!(notes.contains("`skip_action` leaves it out"), "{notes}");
    for (remedy, state, layers) in [("retry", "fault", json!([])), ("skip_action", "asking", json!(["mud"]))] {
        let params = json!({ "viewer": master.viewer, "remedy": remedy });
        master.take(&done(&connection, "remedy", params).1);
        assert_eq!(
            (&master.view["state"]["is"], &master.view["settings"]["rules"]["layers"]),
            (&json!(state), &layers)
        );
    }
}

/// A new folder for the files of one test.
fn saves(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("served").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Another program changes the file of a table: commands are refused until the file is restored, or the game is saved
/// elsewhere.
#[test]
fn a_table_whose_campaign_file_was_changed_is_saved_elsewhere_or_retried() {
    let folder = saves("changed");
    let (path, other) = (folder.join("a.rbsave"), folder.join("b.rbsave"));
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
    let say = |text: &str| json!({ "table": "a", "edit": { "say": { "text": text } } });
    done(&operator, "edit", say("one"));
    let newest = fs::read(&path).unwrap();
    let overwrite = |bytes: &[u8]| {
        fs::OpenOptions::new().write(true).truncate(true).open(&path).unwrap().write_all(bytes).unwrap();
    };
    overwrite(b"");
    let refusal = ask(&operator, "edit", say("two")).0["error"].clone();
    assert_eq!(refusal["data"]["kind"], "file", "{refusal}");
    assert!(refusal["message"].as_str().unwrap().contains("since the last line was kept"), "{refusal}");
    let retry = || json!({ "table": "a", "remedy": "retry" });
    assert_eq!(ask(&operator, "remedy", retry()).0["error"]["data"]["kind"], "file");
    // The file is restored.
    overwrite(&newest);
    assert_eq!(ask(&operator, "edit", say("two")).0["error"]["data"]["kind"], "file");
    done(&operator, "remedy", retry());
    done(&operator, "edit", say("two"));
    let entries = |table: &str| done(&operator, "entries", json!({ "table": table, "all": true })).0["entries"].clone();
    let before = entries("a");
    // It is never restored, and the game continues in another file.
    overwrite(b"");
    assert_eq!(ask(&operator, "edit", say("three")).0["error"]["data"]["kind"], "file");
    done(&operator, "table.save", json!({ "table": "a", "path": other }));
    assert_eq!(entries("a"), before);
    done(&operator, "edit", say("three"));
    let before = entries("a");
    done(&operator, "table.close", json!({ "table": "a" }));
    done(&operator, "table.load", json!({ "table": "b", "path": other }));
    assert_eq!(entries("b"), before);
}

/// Keys, invitations and the pause survive a restart. The file contains a token only as its hash, and a copy contains
/// none of them.
#[test]
fn a_campaign_remembers_keys_invitations_and_the_pause() {
    let folder = saves("remembered");
    let (path, copy) = (folder.join("a.rbsave"), folder.join("b.rbsave"));
    let seat = |token: &Json| json!({ "protocol": 1, "token": token });
    let edit = json!({ "table": "a", "edit": { "say": { "text": "once" } }, "key": "the-key-of-one-edit" });
    let (first, token, revoked) = {
        let host = host();
        let operator = host.connect(true);
        done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
        let first = done(&operator, "edit", edit.clone()).0;
        let invite = json!({ "table": "a", "role": "seat", "seat": "left" });
        let token = done(&operator, "invite", invite.clone()).0["token"].clone();
        let revoked = done(&operator, "invite", invite).0["token"].clone();
        done(&operator, "revoke", json!({ "table": "a", "token": revoked }));
        done(&operator, "pause", json!({ "table": "a", "paused": true }));
        (first, token, revoked)
    };
    let has = |path: &Path, text: &str| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    assert!(has(&path, "the-key-of-one-edit") && !has(&path, token.as_str().unwrap()));
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.load", json!({ "table": "a", "path": path }));
    let entries =
        |table: &str| done(&operator, "entries", json!({ "table": table })).0["entries"].as_array().unwrap().len();
    let before = entries("a");
    let (again, told) = done(&operator, "edit", edit.clone());
    assert_eq!((again, told.len(), entries("a")), (first, 0, before));
    let other = json!({ "table": "a", "edit": { "say": { "text": "twice" } }, "key": "the-key-of-one-edit" });
    assert_eq!(refused(&operator, "edit", other)["kind"], "key_reused");
    let client = host.connect(false);
    let welcome = done(&client, "hello", seat(&token)).0;
    assert_eq!((&welcome["seat"], &welcome["view"]["settings"]["paused"]), (&json!("left"), &json!(true)));
    assert_eq!(ask(&host.connect(false), "hello", seat(&revoked)).0["error"]["data"]["kind"], "unknown_token");
    // A copy and an export.
    done(&operator, "table.save", json!({ "table": "a", "path": copy }));
    let library = Library::open(RULESETS).unwrap();
    let mut lines = Vec::new();
    let store = riskbreaker::store::Store::read(&path, &library).unwrap();
    assert_eq!(store.verify().unwrap().problems, Vec::<String>::new());
    store.first().unwrap().unwrap().export(&mut lines).unwrap();
    let exported = String::from_utf8(lines).unwrap();
    assert!(!has(&copy, "the-key-of-one-edit") && !exported.contains("the-key-of-one-edit"));
    assert!(!has(&copy, "invited") && !exported.contains("invited"));
    done(&operator, "table.close", json!({ "table": "a" }));
    done(&operator, "table.load", json!({ "table": "a", "path": copy }));
    assert_eq!(ask(&host.connect(false), "hello", seat(&token)).0["error"]["data"]["kind"], "unknown_token");
    assert_ne!(done(&operator, "edit", edit).0, json!(null));
    assert_eq!(entries("a"), before + 1);
}

/// Only saved games are overwritten, and `--saves` confines paths to a folder.
#[test]
fn files_of_others_are_neither_overwritten_nor_reached() {
    let folder = saves("confined");
    let inside = folder.join("saves");
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(folder.join("letter.txt"), "Dear Ann").unwrap();
    fs::write(inside.join("letter.txt"), "Dear Bob").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&folder, inside.join("away")).unwrap();
        std::os::unix::fs::symlink(folder.join("letter.txt"), inside.join("link.json")).unwrap();
    }
    let open = host();
    let operator = open.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let save =
        |connection: &Connection, path: &str| ask(connection, "table.save", json!({ "table": "a", "path": path })).0;
    let refused = |answer: Json| assert_eq!(answer["error"]["data"]["kind"], "file", "{answer}");
    refused(save(&operator, folder.join("letter.txt").to_str().unwrap()));
    let confined = Host::with_saves(riskbreaker::play::Machines::default(), Library::open(RULESETS).unwrap(), &inside);
    let confined = confined.unwrap();
    let operator = confined.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": "sub/c.rbsave" }));
    assert!(inside.join("sub/c.rbsave").exists());
    let absolute = folder.join("new.json");
    let away =
        ["../new.json", "sub/../../new.json", "away/new.json", "link.json", "letter.txt", "", ".", "none/x.json"];
    for path in away.into_iter().chain(absolute.to_str()) {
        refused(save(&operator, path));
        if path != "letter.txt" {
            refused(ask(&operator, "table.load", json!({ "table": "b", "path": path })).0);
        }
        let campaign = format!("{path}.rbsave");
        if !["letter.txt", "", ".", "link.json"].contains(&path) {
            refused(ask(&operator, "table.new", json!({ "ruleset": "tug", "campaign": campaign })).0);
        }
    }
    for _ in 0..2 {
        let saved = save(&operator, "sub/a.json");
        assert_eq!(saved["result"]["path"], "sub/a.json", "{saved}");
    }
    done(&operator, "table.load", json!({ "table": "b", "path": "./sub/a.json" }));
    assert_eq!(fs::read_to_string(folder.join("letter.txt")).unwrap(), "Dear Ann");
    assert_eq!(fs::read_to_string(inside.join("letter.txt")).unwrap(), "Dear Bob");
    assert!(!folder.join("new.json").exists());
}

/// A table of a shipped ruleset with marked secrets, and a connection for each viewer.
struct Marked {
    /// Keeps the table; its outbox is not read.
    _host: Host,
    operator: Connection,
    viewers: Vec<(&'static str, Connection)>,
    /// The text that marks each secret, and the seats that may know it.
    marks: Vec<(&'static str, Vec<&'static str>)>,
    /// The beginning of a secret name, as a guess.
    guess: &'static str,
    /// The marks that each viewer was sent, by their index.
    told: Vec<Vec<bool>>,
    campaign: PathBuf,
}

impl Marked {
    /// Starts the game. Each test stores its campaign under its own `name`.
    fn begin(name: &str, ruleset: &str, position: Json, viewers: &[&'static str]) -> Marked {
        let host = Host::new(Library::open(root("rulesets")).unwrap());
        let operator = host.connect(true);
        let seats: BTreeMap<&str, &str> =
            viewers.iter().chain(&["gm"]).filter(|seat| !seat.is_empty()).map(|seat| (*seat, "human")).collect();
        let campaign = saves(name).join("a.rbsave");
        let mut table = json!({ "table": "a", "ruleset": ruleset, "position": position, "seed": 7, "seats": seats });
        table["campaign"] = json!(campaign);
        done(&operator, "table.new", table);
        let join = |seat: &&'static str| {
            let connection = host.connect(false);
            let mut params = json!({ "table": "a", "role": "watcher" });
            if !seat.is_empty() {
                params = json!({ "table": "a", "role": "seat", "seat": seat });
            }
            let token = done(&operator, "invite", params).0["token"].clone();
            done(&connection, "hello", json!({ "token": token }));
            (*seat, connection)
        };
        let viewers: Vec<_> = viewers.iter().map(join).collect();
        let told = vec![vec![]; viewers.len()];
        Marked { _host: host, operator, viewers, marks: vec![], guess: "", told, campaign }
    }

    fn view(&self) -> Json {
        done(&self.operator, "view", json!({ "table": "a" })).0
    }

    /// Sends a command of the game master. True if it is accepted.
    fn master(&self, method: &str, mut params: Json) -> bool {
        params["table"] = "a".into();
        ask(&self.operator, method, params).0.get("error").is_none()
    }

    /// Answers the first open question: by `chosen` if that returns an accepted answer, else like the policy `random`.
    fn play(&self, chosen: impl Fn(&str, &str) -> Option<Json>) -> bool {
        let view = self.view();
        let Some(question) = view["questions"].as_array().and_then(|open| open.first()) else { return false };
        let title = |id: &Json| {
            let entities = view["entities"].as_array().unwrap().iter();
            let found = entities.filter(|entity| entity["id"] == *id).map(|entity| entity["title"].as_str());
            found.flatten().next().unwrap_or_default().to_owned()
        };
        let topic = question["topic"].as_str().unwrap();
        let chosen = chosen(&title(&question["about"]), topic);
        if chosen.is_some_and(|value| self.master("reply", json!({ "pairs": [[topic, value]] }))) {
            return true;
        }
        let id = &question["id"];
        let suggest = json!({ "table": "a", "question": id, "policy": "random" });
        let value = done(&self.operator, "suggest", suggest).0["value"].clone();
        self.master("answer", json!({ "question": id, "value": value }))
    }

    /// Sends every request that a viewer can send, about every entity, and searches the answers for marks. `ahead`:
    /// true to include odds and hints, which take long.
    fn look(&mut self, when: &str, ahead: bool) {
        let master = self.view();
        let ids: Vec<Json> = master["entities"].as_array().unwrap().iter().map(|entity| entity["id"].clone()).collect();
        let topics: Vec<Json> = master["questions"].as_array().unwrap().iter().map(|q| q["topic"].clone()).collect();
        for at in 0..self.viewers.len() {
            let (seat, connection) = (self.viewers[at].0, &self.viewers[at].1);
            let mut all = connection.outbox().take();
            let mut note = |method: &str, params: Json| {
                let (answer, told) = ask(connection, method, params.clone());
                assert_ne!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
                all.push(format!("{method} {params}: {answer} {told:?}"));
                answer["result"].clone()
            };
            let view = note("view", json!({ "since": 0 }));
            for (n, entity) in ids.iter().enumerate() {
                note("sheet", json!({ "entity": entity }));
                for name in ["name", "x", "place", "known_to", "melee_combat"] {
                    note("why", json!({ "entity": entity, "name": name, "with": [ids[(n + 1) % ids.len()]] }));
                }
            }
            let open = view["questions"].as_array().unwrap();
            let is_asked = open.iter().any(|question| question["yours"] == true);
            // A viewer that is asked for a text would have written it.
            for topic in topics.iter().map(|topic| topic.as_str().unwrap()).chain(["who", "target", "card", "place"]) {
                if !is_asked {
                    note("reply", json!({ "pairs": [[topic, self.guess]] }));
                }
            }
            let own = open.iter().map(|question| question["id"].clone());
            let near =
                (0..3).map(|ordinal| json!({ "action": view["questions"][0]["id"]["action"], "ordinal": ordinal }));
            let near = near.filter(|id| id["action"].is_u64());
            for question in own.chain(near).take(2) {
                note("answers", json!({ "question": question }));
                note("suggest", json!({ "question": question, "policy": "random" }));
                if ahead {
                    note("odds", json!({ "question": question, "given": [["target", self.guess]] }));
                    note("hint", json!({ "question": question, "games": 1 }));
                }
                if !is_asked {
                    note("answer", json!({ "question": question, "value": self.guess }));
                }
            }
            for name in ["put", "say_aware", "drop_pack", "narrate", "no such act"] {
                note("act", json!({ "name": name, "as": "gm" }));
            }
            note("acts", json!({}));
            note("card", json!({ "card": self.guess }));
            note("undo", json!({ "expect": 0 }));
            note("redo", json!({ "expect": 0 }));
            note("edit", json!({ "edit": { "set": { "entity": ids[0], "field": "name", "value": "x" } } }));
            note("switch", json!({ "name": "open_traps", "value": "on" }));
            note("rules.preview", json!({ "ruleset": "riskbreaker-0.0.1" }));
            note("entries", json!({}));
            note("goto", json!({ "entry": 1 }));
            all.extend(connection.outbox().take());
            let text = all.join("\n");
            let marks = self.marks.iter();
            let told: Vec<bool> = marks.map(|(mark, _)| text.contains(mark)).collect();
            self.told[at].resize(told.len(), false);
            for (n, (mark, may)) in self.marks.iter().enumerate().filter(|(n, _)| told[*n]) {
                self.told[at][n] = true;
                let line = all.iter().find(|line| line.contains(mark)).unwrap();
                assert!(may.contains(&seat), "`{seat}` is told {mark} {when}: {line}");
            }
        }
    }

    /// The game master moves to an early entry of the campaign and back, and closes the table. The recaps of the
    /// campaign reveal nothing more.
    fn go_back_and_tell(&mut self) {
        let entries = done(&self.operator, "entries", json!({ "table": "a", "all": true })).0["entries"].clone();
        let entries: Vec<&Json> = entries.as_array().unwrap().iter().map(|entry| &entry["entry"]).collect();
        for entry in [entries[entries.len() / 2], entries[entries.len() - 1]] {
            assert!(self.master("goto", json!({ "entry": entry })), "{entry}");
            self.look(&format!("at entry {entry}"), false);
        }
        let note = self.marks.iter().position(|(mark, _)| *mark == "MARKNOTE").expect("a mark for a note");
        assert!(self.marks[note].1.is_empty());
        done(&self.operator, "table.close", json!({ "table": "a" }));
        let library = Library::open(root("rulesets")).unwrap();
        let mut campaign = Store::open(&self.campaign, &library).unwrap().first().unwrap().unwrap();
        campaign.note("MARKNOTE").unwrap();
        let master = campaign.recap_all(&Viewer::master()).unwrap().paragraphs().join("\n");
        assert!(master.contains("MARKNOTE"), "{master}");
        for (seat, _) in &self.viewers {
            let viewer = if seat.is_empty() { Viewer::watcher() } else { Viewer::seat(seat) };
            let recap = campaign.recap_all(&viewer).unwrap().paragraphs().join("\n");
            assert!(!recap.is_empty());
            for (mark, may) in &self.marks {
                assert!(!recap.contains(mark) || may.contains(seat), "the recap tells `{seat}` {mark}: {recap}");
            }
        }
    }

    /// Checks that every mark has reached those who may know it, since otherwise the search would prove nothing.
    fn all_were_told(&self) {
        for (n, (mark, may)) in self.marks.iter().enumerate().filter(|(_, (mark, _))| *mark != "MARKNOTE") {
            for (at, (seat, _)) in self.viewers.iter().enumerate() {
                assert_eq!(self.told[at][n], may.contains(seat), "{mark} and `{seat}`");
            }
        }
    }
}

/// A game of 0.0.3 with a marked trap, and another one laid by the game master.
fn marked_trap(name: &str, open_traps: bool) -> Marked {
    let position = json!({
        "us": ["A = W5: Set Trap; P5: Scout; idle", "B = M4: Sword"], "them": ["X = M4: Sword; P5: Observation", "Y = M4: Sword"],
        "advantage": [12, 0], "turns": ["A", "X", "B", "Y"],
        "triggers": [{ "name": "MARKMASTER", "state": "word", "harm": 1 }],
    });
    let mut game = Marked::begin(name, "riskbreaker-0.0.3", position, &["players", "foes", ""]);
    let players = || vec!["players"];
    game.marks = vec![("MARKCELLAR", players()), ("MARKTRAP", players()), ("MARKMASTER", vec![]), ("MARKNOTE", vec![])];
    game.guess = "MARK";
    if open_traps {
        assert!(game.master("switch", json!({ "name": "open_traps", "value": "on" })));
    }
    let lays = [
        ("card", "create_trigger"),
        ("skill", "Scout"),
        ("state", "enter"),
        ("by", "anyone"),
        ("place", "MARKCELLAR"),
        ("condition", "MARKTRAP"),
        ("damage", "SD 2"),
        ("extras", "none"),
        ("victim", "whoever"),
    ];
    for (topic, value) in lays {
        assert!(
            game.master("reply", json!({ "pairs": [[topic, value]] })),
            "{topic} {value}: {}",
            game.view()["questions"]
        );
        game.look(&format!("after {topic}"), false);
    }
    game
}

/// The search detects a mark that is shown: with open traps everybody sees it.
#[test]
#[should_panic(expected = "is told MARK")]
fn the_search_for_marks_finds_an_open_trap() {
    marked_trap("marked_open_trap", true);
}

/// Marks in a trap, in the place that only its makers know, and in a trap of the game master, over some dozens of
/// actions with undo, redo, edits and a change of rules.
#[test]
fn no_request_tells_a_marked_trap_of_0_0_3_to_others() {
    let mut game = marked_trap("marked_trap", false);
    let quiet = |_: &str, topic: &str| (topic == "card").then(|| json!("pass"));
    for round in 0..30 {
        let played = if round % 4 == 0 { game.play(quiet) } else { game.play(|_, _| None) };
        if !played {
            break;
        }
        if round % 6 == 5 {
            let seq = game.view()["seq"].clone();
            game.master("undo", json!({ "expect": seq }));
            game.look(&format!("undone in step {round}"), false);
        }
        if round == 10 {
            assert!(game.master("rules.change", json!({ "ruleset": "riskbreaker-0.0.1" })));
        } else if round == 20 {
            game.master("rules.change", json!({ "ruleset": "riskbreaker-0.0.3" }));
        }
        if round % 4 == 0 {
            game.look(&format!("in step {round}"), round == 8);
        }
    }
    game.go_back_and_tell();
    game.all_were_told();
}

/// A game of contest with marks in the name, the story, a wound and a weapon of a unit, which is unseen or not.
fn marked_unit(name: &str, unseen: bool) -> Marked {
    let position = json!({
        "sides": [
            { "name": "Heroes", "seat": "players", "units": [
                { "name": "MARKNAME", "unseen": unseen, "at": "-1.7, 0", "description": "MARKSTORY", "weapons": ["markblade"],
                  "stats": { "stealth": 40 }, "pack": 20 },
                { "name": "Gus", "at": "-60, 0", "weapons": ["sword"] },
            ] },
            { "name": "Foes", "seat": "foes", "units": [
                { "name": "Bob", "at": "0, 0", "weapons": ["sword"] }, { "name": "Dan", "at": "40, 0", "missile": "short_bow" },
            ] },
            { "name": "Crowd", "seat": "third", "units": [{ "name": "Eve", "at": "0, 90" }] },
        ],
        "injuries": [{ "of": "MARKNAME", "class": "MARKWOUND", "penalty": 1 }],
    });
    let mut game = Marked::begin(name, "contest", position, &["players", "foes", "third", ""]);
    let own = || vec!["players"];
    game.marks = vec![
        ("MARKNAME", own()),
        ("MARKSTORY", own()),
        ("MARKWOUND", own()),
        ("markblade", own()),
        ("-73.7", own()),
        ("MARKREASON", own()),
        ("MARKSTAT", own()),
        ("MARKNOTE", vec![]),
    ];
    game.guess = "MARK";
    game.look("at the beginning", unseen);
    game
}

/// The search detects a mark that is shown: everybody sees a unit that does not hide.
#[test]
#[should_panic(expected = "is told MARKNAME")]
fn the_search_for_marks_finds_a_unit_that_is_seen() {
    marked_unit("marked_seen_unit", false);
}

/// Marks in the fields of an unseen unit, in its place and in a modifier, while it sneaks.
#[test]
fn no_request_tells_a_marked_unseen_unit_of_contest_to_others() {
    let mut game = marked_unit("marked_unit", true);
    let acts = [
        ("put", vec![("who", "MARKNAME"), ("place", "-73.7, 0")]),
        ("modify", vec![("who", "MARKNAME"), ("stat", "MARKSTAT"), ("amount", "-3"), ("reason", "MARKREASON")]),
        ("drop_pack", vec![("who", "MARKNAME")]),
    ];
    for (act, answers) in acts {
        assert!(
            game.master("act", json!({ "name": act, "as": if act == "drop_pack" { "players" } else { "gm" } })),
            "{act}"
        );
        for (topic, value) in answers {
            let value: Json = value.parse::<i64>().map_or(json!(value), Json::from);
            game.master("reply", json!({ "pairs": [[topic, value]] }));
            game.look(&format!("in {act}, after {topic}"), false);
        }
    }
    // Its acts stay unseen.
    let cards = ["wait", "sneak_attack", "dodge", "contest", "lie_down", "move", "maneuver"];
    for round in 0..36 {
        let quiet = |about: &str, topic: &str| match (about, topic) {
            ("MARKNAME", "card") => {
                let questions = game.view()["questions"].to_string();
                Some(json!(if questions.contains("holds") { "forgo" } else { cards[round / 3 % cards.len()] }))
            }
            ("MARKNAME", "oppose") => Some(json!([])),
            ("MARKNAME", "creep_on") => Some(json!(true)),
            (_, "scene") => Some(json!("fight")),
            (_, "ruling") => Some(json!("roll")),
            _ => None,
        };
        if !game.play(quiet) {
            break;
        }
        if round % 9 == 8 {
            let seq = game.view()["seq"].clone();
            game.master("undo", json!({ "expect": seq }));
            game.look(&format!("undone in step {round}"), false);
        }
        if round % 6 == 0 {
            game.look(&format!("in step {round}"), round == 24);
        }
    }
    game.go_back_and_tell();
    game.all_were_told();
}

/// A late answer never matches a question of another game, or of another entry of the campaign: names of questions are
/// not reused at a table.
#[test]
fn a_late_answer_meets_no_question_of_another_game() {
    let path = saves("late").join("a.rbsave");
    let host = host();
    let operator = host.connect(true);
    let mut names: Vec<Json> = Vec::new();
    // The questions of the seat and the game master. All names are new, and answers to all earlier ones are late.
    let mut asked_anew = |viewer: &Json| {
        for asks in [json!({ "viewer": viewer }), json!({ "table": "a" })] {
            let name = done(&operator, "view", asks.clone()).0["questions"][0]["id"].clone();
            assert!(
                !names.contains(&name) || asks["viewer"].is_null() && names.last() == Some(&name),
                "{name}: {names:?}"
            );
            for late in names.iter().filter(|late| **late != name) {
                let answer = json!({ "question": late, "value": "pull" });
                let mut params = asks.clone();
                params.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
                let refusal = refused(&operator, "answer", params);
                assert_eq!((&refusal["kind"], &refusal["questions"][0]["id"]), (&json!("stale"), &name), "{late}");
            }
            names.push(name);
        }
    };
    let hello = || {
        let welcome = done(&operator, "hello", json!({ "table": "a", "role": "seat", "seat": "left" })).0;
        welcome["viewer"].clone()
    };
    let close = || done(&operator, "table.close", json!({ "table": "a" }));
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
    let viewer = hello();
    asked_anew(&viewer);
    let game = done(&operator, "table.save", json!({ "table": "a" })).0["game"].clone();
    // The same question again: at an entry of the campaign, in a saved game, in the campaign, and in a new game.
    done(&operator, "reply", json!({ "viewer": viewer, "pairs": [["card", "pull"]] }));
    let entries = done(&operator, "entries", json!({ "table": "a", "all": true })).0["entries"].clone();
    let first = entries[0]["entry"].clone();
    done(&operator, "goto", json!({ "table": "a", "entry": first }));
    asked_anew(&viewer);
    close();
    done(&operator, "table.load", json!({ "table": "a", "game": game }));
    asked_anew(&hello());
    close();
    done(&operator, "table.load", json!({ "table": "a", "path": path }));
    asked_anew(&hello());
    close();
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let viewer = hello();
    asked_anew(&viewer);
    let asked = done(&operator, "view", json!({ "viewer": viewer })).0["questions"][0]["id"].clone();
    done(&operator, "answer", json!({ "viewer": viewer, "question": asked, "value": "pull" }));
}

/// `undo.reach` of a seat is the earliest step that it may name; one step further back is refused.
#[test]
fn the_reach_of_an_undo_is_the_earliest_step_that_it_takes() {
    for policy in ["own", "ask", "game_master"] {
        let connection = host().connect(true);
        done(&connection, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
        let seats = ["left", "right"]
            .map(|seat| Mirror::hello(&connection, json!({ "table": "a", "role": "seat", "seat": seat })).viewer);
        let view = |viewer: &Json| done(&connection, "view", json!({ "viewer": viewer })).0;
        done(&connection, "options", json!({ "table": "a", "undo": policy }));
        for turn in 0..4 {
            let viewer = &seats[turn % 2];
            let question = view(viewer)["questions"][0]["id"].clone();
            done(&connection, "answer", json!({ "viewer": viewer, "question": question, "value": "rest" }));
        }
        for viewer in &seats {
            let (undo, seq) = (view(viewer)["undo"].clone(), view(viewer)["seq"].as_u64().unwrap());
            let preview = |to: u64| ask(&connection, "undo.preview", json!({ "viewer": viewer, "to": to })).0;
            assert_eq!(undo["asks"] == true, policy == "ask", "{undo}");
            let refused = |to: u64| preview(to).get("error").is_some();
            match undo["reach"].as_u64() {
                None => assert!(policy != "ask" && (1..seq).all(refused), "{policy}: {undo}"),
                Some(reach) => {
                    let report = preview(reach);
                    assert!(report["result"]["decisions"].as_u64() > Some(0), "{policy}: {undo}: {report}");
                    assert!((1..reach).all(refused), "{policy}: {undo}");
                }
            }
        }
    }
}

/// The campaign stores the options of its table.
#[test]
fn options_of_a_table_survive_a_restart() {
    let folder = saves("options");
    let path = folder.join("evening.rbsave");
    {
        let connection = host().connect(true);
        done(&connection, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
        done(&connection, "options", json!({ "table": "a", "undo": "ask", "odds": false, "delay": 9 }));
        done(&connection, "table.close", json!({ "table": "a" }));
    }
    let connection = host().connect(true);
    done(&connection, "table.load", json!({ "table": "a", "path": path }));
    let (view, _) = done(&connection, "view", json!({ "table": "a" }));
    assert_eq!(view["settings"]["options"], json!({ "undo": "ask", "odds": false, "delay": 9 }));
}

/// A vote that was open when the host ended is open again, and what it takes back is the same.
#[test]
fn a_vote_survives_a_restart() {
    let folder = saves("vote");
    let path = folder.join("evening.rbsave");
    let open = |connection: &Connection| {
        let hello = |role: Json| done(connection, "hello", role).0["viewer"].clone();
        let seats = ["left", "right"].map(|seat| hello(json!({ "table": "a", "role": "seat", "seat": seat })));
        (seats, hello(json!({ "table": "a", "role": "game_master" })))
    };
    let view = |connection: &Connection, viewer: &Json| done(connection, "view", json!({ "viewer": viewer })).0;
    let before;
    {
        let connection = host().connect(true);
        done(&connection, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5, "campaign": path }));
        let ([left, right], master) = open(&connection);
        done(&connection, "options", json!({ "table": "a", "undo": "ask" }));
        before = view(&connection, &master)["entities"].clone();
        for viewer in [&left, &right] {
            let question = view(&connection, viewer)["questions"][0]["id"].clone();
            done(&connection, "answer", json!({ "viewer": viewer, "question": question, "value": "rest" }));
        }
        let seq = view(&connection, &left)["seq"].as_u64().unwrap();
        done(&connection, "undo", json!({ "viewer": left, "expect": seq, "to": seq - 2 }));
        done(&connection, "vote", json!({ "viewer": right, "id": 1, "agree": true }));
        assert_eq!(view(&connection, &left)["vote"]["decisions"], 2);
        done(&connection, "table.close", json!({ "table": "a" }));
    }
    let connection = host().connect(true);
    done(&connection, "table.load", json!({ "table": "a", "path": path }));
    let ([left, right], master) = open(&connection);
    let vote = view(&connection, &left)["vote"].clone();
    assert_eq!(vote["takes_back"].as_array().map(Vec::len), Some(2), "{vote}");
    assert_eq!(vote["asked"], json!([{ "role": "game_master" }]));
    assert_eq!(refused(&connection, "vote", json!({ "viewer": right, "id": 1, "agree": true }))["kind"], "unavailable");
    done(&connection, "vote", json!({ "viewer": master, "id": 1, "agree": true }));
    assert_eq!(view(&connection, &master)["entities"], before);
    assert!(view(&connection, &left).get("vote").is_none());
    done(&connection, "table.close", json!({ "table": "a" }));
    // It is over in the file, too.
    done(&connection, "table.load", json!({ "table": "a", "path": path }));
    let ([left, _], _) = open(&connection);
    assert!(view(&connection, &left).get("vote").is_none());
}

/// A game master prepares an encounter from sheets, checks its chances, starts it as the next scene, and goes back.
#[test]
fn an_encounter_is_a_scene_of_the_campaign() {
    let folder = saves("encounter");
    let path = folder.join("evening.rbsave");
    let host = Host::new(Library::open(root("rulesets")).unwrap());
    let connection = host.connect(true);
    let new = json!({ "table": "a", "ruleset": "riskbreaker-0.0.3", "seed": 5, "campaign": path });
    done(&connection, "table.new", new);
    let hello = |role: Json| done(&connection, "hello", role).0["viewer"].clone();
    let master = hello(json!({ "table": "a", "role": "game_master" }));
    let player = hello(json!({ "table": "a", "role": "seat", "seat": "players" }));
    let offers = done(&connection, "offers", json!({ "viewer": master })).0;
    let cast: Vec<&str> = offers["cast"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    assert!(cast.len() >= 2 && offers["scenarios"].as_array().unwrap().len() >= 2, "{offers}");
    let one = |name: &str, count: u64| json!({ "members": [{ "name": name, "count": count }] });
    let sides = json!([one(cast[0], 1), one(cast[1], 2)]);
    let chances = done(&connection, "encounter", json!({ "viewer": master, "sides": sides })).0;
    assert!(chances["games"].as_u64() > Some(0), "{chances}");
    let shares = chances["results"].as_array().unwrap().iter().map(|result| result["share"].as_f64().unwrap());
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9, "{chances}");
    let near =
        refused(&connection, "encounter", json!({ "viewer": master, "sides": [one("Nobody", 1), one(cast[1], 1)] }));
    assert_eq!(near["kind"], "unknown_name");
    for method in ["encounter", "scene", "scenes"] {
        let params =
            if method == "scenes" { json!({ "viewer": player }) } else { json!({ "viewer": player, "sides": sides }) };
        assert_eq!(refused(&connection, method, params)["kind"], "forbidden", "{method}");
    }
    let before = done(&connection, "entries", json!({ "viewer": master })).0["entries"].as_array().unwrap().len();
    let (begun, told) = done(&connection, "scene", json!({ "viewer": master, "sides": sides, "seed": 3 }));
    assert_eq!(begun["title"], chances["title"]);
    assert_eq!(told.iter().filter(|notice| notice["method"] == "resync").count(), 2, "{told:?}");
    let scenes = done(&connection, "scenes", json!({ "viewer": master })).0;
    let scenes = scenes["scenes"].as_array().unwrap();
    assert_eq!((scenes.len(), &scenes[1]["title"]), (2, &begun["title"]));
    let titles = |viewer: &Json| {
        let view = done(&connection, "view", json!({ "viewer": viewer })).0;
        view["entities"].as_array().unwrap().len()
    };
    assert!(titles(&player) > 0 && before > 0);
    let recap = done(&connection, "recap", json!({ "viewer": player })).0;
    assert!(!recap["paragraphs"].as_array().unwrap().is_empty(), "{recap}");
    assert_eq!(refused(&connection, "recap", json!({ "viewer": player, "all": true }))["kind"], "forbidden");
    done(&connection, "goto", json!({ "viewer": master, "entry": scenes[0]["last"] }));
    assert_eq!(done(&connection, "scenes", json!({ "viewer": master })).0["scenes"].as_array().unwrap().len(), 1);
}

/// A listener is told of each new question once, in its public form, and never of a seat that a policy plays.
#[test]
fn turn_notices_are_sent_to_listeners() {
    let host = host();
    let (sender, told) = std::sync::mpsc::channel();
    host.tell_turns(move |table, notice| {
        let _ = sender.send(format!("{table}/{}/{}", notice.seat, notice.title));
    });
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 1, "seats": { "right": "absent" } }));
    let first = told.try_recv().unwrap();
    assert!(first.starts_with("a/left/") && first.contains("Ann"), "{first}");
    let (view, _) = done(&operator, "view", json!({ "table": "a" }));
    assert!(told.try_recv().is_err(), "a look is no turn");
    let question = view["questions"][0]["id"].clone();
    done(&operator, "answer", json!({ "table": "a", "question": question, "value": "rest" }));
    let next = told.try_recv().unwrap();
    assert!(next.starts_with("a/left/"), "{next}");
    assert!(told.try_recv().is_err());
}

/// Watchers of a table with a delay get everything later, also over a new connection; players and the program get it at
/// once.
#[test]
fn watchers_see_the_game_later() {
    let host = host();
    let operator = host.connect(true);
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "tug", "seed": 5 }));
    let watcher = host.connect(true);
    let hello = |connection: &Connection| done(connection, "hello", json!({ "table": "a", "role": "watcher" })).0;
    let log = host.connect(true);
    done(&log, "hello", json!({ "table": "a", "role": "watcher", "unseen": true }));
    let viewer = hello(&watcher)["viewer"].clone();
    done(&operator, "options", json!({ "table": "a", "delay": 300 }));
    let methods = |connection: &Connection| -> Vec<String> {
        let told = connection.outbox().take().into_iter();
        let told = told.map(|line| serde_json::from_str::<Json>(&line).unwrap());
        told.filter(|line| line["method"] != "presence")
            .map(|line| line["method"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(methods(&watcher), ["resync"]);
    methods(&log);
    let shown = |connection: &Connection, viewer: &Json| done(connection, "view", json!({ "viewer": viewer })).0;
    let before = shown(&watcher, &viewer)["seq"].as_u64().unwrap();
    done(&operator, "reply", json!({ "table": "a", "pairs": [["card", "pull"]] }));
    done(&operator, "say", json!({ "table": "a", "text": "well pulled" }));
    assert_eq!(methods(&log), ["step", "chat"]);
    assert!(methods(&watcher).is_empty());
    // Neither a view nor another connection reveals it earlier.
    let late = host.connect(true);
    let welcome = hello(&late);
    assert_eq!(welcome["view"]["seq"], before);
    assert_eq!(shown(&watcher, &viewer)["seq"], before);
    for (method, params) in [("sheet", json!({ "entity": 1 })), ("why", json!({ "entity": 1, "name": "at" }))] {
        let mut params = params;
        params["viewer"] = viewer.clone();
        assert_eq!(refused(&watcher, method, params)["kind"], "unavailable", "{method}");
    }
    // With a short delay they get it when that is over.
    done(&operator, "options", json!({ "table": "a", "delay": 1 }));
    for connection in [&watcher, &late] {
        methods(connection);
    }
    done(&operator, "say", json!({ "table": "a", "text": "pulled hard" }));
    for connection in [&watcher, &late] {
        while !methods(connection).contains(&"chat".to_owned()) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    while shown(&watcher, &viewer)["seq"].as_u64().unwrap() <= before {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Without a delay, everything is sent at once again.
    done(&operator, "options", json!({ "table": "a", "delay": 0 }));
    done(&operator, "say", json!({ "table": "a", "text": "again" }));
    assert_eq!(shown(&watcher, &viewer)["seq"], done(&operator, "view", json!({ "table": "a" })).0["seq"]);
}
