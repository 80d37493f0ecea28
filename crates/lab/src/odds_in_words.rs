//! Odds in words: chances in percent, assumed answers, and how reliable the odds are.

use super::odds::Odds;
use riskbreaker_dice::{Fraction, float};
use riskbreaker_state::readable_name;

/// The most characters of a fraction in text output. A longer one is shown in percent only; `--json` has it in full.
const LONGEST_FRACTION: usize = 24;

/// Formats a fraction as a percentage, such as `12.35 %`. A chance above zero is never printed as zero.
pub fn percent_of(chance: &Fraction) -> String {
    match float(chance) {
        0.0 if !chance.is_zero() => "under 1e-300 %".into(),
        share => percent(share),
    }
}

/// Formats a share as a percentage, such as `12.35 %`. A share above zero is never printed as zero.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.005 => format!("{p:.1e} %"),
        p => format!("{p:.2} %"),
    }
}

/// The fraction as text; empty if it is too long.
pub fn fraction(chance: &Fraction) -> String {
    let text = chance.to_string();
    if text.len() > LONGEST_FRACTION { String::new() } else { text }
}

/// Formats a chance: `35.00 %` if it is exact, else with the interval, `35.0 % (34.1 to 35.9)`, or `under 0.04 %` if
/// the lower bound is zero.
pub fn chance_of(odds: &Odds, chance: &Fraction) -> String {
    if odds.estimate.is_none() {
        return percent_of(chance);
    }
    let (low, high) = odds.interval(chance);
    share_within(float(chance), (low, high))
}

/// Formats a share of random plays in percent with its interval. The bounds are rounded outward.
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

/// The place of the first nonzero digit after the decimal point; 1 for numbers from 0.1 on.
fn first_digit(number: f64) -> i32 {
    (1..=12).find(|digits| number >= 0.1_f64.powi(*digits)).unwrap_or(12)
}

/// Formats a number with this number of decimals, rounded up or down.
fn rounded(number: f64, digits: i32, up: bool) -> String {
    let scaled = number * 10_f64.powi(digits);
    // A number that has exactly these decimals stays: the last digit of the product is rounding noise.
    let near = scaled.round();
    let whole = match (scaled - near).abs() < 1e-9 * near.abs().max(1.0) {
        true => near,
        false if up => scaled.ceil(),
        false => scaled.floor(),
    };
    format!("{:.*}", digits as usize, whole / 10_f64.powi(digits))
}

/// The fraction of a chance as text; empty if the odds are not exact or it is too long.
pub fn fraction_of(odds: &Odds, chance: &Fraction) -> String {
    if odds.is_exact() { fraction(chance) } else { String::new() }
}

/// The most assumed answers that are listed below a table.
const MOST_ASSUMED: usize = 16;

impl Odds {
    /// The assumed answers: a line for each question, with its answers by their source.
    pub fn answers_in_words(&self) -> Vec<String> {
        let mut lines: Vec<(String, String)> = Vec::new();
        for one in &self.answers {
            let (asked, source) = (format!("{} {}", one.who, readable_name(&one.topic)), format!(" ({})", one.source));
            match lines.iter_mut().find(|(head, tail)| *head == asked && tail.ends_with(&source)) {
                Some((_, tail)) => {
                    tail.truncate(tail.len() - source.len());
                    tail.push_str(&format!(" or {}{source}", one.answer));
                }
                None => lines.push((asked, format!("{}{source}", one.answer))),
            }
        }
        let more = lines.len().saturating_sub(MOST_ASSUMED);
        lines.truncate(MOST_ASSUMED);
        let mut lines: Vec<String> = lines.into_iter().map(|(head, tail)| format!("{head}: {tail}")).collect();
        if more > 0 {
            lines.push(format!("and answers to {more} more questions; `--json` lists them"));
        }
        lines
    }

    /// Says how reliable the odds are: exact, or why not.
    pub fn proof_in_words(&self) -> String {
        match &self.estimate {
            Some(estimate) => {
                let why = if estimate.interrupted { "it was interrupted" } else { estimate.why.as_str() };
                format!(
                    "an estimate, not exact: {why}; from {} random plays, the intervals hold in 99 of 100 cases",
                    estimate.samples
                )
            }
            None if self.guessed => {
                "not exact: the best answer was chosen although some paths were not followed to their end".into()
            }
            None if self.is_exact() => match self.ways {
                1 => "exact, over one path".into(),
                ways => format!("exact, over {ways} paths"),
            },
            None => {
                let remaining = percent_of(&self.remaining);
                format!("not exact: {remaining} remains that was not followed to its end")
            }
        }
    }
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
    fn a_small_chance_is_not_shown_as_zero() {
        assert_eq!(percent(0.0), "0.00 %");
        assert_eq!(percent(0.5), "50.00 %");
        assert_eq!(percent(1e-7), "1.0e-5 %");
        let tiny = riskbreaker_dice::ratio(1, 10).pow(400);
        assert_eq!((percent_of(&tiny), percent_of(&Fraction::ZERO)), ("under 1e-300 %".into(), "0.00 %".into()));
    }
}
