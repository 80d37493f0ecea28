//! Benchmarks four against four by policy: with the complete ruleset 0.0.1, with journal and events, and in
//! hand-written Luau and Rust.
//!
//! Before measuring, all implementations play the same fights on the same dice and must give the same results. The unit
//! is a turn in which a card was played, so that the figures can be compared; a turn takes the host more than one
//! agenda entry.

mod by_hand;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use by_hand::{LEVELS, Machine, dice, fight, play, rules, simulation, told};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use riskbreaker::lab::{MemoUse, Simulation, Tally};
use riskbreaker::{EntityId, Ruleset};

/// The number of fights in one round of measuring, and of fights that are compared.
const FIGHTS: u64 = 2_000;

/// The number of these fights that are played with journal and events.
const KEPT: u64 = 100;

/// The number of fights in a large simulation.
const MANY: u64 = 100_000;

/// Runs `sim` on one thread, with a new machine and an empty memo.
fn simulated(rules: &Arc<Ruleset>, fights: u64, memo: MemoUse) -> Tally {
    let plan = Simulation { memo, ..simulation(rules, fights) };
    let mut found = plan.run(1, None, None, &mut |_, _| true).expect("it plays");
    let tally = found.tallies.remove(0);
    assert_eq!(tally.trials, fights, "a fight of policies ends");
    tally
}

/// The number of turns in which a card was played, in all fights together.
fn turns_of(tally: &Tally) -> u64 {
    tally.cards.values().flat_map(|cards| cards.values()).map(|card| card.used).sum()
}

/// Plays fights as at a table, with journal, tape and events.
fn kept(rules: &Arc<Ruleset>) -> usize {
    let simulation = simulation(rules, KEPT);
    let mut events = 0;
    for trial in 1..=KEPT {
        let mut session = simulation.game(0, trial).expect("the scenario starts");
        play(&mut session);
        events += session.take_events().len();
    }
    events
}

/// Checks that the journal explains a changed number by the actions that changed it.
fn check_explained(rules: &Arc<Ruleset>) {
    let mut session = simulation(rules, 1).game(0, 1).expect("the scenario starts");
    play(&mut session);
    let people: Vec<EntityId> = session.view().of_kind("character").collect();
    let explained =
        people.iter().filter(|id| !session.why(**id, "kill_damage").expect("it is a field").changes.is_empty());
    assert!(explained.count() > 0, "somebody was hurt");
}

fn in_rust() -> u64 {
    (1..=FIGHTS)
        .map(|trial| {
            let mut chance = dice(trial);
            u64::from(black_box(fight(|sides| chance.face(sides))).turns)
        })
        .sum()
}

fn in_luau(machine: &Machine) -> u64 {
    let played = |trial| machine.fight(dice(trial)).expect("it plays");
    (1..=FIGHTS).map(|trial| u64::from(black_box(played(trial)).2)).sum()
}

/// Plays every fight with each implementation. Returns the turns of those with journal and events.
fn check(rules: &Arc<Ruleset>, machines: &[(u8, Machine)]) -> u64 {
    let simulation = simulation(rules, FIGHTS);
    let mut turns = 0;
    for trial in 1..=FIGHTS {
        let (expected, rolled) = told(&simulation, trial);
        let (mut chance, mut drawn) = (dice(trial), 0);
        let ending = fight(|sides| {
            drawn += 1;
            chance.face(sides)
        });
        assert_eq!((&ending, drawn), (&expected, rolled), "by hand in Rust, trial {trial}");
        for (level, machine) in machines {
            let ending = machine.ending(dice(trial)).expect("it plays");
            assert_eq!(ending, expected, "by hand in Luau (level {level}), trial {trial}");
        }
        turns += if trial <= KEPT { u64::from(expected.turns) } else { 0 };
    }
    turns
}

fn fights(criterion: &mut Criterion) {
    let rules = rules();
    let machines = LEVELS.map(|level| (level, Machine::new(level).expect("the file runs")));
    let kept_turns = check(&rules, &machines);
    check_explained(&rules);
    let tally = simulated(&rules, FIGHTS, MemoUse::Never);
    assert!(tally == simulated(&rules, FIGHTS, MemoUse::Always), "by rote");
    let turns = turns_of(&tally);
    assert!(in_rust() == turns && machines.iter().all(|(_, machine)| in_luau(machine) == turns));
    println!("{FIGHTS} fights end alike each way: {turns} turns, {} agenda entries", tally.actions);
    let many = simulated(&rules, MANY, MemoUse::WhereItPays);
    println!("{MANY} fights: {} turns, {} agenda entries", turns_of(&many), many.actions);

    let mut group = criterion.benchmark_group("four against four");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    group.throughput(Throughput::Elements(turns_of(&many)));
    group.bench_function("ruleset", |bencher| bencher.iter(|| simulated(&rules, MANY, MemoUse::WhereItPays)));
    group.throughput(Throughput::Elements(turns));
    group.bench_function("ruleset, every script run", |bencher| {
        bencher.iter(|| simulated(&rules, FIGHTS, MemoUse::Never));
    });
    for (level, machine) in &machines {
        group.bench_function(format!("by hand in Luau, bytecode at level {level}"), |bencher| {
            bencher.iter(|| in_luau(machine))
        });
    }
    group.bench_function("by hand in Rust", |bencher| bencher.iter(in_rust));
    group.throughput(Throughput::Elements(kept_turns));
    group.bench_function("ruleset, with journal, events and explanation", |bencher| bencher.iter(|| kept(&rules)));
    group.finish();
}

criterion_group!(benches, fights);
criterion_main!(benches);
