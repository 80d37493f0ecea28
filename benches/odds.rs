//! Benchmarks the exact odds of every card of 0.0.1 and 0.0.3, from the start of the scenario to the table of outcomes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use riskbreaker::lab::Position;
use riskbreaker::{Library, Ruleset, Scenario, Setup};

/// A card in a position where it can be played: its actor (by default the first one asked), and manual edits before.
struct Played {
    card: &'static str,
    scenario: &'static str,
    actor: Option<&'static str>,
    edit: Option<(&'static str, &'static str, &'static str)>,
}

const fn played(card: &'static str, scenario: &'static str, actor: Option<&'static str>) -> Played {
    Played { card, scenario, actor, edit: None }
}

const fn hurt(card: &'static str, scenario: &'static str, actor: &'static str, whom: &'static str) -> Played {
    Played { card, scenario, actor: Some(actor), edit: Some((whom, "kill_damage", "1")) }
}

const FIRST_VERSION: [Played; 10] = [
    played("advantage", "four-against-four", None),
    played("alteration", "four-against-four", None),
    hurt("healing", "mage-and-stairway", "Wizard", "Wizard"),
    played("kill_damage", "mage-and-stairway", Some("Fighter")),
    played("maneuver", "four-against-four", None),
    played("pass", "four-against-four", None),
    played("recovery", "mage-and-stairway", Some("Wizard")),
    played("skill_damage", "mage-and-stairway", Some("Fighter")),
    played("special", "four-against-four", None),
    played("tactics", "four-against-four", None),
];

/// A goal that is half done; no scenario starts with Advantage for a goal.
const RUIN: &str = "us = [\"fighter\"]\ngoal = { name = \"the ruin\", difficulty = 10, advantage = 5 }\n";

const THIRD_VERSION: [Played; 12] = [
    played("advance", "the ruin", None),
    played("create_trigger", "stairway", Some("Fighter")),
    played("decrease_advantage", "four-against-four", None),
    played("delay", "stairway", Some("Ranger")),
    played("find", "stairway", Some("Thief")),
    played("gain_advantage", "four-against-four", None),
    played("inflict_kill", "stairway", Some("Fighter")),
    played("inflict_skill", "stairway", Some("Fighter")),
    played("move", "four-against-four", None),
    played("pass", "four-against-four", None),
    played("recover", "stairway", Some("Thief")),
    hurt("rescue", "stairway", "Mage", "Thief"),
];

impl Played {
    fn moment(&self) -> Position {
        let scenario = match self.scenario {
            "the ruin" => Scenario::read("the ruin", RUIN.as_bytes()).expect("it is a position"),
            name => Scenario::Named(name.into()),
        };
        let edits =
            self.edit.iter().map(|(name, field, value)| (name.to_string(), field.to_string(), value.to_string()));
        Position {
            setup: Setup { scenario, ..Setup::default() },
            card: self.card.into(),
            actor: self.actor.map(String::from),
            edits: edits.collect(),
            ..Position::default()
        }
    }
}

fn each_card(group: &mut BenchmarkGroup<'_, WallTime>, rules: &Arc<Ruleset>, cards: &[Played]) {
    let named: BTreeSet<&str> = cards.iter().map(|played| played.card).collect();
    let all: BTreeSet<&str> = rules.cards().iter().map(|card| &*card.id).collect();
    assert_eq!(named, all, "each card of {} is measured", rules.id());
    for played in cards {
        let moment = played.moment();
        let odds = || moment.odds(rules).unwrap_or_else(|refusal| panic!("{}: {refusal}", played.card)).0;
        assert!(odds().is_exact(), "{} can be followed to its end", played.card);
        group.bench_function(played.card, |bencher| bencher.iter(odds));
    }
}

fn cards(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets");
    let library = Library::open(folder).expect("the rulesets are there");
    for (id, cards) in [("riskbreaker-0.0.1", &FIRST_VERSION[..]), ("riskbreaker-0.0.3", &THIRD_VERSION[..])] {
        let rules = Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
        let mut group = criterion.benchmark_group(format!("odds by {id}"));
        group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
        each_card(&mut group, &rules, cards);
        group.finish();
    }
}

criterion_group!(benches, cards);
criterion_main!(benches);
