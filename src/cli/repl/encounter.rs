//! The command `encounter`: prepares a scene from the roster and the cast, and estimates each side's chances by
//! simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::lab::{ENCOUNTER_ACTIONS, Encounter, EncounterMember, EncounterSide, MOST_ON_A_SIDE};
use riskbreaker::play::MASTER;
use riskbreaker::{Driver, Refusal};
use serde_json::json;

use super::line::words;
use super::{Complaint, Done, Repl};
use crate::cli::interrupt::CtrlCWatch;
use crate::cli::row::{Row, Span, Tone};

impl Repl {
    /// The commands `encounter NAMES against NAMES [--seat SEAT=POLICY]...` and `encounter yes`.
    pub(super) fn encounter(&mut self, rest: &str) -> Done {
        let mut options = rest.split("--seat");
        let rest = options.next().unwrap_or_default().trim();
        let played_by = self.played_by(options.map(str::trim))?;
        if rest.eq_ignore_ascii_case("yes") {
            // It stays prepared, since leaving an unsaved game has to be confirmed.
            let Some(Encounter { setup, .. }) = self.encounter.clone() else {
                return Err(Complaint::wrong("Say first who meets whom: `encounter NAMES against NAMES`."));
            };
            return self.begin(setup);
        }
        let rules = self.session.ruleset().clone();
        Encounter::must_be_made_by(&rules).map_err(complaint)?;
        let parts = sides_of(rest);
        if parts.len() < 2 || parts.iter().any(|part| part.trim().is_empty()) {
            return Err(Complaint::wrong(
                "Say who meets whom: `encounter NAMES against NAMES`, with names of the roster or the cast, as in \
                 `encounter Ann, Bob against 2 x NAME`.",
            ));
        }
        let (mut sides, mut titles) = (Vec::new(), Vec::new());
        for part in parts {
            let (title, names) = match part.split_once(':') {
                Some((title, names)) => (Some(title.trim().to_owned()), names),
                None => (None, part),
            };
            let mut members = Vec::new();
            let names = names.split(',').flat_map(|names| names.split(" and ")).map(str::trim);
            for name in names.filter(|name| !name.is_empty()) {
                let (count, name) = counted(name);
                let singular = name.strip_suffix('s').filter(|_| count > 1);
                let (name, sheet) = match (self.sheet_named(name), singular) {
                    (Err(_), Some(singular)) => self.sheet_named(singular),
                    (found, _) => found,
                }?;
                titles.push(name.clone());
                members.push(EncounterMember { name, count, sheet });
            }
            sides.push(EncounterSide { title, members });
        }
        let switches = self.session.switches().clone();
        // Switches and seats are those of this game. The seats of the position count only if the command line names
        // none.
        let mut encounter = Encounter::prepare(&rules, &switches, self.next_setup(), sides).map_err(complaint)?;
        encounter.notes.extend(self.left_at_home(&titles));
        if !self.screen.json() {
            for note in &encounter.notes {
                self.screen.row(&Row::at(2).with(note, Tone::Note))?;
            }
        }
        self.foretell(&encounter, played_by)?;
        self.encounter = Some(encounter);
        Ok(self.screen.row(&Row::at(2).with("`encounter yes` begins it.", Tone::Faint))?)
    }

    /// Returns the driver of each seat in the simulation: the first policy of the ruleset, unless another one is given.
    /// The game master takes defaults.
    fn played_by<'t>(&self, given: impl Iterator<Item = &'t str>) -> Result<BTreeMap<Arc<str>, Driver>, Complaint> {
        let rules = self.session.ruleset();
        let is_master = |seat: &str| seat == MASTER;
        let mut seats = Encounter::usual_drivers(rules);
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
        // A scene without any character of the roster is about others.
        if !roster.characters.keys().any(|name| there(name)) {
            return None;
        }
        let missing: Vec<&str> = roster.characters.keys().map(String::as_str).filter(|name| !there(name)).collect();
        (!missing.is_empty()).then(|| format!("of the roster, not in this scene: {}", missing.join(", ")))
    }

    /// Simulates the scene for less than a second, and prints how often each side won.
    fn foretell(&mut self, encounter: &Encounter, played_by: BTreeMap<Arc<str>, Driver>) -> Done {
        let rules = self.session.ruleset().clone();
        let watch = CtrlCWatch::begin();
        let odds = encounter.foretell(&rules, played_by, &|| !watch.is_over()).map_err(complaint)?;
        let (tally, played_by, results) = (&odds.tally, &odds.played_by, odds.results());
        let (title, notes) = (&encounter.title, &encounter.notes);
        if self.screen.json() {
            let told: Vec<_> = results.iter().map(|(result, rate)| json!({ "result": result, "rate": rate })).collect();
            let seats: BTreeMap<&str, Option<&str>> =
                played_by.iter().map(|(seat, driver)| (&**seat, policy_of(driver))).collect();
            let event = json!({
                "title": title, "games": tally.trials, "undecided": tally.left_out.len(), "results": told, "seats": seats,
                "notes": notes, "partial": odds.is_partial(), "interrupted": odds.interrupted,
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
        let until = if odds.interrupted { ", interrupted" } else { "" };
        let mut text = format!("{} games, {}{until}", tally.trials, in_policies(played_by));
        if tally.trials == 0 {
            let none =
                format!("no game had an end after {ENCOUNTER_ACTIONS} actions ({} were played)", tally.left_out.len());
            text = format!("{none}, {}{until}", in_policies(played_by));
        } else if !tally.left_out.is_empty() {
            text = format!("{text}; {} more had no end after {ENCOUNTER_ACTIONS} actions", tally.left_out.len());
        }
        Ok(self.screen.row(&Row::at(2).faint(text))?)
    }
}

fn complaint(refusal: Refusal) -> Complaint {
    Complaint::Wrong(refusal.to_string())
}

/// The policy that plays a seat; `None` if its questions take their defaults.
fn policy_of(driver: &Driver) -> Option<&str> {
    match driver {
        Driver::Policy(policy) => Some(policy),
        _ => None,
    }
}

/// The drivers of the seats in words.
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

/// The words that separate two sides.
const BETWEEN: [&str; 5] = ["against", "versus", "vs", "vs.", "v"];

/// Splits a text into sides at the separating words.
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

/// Parses the number and name of a member: `3 x NAME`, `3 NAME` or `NAME x3`.
fn counted(text: &str) -> (usize, &str) {
    let number = |text: &str| text.parse::<usize>().ok().filter(|count| (1..=MOST_ON_A_SIDE).contains(count));
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
    fn the_sides_of_an_encounter_are_separated_by_a_word_such_as_against() {
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
