//! A text has more or fewer places to fill than values are given.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{is_of_name, literal};
use crate::syntax_lints::SyntaxLints;
use riskbreaker_ruleset::TextChange;
use riskbreaker_script::syntax::{BinaryOp, Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "text-places",
    severity: Severity::Error,
    summary: "a text has more or fewer places to fill than values are given",
    explanation: "Each `{}` in a text of `rb.say`, `rb.roll` and the like is filled by one of the values that \
                  follow the text, and each `%` of `string.format` by one of its values. Give one value for each \
                  place. `..` joins texts and fills nothing.",
    bad: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor)"#),
    good: Example::Resolve(r#"rb.say("{} pulls {}", ctx.actor, 2)"#),
};

impl ScriptReader<'_> {
    /// Reports a text whose `{}` do not match the values that fill them.
    pub(crate) fn filled(&mut self, args: &[Expression<'_>], label: usize) {
        let Some(text) = args.get(label).and_then(|arg| literal(*arg)) else {
            if let Some(joined) = args.get(label).and_then(|arg| joined_to(*arg)).filter(|_| args.len() == label + 1) {
                let wrong = "nothing fills the `{}` of this text: `..` only puts something behind it".to_string();
                return self.problem(
                    &LINT,
                    joined,
                    (wrong, "write a comma for `..`: rb.say(\"{} falls\", actor)".into()),
                );
            }
            let elsewhere = args.iter().position(|arg| literal(*arg).is_some_and(|text| text.contains("{}")));
            if let (Some(found), Some(first)) = (elsewhere, args.get(label))
                && found != label
                && !matches!(first.kind(), ExpressionKind::FunctionLiteral(_))
            {
                self.text_elsewhere(label, args, found);
            }
            return;
        };
        let (places, given) = (text.matches("{}").count(), args.len() - label - 1);
        let open_end = args.last().is_some_and(|last| {
            matches!(last.kind(), ExpressionKind::Varargs | ExpressionKind::Call { .. }) && args.len() > label + 1
        });
        if places != given && !(open_end && given <= places) {
            let (values, them) = (if given == 1 { "value" } else { "values" }, if places == 1 { "it" } else { "them" });
            let wrong = format!("\"{text}\" has {places} `{{}}`, and {given} {values} to fill {them}");
            // Other languages fill `%s` and `%d`.
            let marks = text.matches("%s").count() + text.matches("%d").count();
            let at = args[label].location();
            if places == 0 && marks == given {
                let meant = self.source(args[label]).replace("%s", "{}").replace("%d", "{}");
                let change = self.replaced(at, meant);
                let cure = "write `{}` for each value, instead of %s and %d".to_owned();
                return self.cured(&LINT, at, (wrong, cure.into()), change);
            }
            let change = self.unused_params(args, places.saturating_sub(given));
            let change = change.or_else(|| self.owner_before(&text, args, label).filter(|_| (places, given) == (2, 1)));
            self.problem_with(&LINT, at, (wrong, "give one value for each `{}`".into()), change);
        }
    }
}

impl ScriptReader<'_> {
    /// Reports a text of `rb.say` or `rb.whisper` that a call has returned. Such a text may come from a person.
    pub(crate) fn says_computed_text(&mut self, args: &[Expression<'_>], label: usize) {
        if let Some(text) = args.get(label).filter(|text| args.len() == label + 1 && self.is_computed_text(**text)) {
            let at = text.location();
            let wrong = "this text is computed: what it has in braces would be taken as a place to fill";
            let meant = format!("\"{{}}\", {}", self.source(*text));
            let cure = format!("write `{meant}`");
            self.problem_with(&LINT, at, (wrong.into(), cure.into()), Some(self.replaced(at, meant)));
        }
    }

    /// The change that adds the parameters of the enclosing function that a call leaves out, if it lacks as many values.
    fn unused_params(&self, args: &[Expression<'_>], lacking: usize) -> Option<TextChange> {
        const TABLES: [&str; 8] = ["t", "q", "e", "ctx", "self", "case", "below", "holder"];
        let given: Vec<&str> = args.iter().map(|arg| self.source(*arg)).collect();
        let is_left_out = |name: &&String| {
            !given.iter().any(|arg| arg.split(|letter| !is_of_name(letter)).any(|word| word == **name))
        };
        let params = self.enclosing.last()?.params.iter().map(|(_, name)| name);
        let missing: Vec<&String> =
            params.filter(|name| !TABLES.contains(&name.as_str())).filter(is_left_out).collect();
        let last = args.last().filter(|_| lacking > 0 && missing.len() == lacking)?;
        let written: String = missing.iter().map(|name| format!(", {name}")).collect();
        Some(self.inserted(last.location().end, written))
    }

    /// The change that puts the owner of the only value before it: `"{} has {}", foe.coins` says who has the coins.
    fn owner_before(&self, text: &str, args: &[Expression<'_>], label: usize) -> Option<TextChange> {
        let value = *args.get(label + 1)?;
        let ExpressionKind::IndexName { expr, index, .. } = value.kind() else { return None };
        let owner = self.source(expr);
        let is_plain = owner.chars().all(|letter| is_of_name(letter) || letter == '.') && owner != "ctx";
        let is_field = self.known.types_of(&crate::syntax::text(index)).next().is_some();
        let is_entity = is_field || self.refers(expr) || matches!(self.symbol(expr), Some(Symbol::Entity(_)));
        (text.starts_with("{}") && is_plain && is_entity)
            .then(|| self.inserted(value.location().begin, format!("{owner}, ")))
    }

    /// Whether a text comes from a call.
    fn is_computed_text(&self, text: Expression<'_>) -> bool {
        match text.kind() {
            ExpressionKind::Call { .. } => self.value_type(text) == Some(ValueType::Text),
            ExpressionKind::Local { local, .. } => {
                self.computed_texts.contains(&local.id) && !self.locals.changing.contains(&local.id)
            }
            _ => false,
        }
    }
}

impl SyntaxLints<'_> {
    /// Reports a format string of `string.format` whose places do not match its values.
    pub(crate) fn format(&mut self, pattern: Expression<'_>, values: &[Expression<'_>]) {
        let Some(written) = literal(pattern) else { return };
        let mut letters = written.chars();
        let mut places = 0;
        while letters.by_ref().any(|letter| letter == '%') {
            let kind = letters.find(|letter| !letter.is_ascii_digit() && !" +-#.".contains(*letter));
            match kind {
                Some('%') => {}
                Some(kind) if "cdiouxXeEfgGqsaA*".contains(kind) => places += 1,
                _ => {
                    let wrong = "`%` without a letter that it knows";
                    return self.tell(
                        &LINT,
                        pattern.location(),
                        wrong,
                        "write %d for a number, %s for a text, %% for a percent sign",
                    );
                }
            }
        }
        let open = values
            .last()
            .is_some_and(|last| matches!(last.kind(), ExpressionKind::Call { .. } | ExpressionKind::Varargs));
        if places > values.len() && !open || places < values.len() {
            let wrong = format!("{places} places for values, {} given", values.len());
            self.tell(&LINT, pattern.location(), wrong, "give one value for each %");
        }
    }
}

/// Returns the position of a text with `{}` to which something is joined by `..`.
fn joined_to(expression: Expression<'_>) -> Option<Location> {
    let ExpressionKind::Binary { lhs, op: BinaryOp::Concat, rhs } = expression.kind() else { return None };
    let open = |side: Expression<'_>| literal(side).is_some_and(|text| text.contains("{}"));
    let values = |side: Expression<'_>| literal(side).is_none();
    (open(lhs) && values(rhs) || open(rhs) && values(lhs)).then(|| expression.location())
}
