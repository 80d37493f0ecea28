//! `recap`: the last session of a campaign as a story.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::Viewer;
use riskbreaker::store::Recap;

use super::figures::escaped;
use super::row::{Row, Tone};
use super::screen::Screen;
use super::{campaigns, file, library, report, rule_text};

/// Tells the last session of a campaign as a story
#[derive(clap::Args)]
pub struct Args {
    /// The campaign (NAME or NAME.rbsave)
    file: String,

    /// Tells the whole campaign
    #[arg(long)]
    all: bool,

    /// For whom: the players, or the game master (with notes, manual edits and secrets)
    #[arg(long = "for", value_name = "WHO", default_value = "players")]
    reader: Reader,

    /// Writes a page for a browser or a printer instead
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// The audience of a recap.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Reader {
    /// What everybody may know
    Players,
    /// Everything
    Gm,
}

pub fn recap(args: &Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let library = library::open(folder.as_deref())?;
    let path = campaigns::file_of(&args.file);
    let campaign = campaigns::read(&path, &library)?;
    let mut screen = Screen::stdout(false);
    let viewer = match args.reader {
        Reader::Players => Viewer::watcher(),
        Reader::Gm => Viewer::master(),
    };
    let recap = if args.all { campaign.recap_all(&viewer)? } else { campaign.recap(&viewer)? };
    match &args.html {
        Some(out) => {
            file::replace(out, page(&recap, &campaigns::name_of(&path)))
                .map_err(|error| report::unwritable(out, &error))?;
            screen.row(&Row::at(0).with("new  ", Tone::Good).plain(out.display().to_string()))?;
        }
        None => screen.rows(&rows(&recap))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A recap as rows, with a blank one between two paragraphs.
pub fn rows(recap: &Recap) -> Vec<Row> {
    let mut rows = Vec::new();
    for text in recap.paragraphs() {
        if !rows.is_empty() {
            rows.push(Row::default());
        }
        rows.push(Row::prose(0).plain(rule_text::without_ids(&text)));
    }
    rows
}

const STYLE: &str = "body{font:11pt/1.5 Georgia,'Times New Roman',serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color:#1f2430;\
background:#fff}h1{font-size:1.6rem;margin:0 0 1rem}h2{font-size:1.2rem;margin:2rem 0 .5rem;break-after:avoid}p{margin:0 0 .8rem}\
.turn{border-left:.25rem solid #d1702f;padding-left:.8rem}@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181d}}\
@media print{body{margin:0;max-width:none;color:#000;background:#fff}}";

/// A recap as one self-contained HTML page.
fn page(recap: &Recap, name: &str) -> String {
    let title = escaped(name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for scene in &recap.scenes {
        // The scene of a game that was named at its start has the name of the campaign.
        if !scene.title.is_empty() && scene.title != name {
            let _ = writeln!(page, "<h2>{}</h2>", escaped(&scene.title));
        }
        for paragraph in &scene.paragraphs {
            let class = if paragraph.turning_point { " class=\"turn\"" } else { "" };
            let _ = writeln!(page, "<p{class}>{}</p>", escaped(&rule_text::without_ids(&paragraph.text)));
        }
    }
    if !recap.notes.is_empty() {
        page.push_str("<h2>Notes</h2>\n");
        for note in &recap.notes {
            let _ = writeln!(page, "<p>{}</p>", escaped(note));
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}
