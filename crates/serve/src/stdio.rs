//! Serves one client over standard input and output, or any other pair of streams.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use super::connection::{Connection, Received};
use super::error::Failure;
use super::host::Host;
use super::messages::MOST_BYTES;
use super::outbox::Outbox;
use super::queue::Queue;

/// Serves one client, as operator, over a pair of streams: one message a line. Ends at the end of `input`, or at a
/// shutdown request; all earlier requests are answered first.
///
/// # Errors
///
/// `input` cannot be read, `output` cannot be written, or no thread can be started.
pub fn serve(host: &Host, input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    serve_on(host, &Queue::start(threads)?, input, output)
}

/// Like [`serve`], on a queue that others use as well. It finishes the queue at its end.
///
/// # Errors
///
/// `input` cannot be read, or `output` cannot be written.
pub fn serve_on(host: &Host, queue: &Queue, mut input: impl BufRead, mut output: impl Write + Send) -> io::Result<()> {
    let connection = host.connect(true);
    let outbox = connection.outbox().clone();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || write_all(&outbox, &mut output));
        let read = read_all(&connection, queue, &mut input);
        queue.finish();
        connection.close();
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer has failed")));
        read.and(written)
    })
}

fn read_all(connection: &Connection, queue: &Queue, input: &mut impl BufRead) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        connection.outbox().wait_for_room();
        line.clear();
        match read_line(input, &mut line)? {
            None => return Ok(()),
            Some(bytes) if bytes > MOST_BYTES => {
                connection.refuse(&String::from_utf8_lossy(&line), Failure::TooLarge { bytes, limit: MOST_BYTES });
                continue;
            }
            Some(_) => {}
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            let failure = Failure::NotARequest { message: "the line is not UTF-8".into() };
            connection.refuse(&String::from_utf8_lossy(&line), failure);
            continue;
        };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        match connection.receive(text) {
            Received::Done => {}
            Received::Job(job) => queue.push(job),
            Received::Shutdown => return Ok(()),
        }
    }
}

/// Reads a line without its end. Of a line that is too long, only the beginning is kept. Returns its full length;
/// `None` at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let mut length = 0;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok((length > 0).then_some(length));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        length += part.len();
        if line.len() <= MOST_BYTES {
            line.extend_from_slice(part);
        }
        let used = end.map_or(part.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}

/// Writes the messages of the host, each as one line.
fn write_all(outbox: &Arc<Outbox>, output: &mut impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    while let Some(messages) = outbox.wait() {
        bytes.clear();
        for message in messages {
            bytes.extend_from_slice(message.as_bytes());
            bytes.push(b'\n');
        }
        if let Err(error) = output.write_all(&bytes).and_then(|()| output.flush()) {
            outbox.close();
            return Err(error);
        }
    }
    Ok(())
}
