//! The work budgets of analyses: a partial result lists what is missing, and twice the input takes about twice the
//! work. Work is counted, not timed.
#![cfg(feature = "cli")]

mod files;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use riskbreaker::check::{check, findings};
use riskbreaker::lab::{OddsQuery, SessionExt as _, Variant, compare_cards};
use riskbreaker::play::Given;
use riskbreaker::spec::{SpecReport, SpecRun};
use riskbreaker::{Answer, Library, Refusal, Ruleset, Session, Setup, Step, WorkBudget};

/// The small game with additional files.
fn tug(more: &[(&str, String)]) -> Library {
    let mut files: BTreeMap<String, String> = files::of(&["tug"]);
    files.extend(more.iter().map(|(path, text)| (format!("tug/{path}"), text.clone())));
    Library::from_files(files)
}

/// The work of a complete check.
fn work_of_check(more: &[(&str, String)]) -> u64 {
    let budget = WorkBudget::unlimited();
    check(&tug(more), "tug", &[], &budget);
    budget.used()
}

/// Checks that twice the input takes at most 2.2 times the work, not counting the work for the game itself.
fn grows_evenly(what: &str, size: usize, made: impl Fn(usize) -> Vec<(&'static str, String)>) {
    let base = work_of_check(&[]);
    let [one, two] = [size, 2 * size].map(|size| work_of_check(&made(size)) - base);
    assert!(one > 0 && two * 10 <= one * 22, "{what}: {size} take {one}, twice as many take {two}");
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| line(at) + "\n").collect()
}

fn function(body: &str) -> String {
    format!("local m = {{}}\nfunction m.f(a)\n{body}return a\nend\nreturn m\n")
}

#[test]
fn a_check_of_twice_as_much_takes_about_twice_the_work() {
    let lib = |body: String| vec![("lib/long.luau", function(&body))];
    grows_evenly("assignments", 2_000, |n| lib(lines(n, |_| "a = a + 1".into())));
    grows_evenly("names that nothing has", 400, |n| lib(lines(n, |at| format!("print(m{at}_{})", "q".repeat(50)))));
    grows_evenly("similar members", 400, |n| {
        let similar = |letter: char| move |at: usize| format!("{letter}{at}_{} = 1,", "q".repeat(50));
        let known = format!("return {{\n{}}}\n", lines(n, similar('k')));
        let read = lines(n, |at| format!("a = a.j{at}_{}", "q".repeat(50)));
        vec![("lib/known.luau", known), ("lib/long.luau", function(&read))]
    });
    grows_evenly("data", 300, |n| {
        vec![("scenarios/long.toml", lines(n, |at| format!("[row{at}]\nname = \"N{at}\"\nstrenght = 3")))]
    });
    grows_evenly("scenarios", 20, |n| {
        let names = ["a", "b"].iter().flat_map(|from| (0..n / 2).map(move |at| format!("scenarios/{from}{at}.toml")));
        names.map(|name| (&*name.leak(), "title = \"x\"\n".to_owned())).collect()
    });
}

#[test]
fn a_check_whose_budget_is_spent_names_what_it_has_not_examined() {
    let library = tug(&[]);
    let whole = WorkBudget::unlimited();
    let report = check(&library, "tug", &[], &whole);
    assert!(report.is_passed() && !report.is_partial(), "{report:?}");
    // Wherever the budget ends, the report says so: it is never both partial and clean.
    for share in 0..17 {
        let report = check(&library, "tug", &[], &WorkBudget::new(whole.used() * share / 20));
        assert!(report.is_partial() && !report.interrupted, "{share}: {report:?}");
        assert!(report.unexamined.iter().all(|path| path.starts_with("tug/")), "{report:?}");
        assert!(report.is_passed(), "what is not examined is no problem: {report:?}");
    }
    assert!(!check(&library, "tug", &[], &WorkBudget::new(whole.used())).is_partial());
}

#[test]
fn a_check_that_is_interrupted_is_partial() {
    let flag = Arc::new(AtomicBool::new(true));
    let report = check(&tug(&[]), "tug", &[], &WorkBudget::unlimited().until(&flag));
    assert!(report.interrupted && report.unexamined.contains(&"tug/play.luau".to_owned()), "{report:?}");
}

#[test]
fn a_file_with_too_many_problems_reports_where_its_check_ended() {
    let more = [("lib/long.luau", function(&lines(300, |at| format!("print(nobody{at}, a)"))))];
    let report = check(&tug(&more), "tug", &[], &WorkBudget::unlimited());
    let [rest] = report.unexamined.as_slice() else { panic!("{:?}", report.unexamined) };
    assert_eq!(rest, "tug/lib/long.luau after its first 200 problems (line 201)");
    let last = findings(&tug(&more), "tug", &[]).pop().unwrap().to_string();
    assert!(last.starts_with("tug: not examined: tug/lib/long.luau after its first 200"), "{last}");
}

#[test]
fn names_of_any_length_make_short_messages() {
    let more = [("lib/long.luau", function(&lines(3, |at| format!("print(n{at}{})", "x".repeat(20_000)))))];
    let found = findings(&tug(&more), "tug", &[]);
    assert!(found.len() >= 3, "{found:?}");
    assert!(found.iter().all(|problem| problem.to_string().len() < 5_000), "{found:?}");
}

const SPEC: &str = "local rb = require(\"@riskbreaker\")\n";

fn specs(library: &Library, budget: &WorkBudget) -> SpecReport {
    let run = SpecRun { budget: budget.clone(), ..SpecRun::default() };
    run.of(library, "tug", &[]).unwrap()
}

/// A file with this number of specs, each with this body.
fn many(count: usize, body: &str) -> Vec<(&'static str, String)> {
    let spec = |at| format!("rb.spec(\"s{at}\", {{}}, function(t)\n{body}\nend)");
    vec![("specs/many.luau", SPEC.to_owned() + &lines(count, spec))]
}

#[test]
fn specs_that_are_not_run_are_named() {
    let library = tug(&many(12, "t:given(\"two\")\nwhile true do end"));
    let library = &library;
    let whole = WorkBudget::unlimited();
    assert!(!specs(library, &whole).is_partial());
    let report = specs(library, &WorkBudget::new(whole.used() / 2));
    assert!(report.is_partial() && !report.is_green());
    assert!(report.unexamined.iter().any(|name| name == "tug/specs/many.luau: s11"), "{:?}", report.unexamined);
    let counted = report.results.len() + report.unexamined.len();
    assert!(counted >= 12, "each spec is done or named: {counted}");
}

#[test]
fn a_spec_that_the_budget_cuts_short_has_not_failed() {
    let body = "t:given(\"two\")\nfor i = 1, 300 do t:titles(\"rope\") end";
    let library = tug(&many(1, body));
    let [none, whole] = [tug(&[]), library.clone()].map(|library| {
        let budget = WorkBudget::unlimited();
        let report = specs(&library, &budget);
        assert!(report.is_green(), "{:?}", report.results);
        budget.used()
    });
    assert!(whole > none);
    for share in 1..10 {
        let report = specs(&library, &WorkBudget::new(none + (whole - none) * share / 10));
        assert_eq!(report.failed(), 0, "{:?}", report.results);
    }
}

#[test]
fn twice_as_many_specs_take_about_twice_the_work() {
    let base = WorkBudget::unlimited();
    specs(&tug(&[]), &base);
    let [one, two] = [50, 100].map(|count| {
        let budget = WorkBudget::unlimited();
        specs(&tug(&many(count, "t:given(\"two\")\nt:titles(\"rope\")")), &budget);
        budget.used() - base.used()
    });
    assert!(one > 0 && two * 10 <= one * 22, "50 take {one}, 100 take {two}");
}

/// A card of the small game with this body.
fn card(id: &str, body: &str) -> String {
    let resolve = format!("resolve = function(ctx)\n{body}\nend");
    format!("{SPEC}return rb.maneuver({{ id = \"{id}\", title = \"T {id}\", {resolve} }})\n")
}

/// The work of the odds of one card.
fn work_of_odds(body: &str) -> u64 {
    let library = tug(&[("maneuvers/long.luau", card("long", body))]);
    let rules = Ruleset::load(&library, "tug").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("two").seed(1)).unwrap();
    let _ = session.advance().unwrap();
    let question = session.questions()[0].clone();
    let given = vec![Given::to(&question, "long".into())];
    let budget = WorkBudget::unlimited();
    let query = OddsQuery { given, budget: budget.clone(), ..OddsQuery::default() };
    assert!(session.odds_at(question.id, query).unwrap().is_exact());
    budget.used()
}

#[test]
fn odds_of_twice_as_much_take_about_twice_the_work() {
    let base = work_of_odds("");
    let grows = |what: &str, body: &dyn Fn(usize) -> String| {
        let [one, two] = [20, 40].map(|size| work_of_odds(&body(size)) - base);
        assert!(one > 0 && two * 10 <= one * 22, "{what}: {one}, twice as much {two}");
    };
    grows("changes", &|n| format!("rb.roll(\"1d6\")\nfor at = 1, {n} do ctx.actor:add(\"rests\", 1) end"));
    grows("rolls without memory", &|n| format!("for at = 1, {n} do rb.roll(\"1d6\") end"));
    grows("faces", &|n| format!("ctx.actor:add(\"rests\", rb.roll(\"1d{n}\"))"));
    grows("options", &|n| {
        let options = format!("local options = {{}}\nfor at = 1, {n} do options[at] = \"o\" .. at end\n");
        let asked = "seat = ctx.actor.seat, topic = \"which\", about = ctx.actor, why = \"Which?\", options = options";
        format!("{options}rb.choose({{ {asked}, default = \"o1\" }})")
    });
}

/// The body of a card that asks for one of `count` spells: `Fire Bolt 1`, `Ice Bolt 1` and so on.
fn spells(count: usize) -> String {
    let names = "local words, options = { \"Fire\", \"Ice\", \"Storm\", \"Stone\" }, {}\n";
    let made = format!("for at = 1, {count} do options[at] = `{{words[at % 4 + 1]}} Bolt {{at}}` end\n");
    let asked =
        "seat = ctx.actor.seat, topic = \"spell\", about = ctx.actor, why = \"Which spell?\", options = options";
    format!("{names}{made}rb.finish(\"{{}} is cast\", rb.choose({{ {asked} }}))")
}

/// The small game with a card whose question has this number of options.
fn book(count: usize) -> Library {
    tug(&[("maneuvers/book.luau", card("book", &spells(count)))])
}

/// The game after that card was played.
fn with_open_book(count: usize) -> Session {
    let rules = Ruleset::load(&book(count), "tug").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("two").seed(1)).unwrap();
    let _ = session.advance().unwrap();
    let _ = session.reply(&[("card".to_owned(), "book".into())]).unwrap();
    session
}

#[test]
fn a_question_has_up_to_ten_thousand_options_which_a_part_of_a_name_finds() {
    let mut session = with_open_book(10_000);
    let question = session.questions()[0].clone();
    assert_eq!(question.ask.options().len(), 10_000);
    let found: Vec<&str> = question.ask.search("FIRE 10").iter().map(|option| &*option.label).take(3).collect();
    assert_eq!(found, ["Fire Bolt 100", "Fire Bolt 104", "Fire Bolt 108"]);
    assert_eq!(question.ask.search("ice 4321").len(), 1);
    let mut shown = question.ask.clone();
    assert_eq!((shown.shorten(), shown.options().len()), (9_900, 100));
    let unclear = question.read_typed(&"bolt".into()).unwrap_err().to_string();
    assert!(unclear.contains("or another. Type more of the name.") && unclear.len() < 1_000, "{unclear}");
    assert_eq!(question.read_typed(&"ic bol 4321".into()).unwrap(), Answer::Choice("Ice Bolt 4321".into()));
    let step = session.reply(&[("spell".to_owned(), "ice bolt 4321".into())]).unwrap();
    assert_eq!(step, Step::Over("Ice Bolt 4321 is cast".into()));

    let rules = Ruleset::load(&book(10_001), "tug").unwrap();
    let mut session = Session::start(&rules, Setup::scenario("two").seed(1)).unwrap();
    let _ = session.advance().unwrap();
    let Err(Refusal::Fault { fault }) = session.reply(&[("card".to_owned(), "book".into())]) else {
        panic!("more options than a question has are refused")
    };
    assert_eq!(fault.message, "a question has at most 10000 options, and here are 10001");
    assert!(fault.cure.as_ref().is_some_and(|cure| cure.starts_with("ask for a group first")), "{fault:?}");
}

#[test]
fn a_long_list_of_options_is_searched_at_the_prompt_and_never_printed() {
    let mut files = files::of(&["tug"]);
    files.insert("tug/maneuvers/book.luau".into(), card("book", &spells(5_000)));
    let typed = "book\noptions ice 432\noptions bolt\nic bol 4321\nquit\n";
    files.insert("typed.txt".into(), typed.to_owned());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounds/spells");
    let script = folder.join("typed.txt");
    let args = ["play", "two", "--script", script.to_str().unwrap(), "--rules", "tug", "--seed", "1"];
    let output = call("spells", &files, &args);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("and 4980 more: type a part of a name, or `options WORDS`"), "{text}");
    assert!(text.contains("4321  Ice Bolt 4321"), "{text}");
    assert!(text.contains("more with `bolt`: type a part of a name"), "{text}");
    assert!(text.contains("Ice Bolt 4321 is cast"), "{text}");
    assert!(text.lines().count() < 250, "{} lines", text.lines().count());
}

#[test]
fn a_message_of_the_protocol_has_a_hundred_options_and_finds_the_others() {
    let mut files = files::of(&["tug"]);
    files.insert("tug/maneuvers/book.luau".into(), card("book", &spells(5_000)));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounds/served");
    for (path, text) in &files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let request = |id: u32, method: &str, params: serde_json::Value| {
        serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
    };
    let asked = serde_json::json!({ "action": 2, "ordinal": 1 });
    let found = |text: &str| serde_json::json!({ "table": "a", "question": asked, "text": text });
    let new = serde_json::json!({ "table": "a", "ruleset": "tug", "scenario": "two", "seed": 1 });
    let input = request(1, "table.new", new)
        + &request(2, "reply", serde_json::json!({ "table": "a", "pairs": [["card", "book"]] }))
        + &request(3, "view", serde_json::json!({ "table": "a" }))
        + &request(4, "find", found("ice 4321"))
        + &request(5, "find", found("bolt"))
        + &request(6, "answer", serde_json::json!({ "table": "a", "question": asked, "value": "Ice Bolt 4321" }))
        + &request(7, "view", serde_json::json!({ "table": "a" }));
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    program.args(["serve", "--stdio", "--rulesets"]).arg(&folder);
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = objects(&output);
    let result = |id: u32| told.iter().find(|one| one["id"] == id).map(|one| &one["result"]).expect("an answer");
    let question = &result(3)["questions"][0];
    assert_eq!((&question["id"], &question["more"]), (&asked, &4_900.into()), "{}", result(3));
    assert_eq!(question["ask"]["options"].as_array().unwrap().len(), 100);
    assert_eq!(result(4)["options"][0]["label"], "Ice Bolt 4321", "{}", result(4));
    assert_eq!((result(5)["options"].as_array().unwrap().len(), &result(5)["more"]), (100, &4_900.into()));
    assert_eq!(result(7)["state"]["outcome"], "Ice Bolt 4321 is cast", "{}", result(7));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().all(|line| line.len() < 64 << 10), "a short message each");
}

#[test]
fn twice_as_many_options_take_about_twice_the_work() {
    let base = work_of_odds("");
    let asked = |count| spells(count).replace("options = options", "options = options, default = \"Ice Bolt 1\"");
    let [one, two] = [2_000, 4_000].map(|count| work_of_odds(&asked(count)) - base);
    assert!(one > 0 && two * 10 <= one * 22, "2,000 take {one}, 4,000 take {two}");
}

#[test]
fn a_ruleset_of_four_thousand_files_loads_and_a_script_is_stopped_by_its_steps() {
    let names: Vec<String> = (0..4_000).map(|at| format!("maneuvers/c{at}.luau")).collect();
    let body = "if rb.under(\"1d10\", 5, \"{} casts\", ctx.actor) then ctx.actor:add(\"rests\", 1) end";
    let cards: Vec<(&str, String)> =
        names.iter().enumerate().map(|(at, name)| (&**name, card(&format!("c{at}"), body))).collect();
    let rules = Ruleset::load(&tug(&cards), "tug").unwrap_or_else(|error| panic!("{error}"));
    assert!(rules.cards().len() > 4_000);
    let counted = format!("{SPEC}for _ = 1, 100000000 do end\nreturn rb.maneuver({{ id = \"c\" }})\n");
    let error = Ruleset::load(&tug(&[("maneuvers/c.luau", counted)]), "tug").unwrap_err();
    assert!(error.to_string().contains("used up its budget of work"), "{error}");
}

/// The first step of the small game whose `start` makes a map of `width` by `width` squares.
fn start_with_map(width: usize) -> Step {
    let mut files = files::of(&["tug"]);
    let square = "square = { fields = { x = rb.int(), y = rb.int(), wall = rb.bool(), west = rb.ref(\"square\") } }";
    let kinds = files["tug/kinds.luau"].replacen("rb.kinds({", &format!("rb.kinds({{ {square},"), 1);
    let made = format!(
        "local west
        for y = 1, {width} do
            for x = 1, {width} do
                local square = rb.spawn(\"square\", {{ x = x, y = y }})
                square:set(\"wall\", (x + y) % 7 == 0)
                if west then square:set(\"west\", west) end
                west = square
            end
        end
        local rope = rb.spawn("
    );
    let play = files["tug/play.luau"].replacen("local rope = rb.spawn(", &made, 1);
    files.insert("tug/kinds.luau".into(), kinds);
    files.insert("tug/play.luau".into(), play);
    let rules = Ruleset::load(&Library::from_files(files), "tug").unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::start(&rules, Setup::scenario("two").seed(1)).unwrap();
    session.advance().unwrap()
}

#[test]
fn start_makes_a_map_of_a_hundred_by_a_hundred_squares_and_the_limit_says_what_to_do() {
    for width in [70, 100] {
        assert_eq!(start_with_map(width), Step::Ask, "{width}");
    }
    let Step::Fault(fault) = start_with_map(300) else { panic!("it has a limit") };
    assert!(fault.message.starts_with("the script used up its memory: new entities, changes"), "{}", fault.message);
    assert!(fault.cure.as_ref().is_some_and(|cure| cure.contains("in a list or map field")), "{fault:?}");
}

#[test]
fn a_comparison_of_twice_as_many_cards_takes_about_twice_the_work() {
    let work = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("maneuvers/c{at}.luau")).collect();
        let cards: Vec<(&str, String)> =
            names.iter().enumerate().map(|(at, name)| (&**name, card(&format!("c{at}"), "rb.roll(\"1d6\")"))).collect();
        let rules = Ruleset::load(&tug(&cards), "tug").unwrap();
        let setup = Setup::scenario("two").seed(1);
        let variant = Variant { name: "tug".into(), rules, setup, ahead: Default::default() };
        let budget = WorkBudget::unlimited();
        let found = compare_cards(&variant, &variant, &budget).unwrap();
        assert!(found.cards.len() >= count && !found.is_partial());
        budget.used()
    };
    let [none, one, two] = [0, 30, 60].map(work);
    assert!(one > none && (two - none) * 10 <= (one - none) * 22, "30 take {one}, 60 take {two}, none {none}");
}

#[test]
fn names_and_titles_have_a_most_length() {
    let card = |title: &str, more: &str| {
        let body = format!("id = \"long\", title = \"{title}\",{more} resolve = function(ctx) end");
        let text = format!("{SPEC}return rb.maneuver({{ {body} }})\n");
        findings(&tug(&[("maneuvers/long.luau", text)]), "tug", &[]).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let said = |found: &[String], text: &str| found.iter().any(|problem| problem.contains(text));
    let fits = card(&"T".repeat(200), "");
    assert!(!said(&fits, "at most"), "{fits:?}");
    let long = card(&"T".repeat(201), "");
    assert!(said(&long, "tug/maneuvers/long.luau:2:") && said(&long, "a title has at most 200 letters"), "{long:?}");
    let fact = format!(" {} = 1,", "f".repeat(101));
    let long = card("T", &fact);
    assert!(said(&long, "a name has at most 100 letters"), "{long:?}");
    let kinds = |name: usize| {
        let mut files = files::of(&["tug"]);
        let path = "tug/kinds.luau";
        let field = format!("fields = {{ {} = rb.int(), ", "g".repeat(name));
        let text = files[path].replacen("fields = {", &field, 1);
        assert!(text.contains(&field));
        files.insert(path.to_owned(), text);
        findings(&Library::from_files(files), "tug", &[]).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(!said(&kinds(100), "at most"), "{:?}", kinds(100));
    assert!(said(&kinds(101), "a name has at most 100 letters"), "{:?}", kinds(101));
}

/// Runs the program on a folder with these rulesets.
fn call(name: &str, files: &BTreeMap<String, String>, args: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounds").join(name);
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
    program.args(args).arg("--rulesets").arg(folder).output().unwrap()
}

fn objects(output: &Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn the_program_ends_with_1_after_a_partial_check() {
    let mut files = files::of(&["tug"]);
    let body = function(&lines(300, |at| format!("print(nobody{at}, a)")));
    files.insert("tug/lib/long.luau".into(), body);
    let output = call("check", &files, &["check", "tug", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told = objects(&output).into_iter().find(|one| one["partial"] == true).expect("it says that it is partial");
    assert_eq!(told["unexamined"][0], "tug/lib/long.luau after its first 200 problems (line 201)");
    let text = String::from_utf8(call("check", &files, &["check", "tug"]).stdout).unwrap();
    assert!(text.contains("tug: partial (too much for one check), not examined: tug/lib/long.luau after"), "{text}");
}

/// A game without an end, in which both sides do nothing.
fn endless() -> BTreeMap<String, String> {
    let mut files = files::of(&["tug"]);
    let play = files["tug/play.luau"].replace("card.resolve(ctx)", "ctx.actor:set(\"rests\", 1 - ctx.actor.rests)");
    assert!(play.contains("1 - ctx"));
    files.insert("tug/play.luau".into(), play);
    files
}

#[test]
fn the_program_ends_with_0_after_other_partial_work() {
    let args = ["odds", "--game", "two", "--rules", "tug", "--seat", "left=hasty", "--seat", "right=hasty", "--json"];
    let output = call("game", &endless(), &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let [told] = objects(&output).try_into().unwrap();
    assert_eq!((&told["partial"], &told["exact"]), (&true.into(), &false.into()), "{told}");
    assert_eq!(told["remaining"]["decimal"], 1.0, "{told}");
}
