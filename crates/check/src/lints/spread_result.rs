//! A call gives several values where one is meant.

use crate::inference::Inference;
use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "spread-result",
    severity: Severity::Error,
    summary: "a call gives several values where one is meant",
    explanation: "A call at the end of a list of values gives all its results: `rb.draw` gives what is drawn and the \
                  rest of the list, and a function of the ruleset may return several values. The further ones become \
                  further arguments, which are refused or mean something else. Brackets around the call keep the first \
                  value.",
    bad: Example::Resolve(
        r#"local drawn = {}
table.insert(drawn, rb.draw({ "north", "south" }))
rb.say("{} of them", #drawn)"#,
    ),
    good: Example::Resolve(
        r#"local drawn = {}
table.insert(drawn, (rb.draw({ "north", "south" })))
rb.say("{} of them", #drawn)"#,
    ),
};

impl Inference<'_> {
    /// The name of the called function, if a call always gives two values or more; `None` for any other expression.
    fn spreads(&self, call: Expression<'_>) -> Option<String> {
        let ExpressionKind::Call { func, self_call, .. } = call.kind() else { return None };
        if let Some(called) = self.called(func, self_call) {
            return called.signature.is_several.then_some(called.name);
        }
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr) {
            Some(Symbol::Vocabulary) => {
                let (_, result) = api::word(&name)?.ty.rsplit_once("-> ")?;
                (result.starts_with('(') && result.contains(',')).then(|| format!("rb.{name}"))
            }
            Some(Symbol::Library("string")) if name == "gsub" => Some("string.gsub".into()),
            None if self_call && name == "gsub" => Some(":gsub".into()),
            _ => None,
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a call as the last argument whose further values the called function does not take. `most`: the number of
    /// values that it takes.
    pub(crate) fn gives_too_many(&mut self, args: &[Expression<'_>], most: usize, taker: &str) {
        // A further value of `:set` is a reason.
        if [":set", ":add", ":shift"].contains(&taker) {
            return;
        }
        let Some(last) = args.last().filter(|_| args.len() == most) else { return };
        let Some(name) = self.spreads(*last) else { return };
        let wrong = format!("`{name}` gives several values, and `{taker}` takes one here");
        let change = self.replaced(last.location(), format!("({})", self.source(*last)));
        self.cured(&LINT, last.location(), (wrong, "put brackets around the call".into()), change);
    }
}
