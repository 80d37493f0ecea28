//! Writes one row for each game of a simulation, for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use riskbreaker::lab::GameRow;
use serde_json::json;

use super::call_error;
use super::report::unwritable;

/// The format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GamesFormat {
    /// One JSON object per line.
    Lines,
    /// Comma-separated values, with a line of headings.
    Csv,
}

/// A file of game rows.
pub struct GamesFile {
    path: PathBuf,
    form: GamesFormat,
    out: BufWriter<File>,
    /// The names of the variants.
    variants: Vec<String>,
}

impl GamesFile {
    /// Creates or truncates the file.
    ///
    /// # Errors
    ///
    /// A call error: an unknown extension, or a file that cannot be written.
    pub fn create(path: &Path, variants: Vec<String>) -> Result<GamesFile> {
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => GamesFormat::Lines,
            Some("csv") => GamesFormat::Csv,
            _ => return Err(call_error(format!("{}: the name must end with .jsonl or .csv", path.display()))),
        };
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let mut games = GamesFile { path: path.to_owned(), form, out: BufWriter::new(file), variants };
        if form == GamesFormat::Csv {
            games.line("trial,variant,result,left_out,rounds,actions")?;
        }
        Ok(games)
    }

    /// Writes the rows of games.
    pub fn add(&mut self, rows: &[GameRow]) -> Result<()> {
        for row in rows {
            let variant = self.variants.get(row.variant).map_or("", String::as_str);
            let line = match self.form {
                GamesFormat::Lines => json!({
                    "trial": row.trial, "variant": variant, "result": row.result, "left_out": row.left_out,
                    "rounds": row.rounds, "actions": row.actions,
                })
                .to_string(),
                GamesFormat::Csv => {
                    let texts = [variant, row.result.as_deref().unwrap_or(""), row.left_out.as_deref().unwrap_or("")];
                    let [variant, result, left_out] = texts.map(csv);
                    format!("{},{variant},{result},{left_out},{},{}", row.trial, row.rounds, row.actions)
                }
            };
            self.line(&line)?;
        }
        Ok(())
    }

    /// Flushes the file.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| unwritable(&self.path, &error))
    }

    fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}").map_err(|error| unwritable(&self.path, &error))
    }
}

/// A text as a cell of comma-separated values (RFC 4180).
fn csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_a_comma_or_a_quote_is_one_csv_cell() {
        assert_eq!(csv("Ann wins"), "Ann wins");
        assert_eq!(csv("Ann, at last"), "\"Ann, at last\"");
        assert_eq!(csv("\"no\"\none"), "\"\"\"no\"\"\none\"");
    }
}
