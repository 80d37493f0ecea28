//! Verbs whose parameters are declared by their names alone: what they say in the form with types.

use std::collections::BTreeSet;
use std::ops::Range;

use super::lints;
use super::script::ScriptReader;
use super::syntax::{listed, listed_texts, text};
use super::value_type::ValueType;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{AstNode, Expression, ExpressionKind, Function, Location, TextPosition};
use riskbreaker_state::Type;

/// A line with more columns is split.
const WIDEST: usize = 100;

impl ScriptReader<'_> {
    /// Warns of a verb that declares its parameters by name alone, and notes how it is written with types.
    pub(super) fn without_types(&mut self, params: Expression<'_>, run: Option<&Function<'_>>) {
        let names: Vec<String> = listed_texts(params).map(|(name, _)| name).collect();
        let Some(verb) = self.keys.last().cloned() else { return };
        if names.is_empty() || names.len() != listed(params).count() {
            return;
        }
        let entries: Vec<String> = names.iter().enumerate().map(|(at, _)| self.entry(&verb, &names, at, run)).collect();
        let at = params.location();
        let line = format!("{{ {} }}", entries.join(", "));
        self.rewrites.push((self.bytes_of(at), self.written_out(&line, &entries, at)));
        let message = format!("the parameters of the verb `{verb}` have no types");
        let place = super::script::place_in(self.text, at.begin);
        let cure = format!("write rb.verb({line}, ...)");
        self.found.push(lints::untyped_verb::LINT.problem(self.full_path(), message).at(place).with_cure(cure));
    }

    /// A parameter with the type that its uses suggest: `{ "amount", rb.int(), optional = true }`.
    fn entry(&self, verb: &str, names: &[String], at: usize, run: Option<&Function<'_>>) -> String {
        let name = &names[at];
        let known = self.known.names.verb(verb).filter(|known| known.params.len() == names.len());
        let used = known.and_then(|known| known.uses.get(at).copied().flatten());
        let read = run.and_then(|run| Some(members_of(run, run.args.get(at)?.id))).unwrap_or_default();
        let ty = match used {
            Some(ValueType::Number | ValueType::Sum) => "rb.int()".to_string(),
            Some(ValueType::Text) => "rb.text()".into(),
            Some(ValueType::Truth) => "rb.bool()".into(),
            Some(ValueType::Entity) => self.reference(name, &read),
            Some(ValueType::Table | ValueType::Record) if !self.may_be_entity(&read) => "rb.record()".into(),
            Some(ValueType::Function | ValueType::List | ValueType::Attached) => "rb.any()".into(),
            Some(ValueType::Table | ValueType::Record) | None => match self.known.type_of_all(name) {
                _ if self.known.kind(name).is_some() => self.reference(name, &read),
                Some(Type::Int { .. }) => "rb.int()".into(),
                Some(Type::Bool) => "rb.bool()".into(),
                Some(Type::Ref(_)) => self.reference(name, &read),
                _ if self.may_be_entity(&read) => self.reference(name, &read),
                _ => "rb.any()".into(),
            },
        };
        let needed = known.is_some_and(|known| at < known.needed);
        let optional = if needed || ty == "rb.any()" { "" } else { ", optional = true" };
        format!("{{ \"{name}\", {ty}{optional} }}")
    }

    /// The kind that a name says, or the only one that has all the members that are read off it.
    fn reference(&self, name: &str, read: &BTreeSet<String>) -> String {
        let kinds: Vec<&str> = self.kinds_with(read).collect();
        match kinds.as_slice() {
            _ if self.known.kind(name).is_some() => format!("rb.ref(\"{name}\")"),
            [only] => format!("rb.ref(\"{only}\")"),
            _ => "rb.ref()".into(),
        }
    }

    fn may_be_entity(&self, read: &BTreeSet<String>) -> bool {
        !read.is_empty() && self.kinds_with(read).next().is_some()
    }

    fn kinds_with<'s>(&'s self, read: &'s BTreeSet<String>) -> impl Iterator<Item = &'s str> {
        let of_all = |name: &str| api::ENTITY_METHODS.iter().chain(api::ENTITY_FIELDS).any(|own| *own == name);
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let having =
            kinds.filter(move |kind| read.iter().all(|name| of_all(name) || kind.members().any(|own| own == name)));
        having.map(|kind| &*kind.name)
    }

    /// The parameters with the sentence of the comment above the verb, in one line or in several.
    fn written_out(&self, line: &str, entries: &[String], at: Location) -> String {
        let above = self.text.lines().take(at.begin.line as usize);
        let above: Vec<&str> = above.collect::<Vec<_>>().into_iter().rev().map_while(comment).collect();
        let comment = above.into_iter().rev().collect::<Vec<_>>().join(" ");
        let sentence = comment.split_once(". ").map_or(comment.trim_end_matches('.'), |(first, _)| first);
        if sentence.is_empty() {
            return line.to_string();
        }
        let told = format!("text = \"{}.\"", sentence.replace('\\', "\\\\").replace('"', "\\\""));
        let short = format!("{{ {told}, {} }}", entries.join(", "));
        if at.begin.column as usize + short.len() <= WIDEST {
            return short;
        }
        let source = self.text.lines().nth(at.begin.line as usize).unwrap_or_default();
        let indent = &source[..source.len() - source.trim_start().len()];
        let lines: String = [told].iter().chain(entries).map(|entry| format!("{indent}\t{entry},\n")).collect();
        format!("{{\n{lines}{indent}}}")
    }

    /// The bytes of the text at a place.
    fn bytes_of(&self, at: Location) -> Range<usize> {
        let offset = |place: TextPosition| {
            let lines = self.text.split_inclusive('\n').take(place.line as usize);
            lines.map(str::len).sum::<usize>() + place.column as usize
        };
        offset(at.begin)..offset(at.end).min(self.text.len())
    }
}

/// What a line says, if it is a comment.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("--").map(str::trim)
}

/// The names that are read off a parameter in the body of its function.
pub(super) fn members_of(function: &Function<'_>, id: u64) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    function.body.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node
            && let ExpressionKind::IndexName { expr, index, .. } = expression.kind()
            && let ExpressionKind::Local { local, .. } = expr.kind()
            && local.id == id
        {
            names.insert(text(index));
        }
        true
    });
    names
}
