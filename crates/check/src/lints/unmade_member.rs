//! A function of a card reads a name that another function of the card makes in all other cards, or that other cards put into `ctx`.

use std::collections::{BTreeMap, BTreeSet};

use crate::fact::AGREEING;
use crate::inference::symbol::declared;
use crate::lint::{Example, Lint, Severity};
use crate::symbols::card_functions::CardParam;
use crate::symbols::names::NamesOfFiles;
use crate::syntax::{is_of_name, place_in};
use riskbreaker_ruleset::{Cure, Problem, Rulebook, Stack, nearest};
use riskbreaker_script::syntax::TextPosition;

pub(crate) static LINT: Lint = Lint {
    name: "unmade-member",
    severity: Severity::Error,
    summary: "a card reads a name that nothing in it makes",
    explanation: "Some rulesets let one function of a card return a table, such as a plan, which another function of \
                  the card gets. If all cards but one read only names that their own first function returns, then \
                  the one that reads another name reads nil. The same holds for a member of `ctx` that only other \
                  cards assign. Use one name in both functions.",
    bad: Example::Files(&[
        (
            "maneuvers/example.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "example",
	title = "Example",
	text = "An example.",
	resolve = function(ctx)
		ctx.grip = 2
		rb.say("{} pulls {}", ctx.actor, ctx.hold)
	end,
})
"#,
        ),
        (
            "maneuvers/other.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "other",
	title = "Other",
	text = "An example.",
	resolve = function(ctx)
		ctx.hold = 1
		rb.say("{} holds {}", ctx.actor, ctx.hold)
	end,
})
"#,
        ),
    ]),
    good: Example::Files(&[
        (
            "maneuvers/example.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "example",
	title = "Example",
	text = "An example.",
	resolve = function(ctx)
		ctx.hold = 2
		rb.say("{} pulls {}", ctx.actor, ctx.hold)
	end,
})
"#,
        ),
        (
            "maneuvers/other.luau",
            r#"local rb = require("@riskbreaker")

return rb.maneuver({
	id = "other",
	title = "Other",
	text = "An example.",
	resolve = function(ctx)
		ctx.hold = 1
		rb.say("{} holds {}", ctx.actor, ctx.hold)
	end,
})
"#,
        ),
    ]),
};

/// Returns a problem for each name that a function of a card reads although nothing in the card makes it.
pub(crate) fn unmade_members(stack: &Stack, rules: &Rulebook, names: &NamesOfFiles) -> Vec<Problem> {
    let mut found = unmade_by_function(stack, names);
    if !names.has_open_context() {
        found.extend(unfilled_context(stack, rules, names));
    }
    found
}

/// A function that makes a table, and one that reads it as a parameter: their keys and the position of the parameter.
type Flow<'n> = (&'n str, &'n str, usize);

/// The names that a card reads off a parameter and that its other function does not make.
struct Gap<'n> {
    file: &'n str,
    made: &'n BTreeMap<String, TextPosition>,
    param: &'n CardParam,
    missing: BTreeSet<&'n str>,
}

/// Compares what one function of each card returns with what another one reads off a parameter. Where both agree in nearly all
/// cards, the one hands its table to the other.
fn unmade_by_function(stack: &Stack, names: &NamesOfFiles) -> Vec<Problem> {
    let mut agreeing: BTreeMap<Flow<'_>, usize> = BTreeMap::new();
    let mut gaps: BTreeMap<Flow<'_>, Vec<Gap<'_>>> = BTreeMap::new();
    for (file, functions) in &names.uses().card_functions {
        let makers = functions.iter().filter_map(|(key, function)| Some((key, function.made.as_ref()?)));
        for (maker, made) in makers {
            for (reader, function) in functions.iter().filter(|(reader, _)| *reader != maker) {
                for (at, param) in function.params.iter().enumerate().filter(|(_, param)| !param.read.is_empty()) {
                    let flow = (maker.as_str(), reader.as_str(), at);
                    let unmade = param.read.keys().filter(|name| !made.contains_key(*name));
                    let missing: BTreeSet<&str> = unmade.map(String::as_str).collect();
                    match missing.is_empty() {
                        true => *agreeing.entry(flow).or_default() += 1,
                        false => gaps.entry(flow).or_default().push(Gap { file, made, param, missing }),
                    }
                }
            }
        }
    }
    let is_usual = |flow: &Flow<'_>, gaps: &[Gap<'_>]| {
        let agreeing = agreeing.get(flow).copied().unwrap_or_default();
        agreeing >= AGREEING && gaps.len() * AGREEING <= agreeing
    };
    let mut found = Vec::new();
    for ((maker, reader, _), gaps) in gaps.iter().filter(|(flow, gaps)| is_usual(flow, gaps)) {
        for gap in gaps {
            // Another script may add a name to the table.
            let is_added = |name: &str| {
                names.is_put_into(&gap.param.name, name)
                    || gaps.iter().filter(|other| other.missing.contains(name)).count() > 1
            };
            let missing = gap.missing.iter().filter(|name| !is_added(name));
            found.extend(missing.filter_map(|name| unmade(stack, (maker, reader), gap, name)));
        }
    }
    found
}

/// The problem of one name that is read and not made. If exactly one name is made and not read, that one is meant.
fn unmade(stack: &Stack, (maker, reader): (&str, &str), gap: &Gap<'_>, name: &str) -> Option<Problem> {
    let text = stack.text_of(gap.file)?;
    let param = &gap.param.name;
    let wrong = format!("`{reader}` reads `{param}.{name}`, and `{maker}` of this card returns no `{name}`");
    let unread: Vec<&String> = gap.made.keys().filter(|made| !gap.param.read.contains_key(*made)).collect();
    let (at, cure) = match (unread.as_slice(), gap.missing.len()) {
        ([meant], 1) => (*gap.made.get(*meant)?, Cure::meant(meant.as_str(), name)),
        _ => {
            let at = *gap.param.read.get(name)?;
            let cure = match nearest(name, unread.iter().map(|made| made.as_str())) {
                Some(near) => Cure::meant(format!("{param}.{name}"), format!("{param}.{near}")),
                None => format!("add {name} = ... to the table that `{maker}` returns").into(),
            };
            (at, cure)
        }
    };
    Some(LINT.problem(gap.file, wrong).at(place_in(text, at)).with_cure(cure))
}

/// Returns a problem for each card that reads a member of `ctx` which only other cards assign.
fn unfilled_context(stack: &Stack, rules: &Rulebook, names: &NamesOfFiles) -> Vec<Problem> {
    let mut found = Vec::new();
    for (member, files) in &names.uses().context_reads {
        let declared = declared(rules.context(), member);
        let writers = names.uses().writers.get(member);
        let is_of_card = |file: &String| file.contains("/maneuvers/");
        // A member that nothing declares or assigns is reported where it is read.
        let may_be_filled = declared.is_some_and(|param| !param.optional)
            || writers.is_some_and(|files| !files.iter().all(is_of_card))
            || (declared.is_none() && writers.is_none());
        if may_be_filled {
            continue;
        }
        let is_filled = |file: &&String| writers.is_some_and(|writers| writers.contains(*file));
        found.extend(
            files.iter().filter(|file| !is_filled(file)).filter_map(|file| unfilled(stack, names, file, member)),
        );
    }
    found
}

/// The problem of a card that reads a member of `ctx` which it does not assign. If it assigns exactly one that nothing reads, that
/// one is meant.
fn unfilled(stack: &Stack, names: &NamesOfFiles, file: &str, member: &str) -> Option<Problem> {
    let text = stack.text_of(file)?;
    let is_assigned = |other: &&String| {
        let writers = names.uses().writers.get(*other);
        writers.is_some_and(|files| files.contains(file)) && names.times_of_path(&format!("ctx.{other}")) == 1
    };
    let of_file = names.uses().context_reads.iter().filter(|(_, files)| files.contains(file)).map(|(name, _)| name);
    let unread: Vec<&String> = of_file.filter(is_assigned).collect();
    let wrong = format!("this card reads `ctx.{member}`, and no file that it uses puts a `{member}` into `ctx`");
    let (named, wrong, cure) = match unread.as_slice() {
        [meant] => {
            let named = format!("ctx.{meant}");
            let wrong = format!("{wrong}; nothing reads `{named}`");
            (named.clone(), wrong, Cure::meant(named, format!("ctx.{member}")))
        }
        _ => {
            let cure = format!("write `ctx.{member} = ...` in a function of this card that runs before");
            (format!("ctx.{member}"), wrong, cure.into())
        }
    };
    let at = place_of(text, &named)?;
    Some(LINT.problem(file, wrong).at(at).with_cure(cure))
}

/// The line and column, from 1, where a text has a name that is not the beginning of a longer one.
fn place_of(text: &str, name: &str) -> Option<(u32, u32)> {
    (1..).zip(text.lines()).find_map(|(number, line)| {
        let is_whole = |(at, _): &(usize, &str)| !line[at + name.len()..].starts_with(is_of_name);
        let (at, _) = line.match_indices(name).find(is_whole)?;
        Some((number, line[..at].chars().count() as u32 + 1))
    })
}
