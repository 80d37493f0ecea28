//! Mistakes planted in the small game: each is found at its line, with a remedy.
#![cfg(feature = "check")]

mod files;
#[path = "files/planted.rs"]
mod planted;

use std::collections::BTreeMap;

use planted::Planted;
use riskbreaker::Library;
use riskbreaker::WorkBudget;
use riskbreaker::check::{Analysis, CheckReport, findings};

fn found(files: BTreeMap<String, String>) -> Vec<String> {
    planted::all_findings(files, "tug").iter().map(ToString::to_string).collect()
}

/// Replaces a text in a file and returns the problems found.
fn planted(path: &str, from: &str, to: &str) -> Vec<String> {
    in_tug(path, from, to).found.iter().map(ToString::to_string).collect()
}

fn in_tug(path: &str, from: &str, to: &str) -> Planted {
    planted::planted(files::of(&["tug"]), "tug", &format!("tug/{path}"), from, to)
}

/// Checks that a planted mistake is the only problem found, in its line.
fn alone(path: &str, from: &str, to: &str, told: &str) {
    let Planted { line, found } = in_tug(path, from, to);
    let [one] = found.as_slice() else { panic!("{from} -> {to}: {found:#?}") };
    let one = one.to_string();
    let placed = one.starts_with(&format!("tug/{path}:{line}:"));
    assert!(placed && one.ends_with(&format!(": {told}")), "{one}");
}

#[test]
fn a_valid_ruleset_has_no_problems() {
    assert!(found(files::of(&["tug"])).is_empty(), "{:?}", found(files::of(&["tug"])));
}

#[test]
fn data_of_an_attachment_are_not_written_like_a_table() {
    let hook = "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"tired\",\n\tdata = { less = rb.int() },\n\tbefore = {\n\t\tmove_rope = function(_e, holder)\n\t\t\tholder.data.less = 2\n\t\tend,\n\t},\n})\n";
    let mut files = files::of(&["tug"]);
    files.insert("tug/hooks/tired.luau".into(), hook.into());
    let found = planted::all_findings(files, "tug");
    let told = found.iter().find(|problem| problem.message.contains("written like a table's")).unwrap();
    let change = told.change.as_ref().unwrap();
    assert_eq!((told.line, &*change.text), (Some(8), "rb.set_data(holder.id, { less = 2 })"));
}

#[test]
fn the_reason_of_when_is_filled_like_any_text() {
    alone(
        "maneuvers/rest.luau",
        "`{ctx.actor.name} has rested twice (TUG-2)`",
        "\"{} has rested {} times (TUG-2)\", ctx.actor",
        "\"{} has rested {} times (TUG-2)\" has 2 `{}`, and 1 value to fill them (give one value for each `{}`)",
    );
}

/// A list of data is drawn from by its place, which is a face of the spec's dice.
#[test]
fn a_draw_has_as_many_faces_as_its_list() {
    let draw = "local _ = rb.draw({ \"a\", \"b\" }); rb.say(\"{} rests\", ctx.actor)";
    let mut files = files::of(&["tug"]);
    let rest = files.get_mut("tug/maneuvers/rest.luau").unwrap();
    *rest = rest.replace("rb.say(\"{} rests\", ctx.actor)", draw);
    let spec = "local rb = require(\"@riskbreaker\")\n\nrb.spec(\"TUG-2: draws\", { \"TUG-2\" }, function(t)\n\tt:given(\"two\")\n\tt:dice(14)\n\tt:play(\"Ann\", \"rest\")\nend)\n";
    files.insert("tug/specs/draws.luau".into(), spec.into());
    let dice: Vec<String> = found(files).into_iter().filter(|told| told.contains("die of these rules")).collect();
    assert!(dice.is_empty(), "{dice:?}");
}

/// The parser counts bytes, but the column of a problem counts characters.
#[test]
fn a_column_is_counted_in_letters() {
    let slip = |said: &str| format!("rb.say(\"{said}\") ctx.actor:add(\"rest\", 1)");
    let [plain, accented] =
        ["uber", "über"].map(|said| planted("maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", &slip(said)));
    assert!(!plain.is_empty() && plain == accented, "{plain:?} {accented:?}");
}

#[test]
fn a_function_that_must_return_a_value_is_checked() {
    let value = "return if seat == \"right\" then rb.first(\"rope\").at else -rb.first(\"rope\").at";
    let cure = "returns nothing (write `return` before the value at its end)";
    let statistics = "statistics = { [\"Where it is\"] = function() local _ = rb.first(\"rope\") end },";
    for (from, to, what) in [
        (value, "local _ = seat", "the value of the game"),
        ("statistics = { \"rope.at\" },", statistics, "a statistic"),
    ] {
        let found = planted("play.luau", from, to);
        assert!(matches!(&*found, [one] if one.ends_with(&format!(": {what} {cure}"))), "{found:?}");
    }
    let found =
        planted("play.luau", "card.resolve(ctx)", "local far = 1\n\t\t\tfar = rb.act.move_rope(ctx.rope, far, puller)");
    let told = "`move_rope` returns nothing, and what it returns is used (add `return ...` before this `end`)";
    assert!(found.iter().any(|one| one.ends_with(told)), "{found:?}");
}

/// Replaces texts in files of the small game and returns the problems found.
fn changed(changes: &[(&str, &str, &str)]) -> Vec<String> {
    let mut files = files::of(&["tug"]);
    for (path, from, to) in changes {
        let file = files.get_mut(&format!("tug/{path}")).unwrap();
        assert!(file.contains(from), "{path}: {from}");
        *file = file.replacen(from, to, 1);
    }
    // What is replaced may be the only use of a variable.
    found(files).into_iter().filter(|problem| !problem.contains(" warning: nothing uses ")).collect()
}

/// Thousands of names compared with thousands, long member chains, and a mistake in every line: this once took more
/// than a minute.
#[test]
fn only_the_first_problems_of_a_file_are_reported() {
    let name = |n: u32, sort: char| format!("{sort}{:08x}", n.wrapping_mul(2_654_435_761));
    let members = |n| format!("do local _ = {{ {} = 1 }} local _ = ctx.rope.{} end", name(n, 'a'), name(n, 'b'));
    let chain = |_| format!("do local _ = ctx{} end", ".b".repeat(900));
    let globals = |n| format!("do local {} = 1 local _ = {} end", name(n, 'a'), name(n, 'b'));
    let condition = |_| "if 1 then end".to_owned();
    let texts: [(u32, &dyn Fn(u32) -> String); 4] =
        [(3_000, &members), (100, &chain), (3_000, &globals), (12_000, &condition)];
    for (lines, line) in texts {
        let text: String = (0..lines).map(|n| line(n) + "\n").collect();
        let found = changed(&[("play.luau", "card.resolve(ctx)", &text)]);
        assert!((1..=250).contains(&found.len()), "{}: {} found", line(0), found.len());
    }
}

#[test]
fn arguments_of_a_verb_that_calculates_must_be_numbers() {
    let verb = ("verbs.luau", "rope:add(\"at\", by)", "by = math.min(by, 9)\n\t\trope:add(\"at\", by)");
    let call = "card.resolve(ctx)";
    let wanted = "(it is rb.act.move_rope(rope, by, who))";
    for (to, told) in [
        ("rb.act.move_rope(ctx.rope)", "`rb.act.move_rope` needs `by`, which is not given"),
        (
            "rb.act.move_rope(ctx.rope, rb.first(\"puller\"), puller)",
            "`by` of `rb.act.move_rope` must be a number, and this is an entity",
        ),
    ] {
        let found = changed(&[verb, ("play.luau", call, to)]);
        assert!(matches!(&*found, [one] if one.ends_with(&format!(": {told} {wanted}"))), "{found:?}");
    }
    assert_eq!(changed(&[verb, ("play.luau", call, "rb.act.move_rope(ctx.rope, 2, puller)")]), [""; 0]);
}

#[test]
fn a_derived_value_is_called_with_a_colon_though_another_kind_has_a_field_of_its_name() {
    let field = ("kinds.luau", "fields = { at =", "fields = { need = rb.int(), at =");
    let call = |dot: &str| {
        format!("for _, other in rb.each(\"puller\") do\n\t\t\t\trb.say(\"{{}}\", other{dot}need())\n\t\t\tend")
    };
    let found = changed(&[field, ("play.luau", "card.resolve(ctx)", &call("."))]);
    let told = "a dot stands where a colon belongs (write a colon: `:need()`)";
    assert!(matches!(&*found, [one] if one.ends_with(told)), "{found:?}");
    assert_eq!(changed(&[field, ("play.luau", "card.resolve(ctx)", &call(":"))]), [""; 0]);
}

#[test]
fn arguments_for_numbers_lists_and_ends_are_checked() {
    let act = |act: &str| changed(&[("play.luau", "card.resolve(ctx)", act)]);
    let whole = ":add takes a whole number, and this is a fraction (write `//` to divide without a rest, or count in a smaller unit)";
    let divided = "`at` takes a whole number, and `/` may give a fraction (write `//`, which rounds down, or round it by math.ceil or math.round)";
    for (fraction, told) in [("1 / 2", divided), ("0.5", whole), ("(3 / 2)", divided)] {
        let found = act(&format!("args.rope:add(\"at\", {fraction})"));
        assert!(matches!(&*found, [one] if one.ends_with(told)), "{found:?}");
    }
    assert_eq!(act("args.rope:add(\"at\", 4 / 2)"), [""; 0]);
    let found = act("rb.lasts(puller, { momnet = \"turn\" })");
    assert!(found.iter().any(|one| one.ends_with("rb.lasts takes no `momnet` (did you mean `moment`?)")), "{found:?}");
    let marks = ("kinds.luau", "fields = { at =", "fields = { marks = rb.list(rb.int()), at =");
    let found =
        changed(&[marks, ("play.luau", "rb.spawn(\"rope\", {})", "rb.spawn(\"rope\", { marks = { 1, \"a\" } })")]);
    let told = "an element of the field `marks` takes a whole number, not a text (a) (write a value that it takes, or change its declaration)";
    assert!(matches!(&*found, [one] if one.ends_with(told)), "{found:?}");
}

/// A use of something whose declaration is wrong is not reported as a second mistake.
#[test]
fn one_mistake_is_reported_once() {
    let told = changed(&[("kinds.luau", "pull = rb.int({ default = 1,", "pull = rb.int({ default = \"one\",")]);
    assert!(matches!(&*told, [one] if one.contains("has a default that does not fit")), "{told:?}");
    let hook = "local rb = require(\"@riskbreaker\")\nreturn rb.hook({ id = \"wet\", always = true, before = { move_rope = function(e) e.by = 0 end } })\n";
    let mut files = files::of(&["tug"]);
    files.insert("tug/hooks/wet.luau".into(), hook.into());
    assert_eq!(found(files.clone()), [""; 0]);
    files.get_mut("tug/verbs.luau").unwrap().push_str("x = = 3\n");
    let told = found(files.clone());
    assert!(matches!(&*told, [one] if one.starts_with("tug/verbs.luau:")), "{told:?}");
}

/// Several kinds have a field of the same name; the wrong one is named.
#[test]
fn a_wrong_field_is_reported_at_the_line_of_its_own_kind() {
    let kinds = "local rb = require(\"@riskbreaker\")
return rb.kinds({
	one = {
		relates = { \"of\" },
		fields = {
			of = rb.ref(\"other\"),
			reach = rb.int({ min = 0 }),
		},
	},
	other = {
		fields = { reach = rb.int({ min = 0, default = -1 }) },
	},
	third = {
		relates = { \"nobody\" },
		fields = { reach = rb.int() },
	},
})
";
    let mut files = files::of(&["tug"]);
    files.insert("tug/kinds.luau".into(), kinds.into());
    let told = found(files);
    for (line, wrong) in [(11, "the field `reach` of other has a default"), (14, "the kind `third` relates `nobody`")] {
        let placed = |one: &String| one.starts_with(&format!("tug/kinds.luau:{line}:")) && one.contains(wrong);
        assert!(told.iter().any(placed), "{wrong}: {told:?}");
    }
}

/// A declaration of the wrong kind is reported, not ignored.
#[test]
fn a_name_declared_as_something_else_is_reported() {
    let (kind, play) = ("title = \"name\",", "start = function");
    for (path, from, more, told) in [
        ("kinds.luau", kind, "sheet = \"all\",", "`sheet` of kinds `puller` is a function, not a string"),
        ("kinds.luau", kind, "overview = { 1 },", "`overview` of kinds `puller` is a function, not a table"),
        ("kinds.luau", kind, "label = \"Puller\",", "unknown key `label` in kinds `puller`"),
        ("play.luau", play, "views = true,", "`views` in play.luau is a table, not a boolean"),
        ("play.luau", play, "card = \"number\",", "`card` in play.luau is a table, not a string"),
        ("play.luau", "= function(about)", "= 1, other", "`prompt` in play.luau is a function"),
        ("play.luau", "title = \"Let go", "when = true,", "`when` of play `free/let_go` is a function, not a boolean"),
        (
            "policies/hasty.luau",
            "id = \"hasty\",",
            "act = \"wait\",",
            "`act` of policy `hasty` is a function, not a string",
        ),
    ] {
        let found = planted(path, from, &format!("{more} {from}"));
        assert!(found.iter().any(|one| one.contains(told)), "{more}: {found:#?}");
    }
}

/// The profile of a kind refers to its own fields.
#[test]
fn a_profile_with_wrong_names_is_reported() {
    let kind = "title = \"name\",";
    for (declared, told) in [
        (
            "numbers = { \"strenght\" },",
            "names the number `strenght`, and has no such field or derived value (did you mean `strength`?)",
        ),
        ("numbers = { \"name\" },", "names the number `name`, and that field takes a text"),
        ("numbers = { { \"pull\", most = 3 } },", "has the number `pull` with an unknown key `most`"),
        ("numbers = { { \"pull\", of = true } },", "has the number `pull` with an `of` that is a boolean"),
        ("numbers = { \"pull\", \"pull\" },", "names the number `pull` twice"),
        ("side = \"pull\",", "has the side `pull`, and that field takes a whole number"),
        ("side = { words = {} },", "has a side without `by`"),
        ("seat = \"seats\",", "has the seat `seats`, but a puller has no field `seats`"),
        ("seat = \"pull\",", "has the seat `pull`, but `pull` takes a whole number, not a text"),
        ("position = { x = \"pull\" },", "has a position with only one of x and y"),
        ("position = { unit = \"m\" },", "has a position that says nothing"),
        (
            "position = { x = \"pull\", y = \"strength\", per = 0 },",
            "has a position with a `per` that is no whole number of at least 1",
        ),
    ] {
        let found = planted("kinds.luau", kind, &format!("{kind}\n\t\t{declared}"));
        let [one] = found.as_slice() else { panic!("{declared}: {found:#?}") };
        assert!(one.starts_with("tug/kinds.luau:9:") && one.contains(&format!("the kind `puller` {told}")), "{one}");
    }
    let results = planted("play.luau", "prompt = function", "results = { Hit = \"good\" },\n\tprompt = function");
    assert!(results[0].contains("the result `Hit` is a success, a failure or other, not `good`"), "{results:?}");
}

/// House rules may remove the only card with a fact listed in `printed`.
#[test]
fn a_printed_fact_may_go_with_its_card() {
    let mut files = files::of(&["tug"]);
    let mut put = |path: &str, from: &str, to: &str| {
        let text = files.get_mut(path).unwrap();
        assert!(text.contains(from), "{path}");
        *text = text.replacen(from, to, 1);
    };
    put("tug/play.luau", "return rb.play({", "return rb.play({\n\tprinted = { { \"ease\", \"Ease\" } },");
    put("tug/maneuvers/rest.luau", "id = \"rest\",", "id = \"rest\",\n\tease = 1,");
    assert!(found(files.clone()).iter().all(|told| !told.contains("`printed`")));
    let removed = "local rb = require(\"@riskbreaker\")\nreturn rb.removed(\"maneuver\", \"rest\")\n";
    files.insert("quick/maneuvers/rest.luau".into(), removed.into());
    let manifest = "id = \"quick\"\ntitle = \"Quick\"\nversion = \"1\"\nover = [\"tug\"]\n";
    files.insert("quick/ruleset.toml".into(), manifest.into());
    let told = findings(&Library::from_files(files), "tug", &["quick".into()]);
    assert!(told.iter().all(|problem| !problem.message.contains("`printed`")), "{told:?}");
}

#[test]
fn a_word_answers_a_topic_that_some_question_has() {
    let words = "\n[words]\nfar = \"distance\"\n";
    let mut files = files::of(&["tug"]);
    files.get_mut("tug/ruleset.toml").unwrap().push_str(words);
    let told = found(files);
    assert!(told[0].contains("the word `far` answers `distance`, and no question has that topic (known: "), "{told:?}");
}

#[test]
fn a_choice_of_cards_needs_no_list_of_options() {
    let found = planted("play.luau", "options = rb.options(rb.card_ids, ctx)", "cards = rb.card_ids, ctx = ctx");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_default_of_a_card_may_be_an_option_that_is_no_card() {
    let cards = "options = rb.options(rb.card_ids, ctx),\n\t\t\t\tdefault = \"pull\"";
    let more =
        "cards = rb.card_ids, ctx = ctx, more = { { id = \"wait\", value = rb.card(\"rest\") } }, default = \"wait\"";
    assert_eq!(planted("play.luau", cards, more), [""; 0]);
    let playing_cards = "options = { \"ace\", \"king\" }, default = \"ace\"";
    assert_eq!(planted("play.luau", cards, playing_cards), [""; 0]);
    let mistake = "cards = rb.card_ids, ctx = ctx, default = \"pul\"";
    alone("play.luau", cards, mistake, "there is no card `pul` (did you mean `pull`?)");
}

#[test]
fn a_chosen_option_may_be_a_word_or_an_entity() {
    let asks = "local whom = rb.choose({ seat = ctx.actor.seat, topic = \"whom\", options = { \"nobody\", ctx.actor }, \
                default = \"nobody\" })\n\t\tif whom ~= \"nobody\" then\n\t\t\twhom:add(\"rests\", 1)\n\t\tend";
    assert_eq!(planted("maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", asks), [""; 0]);
}

/// A list may have a named key in addition to its items.
#[test]
fn a_list_with_a_name_in_it_is_read_by_that_name() {
    let rests = "ctx.actor:add(\"rests\", 1)";
    let made = "local tries = { 1, 2 } ";
    let read = "ctx.actor:add(\"rests\", tries.most - 1)";
    let told = planted("maneuvers/rest.luau", rests, &format!("{made}{read}"));
    assert!(told.iter().any(|one| one.contains("`tries` is a list")), "{told:?}");
    assert_eq!(planted("maneuvers/rest.luau", rests, &format!("{made}tries.most = 2 {read}")), [""; 0]);
}

#[test]
fn a_method_may_be_called_with_a_dot_and_its_entity() {
    let rests = "ctx.actor:add(\"rests\", 1)";
    let loop_over = |call: &str| format!("for _, one in rb.each(\"puller\") do {call} end");
    assert_eq!(planted("maneuvers/rest.luau", rests, &loop_over("one.add(one, \"rests\", 1)")), [""; 0]);
    alone(
        "maneuvers/rest.luau",
        rests,
        &loop_over("one.add(\"rests\", 1)"),
        "a dot stands where a colon belongs (write a colon: `:add(...)`)",
    );
}

/// A hook that is never attached is reported; one attached under a computed name may be fine.
#[test]
fn a_hook_that_is_attached_under_another_name() {
    let attached = "rb.attach(\"overwatch\",";
    let in_rbf =
        |to: &str| planted::planted(files::of(&["rbf"]), "rbf", "rbf/maneuvers/overwatch.luau", attached, to).found;
    let none: Vec<String> = in_rbf("rb.whisper(\"gm\", \"{} {}\",").iter().map(ToString::to_string).collect();
    assert!(none.len() == 1 && none[0].contains("nothing attaches the hook `overwatch`"), "{none:?}");
    let renamed = in_rbf("local put = rb.attach\n\t\tput(\"overwatch\",");
    assert!(renamed.is_empty(), "{renamed:?}");
}

#[test]
fn unknown_names_are_reported() {
    alone(
        "maneuvers/pull.luau",
        "rb.act.move_rope",
        "rb.act.move_roope",
        "there is no verb `move_roope` (did you mean `move_rope`?)",
    );
    alone("maneuvers/pull.luau", "rb.under(", "rb.undr(", "rb has no `undr` (did you mean `under`?)");
    alone("play.luau", "rb.spawn(\"rope\"", "rb.spawn(\"rop\"", "there is no kind `rop` (did you mean `rope`?)");
    alone(
        "maneuvers/rest.luau",
        ":add(\"rests\"",
        ":add(\"rest\"",
        "no kind has a field `rest` (did you mean `rests`?)",
    );
    alone(
        "maneuvers/rest.luau",
        "ctx.actor:add(\"rests\", 1)",
        "if ctx.actor:reaches(\"rest\", 1) then ctx.actor:add(\"rests\", 1) end",
        "no kind has a field `rest` (did you mean `rests`?)",
    );
    alone(
        "maneuvers/rest.luau",
        "ctx.actor:add(\"rests\", 1)",
        "ctx.actor:shift(\"rests\")",
        "the number to add of `rests` is missing (write :shift(\"rests\", n))",
    );
    alone("kinds.luau", "self.strength", "self.strenght", "a puller has no `strenght` (did you mean `strength`?)");
    // The unused intended switch is not reported in addition.
    alone(
        "verbs.luau",
        "rb.switches.wins_at",
        "rb.switches.win_at",
        "there is no switch `win_at` (did you mean `wins_at`?)",
    );
    alone("verbs.luau", "math.abs", "maths.abs", "there is no `maths` (did you mean `math`?)");
    alone(
        "maneuvers/rest.luau",
        "\trules = { \"TUG-2\" }",
        "\trules = { \"TUG-20\" }",
        "the rule `TUG-20` is in no RULES.md (did you mean `TUG-2`? Or add the rule to RULES.md)",
    );
    alone(
        "specs/maneuvers/rest.luau",
        "{ \"TUG-2\" }",
        "{ \"TUG-9\" }",
        "the rule `TUG-9` is in no RULES.md (did you mean `TUG-2`? Or add the rule to RULES.md)",
    );
    alone(
        "play.luau",
        "rb.recur(\"turn\", { 1, 1 }",
        "rb.recur(\"trun\", { 1, 1 }",
        "there is no entry `trun` (did you mean `turn`?)",
    );
    alone(
        "maneuvers/pull.luau",
        "topic = \"risk\"",
        "topik = \"risk\"",
        "rb.number has no field `topik` (did you mean `topic`?)",
    );
    alone("policies/hasty.luau", "rb.pick", "rb.peck", "rb has no `peck` (did you mean `pick`?)");
}

#[test]
fn forbidden_operations_are_reported() {
    let told = planted("maneuvers/rest.luau", "\t\tif ctx", "\t\tctx.actor:add(\"rests\", 1)\n\t\tif ctx");
    assert!(told[0].starts_with("tug/maneuvers/rest.luau:9:3: :add is called in `when` of a card"), "{told:?}");
    let told = planted(
        "verbs.luau",
        "local rb = require(\"@riskbreaker\")\n",
        "local rb = require(\"@riskbreaker\")\nlocal turns = 0\n",
    );
    let unused = "tug/verbs.luau:2:7: warning: nothing uses `turns` (use it, remove it, or call it `_turns`)";
    assert_eq!(told, [unused]);
    let mut files = files::of(&["tug"]);
    let verbs = files.get_mut("tug/verbs.luau").unwrap();
    *verbs = verbs
        .replace(
            "local rb = require(\"@riskbreaker\")\n",
            "local rb = require(\"@riskbreaker\")\nlocal turns, seen = 0, {}\n",
        )
        .replace("\t\trope:add(", "\t\tturns += 1\n\t\tseen[turns] = true\n\t\tcount = turns\n\t\trope:add(");
    let told = found(files);
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].contains(":6:3: a function changes `turns`, a variable of the file"), "{told:#?}");
    assert!(told[1].contains(":7:3: a function writes into `seen`"), "{told:#?}");
    assert!(told[2].contains(":8:3: `count` is written as a global"), "{told:#?}");
    let told = planted(
        "maneuvers/pull.luau",
        "rb.under(\"1d10\", ctx.actor:need(), \"{} pulls\", ctx.actor)",
        "math.random(10) < 5",
    );
    assert!(told[0].contains("math has no `random` (roll dice"), "{told:?}");
    let told = planted("verbs.luau", "\t\trope:add(\"at\", by)", "\t\tpcall(rope.add, rope, \"at\", by)");
    assert!(told[0].contains(":5:3: there is no `pcall` (a fault is told to the game master"), "{told:?}");
}

/// One value of another type in the cast may be right; unneeded quotes are not.
#[test]
fn a_word_among_numbers_of_the_cast_is_no_mistake() {
    let told = |speed: &str| {
        let mut files = files::shipped(&["contest"]);
        let dragon = files.get_mut("contest/cast/dragon.toml").unwrap();
        *dragon = dragon.replacen("speed = 8", &format!("speed = {speed}"), 1);
        let found = findings(&Library::from_files(files), "contest", &[]);
        found.iter().filter(|problem| problem.message.contains("in every other file of cast/")).count()
    };
    let counts = ["8", "\"8\"", "true", "\"7.5\"", "\"1/2\"", "\"2d6\"", "\"unlimited\""].map(told);
    assert_eq!(counts, [0, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn useless_declarations_are_reported() {
    let told = planted(
        "ruleset.toml",
        "[seats]",
        "[switches.wet_rope]\nvalues = [true, false]\ntext = \"The rope is wet.\"\n\n[seats]",
    );
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("nothing reads the switch `wet_rope`"), "{told:?}");
    let told = planted("maneuvers/rest.luau", "return true", "return false");
    assert!(told[0].contains("nobody can ever use this card"), "{told:?}");
    let told = planted("maneuvers/rest.luau", "rb.say(\"{} rests\", ctx.actor)", "rb.say(\"{} rests {}\", ctx.actor)");
    assert!(told[0].contains("has 2 `{}`, and 1 value to fill them"), "{told:?}");
    let told = planted("maneuvers/pull.luau", "\"1d10\"", "\"d\"");
    assert!(told[0].contains("\"d\" are no dice"), "{told:?}");
    let told = planted("play.luau", "rb.spawn(\"rope\", {})", "rb.spawn(\"rope\", { at = 99 })");
    assert!(told[0].contains("the field `at` takes a whole number from -50 to 50, not 99"), "{told:?}");
    let told = planted("maneuvers/pull.luau", ", ctx.actor)\n\tend", ", ctx.actor, 5)\n\tend");
    assert!(
        told[0].contains("`rb.act.move_rope` takes 3 values, 4 given (it is rb.act.move_rope(rope, by, who))"),
        "{told:?}"
    );
    let told = planted(
        "play.luau",
        "\t\tlocal rope =",
        "\t\tlocal by = {}\n\t\tfor _, p in rb.each(\"puller\") do by[p] = 1 end\n\t\tfor p, n in by do rb.say(\"{}\", n) end\n\t\tlocal rope =",
    );
    assert!(told[0].contains("a loop over `by`, whose keys are entities"), "{told:?}");
}

#[test]
fn misplaced_files_and_several_mistakes_are_reported() {
    let mut files = files::of(&["tug"]);
    let card = files["tug/maneuvers/rest.luau"].clone();
    files.insert("tug/manuevers/nap.luau".into(), card);
    files.insert("tug/lore/order.luau".into(), "return {}\n".into());
    files.insert("tug/lib/used.luau".into(), "return {}\n".into());
    files.insert("tug/maneuvers/nap.luau.txt".into(), "return".into());
    files.insert("tug/cast/eve.tml".into(), "name =".into());
    files.insert("tug/maneuvers/rest.luau.bak".into(), "return".into());
    files.insert("tug/notes/rest.luau.txt".into(), "return".into());
    let verbs = files.get_mut("tug/verbs.luau").unwrap();
    *verbs = format!("local used = require(\"lib/used\")\nlocal gone = require(\"lib/usde\")\n{verbs}");
    let told = found(files);
    assert!(
        told.iter().any(|line| line
            .contains("manuevers/nap.luau: nothing reads this file (is its folder meant to be `maneuvers`?)")),
        "{told:#?}"
    );
    assert!(told.iter().any(|line| line.contains("lore/order.luau: nothing reads this file")), "{told:#?}");
    for line in [
        "maneuvers/nap.luau.txt: nothing reads this file (is its name meant to be `maneuvers/nap.luau`?)",
        "cast/eve.tml: nothing reads this file (is its name meant to be `cast/eve.toml`?)",
    ] {
        assert!(told.iter().any(|other| other.contains(line)), "{line}: {told:#?}");
    }
    assert!(!told.iter().any(|line| line.contains(".bak") || line.contains("notes/")), "{told:#?}");
    assert!(told.iter().any(|line| line.contains("verbs.luau:2:") && line.contains("`lib/used`")), "{told:#?}");
    assert!(!told.iter().any(|line| line.contains("lib/used.luau: nothing")), "{told:#?}");
}

#[test]
fn hostile_files_are_reported_and_do_no_harm() {
    let mut files = files::of(&["tug"]);
    files.insert("tug/lib/deep.luau".into(), format!("return {}1{}", "{".repeat(60_000), "}".repeat(60_000)));
    files.insert("tug/lib/ops.luau".into(), format!("return {}1", "1+".repeat(60_000)));
    files.insert("tug/lib/calls.luau".into(), format!("return f{}", "()".repeat(60_000)));
    files.insert("tug/lib/dots.luau".into(), format!("return f{}", ".a".repeat(60_000)));
    files.insert("tug/specs/deep.luau".into(), format!("{}{}", "do ".repeat(50_000), "end ".repeat(50_000)));
    let told = found(files);
    assert!(!told.is_empty());
}

/// Code that looks wrong but is not.
#[test]
fn valid_code_has_no_problems() {
    for code in [
        "for n in rb.each(\"puller\") do rb.say(\"{}\", n + 1) end",
        "local order = { 2, 1 } for n in rb.each(\"puller\") do rb.say(\"{}\", order[n]) end",
        "for n in ipairs(ctx.foes or {}) do rb.say(`round {n}`) end",
        "local last = { 1 } last[#last] = 2 rb.say(\"{}\", last[1])",
        "local all = {} table.insert(all, 1) all[#all] = 2 rb.say(\"{}\", all[1])",
        "while ctx.actor.rests < 3 do ctx.actor:add(\"rests\", 1) end",
        "while ctx.actor.rests < 3 do ctx.actor:set(ctx.which or \"rests\", 3) end",
        "while ctx.rope.at < 3 do rb.act.move_rope(ctx.rope, 1, ctx.actor) end",
        "local n = 0 while n < 3 do n += 1 end",
        "local n = 0 local add = function() n += 1 end while n < 3 do add() end",
        "ctx.told = true if ctx.told then rb.say(\"told\") end",
        "if ctx.loud then rb.say(\"loud\") end",
        "local all = \"\" for _, c in rb.each(\"puller\") do all ..= c.name:upper() end rb.say(all)",
        "local first = rb.first(\"puller\") if first then rb.say(\"{}\", first) end",
        "local found = 0 found = nil if found then rb.say(\"found\") end",
        "rb.confirm({ seat = \"left\", topic = \"carda\", default = true })",
        "local all = {} all[#all + 1] = 1 rb.say(\"{}\", all[1])",
        "if ctx.actor.id == rb.first(\"puller\").id then rb.say(\"the first\") end",
        "ctx.told = { 1 } ctx.hits = 2 if #ctx.told > 1 and ctx.hits > 1 then rb.say(\"told\") end",
        "local list = if ctx.actor.rests > 1 then { 1 } else nil if list == nil then list = {} end rb.say(\"{}\", #list)",
        "local card = rb.choose({ seat = \"left\", topic = \"carda\", options = function() return { \"on\" } end }) rb.say(card)",
        "local told = { seat = \"left\" } rb.say(told.seat) ctx.seat = \"left\" rb.say(ctx.seat)",
        "local ctx = { actor = ctx.actor, seat = ctx.actor.seat, one = 1, two = 2, three = 3 } :: any rb.say(ctx.seat)",
        "local code = ctx.actor.name:sub(1, 1) .. \"bb\" if code == \"pbb\" then rb.say(code) end",
        "local code = `{ctx.actor.rests}b` if code == \"pbb\" then rb.say(code) elseif code == \"pb\" then rb.say(code) end",
        "local owner = { pull = \"left\", rests = {} } rb.say(owner.pull) rb.say(\"{}\", #owner.rests)",
    ] {
        let found = planted("maneuvers/rest.luau", "\t\trb.say(", &format!("\t\t{code}\n\t\trb.say("));
        assert_eq!(found, [""; 0], "{code}");
    }
    let mut files = files::of(&["tug"]);
    let hook = "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"still\",\n\talways = true,\n\twrap = {\n\t\t\
                move_rope = function(_e, _proceed) end,\n\t},\n})\n";
    files.insert("tug/hooks/still.luau".into(), hook.into());
    // A table with a method of its own.
    let half = "local half = {}\n\nfunction half:round(n: number): number\n\treturn if self.up() then (n + 1) // 2 else n // 2\nend\n\n\
                function half.up(): boolean\n\treturn true\nend\n\nfunction half.of(n: number): number\n\treturn half:round(n)\nend\n\n\
                return half\n";
    files.insert("tug/lib/half.luau".into(), half.into());
    let rest = files["tug/maneuvers/rest.luau"].replace(
        "local rb = require(\"@riskbreaker\")\n",
        "local rb = require(\"@riskbreaker\")\nlocal half = require(\"lib/half\")\n",
    );
    files.insert(
        "tug/maneuvers/rest.luau".into(),
        rest.replace("\t\trb.say(", "\t\trb.say(\"{}\", half.of(3))\n\t\trb.say("),
    );
    assert_eq!(found(files), [""; 0]);
}

/// Files left by a synchronisation program are reported and do not stop the check.
#[test]
fn a_conflict_copy_is_reported_and_not_read() {
    let mut files = files::of(&["tug"]);
    for name in ["rest.sync-conflict-20260101-120000-ABCDEFG.luau", "rest (conflicted copy 2026-01-01).luau"] {
        files.insert(format!("tug/maneuvers/{name}"), "this is no rule".into());
    }
    let told = found(files);
    assert!(told.len() == 2 && told.iter().all(|one| one.contains("nothing reads it (put what is right")), "{told:#?}");
}

/// Replaces a text in the game of relations and returns the problems found.
fn in_the_arena(path: &str, from: &str, to: &str) -> Vec<String> {
    let mut files = files::of(&["arena"]);
    let text = files.get_mut(&format!("arena/{path}")).unwrap();
    assert!(text.contains(from), "{path} has no `{from}`");
    *text = text.replacen(from, to, 1);
    findings(&Library::from_files(files), "arena", &[]).iter().map(ToString::to_string).collect()
}

#[test]
fn relations_and_what_lasts_are_checked() {
    assert_eq!(in_the_arena("kinds.luau", "mutual", "mutual"), Vec::<String>::new());
    for (path, from, to, told) in [
        (
            "maneuvers/grip.luau",
            "rb.relate(\"grip\"",
            "rb.relate(\"gripp\"",
            "there is no kind `gripp` (did you mean `grip`?)",
        ),
        (
            "maneuvers/grip.luau",
            "{ degree = if",
            "{ degre = if",
            "a grip has no field `degre` (did you mean `degree`?)",
        ),
        ("play.luau", "{ seat = seat })", "{ saet = seat })", "a fighter has no field `saet` (did you mean `seat`?)"),
        (
            "maneuvers/strike.luau",
            "rb.related(\"grip\"",
            "rb.related(\"stunned\"",
            "the kind `stunned` is no relation between two",
        ),
        (
            "maneuvers/stun.luau",
            "moment = \"turn\"",
            "moment = \"trun\"",
            "there is no entry `trun` (did you mean `turn`?)",
        ),
        (
            "maneuvers/break_free.luau",
            "rb.first(\"stunned\", {",
            "rb.relate(\"grip\", ctx.actor, ctx.actor, {",
            "which may only read",
        ),
        ("kinds.luau", "\"holder\", \"held\" }", "\"holder\", \"helt\" }", "relates `helt`, and has no such field"),
        (
            "kinds.luau",
            "held = rb.ref(\"fighter\")",
            "held = rb.ref()",
            "relates `held`, which is no reference to one kind",
        ),
        ("kinds.luau", "held = rb.ref(\"fighter\")", "held = rb.ref(\"sworn_to\")", "which is a relation itself"),
        (
            "kinds.luau",
            "relates = { \"bearer\" }",
            "mutual = true, relates = { \"bearer\" }",
            "is mutual and relates one field only",
        ),
        ("kinds.luau", "timed = true", "timed = \"yes\"", "needs `timed = true`"),
        ("kinds.luau", "truce =", "ending = {}, truce =", "the host declares the kind `ending`"),
        (
            "play.luau",
            "turn = function(actor)",
            "ending = function() end, turn = function(actor)",
            "the host declares the entry `ending`",
        ),
    ] {
        let found = in_the_arena(path, from, to);
        assert!(
            found.iter().any(|one| one.starts_with(&format!("arena/{path}:")) && one.contains(told)),
            "{to}: {found:#?}"
        );
    }
}

/// `status` and `of` are references that the host declares; `bearer` and `held` are declared by the ruleset.
#[test]
fn a_local_table_may_have_keys_named_like_fields() {
    let act = |code: &str| {
        in_the_arena(
            "maneuvers/strike.luau",
            "\tresolve = function(ctx)\n",
            &format!("\tresolve = function(ctx)\n\t\t{code}\n"),
        )
    };
    for code in [
        "local best = { status = 0, item = 0 } rb.say(\"{}\", best.status + 1)",
        "local best = { bearer = 2, of = 1 } if best.bearer < 3 then rb.say(\"{}\", best.of * 2) end",
        "local best = {} best.status = 2 rb.say(\"{}\", best.status - 1)",
        "local best = {} for _, key in { \"status\" } do best[key] = 1 end rb.say(\"{}\", best.status + 1)",
        "local all = { best = { held = 1 } } rb.say(\"{}\", all.best.held + 1)",
        "local function sum(t) return t.status + 1 end rb.say(\"{}\", sum({ status = 1 }))",
        "local sums = { of = { 1, 2 } } for _, n in sums.of do rb.say(\"{}\", n) end rb.say(\"{}\", #sums.of)",
        "local told = { status = \"late\" } rb.say(told.status .. \"!\")",
        "local sums = { name = #rb.each(\"fighter\") } rb.say(\"{}\", sums.name + 1)",
        "local sums = { hp = rb.first(\"fighter\") } rb.say(\"{} of {}\", sums.hp, sums.hp.name)",
    ] {
        assert_eq!(act(code), [""; 0], "{code}");
    }
    let told = act("local one = rb.first(\"stunned\") if one then rb.say(\"{}\", one.bearer + 1) end");
    assert!(matches!(&*told, [one] if one.contains("this is an entity")), "{told:?}");
}

#[test]
fn a_key_is_a_number_or_a_distance() {
    let act = |code: &str| {
        in_the_arena(
            "maneuvers/strike.luau",
            "\tresolve = function(ctx)\n",
            &format!("\tresolve = function(ctx)\n\t\t{code}\n"),
        )
    };
    for key in
        ["\"+1\"", "\"-2\"", "3", "{ \"+0\", 5 }", "if ctx.actor.hp > 2 then \"+1\" else \"+2\"", "`+{ctx.actor.hp}`"]
    {
        assert_eq!(act(&format!("rb.schedule(\"turn\", {key}, ctx.actor)")), [""; 0], "{key}");
    }
    for (call, told) in [
        (
            "rb.schedule(\"turn\", \"1\", ctx.actor)",
            "expected a number or a distance such as \"+1\", found another text",
        ),
        (
            "rb.schedule(\"turn\", { 1, \"soon\" }, ctx.actor)",
            "expected a number or a distance such as \"+1\", found another text",
        ),
        ("rb.schedule(\"turn\", \"+1000000001\", ctx.actor)", "expected a number or a distance such as \"+1\""),
        ("rb.schedule(\"turn\", true, ctx.actor)", "expected a number, found true or false"),
        ("rb.recur(\"turn\", 1, \"+1\", ctx.actor)", "a step is a number or a list of numbers, and this is a text"),
    ] {
        let found = act(call);
        assert!(matches!(&*found, [one] if one.contains(told)), "{call}: {found:?}");
    }
}

#[test]
fn a_text_that_changes_a_variable_around_it() {
    let told = "the text of rb.say changes `count`, a variable outside it, and may only read (return what it finds, and change the variable where the rule acts)";
    let from = "local won = ";
    let said = |body: &str| format!("local count = 0 rb.say(function() {body} return `{{count}}` end) local won = ");
    alone("maneuvers/pull.luau", from, &said("count += 1"), told);
    alone("maneuvers/pull.luau", from, &said("local function add() count = count + 1 end add()"), told);
    let found = planted("maneuvers/pull.luau", from, &said("local own = count own += 1"));
    assert!(found.is_empty(), "{found:?}");
    let check = "default = 1, check = function(value) ctx.rope = nil return value > 0 end }";
    let found = planted("maneuvers/pull.luau", "default = 1 }", check);
    assert!(found.iter().any(|found| found.contains("`check` of a question changes `ctx`")), "{found:?}");
}

#[test]
fn a_list_from_another_function_is_no_default() {
    let mut files = files::of(&["tug"]);
    let pullers = "local rb = require(\"@riskbreaker\")\nlocal pullers = {}\n\nfunction pullers.all()\n\treturn rb.each(\"puller\")\nend\n\n\
                   function pullers.here()\n\treturn pullers.all()\nend\n\nreturn pullers\n";
    files.insert("tug/lib/pullers.luau".into(), pullers.into());
    let rest = files.get_mut("tug/maneuvers/rest.luau").unwrap();
    let asks = "local list = require(\"lib/pullers\").here()\n\
                \t\tlocal who = rb.choose({ seat = \"left\", topic = \"carda\", options = list, default = list })\n\
                \t\trb.say(\"{}\", who)\n\t\trb.say(";
    *rest = rest.replace("rb.say(", asks);
    let told = found(files);
    let is_list = |one: &String| one.contains("the default is one of the options, and this is a list");
    assert!(told.len() == 1 && told.iter().all(is_list), "{told:#?}");
}

/// Questions collected in a list and asked together later.
#[test]
fn mistakes_in_questions_that_are_asked_together() {
    for (from, to, told) in [
        ("seat = buyer.seat, topic", "seat = \"ana\", topic", "there is no seat `ana` (did you mean `anna`?)"),
        ("topic = \"take\"", "topc = \"take\"", "rb.confirm has no field `topc` (did you mean `topic`?)"),
        ("rb.roll({ \"2d6\"", "rb.roll({ \"2x6\"", "\"2x6\""),
    ] {
        let Planted { line, found } = planted::planted(files::of(&["fish"]), "fish", "fish/play.luau", from, to);
        let told = found.iter().map(ToString::to_string).find(|one| one.contains(told));
        assert!(told.is_some_and(|one| one.starts_with(&format!("fish/play.luau:{line}:"))), "{from}: {found:#?}");
    }
}

/// The recap sentences of a card are complete, and use only known placeholders.
#[test]
fn sentences_of_a_recap_are_checked() {
    let with = |recap: &str| {
        planted("maneuvers/pull.luau", "title = \"Pull\",", &format!("title = \"Pull\",\n\trecap = {recap},"))
    };
    let sound = "{ success = \"{actor} pulls with {risk} against {other}.\", failure = \"{actor} slips!\" }";
    assert_eq!(with(sound), [""; 0]);
    for (recap, told) in [
        ("\"{actor} pulls.\"", "`recap` of maneuver `pull` is a string, not a table"),
        ("{ succes = \"{actor} pulls.\" }", "unknown key `succes` in `recap` of maneuver `pull`"),
        ("{ success = 3 }", "`success` in `recap` of maneuver `pull` is a number, not a text"),
        ("{ success = \"{actor} pulls\" }", "ends without `.`, `!` or `?`"),
        ("{ success = \"{the actor} pulls.\" }", "is neither `{actor}` nor `{other}` nor a topic"),
        ("{ success = \"{actor} pulls with {riks}.\" }", "`recap` names `{riks}`, and no question has this topic"),
    ] {
        let found = with(recap);
        assert!(found.len() == 1 && found[0].contains(told), "{recap}: {found:?}");
    }
}

const OLD: &str = "rb.verb({ \"rope\", \"by\", \"who\" }";
const TYPED: &str = "rb.verb({ text = \"Moves the rope.\", { \"rope\", rb.ref(\"rope\") }, { \"by\", rb.int({ min = -9, max = 9 }) }, \
                     { \"who\", rb.ref(\"puller\"), optional = true } }";
const CALL: &str = "rb.act.move_rope(ctx.rope, (won and risk or -risk) * ctx.actor.pull, ctx.actor)";

/// The game with types declared for its verb.
fn typed() -> BTreeMap<String, String> {
    let mut files = files::of(&["tug"]);
    let verbs = files.get_mut("tug/verbs.luau").unwrap();
    *verbs = verbs.replacen(OLD, TYPED, 1);
    files
}

#[test]
fn an_argument_is_compared_with_what_the_verb_declares() {
    let call = |args: &str| format!("rb.act.move_rope({args})");
    let must_by = "`by` of `rb.act.move_rope` must be a whole number from -9 to 9, and this is";
    for (to, told) in [
        (
            "local someone = rb.first(\"puller\")\n\t\trb.act.move_rope(someone, risk)".to_string(),
            "`someone` is an entity of the kind `puller`; `rope` of `rb.act.move_rope` must be an entity of the kind `rope`"
                .to_string(),
        ),
        (call("ctx.rope, \"1\" .. risk"), format!("{must_by} a text (`..` makes a text: numbers are added by `+`)")),
        (call("ctx.rope, \"1\""), format!("{must_by} a text (write the number without quotes)")),
        (call("ctx.rope, 10"), format!("{must_by} 10")),
        (call("nil, risk"), "`rb.act.move_rope` needs `rope`, which is nil here".into()),
        (call("ctx.rope"), "`rb.act.move_rope` needs `by`, which is not given (it is rb.act.move_rope(rope, by, who?))".into()),
        (call("rb.each(\"rope\"), risk"), "`rope` of `rb.act.move_rope` must be an entity, and this is a list".into()),
    ] {
        let Planted { line, found } = planted::planted(typed(), "tug", "tug/maneuvers/pull.luau", CALL, &to);
        let [one] = found.as_slice() else { panic!("{to}: {found:#?}") };
        let lines = line..=line + 1;
        assert!(one.line.is_some_and(|line| lines.contains(&(line as usize))), "{one}");
        assert!(one.to_string().contains(&told), "{one}\n{told}");
    }
    assert!(found(typed()).is_empty(), "{:?}", found(typed()));
}

#[test]
fn a_verb_without_types_is_a_warning_with_the_line_that_has_them() {
    let library = Library::from_files(files::of(&["tug"]));
    let analysis = Analysis::new(&library, "tug", &WorkBudget::new(CheckReport::WORK));
    assert!(analysis.report.is_passed());
    let [one] = analysis.report.problems.as_slice() else { panic!("{:#?}", analysis.report.problems) };
    let new = "{ { \"rope\", rb.ref(\"rope\") }, { \"by\", rb.int(), optional = true }, { \"who\", rb.any() } }";
    assert_eq!(
        one.to_string(),
        format!(
            "tug/verbs.luau:4:22: warning: the parameters of the verb `move_rope` have no types (write rb.verb({new}, ...))"
        )
    );

    let text = library.read("tug").unwrap().files["verbs.luau"].text.to_string();
    let budget = WorkBudget::new(CheckReport::WORK);
    let written = analysis.in_new_form("tug/verbs.luau", &text, &budget).unwrap();
    assert_eq!(written, text.replace("{ \"rope\", \"by\", \"who\" }", new));
    assert!(analysis.read_again("tug/verbs.luau", &written, &budget).unwrap().is_empty());
    assert_eq!(analysis.in_new_form("tug/verbs.luau", &written, &budget), None);
}

#[test]
fn the_comment_above_a_verb_becomes_its_sentence() {
    let library = Library::from_files(files::of(&["tug"]));
    let analysis = Analysis::new(&library, "tug", &WorkBudget::new(CheckReport::WORK));
    let text = library.read("tug").unwrap().files["verbs.luau"].text.to_string();
    let old = text.replace("\tmove_rope", "\t-- Moves the rope\n\t-- \"by\" steps. TUG-1.\n\tmove_rope");
    let written = analysis.in_new_form("tug/verbs.luau", &old, &WorkBudget::new(CheckReport::WORK)).unwrap();
    let new = "\t\ttext = \"Moves the rope \\\"by\\\" steps.\",\n\t\t{ \"rope\", rb.ref(\"rope\") },\n";
    assert!(written.contains(new), "{written}");
}

#[test]
fn a_returned_local_is_used_and_a_policy_always_answers() {
    let wrong = planted("maneuvers/rest.luau", "ctx.actor:add(\"rests\", 1)", "rb.shuffle({ 1, 2 })");
    assert!(
        wrong.iter().any(|one| one.contains("`rb.shuffle` changes nothing, and what it gives back is not used")),
        "{wrong:?}"
    );
    let wrong = planted("policies/hasty.luau", "\t\treturn rb.pick(q, 3)\n", "");
    let told =
        "this policy returns a value in some cases, and can end without one (add `return ...` before this `end`)";
    assert!(matches!(&*wrong, [one] if one.ends_with(told)), "{wrong:?}");
}

/// Files of the small game with a hook `tired`, which a card attaches.
fn with_hook(hook: &str, card: &str) -> BTreeMap<String, String> {
    let mut files = files::of(&["tug"]);
    files.insert("tug/hooks/tired.luau".into(), hook.into());
    let rest = files.get_mut("tug/maneuvers/rest.luau").unwrap();
    *rest = rest.replacen("ctx.actor:add(\"rests\", 1)", card, 1);
    files
}

/// The findings without the warnings about verbs without types.
fn errors(files: BTreeMap<String, String>) -> Vec<String> {
    let found = planted::all_findings(files, "tug").into_iter().filter(|problem| !problem.is_warning);
    found.map(|problem| problem.to_string()).collect()
}

#[test]
fn the_data_of_an_attachment_may_be_left_out() {
    let hook = |data: &str, by: &str| {
        format!(
            "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({{\n\tid = \"tired\",{data}\n\tbefore = {{\n\t\tmove_rope = \
             function(e, holder)\n\t\t\te.by = {by}\n\t\tend,\n\t}},\n}})\n"
        )
    };
    let declared = "\n\tdata = { less = { rb.int(), optional = true } },";
    let attached = "rb.attach(\"tired\", ctx.actor, { less = 1 })";
    let found = errors(with_hook(&hook(declared, "e.by - holder.data.less"), attached));
    assert!(
        matches!(&*found, [one] if one.contains("`holder.data.less` may be nil: `less` may be left out")),
        "{found:?}"
    );
    assert!(errors(with_hook(&hook(declared, "e.by - (holder.data.less or 0)"), attached)).is_empty());
    let needed = "\n\tdata = { less = rb.int() },";
    assert!(errors(with_hook(&hook(needed, "e.by - holder.data.less"), attached)).is_empty());
    // Nothing is declared: what the attachments of the hook are given decides.
    assert!(errors(with_hook(&hook("", "e.by - holder.data.less"), attached)).is_empty());
    let other = "rb.attach(\"tired\", ctx.actor, { more = 1 })";
    let found = errors(with_hook(&hook("", "e.by - holder.data.less"), other));
    assert!(found.iter().any(|one| one.contains("`tired` is attached without `less` in its data")), "{found:?}");
    let found = errors(with_hook(&hook("", "e.by - holder.data.less"), "rb.attach(\"tired\", ctx.actor)"));
    assert!(found.iter().any(|one| one.contains("`tired` is attached without data")), "{found:?}");
}

#[test]
fn the_hook_of_an_attachment_is_known_behind_a_comparison() {
    let hook = "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"tired\",\n\tdata = { less = rb.int() },\n\tbefore \
                = {\n\t\tmove_rope = function(e, holder)\n\t\t\te.by = e.by - holder.data.less\n\t\tend,\n\t},\n})\n";
    let looped = |within: &str| {
        format!(
            "rb.attach(\"tired\", ctx.actor, {{ less = 1 }})\n\t\tfor _, held in rb.attached(ctx.actor) do\n{within}\t\tend"
        )
    };
    let inside = |name: &str| {
        looped(&format!(
            "\t\t\tif held.hook == \"tired\" then\n\t\t\t\trb.say(\"{{}}\", held.data.{name})\n\t\t\tend\n"
        ))
    };
    assert!(errors(with_hook(hook, &inside("less"))).is_empty(), "{:?}", errors(with_hook(hook, &inside("less"))));
    let found = errors(with_hook(hook, &inside("amount")));
    assert!(matches!(&*found, [one] if one.contains("the data of `tired` have no `amount`")), "{found:?}");
    let found = errors(with_hook(hook, &looped("\t\t\trb.say(\"{}\", held.data.les)\n")));
    assert!(matches!(&*found, [one] if one.contains("no hook declares `les` in its data")), "{found:?}");
}

#[test]
fn the_types_of_derived_values_are_worked_out_through_functions() {
    let mut files = files::of(&["tug"]);
    let kinds = files.get_mut("tug/kinds.luau").unwrap();
    *kinds = kinds.replacen(
        "need = function(self)",
        "strong = function(self)\n\t\t\t\treturn self:twice() > 8 and self.rests == 0\n\t\t\tend,\n\t\t\ttwice = \
         function(self)\n\t\t\t\tlocal sum = self.strength\n\t\t\t\tsum += math.max(0, self.strength)\n\t\t\t\treturn \
         sum\n\t\t\tend,\n\t\t\tshout = function(self)\n\t\t\t\treturn if self:strong() then `{self.name}!` else \
         nil\n\t\t\tend,\n\t\t\todd = function(self, what)\n\t\t\t\treturn what\n\t\t\tend,\n\t\t\tneed = function(self)",
        1,
    );
    let library = Library::from_files(files);
    let rules = riskbreaker::Ruleset::load(&library, "tug").unwrap();
    let types = riskbreaker::check::derived_types(&rules);
    let of = |name: &str| types.get(name).map(|ty| (format!("{:?}", ty.form), ty.optional));
    assert_eq!(of("twice"), Some(("Number".into(), false)));
    assert_eq!(of("strong"), Some(("Boolean".into(), false)));
    assert_eq!(of("shout"), Some(("Text".into(), true)));
    // Callers get the number of a sum.
    assert_eq!(of("need"), Some(("Number".into(), false)));
    assert_eq!(of("odd"), None);
    let module = riskbreaker::script::type_module(&rules, &types);
    assert!(module.contains("\tshout: (self: Puller, ...any) -> string?,"), "{module}");
    assert!(module.contains("\todd: (self: Puller, ...any) -> any,"), "{module}");
    let page = riskbreaker::script::ruleset_reference(&rules, &types);
    assert!(
        page.contains("| `strong()` | true or false |") && page.contains("| `shout()` | a text or nil |"),
        "{page}"
    );
}
