use super::flow::{end_of, falls_through};
use super::lints;
use super::old_form::members_of;
use super::script::ScriptReader;
use super::signature::Signature;
use super::symbol::Symbol;
use super::syntax::{listed, listed_texts, literal, local_id, returned, text};
use riskbreaker_ruleset::slips;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function, Location, TableItem};

/// The number of cards that must have a fact before its other values count as the possible ones.
const MANY: usize = 5;

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
    /// Reports unknown seats in an audience, which is one seat or a list.
    pub(super) fn audience(&mut self, value: Expression<'_>) {
        if let Some(seat) = literal(value) {
            self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_audience(&seat));
        }
        listed(value).for_each(|seat| self.audience(seat));
    }

    /// Checks one entry of a table by its key. Some keys have functions that may only read.
    pub(super) fn record(&mut self, name: &str, value: Expression<'_>) {
        if name == "rules" {
            self.rule_ids(value);
        }
        if name == "rule"
            && self.path.starts_with("creation")
            && let Some(id) = literal(value)
        {
            self.tell(&lints::unknown_rule::LINT, value.location(), self.known.wrong_rule(&id));
        }
        // In `kinds`, `audience` may be the name of a field, and the loader checks it.
        if name == "audience" && !self.path.starts_with("kinds") {
            self.audience(value);
        }
        if name == "ask"
            && let Some(ask) = literal(value)
        {
            let asks: Vec<String> = api::QUESTIONS.iter().map(|(ask, _)| ask.to_string()).collect();
            if !asks.contains(&ask) && self.known.nearest(&ask, asks.iter().map(String::as_str)).is_some() {
                self.problem(
                    &lints::unknown_name::LINT,
                    value.location(),
                    (format!("there is no question `{ask}`"), self.known.instead(&ask, &asks)),
                );
            }
        }
        if name == "seats" && self.path.starts_with("play") && self.keys.first().is_some_and(|key| key == "free") {
            for (seat, at) in listed_texts(value) {
                self.tell(&lints::unknown_name::LINT, at, self.known.wrong_name("seat", &seat));
            }
        }
        if name == "boundary"
            && self.path.starts_with("play")
            && self.keys.is_empty()
            && let Some(entry) = literal(value)
            // A ruleset that others extend may leave the entries of the agenda to them.
            && self.known.names("entry").is_some_and(|entries| !entries.is_empty())
        {
            self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_name("entry", &entry));
        }
        if name == "horizon"
            && self.path.starts_with("play")
            && self.keys.is_empty()
            && let Some(entries) = literal(value)
            && self.known.names("entry").is_some_and(|known| !known.is_empty())
        {
            for entry in entries.split(',').map(str::trim).filter(|entry| *entry != "action") {
                self.tell(&lints::unknown_name::LINT, value.location(), self.known.wrong_name("entry", entry));
            }
        }
        let pure = self.pure_function(name);
        self.keys.push(name.to_string());
        match value.kind() {
            ExpressionKind::FunctionLiteral(function) => {
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
                }
                if pure == Some("creation") {
                    self.ends_without(function, &format!("`{name}`"));
                    if name == "build" {
                        self.becomes(function);
                    }
                }
                self.function(function, pure, 0);
            }
            ExpressionKind::Call { func, args: [only], .. } if self.symbol(func) == Some(Symbol::Word("wrapped")) => {
                match only.kind() {
                    // The first parameter of the function in `rb.wrapped` is the function that it wraps.
                    ExpressionKind::FunctionLiteral(function) => {
                        self.takes_below(function);
                        if pure.is_some_and(|pure| pure == "creation" || GIVING.contains(&pure)) {
                            self.gives_nothing(function, &format!("`{name}`"));
                        }
                        self.function(function, pure, 1);
                    }
                    _ => self.expression(value),
                }
            }
            _ => {
                self.called_too_early(name, value);
                self.fact(name, value);
                self.words_of_a_fact(value);
                self.expression(value);
            }
        }
        self.keys.pop();
    }

    /// Whether the current value is a fact at the top level of a card or an item.
    fn is_fact_of_a_card(&self) -> bool {
        self.keys.len() == 1
            && self.depth == 0
            && (self.path.starts_with("maneuvers/") || self.path.starts_with("items/"))
    }

    /// Reports a function that is called while the file is read, where the function itself is expected.
    fn called_too_early(&mut self, name: &str, value: Expression<'_>) {
        let ExpressionKind::Call { func, args: [], self_call, .. } = value.kind() else { return };
        if self.depth > 0 || !self.path.contains('/') || self.path.starts_with("lib/") || self.is_spec() {
            return;
        }
        if let Some(called) = self.called(func, self_call).filter(|called| !called.signature.params.is_empty()) {
            let wrong = format!("`{}` is called here while the file is read", called.name);
            self.problem(
                &lints::call_while_loading::LINT,
                value.location(),
                (wrong, format!("write `{name} = {}`, without brackets", called.name)),
            );
        }
    }

    /// Reports a fact of a card that no script mentions and that is almost a word that scripts or other cards use.
    fn fact(&mut self, name: &str, value: Expression<'_>) {
        if !self.is_fact_of_a_card() || matches!(name, "id" | "title" | "text") {
            return;
        }
        let Some(fact) = literal(value) else { return };
        let a_word = fact.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && fact.len() > 2;
        if !a_word {
            return;
        }
        if self.known.names.times(&fact) > 1 {
            return self.like_other_cards(name, &fact, value);
        }
        let like_it = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let words = self.known.names.texts().filter(|word| **word != *fact && like_it(word));
        let wrong = format!("no script knows the {name} \"{fact}\"");
        if let Some(near) = self.known.nearest(&fact, words) {
            self.problem(&lints::misspelt_text::LINT, value.location(), (wrong, format!("did you mean \"{near}\"?")));
        } else if let Some(others) = self.values_of_others(name, &fact) {
            self.problem(&lints::misspelt_text::LINT, value.location(), (wrong, format!("other cards have {others}")));
        }
    }

    /// Reports a fact that no other card has and that is one letter away from the fact of many cards.
    fn like_other_cards(&mut self, name: &str, fact: &str, value: Expression<'_>) {
        let named_otherwise = self.known.types_of(fact).next().is_some() || self.known.kind(fact).is_some();
        let others = self.facts_of_cards(name);
        let times = |wanted: &str| others.iter().filter(|other| **other == wanted).count();
        let near = |other: &&&str| slips(other, fact, 1) == Some(1) && times(other) > MANY;
        if named_otherwise
            && times(fact) == 1
            && let Some(meant) = others.iter().find(near)
        {
            let wrong = format!("no other card has the {name} \"{fact}\"");
            self.problem(&lints::misspelt_text::LINT, value.location(), (wrong, format!("did you mean \"{meant}\"?")));
        }
    }

    /// Returns the values that other cards have for a fact, joined by commas; `None` unless they are a few words that
    /// scripts know.
    fn values_of_others(&self, name: &str, own: &str) -> Option<String> {
        let values: Vec<&str> = self.facts_of_cards(name).into_iter().filter(|value| *value != own).collect();
        let mut different = values.clone();
        different.sort_unstable();
        different.dedup();
        let known = different.iter().all(|value| self.known.names.times(value) > 1);
        (values.len() > MANY && different.len() * 2 <= values.len() && known).then(|| different.join(", "))
    }

    /// Returns the text values that cards have for a fact.
    fn facts_of_cards(&self, name: &str) -> Vec<&str> {
        let cards = self.known.rules.map(|rules| rules.cards()).unwrap_or_default();
        let texts = cards.iter().filter_map(|card| match card.facts.get(name)? {
            riskbreaker_ruleset::Fact::Plain(value) => value.as_text(),
            riskbreaker_ruleset::Fact::Function => None,
        });
        texts.collect()
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

    pub(super) fn rule_ids(&mut self, list: Expression<'_>) {
        for (id, at) in listed_texts(list) {
            self.tell(&lints::unknown_rule::LINT, at, self.known.wrong_rule(&id));
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

    /// Reports a function that must return a value and never does.
    pub(super) fn gives_nothing(&mut self, function: &Function<'_>, what: &str) {
        let returns = returned(function.body);
        if returns.iter().all(|values| values.is_empty()) {
            let wrong = format!("{what} returns nothing");
            self.problem(
                &lints::missing_return::LINT,
                function.location,
                (wrong, "write `return` before the value at its end".into()),
            );
        }
    }

    /// Reports a function that returns a value on some paths and ends without one on others.
    pub(super) fn ends_without(&mut self, function: &Function<'_>, what: &str) {
        let returns = returned(function.body);
        let gives = returns
            .iter()
            .any(|values| values.first().is_some_and(|first| !matches!(first.kind(), ExpressionKind::Nil)));
        if gives && falls_through(function.body) {
            let wrong = format!("{what} returns a value in some cases, and can end without one");
            self.problem(
                &lints::missing_return::LINT,
                end_of(function),
                (wrong, "add `return ...` before this `end`".into()),
            );
        }
    }

    /// Reports a `when` that returns a reason first, which counts as yes.
    fn says_yes_by_a_text(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for values in &returns {
            if let [first, second, ..] = values
                && matches!(second.kind(), ExpressionKind::Boolean(false))
                && !matches!(first.kind(), ExpressionKind::Boolean(_) | ExpressionKind::Nil)
            {
                let wrong =
                    "`when` returns its reason first and `false` second; only the first value decides".to_string();
                self.problem(
                    &lints::when_result::LINT,
                    first.location(),
                    (wrong, "write `return false, reason`".into()),
                );
            }
        }
        let reasons: Vec<_> = returns.iter().filter_map(|values| local_id(*values.get(1)?)).collect();
        for values in &returns {
            if let [only] = values
                && let ExpressionKind::Local { local, .. } = only.kind()
                && (reasons.contains(&local.id) || local.name == "reason")
            {
                let name = text(local.name);
                let wrong = format!("`when` returns `{name}` first, and a reason counts as yes");
                self.problem(
                    &lints::when_result::LINT,
                    only.location(),
                    (wrong, format!("write `return false, {name}`")),
                );
            }
        }
        for first in returns.iter().filter_map(|values| values.first()) {
            if let Some(reason) = literal(*first) {
                let wrong = "`when` returns a text first, and that counts as yes".to_string();
                self.problem(
                    &lints::when_result::LINT,
                    first.location(),
                    (wrong, format!("write `return false, \"{reason}\"`")),
                );
            }
        }
    }

    /// Checks the kind and the fields that `build` returns.
    fn becomes(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        for values in returns {
            if let Some(first) = values.first().filter(|first| matches!(first.kind(), ExpressionKind::Table { .. })) {
                let wrong = "`build` returns a table first, and the kind comes first".to_string();
                self.problem(
                    &lints::build_result::LINT,
                    first.location(),
                    (wrong, "write `return \"KIND\", { field = value }`".into()),
                );
            }
            let Some((first, kind)) = values.first().and_then(|first| Some((first, literal(*first)?))) else {
                continue;
            };
            self.tell(&lints::unknown_name::LINT, first.location(), self.known.wrong_name("kind", &kind));
            if let (Some(kind), Some(fields)) = (self.known.kind(&kind), values.get(1)) {
                self.fields_of(kind, *fields);
            }
        }
    }

    /// Reports a verb whose parameter names are in another order than its function's parameters.
    pub(super) fn verb_values(&mut self, args: &[Expression<'_>]) {
        let [names, function, ..] = args else { return };
        let run = match function.kind() {
            ExpressionKind::FunctionLiteral(function) => Some(function),
            _ => None,
        };
        self.without_types(*names, run);
        let (ExpressionKind::Table { .. }, ExpressionKind::FunctionLiteral(function)) = (names.kind(), function.kind())
        else {
            return;
        };
        self.handed_to_verbs.extend(function.args.iter().map(|arg| arg.id));
        let named: Vec<_> = listed(*names).filter_map(name_of_param).collect();
        for (param, arg) in listed(*names).zip(function.args) {
            if let Some(symbol) = symbol_of_param(param) {
                self.symbols.insert(arg.id, symbol);
            }
        }
        let params: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
        for ((name, at), param) in named.iter().zip(&params) {
            let known = |wanted: &String| named.iter().any(|(name, _)| name == wanted);
            if name != param && params.contains(name) && known(param) {
                let wrong = format!("this value is named `{name}`, and its function takes `{param}` in this place");
                return self.problem(
                    &lints::parameter_order::LINT,
                    *at,
                    (wrong, "name them in the order in which the function takes them".into()),
                );
            }
        }
        self.ends_without(function, "this verb");
    }

    /// Notes that the wrapped function takes the wrapper's parameters without the first one.
    fn takes_below(&mut self, function: &Function<'_>) {
        let Some((below, own)) = function.args.split_first() else { return };
        let name = text(below.name);
        let verb = self.keys.last().and_then(|verb| self.known.rules?.verb(verb));
        let is_param = verb.is_some_and(|verb| verb.names().next() == Some(&*name));
        if is_param || !members_of(function, below.id).is_empty() {
            let wrong =
                format!("the first value of a wrapped function is the function below, and here it is called `{name}`");
            let own: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
            return self.problem(
                &lints::wrapped_parameters::LINT,
                below.location,
                (wrong, format!("write function(below, {})", own.join(", "))),
            );
        }
        let params: Vec<String> = own.iter().map(|arg| text(arg.name)).collect();
        let signature = Signature { needed: params.len(), params, spread: function.vararg, ..Signature::default() };
        self.functions.insert(below.id, signature);
    }

    /// Reports a card or a free act whose `when` never returns true.
    fn never_open(&mut self, function: &Function<'_>) {
        let returns = returned(function.body);
        let closed = |values: &&[Expression<'_>]| {
            values
                .first()
                .is_none_or(|first| matches!(first.kind(), ExpressionKind::Boolean(false) | ExpressionKind::Nil))
        };
        if returns.iter().all(closed) {
            let what = if self.keys.iter().any(|key| key == "free") { "take this free act" } else { "use this card" };
            let wrong = format!("nobody can ever {what}: `when` never returns true");
            self.problem(&lints::never_open::LINT, function.location, (wrong, "return true at its end".into()));
        }
    }
}

/// The name of a parameter of a verb: a text, or the first value of its table.
fn name_of_param(param: Expression<'_>) -> Option<(String, Location)> {
    let name = listed(param).next().unwrap_or(param);
    literal(name).map(|text| (text, name.location()))
}

/// What the function of a verb finds in a parameter, as far as its declaration says: an entity of a kind, or a list of them.
fn symbol_of_param(param: Expression<'_>) -> Option<Symbol> {
    let ExpressionKind::Call { func, args, .. } = listed(param).nth(1)?.kind() else { return None };
    let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
    let first = *args.first()?;
    match &*text(index) {
        "ref" => Some(Symbol::Entity(Some(literal(first)?))),
        "list" => {
            let ExpressionKind::Call { func, args, .. } = first.kind() else { return None };
            let is_ref = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "ref");
            is_ref.then(|| Symbol::Entities(args.first().and_then(|kind| literal(*kind))))
        }
        _ => None,
    }
}
