//! Writes one row for each game of a simulation, for other programs.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
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

impl GamesFormat {
    /// The format that the extension of a file names.
    ///
    /// # Errors
    ///
    /// A call error: an unknown extension.
    fn of(path: &Path) -> Result<GamesFormat> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Ok(GamesFormat::Lines),
            Some("csv") => Ok(GamesFormat::Csv),
            _ => Err(call_error(format!("{}: the name must end with .jsonl or .csv", path.display()))),
        }
    }
}

/// The number of bytes of the first lines; `None` if there are fewer. In CSV, a line break in quotes is part of a cell.
fn end_of_rows(file: &File, form: GamesFormat, lines: u64) -> std::io::Result<Option<u64>> {
    if lines == 0 {
        return Ok(Some(0));
    }
    let (mut left, mut quoted) = (lines, false);
    for (at, byte) in (1..).zip(BufReader::new(file).bytes()) {
        match byte? {
            b'"' if form == GamesFormat::Csv => quoted = !quoted,
            b'\n' if !quoted => left -= 1,
            _ => {}
        }
        if left == 0 {
            return Ok(Some(at));
        }
    }
    Ok(None)
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
        let form = GamesFormat::of(path)?;
        let file = File::create(path).map_err(|error| unwritable(path, &error))?;
        let mut games = GamesFile { path: path.to_owned(), form, out: BufWriter::new(file), variants };
        if form == GamesFormat::Csv {
            games.line("trial,variant,result,left_out,rounds,actions")?;
        }
        Ok(games)
    }

    /// Opens the file of an earlier call with the rows of its first games. Rows after them are removed: they are of games that the
    /// earlier call has not counted.
    ///
    /// # Errors
    ///
    /// A call error: an unknown extension, a file that cannot be read and written, or one with fewer rows.
    pub fn go_on(path: &Path, variants: Vec<String>, rows: u64) -> Result<GamesFile> {
        let form = GamesFormat::of(path)?;
        let mut file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| unwritable(path, &error))?;
        let lines = if form == GamesFormat::Csv { rows + 1 } else { rows };
        let end = end_of_rows(&file, form, lines).map_err(|error| unwritable(path, &error))?;
        let Some(end) = end else {
            return Err(call_error(format!("{} has fewer than {rows} rows", path.display())));
        };
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|error| unwritable(path, &error))?;
        Ok(GamesFile { path: path.to_owned(), form, out: BufWriter::new(file), variants })
    }

    /// Writes the rows of games to the file, so that it has them even if the program is killed.
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
    fn rows_end_at_line_breaks_outside_of_quotes() {
        let path = std::env::temp_dir().join(format!("riskbreaker-rows-{}.csv", std::process::id()));
        let end = |text: &str, form, lines| {
            std::fs::write(&path, text).unwrap();
            end_of_rows(&File::open(&path).unwrap(), form, lines).unwrap()
        };
        let csv = "trial,result\n1,\"Ann\nwins\"\n2,Bea\n";
        assert_eq!(end(csv, GamesFormat::Csv, 2), Some(26));
        assert_eq!(end(csv, GamesFormat::Csv, 3), Some(csv.len() as u64));
        assert_eq!(end(csv, GamesFormat::Csv, 4), None);
        assert_eq!(end("{\"result\":\"6\\\"\"}\n{}\n", GamesFormat::Lines, 1), Some(17));
        assert_eq!(end("", GamesFormat::Lines, 0), Some(0));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_text_with_a_comma_or_a_quote_is_one_csv_cell() {
        assert_eq!(csv("Ann wins"), "Ann wins");
        assert_eq!(csv("Ann, at last"), "\"Ann, at last\"");
        assert_eq!(csv("\"no\"\none"), "\"\"\"no\"\"\none\"");
    }
}
