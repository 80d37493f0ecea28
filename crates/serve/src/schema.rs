use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::error::Failure;
use super::messages::{COMMON, PROTOCOL};
use super::methods::{METHODS, NOTICES};

/// Generates the JSON schema of the protocol from the types that the host reads and writes.
pub fn schema() -> Json {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut methods = Map::new();
    for method in METHODS {
        let told = json!({
            "description": method.text,
            "who": method.callers(),
            "key": method.changes,
            "params": (method.params)(&mut generator),
            "result": (method.result)(&mut generator),
        });
        methods.insert(method.name.to_owned(), told);
    }
    let mut notices = Map::new();
    for notice in NOTICES {
        let told = json!({ "description": notice.text, "params": (notice.params)(&mut generator) });
        notices.insert(notice.name.to_owned(), told);
    }
    let error = generator.subschema_for::<Failure>();
    let mut definitions = generator.take_definitions(true);
    // Parameters are closed: a name that is not declared is refused.
    let closed = definitions.values_mut().filter_map(Json::as_object_mut);
    for params in closed.filter(|form| form.get("additionalProperties") == Some(&Json::Bool(false))) {
        let properties = params.entry("properties").or_insert_with(|| json!({}));
        for (name, form, text) in COMMON {
            properties[name] = json!({ "description": text, "type": [form, "null"] });
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The protocol of Riskbreaker",
        "protocol": PROTOCOL,
        "common": COMMON.iter().map(|(name, _, text)| ((*name).to_owned(), json!(text))).collect::<Map<_, _>>(),
        "methods": methods,
        "notices": notices,
        "error_data": error,
        "$defs": definitions,
    })
}
