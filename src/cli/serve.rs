use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use riskbreaker::play::Machines;
use riskbreaker::ruleset::system_message;
use riskbreaker::serve::web::NetworkHost;
use riskbreaker::serve::{Host, Queue, schema, stdio};
use riskbreaker_web::{Page, Server, ServerStartError};
use serde_json::{Value as Json, json};

use super::interrupt::CtrlCWatch;
use super::notify::NotifyArgs;
use super::table::NetworkArgs;
use super::{call_error, campaigns, library, table};

/// Serves games to programs in any language
#[derive(clap::Args)]
pub struct Args {
    /// Serves over standard input and output: JSON-RPC 2.0, one message per line
    #[arg(long)]
    stdio: bool,

    /// Serves over WebSocket and HTTP at this address (`127.0.0.1:7777`, or only a port), to everybody who shows a token
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    websocket: Option<SocketAddr>,

    /// Campaigns to open, each as a table of its name
    #[arg(value_name = "CAMPAIGN", requires = "websocket")]
    campaigns: Vec<String>,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    notify: NotifyArgs,

    /// The only folder in which clients may read and write files; paths in requests are relative to it
    #[arg(long, value_name = "FOLDER", conflicts_with = "schema")]
    saves: Option<PathBuf>,

    /// Prints the JSON schema of the messages
    #[arg(long, conflicts_with_all = ["stdio", "websocket"])]
    schema: bool,
}

/// Parses an address with a port. A port alone is on this computer.
fn address(text: &str) -> Result<SocketAddr, String> {
    let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let wrong = |_| "write an address with a port, such as `127.0.0.1:7777`, or only a port".to_owned();
    text.parse::<u16>().map(local).or_else(|_| text.parse::<SocketAddr>().map_err(wrong))
}

pub fn serve(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if args.schema {
        let text = serde_json::to_string_pretty(&schema())?;
        writeln!(io::stdout(), "{text}")?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.stdio && args.websocket.is_none() {
        return Err(call_error(
            "Give `--stdio` to serve over standard input and output, `--websocket ADDRESS` to serve over the network, or `--schema` \
             to print the messages.",
        ));
    }
    let library = library::open(folder.as_deref())?;
    let host = match &args.saves {
        None => Host::on(Machines::CallersThread, library),
        Some(saves) => Host::with_saves(Machines::CallersThread, library, saves)
            .map_err(|error| call_error(format!("{}: {}", saves.display(), system_message(&error))))?,
    };
    args.notify.follow(&host, |line| eprintln!("{line}"));
    let queue = Arc::new(Queue::start(std::thread::available_parallelism().map_or(2, usize::from))?);
    let watch = (!args.stdio).then(CtrlCWatch::begin);
    let mut server = match args.websocket {
        Some(address) => Some(listen(args, address, &host, &queue)?),
        None => None,
    };
    match watch {
        None => stdio::serve_on(&host, &queue, io::stdin().lock(), io::stdout())
            .context("serving over standard input and output")?,
        Some(watch) => {
            while !watch.is_over() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
    if let Some(server) = &mut server {
        server.stop();
    }
    queue.finish();
    Ok(ExitCode::SUCCESS)
}

/// Opens the campaigns of the call and starts the server.
fn listen(args: &Args, address: SocketAddr, host: &Host, queue: &Arc<Queue>) -> Result<Server> {
    let operator = host.connect(true);
    for name in &args.campaigns {
        let file = campaigns::file_of(name);
        let (table, path) = (campaigns::name_of(&file), file.display().to_string());
        let params = json!({ "table": table, "path": path });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "table.load", "params": params });
        let answer = operator.call(&message.to_string()).pop().unwrap_or_default();
        if let Some(message) = serde_json::from_str::<Json>(&answer)?["error"]["message"].as_str() {
            return Err(anyhow::anyhow!("{message}"));
        }
    }
    let address = if args.network.is_open() { SocketAddr::new(args.network.ip(), address.port()) } else { address };
    let listening = Server::listen(args.network.config(address, Page::None)).map_err(|error| match error {
        ServerStartError::Taken(_) => {
            call_error(format!("port {} is in use by another program; give another one", address.port()))
        }
        error => anyhow::anyhow!("{address}: {error}"),
    })?;
    host.set_address(listening.addresses().shared().to_string());
    // Standard output carries only messages.
    eprintln!("{}v1/ws", listening.addresses().shared().to_string().replacen("http", "ws", 1));
    if !address.ip().is_loopback() {
        eprintln!("The connection is not encrypted: whoever is in this network can read what is sent.");
    }
    table::serve(listening, NetworkHost::new(host.clone(), queue.clone(), |line| eprintln!("{line}")))
}
