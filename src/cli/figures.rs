//! Numbers for output: fractions, percentages, bars, pictures.

use std::fmt::{Display, Write as _};

use riskbreaker::Value;
use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{Chance, Odds};
pub use riskbreaker::lab::{chance_of, fraction, fraction_of, percent, percent_of, share_within};
use serde_json::{Value as Json, json};

/// A number with its noun: `1 entry`, `2 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// A change with its sign.
pub fn change(by: &Fraction) -> String {
    let text = fraction(by);
    let exact = if text.contains('/') { format!(" ({text})") } else { String::new() };
    format!("{:+.3}{exact}", float(by))
}

/// An exact number for JSON.
pub fn chance_json(chance: &Fraction) -> Json {
    json!(Chance::exactly(chance))
}

/// A chance for JSON: the fraction only if it is exact, else the interval.
pub fn chance_of_json(odds: &Odds, chance: &Fraction) -> Json {
    json!(odds.stated(chance))
}

/// Converts a value to JSON.
pub fn plain_json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(yes) => json!(yes),
        Value::Int(n) => json!(n),
        Value::List(items) => items.iter().map(plain_json).collect(),
        Value::Map(items) => items.iter().map(|(key, item)| (key.to_string(), plain_json(item))).collect(),
        other => json!(other.to_string()),
    }
}

/// A bar for a share, in proportion to the largest share.
pub fn bar(share: f64, most: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = if most > 0.0 { (share / most * width as f64 * 8.0).round() as usize } else { 0 };
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// A bar of full width for a share of the whole, with a light rest.
pub fn full_bar(share: f64, width: usize) -> String {
    let full = ((share * width as f64).round() as usize).min(width);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

/// Escapes a text for HTML. Texts of rules and players cannot start a tag, control a terminal or change the direction
/// of writing.
pub fn escaped(text: &str) -> String {
    super::row::harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A bar chart as SVG, each bar with its label and figure.
pub fn svg_bars(title: &str, rows: &[(String, f64, String)]) -> String {
    const ROW: usize = 22;
    let letters = rows.iter().map(|(label, ..)| label.chars().count()).max().unwrap_or(0).min(60);
    let left = letters * 7 + 16;
    let (wide, tall) = (left + 420, rows.len() * ROW + 44);
    let most = rows.iter().map(|(_, share, _)| *share).fold(0.0, f64::max);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {tall}\" width=\"{wide}\" height=\"{tall}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<rect width=\"{wide}\" height=\"{tall}\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"22\" font-weight=\"600\" fill=\"#222\">{}</text>\n",
        escaped(title)
    );
    for (at, (label, share, note)) in rows.iter().enumerate() {
        let top = 36 + at * ROW;
        let long = if most > 0.0 { share / most * 300.0 } else { 0.0 };
        let label: String = label.chars().take(60).collect();
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#333\">{}</text>\
             <rect x=\"{left}\" y=\"{top}\" width=\"{long:.1}\" height=\"16\" rx=\"2\" fill=\"#4a6fa5\"/>\
             <text x=\"{:.1}\" y=\"{}\" fill=\"#555\">{}</text>",
            left - 8,
            top + 13,
            escaped(&label),
            left as f64 + long + 6.0,
            top + 13,
            escaped(note)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The likeliest outcomes of a card, at most `most` of them, and the number of further ones.
pub fn likeliest(odds: &Odds, most: usize) -> Vec<String> {
    let lines = odds.lines();
    let told = lines.iter().zip(&odds.outcomes).take(most);
    let mut parts: Vec<String> =
        told.map(|(line, (_, chance))| format!("{} {line}", chance_of(odds, chance))).collect();
    if lines.len() > most {
        parts.push(format!("{} more", lines.len() - most));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_chance_is_not_shown_as_zero() {
        assert_eq!(bar(0.0, 1.0, 8), "");
        assert_eq!(bar(1e-9, 1.0, 8), "▏");
        assert_eq!(bar(1.0, 1.0, 3), "███");
    }
}
