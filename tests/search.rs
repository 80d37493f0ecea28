//! Seats that search, in games whose best answers are known.

use std::path::Path;
use std::sync::Arc;

use riskbreaker::lab::{Study, Variant};
use riskbreaker::{Driver, Library, Ruleset, Setup};

fn rules(id: &str, play: &str, kinds: &str, scenarios: &[(&str, &str)]) -> Arc<Ruleset> {
    let head =
        format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n");
    let mut files = vec![
        (format!("{id}/ruleset.toml"), head.into_bytes()),
        (format!("{id}/play.luau"), play.as_bytes().to_vec()),
        (format!("{id}/kinds.luau"), kinds.as_bytes().to_vec()),
    ];
    files
        .extend(scenarios.iter().map(|(name, text)| (format!("{id}/scenarios/{name}.toml"), text.as_bytes().to_vec())));
    Ruleset::load(&Library::from_files(files), id).unwrap_or_else(|error| panic!("{error}"))
}

fn policy(name: &str) -> Driver {
    Driver::Policy(Arc::from(name))
}

/// The results of the trials, in order.
fn results(rules: &Arc<Ruleset>, setup: Setup, trials: u64, threads: usize) -> Vec<String> {
    let variant = Variant::new("it", rules, setup).unwrap_or_else(|error| panic!("{error}"));
    let random = Default::default();
    let study = Study {
        variant,
        first: 1,
        trials,
        seed: 3,
        actions: 200,
        bans: Default::default(),
        random,
        store: Default::default(),
        known_only: false,
    };
    let recorded = study.record(threads, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    recorded.games.iter().map(|game| format!("{:?}", game.end)).collect()
}

const PURSES: &str = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int() } } })"#;

/// The first answer gives a coin now, and the second question costs three for those who took it.
const TRAP: &str = r#"local rb = require("@riskbreaker")
local function purse(seat)
	return rb.first("purse", { seat = seat })
end
return rb.play({
	start = function()
		rb.spawn("purse", { seat = "left" })
		rb.spawn("purse", { seat = "right", coins = 1 })
		rb.schedule("first", 1)
	end,
	entries = {
		first = function()
			local way = rb.choose({ seat = "left", topic = "way", options = { "greedy", "patient" } })
			purse("left"):add("coins", if way == "greedy" then 1 else 0)
			rb.schedule("second", "+1", nil, { way = way })
		end,
		second = function(_, args)
			local way = rb.choose({ seat = "left", topic = "then", options = { "hold", "cash" } })
			if way == "cash" then
				purse("left"):add("coins", if args.way == "greedy" then -3 else 3)
			end
			rb.finish("{} {}", args.way, way)
		end,
	},
	value = function(seat)
		return purse(seat).coins
	end,
})"#;

#[test]
fn a_search_sees_further_than_one_step() {
    let trap = rules("trap", TRAP, PURSES, &[("hall", "title = \"Hall\"\n")]);
    let of = |who: &str| results(&trap, Setup::scenario("hall").seat("left", policy(who)), 5, 2);
    assert!(of("ahead").iter().all(|result| result.contains("greedy hold")), "{:?}", of("ahead"));
    assert!(of("search:40").iter().all(|result| result.contains("patient cash")), "{:?}", of("search:40"));
    // A playout that stops at the end of the action sees what `ahead` sees.
    let near = of("search:40:horizon");
    assert!(near.iter().all(|result| result.contains("greedy hold")), "{near:?}");
}

/// `left` guesses a card that only `right` sees.
const GUESS: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function(scenario)
		rb.spawn("hand", { seat = "right", card = scenario.card })
		rb.spawn("guess", {})
		rb.schedule("turn", 1)
	end,
	entries = {
		turn = function()
			local guess = rb.choose({ seat = "left", topic = "card", options = { "1", "2", "3" } })
			rb.first("guess"):set("right", tonumber(guess) == rb.first("hand").card)
			rb.finish("{}", guess)
		end,
	},
	value = function(seat)
		return if rb.first("guess").right == (seat == "left") then 1 else 0
	end,
	deal = function()
		rb.first("hand"):set("card", (rb.draw({ 1, 2, 3 })))
	end,
})"#;
const HANDS: &str = r#"local rb = require("@riskbreaker")
return rb.kinds({
	hand = { seat = "seat", fields = { seat = rb.text(), card = rb.int({ audience = "seat" }) } },
	guess = { fields = { right = rb.bool({ show = false }) } },
})"#;

#[test]
fn a_search_uses_nothing_that_its_seat_does_not_see() {
    let scenarios: Vec<(String, String)> =
        (1..=3).map(|card| (format!("card{card}"), format!("title = \"Card\"\ncard = {card}\n"))).collect();
    let scenarios: Vec<(&str, &str)> = scenarios.iter().map(|(name, text)| (&**name, &**text)).collect();
    let guess = rules("guess", GUESS, HANDS, &scenarios);
    let of = |name: &str| results(&guess, Setup::scenario(name).seat("left", policy("search:60")), 30, 2);
    let first = of("card1");
    assert_eq!(first, of("card2"));
    assert_eq!(first, of("card3"));
    // It guesses, and not always the same.
    assert!(
        ["1", "2", "3"].iter().all(|card| first.iter().any(|result| result.contains(&format!("\"{card}\"")))),
        "{first:?}"
    );
}

#[test]
fn a_search_gives_the_same_games_for_any_number_of_threads_and_seldom_loses_at_a_solved_game() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/rulesets")).unwrap();
    let rules = Ruleset::load(&library, "tic-tac-toe").unwrap_or_else(|error| panic!("{error}"));
    let setup = |x: &str, o: &str| Setup::scenario("board").seat("x", policy(x)).seat("o", policy(o));
    let one = results(&rules, setup("lowest", "search:60"), 6, 1);
    assert_eq!(one, results(&rules, setup("lowest", "search:60"), 6, 3));
    let lost =
        |games: &[String], other: &str| games.iter().filter(|game| game.contains(&format!("{other} +1"))).count();
    assert_eq!(lost(&one, "x"), 0, "{one:?}");
    let strong = results(&rules, setup("search:200", "search:60"), 6, 2);
    assert!(lost(&strong, "o") <= 1, "{strong:?}");
}

#[test]
fn a_search_that_cannot_be_is_refused() {
    let trap = rules("trap", TRAP, PURSES, &[("hall", "title = \"Hall\"\n")]);
    let wrong = Variant::new("it", &trap, Setup::scenario("hall").seat("left", policy("search:none")));
    assert!(wrong.is_err_and(|error| error.to_string().contains("search:100")));
}
