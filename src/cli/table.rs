//! `riskbreaker table`: a campaign in the browser, for everybody at the table.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use riskbreaker::play::{Machines, in_one_line};
use riskbreaker::ruleset::updates_between;
use riskbreaker::serve::web::NetworkHost;
use riskbreaker::serve::{Connection, Host, Json, Queue, Received};
use riskbreaker::watch::{Watched, Watcher};
use riskbreaker::{Library, Ruleset};
use riskbreaker_web::{Addresses, BaseUrl, Config, Listening, Page, QrCode, Server, ServerStartError};
use serde_json::json;

use super::interrupt::CtrlCWatch;
use super::known_entries::{self, KnownEntries};
use super::notify::NotifyArgs;
use super::row::{Row, Span, harmless};
use super::screen::Screen;
use super::{call_error, campaigns, go_on, library};

/// The default port of a table.
const PORT: u16 = 7777;
/// The name of an unnamed campaign.
const UNNAMED: &str = "table";

/// Plays a campaign in the browser: a laptop, phones and a television
#[derive(clap::Args)]
pub struct Args {
    /// A campaign (NAME, kept in NAME.rbsave); it is begun if it is not there. Without it, the last one
    #[arg(value_name = "CAMPAIGN")]
    campaign: Option<String>,

    /// The scenario that a new campaign begins with
    #[arg(value_name = "SCENARIO")]
    scenario: Option<String>,

    /// The ruleset of a new campaign; ID+LAYER plays it with house rules
    #[arg(long, value_name = "ID")]
    rules: Option<String>,

    /// Who plays a seat of a new campaign: human, absent, or a policy; can be repeated
    #[arg(long, value_name = "SEAT=WHO", value_parser = super::play::pair)]
    seat: Vec<(String, String)>,

    #[command(flatten)]
    network: NetworkArgs,

    #[command(flatten)]
    notify: NotifyArgs,

    /// The port; a campaign remembers its own (a new one: 7777)
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Does not open the page of the game master in the browser
    #[arg(long)]
    no_browser: bool,

    /// Serves the files of the page from this folder instead of those in the program, for people who work on it
    #[arg(long, value_name = "FOLDER", hide = true)]
    page: Option<PathBuf>,
}

/// The options for access to a server.
#[derive(clap::Args)]
pub struct NetworkArgs {
    /// Lets phones in the same network join. The connection is not encrypted
    #[arg(long)]
    lan: bool,

    /// The address of a tunnel or a proxy before this server, such as `https://table.example.org`
    #[arg(long, value_name = "URL")]
    public_url: Option<BaseUrl>,

    /// Lets pages of another origin use the protocol, such as a virtual tabletop; can be repeated
    #[arg(long, value_name = "URL")]
    allow_origin: Vec<BaseUrl>,
}

impl NetworkArgs {
    /// The configuration of a server at an address.
    pub fn config(&self, listens: SocketAddr, page: Page) -> Config {
        Config { listens, public: self.public_url.clone(), guests: self.allow_origin.clone(), page }
    }

    /// True if every network may reach the server.
    pub fn is_open(&self) -> bool {
        self.lan
    }

    /// The default address to listen at.
    pub fn ip(&self) -> IpAddr {
        if self.lan { Ipv4Addr::UNSPECIFIED.into() } else { Ipv4Addr::LOCALHOST.into() }
    }
}

pub fn table(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let Some(mut chosen) = chosen(args, folder.as_deref(), &library)? else { return Ok(ExitCode::SUCCESS) };
    let file = campaigns::file_of(&chosen.name);
    if chosen.rules.is_none() && !file.is_file() {
        chosen.rules = Some(library::default_ruleset(&library)?);
    }
    if file.is_file() {
        known_entries::ask_about_missing(&file, &campaigns::read(&file, &library)?)?;
    }
    let name: String = campaigns::name_of(&file).chars().filter(|letter| !letter.is_control()).take(64).collect();
    let host = Host::on(Machines::CallersThread, library.clone());
    let operator = Operator { connection: host.connect(true), table: name.clone() };
    let log = Arc::new(Log::default());
    let to = log.clone();
    args.notify.follow(&host, move |line| to.line(&line));
    let opened = open(&operator, &chosen, &file, args)?;
    campaigns::remember(&file);

    let remembered = host.port_of(&name);
    let port = args.port.or(remembered).unwrap_or(PORT);
    let page = args.page.clone().map_or(Page::Embedded, Page::Folder);
    let listening = Server::listen(args.network.config(SocketAddr::new(args.network.ip(), port), page))
        .map_err(|error| not_listening(error, port, remembered == Some(port)))?;
    let port = listening.addresses().port();
    host.keep_port(&name, port).map_err(anyhow::Error::msg)?;
    host.set_address(listening.addresses().shared().to_string());
    host.open_lobby(&name).map_err(anyhow::Error::msg)?;

    let queue = Arc::new(Queue::start(std::thread::available_parallelism().map_or(2, usize::from))?);
    let to = log.clone();
    let network = NetworkHost::new(host, queue.clone(), move |line| to.line(line));
    let codes = codes(&operator)?;
    let watch = CtrlCWatch::begin();
    let mut server = serve(listening, network)?;
    operator.watch()?;
    let mut files = RuleFiles::default();
    files.follow(&library, &operator.call("view", json!({}))?["settings"]["rules"]);
    say_addresses(&mut Screen::stdout(false), &file, &opened, server.addresses(), &codes, args)?;
    if !args.no_browser && io::stdin().is_terminal() {
        open_browser(&format!("{}#gm={}", server.addresses().own(), codes.opened));
    }
    let mut lines = files.opened(&operator);
    while !watch.is_over() {
        for message in operator.connection.outbox().take() {
            if let Ok(message) = serde_json::from_str::<HostMessage>(&message) {
                files.follow(&library, &message.params.settings["rules"]);
                log.notice(&message, &operator, &queue);
            }
        }
        lines.extend(files.read_again(&operator));
        lines.iter().for_each(|line| log.line(line));
        if !lines.is_empty() {
            operator.call("notice", json!({ "text": lines.join(" ") })).ok();
            lines.clear();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    // Every command is already on disk.
    operator.call("table.close", json!({})).ok();
    server.stop();
    queue.finish();
    if let Ok(campaign) = campaigns::read(&file, &library)
        && let Some(mut known) = KnownEntries::of(&campaign)
    {
        known.note(&campaign);
    }
    log.line(&format!("Saved {}. `riskbreaker table {name}` continues.", file.display()));
    Ok(ExitCode::SUCCESS)
}

/// Starts a server for a host.
pub fn serve(listening: Listening, network: NetworkHost) -> Result<Server> {
    Server::start(listening, Arc::new(network)).context("starting the server")
}

/// The game to play.
struct Chosen {
    name: String,
    rules: Option<String>,
    scenario: Option<String>,
}

/// The campaign of the call, or the one that the user chooses.
fn chosen(args: &Args, folder: Option<&Path>, library: &Library) -> Result<Option<Chosen>> {
    let (rules, scenario) = (args.rules.clone(), args.scenario.clone());
    match &args.campaign {
        // With the name of a ruleset, a campaign of it is started.
        Some(name) if library::is_ruleset(library, name) && rules.is_none() && !campaigns::file_of(name).is_file() => {
            Ok(Some(Chosen { name: name.clone(), rules: Some(name.clone()), scenario }))
        }
        Some(name) => Ok(Some(Chosen { name: name.clone(), rules, scenario })),
        None if rules.is_some() => Ok(Some(Chosen { name: free_name(), rules, scenario })),
        None => match go_on::offer(folder)? {
            go_on::GameChoice::Campaign(name) => Ok(Some(Chosen { name, rules: None, scenario: None })),
            go_on::GameChoice::Nothing => Ok(None),
            go_on::GameChoice::New => ask_game(library),
        },
    }
}

/// A name for a campaign whose file does not exist.
fn free_name() -> String {
    let names = std::iter::once(UNNAMED.to_owned()).chain((2..).map(|number| format!("{UNNAMED}-{number}")));
    names.into_iter().find(|name| !campaigns::file_of(name).exists()).unwrap_or_default()
}

/// Asks which game to start; without a terminal, the first one.
fn ask_game(library: &Library) -> Result<Option<Chosen>> {
    let default = library::default_ruleset(library)?;
    let chosen = |rules: String| Ok(Some(Chosen { name: free_name(), rules: Some(rules), scenario: None }));
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return chosen(default);
    }
    let mut games = library::listed(library)?;
    games.retain(|id| library.manifest(id).is_ok_and(|manifest| manifest.over.is_empty()));
    games.sort_by_key(|id| *id != default);
    let mut screen = Screen::stdout(false);
    screen.row(&Row::at(0).plain("Which game?"))?;
    let rows = games.iter().enumerate().map(|(at, id)| {
        let title = library.manifest(id).map(|manifest| manifest.title).unwrap_or_default();
        vec![Span::plain(format!("{}", at + 1)), Span::strong(title), Span::faint(id)]
    });
    screen.columns(1, rows.collect())?;
    loop {
        print!("Type a number (Enter: 1), or `quit` » ");
        io::stdout().flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            println!();
            return Ok(None);
        }
        match line.trim() {
            "" => return chosen(games.first().cloned().unwrap_or(default)),
            "quit" | "exit" | "q" => return Ok(None),
            typed => {
                let number = typed.parse::<usize>().ok().and_then(|number| games.get(number.wrapping_sub(1)));
                if let Some(id) = number.or_else(|| games.iter().find(|id| *id == typed)) {
                    return chosen(id.clone());
                }
                screen.row(&Row::at(2).plain(format!("`{typed}` is neither a number nor a name in the list.")))?;
            }
        }
    }
}

/// The connection of this program to its host.
struct Operator {
    connection: Connection,
    table: String,
}

impl Operator {
    /// Sends a request, runs it, and returns the result.
    fn call(&self, method: &str, params: Json) -> Result<Json> {
        let mut params = params;
        params["table"] = json!(self.table);
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params }).to_string();
        let answer = self.connection.call(&message).into_iter().next_back().unwrap_or_default();
        let mut answer: Json = serde_json::from_str(&answer)?;
        match answer["error"]["message"].as_str() {
            Some(message) => Err(anyhow::anyhow!("{message}")),
            None => Ok(answer["result"].take()),
        }
    }

    /// Opens the viewers for the log: one for who connects and leaves, one for public events.
    fn watch(&self) -> Result<()> {
        self.call("hello", json!({ "role": "game_master", "unseen": true }))?;
        self.call("hello", json!({ "role": "watcher", "unseen": true }))?;
        Ok(())
    }
}

/// Loads the campaign, or starts it. Returns the name of its rules.
fn open(operator: &Operator, chosen: &Chosen, file: &Path, args: &Args) -> Result<String> {
    let path = file.display().to_string();
    let opened = if file.is_file() {
        if let Some(scenario) = &chosen.scenario {
            return Err(call_error(format!(
                "{path} is a campaign already, and `{scenario}` would begin one; leave it out, or name another campaign"
            )));
        }
        operator.call("table.load", json!({ "path": path }))?
    } else {
        let mut params = json!({ "campaign": path, "ruleset": chosen.rules });
        if let Some(scenario) = &chosen.scenario {
            params["scenario"] = json!(scenario);
        }
        params["seats"] =
            args.seat.iter().map(|(seat, who)| (seat.clone(), json!(who))).collect::<serde_json::Map<_, _>>().into();
        operator.call("table.new", params)?
    };
    Ok(opened["ruleset"].as_str().unwrap_or_default().to_owned())
}

/// The error for a port that cannot be used, with advice.
fn not_listening(error: ServerStartError, port: u16, remembered: bool) -> anyhow::Error {
    match error {
        ServerStartError::Taken(_) if remembered => call_error(format!(
            "port {port} is in use, and the phones of this table know it by that port; end the other program, or type `--port {}`: \
             everybody joins again then",
            port.checked_add(1).unwrap_or(PORT)
        )),
        ServerStartError::Taken(_) => call_error(format!(
            "port {port} is in use by another program; type `--port {}`",
            port.checked_add(1).unwrap_or(PORT)
        )),
        error => anyhow::anyhow!("port {port}: {error}"),
    }
}

/// The codes that are printed once.
struct Codes {
    /// The game master's code to type or open again, valid while this program runs.
    printed: String,
    /// The game master's code for the opened browser, valid once.
    opened: String,
    /// The join code, if the waiting room is open.
    join: Option<String>,
    watch: bool,
}

fn codes(operator: &Operator) -> Result<Codes> {
    let people = operator.call("people", json!({}))?;
    let master = people["people"].as_array().into_iter().flatten().find(|person| person["role"] == "game_master");
    let whose = match master {
        Some(master) => json!({ "person": master["person"] }),
        None => json!({ "role": "game_master", "name": "Game master" }),
    };
    let invite = |once: bool| {
        let mut params = whose.clone();
        (params["kind"], params["once"], params["kept"]) = (json!("code"), json!(once), json!(false));
        Ok::<_, anyhow::Error>(operator.call("invite", params)?["code"].as_str().unwrap_or_default().to_owned())
    };
    let lobby = &people["lobby"];
    Ok(Codes {
        printed: invite(false)?,
        opened: invite(true)?,
        join: lobby["code"].as_str().map(str::to_owned),
        watch: lobby["watch"] == true,
    })
}

fn say_addresses(
    screen: &mut Screen,
    file: &Path,
    rules: &str,
    addresses: &Addresses,
    codes: &Codes,
    args: &Args,
) -> Result<()> {
    let shared = addresses.shared();
    screen.row(&Row::at(0).strong(file.display().to_string()).plain(" · ").plain(rules))?;
    let mut lines = vec![vec![
        Span::plain("Game master"),
        Span::strong(format!("{}#gm={}", addresses.own(), codes.printed)),
        Span::faint("this computer only"),
    ]];
    if let Some(join) = &codes.join {
        lines.push(vec![
            Span::plain("Players"),
            Span::strong(format!("{shared}#j={join}")),
            Span::faint("you let them in at your page"),
        ]);
    }
    if codes.watch {
        lines.push(vec![
            Span::plain("Television"),
            Span::strong(format!("{shared}tv")),
            Span::faint("shows no secrets"),
        ]);
    }
    screen.columns(2, lines)?;
    if let Some(join) = codes.join.as_ref().filter(|_| io::stdout().is_terminal()) {
        let code = QrCode::of(&format!("{shared}#j={join}"))?;
        let mut text = String::new();
        for line in code.lines() {
            if screen.coloured() {
                let _ = writeln!(text, "  \x1b[97;40m{line}\x1b[0m");
            } else {
                let _ = writeln!(text, "  {line}");
            }
        }
        print!("{text}");
    }
    if args.network.lan {
        let text = "The connection is not encrypted: whoever is in this network can read what is sent.";
        screen.row(&Row::prose(0).plain(text))?;
        let further: Vec<String> = addresses.further().map(ToString::to_string).collect();
        if !further.is_empty() {
            screen.row(&Row::prose(0).faint(format!("If that address does not open, try {}.", further.join(", "))))?;
        }
    } else if args.network.public_url.is_none() {
        screen.row(
            &Row::prose(0).faint("Only this computer reaches it; `--lan` lets phones in the same network join."),
        )?;
    }
    screen.row(&Row::prose(0).faint("Everything is saved as it happens. Ctrl-C ends."))?;
    Ok(())
}

/// Opens an address in the browser, if there is one.
fn open_browser(address: &str) {
    let (program, args): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start", ""])
    } else if std::env::var_os("DISPLAY").is_some() || std::env::var_os("WAYLAND_DISPLAY").is_some() {
        ("xdg-open", &[])
    } else {
        return;
    };
    let silent = || Stdio::null();
    let started =
        Command::new(program).args(args).arg(address).stdin(silent()).stdout(silent()).stderr(silent()).spawn();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}

/// Watches the files of the current rules. When they are edited on disk, the host reloads them. Another version that
/// was installed, or that was there when the campaign was opened, has to be accepted by the game master.
#[derive(Default)]
struct RuleFiles {
    id: String,
    layers: Vec<String>,
    hash: Json,
    /// The version of the current rules.
    version: String,
    /// The watcher; `None` if all rules are built in.
    watcher: Option<Watcher>,
    /// The last known rules on disk.
    seen: Option<Arc<Ruleset>>,
    /// True if the rules on disk differ from the current ones and wait for the game master; `None` before the first
    /// check.
    others: Option<bool>,
}

impl RuleFiles {
    /// Watches the files of `rules` of the settings in a view or step, if it has any.
    fn follow(&mut self, library: &Library, rules: &Json) {
        let Some(id) = rules["id"].as_str() else { return };
        let layers: Vec<String> = serde_json::from_value(rules["layers"].clone()).unwrap_or_default();
        if id != self.id || layers != self.layers {
            self.seen = Ruleset::load_with(library, id, &layers).ok();
            self.watcher = match &self.seen {
                Some(seen) => Watcher::start(library, seen),
                None => Watcher::of_files(library, id, &layers),
            };
            self.others = None;
        }
        (self.id, self.layers, self.hash) = (id.to_owned(), layers, rules["hash"].clone());
        self.version = rules["version"].as_str().unwrap_or_default().to_owned();
        let is_other = self.seen.as_ref().is_some_and(|seen| json!(seen.hash()) != self.hash);
        // A campaign that is opened keeps its rules.
        self.others = Some(is_other && self.others != Some(false));
    }

    /// Handles changed files. Returns the lines to print.
    fn read_again(&mut self, operator: &Operator) -> Vec<String> {
        let Some(seen) = self.watcher.as_ref().and_then(Watcher::poll) else { return Vec::new() };
        let Watched::Loaded { rules, .. } = &seen else { return seen.lines() };
        let former = self.seen.replace(rules.clone());
        if json!(rules.hash()) == self.hash {
            self.others = Some(false);
            return Vec::new();
        }
        let updates = former.map_or_else(|| vec![self.step_to(rules)], |former| updates_between(&former, rules));
        if !updates.is_empty() {
            self.others = Some(true);
            return self.offer(&updates, operator);
        }
        if self.others == Some(true) { Vec::new() } else { self.put_in_force(rules, seen.lines(), operator) }
    }

    /// The lines to print when a table is opened whose campaign has other rules than the folder.
    fn opened(&self, operator: &Operator) -> Vec<String> {
        match &self.seen {
            Some(seen) if self.others == Some(true) => self.offer(&[self.step_to(seen)], operator),
            _ => Vec::new(),
        }
    }

    /// The versions of the current rules and of others with the same name.
    fn step_to(&self, rules: &Ruleset) -> String {
        match self.version == rules.version() {
            true => format!("{} {}, edited since", rules.name(), self.version),
            false => format!("{} {} -> {}", rules.name(), self.version, rules.version()),
        }
    }

    /// The lines about other rules and their changes. The game master switches on the page, or at the prompt.
    fn offer(&self, updates: &[String], operator: &Operator) -> Vec<String> {
        let mut lines = vec![format!(
            "Other rules are installed: {}. This game stays as it is until a game master switches it.",
            updates.join(", ")
        )];
        match operator.call("rules.preview", json!({ "ruleset": self.id, "layers": self.layers })) {
            Ok(preview) => {
                let changes = preview["changes"].as_array().into_iter().flatten();
                let changes: Vec<&str> = changes.filter_map(Json::as_str).collect();
                lines.extend(changes.iter().take(MOST_CHANGES).map(|change| format!("{change}.")));
                if let more @ 1.. = changes.len().saturating_sub(MOST_CHANGES) {
                    lines.push(format!("And {more} more."));
                }
            }
            Err(error) => lines.push(error.to_string()),
        }
        lines
    }

    fn put_in_force(&mut self, rules: &Ruleset, mut lines: Vec<String>, operator: &Operator) -> Vec<String> {
        match operator.call("rules.change", json!({ "ruleset": self.id, "layers": self.layers })) {
            Ok(change) => {
                self.hash = json!(rules.hash());
                lines.extend(change["waits_for"].as_str().map(|entry| format!("They count from the next {entry}.")));
            }
            Err(error) => lines.push(error.to_string()),
        }
        lines
    }
}

/// The most differences from installed rules that are listed.
const MOST_CHANGES: usize = 8;

/// A message of the host. It has only the parts that the terminal shows, since every step is read here.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct HostMessage {
    id: Json,
    method: Json,
    params: ShownParams,
    result: WaitingPeople,
}

/// The parameters of a notice.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct ShownParams {
    viewer: Json,
    settings: Json,
    presence: Json,
    state: Json,
    events: Vec<PublicEvent>,
}

/// The result of the request for people.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct WaitingPeople {
    waiting: Json,
}

/// An event of a step: those of its fields that a line of the log needs.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct PublicEvent {
    event: Json,
    text: Json,
    label: Json,
    dice: Json,
    faces: Json,
    need: Json,
    result: Json,
    total: Json,
    about: Json,
    seat: Json,
    topic: Json,
}

/// The log in the terminal.
#[derive(Default)]
struct Log {
    /// The people who were connected last, and those who waited.
    known: Mutex<(Vec<String>, Vec<String>)>,
}

impl Log {
    fn line(&self, text: &str) {
        let _lock = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        // If the output is closed, the table continues.
        let _ = writeln!(out, "{}", harmless(&in_one_line(text)));
        let _ = out.flush();
    }

    /// Logs a notice to the operator's viewers: the first one for who connects and leaves, the second for public
    /// events.
    fn notice(&self, message: &HostMessage, operator: &Operator, queue: &Queue) {
        let params = &message.params;
        match (message.method.as_str(), params.viewer.as_u64()) {
            (Some("presence"), Some(1)) => self.presence(&params.presence),
            (Some("people"), Some(1)) => {
                // A job of the table waits for the jobs before it.
                let ask = json!({ "jsonrpc": "2.0", "id": "people", "method": "people", "params": { "viewer": 1 } });
                if let Received::Job(job) = operator.connection.receive(&ask.to_string()) {
                    queue.push(job);
                }
            }
            (Some("step"), Some(1)) => {
                if let Some(fault) = params.state["fault"].as_object() {
                    let text = fault.get("message").and_then(Json::as_str).unwrap_or("a script failed");
                    self.line(&format!("Fault: {text}. Your page shows how to continue."));
                }
            }
            (Some("step"), Some(2)) => {
                for event in &params.events {
                    if let Some(text) = told(event) {
                        self.line(&text);
                    }
                }
                if let Some(outcome) = params.state["outcome"].as_str() {
                    self.line(&format!("The game is over: {outcome}"));
                }
            }
            (Some("resync"), Some(viewer)) => {
                let ask = json!({ "jsonrpc": "2.0", "id": "view", "method": "view", "params": { "viewer": viewer } });
                if let Received::Job(job) = operator.connection.receive(&ask.to_string()) {
                    queue.push(job);
                }
            }
            (None, _) if message.id == "people" => self.waiting(&message.result.waiting),
            _ => {}
        }
    }

    fn presence(&self, presence: &Json) {
        let mut now = Vec::new();
        for role in presence.as_array().into_iter().flatten() {
            let place = role["seat"].as_str().or(role["role"].as_str()).unwrap_or_default().replace('_', " ");
            for name in role["people"].as_array().into_iter().flatten().filter_map(Json::as_str) {
                now.push(format!("{name} ({place})"));
            }
        }
        let before = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut known.0, now.clone())
        };
        now.iter().filter(|name| !before.contains(name)).for_each(|name| self.line(&format!("{name} is here.")));
        before.iter().filter(|name| !now.contains(name)).for_each(|name| self.line(&format!("{name} is away.")));
    }

    fn waiting(&self, waiting: &Json) {
        let now: Vec<String> = waiting
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| format!("{} #{}", one["name"].as_str().unwrap_or_default(), one["request"]))
            .collect();
        let before = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut known.1, now.clone())
        };
        for name in now.iter().filter(|name| !before.contains(name)) {
            let name = name.rsplit_once(" #").map_or(name.as_str(), |(name, _)| name);
            self.line(&format!("{name} wants to join: let them in at your page."));
        }
    }
}

/// A line for a public event; `None` for events that only change a number.
fn told(event: &PublicEvent) -> Option<String> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    match event.event.as_str() {
        Some("said") => Some(text(&event.text)),
        Some("rolled") => {
            let faces: Vec<String> = event.faces.as_array().into_iter().flatten().map(ToString::to_string).collect();
            let parts = [text(&event.need), text(&event.result)];
            let result = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            let result = if result.is_empty() { String::new() } else { format!(" ({})", result.join("; ")) };
            let (label, dice) = (text(&event.label), text(&event.dice));
            Some(format!("{label}: {dice} [{}] = {}{result}", faces.join(", "), event.total))
        }
        Some("answered") => {
            let who = event.about.as_str().or(event.seat.as_str()).unwrap_or_default();
            Some(format!("{who}: {} {}", text(&event.topic), text(&event.text)))
        }
        _ => None,
    }
}
