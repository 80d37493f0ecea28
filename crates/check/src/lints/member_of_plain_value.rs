//! A member is read off a number, text, truth value, list or sum.

use crate::inference::symbol::Symbol;
use crate::inference::value_type::ValueType;
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{local_id, name_of, text};
use riskbreaker_ruleset::{Cure, Param, ParamType, TextChange};
use riskbreaker_script::api;
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};
use riskbreaker_state::Type;

pub(crate) static LINT: Lint = Lint {
    name: "member-of-plain-value",
    severity: Severity::Error,
    summary: "a member is read off a number, text, truth value, list or sum",
    explanation: "These values have no members, but for the methods of a text (with a colon) and `total`, `least` \
                  and `most` of a sum. The length of a list or text is `#` before it.",
    bad: Example::Resolve(r#"rb.say("{} pull", rb.each("puller").length)"#),
    good: Example::Resolve(r#"rb.say("{} pull", #rb.each("puller"))"#),
};

impl ScriptReader<'_> {
    /// Reports `list.push(value)` and the like, which other languages have. Returns whether it did.
    pub(crate) fn pushes(&mut self, func: Expression<'_>, args: &[Expression<'_>], call: Location) -> bool {
        let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return false };
        let name = text(index);
        let is_own_list = || {
            let is_list = self.is_own_table(expr) || self.value_type(expr) == Some(ValueType::List);
            let known =
                local_id(expr).is_some_and(|id| self.evidence.certain(id).is_none_or(|ty| ty == ValueType::List));
            local_id(expr).is_some() && (is_list || known && self.lists.contains(&local_id(expr).unwrap_or_default()))
        };
        let [value] = args else { return false };
        if !matches!(&*name, "push" | "append" | "push_back" | "insert" | "add")
            || !is_own_list()
            || self.locals.has_member(expr, &name)
            || matches!(self.symbol(expr), Some(Symbol::Module(_) | Symbol::Entity(_)))
        {
            return false;
        }
        let list = self.source(expr);
        let meant = format!("table.insert({list}, {})", self.source(*value));
        let wrong = format!("`{list}` is a list, and has no `{name}`");
        let change = self.replaced(call, &*meant);
        self.cured(&LINT, index_location, (wrong, format!("write `{meant}`").into()), change);
        true
    }

    /// Reports a member that is read off a value without members. Texts have methods, after a colon.
    pub(crate) fn has_no_names(&mut self, of: Expression<'_>, name: &str, at: Location, colon: bool) {
        // The type of a member of an unknown value is only inferred from its name.
        let certain = match of.kind() {
            ExpressionKind::IndexName { expr, .. } => self.symbol(expr).is_some(),
            _ => true,
        };
        let certain = certain && !self.is_spec() && !self.evidence.has_names(of);
        let Some(sort) = self.value_type(of).filter(|_| certain) else { return };
        let method = sort == ValueType::Text && api::library("string").is_some_and(|names| names.contains(&name));
        if method && colon {
            return;
        }
        // The result of a calculation with unknown values may be a sum.
        if matches!(sort, ValueType::Number | ValueType::Sum) && matches!(name, "total" | "least" | "most") {
            return;
        }
        let called = name_of(of).map_or_else(|| "this".to_string(), |name| format!("`{name}`"));
        let cure: Cure = match sort {
            ValueType::Text if method => format!("write a colon: `:{name}(...)`").into(),
            ValueType::Text if is_count(name) => "`#` before it counts its letters".into(),
            ValueType::List if is_count(name) => "`#` before it counts a list".into(),
            ValueType::List => "name one of it, such as list[1], or loop over it".into(),
            ValueType::Sum => "a sum has total, least and most".into(),
            ValueType::Number | ValueType::Truth | ValueType::Text if !self.neighbours_with(of, name).is_empty() => {
                let owners: Vec<String> =
                    self.neighbours_with(of, name).into_iter().map(|(owner, _)| format!("`{owner}`")).collect();
                format!("read it off {}", owners.join(" or ")).into()
            }
            ValueType::Number | ValueType::Truth | ValueType::Text => {
                format!("write {called} alone, or name what holds `{name}`").into()
            }
            _ => return,
        };
        let counted = self.bytes_of(Location::new(of.location().begin, at.end));
        let is_counted = !colon && is_count(name) && matches!(sort, ValueType::Text | ValueType::List);
        let change = match () {
            () if is_counted => {
                Some(TextChange { begin: counted.start, end: counted.end, text: format!("#{}", self.source(of)) })
            }
            () if sort == ValueType::Text && method => self.mark_before(at, ":"),
            () if sort.is_constant() && !method => match self.neighbours_with(of, name).as_slice() {
                [] => self.without_member(of, at),
                [(owner, place)] => Some(self.replaced(*place, owner.as_str())),
                _ => None,
            },
            () => None,
        };
        let mistake = (format!("{called} is {}, and has no `{name}`", sort.words()), cure);
        self.problem_with(&LINT, at, mistake, change);
    }

    /// The change that reads the value alone; `None` if the member is called, assigned, or has members itself.
    fn without_member(&self, of: Expression<'_>, member: Location) -> Option<TextChange> {
        let (begin, end) = (self.offset_of(of.location().end), self.offset_of(member.end));
        let behind = self.text.get(end..)?.trim_start();
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        let is_plain = !behind.starts_with(['(', '.', ':', '[', '{', '"', '\'', '`']) || behind.starts_with("..");
        let is_changed = ["+=", "-=", "*=", "/=", "..="].iter().any(|op| behind.starts_with(op));
        (is_plain && !is_assigned && !is_changed).then(|| TextChange { begin, end, text: String::new() })
    }

    /// The other values of the same event or context that are entities with such a member, each with the place of the name that
    /// is written instead.
    fn neighbours_with(&self, of: Expression<'_>, name: &str) -> Vec<(String, Location)> {
        let ExpressionKind::IndexName { expr, index_location, .. } = of.kind() else { return Vec::new() };
        let params: Option<&[Param]> = self.known.rules.and_then(|rules| match self.symbol(expr)? {
            Symbol::Event { verb, .. } => rules.verb(&verb).map(|verb| verb.params.as_slice()),
            Symbol::Context => Some(rules.context()),
            _ => None,
        });
        let has_member = |param: &&Param| match &param.ty {
            ParamType::Value(Type::Ref(Some(kind))) => {
                self.known.kind(kind).is_some_and(|kind| kind.members().any(|member| member == name))
            }
            _ => false,
        };
        let owners = params.unwrap_or_default().iter().filter(has_member);
        owners.map(|owner| (owner.name.to_string(), index_location)).collect()
    }
}

/// Whether a name is what other languages call the length of a list or a text.
fn is_count(name: &str) -> bool {
    matches!(name, "length" | "len" | "size" | "count" | "n")
}
