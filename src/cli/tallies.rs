//! The counts of a simulation as text: results with their shares, and what does not count.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use riskbreaker::lab::{Findings, Plan, Rate, Sum, Tally};

use super::call::quoted;
use super::figures::{bar, percent};
use super::row::{Row, Span};
use super::screen::Screen;

/// A share with its interval; `-` of no cases.
pub fn rate_text(rate: &Rate) -> String {
    if rate.of == 0 {
        return "-".to_owned();
    }
    format!("{} ({} to {})", percent(rate.share), percent(rate.low), percent(rate.high))
}

/// Every result that occurred, the most frequent first.
pub fn results(findings: &Findings) -> Vec<String> {
    let mut all: Vec<(u64, String)> = Vec::new();
    for tally in &findings.tallies {
        for (result, count) in &tally.results {
            match all.iter_mut().find(|(_, known)| known == result) {
                Some((sum, _)) => *sum += count,
                None => all.push((*count, result.clone())),
            }
        }
    }
    all.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
    all.into_iter().map(|(_, result)| result).collect()
}

/// The width of the longest bar in columns.
const BAR: usize = 24;
/// The most results that get a row; the rest is counted.
pub const MOST_RESULTS: usize = 20;

/// Prints the share of each result with a bar; with several variants, one below the other.
pub fn result_bars(screen: &mut Screen, findings: &Findings) -> Result<()> {
    let all = results(findings);
    let rates = |result: &str| findings.tallies.iter().map(|tally| tally.rate(result)).collect::<Vec<_>>();
    let most = all.iter().flat_map(|result| rates(result)).map(|rate| rate.share).fold(0.0, f64::max);
    let wide = if screen.width().is_some_and(|width| width < NARROW) { BAR / 3 } else { BAR };
    let several = findings.tallies.len() > 1;
    let mut cells = Vec::new();
    let more = all.len().saturating_sub(MOST_RESULTS);
    for result in &all[..all.len() - more] {
        for (at, (rate, variant)) in rates(result).iter().zip(&findings.plan.variants).enumerate() {
            let mut row = vec![Span::strong(if at == 0 { result } else { "" })];
            if several {
                row.push(Span::faint(&variant.name));
            }
            row.extend([Span::plain(rate_text(rate)), Span::plain(bar(rate.share, most, wide))]);
            cells.push(row);
        }
    }
    screen.columns(2, cells)?;
    if more > 0 {
        screen.row(&Row::at(2).faint(rarer(more)))?;
    }
    Ok(())
}

/// The note about results without a row.
pub fn rarer(more: usize) -> String {
    format!("and {more} rarer results: `--json` lists all, `result` in play.luau can group them")
}

/// A terminal with fewer columns gets short bars.
const NARROW: usize = 100;

/// The number of games of a variant that do not count, in words.
pub fn left_out(findings: &Findings, variant: usize) -> String {
    let tally = &findings.tallies[variant];
    let out = tally.left_out.len() as u64;
    let no_more = if findings.gave_up_on(variant) { " and no more were played" } else { "" };
    format!("{out} of {} games {} left out{no_more}", tally.trials + out, if out == 1 { "is" } else { "are" })
}

/// The call that replays one trial of a variant.
pub fn replay(plan: &Plan, variant: usize, trial: u64, folder: Option<&Path>) -> String {
    let variant = &plan.variants[variant];
    let mut words = vec!["riskbreaker".to_owned(), "sim".into(), plan.scenario.clone()];
    if let Some(folder) = folder {
        words.extend(["--rulesets".into(), folder.display().to_string()]);
    }
    words.extend(["--rules".into(), variant.ruleset.clone()]);
    if !variant.layers.is_empty() {
        words.extend(["--layers".into(), variant.layers.join(",")]);
    }
    for (option, pairs) in [("--set", &variant.set), ("--seat", &variant.seats)] {
        words.extend(pairs.iter().flat_map(|(name, value)| [option.to_owned(), format!("{name}={value}")]));
    }
    let numbers = [("--seed", plan.seed), ("--actions", plan.actions), ("--trial", trial)];
    words.extend(numbers.iter().flat_map(|(option, n)| [(*option).to_owned(), n.to_string()]));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Each seat with each card that it played, by name.
pub fn cards_played(findings: &Findings) -> BTreeSet<(&String, &String)> {
    let by_seat = findings.tallies.iter().flat_map(|tally| &tally.cards);
    by_seat.flat_map(|(seat, cards)| cards.keys().map(move |card| (seat, card))).collect()
}

/// The number of rounds of a series that enough games reached: at least a hundredth of them, and ten if there were as
/// many.
pub fn told_rounds(series: &[Sum], tally: &Tally) -> usize {
    let few = (tally.trials / 100).max(tally.trials.min(10)).max(1);
    series.iter().take_while(|sum| sum.games >= few).count()
}
