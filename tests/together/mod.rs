//! A ruleset that asks all its seats the same question together.

use riskbreaker::Library;

/// The seats, in the order in which they are asked. The pawn of the first one is `Pawn 1`.
pub const SEATS: [&str; 3] = ["north", "south", "west"];

/// Scripts that ask a list of questions together and return the answers by index: all of them, or that of a race.
pub const ALL: &str = "return rb.all(questions)";
#[allow(dead_code)] // not every test runs a race
pub const RACE: &str = "local at, answer = rb.race(questions) return { [at] = answer }";

/// A pawn plays safe for 2 points, or boldly for 4 with a chance of 2/5. Then it may push for one more. The game is
/// over after one round.
const PLAY: &str = r#"
local rb = require("@riskbreaker")

local function together(pawns, ask, topic, options, default)
	local questions = {}
	for at, pawn in pawns do
		questions[at] = { ask = ask, seat = pawn.seat, topic = topic, options = options, default = default }
		if IS_ABOUT then
			questions[at].about = pawn
		end
	end
	WAY
end

return rb.play({
	start = function()
		for at, seat in SEATS do
			rb.spawn("pawn", { name = `Pawn {at}`, seat = seat })
		end
		rb.recur("round", 1, 1)
	end,
	entries = {
		round = function()
			local pawns = rb.each("pawn")
			for at, card in together(pawns, "choose", "card", { "safe", "bold" }, "safe") do
				if card == "safe" then
					pawns[at]:add("sum", 2)
				elseif rb.under("1d10", 5, "{} dares", pawns[at]) then
					pawns[at]:add("sum", 4)
				end
			end
			for at, pushes in together(pawns, "confirm", "push", nil, false) do
				if pushes then
					pawns[at]:add("sum", 1)
				end
			end
			rb.finish("done")
		end,
	},
	value = function(seat)
		return rb.first("pawn", { seat = seat }).sum
	end,
})
"#;

const KINDS: &str = r#"
local rb = require("@riskbreaker")
return rb.kinds({
	pawn = { title = "name", fields = { name = rb.text(), seat = rb.text({ show = false }), sum = rb.int() } },
})
"#;

const CALM: &str = r#"
local rb = require("@riskbreaker")
return rb.policy({
	id = "calm",
	answer = function(q)
		return if q.topic == "card" then "safe" else false
	end,
})
"#;

/// The files of the ruleset `together` for the first `seats` seats, by path. `way`: [`ALL`] or [`RACE`]. `is_about`:
/// true if each question is about the pawn of its seat.
pub fn files(way: &str, is_about: bool, seats: usize) -> Vec<(&'static str, String)> {
    let seats = &SEATS[..seats];
    let declared: String = seats.iter().map(|seat| format!("{seat} = \"{seat}\"\n")).collect();
    let listed: Vec<String> = seats.iter().map(|seat| format!("\"{seat}\"")).collect();
    let play = PLAY.replace("WAY", way).replace("IS_ABOUT", &is_about.to_string());
    let manifest =
        "id = \"together\"\ntitle = \"T\"\nversion = \"1.0.0\"\nsummary = \"T.\"\nscenario = \"a\"\n[seats]\n";
    vec![
        ("together/ruleset.toml", format!("{manifest}{declared}")),
        ("together/scenarios/a.toml", "title = \"A\"\n".to_owned()),
        ("together/kinds.luau", KINDS.to_owned()),
        ("together/policies/calm.luau", CALM.to_owned()),
        ("together/play.luau", play.replace("SEATS", &format!("{{ {} }}", listed.join(", ")))),
    ]
}

pub fn library(way: &str, is_about: bool, seats: usize) -> Library {
    Library::from_files(files(way, is_about, seats))
}
