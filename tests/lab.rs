//! Odds, simulation and advice through the front door, against numbers worked out by hand and by brute force.

use std::path::Path;
use std::sync::Arc;

use num_rational::BigRational;
use riskbreaker::{Answering, Effect, Given, Library, Moment, Odds, OddsQuery, Ruleset, Setup, Value};

fn library(folder: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

fn rules(id: &str) -> Arc<Ruleset> {
    let folder = if id.starts_with("riskbreaker") { "rulesets" } else { "tests/rulesets" };
    Ruleset::load(&library(folder), id).unwrap_or_else(|error| panic!("{error}"))
}

fn of(part: i64, whole: i64) -> BigRational {
    BigRational::new(part.into(), whole.into())
}

fn given(answers: &[(&str, Value)]) -> Vec<Given> {
    let one = |(topic, value): &(&str, Value)| Given { topic: topic.to_string(), about: None, value: value.clone() };
    answers.iter().map(one).collect()
}

fn moment(card: &str, answers: &[(&str, Value)]) -> Moment {
    Moment {
        card: card.into(),
        query: OddsQuery { given: given(answers), ..OddsQuery::default() },
        ..Moment::default()
    }
}

fn odds(rules: &Arc<Ruleset>, moment: &Moment) -> Odds {
    moment.odds(rules).unwrap_or_else(|refusal| panic!("{}: {refusal}", moment.card)).0
}

/// The chances of the values of a field, smallest first.
fn values(odds: &Odds, field: &str) -> Vec<(i64, BigRational)> {
    let found = odds.fields.iter().find(|found| &*found.field == field).expect("the field changes");
    let mut values: Vec<(i64, BigRational)> =
        found.to.iter().map(|(value, chance)| (value.as_int().unwrap(), chance.clone())).collect();
    values.sort();
    values
}

fn expected(odds: &Odds, field: &str) -> BigRational {
    odds.fields.iter().find(|found| &*found.field == field).unwrap().expected.clone().unwrap()
}

#[test]
fn a_pull_at_the_rope_has_the_odds_of_its_need() {
    let tug = rules("tug");
    let odds = odds(&tug, &Moment { actor: Some("Ann".into()), ..moment("pull", &[("risk", 2.into())]) });
    assert_eq!(values(&odds, "at"), [(-2, of(5, 10)), (2, of(5, 10))]);
    assert_eq!(expected(&odds, "at"), of(0, 1));
    assert!(odds.is_exact());
    let strong = Moment {
        actor: Some("Bob".into()),
        edits: vec![("Bob".into(), "strength".into(), "8".into()), ("rope".into(), "at".into(), "-1".into())],
        ..moment("pull", &[("risk", 3.into())])
    };
    let (odds, place) = strong.odds(&tug).unwrap();
    assert_eq!(values(&odds, "at"), [(-4, of(2, 10)), (2, of(8, 10))]);
    assert_eq!(place.actor.as_deref(), Some("Bob"));
    // Who pulls the rope to his end ends the game.
    let over = |text: &str| odds.chance(|outcome| outcome.effects.contains(&Effect::Over { text: text.into() }));
    assert_eq!((over("Bob has won"), over("Ann has won")), (of(2, 10), of(0, 1)));
}

#[test]
fn every_way_of_rolling_has_the_odds_of_what_the_script_sees() {
    let dicey = rules("dicey");
    let of_card = |card: &str| odds(&dicey, &moment(card, &[]));
    let five = of_card("five");
    let power = |base: i64, n: u32| base.pow(n);
    let binomial = [1, 5, 10, 10, 5, 1];
    let by_hand: Vec<(i64, BigRational)> = (0..=5_u32)
        .map(|k| (i64::from(k), of(binomial[k as usize] * power(3, k) * power(7, 5 - k), 100_000)))
        .collect();
    assert_eq!(values(&five, "gold"), by_hand);
    assert_eq!(five.courses, 32);
    assert_eq!(expected(&five, "gold"), of(3, 2));

    let bands = values(&of_card("bands"), "gold");
    let ways = [10, 74, 202, 792, 650];
    let by_hand: Vec<(i64, BigRational)> = (0..5).map(|band| (band, of(ways[band as usize], 1728))).collect();
    assert_eq!(bands, by_hand);

    let mut products = std::collections::BTreeMap::new();
    for (a, b, c) in (1..=6).flat_map(|a| (1..=6).flat_map(move |b| (1..=4).map(move |c| (a, b, c)))) {
        *products.entry(i64::from((a + b + 1) * c)).or_insert(0) += 1;
    }
    let by_hand: Vec<(i64, BigRational)> = products.into_iter().map(|(gold, ways)| (gold, of(ways, 144))).collect();
    assert_eq!(values(&of_card("totals"), "gold"), by_hand);

    let mut sixes = [0; 4];
    for roll in 0..1296 {
        let dice = [roll % 6, roll / 6 % 6, roll / 36 % 6, roll / 216];
        sixes[dice.iter().filter(|face| **face == 5).count().min(3)] += 1;
    }
    let by_hand: Vec<(i64, BigRational)> = (0..4).map(|n| (n as i64, of(sixes[n], 1296))).collect();
    assert_eq!(values(&of_card("count_sixes"), "gold"), by_hand);
}

#[test]
fn a_pool_too_large_for_orders_is_counted_by_what_it_shows_and_a_script_that_looks_at_the_order_is_refused() {
    let dicey = rules("dicey");
    let mut slow = moment("pool", &[]);
    slow.query.limits.time = std::time::Duration::from_secs(120);
    let pool = odds(&dicey, &slow);
    assert!(pool.is_exact());
    assert_eq!(values(&pool, "gold")[3], (3, of(20 * 27 * 343, 1_000_000)));
    let refusal = Moment { card: "first_of_pool".into(), ..slow }.odds(&dicey).unwrap_err();
    assert!(refusal.message.contains("order"), "{refusal}");
}

#[test]
fn rolls_made_again_and_again_are_left_with_their_remaining_chance() {
    let dicey = rules("dicey");
    let mut slow = moment("again", &[]);
    slow.query.limits.courses = 50_000;
    slow.query.limits.time = std::time::Duration::from_secs(120);
    let again = odds(&dicey, &slow);
    assert!(!again.is_exact() && again.remaining < of(1, 100_000), "{}", again.remaining);
    let sum: BigRational = again.outcomes.iter().map(|(_, chance)| chance).sum();
    assert_eq!(sum + &again.remaining, of(1, 1));
    let chances: Vec<_> = values(&again, "gold").into_iter().map(|(_, chance)| chance).collect();
    assert!(chances.iter().all(|chance| *chance == chances[0]), "{chances:?}");

    let seldom = odds(&dicey, &moment("again_seldom", &[]));
    assert!(seldom.remaining < of(1, 1_000_000_000_000) && !seldom.is_exact());
    assert_eq!(values(&seldom, "gold")[3], (3, of(1, 16)));
    let boom = odds(&dicey, &moment("exploding", &[]));
    assert_eq!(values(&boom, "gold")[5], (7, of(1, 36)));
    assert!(!boom.is_exact());
}

#[test]
fn too_many_courses_are_refused_with_a_word_on_simulation() {
    let mut moment = moment("far", &[]);
    moment.query.limits.courses = 5_000;
    let refusal = moment.odds(&rules("dicey")).unwrap_err();
    assert!(refusal.message.contains("5000 ways") && refusal.message.contains("sim"), "{refusal}");
}

#[test]
fn questions_on_the_way_are_answered_as_it_is_said() {
    let dicey = rules("dicey");
    let by = |answering: Answering, answers: &[(&str, Value)]| {
        let mut moment = moment("offer", answers);
        moment.query.answering = answering;
        moment.odds(&dicey).map(|(odds, _)| odds)
    };
    let default = by(Answering::Default, &[]).unwrap();
    assert_eq!(values(&default, "gold"), [(-1, of(3, 10)), (1, of(7, 10))]);
    assert_eq!(default.answers.len(), 2);
    let stated = by(Answering::Default, &[("stake", 3.into())]).unwrap();
    assert_eq!(values(&stated, "gold"), [(-1, of(5, 10)), (3, of(5, 10))]);
    // The player stakes for the most, the gm doubles where that costs the player: 2 stakes 4 then, of which 4 in 10 succeed.
    let best = by(Answering::Best, &[]).unwrap();
    let worth = |stake: i64| of(8 - stake, 10) * of(stake, 1) - of(2 + stake, 10);
    let most =
        (1..=4).map(|stake| worth(stake).min(if stake < 4 { worth(2 * stake) } else { of(-1, 1) })).max().unwrap();
    assert_eq!(expected(&best, "gold"), most);
    assert!(by(Answering::Given, &[("stake", 1.into())]).unwrap_err().message.contains("`double`"));
    let mixed = by(Answering::Policy("mixed".into()), &[]).unwrap();
    assert_eq!(values(&mixed, "gold"), [(-1, of(7, 20)), (1, of(7, 20)), (2, of(6, 20))]);
    assert!(by(Answering::Default, &[("stake", 5.into())]).unwrap_err().message.contains("0 to 4"));
    assert!(by(Answering::Default, &[("stoke", 5.into())]).unwrap_err().message.contains("nothing asks for `stoke`"));
}

#[test]
fn outcomes_are_named_by_what_changed_and_bookkeeping_is_left_out() {
    let dicey = rules("dicey");
    let trap = odds(&dicey, &moment("trap", &[]));
    let lines = trap.lines();
    assert!(lines.iter().any(|line| line.contains("Pit (trap) comes")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("tries")), "{lines:?}");
    let mut blind = moment("trap", &[]);
    blind.query.blind = Some(["gm".into()].into());
    let trap = odds(&dicey, &blind);
    assert!(trap.lines().iter().all(|line| !line.contains("secret")), "{:?}", trap.lines());
    let stop = odds(&dicey, &moment("stop", &[]));
    let mut lines: Vec<String> = stop.lines();
    lines.sort();
    assert_eq!(lines, ["cut short: tails", "over: heads"]);
    let refusal = moment("broken", &[]).odds(&dicey).unwrap_err();
    assert!(refusal.message.contains("the fuse is lit"), "{refusal}");
    assert!(moment("brokn", &[]).odds(&dicey).unwrap_err().message.contains("did you mean `broken`"));
}

#[test]
fn the_success_table_of_the_first_rules_comes_from_their_scripts() {
    let first = rules("riskbreaker-0.0.1");
    // RB1-072: under stat + 2 on one die of ten, from 20 % with stat 1 to 90 % with stat 8 and more.
    for (stat, tenths) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 9), (10, 9)] {
        let moment = Moment {
            setup: Setup::scenario("duel"),
            actor: Some("Fighter".into()),
            edits: ["muscle", "agility", "wit", "personality"]
                .map(|field| ("Fighter".into(), field.into(), stat.to_string()))
                .to_vec(),
            ..moment("advantage", &[("risk", 2.into())])
        };
        let odds = odds(&first, &moment);
        let found = odds.fields.iter().find(|field| &*field.field == "advantage").unwrap();
        let from = found.from.as_int().unwrap();
        let gained = found.to.iter().find(|(to, _)| to.as_int() == Some(from + 2)).unwrap();
        assert_eq!(gained.1, of(tenths, 10), "stat {stat}");
    }
}

#[test]
fn the_dice_of_the_odds_are_those_of_the_game() {
    // The same card played over and over: what the odds say comes up as often as they say.
    let tug = rules("tug");
    let odds = odds(&tug, &Moment { actor: Some("Ann".into()), ..moment("pull", &[("risk", 1.into())]) });
    let wins = values(&odds, "at")[0].1.clone();
    let mut seen = 0;
    for face in 1..=10 {
        let setup = Setup::default().dice(riskbreaker::DiceSource::Written(vec![face]));
        let mut session = riskbreaker::Session::start(&tug, setup).unwrap();
        let _ = session.advance().unwrap();
        let _ = session.reply(&[("card".into(), "pull".into()), ("risk".into(), 1.into())]).unwrap();
        let rope = session.view().find("rope").unwrap();
        seen += i64::from(session.view().field(rope, "at") == Some(&Value::Int(-1)));
    }
    assert_eq!(wins, of(seen, 10));
}
