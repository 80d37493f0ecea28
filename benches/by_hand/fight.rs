//! The fight in hand-written Rust, with the decisions of the ruleset's policy `bold`. Cards that `bold` never plays are
//! left out.

use super::{Ending, PEOPLE, Standing};

const DIE: u32 = 10;
/// A roll succeeds below the stat plus this margin (RB1-072).
const MARGIN: i32 = 2;
const MOST_RISK: i32 = 3;
/// The cost of a failed attack, in multiples of the Risk (RB1-095).
const LOSS_FACTOR: i32 = 2;
/// The Heroes' Advantage at the start.
const OPENING: i32 = 1;
const COUNTERS: i32 = 3;
const COUNTER_DAMAGE: i32 = 1;
/// Outside of a fight, the policy stakes no more than this.
const HEALED: i32 = 1;

/// The people on a side: the first half are the Heroes.
const SIDE: usize = PEOPLE / 2;

struct Person {
    /// The stat used in a fight; it is also the Kill Damage that removes the person.
    rating: i32,
    /// The best stat with another skill than the one used.
    other: i32,
    /// The stat of a healing skill; 0 without one.
    healing: i32,
}

const fn person(rating: i32, other: i32, healing: i32) -> Person {
    Person { rating, other, healing }
}

const EVERYONE: [Person; PEOPLE] = [
    person(5, 5, 3), // Fighter
    person(4, 5, 0), // Thief
    person(5, 5, 5), // Mage
    person(5, 5, 0), // Ranger
    person(6, 6, 5), // Captain
    person(4, 4, 0), // Bandit
    person(4, 4, 0), // Bandit 2
    person(4, 4, 0), // Archer
];

/// The indices of all people, the highest rating first, equal ones in list order. Nothing lowers a rating in this
/// fight.
const ORDER: [usize; PEOPLE] = order();

const fn order() -> [usize; PEOPLE] {
    let mut order = [0; PEOPLE];
    let mut who = 0;
    while who < PEOPLE {
        let mut at = who;
        while at > 0 && EVERYONE[order[at - 1]].rating < EVERYONE[who].rating {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = who;
        who += 1;
    }
    order
}

struct Fight<D> {
    die: D,
    people: [Standing; PEOPLE],
    /// The Advantage of the Heroes.
    advantage: i32,
    /// The number of people of each side who are not out.
    up: [i32; 2],
    /// The skill level of the Heroes minus that of the Bandits.
    level_lead: i32,
    /// The lead in people at the last calculation.
    counted_lead: i32,
    turns: u32,
}

/// Plays the fight to its end. `die` returns a face of a die with this number of sides.
pub fn fight(die: impl FnMut(u32) -> u32) -> Ending {
    let mut fight = Fight {
        die,
        people: [Standing::default(); PEOPLE],
        advantage: OPENING,
        up: [SIDE as i32; 2],
        level_lead: (0..PEOPLE).map(|who| sign(who) * EVERYONE[who].rating).sum(),
        counted_lead: 0,
        turns: 0,
    };
    let mut rounds = 1; // it begins with the actions of the first
    fight.actions();
    fight.count_marks();
    while !fight.is_over() {
        rounds += 1;
        let lead = fight.up[0] - fight.up[1];
        fight.advantage += fight.level_lead + lead - fight.counted_lead;
        fight.counted_lead = lead;
        fight.actions();
        fight.count_marks();
    }
    let outcome = match fight.up {
        [0, 0] => "undecided: Heroes knocked out, Bandits knocked out",
        [0, _] => "Bandits won: Heroes knocked out",
        _ => "Heroes won: Bandits knocked out",
    };
    Ending { outcome: outcome.into(), rounds, turns: fight.turns, advantage: fight.advantage, people: fight.people }
}

/// The factor of the one Advantage for a person: +1 for Heroes, -1 for Bandits.
fn sign(who: usize) -> i32 {
    if who < SIDE { 1 } else { -1 }
}

fn friends(who: usize) -> std::ops::Range<usize> {
    if who < SIDE { 0..SIDE } else { SIDE..PEOPLE }
}

fn foes(who: usize) -> std::ops::Range<usize> {
    if who < SIDE { SIDE..PEOPLE } else { 0..SIDE }
}

impl<D: FnMut(u32) -> u32> Fight<D> {
    fn roll(&mut self) -> i32 {
        (self.die)(DIE) as i32
    }

    fn is_over(&self) -> bool {
        self.up[0] == 0 || self.up[1] == 0
    }

    fn room(&self, who: usize) -> i32 {
        EVERYONE[who].rating - self.people[who].kill_damage
    }

    fn actions(&mut self) {
        let mut from = 0;
        while from < PEOPLE {
            let rating = EVERYONE[ORDER[from]].rating;
            let mut to = from + 1;
            while to < PEOPLE && EVERYONE[ORDER[to]].rating == rating {
                to += 1;
            }
            self.equals(&ORDER[from..to]);
            from = to;
        }
    }

    /// Lets people of equal rating act: in a tie across sides, all of one side, then all of the other. People who are
    /// out do not tie.
    fn equals(&mut self, people: &[usize]) {
        let (mut ours, mut theirs) = (false, false);
        for &who in people.iter().filter(|who| !self.people[**who].out) {
            ours |= who < SIDE;
            theirs |= who >= SIDE;
        }
        if !(ours && theirs) {
            people.iter().for_each(|&who| self.turn(who));
            return;
        }
        let first = self.side_going_first();
        people.iter().filter(|who| sign(**who) == first).for_each(|&who| self.turn(who));
        people.iter().filter(|who| sign(**who) != first).for_each(|&who| self.turn(who));
    }

    /// The side that acts first in a tie: the one with less Advantage; at 0 the lower roll (RB1-054).
    fn side_going_first(&mut self) -> i32 {
        if self.advantage != 0 {
            return -self.advantage.signum();
        }
        loop {
            let (ours, theirs) = (self.roll(), self.roll());
            if ours != theirs {
                return (theirs - ours).signum();
            }
        }
    }

    fn turn(&mut self, actor: usize) {
        if self.people[actor].out {
            return;
        }
        self.turns += 1;
        if self.is_over() {
            self.rest(actor);
            return;
        }
        let sign = sign(actor);
        let own = self.advantage * sign;
        if own <= 0 {
            // Without a weapon: gain Advantage.
            let success = self.roll() < EVERYONE[actor].other + MARGIN;
            self.advantage += if success { sign * MOST_RISK } else { -sign * MOST_RISK };
            return;
        }
        let risk = own.min(MOST_RISK);
        if self.roll() < EVERYONE[actor].rating + MARGIN {
            self.advantage -= sign * risk;
            self.strike(actor, risk);
        } else {
            self.advantage -= sign * LOSS_FACTOR * risk;
        }
    }

    /// Deals points to the weakest enemy, and the rest to the others in turn (RB1-093).
    fn strike(&mut self, actor: usize, points: i32) {
        let standing = foes(actor).filter(|foe| !self.people[*foe].out);
        let Some(weakest) = standing.min_by_key(|foe| self.room(*foe)) else { return };
        let mut left = points - self.hurt(weakest, points);
        for foe in foes(actor) {
            if left > 0 && !self.people[foe].out {
                left -= self.hurt(foe, left);
            }
        }
    }

    /// Deals points to a person. Returns the number taken.
    fn hurt(&mut self, target: usize, points: i32) -> i32 {
        let taken = points.min(self.room(target));
        self.people[target].kill_damage += taken;
        if self.room(target) == 0 {
            self.people[target].out = true;
            self.level_lead -= sign(target) * EVERYONE[target].rating;
            self.up[target / SIDE] -= 1;
            if self.is_over() {
                self.advantage = 0; // the number of an emptied fight is dropped (RB1-A-12)
            }
        }
        taken
    }

    /// After the fight, a healer heals the friend with the most damage until the round is over.
    fn rest(&mut self, actor: usize) {
        let healing = EVERYONE[actor].healing;
        if healing == 0 {
            return;
        }
        let (mut patient, mut most) = (None, 0);
        for friend in friends(actor).filter(|friend| !self.people[*friend].out) {
            if self.people[friend].kill_damage > most {
                (patient, most) = (Some(friend), self.people[friend].kill_damage);
            }
        }
        if let Some(patient) = patient
            && self.roll() < healing + MARGIN
        {
            self.people[patient].kill_damage -= HEALED;
        }
    }

    fn count_marks(&mut self) {
        for who in 0..PEOPLE {
            let person = &mut self.people[who];
            if person.out {
                continue;
            }
            person.counters += 1;
            if person.counters == COUNTERS {
                person.counters = 0;
                self.hurt(who, COUNTER_DAMAGE);
            }
        }
    }
}
