//! Reports of script errors, and how a game continues after them.

mod files;

use riskbreaker::spec::{SpecSource, run_specs, spec_of_fault};
use riskbreaker::{DiceSource, Driver, Edit, Fault, Library, Remedy, Ruleset, Session, Setup, Step, Value};

/// The tug of war with a hook, and with one text replaced.
fn tug_with(path: &str, from: &str, to: &str, hook: &str) -> Library {
    let mut files = files::of(&["tug"]);
    let text = files.get_mut(&format!("tug/{path}")).unwrap();
    assert!(text.contains(from), "{path} has no `{from}`");
    *text = text.replacen(from, to, 1);
    if !hook.is_empty() {
        let body = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.hook({{ id = \"gust\", always = true, after = {{ move_rope = function(e)\n{hook}\nend }} }})"
        );
        files.insert("tug/hooks/gust.luau".into(), body);
    }
    Library::from_files(files)
}

fn pull(session: &mut Session) -> Step {
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(session.reply(&[("card".into(), Value::text("pull"))]).unwrap(), Step::Ask);
    let question = session.questions()[0].clone();
    assert_eq!(&*question.topic, "risk");
    session.answer(question.id, question.read(&Value::Int(2)).unwrap()).unwrap();
    session.advance().unwrap()
}

fn begun(library: &Library, faces: &[u32]) -> Session {
    let rules = Ruleset::load(library, "tug").unwrap_or_else(|error| panic!("{error}"));
    let setup = Setup::scenario("two").dice(DiceSource::Written(faces.to_vec()));
    Session::start(&rules, setup).unwrap()
}

fn fault(session: &mut Session) -> Fault {
    match pull(session) {
        Step::Fault(fault) => fault,
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_fault_has_file_line_source_and_correction() {
    let library = tug_with("maneuvers/pull.luau", "* ctx.actor.pull,", "* ctx.actor.pul,", "");
    let fault = fault(&mut begun(&library, &[5]));
    let line = "\t\trb.act.move_rope(ctx.rope, (won and risk or -risk) * ctx.actor.pul, ctx.actor)";
    assert_eq!(fault.path.as_deref(), Some("tug/maneuvers/pull.luau"));
    assert_eq!(fault.source_line.as_deref(), Some(line));
    let marked: String = line.chars().skip(fault.column.unwrap() as usize - 1).take(fault.length as usize).collect();
    assert_eq!(marked, "pul");
    assert_eq!(fault.message, "puller has no field `pul`; did you mean `pull`?");
    assert_eq!(fault.card.as_deref(), Some("Pull (TUG-1)"));
    assert_eq!(fault.context, ["of Ann", "Ann: card pull", "Ann: risk 2", "d10 rolled 5 (pulls)"]);
    assert_eq!(fault.chain, ["tug/play.luau:22"]);
    assert!(fault.to_string().starts_with("tug/maneuvers/pull.luau:11:"), "{fault}");
}

/// Lines begin with 1: line 0 in a message was made up by its script, and is no location.
#[test]
fn line_0_is_not_a_place() {
    let library = tug_with("RULES.md", "TUG", "TUG", "error(\"tug/play.luau:0: a gust\", 0)");
    let fault = fault(&mut begun(&library, &[5]));
    assert!(fault.message.contains("a gust") && fault.line != Some(0), "{fault:?}");
}

#[test]
fn a_failing_hook_can_be_skipped_by_name() {
    let library = tug_with("RULES.md", "TUG", "TUG", "error(\"a gust\")");
    let mut session = begun(&library, &[5, 5]);
    let fault = fault(&mut session);
    assert_eq!(fault.path.as_deref(), Some("tug/hooks/gust.luau"));
    // It fails again until something is changed.
    session.remedy(Remedy::Retry).unwrap();
    assert!(matches!(session.advance().unwrap(), Step::Fault(_)));

    let refusal = session.edit(Edit::LeaveOut { name: "gusts".into() }).unwrap_err();
    assert!(refusal.to_string().contains("did you mean `gust`?"), "{refusal}");
    session.edit(Edit::LeaveOut { name: "gust".into() }).unwrap();
    assert_eq!(session.left_out().collect::<Vec<_>>(), ["gust"]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let rope = session.view().find("rope").unwrap();
    assert_eq!(session.view().field(rope, "at"), Some(&Value::Int(-2)), "what was rolled and answered stood");

    // It is in the saved game, and is undone like any edit.
    let mut loaded = Session::load(&library, &session.save()).unwrap();
    assert_eq!(loaded.left_out().collect::<Vec<_>>(), ["gust"]);
    assert_eq!(loaded.state_bytes(), session.state_bytes());
    loaded.edit(Edit::TakeIn { name: "gust".into() }).unwrap();
    assert!(loaded.edit(Edit::TakeIn { name: "gust".into() }).is_err());
    assert_eq!(loaded.left_out().count(), 0);
    loaded.undo().unwrap();
    assert_eq!(loaded.left_out().collect::<Vec<_>>(), ["gust"]);
    loaded.redo().unwrap();
    assert_eq!(loaded.left_out().count(), 0);
}

#[test]
fn failing_cards_entries_and_free_acts_can_be_skipped() {
    let library = tug_with("RULES.md", "TUG", "TUG", "");
    let mut session = begun(&library, &[]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session.edit(Edit::LeaveOut { name: "pull".into() }).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let option = session.questions()[0].ask.options().iter().find(|option| &*option.id == "pull").unwrap().clone();
    assert_eq!((option.enabled, option.reason.as_deref()), (false, Some("is disabled by the game master")));
    session.edit(Edit::LeaveOut { name: "let_go".into() }).unwrap();
    assert!(session.act("left", "let_go").unwrap_err().to_string().contains("is disabled"));
    session.edit(Edit::LeaveOut { name: "turn".into() }).unwrap();
    // This agenda has only turns: without them the game would loop for ever, and reports that.
    assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
    session.edit(Edit::TakeIn { name: "turn".into() }).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
}

#[test]
fn a_fault_becomes_a_spec_that_fails_until_it_is_fixed() {
    let library = tug_with("maneuvers/pull.luau", "ctx.actor:need()", "ctx.actor:needed()", "");
    let mut session = begun(&library, &[5]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    assert_eq!(spec_of_fault(&session), None);
    fault(&mut session);
    // A game saved at its fault loads at its fault.
    let session = Session::load(&library, &session.save()).unwrap();
    let text = spec_of_fault(&session).unwrap();
    let run = |library: &Library| {
        let source = SpecSource { path: "fault.luau".into(), text: text.clone() };
        run_specs(library, "tug", &[], vec![source], Some("fault.luau")).unwrap()
    };
    let told = run(&library);
    assert_eq!(told.failed(), 1, "{text}");
    let failure = told.results[0].failure.as_ref().unwrap();
    assert!(failure.fault.message.contains("needed"), "{}\n{text}", failure.fault);
    let mended = run(&tug_with("RULES.md", "TUG", "TUG", ""));
    assert!(mended.is_green(), "{:?}\n{text}", mended.results);
}

#[test]
fn using_nil_names_the_variable() {
    let library = tug_with("maneuvers/pull.luau", "ctx.rope,", "ctx.cord.rope,", "");
    let fault = fault(&mut begun(&library, &[5]));
    assert_eq!(fault.message, "`ctx.cord` is nil: attempt to index nil with 'rope'");
    let line = fault.source_line.unwrap();
    let marked: String = line.chars().skip(fault.column.unwrap() as usize - 1).take(fault.length as usize).collect();
    assert_eq!(marked, "ctx.cord");
    assert!(fault.cure.is_some());
}

#[test]
fn a_line_of_a_sheet_without_a_label_is_a_fault() {
    let sheet = "\t\tsheet = function(self)\n\t\t\treturn { \"tired\", { Strength = self.strength } }\n\t\tend,\n\t\tderived = {";
    let mut session = begun(&tug_with("kinds.luau", "\t\tderived = {", sheet, ""), &[5]);
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let ann = session.view().find("Ann").unwrap();
    let fault = session.sheet(ann).unwrap_err();
    assert_eq!(fault.message, "a line of the sheet of a puller has no label");
    assert!(fault.path.as_deref() == Some("tug/kinds.luau") && fault.cure.is_some(), "{fault:?}");
}

#[test]
fn several_values_of_a_repeated_roll_are_not_dropped() {
    let hook = "local sum, first = rb.again(function() local x = rb.roll(\"1d6\", \"gust\") return x + 1, x end) e.rope:add(\"at\", sum + (first or 0))";
    let library = tug_with("maneuvers/pull.luau", "ctx.rope,", "ctx.rope,", hook);
    let fault = fault(&mut begun(&library, &[5, 4]));
    assert_eq!(fault.message, "the function of rb.again returned more than one value");
    assert_eq!(fault.cure.as_deref(), Some("return one: a table holds several"));
    assert_eq!(fault.path.as_deref(), Some("tug/hooks/gust.luau"));
}

#[test]
fn undoing_a_skip_returns_to_the_fault_with_its_answers() {
    let library = tug_with("RULES.md", "TUG", "TUG", "error(\"a gust\")");
    let mut session = begun(&library, &[5, 5]);
    let first = fault(&mut session);
    let (decisions, state) = (session.decisions(), session.state_bytes());
    session.remedy(Remedy::SkipAction).unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    session.undo().unwrap();
    assert_eq!(session.decisions(), decisions);
    let Step::Fault(again) = session.advance().unwrap() else { panic!("it does not fail again") };
    assert_eq!((again.message, again.context), (first.message, first.context));
    assert_eq!(session.state_bytes(), state);
    session.redo().unwrap();
    assert_eq!(session.advance().unwrap(), Step::Ask);
    let loaded = Session::load(&library, &session.save()).unwrap();
    assert_eq!(loaded.state_bytes(), session.state_bytes());
}

#[test]
fn undoing_an_edit_that_fixed_an_action_returns_to_the_fault() {
    // Only Ann is asked; a pull fails until she is strong.
    let hook = "if rb.first(\"puller\").strength ~= 9 then error(\"a gust\") end";
    let library = tug_with("RULES.md", "TUG", "TUG", hook);
    let rules = Ruleset::load(&library, "tug").unwrap_or_else(|error| panic!("{error}"));
    let log = |session: &Session| -> Vec<String> {
        session.log().iter().filter(|event| event.action > 2).map(|event| event.happening.line()).collect()
    };
    for seed in 1..9 {
        let setup = Setup::scenario("two").seed(seed).seat("right", Driver::Policy("hasty".into()));
        let mut session = Session::start(&rules, setup).unwrap();
        fault(&mut session);
        session.remedy(Remedy::SkipAction).unwrap();
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        let ann = session.view().find("ann").unwrap();
        session.edit(Edit::Set { entity: ann, field: "strength".into(), value: 9.into() }).unwrap();
        let step = session.advance().unwrap();
        let (state, told) = (session.state_bytes(), log(&session));
        for _ in 0..2 {
            session.undo().unwrap();
            assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        }
        session.redo().unwrap();
        assert!(matches!(session.advance().unwrap(), Step::Fault(_)));
        session.redo().unwrap();
        assert_eq!(session.advance().unwrap(), step);
        assert_eq!((log(&session), session.state_bytes()), (told, state));
    }
}

/// The tug of war with types declared for its verb, with another line in its card, and a hook before the verb.
fn typed_tug(call: &str, hook: &str) -> Library {
    let mut files = files::of(&["tug"]);
    let mut put = |path: &str, from: &str, to: &str| {
        let text = files.get_mut(path).unwrap();
        assert!(text.contains(from), "{path} has no `{from}`");
        *text = text.replacen(from, to, 1);
    };
    let typed = "rb.verb({ text = \"Moves the rope.\", { \"rope\", rb.ref(\"rope\") }, { \"by\", rb.int({ min = -9 }) }, \
                 { \"who\", rb.ref(\"puller\"), optional = true } }";
    put("tug/verbs.luau", "rb.verb({ \"rope\", \"by\", \"who\" }", typed);
    let old = "rb.act.move_rope(ctx.rope, (won and risk or -risk) * ctx.actor.pull, ctx.actor)";
    put("tug/maneuvers/pull.luau", old, call);
    if !hook.is_empty() {
        let body = format!(
            "local rb = require(\"@riskbreaker\")\nreturn rb.hook({{ id = \"gust\", always = true, before = {{ move_rope = function(e)\n{hook}\nend }} }})"
        );
        files.insert("tug/hooks/gust.luau".into(), body);
    }
    Library::from_files(files)
}

#[test]
fn a_wrong_argument_of_a_verb_is_reported_at_the_calling_line() {
    let must_by = "`by` of `rb.act.move_rope` must be a whole number of at least -9, and this is";
    for (call, told) in [
        (
            "rb.act.move_rope(ctx.actor, risk, ctx.actor)",
            "`rope` of `rb.act.move_rope` must be an entity of the kind `rope`, and this is an entity of the kind `puller`"
                .to_string(),
        ),
        ("rb.act.move_rope(ctx.rope, \"1\" .. risk)", format!("{must_by} the text \"12\"")),
        ("rb.act.move_rope(ctx.rope, -5 * risk)", format!("{must_by} the number -10")),
        ("rb.act.move_rope(ctx.rope, risk / 4)", format!("{must_by} the number 0.5")),
        (
            "rb.act.move_rope(ctx.rope, nil, ctx.actor)",
            "`rb.act.move_rope` needs `by`, which is a whole number of at least -9 and is not given".into(),
        ),
        (
            "rb.act.move_rope(ctx.rope, risk, { ctx.actor })",
            "`who` of `rb.act.move_rope` must be an entity of the kind `puller`, and this is a list".into(),
        ),
    ] {
        let fault = fault(&mut begun(&typed_tug(call, ""), &[5]));
        assert_eq!(fault.message, told);
        assert_eq!((fault.path.as_deref(), fault.line), (Some("tug/maneuvers/pull.luau"), Some(11)), "{call}");
        assert_eq!(fault.cure.as_deref(), Some("it is rb.act.move_rope(rope, by, who?)"));
    }
}

#[test]
fn a_right_argument_of_a_verb_passes_and_one_can_be_left_out() {
    for call in ["rb.act.move_rope(ctx.rope, -risk)", "rb.act.move_rope(ctx.rope, -risk, ctx.actor)"] {
        for hook in ["", "e.by += 0"] {
            let mut session = begun(&typed_tug(call, hook), &[5]);
            assert_eq!(pull(&mut session), Step::Ask, "{call}");
            let rope = session.view().find("rope").unwrap();
            assert_eq!(session.view().field(rope, "at"), Some(&Value::Int(-2)), "{call}");
        }
    }
}

#[test]
fn a_parameter_of_several_types_takes_a_value_of_each_and_no_other() {
    let with = |by: &str| {
        let mut files = files::of(&["tug"]);
        let mut put = |path: &str, from: &str, to: &str| {
            let text = files.get_mut(path).unwrap();
            assert!(text.contains(from), "{path} has no `{from}`");
            *text = text.replacen(from, to, 1);
        };
        let typed =
            "rb.verb({ { \"rope\", rb.ref(\"rope\") }, { \"by\", rb.one_of({ rb.int(), rb.enum({ \"all\" }) }) } }";
        put("tug/verbs.luau", "rb.verb({ \"rope\", \"by\", \"who\" }", typed);
        put("tug/verbs.luau", "rope:add(\"at\", by)", "rope:add(\"at\", if by == \"all\" then 1 else by)");
        let old = "rb.act.move_rope(ctx.rope, (won and risk or -risk) * ctx.actor.pull, ctx.actor)";
        put("tug/maneuvers/pull.luau", old, &format!("rb.act.move_rope(ctx.rope, {by})"));
        Library::from_files(files)
    };
    for by in ["2", "\"all\""] {
        assert_eq!(pull(&mut begun(&with(by), &[5])), Step::Ask, "{by}");
    }
    let told = "`by` of `rb.act.move_rope` must be a whole number, or one of \"all\", and this is the text \"none\"";
    assert_eq!(fault(&mut begun(&with("\"none\""), &[5])).message, told);
}

#[test]
fn a_hook_that_leaves_a_wrong_value_is_named_with_its_line() {
    let call = "rb.act.move_rope(ctx.rope, risk)";
    for (hook, told) in
        [("e.by = \"2\"", "leaves the text \"2\" in `e.by`"), ("e.rope = nil", "leaves nothing in `e.rope`")]
    {
        let fault = fault(&mut begun(&typed_tug(call, hook), &[5]));
        assert!(fault.message.starts_with("the hook `gust` (tug/hooks/gust.luau:2) "), "{fault}");
        assert!(fault.message.contains(told), "{fault}");
    }
}

#[test]
fn a_wrong_declaration_of_a_verb_is_reported_at_load() {
    let with = |params: &str| {
        let mut files = files::of(&["tug"]);
        let text = files.get_mut("tug/verbs.luau").unwrap();
        *text = text.replacen("{ \"rope\", \"by\", \"who\" }", params, 1);
        let error = Ruleset::load(&Library::from_files(files), "tug").expect_err("it does not load");
        let [only] = error.problems.as_slice() else { panic!("{error}") };
        assert_eq!((only.path.as_str(), only.line), ("tug/verbs.luau", Some(4)));
        assert!(only.cure.is_some(), "{only}");
        only.message.clone()
    };
    for (params, told) in [
        (
            "{ { \"rope\", rb.ref(\"roep\") } }",
            "has a parameter `rope` that refers to the kind `roep`, which does not exist",
        ),
        ("{ { \"rope\" } }", "has a parameter `rope` without a type"),
        ("{ { \"by\", rb.int({ default = 1 }) } }", "has a parameter `by` with `default`, which only a field has"),
        ("{ { \"by\", rb.int(), optionl = true } }", "has an unknown key `optionl` at its parameter `by`"),
        ("{ { \"by\", rb.int() }, { \"by\", rb.int() } }", "has two parameters `by`"),
        ("{ txt = \"Moves\", { \"by\", rb.int() } }", "has an unknown key `txt`"),
        ("{ 5 }", "has a parameter that is a number"),
        ("{ { \"e nd\", rb.int() } }", "has a parameter that cannot be called"),
    ] {
        assert!(with(params).starts_with(&format!("the verb `move_rope` {told}")), "{params}: {}", with(params));
    }
}
