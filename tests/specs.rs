//! Specs of the rulesets, and that the runner finds what it should.

use riskbreaker::{Library, RuleStanding, SpecSource, run_specs};
use std::path::Path;

fn folder(path: &str) -> Library {
    Library::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Every ruleset's own specs pass, and cover every rule that is not the game master's.
fn is_proved(library: &Library) {
    for id in library.ids() {
        let report = run_specs(library, &id, &[], Vec::new(), None).unwrap_or_else(|error| panic!("{error}"));
        let mut wrong: Vec<String> = report.broken.iter().map(|fault| fault.to_string()).collect();
        wrong.extend(report.results.iter().filter_map(|result| {
            let failure = result.failure.as_ref()?;
            Some(format!("{}: {}: {}", result.path, result.name, failure.fault))
        }));
        let uncovered = report.coverage.rules.iter().filter(|rule| rule.standing == RuleStanding::Uncovered);
        wrong.extend(uncovered.map(|rule| format!("{id}: {} is covered by no spec", rule.id)));
        wrong.extend(
            report.coverage.unknown.iter().map(|rule| format!("{id}: a spec names {rule}, which RULES.md lacks")),
        );
        assert!(wrong.is_empty(), "{id}:\n{}", wrong.join("\n"));
        assert!(report.passed() > 0 || report.coverage.rules.is_empty(), "{id} has rules and no specs");
    }
}

#[test]
fn the_rulesets_of_the_tests_are_proved() {
    is_proved(&folder("tests/rulesets"));
}

#[test]
fn the_rulesets_that_ship_are_proved() {
    is_proved(&folder("rulesets"));
}

/// Runs one spec against the tug of war and gives the message of its failure.
fn failure(body: &str) -> String {
    let text = format!("local rb = require(\"@riskbreaker\")\nrb.spec(\"it\", {{}}, function(t)\n{body}\nend)\n");
    let source = SpecSource { path: "it.luau".into(), text };
    let report = run_specs(&folder("tests/rulesets"), "tug", &[], vec![source], Some("it.luau")).unwrap();
    assert_eq!(report.results.len(), 1, "{:?}", report.broken);
    report.results[0].failure.as_ref().map_or(String::new(), |failure| failure.fault.to_string())
}

#[test]
fn a_spec_that_passes_says_nothing() {
    assert_eq!(
        failure("t:given('two') t:dice(5) t:play('Ann', 'pull', { risk = 1 }) t:expect({ rope = { at = -1 } })"),
        ""
    );
}

#[test]
fn leftovers_fail_a_spec() {
    assert!(failure("t:given('two') t:dice(5, 5) t:play('Ann', 'pull', { risk = 1 })").contains("not rolled"));
    assert!(failure("t:given('two') t:play('Ann', 'pull', { risk = 1 })").contains("have run out"));
    assert!(failure("t:given('two') t:play('Bob', 'rest')").contains("`card` of Ann is open first"));
    assert!(failure("t:given('two') t:play('Ann', 'rest', { risk = 1 })").contains("nothing asks for `risk`"));
}

#[test]
fn a_failed_expectation_says_what_was_found() {
    let message = failure("t:given('two') t:play('Ann', 'rest')\nt:expect({ Ann = { rests = 2 } })");
    assert_eq!(message, "it.luau:4: Ann.rests: expected 2, found 1");
    assert!(failure("t:given('two') t:expect({ Ann = { rest = 2 } })").contains("did you mean `rests`"));
    assert!(
        failure("t:given('two') t:play('Ann', 'rest') t:expect({ Ann = 'unchanged' })")
            .contains("rests has changed: 0 -> 1")
    );
}

/// The tug of war with house rules on it: files by their path in `house`.
fn house(files: &[(&str, &str)]) -> Library {
    let manifest = "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nextends = \"tug\"\n";
    let own = files.iter().map(|(path, text)| (format!("house/{path}"), *text));
    let house = Library::from_files(own.chain([("house/ruleset.toml".to_owned(), manifest)]));
    house.backed_by(folder("tests/rulesets"))
}

#[test]
fn house_rules_overrule_specs_of_what_lies_below() {
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
