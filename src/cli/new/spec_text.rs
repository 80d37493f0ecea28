use std::sync::Arc;

use riskbreaker::Value;

use super::trial::Trial;

pub fn spec_file(rule: &str, name: &str, body: &str) -> String {
    let (ids, head) = if rule.is_empty() {
        ("{}".to_owned(), String::new())
    } else {
        (format!("{{ \"{rule}\" }}"), format!("{rule}: "))
    };
    format!("local rb = require(\"@riskbreaker\")\n\nrb.spec(\"{head}{name}\", {ids}, function(t)\n{body}end)\n")
}

pub fn given(scenario: Option<&str>) -> String {
    scenario.map_or_else(|| "\tt:given({})\n".to_owned(), |name| format!("\tt:given(\"{name}\")\n"))
}

pub fn started(scenario: Option<&str>, faces: &[u32]) -> String {
    format!("{}{}\tt:ongoing()\n", given(scenario), dice(faces))
}

pub fn dice(faces: &[u32]) -> String {
    let faces: Vec<String> = faces.iter().map(u32::to_string).collect();
    if faces.is_empty() { String::new() } else { format!("\tt:dice({})\n", faces.join(", ")) }
}

/// Returns a spec that plays a card and expects what is said then, or that the game goes on. `run`: the call that
/// continues the game before the log is compared.
pub fn played(trial: &Trial, card: &str, run: &str, said: &str, scenario: Option<&str>) -> String {
    let mut body = given(scenario);
    body.push_str(&dice(&trial.faces));
    let answers: Vec<String> = trial.answers.iter().map(|(topic, value)| format!("{topic} = {value}")).collect();
    let answers = if answers.is_empty() { String::new() } else { format!(", {{ {} }}", answers.join(", ")) };
    body.push_str(&format!("\tt:play({:?}, \"{card}\"{answers})\n", trial.about));
    body.push_str(run);
    match said {
        "" => body.push_str("\tt:ongoing()\n"),
        said => body.push_str(&format!("\tt:said({said:?})\n")),
    }
    body
}

/// Words that cannot be names in a script.
const KEYWORDS: &[&str] = &[
    "", "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not",
    "or", "repeat", "return", "then", "true", "until", "while",
];

/// Formats a plain value as Luau source.
pub fn written_as_luau(value: &Value) -> Option<String> {
    match value {
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Int(n) => Some(n.to_string()),
        Value::Text(text) => Some(format!("{text:?}")),
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(written_as_luau).collect();
            Some(format!("{{ {} }}", items?.join(", ")))
        }
        Value::Map(items) => {
            let is_name = |key: &str| {
                !key.starts_with(|c: char| c.is_ascii_digit())
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !KEYWORDS.contains(&key)
            };
            let entry = |(key, value): (&Arc<str>, &Value)| {
                let key = if is_name(key) { key.to_string() } else { format!("[{key:?}]") };
                Some(format!("{key} = {}", written_as_luau(value)?))
            };
            Some(format!("{{ {} }}", items.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", ")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_written_as_scripts_write_them() {
        let fact = Value::map([
            ("end", Value::Int(2)),
            ("mail", Value::Int(50)),
            ("of two", Value::list([Value::Bool(true), Value::text("a")])),
        ]);
        assert_eq!(written_as_luau(&fact).unwrap(), "{ [\"end\"] = 2, mail = 50, [\"of two\"] = { true, \"a\" } }");
    }
}
