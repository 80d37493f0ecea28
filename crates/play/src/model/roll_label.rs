//! Labels of rolls.

/// Removes the placeholders `{}` from a label: one point stands for rolls whose placeholders have different values.
pub(crate) fn without_places(label: &str) -> String {
    let words: Vec<&str> = label.split("{}").flat_map(str::split_whitespace).collect();
    if words.is_empty() { "a roll".to_owned() } else { words.join(" ") }
}
