//! Programs as cards: writes a ruleset whose cards report the result of a program.

use std::sync::Arc;

use riskbreaker::{Library, Ruleset};

/// A program as the body of a function that returns its result. `roll(n)` rolls a die with `n` sides.
pub struct Program {
    pub name: String,
    pub body: String,
}

/// A ruleset with one card for each program.
pub fn ruleset(programs: &[Program]) -> Arc<Ruleset> {
    let manifest = "id = \"programs\"\ntitle = \"Programs\"\nversion = \"1.0.0\"\nsummary = \"Programs.\"\nscenario = \"one\"\n\n[seats]\nplayer = \"Ann\"\n";
    let files = [
        ("ruleset.toml", manifest),
        ("RULES.md", "# Programs\n"),
        ("scenarios/one.toml", "title = \"One\"\n"),
        (
            "kinds.luau",
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.kinds({ pot = { fields = { gold = rb.int() } } })\n",
        ),
        (
            "play.luau",
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.play({\n\tstart = function()\n\t\trb.recur(\"turn\", 1, 1, rb.spawn(\"pot\"))\n\tend,\n\tentries = {\n\t\tturn = function(pot)\n\t\t\trb.choose({ seat = \"player\", topic = \"card\", about = pot, options = rb.options(rb.card_ids, pot) }).resolve(pot)\n\t\tend,\n\t},\n})\n",
        ),
    ];
    let card = |Program { name, body }: &Program| {
        let card = format!(
            "local rb = require(\"@riskbreaker\")\n\nlocal function roll(n)\n\treturn rb.roll(\"1d\" .. n, \"die\")\nend\n\nlocal function program()\n{body}\nend\n\nreturn rb.maneuver({{\n\tid = \"{name}\",\n\tresolve = function()\n\t\trb.say(tostring(program()))\n\tend,\n}})\n"
        );
        (format!("programs/maneuvers/{name}.luau"), card)
    };
    let files = files.map(|(path, text)| (format!("programs/{path}"), text.to_owned()));
    let library = Library::from_files(files.into_iter().chain(programs.iter().map(card)));
    Ruleset::load(&library, "programs").unwrap_or_else(|error| panic!("{error}"))
}
