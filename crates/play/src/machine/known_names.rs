//! Names of seats and policies that a ruleset declares.

use super::ruleset::Ruleset;
use riskbreaker_ruleset::instead;

/// Refuses a seat that the ruleset does not declare.
pub(crate) fn known_seat(rules: &Ruleset, seat: &str) -> Result<(), String> {
    if rules.seats().contains_key(seat) {
        return Ok(());
    }
    Err(format!("there is no seat `{seat}`; {}", instead(seat, rules.seats().keys().map(String::as_str))))
}

pub(crate) fn known_policy(rules: &Ruleset, policy: &str) -> Result<(), String> {
    if rules.policies().iter().any(|known| **known == *policy) {
        return Ok(());
    }
    let known = rules.policies().iter().map(|known| &**known).chain(["human", "absent"]);
    Err(format!("{} has no policy `{policy}`; {}", rules.id(), instead(policy, known)))
}
