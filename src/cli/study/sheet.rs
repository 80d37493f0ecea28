//! What the report of a study is written to: a screen, or a page with pictures.

use anyhow::Result;
use riskbreaker::lab::{Difference, Rate};

use super::super::row::Row;
use super::super::screen::Screen;

/// A place for a report.
pub trait Sheet {
    /// The line above all else.
    fn title(&mut self, text: &str) -> Result<()>;
    /// The name of a part, where a report is long enough to have such.
    fn heading(&mut self, text: &str) -> Result<()>;
    /// A sentence that explains what follows.
    fn note(&mut self, text: &str) -> Result<()>;
    /// A sentence with a result.
    fn plain(&mut self, text: &str) -> Result<()>;
    /// A call of the program.
    fn call(&mut self, text: &str) -> Result<()>;
    /// A table with a heading.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> Result<()>;
    /// A picture of figures that are in a table as well, where there can be one.
    fn picture(&mut self, picture: &Picture) -> Result<()>;
}

/// Figures with their intervals, each with its label.
pub enum Picture {
    /// Shares, 0 to 1.
    Shares(Vec<(String, Rate)>),
    /// Differences between shares, -1 to 1.
    Differences(Vec<(String, Difference)>),
}

impl Sheet for Screen {
    fn title(&mut self, text: &str) -> Result<()> {
        Ok(self.row(&Row::at(0).strong(text))?)
    }

    fn heading(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, text: &str) -> Result<()> {
        Ok(self.row(&Row::prose(0).faint(text))?)
    }

    fn plain(&mut self, text: &str) -> Result<()> {
        Ok(self.row(&Row::prose(0).plain(text))?)
    }

    fn call(&mut self, text: &str) -> Result<()> {
        Ok(self.row(&Row::at(2).plain(text))?)
    }

    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> Result<()> {
        Ok(Screen::table(self, header, rows)?)
    }

    fn picture(&mut self, _: &Picture) -> Result<()> {
        Ok(())
    }
}
