//! Checks every request, and adds headers to every answer.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::shared::ServerShared;

/// The local address of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachedAddress(pub SocketAddr);

/// The sender of a request, from its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sender {
    /// The page of this server, or a program.
    Own,
    /// A page of an allowed origin.
    Guest(HeaderValue),
}

const OTHER_HOST: &str = "This server does not answer to that name. For phones in the same room, start it with `--lan`; for a tunnel \
                          or a proxy, with `--public-url URL`.\n";
const OTHER_ORIGIN: &str =
    "Pages of that origin may not use this server. Start it with `--allow-origin URL` to allow one.\n";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Builds a refusal with a text.
pub(crate) fn refusal(status: StatusCode, text: impl Into<String>) -> Response {
    let mut answer = Response::new(Body::from(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// Passes a request on if it is meant for this server and comes from its own page or an allowed one. Adds the headers
/// of every answer.
pub(crate) async fn guard(State(shared): State<ServerShared>, request: Request, next: Next) -> Response {
    let sender = sender_of(&shared, &request);
    let mut answer = match &sender {
        Ok(Sender::Guest(_)) if request.method() == Method::OPTIONS => Response::new(Body::empty()),
        Ok(_) => next.run(request).await,
        Err((status, text)) => {
            shared.count_refusal(*status);
            refusal(*status, *text)
        }
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Nothing is cached: an outdated page may not speak the current protocol.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(Sender::Guest(origin)) = sender {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        let names = HeaderValue::from_static("authorization, content-type, riskbreaker-session");
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("riskbreaker-session"));
        headers
            .insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("cross-origin"));
    }
    answer
}

/// The value of a header that may occur at most once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

/// Checks `Host` and `Origin`. Headers that a proxy adds about other names are ignored.
fn sender_of(shared: &ServerShared, request: &Request) -> Result<Sender, (StatusCode, &'static str)> {
    let headers = request.headers();
    let Some(ReachedAddress(reached)) = request.extensions().get::<ReachedAddress>().copied() else {
        return Err((StatusCode::INTERNAL_SERVER_ERROR, "The address of the connection is unknown.\n"));
    };
    let other_host = (StatusCode::MISDIRECTED_REQUEST, OTHER_HOST);
    let host = only(headers, &header::HOST).ok().flatten().and_then(|host| host.to_str().ok()).ok_or(other_host)?;
    if !shared.addresses.answers_to(host, reached) {
        return Err(other_host);
    }
    // The first line of a request may name the server, too.
    if let Some(authority) = request.uri().authority()
        && !shared.addresses.answers_to(authority.as_str(), reached)
    {
        return Err(other_host);
    }
    let other_origin = (StatusCode::FORBIDDEN, OTHER_ORIGIN);
    let origin = only(headers, &header::ORIGIN).map_err(|()| other_origin)?;
    let Some(origin) = origin else { return Ok(Sender::Own) };
    let text = origin.to_str().map_err(|_| other_origin)?;
    if shared.addresses.is_own_origin(text, reached) {
        Ok(Sender::Own)
    } else if shared.addresses.is_guest(text) && request.uri().path().starts_with("/v1/") {
        Ok(Sender::Guest(origin.clone()))
    } else {
        Err(other_origin)
    }
}
