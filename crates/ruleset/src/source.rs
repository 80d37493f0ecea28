use std::sync::Arc;

use serde::Serialize;

use super::problem::Problem;
use super::quoted::turns_direction;

/// The text of one file of a ruleset, checked to be valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The path used in problems: `my-game/maneuvers/feint.luau`.
    pub path: String,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
}

impl Source {
    /// The longest file that is read, in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Checks the bytes of a file and creates a source.
    ///
    /// # Errors
    ///
    /// The file is longer than [`Source::MAX_BYTES`], is not UTF-8, or is an empty script. It has control characters
    /// other than line feed, carriage return and tab. It has characters that change the direction of writing, which
    /// could make it look like other code.
    pub fn read(path: impl Into<String>, bytes: &[u8]) -> Result<Self, Vec<Problem>> {
        let path = path.into();
        if bytes.len() > Self::MAX_BYTES {
            return Err(vec![Self::too_long(&path)]);
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(error) => return Err(vec![not_utf8(&path, bytes, error.valid_up_to())]),
        };
        let mut problems = Vec::new();
        // Most files contain only these bytes, which is fast to check.
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        if !text.bytes().all(is_plain) {
            let control = text.char_indices().find(|(_, c)| c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
            if let Some((offset, c)) = control {
                let problem = Problem::new(&*path, format!("holds the control character U+{:04X}", u32::from(c)));
                problems.push(
                    problem.at(position(text, offset)).with_cure("delete it; in a text of a script write `\\u{...}`"),
                );
            }
            if let Some((offset, c)) = text.char_indices().find(|&(_, c)| turns_direction(c)) {
                let message =
                    format!("holds U+{:04X}, which turns the direction of writing and can hide code", u32::from(c));
                problems.push(Problem::new(&*path, message).at(position(text, offset)).with_cure("delete it"));
            }
        }
        if SourceKind::of(&path) == Some(SourceKind::Script) && text.trim().is_empty() {
            let cure = "a script returns one declaration; delete the file if it is not wanted";
            problems.push(Problem::new(&*path, "is empty").with_cure(cure));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Source { text: text.into(), path })
    }

    /// The kind of the file, by its name.
    pub fn kind(&self) -> Option<SourceKind> {
        SourceKind::of(&self.path)
    }

    /// Returns line and column, both from 1, of a byte offset in the text. An offset past the end counts as the end.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        position(&self.text, offset)
    }

    /// The problem of a file longer than [`Source::MAX_BYTES`], for readers that stop there.
    pub(crate) fn too_long(path: &str) -> Problem {
        let message = format!("is longer than {} KiB", Self::MAX_BYTES / 1024);
        Problem::new(path, message).with_cure("split it into several files")
    }
}

/// The kind of a file in a ruleset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// `.luau` or `.lua`: rules and specs.
    Script,
    /// `.toml`: the manifest, characters, positions.
    Data,
    /// `.md`: the numbered rules, for reading.
    Prose,
}

impl SourceKind {
    /// Finds the kind by the ending of the name. `None` for files that are not part of a ruleset.
    pub fn of(path: &str) -> Option<Self> {
        let (stem, ending) = path.rsplit_once('.')?;
        if stem.is_empty() || stem.ends_with('/') {
            return None;
        }
        match ending {
            "luau" | "lua" => Some(SourceKind::Script),
            "toml" => Some(SourceKind::Data),
            "md" => Some(SourceKind::Prose),
            _ => None,
        }
    }

    /// The likely name of a file with a misspelt ending, such as `feint.luau.txt` or `fox.tml`, which is not part of a
    /// ruleset. `None` for other files, such as copies made by editors (`.bak`, `.orig`).
    #[doc(hidden)]
    pub fn meant(path: &str) -> Option<String> {
        let (stem, ending) = path.rsplit_once('.')?;
        let meant = match &*ending.to_ascii_lowercase() {
            "txt" => stem.to_owned(),
            "lau" | "luu" | "lauu" | "luua" | "luaau" => format!("{stem}.luau"),
            "tml" | "tolm" | "tmol" | "tooml" => format!("{stem}.toml"),
            _ => return None,
        };
        let kind = SourceKind::of(&meant.to_ascii_lowercase());
        matches!(kind, Some(SourceKind::Script | SourceKind::Data)).then_some(meant)
    }
}

/// Folders of scripts that the host loads.
pub const SCRIPT_FOLDERS: &[&str] = &["maneuvers", "items", "hooks", "policies", "convert", "specs"];

/// Folders in which a layer over several rulesets may have a subfolder for each of them, with the ruleset's id as its name.
pub const FOLDERS_BY_RULESET: &[&str] =
    &["maneuvers", "items", "hooks", "policies", "convert", "specs", "cast", "scenarios"];

/// Scripts that the host loads, without ending. Each may also be a folder.
pub const SCRIPT_FILES: &[&str] = &["kinds", "verbs", "play", "creation"];

/// True for names of temporary files and folders of editors and version control, which are never part of a ruleset.
pub fn is_litter(name: &str) -> bool {
    name.starts_with('.')
        || name.ends_with('~')
        || name.ends_with(".tmp")
        || name.contains("___jb_")
        || (name.starts_with('#') && name.ends_with('#'))
}

/// True for the name of a conflict copy, which a program for synchronization (such as Syncthing, Dropbox or Nextcloud)
/// makes if a file was changed in two places. It is never part of a ruleset.
pub fn is_conflict_copy(name: &str) -> bool {
    let name = name.to_lowercase();
    [".sync-conflict-", "conflicted copy", "(case conflict", "[conflict]"].iter().any(|mark| name.contains(mark))
}

fn position(text: &str, offset: usize) -> (u32, u32) {
    let offset = offset.min(text.len());
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before[line_start..].chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

fn not_utf8(path: &str, bytes: &[u8], valid_up_to: usize) -> Problem {
    let wide = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let message = if wide { "is UTF-16, not UTF-8" } else { "is not UTF-8 text" };
    let valid = std::str::from_utf8(&bytes[..valid_up_to]).unwrap_or_default();
    Problem::new(path, message).at(position(valid, valid_up_to)).with_cure("save it as UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_copy_is_known_by_its_name() {
        for name in [
            "rest.sync-conflict-20260101-120000-ABCDEFG.luau",
            "rest (Ann's conflicted copy 2026-01-01).luau",
            "rest (conflicted copy 2026-01-01 120000).luau",
            "kinds (Case Conflict).luau",
        ] {
            assert!(is_conflict_copy(name), "{name}");
        }
        for name in ["conflict.luau", "sync.luau", "rest-copy.luau"] {
            assert!(!is_conflict_copy(name), "{name}");
        }
    }

    fn refused(path: &str, bytes: &[u8]) -> String {
        let problems = Source::read(path, bytes).expect_err("refused");
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_text_is_read_without_its_byte_order_mark() {
        let one = Source::read("g/a.luau", b"\xef\xbb\xbfreturn 1\r\n").unwrap();
        assert_eq!(&*one.text, "return 1\r\n");
        assert_eq!(one.kind(), Some(SourceKind::Script));
    }

    #[test]
    fn invalid_text_is_refused_with_its_place() {
        assert_eq!(refused("g/a.luau", b"x = 1\nab\xff"), "g/a.luau:2:3: is not UTF-8 text (save it as UTF-8)");
        assert!(refused("g/a.luau", b"\xff\xfex\0").contains("is UTF-16, not UTF-8"));
        assert!(refused("g/a.luau", b"\x1bLua").starts_with("g/a.luau:1:1: holds the control character U+001B"));
        assert!(refused("g/a.luau", b"ok\n\0").starts_with("g/a.luau:2:1: holds the control character U+0000"));
        assert!(refused("g/a.luau", "é--\u{202e}".as_bytes()).starts_with("g/a.luau:1:4: holds U+202E"));
        assert!(refused("g/R.md", "\u{2066}".as_bytes()).starts_with("g/R.md:1:1: holds U+2066"));
    }

    #[test]
    fn an_empty_script_is_refused_and_an_empty_data_file_is_not() {
        assert!(refused("g/a.luau", b"").starts_with("g/a.luau: is empty"));
        assert!(refused("g/a.lua", b"\xef\xbb\xbf \n").starts_with("g/a.lua: is empty"));
        assert!(Source::read("g/cast/x.toml", b"").is_ok());
    }

    #[test]
    fn the_length_limit_of_a_file_is_exact() {
        assert!(Source::read("g/a.luau", &vec![b'x'; Source::MAX_BYTES]).is_ok());
        assert!(refused("g/a.luau", &vec![b'x'; Source::MAX_BYTES + 1]).contains("longer than 256 KiB"));
    }

    #[test]
    fn file_names_determine_the_kind_and_temporary_files() {
        assert_eq!(SourceKind::of("maneuvers/feint.lua"), Some(SourceKind::Script));
        assert_eq!(SourceKind::of("ruleset.toml"), Some(SourceKind::Data));
        assert_eq!(SourceKind::of("RULES.md"), Some(SourceKind::Prose));
        for other in ["art/map.png", ".luau", "maneuvers/.lua", "README", "feint.luau.txt"] {
            assert_eq!(SourceKind::of(other), None, "{other}");
        }
        for litter in [".git", ".#a.lua", "a.lua~", "#a.lua#", "a.tmp", "a.lua___jb_tmp___", "___jb_old___"] {
            assert!(is_litter(litter), "{litter}");
        }
        assert!(!is_litter("feint.luau"));
    }

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let source = Source::read("g/a.md", "äb\r\ncd".as_bytes()).unwrap();
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (1, 2));
        assert_eq!(source.position(5), (2, 1));
        assert_eq!(source.position(99), (2, 3));
    }
}
