//! Checks the arguments of calls: their number, order and types.

use crate::inference::call::Called;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::reader::ScriptReader;
use crate::symbols::signature::run_by;
use crate::syntax::{literal, text};
use crate::walk::brackets::params_of_word;
use riskbreaker_ruleset::ParamType;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

impl ScriptReader<'_> {
    /// Reports wrong arguments of a call: too few or too many, in the wrong order, or of the wrong type.
    pub(crate) fn handed_over(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool, at: Location) {
        if let Some(called) = self.called(func, self_call) {
            self.given_to(&called, args, at);
            return;
        }
        if let ExpressionKind::IndexName { expr, index, .. } = func.kind()
            && self.symbol(expr) == Some(Symbol::Change)
        {
            self.report_of_conversion(&text(index), args);
        }
        if let Some((run, handed)) = run_by(func, args) {
            self.handed_over(run, handed, false, at);
        }
        let Some((usage, ty)) = self.declared(func, self_call) else { return self.of_library(func, args) };
        if usage.starts_with("rb.sum(") {
            self.parts_of_sum(args, &usage);
        }
        let Some((params, spread)) = params_of_word(&usage, &ty) else { return };
        let least = params.iter().rposition(|param| !param.optional).map_or(0, |last| last + 1);
        let taker = usage.split('(').next().unwrap_or_default();
        if self.bracket_is_misplaced(taker, args, (least, (!spread).then_some(params.len())))
            || taker == "t:value" && self.too_many_for_the_field(args, at)
        {
            return;
        }
        if !spread {
            // A value that is written to a field has no reason that a call gives.
            let is_reasoned = [":set(", ":add(", ":shift("].iter().any(|method| usage.starts_with(method));
            let most = if is_reasoned { 2 } else { params.len() };
            self.gives_too_many(args, most, taker);
        }
        if self.wrong_count_of_word((&params, spread), args, &usage, at) {
            return;
        }
        for (arg, param) in args.iter().zip(&params) {
            self.note_no_text(*arg, matches!(param.ty.trim_end_matches('?'), "Entity" | "number" | "Sum" | "boolean"));
            if self.misfits_word(*arg, param, (&params, args), &usage) {
                return;
            }
        }
    }

    /// Reports a label of `rb.sum` without a number after it. A number or a sum needs no label.
    fn parts_of_sum(&mut self, args: &[Expression<'_>], usage: &str) {
        if self.labels_behind_numbers(args) {
            return;
        }
        let mut rest = args.iter();
        let mut before = None;
        while let Some(label) = rest.next() {
            match self.value_type(*label) {
                Some(ValueType::Text) => {}
                Some(ValueType::Number | ValueType::Sum) => {
                    if self.takes_no_fraction(*label, "a sum") {
                        return;
                    }
                    before = Some(*label);
                    continue;
                }
                // The type is unknown, so whether a number belongs to it is unknown too.
                _ => return,
            }
            let Some(number) = rest.next() else { return self.part_without_number(*label, before, usage) };
            if self.part_is_no_number(*number, usage) || self.takes_no_fraction(*number, "a sum") {
                return;
            }
            before = None;
        }
    }

    /// Notes that an unknown variable stands where a text does not fit, so that quotes around it would be wrong.
    fn note_no_text(&mut self, arg: Expression<'_>, is_no_text: bool) {
        if is_no_text && matches!(arg.kind(), ExpressionKind::Global(_)) {
            self.no_texts.insert(arg.location().begin);
        }
    }

    /// Checks the topic and the text of a report of a conversion, `change.carried(topic, text, ...)`.
    fn report_of_conversion(&mut self, name: &str, args: &[Expression<'_>]) {
        let words = match name {
            "breach" => 2,
            "refused" => 1,
            "carried" | "defaulted" | "returned" | "dormant" | "decide" => {
                self.lacks_topic(name, args);
                1
            }
            _ => return,
        };
        // The topic before the text may take values of its own.
        let is_plain = |topic: &Expression<'_>| literal(*topic).is_none_or(|topic| !topic.contains("{}"));
        if args.get(words - 1).is_some_and(is_plain) {
            self.filled(args, words);
        }
    }

    /// Checks the arguments of a verb or of a function of the ruleset.
    fn given_to(&mut self, called: &Called, args: &[Expression<'_>], at: Location) {
        let params = &called.signature.params;
        let written = called.written();
        let most = (!called.signature.spread).then_some(params.len());
        if self.bracket_is_misplaced(&called.name, args, (called.signature.needed, most)) {
            return;
        }
        if self.wrong_count(called, args, &written, at) {
            return;
        }
        // A function of a script leaves further values out.
        if called.verb {
            self.gives_too_many(args, params.len(), &called.name);
        }
        if let Some(text) = called.signature.fills {
            self.filled(args, text);
        }
        for (at, (arg, param)) in args.iter().zip(params).enumerate() {
            let used = called.signature.uses.get(at).copied().flatten();
            self.note_no_text(*arg, used.is_some_and(|used| used != ValueType::Text));
            if self.list_in_another_place(called, args, at)
                || self.in_another_place(called, args, at, &written)
                || self.lacks_members(called, args, at)
            {
                return;
            }
            self.misspelt_in_call(called, *arg, at);
            if let (Some(sort), Some(name)) = (called.signature.sorts.get(at).copied().flatten(), self.text_of(*arg))
                && !called.verb
                && self.known.wrong_name(sort, &name).is_some()
            {
                return self.unknown_name(arg.location(), sort, &name);
            }
            self.no_id_in_call(called, *arg, at);
            if self.entity_for_number(args, &called.declared, at, &called.name) {
                return;
            }
            if let Some(ParamType::Value(ty)) = called.declared.get(at).map(|declared| &declared.ty) {
                self.bounded_the_wrong_way(&format!("`{param}`"), ty, *arg);
            }
            if let Some(declared) = called.declared.get(at)
                && self.parameter_takes_no_fraction(*arg, (param, &declared.ty))
            {
                return;
            }
            if let Some(declared) = called.declared.get(at)
                && self.misfits_declaration(*arg, declared, &called.name)
            {
                return;
            }
            self.slip_in_call(*arg);
            if self.misfits_use(called, *arg, at, &written) {
                return;
            }
            let is_open = called.signature.uses.get(at).copied().flatten().is_none();
            if is_open && self.quotes_a_variable(*arg, param, &written) {
                return;
            }
        }
    }
}
