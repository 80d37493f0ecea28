//! The commands for manual edits by the game master.

use riskbreaker::play::{in_one_line, read_typed, typed_form};
use riskbreaker::state::{Field, Type, readable_name};
use riskbreaker::{Driver, Edit, Step, Value, View};

use super::line::split_first;
use super::{Complaint, Done, Repl, names};
use crate::cli::row::{Row, Tone};

/// The number of random words that a `reroll` skips: more than any action draws.
const PASSED_OVER: u64 = 1_000;

impl Repl {
    /// The command `set NAME FIELD VALUE`: writes a field.
    pub(super) fn set(&mut self, rest: &str) -> Done {
        let edit = self.edit_of(rest)?;
        self.session.edit(edit)?;
        self.settle_decided()
    }

    /// Parses the manual edit `NAME FIELD VALUE`.
    pub(super) fn edit_of(&self, rest: &str) -> Result<Edit, Complaint> {
        if rest.is_empty() {
            return Err(Complaint::wrong(
                "Type whose value, which and what: `set NAME FIELD VALUE`. `who` lists the names.",
            ));
        }
        let view = self.session.view();
        // An article is no name, although a name may begin with one.
        let (article, noun) = split_first(rest);
        let has_article = ["a", "an", "the"].contains(&&*article.to_lowercase()) && !noun.is_empty();
        let found = names::entity(&view, rest);
        let is_article = has_article && found.as_ref().is_ok_and(|(_, after)| *after == noun);
        let (entity, rest) = match names::entity(&view, noun) {
            Ok(named) if has_article && (is_article || found.is_err()) => named,
            _ => found?,
        };
        let title = view.label(entity);
        let derived = view.derived_names(entity);
        let mut known = names::values(&view, entity);
        known.retain(|(name, _)| !derived.iter().any(|derived| **derived == **name));
        let schema = self.session.ruleset().schema();
        let kind = view.kind(entity).and_then(|kind| schema.kind_named(kind));
        let relations = schema
            .kinds
            .iter()
            .filter(|relation| kind.is_some_and(|kind| schema.relation_from(kind, &relation.name).is_some()));
        known.extend(relations.map(|relation| (relation.name.to_string(), readable_name(&relation.name))));
        let (field, typed) = match names::field(&title, &known, rest) {
            Err(complaint) => {
                let computed: Vec<(String, String)> =
                    derived.iter().map(|name| (name.to_string(), readable_name(name))).collect();
                let Ok((name, _)) = names::field(&title, &computed, rest) else {
                    // `set a trap` is said of the game.
                    let usage = "`set NAME FIELD VALUE` changes a value. `who` lists the names.";
                    return Err(if is_article { Complaint::Unread(usage.to_owned()) } else { complaint });
                };
                let label = readable_name(&name);
                return Err(Complaint::Wrong(format!(
                    "The rules compute {label}. `why {title} {label}` shows from what; set one of those values."
                )));
            }
            found => found?,
        };
        let Some((declared, now)) = view.fields(entity).find(|(known, _)| *known.name == *field) else {
            // The field is a relation.
            let wanted = || Complaint::Wrong(format!("Type whom: `set {title} {field} NAME`, or `none` to end it."));
            let value = Some(typed).filter(|typed| !typed.is_empty());
            let value = value.and_then(|typed| read_typed(&view, &Type::Ref(None), typed)).ok_or_else(wanted)?;
            return Ok(Edit::Set { entity, field, value });
        };
        if typed.is_empty() {
            return Err(Complaint::Wrong(format!(
                "{title}'s {} is {}. Type a value after it: {}.",
                declared.label,
                view.words(now),
                typed_form(&declared.ty)
            )));
        }
        let value = read(&view, declared, now, typed)?;
        Ok(Edit::Set { entity, field, value })
    }

    /// The command `say TEXT`: adds a line to the log.
    pub(super) fn say(&mut self, rest: &str) -> Done {
        if rest.is_empty() {
            return Err(Complaint::wrong("Type the line for the log: `say TEXT`."));
        }
        self.session.edit(Edit::Say { text: rest.to_owned() })?;
        self.settle_decided()
    }

    /// The command `reroll`: plays the last line again with other dice.
    pub(super) fn reroll(&mut self) -> Done {
        self.turned = true;
        let from = self.session.decision_count();
        let start = self.last_mark(from);
        let mut undone = 0;
        while start.map_or(undone == 0 && from.total() > 0, |start| start < self.session.decision_count()) {
            self.session.undo()?;
            undone += 1;
        }
        let start = self.session.decision_count();
        let _ = self.session.advance()?;
        self.session.take_events();
        let edited = self.session.edit(Edit::OtherDice { words: PASSED_OVER });
        for _ in 0..undone {
            let _ = self.session.advance()?;
            if self.session.redo().is_err() {
                // With other dice the questions differ; the answers that fit were given.
                break;
            }
        }
        self.done.push(start);
        edited?;
        self.settle()
    }

    /// The command `seat [NAME DRIVER]`: shows or changes the driver of a seat.
    pub(super) fn seat(&mut self, rest: &str) -> Done {
        if rest.is_empty() {
            return self.show_seats();
        }
        let seats: Vec<String> = self.session.seats().keys().map(ToString::to_string).collect();
        let (seat, driver) = rest.rsplit_once(char::is_whitespace).unwrap_or((rest, ""));
        let seat = seat.trim();
        let Some(seat) = names::one_of(seat, &seats)? else {
            let list = format!("Seats: {}.", seats.join(", "));
            let known = seats.iter().map(String::as_str);
            return Err(Complaint::unknown(format!("There is no seat `{seat}`."), seat, known, &list));
        };
        if driver.is_empty() {
            return Err(Complaint::Wrong(format!(
                "Type who plays {seat}: `seat {seat} human`, `absent`, or a policy."
            )));
        }
        let driver = self.driver_named(driver)?;
        self.session.set_seat(seat, driver.clone())?;
        self.say_done(&format!("{seat}: {}", driver_name(&driver)))?;
        let before = self.step.clone();
        self.play_on()?;
        let is_stopped = matches!(self.step, Step::Fault(_)) && self.step == before;
        if is_stopped && !self.screen.json() && self.session.missing_roll().is_none() {
            // Nothing was retried, so the error is still open.
            let hint = "The error above still stops the game: type `retry` to try the action again.";
            return Ok(self.screen.row(&Row::at(2).with(hint, Tone::Note))?);
        }
        self.show_standing()
    }

    /// Parses the driver of a seat: `human`, `absent` or the name of a policy.
    fn driver_named(&self, word: &str) -> Result<Driver, Complaint> {
        let mut known = vec!["human".to_owned(), "absent".to_owned()];
        known.extend(self.session.ruleset().policies().iter().map(ToString::to_string));
        // The session refuses an unknown name and lists the known ones.
        let Ok(driver) = names::one_of(word, &known)?.map_or(word, String::as_str).parse::<Driver>();
        Ok(driver)
    }
}

/// The driver of a seat as a word.
pub(super) fn driver_name(driver: &Driver) -> String {
    match driver {
        Driver::Policy(id) => id.to_string(),
        Driver::Absent => "absent (defaults are taken)".into(),
        _ => "human".into(),
    }
}

/// Parses a typed value for a field. `+2` adds to a number if the field cannot be negative or the sign is `+`.
fn read(view: &View<'_>, field: &Field, now: &Value, typed: &str) -> Result<Value, Complaint> {
    let wanted = || {
        let wrong = format!("{} takes {}, not `{typed}`.", field.label, typed_form(&field.ty));
        Complaint::Wrong(in_one_line(&wrong).into_owned())
    };
    if let Type::Int { .. } = field.ty
        && let (Some(more), Some(now)) = (typed.strip_prefix('+'), now.as_int())
    {
        let more: i64 = more.trim().parse().map_err(|_| wanted())?;
        return now.checked_add(more).map(Value::Int).ok_or_else(wanted);
    }
    read_typed(view, &field.ty, typed).ok_or_else(wanted)
}
