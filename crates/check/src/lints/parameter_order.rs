//! A verb names its parameters in another order than its function.

use crate::inference::absent::{Absent, AbsentValue};
use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{listed, literal, named, text};
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Function, Location};

pub(crate) static LINT: Lint = Lint {
    name: "parameter-order",
    severity: Severity::Error,
    summary: "a verb names its parameters in another order than its function",
    explanation: "A verb names its values in a list, and its function takes them in the order of that list. Here \
                  both have the same names in different orders, so that hooks see one value under the name of \
                  another.",
    bad: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ { "rope", rb.ref("rope") }, { "by", rb.int() }, { "who", rb.ref("puller") } }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
	greet = rb.verb({ { "who", rb.ref("puller") }, { "times", rb.int() } }, function(times, who)
		rb.say("{} bows {} times", who, times)
	end),
})
"#,
    )]),
    good: Example::Files(&[(
        "verbs.luau",
        r#"local rb = require("@riskbreaker")

return rb.verbs({
	move_rope = rb.verb({ { "rope", rb.ref("rope") }, { "by", rb.int() }, { "who", rb.ref("puller") } }, function(rope, by, who)
		rope:add("at", by)
		if math.abs(rope.at) >= rb.switches.wins_at then
			rb.finish("{} has won", who)
		end
	end),
	greet = rb.verb({ { "who", rb.ref("puller") }, { "times", rb.int() } }, function(who, times)
		rb.say("{} bows {} times", who, times)
	end),
})
"#,
    )]),
};

impl ScriptReader<'_> {
    /// Reports a verb whose parameter names are in another order than its function's parameters.
    pub(crate) fn verb_values(&mut self, args: &[Expression<'_>]) {
        let [names, function, ..] = args else { return };
        let run = match function.kind() {
            ExpressionKind::FunctionLiteral(function) => Some(function),
            _ => None,
        };
        self.without_types(*names, run);
        let (ExpressionKind::Table { .. }, ExpressionKind::FunctionLiteral(function)) = (names.kind(), function.kind())
        else {
            return;
        };
        self.handed_to_verbs.extend(function.args.iter().map(|arg| arg.id));
        let named: Vec<_> = listed(*names).filter_map(name_of_param).collect();
        let declared = named.iter().map(|(name, _)| name.clone()).collect();
        self.declared_params.insert(function.location.begin, declared);
        if let Some(verb) = self.keys.last().cloned() {
            self.parameters_of_verb(&verb, function);
        }
        for (param, arg) in listed(*names).zip(function.args) {
            if let Some(symbol) = symbol_of_param(param) {
                self.symbols.insert(arg.id, symbol);
            }
            if is_optional(param) {
                let why = Absent::LeftOut(text(arg.name));
                self.absent.insert(arg.id, AbsentValue { why, at: param.location() });
            }
        }
        let params: Vec<String> = function.args.iter().map(|arg| text(arg.name)).collect();
        for ((name, at), param) in named.iter().zip(&params) {
            let known = |wanted: &String| named.iter().any(|(name, _)| name == wanted);
            if name != param && params.contains(name) && known(param) {
                let wrong = format!("this value is named `{name}`, and its function takes `{param}` in this place");
                let change = self.params_in_order(*names, function, (name.as_str(), param.as_str()));
                let cure = match change {
                    Some(_) => "exchange them in the function, or name them in the order in which it takes them",
                    None => "name them in the order in which the function takes them",
                };
                return self.problem_with(&LINT, *at, (wrong, cure.into()), change);
            }
        }
        self.ends_without(function, "this verb");
    }
}

impl ScriptReader<'_> {
    /// The change that exchanges two parameters of the function of a verb that declares their types; `None` if it declares
    /// none, or if the function annotates its parameters.
    fn params_in_order(
        &self,
        names: Expression<'_>,
        function: &Function<'_>,
        (one, other): (&str, &str),
    ) -> Option<TextChange> {
        let is_typed = listed(names).all(|param| listed(param).nth(1).is_some());
        let place = |name: &str| function.args.iter().position(|arg| arg.name == name);
        let (one, other) = (place(one)?, place(other)?);
        let (first, second) = (function.args[one.min(other)], function.args[one.max(other)]);
        if !is_typed || first.annotation.is_some() || second.annotation.is_some() {
            return None;
        }
        let between = self.text.get(self.bytes_of(Location::new(first.location.end, second.location.begin)))?;
        let written = format!("{}{between}{}", text(second.name), text(first.name));
        Some(self.replaced(Location::new(first.location.begin, second.location.end), written))
    }
}

/// The name of a parameter of a verb: a text, or the first value of its table.
fn name_of_param(param: Expression<'_>) -> Option<(String, Location)> {
    let name = listed(param).next().unwrap_or(param);
    literal(name).map(|text| (text, name.location()))
}

/// Whether a parameter of a verb may be left out.
fn is_optional(param: Expression<'_>) -> bool {
    named(param).any(|(name, _, value)| name == "optional" && matches!(value.kind(), ExpressionKind::Boolean(true)))
}

/// What the function of a verb finds in a parameter, as far as its declaration says: an entity of a kind, or a list of them.
fn symbol_of_param(param: Expression<'_>) -> Option<Symbol> {
    let ExpressionKind::Call { func, args, .. } = listed(param).nth(1)?.kind() else { return None };
    let ExpressionKind::IndexName { index, .. } = func.kind() else { return None };
    let first = *args.first()?;
    match &*text(index) {
        "ref" => Some(Symbol::Entity(Some(literal(first)?))),
        "list" => {
            let ExpressionKind::Call { func, args, .. } = first.kind() else { return None };
            let is_ref = matches!(func.kind(), ExpressionKind::IndexName { index, .. } if index == "ref");
            is_ref.then(|| Symbol::Entities(args.first().and_then(|kind| literal(*kind))))
        }
        _ => None,
    }
}
