/// Converts a script name to words: `fight_skill` to "fight skill".
pub fn readable_name(name: &str) -> String {
    name.replace('_', " ")
}
