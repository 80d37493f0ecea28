//! Converts a number of a script to a whole number of the state.

use riskbreaker_state::LARGEST_NUMBER;

/// Converts a number to the state's form, or returns the reason why it is invalid.
#[inline]
pub(super) fn whole(n: f64) -> std::result::Result<i64, String> {
    let near = n as i64;
    match near as f64 == n && near.unsigned_abs() <= LARGEST_NUMBER.unsigned_abs() {
        true => Ok(near),
        false => Err(unfit_number(n)),
    }
}

/// The reason why a number is invalid in the state.
#[cold]
fn unfit_number(n: f64) -> String {
    if n.fract() != 0.0 {
        return format!("{n} is not a whole number; the state holds whole numbers only");
    }
    // The digits of a very large number would fill the line.
    let shown = if n.abs() < 1e21 { n.to_string() } else { format!("{n:e}") };
    match n < 0.0 {
        true => format!("{shown} is too small; whole numbers begin at -{LARGEST_NUMBER}"),
        false => format!("{shown} is too large; whole numbers go to {LARGEST_NUMBER}"),
    }
}
