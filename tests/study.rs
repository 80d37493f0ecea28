//! Studies of games whose figures are known by construction.

use std::sync::Arc;

use riskbreaker::lab::{Difference, Exchange, Foresight, Mirrored, Recorded, Study, Variant};
use riskbreaker::{Driver, Library, Ruleset, Setup};

#[path = "study/intervals.rs"]
mod intervals;

const KINDS: &str = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int() } } })"#;

/// A state is worth the coins of a seat to it.
const VALUE: &str = r#"	value = function(seat)
		for _, purse in ipairs(rb.each("purse")) do
			if purse.seat == seat then
				return purse.coins
			end
		end
		return 0
	end,
"#;

/// A game of two purses; `body` is the script of a turn.
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
{VALUE}}})"#
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
    Study {
        variant,
        first: 1,
        trials,
        seed,
        actions: 200,
        bans: Default::default(),
        random: Default::default(),
        store: Default::default(),
        known_only: false,
    }
}

fn recorded(study: &Study, threads: usize) -> Recorded {
    study.record(threads, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

const TOSS: &str = r#"rb.confirm({ seat = "left", topic = "toss", why = "Toss?" })
			local heads = rb.at_most("1d2", 1)
			purses[if heads then 1 else 2]:add("coins", 1)
			rb.finish(if heads then "left" else "right")"#;

#[test]
fn the_interval_of_a_fair_coin_contains_one_half_in_about_95_of_100_studies() {
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
    // One question a game, with two open answers; the player with the coin has led since the toss.
    let figures = recorded(&study(&coin, 40, 7), 2).figures();
    let toss = &figures.topics[0];
    assert_eq!((&*toss.seat, toss.asked.asked, toss.asked.open, toss.asked.single), ("left", 40, 80, 0));
    assert_eq!(figures.decisions.map(|spread| (spread.p10.value, spread.most)), Some((1, 1)));
    assert_eq!(figures.comebacks.map(|rate| rate.count), Some(0));
}

#[test]
fn a_game_without_end_is_named_as_endless() {
    let figures = recorded(&study(&rules("purses[1]:add(\"coins\", 1)"), 3, 1), 2).figures();
    assert_eq!(figures.endless, [1, 2, 3]);
    assert!(figures.results.is_empty() && figures.rounds.is_none(), "{figures:?}");
}

/// A game of one card: `left` plays a card that wins with its chance in ten, else `right` wins. `sure` is used whenever
/// it is open, then `fair`; `poor` is never played, `shut` is always closed, and no question names `spare`. In one game
/// of four, by the die, only `fair` is open.
fn cards() -> Arc<Ruleset> {
    cards_with(&|play| play)
}

/// The same with an edited `play.luau`.
fn cards_with(edit: &dyn Fn(String) -> String) -> Arc<Ruleset> {
    let card = |id: &str| {
        let text = format!(
            r#"local rb = require("@riskbreaker") return rb.maneuver({{ id = "{id}", title = "{id}", rules = {{ "C-1" }}, text = "Play it.", resolve = function() end }})"#
        );
        (format!("maneuvers/{id}.luau"), text)
    };
    let play = r#"local rb = require("@riskbreaker")
local CHANCES = { fair = 5, poor = 2, shut = 9, sure = 8 }
return rb.play({
	start = function()
		rb.spawn("purse", { seat = "left" })
		rb.spawn("purse", { seat = "right" })
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local few = rb.at_most("1d4", 1)
			local options = {}
			for _, id in ipairs({ "fair", "poor", "shut", "sure" }) do
				local open = id == "fair" or (not few and id ~= "shut")
				table.insert(options, { id = id, value = CHANCES[id], enabled = open, reason = if open then nil else "closed" })
			end
			local won = rb.at_most("1d10", rb.choose({ seat = "left", topic = "card", options = options }))
			rb.each("purse")[if won then 1 else 2]:add("coins", 1)
			rb.finish(if won then "left" else "right")
		end,
	},
	boundary = "turn",
VALUE})"#
        .replace("VALUE", VALUE);
    let play = edit(play);
    let policy = r#"local rb = require("@riskbreaker")
return rb.policy({
	id = "yes",
	answer = function(q)
		for _, id in ipairs({ "sure", "fair" }) do
			for _, option in ipairs(q.options) do
				if option.id == id and option.enabled then
					return option.id
				end
			end
		end
		return nil
	end,
})"#;
    let weak = r#"local rb = require("@riskbreaker") return rb.policy({ id = "zany", answer = function() return "fair" end })"#;
    let manifest = "id = \"cards\"\ntitle = \"Cards\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n";
    let mut files: Vec<(String, String)> = vec![
        ("ruleset.toml".into(), manifest.into()),
        ("kinds.luau".into(), KINDS.into()),
        ("play.luau".into(), play),
        ("policies/yes.luau".into(), policy.into()),
        ("policies/zany.luau".into(), weak.into()),
        ("scenarios/hall.toml".into(), "title = \"Hall\"\n".into()),
    ];
    files.extend(["sure", "fair", "poor", "shut", "spare"].map(card));
    let files = files.into_iter().map(|(path, text)| (format!("cards/{path}"), text.into_bytes()));
    Ruleset::load(&Library::from_files(files), "cards").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn cards_that_nobody_can_or_does_play_are_named() {
    let figures = recorded(&study(&cards(), 100, 1), 2).figures();
    let unused = [&figures.never_named, &figures.never_offered, &figures.never_chosen];
    assert_eq!(
        unused.map(|cards| cards.iter().map(|card| &**card).collect::<Vec<_>>()),
        [["spare"], ["shut"], ["poor"]]
    );
    let fair = figures.cards.iter().find(|card| &*card.card == "fair").expect("it was offered");
    let single = &figures.topics[0].single;
    // `fair` is chosen if nothing else is open.
    assert_eq!((fair.offer.named, fair.offer.offered, fair.offer.chosen), (100, 100, single.count));
}

#[test]
fn the_interval_of_the_worth_of_a_card_contains_the_true_worth_in_about_95_of_100_studies() {
    // In three of four games `sure` wins in eight of ten and `fair` in five: three of ten games more.
    let (rules, truth) = (cards(), 0.75 * 0.3);
    let (mut holds, mut forced) = (0, 0);
    for seed in 1..=100 {
        let study = study(&rules, 60, seed);
        let recorded = recorded(&study, 2);
        let worth = study.worth_of_cards(&recorded, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        let of = |card: &str| worth.iter().find(|worth| *worth.card == *card).expect("it was used");
        let sure = of("sure");
        assert_eq!((sure.worth.pairs, sure.forced, sure.left_out), (60, 0, 0));
        holds += u32::from((sure.worth.low()..=sure.worth.high()).contains(&truth));
        // If only `fair` is open it is played nevertheless, and `poor` never replaces it: nothing changes.
        forced += of("fair").forced;
        assert_eq!(of("fair").worth.average, 0.0);
        assert_eq!(worth.len(), 2, "{worth:?}");
    }
    assert!((90..=100).contains(&holds), "{holds}");
    assert!((1_300..1_700).contains(&forced), "{forced}");
}

#[test]
fn a_game_that_all_win_together_has_no_winners_and_a_card_is_worth_what_it_adds_to_the_value() {
    // Both seats want that `left` gets a coin.
    let common = |play: String| play.replace(VALUE, "\tvalue = function() return rb.each(\"purse\")[1].coins end,\n");
    let study = study(&cards_with(&common), 200, 2);
    let recorded = recorded(&study, 2);
    assert!(recorded.is_cooperative());
    let figures = recorded.figures();
    assert!(figures.missing.iter().any(|missing| missing.contains("lose together")), "{:?}", figures.missing);
    assert!(figures.comebacks.is_none() && figures.cards.iter().all(|card| card.won_when_used.is_none()));
    let worth = study.worth_of_cards(&recorded, 2, &mut |_| true).unwrap();
    let sure = worth.iter().find(|worth| *worth.card == *"sure").expect("it was used");
    assert!(sure.in_value && (sure.worth.low()..=sure.worth.high()).contains(&(0.75 * 0.3)), "{sure:?}");
}

#[test]
fn a_value_that_is_no_whole_number_ends_the_game_with_its_reason() {
    let broken = |play: String| play.replace(VALUE, "\tvalue = function() return 0.5 end,\n");
    let rules = cards_with(&broken);
    let figures = recorded(&study(&rules, 3, 1), 1).figures();
    assert_eq!(figures.failed, [1, 2, 3]);
    assert!(figures.unended[0].why.contains("`value` in play.luau must return a whole number: 0.5"), "{figures:?}");
    // A seat that looks ahead does not play on with the first answer.
    let mut ahead = study(&rules, 1, 1);
    ahead.variant.setup.seats.insert("left".into(), Driver::Human);
    ahead.variant.ahead = [("left".into(), Foresight::named("search:5").unwrap().unwrap())].into();
    assert!(recorded(&ahead, 1).figures().unended[0].why.contains("must return a whole number"));
}

#[test]
fn a_policy_that_names_a_banned_card_plays_the_next_one() {
    let mut banned = study(&cards(), 40, 1);
    let zany = Setup::scenario("hall").seat("left", Driver::Policy("zany".into()));
    banned.variant = Variant::new("cards", &cards(), zany).unwrap();
    banned.bans = [("left".into(), "fair".into())].into();
    let figures = recorded(&banned, 2).figures();
    assert!(figures.unended.is_empty(), "{:?}", figures.unended);
    let chosen = |id: &str| figures.cards.iter().find(|card| *card.card == *id).map_or(0, |card| card.offer.chosen);
    assert_eq!((chosen("fair") + chosen("poor"), chosen("sure")), (40, 0));
    assert!(chosen("poor") > 20, "{figures:?}");
}

#[test]
fn a_random_seat_draws_from_all_of_many_answers_and_their_number_is_known() {
    let body = r#"local number = rb.number({ seat = "left", topic = "guess", min = 0, max = 1999, why = "Which?" })
			purses[if number < 1000 then 1 else 2]:add("coins", 1)
			rb.finish(if number < 1000 then "low" else "high")"#;
    let rules = rules(body);
    let mut study = study(&rules, 200, 5);
    study.variant.setup.seats.insert("left".into(), Driver::Human);
    study.random = [Arc::from("left")].into();
    let figures = recorded(&study, 2).figures();
    let low = figures.results["low"];
    assert!((70..130).contains(&low.count), "{low:?}");
    assert_eq!((figures.topics[0].open.value, figures.topics[0].single.count), (2_000.0, 0));
}

#[test]
fn a_card_among_several_that_are_chosen_together_counts() {
    let many = |play: String| {
        let asked = r#"rb.choose({ seat = "left", topic = "card", options = options })"#;
        assert!(play.contains(asked));
        play.replace(
            asked,
            r#"rb.choose_many({ seat = "left", topic = "card", options = options, min = 1, max = 1 })[1]"#,
        )
    };
    let mut study = study(&cards_with(&many), 30, 1);
    study.variant.setup.seats.insert("left".into(), Driver::Human);
    study.random = [Arc::from("left")].into();
    let figures = recorded(&study, 2).figures();
    assert!(figures.unended.is_empty(), "{:?}", figures.unended);
    let chosen: u64 = figures.cards.iter().map(|card| card.offer.chosen).sum();
    assert_eq!((chosen, figures.never_named.len()), (30, 1));
}

#[test]
fn the_worth_of_cards_is_the_same_for_any_number_of_threads_and_of_the_first_games_if_it_ends_early() {
    let study = study(&cards(), 40, 3);
    let recorded = recorded(&study, 2);
    let worth = |threads: usize, most: u64| {
        let mut told = |progress: riskbreaker::lab::Progress| progress.done < most;
        let found = study.worth_of_cards(&recorded, threads, &mut told).unwrap_or_else(|error| panic!("{error}"));
        found.into_iter().map(|worth| (worth.card, worth.worth, worth.forced)).collect::<Vec<_>>()
    };
    assert_eq!(worth(1, u64::MAX), worth(3, u64::MAX));
    let few = worth(2, 30);
    assert!(few.iter().all(|(_, worth, _)| (10..40).contains(&worth.pairs)), "{few:?}");
    let short = Recorded { games: recorded.games[..few[0].1.pairs as usize].to_vec(), ..recorded.clone() };
    let again = study.worth_of_cards(&short, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert!(again.iter().zip(&few).all(|(again, (_, worth, forced))| again.worth == *worth && again.forced == *forced));
}

fn seats() -> [Arc<str>; 2] {
    ["left".into(), "right".into()]
}

/// The study with these players in the two seats.
fn played_by(mut study: Study, players: [&str; 2]) -> Study {
    for (seat, player) in seats().into_iter().zip(players) {
        study.variant.setup.seats.insert(seat, riskbreaker::Driver::Policy(player.into()));
    }
    study
}

fn mirrored(study: &Study, exchange: Exchange) -> Mirrored {
    let recorded = recorded(study, 2);
    let mut found = study.mirror(&recorded, &[seats()], &[exchange], 2, &mut |_| true).unwrap();
    found.remove(0).found.unwrap_or_else(|why| panic!("{why}"))
}

fn holds(found: &Difference, truth: f64) -> u32 {
    u32::from((found.average - truth).abs() <= found.margin)
}

#[test]
fn an_exchange_of_policies_separates_the_seat_from_its_policy() {
    let rules = cards();
    // `left` wins 0.725 with `yes` and 0.5 with `zany`, in whichever seat the other policy is.
    let (mut seat, mut policy) = (0, 0);
    for seed in 1..=100 {
        let mut study = study(&rules, 60, seed);
        study = played_by(study, ["yes", "zany"]);
        let found = mirrored(&study, Exchange::Policies);
        assert_eq!((found.seat.pairs, found.left_out), (60, 0));
        seat += holds(&found.seat, 0.225);
        policy += holds(&found.exchanged, 0.225);
    }
    assert!((90..=100).contains(&seat) && (90..=100).contains(&policy), "{seat} {policy}");
    let same = played_by(study(&rules, 10, 1), ["yes", "yes"]).mirrored(Exchange::Policies, &seats()).unwrap_err();
    assert!(same.contains("both seats are played by yes"), "{same}");
    for exchange in [Exchange::Order, Exchange::Sides] {
        assert!(study(&rules, 10, 1).mirrored(exchange, &seats()).is_err());
    }
}

/// A die decides between two sides: the stronger wins two more of ten games, and the one listed first one more.
fn bout() -> Arc<Ruleset> {
    let play: &str = &r#"local rb = require("@riskbreaker")
return rb.play({
	start = function(scenario)
		for at, side in ipairs(scenario.sides) do
			rb.spawn("purse", { seat = side.seat, strength = side.strength, first = at == 1 })
		end
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local chance = 5
			for _, purse in ipairs(rb.each("purse")) do
				local sign = if purse.seat == "left" then 1 else -1
				chance += sign * purse.strength
				chance += if purse.first and purse.seat == "left" then 1 elseif purse.first then -1 else 0
			end
			local won = rb.at_most("1d10", chance)
			for _, purse in ipairs(rb.each("purse")) do
				purse:set("coins", if (purse.seat == "left") == won then 1 else 0)
			end
			rb.finish(if won then "left" else "right")
		end,
	},
	boundary = "turn",
VALUE})"#
        .replace("VALUE", VALUE);
    let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int(), strength = rb.int(), first = rb.bool() } } })"#;
    let scenario =
        "title = \"Hall\"\n[[sides]]\nseat = \"left\"\nstrength = 2\n[[sides]]\nseat = \"right\"\nstrength = 0\n";
    let manifest = "id = \"bout\"\ntitle = \"Bout\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n";
    let files =
        [("ruleset.toml", manifest), ("kinds.luau", kinds), ("play.luau", play), ("scenarios/hall.toml", scenario)];
    let files = files.iter().map(|(path, text)| (format!("bout/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "bout").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_stronger_side_and_the_first_place_have_their_known_advantages() {
    let rules = bout();
    let (mut order, mut rest, mut sides) = (0, 0, 0);
    for seed in 1..=100 {
        let study = study(&rules, 60, seed);
        // As written, `left` wins 0.8: 0.2 for its strength, 0.1 for its place. In the other order it wins 0.6.
        let found = mirrored(&study, Exchange::Order);
        order += holds(&found.exchanged, 0.2);
        rest += holds(&found.seat, 0.4);
        // `right` gets what `left` had, with its place: `left` wins 0.2. The seat itself has no effect.
        let found = mirrored(&study, Exchange::Sides);
        sides += holds(&found.exchanged, 0.6);
        rest += holds(&found.seat, 0.0);
    }
    assert!(
        (90..=100).contains(&order) && (185..=200).contains(&rest) && (90..=100).contains(&sides),
        "{order} {rest} {sides}"
    );
}

#[test]
fn dominated_cards_are_found_by_exact_odds() {
    let study = study(&cards(), 60, 1);
    let recorded = recorded(&study, 2);
    let weigh =
        |threads| study.weigh_positions(&recorded, threads, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let found = weigh(2);
    let pairs: Vec<(&str, &str)> = found.never_better.iter().map(|pair| (&*pair.card, &*pair.than)).collect();
    assert_eq!(pairs, [("poor", "fair"), ("fair", "sure"), ("poor", "sure")]);
    // A question with one open card is not examined; all others are.
    let open = 60 - recorded.figures().topics[0].asked.single;
    assert_eq!((found.questions, found.not_exact), (open, 0));
    assert!(found.never_better.iter().all(|pair| pair.positions == open && pair.equal == 0));
    assert!((found.never_better[1].closest[0].by - 0.3).abs() < 1e-12, "{found:?}");
    assert_eq!(found.topics[0].no_difference.count, 0);
    assert_eq!(format!("{found:?}"), format!("{:?}", weigh(1)));
}

#[test]
fn a_ladder_of_players_separates_skill_from_luck() {
    let rules = cards();
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(study(&rules, 1, 1).players(), ["random", "yes", "zany", "ahead"]);
    let mut better = 0;
    for seed in 1..=100 {
        let study = study(&rules, 60, seed);
        let recorded = recorded(&study, 2);
        let found = study.ladder(&recorded, &seats(), &[pair("yes", "random")], 2, &mut |_| true).unwrap();
        // With `random`, `left` wins half of the games; with `yes` 0.725.
        better += holds(&found[0].ahead_by, 0.225);
    }
    assert!((90..=100).contains(&better), "{better}");
    let study = study(&rules, 30, 1);
    let found = study.ladder(&recorded(&study, 2), &seats(), &[pair("ahead", "yes")], 2, &mut |_| true).unwrap();
    // Both take the best card: the dice alone decide, in any seats.
    assert_eq!((found[0].ahead_by.average, found[0].decided_by_dice.count, found[0].decided_by_dice.of), (0.0, 30, 30));
    let unknown = study.ladder(&recorded(&study, 2), &seats(), &[pair("ahead", "nobody")], 2, &mut |_| true);
    assert!(unknown.unwrap_err().to_string().contains("nobody"));
}

#[test]
fn a_search_among_the_players_is_the_same_for_any_number_of_threads() {
    let study = study(&cards(), 12, 1);
    let recorded = recorded(&study, 2);
    let pairs = [("zany".to_owned(), "search:30".to_owned())];
    let found = |threads| study.ladder(&recorded, &seats(), &pairs, threads, &mut |_| true).unwrap();
    let one = found(1);
    assert_eq!(format!("{one:?}"), format!("{:?}", found(3)));
    // It knows the best card, which `zany` never plays.
    assert!(one[0].ahead_by.pairs == 12 && one[0].ahead_by.average < 0.0, "{one:?}");
}

/// A game of four cards in which each card is the best one after one face of a die, and both sides and both places are alike:
/// sound, unless a fault is planted. In each turn a die chooses the seat that plays a card; its chance to win is in tenths.
#[derive(Clone, Debug)]
struct Planted {
    /// Added to the chance of each card.
    better: [i64; 4],
    /// Cards that are always closed, never chosen by the policy, and named by no question.
    closed: Vec<usize>,
    shunned: Vec<usize>,
    unnamed: Vec<usize>,
    /// Added to the chance of `left`, and of the side that is listed first.
    strength: i64,
    place: i64,
    /// All cards have the same chance.
    is_alike: bool,
    /// Of this number of games, one never ends; or has a question without an open answer.
    endless: Option<u32>,
    stuck: Option<u32>,
}

const SOUND: Planted = Planted {
    better: [0; 4],
    closed: Vec::new(),
    shunned: Vec::new(),
    unnamed: Vec::new(),
    strength: 0,
    place: 0,
    is_alike: false,
    endless: None,
    stuck: None,
};

const PLANTED_CARDS: [&str; 4] = ["club", "dart", "fork", "hook"];

impl Planted {
    fn rules(&self) -> Arc<Ruleset> {
        let among = |cards: &[usize]| -> String {
            cards.iter().map(|card| format!("{} = true, ", PLANTED_CARDS[*card])).collect()
        };
        let better: String =
            PLANTED_CARDS.iter().zip(self.better).map(|(card, better)| format!("{card} = {better}, ")).collect();
        let once = |of: Option<u32>| of.map_or("false".to_owned(), |of| format!("rb.at_most(\"1d{of}\", 1)"));
        let mut play = r#"local rb = require("@riskbreaker")
local BETTER, CLOSED, UNNAMED = { BETTER_ }, { CLOSED_ }, { UNNAMED_ }
return rb.play({
	start = function(scenario)
		for at, side in ipairs(scenario.sides) do
			rb.spawn("purse", { seat = side.seat, strength = side.strength, first = at == 1 })
		end
		rb.each("purse")[1]:set("endless", ENDLESS_)
		rb.each("purse")[1]:set("stuck", STUCK_)
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local purses = rb.each("purse")
			if purses[1].endless then
				return
			end
			local own, other = purses[1], purses[2]
			if rb.at_most("1d2", 1) then
				own, other = other, own
			end
			local face, options = rb.roll("1d4"), {}
			for at, id in ipairs({ "club", "dart", "fork", "hook" }) do
				if not UNNAMED[id] then
					local chance = BETTER[id] + (if ALIKE_ then 4 elseif at == face then 7 else 3)
					local open = not CLOSED[id] and not purses[1].stuck
					table.insert(options, { id = id, value = chance, enabled = open, reason = if open then nil else "closed" })
				end
			end
			local chance = rb.choose({ seat = own.seat, topic = "card", options = options })
			chance += own.strength - other.strength + (if own.first then PLACE_ else -PLACE_)
			local won = rb.at_most("1d10", chance)
			local winner = if won then own else other
			winner:set("coins", 1)
			rb.finish(winner.seat)
		end,
	},
	boundary = "turn",
VALUE})"#
            .replace("VALUE", VALUE);
        for (place, text) in [
            ("BETTER_", better),
            ("CLOSED_", among(&self.closed)),
            ("UNNAMED_", among(&self.unnamed)),
            ("ENDLESS_", once(self.endless)),
            ("STUCK_", once(self.stuck)),
            ("ALIKE_", self.is_alike.to_string()),
            ("PLACE_", format!("({})", self.place)),
        ] {
            play = play.replace(place, &text);
        }
        let policy = format!(
            r#"local rb = require("@riskbreaker")
local SHUNNED = {{ {} }}
return rb.policy({{
	id = "any",
	answer = function(q)
		local open = {{}}
		for _, option in ipairs(q.options) do
			if option.enabled and not SHUNNED[option.id] then
				table.insert(open, option.id)
			end
		end
		return open[rb.pick(q, #open)]
	end,
}})"#,
            among(&self.shunned)
        );
        let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int(), strength = rb.int(), first = rb.bool(), endless = rb.bool(), stuck = rb.bool() } } })"#;
        let scenario = format!(
            "title = \"Hall\"\n[[sides]]\nseat = \"left\"\nstrength = {}\n[[sides]]\nseat = \"right\"\nstrength = 0\n",
            self.strength
        );
        let manifest =
            "id = \"planted\"\ntitle = \"Planted\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n";
        let card = |id: &&str| {
            let text = format!(
                r#"local rb = require("@riskbreaker") return rb.maneuver({{ id = "{id}", title = "{id}", rules = {{ "P-1" }}, text = "Play it.", resolve = function() end }})"#
            );
            (format!("maneuvers/{id}.luau"), text)
        };
        let mut files: Vec<(String, String)> = vec![
            ("ruleset.toml".into(), manifest.into()),
            ("kinds.luau".into(), kinds.into()),
            ("play.luau".into(), play),
            ("policies/any.luau".into(), policy),
            ("scenarios/hall.toml".into(), scenario),
        ];
        files.extend(PLANTED_CARDS.iter().map(card));
        let files = files.into_iter().map(|(path, text)| (format!("planted/{path}"), text.into_bytes()));
        Ruleset::load(&Library::from_files(files), "planted").unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// The faults that a study of the game names.
    fn faults(&self) -> Vec<String> {
        let study = played_by(study(&self.rules(), 200, 1), ["any", "any"]);
        let games = recorded(&study, 2);
        let figures = games.figures();
        let mut found: Vec<String> = Vec::new();
        for (what, cards) in [
            ("never named", &figures.never_named),
            ("never open", &figures.never_offered),
            ("never chosen", &figures.never_chosen),
        ] {
            found.extend(cards.iter().map(|card| format!("{card} is {what}")));
        }
        if !figures.endless.is_empty() {
            found.push("some games have no end".into());
        }
        if !figures.stuck.is_empty() {
            found.push("some games are stuck".into());
        }
        let weighed = study.weigh_positions(&games, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        let dominated = weighed.never_better.iter().filter(|pair| pair.equal < pair.positions);
        found.extend(dominated.map(|pair| format!("{} is never better than {}", pair.card, pair.than)));
        if weighed.topics.iter().all(|topic| topic.no_difference.of > 0 && topic.no_difference.share == 1.0) {
            found.push("the choice makes no difference".into());
        }
        for (exchange, of) in [(Exchange::Order, "first place"), (Exchange::Sides, "left side")] {
            let edge = mirrored(&study, exchange).exchanged;
            if edge.average.abs() > edge.margin {
                found.push(format!("the {of} is {}", if edge.average > 0.0 { "stronger" } else { "weaker" }));
            }
        }
        let worth = study.worth_of_cards(&games, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        for card in worth.iter().filter(|card| card.worth.average > card.worth.margin) {
            found.push(format!("{} is strong", card.card));
        }
        found
    }
}

/// Games with one planted fault each, and its name.
fn planted() -> Vec<(Planted, String)> {
    let mut all: Vec<(Planted, String)> = Vec::new();
    for (at, card) in PLANTED_CARDS.iter().enumerate() {
        all.push((Planted { closed: vec![at], ..SOUND }, format!("{card} is never open")));
        all.push((Planted { shunned: vec![at], ..SOUND }, format!("{card} is never chosen")));
        all.push((Planted { unnamed: vec![at], ..SOUND }, format!("{card} is never named")));
        for (step, other) in PLANTED_CARDS.iter().enumerate().filter(|(other, _)| *other != at) {
            // The worse card is below the other one after each face of the die.
            let mut better = [0; 4];
            (better[at], better[step]) = (-3, 2);
            all.push((Planted { better, ..SOUND }, format!("{card} is never better than {other}")));
        }
        let mut better = [0; 4];
        better[at] = 3;
        all.push((Planted { better, ..SOUND }, format!("{card} is strong")));
    }
    for strength in [-3, -2, 2, 3] {
        let how = if strength > 0 { "stronger" } else { "weaker" };
        all.push((Planted { strength, ..SOUND }, format!("the left side is {how}")));
    }
    for place in [-3, -2, 2, 3] {
        let how = if place > 0 { "stronger" } else { "weaker" };
        all.push((Planted { place, ..SOUND }, format!("the first place is {how}")));
    }
    all.push((Planted { is_alike: true, ..SOUND }, "the choice makes no difference".into()));
    for of in [10, 30] {
        all.push((Planted { endless: Some(of), ..SOUND }, "some games have no end".into()));
        all.push((Planted { stuck: Some(of), ..SOUND }, "some games are stuck".into()));
    }
    all
}

#[test]
fn planted_faults_of_balance_are_found_by_name_and_a_sound_game_has_none() {
    assert_eq!(SOUND.faults(), [""; 0]);
    let planted = planted();
    assert!(planted.len() >= 40, "{}", planted.len());
    for (game, fault) in planted {
        let found = game.faults();
        assert!(found.contains(&fault), "{fault}: {found:?}");
    }
}

/// Two questions without effect, then a die: one face for each seat, two faces for nobody.
const DRAWISH: &str = r#"rb.confirm({ seat = "left", topic = "bow", why = "Bow?" })
			rb.confirm({ seat = "right", topic = "bow", why = "Bow?" })
			local face = rb.roll("1d4")
			if face < 3 then
				purses[face]:add("coins", 1)
			end
			rb.finish("over")"#;

#[test]
fn dice_alone_decide_every_pair_of_a_game_of_dice_with_draws_and_its_last_action_decides_each_game() {
    let study = study(&rules(DRAWISH), 60, 1);
    let recorded = recorded(&study, 2);
    let pairs = [("yes".to_owned(), "random".to_owned())];
    let found = study.ladder(&recorded, &seats(), &pairs, 2, &mut |_| true).unwrap();
    let dice = &found[0].decided_by_dice;
    assert_eq!((dice.count, dice.of, found[0].ahead_by.average), (60, 60, 0.0));
    let figures = recorded.figures();
    assert!((20..40).contains(&figures.drawn), "{}", figures.drawn);
    assert_eq!(figures.decided_at.map(|found| found.value), Some(1.0));
    assert_eq!(figures.comebacks.map(|rate| rate.of), Some(60 - figures.drawn));
}

/// By a die: loops without a roll, asks a question without an open option, raises an error, or ends.
const SWAMP: &str = r#"if purses[1].coins == 0 then
				purses[1]:set("coins", rb.roll("1d4"))
			end
			local face = purses[1].coins
			if face == 1 then
				return
			elseif face == 2 then
				local shut = { id = "on", value = "on", enabled = false, reason = "too deep" }
				rb.choose({ seat = "left", topic = "step", options = { shut } })
			elseif face == 3 then
				error("the ground gives way")
			end
			rb.finish("over")"#;

#[test]
fn games_that_loop_or_have_no_open_answer_are_endless_and_stuck_and_have_their_reason() {
    let study = Study { actions: 20_000, ..study(&rules(SWAMP), 16, 3) };
    let figures = recorded(&study, 2).figures();
    let kinds = [&figures.endless, &figures.stuck, &figures.failed];
    assert!(kinds.iter().all(|trials| !trials.is_empty()) && !figures.results.is_empty(), "{figures:?}");
    assert_eq!(figures.unended.len(), kinds.iter().map(|trials| trials.len()).sum::<usize>());
    for game in &figures.unended {
        let reason = match game.how {
            "endless" => "ran without a roll",
            "stuck" => "`step` has no option that is open (on: too deep)",
            how => {
                assert_eq!(how, "failed");
                "the ground gives way"
            }
        };
        assert!(game.why.contains(reason), "{game:?}");
        // The same game alone ends in the same way. Its log has all actions but the one that failed.
        let watched = study.watch(game.trial, None, &Arc::default()).unwrap();
        assert_eq!(watched.facts.end.why_unended(), Some(&*game.why));
        let rolled = watched.events.iter().any(|event| event.happening.line().contains("rolled"));
        assert_eq!(rolled, game.how == "endless", "{game:?}");
    }
}

#[test]
fn a_trial_stops_at_a_decision_and_shows_the_value_of_each_answer() {
    let study = study(&cards(), 20, 1);
    let games = recorded(&study, 2).games;
    let game = games.iter().find(|game| game.card_choices == 1).expect("several cards are open in some game");
    let watched = study.watch(game.trial, Some(1), &Arc::default()).unwrap();
    assert!(watched.is_at_decision && watched.session.questions().len() == 1);
    let found: Vec<String> = watched
        .answers
        .iter()
        .map(|(answer, value)| format!("{} {}", answer.in_ids(), value.as_ref().expect("it is exact")))
        .collect();
    assert_eq!(found, ["fair 1/2", "poor 1/5", "sure 4/5"]);
    // Played to its end, it is the recorded game; it has no second decision.
    let watched = study.watch(game.trial, Some(2), &Arc::default()).unwrap();
    assert!(!watched.is_at_decision && watched.answers.is_empty());
    assert_eq!(watched.facts, *game);
}

#[test]
fn an_absurd_number_of_trials_is_refused_and_the_last_trial_number_can_be_played() {
    let coin = rules(TOSS);
    let refused = study(&coin, 1_000_000_000_000_000_000, 1).record(1, &mut |_| true).unwrap_err();
    assert!(refused.to_string().contains("1000000 are the most"), "{refused}");
    let last = Study { first: u64::MAX, trials: 1, ..study(&coin, 1, 1) };
    assert_eq!(recorded(&last, 1).games[0].trial, u64::MAX);
}

/// A game of three seats: `left` has the first of ten faces of a die, four of them, the others have three each. Only the seat
/// with the best policy gets one more face, from the next seat.
fn three() -> Arc<Ruleset> {
    let play = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		for _, seat in ipairs({ "left", "mid", "right" }) do
			rb.spawn("purse", { seat = seat })
		end
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local shares = { 4, 3, 3 }
			for at, purse in ipairs(rb.each("purse")) do
				if rb.confirm({ seat = purse.seat, topic = "reach", why = "Reach?" }) then
					local other = at % 3 + 1
					shares[at] += 1
					shares[other] -= 1
				end
			end
			local face = rb.roll("1d10")
			for at, purse in ipairs(rb.each("purse")) do
				face -= shares[at]
				if face <= 0 then
					purse:add("coins", 1)
					rb.finish(purse.seat)
					return
				end
			end
		end,
	},
	boundary = "turn",
VALUE})"#
        .replace("VALUE", VALUE);
    let answer = |id: &str, yes: bool| {
        format!(
            r#"local rb = require("@riskbreaker") return rb.policy({{ id = "{id}", answer = function() return {yes} end }})"#
        )
    };
    let (no, yes) = (answer("no", false), answer("yes", true));
    let manifest = "id = \"three\"\ntitle = \"Three\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nmid = \"two\"\nright = \"three\"\n";
    let files = [
        ("ruleset.toml", manifest),
        ("kinds.luau", KINDS),
        ("play.luau", &play),
        ("policies/no.luau", &no),
        ("policies/yes.luau", &yes),
        ("scenarios/hall.toml", "title = \"Hall\"\n"),
    ];
    let files = files.iter().map(|(path, text)| (format!("three/{path}"), text.as_bytes().to_vec()));
    Ruleset::load(&Library::from_files(files), "three").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn with_three_seats_all_of_them_are_compared() {
    let rules = three();
    let pair = [("yes".to_owned(), "no".to_owned())];
    let (mut better, mut advantage) = (0, [0; 3]);
    for seed in 1..=60 {
        let study = study(&rules, 90, seed);
        let recorded = recorded(&study, 2);
        let seats = study.compared_seats(&recorded);
        assert_eq!(seats.iter().map(|seat| &**seat).collect::<Vec<_>>(), ["left", "mid", "right"]);
        // Nobody reaches: 4, 3 and 3 of 10 games.
        for (at, truth) in [0.1, -0.05, -0.05].into_iter().enumerate() {
            advantage[at] += holds(&recorded.biases(&seats)[at].ahead, truth);
        }
        assert_eq!(recorded.first_bias(&seats).unwrap().always.as_deref(), Some("left"));
        // Who reaches alone has one face more, who alone does not has one less; all seats are the single one in turn.
        let found = study.ladder(&recorded, &seats, &pair, 2, &mut |_| true).unwrap();
        better += holds(&found[0].ahead_by, 0.2);
    }
    assert!(advantage.iter().all(|holds| *holds >= 52) && better >= 52, "{advantage:?} {better}");
}
