//! `build` of the creation returns its fields before the kind.

use crate::lint::{Example, Lint, Severity};
use crate::lints::{unknown_name, unread_key};
use crate::reader::ScriptReader;
use crate::syntax::{listed, listed_texts, literal, local_id, named, returned, value_of};
use riskbreaker_ruleset::{Cure, instead};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function, UnaryOp};

pub(crate) static LINT: Lint = Lint {
    name: "build-result",
    severity: Severity::Error,
    summary: "`build` of the creation returns its fields before the kind",
    explanation: "`build` returns the kind of the new character and then the table of its fields.",
    bad: Example::Files(&[(
        "creation.luau",
        r#"local rb = require("@riskbreaker")

return rb.creation({
	build = function(sheet)
		return { name = sheet.name }
	end,
})
"#,
    )]),
    good: Example::Files(&[(
        "creation.luau",
        r#"local rb = require("@riskbreaker")

return rb.creation({
	build = function(sheet)
		return "puller", { name = sheet.name }
	end,
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a `check` of the creation that returns something else than a list.
    pub(crate) fn finds_no_list(&mut self, function: &Function<'_>) {
        for first in returned(function.body).iter().filter_map(|values| values.first()) {
            if let ExpressionKind::Table { items } = first.kind()
                && ["text", "rule"].into_iter().all(|key| value_of(items, key).is_some())
            {
                let wrong = "`check` returns a list of breaches, and this is one breach".to_owned();
                let change = self.replaced(first.location(), format!("{{ {} }}", self.source(*first)));
                self.cured(&LINT, first.location(), (wrong, "put it into braces: a list of one".into()), change);
                continue;
            }
            let Some(given) = self.value_type(*first).filter(|given| !given.is_table()) else { continue };
            let wrong = format!("`check` returns a list of breaches, and this is {}", given.words());
            let (cure, change) = match first.kind() {
                ExpressionKind::Boolean(true) => {
                    ("write `{}`: no breach is an empty list", Some(self.replaced(first.location(), "{}")))
                }
                // `#breaches == 0`: the list itself is meant.
                ExpressionKind::Binary { lhs, .. } if let Some(list) = counted_list(lhs) => {
                    ("return the list itself", Some(self.replaced(first.location(), self.source(list))))
                }
                _ => ("write `{ { rule = \"ID\", text = \"...\" } }`", None),
            };
            self.problem_with(&LINT, first.location(), (wrong, cure.into()), change);
        }
    }

    /// Reports steps with a form that there is not, or with a key that no script reads off a sheet.
    pub(crate) fn steps_of_creation(&mut self, function: &Function<'_>) {
        let lists = returned(function.body).into_iter().filter_map(|values| values.first().copied());
        let steps: Vec<Expression<'_>> = lists.flat_map(listed).collect();
        steps.iter().for_each(|step| self.option_of_no_sheet(*step));
        let entries: Vec<_> = steps.into_iter().flat_map(named).collect();
        let keys: Vec<String> =
            entries.iter().filter(|(key, ..)| key == "key").filter_map(|(.., value)| literal(*value)).collect();
        for (key, _, value) in entries {
            let Some(word) = literal(value) else { continue };
            let names = &self.known.names;
            match &*key {
                "form" if !FORMS.contains(&&*word) => {
                    let cure = instead(&word, FORMS);
                    let wrong = format!("a step has no form `{word}`");
                    self.problem(&unknown_name::LINT, value.location(), (wrong, cure));
                }
                "key" if names.read_off("sheet").all(|read| read != word) => {
                    let unasked = names.read_off("sheet").filter(|read| !keys.iter().any(|key| key == read));
                    if let Some(near) = self.known.nearest(&word, unasked).map(str::to_owned) {
                        let wrong = format!("nothing reads `{word}` off a sheet");
                        let mistake = (wrong, Cure::meant(word.as_str(), near));
                        self.problem(&unread_key::LINT, value.location(), mistake);
                    }
                }
                _ => {}
            }
        }
    }

    /// Reports an option of a step that no sheet has, if sheets have a similar value that is no option.
    fn option_of_no_sheet(&mut self, step: Expression<'_>) {
        let ExpressionKind::Table { items } = step.kind() else { return };
        let (Some(key), Some(list)) = (value_of(items, "key").and_then(literal), value_of(items, "options")) else {
            return;
        };
        let options: Vec<_> = listed_texts(list).collect();
        let names = &self.known.names;
        let is_option = |text: &str| options.iter().any(|(option, _)| option == text);
        let others: Vec<&str> = names.texts_under(&key).map(|(text, _)| text).filter(|text| !is_option(text)).collect();
        let unused = options.iter().filter(|(option, _)| names.texts_under(&key).all(|(text, _)| text != option));
        let meant = |option: &str| self.known.nearest(option, others.iter().copied()).map(str::to_owned);
        let found: Vec<_> = unused.filter_map(|(option, at)| Some((option.clone(), *at, meant(option)?))).collect();
        for (option, at, meant) in found {
            let wrong = format!("no sheet has the {key} \"{option}\", and \"{meant}\" is no option");
            self.problem(&unknown_name::LINT, at, (wrong, Cure::meant_text(option, meant)));
        }
    }

    /// Reports a `build` that returns the fields before the kind.
    pub(crate) fn table_before_kind(&mut self, values: &[Expression<'_>]) {
        if let Some(first) = values.first().filter(|first| matches!(first.kind(), ExpressionKind::Table { .. })) {
            let wrong = "`build` returns a table first, and the kind comes first".to_string();
            let kinds = self.known.schema().into_iter().flat_map(|schema| &schema.kinds);
            let having = kinds.filter(|kind| named(*first).all(|(name, ..)| kind.field_named(&name).is_some()));
            let names: Vec<String> = having.map(|kind| kind.name.to_string()).collect();
            let kind = if let [only] = names.as_slice() { only } else { "KIND" };
            let cure = format!("write `return \"{kind}\", {{ field = value }}`");
            let known = names.len() == 1 && values.len() == 1;
            let change = known.then(|| self.inserted(first.location().begin, format!("\"{kind}\", ")));
            self.problem_with(&LINT, first.location(), (wrong, cure.into()), change);
        }
    }
}

/// The forms of a step of the creation.
const FORMS: [&str; 5] = ["text", "number", "yes or no", "list", "map"];

/// The variable in `#variable`.
fn counted_list<'a>(counted: Expression<'a>) -> Option<Expression<'a>> {
    match counted.kind() {
        ExpressionKind::Unary { op: UnaryOp::Length, rhs } if local_id(rhs).is_some() => Some(rhs),
        _ => None,
    }
}
