//! A game as plain data for programs that drive it, with entities by title.

use super::Session;
use crate::{Migration, Question};
use riskbreaker_state::Value;

/// Converts a question to a table.
pub fn question(session: &Session, question: &Question) -> Value {
    let mut row = vec![
        ("id".to_owned(), Value::text(question.id.to_string())),
        ("seat".to_owned(), Value::Text(question.seat.clone())),
        ("topic".to_owned(), Value::Text(question.topic.clone())),
        ("why".to_owned(), Value::text(&question.why)),
        ("audience".to_owned(), Value::text(question.audience.to_string())),
    ];
    if let Some(about) = question.about {
        row.push(("about".to_owned(), Value::Text(session.view().title(about))));
    }
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&question.ask) {
        row.extend(fields.iter().map(|(name, value)| (name.clone(), riskbreaker_ruleset::plain(value))));
    }
    if let Some(default) = &question.default {
        row.push(("default".to_owned(), Value::text(question.tell(default))));
    }
    Value::map(row)
}

/// Converts the notes of a migration to a list of tables.
pub fn notes(migration: &Migration) -> Value {
    Value::list(migration.notes.iter().map(|note| {
        let rule = note.rule.as_deref().map_or(Value::None, Value::text);
        let (fate, topic, text) = (note.fate.word(), note.topic.as_str(), note.text.as_str());
        Value::map([
            ("fate", Value::text(fate)),
            ("topic", Value::text(topic)),
            ("text", Value::text(text)),
            ("rule", rule),
        ])
    }))
}

/// Reads a table of answers by topic, as [`Session::reply`] takes them.
///
/// # Errors
///
/// A sentence if the value is no table by topic.
pub fn replies(table: &Value) -> Result<Vec<(String, Value)>, String> {
    match table {
        Value::None => Ok(Vec::new()),
        Value::Map(fields) => Ok(fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()),
        Value::List(items) if items.is_empty() => Ok(Vec::new()),
        _ => Err("answers are a table by topic, such as { card = \"pass\" }".into()),
    }
}

/// Computes a field or derived value by name, with entities as titles.
///
/// # Errors
///
/// A sentence if there is no such entity or value, or if its script fails.
pub fn value_of(session: &mut Session, title: &str, name: &str, args: &[Value]) -> Result<Value, String> {
    let entity = session.view().find(title).map_err(|refusal| refusal.to_string())?;
    let field = session.view().field(entity, name).cloned();
    let value = match field {
        Some(value) => value,
        None if session.view().derived_names(entity).iter().any(|known| **known == *name) => {
            session.derived(entity, name, args).map_err(|fault| fault.to_string())?
        }
        None => {
            let why = session.why(entity, name).err();
            return Err(why.map_or_else(|| "there is no such field".into(), |refusal| refusal.to_string()));
        }
    };
    Ok(session.game().context.titled(&value))
}
