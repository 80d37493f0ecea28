use std::borrow::Cow;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/page");

/// The source of the files of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// The files embedded in the program.
    #[default]
    Embedded,
    /// Those of a folder, read again for each request: for people who work on the page.
    Folder(PathBuf),
    /// There is no page.
    None,
}

impl Page {
    /// Answers the request for a file. `/` and `/tv` are the page itself.
    pub(crate) fn answer(&self, path: &str) -> Response {
        let name = match path.strip_prefix('/').unwrap_or_default() {
            "" | "tv" => "index.html",
            name => name,
        };
        let found = is_plain(name).then(|| self.read(name)).flatten().and_then(|bytes| Some((bytes, type_of(name)?)));
        let Some((bytes, kind)) = found else {
            let mut answer = Response::new(Body::from("There is no such file.\n"));
            *answer.status_mut() = StatusCode::NOT_FOUND;
            answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            return answer;
        };
        let mut answer = Response::new(match (std::str::from_utf8(&bytes), &*bytes) {
            (Ok(text), _) if name.ends_with(".js") => Body::from(lean(text, lean_script, joins_script)),
            (Ok(text), _) if name.ends_with(".css") => Body::from(lean(text, lean_style, |_, _| true)),
            (_, bytes) => Body::from(bytes.to_vec()),
        });
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        answer
    }

    fn read(&self, name: &str) -> Option<Cow<'static, [u8]>> {
        match self {
            Page::Embedded => FILES.get_file(name).map(|file| Cow::Borrowed(file.contents())),
            Page::Folder(folder) => read_within(folder, name).map(Cow::Owned),
            Page::None => None,
        }
    }
}

/// Removes comments, indentation, and line ends and semicolons without meaning from a script or style sheet. `joins`:
/// whether the end of a line before another one means nothing. In these files, block comments are on lines of their own, no
/// text spans lines, no text contains `;}`, and no loop has an empty statement before a `}`.
fn lean(text: &str, lean_line: fn(&str) -> String, joins: fn(&str, &str) -> bool) -> String {
    let (mut lean, mut last, mut comment) = (String::with_capacity(text.len()), String::new(), false);
    for line in text.lines().map(str::trim) {
        if comment || line.starts_with("/*") {
            comment = !line.ends_with("*/");
        } else if !line.is_empty() && !line.starts_with("//") {
            let line = lean_line(line);
            if !last.is_empty() && !joins(&last, &line) {
                lean.push('\n');
            }
            lean.push_str(&line);
            last = line;
        }
    }
    lean.push('\n');
    lean.replace(";}", "}")
}

/// Whether the end of a line of a script means nothing: no statement ends there without a semicolon, and no comment.
fn joins_script(line: &str, next: &str) -> bool {
    !line.contains("//")
        && (line.ends_with([';', '{', ',', '(', '[', ':', '?', '=', '&', '|', '>'])
            || next.starts_with(['}', ')', ']', '.', '?', ':', '&', '|']))
}

/// Removes the blanks around signs in a line of a script, except in texts. A line with a regular expression is not
/// changed. In the files of the page, no `+` is followed by another one.
fn lean_script(line: &str) -> String {
    let pattern = line.as_bytes().windows(2).any(|pair| pair[1] == b'/' && b"(=!:, ".contains(&pair[0]));
    if pattern {
        return line.to_owned();
    }
    // The part between the first and last backquote is kept, since templates may contain texts, and texts may contain
    // signs.
    let (before, template, behind) = match (line.find('`'), line.rfind('`')) {
        (Some(from), Some(to)) if from < to => (&line[..from], &line[from..=to], &line[to + 1..]),
        _ => (line, "", ""),
    };
    [&without_blanks(before, "=<>{}();,:?&|*!+"), template, &without_blanks(behind, "=<>{}();,:?&|*!+")].concat()
}

/// Removes insignificant blanks from a line of a style sheet.
fn lean_style(line: &str) -> String {
    without_blanks(line, "{};,").replace(": ", ":").replace(";}", "}")
}

/// Removes the blanks before and after each of `signs`, outside of texts in double quotes.
fn without_blanks(line: &str, signs: &str) -> String {
    let (mut lean, mut quoted, mut escaped) = (String::with_capacity(line.len()), false, false);
    for letter in line.chars() {
        let is_sign = !quoted && signs.contains(letter);
        let after_sign = !quoted && letter == ' ' && lean.ends_with(|last| signs.contains(last));
        if is_sign && lean.ends_with(' ') {
            lean.truncate(lean.trim_end().len());
        }
        if !after_sign || lean.is_empty() {
            lean.push(letter);
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
    }
    lean
}

/// Reads a file in a folder. A link that leads out of the folder is not followed.
fn read_within(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let folder = folder.canonicalize().ok()?;
    let path = folder.join(name).canonicalize().ok()?;
    (path.starts_with(&folder) && path.is_file()).then(|| std::fs::read(path).ok()).flatten()
}

/// True for file names of the page: letters, digits and `-_.`, in parts that do not begin with a dot.
fn is_plain(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.len() <= 200
        && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain))
}

fn type_of(name: &str) -> Option<&'static str> {
    Some(match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "webmanifest" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_sent_without_comments() {
        let text =
            "// What it is.\n/** A text\n * in lines. */\nfunction f() {\n\treturn 1; // stays\n}\n\n/* one */\nf();\n";
        assert_eq!(lean(text, str::to_owned, |_, _| false), "function f() {\nreturn 1; // stays\n}\nf();\n");
    }

    #[test]
    fn lines_are_joined_where_their_end_means_nothing() {
        let text = "const f = () => {\n\tg(\n\t\ta,\n\t);\n}\nconst b = [1]\nf() // (\n(c)\n\t.d();\n";
        let lean_text = "const f=()=>{g(a,)}\nconst b=[1]\nf() // (\n(c).d();\n";
        assert_eq!(lean(text, lean_script, joins_script), lean_text);
        assert_eq!(lean(".a {\n\tcolor: red;\n}\n.b {}\n", lean_style, |_, _| true), ".a{color:red}.b{}\n");
    }

    #[test]
    fn blanks_without_meaning_are_removed() {
        let cases = [
            ("const a = { b: 1, c: d ? e : f };", "const a={b:1,c:d?e:f};"),
            ("f(\"a = b, c\", x + 1 - y);", "f(\"a = b, c\",x+1 - y);"),
            ("f(\"an \\\" = quote\", x);", "f(\"an \\\" = quote\",x);"),
            ("g(a, `it is ${b, c} = d`, e, `f`);", "g(a,`it is ${b, c} = d`, e, `f`);"),
            ("return /a , b/.test(c) || d;", "return /a , b/.test(c) || d;"),
        ];
        for (line, lean) in cases {
            assert_eq!(lean_script(line), lean);
        }
        let style = ".a b, .c { color: red; content: \"a ; b\"; }";
        assert_eq!(lean_style(style), ".a b,.c{color:red;content:\"a ; b\"}");
    }

    #[test]
    fn only_files_of_the_page_are_read() {
        assert_eq!(Page::Embedded.answer("/").status(), StatusCode::OK);
        assert_eq!(Page::Embedded.answer("/tv").status(), StatusCode::OK);
        let folder = Page::Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("page"));
        assert_eq!(folder.answer("/index.html").status(), StatusCode::OK);
        for path in [
            "/../Cargo.toml",
            "/..%2fCargo.toml",
            "//index.html",
            "/.git",
            "/none.html",
            "/a/../index.html",
            "/x\0.html",
        ] {
            assert_eq!(folder.answer(path).status(), StatusCode::NOT_FOUND, "{path}");
            assert_eq!(Page::Embedded.answer(path).status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(Page::None.answer("/").status(), StatusCode::NOT_FOUND);
    }
}
