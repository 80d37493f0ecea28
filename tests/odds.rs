//! Exact odds of difficult cards, compared with numbers counted without scripts: every card of the ruleset `gambles` is
//! implemented here a second time, as a plain program over all its rolls.

#[path = "odds/enumeration.rs"]
mod enumeration;
#[path = "odds/generated.rs"]
mod generated;
#[path = "odds/odd_cards.rs"]
mod odd_cards;
#[path = "odds/odd_loops.rs"]
mod odd_loops;
mod programs;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use dashu_int::IBig;
use riskbreaker::dice::{self, Dice, Fraction, ratio, ratio as of};
use riskbreaker::lab::{Effect, Limits, Odds, OddsQuery, Outcome, Position, SessionExt as _};
use riskbreaker::play::{Answering, Given, Source};
use riskbreaker::{Driver, Library, Refusal, Ruleset, Scenario, Session, Setup, Value, Viewer};

/// Plays programs as cards and compares their results exactly with counted chances.
fn play_programs(counted: &[(&str, &str, enumeration::Chances)]) {
    let cards: Vec<programs::Program> = counted
        .iter()
        .map(|(name, body, _)| programs::Program { name: (*name).into(), body: (*body).into() })
        .collect();
    let rules = programs::ruleset(&cards);
    let mut wrong = Vec::new();
    for (name, body, chances) in counted {
        let position = Position { card: (*name).into(), ..Position::default() };
        let odds = match position.odds(&rules) {
            Ok((odds, _)) => odds,
            Err(refusal) => {
                wrong.push(format!("{name} is refused: {refusal}\n{body}"));
                continue;
            }
        };
        let said = |outcome: &Outcome| match outcome.effects.as_slice() {
            [Effect::Said { text }] => text.clone(),
            _ => outcome.line(),
        };
        let found: enumeration::Chances =
            odds.outcomes.iter().map(|(outcome, chance)| (said(outcome), chance.clone())).collect();
        if !odds.is_exact() || found != *chances {
            let why = odds.estimate.as_ref().map(|estimate| &estimate.why);
            wrong.push(format!("{name} ({why:?}): found {found:?}, counted {chances:?}\n{body}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), counted.len(), wrong.join("\n\n"));
}

/// After every 500 paths the remaining chance is checked: the last path before that counts as well.
#[test]
fn the_odds_count_every_explored_path() {
    let sides = [499, 500, 1_000];
    let card =
        |sides: &u64| programs::Program { name: format!("rolls_{sides}"), body: format!("return roll({sides})") };
    let rules = programs::ruleset(&sides.iter().map(card).collect::<Vec<_>>());
    for sides in sides {
        let position = Position { card: format!("rolls_{sides}"), ..Position::default() };
        assert_eq!(position.odds(&rules).unwrap().0.ways, sides);
    }
}

fn gambles() -> Arc<Ruleset> {
    static RULES: OnceLock<Arc<Ruleset>> = OnceLock::new();
    let load = || {
        let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
        Ruleset::load(&library, "gambles").unwrap_or_else(|error| panic!("{error}"))
    };
    RULES.get_or_init(load).clone()
}

/// A ruleset with one scenario and one card.
fn small(seats: &str, kinds: &str, play: &str, (card, text): (&str, &str)) -> Arc<Ruleset> {
    let manifest =
        format!("id = \"small\"\ntitle = \"Small\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\n{seats}\n");
    let card = format!("small/maneuvers/{card}.luau");
    let library = Library::from_files([
        ("small/ruleset.toml", manifest.as_str()),
        ("small/scenarios/s.toml", "title = \"S\"\n"),
        ("small/kinds.luau", kinds),
        ("small/play.luau", play),
        (card.as_str(), text),
    ]);
    Ruleset::load(&library, "small").unwrap_or_else(|error| panic!("{error}"))
}

fn asked(card: &str, answering: Answering, given: &[(&str, Value)]) -> Result<Odds, Refusal> {
    asked_within(card, 200_000, answering, given)
}

fn asked_within(card: &str, ways: u64, answering: Answering, given: &[(&str, Value)]) -> Result<Odds, Refusal> {
    let one = |(topic, value): &(&str, Value)| Given {
        topic: topic.to_string(),
        seat: None,
        about: None,
        value: value.clone(),
        once: false,
    };
    let given = given.iter().map(one).collect();
    let limits = Limits { ways, ..Limits::default() };
    let query = OddsQuery { given, answering, limits, ..OddsQuery::default() };
    let position = Position { card: card.into(), query, ..Position::default() };
    position.odds(&gambles()).map(|(odds, _)| odds)
}

fn odds(card: &str) -> Odds {
    asked(card, Answering::Default, &[]).unwrap_or_else(|refusal| panic!("{card}: {refusal}"))
}

/// The facts of an outcome, without log lines and attachments.
fn facts_of(outcome: &Outcome) -> String {
    let fact = |effect: &Effect| match effect {
        Effect::Said { .. } | Effect::Attached { .. } => None,
        Effect::Changed { title, field, to, .. } => Some(format!("{title} {field} {to}")),
        Effect::Came { with, .. } => Some(format!("stone {with}")),
        effect => Some(effect.line()),
    };
    let mut facts: Vec<String> = outcome.effects.iter().filter_map(fact).collect();
    facts.sort();
    facts.join("; ")
}

/// Chances by facts.
#[derive(Debug, Default, PartialEq)]
struct Table(BTreeMap<String, Fraction>);

impl Table {
    fn of(odds: &Odds) -> Table {
        let mut table = Table::default();
        for (outcome, chance) in &odds.outcomes {
            table.add(chance.clone(), facts_of(outcome));
        }
        table
    }

    fn add(&mut self, chance: Fraction, facts: String) {
        *self.0.entry(facts).or_default() += chance;
    }

    /// Divides all chances by their sum: other rolls are repeated.
    fn out_of_itself(mut self) -> Table {
        let sum = dice::sum(self.0.values());
        self.0.values_mut().for_each(|chance| *chance /= &sum);
        self
    }
}

/// The facts of changed numbers; 0 is no change.
fn facts(numbers: &[(&str, i64)]) -> String {
    let mut facts: Vec<String> =
        numbers.iter().filter(|(_, n)| *n != 0).map(|(name, n)| format!("{name} {n}")).collect();
    facts.sort();
    facts.join("; ")
}

/// Goes through every roll of dice with these sides, with equal chances.
fn every(sides: &[i64], mut each: impl FnMut(Fraction, &[i64])) {
    let whole: i64 = sides.iter().product();
    for n in 0..whole {
        let mut rest = n;
        let roll: Vec<i64> = sides
            .iter()
            .map(|sides| {
                let face = rest % sides + 1;
                rest /= sides;
                face
            })
            .collect();
        each(of(1, whole), &roll);
    }
}

fn assert_counted(card: &str, table: Table) {
    let odds = odds(card);
    assert_eq!(Table::of(&odds), table, "{card}");
    assert!(odds.is_exact(), "{card}: {}", odds.remaining);
}

/// Numbers counted by another program: for each expression the number of rolls, and the number for each total.
#[test]
fn totals_of_dice_agree_with_another_program() {
    let text = include_str!("data/dice.json");
    // Large numbers are written as texts.
    let read: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    assert_eq!(read.len(), 15);
    for (dice, counted) in read {
        let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<IBig>().unwrap();
        let of = number(&counted["of"]);
        let ways = counted["ways"].as_object().unwrap();
        let ways: BTreeMap<i64, Fraction> =
            ways.iter().map(|(total, ways)| (total.parse().unwrap(), ratio(number(ways), of.clone()))).collect();
        let found: BTreeMap<i64, Fraction> = Dice::parse(&dice).unwrap().distribution().unwrap().iter().collect();
        assert_eq!(found, ways, "{dice}");
    }
}

#[test]
fn rolls_repeated_until_they_succeed_are_solved_exactly() {
    let mut ties = Table::default();
    every(&[6, 6], |chance, roll| {
        if roll[0] != roll[1] {
            ties.add(chance, facts(&[("Ann gold", roll[0] - roll[1])]));
        }
    });
    assert_counted("ties", ties.out_of_itself());

    let mut nested = Table::default();
    every(&[6, 6, 3], |chance, roll| {
        if roll[0] != roll[1] && !(roll[2] == 3 && roll[0] == 1) {
            nested.add(chance, facts(&[("Ann gold", roll[0] - roll[1] + roll[2])]));
        }
    });
    assert_counted("nested_again", nested.out_of_itself());

    // Each successful payment, 4 in 6, is followed by 1, 3 or 5.
    let mut quaking = Table::default();
    let ways: Vec<(Fraction, i64, i64)> =
        std::iter::once((of(1, 3), 0, 0)).chain([1, 3, 5].map(|odd| (of(2, 9), 1, odd))).collect();
    for (chance, paid, hurt) in &ways {
        for (other, paid_too, hurt_too) in &ways {
            quaking.add(chance * other, facts(&[("Ann gold", paid + paid_too), ("Ann hurt", hurt + hurt_too)]));
        }
    }
    assert_counted("quaking", quaking);
}

/// The rolls before the question are on the tape.
#[test]
fn a_question_after_repeated_rolls_has_odds() {
    let kinds = "local rb = require(\"@riskbreaker\")
return rb.kinds({ die = { title = \"name\", fields = { name = rb.text(), at = rb.int() } } })";
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
	start = function() rb.schedule(\"turn\", 1, rb.spawn(\"die\", { name = \"Die\" })) end,
	entries = { turn = function(die)
		local turns, ctx = 0, { die = die }
		rb.again(function() turns += 1 return if rb.roll(\"1d6\", \"luck\") > 0 and turns > 4 then true else nil end)
		rb.choose({ seat = \"one\", topic = \"card\", about = die, cards = rb.card_ids, ctx = ctx, default = \"toss\" }).resolve(ctx)
	end },
})";
    let toss = "local rb = require(\"@riskbreaker\")
return rb.maneuver({ id = \"toss\", resolve = function(ctx) if rb.under(\"1d6\", 4, \"toss\") then ctx.die:add(\"at\", 1) end end })";
    let rules = small("one = \"One\"", kinds, play, ("toss", toss));
    let (odds, _) = Position { card: "toss".into(), ..Position::default() }.odds(&rules).unwrap();
    let chances: Vec<&Fraction> = odds.outcomes.iter().map(|(_, chance)| chance).collect();
    assert!(odds.is_exact());
    assert_eq!(chances, [&of(1, 2), &of(1, 2)]);
}

#[test]
fn repeated_rolls_that_never_end_or_do_more_than_roll_are_refused() {
    let refusal = asked("never", Answering::Default, &[]).unwrap_err();
    assert!(refusal.to_string().contains("rolls for ever"), "{refusal}");
    let refusal = asked("meddling", Answering::Default, &[]).unwrap_err();
    assert!(refusal.to_string().contains("the verb pay is not possible in rb.again, which may only roll"), "{refusal}");
}

#[test]
fn a_loop_that_counts_its_turns_is_not_merged() {
    let mut table = Table::default();
    every(&[6, 6, 6], |chance, roll| {
        let face = if roll[0] >= 5 {
            roll[0]
        } else if roll[1] >= 5 {
            roll[1]
        } else {
            roll[2]
        };
        table.add(chance, facts(&[("Ann gold", face)]));
    });
    assert_eq!(table.0["Ann gold 1"], of(2, 27));
    assert_eq!(table.0["Ann gold 5"], of(19, 54));
    assert_counted("again_twice", table);
    // Two equal faces in a row are equally likely for each face.
    let mut even = Table::default();
    (1..=4).for_each(|face| even.add(of(1, 4), facts(&[("Ann gold", face)])));
    assert_counted("again_two_dice", even);
}

#[test]
fn the_order_of_faces_matters_only_if_a_script_reads_it() {
    for card in ["order4", "order5", "order6"] {
        let mut table = Table::default();
        table.add(of(1, 216), facts(&[("Ann gold", 1)]));
        table.add(of(215, 216), facts(&[]));
        assert_counted(card, table);
    }
    let mut sorted = Table::default();
    every(&[6; 6], |chance, roll| {
        let mut roll = roll.to_vec();
        roll.sort_unstable_by(|one, other| other.cmp(one));
        sorted.add(chance, facts(&[("Ann gold", roll[0] * 100 + roll[1] * 10 + roll[5])]));
    });
    assert_counted("sorted6", sorted);
}

#[test]
fn rolls_read_by_rank_are_partitioned_by_order() {
    let mut table = Table::default();
    every(&[6; 4], |chance, roll| {
        let least = roll.iter().min().unwrap();
        let lowest: Vec<i64> = (1..).zip(roll).filter(|(_, face)| *face == least).map(|(at, _)| at).collect();
        let gold = if lowest.len() == 1 { lowest[0] } else { 10 * lowest.len() as i64 + lowest[0] };
        table.add(chance, facts(&[("Ann gold", gold)]));
    });
    assert_counted("who_first", table);
}

#[test]
fn hand_written_loops_are_solved() {
    let mut ties = Table::default();
    ties.add(of(1, 2), facts(&[("Ann gold", 1)]));
    ties.add(of(1, 2), facts(&[("Bea gold", 1)]));
    assert_counted("ties_by_hand", ties);

    let mut table = Table::default();
    every(&[6, 4], |chance, roll| table.add(chance, facts(&[("Ann gold", roll[0]), ("Bea gold", roll[1] + 2)])));
    assert_counted("low_again", table);

    let mut six = Table::default();
    every(&[6], |chance, roll| {
        let again = of(1, 3).pow(5);
        let last = if roll[0] > 2 { (Fraction::ONE - &again) / of(4, 1) } else { Fraction::ZERO };
        six.add(last + again * chance, facts(&[("Ann gold", roll[0])]));
    });
    assert_counted("six_times_at_most", six);
}

#[test]
fn an_endless_loop_reports_the_remaining_chance() {
    let odds = asked_within("wins", 200_000, Answering::Default, &[]).unwrap();
    assert!(!odds.is_exact() && odds.estimate.is_none(), "{:?}", odds.estimate);
    assert!(odds.remaining > Fraction::ZERO && odds.remaining < of(1, 1_000_000_000), "{}", odds.remaining);
    for (outcome, chance) in &odds.outcomes {
        let won = facts_of(outcome).strip_prefix("Ann gold ").map_or(0, |n| n.parse().unwrap());
        assert_eq!(*chance, of(2, 5) * of(3, 5).pow(won));
    }
}

#[test]
fn an_unlimited_reroll_is_used_until_the_best_result() {
    let odds = asked("until_pleased", Answering::Best, &[]).unwrap();
    let mut six = Table::default();
    six.add(Fraction::ONE, facts(&[("Ann gold", 6)]));
    assert_eq!(Table::of(&odds), six);
    assert!(odds.is_exact());
}

#[test]
fn merged_paths_keep_the_best_answer_of_another_seat() {
    let play = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.recur("turn", { 1 }, { 1 }, rb.spawn("pot", { name = "Pot" }))
	end,
	entries = {
		turn = function(pot)
			rb.choose({ seat = "one", topic = "card", about = pot, options = rb.options(rb.card_ids, pot) }).resolve(pot)
		end,
	},
	value = function(seat)
		local gold = rb.first("pot").gold
		return if seat == "one" then gold else -gold
	end,
})
"#;
    let hit = r#"local rb = require("@riskbreaker")
return rb.maneuver({
	id = "hit",
	resolve = function(pot)
		local gold = 5
		if rb.under("1d3", 2) and rb.confirm({ seat = "two", topic = "parry", default = false }) then
			gold = 0
		end
		pot:add("gold", gold)
		gold = 0
		pot:add("gold", rb.roll("1d2"))
	end,
})
"#;
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ pot = { title = \"name\", fields = { name = rb.text(), gold = rb.int() } } })";
    let rules = small("one = \"One\"\ntwo = \"Two\"", kinds, play, ("hit", hit));
    let query = OddsQuery { answering: Answering::Best, ..OddsQuery::default() };
    let position = Position { card: "hit".into(), query, ..Position::default() };
    let (odds, _) = position.odds(&rules).unwrap();
    let parried = |outcome: &Outcome| outcome.line().ends_with("-> 1") || outcome.line().ends_with("-> 2");
    assert_eq!(odds.chance(parried), of(1, 3), "{:?}", odds.lines());
    assert!(odds.is_exact());
}

#[test]
fn outcomes_that_differ_only_in_a_watched_field_are_not_merged() {
    let kinds = r#"local rb = require("@riskbreaker")
return rb.kinds({
	hero = {
		title = "name",
		fields = { name = rb.text() },
		derived = {
			danger = function(_self)
				local sum = 0
				for _, goblin in rb.each("goblin") do
					sum += goblin.power
				end
				return sum
			end,
		},
	},
	goblin = { title = "name", fields = { name = rb.text({ default = "Goblin" }), power = rb.int() } },
})
"#;
    let play = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("goblin", { power = 1 })
		rb.spawn("goblin", { power = 3 })
		rb.recur("turn", { 1 }, { 1 }, rb.spawn("hero", { name = "Ann" }))
	end,
	entries = {
		turn = function(hero)
			rb.choose({ seat = "one", topic = "card", about = hero, options = rb.options(rb.card_ids, hero) }).resolve(hero)
		end,
	},
})
"#;
    let slay = r#"local rb = require("@riskbreaker")
return rb.maneuver({
	id = "slay",
	resolve = function()
		local goblin = rb.draw(rb.each("goblin"))
		rb.remove(goblin)
	end,
})
"#;
    let rules = small("one = \"One\"", kinds, play, ("slay", slay));
    let watch = vec![("Ann".to_owned(), "danger".to_owned())];
    let position = Position { card: "slay".into(), watch, ..Position::default() };
    let (odds, _) = position.odds(&rules).unwrap();
    let is_left = |outcome: &Outcome| outcome.watched == [Value::Int(3)];
    let all = odds.given(|_| true).unwrap();
    assert_eq!([odds.chance(is_left), all.chance(is_left)], [of(1, 2), of(1, 2)]);
    // In the printed outcomes nothing distinguishes them.
    assert_eq!(all.unwatched().outcomes.len(), 1);
}

#[test]
fn odds_with_too_many_paths_are_marked_as_estimates() {
    let odds = asked_within("ledger", 3_000, Answering::Default, &[]).unwrap();
    assert!(!odds.is_exact());
    let estimate = odds.estimate.as_ref().unwrap();
    assert_eq!(estimate.samples, Limits::default().samples);
    assert!(estimate.why.contains("more paths than the 3000"), "{}", estimate.why);
    // The same call gives the same result.
    assert_eq!(odds, asked_within("ledger", 3_000, Answering::Default, &[]).unwrap());
    let below = odds.outcomes.iter().map(|(_, chance)| chance).filter(|chance| !chance.is_zero());
    assert_eq!(dice::sum(below), Fraction::ONE);
    let half = odds.chance(|outcome| {
        facts_of(outcome).strip_prefix("Ann gold ").map_or(0, |n| n.parse::<i64>().unwrap()) < 1 << 15
    });
    let (low, high) = odds.interval(&half);
    assert!(low < 0.5 && 0.5 < high && high - low < 0.03, "{low} {high}");
    let refusal = asked_within("ledger", 3_000, Answering::Best, &[]);
    assert!(refusal.is_err_and(|refusal| refusal.to_string().contains("the best answer there cannot be computed")));
}

#[test]
fn odds_beyond_the_work_limit_are_estimated_from_fewer_plays() {
    let within = |work| {
        let limits = Limits { work, ..Limits::default() };
        let query = OddsQuery { limits, ..OddsQuery::default() };
        let position = Position { card: "ledger".into(), query, ..Position::default() };
        position.odds(&gambles()).unwrap().0.estimate.unwrap().samples
    };
    let (few, many) = (within(400_000), within(4_000_000));
    assert!(1 < few && few < many && many < Limits::default().samples, "{few} {many}");
    // Even with a tiny budget it is played once.
    assert_eq!(within(0), 1);
}

#[test]
fn counts_in_a_loop_without_end_are_solved() {
    // Rounds by the hits of both; there are any number of rounds without a hit.
    let mut rounds: BTreeMap<(i64, i64), Fraction> = BTreeMap::from([((0, 0), Fraction::ONE)]);
    let mut table = Table::default();
    while let Some(((own, other), chance)) = rounds.pop_first() {
        if own == 4 || other == 4 {
            table.add(chance, facts(&[("Ann gold", own - other)]));
            continue;
        }
        // 3 in 6 hit for one, 2 in 6 for the other: without a hit, 12 in 36, the round is repeated.
        for (more, others, part) in [(1, 1, of(6, 24)), (1, 0, of(12, 24)), (0, 1, of(6, 24))] {
            *rounds.entry((own + more, other + others)).or_default() += &chance * part;
        }
    }
    assert_counted("race", table);
}

/// The chances of sums of dice with these sides.
fn sums(count: u32, sides: i64) -> BTreeMap<i64, Fraction> {
    let mut sums: BTreeMap<i64, Fraction> = BTreeMap::from([(0, Fraction::ONE)]);
    for _ in 0..count {
        let mut next = BTreeMap::new();
        for (sum, chance) in sums {
            for face in 1..=sides {
                *next.entry(sum + face).or_default() += &chance / of(sides, 1);
            }
        }
        sums = next;
    }
    sums
}

/// Chances by Ann's gold.
fn gold(chances: impl IntoIterator<Item = (i64, Fraction)>) -> Table {
    let mut table = Table::default();
    chances
        .into_iter()
        .filter(|(_, chance)| !chance.is_zero())
        .for_each(|(n, c)| table.add(c, facts(&[("Ann gold", n)])));
    table
}

fn yes_or_no(chance: Fraction) -> Table {
    gold([(0, Fraction::ONE - &chance), (1, chance)])
}

/// Ann or Bea gets one, Ann with this chance.
fn whose(chance: Fraction) -> Table {
    let mut table = Table::default();
    table.add(Fraction::ONE - &chance, facts(&[("Bea gold", 1)]));
    table.add(chance, facts(&[("Ann gold", 1)]));
    table
}

#[test]
fn sums_of_dice_that_are_rolled_one_by_one_are_exact() {
    let least = |count, sides, least| {
        dice::sum(sums(count, sides).into_iter().filter(|(n, _)| *n >= least).map(|(_, chance)| chance))
    };
    assert_counted("ten_dice", yes_or_no(least(10, 6, 45)));
    assert_counted("eight_dice", yes_or_no(least(8, 8, 50)));

    let mut many: BTreeMap<i64, Fraction> = BTreeMap::from([(0, Fraction::ONE)]);
    for _ in 0..12 {
        let mut next = BTreeMap::new();
        for (sum, chance) in many {
            for face in [0, 0, 0, 4, 5, 6] {
                *next.entry(sum + face).or_default() += &chance * of(1, 6);
            }
        }
        many = next;
    }
    assert_counted("many_dice", gold(many));
}

/// The chance to win a duel for the first to strike, by the points of both.
fn duel(own: i64, other: i64, known: &mut BTreeMap<(i64, i64), Fraction>) -> Fraction {
    if let Some(known) = known.get(&(own, other)) {
        return known.clone();
    }
    let strikes = |hit: Fraction, sides: i64| {
        let miss = Fraction::ONE - &hit;
        std::iter::once((0, miss)).chain((1..=sides).map(move |harm| (harm, &hit / of(sides, 1))))
    };
    let (mut won, mut again) = (Fraction::ZERO, Fraction::ZERO);
    for (harm, chance) in strikes(of(10, 20), 6) {
        if other - harm <= 0 {
            won += chance;
            continue;
        }
        for (back, too) in strikes(of(12, 20), 4) {
            let both = &chance * too;
            if harm == 0 && back == 0 {
                again += both;
            } else if own - back > 0 {
                won += both * duel(own - back, other - harm, known);
            }
        }
    }
    let chance = won / (Fraction::ONE - again);
    known.insert((own, other), chance.clone());
    chance
}

#[test]
fn duels_and_random_walks_are_exact() {
    assert_counted("duel18", whose(duel(20, 18, &mut BTreeMap::new())));
    assert_counted("duel30", whose(duel(30, 30, &mut BTreeMap::new())));
    let ratio = of(2, 3);
    let rich = (Fraction::ONE - ratio.pow(20)) / (Fraction::ONE - ratio.pow(40));
    assert_counted("ruin", whose(rich.clone()));
    assert_counted("ruin_of_fields", gold([(40, rich.clone()), (0, Fraction::ONE - rich)]));
}

#[test]
fn loops_that_keep_counts_tables_and_functions_are_exact() {
    // Rows of 25 flips without a run of this number of heads.
    let without = |run: usize| -> Fraction {
        let mut rows = vec![Fraction::ONE];
        for length in 1..=25 {
            let sum = |from: usize| dice::sum((from..length).map(|at| &rows[at]));
            let row = if length < run { of(2, 1).pow(length as isize) } else { sum(length - run) };
            rows.push(row);
        }
        rows[25].clone() / of(2, 1).pow(25)
    };
    let longest = (0..=25).map(|run| {
        let less = if run == 0 { Fraction::ZERO } else { without(run as usize) };
        (run, if run == 25 { of(1, 1) } else { without(run as usize + 1) } - less)
    });
    assert_counted("longest_run", gold(longest));

    let all_within = |rolls: isize| -> Fraction {
        let signs = [1, -6, 15, -20, 15, -6, 1];
        dice::sum((0..=6).zip(signs).map(|(k, sign)| of(sign, 1) * of(6 - k, 6).pow(rolls)))
    };
    let coupons = (6..=14).map(|rolls| (rolls as i64, all_within(rolls) - all_within(rolls - 1)));
    assert_counted("coupons", gold(coupons.chain([(15, Fraction::ONE - all_within(14))])));

    let mut bands = Fraction::ZERO;
    let choose = |n: i64, k: i64| (0..k).fold(of(1, 1), |ways, i| ways * of(n - i, i + 1));
    for low in 0..=24_i64 {
        for mid in low + 1..=24 - low {
            if 24 - low - mid >= 6 {
                let ways = choose(24, low) * choose(24 - low, mid);
                bands += ways
                    * of(2, 6).pow(low as isize)
                    * of(3, 6).pow(mid as isize)
                    * of(1, 6).pow((24 - low - mid) as isize);
            }
        }
    }
    assert_counted("bands24", yes_or_no(bands));

    let mut attack: BTreeMap<i64, Fraction> = BTreeMap::from([(0, of(11, 20))]);
    for one in 1..=8 {
        *attack.entry(one).or_default() += of(8, 160);
        for other in 1..=8 {
            *attack.entry(one + other).or_default() += of(1, 1280);
        }
    }
    let mut health: BTreeMap<i64, Fraction> = BTreeMap::from([(25, Fraction::ONE)]);
    let mut rounds: BTreeMap<i64, Fraction> = BTreeMap::new();
    for round in 1..=12 {
        let mut next = BTreeMap::new();
        for (left, chance) in &health {
            for (harm, too) in &attack {
                let into = if left - harm <= 0 || round == 12 { &mut rounds } else { &mut next };
                let key = if left - harm <= 0 || round == 12 { round } else { left - harm };
                *into.entry(key).or_default() += chance * too;
            }
        }
        health = next;
    }
    assert_counted("helper_hits", gold(rounds));

    let mut open: BTreeMap<i64, Fraction> = BTreeMap::from([(0, Fraction::ONE)]);
    let mut rolls: BTreeMap<i64, Fraction> = BTreeMap::new();
    for roll in 1..=30 {
        let mut next = BTreeMap::new();
        for (sum, chance) in &open {
            for face in 1..=6 {
                let (into, key) = if sum + face >= 30 { (&mut rolls, roll) } else { (&mut next, sum + face) };
                *into.entry(key).or_default() += chance / of(6, 1);
            }
        }
        open = next;
    }
    assert_counted("counter", gold(rolls));
    assert_counted("word", gold([(6, Fraction::ONE)]));
}

#[test]
fn points_that_a_script_can_distinguish_are_not_merged() {
    assert_counted("shared", gold([(1, of(1, 2)), (0, of(1, 2))]));
    assert_counted("sorting", gold([(1, Fraction::ONE)]));
    // These results are up to the engine, but must be the same without merging.
    for card in ["holes", "own_order"] {
        let odds = odds(card);
        assert!(odds.is_exact(), "{card}");
    }
}

#[test]
fn a_tie_that_is_rolled_again_once_is_counted_to_its_end() {
    let mut table = Table::default();
    every(&[8, 8, 8, 8], |chance, roll| {
        let (own, other) = if roll[0] == roll[1] { (roll[2], roll[3]) } else { (roll[0], roll[1]) };
        let half = if own == other { own / 2 } else { 0 };
        table.add(chance, facts(&[("Ann gold", own - other), ("Ann hurt", half), ("Bea hurt", half)]));
    });
    assert_counted("once_more", table);
}

#[test]
fn hooks_that_roll_veto_wrap_and_follow_are_counted_with_the_card() {
    let mut padded = Table::default();
    every(&[4, 3, 6], |chance, roll| {
        let thorns = i64::from(roll[2] < 3);
        padded.add(chance, facts(&[("Bea hurt", (roll[0] - roll[1]).max(0)), ("Bea gold", thorns)]));
    });
    assert_counted("padded", padded);

    let mut mailed = Table::default();
    every(&[8], |chance, roll| {
        let (hurt, paid) = if roll[0] >= 5 { (0, -1) } else { (roll[0], 0) };
        mailed.add(chance, facts(&[("Bea hurt", hurt), ("Ann gold", paid)]));
    });
    assert_counted("mailed", mailed);

    let mut everything = Table::default();
    every(&[8, 3, 4, 6], |chance, roll| {
        if roll[0] >= 5 {
            return everything.add(chance, facts(&[]));
        }
        let times = if roll[2] == 4 { 2 } else { 1 };
        let hurt = (roll[0] - roll[1]).max(0) * times;
        everything.add(chance, facts(&[("Bea hurt", hurt), ("Bea gold", i64::from(roll[3] < 3))]));
    });
    assert_counted("everything", everything);
}

#[test]
fn an_action_that_is_cut_keeps_what_it_changed() {
    let mut cliff = Table::default();
    cliff.add(of(2, 6), "Ann gold 1; cut short: Ann falls".into());
    cliff.add(of(2, 6), "Ann gold 2".into());
    cliff.add(of(2, 6), "Ann gold 3".into());
    assert_counted("cliff", cliff);
}

#[test]
fn pools_are_counted_by_the_faces_that_are_read() {
    let mut best = Table::default();
    every(&[6; 4], |chance, roll| {
        let mut kept = roll.to_vec();
        kept.sort_unstable();
        let kept = &kept[1..];
        let sum: i64 = kept.iter().sum();
        let sixes = kept.iter().filter(|face| **face == 6).count() as i64;
        best.add(chance, facts(&[("Ann gold", sixes), ("Ann hurt", (9 - sum).max(0))]));
    });
    assert_counted("best_three", best);

    let mut pairs = Table::default();
    every(&[6; 5], |chance, roll| {
        let most = (1..=6).map(|face| roll.iter().filter(|other| **other == face).count()).max().unwrap();
        pairs.add(chance, facts(&[("Ann gold", most as i64)]));
    });
    assert_counted("pairs", pairs);
}

#[test]
fn opposed_pools_are_counted_by_the_faces_that_are_read() {
    let hits = |sides: &[i64], least: i64| {
        let mut chances: BTreeMap<i64, Fraction> = BTreeMap::new();
        every(sides, |chance, roll| {
            let count = roll.iter().filter(|face| **face >= least).count() as i64;
            *chances.entry(count).or_default() += chance;
        });
        chances
    };
    let mut table = Table::default();
    for (own, chance) in hits(&[6; 4], 5) {
        for (other, too) in hits(&[4; 5], 4) {
            let hurt = [("Bea hurt", (own - other).max(0)), ("Ann hurt", (other - own).max(0))];
            table.add(&chance * too, facts(&hurt));
        }
    }
    assert_counted("pools5", table);
}

#[test]
fn exploding_dice_read_only_as_success_are_exact() {
    // One die: every face below 6 ends it, a 6 continues. Two total less than 9 in finitely many ways.
    let mut die: BTreeMap<i64, Fraction> = BTreeMap::new();
    for face in 1..=5 {
        die.insert(face, of(1, 6));
        die.insert(6 + face, of(1, 36));
    }
    let mut less = Fraction::ZERO;
    for (one, chance) in &die {
        for (other, too) in &die {
            if one + other < 9 {
                less += chance * too;
            }
        }
    }
    let mut boom = Table::default();
    boom.add(Fraction::ONE - &less, facts(&[("Ann gold", 3)]));
    boom.add(less, facts(&[]));
    assert_counted("boom", boom);
}

#[test]
fn bands_of_dice_that_are_rerolled_are_exact() {
    let reached = |cuts: &[i64], total: i64| cuts.iter().filter(|cut| total >= **cut).count() as i64;
    let mut bands = Table::default();
    // Faces 2 to 6 are equally likely; a 1 or 2 on a d8 is rerolled once.
    every(&[5, 5, 8, 8], |chance, roll| {
        let eight = if roll[2] < 3 { roll[3] } else { roll[2] };
        let band = reached(&[5, 7, 9, 11], roll[0] + roll[1] + 2);
        bands.add(chance, facts(&[("Ann gold", band), ("Bea hurt", reached(&[4, 8], eight + 1))]));
    });
    assert_counted("bands", bands);
}

#[test]
fn a_scheduled_entry_is_an_outcome_with_its_time_and_data() {
    let mut later = Table::default();
    every(&[2, 3, 4], |chance, roll| {
        let what = format!("rockfall of Bea at {}.1 with by: {}", 10 + roll[0], roll[1]);
        later.add(chance, if roll[2] < 2 { String::new() } else { what });
    });
    assert_counted("later", later);
}

#[test]
fn an_entry_scheduled_on_every_path_is_reported() {
    let surely = odds("surely");
    assert_eq!(surely.lines(), ["rockfall of Bea at 9 with by: 2"]);
    // It is removed with its owner, and so is what is attached to her.
    let odds = odds("farewell");
    let mut lines = odds.lines();
    lines.sort();
    assert_eq!(lines, ["Ann gold 0 -> 1 \u{b7} Bea (gambler) goes", "nothing changes"]);
}

#[test]
fn an_entity_created_and_removed_at_once_is_no_outcome() {
    let mut swarm = Table::default();
    every(&[3, 2, 2, 2, 4, 4, 4], |chance, roll| {
        let stones = (1..=roll[0] as usize).map(|at| (roll[at], roll[at + 3]));
        let mut left: Vec<String> = stones
            .filter(|(weight, breaks)| *weight < 2 || *breaks >= 2)
            .map(|(w, _)| format!("stone weight {w}"))
            .collect();
        left.sort();
        swarm.add(chance, left.join("; "));
    });
    assert_counted("swarm", swarm);
}

#[test]
fn a_value_added_and_subtracted_again_is_no_change() {
    let mut table = Table::default();
    every(&[4, 4], |chance, roll| table.add(chance, facts(&[("Ann gold", roll[0] - roll[1])])));
    assert_counted("to_and_fro", table);
    let mut streak = Table::default();
    every(&[6; 5], |chance, roll| {
        let won = roll.iter().zip(2..).take_while(|(face, least)| **face >= *least).count();
        streak.add(chance, facts(&[("Ann gold", won as i64)]));
    });
    assert_counted("streak", streak);
}

#[test]
fn a_choice_after_the_roll_takes_the_roll_into_account() {
    // A face of 1 or 2 is worth less than another roll.
    let mut table = Table::default();
    every(&[4, 4, 4, 4], |chance, roll| {
        let kept = |face: i64, thrown: i64| if face < 3 { thrown } else { face };
        table.add(chance, facts(&[("Ann gold", kept(roll[0], roll[2]) + kept(roll[1], roll[3]))]));
    });
    let best = asked("mulligan", Answering::Best, &[]).unwrap();
    assert_eq!(Table::of(&best), table);
    let none = asked("mulligan", Answering::Default, &[]).unwrap();
    let both = asked("mulligan", Answering::Default, &[("again", Value::text("first, second"))]).unwrap();
    assert_eq!(Table::of(&none), Table::of(&both));
}

/// The facts of a lunge with a stake, parried or not, pressed or not: each with its chance.
fn fence(stake: i64, parry: bool, press: bool) -> Table {
    let mut table = Table::default();
    every(&[10, 6, 4], |chance, roll| {
        let (ann, bea) = match (roll[0] < 9 - 2 * stake, parry, press) {
            (true, true, _) if roll[1] >= 3 + stake => (2 * stake, 0),
            (true, true, _) => (0, stake + 2),
            (true, false, _) => (0, 2 * stake),
            (false, _, true) if roll[2] >= 4 - stake => (0, 1),
            (false, _, true) => (1 + stake, 0),
            (false, _, false) => (0, 0),
        };
        table.add(chance, facts(&[("Ann hurt", ann), ("Bea hurt", bea)]));
    });
    table
}

/// The value of a table to Ann: Bea's harm minus her own.
fn worth(table: &Table) -> Fraction {
    let number = |facts: &str| {
        let fact = |name: &str| {
            let found = facts.split("; ").find_map(|fact| fact.strip_prefix(name));
            found.map_or(0, |n| n.trim().parse::<i64>().unwrap())
        };
        of(fact("Bea hurt") - fact("Ann hurt"), 1)
    };
    dice::sum(table.0.iter().map(|(facts, chance)| number(facts) * chance))
}

#[test]
fn questions_of_both_sides_are_answered_by_the_chosen_policy() {
    let told = |answering: Answering, given: &[(&str, Value)]| asked("fence", answering, given).map(|o| Table::of(&o));
    assert_eq!(told(Answering::Default, &[]).unwrap(), fence(1, false, false));
    for stake in 1..=3 {
        for (parry, press) in [(false, false), (false, true), (true, false), (true, true)] {
            let given = [("stake", stake.into()), ("parry", parry.into()), ("press", press.into())];
            assert_eq!(told(Answering::Given, &given).unwrap(), fence(stake, parry, press));
        }
    }
    // Bea parries if that is worth less to Ann, Ann presses and stakes for the highest value: neither knows the dice to
    // come.
    let best = (1..=3).map(|stake| {
        let by = |parry: bool| {
            let press = [true, false].into_iter().max_by_key(|press| worth(&fence(stake, parry, *press))).unwrap();
            fence(stake, parry, press)
        };
        let (with, without) = (by(true), by(false));
        if worth(&with) < worth(&without) { with } else { without }
    });
    let best = best.max_by_key(worth).unwrap();
    let found = asked("fence", Answering::Best, &[]).unwrap();
    assert_eq!(Table::of(&found), best);
    assert_eq!(found.worth["player"], worth(&best));
    let refusal = told(Answering::Given, &[("stake", 2.into())]).unwrap_err().to_string();
    assert!(refusal.contains("`parry`") || refusal.contains("`press`"), "{refusal}");

    // The guessing policy: a stake of 1 to 3, yes one time in four.
    let mut guessed = Table::default();
    for stake in 1..=3 {
        for (parry, press, quarters) in [(true, true, 1), (true, false, 3), (false, true, 3), (false, false, 9)] {
            for (facts, chance) in fence(stake, parry, press).0 {
                guessed.add(chance * of(quarters, 48), facts);
            }
        }
    }
    assert_eq!(told(Answering::Policy("guessing".into()), &[]).unwrap(), guessed);
}

#[test]
fn faces_are_counted_in_every_order_where_the_order_counts() {
    let mut neighbours = Table::default();
    every(&[6, 6, 6, 6], |chance, row| {
        let same = row.windows(2).filter(|pair| pair[0] == pair[1]).count();
        neighbours.add(chance, facts(&[("Ann gold", same as i64)]));
    });
    assert_counted("neighbours", neighbours);

    let mut wild = Table::default();
    every(&[4, 4, 4, 4, 4], |chance, row| {
        wild.add(chance, facts(&[("Ann gold", row.iter().sum::<i64>() + row[2])]));
    });
    assert_counted("wild_die", wild);
}

#[test]
fn a_change_that_is_reverted_within_an_action_is_no_outcome() {
    let odds = odds("comes_and_goes");
    let lines: Vec<(String, Fraction)> =
        odds.lines().into_iter().zip(odds.outcomes.iter().map(|(_, chance)| chance.clone())).collect();
    let rock = |key: &str| format!("rockfall of Bea at {key} with by: 1");
    let mail = format!("Bea gets mail ({}, wear: 2)", rock("30.1"));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], (rock("20.1"), of(3, 4)));
    assert!(lines[1].1 == of(1, 4) && mail.starts_with(&lines[1].0), "{lines:?}");
}

/// The facts of drawing stones until `more` returns false, given the sum and the stones left.
fn drawn(sum: i64, left: &[i64], chance: Fraction, more: &dyn Fn(i64, &[i64]) -> bool, table: &mut Table) {
    if sum > 7 {
        return table.add(chance, facts(&[("Ann hurt", 3)]));
    } else if sum > 0 && !more(sum, left) {
        return table.add(chance, facts(&[("Ann gold", sum)]));
    }
    for at in 0..left.len() {
        let mut rest = left.to_vec();
        let weight = rest.remove(at);
        drawn(sum + weight, &rest, &chance / of(left.len() as i64, 1), more, table);
    }
}

/// The value of the better of stopping and drawing on to the player.
fn best_of_drawing(sum: i64, left: &[i64]) -> Fraction {
    if sum > 7 { of(-3, 1) } else { of(sum, 1).max(worth_of_drawing_on(sum, left)) }
}

fn worth_of_drawing_on(sum: i64, left: &[i64]) -> Fraction {
    let each = (0..left.len()).map(|at| {
        let mut rest = left.to_vec();
        let weight = rest.remove(at);
        best_of_drawing(sum + weight, &rest)
    });
    dice::sum(each) / of(left.len() as i64, 1)
}

#[test]
fn draws_without_replacement_are_counted_with_decisions_between_them() {
    let stones = [1, 2, 2, 3, 4, 5];
    let counted = |more: &dyn Fn(i64, &[i64]) -> bool| {
        let mut table = Table::default();
        drawn(0, &stones, Fraction::ONE, more, &mut table);
        table
    };
    let told = |answering: Answering, given: &[(&str, Value)]| Table::of(&asked("drawing", answering, given).unwrap());
    assert_eq!(told(Answering::Default, &[]), counted(&|sum, _| sum < 4));
    assert_eq!(told(Answering::Given, &[("more", true.into())]), counted(&|_, _| true));
    // `yes` is the first answer, which wins a tie.
    assert_eq!(told(Answering::Best, &[]), counted(&|sum, left| worth_of_drawing_on(sum, left) >= of(sum, 1)));
}

#[test]
fn a_fault_on_a_path_is_reported_with_its_dice() {
    let refusal = asked("splinter", Answering::Default, &[]).unwrap_err();
    assert!(
        refusal.to_string().contains("fails on the way (swing 5, edge 4): gambles/maneuvers/splinter.luau:7"),
        "{refusal}"
    );
    assert!(refusal.to_string().contains("the blade breaks"), "{refusal}");
}

/// A path that has removed somebody leaves nothing behind for the next one, wherever that resumes.
#[test]
fn an_entity_removed_on_one_path_exists_on_the_next() {
    const PLAY: &str = r#"
local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("being", { name = "Ann" })
		rb.spawn("being", { name = "Bob" })
		rb.schedule("turn", 1, rb.first("being"))
	end,
	entries = {
		turn = function(actor)
			local foe = rb.filter(rb.each("being"), function(other) return other ~= actor end)[1]
			rb.choose({ seat = "north", topic = "card", about = actor, cards = rb.card_ids, ctx = { foe = foe } }).resolve({ foe = foe })
		end,
	},
})"#;
    const STRIKE: &str = r#"
local rb = require("@riskbreaker")
return rb.maneuver({ id = "strike", title = "Strike", text = "Two fours of four dice.", resolve = function(ctx)
	local fours = 0
	for _ = 1, 4 do
		if rb.roll("1d4", "a blow") == 4 then fours += 1 end
	end
	if fours > 1 then
		rb.remove(ctx.foe)
		if rb.roll("1d4", "another") > 1 then rb.say("gone for good") end
	end
end })"#;
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ being = { title = \"name\", fields = { name = rb.text() } } })";
    let rules = small("north = \"North\"", kinds, PLAY, ("strike", STRIKE));
    let (odds, _) = Position { card: "strike".into(), ..Position::default() }.odds(&rules).unwrap();
    assert!(odds.is_exact());
    assert_eq!(odds.chance(|outcome| outcome.line().contains("Bob")), of(67, 256));
    assert_eq!(odds.chance(|outcome| outcome.line().contains("gone for good")), of(67 * 3, 256 * 4));
}

// Odds that look ahead

/// The chances of each number, such as the health left.
type Numbers = BTreeMap<i64, Fraction>;

/// The health left after arrows, of which each hits with its own chance and does 1 to 3 harm.
fn after_arrows(health: i64, arrows: &[Fraction]) -> Numbers {
    let mut left = Numbers::from([(health, of(1, 1))]);
    for hits in arrows {
        let mut next = Numbers::new();
        for (health, chance) in &left {
            *next.entry(*health).or_default() += chance * (of(1, 1) - hits);
            for harm in 1..=3 {
                *next.entry(health - harm).or_default() += chance * hits * of(1, 3);
            }
        }
        left = next;
    }
    left
}

fn volley() -> Arc<Ruleset> {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
    Ruleset::load(&library, "volley").unwrap()
}

/// The odds of Ann's `aim` at Bob, up to an entry.
fn aimed(until: &[&str], query: OddsQuery) -> Result<Odds, Refusal> {
    let until = until.iter().map(|name| Arc::from(*name)).collect();
    let query = OddsQuery { until, ..query };
    let position = Position { card: "aim".into(), actor: Some("Ann".into()), query, ..Position::default() };
    position.odds(&volley()).map(|(odds, _)| odds)
}

/// The chances of the health of a unit.
fn health_of(odds: &Odds, title: &str) -> Numbers {
    let field = odds.fields.iter().find(|field| *field.title == *title && &*field.field == "health");
    let Some(field) = field else { return Numbers::from([(4, of(1, 1))]) };
    field.to.iter().map(|(value, chance)| (value.as_int().unwrap(), chance.clone())).collect()
}

#[test]
fn odds_look_ahead_to_the_entry_that_is_named() {
    let names = || OddsQuery { against: Some("Bob".into()), ..OddsQuery::default() };
    // Before the turn of Bob no arrow has been shot.
    let next = aimed(&["turn"], names()).unwrap();
    assert!(next.is_exact() && health_of(&next, "Bob") == after_arrows(4, &[]), "{next:?}");
    let round = aimed(&["round"], names()).unwrap();
    assert!(round.is_exact(), "{round:?}");
    assert_eq!(health_of(&round, "Bob"), after_arrows(4, &[of(1, 2)]));
    assert_eq!(health_of(&round, "Ann"), after_arrows(4, &[]));
    assert_eq!(round.hits(), [(Arc::from("Bob"), of(1, 2))]);
    // All answers are named: the target as given, the others by their defaults.
    let assumed: Vec<String> =
        round.answers.iter().map(|one| format!("{} {}: {} ({})", one.who, one.topic, one.answer, one.source)).collect();
    let expected = [
        "Ann ruling: roll (default)",
        "Ann target: Bob (given)",
        "Bob card: wait (default)",
        "Cid card: wait (default)",
    ];
    assert_eq!(assumed, expected);
    // The game never returns to a past entry, so the odds extend to the next round and no further.
    let two = aimed(&["round"], OddsQuery { answering: Answering::Best, ..names() }).unwrap();
    // Each of blue's units gains by its own arrow: 1/2 of 2, against 2/3 by a shield.
    assert!(two.is_exact(), "{two:?}");
    assert_eq!(health_of(&two, "Bob"), after_arrows(4, &[of(1, 2)]));
    assert_eq!(health_of(&two, "Ann"), after_arrows(4, &[of(1, 2), of(1, 2)]));
    assert!(two.answers.iter().any(|one| &*one.who == "Cid" && one.source == Source::Best), "{:?}", two.answers);
}

#[test]
fn odds_look_ahead_by_the_drivers_of_seats_and_by_estimates() {
    // The chances are the same merged or not, exact or estimated.
    let names = || OddsQuery { against: Some("Bob".into()), ..OddsQuery::default() };
    let exact = aimed(&["round"], names()).unwrap();
    let unmerged = aimed(&["round"], OddsQuery { unmerged: true, ..names() }).unwrap();
    assert_eq!(unmerged.fields, exact.fields);
    let limits = Limits { ways: 2, samples: 4_000, ..Limits::default() };
    let estimate = aimed(&["round"], OddsQuery { limits, ..names() }).unwrap();
    assert!(estimate.estimate.is_some() && !estimate.is_exact(), "{estimate:?}");
    for (health, chance) in health_of(&exact, "Bob") {
        let found = estimate.chance(|outcome| {
            let bob = |effect: &Effect| matches!(effect, Effect::Changed { title, to, .. } if &**title == "Bob" && to.as_int() == Some(health));
            outcome.effects.iter().any(bob) || (health == 4 && outcome.effects.is_empty())
        });
        let (low, high) = estimate.interval(&found);
        let chance = dice::float(&chance);
        assert!(low <= chance && chance <= high, "{health}: {chance} is not within {low} to {high}");
    }
}

#[test]
fn programs_ask_for_odds_and_targets_show_their_chances() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
    let mut table = riskbreaker::script::Table::new(&library).unwrap();
    table.look_ahead_by(riskbreaker::lab::odds_for_program);
    let program = "local g = start{ rules = \"volley\", seats = { red = \"human\", blue = \"human\", gm = \"absent\" } }\n\
                   g:advance()\n\
                   local odds = g:odds{ card = \"aim\", target = \"Cid\" }\n\
                   print(odds.exact, odds.hits.Cid, odds.horizon[1], #odds.outcomes, odds.outcomes[1].chance)\n\
                   print(g:odds({ card = \"aim\" }, \"action\").hits.Cid)\n\
                   g:odds({ card = \"aim\" }, \"segment\")";
    let fault = table.eval(program, "program").unwrap_err();
    assert!(fault.message.contains("no agenda entry `segment`"), "{fault}");
    assert_eq!(table.take_printed(), ["true  1/2  round  4  1/2", "nil"]);
    let mut session = Session::start(&volley(), Setup::scenario("three").seat("gm", Driver::Absent)).unwrap();
    let _ = session.advance().unwrap();
    let _ = session.reply(&[("card".to_owned(), Value::text("aim"))]).unwrap();
    let question = session.questions()[0].clone();
    let chances = session.hit_chances(&question, &Viewer::master());
    assert_eq!(chances, ["Bob", "Cid"].map(|name| (Arc::from(name), of(1, 2), true)));
}

#[test]
fn an_undeclared_entry_is_refused_with_the_declared_ones() {
    let refusal = aimed(&["rond"], OddsQuery::default()).unwrap_err().to_string();
    assert!(refusal.contains("did you mean `round`?") && refusal.contains("arrow, round, turn"), "{refusal}");
    let refusal = riskbreaker::lab::until(&volley(), Some("segment")).unwrap_err().to_string();
    assert!(refusal.contains("no agenda entry `segment`"), "{refusal}");
    assert_eq!(riskbreaker::lab::until(&volley(), Some("action")), Ok(Vec::new()));
    assert_eq!(riskbreaker::lab::until(&volley(), None).unwrap(), [Arc::from("round")]);
}

#[test]
fn names_answer_only_questions_whose_options_are_these_entities() {
    // `Bob is hit, no dice` begins with a name, and `Bob is missed, no dice` means Bob: the referee's question is not
    // answered.
    let by = |names: &str| aimed(&["round"], OddsQuery { against: Some(names.into()), ..OddsQuery::default() });
    let named = by("Bob").unwrap();
    assert!(named.answers.iter().all(|one| &*one.topic != "ruling" || one.source == Source::Default), "{named:?}");
    assert_eq!(health_of(&named, "Bob"), after_arrows(4, &[of(1, 2)]));
    assert_eq!(health_of(&by("Cid").unwrap(), "Cid"), after_arrows(4, &[of(1, 2)]));
    for wrong in ["Ann", "Bob, Cid", "Dan", "hits", "all", "1"] {
        let refusal = by(wrong).unwrap_err().to_string();
        assert!(refusal.contains("`target` takes Bob, Cid"), "{wrong}: {refusal}");
    }
}

/// Two units of the contest game, 20 m apart, with final numbers: Aim 15 against Ranged Defense 12.
const TWO_UNITS: &str = r#"
title = "Two"
[[sides]]
name = "Heroes"
seat = "players"
units = ["longbowman at 20, 0"]
[[sides]]
name = "Foes"
seat = "foes"
units = ["soldier at 0, 0"]
"#;

#[test]
fn a_shot_that_is_declared_has_the_chances_of_the_end_of_its_round() {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap();
    let contest = Ruleset::load(&library, "contest").unwrap();
    let scenario = Scenario::read("two.toml", TWO_UNITS.as_bytes()).unwrap();
    let edit = |name: &str, field: &str, value: &str| (name.to_owned(), field.to_owned(), value.to_owned());
    let query = OddsQuery { until: riskbreaker::lab::until(&contest, None).unwrap(), ..OddsQuery::default() };
    let position = Position {
        setup: Setup { scenario, ..Setup::default() },
        card: "ranged_strike".into(),
        actor: Some("Longbowman".into()),
        edits: vec![edit("Longbowman", "stats", "aim 15"), edit("Soldier", "stats", "ranged_defense 12")],
        query: OddsQuery { against: Some("Soldier".into()), ..query.clone() },
        ..Position::default()
    };
    let (odds, _) = position.odds(&contest).unwrap();
    assert!(odds.is_exact(), "{odds:?}");
    // 3d12 and the difference: 22 and more wounds, 34 and more kills (the table of result bands, T1).
    let thrown = |least: i64| {
        let sums = (0..1728_i64).map(|at| 3 + at / 144 + at / 12 % 12 + at % 12);
        of(sums.filter(|sum| sum + 15 - 12 >= least).count() as u64, 1728)
    };
    assert_eq!(odds.hits(), [(Arc::from("Soldier"), thrown(22))]);
    let dead = |outcome: &Outcome| {
        outcome.effects.iter().any(|effect| matches!(effect, Effect::Changed { field, .. } if &**field == "dead"))
    };
    assert_eq!(odds.chance(dead), thrown(34));
    // A friend shoots at the same target in that round: only the own arrow counts as a hit, but the target is hurt more
    // often.
    let both = TWO_UNITS.replace("\"longbowman at 20, 0\"", "\"longbowman at 20, 0\", \"trainee_archer at 20, 4\"");
    let both = Position {
        setup: Setup { scenario: Scenario::read("both.toml", both.as_bytes()).unwrap(), ..Setup::default() },
        query: OddsQuery {
            answering: Answering::Policy("steady".into()),
            limits: Limits { ways: 2, samples: 300, ..Limits::default() },
            ..position.query.clone()
        },
        ..position.clone()
    };
    let (with_friend, _) = both.odds(&contest).unwrap();
    let hurt = |outcome: &Outcome| outcome.effects.iter().any(|effect| format!("{effect:?}").contains("Soldier"));
    let (low, high) = with_friend.interval(&with_friend.hits()[0].1);
    assert!(low <= dice::float(&thrown(22)) && dice::float(&thrown(22)) <= high, "{low} to {high}");
    let (_, own_most) = with_friend.interval(&with_friend.hits()[0].1);
    assert!(dice::float(&with_friend.chance(hurt)) > own_most, "the friend shoots as well: {with_friend:?}");
    // No outcome mentions the record of the roll, which is not shown at the table.
    let is_record = |effect: &Effect| matches!(effect, Effect::Came { kind, .. } if &**kind == "contest");
    assert!(!odds.outcomes.iter().any(|(outcome, _)| outcome.effects.iter().any(is_record)), "{odds:?}");
    // A policy answers for the other seat, and is named.
    let position = Position {
        query: OddsQuery { answering: Answering::Policy("steady".into()), ..position.query.clone() },
        ..position
    };
    let (both, _) = position.odds(&contest).unwrap();
    assert!(both.answers.iter().any(|one| one.source == Source::Policy("steady".into())), "{:?}", both.answers);
}

/// The chances of the results of `says` for elements drawn from a deck one by one and for those left, over all orders.
fn dealt_out(deck: &[i64], count: usize, says: &dyn Fn(&[i64], &[i64]) -> String) -> enumeration::Chances {
    fn draw(
        (taken, rest): (&mut Vec<i64>, &[i64]),
        (left, chance): (usize, &Fraction),
        says: &dyn Fn(&[i64], &[i64]) -> String,
        chances: &mut enumeration::Chances,
    ) {
        if left == 0 || rest.is_empty() {
            *chances.entry(says(taken, rest)).or_default() += chance;
            return;
        }
        let each = chance / Fraction::from(rest.len() as u64);
        for at in 0..rest.len() {
            let mut others = rest.to_vec();
            taken.push(others.remove(at));
            draw((taken, &others), (left - 1, &each), says, chances);
            taken.pop();
        }
    }
    let mut chances = enumeration::Chances::new();
    draw((&mut Vec::new(), deck), (count, &Fraction::ONE), says, &mut chances);
    chances
}

/// Equal elements share a branch, whatever a script does with the drawn list: iterates, sorts, reads its order or the
/// rest, or stops half-way.
#[test]
fn draws_of_several_elements_are_exact_and_keep_their_order() {
    let joined = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    let sorted = |list: &[i64]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        joined(&list)
    };
    let most = |list: &[i64]| {
        let times = |one: &i64| list.iter().filter(|other| *other == one).count();
        list.iter().map(times).max().unwrap_or_default().to_string()
    };
    let first_of = |list: &[i64]| list.first().map_or("none".into(), i64::to_string);
    let weighed = |list: &[i64]| list.iter().zip(1..).map(|(one, at)| one * at).sum::<i64>().to_string();
    let count =
        "local n, most = {}, 0 for _, x in hand do n[x] = (n[x] or 0) + 1 most = math.max(most, n[x]) end return most";
    let at_once = count.replace("hand", "rb.draw(deck, 4)");
    let assigned = format!("local hand hand = rb.draw(deck, 4) {count}");
    let kept = format!("local hand = rb.draw(deck, 4) {count}");
    let counted_rest = format!("local hand, rest = rb.draw(deck, 4) {count} .. \"/\" .. rest[1]");
    type Says<'s> = &'s dyn Fn(&[i64], &[i64]) -> String;
    let (even, mixed): (&[i64], &[i64]) = (&[1, 1, 1, 2, 2, 3, 3, 3], &[3, 1, 2, 1, 3, 2, 1]);
    let cases: [(&str, usize, &str, Says); 20] = [
        ("counted", 4, &at_once, &|hand, _| most(hand)),
        ("counted_later", 4, &kept, &|hand, _| most(hand)),
        ("counted_copy", 4, &assigned, &|hand, _| most(hand)),
        ("counted_and_left", 4, &counted_rest, &|hand, rest| format!("{}/{}", most(hand), first_of(rest))),
        ("in_order", 3, "return table.concat(rb.draw(deck, 3), \" \")", &|hand, _| joined(hand)),
        ("unpacked", 2, "local a, b = table.unpack((rb.draw(deck, 2))) return a - b", &|hand, _| {
            (hand[0] - hand[1]).to_string()
        }),
        (
            "left",
            2,
            "local hand, rest = rb.draw(deck, 2) return table.concat(hand, \" \") .. \"/\" .. table.concat(rest, \" \")",
            &|hand, rest| format!("{}/{}", joined(hand), joined(rest)),
        ),
        (
            "gone_through_and_left",
            2,
            "local hand, rest = rb.draw(deck, 2) local s = \"\" for _, x in hand do s ..= x end return s .. \"/\" .. table.concat(rest, \" \")",
            &|hand, rest| format!("{}/{}", joined(hand).replace(' ', ""), joined(rest)),
        ),
        ("sorted", 3, "local hand = rb.draw(deck, 3) table.sort(hand) return table.concat(hand, \" \")", &|hand, _| {
            sorted(hand)
        }),
        (
            "sorted_and_left",
            3,
            "local hand, rest = rb.draw(deck, 3) table.sort(hand) return table.concat(hand, \" \") .. \"/\" .. table.concat(rest, \" \")",
            &|hand, rest| format!("{}/{}", sorted(hand), joined(rest)),
        ),
        (
            "sorted_late",
            3,
            "local hand = rb.draw(deck, 3) local first = hand[1] table.sort(hand) return first .. \"/\" .. table.concat(hand, \" \")",
            &|hand, _| format!("{}/{}", hand[0], sorted(hand)),
        ),
        (
            "twice",
            3,
            "local hand = rb.draw(deck, 3) local a, b for _, x in hand do a = a or x end for _, x in hand do b = x end return a * 10 + b",
            &|hand, _| (hand[0] * 10 + hand[2]).to_string(),
        ),
        (
            "looked_at_later",
            3,
            "local hand = rb.draw(deck, 3) local sum = 0 for i, x in hand do sum += i * x end return sum .. \" \" .. hand[1]",
            &|hand, _| format!("{} {}", weighed(hand), hand[0]),
        ),
        ("by_place", 3, "local sum = 0 for i, x in rb.draw(deck, 3) do sum += i * x end return sum", &|hand, _| {
            weighed(hand)
        }),
        (
            "left_off",
            4,
            "local sum = 0 for _, x in rb.draw(deck, 4) do sum += x if sum > 4 then break end end return sum",
            &|hand, _| {
                let mut sum = 0;
                for one in hand {
                    sum += one;
                    if sum > 4 {
                        break;
                    }
                }
                sum.to_string()
            },
        ),
        ("how_many", 4, "local hand = rb.draw(deck, 4) return #hand", &|hand, _| hand.len().to_string()),
        (
            "all_of_it",
            99,
            "local hand, rest = rb.draw(deck, 99) local s = 0 for i, x in hand do if i < 3 then s = s * 10 + x end end return s .. #rest",
            &|hand, _| format!("{}0", hand[0] * 10 + hand[1]),
        ),
        (
            "alone",
            1,
            "local one, rest = rb.draw(deck) return one .. \"/\" .. table.concat(rest, \" \")",
            &|hand, rest| format!("{}/{}", hand[0], joined(rest)),
        ),
        ("one", 1, "local one = rb.draw(deck) return one", &|hand, _| hand[0].to_string()),
        (
            "one_by_one",
            3,
            "local s = 0 for _ = 1, 3 do local one one, deck = rb.draw(deck) s = s * 10 + one end return s",
            &|hand, _| joined(hand).replace(' ', ""),
        ),
    ];
    for (name, deck) in [("even", even), ("mixed", mixed)] {
        let text: Vec<String> = deck.iter().map(i64::to_string).collect();
        let body = |body: &str| format!("local deck = {{ {} }}\n{body}", text.join(", "));
        // The enumeration cannot handle all of a deck in every order: three places suffice.
        let counted = cases.iter().map(|(case, count, program, says)| {
            let found = dealt_out(deck, if *count == 99 { 2 } else { *count }, *says);
            (format!("{name}_{case}"), body(program), found)
        });
        let counted: Vec<(String, String, enumeration::Chances)> = counted.collect();
        let counted: Vec<(&str, &str, enumeration::Chances)> =
            counted.iter().map(|(name, body, chances)| (name.as_str(), body.as_str(), chances.clone())).collect();
        play_programs(&counted);
    }
}

/// A shuffled list is drawn to its end: roles of which several are equal, the first of a deck, and a search through it.
#[test]
fn a_shuffled_list_is_exact_where_equal_elements_can_be_merged() {
    let joined = |list: &[i64]| list.iter().map(i64::to_string).collect::<String>();
    let until_three = |list: &[i64]| list.iter().position(|one| *one == 3).unwrap().to_string();
    let top = |list: &[i64]| (list[0] * 10 + list[1]).to_string();
    let deck = [1, 2, 1, 3, 2, 1];
    let text = "local deck = { 1, 2, 1, 3, 2, 1 }";
    let order = format!("{text} return table.concat(rb.shuffle(deck))");
    let search =
        format!("{text} local n = 0 for _, x in rb.shuffle(deck) do if x == 3 then break end n += 1 end return n");
    let of_top = format!("{text} deck = rb.shuffle(deck) return deck[1] * 10 + deck[2]");
    play_programs(&[
        ("shuffled", &order, dealt_out(&deck, 6, &|list, _| joined(list))),
        ("searched", &search, dealt_out(&deck, 6, &|list, _| until_three(list))),
        ("top", &of_top, dealt_out(&deck, 6, &|list, _| top(list))),
    ]);
}

/// Hands of five and seven cards, compared with their counts by combinations; the full house comes from a deck of six
/// ranks.
#[test]
fn hands_of_a_whole_deck_are_exact() {
    let ways = |n: u64, k: u64| (1..=k).fold(1, |ways, at| ways * (n - k + at) / at);
    let deck = "local deck = {} for rank = 1, 6 do for _ = 1, 4 do table.insert(deck, rank) end end";
    let by_suit = "local deck = {} for suit = 1, 4 do for _ = 1, 13 do table.insert(deck, suit) end end";
    let house = format!(
        "{deck} local n = {{}} for _, r in rb.draw(deck, 5) do n[r] = (n[r] or 0) + 1 end
        local two, three = false, false for r = 1, 6 do two = two or n[r] == 2 three = three or n[r] == 3 end return two and three"
    );
    let of_ranks = "local deck = {} for card = 1, 52 do table.insert(deck, if card % 13 == 1 then 1 else 0) end";
    let aces = format!("{of_ranks} local n = 0 for _, r in rb.draw(deck, 7) do if r == 1 then n += 1 end end return n");
    let flush = format!(
        "{by_suit} local n = {{ 0, 0, 0, 0 }} for _, s in rb.draw(deck, 5) do n[s] += 1 end
        return n[1] == 5 or n[2] == 5 or n[3] == 5 or n[4] == 5"
    );
    let either = |chance: Fraction| {
        enumeration::Chances::from([("true".into(), chance.clone()), ("false".into(), Fraction::ONE - chance)])
    };
    let of_aces = (0..=4).map(|n| (n.to_string(), of(ways(4, n) * ways(48, 7 - n), ways(52, 7))));
    play_programs(&[
        ("house", &house, either(of(6 * ways(4, 3) * 5 * ways(4, 2), ways(24, 5)))),
        ("aces", &aces, of_aces.collect()),
        ("flush", &flush, either(of(4 * ways(13, 5), ways(52, 5)))),
    ]);
}
