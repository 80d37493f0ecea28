//! The contents of a study's report, for any output.

use anyhow::Result;
use riskbreaker::lab::{CardWorth, Difference, Percentile, Rate, Spread, StudyFigures};
use riskbreaker::state::readable_name;

use super::super::figures::percent;
use super::super::tallies::rate_text;
use super::job::StudyJob;
use super::parts::StudyFindings;
use super::sheet::{Chart, ReportOutput};

/// The most trials that are named individually.
const NAMED: usize = 5;

/// Writes the report: each figure with its interval, each part with an explanation.
pub fn report(sheet: &mut dyn ReportOutput, asked: &StudyJob, found: &StudyFindings) -> Result<()> {
    let (study, figures) = (&asked.study, &found.figures);
    sheet.title(&format!("{} · {} games · seed {}", asked.scenario, figures.games, study.seed))?;
    sheet.note("Each figure has its 95 % confidence interval.")?;
    results(sheet, asked, figures)?;
    fairness(sheet, found)?;
    questions(sheet, found)?;
    cards(sheet, found)?;
    never_better(sheet, found)?;
    drama(sheet, figures)?;
    ladder(sheet, found)?;
    for missing in &figures.missing {
        sheet.plain(&format!("Missing: {missing}."))?;
    }
    if !study.bans.is_empty() {
        sheet
            .plain(&format!("A banned card was used {} times since nothing else was open.", found.recorded.forced()))?;
    }
    found.notes.iter().try_for_each(|text| sheet.plain(text))
}

/// Writes the results of games, their length, and those without an end.
fn results(sheet: &mut dyn ReportOutput, asked: &StudyJob, figures: &StudyFigures) -> Result<()> {
    let shares: Vec<(String, Rate)> = figures.results.iter().map(|(result, rate)| (result.clone(), *rate)).collect();
    let results = figures.results.iter().map(|(result, rate)| vec![result.clone(), rate_text(rate)]).collect();
    sheet.heading("Results and length")?;
    sheet.table(&["result", "share of ended games"], results)?;
    sheet.picture(&Chart::Shares(shares))?;
    let spread = |name: &str, spread: &Option<Spread>| {
        let spread = (*spread)?;
        let shares = [spread.p10, spread.p50, spread.p90].iter().map(percentile).collect::<Vec<_>>();
        let longest = [spread.most, spread.most_in_trial].map(|number| number.to_string());
        Some([name.to_owned()].into_iter().chain(shares).chain(longest).collect::<Vec<_>>())
    };
    let rows = [("rounds", &figures.rounds), ("decisions", &figures.decisions)];
    let rows = rows.iter().filter_map(|(name, found)| spread(name, found)).collect();
    sheet.note("Of ten games, one is at most as long as p10, five as p50, nine as p90.")?;
    sheet.table(&["length", "p10", "p50", "p90", "longest", "in trial"], rows)?;
    let unended = [
        ("endless", &figures.endless),
        ("stopped after too much processor time", &figures.too_long),
        ("stuck", &figures.stuck),
        ("failed", &figures.failed),
    ];
    for (what, trials) in unended {
        if let Some(first) = trials.first() {
            let named: Vec<String> = trials.iter().take(NAMED).map(u64::to_string).collect();
            sheet.plain(&format!("{} {what}, in trials {}; the first again:", trials.len(), named.join(", ")))?;
            sheet.call(&asked.replay(*first))?;
        }
    }
    Ok(())
}

/// Formats a percentile as `5 (4 to 7)`, or without bounds if too few games were recorded.
pub fn percentile(found: &Percentile) -> String {
    let Percentile { value, low, high } = *found;
    match (low, high) {
        (Some(low), Some(high)) => format!("{value} ({low} to {high})"),
        (Some(low), None) => format!("{value} ({low} or more)"),
        (None, Some(high)) => format!("{value} ({high} or less)"),
        (None, None) => value.to_string(),
    }
}

/// Writes the table of questions.
fn questions(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    let same = |seat: &str, topic: &str| {
        let topics = found.positions.iter().flat_map(|positions| &positions.topics);
        topics.filter(|found| *found.seat == *seat && *found.topic == *topic).map(|found| found.no_difference).next()
    };
    let topics = found.figures.topics.iter().map(|found| {
        let open = found.asked.open as f64 / found.asked.counted.max(1) as f64;
        vec![
            found.seat.to_string(),
            found.topic.to_string(),
            found.asked.asked.to_string(),
            format!("{open:.2}"),
            rate_text(&found.single),
            same(&found.seat, &found.topic).as_ref().map_or_else(|| "-".to_owned(), rate_text),
        ]
    });
    sheet.heading("Choice")?;
    sheet.note(
        "Questions, with the answers that were open; one open answer is no choice. No difference: of looked-at questions with \
         several answers, those whose answers all have the same exact value.",
    )?;
    sheet.table(&["seat", "question", "asked", "open", "with one answer", "no difference"], topics.collect())
}

/// Writes the advantages of seats, and of what can be exchanged between them.
fn fairness(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    if found.fairness.is_empty() {
        return Ok(());
    }
    sheet.heading("Fairness")?;
    sheet.note(
        "Fairness, from pairs of games on the same dice: once as written, once with something exchanged between two seats. How many \
         of 100 games more are won by the first seat than by the second, and by what the first seat has as written; a draw is half \
         a game won.",
    )?;
    let (mut rows, mut pictured) = (Vec::new(), Vec::new());
    for (exchange, mirrored) in &found.fairness {
        let Ok(mirrored) = mirrored else { continue };
        let [first, second] = &mirrored.seats;
        pictured.push((format!("{exchange} exchanged: {first} over {second}"), mirrored.seat));
        pictured.push((format!("{exchange} exchanged: what {first} has"), mirrored.exchanged));
        rows.push(vec![
            exchange.to_string(),
            format!("{first} over {second}"),
            points(&mirrored.seat),
            points(&mirrored.exchanged),
            mirrored.seat.pairs.to_string(),
        ]);
    }
    if !rows.is_empty() {
        sheet.table(&["exchanged", "seats", "the seat", "what it has", "pairs"], rows)?;
        sheet.picture(&Chart::Differences(pictured))?;
    }
    for (exchange, mirrored) in &found.fairness {
        match mirrored {
            Err(why) => sheet.plain(&format!("Not exchanged: {exchange}, since {why}."))?,
            Ok(mirrored) if mirrored.same == mirrored.seat.pairs => {
                sheet.plain(&format!("The exchange of {exchange} changed the result of no game."))?;
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

/// The most rows in a table of pairs of cards.
const PAIRS: usize = 12;

/// Writes the cards that were never better than another in the examined positions.
fn never_better(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    let Some(positions) = &found.positions else { return Ok(()) };
    sheet.heading("Cards that are never better")?;
    sheet.plain(
        &format!(
            "By exact odds, {} questions of {} games were weighed; {} more have an answer whose value cannot be computed exactly.",
            positions.questions, positions.games, positions.not_exact
        ),
    )?;
    if positions.never_better.is_empty() {
        return Ok(());
    }
    sheet.note(
        "Never better: in every position in which the same actor could play both cards, the best use of the first had no higher \
         expected value than the best use of the second. More positions may show one. Closest: where it was least below, by trial \
         and decision. Worth: by play without the first card, in 100 games.",
    )?;
    let rows = positions.never_better.iter().take(PAIRS).map(|pair| {
        let worths = found.worth.iter().filter(|worth| worth.card == pair.card);
        let worths: Vec<String> = worths.map(|worth| format!("{} {}", worth.seat, points(&worth.worth))).collect();
        let closest = pair.closest.first().map_or_else(String::new, |near| {
            format!("{:.2} below: trial {}, decision {}", near.by, near.trial, near.decision)
        });
        vec![
            readable_name(&pair.card),
            readable_name(&pair.than),
            pair.positions.to_string(),
            pair.equal.to_string(),
            closest,
            if worths.is_empty() { "never played".to_owned() } else { worths.join(", ") },
        ]
    });
    sheet.table(&["card", "never better than", "positions", "equal", "closest", "worth"], rows.collect())?;
    let more = positions.never_better.len().saturating_sub(PAIRS);
    if more > 0 {
        sheet.plain(&format!("And {more} more pairs: `--json` lists all."))?;
    }
    Ok(())
}

/// Writes the comparison of players.
fn ladder(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    if found.ladder.is_empty() {
        return Ok(());
    }
    sheet.heading("Luck and skill")?;
    sheet.note(
        "Luck and skill: two players in both seats, on the same dice. How many of 100 games more the first player wins, and the \
         share of pairs in which the same seat won both games, so that dice and seat alone decided. `ahead` takes the answer with the \
         best odds one step ahead, and uses only what the seat knows.",
    )?;
    let rows = found.ladder.iter().map(|pair| {
        vec![
            pair.player.clone(),
            pair.against.clone(),
            points(&pair.ahead_by),
            rate_text(&pair.decided_by_dice),
            pair.ahead_by.pairs.to_string(),
        ]
    });
    sheet.table(&["player", "against", "wins more", "dice alone decide", "pairs"], rows.collect())?;
    let pictured = found.ladder.iter().map(|pair| (format!("{} against {}", pair.player, pair.against), pair.ahead_by));
    sheet.picture(&Chart::Differences(pictured.collect()))
}

/// Writes the table of cards, and the names of unused cards.
fn cards(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    let figures = &found.figures;
    if figures.cards.is_empty() && figures.never_named.is_empty() {
        return Ok(());
    }
    sheet.heading("Cards")?;
    sheet.note(
        "Cards. Shares of games won mislead where those who are ahead choose otherwise than others. Worth: how many of 100 games \
         the seat wins more than when it may not use the card, on the same dice; a draw is half a game won.",
    )?;
    let worth_of =
        |seat: &str, card: &str| found.worth.iter().find(|worth| *worth.seat == *seat && *worth.card == *card);
    let rows = figures.cards.iter().filter(|card| card.offer.offered > 0).map(|card| {
        vec![
            card.seat.to_string(),
            readable_name(&card.card),
            card.offer.offered.to_string(),
            rate_text(&card.chosen_when_offered),
            card.won_when_used.as_ref().map_or_else(|| "-".to_owned(), rate_text),
            worth_of(&card.seat, &card.card).map_or_else(|| "-".to_owned(), |found| points(&found.worth)),
        ]
    });
    sheet.table(&["seat", "card", "offered", "chosen", "won when used", "worth"], rows.collect())?;
    if !found.worth.is_empty() {
        let pictured = |worth: &CardWorth| (format!("{}: {}", worth.seat, readable_name(&worth.card)), worth.worth);
        sheet.picture(&Chart::Differences(found.worth.iter().map(pictured).collect()))?;
    }
    let names = [
        ("Never offered, since no question names them", &figures.never_named),
        ("Never offered, since they are closed whenever a question names them", &figures.never_offered),
        ("Offered and never chosen", &figures.never_chosen),
    ];
    for (what, cards) in names.iter().filter(|(_, cards)| !cards.is_empty()) {
        let cards: Vec<String> = cards.iter().map(|card| readable_name(card)).collect();
        sheet.plain(&format!("{what}: {}.", cards.join(", ")))?;
    }
    let sum = |count: fn(&CardWorth) -> u64| found.worth.iter().map(count).sum::<u64>();
    let (forced, left_out) = (sum(|worth| worth.forced), sum(|worth| worth.left_out));
    if forced > 0 {
        sheet
            .plain(&format!("Where nothing else was open, a card was used although it is left out: {forced} times."))?;
    }
    if left_out > 0 {
        sheet.plain(&format!("{left_out} pairs of games do not count, since one of the two games did not end."))?;
    }
    Ok(())
}

/// Formats a difference of shares in percentage points: `+2.3 (0.1 to 4.5)`; `-` without pairs.
pub fn points(found: &Difference) -> String {
    if found.pairs == 0 {
        return "-".to_owned();
    }
    let [average, low, high] = [found.average, found.average - found.margin, found.average + found.margin]
        .map(|share| 100.0 * share.clamp(-1.0, 1.0));
    format!("{average:+.1} ({low:.1} to {high:.1})")
}

/// Writes how the lead changes.
fn drama(sheet: &mut dyn ReportOutput, figures: &StudyFigures) -> Result<()> {
    if figures.comebacks.is_some() {
        sheet.heading("Drama")?;
    }
    if let Some(rate) = &figures.comebacks {
        sheet.plain(&format!("The winner was behind at some time in {} of the games.", rate_text(rate)))?;
    }
    if let Some((average, margin)) = figures.lead_changes {
        sheet.plain(&format!("The lead changes {average:.2} times a game, give or take {margin:.2}."))?;
    }
    if let Some((average, margin)) = figures.decided_at {
        let (average, margin) = (percent(average), percent(margin));
        sheet.plain(&format!("The winner leads for good after {average} of a game, give or take {margin}."))?;
    }
    Ok(())
}
