//! Places of a ruleset other than cards and policies where a hostile script can run.

use std::sync::Arc;

use riskbreaker::{Library, Ruleset, Session, Setup, Step, Value};

use super::{KINDS, PLAY, choose, files, plays_on, started};

/// A place of a ruleset.
pub struct Place {
    pub name: &'static str,
    /// The file, with `BODY` at the position of the script.
    file: (&'static str, String),
    /// Runs the script and returns the message.
    pub reach: fn(&Library) -> String,
}

/// Scripts that exceed a limit.
pub const BODIES: [(&str, &str); 3] = [
    ("work", "while true do end"),
    ("memory", "local l = {} while true do l[#l + 1] = (\"x\"):rep(999) .. #l end"),
    ("time", "local s = (\"a b \"):rep(15000) while true do s:gsub(\"(%w+) (%w+)\", \"%2 %1\") end"),
];

impl Place {
    /// The small ruleset with a script in this place, and another ruleset that a game of it can change to.
    pub fn library(&self, body: &str) -> Library {
        let mut all = files(&[("card", "rb.attach(\"curse\", ctx.thing) rb.act.poke(ctx.thing)")]);
        let manifest = all["bad/ruleset.toml"].replace("\"bad\"", "\"other\"");
        let others = [
            ("ruleset.toml", manifest.as_str()),
            ("play.luau", PLAY),
            ("kinds.luau", KINDS),
            ("scenarios/plain.toml", ""),
            ("convert/bad.luau", "return require(\"@riskbreaker\").convert({ id = \"bad\", run = function() end })"),
        ];
        all.extend(others.map(|(path, text)| (format!("other/{path}"), text.to_owned())));
        let (path, text) = &self.file;
        all.insert((*path).to_owned(), text.replace("BODY", body));
        Library::from_files(all.into_iter().map(|(path, text)| (path, text.into_bytes())))
    }
}

/// `play.luau` with one part replaced.
fn play(part: &str, instead: &str) -> (&'static str, String) {
    assert!(PLAY.contains(part), "{part}");
    ("bad/play.luau", PLAY.replace(part, instead))
}

fn declared(path: &'static str, what: &str) -> (&'static str, String) {
    (path, format!("local rb = require(\"@riskbreaker\")\nreturn rb.{what}"))
}

fn bad(library: &Library) -> Arc<Ruleset> {
    Ruleset::load(library, "bad").unwrap()
}

/// Starts a game that does not reach its first question.
fn begins(library: &Library) -> String {
    let mut session = Session::start(&bad(library), Setup::table(Value::map::<&str>([]))).unwrap();
    match session.advance().unwrap() {
        Step::Fault(fault) => fault.to_string(),
        step => panic!("{step:?}"),
    }
}

/// Runs a view on a game, which then plays on.
fn looks(library: &Library, look: impl FnOnce(&mut Session) -> String) -> String {
    let (mut session, before) = started(&bad(library));
    let told = look(&mut session);
    plays_on(&mut session, &before, &told);
    told
}

/// Plays a card and takes it back.
fn plays(library: &Library, card: &str) -> String {
    let (mut session, before) = started(&bad(library));
    let Ok(Step::Fault(fault)) = choose(&mut session, card) else { panic!("not stopped") };
    session.undo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.state_bytes(), before);
    fault.to_string()
}

/// All places.
pub fn all() -> Vec<Place> {
    let place = |name, file, reach| Place { name, file, reach };
    let first = "return rb.play({";
    vec![
        place(
            "view",
            play(first, &format!("{first} views = {{ v = {{ show = function(seat) BODY end }} }},")),
            |library| looks(library, |session| session.show("v", "players").unwrap_err().to_string()),
        ),
        place(
            "free act",
            play(
                first,
                &format!("{first} free = {{ f = {{ when = function(seat) BODY end, run = function(seat) end }} }},"),
            ),
            |library| looks(library, |session| session.free_acts()[0].reason.clone().unwrap()),
        ),
        place(
            "key",
            play("{ turn =", "{ turn = { key = function(e) BODY end, run = function() end }, other ="),
            begins,
        ),
        place("options", play("rb.options(rb.card_ids, { thing = thing })", "function() BODY end"), begins),
        place("check", play("topic = \"card\",", "topic = \"card\", check = function(card) BODY end,"), |library| {
            plays(library, "honest")
        }),
        place(
            "after a verb",
            declared(
                "bad/hooks/curse.luau",
                "hook({ id = \"curse\", after = { poke = function(e, holder) BODY end } })",
            ),
            |library| plays(library, "trick"),
        ),
        place(
            "around a verb",
            declared("bad/hooks/curse.luau", "hook({ id = \"curse\", wrap = { poke = function(below) BODY end } })"),
            |library| plays(library, "trick"),
        ),
        place("sheet", declared("bad/creation.luau", "creation({ check = function(sheet) BODY end })"), |library| {
            bad(library).check_sheet(&Value::map::<&str>([])).unwrap_err().to_string()
        }),
        place("price", declared("bad/creation.luau", "creation({ price = function(sheet) BODY end })"), |library| {
            let rules = bad(library);
            rules.price_sheet(&Value::map::<&str>([]), rules.default_switches()).unwrap_err().to_string()
        }),
        place(
            "conversion",
            declared("other/convert/bad.luau", "convert({ id = \"bad\", run = function() BODY end })"),
            |library| {
                let other = Ruleset::load(library, "other").unwrap();
                looks(library, |session| session.change_rules(&other).unwrap_err().to_string())
            },
        ),
    ]
}
