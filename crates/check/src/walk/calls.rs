//! Checks the arguments of calls: their number, order and types.

use crate::inference::call::Called;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::{Param as DeclaredParam, ValueType, params_of, wanted};
use crate::lints;
use crate::reader::ScriptReader;
use crate::symbols::signature::{Signature, run_by};
use crate::syntax::{gives_many, listed, literal, name_of};
use riskbreaker_ruleset::{Param, TextChange};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};
use riskbreaker_state::RelativeKey;

impl ScriptReader<'_> {
    /// Reports wrong arguments of a call: too few or too many, in the wrong order, or of the wrong type.
    pub(crate) fn handed_over(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
        if let Some(called) = self.called(func, self_call) {
            self.counted(&called, args, at);
            return;
        }
        if let Some((run, handed)) = run_by(func, args) {
            self.handed_over(run, handed, false, at);
        }
        let Some((usage, ty)) = self.declared(func, self_call) else { return self.of_library(func, args) };
        if usage.starts_with("rb.sum(") {
            self.parts_of_sum(args, &usage);
        }
        let Some((params, spread)) = params_of(&ty) else { return };
        let open_end = args.last().is_some_and(|last| gives_many(*last));
        let least = params.iter().rposition(|param| !param.optional).map_or(0, |last| last + 1);
        if (args.len() < least && !open_end) || (args.len() > params.len() && !spread) {
            let wanted = if spread || least == params.len() { least } else { params.len() };
            let bound = if spread {
                "at least "
            } else if least < params.len() {
                "at most "
            } else {
                ""
            };
            let missing = params.get(args.len()).filter(|_| args.len() < least).map(|param| param.name);
            let wrong = match missing {
                Some(missing) => {
                    format!("`{missing}` is missing: {} expected, {} given", count_of(least), count_of(args.len()))
                }
                None => format!("{bound}{} expected, {} given", count_of(wanted), count_of(args.len())),
            };
            return self.problem(&lints::argument_count::LINT, at, (wrong, format!("it is written {usage}")));
        }
        for (arg, param) in args.iter().zip(&params) {
            if param.ty.trim_end_matches('?') == "Entity"
                && let Some((wrong, cure)) = self.no_entity(*arg)
            {
                let change = self.change_to_entity(*arg, &cure);
                let mistake = (format!("expected an entity, and {wrong}"), cure);
                return self.problem_with(&lints::argument_type::LINT, arg.location(), mistake, change);
            }
            if param.ty.trim_end_matches('?') == "Key"
                && let Some((at, wrong)) = no_place(*arg, param.name)
            {
                return self.problem(&lints::argument_type::LINT, at, (wrong, format!("it is written {usage}")));
            }
            let Some(sort) = self.value_type(*arg) else { continue };
            if let Some(wanted) = wanted(param.ty, sort) {
                if self.declared_elsewhere(&params, args, *arg, &usage) {
                    return;
                }
                let wrong = format!("expected {wanted}, found {}", sort.words());
                return self.problem(
                    &lints::argument_type::LINT,
                    arg.location(),
                    (wrong, format!("it is written {usage}")),
                );
            }
        }
    }

    /// Reports a label of `rb.sum` without a number after it. A number or a sum needs no label.
    fn parts_of_sum(&mut self, args: &[Expression<'_>], usage: &str) {
        let mut rest = args.iter();
        while let Some(label) = rest.next() {
            match self.value_type(*label) {
                Some(ValueType::Text) => {}
                Some(ValueType::Number | ValueType::Sum) => continue,
                // The type is unknown, so whether a number belongs to it is unknown too.
                _ => return,
            }
            let Some(number) = rest.next() else {
                let wrong = "this part has no number".to_string();
                return self.problem(
                    &lints::argument_count::LINT,
                    label.location(),
                    (wrong, format!("it is written {usage}")),
                );
            };
            let sort = self.value_type(*number).filter(|sort| !matches!(sort, ValueType::Number | ValueType::Sum));
            if let Some(sort) = sort {
                let wrong = format!("expected a number, found {}", sort.words());
                return self.problem(
                    &lints::argument_type::LINT,
                    number.location(),
                    (wrong, format!("it is written {usage}")),
                );
            }
        }
    }

    fn counted(&mut self, called: &Called, args: &[Expression<'_>], at: Location) {
        let Called { name, signature, verb, .. } = called;
        let params = &signature.params;
        let names: Vec<String> = match called.declared.is_empty() {
            true => params.clone(),
            false => called.declared.iter().map(Param::to_string).collect(),
        };
        let written = format!("it is {name}({}{})", names.join(", "), if signature.spread { ", ..." } else { "" });
        if args.len() > params.len() && !signature.spread {
            let takes = if params.is_empty() { "nothing".to_string() } else { many(params.len()) };
            let wrong = format!("`{name}` takes {takes}, {} given", args.len());
            return self.problem(&lints::argument_count::LINT, at, (wrong, written));
        }
        if args.len() < signature.needed && !args.last().is_some_and(|last| gives_many(*last)) {
            let wrong = format!("`{name}` needs `{}`, which is not given", params[args.len()]);
            return self.problem(&lints::argument_count::LINT, at, (wrong, written));
        }
        for (at, (arg, param)) in args.iter().zip(params).enumerate() {
            let wanted = signature.uses.get(at).copied().flatten();
            if let Some(meant) = self.exchanged(signature, args, at).or_else(|| self.swapped(signature, args, at)) {
                let wrong = format!("`{meant}` stands in the place of `{param}`");
                let other = params.iter().position(|param| *param == meant).and_then(|other| args.get(other));
                let change = other.map(|other| self.in_other_order(*arg, *other));
                return self.problem_with(&lints::argument_order::LINT, arg.location(), (wrong, written), change);
            }
            if let Some(other) = self.exchanged_types(called, args, at) {
                let (one, other) = (args[at], args[other]);
                let wrong = format!("`{param}` of `{name}` stands in another place");
                let mistake = (wrong, format!("exchange {} and {}; {written}", self.source(one), self.source(other)));
                let change = self.exchanged_with(one, other);
                return self.cured(&lints::argument_order::LINT, one.location(), mistake, change);
            }
            if let Some(declared) = called.declared.get(at)
                && self.misfits_declaration(*arg, declared, name)
            {
                return;
            }
            self.slip_in_call(*arg);
            if wanted == Some(ValueType::Entity)
                && let Some((wrong, cure)) = self.no_entity(*arg)
            {
                let change = self.change_to_entity(*arg, &cure);
                let wrong = format!("`{param}` of `{name}` must be an entity, and {wrong}");
                return self.problem_with(&lints::argument_type::LINT, arg.location(), (wrong, cure), change);
            }
            let Some(given) = self.value_type(*arg) else { continue };
            let words = match wanted {
                Some(wanted) if misfits(*arg, given, wanted) => wanted.words(),
                // If every kind keeps a reference under the parameter's name, the parameter is an entity, too.
                None if *verb
                    && !self.is_spec()
                    && is_constant(given)
                    && is_word(*arg)
                    && self.known.always_refers(param) =>
                {
                    ValueType::Entity.words()
                }
                None if literal(*arg).as_deref() == Some(param) && self.has_local(param) => {
                    let wrong = format!("the text \"{param}\" stands in the place of the variable `{param}`");
                    let mistake = (wrong, format!("write {param} without quotes; {written}"));
                    let change = self.replaced(arg.location(), param);
                    return self.cured(&lints::quoted_variable::LINT, arg.location(), mistake, change);
                }
                _ => continue,
            };
            let wrong = format!("`{param}` of `{name}` must be {words}, and this is {}", given.words());
            return self.problem(&lints::argument_type::LINT, arg.location(), (wrong, written));
        }
    }

    /// Two arguments in each other's places, whichever comes first.
    fn in_other_order(&self, one: Expression<'_>, other: Expression<'_>) -> TextChange {
        match one.location().begin < other.location().begin {
            true => self.exchanged_with(one, other),
            false => self.exchanged_with(other, one),
        }
    }

    /// Reports an argument of a declared function that has changed places with another one: each has the type that
    /// the other one's parameter takes, and neither has that of its own. Returns whether it did.
    fn declared_elsewhere(
        &mut self,
        params: &[DeclaredParam<'_>],
        args: &[Expression<'_>],
        arg: Expression<'_>,
        usage: &str,
    ) -> bool {
        let sorts: Vec<_> = args.iter().map(|arg| self.value_type(*arg)).collect();
        let Some(at) = args.iter().position(|one| one.location() == arg.location()) else { return false };
        let fits = |param: usize, arg: usize| {
            let sort = sorts.get(arg).copied().flatten();
            params.get(param).zip(sort).map(|(param, sort)| wanted(param.ty, sort).is_none())
        };
        let other = (at + 1..args.len().min(params.len())).find(|other| {
            fits(*other, *other) == Some(false) && fits(at, *other) == Some(true) && fits(*other, at) == Some(true)
        });
        let Some(other) = other else { return false };
        let wrong = format!("`{}` stands in another place", params[at].name);
        let change = self.exchanged_with(arg, args[other]);
        self.cured(&lints::argument_order::LINT, arg.location(), (wrong, format!("it is written {usage}")), change);
        true
    }

    /// Returns the later argument with which one has changed places: each has the type of the other one's parameter,
    /// and neither that of its own.
    fn exchanged_types(&self, called: &Called, args: &[Expression<'_>], at: usize) -> Option<usize> {
        let wanted = |param: usize| called.signature.uses.get(param).copied().flatten();
        let given = |arg: usize| match self.symbol(args[arg]) {
            Some(Symbol::Entity(_)) => Some(ValueType::Entity),
            _ => self.value_type(args[arg]),
        };
        let (own, here) = (given(at)?, wanted(at)?);
        // Tables and entities are read in the same way, so their types say less.
        if own == here || !is_constant(own) && !is_constant(here) {
            return None;
        }
        // A text or a number in the place of a table says enough, if the type of the other value is not known.
        let may_be = |other: usize| {
            let is_open = !is_constant(here) && crate::syntax::constant(args[other]).is_none();
            given(other).map_or(is_open, |given| given == here)
        };
        let swaps = |other: &usize| may_be(*other) && wanted(*other) == Some(own);
        (at + 1..args.len().min(called.signature.params.len())).find(swaps)
    }

    /// Returns the argument's name if it is the name of another parameter and the two parameters are used differently.
    fn exchanged(&self, signature: &Signature, args: &[Expression<'_>], at: usize) -> Option<String> {
        let name = name_of(args[at])?;
        let other = signature.params.iter().position(|param| *param == name).filter(|other| *other != at)?;
        let (here, there) = ((*signature.uses.get(at)?)?, (*signature.uses.get(other)?)?);
        let differ = (here == ValueType::Number) != (there == ValueType::Number);
        let taken = args.get(other).and_then(|arg| name_of(*arg)).is_some_and(|taken| taken == name);
        (differ && !taken).then_some(name)
    }

    /// Returns the argument's name if it has changed places with another one: each argument has the name of the other's
    /// parameter, and the types differ.
    fn swapped(&self, signature: &Signature, args: &[Expression<'_>], at: usize) -> Option<String> {
        let name = name_of(args[at])?;
        let other = signature.params.iter().position(|param| *param == name).filter(|other| *other != at)?;
        let back = args.get(other).and_then(|arg| name_of(*arg))?;
        let sort = |param: usize| {
            let by_field = || self.known.type_of_all(&signature.params[param]).map(ValueType::of_type);
            signature.uses.get(param).copied().flatten().or_else(by_field)
        };
        // If the type of only one parameter is known, the exchanged names are enough.
        let constant = |param: usize| sort(param).map(is_constant);
        let differ = matches!(
            (constant(at), constant(other)),
            (Some(true), Some(false) | None) | (Some(false) | None, Some(true))
        ) || matches!(
            (sort(at), sort(other)),
            (Some(ValueType::Entity), Some(ValueType::Record | ValueType::List))
                | (Some(ValueType::Record | ValueType::List), Some(ValueType::Entity))
        );
        let given = (self.value_type(args[at]), args.get(other).and_then(|arg| self.value_type(*arg)));
        let given_differ = matches!(given, (Some(one), Some(two)) if is_constant(one) != is_constant(two));
        (back == signature.params[at] && (differ || given_differ)).then_some(name)
    }
}

fn many(count: usize) -> String {
    if count == 1 { "one value".into() } else { format!("{count} values") }
}

fn count_of(count: usize) -> String {
    match count {
        0 => "none".into(),
        count => many(count),
    }
}

/// Whether a value's type rules out how the function uses it.
fn misfits(arg: Expression<'_>, given: ValueType, wanted: ValueType) -> bool {
    match (given, wanted) {
        (ValueType::Text, ValueType::Number) => crate::syntax::literal(arg).is_some(),
        // A function that calculates with a number or reads `total` may also take a sum.
        (ValueType::Sum, ValueType::Number | ValueType::Record | ValueType::Table) => false,
        // `false` often means that a value is left out.
        (ValueType::Truth, wanted) if wanted != ValueType::Number => {
            matches!(arg.kind(), ExpressionKind::Boolean(true)) && wanted != ValueType::Truth
        }
        (ValueType::Table, ValueType::Entity) => is_plain_table(arg),
        (ValueType::Table | ValueType::Attached, wanted) if wanted.is_table() => false,
        (ValueType::Record | ValueType::Entity, ValueType::Table) => false,
        (ValueType::Table, wanted) => is_constant(wanted) && matches!(arg.kind(), ExpressionKind::Table { .. }),
        (given, wanted) => given != wanted,
    }
}

/// Whether an expression is a table literal without a function in it, so that no method can be called on it.
fn is_plain_table(expression: Expression<'_>) -> bool {
    let ExpressionKind::Table { items } = expression.kind() else { return false };
    items.iter().all(|item| match item {
        TableItem::List { value } | TableItem::General { value, .. } | TableItem::Record { value, .. } => {
            !matches!(value.kind(), ExpressionKind::FunctionLiteral(_))
        }
    })
}

fn is_constant(sort: ValueType) -> bool {
    matches!(sort, ValueType::Number | ValueType::Text | ValueType::Truth)
}

/// Whether an argument is a constant.
fn is_word(expression: Expression<'_>) -> bool {
    crate::syntax::constant(expression).is_some()
}

/// Returns the position of a text in an agenda key that is not a distance such as `"+1"`, and why it is wrong. In a
/// step, any text is wrong, because a step is not relative to a key.
fn no_place(key: Expression<'_>, param: &str) -> Option<(Location, String)> {
    let mut places = listed(key).chain([key]).filter_map(|place| Some((place.location(), literal(place)?)));
    places.find_map(|(at, text)| match RelativeKey::distance(&text) {
        Some(_) if param != "step" => None,
        Some(_) => Some((at, "a step is a number or a list of numbers, and this is a text".to_string())),
        None => Some((at, "expected a number or a distance such as \"+1\", found another text".to_string())),
    })
}
