//! The output of a study's report: a screen, or a page with pictures.

use anyhow::Result;
use riskbreaker::lab::{Difference, Rate};

use super::super::row::Row;
use super::super::screen::Screen;

/// A sink for a report.
pub trait ReportOutput {
    /// Writes the title.
    fn title(&mut self, text: &str) -> Result<()>;
    /// Writes the heading of a part.
    fn heading(&mut self, text: &str) -> Result<()>;
    /// Writes a sentence that explains what follows.
    fn note(&mut self, text: &str) -> Result<()>;
    /// Writes a sentence with a result.
    fn plain(&mut self, text: &str) -> Result<()>;
    /// Writes a command line.
    fn call(&mut self, text: &str) -> Result<()>;
    /// Writes a table with a header.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> Result<()>;
    /// Draws a picture of figures that are also in a table, if the output has pictures.
    fn picture(&mut self, picture: &Chart) -> Result<()>;
}

/// Figures with their intervals, each with its label.
pub enum Chart {
    /// Shares, 0 to 1.
    Shares(Vec<(String, Rate)>),
    /// Differences between shares, -1 to 1.
    Differences(Vec<(String, Difference)>),
}

impl ReportOutput for Screen {
    fn title(&mut self, text: &str) -> Result<()> {
        Ok(self.row(&Row::at(0).strong(text))?)
    }

    fn heading(&mut self, text: &str) -> Result<()> {
        self.row(&Row::default())?;
        Ok(self.row(&Row::at(0).strong(text))?)
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

    fn picture(&mut self, _: &Chart) -> Result<()> {
        Ok(())
    }
}
