//! Reads the messages of the protocol. A message that cannot be parsed is reported, and reading continues after it.

use std::io::{self, BufRead, Read as _, Write};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value as Json, json};

/// The most bytes of a message.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The most bytes of a header line.
const LONGEST_LINE: u64 = 4096;

/// A message that cannot be parsed.
#[derive(Debug)]
pub(super) struct Broken {
    /// The id of the request, if it has one.
    id: Json,
    code: ErrorCode,
    why: String,
}

impl Broken {
    /// Sends an error as the answer to it.
    pub fn answer(self, output: &mut impl Write) -> io::Result<()> {
        let error = json!({ "code": self.code as i32, "message": self.why });
        let text = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string();
        write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        output.flush()
    }
}

/// Reads the next message; `None` at the end of the input.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Message, Broken>>> {
    let (mut length, mut strange) = (None, None);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        match line.split_once(':') {
            None if line.is_empty() => break,
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse::<u64>().ok();
            }
            Some(_) => {}
            None => strange = Some(line.to_string()),
        }
    }
    let broken = |code, why: String| Ok(Some(Err(Broken { id: Json::Null, code, why })));
    let Some(length) = length else {
        let why = match strange {
            Some(line) => format!("a message begins with `Content-Length: BYTES`, not with `{line}`"),
            None => "a message begins with `Content-Length: BYTES`".to_string(),
        };
        return broken(ErrorCode::ParseError, why);
    };
    if length > LONGEST {
        io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        return broken(ErrorCode::InvalidRequest, format!("a message has at most {LONGEST} bytes, not {length}"));
    }
    let mut body = Vec::new();
    if (input.by_ref().take(length).read_to_end(&mut body)? as u64) < length {
        return Ok(None);
    }
    Ok(Some(parse(&body)))
}

fn parse(body: &[u8]) -> Result<Message, Broken> {
    let json: Json = serde_json::from_slice(body).map_err(|error| Broken {
        id: Json::Null,
        code: ErrorCode::ParseError,
        why: format!("the message is no JSON: {error}"),
    })?;
    let id = json.get("id").cloned().unwrap_or_default();
    let invalid = |why: &str| Broken { id: id.clone(), code: ErrorCode::InvalidRequest, why: why.to_string() };
    match serde_json::from_value(json) {
        Ok(Message::Notification(_)) if !id.is_null() => {
            Err(invalid("the id of a request is a text or a small number"))
        }
        Ok(message) => Ok(message),
        Err(_) => Err(invalid("a message is a request, a notification or a response of JSON-RPC 2.0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(next) = read(&mut input).unwrap() {
            found.push(match next {
                Ok(Message::Request(request)) => format!("request {}", request.method),
                Ok(Message::Notification(notification)) => format!("notification {}", notification.method),
                Ok(Message::Response(_)) => "response".into(),
                Err(broken) => format!("{} {}", broken.id, broken.why),
            });
        }
        found
    }

    fn frame(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn reading_continues_after_a_message_that_cannot_be_read() {
        let input = [
            frame(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
            frame("{oops"),
            frame("[1]"),
            frame(r#"{"jsonrpc":"2.0","id":1.5,"method":"b"}"#),
            "nonsense\r\n\r\n".to_string(),
            "Content-Length: many\r\n\r\n".to_string(),
            format!("Content-Type: x\r\n{}", frame(r#"{"jsonrpc":"2.0","method":"c"}"#)),
            "Content-Length: 99\r\n\r\n{".to_string(),
        ];
        let found = all(input.concat().as_bytes());
        assert_eq!(found.len(), 7, "{found:#?}");
        assert_eq!((&*found[0], &*found[6]), ("request a", "notification c"));
        assert!(found[1].starts_with("null the message is no JSON"), "{}", found[1]);
        assert!(found[3].starts_with("1.5 "), "{}", found[3]);
        assert!(found[4].contains("not with `nonsense`"), "{}", found[4]);
    }

    #[test]
    fn a_length_beyond_the_memory_is_not_reserved() {
        let input = format!("Content-Length: {}\r\n\r\n{{}}", u64::MAX);
        assert_eq!(all(input.as_bytes()).len(), 1);
        assert!(all(b"Content-Length: 60000000\r\n\r\n{}").is_empty());
    }
}
