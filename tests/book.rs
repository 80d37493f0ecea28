//! Tests the book in `docs/`: all its examples are executed, and every link leads somewhere.
//!
//! Each page is executed from its top in its own empty folder. A block after a sentence that ends with a path in code
//! and a colon is written to that file; a `console` block is run and its output compared; at the end of the page, every
//! ruleset in the folder must pass `check` and its specs. Rust is tested by doc tests (`src/lib.rs`), `text` marks what
//! is no code, and any other block is refused.
//!
//! `BOOK=overwrite cargo test --test book` updates the output of consoles; read the difference before committing it.
#![cfg(feature = "cli")]

mod parallel;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use parallel::on_every_core;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

const BOOK: &str = "docs";
const SUMMARY: &str = "SUMMARY.md";

/// A line that matches any number of lines of output; inside a line, `[..]` matches any text.
const ANY_LINES: &str = "...";
const ANY_TEXT: &str = "[..]";

/// The prefix of a line that is typed into a running program.
const TYPED: &str = "» ";

/// The shipped games, whose reference is in the book.
const GAMES: [&str; 5] = ["riskbreaker-0.0.1", "riskbreaker-0.0.3", "contest", "rbf", "silent-winter"];

#[test]
fn the_reference_of_each_ruleset_is_a_page() {
    let library = riskbreaker::Library::open(root().join("rulesets")).expect("the rulesets");
    for id in GAMES {
        let rules = riskbreaker::Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
        let (page, made) = (
            format!("rulesets/{id}.md"),
            riskbreaker::script::ruleset_reference(&rules, &riskbreaker::check::derived_types(&rules)),
        );
        let path = root().join(BOOK).join(&page);
        if std::env::var("BOOK").is_ok_and(|how| how == "overwrite") {
            fs::create_dir_all(path.parent().expect("a folder")).expect("the folder of the pages");
            fs::write(&path, &made).expect("the page");
        }
        let shown = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(shown == made, "{BOOK}/{page} is old: `riskbreaker reference {id}`, or BOOK=overwrite");
    }
}

#[test]
fn the_summary_lists_every_page() {
    let listed: BTreeSet<String> = Page::read(SUMMARY).links.into_iter().collect();
    let there: BTreeSet<String> = page_names().into_iter().filter(|name| name != SUMMARY).collect();
    assert_eq!(listed, there, "left: docs/SUMMARY.md; right: the pages in docs/");
}

#[test]
fn every_link_has_a_target() {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for name in page_names() {
        pages.insert(name.clone(), Page::read(&name));
    }
    let readme = Page::of(&fs::read_to_string(root().join("README.md")).expect("README.md"));
    let mut dead = Vec::new();
    let all = pages.iter().map(|(name, page)| (Path::new(BOOK).join(name), page));
    for (path, page) in all.chain([(PathBuf::from("README.md"), &readme)]) {
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { joined(path.parent().unwrap_or(&path), file) };
            let there = root().join(&target).exists();
            let name = target.strip_prefix(BOOK).map(|name| name.to_string_lossy().replace('\\', "/"));
            let heading = match name.ok().and_then(|name| pages.get(&name)) {
                _ if anchor.is_empty() => true,
                Some(page) => page.anchors.contains(anchor),
                None => target == Path::new("README.md") && readme.anchors.contains(anchor),
            };
            if !there || !heading {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

/// Tables, code, headings and lines of one long word, such as a link, cannot be wrapped.
#[test]
fn no_line_of_prose_is_wider_than_a_hundred_columns() {
    let mut pages = vec![PathBuf::from("README.md")];
    pages.extend(page_names().into_iter().map(|name| Path::new(BOOK).join(name)));
    for ruleset in fs::read_dir(root().join("rulesets")).expect("rulesets") {
        let page = ruleset.expect("an entry").path().join("RULES.md");
        if page.is_file() {
            pages.push(page);
        }
    }
    let mut wide = Vec::new();
    for page in pages {
        let text = fs::read_to_string(root().join(&page)).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let mut code = false;
        for (line, at) in text.lines().zip(1..) {
            let inside = line.trim_start();
            code ^= inside.starts_with("```");
            let prose = !code && !inside.starts_with(['|', '#']) && inside.split_whitespace().count() > 2;
            if prose && line.chars().count() > 100 {
                wide.push(format!("{}:{at}", page.display()));
            }
        }
    }
    assert!(wide.is_empty(), "lines wider than 100 columns:\n{}", wide.join("\n"));
}

#[test]
fn every_example_of_a_page_runs() {
    let wrong =
        on_every_core(&page_names(), |name| work_through(name).err().map(|error| format!("{BOOK}/{name}: {error}")));
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages as paths from the book's folder, sorted.
fn page_names() -> Vec<String> {
    let book = root().join(BOOK);
    let (mut names, mut folders) = (Vec::new(), vec![book.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder of the book").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(&book).expect("inside").to_string_lossy().replace('\\', "/");
                names.push(name);
            }
        }
    }
    names.sort();
    names
}

/// Appends relative steps, including `..`, to a path.
fn joined(from: &Path, steps: &str) -> PathBuf {
    let mut path = from.to_path_buf();
    for step in Path::new(steps).components() {
        match step {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

/// The contents of a page.
#[derive(Default)]
struct Page {
    text: String,
    blocks: Vec<Block>,
    links: Vec<String>,
    /// The anchors of headings, as GitHub and mdbook spell them.
    anchors: BTreeSet<String>,
}

struct Block {
    /// The first word after the fence.
    language: String,
    /// The file that the sentence before it names.
    file: Option<String>,
    text: String,
    /// The byte range in the page.
    range: Range<usize>,
}

impl Page {
    fn read(name: &str) -> Page {
        Page::of(&fs::read_to_string(root().join(BOOK).join(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    fn of(text: &str) -> Page {
        let mut page = Page { text: text.to_owned(), ..Page::default() };
        let mut heading: Option<String> = None;
        // The last piece of code in the current paragraph, and the text after it.
        let mut named: Option<(String, String)> = None;
        let mut block: Option<Block> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.anchors.insert(anchor_of(&heading.take().unwrap_or_default()));
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Paragraph) => named = None,
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    let file = named.take().and_then(|(code, after)| (after.trim() == ":").then_some(code));
                    let language = info.split([' ', ',']).next().unwrap_or_default().to_owned();
                    block = Some(Block { language, file, text: String::new(), range: range.end..range.end });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Code(code) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                    named = Some((code.into_string(), String::new()));
                }
                Event::Text(piece) => {
                    if let Some(block) = &mut block {
                        block.text.push_str(&piece);
                        block.range = block.range.start.min(range.start)..range.end;
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&piece);
                    } else if let Some((_, after)) = &mut named {
                        after.push_str(&piece);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// Converts a heading to its anchor: `What "is" a tape?` to `what-is-a-tape`.
fn anchor_of(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Executes a page. The error describes the first difference.
fn work_through(name: &str) -> Result<(), String> {
    let page = Page::read(name);
    let place = Place::new(name);
    let mut rewritten: Vec<(Range<usize>, String)> = Vec::new();
    for block in &page.blocks {
        match (block.language.as_str(), &block.file) {
            ("text", None) => {}
            ("rust", None) => rust_is_tested(name)?,
            ("sh", None) => needs_no_run(&block.text)?,
            ("console", None) => match place.converse(&block.text) {
                Ok(()) => {}
                Err(Differs { new: Some(new), .. }) if std::env::var("BOOK").is_ok_and(|how| how == "overwrite") => {
                    rewritten.push((block.range.clone(), new));
                }
                Err(differs) => return Err(differs.said),
            },
            ("luau" | "toml" | "markdown" | "json", Some(file)) => place.write(file, &block.text)?,
            (language, file) => {
                return Err(format!(
                    "a block of `{language}` for {file:?}: name its file in code with a colon before it, or show it as console or text:\n{}",
                    block.text
                ));
            }
        }
    }
    if !rewritten.is_empty() {
        let mut text = page.text.clone();
        for (range, new) in rewritten.into_iter().rev() {
            text.replace_range(range, &new);
        }
        fs::write(root().join(BOOK).join(name), text).map_err(|error| error.to_string())?;
    }
    place.is_sound()
}

/// Checks that the Rust of a page is compiled in the documentation of the crate.
fn rust_is_tested(page: &str) -> Result<(), String> {
    let front = fs::read_to_string(root().join("src/lib.rs")).map_err(|error| error.to_string())?;
    let named = format!("include_str!(\"../{BOOK}/{page}\")");
    if front.contains(&named) { Ok(()) } else { Err(format!("Rust in it is not tested: src/lib.rs has no {named}")) }
}

/// Checks that a block in `sh` has only commands that need the network or another tool.
fn needs_no_run(text: &str) -> Result<(), String> {
    let strange = text.lines().find(|line| !["cargo ", "git ", "mdbook "].iter().any(|tool| line.starts_with(tool)));
    strange.map_or(Ok(()), |line| Err(format!("`{line}` is not run: show it in a console")))
}

/// The folder in which a page is executed.
struct Place(PathBuf);

struct Differs {
    said: String,
    /// The block with the actual output.
    new: Option<String>,
}

impl Place {
    fn new(page: &str) -> Place {
        let folder =
            std::env::temp_dir().join(format!("riskbreaker-book-{}-{}", page.replace('/', "-"), std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Place(folder)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = joined(&self.0, file);
        let inside = path.starts_with(&self.0) && path != self.0 && !file.contains(' ') && file.contains('.');
        if !inside {
            return Err(format!("`{file}` is no file that a block could be written to"));
        }
        let written = fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("{file}: {error}"))
    }

    /// Runs the commands of a console and compares their output.
    fn converse(&self, text: &str) -> Result<(), Differs> {
        let mut new = String::new();
        let mut said = None;
        for (command, status, expected) in commands(text) {
            let typed: Vec<&str> = expected.lines().filter_map(|line| line.strip_prefix(TYPED)).collect();
            let (found_status, found) = self
                .call(command, &typed)
                .map_err(|said| Differs { said: format!("`{command}`: {said}"), new: None })?;
            new.push_str(&format!("$ {command}\n"));
            if found_status != 0 {
                new.push_str(&format!("? {found_status}\n"));
            }
            if status == found_status && matches(&expected, &found) {
                new.push_str(&expected);
                continue;
            }
            new.push_str(&found);
            said.get_or_insert(format!(
                "`{command}` ended with {found_status}, {status} expected, and printed\n{found}\nwhere the page says\n{expected}"
            ));
        }
        said.map_or(Ok(()), |said| Err(Differs { said, new: Some(new) }))
    }

    /// Runs a command line. Returns its status and all its output.
    fn call(&self, command: &str, typed: &[&str]) -> Result<(i32, String), String> {
        let program = Path::new(env!("CARGO_BIN_EXE_riskbreaker"));
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = program.parent().unwrap_or(program).display();
        let mut child = Command::new("sh")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&self.0)
            .env("PATH", format!("{folder}:{path}"))
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", self.0.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let lines: String = typed.iter().map(|line| format!("{line}\n")).collect();
        // It may have stopped reading before the last line.
        let _ = child.stdin.take().ok_or("it reads nothing")?.write_all(lines.as_bytes());
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        Ok((output.status.code().unwrap_or(-1), printed))
    }

    /// Checks that every ruleset of the page passes `check`, and has specs that hold.
    fn is_sound(&self) -> Result<(), String> {
        let Ok(rulesets) = fs::read_dir(self.0.join("rulesets")) else { return Ok(()) };
        let mut names: Vec<String> =
            rulesets.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        for name in names {
            // A filter that finds no spec is an error, so each ruleset must have some.
            for command in
                [format!("riskbreaker check {name}"), format!("riskbreaker test {name} --filter {name}/specs")]
            {
                let (status, printed) = self.call(&command, &[])?;
                if status != 0 {
                    return Err(format!("at its end `{command}` ends with {status}:\n{printed}"));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The commands of a console, each with the expected status (`? 1` on the next line; 0 by default) and output.
fn commands(text: &str) -> Vec<(&str, i32, String)> {
    let mut found: Vec<(&str, i32, String)> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command, 0, String::new()));
        } else if let Some((_, status, expected)) = found.last_mut() {
            match line.strip_prefix("? ").and_then(|status| status.parse().ok()) {
                Some(said) if expected.is_empty() => *status = said,
                _ => {
                    expected.push_str(line);
                    expected.push('\n');
                }
            }
        }
    }
    found
}

/// True if the output is as expected. `...` lines and `[..]` match anything; white space at the end of lines is
/// ignored.
fn matches(expected: &str, found: &str) -> bool {
    let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    lines_match(&expected, &found)
}

fn lines_match(expected: &[&str], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((&ANY_LINES, rest)) => (0..=found.len()).any(|skipped| lines_match(rest, &found[skipped..])),
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others))
        }
    }
}

fn line_matches(expected: &str, found: &str) -> bool {
    let mut pieces = expected.split(ANY_TEXT);
    let first = pieces.next().unwrap_or_default();
    let Some(mut left) = found.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return left.is_empty() };
    for piece in between {
        let Some((_, after)) = left.split_once(piece) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[test]
fn printed_output_is_compared_line_by_line() {
    assert!(matches("a\n...\nz\n", "a\nb\nc\nz\n") && matches("a\n...\n", "a\n") && !matches("a\n...\nz\n", "a\nb\n"));
    assert!(
        matches("took [..] s\n", "took 1.2 s\n") && !matches("took [..] s\n", "took 1.2 min\n") && !matches("a", "ab")
    );
    assert_eq!(commands("$ x\n? 1\nno\n$ y\n"), [("x", 1, "no\n".to_owned()), ("y", 0, String::new())]);
    assert_eq!(anchor_of("In `play.luau`: what's first?"), "in-playluau-whats-first");
}
