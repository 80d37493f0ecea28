//! How much of a roll a script sees.

use std::sync::Arc;

use riskbreaker_dice::{Roll, Seen, ranks};
use riskbreaker_state::Value;

/// The target of a roll, if the rule gives one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    Nothing,
    Under(i64),
    AtMost(i64),
    AtLeast(i64),
}

impl Need {
    pub fn met(self, total: i64) -> Option<bool> {
        match self {
            Need::Nothing => None,
            Need::Under(n) => Some(total < n),
            Need::AtMost(n) => Some(total <= n),
            Need::AtLeast(n) => Some(total >= n),
        }
    }

    pub fn words(self) -> Option<String> {
        match self {
            Need::Nothing => None,
            Need::Under(n) => Some(format!("under {n}")),
            Need::AtMost(n) => Some(format!("at most {n}")),
            Need::AtLeast(n) => Some(format!("at least {n}")),
        }
    }
}

/// The forms in which a script sees a roll. Their numbers are those of the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SightForm {
    Total,
    Under,
    AtMost,
    AtLeast,
    Cuts,
    Faces,
    Ordered,
    Ranks,
}

impl SightForm {
    /// All forms, in the order of their numbers.
    pub const ALL: [SightForm; 8] = [
        SightForm::Total,
        SightForm::Under,
        SightForm::AtMost,
        SightForm::AtLeast,
        SightForm::Cuts,
        SightForm::Faces,
        SightForm::Ordered,
        SightForm::Ranks,
    ];

    /// The form with this number. `None` if there is none.
    pub fn numbered(number: u8) -> Option<SightForm> {
        SightForm::ALL.get(usize::from(number)).copied()
    }
}

/// How much of a roll a script sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sight {
    Total,
    /// Only whether this target was met.
    Need(Need),
    /// Only how many of these thresholds the total reaches.
    Cuts(Arc<[i64]>),
    /// The kept faces, the highest first.
    Faces,
    /// The kept faces in the order rolled.
    Ordered,
    /// The ranks of the kept faces, in the order rolled.
    Ranks,
}

impl Sight {
    pub fn need(&self) -> Need {
        match self {
            Sight::Need(need) => *need,
            _ => Need::Nothing,
        }
    }

    /// True if the script sees the faces, not only the total.
    pub fn shows_faces(&self) -> bool {
        matches!(self, Sight::Faces | Sight::Ordered | Sight::Ranks)
    }

    /// The totals at which the value seen by the script changes.
    pub fn cuts(&self) -> Vec<i64> {
        match self {
            Sight::Cuts(cuts) => cuts.to_vec(),
            Sight::Need(Need::Under(n) | Need::AtLeast(n)) => vec![*n],
            Sight::Need(Need::AtMost(n)) => vec![n.saturating_add(1)],
            Sight::Total | Sight::Faces | Sight::Ordered | Sight::Ranks | Sight::Need(Need::Nothing) => Vec::new(),
        }
    }

    /// The form in which the script sees the result.
    pub fn form(&self) -> SightForm {
        match self {
            Sight::Total | Sight::Need(Need::Nothing) => SightForm::Total,
            Sight::Need(Need::Under(_)) => SightForm::Under,
            Sight::Need(Need::AtMost(_)) => SightForm::AtMost,
            Sight::Need(Need::AtLeast(_)) => SightForm::AtLeast,
            Sight::Cuts(_) => SightForm::Cuts,
            Sight::Faces => SightForm::Faces,
            Sight::Ordered => SightForm::Ordered,
            Sight::Ranks => SightForm::Ranks,
        }
    }

    /// The results of dice that the script can tell apart.
    pub fn seen(&self) -> Seen {
        match self.form() {
            SightForm::Total => Seen::Total,
            SightForm::Under | SightForm::AtMost | SightForm::AtLeast | SightForm::Cuts => Seen::Cuts(self.cuts()),
            SightForm::Faces => Seen::Faces,
            SightForm::Ordered => Seen::Ordered,
            SightForm::Ranks => Seen::Ranks,
        }
    }

    /// The value that the script sees, computed from the total.
    pub fn of_total(&self, total: i64) -> Value {
        match self {
            Sight::Total | Sight::Faces | Sight::Ordered | Sight::Ranks => Value::Int(total),
            Sight::Need(need) => need.met(total).map_or(Value::Int(total), Value::Bool),
            Sight::Cuts(cuts) => Value::Int(cuts.iter().filter(|cut| total >= **cut).count() as i64),
        }
    }

    /// The value that the script sees, computed from the roll.
    pub fn of_roll(&self, roll: &Roll) -> Value {
        match self {
            Sight::Faces | Sight::Ordered | Sight::Ranks => {
                let kept = roll.kept(*self != Sight::Faces);
                let seen = if *self == Sight::Ranks { ranks(&kept) } else { kept };
                Value::list(seen.into_iter().map(|face| Value::Int(i64::from(face))))
            }
            _ => self.of_total(roll.total()),
        }
    }
}
