//! Reports unknown names in specs: cards, characters, fields, entries and others.

use std::collections::BTreeMap;

use crate::reader::ScriptReader;
use crate::syntax::{constant, listed_texts, literal, local_id, named};
use riskbreaker_ruleset::SwitchValue;
use riskbreaker_script::syntax::{AstNode, Block, Expression, ExpressionKind, Location};
use riskbreaker_state::Value;

/// Returns the texts of a spec file by lower case, with how often each occurs and how it is written first.
pub(crate) fn texts_of(block: Block<'_>) -> BTreeMap<String, (usize, String)> {
    let mut texts: BTreeMap<String, (usize, String)> = BTreeMap::new();
    block.visit(&mut |node: AstNode<'_>| {
        if let AstNode::Expression(expression) = node
            && let Some(text) = literal(expression)
        {
            // `A = M5: Sword` names a character A.
            let name = text.split_once('=').map_or(&*text, |(name, _)| name).trim().to_string();
            texts.entry(name.to_lowercase()).or_insert((0, name)).0 += 1;
        }
        true
    });
    texts
}

/// The field in `t:value("Ann", "field")`.
fn field_of_value(call: Expression<'_>) -> Option<String> {
    let ExpressionKind::Call { func, args: [_, field, ..], self_call: true, .. } = call.kind() else { return None };
    let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
    literal(*field).filter(|_| index == "value")
}

impl ScriptReader<'_> {
    /// Checks a call of a method of a spec's `t`.
    pub(crate) fn spec_call(&mut self, name: &str, args: &[Expression<'_>]) {
        if self.elsewhere {
            return; // other rules have names of their own
        }
        let refusal = match name {
            "refused" => args.get(3),
            "refused_because" | "refused_answer" | "greyed" | "closed" => args.get(2),
            _ => None,
        };
        self.refusal(refusal);
        self.said_by_nobody(refusal);
        match name {
            "greyed" | "enabled" if args.len() > if name == "greyed" { 3 } else { 2 } => {
                self.called_so(args.first());
                if let Some((topic, at)) = args.last().and_then(|arg| Some((literal(*arg)?, arg.location()))) {
                    self.topic(&topic, at);
                }
            }
            "play" | "greyed" | "enabled" | "refused" | "refused_because" | "odds" => {
                if self.played_by_nobody(name, args) {
                    return;
                }
                self.called_so(args.first());
                self.card_named(args.get(1));
                self.answers(match name {
                    "refused_because" => args.get(3),
                    // The value behind the card is the reason.
                    "greyed" => None,
                    _ => args.get(2),
                });
                if name == "odds" {
                    self.expected(args.get(3));
                }
            }
            "turn" => {
                self.called_so(args.first());
                self.answers(args.get(1));
            }
            "expect" => self.expected(args.first()),
            "equal" => {
                if let [one, other, ..] = args {
                    for (found, value) in [(one, other), (other, one)] {
                        if let Some(field) = field_of_value(*found) {
                            self.value_of_field(&field, *value);
                        }
                    }
                }
            }
            "value" | "edit" => {
                self.called_so(args.first());
                self.field_named(args.get(1));
            }
            "answer" | "asked" | "refused_answer" => {
                if let Some((topic, at)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) {
                    self.topic(&topic, at);
                }
            }
            "switch" => self.switched(args),
            "run" => self.sorted("entry", args.first()),
            "titles" => self.sorted("kind", args.first()),
            "seat" => {
                self.sorted("seat", args.first());
                self.driver_named(args.get(1));
            }
            "hidden" | "sees" => self.watcher_named(args.first()),
            "given" if args.len() == 1 => {
                self.sorted("scenario", args.first());
                self.position(args.first());
            }
            "dice" => self.faces(args),
            "free" | "closed" => {
                self.sorted("seat", args.first());
                self.sorted("free act", args.get(1));
            }
            "happened" => {
                let Some((sort, at)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) else {
                    return;
                };
                self.no_event(&sort, at);
            }
            _ => {}
        }
    }

    /// Checks who plays a seat: a policy, `human` or `absent`.
    fn driver_named(&mut self, arg: Option<&Expression<'_>>) {
        let Some((name, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        let Some(rules) = self.known.rules else { return };
        let policies = rules.policies().iter().map(ToString::to_string);
        let drivers: Vec<String> = policies.chain(["human".to_owned(), "absent".to_owned()]).collect();
        if !drivers.contains(&name) {
            let mistake = (
                format!("there is no policy `{name}`"),
                self.known.instead_among(&name, &drivers, |known| !matches!(known, "human" | "absent")),
            );
            self.problem(&crate::lints::unknown_name::LINT, at, mistake);
        }
    }

    /// Checks the seat that sees something; `nobody` is a watcher.
    fn watcher_named(&mut self, arg: Option<&Expression<'_>>) {
        let Some((name, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        if name != "nobody" {
            self.unknown_name(at, "seat", &name);
        }
    }

    fn sorted(&mut self, sort: &str, arg: Option<&Expression<'_>>) {
        let Some((name, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        self.unknown_name(at, sort, &name);
    }

    pub(crate) fn is_card(&self, name: &str) -> bool {
        let same = |text: &str| text.to_lowercase().replace(' ', "_") == name.to_lowercase().replace(' ', "_");
        self.known.rules.is_some_and(|rules| rules.cards().iter().any(|card| same(&card.id) || same(&card.title)))
    }

    /// Reports a character's name that occurs once in the file if the file also has a similar name.
    fn called_so(&mut self, arg: Option<&Expression<'_>>) {
        if let Some((name, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) {
            self.somebody(&name, at);
        }
    }

    fn field_named(&mut self, arg: Option<&Expression<'_>>) {
        if let Some((name, at)) = arg.and_then(|arg| Some((literal(*arg)?, arg.location()))) {
            self.field_or_value(&name, at);
        }
    }

    /// Checks answers by topic.
    fn answers(&mut self, arg: Option<&Expression<'_>>) {
        let given: Vec<_> = arg.into_iter().flat_map(|arg| named(*arg)).collect();
        for (topic, at, value) in given.iter().map(|(topic, at, value)| (topic, *at, *value)) {
            self.answered_topic((topic, at), value, |other| given.iter().any(|(topic, ..)| topic == other));
            self.listed(value);
        }
    }

    /// Checks the capitalised texts in a list of answers, which are names of characters.
    fn listed(&mut self, list: Expression<'_>) {
        for (name, at) in listed_texts(list).filter(|(name, _)| name.starts_with(char::is_uppercase)) {
            self.somebody(&name, at);
        }
    }

    fn switched(&mut self, args: &[Expression<'_>]) {
        let Some((name, at)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        let Some(switch) = self.known.stack.switch(&name) else {
            return self.unknown_name(at, "switch", &name);
        };
        let written = args.get(1).map(|arg| self.values_written(*arg)).unwrap_or_default();
        let named: Vec<&str> = written.iter().filter_map(|(given, _)| given.as_text()).collect();
        for (given, at) in &written {
            if let Some(word) = given.as_text()
                && self.row_sets_no_value(&name, &switch.kind, (word, *at), &named)
            {
                continue;
            }
            let value = match given {
                Value::Int(n) => SwitchValue::Int(*n),
                Value::Bool(yes) => SwitchValue::Bool(*yes),
                Value::Text(text) => SwitchValue::Text(text.to_string()),
                _ => continue,
            };
            self.switch_is_never_set(&name, &switch.kind, &value, *at);
        }
    }

    /// The values that an expression can have, where they are written down: itself, or what the rows of `rb.cases` have under
    /// the key that it reads. A branch may be there for some rows only.
    fn values_written(&self, value: Expression<'_>) -> Vec<(Value, Location)> {
        if let Some(given) = constant(value) {
            return vec![(given, value.location())];
        }
        let ExpressionKind::IndexName { expr, index, .. } = value.kind() else { return Vec::new() };
        let is_row = self.branches == 0 && self.row.as_ref().is_some_and(|(row, ..)| local_id(expr) == Some(*row));
        let of_rows = self.row_values.iter().filter(|(key, ..)| is_row && index == key.as_str());
        of_rows.map(|(_, given, at)| (given.clone(), *at)).collect()
    }
}
