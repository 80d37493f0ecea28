use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Subcommand;
use riskbreaker::names::{fold, spelling, typed};
use riskbreaker::play::is_saved_game;
use riskbreaker::ruleset::{Contrast, Fact, instead, instead_or, system_message, version_changes};
use riskbreaker::state::readable_name;
use riskbreaker::{Card, Happening, Library, Refusal, Ruleset, Scenario, Session, Setup, Step, Value};
use serde_json::json;

use super::figures::counted;
use super::row::{Row, Span};
use super::screen::Screen;
use super::{call_error, file, library, migration, report};

/// Looks into rulesets
#[derive(Subcommand)]
pub enum Args {
    /// Lists the rulesets that are found
    List {
        /// Writes JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows what a ruleset has: cards, house rules, policies, scenarios
    Show {
        /// The ruleset
        id: String,
        #[command(flatten)]
        layered: Layered,
    },
    /// Shows a card as it is after all layers, with the file that each part comes from
    Explain {
        /// The card, by id or title
        card: String,
        /// The ruleset
        #[arg(long = "rules", value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        layered: Layered,
    },
    /// Moves a saved game to another ruleset, or shows what that would change
    Switch {
        /// The saved game
        save: PathBuf,
        /// The ruleset to go over to
        id: String,
        /// Only shows what would change
        #[arg(long)]
        dry_run: bool,
        /// Where the moved game is written; otherwise over the old one
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        layered: Layered,
    },
    /// Prints a file of a ruleset, built-in ones included, or lists its files
    Source {
        /// The file as messages name it, such as `my-game/verbs.luau`; a ruleset alone lists its files
        file: String,
    },
    /// Tells what differs between two rulesets
    Diff(Pair),
}

/// The width for files and pipes with long texts.
const PAGE: usize = 100;

#[derive(clap::Args)]
pub struct Pair {
    /// A ruleset; with house rules on top: ID+LAYER
    first: String,
    /// The one to compare it with
    second: String,

    /// Only what belongs to these: fields, cards, verbs, rolls, house-rules and the like
    #[arg(long, value_name = "SORT,SORT...", value_delimiter = ',')]
    only: Vec<String>,

    /// Writes JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct Layered {
    /// House rules on top, the lowest first
    #[arg(long, value_name = "ID,ID...", value_delimiter = ',')]
    layers: Vec<String>,

    /// Writes JSON
    #[arg(long)]
    json: bool,
}

pub fn rules(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    match args {
        Args::List { json } => list(&library, Screen::stdout(json)),
        Args::Show { id, layered } => {
            let rules = library::load(&library, &id, &layered.layers)?;
            show(&rules, &library, Screen::stdout(layered.json))
        }
        Args::Explain { card, id, layered } => {
            let id = id.map_or_else(|| library::default_ruleset(&library), Ok)?;
            let rules = library::load(&library, &id, &layered.layers)?;
            let card = find_card(&rules, &card).map_err(|refusal| call_error(refusal.to_string()))?;
            explain(card, Screen::stdout(layered.json))
        }
        Args::Switch { save, id, dry_run, out, layered } => {
            let to = library::load(&library, &id, &layered.layers)?;
            let out = (!dry_run).then(|| out.unwrap_or_else(|| save.clone()));
            switch(&library, &save, &to, out.as_deref(), Screen::stdout(layered.json))
        }
        Args::Source { file } => source(&library, &file, &mut Screen::paged(false)),
        Args::Diff(pair) => {
            let first = library::load(&library, &pair.first, &[])?;
            let second = library::load(&library, &pair.second, &[])?;
            let contrast = chosen(Contrast::between(&first, &second), &pair.only)?;
            diff(&contrast, &mut Screen::paged(pair.json).at_most(PAGE))
        }
    }
}

/// Prints a file, given by the path in messages; or the list of files of a ruleset or folder.
fn source(library: &Library, file: &str, screen: &mut Screen) -> Result<ExitCode> {
    let (id, inside) = file.split_once('/').unwrap_or((file, ""));
    if !library.contains(id) {
        return Err(call_error(format!("there is no ruleset `{id}`; {}", library.instead_of(id))));
    }
    let folder = library.read(id)?;
    if let Some(source) = folder.files.get(inside) {
        screen.verbatim(source.text.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let around = inside.trim_end_matches('/');
    let is_inside =
        |path: &str| around.is_empty() || path.strip_prefix(around).is_some_and(|rest| rest.starts_with('/'));
    let files: Vec<&str> = folder.files.keys().map(|path| &**path).filter(|path| is_inside(path)).collect();
    if files.is_empty() {
        let known = folder.files.keys().map(|path| &**path);
        let other = format!("`riskbreaker rules source {id}` lists its files");
        return Err(call_error(format!("`{id}` has no file `{inside}`; {}", instead_or(inside, known, other))));
    }
    for path in files {
        screen.verbatim(&format!("{id}/{path}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Moves a saved game to other rules, and writes it to `out` if that is given.
fn switch(
    library: &Library,
    save: &Path,
    to: &Arc<Ruleset>,
    out: Option<&Path>,
    mut screen: Screen,
) -> Result<ExitCode> {
    let text =
        file::read(save).map_err(|error| call_error(format!("{}: {}", save.display(), system_message(&error))))?;
    let mut session = Session::load(library, &text).with_context(|| save.display().to_string())?;
    let _: Step = session.advance()?;
    if let Some(out) = out.filter(|out| out.exists())
        && !is_saved_game(out).unwrap_or(true)
    {
        return Err(call_error(format!("{} is there already and is no saved game: give another name", out.display())));
    }
    let Some(out) = out else {
        let migration = session.preview_rules(to)?;
        migration::show(&migration, false, &mut screen)?;
        return Ok(if migration.is_refused() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    };
    let migration = session.change_rules(to)?;
    migration::show(&migration, true, &mut screen)?;
    session.take_events();
    let _: Step = session.advance()?;
    for event in session.take_events() {
        if matches!(event.happening, Happening::Notice { .. }) && !screen.json() {
            screen.row(&Row::at(2).plain(event.happening.line()))?;
        }
    }
    file::replace(out, session.save()).map_err(|error| report::unwritable(out, &error))?;
    Ok(ExitCode::SUCCESS)
}

fn list(library: &Library, mut screen: Screen) -> Result<ExitCode> {
    let mut rows = Vec::new();
    let mut whole = true;
    let listed = library::listed(library)?;
    for id in listed.clone() {
        let row = match library.read(&id) {
            Ok(folder) => {
                let manifest = folder.manifest;
                if screen.json() {
                    screen.object(&json!({ "id": id, "manifest": manifest }))?;
                }
                let over: Vec<&str> = manifest.over.iter().map(|base| &*base.id).collect();
                let summary = manifest.summary.unwrap_or_default();
                let told = match (over.as_slice(), summary.as_str()) {
                    ([], _) => summary,
                    (over, "") => format!("over {}", over.join(" or ")),
                    (over, _) => format!("over {}: {summary}", over.join(" or ")),
                };
                vec![id, manifest.title, manifest.version, told]
            }
            Err(error) => {
                whole = false;
                if screen.json() {
                    screen.object(&json!({ "id": id, "problems": error.problems }))?;
                }
                let told = format!("cannot be read: `riskbreaker check {id}` says why");
                vec![id, String::new(), String::new(), told]
            }
        };
        rows.push(row);
    }
    for problem in library.left_out() {
        whole = false;
        let id = library::folder_of(&problem).to_owned();
        if screen.json() {
            screen.object(&json!({ "id": id, "problems": [problem] }))?;
        } else {
            rows.push(vec![id, String::new(), String::new(), problem.to_string()]);
        }
    }
    if screen.json() {
        return Ok(ExitCode::SUCCESS);
    }
    screen.table(&["id", "title", "version", "summary"], rows)?;
    let own = library.ids();
    let built_in = listed.iter().any(|id| !own.contains(id));
    let also = if built_in { ", and the built-in rulesets" } else { "" };
    screen.row(&Row::at(0).faint(format!("from {}{also}", library.describe())))?;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(rules: &Arc<Ruleset>, library: &Library, mut screen: Screen) -> Result<ExitCode> {
    if screen.json() {
        let switches: Vec<_> = rules.switches().collect();
        screen.object(&json!({
            "id": rules.id(), "title": rules.title(), "version": rules.version(), "summary": rules.summary(), "parts": rules.parts(),
            "hash": rules.hash(), "cards": rules.cards(), "items": rules.items(), "switches": switches, "seats": rules.seats(),
            "policies": rules.policies(), "scenarios": rules.scenarios().keys().collect::<Vec<_>>(), "words": rules.words(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.row(&Row::at(0).strong(rules.name()).plain(format!("  {} {}", rules.title(), rules.version())))?;
    let cells = summary(rules, library).into_iter().map(|(label, text)| vec![Span::plain(label), Span::plain(text)]);
    screen.columns(2, cells.collect())?;
    if !rules.cards().is_empty() {
        screen.row(&Row::default())?;
        show_cards(rules, &mut screen)?;
    }
    let switches: Vec<Vec<String>> = rules
        .switches()
        .map(|switch| {
            vec![switch.name.clone(), switch.default.to_string(), switch.kind.to_string(), switch.text.clone()]
        })
        .collect();
    if !switches.is_empty() {
        screen.row(&Row::default())?;
        screen.table(&["house rule", "default", "values", "decides"], switches)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A summary of a ruleset, as labels and texts.
pub fn summary(rules: &Ruleset, library: &Library) -> Vec<(String, String)> {
    let list = |names: Vec<String>| names.join(", ");
    let scenario = |name: &String| match rules.scenarios().get(name).and_then(scenario_title) {
        Some(title) => format!("{name} ({title})"),
        None => name.clone(),
    };
    let pairs = [
        ("title", rules.title().to_owned()),
        ("version", rules.version().to_owned()),
        ("summary", rules.summary().to_owned()),
        ("made of", rules.parts().join(", ")),
        ("from", library.describe()),
        ("seats", list(rules.seats().iter().map(|(seat, title)| format!("{seat} ({title})")).collect())),
        ("policies", list(rules.policies().iter().map(ToString::to_string).collect())),
        ("scenarios", list(rules.scenarios().keys().map(scenario).collect())),
        ("items", list(rules.items().iter().map(|item| item.title.to_string()).collect())),
        ("words", list(rules.words().iter().map(small_word).collect())),
    ];
    pairs.into_iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| (label.to_owned(), text)).collect()
}

/// A small word of the prompt, with its topic if that has another name.
fn small_word((word, topic): (&String, &String)) -> String {
    if word == topic { readable_name(word) } else { format!("{word} ({})", readable_name(topic)) }
}

/// The title of a scenario.
pub fn scenario_title(scenario: &Value) -> Option<&str> {
    Scenario::title_of(scenario)
}

/// The description of a scenario.
pub fn scenario_text(scenario: &Value) -> Option<&str> {
    match scenario {
        Value::Map(fields) => fields.get("text").and_then(Value::as_text),
        _ => None,
    }
}

/// The name and contents of the scenario of a setup. A custom position has no name.
pub fn scenario_of<'s>(rules: &'s Ruleset, setup: &'s Setup) -> (&'s str, Option<&'s Value>) {
    let name = match &setup.scenario {
        Scenario::Table(table) => return ("", Some(table)),
        Scenario::Named(name) => name.as_str(),
        _ => rules.default_scenario().unwrap_or_default(),
    };
    (name, rules.scenarios().get(name))
}

/// Prints the cards as a table.
pub fn show_cards(rules: &Ruleset, screen: &mut Screen) -> io::Result<()> {
    if screen.json() {
        return screen.event("cards", &json!({ "cards": rules.cards() }));
    }
    let rows = rules.cards().iter().map(|card| vec![card.id.to_string(), card.title.to_string(), card.text.clone()]);
    screen.table(&["card", "title", "text"], rows.collect())
}

/// Like [`show_cards`], for players: cards are listed by title.
pub fn list_cards(rules: &Ruleset, screen: &mut Screen) -> io::Result<()> {
    if screen.json() {
        return show_cards(rules, screen);
    }
    let cells = rules.cards().iter().map(|card| vec![Span::strong(&*card.title), Span::plain(&card.text)]);
    screen.columns(2, cells.collect())
}

/// Functions of a card that are not facts.
const RUN_BY_THE_HOST: &[&str] = &["when", "resolve", "note", "before", "after", "wrap"];

/// A fact of a card in words; `None` if it is empty.
pub fn fact_in_words(name: &str, fact: &Fact) -> Option<String> {
    fn words(value: &Value) -> String {
        match value {
            Value::List(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
            Value::Text(text) => readable_name(text),
            other => other.to_string(),
        }
    }
    match fact {
        Fact::Plain(Value::Bool(false) | Value::None) => None,
        Fact::Plain(value) => Some(words(value)),
        Fact::Function if RUN_BY_THE_HOST.contains(&name) => None,
        Fact::Function => Some("worked out in play".to_owned()),
    }
}

/// The facts of a card for players, with their names: those that the ruleset lists, otherwise all, in the order of the
/// file.
pub fn told_facts<'c>(card: &'c Card, rules: &Ruleset) -> Vec<(String, String)> {
    let fact = |name: &str, fact: &'c Fact| fact_in_words(name, fact);
    match rules.printed() {
        Some(listed) => {
            let found = listed.iter().filter_map(|(name, label)| match card.facts.get(name)? {
                plain @ Fact::Plain(_) => Some((label.clone(), fact(name, plain)?)),
                Fact::Function => None,
            });
            found.collect()
        }
        None => {
            let all = in_order(card, rules).into_iter();
            all.filter_map(|(name, value)| Some((readable_name(name), fact(name, value)?))).collect()
        }
    }
}

fn in_order<'c>(card: &'c Card, rules: &Ruleset) -> Vec<(&'c String, &'c Fact)> {
    let place = |name: &str| {
        let source = card.origins.get(name).and_then(|path| rules.source(path)).unwrap_or_default();
        let assigns =
            |line: &str| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='));
        source.lines().position(assigns).unwrap_or(usize::MAX)
    };
    let mut facts: Vec<(&String, &Fact)> = card.facts.iter().collect();
    facts.sort_by_key(|(name, _)| place(name));
    facts
}

/// Prints a card for players.
pub fn show_card(card: &Card, rules: &Ruleset, screen: &mut Screen) -> io::Result<()> {
    if screen.json() {
        return screen.event("card", &json!({ "card": card }));
    }
    screen.row(&Row::at(0).strong(&*card.title))?;
    if !card.text.is_empty() {
        screen.row(&Row::prose(2).plain(&card.text))?;
    }
    let told = told_facts(card, rules).into_iter();
    let mut cells: Vec<Vec<Span>> = told.map(|(name, fact)| vec![Span::faint(name), Span::plain(fact)]).collect();
    if !card.rules.is_empty() {
        cells.push(vec![Span::faint("rules"), Span::plain(card.rules.join(", "))]);
    }
    screen.columns(2, cells)
}

fn explain(card: &Card, mut screen: Screen) -> Result<ExitCode> {
    if screen.json() {
        screen.object(card)?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.row(&Row::at(0).strong(&*card.title).faint(format!("  {}", card.id)))?;
    let origin = |field: &str| card.origins.get(field).cloned().unwrap_or_default();
    let mut rows: Vec<(String, String)> = vec![("title".into(), card.title.to_string())];
    if !card.text.is_empty() {
        rows.push(("text".into(), card.text.clone()));
    }
    if !card.rules.is_empty() {
        rows.push(("rules".into(), card.rules.join(", ")));
    }
    rows.extend(facts(card).map(|(name, fact)| (name.to_owned(), fact)));
    let told: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let functions = card.origins.keys().filter(|name| !told.contains(name) && *name != "id");
    rows.extend(functions.map(|name| (name.clone(), "a function".to_owned())));
    screen.table(
        &["field", "value", "from"],
        rows.into_iter()
            .map(|(name, value)| {
                let from = origin(&name);
                vec![name, value, from]
            })
            .collect(),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The requested sections of a comparison; all if none is requested.
fn chosen(mut contrast: Contrast, only: &[String]) -> Result<Contrast> {
    let plain = |title: &str| title.replace(' ', "-");
    if let Some(unknown) = only.iter().find(|name| !Contrast::TITLES.iter().any(|title| plain(title) == **name)) {
        let titles: Vec<String> = Contrast::TITLES.iter().map(|title| plain(title)).collect();
        let meant = instead(unknown, titles.iter().map(String::as_str));
        return Err(call_error(format!("there is no sort `{unknown}`; {meant}")));
    }
    contrast.sections.retain(|section| only.is_empty() || only.contains(&plain(section.title)));
    Ok(contrast)
}

fn diff(contrast: &Contrast, screen: &mut Screen) -> Result<ExitCode> {
    if screen.json() {
        screen.object(contrast)?;
        return Ok(ExitCode::SUCCESS);
    }
    if contrast.sections.is_empty() {
        screen.row(&Row::at(0).strong("nothing differs"))?;
        return Ok(ExitCode::SUCCESS);
    }
    screen.row(&Row::at(0).strong(format!("{} and {}", contrast.first, contrast.second)))?;
    screen.columns(
        2,
        contrast.summary().into_iter().map(|(title, told)| vec![Span::strong(title), Span::plain(told)]).collect(),
    )?;
    for section in &contrast.sections {
        screen.row(&Row::default())?;
        let rows = section.differences.iter().map(|differing| {
            let told = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            vec![differing.name.clone(), told(&differing.first), told(&differing.second)]
        });
        screen.table(&[section.title, &contrast.first, &contrast.second], rows.collect())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn facts(card: &Card) -> impl Iterator<Item = (&str, String)> {
    card.facts.iter().map(|(name, fact)| {
        let text = match fact {
            Fact::Plain(value) => value.to_string(),
            Fact::Function => "worked out in play".to_owned(),
        };
        (name.as_str(), text)
    })
}

/// Finds the item with this id or title.
pub fn find_item<'r>(rules: &'r Ruleset, text: &str) -> Option<&'r Card> {
    let spellings = || rules.items().iter().flat_map(|item| [(item, &*item.id), (item, &*item.title)]);
    let plain = spelling(text);
    rules.items().iter().find(|item| spelling(&item.id) == plain || spelling(&item.title) == plain).or_else(|| {
        let found = typed(text, spellings);
        found.into_iter().find(|item| [&item.id, &item.title].iter().any(|name| fold(name) == fold(text)))
    })
}

/// Finds the card that a person names by its id or title (see [`typed`]).
///
/// # Errors
///
/// [`Refusal::Ambiguous`] with the candidates, or a sentence if there is no such card.
pub fn find_card<'r>(rules: &'r Ruleset, text: &str) -> Result<&'r Card, Refusal> {
    let cards = rules.cards();
    let spellings = || cards.iter().flat_map(|card| [(card, &*card.id), (card, &*card.title)]);
    let found = match typed(text, spellings).as_slice() {
        [] => None,
        [card] => Some(*card),
        several => {
            let shared = |card: &Card| several.iter().filter(|other| other.title == card.title).count() > 1;
            let name = |card: &&Card| if shared(card) { card.id.to_string() } else { card.title.to_string() };
            let candidates = several.iter().map(name).collect();
            return Err(Refusal::Ambiguous { topic: None, given: text.to_owned(), candidates });
        }
    };
    let id = text.replace([' ', '-'], "_");
    found.ok_or_else(|| {
        let ids = || cards.iter().map(|card| &*card.id);
        let meant = instead_or(text, cards.iter().map(|card| &*card.title), instead(text, ids()));
        Refusal::Invalid { message: format!("{} has no card `{text}`; {}", rules.id(), instead_or(&id, ids(), meant)) }
    })
}

/// The notice for a game whose rules differ from those on disk; `None` if they are equal.
pub fn rules_note(session: &Session, library: &Library) -> Option<String> {
    let rules = session.ruleset();
    let name = rules.name();
    let kept = "This campaign plays on by the rules kept in its file";
    match Ruleset::load_with(library, rules.id(), rules.extra_layers()) {
        Ok(today) if today.hash() == rules.hash() => None,
        Ok(today) => {
            let versions: Vec<String> = version_changes(rules, &today)
                .into_iter()
                .map(|(id, from, to)| format!("the folder has {id} {to}, the campaign {from}"))
                .collect();
            let versions = match versions.is_empty() {
                true => format!("version {}, edited since", rules.version()),
                false => versions.join("; "),
            };
            Some(format!(
                "{kept}: {name} has changed ({versions}, {}). `rules {name}` shows what today's rules would do, \
                 `rules {name} yes` switches to them; otherwise it stays with its own.",
                counted(Contrast::between(rules, &today).sentences.len(), "change", "changes")
            ))
        }
        Err(_) if library.contains(rules.id()) => Some(format!("{kept}: {name} cannot be loaded as it is today.")),
        Err(_) => Some(format!("{kept}: {name} is not there.")),
    }
}
