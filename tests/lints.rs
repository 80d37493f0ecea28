//! The lints of `check`: their examples, their pages in the book, comments that allow them, and changes that cures name.
#![cfg(all(feature = "check", feature = "lsp"))]

mod files;
mod parallel;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use parallel::on_every_core;
use riskbreaker::check::{CheckReport, Example, LINTS, Lint, Severity, check};
use riskbreaker::lsp::fixes;
use riskbreaker::ruleset::Problem;
use riskbreaker::{Library, WorkBudget};

/// The ruleset of the examples, with types for its verb, so that nothing is found in it.
fn tug() -> BTreeMap<String, String> {
    let mut files = files::of(&["tug"]);
    let verbs = files.get_mut("tug/verbs.luau").unwrap();
    let typed = "{ { \"rope\", rb.ref(\"rope\") }, { \"by\", rb.int() }, { \"who\", rb.ref(\"puller\") } }";
    *verbs = verbs.replace("{ \"rope\", \"by\", \"who\" }", typed);
    files
}

fn with(example: &Example) -> BTreeMap<String, String> {
    let mut files = tug();
    files.extend(example.files().into_iter().map(|(path, text)| (format!("tug/{path}"), text)));
    files
}

fn found(files: BTreeMap<String, String>) -> Vec<Problem> {
    check(&Library::from_files(files), "tug", &[], &WorkBudget::new(CheckReport::WORK)).problems
}

fn with_line(line: &str) -> BTreeMap<String, String> {
    let mut files = with(&Example::Resolve("rb.say(\"{} pulls\", ctx.actor)"));
    let card = files.get_mut("tug/maneuvers/example.luau").unwrap();
    *card = card.replace("\t\trb.say(\"{} pulls\", ctx.actor)", line);
    files
}

/// What is found, as `path:line lint`.
fn names(found: &[Problem]) -> Vec<String> {
    let name = |one: &Problem| format!("{}:{} {}", one.path, one.line.unwrap_or_default(), one.lint.unwrap_or("none"));
    found.iter().map(name).collect()
}

#[test]
fn each_lint_finds_its_bad_example_and_nothing_in_its_good_one() {
    assert_eq!(found(tug()), []);
    let wrong = on_every_core(LINTS, |lint| {
        let mut wrong = Vec::new();
        if matches!(lint.bad, Example::None) {
            return wrong;
        }
        let bad = found(with(&lint.bad));
        // What follows from the mistake may be found in its line, too.
        let lines: Vec<_> =
            bad.iter().filter(|one| one.lint == Some(lint.name)).map(|one| (&one.path, one.line)).collect();
        if lines.is_empty() || bad.iter().any(|problem| !lines.contains(&(&problem.path, problem.line))) {
            wrong.push(format!("{}, bad: {bad:#?}", lint.name));
        }
        let good = found(with(&lint.good));
        if !good.is_empty() {
            wrong.push(format!("{}, good: {good:#?}", lint.name));
        }
        wrong
    });
    let wrong: Vec<String> = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_what_takes_a_very_large_file_or_another_version_has_no_example() {
    let without = LINTS.iter().filter(|lint| matches!(lint.bad, Example::None) || matches!(lint.good, Example::None));
    assert_eq!(without.map(|lint| lint.name).collect::<Vec<_>>(), ["lost-field", "unexamined"]);
}

#[test]
fn the_names_of_lints_are_in_order_and_in_lower_case_with_hyphens() {
    let names: Vec<&str> = LINTS.iter().map(|lint| lint.name).collect();
    assert!(names.is_sorted() && names.iter().collect::<BTreeSet<_>>().len() == names.len());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/check/src/lints");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|file| !matches!(&**file, "mod.rs" | "page.rs")).collect();
    assert_eq!(files, names.iter().map(|name| format!("{}.rs", name.replace('-', "_"))).collect());
    for lint in LINTS {
        assert!(lint.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", lint.name);
        assert!(lint.explanation.ends_with('.') && !lint.summary.ends_with('.'), "{}", lint.name);
        assert_eq!(Lint::named(lint.name).map(|found| found.name), Some(lint.name));
    }
}

/// The only place that makes a problem in the crate is the one that names a lint.
#[test]
fn every_finding_has_a_lint() {
    let files = rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/check/src"));
    let makers = files.iter().filter(|(_, text)| text.contains("Problem::new(")).map(|(name, _)| name.as_str());
    assert_eq!(makers.collect::<Vec<_>>(), ["lint"]);
    let broken = [
        ("tug/ruleset.toml", "id = \"tug\"\ntitle = 5\n"),
        ("tug/kinds.luau", "return {"),
        ("tug/play.luau", "local rb = require(\"@riskbreaker\")\nreturn rb.play({})\n"),
        ("tug/scenarios/two.toml", "left = \n"),
        ("tug/cast/odd.toml", "[[["),
    ];
    for (path, text) in broken {
        let mut files = tug();
        files.insert(path.into(), text.into());
        let found = found(files);
        assert!(!found.is_empty(), "{path}");
        for problem in found {
            let lint = problem.lint.and_then(Lint::named).unwrap_or_else(|| panic!("{problem}"));
            assert_eq!(problem.is_warning, lint.severity == Severity::Warning, "{problem}");
        }
    }
}

#[test]
fn a_comment_allows_a_lint_in_its_line_in_the_next_one_or_in_the_file() {
    let bad = "\t\trb.act.move_rope(ctx.rope, \"one\", ctx.actor)";
    assert_eq!(names(&found(with_line(bad))), ["tug/maneuvers/example.luau:8 argument-type"]);
    let allowed = [
        format!("{bad} -- check: allow(argument-type)"),
        format!("\t\t-- check: allow(argument-type): the verb takes both\n\n\t\t-- once more\n{bad}"),
        format!("{bad}\n\t\t-- check: allow-file(empty-block, argument-type)\n\t\tif ctx.rope then\n\t\tend"),
    ];
    for line in allowed {
        assert_eq!(found(with_line(&line)), [], "{line}");
    }
    let too_far = format!("\t\t-- check: allow(argument-type)\n\t\trb.say(\"pull\")\n{bad}");
    assert_eq!(names(&found(with_line(&too_far))), ["tug/maneuvers/example.luau:10 argument-type"]);
}

#[test]
fn a_comment_in_toml_allows_a_lint() {
    let mut files = tug();
    let three = |comment: &str| format!("left = \"Cid\"\nright = \"Dora\"\nrihgt = \"Dora\"{comment}\n");
    files.insert("tug/scenarios/three.toml".into(), three(""));
    assert_eq!(names(&found(files.clone())), ["tug/scenarios/three.toml:3 unread-key"]);
    files.insert("tug/scenarios/three.toml".into(), three(" # check: allow(unread-key)"));
    assert_eq!(found(files.clone()), []);
    let manifest = files.get_mut("tug/ruleset.toml").unwrap();
    *manifest +=
        "\n# check: allow(unread-switch)\n[switches.slippery]\nmin = 0\nmax = 3\ndefault = 0\ntext = \"Wet.\"\n";
    assert_eq!(found(files), []);
}

#[test]
fn a_comment_that_allows_nothing_or_an_unknown_lint_is_found() {
    let unused = found(with_line("\t\t-- check: allow(argument-type)\n\t\trb.say(\"pull\")"));
    assert_eq!(names(&unused), ["tug/maneuvers/example.luau:8 unused-allow"]);
    assert!(unused[0].is_warning && unused[0].column == Some(19), "{unused:?}");
    let unknown = found(with_line("\t\t-- check: allow(argument-tpye)\n\t\trb.say(\"pull\")"));
    assert_eq!(names(&unknown), ["tug/maneuvers/example.luau:8 unknown-lint"]);
    assert!(unknown[0].cure.as_ref().is_some_and(|cure| *cure == "did you mean `argument-type`?"), "{unknown:?}");
    let syntax = found(with_line("\t\t-- check: allow-file(syntax)\n\t\trb.say(\"pull\""));
    let expected = ["tug/maneuvers/example.luau:8 unknown-lint", "tug/maneuvers/example.luau:9 syntax"];
    assert_eq!(names(&syntax), expected, "{syntax:#?}");
}

/// Only `rb.cut` ends an action: statements behind `rb.finish` run.
#[test]
fn a_statement_after_the_end_of_the_game_runs() {
    let finishes = "\t\trb.finish(\"{} has won\", ctx.actor)\n\t\trb.say(\"the crowd cheers\")";
    assert_eq!(found(with_line(finishes)), []);
    let both = "\t\tif ctx.rope.at > 0 then\n\t\t\trb.finish(\"right\")\n\t\telse\n\t\t\trb.finish(\"left\")\n\t\tend\n\t\treturn";
    assert_eq!(found(with_line(both)), []);
    let cuts = "\t\trb.cut(\"the rope tears\")\n\t\trb.say(\"the crowd cheers\")";
    assert_eq!(names(&found(with_line(cuts))), ["tug/maneuvers/example.luau:9 unreachable-code"]);
}

/// Where `play.luau` declares topics, a question has one of them, its word fits the type, and so do the answers of
/// policies.
#[test]
fn declared_topics_are_compared_with_questions_and_policies() {
    let with_topics = |topics: &str| {
        let mut files = tug();
        let play = files.get_mut("tug/play.luau").unwrap();
        *play = play.replace("\tstatistics =", &format!("\ttopics = {{ {topics} }},\n\tstatistics ="));
        files
    };
    assert_eq!(found(with_topics("card = rb.any(), risk = { rb.int(), text = \"what is staked\" }")), []);
    let missing = found(with_topics("card = rb.any(), rsik = rb.int()"));
    assert_eq!(missing[0].lint, Some("unknown-topic"), "{missing:#?}");
    assert!(missing[0].cure.as_ref().is_some_and(|cure| *cure == "did you mean `rsik`?"), "{missing:?}");
    let other = found(with_topics("card = rb.any(), risk = rb.bool()"));
    assert_eq!(names(&other), ["tug/maneuvers/pull.luau:9 question-type"], "{other:#?}");
    let mut files = with_topics("card = rb.any(), risk = rb.int(), mood = rb.enum({ \"calm\", \"wild\" })");
    let answer = "local rb = require(\"@riskbreaker\")\n\nreturn rb.policy({\n\tid = \"moody\",\n\tanswer = function(q)\n\t\tif \
                  q.topic == \"mood\" then\n\t\t\treturn \"angry\"\n\t\tend\n\t\treturn rb.pick(q, 3)\n\tend,\n})\n";
    files.insert("tug/policies/moody.luau".into(), answer.into());
    let word = found(files);
    assert_eq!(names(&word), ["tug/policies/moody.luau:7 question-type"], "{word:#?}");
    let wrong = found(with_topics("card = rb.any(), risk = 5"));
    assert!(wrong.iter().any(|one| one.message.starts_with("`topics`")), "{wrong:#?}");
}

#[test]
fn warnings_do_not_fail_a_check() {
    let warning = with(&Lint::named("untyped-verb").unwrap().bad);
    let report = check(&Library::from_files(warning), "tug", &[], &WorkBudget::new(CheckReport::WORK));
    assert!(report.is_passed() && !report.problems.is_empty());
}

/// Each cure that names a change, applied to the bad example of its lint, takes the finding away and adds none.
#[test]
fn each_cure_that_is_a_change_takes_the_finding_away_and_adds_none() {
    let applied = on_every_core(LINTS, |lint| {
        let (mut applied, mut wrong) = (0, Vec::new());
        let files = with(&lint.bad);
        let before = found(files.clone());
        for problem in &before {
            let Some(text) = files.get(&problem.path) else { continue };
            for fix in fixes(problem, text) {
                let mut fixed = files.clone();
                fixed.get_mut(&problem.path).unwrap().replace_range(fix.range.clone(), &fix.new_text);
                let left = found(fixed);
                if left.iter().any(|other| other.lint == problem.lint && other.message == problem.message) {
                    wrong.push(format!("{}: {} leaves {left:#?}", lint.name, fix.title));
                }
                let is_spoilt = is_broken_by(&left, &before) || left.len() > before.len();
                if is_spoilt {
                    wrong.push(format!("{}: {} leads to {left:#?}", lint.name, fix.title));
                }
                applied += 1;
            }
        }
        (applied, wrong)
    });
    let wrong: Vec<String> = applied.iter().flat_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let applied: usize = applied.iter().map(|(applied, _)| applied).sum();
    assert!(applied >= 50, "only {applied} changes");
}

/// Mistakes in files of `tug`: the file, a text in it, the text with the mistake, and the text after the only change that
/// the first finding names.
const EDITED: &[(&str, &str, &str, &str)] = &[
    // Names: other order of the words, leading zeros, the rule in the name of the spec, one stem
    ("verbs.luau", "rb.switches.wins_at", "rb.switches.at_wins", "rb.switches.wins_at"),
    ("maneuvers/rest.luau", "{ \"TUG-2\" }", "{ \"TUG-02\" }", "{ \"TUG-2\" }"),
    ("specs/maneuvers/rest.luau", "{ \"TUG-2\" }", "{ \"TUG-7\" }", "{ \"TUG-2\" }"),
    // Bounds
    ("kinds.luau", "default = 5", "default = 12", "default = 10"),
    ("ruleset.toml", "default = 3", "default = 30", "default = 20"),
    ("ruleset.toml", "min = 1", "min = 25", "min = 3"),
    // Parameters and values
    ("specs/maneuvers/rest.luau", "function(t)", "function()", "function(t)"),
    ("policies/hasty.luau", "rb.pick(q, 3)", "math.random(3)", "rb.pick(q, 3)"),
    ("policies/hasty.luau", "return \"pull\"", "return", "return rb.pick(q, 3)"),
    // The owner of a member is forgotten, or a parameter.
    (
        "kinds.luau",
        "rb.sum(\"strength\", self.strength)",
        "rb.sum(\"strength\", strength)",
        "rb.sum(\"strength\", self.strength)",
    ),
    ("maneuvers/pull.luau", "\"{} pulls\", ctx.actor)", "\"{} pulls\", actor)", "\"{} pulls\", ctx.actor)"),
    ("maneuvers/pull.luau", "ctx.actor:need(), \"", "actor:need(), \"", "ctx.actor:need(), \""),
    ("maneuvers/pull.luau", "resolve = function(ctx)", "resolve = function()", "resolve = function(ctx)"),
    ("verbs.luau", "function(rope, by, who)", "function(rope, by)", "function(rope, by, who)"),
    // A text is still put in quotes where one fits.
    ("play.luau", "rb.first(\"rope\").at else", "rb.first(rope).at else", "rb.first(\"rope\").at else"),
    (
        "play.luau",
        "rope = rb.spawn(\"rope\", {})",
        "rope = rb.spawn(\"rope\", {}) function named() end",
        "rope = rb.spawn(\"rope\", {}) local function named() end",
    ),
    // Conditions
    (
        "play.luau",
        "rb.finish(\"{} let go\", seat)",
        "if not #rb.each(\"puller\") then rb.finish(\"{} let go\", seat) end",
        "if #rb.each(\"puller\") == 0 then rb.finish(\"{} let go\", seat) end",
    ),
    (
        "play.luau",
        "rb.finish(\"{} let go\", seat)",
        "if #rb.each(\"puller\") < 0 then rb.finish(\"{} let go\", seat) end",
        "if #rb.each(\"puller\") > 0 then rb.finish(\"{} let go\", seat) end",
    ),
    (
        "play.luau",
        "rb.finish(\"{} let go\", seat)",
        "if rb.roll(\"1d6\", \"luck\") > 6 then rb.finish(\"{} let go\", seat) end",
        "if rb.roll(\"1d6\", \"luck\") >= 6 then rb.finish(\"{} let go\", seat) end",
    ),
    ("verbs.luau", "math.abs(rope.at)", "math.max(0, rb.each(\"rope\"))", "math.max(0, #rb.each(\"rope\"))"),
    // A member or a function of another environment
    ("play.luau", "\"What does \" .. puller.name", "\"What does \" .. puller.Name", "\"What does \" .. puller.name"),
    ("play.luau", "\"What does \" .. puller.name", "\"What does \" .. puller:name()", "\"What does \" .. puller.name"),
    (
        "play.luau",
        "about = puller,",
        "about = table.join({ puller }, \"\"),",
        "about = table.concat({ puller }, \"\"),",
    ),
    // One token that is missing, superfluous or misspelt
    ("maneuvers/rest.luau", "rests >= 2 then", "rests >= 2", "rests >= 2 then"),
    ("maneuvers/rest.luau", "resolve = function(ctx)", "resolve = fucntion(ctx)", "resolve = function(ctx)"),
    ("maneuvers/rest.luau", "return false, `", "retrun false, `", "return false, `"),
    ("maneuvers/rest.luau", "return true", "true", "return true"),
    ("maneuvers/pull.luau", "local won", "locla won", "local won"),
    ("maneuvers/pull.luau", "title = \"Pull\",", "title = \"Pull,", "title = \"Pull\","),
    ("maneuvers/pull.luau", "\"{} pulls\", ctx.actor)", "\"{} pulls\", ctx.actor))", "\"{} pulls\", ctx.actor)"),
    (
        "play.luau",
        "rb.finish(\"{} let go\", seat)",
        "rb.finish(\"{} let go\", seat,)",
        "rb.finish(\"{} let go\", seat)",
    ),
    // Values of other types, and those out of bounds by a digit
    ("kinds.luau", "default = 5", "default = \"5\"", "default = 5"),
    ("kinds.luau", "default = 5", "default = 50", "default = 5"),
    ("kinds.luau", "min = 0, max = 10", "min = 10, max = 0", "min = 0, max = 10"),
    ("ruleset.toml", "default = 3", "default = 300", "default = 20"),
    // The only name that nothing else mentions
    (
        "play.luau",
        "seats = { \"left\", \"right\" }",
        "seats = { \"left\", \"north\" }",
        "seats = { \"left\", \"right\" }",
    ),
    // Texts and sums
    (
        "play.luau",
        "\"What does \" .. puller.name .. \" do?\"",
        "\"What does \" + puller.name + \" do?\"",
        "\"What does \" .. puller.name .. \" do?\"",
    ),
    (
        "kinds.luau",
        "rb.sum(\"strength\", self.strength) + rb.sum(\"every pull\", 1)",
        "rb.sum(self.strength, \"strength\", 1, \"every pull\")",
        "rb.sum(\"strength\", self.strength, \"every pull\", 1)",
    ),
    (
        "maneuvers/rest.luau",
        "return false, `{ctx.actor.name} has rested twice (TUG-2)`",
        "return false, \"{} rests {} times\", ctx.actor.rests",
        "return false, \"{} rests {} times\", ctx.actor, ctx.actor.rests",
    ),
    // A loss is added, and not set
    (
        "maneuvers/rest.luau",
        "ctx.actor:add(\"rests\", 1)",
        "ctx.actor:set(\"rests\", -1)",
        "ctx.actor:add(\"rests\", -1)",
    ),
    // A choice of other code
    (
        "maneuvers/rest.luau",
        "\"{} rests\", ctx.actor)",
        "\"{} rests\", ctx.actor.rests > 1 and nil or ctx.actor)",
        "\"{} rests\", if ctx.actor.rests > 1 then nil else ctx.actor)",
    ),
    // Data and specs
    ("scenarios/two.toml", "left = \"Ann\"", "-- who\nleft = \"Ann\"", "# who\nleft = \"Ann\""),
    ("ruleset.toml", "scenario = ", "scenari = ", "scenario = "),
    (
        "specs/maneuvers/rest.luau",
        "\tt:given(\"two\")\n",
        "\tt:given(\"two\")\n\tt:given(\"two\")\n",
        "\tt:given(\"two\")\n",
    ),
];

#[test]
fn a_mistake_is_edited_to_what_was_meant() {
    let wrong = on_every_core(EDITED, |(path, from, mistake, meant)| {
        let path = format!("tug/{path}");
        let mut files = tug();
        let sound = files[&path].clone();
        assert!(sound.contains(from), "{path}: {from}");
        files.insert(path.clone(), sound.replacen(from, mistake, 1));
        let problems = found(files.clone());
        let Some(first) = problems.iter().find(|one| one.path == path) else {
            return Some(format!("{mistake}: {problems:#?}"));
        };
        let edits = fixes(first, &files[&path]);
        let Some(edit) = edits.first().filter(|edit| edit.is_preferred) else {
            return Some(format!("{mistake}: {first}: {edits:?}"));
        };
        let text = files.get_mut(&path).unwrap();
        text.replace_range(edit.range.clone(), &edit.new_text);
        let is_meant = *text == sound.replacen(from, meant, 1);
        (!is_meant).then(|| format!("{mistake}: {first}: {edits:?}"))
    });
    assert_eq!(wrong.into_iter().flatten().collect::<Vec<_>>(), Vec::<String>::new());
}

/// Mistakes in several files: the files with their texts, the file of the first finding, its lint, and a text that the
/// preferred change writes into the file; an empty one if no change is sure.
type Spread = (&'static [(&'static str, &'static str)], &'static str, &'static str, &'static str);

/// A card whose `resolve` has one statement.
macro_rules! walk {
    ($statement:literal) => {
        concat!(
            "local rb = require(\"@riskbreaker\")\nlocal luck = require(\"lib/luck\")\n\nreturn rb.maneuver({\n\tid = \"walk\",\n",
            "\ttitle = \"Walk\",\n\ttext = \"Walk.\",\n\tresolve = function(ctx)\n\t\t",
            $statement,
            "\n\tend,\n})\n"
        )
    };
}

const LUCK: &str = "local luck = {}\n\nfunction luck.of(n)\n\tif n > 3 then\n\t\treturn \"good\"\n\tend\n\treturn \
                    \"bad\"\nend\n\nfunction luck.number(n)\n\treturn n\nend\n\nreturn luck\n";

const SPREAD: &[Spread] = &[
    // What a function gives
    (
        &[
            ("lib/luck.luau", LUCK),
            (
                "maneuvers/walk.luau",
                walk!("if luck.of(luck.number(2)) == \"god\" then rb.say(\"{} walks\", ctx.actor) end"),
            ),
        ],
        "maneuvers/walk.luau",
        "impossible-value",
        "== \"good\" then",
    ),
    (
        &[
            (
                "lib/luck.luau",
                "local luck = {}\n\nfunction luck.of(n)\n\tif n > 3 then\n\t\treturn 5\n\tend\nend\n\nreturn luck\n",
            ),
            ("maneuvers/walk.luau", walk!("rb.act.move_rope(ctx.rope, luck.of(2), ctx.actor)")),
        ],
        "lib/luck.luau",
        "missing-return",
        "",
    ),
    (
        &[
            (
                "lib/luck.luau",
                "local rb = require(\"@riskbreaker\")\n\nlocal luck = {}\n\nfunction luck.of(who)\n\trb.under(\"1d10\", 5, \"{}\", who)\nend\n\nreturn luck\n",
            ),
            ("maneuvers/walk.luau", walk!("if luck.of(ctx.actor) then rb.act.move_rope(ctx.rope, 1, ctx.actor) end")),
        ],
        "lib/luck.luau",
        "missing-return",
        "\treturn rb.under(",
    ),
    (
        &[
            ("lib/luck.luau", "local luck = {}\n\nfunction luck.of(n)\n\tlocal half = n // 2\nend\n\nreturn luck\n"),
            ("maneuvers/walk.luau", walk!("rb.act.move_rope(ctx.rope, luck.of(2), ctx.actor)")),
        ],
        "lib/luck.luau",
        "missing-return",
        "\treturn n // 2",
    ),
    // A hook that runs the verb only where a house rule is on
    (
        &[(
            "hooks/slack.luau",
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"slack\",\n\talways = true,\n\twrap = {\n\t\tmove_rope = function(e, proceed)\n\t\t\tif rb.switches.wins_at > 9 then\n\t\t\t\te.by = 2\n\t\t\t\treturn proceed(e)\n\t\t\tend\n\t\tend,\n\t},\n})\n",
        )],
        "hooks/slack.luau",
        "hook-skips-verb",
        "\t\t\tend\n\t\t\treturn proceed(e)\n\t\tend,",
    ),
    // Bounds
    (
        &[(
            "specs/weak.luau",
            "local rb = require(\"@riskbreaker\")\n\nrb.spec(\"TUG-2: weak\", { \"TUG-2\" }, function(t)\n\tt:given(\"two\")\n\tt:expect({ Ann = { strength = 11 } })\nend)\n",
        )],
        "specs/weak.luau",
        "impossible-expectation",
        "strength = 10 }",
    ),
    (
        &[
            ("lib/luck.luau", LUCK),
            ("maneuvers/walk.luau", walk!("rb.act.move_rope(ctx.rope, math.clamp(luck.number(2), 3, 1), ctx.actor)")),
        ],
        "maneuvers/walk.luau",
        "empty-range",
        "2), 1, 3)",
    ),
    // Loops, rows of cases, a spec whose helper plays
    (
        &[
            ("lib/luck.luau", LUCK),
            (
                "maneuvers/walk.luau",
                walk!("for _, who in #rb.each(\"puller\") do rb.say(\"{} {}\", who, luck.of(1)) end"),
            ),
        ],
        "maneuvers/walk.luau",
        "loop-bound",
        "in rb.each(\"puller\") do",
    ),
    (
        &[(
            "specs/rows.luau",
            "local rb = require(\"@riskbreaker\")\n\nrb.cases(\"TUG-2: {rests}\", { \"TUG-2\" }, {\n\t{ rests = 1, far = 0 },\n\t{ rests = 2, place = 0 },\n}, function(t, case)\n\tt:given(\"two\")\n\tt:expect({ rope = { at = case.far } })\nend)\n",
        )],
        "specs/rows.luau",
        "unread-key",
        "rests = 2, far = 0 }",
    ),
    (
        &[(
            "specs/idle.luau",
            "local rb = require(\"@riskbreaker\")\n\nlocal function begin(t)\n\tt:given(\"two\")\nend\n\nrb.spec(\"TUG-2: idle\", { \"TUG-2\" }, function(t)\n\tbegin(t)\n\tt:play(\"Ann\", \"rest\")\nend)\n",
        )],
        "specs/idle.luau",
        "empty-spec",
        "",
    ),
    // A list with a misspelt text, and a sheet with a value that the field does not take
    (
        &[
            ("lib/luck.luau", LUCK),
            ("lib/deck.luau", "return { \"spade\", \"spade\", \"saber\", \"sabre\", \"spaed\" }\n"),
            (
                "maneuvers/walk.luau",
                walk!("if rb.draw(require(\"lib/deck\")) == \"spade\" then rb.say(luck.of(1)) end"),
            ),
        ],
        "lib/deck.luau",
        "misspelt-text",
        "\"sabre\", \"spade\" }",
    ),
];

#[test]
fn a_mistake_that_several_files_show_is_found() {
    let wrong = on_every_core(SPREAD, |(more, path, lint, meant)| {
        let mut files = tug();
        files.extend(more.iter().map(|(path, text)| (format!("tug/{path}"), (*text).to_owned())));
        let path = format!("tug/{path}");
        let problems = found(files.clone());
        let Some(first) = problems.iter().find(|one| one.path == path && one.lint == Some(lint)) else {
            return Some(format!("{path} {lint}: {problems:#?}"));
        };
        let mut text = files[&path].clone();
        let edit = fixes(first, &text).into_iter().next().filter(|edit| edit.is_preferred);
        match edit {
            None => (!meant.is_empty()).then(|| format!("{path} {lint}: no edit: {first}")),
            Some(_) if meant.is_empty() => Some(format!("{path} {lint}: {edit:?}")),
            Some(edit) => {
                text.replace_range(edit.range.clone(), &edit.new_text);
                (!text.contains(meant)).then(|| format!("{path} {lint}: {edit:?}"))
            }
        }
    });
    assert_eq!(wrong.into_iter().flatten().collect::<Vec<_>>(), Vec::<String>::new());
}

/// Mistakes without an edit: the file, a text in it, the text with the mistake, the lint, and a part of the finding.
const TOLD: &[(&str, &str, &str, &str, &str)] = &[
    ("verbs.luau", "math.abs(rope.at) >=", "rope.at > rope.at and math.abs(rope.at) >=", "same-operands", "never true"),
    (
        "maneuvers/pull.luau",
        "rb.under(\"1d10\", ctx.actor:need(),",
        "rb.at_least(\"1d10\", 11,",
        "impossible-value",
        "never succeeds",
    ),
    (
        "specs/maneuvers/rest.luau",
        "\tt:given(\"two\")\n",
        "\tt:given(\"two\")\n\tt:hidden(\"lfet\", \"x\")\n",
        "unknown-name",
        "did you mean `left`?",
    ),
    (
        "specs/maneuvers/rest.luau",
        "\tt:given(\"two\")\n",
        "\tt:seat(\"left\", \"nobdy\")\n\tt:given(\"two\")\n",
        "unknown-name",
        "no policy",
    ),
    ("specs/maneuvers/rest.luau", "\tt:given(\"two\")\n", "", "spec-position", "without a position"),
];

#[test]
fn a_mistake_without_an_edit_is_told() {
    for (path, from, mistake, lint, part) in TOLD {
        let path = format!("tug/{path}");
        let mut files = tug();
        let text = files.get_mut(&path).unwrap();
        assert!(text.contains(from), "{path}: {from}");
        *text = text.replacen(from, mistake, 1);
        let problems = found(files);
        let is_told = |one: &Problem| one.path == path && one.lint == Some(lint) && one.to_string().contains(part);
        assert!(problems.iter().any(is_told), "{mistake}: {problems:#?}");
    }
}

/// A row of `rb.cases` whose key the function of the cases does not read, and a `return` in the first round of a loop.
#[test]
fn rows_of_cases_and_returns_in_loops_are_read() {
    let spec = |key: &str| {
        let mut files = tug();
        let text = format!(
            "local rb = require(\"@riskbreaker\")\n\nrb.cases(\"TUG-2: {{rests}} rests\", {{ \"TUG-2\" }}, {{\n\t{{ rests = 1, at = 0 }},\n\t{{ rests = 2, {key} = 0 \
             }},\n}}, function(t, case)\n\tt:given(\"two\")\n\tt:expect({{ rope = {{ at = case.at }} }})\nend)\n"
        );
        files.insert("tug/specs/rows.luau".into(), text);
        found(files)
    };
    assert_eq!(spec("at"), []);
    let told = spec("ta");
    assert_eq!(names(&told), ["tug/specs/rows.luau:5 unread-key"]);
    assert!(told[0].cure.as_ref().is_some_and(|cure| *cure == "did you mean `at`?"), "{told:?}");
    let early = "\t\tlocal all = {}\n\t\tfor _, who in ipairs(rb.each(\"puller\")) do\n\t\t\ttable.insert(all, who)\n\t\t\treturn all\n\t\tend";
    let files = with_line(early);
    let told = found(files.clone());
    assert_eq!(names(&told), ["tug/maneuvers/example.luau:11 return-in-loop"], "{told:#?}");
    let text = &files["tug/maneuvers/example.luau"];
    let edits = fixes(&told[0], text);
    assert_eq!(edits.len(), 1);
    let mut text = text.clone();
    text.replace_range(edits[0].range.clone(), &edits[0].new_text);
    assert!(text.contains("table.insert(all, who)\n\t\tend\n\t\treturn all\n"), "{text}");
}

/// A copy of the data of an attachment has the names that the hook declares, whether or not a script writes them as keys.
#[test]
fn a_copy_of_the_data_of_a_hook_has_its_names() {
    let with_changed = |name: &str| {
        let mut files = tug();
        let hook = format!(
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({{\n\tid = \"slack\",\n\tdata = {{ coils = rb.int() }},\n\tbefore = {{\n\t\tmove_rope = function(_e, holder)\n\t\t\tlocal data = table.clone(holder.data)\n\t\t\t\
             data.{name} -= 1\n\t\t\trb.set_data(holder.id, data)\n\t\tend,\n\t}},\n}})\n"
        );
        files.insert("tug/hooks/slack.luau".into(), hook);
        let pull = files.get_mut("tug/maneuvers/pull.luau").unwrap();
        *pull = pull.replacen(
            "resolve = function(ctx)\n",
            "resolve = function(ctx)\n\t\trb.attach(\"slack\", ctx.actor, ctx.actor.coil)\n",
            1,
        );
        let problems = found(files);
        problems.into_iter().filter(|problem| problem.path == "tug/hooks/slack.luau").collect::<Vec<_>>()
    };
    assert_eq!(with_changed("coils"), []);
    assert_eq!(names(&with_changed("colis")), ["tug/hooks/slack.luau:9 unknown-member"]);
}

/// A conversion reads what the ruleset from which a game comes declares, if it is in the library.
#[test]
fn a_conversion_reads_the_fields_of_the_old_rules() {
    let with_read = |field: &str| {
        let mut files = tug();
        let old: Vec<(String, String)> =
            files.iter().map(|(path, text)| (path.replacen("tug/", "old-tug/", 1), text.clone())).collect();
        files.extend(old);
        let manifest = files.get_mut("old-tug/ruleset.toml").unwrap();
        *manifest = manifest.replacen("\"tug\"", "\"old-tug\"", 1);
        let kinds = files.get_mut("old-tug/kinds.luau").unwrap();
        *kinds = kinds.replace("rests =", "breaks =").replace("\"rests\"", "\"breaks\"");
        let conversion = format!(
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.convert({{\n\tid = \"old-tug\",\n\ttext = \"Breaks \
             become rests.\",\n\trun = function(change)\n\t\tfor _, puller in ipairs(rb.each(\"puller\")) do\n\t\t\tlocal was = \
             change.was(puller)\n\t\t\tpuller:set(\"rests\", was.{field})\n\t\tend\n\tend,\n}})\n"
        );
        files.insert("tug/convert/old-tug.luau".into(), conversion);
        found(files)
    };
    assert_eq!(with_read("breaks"), []);
    let told = with_read("braeks");
    assert_eq!(names(&told), ["tug/convert/old-tug.luau:9 old-value"], "{told:#?}");
    assert!(told[0].cure.as_ref().is_some_and(|cure| *cure == "did you mean `breaks`?"), "{told:?}");
}

/// The lints whose cures are advice: what to write depends on what the author means. Their good example is the bad one
/// after the advice.
const ADVICE: &[&str] = &[
    "always-true",
    "argument-count",
    "argument-member",
    "argument-type",
    "call-of-value",
    "cast-fails",
    "conflict-copy",
    "duplicate-function",
    "duplicate-key",
    "duplicate-option",
    "duplicate-parameter",
    "empty-block",
    "empty-spec",
    "endless-loop",
    "entity-keys",
    "hook-parameters",
    "hook-recursion",
    "hook-skips-verb",
    "impossible-value",
    "incomplete-question",
    "invalid-dice",
    "kept-state",
    "lost-value",
    "may-be-nil",
    "missing-actor",
    "missing-kind",
    "missing-return",
    "never-nil",
    "never-open",
    "no-relation",
    "operator-order",
    "options-shape",
    "outer-change",
    "result-of-sort",
    "same-condition",
    "same-operands",
    "switch-assignment",
    "text-places",
    "unknown-context-member",
    "unknown-variable",
    "unreachable-code",
    "unread-file",
    "unread-switch",
    "unseen-field",
    "untyped-verb",
    "unused-below",
    "value-count",
];

/// Whether a finding says that a file cannot be read or loaded.
fn is_broken(problem: &Problem) -> bool {
    matches!(problem.lint, Some("syntax" | "load" | "unexamined"))
}

/// Whether a change has made a file unreadable that was valid before.
fn is_broken_by(after: &[Problem], before: &[Problem]) -> bool {
    after.iter().any(is_broken) && !before.iter().any(is_broken)
}

/// A bad example after the first change that each finding of the lint names, one after the other; `None` if one of them
/// names no change.
fn cured(lint: &Lint) -> Option<BTreeMap<String, String>> {
    let mut files = with(&lint.bad);
    for _ in 0..4 {
        let left = found(files.clone());
        let Some(problem) = left.iter().find(|problem| problem.lint == Some(lint.name)) else { return Some(files) };
        let text = files.get_mut(&problem.path)?;
        let fix = fixes(problem, text).into_iter().next()?;
        text.replace_range(fix.range, &fix.new_text);
    }
    Some(files)
}

/// Each cure is applied: those that name a change to the bad example, advice as the good example writes it. Nothing that
/// the lint finds is left, and the files still load.
#[test]
fn each_cure_can_be_applied_and_leaves_nothing_of_its_lint() {
    let cured = on_every_core(LINTS, |lint| {
        let changed = cured(lint);
        let is_advice = changed.is_none();
        let left = found(changed.unwrap_or_else(|| with(&lint.good)));
        let left: Vec<Problem> =
            left.into_iter().filter(|problem| problem.lint == Some(lint.name) || is_broken(problem)).collect();
        let wrong = (!left.is_empty()).then(|| format!("{}: {left:#?}", lint.name));
        (is_advice.then_some(lint.name), wrong)
    });
    let wrong: Vec<String> = cured.iter().filter_map(|(_, wrong)| wrong.clone()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let advice: BTreeSet<&str> = cured.iter().filter_map(|(advice, _)| *advice).collect();
    assert_eq!(advice, ADVICE.iter().copied().collect());
}

/// A cure that writes out a piece of code, without a place for something else in it, is a change.
#[test]
fn a_cure_that_writes_out_code_can_be_applied() {
    let wrong = on_every_core(LINTS, |lint| {
        let files = with(&lint.bad);
        let mut wrong = Vec::new();
        for problem in found(files.clone()) {
            let Some(text) = files.get(&problem.path) else { continue };
            let cure = problem.cure.as_ref().map(ToString::to_string).unwrap_or_default();
            let code = cure.strip_prefix("write `").and_then(|rest| rest.strip_suffix('`'));
            let is_written_out = code.is_some_and(|code| !code.contains("...") && !code.contains('`'));
            if is_written_out && fixes(&problem, text).is_empty() {
                wrong.push(format!("{}: {problem}", lint.name));
            }
        }
        wrong
    });
    assert_eq!(wrong.concat(), Vec::<String>::new());
}

/// The files of the check below its contents page import each other in one direction.
#[test]
fn the_files_of_the_check_have_no_import_cycle() {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/check/src"));
    for (name, text) in &files {
        let uses = text.split(";\n").filter_map(|piece| piece.rsplit_once("use crate::").map(|(_, path)| path));
        let modules = uses.flat_map(|path| {
            let (head, names) = path.split_once('{').unwrap_or((path, ""));
            let names: Vec<&str> = names.trim_end_matches('}').split(',').map(str::trim).collect();
            names.into_iter().map(|name| format!("{head}{name}")).collect::<Vec<_>>()
        });
        let named = modules.filter_map(|path| {
            let mut parts: Vec<&str> = path.split("::").collect();
            while !parts.is_empty() && !files.contains_key(&parts.join("::")) {
                parts.pop();
            }
            (!parts.is_empty()).then(|| parts.join("::"))
        });
        imports.insert(name.clone(), named.filter(|other| other != name).collect());
    }
    assert!(imports["reader"].contains("inference") && imports["lints::endless_loop"].contains("reader"));
    // A file that imports only files outside of the rest is in no cycle.
    while let Some(name) = imports.iter().find(|(_, others)| others.is_empty()).map(|(name, _)| name.clone()) {
        imports.remove(&name);
        for others in imports.values_mut() {
            others.remove(&name);
        }
    }
    assert!(imports.is_empty(), "in or above a cycle: {imports:#?}");
}

/// The files of Rust in a folder by their modules: `reader::word`; `reader/mod.rs` is `reader`.
fn rust_files(root: &Path) -> BTreeMap<String, String> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(root).unwrap().with_extension("");
            let parts: Vec<&str> =
                inside.iter().map(|part| part.to_str().unwrap()).filter(|part| *part != "mod").collect();
            files.insert(parts.join("::"), fs::read_to_string(&path).unwrap());
        }
    }
    files
}

#[test]
fn each_lint_has_its_page_in_the_book() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lints");
    let pages: BTreeMap<String, String> = LINTS.iter().map(|lint| (format!("{}.md", lint.name), lint.page())).collect();
    if std::env::var("BOOK").is_ok_and(|how| how == "overwrite") {
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        pages.iter().for_each(|(name, page)| fs::write(folder.join(name), page).unwrap());
    }
    let mut written = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
        written.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), text);
    }
    assert_eq!(written, pages, "docs/lints is old: BOOK=overwrite cargo test --test lints");
}
