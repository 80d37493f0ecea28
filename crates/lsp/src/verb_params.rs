//! The parameters of verbs in a script: where they are declared, and where hooks read them.

use std::ops::Range;

use super::expected::call_place;
use super::scopes::Scopes;
use super::target::code;
use super::token::{Token, TokenKind};

/// A place that names a parameter of a verb.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VerbParam {
    pub verb: String,
    pub name: String,
    /// The bytes of the name.
    pub range: Range<usize>,
    pub role: ParamRole,
}

/// What a place of a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParamRole {
    /// A name in the list of `rb.verb`.
    Declared,
    /// The parameter of the function of the verb, if it has the declared name, and its uses.
    Local,
    /// A member of the event that a hook gets.
    Event,
}

/// The parameters of verbs that a script names.
#[derive(Debug, Default)]
pub(super) struct VerbParams {
    pub places: Vec<VerbParam>,
    /// Where the event of a verb goes to other code, whose members are not in `places`: the verb and the byte.
    pub unknown: Vec<(String, usize)>,
}

/// The keys of the tables of hooks.
const HOOK_KEYS: [&str; 3] = ["before", "after", "wrap"];

impl VerbParams {
    pub fn of(text: &str) -> VerbParams {
        let mut found = VerbParams::default();
        if !text.contains("rb.verb(") && !HOOK_KEYS.iter().any(|key| text.contains(key)) {
            return found;
        }
        let reader = ParamReader { text, tokens: code(text), scopes: Scopes::of(text) };
        for index in 0..reader.tokens.len() {
            match reader.word(index) {
                "verb" if reader.word(index + 1) == "(" && reader.is_after_rb(index) => reader.verb(index, &mut found),
                word if HOOK_KEYS.contains(&word) && reader.is_hook_table(index) => reader.hooks(index, &mut found),
                _ => {}
            }
        }
        found
    }

    /// The place of a parameter at a byte.
    pub fn at(&self, at: usize) -> Option<&VerbParam> {
        self.places.iter().find(|place| place.range.start <= at && at <= place.range.end)
    }
}

struct ParamReader<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    scopes: Scopes,
}

impl ParamReader<'_> {
    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.text(self.text))
    }

    fn before(&self, index: usize, back: usize) -> &str {
        index.checked_sub(back).map_or("", |at| self.word(at))
    }

    fn is_after_rb(&self, index: usize) -> bool {
        self.before(index, 1) == "." && self.before(index, 2) == "rb"
    }

    /// The indices from an opening bracket up to an end, each with the number of brackets that are open behind it.
    fn nested(&self, open: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut depth = 0usize;
        (open..end).map(move |at| {
            match self.word(at) {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            (at, depth)
        })
    }

    /// The index of the bracket that closes the one at an index; `None` if it is open.
    fn closing(&self, open: usize) -> Option<usize> {
        self.nested(open, self.tokens.len()).find(|(_, depth)| *depth == 0).map(|(at, _)| at)
    }

    /// The name of the verb whose value has `rb` of `rb.verb` at an index: `NAME = rb.verb(` or `NAME = rb.extend(rb.verb(`.
    fn verb_named(&self, mut rb: usize) -> Option<String> {
        while self.before(rb, 1) == "(" && self.before(rb, 3) == "." && self.before(rb, 4) == "rb" {
            rb -= 4;
        }
        let is_key = self.before(rb, 1) == "=" && rb >= 2 && self.tokens[rb - 2].kind == TokenKind::Name;
        is_key.then(|| self.before(rb, 2).to_owned())
    }

    /// Adds the parameters of the verb that is declared by the word `verb` at an index.
    fn verb(&self, index: usize, found: &mut VerbParams) {
        let (open, table) = (index + 1, index + 2);
        let Some(verb) = self.verb_named(index - 2) else { return };
        let Some(end) = self.closing(table).filter(|_| self.word(table) == "{") else { return };
        let first = found.places.len();
        for (at, depth) in self.nested(table, end) {
            let token = self.tokens[at];
            let (before, after) = (self.word(at - 1), self.word(at + 1));
            let is_element = match depth {
                1 => matches!(before, "{" | ",") && matches!(after, "," | "}"),
                2 => before == "{",
                _ => false,
            };
            if token.kind == TokenKind::Text && is_element {
                let range = token.inner(self.text);
                let name = self.text[range.clone()].to_owned();
                found.places.push(VerbParam { verb: verb.clone(), name, range, role: ParamRole::Declared });
            }
        }
        let call_end = self.closing(open).unwrap_or(self.tokens.len());
        if self.word(end + 1) != "," || self.word(end + 2) != "function" || call_end < end {
            return;
        }
        let declared: Vec<String> = found.places[first..].iter().map(|place| place.name.clone()).collect();
        for at in self.parameters(end + 3) {
            let Some(variable) = self.scopes.declared_at(self.tokens[at].begin) else { continue };
            if declared.contains(&variable.name) {
                let places = std::iter::once(&variable.declared).chain(&variable.uses).cloned();
                let (verb, name, role) = (verb.clone(), variable.name.clone(), ParamRole::Local);
                found.places.extend(places.map(|range| VerbParam {
                    verb: verb.clone(),
                    name: name.clone(),
                    range,
                    role,
                }));
            }
        }
    }

    /// The indices of the names of the parameters in the brackets that open at an index.
    fn parameters(&self, open: usize) -> Vec<usize> {
        let Some(end) = self.closing(open).filter(|_| self.word(open) == "(") else { return Vec::new() };
        let is_name = |(at, depth): &(usize, usize)| {
            let is_first = *at == open + 1 || self.word(at - 1) == ",";
            *depth == 1 && is_first && self.tokens[*at].kind == TokenKind::Name
        };
        self.nested(open, end).skip(1).filter(is_name).map(|(at, _)| at).collect()
    }

    /// True if the name at an index is the key of a table of hooks.
    fn is_hook_table(&self, index: usize) -> bool {
        let is_key = matches!(self.before(index, 1), "{" | "," | ";") && self.word(index + 1) == "=";
        is_key
            && call_place(self.text, &self.tokens[..index]).is_some_and(|place| {
                matches!(&*place.callee, "rb.hook" | "rb.item") && place.argument == 0 && place.keys.is_empty()
            })
    }

    /// Adds the members of events that the functions in a table of hooks read.
    fn hooks(&self, index: usize, found: &mut VerbParams) {
        let open = index + 2;
        let Some(end) = self.closing(open).filter(|_| self.word(open) == "{") else { return };
        for (at, depth) in self.nested(open, end) {
            let is_key = depth == 1 && self.tokens[at].kind == TokenKind::Name && self.word(at + 1) == "=";
            if !is_key || !matches!(self.before(at, 1), "{" | "," | ";") {
                continue;
            }
            let verb = self.word(at).to_owned();
            if self.word(at + 2) != "function" {
                found.unknown.push((verb, self.tokens[at].begin));
                continue;
            }
            let params = self.parameters(at + 3);
            let name_of = |at: &usize| self.word(*at).to_owned();
            let below = params.get(1).map(name_of).unwrap_or_default();
            let event = params.first().and_then(|at| self.scopes.declared_at(self.tokens[*at].begin));
            for used in event.into_iter().flat_map(|event| &event.uses) {
                let Some(at) = self.tokens.iter().position(|token| token.begin == used.start) else { continue };
                let member = self.tokens.get(at + 2).filter(|next| next.kind == TokenKind::Name);
                match (self.word(at + 1), member) {
                    (".", Some(member)) => found.places.push(VerbParam {
                        verb: verb.clone(),
                        name: member.text(self.text).to_owned(),
                        range: member.begin..member.end,
                        role: ParamRole::Event,
                    }),
                    _ if self.before(at, 1) == "(" && self.before(at, 2) == below && !below.is_empty() => {}
                    _ => found.unknown.push((verb.clone(), used.start)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let show = |place: &VerbParam| {
            assert_eq!(text[place.range.clone()], place.name);
            format!("{}.{} {:?}", place.verb, place.name, place.role)
        };
        VerbParams::of(text).places.iter().map(show).collect()
    }

    #[test]
    fn parameters_are_found_where_they_are_declared_and_in_the_function() {
        let verbs = "return rb.verbs({ hurt = rb.verb({ text = \"by\", { \"foe\", rb.ref(\"by\") }, { \"by\", rb.int(), \
                     text = \"x\" } }, function(foe: any, by) foe:add(\"hits\", by) end), old = rb.verb({ \"by\" }, function(who) end) })";
        let all = [
            "hurt.foe Declared",
            "hurt.by Declared",
            "hurt.foe Local",
            "hurt.foe Local",
            "hurt.by Local",
            "hurt.by Local",
            "old.by Declared",
        ];
        assert_eq!(found(verbs), all);
        assert_eq!(found("rb.verbs({ hurt = rb.replace(rb.verb({ { \"foe\" } }, run)) })"), ["hurt.foe Declared"]);
        for end in 0..verbs.len() {
            VerbParams::of(&verbs[..end]);
        }
    }

    #[test]
    fn members_of_events_belong_to_the_verb_of_the_hook() {
        let hook = "return rb.hook({ id = \"h\", before = { hurt = function(e) e.by = e.foe.by end }, wrap = { heal = \
                    function(ev, below) below(ev) near(ev) return ev.by end, other = run } })";
        assert_eq!(found(hook), ["hurt.by Event", "hurt.foe Event", "heal.by Event"]);
        let unknown: Vec<(String, &str)> =
            VerbParams::of(hook).unknown.into_iter().map(|(verb, at)| (verb, &hook[at..at + 2])).collect();
        assert_eq!(unknown, [("heal".to_owned(), "ev"), ("other".to_owned(), "ot")]);
    }
}
