//! Arguments of verbs, compared with what the verbs declare.

use crate::inference::symbol::Symbol;
use crate::reader::ScriptReader;
use crate::syntax::{literal, named};
use riskbreaker_script::syntax::{Expression, ExpressionKind};

impl ScriptReader<'_> {
    /// Data that are written down where a hook is attached, compared with what the hook declares.
    pub(crate) fn attached_data(&mut self, hook: Expression<'_>, data: Expression<'_>) {
        if let Some(hook) = literal(hook) {
            self.data_for(&hook, data);
        }
    }

    /// Notes that the function which `rb.filter` or `table.sort` is given takes the elements of a list of entities.
    pub(crate) fn elements_handed_over(&mut self, func: Expression<'_>, args: &[Expression<'_>]) {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return };
        let takes = match self.symbol(expr) {
            Some(Symbol::Vocabulary) if index == "filter" => 1,
            Some(Symbol::Library("table")) if index == "sort" => 2,
            _ => return,
        };
        let [list, taker, ..] = args else { return };
        let (Some(function), Some(kind)) = (taker.as_function(), self.kind_of_elements(*list)) else { return };
        for arg in function.args.iter().take(takes).filter(|arg| !self.inference.locals.changing.contains(&arg.id)) {
            self.inference.symbols.insert(arg.id, Symbol::Entity(kind.clone()));
        }
    }

    /// An attachment without data, whose hook declares some that cannot be left out.
    pub(crate) fn attached_without(&mut self, hook: Expression<'_>, holder: Expression<'_>) {
        let (Some(hook), Some(rules)) = (literal(hook).filter(|_| !self.is_spec()), self.known.rules) else { return };
        let missing = rules.hook_data(&hook).into_iter().flatten().find(|param| !param.optional);
        if let Some(missing) = missing {
            self.missing_data(&hook, missing, holder.location());
        }
    }

    /// Data that are written down in the place of those of an attachment, which `number` names: compared with what its hook
    /// declares, if the hook is known.
    pub(crate) fn replaced_data(&mut self, number: Expression<'_>, data: Expression<'_>) {
        let holder = match number.kind() {
            ExpressionKind::IndexName { expr, index, .. } if index == "id" => Some(expr),
            _ => None,
        };
        let hook = holder.filter(|holder| self.symbol(*holder) == Some(Symbol::Holder));
        match hook.and_then(|holder| self.hook_of(holder)) {
            Some(hook) => self.data_for(&hook, data),
            None => named(data).for_each(|(name, at, _)| self.in_no_data(&name, at)),
        }
    }

    fn data_for(&mut self, hook: &str, data: Expression<'_>) {
        let Some(rules) = self.known.rules else { return };
        let (Some(params), ExpressionKind::Table { .. }) = (rules.hook_data(hook), data.kind()) else { return };
        let given: Vec<_> = named(data).collect();
        for (name, at, value) in &given {
            match params.iter().find(|param| param.name == *name) {
                Some(param) => {
                    self.misfits_declaration(*value, param, &format!("the data of {hook}"));
                }
                None => {
                    let is_given = |name: &str| given.iter().any(|(given, ..)| given == name);
                    self.undeclared_data(hook, params, (name, *at), is_given);
                }
            }
        }
        let missing =
            params.iter().find(|param| param.is_needed() && !given.iter().any(|(name, ..)| *name == param.name));
        // A name that the hook does not declare is reported, and is most likely this one.
        let is_misspelt = given.iter().any(|(name, ..)| !params.iter().any(|param| param.name == *name));
        if let Some(param) = missing.filter(|_| !is_misspelt) {
            self.missing_data(hook, param, data.location());
        }
    }
}
