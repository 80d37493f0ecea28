use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use super::error::Failure;
use super::messages::PROTOCOL;
use super::methods::{METHODS, NOTICES};

/// The JSON schema of the protocol, made from the types that the host itself reads and writes.
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
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The protocol of Riskbreaker",
        "protocol": PROTOCOL,
        "common": {
            "viewer": "a number from `hello`; every method takes it, every notice has it",
            "table": "for an operator without a viewer: the table that is meant",
            "key": "an idempotency key of at most 64 characters: a repeated key gets the first result",
        },
        "methods": methods,
        "notices": notices,
        "error_data": error,
        "$defs": generator.take_definitions(true),
    })
}
