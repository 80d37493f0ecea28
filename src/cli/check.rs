use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::check::{self, Analysis, CheckReport, Lint, first_and_count};
use riskbreaker::ruleset::{Changes, Problem};
use riskbreaker::{Library, Ruleset, WorkBudget};
use serde_json::json;

use super::campaigns;
use super::explain;
use super::figures::counted;
use super::interrupt::watched_briefly;
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, library, report};

/// Checks rulesets and reports every problem in them
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder, or a folder of rulesets (default: all in ./rulesets)
    path: Option<PathBuf>,

    /// Fails for warnings, too: for all of them (`warnings`), or for those of one lint; may be repeated
    #[arg(long, value_name = "LINT")]
    deny: Vec<String>,

    /// Also reports the kinds and fields that an earlier version has and this one lacks: the folder of that version, or
    /// a campaign. Without it, the campaigns in the current folder are compared
    #[arg(long, value_name = "FOLDER|CAMPAIGN")]
    since: Option<PathBuf>,

    /// Explains a lint with examples and checks nothing; without a name it lists all lints
    #[arg(long, value_name = "LINT", num_args = 0..=1, conflicts_with = "deny")]
    explain: Option<Option<String>>,

    /// Writes one JSON object per problem
    #[arg(long)]
    json: bool,
}

pub fn check(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    if let Some(lint) = args.explain {
        return explain::explain(lint.as_deref(), args.json);
    }
    let denied = Denied::of(&args.deny)?;
    let takes_all = args.path.as_deref().is_none_or(|path| path.is_dir() && !path.join("ruleset.toml").is_file());
    let (library, ids) = chosen(args.path, folder.clone())?;
    let mut screen = Screen::stdout(args.json);
    // A problem of a layer occurs over each ruleset that it extends, and is reported once.
    let mut told: Vec<Problem> = Vec::new();
    let mut is_partial = false;
    let ways: Vec<Vec<String>> = ids.iter().map(|id| library.ways_to_play(id)).collect();
    let earlier = match &args.since {
        Some(since) => earlier_rules(since, &library, folder)?,
        None => rules_of_campaigns(&library),
    };
    let budget = WorkBudget::new(for_several(CheckReport::WORK, ways.concat().len())).until(&watched_briefly());
    for (id, is_one_of_several) in ways.iter().flat_map(|ways| ways.iter().map(|id| (id, ways.len() > 1))) {
        let analysis = Analysis::new(&library, id, &budget);
        let mut report = analysis.report.clone();
        if let Some(rules) = analysis.rules() {
            // A game with other layers on top has fields of theirs.
            let of_same = earlier.iter().filter(|(_, earlier)| earlier.parts() == rules.parts());
            for (whose, earlier) in of_same.filter(|(_, earlier)| earlier.hash() != rules.hash()) {
                report.problems.extend(check::lost_since(earlier, rules, whose));
            }
        }
        report.problems.iter_mut().for_each(|problem| denied.apply(problem));
        let found = &report.problems;
        let is_tried = args.json && analysis.rules().is_none();
        let before = if is_tried { problems_of_loading(&library, id) } else { 0 };
        for problem in found {
            let problem = &with_proved_edit(problem, &analysis, (&library, id), before, args.json);
            let same = |other: &Problem| {
                (&other.path, other.line, other.column, &other.message)
                    == (&problem.path, problem.line, problem.column, &problem.message)
            };
            if !told.iter().any(same) {
                tell(id, problem, &library, &mut screen)?;
                told.push(problem.clone());
            }
        }
        if !report.is_passed() && is_one_of_several && !args.json {
            screen.row(&Row::at(0).strong(id).plain(format!(": {}", counted(errors(found), "problem", "problems"))))?;
        }
        if report.is_partial() {
            is_partial = true;
            tell_unexamined(id, &report, &mut screen)?;
        } else if report.is_passed() {
            let cards = Ruleset::load(&library, id)?.cards().len();
            if args.json {
                screen.object(&json!({ "ruleset": id, "cards": cards, "problems": 0 }))?;
            } else {
                let cards = counted(cards, "card", "cards");
                let warnings = match found.len() {
                    0 => "no problem".to_owned(),
                    warnings => counted(warnings, "warning", "warnings"),
                };
                screen.row(&Row::at(0).strong(id).plain(format!(": {cards}, {warnings}")))?;
            }
        }
    }
    if takes_all {
        for problem in check::left_out(&library) {
            tell(library::folder_of(&problem), &problem, &library, &mut screen)?;
            told.push(problem);
        }
    }
    let errors = errors(&told);
    if errors > 0 {
        screen.row(&Row::at(0).with(counted(errors, "problem", "problems"), Tone::Bad))?;
    }
    // An interrupted check is partial, too.
    Ok(if errors == 0 && !is_partial { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The work of trying the edit of one problem.
const WORK_OF_TRIAL: u64 = CheckReport::WORK / 40;

/// A problem whose preferred edit is only a choice if it leaves the problem, or leads to another one. Only the edits of
/// `--json` are tried. `before`: the number of problems of loading.
fn with_proved_edit(
    problem: &Problem,
    analysis: &Analysis,
    (library, id): (&Library, &str),
    before: usize,
    is_json: bool,
) -> Problem {
    let mut proved = problem.clone();
    let Some(text) = report::text_of(library, &problem.path).filter(|_| is_json) else { return proved };
    let changes = problem.changes_in(&text);
    if let Some(edit) = &changes.preferred {
        let helps = match before {
            0 => analysis.helps(problem, &text, edit, &WorkBudget::new(WORK_OF_TRIAL)),
            _ => edit.applied_to(&text).map(|text| {
                let library = library.clone().with_texts([(problem.path.as_str(), text)]);
                problems_of_loading(&library, id) < before
            }),
        };
        if helps == Some(false) {
            proved.change = None;
            proved.choices = changes.all().collect();
        }
    }
    proved
}

/// The number of problems that keep a ruleset from loading.
fn problems_of_loading(library: &Library, id: &str) -> usize {
    Ruleset::load(library, id).err().map_or(0, |error| error.problems.len())
}

/// The rules of an earlier version, with whose they are, in the words of a message.
type Earlier = (String, Arc<Ruleset>);

/// Reads the rules in a folder, a layer over each ruleset that it extends, or in a campaign.
///
/// # Errors
///
/// There are none, or they do not load.
fn earlier_rules(since: &Path, library: &Library, folder: Option<PathBuf>) -> Result<Vec<Earlier>> {
    if since.is_dir() {
        let (earlier, ids) = chosen(Some(since.to_path_buf()), folder)?;
        let [id] = ids.as_slice() else {
            let message = format!("{} is not the folder of one ruleset", since.display());
            return Err(call_error(format!("{message}; name the folder with its ruleset.toml")));
        };
        let whose = format!("the version in {}", since.display());
        let loaded = |way: &String| Ok((whose.clone(), Ruleset::load(&earlier, way)?));
        return earlier.ways_to_play(id).iter().map(loaded).collect();
    }
    let path = campaigns::file_of(&since.to_string_lossy());
    let session = campaigns::read(&path, library)?.whole()?;
    Ok(vec![(words_of(&path), session.ruleset().clone())])
}

/// The rules of the campaigns in the current folder that can be read, as far as they differ.
fn rules_of_campaigns(library: &Library) -> Vec<Earlier> {
    let mut found: Vec<Earlier> = Vec::new();
    for path in campaigns::here() {
        let Some(session) = campaigns::read(&path, library).ok().and_then(|campaign| campaign.whole().ok()) else {
            continue;
        };
        let rules = session.ruleset();
        if found.iter().all(|(_, other)| other.hash() != rules.hash()) {
            found.push((words_of(&path), rules.clone()));
        }
    }
    found
}

fn words_of(campaign: &Path) -> String {
    format!("the campaign {}", campaign.display())
}

/// The warnings that fail a check.
struct Denied {
    all: bool,
    names: Vec<&'static str>,
}

impl Denied {
    /// The name that denies all warnings.
    const ALL: &str = "warnings";

    /// Reads the values of `--deny`.
    ///
    /// # Errors
    ///
    /// If a value is no lint.
    fn of(names: &[String]) -> Result<Denied> {
        let mut denied = Denied { all: false, names: Vec::new() };
        for name in names {
            match Lint::named(name) {
                Some(lint) => denied.names.push(lint.name),
                None if name == Denied::ALL => denied.all = true,
                None => return Err(explain::unknown(name)),
            }
        }
        Ok(denied)
    }

    /// Makes an error of a denied warning.
    fn apply(&self, problem: &mut Problem) {
        if self.all || problem.lint.is_some_and(|lint| self.names.contains(&lint)) {
            problem.is_warning = false;
        }
    }
}

/// The number of problems that are errors, not warnings.
fn errors(problems: &[Problem]) -> usize {
    problems.iter().filter(|problem| !problem.is_warning).count()
}

/// The work budget for several rulesets: that of one for each, for up to eight.
pub fn for_several(work: u64, rulesets: usize) -> u64 {
    work * rulesets.clamp(1, 8) as u64
}

/// Reports that a check is partial, and what was not examined.
fn tell_unexamined(id: &str, report: &CheckReport, screen: &mut Screen) -> Result<()> {
    if screen.json() {
        let CheckReport { unexamined, interrupted, .. } = report;
        let told = json!({ "ruleset": id, "partial": true, "unexamined": unexamined, "interrupted": interrupted });
        return Ok(screen.object(&told)?);
    }
    let why = if report.interrupted { "interrupted" } else { "too much for one check" };
    let what = format!(": partial ({why}), not examined: {}", first_and_count(&report.unexamined));
    Ok(screen.row(&Row::at(0).strong(id).with(what, Tone::Bad))?)
}

/// Prints one problem with the name of its lint: with its source line for a person, as one line for a pipe.
pub fn tell(id: &str, problem: &Problem, library: &Library, screen: &mut Screen) -> Result<()> {
    if screen.json() {
        let text = report::text_of(library, &problem.path);
        let Changes { preferred, choices } = text.map(|text| problem.changes_in(&text)).unwrap_or_default();
        let mut told = json!({ "ruleset": id, "problem": problem });
        if let Some(edit) = preferred {
            told["edits"] = json!([edit]);
        }
        if !choices.is_empty() {
            told["choices"] = json!(choices.iter().map(|edit| [edit]).collect::<Vec<_>>());
        }
        screen.object(&told)?;
    } else if screen.width().is_some() {
        let text = report::problem(problem, library, screen.coloured(), screen.width());
        screen.verbatim(&format!("{text}\n"))?;
    } else {
        let lint = problem.lint.map_or(String::new(), |lint| format!(" [{lint}]"));
        screen.verbatim(&format!("{problem}{lint}"))?;
    }
    Ok(())
}

/// Opens the library of the folder `around`. Parents may also be in the folder of the call, or built in.
pub fn around(around: &Path, folder: Option<&Path>) -> Result<Library> {
    Ok(Library::overlay(library::open(Some(around))?, library::open(folder)?))
}

/// Returns the rulesets that a path means, with their library.
pub fn chosen(path: Option<PathBuf>, folder: Option<PathBuf>) -> Result<(Library, Vec<String>)> {
    let Some(path) = path else {
        let library = library::open(folder.as_deref())?;
        let ids = library::all(&library)?;
        return Ok((library, ids));
    };
    if path.is_dir() && path.join("ruleset.toml").is_file() {
        let path = path.canonicalize()?;
        let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let library = around(path.parent().unwrap_or(&path), folder.as_deref())?;
        return Ok((library, vec![id]));
    }
    if path.is_dir() {
        let library = library::open(Some(&path))?;
        let ids = library.ids();
        if ids.is_empty() {
            return Err(call_error(format!(
                "{} holds no ruleset: a ruleset is a folder with a ruleset.toml{}",
                path.display(),
                library::left_out(&library)
            )));
        }
        return Ok((library, ids));
    }
    let library = library::open(folder.as_deref())?;
    let id = path.to_string_lossy().into_owned();
    if let Some(unknown) = id.split('+').find(|id| !library.contains(id)) {
        let instead = library.instead_of(unknown);
        return Err(call_error(format!("`{unknown}` is neither a ruleset nor a folder; {instead}")));
    }
    Ok((library, vec![id]))
}
