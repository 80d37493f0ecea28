//! A WebSocket connection: each text frame is one message, in both directions.

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, sleep_until, timeout};

use crate::connected::Connected;
use crate::shared::{ServerShared, ended};

/// The time limit for the first message.
const FIRST_WITHIN: Duration = Duration::from_secs(5);
/// The time limit for sending a valid token or code.
const WELCOME_WITHIN: Duration = Duration::from_secs(60);
/// The most bytes of the first message.
const FIRST_BYTES: usize = 1024;
/// The most bytes of a message that is read. The host answers a smaller oversized message with an error.
const MOST_BYTES: usize = 256 * 1024;
/// The time limit for writing a message.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);
/// The time without a message after which a ping is sent, and after which the client counts as gone.
const ASK_AFTER: Duration = Duration::from_secs(20);
const GONE_AFTER: Duration = Duration::from_secs(60);
/// The size of the permanent buffer of a socket.
const BUFFER: usize = 4 * 1024;

pub(crate) async fn upgrade(State(shared): State<ServerShared>, upgrade: WebSocketUpgrade) -> Response {
    let upgrade =
        upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_message_size(MOST_BYTES).max_frame_size(MOST_BYTES);
    let tasks = shared.tasks.clone();
    upgrade.on_upgrade(move |socket| async move {
        let _here = tasks;
        serve(shared, socket).await;
    })
}

/// The end of a socket: the close code and the reason.
struct SocketEnd(u16, &'static str);

async fn serve(shared: ServerShared, socket: WebSocket) {
    let (mut sink, mut stream) = socket.split();
    // No connection is opened for a client that sends nothing.
    let mut ending = shared.ending.clone();
    let first = tokio::select! {
        first = timeout(FIRST_WITHIN, first_message(&mut stream)) => first.unwrap_or(Err(SocketEnd(close_code::POLICY, "no first message"))),
        () = ended(&mut ending) => Err(SocketEnd(close_code::AWAY, "the server ends")),
    };
    let end = match first {
        Ok(first) => {
            let client = Connected::open(&*shared.host);
            client.receive(&first);
            talk(&client, &mut sink, &mut stream, ending).await
        }
        Err(end) => end,
    };
    let frame = CloseFrame { code: end.0, reason: end.1.into() };
    let _ = timeout(WRITTEN_WITHIN, async {
        let _ = sink.send(Message::Close(Some(frame))).await;
        let _ = sink.close().await;
    })
    .await;
}

type Sink = futures_util::stream::SplitSink<WebSocket, Message>;
type SocketStream = futures_util::stream::SplitStream<WebSocket>;

async fn first_message(stream: &mut SocketStream) -> Result<Box<str>, SocketEnd> {
    loop {
        match stream.next().await {
            Some(Ok(Message::Text(text))) if text.len() <= FIRST_BYTES => return Ok(text.as_str().into()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Text(_))) => return Err(SocketEnd(close_code::SIZE, "the first message is too long")),
            Some(Ok(Message::Binary(_))) => return Err(SocketEnd(close_code::UNSUPPORTED, "messages are text")),
            Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return Err(SocketEnd(close_code::NORMAL, "")),
        }
    }
}

/// Exchanges messages between the host and the client until one of them ends.
async fn talk(
    client: &Connected,
    sink: &mut Sink,
    stream: &mut SocketStream,
    mut ending: tokio::sync::watch::Receiver<bool>,
) -> SocketEnd {
    let began = Instant::now();
    let (mut heard, mut asked) = (began, began);
    loop {
        let closed = client.is_closed();
        let messages = client.take();
        if !messages.is_empty() {
            let written = timeout(WRITTEN_WITHIN, async {
                for message in messages {
                    sink.feed(Message::Text(message.into())).await?;
                }
                sink.flush().await
            });
            match written.await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return SocketEnd(close_code::NORMAL, ""),
                // When it comes back, it is told that it has missed something.
                Err(_) => return SocketEnd(close_code::AGAIN, "resync: the connection reads too slowly"),
            }
        }
        if closed {
            return SocketEnd(close_code::POLICY, "the host has ended the connection");
        }
        if !client.is_welcome() && began.elapsed() > WELCOME_WITHIN {
            return SocketEnd(close_code::POLICY, "no token was shown");
        }
        let now = Instant::now();
        if now.duration_since(heard) > GONE_AFTER {
            return SocketEnd(close_code::AWAY, "nothing was heard");
        }
        if now.duration_since(heard.max(asked)) > ASK_AFTER {
            asked = now;
            if timeout(WRITTEN_WITHIN, sink.send(Message::Ping(axum::body::Bytes::new()))).await.is_err() {
                return SocketEnd(close_code::AGAIN, "resync: the connection reads too slowly");
            }
        }
        let wake = now + client.due().unwrap_or(ASK_AFTER).min(ASK_AFTER);
        tokio::select! {
            biased;
            () = ended(&mut ending) => {
                for message in client.take() {
                    let _ = timeout(Duration::from_millis(500), sink.send(Message::Text(message.into()))).await;
                }
                return SocketEnd(close_code::AWAY, "the server ends");
            }
            () = client.wake.notified() => {}
            () = sleep_until(wake) => {}
            message = stream.next(), if !client.is_full() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => client.receive(text.as_str()),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Binary(_))) => return SocketEnd(close_code::UNSUPPORTED, "messages are text"),
                    Some(Ok(Message::Close(_))) | Some(Err(_)) | None => return SocketEnd(close_code::NORMAL, ""),
                }
            }
        }
    }
}
