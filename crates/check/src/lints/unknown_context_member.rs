//! Nothing puts a member of that name into `ctx`.

use crate::inference::symbol::declared;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_of_name, named};
use riskbreaker_ruleset::{Cure, Param, ParamType, instead_or, likeliest};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Local, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "unknown-context-member",
    severity: Severity::Error,
    summary: "nothing puts a member of that name into `ctx`",
    explanation: "`ctx` is the table that an agenda entry makes and hands to the functions of a card. It has what \
                  the entry puts into it. Another member is nil. Correct the name, or put the value into `ctx` \
                  where the card is asked for.",
    bad: Example::Resolve(r#"rb.say("{} stakes {}", ctx.actor, ctx.stake)"#),
    good: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor, ctx.rope.at)"#),
};

impl ScriptReader<'_> {
    /// Reports a member that no script puts into the context of a card.
    pub(crate) fn no_context_member(&mut self, name: &str, at: Location) {
        let members: Vec<String> =
            self.known.names.members_of_context().into_iter().flatten().map(str::to_string).collect();
        let otherwise = format!("write `ctx.{name} = ...` where the card is asked for, or correct the name");
        // The plural is a list, and one of it is meant.
        let plural = format!("{name}s");
        let is_list = self.known.names.is_list(&plural)
            || self
                .known
                .rules
                .and_then(|rules| declared(rules.context(), &plural))
                .is_some_and(|param| matches!(param.ty, ParamType::Value(Type::List(_))));
        // What the card itself puts there goes before what others do.
        let own: Vec<&str> = self.own_context_members().into_iter().filter(|own| *own != name).collect();
        let near = likeliest(name, members.iter().map(String::as_str));
        // The variable that takes the value is called like the member that is meant.
        let line = self.text[..self.offset_of(at.begin)].rsplit('\n').next().unwrap_or_default();
        let variable = line.trim().strip_prefix("local ").and_then(|rest| rest.strip_suffix(" = ctx."));
        if let Some(variable) = variable.filter(|variable| members.iter().any(|member| member == variable)) {
            let wrong = format!("nothing puts a `{name}` into `ctx`");
            return self.problem(&LINT, at, (wrong, Cure::meant(name, variable)));
        }
        let has_targets = self.text.contains(&format!("{plural} ="));
        let cure = match members.contains(&plural) && is_list {
            _ if let ([only], false, true) = (own.as_slice(), has_targets, near.is_none_or(|near| near == plural)) => {
                Cure::meant(name, *only)
            }
            _ if let (true, None, Some(actor)) = (ACTORS.contains(&name), near, self.actor_of_context()) => {
                Cure::meant(name, actor)
            }
            true => Cure::meant(name, format!("{plural}[1]")),
            false => instead_or(name, members.iter().map(String::as_str), otherwise),
        };
        self.problem(&LINT, at, (format!("nothing puts a `{name}` into `ctx`"), cure));
    }

    /// The names that this file assigns in `ctx`.
    fn own_context_members(&self) -> Vec<&str> {
        let assigned = self.text.match_indices("ctx.").filter_map(|(at, mark)| {
            let rest = &self.text[at + mark.len()..];
            let end = rest.find(|letter| !is_of_name(letter))?;
            let behind = rest[end..].trim_start();
            (behind.starts_with('=') && !behind.starts_with("==")).then_some(&rest[..end])
        });
        let mut names: Vec<&str> = assigned.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The entity that the ruleset declares for the context of a card as who plays it.
    fn actor_of_context(&self) -> Option<&str> {
        let context = self.known.rules?.context();
        let is_entity = |param: &&Param| matches!(param.ty, ParamType::Value(Type::Ref(_)));
        // It is called like its kind, or it is the only entity.
        let is_own =
            |param: &&Param| matches!(&param.ty, ParamType::Value(Type::Ref(Some(kind))) if **kind == *param.name);
        let mut entities = context.iter().filter(is_entity);
        let only = entities.next().filter(|_| entities.next().is_none());
        context.iter().find(is_own).or(only).map(|param| &*param.name)
    }

    /// Reports a member of the context that one of its entities has.
    pub(crate) fn member_of_another(&mut self, name: &str, owner: &str, at: Location) {
        let wrong = format!("nothing puts a `{name}` into `ctx`");
        let cure = Cure::meant(format!("ctx.{name}"), format!("ctx.{owner}.{name}"));
        let change = self.inserted(at.begin, format!("{owner}."));
        self.cured(&LINT, at, (wrong, cure), change);
    }
}

impl ScriptReader<'_> {
    /// Reports a table `ctx` that lacks a name which `context` of play.luau requires, if nothing adds the name later. If the
    /// table has one name that is not declared, that is the one.
    pub(crate) fn lacks_of_context(&mut self, variable: &Local<'_>, value: Expression<'_>) {
        let Some(rules) = self.known.rules.filter(|_| variable.name == "ctx" && !self.is_spec() && !self.elsewhere)
        else {
            return;
        };
        let given: Vec<(String, Location)> = named(value).map(|(name, at, _)| (name, at)).collect();
        let ExpressionKind::Table { items } = value.kind() else { return };
        let is_filled = |name: &str| self.known.names.is_put_into("ctx", name);
        let is_needed = |param: &&Param| !param.optional && given.iter().all(|(name, _)| *name != param.name);
        let missing: Vec<&Param> =
            rules.context().iter().filter(is_needed).filter(|param| !is_filled(&param.name)).collect();
        let declares = |name: &str| declared(rules.context(), name).is_some();
        let has_others = given.iter().any(|(name, _)| declares(name));
        if items.len() != given.len() || !has_others || missing.is_empty() {
            return;
        }
        let lacks = |param: &Param| format!("`context` declares `{}`, and this `ctx` has none", param.name);
        let strange: Vec<&(String, Location)> = given.iter().filter(|(name, _)| !declares(name)).collect();
        match (missing.as_slice(), strange.as_slice()) {
            ([missing], [(name, at)]) => {
                let wrong = format!("{}; it has `{name}`, which is not declared", lacks(missing));
                self.problem(&LINT, *at, (wrong, Cure::meant(name.as_str(), &*missing.name)));
            }
            ([missing, ..], _) => {
                let cure = format!("add `{} = ...` here, or make it optional in `context`", missing.name);
                self.problem(&LINT, value.location(), (lacks(missing), cure.into()));
            }
            ([], _) => {}
        }
    }
}

/// Names for who plays a card.
const ACTORS: [&str; 8] = ["actor", "self", "player", "character", "who", "user", "hero", "me"];
