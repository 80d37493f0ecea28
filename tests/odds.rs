//! Exact odds of hard cards against numbers that were counted without any script: every card of the ruleset `gambles` is
//! written down a second time here, as a plain program over all its rolls.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use riskbreaker::{
    Answering, Dice, Effect, Given, Library, Limits, Moment, Odds, OddsQuery, Outcome, Refusal, Ruleset, Value,
};

fn of(part: i64, whole: i64) -> BigRational {
    BigRational::new(part.into(), whole.into())
}

fn gambles() -> Arc<Ruleset> {
    static RULES: OnceLock<Arc<Ruleset>> = OnceLock::new();
    let load = || {
        let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets")).unwrap();
        Ruleset::load(&library, "gambles").unwrap_or_else(|error| panic!("{error}"))
    };
    RULES.get_or_init(load).clone()
}

fn asked(card: &str, answering: Answering, given: &[(&str, Value)]) -> Result<Odds, Refusal> {
    asked_within(card, 200_000, answering, given)
}

fn asked_within(card: &str, courses: u64, answering: Answering, given: &[(&str, Value)]) -> Result<Odds, Refusal> {
    let one = |(topic, value): &(&str, Value)| Given { topic: topic.to_string(), about: None, value: value.clone() };
    let given = given.iter().map(one).collect();
    let mut query = OddsQuery { given, answering, ..OddsQuery::default() };
    // A busy machine must not change what is told.
    query.limits = Limits { courses, time: std::time::Duration::from_secs(120) };
    let moment = Moment { card: card.into(), query, ..Moment::default() };
    moment.odds(&gambles()).map(|(odds, _)| odds)
}

fn odds(card: &str) -> Odds {
    asked(card, Answering::Default, &[]).unwrap_or_else(|refusal| panic!("{card}: {refusal}"))
}

/// What came of it, without what was said and attached.
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

/// Chances by what came of it.
#[derive(Debug, Default, PartialEq)]
struct Table(BTreeMap<String, BigRational>);

impl Table {
    fn of(odds: &Odds) -> Table {
        let mut table = Table::default();
        for (outcome, chance) in &odds.outcomes {
            table.add(chance.clone(), facts_of(outcome));
        }
        table
    }

    fn add(&mut self, chance: BigRational, facts: String) {
        *self.0.entry(facts).or_insert_with(BigRational::zero) += chance;
    }

    /// All chances out of their sum: what did not stand is rolled again.
    fn out_of_itself(mut self) -> Table {
        let sum: BigRational = self.0.values().sum();
        self.0.values_mut().for_each(|chance| *chance /= &sum);
        self
    }
}

/// The facts of changed numbers; what is 0 has not changed.
fn facts(numbers: &[(&str, i64)]) -> String {
    let mut facts: Vec<String> =
        numbers.iter().filter(|(_, n)| *n != 0).map(|(name, n)| format!("{name} {n}")).collect();
    facts.sort();
    facts.join("; ")
}

/// Goes through every roll of dice with so many sides, each as likely as any other.
fn every(sides: &[i64], mut each: impl FnMut(BigRational, &[i64])) {
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

/// Numbers that another program has counted: for each expression how many ways there are, and how many to each total.
#[test]
fn totals_of_dice_are_as_another_program_counts_them() {
    let text = include_str!("data/dice.json");
    // Large numbers are written as texts.
    let read: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    assert_eq!(read.len(), 15);
    for (dice, counted) in read {
        let number = |value: &serde_json::Value| value.as_str().unwrap().parse::<BigInt>().unwrap();
        let of = number(&counted["of"]);
        let ways = counted["ways"].as_object().unwrap();
        let ways: BTreeMap<i64, BigRational> = ways
            .iter()
            .map(|(total, ways)| (total.parse().unwrap(), BigRational::new(number(ways), of.clone())))
            .collect();
        let found: BTreeMap<i64, BigRational> = Dice::parse(&dice).unwrap().distribution().unwrap().iter().collect();
        assert_eq!(found, ways, "{dice}");
    }
}

#[test]
fn rolls_that_are_made_until_they_stand_are_closed_exactly() {
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

    // Each payment that succeeds, 4 in 6, is followed by 1, 3 or 5.
    let mut quaking = Table::default();
    let ways: Vec<(BigRational, i64, i64)> =
        std::iter::once((of(1, 3), 0, 0)).chain([1, 3, 5].map(|odd| (of(2, 9), 1, odd))).collect();
    for (chance, paid, hurt) in &ways {
        for (other, paid_too, hurt_too) in &ways {
            quaking.add(chance * other, facts(&[("Ann gold", paid + paid_too), ("Ann hurt", hurt + hurt_too)]));
        }
    }
    assert_counted("quaking", quaking);
}

#[test]
fn rolls_that_never_stand_or_do_more_than_roll_are_refused() {
    let refusal = asked("never", Answering::Default, &[]).unwrap_err();
    assert!(refusal.message.contains("rolls for ever"), "{refusal}");
    let refusal = asked("meddling", Answering::Default, &[]).unwrap_err();
    assert!(refusal.message.contains("the verb pay is not possible in rb.again, which may only roll"), "{refusal}");
}

#[test]
fn loops_by_hand_that_were_left_are_taken_to_go_on_as_they_did_and_that_is_said() {
    let odds = asked_within("ties_by_hand", 20_000, Answering::Default, &[]).unwrap();
    assert!(!odds.is_exact() && odds.remaining.is_zero() && odds.presumed <= of(1, 8), "{}", odds.presumed);
    let even = [("Ann gold 1".to_string(), of(1, 2)), ("Bea gold 1".to_string(), of(1, 2))];
    assert_eq!(Table::of(&odds).0, even.into());

    // Two faces that are rolled again; what was rolled before it, for the same, is no part of the loop.
    let odds = asked_within("low_again", 5_000, Answering::Default, &[]).unwrap();
    assert!(!odds.is_exact() && odds.remaining.is_zero() && odds.presumed <= of(1, 8), "{}", odds.presumed);
    let mut table = Table::default();
    every(&[6, 4], |chance, roll| table.add(chance, facts(&[("Ann gold", roll[0]), ("Bea gold", roll[1] + 2)])));
    assert_eq!(Table::of(&odds), table);
    // Six times at most is no loop without end, and counted to its end.
    let mut six = Table::default();
    every(&[6], |chance, roll| {
        let again = of(1, 3).pow(5);
        let last = if roll[0] > 2 { (BigRational::one() - &again) / of(4, 1) } else { BigRational::zero() };
        six.add(last + again * chance, facts(&[("Ann gold", roll[0])]));
    });
    assert_counted("six_times_at_most", six);
}

#[test]
fn loops_by_hand_that_change_something_are_left_with_what_remains() {
    let odds = asked_within("wins", 3_000, Answering::Default, &[]).unwrap();
    assert!(odds.presumed.is_zero() && !odds.remaining.is_zero(), "{}", odds.presumed);
    for (outcome, chance) in &odds.outcomes {
        let won = facts_of(outcome).strip_prefix("Ann gold ").map_or(0, |n| n.parse().unwrap());
        assert_eq!(*chance, of(2, 5) * of(3, 5).pow(won));
    }
}

#[test]
fn the_best_of_what_was_not_followed_to_its_end_is_a_guess() {
    let odds = asked_within("until_pleased", 5_000, Answering::Best, &[]).unwrap();
    assert!(odds.guessed && !odds.is_exact());
}

#[test]
fn what_goes_too_many_ways_is_refused_with_a_word_on_simulation() {
    let refusal = asked_within("ledger", 3_000, Answering::Default, &[]).unwrap_err();
    assert!(refusal.message.contains("3000 ways") && refusal.message.contains("`sim`"), "{refusal}");
}

#[test]
fn counts_in_a_loop_without_end_are_solved_where_it_goes_on_alike() {
    // Rounds by how many hits both have; of those in which nobody hits there are any number.
    let mut rounds: BTreeMap<(i64, i64), BigRational> = BTreeMap::from([((0, 0), BigRational::one())]);
    let mut table = Table::default();
    while let Some(((own, other), chance)) = rounds.pop_first() {
        if own == 4 || other == 4 {
            table.add(chance, facts(&[("Ann gold", own - other)]));
            continue;
        }
        // 3 in 6 hits for one, 2 in 6 for the other: with no hit, 12 in 36, the round is played again.
        for (more, others, part) in [(1, 1, of(6, 24)), (1, 0, of(12, 24)), (0, 1, of(6, 24))] {
            *rounds.entry((own + more, other + others)).or_insert_with(BigRational::zero) += &chance * part;
        }
    }
    let odds = asked_within("race", 25_000, Answering::Default, &[]).unwrap();
    assert_eq!(Table::of(&odds), table);
    assert!(!odds.is_exact() && odds.remaining.is_zero() && odds.borne_out.is_some_and(|courses| courses > 1_000));
}

#[test]
fn many_rolls_that_come_to_the_same_are_solved_where_it_goes_on_alike() {
    let mut sums: BTreeMap<i64, BigRational> = BTreeMap::from([(0, BigRational::one())]);
    for _ in 0..12 {
        let mut next = BTreeMap::new();
        for (sum, chance) in sums {
            for face in [0, 0, 0, 4, 5, 6] {
                *next.entry(sum + face).or_insert_with(BigRational::zero) += &chance * of(1, 6);
            }
        }
        sums = next;
    }
    let mut table = Table::default();
    for (sum, chance) in sums {
        table.add(chance, facts(&[("Ann gold", sum)]));
    }
    let odds = asked_within("many_dice", 60_000, Answering::Default, &[]).unwrap();
    assert_eq!(Table::of(&odds), table);
    assert!(!odds.is_exact() && odds.remaining.is_zero());
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
fn pools_are_counted_by_what_they_show() {
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
fn pools_against_pools_are_counted_by_what_each_shows() {
    let hits = |sides: &[i64], least: i64| {
        let mut chances: BTreeMap<i64, BigRational> = BTreeMap::new();
        every(sides, |chance, roll| {
            let count = roll.iter().filter(|face| **face >= least).count() as i64;
            *chances.entry(count).or_insert_with(BigRational::zero) += chance;
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
fn exploding_dice_of_which_only_success_is_seen_are_exact() {
    // One die: every face below 6 ends it, a 6 goes on. Two come to less than 9 in finitely many ways.
    let mut die: BTreeMap<i64, BigRational> = BTreeMap::new();
    for face in 1..=5 {
        die.insert(face, of(1, 6));
        die.insert(6 + face, of(1, 36));
    }
    let mut less = BigRational::zero();
    for (one, chance) in &die {
        for (other, too) in &die {
            if one + other < 9 {
                less += chance * too;
            }
        }
    }
    let mut boom = Table::default();
    boom.add(BigRational::one() - &less, facts(&[("Ann gold", 3)]));
    boom.add(less, facts(&[]));
    assert_counted("boom", boom);
}

#[test]
fn bands_of_dice_that_are_rerolled_are_exact() {
    let reached = |cuts: &[i64], total: i64| cuts.iter().filter(|cut| total >= **cut).count() as i64;
    let mut bands = Table::default();
    // Faces 2 to 6 as likely as each other; a 1 or 2 of eight is rolled again once and stands then.
    every(&[5, 5, 8, 8], |chance, roll| {
        let eight = if roll[2] < 3 { roll[3] } else { roll[2] };
        let band = reached(&[5, 7, 9, 11], roll[0] + roll[1] + 2);
        bands.add(chance, facts(&[("Ann gold", band), ("Bea hurt", reached(&[4, 8], eight + 1))]));
    });
    assert_counted("bands", bands);
}

#[test]
fn what_comes_later_is_an_outcome_with_its_time_and_what_it_is_given() {
    let mut later = Table::default();
    every(&[2, 3, 4], |chance, roll| {
        let what = format!("rockfall of Bea at {}.1 with by: {}", 10 + roll[0], roll[1]);
        later.add(chance, if roll[2] < 2 { String::new() } else { what });
    });
    assert_counted("later", later);
}

#[test]
fn what_comes_later_in_any_case_is_told() {
    let surely = odds("surely");
    assert_eq!(surely.lines(), ["rockfall of Bea at 9 with by: 2"]);
    // It goes with its owner, and so does what is attached to her.
    let odds = odds("farewell");
    let mut lines = odds.lines();
    lines.sort();
    assert_eq!(lines, ["Ann gold 0 -> 1 \u{b7} Bea (gambler) goes", "nothing changes"]);
}

#[test]
fn what_comes_into_being_and_goes_at_once_was_never_there() {
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
fn what_is_given_and_taken_again_is_no_change() {
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
    // A face of 1 or 2 is worth less than another throw.
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

/// What comes of a lunge with a stake, parried or not, pressed on or not: each with its chance.
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

/// What a table is worth to Ann: what Bea is hurt less what she is.
fn worth(table: &Table) -> BigRational {
    let number = |facts: &str| {
        let fact = |name: &str| {
            let found = facts.split("; ").find_map(|fact| fact.strip_prefix(name));
            found.map_or(0, |n| n.trim().parse::<i64>().unwrap())
        };
        of(fact("Bea hurt") - fact("Ann hurt"), 1)
    };
    table.0.iter().map(|(facts, chance)| number(facts) * chance).sum()
}

#[test]
fn questions_of_both_sides_are_answered_as_it_is_said() {
    let told = |answering: Answering, given: &[(&str, Value)]| asked("fence", answering, given).map(|o| Table::of(&o));
    assert_eq!(told(Answering::Default, &[]).unwrap(), fence(1, false, false));
    for stake in 1..=3 {
        for (parry, press) in [(false, false), (false, true), (true, false), (true, true)] {
            let given = [("stake", stake.into()), ("parry", parry.into()), ("press", press.into())];
            assert_eq!(told(Answering::Given, &given).unwrap(), fence(stake, parry, press));
        }
    }
    // Bea parries where that is worth less to Ann, Ann presses on and stakes for the most: neither knows the dice to come.
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
    assert!(told(Answering::Given, &[("stake", 2.into())]).unwrap_err().message.contains("`parry`"));

    // The policy that guesses: a stake of 1 to 3, yes once in four times.
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
fn what_comes_and_goes_within_an_action_is_no_outcome() {
    let odds = odds("comes_and_goes");
    let lines: Vec<(String, BigRational)> =
        odds.lines().into_iter().zip(odds.outcomes.iter().map(|(_, chance)| chance.clone())).collect();
    let rock = |key: &str| format!("rockfall of Bea at {key} with by: 1");
    let mail = format!("Bea gets mail ({}, wear: 2)", rock("30.1"));
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], (rock("20.1"), of(3, 4)));
    assert!(lines[1].1 == of(1, 4) && mail.starts_with(&lines[1].0), "{lines:?}");
}

/// What comes of drawing stones until `more` says no, given what is drawn and what is left.
fn drawn(sum: i64, left: &[i64], chance: BigRational, more: &dyn Fn(i64, &[i64]) -> bool, table: &mut Table) {
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

/// What the best of stopping and going on is worth to who draws.
fn best_of_drawing(sum: i64, left: &[i64]) -> BigRational {
    if sum > 7 { of(-3, 1) } else { of(sum, 1).max(worth_of_drawing_on(sum, left)) }
}

fn worth_of_drawing_on(sum: i64, left: &[i64]) -> BigRational {
    let each = (0..left.len()).map(|at| {
        let mut rest = left.to_vec();
        let weight = rest.remove(at);
        best_of_drawing(sum + weight, &rest)
    });
    each.sum::<BigRational>() / of(left.len() as i64, 1)
}

#[test]
fn draws_without_putting_back_are_counted_with_whoever_decides_on_the_next() {
    let stones = [1, 2, 2, 3, 4, 5];
    let counted = |more: &dyn Fn(i64, &[i64]) -> bool| {
        let mut table = Table::default();
        drawn(0, &stones, BigRational::one(), more, &mut table);
        table
    };
    let told = |answering: Answering, given: &[(&str, Value)]| Table::of(&asked("drawing", answering, given).unwrap());
    assert_eq!(told(Answering::Default, &[]), counted(&|sum, _| sum < 4));
    assert_eq!(told(Answering::Given, &[("more", true.into())]), counted(&|_, _| true));
    // `yes` is the first answer: it is taken where both are worth the same.
    assert_eq!(told(Answering::Best, &[]), counted(&|sum, left| worth_of_drawing_on(sum, left) >= of(sum, 1)));
}

#[test]
fn a_fault_on_the_way_is_told_with_the_dice_that_lead_to_it() {
    let refusal = asked("splinter", Answering::Default, &[]).unwrap_err();
    assert!(
        refusal.message.contains("fails on the way (swing 5, edge 4): gambles/maneuvers/splinter.luau:7"),
        "{refusal}"
    );
    assert!(refusal.message.contains("the blade breaks"), "{refusal}");
}
