use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::ruleset::typed_text::read_json;
use serde::{Deserialize, Serialize};

use super::archive::Label;
use super::source::PackageSource;
use crate::cli::row::{Row, harmless};
use crate::cli::screen::Screen;

/// Searches an index of rulesets that others offer
#[derive(clap::Args)]
pub struct SearchArgs {
    /// A word of the id, the title or the summary; without one everything is listed
    word: Option<String>,

    /// The index: a file, or a folder or git repository with a file `index.json`
    #[arg(long, value_name = "FILE or ADDRESS")]
    index: String,

    /// Writes one JSON object per ruleset
    #[arg(long)]
    json: bool,
}

/// A ruleset in an index.
#[derive(Serialize, Deserialize)]
pub struct Listed {
    #[serde(flatten)]
    pub label: Label,
    /// The name of its file.
    file: String,
}

impl Listed {
    pub fn new(label: Label, path: &Path) -> Listed {
        Listed { label, file: path.file_name().unwrap_or_default().to_string_lossy().into_owned() }
    }
}

pub fn search(args: &SearchArgs) -> Result<ExitCode> {
    let text = PackageSource::read(&args.index)?.text("index.json")?;
    let listed: Vec<Listed> =
        read_json(text.as_bytes()).map_err(|error| anyhow::anyhow!("it is no index of rulesets: {error}"))?;
    let word = args.word.as_deref().unwrap_or_default().to_lowercase();
    let fits = |listed: &&Listed| {
        let Label { id, title, summary, .. } = &listed.label;
        [id, title, summary.as_ref().unwrap_or(title)].iter().any(|text| text.to_lowercase().contains(&word))
    };
    let mut screen = Screen::stdout(args.json);
    let found: Vec<&Listed> = listed.iter().filter(fits).collect();
    for one in &found {
        if args.json {
            screen.object(one)?;
            continue;
        }
        let Label { id, title, version, license, summary, parents, .. } = &one.label;
        let license = license.as_deref().unwrap_or("no licence named");
        screen.row(&Row::at(0).strong(harmless(id)).plain(harmless(&format!(" {version} · {title} · {license}"))))?;
        if let Some(summary) = summary {
            screen.row(&Row::prose(2).plain(harmless(summary)))?;
        }
        let parents: Vec<&str> = parents.keys().map(String::as_str).collect();
        let made_for = if parents.is_empty() { String::new() } else { format!(" · for {}", parents.join(", ")) };
        screen.row(&Row::at(2).faint(harmless(&format!("{}{made_for}", one.file))))?;
    }
    if found.is_empty() {
        eprintln!("Nothing in the index has `{}` in its id, title or summary.", harmless(&word));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
