use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::{Cause, words_of};
use super::reload::with_schemas;
use super::{Fault, Game, Refusal, View, in_one_line};
use riskbreaker_state::{Change, EntityId, FieldId, Schema, Value};

/// Explains how a number came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The entity and the explained value, as text.
    pub title: String,
    /// The value, as text.
    pub value: String,
    /// For a derived value: its terms, in the order in which they were computed.
    pub terms: Vec<Term>,
    /// For a field: the changes that led to the value, in order.
    pub changes: Vec<String>,
}

/// A term of a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(schemars::JsonSchema))]
pub struct Term {
    /// The name of the term.
    pub label: String,
    /// The value, as text.
    pub value: String,
    /// The file that adds the term.
    pub path: String,
    /// The line in the file, from 1.
    pub line: u32,
    /// The nesting depth, from 0. The parts of a term are one deeper and precede it.
    pub depth: u32,
}

/// The label of the term that holds the number a roll needs.
pub(super) const NEEDED: &str = "needed";

impl Term {
    /// Formats the parts of one of the numbers of a roll, as ` (Sword 5 + margin 2)`: the terms one deeper than the
    /// last term called `number`. Empty if it has no parts.
    pub(super) fn in_short(terms: &[Term], number: &str) -> String {
        let mut own = terms.iter().skip_while(|term| term.depth > 0 || term.label != number);
        if own.next().is_none() {
            return String::new();
        }
        let parts: Vec<&Term> = own.take_while(|term| term.depth > 0).filter(|term| term.depth == 1).collect();
        let mut text = String::new();
        // A single part without a name is the number itself.
        for part in parts.iter().filter(|part| parts.len() > 1 || !part.label.is_empty()) {
            let (sign, size) = match (text.is_empty(), part.value.strip_prefix('-')) {
                (true, _) => ("", &*part.value),
                (false, Some(size)) => (" - ", size),
                (false, None) => (" + ", &*part.value),
            };
            let label = in_one_line(&part.label);
            text = format!("{text}{sign}{label}{}{size}", if label.is_empty() { "" } else { " " });
        }
        if text.is_empty() { text } else { format!(" ({text})") }
    }
}

/// Removes the parts of numbers from a line: brackets that follow a digit.
pub fn without_parts(line: &str) -> String {
    let (mut plain, mut depth, mut last) = (String::new(), 0u32, ' ');
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ' ' if depth == 0 && last.is_ascii_digit() && line[at + 1..].starts_with('(') => {
                letters.next();
                depth = 1;
            }
            '(' if depth > 0 => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
        if depth == 0 {
            last = letter;
        }
    }
    plain
}

/// Refuses arguments of a derived value that do not exist or are too large.
pub(super) fn must_be_there(view: &View<'_>, entity: EntityId, args: &[Value]) -> Result<(), Fault> {
    Value::must_fit(args).map_err(Fault::new)?;
    let others = args.iter().filter_map(|arg| match arg {
        Value::Entity(entity) => Some(*entity),
        _ => None,
    });
    match std::iter::once(entity).chain(others).find(|entity| !view.exists(*entity)) {
        Some(entity) => Err(Fault::new(Refusal::NoEntity { entity }.to_string())),
        None => Ok(()),
    }
}

/// Refuses arguments if the derived value `name` of an entity takes fewer.
pub(super) fn must_take(view: &View<'_>, entity: EntityId, name: &str, args: &[Value]) -> Result<(), Refusal> {
    Value::must_fit(args).map_err(Refusal::new)?;
    for arg in args {
        match arg {
            Value::Entity(entity) if !view.exists(*entity) => return Err(Refusal::NoEntity { entity: *entity }),
            _ => {}
        }
    }
    let most = view.derived_takes(entity, name).unwrap_or(Some(0));
    match most {
        Some(most) if args.len() > most => {
            let title = view.title(entity);
            let takes = if most == 0 { "nothing".to_string() } else { format!("at most {most}") };
            Err(Refusal::new(format!("`{name}` of {title} takes {takes} after it. Type `why {title} {name}`.")))
        }
        _ => Ok(()),
    }
}

/// Returns the arguments with one more entity.
pub(super) fn with(args: &[Value], other: EntityId) -> Vec<Value> {
    let mut all = args.to_vec();
    all.push(Value::Entity(other));
    all
}

/// The refusal for a derived value that fails because it needs more arguments than were given. `of`: the entity and the
/// value; `other`: an entity with which it works, if one is known.
pub(super) fn takes_more(
    view: &View<'_>,
    of: (EntityId, &str),
    args: &[Value],
    other: Option<EntityId>,
    fault: Fault,
) -> Refusal {
    let (entity, name) = of;
    let title = view.title(entity);
    let given: String = args.iter().map(|arg| format!(" {}", view.words(arg))).collect();
    match (other, view.derived_takes(entity, name).flatten()) {
        (Some(other), _) => Refusal::new(format!(
            "`{name}` of {title} is worked out against somebody else. Type the name after it, such as `why {title} {name}{given} {}`.",
            view.title(other)
        )),
        (None, Some(takes)) => Refusal::new(format!(
            "`{name}` of {title} takes {takes} more words after it, such as the name of an entity: `why {title} {name}{given} ...`."
        )),
        (None, None) => Refusal::fault(fault),
    }
}

impl Game {
    /// The changes that led to a field's value, oldest first. Changes of rules are included.
    pub fn history_of(&self, entity: EntityId, name: &str, value: Value) -> Explanation {
        let context = &self.context;
        let why = |cause: &Cause| match cause {
            Cause::Entry { what, owner: Some(owner), .. } if context.state.entity(*owner).is_some() => {
                format!("{what}, {}", context.title(*owner))
            }
            cause => words_of(cause).to_string(),
        };
        let kind = context.state.entity(entity).map(|found| context.rules.schema().kind(found.kind).name.clone());
        let field_in = |schema: &Schema| schema.kind(schema.kind_named(kind.as_deref()?)?).field_named(name);
        // Formats a change as a line, with the value before it.
        let line = |number: u32, cause: &Cause, change: &Change, field: Option<FieldId>| match change {
            Change::Set { entity: of, field: at, from, to } if *of == entity && Some(*at) == field => {
                let text =
                    format!("action {number} ({}): {} -> {}", why(cause), context.words(from), context.words(to));
                Some((text, Some(from.clone())))
            }
            Change::Spawn { entity: of, made } if *of == entity => {
                let first = field.and_then(|field| made.fields.get(field.0 as usize))?;
                Some((format!("action {number} ({}): begins with {}", why(cause), context.words(first)), None))
            }
            _ => None,
        };
        let (mut changes, mut after) = (Vec::new(), Some(value.clone()));
        let mut note = |found: Option<(String, Option<Value>)>, after: &mut Option<Value>| {
            if let Some((text, before)) = found {
                changes.push(text);
                *after = before;
            }
        };
        if let Some(open) = &self.open {
            let field = field_in(context.rules.schema());
            for change in context.state.since(0).iter().rev() {
                note(line(open.number, &open.cause, change, field), &mut after);
            }
        }
        for (done, schema) in with_schemas(&self.history, context.rules.schema()) {
            let field = field_in(schema);
            let made = done.changes.get();
            for change in made.iter().rev() {
                note(line(done.number, &done.cause, change, field), &mut after);
            }
            let Some(swap) = &done.swap else { continue };
            let before = swap.state.entity(entity).and_then(|found| {
                let at = swap.schema.kind(found.kind).field_named(name)?;
                found.fields.get(at.0 as usize).cloned()
            });
            let words = |value: &Value| context.words(value);
            let text = match (&before, &after) {
                (before, after) if before == after => continue,
                (Some(before), Some(after)) => format!("{} -> {}", words(before), words(after)),
                (None, Some(after)) => format!("begins with {}", words(after)),
                (Some(before), None) => format!("{} is kept aside", words(before)),
                (None, None) => continue,
            };
            let reason = done.reasons.get(&(entity, Arc::from(name)));
            let reason = reason.map_or(String::new(), |reason| format!(", {reason}"));
            note(Some((format!("action {} ({}{reason}): {text}", done.number, why(&done.cause)), before)), &mut after);
        }
        changes.reverse();
        let field = field_in(context.rules.schema());
        let kind = kind.as_deref().and_then(|kind| context.rules.schema().kind_named(kind));
        let label = kind.zip(field).map(|(kind, field)| &context.rules.schema().kind(kind).field(field).label);
        Explanation {
            title: format!("{}: {}", context.title(entity), label.map_or(name, |label| label)),
            value: context.words(&value),
            terms: Vec::new(),
            changes,
        }
    }
}
