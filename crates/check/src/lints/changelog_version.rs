//! `version` of the manifest is not that of the newest heading of `CHANGELOG.md`.

use crate::lint::{Example, Lint, Severity};
use riskbreaker_ruleset::{Problem, Stack, TextChange};

pub(crate) static LINT: Lint = Lint {
    name: "changelog-version",
    severity: Severity::Warning,
    summary: "`version` of the manifest is not that of the newest heading of `CHANGELOG.md`",
    explanation: "Campaigns and other rulesets see the version in `ruleset.toml`. If `CHANGELOG.md` has headings such as \
                  `## 1.1.0` or `## [1.1.0] - date`, the greatest of them is the version that is described. A heading \
                  without a version, such as `Unreleased`, is passed over: below it, changes of a later version may be \
                  collected.",
    bad: Example::Files(&[
        ("CHANGELOG.md", CHANGES),
        (
            "ruleset.toml",
            r#"id = "tug"
title = "Tug of war"
version = "1.0.0"
scenario = "two"

[switches.wins_at]
min = 1
max = 20
default = 3
text = "How far the rope must come."

[seats]
gm = "The referee"
left = "The left team"
right = "The right team"
"#,
        ),
    ]),
    good: Example::Files(&[
        ("CHANGELOG.md", CHANGES),
        (
            "ruleset.toml",
            r#"id = "tug"
title = "Tug of war"
version = "1.1.0"
scenario = "two"

[switches.wins_at]
min = 1
max = 20
default = 3
text = "How far the rope must come."

[seats]
gm = "The referee"
left = "The left team"
right = "The right team"
"#,
        ),
    ]),
};

const CHANGES: &str = "# Changes of Tug of war

## 1.1.0

- A pull counts double.

## 1.0.0

- The first version.
";

/// Returns the manifests, from a part on, whose version is not the newest one of their `CHANGELOG.md`.
pub(crate) fn versions_of_changelogs(stack: &Stack, own: usize) -> Vec<Problem> {
    let mut found = Vec::new();
    for part in &stack.parts()[own..] {
        let path = part.manifest_path();
        let (Some(changes), Some(manifest)) = (part.folder.file("CHANGELOG.md"), stack.text_of(&path)) else {
            continue;
        };
        let Some((line, at, written)) = version_in(manifest) else { continue };
        let headings: Vec<&str> = changes.text.lines().filter_map(heading).collect();
        let versions =
            headings.iter().filter_map(|heading| Some((parts_of(version_of(heading))?, version_of(heading))));
        let (Some((newest, named)), Some(own)) = (versions.max(), parts_of(written)) else { continue };
        let problem = |message: String| LINT.problem(&*path, message).at((line, 1));
        if own < newest {
            let change = TextChange { begin: at, end: at + written.len(), text: named.to_owned() };
            let wrong = format!("the newest version in CHANGELOG.md is {named}, and this is {written}");
            found.push(problem(wrong).with_cure(format!("write version = \"{named}\"")).with_change(change));
        } else if own > newest && headings.iter().all(|heading| parts_of(version_of(heading)).is_some()) {
            let wrong = format!("CHANGELOG.md has no heading for {written}; its newest is {named}");
            found.push(problem(wrong).with_cure(format!("write what has changed below a heading `## {written}`")));
        }
    }
    found
}

/// The text of a heading of the second level.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("## ").map(str::trim)
}

/// The version with which a heading begins: `1.1.0` of `[1.1.0] - 2024-05-01`, of `v1.1.0` and of `Version 1.1.0`.
fn version_of(heading: &str) -> &str {
    let heading = heading.strip_prefix("Version ").unwrap_or(heading).trim_start_matches(['[', 'v']);
    let end = heading.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(heading.len());
    &heading[..end]
}

/// The numbers of a version; `None` if it is none.
fn parts_of(version: &str) -> Option<Vec<u64>> {
    let mut numbers: Vec<u64> = version.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    // `1.1` and `1.1.0` are one version.
    while numbers.len() > 1 && numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

/// The line of `version` in the text of a manifest, from 1, the first byte of its value, and the value.
fn version_in(manifest: &str) -> Option<(u32, usize, &str)> {
    let mut begin = 0;
    for (line, text) in (1..).zip(manifest.split_inclusive('\n')) {
        if text.starts_with('[') {
            return None;
        }
        let value = text.strip_prefix("version").map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
        if let Some(quoted) = value.map(str::trim_start).and_then(|value| value.strip_prefix('"')) {
            let version = &quoted[..quoted.find('"')?];
            return Some((line, begin + text.len() - quoted.len(), version));
        }
        begin += text.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_begins_with_a_version_in_several_forms() {
        for heading in ["1.1.0", "[1.1.0] - 2024-05-01", "v1.1", "Version 1.1.0 (May)"] {
            assert_eq!(parts_of(version_of(heading)), Some(vec![1, 1]), "{heading}");
        }
        for heading in ["Unreleased", "[Unreleased]", "Older changes", "1.x"] {
            assert_eq!(parts_of(version_of(heading)), None, "{heading}");
        }
        assert!(parts_of("1.10.0") > parts_of("1.9.3"));
    }

    #[test]
    fn the_version_of_a_manifest_stands_before_its_sections() {
        assert_eq!(version_in("id = \"a\"\nversion = \"1.0.0\"\n"), Some((2, 20, "1.0.0")));
        assert_eq!(version_in("id = \"a\"\n[x]\nversion = \"1.0.0\"\n"), None);
    }
}
