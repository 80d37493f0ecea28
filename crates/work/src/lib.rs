//! Budgets of work: limits on a long computation, which stops there with a partial result.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// An amount of work that a computation may do, and a flag that ends it early.
///
/// Work is counted, not timed: the same computation stops at the same place on every machine. The unit depends on the
/// computation. Clones share one count.
///
/// ```
/// use riskbreaker_work::WorkBudget;
///
/// let budget = WorkBudget::new(10);
/// assert!(budget.spend(10));
/// assert!(!budget.spend(1) && budget.is_spent());
/// ```
#[derive(Clone, Debug)]
pub struct WorkBudget {
    units: u64,
    used: Arc<AtomicU64>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl WorkBudget {
    /// Creates a budget of this many units.
    pub fn new(units: u64) -> WorkBudget {
        WorkBudget { units, used: Arc::default(), interrupt: None }
    }

    /// Creates a budget that only counts.
    pub fn unlimited() -> WorkBudget {
        WorkBudget::new(u64::MAX)
    }

    /// Returns the same budget with a flag: it ends as well once the flag is set.
    #[must_use]
    pub fn until(self, interrupt: &Arc<AtomicBool>) -> WorkBudget {
        WorkBudget { interrupt: Some(interrupt.clone()), ..self }
    }

    /// Counts work. Returns false if the budget is spent or the work was interrupted: then it should stop.
    pub fn spend(&self, units: u64) -> bool {
        let before = self.used.fetch_add(units, Ordering::Relaxed);
        // An overflow would make the budget full again.
        if before.checked_add(units).is_none() {
            self.used.store(u64::MAX, Ordering::Relaxed);
        }
        !self.is_spent()
    }

    /// True if the work should stop: the budget is exceeded, or the work was interrupted.
    pub fn is_spent(&self) -> bool {
        self.used() > self.units || self.is_interrupted()
    }

    /// True if the interrupt flag is set.
    pub fn is_interrupted(&self) -> bool {
        is_set(self.interrupt.as_deref())
    }

    /// The number of units used so far.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The number of units left.
    pub fn left(&self) -> u64 {
        self.units.saturating_sub(self.used())
    }
}

impl Default for WorkBudget {
    fn default() -> WorkBudget {
        WorkBudget::unlimited()
    }
}

/// True if there is a flag and it is set.
pub fn is_set(interrupt: Option<&AtomicBool>) -> bool {
    interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_shared_and_ends_at_its_units_or_when_it_is_interrupted() {
        let flag = Arc::new(AtomicBool::new(false));
        let budget = WorkBudget::new(5).until(&flag);
        assert!(budget.clone().spend(5) && !budget.is_spent());
        flag.store(true, Ordering::Relaxed);
        assert!(budget.is_spent() && budget.is_interrupted());
        flag.store(false, Ordering::Relaxed);
        assert!(!budget.spend(1));
        assert_eq!((budget.used(), budget.left()), (6, 0));
    }

    #[test]
    fn a_budget_does_not_become_full_again() {
        let budget = WorkBudget::new(5);
        assert!(!budget.spend(u64::MAX) && !budget.spend(u64::MAX) && budget.is_spent());
    }
}
