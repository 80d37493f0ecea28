//! The protocol over plain HTTP: single messages by `POST`, and a stream of lines for bots.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Value as Json, json};
use tokio::time::{sleep, timeout};

use crate::guard::refusal;
use crate::host::is_answer;
use crate::qr::QrCode;
use crate::sessions::RpcSession;
use crate::shared::{ServerShared, ended};

/// The most bytes of a body that is read. The host answers a smaller oversized message with an error.
const MOST_BYTES: usize = 256 * 1024;
/// The interval of empty lines that keep a stream open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The most characters of a text for a QR code.
const MOST_OF_QR: usize = 512;

const SESSION: HeaderName = HeaderName::from_static("riskbreaker-session");
const LINES: &str = "application/x-ndjson";

/// The token in `Authorization: Bearer`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && (8..=128).contains(&token.len())).then_some(token)
}

/// Reads the body of a request with JSON content.
async fn json_body(request: Request) -> Result<String, Response> {
    let is_json = |value: &HeaderValue| {
        let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    };
    if !request.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send `Content-Type: application/json`.\n"));
    }
    let bytes = timeout(Duration::from_secs(10), to_bytes(request.into_body(), MOST_BYTES)).await;
    let Ok(Ok(bytes)) = bytes else {
        return Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "The message is too long, or did not come in time.\n"));
    };
    String::from_utf8(bytes.into()).map_err(|_| refusal(StatusCode::BAD_REQUEST, "The message is not UTF-8.\n"))
}

fn answer(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn unauthorized(line: String) -> Response {
    let mut answer = answer("application/json", line);
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn hello(token: &str, since: &Json) -> String {
    let mut params = json!({ "token": token });
    for name in ["since", "seq"] {
        if since[name].is_u64() {
            params[name] = since[name].clone();
        }
    }
    json!({ "jsonrpc": "2.0", "id": "hello", "method": "hello", "params": params }).to_string()
}

/// Handles one message of a client.
pub(crate) async fn rpc(State(shared): State<ServerShared>, request: Request) -> Response {
    let headers = request.headers().clone();
    let message = match json_body(request).await {
        Ok(message) => message,
        Err(refused) => return refused,
    };
    let (key, session, is_new) = if let Some(id) = headers.get(SESSION).and_then(|id| id.to_str().ok()) {
        match shared.sessions.find(id) {
            Some(session) => (id.to_owned(), session, false),
            None => return refusal(StatusCode::NOT_FOUND, "This session has ended; say `hello` without one.\n"),
        }
    } else if let Some(token) = bearer(&headers) {
        let key = format!("bearer {token}");
        match shared.sessions.find(&key) {
            Some(session) => (key, session, false),
            None => {
                let session = RpcSession::open(&*shared.host);
                let welcome = session.ask(&hello(token, &Json::Null)).await.and_then(|mut lines| lines.pop());
                match welcome {
                    Some(line) if session.client.is_welcome() && !line.starts_with(r#"{"error""#) => {}
                    line => return unauthorized(line.unwrap_or_default()),
                }
                shared.sessions.put(key.clone(), session.clone());
                (key, session, false)
            }
        }
    } else {
        (shared.new_key(), RpcSession::open(&*shared.host), true)
    };
    let Some(lines) = session.ask(&message).await else {
        shared.sessions.end(&key);
        return refusal(StatusCode::GATEWAY_TIMEOUT, "There was no answer in time.\n");
    };
    let keeps = is_new && session.client.is_welcome();
    if keeps {
        shared.sessions.put(key.clone(), session);
    }
    let wants_all =
        headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok()).is_some_and(|kinds| kinds.contains(LINES));
    let mut answer = match (lines.is_empty(), wants_all) {
        (true, _) => {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::ACCEPTED;
            answer
        }
        (false, true) => answer(LINES, lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect::<String>()),
        (false, false) => {
            answer("application/json", lines.into_iter().find(|line| is_answer(line)).unwrap_or_default())
        }
    };
    if let Some(key) = Some(key).filter(|_| keeps).and_then(|key| HeaderValue::from_str(&key).ok()) {
        answer.headers_mut().insert(SESSION, key);
    }
    answer
}

/// Streams the messages for one role as lines: first the answer to `hello` with the whole view, then every notice.
pub(crate) async fn stream(State(shared): State<ServerShared>, request: Request) -> Response {
    let Some(token) = bearer(request.headers()) else {
        return refusal(StatusCode::UNAUTHORIZED, "Send `Authorization: Bearer TOKEN`.\n");
    };
    let mut since = json!({});
    for (name, value) in request.uri().query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')) {
        if let (true, Ok(value)) = (matches!(name, "since" | "seq"), value.parse::<u64>()) {
            since[name] = value.into();
        }
    }
    let session = RpcSession::open(&*shared.host);
    let lines = session.ask(&hello(token, &since)).await.unwrap_or_default();
    if !session.client.is_welcome() || lines.iter().any(|line| line.starts_with(r#"{"error""#)) {
        return unauthorized(lines.into_iter().find(|line| is_answer(line)).unwrap_or_default());
    }
    let state = (session, lines, shared.ending.clone(), shared.tasks.clone());
    let body = futures_util::stream::unfold(state, |(session, mut lines, mut ending, task)| async move {
        while lines.is_empty() {
            if session.client.is_closed() || *ending.borrow() {
                return None;
            }
            let wait = session.client.due().unwrap_or(KEEP_ALIVE).min(KEEP_ALIVE);
            tokio::select! {
                () = ended(&mut ending) => {}
                () = session.client.wake.notified() => {}
                () = sleep(wait) => {}
            }
            lines = session.client.take();
            if lines.is_empty() && wait == KEEP_ALIVE {
                lines.push(String::new());
            }
        }
        let chunk: String = std::mem::take(&mut lines).into_iter().flat_map(|line| [line, "\n".to_owned()]).collect();
        Some((Ok::<_, Infallible>(Bytes::from(chunk)), (session, lines, ending, task)))
    });
    answer(LINES, Body::from_stream(body))
}

/// Returns the QR code of a text, as rows of `0` and `1`.
pub(crate) async fn qr(request: Request) -> Response {
    let body = match json_body(request).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let text = serde_json::from_str::<Json>(&body).ok().and_then(|body| body["text"].as_str().map(str::to_owned));
    let Some(code) = text.filter(|text| text.len() <= MOST_OF_QR).and_then(|text| QrCode::of(&text).ok()) else {
        return refusal(StatusCode::BAD_REQUEST, "Send `{\"text\": ...}` with at most 512 bytes.\n");
    };
    answer("application/json", json!({ "rows": code.rows() }).to_string())
}
