//! The protocol in the network: people with their devices and codes, the same bytes over every transport, and clients
//! that connect and leave. Points of the security list that the server itself ensures are tested in `crates/web/tests`;
//! the others are named `c3_NN` here.

#![cfg(feature = "web")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use riskbreaker::Library;
use riskbreaker::serve::web::NetworkHost;
use riskbreaker::serve::{Connection, Host, Queue, Received};
use riskbreaker_web::{Config, Page, Server, WebClient};
use serde_json::{Value as Json, json};
use tungstenite::{Message, WebSocket};

const RULESETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rulesets");

fn host() -> Host {
    Host::new(Library::open(RULESETS).unwrap())
}

/// Sends a request, and returns its answer and all messages before it.
fn ask(connection: &Connection, method: &str, params: Json) -> (Json, Vec<Json>) {
    let message = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }).to_string();
    let mut told: Vec<Json> =
        connection.call(&message).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    (told.pop().unwrap(), told)
}

fn done(connection: &Connection, method: &str, params: Json) -> Json {
    let (answer, _) = ask(connection, method, params);
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}

fn refused(connection: &Connection, method: &str, params: Json) -> String {
    let (answer, _) = ask(connection, method, params);
    answer["error"]["data"]["kind"].as_str().unwrap_or_else(|| panic!("{method}: {answer}")).to_owned()
}

/// A host with a table of `tug`, in a campaign or in memory, and its operator.
fn table(campaign: Option<&Path>) -> (Host, Connection) {
    let host = host();
    let operator = host.connect(true);
    let mut params = json!({ "table": "a", "ruleset": "tug", "seed": 5 });
    match campaign {
        Some(path) if path.is_file() => drop(done(&operator, "table.load", json!({ "table": "a", "path": path }))),
        Some(path) => {
            params["campaign"] = json!(path);
            done(&operator, "table.new", params);
        }
        None => drop(done(&operator, "table.new", params)),
    }
    host.open_lobby("a").unwrap();
    (host, operator)
}

fn fresh(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riskbreaker-web-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn code(operator: &Connection, mut params: Json) -> String {
    (params["table"], params["kind"]) = (json!("a"), json!("code"));
    done(operator, "invite", params)["code"].as_str().unwrap().to_owned()
}

fn people(operator: &Connection) -> Json {
    done(operator, "people", json!({ "table": "a" }))
}

fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    json[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {json}"))
}

#[test]
fn the_waiting_room_admits_whom_the_game_master_names() {
    let (host, operator) = table(None);
    let lobby = people(&operator)["lobby"].clone();
    let phone = host.connect_limited();
    // Typed in capitals and in groups.
    let join = text(&lobby, "code").to_uppercase();
    let typed = format!("{}-{}", &join[..5], &join[5..]);
    let waits = done(&phone, "hello", json!({ "code": typed, "name": "  Ann \u{202e} of Lorch " }));
    assert_eq!((&waits["waiting"], &waits["role"], &waits["view"]), (&json!(true), &Json::Null, &Json::Null));
    // Nothing about the table is sent before, not even its name.
    assert!(!waits.to_string().contains("\"a\"") && !waits.to_string().contains("tug"), "{waits}");
    assert_eq!(refused(&phone, "view", json!({})), "unknown_viewer");
    let token = text(&waits, "token").to_owned();
    let waiting = people(&operator)["waiting"].clone();
    assert_eq!(waiting[0]["name"], "Ann of Lorch");
    assert_eq!(done(&phone, "hello", json!({ "token": token }))["waiting"], true);
    phone.outbox().take();
    done(&operator, "admit", json!({ "table": "a", "request": waiting[0]["request"], "seats": ["left"] }));
    let told: Json = serde_json::from_str(&phone.outbox().take()[0]).unwrap();
    assert_eq!((&told["method"], &told["params"]["admitted"]), (&json!("admitted"), &json!(true)));
    let welcome = done(&phone, "hello", json!({ "token": token }));
    assert_eq!(
        (text(&welcome, "role"), text(&welcome, "seat"), text(&welcome, "name")),
        ("seat", "left", "Ann of Lorch")
    );
    let there = &welcome["view"]["presence"];
    assert_eq!(*there, json!([{ "role": "seat", "seat": "left", "viewers": 1, "people": ["Ann of Lorch"] }]));
    assert_eq!(people(&operator)["waiting"], json!([]));

    let other = host.connect_limited();
    let waits = done(&other, "hello", json!({ "code": join, "name": "Bob" }));
    let request = people(&operator)["waiting"][0]["request"].clone();
    done(&operator, "admit", json!({ "table": "a", "request": request, "refuse": true }));
    let told: Json = serde_json::from_str(other.outbox().take().last().unwrap()).unwrap();
    assert_eq!((&told["method"], &told["params"]["admitted"]), (&json!("admitted"), &json!(false)));
    assert_eq!(refused(&other, "hello", json!({ "token": waits["token"] })), "unknown_token");
    // A closed waiting room accepts nobody.
    done(&operator, "lobby", json!({ "table": "a", "open": false }));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": join })), "unknown_token");
}

#[test]
fn the_code_of_a_seat_admits_once() {
    let (host, operator) = table(None);
    let of_seat = code(&operator, json!({ "seats": ["left"], "name": "Ann" }));
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": of_seat }));
    assert_eq!((text(&welcome, "seat"), text(&welcome, "name"), text(&welcome, "token").len()), ("left", "Ann", 32));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": of_seat })), "unknown_token");
    // A code is no token, and a token no code.
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "token": of_seat })), "unknown_token");
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": welcome["token"] })), "unknown_token");
    assert_eq!(people(&operator)["invitations"], json!([]));
}

#[test]
fn c3_20_a_second_device_and_the_late_close_of_an_old_socket_change_nothing_for_others() {
    let (host, operator) = table(None);
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })) }));
    let further = code(&operator, json!({ "person": welcome["person"] }));
    let tablet = host.connect_limited();
    let second = done(&tablet, "hello", json!({ "code": further }));
    assert_eq!((&second["person"], &second["seat"]), (&welcome["person"], &welcome["seat"]));
    assert_ne!(second["token"], welcome["token"]);
    // The phone reconnects before its old socket is closed.
    let again = host.connect_limited();
    let back = done(&again, "hello", json!({ "token": welcome["token"] }));
    assert_eq!(back["view"]["presence"][0]["viewers"], 3);
    phone.close();
    assert_eq!(done(&again, "view", json!({}))["presence"][0]["viewers"], 2);
    done(&tablet, "view", json!({}));
    let devices = people(&operator)["people"][0]["devices"].clone();
    assert_eq!(devices.as_array().unwrap().iter().map(|device| &device["viewers"]).collect::<Vec<_>>(), [1, 1]);
    // One device is revoked; the other remains.
    done(&operator, "revoke", json!({ "table": "a", "device": devices[1]["device"] }));
    assert!(tablet.outbox().take().iter().any(|line| line.contains("\"bye\"")));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "token": second["token"] })), "unknown_token");
    done(&again, "view", json!({}));
    done(&operator, "revoke", json!({ "table": "a", "person": welcome["person"] }));
    assert_eq!(refused(&again, "view", json!({})), "unknown_viewer");
    assert_eq!(people(&operator)["people"], json!([]));
}

#[test]
fn a_person_has_several_seats_a_name_and_at_most_eight_devices() {
    let (host, operator) = table(None);
    let phone = host.connect_limited();
    let welcome =
        done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left", "right"] })), "name": "Ann" }));
    assert_eq!((&welcome["seats"], text(&welcome, "seat")), (&json!(["left", "right"]), "left"));
    let right = done(&phone, "hello", json!({ "token": welcome["token"], "seat": "right" }));
    assert_eq!(text(&right, "seat"), "right");
    assert_eq!(done(&phone, "name", json!({ "viewer": right["viewer"], "name": " Zoë  B " }))["name"], "Zoë B");
    assert_eq!(refused(&phone, "name", json!({ "viewer": right["viewer"], "name": "\u{200b}" })), "bad_params");
    assert_eq!(people(&operator)["people"][0]["name"], "Zoë B");
    let person = welcome["person"].clone();
    done(&operator, "person", json!({ "table": "a", "person": person, "seats": ["right"] }));
    assert_eq!(refused(&phone, "view", json!({ "viewer": 1 })), "unknown_viewer");
    assert_eq!(refused(&phone, "hello", json!({ "token": welcome["token"], "seat": "left" })), "forbidden");
    let held: Vec<Connection> = (0..7).map(|_| host.connect_limited()).collect();
    for device in &held {
        done(device, "hello", json!({ "code": code(&operator, json!({ "person": person })) }));
    }
    done(&phone, "hello", json!({ "token": welcome["token"] }));
    let ninth = code(&operator, json!({ "person": person }));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": ninth })), "full");
    // The oldest unused device makes room.
    held[2].close();
    done(&host.connect_limited(), "hello", json!({ "code": ninth }));
    assert_eq!(people(&operator)["people"][0]["devices"].as_array().unwrap().len(), 8);
}

#[test]
fn after_a_restart_tokens_are_valid_and_no_copy_contains_them() {
    let folder = fresh("restart");
    let file = folder.join("evening.rbsave");
    let (host, operator) = table(Some(&file));
    host.keep_port("a", 7_801).unwrap();
    let phone = host.connect_limited();
    let welcome =
        done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })), "name": "Zenobia" }));
    let unused = code(&operator, json!({ "seats": ["right"] }));
    let fleeting = code(&operator, json!({ "role": "game_master", "kept": false, "once": false }));
    let gone = done(&host.connect_limited(), "hello", json!({ "code": code(&operator, json!({ "role": "watcher" })) }));
    done(&operator, "revoke", json!({ "table": "a", "person": gone["person"] }));
    done(&operator, "lobby", json!({ "table": "a", "watch": false }));
    let copy = folder.join("copy.json");
    done(&operator, "table.save", json!({ "table": "a", "path": copy }));
    done(&operator, "table.close", json!({ "table": "a" }));
    drop((phone, operator, host));

    let (host, operator) = table(Some(&file));
    assert_eq!(host.port_of("a"), Some(7_801));
    let phone = host.connect_limited();
    let back = done(&phone, "hello", json!({ "token": welcome["token"] }));
    assert_eq!((text(&back, "seat"), text(&back, "name"), &back["person"]), ("left", "Zenobia", &welcome["person"]));
    done(&host.connect_limited(), "hello", json!({ "code": unused, "name": "Bob" }));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": fleeting })), "unknown_token");
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "token": gone["token"] })), "unknown_token");
    assert_eq!(people(&operator)["lobby"]["watch"], false);

    // Neither a token nor its hash is in a copy; the campaign itself contains only hashes.
    let token = text(&welcome, "token");
    let hash: String = {
        use std::fmt::Write as _;
        let mut hash = String::new();
        let digest = sha2_of(format!("riskbreaker token\0{token}").as_bytes());
        digest.iter().for_each(|byte| write!(hash, "{byte:02x}").unwrap());
        hash
    };
    let has = |path: &Path, what: &str| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(what.len()).any(|part| part == what.as_bytes())
    };
    assert!(has(&file, &hash) && !has(&file, token));
    let other = folder.join("other.rbsave");
    done(&operator, "table.save", json!({ "table": "a", "path": other }));
    for path in [&copy, &other] {
        assert!(!has(path, &hash) && !has(path, token) && !has(path, "Zenobia"), "{}", path.display());
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn sha2_of(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).to_vec()
}

#[test]
fn c3_08_tokens_have_128_bits_and_are_in_no_list_and_no_error() {
    let (host, operator) = table(None);
    let token = done(&operator, "invite", json!({ "table": "a", "role": "seat", "seat": "left" }))["token"].clone();
    let of_seat = code(&operator, json!({ "seats": ["left"] }));
    for secret in [token.as_str().unwrap(), &of_seat] {
        assert!(secret.len() == 32 && secret.chars().all(|digit| digit.is_ascii_hexdigit()), "{secret}");
        assert!(!people(&operator).to_string().contains(secret));
    }
    let wrong = format!("{}0", token.as_str().unwrap());
    let (answer, _) = ask(&host.connect_limited(), "hello", json!({ "token": wrong }));
    assert!(!answer.to_string().contains(&wrong), "{answer}");
}

#[test]
fn c3_09_no_field_of_a_message_gives_a_role() {
    let (host, operator) = table(None);
    let seat = code(&operator, json!({ "seats": ["left"] }));
    let wishes = [json!({ "role": "game_master" }), json!({ "role": "operator" }), json!({ "seat": "right" })];
    for wish in &wishes {
        let mut params = wish.clone();
        params["code"] = json!(code(&operator, json!({ "seats": ["left"] })));
        let connection = host.connect_limited();
        let (answer, _) = ask(&connection, "hello", params);
        let role = &answer["result"]["role"];
        assert!(answer.get("error").is_some() || (role == "seat" && answer["result"]["seat"] == "left"), "{answer}");
        let mut params = wish.clone();
        params["table"] = json!("a");
        assert_eq!(refused(&host.connect_limited(), "hello", params), "unknown_token");
    }
    let phone = host.connect_limited();
    done(&phone, "hello", json!({ "code": seat }));
    for (method, params) in [
        ("invite", json!({ "role": "game_master" })),
        ("people", json!({})),
        ("admit", json!({ "request": 1, "role": "game_master" })),
        ("person", json!({ "person": 1, "role": "game_master" })),
        ("revoke", json!({ "person": 1 })),
        ("lobby", json!({ "open": true })),
        ("pause", json!({ "paused": true })),
        ("answer", json!({ "viewer": 0, "question": { "action": 1, "ordinal": 0 }, "value": "pull" })),
    ] {
        assert!(["forbidden", "unknown_viewer"].contains(&&*refused(&phone, method, params)), "{method}");
    }
    assert!(done(&phone, "lobby", json!({}))["code"].is_string());
}

#[test]
fn c3_10_nothing_of_the_operator_is_reachable() {
    let (host, operator) = table(None);
    let master = host.connect_limited();
    done(&master, "hello", json!({ "code": code(&operator, json!({ "role": "game_master" })) }));
    for (method, params) in [
        ("table.new", json!({ "ruleset": "tug" })),
        ("table.load", json!({ "path": "/etc/passwd" })),
        ("table.save", json!({ "path": "/tmp/x" })),
        ("table.save", json!({})),
        ("table.list", json!({})),
        ("table.close", json!({})),
        ("rulesets", json!({})),
        ("shutdown", json!({})),
    ] {
        assert_eq!(refused(&master, method, params), "forbidden", "{method}");
    }
    // The name of a ruleset is no path.
    for id in ["../tug", "/etc", "tug/../tug", "..", "tug\0"] {
        for method in ["rules.preview", "rules.change"] {
            assert_eq!(refused(&master, method, json!({ "ruleset": id })), "not_started", "{id}");
        }
    }
    assert_eq!(refused(&master, "invite", json!({ "role": "operator" })), "forbidden");
    for word in ["run", "lua", "eval", "exec"] {
        assert_eq!(refused(&master, word, json!({})), "unknown_method");
    }
}

#[test]
fn c3_15_a_connection_has_limits_and_five_wrong_tokens_end_it() {
    let (host, operator) = table(None);
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })) }));
    let is_too_fast = |answer: &Json| answer["error"]["data"]["kind"] == "too_fast";
    assert!((0..10_000).any(|_| is_too_fast(&ask(&phone, "ping", json!({})).0)));
    // All devices of a person share one limit; another person has another one.
    let tablet = host.connect_limited();
    let (answer, _) = ask(&tablet, "hello", json!({ "token": welcome["token"] }));
    assert!(answer.get("result").is_some(), "{answer}");
    let others = host.connect_limited();
    done(&others, "hello", json!({ "code": code(&operator, json!({ "seats": ["right"] })) }));
    done(&others, "view", json!({}));

    let guesser = host.connect_limited();
    for at in 0..5 {
        assert!(!guesser.outbox().is_closed(), "{at}");
        assert_eq!(refused(&guesser, "hello", json!({ "token": format!("{at:032}") })), "unknown_token");
    }
    assert!(guesser.outbox().is_closed());
    // After fifty in a minute, by all clients, codes pause, and tokens do not.
    let of_seat = code(&operator, json!({ "seats": ["left"] }));
    for at in 0..45 {
        refused(&host.connect_limited(), "hello", json!({ "code": format!("{at:010}") }));
    }
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "code": of_seat })), "codes_paused");
    done(&host.connect_limited(), "hello", json!({ "token": welcome["token"] }));
    // The table has room for 64 viewers.
    let mut watchers = Vec::new();
    loop {
        let watcher = host.connect_limited();
        let (answer, _) = ask(&watcher, "hello", json!({ "watch": true }));
        if let Some(error) = answer.get("error") {
            assert_eq!(error["data"]["kind"], "full");
            break;
        }
        watchers.push(watcher);
    }
    assert!((50..=64).contains(&watchers.len()), "{}", watchers.len());
}

#[test]
fn anybody_watches_while_the_table_lets_them() {
    let (host, operator) = table(None);
    let television = host.connect_limited();
    let welcome = done(&television, "hello", json!({ "watch": true }));
    assert_eq!((text(&welcome, "role"), &welcome["token"]), ("watcher", &Json::Null));
    assert_eq!(done(&television, "lobby", json!({}))["code"], people(&operator)["lobby"]["code"]);
    assert_eq!(refused(&television, "acts", json!({})), "forbidden");
    done(&operator, "lobby", json!({ "table": "a", "watch": false }));
    assert!(television.outbox().take().iter().any(|line| line.contains("\"bye\"")));
    assert_eq!(refused(&host.connect_limited(), "hello", json!({ "watch": true })), "unknown_token");
}

#[test]
fn c3_17_a_repeated_key_gets_the_first_result_from_another_device() {
    let (host, operator) = table(None);
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })) }));
    let question =
        welcome["view"]["questions"].as_array().unwrap().iter().find(|question| question["yours"] == true).unwrap();
    let value = question["ask"]["options"][0]["id"].clone();
    let params = json!({ "question": question["id"], "value": value, "key": "tap" });
    let first = done(&phone, "answer", params.clone());
    assert_eq!(done(&phone, "answer", params.clone()), first);
    let again = host.connect_limited();
    done(&again, "hello", json!({ "token": welcome["token"] }));
    assert_eq!(done(&again, "answer", params.clone()), first);
    let stale = json!({ "question": params["question"], "value": params["value"], "key": "other" });
    assert_eq!(refused(&again, "answer", stale), "stale");
}

// Over the wire

/// Clients that are all the operator, as the transcripts need.
struct Operators {
    host: Host,
    queue: Arc<Queue>,
}

struct OperatorClient {
    connection: Connection,
    queue: Arc<Queue>,
}

impl riskbreaker_web::WebHost for Operators {
    fn connect(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<dyn WebClient> {
        let connection = self.host.connect(true);
        connection.outbox().on_filled(move || wake(), 2_000, 8 << 20);
        Arc::new(OperatorClient { connection, queue: self.queue.clone() })
    }

    fn log(&self, _: &str) {}
}

impl WebClient for OperatorClient {
    fn receive(&self, message: &str) {
        if let Received::Job(job) = self.connection.receive(message) {
            self.queue.push(job);
        }
    }

    fn is_answered(&self, message: &str) -> bool {
        message.contains("\"id\"") || !message.contains("\"method\"")
    }

    fn take(&self) -> Vec<String> {
        self.connection.outbox().take()
    }

    fn due(&self) -> Option<Duration> {
        self.connection.outbox().due()
    }

    fn is_full(&self) -> bool {
        self.connection.outbox().is_full()
    }

    fn is_closed(&self) -> bool {
        self.connection.outbox().is_closed()
    }

    fn is_welcome(&self) -> bool {
        true
    }

    fn close(&self) {
        self.connection.close();
    }
}

fn serve(host: impl riskbreaker_web::WebHost) -> Server {
    let config = Config { listens: ([127, 0, 0, 1], 0).into(), public: None, guests: Vec::new(), page: Page::Embedded };
    Server::start(Server::listen(config).unwrap(), Arc::new(host)).unwrap()
}

fn socket(server: &Server) -> WebSocket<TcpStream> {
    socket_at(server.addresses().own().host())
}

/// A socket of a server at a host with its port.
fn socket_at(host: &str) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    tungstenite::client(format!("ws://{host}/v1/ws"), stream).unwrap().0
}

/// Sends a message and returns all lines up to its answer.
fn over_socket(socket: &mut WebSocket<TcpStream>, message: &str) -> Vec<String> {
    socket.send(Message::text(message)).unwrap();
    let mut lines = Vec::new();
    loop {
        if let Message::Text(line) = socket.read().unwrap() {
            lines.push(line.to_string());
            if !line.starts_with(r#"{"jsonrpc""#) {
                return lines;
            }
        }
    }
}

/// Sends a request, again after each wait that the host asks for. `take` gets the lines up to each answer, and returns
/// the answer.
fn patiently(
    socket: &mut WebSocket<TcpStream>,
    method: &str,
    params: &Json,
    mut take: impl FnMut(&[String]) -> Json,
) -> Json {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    loop {
        let answer = take(&over_socket(socket, &message));
        match answer["error"]["data"]["wait_ms"].as_u64() {
            Some(wait) => std::thread::sleep(Duration::from_millis(wait)),
            None => return answer,
        }
    }
}

fn over_post(server: &Server, session: &mut Option<String>, message: &str) -> Vec<String> {
    let own = server.addresses().own();
    let mut stream = TcpStream::connect(own.host()).unwrap();
    let id = session.as_ref().map(|id| format!("Riskbreaker-Session: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /v1/rpc HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: application/x-ndjson\r\n{id}Content-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n",
        own.host(),
        message.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(message.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let given = head.lines().find_map(|line| line.strip_prefix("riskbreaker-session: "));
    *session = given.map(str::to_owned).or_else(|| session.take());
    body.lines().map(str::to_owned).collect()
}

#[test]
fn the_transcripts_give_the_same_bytes_over_websocket_and_post() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve");
    let transcripts: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "transcript"))
        .collect();
    assert!(transcripts.len() >= 2);
    for path in transcripts {
        let written = fs::read_to_string(&path).unwrap();
        for by_post in [false, true] {
            let queue = Arc::new(Queue::start(2).unwrap());
            let server = serve(Operators { host: host(), queue });
            let mut socket = (!by_post).then(|| socket(&server));
            let mut session = None;
            let mut told = String::new();
            for line in written.lines().filter(|line| !line.starts_with("< ")) {
                told += &format!("{line}\n");
                let Some(message) = line.strip_prefix("> ") else { continue };
                let lines = match &mut socket {
                    Some(socket) => over_socket(socket, message),
                    None => over_post(&server, &mut session, message),
                };
                lines.iter().for_each(|line| told += &format!("< {line}\n"));
            }
            assert_eq!(told, written, "{} by_post {by_post}", path.display());
        }
    }
}

/// The knowledge of a client that counts steps.
struct Mirror {
    token: Json,
    viewer: Json,
    view: Json,
    socket: WebSocket<TcpStream>,
}

impl Mirror {
    fn take(viewer: &Json, view: &mut Json, lines: &[String]) -> Json {
        let mut answer = Json::Null;
        for line in lines {
            let line: Json = serde_json::from_str(line).unwrap();
            let params = &line["params"];
            match line["method"].as_str() {
                None => answer = line,
                Some("step") if params["viewer"] == *viewer => Mirror::step(view, params),
                Some("presence") => view["presence"] = params["presence"].clone(),
                Some(_) => {}
            }
        }
        answer
    }

    fn step(view: &mut Json, step: &Json) {
        assert_eq!(step["seq"].as_u64(), view["seq"].as_u64().map(|seq| seq + 1), "no hole in the numbers");
        let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
        let mut entities: BTreeMap<u64, Json> =
            list(&view["entities"]).into_iter().map(|entity| (entity["id"].as_u64().unwrap(), entity)).collect();
        for entity in list(&step["changed"]) {
            let id = entity["id"].as_u64().unwrap();
            match entity["gone"] == true {
                true => entities.remove(&id),
                false => entities.insert(id, entity),
            };
        }
        view["entities"] = entities.into_values().collect();
        for name in ["seq", "state", "questions", "waiting", "undo", "settings"] {
            if let Some(now) = step.get(name) {
                view[name] = now.clone();
            }
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let (viewer, view) = (&self.viewer, &mut self.view);
        patiently(&mut self.socket, method, &params, |lines| Mirror::take(viewer, view, lines))
    }

    fn join(server: &Server, params: Json) -> Mirror {
        let mut mirror =
            Mirror { token: params["token"].clone(), viewer: Json::Null, view: json!({}), socket: socket(server) };
        let welcome = mirror.ask("hello", params)["result"].clone();
        assert!(welcome["view"].is_object(), "{welcome}");
        if welcome["token"].is_string() {
            mirror.token = welcome["token"].clone();
        }
        (mirror.viewer, mirror.view) = (welcome["viewer"].clone(), welcome["view"].clone());
        mirror
    }

    fn assert_fresh(&mut self) {
        let viewer = self.viewer.clone();
        // Messages before the answer are applied before the comparison.
        let fresh = self.ask("view", json!({ "viewer": viewer }))["result"].clone();
        for name in ["seq", "state", "settings", "entities", "questions", "waiting", "undo"] {
            assert_eq!(self.view[name], fresh[name], "{name}");
        }
    }
}

#[test]
fn clients_that_reconnect_and_repeat_requests_have_the_newest_view_over_the_network() {
    let mut state = 11_u64;
    let mut below = move |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most.max(1) as u64) as usize
    };
    for game in 0..3 {
        let (host, operator) = table(None);
        let codes: Vec<String> =
            ["left", "right"].iter().map(|seat| code(&operator, json!({ "seats": [seat] }))).collect();
        let master = code(&operator, json!({ "role": "game_master" }));
        let queue = Arc::new(Queue::start(2).unwrap());
        let server = serve(NetworkHost::new(host, queue, |_| {}));
        let mut clients: Vec<Mirror> =
            codes.iter().chain([&master]).map(|code| Mirror::join(&server, json!({ "code": code }))).collect();
        let mut late: Option<(Json, String)> = None;
        for turn in 0..30 {
            let at = below(clients.len());
            match below(6) {
                0 => {
                    // A socket that breaks without a close; the old one may still exist when the new one connects.
                    let token = clients[at].token.clone();
                    clients[at] = Mirror::join(&server, json!({ "token": token }));
                }
                1 => {
                    if let Some((params, answer)) = &late {
                        let again = clients[at].ask("answer", params.clone());
                        let kinds = ["stale", "refused", "key_reused"];
                        let told = again["result"]["seq"].to_string();
                        let kind = again["error"]["data"]["kind"].as_str().unwrap_or_default();
                        assert!(told == *answer || kinds.contains(&kind), "{again}");
                    }
                }
                2 if at == 2 => {
                    let seq = clients[at].view["seq"].clone();
                    clients[at].ask("undo", json!({ "expect": seq }));
                }
                _ => {
                    let questions = clients[at].view["questions"].as_array().cloned().unwrap_or_default();
                    if let Some(question) = questions.iter().find(|question| question["yours"] == true) {
                        let options = question["ask"]["options"].as_array().cloned().unwrap_or_default();
                        let value = match options.is_empty() {
                            true => question["proposal"].clone(),
                            false => options[below(options.len())]["id"].clone(),
                        };
                        let params =
                            json!({ "question": question["id"], "value": value, "key": format!("{game}-{turn}") });
                        let answer = clients[at].ask("answer", params.clone());
                        late = Some((params, answer["result"]["seq"].to_string()));
                    }
                }
            }
            clients.iter_mut().for_each(Mirror::assert_fresh);
        }
    }
}

#[test]
fn c3_16_a_client_that_does_not_read_gets_resync_and_holds_nobody_up() {
    let (host, operator) = table(None);
    let sleeper = host.connect_limited();
    sleeper.outbox().on_filled(|| {}, 256, 1 << 20);
    done(&sleeper, "hello", json!({ "code": code(&operator, json!({ "role": "watcher" })) }));
    sleeper.outbox().take();
    for _ in 0..300 {
        done(&operator, "pause", json!({ "table": "a", "paused": true }));
    }
    let told = sleeper.outbox().take();
    assert!(told.len() < 260, "{}", told.len());
    assert!(told.last().unwrap().contains("\"resync\""), "{}", told.last().unwrap());
    done(&sleeper, "view", json!({}));
    done(&operator, "pause", json!({ "table": "a", "paused": false }));
    assert!(sleeper.outbox().take().last().unwrap().contains("\"step\""));
}

#[test]
fn c3_19_every_sent_step_is_on_the_disk() {
    let folder = fresh("journal");
    let file = folder.join("evening.rbsave");
    let (host, operator) = table(Some(&file));
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })) }));
    let entries = |path: &Path| {
        let store = riskbreaker::store::Store::read(path, &Library::open(RULESETS).unwrap()).unwrap();
        store.campaigns().unwrap()[0].entries
    };
    let before = entries(&file);
    // The transport is woken by the first message about the answer: the entry is stored by then.
    let (seen, path) = (Arc::new(std::sync::Mutex::new(Vec::new())), file.clone());
    let found = seen.clone();
    phone.outbox().on_filled(move || found.lock().unwrap().push(entries(&path)), 256, 1 << 20);
    let question =
        welcome["view"]["questions"].as_array().unwrap().iter().find(|question| question["yours"] == true).unwrap();
    done(&phone, "answer", json!({ "question": question["id"], "value": question["ask"]["options"][0]["id"] }));
    let seen = seen.lock().unwrap().clone();
    assert!(!seen.is_empty() && seen.iter().all(|count| *count > before), "{before} {seen:?}");
    fs::remove_dir_all(&folder).unwrap();
}

/// A seat requests odds and hints, and then answers the question without waiting for them.
#[test]
fn c3_18_odds_run_one_at_a_time_and_end_with_their_question() {
    let (host, operator) = table(None);
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": code(&operator, json!({ "seats": ["left"] })) }));
    let question =
        welcome["view"]["questions"].as_array().unwrap().iter().find(|question| question["yours"] == true).unwrap();
    let request = |id: u64, method: &str, params: Json| {
        phone.receive(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())
    };
    let started = |received: Received| match received {
        // The part at the table copies the game, and the rest waits in its own line.
        Received::Job(job) => job.run_slice().expect("odds are worked out beside the table"),
        _ => panic!("it is work"),
    };
    let hint = json!({ "question": question["id"], "games": 4_000 });
    let first = started(request(1, "hint", hint.clone()));
    let second = started(request(2, "odds", json!({ "question": question["id"] })));
    assert_eq!(first.line(), second.line(), "one at a time for each seat");
    assert_ne!(first.line(), "a", "not in the line of the table");
    // The table continues while they wait, and the question is closed by the answer.
    done(&phone, "answer", json!({ "question": question["id"], "value": question["ask"]["options"][0]["id"] }));
    phone.outbox().take();
    first.run();
    second.run();
    let told: Vec<Json> = phone.outbox().take().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.iter().map(|line| line["id"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    for line in &told {
        assert!(line["error"].is_object() || line["result"]["partial"] == true, "it was interrupted: {line}");
    }
    // A request for an open question is answered completely.
    let view = done(&phone, "view", json!({}));
    let open = view["questions"].as_array().unwrap().iter().find(|question| question["yours"] == true);
    if let Some(question) = open {
        let odds = done(&phone, "odds", json!({ "question": question["id"] }));
        assert_eq!(odds["exact"], true, "{odds}");
    }
}

/// The bytes that a socket gets, by requests that are sent one after the other.
struct Ear {
    socket: WebSocket<TcpStream>,
    heard: String,
}

impl Ear {
    fn join(server: &Server, code: &str) -> (Ear, Json) {
        let mut ear = Ear { socket: socket(server), heard: String::new() };
        let welcome = ear.ask("hello", json!({ "code": code }));
        (ear, welcome)
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let heard = &mut self.heard;
        patiently(&mut self.socket, method, &params, |lines| {
            lines.iter().for_each(|line| *heard += &format!("{method}: {line}\n"));
            serde_json::from_str(lines.last().unwrap()).unwrap()
        })
    }
}

/// Marks are in a hidden field of North and in its sealed bid. No other socket gets them in any byte, whatever it
/// requests, and the sockets of North and of the game master do.
#[test]
fn c3_11_c3_12_and_c3_13_no_frame_contains_a_secret_of_others() {
    const LIMIT: &str = "777001";
    const BID: &str = "654321";
    let host = host();
    let operator = host.connect(true);
    let seats = ["north", "south", "east"];
    let humans: BTreeMap<&str, &str> = seats.iter().chain(&["gm"]).map(|seat| (*seat, "human")).collect();
    done(&operator, "table.new", json!({ "table": "a", "ruleset": "auction", "seed": 5, "seats": humans }));
    host.open_lobby("a").unwrap();
    let codes: Vec<String> = seats.iter().map(|seat| code(&operator, json!({ "seats": [seat] }))).collect();
    let master = code(&operator, json!({ "role": "game_master" }));
    let watcher = code(&operator, json!({ "role": "watcher" }));
    let server = serve(NetworkHost::new(host.clone(), Arc::new(Queue::start(2).unwrap()), |_| {}));
    let mut ears: Vec<Ear> = codes.iter().chain([&master, &watcher]).map(|code| Ear::join(&server, code).0).collect();
    let view = ears[3].ask("view", json!({}))["result"].clone();
    let entities = view["entities"].as_array().unwrap().clone();
    let ids: Vec<Json> = entities.iter().map(|entity| entity["id"].clone()).collect();
    let north = entities.iter().find(|entity| entity["title"] == "North").unwrap()["id"].clone();
    for (field, value) in [("coins", 900_000), ("limit", 777_001)] {
        let edit = json!({ "set": { "entity": north, "field": field, "value": value } });
        let told = ears[3].ask("edit", json!({ "edit": edit }));
        assert!(told["error"].is_null(), "{told}");
    }
    let curious = |ears: &mut Vec<Ear>| {
        for at in [0, 1, 2, 3, 4] {
            let ear = &mut ears[at];
            let view = ear.ask("view", json!({ "since": 0 }))["result"].clone();
            for id in &ids {
                ear.ask("sheet", json!({ "entity": id }));
                for name in ["limit", "nerve", "worth", "wealth"] {
                    ear.ask("why", json!({ "entity": id, "name": name }));
                }
            }
            for question in view["questions"].as_array().unwrap().iter().take(3) {
                for method in ["odds", "answers", "hint"] {
                    ear.ask(method, json!({ "question": question["id"] }));
                }
            }
            for method in ["acts", "roster", "entries", "undo.preview"] {
                ear.ask(method, json!({}));
            }
            ear.ask("reply", json!({ "pairs": [["ally", "Nor"]] }));
        }
    };
    // All are asked for a rumour at once, and then for bids.
    for (who, topic, value) in
        [(0, "rumour", json!("no")), (1, "rumour", json!("no")), (2, "rumour", json!("no")), (0, "bid", json!(654_321))]
    {
        let told = ears[who].ask("reply", json!({ "pairs": [[topic, value]] }));
        assert!(told["error"].is_null(), "{topic}: {told}");
    }
    curious(&mut ears);
    for (at, ear) in ears.iter().enumerate() {
        for mark in [LIMIT, BID] {
            let knows = at == 0 || (at == 3 && mark == LIMIT);
            let line = ear.heard.lines().find(|line| line.contains(mark));
            // A game master may or may not see a sealed bid.
            assert!(at == 3 && mark == BID || line.is_some() == knows, "{at} {mark}: {line:?}");
        }
    }
}

/// A running `riskbreaker table`.
#[cfg(feature = "cli")]
struct Program {
    child: std::process::Child,
    /// Host and port.
    address: String,
    /// The game master's code.
    code: String,
}

#[cfg(feature = "cli")]
impl Program {
    fn start(folder: &Path, rulesets: &Path, args: &[&str]) -> Program {
        use std::io::BufRead as _;
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(["table", "evening", "--no-browser", "--rulesets"])
            .arg(rulesets)
            .args(args)
            .current_dir(folder)
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("NO_COLOR", "1")
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.by_ref().map(Result::unwrap).find(|line| line.contains("#gm=")).expect("it names the address");
        // Its log is read to the end.
        std::thread::spawn(move || lines.for_each(drop));
        let (address, rest) =
            line.split_once("http://").unwrap().1.split_once("/#gm=").expect("an address with a code");
        let code = rest.split_whitespace().next().unwrap().to_owned();
        Program { address: address.to_owned(), code, child }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The texts of `say` in the campaign of a folder.
#[cfg(feature = "cli")]
fn said_in(folder: &Path) -> Vec<String> {
    let library = Library::open(RULESETS).unwrap();
    let campaign = riskbreaker::store::Store::open(folder.join("evening.rbsave"), &library).unwrap().first().unwrap();
    let mut said = Vec::new();
    campaign
        .unwrap()
        .replay(None, |entry| {
            said.extend(entry.events.iter().filter_map(|event| match &event.happening {
                riskbreaker::Happening::Said { text } => Some(text.clone()),
                _ => None,
            }));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    said
}

/// The program is killed while commands come over a socket: all acknowledged commands are in the campaign, once, and
/// the token is valid in the next process. `KILLS=500` for the long run.
#[cfg(feature = "cli")]
#[test]
fn a_killed_table_has_stored_all_that_it_acknowledged() {
    let kills: u64 = std::env::var("KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(6);
    let folder = fresh("killed");
    let mut token = None;
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..kills {
        let program = match round {
            0 => Program::start(&folder, Path::new(RULESETS), &["--rules", "tug", "--port", "0"]),
            _ => Program::start(&folder, Path::new(RULESETS), &[]),
        };
        let mut socket = socket_at(&program.address);
        let hello = match &token {
            None => json!({ "code": program.code }),
            Some(token) => json!({ "token": token }),
        };
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "hello", "params": hello }).to_string();
        let welcome: Json = serde_json::from_str(over_socket(&mut socket, &hello).last().unwrap()).unwrap();
        assert!(welcome["error"].is_null(), "{round}: {welcome}");
        if token.is_none() {
            token = Some(welcome["result"]["token"].clone());
        }
        let (quota, mut heard) = (1 + round * 7 % 13, 0);
        for number in 0..40 {
            let text = format!("{round}/{number}");
            let params = json!({ "edit": { "say": { "text": text } }, "key": text });
            let message = json!({ "jsonrpc": "2.0", "id": number, "method": "edit", "params": params }).to_string();
            socket.send(Message::text(message)).unwrap();
        }
        let mut program = Some(program);
        // Everything that the program sent before its end counts as acknowledged, even if it is read later.
        while let Ok(message) = socket.read() {
            let Message::Text(line) = message else { continue };
            let line: Json = serde_json::from_str(&line).unwrap();
            if let Some(number) = line["id"].as_u64().filter(|_| line["result"].is_object()) {
                acknowledged.push(format!("{round}/{number}"));
                heard += 1;
            }
            if heard == quota
                && let Some(program) = program.take()
            {
                std::thread::sleep(Duration::from_micros(round * 977 % 3_000));
                program.kill();
            }
        }
        assert!(program.is_none(), "{round}: it was ended");
        let said = said_in(&folder);
        for text in &acknowledged {
            assert_eq!(said.iter().filter(|line| *line == text).count(), 1, "{text} of round {round}: {said:?}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Watchers that connect again and again leave nothing behind.
#[test]
fn a_storm_of_connections_leaks_nothing() {
    let (host, operator) = table(None);
    let watcher = code(&operator, json!({ "role": "watcher" }));
    let server = serve(NetworkHost::new(host, Arc::new(Queue::start(2).unwrap()), |_| {}));
    let own = server.addresses().own().host().to_owned();
    let master = code(&operator, json!({ "role": "game_master" }));
    let (mut master, _) = Ear::join(&server, &master);
    let token = Ear::join(&server, &watcher).1["result"]["token"].clone();
    assert!(token.is_string());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for turn in 0..50 {
                    let mut socket = socket_at(&own);
                    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "hello", "params": { "token": token } });
                    let told = over_socket(&mut socket, &hello.to_string());
                    assert!(told.last().unwrap().contains("result"), "{told:?}");
                    // Half of them disconnect without a close.
                    if turn % 2 == 0 {
                        socket.close(None).unwrap();
                    }
                }
            });
        }
    });
    // Disconnected viewers are no longer counted as soon as their sockets are seen to be closed.
    let mut there = u64::MAX;
    for _ in 0..100 {
        let view = master.ask("view", json!({}));
        let presence = view["result"]["presence"].as_array().unwrap().clone();
        there = presence.iter().map(|present| present["viewers"].as_u64().unwrap()).sum();
        // Only the game master.
        if there == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{there} viewers are left");
}

/// Copies the ruleset `tug` to a folder. Returns the folder of the copy.
#[cfg(feature = "cli")]
fn copied_rules(folder: &Path) -> std::path::PathBuf {
    let rules = folder.join("rulesets/tug");
    let from = Path::new(RULESETS).join("tug");
    let mut folders = vec![from.clone()];
    while let Some(place) = folders.pop() {
        let to = rules.join(place.strip_prefix(&from).unwrap());
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false => drop(fs::copy(&entry, to.join(entry.file_name().unwrap())).unwrap()),
            }
        }
    }
    rules
}

/// Another version of an installed ruleset is installed: the game master is told of the difference, and decides.
#[cfg(feature = "cli")]
#[test]
fn an_update_waits_for_the_game_master_at_the_table() {
    let folder = fresh("update");
    let rules = copied_rules(&folder);
    let lock = |version: &str, hash: &str| {
        let text =
            format!("format = 1\n[rulesets.tug]\nversion = \"{version}\"\nsource = \"tug\"\nhash = \"{hash}\"\n");
        fs::write(folder.join("riskbreaker.lock"), text).unwrap();
    };
    lock("1.0.0", "sha256:1");
    let program = Program::start(&folder, &folder.join("rulesets"), &["--rules", "tug", "--port", "0"]);
    let mut socket = socket_at(&program.address);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "hello", "params": { "code": program.code } });
    let welcome: Json = serde_json::from_str(over_socket(&mut socket, &hello.to_string()).last().unwrap()).unwrap();
    let before = welcome["result"]["view"]["settings"]["rules"]["hash"].clone();
    let viewer = welcome["result"]["viewer"].clone();
    lock("1.1.0", "sha256:2");
    let manifest = rules.join("ruleset.toml");
    fs::write(&manifest, fs::read_to_string(&manifest).unwrap().replace("1.0.0", "1.1.0")).unwrap();
    let mut next = || loop {
        let Message::Text(line) = socket.read().expect("the game master is told") else { continue };
        let line: Json = serde_json::from_str(&line).unwrap();
        let hash = &line["params"]["settings"]["rules"]["hash"];
        break (line["method"] == "step" && !hash.is_null() && *hash != before, line);
    };
    let told = loop {
        let (changed, line) = next();
        assert!(!changed, "{line}");
        if line["method"] == "notice" {
            break line["params"]["text"].as_str().unwrap().to_owned();
        }
    };
    assert!(told.contains("Other rules are installed: tug 1.0.0 -> 1.1.0."), "{told}");
    assert!(told.contains("stays as it is until a game master switches it"), "{told}");
    let change = json!({ "jsonrpc": "2.0", "id": 1, "method": "rules.change", "params": { "viewer": viewer, "ruleset": "tug" } });
    let switched = over_socket(&mut socket, &change.to_string());
    assert!(switched.last().unwrap().contains("\"result\""), "{switched:?}");
    program.kill();
    fs::remove_dir_all(&folder).unwrap();
}

/// A file of the rules is saved while a table is played: the host reloads it, the rules change, and the game master is
/// notified.
#[cfg(feature = "cli")]
#[test]
fn changed_rules_on_the_disk_are_loaded_at_the_table() {
    let folder = fresh("reload");
    let rules = copied_rules(&folder);
    let program = Program::start(&folder, &folder.join("rulesets"), &["--rules", "tug", "--port", "0"]);
    let mut socket = socket_at(&program.address);
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "hello", "params": { "code": program.code } });
    let welcome: Json = serde_json::from_str(over_socket(&mut socket, &hello.to_string()).last().unwrap()).unwrap();
    let before = welcome["result"]["view"]["settings"]["rules"]["hash"].clone();
    assert!(!before.is_null(), "{welcome}");
    let play = rules.join("play.luau");
    fs::write(&play, fs::read_to_string(&play).unwrap() + "-- changed\n").unwrap();
    let (mut changed, mut told) = (false, false);
    while !(changed && told) {
        let Message::Text(line) = socket.read().expect("the game master is told") else { continue };
        let line: Json = serde_json::from_str(&line).unwrap();
        let hash = &line["params"]["settings"]["rules"]["hash"];
        changed |= line["method"] == "step" && !hash.is_null() && *hash != before;
        told |= line["method"] == "notice" && line["params"]["text"].as_str().is_some_and(|text| !text.is_empty());
    }
    program.kill();
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_look_as_a_seat_sees_the_same_and_cannot_play() {
    let (host, operator) = table(None);
    let look = done(&operator, "invite", json!({ "table": "a", "seats": ["right"], "kind": "code", "look": true }));
    let phone = host.connect_limited();
    let welcome = done(&phone, "hello", json!({ "code": look["code"] }));
    let viewer = &welcome["viewer"];
    assert_eq!((text(&welcome, "role"), text(&welcome, "seat")), ("seat", "right"));
    assert!(welcome["view"]["presence"].as_array().unwrap().iter().all(|one| one["role"] != "seat"), "{welcome}");
    assert_eq!(people(&operator)["people"], json!([]));
    let pairs = json!([["card", "pull"]]);
    assert_eq!(refused(&phone, "reply", json!({ "viewer": viewer, "pairs": pairs })), "forbidden");
    assert_eq!(refused(&phone, "say", json!({ "viewer": viewer, "text": "hello" })), "forbidden");
    // The code is valid once; its token opens the look again.
    let again = host.connect_limited();
    assert_eq!(refused(&again, "hello", json!({ "code": look["code"] })), "unknown_token");
    let welcome = done(&again, "hello", json!({ "token": welcome["token"] }));
    assert_eq!(text(&welcome, "seat"), "right");
}

#[test]
fn people_who_are_absent_keep_their_names() {
    let (host, operator) = table(None);
    let code = code(&operator, json!({ "seats": ["left"], "name": "Ann" }));
    let phone = host.connect_limited();
    done(&phone, "hello", json!({ "code": code }));
    let presence = || done(&operator, "view", json!({ "table": "a" }))["presence"].clone();
    assert_eq!(presence(), json!([{ "role": "seat", "seat": "left", "viewers": 1, "people": ["Ann"] }]));
    phone.close();
    assert_eq!(presence(), json!([{ "role": "seat", "seat": "left", "viewers": 0, "absent": ["Ann"] }]));
}
