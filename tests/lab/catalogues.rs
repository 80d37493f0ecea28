//! The distributions printed in the catalogues of the rules, compared exactly with those of the scripts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use riskbreaker::dice::{Fraction, ratio};
use riskbreaker::lab::{Effect, Odds, OddsQuery, Outcome, Position};
use riskbreaker::play::Given;
use riskbreaker::{Library, Ruleset, Scenario, Setup, Value};

/// Of 1728 rolls, those with each result of a contest, by the lead of A (CON, T2): the lead, the results -4 to +4, and
/// the wins of A, draws and wins of B.
const CONTESTS: [(i64, [i64; 9], [i64; 3]); 31] = [
    (-15, [972, 392, 244, 100, 20, 0, 0, 0, 0], [0, 20, 1708]),
    (-14, [864, 412, 287, 130, 34, 1, 0, 0, 0], [1, 34, 1693]),
    (-13, [756, 424, 328, 164, 52, 4, 0, 0, 0], [4, 52, 1672]),
    (-12, [650, 428, 364, 202, 74, 10, 0, 0, 0], [10, 74, 1644]),
    (-11, [548, 424, 392, 244, 100, 20, 0, 0, 0], [20, 100, 1608]),
    (-10, [452, 412, 412, 287, 130, 34, 1, 0, 0], [35, 130, 1563]),
    (-9, [364, 392, 424, 328, 164, 52, 4, 0, 0], [56, 164, 1508]),
    (-8, [286, 364, 428, 364, 202, 74, 10, 0, 0], [84, 202, 1442]),
    (-7, [220, 328, 424, 392, 244, 100, 20, 0, 0], [120, 244, 1364]),
    (-6, [165, 287, 412, 412, 287, 130, 34, 1, 0], [165, 287, 1276]),
    (-5, [120, 244, 392, 424, 328, 164, 52, 4, 0], [220, 328, 1180]),
    (-4, [84, 202, 364, 428, 364, 202, 74, 10, 0], [286, 364, 1078]),
    (-3, [56, 164, 328, 424, 392, 244, 100, 20, 0], [364, 392, 972]),
    (-2, [35, 130, 287, 412, 412, 287, 130, 34, 1], [452, 412, 864]),
    (-1, [20, 100, 244, 392, 424, 328, 164, 52, 4], [548, 424, 756]),
    (0, [10, 74, 202, 364, 428, 364, 202, 74, 10], [650, 428, 650]),
    (1, [4, 52, 164, 328, 424, 392, 244, 100, 20], [756, 424, 548]),
    (2, [1, 34, 130, 287, 412, 412, 287, 130, 35], [864, 412, 452]),
    (3, [0, 20, 100, 244, 392, 424, 328, 164, 56], [972, 392, 364]),
    (4, [0, 10, 74, 202, 364, 428, 364, 202, 84], [1078, 364, 286]),
    (5, [0, 4, 52, 164, 328, 424, 392, 244, 120], [1180, 328, 220]),
    (6, [0, 1, 34, 130, 287, 412, 412, 287, 165], [1276, 287, 165]),
    (7, [0, 0, 20, 100, 244, 392, 424, 328, 220], [1364, 244, 120]),
    (8, [0, 0, 10, 74, 202, 364, 428, 364, 286], [1442, 202, 84]),
    (9, [0, 0, 4, 52, 164, 328, 424, 392, 364], [1508, 164, 56]),
    (10, [0, 0, 1, 34, 130, 287, 412, 412, 452], [1563, 130, 35]),
    (11, [0, 0, 0, 20, 100, 244, 392, 424, 548], [1608, 100, 20]),
    (12, [0, 0, 0, 10, 74, 202, 364, 428, 650], [1644, 74, 10]),
    (13, [0, 0, 0, 4, 52, 164, 328, 424, 756], [1672, 52, 4]),
    (14, [0, 0, 0, 1, 34, 130, 287, 412, 864], [1693, 34, 1]),
    (15, [0, 0, 0, 0, 20, 100, 244, 392, 972], [1708, 20, 0]),
];

/// The number of rolls for each sum of the two kept dice, 2 to 16 (RBF, T3): of two dice, of three the highest and the
/// lowest two, of four the highest and the lowest two.
const KEPT: [[i64; 5]; 15] = [
    [1, 1, 22, 1, 323],
    [2, 3, 39, 4, 508],
    [3, 7, 52, 15, 605],
    [4, 12, 60, 32, 608],
    [5, 19, 64, 65, 563],
    [6, 27, 63, 108, 468],
    [7, 37, 58, 175, 365],
    [8, 48, 48, 256, 256],
    [7, 58, 37, 365, 175],
    [6, 63, 27, 468, 108],
    [5, 64, 19, 563, 65],
    [4, 60, 12, 608, 32],
    [3, 52, 7, 605, 15],
    [2, 39, 3, 508, 4],
    [1, 22, 1, 323, 1],
];

/// The sources of advantage minus those of disadvantage, for each column of `KEPT`.
const NETS: [i64; 5] = [0, 1, -1, 2, -2];

/// The degree of an attack with the kept sum `sum`, for its need (RBF, T1 and the rulings on it). Both dice at their
/// highest are critical and both at their lowest a failure, for any need.
fn degree(sum: i64, need: i64) -> &'static str {
    match (sum, sum - need) {
        (2, _) => "failure",
        (16, _) => "critical",
        (_, 6..) => "critical",
        (_, 0..) => "success",
        (_, -5..) => "struggle",
        _ => "failure",
    }
}

fn shipped(id: &str) -> Arc<Ruleset> {
    let library = Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).unwrap();
    Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"))
}

fn setup(position: &str) -> Setup {
    Setup { scenario: Scenario::read("position", position.as_bytes()).unwrap(), ..Setup::default() }
}

fn given(topic: &str, value: &str) -> Given {
    Given { topic: topic.into(), seat: None, about: None, value: Value::text(value), once: false }
}

fn odds(rules: &Arc<Ruleset>, position: &Position) -> Odds {
    let (odds, _) = position.odds(rules).unwrap_or_else(|refusal| panic!("{}: {refusal}", position.card));
    assert!(odds.is_exact());
    odds
}

/// The number after `result` in the log line of a contest.
fn result(outcome: &Outcome) -> i64 {
    let said = |effect: &Effect| match effect {
        Effect::Said { text } => {
            let (_, behind) = text.split_once("result ")?;
            behind.split(|c: char| !(c.is_ascii_digit() || "+-".contains(c))).next()?.parse().ok()
        }
        _ => None,
    };
    outcome.effects.iter().find_map(said).unwrap_or_else(|| panic!("no result is told: {}", outcome.line()))
}

#[test]
fn contests_have_the_frequencies_of_their_catalogue() {
    let contest = shipped("contest");
    for (lead, ways, [wins, draws, loses]) in CONTESTS {
        let position = format!(
            "outside = true\nus = [{{ name = \"Ann\", stats = {{ language = {} }} }}]\n\
             them = [{{ name = \"Bob\", stats = {{ language = 20 }} }}]\n",
            20 + lead
        );
        let found = odds(
            &contest,
            &Position {
                setup: setup(&position),
                card: "contest".into(),
                actor: Some("Ann".into()),
                way: vec![("scene".into(), "Ann".into())],
                query: OddsQuery { given: vec![given("stat", "language")], ..OddsQuery::default() },
                ..Position::default()
            },
        );
        let of = |holds: &dyn Fn(i64) -> bool| found.chance(|outcome| holds(result(outcome)));
        for (wanted, ways) in (-4..).zip(ways) {
            assert_eq!(of(&|result| result == wanted), ratio(ways, 1728), "{lead}: {wanted}");
        }
        let sides = [of(&|result| result > 0), of(&|result| result == 0), of(&|result| result < 0)];
        assert_eq!(sides, [wins, draws, loses].map(|ways| ratio(ways, 1728)), "{lead}");
    }
}

#[test]
fn attacks_have_the_frequencies_of_their_catalogue() {
    let rbf = shipped("rbf");
    for (mode, net) in NETS.into_iter().enumerate() {
        let all: i64 = KEPT.iter().map(|row| row[mode]).sum();
        for need in 1..=22 {
            let mut counted: BTreeMap<String, Fraction> = BTreeMap::new();
            for (sum, row) in (2..).zip(KEPT) {
                *counted.entry(degree(sum, need).to_owned()).or_default() += ratio(row[mode], all);
            }
            let position = format!(
                "order = [\"Ann\", \"Bob\", \"Eve\"]\n\
                 pcs = [{{ name = \"Ann\", melee = 0, weapon = \"sword\", edge = {net} }}]\n\
                 enemies = [{{ name = \"Bob\", x = 1, hp = 60, defense_tn = {need} }}, {{ name = \"Eve\", x = 9 }}]\n"
            );
            let found = odds(
                &rbf,
                &Position {
                    setup: setup(&position),
                    card: "attack".into(),
                    actor: Some("Ann".into()),
                    watch: vec![("Ann".into(), "degree".into())],
                    query: OddsQuery { given: vec![given("target", "Bob")], ..OddsQuery::default() },
                    ..Position::default()
                },
            );
            let mut degrees: BTreeMap<String, Fraction> = BTreeMap::new();
            for (outcome, chance) in &found.outcomes {
                *degrees.entry(outcome.watched[0].to_string()).or_default() += chance;
            }
            assert_eq!(degrees, counted, "net {net}, need {need}");
        }
    }
}
