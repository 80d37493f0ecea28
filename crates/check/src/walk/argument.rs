//! Arguments of verbs, compared with what the verbs declare.

use crate::lints;
use crate::reader::ScriptReader;
use crate::syntax::{literal, named};
use riskbreaker_ruleset::instead;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

impl ScriptReader<'_> {
    /// Data that replace those of an attachment: each name is declared by some hook, or near to none that is.
    pub(crate) fn replaced_data(&mut self, data: Expression<'_>) {
        let Some(rules) = self.known.rules else { return };
        let holders = rules.hooks().iter().map(|hook| &**hook).chain(rules.items().iter().map(|item| &*item.id));
        let known: Vec<&str> =
            holders.filter_map(|hook| rules.hook_data(hook)).flatten().map(|param| &*param.name).collect();
        for (name, at, _) in named(data) {
            if !known.contains(&&*name)
                && let Some(near) = self.known.nearest(&name, known.iter().copied())
            {
                let mistake = (format!("no hook declares `{name}` in its data"), format!("did you mean `{near}`?"));
                self.problem(&lints::unknown_hook_value::LINT, at, mistake);
            }
        }
    }

    /// Data that are written down where a hook is attached, compared with what the hook declares.
    pub(crate) fn attached_data(&mut self, hook: Expression<'_>, data: Expression<'_>) {
        let Some((hook, rules)) = literal(hook).zip(self.known.rules) else { return };
        let (Some(params), ExpressionKind::Table { .. }) = (rules.hook_data(&hook), data.kind()) else { return };
        let given: Vec<_> = named(data).collect();
        for (name, at, value) in &given {
            match params.iter().find(|param| param.name == *name) {
                Some(param) => {
                    self.misfits_declaration(*value, param, &format!("the data of {hook}"));
                }
                None => {
                    let cure = instead(name, params.iter().map(|param| &*param.name));
                    self.problem(
                        &lints::unknown_hook_value::LINT,
                        *at,
                        (format!("`{hook}` declares no `{name}` in its data"), cure),
                    );
                }
            }
        }
        let missing =
            params.iter().find(|param| param.is_needed() && !given.iter().any(|(name, ..)| *name == param.name));
        if let Some(param) = missing {
            let wrong = format!("the data of `{hook}` lack `{}`", param.name);
            self.problem(
                &lints::argument_count::LINT,
                data.location(),
                (wrong, format!("add {} = ...: {}", param.name, param.ty)),
            );
        }
    }
}
