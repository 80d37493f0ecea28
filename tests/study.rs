//! Studies of games whose figures are known by construction.

use std::sync::Arc;

use riskbreaker::lab::{Recorded, Study, Variant};
use riskbreaker::{Library, Ruleset, Setup};

const KINDS: &str = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int() } } })"#;

/// Two purses; `body` is what a turn does with them.
fn rules(body: &str) -> Arc<Ruleset> {
    let play = format!(
        r#"local rb = require("@riskbreaker")
return rb.play({{
	start = function()
		rb.spawn("purse", {{ seat = "left" }})
		rb.spawn("purse", {{ seat = "right" }})
		rb.recur("turn", {{ 1 }}, {{ 1 }})
	end,
	entries = {{
		turn = function()
			local purses = rb.each("purse")
			{body}
		end,
	}},
	boundary = "turn",
	value = function(seat)
		for _, purse in ipairs(rb.each("purse")) do
			if purse.seat == seat then
				return purse.coins
			end
		end
		return 0
	end,
}})"#
    );
    let policy = r#"local rb = require("@riskbreaker") return rb.policy({ id = "yes", answer = function(q) return if q.kind == "confirm" then true else q.options[1] end })"#;
    let files = [
        (
            "ruleset.toml",
            "id = \"coin\"\ntitle = \"Coin\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n",
        ),
        ("kinds.luau", KINDS),
        ("play.luau", &play),
        ("policies/yes.luau", policy),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let files = files.iter().map(|(path, text)| (format!("coin/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "coin").unwrap_or_else(|error| panic!("{error}"))
}

fn study(rules: &Arc<Ruleset>, trials: u64, seed: u64) -> Study {
    let variant = Variant::new("coin", rules, Setup::scenario("hall")).expect("it starts");
    Study { variant, first: 1, trials, seed, actions: 200, bans: Default::default() }
}

fn recorded(study: &Study, threads: usize) -> Recorded {
    study.record(threads, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

const TOSS: &str = r#"rb.confirm({ seat = "left", topic = "toss", why = "Toss?" })
			local heads = rb.at_most("1d2", 1)
			purses[if heads then 1 else 2]:add("coins", 1)
			rb.finish(if heads then "left" else "right")"#;

#[test]
fn the_interval_of_a_fair_coin_holds_one_half_in_about_95_of_100_studies() {
    let coin = rules(TOSS);
    let holds = (1..=100).filter(|seed| {
        let rate = recorded(&study(&coin, 60, *seed), 2).figures().results.remove("left");
        rate.is_some_and(|rate| rate.low <= 0.5 && 0.5 <= rate.high)
    });
    let holds = holds.count();
    assert!((90..=100).contains(&holds), "{holds}");
}

#[test]
fn a_study_is_the_same_for_any_number_of_threads_and_one_trial_can_be_played_alone() {
    let coin = rules(TOSS);
    let whole = study(&coin, 40, 7);
    let games = recorded(&whole, 1).games;
    assert_eq!(games, recorded(&whole, 3).games);
    let alone = recorded(&Study { first: 17, trials: 1, ..whole }, 1).games;
    assert_eq!(alone, games[16..17]);
    // One question a game, with two open answers; who has the coin has led since the toss.
    let figures = recorded(&study(&coin, 40, 7), 2).figures();
    let toss = &figures.topics[0];
    assert_eq!((&*toss.seat, toss.asked.asked, toss.asked.open, toss.asked.single), ("left", 40, 80, 0));
    assert_eq!(figures.decisions.map(|spread| (spread.p10, spread.most)), Some((1, 1)));
    assert_eq!(figures.comebacks.map(|rate| rate.count), Some(0));
}

#[test]
fn a_game_without_end_is_named_as_endless() {
    let figures = recorded(&study(&rules("purses[1]:add(\"coins\", 1)"), 3, 1), 2).figures();
    assert_eq!(figures.endless, [1, 2, 3]);
    assert!(figures.results.is_empty() && figures.rounds.is_none(), "{figures:?}");
}
