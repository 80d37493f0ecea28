//! `encounter`: a new scene from the roster and the cast, and the chances of each side by simulation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use riskbreaker::lab::{MemoUse, Rate, Simulation, Tally, Variant};
use riskbreaker::ruleset::CreationPart;
use riskbreaker::state::readable_name;
use riskbreaker::{DiceSource, Driver, Setup, Value};
use serde_json::json;

use super::line::words;
use super::question::with_capital;
use super::sheet_entry::{fault, in_words};
use super::{Complaint, Done, Repl};
use crate::cli::interrupt::Watch;
use crate::cli::row::{Row, Span, Tone};

/// The time limit of the simulation.
const TIME: Duration = Duration::from_millis(850);
/// The number of games simulated first, to measure how long one takes.
const FIRST: u64 = 4;
/// The most games that are simulated.
const MOST: u64 = 4_000;
/// A game that has not ended after so many actions counts as undecided.
const ACTIONS: u64 = 2_000;
/// Default names of the first sides.
const SIDES: [&str; 2] = ["Heroes", "Foes"];
/// The most characters on a side.
const MOST_PEOPLE: usize = 50;

/// A scene that was prepared and has not begun.
#[derive(Clone, Debug)]
pub struct Encounter(Setup);

impl Repl {
    /// `encounter NAMES against NAMES [--seat SEAT=POLICY]...`, `encounter yes`.
    pub(super) fn encounter(&mut self, rest: &str) -> Done {
        let mut options = rest.split("--seat");
        let rest = options.next().unwrap_or_default().trim();
        let played_by = self.played_by(options.map(str::trim))?;
        if rest.eq_ignore_ascii_case("yes") {
            // It stays prepared where an unsaved game is left only when asked twice.
            let Some(Encounter(setup)) = self.encounter.clone() else {
                return Err(Complaint::wrong("Say first who meets whom: `encounter NAMES against NAMES`."));
            };
            return self.begin(setup);
        }
        let rules = self.session.ruleset().clone();
        if !rules.creates(CreationPart::Position) {
            let text =
                format!("{} does not say how a scene is made of sheets (`position` in creation.luau).", rules.name());
            return Err(Complaint::Wrong(text));
        }
        let parts = sides_of(rest);
        if parts.len() < 2 || parts.iter().any(|part| part.trim().is_empty()) {
            return Err(Complaint::wrong(
                "Say who meets whom: `encounter NAMES against NAMES`, with names of the roster or the cast, as in \
                 `encounter Ann, Bob against 2 x NAME`.",
            ));
        }
        let mut sides: Vec<(String, Vec<Value>)> = Vec::new();
        let mut notes = Vec::new();
        let mut whom = Vec::new();
        let mut titles: Vec<String> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let (title, names) = match part.split_once(':') {
                Some((title, names)) => (title.trim().to_owned(), names),
                None => (SIDES.get(at).map_or_else(|| format!("Side {}", at + 1), ToString::to_string), *part),
            };
            let mut sheets = Vec::new();
            let mut told = Vec::new();
            let names = names.split(',').flat_map(|names| names.split(" and ")).map(str::trim);
            for name in names.filter(|name| !name.is_empty()) {
                let (count, name) = counted(name);
                let singular = name.strip_suffix('s').filter(|_| count > 1);
                let (title, sheet) = match (self.sheet_named(name), singular) {
                    (Err(_), Some(singular)) => self.sheet_named(singular),
                    (found, _) => found,
                }?;
                let sheet = self.fitting(&title, sheet, &mut notes)?;
                titles.push(title.clone());
                sheets.extend(std::iter::repeat_n(sheet, count));
                let name = with_capital(&readable_name(&title));
                told.push(if count > 1 { format!("{count} x {name}") } else { name });
            }
            if sheets.len() > MOST_PEOPLE {
                return Err(Complaint::Wrong(format!("A side has at most {MOST_PEOPLE} people.")));
            }
            whom.push(told.join(", "));
            sides.push((title, sheets));
        }
        let switches = self.session.switches().clone();
        let title = whom.join(" against ");
        let scenario = match rules.position_of(&sides, switches).map_err(fault)? {
            Value::Map(table) => {
                let mut table = (*table).clone();
                table.insert("title".into(), Value::text(&title));
                Value::Map(table.into())
            }
            _ => return Err(Complaint::wrong("creation.position must return a table.")),
        };
        // Switches and seats are those of this game. The seats of the position count only if the command line names none.
        let setup = Setup { scenario: riskbreaker::Scenario::Table(scenario), ..self.next_setup() };
        if let Some(note) = self.left_at_home(&titles) {
            notes.push(note);
        }
        if !self.screen.json() {
            for note in &notes {
                self.screen.row(&Row::at(2).with(note, Tone::Note))?;
            }
        }
        self.foretell(&setup, &title, played_by, &notes)?;
        self.encounter = Some(Encounter(setup));
        Ok(self.screen.row(&Row::at(2).with("`encounter yes` begins it.", Tone::Faint))?)
    }

    /// Who plays each seat in the simulation: the same policy everywhere, the first of the ruleset, unless another one is given. The
    /// game master takes defaults.
    fn played_by<'t>(&self, given: impl Iterator<Item = &'t str>) -> Result<BTreeMap<Arc<str>, Driver>, Complaint> {
        let rules = self.session.ruleset();
        let usual = rules.policies().first().map_or(Driver::Absent, |policy| Driver::Policy(policy.clone()));
        let is_master = |seat: &str| seat == "gm";
        let mut seats: BTreeMap<Arc<str>, Driver> = rules
            .seats()
            .keys()
            .map(|seat| (Arc::from(&**seat), if is_master(seat) { Driver::Absent } else { usual.clone() }))
            .collect();
        let listed = |names: Vec<&str>| names.join(", ");
        for option in given {
            let Some((seat, policy)) = option.split_once('=').map(|(seat, policy)| (seat.trim(), policy.trim())) else {
                return Err(Complaint::Wrong(format!(
                    "Write `--seat SEAT=POLICY`, for example `--seat {}={}`.",
                    seats.keys().find(|seat| !is_master(seat)).map_or("SEAT", |seat| seat),
                    rules.policies().first().map_or("POLICY", |policy| policy)
                )));
            };
            if !seats.contains_key(seat) {
                let known = listed(seats.keys().map(|seat| &**seat).collect());
                return Err(Complaint::Wrong(format!("There is no seat `{seat}`. Seats: {known}.")));
            }
            let Some(policy) = rules.policies().iter().find(|known| ***known == *policy) else {
                let known = listed(rules.policies().iter().map(|policy| &**policy).collect());
                let list = if known.is_empty() { "The ruleset has none".into() } else { format!("Policies: {known}") };
                return Err(Complaint::Wrong(format!("There is no policy `{policy}`. {list}.")));
            };
            seats.insert(seat.into(), Driver::Policy(policy.clone()));
        }
        Ok(seats)
    }

    /// A note about characters of the roster that the scene leaves out.
    fn left_at_home(&self, titles: &[String]) -> Option<String> {
        self.campaign.as_ref()?;
        let roster = self.campaign_roster().ok()?;
        let there = |name: &str| titles.iter().any(|title| title.eq_ignore_ascii_case(name));
        // A scene without anybody of the roster is about others.
        if !roster.characters.keys().any(|name| there(name)) {
            return None;
        }
        let missing: Vec<&str> = roster.characters.keys().map(String::as_str).filter(|name| !there(name)).collect();
        (!missing.is_empty()).then(|| format!("of the roster, not in this scene: {}", missing.join(", ")))
    }

    /// A sheet without the keys that these rules do not know, and notes about them and about what the rules say of the sheet:
    /// breaches and warnings, such as that somebody is out.
    fn fitting(&self, name: &str, sheet: Value, notes: &mut Vec<String>) -> Result<Value, Complaint> {
        let (rules, switches) = (self.session.ruleset(), self.session.switches().clone());
        let steps = rules.sheet_steps(switches.clone()).map_err(fault)?;
        let sheet = match sheet {
            Value::Map(fields) if !steps.is_empty() => {
                let (known, strange): (Vec<_>, Vec<_>) = fields
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .partition(|(key, _)| steps.iter().any(|step| step.key == **key));
                if !strange.is_empty() {
                    let keys: Vec<String> = strange.iter().map(|(key, _)| readable_name(key)).collect();
                    notes.push(format!("{name}: these rules have no place for {}", keys.join(", ")));
                }
                Value::map(known)
            }
            sheet => sheet,
        };
        if rules.creates(CreationPart::Check) {
            for breach in rules.check_sheet_under(&sheet, switches).map_err(fault)?.iter() {
                notes.push(format!("{name}: {}", in_words(breach)));
            }
        }
        Ok(sheet)
    }

    /// Plays the scene with policies for less than a second, and prints how often each side won.
    fn foretell(
        &mut self,
        setup: &Setup,
        title: &str,
        played_by: BTreeMap<Arc<str>, Driver>,
        notes: &[String],
    ) -> Done {
        let rules = self.session.ruleset().clone();
        let began = Instant::now();
        let seated = Setup { dice: DiceSource::Seeded, seats: played_by.clone(), ..setup.clone() };
        let variant = Variant::new("rules", &rules, seated).map_err(|error| Complaint::Wrong(error.to_string()))?;
        let (mut tally, mut games, mut wanted) = (Tally::default(), 0, FIRST);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let watch = Watch::begin();
        while wanted > 0 && !watch.is_over() {
            let simulation = Simulation {
                scenario: title.to_owned(),
                variants: vec![variant.clone()],
                trials: wanted,
                seed: setup.seed.wrapping_add(games),
                until: None,
                actions: ACTIONS,
                memo: MemoUse::default(),
            };
            let found = simulation
                .run(threads, None, None, &mut |_, _| !watch.is_over())
                .map_err(|error| Complaint::Wrong(error.to_string()))?;
            if let Some(part) = found.tallies.first() {
                tally.add(part);
            }
            games += wanted;
            // As many games as fit into half of the time that is left.
            let (spent, left) = (began.elapsed(), TIME.saturating_sub(began.elapsed()));
            let fit = (games as f64 * left.as_secs_f64() / spent.as_secs_f64() / 2.0) as u64;
            wanted = fit.min(MOST - games.min(MOST)).min(250);
        }
        // A game without an end is a finding; a script that fails is a mistake.
        let failed = tally.left_out.iter().find(|left| !left.unended);
        if let Some(failed) = failed.filter(|_| tally.trials == 0) {
            return Err(Complaint::Wrong(format!("This scene cannot be played: {}.", failed.why)));
        }
        let mut results: Vec<(&String, Rate)> =
            tally.results.keys().map(|result| (result, tally.rate(result))).collect();
        results.sort_by_key(|(_, rate)| std::cmp::Reverse(rate.count));
        if self.screen.json() {
            let told: Vec<_> = results.iter().map(|(result, rate)| json!({ "result": result, "rate": rate })).collect();
            let seats: BTreeMap<&str, Option<&str>> =
                played_by.iter().map(|(seat, driver)| (&**seat, policy_of(driver))).collect();
            let event = json!({
                "title": title, "games": tally.trials, "undecided": tally.left_out.len(), "results": told, "seats": seats,
                "notes": notes, "partial": watch.is_over() || !tally.left_out.is_empty(), "interrupted": watch.is_over(),
            });
            return Ok(self.screen.event("encounter", &event)?);
        }
        self.screen.row(&Row::at(0).strong(title))?;
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let cells = results.iter().map(|(result, rate)| {
            vec![
                Span::plain(*result),
                Span::strong(format!("{} %", percent(rate.share))),
                Span::faint(format!("{} to {} %", percent(rate.low), percent(rate.high))),
            ]
        });
        self.screen.columns(2, cells.collect())?;
        let until = if watch.is_over() { ", interrupted" } else { "" };
        let mut text = format!("{} games, {}{until}", tally.trials, in_policies(&played_by));
        if tally.trials == 0 {
            let none = format!("no game had an end after {ACTIONS} actions ({} were played)", tally.left_out.len());
            text = format!("{none}, {}{until}", in_policies(&played_by));
        } else if !tally.left_out.is_empty() {
            text = format!("{text}; {} more had no end after {ACTIONS} actions", tally.left_out.len());
        }
        Ok(self.screen.row(&Row::at(2).faint(text))?)
    }
}

/// The policy that plays a seat; `None` if its questions take their defaults.
fn policy_of(driver: &Driver) -> Option<&str> {
    match driver {
        Driver::Policy(policy) => Some(policy),
        _ => None,
    }
}

/// Who played the seats, in words.
fn in_policies(played_by: &BTreeMap<Arc<str>, Driver>) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut absent = Vec::new();
    for (seat, driver) in played_by {
        match policy_of(driver) {
            Some(policy) => groups.entry(policy).or_default().push(seat),
            None => absent.push(&**seat),
        }
    }
    let mut parts: Vec<String> = match groups.iter().next() {
        Some((policy, seats)) if groups.len() == 1 && seats.len() > 1 => {
            vec![format!("every side played by the policy `{policy}`")]
        }
        _ => groups
            .iter()
            .map(|(policy, seats)| format!("{} played by the policy `{policy}`", seats.join(", ")))
            .collect(),
    };
    if !absent.is_empty() {
        parts.push(format!("{} by the defaults", absent.join(", ")));
    }
    parts.join(", ")
}

/// The words between two sides.
const BETWEEN: [&str; 5] = ["against", "versus", "vs", "vs.", "v"];

/// The text of each side: what stands before, between and after the words that set sides against each other.
fn sides_of(text: &str) -> Vec<&str> {
    let (mut sides, mut from) = (Vec::new(), 0);
    for word in words(text) {
        if !word.quoted && BETWEEN.contains(&&*word.text.to_lowercase()) {
            sides.push(text[from..word.start].trim());
            from = word.end;
        }
    }
    sides.push(text[from..].trim());
    sides
}

/// `3 x NAME`, `3 NAME`, `NAME x3`: how many, and who.
fn counted(text: &str) -> (usize, &str) {
    let number = |text: &str| text.parse::<usize>().ok().filter(|count| (1..=MOST_PEOPLE).contains(count));
    if let Some((first, rest)) = text.split_once(' ')
        && let Some(count) = number(first)
    {
        let rest = rest.trim();
        return (count, rest.strip_prefix("x ").unwrap_or(rest));
    }
    if let Some((name, last)) = text.rsplit_once(' ')
        && let Some(count) = last.strip_prefix('x').and_then(number)
    {
        return (count, name.trim_end_matches(" x").trim());
    }
    (1, text)
}

#[cfg(test)]
mod tests {
    use super::{counted, sides_of};

    #[test]
    fn sides_stand_before_and_after_a_word_for_against() {
        assert_eq!(sides_of("Ann, Bob against 2 x Cat"), ["Ann, Bob", "2 x Cat"]);
        for word in ["AGAINST", "versus", "vs", "vs."] {
            assert_eq!(sides_of(&format!("Heroes: Ann {word} Wolves: Cat")), ["Heroes: Ann", "Wolves: Cat"], "{word}");
        }
        assert_eq!(sides_of("Ann"), ["Ann"]);
        assert_eq!(sides_of("Ann vs"), ["Ann", ""]);
    }

    #[test]
    fn people_are_counted() {
        assert_eq!(counted("Ann"), (1, "Ann"));
        assert_eq!(counted("3 x Bob"), (3, "Bob"));
        assert_eq!(counted("3 Bob"), (3, "Bob"));
        assert_eq!(counted("Bob x3"), (3, "Bob"));
        assert_eq!(counted("0 Bob"), (1, "0 Bob"));
    }
}
