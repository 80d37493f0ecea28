//! A call gives a value of a type that the function does not take.

use crate::inference::call::Called;
use crate::inference::called::NoEntity;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::{Param as DeclaredParam, ValueType, list_of, wanted};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::symbols::known::Mistake;
use crate::syntax::{constant, listed, literal, name_of, returned, text};
use riskbreaker_ruleset::{Cure, Param, ParamType, instead, number_meant};
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location, TableItem};
use riskbreaker_state::RelativeKey;
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
        let is_plain = matches!(param.ty, ParamType::Value(Type::Int { .. } | Type::Bool));
        let change = self.unquoted(arg).filter(|_| is_plain);
        self.problem_with(&LINT, arg.location(), (wrong, cure), change);
        true
    }

    /// Reports an entity in the place of a number whose own place another value has, as in `rb.act.hurt(2, ctx.target)`.
    /// Returns whether it did.
    pub(crate) fn entity_for_number(
        &mut self,
        args: &[Expression<'_>],
        declared: &[Param],
        at: usize,
        verb: &str,
    ) -> bool {
        let is_number = |param: &Param| matches!(param.ty, ParamType::Value(Type::Int { .. }));
        let is_entity = |arg: Expression<'_>| {
            matches!(self.symbol(arg), Some(Symbol::Entity(_))) || self.value_type(arg) == Some(ValueType::Entity)
        };
        if !declared.get(at).is_some_and(is_number) || !is_entity(args[at]) {
            return false;
        }
        // A value that is no entity, in the place of one.
        let takes_one = |param: &Param| matches!(param.ty, ParamType::Value(Type::Ref(_)));
        let may_be_number = |arg: Expression<'_>| {
            let sort = self.value_type(arg);
            !is_entity(arg)
                && sort.is_none_or(|sort| sort == ValueType::Number)
                && !matches!(arg.kind(), ExpressionKind::Nil)
        };
        let mut others = (0..args.len().min(declared.len()))
            .filter(|other| *other != at && takes_one(&declared[*other]) && may_be_number(args[*other]));
        let Some(other) = others.next().filter(|_| others.next().is_none()) else { return false };
        let wrong = match self.misfit(args[at], &declared[at], verb) {
            Some((wrong, _)) => wrong,
            None => format!("`{}` of `{verb}` must be a number, and this is an entity", declared[at].name),
        };
        let (one, two) = if other < at { (args[other], args[at]) } else { (args[at], args[other]) };
        let change = self.exchanged_with(one, two);
        let cure = format!("exchange {} and {}", self.source(one), self.source(two));
        self.cured(&LINT, args[at].location(), (wrong, cure.into()), change);
        true
    }

    /// Reports `rb.options(rb.cards, ctx)`: the cards themselves, where a list of their ids is wanted.
    pub(crate) fn tables_for_ids(&mut self, ids: Expression<'_>) {
        let Some(Symbol::Word(word @ ("cards" | "items"))) = self.symbol(ids) else { return };
        let meant = format!("rb.{}_ids", word.trim_end_matches('s'));
        let wrong = format!("`rb.{word}` has the {word} by id, and here a list of ids is wanted");
        let change = self.replaced(ids.location(), &*meant);
        self.cured(&LINT, ids.location(), (wrong, format!("write `{meant}`").into()), change);
    }

    pub(crate) fn misfit(&self, arg: Expression<'_>, param: &Param, verb: &str) -> Option<Mistake> {
        let ty = match &param.ty {
            ParamType::Value(ty) => ty,
            ParamType::OneOf(types) => {
                let as_one = |ty: &ParamType| self.misfit(arg, &Param { ty: ty.clone(), ..param.clone() }, verb);
                let wrong = types.iter().map(as_one).collect::<Option<Vec<Mistake>>>()?;
                let given = self.source_of(arg)?;
                let wrong = wrong.first().map(|_| format!("`{}` of `{verb}` must be {}", param.name, param.ty))?;
                return Some((format!("{wrong}, and this is `{given}`"), format!("give {}", param.ty).into()));
            }
            ParamType::Any | ParamType::Record(_) => return None,
        };
        let (name, takes) = (&param.name, &param.ty);
        let must = |given: &str| format!("`{name}` of `{verb}` must be {takes}, and this is {given}");
        match (ty, arg.kind()) {
            (_, ExpressionKind::Nil) if !param.optional => {
                let wrong = format!("`{verb}` needs `{name}`, which is nil here");
                Some((wrong, format!("`{name}` is {takes}").into()))
            }
            (Type::Ref(Some(wanted)), _) => {
                let Some(Symbol::Entity(Some(given))) = self.symbol(arg) else { return None };
                let written = self.source_of(arg).filter(|_| given != **wanted)?;
                let wrong =
                    format!("`{written}` is an entity of the kind `{given}`; `{name}` of `{verb}` must be {takes}");
                let cure = match self.known.kind(&given).and_then(|kind| field_to(kind, wanted)) {
                    Some(field) => Cure::meant(written.as_str(), format!("{written}.{field}")),
                    None => format!("name an entity of the kind `{wanted}`").into(),
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
                let bound = number_meant(n, (*min, *max));
                let cure = Cure::rewrite(n.to_string(), bound.to_string(), format!("give {takes}"));
                (!fits).then(|| (must(&n.to_string()), cure))
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
                    if index == "concat"
                        && let Some(list) = args.first()
                        && matches!(self.symbol(*list), Some(Symbol::Entities(_)))
                    {
                        let wrong = "`table.concat` joins texts and numbers, and this is a list of entities".to_owned();
                        let cure = "put their names into a list first";
                        return self.problem(&LINT, list.location(), (wrong, cure.into()));
                    }
                    if index == "insert" {
                        self.gives_too_many(args, 2, "table.insert");
                    }
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
            if let ("table.insert", [value, list]) = (&*name, args)
                && self.value_type(*list).is_some_and(ValueType::is_table)
            {
                let change = self.exchanged_with(*value, *list);
                return self.cured(
                    &LINT,
                    arg.location(),
                    (wrong, "it is written table.insert(list, value)".into()),
                    change,
                );
            }
            let counts = wanted == ValueType::Number && given == ValueType::List;
            let cure = match digits {
                true => "write the number without quotes",
                false if given == ValueType::Sum => {
                    "write its number: sum.total; `sum:least(0, \"at least 0\")` and `sum:most(9, ...)` bound a sum"
                }
                false if counts => "`#` before it counts it",
                false => "name what is meant",
            };
            let change = match counts {
                true => Some(self.inserted(arg.location().begin, "#")),
                false => self.unquoted(*arg).filter(|_| digits),
            };
            return self.problem_with(&LINT, arg.location(), (wrong, cure.into()), change);
        }
        if let ("table.remove", [list, place]) = (&*name, args)
            && self.value_type(*place) == Some(ValueType::Text)
        {
            let wrong = "`table.remove` takes the place of the element, and this is a text".to_owned();
            let meant = format!("table.find({}, {})", self.source(*list), self.source(*place));
            let (cure, change) = (format!("write `{meant}`"), self.replaced(place.location(), meant));
            return self.cured(&LINT, place.location(), (wrong, cure.into()), change);
        }
        if let ("table.sort", [_, order]) = (&*name, args) {
            self.orders_by_a_number(*order);
        }
        self.inserts_nothing(&name, args);
        self.finds_list(&name, args);
        self.inserts_empty_list(&name, args);
        self.clamps_to_nothing(&name, args);
    }

    /// Whether an expression adds texts by `+`, which is reported there.
    fn adds_texts(&self, expression: Expression<'_>) -> bool {
        let ExpressionKind::Binary { lhs, op: BinaryOp::Add, rhs } = expression.kind() else { return false };
        [lhs, rhs].into_iter().any(|side| self.value_type(side) == Some(ValueType::Text))
    }

    /// Reports a function for `table.sort` that returns a difference, as other languages want it.
    fn orders_by_a_number(&mut self, order: Expression<'_>) {
        let ExpressionKind::FunctionLiteral(function) = order.kind() else { return };
        for value in returned(function.body).into_iter().filter_map(|values| values.first().copied()) {
            let ExpressionKind::Binary { lhs, op: BinaryOp::Subtract, rhs } = value.kind() else { continue };
            let wrong = "this function says whether its first value comes first, and a number counts as yes".to_owned();
            let meant = format!("{} < {}", self.source(lhs), self.source(rhs));
            let (cure, change) = (format!("write `{meant}`"), self.replaced(value.location(), meant));
            self.cured(&LINT, value.location(), (wrong, cure.into()), change);
        }
    }

    /// Reports wrong types of `:add`, `:shift` and `:reaches`: a fraction, a field that is no number, a value that is no
    /// number. Returns whether it did.
    pub(crate) fn number_of_a_method(
        &mut self,
        name: &str,
        thing: &Option<Symbol>,
        field: &str,
        args: &[Expression<'_>],
    ) -> bool {
        let types = self.types_at(thing, field);
        let adds = matches!(name, "add" | "shift");
        let first = types.first().map(|ty| list_of(ty));
        let is_ratio = types.contains(&&Type::Ratio);
        let is_number = types.iter().any(|ty| matches!(ty, Type::Int { .. } | Type::Ratio));
        if let Some(by) = args.get(1).filter(|by| adds && is_fraction(**by) && !is_ratio) {
            let wrong = format!(":{name} takes a whole number, and this is a fraction");
            let cure = "write `//` to divide without a rest, or count in a smaller unit";
            self.problem(&LINT, by.location(), (wrong, cure.into()));
            return true;
        }
        if let (Some(first), Some(place), false) = (first, args.first(), is_number) {
            let wrong = format!(":{name} takes a number field, and `{field}` is {first}");
            let cure = if adds { format!("write :set(\"{field}\", value)") } else { "compare the field itself".into() };
            self.problem(&LINT, place.location(), (wrong, cure.into()));
            return true;
        }
        if let (None, Some(by)) = (thing, args.get(1))
            && let Some(sort) = self.value_type(*by).filter(|sort| *sort != ValueType::Number)
        {
            let wrong = format!("expected a number, found {}", sort.words());
            let why = if adds { ", why?" } else { "" };
            let is_number = literal(*by).is_some_and(|text| text.trim().parse::<i64>().is_ok());
            let cure = match is_number {
                true => "write the number without quotes".to_owned(),
                false => format!("it is written :{name}(\"field\", n{why})"),
            };
            self.problem_with(&LINT, by.location(), (wrong, cure.into()), self.unquoted(*by));
            return true;
        }
        false
    }

    /// Reports a face of `t:dice` that is no number, or that no die of the ruleset has.
    pub(crate) fn faces(&mut self, args: &[Expression<'_>]) {
        for arg in args {
            match arg.kind() {
                ExpressionKind::Table { .. } => listed(*arg).for_each(|face| self.no_such_face(face)),
                _ => self.no_such_face(*arg),
            }
            let sort = self.value_type(*arg).filter(|sort| *sort != ValueType::Number && !sort.is_table());
            if let Some(sort) = sort {
                let wrong = format!("expected a number, found {}", sort.words());
                let cure = "write the faces without quotes: t:dice(5, 4)";
                self.problem_with(&LINT, arg.location(), (wrong, cure.into()), self.unquoted(*arg));
            }
        }
    }

    /// Reports a value of a type that a word of `rb` or a method does not take. Returns whether something was reported.
    pub(crate) fn misfits_word(
        &mut self,
        arg: Expression<'_>,
        param: &DeclaredParam<'_>,
        (params, args): (&[DeclaredParam<'_>], &[Expression<'_>]),
        usage: &str,
    ) -> bool {
        let ty = param.ty.trim_end_matches('?');
        if ty == "Entity"
            && let Some(what) = self.no_entity(arg)
        {
            let change = self.change_to_entity(arg, &what);
            let mistake = (format!("expected an entity, and {}", what.wrong()), what.cure());
            self.problem_with(&LINT, arg.location(), mistake, change);
            return true;
        }
        if ty == "Key"
            && let Some((at, wrong)) = no_place(arg, param.name)
        {
            self.problem(&LINT, at, (wrong, format!("it is written {usage}").into()));
            return true;
        }
        let Some(sort) = self.value_type(arg).filter(|_| !self.adds_texts(arg)) else { return false };
        let Some(wanted) = wanted(param.ty, sort) else { return false };
        if !self.declared_elsewhere(params, args, arg, usage) {
            let wrong = format!("expected {wanted}, found {}", sort.words());
            // Where a number is wanted, the number of what is attached is meant rather than its owner.
            let change = match arg.kind() {
                ExpressionKind::IndexName { expr, index, .. }
                    if index == "owner" && ty == "number" && self.symbol(expr) == Some(Symbol::Holder) =>
                {
                    Some(self.replaced(arg.location(), format!("{}.id", self.source(expr))))
                }
                _ => None,
            };
            self.problem_with(&LINT, arg.location(), (wrong, format!("it is written {usage}").into()), change);
        }
        true
    }

    /// Reports a list in the place of an entity where another argument has changed places with it: `ctx.targets` as `source`,
    /// and somebody else as `target`. Returns whether it did.
    pub(crate) fn list_in_another_place(&mut self, called: &Called, args: &[Expression<'_>], at: usize) -> bool {
        let Called { name, signature, .. } = called;
        let arg = args[at];
        let takes_entity = |param: usize| signature.uses.get(param).copied().flatten() == Some(ValueType::Entity);
        let Some(NoEntity::List(list)) = self.no_entity(arg).filter(|_| takes_entity(at)) else { return false };
        let is_one = |param: &String| list.strip_suffix('s') == Some(param.as_str());
        let place = signature.params.iter().position(is_one).filter(|other| *other != at && takes_entity(*other));
        let Some((other, param)) = place.and_then(|place| Some((*args.get(place)?, &signature.params[place]))) else {
            return false;
        };
        let is_right = |name: &str| list.strip_suffix('s') == Some(name);
        if name_of(other).is_some_and(|name| is_right(&name)) {
            return false;
        }
        let wrong = format!("`{list}` stands in the place of `{}` of `{name}`, and is a list", signature.params[at]);
        let one = format!("{}[1]", self.source(arg));
        let cure = format!(
            "exchange {} and {}, and name one of the list: {one} is `{param}`",
            self.source(other),
            self.source(arg)
        );
        let (first, last, code) = match other.location().begin < arg.location().begin {
            true => (other, arg, [one.as_str(), self.source(other)]),
            false => (arg, other, [self.source(other), one.as_str()]),
        };
        let between = self.text.get(self.bytes_of(Location::new(first.location().end, last.location().begin)));
        let text = [code[0], between.unwrap_or(", "), code[1]].concat();
        let change = self.replaced(Location::new(first.location().begin, last.location().end), text);
        self.cured(&LINT, arg.location(), (wrong, cure.into()), change);
        true
    }

    /// Reports a value whose type rules out how a verb or a function uses its parameter. Returns whether it did.
    pub(crate) fn misfits_use(&mut self, called: &Called, arg: Expression<'_>, at: usize, written: &str) -> bool {
        let Called { name, signature, verb, .. } = called;
        let param = &signature.params[at];
        let wanted = signature.uses.get(at).copied().flatten();
        if wanted == Some(ValueType::Entity)
            && let Some(what) = self.no_entity(arg)
        {
            let change = self.change_to_entity(arg, &what);
            let wrong = format!("`{param}` of `{name}` must be an entity, and {}", what.wrong());
            self.problem_with(&LINT, arg.location(), (wrong, what.cure()), change);
            return true;
        }
        let Some(given) = self.value_type(arg).filter(|_| !self.adds_texts(arg)) else { return false };
        let is_word = constant(arg).is_some() && given.is_constant();
        let words = match wanted {
            Some(wanted) if misfits(arg, given, wanted) => wanted.words(),
            // If every kind keeps a reference under the parameter's name, the parameter is an entity, too.
            None if *verb && !self.is_spec() && is_word && self.known.always_refers(param) => ValueType::Entity.words(),
            _ => return false,
        };
        let wrong = format!("`{param}` of `{name}` must be {words}, and this is {}", given.words());
        self.problem(&LINT, arg.location(), (wrong, written.into()));
        true
    }

    /// Reports a part of `rb.sum` that is no number. Returns whether it did.
    pub(crate) fn part_is_no_number(&mut self, number: Expression<'_>, usage: &str) -> bool {
        let sort = self.value_type(number).filter(|sort| !matches!(sort, ValueType::Number | ValueType::Sum));
        if let Some(sort) = sort {
            let wrong = format!("expected a number, found {}", sort.words());
            self.problem(&LINT, number.location(), (wrong, format!("it is written {usage}").into()));
        }
        sort.is_some()
    }
}

/// The field of a kind that refers to another kind: the only one, or the one that is called like that kind.
pub(crate) fn field_to<'k>(kind: &'k Kind, wanted: &str) -> Option<&'k str> {
    let refers = |ty: &Type| matches!(ty, Type::Ref(Some(kind)) if **kind == *wanted);
    let fields: Vec<&str> = kind.fields.iter().filter(|field| refers(&field.ty)).map(|field| &*field.name).collect();
    match fields.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|name| **name == wanted).copied(),
    }
}

/// Whether an expression is a number literal, or a division of two, that is not a whole number.
fn is_fraction(expression: Expression<'_>) -> bool {
    match expression.kind() {
        ExpressionKind::Grouped(inner) => is_fraction(inner),
        ExpressionKind::Number { value, .. } => value.fract() != 0.0,
        ExpressionKind::Binary { lhs, op: BinaryOp::Divide, rhs } => match (lhs.kind(), rhs.kind()) {
            (ExpressionKind::Number { value: above, .. }, ExpressionKind::Number { value: below, .. }) => {
                (above / below).fract() != 0.0
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a value's type rules out how the function uses it.
fn misfits(arg: Expression<'_>, given: ValueType, wanted: ValueType) -> bool {
    match (given, wanted) {
        (ValueType::Text, ValueType::Number) => literal(arg).is_some(),
        // A function that calculates with a number or reads `total` may also take a sum.
        (ValueType::Sum, ValueType::Number | ValueType::Record | ValueType::Table) => false,
        // `false` often means that a value is left out.
        (ValueType::Truth, wanted) if wanted != ValueType::Number => {
            matches!(arg.kind(), ExpressionKind::Boolean(true)) && wanted != ValueType::Truth
        }
        (ValueType::Table, ValueType::Entity) => is_plain_table(arg),
        (ValueType::Table | ValueType::Attached, wanted) if wanted.is_table() => false,
        (ValueType::Record | ValueType::Entity, ValueType::Table) => false,
        (ValueType::Table, wanted) => wanted.is_constant() && matches!(arg.kind(), ExpressionKind::Table { .. }),
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
