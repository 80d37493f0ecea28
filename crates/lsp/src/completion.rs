use gen_lsp_types::{CompletionItem, CompletionItemKind};

use super::expected;
use super::found_items::FoundItems;
use super::lookup::FileLookup;
use super::target::code;
use super::token::{Token, TokenKind};
use riskbreaker_check::Members;
use riskbreaker_script::{api, luau_type};
use riskbreaker_state::Kind;

/// The completions at a byte of a file.
pub(super) fn completions(lookup: &FileLookup<'_>, text: &str, at: usize) -> Vec<CompletionItem> {
    let inside = &lookup.place.inside;
    let mut found = FoundItems::default();
    if inside.ends_with(".luau") || inside.ends_with(".lua") {
        of_script(lookup, text, at, &mut found);
    } else if inside.ends_with(".toml") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        let section = text[..at].lines().rev().find(|line| line.starts_with('['));
        let is_seats = section.is_some_and(|section| section.trim() == "[seats]") && inside.starts_with("scenarios/");
        match (line.matches('"').count() % 2 == 1, line.contains('=')) {
            (true, _) if is_seats => {
                for policy in lookup.books().flat_map(|book| book.policies()) {
                    found.add(policy, CompletionItemKind::Value, "policy", "");
                }
                ["human", "absent"].iter().for_each(|who| found.add(who, CompletionItemKind::Value, "seat", ""));
            }
            (true, _) => names(lookup, &SORTS, &mut found),
            (false, false) if is_seats => seats(lookup, &mut found),
            (false, false) => fields(lookup, &mut found),
            (false, true) => {}
        }
    }
    found.into_items()
}

/// The sorts of names that are written in quotes.
const SORTS: [&str; 9] = ["kind", "card", "hook", "entry", "field", "cast", "scenario", "switch", "free act"];

fn of_script(lookup: &FileLookup<'_>, text: &str, at: usize, found: &mut FoundItems) {
    let tokens: Vec<Token> = code(text).into_iter().take_while(|token| token.begin < at).collect();
    let Some(last) = tokens.last() else { return };
    if last.kind == TokenKind::Text && at <= last.inner(text).end && at > last.begin {
        return in_quotes(lookup, text, &tokens, found);
    }
    // The word that is being typed does not count.
    let count = tokens.len() - usize::from(last.kind == TokenKind::Name && last.end >= at);
    let word = |back: usize| count.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    let inside = &lookup.place.inside;
    match (word(4), word(3), word(2), word(1)) {
        ("rb", ".", "act", ".") => verbs(lookup, found),
        ("rb", ".", "switches", ".") => {
            for switch in lookup.books().flat_map(|book| book.switches()) {
                found.add(&switch.name, CompletionItemKind::Constant, "switch", &switch.text);
            }
        }
        (_, _, "rb", ".") => {
            for known in api::WORDS {
                found.add(known.name, CompletionItemKind::Function, known.usage, known.text);
            }
        }
        (_, _, "t", ":") if lookup.place.inside.starts_with("specs/") => {
            for method in api::SPEC_METHODS {
                found.add(method.name, CompletionItemKind::Method, method.usage, method.text);
            }
        }
        (_, _, library, ".") if api::library(library).is_some() => {
            for name in api::library(library).unwrap_or_default() {
                found.add(name, CompletionItemKind::Function, library, "");
            }
        }
        (_, _, "ctx", ".") if lookup.books().any(|book| !book.context().is_empty()) => {
            for param in lookup.books().flat_map(|book| book.context()) {
                found.add(&param.name, CompletionItemKind::Field, format!("ctx: {}", param.ty), &param.text);
            }
        }
        ("holder", ".", "data", ".") => {
            for param in lookup.books().filter_map(|book| book.hook_data(stem_of(inside))).flatten() {
                found.add(&param.name, CompletionItemKind::Field, format!("data: {}", param.ty), &param.text);
            }
        }
        (_, _, _, sign @ (":" | ".")) => {
            let members = lookup.members_before(text, &tokens[..count]);
            match members {
                Some(members) => known_members(lookup, members, sign == ":", found),
                None if sign == ":" => methods(lookup, None, found),
                None => fields(lookup, found),
            }
        }
        _ => expected::keys(lookup, text, &tokens[..count], found),
    }
}

fn seats(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for (seat, title) in lookup.books().flat_map(|book| book.seats()) {
        found.add(seat, CompletionItemKind::Value, "seat", title);
    }
}

/// The name of a file without its folder and extension.
fn stem_of(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file)
}

/// The members of an expression of a known type; with `called`, only those that are called with a colon.
fn known_members(lookup: &FileLookup<'_>, members: Members, called: bool, found: &mut FoundItems) {
    match members {
        Members::Entity(kind) if called => methods(lookup, kind.as_deref(), found),
        Members::Entity(kind) => {
            fields_of(lookup, kind.as_deref(), found);
            for name in api::ENTITY_FIELDS {
                found.add(name, CompletionItemKind::Field, "every entity", "");
            }
        }
        Members::Module(members) if !called => {
            for (name, params) in members {
                match params {
                    Some(params) => {
                        let detail = format!("{name}({})", params.join(", "));
                        found.add(&name, CompletionItemKind::Function, detail, "");
                    }
                    None => found.add(&name, CompletionItemKind::Field, "", ""),
                }
            }
        }
        Members::Event(params) if !called => {
            params.iter().for_each(|name| found.add(name, CompletionItemKind::Field, "what the verb is given", ""));
        }
        Members::Context(members) if !called => {
            members.iter().for_each(|name| found.add(name, CompletionItemKind::Field, "context of a card", ""));
        }
        Members::Data(members) if !called => {
            members.iter().for_each(|name| found.add(name, CompletionItemKind::Field, "data of the attachment", ""));
        }
        Members::Attached if !called => {
            for name in ["id", "hook", "owner", "data"] {
                found.add(name, CompletionItemKind::Field, "what is attached", "");
            }
        }
        Members::Question if !called => {
            let own = api::QUESTIONS.iter().flat_map(|(_, own)| own.iter());
            let names = api::QUESTION_FIELDS.iter().chain(own).chain(&["kind"]);
            names.for_each(|name| found.add(name, CompletionItemKind::Field, "question", ""));
        }
        _ => {}
    }
}

fn kinds<'l>(lookup: &'l FileLookup<'_>, of: Option<&'l str>) -> impl Iterator<Item = &'l Kind> {
    let kinds = lookup.books().flat_map(|book| &book.schema().kinds);
    kinds.filter(move |kind| of.is_none_or(|of| *kind.name == *of))
}

impl FileLookup<'_> {
    /// The members of the expression before the dot or colon that ends `tokens`. The text is parsed as if a call or a
    /// name were there, and then with nothing else in the line, since the rest is often missing while somebody types.
    pub fn members_before(&self, text: &str, tokens: &[Token]) -> Option<Members> {
        let dot = tokens.last()?;
        let word = text[dot.end..].bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let (before, after) = (&text[..dot.end], &text[dot.end + word..]);
        let mark = Members::MARK;
        let begin = operand_before(text, tokens);
        let line_begin = text[..begin].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = dot.end + text[dot.end..].find('\n').unwrap_or(text.len() - dot.end);
        let (above, chain, below) = (&text[..line_begin], &text[begin..dot.end], &text[line_end..]);
        let tried = [
            format!("{before}{mark}(){after}"),
            format!("{before}{mark}{after}"),
            format!("{above}local _ = {chain}{mark}(){below}"),
            // The `end` of a line that opens a block is further down.
            format!("{above}do local _ = {chain}{mark}(){below}"),
        ];
        tried.iter().find_map(|text| self.members(text))
    }
}

/// The byte at which the expression before the last dot or colon begins.
pub(super) fn operand_before(text: &str, tokens: &[Token]) -> usize {
    tokens.get(chain_begin(text, tokens)).map_or(0, |token| token.begin)
}

/// The index of the token at which the expression before the last dot or colon begins: names, calls and brackets.
fn chain_begin(text: &str, tokens: &[Token]) -> usize {
    let mut at = tokens.len() - 1;
    loop {
        // The operand of the sign: a name, or brackets with what is before them.
        let Some(mut operand) = at.checked_sub(1) else { return at };
        while matches!(tokens[operand].text(text), ")" | "]") {
            let mut depth = 0usize;
            loop {
                match tokens[operand].text(text) {
                    ")" | "]" => depth += 1,
                    "(" | "[" => depth -= 1,
                    _ => {}
                }
                match operand.checked_sub(1) {
                    Some(before) if depth > 0 => operand = before,
                    _ => break,
                }
            }
            match operand.checked_sub(1) {
                Some(before) if is_operand(text, &tokens[before]) => operand = before,
                _ => return operand,
            }
        }
        match operand.checked_sub(1) {
            Some(before) if matches!(tokens[before].text(text), "." | ":") => at = before,
            _ => return operand,
        }
    }
}

/// True if a token can be called or indexed.
fn is_operand(text: &str, token: &Token) -> bool {
    let keywords = ["and", "or", "not", "return", "in", "if", "elseif", "while", "until", "then", "else", "do"];
    match token.kind {
        TokenKind::Name => !keywords.contains(&token.text(text)),
        _ => matches!(token.text(text), ")" | "]"),
    }
}

/// Completions in quotes: the names that the call takes, or else all names that are written in quotes.
fn in_quotes(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) {
    let word =
        |back: usize| tokens.len().checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    // The text itself is the last token.
    let (callee, before) = (word(3), word(2));
    if before == "(" || before == "require" {
        match (word(4), callee) {
            (_, "require") => {
                found.add("@riskbreaker", CompletionItemKind::Module, "the vocabulary", "");
                for path in lookup.required() {
                    found.add(&path, CompletionItemKind::File, "file", "");
                }
                return;
            }
            (".", "each" | "first" | "spawn" | "ref" | "relate" | "unrelate" | "related" | "relating" | "relation") => {
                return names(lookup, &["kind"], found);
            }
            (".", "card") => return names(lookup, &["card"], found),
            (".", "attach" | "item_of") => return names(lookup, &["hook"], found),
            (".", "schedule" | "recur") => return names(lookup, &["entry"], found),
            (":", "switch") => return names(lookup, &["switch"], found),
            _ => {}
        }
    }
    if (callee, before) == ("seat", "=") {
        return seats(lookup, found);
    }
    if is_among_rules(text, tokens) {
        for id in lookup.rule_ids() {
            found.add(&id, CompletionItemKind::Reference, "rule", "");
        }
        return;
    }
    expected::words(lookup, text, &tokens[..tokens.len() - 1], found);
    if found.is_empty() {
        names(lookup, &SORTS, found);
    }
}

/// True if the last token is in `rules = { ... }`.
fn is_among_rules(text: &str, tokens: &[Token]) -> bool {
    let mut back =
        tokens.iter().rev().skip(1).skip_while(|token| token.kind == TokenKind::Text || token.text(text) == ",");
    let mut next = || back.next().map_or("", |token| token.text(text));
    (next(), next(), next()) == ("{", "=", "rules")
}

fn names(lookup: &FileLookup<'_>, sorts: &[&str], found: &mut FoundItems) {
    for book in lookup.books() {
        for sort in sorts {
            for name in book.names_of(sort).unwrap_or_default() {
                let card = book.cards().iter().chain(book.items()).find(|card| *card.id == *name);
                found.add(name, CompletionItemKind::Value, *sort, card.map_or("", |card| &*card.text));
            }
        }
    }
}

fn verbs(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    for book in lookup.books() {
        for verb in book.verbs() {
            found.add(&verb.name, CompletionItemKind::Function, format!("rb.act.{}", verb.signature()), &verb.text);
        }
    }
}

fn fields(lookup: &FileLookup<'_>, found: &mut FoundItems) {
    fields_of(lookup, None, found);
}

/// Adds the fields of one kind, or of all.
fn fields_of(lookup: &FileLookup<'_>, of: Option<&str>, found: &mut FoundItems) {
    for kind in kinds(lookup, of) {
        for field in &kind.fields {
            found.add(&field.name, CompletionItemKind::Field, format!("{}: {}", kind.name, luau_type(&field.ty)), "");
        }
    }
}

/// Adds the methods of entities of one kind, or of all.
fn methods(lookup: &FileLookup<'_>, of: Option<&str>, found: &mut FoundItems) {
    api::ENTITY_METHODS.iter().for_each(|name| found.add(name, CompletionItemKind::Method, "every entity", ""));
    for kind in kinds(lookup, of) {
        for name in &kind.derived {
            let ty = lookup.derived_type(name).map_or(String::new(), |ty| format!(": {ty}"));
            found.add(name, CompletionItemKind::Method, format!("derived value of {}{ty}", kind.name), "");
        }
    }
}
