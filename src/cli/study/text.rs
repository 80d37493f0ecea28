//! The contents of a study's report, for any output.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::lab::{
    Average, CardWorth, Difference, Exchange, Mirrored, Percentile, Rate, SeatBias, SeatExchange, Spread, StudyFigures,
    UnendedGame,
};
use riskbreaker::state::readable_name;

use super::super::figures::{counted, percent};
use super::super::tallies::rate_text;
use super::job::StudyJob;
use super::ladder::SearchUse;
use super::parts::StudyFindings;
use super::sheet::{Chart, ReportOutput};

/// The most trials that are named individually.
const NAMED: usize = 5;

/// Writes the report: each figure with its interval, each part with an explanation.
pub fn report(sheet: &mut dyn ReportOutput, asked: &StudyJob, found: &StudyFindings) -> Result<()> {
    let (study, figures) = (&asked.study, &found.figures);
    let games = counted(figures.games, "game", "games");
    sheet.title(&format!("{} · {games} · seed {}", asked.title(), study.seed))?;
    sheet.plain(&players(asked))?;
    sheet.note("Each figure has its 95 % confidence interval.")?;
    results(sheet, asked, figures)?;
    fairness(sheet, asked, found)?;
    questions(sheet, found)?;
    cards(sheet, found)?;
    never_better(sheet, asked, found)?;
    drama(sheet, figures)?;
    ladder(sheet, found)?;
    if !figures.missing.is_empty() || !study.bans.is_empty() || !found.notes.is_empty() {
        sheet.heading("Left out")?;
    }
    for missing in &figures.missing {
        sheet.plain(&format!("Missing: {missing}."))?;
    }
    if !study.bans.is_empty() {
        sheet
            .plain(&format!("A banned card was used {} times since nothing else was open.", found.recorded.forced()))?;
    }
    found.notes.iter().try_for_each(|text| sheet.plain(text))
}

/// A sentence that says who plays each seat, and how to choose others.
fn players(asked: &StudyJob) -> String {
    let players: Vec<String> = asked.players().iter().map(|(seat, player)| format!("{seat}: {player}")).collect();
    let policies = asked.study.variant.rules.policies();
    let how = match policies.first() {
        None => "the ruleset has no policy; `--seat SEAT=ahead` looks ahead".to_owned(),
        Some(first) => format!(
            "{first}, the first policy, plays each seat for which neither the scenario nor `--seat SEAT=POLICY` names another; \
             policies: {}",
            policies.iter().map(|policy| &**policy).collect::<Vec<_>>().join(", ")
        ),
    };
    format!("Players: {} ({how}).", players.join(", "))
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
    if let Some(longest) = figures.decisions.filter(|spread| spread.most > 0) {
        sheet.plain("The longest game again, with its log (`--decision N` stops at decision N):")?;
        sheet.call(&asked.replay(longest.most_in_trial))?;
    }
    for (how, what) in [("endless", "endless"), ("too_long", "stopped"), ("stuck", "stuck"), ("failed", "failed")] {
        unended(sheet, asked, what, figures.unended.iter().filter(|game| game.how == how).collect())?;
    }
    Ok(())
}

/// The most reasons for games without an end that are named for each kind.
const REASONS: usize = 3;

/// Writes the games without a result of one kind, by reason.
fn unended(sheet: &mut dyn ReportOutput, asked: &StudyJob, what: &str, mut games: Vec<&UnendedGame>) -> Result<()> {
    for _ in 0..REASONS {
        let Some(first) = games.first().copied() else { return Ok(()) };
        let (alike, others): (Vec<_>, Vec<_>) = games.into_iter().partition(|game| game.why == first.why);
        let named: Vec<String> = alike.iter().take(NAMED).map(|game| game.trial.to_string()).collect();
        let more = if alike.len() > NAMED { ", ..." } else { "" };
        let (count, named, why) = (alike.len(), named.join(", "), &first.why);
        sheet.plain(&format!("{count} {what}, in trials {named}{more}: {why}. The first again:"))?;
        sheet.call(&asked.replay(first.trial))?;
        games = others;
    }
    match games.len() {
        0 => Ok(()),
        more => sheet.plain(&format!("{more} more {what}, for other reasons: `--json` lists all.")),
    }
}

/// Names the horizon up to which values are compared, as a clause.
pub fn horizon(names: &[Arc<str>]) -> String {
    let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match named.as_slice() {
        [] => "at the end of the action that asks (the ruleset names no `horizon`)".to_owned(),
        named => format!("up to the next {} (the `horizon` of the ruleset)", named.join(" or ")),
    }
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

/// Returns an average with the ends of its interval, if it has one.
fn average_text(found: &Average) -> String {
    match found.high.is_finite() {
        true => format!("{:.2} ({:.2} to {:.2})", found.value, found.low, found.high),
        false => format!("{:.2}", found.value),
    }
}

/// Writes the table of questions.
fn questions(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    let same = |seat: &str, topic: &str| {
        let topics = found.positions.iter().flat_map(|positions| &positions.topics);
        topics.filter(|found| *found.seat == *seat && *found.topic == *topic).map(|found| found.no_difference).next()
    };
    let topics = found.figures.topics.iter().map(|found| {
        vec![
            found.seat.to_string(),
            found.topic.to_string(),
            found.asked.asked.to_string(),
            average_text(&found.open),
            rate_text(&found.single),
            same(&found.seat, &found.topic).as_ref().map_or_else(|| "-".to_owned(), rate_text),
        ]
    });
    sheet.heading("Choice")?;
    sheet.note("Questions, with the answers that were open on average; one open answer is no choice.")?;
    if let Some(positions) = &found.positions {
        sheet.note(&format!(
            "No difference: of the weighed questions with several answers, those whose answers all have the same exact value \
             {}. What an answer changes only after that does not count.",
            horizon(&positions.horizon)
        ))?;
    }
    sheet.table(&["seat", "question", "asked", "open", "with one answer", "no difference"], topics.collect())
}

/// Writes the biases of seats, and of what can be exchanged between them.
fn fairness(sheet: &mut dyn ReportOutput, asked: &StudyJob, found: &StudyFindings) -> Result<()> {
    if found.biases.is_empty() {
        return Ok(());
    }
    sheet.heading("Fairness")?;
    if found.biases.iter().all(|bias| bias.ahead.pairs == 0) {
        return sheet.plain("No recorded game came to an end, so no seat is compared.");
    }
    sheet.note("How many of 100 games more one wins than the other; a draw is half a game won. As recorded:")?;
    let others = |seat: &str| -> String {
        let others: Vec<&str> = found.seats.iter().map(|other| &**other).filter(|other| *other != seat).collect();
        if others.len() > 1 { "the average of the others".to_owned() } else { others.join("") }
    };
    // With two seats, the bias of one is the negative of the other.
    let mut biases: Vec<&SeatBias> = found.biases.iter().collect();
    if biases.len() == 2 {
        biases.retain(|one| one.ahead.average > 0.0);
        biases.extend(found.biases.first().filter(|_| biases.is_empty()));
    }
    let begins = found.first.as_ref().and_then(|first| first.always.clone());
    for bias in &biases {
        let (seat, ahead) = (&bias.seat, points(&bias.ahead));
        let first = if begins.as_ref() == Some(seat) { ", which is always asked first," } else { "" };
        sheet.plain(&format!("{seat}{first} wins {ahead} more than {}.", others(seat)))?;
    }
    match (&found.first, begins) {
        (Some(first), None) => {
            sheet.plain(&format!("The seat that is asked first wins {} more than others.", points(&first.ahead)))?;
        }
        (_, Some(seat)) if biases.iter().all(|one| one.seat != seat) => {
            sheet.plain(&format!("{seat} is always asked first."))?;
        }
        _ => {}
    }
    let left_out: Vec<&str> =
        found.recorded.seats.iter().filter(|seat| !found.seats.contains(seat)).map(|seat| &**seat).collect();
    if !left_out.is_empty() {
        let why = match found.recorded.games.iter().filter_map(|game| game.winner()).collect::<BTreeSet<_>>().len() {
            0 => "no seat won a recorded game, so the first two are compared",
            1 => "only one seat won a recorded game, so it is compared with the first of the others",
            _ => "they won no recorded game",
        };
        sheet.plain(&format!("Not compared: {} ({why}).", left_out.join(", ")))?;
    }
    exchanges(sheet, asked, found)
}

/// Writes what the exchanges between seats show.
fn exchanges(sheet: &mut dyn ReportOutput, asked: &StudyJob, found: &StudyFindings) -> Result<()> {
    let allowed: Vec<(&SeatExchange, &Mirrored)> =
        found.fairness.iter().filter_map(|one| Some((one, one.found.as_ref().ok()?))).collect();
    if !allowed.is_empty() {
        sheet.note(
            "From pairs of games on the same dice: once as written, once with something exchanged between two seats. That \
             separates what the seat itself is worth from what is exchanged.",
        )?;
        let rows = allowed.iter().map(|(SeatExchange { exchange, seats, .. }, mirrored)| {
            let [first, second] = seats;
            vec![
                exchange.to_string(),
                format!("{first} over {second}"),
                points(&mirrored.seat),
                what_is_exchanged(asked, *exchange, seats),
                points(&mirrored.exchanged),
                mirrored.seat.pairs.to_string(),
            ]
        });
        sheet.table(&["exchanged", "seat", "wins more", "what is exchanged", "wins more", "pairs"], rows.collect())?;
        let pictured = allowed.iter().flat_map(|(SeatExchange { exchange, seats, .. }, mirrored)| {
            let [first, second] = seats;
            let what = what_is_exchanged(asked, *exchange, seats);
            [
                (format!("{exchange} exchanged: {first} over {second}"), mirrored.seat),
                (format!("{exchange} exchanged: {what}"), mirrored.exchanged),
            ]
        });
        sheet.picture(&Chart::Differences(pictured.collect()))?;
        if allowed.iter().any(|(found, _)| found.exchange == Exchange::Sides) {
            sheet.note(
                "With `sides`, what a list has first stays first and belongs to the other seat. So what a seat has is measured \
                 together with its place.",
            )?;
        }
    }
    for SeatExchange { exchange, seats: [first, second], found: mirrored } in &found.fairness {
        let between = if found.seats.len() > 2 { format!(" of {first} and {second}") } else { String::new() };
        match mirrored {
            Err(why) => sheet.plain(&format!("Not exchanged: {exchange}{between}, since {why}."))?,
            Ok(mirrored) if mirrored.seat.pairs == 0 => {
                sheet.plain(&format!("The exchange of {exchange}{between} has no pair of games that both ended."))?;
            }
            Ok(mirrored) if mirrored.same == mirrored.seat.pairs => {
                let pairs = match mirrored.seat.pairs {
                    1 => "the one pair".to_owned(),
                    pairs => format!("the {pairs} pairs"),
                };
                let text =
                    format!("The exchange of {exchange}{between} changed the result in none of {pairs} of games.");
                sheet.plain(&text)?;
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

/// What two seats exchange, in words: the one that is measured, over the other.
fn what_is_exchanged(asked: &StudyJob, exchange: Exchange, seats: &[Arc<str>; 2]) -> String {
    let [first, second] = seats;
    match exchange {
        Exchange::Policies => {
            let players = asked.players();
            let player = |seat: &Arc<str>| players.get(seat).cloned().unwrap_or_default();
            format!("{} over {}", player(first), player(second))
        }
        Exchange::Order => "listed first over second".to_owned(),
        Exchange::Sides => format!("what {first} has, with its place in lists, over what {second} has"),
    }
}

/// The most rows in a table of pairs of cards.
const PAIRS: usize = 12;

/// Writes the cards that were never better than another in the examined positions.
fn never_better(sheet: &mut dyn ReportOutput, asked: &StudyJob, found: &StudyFindings) -> Result<()> {
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
    sheet.note(&format!(
        "Never better: in every position in which the same actor could play both cards, the best use of the first had no higher \
         average value {} than the best use of the second. More positions may show one. Closest: where it was least below, by \
         trial and decision. Worth: by play without the first card, as under Cards.",
        horizon(&positions.horizon)
    ))?;
    let rows = positions.never_better.iter().take(PAIRS).map(|pair| {
        let worths = found.worth.iter().filter(|worth| worth.card == pair.card);
        let worths: Vec<String> = worths.map(|worth| format!("{} {}", worth.seat, worth_text(worth))).collect();
        let closest = pair.closest.first().map_or_else(String::new, |near| {
            format!("{:.2} below: trial {}, decision {}", near.by, near.trial, near.decision)
        });
        vec![
            readable_name(&pair.card),
            readable_name(&pair.than),
            pair.positions.to_string(),
            pair.equal.to_string(),
            closest,
            match (
                worths.is_empty(),
                found.figures.cards.iter().any(|card| card.card == pair.card && card.offer.chosen > 0),
            ) {
                (false, _) => worths.join(", "),
                (true, true) => "-".to_owned(),
                (true, false) => "never played".to_owned(),
            },
        ]
    });
    sheet.table(&["card", "never better than", "positions", "equal", "closest", "worth"], rows.collect())?;
    if let Some(near) = positions.never_better.iter().find_map(|pair| pair.closest.first()) {
        sheet.plain("A position again, with its log and the value of each answer:")?;
        sheet.call(&asked.replay_to(near.trial, Some(near.decision)))?;
    }
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
    let who = match found.seats.len() {
        2 => "Two players in both seats: each pair of games exchanges them".to_owned(),
        _ => format!(
            "One player in one of the seats {}, the other in the rest; each pair of games exchanges them, and each seat is the \
             single one in turn",
            found.seats.join(", ")
        ),
    };
    sheet.note(&format!(
        "{who}. Both games have the same dice, and the random choices of policies are the same, decision by decision. How many \
         of 100 games more the first player wins, and the share of pairs whose two games have the same result for the seats, \
         a draw included: there, dice (and random choices) and seat alone decided. `ahead` takes the answer with the best odds \
         one step ahead, and uses only what the seat knows."
    ))?;
    if let Some(search) = &found.search {
        sheet.note(&search_in_words(search))?;
    }
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
    sheet.picture(&Chart::Differences(pictured.collect()))?;
    if let Some(again) = found.search.as_ref().and_then(|search| search.again.as_ref()) {
        sheet.plain("The pairs of the search again; more trials and more playouts tell more:")?;
        sheet.call(again)?;
    }
    Ok(())
}

/// Sentences that say what a search does, how often it played, and how to measure it longer.
fn search_in_words(search: &SearchUse) -> String {
    let SearchUse { player, trials, is_fitted, not_met, .. } = search;
    let fitted = if *is_fitted { ", as many as fit into the time" } else { "" };
    let played = match trials {
        0 => "no pair of it came to an end in the time".to_owned(),
        1 => "it played the first trial alone".to_owned(),
        trials => format!("it played the first {trials} trials"),
    };
    let against = match not_met.as_slice() {
        [] => String::new(),
        others => format!(", and had no time to play against {}", others.join(", ")),
    };
    format!(
        "`{player}` plays games ahead for each decision{fitted}, from what the seat knows. It is slow: {played}{against}. \
         With few playouts it mostly answers as the first policy does. `--search N` sets the playouts and plays all trials; \
         `--trials N` sets no limit of time."
    )
}

/// Writes the table of cards, and the names of unused cards.
fn cards(sheet: &mut dyn ReportOutput, found: &StudyFindings) -> Result<()> {
    let figures = &found.figures;
    if figures.cards.is_empty() && figures.never_named.is_empty() {
        return Ok(());
    }
    sheet.heading("Cards")?;
    if found.figures.cards.iter().any(|card| card.won_when_used.is_some()) {
        sheet.note(
            "Won when used: of the ended games in which the seat used the card, drawn ones included. That share misleads where \
             those who are ahead choose otherwise than others.",
        )?;
    }
    if let Some(pairs) = pairs_of_worth(&found.worth) {
        let what = match found.worth.iter().any(|worth| worth.in_value) {
            true => {
                "how much higher `value` is for the seat at the end than when it may not use the card, on the same dice"
            }
            false => {
                "how many of 100 games the seat wins more than when it may not use the card, on the same dice; a draw is half a \
                 game won"
            }
        };
        sheet.note(&format!("Worth, from {pairs} pairs of games: {what}."))?;
    }
    let has_wins = figures.cards.iter().any(|card| card.won_when_used.is_some());
    let has_draws = has_wins && figures.drawn > 0;
    let worth_of =
        |seat: &str, card: &str| found.worth.iter().find(|worth| *worth.seat == *seat && *worth.card == *card);
    let rows = figures.cards.iter().filter(|card| card.offer.offered > 0).map(|card| {
        let rate = |rate: &Option<Rate>| rate.as_ref().map_or_else(|| "-".to_owned(), rate_text);
        let mut row = vec![
            card.seat.to_string(),
            readable_name(&card.card),
            card.offer.offered.to_string(),
            rate_text(&card.chosen_when_offered),
        ];
        row.extend(has_wins.then(|| rate(&card.won_when_used)));
        row.extend(has_draws.then(|| rate(&card.drawn_when_used)));
        row.push(worth_of(&card.seat, &card.card).map_or_else(|| "-".to_owned(), worth_text));
        row
    });
    let mut header = vec!["seat", "card", "offered", "chosen"];
    header.extend(has_wins.then_some("won when used"));
    header.extend(has_draws.then_some("drawn when used"));
    header.push("worth");
    sheet.table(&header, rows.collect())?;
    if found.worth.iter().any(|worth| !worth.in_value) {
        let pictured = |worth: &CardWorth| (format!("{}: {}", worth.seat, readable_name(&worth.card)), worth.worth);
        sheet.picture(&Chart::Differences(found.worth.iter().map(pictured).collect()))?;
    }
    let names = [
        ("Never offered, since no question has an option with their id", &figures.never_named),
        ("Never offered, since they are closed in every question that has them", &figures.never_offered),
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
    if found.worth.iter().any(|worth| worth.worth.pairs == 0) {
        sheet.plain("A card without a worth (-): in none of the pairs did both games end.")?;
    }
    if left_out > 0 {
        sheet.plain(&format!("{left_out} pairs of games do not count, since one of the two games did not end."))?;
    }
    Ok(())
}

/// The numbers of pairs of games behind the worths of cards, such as `40` or `38 to 40`; `None` without any.
fn pairs_of_worth(worths: &[CardWorth]) -> Option<String> {
    let pairs = worths.iter().map(|worth| worth.worth.pairs).filter(|pairs| *pairs > 0);
    let (least, most) = (pairs.clone().min()?, pairs.max()?);
    Some(if least == most { most.to_string() } else { format!("{least} to {most}") })
}

/// Formats the worth of a card: in games of 100, or in units of `value`; `-` without pairs.
fn worth_text(found: &CardWorth) -> String {
    let worth = &found.worth;
    match (worth.pairs, found.in_value) {
        (0, _) => "-".to_owned(),
        (1, true) => format!("{:+.2}", worth.average),
        (_, true) => in_value(worth),
        (_, false) => points(worth),
    }
}

/// Formats a difference in units of `value`: `+2.30 (0.10 to 4.50)`.
fn in_value(found: &Difference) -> String {
    format!("{:+.2} ({:.2} to {:.2})", found.average, found.low(), found.high())
}

/// Formats a difference of shares in percentage points: `+2.3 (0.1 to 4.5)`; `-` without pairs.
pub fn points(found: &Difference) -> String {
    if found.pairs == 0 {
        return "-".to_owned();
    }
    let [average, low, high] = [found.average, found.low(), found.high()].map(|share| 100.0 * share.clamp(-1.0, 1.0));
    format!("{average:+.1} ({low:.1} to {high:.1})")
}

/// Writes how the lead changes.
fn drama(sheet: &mut dyn ReportOutput, figures: &StudyFigures) -> Result<()> {
    let Some(rate) = &figures.comebacks else { return Ok(()) };
    sheet.heading("Drama")?;
    let drawn = match figures.drawn {
        0 => String::new(),
        drawn => format!("; {drawn} drawn ones are not among them"),
    };
    sheet.note(&format!("Of the {} games with a winner{drawn}.", rate.of))?;
    sheet.plain(&format!("The winner was behind at some time in {} of these games.", rate_text(rate)))?;
    if let Some(lowest) = &figures.lowest_lead {
        sheet.plain(&format!(
            "Where the winner stood worst, its `value` minus the best of the others was {} on average.",
            in_value(lowest)
        ))?;
    }
    if let Some(changes) = &figures.lead_changes {
        sheet.plain(&format!("The lead changes {} times a game.", average_text(changes)))?;
    }
    if let Some(Average { value, low, high }) = figures.decided_at {
        let [value, low, high] = [value, low, high].map(percent);
        sheet.plain(&format!(
            "The winner leads for good after {value} ({low} to {high}) of the actions of a game; 100 % is the last action."
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::html::Html;
    use super::super::ladder::SearchPlan;
    use super::super::parts::{self, StudyPart, StudyWork};
    use super::*;
    use riskbreaker::lab::{Study, Variant};
    use riskbreaker::{Library, Ruleset, Setup};

    /// By a die, a game loops, is stuck, or asks `left` for one of two cards and ends: `jab` wins in one of ten games, `cut` in
    /// five. The first policy by name never takes `cut`.
    const PLAY: &str = r#"local rb = require("@riskbreaker")
return rb.play({
	start = function()
		rb.spawn("purse", { seat = "left" })
		rb.spawn("purse", { seat = "right" })
		rb.recur("turn", { 1 }, { 1 })
	end,
	entries = {
		turn = function()
			local purses = rb.each("purse")
			if purses[1].face == 0 then
				purses[1]:set("face", rb.roll("1d8"))
			end
			if purses[1].face == 1 then
				return
			end
			local options = {
				{ id = "cut", value = 5, enabled = purses[1].face > 2, reason = "too deep" },
				{ id = "jab", value = 1, enabled = purses[1].face > 2, reason = "too deep" },
			}
			local won = rb.at_most("1d10", rb.choose({ seat = "left", topic = "card", options = options }))
			purses[if won then 1 else 2]:add("coins", 1)
			rb.finish(if won then "left" else "right")
		end,
	},
	boundary = "turn",
	horizon = "turn",
	value = function(seat)
		for _, purse in ipairs(rb.each("purse")) do
			if purse.seat == seat then
				return purse.coins
			end
		end
		return 0
	end,
})"#;

    fn job() -> StudyJob {
        job_with(PLAY.to_owned())
    }

    fn job_with(play: String) -> StudyJob {
        let card = |id: &str| {
            let text = format!(
                r#"local rb = require("@riskbreaker") return rb.maneuver({{ id = "{id}", title = "{id}", rules = {{ "P-1" }}, text = "Play it.", resolve = function() end }})"#
            );
            (format!("maneuvers/{id}.luau"), text)
        };
        let policy = |id: &str, card: &str| {
            let text = format!(
                r#"local rb = require("@riskbreaker") return rb.policy({{ id = "{id}", answer = function() return "{card}" end }})"#
            );
            (format!("policies/{id}.luau"), text)
        };
        let kinds = r#"local rb = require("@riskbreaker") return rb.kinds({ purse = { fields = { seat = rb.text({ show = false }), coins = rb.int(), face = rb.int() } } })"#;
        let manifest = "id = \"pool\"\ntitle = \"Pool\"\nversion = \"1\"\n[seats]\nleft = \"one\"\nright = \"other\"\n";
        let files = [
            ("ruleset.toml".into(), manifest.into()),
            ("kinds.luau".into(), kinds.into()),
            ("play.luau".into(), play),
            ("scenarios/hall.toml".into(), "title = \"Hall\"\n".into()),
            card("cut"),
            card("jab"),
            policy("dull", "jab"),
            policy("smart", "cut"),
        ];
        let files = files.map(|(path, text): (String, String)| (format!("pool/{path}"), text.into_bytes()));
        let rules = Ruleset::load(&Library::from_files(files), "pool").unwrap_or_else(|error| panic!("{error}"));
        let variant = Variant::new("pool", &rules, Setup::scenario("hall")).expect("it starts");
        let (bans, random, store, known_only) = Default::default();
        let study = Study { variant, first: 1, trials: 60, seed: 1, actions: 200, bans, random, store, known_only };
        let search = SearchPlan::of(None, study.trials);
        StudyJob { study, scenario: "hall".into(), seats: Vec::new(), search, folder: None }
    }

    /// The report of a study as a page, with what it was made from.
    fn page_of(asked: &StudyJob) -> (String, StudyFindings) {
        let work = StudyWork::new(None, Default::default(), 2);
        let found = parts::find(asked, &StudyPart::ALL, &work).unwrap();
        let mut page = Html::new();
        report(&mut page, asked, &found).unwrap();
        (page.page(), found)
    }

    #[test]
    fn a_study_in_which_no_game_ends_says_why_and_compares_nothing() {
        let (text, _) = page_of(&job_with(PLAY.replace("return purse.coins", "return \"rich\"")));
        assert!(text.contains("must return a whole number: a string is no number"), "{text}");
        assert!(text.contains("no seat is compared") && text.contains("no recorded game came to one"), "{text}");
        assert!(!text.contains("wins -") && !text.contains("add `value"), "{text}");
    }

    #[test]
    fn a_game_that_all_win_together_has_no_shares_of_games_won() {
        let (text, _) =
            page_of(&job_with(PLAY.replace("if purse.seat == seat then", "if purse.seat == \"left\" then")));
        assert!(text.contains("win or lose together") && text.contains("how much higher `value`"), "{text}");
        assert!(!text.contains("won when used</th>") && !text.contains("<h2>Fairness"), "{text}");
    }

    #[test]
    fn the_report_names_players_reasons_the_horizon_and_calls_that_play_trials_again() {
        let (text, found) = page_of(&job());
        for wanted in [
            "<h1>hall · pool",
            "Players: left: dull, right: dull (dull, the first policy,",
            "policies: dull, smart",
            "it has not ended after 200 actions. The first again:",
            "has no option that is open (cut: too deep; jab: too deep). The first again:",
            "right wins +",
            "left is always asked first.",
            "same exact value up to the next `turn` (the `horizon` of the ruleset)",
            "average value up to the next `turn`",
            "a draw included: there, dice (and random choices) and seat alone decided",
            "leads for good after 100.00 % (",
            "of 100 games</text>",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        // The coins change in the last action, so playouts go to the end. The first tenth of the trials is played.
        for wanted in ["`search:10` plays games ahead", "it played the first 6 trials", "The pairs of the search again"]
        {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert!(text.contains("--only skill --trials 6 --search 10</code>"), "{text}");
        let near = &found.positions.as_ref().unwrap().never_better[0].closest[0];
        let call = format!("--trial {} --decision {}", near.trial, near.decision);
        assert!(text.contains(&call), "{call}: {text}");
        assert_eq!((found.figures.endless.is_empty(), found.figures.stuck.is_empty()), (false, false));
    }

    #[test]
    fn a_call_names_the_trial_and_the_decision() {
        let call = job().replay_to(7, Some(2));
        assert!(call.starts_with("riskbreaker study hall --ruleset pool"), "{call}");
        assert!(call.ends_with("--seed 1 --actions 200 --trial 7 --decision 2"), "{call}");
    }
}
