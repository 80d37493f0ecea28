//! The report of a study as one self-contained HTML page.

use std::fmt::Write as _;

use anyhow::Result;
use riskbreaker::lab::Difference;

use super::super::figures::escaped;
use super::super::page::{STYLE, pictures};
use super::sheet::{Chart, ReportOutput};

/// An HTML page for the report.
pub struct Html {
    body: String,
    title: String,
}

impl Html {
    pub fn new() -> Html {
        Html { body: String::new(), title: String::new() }
    }

    /// The complete page.
    pub fn page(self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{}</title><style>{STYLE}</style></head><body>\n{}\
             </body></html>\n",
            self.title, self.body
        )
    }

    fn element(&mut self, open: &str, text: &str, close: &str) -> Result<()> {
        Ok(writeln!(self.body, "{open}{}{close}", escaped(text))?)
    }
}

impl ReportOutput for Html {
    fn title(&mut self, text: &str) -> Result<()> {
        self.title = escaped(text);
        self.element("<h1>", text, "</h1>")
    }

    fn heading(&mut self, text: &str) -> Result<()> {
        self.element("<h2>", text, "</h2>")
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.element("<p class=\"note\">", text, "</p>")
    }

    fn plain(&mut self, text: &str) -> Result<()> {
        self.element("<p>", text, "</p>")
    }

    fn call(&mut self, text: &str) -> Result<()> {
        self.element("<p><code>", text, "</code></p>")
    }

    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) -> Result<()> {
        self.body.push_str("<table><tr>");
        for heading in header {
            write!(self.body, "<th>{}</th>", escaped(heading))?;
        }
        self.body.push_str("</tr>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for cell in row {
                // A figure and its sign stay in one line.
                write!(self.body, "<td>{}</td>", escaped(&cell).replace(" %", "&nbsp;%"))?;
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</table>\n");
        Ok(())
    }

    fn picture(&mut self, picture: &Chart) -> Result<()> {
        self.body.push_str(&pictures(|wide| drawn(picture, wide)));
        Ok(())
    }
}

/// The height of a line in a picture.
const LINE: f64 = 40.0;

/// Draws a picture of this width. Returns it and its height: each figure with its interval, below its label.
fn drawn(picture: &Chart, wide: f64) -> (String, usize) {
    let (left, long) = (8.0, wide - 24.0);
    // Shares range from 0 to 1, differences as far as they extend in either direction.
    let (from, to) = match picture {
        Chart::Shares(_) => (0.0, 1.0),
        Chart::Differences(rows) => {
            let reach = rows.iter().map(|(_, found)| found.at_most()).filter(|reach| reach.is_finite());
            let reach = reach.fold(0.05, f64::max).min(1.0);
            (-reach, reach)
        }
    };
    let x = |share: f64| left + long * ((share.clamp(from, to) - from) / (to - from));
    let rows: Vec<(String, f64, f64, f64)> = match picture {
        Chart::Shares(rows) => rows
            .iter()
            .filter(|(_, rate)| rate.of > 0)
            .map(|(label, rate)| (label.clone(), rate.share, rate.low, rate.high))
            .collect(),
        Chart::Differences(rows) => {
            let row = |(label, found): &(String, Difference)| (label.clone(), found.average, found.low(), found.high());
            rows.iter().map(row).collect()
        }
    };
    let (mut body, zero) = (String::new(), x(0.0));
    let unit = |mark: f64| match picture {
        Chart::Shares(_) => format!("{:.0} %", 100.0 * mark),
        Chart::Differences(_) if mark == 0.0 => "0".to_owned(),
        Chart::Differences(_) => format!("{:+.0} of 100 games", 100.0 * mark),
    };
    for mark in [from, (from + to) / 2.0, to] {
        let anchor = if mark == from {
            "start"
        } else if mark == to {
            "end"
        } else {
            "middle"
        };
        let _ = write!(
            body,
            "<text x=\"{:.1}\" y=\"12\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"#5b6272\">{}</text>",
            x(mark),
            unit(mark)
        );
    }
    let _ = write!(body, "<line x1=\"{zero:.1}\" x2=\"{zero:.1}\" y1=\"16\" y2=\"100%\" stroke=\"#9aa1ae\"/>");
    let mut top = 20.0;
    for (label, share, low, high) in rows {
        let (start, length) = (x(share).min(zero), (x(share) - zero).abs());
        let y = top + 26.0;
        let _ = write!(
            body,
            "<text class=\"over\" x=\"{}\" y=\"{}\">{}</text>\
             <rect x=\"{start:.1}\" y=\"{}\" width=\"{length:.1}\" height=\"12\" rx=\"2\" fill=\"#3f6fb0\" opacity=\".85\"/>\
             <path d=\"M{:.1} {y}H{:.1}\" stroke=\"#1f2430\" stroke-width=\"1.6\"/>",
            left + 5.0,
            top + 13.0,
            escaped(&label),
            top + 20.0,
            x(low),
            x(high)
        );
        top += LINE;
    }
    (body, top as usize + 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use riskbreaker::lab::Rate;

    #[test]
    fn text_of_rules_is_escaped_in_the_report() {
        let mut page = Html::new();
        page.title("<script>").unwrap();
        page.table(&["a<b"], vec![vec!["</td>&".into()]]).unwrap();
        page.picture(&Chart::Shares(vec![("<svg>".into(), Rate::of(1, 4))])).unwrap();
        let text = page.page();
        assert!(!text.contains("<script>") && !text.contains("</td>&") && !text.contains("<svg>"), "{text}");
        assert!(text.contains("<td>&lt;/td&gt;&amp;</td>") && text.contains("&lt;svg&gt;"), "{text}");
    }
}
