//! Ranges of numbers in words.

pub(crate) fn between(min: i64, max: i64) -> String {
    if min == max { format!("{min}") } else { format!("{min} to {max}") }
}
