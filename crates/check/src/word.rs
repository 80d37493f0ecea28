//! Checks calls of the vocabulary: names in arguments, dice, and texts with places to fill.

use super::expression::not_dice;
use super::lints;
use super::script::ScriptReader;
use super::syntax::{listed, literal, named, value_of};
use riskbreaker_dice::Dice;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, TableItem};

impl ScriptReader<'_> {
    /// Checks a call of a word of the vocabulary.
    pub(super) fn word(&mut self, name: &'static str, args: &[Expression<'_>], at: Location) {
        let acts = api::word(name).is_some_and(|word| word.acts);
        if let (true, Some(what)) = (acts, self.pure.last()) {
            let wrong = format!("rb.{name} is called in {what}, which may only read");
            self.problem(
                &lints::change_while_reading::LINT,
                at,
                (wrong, "move it to `resolve`, a verb or an agenda entry".into()),
            );
        }
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
            ("build_sheet", [sheet, ..]) => self.sheet(*sheet),
            ("recur", [_, _, step, ..]) if is_zero(*step) => {
                let wrong = "this entry repeats without end: its step is 0".to_string();
                self.problem(
                    &lints::endless_repeat::LINT,
                    step.location(),
                    (wrong, "give it a step above 0, such as { 1, 0 }".into()),
                );
            }
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

    /// Reports keys of a table argument that the word does not take.
    fn keys_of(&mut self, table: Expression<'_>, word: &str, known: &[&str]) {
        for (name, at, _) in named(table).filter(|(name, ..)| !known.contains(&name.as_str())) {
            let cure = riskbreaker_ruleset::instead(&name, known.iter().copied());
            self.problem(&lints::unknown_key::LINT, at, (format!("{word} takes no `{name}`"), cure));
        }
    }

    /// Reports an unknown agenda entry under a key of a table, if scripts name it at most `most` times.
    fn entry_under(&mut self, table: Expression<'_>, wanted: &str, most: usize) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        if let Some(value) = value_of(items, wanted)
            && let Some(entry) = literal(value)
            && self.known.names.times(&entry) <= most
        {
            self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_name("entry", &entry));
        }
    }

    /// Checks the dice of a roll, and the text with places to fill.
    fn rolled_and_told(
        &mut self,
        name: &str,
        args: &[Expression<'_>],
        first: Option<&(String, Location)>,
        call: Location,
    ) {
        let label = match name {
            "roll" | "faces" | "ordered_faces" | "ranks" | "whisper" => 1,
            "under" | "at_most" | "at_least" | "check" | "band" => 2,
            "say" | "cut" | "finish" | "result" => 0,
            _ => return,
        };
        self.filled(args, label);
        if matches!(name, "say" | "cut" | "finish" | "result" | "whisper") {
            return;
        }
        if let Some((text, at)) = first.cloned().or_else(|| self.listed_first(args))
            && let Err(error) = Dice::parse(&text)
        {
            self.problem(&lints::invalid_dice::LINT, at, not_dice(&text, &error.to_string()));
        }
        if label == 2
            && first.is_none()
            && let Some(dice) = args.get(1).and_then(|arg| literal(*arg))
            && let (true, Some(word)) = (Dice::parse(&dice).is_ok(), api::word(name))
        {
            self.problem(
                &lints::argument_order::LINT,
                call,
                (format!("the dice \"{dice}\" come first"), format!("it is written {}", word.usage)),
            );
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
        if let ("each" | "first", [kind, ..]) = (name, args)
            && let ExpressionKind::Table { .. } = kind.kind()
        {
            let wrong = format!("rb.{name} is given no kind");
            self.problem(
                &lints::missing_kind::LINT,
                call,
                (wrong, format!("write rb.{name}(\"KIND\", {{ field = value }})")),
            );
        }
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
        if api::word(name).is_some_and(|word| word.group == api::WordGroup::Relations) && kind.relates.len() != 2 {
            let wrong = format!("the kind `{}` is no relation between two entities", kind.name);
            let cure = "declare relates = { \"from\", \"to\" } in kinds.luau, the names of two references";
            self.problem(&lints::no_relation::LINT, *at, (wrong, cure.to_string()));
        }
    }

    /// Returns the dice of a roll for some seats only: `{ "2d6", audience = "north" }`.
    fn listed_first(&self, args: &[Expression<'_>]) -> Option<(String, Location)> {
        let dice = listed(*args.first()?).next()?;
        Some((self.text_of(dice)?, dice.location()))
    }

    /// Reports a text whose `{}` do not match the values that fill them.
    fn filled(&mut self, args: &[Expression<'_>], label: usize) {
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
            self.problem(
                &lints::text_places::LINT,
                args[label].location(),
                (wrong, "give one value for each `{}`".into()),
            );
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
