//! The odds of dice: the chance of each total, and one roll compared with another.

use std::ops::RangeBounds;
use std::process::ExitCode;

use anyhow::Result;
use riskbreaker::dice::{Dice, Distribution};
use riskbreaker::dice::{Fraction, float, sum};
use riskbreaker::lab::Chance;
use serde_json::{Value as Json, json};

use super::super::figures::{bar, chance_json, fraction, percent, svg_bars};
use super::super::report::unwritable;
use super::super::row::Row;
use super::super::screen::Screen;
use super::super::{call_error, file};
use super::Args;
use super::show::{table_of_chances, tell_remaining};

/// The number of totals up to which all are listed; of more, the unlikely ends are cut.
const FEW: usize = 40;
/// The total chance of an end that is cut: once in 10,000 rolls.
const TAIL: f64 = 1e-4;
/// The number of totals above which several share one row.
const MOST_ROWS: usize = 100;
/// The number of rows if several totals share one.
const ROWS: usize = 50;
/// The most totals that are listed as JSON.
const MOST_LISTED: usize = 20_000;

/// A row of a table: a range of totals.
struct Band {
    low: i64,
    high: i64,
    share: TotalChance,
}

/// The chance of some totals. The contribution of dice that exploded too often to be listed may be missing.
struct TotalChance {
    chance: Fraction,
    /// The upper bound of the missing part.
    missing: Fraction,
}

impl TotalChance {
    fn of(totals: &Distribution, range: impl RangeBounds<i64> + Clone) -> TotalChance {
        match totals.exactly(range.clone()) {
            Some(chance) => TotalChance { chance, missing: Fraction::ZERO },
            None => TotalChance { chance: totals.share(range), missing: totals.remaining() },
        }
    }

    /// The fraction, if it is exact and short enough to read.
    fn fraction(&self) -> String {
        if self.missing.is_zero() { fraction(&self.chance) } else { String::new() }
    }

    /// The share as JSON: the fraction only if it is exact, else the bounds.
    fn json(&self) -> Json {
        if self.missing.is_zero() {
            return chance_json(&self.chance);
        }
        json!(Chance::bounded(&self.chance, &(&self.chance + &self.missing)))
    }
}

/// The rows of a table, and the totals that were cut off below and above them.
struct TotalsTable {
    bands: Vec<Band>,
    /// The number of totals that were cut off, and the total at that end of the rows.
    below: Option<(usize, i64)>,
    above: Option<(usize, i64)>,
}

impl TotalsTable {
    fn of(totals: &Distribution) -> TotalsTable {
        let all: Vec<i64> = totals.totals().collect();
        let (mut from, mut to) = (0, all.len());
        if all.len() > FEW {
            from = all.partition_point(|total| float(&totals.at_most(*total)) < TAIL);
            let rest = totals.remaining();
            to = all.partition_point(|total| float(&(totals.at_least(*total) + &rest)) >= TAIL).max(from + 1);
        }
        let shown = &all[from..to];
        let each = if shown.len() > MOST_ROWS { shown.len().div_ceil(ROWS) } else { 1 };
        let band = |part: &[i64]| {
            let (low, high) = (part[0], part[part.len() - 1]);
            Band { low, high, share: TotalChance::of(totals, low..=high) }
        };
        TotalsTable {
            bands: shown.chunks(each).map(band).collect(),
            below: (from > 0).then(|| (from, all[from])),
            above: (to < all.len()).then(|| (all.len() - to, all[to - 1])),
        }
    }
}

impl Band {
    fn name(&self) -> String {
        if self.low == self.high { self.low.to_string() } else { format!("{} to {}", self.low, self.high) }
    }
}

pub fn of_dice(dice: &Dice, args: &Args) -> Result<ExitCode> {
    let totals = dice.distribution().map_err(|error| call_error(error.to_string()))?;
    let mut screen = Screen::stdout(args.json);
    let table = TotalsTable::of(&totals);
    if let Some(path) = &args.svg {
        let row = |band: &Band| (band.name(), float(&band.share.chance), percent(float(&band.share.chance)));
        let rows: Vec<(String, f64, String)> = table.bands.iter().map(row).collect();
        file::replace(path, svg_bars(&dice.to_string(), &rows)).map_err(|error| unwritable(path, &error))?;
    }
    let mut wanted: Vec<(&str, String, TotalChance)> = Vec::new();
    if let Some(n) = args.at_least {
        wanted.push(("at_least", format!("{n} or more"), TotalChance::of(&totals, n..)));
    }
    if let Some(n) = args.at_most {
        wanted.push(("at_most", format!("{n} or less"), TotalChance::of(&totals, ..=n)));
    }
    if args.json {
        screen.object(&dice_json(dice, &totals, &wanted))?;
        return Ok(ExitCode::SUCCESS);
    }
    if wanted.is_empty() {
        show_table(&mut screen, &totals, &table)?;
    }
    for (_, what, share) in &wanted {
        let text = format!("{dice}: {what}  {}  {}", percent(float(&share.chance)), share.fraction());
        screen.row(&Row::at(0).plain(text.trim_end()))?;
    }
    let spread = float(&totals.variance()).sqrt();
    screen.row(&Row::at(0).faint(format!(
        "{dice}: mean {:.3}, standard deviation {spread:.3}, most likely {}",
        float(&totals.mean()),
        totals.mode()
    )))?;
    let asked_exactly = !wanted.is_empty() && wanted.iter().all(|(.., share)| share.missing.is_zero());
    if !asked_exactly {
        tell_remaining(&mut screen, &totals.remaining(), "")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The width of the longest bar in columns: less on a narrow terminal.
fn longest_bar(screen: &Screen) -> usize {
    if screen.width().is_some_and(|width| width < 80) { 12 } else { 24 }
}

fn show_table(screen: &mut Screen, totals: &Distribution, table: &TotalsTable) -> Result<()> {
    let most = table.bands.iter().map(|band| float(&band.share.chance)).fold(0.0, f64::max);
    let wide = longest_bar(screen);
    let row = |band: &Band| {
        let share = float(&band.share.chance);
        let or_more = percent(float(&TotalChance::of(totals, band.low..).chance));
        vec![band.name(), percent(share), band.share.fraction(), or_more, bar(share, most, wide)]
    };
    let rows = table.bands.iter().map(row).collect();
    table_of_chances(screen, &["total", "chance", "exactly", "or more", ""], rows)?;
    let mut cut = Vec::new();
    if let Some((count, from)) = table.below {
        cut.push(format!("{count} totals below {from}: {} together", percent(float(&totals.below(from)))));
    }
    if let Some((count, to)) = table.above {
        cut.push(format!("{count} totals above {to}: {} together", percent(float(&totals.at_least(to + 1)))));
    }
    if !cut.is_empty() {
        let text = format!("left out: {}; `--at-least N` and `--at-most N` tell any of them", cut.join("; "));
        screen.row(&Row::at(0).faint(text))?;
    }
    Ok(())
}

/// Prints the chances of dice against other dice: above, equal, below.
pub fn of_dice_against(dice: &Dice, other: &str, args: &Args) -> Result<ExitCode> {
    if args.at_least.is_some() || args.at_most.is_some() {
        return Err(call_error("`--against` compares two rolls; `--at-least` and `--at-most` ask about one"));
    }
    let other = Dice::parse(other).map_err(|error| call_error(format!("{other}: {error}")))?;
    let totals = |dice: &Dice| dice.distribution().map_err(|error| call_error(error.to_string()));
    let (own, its) = (totals(dice)?, totals(&other)?);
    let chances = own.against(&its);
    let remaining = Fraction::from(1) - sum(&chances);
    let chances = chances.map(|chance| TotalChance { chance, missing: remaining.clone() });
    let mut screen = Screen::stdout(args.json);
    if args.json {
        screen.object(&json!({
            "dice": dice.to_string(), "against": other.to_string(), "exact": remaining.is_zero(),
            "above": chances[0].json(), "equal": chances[1].json(), "below": chances[2].json(),
            "remaining": chance_json(&remaining),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let words = [format!("{dice} above {other}"), "both equal".to_string(), format!("{dice} below {other}")];
    let rows = words.into_iter().zip(&chances).map(|(word, share)| {
        vec![
            word,
            percent(float(&share.chance)),
            share.fraction(),
            bar(float(&share.chance), 1.0, longest_bar(&screen)),
        ]
    });
    screen.table(&["", "chance", "exactly", ""], rows.collect())?;
    tell_remaining(&mut screen, &remaining, "")?;
    Ok(ExitCode::SUCCESS)
}

fn dice_json(dice: &Dice, totals: &Distribution, wanted: &[(&str, String, TotalChance)]) -> Json {
    let count = totals.totals().len();
    let listed = if count > MOST_LISTED { 0 } else { count };
    let moment = |number: &Fraction| match totals.is_exact() {
        true => chance_json(number),
        false => json!(Chance::about(float(number))),
    };
    let list: Vec<Json> = totals
        .iter()
        .take(listed)
        .map(|(total, _)| json!({ "total": total, "chance": TotalChance::of(totals, total..=total).json() }))
        .collect();
    let mut object = json!({
        "dice": dice.to_string(),
        "exact": totals.is_exact(),
        "mean": moment(&totals.mean()),
        "variance": moment(&totals.variance()),
        "mode": totals.mode(),
        "remaining": chance_json(&totals.remaining()),
        "totals": list,
        "totals_left_out": count - listed,
    });
    for (name, _, share) in wanted {
        object[*name] = share.json();
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(dice: &str) -> TotalsTable {
        TotalsTable::of(&Dice::parse(dice).unwrap().distribution().unwrap())
    }

    #[test]
    fn long_tails_are_cut_and_many_totals_are_grouped() {
        let few = table("5d6");
        assert_eq!((few.bands.len(), few.below, few.above), (26, None, None));
        let many = table("100d6");
        assert!((30..=ROWS).contains(&many.bands.len()), "{}", many.bands.len());
        assert!(many.below.is_some() && many.above.is_some());
        let shown = sum(many.bands.iter().map(|band| &band.share.chance));
        assert!(float(&shown) > 0.9998 && float(&shown) < 1.0);
        let large = table("d1000000");
        assert_eq!(large.bands.len(), ROWS);
        assert!(
            large.bands.windows(2).all(|pair| float(&pair[0].share.chance) > 0.0 && pair[0].name() != pair[1].name())
        );
        let open = table("d6!");
        assert!(open.bands.len() < 40 && open.above.is_some());
    }
}
