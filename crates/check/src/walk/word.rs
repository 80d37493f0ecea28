//! Checks calls of the vocabulary: names in arguments, dice, and texts with places to fill.

use crate::lints;
use crate::reader::ScriptReader;
use crate::syntax::{literal, named};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, TableItem};

impl ScriptReader<'_> {
    /// Checks a call of a word of the vocabulary.
    pub(crate) fn word(&mut self, name: &'static str, args: &[Expression<'_>], at: Location) {
        self.acts_while_reading(name, at);
        let first = args.first().and_then(|arg| self.text_of(*arg).map(|text| (text, arg.location())));
        let sort = match name {
            "each" | "first" | "spawn" | "ref" => Some("kind"),
            "relate" | "unrelate" | "relation" | "related" | "relating" => Some("kind"),
            "card" => Some("card"),
            "item_of" => Some("item"),
            "attach" => Some("hook"),
            "schedule" | "recur" => Some("entry"),
            _ => None,
        };
        if let (Some(sort), Some((text, at))) = (sort, &first) {
            self.tell(&lints::unknown_name::LINT, *at, self.known.wrong_name(sort, text));
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
            ("verb", _) => self.verb_values(args),
            ("attach", [hook, _, data, ..]) => self.attached_data(*hook, *data),
            ("set_data", [_, data, ..]) => self.replaced_data(*data),
            ("build_sheet", [sheet, ..]) => self.sheet(*sheet),
            ("recur", [_, _, step, ..]) if is_zero(*step) => {
                self.endless_repeat(*step);
            }
            ("options", [ids, ..]) => self.tables_for_ids(*ids),
            ("agenda", [filter, ..]) => self.entry_under(*filter, "what", usize::MAX),
            // A name that is no entry of the agenda is a moment that some rule names with `rb.comes`.
            ("lasts", [_, how, ..]) => {
                self.keys_of(*how, "rb.lasts", &["at", "moment", "of", "times"]);
                self.entry_under(*how, "moment", 1);
            }
            ("open", [_, option, ..]) => {
                if let Some(card) = literal(*option).filter(|card| self.known.names.times(card) <= 1) {
                    self.tell(&lints::unknown_name::LINT, option.location(), self.known.wrong_name("card", &card));
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
                self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_name("cast", &name));
            } else if !self.known.names.is_read(&key)
                && let Some(near) = self.known.names.meant(&key)
            {
                self.problem(
                    &lints::unread_key::LINT,
                    at,
                    (format!("nothing reads `{key}`"), format!("did you mean `{near}`?")),
                );
            }
        }
    }

    /// Checks words that take a kind and fields of it.
    fn of_kind(&mut self, name: &str, args: &[Expression<'_>], first: Option<&(String, Location)>, call: Location) {
        self.missing_kind(name, args, call);
        if let ("each" | "first", [_, filter, ..]) = (name, args) {
            named(*filter).for_each(|(_, _, value)| self.slip(value));
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

    /// Reports a text whose `{}` do not match the values that fill them.
    pub(crate) fn filled(&mut self, args: &[Expression<'_>], label: usize) {
        let Some(text) = args.get(label).and_then(|arg| literal(*arg)) else {
            if let Some(joined) = args.get(label).and_then(|arg| joined_to(*arg)).filter(|_| args.len() == label + 1) {
                let wrong = "nothing fills the `{}` of this text: `..` only puts something behind it".to_string();
                return self.problem(
                    &lints::text_places::LINT,
                    joined,
                    (wrong, "write a comma for `..`: rb.say(\"{} falls\", actor)".into()),
                );
            }
            let elsewhere = args.iter().position(|arg| literal(*arg).is_some_and(|text| text.contains("{}")));
            if let (Some(found), Some(first)) = (elsewhere, args.get(label)) {
                let place = ["first", "second", "third"][label.min(2)];
                let wrong = format!("the text with `{{}}` stands in the wrong place: it comes {place}");
                if found != label && !matches!(first.kind(), ExpressionKind::FunctionLiteral(_)) {
                    self.problem(
                        &lints::argument_order::LINT,
                        args[found].location(),
                        (wrong, "the values that fill it follow it".into()),
                    );
                }
            }
            return;
        };
        let (places, given) = (text.matches("{}").count(), args.len() - label - 1);
        let open_end = args.last().is_some_and(|last| {
            matches!(last.kind(), ExpressionKind::Varargs | ExpressionKind::Call { .. }) && args.len() > label + 1
        });
        if places != given && !(open_end && given <= places) {
            let (values, them) = (if given == 1 { "value" } else { "values" }, if places == 1 { "it" } else { "them" });
            let wrong = format!("\"{text}\" has {places} `{{}}`, and {given} {values} to fill {them}");
            // Other languages fill `%s` and `%d`.
            let marks = text.matches("%s").count() + text.matches("%d").count();
            let at = args[label].location();
            if places == 0 && marks == given {
                let meant = self.source(args[label]).replace("%s", "{}").replace("%d", "{}");
                let change = self.replaced(at, meant);
                let cure = "write `{}` for each value, instead of %s and %d".to_owned();
                return self.cured(&lints::text_places::LINT, at, (wrong, cure), change);
            }
            self.problem(&lints::text_places::LINT, at, (wrong, "give one value for each `{}`".into()));
        }
    }
}

/// Returns the position of a text with `{}` to which something is joined by `..`.
fn joined_to(expression: Expression<'_>) -> Option<Location> {
    let ExpressionKind::Binary { lhs, op: BinaryOp::Concat, rhs } = expression.kind() else { return None };
    let open = |side: Expression<'_>| literal(side).is_some_and(|text| text.contains("{}"));
    let values = |side: Expression<'_>| literal(side).is_none();
    (open(lhs) && values(rhs) || open(rhs) && values(lhs)).then(|| expression.location())
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
