//! The rules and house rules of a running game: shows the current ones and what others would change, and switches to
//! them.

use riskbreaker::ruleset::{Switch, SwitchKind};
use riskbreaker::state::readable_name;
use serde_json::json;

use super::line::split_first;
use super::names::one_of;
use super::{Complaint, Done, Repl};

use crate::cli::row::{Row, Span};
use crate::cli::{library, migration, rules};

impl Repl {
    /// The command `rules [ID[+LAYER] [yes]
    /// off
    /// aside]`.
    pub(super) fn rules(&mut self, rest: &str) -> Done {
        match rest.to_lowercase().as_str() {
            "" => return self.show_rules(),
            "off" | "keep" => return self.keep_rules(),
            "aside" => return self.show_aside(),
            _ => {}
        }
        let (rest, yes) = match rest.rsplit_once(char::is_whitespace) {
            Some((rest, word)) if word.eq_ignore_ascii_case("yes") => (rest.trim(), true),
            Some((rest, "--dry-run")) => (rest.trim(), false),
            _ => (rest, false),
        };
        let to = library::load(&self.library, rest, &[]).map_err(|error| Complaint::Wrong(error.to_string()))?;
        let migration = match yes {
            true => self.session.change_rules(&to),
            false => self.session.preview_rules(&to),
        };
        let migration = migration.map_err(|error| Complaint::Wrong(error.to_string()))?;
        migration::show(&migration, yes, &mut self.screen)?;
        if yes { self.settle() } else { Ok(()) }
    }

    fn show_rules(&mut self) -> Done {
        let now = self.session.ruleset().clone();
        let mut pairs = rules::summary(&now, &self.library);
        if let Some(pending) = self.session.pending_rules() {
            pairs.push(("pending".into(), format!("{}; `rules off` calls it off", pending.name())));
        }
        let (shelved, values) = (self.session.shelved().len(), self.session.dormant().len());
        // Dormant values may be secret, and so is their number.
        if shelved + values > 0 && self.masters() {
            pairs.push(("kept aside".into(), format!("{shelved} entities, {values} values; `rules aside` lists them")));
        }
        self.show_pairs("rules", &now.name(), &pairs)
    }

    /// Prints the dormant values and entities, for which the current rules have no place.
    fn show_aside(&mut self) -> Done {
        let shelved = self.session.shelved().into_iter();
        let values = self.session.dormant().into_iter();
        let values = values.map(|(title, field, value)| (title, format!("{} {value}", readable_name(&field))));
        let pairs: Vec<(String, String)> = shelved.chain(values).collect();
        self.show_pairs("aside", "dormant until other rules declare it again", &pairs)
    }

    fn keep_rules(&mut self) -> Done {
        self.session.keep_rules().map_err(|error| Complaint::Wrong(error.to_string()))?;
        let told = format!("{} stays in force", self.session.ruleset().name());
        self.say_done(&told)
    }

    /// Watches the files of the current rules if these are not watched yet.
    pub(super) fn follow_rules(&mut self) {
        let rules = self.session.ruleset();
        let are_others = match (&self.lookout, &self.kept) {
            (Some(lookout), _) => !lookout.watches(rules),
            (None, Some(kept)) => *kept != rules.hash(),
            (None, None) => false,
        };
        if are_others {
            self.look_out_anew();
        }
    }

    /// The command `switches [NAME [VALUE]]`: lists the house rules, explains one, or changes it.
    pub(super) fn switches(&mut self, rest: &str) -> Done {
        let rules = self.session.ruleset().clone();
        let in_force = |name: &str| self.session.switch(name).map(ToString::to_string).unwrap_or_default();
        if !rest.is_empty() {
            let (name, value) = split_first(rest);
            let names: Vec<String> = rules.switches().map(|switch| switch.name.clone()).collect();
            let Some(name) = one_of(name, &names)? else {
                let known = names.iter().map(String::as_str);
                let sentence = format!("There is no house rule `{name}`.");
                return Err(Complaint::unknown(sentence, name, known, "`switches` lists them."));
            };
            if !value.is_empty() {
                let name = name.clone();
                self.session.set_switch(&name, value)?;
                return self.settle_decided();
            }
            let Some(switch) = rules.switch(name) else { return Ok(()) };
            let pairs = [
                ("in force".to_owned(), in_force(name)),
                ("values".to_owned(), switch.kind.to_string()),
                ("decides".to_owned(), switch.text.clone()),
            ];
            let rules = (!switch.rules.is_empty()).then(|| ("rules".to_owned(), switch.rules.join(", ")));
            let pairs: Vec<_> = pairs.into_iter().chain(rules).collect();
            return self.show_pairs("switch", name, &pairs);
        }
        if self.screen.json() {
            return Ok(self.screen.event("switches", &json!({ "in_force": self.session.switches() }))?);
        }
        let told = |switch: &Switch| {
            // The value beside it is a `yes` or a `no`.
            let values = match &switch.kind {
                SwitchKind::Toggle => "yes or no".to_owned(),
                kind @ (SwitchKind::Choice { .. } | SwitchKind::Range { .. }) => kind.to_string(),
            };
            let decides = format!("{} ({values})", switch.text.trim_end_matches('.'));
            vec![Span::strong(&switch.name), Span::plain(in_force(&switch.name)), Span::plain(decides)]
        };
        let mut cells: Vec<Vec<Span>> = rules.switches().map(told).collect();
        if cells.is_empty() {
            return Ok(self.screen.row(&Row::at(2).plain(format!("{} has no house rules to set", rules.id())))?);
        }
        cells.insert(0, ["house rule", "in force", "decides (values)"].map(Span::faint).to_vec());
        Ok(self.screen.columns(2, cells)?)
    }
}
