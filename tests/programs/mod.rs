//! Programs as cards: a ruleset is written whose cards say what a program came to.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use riskbreaker::{Library, Ruleset};

/// A program as the body of a function that says what it came to. `roll(n)` rolls a die with `n` sides.
pub struct Program {
    pub name: String,
    pub body: String,
}

/// A ruleset with one card for each program.
pub fn ruleset(folder: &str, programs: &[Program]) -> Arc<Ruleset> {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&root);
    let of = root.join("programs");
    fs::create_dir_all(of.join("maneuvers")).unwrap();
    fs::create_dir_all(of.join("scenarios")).unwrap();
    let manifest = "id = \"programs\"\ntitle = \"Programs\"\nversion = \"1.0.0\"\nsummary = \"Programs.\"\nscenario = \"one\"\n\n[seats]\nplayer = \"Ann\"\n";
    fs::write(of.join("ruleset.toml"), manifest).unwrap();
    fs::write(of.join("RULES.md"), "# Programs\n").unwrap();
    fs::write(of.join("scenarios/one.toml"), "title = \"One\"\n").unwrap();
    fs::write(
        of.join("kinds.luau"),
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.kinds({ pot = { fields = { gold = rb.int() } } })\n",
    )
    .unwrap();
    fs::write(
        of.join("play.luau"),
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.play({\n\tstart = function()\n\t\trb.recur(\"turn\", 1, 1, rb.spawn(\"pot\"))\n\tend,\n\tentries = {\n\t\tturn = function(pot)\n\t\t\trb.choose({ seat = \"player\", topic = \"card\", about = pot, options = rb.options(rb.card_ids, pot) }).resolve(pot)\n\t\tend,\n\t},\n})\n",
    )
    .unwrap();
    for Program { name, body } in programs {
        let card = format!(
            "local rb = require(\"@riskbreaker\")\n\nlocal function roll(n)\n\treturn rb.roll(\"1d\" .. n, \"die\")\nend\n\nlocal function program()\n{body}\nend\n\nreturn rb.maneuver({{\n\tid = \"{name}\",\n\tresolve = function()\n\t\trb.say(tostring(program()))\n\tend,\n}})\n"
        );
        fs::write(of.join(format!("maneuvers/{name}.luau")), card).unwrap();
    }
    let library = Library::open(&root).unwrap();
    Ruleset::load(&library, "programs").unwrap_or_else(|error| panic!("{error}"))
}
