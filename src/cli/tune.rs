//! `sim --sweep WHAT=1..5 --target "RESULT 50 %"`: which value of a house rule, a fact of a card, a field at the start or a derived
//! number gives a result its share.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use riskbreaker::dice::DiceRng;
use riskbreaker::lab::{Findings, Progress, Rate, Simulation, Variant};
use riskbreaker::ruleset::instead_or;
use riskbreaker::{Library, Refusal, Ruleset, Setup};
use serde_json::{Value as Json, json};

use super::call_error;
use super::figures::{bar, percent};
use super::interrupt::{interrupted_code, watched};
use super::meter::meter;
use super::odds::values_of;
use super::play::pair;
use super::row::Row;
use super::rules::find_card;
use super::screen::Screen;
use super::swept::{SweptMember, before_first_decision};
use super::tallies::rate_text;

/// A result, and the share of games that it is to have.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The result as it is typed: the name, or a part that no other result has.
    result: String,
    /// 0 to 1.
    share: f64,
}

/// Reads `players 50 %`.
pub fn target(text: &str) -> Result<Target, String> {
    let read = text.trim().strip_suffix('%').and_then(|rest| {
        let (result, share) = rest.trim_end().rsplit_once(char::is_whitespace)?;
        let share = share.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share))?;
        Some(Target { result: result.trim().to_owned(), share: share / 100.0 })
    });
    read.filter(|target| !target.result.is_empty())
        .ok_or("write a result and its share, such as \"players 50 %\"".into())
}

/// What a sweep changes.
enum Swept {
    Switch,
    Member(SweptMember),
}

/// Makes a variant from its name, its rules and its house rules.
pub type VariantMaker<'a> = &'a dyn Fn(String, &Arc<Ruleset>, &[(String, String)]) -> Result<Variant>;

/// The rules and settings for each value of a sweep.
pub fn variants(
    library: &Library,
    rules: &Arc<Ruleset>,
    layers: &[String],
    (name, values): (&str, &str),
    make: VariantMaker<'_>,
) -> Result<Vec<Variant>> {
    let as_written = || make(rules.name(), rules, &[]).map(|variant| variant.setup);
    let swept = swept(rules, name, &as_written)?;
    let of = |value: &String| match &swept {
        Swept::Switch => make(format!("{name}={value}"), rules, &[(name.to_owned(), value.clone())]),
        Swept::Member(member) => {
            let changed = member.rules(rules.id(), layers, library, value)?;
            let variant = make(format!("{name}={value}"), &changed, &[])?;
            // A value that a field cannot have is refused here, not game by game.
            before_first_decision(&changed, variant.setup.clone())
                .map_err(|error| call_error(format!("{}: {error}", variant.name)))?;
            Ok(variant)
        }
    };
    values_of(values)?.iter().map(of).collect()
}

/// Parses what is swept, and its values: `growth=stake,flat_one`, `strike.max_risk=1..3`.
pub fn values(text: &str) -> Result<(String, String), String> {
    pair(text).map_err(|_| {
        "write what is varied and its values, such as growth=stake,flat_one, strike.max_risk=1..3 or Ann.skill=3,5"
            .to_owned()
    })
}

/// What `name` means: a house rule, a fact of a card, or a field or derived number of an entity that exists from the start.
fn swept(rules: &Arc<Ruleset>, name: &str, setup: &dyn Fn() -> Result<Setup>) -> Result<Swept> {
    if rules.switch(name).is_some() {
        return Ok(Swept::Switch);
    }
    let switches: Vec<&str> = rules.switches().map(|switch| &*switch.name).collect();
    let Some((whose, member)) = name.rsplit_once('.').map(|(whose, member)| (whose.trim(), member.trim())) else {
        let usage = format!(
            "write SWITCH=1..5, CARD.FACT=1..5 or NAME.FIELD=1..5; its house rules are {}",
            switches.join(", ")
        );
        let meant = match rules.card(name).and_then(|card| card.facts.keys().next()) {
            Some(fact) => format!("it is a card: write `{name}.FACT=1..5` with one of its facts, such as `{fact}`"),
            None => instead_or(name, switches.iter().copied(), usage).to_string(),
        };
        return Err(call_error(format!("`{name}` is no house rule of {}; {meant}", rules.name())));
    };
    let card = find_card(rules, whose);
    if let Ok(card) = &card
        && card.facts.contains_key(member)
    {
        return Ok(Swept::Member(SweptMember::Fact { card: card.id.to_string(), fact: member.to_owned() }));
    }
    let session = before_first_decision(rules, setup()?)?;
    match (SweptMember::of_entity(&session, whose, member), card) {
        (Ok(member), _) => Ok(Swept::Member(member)),
        (Err(refusal @ Refusal::UnknownName { .. }), Err(_)) => {
            Err(call_error(format!("`{whose}` is neither a card nor somebody who is there from the start: {refusal}")))
        }
        (Err(Refusal::UnknownName { .. }), Ok(card)) => {
            let facts: Vec<&str> = card.facts.keys().map(String::as_str).collect();
            let meant = instead_or(member, facts.iter().copied(), format!("its facts are {}", facts.join(", ")));
            Err(call_error(format!("`{member}` is no fact of {}; {meant}", card.id)))
        }
        (Err(refusal), _) => Err(call_error(refusal.to_string())),
    }
}

/// What came of one value.
struct Tried {
    name: String,
    rate: Rate,
    left_out: usize,
    /// How often this value is the nearest to the target, 0 to 1.
    sure: f64,
}

/// Plays the variants of a sweep and tells which comes nearest to the target.
pub fn tune(simulation: &Simulation, target: &Target, threads: usize, json: bool) -> Result<ExitCode> {
    let (meter, interrupted) = (meter(), watched());
    let mut told = |findings: &Findings, progress: Progress| {
        meter.set_length(progress.of);
        meter.set_position(progress.done);
        findings.complete || !interrupted.load(Ordering::Relaxed)
    };
    let played = simulation.run(threads, None, None, &mut told);
    meter.finish_and_clear();
    let findings = played.map_err(|error| call_error(error.to_string()))?;
    let result = result_named(&findings, &target.result)?;
    let mut tried: Vec<Tried> = findings
        .tallies
        .iter()
        .zip(&findings.plan.variants)
        .map(|(tally, variant)| Tried {
            name: variant.name.clone(),
            rate: Rate::of(tally.results.get(&result).copied().unwrap_or_default(), tally.trials),
            left_out: tally.left_out.len(),
            sure: 0.0,
        })
        .collect();
    weigh(&mut tried, target.share, simulation.seed);
    let mut screen = Screen::stdout(json);
    match json {
        true => screen.object(&as_json(simulation, &findings, &tried, &result, target))?,
        false => tell(&mut screen, simulation, &findings, &tried, &result, target)?,
    }
    if !findings.complete {
        eprintln!("interrupted: what is above is what was known by then");
        return Ok(ExitCode::from(interrupted_code()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The result that a typed name means: the exact name, or the only one that has it as a part.
fn result_named(findings: &Findings, typed: &str) -> Result<String> {
    let mut results: Vec<&String> = findings.tallies.iter().flat_map(|tally| tally.results.keys()).collect();
    results.sort_unstable();
    results.dedup();
    let lower = typed.to_lowercase();
    let exact = results.iter().find(|name| name.to_lowercase() == lower);
    let mut parts = results.iter().filter(|name| name.to_lowercase().contains(&lower));
    let several = parts.clone().nth(1).is_some();
    let found = exact.copied().or_else(|| parts.next().copied().filter(|_| parts.next().is_none()));
    found.cloned().ok_or_else(|| match results.is_empty() {
        true => call_error("no game came to an end: `sim` with one of these values says why"),
        false => {
            let names: Vec<&str> = results.iter().map(|name| name.as_str()).collect();
            let names = names.join(", ");
            match several {
                true => call_error(format!("`{typed}` is a part of several results; name one of {names}")),
                false => call_error(format!("no game ended with `{typed}`; the results are {names}")),
            }
        }
    })
}

/// Draws of the shares from what is known of them.
const DRAWS: u32 = 20_000;

/// Works out how often each value is the nearest to the target. Each share is drawn around the counted one, as a normal variable
/// after Agresti and Coull. Shares are drawn apart, although the games have the same dice: so what is said is rather too careful.
fn weigh(tried: &mut [Tried], share: f64, seed: u64) {
    let known: Vec<(usize, f64, f64)> = tried
        .iter()
        .enumerate()
        .filter(|(_, one)| one.rate.of > 0)
        .map(|(at, one)| {
            let n = one.rate.of as f64 + 4.0;
            let mean = (one.rate.count as f64 + 2.0) / n;
            (at, mean, (mean * (1.0 - mean) / n).sqrt())
        })
        .collect();
    let mut dice = DiceRng::stream(seed, u64::MAX);
    let mut uniform = || (f64::from(dice.face(1 << 24)) - 0.5) / f64::from(1 << 24);
    let mut nearest = vec![0_u32; tried.len()];
    for _ in 0..DRAWS {
        let mut best: Option<(usize, f64)> = None;
        for (at, mean, error) in &known {
            // Box and Muller 1958.
            let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            let off = (mean + error * normal - share).abs();
            if best.is_none_or(|(_, least)| off < least) {
                best = Some((*at, off));
            }
        }
        if let Some((at, _)) = best {
            nearest[at] += 1;
        }
    }
    for (one, count) in tried.iter_mut().zip(nearest) {
        one.sure = f64::from(count) / f64::from(DRAWS);
    }
}

/// The value that is the nearest most often.
fn best(tried: &[Tried]) -> Option<&Tried> {
    tried.iter().filter(|one| one.rate.of > 0).max_by(|one, other| one.sure.total_cmp(&other.sure))
}

/// The two values next to each other between which the share passes the target.
fn passed(tried: &[Tried], share: f64) -> Option<(&Tried, &Tried)> {
    let passes = |pair: &&[Tried]| (pair[0].rate.share - share) * (pair[1].rate.share - share) < 0.0;
    tried.windows(2).find(passes).map(|pair| (&pair[0], &pair[1]))
}

/// The values whose games all had the same results, in a sentence; `None` unless the nearest value is one of several.
fn same_as_nearest(findings: &Findings, tried: &[Tried], nearest: &Tried) -> Option<String> {
    let own = tried.iter().position(|one| one.name == nearest.name)?;
    let results = |at: usize| &findings.tallies[at].results;
    let same: Vec<&str> =
        (0..tried.len()).filter(|at| results(*at) == results(own)).map(|at| &*tried[at].name).collect();
    match same.len() {
        0 | 1 => None,
        len if len == tried.len() => Some(
            "All values have the same number of games with each result: what is swept makes no difference here."
                .to_owned(),
        ),
        _ => Some(format!("{} have the same number of games with each result.", same.join(" and "))),
    }
}

/// Says that no value reaches the target, if all shares surely lie on one side of it.
fn out_of_reach(tried: &[Tried], share: f64) -> Option<&'static str> {
    let mut known = tried.iter().filter(|one| one.rate.of > 0).peekable();
    known.peek()?;
    let (below, above) =
        known.fold((true, true), |(below, above), one| (below && one.rate.high < share, above && one.rate.low > share));
    match (below, above) {
        (true, _) => Some("No value reaches it: the shares of all are lower."),
        (_, true) => Some("No value reaches it: the shares of all are higher."),
        _ => None,
    }
}

fn tell(
    screen: &mut Screen,
    simulation: &Simulation,
    findings: &Findings,
    tried: &[Tried],
    result: &str,
    target: &Target,
) -> Result<()> {
    let goal = percent(target.share);
    screen.row(&Row::at(0).strong(format!("{} · the share of `{result}` is to be {goal}", simulation.scenario)))?;
    let rows = tried.iter().map(|one| {
        let (value, share) = (one.name.split_once('=').map_or(&*one.name, |(_, value)| value), rate_text(&one.rate));
        // One value is the nearest of itself.
        let nearest = if tried.len() < 2 { "-".to_owned() } else { percent(one.sure) };
        vec![value.to_owned(), share, nearest, bar(one.rate.share, 1.0, 24)]
    });
    let name = tried.first().and_then(|one| one.name.split_once('=')).map_or("value", |(name, _)| name);
    screen.table(&[name, "share", "is nearest", ""], rows.collect())?;
    if let Some(best) = best(tried) {
        let passed = passed(tried, target.share);
        let passed =
            passed.map(|(one, other)| format!("; the share passes {goal} between {} and {}", one.name, other.name));
        let text =
            format!("Nearest to {goal}: {} with {}{}.", best.name, rate_text(&best.rate), passed.unwrap_or_default());
        screen.row(&Row::at(0).plain(text))?;
        let same = same_as_nearest(findings, tried, best);
        let sure = match best.sure {
            _ if same.is_some() || tried.len() < 2 => None,
            sure if sure >= SURE => {
                Some(format!("This is sure: in {} of 100 cases it is the nearest of these values.", of_100(sure)))
            }
            sure => Some(format!(
                "This is not sure: in {} of 100 cases it is the nearest of these values. More `--trials` tell more.",
                of_100(sure)
            )),
        };
        let sentences = [out_of_reach(tried, target.share).map(str::to_owned), same, sure];
        sentences.into_iter().flatten().try_for_each(|text| screen.row(&Row::at(0).plain(text)))?;
    }
    for one in tried.iter().filter(|one| one.left_out > 0) {
        screen.row(&Row::at(0).faint(format!("{}: {} games were left out", one.name, one.left_out)))?;
    }
    let played = tried.iter().map(|one| one.rate.of + one.left_out as u64).max().unwrap_or_default();
    let games = match findings.complete {
        true => format!("{played} games each"),
        false => format!("{played} of {} games each before the work was interrupted", simulation.trials),
    };
    Ok(screen.row(&Row::at(0).faint(format!(
        "All values have the same dice, {games}; shares have the interval that holds the true one in 95 of 100 cases."
    )))?)
}

/// A value counts as found if it is the nearest as often as this.
const SURE: f64 = 0.95;

/// A share as a whole number of 100, which is 100 or 0 only if it is exact.
fn of_100(share: f64) -> String {
    match 100.0 * share {
        share if share > 99.5 => "more than 99".into(),
        share => format!("{share:.0}"),
    }
}

fn as_json(simulation: &Simulation, findings: &Findings, tried: &[Tried], result: &str, target: &Target) -> Json {
    // One value is the nearest of itself.
    let sure = |one: &Tried| (tried.len() > 1).then_some(one.sure);
    let columns: Vec<Json> = tried
        .iter()
        .map(|one| json!({ "value": one.name, "share": one.rate, "nearest": sure(one), "left_out": one.left_out }))
        .collect();
    json!({
        "scenario": simulation.scenario, "seed": simulation.seed, "trials": simulation.trials, "result": result,
        "target": target.share, "columns": columns, "best": best(tried).map(|one| &one.name),
        "sure": best(tried).and_then(sure),
        "passes_between": passed(tried, target.share).map(|(one, other)| [&one.name, &other.name]),
        "partial": !findings.complete,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_result_and_its_share() {
        assert_eq!(target("players 50 %"), Ok(Target { result: "players".into(), share: 0.5 }));
        assert_eq!(
            target("the field goes to Ann 12.5%"),
            Ok(Target { result: "the field goes to Ann".into(), share: 0.125 })
        );
        for wrong in ["players", "50 %", "players 50", "players 101 %", "players x %", " %"] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_nearest_value_is_sure_where_the_counts_are_far_apart() {
        let tried = |counts: &[u64]| {
            let of = |(at, count): (usize, &u64)| Tried {
                name: format!("n={at}"),
                rate: Rate::of(*count, 1_000),
                left_out: 0,
                sure: 0.0,
            };
            let mut tried: Vec<Tried> = counts.iter().enumerate().map(of).collect();
            weigh(&mut tried, 0.5, 1);
            tried
        };
        let far = tried(&[300, 510, 700]);
        assert!(best(&far).is_some_and(|best| best.name == "n=1" && best.sure > 0.999));
        assert!(passed(&far, 0.5).is_some_and(|(one, other)| (&*one.name, &*other.name) == ("n=0", "n=1")));
        // Two that are as far off on both sides: nobody knows.
        let near = tried(&[480, 520]);
        assert!(best(&near).is_some_and(|best| (0.45..0.55).contains(&best.sure)), "{}", near[0].sure);
    }
}
