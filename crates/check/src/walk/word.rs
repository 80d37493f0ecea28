//! Checks calls of the vocabulary: names in arguments, dice, and texts with places to fill.

use crate::reader::ScriptReader;
use crate::symbols::signature::sort_of_first;
use crate::syntax::{gives_many, literal, named};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};

impl ScriptReader<'_> {
    /// Checks a call of a word of the vocabulary.
    pub(crate) fn word(&mut self, name: &'static str, args: &[Expression<'_>], at: Location) {
        self.acts_while_reading(name, at);
        let first = args.first().and_then(|arg| self.text_of(*arg).map(|text| (text, arg.location())));
        if let (Some(sort), Some((text, at))) = (sort_of_first(name), &first) {
            self.unknown_name(*at, sort, text);
        }
        self.rolled_and_told(name, args, first.as_ref(), at);
        self.of_kind(name, args, first.as_ref(), at);
        if let Some((_, own)) = api::QUESTIONS.iter().find(|(ask, _)| *ask == name)
            && let Some(table) = args.first()
        {
            self.question(name, own, *table);
        }
        match (name, args) {
            ("say", [words, ..]) => self.changes_nothing_outside(*words, "the text of rb.say"),
            ("whisper", [audience, ..]) => self.audience(*audience),
            ("at_least" | "at_most" | "under", _) => self.need_of_roll(name, args),
            ("verb", _) => self.verb_values(args),
            ("attach", [hook, _, data, ..]) => self.attached_data(*hook, *data),
            ("attach", [hook, holder]) if !gives_many(*holder) => self.attached_without(*hook, *holder),
            ("set_data", [number, data, ..]) => self.replaced_data(*number, *data),
            ("build_sheet", [sheet, ..]) => self.sheet(*sheet),
            ("recur", [_, _, step, ..]) if is_zero(*step) => {
                self.endless_repeat(*step);
            }
            ("options", [ids, ..]) => self.tables_for_ids(*ids),
            ("agenda", [filter, ..]) => self.entry_under(*filter),
            // A name that is no entry of the agenda is a moment that some rule names with `rb.comes`.
            ("lasts", [_, how, ..]) => {
                self.keys_of(*how, "rb.lasts", &["at", "moment", "of", "times"]);
                self.moment_under(*how);
            }
            ("open", [_, option, ..]) => {
                if let Some(card) = literal(*option).filter(|card| self.known.names.times(card) <= 1) {
                    self.unknown_name(option.location(), "card", &card);
                }
            }
            _ => {}
        }
    }

    /// A sheet that is written down where it is built: each of its names is read somewhere, and its character is there.
    fn sheet(&mut self, sheet: Expression<'_>) {
        for (key, at, value) in named(sheet) {
            if key == "cast"
                && let Some(name) = literal(value)
            {
                self.unknown_name(value.location(), "cast", &name);
            } else {
                self.unread_name_of_a_sheet(&key, at);
            }
        }
    }

    /// Checks words that take a kind and fields of it.
    fn of_kind(&mut self, name: &str, args: &[Expression<'_>], first: Option<&(String, Location)>, call: Location) {
        self.missing_kind(name, args, call);
        if let ("each" | "first", [_, filter, ..]) = (name, args) {
            for (field, _, value) in named(*filter) {
                if !self.quotes_a_parameter(&field, value) {
                    self.slip(value);
                }
            }
        }
        let Some((kind, at)) = first else { return };
        let Some(kind) = self.known.kind(kind) else { return };
        let fields = match name {
            "each" | "first" | "spawn" => args.get(1),
            "relate" => args.get(3),
            _ => None,
        };
        if let Some(table) = fields {
            self.fields_of(kind, *table);
        }
        self.no_relation(name, kind, *at);
    }
}

/// Whether a step is 0 in every place.
fn is_zero(step: Expression<'_>) -> bool {
    match step.kind() {
        ExpressionKind::Number { value, .. } => value == 0.0,
        ExpressionKind::Table { items } => {
            !items.is_empty() && items.iter().all(|item| matches!(item, TableItem::List { value } if is_zero(*value)))
        }
        _ => false,
    }
}
