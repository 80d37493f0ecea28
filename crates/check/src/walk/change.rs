//! Changes of a script that carry out the cure of a finding.

use std::ops::Range;

use crate::inference::called::NoEntity;
use crate::reader::ScriptReader;
use crate::syntax::{byte_of, literal};
use crate::type_pieces::closing_bracket;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, Location, TextPosition};

impl<'r> ScriptReader<'r> {
    /// The byte of the text at a position.
    pub(crate) fn offset_of(&self, place: TextPosition) -> usize {
        byte_of(self.text, place)
    }

    /// The place of a byte of the text.
    pub(crate) fn position_of(&self, byte: usize) -> TextPosition {
        let before = &self.text[..byte.min(self.text.len())];
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        TextPosition::new(before.matches('\n').count() as u32, (before.len() - begin) as u32)
    }

    /// The bytes of the text at a place.
    pub(crate) fn bytes_of(&self, at: Location) -> Range<usize> {
        self.offset_of(at.begin)..self.offset_of(at.end)
    }

    /// The blank text at the beginning of the line of a position.
    pub(crate) fn indent_of(&self, place: TextPosition) -> &'r str {
        let line = self.text.lines().nth(place.line as usize).unwrap_or_default();
        &line[..line.len() - line.trim_start().len()]
    }

    /// The source text of a place.
    pub(crate) fn source_at(&self, at: Location) -> &'r str {
        self.text.get(self.bytes_of(at)).unwrap_or_default()
    }

    /// The source text of an expression.
    pub(crate) fn source(&self, expression: Expression<'_>) -> &'r str {
        self.source_at(expression.location())
    }

    /// Another text in the place of a part of the script.
    pub(crate) fn replaced(&self, at: Location, text: impl Into<String>) -> TextChange {
        let Range { start: begin, end } = self.bytes_of(at);
        TextChange { begin, end, text: text.into() }
    }

    /// A number, true or false in quotes, without the quotes; `None` for another expression.
    pub(crate) fn unquoted(&self, quoted: Expression<'_>) -> Option<TextChange> {
        let text = literal(quoted)?;
        let text = text.trim();
        let is_value = matches!(text, "true" | "false") || text.parse::<f64>().is_ok();
        is_value.then(|| self.replaced(quoted.location(), text))
    }

    /// A text that is put in at a position.
    pub(crate) fn inserted(&self, at: TextPosition, text: impl Into<String>) -> TextChange {
        let begin = self.offset_of(at);
        TextChange { begin, end: begin, text: text.into() }
    }

    /// Two expressions in each other's places, with the text between them as it is; `one` comes first.
    pub(crate) fn exchanged_with(&self, one: Expression<'_>, other: Expression<'_>) -> TextChange {
        let (first, second) = (self.bytes_of(one.location()), self.bytes_of(other.location()));
        let between = self.text.get(first.end..second.start).unwrap_or_default();
        let text = format!("{}{between}{}", self.source(other), self.source(one));
        TextChange { begin: first.start, end: second.end, text }
    }

    /// The change that names an entity instead of what is none.
    pub(crate) fn change_to_entity(&self, value: Expression<'_>, what: &NoEntity) -> Option<TextChange> {
        Some(self.replaced(value.location(), what.instead(self.source(value))?))
    }

    /// The text in the brackets of the call of a name, and the end of the call; `None` if it has calls in it.
    pub(crate) fn arguments_behind(&self, name: Location) -> Option<(&'r str, usize)> {
        let begin = self.offset_of(name.end);
        let inside = self.text.get(begin..)?.strip_prefix('(')?;
        let length = inside.find(')')?;
        let inside = &inside[..length];
        (!inside.contains(['(', '\n'])).then_some((inside, begin + length + 2))
    }

    /// Whether a variable or a parameter of that name can be read here.
    pub(crate) fn is_in_scope(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|variable| variable.name == name)
    }

    /// The change that adds variables of these names to the arguments of a call; `None` if one of them cannot be read here.
    /// `at`: the function that is called.
    pub(crate) fn more_arguments(
        &self,
        at: Location,
        args: &[Expression<'_>],
        names: &[impl AsRef<str>],
    ) -> Option<TextChange> {
        if names.is_empty() || !names.iter().all(|name| self.is_in_scope(name.as_ref())) {
            return None;
        }
        let written = names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        if let Some(last) = args.last() {
            return Some(self.inserted(last.location().end, format!(", {written}")));
        }
        let begin = self.offset_of(at.begin);
        let opened = begin + self.text.get(begin..)?.find('(')? + 1;
        let is_empty = self.text[opened..].trim_start().starts_with(')');
        is_empty.then_some(TextChange { begin: opened, end: opened, text: written })
    }

    /// The change that removes the line of a statement; `None` if the line has more than a call in it.
    pub(crate) fn without_call(&self, at: Location) -> Option<TextChange> {
        let begin = self.offset_of(TextPosition::new(at.begin.line, 0));
        let line = self.text[begin..].split_inclusive('\n').next()?;
        let code = line.trim();
        let starts = code.starts_with(|letter: char| letter.is_ascii_lowercase());
        let name = code.find('(').map(|opened| &code[..opened])?;
        let is_call = name.chars().all(|letter| letter.is_alphanumeric() || "_.:".contains(letter));
        let is_closed = closing_bracket(&code[name.len() + 1..]) == Some(code.len() - name.len() - 2);
        let is_alone = starts && is_call && is_closed;
        is_alone.then(|| TextChange { begin, end: begin + line.len(), text: String::new() })
    }

    /// The mark before a name, a dot or a colon, replaced by another one.
    pub(crate) fn mark_before(&self, name: Location, mark: &str) -> Option<TextChange> {
        let end = self.text.get(..self.offset_of(name.begin))?.trim_end().len();
        let is_mark = self.text[..end].ends_with(['.', ':']);
        is_mark.then(|| TextChange { begin: end - 1, end, text: mark.to_owned() })
    }
}
