//! A call gives a value of a type that the function does not take.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{constant, literal, text};
use riskbreaker_ruleset::{Param, ParamType, instead};
use riskbreaker_script::syntax::{Expression, ExpressionKind};
use riskbreaker_state::{Kind, Type, Value};

pub(crate) static LINT: Lint = Lint {
    name: "argument-type",
    severity: Severity::Error,
    summary: "a call gives a value of a type that the function does not take",
    explanation: "Words of `rb` and verbs declare the types of their values. Of other functions the check infers \
                  the types from their annotations and from how they use their parameters. A value of another \
                  type is refused when it is played, or is a fault in the function.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope, "one", ctx.actor)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports an argument that is of another type than its parameter declares; returns whether it does.
    pub(crate) fn misfits_declaration(&mut self, arg: Expression<'_>, param: &Param, verb: &str) -> bool {
        let Some((wrong, cure)) = self.misfit(arg, param, verb) else { return false };
        self.problem(&LINT, arg.location(), (wrong, cure));
        true
    }

    /// Reports `rb.options(rb.cards, ctx)`: the cards themselves, where a list of their ids is wanted.
    pub(crate) fn tables_for_ids(&mut self, ids: Expression<'_>) {
        let Some(Symbol::Word(word @ ("cards" | "items"))) = self.symbol(ids) else { return };
        let meant = format!("rb.{}_ids", word.trim_end_matches('s'));
        let wrong = format!("`rb.{word}` has the {word} by id, and here a list of ids is wanted");
        let change = self.replaced(ids.location(), &*meant);
        self.cured(&LINT, ids.location(), (wrong, format!("write `{meant}`")), change);
    }

    pub(crate) fn misfit(&self, arg: Expression<'_>, param: &Param, verb: &str) -> Option<(String, String)> {
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

    /// An expression as it is written, if that is short.
    pub(crate) fn source_of(&self, expression: Expression<'_>) -> Option<String> {
        let place = expression.location();
        let line = self.text.lines().nth(place.begin.line as usize)?;
        let written = line.get(place.begin.column as usize..place.end.column as usize)?;
        (place.begin.line == place.end.line && written.len() <= 60).then(|| written.to_owned())
    }

    /// Reports wrong arguments of the Luau libraries: `math` takes numbers, `table` and `ipairs` take tables.
    pub(crate) fn of_library(&mut self, func: Expression<'_>, args: &[Expression<'_>]) {
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
            return self.problem(&LINT, arg.location(), (wrong, cure.into()));
        }
        self.inserts_nothing(&name, args);
        self.finds_list(&name, args);
        self.inserts_empty_list(&name, args);
        self.clamps_to_nothing(&name, args);
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
