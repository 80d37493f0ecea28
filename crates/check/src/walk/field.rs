//! Reads method calls of entities, and comparisons of fields with constants.

use crate::inference::symbol::Symbol;
use crate::reader::ScriptReader;
use crate::syntax::{constant, literal, named, text};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::{Kind, Type, Value};

impl ScriptReader<'_> {
    /// Reports a comparison of a house rule or a field with a value that it never has.
    pub(crate) fn compared(&mut self, one: Expression<'_>, value: Expression<'_>) {
        let Some(constant) = constant(value).filter(|constant| *constant != Value::None) else { return };
        if let Some(Symbol::Switch(name)) = self.symbol(one) {
            return self.switch_is_never(&name, &constant, value.location());
        }
        let Value::Text(given) = &constant else { return };
        let chosen = match one.kind() {
            ExpressionKind::Local { local, .. } => self.choices.get(&local.id).cloned(),
            _ => self.chosen_ids(one),
        };
        if let Some(ids) = chosen.filter(|ids| !ids.iter().any(|id| **id == **given)) {
            return self.answer_is_never(given, &ids, value.location());
        }
        if let Some(given_words) =
            self.words_of_call(one).filter(|words| !words.words.iter().any(|word| **word == **given))
        {
            return self.never_given(given, &given_words, value.location());
        }
        if let ExpressionKind::Local { local, .. } = one.kind()
            && let Some(declared) = self.declared_words.get(&local.id).cloned()
        {
            return self.word_is_never(&declared, given, value.location());
        }
        let ExpressionKind::IndexName { expr, index, .. } = one.kind() else { return self.slip(value) };
        if index == "topic" && !self.is_spec() {
            return self.topic_is_never(given, value.location());
        }
        let (name, thing) = (text(index), self.symbol(expr));
        if name == "kind" && !self.is_spec() && self.compared_with_no_kind(given, value.location()) {
            return;
        }
        if thing == Some(Symbol::Holder) {
            if name == "hook" {
                self.unknown_name(value.location(), "hook", given);
            }
            return;
        }
        if let Some(values) = thing.as_ref().and_then(|thing| self.words_of_param(thing, &name)) {
            return self.param_is_never(&name, given, &values, value.location());
        }
        let kind = match &thing {
            Some(Symbol::Entity(Some(kind))) => self.known.kind(kind),
            Some(Symbol::Entity(None)) | None => None,
            _ => return,
        };
        let types: Vec<&Type> = match kind {
            Some(kind) => kind.field_named(&name).map(|field| &kind.field(field).ty).into_iter().collect(),
            None => self.known.types_of(&name).collect(),
        };
        if types.is_empty() {
            return self.slip(value);
        }
        let certain = kind.is_some() || self.is_entity_by_name(expr);
        if certain && types.iter().all(|ty| matches!(ty, Type::Ref(_))) {
            return self.reference_is_no_text(&name, value.location());
        }
        self.field_is_never(&name, given, &types, certain, value.location());
    }

    /// Checks fields that are given by name, with their values.
    pub(crate) fn fields_of(&mut self, kind: &Kind, table: Expression<'_>) {
        let given: Vec<String> = named(table).map(|(name, ..)| name).collect();
        for (name, at, value) in named(table) {
            match kind.field_named(&name) {
                None => self.no_field_beside(kind, (&name, at), value, &given),
                Some(_) => self.field(kind, &name, at, Some(value)),
            }
        }
    }

    pub(crate) fn field(&mut self, kind: &Kind, name: &str, at: Location, value: Option<Expression<'_>>) {
        let Some(field) = kind.field_named(name) else {
            return self.no_field_of(kind, name, at);
        };
        let declared = kind.field(field);
        let Some(value) = value.filter(|_| self.known.schema().is_some()) else { return };
        if matches!(declared.ty, Type::Ref(_)) && self.takes_an_entity(name, value) {
            return;
        }
        if let Type::List(element) = &declared.ty {
            return self.elements_fit(name, element, value);
        }
        let Some(given) = constant(value) else { return };
        if given == Value::None {
            return;
        }
        if matches!(declared.ty, Type::Ratio | Type::Map(_)) {
            return;
        }
        self.misfits_field(name, &declared.ty, &given, value.location());
    }

    /// Checks a method call, `of:name(args)`.
    pub(crate) fn method(&mut self, of: Expression<'_>, name: &str, args: &[Expression<'_>], at: Location) {
        let thing = self.symbol(of);
        if thing == Some(Symbol::Spec) {
            self.no_method_of_a_spec(name, at);
            self.spec_call(name, args);
        }
        let takes_a_field = matches!(name, "set" | "add" | "shift" | "reaches");
        if !takes_a_field || thing == Some(Symbol::Spec) || self.is_spec() {
            return;
        }
        self.set_while_reading(name, at);
        if let (Some(value), Some(field)) = (args.get(1), args.first().and_then(|field| literal(*field)))
            && self.is_whole_field(&thing, &field)
            && self.takes_no_fraction(*value, &format!("`{field}`"))
        {
            return;
        }
        if self.field_comes_first(name, args) || self.reason_comes_last(name, &thing, args) {
            return;
        }
        let Some((field, place)) = args.first().and_then(|arg| Some((literal(*arg)?, arg.location()))) else { return };
        if self.method_without_value(name, &field, args, at) {
            return;
        }
        if name == "set" && self.of_another_sort(&thing, &field, args) {
            return;
        }
        if name != "set" && self.number_of_a_method(name, &thing, &field, args) {
            return;
        }
        match thing {
            Some(Symbol::Entity(Some(kind))) => {
                if let Some(kind) = self.known.kind(&kind) {
                    let value = args.get(1).copied().filter(|_| name == "set");
                    if let (Some(value), Some(id)) = (value, kind.field_named(&field)) {
                        if self.set_to_negative(&field, &kind.field(id).ty, value, of) {
                            return;
                        }
                        self.bounded_the_wrong_way(&format!("`{field}`"), &kind.field(id).ty, value);
                    }
                    self.field(kind, &field, place, value);
                }
            }
            _ => {
                if let (Some(ty), Some(value), "set") = (self.known.type_of_all(&field), args.get(1), name) {
                    if self.set_to_negative(&field, ty, *value, of) {
                        return;
                    }
                    self.bounded_the_wrong_way(&format!("`{field}`"), ty, *value);
                }
                self.no_field_of_any_kind(&field, place);
                self.fits_no_kind(&field, args.get(1).copied().filter(|_| name == "set"));
            }
        }
    }

    /// Whether a field is a whole number in its kind, or in all kinds that have it.
    fn is_whole_field(&self, thing: &Option<Symbol>, name: &str) -> bool {
        let of_kind = match thing {
            Some(Symbol::Entity(Some(kind))) => self.known.kind(kind),
            _ => None,
        };
        let mut types: Vec<&Type> = match of_kind {
            Some(kind) => kind.field_named(name).map(|field| &kind.field(field).ty).into_iter().collect(),
            None => self.known.types_of(name).collect(),
        };
        types.dedup();
        !types.is_empty() && types.iter().all(|ty| matches!(ty, Type::Int { .. }))
    }
}
