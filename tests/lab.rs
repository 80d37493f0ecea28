//! Odds, simulation and advice through the front door, against numbers worked out by hand and by brute force.

#[path = "lab/catalogues.rs"]
mod catalogues;
#[path = "lab/hints.rs"]
mod hints;

use std::path::Path;
use std::sync::Arc;

use riskbreaker::dice::{self, Fraction, ratio as of};
use riskbreaker::lab::{
    AdviceLimits, CardUse, Effect, Findings, MemoUse, Odds, OddsQuery, Position, SessionExt as _, Shard, Simulation,
    Variant, compare_cards,
};
use riskbreaker::play::{Answering, Given};
use riskbreaker::{Driver, Edit, Happening, Library, Ruleset, Session, Setup, Value, Viewer, WorkBudget};

fn library(folder: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap()
}

fn rules(id: &str) -> Arc<Ruleset> {
    let folder = if id.starts_with("riskbreaker-0") { "rulesets" } else { "tests/rulesets" };
    Ruleset::load(&library(folder), id).unwrap_or_else(|error| panic!("{error}"))
}

fn given(answers: &[(&str, Value)]) -> Vec<Given> {
    let one = |(topic, value): &(&str, Value)| Given {
        topic: topic.to_string(),
        seat: None,
        about: None,
        value: value.clone(),
        once: false,
    };
    answers.iter().map(one).collect()
}

fn position(card: &str, answers: &[(&str, Value)]) -> Position {
    Position {
        card: card.into(),
        query: OddsQuery { given: given(answers), ..OddsQuery::default() },
        ..Position::default()
    }
}

fn odds(rules: &Arc<Ruleset>, position: &Position) -> Odds {
    position.odds(rules).unwrap_or_else(|refusal| panic!("{}: {refusal}", position.card)).0
}

/// The chances of the values of a field, smallest first.
fn values(odds: &Odds, field: &str) -> Vec<(i64, Fraction)> {
    let found = odds.fields.iter().find(|found| &*found.field == field).expect("the field changes");
    let mut values: Vec<(i64, Fraction)> =
        found.to.iter().map(|(value, chance)| (value.as_int().unwrap(), chance.clone())).collect();
    values.sort();
    values
}

fn expected(odds: &Odds, field: &str) -> Fraction {
    odds.fields.iter().find(|found| &*found.field == field).unwrap().expected.clone().unwrap()
}

#[test]
fn a_pull_at_the_rope_has_the_odds_of_its_need() {
    let tug = rules("tug");
    let odds = odds(&tug, &Position { actor: Some("Ann".into()), ..position("pull", &[("risk", 2.into())]) });
    assert_eq!(values(&odds, "at"), [(-2, of(5, 10)), (2, of(5, 10))]);
    assert_eq!(expected(&odds, "at"), of(0, 1));
    assert!(odds.is_exact());
    let strong = Position {
        actor: Some("Bob".into()),
        edits: vec![("Bob".into(), "strength".into(), "8".into()), ("rope".into(), "at".into(), "-1".into())],
        ..position("pull", &[("risk", 3.into())])
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
    let of_card = |card: &str| odds(&dicey, &position(card, &[]));
    let five = of_card("five");
    let power = |base: i64, n: u32| base.pow(n);
    let binomial = [1, 5, 10, 10, 5, 1];
    let by_hand: Vec<(i64, Fraction)> = (0..=5_u32)
        .map(|k| (i64::from(k), of(binomial[k as usize] * power(3, k) * power(7, 5 - k), 100_000)))
        .collect();
    assert_eq!(values(&five, "gold"), by_hand);
    assert!(five.is_exact() && five.ways <= 32, "{}", five.ways);
    assert_eq!(expected(&five, "gold"), of(3, 2));

    let bands = values(&of_card("bands"), "gold");
    let ways = [10, 74, 202, 792, 650];
    let by_hand: Vec<(i64, Fraction)> = (0..5).map(|band| (band, of(ways[band as usize], 1728))).collect();
    assert_eq!(bands, by_hand);

    let mut products = std::collections::BTreeMap::new();
    for (a, b, c) in (1..=6).flat_map(|a| (1..=6).flat_map(move |b| (1..=4).map(move |c| (a, b, c)))) {
        *products.entry(i64::from((a + b + 1) * c)).or_insert(0) += 1;
    }
    let by_hand: Vec<(i64, Fraction)> = products.into_iter().map(|(gold, ways)| (gold, of(ways, 144))).collect();
    assert_eq!(values(&of_card("totals"), "gold"), by_hand);

    let mut sixes = [0; 4];
    for roll in 0..1296 {
        let dice = [roll % 6, roll / 6 % 6, roll / 36 % 6, roll / 216];
        sixes[dice.iter().filter(|face| **face == 5).count().min(3)] += 1;
    }
    let by_hand: Vec<(i64, Fraction)> = (0..4).map(|n| (n as i64, of(sixes[n], 1296))).collect();
    assert_eq!(values(&of_card("count_sixes"), "gold"), by_hand);
}

#[test]
fn a_pool_is_counted_by_what_it_shows_and_too_many_orders_are_an_estimate() {
    let dicey = rules("dicey");
    let pool = odds(&dicey, &position("pool", &[]));
    assert!(pool.is_exact());
    assert_eq!(values(&pool, "gold")[3], (3, of(20 * 27 * 343, 1_000_000)));
    let first = odds(&dicey, &position("first_of_pool", &[]));
    assert!(!first.is_exact() && first.estimate.as_ref().unwrap().why.contains("6d10"), "{:?}", first.estimate);
    // Each interval holds in 99 of 100 cases: one of ten may miss.
    let missed = first.outcomes.iter().filter(|(_, chance)| {
        let (low, high) = first.interval(chance);
        !(low..high).contains(&0.1)
    });
    assert!(missed.count() <= 1);
    assert_eq!(first.outcomes.len(), 10);
}

#[test]
fn rolls_made_again_and_again_are_solved_or_say_what_remains() {
    let dicey = rules("dicey");
    let again = odds(&dicey, &position("again", &[]));
    assert!(again.is_exact());
    let chances: Vec<_> = values(&again, "gold").into_iter().map(|(_, chance)| chance).collect();
    assert_eq!(chances, vec![of(1, 4); 4]);

    let seldom = odds(&dicey, &position("again_seldom", &[]));
    assert!(!seldom.is_exact() && seldom.estimate.is_none() && seldom.remaining < of(1, 1_000_000_000_000_i64));
    assert_eq!(values(&seldom, "gold")[3], (3, of(1, 16)));
    let boom = odds(&dicey, &position("exploding", &[]));
    assert_eq!(values(&boom, "gold")[5], (7, of(1, 36)));
    assert!(!boom.is_exact());
}

#[test]
fn too_many_ways_are_an_estimate_that_says_so() {
    let mut position = position("far", &[]);
    position.query.limits.ways = 5_000;
    let far = odds(&rules("dicey"), &position);
    let estimate = far.estimate.as_ref().unwrap();
    assert!(estimate.why.contains("more paths than the 5000"), "{}", estimate.why);
    let sum = dice::sum(far.outcomes.iter().map(|(_, chance)| chance));
    assert_eq!(sum, of(1, 1));
}

#[test]
fn questions_on_the_way_are_answered_as_it_is_said() {
    let dicey = rules("dicey");
    let by = |answering: Answering, answers: &[(&str, Value)]| {
        let mut position = position("offer", answers);
        position.query.answering = answering;
        position.odds(&dicey).map(|(odds, _)| odds)
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
    assert!(by(Answering::Given, &[("stake", 1.into())]).unwrap_err().to_string().contains("`double`"));
    let mixed = by(Answering::Policy("mixed".into()), &[]).unwrap();
    assert_eq!(values(&mixed, "gold"), [(-1, of(7, 20)), (1, of(7, 20)), (2, of(6, 20))]);
    assert!(by(Answering::Default, &[("stake", 5.into())]).unwrap_err().to_string().contains("0 to 4"));
    assert!(
        by(Answering::Default, &[("stoke", 5.into())]).unwrap_err().to_string().contains("nothing asks for `stoke`")
    );
}

#[test]
fn outcomes_are_named_by_what_changed_and_bookkeeping_is_left_out() {
    let dicey = rules("dicey");
    let trap = odds(&dicey, &position("trap", &[]));
    let lines = trap.lines();
    assert!(lines.iter().any(|line| line.contains("Pit (trap) comes")), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("tries")), "{lines:?}");
    let mut blind = position("trap", &[]);
    blind.query.viewer = Some(Viewer::seat("player"));
    let trap = odds(&dicey, &blind);
    assert!(trap.lines().iter().all(|line| !line.contains("secret")), "{:?}", trap.lines());
    let stop = odds(&dicey, &position("stop", &[]));
    let mut lines: Vec<String> = stop.lines();
    lines.sort();
    assert_eq!(lines, ["cut short: tails", "over: heads"]);
    let refusal = position("broken", &[]).odds(&dicey).unwrap_err();
    assert!(refusal.to_string().contains("the fuse is lit"), "{refusal}");
    assert!(position("brokn", &[]).odds(&dicey).unwrap_err().to_string().contains("did you mean `broken`"));
}

#[test]
fn the_success_table_of_the_first_rules_comes_from_their_scripts() {
    let first = rules("riskbreaker-0.0.1");
    // RB1-072: under stat + 2 on one die of ten, from 20 % with stat 1 to 90 % with stat 8 and more.
    for (stat, tenths) in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 9), (10, 9)] {
        let position = Position {
            setup: Setup::scenario("duel"),
            actor: Some("Fighter".into()),
            edits: ["muscle", "agility", "wit", "personality"]
                .map(|field| ("Fighter".into(), field.into(), stat.to_string()))
                .to_vec(),
            ..position("advantage", &[("risk", 2.into())])
        };
        let odds = odds(&first, &position);
        let found = odds.fields.iter().find(|field| &*field.field == "advantage").unwrap();
        let from = found.from.as_int().unwrap();
        let gained = found.to.iter().find(|(to, _)| to.as_int() == Some(from + 2)).unwrap();
        assert_eq!(gained.1, of(tenths, 10), "stat {stat}");
    }
}

#[test]
fn at_the_table_odds_are_told_of_each_answer_and_by_another_house_rule() {
    let tug = rules("tug");
    let mut session = Session::start(&tug, Setup::default()).unwrap();
    let _ = session.advance().unwrap();
    let before = session.state_bytes();
    let question = session.questions()[0].id;
    let each = session.odds_of_each(question, None, None).unwrap();
    let told: Vec<(String, bool)> = each.iter().map(|(answer, odds)| (format!("{answer:?}"), odds.is_ok())).collect();
    assert_eq!(each.len(), 2, "{told:?}");
    assert_eq!(values(each[0].1.as_ref().unwrap(), "at"), [(-1, of(5, 10)), (1, of(5, 10))]);

    let query = OddsQuery { given: given(&[("card", "pull".into()), ("risk", 3.into())]), ..OddsQuery::default() };
    let over =
        |odds: &Odds| odds.chance(|outcome| outcome.effects.iter().any(|effect| matches!(effect, Effect::Over { .. })));
    assert_eq!(over(&session.odds_at(question, query.clone()).unwrap()), of(1, 1));
    assert_eq!(over(&session.odds_by(question, query.clone(), "wins_at", "4").unwrap()), of(0, 1));
    let refusal = session.odds_by(question, query, "wins_et", "3").unwrap_err();
    assert!(refusal.to_string().contains("did you mean `wins_at`"), "{refusal}");
    assert_eq!(session.state_bytes(), before);
}

#[test]
fn answers_on_the_way_lead_to_a_card() {
    let tug = rules("tug");
    let resting =
        Position { actor: Some("Bob".into()), way: vec![("card".into(), "rest".into())], ..position("pull", &[]) };
    let (_, place) = resting.odds(&tug).unwrap();
    let way: Vec<&str> = place.way.iter().map(|(_, _, answer)| answer.as_str()).collect();
    assert_eq!((place.actor.as_deref(), way), (Some("Bob"), vec!["Rest"]));
}

/// Degrees of an attack of 2d8 against a need of 2 to 18, in 64ths: failure, struggle, success, critical (RBF, the tables of
/// its degrees).
const TWO_EIGHTS: [[i64; 4]; 17] = [
    [1, 0, 20, 43],
    [1, 0, 27, 36],
    [1, 2, 33, 28],
    [1, 5, 37, 21],
    [1, 9, 39, 15],
    [1, 14, 39, 10],
    [1, 20, 37, 6],
    [3, 25, 33, 3],
    [6, 30, 27, 1],
    [10, 33, 20, 1],
    [15, 34, 14, 1],
    [21, 33, 9, 1],
    [28, 30, 5, 1],
    [36, 25, 2, 1],
    [43, 20, 0, 1],
    [49, 14, 0, 1],
    [54, 9, 0, 1],
];

/// The same with 3d8 of which the lower two count, in 512ths.
const LOWER_TWO_EIGHTS: [[i64; 4]; 17] = [
    [22, 0, 278, 212],
    [22, 0, 336, 154],
    [22, 39, 345, 106],
    [22, 91, 330, 69],
    [22, 151, 297, 42],
    [22, 215, 252, 23],
    [22, 278, 201, 11],
    [61, 297, 150, 4],
    [113, 293, 105, 1],
    [173, 270, 68, 1],
    [237, 233, 41, 1],
    [300, 189, 22, 1],
    [358, 143, 10, 1],
    [406, 102, 3, 1],
    [443, 68, 0, 1],
    [470, 41, 0, 1],
    [489, 22, 0, 1],
];

#[test]
fn the_degrees_of_an_attack_come_from_their_scripts() {
    let rbf = rules("rbf");
    for (prone, whole, table) in [("no", 64, TWO_EIGHTS), ("yes", 512, LOWER_TWO_EIGHTS)] {
        for (need, ways) in (2..).zip(table) {
            let edit = |field: &str, value: String| ("Axe Raider".to_string(), field.to_string(), value);
            // The gunner shoots with 3.
            let edits = vec![edit("defense_tn", (need + 3).to_string()), edit("prone", prone.into())];
            let mut attack = Position { actor: Some("Gunner".into()), edits, ..position("attack", &[]) };
            attack.query.against = Some("Axe Raider".into());
            let odds = odds(&rbf, &attack);
            for (degree, ways) in ["failure", "struggle", "success", "critical"].into_iter().zip(ways) {
                let said = format!("Gunner: {degree} by ");
                let chance = odds.chance(|outcome| {
                    outcome
                        .effects
                        .iter()
                        .any(|effect| matches!(effect, Effect::Said { text } if text.starts_with(&said)))
                });
                assert_eq!(chance, of(ways, whole), "need {need}, {degree}");
            }
        }
    }
}

/// What the better of two is ahead, how many contests he wins for one that he loses, and how many are drawn, as the rules
/// print it, rounded (CON, the aid to odds).
const CONTESTS: [(i64, f64, f64); 11] = [
    (0, 1.0, 0.65),
    (1, 1.4, 0.8),
    (2, 1.9, 0.9),
    (3, 2.7, 1.0),
    (4, 3.8, 1.3),
    (5, 5.4, 1.5),
    (6, 7.7, 1.7),
    (7, 11.0, 2.0),
    (8, 17.0, 2.4),
    (9, 27.0, 2.9),
    (10, 45.0, 3.7),
];

#[test]
fn the_odds_of_a_contest_come_from_their_scripts() {
    let contest = rules("contest");
    for (lead, won, drawn) in CONTESTS {
        let way = [("target", "Raider"), ("card", "melee")].map(|(topic, answer)| (topic.into(), answer.into()));
        // The knight strikes with 16, the raider stands against it with 5 more than his base.
        let edits = vec![("Raider".into(), "base".into(), (11 - lead).to_string())];
        let strike =
            Position { actor: Some("Knight".into()), way: way.to_vec(), edits, ..position("melee_strike", &[]) };
        let odds = odds(&contest, &strike);
        let mut of_result = [const { Vec::new() }; 3];
        for (outcome, chance) in &odds.outcomes {
            let said = outcome.effects.iter().find_map(|effect| match effect {
                Effect::Said { text } => text.strip_prefix(&format!("16 against {}: result ", 16 - lead)),
                _ => None,
            });
            let result: i64 = said.expect("the contest is told").parse().unwrap();
            of_result[(result.signum() + 1) as usize].push(chance.clone());
        }
        let [loses, draws, wins] = of_result.map(dice::sum);
        // By hand: the total of 3d12 and the lead, 18 to 21 a draw.
        let mut ways = [0; 3];
        for roll in 0..1728 {
            let total = 3 + roll % 12 + roll / 12 % 12 + roll / 144 + lead;
            ways[if total < 18 { 0 } else { 1 + usize::from(total > 21) }] += 1;
        }
        assert_eq!(
            [&loses, &draws, &wins],
            [&of(ways[0], 1728), &of(ways[1], 1728), &of(ways[2], 1728)],
            "lead {lead}"
        );
        let ratio = |chance: &Fraction| ways_of(chance) / ways_of(&loses);
        assert!((ratio(&wins) / won - 1.0).abs() < 0.04, "lead {lead}: {} to 1", ratio(&wins));
        assert!((ratio(&draws) / drawn - 1.0).abs() < 0.08, "lead {lead}: {} drawn", ratio(&draws));
    }
}

/// A chance in 1728ths.
fn ways_of(chance: &Fraction) -> f64 {
    let ways = chance * of(1728, 1);
    assert!(ways.is_int());
    ways.to_string().parse().unwrap()
}

#[test]
fn the_success_table_of_the_third_rules_comes_from_their_scripts() {
    let third = rules("riskbreaker-0.0.3");
    // RB3-049: 1 and 2 succeed always, 10 fails always, in between the stat or less on one die of ten.
    for (stat, tenths) in [(1, 2), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9), (10, 9)] {
        let edits = ["muscle", "agility", "wit", "personality"]
            .map(|field| ("Fighter".into(), field.into(), stat.to_string()))
            .to_vec();
        let gain =
            Position { actor: Some("Fighter".into()), edits, ..position("gain_advantage", &[("risk", 1.into())]) };
        let odds = odds(&third, &gain);
        let up = odds.chance(|outcome| {
            let gains = |effect: &Effect| matches!(effect, Effect::Changed { title, field, .. } if title.starts_with("Heroes") && &**field == "advantage");
            outcome.effects.iter().any(gains)
        });
        assert_eq!(up, of(tenths, 10), "stat {stat}");
    }
}

#[test]
fn the_dice_of_the_odds_are_those_of_the_game() {
    // The same card played over and over: what the odds say comes up as often as they say.
    let tug = rules("tug");
    let odds = odds(&tug, &Position { actor: Some("Ann".into()), ..position("pull", &[("risk", 1.into())]) });
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

fn simulation(rules: &Arc<Ruleset>, scenario: &str, trials: u64) -> Simulation {
    let policy = |name: &str| Driver::Policy(name.into());
    let setup = Setup::scenario(scenario);
    let setup = match rules.id() {
        "tug" => setup.seat("left", policy("hasty")).seat("right", policy("hasty")),
        _ => setup.seat("players", policy("bold")).seat("foes", policy("careful")),
    };
    let variant = Variant::new(rules.id(), rules, setup).unwrap();
    plan(variant, scenario, trials)
}

fn plan(variant: Variant, scenario: &str, trials: u64) -> Simulation {
    let (scenario, variants) = (scenario.into(), vec![variant]);
    Simulation { scenario, variants, trials, seed: 7, until: None, actions: 20_000, memo: MemoUse::default() }
}

fn run(simulation: &Simulation, threads: usize, shard: Option<Shard>) -> Findings {
    simulation.run(threads, shard, None, &mut |_, _| true).unwrap()
}

#[test]
fn the_findings_depend_neither_on_threads_nor_on_shards_nor_on_interruptions() {
    let tug = rules("tug");
    let whole = simulation(&tug, "two", 1_100);
    let one = run(&whole, 1, None);
    assert_eq!(one.tallies[0].trials, 1_100);
    assert_eq!(run(&whole, 2, None), one);
    let parts = (1..=3).map(|index| {
        let shard = Some(Shard { index, count: 3 });
        let part = run(&whole, 2, shard);
        (format!("part {index}"), Findings::read(&serde_json::to_string(&part).unwrap()).unwrap())
    });
    let mut parts: Vec<_> = parts.collect();
    parts.reverse();
    assert_eq!(Findings::merge(parts.clone()).unwrap(), one);
    assert!(Findings::merge(parts[1..].to_vec()).unwrap_err().to_string().contains("shard 3/3 is missing"));
    parts.push(parts[0].clone());
    assert!(Findings::merge(parts).unwrap_err().to_string().contains("both shard 3/3"));

    let interrupted = whole.run(2, None, None, &mut |findings, _| findings.blocks < 2).unwrap();
    assert!(!interrupted.complete && interrupted.blocks == 2);
    assert_eq!(whole.run(2, None, Some(interrupted), &mut |_, _| true).unwrap(), one);
}

#[test]
fn a_simulation_that_is_sure_enough_stops_at_the_same_game_on_any_number_of_threads() {
    let mut early = simulation(&rules("tug"), "two", 100_000);
    early.until = Some(0.03);
    let one = run(&early, 1, None);
    assert!(one.complete && one.tallies[0].trials < 2_000, "{}", one.tallies[0].trials);
    assert_eq!(run(&early, 2, None), one);
    let shard = Some(Shard { index: 1, count: 2 });
    assert!(early.run(1, shard, None, &mut |_, _| true).is_err());
}

#[test]
fn what_is_counted_is_what_the_games_come_to() {
    let tug = rules("tug");
    let plan = simulation(&tug, "two", 60);
    let tally = run(&plan, 1, None).tallies.remove(0);
    let mut results = std::collections::BTreeMap::new();
    let (mut actions, mut pulls) = (0, 0);
    for trial in 1..=60 {
        let mut game = plan.game(0, trial).unwrap();
        let step = game.advance().unwrap();
        assert!(matches!(step, riskbreaker::Step::Over(_)), "{step:?}");
        *results.entry(game.outcome().unwrap().to_string()).or_insert(0) += 1;
        actions += game.actions();
        pulls += game.log().iter().filter(|event| matches!(event.happening, Happening::Rolled { .. })).count() as u64;
    }
    assert_eq!((tally.outcomes, tally.actions), (results, actions));
    let used = tally.cards.values().map(|cards| cards["pull"]).fold(CardUse::default(), |sum, one| CardUse {
        used: sum.used + one.used,
        rolled: sum.rolled + one.rolled,
        met: sum.met + one.met,
    });
    assert_eq!((used.used, used.rolled), (pulls, pulls));
    assert!(used.met > 0 && used.met < used.rolled);
    // The rope hangs where it ended, on average.
    let games: u64 = tally.statistics["rope"].iter().map(|sum| sum.games).sum();
    assert_eq!(games, 60);
}

#[test]
fn rounds_are_counted_whoever_sits_there() {
    // Neither runs on inside the script machine: they have ties to settle and free acts. The last segment ends the game
    // before it is written down.
    for (id, kind, field, last) in [("rbf", "combat", "round", 0), ("silent-winter", "clock", "segment", 6)] {
        let rules = rules(id);
        let variant = Variant::new(id, &rules, Setup::default()).unwrap();
        let plan = Simulation { seed: 3, ..plan(variant, rules.default_scenario().unwrap(), 6) };
        let tally = run(&plan, 1, None).tallies.remove(0);
        let mut rounds = 0;
        for trial in 1..=6 {
            let mut game = plan.game(0, trial).unwrap();
            let _ = game.advance().unwrap();
            let view = game.view();
            let clock = view.find(kind).unwrap();
            rounds += view.field(clock, field).and_then(Value::as_int).unwrap();
        }
        let counted: i64 = tally.rounds.iter().map(|(rounds, games)| i64::from(*rounds) * *games as i64).sum();
        assert!(rounds > 6, "{id}");
        assert_eq!(counted, rounds + last, "{id}");
    }
}

#[test]
fn rules_that_are_compared_meet_the_same_dice() {
    let tug = rules("tug");
    let mut plan = simulation(&tug, "two", 300);
    plan.variants.push(plan.variants[0].clone());
    let same = run(&plan, 2, None);
    assert_eq!(same.tallies[0], same.tallies[1]);
    assert!(same.pairs[0].iter().all(|(first, results)| results.keys().all(|result| result == first)));
    plan.variants[1].setup = plan.variants[1].setup.clone().switch("wins_at", 6);
    let other = run(&plan, 2, None);
    assert!(other.tallies[0].actions < other.tallies[1].actions);
}

#[test]
fn games_that_fail_or_never_end_are_left_out_and_told() {
    let dicey = rules("dicey");
    let variant = Variant::new("dicey", &dicey, Setup::default()).unwrap();
    // The first card that is possible is `again`; nothing ends this game.
    let mut plan = Simulation { seed: 1, actions: 50, ..plan(variant, "one", 3) };
    let found = run(&plan, 2, None);
    assert_eq!(found.tallies[0].trials, 0);
    assert_eq!(found.tallies[0].left_out.len(), 3);
    assert_eq!(found.tallies[0].left_out[2].trial, 3);
    assert!(!found.gave_up_on(0));
    // None of the first games has ended: the others are not played, whatever the number of threads.
    plan.trials = 100_000;
    let found = run(&plan, 1, None);
    assert_eq!((found.tallies[0].left_out.len(), found.gave_up_on(0), found.complete), (25, true, true));
    assert_eq!(run(&plan, 2, None), found);
    plan.trials = 0;
    assert!(plan.run(1, None, None, &mut |_, _| true).unwrap_err().to_string().contains("zero trials"));
}

#[test]
fn parts_of_different_splits_are_merged_and_missing_trials_are_named() {
    let whole = simulation(&rules("tug"), "two", 1_100);
    let part = |index, count| (format!("{index}/{count}"), run(&whole, 2, Some(Shard { index, count })));
    // The trials of 2/2 are those of 2/4 and 4/4.
    let parts = vec![part(1, 2), part(4, 4), part(2, 4)];
    assert_eq!(Findings::merge(parts.clone()).unwrap(), run(&whole, 1, None));
    let refused = |parts: &[(String, Findings)]| Findings::merge(parts.to_vec()).unwrap_err().to_string();
    let twice = refused(&[part(1, 2), part(3, 4)]);
    assert!(twice.contains("3/4 holds trials 501 to 750, and so does a part before it"), "{twice}");
    let missing = refused(&parts[..2]);
    assert!(missing.contains("trials 251 to 500 are missing"), "{missing}");

    let (known, trials) = Findings::merge_known(parts[1..].to_vec()).unwrap();
    assert!(!known.complete && trials.as_deref() == Some("1 to 250, 501 to 750, 1001 to 1100"), "{trials:?}");
    assert_eq!(known.tallies[0].trials, 500);
    let interrupted = whole.run(2, Some(Shard { index: 1, count: 2 }), None, &mut |findings, _| findings.blocks < 2);
    let interrupted = vec![("half".to_owned(), interrupted.unwrap()), part(2, 2)];
    assert!(refused(&interrupted).contains("half was interrupted"));
    assert_eq!(Findings::merge_known(interrupted).unwrap().1.as_deref(), Some("1001 to 1100"));
    assert_eq!(Findings::merge_known(parts).unwrap().1, None);
}

#[test]
fn a_shard_gives_up_where_the_whole_does() {
    let kinds = "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({})";
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function() rb.schedule("flip", 1) end,
            entries = {
                flip = function()
                    if rb.roll("1d10", "luck") > 1 then error("no luck") end
                    rb.finish("heads")
                end,
            },
        })
    "#;
    let manifest = "id = \"coin\"\ntitle = \"C\"\nversion = \"1\"\n";
    let files = [("coin/ruleset.toml", manifest), ("coin/kinds.luau", kinds), ("coin/play.luau", play)];
    let rules = Ruleset::load(&Library::from_files(files), "coin").unwrap();
    // With seed 2 all of the first 25 games of the second shard fail, with seed 14 those of the first shard, and so of the whole.
    for (seed, gives_up) in [(2, false), (14, true)] {
        let variant = Variant::new("one", &rules, Setup::table(Value::map::<&str>([]))).unwrap();
        let plan = Simulation { seed, ..plan(variant, "coin", 500) };
        let whole = run(&plan, 1, None);
        assert_eq!(whole.gave_up_on(0), gives_up);
        let part = |index| (format!("part {index}"), run(&plan, 2, Some(Shard { index, count: 2 })));
        assert_eq!(Findings::merge(vec![part(1), part(2)]).unwrap(), whole);
    }
}

#[test]
fn fights_of_the_first_rules_are_counted_with_their_rounds_and_numbers() {
    let plan = simulation(&rules("riskbreaker-0.0.1"), "duel", 250);
    let one = run(&plan, 1, None);
    assert_eq!(run(&plan, 2, None), one);
    let tally = &one.tallies[0];
    assert_eq!((tally.trials, tally.left_out.as_slice()), (250, &[][..]));
    assert!(tally.results.keys().all(|result| ["Challenger", "Defender", "nobody"].contains(&result.as_str())));
    assert_eq!(tally.rounds.values().sum::<u64>(), 250);
    assert!(tally.statistics.contains_key("Advantage") && tally.cards["players"].contains_key("kill_damage"));
}

#[test]
fn advice_ranks_the_answers_by_what_they_are_worth_and_changes_nothing() {
    let tug = rules("tug");
    let mut session = Session::start(&tug, Setup::default().seed(3)).unwrap();
    let _ = session.advance().unwrap();
    let ann = session.view().find("ann").unwrap();
    session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 8.into() }).unwrap();
    let _ = session.advance().unwrap();
    let before = (session.state_bytes(), session.log(), session.questions().to_vec());
    let question = session.questions()[0].id;
    let advised = session.advise(question, AdviceLimits::within(std::time::Duration::from_secs(20)), None).unwrap();
    let advice = &advised.answers;
    assert_eq!((session.state_bytes(), session.log(), session.questions().to_vec()), before);
    // Under 9: to pull by 3 is worth 8/10 * 3 - 2/10 * 3.
    assert_eq!(advice[0].text, "Pull");
    assert_eq!(advice[0].worth, Some(of(9, 5)));
    assert_eq!(advice[1].worth, Some(of(0, 1)));
    let odds = advice[0].odds.as_ref().unwrap();
    assert!(odds.answers.iter().any(|one| &*one.topic == "risk" && one.answer == "3"), "{:?}", odds.answers);
    let (rate, margin) = advice[0].played.unwrap().win_rate().unwrap();
    assert!((0.0..=1.0).contains(&rate) && margin > 0.0 && margin < 0.5, "{rate} {margin}");
    // The policy's own answer is one of the two: how things stand now lies between them, as far as that is known.
    let (now, off) = advised.now.unwrap().win_rate().unwrap();
    assert!(now <= rate + margin + off, "{now} {rate}");
}

#[test]
fn who_looks_ahead_wins_more_often() {
    let tug = rules("tug");
    let seats = |left: &str| {
        let setup =
            Setup::default().seat("left", Driver::Policy(left.into())).seat("right", Driver::Policy("hasty".into()));
        let setup = setup.switch("wins_at", 8);
        let mut plan = simulation(&tug, "two", 40);
        plan.variants = vec![Variant::new("tug", &tug, setup).unwrap()];
        plan
    };
    let found = run(&seats("ahead"), 2, None);
    assert_eq!(found.tallies[0].trials, 40);
    assert_eq!(run(&seats("ahead"), 1, None), found);
}

#[test]
fn who_looks_ahead_knows_no_more_than_its_seat() {
    let manifest = r#"
        id = "guess"
        title = "G"
        version = "1"
        [switches.mode]
        values = ["sealed", "drawn", "held"]
        text = "What is to be guessed."
        [seats]
        left = "Left"
        right = "Right"
    "#;
    let kinds = r#"
        local rb = require("@riskbreaker")
        return rb.kinds({ box = { fields = { score = rb.int(), held = rb.int({ audience = "left" }) } } })
    "#;
    let policy = r#"
        local rb = require("@riskbreaker")
        return rb.policy({ id = "any", answer = function(q) return rb.pick(q, 6) end })
    "#;
    let play = r#"
        local rb = require("@riskbreaker")
        local function number(seat)
            return { ask = "number", seat = seat, topic = seat, min = 1, max = 6, default = 1 } :: any
        end
        return rb.play({
            start = function()
                rb.spawn("box", {})
                rb.schedule("hide", 1)
            end,
            entries = {
                hide = function()
                    if rb.switches.mode == "held" then
                        rb.first("box"):set("held", rb.roll({ "1d6", audience = "left" }, "hidden"))
                    end
                    rb.schedule("guess", 2)
                end,
                guess = function()
                    local box = rb.first("box")
                    local hidden, guess = box.held, 0
                    if rb.switches.mode == "sealed" then
                        local answers = rb.all({ number("left"), number("right") })
                        hidden, guess = answers[1], answers[2]
                    else
                        if rb.switches.mode == "drawn" then
                            hidden = rb.draw({ 1, 2, 3, 4, 5, 6 })
                        end
                        guess = rb.number(number("right"))
                    end
                    box:set("score", if hidden == guess then 1 else 0)
                    rb.schedule("over", 3)
                end,
                over = function()
                    rb.finish(if rb.first("box").score == 1 then "right" else "wrong")
                end,
            },
            deal = function()
                rb.first("box"):set("held", rb.roll("1d6", "anything"))
            end,
            value = function(seat)
                return if seat == "right" then rb.first("box").score else nil
            end,
        })
    "#;
    let files = [
        ("guess/ruleset.toml", manifest),
        ("guess/kinds.luau", kinds),
        ("guess/play.luau", play),
        ("guess/policies/any.luau", policy),
    ];
    let rules = Ruleset::load(&Library::from_files(files), "guess").unwrap();
    for mode in ["sealed", "drawn", "held"] {
        let setup = Setup::table(Value::map::<&str>([])).switch("mode", Value::text(mode));
        let setup = setup.seat("left", Driver::Policy("any".into())).seat("right", Driver::Policy("ahead".into()));
        let mut plan = plan(Variant::new(mode, &rules, setup).unwrap(), "guess", 60);
        let tally = run(&plan, 1, None).tallies.remove(0);
        let right = tally.results.get("right").copied().unwrap_or_default();
        assert!(tally.trials == 60 && right < 30, "{mode}: {right} of {}", tally.trials);
        // The same game is told.
        plan.trials = 1;
        let told = plan.replay(0, 1, &mut |_| {}).unwrap().unwrap();
        assert_eq!(run(&plan, 1, None).tallies[0].outcomes, [(told, 1)].into(), "{mode}");
    }
}

/// The files of a ruleset of the tests, for a copy in memory.
fn files_of(id: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets");
    let mut found = Vec::new();
    let mut open = vec![root.join(id)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn an_edit_to_a_card_shows_in_its_odds_and_in_no_other_card() {
    let edited = files_of("tug").into_iter().map(|(path, text)| {
        let text =
            if path.ends_with("pull.luau") { text.replace("ctx.actor:need()", "ctx.actor:need() - 2") } else { text };
        (path, text)
    });
    let now = Ruleset::load(&Library::from_files(edited), "tug").unwrap_or_else(|error| panic!("{error}"));
    let variant = |rules: &Arc<Ruleset>| Variant::new("tug", rules, Setup::default()).unwrap();
    let cards = compare_cards(&variant(&rules("tug")), &variant(&now), &WorkBudget::unlimited()).unwrap().cards;
    let changed: Vec<&str> = cards.iter().filter(|card| card.differs()).map(|card| &*card.card).collect();
    assert_eq!((cards.len(), changed), (2, vec!["pull"]));
    let chances = |odds: &Odds| values(odds, "at").into_iter().map(|(_, chance)| chance).collect::<Vec<_>>();
    assert_eq!(chances(cards[0].before.as_ref().unwrap()), [of(5, 10), of(5, 10)]);
    assert_eq!(chances(cards[0].now.as_ref().unwrap()), [of(3, 10), of(7, 10)]);
}

#[test]
fn a_card_that_comes_to_the_same_by_more_ways_does_not_differ() {
    let idle = "rb.under(\"1d6\", 3, \"idle\")\n\t\tlocal won";
    let edited = files_of("tug").into_iter().map(|(path, text)| {
        let text = if path.ends_with("pull.luau") { text.replace("local won", idle) } else { text };
        (path, text)
    });
    let now = Ruleset::load(&Library::from_files(edited), "tug").unwrap_or_else(|error| panic!("{error}"));
    let variant = |rules: &Arc<Ruleset>| Variant::new("tug", rules, Setup::default()).unwrap();
    let cards = compare_cards(&variant(&rules("tug")), &variant(&now), &WorkBudget::unlimited()).unwrap().cards;
    let pull = cards.iter().find(|card| &*card.card == "pull").unwrap();
    let (before, after) = (pull.before.as_ref().unwrap(), pull.now.as_ref().unwrap());
    assert!(before.points < after.points && !pull.differs(), "{pull:?}");
}

#[test]
fn a_card_that_fails_or_runs_away_in_some_games_costs_only_those() {
    let trap = "resolve = function(ctx)\n\t\tlocal luck = rb.roll(\"1d40\", \"luck\")\n\t\t\
                if luck == 1 then error(\"a splinter\") end\n\t\twhile luck == 2 do luck = 2 end\n";
    let edited = files_of("tug").into_iter().map(|(path, text)| {
        let text = if path == "tug/maneuvers/pull.luau" {
            assert!(text.contains("resolve = function(ctx)\n"));
            text.replace("resolve = function(ctx)\n", trap)
        } else {
            text
        };
        (path, text)
    });
    let broken = Ruleset::load(&Library::from_files(edited), "tug").unwrap_or_else(|error| panic!("{error}"));
    let plan = simulation(&broken, "two", 40);
    let found = run(&plan, 2, None);
    let tally = &found.tallies[0];
    assert_eq!(tally.trials + tally.left_out.len() as u64, 40);
    let why = |part: &str| tally.left_out.iter().filter(|out| out.why.contains(part)).count();
    assert!(why("a splinter") > 0 && why("pull.luau") == tally.left_out.len(), "{:?}", tally.left_out);
    assert!(tally.left_out.len() > why("a splinter") && tally.trials > 0, "{:?}", tally.left_out);
    // Which limit ends a loop first, work or time, is the machine's: the place is the same.
    let places = |mut found: Findings| {
        for out in &mut found.tallies[0].left_out {
            out.why.truncate(out.why.find(" the script ").unwrap_or(out.why.len()));
        }
        found
    };
    assert_eq!(places(run(&plan, 1, None)), places(found.clone()));
    // The trial plays it again, up to the same fault.
    let out = tally.left_out.iter().find(|out| out.why.contains("a splinter")).unwrap();
    assert_eq!(plan.replay(0, out.trial, &mut |_| {}).unwrap(), Err(out.clone()));
}

#[test]
fn a_trial_is_played_again_as_it_was_whoever_sits_at_the_table() {
    let tug = rules("tug");
    let mut plan = simulation(&tug, "two", 1);
    plan.actions = 2;
    let mut told = Vec::new();
    let ended = plan.replay(0, 1, &mut |event| told.push(event)).unwrap();
    let out = ended.unwrap_err();
    assert_eq!((out.trial, &*out.why), (1, "it has not ended after 2 actions"));
    assert_eq!(run(&plan, 1, None).tallies[0].left_out[0], out);
    assert!(!told.is_empty());
    // Somebody who looks ahead does so again.
    let setup = Setup::scenario("two").seat("left", Driver::Policy("ahead".into()));
    plan.variants = vec![Variant::new("tug", &tug, setup).unwrap()];
    plan.actions = 2_000;
    let ended = plan.replay(0, 1, &mut |_| {}).unwrap().unwrap();
    assert_eq!(run(&plan, 1, None).tallies[0].outcomes, [(ended, 1)].into());
}

#[test]
fn a_trial_that_tells_very_much_ends_as_it_does_in_the_simulation() {
    let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ clock = { fields = { at = rb.int() } } })"#;
    // The lines come to 70 MB, more than a game may keep of what nobody decided.
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function()
                rb.spawn("clock", {})
                rb.recur("turn", { 1 }, { 1 })
            end,
            entries = {
                turn = function()
                    for _ = 1, 100 do
                        rb.say(string.rep("x", 2_000))
                    end
                    if rb.first("clock"):add("at", 1) == 350 then
                        rb.finish("told")
                    end
                end,
            },
        })
    "#;
    let manifest = "id = \"talk\"\ntitle = \"T\"\nversion = \"1\"\n";
    let files = [("talk/ruleset.toml", manifest), ("talk/kinds.luau", kinds), ("talk/play.luau", play)];
    let rules = Ruleset::load(&Library::from_files(files), "talk").unwrap();
    let plan = plan(Variant::new("one", &rules, Setup::table(Value::map::<&str>([]))).unwrap(), "talk", 1);
    let mut bytes = 0;
    let told = plan.replay(0, 1, &mut |event| bytes += event.happening.line().len()).unwrap();
    assert_eq!(told.as_deref(), Ok("told"));
    assert!(bytes > 64 << 20, "{bytes}");
    assert_eq!(run(&plan, 1, None).tallies[0].outcomes, [("told".to_owned(), 1)].into());
}

#[test]
fn a_trial_tells_its_end_once_also_where_nothing_is_left_to_do() {
    let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ clock = { fields = { at = rb.int() } } })"#;
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function() rb.schedule("turn", 1, rb.spawn("clock", {})) end,
            entries = {
                turn = function(clock)
                    clock:set("at", rb.roll("1d6"))
                end,
            },
        })
    "#;
    let finishes = play.replace("clock:set(\"at\", rb.roll(\"1d6\"))", "rb.finish(\"over\")");
    let manifest = "id = \"once\"\ntitle = \"O\"\nversion = \"1\"\n";
    for (play, end, n) in [(play, "nothing is left to do", 2), (finishes.as_str(), "over", 0)] {
        let files = [("once/ruleset.toml", manifest), ("once/kinds.luau", kinds), ("once/play.luau", play)];
        let rules = Ruleset::load(&Library::from_files(files), "once").unwrap();
        let plan = plan(Variant::new("one", &rules, Setup::table(Value::map::<&str>([]))).unwrap(), "once", 1);
        let mut told = Vec::new();
        assert_eq!(plan.replay(0, 1, &mut |event| told.push(event)).unwrap().as_deref(), Ok(end));
        let over = Happening::Over { text: end.into() };
        let last = told.iter().filter(|event| event.happening == over).collect::<Vec<_>>();
        assert_eq!(last, told.last().into_iter().collect::<Vec<_>>(), "{told:?}");
        assert_eq!((last[0].action, last[0].n), (2, n), "{told:?}");
    }
}

#[test]
fn damaged_findings_are_refused_with_what_cannot_be() {
    let found = run(&simulation(&rules("tug"), "two", 20), 1, Some(Shard { index: 1, count: 2 }));
    let whole = serde_json::to_value(&found).unwrap();
    let damaged = |pointer: &str, value: serde_json::Value| {
        let mut whole = whole.clone();
        *whole.pointer_mut(pointer).unwrap() = value;
        Findings::read(&whole.to_string()).unwrap_err().to_string()
    };
    let none = serde_json::json!([]);
    assert!(damaged("/tallies", none.clone()).contains("one tally for each"));
    assert!(damaged("/plan/variants", none).contains("one tally for each"));
    assert!(damaged("/tallies/0/trials", 21.into()).contains("are 21 games together, and 20 were played"));
    let cards = whole["tallies"][0]["cards"]["left"].as_object().unwrap();
    let (card, uses) = cards.iter().find(|(_, uses)| uses["rolled"] != 0).unwrap();
    let rolled = damaged(&format!("/tallies/0/cards/left/{card}/met"), 1_000_000.into());
    let wanted = format!("`tallies[0].cards.left.{card}.met` is 1000000, and can be {} at most", uses["rolled"]);
    assert!(rolled.contains(&wanted), "{rolled}");
    assert!(damaged("/tallies/0/actions", 400_001.into()).contains("`tallies[0].actions` is 400001"));
    assert!(damaged("/plan/until", 1.5.into()).contains("`plan.until`"));
    assert!(damaged("/blocks", u64::MAX.into()).contains("`blocks` is 18446744073709551615, and can be 1 at most"));
    assert!(damaged("/shard/index", 3.into()).contains("no such shard"));
    // One of very many shards is no reason to count the others one by one.
    let mut one = found;
    one.shard = Some(Shard { index: 1, count: u64::MAX });
    let refused = Findings::merge(vec![("one".into(), one)]).unwrap_err().to_string();
    assert!(refused.starts_with("shard 2/") && refused.ends_with("more is missing"), "{refused}");
}

/// The places of all numbers of a JSON value.
fn numbers(at: &str, value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Number(_) => found.push(at.to_owned()),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| numbers(&format!("{at}/{n}"), item, found));
        }
        serde_json::Value::Object(items) => items.iter().for_each(|(key, item)| {
            numbers(&format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), item, found);
        }),
        _ => {}
    }
}

/// Whatever number of the findings is changed: it is refused with the name of its field, or it is one that there could be.
#[test]
fn no_impossible_count_is_merged() {
    let mut plan = simulation(&rules("tug"), "two", 300);
    plan.variants.push(plan.variants[0].clone());
    plan.variants[1].setup = plan.variants[1].setup.clone().switch("wins_at", 6);
    // Long games are left out.
    let all = run(&plan, 2, None);
    plan.actions = all.tallies[0].actions / all.tallies[0].trials;
    let shard = |index| Some(Shard { index, count: 2 });
    let (one, two) = (run(&plan, 2, shard(1)), run(&plan, 2, shard(2)));
    assert!(one.tallies.iter().all(|tally| tally.trials > 0 && !tally.left_out.is_empty()), "{one:?}");
    let merged = Findings::merge(vec![("one".into(), one.clone()), ("two".into(), two.clone())]).unwrap();
    assert_eq!(Findings::read(&serde_json::to_string(&merged).unwrap()).unwrap(), merged);
    let whole = serde_json::to_value(&one).unwrap();
    assert_eq!(Findings::read(&whole.to_string()).unwrap(), one);
    let mut places = Vec::new();
    numbers("", &whole, &mut places);
    let (mut refused, mut possible) = (0, 0);
    for place in places.iter().filter(|place| !place.starts_with("/plan/seed") && !place.starts_with("/format")) {
        let was = whole.pointer(place).unwrap().as_i64().unwrap();
        let signed = place.ends_with("/sum");
        let counted = ["/results/", "/outcomes/", "/rounds/", "/trials", "/pairs/", "/blocks", "/games"];
        let must_be_refused = counted.iter().any(|part| place.contains(part)) && !place.starts_with("/plan");
        for value in [
            serde_json::json!(-1),
            serde_json::json!(was as f64 + 0.5),
            serde_json::json!(u64::MAX),
            serde_json::json!(was + 1),
            serde_json::json!((was - 1).max(0)),
        ] {
            let mut changed = whole.clone();
            *changed.pointer_mut(place).unwrap() = value.clone();
            let any = place == "/plan/actions" || place == "/shard/count";
            let impossible = value.as_i64().is_none_or(|value| value < 0 && !signed) && !any;
            match Findings::read(&changed.to_string()) {
                Err(error) => {
                    refused += 1;
                    let (text, field) =
                        (error.to_string(), place.rsplit('/').find(|part| part.parse::<u64>().is_err()));
                    // What does not add up is named by the part, or by its sum.
                    assert!(text.contains('`') || text.contains("shard"), "{place} = {value}: {text}");
                    let of_all = must_be_refused
                        || ["/shard", "/plan", "/cards/", "/left_out/"].iter().any(|part| place.contains(part));
                    assert!(of_all || text.contains(field.unwrap()), "{place} = {value}: {text}");
                }
                Ok(_) if value.as_i64() == Some(was) => {}
                Ok(read) => {
                    assert!(!impossible, "{place} = {value}");
                    // One number less at the end of a game could be.
                    let fewer = place.contains("/games") && value.as_i64() < Some(was);
                    assert!(!must_be_refused || fewer, "{place} = {value}");
                    // It is put together with the other shard, or refused as one of another simulation.
                    let parts = vec![("one".to_owned(), read), ("two".to_owned(), two.clone())];
                    assert!(
                        Findings::merge(parts).is_ok() || place.starts_with("/plan") || place.starts_with("/shard"),
                        "{place} = {value}"
                    );
                    possible += 1;
                }
            }
        }
    }
    assert!(refused > 200 && possible > 20, "{refused} {possible}");
}

#[test]
fn whatever_is_asked_in_any_ruleset_can_be_weighed_and_nothing_changes() {
    for id in ["riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "silent-winter", "rbf", "riskbreaker-cards", "tug"]
    {
        let rules = rules(id);
        let mut session = Session::start(&rules, Setup::default().seed(5)).unwrap();
        let mut weighed = 0;
        for _ in 0..10 {
            let step = session.advance().unwrap();
            assert!(!matches!(step, riskbreaker::Step::Fault(_)), "{id}: {step:?}");
            let Some(question) = session.questions().first().cloned() else { break };
            let before = (session.state_bytes(), session.log());
            let mut answer = question.default.clone();
            match session.advise(question.id, AdviceLimits::within(std::time::Duration::from_millis(50)), None) {
                Ok(advice) => {
                    let advice = advice.answers;
                    assert!(!advice.is_empty(), "{id}: {}", question.topic);
                    let ranked = advice.windows(2).all(|pair| match (pair[0].place, pair[1].place) {
                        (Some(one), Some(other)) => one <= other,
                        (one, other) => one.is_some() || other.is_none(),
                    });
                    assert!(ranked, "{id}: {}", question.topic);
                    answer = answer.or_else(|| Some(advice[0].answer.clone()));
                    weighed += 1;
                }
                Err(refusal) => assert!(refusal.to_string().contains("too many possible answers"), "{id}: {refusal}"),
            }
            assert_eq!((session.state_bytes(), session.log()), before, "{id}: {}", question.topic);
            session.answer(question.id, answer.expect("one is the default, or the best")).unwrap();
        }
        assert!(weighed > 0, "{id}");
    }
}

#[test]
fn what_is_made_in_secret_has_the_same_number_in_a_simulation_and_in_the_game_told_of_it() {
    let kinds = r#"
        local rb = require("@riskbreaker")
        return rb.kinds({ card = { audience = "seat", fields = { seat = rb.text({ show = false }) } } })
    "#;
    let play = r#"
        local rb = require("@riskbreaker")
        return rb.play({
            start = function()
                rb.spawn("card", { seat = "left" })
                rb.recur("turn", { 1 }, { 1 })
            end,
            entries = {
                turn = function()
                    local made = rb.spawn("card", { seat = "left" })
                    rb.finish("cards {} and {}", rb.first("card").id, made.id + 0 * rb.roll("1d6"))
                end,
            },
        })
    "#;
    let manifest = "id = \"cards\"\ntitle = \"C\"\nversion = \"1\"\n[seats]\nleft = \"l\"\n";
    let files = [("cards/ruleset.toml", manifest), ("cards/kinds.luau", kinds), ("cards/play.luau", play)];
    let rules = Ruleset::load(&Library::from_files(files), "cards").unwrap();
    let setup = Setup::table(Value::map::<&str>([])).seat("left", Driver::Absent);
    let plan = plan(Variant::new("one", &rules, setup).unwrap(), "cards", 2);
    let plan = Simulation { actions: 20, memo: MemoUse::Never, ..plan };
    let tally = plan.run(1, None, None, &mut |_, _| true).unwrap().tallies.remove(0);
    let told = plan.replay(0, 1, &mut |_| ()).unwrap().unwrap();
    assert_eq!(tally.outcomes.keys().collect::<Vec<_>>(), [&told]);
}

/// Two seats choose at once, one of them a second card later in the action; each action rolls once for each card.
#[test]
fn every_card_counts_that_a_seat_chooses() {
    let play = "local rb = require(\"@riskbreaker\")
return rb.play({
    start = function()
        for _, seat in { \"north\", \"south\" } do rb.spawn(\"player\", { seat = seat }) end
        rb.recur(\"round\", 1, 1, rb.spawn(\"clock\", {}))
    end,
    entries = {
        round = function(clock)
            local asks = {}
            for at, player in rb.each(\"player\") do
                asks[at] = { ask = \"choose\", seat = player.seat, topic = \"card\", about = player, cards = rb.card_ids, ctx = { at = at } }
            end
            for _, card in rb.all(asks) do card.resolve() end
            local again = rb.choose({ seat = \"south\", topic = \"again\", cards = rb.card_ids, ctx = { at = 3 } })
            again.resolve()
            clock:add(\"n\", 1)
            if clock.n == 3 then rb.finish(\"over\") end
        end,
    },
})";
    let card = |id: &str, at: u32| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({{ id = \"{id}\", when = function(ctx) return ctx.at == {at} end, resolve = function() rb.at_least(\"1d6\", {}, \"x\") end }})",
            at * 2
        )
    };
    let files = [
        (
            "both/ruleset.toml",
            "id = \"both\"\ntitle = \"Both\"\nversion = \"1.0.0\"\nscenario = \"s\"\n[seats]\nnorth = \"North\"\nsouth = \"South\"\n".to_owned(),
        ),
        ("both/scenarios/s.toml", "title = \"S\"\n".to_owned()),
        (
            "both/kinds.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ player = { title = \"seat\", fields = { seat = rb.text() } }, clock = { fields = { n = rb.int() } } })".to_owned(),
        ),
        ("both/play.luau", play.to_owned()),
        ("both/maneuvers/one.luau", card("one", 1)),
        ("both/maneuvers/two.luau", card("two", 2)),
        ("both/maneuvers/three.luau", card("three", 3)),
        (
            "both/policies/first.luau",
            "local rb = require(\"@riskbreaker\")\nreturn rb.policy({ id = \"first\", answer = function(q) for _, id in { \"one\", \"two\", \"three\" } do local option = rb.open(q, id) if option then return option end end return nil end })".to_owned(),
        ),
    ];
    let rules = Ruleset::load(&Library::from_files(files), "both").unwrap_or_else(|error| panic!("{error}"));
    for memo in [MemoUse::Never, MemoUse::Always] {
        let variant = Variant::new("both", &rules, Setup::default()).unwrap();
        let plan = Simulation { memo, ..plan(variant, "s", 400) };
        let tally = run(&plan, 2, None).tallies.remove(0);
        assert_eq!((tally.trials, tally.left_out.len()), (400, 0), "{:?}", tally.left_out.first());
        let used = |seat: &str, card: &str| tally.cards[seat].get(card).copied().unwrap_or_default();
        assert_eq!(
            (used("north", "one").used, used("south", "two").used),
            (1_200, 1_200),
            "{memo:?}: {:?}",
            tally.cards
        );
        assert_eq!((used("south", "three").used, used("south", "three").rolled), (1_200, 1_200), "{memo:?}");
        // Of two cards that wait for a roll at once, nobody says whose it is.
        assert_eq!((used("north", "one").rolled, used("south", "two").rolled), (0, 0), "{memo:?}");
        let met = used("south", "three").met;
        assert!((150..=250).contains(&met), "{memo:?}: {met}");
    }
}
