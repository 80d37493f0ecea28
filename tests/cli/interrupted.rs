//! Ctrl-C ends long work soon, with a partial result.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// The time before the interruption. Without it, the program would work for minutes.
const A_WHILE: Duration = Duration::from_secs(3);

/// Runs the program, interrupts it like a terminal, and waits for its end.
fn interrupted(args: &[&str]) -> Output {
    interrupted_after(A_WHILE, args)
}

fn interrupted_after(while_it_works: Duration, args: &[&str]) -> Output {
    ended_by("-INT", 130, while_it_works, args)
}

/// Runs the program, sends it a signal after a while, and waits for its end with this exit code.
fn ended_by(signal: &str, code: i32, while_it_works: Duration, args: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(args)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    thread::sleep(while_it_works);
    let sent = Command::new("kill").args([signal, &program.id().to_string()]).status().expect("it can be sent");
    assert!(sent.success(), "{args:?} has ended by itself");
    let output = program.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    output
}

#[test]
fn odds_of_a_card_end_with_an_estimate() {
    let call = ["odds", "ledger", "--rulesets", "tests/rulesets", "--rules", "gambles"];
    let text = interrupted(&call);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("an estimate, not exact: it was interrupted"), "{text}");
    assert!(!text.contains("exactly") && text.contains(" to "), "{text}");
    let told = interrupted(&[&call[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("one object");
    assert_eq!((&told["exact"], &told["estimate"]["interrupted"]), (&false.into(), &true.into()));
    assert_eq!(told["partial"], true);
    let chance = &told["outcomes"][0]["chance"];
    assert!(chance["low"].as_f64() < chance["high"].as_f64() && chance["fraction"].is_null(), "{chance}");
}

/// `test --watch` ends only with Ctrl-C.
#[test]
fn the_specs_of_a_layer_are_watched_over_each_ruleset_that_it_lies_over() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(["test", "house-taunt", "--watch", "--rulesets", "rulesets"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(program.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let told: Vec<String> = lines.filter(|line| line.contains(": ")).take(2).collect();
    program.kill().expect("it watches on");
    program.wait().expect("it ends");
    for (line, id) in told.iter().zip(["riskbreaker-0.0.1", "riskbreaker-0.0.3"]) {
        assert!(line.starts_with(&format!("{id}+house-taunt: ")) && line.ends_with("specs hold"), "{told:?}");
    }
    assert_eq!(told.len(), 2);
}

#[test]
fn a_ruleset_that_breaks_while_its_specs_are_watched_is_reported_once() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched_broken");
    std::fs::create_dir_all(folder.join("broken")).unwrap();
    for (name, text) in
        [("ruleset.toml", "id = \"broken\"\ntitle = \"B\"\nversion = \"1\"\n"), ("play.luau", "return 1 +\n")]
    {
        std::fs::write(folder.join("broken").join(name), text).unwrap();
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
        .args(["test", "broken", "--watch", "--rulesets"])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    thread::sleep(A_WHILE);
    program.kill().expect("it watches on");
    let output = program.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("broken: cannot be loaded, 1 problem").count(), 1, "{text}");
}

#[test]
fn interrupted_odds_of_a_whole_game_print_lower_bounds() {
    let call = ["odds", "--game", "four-against-four", "--rules", "riskbreaker-0.0.1", "--rulesets", "rulesets"];
    // A busy machine reaches the first results later.
    for times in [1, 4, 16] {
        let text = interrupted_after(times * A_WHILE, &call);
        let text = String::from_utf8_lossy(&text.stdout);
        assert!(text.contains("interrupted after") && !text.contains("exact"), "{text}");
        if text.contains("each chance lies between") {
            return;
        }
        assert!(text.contains("no result is known") && !text.contains("proven"), "{text}");
    }
    panic!("it knows no result");
}

/// A scheduler terminates a part early; the same call continues it.
#[test]
fn a_terminated_shard_saves_its_counts_and_has_its_own_exit_code() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminated.json");
    let _ = std::fs::remove_file(&file);
    let call = ["sim", "duel", "--rules", "riskbreaker-0.0.1", "--rulesets", "rulesets", "--shard", "env/2", "--save"];
    let part = |trials: &str| {
        let mut part = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        part.args(call).arg(&file).args(["--trials", trials]).env("PARALLEL_SEQ", "2").stdin(Stdio::null());
        part.stdout(Stdio::piped()).stderr(Stdio::piped());
        part
    };
    let started = part("100000000").spawn().expect("the program starts");
    thread::sleep(A_WHILE);
    let sent = Command::new("kill").args(["-TERM", &started.id().to_string()]).status().expect("it can be sent");
    let output = started.wait_with_output().expect("the program ends");
    assert!(sent.success() && output.status.code() == Some(75), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the same command continues it") && told.contains("this part took"), "{told}");
    let kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(kept["blocks"].as_u64() > Some(0) && kept["complete"] == false, "{kept}");
    assert_eq!((&kept["shard"]["index"], &kept["shard"]["count"]), (&2.into(), &2.into()));
    // The file belongs to another simulation, so retrying can never succeed.
    let other = part("1000").output().expect("the program starts");
    assert_eq!(other.status.code(), Some(42), "{other:?}");
    assert!(String::from_utf8_lossy(&other.stderr).contains("another simulation"), "{other:?}");
}

#[test]
fn an_interrupted_simulation_with_look_ahead_prints_its_counts() {
    let call = ["sim", "four-against-four", "--rules", "riskbreaker-0.0.1", "--rulesets", "rulesets"];
    let ahead = ["--seat", "players=ahead", "--seat", "foes=ahead", "--trials", "100000"];
    let output = interrupted(&[&call[..], &ahead].concat());
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(problem.contains("interrupted"), "{problem}");
    let output = interrupted(&[&call[..], &["--trials", "10000000"]].concat());
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"), "{output:?}");
}

/// SIGTERM prints what is known, like Ctrl-C.
#[test]
fn a_terminated_command_prints_what_is_known_and_has_its_own_exit_code() {
    let calls: [&[&str]; 4] = [
        &["sim", "two", "--rules", "tug", "--ban", "left:rest", "--trials", "100000"],
        &["sim", "two", "--rules", "tug", "--sweep", "wins_at=2..4", "--target", "left 50 %", "--trials", "10000000"],
        &["odds", "--game", "four-against-four", "--rules", "riskbreaker-0.0.1"],
        &["study", "duel", "--ruleset", "riskbreaker-0.0.1", "--trial", "1", "--seat", "players=search:100000"],
    ];
    let texts = [
        "pairs were played before the work ended",
        "before the work was interrupted",
        "interrupted after",
        "the same command plays the trial from its start",
    ];
    for (call, known) in calls.iter().zip(texts) {
        let folder = if call.contains(&"tug") { "tests/rulesets" } else { "rulesets" };
        let output = ended_by("-TERM", 75, A_WHILE, &[call, &["--rulesets", folder][..]].concat());
        let text = String::from_utf8_lossy(&output.stdout).replace('\n', " ");
        assert!(text.contains(known), "{call:?}: {text}");
    }
}

/// The rows of games are continued with the counts.
#[test]
fn an_interrupted_simulation_continues_its_rows() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [save, rows, whole] = ["rows.json", "rows.csv", "rows-whole.csv"].map(|name| folder.join(name));
    for path in [&save, &rows, &whole] {
        let _ = std::fs::remove_file(path);
    }
    let call = |trials: &'static str, rows: &Path, save: Option<&Path>| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        program.args([
            "sim",
            "two",
            "--rules",
            "tug",
            "--rulesets",
            "tests/rulesets",
            "--every-script",
            "--trials",
            trials,
            "--games",
        ]);
        program.arg(rows).args(["--threads", "1"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(save) = save {
            program.arg("--save").arg(save);
        }
        program
    };
    let mut begun = call("30000", &rows, Some(&save)).spawn().expect("the program starts");
    while !save.exists() && begun.try_wait().expect("it can be asked").is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    // A program that is killed may have written rows that are not in the counts.
    let _ = begun.kill();
    begun.wait_with_output().expect("it ends");
    let continued = call("30000", &rows, Some(&save)).output().expect("it runs");
    assert!(continued.status.success(), "{continued:?}");
    assert!(call("30000", &whole, None).output().expect("it runs").status.success());
    let text = |path: &Path| std::fs::read_to_string(path).expect("it is written");
    assert!(text(&rows) == text(&whole), "the rows differ");
    // Without its rows, a count cannot be continued.
    std::fs::remove_file(&save).unwrap();
    assert!(call("500", &rows, Some(&save)).output().expect("it runs").status.success());
    std::fs::write(&rows, "trial\n").unwrap();
    let refused = call("500", &rows, Some(&save)).output().expect("it runs");
    let text = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && text.contains("without their rows"), "{refused:?}");
}
