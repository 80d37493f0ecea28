//! Reads the tables of questions.

use crate::inference::symbol::Symbol;
use crate::reader::ScriptReader;
use crate::syntax::{literal, named, value_of};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, TableItem};

impl ScriptReader<'_> {
    /// Checks the table of a question in the list of `rb.all` or `rb.race`.
    pub(crate) fn question_listed(&mut self, table: Expression<'_>, items: &[TableItem<'_>]) {
        let value = |wanted: &str| value_of(items, wanted);
        // Cards and sheets may have a key `ask` of their own.
        let is_question = value("seat").or_else(|| value("topic")).is_some();
        let Some(ask) = value("ask").and_then(literal).filter(|_| is_question) else { return };
        if let Some((ask, own)) = api::QUESTIONS.iter().find(|(known, _)| *known == ask) {
            let own: Vec<&str> = own.iter().copied().chain(["ask"]).collect();
            self.question(ask, &own, table);
        }
    }

    pub(crate) fn question(&mut self, ask: &str, own: &[&str], table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        let mut misspelt = false;
        for (name, at, value) in named(table) {
            let all: Vec<String> = api::QUESTION_FIELDS.iter().chain(own).map(|name| name.to_string()).collect();
            if !all.contains(&name) {
                misspelt = true;
                self.no_key_of_a_question(ask, &name, &all, at);
            }
            match (name.as_str(), literal(value)) {
                ("seat", Some(seat)) => self.unknown_name(value.location(), "seat", &seat),
                ("audience", _) => self.audience(value),
                ("why" | "note" | "check" | "when", _) => {
                    self.changes_nothing_outside(value, &format!("`{name}` of a question"));
                }
                _ => {}
            }
        }
        let value = |wanted: &str| value_of(items, wanted);
        self.asks_nobody(ask, table, items, misspelt);
        self.shows_hidden_options(items);
        self.options_shape(items);
        self.missing_default(ask, items);
        self.empty_range(items);
        // A question about cards may leave it to the host which of them are open.
        let cards = ask == "choose" && value("cards").is_some();
        self.lacks_bounds(ask, table, items, cards);
        if ask == "number" {
            self.asks_for_no_number(items);
        }
        self.fields_fit(ask, items);
        if let Some(options) = value("options") {
            self.options(options, value("default"), value("other").is_some());
        }
        if let Some(place) = value("topic") {
            self.misspelt_topic(place);
            self.fits_its_topic(ask, table, place);
        }
        // Whether the question offers only cards.
        let given_by_cards = |options: Expression<'_>| match options.kind() {
            ExpressionKind::Call { func, .. } => self.symbol(func) == Some(Symbol::Word("options")),
            _ => false,
        };
        let only_cards = value("more").is_none() && (cards || value("options").is_some_and(given_by_cards));
        if only_cards
            && let Some(default) = value("default")
            && let Some(card) = literal(default)
        {
            self.unknown_name(default.location(), "card", &card);
        }
    }

    /// Checks the options of a question and its default, where they are literals.
    fn options(&mut self, options: Expression<'_>, default: Option<Expression<'_>>, other: bool) {
        let ExpressionKind::Table { items } = options.kind() else { return };
        let known: Vec<String> = api::OPTION_FIELDS.iter().map(ToString::to_string).collect();
        let mut ids = Vec::new();
        let mut all = !items.is_empty();
        for item in items {
            let TableItem::List { value } = item else { return };
            let id = match value.kind() {
                ExpressionKind::Table { .. } => {
                    let mut id = None;
                    for (name, at, value) in named(*value) {
                        if name == "id" {
                            id = literal(value);
                        }
                        if !known.contains(&name)
                            && self.known.nearest(&name, known.iter().map(String::as_str)).is_some()
                        {
                            self.no_key_of_an_option(&name, &known, at);
                        }
                    }
                    id
                }
                _ => literal(*value),
            };
            all &= id.is_some();
            if let Some(id) = id.as_ref().filter(|id| ids.contains(*id)) {
                self.called_alike(id, value.location());
            }
            ids.extend(id);
        }
        if let Some(default) = default.filter(|_| all && !other) {
            self.default_is_no_option(default, &ids);
        }
    }
}
