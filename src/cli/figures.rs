//! Numbers for output: fractions, percentages, bars, pictures.

use std::fmt::{Display, Write as _};

use riskbreaker::Value;
use riskbreaker::dice::{Fraction, float};
use riskbreaker::lab::{Chance, Odds};
use serde_json::{Value as Json, json};

/// A longer fraction is printed in percent only; `--json` has it in full.
const LONGEST_FRACTION: usize = 24;

/// A number with what it counts: `1 entry`, `2 entries`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

/// `12.35 %` of a fraction. A chance above zero is never printed as zero, however small it is.
pub fn percent_of(chance: &Fraction) -> String {
    match float(chance) {
        0.0 if !chance.is_zero() => "under 1e-300 %".into(),
        share => percent(share),
    }
}

/// `12.35 %`. A chance above zero is never printed as zero.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.005 => format!("{p:.1e} %"),
        p => format!("{p:.2} %"),
    }
}

/// The fraction, if it is short enough.
pub fn fraction(chance: &Fraction) -> String {
    let text = chance.to_string();
    if text.len() > LONGEST_FRACTION { String::new() } else { text }
}

/// A number with its sign, as a change.
pub fn change(by: &Fraction) -> String {
    let text = fraction(by);
    let exact = if text.contains('/') { format!(" ({text})") } else { String::new() };
    format!("{:+.3}{exact}", float(by))
}

/// A number that is known exactly, for machines.
pub fn chance_json(chance: &Fraction) -> Json {
    json!(Chance::exactly(chance))
}

/// A chance of some odds: `35.00 %` if it is exact, else with the interval, `35.0 % (34.1 to 35.9)`, or `under 0.04 %` where the
/// interval reaches down to nothing.
pub fn chance_of(odds: &Odds, chance: &Fraction) -> String {
    if odds.estimate.is_none() {
        return percent_of(chance);
    }
    let (low, high) = odds.interval(chance);
    share_within(float(chance), (low, high))
}

/// A share of random plays, in percent, with its interval. The bounds are rounded outward.
pub fn share_within(share: f64, (low, high): (f64, f64)) -> String {
    let (share, low, high) = (share * 100.0, low * 100.0, high * 100.0);
    let digits = [1, 2, 3].into_iter().find(|digits| {
        let unit = 0.1_f64.powi(*digits);
        low >= unit && 100.0 - high >= unit
    });
    match digits {
        Some(digits) => {
            let places = digits as usize;
            format!("{share:.places$} % ({} to {})", rounded(low, digits, false), rounded(high, digits, true))
        }
        None if high >= 100.0 && low <= 0.0 => format!("{share:.1} % (0 to 100)"),
        None if low < 0.1 => format!("under {} %", rounded(high, first_digit(high), true)),
        None => format!("over {} %", rounded(low, first_digit(100.0 - low), false)),
    }
}

/// The place of the first digit behind the point that is not 0; 1 for numbers from 0.1 on.
fn first_digit(number: f64) -> i32 {
    (1..=12).find(|digits| number >= 0.1_f64.powi(*digits)).unwrap_or(12)
}

/// A number with so many digits behind the point, rounded up or down.
fn rounded(number: f64, digits: i32, up: bool) -> String {
    let scaled = number * 10_f64.powi(digits);
    // A number that is written with these digits stays: the last place of the product does not count.
    let near = scaled.round();
    let whole = match (scaled - near).abs() < 1e-9 * near.abs().max(1.0) {
        true => near,
        false if up => scaled.ceil(),
        false => scaled.floor(),
    };
    format!("{:.*}", digits as usize, whole / 10_f64.powi(digits))
}

/// The fraction of a chance, if the odds are exact and it is short enough.
pub fn fraction_of(odds: &Odds, chance: &Fraction) -> String {
    if odds.is_exact() { fraction(chance) } else { String::new() }
}

/// A chance of some odds for machines: the fraction only if it is exact, else the interval.
pub fn chance_of_json(odds: &Odds, chance: &Fraction) -> Json {
    json!(odds.stated(chance))
}

/// A value as JSON says it.
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

/// A bar for a share of the longest.
pub fn bar(share: f64, most: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = if most > 0.0 { (share / most * width as f64 * 8.0).round() as usize } else { 0 };
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// A bar of full width for a share of the whole: what is missing is shown as well.
pub fn full_bar(share: f64, width: usize) -> String {
    let full = ((share * width as f64).round() as usize).min(width);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

/// A text for a page: rules and players write it, so nothing in it can begin a tag, steer a terminal or turn the line round.
pub fn escaped(text: &str) -> String {
    super::row::harmless(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A picture of bars, each with its label and its figure.
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

/// The likeliest outcomes of a card, at most so many of them, and how many more there are.
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
    fn an_interval_is_rounded_outward() {
        let told = |share, low, high| share_within(share, (low, high));
        assert_eq!(told(0.35, 0.341_2, 0.358_9), "35.0 % (34.1 to 35.9)");
        assert_eq!(told(0.00005, 0.000_000_25, 0.000_371_4), "under 0.04 %");
        assert_eq!(told(0.0, 0.0, 0.000_264_9), "under 0.03 %");
        assert_eq!(told(0.0, 0.0, 0.232), "under 23.2 %");
        assert_eq!(told(0.0004, 0.000_13, 0.000_95), "0.04 % (0.01 to 0.10)");
        assert_eq!(told(1.0, 0.999_735, 1.0), "over 99.97 %");
        assert_eq!(told(0.0, 0.0, 1.0), "0.0 % (0 to 100)");
        assert_eq!(told(0.001, 0.001, 0.002), "0.1 % (0.1 to 0.2)");
    }

    #[test]
    fn what_is_not_nothing_does_not_show_as_nothing() {
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(0.5), "50.00 %");
        assert_eq!(percent(1e-7), "1.0e-5 %");
        let tiny = riskbreaker::dice::ratio(1, 10).pow(400);
        assert_eq!((percent_of(&tiny), percent_of(&Fraction::ZERO)), ("under 1e-300 %".into(), "0.00 %".into()));
        assert_eq!(bar(0.0, 1.0, 8), "");
        assert_eq!(bar(1e-9, 1.0, 8), "▏");
        assert_eq!(bar(1.0, 1.0, 3), "███");
    }
}
