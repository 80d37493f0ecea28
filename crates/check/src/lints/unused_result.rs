//! A call changes nothing, and its result is not used.

use crate::inference::symbol::Symbol;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::text;
use riskbreaker_script::syntax::{Expression, ExpressionKind};

pub(crate) static LINT: Lint = Lint {
    name: "unused-result",
    severity: Severity::Error,
    summary: "a call changes nothing, and its result is not used",
    explanation: "The function is called for its result alone. `rb.shuffle` gives a new list and leaves the old \
                  one as it is. Keep the result in a variable, return it, or remove the call.",
    bad: Example::Resolve(
        r#"local names = { "Cid", "Dora" }
rb.shuffle(names)
rb.say("{}", names[1])"#,
    ),
    good: Example::Resolve(
        r#"local names = rb.shuffle({ "Cid", "Dora" })
rb.say("{}", names[1])"#,
    ),
};

impl ScriptReader<'_> {
    /// Reports a statement that calls a function without effects and drops its result.
    pub(crate) fn thrown_away(&mut self, statement: Expression<'_>) {
        let ExpressionKind::Call { func, self_call, .. } = statement.kind() else { return };
        if self.is_spec() {
            return;
        }
        let name = match self.called(func, self_call) {
            Some(called) if called.signature.pure && called.signature.answers => called.name,
            Some(_) => return,
            None => match self.harmless(func, self_call) {
                Some(name) => name,
                None => return,
            },
        };
        let wrong = format!("`{name}` changes nothing, and what it gives back is not used");
        // The answer is the only effect of a policy, and a function ends with its result.
        let is_result =
            self.path.starts_with("policies/") || self.last_statements.contains(&statement.location().begin);
        // A list in another order is another list.
        if let (false, "rb.shuffle", ExpressionKind::Call { args: [list], .. }) = (is_result, &*name, statement.kind())
            && let ExpressionKind::Local { .. } = list.kind()
        {
            let list = self.source(*list);
            let change = self.inserted(statement.location().begin, format!("{list} = "));
            return self.cured(
                &LINT,
                statement.location(),
                (wrong, format!("write `{list} = ` before it").into()),
                change,
            );
        }
        let cure = if is_result { "write `return` before it" } else { "write `local NAME = ` or `return` before it" };
        let change = is_result.then(|| self.inserted(statement.location().begin, "return "));
        self.problem_with(&LINT, statement.location(), (wrong, cure.into()), change);
    }

    /// Returns the name of a library function or derived value that has a result and no effect.
    pub(crate) fn harmless(&self, func: Expression<'_>, self_call: bool) -> Option<String> {
        let ExpressionKind::IndexName { expr, index, .. } = func.kind() else { return None };
        let name = text(index);
        match self.symbol(expr)? {
            Symbol::Vocabulary if !self_call && RETURNING.contains(&&*name) => Some(format!("rb.{name}")),
            Symbol::Library(library @ ("math" | "string" | "bit32" | "utf8")) if !self_call => {
                Some(format!("{library}.{name}"))
            }
            Symbol::Library("table") if matches!(&*name, "find" | "concat" | "clone" | "unpack" | "create") => {
                Some(format!("table.{name}"))
            }
            Symbol::Entity(_) if self_call && self.known.is_derived(&name) => Some(format!(":{name}")),
            _ => None,
        }
    }
}

/// Words that are called for what they give back: a list in another order is another list.
const RETURNING: [&str; 9] = ["shuffle", "draw", "filter", "each", "first", "sum", "distance", "within", "options"];
