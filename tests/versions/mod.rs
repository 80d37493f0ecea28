//! Games that come from another version of the same ruleset.

use std::sync::Arc;

use riskbreaker::{Answer, Library, Ruleset, Session, Setup, Value};

const PLAY: &str = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() \
     for _, name in { \"Ann\", \"Bea\" } do rb.spawn(KIND, { name = name }) end \
     rb.recur(\"turn\", { 1 }, { 1 }, rb.first(KIND)) end, entries = { turn = function(who) \
     who:set(FIELD, rb.number({ seat = \"gm\", topic = \"n\", about = who, why = \"\", min = 0, max = 9 })) end } })";

/// A version of a game: its kind, the fields besides the name with their declarations, the field that its turns set, and
/// the file in `convert/`.
struct Version {
    number: &'static str,
    kind: &'static str,
    fields: &'static str,
    field: &'static str,
    convert: &'static str,
}

const FIRST: Version = Version {
    number: "1.4",
    kind: "hero",
    fields: "hits = rb.int({ default = 7 }), mood = rb.int({ default = 2 }), foe = rb.ref(\"hero\")",
    field: "hits",
    convert: "",
};
const SECOND: Version = Version {
    number: "2.0",
    kind: "character",
    fields: "harm = rb.int({ default = 0, max = 8 }), mood = rb.int({ default = 2 }), foe = rb.ref(\"character\")",
    field: "harm",
    convert: "from = \"<2\", renamed = { hero = \"character\", character = { hits = \"harm\" } }",
};
const THIRD: Version = Version {
    number: "3",
    kind: "character",
    fields: "wounds = rb.int({ default = 0 }), rival = rb.ref(\"character\")",
    field: "wounds",
    convert: "steps = { { from = \"<2\", renamed = { hero = \"character\", character = { hits = \"harm\" } } }, \
              { from = \"<3\", renamed = { character = { harm = \"wounds\", foe = \"rival\" } }, \
              dropped = { character = { \"mood\" } }, run = function(change) \
              change.decide(\"version\", \"it was {}\", change.version) end } }",
};

fn library(version: &Version, more: &[(&str, &str)]) -> Library {
    let Version { number, kind, fields, field, convert } = version;
    let rb = |text: &str| format!("local rb = require(\"@riskbreaker\")\nreturn rb.{text}\n");
    let manifest =
        format!("id = \"game\"\ntitle = \"Game\"\nversion = \"{number}\"\nscenario = \"s\"\n[seats]\ngm = \"GM\"\n");
    let kinds = rb(&format!("kinds({{ {kind} = {{ title = \"name\", fields = {{ name = rb.text(), {fields} }} }} }})"));
    let play = PLAY.replace("KIND", &format!("\"{kind}\"")).replace("FIELD", &format!("\"{field}\""));
    let convert = rb(&format!("convert({{ id = \"game\", {convert} }})"));
    let mut files = vec![
        ("game/ruleset.toml", manifest.as_str()),
        ("game/kinds.luau", &kinds),
        ("game/play.luau", &play),
        ("game/scenarios/s.toml", "title = \"S\"\n"),
    ];
    if !version.convert.is_empty() {
        files.push(("game/convert/game.luau", &convert));
    }
    files.extend(more);
    Library::from_files(files)
}

fn rules(version: &Version) -> Arc<Ruleset> {
    Ruleset::load(&library(version, &[]), "game").unwrap_or_else(|error| panic!("{error}"))
}

fn begin(version: &Version) -> Session {
    let mut session = Session::start(&rules(version), Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    session
}

fn set(session: &mut Session, number: i64) {
    let id = session.questions()[0].id;
    session.answer(id, Answer::Number(number)).unwrap();
    let _ = session.advance().unwrap();
}

fn change(session: &mut Session, to: &Version) {
    session.change_rules(&rules(to)).unwrap_or_else(|error| panic!("{error}"));
    let _ = session.advance().unwrap();
}

fn field(session: &Session, name: &str) -> Option<i64> {
    let view = session.view();
    view.field(view.find("Ann").unwrap(), name).and_then(Value::as_int)
}

#[test]
fn a_renamed_kind_and_field_keep_their_values_over_versions_and_back() {
    let mut session = begin(&FIRST);
    set(&mut session, 5);
    // From the first version to the third, through the names of the second.
    change(&mut session, &THIRD);
    assert_eq!((field(&session, "wounds"), field(&session, "mood")), (Some(5), None));
    let told: Vec<String> = session.log().iter().map(|event| event.happening.line()).collect();
    assert!(told.iter().any(|line| line == "version: it was 1.4"), "{told:?}");
    // What was changed meanwhile returns under the old names, and so does what had no place.
    set(&mut session, 9);
    change(&mut session, &FIRST);
    assert_eq!((field(&session, "hits"), field(&session, "mood"), field(&session, "wounds")), (Some(9), Some(2), None));
    // A value that does not fit returns where it fits.
    change(&mut session, &SECOND);
    assert_eq!(field(&session, "harm"), Some(8));
    change(&mut session, &THIRD);
    assert_eq!(field(&session, "wounds"), Some(9));
    let ids = |session: &Session| ["Ann", "Bea"].map(|name| session.view().find(name).unwrap());
    let found = ids(&session);
    while session.undo().is_ok() {
        let _ = session.advance().unwrap();
    }
    assert_eq!((field(&session, "hits"), ids(&session)), (Some(7), found));
}

#[test]
fn a_preview_names_what_is_called_otherwise() {
    let session = begin(&FIRST);
    let lines: Vec<String> =
        session.preview_rules(&rules(&SECOND)).unwrap().notes.iter().map(|note| note.text.clone()).collect();
    assert!(lines.iter().any(|line| line == "hits is called harm"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("harm 0") || line.contains("hits 7")), "{lines:?}");
}

#[test]
fn files_that_are_edited_during_a_game_keep_renamed_values_if_the_version_changes() {
    let mut session = begin(&FIRST);
    set(&mut session, 5);
    let _ = session.reload(rules(&SECOND)).unwrap();
    assert_eq!(field(&session, "harm"), Some(5));
    let saved = session.save();
    let mut read = Session::load(&library(&SECOND, &[]), &saved).unwrap_or_else(|error| panic!("{error}"));
    let _ = (session.advance().unwrap(), read.advance().unwrap());
    assert_eq!((field(&read, "harm"), read.save()), (Some(5), session.save()));
    // An undo over the reload keeps the new rules in force.
    session.undo().unwrap();
    assert_eq!(field(&session, "harm"), Some(7));
    // Without another version, the names are only different ones.
    let same = Version { number: "1.4", ..SECOND };
    let mut session = begin(&FIRST);
    set(&mut session, 5);
    let error = session.reload(rules(&same)).unwrap_err().to_string();
    assert!(error.contains("the kind `hero` is gone"), "{error}");
}

#[test]
fn conversions_of_a_game_and_of_its_layer_both_run() {
    let layer = |number: &str, field: &str, convert: &str| {
        let manifest = format!("id = \"house\"\ntitle = \"House\"\nversion = \"{number}\"\nextends = \"game\"\n");
        let kinds = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ {} = rb.extend({{ fields = {{ {field} = rb.int({{ default = 4 }}) }} }}) }})\n",
            if number == "1" { "hero" } else { "character" },
        );
        let convert =
            format!("local rb = require(\"@riskbreaker\")\nreturn rb.convert({{ id = \"house\", {convert} }})\n");
        (manifest, kinds, convert)
    };
    let load = |version: &Version, (manifest, kinds, convert): &(String, String, String)| {
        let files = [
            ("house/ruleset.toml", &**manifest),
            ("house/kinds.luau", &**kinds),
            ("house/convert/house.luau", &**convert),
        ];
        Ruleset::load(&library(version, &files), "house").unwrap_or_else(|error| panic!("{error}"))
    };
    let told = "run = function(change) change.decide(\"house\", \"{} comes from {}\", rb.first(\"character\"), change.version) end";
    let old = load(&FIRST, &layer("1", "luck", "run = function() end"));
    let new = load(
        &THIRD,
        &layer("2", "fate", &format!("from = \"1\", renamed = {{ character = {{ luck = \"fate\" }} }}, {told}")),
    );
    let mut session = Session::start(&old, Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    set(&mut session, 6);
    session.change_rules(&new).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((field(&session, "wounds"), field(&session, "fate")), (Some(6), Some(4)));
    let told: Vec<String> = session.log().iter().map(|event| event.happening.line()).collect();
    for line in ["version: it was 1.4", "house: Ann comes from 1"] {
        assert!(told.iter().any(|told| told == line), "{line} in {told:?}");
    }
}

#[test]
fn wrong_conversions_are_reported_with_what_to_write() {
    let cases = [
        ("from = \"old\", run = function() end", "`old` is no range of versions", "\">=1.2, <2\""),
        ("renamed = { character = { hits = \"harms\" } }", "`character` has no field `harms`", "did you mean `harm`?"),
        ("renamed = { hero = \"charakter\" }", "there is no kind `charakter`", "did you mean `character`?"),
        ("renamed = { character = { hits = \"harm\", cuts = \"harm\" } }", "`cuts` and `hits` both become `harm`", ""),
        ("renamed = { character = { hits = 3 } }", "the new name of `hits` is not a text", "hits = \"its new name\""),
        ("renamed = { hero = 3 }", "`renamed` has neither a name nor fields for `hero`", "hero = \"its new name\""),
        ("dropped = { hero = false }", "`dropped` has neither true nor a list of fields for `hero`", "hero = true"),
        ("steps = { { run = function() end } }, from = \"<2\"", "has `steps`, and `from` beside it", "move `from`"),
        ("steps = { 3 }", "step 1 of convert `game` is not a table", "run = function(change)"),
        ("steps = {}", "lacks `run`", "a function(change)"),
        ("from = \"<2\"", "lacks `run`", "a function(change)"),
        ("form = \"<2\", run = function() end", "`form`", "did you mean `from`?"),
    ];
    for (convert, message, cure) in cases {
        let library = library(&Version { convert, ..SECOND }, &[]);
        let error = Ruleset::load(&library, "game").unwrap_err().to_string();
        assert!(error.contains(message) && error.contains(cure), "{convert}: {error}");
    }
}
