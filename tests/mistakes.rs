//! Mistakes as people who write rules make them, planted one at a time into sound rulesets: each is found in its file, at its
//! line or the next, with something to do about it.
#![cfg(feature = "check")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use riskbreaker::{Library, findings};

/// The ruleset as it is called, the file with its folder, what stands there, what is put in its place, and a piece of what is
/// told or of the cure.
type Mistake = (&'static str, &'static str, &'static str, &'static str, &'static str);

const HOUSE: &str = "riskbreaker-0.0.1+house-armour";
const TAUNT: &str = "riskbreaker-0.0.1+house-taunt";

const MISTAKES: &[Mistake] = &[
    // What does not read as Luau
    ("silent-winter", "silent-winter/maneuvers/attack.luau", "\treturn talent\nend\n", "\treturn talent\n", "`end`"),
    ("tug", "tug/maneuvers/pull.luau", "title = \"Pull\",", "title = \"Pull\"", "put a comma"),
    ("tug", "tug/maneuvers/pull.luau", "title = \"Pull\",", "title = \"Pull,", "close the text"),
    ("tug", "tug/maneuvers/pull.luau", "title = \"Pull\"", "title: \"Pull\"", "around `=`, not `:`"),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2 then", "rests = 2 then", "`==`"),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2 then", "rests >= 2", "ends with `then`"),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2 then", "rests != 2 then", "`~=`"),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2 then", "rests >= 2 && true then", "write `and`"),
    ("tug", "tug/maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", "ctx.actor.rests++", "n += 1"),
    ("tug", "tug/maneuvers/rest.luau", "\t\treturn true", "\t\ttrue", "is `return` missing"),
    ("tug", "tug/maneuvers/rest.luau", "resolve = function(ctx)", "resolve = function ctx", "in brackets"),
    (
        "tug",
        "tug/maneuvers/rest.luau",
        "return rb.maneuver",
        "// a card\nreturn rb.maneuver",
        "a comment begins with `--`",
    ),
    ("tug", "tug/specs/maneuvers/rest.luau", "t:given(\"two\")", "t:given(\"two\"", "bracket"),
    // Names
    ("tug", "tug/maneuvers/pull.luau", "(won and", "(wno and", "did you mean `won`?"),
    ("tug", "tug/verbs.luau", "finish(\"{} has won\", who)", "finish(\"{} has won\", whom)", "did you mean `who`?"),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2", "rests >= null", "nothing is written `nil`"),
    ("contest", "contest/play.luau", "local deck = require(\"lib/deck\")\n", "", "require(\"lib/deck\")"),
    ("contest", "contest/verbs.luau", "require(\"lib/wounds\")", "require(\"lib/wonds\")", "lib/wounds"),
    ("contest", "contest/verbs.luau", "wounds.edged[at]", "wounds.edgd[at]", "did you mean `edged`?"),
    (
        "silent-winter",
        "silent-winter/maneuvers/attack.luau",
        "rolls.opposed(",
        "rolls.oposed(",
        "did you mean `opposed`?",
    ),
    ("silent-winter", "silent-winter/maneuvers/attack.luau", "rb.act.stun(", "rb.act.stunn(", "did you mean `stun`?"),
    (
        "silent-winter",
        "silent-winter/maneuvers/attack.luau",
        "actor.engaging\n",
        "actor.engagin\n",
        "did you mean `engaging`?",
    ),
    (
        "silent-winter",
        "silent-winter/maneuvers/attack.luau",
        "actor:winded()",
        "actor:widned()",
        "did you mean `winded`?",
    ),
    ("silent-winter", "silent-winter/maneuvers/attack.luau", "actor:winded()", "actor.winded", "`:winded()`"),
    ("silent-winter", "silent-winter/kinds.luau", "self.pain <= 0", "self.pian <= 0", "did you mean `pain`?"),
    ("contest", "contest/play.luau", "other.seat ~= unit.seat", "other.seet ~= unit.seat", "did you mean `seat`?"),
    ("contest", "contest/maneuvers/melee_strike.luau", "ctx.against\n", "ctx.agianst\n", "did you mean `against`?"),
    ("contest", "contest/verbs.luau", "unit:set(\"dead\", true)", "unit:set(\"daed\", true)", "did you mean `dead`?"),
    (
        "contest",
        "contest/play.luau",
        "\"round_end\", { round, 9 }",
        "\"round_and\", { round, 9 }",
        "did you mean `round_end`?",
    ),
    (
        "rbf",
        "rbf/hooks/overwatch.luau",
        "e.who:out() then\n\t\t\t\trb.cut(\"{} is out",
        "e.whom:out() then\n\t\t\t\trb.cut(\"{} is out",
        "did you mean `who`?",
    ),
    ("rbf", "rbf/hooks/overwatch.luau", "\t\tstep = function", "\t\tstepp = function", "did you mean `step`?"),
    ("rbf", "rbf/hooks/overwatch.luau", "\tafter = {", "\taftr = {", "did you mean `after`?"),
    // Values of the wrong sort
    ("tug", "tug/maneuvers/rest.luau", "rb.say(\"{} rests\", ctx.actor)", "rb.say(5)", "a text is wanted here"),
    (
        "tug",
        "tug/maneuvers/rest.luau",
        "rb.say(\"{} rests\", ctx.actor)",
        "rb.say(\"rests\" + 1)",
        "a text is wanted here",
    ),
    ("tug", "tug/maneuvers/rest.luau", "rests >= 2", "rests >= 2 and 2 > \"1\"", "without quotes"),
    ("tug", "tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\", \"by\")", "a number is wanted here"),
    ("tug", "tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\")", "`n` is missing"),
    ("tug", "tug/play.luau", "else -rb.first(\"rope\").at", "else -rb.first(\"rope\")", "`-` wants a number"),
    ("tug", "tug/kinds.luau", "rb.term(\"strength\", self.strength) +", "self.name +", "`+` wants numbers"),
    (
        "tug",
        "tug/kinds.luau",
        "rb.term(\"strength\", self.strength)",
        "rb.term(self.strength, \"strength\")",
        "a text is wanted here",
    ),
    ("tug", "tug/maneuvers/rest.luau", "return true", "return #2 > 1", "`#` counts"),
    ("contest", "contest/verbs.luau", "unit:set(\"dead\", true)", "unit:set(\"dead\", \"yes\")", "true or false"),
    ("contest", "contest/verbs.luau", "unit:set(\"dead\", true)", "unit.set(\"dead\", true)", "a colon"),
    (
        "contest",
        "contest/play.luau",
        "unit:set(\"answer\", \"\")",
        "unit.answer = \"\"",
        "write :set(\"answer\", value)",
    ),
    (
        "contest",
        "contest/play.luau",
        "decisive_everywhere == \"on\"",
        "decisive_everywhere == \"no\"",
        "did you mean `on`?",
    ),
    ("contest", "contest/play.luau", "decisive_everywhere == \"on\"", "decisive_everywhere == true", "it is off or on"),
    ("contest", "contest/lib/armour.luau", "\"none\"", "\"nonne\"", "did you mean `none`?"),
    // Calls
    (
        "tug",
        "tug/maneuvers/pull.luau",
        "ctx.actor.pull, ctx.actor)",
        "ctx.actor.pull, ctx.actor, 1)",
        "takes 3 values, here are 4",
    ),
    (
        "tug",
        "tug/maneuvers/pull.luau",
        "(ctx.rope, (won and risk or -risk) * ctx.actor.pull, ctx.actor)",
        "()",
        "cannot do without `rope`",
    ),
    ("contest", "contest/play.luau", "if evades(unit) then", "if evades() then", "cannot do without `unit`"),
    (
        "contest",
        "contest/play.luau",
        "attackers_of(unit), enemies",
        "attackers_of(unit, 2), enemies",
        "takes one value, here are 2",
    ),
    (
        "silent-winter",
        "silent-winter/maneuvers/attack.luau",
        "choose_talent(actor)\n\t\trb",
        "choose_talent()\n\t\trb",
        "cannot do without `actor`",
    ),
    ("contest", "contest/play.luau", "if evades(unit) then", "if evades then", "that is always true"),
    ("tug", "tug/maneuvers/rest.luau", "rb.say(\"{} rests\", ctx.actor)", "rb.say(\"{} rests\")", "one value for each"),
    ("tug", "tug/maneuvers/rest.luau", "rb.say(", "rb:say(", "write rb.say"),
    // Cards, hooks, kinds, verbs
    ("tug", "tug/maneuvers/rest.luau", "title = \"Rest\"", "title = 5", "in quotes"),
    ("tug", "tug/maneuvers/rest.luau", "rules = { \"TUG-2\" }", "rules = \"TUG-2\"", "in braces"),
    ("tug", "tug/maneuvers/rest.luau", "id = \"rest\"", "id = \"rset\"", "write id = \"rest\""),
    ("tug", "tug/maneuvers/rest.luau", "return rb.maneuver", "return rb.hook", "return rb.maneuver"),
    ("contest", "contest/maneuvers/melee_strike.luau", "step = \"advantage\"", "step = 2", "in quotes"),
    (
        "contest",
        "contest/maneuvers/melee_strike.luau",
        "step = \"advantage\"",
        "step = \"advantge\"",
        "no script knows the step",
    ),
    ("contest", "contest/items/sword.luau", "penetration =", "penetraton =", "did you mean `penetration`?"),
    ("contest", "contest/items/sword.luau", "\tform = \"edged\",\n", "", "add form"),
    (
        "rbf",
        "rbf/hooks/overwatch.luau",
        "title = \"Overwatch\"",
        "title = \"Overwatch\", priority = \"10\"",
        "priority = 10",
    ),
    (
        HOUSE,
        "house-armour/kinds.luau",
        "local lines = below(self)",
        "self:set(\"armour\", 2) local lines = below(self)",
        "only read",
    ),
    ("tug", "tug/kinds.luau", "default = 5", "default = \"5\"", "a default that it can have"),
    ("tug", "tug/kinds.luau", "default = 5", "default = 11", "a default that it can have"),
    ("tug", "tug/kinds.luau", "default = 5", "defalt = 5", "misspelling"),
    ("tug", "tug/kinds.luau", "min = 0, max = 10", "min = \"0\", max = 10", "without quotes"),
    ("tug", "tug/kinds.luau", "title = \"name\"", "title = \"nmae\"", "did you mean `name`?"),
    (
        "silent-winter",
        "silent-winter/kinds.luau",
        "rb.ref(\"character\"),",
        "rb.ref(\"charakter\"),",
        "did you mean `character`?",
    ),
    ("silent-winter", "silent-winter/kinds.luau", "rb.list(rb.text())", "rb.list(\"text\")", "rb.text()"),
    // Questions and the agenda
    ("tug", "tug/maneuvers/pull.luau", "min = 1, max = 3", "min = \"1\", max = 3", "a number is wanted here"),
    ("tug", "tug/play.luau", "options = rb.options(rb.card_ids, ctx),\n", "", "lacks `options`"),
    ("contest", "contest/play.luau", "ask = \"confirm\"", "ask = \"confrim\"", "did you mean `confirm`?"),
    (
        "riskbreaker-0.0.1",
        "riskbreaker-0.0.1/maneuvers/tactics.luau",
        "\"let_in\", enabled",
        "\"let_in\", enable",
        "did you mean `enabled`?",
    ),
    ("tug", "tug/play.luau", "\"rope.at\" }", "\"rope.ta\" }", "did you mean `rope.at`?"),
    // The manifest
    ("tug", "tug/ruleset.toml", "version = \"1.0.0\"", "version = 1.0.0", "in quotes"),
    ("tug", "tug/ruleset.toml", "scenario = \"two\"", "scenaro = \"two\"", "did you mean `scenario`?"),
    ("tug", "tug/ruleset.toml", "default = 3", "default = 30", "1 to 20"),
    ("contest", "contest/ruleset.toml", "[\"CON-AMB-12\"]", "[\"CON-AMB-99\"]", "RULES.md"),
    // Data
    (
        "contest",
        "contest/scenarios/three.toml",
        "agility = 4\narmor = 6",
        "agilty = 4\narmor = 6",
        "did you mean `agility`?",
    ),
    ("contest", "contest/scenarios/three.toml", "base = 10", "base = \"ten\"", "a whole number"),
    ("contest", "contest/scenarios/three.toml", "\"plate\"", "\"plat\"", "plate"),
    ("contest", "contest/scenarios/three.toml", "\"sledgehammer\"", "\"sledgehamer\"", "did you mean `sledgehammer`?"),
    ("contest", "contest/scenarios/three.toml", "seat = \"left\"", "seat = \"lefft\"", "did you mean `left`?"),
    ("contest", "contest/scenarios/three.toml", "missile = \"bow\"", "missile = bow", "in quotes"),
    (
        "silent-winter",
        "silent-winter/scenarios/duel.toml",
        "\"power_strike\"",
        "\"power_strik\"",
        "did you mean `power_strike`?",
    ),
    (
        "riskbreaker-0.0.1",
        "riskbreaker-0.0.1/scenarios/duel.toml",
        "foes = \"careful\"",
        "foes = \"carefull\"",
        "did you mean `careful`?",
    ),
    ("riskbreaker-0.0.1", "riskbreaker-0.0.1/scenarios/duel.toml", "[\"fighter\"]", "[\"figther\"]", "fighter"),
    // Specs
    ("tug", "tug/specs/maneuvers/pull.luau", "t:play(\"Ann\", \"pull\"", "t:play(\"pull\"", "who plays it is missing"),
    (
        "tug",
        "tug/specs/maneuvers/pull.luau",
        "t:play(\"Ann\", \"pull\"",
        "t:play(\"Ann\", \"pul\"",
        "did you mean `pull`?",
    ),
    ("tug", "tug/specs/maneuvers/pull.luau", "{ risk = 2 }", "{ risc = 2 }", "did you mean `risk`?"),
    ("tug", "tug/specs/maneuvers/pull.luau", "rope = { at = -2 }", "rope = { att = -2 }", "did you mean `at`?"),
    ("tug", "tug/specs/maneuvers/pull.luau", "Bob = \"unchanged\"", "Bob = \"unchangd\"", "did you mean `unchanged`?"),
    ("tug", "tug/specs/maneuvers/pull.luau", "t:dice(5)", "t.dice(5)", "write t:dice"),
    ("tug", "tug/specs/maneuvers/rest.luau", "t:given(\"two\")", "t:given(\"twoo\")", "did you mean `two`?"),
    (
        "contest",
        "contest/specs/strikes.luau",
        "t:titles(\"injury\"), {",
        "t:titles(\"injry\"), {",
        "did you mean `injury`?",
    ),
    (
        "contest",
        "contest/specs/strikes.luau",
        "t:run(\"round_end\")",
        "t:run(\"round_and\")",
        "did you mean `round_end`?",
    ),
    (
        TAUNT,
        "house-taunt/specs/riskbreaker-0.0.1/taunt.luau",
        "t:play(\"Foe\", \"pass\")",
        "t:play(\"Fo\", \"pass\")",
        "did you mean `Foe`?",
    ),
    (HOUSE, "house-armour/specs/riskbreaker-0.0.1/armour.luau", "\"armour_limit\", 4", "\"armour_limit\", 9", "1 to 5"),
];

/// Every file of some rulesets, by path from the folder of rulesets.
fn files(ids: &[&str]) -> BTreeMap<String, String> {
    let (mut files, mut folders) = (BTreeMap::new(), Vec::new());
    for id in ids {
        let at_home = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
        let root = if at_home.join(id).is_dir() { at_home } else { at_home.with_file_name("tests").join("rulesets") };
        folders.push((root.clone(), root.join(id)));
    }
    while let Some((root, folder)) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push((root.clone(), path));
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files.insert(path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"), text);
            }
        }
    }
    files
}

/// What is wrong with how a mistake is told, if anything.
fn missed((ruleset, path, from, to, told): &Mistake) -> Option<String> {
    let mut ids: Vec<&str> = ruleset.split('+').collect();
    if ids[0].starts_with("riskbreaker-0") {
        ids.push("riskbreaker-common");
    }
    let mut files = files(&ids);
    let text = files.get_mut(*path).unwrap();
    let at = text.find(from).unwrap_or_else(|| panic!("{path} has no `{from}`"));
    let same = from.bytes().zip(to.bytes()).take_while(|(one, other)| one == other).count();
    let line = 1 + text[..at + same].matches('\n').count();
    *text = text.replacen(from, to, 1);
    let found = findings(&Library::from_files(files), ruleset, &[]);
    // What is missing is told where it would have to be.
    let lines = if to.is_empty() { 1..=usize::MAX } else { line.saturating_sub(1)..=line + 2 };
    let right = found.iter().any(|problem| {
        let placed = problem.path == *path && problem.line.is_some_and(|line| lines.contains(&(line as usize)));
        placed && problem.column.is_some() && problem.cure.is_some() && problem.to_string().contains(told)
    });
    let elsewhere = |problem: &&riskbreaker::Problem| !problem.message.starts_with("`over` names");
    let found: Vec<_> = found.iter().filter(elsewhere).collect();
    let told_of = found.len() <= 4 && found.iter().all(|problem| problem.cure.is_some());
    (!right || !told_of).then(|| format!("{from} -> {to} in {path}:{line}: {found:#?}"))
}

#[test]
fn each_mistake_is_told_where_it_is_and_with_a_cure() {
    let next = Arc::new(AtomicUsize::new(0));
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let work = || {
        let (next, wrong) = (next.clone(), wrong.clone());
        thread::spawn(move || {
            while let Some(mistake) = MISTAKES.get(next.fetch_add(1, Ordering::Relaxed)) {
                wrong.lock().unwrap().extend(missed(mistake));
            }
        })
    };
    let workers: Vec<_> = (0..2).map(|_| work()).collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let wrong = wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MISTAKES.len(), wrong.join("\n"));
}

#[test]
fn the_rulesets_themselves_are_sound() {
    for id in ["tug", "contest", "silent-winter", "rbf", "riskbreaker-cards"] {
        let found = findings(&Library::from_files(files(&[id])), id, &[]);
        assert!(found.is_empty(), "{id}: {found:#?}");
    }
}
