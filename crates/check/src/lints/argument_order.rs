//! A call passes its values in another order than the function takes them.

use crate::inference::call::Called;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::{Param as DeclaredParam, ValueType, wanted};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::signature::Signature;
use crate::syntax::{constant, literal, name_of};
use riskbreaker_dice::Dice;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "argument-order",
    severity: Severity::Error,
    summary: "a call passes its values in another order than the function takes them",
    explanation: "Two values have changed places: each has the name or the type of what the function takes in the \
                  place of the other. Exchange them.",
    bad: Example::Resolve(r#"ctx.actor:set(3, "strength")"#),
    good: Example::Resolve(r#"ctx.actor:set("strength", 3)"#),
};

impl ScriptReader<'_> {
    /// Reports `table.find(value, list)`.
    pub(crate) fn finds_list(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.find"
            && let [list, value, ..] = args
            && self.value_type(*value) == Some(ValueType::List)
            && self.value_type(*list) != Some(ValueType::List)
        {
            let wrong = "a list stands in the place of the value to look for".to_string();
            let change = self.exchanged_with(*list, *value);
            self.cured(&LINT, list.location(), (wrong, "it is written table.find(list, value)".into()), change);
        }
    }

    /// Reports `:set(value, "field")`, with the arguments in the wrong order. Returns whether it did.
    pub(crate) fn field_comes_first(&mut self, name: &str, args: &[Expression<'_>]) -> bool {
        let [first, second, ..] = args else { return false };
        let Some(field) = literal(*second).filter(|field| self.known.types_of(field).next().is_some()) else {
            return false;
        };
        // A variable with such a name may hold the name of a field.
        let words = ["field", "name", "key", "stat", "what", "which"];
        let called_so = name_of(*first).is_some_and(|called| !words.iter().any(|word| called.contains(word)));
        let no_text = self.value_type(*first).is_some_and(|sort| sort != ValueType::Text);
        let wrong = literal(*first).is_none() && (called_so || no_text);
        if wrong {
            let cure = format!("write :{name}(\"{field}\", value)");
            let change = self.exchanged_with(*first, *second);
            self.cured(&LINT, first.location(), ("the name of the field comes first".into(), cure.into()), change);
        }
        wrong
    }

    /// Reports `:set("field", reason, value)`: the reason is one of the values of the field, and the value is not.
    pub(crate) fn reason_comes_last(&mut self, name: &str, thing: &Option<Symbol>, args: &[Expression<'_>]) -> bool {
        let [field, value, reason] = args else { return false };
        let Some(word) = literal(*reason).filter(|_| name == "set" && literal(*value).is_none()) else { return false };
        let field = literal(*field).unwrap_or_default();
        let types = self.types_at(thing, &field);
        let takes = |ty: &&Type| matches!(ty, Type::Enum(values) if values.iter().any(|value| **value == *word));
        if types.is_empty() || !types.iter().all(takes) {
            return false;
        }
        let wrong = format!("\"{word}\" is a value of `{field}`, and stands in the place of the reason");
        let cure = format!("write :set(\"{field}\", \"{word}\", {})", self.source(*value));
        let change = self.exchanged_with(*value, *reason);
        self.cured(&LINT, value.location(), (wrong, cure.into()), change);
        true
    }

    /// Reports a roll against a number whose dice come second.
    pub(crate) fn dice_come_first(
        &mut self,
        (name, label): (&str, usize),
        args: &[Expression<'_>],
        first: Option<&(String, Location)>,
        call: Location,
    ) {
        if label == 2
            && first.is_none()
            && let Some(dice) = args.get(1).and_then(|arg| literal(*arg))
            && let (true, Some(word)) = (Dice::parse(&dice).is_ok(), api::word(name))
        {
            let mistake = (format!("the dice \"{dice}\" come first"), format!("it is written {}", word.usage).into());
            let change = self.exchanged_with(args[0], args[1]);
            self.cured(&LINT, call, mistake, change);
        }
    }

    /// Reports a text with `{}` in another argument than the one that takes the text. `label`: the index of that one, from 0.
    pub(crate) fn text_elsewhere(&mut self, label: usize, args: &[Expression<'_>], found: usize) {
        let place = ["first", "second", "third"][label.min(2)];
        let wrong = format!("the text with `{{}}` is the {place} value of this call, before those that fill it");
        let cure = format!("exchange {} and {}", self.source(args[label]), self.source(args[found]));
        let change = self.in_other_order(args[label], args[found]);
        self.cured(&LINT, args[found].location(), (wrong, cure.into()), change);
    }

    /// Reports an argument of a verb or a function that has changed places with another one. Returns whether it did.
    pub(crate) fn in_another_place(
        &mut self,
        called: &Called,
        args: &[Expression<'_>],
        at: usize,
        written: &str,
    ) -> bool {
        let Called { name, signature, .. } = called;
        let (params, arg) = (&signature.params, args[at]);
        let param = &params[at];
        if let Some(meant) = self.exchanged(signature, args, at).or_else(|| self.swapped(signature, args, at)) {
            let wrong = format!("`{meant}` stands in the place of `{param}`");
            let other = params.iter().position(|param| *param == meant).and_then(|other| args.get(other));
            let change = other.map(|other| self.in_other_order(arg, *other));
            self.problem_with(&LINT, arg.location(), (wrong, written.into()), change);
            return true;
        }
        let Some(other) = self.exchanged_types(called, args, at).map(|other| args[other]) else { return false };
        let wrong = format!("`{param}` of `{name}` stands in another place");
        let mistake = (wrong, format!("exchange {} and {}; {written}", self.source(arg), self.source(other)).into());
        let change = self.exchanged_with(arg, other);
        self.cured(&LINT, arg.location(), mistake, change);
        true
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
    pub(crate) fn declared_elsewhere(
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
        // A variable of an unknown type stands in the place of a table or a text that comes later.
        let is_open = |other: usize| {
            let is_read = matches!(args[other].kind(), ExpressionKind::Local { .. } | ExpressionKind::IndexName { .. });
            is_read && sorts[other].is_none() && fits(other, at) == Some(true)
        };
        let Some(other) = other.or_else(|| (0..at.min(params.len())).find(|other| is_open(*other))) else {
            return false;
        };
        let wrong = format!("`{}` stands in another place", params[at].name);
        let change = self.in_other_order(arg, args[other]);
        self.cured(&LINT, arg.location(), (wrong, format!("it is written {usage}").into()), change);
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
        if own == here || !own.is_constant() && !here.is_constant() {
            return None;
        }
        // A text or a number in the place of a table says enough, if the type of the other value is not known.
        let may_be = |other: usize| {
            let is_open = !here.is_constant() && constant(args[other]).is_none();
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
        let constant = |param: usize| sort(param).map(ValueType::is_constant);
        let differ = matches!(
            (constant(at), constant(other)),
            (Some(true), Some(false) | None) | (Some(false) | None, Some(true))
        ) || matches!(
            (sort(at), sort(other)),
            (Some(ValueType::Entity), Some(ValueType::Record | ValueType::List))
                | (Some(ValueType::Record | ValueType::List), Some(ValueType::Entity))
        );
        let given = (self.value_type(args[at]), args.get(other).and_then(|arg| self.value_type(*arg)));
        let given_differ = matches!(given, (Some(one), Some(two)) if one.is_constant() != two.is_constant());
        (back == signature.params[at] && (differ || given_differ)).then_some(name)
    }
}
