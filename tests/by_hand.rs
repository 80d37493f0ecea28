//! The hand-written fights of the benchmarks give the same results as the ruleset.

#[path = "../benches/by_hand/mod.rs"]
mod by_hand;

use std::collections::BTreeSet;

use by_hand::{LEVELS, Machine, SEED, dice, fight, rules, simulation, told};

const TRIALS: u64 = 150;

#[test]
fn the_fight_by_hand_ends_as_by_the_ruleset_on_the_same_dice() {
    let rules = rules();
    let simulation = simulation(&rules, TRIALS);
    let machines = LEVELS.map(|level| (level, Machine::new(level).unwrap()));
    let (mut turns, mut outcomes) = (0, BTreeSet::new());
    for trial in 1..=TRIALS {
        let (expected, rolled) = told(&simulation, trial);
        let (mut chance, mut drawn) = (dice(trial), 0);
        let in_rust = fight(|sides| {
            drawn += 1;
            chance.face(sides)
        });
        assert_eq!((&in_rust, drawn), (&expected, rolled), "Rust, seed {SEED}, trial {trial}");
        for (level, machine) in &machines {
            let in_luau = machine.ending(dice(trial)).unwrap();
            assert_eq!(in_luau, expected, "Luau at level {level}, seed {SEED}, trial {trial}");
        }
        turns += u64::from(expected.turns);
        outcomes.insert(expected.outcome);
    }
    assert!(outcomes.len() >= 2, "the dice decide: {outcomes:?}");
    let tally = &simulation.run(1, None, None, &mut |_, _| true).unwrap().tallies[0];
    let played: u64 = tally.cards.values().flat_map(|cards| cards.values()).map(|card| card.used).sum();
    assert_eq!((tally.trials, played), (TRIALS, turns), "the simulation plays the same fights");
}
