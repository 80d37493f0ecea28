//! Answers to an editor's requests about a position in a text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::iter::Peekable;
use std::ops::Range as ByteRange;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread;
use std::vec::IntoIter;

use gen_lsp_types::{
    BaseSymbolInformation, CodeLens, Command, CompletionItem, Contents, DocumentSymbol, Hover, Location, MarkupContent,
    MarkupKind, Position, Range, SymbolKind, TextEdit, Uri,
};
use serde_json::{Value as Json, json};

use super::call_help::call_help;
use super::card_odds::HoveredCard;
use super::completion::completions;
use super::document::{offset_in, span_in};
use super::field_values::value_at;
use super::finding::range_of;
use super::host_keys::host_key_at;
use super::lookup::{FileLookup, Spot, is_declaration};
use super::outline::{OutlineItem, OutlineSort, outline};
use super::path::{of_uri, to_uri};
use super::semantic::semantic_tokens;
use super::target::{NameSense, NameTarget, target_at};
use super::workspace::Workspace;
use riskbreaker_check::Lint;
use riskbreaker_script::api;

/// The command of code lenses, which the editor runs in a terminal. Its only argument is the command line.
const RUN: &str = "riskbreaker.run";

/// The card under the cursor or mouse.
pub(super) struct CardPlace {
    /// The folder of the ruleset with the file.
    folder: PathBuf,
    card: String,
}

/// The most symbols of a search in all files.
const MOST_SYMBOLS: usize = 200;

impl Workspace {
    /// The name at a position, with its range for the editor.
    fn pointed_at(&self, uri: &Uri, position: Position) -> Option<(FileLookup<'_>, NameTarget, Range)> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let lookup = FileLookup::new(self, &file)?;
        let at = offset_in(&text, position);
        let (target, range) = target_at(&lookup.place.inside, &text, at)?;
        let target = lookup.refined(target, &text, at);
        // A value may have spaces.
        let range = match (&target, value_at(&lookup.place.inside, &text, at)) {
            (NameTarget::Value { .. }, Some(value)) => value.range,
            _ => range,
        };
        Some((lookup, target, span_in(&text, range)))
    }

    pub fn hover(&self, uri: &Uri, position: Position) -> Option<Hover> {
        let is_script = |file: &PathBuf| self.place_of(file).is_some_and(|place| place.inside.ends_with(".luau"));
        let of_host = of_uri(uri).filter(is_script).and_then(|file| {
            let text = self.text_of(&file);
            let (description, range) = host_key_at(&text, offset_in(&text, position))?;
            Some((description, span_in(&text, range)))
        });
        let described = of_host.or_else(|| {
            let (lookup, target, range) = self.pointed_at(uri, position)?;
            Some((lookup.description(&target)?, range))
        });
        let lints = self.lints_at(uri, position);
        let (value, range) = match described {
            Some((description, range)) if lints.is_empty() => (description, Some(range)),
            Some((description, range)) => (format!("{description}\n\n---\n\n{lints}"), Some(range)),
            None if lints.is_empty() => return None,
            None => (lints, None),
        };
        let contents = Contents::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range })
    }

    /// The explanations of the lints that have found something at a position, as Markdown.
    fn lints_at(&self, uri: &Uri, position: Position) -> String {
        let Some(file) = of_uri(uri) else { return String::new() };
        let text = self.text_of(&file);
        let at = offset_in(&text, position);
        let problems = self.problems_of(&file).into_iter().filter(|problem| range_of(problem, &text).contains(&at));
        let mut lints: Vec<&str> = problems.filter_map(|problem| problem.lint).collect();
        lints.dedup();
        let told = lints.into_iter().filter_map(Lint::named);
        let told = told.map(|lint| format!("**{}** ({}): {}", lint.name, lint.severity.word(), lint.explanation));
        told.collect::<Vec<_>>().join("\n\n")
    }

    /// The card at a position, with the folder of the ruleset of the file: a card id in quotes, or the word that
    /// declares the card in its own file.
    pub fn card_at(&self, uri: &Uri, position: Position) -> Option<CardPlace> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let lookup = FileLookup::new(self, &file)?;
        let (target, range) = target_at(&lookup.place.inside, &text, offset_in(&text, position))?;
        let card = match target {
            NameTarget::Name(name, _) if text[..range.start].ends_with(['"', '\'', '`']) => name,
            NameTarget::Word { of: "rb", name } if name == "maneuver" => {
                lookup.place.inside.strip_prefix("maneuvers/")?.strip_suffix(".luau")?.to_owned()
            }
            _ => return None,
        };
        let is_card = lookup.books().any(|book| book.card(&card).is_some());
        is_card.then(|| CardPlace { folder: lookup.place.folder.clone(), card })
    }

    /// The card with the rules to play it by; `None` if these do not load.
    pub fn card_for_odds(&self, place: &CardPlace) -> Option<HoveredCard> {
        let CardPlace { folder, card } = place;
        let rules = self.rules_now(folder).into_iter().find(|rules| rules.card(card).is_some())?;
        Some(HoveredCard { card: card.clone(), rules, saved: self.saved_library(folder) })
    }

    pub fn definition(&self, uri: &Uri, position: Position) -> Option<Vec<Location>> {
        let (lookup, target, _) = self.pointed_at(uri, position)?;
        Some(self.locations(lookup.definitions(&target)))
    }

    pub fn references(&self, uri: &Uri, position: Position) -> Option<Vec<Location>> {
        let (lookup, target, _) = self.pointed_at(uri, position)?;
        Some(self.locations(lookup.mentions(&target)))
    }

    fn locations(&self, spots: Vec<Spot>) -> Vec<Location> {
        let spots: BTreeSet<Spot> = spots.into_iter().collect();
        let mut texts: HashMap<&Path, String> = HashMap::new();
        let mut found = Vec::new();
        for Spot { file, begin, end } in &spots {
            let text = texts.entry(file).or_insert_with(|| self.text_of(file));
            found.push(Location { uri: to_uri(file), range: span_in(text, *begin..*end) });
        }
        found
    }

    pub fn completion(&self, uri: &Uri, position: Position) -> Option<Vec<CompletionItem>> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let lookup = FileLookup::new(self, &file)?;
        Some(completions(&lookup, &text, offset_in(&text, position)))
    }

    /// The semantic tokens of a script or a data file: the words that have a meaning in its ruleset.
    pub fn semantic_tokens(&self, uri: &Uri) -> Option<Json> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let lookup = FileLookup::new(self, &file)?;
        let is_known = [".luau", ".toml"].iter().any(|ending| lookup.place.inside.ends_with(ending));
        is_known.then(|| json!({ "data": semantic_tokens(&lookup, &text) }))
    }

    /// The signature of the call around a position, with the active parameter.
    pub fn call_help(&self, uri: &Uri, position: Position) -> Option<Json> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let lookup = FileLookup::new(self, &file)?;
        if !lookup.place.inside.ends_with(".luau") {
            return None;
        }
        call_help(&lookup, &text, offset_in(&text, position))
    }

    /// The range of a name that can be renamed, or the reason why it cannot.
    pub fn may_rename(&self, uri: &Uri, position: Position) -> Result<Range, String> {
        let Some((lookup, target, range)) = self.pointed_at(uri, position) else {
            return Err("there is no name here".into());
        };
        match &target {
            NameTarget::Word { .. } => return Err("a word of the vocabulary has the same name in every ruleset".into()),
            NameTarget::File(_) => return Err("a file is renamed by moving it".into()),
            NameTarget::Rule(_) | NameTarget::Variable { .. } => {}
            NameTarget::Param { verb, name } => lookup.may_rename_param(verb, name)?,
            NameTarget::Value { of, value } => lookup.may_rename_value(of, value)?,
            NameTarget::Name(name, _) => {
                if api::known_members().any(|known| known == name) {
                    return Err(format!("`{name}` is also a name of the host, so its places cannot be told apart"));
                }
                if !name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
                    || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                {
                    return Err(format!("`{name}` is no name"));
                }
            }
        }
        if lookup.declarations(&target).is_empty() {
            return Err("no file on the disk declares this name".into());
        }
        Ok(range)
    }

    /// The edit that renames something in every file, and renames the files with that name.
    pub fn rename(&self, uri: &Uri, position: Position, new_name: &str) -> Result<Json, String> {
        self.may_rename(uri, position)?;
        let Some((lookup, target, _)) = self.pointed_at(uri, position) else {
            return Err("there is no name here".into());
        };
        lookup.may_become(&target, new_name)?;
        let mut edits: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
        for Location { uri, range } in self.locations(lookup.mentions(&target)) {
            edits.entry(uri.0).or_default().push(TextEdit { range, new_text: new_name.to_owned() });
        }
        let NameTarget::Name(old, NameSense::Any) = &target else { return Ok(json!({ "changes": edits })) };
        let moved: Vec<Json> = lookup
            .files_of_all()
            .into_keys()
            .filter(|file| file.file_stem().is_some_and(|stem| stem == old.as_str()))
            .map(|file| {
                let ending = file.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
                let new = file.with_file_name(format!("{new_name}.{ending}"));
                json!({ "kind": "rename", "oldUri": to_uri(&file).0, "newUri": to_uri(&new).0 })
            })
            .collect();
        if moved.is_empty() {
            return Ok(json!({ "changes": edits }));
        }
        let version = |uri: &String| {
            let document = of_uri(&Uri(uri.clone())).and_then(|file| self.documents.get(&file));
            document.map(|document| document.version)
        };
        let changed = edits
            .iter()
            .map(|(uri, edits)| json!({ "textDocument": { "uri": uri, "version": version(uri) }, "edits": edits }));
        Ok(json!({ "documentChanges": changed.chain(moved).collect::<Vec<Json>>() }))
    }

    /// The declarations of a file, each with those inside of it.
    pub fn symbols(&self, uri: &Uri) -> Option<Vec<DocumentSymbol>> {
        let file = of_uri(uri)?;
        let place = self.place_of(&file)?;
        let text = self.text_of(&file);
        let shown: Vec<OutlineItem> = outline(&place.inside, &text).into_iter().filter(is_shown).collect();
        Some(symbols_in(&mut shown.into_iter().peekable(), &text, usize::MAX))
    }

    /// The symbols in the rulesets of the open files whose names contain `query`, in any case.
    pub fn search(&self, query: &str) -> Vec<Json> {
        let query = query.to_lowercase();
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for file in self.documents.keys() {
            let Some(lookup) = FileLookup::new(self, file) else { continue };
            if !seen.insert(lookup.place.folder.clone()) {
                continue;
            }
            for (file, (inside, text)) in lookup.files_of_all() {
                if found.len() >= MOST_SYMBOLS {
                    return found;
                }
                let matching = |declared: &OutlineItem| declared.name.to_lowercase().contains(&query);
                for declared in
                    outline(&inside, &text).into_iter().filter(|item| is_found(&inside, item)).filter(matching)
                {
                    let range = span_in(&text, declared.range);
                    let base = BaseSymbolInformation {
                        name: declared.name,
                        kind: symbol_kind(declared.sort),
                        tags: None,
                        container_name: Some(inside.clone()),
                    };
                    let mut symbol = serde_json::to_value(base).unwrap_or_default();
                    symbol["location"] = json!({ "uri": to_uri(&file).0, "range": range });
                    if !found.contains(&symbol) {
                        found.push(symbol);
                    }
                }
            }
        }
        found.truncate(MOST_SYMBOLS);
        found
    }

    /// The code lenses of a file, which run its specs, or show the odds of its card and the layers that overrule it.
    pub fn lenses(&self, uri: &Uri) -> Option<Vec<CodeLens>> {
        let file = of_uri(uri)?;
        let place = self.place_of(&file)?;
        let stem = place.inside.strip_suffix(".luau")?;
        let folder = place.folder.parent()?.display().to_string();
        let called = |call: String| format!("riskbreaker --rulesets {} {call}", quoted(&folder));
        let mut lenses = Vec::new();
        let whole = Range::default();
        let mut lens = |title: &str, call: String, range: Range| {
            let command = Command {
                title: title.to_owned(),
                tooltip: None,
                command: RUN.to_owned(),
                arguments: Some(vec![json!(called(call))]),
            };
            lenses.push(CodeLens { range, command: Some(command), data: None });
        };
        if stem.starts_with("specs/") {
            lens("Run the specs of this file", format!("test {} --filter {}", place.id, quoted(&place.inside)), whole);
            let text = self.text_of(&file);
            for spec in outline(&place.inside, &text).into_iter().filter(|item| item.sort == OutlineSort::Spec) {
                let name = format!("={}", name_of_spec(&text, spec.range.clone()));
                let call = format!("test {} --filter {} --trace", place.id, quoted(&name));
                lens("Run this spec", call, span_in(&text, spec.range));
            }
            return Some(lenses);
        }
        let (folder, id) = stem.split_once('/')?;
        let specs = format!("specs/{}", place.inside);
        if place.folder.join(&specs).is_file() {
            lens("Run its specs", format!("test {} --filter {}", place.id, quoted(&specs)), whole);
        }
        if folder == "maneuvers" {
            let lookup = FileLookup::new(self, &file)?;
            let library = self.library(&place.folder)?;
            let way = library.ways_to_play(&place.id).into_iter().next()?;
            lens("Odds", format!("odds {} --rules {way}", quoted(id)), whole);
            let has_file =
                |layer: &String| library.read(layer).is_ok_and(|read| read.files.contains_key(&place.inside));
            let above: Vec<String> = lookup.layers_above().into_iter().filter(has_file).collect();
            for layer in &above {
                let ways = library.ways_to_play(layer);
                let over = ways.iter().find(|way| way.split('+').any(|part| part == place.id)).unwrap_or(layer);
                lens(&format!("Overruled in {layer}"), format!("rules explain {} --rules {over}", quoted(id)), whole);
            }
            if above.is_empty() {
                lens("Who overrules this", format!("rules explain {} --rules {way}", quoted(id)), whole);
            }
        }
        Some(lenses)
    }

    /// The edits that format a text with stylua; `None` if stylua is not installed or cannot parse the text.
    pub fn formatted(&self, uri: &Uri) -> Option<Vec<TextEdit>> {
        let file = of_uri(uri)?;
        let text = self.text_of(&file);
        let formatted = stylua(&file, &text).ok()?;
        if formatted == text || formatted.is_empty() {
            return Some(Vec::new());
        }
        Some(vec![TextEdit { range: span_in(&text, 0..text.len()), new_text: formatted }])
    }
}

/// The name of a spec as the program shows it, from its text in a script; `{}` for a value in an interpolated text.
fn name_of_spec(text: &str, range: ByteRange<usize>) -> String {
    let written = &text[range.clone()];
    if text[..range.start].ends_with('`') {
        let name = written.split('{').next().unwrap_or_default();
        return if name.len() < written.len() { format!("{name}{{}}") } else { name.to_owned() };
    }
    let mut name = String::new();
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            name.extend(letters.next());
        } else {
            name.push(letter);
        }
    }
    name
}

fn stylua(file: &Path, text: &str) -> io::Result<String> {
    let mut process = Process::new("stylua")
        .arg("--stdin-filepath")
        .arg(file)
        .arg("-")
        .current_dir(file.parent().unwrap_or(Path::new(".")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (mut input, text) = (process.stdin.take(), text.to_owned());
    let writer = thread::spawn(move || input.as_mut().map(|input| input.write_all(text.as_bytes())));
    let output = process.wait_with_output()?;
    // The process may end before it has read everything; its exit code shows that.
    let _ = writer.join();
    if !output.status.success() {
        return Err(io::Error::other("stylua cannot read the text"));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    if cfg!(windows) { format!("\"{argument}\"") } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}

/// True if the outline lists an item. Keys nested deeper than two tables are details.
fn is_shown(declared: &OutlineItem) -> bool {
    declared.sort != OutlineSort::Key || declared.around.len() <= 2
}

/// True if a search over all files finds an item: what other files can name, and functions, specs and rules.
fn is_found(inside: &str, declared: &OutlineItem) -> bool {
    let stem = inside.rsplit_once('.').map_or(inside, |(stem, _)| stem);
    let is_hooked = matches!(&*declared.around, [around] if matches!(&**around, "before" | "after" | "wrap"))
        && ["hooks/", "items/"].iter().any(|folder| inside.starts_with(folder));
    let senses = [NameSense::Any, NameSense::Fact];
    declared.sort != OutlineSort::Key
        || is_hooked
        || senses.into_iter().any(|sense| is_declaration(stem, &declared.around, sense))
}

/// The symbols of the items that begin before a byte, which are in the order of the text.
fn symbols_in(items: &mut Peekable<IntoIter<OutlineItem>>, text: &str, end: usize) -> Vec<DocumentSymbol> {
    let mut found = Vec::new();
    while let Some(item) = items.next_if(|item| item.whole.start < end) {
        let children = symbols_in(items, text, item.whole.end);
        #[allow(deprecated)]
        let symbol = DocumentSymbol {
            name: item.name,
            detail: None,
            kind: symbol_kind(item.sort),
            tags: None,
            deprecated: None,
            range: span_in(text, item.whole),
            selection_range: span_in(text, item.range),
            children: (!children.is_empty()).then_some(children),
        };
        found.push(symbol);
    }
    found
}

fn symbol_kind(sort: OutlineSort) -> SymbolKind {
    match sort {
        OutlineSort::File => SymbolKind::Class,
        OutlineSort::Key => SymbolKind::Field,
        OutlineSort::Function => SymbolKind::Function,
        OutlineSort::Spec => SymbolKind::Event,
        OutlineSort::Rule => SymbolKind::Key,
        OutlineSort::Heading => SymbolKind::Namespace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_spec_is_without_escapes() {
        let name = |text: &str| name_of_spec(text, 1..text.len() - 1);
        assert_eq!(name(r#""it's \"x\" {face}""#), "it's \"x\" {face}");
        assert_eq!((name("`MG-1: {x}"), name("`MG-1: it`")), ("MG-1: {}".to_owned(), "MG-1: it".to_owned()));
    }

    #[test]
    fn a_quoted_argument_stays_one_argument_in_a_shell() {
        assert_eq!((&*quoted("a/b.luau"), &*quoted("ü_1")), ("a/b.luau", "ü_1"));
        if cfg!(unix) {
            assert_eq!((&*quoted("it's $x"), &*quoted("")), ("'it'\\''s $x'", "''"));
        }
    }
}
