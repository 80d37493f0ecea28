//! Nothing in the ruleset has a member of that name.

use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::type_pieces::pieces_of_type;
use riskbreaker_ruleset::{Cure, find_whole, instead, instead_or, likeliest, slips};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_script::{api, common_type};

pub(crate) static LINT: Lint = Lint {
    name: "unknown-member",
    severity: Severity::Error,
    summary: "nothing in the ruleset has a member of that name",
    explanation: "A name is read off a value, and no file of the ruleset gives any value a member of that name. \
                  The result is nil. If the value is what a file returns, the file must have it in the table that \
                  it returns. The check reports names of unknown values only if no table, no kind and no word of \
                  the host has them.",
    bad: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.nmae)"#),
    good: Example::Resolve(r#"rb.say("{} pulls", ctx.actor.name)"#),
};

impl ScriptReader<'_> {
    /// Reports a member that nothing in any file of the ruleset has.
    pub(crate) fn nothing_has(&mut self, of: Expression<'_>, name: &str, at: Location) {
        let names = &self.known.names;
        // Values from another ruleset have names of their own.
        let foreign = self.elsewhere || self.path.starts_with("convert/");
        if foreign || matches!(of.kind(), ExpressionKind::Global(_)) {
            return;
        }
        if let Some(meant) = self.member_in_other_case(of, name) {
            return self.problem(&LINT, at, (format!("no entity has a `{name}`"), Cure::meant(name, meant)));
        }
        if let Some(cure) = self.instead_of_key(of, name) {
            return self.problem(&LINT, at, (format!("no row has a `{name}`"), cure));
        }
        // `table.pack` counts its values in `n`.
        let is_packed = name == "n" && self.text.contains("table.pack(");
        // A copy of the data of an attachment has what the data has.
        if names.is_given(name) || is_packed || self.names_of_any_data().contains(&name) {
            return;
        }
        // The name is compared with all known names and with all that are read.
        let compared = self.known.may_compare(2 * names.given().count());
        // A ruleset that extends this one may add members.
        let is_near = |given: &str| compared && slips(name, given, 1) == Some(1);
        if self.known.stack.scenario().is_none() && !names.given().any(is_near) {
            return;
        }
        // Texts with a capital letter are titles, such as those of a spec's expectation.
        let is_title = |word: &str| word.starts_with(char::is_uppercase);
        let like_it = |given: &&str| !given.contains(' ') && is_title(given) == is_title(name);
        let given = || self.known.nearest(name, names.given().filter(like_it));
        // A declared member that nothing reads is not among the names that are read.
        let distance = |other: &str| slips(name, other, 4);
        let of_others = names.meant(name).and_then(distance);
        let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
        let declared = kinds.flat_map(|kind| &kind.derived).find(|member| {
            names.reads(member) == 0
                && distance(member).is_some_and(|slips| of_others.is_none_or(|others| slips <= others))
        });
        let near = if compared { names.meant(name).or_else(given) } else { None };
        let members =
            || self.known.schema().into_iter().flat_map(|schema| &schema.kinds).flat_map(|kind| kind.members());
        // What an entity has goes before what the host or a table has.
        let of_entity = self.is_entity_by_name(of).then(|| likeliest(name, members())).flatten();
        let near = declared.map(|member| &**member).or(of_entity).or(near);
        let near = near.or_else(|| likeliest(name, members().filter(|_| !self.asked)));
        let wrong = format!("nothing has a `{name}`");
        if api::library("table").is_some_and(|names| names.contains(&name)) {
            return self.problem(&LINT, at, (wrong, format!("write `table.{name}(list, ...)`").into()));
        }
        match near.map(str::to_string) {
            Some(near) => self.problem(&LINT, at, (wrong, Cure::meant(name, near))),
            None if self.asked => {}
            None => self.problem(&LINT, at, (wrong, "correct the name, or declare it as a field in kinds.luau".into())),
        }
    }

    /// The key of the rows of `rb.cases` to read instead of one that no row has: the only one that nothing reads, or a near
    /// one. `None` if `of` holds no row, or if a row has the key.
    fn instead_of_key(&self, of: Expression<'_>, name: &str) -> Option<Cure> {
        let ExpressionKind::Local { local, .. } = of.kind() else { return None };
        let (_, keys, read) = self.row.as_ref().filter(|(id, keys, _)| *id == local.id && !keys.is_empty())?;
        // A misspelt key is reported in its row.
        let is_misspelt = |key: &String| !read.contains(key) && slips(key, name, 2).is_some();
        if keys.contains(name) || self.asked || keys.iter().any(is_misspelt) {
            return None;
        }
        let mut unread = keys.iter().filter(|key| !read.contains(*key));
        let only = unread.next().filter(|_| unread.next().is_none());
        Some(match only {
            Some(only) => Cure::meant(name, only.as_str()),
            None => instead(name, keys.iter().map(String::as_str)),
        })
    }

    /// The field or derived value that a name with a capital letter means, as other environments write it: `name` for
    /// `Name`. `None` if a kind has the name itself, or if a table may have it and what it is read off may be a table.
    fn member_in_other_case(&self, of: Expression<'_>, name: &str) -> Option<String> {
        if !name.starts_with(char::is_uppercase) {
            return None;
        }
        let members =
            || self.known.schema().into_iter().flat_map(|schema| &schema.kinds).flat_map(|kind| kind.members());
        let names = &self.known.names;
        let is_own = || names.is_key(name) || names.is_assigned(name) || self.is_spec();
        let is_wrong = members().all(|member| member != name) && (self.is_entity_by_name(of) || !is_own());
        members().find(|member| is_wrong && member.eq_ignore_ascii_case(name)).map(str::to_owned)
    }

    /// Reports a key of the scenario in the play file that no scenario has, if the scenarios have one of a similar name that
    /// no script reads. Returns whether it did.
    pub(crate) fn no_key_of_scenarios(&mut self, of: Expression<'_>, name: &str, at: Location) -> bool {
        let is_scenario = matches!(of.kind(), ExpressionKind::Local { local, .. } if local.name == "scenario");
        let names = &self.known.names;
        if !is_scenario || !self.path.starts_with("play") || names.scenario_keys().any(|key| key == name) {
            return false;
        }
        let is_read = |key: &str| names.read_off("scenario").any(|read| read == key);
        let mut near = names.scenario_keys().filter(|key| slips(name, key, 1) == Some(1) && !is_read(key));
        let Some(near) = near.next().map(str::to_owned) else { return false };
        self.problem(&LINT, at, (format!("no scenario has a `{name}`"), Cure::meant(name, near)));
        true
    }

    /// Reports a member that a file does not give.
    pub(crate) fn member_of_module(&mut self, path: &str, name: &str, at: Location) {
        let Some(module) = self.known.names.module(path).filter(|module| !module.members.contains_key(name)) else {
            return;
        };
        let names: Vec<String> = module.members.keys().cloned().collect();
        // A condition may ask whether a layer above has put it there.
        if !self.asked || self.known.nearest(name, names.iter().map(String::as_str)).is_some() {
            // The only one that no other script reads is most likely meant: it has a new name.
            let is_read = |member: &str| {
                let read = format!(".{member}");
                let others = self.known.stack.scripts().filter(|(_, _, source)| source.path != path);
                others.into_iter().any(|(_, _, source)| find_whole(&source.text, &read).is_some())
            };
            let mut unread = names.iter().filter(|member| !is_read(member));
            let only = unread.next().filter(|_| unread.next().is_none());
            let cure = match (self.known.instead_alike(name, &names), only) {
                (Cure::Known { .. } | Cure::Advice(_), Some(only)) => Cure::meant(name, only.as_str()),
                (cure, _) => cure,
            };
            self.problem(&LINT, at, (format!("{path} gives no `{name}`"), cure));
        }
    }

    /// Reports a member that what a conversion is given does not have.
    pub(crate) fn member_of_change(&mut self, name: &str, at: Location) {
        if members_of_change().all(|(known, _)| known != name) {
            let known = members_of_change().map(|(known, _)| known);
            self.problem(&LINT, at, (format!("the change of a conversion has no `{name}`"), instead(name, known)));
        }
    }

    /// Reports a member that a question does not have.
    pub(crate) fn member_of_question(&mut self, name: &str, at: Location) {
        let own = api::QUESTIONS.iter().flat_map(|(_, own)| own.iter()).copied();
        let known: Vec<&str> = api::QUESTION_FIELDS.iter().copied().chain(own).chain(["kind"]).collect();
        if !known.contains(&name) {
            let otherwise = "it has topic, about, seat, kind, options, min, max, total; `about` is who is asked for";
            let cure = instead_or(name, known.iter().copied(), otherwise);
            self.problem(&LINT, at, (format!("a question has no `{name}`"), cure));
        }
    }
}

/// Whether a name is that of a function of what a conversion is given.
pub(crate) fn is_function_of_change(name: &str) -> bool {
    members_of_change().any(|(known, is_function)| is_function && known == name)
}

/// The members of what a conversion is given, and whether each is a function.
fn members_of_change() -> impl Iterator<Item = (&'static str, bool)> {
    let ty = common_type("Change").unwrap_or_default().trim_start_matches("{ ").trim_end_matches(" }");
    pieces_of_type(ty, ',').into_iter().filter_map(|piece| {
        let (name, ty) = piece.split_once(':')?;
        Some((name.trim(), ty.contains("->")))
    })
}
