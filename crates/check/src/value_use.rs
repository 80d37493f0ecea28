//! For what a value is used at a place of a script, by the signs around it.

use crate::reader::ScriptReader;
use crate::syntax::is_of_name;
use riskbreaker_script::syntax::Location;

/// For what a value is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueUse {
    /// It is calculated with, or compared by more and less.
    Number,
    /// It has members, or is compared with an entity.
    Entity,
}

impl ScriptReader<'_> {
    /// For what a member is used whose name is at a place. `None` if the signs around it do not show it.
    pub(crate) fn use_of(&self, at: Location) -> Option<ValueUse> {
        let range = self.bytes_of(at);
        use_between(&self.text[..range.start], &self.text[range.end..])
    }

    /// The member that is read off the one whose name is at a place: `name` behind `target` in `e.target.name`.
    pub(crate) fn member_behind(&self, at: Location) -> Option<&str> {
        let rest = self.text[self.offset_of(at.end)..].strip_prefix('.')?;
        let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        Some(&rest[..end]).filter(|name| !name.is_empty())
    }
}

fn use_between(before: &str, after: &str) -> Option<ValueUse> {
    let after = after.lines().next().unwrap_or_default().trim_start();
    if after.starts_with(['.', ':']) && !after.starts_with("..") {
        return Some(ValueUse::Entity);
    }
    let is_comment = after.starts_with("--");
    let calculates = |text: &str| text.starts_with(['+', '-', '*', '/', '%', '<', '>']);
    if calculates(after) && !is_comment {
        return Some(ValueUse::Number);
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let owner = line.trim_end_matches(|letter: char| is_of_name(letter) || matches!(letter, '.' | ':'));
    let owner = owner.trim_end();
    if owner.ends_with(['+', '*', '/', '%', '<', '>']) || owner.ends_with("<=") || owner.ends_with(">=") {
        return Some(ValueUse::Number);
    }
    let compared = after.strip_prefix("==").or_else(|| after.strip_prefix("~="))?.trim_start();
    let end = compared.find(|letter: char| !(is_of_name(letter) || letter == '.')).unwrap_or(compared.len());
    let other = &compared[..end];
    if other.parse::<f64>().is_ok() {
        return Some(ValueUse::Number);
    }
    const ENTITIES: [&str; 6] = ["owner", "actor", "target", "self", "other", "source"];
    other.rsplit('.').next().filter(|last| ENTITIES.contains(last)).map(|_| ValueUse::Entity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signs_around_a_member_show_its_use() {
        let used = |before: &str, after: &str| use_between(before, after);
        assert_eq!(used("if e.", ".health < 3 then"), Some(ValueUse::Entity));
        assert_eq!(used("if e.", " ~= holder.owner then"), Some(ValueUse::Entity));
        assert_eq!(used("\te.", " += 1"), Some(ValueUse::Number));
        assert_eq!(used("x = 2 * e.", ")"), Some(ValueUse::Number));
        assert_eq!(used("if self.", " == 0 then"), Some(ValueUse::Number));
        assert_eq!(used("rb.say(\"{}\", e.", ")"), None);
        assert_eq!(used("x = e.", " -- a note"), None);
        assert_eq!(used("x = e.", " .. \"a\""), None);
    }
}
