//! Parses a message of a client into a request.

use serde_json::Value as Json;

use super::error::Failure;
#[cfg(feature = "web")]
use super::messages::MOST_BYTES;
use super::methods::{METHODS, MethodName};
use super::misfit::takes;
use super::unread::{Id, doubled_key, id_of, is_id, read_once};
use riskbreaker_ruleset::{instead, nearest, quoted::quoted};

/// A parsed request.
pub(super) struct Request {
    /// `None` for a notification, which is not answered.
    pub id: Option<Id>,
    pub method: MethodName,
    pub params: Json,
    pub viewer: Option<u32>,
    pub table: Option<String>,
    pub key: Option<String>,
}

/// Parses a message. The id is returned even if the rest is wrong; `None` for a notification, which is never answered.
pub(super) fn parse(message: &str) -> (Option<Id>, Result<Request, Failure>) {
    let not_a_request = |message: String| Err(Failure::NotARequest { message });
    let parsed = match read_once(message) {
        Ok(parsed) => parsed,
        Err(error) => {
            let failure = match doubled_key(&error) {
                Some(key) => not_a_request(format!("the key {key} stands twice in an object; leave one of them out")),
                None => Err(Failure::NotJson { at: error.column() }),
            };
            return (Some(id_of(message)), failure);
        }
    };
    let Json::Object(mut fields) = parsed else {
        let what =
            if parsed.is_array() { "there are no batches; send one object a line" } else { "a request is an object" };
        return (Some(Id::null()), not_a_request(what.to_owned()));
    };
    let given = fields.remove("id");
    let id = match &given {
        Some(id) if is_id(id) || id.is_null() => Some(Id::of(message, id)),
        Some(_) => {
            let what = "`id` is a text, null or a whole number from -2^63 to 2^64 - 1";
            return (Some(Id::null()), not_a_request(what.to_owned()));
        }
        None => None,
    };
    // A message that has no id and is no valid notification is answered, too.
    let wrong = |message: &str| (Some(id.clone().unwrap_or_else(Id::null)), not_a_request(message.to_owned()));
    const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];
    if let Some(other) = fields.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        return wrong(&format!("a request has no {}; {}", quoted(other), instead(other, MEMBERS)));
    }
    if fields.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return wrong("`jsonrpc` has to be \"2.0\"");
    }
    let Some(Json::String(method)) = fields.remove("method") else { return wrong("`method` has to be a text") };
    let request = request_of(id.clone(), method, fields.remove("params"));
    (id, request)
}

/// True if a message is a notification, which is not answered.
#[cfg(feature = "web")]
pub(super) fn is_notification(message: &str) -> bool {
    message.len() <= MOST_BYTES && parse(message).0.is_none()
}

/// Checks a method and its parameters and returns the request.
fn request_of(id: Option<Id>, method: String, params: Option<Json>) -> Result<Request, Failure> {
    let Some(method) = MethodName::of(&method) else {
        let near = nearest(&method, METHODS.iter().map(|method| method.name)).map(str::to_owned);
        return Err(Failure::UnknownMethod { method: method.chars().take(64).collect(), near });
    };
    let mut params = match params {
        None => serde_json::Map::new(),
        Some(Json::Object(params)) => params,
        Some(_) => return Err(Failure::BadParams { message: "`params` has to be an object".into() }),
    };
    let viewer = match params.remove("viewer") {
        None | Some(Json::Null) => None,
        Some(viewer) => match viewer.as_u64().and_then(|viewer| u32::try_from(viewer).ok()) {
            Some(viewer) => Some(viewer),
            None => return Err(takes("viewer", "a whole number from 0 to 4294967295", &viewer)),
        },
    };
    let mut text = |name: &str| match params.remove(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(takes(name, "a text", &other)),
    };
    let (table, key) = (text("table")?, text("key")?);
    Ok(Request { id, method, params: Json::Object(params), viewer, table, key })
}
