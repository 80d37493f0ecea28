//! A stack of rulesets being read: checks of the declared tables, and the problems found so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlua::{Lua, Result, Table, Value as Lv};

use super::budget::{CallBudget, hold};
use super::conversion::sort_of;
use super::declaration_lines::{line_at, line_of};
use super::merge::{MOST_PROBLEMS, Merger, sorted};
use riskbreaker_ruleset::quoted::quoted;
use riskbreaker_ruleset::{
    Cure, LONGEST_NAME, LONGEST_TITLE, Problem, Stack, Subject, TextChange, find_whole, instead, nearest, number_in,
    truth_in,
};
use riskbreaker_state::Value as RulesValue;

/// A stack being read, with the problems found so far.
///
/// It has many methods, since each kind of declaration has some that read it; each file `declared_*` adds them.
pub(super) struct Loader<'a> {
    pub lua: &'a Lua,
    pub stack: &'a Arc<Stack>,
    pub problems: Vec<Problem>,
    pub merger: Merger<'a>,
    /// True if a budget is spent, so that nothing more can run in the machine.
    pub is_spent: bool,
    /// Bytes left for the declarations of all files together.
    pub held: usize,
}

/// The most bytes of all declarations together, by a generous estimate.
pub(super) const MOST_HELD: usize = 2 * CallBudget::LOAD.held;

/// The overhead of a stored text in bytes, as charged.
pub(super) const KEPT: usize = 48;

/// Copies and charges a text. It counts at each place where it is declared, even if scripts share it.
pub(super) fn kept(text: &str) -> Result<Arc<str>> {
    hold(KEPT + text.len())?;
    Ok(Arc::from(text))
}

impl Loader<'_> {
    /// Reports unknown keys, with the most similar known one. Further keys may be declared with their types; if none
    /// are declared, only misspellings of known keys are reported.
    pub(super) fn known_keys(
        &mut self,
        what: &str,
        at: &str,
        body: &Table,
        known: &[&str],
        facts: Option<&Table>,
    ) -> Result<()> {
        self.is_short("name", what, at, at.rsplit('/').next().unwrap_or(at), LONGEST_NAME);
        if let Lv::String(title) = body.raw_get::<Lv>("title")? {
            let path = if at.is_empty() { "title".to_owned() } else { format!("{at}/title") };
            self.is_short("title", what, &path, &title.to_string_lossy(), LONGEST_TITLE);
        }
        let open = matches!(what, "maneuver" | "item");
        let mut allowed: Vec<String> = known.iter().map(|key| key.to_string()).collect();
        let mut types: BTreeMap<String, String> = BTreeMap::new();
        let declared = if what == "item" { "item" } else { "card" };
        for pair in facts.into_iter().flat_map(|facts| facts.pairs::<String, String>()) {
            let Ok((name, ty)) = pair else {
                let example = "max_risk = \"number|function?\"";
                let message = format!("`{declared}` in play.luau maps facts to their types, such as {example}");
                let cure = "write the type in quotes: number, string, boolean, table or function; `?` may be left out";
                self.problem("play", declared, message, cure);
                return Ok(());
            };
            hold(name.len() + ty.len())?;
            let mut sorts = ty.trim_end_matches('?').split('|').map(str::trim);
            if let Some(sort) = sorts.find(|sort| !FACT_TYPES.contains(sort)) {
                let cure = instead(sort, FACT_TYPES.iter().copied());
                self.problem("play", declared, format!("`{name}` has no type `{sort}`"), cure);
                if let Some(problem) = self.problems.last_mut() {
                    problem.line = line_of(self.stack, &problem.path, &name).or(problem.line);
                }
                return Ok(());
            }
            allowed.push(name.clone());
            types.insert(name, ty);
        }
        for (key, value) in sorted(body)? {
            let path = if at.is_empty() { key.clone() } else { format!("{at}/{key}") };
            if !self.is_short("name", what, &path, &key, LONGEST_NAME) {
                continue;
            }
            if allowed.contains(&key) {
                if let Some(ty) = types.get(&key) {
                    let (found, ty) = (sort_of(&value), ty.trim_end_matches('?'));
                    if !ty.split('|').any(|one| one.trim() == found) {
                        let sorts = ty.replace('|', " or ");
                        let message = format!("`{key}` of {what} `{at}` must be a {sorts}, not a {found}");
                        let text = value.as_string().map(|text| text.to_string_lossy());
                        let cure = cure_of_fact(&key, ty, &value, text.as_deref()).unwrap_or_else(|| {
                            format!("write a {sorts}: `{declared}` in play.luau declares it so").into()
                        });
                        self.problem(what, &path, message, cure);
                    }
                }
                continue;
            }
            let known = allowed.iter().map(String::as_str);
            if open && facts.is_none() && nearest(&key, known.clone()).is_none() {
                continue;
            }
            let cure = instead(&key, known);
            let of = if at.is_empty() { what.to_string() } else { format!("{what} `{at}`") };
            self.problem(what, &path, format!("unknown key `{key}` in {of}"), cure);
        }
        for (name, ty) in &types {
            if !ty.ends_with('?') && body.raw_get::<Lv>(name.as_str())?.is_nil() {
                self.missing(what, at, name, ty);
            }
        }
        Ok(())
    }

    /// The table under a key, if there is one. Reports any other value.
    pub(super) fn table_at(&mut self, what: &str, at: &str, body: &Table, key: &str) -> Result<Option<Table>> {
        let found = body.raw_get::<Lv>(key)?;
        if found.as_table().is_none() {
            self.refuse_other(what, at, (key, "table", "{ ... }"), &found);
        }
        Ok(found.as_table().cloned())
    }

    /// True if there is a function under a key. Reports any other value.
    pub(super) fn has_function(
        &mut self,
        what: &str,
        at: &str,
        body: &Table,
        (key, written): (&str, &str),
    ) -> Result<bool> {
        let found = body.raw_get::<Lv>(key)?;
        if !found.is_function() {
            self.refuse_other(what, at, (key, "function", written), &found);
        }
        Ok(found.is_function())
    }

    /// Reports a key whose value has the wrong type.
    pub(super) fn refuse_other(&mut self, what: &str, at: &str, (key, sort, written): (&str, &str, &str), found: &Lv) {
        if found.is_nil() {
            return;
        }
        let (of, path) = match at {
            "" => (format!("in {what}.luau"), key.to_string()),
            at => (format!("of {what} `{at}`"), format!("{at}/{key}")),
        };
        let message = format!("`{key}` {of} is a {sort}, not a {}", sort_of(found));
        self.problem(what, &path, message, format!("write {key} = {written}"));
    }

    pub(super) fn missing(&mut self, what: &str, at: &str, key: &str, wanted: &str) {
        let file = self.merger.origin(what, at).or_else(|| self.merger.origin(what, &format!("{at}/id")));
        let is_meant = |cure: &Option<Cure>| matches!(cure, Some(Cure::Meant { meant, .. }) if meant == key);
        if self.problems.iter().any(|problem| Some(&problem.path) == file.as_ref() && is_meant(&problem.cure)) {
            return; // it is there, by a misspelt name
        }
        self.problem(what, at, format!("{what} `{at}` lacks `{key}`"), format!("add {key} = {wanted}"));
    }

    /// Reports a name or a title with too many letters, at the place of its declaration.
    pub(super) fn is_short(&mut self, sort: &str, what: &str, path: &str, text: &str, most: usize) -> bool {
        if text.len() <= most || text.chars().count() <= most {
            return true;
        }
        let letters = text.chars().count();
        let message = format!("a {sort} has at most {most} letters, and {} has {letters}", quoted(text));
        self.problem(what, path, message, "shorten it");
        false
    }

    pub(super) fn problem(&mut self, what: &str, path: &str, message: impl Into<String>, cure: impl Into<Cure>) {
        self.problem_about(Subject::Other, what, path, message, cure);
    }

    /// Offers to write code on a line before the one that assigns a key, in the declaration of the last problem.
    pub(super) fn offer_before(&mut self, key: &str, code: &str) {
        let Some(problem) = self.problems.last_mut() else { return };
        let (Some(line), Some(text)) = (problem.line, self.stack.text_of(&problem.path)) else { return };
        let begin: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let Some(at) = find_whole(&text[begin..], key).map(|at| begin + at) else { return };
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &text[start..at];
        let text = if indent.trim().is_empty() { format!("{code}\n{indent}") } else { format!("{code} ") };
        problem.change = Some(TextChange { begin: at, end: at, text });
    }

    pub(super) fn problem_about(
        &mut self,
        subject: Subject,
        what: &str,
        path: &str,
        message: impl Into<String>,
        cure: impl Into<Cure>,
    ) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let file = self.merger.origin(what, path).unwrap_or_else(|| self.stack.main().id().to_string());
        let mut problem = Problem::new(file.clone(), message).with_cure(cure).about(subject);
        problem.line = line_at(self.stack, &file, path);
        self.problems.push(problem);
    }
}

/// The title of a declaration, or else its name.
pub(super) fn title_of(body: &Table, name: &str) -> Result<Arc<str>> {
    kept(body.raw_get::<Option<String>>("title").ok().flatten().as_deref().unwrap_or(name))
}

/// The possible types of a card's fact.
pub(super) const FACT_TYPES: [&str; 5] = ["number", "string", "boolean", "table", "function"];

/// What to write for a fact of another type than the declared one.
fn cure_of_fact(key: &str, ty: &str, value: &Lv, text: Option<&str>) -> Option<Cure> {
    let unquoted = |text: &str, code: String| {
        let sentence = format!("write {key} = {code}, without quotes");
        Cure::rewrite(format!("\"{text}\""), code, sentence)
    };
    let number = value.as_integer().or_else(|| value.as_number().map(|number| number as i64));
    let plain = text.map(RulesValue::from).or(number.map(RulesValue::Int))?;
    Some(match (ty, text) {
        ("string", None) => {
            // A number where words are wanted is seldom the same in quotes.
            format!("put it in quotes, if it is meant: {key} = \"{plain}\"").into()
        }
        ("number", Some(digits)) if digits.parse::<f64>().is_ok() => unquoted(digits, digits.to_owned()),
        ("number", Some(text)) => match number_in(text) {
            Some(number) => unquoted(text, number.to_string()),
            None => format!("write {key} = a number, without quotes").into(),
        },
        ("boolean", Some(text)) => match truth_in(&plain) {
            Some(truth) => unquoted(text, truth.to_string()),
            None => "write true or false, without quotes".into(),
        },
        ("table", Some(text)) => {
            let list = format!("{{ \"{text}\" }}");
            Cure::rewrite(format!("\"{text}\""), &*list, format!("put it in braces: {key} = {list}"))
        }
        ("boolean", None) => match truth_in(&plain) {
            Some(truth) => Cure::rewrite(plain.to_string(), truth.to_string(), format!("write {key} = {truth}")),
            None => "write true or false".into(),
        },
        _ => return None,
    })
}
