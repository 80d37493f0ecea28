//! Sessions of an editor with the language server, run as the installed program.
#![cfg(feature = "cli")]

#[path = "files/editor.rs"]
mod editor;
mod files;

use editor::Editor;
use serde_json::{Value as Json, json};

const REST: &str = "tug/maneuvers/rest.luau";

#[test]
fn a_mistake_is_shown_while_it_is_typed_and_its_fix_removes_it() {
    let mut editor = Editor::over(&["tug"]);
    assert_eq!(editor.open(REST), Vec::<Json>::new());
    // The edit is not saved. The column counts UTF-16 units, of which a die symbol takes two.
    editor.replace(REST, "ctx.actor:add(\"rests\", 1)", "rb.say(\"\u{1f3b2}\") ctx.actor:add(\"restz\", 1)");
    let found = editor.diagnostics(REST);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert!(one["message"].as_str().unwrap().contains("`restz`"), "{one}");
    assert_eq!(editor.text_in(REST, &one["range"]), "restz");
    assert_eq!((&one["source"], &one["code"]), (&json!("riskbreaker"), &json!("unknown-field")));

    let actions = editor.actions(REST, &one["range"]);
    let [fix, _] = actions.as_slice() else { panic!("{actions:#?}") };
    assert_eq!((&fix["title"], &fix["isPreferred"]), (&json!("Change `restz` to `rests`"), &json!(true)));
    assert_eq!(fix["diagnostics"][0]["message"], one["message"]);
    editor.apply(&fix["edit"]);
    assert_eq!(editor.diagnostics(REST), Vec::<Json>::new());
    assert!(editor.text(REST).contains("ctx.actor:add(\"rests\", 1)"));
    editor.end();
}

#[test]
fn a_finding_is_explained_and_can_be_allowed_in_its_line() {
    let mut editor = Editor::over(&["tug"]);
    assert_eq!(editor.open(REST), Vec::<Json>::new());
    editor.replace(REST, "ctx.actor:add(\"rests\", 1)", "ctx.actor:add(\"restz\", 1)");
    let found = editor.diagnostics(REST);
    let hover = editor.at("textDocument/hover", REST, "restz", 1, json!({}));
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("**unknown-field** (error): An entity has the fields"), "{told}");
    let actions = editor.actions(REST, &found[0]["range"]);
    let [_, allow] = actions.as_slice() else { panic!("{actions:#?}") };
    assert_eq!(allow["title"], "Allow `unknown-field` in this line");
    editor.apply(&allow["edit"]);
    assert_eq!(editor.diagnostics(REST), Vec::<Json>::new());
    let written = "\t\t-- check: allow(unknown-field)\n\t\tctx.actor:add(\"restz\", 1)";
    assert!(editor.text(REST).contains(written), "{}", editor.text(REST));
    // The comment is a mistake of its own once it is not needed.
    editor.replace(REST, "restz", "rests");
    let found = editor.diagnostics(REST);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!((&one["code"], &one["severity"]), (&json!("unused-allow"), &json!(2)));
    editor.end();
}

#[test]
fn problems_in_other_files_are_shown_there() {
    let mut editor = Editor::over(&["tug"]);
    editor.open("tug/kinds.luau");
    editor.replace("tug/kinds.luau", "rests = rb.int", "naps = rb.int");
    // The card is not open, and reads the removed field.
    let found = editor.diagnostics_until(REST, |found| !found.is_empty());
    assert!(found.iter().any(|one| one["message"].as_str().unwrap().contains("rests")), "{found:#?}");
    editor.replace("tug/kinds.luau", "naps = rb.int", "rests = rb.int");
    assert_eq!(editor.diagnostics_until(REST, <[Json]>::is_empty), Vec::<Json>::new());
    editor.end();
}

#[test]
fn data_files_and_the_manifest_are_checked_as_they_are_typed() {
    let mut editor = Editor::over(&["tug"]);
    editor.open("tug/scenarios/two.toml");
    editor.open("tug/ruleset.toml");
    editor.replace("tug/ruleset.toml", "scenario = \"two\"", "scenario = \"twö\"");
    let found = editor.diagnostics("tug/ruleset.toml");
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert!(one["message"].as_str().unwrap().contains("scenarios/twö.toml"), "{one}");
    editor.replace("tug/ruleset.toml", "scenario = \"twö\"", "scenario = \"two\"");
    assert_eq!(editor.diagnostics("tug/ruleset.toml"), Vec::<Json>::new());
    editor.end();
}

#[test]
fn messages_that_cannot_be_read_are_answered_and_end_nothing() {
    let mut editor = Editor::over(&["tug"]);
    editor.raw("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":");
    assert_eq!(editor.next_response()["error"]["code"], -32700);
    editor.raw("[1, 2]");
    assert_eq!(editor.next_response()["error"]["code"], -32600);
    assert_eq!(editor.request_raw("textDocument/codeAction", json!({ "range": 1 }))["error"]["code"], -32602);
    assert_eq!(editor.request_raw("textDocument/dance", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request_raw("initialize", json!({}))["error"]["code"], -32600);
    editor.notify("textDocument/didChange", &json!({ "textDocument": 5 }));
    editor.notify("$/setTrace", &json!({ "value": "off" }));
    // A text that belongs to no ruleset, and one that is no file.
    editor.notify(
        "textDocument/didOpen",
        &json!({ "textDocument": { "uri": "untitled:x", "languageId": "luau", "version": 1, "text": "x" } }),
    );
    assert_eq!(editor.open(REST), Vec::<Json>::new());
    editor.end();
}

#[test]
fn the_conversation_has_a_beginning_and_an_end() {
    let mut editor = Editor::before_initialize(&["tug"]);
    assert_eq!(editor.request_raw("textDocument/hover", json!({}))["error"]["code"], -32002);
    editor.initialize();
    assert_eq!(editor.request("shutdown", Json::Null), Json::Null);
    assert_eq!(editor.request_raw("textDocument/hover", json!({}))["error"]["code"], -32600);
    editor.notify("exit", &Json::Null);
    assert_eq!(editor.code(), Some(0));
    // The editor disappears.
    let mut editor = Editor::over(&["tug"]);
    editor.close_input();
    assert_eq!(editor.code(), Some(1));
}

/// A house rule over the small game, which reads the field `rests` and the card `rest`.
fn with_house() -> Editor {
    let mut editor = Editor::before_initialize(&["tug"]);
    editor.write("house/ruleset.toml", "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nover = [\"tug\"]\n");
    editor.write("house/RULES.md", "# House\n\n- **HOUSE-1** A tired puller pulls less: `rests` counts.\n");
    editor.write(
        "house/hooks/tired.luau",
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"tired\",\n\trules = { \"HOUSE-1\" },\n\talways = true,\n\t\
         before = {\n\t\tmove_rope = function(e)\n\t\t\tif e.who.rests > 0 then\n\t\t\t\te.by = 0\n\t\t\tend\n\t\tend,\n\t},\n})\n",
    );
    editor.initialize();
    editor
}

const TIRED: &str = "house/hooks/tired.luau";

#[test]
fn hovering_tells_what_a_word_a_rule_a_card_or_a_field_is() {
    let mut editor = with_house();
    assert_eq!(editor.open(TIRED), Vec::<Json>::new());
    for (piece, within, told) in [
        ("rb.hook", 4, "A condition or a house rule that hangs on verbs"),
        ("HOUSE-1", 3, "A tired puller pulls less"),
        ("rests", 2, "rests: number"),
        ("move_rope", 2, "rb.act.move_rope(rope, by, who)"),
    ] {
        let hover = editor.at("textDocument/hover", TIRED, piece, within, json!({}));
        assert!(hover["contents"]["value"].as_str().unwrap().contains(told), "{piece}: {hover}");
    }
    editor.open("tug/specs/maneuvers/rest.luau");
    let hover = editor.at("textDocument/hover", "tug/specs/maneuvers/rest.luau", "\"rest\"", 2, json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Do nothing; at most twice."), "{hover}");
    assert_eq!(editor.at("textDocument/hover", TIRED, "local", 1, json!({})), Json::Null);
    editor.end();
}

const PULL: &str = "tug/maneuvers/pull.luau";

/// The text of a hover.
fn hovered(editor: &mut Editor, path: &str, piece: &str) -> String {
    let hover = editor.at("textDocument/hover", path, piece, 2, json!({}));
    hover["contents"]["value"].as_str().unwrap().to_owned()
}

#[test]
fn hovering_over_a_card_shows_its_exact_odds_before_and_after_the_edit() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(PULL);
    let odds = hovered(&mut editor, PULL, "\"pull\"");
    assert!(odds.contains("**Odds** in the scenario `two`, played by Ann"), "{odds}");
    assert!(odds.contains("| chance | outcome |") && odds.ends_with("exact, over 2 paths"), "{odds}");
    // A failure costs nothing now. The edit is not saved.
    editor.replace(PULL, "won and risk or -risk", "won and risk or 0");
    let odds = hovered(&mut editor, PULL, "\"pull\"");
    assert!(odds.contains("| saved | edited | outcome |"), "{odds}");
    assert!(odds.contains("| - | 50.00 % 1/2 | nothing changes |"), "{odds}");
    assert!(odds.contains("| 50.00 % 1/2 | 50.00 % 1/2 | rope 1 rope 0 -> -1 |"), "{odds}");
    assert!(odds.contains("| 50.00 % 1/2 | - | rope 1 rope 0 -> 1 |"), "{odds}");
    // Another word changes no chance. The odds are also shown at the word that declares the card.
    editor.replace(PULL, "won and risk or 0", "won and risk or -risk");
    editor.replace(PULL, "How hard?", "How hard");
    let odds = hovered(&mut editor, PULL, ".maneuver");
    assert!(odds.contains("The edit does not change them."), "{odds}");
    // Rules that do not load have no odds.
    editor.replace(PULL, "resolve = function", "resolve = = function");
    let odds = hovered(&mut editor, PULL, "\"pull\"");
    assert!(odds.contains("No odds: the rules do not load now."), "{odds}");
    editor.end();
}

#[test]
fn a_card_that_is_closed_has_its_odds_where_it_is_open() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    editor.replace(REST, "ctx.actor.rests >= 2", "ctx.actor.rests < 2");
    let odds = hovered(&mut editor, REST, "\"rest\"");
    assert!(odds.contains(", with Ann.rests = 3"), "{odds}");
    editor.end();
}

/// A card with more paths than can be followed.
const LONG: &str =
    "for at = 1, 400 do rb.roll(\"1d100\", \"{}\", at) rb.say(\"{}\", rb.roll(\"1d100\", \"again\")) end";

#[test]
fn slow_odds_are_estimates_and_end_with_the_request() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    editor.replace(REST, "ctx.actor:add(\"rests\", 1)", LONG);
    editor.diagnostics(REST);
    let params = json!({ "textDocument": { "uri": editor.uri(REST) }, "position": { "line": 3, "character": 8 } });
    let ask = |editor: &mut Editor, id: i64| {
        editor
            .raw(&json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": params }).to_string());
    };
    ask(&mut editor, 901);
    editor.notify("$/cancelRequest", &json!({ "id": 901 }));
    let answer = editor.next_response();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(901), &json!(-32800)));
    // The next keystroke ends them, too: the hover has no odds.
    ask(&mut editor, 902);
    editor.replace(REST, "at = 1, 400", "at = 1, 401");
    let answer = editor.next_response();
    let told = answer["result"]["contents"]["value"].as_str().unwrap();
    assert!(answer["id"] == 902 && told.contains("Do nothing") && !told.contains("Odds"), "{answer}");
    // Without an interruption, the result is an estimate and says so.
    let odds = hovered(&mut editor, REST, "\"rest\"");
    assert!(odds.contains("not exact"), "{odds}");
    editor.end();
}

#[test]
fn a_call_shows_its_parameters() {
    let mut editor = with_house();
    editor.write(
        "house/lib/near.luau",
        "local near = {}\n\nfunction near.by(one, other)\n\treturn one == other\nend\n\nreturn near\n",
    );
    editor.open(TIRED);
    editor.replace(TIRED, "\nreturn rb.hook", "local near = require(\"lib/near\")\n\nreturn rb.hook");
    for (typed, label, active) in [
        ("rb.each(", "rb.each(\"coin\"", 0),
        ("rb.act.move_rope(e.rope, ", "rb.act.move_rope(rope, by, who)", 1),
        ("rb.act.move_rope(e.rope, rb.sum({ 1, 2 }), ", "rb.act.move_rope(rope, by, who)", 2),
        ("e.who:add(\"rests\", ", "entity:add(field, amount", 1),
        ("near.by(e.who, ", "near.by(one, other)", 1),
    ] {
        editor.replace(TIRED, "e.by = 0", typed);
        let help = editor.at("textDocument/signatureHelp", TIRED, typed, typed.len(), json!({}));
        assert!(help["signatures"][0]["label"].as_str().unwrap().starts_with(label), "{typed}: {help}");
        assert_eq!(help["activeParameter"], active, "{typed}: {help}");
        editor.replace(TIRED, typed, "e.by = 0");
    }
    assert_eq!(editor.at("textDocument/signatureHelp", TIRED, "e.by = 0", 8, json!({})), Json::Null);
    editor.end();
}

#[test]
fn words_of_the_ruleset_have_their_sorts() {
    let mut editor = Editor::before_initialize(&["tug"]);
    let legend = editor.initialize();
    let legend = &legend["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
    let found = sorts_of(&mut editor, PULL, legend);
    for (word, sort) in [
        ("maneuver", "macro"),
        ("pull", "enumMember"),
        ("TUG-1", "label"),
        ("need", "method"),
        ("move_rope", "function"),
        ("seat", "property"),
    ] {
        assert!(found.contains(&(word.to_owned(), sort.to_owned())), "{word}: {found:?}");
    }
    assert!(found.iter().all(|(word, _)| word != "Pull" && word != "local"), "{found:?}");
    editor.end();
}

/// In a table the keys that it takes are offered, in quotes the words that the place can have, and nothing else.
#[test]
fn completion_follows_the_declarations_of_what_is_called() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    for (typed, label, other) in [
        ("rb.choose({ ", "topic", "min"),
        ("rb.number({ ", "min", "options"),
        ("rb.spawn(\"puller\", { ", "strength", "at"),
        ("rb.each(\"rope\", { ", "at", "strength"),
        ("ctx.actor:add(\"", "rests", "name"),
        ("rb.lasts(ctx.actor, { moment = \"", "turn", "rests"),
        ("rb.choose({ topic = \"", "risk", "rests"),
        ("if rb.card(\"", "pull", "rope"),
        ("rb.cards.", "pull", "rope"),
        ("rb.cards.pull.", "text", "rests"),
        ("local x = (\"x\"):", "upper", "set"),
    ] {
        editor.replace(REST, "rb.say(\"{} rests\", ctx.actor)", typed);
        let items = editor.at("textDocument/completion", REST, typed, typed.len(), json!({}));
        let labels: Vec<_> = items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
        assert!(labels.contains(&label) && !labels.contains(&other), "{typed}: {labels:?}");
        editor.replace(REST, typed, "rb.say(\"{} rests\", ctx.actor)");
    }
    editor.replace(REST, "\tid = \"rest\",", "\tid = \"rest\",\n\t");
    let items = editor.at("textDocument/completion", REST, "\tid = \"rest\",\n\t", 15, json!({}));
    let has = |label: &str| items.as_array().unwrap().iter().any(|item| item["label"] == label);
    assert!(has("recap") && !has("when"), "a key that is there is not offered again: {items}");
    editor.end();
}

#[test]
fn completion_after_a_dot_offers_what_the_expression_has() {
    let mut editor = with_house();
    editor.write("house/lib/near.luau", "return { by = function(one, other) return one == other end }\n");
    editor.open(TIRED);
    editor.replace(TIRED, "\nreturn rb.hook", "local near = require(\"lib/near\")\n\nreturn rb.hook");
    let labels = |editor: &mut Editor, typed: &str| -> Vec<String> {
        editor.replace(TIRED, "e.by = 0", typed);
        // The line itself has this number of tabs.
        let typed_line = format!("\t\t\t\t{typed}");
        let items = editor.at("textDocument/completion", TIRED, &typed_line, typed_line.len(), json!({}));
        editor.replace(TIRED, &typed_line, "\t\t\t\te.by = 0");
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    // The verb has not run yet, so its event has no `result`.
    assert_eq!(labels(&mut editor, "e."), ["by", "rope", "who"]);
    assert_eq!(labels(&mut editor, "if e."), ["by", "rope", "who"]);
    assert_eq!(labels(&mut editor, "local one = near.b"), ["by"]);
    // Of all kinds in the rulesets, only that of the expression counts.
    let of_rope = labels(&mut editor, "local rope = rb.first(\"rope\") local by = rope.");
    let of_puller = labels(&mut editor, "local all = rb.each(\"puller\") local by = all[1].");
    assert!(of_puller.contains(&"rests".into()) && !of_puller.contains(&"at".into()), "{of_puller:?}");
    assert!(of_rope.contains(&"at".into()) && !of_rope.contains(&"rests".into()), "{of_rope:?}");
    assert!(labels(&mut editor, "local one = #rb.each(\"puller\") one.").is_empty());
    editor.end();
}

#[test]
fn a_definition_is_the_file_or_the_line_that_declares_a_name() {
    let mut editor = with_house();
    editor.open(TIRED);
    for (piece, within, path, found) in [
        ("HOUSE-1", 1, "house/RULES.md", "HOUSE-1"),
        ("rests", 1, "tug/kinds.luau", "rests"),
        ("move_rope", 1, "tug/verbs.luau", "move_rope"),
    ] {
        let places = editor.at("textDocument/definition", TIRED, piece, within, json!({}));
        let [place] = places.as_array().unwrap().as_slice() else { panic!("{piece}: {places}") };
        assert_eq!(editor.path_of(&place["uri"]), path);
        assert_eq!(editor.text_in(path, &place["range"]), found);
    }
    editor.open("tug/specs/maneuvers/rest.luau");
    let places = editor.at("textDocument/definition", "tug/specs/maneuvers/rest.luau", "\"rest\"", 2, json!({}));
    assert_eq!(editor.path_of(&places[0]["uri"]), REST);
    editor.end();
}

#[test]
fn a_definition_in_built_in_rules_is_shown_in_a_copy_that_cannot_be_written() {
    const CARD: &str = "edge/maneuvers/edge.luau";
    let mut editor = Editor::before_initialize(&["tug"]);
    editor.write(
        "edge/ruleset.toml",
        "id = \"edge\"\ntitle = \"Edge\"\nversion = \"1\"\nextends = \"riskbreaker-0.0.3\"\n",
    );
    editor.write("edge/RULES.md", "# Edge\n\n- **EDGE-1** RB3-001 holds.\n");
    editor.write(
        CARD,
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.extend(rb.maneuver({\n\tid = \"pass\",\n\tresolve = rb.wrapped(function(below, ctx)\n\t\t\
         below(ctx)\n\t\tctx.actor.side:add(\"advantage\", 1)\n\tend),\n}))\n",
    );
    editor.initialize();
    editor.open(CARD);
    let copy = "state/riskbreaker/sources/";
    for (piece, inside, found) in [
        ("add(\"advantage\"", "riskbreaker-0.0.3/kinds.luau", "advantage"),
        ("id = \"pass\"", "riskbreaker-0.0.3/maneuvers/pass.luau", ""),
    ] {
        let places = editor.at("textDocument/definition", CARD, piece, piece.len() - 2, json!({}));
        let paths = |place: &Json| (editor.path_of(&place["uri"]), place["range"].clone());
        let places: Vec<(String, Json)> = places.as_array().unwrap().iter().map(paths).collect();
        let path = format!("{copy}{inside}");
        let (_, range) = places.iter().find(|(at, _)| *at == path).unwrap_or_else(|| panic!("{piece}: {places:?}"));
        assert_eq!(editor.text_in(&path, range), found);
        assert!(editor.is_read_only(&path), "{path}");
        let shown: Vec<Json> = editor.open(&path);
        assert!(shown.iter().all(|one| one["severity"] != 1), "{shown:#?}");
    }
    // A field of the built-in rules cannot be renamed: no file of the user declares it.
    let refused = editor.at_raw("textDocument/prepareRename", CARD, "\"advantage\", 1", 3, json!({}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("no file on the disk"), "{refused}");
    editor.end();
}

#[test]
fn completion_offers_words_verbs_fields_and_ids() {
    let mut editor = with_house();
    editor.open(TIRED);
    // These texts are incomplete, as while typing.
    for (typed, label, detail) in [
        ("rb.", "each", "rb.each("),
        ("rb.ea", "each", "rb.each("),
        ("rb.act.", "move_rope", "rb.act.move_rope(rope, by, who)"),
        ("rb.switches.", "wins_at", "switch"),
        ("rb.each(\"", "puller", "kind"),
        ("e.who:add(\"", "rests", "puller: number"),
        ("e.who.", "rests", "puller: number"),
        ("e.who:", "need", "derived value of puller"),
        ("math.", "floor", "math"),
    ] {
        editor.replace(TIRED, "e.by = 0", typed);
        let items = editor.at("textDocument/completion", TIRED, typed, typed.len(), json!({}));
        let item = items.as_array().unwrap().iter().find(|item| item["label"] == label);
        let item = item.unwrap_or_else(|| panic!("{typed}: {items}"));
        assert!(item["detail"].as_str().unwrap().starts_with(detail), "{typed}: {item}");
        editor.replace(TIRED, typed, "e.by = 0");
    }
    editor.replace(TIRED, "\"HOUSE-1\" }", "\"");
    let items = editor.at("textDocument/completion", TIRED, "rules = { \"", 11, json!({}));
    let labels: Vec<_> = items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["HOUSE-1", "TUG-1", "TUG-2"]);
    editor.end();
}

#[test]
fn a_field_is_renamed_over_two_layers() {
    let mut editor = with_house();
    editor.open(TIRED);
    let references = editor.at("textDocument/references", TIRED, "rests", 1, json!({ "context": {} }));
    let count = references.as_array().unwrap().len();
    let new_name = json!({ "newName": "naps" });
    let edit = editor.at("textDocument/rename", TIRED, "rests", 1, new_name);
    let changes = edit["changes"].as_object().unwrap();
    assert_eq!(changes.values().map(|edits| edits.as_array().unwrap().len()).sum::<usize>(), count);
    editor.apply(&edit);
    for path in [TIRED, "house/RULES.md", "tug/kinds.luau", REST] {
        let text = editor.text_of(path);
        assert!(text.contains("naps") && !text.replace("\"rests\"", "").contains(".rests"), "{path}: {text}");
    }
    assert_eq!(editor.text_of("tug/kinds.luau").matches("label = \"rests\"").count(), 1, "what people read stays");
    editor.notify("textDocument/didSave", &json!({ "textDocument": { "uri": editor.uri(TIRED) } }));
    assert_eq!(editor.diagnostics(TIRED), Vec::<Json>::new());
    // The game reads the new name now, so no problem is found there.
    editor.open("tug/kinds.luau");
    assert_eq!(editor.diagnostics("tug/kinds.luau"), Vec::<Json>::new());
    for (piece, new, why) in [
        ("naps", "strength", "is there already"),
        ("naps", "two words", "is no name"),
        ("rules", "x", "a name of the host"),
    ] {
        let params = json!({ "newName": new });
        let refused = editor.at_raw("textDocument/rename", TIRED, piece, 1, params);
        assert!(refused["error"]["message"].as_str().unwrap().contains(why), "{piece}: {refused}");
    }
    editor.end();
}

#[test]
fn a_card_is_renamed_with_its_files() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    let edit = editor.at("textDocument/rename", REST, "\"rest\"", 2, json!({ "newName": "pause" }));
    let changes = edit["documentChanges"].as_array().unwrap();
    let moved: Vec<String> = changes
        .iter()
        .filter(|change| change["kind"] == "rename")
        .map(|change| format!("{} {}", editor.path_of(&change["oldUri"]), editor.path_of(&change["newUri"])))
        .collect();
    assert_eq!(
        moved,
        [
            "tug/maneuvers/rest.luau tug/maneuvers/pause.luau",
            "tug/specs/maneuvers/rest.luau tug/specs/maneuvers/pause.luau"
        ]
    );
    let edited =
        changes.iter().any(|change| change["textDocument"]["uri"] == editor.uri("tug/specs/maneuvers/rest.luau"));
    assert!(edited, "{edit}");
    editor.end();
}

#[test]
fn symbols_lenses_and_formatting_are_answered() {
    let mut editor = with_house();
    editor.open(TIRED);
    let of = |editor: &Editor, path: &str| json!({ "textDocument": { "uri": editor.uri(path) } });
    let named = |symbols: &Json| -> Vec<String> {
        symbols.as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap().to_owned()).collect()
    };
    let params = of(&editor, TIRED);
    let symbols = editor.request("textDocument/documentSymbol", params);
    assert_eq!(named(&symbols), ["tired"]);
    assert_eq!(named(&symbols[0]["children"]), ["id", "rules", "always", "before"]);
    assert_eq!(named(&symbols[0]["children"][3]["children"]), ["move_rope"]);
    let whole = editor.text_in(TIRED, &symbols[0]["children"][3]["range"]);
    assert!(whole.starts_with("before = {") && whole.ends_with('}'), "{whole}");
    let found = named(&editor.request("workspace/symbol", json!({ "query": "move_r" })));
    assert_eq!(found, ["move_rope", "move_rope"]);
    let found = editor.request("workspace/symbol", json!({ "query": "PUL" }));
    assert!(["puller", "pull"].iter().all(|name| named(&found).contains(&(*name).to_owned())), "{found}");
    assert!(!named(&editor.request("workspace/symbol", json!({ "query": "" }))).contains(&"always".to_owned()));
    let params = of(&editor, REST);
    let lenses = editor.request("textDocument/codeLens", params);
    let lines: Vec<&str> =
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["arguments"][0].as_str().unwrap()).collect();
    assert!(lines[0].ends_with("test tug --filter specs/maneuvers/rest.luau"), "{lines:?}");
    assert!(lines[1].ends_with("odds rest --rules tug"), "{lines:?}");
    assert!(lines[2].ends_with("rules explain rest --rules tug"), "{lines:?}");
    let spec = "tug/specs/maneuvers/rest.luau";
    let params = of(&editor, spec);
    let lenses = editor.request("textDocument/codeLens", params);
    let lens = &lenses[1];
    assert_eq!(lens["command"]["title"], "Run this spec");
    let line = lens["command"]["arguments"][0].as_str().unwrap();
    let name = editor.text_in(spec, &lens["range"]);
    assert!(line.ends_with(&format!("test tug --filter '={name}' --trace")), "{line}: {name}");
    let mut params = of(&editor, TIRED);
    params["options"] = json!({ "tabSize": 4, "insertSpaces": false });
    // Without stylua there are no edits.
    let edits = editor.request("textDocument/formatting", params);
    assert!(edits.is_null() || edits.as_array().unwrap().len() <= 1);
    editor.end();
}

/// Each prefix of a file is sent, as while typing, and every request is answered at every position.
#[test]
fn every_prefix_of_a_file_is_answered() {
    let mut editor = Editor::over(&["tug"]);
    for path in [
        "tug/verbs.luau",
        "tug/maneuvers/pull.luau",
        "tug/ruleset.toml",
        "tug/RULES.md",
        "tug/specs/maneuvers/rest.luau",
    ] {
        // A verb without types is a warning.
        let found = editor.open(path);
        assert!(found.iter().all(|one| one["severity"] == 2), "{found:#?}");
        let text = editor.text(path).to_owned();
        let ends: Vec<usize> = (0..=text.len()).filter(|end| text.is_char_boundary(*end)).step_by(41).collect();
        for end in ends {
            let all = json!({ "text": &text[..end] });
            editor.set(path, &text[..end], &all);
            let place = editor.place(&text[..end]);
            let document = json!({ "uri": editor.uri(path) });
            for method in ["hover", "definition", "completion", "references", "documentSymbol", "codeLens"] {
                let params =
                    json!({ "textDocument": document, "position": place, "context": { "includeDeclaration": true } });
                editor.request(&format!("textDocument/{method}"), params);
            }
        }
        editor.set(path, &text, &json!({ "text": &text }));
        assert_eq!(editor.diagnostics(path), found, "{path}");
    }
    editor.end();
}

#[test]
fn a_verb_without_types_is_a_warning_and_one_action_rewrites_the_file() {
    const VERBS: &str = "tug/verbs.luau";
    let mut editor = Editor::over(&["tug"]);
    let found = editor.open(VERBS);
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(one["severity"], 2, "{one}");
    assert!(one["message"].as_str().unwrap().contains("`move_rope` have no types"), "{one}");
    let actions = editor.actions(VERBS, &one["range"]);
    let [fix, _] = actions.as_slice() else { panic!("{actions:#?}") };
    assert_eq!(fix["title"], "Declare the types of all verbs in this file");
    editor.apply(&fix["edit"]);
    assert_eq!(editor.diagnostics(VERBS), Vec::<Json>::new());
    assert!(editor.text(VERBS).contains("{ \"by\", rb.int(), optional = true }"), "{}", editor.text(VERBS));
    let hover = editor.at("textDocument/hover", VERBS, "move_rope", 2, json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("`by`: a whole number"), "{hover}");
    editor.end();
}

fn labels(editor: &mut Editor, path: &str, piece: &str, within: usize) -> Vec<String> {
    let items = editor.at("textDocument/completion", path, piece, within, json!({}));
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

/// The first file of a session is new and unfinished, so the ruleset does not load; the names of its other files are
/// known all the same.
#[test]
fn an_unfinished_first_file_is_completed() {
    const NEW: &str = "tug/maneuvers/yank.luau";
    let text = "local rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({\n\tid = \"\",\n\t\n\twhen = function(ctx)\n\t\trb.act.\n\tend,\n})\n";
    let mut editor = Editor::over(&["tug"]);
    editor.write(NEW, text);
    assert!(!editor.open(NEW).is_empty());
    assert!(labels(&mut editor, NEW, "rb.act.", 7).contains(&"move_rope".to_owned()));
    editor.replace(NEW, "rb.act.", "rb.each(\"");
    assert!(labels(&mut editor, NEW, "rb.each(\"", 9).contains(&"puller".to_owned()));
    editor.replace(NEW, "rb.each(\"", "ctx.");
    assert!(labels(&mut editor, NEW, "ctx.", 4).contains(&"actor".to_owned()));
    assert_eq!(labels(&mut editor, NEW, "id = \"", 6), ["yank"]);
    let keys = labels(&mut editor, NEW, "\t\n\twhen", 1);
    assert!(keys.contains(&"resolve".to_owned()) && !keys.contains(&"when".to_owned()), "{keys:?}");
    // Another file is broken as well, and then the first one is corrected.
    editor.open("tug/maneuvers/rest.luau");
    editor.replace("tug/maneuvers/rest.luau", "return rb.maneuver({", "return rb.maneuver({ oops oops");
    editor.diagnostics(NEW);
    editor.replace(NEW, "ctx.", "rb.act.");
    assert!(labels(&mut editor, NEW, "rb.act.", 7).contains(&"move_rope".to_owned()));
    editor.end();
}

#[test]
fn local_variables_are_completed_shown_and_renamed() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    editor.replace(
        REST,
        "ctx.actor:add(\"rests\", 1)",
        "local many = 1\n\t\tlocal who = ctx.actor\n\t\twho:add(\"rests\", many)",
    );
    editor.diagnostics(REST);
    let hover = editor.at("textDocument/hover", REST, "who:add", 1, json!({}));
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("local variable `who`") && told.contains("local who = ctx.actor"), "{told}");
    let spots = editor.at("textDocument/definition", REST, "many)", 1, json!({}));
    assert_eq!(editor.text_in(REST, &spots[0]["range"]), "many");
    let uses = editor.at("textDocument/references", REST, "many =", 1, json!({ "context": {} }));
    assert_eq!(uses.as_array().unwrap().len(), 2, "{uses}");
    for (new, why) in [("who", "is there already, in line"), ("end", "a keyword"), ("two words", "is no name")] {
        let refused = editor.at_raw("textDocument/rename", REST, "many", 1, json!({ "newName": new }));
        assert!(refused["error"]["message"].as_str().unwrap().contains(why), "{refused}");
    }
    let edit = editor.at("textDocument/rename", REST, "many", 1, json!({ "newName": "times" }));
    editor.apply(&edit);
    assert!(editor.text(REST).contains("local times = 1") && editor.text(REST).contains("(\"rests\", times)"));
    assert_eq!(editor.diagnostics(REST), Vec::<Json>::new());
    // Both at the begin of a statement and as an argument, in a text that is not complete.
    editor.replace(REST, "who:add(\"rests\", times)", "rb.act.move_rope(ctx.rope, t");
    let found = labels(&mut editor, REST, "ctx.rope, t", 11);
    for name in ["times", "who", "ctx", "rb", "nil", "math"] {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
    assert!(!found.contains(&"return".to_owned()), "{found:?}");
    editor.replace(REST, "rb.act.move_rope(ctx.rope, t", "re");
    let found = labels(&mut editor, REST, "\t\tre\n", 4);
    assert!(["return", "repeat", "times"].iter().all(|name| found.contains(&(*name).to_owned())), "{found:?}");
    editor.replace(
        REST,
        "\t\tre\n",
        "\t\tfor _, one in rb.each(\"puller\") do\n\t\t\tone:add(\"rests\", 1)\n\t\tend\n",
    );
    let hover = editor.at("textDocument/hover", REST, "one:add", 1, json!({}));
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("variable of a loop `one`") && told.contains("a `puller`"), "{told}");
    editor.end();
}

#[test]
fn a_rename_to_a_taken_name_is_refused() {
    let mut editor = with_house();
    editor.open(TIRED);
    for (piece, new, why) in
        [("rests", "end", "a keyword"), ("\"tired\"", "rest", "tug/maneuvers/rest.luau declares it")]
    {
        let refused = editor.at_raw("textDocument/rename", TIRED, piece, 2, json!({ "newName": new }));
        assert!(refused["error"]["message"].as_str().unwrap_or_default().contains(why), "{piece} -> {new}: {refused}");
    }
    editor.end();
}

/// A verb, a card and a field of one name are three things.
#[test]
fn names_of_different_sorts_are_kept_apart() {
    let mut editor = Editor::over(&["tug"]);
    let play = "tug/play.luau";
    editor.open(play);
    editor.open(REST);
    editor.replace(REST, "id = \"rest\",", "id = \"rest\",\n\tstrength = 2,");
    editor.diagnostics(REST);
    let hover = editor.at("textDocument/hover", REST, "strength = 2", 2, json!({}));
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(told.contains("fact `strength` of cards") && !told.contains("field of"), "{told}");
    let uses = editor.at("textDocument/references", REST, "strength = 2", 2, json!({ "context": {} }));
    assert_eq!(uses.as_array().unwrap().len(), 1, "{uses}");
    editor.open("tug/kinds.luau");
    let uses = editor.at("textDocument/references", "tug/kinds.luau", "strength = rb", 2, json!({ "context": {} }));
    assert!(uses.as_array().unwrap().iter().all(|spot| spot["uri"] != editor.uri(REST)), "{uses}");
    let uses = editor.at(
        "textDocument/references",
        "tug/maneuvers/pull.luau",
        "rb.act.move_rope",
        8,
        json!({ "context": {} }),
    );
    assert!(uses.as_array().unwrap().len() > 1, "{uses}");
    editor.end();
}

#[test]
fn completion_offers_only_what_fits() {
    let mut editor = Editor::over(&["tug"]);
    let manifest = "tug/ruleset.toml";
    editor.open(manifest);
    let text = editor.text(manifest).to_owned();
    for (typed, fits, other) in [
        ("scenario = \"", "two", "rest"),
        ("[", "seats", "rests"),
        ("summ", "summary", "rests"),
        ("layers = [\"", "", "rest"),
    ] {
        let new = format!("{typed}\n{text}");
        editor.set(manifest, &new, &json!({ "text": new }));
        let found = labels(&mut editor, manifest, typed, typed.len());
        assert!(fits.is_empty() || found.contains(&fits.to_owned()), "{typed}: {found:?}");
        assert!(!found.contains(&other.to_owned()), "{typed}: {found:?}");
    }
    let spec = "tug/specs/maneuvers/rest.luau";
    editor.open(spec);
    let head = "local rb = require(\"@riskbreaker\")\n\nrb.spec(\"x\", { \"TUG-2\" }, function(t)\n\t";
    for (typed, fits, other) in [
        ("t:seat(\"", "left", "rest"),
        ("t:happened(\"", "rolled", "rest"),
        ("t:value(\"Ann\", \"", "rests", "rest"),
        ("t:edit(\"Ann\", \"", "rests", "rest"),
        ("local x = \"", "", "rest"),
        ("t:play(\"Ann\", \"", "rest", "rests"),
    ] {
        let new = format!("{head}{typed}\nend)\n");
        editor.set(spec, &new, &json!({ "text": new }));
        let found = labels(&mut editor, spec, typed, typed.len());
        assert!(fits.is_empty() || found.contains(&fits.to_owned()), "{typed}: {found:?}");
        assert!(!found.contains(&other.to_owned()), "{typed}: {found:?}");
    }
    let new = "local rb = require(\"@riskbreaker\")\n\nrb.spec(\"x\", { \"";
    editor.set(spec, new, &json!({ "text": new }));
    assert_eq!(labels(&mut editor, spec, "{ \"", 3), ["TUG-1", "TUG-2"]);
    let rules = "tug/RULES.md";
    editor.open(rules);
    let new = format!("{}- **", editor.text(rules));
    editor.set(rules, &new, &json!({ "text": new }));
    assert_eq!(labels(&mut editor, rules, new.as_str(), new.len()), ["TUG-3"]);
    editor.end();
}

/// Applies the edit of an action that creates or changes one file.
fn apply(editor: &mut Editor, action: &Json) -> String {
    let edit = &action["edit"];
    if let Some(changes) = edit["changes"].as_object() {
        let path = editor.path_of(&json!(changes.keys().next().unwrap()));
        editor.apply(edit);
        return path;
    }
    let created = &edit["documentChanges"];
    assert_eq!(created[0]["kind"], "create", "{edit}");
    let path = editor.path_of(&created[0]["uri"]);
    editor.write(&path, created[1]["edits"][0]["newText"].as_str().unwrap());
    path
}

fn titled(actions: &[Json], title: &str) -> Json {
    let found = actions.iter().find(|action| action["title"] == title);
    found.unwrap_or_else(|| panic!("{title}: {actions:#?}")).clone()
}

#[test]
fn what_is_missing_is_declared_by_an_action() {
    let mut editor = Editor::over(&["tug"]);
    editor.open(REST);
    for path in ["tug/verbs.luau", "tug/kinds.luau", "tug/ruleset.toml"] {
        editor.open(path);
    }
    let old = "ctx.actor:add(\"rests\", 1)";
    for (new, title, path, declared) in [
        (
            "rb.act.shake(rb.first(\"puller\"), 2)",
            "Declare the verb `shake`",
            "tug/verbs.luau",
            "\tshake = rb.verb({\n\t\ttext = \"What it does.\",\n\t\t{ \"value\", rb.ref(\"puller\") },\n\t\t{ \"amount\", rb.int() },\n",
        ),
        (
            "for _, one in rb.each(\"puller\") do one:set(\"mood\", \"sad\") end",
            "Declare the field `mood` of `puller`",
            "tug/kinds.luau",
            "\t\t\tmood = rb.text(),\n",
        ),
        (
            "if rb.switches.rain == \"on\" then rb.say(\"wet\") end",
            "Declare the switch `rain`",
            "tug/ruleset.toml",
            "[switches.rain]\nvalues = [\"off\", \"on\"]\n",
        ),
    ] {
        editor.replace(REST, old, new);
        let found = editor.diagnostics(REST);
        let action = titled(&editor.actions(REST, &found[0]["range"]), title);
        assert_eq!(apply(&mut editor, &action), path);
        assert!(editor.text(path).contains(declared), "{}", editor.text(path));
        let left = editor.diagnostics(REST);
        assert!(left.iter().all(|one| one["severity"] != 1), "{title}: {left:#?}");
        editor.replace(REST, new, old);
    }
    editor.end();
}

#[test]
fn a_spec_and_a_change_in_a_layer_are_written_by_actions() {
    const PULL: &str = "tug/maneuvers/pull.luau";
    let mut editor = with_house();
    editor.remove("tug/specs/maneuvers/pull.luau");
    editor.open(PULL);
    let range = json!({ "start": { "line": 3, "character": 2 }, "end": { "line": 3, "character": 2 } });
    let actions = editor.actions(PULL, &range);
    let path = apply(&mut editor, &titled(&actions, "Write a spec of `pull`"));
    assert_eq!(path, "tug/specs/maneuvers/pull.luau");
    let spec = editor.text_of(&path);
    assert!(spec.contains("rb.spec(\"TUG-1: Pull\", { \"TUG-1\" }") && spec.contains("\"pull\""), "{spec}");
    let path = apply(&mut editor, &titled(&actions, "Extend `pull` in `house`"));
    assert_eq!(path, "house/maneuvers/pull.luau");
    assert_eq!(editor.open(&path), Vec::<Json>::new());
    assert!(editor.text(&path).contains("rb.extend(rb.maneuver({\n\tid = \"pull\",\n"), "{}", editor.text(&path));
    let output = editor.run(&["test", "tug", "--filter", "=TUG-1: Pull"]);
    assert!(output.contains("1 spec holds"), "{output}\n{spec}");
    editor.end();
}

/// An editor that cannot watch files: the server looks at them itself.
#[test]
fn a_file_that_another_program_changes_is_checked_again() {
    let mut editor = Editor::over(&["tug"]);
    editor.open("tug/kinds.luau");
    assert_eq!(editor.open("tug/maneuvers/pull.luau"), Vec::<Json>::new());
    let broken = editor.text_of(REST).replace("\"rests\", 1", "\"restz\", 1");
    editor.write(REST, &broken);
    let is_told = |editor: &mut Editor| editor.all_diagnostics().iter().any(|one| one.contains("`restz`"));
    let begun = std::time::Instant::now();
    while !is_told(&mut editor) {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "the change was not noticed");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    editor.end();
}

#[test]
fn comments_between_the_names_of_a_verb_stay() {
    const VERBS: &str = "tug/verbs.luau";
    let mut editor = Editor::over(&["tug"]);
    editor.open(VERBS);
    editor.replace(
        VERBS,
        "{ \"rope\", \"by\", \"who\" }",
        "{\n\t\t\"rope\", -- in the middle\n\t\t\"by\",\n\t\t\"who\",\n\t}",
    );
    let found = editor.diagnostics(VERBS);
    let message = found[0]["message"].as_str().unwrap().to_owned();
    let actions = editor.actions(VERBS, &found[0]["range"]);
    editor.apply(&titled(&actions, "Declare the types of all verbs in this file")["edit"]);
    let text = editor.text(VERBS).to_owned();
    let rope = text.lines().find(|line| line.contains("-- in the middle")).unwrap().trim();
    let (entry, _) = rope.split_once(", --").unwrap();
    assert!(entry.starts_with("{ \"rope\", rb.") && message.contains(entry), "{message}\n{text}");
    assert_eq!(editor.diagnostics(VERBS), Vec::<Json>::new());
    editor.end();
}

#[test]
fn hovering_tells_what_the_host_and_the_rules_name() {
    let mut editor = with_house();
    editor.open(TIRED);
    for path in ["tug/kinds.luau", "tug/scenarios/two.toml", "tug/policies/hasty.luau", PULL, REST] {
        editor.open(path);
    }
    editor.replace("tug/scenarios/two.toml", "right = \"Bob\"", "right = \"Bob\"\n\n[seats]\nleft = \"hasty\"");
    for (path, piece, told) in [
        (TIRED, "before =", "they get its parameters in `e`"),
        (TIRED, "always =", "in force without being attached"),
        (TIRED, "\"tired\"", "hook `tired`"),
        (TIRED, "by = 0", "parameter of the verb `move_rope`"),
        (REST, "add(\"rests\"", "returns the new value"),
        ("tug/kinds.luau", "min = -50", "The least number"),
        ("tug/kinds.luau", "at = rb", "a whole number from -50 to 50, at first 0"),
        ("tug/kinds.luau", "derived =", "called like methods"),
        ("tug/policies/hasty.luau", "answer =", "a seat without a person"),
        ("tug/scenarios/two.toml", "hasty", "policy `hasty`"),
        (PULL, "topic =", "The name of the question"),
    ] {
        let hover = editor.at("textDocument/hover", path, piece, 1, json!({}));
        assert!(hover["contents"]["value"].as_str().unwrap_or_default().contains(told), "{piece}: {hover}");
    }
    editor.end();
}

/// The changes of a rename: the path, and the lines that change.
fn renamed(editor: &mut Editor, path: &str, piece: &str, new: &str) -> Result<Json, String> {
    let answer = editor.at_raw("textDocument/rename", path, piece, 1, json!({ "newName": new }));
    match answer["error"]["message"].as_str() {
        Some(refused) => Err(refused.to_owned()),
        None => Ok(answer["result"].clone()),
    }
}

#[test]
fn a_parameter_of_a_verb_is_renamed_with_its_function_and_the_hooks() {
    const VERBS: &str = "tug/verbs.luau";
    for (path, piece) in [(VERBS, "\"by\""), (VERBS, "by, who"), (TIRED, "by = 0")] {
        let mut editor = with_house();
        editor.open(TIRED);
        editor.open(VERBS);
        let edit = renamed(&mut editor, path, piece, "pace").unwrap();
        editor.apply(&edit);
        let verbs = editor.text(VERBS);
        assert!(verbs.contains("{ \"rope\", \"pace\", \"who\" }, function(rope, pace, who)"), "{verbs}");
        assert!(verbs.contains("rope:add(\"at\", pace)"), "{verbs}");
        assert!(editor.text(TIRED).contains("e.pace = 0"), "{}", editor.text(TIRED));
        assert_eq!(editor.diagnostics(TIRED), Vec::<Json>::new());
        editor.end();
    }
    let mut editor = with_house();
    editor.open(TIRED);
    editor.open(VERBS);
    for (new, why) in
        [("who", "has a parameter `who` already"), ("end", "a keyword"), ("result", "what a verb returns")]
    {
        let refused = renamed(&mut editor, TIRED, "by = 0", new).unwrap_err();
        assert!(refused.contains(why), "{new}: {refused}");
    }
    // The hook gives the event to another function, which may read any of its members.
    editor.replace(TIRED, "e.by = 0", "e.by = 0\n\t\t\t\thalve(e)");
    let refused = renamed(&mut editor, TIRED, "by = 0", "pace").unwrap_err();
    assert!(refused.contains("hooks/tired.luau:11 gives what the verb"), "{refused}");
    editor.end();
}

/// A house rule with an enum and a character.
fn with_moods() -> Editor {
    let mut editor = Editor::before_initialize(&["tug"]);
    editor.write("house/ruleset.toml", "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nextends = \"tug\"\n");
    editor.write(
        "house/kinds.luau",
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.kinds({\n\tpuller = rb.extend({ fields = { mood = rb.enum({ \"calm\", \"risk\" }) } }),\n})\n",
    );
    editor.write(
        "house/hooks/moody.luau",
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.hook({\n\tid = \"moody\",\n\talways = true,\n\tbefore = {\n\t\tmove_rope = function(e)\n\t\t\t\
         if e.who.mood == \"calm\" then\n\t\t\t\te.who:set(\"mood\", \"risk\")\n\t\t\tend\n\t\tend,\n\t},\n})\n",
    );
    editor.write("house/cast/giant.toml", "name = \"Giant\"\nmood = \"calm\"\n");
    editor.write("house/scenarios/yard.toml", "title = \"Yard\"\nleft = \"giant\"\nright = \"giant at 3, 4\"\n");
    editor.initialize();
    editor
}

#[test]
fn values_of_enums_and_characters_are_renamed_in_scripts_and_data() {
    let (kinds, moody) = ("house/kinds.luau", "house/hooks/moody.luau");
    let mut editor = with_moods();
    for path in [kinds, moody, "house/cast/giant.toml", "house/scenarios/yard.toml"] {
        editor.open(path);
    }
    let edit = renamed(&mut editor, moody, "\"calm\"", "at ease").unwrap();
    editor.apply(&edit);
    assert!(editor.text(kinds).contains("rb.enum({ \"at ease\", \"risk\" })"), "{}", editor.text(kinds));
    assert!(editor.text(moody).contains("mood == \"at ease\""), "{}", editor.text(moody));
    assert!(editor.text("house/cast/giant.toml").contains("mood = \"at ease\""));
    editor.diagnostics(kinds);
    for (new, why) in [("risk", "a value of `mood` already"), ("a \"b\"", "is no value")] {
        let refused = renamed(&mut editor, moody, "\"at ease\"", new).unwrap_err();
        assert!(refused.contains(why), "{new}: {refused}");
    }
    // `risk` is a topic of a question, too: its answers in specs do not show what is meant.
    let refused = renamed(&mut editor, moody, "\"risk\"", "bold").unwrap_err();
    assert!(refused.contains("several meanings"), "{refused}");
    let edit = renamed(&mut editor, "house/scenarios/yard.toml", "giant\"", "ogre").unwrap();
    let moved = edit["documentChanges"]
        .as_array()
        .unwrap()
        .iter()
        .any(|change| change["kind"] == "rename" && editor.path_of(&change["newUri"]) == "house/cast/ogre.toml");
    assert!(moved, "{edit}");
    editor.apply(&edit);
    let yard = editor.text("house/scenarios/yard.toml");
    assert!(yard.contains("left = \"ogre\"") && yard.contains("right = \"ogre at 3, 4\""), "{yard}");
    editor.end();
}

/// The words of a file with their sorts.
fn sorts_of(editor: &mut Editor, path: &str, legend: &Json) -> Vec<(String, String)> {
    editor.open(path);
    let params = json!({ "textDocument": { "uri": editor.uri(path) } });
    let numbers = editor.request("textDocument/semanticTokens/full", params);
    let numbers: Vec<u64> = numbers["data"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect();
    let (mut line, mut column, mut found) = (0, 0, Vec::new());
    for one in numbers.chunks(5) {
        column = if one[0] == 0 { column + one[1] } else { one[1] };
        line += one[0];
        let place = |character: u64| json!({ "line": line, "character": character });
        let word = editor.text_in(path, &json!({ "start": place(column), "end": place(column + one[2]) }));
        found.push((word, legend[one[3] as usize].as_str().unwrap().to_owned()));
    }
    found
}

#[test]
fn topics_titles_and_rulesets_have_their_sorts() {
    let mut editor = Editor::before_initialize(&["tug"]);
    editor.write("house/ruleset.toml", "id = \"house\"\ntitle = \"House\"\nversion = \"1\"\nover = [\"tug\"]\n");
    editor.write(
        "house/policies/slow.luau",
        "local rb = require(\"@riskbreaker\")\n\nreturn rb.policy({ id = \"slow\", base = \"hasty\" })\n",
    );
    let answer = editor.initialize();
    let legend = &answer["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
    for (path, word, sort) in [
        (PULL, "risk", "event"),
        ("tug/specs/maneuvers/pull.luau", "risk", "event"),
        ("tug/specs/maneuvers/pull.luau", "Ann", "parameter"),
        ("tug/specs/maneuvers/pull.luau", "rope", "parameter"),
        ("tug/specs/maneuvers/pull.luau", "need", "method"),
        ("house/ruleset.toml", "tug", "namespace"),
        ("house/policies/slow.luau", "hasty", "enumMember"),
        ("tug/ruleset.toml", "wins_at", "variable"),
        ("tug/ruleset.toml", "two", "enumMember"),
    ] {
        let found = sorts_of(&mut editor, path, legend);
        assert!(found.contains(&(word.to_owned(), sort.to_owned())), "{path}: {word}: {found:?}");
    }
    editor.end();
}
