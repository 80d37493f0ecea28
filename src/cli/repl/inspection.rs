//! The commands that only show something.

use riskbreaker::names::{exactly, spelling, typed};
use riskbreaker::play::{Explanation, Term};
use riskbreaker::state::Schema;
use riskbreaker::state::readable_name;
use riskbreaker::{Choice, EntityId, Event, Happening, Refusal, Ruleset, Step, Value};
use serde_json::json;

use super::act::count;
use super::event_rows::SECRET;
use super::line::split_first;
use super::master::driver_name;
use super::question::with_capital;
use super::reader::{with_synonym, without_articles};
use super::vocabulary::Vocabulary;
use super::{Complaint, Done, Repl, names};

use crate::cli::row::{Row, Span, width_of};
use crate::cli::{rule_text, rules};

impl Repl {
    /// The command `options`: prints the question again, with all options.
    pub(super) fn show_options(&mut self, words: &str) -> Done {
        match &self.step {
            Step::Over(_) => return Err(self.over()),
            Step::Fault(_) => {
                return Err(Complaint::wrong("A script error stopped the game: `retry`, `skip` or `undo`."));
            }
            Step::Ask => {}
        }
        let question = self.focused().filter(|_| !words.is_empty());
        if question.is_some_and(|question| question.ask.search(words).is_empty()) {
            return Err(Complaint::Unread(format!("No option contains `{words}`: `options` alone lists all.")));
        }
        self.ask_with(true, words)?;
        let acts = self.session.free_acts();
        if acts.is_empty() || !words.is_empty() || self.screen.json() {
            return Ok(());
        }
        let mut names: Vec<String> =
            acts.iter().filter(|act| act.enabled).map(|act| format!("`{}`", readable_name(&act.name))).collect();
        names.dedup();
        if !names.is_empty() {
            self.screen.row(&Row::at(2).faint(format!("Out of turn: {}", names.join(", "))))?;
        }
        Ok(())
    }

    pub(super) fn show_free_acts(&mut self) -> Done {
        let acts = self.session.free_acts();
        if self.screen.json() {
            return Ok(self.screen.event("free_acts", &json!({ "acts": acts }))?);
        }
        if acts.is_empty() {
            return Err(Complaint::wrong("Nothing can be done out of turn here."));
        }
        let cells = acts
            .iter()
            .map(|act| match act.enabled {
                true => {
                    vec![Span::strong(readable_name(&act.name)), Span::plain(&*act.seat), Span::plain(&*act.title)]
                }
                false => vec![
                    Span::faint(readable_name(&act.name)),
                    Span::faint(&*act.seat),
                    Span::faint(act.reason.as_deref().unwrap_or("the rules do not allow it now")),
                ],
            })
            .collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// Prints a view of the ruleset, for the seat that is asked now.
    pub(super) fn view(&mut self, name: &str) -> Done {
        let asked = self.focused().map(|question| question.seat.to_string());
        let seat = asked.or_else(|| self.person()).unwrap_or_default();
        let lines = self.session.show(name, &seat).map_err(|fault| Complaint::Wrong(fault.to_string()))?;
        let title = self.session.ruleset().views().iter().find(|view| *view.name == *name);
        let title = title.map_or_else(|| name.to_owned(), |view| view.title.to_string());
        self.show_pairs(name, &title, &lines)
    }

    /// The command `sheet [NAME]`.
    pub(super) fn sheet(&mut self, rest: &str) -> Done {
        let entity = match rest.to_lowercase().as_str() {
            // A side has no sheet that tells anything; the table shows its people.
            "" if self.whose().is_some_and(|asked| !self.has_overview(asked)) => return self.look(),
            "" | "me" | "my" | "myself" | "mine" | "my character" => {
                self.whose().ok_or_else(|| Complaint::wrong("Say whose sheet: `sheet NAME`. `who` lists the names."))?
            }
            _ => match self.only_entity(rest) {
                Ok(entity) => entity,
                Err(complaint) => return self.sheet_of_roster(rest).unwrap_or(Err(complaint)),
            },
        };
        let lines = self.session.sheet(entity).map_err(|fault| Complaint::Wrong(fault.to_string()))?;
        let title = self.marked_title(entity);
        self.show_pairs("sheet", &title, &lines)
    }

    /// Prints the sheet of a character of the roster that is not in the scene; `None` if the roster has no such name.
    fn sheet_of_roster(&mut self, name: &str) -> Option<Done> {
        if !self.masters() || self.campaign.is_none() {
            return None;
        }
        let (name, character) = self.character_named(name).ok()?;
        let lines = super::campaign::sheet_lines(&character);
        Some(self.show_pairs("sheet", &format!("{name} (roster)"), &lines))
    }

    /// The label of an entity; on a screen that shows everything, with a mark if it is secret.
    fn marked_title(&self, entity: EntityId) -> String {
        let view = self.session.view();
        let mark = if self.masters() && view.is_secret(entity) { SECRET } else { "" };
        format!("{}{mark}", view.label(entity))
    }

    /// True if the table shows the kind of an entity, one row each.
    fn has_overview(&self, entity: EntityId) -> bool {
        let schema = self.session.ruleset().schema();
        let kind = self.session.view().kind(entity).and_then(|kind| schema.kind_named(kind));
        kind.is_some_and(|kind| schema.kind(kind).overview)
    }

    /// The entity for a look without a name: the one that is asked, or was asked last.
    fn whose(&self) -> Option<EntityId> {
        let asked = self.focused().and_then(|question| question.about).or(self.about);
        asked.filter(|id| self.session.view().exists(*id))
    }

    /// Finds the entity that the whole `text` names.
    pub(super) fn only_entity(&self, text: &str) -> Result<EntityId, Complaint> {
        let view = self.session.view();
        match names::entity(&view, text)? {
            (entity, "") => Ok(entity),
            (entity, rest) => {
                Err(Complaint::Wrong(format!("Type only `{}`; `{rest}` is not part of a name.", view.label(entity))))
            }
        }
    }

    /// The command `who [KIND]`: prints the names by kind, or one kind with its numbers.
    pub(super) fn who(&mut self, rest: &str) -> Done {
        let words = self.words();
        if rest.is_empty() {
            return self.overview(&words.kinds);
        }
        let kind = match names::one_of(rest, &words.kinds) {
            Ok(Some(kind)) => kind.clone(),
            other => {
                match (self.only_entity(rest), other) {
                    (Ok(_), _) => return self.sheet(rest),
                    (_, Err(complaint)) | (Err(complaint @ Complaint::Refused(Refusal::Ambiguous { .. })), _) => {
                        return Err(complaint);
                    }
                    _ => {}
                }
                let kinds = format!("Kinds: {}.", words.kinds.join(", "));
                let known = words.kinds.iter().map(String::as_str);
                return Err(Complaint::unknown(format!("There is no kind or name `{rest}`."), rest, known, &kinds));
            }
        };
        let rules = self.session.ruleset().clone();
        let view = self.session.view();
        let ids: Vec<EntityId> = view.of_kind(&kind).collect();
        let Some(declared) = rules.schema().kind_named(&kind).filter(|_| !ids.is_empty()) else { return Ok(()) };
        let title = title_field(rules.schema(), &kind);
        // The first entity may hide a field that others show.
        let seen = |name: &str| ids.iter().any(|id| view.field(*id, name).is_some());
        let fields = rules.schema().kind(declared).fields.iter();
        let fields: Vec<(String, String)> = fields
            .filter(|field| field.show && Some(&*field.name) != title && seen(&field.name))
            .map(|field| (field.name.to_string(), field.label.to_string()))
            .collect();
        let rows: Vec<Vec<String>> = ids
            .iter()
            .map(|id| {
                let values = fields
                    .iter()
                    .map(|(field, _)| view.field(*id, field).map_or(String::new(), |value| view.words(value)));
                std::iter::once(self.marked_title(*id)).chain(values).collect()
            })
            .collect();
        if self.screen.json() {
            let names: Vec<&String> = fields.iter().map(|(name, _)| name).collect();
            return Ok(self.screen.event("who", &json!({ "kind": kind, "fields": names, "rows": rows }))?);
        }
        let header: Vec<&str> =
            std::iter::once(kind.as_str()).chain(fields.iter().map(|(_, label)| label.as_str())).collect();
        Ok(self.screen.table(&header, rows)?)
    }

    /// Prints a row for each entity of the kinds with an overview, and the names of the others.
    fn overview(&mut self, kinds: &[String]) -> Done {
        let schema = self.session.ruleset().clone();
        let schema = schema.schema();
        let untold = self.untold();
        let mut names: Vec<(String, String)> = Vec::new();
        let mut unlisted: Vec<(String, String)> = Vec::new();
        let mut tables: Vec<(String, Vec<Line>)> = Vec::new();
        for kind in kinds {
            let view = self.session.view();
            let ids: Vec<(EntityId, String)> = view.of_kind(kind).map(|id| (id, self.marked_title(id))).collect();
            if schema.kind_named(kind).is_some_and(|kind| schema.kind(kind).overview) {
                let (ids, titles): (Vec<EntityId>, Vec<String>) = ids.into_iter().unzip();
                let rows = self.session.overviews(ids).map_err(|fault| Complaint::Wrong(fault.to_string()))?;
                tables.push((kind.clone(), titles.into_iter().zip(rows).collect()));
                continue;
            }
            let titles = ids.into_iter().map(|(_, title)| title).collect::<Vec<_>>().join(", ");
            match self.screen.json() || !untold.kinds.iter().any(|hidden| **hidden == **kind) {
                true => names.push((kind.clone(), titles)),
                false => unlisted.push((kind.clone(), titles)),
            }
        }
        if self.screen.json() {
            let tables: Vec<_> = tables.iter().map(|(kind, rows)| json!({ "kind": kind, "rows": rows })).collect();
            return Ok(self.screen.event("who", &json!({ "lines": names, "overview": tables }))?);
        }
        // Kinds whose changes are not printed are listed only if there is nothing else.
        if tables.iter().all(|(_, rows)| rows.is_empty()) && names.iter().all(|(_, titles)| titles.is_empty()) {
            names = unlisted;
        }
        for (kind, rows) in &tables {
            self.show_overview(kind, rows)?;
        }
        // Names that the tables above show in a column are not listed again.
        let shown = |titles: &str| {
            let cells = || tables.iter().flat_map(|(_, rows)| rows).flat_map(|(_, cells)| cells);
            titles.split(", ").all(|title| cells().any(|(_, text)| text == title))
        };
        names.retain(|(_, titles)| !titles.is_empty() && !shown(titles));
        let cells = names.iter().map(|(kind, titles)| vec![Span::faint(kind), Span::plain(titles)]).collect();
        Ok(self.screen.columns(2, cells)?)
    }

    /// Prints a row for each entity of a kind, with headings; on a narrow terminal, a paragraph each.
    fn show_overview(&mut self, kind: &str, rows: &[Line]) -> Done {
        let mut labels: Vec<&str> = Vec::new();
        for (label, text) in rows.iter().flat_map(|(_, cells)| cells) {
            if !text.is_empty() && !labels.contains(&label.as_str()) {
                labels.push(label);
            }
        }
        let value = |row: &[(String, String)], label: &str| {
            row.iter().find(|(known, _)| known == label).map_or(String::new(), |(_, text)| text.clone())
        };
        let widest = |label: &str| {
            let cells = rows.iter().map(|(_, row)| width_of(&value(row, label)));
            cells.chain([width_of(label)]).max().unwrap_or_default() + 2
        };
        let first = rows.iter().map(|(title, _)| width_of(title)).chain([width_of(kind)]).max().unwrap_or_default();
        let wide = first + labels.iter().map(|label| widest(label)).sum::<usize>() + 2;
        if self.screen.width().is_some_and(|width| wide > width) {
            for (title, row) in rows {
                let mut built = Row::at(2).strong(title);
                for label in &labels {
                    let text = value(row, label);
                    if !text.is_empty() && text != "-" {
                        built = built.plain(" · ").faint(format!("{label} ")).plain(text);
                    }
                }
                self.screen.row(&built)?;
            }
            return Ok(());
        }
        let heading = std::iter::once(kind).chain(labels.iter().copied()).map(Span::faint);
        let mut cells = vec![heading.collect::<Vec<_>>()];
        cells.extend(rows.iter().map(|(title, row)| {
            let values = labels.iter().map(|label| Span::plain(value(row, label)));
            std::iter::once(Span::strong(title)).chain(values).collect()
        }));
        Ok(self.screen.columns(2, cells)?)
    }

    /// The command `why [NAME FIELD
    /// OPTION
    /// WORD]`.
    pub(super) fn why(&mut self, rest: &str, words: &Vocabulary) -> Done {
        if rest.is_empty() {
            return self.why_now();
        }
        let (first, back) = split_first(rest);
        if first.eq_ignore_ascii_case("roll") && (back.is_empty() || back.parse::<usize>().is_ok()) {
            return self.why_roll(count(back, 1)?);
        }
        if let Some(told) = self.why_option(rest, false)? {
            return self.told(told);
        }
        if let Ok(number) = rest.parse::<u32>() {
            return self.why_entry(number);
        }
        if self.names_a_card(rest)
            && let Some(shown) = self.help_on(rest, words)
        {
            // A value may have the word in its name.
            return shown;
        }
        let (entity, field, args) = match self.value_named(rest) {
            Ok(found) => found,
            Err(complaint) if self.session.view().find(rest).is_ok() => return Err(complaint),
            Err(complaint) => {
                if let Some(told) = self.why_option(rest, true)? {
                    return self.told(told);
                }
                if let Some(told) = self.why_option_of_line(rest, words)? {
                    return self.told(told);
                }
                let Some((told, label)) = self.column_of(rest) else {
                    if matches!(complaint, Complaint::Refused(Refusal::Ambiguous { .. })) {
                        return Err(complaint);
                    }
                    // It is a card that is not offered now, a rule, or a word of the rules.
                    return self.help_on(rest, words).unwrap_or(Err(complaint));
                };
                self.told(told)?;
                return self.help_on(&label, words).unwrap_or(Ok(()));
            }
        };
        let explanation = self.session.why(entity, &field, &args)?;
        if self.screen.json() {
            return Ok(self.screen.event("why", &json!({ "explanation": explanation }))?);
        }
        let is_derived = self.session.view().derived_takes(entity, &field).is_some();
        self.show_explanation(&explanation, is_derived)
    }

    /// Resolves a value that the whole `text` names: `NAME FIELD`, or a field of the asked entity. A derived value may
    /// be followed by its arguments: names of entities, numbers and words.
    fn value_named(&self, text: &str) -> Result<(EntityId, String, Vec<Value>), Complaint> {
        let view = self.session.view();
        let of = |entity: EntityId, field: &str| {
            let title = view.label(entity);
            // A hidden field can be named here: `why` says that it is hidden.
            let mut known = names::values(&view, entity);
            let schema = self.session.ruleset().schema();
            let kind = view.kind(entity).and_then(|kind| schema.kind_named(kind));
            for field in kind.into_iter().flat_map(|kind| &schema.kind(kind).fields) {
                if known.iter().all(|(name, _)| **name != *field.name) {
                    known.push((field.name.to_string(), field.label.to_string()));
                }
            }
            match names::field(&title, &known, field)? {
                (field, "") => Ok((entity, field, Vec::new())),
                (field, rest) if view.derived_takes(entity, &field).is_some_and(|takes| takes != Some(0)) => {
                    let args = self.arguments(rest)?;
                    Ok((entity, field, args))
                }
                (_, rest) => Err(Complaint::Wrong(format!(
                    "Type only `why {title} {}`.",
                    field[..field.len() - rest.len()].trim()
                ))),
            }
        };
        // Without a name the asked entity is meant, even if the field begins with a name, as `fight rating` begins with
        // `fight`.
        let own = || self.whose().and_then(|entity| of(entity, text).ok());
        match names::entity(&view, text) {
            Ok((entity, field)) => of(entity, field).or_else(|complaint| own().ok_or(complaint)),
            Err(complaint) => own().ok_or(complaint),
        }
    }

    /// True if a text is the name of a card, and not of a value of the asked entity.
    fn names_a_card(&self, text: &str) -> bool {
        let is_same = |name: &str| spelling(name) == spelling(text);
        let view = self.session.view();
        let values = self.whose().map_or(Vec::new(), |entity| names::values(&view, entity));
        let mut cards = self.session.ruleset().cards().iter();
        cards.any(|card| is_same(&card.title)) && !values.iter().any(|(name, label)| is_same(name) || is_same(label))
    }

    /// True if a text names a value of the asked entity, and nothing else.
    pub(super) fn names_own_value(&self, text: &str) -> bool {
        let is_somebody = names::entity(&self.session.view(), text).is_ok();
        // `not archer` is no value with an argument.
        let is_name = !text.contains(' ') || self.words().fields.iter().any(|field| spelling(field) == spelling(text));
        text.chars().count() > 2 && is_name && !is_somebody && self.value_named(text).is_ok()
    }

    /// Parses the arguments of a derived value: entities by name, numbers, and other words as texts.
    fn arguments(&self, text: &str) -> Result<Vec<Value>, Complaint> {
        let view = self.session.view();
        let (mut args, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (word, after) = split_first(rest);
            (args, rest) = match (names::entity(&view, rest), word.parse::<i64>()) {
                (_, Ok(n)) => (with(args, Value::Int(n)), after),
                (Ok((entity, after)), _) => (with(args, Value::Entity(entity)), after),
                (Err(complaint @ Complaint::Refused(Refusal::Ambiguous { .. })), _) => return Err(complaint),
                (Err(_), _) if word.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
                    (with(args, Value::text(word)), after)
                }
                (Err(complaint), _) => return Err(complaint),
            };
        }
        Ok(args)
    }

    /// Finds a column of `look` or a line of the sheet after the name of an entity. Returns its text and heading.
    fn column_of(&mut self, text: &str) -> Option<(String, String)> {
        let view = self.session.view();
        let (entity, heading) = names::entity(&view, text).ok()?;
        let (heading, title) = (heading.to_owned(), view.label(entity).to_string());
        let mut cells = self.session.overview(entity).ok()?;
        for line in self.session.sheet(entity).ok()? {
            if cells.iter().all(|(label, _)| *label != line.0) {
                cells.push(line);
            }
        }
        let at = match typed(&heading, || cells.iter().map(|(label, _)| label).enumerate()).as_slice() {
            [at] => *at,
            _ => return None,
        };
        let (label, text) = cells.into_iter().nth(at)?;
        Some((format!("{title}: {label} {text}"), label))
    }

    /// The rolls of the game that this screen may see, the last one first.
    fn rolls(&self, wanted: usize) -> Result<impl Iterator<Item = Happening>, Complaint> {
        let of = |log: Vec<Event>| -> Vec<Happening> {
            let rolls = log
                .into_iter()
                .rev()
                .filter(|event| matches!(event.happening, Happening::Rolled { .. }) && self.may_see(&event.audience));
            rolls.map(|event| event.happening).collect()
        };
        let mut rolls = of(self.session.log());
        if rolls.len() < wanted {
            // Older rolls are only in the campaign.
            rolls = of(self.whole_log()?.into_iter().flat_map(|scene| scene.events).collect());
        }
        Ok(rolls.into_iter())
    }

    /// The command `why` alone: prints the open question with its rule, and the last roll.
    fn why_now(&mut self) -> Done {
        let rolled = self.rolls(1)?.next();
        let question = self.focused().cloned();
        if question.is_none() && rolled.is_none() {
            return Err(Complaint::wrong(
                "No question is open and nothing was rolled. `why NAME FIELD` explains a number.",
            ));
        }
        if self.screen.json() {
            let question = question.map(|question| self.session.as_told(&question));
            return Ok(self.screen.event("why", &json!({ "question": question, "roll": rolled }))?);
        }
        if let Some(question) = question {
            let asked = if question.why.is_empty() { readable_name(&question.topic) } else { question.why.clone() };
            let whom = self.whom(&question);
            let asked = if asked.contains(&whom) { with_capital(&asked) } else { format!("{whom}: {asked}") };
            self.screen.row(&Row::at(0).strong("Question").plain(format!("  {asked}")))?;
            self.show_rules_of(&question.why)?;
            let closed: Vec<Vec<Span>> = question
                .ask
                .options()
                .iter()
                .filter(|option| !option.enabled)
                .map(|option| {
                    let reason = self.closed_because(&question, &option.label, option.reason.as_deref());
                    vec![Span::plain(&*option.label), Span::plain(reason)]
                })
                .collect();
            if !closed.is_empty() {
                self.screen.row(&Row::at(2).faint("closed:"))?;
                self.screen.columns(4, closed)?;
            }
        }
        if let Some(rolled) = rolled {
            self.show_roll("Last roll", &rolled)?;
        }
        let number = self.whose().and_then(|entity| {
            let view = self.session.view();
            let mut numbers = view.fields(entity).filter(|(field, value)| field.show && value.as_int().is_some());
            numbers.next().map(|(field, _)| format!(", such as `why {}`", field.label))
        });
        let hint = format!("`why NAME FIELD` explains a number{}; `help WORD` a word.", number.unwrap_or_default());
        Ok(self.screen.row(&Row::at(2).faint(hint))?)
    }

    /// The command `why roll [N]`: explains the last roll, or the Nth last.
    fn why_roll(&mut self, back: usize) -> Done {
        let Some(rolled) = self.rolls(back)?.nth(back - 1) else {
            let all = self.rolls(usize::MAX)?.count();
            return Err(Complaint::Wrong(match all {
                0 => "Nothing was rolled yet.".into(),
                all => format!("Type a number from 1 to {all}: `why roll 1` explains the last roll."),
            }));
        };
        if self.screen.json() {
            return Ok(self.screen.event("why", &json!({ "roll": rolled }))?);
        }
        self.show_roll("Roll", &rolled)
    }

    /// Prints a roll, the terms of the number that it needed, and the rules that it names.
    fn show_roll(&mut self, heading: &str, rolled: &Happening) -> Done {
        self.screen.row(&Row::at(0).strong(heading).plain(format!("  {}", rolled.line())))?;
        if let Happening::Rolled { terms, .. } = rolled {
            let told: Vec<&Term> = terms.iter().collect();
            self.show_terms(&told)?;
            let labels: Vec<&str> = told.iter().map(|term| term.label.as_str()).collect();
            return self.show_rules_of(&format!("{} {}", rolled.line(), labels.join(" ")));
        }
        self.show_rules_of(&rolled.line())
    }

    /// Prints the texts of the rules whose ids are in brackets in a text.
    fn show_rules_of(&mut self, text: &str) -> Done {
        let rules = self.session.ruleset().clone();
        let ids = text.split(['(', ')', ',', ' ', '.', ':']).filter(|word| word.contains('-') && word.len() > 3);
        let mut told = std::collections::BTreeSet::new();
        let ids = ids.filter(|id| told.insert(*id));
        let cells: Vec<Vec<Span>> =
            ids.filter_map(|id| Some(vec![Span::faint(id), Span::plain(rule_line(&rules, id)?)])).collect();
        Ok(self.screen.columns(2, cells)?)
    }

    fn show_explanation(&mut self, explanation: &Explanation, is_derived: bool) -> Done {
        self.screen.row(&Row::at(0).strong(&explanation.title).plain(format!(" is {}", explanation.value)))?;
        self.show_terms(&explanation.terms.iter().collect::<Vec<_>>())?;
        for change in &explanation.changes {
            self.screen.row(&Row::at(2).plain(change))?;
        }
        if explanation.terms.is_empty() && explanation.changes.is_empty() {
            let none = if is_derived { "the rules name no parts of it" } else { "unchanged since the start" };
            self.screen.row(&Row::at(2).faint(none))?;
        }
        Ok(())
    }

    /// Prints the terms of a number, each with its source location; the terms of a term follow it, indented.
    fn show_terms(&mut self, terms: &[&Term]) -> Done {
        let place =
            |term: &Term| if term.path.is_empty() { String::new() } else { format!("{}:{}", term.path, term.line) };
        let mut depths: Vec<u32> = terms.iter().map(|term| term.depth).collect();
        depths.sort_unstable();
        depths.dedup();
        let inset = |term: &Term| " ".repeat(3 * depths.iter().filter(|depth| **depth < term.depth).count());
        let cells = terms.iter().map(|term| {
            let value = format!("{}{}", inset(term), term.value);
            vec![Span::plain(value), Span::plain(&term.label), Span::faint(place(term))]
        });
        Ok(self.screen.columns(2, cells.collect())?)
    }

    /// Why an option of the open question is closed, or that it is open. The option is given by number or name; with
    /// `by_part`, by a part of the name. `None` if no option is named.
    fn why_option(&self, text: &str, by_part: bool) -> Result<Option<String>, Complaint> {
        let Some(option) = self.option_named(text, by_part)? else { return Ok(None) };
        let (label, note) = (&option.label, option.note.as_deref().unwrap_or_default());
        if !option.enabled {
            let reason = match self.focused() {
                Some(question) => self.closed_because(question, label, option.reason.as_deref()),
                None => option.reason.clone().unwrap_or_default(),
            };
            return Ok(Some(format!("{label}: {reason}")));
        }
        // The name of an entity that can be chosen may be followed by a field.
        if text.parse::<usize>().is_err() && self.only_entity(text).is_ok() {
            return Ok(None);
        }
        let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
        Ok(Some(format!("{label} is open{note}. `odds {label}` shows what it can lead to, `help {label}` what it is.")))
    }

    /// Like `why_option`, for a line that begins with an option or a verb for it, and continues: `shoot the ogre`.
    fn why_option_of_line(&self, line: &str, words: &Vocabulary) -> Result<Option<String>, Complaint> {
        let line = without_articles(line);
        let line = words.with_option_of_verb(&line).or_else(|| with_synonym(&line, words)).unwrap_or(line);
        let count = words.words_of_option(&line);
        let option: Vec<&str> = line.split_whitespace().take(count).collect();
        if option.is_empty() { Ok(None) } else { self.why_option(&option.join(" "), true) }
    }

    /// The command `why N` if no open option has the number: prints the entry of the campaign with this number in `log
    /// --all`.
    fn why_entry(&mut self, number: u32) -> Done {
        let text = self.campaign.as_ref().filter(|_| self.masters()).and_then(|campaign| campaign.text(number).ok());
        match text {
            Some(text) => self.told(format!("Entry {number} is {text}. `goto {number}` goes there.")),
            None => Err(Complaint::Wrong(self.no_such_number(&number.to_string()))),
        }
    }

    /// The message that a number names nothing here, and what can be typed.
    pub(super) fn no_such_number(&self, number: &str) -> String {
        let open =
            self.focused().map_or(0, |question| question.ask.options().iter().filter(|option| option.enabled).count());
        let options = match open {
            0 => "The open question has no numbered options.".to_owned(),
            1 => "The open question has one option, number 1.".to_owned(),
            open => format!("The options have the numbers 1 to {open}."),
        };
        format!("No option has the number {number}. {options} `why roll` explains the last roll, `help WORD` a word.")
    }

    /// The option of the open question that a text names: by its printed number or its name; with `by_part`, by a part
    /// of the name.
    pub(super) fn option_named(&self, text: &str, by_part: bool) -> Result<Option<&Choice>, Complaint> {
        let Some(question) = self.focused() else { return Ok(None) };
        let options = question.ask.options();
        let place = text.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
        let spellings = || options.iter().flat_map(|option| [(option, &option.label), (option, &option.id)]);
        let by_name = || {
            let found = if by_part { typed(text, spellings) } else { exactly(text, spellings) };
            match found.as_slice() {
                [] => Ok(None),
                [only] => Ok(Some(*only)),
                several => Err(names::ambiguous(text, Choice::labels_among(several, options))),
            }
        };
        match place.and_then(|at| options.iter().filter(|option| option.enabled).nth(at)) {
            Some(option) => Ok(Some(option)),
            None => by_name(),
        }
    }

    /// The command `log [N]`.
    pub(super) fn log(&mut self, rest: &str) -> Done {
        let wanted = count(rest, 20).map_err(|_| {
            let sentence = format!("`log {rest}` is not known.");
            Complaint::unknown(sentence, rest, ["all", "--all"], "Type `log 50`, `log all` or `log --all`.")
        })?;
        let log = self.session.log();
        if log.is_empty() && self.campaign.is_none() && !self.screen.json() {
            return self.told("Nothing has happened yet.".to_owned());
        }
        if log.len() >= wanted || self.campaign.is_none() {
            let skipped = log.len() - log.len().min(wanted);
            return self.show_log(&log[skipped..], skipped);
        }
        let scenes = self.whole_log()?;
        let all: usize = scenes.iter().map(|scene| scene.events.len()).sum();
        let mut left_out = all - all.min(wanted);
        let several = scenes.len() > 1;
        for scene in scenes {
            let skipped = left_out.min(scene.events.len());
            left_out -= skipped;
            if skipped == scene.events.len() && skipped > 0 {
                continue;
            }
            if several && !self.screen.json() {
                self.screen.row(&Row::at(0).strong(&scene.title))?;
            }
            self.show_log(&scene.events[skipped..], skipped)?;
        }
        Ok(())
    }

    fn show_log(&mut self, events: &[Event], skipped: usize) -> Done {
        if skipped > 0 {
            let hint = format!("{skipped} earlier events; `log all` shows them");
            self.screen.row(&Row::at(2).faint(hint))?;
        }
        self.own.clear();
        if self.session.is_restricted() && self.screen.json() {
            // The game's own numbers would reveal hidden events in between.
            let own = |(n, event): (u32, &Event)| Event { action: event.action.min(2), n, ..event.clone() };
            let events: Vec<Event> = (0..).zip(events).map(own).collect();
            return self.tell(&events, true);
        }
        self.tell(events, true)
    }

    /// The command `cards [NAME]`.
    pub(super) fn cards(&mut self, rest: &str) -> Done {
        let rules = self.session.ruleset().clone();
        if rest.is_empty() {
            return Ok(rules::list_cards(&rules, &mut self.screen)?);
        }
        match rules::find_card(&rules, rest) {
            Ok(card) => Ok(rules::show_card(card, &rules, &mut self.screen)?),
            Err(refusal @ Refusal::Ambiguous { .. }) => Err(refusal.into()),
            Err(refusal) => Err(Complaint::Wrong(refusal.to_string())),
        }
    }

    pub(super) fn show_seats(&mut self) -> Done {
        let rules = self.session.ruleset().clone();
        let pairs: Vec<(String, String)> = self
            .session
            .seats()
            .iter()
            .map(|(seat, driver)| {
                let title = rules.seats().get(&**seat).cloned().unwrap_or_default();
                (seat.to_string(), format!("{} · {title}", driver_name(driver)))
            })
            .collect();
        self.show_pairs("seats", "seats", &pairs)
    }
}

/// A row of an overview: the label of the entity, and the cells with their headings.
type Line = (String, Vec<(String, String)>);

/// The line of the rule texts for an id or a topic.
pub(super) fn rule_line(rules: &Ruleset, key: &str) -> Option<String> {
    rule_text::line_of(rules.rule_texts().map(|(_, text)| text), key)
}

/// The field with the title of a kind, which is in the first column anyway.
fn title_field<'s>(schema: &'s Schema, kind: &str) -> Option<&'s str> {
    let kind = schema.kind(schema.kind_named(kind)?);
    Some(&*kind.field(kind.title?).name)
}

fn with(mut args: Vec<Value>, one: Value) -> Vec<Value> {
    args.push(one);
    args
}
