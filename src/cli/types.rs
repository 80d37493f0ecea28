use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::WorkBudget;
use riskbreaker::check::{derived_types, first_and_count};
use riskbreaker::script::{reference_page, type_module};

use super::interrupt::{interrupted_code, watched_briefly};
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, check, file, library, report};

/// Writes the types of a ruleset for editors that complete and check Luau
#[derive(clap::Args)]
pub struct Args {
    /// A ruleset by id or folder; all that lie on the disk if none is named
    ruleset: Option<PathBuf>,

    /// Prints the module instead of writing it
    #[arg(long)]
    print: bool,

    /// Prints the reference of the vocabulary, in Markdown
    #[arg(long)]
    reference: bool,
}

/// The work budget: the number of letters of all types.
const WORK: u64 = 100_000_000;

/// The file that `require("@riskbreaker")` means to an editor, in the folder of a ruleset. The game does not read it.
pub const DEFINITION: &str = ".riskbreaker/riskbreaker.luau";

pub fn types(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let mut screen = Screen::stdout(false);
    if args.reference {
        screen.verbatim(&reference_page())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (library, ids) = check::chosen(args.ruleset, folder)?;
    let (mut written, mut left) = (0, Vec::new());
    let budget = WorkBudget::new(WORK).until(&watched_briefly());
    for id in &ids {
        if budget.is_spent() {
            left.push(id.clone());
            continue;
        }
        let on_disk = library.folder_of(id);
        if on_disk.is_none() && !args.print {
            continue;
        }
        let rules = library::load(&library, &library.ways_to_play(id)[0], &[])?;
        let text = type_module(&rules, &derived_types(&rules));
        budget.spend(text.len() as u64);
        match on_disk.filter(|_| !args.print) {
            None => screen.verbatim(&text)?,
            Some(folder) => {
                let path = write_inside(&folder, DEFINITION, &text)?;
                screen.row(&Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()))?;
                for (name, text) in settings() {
                    if fs::symlink_metadata(folder.join(&name)).is_ok() {
                        continue;
                    }
                    let path = write_inside(&folder, &name, &text)?;
                    screen.row(&Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()))?;
                }
            }
        }
        written += 1;
    }
    if !left.is_empty() {
        let what = format!("partial: no types were written of {}", first_and_count(&left));
        screen.row(&Row::at(0).with(what, Tone::Note))?;
    }
    if budget.is_interrupted() {
        return Ok(ExitCode::from(interrupted_code()));
    }
    if written == 0 {
        return Err(call_error(format!(
            "no ruleset here has a folder, so there is nowhere to write types; `riskbreaker types {} --print` prints them",
            ids[0]
        )));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file in the folder of a ruleset, never outside of it.
pub fn write_inside(folder: &Path, inside: &str, text: &str) -> Result<PathBuf> {
    file::replace_inside(folder, inside, text).map_err(|error| report::unwritable(&folder.join(inside), &error))
}

/// The files for editors: settings that start the language server and locate the module for luau-lsp, and instructions
/// for coding assistants.
pub fn settings() -> BTreeMap<String, String> {
    let all = [
        (".luaurc", include_str!("../../templates/editors/luaurc.json")),
        (".vscode/settings.json", include_str!("../../templates/editors/vscode.json")),
        (".vscode/extensions.json", include_str!("../../templates/editors/vscode-extensions.json")),
        (".nvim.lua", include_str!("../../templates/editors/nvim.lua")),
        (".helix/languages.toml", include_str!("../../templates/editors/helix.toml")),
        (".zed/settings.json", include_str!("../../templates/editors/zed.json")),
        ("rules.sublime-project", include_str!("../../templates/editors/sublime.json")),
        (".agents/skills/riskbreaker-rules/SKILL.md", include_str!("../../templates/skill/SKILL.md")),
    ];
    all.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}
