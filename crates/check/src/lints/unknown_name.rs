//! A text names a card, kind, hook, seat or the like that no file declares.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{listed, literal, value_of};
use riskbreaker_ruleset::{Cure, Rulebook};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-name",
    severity: Severity::Error,
    summary: "a text names a card, kind, hook, seat or the like that no file declares",
    explanation: "Cards, items, hooks, kinds, agenda entries, seats, switches, policies, characters of cast/ and \
                  rulesets are named by texts. A text in the place of such a name must be the name of something \
                  that a file declares. Otherwise the call fails when it is played, or is silently for nothing. \
                  Correct the name, or declare what it names.",
    bad: Example::Resolve(r#"rb.spawn("pullr", { name = "Cid", seat = "left" })"#),
    good: Example::Resolve(r#"rb.spawn("puller", { name = "Cid", seat = "left" })"#),
};

impl ScriptReader<'_> {
    /// Reports unknown seats in an audience, which is one seat or a list.
    pub(crate) fn audience(&mut self, value: Expression<'_>) {
        if let Some(seat) = literal(value) {
            self.tell(&LINT, value.location(), self.known.wrong_audience(&seat));
        }
        listed(value).for_each(|seat| self.audience(seat));
    }

    /// Reports the one name in a list of cards, kinds, verbs or the like that is none: one that another ruleset uses for a
    /// card, or that is almost the name of one.
    pub(crate) fn odd_one(&mut self, items: &[TableItem<'_>]) {
        let text = |item: &TableItem<'_>| match item {
            TableItem::List { value } => literal(*value).map(|text| (text, value.location())),
            _ => None,
        };
        let texts: Option<Vec<(String, Location)>> = items.iter().map(text).collect();
        let Some(texts) = texts.filter(|texts| texts.len() >= 3) else { return };
        for sort in ["card", "item", "hook", "kind", "verb"] {
            let Some(names) =
                self.known.names(sort).filter(|names| names.contains(&texts[0].0) || names.contains(&texts[1].0))
            else {
                continue;
            };
            let mut odd = texts.iter().filter(|(text, _)| !names.contains(text));
            let Some((text, at)) = odd.next().filter(|_| odd.next().is_none()) else { continue };
            let wrong = format!("there is no {sort} `{text}`");
            let known_as = self.known.rules.map(Rulebook::known_as).filter(|_| sort == "card").unwrap_or_default();
            // The ruleset says so itself.
            if let Some((own, _)) = known_as.iter().find(|(_, other)| *other == text)
                && names.contains(own)
                && !texts.iter().any(|(text, _)| text == own)
            {
                return self.problem(&LINT, *at, (wrong, Cure::meant(text.as_str(), own.as_str())));
            }
            if self.known.names.times(text) <= 1
                && let Some(near) = self.known.nearest(text, names.iter().map(String::as_str))
            {
                return self.problem(&LINT, *at, (wrong, Cure::meant(text.as_str(), near)));
            }
        }
    }

    pub(crate) fn member_of_word(&mut self, word: &str, name: &str, at: Location) {
        let sort = match word {
            "act" => "verb",
            "switches" => "switch",
            "cards" => "card",
            "items" => "item",
            "cast" => "cast",
            _ => return,
        };
        self.tell(&LINT, at, self.known.wrong_name(sort, name));
    }

    pub(crate) fn card_named(&mut self, arg: Option<&Expression<'_>>) {
        let (Some(arg), Some(rules)) = (arg, self.known.rules) else { return };
        let Some(name) = literal(*arg) else { return };
        if !self.is_card(&name) && rules.names_of("hook").unwrap_or_default().contains(&&*name) {
            let names: Vec<String> = rules.cards().iter().map(|card| card.id.to_string()).collect();
            let near = self.known.nearest(&name, names.iter().map(String::as_str));
            let cure = near.map_or("name a card".into(), |near| Cure::meant(&*name, near));
            return self.problem(&LINT, arg.location(), (format!("`{name}` is a hook, and no card"), cure));
        }
        // An option that is no card is named in some script.
        if self.is_card(&name) || self.known.names.times(&name) > 0 || rules.cards().is_empty() {
            return;
        }
        let names: Vec<String> = rules.cards().iter().map(|card| card.id.to_string()).collect();
        // It may be an option whose name a position gives.
        let again =
            self.spec_texts.get(&name.to_lowercase()).is_some_and(|(times, _)| *times > 1) || name.contains(' ');
        if again && self.known.nearest(&name, names.iter().map(String::as_str)).is_none() {
            return;
        }
        self.problem(&LINT, arg.location(), (format!("there is no card `{name}`"), self.known.instead(&name, &names)));
    }

    /// Reports an unknown agenda entry under a key of a table, if scripts name it at most `most` times.
    pub(crate) fn entry_under(&mut self, table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        if let Some(value) = value_of(items, "what")
            && let Some(entry) = literal(value)
        {
            self.tell(&LINT, value.location(), self.known.wrong_name("entry", &entry));
        }
    }

    /// Reports a moment that is neither an entry of the agenda nor one that some script announces.
    pub(crate) fn moment_under(&mut self, table: Expression<'_>) {
        let ExpressionKind::Table { items } = table.kind() else { return };
        if let Some(value) = value_of(items, "moment")
            && let Some(moment) = literal(value)
            && !self.known.names.may_come(&moment)
        {
            self.tell(&LINT, value.location(), self.known.wrong_name("entry", &moment));
        }
    }

    /// Reports an unknown seat in a list. The only seat of a player that the list lacks is most likely meant.
    pub(crate) fn seat_in_list(&mut self, seat: &str, at: Location, is_listed: impl Fn(&str) -> bool) {
        let Some((wrong, cure)) = self.known.wrong_name("seat", seat) else { return };
        let seats = self.known.names("seat").unwrap_or_default();
        let mut left = seats.iter().filter(|other| *other != "gm" && !is_listed(other));
        let cure = match (cure, left.next().filter(|_| left.next().is_none())) {
            (Cure::Known { .. } | Cure::Advice(_), Some(only)) => Cure::meant(seat, only.as_str()),
            (cure, _) => cure,
        };
        self.problem(&LINT, at, (wrong, cure));
    }

    /// Reports the name of a thing of a sort (`card`, `kind`, `seat`, ...) that no file declares.
    pub(crate) fn unknown_name(&mut self, at: Location, sort: &str, name: &str) {
        self.tell(&LINT, at, self.known.wrong_name(sort, name));
    }

    /// Reports `ask = "chose"`: almost the name of a sort of question.
    pub(crate) fn unknown_question(&mut self, ask: &str, at: Location) {
        let asks: Vec<String> = api::QUESTIONS.iter().map(|(ask, _)| ask.to_string()).collect();
        if !asks.iter().any(|known| known == ask) && self.known.nearest(ask, asks.iter().map(String::as_str)).is_some()
        {
            self.problem(&LINT, at, (format!("there is no question `{ask}`"), self.known.instead_alike(ask, &asks)));
        }
    }

    /// Reports a comparison of a `kind` with almost the name of a sort of question or of a kind. Returns whether it did.
    pub(crate) fn compared_with_no_kind(&mut self, given: &str, at: Location) -> bool {
        let asks = api::QUESTIONS.iter().map(|(ask, _)| ask.to_string());
        let kinds: Vec<String> = asks.chain(self.known.names("kind").unwrap_or_default()).collect();
        let is_near = self.known.nearest(given, kinds.iter().map(String::as_str)).is_some();
        let is_wrong = is_near && !kinds.iter().any(|kind| kind == given) && self.known.names.times(given) <= 1;
        if is_wrong {
            let wrong = format!("there is no kind \"{given}\", neither of a question nor of an entity");
            self.problem(&LINT, at, (wrong, self.known.instead_alike(given, &kinds)));
        }
        is_wrong
    }
}
