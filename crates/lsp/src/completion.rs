use gen_lsp_types::{CompletionItem, CompletionItemKind};

use super::data_completion;
use super::expected;
use super::found_items::FoundItems;
use super::lookup::FileLookup;
use super::scopes::{Scopes, VariableSort};
use super::target::code;
use super::token::{KEYWORDS, Token, TokenKind, is_keyword, tokens};
use riskbreaker_check::Members;
use riskbreaker_ruleset::Card;
use riskbreaker_script::{api, luau_type};
use riskbreaker_state::Kind;

/// The completions at a byte of a file.
pub(super) fn completions(lookup: &FileLookup<'_>, text: &str, at: usize) -> Vec<CompletionItem> {
    let inside = &lookup.place.inside;
    let mut found = FoundItems::default();
    if inside.ends_with(".luau") || inside.ends_with(".lua") {
        of_script(lookup, text, at, &mut found);
    } else {
        data_completion::complete(lookup, text, at, &mut found);
    }
    found.into_items()
}

fn of_script(lookup: &FileLookup<'_>, text: &str, at: usize, found: &mut FoundItems) {
    let is_comment = |token: &Token| token.kind == TokenKind::Comment && token.begin < at && at <= token.end;
    if tokens(text).iter().any(is_comment) {
        return;
    }
    let tokens: Vec<Token> = code(text).into_iter().take_while(|token| token.begin < at).collect();
    // The word that is being typed does not count.
    let mut count = tokens.len();
    match tokens.last() {
        Some(last) if last.kind == TokenKind::Text && at <= last.inner(text).end && at > last.begin => {
            return in_quotes(lookup, text, &tokens, found);
        }
        Some(last) if last.kind == TokenKind::Number && at <= last.end => return,
        Some(last) if last.kind == TokenKind::Name && at <= last.end => count -= 1,
        _ => {}
    }
    let tokens = &tokens[..count];
    let word = |back: usize| count.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text(text));
    let inside = &lookup.place.inside;
    let is_called = word(1) == ":";
    match (word(4), word(3), word(2), word(1)) {
        ("rb", ".", "act", ".") => verbs(lookup, found),
        ("rb", ".", "cards", ".") => names(lookup, &["card"], found),
        ("rb", ".", "items", ".") => names(lookup, &["item"], found),
        ("rb", ".", "cast", ".") => names(lookup, &["cast"], found),
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
        (_, _, "t", ":") if inside.starts_with("specs/") => {
            for method in api::SPEC_METHODS {
                found.add(method.name, CompletionItemKind::Method, method.usage, method.text);
            }
        }
        (_, _, library, ".") if api::library(library).is_some() => of_library(library, found),
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
        (_, _, _, ":" | ".") => {
            if !of_data(lookup, text, tokens, found) {
                match lookup.members_before(text, tokens) {
                    Some(members) => known_members(lookup, members, is_called, found),
                    None if is_called => methods(lookup, None, found),
                    None => fields(lookup, found),
                }
            }
        }
        _ => {
            expected::keys(lookup, text, tokens, found);
            if found.is_empty() {
                values(text, tokens, at, found);
            } else {
                found.leave_out(&expected::written_keys(text, &code(text), count));
            }
        }
    }
}

/// Adds the members of a card, of an item, of data of `cast/` or of an option of a question, if the expression before the
/// dot that ends `tokens` is one. False if it is none of them.
fn of_data(lookup: &FileLookup<'_>, text: &str, tokens: &[Token], found: &mut FoundItems) -> bool {
    let word = |back: usize| tokens.len().checked_sub(back).map_or("", |at| tokens[at].text(text));
    let of_cards = |cards: &mut dyn Iterator<Item = &Card>, found: &mut FoundItems| {
        let facts = cards.flat_map(|card| card.facts.keys().map(String::as_str));
        let names = facts.chain(["id", "title", "text", "rules"]);
        names.for_each(|name| found.add(name, CompletionItemKind::Field, "fact", ""));
    };
    match (word(6), word(5), word(4), word(3), word(2)) {
        (".", "card", "(", _, ")") | ("rb", ".", "cards", ".", _) => {
            of_cards(&mut lookup.books().flat_map(|book| book.cards()), found);
        }
        (".", "item_of", "(", _, ")") | ("rb", ".", "items", ".", _) => {
            of_cards(&mut lookup.books().flat_map(|book| book.items()), found);
        }
        ("rb", ".", "cast", ".", _) => data_completion::keys_of_cast(lookup, found),
        (_, _, _, before, name) if before != "." && is_option(text, tokens, name) => {
            let names = api::OPTION_FIELDS.iter();
            names.for_each(|name| found.add(name, CompletionItemKind::Field, "option of a question", ""));
        }
        _ if tokens.len() > 1 && tokens[tokens.len() - 2].kind == TokenKind::Text
            || word(2) == ")" && is_text(text, tokens) =>
        {
            if word(1) == ":" {
                of_library("string", found);
            }
        }
        _ => return false,
    }
    true
}

/// True if the expression before the sign that ends `tokens` is a text in brackets.
fn is_text(text: &str, tokens: &[Token]) -> bool {
    let [.., open, inner, _, _] = tokens else { return false };
    open.text(text) == "("
        && inner.kind == TokenKind::Text
        && tokens.len().checked_sub(5).is_none_or(|before| !is_operand(text, &tokens[before]))
}

/// True if a name before the sign that ends `tokens` is the variable of a loop over the options of a question.
fn is_option(text: &str, tokens: &[Token], name: &str) -> bool {
    let Some(at) = tokens.len().checked_sub(2).map(|at| tokens[at].begin) else { return false };
    let scopes = Scopes::of(text);
    let Some((variable, _)) = scopes.at(at) else { return false };
    let head = text[variable.declared.end..].split("do").next().unwrap_or_default();
    variable.sort == VariableSort::Loop && variable.name == name && head.trim_end().ends_with(".options")
}

fn of_library(library: &str, found: &mut FoundItems) {
    for name in api::library(library).unwrap_or_default() {
        found.add(name, CompletionItemKind::Function, library, "");
    }
}

/// Adds what can be at a place where a statement begins or a value is missing: local variables, globals and keywords.
fn values(text: &str, tokens: &[Token], at: usize, found: &mut FoundItems) {
    let before = tokens.last().map_or("", |last| last.text(text));
    if matches!(before, "local" | "function" | "for") {
        return;
    }
    let ends_value = tokens.last().is_some_and(|last| match last.kind {
        TokenKind::Name => !is_keyword(before) || matches!(before, "end" | "true" | "false" | "nil"),
        TokenKind::Number => true,
        TokenKind::Text => !before.ends_with('{'),
        _ => matches!(before, ")" | "]" | "}"),
    });
    let is_same_line = tokens.last().is_some_and(|last| !text[last.end..at].contains('\n'));
    let is_head = before == ")" && is_head_of_function(text, tokens);
    if ends_value && is_same_line && !is_head {
        for keyword in ["and", "or", "then", "do", "end", "else"] {
            found.add(keyword, CompletionItemKind::Keyword, "keyword", "");
        }
        return;
    }
    let is_statement = tokens.is_empty() || ends_value || matches!(before, ";" | "then" | "do" | "else" | "repeat");
    for keyword in KEYWORDS {
        if is_statement || matches!(keyword, "function" | "if" | "not" | "nil" | "true" | "false") {
            found.add(keyword, CompletionItemKind::Keyword, "keyword", "");
        }
    }
    for variable in Scopes::of(text).visible_at(at) {
        let (kind, detail) = match variable.sort {
            VariableSort::Local => (CompletionItemKind::Variable, "local variable"),
            VariableSort::Function => (CompletionItemKind::Function, "local function"),
            VariableSort::Parameter => (CompletionItemKind::Variable, "parameter"),
            VariableSort::Loop => (CompletionItemKind::Variable, "variable of a loop"),
        };
        found.add(&variable.name, kind, detail, "");
    }
    for global in api::globals() {
        let kind =
            if api::library(global).is_some() { CompletionItemKind::Module } else { CompletionItemKind::Function };
        found.add(global, kind, "global", "");
    }
}

/// True if the bracket that ends `tokens` closes the parameters of a function.
fn is_head_of_function(text: &str, tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().rev() {
        match token.text(text) {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let word = |back: usize| index.checked_sub(back).map_or("", |at| tokens[at].text(text));
            return word(1) == "function" || word(2) == "function";
        }
    }
    false
}

/// The name of a file without its folder and extension.
pub(super) fn stem_of(path: &str) -> &str {
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
        Members::Text if called => of_library("string", found),
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
    match token.kind {
        TokenKind::Name => !is_keyword(token.text(text)) || token.text(text) == "end",
        _ => matches!(token.text(text), ")" | "]"),
    }
}

/// Completions in quotes: the names that can be at this place. None if the place is not known.
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
            (".", "attach") => return names(lookup, &["hook"], found),
            (".", "item_of") => return names(lookup, &["item"], found),
            (".", "schedule" | "recur") => return names(lookup, &["entry"], found),
            (":", "switch") => return names(lookup, &["switch"], found),
            _ => {}
        }
    }
    if (callee, before) == ("seat", "=") {
        return expected::seats(lookup, found);
    }
    if is_among_rules(text, tokens) {
        return expected::rule_ids(lookup, found);
    }
    expected::words(lookup, text, &tokens[..tokens.len() - 1], found);
}

/// True if the last token is in `rules = { ... }`.
fn is_among_rules(text: &str, tokens: &[Token]) -> bool {
    let mut back =
        tokens.iter().rev().skip(1).skip_while(|token| token.kind == TokenKind::Text || token.text(text) == ",");
    let mut next = || back.next().map_or("", |token| token.text(text));
    (next(), next(), next()) == ("{", "=", "rules")
}

pub(super) fn names(lookup: &FileLookup<'_>, sorts: &[&str], found: &mut FoundItems) {
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
pub(super) fn fields_of(lookup: &FileLookup<'_>, of: Option<&str>, found: &mut FoundItems) {
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
