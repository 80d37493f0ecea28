use std::collections::BTreeSet;
use std::sync::Arc;

use super::Rulebook;

/// A file that differs between two rulesets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChangedFile {
    /// Its path, with the folder of its ruleset.
    pub path: Arc<str>,
    /// True if only one of the rulesets has it.
    pub one_sided: bool,
    /// The difference: `max_risk 3 -> 2`, `new`, `gone`, `3 lines`.
    pub text: String,
}

/// The files that differ. Changed values are listed by name; if more than a few lines differ, only their number is
/// given.
pub(super) fn changed_files(old: &Rulebook, new: &Rulebook) -> Vec<ChangedFile> {
    let (before, after) = (old.files(), new.files());
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let told = paths.into_iter().filter_map(|path| {
        let text = match (before.get(path), after.get(path)) {
            (None, Some(_)) => "new".to_owned(),
            (Some(_), None) => "gone".to_owned(),
            (Some(was), Some(now)) if was != now => match changed_values(was, now).as_slice() {
                [] => changed_lines(was, now),
                told => told.join(", "),
            },
            _ => return None,
        };
        let one_sided = before.contains_key(path) != after.contains_key(path);
        Some(ChangedFile { path: path.clone(), one_sided, text })
    });
    told.collect()
}

/// The differing lines of two texts, without the common beginning and end.
fn middle<'t>(was: &'t str, now: &'t str) -> (Vec<&'t str>, Vec<&'t str>) {
    let (mut was, mut now): (Vec<&str>, Vec<&str>) = (was.lines().collect(), now.lines().collect());
    let same = was.iter().zip(&now).take_while(|(one, two)| one == two).count();
    was.drain(..same);
    now.drain(..same);
    while !was.is_empty() && was.last() == now.last() {
        was.pop();
        now.pop();
    }
    (was, now)
}

fn changed_lines(was: &str, now: &str) -> String {
    let (was, now) = middle(was, now);
    match was.len().max(now.len()) {
        0 => "the same lines with other line ends".into(),
        1 => "one line".into(),
        n => format!("{n} lines"),
    }
}

/// The most values that are listed.
const MOST_VALUES: usize = 4;
/// The longest value that is listed, in characters.
const LONGEST_VALUE: usize = 40;

/// The changed values, if nothing else changed: `NAME = VALUE`, anywhere in a line.
fn changed_values(was: &str, now: &str) -> Vec<String> {
    let (was, now) = middle(was, now);
    if was.len() != now.len() {
        return Vec::new();
    }
    let mut told = Vec::new();
    for (from, to) in was.iter().zip(&now).filter(|(from, to)| from != to) {
        let ((frame, old), (same, new)) = (values(from), values(to));
        if frame != same || old.len() != new.len() {
            return Vec::new();
        }
        let pairs = old.iter().zip(&new).filter(|(old, new)| old != new);
        told.extend(pairs.map(|((name, from), (_, to))| format!("{} {from} -> {to}", name.to_lowercase())));
    }
    if told.len() > MOST_VALUES { Vec::new() } else { told }
}

/// A line without its values, and the values with their names: for example of `max_risk = 3, -- no more` or `local LOSS
/// = 2`. Ignores comments.
fn values(line: &str) -> (String, Vec<(&str, &str)>) {
    let code = line.split(" --").next().unwrap_or(line).trim();
    let (mut frame, mut found, mut from) = (String::new(), Vec::new(), 0);
    for (at, _) in code.match_indices('=') {
        if at < from || code[at + 1..].starts_with('=') || code[..at].ends_with(['=', '~', '<', '>', '+', '-']) {
            continue;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before = code[from..at].trim_end();
        let name = &before[before.rfind(|c| !is_part(c)).map_or(0, |end| end + 1)..];
        let rest = code[at + 1..].trim_start();
        let start = code.len() - rest.len();
        let length = match rest.strip_prefix('"') {
            Some(text) => text.find('"').map_or(0, |end| end + 2),
            None => rest.find(|c: char| !is_part(c) && c != '.' && c != '-').unwrap_or(rest.len()),
        };
        let value = &rest[..length];
        let plain = value.starts_with(['"', '-']) || value.starts_with(|c: char| c.is_ascii_digit());
        let plain = plain || matches!(value, "true" | "false" | "nil");
        if name.is_empty() || length == 0 || length > LONGEST_VALUE || !plain {
            continue;
        }
        frame.push_str(&code[from..start]);
        frame.push('\u{0}');
        found.push((name, value));
        from = start + length;
    }
    frame.push_str(&code[from..]);
    (frame, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_value_is_reported_with_its_name() {
        assert_eq!(changed_values("a\n\tmax_risk = 3,\nb", "a\n\tmax_risk = 2, -- less\nb"), ["max_risk 3 -> 2"]);
        assert_eq!(changed_values("local LOSS_FACTOR = 2", "local LOSS_FACTOR = 1"), ["loss_factor 2 -> 1"]);
        assert_eq!(changed_values("x = 1\nsame\ny = 2", "x = 2\nsame\ny = 3"), ["x 1 -> 2", "y 2 -> 3"]);
        assert_eq!(
            changed_values("rb.number({ min = 1, max = 3 })", "rb.number({ min = 1, max = 5 })"),
            ["max 3 -> 5"]
        );
        assert_eq!(changed_values("title = \"A\",", "title = \"A b\","), ["title \"A\" -> \"A b\""]);
        assert!(changed_values("if x == 1 then", "if x == 2 then").is_empty());
        assert!(changed_values("x = 1", "y = 1").is_empty());
        assert!(changed_values("x = 1", "x = f(1)").is_empty());
        assert!(changed_values("x = 1", "x = 2\nmore").is_empty());
    }

    #[test]
    fn other_changes_are_counted() {
        assert_eq!(changed_lines("a\nb\nc", "a\nx\nc"), "one line");
        assert_eq!(changed_lines("a\nc", "a\nx\ny\nc"), "2 lines");
    }
}
