//! Checks the arguments of calls: their number, order and types.

use super::argument::type_of_param;
use super::known::Mistake;
use super::lints;
use super::script::ScriptReader;
use super::signature::{Signature, run_by};
use super::symbol::Symbol;
use super::syntax::{constant, listed, literal, name_of, text};
use super::value_type::{ValueType, params_of, wanted};
use riskbreaker_ruleset::Param;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location, TableItem};
use riskbreaker_state::{RelativeKey, Value};

/// A called function whose signature is known.
pub(super) struct Called {
    /// The function's name as the script writes it: `action.deal`.
    pub name: String,
    pub signature: Signature,
    /// Whether it is a verb. Verbs take entities, not the names of entities.
    verb: bool,
    /// What each parameter of a verb takes, where the verb declares it.
    declared: Vec<Param>,
    /// The path of the file that defines it, with the ruleset's id; `None` if several files take part in it.
    pub file: Option<String>,
}

impl ScriptReader<'_> {
    /// Reports wrong arguments of a call: too few or too many, in the wrong order, or of the wrong type.
    pub(super) fn handed_over(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
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
                return self.problem(
                    &lints::argument_type::LINT,
                    arg.location(),
                    (format!("expected an entity, and {wrong}"), cure),
                );
            }
            if param.ty.trim_end_matches('?') == "Key"
                && let Some((at, wrong)) = no_place(*arg, param.name)
            {
                return self.problem(&lints::argument_type::LINT, at, (wrong, format!("it is written {usage}")));
            }
            let Some(sort) = self.value_type(*arg) else { continue };
            if let Some(wanted) = wanted(param.ty, sort) {
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

    /// Reports wrong arguments of the Luau libraries: `math` takes numbers, `table` and `ipairs` take tables.
    fn of_library(&mut self, func: Expression<'_>, args: &[Expression<'_>]) {
        let (wanted, name) = match func.kind() {
            ExpressionKind::Global(name) if name == "ipairs" || name == "pairs" => (ValueType::Table, text(name)),
            ExpressionKind::IndexName { expr, index, .. } => match self.symbol(expr) {
                Some(Symbol::Library("math")) => (ValueType::Number, format!("math.{}", text(index))),
                Some(Symbol::Library("table")) if index != "pack" && index != "create" => {
                    (ValueType::Table, format!("table.{}", text(index)))
                }
                _ => return,
            },
            _ => return,
        };
        let looked_at = if wanted == ValueType::Number { args.len() } else { 1 };
        for arg in args.iter().take(looked_at) {
            let Some(given) = self.value_type(*arg) else { continue };
            let fits = given == wanted || wanted == ValueType::Table && given.is_table();
            let digits = literal(*arg).is_some_and(|text| text.trim().parse::<f64>().is_ok());
            if fits {
                continue;
            }
            let wrong = format!("`{name}` takes {}, and this is {}", wanted.words(), given.words());
            let cure = match digits {
                true => "write the number without quotes",
                false if given == ValueType::Sum => {
                    "write its number: sum.total; `sum:least(0, \"at least 0\")` and `sum:most(9, ...)` bound a sum"
                }
                false => "name what is meant",
            };
            return self.problem(&lints::argument_type::LINT, arg.location(), (wrong, cure.into()));
        }
        if name == "table.insert"
            && args.len() < 2
            && let Some(only) = args.first().filter(|only| !gives_many(**only))
        {
            let wrong = "the list or the value is missing: two expected, one value given".to_string();
            return self.problem(
                &lints::argument_count::LINT,
                only.location(),
                (wrong, "it is written table.insert(list, value)".into()),
            );
        }
        if name == "table.find"
            && let [list, value, ..] = args
            && self.value_type(*value) == Some(ValueType::List)
            && self.value_type(*list) != Some(ValueType::List)
        {
            let wrong = "a list stands in the place of the value to look for".to_string();
            self.problem(
                &lints::argument_order::LINT,
                list.location(),
                (wrong, "it is written table.find(list, value)".into()),
            );
        }
        if name == "table.insert"
            && let [list, value] = args
            && self.evidence.stays_empty(*value)
        {
            let wrong = format!(
                "the list `{}` always stays empty, and is put into something else here",
                name_of(*value).unwrap_or_default()
            );
            self.problem(
                &lints::past_the_end::LINT,
                list.location(),
                (wrong, "it is written table.insert(list, value)".into()),
            );
        }
        if name == "math.clamp"
            && let [_, least, most] = args
            && let (Some(Value::Int(low)), Some(Value::Int(high))) = (constant(*least), constant(*most))
            && low > high
        {
            let wrong = format!("the least value, {low}, is above the greatest, {high}");
            self.problem(
                &lints::empty_range::LINT,
                least.location(),
                (wrong, "it is written math.clamp(value, least, greatest)".into()),
            );
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
                return self.problem(&lints::argument_order::LINT, arg.location(), (wrong, written));
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
                let wrong = format!("`{param}` of `{name}` must be an entity, and {wrong}");
                return self.problem(&lints::argument_type::LINT, arg.location(), (wrong, cure));
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
                    return self.problem(
                        &lints::quoted_variable::LINT,
                        arg.location(),
                        (wrong, format!("write {param} without quotes; {written}")),
                    );
                }
                _ => continue,
            };
            let wrong = format!("`{param}` of `{name}` must be {words}, and this is {}", given.words());
            return self.problem(&lints::argument_type::LINT, arg.location(), (wrong, written));
        }
    }

    /// Returns why an expression cannot be an entity, with the cure; `None` if it may be one. The type of what it is
    /// read off does not matter.
    pub(super) fn no_entity(&self, expression: Expression<'_>) -> Option<Mistake> {
        if self.symbol(expression) == Some(Symbol::Holder) {
            return Some(("this is what is attached".into(), "name whom it is attached to: `.owner`".into()));
        }
        let ExpressionKind::IndexName { index, .. } = expression.kind() else { return None };
        let name = text(index);
        if self.known.names.is_list(&name) {
            return Some((format!("`{name}` is a list"), format!("name one of it: {name}[1]")));
        }
        // `id` is an entity's number or a card's name.
        let is_id = name == "id" && self.known.types_of(&name).next().is_none();
        is_id.then(|| ("`id` is not one".into(), "name the entity itself, without `.id`".into()))
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

    /// Returns the function of the ruleset that an expression calls; `None` if it is unknown.
    pub(super) fn called(&self, func: Expression<'_>, self_call: bool) -> Option<Called> {
        match func.kind() {
            ExpressionKind::Local { local, .. } => {
                let signature = self.functions.get(&local.id)?.clone();
                let file = Some(self.full_path().to_string());
                Some(Called { name: text(local.name), signature, verb: false, declared: Vec::new(), file })
            }
            ExpressionKind::IndexName { expr, index, .. } if !self_call => {
                let name = text(index);
                match self.symbol(expr)? {
                    Symbol::Module(path) => {
                        let signature = self.known.names.module(&path)?.members.get(&name)?.clone()?;
                        let before = match expr.kind() {
                            ExpressionKind::Local { local, .. } => format!("{}.", text(local.name)),
                            _ => String::new(),
                        };
                        let name = format!("{before}{name}");
                        Some(Called { name, signature, verb: false, declared: Vec::new(), file: Some(path) })
                    }
                    Symbol::Word("act") => self.called_verb(&name),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A verb: by what it declares, or else by what its function does.
    fn called_verb(&self, name: &str) -> Option<Called> {
        let verb = self.known.rules?.verb(name)?;
        let params: Vec<String> = verb.names().map(str::to_owned).collect();
        let known = self.known.names.verb(name);
        let same = known.filter(|signature| signature.params.len() == params.len());
        let (needed, uses, declared) = match verb.is_typed {
            true => (
                verb.params.iter().rposition(Param::is_needed).map_or(0, |last| last + 1),
                verb.params.iter().map(|param| type_of_param(&param.ty)).collect(),
                verb.params.clone(),
            ),
            // House rules may put another function in its place.
            false => (
                same.map_or(0, |signature| signature.needed),
                same.map_or(Vec::new(), |signature| signature.uses.clone()),
                Vec::new(),
            ),
        };
        let signature = match known {
            Some(signature) => Signature { params, needed, uses, ..signature.clone() },
            None if verb.is_typed => Signature { params, needed, uses, ..Signature::default() },
            None => return None,
        };
        let file = self.known.names.file_of_verb(name).map(str::to_string);
        Some(Called { name: format!("rb.act.{name}"), signature, verb: true, declared, file })
    }

    /// Returns the usage and the type of a function that the host declares.
    fn declared(&self, func: Expression<'_>, self_call: bool) -> Option<(String, String)> {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr)? {
            Symbol::Vocabulary if !self_call => {
                api::word(&name).map(|word| (word.usage.to_string(), word.ty.to_string()))
            }
            Symbol::Spec if self_call => {
                let method = api::spec_method(&name)?;
                Some((method.usage.to_string(), format!("({}) -> {}", method.ty.0, method.ty.1)))
            }
            Symbol::Entity(_) if self_call => Some(match &*name {
                "set" => (
                    ":set(\"field\", value, why?)".into(),
                    "(field: string, value: unknown, why: string?) -> ()".into(),
                ),
                "add" => {
                    (":add(\"field\", n, why?)".into(), "(field: string, n: number, why: string?) -> number".into())
                }
                "shift" => {
                    (":shift(\"field\", n, why?)".into(), "(field: string, n: number, why: string?) -> ()".into())
                }
                _ => return None,
            }),
            _ => None,
        }
    }
}

/// Whether an expression may yield any number of values.
fn gives_many(expression: Expression<'_>) -> bool {
    matches!(expression.kind(), ExpressionKind::Varargs | ExpressionKind::Call { .. })
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
        (ValueType::Text, ValueType::Number) => super::syntax::literal(arg).is_some(),
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
    super::syntax::constant(expression).is_some()
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
