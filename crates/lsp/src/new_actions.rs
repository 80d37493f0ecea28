//! Code actions that write something new: a declaration that is missing, a spec of a card, a change of a declaration in a
//! layer.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use gen_lsp_types::{Position, Uri};
use serde_json::{Value as Json, json};

use super::document::{offset_in, span_in};
use super::expected::call_place;
use super::finding::range_of;
use super::lookup::FileLookup;
use super::outline::{OutlineItem, OutlineSort, outline};
use super::path::{of_uri, to_uri};
use super::target::{NameSense, NameTarget, code, sense_at, target_at};
use super::token::{Token, TokenKind, is_keyword};
use super::workspace::Workspace;
use riskbreaker_check::Members;
use riskbreaker_play::{Ruleset, Session, Setup, Step};
use riskbreaker_ruleset::{Cure, Manifest, Problem};
use riskbreaker_spec::spec_of_game;
use riskbreaker_state::Value;

/// An action that changes or creates one file.
#[derive(Debug)]
pub(super) struct NewAction {
    pub title: String,
    file: PathBuf,
    /// The changes of the file; if it does not exist yet, its text.
    edits: Vec<(Range<usize>, String)>,
    is_new: bool,
}

impl NewAction {
    /// The edit for the editor. `text`: the text of the file now, with its version if it is open.
    pub fn edit(&self, text: &str, version: Option<i32>) -> Json {
        let uri = to_uri(&self.file).0;
        let edits: Vec<Json> = self
            .edits
            .iter()
            .map(|(range, new)| json!({ "range": span_in(text, range.clone()), "newText": new }))
            .collect();
        if !self.is_new {
            return json!({ "changes": { uri: edits } });
        }
        let create = json!({ "kind": "create", "uri": uri, "options": { "ignoreIfExists": true } });
        json!({ "documentChanges": [create, { "textDocument": { "uri": uri, "version": version }, "edits": edits }] })
    }
}

/// The folders whose files declare something that a layer can extend, with the word that does it.
const EXTENDED: [(&str, &str); 3] = [("maneuvers/", "maneuver"), ("items/", "item"), ("hooks/", "hook")];

/// The index of the token of a name in a range; of the token at its start if no token has that name.
fn place_of(tokens: &[Token], text: &str, name: &str, at: &Range<usize>) -> Option<usize> {
    let is_named = |token: &Token| match token.kind {
        TokenKind::Text => text[token.inner(text)] == *name,
        _ => token.text(text) == name,
    };
    let named = |token: &Token| at.start < token.end && token.begin < at.end && is_named(token);
    let first = |token: &Token| token.begin <= at.start && at.start < token.end;
    tokens.iter().position(named).or_else(|| tokens.iter().position(first))
}

/// The kind of the entity whose member is named by a token: `foe.hits`, `foe:set("hits", 1)`, `rb.spawn("foe", { hits = 1
/// })`. `None` if it is not known.
fn kind_around(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], index: usize) -> Option<String> {
    let before = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
    let after_mark = match (before(1), before(3)) {
        ("." | ":", _) => index,
        ("(", ":") => index - 2,
        _ => {
            let place = call_place(text, &tokens[..index])?;
            let takes_kind = matches!(&*place.callee, "rb.spawn" | "rb.each" | "rb.first") && place.argument == 1;
            return place.texts.into_iter().next().flatten().filter(|_| takes_kind);
        }
    };
    match lookup.members_before(text, &tokens[..after_mark])? {
        Members::Entity(kind) => kind,
        _ => None,
    }
}

impl Workspace {
    /// The action that declares the unknown name of a problem: a verb, a field or a switch.
    pub fn missing_declaration(&self, uri: &Uri, problem: &Problem) -> Option<NewAction> {
        let file = of_uri(uri)?;
        let lookup = FileLookup::new(self, &file)?;
        let text = self.text_of(&file);
        let at = range_of(problem, &text);
        if !matches!(problem.lint, Some("unknown-name" | "unknown-field")) {
            return None;
        }
        let tokens = code(&text);
        let written = problem.cure.as_ref().and_then(Cure::written);
        let index = match written {
            Some(name) => place_of(&tokens, &text, name, &at),
            None => tokens.iter().rposition(|token| at.start < token.end && token.begin < at.end),
        }?;
        let token = tokens[index];
        let name = match token.kind {
            TokenKind::Name => token.text(&text),
            TokenKind::Text => &text[token.inner(&text)],
            _ => return None,
        };
        match sense_at(&tokens, index, &text) {
            _ if name.is_empty() => None,
            NameSense::Verb if lookup.books().all(|book| book.verb(name).is_none()) => {
                self.new_verb(&lookup, &text, name, &at)
            }
            NameSense::Switch if lookup.books().all(|book| book.switch(name).is_none()) => {
                Some(self.new_switch(&lookup, &text, name, &at))
            }
            NameSense::Any => {
                let kind = kind_around(&lookup, &text, &tokens, index)?;
                self.new_field(&lookup, &text, (&kind, name), &at)
            }
            _ => None,
        }
    }

    /// An action on a file of the ruleset that inserts an entry into the table of a word, or writes the file.
    fn new_entry(&self, lookup: &FileLookup<'_>, title: String, word: &str, entry: &str) -> Option<NewAction> {
        let file = lookup.place.folder.join(format!("{word}.luau"));
        let text = self.text_of(&file);
        if text.trim().is_empty() {
            let text = format!("local rb = require(\"@riskbreaker\")\n\nreturn rb.{word}({{\n{entry}}})\n");
            let is_new = !file.exists() && !self.documents.contains_key(&file);
            return Some(NewAction { title, file, edits: vec![(0..0, text)], is_new });
        }
        let tokens = code(&text);
        let is_call = |at: usize| {
            let word_at = |at: usize| tokens.get(at).map_or("", |token: &Token| token.text(&text));
            word_at(at) == "rb" && word_at(at + 2) == word && word_at(at + 3) == "(" && word_at(at + 4) == "{"
        };
        let open = (0..tokens.len()).find(|at| is_call(*at))? + 4;
        let edits = at_end_of_table(&text, &tokens, open, entry)?;
        Some(NewAction { title, file, edits, is_new: false })
    }

    fn new_verb(&self, lookup: &FileLookup<'_>, text: &str, verb: &str, at: &Range<usize>) -> Option<NewAction> {
        let tokens = code(text);
        let named = place_of(&tokens, text, verb, at)?;
        let params = parameters(lookup, text, &arguments(text, &tokens, named + 1));
        let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
        let mut entry = format!("\t{verb} = rb.verb({{\n\t\ttext = \"What it does.\",\n");
        for (name, ty) in &params {
            entry.push_str(&format!("\t\t{{ \"{name}\", {ty} }},\n"));
        }
        entry.push_str(&format!("\t}}, function({})\n\t\t-- Change fields here.\n\tend),\n", names.join(", ")));
        self.new_entry(lookup, format!("Declare the verb `{verb}`"), "verbs", &entry)
    }

    fn new_field(
        &self,
        lookup: &FileLookup<'_>,
        text: &str,
        (kind, field): (&str, &str),
        at: &Range<usize>,
    ) -> Option<NewAction> {
        let tokens = code(text);
        let named = place_of(&tokens, text, field, at)?;
        let after = tokens.get(named + 1).map_or("", |token| token.text(text));
        if tokens[named].kind == TokenKind::Name && after == "(" {
            let title = format!("Declare the derived value `{field}` of `{kind}`");
            let params = parameters(lookup, text, &arguments(text, &tokens, named + 1));
            let names: Vec<&str> =
                std::iter::once("self").chain(params.iter().map(|(name, _)| name.as_str())).collect();
            let entry = format!("{field} = function({})\n\treturn 0\nend,", names.join(", "));
            return self.in_kind(lookup, title, (kind, "derived"), &entry);
        }
        let ty = field_type(text, &tokens, named);
        let title = format!("Declare the field `{field}` of `{kind}`");
        self.in_kind(lookup, title, (kind, "fields"), &format!("{field} = {ty},"))
    }

    /// An action on `kinds.luau` that inserts a line into a table of a kind.
    fn in_kind(
        &self,
        lookup: &FileLookup<'_>,
        title: String,
        (kind, table): (&str, &str),
        entry: &str,
    ) -> Option<NewAction> {
        let file = lookup.place.folder.join("kinds.luau");
        let text = self.text_of(&file);
        let items = outline("kinds.luau", &text);
        let is_kind = |item: &&OutlineItem| item.name == kind && item.around.is_empty();
        let is_table = |item: &&OutlineItem| item.name == table && item.around == [kind];
        let declared = items.iter().find(is_kind).map(|item| &item.whole);
        let inside = items.iter().find(is_table).map(|item| &item.whole);
        let indented = |tabs: &str| entry.lines().map(|line| format!("{tabs}{line}\n")).collect::<String>();
        let (whole, entry) = match (declared, inside) {
            (_, Some(whole)) => (whole, indented("\t\t\t")),
            (Some(whole), None) => (whole, format!("\t\t{table} = {{\n{}\t\t}},\n", indented("\t\t\t"))),
            (None, None) => {
                let entry =
                    format!("\t{kind} = rb.extend({{\n\t\t{table} = {{\n{}\t\t}},\n\t}}),\n", indented("\t\t\t"));
                return self.new_entry(lookup, title, "kinds", &entry);
            }
        };
        let tokens = code(&text);
        let open = tokens.iter().position(|token| whole.contains(&token.begin) && token.text(&text) == "{")?;
        let edits = at_end_of_table(&text, &tokens, open, &entry)?;
        Some(NewAction { title, file, edits, is_new: false })
    }

    fn new_switch(&self, lookup: &FileLookup<'_>, text: &str, switch: &str, at: &Range<usize>) -> NewAction {
        let file = lookup.place.folder.join(Manifest::FILE);
        let manifest = self.text_of(&file);
        let tokens = code(text);
        let named = place_of(&tokens, text, switch, at);
        let word = |on: usize| named.and_then(|named| tokens.get(named + on)).map_or("", |token| token.text(text));
        let values = match (word(1), word(2), word(3)) {
            ("=" | "~", "=", value) if value.starts_with('"') => match value {
                "\"off\"" => "[\"off\", \"on\"]".to_owned(),
                value => format!("[\"off\", {value}]"),
            },
            _ => "[false, true]".to_owned(),
        };
        let gap = if manifest.is_empty() || manifest.ends_with('\n') { "" } else { "\n" };
        let new = format!("{gap}\n[switches.{switch}]\nvalues = {values}\ntext = \"What it changes.\"\n");
        let edits = vec![(manifest.len()..manifest.len(), new)];
        NewAction { title: format!("Declare the switch `{switch}`"), file, edits, is_new: false }
    }

    /// The actions at a position that need no problem: a spec of the card, item or hook, and its change in a layer.
    pub fn new_files(&self, uri: &Uri, position: Position) -> Vec<NewAction> {
        let Some(file) = of_uri(uri) else { return Vec::new() };
        let Some(lookup) = FileLookup::new(self, &file) else { return Vec::new() };
        let text = self.text_of(&file);
        let at = offset_in(&text, position);
        let inside = &lookup.place.inside;
        let items = outline(inside, &text);
        let declared = items.iter().find(|item| {
            item.sort == OutlineSort::File
                && inside.ends_with(".luau")
                && item.whole.start <= at
                && at <= item.whole.end
        });
        let mut found = Vec::new();
        if let Some(declared) = declared {
            found.extend(self.new_spec(&lookup, &declared.name));
            let is_top = |item: &&OutlineItem| item.sort == OutlineSort::Key && item.around.is_empty();
            let field = items.iter().filter(is_top).find(|item| item.whole.start <= at && at <= item.whole.end);
            let field = field.filter(|item| item.name != "id").map(|item| &text[item.whole.clone()]);
            for id in lookup.layers_above() {
                found.extend(self.in_layer(&lookup, &id, inside, field));
            }
        }
        if let Some((NameTarget::Name(name, NameSense::Any), _)) = target_at(inside, &text, at) {
            found.extend(EXTENDED.iter().filter_map(|(folder, _)| {
                let path = format!("{folder}{name}.luau");
                let is_below = lookup.is_in_lower_part(&path) && !lookup.place.folder.join(&path).exists();
                if is_below { self.in_layer(&lookup, &lookup.place.id, &path, None) } else { None }
            }));
        }
        found
    }

    /// Writes the spec of a card, an item or a hook that has none.
    fn new_spec(&self, lookup: &FileLookup<'_>, id: &str) -> Option<NewAction> {
        let inside = format!("specs/{}", lookup.place.inside);
        let file = lookup.place.folder.join(&inside);
        if file.exists() || self.documents.contains_key(&file) {
            return None;
        }
        let rules = self.rules_now(&lookup.place.folder).into_iter().next()?;
        let text = spec_of(&rules, id)?;
        Some(NewAction { title: format!("Write a spec of `{id}`"), file, edits: vec![(0..0, text)], is_new: true })
    }

    /// Writes the file that extends a declaration in a layer. `field`: what it changes; `None` for only the id.
    fn in_layer(&self, lookup: &FileLookup<'_>, layer: &str, inside: &str, field: Option<&str>) -> Option<NewAction> {
        let (_, word) = EXTENDED.iter().find(|(folder, _)| inside.starts_with(folder))?;
        let id = inside.rsplit('/').next()?.strip_suffix(".luau")?;
        let file = lookup.place.folder.parent()?.join(layer).join(inside);
        if file.exists() || self.documents.contains_key(&file) {
            return None;
        }
        let field = field.map_or(String::new(), |field| format!("\t{field},\n"));
        let text = format!(
            "local rb = require(\"@riskbreaker\")\n\n-- Only the fields written here are changed.\nreturn \
             rb.extend(rb.{word}({{\n\tid = \"{id}\",\n{field}}}))\n"
        );
        let title = format!("Extend `{id}` in `{layer}`");
        Some(NewAction { title, file, edits: vec![(0..0, text)], is_new: true })
    }

    /// The edit of an action for the editor.
    pub fn edit_of(&self, action: &NewAction) -> Json {
        let version = self.documents.get(&action.file).map(|document| document.version);
        action.edit(&self.text_of(&action.file), version)
    }
}

/// The tokens of each argument of a call whose open bracket is at an index.
fn arguments(text: &str, tokens: &[Token], open: usize) -> Vec<Vec<Token>> {
    let (mut found, mut depth): (Vec<Vec<Token>>, usize) = (vec![Vec::new()], 0);
    for token in tokens.iter().skip(open) {
        match token.text(text) {
            "(" | "{" | "[" => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            ")" | "}" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            "," if depth == 1 => {
                found.push(Vec::new());
                continue;
            }
            _ if depth == 0 => break,
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(*token);
        }
    }
    found.retain(|argument| !argument.is_empty());
    found
}

/// The names and types of the parameters that take some arguments, each name once.
fn parameters(lookup: &FileLookup<'_>, text: &str, arguments: &[Vec<Token>]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, ty) in arguments.iter().map(|argument| parameter(lookup, text, argument)) {
        let same = found.iter().filter(|(other, _)| other.trim_end_matches(char::is_numeric) == name).count();
        found.push((if same == 0 { name } else { format!("{name}{}", same + 1) }, ty));
    }
    found
}

/// The name and the type of the parameter that takes an argument.
fn parameter(lookup: &FileLookup<'_>, text: &str, argument: &[Token]) -> (String, String) {
    let last = argument[argument.len() - 1];
    let ty = match argument {
        [only] => literal_type(text, only),
        _ => None,
    };
    if let Some(ty) = ty {
        let name = match ty {
            "rb.int()" => "amount",
            "rb.bool()" => "is_so",
            _ => "text",
        };
        return (name.into(), ty.into());
    }
    let name = last.text(text);
    let is_name = last.kind == TokenKind::Name && !is_keyword(name) && name != "rb";
    let (before, after) = (&text[..last.end], &text[last.end..]);
    let members = lookup.members(&format!("{before}.{}{after}", Members::MARK));
    let ty = match members {
        Some(Members::Entity(Some(kind))) => format!("rb.ref(\"{kind}\")"),
        Some(Members::Entity(None)) => "rb.ref()".into(),
        Some(Members::Text) => "rb.text()".into(),
        _ => "rb.any()".into(),
    };
    (if is_name { name.to_owned() } else { "value".into() }, ty)
}

/// The type of a value that is written out; `None` for another expression.
fn literal_type(text: &str, token: &Token) -> Option<&'static str> {
    match (token.kind, token.text(text)) {
        (TokenKind::Number, _) => Some("rb.int()"),
        (TokenKind::Text, _) => Some("rb.text()"),
        (TokenKind::Name, "true" | "false") => Some("rb.bool()"),
        _ => None,
    }
}

/// The type of a field by its use: the value that it is given or compared with.
fn field_type(text: &str, tokens: &[Token], named: usize) -> &'static str {
    let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    if tokens[named].kind == TokenKind::Text {
        let value = tokens.get(named + 2).filter(|_| word(named.checked_sub(2)) == "set");
        return value.and_then(|value| literal_type(text, value)).unwrap_or("rb.int()");
    }
    let is_compared = matches!(word(Some(named + 1)), "=" | "~") && word(Some(named + 2)) == "=";
    let compared = tokens.get(named + 3).filter(|_| is_compared).and_then(|value| literal_type(text, value));
    let is_condition = matches!(word(Some(named + 1)), "then" | "and" | "or");
    compared.unwrap_or(if is_condition { "rb.bool()" } else { "rb.int()" })
}

/// The edits that append an entry of whole lines to the table whose brace is at an index.
fn at_end_of_table(text: &str, tokens: &[Token], open: usize, entry: &str) -> Option<Vec<(Range<usize>, String)>> {
    let mut depth = 0usize;
    let close = tokens.iter().enumerate().skip(open).find_map(|(at, token)| {
        match token.text(text) {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let (last, close_at) = (tokens[close - 1], tokens[close].begin);
    let mut edits = Vec::new();
    if !matches!(last.text(text), "{" | "," | ";") {
        edits.push((last.end..last.end, ",".to_owned()));
    }
    let line = text[..close_at].rfind('\n').map_or(0, |newline| newline + 1);
    if text[line..close_at].trim().is_empty() {
        edits.push((line..line, entry.to_owned()));
    } else {
        let indent: String = text[line..].chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect();
        edits.push((close_at..close_at, format!("\n{entry}{indent}")));
    }
    Some(edits)
}

/// The most steps of the game of a spec.
const MOST_STEPS: usize = 40;

/// Plays a card once in the default scenario, with the default answers, and writes that as a spec that holds. For an item
/// or a hook, the first action is played. `None` if the game cannot be played so far.
fn spec_of(rules: &Arc<Ruleset>, id: &str) -> Option<String> {
    let mut session = Session::start(rules, Setup::default()).ok()?;
    let book = rules.book();
    let card = book.cards().iter().find(|card| *card.id == *id);
    let mut action = None;
    for _ in 0..MOST_STEPS {
        let Ok(Step::Ask) = session.advance() else { break };
        let question = session.questions().first()?.clone();
        if action.is_some_and(|action| action != question.id.action) {
            break;
        }
        let is_choice = action.is_none() && &*question.topic == "card";
        let value = card.filter(|_| is_choice).map(|card| Value::text(&card.id));
        if is_choice || card.is_none() {
            action = Some(question.id.action);
        }
        let answer = match (value, question.default.clone()) {
            (Some(value), _) => question.read(&value).ok()?,
            (None, Some(default)) => default,
            (None, None) => {
                let open = question.ask.options().iter().filter(|option| option.enabled);
                let ids = open.map(|option| Value::text(&option.id));
                let tried = ids.chain([Value::Int(1), Value::Int(0), Value::Bool(true)]);
                tried.into_iter().find_map(|value| question.read(&value).ok())?
            }
        };
        session.answer(question.id, answer).ok()?;
    }
    action?;
    let item = || book.items().iter().find(|item| *item.id == *id);
    let rules_of: Vec<&str> =
        card.or_else(item).map_or(Vec::new(), |card| card.rules.iter().map(String::as_str).collect());
    let title = card.or_else(item).map_or(id, |card| &*card.title);
    let name = rules_of.first().map_or_else(|| title.to_owned(), |rule| format!("{rule}: {title}"));
    let listed: Vec<String> = rules_of.iter().map(|rule| format!("\"{rule}\"")).collect();
    let listed = if listed.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", listed.join(", ")) };
    Some(spec_of_game(&session, &name).replacen(", {}, function", &format!(", {listed}, function"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_appended_to_a_table() {
        let appended = |text: &str| {
            let tokens = code(text);
            let open = tokens.iter().position(|token| token.text(text) == "{").unwrap();
            let mut new = text.to_owned();
            for (range, piece) in at_end_of_table(text, &tokens, open, "\tc = 3,\n").unwrap().into_iter().rev() {
                new.replace_range(range, &piece);
            }
            new
        };
        assert_eq!(appended("return {\n\ta = f({ 1 }) -- one\n}\n"), "return {\n\ta = f({ 1 }), -- one\n\tc = 3,\n}\n");
        assert_eq!(appended("return { a = 1 }\n"), "return { a = 1, \n\tc = 3,\n}\n");
        assert_eq!(appended("return {}\n"), "return {\n\tc = 3,\n}\n");
    }
}
