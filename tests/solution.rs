//! Best play in games whose solutions are known.

use std::path::Path;
use std::sync::Arc;

use riskbreaker::lab::{GameLimits, Payoff, Solution, solve_game};
use riskbreaker::{Library, Ruleset, Setup};

/// A ruleset of the conformance tests.
fn known_game(id: &str) -> Arc<Ruleset> {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/rulesets")).unwrap();
    Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"))
}

fn solved(rules: &Arc<Ruleset>, scenario: &str, policies: &[(&str, &str)], best: &[&str]) -> Solution {
    let seats: Vec<Arc<str>> = best.iter().map(|seat| Arc::from(*seat)).collect();
    let setup = policies.iter().fold(Setup::scenario(scenario), |setup, (seat, policy)| {
        setup.seat(seat, riskbreaker::Driver::Policy(Arc::from(*policy)))
    });
    solve_game(rules, setup, &seats, None, GameLimits::default(), None).unwrap_or_else(|why| panic!("{why}"))
}

/// The share of an answer in the only decision that has all these words in what its seat sees.
fn share(solution: &Solution, seat: &str, sees: &[(&str, &str)], answer: &str) -> f64 {
    let fits = |decision: &&riskbreaker::lab::BestAnswer| {
        let has = |(name, value): &(&str, &str)| {
            decision.sees.iter().any(|(own, known)| own.ends_with(name) && known == value)
        };
        *decision.seat == *seat && sees.iter().all(has)
    };
    let found: Vec<_> = solution.decisions.iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "{seat} {sees:?}: {found:?}");
    found[0].answers.iter().find(|known| known.answer == answer).map_or(0.0, |known| known.share)
}

#[test]
fn kuhn_poker_has_its_published_value() {
    let both = solved(&known_game("kuhn-poker"), "deal", &[], &["first", "second"]);
    assert!(both.low <= -1.0 / 18.0 && -1.0 / 18.0 <= both.high, "{} {}", both.low, both.high);
    assert!(both.high - both.low < 5e-4 && !both.is_partial(), "{} {}", both.low, both.high);
    // The deal moves the payoff, and so do the answers.
    let found = both.skill_and_luck.expect("it was followed to its end");
    assert!(found.luck > 0.5 && found.skill > 0.1 && found.index.is_some_and(|index| index < 0.0), "{found:?}");
    // Six decisions of each seat; nobody folds a 3, and nobody calls with a 1.
    assert_eq!(both.decisions.len(), 12);
    assert!(share(&both, "second", &[("Card", "3"), ("Bets", "b")], "bet") > 0.999);
    assert!(share(&both, "second", &[("Card", "1"), ("Bets", "b")], "bet") < 0.001);
    // In each equilibrium the second seat bets a 1 after a pass in a third of the cases.
    assert!((share(&both, "second", &[("Card", "1"), ("Bets", "p")], "bet") - 1.0 / 3.0).abs() < 0.01);
}

#[test]
fn leduc_poker_has_its_published_value() {
    let both = solved(&known_game("leduc-poker"), "deal", &[], &["first", "second"]);
    assert!(both.low <= -0.085_606 && -0.085_607 <= both.high, "{} {}", both.low, both.high);
    assert!(both.high - both.low < 0.002, "{} {}", both.low, both.high);
}

#[test]
fn a_best_response_gains_what_a_policy_gives_away() {
    let kuhn = known_game("kuhn-poker");
    // `calls` never bets first and calls with a 2 or a 3. Against it a 3 bets (1 and 2), a 2 passes (1 and -1), a 1 loses 1.
    let best = solved(&kuhn, "deal", &[("first", "calls")], &["second"]);
    assert!((best.low - 1.0 / 6.0).abs() < 1e-9 && best.low == best.high, "{} {}", best.low, best.high);
    assert_eq!(share(&best, "second", &[("Card", "3")], "bet"), 1.0);
    assert_eq!(share(&best, "second", &[("Card", "2")], "pass"), 1.0);
    // `balanced` plays an equilibrium: nothing is gained on it.
    let best = solved(&kuhn, "deal", &[("first", "balanced")], &["second"]);
    assert!((best.low - 1.0 / 18.0).abs() < 1e-9, "{}", best.low);
    let best = solved(&kuhn, "deal", &[("second", "balanced")], &["first"]);
    assert!((best.low + 1.0 / 18.0).abs() < 1e-9, "{}", best.low);
}

#[test]
fn tic_tac_toe_is_a_draw_and_a_poor_player_loses_it() {
    let rules = known_game("tic-tac-toe");
    let both = solved(&rules, "board", &[], &["x", "o"]);
    assert_eq!((both.low, both.high, both.hidden, both.is_partial()), (0.0, 0.0, false, false));
    // There are no dice.
    let found = both.skill_and_luck.expect("it was followed to its end");
    assert!(found.skill > 0.0 && found.luck == 0.0 && found.index == Some(1.0), "{found:?}");
    // The positions that can be reached: see OEIS A008907, 5,478 with the empty board.
    assert!(both.states >= 5_478, "{}", both.states);
    for (policy, seat) in [("o", "x"), ("x", "o")] {
        let best = solved(&rules, "board", &[(policy, "lowest")], &[seat]);
        assert_eq!((best.low, best.high), (1.0, 1.0), "{seat}");
    }
}

/// Both choose at the same time, unseen; scissors win two points from paper, everything else one.
fn fingers() -> Arc<Ruleset> {
    let play = r#"local rb = require("@riskbreaker")
local BEATS = { rock = "scissors", paper = "rock", scissors = "paper" }
return rb.play({
	start = function()
		rb.spawn("board", {})
		rb.schedule("show", 1)
	end,
	entries = {
		show = function()
			local asked = {}
			for at, seat in { "left", "right" } do
				asked[at] = { ask = "choose", seat = seat, topic = "hand", options = { "rock", "paper", "scissors" }, default = "rock" }
			end
			local hands = rb.all(asked)
			local left = if BEATS[hands[1]] == hands[2] then 1 elseif BEATS[hands[2]] == hands[1] then -1 else 0
			local stake = if hands[1] ~= "rock" and hands[2] ~= "rock" then 2 else 1
			rb.first("board"):set("points", left * stake)
			rb.finish("{} to left", left * stake)
		end,
	},
	value = function(seat)
		local points = rb.first("board").points
		return if seat == "left" then points else -points
	end,
})"#;
    let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ board = { fields = { points = rb.int() } } })"#;
    let policy = r#"local rb = require("@riskbreaker") return rb.policy({ id = "stone", answer = function(q) return "rock" end })"#;
    let files = [
        (
            "ruleset.toml",
            "id = \"fingers\"\ntitle = \"Fingers\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n",
        ),
        ("kinds.luau", kinds),
        ("play.luau", play),
        ("policies/stone.luau", policy),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let files = files.iter().map(|(path, text)| (format!("fingers/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "fingers").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn answers_that_are_given_at_the_same_time_are_not_seen() {
    let rules = fingers();
    // With answers in the open the second would win every game.
    let both = solved(&rules, "hall", &[], &["left", "right"]);
    assert!(both.low.abs() < 1e-3 && both.high.abs() < 1e-3, "{} {}", both.low, both.high);
    for seat in ["left", "right"] {
        for (answer, expected) in [("rock", 0.5), ("paper", 0.25), ("scissors", 0.25)] {
            assert!((share(&both, seat, &[], answer) - expected).abs() < 0.005, "{seat} {answer}: {both:?}");
        }
    }
    let best = solved(&rules, "hall", &[("left", "stone")], &["right"]);
    assert_eq!((best.low, share(&best, "right", &[], "paper")), (1.0, 1.0));
}

/// `left` takes many coins and gives more away, or takes one.
fn gift(value: &str) -> Arc<Ruleset> {
    let play = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("board", {})
		rb.schedule("take", 1)
	end,
	entries = {
		take = function()
			local is_much = rb.choose({ seat = "left", topic = "way", options = { "much", "little" } }) == "much"
			rb.first("board"):set("left", if is_much then 3 else 1)
			rb.first("board"):set("right", if is_much then 4 else 0)
			rb.finish("over")
		end,
	},
	value = function(seat)
		local board = rb.first("board")
		return VALUE
	end,
})"#
    .replace("VALUE", value);
    let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ board = { fields = { left = rb.int(), right = rb.int() } } })"#;
    let policy =
        r#"local rb = require("@riskbreaker") return rb.policy({ id = "any", answer = function() return nil end })"#;
    let files = [
        (
            "ruleset.toml",
            "id = \"gift\"\ntitle = \"Gift\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n",
        ),
        ("kinds.luau", kinds),
        ("play.luau", &play),
        ("policies/any.luau", policy),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let files = files.iter().map(|(path, text)| (format!("gift/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "gift").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn one_seat_and_two_seats_maximise_the_same() {
    let setup = || Setup::scenario("hall").seat("right", riskbreaker::Driver::Policy("any".into()));
    let solve = |rules: &Arc<Ruleset>, seats: &[&str], payoff| {
        let seats: Vec<Arc<str>> = seats.iter().map(|seat| Arc::from(*seat)).collect();
        solve_game(rules, setup(), &seats, payoff, GameLimits::default(), None).unwrap_or_else(|why| panic!("{why}"))
    };
    // The values of both seats do not sum to the same number: 7 or 1. The seat with more coins wins.
    let coins = gift("if seat == \"left\" then board.left else board.right");
    for seats in [&["left"][..], &["left", "right"]] {
        let found = solve(&coins, seats, None);
        assert_eq!((found.payoff, found.counts_won, found.low, found.high), (Payoff::Won, true, 1.0, 1.0), "{seats:?}");
        assert_eq!(share(&found, "left", &[], "little"), 1.0);
    }
    let found = solve(&coins, &["left"], Some(Payoff::Value));
    assert_eq!((found.payoff, found.counts_won, found.low), (Payoff::Value, false, 3.0));
    assert_eq!(share(&found, "left", &[], "much"), 1.0);
    // The lead sums to 0 in every end.
    let lead = gift("if seat == \"left\" then board.left - board.right else board.right - board.left");
    for seats in [&["left"][..], &["left", "right"]] {
        let found = solve(&lead, seats, None);
        assert_eq!((found.payoff, found.counts_won, found.low), (Payoff::Value, false, 1.0), "{seats:?}");
    }
    // Both win or lose together.
    let found = solve(&gift("board.left + board.right"), &["left"], None);
    assert_eq!((found.payoff, found.low), (Payoff::Value, 7.0));
}

#[test]
fn what_cannot_be_solved_is_refused_with_a_reason() {
    let (rules, limits) = (fingers(), GameLimits::default());
    let solve = |seats: &[&str]| {
        let seats: Vec<Arc<str>> = seats.iter().map(|seat| Arc::from(*seat)).collect();
        let solved = solve_game(&rules, Setup::scenario("hall"), &seats, None, limits, None);
        solved.err().map(|why| why.to_string()).unwrap_or_default()
    };
    assert!(solve(&["left"]).contains("nobody plays right"), "{}", solve(&["left"]));
    assert!(solve(&["middle"]).contains("seat"), "{}", solve(&["middle"]));
    // At a limit there are bounds, and the reason.
    let few = GameLimits { states: 40, ..limits };
    let seats = ["x", "o"].map(Arc::from);
    let found = solve_game(&known_game("tic-tac-toe"), Setup::scenario("board"), &seats, None, few, None);
    assert!(found.is_err_and(|why| why.to_string().contains("more states")));
    let found = GameLimits { states: 2_000, ..limits };
    let found = solve_game(&known_game("tic-tac-toe"), Setup::scenario("board"), &seats, None, found, None);
    let found = found.unwrap_or_else(|why| panic!("{why}"));
    assert!(found.is_partial() && found.low <= 0.0 && 0.0 <= found.high, "{} {}", found.low, found.high);
}
