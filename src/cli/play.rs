use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use clap::Parser;
use riskbreaker::ruleset::{Contrast, instead, nearest, system_message, version_changes};
use riskbreaker::store::{Campaign, StoreError};
use riskbreaker::{DiceSource, Driver, Library, Ruleset, Session, Setup, StartError, Value};
use serde_json::json;

use super::known_entries;
use super::notify::NotifyArgs;
use super::repl::{Editor, Lines, Recall, Repl, Vocabulary};
use super::roll::random_seed;
use super::row::Row;
use super::rules::{rules_note, scenario_of, scenario_text, scenario_title};
use super::screen::Screen;
use super::{call_error, campaigns, file, library, unnamed};

/// Plays a game: at the terminal, from a pipe or from a script
#[derive(clap::Args)]
pub struct Args {
    /// A scenario of the ruleset, a campaign (NAME, kept in NAME.rbsave), a script (FILE.play), or a saved game (FILE.json)
    #[arg(value_name = "WHAT")]
    pub scenario: Option<String>,

    /// The scenario that a new campaign begins with
    #[arg(value_name = "SCENARIO")]
    pub begin: Option<String>,

    /// Goes on with a campaign from this entry; later ones stay in its file
    #[arg(long, value_name = "N", value_parser = super::whole::<u32>)]
    pub entry: Option<u32>,

    #[command(flatten)]
    pub table: TableArgs,

    #[command(flatten)]
    pub notify: NotifyArgs,
}

/// The settings of the table.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub struct TableArgs {
    /// The ruleset; ID+LAYER plays it with house rules
    #[arg(long, value_name = "ID")]
    rules: Option<String>,

    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// Sets a house rule; can be repeated
    #[arg(long, value_name = "SWITCH=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Who plays a seat: human, absent, or a policy; can be repeated
    #[arg(long, value_name = "SEAT=WHO", value_parser = pair)]
    seat: Vec<(String, String)>,

    /// Plays the lines of a script file (.play) and stops at the first error. Its first line may hold options: `# riskbreaker
    /// play OPTIONS`
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// The seed of the dice; a random one if none is given
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    seed: Option<u64>,

    /// The die faces to roll, in order (7,2,10); or `typed`, to enter real dice
    #[arg(long, value_name = "FACES", value_parser = dice, allow_hyphen_values = true)]
    dice: Option<DiceSource>,

    /// Shows only what these seats may see and plays only for them; other people's seats are played by a policy
    #[arg(long = "as", value_name = "SEAT,SEAT...", value_delimiter = ',')]
    only: Vec<String>,

    /// For several people at one screen: clears it before another seat is asked
    #[arg(long, conflicts_with = "only")]
    curtain: bool,

    /// Prints the ids of the rules in questions, options and refusals, for authors; `why` and `help` always do
    #[arg(long)]
    rule_ids: bool,

    /// Writes one JSON object per line: events, questions, refusals
    #[arg(long)]
    json: bool,
}

pub fn play(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    sit_down(args, || library::open(folder.as_deref()), false)
}

/// Plays a scenario next to an editor: at each save the game is played again from its start under the new rules.
pub fn play_beside(library: &Library, rules: &str, scenario: String, table: TableArgs) -> Result<ExitCode> {
    let known = library::load(library, rules, &table.layers)?;
    if !known.scenarios().contains_key(&scenario) {
        let meant = instead(&scenario, known.scenarios().keys().map(String::as_str));
        return Err(call_error(format!("{rules} has no scenario `{scenario}`; {meant}")));
    }
    let table = TableArgs { rules: Some(rules.to_owned()), ..table };
    let args = Args { scenario: Some(scenario), begin: None, entry: None, notify: NotifyArgs::default(), table };
    sit_down(args, || Ok(library.clone()), true)
}

/// Opens a game and plays at the prompt.
fn sit_down(args: Args, open_library: impl FnOnce() -> Result<Library>, replays: bool) -> Result<ExitCode> {
    let args = if replays { args } else { args.with_script()? };
    let words = Arc::new(Mutex::new(Vocabulary::default()));
    let mut screen = Screen::stdout(args.table.json);
    let colour = screen.coloured();
    let bell = Arc::new(AtomicBool::new(false));
    let recall = match (args.table.curtain, args.table.only.is_empty()) {
        (true, _) => Recall::Nothing,
        (false, false) => Recall::ThisGame,
        (false, true) => Recall::AllGames,
    };
    let lines = Lines::open(args.table.script.as_deref(), || Editor::new(words.clone(), colour, bell.clone(), recall))?;
    let args = match lines.call() {
        Some(call) => args.or(read_call(call)?),
        None => args,
    };
    let (table, entry, notify) = (args.table, args.entry, args.notify);
    screen = screen.with_rule_ids(table.rule_ids);
    refuse_typed_dice(table.dice.as_ref(), &table.only)?;
    if let Some(entry) = entry.filter(|_| !is_masters(&table.only)) {
        return Err(call_error(format!(
            "`--entry {entry}` is for the game master, and `--as {seats}` is not the game master; leave `--as` out, or write \
             `--as {seats},gm`",
            seats = table.only.join(",")
        )));
    }
    let library = open_library()?;
    let campaign_path = args.scenario.as_deref().filter(|_| !replays).map(campaigns::file_of);
    let is_path = |path: &&Path| path.is_file() || path.extension().is_some_and(|extension| extension == "json");
    let saved = args.scenario.as_deref().map(Path::new).filter(|path| !replays && is_path(path));
    let StartingGame { mut session, setup, title, about, mut campaign, mut notes, goes_on } = match saved {
        Some(path)
            if args.begin.is_none()
                && entry.is_none()
                && path.extension().is_none_or(|ending| ending != campaigns::ENDING) =>
        {
            let title = path.display().to_string();
            StartingGame {
                session: resume(path, &library)?,
                setup: None,
                title,
                about: String::new(),
                campaign: None,
                notes: vec![],
                goes_on: true,
            }
        }
        _ if replays => open(args.scenario, args.begin, entry, &table, &library, true)?,
        _ => {
            let meant = match (&args.scenario, &args.begin) {
                (Some(name), None) => meant(name, &table, &library, lines.scripted())?,
                _ => Meant::AsWritten,
            };
            match meant {
                Meant::AsWritten => open(args.scenario, args.begin, entry, &table, &library, false)?,
                Meant::Campaign(file) => open(Some(file), None, entry, &table, &library, false)?,
                Meant::Scenario(id, name) => {
                    let table = TableArgs { rules: None, ..table.clone() };
                    open(Some(id), Some(name), entry, &table, &library, false)?
                }
                Meant::Nothing => return Ok(ExitCode::SUCCESS),
            }
        }
    };
    refuse_typed_dice(Some(session.dice()), &table.only)?;
    let by_kept_rules = !notes.is_empty();
    let mut unnamed = campaign_path.filter(|path| unnamed::is_unnamed(path));
    if campaign.is_none() && !lines.scripted() && !replays {
        let _ = session.advance()?;
        match unnamed::begin(&library, &mut session, &title) {
            Ok((kept, path)) => (campaign, unnamed) = (Some(kept), Some(path)),
            Err(reason) => notes.push(format!("This game is not kept: {reason}.")),
        }
    }
    // Written dice need no seed, except for policies that draw from it.
    let random = table.seed.is_some() || !matches!(table.dice, Some(DiceSource::Written(_)));
    // The seed would reveal hidden information.
    let told = table.only.is_empty() && !table.curtain;
    head(&mut screen, &session, &title, &library, random, told)?;
    for note in &notes {
        screen.row(&Row::prose(0).plain(note))?;
    }
    if let Some(note) = table.without_effect(&session).filter(|_| goes_on) {
        screen.row(&Row::prose(0).plain(note))?;
    }
    if !lines.scripted() {
        introduce(&mut screen, &about, &library, session.ruleset())?;
    }
    // A script does not reload rules.
    let bell = table.script.is_none().then_some(bell);
    Repl::new(session, library, screen, words)
        .started_by(setup)
        .in_campaign(campaign, unnamed)
        .replaying(replays)
        .with_lookout(bell, by_kept_rules)
        .seen_by(table.only, table.curtain)
        .telling(notify.begin())
        .run(lines)
}

impl TableArgs {
    /// The table options of a game next to an editor.
    pub fn beside(layers: Vec<String>, seed: Option<u64>, json: bool) -> TableArgs {
        TableArgs { layers, seed, json, ..TableArgs::default() }
    }

    /// The options that have no effect on a game that was begun before; `None` if they match its settings.
    fn without_effect(&self, session: &Session) -> Option<String> {
        let rules = session.ruleset();
        let wanted = self.rules.iter().chain(&self.layers).map(String::as_str).collect::<Vec<_>>().join("+");
        let other_layers = !self.layers.is_empty() && self.layers != rules.extra_layers();
        let sets =
            |(switch, value): &(String, String)| session.switch(switch).is_none_or(|now| now.to_string() != *value);
        let seats = |(seat, who): &(String, String)| {
            let Ok(driver) = who.parse::<Driver>();
            session.seats().get(seat.as_str()) != Some(&driver)
        };
        let options = [
            ("`--rules`", self.rules.is_some() && wanted != rules.name()),
            ("`--layers`", self.rules.is_none() && other_layers),
            ("`--seed`", self.seed.is_some_and(|seed| seed != session.seed())),
            ("`--dice`", self.dice.as_ref().is_some_and(|dice| dice != session.dice())),
            ("`--set`", self.set.iter().any(sets)),
            ("`--seat`", self.seat.iter().any(seats)),
        ];
        let told: Vec<&str> = options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect();
        (!told.is_empty()).then(|| {
            format!(
                "This game was begun before, so these options have no effect: {}. `help all` lists the words that change a \
                 running game: `rules`, `switches`, `seat`.",
                told.join(", ")
            )
        })
    }
}

/// Refuses typed dice at a screen that is only for seats of players. Only the game master types rolls, including hidden
/// dice and those of other seats.
fn refuse_typed_dice(dice: Option<&DiceSource>, only: &[String]) -> Result<()> {
    if dice != Some(&DiceSource::Typed) || is_masters(only) {
        return Ok(());
    }
    let seats = only.join(",");
    Err(call_error(format!(
        "only the game master can type real dice, and `--as {seats}` is not the game master; leave `--as` out, or write \
         `--as {seats},gm`"
    )))
}

/// True if the screen shows everything, or if the game master uses it.
fn is_masters(only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|seat| seat == "gm")
}

/// The options in the first line of a script, parsed like a command line.
#[derive(clap::Parser)]
#[command(name = "# riskbreaker play", no_binary_name = true)]
struct ScriptCall {
    #[command(flatten)]
    args: Args,
}

fn read_call(call: &str) -> Result<Args> {
    let parsed = ScriptCall::try_parse_from(call.split_whitespace());
    if parsed.as_ref().is_ok_and(|call| call.args.notify.is_given()) {
        return Err(call_error(
            "the script's first line has `--notify`; a command to run is taken from the command line only",
        ));
    }
    parsed.map(|call| call.args).map_err(|error| {
        let told = error.to_string();
        call_error(format!(
            "the script's first line: {}",
            told.lines().next().unwrap_or_default().trim_start_matches("error: ")
        ))
    })
}

/// The extension of a script.
const SCRIPT: &str = "play";

impl Args {
    /// Treats a scenario that ends in `.play` as a script, with or without `--script`.
    fn with_script(self) -> Result<Args> {
        let Some(path) = self.scenario.as_deref().map(Path::new) else { return Ok(self) };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ending == SCRIPT && self.table.script.is_none() {
            let table = TableArgs { script: Some(path.to_path_buf()), ..self.table };
            return Ok(Args { scenario: None, table, ..self });
        }
        let name = path.display();
        if ending == "luau" || ending == "lua" {
            return Err(call_error(format!("{name} is a Lua program; `riskbreaker run {name}` runs it")));
        }
        if path.is_file() && ending != "json" && ending != campaigns::ENDING {
            return Err(call_error(format!(
                "{name} is not a saved game; `riskbreaker play --script {name}` plays its lines"
            )));
        }
        Ok(self)
    }

    /// Completes these options by those of `other`.
    fn or(self, other: Args) -> Args {
        let (own, other_table) = (self.table, other.table);
        let both = |first: Vec<(String, String)>, then: Vec<(String, String)>| [first, then].concat();
        Args {
            scenario: self.scenario.or(other.scenario),
            begin: self.begin.or(other.begin),
            entry: self.entry.or(other.entry),
            notify: self.notify,
            table: TableArgs {
                rules: own.rules.or(other_table.rules),
                layers: if own.layers.is_empty() { other_table.layers } else { own.layers },
                // The last value counts.
                set: both(other_table.set, own.set),
                seat: both(other_table.seat, own.seat),
                script: own.script,
                seed: own.seed.or(other_table.seed),
                dice: own.dice.or(other_table.dice),
                only: if own.only.is_empty() { other_table.only } else { own.only },
                curtain: own.curtain || other_table.curtain,
                rule_ids: own.rule_ids || other_table.rule_ids,
                json: own.json,
            },
        }
    }
}

/// A game ready to be played.
struct StartingGame {
    session: Session,
    /// Its setup, if it was not loaded.
    setup: Option<Setup>,
    title: String,
    about: String,
    campaign: Option<Campaign>,
    /// Notes about its rules.
    notes: Vec<String>,
    /// True if it was begun before.
    goes_on: bool,
}

/// The meaning of a name that may be a campaign and a scenario.
enum Meant {
    /// The name is not ambiguous.
    AsWritten,
    /// The campaign in this file.
    Campaign(String),
    /// The scenario of a ruleset: the ruleset and the name.
    Scenario(String, String),
    /// The user left without a choice.
    Nothing,
}

/// Resolves a name. If it is both a campaign and a scenario, the user is asked, and a script is refused.
fn meant(name: &str, table: &TableArgs, library: &Library, scripted: bool) -> Result<Meant> {
    let file = campaigns::file_of(name);
    let is_file_name = Path::new(name).extension().is_some_and(|ending| ending == campaigns::ENDING);
    if is_file_name || !file.is_file() || library::is_ruleset(library, name) {
        return Ok(Meant::AsWritten);
    }
    let id = table.rules.clone().map_or_else(|| library::default_ruleset(library), Ok)?;
    // Broken rules have no scenarios.
    let Ok(rules) = library::load(library, &id, &table.layers) else { return Ok(Meant::AsWritten) };
    if !rules.scenarios().contains_key(name) {
        return Ok(Meant::AsWritten);
    }
    let (campaign, scenario) = (file.display().to_string(), format!("{id} {name}"));
    if scripted {
        return Err(call_error(format!(
            "`{name}` is a campaign and a scenario: `riskbreaker play {campaign}` continues the campaign, `riskbreaker play \
             {scenario}` plays the scenario"
        )));
    }
    println!("`{name}` is a campaign in this folder and a scenario of {id}.");
    loop {
        print!("Type `campaign` (Enter) or `scenario`, or `quit` » ");
        std::io::stdout().flush()?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line)? == 0 {
            println!();
            return Ok(Meant::Nothing);
        }
        match line.trim().to_lowercase().as_str() {
            "" | "campaign" | "c" => return Ok(Meant::Campaign(campaign)),
            "scenario" | "s" => return Ok(Meant::Scenario(id, name.to_owned())),
            "quit" | "exit" | "q" => return Ok(Meant::Nothing),
            other => println!("`{other}` is neither `campaign` nor `scenario`."),
        }
    }
}

/// Finds a ruleset with a scenario of that name, or of a similar one. Returns the ruleset and the scenario.
fn scenario_elsewhere(library: &Library, name: &str) -> Option<(String, String)> {
    let of = |id: String| {
        let files = library.read(&id).ok()?.files;
        let scenarios = files.keys().filter_map(|path| path.strip_prefix("scenarios/")?.strip_suffix(".toml"));
        let scenarios: Vec<&str> = scenarios.collect();
        let found = scenarios.iter().copied().find(|known| *known == name);
        let found = found.or_else(|| nearest(name, scenarios.iter().copied()))?;
        Some((found != name, id, found.to_owned()))
    };
    let mut found: Vec<(bool, String, String)> = library.ids().into_iter().filter_map(of).collect();
    // The same name is better than a similar one.
    found.sort();
    found.into_iter().next().map(|(_, id, scenario)| (id, scenario))
}

/// Starts a game, or opens the campaign of that name. A name that is neither a scenario nor a file starts a campaign,
/// unless it names only a scenario.
fn open(
    name: Option<String>,
    begin: Option<String>,
    entry: Option<u32>,
    table: &TableArgs,
    library: &Library,
    only_scenario: bool,
) -> Result<StartingGame> {
    let path = name.as_deref().filter(|_| !only_scenario).map(campaigns::file_of);
    let mut unbegun = false;
    if let (Some(path), Some(name)) = (&path, &name)
        && path.is_file()
    {
        let (campaign, read_only) = match campaigns::open(path, library) {
            Err(error @ StoreError::ReadOnly { .. }) => (campaigns::read(path, library)?, Some(error)),
            campaign => (campaign?, None),
        };
        if let Some(error) = read_only.as_ref().filter(|_| !campaign.has_scene()) {
            return Err(anyhow::anyhow!("{error}"));
        }
        if campaign.has_scene() {
            if let Some(begin) = begin {
                return Err(call_error(format!(
                    "{name} is a campaign already: `new {begin}` at its prompt begins that scenario"
                )));
            }
            let mut opening = open_campaign(path, campaign, entry, library)?;
            if read_only.is_some() {
                let text = "cannot be written here, so it is open for reading: `save OTHER.rbsave` in another folder continues there";
                opening.notes.push(format!("{} {text}.", path.display()));
            }
            return Ok(opening);
        }
        // The program ended before it stored the first scene, so the scene begins now.
        unbegun = true;
    }
    if let Some(entry) = entry {
        let found = name.map_or_else(|| "no name is given".into(), |name| format!("there is none called {name}"));
        return Err(call_error(format!("`--entry {entry}` continues a campaign; {found}")));
    }
    // The name of a ruleset plays it: `play contest`, `play contest ford`.
    let (id, name, begin) = match (&table.rules, name) {
        (None, Some(id)) if !unbegun && library::is_ruleset(library, &id) => (id, begin, None),
        (Some(id), name) => (id.clone(), name, begin),
        (None, name) => (library::default_ruleset(library)?, name, begin),
    };
    let path = name.as_deref().filter(|_| !only_scenario).map(campaigns::file_of);
    let rules = library::load(library, &id, &table.layers)?;
    let named = |name: &String| rules.scenarios().contains_key(name);
    let is_campaign = |name: &String| {
        let explicit = begin.is_some() || Path::new(name).extension().is_some_and(|ending| ending == campaigns::ENDING);
        let near = nearest(name, rules.scenarios().keys().map(String::as_str));
        explicit || unbegun || (!named(name) && near.is_none() && !name.trim().is_empty())
    };
    let file = path.filter(|_| name.as_ref().is_some_and(is_campaign));
    if let (Some(file), Some(name), false) = (&file, &name, begin.is_some() || unbegun)
        && Path::new(name).extension().is_none()
        && let Some((other, scenario)) = scenario_elsewhere(library, name)
    {
        return Err(call_error(format!(
            "{id} has no scenario `{name}`: `riskbreaker play {other} {scenario}` plays `{scenario}` of {other}; `riskbreaker play \
             {}` begins a campaign of that name",
            file.display()
        )));
    }
    let scenario = if file.is_some() { begin } else { name };
    let setup = scenario.map_or_else(Setup::default, Setup::scenario).seed(table.seed.unwrap_or_else(random_seed));
    let mut setup = with_pairs(setup.dice(table.dice.clone().unwrap_or_default()), &table.set, &table.seat);
    let (called, found) = scenario_of(&rules, &setup);
    let title = found.and_then(scenario_title).unwrap_or(called).to_owned();
    let about = found.and_then(scenario_text).unwrap_or(rules.summary()).to_owned();
    let wrong = |error: StartError| match error {
        StartError::NoScenario { .. } | StartError::Switch(_) | StartError::SwitchValue(_) | StartError::Seat(_) => {
            call_error(error.to_string())
        }
        error => error.into(),
    };
    let mut session = Session::start(&rules, setup.clone()).map_err(wrong)?;
    if !table.only.is_empty() {
        // Other seats are not asked at this screen.
        for (seat, driver) in session.seats().clone() {
            let asked = driver == Driver::Human && !table.only.iter().any(|own| **own == *seat);
            if asked && !table.seat.iter().any(|(named, _)| **named == *seat) {
                let policy = rules.policies().first().filter(|_| &*seat != "gm").cloned();
                setup = setup.seat(&seat, policy.map_or(Driver::Absent, Driver::Policy));
            }
        }
        for seat in &table.only {
            session.seat(seat).map_err(|refusal| call_error(refusal.to_string()))?;
        }
        session = Session::start(&rules, setup.clone()).map_err(wrong)?;
    }
    let mut campaign = None;
    let mut shown = title.clone();
    if let Some(path) = file {
        let mut new = campaigns::open(&path, library)?;
        session = new.begin(&rules, setup.clone(), &title)?;
        let _ = session.advance()?;
        new.keep(&mut session)?;
        campaigns::remember(&path);
        shown = format!("new campaign {} · {title}", path.display());
        campaign = Some(new);
    }
    Ok(StartingGame { session, setup: Some(setup), title: shown, about, campaign, notes: Vec::new(), goes_on: false })
}

fn open_campaign(path: &Path, mut campaign: Campaign, entry: Option<u32>, library: &Library) -> Result<StartingGame> {
    let session = match entry {
        Some(entry) => campaign.go_to(entry),
        None => campaign.session(),
    };
    let session = session.map_err(|error| not_opened(error, path, &campaign))?;
    known_entries::ask_about_missing(path, &campaign)?;
    campaigns::remember(path);
    let setup = campaign.setup()?;
    let name = if unnamed::is_unnamed(path) { "game without a name".into() } else { path.display().to_string() };
    let title = format!("{name} · {} · entry {}", campaign.scene_title()?, campaign.head());
    let notes = rules_note(&session, library).into_iter().chain(news(&session, library)).collect();
    Ok(StartingGame { session, setup, title, about: String::new(), campaign: Some(campaign), notes, goes_on: true })
}

/// The error for a campaign that does not open at an entry. If this program reaches another state there, the message
/// names the last entry that opens.
fn not_opened(error: StoreError, path: &Path, campaign: &Campaign) -> anyhow::Error {
    let StoreError::Diverged { .. } = error else { return error.into() };
    let name = path.with_extension("");
    let cure = match campaign.last_that_opens() {
        Ok(Some(entry)) => format!(
            "`riskbreaker play {} --entry {entry}` continues from the last entry that opens, and the later ones stay in the file",
            name.display()
        ),
        Ok(None) => "no entry of it opens".into(),
        Err(error) => error.to_string(),
    };
    anyhow::anyhow!("{error}. The version of the program that kept this campaign may still open it; {cure}")
}

/// The most differences from the rules on disk that are listed when a campaign is opened.
const MOST_DIFFERENCES: usize = 8;

/// The changes in the rules on disk since the version of the game: from their change log, and the differences.
fn news(session: &Session, library: &Library) -> Vec<String> {
    let rules = session.ruleset();
    let Ok(today) = Ruleset::load_with(library, rules.id(), rules.extra_layers()) else { return Vec::new() };
    let news = |(id, from, _): (String, String, String)| today.changes_of(&id, &from);
    let sections = version_changes(rules, &today).into_iter().flat_map(news);
    let told =
        sections.flat_map(|(version, lines)| lines.into_iter().map(move |line| format!("New in {version}: {line}")));
    let differences = Contrast::between(rules, &today).sentences;
    let more = differences.len().saturating_sub(MOST_DIFFERENCES);
    let differences = differences.into_iter().take(MOST_DIFFERENCES).map(|text| format!("It {text}."));
    told.chain(differences).chain((more > 0).then(|| format!("And {more} more."))).collect()
}

fn resume(path: &Path, library: &Library) -> Result<Session> {
    let name = path.display();
    let text = file::read(path).map_err(|error| call_error(format!("{name}: {}", system_message(&error))))?;
    Session::load(library, &text).map_err(|error| anyhow::anyhow!("{name}: {error}"))
}

/// Prints the first line of output: the ruleset, the scenario and the dice.
fn head(
    screen: &mut Screen,
    session: &Session,
    title: &str,
    library: &Library,
    random: bool,
    told: bool,
) -> Result<()> {
    let rules = session.ruleset().id();
    // The ruleset may be built in while its house rules are in the folder.
    let built_in = |id: &str| library.folder_of(id).is_none() && Library::embedded().contains(id);
    let place = |id: &str| if built_in(id) { Library::embedded() } else { library.clone() }.describe();
    let mut from = place(rules);
    let layers = session.ruleset().extra_layers().iter();
    if let Some(other) = layers.map(|layer| place(layer)).find(|other| *other != from) {
        from = format!("{from} and {other}");
    }
    if screen.json() {
        screen.event(
            "start",
            &json!({ "rules": rules, "scenario": title, "seed": told.then(|| session.seed()), "from": from }),
        )?;
        return Ok(());
    }
    let mut parts = vec![format!("{} from {from}", session.ruleset().name()), title.to_owned()];
    if random && told {
        parts.push(format!("seed {}", session.seed()));
    }
    parts.retain(|part| !part.is_empty());
    screen.row(&Row::at(0).faint(parts.join(" · ")))?;
    Ok(())
}

/// Prints the greeting for newcomers, and the text of the scenario.
fn introduce(screen: &mut Screen, about: &str, library: &Library, rules: &Ruleset) -> Result<()> {
    let welcome = "You play a tabletop game. The program asks; type the number or the name of an answer. `hint` advises you, `help` \
                   explains the game and its words, `new` lists other scenarios, `quit` leaves.";
    screen.row(&Row::prose(0).plain(welcome))?;
    if !about.is_empty() {
        screen.row(&Row::prose(0).plain(about))?;
    }
    let idle: Vec<String> = library::layers_over(library, rules.id())
        .into_iter()
        .filter(|layer| library.folder_of(layer).is_some() && !rules.parts().contains(layer))
        .collect();
    if let Some(first) = idle.first() {
        let text = format!(
            "Not in force: {}. `riskbreaker play --rules {}+{first}` plays with it.",
            idle.join(", "),
            rules.id()
        );
        screen.row(&Row::prose(0).faint(text))?;
    }
    screen.row(&Row::default())?;
    Ok(())
}

/// Returns a setup with the house rules and seats of a call.
pub fn with_pairs<'p>(
    setup: Setup,
    set: impl IntoIterator<Item = &'p (String, String)>,
    seats: &[(String, String)],
) -> Setup {
    let setup = set.into_iter().fold(setup, |setup, (switch, value)| setup.switch(switch, Value::text(value)));
    seats.iter().fold(setup, |setup, (seat, driver)| {
        let Ok(driver) = driver.parse::<Driver>();
        setup.seat(seat, driver)
    })
}

pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE".into()),
    }
}

fn dice(text: &str) -> Result<DiceSource, String> {
    if text == "typed" {
        return Ok(DiceSource::Typed);
    }
    let faces = text.split([',', ' ']).filter(|face| !face.is_empty()).map(|face| match face.parse::<u32>() {
        Ok(face) if face > 0 => Ok(face),
        _ => Err(format!("`{face}` is not a die face; write faces as `7,2,10`, or `typed`")),
    });
    let faces = faces.collect::<Result<Vec<u32>, String>>()?;
    if faces.is_empty() { Err("write faces as `7,2,10`, or `typed`".into()) } else { Ok(DiceSource::Written(faces)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_whole_numbers_from_one_on() {
        assert_eq!(dice("7, 2,10"), Ok(DiceSource::Written(vec![7, 2, 10])));
        assert_eq!(dice("typed"), Ok(DiceSource::Typed));
        for wrong in ["", ",", "0", "-1", "x", "1.5", "99999999999"] {
            assert!(dice(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pair_needs_a_name_and_a_value() {
        assert_eq!(pair("a=b=c"), Ok(("a".into(), "b=c".into())));
        for wrong in ["", "a", "a=", "=b"] {
            assert!(pair(wrong).is_err(), "{wrong}");
        }
    }
}
