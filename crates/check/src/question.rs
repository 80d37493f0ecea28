use super::lints;
use super::script::ScriptReader;
use super::slip::is_slip;
use super::symbol::Symbol;
use super::syntax::{constant, literal, named, value_of};
use super::value_type::ValueType;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, TableItem};
use riskbreaker_state::Value;

impl ScriptReader<'_> {
    /// Checks the table of a question in the list of `rb.all` or `rb.race`.
    pub(super) fn question_listed(&mut self, table: Expression<'_>, items: &[TableItem<'_>]) {
        let value = |wanted: &str| value_of(items, wanted);
        // Cards and sheets may have a key `ask` of their own.
        let is_question = value("seat").or_else(|| value("topic")).is_some();
        let Some(ask) = value("ask").and_then(literal).filter(|_| is_question) else { return };
        if let Some((ask, own)) = api::QUESTIONS.iter().find(|(known, _)| *known == ask) {
            let own: Vec<&str> = own.iter().copied().chain(["ask"]).collect();
            self.question(ask, &own, table);
        }
    }

    pub(super) fn question(&mut self, ask: &str, own: &[&str], table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        let mut misspelt = false;
        for (name, at, value) in named(table) {
            let all: Vec<String> = api::QUESTION_FIELDS.iter().chain(own).map(|name| name.to_string()).collect();
            if !all.contains(&name) {
                misspelt = true;
                self.problem(
                    &lints::unknown_key::LINT,
                    at,
                    (format!("rb.{ask} has no field `{name}`"), self.known.instead(&name, &all)),
                );
            }
            match (name.as_str(), literal(value)) {
                ("seat", Some(seat)) => {
                    self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_name("seat", &seat))
                }
                ("audience", _) => self.audience(value),
                ("why" | "note" | "check" | "when", _) => {
                    self.changes_nothing_outside(value, &format!("`{name}` of a question"));
                }
                _ => {}
            }
        }
        let value = |wanted: &str| value_of(items, wanted);
        for (name, cure) in [
            ("seat", "add seat = who is asked, such as ctx.actor.seat or \"gm\""),
            ("topic", "add topic = a word for what is asked, such as \"stake\""),
        ] {
            // An unknown key has been reported already, and may be the missing one.
            if value(name).is_none() && !misspelt {
                self.problem(
                    &lints::incomplete_question::LINT,
                    table.location(),
                    (format!("rb.{ask} lacks `{name}`"), cure.to_string()),
                );
            }
        }
        if let Some(options) = value("options")
            && let ExpressionKind::Table { items } = options.kind()
            && !items.is_empty()
            && items.iter().all(|item| matches!(item, TableItem::Record { .. }))
        {
            let wrong = "`options` is a list, and here each value has a name".to_string();
            let cure = "write { { id = \"low\", label = \"Low\" }, { id = \"high\", label = \"High\" } }";
            self.problem(&lints::options_shape::LINT, options.location(), (wrong, cure.into()));
        }
        // The default of `rb.order` is the order of the list.
        if let Some(seat) = value("seat")
            && ask != "order"
            && literal(seat).as_deref() == Some("gm")
            && value("default").is_none()
        {
            let wrong = "a question to the game master has no `default`".to_string();
            self.problem(
                &lints::missing_default::LINT,
                seat.location(),
                (wrong, "add default = the answer at a table without a game master".into()),
            );
        }
        if let (Some(Value::Int(min)), Some(Value::Int(max))) =
            (value("min").and_then(constant), value("max").and_then(constant))
            && min > max
            && let Some(place) = value("max")
        {
            let wrong = format!("no number is from {min} to {max}");
            self.problem(
                &lints::empty_range::LINT,
                place.location(),
                (wrong, format!("write min = {max}, max = {min}")),
            );
        }
        // A question about cards may leave it to the host which of them are open.
        let cards = ask == "choose" && value("cards").is_some();
        if matches!(ask, "choose" | "choose_many" | "allot" | "order") && value("options").is_none() && !cards {
            self.problem(
                &lints::incomplete_question::LINT,
                table.location(),
                (format!("rb.{ask} lacks `options`"), "add options = a list of what is open".into()),
            );
        }
        for name in ["min", "max", "total"] {
            let wanted = match ask {
                "number" => name != "total",
                "allot" => name == "total",
                _ => false,
            };
            if wanted && value(name).is_none() {
                self.problem(
                    &lints::incomplete_question::LINT,
                    table.location(),
                    (format!("rb.{ask} lacks `{name}`"), format!("add {name} = a whole number")),
                );
            }
        }
        self.fields_fit(ask, items);
        if let Some(options) = value("options") {
            self.options(options, value("default"), value("other").is_some());
        }
        if let Some(place) = value("topic") {
            self.misspelt_topic(place);
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
            self.tell(&lints::unknown_name::LINT, default.location(), self.known.wrong_name("card", &card));
        }
    }

    /// Reports a topic that occurs nowhere else and is one letter away from another topic.
    ///
    /// An added letter does not count: a new question may well have the topic `whom` beside `who`.
    fn misspelt_topic(&mut self, place: Expression<'_>) {
        let names = &self.known.names;
        let Some(topic) = literal(place).filter(|topic| names.times(topic) <= 1 && !names.is_key(topic)) else {
            return;
        };
        let near = names
            .topics()
            .iter()
            .find(|other| names.times(other) > 0 && is_slip(&topic, other) && other.len() >= topic.len());
        if let Some(near) = near.filter(|_| names.said(&topic) == 0) {
            let wrong = format!("the topic `{topic}` stands nowhere else");
            self.problem(&lints::unknown_topic::LINT, place.location(), (wrong, format!("did you mean `{near}`?")));
        }
    }

    /// Reports values of a question's fields that have the wrong type.
    fn fields_fit(&mut self, ask: &str, items: &[TableItem<'_>]) {
        for item in items {
            let TableItem::Record { key, value } = item else { continue };
            let (wanted, too): (ValueType, &[ValueType]) = match literal(*key).as_deref() {
                Some("min" | "max" | "total" | "least") => (ValueType::Number, &[]),
                Some("seat" | "topic") => (ValueType::Text, &[]),
                // A list of seats, or an entity: those who see it.
                Some("audience") => (ValueType::Text, &[ValueType::List, ValueType::Entity, ValueType::Table]),
                Some("options") => {
                    self.offers_nothing(*value);
                    if let Some(signature) = self.called(*value, false).map(|called| called.signature)
                        && let (Some(param), Some(Some(used))) = (signature.params.first(), signature.uses.first())
                        && !matches!(used, ValueType::Table | ValueType::Record)
                    {
                        let wrong =
                            format!("this function is handed the question, and its `{param}` is {}", used.words());
                        let cure = "call it: put brackets with its values behind it".to_string();
                        self.problem(&lints::question_type::LINT, value.location(), (wrong, cure));
                    }
                    (ValueType::List, &[ValueType::Table, ValueType::Record, ValueType::Function])
                }
                Some("auto" | "sealed" | "propose" | "peek" | "other") => (ValueType::Truth, &[]),
                Some("default") => match ask {
                    "confirm" => (ValueType::Truth, &[]),
                    "number" => (ValueType::Number, &[]),
                    "line" => (ValueType::Text, &[]),
                    "choose_many" | "order" => (ValueType::List, &[ValueType::Table]),
                    "choose" => {
                        let cure = match self.value_type(*value) {
                            Some(ValueType::List) => "name one of them, such as list[1]",
                            Some(ValueType::Function) => "write the id of one of them, or call the function",
                            _ => continue,
                        };
                        let found = self.value_type(*value).map_or("", ValueType::words);
                        let wrong = format!("the default is one of the options, and this is {found}");
                        self.problem(&lints::question_type::LINT, value.location(), (wrong, cure.into()));
                        continue;
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if let Some(sort) = self.value_type(*value).filter(|sort| *sort != wanted && !too.contains(sort)) {
                let wrong = format!("expected {}, found {}", wanted.words(), sort.words());
                let cure = match (literal(*value).as_deref(), wanted) {
                    (Some("yes" | "true"), ValueType::Truth) => "write true".to_string(),
                    (Some("no" | "false"), ValueType::Truth) => "write false".to_string(),
                    _ => "look at the question's other values, or at docs/reference.md".to_string(),
                };
                self.problem(&lints::question_type::LINT, value.location(), (wrong, cure));
            }
        }
    }

    /// Reports a function for the options that returns nothing.
    fn offers_nothing(&mut self, options: Expression<'_>) {
        match options.kind() {
            ExpressionKind::FunctionLiteral(function) => self.gives_nothing(function, "the function of the options"),
            _ => {
                let called = self.called(options, false).filter(|called| called.signature.silent.is_some());
                if let Some(called) = called {
                    let wrong = format!("`{}` gives the options, and it returns nothing", called.name);
                    self.problem(
                        &lints::missing_return::LINT,
                        options.location(),
                        (wrong, "add `return` and the list at its end".into()),
                    );
                }
            }
        }
    }

    /// Returns the ids that a choice can yield; `None` unless all its options are literals and yield their ids.
    pub(super) fn chosen_ids(&self, choice: Expression<'_>) -> Option<Vec<String>> {
        let ExpressionKind::Call { func, args, .. } = choice.kind() else { return None };
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let [table] = args else { return None };
        let ExpressionKind::Table { items } = table.kind() else { return None };
        if index != "choose" || self.symbol(expr) != Some(Symbol::Vocabulary) {
            return None;
        }
        if value_of(items, "other").is_some() || value_of(items, "more").is_some() {
            return None;
        }
        let ExpressionKind::Table { items } = value_of(items, "options")?.kind() else { return None };
        let ids = items.iter().map(|item| match item {
            TableItem::List { value: option } => match option.kind() {
                ExpressionKind::Table { items } if value_of(items, "value").is_none() => {
                    literal(value_of(items, "id")?)
                }
                _ => literal(*option),
            },
            _ => None,
        });
        ids.collect()
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
                            self.problem(
                                &lints::unknown_key::LINT,
                                at,
                                (format!("an option has no field `{name}`"), self.known.instead(&name, &known)),
                            );
                        }
                    }
                    id
                }
                _ => literal(*value),
            };
            all &= id.is_some();
            if let Some(id) = id.as_ref().filter(|id| ids.contains(*id)) {
                let wrong = format!("two options are called `{id}`");
                self.problem(
                    &lints::duplicate_option::LINT,
                    value.location(),
                    (wrong, "give each an id of its own; the label may be any text".into()),
                );
            }
            ids.extend(id);
        }
        if let Some(default) = default.filter(|_| all && !other)
            && let Some(name) = literal(default)
            && !ids.contains(&name)
        {
            self.problem(
                &lints::unknown_option::LINT,
                default.location(),
                (format!("no option is `{name}`"), self.known.instead(&name, &ids)),
            );
        }
    }
}
