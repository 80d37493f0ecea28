//! Four against four of `riskbreaker-0.0.1`, by policy, through the complete ruleset: resolved actions a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use riskbreaker::{Driver, Library, Ruleset, Session, Setup};
use std::path::Path;
use std::time::Duration;

fn fights(criterion: &mut Criterion) {
    let library =
        Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesets")).expect("the rulesets are there");
    let rules = Ruleset::load(&library, "riskbreaker-0.0.1").expect("the ruleset loads");
    let setup = |seed| {
        let bold = || Driver::Policy("bold".into());
        Setup::scenario("four-against-four")
            .seed(seed)
            .seat("players", bold())
            .seat("foes", bold())
            .seat("gm", Driver::Absent)
    };
    let play = |quiet: bool| {
        let mut actions = 0;
        for seed in 0..20 {
            let mut session = Session::start(&rules, setup(seed)).expect("the scenario starts");
            session.set_quiet(quiet);
            let _ = session.advance().expect("it plays");
            assert!(session.outcome().is_some(), "a fight of policies ends");
            actions += session.actions();
        }
        actions
    };
    let actions = play(true);
    let mut group = criterion.benchmark_group("four against four");
    group.throughput(Throughput::Elements(actions)).sample_size(10).measurement_time(Duration::from_secs(5));
    group.bench_function("quiet", |bencher| bencher.iter(|| play(true)));
    group.bench_function("with journal and events", |bencher| bencher.iter(|| play(false)));
    group.finish();
}

criterion_group!(benches, fights);
criterion_main!(benches);
