use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use crate::address::{Addresses, BaseUrl};
use crate::guard::{ReachedAddress, guard};
use crate::host::WebHost;
use crate::page::Page;
use crate::sessions::Sessions;
use crate::shared::{Inner, ServerShared, ended};
use crate::{rpc, socket};

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen at. `0.0.0.0` means every network of this computer.
    pub listens: SocketAddr,
    /// The address of a tunnel or proxy in front of it.
    pub public: Option<BaseUrl>,
    /// Other origins whose pages may use the protocol.
    pub guests: Vec<BaseUrl>,
    /// The page.
    pub page: Page,
}

/// The reason for which a server cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerStartError {
    /// Another program listens on this port.
    Taken(SocketAddr),
    /// Any other error of the system.
    Io(io::Error),
}

impl fmt::Display for ServerStartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerStartError::Taken(address) => write!(f, "another program listens at port {}", address.port()),
            ServerStartError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ServerStartError {}

/// A running server. Dropping it stops it.
pub struct Server {
    addresses: Addresses,
    ending: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The most connections at the same time; further ones wait.
const MOST_CONNECTIONS: usize = 1_024;
/// The time for clients to take the last messages when the server stops.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// The time limit for the headers of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// A bound port whose requests are not answered yet.
pub struct Listening {
    listener: TcpListener,
    config: Config,
    addresses: Addresses,
}

impl Listening {
    /// The addresses of the server.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }
}

impl Server {
    /// Binds the port.
    ///
    /// # Errors
    ///
    /// [`ServerStartError::Taken`] if another program uses it.
    pub fn listen(config: Config) -> Result<Listening, ServerStartError> {
        let listener = TcpListener::bind(config.listens).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => ServerStartError::Taken(config.listens),
            _ => ServerStartError::Io(error),
        })?;
        let address = listener.local_addr().map_err(ServerStartError::Io)?;
        listener.set_nonblocking(true).map_err(ServerStartError::Io)?;
        let addresses = Addresses::new(address, config.public.clone(), &config.guests);
        Ok(Listening { listener, config, addresses })
    }

    /// Serves a host on a new thread.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn start(listening: Listening, host: Arc<dyn WebHost>) -> Result<Server, ServerStartError> {
        let Listening { listener, config, addresses } = listening;
        let (ending, ends) = watch::channel(false);
        let (started, has_started) = mpsc::channel();
        let known = addresses.clone();
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(16).build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error))),
            };
            let inner = Inner {
                host,
                addresses: known,
                sessions: Sessions::default(),
                page: config.page,
                refused: AtomicU32::new(0),
            };
            let shared = ServerShared { inner: Arc::new(inner), ending: ends, tasks: Arc::new(()) };
            runtime.block_on(async {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => {
                        let _ = started.send(Ok(()));
                        accept(listener, shared).await;
                    }
                    Err(error) => drop(started.send(Err(error))),
                }
            });
            runtime.shutdown_timeout(LAST_WORDS);
        };
        let thread = std::thread::Builder::new().name("web".into()).spawn(serve).map_err(ServerStartError::Io)?;
        let server = Server { addresses, ending, thread: Some(thread) };
        match has_started.recv() {
            Ok(Ok(())) => Ok(server),
            Ok(Err(error)) => Err(ServerStartError::Io(error)),
            Err(_) => Err(ServerStartError::Io(io::Error::other("the thread of the server has ended"))),
        }
    }

    /// The addresses of the server.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Stops the server: clients get the waiting messages and a close frame.
    pub fn stop(&mut self) {
        let _ = self.ending.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn router(shared: &ServerShared) -> Router {
    let page = {
        let shared = shared.clone();
        get(move |request: axum::extract::Request| async move { shared.page.answer(request.uri().path()) })
    };
    let socket = if shared.page == Page::None { any(socket::upgrade) } else { get(socket::upgrade) };
    Router::new()
        .route("/v1/ws", socket)
        .route("/v1/rpc", post(rpc::rpc))
        .route("/v1/stream", get(rpc::stream))
        .route("/v1/qr", post(rpc::qr))
        .fallback_service(page)
        .with_state(shared.clone())
        .layer(from_fn_with_state(shared.clone(), guard))
}

async fn accept(listener: tokio::net::TcpListener, shared: ServerShared) {
    let app = router(&shared);
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut ending = shared.ending.clone();
    let mut sweep = tokio::time::interval(Duration::from_secs(5));
    loop {
        let accepted = tokio::select! {
            () = ended(&mut ending) => break,
            _ = sweep.tick() => {
                shared.sessions.sweep();
                continue;
            }
            accepted = async {
                let place = room.clone().acquire_owned().await;
                (listener.accept().await, place)
            } => accepted,
        };
        let (Ok((stream, _)), place) = accepted else {
            // No more files can be opened until open ones are closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(reached) = stream.local_addr() else { continue };
        let _ = stream.set_nodelay(true);
        let (app, mut ending, task) = (app.clone(), shared.ending.clone(), shared.tasks.clone());
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(ReachedAddress(reached));
                let answer = app.clone().oneshot(request.map(Body::new));
                async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(16 * 1024);
            let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
            tokio::pin!(connection);
            tokio::select! {
                _ = connection.as_mut() => {}
                () = ended(&mut ending) => {
                    connection.as_mut().graceful_shutdown();
                    let _ = tokio::time::timeout(LAST_WORDS, connection).await;
                }
            }
            drop((place, task));
        });
    }
    shared.sessions.end_all();
    let deadline = tokio::time::Instant::now() + LAST_WORDS;
    // The accepting task and the router hold some themselves.
    drop(app);
    while Arc::strong_count(&shared.tasks) > 1 && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
