//! Four against four of `riskbreaker-0.0.1`, by policy, through the complete ruleset: resolved actions a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use riskbreaker::{Driver, Library, Ruleset, Session, Setup, Simulation, Variant};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Games in one round of measuring.
const GAMES: u64 = 100;

fn setup() -> Setup {
    let bold = || Driver::Policy("bold".into());
    Setup::scenario("four-against-four").seat("players", bold()).seat("foes", bold()).seat("gm", Driver::Absent)
}

/// As `sim` plays them on one thread; gives the actions of all games together.
fn simulated(rules: &Arc<Ruleset>) -> u64 {
    let variant = Variant::new("bench", rules, setup()).expect("the scenario starts");
    let scenario = "four-against-four".to_string();
    let plan = Simulation { scenario, variants: vec![variant], trials: GAMES, seed: 1, until: None, actions: 20_000 };
    let found = plan.run(1, None, None, &mut |_, _| true).expect("it plays");
    assert_eq!(found.tallies[0].trials, GAMES, "a fight of policies ends");
    found.tallies[0].actions
}

/// As somebody plays who wants to take back, look up and ask why.
fn told(rules: &Arc<Ruleset>) -> u64 {
    let mut actions = 0;
    for seed in 0..20 {
        let mut session = Session::start(rules, setup().seed(seed)).expect("the scenario starts");
        let _ = session.advance().expect("it plays");
        assert!(session.outcome().is_some(), "a fight of policies ends");
        actions += session.actions();
    }
    actions
}

fn fights(criterion: &mut Criterion) {
    let library =
        Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).expect("the rulesets are there");
    let rules = Ruleset::load(&library, "riskbreaker-0.0.1").expect("the ruleset loads");
    let mut group = criterion.benchmark_group("four against four");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(simulated(&rules)));
    group.bench_function("simulated", |bencher| bencher.iter(|| simulated(&rules)));
    group.throughput(Throughput::Elements(told(&rules)));
    group.bench_function("with journal and events", |bencher| bencher.iter(|| told(&rules)));
    group.finish();
}

criterion_group!(benches, fights);
criterion_main!(benches);
