//! The server with a host without a game: which requests pass, which are refused, and the headers of every answer.
//! Tests of the security list are named `c3_NN`.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use riskbreaker_web::{Addresses, Config, Page, Server, ServerStartError, WebClient, WebHost};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// A host that answers each message with its length, and accepts a client after `hello`.
#[derive(Default)]
struct Echo {
    opened: AtomicUsize,
    closed: Arc<AtomicUsize>,
    log: Mutex<Vec<String>>,
}

struct EchoClient {
    wake: Arc<dyn Fn() + Send + Sync>,
    waiting: Mutex<Vec<String>>,
    welcome: AtomicBool,
    ended: AtomicBool,
    closed: Arc<AtomicUsize>,
}

impl WebHost for Echo {
    fn connect(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Arc<dyn WebClient> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let (waiting, closed) = (Mutex::default(), self.closed.clone());
        Arc::new(EchoClient { wake, waiting, welcome: AtomicBool::new(false), ended: AtomicBool::new(false), closed })
    }

    fn log(&self, line: &str) {
        self.log.lock().unwrap().push(line.to_owned());
    }
}

impl WebClient for EchoClient {
    fn receive(&self, message: &str) {
        if message.contains("hello") && !message.contains("wrong") {
            self.welcome.store(true, Ordering::SeqCst);
        }
        if message.contains("end") {
            self.ended.store(true, Ordering::SeqCst);
        }
        let answer = if message.contains("wrong") {
            r#"{"error":{"data":{"kind":"unknown_token"}},"id":1,"jsonrpc":"2.0"}"#.to_owned()
        } else {
            format!(r#"{{"id":1,"jsonrpc":"2.0","result":{}}}"#, message.len())
        };
        let mut waiting = self.waiting.lock().unwrap();
        waiting.push(r#"{"jsonrpc":"2.0","method":"step"}"#.to_owned());
        waiting.push(answer);
        (self.wake)();
    }

    fn is_answered(&self, message: &str) -> bool {
        message.contains("id")
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.waiting.lock().unwrap())
    }

    fn due(&self) -> Option<Duration> {
        None
    }

    fn is_full(&self) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn is_welcome(&self) -> bool {
        self.welcome.load(Ordering::SeqCst)
    }

    fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

struct Running {
    server: Server,
    host: Arc<Echo>,
}

fn config(listens: &str) -> Config {
    Config { listens: listens.parse().unwrap(), public: None, guests: Vec::new(), page: Page::Embedded }
}

fn run(config: Config) -> Running {
    let host = Arc::new(Echo::default());
    let server = Server::start(Server::listen(config).unwrap(), host.clone()).unwrap();
    Running { server, host }
}

fn running() -> Running {
    run(config("127.0.0.1:0"))
}

impl Running {
    fn port(&self) -> u16 {
        self.server.addresses().port()
    }

    fn own(&self) -> String {
        format!("127.0.0.1:{}", self.port())
    }

    /// Sends bytes and returns everything received until the server closes the connection.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Sends a request with these headers in addition to `Connection`.
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            request.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        Answer::of(&self.raw(format!("{request}\r\n{body}").as_bytes()))
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[("Host", &self.own())], "")
    }

    fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let own = self.own();
        let mut all = vec![("Host", own.as_str()), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        self.ask("POST /v1/rpc", &all, body)
    }

    fn socket(&self) -> WebSocket<TcpStream> {
        self.socket_with(&[]).unwrap()
    }

    fn socket_with(&self, headers: &[(&'static str, &str)]) -> Result<WebSocket<TcpStream>, u16> {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut request = format!("ws://{}/v1/ws", self.own()).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(socket),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn of(text: &str) -> Answer {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok()).unwrap_or(0);
        let headers =
            lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Answer { status, headers: headers.collect(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The code with which a socket is closed, and the messages before that.
fn closed(socket: &mut WebSocket<TcpStream>) -> (Vec<String>, u16) {
    let mut told = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => told.push(text.to_string()),
            Ok(Message::Close(frame)) => return (told, frame.map_or(0, |frame| frame.code.into())),
            Ok(_) => {}
            Err(_) => return (told, 0),
        }
    }
}

#[test]
fn c3_01_the_server_listens_at_the_given_address_and_reports_a_used_port() {
    let running = running();
    assert_eq!(running.server.addresses().own().to_string(), format!("http://{}/", running.own()));
    assert_eq!(running.server.addresses().shared(), &running.server.addresses().own());
    let again = Server::listen(config(&running.own()));
    assert!(matches!(again, Err(ServerStartError::Taken(_))));
    // No other address in the network reaches it.
    let others = Addresses::new("0.0.0.0:1".parse().unwrap(), None, &[]);
    for other in others.further().chain([others.shared()]) {
        let Ok(ip) = other.host().trim_end_matches(":1").parse::<std::net::Ipv4Addr>() else { continue };
        if !ip.is_loopback() {
            let address = SocketAddr::from((ip, running.port()));
            assert!(TcpStream::connect_timeout(&address, Duration::from_secs(5)).is_err(), "{address}");
        }
    }
}

#[test]
fn c3_02_only_the_servers_own_host_names_are_accepted() {
    let running = run(Config { public: Some("https://table.example".parse().unwrap()), ..config("127.0.0.1:0") });
    let port = running.port();
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LOCALHOST:{port}"),
        "table.example".into(),
        "table.example:443".into(),
    ] {
        assert_eq!(running.ask("GET /", &[("Host", &host)], "").status, 200, "{host}");
    }
    for host in [
        format!("0.0.0.0:{port}"),
        "127.0.0.1".into(),
        "127.0.0.1:1".into(),
        "localhost".into(),
        format!("localhost.:{port}"),
        format!("evil.example:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.1:{port}@evil.example"),
        format!("evil.example@127.0.0.1:{port}"),
        format!("127.0.0.1:{port},evil.example"),
        format!("127.0.0.1:0{port}"),
        "table.example:80".into(),
        "table.example.evil.example".into(),
        format!("[::ffff:127.0.0.1]:{port}"),
        "[".into(),
        ":".into(),
        "é".into(),
    ] {
        let answer = running.ask("GET /", &[("Host", &host)], "");
        assert!([421, 400].contains(&answer.status), "{host}: {answer:?}");
        if answer.status == 421 {
            assert!(answer.body.contains("--lan") && answer.body.contains("--public-url"), "{answer:?}");
            assert!(!answer.body.contains(&host), "{answer:?}");
        }
    }
    let own = running.own();
    for headers in [vec![], vec![("Host", "")], vec![("Host", own.as_str()), ("Host", own.as_str())]] {
        assert!([421, 400].contains(&running.ask("GET /", &headers, "").status), "{headers:?}");
    }
    // The first line may name a server, too.
    let other = running.ask(&format!("GET http://evil.example:{port}/"), &[("Host", &own)], "");
    assert_eq!(other.status, 421);
    assert_eq!(running.ask("GET /", &[("Host", &own)], "").status, 200);
    assert!(running.host.log.lock().unwrap()[0].contains("--public-url"));
}

#[test]
fn c3_03_forwarded_host_headers_are_ignored() {
    let running = running();
    let own = running.own();
    for name in ["X-Forwarded-Host", "Forwarded", "X-Original-Host", "X-Host", "X-Forwarded-Server"] {
        let value = if name == "Forwarded" { format!("host={own};proto=http") } else { own.clone() };
        let answer = running.ask("GET /", &[("Host", "evil.example"), (name, &value)], "");
        assert_eq!(answer.status, 421, "{name}");
        let answer = running.ask("GET /", &[("Host", &own), (name, "evil.example")], "");
        assert_eq!(answer.status, 200, "{name}");
    }
}

#[test]
fn c3_04_pages_of_other_origins_are_refused() {
    let running = running();
    let (port, own) = (running.port(), running.own());
    let hello = r#"{"id":1,"method":"hello"}"#;
    for origin in [format!("http://{own}"), format!("http://localhost:{port}")] {
        assert_eq!(running.post(&[("Origin", &origin)], hello).status, 200, "{origin}");
        assert!(running.socket_with(&[("origin", &origin)]).is_ok(), "{origin}");
    }
    for origin in [
        "null".to_owned(),
        "http://evil.example".into(),
        format!("https://{own}"),
        "http://127.0.0.1".into(),
        "http://127.0.0.1:1".into(),
        format!("http://{own}.evil.example"),
        format!("http://{own}/"),
        format!("HTTP://{own}"),
        format!("http://{own} http://evil.example"),
        String::new(),
    ] {
        assert_eq!(running.post(&[("Origin", &origin)], hello).status, 403, "{origin}");
        assert_eq!(running.socket_with(&[("origin", &origin)]).err(), Some(403), "{origin}");
    }
    let twice = [("Origin", "http://evil.example"), ("Origin", &*format!("http://{own}"))];
    assert_eq!(running.post(&twice, hello).status, 403);
    assert_eq!(running.host.opened.load(Ordering::SeqCst), 2);
}

#[test]
fn c3_05_only_allowed_origins_may_read_answers() {
    let running = run(Config { guests: vec!["https://vtt.example".parse().unwrap()], ..config("127.0.0.1:0") });
    let hello = r#"{"id":1,"method":"hello"}"#;
    let own = format!("http://{}", running.own());
    for answer in [running.get("/"), running.post(&[("Origin", &own)], hello), running.post(&[], hello)] {
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{answer:?}");
    }
    let guest = running.post(&[("Origin", "https://vtt.example")], hello);
    assert_eq!(guest.header("access-control-allow-origin"), Some("https://vtt.example"));
    assert_eq!(guest.header("access-control-allow-credentials"), None);
    let asked = running.ask("OPTIONS /v1/rpc", &[("Host", &running.own()), ("Origin", "https://vtt.example")], "");
    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (200, Some("https://vtt.example")));
    // Guests cannot load the page itself.
    let page = running.ask("GET /", &[("Host", &running.own()), ("Origin", "https://vtt.example")], "");
    assert_eq!(page.status, 403);
    for origin in ["https://vtt.example.evil.example", "http://vtt.example", "https://other.example"] {
        let answer = running.ask("OPTIONS /v1/rpc", &[("Host", &running.own()), ("Origin", origin)], "");
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None), "{origin}");
    }
}

#[test]
fn c3_06_a_post_is_json() {
    let running = running();
    let own = running.own();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""] {
        let answer = running.ask("POST /v1/rpc", &[("Host", &own), ("Content-Type", kind)], r#"{"id":1}"#);
        assert_eq!(answer.status, 415, "{kind}");
    }
    assert_eq!(running.ask("POST /v1/rpc", &[("Host", &own)], r#"{"id":1}"#).status, 415);
    assert_eq!(running.host.opened.load(Ordering::SeqCst), 0);
    let kind = "application/json; charset=utf-8";
    assert_eq!(running.ask("POST /v1/rpc", &[("Host", &own), ("Content-Type", kind)], r#"{"id":1}"#).status, 200);
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(running.ask(&format!("{method} /v1/rpc"), &[("Host", &own)], "").status, 405, "{method}");
    }
}

#[test]
fn c3_07_the_first_message_must_be_short_and_come_soon() {
    let running = running();
    let mut late = running.socket();
    let mut long = running.socket();
    long.send(Message::text("x".repeat(1_025))).unwrap();
    assert_eq!(closed(&mut long), (vec![], 1009));
    let mut binary = running.socket();
    binary.send(Message::binary(b"{}".to_vec())).unwrap();
    assert_eq!(closed(&mut binary), (vec![], 1003));
    // Nothing was opened or sent for them.
    assert_eq!(closed(&mut late), (vec![], 1008));
    assert_eq!(running.host.opened.load(Ordering::SeqCst), 0);
    let mut right = running.socket();
    right.send(Message::text(r#"{"id":1,"method":"hello"}"#)).unwrap();
    assert_eq!(right.read().unwrap().to_text().unwrap(), r#"{"jsonrpc":"2.0","method":"step"}"#);
    assert_eq!(right.read().unwrap().to_text().unwrap(), r#"{"id":1,"jsonrpc":"2.0","result":25}"#);
}

#[test]
fn c3_08_and_c3_14_every_answer_has_the_security_headers() {
    let running = running();
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                  frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let other = running.ask("GET /", &[("Host", "evil.example")], "");
    let posted = running.post(&[], r#"{"id":1,"method":"hello"}"#);
    for answer in [running.get("/"), running.get("/tv"), running.get("/none"), running.get("/v1/rpc"), other, posted] {
        assert_eq!(answer.header("content-security-policy"), Some(policy), "{answer:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("set-cookie"), None);
    }
    let page = running.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(!page.body.contains("style=") && !page.body.contains("onclick"), "{}", page.body);
    assert!(!page.body.contains("<script>") && !page.body.contains("<style"), "{}", page.body);
}

#[test]
fn c3_10_no_path_reaches_files_outside_the_page() {
    let running = running();
    for path in
        ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/..%2fCargo.toml", "//etc/passwd", "/./index.html", "/v1", "/v1/save"]
    {
        assert!([404, 400].contains(&running.get(path).status), "{path}");
    }
}

#[test]
fn c3_20_closing_a_socket_leaves_the_others_open() {
    let running = running();
    let mut old = running.socket();
    old.send(Message::text(r#"{"id":1,"method":"hello"}"#)).unwrap();
    old.read().unwrap();
    let mut new = running.socket();
    new.send(Message::text(r#"{"id":1,"method":"hello"}"#)).unwrap();
    new.read().unwrap();
    new.read().unwrap();
    drop(old);
    while running.host.closed.load(Ordering::SeqCst) < 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    new.send(Message::text(r#"{"id":2}"#)).unwrap();
    new.read().unwrap();
    assert_eq!(new.read().unwrap().to_text().unwrap(), r#"{"id":1,"jsonrpc":"2.0","result":8}"#);
    assert_eq!(running.host.closed.load(Ordering::SeqCst), 1);
}

#[test]
fn a_connection_that_the_host_ends_is_closed_after_its_last_message() {
    let running = running();
    let mut socket = running.socket();
    socket.send(Message::text(r#"{"id":1,"method":"end"}"#)).unwrap();
    let (told, code) = closed(&mut socket);
    assert_eq!((told.len(), code), (2, 1008));
}

#[test]
fn clients_are_told_that_the_server_ends() {
    let mut running = running();
    let mut socket = running.socket();
    socket.send(Message::text(r#"{"id":1,"method":"hello"}"#)).unwrap();
    socket.read().unwrap();
    socket.read().unwrap();
    let ends = std::thread::spawn(move || running.server.stop());
    assert_eq!(closed(&mut socket).1, 1001);
    ends.join().unwrap();
}

#[test]
fn a_bot_posts_and_reads_a_stream() {
    let running = running();
    let hello = running.post(&[], r#"{"id":1,"method":"hello"}"#);
    let session = hello.header("riskbreaker-session").unwrap().to_owned();
    assert_eq!((session.len(), hello.body.as_str()), (32, r#"{"id":1,"jsonrpc":"2.0","result":25}"#));
    let lines = running.post(&[("Riskbreaker-Session", &session), ("Accept", "application/x-ndjson")], r#"{"id":2}"#);
    assert_eq!(lines.body, "{\"jsonrpc\":\"2.0\",\"method\":\"step\"}\n{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":8}\n");
    assert_eq!(running.post(&[("Riskbreaker-Session", &session)], r#"{"method":"x"}"#).status, 202);
    assert_eq!(running.post(&[("Riskbreaker-Session", "other")], r#"{"id":2}"#).status, 404);
    // Without a valid token there is no session.
    assert_eq!(running.post(&[], r#"{"id":1}"#).header("riskbreaker-session"), None);
    assert_eq!(running.post(&[("Authorization", "Bearer wrong-token")], r#"{"id":1}"#).status, 401);
    assert_eq!(running.post(&[("Authorization", "Bearer right-token")], r#"{"id":1}"#).status, 200);
    assert_eq!(running.host.opened.load(Ordering::SeqCst), 4);
    let stream = |token: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", running.port())).unwrap();
        let head =
            format!("GET /v1/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", running.own());
        stream.write_all(head.as_bytes()).unwrap();
        let mut told = String::new();
        let mut part = [0; 1024];
        while !told.contains("result") && !told.contains("unknown_token") {
            let count = stream.read(&mut part).unwrap();
            assert!(count > 0, "{told}");
            told.push_str(std::str::from_utf8(&part[..count]).unwrap());
        }
        told
    };
    assert!(stream("right-token").starts_with("HTTP/1.1 200"));
    assert!(stream("wrong-token").starts_with("HTTP/1.1 401"));
    let qr = running.ask(
        "POST /v1/qr",
        &[("Host", &running.own()), ("Content-Type", "application/json")],
        r#"{"text":"http://x/"}"#,
    );
    assert!(qr.body.starts_with(r#"{"rows":["1111111"#), "{qr:?}");
}

#[test]
fn c3_02_random_headers_never_pass_and_never_end_the_server() {
    let running = running();
    let own = running.own();
    let mut state = 7_u64;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    for _ in 0..300 {
        let mut host = own.clone().into_bytes();
        let mut origin = format!("http://{own}").into_bytes();
        for bytes in [&mut host, &mut origin] {
            for _ in 0..=below(3) {
                let at = below(bytes.len());
                match below(3) {
                    0 => drop(bytes.remove(at)),
                    1 => bytes.insert(at, below(256) as u8),
                    _ => bytes[at] = below(256) as u8,
                }
            }
        }
        let same = |bytes: &[u8], text: &str| bytes.eq_ignore_ascii_case(text.as_bytes());
        if same(&host, &own)
            || same(&origin, &format!("http://{own}"))
            || host.contains(&b'\n')
            || origin.contains(&b'\n')
        {
            continue;
        }
        for (host, origin) in [(host.as_slice(), None), (own.as_bytes(), Some(origin.as_slice()))] {
            let mut request = b"POST /v1/rpc HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 8\r\nHost: ".to_vec();
            request.extend_from_slice(host);
            if let Some(origin) = origin {
                request.extend_from_slice(b"\r\nOrigin: ");
                request.extend_from_slice(origin);
            }
            request.extend_from_slice(b"\r\n\r\n{\"id\":1}");
            let answer = Answer::of(&running.raw(&request));
            // Blanks around a value do not belong to it.
            let trimmed = |bytes: &[u8], text: &str| same(bytes.trim_ascii(), text);
            let right = trimmed(host, &own) && origin.is_none_or(|origin| trimmed(origin, &format!("http://{own}")));
            assert!(
                right || [400, 403, 421].contains(&answer.status),
                "{:?} {answer:?}",
                String::from_utf8_lossy(&request)
            );
        }
    }
    assert_eq!(running.get("/").status, 200);
}
