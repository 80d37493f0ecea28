//! Reads the entries of declarations by their keys.

use crate::inference::symbol::Symbol;
use crate::reader::ScriptReader;
use crate::symbols::surroundings::member_name;
use crate::syntax::{listed_texts, literal, returned};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function, Location, TableItem};

/// The functions that may only read and that must return a value.
const GIVING: [&str; 9] = [
    "a derived value",
    "a key",
    "the prompt",
    "a sheet",
    "an overview",
    "a view",
    "the value of the game",
    "the result of the game",
    "a statistic",
];

impl ScriptReader<'_> {
    /// Checks the names that an entry of a declaration has as its value.
    fn names_of_entry(&mut self, name: &str, value: Expression<'_>) {
        if name == "rules" {
            self.rule_ids(value);
        }
        if name == "rule"
            && self.path.starts_with("creation")
            && let Some(id) = literal(value)
        {
            self.unknown_rule(&id, value.location());
        }
        // In `kinds`, `audience` may be the name of a field, and the loader checks it.
        if name == "audience" && !self.path.starts_with("kinds") {
            self.audience(value);
        }
        if name == "ask"
            && let Some(ask) = literal(value)
        {
            self.unknown_question(&ask, value.location());
        }
        if name == "seats" && self.path.starts_with("play") && self.keys.first().is_some_and(|key| key == "free") {
            let listed: Vec<(String, Location)> = listed_texts(value).collect();
            for (seat, at) in &listed {
                self.seat_in_list(seat, *at, |other| listed.iter().any(|(seat, _)| seat == other));
            }
        }
        if name == "boundary"
            && self.path.starts_with("play")
            && self.keys.is_empty()
            && let Some(entry) = literal(value)
            // A ruleset that others extend may leave the entries of the agenda to them.
            && self.known.names("entry").is_some_and(|entries| !entries.is_empty())
        {
            self.unknown_name(value.location(), "entry", &entry);
        }
        if name == "state" && self.pure.last() == Some(&"the order of play") {
            self.state_of_turn(value);
        }
        if name == "horizon"
            && self.path.starts_with("play")
            && self.keys.is_empty()
            && let Some(entries) = literal(value)
            && self.known.names("entry").is_some_and(|known| !known.is_empty())
        {
            for entry in entries.split(',').map(str::trim).filter(|entry| *entry != "action") {
                self.unknown_name(value.location(), "entry", entry);
            }
        }
    }

    /// Checks one entry of a table by its key. Some keys have functions that may only read.
    pub(crate) fn record(&mut self, name: &str, value: Expression<'_>) {
        self.names_of_entry(name, value);
        let pure = self.pure_function(name);
        self.keys.push(name.to_string());
        match value.kind() {
            ExpressionKind::FunctionLiteral(function) => {
                self.parameters_of_card(name, function);
                if name == "when" {
                    self.never_open(function);
                    if pure.is_some() {
                        self.says_yes_by_a_text(function);
                    }
                } else if self.is_fact_of_a_card()
                    && (self.known.names.is_fact(name) || self.known.names.is_answered_by_cards(name))
                {
                    self.gives_nothing(function, &format!("the fact `{name}`"));
                }
                if let Some(what) = pure.filter(|pure| GIVING.contains(pure)) {
                    self.gives_nothing(function, what);
                }
                // An empty function lets the host choose.
                if pure == Some("a policy") && !function.body.as_slice().is_empty() {
                    self.gives_nothing(function, "the answer of this policy");
                }
                if pure == Some("a policy") {
                    self.ends_without(function, "this policy");
                    self.returns_nothing_at_times(function, "this policy");
                }
                if pure == Some("creation") {
                    self.ends_without(function, &format!("`{name}`"));
                    match name {
                        "build" => self.becomes(function),
                        "check" => self.finds_no_list(function),
                        "steps" => self.steps_of_creation(function),
                        _ => {}
                    }
                }
                self.function(function, pure, 0);
                if self.is_fact_of_a_card() && self.path.starts_with("maneuvers/") {
                    self.result_before_roll(function);
                }
                if self.keys.len() == 1
                    && self.depth == 0
                    && self.path.starts_with("lib/")
                    && let Some(known) = member_name(self.full, name)
                {
                    self.half_answered(function, &[known], &format!("`{name}`"));
                }
                if pure == Some("a derived value") {
                    self.half_answered(function, &[format!(":{name}")], &format!("the derived value `{name}`"));
                }
            }
            ExpressionKind::Call { func, args: [only], .. } if self.symbol(func) == Some(Symbol::Word("wrapped")) => {
                match only.kind() {
                    // The first parameter of the function in `rb.wrapped` is the function that it wraps.
                    ExpressionKind::FunctionLiteral(function) => {
                        self.takes_below(function);
                        self.answers_as_below(name, function);
                        self.drops_below(name, function);
                        if pure.is_some_and(|pure| pure == "creation" || GIVING.contains(&pure)) {
                            self.gives_nothing(function, &format!("`{name}`"));
                        }
                        self.function(function, pure, 1);
                        if let Some(below) = function.args.first() {
                            self.runs_in_one_branch(
                                function,
                                below.id,
                                &format!("`{name}` of the rules below does nothing"),
                            );
                        }
                    }
                    _ => self.expression(value),
                }
            }
            _ => {
                self.called_too_early(name, value);
                self.has_come_back(value);
                self.fact(name, value);
                self.words_of_a_fact(value);
                self.expression(value);
            }
        }
        self.keys.pop();
    }

    /// Reports a function around a verb or a function of a card that drops the value which it has to return.
    fn answers_as_below(&mut self, name: &str, function: &Function<'_>) {
        if self.path.starts_with("verbs") && self.known.names.verb(name).is_some_and(|verb| verb.answers) {
            let what = format!("`{name}` gives something back, and this function");
            self.gives_nothing(function, &what);
            self.ends_without(function, &what);
            self.returns_nothing_at_times(function, &what);
        }
        if self.is_fact_of_a_card() && (name == "when" || self.known.names.is_answered_by_cards(name)) {
            self.gives_nothing(function, &format!("the fact `{name}`"));
        }
    }

    /// Whether the current value is a fact at the top level of a card or an item.
    pub(crate) fn is_fact_of_a_card(&self) -> bool {
        self.keys.len() == 1
            && self.depth == 0
            && (self.path.starts_with("maneuvers/") || self.path.starts_with("items/"))
    }

    /// Reports misspelt words in the lists and tables of a fact.
    fn words_of_a_fact(&mut self, value: Expression<'_>) {
        let ExpressionKind::Table { items } = value.kind() else { return };
        if !self.is_fact_of_a_card() {
            return;
        }
        for item in items {
            match item {
                TableItem::Record { key, .. } if matches!(literal(*key).as_deref(), Some("id" | "title" | "text")) => {}
                TableItem::List { value } | TableItem::Record { value, .. } | TableItem::General { value, .. } => {
                    self.slip(*value);
                    self.words_of_a_fact(*value);
                }
            }
        }
    }

    /// Returns what the function under a key is called in messages, if it may only read; `None` otherwise.
    fn pure_function(&self, name: &str) -> Option<&'static str> {
        let inside = |key: &str| self.keys.iter().any(|around| around == key);
        let at_top = self.keys.is_empty();
        let folder = self.path.split('/').next().unwrap_or(self.path);
        match (folder.trim_end_matches(".luau").trim_end_matches(".lua"), name) {
            ("maneuvers", "when") if at_top => Some("`when` of a card"),
            ("maneuvers", "note") if at_top => Some("the note of a card"),
            ("kinds", "sheet") if !inside("derived") => Some("a sheet"),
            ("kinds", "overview") if !inside("derived") => Some("an overview"),
            ("kinds", _) if self.keys.last().is_some_and(|key| key == "derived") => Some("a derived value"),
            ("play", "key") if inside("entries") => Some("a key"),
            ("play", "when") if inside("free") => Some("`when` of a free act"),
            ("play", "prompt") if at_top => Some("the prompt"),
            ("play", "order") if at_top => Some("the order of play"),
            ("play", "value") if at_top => Some("the value of the game"),
            ("play", "result") if at_top => Some("the result of the game"),
            ("play", "show") if inside("views") => Some("a view"),
            ("play", _) if self.keys.last().is_some_and(|key| key == "statistics") => Some("a statistic"),
            ("policies", "answer") if at_top => Some("a policy"),
            ("creation", "check" | "build" | "steps" | "price" | "sheet" | "position") if at_top => Some("creation"),
            _ => None,
        }
    }

    /// Checks the kind and the fields that `build` returns.
    fn becomes(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for values in returns {
            self.table_before_kind(values);
            let Some((first, kind)) = values.first().and_then(|first| Some((first, literal(*first)?))) else {
                continue;
            };
            self.unknown_name(first.location(), "kind", &kind);
            if let (Some(kind), Some(fields)) = (self.known.kind(&kind), values.get(1)) {
                self.fields_of(kind, *fields);
            }
        }
    }
}
