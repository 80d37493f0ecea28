//! The specs of the rulesets, and the spec runner.

mod mutants;
mod parallel;
mod together;

use mutants::mutants;
use parallel::on_every_core;
use riskbreaker::spec::{RuleStatus, SpecChoice, SpecReach, SpecReport, SpecRun, SpecSource, run_specs};
use riskbreaker::{Library, Ruleset, WorkBudget};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder(path: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Runs specs without those of the ruleset.
fn run_only(library: &Library, id: &str, further: Vec<SpecSource>, filter: Option<&str>) -> SpecReport {
    let run = SpecRun { further, only_further: true, filter: filter.map(str::to_owned), ..SpecRun::default() };
    run.of(library, id, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks that the specs of every ruleset pass, and cover every rule except the game master's.
fn is_proved(library: &Library) {
    let ids: Vec<String> = library.ids().iter().flat_map(|id| library.ways_to_play(id)).collect();
    let all_wrong = on_every_core(&ids, |id| {
        // The specs below a layer are run for the ruleset that they belong to.
        let run = SpecRun { only_layers: true, budget: WorkBudget::new(SpecRun::WORK), ..SpecRun::default() };
        let report = run.of(library, id, &[]).unwrap_or_else(|error| panic!("{error}"));
        let mut wrong: Vec<String> = report.broken.iter().map(|fault| fault.to_string()).collect();
        wrong.extend(report.results.iter().filter_map(|result| {
            let failure = result.failure.as_ref()?;
            Some(format!("{}: {}: {}", result.path, result.name, failure.fault))
        }));
        wrong.extend(report.warnings().map(|(result, warning)| format!("{}: {}", result.path, warning.text)));
        let uncovered = report.coverage.rules.iter().filter(|rule| rule.status == RuleStatus::Uncovered);
        wrong.extend(uncovered.map(|rule| format!("{} is covered by no spec", rule.id)));
        wrong.extend(report.coverage.unknown.iter().map(|rule| format!("a spec names {rule}, which RULES.md lacks")));
        if report.passed() == 0 && !report.coverage.rules.is_empty() {
            wrong.push("it has rules and no specs".into());
        }
        wrong.into_iter().map(|wrong| format!("{id}: {wrong}")).collect::<Vec<_>>()
    });
    let all_wrong = all_wrong.concat();
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
}

/// The blocks of the README in a language, in their order.
fn readme_blocks(language: &str) -> Vec<String> {
    let text = include_str!("../README.md");
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_string()).collect()
}

fn readme_block(language: &str, with: &str) -> String {
    readme_blocks(language).into_iter().find(|block| block.contains(with)).unwrap_or_else(|| panic!("no block: {with}"))
}

/// The files of `tug`, with some texts replaced: path, old text, new text.
fn tug_with(changes: &[(&str, &str, &str)]) -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets/tug");
    let (mut folders, mut files) = (vec![root.clone()], Vec::<(String, String)>::new());
    while let Some(folder) = folders.pop() {
        let paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            let mut text = std::fs::read_to_string(&path).unwrap();
            for (_, old, new) in changes.iter().filter(|(changed, ..)| *changed == name) {
                assert!(text.contains(old), "{name}: {old}");
                text = text.replace(old, new);
            }
            files.push((format!("tug/{name}"), text));
        }
    }
    Library::from_files(files)
}

/// The names of the specs that a change of `tug` affects, by the lines that they ran before; `None` for all.
fn touched(reach: &SpecReach, changes: &[(&str, &str, &str)]) -> Option<Vec<String>> {
    let SpecChoice { files, specs, .. } = reach.touched_by(&Ruleset::load(&tug_with(changes), "tug").unwrap())?;
    let names = specs.into_iter().map(|(_, name)| name.chars().take(16).collect());
    Some(files.into_iter().chain(names).collect())
}

#[test]
fn a_changed_line_affects_the_specs_that_ran_it() {
    let mut reach = SpecReach::default();
    // On one thread, so that no spec counts the lines of another one: each file alone.
    for file in ["pull.luau", "rest.luau"] {
        let run = SpecRun { filter: Some(file.into()), ..SpecRun::default() };
        assert!(run.with_reach(&tug_with(&[]), "tug", &[], &mut reach).unwrap().is_green());
    }
    let (pull, rest) = ("maneuvers/pull.luau", "maneuvers/rest.luau");
    let pulled = Some(vec!["TUG-1: a roll un".to_owned(), "TUG-1: the lowes".to_owned()]);
    let rested = Some(vec!["TUG-2: nobody re".to_owned()]);
    assert_eq!(touched(&reach, &[]), Some(Vec::new()));
    assert_eq!(touched(&reach, &[(pull, "{} pulls", "{} tugs")]), pulled);
    assert_eq!(touched(&reach, &[(rest, "{} rests", "{} sleeps")]), rested);
    // Whether a card is open is asked in all of them; a fact of a card has no line that a spec runs, and so affects those that ran
    // any line of its file.
    let all = |found: Option<Vec<String>>| found.map(|names| names.len());
    assert_eq!(all(touched(&reach, &[(rest, "rests >= 2", "rests > 1")])), Some(3));
    assert_eq!(touched(&reach, &[(pull, "title = \"Pull\"", "title = \"Tug\"")]), pulled);
    assert_eq!(
        touched(&reach, &[("specs/maneuvers/rest.luau", "1, 2", "1, 1 + 1")]),
        Some(vec!["tug/specs/maneuvers/rest.luau".into()])
    );
    // Data, and new files, may affect all.
    assert_eq!(touched(&reach, &[("scenarios/two.toml", "title", "text = \"x\"\ntitle")]), None);

    // After a run of the affected specs, the lines of the others are those of the changed file.
    let longer = [(rest, "\twhen = ", "\t-- A comment.\n\n\twhen = ")];
    let changed = tug_with(&longer);
    assert_eq!(all(touched(&reach, &longer)), Some(3));
    let files = BTreeSet::from(["tug/specs/maneuvers/rest.luau".to_owned()]);
    let run = SpecRun { only: Some(SpecChoice { files, ..SpecChoice::default() }), ..SpecRun::default() };
    assert_eq!(run.with_reach(&changed, "tug", &[], &mut reach).unwrap().passed(), 1);
    assert_eq!(touched(&reach, &longer), Some(Vec::new()));
    let open = [longer[0], (rest, "rests >= 2", "rests > 1")];
    assert_eq!(all(touched(&reach, &open)), Some(3));
    let both = [longer[0], (rest, "{} rests", "{} sleeps")];
    assert_eq!(touched(&reach, &both), rested);
}

/// A question of a free act with only one possible answer is not asked; answers to it are compared.
#[test]
fn the_result_of_a_free_act_without_questions_can_be_expected() {
    let library = folder("rulesets");
    let spec = include_str!("../rulesets/contest/specs/cases/gm.luau");
    let act = "t:free(\"players\", \"drop_pack\")";
    assert!(spec.contains(act));
    for (who, holds) in [("Ann", true), ("Bob", false)] {
        let text = spec.replace(act, &format!("t:free(\"players\", \"drop_pack\", {{ who = \"{who}\" }})"));
        let source = SpecSource { path: "free.luau".into(), text };
        let report = run_only(&library, "contest", vec![source], Some("CON-016: the pack is dropped"));
        assert_eq!((report.results.len(), report.is_green()), (1, holds), "{who}: {:?}", report.results);
    }
}

/// Two house rules change one test: one rerolls, the other reads the face. In either order there is one visible roll.
#[test]
fn two_house_rules_that_touch_the_same_test_stack() {
    let library = folder("rulesets");
    for (id, card, ahead) in
        [("riskbreaker-0.0.1", "advantage", "0"), ("riskbreaker-0.0.3", "gain_advantage", "{ 0, 0 }")]
    {
        let text = format!(
            r#"local rb = require("@riskbreaker")
            local function play(t, ...)
                t:given({{ us = {{ "A = M5: Sword; A4: Dodge" }}, them = {{ "Foe = M4: Knife" }}, advantage = {ahead}, turns = {{ "A" }} }})
                t:dice(...)
                t:play("A", "{card}", {{ skill = "Dodge", risk = 2 }})
            end
            rb.spec("stacked: the second roll is a 1", {{}}, function(t)
                play(t, 10, 1)
                t:said("A rolls again")
                t:said("a critical success of A")
                t:expect({{ A = {{ advantage = 3 }} }})
            end)
            rb.spec("stacked: the second roll is none", {{}}, function(t)
                play(t, 10, 3)
                t:expect({{ A = {{ advantage = 2 }} }})
            end)
            rb.spec("stacked: the first roll is a 1", {{}}, function(t)
                play(t, 1)
                t:expect({{ A = {{ advantage = 3 }} }})
            end)"#
        );
        for layers in [["house-second-roll", "house-critical"], ["house-critical", "house-second-roll"]] {
            let layers = layers.map(str::to_owned);
            let source = SpecSource { path: "stacked.luau".into(), text: text.clone() };
            let report = run_specs(&library, id, &layers, vec![source], Some("stacked:")).unwrap();
            assert!(report.is_green() && report.passed() == 3, "{id} {layers:?}: {:?}", report.results);
        }
    }
}

/// House rules copied from the README: the manifest and the card.
#[test]
fn the_readmes_card_works_in_both_versions() {
    let card = readme_block("luau", "\"taunt\"");
    assert!(card.lines().count() < 20, "{card}");
    let manifest = readme_block("toml", "my-house");
    let library = Library::overlay(
        Library::from_files([("my-house/ruleset.toml", manifest), ("my-house/maneuvers/taunt.luau", card)]),
        folder("rulesets"),
    );
    assert_eq!(library.ways_to_play("my-house"), ["riskbreaker-0.0.1+my-house", "riskbreaker-0.0.3+my-house"]);
    for (name, kill, behind) in
        [("riskbreaker-0.0.1", "kill_damage", "-2"), ("riskbreaker-0.0.3", "inflict_kill", "{ 0, 2 }")]
    {
        let name = format!("{name}+my-house");
        let found = riskbreaker::check::findings(&library, &name, &[]);
        assert!(found.is_empty(), "{name}: {found:?}");
        let text = format!(
            r#"local rb = require("@riskbreaker")
            rb.spec("a taunted foe can name nobody else", {{}}, function(t)
                t:given({{
                    us = {{ "Ann = P4: Insult; M7: Sword", "Bob = M4: Sword" }}, them = {{ "Foe = M6: Axe" }},
                    advantage = {behind}, turns = {{ "Ann", "Foe" }},
                }})
                t:dice(3)
                t:play("Ann", "taunt", {{ skill = "Insult" }})
                t:refused("Foe", "{kill}", {{ risk = 1, targets = {{ "Bob" }} }}, "Foe is provoked by Ann")
                t:dice(2)
                t:play("Foe", "{kill}", {{ risk = 1 }})
                t:expect({{ Ann = {{ kill_damage = 1 }}, Bob = {{ kill_damage = 0 }} }})
            end)"#
        );
        let source = SpecSource { path: "taunt.luau".into(), text };
        let report = run_only(&library, &name, vec![source], None);
        assert!(report.is_green() && report.passed() == 1, "{name}: {:?}", report.results);
    }
}

#[test]
fn a_layer_over_an_unknown_name_is_reported() {
    let manifest = "id = \"low\"\ntitle = \"Low\"\nversion = \"1\"\nover = [\"tug\", \"tugg\"]\n";
    let library = Library::overlay(Library::from_files([("low/ruleset.toml", manifest)]), folder("tests/rulesets"));
    assert_eq!(library.ways_to_play("low"), ["tug+low"]);
    let found: Vec<String> =
        riskbreaker::check::findings(&library, "tug+low", &[]).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("low/ruleset.toml:4:16: `over` names `tugg`, which is not there"), "{found:?}");
}

/// Two layers may not both declare a field, unless one says that it comes after the other.
#[test]
fn layers_that_change_the_same_field_are_reported_with_both_files() {
    let layer = |id: &str, more: &str| {
        let manifest = format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\nover = [\"tug\"]\n{more}");
        let card = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.extend(rb.maneuver({{ id = \"pull\", text = \"{id}\" }}))"
        );
        [(format!("{id}/ruleset.toml"), manifest), (format!("{id}/maneuvers/pull.luau"), card)]
    };
    let load = |more: &str| {
        let files = layer("low", "").into_iter().chain(layer("high", more));
        let library = Library::overlay(Library::from_files(files), folder("tests/rulesets"));
        riskbreaker::Ruleset::load(&library, "tug+low+high")
    };
    let told = load("").unwrap_err().to_string();
    for part in
        ["two layers change `pull/text`", "low/maneuvers/pull.luau", "high/maneuvers/pull.luau", "after = [\"low\"]"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let rules = load("after = [\"low\"]").unwrap();
    let card = rules.card("pull").unwrap();
    assert_eq!((card.text.as_str(), card.origins["text"].as_str()), ("high", "high/maneuvers/pull.luau"));
}

#[test]
fn all_specs_of_the_test_rulesets_pass() {
    is_proved(&folder("tests/rulesets"));
}

#[test]
fn all_specs_of_the_shipped_rulesets_pass() {
    is_proved(&folder("rulesets"));
}

/// Makes a sample of the expected values of a ruleset's specs wrong, in turn: the spec must fail.
fn no_mutant_survives(id: &str) {
    let library = folder("rulesets");
    let rules = Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
    let mut all = Vec::new();
    for (path, text) in rules.specs().filter(|(path, _)| path.starts_with(id)) {
        let found = mutants(text).into_iter();
        all.extend(found.map(|mutant| {
            let name = format!("{path}:{}: {} -> {}", mutant.line, mutant.was, mutant.now);
            SpecSource { path: name, text: mutant.text }
        }));
    }
    let wanted = std::env::var("RISKBREAKER_MUTANTS").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(40);
    let step = (all.len() / usize::max(wanted, 1)).max(1);
    let sample: Vec<SpecSource> = all.into_iter().step_by(step).collect();
    let names: Vec<String> = sample.iter().map(|source| source.path.clone()).collect();
    let report = run_only(&library, id, sample, None);
    assert!(report.broken.is_empty(), "{:?}", report.broken);
    let died = |name: &String| report.results.iter().any(|spec| spec.path == *name && spec.failure.is_some());
    let survivors: Vec<&String> = names.iter().filter(|name| !died(name)).collect();
    assert!(survivors.is_empty(), "{id}: {} of {} survive:\n{survivors:#?}", survivors.len(), names.len());
}

/// With `RISKBREAKER_MUTANTS=100000` all of them are played, in this test and the next.
#[test]
fn specs_of_0_0_1_whose_expected_values_are_mutated_fail() {
    no_mutant_survives("riskbreaker-0.0.1");
}

#[test]
fn specs_of_0_0_3_whose_expected_values_are_mutated_fail() {
    no_mutant_survives("riskbreaker-0.0.3");
}

/// Runs one spec against the tug of war and returns the message of its failure.
fn failure(body: &str) -> String {
    failure_in("tests/rulesets", "tug", body)
}

/// Runs one spec against a ruleset, without its own specs.
fn report_of(rulesets: &str, id: &str, body: &str) -> SpecReport {
    let text = format!("local rb = require(\"@riskbreaker\")\nrb.spec(\"it\", {{}}, function(t)\n{body}\nend)\n");
    run_only(&folder(rulesets), id, vec![SpecSource { path: "it.luau".into(), text }], None)
}

/// Runs one spec against a ruleset, and returns the message of its failure.
fn failure_in(rulesets: &str, id: &str, body: &str) -> String {
    let report = report_of(rulesets, id, body);
    assert_eq!(report.results.len(), 1, "{:?}", report.broken);
    report.results[0].failure.as_ref().map_or(String::new(), |failure| failure.fault.to_string())
}

#[test]
fn a_passing_spec_has_no_output() {
    assert_eq!(
        failure("t:given('two') t:dice(5) t:play('Ann', 'pull', { risk = 1 }) t:expect({ rope = { at = -1 } })"),
        ""
    );
}

#[test]
fn dice_are_written_as_faces_alone_or_in_lists() {
    for (dice, told) in [("{ 5 }, 4", "1 of the dice was not rolled"), ("{ 5, 'six' }", "not six"), ("{ 0 }", "not 0")]
    {
        let message = failure(&format!("t:given('two') t:dice({dice}) t:play('Ann', 'pull')"));
        assert!(message.contains(told), "{dice}: {message}");
    }
}

/// The first pawn plays safe by default. The spec answers for everybody that it pushes.
#[test]
fn odds_of_a_card_answer_no_question_of_another_seat() {
    for (is_about, who) in [(true, "Pawn 2"), (false, "south")] {
        for seats in [2, 3] {
            let odds = |sum: i64, chance: &str| {
                let wanted = format!("{{ [\"Pawn 1\"] = {{ sum = 3 }}, [\"Pawn 2\"] = {{ sum = {sum} }} }}");
                format!("t:odds(\"{who}\", \"bold\", {{ push = true }}, {wanted}, \"{chance}\")")
            };
            let body = format!("t:given({{}})\n{}\n{}", odds(1, "3/5"), odds(5, "2/5"));
            let text =
                format!("local rb = require(\"@riskbreaker\")\nrb.spec(\"it\", {{}}, function(t)\n{body}\nend)\n");
            let source = SpecSource { path: "it.luau".into(), text };
            let library = together::library(together::ALL, is_about, seats);
            let report = run_only(&library, "together", vec![source], None);
            assert!(report.is_green() && report.results.len() == 1, "{who}: {:?}", report.results);
        }
    }
}

#[test]
fn leftovers_fail_a_spec() {
    assert!(failure("t:given('two') t:dice(5, 5) t:play('Ann', 'pull', { risk = 1 })").contains("not rolled"));
    assert!(failure("t:given('two') t:play('Ann', 'pull', { risk = 1 })").contains("have run out"));
    assert!(failure("t:given('two') t:play('Bob', 'rest')").contains("`card` of Ann is open first"));
    assert!(failure("t:given('two') t:play('Ann', 'rest', { risk = 1 })").contains("nothing asks for `risk`"));
}

#[test]
fn a_failed_expectation_reports_the_found_value() {
    let message = failure("t:given('two') t:play('Ann', 'rest')\nt:expect({ Ann = { rests = 2 } })");
    assert_eq!(message, "it.luau:4: Ann.rests: expected 2, found 1");
    assert!(failure("t:given('two') t:expect({ Ann = { rest = 2 } })").contains("did you mean `rests`"));
    assert!(
        failure("t:given('two') t:play('Ann', 'rest') t:expect({ Ann = 'unchanged' })")
            .contains("rests has changed: 0 -> 1")
    );
}

/// A look at the middle of an action does not assume the defaults of its later questions.
#[test]
fn a_look_into_the_middle_of_an_action_takes_no_defaults() {
    let begun = "t:given('two') t:dice(5) t:play('Ann', 'pull') ";
    let looked = format!("{begun}t:equal(t:value('rope', 'at'), 0) ");
    let message = failure(&looked);
    assert!(message.contains("rope.at was looked up in the middle of an action: 0 there, -1 at its end"), "{message}");
    assert_eq!(failure(&format!("{looked}t:answer('risk', 2) t:expect({{ rope = {{ at = -2 }} }})")), "");
    assert_eq!(failure(&format!("{begun}t:expect({{ rope = {{ at = -1 }} }}) t:equal(t:value('rope', 'at'), -1)")), "");
    // A value that the rest of the action does not change can be read in its middle.
    assert_eq!(failure(&format!("{begun}t:equal(t:value('Ann', 'rests'), 0)")), "");
    assert_eq!(failure(&format!("{begun}t:equal(t:titles('puller'), {{ 'Ann', 'Bob' }})")), "");
}

/// A free act with questions is played to its end before any expectation or look.
#[test]
fn a_free_act_is_done_before_anything_is_expected() {
    let given = "t:given({ us = { 'A = M5: Sword' }, them = { 'B = M5: Sword' }, advantage = { 0, 0 }, turns = { 'A' }, \
                 goal = { name = 'way', difficulty = 4, advantage = 1 } }) ";
    let new = |body: &str| failure_in("rulesets", "riskbreaker-0.0.3", &format!("{given}{body}"));
    let ended = "t:ongoing() for _, q in ipairs(t:open()) do t:equal(q.topic == 'oppose', false) end";
    for look in ["", "t:asked('card') "] {
        let asks = new(&format!("{look}t:free('gm', 'oppose') t:equal(t:open()[1].topic, 'oppose') t:undo()"));
        assert_eq!(asks, "");
        let message = new(&format!("{look}t:free('gm', 'oppose') {ended}"));
        assert!(message.is_empty() || message.contains("a question is left open"), "{message}");
    }
    assert_eq!(
        new(&format!("t:free('gm', 'oppose') {ended}")),
        new(&format!("t:asked('card') t:free('gm', 'oppose') {ended}"))
    );
}

#[test]
fn a_list_is_not_one_answer() {
    let bounds = "{ kind = 'out_of_bounds' }";
    let message = failure(&format!("t:given('two') t:refused('Ann', 'pull', {{ risk = {{ 4, 1 }} }}, {bounds})"));
    assert!(message.contains("for another reason"), "{message}");
    let wrong = "{ kind = 'wrong_type', topic = 'risk' }";
    assert_eq!(failure(&format!("t:given('two') t:refused('Ann', 'pull', {{ risk = {{ 4, 1 }} }}, {wrong})")), "");
    let message = failure("t:given('two') t:dice(5) t:play('Ann', 'pull', { risk = { 2, 1 } })");
    assert!(message.contains("from 1 to 3"), "{message}");
}

/// Specs expect a refusal by its kind; those that expect the host's wording are told what to write instead.
#[test]
fn a_refusal_is_expected_by_its_kind_and_rule() {
    let refused = |wanted: &str| format!("t:given('two') t:refused('Ann', 'pull', {{ risk = 4 }}, {wanted})");
    assert_eq!(failure(&refused("{ kind = 'out_of_bounds', max = 3 }")), "");
    assert_eq!(failure(&refused("{ bound = { of = 'number', topic = 'risk' } }")), "");
    for (wanted, told) in [
        ("{ kind = 'out_of_bounds', max = 2 }", "for another reason: expected { kind = \"out_of_bounds\", max = 2 }"),
        ("{ kind = 'greyed' }", "for another reason"),
        ("{ kind = 'grayed' }", "no refusal is of the kind `grayed`; did you mean `greyed`?"),
        ("{ kind = 'greyed', max = 2 }", "a refusal of the kind `greyed` has no field `max`"),
        ("{}", "a refusal is expected as"),
    ] {
        let message = failure(&refused(wanted));
        assert!(message.contains(told), "{wanted}: {message}");
    }
    let skill = format!("{DUEL}t:answer('card', 'advantage') ");
    let by_rule = |rule: &str| format!("{skill}t:greyed('A', 'Sword', {{ rule = '{rule}' }}, 'skill') t:undo()");
    assert_eq!(old(&by_rule("RB1-080")), "");
    assert!(old(&by_rule("RB1-08")).contains("is closed for another reason"));
    let warned = |body: &str| {
        let report = report_of("tests/rulesets", "tug", body);
        assert!(report.is_green());
        report.warnings().map(|(_, warning)| (warning.line, warning.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(warned(&refused("{ kind = 'out_of_bounds', max = 3 }")), []);
    let text = "\"it must be 1 to 3\" is the host's own wording, which may change; write { kind = \"out_of_bounds\", \
                min = 1, max = 3 }";
    assert_eq!(warned(&refused("'it must be 1 to 3'")), [(Some(3), text.to_owned())]);
}

#[test]
fn a_misspelt_method_names_the_nearest() {
    let message = failure("t:given('two') t:expct({})");
    assert_eq!(message, "it.luau:3: a spec has no `t:expct`; did you mean `t:expect`?");
}

#[test]
fn a_refusal_is_expected_with_its_reason_first() {
    let played = "t:given('two') t:refused_because('Ann', 'pull', 'it must be 1 to 3', { risk = 4 })";
    assert_eq!(failure(played), "");
    let message = failure("t:given('two') t:refused_because('Ann', 'pull', 'too tired', { risk = 4 })");
    assert!(message.contains("for another reason: expected \"too tired\""), "{message}");
}

fn old(body: &str) -> String {
    failure_in("rulesets", "riskbreaker-0.0.1", body)
}

/// A position of 0.0.1 in which A acts, with 2 Advantage.
const DUEL: &str = "t:given({ us = { 'A = M5: Sword, Push; P4: Charm' }, them = { 'B = M4: Sword' }, advantage = 2, turns = { 'A', 'B' } }) ";

#[test]
fn only_an_answer_that_is_refused_is_a_refusal() {
    for (played, told) in [
        ("t:refused('Ann', 'pull', { risk = 1 }, 'risk')", "the written dice have run out"),
        ("t:refused('Ann', 'rest', { risk = 1 }, 'risk')", "was not refused: nothing asks for `risk`"),
        ("t:refused('Ann', 'pull', { risk = 4 }, '')", "say a part of the reason"),
        ("t:refused_because('Ann', 'pull', ' ', { risk = 4 })", "say a part of the reason"),
        ("t:refused('Ann', 'pull', { risk = 4 }, 'it must be 1 to 3')", ""),
        ("t:said('')", "say a part of the reason"),
    ] {
        let message = failure(&format!("t:given('two') {played}"));
        assert!(if told.is_empty() { message.is_empty() } else { message.contains(told) }, "{played}: {message}");
    }
}

#[test]
fn an_answer_to_any_question_is_refused_or_greyed() {
    let risk = "t:given('two') t:answer('card', 'pull') ";
    let on = " t:dice(5) t:answer('risk', 2) t:expect({ rope = { at = -2 } })";
    assert_eq!(failure(&format!("{risk}t:refused_answer('risk', 4, 'it must be 1 to 3'){on}")), "");
    let message = failure(&format!("{risk}t:refused_answer('risk', 4, 'too tired')"));
    assert!(message.contains("for another reason: expected \"too tired\""), "{message}");
    let message = failure(&format!("{risk}t:dice(5) t:refused_answer('risk', 3, 'risk')"));
    assert!(message.contains("the answer to `risk` was not refused"), "{message}");
    let skill = format!("{DUEL}t:answer('card', 'advantage') ");
    assert_eq!(
        old(&format!("{skill}t:greyed('A', 'Sword', 'RB1-080', 'skill') t:enabled('A', 'Push', 'skill') t:undo()")),
        ""
    );
    let message = old(&format!("{skill}t:greyed('A', 'Push', 'RB1-080', 'skill')"));
    assert!(message.contains("Push is open to A"), "{message}");
    let message = failure(&format!("{risk}t:greyed('Ann', '4', 'x', 'risk')"));
    assert!(message.contains("`risk` has no options"), "{message}");
}

#[test]
fn a_position_that_is_refused_is_expected_with_its_reason() {
    let wrong = "{ us = { 'A = M5: Sword' }, them = { 'B = M5: Sword' }, with = { A = 'Swrod' } }";
    assert_eq!(old(&format!("t:given_refused({wrong}, 'Sword') {DUEL}")), "");
    let message = old(&format!("t:given_refused({wrong}, 'Bow')"));
    assert!(message.contains("for another reason: expected \"Bow\""), "{message}");
    let message = old(&DUEL.replace("t:given(", "t:given_refused(").replace("}) ", "}, 'x')"));
    assert!(message.contains("the position was not refused"), "{message}");
}

#[test]
fn a_sheet_breaks_exactly_what_is_named() {
    let sheet = "'X = M6; W3: A, B, C, D'";
    let warned = "{ 'RB1-025: Fight skill', 'RB1-025: Maneuver' }";
    assert_eq!(old(&format!("t:breaches({sheet}, {{ 'RB1-008: 15 points' }}, {warned})")), "");
    let message = old(&format!("t:breaches({sheet}, {{ 'RB1-008' }})"));
    assert!(message.contains("RB1-025 was not expected"), "{message}");
    let message = old(&format!("t:breaches({sheet}, {{ 'RB1-008', 'RB1-010' }}, {warned})"));
    assert!(message.contains("expected RB1-010"), "{message}");
    // After a change of rules the sheet is checked by the new ones.
    let level = "'level 1; M6: Sword; A1: Maneuver; W1; P1'";
    let message =
        old(&format!("t:given({{ us = {{ 'fighter' }}, them = {{}} }}) t:rules('riskbreaker-0.0.3') t:legal({level})"));
    assert!(message.contains("RB3-008"), "{message}");
}

#[test]
fn misspelt_and_unasked_topics_are_reported() {
    let message = failure("t:given('two') t:dice(5) t:play('Ann', 'pull', { rsik = 1 })");
    assert!(message.contains("did you mean `risk`?"), "{message}");
    let message = failure("t:given('two') t:play('Ann', 'pull', { risk = 1 })");
    assert!(message.contains("d10 is rolled: Ann pulls, needs"), "{message}");
    assert!(message.contains("Ann: card pull; Ann: risk 1"), "{message}");
    let message = old(&format!("{DUEL}t:play('A', 'kill_damage', {{ risk = 1 }})"));
    assert!(message.contains("A tests Sword, needs under 7") && message.contains("targets"), "{message}");
    let message = old(&format!("{DUEL}t:run('scene')"));
    assert!(message.contains("before `scene` has run"), "{message}");
    let message = failure("t:given('two') t:answer('card', { Ann = 'rest', Bbo = 'rest' })");
    assert!(message.contains("`card` is not asked of Bbo"), "{message}");
    let message = failure("t:given('two') t:answer('card', { Bbo = 'rest' })");
    assert!(message.contains("it is asked of Ann"), "{message}");
    let message = failure("t:given('two') t:dice(5) t:play('Ann', 'pull', { risk = 1, soak = { Bob = 1 } })");
    assert!(message.contains("`soak` of Bob is not asked"), "{message}");
    let played = format!("{DUEL}t:switch('growth', 'flat_one') t:asked('soak')");
    let message = old(&played);
    assert!(message.contains("`soak` is not asked"), "{message}");
}

#[test]
fn a_folder_of_specs_is_run_alone() {
    let source = |name: &str| SpecSource {
        path: format!("{name}.luau"),
        text: format!("require(\"@riskbreaker\").spec(\"{name}\", {{}}, function(t) t:given(\"two\") end)"),
    };
    let of = |id: &str| run_only(&folder("tests/rulesets"), id, vec![source("one"), source("two")], None);
    let names: Vec<String> = of("tug").results.into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["one", "two"]);
}

/// A second free act is refused while the first one asks, and the first one is kept.
#[test]
fn a_free_act_that_asks_is_finished_before_the_next() {
    let given = "t:given({ us = { 'A = M5: Sword' }, them = { 'B = M5: Sword' }, advantage = { 0, 0 }, turns = { 'A' }, \
                 goal = { name = 'way', difficulty = 4, advantage = 1 } }) t:free('gm', 'oppose') ";
    let new = |body: &str| failure_in("rulesets", "riskbreaker-0.0.3", body);
    let message = new(&format!("{given}t:free('foes', 'surrender')"));
    assert!(message.contains("comes first: answer what it asks, or undo it"), "{message}");
    assert!(
        new(&format!("{given}t:equal(t:open()[1].topic, 'oppose') t:undo() t:free('foes', 'surrender')")).is_empty()
    );
}

#[test]
fn a_free_act_is_closed_for_a_reason() {
    let way = "goal = { name = 'way', difficulty = 4, advantage = 1 }";
    let told = |goal: &str, closed: &str| {
        let given = "us = { 'A = M5: Sword' }, them = { 'B = M5: Sword' }, advantage = { 0, 0 }, turns = { 'A' }";
        failure_in("rulesets", "riskbreaker-0.0.3", &format!("t:given({{ {given}, {goal} }}) {closed}"))
    };
    assert_eq!(told("", "t:closed('gm', 'oppose', 'no goal')"), "");
    for (goal, closed, found) in [
        (way, "t:closed('gm', 'oppose', 'no goal')", "oppose is open to gm"),
        ("", "t:closed('gm', 'oppose', 'no money')", "expected \"no money\", found"),
        ("", "t:closed('gm', 'oppose', ' ')", "say a part of the reason"),
        ("", "t:closed('gm', 'opose', 'no goal')", "did you mean `oppose`?"),
        ("", "t:closed('gn', 'oppose', 'no goal')", "the seats are"),
        ("", "t:closed('gm', 'oppose')", "a refusal is expected as a part of its text, or as a table"),
    ] {
        let message = told(goal, closed);
        assert!(message.contains(found), "{closed}: {message}");
    }
}

#[test]
fn events_are_expected_by_their_fields() {
    let played = "t:given('two') t:dice(5) t:play('Ann', 'pull', { risk = 2 }) ";
    for (expected, told) in [
        ("t:happened('rolled', { label = 'Ann pulls', total = 5, success = true })", ""),
        ("t:happened('changed', { label = 'rope', from = 0, to = -2 }, 1)", ""),
        ("t:happened('spawned', {}, 0)", ""),
        ("t:happened('rolled', { total = 6 })", "no event `rolled`"),
        ("t:happened('rolled', nil, 2)", "expected 2 times, found 1"),
        ("t:happened('roled')", "did you mean `rolled`?"),
        ("t:happened('rolled', { sum = 5 })", "an event `rolled` does not say `sum`"),
    ] {
        let message = failure(&format!("{played}{expected}"));
        assert!(if told.is_empty() { message.is_empty() } else { message.contains(told) }, "{expected}: {message}");
    }
}

#[test]
fn odds_are_exact_and_play_nothing() {
    let stake = "t:given('two') t:odds('Ann', 'pull', { risk = 2 }, { rope = { at = -2 } }, ";
    assert_eq!(failure(&format!("{stake}'1/2') t:expect({{ rope = 'unchanged' }})")), "");
    assert_eq!(failure(&format!("{stake}'50 %')")), "");
    let message = failure(&format!("{stake}'3/5')"));
    assert!(message.contains("expected a chance of 3/5, found 1/2"), "{message}");
    assert!(failure(&format!("{stake}'often')")).contains("is no chance"));
    let message = failure("t:given('two') t:odds('Ann', 'pull', {}, { rope = { att = 1 } }, '1')");
    assert!(message.contains("did you mean `at`?"), "{message}");
}

#[test]
fn odds_include_removed_and_unchanged_entities() {
    let odds = |card: &str, wanted: &str| {
        failure_in("tests/rulesets", "gambles", &format!("t:given('two') t:odds('Ann', '{card}', {{}}, {wanted})"))
    };
    let pairs = "{ { { Bea = 'gone' }, '1/2' }, { { Bea = 'unchanged', Ann = 'unchanged' }, '1/2' }, { { Ann = 'gone' }, '0' } }";
    assert_eq!(odds("farewell", pairs), "");
    let message = odds("farewell", "{ { { Bea = 'gone' }, '1/3' }, { { Bea = 'unchanged' }, '1/2' } }");
    assert!(message.contains("expected a chance that Bea is gone of 1/3, found 1/2"), "{message}");
    assert!(odds("farewell", "{ Bea = 'dead' }, '1/2'").contains("title = \"gone\""));
}

#[test]
fn odds_of_several_things_are_compared_at_once() {
    let odds = |behind: &str| failure(&format!("t:given('two') t:odds('Ann', 'pull', {{ risk = 2 }}, {behind})"));
    // Derived values, comparisons, and all at once; such a spec contains nothing else.
    assert_eq!(odds("{ rope = { at = '< 0' }, Ann = { need = 6, rests = 0 } }, '1/2'"), "");
    let pairs = "{ { { rope = { at = -2 } }, '1/2' }, { { rope = { at = '>= 2' } }, '50 %' }, { { Ann = { need = 7 } }, '0' } }";
    assert_eq!(odds(pairs), "");
    let message = odds("{ { { rope = { at = -2 } }, '1/2' }, { { rope = { at = '>= 2' } }, '2/5' } }");
    assert!(message.contains("expected a chance that rope has at >= 2 of 2/5, found 1/2"), "{message}");
    assert_eq!(odds("{ rope = { at = 2 } }, '55 %', { within = '6 %' }"), "");
    assert!(odds("{ rope = { at = 2 } }, '55 %', { within = '4 %' }").contains("give or take 4.00 %, found 1/2"));
    assert!(odds("{ rope = { at = 2 } }, '55 %', { about = '6 %' }").contains("no option `about`"));
    assert!(odds("{ rope = { at = 2 } }").contains("a chance is missing"));
    assert!(odds("{ { 'said' } }").contains("pairs { wanted, chance }"));
    assert!(odds("{ rope = { at = 2 } }, '3/2'").contains("`3/2` is no chance"));
    assert!(odds("{ Nobody = { at = 2 } }, '1/2'").contains("Nobody"));
    // A value that a field cannot have is a mistake, not a chance of zero.
    let message = odds("{ rope = { at = 'far' } }, '0'");
    assert!(message.contains("`at` of rope 1 takes a whole number"), "{message}");
    assert!(odds("{ rope = { at = '>= far' } }, '0'").contains("not a text (>= far)"));
    assert!(odds("{ Ann = { need = true } }, '0'").contains("`need` of Ann takes a whole number, not a boolean"));
    assert_eq!(odds("{ rope = { at = 2000 } }, '0'"), "");
}

#[test]
fn a_spec_with_cases_is_played_once_for_each() {
    let text = r#"local rb = require("@riskbreaker")
rb.cases("a pull of {risk} moves {by}", { "TUG-1" }, { { risk = 1, by = 1 }, { risk = 3, by = 4 } }, function(t, case)
	t:given("two")
	t:dice(5)
	t:play("Ann", "pull", { risk = case.risk })
	t:expect({ rope = { at = -case.by } })
end)"#;
    let source = SpecSource { path: "it.luau".into(), text: text.into() };
    let report = run_specs(&folder("tests/rulesets"), "tug", &[], vec![source], Some("it.luau")).unwrap();
    let names: Vec<&str> = report.results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["a pull of 1 moves 1", "a pull of 3 moves 4"]);
    assert_eq!((report.passed(), report.failed()), (1, 1));
    let failure = report.results[1].failure.as_ref().unwrap();
    assert!(failure.fault.message.contains("expected -4, found -3"), "{}", failure.fault);
}

#[test]
fn lines_and_cards_that_nothing_reached_are_listed() {
    let run = SpecRun { filter: Some("no such spec".into()), measured: true, ..SpecRun::default() };
    let report = run.of(&folder("tests/rulesets"), "tug", &[]).unwrap();
    let lines = report.lines.unwrap();
    // Random play pulls and rests, but takes no free act and writes no sheet.
    let play = lines.files.iter().find(|file| file.path == "tug/play.luau").unwrap();
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rulesets/tug/play.luau")).unwrap();
    let free = text.lines().position(|line| line.contains("rb.finish")).unwrap() as u32 + 1;
    assert!(play.unreached.iter().any(|(first, last)| (*first..=*last).contains(&free)), "{play:?}");
    let start = text.lines().position(|line| line.contains("rb.spawn(\"rope\"")).unwrap() as u32 + 1;
    assert!(!play.unreached.iter().any(|(first, last)| (*first..=*last).contains(&start)), "{play:?}");
    assert!(lines.unplayed.is_empty(), "{lines:?}");
    assert!(lines.reached > 0 && lines.reached < lines.lines, "{lines:?}");
}

/// The tug of war with house rules: files by their path in `house`.
fn house(files: &[(&str, &str)]) -> Library {
    let manifest = "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nextends = \"tug\"\n";
    let own = files.iter().map(|(path, text)| (format!("house/{path}"), *text));
    let house = Library::from_files(own.chain([("house/ruleset.toml".to_owned(), manifest)]));
    house.backed_by(folder("tests/rulesets"))
}

#[test]
fn house_rules_overrule_specs_of_lower_rulesets() {
    let hook = |body: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.hook({{ id = \"soft\", rules = {{}}, always = true, before = {{ move_rope = function(e)\n{body}\nend }} }})"
        )
    };
    let run = |hook: &str, further: Vec<SpecSource>| {
        let report = run_specs(&house(&[("hooks/soft.luau", hook)]), "house", &[], further, None).unwrap();
        (report.failed(), report.overruled().count(), report.is_green())
    };
    let (failed, overruled, green) = run(&hook("e.by = 0"), Vec::new());
    assert!(failed == 0 && overruled > 0 && green, "{failed} failed, {overruled} overruled");
    let (failed, overruled, green) = run(&hook("error(\"no\")"), Vec::new());
    assert!(failed > 0 && overruled == 0 && !green, "{failed} failed, {overruled} overruled");
    let text =
        "local rb = require(\"@riskbreaker\")\nrb.spec(\"own\", {}, function(t) t:given(\"two\") t:equal(1, 2) end)";
    let own = vec![SpecSource { path: "own.luau".into(), text: text.into() }];
    assert_eq!(run(&hook("return"), own), (1, 0, false));
}

/// The specs of all parts below a layer run, and those that hold in the stack of their own part are overruled.
#[test]
fn layers_overrule_specs_of_every_part_below() {
    let manifest = |id: &str, more: &str| format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\n{more}\n");
    let hook = |id: &str, by: u32| {
        format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.hook({{ id = \"{id}\", rules = {{}}, always = true, \
             priority = {by}, before = {{ move_rope = function(e)\ne.by = {by}\nend }} }})"
        )
    };
    let spec = |name: &str, at: i32| {
        format!(
            "local rb = require(\"@riskbreaker\")\nrb.spec(\"{name}\", {{}}, function(t)\nt:given(\"two\")\nt:dice(1)\n\
             t:play(\"Ann\", \"pull\", {{ risk = 1 }})\nt:expect({{ rope = {{ at = {at} }} }})\nend)"
        )
    };
    let over = "over = [\"tug\"]";
    let files = [
        ("low/ruleset.toml", manifest("low", over)),
        ("low/hooks/low.luau", hook("low", 2)),
        ("low/specs/low.luau", spec("the rope moves by 2", 2)),
        ("high/ruleset.toml", manifest("high", &format!("{over}\nafter = [\"low\"]"))),
        ("high/hooks/high.luau", hook("high", 3)),
        ("high/specs/high.luau", spec("the rope moves by 3", 3)),
        ("child/ruleset.toml", manifest("child", "extends = \"tug\"")),
        ("child/hooks/child.luau", hook("child", 2)),
        ("grandchild/ruleset.toml", manifest("grandchild", "extends = \"child\"")),
        ("grandchild/specs/wrong.luau", spec("it is not so", 5)),
    ];
    let library = Library::from_files(files).backed_by(folder("tests/rulesets"));
    let run = |id: &str, only_layers: bool| {
        let run = SpecRun { only_layers, ..SpecRun::default() };
        let report = run.of(&library, id, &[]).unwrap_or_else(|error| panic!("{error}"));
        let names = |is_it: &dyn Fn(&riskbreaker::spec::SpecResult) -> bool| -> Vec<String> {
            report.results.iter().filter(|result| is_it(result)).map(|result| result.path.clone()).collect()
        };
        (names(&|result| result.has_failed()), names(&|result| result.overruled), report.results.len())
    };
    let tug = run("tug", false).2;
    let (failed, overruled, all) = run("tug+low+high", false);
    assert!(failed.is_empty() && all == tug + 2, "{failed:?}, {all} specs");
    assert!(overruled.contains(&"low/specs/low.luau".to_owned()), "{overruled:?}");
    assert!(overruled.iter().any(|path| path.starts_with("tug/")), "{overruled:?}");
    assert!(!overruled.iter().any(|path| path.starts_with("high/")), "{overruled:?}");
    assert_eq!(run("tug+low", true), (Vec::new(), Vec::new(), 1));
    // A spec that the child overrules is overruled in its child, too.
    let (failed, overruled, all) = run("grandchild", false);
    assert_eq!(failed, ["grandchild/specs/wrong.luau"]);
    assert!(all == tug + 1 && overruled.iter().all(|path| path.starts_with("tug/")) && !overruled.is_empty());
}

/// Outcomes omit a hidden field that changes in the same way in all of them.
#[test]
fn an_entity_that_always_changes_has_chance_0_of_no_change() {
    let card = "local rb = require(\"@riskbreaker\")\nreturn rb.maneuver({ id = \"spit\", title = \"Spit\", resolve = function(ctx) \
                ctx.actor:set(\"pull\", 2) rb.under(\"1d10\", 5, \"spits\") end })";
    let text = "local rb = require(\"@riskbreaker\")\nrb.spec(\"it\", {}, function(t) t:given(\"two\") t:odds(\"Ann\", \"spit\", {}, \
                { { { Ann = \"unchanged\" }, \"0\" }, { { Bob = \"unchanged\" }, \"1\" } }) end)";
    let source = SpecSource { path: "it.luau".into(), text: text.into() };
    let library = house(&[("maneuvers/spit.luau", card)]);
    let report = run_specs(&library, "house", &[], vec![source], Some("it.luau")).unwrap();
    assert!(report.is_green() && report.results.len() == 1, "{:?}", report.results);
}

/// The difference between two rulesets as text of each side; `None` if there is none.
fn contrast(first: &str, second: &str, title: &str, name: &str) -> Option<(Option<String>, Option<String>)> {
    let library = folder("rulesets");
    let load = |id: &str| riskbreaker::Ruleset::load(&library, id).unwrap_or_else(|error| panic!("{error}"));
    let contrast = riskbreaker::ruleset::Contrast::between(&load(first), &load(second));
    let section = contrast.sections.into_iter().find(|section| section.title == title)?;
    let found = section.differences.into_iter().find(|differing| differing.name == name)?;
    Some((found.first, found.second))
}

#[test]
fn the_diff_of_two_rulesets_has_words_and_numbers() {
    let (old, new) = ("riskbreaker-0.0.1", "riskbreaker-0.0.3");
    let both = |title: &str, name: &str| {
        contrast(old, new, title, name).map(|(first, second)| {
            let told = |text: Option<String>| text.unwrap_or_else(|| "-".into());
            (told(first), told(second))
        })
    };
    let (first, second) = both("fields", "character.muscle").unwrap();
    assert_eq!(first, "Muscle: a whole number from 0 to 10, at first 4");
    assert_eq!(second, "Muscle: a whole number from 0 to 10, at first 1");
    assert_eq!(both("fields", "character.level").unwrap().0, "-");
    assert_eq!(both("cards", "kill_damage = inflict_kill.title").unwrap().1, "Inflict Kill Damage");
    assert_eq!(both("cards", "inflict_kill"), None);
    assert!(both("cards", "advance").unwrap().1.starts_with("Advance: "));
    assert!(both("house rules", "growth").unwrap().0.starts_with("difference (difference or flat_one): "));
    assert!(both("rolls", "a Counter Roll").unwrap().1.contains("1d10"));
    assert_eq!(both("verbs", "heal").unwrap().1, "worked out in riskbreaker-common/verbs.luau");
    assert_eq!(both("fields", "character.kill_damage"), None);
    // Likewise for layers: only the changes of the layer.
    let armoured = format!("{old}+house-armour");
    assert!(contrast(old, &armoured, "fields", "character.armour").unwrap().0.is_none());
    assert_eq!(contrast(old, &armoured, "fields", "character.level"), None);
    assert_eq!(contrast(&armoured, &armoured, "made of", "house-armour"), None);
}

#[test]
fn an_action_that_asks_without_end_fails_its_spec() {
    let endless =
        "rb.all({ function() return { ask = \"confirm\", seat = \"a\", topic = \"more\", default = false } end })";
    let refused = "rb.number({ seat = \"a\", topic = \"more\", min = 1, max = 9, default = 1, check = function() return false, \"no\" end })";
    for (at, asks) in [endless, refused].into_iter().enumerate() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("endless-{at}"));
        let files = [
            (
                "asks/ruleset.toml",
                "id = \"asks\"\ntitle = \"Asks\"\nversion = \"1.0.0\"\nsummary = \"Asks.\"\nscenario = \"s\"\n[seats]\na = \"A\"\n",
            ),
            ("asks/scenarios/s.toml", "title = \"S\"\n"),
            (
                "asks/kinds.luau",
                "local rb = require(\"@riskbreaker\")\nreturn rb.kinds({ one = { fields = { at = rb.int() } } })\n",
            ),
            (
                "asks/play.luau",
                &format!(
                    "local rb = require(\"@riskbreaker\")\nreturn rb.play({{\n\tstart = function()\n\t\trb.spawn(\"one\", {{}})\n\t\trb.recur(\"turn\", 1, 1)\n\tend,\n\tentries = {{\n\t\tturn = function()\n\t\t\trb.confirm({{ seat = \"a\", topic = \"go\", default = true }})\n\t\t\t{asks}\n\t\tend,\n\t}},\n}})\n"
                ),
            ),
        ];
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = folder.to_str().unwrap();
        for body in ["t:answer('go', true)\nt:expect({})", "t:answer('go', true)\nt:answer('go', true)"] {
            let failure = failure_in(folder, "asks", &format!("t:given('s')\n{body}"));
            assert!(failure.contains("`more`") || failure.contains("`go`"), "{failure}");
        }
    }
}
