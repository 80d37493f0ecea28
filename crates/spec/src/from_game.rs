//! Writes a game as a spec, after a fault or to keep its course.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use riskbreaker_play::{Answer, By, Cause, DiceSource, Edit, Happening, Scenario, Session, Setup, Slot, Tape};
use riskbreaker_state::{EntityId, Value};

/// Writes the game that led to the fault of a session as a spec: position, dice and answers. `None` without a fault.
pub fn spec_of_fault(session: &Session) -> Option<String> {
    let fault = session.fault()?;
    let mut text = String::from("local rb = require(\"@riskbreaker\")\n\n");
    let place = match (&fault.path, fault.line) {
        (Some(path), Some(line)) => format!(" at {path}:{line}"),
        _ => String::new(),
    };
    let name = format!("{}{place}", fault.message);
    let _ =
        writeln!(text, "-- It fails until the fault is mended; then say with t:expect what should have come of it.");
    let _ = writeln!(text, "rb.spec({}, {{}}, function(t)", quoted(&name));
    write_course(&mut text, session);
    text.push_str("\tt:run()\nend)\n");
    Some(text)
}

/// Writes a game as a spec that holds: position, dice and answers. Its expectations are the shown fields that have
/// changed since the start, and the outcome.
pub fn spec_of_game(session: &Session, name: &str) -> String {
    let mut text = format!("local rb = require(\"@riskbreaker\")\n\nrb.spec({}, {{}}, function(t)\n", quoted(name));
    write_course(&mut text, session);
    text.push_str("\tt:run()\n");
    for (title, fields) in changed_fields(session) {
        let fields: Vec<String> = fields.iter().map(|(field, value)| format!("{field} = {}", literal(value))).collect();
        let _ = writeln!(text, "\tt:expect({{ [{}] = {{ {} }} }})", quoted(&title), fields.join(", "));
    }
    let _ = match session.outcome() {
        Some(outcome) => writeln!(text, "\tt:over({})", quoted(outcome)),
        None => writeln!(text, "\tt:ongoing()"),
    };
    text.push_str("end)\n");
    text
}

/// Writes a game that came to no end as a spec that fails: position, dice and answers, and as its expectation that the game is
/// over.
pub fn spec_of_unended(session: &Session, name: &str) -> String {
    let mut text = String::from("local rb = require(\"@riskbreaker\")\n\n");
    text.push_str("-- It fails until the rules bring this game to an end; then write what should have come of it.\n");
    let _ = writeln!(text, "rb.spec({}, {{}}, function(t)", quoted(name));
    write_course(&mut text, session);
    text.push_str("\tt:over()\nend)\n");
    text
}

/// Returns the shown fields with plain values that differ from those at the start, by title. Entities whose title is
/// not unique are left out.
fn changed_fields(session: &Session) -> BTreeMap<String, Vec<(String, Value)>> {
    let plain = |value: &Value| matches!(value, Value::Int(_) | Value::Bool(_) | Value::Text(_));
    let values = |session: &Session| -> BTreeMap<(String, String), Value> {
        let view = session.view();
        let own_title = |id: &EntityId| view.find(&view.title(*id)).ok() == Some(*id);
        let of = |id: EntityId| {
            let title = view.title(id).to_string();
            let shown = view.fields(id).filter(|(field, value)| (field.show || field.said) && plain(value));
            let fields: Vec<_> = shown.map(|(field, value)| (field.name.to_string(), value.clone())).collect();
            fields.into_iter().map(move |(field, value)| ((title.clone(), field), value))
        };
        view.entities().filter(own_title).flat_map(of).collect()
    };
    let start = Session::start(session.ruleset(), Setup::clone(&session.game().setup));
    let before = start.ok().map(|mut start| {
        // Runs the entries before the first question, whose changes belong to the position.
        let _ = start.advance();
        values(&start)
    });
    let mut changed: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for ((title, field), value) in values(session) {
        let key = (title, field);
        if before.as_ref().is_some_and(|before| before.get(&key) != Some(&value)) {
            changed.entry(key.0).or_default().push((key.1, value));
        }
    }
    changed
}

/// Writes the position, the dice and the answers.
fn write_course(text: &mut String, session: &Session) {
    let game = session.game();
    let titles = Titles::of(session);
    let defaults = session.ruleset().default_switches();
    for (switch, value) in &game.setup.switches {
        if defaults.get(switch) != Some(value) {
            let _ = writeln!(text, "\tt:switch({}, {})", quoted(switch), literal(value));
        }
    }
    let _ = match &game.setup.scenario {
        Scenario::Default => writeln!(text, "\tt:given()"),
        Scenario::Named(name) => writeln!(text, "\tt:given({})", quoted(name)),
        Scenario::Table(table) => writeln!(text, "\tt:given({})", literal(table)),
    };
    let actions: Vec<(&Cause, Tape, bool)> = game
        .history
        .iter()
        // Answers and rolls of a skipped action do not count.
        .map(|done| match done.skipped {
            Some(_) => (&done.cause, Tape::default(), true),
            None => (&done.cause, done.tape.get(), false),
        })
        .chain(game.open.iter().map(|open| (&open.cause, open.tape.clone(), false)))
        .collect();
    let mut faces: Vec<u32> =
        actions.iter().flat_map(|(_, tape, _)| tape.slots.iter().flatten().flat_map(Slot::rolled)).collect();
    // The faces of an unfinished roll are unknown: written dice must have some left for it.
    if let DiceSource::Written(all) = &game.setup.dice {
        faces.clone_from(all);
    }
    for line in faces.chunks(24) {
        let line: Vec<String> = line.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "\tt:dice({})", line.join(", "));
    }
    for (cause, tape, skipped) in actions {
        match cause {
            Cause::Free { seat, name } => {
                let _ = writeln!(text, "\tt:free({}, {})", quoted(seat), quoted(name));
            }
            Cause::Edit { edit } => told_edit(text, &titles, edit),
            Cause::Reload { .. } | Cause::Rules { .. } => text.push_str("\t-- other rules came into force here\n"),
            Cause::Entry { what, .. } if skipped => {
                let _ = writeln!(text, "\t-- `{what}` was skipped here");
            }
            Cause::Start | Cause::Entry { .. } => {}
        }
        for slot in tape.slots.iter().flatten() {
            if let Slot::Answer { topic, about, answer, by, .. } = slot
                && *by != By::Default
                && let Some(value) = answered(answer)
            {
                let title = about.and_then(|id| titles.title(id));
                let value = match title {
                    Some(title) => format!("{{ [{}] = {value} }}", quoted(&title)),
                    None => value,
                };
                let _ = writeln!(text, "\tt:answer({}, {value})", quoted(topic));
            }
        }
    }
}

/// The titles of entities; for removed ones, their last title.
struct Titles<'s> {
    session: &'s Session,
    gone: BTreeMap<EntityId, Arc<str>>,
}

impl<'s> Titles<'s> {
    fn of(session: &'s Session) -> Titles<'s> {
        let removed = session.log().into_iter().filter_map(|event| match event.happening {
            Happening::Removed { entity, title, .. } => Some((entity, title)),
            _ => None,
        });
        Titles { session, gone: removed.collect() }
    }

    fn title(&self, id: EntityId) -> Option<String> {
        let view = self.session.view();
        if view.exists(id) { Some(view.title(id).to_string()) } else { self.gone.get(&id).map(ToString::to_string) }
    }
}

fn told_edit(text: &mut String, titles: &Titles<'_>, edit: &Edit) {
    let _ = match edit {
        Edit::Set { entity, field, value } if titles.title(*entity).is_some() => {
            let value = match value {
                Value::Entity(id) => quoted(&titles.title(*id).unwrap_or_default()),
                Value::None => quoted("none"),
                value => literal(value),
            };
            let title = titles.title(*entity).unwrap_or_default();
            writeln!(text, "\tt:edit({}, {}, {value})", quoted(&title), quoted(field))
        }
        Edit::Say { .. } | Edit::Face { .. } | Edit::OtherDice { .. } => Ok(()),
        other => writeln!(text, "\t-- edit: {}", format!("{other:?}").replace('\n', " ")),
    };
}

/// Formats an answer for `t:answer`.
fn answered(answer: &Answer) -> Option<String> {
    let list = |ids: &[std::sync::Arc<str>]| {
        let ids: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
        format!("{{ {} }}", ids.join(", "))
    };
    Some(match answer {
        Answer::Choice(id) => quoted(id),
        Answer::Choices(ids) | Answer::Order(ids) => list(ids),
        Answer::Number(n) => n.to_string(),
        Answer::Allotment(parts) => {
            let parts: Vec<String> = parts.iter().map(|(id, n)| format!("[{}] = {n}", quoted(id))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Answer::Confirm(yes) => yes.to_string(),
        Answer::Line(line) => quoted(line),
        Answer::Faces(_) => return None,
    })
}

/// Formats a value as a Luau literal.
fn literal(value: &Value) -> String {
    match value {
        Value::None => "nil".into(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Ratio(n, d) => format!("{{ {n}, {d} }}"),
        Value::Text(text) => quoted(text),
        Value::Entity(id) => id.0.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("{{ {} }}", items.join(", "))
        }
        Value::Map(items) => {
            let items: Vec<String> =
                items.iter().map(|(key, item)| format!("[{}] = {}", quoted(key), literal(item))).collect();
            format!("{{ {} }}", items.join(", "))
        }
    }
}

/// Formats a text as a quoted Luau string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{{{:x}}}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_values_are_written_as_scripts_read_them() {
        assert_eq!(quoted("a \"b\"\n\\ \u{1b}"), "\"a \\\"b\\\"\\n\\\\ \\u{1b}\"");
        let value = Value::map([("end", Value::list([Value::Int(1), Value::Bool(true)]))]);
        assert_eq!(literal(&value), "{ [\"end\"] = { 1, true } }");
    }
}
