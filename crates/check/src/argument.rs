//! Arguments of verbs, compared with what the verbs declare.

use super::lints;
use super::script::ScriptReader;
use super::symbol::Symbol;
use super::syntax::{constant, literal, named};
use super::value_type::ValueType;
use riskbreaker_ruleset::{Param, ParamType, instead};
use riskbreaker_script::syntax::{Expression, ExpressionKind};
use riskbreaker_state::{Kind, Type, Value};

impl ScriptReader<'_> {
    /// Reports an argument that is of another type than its parameter declares; returns whether it does.
    pub(super) fn misfits_declaration(&mut self, arg: Expression<'_>, param: &Param, verb: &str) -> bool {
        let Some((wrong, cure)) = self.misfit(arg, param, verb) else { return false };
        self.problem(&lints::argument_type::LINT, arg.location(), (wrong, cure));
        true
    }

    fn misfit(&self, arg: Expression<'_>, param: &Param, verb: &str) -> Option<(String, String)> {
        let ParamType::Value(ty) = &param.ty else { return None };
        let (name, takes) = (&param.name, &param.ty);
        let must = |given: &str| format!("`{name}` of `{verb}` must be {takes}, and this is {given}");
        match (ty, arg.kind()) {
            (_, ExpressionKind::Nil) if !param.optional => {
                let wrong = format!("`{verb}` needs `{name}`, which is nil here");
                Some((wrong, format!("`{name}` is {takes}")))
            }
            (Type::Ref(Some(wanted)), _) => {
                let Some(Symbol::Entity(Some(given))) = self.symbol(arg) else { return None };
                let written = self.source_of(arg).filter(|_| given != **wanted)?;
                let wrong =
                    format!("`{written}` is an entity of the kind `{given}`; `{name}` of `{verb}` must be {takes}");
                let cure = match self.known.kind(&given).and_then(|kind| field_to(kind, wanted)) {
                    Some(field) => format!("did you mean `{written}.{field}`?"),
                    None => format!("name an entity of the kind `{wanted}`"),
                };
                Some((wrong, cure))
            }
            (Type::Enum(values), _) => {
                let word = literal(arg).filter(|word| values.iter().all(|value| **value != **word))?;
                Some((must(&format!("`{word}`")), instead(&word, values.iter().map(|value| &**value))))
            }
            (Type::Int { min, max }, _) => {
                let Some(Value::Int(n)) = constant(arg) else {
                    self.value_type(arg).filter(|given| *given == ValueType::Text)?;
                    let digits = literal(arg).is_some_and(|text| text.trim().parse::<f64>().is_ok());
                    let cure = match arg.kind() {
                        _ if digits => "write the number without quotes",
                        ExpressionKind::Binary { .. } => "`..` makes a text: numbers are added by `+`",
                        _ => "name a number",
                    };
                    return Some((must("a text"), cure.into()));
                };
                let fits = min.is_none_or(|min| n >= min) && max.is_none_or(|max| n <= max);
                (!fits).then(|| (must(&n.to_string()), format!("give {takes}")))
            }
            _ => None,
        }
    }

    /// Data that are written down where a hook is attached, compared with what the hook declares.
    pub(super) fn attached_data(&mut self, hook: Expression<'_>, data: Expression<'_>) {
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

    /// An expression as it is written, if that is short.
    fn source_of(&self, expression: Expression<'_>) -> Option<String> {
        let place = expression.location();
        let line = self.text.lines().nth(place.begin.line as usize)?;
        let written = line.get(place.begin.column as usize..place.end.column as usize)?;
        (place.begin.line == place.end.line && written.len() <= 60).then(|| written.to_owned())
    }
}

/// The field of a kind that refers to another kind: the only one, or the one that is called like that kind.
fn field_to<'k>(kind: &'k Kind, wanted: &str) -> Option<&'k str> {
    let refers = |ty: &Type| matches!(ty, Type::Ref(Some(kind)) if **kind == *wanted);
    let fields: Vec<&str> = kind.fields.iter().filter(|field| refers(&field.ty)).map(|field| &*field.name).collect();
    match fields.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|name| **name == wanted).copied(),
    }
}

/// The type of the values that a parameter takes; `None` for any value.
pub(super) fn type_of_param(ty: &ParamType) -> Option<ValueType> {
    match ty {
        ParamType::Any => None,
        ParamType::Value(ty) => Some(ValueType::of_type(ty)),
        ParamType::Record(_) => Some(ValueType::Table),
    }
}
