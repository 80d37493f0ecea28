//! Counts how often the intervals of a study contain the true figures of a small game, which are computed without the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::lab::{Average, Difference, Exchange, GameLimits, Percentile, Rate, Study, Variant, game_odds};
use riskbreaker::{Driver, Library, Ruleset, Setup};

use super::{recorded, seats};

const KINDS: &str = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int(), strength = rb.int(), turn = rb.int() } } })"#;

/// Two purses race for three coins. In the first of four turns a die may give a coin to one of them. In each later turn a die
/// chooses the purse that plays a card: `push` for a coin, or `leap` for two, which one face of a die closes and another makes as
/// good as `push` on average. The purse that is listed first has more turns, and that of `left` has more strength.
const PLAY: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function(scenario)
		for _, side in ipairs(scenario.sides) do
			rb.spawn("purse", { seat = side.seat, strength = side.strength })
		end
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local purses = rb.each("purse")
			local clock, own, other = purses[1], purses[1], purses[2]
			clock:add("turn", 1)
			if not rb.at_most("1d5", 3) then
				own, other = other, own
			end
			if clock.turn == 1 then
				if rb.at_most("1d20", 8) then
					own:add("coins", 1)
				end
				return
			end
			local face, more = rb.roll("1d4"), own.strength - other.strength
			local chances = { leap = (if face == 2 then 6 else 9) + more, push = 12 + 2 * more }
			local card = rb.choose({
				seat = own.seat,
				topic = "card",
				options = {
					{ id = "push", value = "push", enabled = true },
					{ id = "leap", value = "leap", enabled = face > 1, reason = if face > 1 then nil else "closed" },
				},
			})
			if rb.at_most("1d20", chances[card]) then
				own:add("coins", if card == "leap" then 2 else 1)
			end
			if own.coins > 2 or clock.turn == 4 then
				rb.finish(if own.coins == other.coins then "nobody" elseif own.coins > other.coins then own.seat else other.seat)
			end
		end,
	},
	boundary = "turn",
	value = function(seat)
		return rb.first("purse", { seat = seat }).coins
	end,
})"#;

fn race() -> Arc<Ruleset> {
    let card = |id: &str| {
        let text = format!(
            r#"local rb = require("@riskbreaker") return rb.maneuver({{ id = "{id}", title = "{id}", rules = {{ "R-1" }}, text = "Play it.", resolve = function() end }})"#
        );
        (format!("maneuvers/{id}.luau"), text)
    };
    let policy = |id: &str, cards: &str| {
        let text = format!(
            r#"local rb = require("@riskbreaker")
return rb.policy({{
	id = "{id}",
	answer = function(q)
		for _, id in ipairs({{ {cards} }}) do
			for _, option in ipairs(q.options) do
				if option.id == id and option.enabled then
					return id
				end
			end
		end
		return nil
	end,
}})"#
        );
        (format!("policies/{id}.luau"), text)
    };
    let manifest = "id = \"race\"\ntitle = \"Race\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n";
    let scenario =
        "title = \"Hall\"\n[[sides]]\nseat = \"left\"\nstrength = 1\n[[sides]]\nseat = \"right\"\nstrength = 0\n";
    let files: [(String, String); 8] = [
        ("ruleset.toml".into(), manifest.into()),
        ("kinds.luau".into(), KINDS.into()),
        ("play.luau".into(), PLAY.into()),
        ("scenarios/hall.toml".into(), scenario.into()),
        card("leap"),
        card("push"),
        policy("bold", "\"leap\", \"push\""),
        policy("meek", "\"push\""),
    ];
    let files = files.map(|(path, text)| (format!("race/{path}"), text.into_bytes()));
    Ruleset::load(&Library::from_files(files), "race").unwrap_or_else(|error| panic!("{error}"))
}

/// How a purse chooses its card.
#[derive(Clone, Copy, PartialEq)]
enum Player {
    /// `leap` whenever it is open.
    Bold,
    /// Always `push`.
    Meek,
    /// Any open card with equal chance.
    Random,
}

const CARDS: [&str; 2] = ["push", "leap"];

/// What a course of the game has had of the questions to one seat; by card where there are two numbers.
#[derive(Clone, Copy, Default)]
struct Asked {
    asked: f64,
    open: f64,
    single: f64,
    /// The questions with two open cards, and those of them whose cards are equally good.
    weighed: f64,
    equal: f64,
    offered: [f64; 2],
    used: [f64; 2],
}

/// A course of the game, with its chance.
#[derive(Clone)]
struct Course {
    chance: f64,
    /// The coins of `left` and `right` at the start and after each turn.
    coins: Vec<[i64; 2]>,
    asked: [Asked; 2],
    begins: Option<usize>,
}

impl Course {
    fn winner(&self) -> Option<usize> {
        leader(self.coins[self.coins.len() - 1])
    }

    /// The score of `left` minus that of `right`.
    fn ahead(&self) -> f64 {
        self.winner().map_or(0.0, |winner| if winner == 0 { 1.0 } else { -1.0 })
    }

    fn turns(&self) -> f64 {
        (self.coins.len() - 1) as f64
    }

    fn decisions(&self) -> f64 {
        self.asked[0].asked + self.asked[1].asked
    }

    fn lowest_lead(&self, winner: usize) -> i64 {
        self.coins.iter().map(|coins| coins[winner] - coins[1 - winner]).min().unwrap_or_default()
    }

    fn lead_changes(&self) -> f64 {
        let leaders: Vec<usize> = self.coins.iter().filter_map(|coins| leader(*coins)).collect();
        leaders.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64
    }

    /// The share of the turns after which the winner has led in all states.
    fn decided_at(&self, winner: usize) -> f64 {
        let led = self.coins.iter().rev().take_while(|coins| leader(**coins) == Some(winner)).count();
        (self.coins.len() - led) as f64 / self.turns()
    }
}

fn leader([left, right]: [i64; 2]) -> Option<usize> {
    if left == right { None } else { Some(usize::from(right > left)) }
}

/// The game with known players. By default `left` is listed first and has the strength.
#[derive(Clone, Copy)]
struct Race {
    players: [Player; 2],
    /// The place of the seat that is listed first.
    first: usize,
    strength: [i64; 2],
}

impl Race {
    fn of(left: Player, right: Player) -> Race {
        Race { players: [left, right], first: 0, strength: [1, 0] }
    }

    /// The seat that plays and the chance of it.
    fn seats(self) -> [(usize, f64); 2] {
        [(self.first, 0.6), (1 - self.first, 0.4)]
    }

    /// The faces of twenty with which a card succeeds, after a face of the second die.
    fn faces(self, seat: usize, card: usize, face: usize) -> i64 {
        let more = self.strength[seat] - self.strength[1 - seat];
        match (card, face) {
            (0, _) => 12 + 2 * more,
            (_, 2) => 6 + more,
            _ => 9 + more,
        }
    }

    /// The cards that a seat plays after a face of the second die, each with its chance.
    fn cards(self, seat: usize, face: usize) -> Vec<(usize, f64)> {
        match self.players[seat] {
            _ if face == 1 => vec![(0, 1.0)],
            Player::Bold => vec![(1, 1.0)],
            Player::Meek => vec![(0, 1.0)],
            Player::Random => vec![(0, 0.5), (1, 0.5)],
        }
    }

    /// All courses of the game.
    fn courses(self) -> Vec<Course> {
        let mut ended = Vec::new();
        let mut open = vec![Course { chance: 1.0, coins: vec![[0, 0]], asked: Default::default(), begins: None }];
        while let Some(course) = open.pop() {
            let coins = course.coins[course.coins.len() - 1];
            let next = |chance: f64, seat: usize, won: i64| {
                let mut next = course.clone();
                let mut coins = coins;
                coins[seat] += won;
                next.chance *= chance;
                next.coins.push(coins);
                next
            };
            for (seat, of_seat) in self.seats() {
                if course.coins.len() == 1 {
                    open.extend([next(of_seat * 0.4, seat, 1), next(of_seat * 0.6, seat, 0)]);
                    continue;
                }
                for face in 1..=4 {
                    for (card, of_card) in self.cards(seat, face) {
                        let hits = self.faces(seat, card, face) as f64 / 20.0;
                        for (hit, won) in [(hits, card as i64 + 1), (1.0 - hits, 0)] {
                            let mut next = next(of_seat * 0.25 * of_card * hit, seat, won);
                            let asked = &mut next.asked[seat];
                            asked.asked += 1.0;
                            asked.open += if face > 1 { 2.0 } else { 1.0 };
                            asked.single += f64::from(u8::from(face == 1));
                            asked.weighed += f64::from(u8::from(face > 1));
                            asked.equal += f64::from(u8::from(face == 2));
                            asked.offered[0] += 1.0;
                            asked.offered[1] += f64::from(u8::from(face > 1));
                            asked.used[card] += 1.0;
                            next.begins = next.begins.or(Some(seat));
                            let is_over = next.coins.len() == 5 || next.coins[next.coins.len() - 1][seat] > 2;
                            if is_over { &mut ended } else { &mut open }.push(next);
                        }
                    }
                }
            }
        }
        ended
    }

    /// By how much `left` wins more games than `right`.
    fn ahead(self) -> f64 {
        self.courses().iter().map(|course| course.chance * course.ahead()).sum()
    }

    /// The chance that two games on the same dice have the same winner, or none. Nobody plays at random.
    fn same_result(self, other: Race, coins: [[i64; 2]; 2], turn: usize) -> f64 {
        let is_over = |coins: [i64; 2]| turn == 5 || coins.iter().any(|coins| *coins > 2);
        if coins.iter().all(|coins| is_over(*coins)) {
            return f64::from(u8::from(leader(coins[0]) == leader(coins[1])));
        }
        let mut same = 0.0;
        for (place, of_place) in [(0, 0.6), (1, 0.4)] {
            for face in 1..=4 {
                let mut results: BTreeMap<[[i64; 2]; 2], u32> = BTreeMap::new();
                for die in 1..=20 {
                    let mut coins = coins;
                    for (race, coins) in [self, other].into_iter().zip(&mut coins) {
                        let seat = if place == 0 { race.first } else { 1 - race.first };
                        let (card, _) = race.cards(seat, face)[0];
                        let needs = if turn == 1 { 8 } else { race.faces(seat, card, face) };
                        if !is_over(*coins) && die <= needs {
                            coins[seat] += if turn == 1 { 1 } else { card as i64 + 1 };
                        }
                    }
                    *results.entry(coins).or_default() += 1;
                }
                for (coins, faces) in results {
                    same += of_place * 0.25 * f64::from(faces) / 20.0 * self.same_result(other, coins, turn + 1);
                }
            }
        }
        same
    }
}

/// The share of weighted games that a number has: the average of `number` over the courses that have `weight`.
fn average(courses: &[Course], weight: impl Fn(&Course) -> f64, number: impl Fn(&Course) -> f64) -> f64 {
    let weights: f64 = courses.iter().map(|course| course.chance * weight(course)).sum();
    courses.iter().map(|course| course.chance * number(course)).sum::<f64>() / weights
}

fn indicator(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// The smallest number that this share of the games does not exceed.
fn percentile(courses: &[Course], share: f64, number: fn(&Course) -> f64) -> f64 {
    let up_to = |most: f64| average(courses, |_| 1.0, |course| indicator(number(course) <= most));
    (0..=4).map(f64::from).find(|most| up_to(*most) >= share - 1e-9).expect("some number is the largest")
}

const BOTH_BOLD: [Player; 2] = [Player::Bold, Player::Bold];

/// The true figures, by name.
fn truths() -> BTreeMap<String, f64> {
    let race = Race::of(BOTH_BOLD[0], BOTH_BOLD[1]);
    let courses = race.courses();
    let all = |_: &Course| 1.0;
    let won = |course: &Course| indicator(course.winner().is_some());
    let of_winner = |number: fn(&Course, usize) -> f64| {
        move |course: &Course| course.winner().map_or(0.0, |winner| number(course, winner))
    };
    let mut truths = BTreeMap::new();
    let mut put = |name: &str, truth: f64| assert!(truths.insert(name.to_owned(), truth).is_none(), "{name} twice");
    for (result, winner) in [("left", Some(0)), ("right", Some(1)), ("nobody", None)] {
        put(&format!("result {result}"), average(&courses, all, |course| indicator(course.winner() == winner)));
    }
    for (name, number) in
        [("rounds", Course::turns as fn(&Course) -> f64), ("decisions", Course::decisions as fn(&Course) -> f64)]
    {
        for (tenths, share) in [("p10", 0.1), ("p50", 0.5), ("p90", 0.9)] {
            put(&format!("{name} {tenths}"), percentile(&courses, share, number));
        }
    }
    for (at, seat) in ["left", "right"].into_iter().enumerate() {
        put(
            &format!("{seat} open"),
            average(&courses, |course| course.asked[at].asked, |course| course.asked[at].open),
        );
        put(
            &format!("{seat} single"),
            average(&courses, |course| course.asked[at].asked, |course| course.asked[at].single),
        );
        put(
            &format!("{seat} no difference"),
            average(&courses, |course| course.asked[at].weighed, |course| course.asked[at].equal),
        );
        for (card, id) in CARDS.into_iter().enumerate() {
            let used = |course: &Course| indicator(course.asked[at].used[card] > 0.0);
            let chosen =
                average(&courses, |course| course.asked[at].offered[card], |course| course.asked[at].used[card]);
            put(&format!("{seat} {id} chosen"), chosen);
            let used_and = |winner: Option<usize>| {
                average(&courses, used, |course| used(course) * indicator(course.winner() == winner))
            };
            put(&format!("{seat} {id} won"), used_and(Some(at)));
            put(&format!("{seat} {id} drawn"), used_and(None));
        }
        let sign = if at == 0 { 1.0 } else { -1.0 };
        put(&format!("{seat} bias"), sign * race.ahead());
        // Without `leap`, a bold player plays as a meek one. `push` is used where nothing else is open.
        let mut players = BOTH_BOLD;
        players[at] = Player::Meek;
        let without = Race { players, ..race };
        put(&format!("{seat} worth of leap"), sign * (race.ahead() - without.ahead()) / 2.0);
        put(&format!("{seat} worth of push"), 0.0);
    }
    let begins = |course: &Course| {
        course.begins.map_or(0.0, |begins| if begins == 0 { course.ahead() } else { -course.ahead() })
    };
    put("first bias", average(&courses, all, begins));
    put("comebacks", average(&courses, won, of_winner(|course, winner| indicator(course.lowest_lead(winner) < 0))));
    put("lowest lead", average(&courses, won, of_winner(|course, winner| course.lowest_lead(winner) as f64)));
    put("lead changes", average(&courses, won, of_winner(|course, _| course.lead_changes())));
    put("decided at", average(&courses, won, of_winner(Course::decided_at)));
    let mixed = Race::of(Player::Bold, Player::Meek);
    let exchanges = [
        ("order", race, Race { first: 1, ..race }),
        ("sides", race, Race { first: 1, strength: [0, 1], ..race }),
        ("policies", mixed, Race { players: [Player::Meek, Player::Bold], ..mixed }),
    ];
    for (name, written, mirrored) in exchanges {
        put(&format!("{name} seat"), f64::midpoint(written.ahead(), mirrored.ahead()));
        put(&format!("{name} exchanged"), (written.ahead() - mirrored.ahead()) / 2.0);
    }
    for (name, one, other) in LADDER {
        let [first, second] = [Race::of(one, other), Race::of(other, one)];
        put(&format!("{name} ahead"), (first.ahead() - second.ahead()) / 2.0);
        if one != Player::Random {
            put(&format!("{name} dice"), first.same_result(second, [[0, 0]; 2], 1));
        }
    }
    truths
}

/// The compared players, by name.
const LADDER: [(&str, Player, Player); 3] = [
    ("random bold", Player::Random, Player::Bold),
    ("random meek", Player::Random, Player::Meek),
    ("bold meek", Player::Bold, Player::Meek),
];

/// The intervals of the figures of a study, by name.
#[derive(Default)]
struct Intervals(BTreeMap<String, (f64, f64)>);

impl Intervals {
    fn put(&mut self, name: &str, low: f64, high: f64) {
        assert!(self.0.insert(name.to_owned(), (low, high)).is_none(), "{name} twice");
    }

    fn rate(&mut self, name: &str, found: &Rate) {
        self.put(name, found.low, found.high);
    }

    fn average(&mut self, name: &str, found: &Average) {
        self.put(name, found.low, found.high);
    }

    fn difference(&mut self, name: &str, found: &Difference) {
        self.put(name, found.low(), found.high());
    }

    fn percentile(&mut self, name: &str, found: &Percentile) {
        let end = |end: Option<u64>, open: f64| end.map_or(open, |end| end as f64);
        self.put(name, end(found.low, f64::NEG_INFINITY), end(found.high, f64::INFINITY));
    }

    fn of(study: &Study) -> Intervals {
        let mut all = Intervals::default();
        let games = recorded(study, 2);
        let figures = games.figures();
        assert!(figures.unended.is_empty() && figures.missing.is_empty(), "{figures:?}");
        for result in ["left", "right", "nobody"] {
            let none = || Rate::of(0, figures.games);
            all.rate(&format!("result {result}"), &figures.results.get(result).copied().unwrap_or_else(none));
        }
        for (name, spread) in [("rounds", figures.rounds), ("decisions", figures.decisions)] {
            let spread = spread.expect("games ended");
            for (tenths, found) in [("p10", spread.p10), ("p50", spread.p50), ("p90", spread.p90)] {
                all.percentile(&format!("{name} {tenths}"), &found);
            }
        }
        for topic in &figures.topics {
            all.average(&format!("{} open", topic.seat), &topic.open);
            all.rate(&format!("{} single", topic.seat), &topic.single);
        }
        for card in &figures.cards {
            let name = |what: &str| format!("{} {} {what}", card.seat, card.card);
            all.rate(&name("chosen"), &card.chosen_when_offered);
            all.rate(&name("won"), &card.won_when_used.expect("there is a value"));
            all.rate(&name("drawn"), &card.drawn_when_used.expect("there is a value"));
        }
        all.rate("comebacks", figures.comebacks.as_ref().expect("somebody won"));
        all.difference("lowest lead", figures.lowest_lead.as_ref().expect("somebody won"));
        all.average("lead changes", figures.lead_changes.as_ref().expect("somebody won"));
        all.average("decided at", figures.decided_at.as_ref().expect("somebody won"));
        for bias in games.biases(&seats()) {
            all.difference(&format!("{} bias", bias.seat), &bias.ahead);
        }
        all.difference("first bias", &games.first_bias(&seats()).expect("somebody is asked").ahead);
        let weighed = study.weigh_positions(&games, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        for topic in &weighed.topics {
            all.rate(&format!("{} no difference", topic.seat), &topic.no_difference);
        }
        for worth in study.worth_of_cards(&games, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}")) {
            all.difference(&format!("{} worth of {}", worth.seat, worth.card), &worth.worth);
        }
        for exchange in [Exchange::Order, Exchange::Sides] {
            all.exchange(study, exchange);
        }
        let mut mixed = study.clone();
        mixed.variant.setup.seats.insert("right".into(), Driver::Policy("meek".into()));
        all.exchange(&mixed, Exchange::Policies);
        let pairs = LADDER.map(|(name, ..)| name.split_once(' ').expect("two names"));
        let pairs = pairs.map(|(one, other)| (one.to_owned(), other.to_owned()));
        for pair in study.ladder(&games, &seats(), &pairs, 2, &mut |_| true).unwrap_or_else(|error| panic!("{error}")) {
            let name = format!("{} {}", pair.player, pair.against);
            all.difference(&format!("{name} ahead"), &pair.ahead_by);
            if pair.player != "random" {
                all.rate(&format!("{name} dice"), &pair.decided_by_dice);
            }
        }
        all
    }

    fn exchange(&mut self, study: &Study, exchange: Exchange) {
        let found = super::mirrored(study, exchange);
        self.difference(&format!("{exchange} seat"), &found.seat);
        self.difference(&format!("{exchange} exchanged"), &found.exchanged);
    }
}

/// The true chances of the results are those of `odds --game`, so the courses above are those of the rules.
fn check_against_odds(rules: &Arc<Ruleset>) {
    for (policies, race) in [
        (["bold", "bold"], Race::of(Player::Bold, Player::Bold)),
        (["meek", "bold"], Race::of(Player::Meek, Player::Bold)),
        (["meek", "meek"], Race::of(Player::Meek, Player::Meek)),
    ] {
        let setup = seats()
            .into_iter()
            .zip(policies)
            .fold(Setup::scenario("hall"), |setup, (seat, policy)| setup.seat(&seat, Driver::Policy(policy.into())));
        let odds = game_odds(rules, setup, GameLimits::default(), None).unwrap_or_else(|why| panic!("{why}"));
        let courses = race.courses();
        for (result, winner) in [("left", Some(0)), ("right", Some(1)), ("nobody", None)] {
            let truth = average(&courses, |_| 1.0, |course| indicator(course.winner() == winner));
            let exact = odds.results.iter().find(|(name, _)| name == result).map(|(_, chance)| chance);
            let exact = exact.map_or(0.0, riskbreaker::dice::float);
            assert!((truth - exact).abs() < 1e-9, "{policies:?} {result}: {truth} {exact}");
        }
    }
}

/// `STUDIES=400 cargo test --release --test study intervals -- --nocapture` prints how often each interval holds.
#[test]
fn the_intervals_of_all_figures_contain_the_true_ones_in_about_95_of_100_studies() {
    let rules = race();
    check_against_odds(&rules);
    let given = std::env::var("STUDIES").ok().map(|count| count.parse::<u64>().expect("a number of studies"));
    let (truths, studies) = (truths(), given.unwrap_or(12));
    let setup = seats()
        .into_iter()
        .fold(Setup::scenario("hall"), |setup, seat| setup.seat(&seat, Driver::Policy("bold".into())));
    let mut holds: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 1..=studies {
        let variant = Variant::new("race", &rules, setup.clone()).expect("it starts");
        let found = Intervals::of(&Study { variant, ..super::study(&rules, 60, seed) }).0;
        assert!(found.keys().eq(truths.keys()), "{:?} {:?}", found.keys(), truths.keys());
        for (name, truth) in &truths {
            let (low, high) = found[name];
            *holds.entry(name).or_default() += u64::from(low - 1e-9 <= *truth && *truth <= high + 1e-9);
        }
    }
    for (name, holds) in &holds {
        println!("{holds:>5} of {studies}: {name}, truly {:.4}", truths[*name]);
    }
    // Four standard errors below 95 of 100, so that none of these figures fails by chance.
    let least = 0.95 * studies as f64 - 4.0 * (0.95 * 0.05 * studies as f64).sqrt();
    let failing: Vec<_> = holds.iter().filter(|(_, holds)| (**holds as f64) < least).collect();
    assert!(failing.is_empty(), "of {studies}: {failing:?}");
    // The figures of one study resemble each other, so the share of all intervals has a standard error of at most 5 of 100 in one.
    let (all, of) = (holds.values().sum::<u64>() as f64, (studies * holds.len() as u64) as f64);
    assert!(all / of >= 0.95 - 3.0 * 0.05 / (studies as f64).sqrt(), "{all} of {of}: {holds:?}");
}
