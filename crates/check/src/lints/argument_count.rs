//! A call gives more or fewer values than the function takes.

use crate::inference::call::Called;
use crate::inference::symbol::Symbol;
use crate::inference::value_type::{Param as DeclaredParam, ValueType};
use crate::lint::{Example, Lint, Severity};
use crate::reader::ScriptReader;
use crate::syntax::{gives_many, literal, number, text};
use riskbreaker_ruleset::{Param, TextChange};
use riskbreaker_script::syntax::{Expression, ExpressionKind, Location};

pub(crate) static LINT: Lint = Lint {
    name: "argument-count",
    severity: Severity::Error,
    summary: "a call gives more or fewer values than the function takes",
    explanation: "The check knows how many values the words of `rb`, verbs, and functions of the ruleset take, \
                  and which of them may be left out. A missing value is nil in the function, and a value too many \
                  is ignored; verbs and words refuse both.",
    bad: Example::Resolve(r#"rb.act.move_rope(ctx.rope)"#),
    good: Example::Resolve(r#"rb.act.move_rope(ctx.rope, 1, ctx.actor)"#),
};

impl ScriptReader<'_> {
    /// Reports `card.resolve()`, which lacks the context, where a context is at hand.
    pub(crate) fn lacks_context(&mut self, func: Expression<'_>, args: &[Expression<'_>], self_call: bool) {
        let ExpressionKind::IndexName { expr, index, index_location, .. } = func.kind() else { return };
        let of_card =
            matches!(&*text(index), "resolve" | "when") && !matches!(self.symbol(expr), Some(Symbol::Module(_)));
        if self_call || !args.is_empty() || !of_card || self.is_spec() || !self.has_local("ctx") {
            return;
        }
        let wrong = format!("`{}` of a card needs `ctx`, which is not given", text(index));
        let closing = self.arguments_behind(index_location).map(|(_, end)| end - 1);
        let change = closing.map(|at| TextChange { begin: at, end: at, text: "ctx".into() });
        self.problem_with(&LINT, index_location, (wrong, format!("write `{}(ctx)`", text(index)).into()), change);
    }

    /// Reports `table.insert` with one value.
    pub(crate) fn inserts_nothing(&mut self, name: &str, args: &[Expression<'_>]) {
        if name == "table.insert"
            && args.len() < 2
            && let Some(only) = args.first().filter(|only| !gives_many(**only))
        {
            let wrong = "the list or the value is missing: two expected, one value given".to_string();
            self.problem(&LINT, only.location(), (wrong, "it is written table.insert(list, value)".into()));
        }
    }

    /// Reports a text of a conversion's report in the place of its topic: the value behind it is an entity, and no text.
    pub(crate) fn lacks_topic(&mut self, name: &str, args: &[Expression<'_>]) {
        let [text, value, ..] = args else { return };
        let Some(written) = literal(*text).filter(|text| text.contains("{}")) else { return };
        if !matches!(self.symbol(*value), Some(Symbol::Entity(_))) {
            return;
        }
        let wrong = format!("`change.{name}` takes a topic before its text, and the text comes first here");
        // The first value may fill the topic.
        let is_of_topic = args.len() - 1 == written.matches("{}").count() + 1;
        let change = is_of_topic.then(|| self.inserted(text.location().begin, "\"{}\", "));
        let cure = format!("write change.{name}(\"{{}}\", text, entity, ...): the first value fills the topic");
        self.problem_with(&LINT, text.location(), (wrong, cure.into()), change);
    }

    /// Reports data that an attachment needs and is not given.
    pub(crate) fn missing_data(&mut self, hook: &str, param: &Param, at: Location) {
        let wrong = format!("the data of `{hook}` lack `{}`", param.name);
        self.problem(&LINT, at, (wrong, format!("add {} = ...: {}", param.name, param.ty).into()));
    }

    /// Reports `:set("field")`, `:add("field")` and the like without a value. Returns whether it did.
    pub(crate) fn method_without_value(
        &mut self,
        name: &str,
        field: &str,
        args: &[Expression<'_>],
        at: Location,
    ) -> bool {
        let is_alone = args.len() == 1 && self.known.types_of(field).next().is_some();
        if is_alone {
            let (missing, cure) = match name {
                "set" => ("the new value", format!("write :set(\"{field}\", value)")),
                "reaches" => ("the number to reach", format!("write :reaches(\"{field}\", n)")),
                _ => ("the number to add", format!("write :{name}(\"{field}\", n)")),
            };
            self.problem(&LINT, at, (format!("{missing} of `{field}` is missing"), cure.into()));
        }
        is_alone
    }

    /// Reports too few or too many values for a word of `rb` or a method. Returns whether it did.
    pub(crate) fn wrong_count_of_word(
        &mut self,
        (params, spread): (&[DeclaredParam<'_>], bool),
        args: &[Expression<'_>],
        usage: &str,
        at: Location,
    ) -> bool {
        let open_end = args.last().is_some_and(|last| !self.gives_one(*last));
        let least = params.iter().rposition(|param| !param.optional).map_or(0, |last| last + 1);
        let lacks = args.len() < least && !open_end;
        if !lacks && (args.len() <= params.len() || spread) {
            return false;
        }
        if let ("t:expect", [name, fields]) = (usage.split('(').next().unwrap_or_default(), args)
            && let (Some(named), ExpressionKind::Table { .. }) = (literal(*name), fields.kind())
        {
            let is_word = named.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let key = if is_word { named } else { format!("[\"{named}\"]") };
            let meant = format!("{{ {key} = {} }}", self.source(*fields));
            let change = self.replaced(Location::new(name.location().begin, fields.location().end), &*meant);
            let wrong = "`t:expect` takes one table of entities by name".to_string();
            self.cured(&LINT, at, (wrong, format!("write `t:expect({{ {key} = {{ ... }} }})`").into()), change);
            return true;
        }
        let wanted = if spread || least == params.len() { least } else { params.len() };
        let bound = if spread {
            "at least "
        } else if least < params.len() {
            "at most "
        } else {
            ""
        };
        let missing = params.get(args.len()).filter(|_| args.len() < least).map(|param| param.name);
        let wrong = match missing {
            Some(missing) => {
                format!("`{missing}` is missing: {} expected, {} given", count_of(least), count_of(args.len()))
            }
            None => format!("{bound}{} expected, {} given", count_of(wanted), count_of(args.len())),
        };
        let missing: Vec<&str> =
            params.get(args.len()..least).unwrap_or_default().iter().map(|param| param.name).collect();
        let change = self.more_arguments(at, args, &missing).or_else(|| self.question_before(params, args));
        self.problem_with(&LINT, at, (wrong, format!("it is written {usage}").into()), change);
        true
    }

    /// Reports too few or too many values for a verb or a function of the ruleset. Returns whether it did.
    pub(crate) fn wrong_count(
        &mut self,
        called: &Called,
        args: &[Expression<'_>],
        written: &str,
        at: Location,
    ) -> bool {
        let Called { name, signature, .. } = called;
        let params = &signature.params;
        let wrong = if args.len() > params.len() && !signature.spread {
            let takes = if params.is_empty() { "nothing".to_string() } else { many(params.len()) };
            format!("`{name}` takes {takes}, {} given", args.len())
        } else if (args.len() < signature.needed || self.is_given_by_others(called, args.len()))
            && args.last().is_none_or(|last| self.gives_one(*last))
        {
            format!("`{name}` needs `{}`, which is not given", params[args.len()])
        } else {
            return false;
        };
        let needed = signature.needed.max(args.len() + 1);
        let change = params.get(args.len()..needed).and_then(|missing| self.more_arguments(at, args, missing));
        self.problem_with(&LINT, at, (wrong, written.into()), change);
        true
    }

    /// Reports a call in a call whose bracket closes too late or too early: the one has values too few, and the other one has
    /// just these too many. Returns whether it did.
    pub(crate) fn bracket_is_misplaced(
        &mut self,
        taker: &str,
        args: &[Expression<'_>],
        takes: (usize, Option<usize>),
    ) -> bool {
        let Some((change, at)) = self.misplaced_bracket(args, takes) else { return false };
        let inner = args[at].location();
        let is_late = change.text.starts_with(')');
        let wrong = match is_late {
            true => format!("this bracket closes too late: a value for `{taker}` is given to the call inside it"),
            false => format!("this bracket closes too early: `{taker}` is given a value for the call inside it"),
        };
        let cure = format!("write {}", self.text.get(self.offset_of(inner.begin)..change.begin).unwrap_or_default());
        self.cured(&LINT, inner, (wrong, format!("{cure}{}", change.text).into()), change);
        true
    }

    /// Reports values too many behind the field or derived value that a spec reads by `t:value`. Returns whether it did.
    pub(crate) fn too_many_for_the_field(&mut self, args: &[Expression<'_>], at: Location) -> bool {
        let Some((name, most)) = self.read_by_spec(args) else { return false };
        let ([.., last], true) = (args, args.len() > 2 + most) else { return false };
        let surplus = Location::new(args[1 + most].location().end, last.location().end);
        let change = self.replaced(surplus, "");
        let (wrong, cure) = match most {
            0 => (format!("`{name}` takes no values"), format!("leave out what follows `{name}`")),
            most => (format!("`{name}` takes {}", many(most)), "leave out the values behind them".to_owned()),
        };
        self.cured(&LINT, at, (wrong, cure.into()), change);
        true
    }

    /// Whether at least two other calls give a parameter that this call leaves out, no other call leaves it out, and the
    /// function does not ask whether it is nil.
    fn is_given_by_others(&self, called: &Called, at: usize) -> bool {
        let never_nil = called.signature.may_lack.get(at).is_some_and(|may_lack| !may_lack);
        if called.verb || !never_nil {
            return false;
        }
        let given = called.known_as().and_then(|name| self.known.names.given_to(&name));
        let (without, with) = given.map_or((0, 0), |given| given.calls_with(at));
        with >= 2 && without <= usize::from(!self.is_spec())
    }

    /// The change that puts the question in scope before the number of `rb.pick(3)`, which lacks it.
    fn question_before(&self, params: &[DeclaredParam<'_>], args: &[Expression<'_>]) -> Option<TextChange> {
        let ([first, ..], [question, ..]) = (args, params) else { return None };
        let is_lacking = number(*first).is_some() && args.len() + 1 == params.len() && question.name == "question";
        let name = ["q", "question"].into_iter().find(|name| is_lacking && self.is_in_scope(name))?;
        Some(self.inserted(first.location().begin, format!("{name}, ")))
    }

    /// Reports parts of `rb.sum` that are all written with the number before its label. Returns whether it did.
    pub(crate) fn labels_behind_numbers(&mut self, args: &[Expression<'_>]) -> bool {
        let pairs: Vec<&[Expression<'_>]> = args.chunks(2).collect();
        let is_exchanged = |pair: &&[Expression<'_>]| match **pair {
            [number, label] => self.value_type(number) == Some(ValueType::Number) && literal(label).is_some(),
            _ => false,
        };
        let ([first, .., last], true) = (args, pairs.len() > 1 && pairs.iter().all(is_exchanged)) else { return false };
        let parts: Vec<String> =
            pairs.iter().map(|pair| format!("{}, {}", self.source(pair[1]), self.source(pair[0]))).collect();
        let wrong = "each label comes behind its number here".to_owned();
        let change = self.replaced(Location::new(first.location().begin, last.location().end), parts.join(", "));
        let cure = "write each label before its number: rb.sum(\"Wit\", self.wit, \"tired\", -2)";
        self.cured(&LINT, first.location(), (wrong, cure.into()), change);
        true
    }

    /// Reports a label of `rb.sum` that no number follows.
    pub(crate) fn part_without_number(&mut self, label: Expression<'_>, before: Option<Expression<'_>>, usage: &str) {
        if let Some(number) = before {
            let wrong = "the label of a part comes before its number".to_string();
            let cure = format!("exchange {} and {}", self.source(number), self.source(label));
            let change = self.exchanged_with(number, label);
            return self.cured(&LINT, label.location(), (wrong, cure.into()), change);
        }
        let wrong = "no number follows this label".to_string();
        self.problem(&LINT, label.location(), (wrong, format!("it is written {usage}").into()));
    }
}

fn many(count: usize) -> String {
    if count == 1 { "one value".into() } else { format!("{count} values") }
}

fn count_of(count: usize) -> String {
    match count {
        0 => "none".into(),
        count => many(count),
    }
}
