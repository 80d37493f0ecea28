//! Moving running games between rulesets and house rules: carried values, dormant values, and exact undo.

mod versions;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use riskbreaker::play::{MigrationError, MigrationFate};
use riskbreaker::ruleset::SwitchKind;
use riskbreaker::{Answer, Driver, Edit, EntityId, Library, Ruleset, Session, Setup, Step, Value};

const OLD: &str = "riskbreaker-0.0.1";
const NEW: &str = "riskbreaker-0.0.3";

fn library() -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap()
}

fn load(library: &Library, id: &str) -> Arc<Ruleset> {
    Ruleset::load(library, id).unwrap_or_else(|error| panic!("{error}"))
}

fn start(rules: &Arc<Ruleset>, scenario: &str, seed: u64) -> Session {
    let mut setup = Setup::scenario(scenario).seed(seed);
    for seat in rules.seats().keys() {
        setup = setup.seat(seat, riskbreaker::Driver::Human);
    }
    let mut session = Session::start(rules, setup).unwrap();
    let _ = session.advance().unwrap();
    session
}

/// Answers one open question like a policy, with a card that has an effect if one is offered.
fn decide(session: &mut Session, n: u64) {
    let question = session.questions()[0].clone();
    let policy = if n.is_multiple_of(3) { "random" } else { "bold" };
    let answer = session.suggest(question.id, policy).unwrap();
    let answer = answer.or_else(|| question.default.clone()).unwrap_or_else(|| match question.ask.options() {
        [] => Answer::Confirm(true),
        options => Answer::Choice(options.iter().find(|option| option.enabled).unwrap().id.clone()),
    });
    session.answer(question.id, answer).unwrap();
    match session.advance().unwrap() {
        Step::Fault(fault) => panic!("{fault}\n{:?}", fault.chain),
        Step::Ask | Step::Over(_) => {}
    }
}

fn number(session: &Session, id: EntityId, field: &str) -> i64 {
    session.view().field(id, field).and_then(Value::as_int).unwrap_or_else(|| panic!("{id} has no {field}"))
}

fn refers(session: &Session, id: EntityId, field: &str) -> Option<EntityId> {
    match session.view().field(id, field) {
        Some(Value::Entity(other)) => Some(*other),
        _ => None,
    }
}

/// Everything that both versions can express, in common words.
fn facts(session: &mut Session) -> BTreeMap<String, String> {
    let ids: Vec<EntityId> = session.view().of_kind("character").collect();
    let mut facts = BTreeMap::new();
    for id in ids {
        let name = session.view().title(id).to_string();
        let fields = [
            "muscle",
            "agility",
            "wit",
            "personality",
            "muscle_damage",
            "agility_damage",
            "wit_damage",
            "personality_damage",
            "kill_damage",
            "counters",
            "points",
            "out",
            "party",
            "place",
            "seat",
        ];
        for field in fields {
            let value = session.view().field(id, field).cloned().unwrap_or_default();
            facts.insert(format!("{name} {field}"), session.view().words(&value));
        }
        for field in ["skills", "skill_stat", "fight_skills", "magical_skills", "healing_skills"] {
            let value = session.view().field(id, field).cloned().unwrap_or_default();
            facts.insert(format!("{name} {field}"), value.to_string().replace("Maneuver", "Move"));
        }
        let side = refers(session, id, "side")
            .filter(|side| refers(session, *side, "fight").is_some_and(|fight| goes_on(session, fight)));
        facts.insert(format!("{name} is on"), side.map_or("no side".into(), |side| side.to_string()));
    }
    for party in session.view().of_kind("party").collect::<Vec<_>>() {
        let title = session.view().title(party).to_string();
        for field in ["fled", "surrendered", "cause"] {
            let value = session.view().field(party, field).cloned().unwrap_or_default();
            facts.insert(format!("{title} {field}"), value.to_string());
        }
    }
    facts
}

/// The lead of the first of the two sides with somebody on it, in each current fight, including what is owed to it.
fn leads(session: &Session) -> BTreeMap<EntityId, i64> {
    let old = session.ruleset().id() == OLD;
    let view = session.view();
    let mut sides: BTreeMap<EntityId, Vec<EntityId>> = BTreeMap::new();
    for side in view.of_kind("side") {
        let manned = view.of_kind("character").any(|member| refers(session, member, "side") == Some(side));
        if let Some(fight) = refers(session, side, "fight").filter(|fight| manned && goes_on(session, *fight)) {
            sides.entry(fight).or_default().push(side);
        }
    }
    let owed = |side: EntityId| {
        let home = |member: EntityId| refers(session, member, "side").or(refers(session, member, "owed_side"));
        let members = view.of_kind("character").filter(|member| home(*member) == Some(side));
        number(session, side, "owed") + members.map(|member| number(session, member, "owed")).sum::<i64>()
    };
    let lead = |fight: EntityId, sides: &[EntityId]| match old {
        true => {
            number(session, fight, "advantage") * number(session, sides[0], "sign") + owed(sides[0]) - owed(sides[1])
        }
        false => number(session, sides[0], "advantage") - number(session, sides[1], "advantage"),
    };
    sides.iter().filter(|(_, sides)| sides.len() == 2).map(|(fight, sides)| (*fight, lead(*fight, sides))).collect()
}

/// The fight of each character.
fn standings(session: &Session) -> BTreeMap<String, EntityId> {
    let view = session.view();
    let fight = |id| refers(session, refers(session, id, "side")?, "fight");
    view.of_kind("character").filter_map(|id| Some((view.title(id).to_string(), fight(id)?))).collect()
}

fn goes_on(session: &Session, fight: EntityId) -> bool {
    session.view().field(fight, "state") != Some(&Value::text("over"))
}

/// Plays on until other rules are in force, or the game is over.
fn until(session: &mut Session, rules: &str, from: u64) -> bool {
    for n in 0..400 {
        if session.ruleset().id() == rules {
            return true;
        }
        if session.outcome().is_some() || session.pending_rules().is_none() {
            return false;
        }
        decide(session, from + n);
    }
    panic!("{rules} never comes into force");
}

/// Changes to other rules and checks the effects, with one undo and redo.
fn go_over(session: &mut Session, to: &Arc<Ruleset>, from: u64) -> bool {
    let id = session.ruleset().id().to_string();
    match session.change_rules(to) {
        Ok(migration) => assert_eq!((&*migration.from, &*migration.to), (&*id, to.id())),
        Err(MigrationError::Refused { notes, .. }) => {
            // Only a fight of three sides may prevent the change.
            assert!(notes.iter().all(|note| note.text.contains("sides")), "{notes:?}");
            return false;
        }
        Err(error) => panic!("{error}"),
    }
    assert!(session.pending_rules().is_some_and(|pending| pending.id() == to.id()));
    let _ = session.advance().unwrap();
    if !until(session, to.id(), from) {
        return false;
    }
    assert!(session.pending_rules().is_none());
    let (after, fights_after, bytes) = (facts(session), standings(session), session.state_bytes());
    session.undo().unwrap();
    assert_eq!(session.ruleset().id(), id);
    assert!(session.pending_rules().is_none());
    let (before, lead_before) = (facts(session), leads(session));
    let fights_before: Vec<EntityId> = session.view().of_kind("fight").collect();
    for (fact, was) in &before {
        let now = &after[fact];
        // A healed character who was out acts again; a fight that was over or without opponents is gone.
        let rises = fact.ends_with(" out") && was == "yes" && now == "no";
        let shut_out = fact.ends_with(" is on") && now == "no side" && session.view().of_kind("bar").next().is_some();
        // The game has played on to a question: a round of the new rules may have begun, in which people whose fight
        // was over meet in a new one.
        let name = fact.strip_suffix(" is on");
        let meets = |name| fights_after.get(name).is_some_and(|fight| !fights_before.contains(fight));
        let meets = was == "no side" && name.is_some_and(meets);
        assert!(was == now || rises || shut_out || meets, "{fact}: {was} -> {now}");
    }
    // What was owed is settled, and nothing else changes the lead. The game has played on since, so the preview is
    // compared.
    let preview = session.preview_rules(to).unwrap();
    assert_eq!(preview.waits_for, None);
    let told = preview.notes.iter().filter(|note| note.topic == "Advantage");
    for (told, (fight, lead)) in told.zip(&lead_before) {
        let scores: Vec<i64> = match to.id() {
            NEW => told.text.split(", ").filter_map(|score| score.rsplit(' ').next()?.parse().ok()).collect(),
            _ => {
                let (_, pair) = told.text.trim_end_matches(')').rsplit_once('(').unwrap();
                pair.split(" against ").filter_map(|score| score.parse().ok()).collect()
            }
        };
        let found = scores[0] - scores[1];
        assert_eq!(found.abs(), lead.abs(), "{fight}: {}", told.text);
    }
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.ruleset().id(), to.id());
    assert_eq!(session.state_bytes(), bytes);
    true
}

/// At every decision of a fight: changes the rules, plays on a little, and changes back; then undoes everything.
fn there_and_back(from: &str, to: &str, scenario: &str, seed: u64, step: usize) {
    let library = library();
    let (home, away) = (load(&library, from), load(&library, to));
    let mut session = start(&home, scenario, seed);
    let (mut there, mut back, mut n) = (0, 0, seed);
    for at in 0..2_000 {
        if session.outcome().is_some() {
            break;
        }
        if at % step == 0 {
            let (bytes, decisions) = (session.state_bytes(), session.decisions());
            let open = session.questions().to_vec();
            if go_over(&mut session, &away, n) {
                there += 1;
                for more in 0..(at as u64 % 7) {
                    if session.outcome().is_none() {
                        decide(&mut session, n + more);
                    }
                }
                if session.outcome().is_none() && go_over(&mut session, &home, n) {
                    back += 1;
                }
            }
            while session.decisions() > decisions {
                session.undo().unwrap();
            }
            let _ = session.advance().unwrap();
            assert_eq!(session.decisions(), decisions);
            assert_eq!(session.ruleset().id(), from);
            assert_eq!(session.state_bytes(), bytes, "{from}, {scenario}, seed {seed}, decision {at}");
            assert_eq!(session.questions(), open);
        }
        decide(&mut session, n);
        n += 1;
    }
    assert!(there > 2 && back > 1, "{from}, {scenario}, seed {seed}: {there} there, {back} back");
}

#[test]
fn from_every_decision_of_a_duel_there_and_back() {
    there_and_back(OLD, NEW, "duel", 1, 1);
    there_and_back(NEW, OLD, "duel", 2, 1);
}

#[test]
fn from_the_decisions_of_a_battle_there_and_back() {
    there_and_back(OLD, NEW, "four-against-four", 3, 5);
    there_and_back(NEW, OLD, "four-against-four", 4, 5);
}

#[test]
fn from_the_decisions_of_other_positions_there_and_back() {
    there_and_back(OLD, NEW, "mage-and-stairway", 5, 7);
    there_and_back(NEW, OLD, "stairway", 6, 7);
}

#[test]
fn a_pending_change_of_rules_can_be_withdrawn_and_undone() {
    let library = library();
    let (home, away) = (load(&library, OLD), load(&library, NEW));
    let mut session = start(&home, "duel", 1);
    for n in 0..3 {
        decide(&mut session, n);
    }
    let (bytes, decisions) = (session.state_bytes(), session.decisions());
    assert!(matches!(session.keep_rules(), Err(MigrationError::NothingPending)));
    let migration = session.change_rules(&away).unwrap();
    assert_eq!(migration.waits_for.as_deref(), Some("round"));
    let _ = session.advance().unwrap();
    assert_eq!((session.ruleset().id(), session.state_bytes()), (OLD, bytes.clone()));
    session.keep_rules().unwrap();
    assert_eq!((session.pending_rules().is_none(), session.decisions()), (true, decisions + 2));
    assert!(matches!(session.keep_rules(), Err(MigrationError::NothingPending)));
    assert_eq!(session.undo().unwrap().text, format!("undid calling off {NEW}"));
    assert!(session.pending_rules().is_some());
    session.redo().unwrap();
    assert!(session.pending_rules().is_none());
    session.undo().unwrap();
    assert_eq!(session.undo().unwrap().text, format!("undid asking for {NEW}"));
    assert!(session.pending_rules().is_none());
    session.redo().unwrap();
    assert!(session.pending_rules().is_some());
    decide(&mut session, 1);
    // Later decisions are undone first.
    session.undo().unwrap();
    assert!(session.pending_rules().is_some() || session.ruleset().id() == NEW);
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((session.pending_rules().is_none(), session.state_bytes()), (true, bytes));
    assert!(matches!(session.change_rules(&home), Err(MigrationError::Same(_))));
}

#[test]
fn an_undone_change_of_rules_is_done_again_where_it_was_made() {
    let library = library();
    let (home, away) = (load(&library, OLD), load(&library, NEW));
    let mut session = start(&home, "duel", 1);
    session.change_rules(&away).unwrap();
    for n in 0..40 {
        decide(&mut session, n);
        let _ = session.advance().unwrap();
        if session.ruleset().id() == NEW {
            break;
        }
    }
    let (bytes, log) = (session.state_bytes(), session.log());
    assert_eq!(session.ruleset().id(), NEW);
    for _ in 0..2 {
        session.undo().unwrap();
        // The game continues by the old rules, beyond the boundary.
        let _ = session.advance().unwrap();
        assert_eq!(session.ruleset().id(), OLD);
        assert!(session.state_bytes() != bytes);
        session.redo().unwrap();
        let _ = session.advance().unwrap();
        assert_eq!((session.ruleset().id(), session.state_bytes()), (NEW, bytes.clone()));
        assert_eq!(session.log(), log);
    }
    // A decision by the old rules is a divergence.
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    decide(&mut session, 1);
    assert!(session.redo().is_err());
}

#[test]
fn a_saved_game_continues_before_and_after_a_change_of_rules() {
    let library = library();
    let (home, away) = (load(&library, OLD), load(&library, NEW));
    let mut session = start(&home, "four-against-four", 7);
    for n in 0..6 {
        decide(&mut session, n);
    }
    session.change_rules(&away).unwrap();
    let _ = session.advance().unwrap();
    let mut moved = false;
    for n in 0..40 {
        if session.outcome().is_some() {
            break;
        }
        if n % 5 == 0 || (session.ruleset().id() == NEW) != moved {
            moved = session.ruleset().id() == NEW;
            let mut read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
            let _ = read.advance().unwrap();
            assert_eq!(read.ruleset().hash(), session.ruleset().hash());
            assert_eq!(
                read.pending_rules().map(|rules| rules.hash()),
                session.pending_rules().map(|rules| rules.hash())
            );
            assert_eq!(read.state_bytes(), session.state_bytes());
            assert_eq!(read.questions(), session.questions());
            assert_eq!(read.decisions(), session.decisions());
            if n == 15 {
                // The loaded game can be undone across the change as well.
                let (mut one, mut other) = (read, Session::load(&library, &session.save()).unwrap());
                while one.undo().is_ok() {
                    other.undo().unwrap();
                    assert_eq!(one.state_bytes(), other.state_bytes());
                }
                assert_eq!(one.ruleset().id(), OLD);
            }
        }
        decide(&mut session, n);
    }
    assert!(moved);
    // The files are those of the library, as in a game that never changed its rules, so the save contains none.
    let text = session.save();
    let sources: usize = [&home, &away].iter().map(|rules| rules.cards().len()).sum();
    assert!(sources > 20 && !text.contains("--!strict"), "{sources}");
    let nothing = Library::from_files([("x/ruleset.toml", "id = \"x\"\ntitle = \"x\"\nversion = \"1\"\n")]);
    let missing = Session::load(&nothing, &text).err().unwrap().to_string();
    assert!(missing.contains(OLD), "{missing}");
}

/// Tries every value of every house rule, in the middle of a fight and at its start.
fn flip_all(id: &str) {
    let library = library();
    let rules = load(&library, id);
    for decisions in [0, 5] {
        let mut session = start(&rules, "four-against-four", 11);
        for n in 0..decisions {
            decide(&mut session, n);
        }
        let (bytes, open) = (session.state_bytes(), session.questions().to_vec());
        for switch in rules.switches() {
            let values: Vec<Value> = match &switch.kind {
                SwitchKind::Choice { values } => values.iter().map(Value::text).collect(),
                SwitchKind::Toggle => vec![true.into(), false.into()],
                SwitchKind::Range { min, max } => vec![(*min).into(), (*max).into()],
            };
            let before = session.switch(&switch.name).cloned();
            for value in values {
                session.set_switch(&switch.name, value.clone()).unwrap_or_else(|refusal| panic!("{refusal}"));
                if let Step::Fault(fault) = session.advance().unwrap() {
                    panic!("{} {value}: {fault}", switch.name);
                }
                assert_eq!(session.switch(&switch.name), Some(&value));
                let read = Session::load(&library, &session.save());
                if switch.name.len() % 9 == 0 {
                    assert_eq!(read.unwrap().switches(), session.switches());
                }
                session.undo().unwrap();
                let _ = session.advance().unwrap();
                assert_eq!(session.switch(&switch.name).cloned(), before);
                assert_eq!(session.state_bytes(), bytes, "{}", switch.name);
                assert_eq!(session.questions(), open, "{}", switch.name);
            }
            let refusal = session.set_switch(&switch.name, "no such value").unwrap_err();
            assert!(refusal.to_string().contains("cannot be `no such value`"), "{refusal}");
        }
    }
}

#[test]
fn every_house_rule_can_be_turned_in_a_running_game() {
    flip_all(OLD);
    flip_all(NEW);
}

#[test]
fn an_unknown_house_rule_is_answered_with_the_nearest() {
    let library = library();
    let mut session = start(&load(&library, OLD), "duel", 1);
    let refusal = session.set_switch("turn_oder", "lowest_first").unwrap_err();
    assert_eq!(refusal.to_string(), format!("{OLD} has no house rule `turn_oder`; did you mean `turn_order`?"));
    session.set_switch("turn_order", "lowest_first").unwrap();
    session.undo().unwrap();
    assert_eq!(session.switch("turn_order"), Some(&"highest_first".into()));
    session.redo().unwrap();
    assert_eq!(session.switch("turn_order"), Some(&"lowest_first".into()));
}

#[test]
fn a_game_with_house_rules_on_top_is_named_with_them_and_an_empty_agenda_is_refused() {
    let library = library();
    let rules = load(&library, OLD);
    let mut session = start(&rules, "duel", 1);
    let house = load(&library, "riskbreaker-0.0.1+house-armour");
    assert_eq!(session.change_rules(&house).unwrap().to, "riskbreaker-0.0.1+house-armour");
    let _ = session.advance().unwrap();
    assert_eq!(session.ruleset().name(), "riskbreaker-0.0.1+house-armour");
    let read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((read.ruleset().name(), read.state_bytes()), (session.ruleset().name(), session.state_bytes()));
    let error = session.change_rules(&load(&library, "riskbreaker-common")).unwrap_err();
    assert!(error.to_string().contains("agenda: nothing on it fits the new rules"), "{error}");
}

/// Two small games for what the core does with any rules.
fn small(more: &[(&str, &str)]) -> Library {
    let game = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() rb.spawn(\"hero\", { name = \"Ann\" }) \
                rb.recur(\"turn\", { 1 }, { 1 }, rb.first(\"hero\")) end, entries = { turn = function(hero) \
                rb.number({ seat = \"gm\", topic = \"n\", about = hero, why = \"\", min = 0, max = 9 }) end } })";
    let kinds = |fields: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ hero = {{ title = \"name\", fields = {{ name = rb.text(), {fields} }} }} }})"
        )
    };
    let manifest = |id: &str, more: &str| {
        format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\nscenario = \"s\"\n{more}\n[seats]\ngm = \"GM\"\n")
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for (id, fields) in [("one", "luck = rb.int({ default = 3 })"), ("two", "fate = rb.int({ default = 1 })")] {
        files.push((format!("{id}/ruleset.toml"), manifest(id, "")));
        files.push((format!("{id}/kinds.luau"), kinds(fields)));
        files.push((format!("{id}/play.luau"), game.into()));
        files.push((format!("{id}/scenarios/s.toml"), "title = \"s\"\n".into()));
    }
    files.push((
        "house/ruleset.toml".into(),
        manifest("house", "extends = \"one\"").replace("[seats]\ngm = \"GM\"\n", ""),
    ));
    files.push((
        "house/kinds.luau".into(),
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ hero = rb.extend({ fields = { mood = rb.int({ default = 5 }) } }), \
         charm = { title = \"name\", fields = { name = rb.text(), of = rb.ref(\"hero\") } } })"
            .into(),
    ));
    files.extend(more.iter().map(|(path, text)| (path.to_string(), text.to_string())));
    Library::from_files(files)
}

/// Rulesets with different bounds or values of a field and a house rule of the same name, or without them; all extend
/// `one`.
fn bounds() -> Library {
    let (manifest, kinds) =
        ("title = \"x\"\nversion = \"1\"\nextends = \"one\"\n", "local rb = require(\"@riskbreaker\")\n");
    let mut files = Vec::new();
    let all = [
        ("wide", "rb.int({ min = 0, max = 10 })", "\"a\", \"b\", \"c\""),
        ("middle", "rb.int({ min = 0, max = 5 })", "\"a\", \"b\""),
        ("narrow", "rb.int({ min = 0, max = 3 })", "\"b\""),
        ("word", "rb.text()", "\"d\", \"a\""),
        ("without", "", ""),
    ];
    for (id, field, values) in all {
        let field = if field.is_empty() { String::new() } else { format!("mana = {field}") };
        let house = match values {
            "" => String::new(),
            values => format!("[switches.armour]\nvalues = [{values}]\ntext = \"How armour works.\"\n"),
        };
        files.push((format!("{id}/ruleset.toml"), format!("id = \"{id}\"\n{manifest}{house}")));
        let fields = format!("{kinds}return rb.kinds({{ hero = rb.extend({{ fields = {{ {field} }} }}) }})");
        files.push((format!("{id}/kinds.luau"), fields));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    small(&files)
}

/// For any rules in between, with or without a decision under them, and after undo, redo, saving and loading.
#[test]
fn dormant_values_return_after_any_way_back() {
    let library = bounds();
    let between = ["middle", "narrow", "word", "without"];
    let ways = (0..between.len().pow(3)).map(|n| [n / 16, n / 4 % 4, n % 4].map(|at| between[at]));
    for (turn, way) in ways.enumerate() {
        let mut session = begin(&load(&library, "wide"));
        let ann = session.view().find("Ann").unwrap();
        session.edit(Edit::Set { entity: ann, field: "mana".into(), value: 8.into() }).unwrap();
        session.set_switch("armour", "c").unwrap();
        let _ = session.advance().unwrap();
        let mut before = "wide";
        let mut stands = Vec::new();
        for id in way.into_iter().chain(["wide"]) {
            if id == before {
                continue;
            }
            if turn % 2 == 0 {
                session.edit(Edit::Say { text: "something is done".into() }).unwrap();
                let _ = session.advance().unwrap();
            }
            session.change_rules(&load(&library, id)).unwrap();
            let _ = session.advance().unwrap();
            let found = (field(&session, "mana"), session.switch("armour").map(Value::to_string));
            let expected = match id {
                "wide" => (Some(8), Some("c".to_owned())),
                "middle" => (Some(5), Some("a".to_owned())),
                "narrow" => (Some(3), Some("b".to_owned())),
                "word" => (None, Some("d".to_owned())),
                _ => (None, None),
            };
            assert_eq!((session.ruleset().id(), found), (id, expected), "{way:?}");
            stands.push(session.state_bytes());
            before = id;
        }
        let read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read.state_bytes(), session.state_bytes());
        let mut undone = 0;
        while session.undo().is_ok() {
            let _ = session.advance().unwrap();
            undone += 1;
        }
        for _ in 0..undone {
            session.redo().unwrap();
            let _ = session.advance().unwrap();
        }
        assert_eq!(Some(&session.state_bytes()), stands.last(), "{way:?}");
    }
}

fn set_mana(session: &mut Session, mana: i64) {
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "mana".into(), value: mana.into() }).unwrap();
    let _ = session.advance().unwrap();
}

/// A changed stand-in is used, and the value it replaced is dropped.
#[test]
fn a_value_that_was_changed_under_other_rules_stays_changed() {
    let library = bounds();
    let mut session = begin(&load(&library, "wide"));
    set_mana(&mut session, 8);
    for (id, mana) in [("middle", Some(5)), ("narrow", Some(2)), ("without", None), ("wide", Some(2))] {
        session.change_rules(&load(&library, id)).unwrap();
        let _ = session.advance().unwrap();
        if id == "middle" {
            set_mana(&mut session, 2);
            session.set_switch("armour", "b").unwrap();
            let _ = session.advance().unwrap();
            continue;
        }
        assert_eq!(field(&session, "mana"), mana, "{id}");
    }
    assert_eq!(session.switch("armour"), Some(&"b".into()));
}

#[test]
fn each_request_for_other_rules_is_undone_alone() {
    let library = library();
    let mut session = start(&load(&library, OLD), "duel", 1);
    for n in 0..3 {
        decide(&mut session, n);
    }
    let decisions = session.decisions();
    let house = "riskbreaker-0.0.1+house-armour";
    session.change_rules(&load(&library, NEW)).unwrap();
    session.change_rules(&load(&library, house)).unwrap();
    session.keep_rules().unwrap();
    let awaited = |session: &Session| session.pending_rules().map(|rules| rules.name());
    let read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    for mut session in [session, read] {
        assert_eq!((awaited(&session), session.decisions()), (None, decisions + 3));
        for expected in [Some(house), Some(NEW), None] {
            session.undo().unwrap();
            assert_eq!(awaited(&session).as_deref(), expected);
        }
        assert_eq!(session.decisions(), decisions);
        for expected in [Some(NEW), Some(house), None] {
            session.redo().unwrap();
            assert_eq!(awaited(&session).as_deref(), expected);
        }
        // A cancelled change does not come into force.
        for n in 0..12 {
            decide(&mut session, n);
            assert_eq!(session.ruleset().name(), OLD);
        }
    }
}

fn begin(rules: &Arc<Ruleset>) -> Session {
    let mut session = Session::start(rules, Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    session
}

fn field(session: &Session, name: &str) -> Option<i64> {
    let view = session.view();
    view.field(view.find("Ann").unwrap(), name).and_then(Value::as_int)
}

#[test]
fn unrelated_rulesets_without_a_conversion_are_refused_in_a_sentence() {
    let library = small(&[]);
    let mut session = begin(&load(&library, "one"));
    let error = session.change_rules(&load(&library, "two")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no way from one to two: two has no convert/one.luau, and there is no ruleset that both of them extend"
    );
    assert!(session.pending_rules().is_none());
}

#[test]
fn house_rules_on_the_same_base_need_no_conversion() {
    let library = small(&[]);
    let (one, house) = (load(&library, "one"), load(&library, "house"));
    let mut session = begin(&one);
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "luck".into(), value: 7.into() }).unwrap();
    let _ = session.advance().unwrap();
    session.change_rules(&house).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((session.ruleset().id(), field(&session, "luck"), field(&session, "mood")), ("house", Some(7), Some(5)));
    session.edit(Edit::Set { entity: ann, field: "mood".into(), value: 2.into() }).unwrap();
    let _ = session.advance().unwrap();
    let migration = session.change_rules(&one).unwrap();
    assert!(
        migration.of(MigrationFate::Dormant).any(|note| note.topic == "Ann" && note.text == "mood 2"),
        "{migration:?}"
    );
    let _ = session.advance().unwrap();
    assert_eq!((session.ruleset().id(), field(&session, "mood")), ("one", None));
    assert_eq!(session.dormant(), [("Ann".into(), "mood".into(), "2".into())]);
    session.edit(Edit::Say { text: "something is done".into() }).unwrap();
    session.change_rules(&house).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((field(&session, "luck"), field(&session, "mood")), (Some(7), Some(2)));
}

#[test]
fn a_redone_change_of_rules_before_an_open_action_reports_the_same() {
    let library = small(&[]);
    let mut session = begin(&load(&library, "one"));
    session.change_rules(&load(&library, "house")).unwrap();
    let _ = session.advance().unwrap();
    let seen = |session: &Session| (session.log(), format!("{:?}", session.questions()));
    let before = seen(&session);
    session.undo().unwrap();
    let _ = session.advance().unwrap();
    session.redo().unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((session.ruleset().id(), seen(&session)), ("house", before));
}

/// The game is saved at the boundary, before it continues.
#[test]
fn a_game_saved_with_pending_rules_is_loaded() {
    let library = small(&[]);
    let mut session = begin(&load(&library, "one"));
    session.change_rules(&load(&library, "house")).unwrap();
    let mut read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((read.questions(), read.state_bytes()), (session.questions(), session.state_bytes()));
    assert_eq!(read.pending_rules().map(|rules| rules.id()), Some("house"));
    for session in [&mut session, &mut read] {
        let _ = session.advance().unwrap();
    }
    assert_eq!((read.ruleset().id(), read.state_bytes()), ("house", session.state_bytes()));
    read.undo().unwrap();
    assert_eq!(read.ruleset().id(), "one");
}

/// An undo across a reload keeps the reload: later actions are played again with other numbers.
#[test]
fn after_an_undo_over_a_reload_other_rules_take_effect_before_the_open_action() {
    let library = small(&[]);
    let rewritten = small(&[(
        "one/kinds.luau",
        "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ hero = { title = \"name\", \
                                                fields = { name = rb.text(), luck = rb.int({ default = 4 }) } } })",
    )]);
    let mut session = begin(&load(&library, "one"));
    for _ in 0..2 {
        session.answer(session.questions()[0].id, Answer::Number(1)).unwrap();
        let _ = session.advance().unwrap();
    }
    let _ = session.reload(load(&rewritten, "one")).unwrap();
    let _ = session.advance().unwrap();
    session.change_rules(&load(&rewritten, "house")).unwrap();
    let _ = session.advance().unwrap();
    let seen = |session: &mut Session, decided: fn(&mut Session)| {
        decided(session);
        let _ = session.advance().unwrap();
        (session.ruleset().id().to_string(), session.log(), format!("{:?}", session.questions()))
    };
    let (undo, redo) =
        (|session: &mut Session| drop(session.undo().unwrap()), |session: &mut Session| drop(session.redo().unwrap()));
    seen(&mut session, undo);
    seen(&mut session, undo);
    let before = seen(&mut session, redo);
    let changed = seen(&mut session, redo);
    assert_eq!((&*before.0, &*changed.0), ("one", "house"));
    assert_eq!(seen(&mut session, undo), before);
    assert_eq!(seen(&mut session, redo), changed);
}

/// The edit comes before the answer, so the redone answer is one action later.
#[test]
fn after_other_dice_other_rules_take_effect_without_an_undo() {
    let game = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() rb.spawn(\"hero\", { name = \"Ann\" }) \
                rb.recur(\"turn\", { 1, 1 }, { 1, 0 }, rb.first(\"hero\")) rb.recur(\"tick\", { 1, 2 }, { 1, 0 }, rb.first(\"hero\")) end, \
                entries = { turn = function(hero) rb.confirm({ seat = \"gm\", topic = \"well\", why = \"\" }) end, \
                tick = function(hero) hero:add(\"luck\", 1) end } })";
    let library = small(&[("one/play.luau", game)]);
    let mut session = begin(&load(&library, "one"));
    session.answer(session.questions()[0].id, Answer::Confirm(true)).unwrap();
    let _ = session.advance().unwrap();
    session.change_rules(&load(&library, "house")).unwrap();
    let _ = session.advance().unwrap();
    session.undo().unwrap();
    session.undo().unwrap();
    session.edit(Edit::OtherDice { words: 1 }).unwrap();
    for id in ["one", "house"] {
        let _ = session.advance().unwrap();
        session.redo().unwrap();
        let _ = session.advance().unwrap();
        assert_eq!((session.ruleset().id(), field(&session, "luck")), (id, Some(4)));
    }
    let read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((read.log(), read.state_bytes()), (session.log(), session.state_bytes()));
}

/// A free act and then an edit come before the open action, and then other rules.
#[test]
fn an_undone_change_of_rules_gives_the_open_action_back_as_it_was_and_no_dice_fall_twice() {
    let game = "local rb = require(\"@riskbreaker\")\nlocal function throw() rb.first(\"hero\"):set(\"luck\", rb.roll(\"1d1000000\")) end\n\
                return rb.play({ start = function() rb.spawn(\"hero\", { name = \"Ann\" }) \
                rb.recur(\"turn\", { 1 }, { 1 }, rb.first(\"hero\")) end, free = { throw = { title = \"Throw\", seats = { \"gm\" }, run = throw } }, \
                entries = { turn = function() rb.confirm({ seat = \"gm\", topic = \"well\", why = \"\" }) throw() end } })";
    let library = small(&[("one/play.luau", game)]);
    let mut session = begin(&load(&library, "one"));
    let seen = |session: &mut Session| {
        let _ = session.advance().unwrap();
        let read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
        let now = |session: &Session| {
            (session.ruleset().id().to_string(), session.log(), format!("{:?}", session.questions()))
        };
        assert_eq!(now(&read), now(session));
        now(session)
    };
    session.act("gm", "throw").unwrap();
    let _ = session.advance().unwrap();
    let thrown = field(&session, "luck");
    session.edit(Edit::Say { text: "so be it".into() }).unwrap();
    let before = seen(&mut session);
    session.change_rules(&load(&library, "house")).unwrap();
    let changed = seen(&mut session);
    let id = session.questions()[0].id;
    session.answer(id, Answer::Confirm(true)).unwrap();
    let answered = seen(&mut session);
    assert_ne!(field(&session, "luck"), thrown, "the same die fell twice");
    for _ in 0..2 {
        session.undo().unwrap();
        assert_eq!(seen(&mut session), changed);
        session.undo().unwrap();
        assert_eq!(seen(&mut session), before);
        session.redo().unwrap();
        assert_eq!(seen(&mut session), changed);
        session.redo().unwrap();
        assert_eq!(seen(&mut session), answered);
        session = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
        let _ = session.advance().unwrap();
        session.undo().unwrap();
        session.undo().unwrap();
        assert_eq!(seen(&mut session), before);
        session.redo().unwrap();
        assert_eq!(seen(&mut session), changed);
        session.redo().unwrap();
    }
}

#[test]
fn a_seat_that_loses_its_policy_has_it_again_when_the_change_is_undone_also_after_a_load() {
    let manifest = |id: &str| {
        format!(
            "id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\nscenario = \"s\"\n[seats]\ngm = \"GM\"\nally = \"Ally\"\n"
        )
    };
    let rb = |text: &str| format!("local rb = require(\"@riskbreaker\")\nreturn rb.{text}");
    let library = small(&[
        ("one/ruleset.toml", &manifest("one")),
        ("two/ruleset.toml", &manifest("two")),
        ("one/policies/p.luau", &rb("policy({ id = \"p\", answer = function() return 1 end })")),
        ("two/convert/one.luau", &rb("convert({ id = \"one\", run = function() end })")),
    ]);
    let setup = Setup::default().seat("ally", Driver::Policy("p".into()));
    let mut session = Session::start(&load(&library, "one"), setup).unwrap();
    let _ = session.advance().unwrap();
    session.change_rules(&load(&library, "two")).unwrap();
    let _ = session.advance().unwrap();
    let told = |session: &Session| session.log().iter().map(|event| event.happening.line()).collect::<Vec<_>>();
    let lost = "seat ally: has no policy `p` there: it is asked now";
    assert!(told(&session).iter().any(|line| line == lost), "{:?}", told(&session));
    let mut read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(told(&read), told(&session));
    for session in [&mut session, &mut read] {
        assert_eq!(session.seats().get("ally"), Some(&Driver::Human));
        session.undo().unwrap();
        assert_eq!(session.seats().get("ally"), Some(&Driver::Policy("p".into())));
        let _ = session.advance().unwrap();
        session.redo().unwrap();
        let _ = session.advance().unwrap();
        assert_eq!(session.seats().get("ally"), Some(&Driver::Human));
    }
    assert_eq!((told(&read), read.save()), (told(&session), session.save()));
}

/// A conversion names a hero that only one seat sees.
#[test]
fn decisions_of_a_conversion_are_shown_only_to_the_game_master_if_there_are_secrets() {
    let manifest = |id: &str| {
        format!(
            "id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\nscenario = \"s\"\n[seats]\ngm = \"GM\"\nally = \"Ally\"\nfoe = \"Foe\"\n"
        )
    };
    let rb = |text: &str| format!("local rb = require(\"@riskbreaker\")\nreturn rb.{text}");
    let kinds = rb(
        "kinds({ hero = { title = \"name\", audience = \"owner\", fields = { name = rb.text(), owner = rb.text({ default = \"ally\" }) } } })",
    );
    let library = small(&[
        ("one/ruleset.toml", &manifest("one")),
        ("two/ruleset.toml", &manifest("two")),
        ("one/kinds.luau", &kinds),
        ("two/kinds.luau", &kinds),
        (
            "two/convert/one.luau",
            &rb(
                "convert({ id = \"one\", run = function(change) change.decide(\"home\", \"{} has none\", rb.first(\"hero\")) end })",
            ),
        ),
    ]);
    let mut session = begin(&load(&library, "one"));
    session.change_rules(&load(&library, "two")).unwrap();
    let _ = session.advance().unwrap();
    for (seat, knows) in [("gm", true), ("foe", false), ("ally", false)] {
        let told: Vec<String> = session.seat(seat).unwrap().log().iter().map(|event| event.happening.line()).collect();
        assert!(told.iter().any(|line| line == "two is in force, after one"), "{seat}: {told:?}");
        assert_eq!(told.iter().any(|line| line == "home: Ann has none"), knows, "{seat}: {told:?}");
    }
}

/// The change comes before an entry that its computed key puts first; the saved game has that key only when it
/// continues.
#[test]
fn a_change_of_rules_before_an_entry_with_a_computed_key_is_loaded_with_the_whole_agenda() {
    let play = "local rb = require(\"@riskbreaker\")\nlocal function ask(topic) \
                return rb.number({ seat = \"gm\", topic = topic, why = \"\", min = 0, max = 9 }) end\n\
                return rb.play({ boundary = \"gate\", start = function() rb.spawn(\"hero\", { name = \"Ann\" }) \
                rb.schedule(\"turn\", { 1 }) rb.schedule(\"clock\", { 5 }) end, entries = { \
                turn = function() ask(\"n\") rb.schedule(\"gate\", { 9 }) end, clock = function() ask(\"late\") end, \
                gate = { key = function() return { 2 } end, run = function() ask(\"open\") end } } })";
    let convert = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"one\", run = function() end })";
    let library = small(&[("one/play.luau", play), ("two/play.luau", play), ("two/convert/one.luau", convert)]);
    let mut session = begin(&load(&library, "one"));
    let answer = |session: &mut Session| {
        let id = session.questions().first().expect("it asks").id;
        session.answer(id, Answer::Number(1)).unwrap();
    };
    answer(&mut session);
    session.change_rules(&load(&library, "two")).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(session.ruleset().id(), "two");
    let mut read = Session::load(&library, &session.save()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.state_bytes(), session.state_bytes());
    for session in [&mut session, &mut read] {
        let _ = session.advance().unwrap();
        answer(session);
        let step = session.advance().unwrap();
        assert_eq!(session.questions().first().map(|question| &*question.topic), Some("late"), "{step:?}");
    }
}

#[test]
fn a_conversion_that_faults_changes_nothing_and_names_its_line() {
    for (body, wanted) in [
        ("local x = nil\nreturn x.y", "two/convert/one.luau:3"),
        ("rb.roll(\"1d6\", \"luck\")", "rolling dice is not possible in a conversion"),
        ("rb.confirm({ seat = \"gm\", topic = \"sure\", why = \"\" })", "asking is not possible in a conversion"),
        ("rb.finish(\"all is over\")", "ending the game is not possible in a conversion"),
        ("rb.first(\"hero\"):set(\"fate\", \"x\")", "fate"),
        ("change.each(\"heros\")", "two/convert/one.luau:2"),
        ("change.each(\"heros\")", "the game had no kind \"heros\"; it had"),
        ("while true do end", "two/convert/one.luau:2"),
    ] {
        let text = format!(
            "local rb = require(\"@riskbreaker\") return rb.convert({{ id = \"one\", run = function(change)\n{body}\nend }})"
        );
        let library = small(&[("two/convert/one.luau", &text)]);
        let mut session = begin(&load(&library, "one"));
        let bytes = session.state_bytes();
        let error = session.change_rules(&load(&library, "two")).unwrap_err();
        assert!(matches!(error, MigrationError::Fault(_)), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
        let _ = session.advance().unwrap();
        assert_eq!((session.ruleset().id(), session.state_bytes()), ("one", bytes));
    }
}

#[test]
fn lines_of_a_conversion_are_shown_when_the_rules_take_effect() {
    let text = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"one\", run = function(change)\n\
                rb.first(\"hero\"):set(\"fate\", 4)\nrb.say(\"{} feels watched\", rb.first(\"hero\"))\nend })";
    let library = small(&[("two/convert/one.luau", text)]);
    let (one, two) = (load(&library, "one"), load(&library, "two"));
    let mut session = begin(&one);
    let told = |session: &Session| {
        let lines = session.log().into_iter().map(|event| format!("{:?}", event.happening));
        lines.filter(|line| line.contains("feels watched") || line.contains("fate")).count()
    };
    let _ = session.preview_rules(&two).unwrap();
    assert_eq!(told(&session), 0);
    let _ = session.change_rules(&two).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((session.ruleset().id(), told(&session)), ("two", 1), "{:?}", session.log());
    let read = Session::load(&library, &session.save()).unwrap();
    assert_eq!(told(&read), 1);
    session.undo().unwrap();
    assert_eq!(told(&session), 0);
}

#[test]
fn a_conversion_reads_the_old_state_and_stores_notes_for_the_return() {
    let there = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"one\", run = function(change)\n\
                 local hero = rb.first(\"hero\")\nhero:set(\"fate\", change.was(hero).luck * 2)\n\
                 change.keep(hero, \"luck then\", change.was(hero).luck)\nchange.carried(\"{} again\", \"{} has {}\", hero, hero.fate)\nend })";
    let back = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"two\", run = function(change)\n\
                local hero = rb.first(\"hero\")\nassert(change.kept(hero, \"luck then\") == 3)\nassert(hero.luck == 3)\n\
                hero:set(\"luck\", change.each(\"hero\")[1].fate)\nchange.forget(hero, \"luck then\")\n\
                if hero.luck > 8 then change.refused(\"luck\", \"{} is too much\", hero.luck) end\nend })";
    let library = small(&[("two/convert/one.luau", there), ("one/convert/two.luau", back)]);
    let (one, two) = (load(&library, "one"), load(&library, "two"));
    let mut session = begin(&one);
    let migration = session.preview_rules(&two).unwrap();
    assert_eq!(migration.of(MigrationFate::Carried).next().unwrap().text, "Ann has 6");
    assert_eq!(migration.waits_for, None);
    session.change_rules(&two).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((field(&session, "fate"), field(&session, "luck")), (Some(6), None));
    let ann = session.view().find("Ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "fate".into(), value: 9.into() }).unwrap();
    let refused = session.change_rules(&one).unwrap_err();
    assert_eq!(refused.to_string(), "one cannot hold this game: luck: 9 is too much");
    session.edit(Edit::Set { entity: ann, field: "fate".into(), value: 8.into() }).unwrap();
    session.change_rules(&one).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!((field(&session, "luck"), field(&session, "fate")), (Some(8), None));
}

/// A list that refers to two entities is restored to its state before the first of them became dormant.
#[test]
fn references_to_all_entities_that_a_conversion_keeps_aside_return_with_them() {
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ hero = { title = \"name\", fields = { name = rb.text(), \
                 friends = rb.list(rb.ref(\"hero\")) } } })";
    let play = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() for _, name in { \"Ann\", \"Bob\", \"Cid\" } do \
                rb.spawn(\"hero\", { name = name }) end local ann = rb.first(\"hero\") ann:set(\"friends\", rb.each(\"hero\")) \
                rb.recur(\"turn\", { 1 }, { 1 }, ann) end, entries = { turn = function(hero) \
                rb.number({ seat = \"gm\", topic = \"n\", about = hero, why = \"\", min = 0, max = 9 }) end } })";
    let there = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"one\", run = function(change)\n\
                 local all = rb.each(\"hero\")\nchange.shelve(all[3])\nchange.shelve(all[2])\nend })";
    let back = "local rb = require(\"@riskbreaker\")\nreturn rb.convert({ id = \"two\", run = function(change)\nend })";
    let library = small(&[
        ("one/kinds.luau", kinds),
        ("two/kinds.luau", kinds),
        ("one/play.luau", play),
        ("two/play.luau", play),
        ("two/convert/one.luau", there),
        ("one/convert/two.luau", back),
    ]);
    let (one, two) = (load(&library, "one"), load(&library, "two"));
    let mut session = begin(&one);
    let friends = |session: &Session| {
        let view = session.view();
        view.words(view.field(view.find("Ann").unwrap(), "friends").unwrap())
    };
    assert_eq!(friends(&session), "Ann, Bob, Cid");
    session.change_rules(&two).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(friends(&session), "Ann");
    // A decision, so that the change back is a conversion.
    session.edit(Edit::Say { text: "something is done".into() }).unwrap();
    session.change_rules(&one).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(friends(&session), "Ann, Bob, Cid");
}

/// Rules that store a whole number as a fraction, and a list of two numbers as one fraction.
#[test]
fn a_value_that_other_rules_hold_in_another_form_returns_as_it_was_given() {
    let kinds = |fields: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ hero = rb.extend({{ fields = {{ {fields} }} }}) }})"
        )
    };
    let whole = kinds(
        "mana = rb.int({ default = 2 }), many = rb.list(rb.int()), named = rb.map(rb.int()), pair = rb.list(rb.int())",
    );
    let parts = kinds("mana = rb.ratio(), many = rb.list(rb.ratio()), named = rb.map(rb.ratio()), pair = rb.ratio()");
    let manifest = |id: &str| format!("id = \"{id}\"\ntitle = \"x\"\nversion = \"1\"\nextends = \"one\"\n");
    let library = small(&[
        ("whole/ruleset.toml", &manifest("whole")),
        ("whole/kinds.luau", &whole),
        ("parts/ruleset.toml", &manifest("parts")),
        ("parts/kinds.luau", &parts),
    ]);
    let (whole, parts) = (load(&library, "whole"), load(&library, "parts"));
    let mut session = begin(&whole);
    let ann = session.view().find("Ann").unwrap();
    let list = |all: &[i64]| Value::list(all.iter().map(|n| Value::from(*n)));
    let given = [
        ("mana", 5.into()),
        ("many", list(&[4, 5, 6])),
        ("named", Value::map([("k", Value::from(6))])),
        ("pair", list(&[2, 4])),
    ];
    for (field, value) in &given {
        session.edit(Edit::Set { entity: ann, field: (*field).into(), value: value.clone() }).unwrap();
    }
    let _ = session.advance().unwrap();
    let go = |session: &mut Session, to: &Arc<Ruleset>| {
        session.edit(Edit::Say { text: "something is done".into() }).unwrap();
        session.change_rules(to).unwrap();
        let _ = session.advance().unwrap();
    };
    go(&mut session, &parts);
    assert_eq!(session.view().field(ann, "pair").unwrap().to_string(), "1/2");
    assert!(session.dormant().is_empty(), "{:?}", session.dormant());
    go(&mut session, &whole);
    for (field, value) in &given {
        assert_eq!(session.view().field(ann, field), Some(value), "{field}");
    }
    assert!(session.dormant().is_empty(), "{:?}", session.dormant());
}

/// A dormant value that was overwritten is not restored when its stand-in is set again.
#[test]
fn a_later_value_counts_even_if_it_equals_an_old_stand_in() {
    let library = bounds();
    let mut session = begin(&load(&library, "wide"));
    let go = |session: &mut Session, to: &str| {
        session.change_rules(&load(&library, to)).unwrap();
        let _ = session.advance().unwrap();
    };
    set_mana(&mut session, 8);
    go(&mut session, "middle");
    set_mana(&mut session, 2);
    go(&mut session, "wide");
    set_mana(&mut session, 5);
    go(&mut session, "middle");
    session.edit(Edit::Say { text: "something is done".into() }).unwrap();
    go(&mut session, "wide");
    assert_eq!(field(&session, "mana"), Some(5));
}

/// A relation with other ends is dormant until rules have its own ends.
#[test]
fn a_relation_whose_ends_other_rules_do_not_have_returns() {
    let kinds = |one: &str, other: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({{ hero = {{ title = \"name\", fields = {{ name = rb.text(), \
             best = rb.ref(\"bond\") }} }}, bond = {{ relates = {{ \"{one}\", \"{other}\" }}, fields = {{ {one} = rb.ref(\"hero\"), \
             {other} = rb.ref(\"hero\"), strength = rb.int() }} }} }})"
        )
    };
    let play = "local rb = require(\"@riskbreaker\")\nreturn rb.play({ start = function() local ann = rb.spawn(\"hero\", { name = \"Ann\" }) \
                local bob = rb.spawn(\"hero\", { name = \"Bob\" }) ann:set(\"best\", rb.spawn(\"bond\", { from = ann, to = bob, strength = 7 })) \
                rb.recur(\"turn\", { 1 }, { 1 }, ann) end, entries = { turn = function(hero) \
                rb.number({ seat = \"gm\", topic = \"n\", about = hero, why = \"\", min = 0, max = 9 }) end } })";
    let convert = |from: &str| {
        format!("local rb = require(\"@riskbreaker\")\nreturn rb.convert({{ id = \"{from}\", run = function() end }})")
    };
    let library = small(&[
        ("one/kinds.luau", &kinds("from", "to")),
        ("two/kinds.luau", &kinds("source", "target")),
        ("one/play.luau", play),
        ("two/convert/one.luau", &convert("one")),
        ("one/convert/two.luau", &convert("two")),
    ]);
    let (one, two) = (load(&library, "one"), load(&library, "two"));
    let mut session = begin(&one);
    let stands = |session: &Session| {
        let view = session.view();
        let bonds = view.of_kind("bond").map(|bond| view.field(bond, "strength").cloned()).collect::<Vec<_>>();
        (bonds, view.field(view.find("Ann").unwrap(), "best").cloned())
    };
    let before = stands(&session);
    assert_eq!(before.0, vec![Some(Value::from(7))]);
    session.change_rules(&two).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(stands(&session), (Vec::new(), Some(Value::None)));
    assert_eq!(session.shelved().len(), 1);
    // A decision, so that the change back is a conversion.
    session.edit(Edit::Say { text: "something is done".into() }).unwrap();
    session.change_rules(&one).unwrap();
    let _ = session.advance().unwrap();
    assert_eq!(stands(&session), before);
}

#[test]
fn the_history_of_a_value_goes_through_a_change_of_rules() {
    let library = library();
    let (old, new) = (load(&library, OLD), load(&library, NEW));
    let mut session = start(&old, "duel", 7);
    let found = (0..400).find(|n| {
        decide(&mut session, *n);
        leads(&session).values().any(|lead| *lead != 0)
    });
    let from = found.expect("somebody gets ahead") + 1;
    assert!(go_over(&mut session, &new, from), "the rules come into force");
    let sides: Vec<EntityId> = session.view().of_kind("side").collect();
    for side in sides {
        let now = number(&session, side, "advantage");
        let changes = session.why(side, "advantage").unwrap().changes;
        let first = changes.first().unwrap_or_else(|| panic!("{now} comes from nowhere"));
        assert!(first.contains("the change to riskbreaker-0.0.3") && first.contains("begins with"), "{changes:?}");
        assert!(changes.last().unwrap().ends_with(&format!(" {now}")), "{changes:?}");
    }
    let told: Vec<String> = session.undo().unwrap().changes.iter().map(riskbreaker::Happening::line).collect();
    assert!(!told.is_empty(), "the undo lists what it restored");
}

#[test]
fn the_dry_run_of_a_layer_lists_what_it_changes() {
    let library = library();
    let (plain, layered) = (load(&library, OLD), Ruleset::load_with(&library, OLD, &["house-taunt".into()]).unwrap());
    let mut session = start(&plain, "duel", 7);
    let changes = session.preview_rules(&layered).unwrap().changes;
    assert!(changes.iter().any(|change| change == "adds the card Taunt"), "{changes:?}");
    decide(&mut session, 1);
    assert_eq!(session.ruleset().id(), OLD);
}
