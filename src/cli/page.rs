//! Renders the report of a simulation as one self-contained HTML page.

use std::fmt::Write as _;
use std::path::Path;

use riskbreaker::lab::{Findings, Tally};
use riskbreaker::state::readable_name;

use super::figures::{escaped, percent};
use super::tallies::{self, cards_played, rate_text, replay, results, told_rounds};

const COLOURS: [&str; 6] = ["#3f6fb0", "#d1702f", "#4f9a5b", "#8a5fb0", "#b04a5a", "#6b7280"];
/// The style sheet of every page.
pub const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#1f2430;background:#fff;max-width:60rem;margin:2rem auto;\
padding:0 1rem}h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}p.note,li{color:#5b6272}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:left;vertical-align:top;padding:.3rem 1.1rem .3rem 0;\
border-bottom:1px solid #e3e6ec}th{font-weight:600}td.n{white-space:nowrap}svg{max-width:100%;height:auto;display:block}.narrow{display:none}\
li,code,h1,h2{overflow-wrap:anywhere}\
@media(max-width:40rem){body{margin:1rem auto}.wide{display:none}.narrow{display:block}\
table{display:block;overflow-x:auto;font-size:.8rem}th,td{padding:.3rem .6rem .3rem 0}}.key span{margin-right:1.2rem}\
.key i{display:inline-block;width:.8rem;height:.8rem;border-radius:2px;margin-right:.4rem;vertical-align:-.05rem}\
.over{paint-order:stroke;stroke:#fff;stroke-width:4px}\
@media(prefers-color-scheme:dark){:root{color-scheme:dark}body{color:#e6e6e6;background:#16181d}p.note,li{color:#a9b0bd}\
th,td{border-color:#343a46}svg[fill=\"#1f2430\"]{fill:#e6e6e6}[fill=\"#5b6272\"]{fill:#a9b0bd}[stroke=\"#1f2430\"]{stroke:#e6e6e6}\
[stroke=\"#e3e6ec\"]{stroke:#343a46}.over{stroke:#16181d}}\
@media print{body{margin:0;max-width:none;color:#000;background:#fff}h2,h3,p.note{break-after:avoid}svg,tr{break-inside:avoid}}";

/// Renders the page.
pub fn page(findings: &Findings, folder: Option<&Path>) -> String {
    let plan = &findings.plan;
    let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title><style>{STYLE}</style></head><body>\n\
         <h1>{0}</h1>\n<p class=\"note\">{1} games by {2}, seed {3}{4}.</p>\n",
        escaped(&plan.scenario),
        findings.tallies.iter().map(|tally| tally.trials).max().unwrap_or(0),
        escaped(&names.join(", ")),
        plan.seed,
        if names.len() > 1 { ", each on the same dice" } else { "" }
    );
    if !findings.complete || findings.shard.is_some() {
        page.push_str("<p><b>Only a part of the simulation.</b></p>\n");
    }
    if names.len() > 1 {
        page.push_str("<p class=\"key\">");
        for (at, name) in names.iter().enumerate() {
            let _ = write!(page, "<span><i style=\"background:{}\"></i>{}</span>", colour(at), escaped(name));
        }
        page.push_str("</p>\n");
    }
    page.push_str("<h2>How it ends</h2>\n");
    page.push_str(&ends(findings));
    if findings.tallies.iter().any(|tally| !tally.rounds.is_empty()) {
        let means: Vec<String> = findings.tallies.iter().map(|tally| format!("{:.2}", tally.mean_rounds())).collect();
        let _ = writeln!(
            page,
            "<h2>How long it takes</h2>\n<p class=\"note\">Rounds, on average {}.</p>",
            means.join(" and ")
        );
        page.push_str(&lengths(findings));
    }
    let mut labels: Vec<&String> = findings.tallies.iter().flat_map(|tally| tally.statistics.keys()).collect();
    labels.sort();
    labels.dedup();
    for label in labels {
        let _ = writeln!(page, "<h2>{}</h2>", escaped(label));
        for variants in by_ruleset(findings, label) {
            page.push_str(&behind(findings, label, &variants));
            page.push_str(&course(findings, label, &variants));
        }
    }
    page.push_str(&cards(findings, &names));
    page.push_str(&played_by(findings));
    for at in 0..names.len() {
        left_out(&mut page, findings, at, folder);
    }
    page.push_str("</body></html>\n");
    page
}

/// The indices of the variants with a statistic of that label, grouped by ruleset: those of different rulesets get
/// separate pictures.
fn by_ruleset(findings: &Findings, label: &str) -> Vec<Vec<usize>> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, variant) in findings.plan.variants.iter().enumerate() {
        if !findings.tallies[at].statistics.contains_key(label) {
            continue;
        }
        match groups.iter_mut().find(|(ruleset, _)| *ruleset == variant.ruleset) {
            Some((_, group)) => group.push(at),
            None => groups.push((&variant.ruleset, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The number of games at the first and last point of each line, in words.
fn behind(findings: &Findings, label: &str, variants: &[usize]) -> String {
    let told = variants.iter().filter_map(|at| {
        let tally = &findings.tallies[*at];
        let series = tally.statistics.get(label)?;
        let last = told_rounds(series, tally).checked_sub(1)?;
        let name = escaped(&findings.plan.variants[*at].name);
        Some(format!("{name}: {} games at the start, {} after round {last}", series[0].games, series[last].games))
    });
    let told: Vec<String> = told.collect();
    format!("<p class=\"note\">Average after each round. {}.</p>\n", told.join("; "))
}

fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

/// The widths of a picture: on a large page, and on the screen of a phone.
const WIDE: usize = 800;
const NARROW: usize = 360;
/// The most letters of a result that fit next to its bar.
const BESIDE: usize = 24;

/// Renders a picture in both widths; the page shows the one that fits. `draw` takes a width and returns the picture and
/// its height.
pub fn pictures(draw: impl Fn(f64) -> (String, usize)) -> String {
    let one = |class: &str, wide: usize| {
        let (body, tall) = draw(wide as f64);
        format!(
            "<div class=\"{class}\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {tall}\" width=\"{wide}\" \
             height=\"{tall}\" role=\"img\" font-size=\"13\" fill=\"#1f2430\">{body}</svg></div>\n"
        )
    };
    one("wide", WIDE) + &one("narrow", NARROW)
}

/// Draws the shares of the results with their intervals. On a narrow page, the text of a bar is above it.
fn ends(findings: &Findings) -> String {
    pictures(|wide| {
        // A long name is above its bar, too, so that it is not cut.
        let beside = wide > NARROW as f64 && results(findings).iter().all(|result| result.chars().count() <= BESIDE);
        let (left, long) = if beside { (190.0, 390.0) } else { (2.0, wide - 20.0) };
        let mut body = String::new();
        for quarter in 0..=4 {
            let x = left + long * f64::from(quarter) / 4.0;
            let anchor = if !beside && quarter == 0 { "start" } else { "middle" };
            let _ = write!(
                body,
                "<line x1=\"{x}\" x2=\"{x}\" y1=\"18\" y2=\"100%\" stroke=\"#e3e6ec\"/>\
                 <text x=\"{x}\" y=\"12\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"#5b6272\">{} %</text>",
                quarter * 25
            );
        }
        let mut top = 24.0;
        for result in results(findings) {
            let longest = if wide > NARROW as f64 { 100 } else { 48 };
            let short: String = result.chars().take(longest).collect();
            let short = escaped(&short);
            if beside {
                let middle = top + 11.0 * findings.tallies.len() as f64 + 4.0;
                let _ = write!(body, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{short}</text>", left - 10.0);
            } else {
                let _ = write!(body, "<text x=\"{left}\" y=\"{}\" font-weight=\"600\">{short}</text>", top + 12.0);
                top += 18.0;
            }
            for (at, tally) in findings.tallies.iter().enumerate() {
                let rate = tally.rate(&result);
                let (x, low, high) = (rate.share * long, left + rate.low * long, left + rate.high * long);
                let (text_x, text_y) = if beside { (high + 8.0, top + 12.5) } else { (left, top + 11.0) };
                top += if beside { 0.0 } else { 15.0 };
                let y = top + 8.0;
                let _ = write!(
                    body,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{x:.1}\" height=\"16\" rx=\"2\" fill=\"{}\" opacity=\".85\"/>\
                     <path d=\"M{low:.1} {y}H{high:.1}M{low:.1} {}v8M{high:.1} {}v8\" stroke=\"#1f2430\" stroke-width=\"1.4\"/>\
                     <text x=\"{text_x:.1}\" y=\"{text_y}\">{}</text>",
                    colour(at),
                    y - 4.0,
                    y - 4.0,
                    rate_text(&rate)
                );
                top += 22.0;
            }
            top += 8.0;
        }
        (body, top as usize + 6)
    })
}

/// Draws the number of games by number of rounds.
fn lengths(findings: &Findings) -> String {
    let first = findings.tallies.iter().filter_map(|tally| tally.rounds.keys().next()).min().copied().unwrap_or(0);
    let last = findings.tallies.iter().filter_map(|tally| tally.rounds.keys().last()).max().copied().unwrap_or(0);
    // A long tail is combined in the last column.
    let last = last.min(first + 39);
    let share = |tally: &Tally, round: u32| {
        let games: u64 = match round == last {
            true => tally.rounds.range(round..).map(|(_, games)| games).sum(),
            false => tally.rounds.get(&round).copied().unwrap_or(0),
        };
        games as f64 / tally.trials.max(1) as f64
    };
    let most = (first..=last).flat_map(|round| findings.tallies.iter().map(move |tally| share(tally, round)));
    let most = most.fold(0.0, f64::max);
    let columns = f64::from(last - first + 1);
    let more = findings.tallies.iter().any(|tally| tally.rounds.keys().any(|&round| round > last));
    pictures(|page| {
        let wide = ((page - 100.0) / columns).min(60.0);
        let each = wide * 0.8 / findings.tallies.len() as f64;
        let mut body = format!("<line x1=\"64\" x2=\"{}\" y1=\"180\" y2=\"180\" stroke=\"#9aa1ae\"/>", page - 16.0);
        let _ = write!(body, "<text x=\"58\" y=\"24\" text-anchor=\"end\" font-size=\"11\">{}</text>", percent(most));
        let every = (columns / (page / 40.0)).ceil() as u32;
        for round in first..=last {
            let left = 70.0 + wide * f64::from(round - first);
            for (at, tally) in findings.tallies.iter().enumerate() {
                let tall = if most > 0.0 { share(tally, round) / most * 160.0 } else { 0.0 };
                let _ = write!(
                    body,
                    "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{each:.1}\" height=\"{tall:.1}\" fill=\"{}\"><title>{round}: {}</title></rect>",
                    left + each * at as f64,
                    180.0 - tall,
                    colour(at),
                    percent(share(tally, round))
                );
            }
            let gathers = round == last && more;
            if gathers || (round - first) % every == 0 && !(more && last - round < every) {
                let more = if gathers { "+" } else { "" };
                let middle = left + wide * 0.4;
                let _ = write!(
                    body,
                    "<text x=\"{middle:.1}\" y=\"197\" text-anchor=\"middle\" font-size=\"11\">{round}{more}</text>"
                );
            }
        }
        (body, 206)
    })
}

/// Draws the average of a statistic from round to round.
fn course(findings: &Findings, label: &str, variants: &[usize]) -> String {
    let lines: Vec<(usize, Vec<f64>)> = variants
        .iter()
        .filter_map(|at| {
            let tally = &findings.tallies[*at];
            let rounds = tally.statistics.get(label)?;
            let told = rounds.iter().take(told_rounds(rounds, tally));
            Some((*at, told.map(|sum| sum.sum as f64 / sum.games as f64).collect()))
        })
        .collect();
    let values = || lines.iter().flat_map(|(_, line)| line.iter().copied());
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let (low, high) = if high - low < 1e-9 { (low - 1.0, high + 1.0) } else { (low, high) };
    let step = step(high - low);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    let count = lines.iter().map(|(_, line)| line.len()).max().unwrap_or(0).max(2);
    pictures(|page| {
        let right = page - 12.0;
        let x = |round: usize| 50.0 + (right - 62.0) * round as f64 / (count - 1) as f64;
        let y = |value: f64| 170.0 - (value - low) / (high - low) * 150.0;
        let mut body = String::new();
        let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil() as usize };
        for mark in (0..=((high - low) / step).round() as u32).map(|n| low + step * f64::from(n)) {
            let _ = write!(
                body,
                "<line x1=\"50\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#e3e6ec\"/>\
             <text x=\"44\" y=\"{1:.1}\" text-anchor=\"end\" font-size=\"11\">{mark:.decimals$}</text>",
                y(mark),
                y(mark) + 4.0
            );
        }
        if low < 0.0 && high > 0.0 {
            let _ =
                write!(body, "<line x1=\"50\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\" stroke=\"#9aa1ae\"/>", y(0.0));
        }
        for round in (0..count).step_by(count.div_ceil(page as usize / 40)) {
            let _ = write!(
                body,
                "<text x=\"{:.1}\" y=\"192\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
                x(round),
                if round == 0 { "start".to_owned() } else { round.to_string() }
            );
        }
        for (at, line) in &lines {
            let points: Vec<String> =
                line.iter().enumerate().map(|(round, value)| format!("{:.1},{:.1}", x(round), y(*value))).collect();
            let _ = write!(
                body,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
                points.join(" "),
                colour(*at)
            );
        }
        (body, 200)
    })
}

/// The distance between the marks of a scale, for four to eight marks: 1, 2 or 5 times a power of ten.
fn step(long: f64) -> f64 {
    let rough = long / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|factor| factor * power).find(|step| *step <= rough).unwrap_or(power)
}

fn cards(findings: &Findings, names: &[&str]) -> String {
    let keys = cards_played(findings);
    if keys.is_empty() {
        return String::new();
    }
    // Cards that roll nothing, or several dice, have no success rate.
    let rolled = findings.tallies.iter().flat_map(|tally| tally.cards.values());
    let rolled = rolled.flat_map(|cards| cards.values()).any(|count| count.rolled > 0);
    let mut table = String::from("<h2>Cards</h2>\n<table><tr><th rowspan=\"2\">seat</th><th rowspan=\"2\">card</th>");
    for name in names {
        let _ = write!(table, "<th colspan=\"{}\">{}</th>", 1 + usize::from(rolled), escaped(name));
    }
    let _ = writeln!(
        table,
        "</tr>\n<tr>{}</tr>",
        if rolled { "<th>a game</th><th>works</th>" } else { "<th>a game</th>" }.repeat(names.len())
    );
    for (seat, card) in keys {
        let _ = write!(table, "<tr><td>{}</td><td>{}</td>", escaped(seat), escaped(&readable_name(card)));
        for tally in &findings.tallies {
            let (each, works) = match tally.cards.get(seat).and_then(|cards| cards.get(card)) {
                None => ("-".to_owned(), String::new()),
                Some(count) => {
                    let works = (count.rolled > 0).then(|| percent(count.met as f64 / count.rolled as f64));
                    (format!("{:.2}", count.used as f64 / tally.trials.max(1) as f64), works.unwrap_or_default())
                }
            };
            let _ = write!(table, "<td class=\"n\">{each}</td>");
            if rolled {
                let _ = write!(table, "<td class=\"n\">{works}</td>");
            }
        }
        table.push_str("</tr>\n");
    }
    table + "</table>\n"
}

fn played_by(findings: &Findings) -> String {
    let mut text = String::from("<h2>What was played</h2>\n<ul>\n");
    for variant in &findings.plan.variants {
        let list = |pairs: &std::collections::BTreeMap<String, String>| {
            pairs.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        };
        let layers =
            if variant.layers.is_empty() { String::new() } else { format!(" with {}", variant.layers.join(", ")) };
        let switches = list(&variant.switches);
        let switches = match switches.is_empty() {
            true => String::new(),
            false => format!("<details><summary>house rules</summary>{}</details>", escaped(&switches)),
        };
        let _ = writeln!(
            text,
            "<li><b>{}</b>: {} {}{}; seats: {}; content {}{}</li>",
            escaped(&variant.name),
            escaped(&variant.ruleset),
            escaped(&variant.version),
            escaped(&layers),
            escaped(&list(&variant.seats)),
            escaped(&variant.hash.chars().take("blake3:".len() + 12).collect::<String>()),
            switches
        );
    }
    text + "</ul>\n"
}

/// The most games that are named individually.
const NAMED: usize = 20;

fn left_out(page: &mut String, findings: &Findings, variant: usize, folder: Option<&Path>) {
    let (plan, tally) = (&findings.plan, &findings.tallies[variant]);
    let Some(first) = tally.left_out.first() else { return };
    let _ = writeln!(
        page,
        "<h2>{}: {}</h2>\n<p class=\"note\">To play the first of them again: <code>{}</code></p>\n<ul>",
        escaped(&plan.variants[variant].name),
        tallies::left_out(findings, variant),
        escaped(&replay(plan, variant, first.trial, folder))
    );
    for out in tally.left_out.iter().take(NAMED) {
        let help = out.cure.as_ref().map_or_else(String::new, |cure| format!(" (help: {})", escaped(cure)));
        let _ = writeln!(page, "<li>seed {}, trial {}: {}{help}</li>", plan.seed, out.trial, escaped(&out.why));
    }
    if tally.left_out.len() > NAMED {
        let _ = writeln!(page, "<li>and {} more</li>", tally.left_out.len() - NAMED);
    }
    page.push_str("</ul>\n");
}
