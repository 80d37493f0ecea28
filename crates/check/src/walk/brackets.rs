//! Calls whose bracket closes too late or too early, so that a value is given to the wrong one of two calls.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::{Param, params_of};
use crate::reader::ScriptReader;
use crate::syntax::{literal, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

/// How many values a called function takes.
pub(crate) struct Takes {
    /// The number of values that a call must give.
    pub least: usize,
    /// The number of values that a call may give; `None` for any number.
    pub most: Option<usize>,
}

/// The parameters of a word of `rb` or of a method, and whether it takes any number more. A spec writes down every value
/// that a method of `t` takes, so that `any` is no value that may be left out there.
pub(crate) fn params_of_word<'t>(usage: &str, ty: &'t str) -> Option<(Vec<Param<'t>>, bool)> {
    let (mut params, spread) = params_of(ty)?;
    let of_spec = params.iter_mut().filter(|param| usage.starts_with("t:") && param.ty == "any");
    of_spec.for_each(|param| param.optional = false);
    Some((params, spread))
}

impl Inference<'_> {
    /// How many values a called function takes; `None` if it is not known.
    fn takes(&self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) -> Option<Takes> {
        if let Some(called) = self.called(func, self_call) {
            let signature = called.signature;
            return Some(Takes {
                least: signature.needed,
                most: (!signature.spread).then_some(signature.params.len()),
            });
        }
        let (usage, ty) = self.declared(func, self_call)?;
        let (params, spread) = params_of_word(&usage, &ty)?;
        let least = params.iter().rposition(|param| !param.optional).map_or(0, |last| last + 1);
        let read = if usage.starts_with("t:value(") { self.read_by_spec(args) } else { None };
        let most = read.map(|(_, most)| params.len() + most);
        Some(Takes { least, most: most.or_else(|| (!spread).then_some(params.len())) })
    }

    /// The field or derived value that a spec reads by `t:value("Ann", "field", ...)`, and the number of values that it takes,
    /// which is 0 for a field; `None` if it is not known.
    pub(crate) fn read_by_spec(&self, args: &[Expression<'_>]) -> Option<(String, usize)> {
        let name = literal(*args.get(1)?).filter(|_| !self.elsewhere)?;
        let is_derived = self.known.schema()?.kinds.iter().any(|kind| kind.has_derived(&name));
        let is_field = self.known.types_of(&name).next().is_some();
        let most = if is_derived { self.known.most_for_derived(&name)? } else { 0 };
        (is_derived || is_field).then_some((name, most))
    }

    /// Whether an expression always gives exactly one value. A call of a function of the ruleset may give several.
    pub(crate) fn gives_one(&self, value: Expression<'_>) -> bool {
        let ExpressionKind::Call { func, self_call, .. } = value.kind() else {
            return !matches!(value.kind(), ExpressionKind::Varargs);
        };
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return false };
        let name = text(index);
        let result = match self.symbol(expr) {
            Some(Symbol::Spec) if self_call => api::spec_method(&name).map(|method| method.ty.1),
            Some(Symbol::Vocabulary) if !self_call => {
                api::word(&name).and_then(|word| word.ty.rsplit_once("-> ")).map(|(_, result)| result)
            }
            Some(Symbol::Library("math")) => return !matches!(&*name, "modf" | "frexp"),
            _ => None,
        };
        let is_one = |result: &str| !result.starts_with(['(', '.']) && !result.contains("...") && result != "T";
        result.is_some_and(is_one)
    }
}

impl ScriptReader<'_> {
    /// The change that moves a bracket of an argument which is itself a call: one call has values too few, and the other one
    /// just these too many. `least`, `most`: how many values the outer call must and may have.
    pub(crate) fn misplaced_bracket(
        &self,
        args: &[Expression<'_>],
        (least, most): (usize, Option<usize>),
    ) -> Option<(TextChange, usize)> {
        let fits = |count: usize| count >= least && most.is_none_or(|most| count <= most);
        for (at, inner) in args.iter().enumerate() {
            let ExpressionKind::Call { func, args: inside, self_call, .. } = inner.kind() else { continue };
            let Some(takes) = self.takes(func, inside, self_call) else { continue };
            let is_last = at + 1 == args.len();
            let surplus = takes.most.map_or(0, |most| inside.len().saturating_sub(most));
            if surplus > 0 && is_last && args.len() < least && fits(args.len() + surplus) && inside.len() > surplus {
                let begin = self.offset_of(inside[inside.len() - surplus - 1].location().end);
                let end = self.offset_of(inner.location().end);
                let moved = self.text.get(begin..end)?.strip_suffix(')')?;
                return Some((TextChange { begin, end, text: format!("){moved}") }, at));
            }
            let lacking = takes.least.saturating_sub(inside.len());
            let is_open = inside.last().is_some_and(|last| !self.gives_one(*last));
            let rest = args.len() - at - 1;
            if lacking > 0 && !is_open && !inside.is_empty() && lacking <= rest && fits(args.len() - lacking) {
                let begin = self.offset_of(inner.location().end).saturating_sub(1);
                let end = self.offset_of(args[at + lacking].location().end);
                let moved = self.text.get(begin..end)?.strip_prefix(')')?;
                return Some((TextChange { begin, end, text: format!("{moved})") }, at));
            }
        }
        None
    }
}
