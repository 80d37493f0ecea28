/// A name of scripts as people read it: `fight_skill` is "fight skill".
pub fn readable_name(name: &str) -> String {
    name.replace('_', " ")
}
