//! Converts between file paths and the URIs of editors.

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The characters that are percent-encoded in the path of a URI.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The file that a URI names; `None` for a URI of another scheme or another computer.
pub(super) fn of_uri(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(rest).decode_utf8().ok()?;
    if !path.starts_with('/') || path.contains('\0') {
        return None;
    }
    // `/C:/games` means `C:/games`.
    let drive = path.as_bytes().get(2) == Some(&b':') && path.as_bytes()[1].is_ascii_alphabetic();
    let path = if cfg!(windows) && drive { &path[1..] } else { &*path };
    Some(PathBuf::from(path))
}

/// The URI of a file.
pub(super) fn to_uri(path: &Path) -> Uri {
    let path = path.to_string_lossy().replace('\\', if cfg!(windows) { "/" } else { "\\" });
    let slash = if path.starts_with('/') { "" } else { "/" };
    Uri(format!("file://{slash}{}", utf8_percent_encode(&path, ENCODED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_paths_are_converted_both_ways() {
        for path in ["/home/a b/rules/x.luau", "/ä/100%/[x].luau"] {
            assert_eq!(of_uri(&to_uri(Path::new(path))), Some(PathBuf::from(path)));
        }
        assert_eq!(to_uri(Path::new("/a b/ü")).0, "file:///a%20b/%C3%BC");
        for other in ["untitled:Untitled-1", "http://x/y", "file://elsewhere/x", "file:///%00", "file:///%ff", ""] {
            assert_eq!(of_uri(&Uri(other.into())), None, "{other}");
        }
    }
}
