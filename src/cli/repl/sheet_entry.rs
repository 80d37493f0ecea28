//! The commands `roster new NAME` and `roster edit NAME`: a sheet is written step by step. Each step shows its cost; a
//! step that breaks a rule is refused with the rule. Each step is an entry of the campaign: it is stored at once, and
//! `undo` takes it back.

use std::collections::BTreeMap;
use std::sync::Arc;

use riskbreaker::ruleset::{Breach, CreationPart, SheetForm, SheetStep};
use riskbreaker::state::readable_name;
use riskbreaker::store::Character;
use riskbreaker::{Fault, Refusal, Value};
use serde_json::json;

use super::line::split_first;
use super::names::one_of;
use super::pending::SheetEntry;
use super::{Complaint, Done, Repl};

use crate::cli::row::{Row, Span, Tone};

type SheetFields = BTreeMap<Arc<str>, Value>;

impl Repl {
    /// The command `roster new NAME [as SHEET]`.
    pub(super) fn new_character(&mut self, rest: &str) -> Done {
        let (name, model) = match rest.split_once(" as ") {
            Some((name, model)) => (name.trim(), Some(model.trim())),
            None => (rest.trim(), None),
        };
        if name.is_empty() {
            return Err(Complaint::wrong("Give a name: `roster new Ann`, or `roster new Ann as SHEET`."));
        }
        if name.contains([',', ':']) {
            return Err(Complaint::wrong("A name has no comma and no colon."));
        }
        let roster = self.campaign_roster()?;
        if let Some(known) = roster.characters.keys().find(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Complaint::Wrong(format!("{known} is in the roster already: `roster edit {known}`.")));
        }
        let steps = self.steps()?;
        let mut sheet = match model {
            Some(model) => map_of(self.sheet_named(model)?.1),
            None => SheetFields::new(),
        };
        if steps.iter().any(|step| step.key == "name") || model.is_some() {
            sheet.insert("name".into(), Value::text(name));
        }
        let character = Character {
            ruleset: self.session.ruleset().name(),
            sheet: Some(Value::Map(Arc::new(sheet))),
            ..Character::default()
        };
        self.change_roster(&format!("roster: {name} is new"), |roster| {
            roster.characters.insert(name.to_owned(), character);
        })?;
        self.write_sheet(name, steps)
    }

    /// The command `roster edit NAME`.
    pub(super) fn edit_character(&mut self, rest: &str) -> Done {
        let (name, character) = self.character_named(rest)?;
        if character.sheet.is_none() {
            return Err(without_sheet(&name));
        }
        let steps = self.steps()?;
        self.write_sheet(&name, steps)
    }

    fn steps(&self) -> Result<Vec<SheetStep>, Complaint> {
        let switches = self.session.switches().clone();
        let rules = self.session.ruleset();
        let steps = rules.sheet_steps(switches).map_err(fault)?;
        if steps.is_empty() {
            let text = format!("{} does not say how a sheet is written (`steps` in creation.luau).", rules.name());
            return Err(Complaint::Wrong(text));
        }
        Ok(steps)
    }

    fn write_sheet(&mut self, name: &str, steps: Vec<SheetStep>) -> Done {
        let steps: Vec<SheetStep> = steps.into_iter().filter(|step| step.key != "name").collect();
        self.sheet_entry = Some(SheetEntry { name: name.to_owned(), steps, at: 0 });
        self.show_sheet_entry()?;
        let hint = "A line answers the step, an empty one keeps it. `done` ends, `help` lists what else can be typed.";
        self.screen.row(&Row::prose(2).faint(hint))?;
        self.ask_step()
    }

    /// The command `help` while a sheet is being written: prints the commands and the steps.
    fn help_on_sheet(&mut self) -> Done {
        let steps: Vec<&str> =
            self.sheet_entry.iter().flat_map(|entry| &entry.steps).map(|step| step.title.as_str()).collect();
        let steps = steps.join(", ");
        let rows = [
            ("VALUE", "answers the step that is asked; an empty line keeps what it has"),
            ("STEP VALUE", "answers another step; `STEP` alone goes to it"),
            ("back", "goes one step back"),
            ("show", "shows the whole sheet with its cost"),
            ("undo", "takes the last step back"),
            ("done", "ends; the sheet stays in the roster"),
            ("help WORD", "explains a word of the rules"),
            ("steps", &steps),
        ];
        let cells = rows.iter().map(|(word, what)| vec![Span::strong(*word), Span::plain(*what)]).collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// Handles a line while a sheet is being written; `None` if it is an ordinary command.
    pub(super) fn sheet_line(&mut self, line: &str) -> Option<Done> {
        let entry = self.sheet_entry.clone()?;
        let line = line.trim();
        let (first, rest) = split_first(line);
        let known = self.campaign_roster().is_ok_and(|roster| roster.characters.contains_key(&entry.name));
        if !known {
            // Creating the character was undone.
            self.sheet_entry = None;
            return None;
        }
        Some(match first.to_lowercase().as_str() {
            "help" | "?" if rest.is_empty() => self.help_on_sheet(),
            "quit" | "exit" | "bye" | "undo" | "redo" | "help" | "?" | "note" | "roster" | "goto" => return None,
            _ if line.ends_with('?') => return None,
            "" => self.go_to_step(entry.at + 1),
            "next" | "skip" if rest.is_empty() => self.go_to_step(entry.at + 1),
            "back" if rest.is_empty() => self.go_to_step(entry.at.saturating_sub(1)),
            "show" | "sheet" if rest.is_empty() => self.show_sheet_entry().and_then(|()| self.ask_step()),
            "done" if rest.is_empty() => self.end_sheet(),
            _ => {
                let keyed = |(_, step): &(usize, &SheetStep)| length_of_key(step, line).is_some();
                match entry.steps.iter().enumerate().filter(keyed).max_by_key(|(_, step)| step.key.len()) {
                    Some((at, step)) => {
                        let value = line.get(length_of_key(step, line).unwrap_or(0)..).unwrap_or("");
                        let value = value.trim_start_matches(':').trim();
                        match value {
                            "" => self.go_to_step(at),
                            value => self.set_step(at, value),
                        }
                    }
                    None => self.set_step(entry.at, line),
                }
            }
        })
    }

    /// The prompt while a sheet is being written: the name and the current step.
    pub(super) fn sheet_prompt(&self) -> Option<Vec<String>> {
        let entry = self.sheet_entry.as_ref()?;
        let step = entry.steps.get(entry.at).map_or("done?", |step| step.title.as_str());
        Some(vec![format!("sheet of {}", entry.name), step.to_owned()])
    }

    fn go_to_step(&mut self, at: usize) -> Done {
        let Some(entry) = &mut self.sheet_entry else { return Ok(()) };
        let asked: Vec<usize> = (0..entry.steps.len()).filter(|at| !entry.steps[*at].by_play).collect();
        let last = asked.last().copied().unwrap_or(0);
        if at > entry.at && at > last {
            self.show_sheet_entry()?;
            let hint = "That is the last step. `done` ends; `STEP VALUE` changes a step.";
            return Ok(self.screen.row(&Row::at(2).faint(hint))?);
        }
        let forward = at > entry.at;
        let found = match forward {
            true => asked.iter().find(|asked| **asked >= at),
            false => asked.iter().rev().find(|asked| **asked <= at).or(asked.first()),
        };
        entry.at = found.copied().unwrap_or(at.min(entry.steps.len().saturating_sub(1)));
        self.ask_step()
    }

    fn ask_step(&mut self) -> Done {
        let Some(entry) = self.sheet_entry.clone() else { return Ok(()) };
        let Some(step) = entry.steps.get(entry.at) else { return Ok(()) };
        let sheet = self.sheet_of(&entry.name)?;
        if self.screen.json() {
            let told = json!({ "name": entry.name, "step": step, "value": sheet.get(&*step.key).map(typed) });
            return Ok(self.screen.event("sheet_step", &told)?);
        }
        let mut row = Row::at(0).strong(&step.title);
        if let Some(value) = sheet.get(&*step.key) {
            row = row.plain(format!("  {}", typed(value)));
        }
        self.screen.row(&row)?;
        if !step.text.is_empty() {
            self.screen.row(&Row::prose(2).faint(&step.text))?;
        }
        if !step.options.is_empty() {
            self.screen.row(&Row::prose(2).faint(step.options.join(", ")))?;
        }
        Ok(())
    }

    /// Sets one key of the sheet, unless that newly breaks a rule.
    fn set_step(&mut self, at: usize, text: &str) -> Done {
        let Some(entry) = self.sheet_entry.clone() else { return Ok(()) };
        let Some(step) = entry.steps.get(at) else { return Ok(()) };
        let value = match text {
            "-" | "none" if step.form != SheetForm::Number => None,
            text => Some(step.form.read(text).map_err(|wrong| Complaint::Wrong(format!("{}: {wrong}.", step.title)))?),
        };
        if let Some(value) = &value {
            check_options(step, value)?;
        }
        let before = self.sheet_of(&entry.name)?;
        let mut after = before.clone();
        match value {
            Some(value) => after.insert(step.key.as_str().into(), value),
            None => after.remove(step.key.as_str()),
        };
        let (old, new) = (Value::Map(Arc::new(before)), Value::Map(Arc::new(after)));
        let (rules, switches) = (self.session.ruleset().clone(), self.session.switches().clone());
        let known = rules.check_sheet_under(&old, switches.clone()).unwrap_or_default();
        let found = rules.check_sheet_under(&new, switches.clone()).map_err(fault)?;
        let broken: Vec<&Breach> = found.iter().filter(|breach| !breach.warning && !known.contains(breach)).collect();
        if !broken.is_empty() {
            let told: Vec<String> = broken.iter().map(|breach| breach.in_words()).collect();
            return Err(Complaint::Wrong(told.join("\n")));
        }
        // If a script cannot build it, the sheet has another error.
        if rules.creates(CreationPart::Build) {
            rules.build_sheet(&new, switches.clone()).map_err(fault)?;
        }
        let price = |sheet: &Value| rules.price_sheet(sheet, switches.clone()).map_err(fault);
        let (was, now) = (price(&old)?, price(&new)?);
        let act = format!("roster: {}, {} {text}", entry.name, step.title);
        let name = entry.name.clone();
        self.change_roster(&act, |roster| {
            if let Some(character) = roster.characters.get_mut(&name) {
                character.sheet = Some(new.clone());
                character.fields.clear();
            }
        })?;
        if let Some(entry) = &mut self.sheet_entry {
            entry.at = at;
        }
        if let (Some(was), Some(now)) = (was, now) {
            let change = now.cost() - was.cost();
            let left = now.have.map_or(String::new(), |have| format!(", {} of {have} left", have - now.cost()));
            let cost = match change {
                0 => "costs nothing more".to_owned(),
                change if change < 0 => format!("gives back {}", -change),
                change => format!("costs {change}"),
            };
            self.say_done(&format!("{} {text}: {cost}{left}", step.title))?;
        } else {
            self.say_done(&format!("{} {text}", step.title))?;
        }
        for warning in found.iter().filter(|breach| breach.warning && !known.contains(breach)) {
            self.screen.row(&Row::at(2).with(warning.in_words(), Tone::Note))?;
        }
        self.go_to_step(at + 1)
    }

    /// Prints the whole sheet with its cost and its errors.
    fn show_sheet_entry(&mut self) -> Done {
        let Some(entry) = self.sheet_entry.clone() else { return Ok(()) };
        let sheet = self.sheet_of(&entry.name)?;
        let whole = Value::Map(Arc::new(sheet.clone()));
        let (rules, switches) = (self.session.ruleset().clone(), self.session.switches().clone());
        let price = rules.price_sheet(&whole, switches.clone()).map_err(fault)?;
        let breaches = rules.check_sheet_under(&whole, switches).map_err(fault)?;
        if self.screen.json() {
            let lines: BTreeMap<&Arc<str>, String> = sheet.iter().map(|(key, value)| (key, typed(value))).collect();
            let told = json!({ "name": entry.name, "sheet": lines, "price": price, "breaches": breaches });
            return Ok(self.screen.event("sheet_entry", &told)?);
        }
        self.screen.row(&Row::at(0).strong(&entry.name).faint(format!("  {}", rules.name())))?;
        let cells = entry.steps.iter().filter_map(|step| {
            let value = sheet.get(&*step.key)?;
            Some(vec![Span::plain(&step.title), Span::plain(typed(value))])
        });
        self.screen.columns(2, cells.collect())?;
        if let Some(price) = price {
            let cells = price.lines.iter().filter(|(_, cost)| *cost != 0);
            let cells = cells.map(|(text, cost)| vec![Span::faint(text), Span::faint(cost.to_string())]).collect();
            self.screen.columns(4, cells)?;
            let of = price.have.map_or(String::new(), |have| format!(" of {have}"));
            self.screen.row(&Row::at(2).plain(format!("costs {}{of} points", price.cost())))?;
        }
        for breach in &breaches {
            let tone = if breach.warning { Tone::Note } else { Tone::Bad };
            self.screen.row(&Row::at(2).with(breach.in_words(), tone))?;
        }
        Ok(())
    }

    fn end_sheet(&mut self) -> Done {
        let Some(entry) = self.sheet_entry.clone() else { return Ok(()) };
        let whole = Value::Map(Arc::new(self.sheet_of(&entry.name)?));
        let found = self.session.ruleset().check_sheet_under(&whole, self.session.switches().clone()).map_err(fault)?;
        let broken: Vec<String> = found.iter().filter(|breach| !breach.warning).map(Breach::in_words).collect();
        if !broken.is_empty() {
            let text = format!(
                "{}\nThe sheet stays in the roster: `roster edit {}` continues it.",
                broken.join("\n"),
                entry.name
            );
            self.sheet_entry = None;
            return Err(Complaint::Wrong(text));
        }
        self.sheet_entry = None;
        self.say_done(&format!("{0} is in the roster. `encounter {0} against NAMES` begins a scene.", entry.name))?;
        self.asked = None;
        self.show_standing()
    }

    fn sheet_of(&self, name: &str) -> Result<SheetFields, Complaint> {
        let roster = self.campaign_roster()?;
        let sheet = roster.characters.get(name).and_then(|character| character.sheet.clone());
        Ok(sheet.map(map_of).unwrap_or_default())
    }

    /// Finds a sheet of the roster or of the ruleset's cast. Returns its name and the sheet.
    pub(super) fn sheet_named(&self, text: &str) -> Result<(String, Value), Complaint> {
        match self.character_named(text) {
            Ok((name, character)) => {
                return match character.sheet {
                    Some(sheet) => Ok((name, sheet)),
                    None => Err(without_sheet(&name)),
                };
            }
            Err(complaint @ Complaint::Refused(Refusal::Ambiguous { .. })) => return Err(complaint),
            Err(_) => {}
        }
        let rules = self.session.ruleset();
        let cast: Vec<(&String, String)> = rules.cast().keys().map(|id| (id, readable_name(id))).collect();
        let titles: Vec<&str> = cast.iter().map(|(_, title)| title.as_str()).collect();
        match one_of(text, &titles)? {
            Some(found) => {
                let (id, _) = cast[titles.iter().position(|title| title == found).unwrap_or_default()];
                Ok((id.clone(), rules.cast()[id].clone()))
            }
            None => {
                let roster = self.campaign_roster().unwrap_or_default();
                let list = format!("The cast: {}.", titles.join(", "));
                let known = titles.into_iter().chain(roster.characters.keys().map(String::as_str));
                let sentence = format!("There is no sheet `{text}` in the roster or the cast.");
                Err(Complaint::unknown(sentence, text, known, &list))
            }
        }
    }
}

/// The number of bytes of a line that name a step; `None` if it does not begin with its key or title.
fn length_of_key(step: &SheetStep, line: &str) -> Option<usize> {
    let line = line.to_lowercase();
    let words = [readable_name(&step.key), step.title.to_lowercase()];
    let named = words.iter().filter(|word| {
        let rest = line.strip_prefix(word.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == ':'))
    });
    named.map(String::len).max()
}

fn check_options(step: &SheetStep, value: &Value) -> Done {
    if step.options.is_empty() {
        return Ok(());
    }
    let given: Vec<String> = match value {
        Value::Text(text) => vec![text.to_string()],
        Value::List(items) => items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect(),
        Value::Map(items) => items.keys().map(ToString::to_string).collect(),
        _ => return Ok(()),
    };
    match given.into_iter().find(|word| !step.options.contains(word)) {
        None => Ok(()),
        Some(word) => {
            let list = format!("Type one of {}.", step.options.join(", "));
            let known = step.options.iter().map(String::as_str);
            Err(Complaint::unknown(format!("{}: there is no `{word}`.", step.title), &word, known, &list))
        }
    }
}

fn without_sheet(name: &str) -> Complaint {
    Complaint::Wrong(format!("{name} was kept without a sheet. `roster keep {name}` in a scene keeps one."))
}

fn map_of(sheet: Value) -> SheetFields {
    match sheet {
        Value::Map(fields) => (*fields).clone(),
        _ => SheetFields::new(),
    }
}

/// A value of a sheet in its typed form.
pub(super) fn typed(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::List(items) => items.iter().map(typed).collect::<Vec<_>>().join(", "),
        Value::Map(items) => {
            items.iter().map(|(name, value)| format!("{name} {}", typed(value))).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

pub(super) fn fault(fault: Fault) -> Complaint {
    Complaint::Wrong(fault.to_string())
}
