//! Rulesets that are packed, added, updated and taken away, as different people would do it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A table's folder, the folders of authors beside it, and nothing of the machine's own.
struct Desk {
    root: PathBuf,
}

impl Desk {
    fn new(name: &str) -> Desk {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("table")).unwrap();
        Desk { root }
    }

    /// Writes a layer over 0.0.1 with a card and a spec.
    fn author(&self, folder: &str, id: &str, version: &str, more: &str) -> PathBuf {
        let place = self.root.join(folder).join(id);
        let manifest = format!(
            "id = \"{id}\"\ntitle = \"House {id}\"\nversion = \"{version}\"\nlicense = \"MIT\"\nover = [\"riskbreaker-0.0.1\"]\n{more}"
        );
        write(&place.join("ruleset.toml"), &manifest);
        let card = format!(
            "-- A card that says something.\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({{\n\tid = \"wave_{0}\",\n\ttitle = \"Wave {0}\",\n\
             \trules = {{ \"HOUSE-1\" }},\n\ttext = \"You wave.\",\n\tresolve = function(ctx)\n\t\trb.say(\"{{}} waves\", ctx.actor)\n\tend,\n}})\n",
            id.replace('-', "_")
        );
        write(&place.join(format!("maneuvers/wave_{}.luau", id.replace('-', "_"))), &card);
        write(&place.join("RULES.md"), "# Rules\n\n- **HOUSE-1** Everybody may wave.\n");
        place
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_riskbreaker"))
            .args(args)
            .current_dir(self.root.join("table"))
            .env("NO_COLOR", "1")
            .env("XDG_DATA_HOME", self.root.join("data"))
            .env("XDG_STATE_HOME", self.root.join("state"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn done(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", both(&output));
        both(&output)
    }

    fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", both(&output));
        both(&output)
    }

    fn has(&self, path: &str) -> bool {
        self.root.join("table").join(path).exists()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_package_is_shown_added_played_updated_and_taken_back() {
    let desk = Desk::new("life");
    let first = desk.author("one", "house-wave", "1.0.0", "");
    write(&first.join(".nvim.lua"), "os.execute('x')");
    write(&first.join(".vscode/settings.json"), "{}");
    let packed = desk.done(&["pack", &text(&first), "--out", "packed"]);
    assert!(packed.contains("left out") && packed.contains(".nvim.lua"), "{packed}");
    let file = desk.root.join("table/packed/house-wave-1.0.0.zip");
    let bytes = fs::read(&file).unwrap();
    desk.done(&["pack", &text(&first), "--out", "packed"]);
    assert_eq!(fs::read(&file).unwrap(), bytes, "equal content gives equal bytes");

    // Without a yes nothing is written.
    let shown = desk.refused(&["add", &text(&file)]);
    assert!(
        shown.contains("adds the card Wave house_wave") && shown.contains("MIT") && shown.contains("--yes"),
        "{shown}"
    );
    assert!(!desk.has("rulesets") && !desk.has("riskbreaker.lock"));
    desk.done(&["add", &text(&file), "--yes"]);
    assert!(
        desk.has("rulesets/house-wave/RULES.md")
            && !desk.has("rulesets/house-wave/.nvim.lua")
            && !desk.has(".riskbreaker")
    );
    let cards = desk.done(&["rules", "show", "riskbreaker-0.0.1+house-wave"]);
    assert!(cards.contains("Wave house_wave"), "{cards}");
    assert!(desk.done(&["list"]).contains("as added"));
    assert!(desk.refused(&["add", &text(&file), "--yes"]).contains("riskbreaker update house-wave"));
    assert!(desk.done(&["update"]).contains("up to date"));

    // A newer version without the card, and with another one, from the same place.
    fs::remove_dir_all(&first).unwrap();
    let second = desk.author("one", "house-wave", "1.1.0", "");
    fs::rename(second.join("maneuvers/wave_house_wave.luau"), second.join("maneuvers/bow.luau")).unwrap();
    let card = fs::read_to_string(second.join("maneuvers/bow.luau")).unwrap();
    write(
        &second.join("maneuvers/bow.luau"),
        &card.replace("wave_house_wave", "bow").replace("Wave house_wave", "Bow"),
    );
    write(&second.join("CHANGELOG.md"), "# Changelog\n\n## 1.1.0\n- Bowing instead of waving.\n");
    desk.done(&["pack", &text(&second), "--out", "packed"]);
    fs::rename(desk.root.join("table/packed/house-wave-1.1.0.zip"), &file).unwrap();
    let shown = desk.done(&["update", "house-wave", "--yes"]);
    assert!(shown.contains("New in 1.1.0: Bowing instead of waving.") && shown.contains("Bow"), "{shown}");
    assert!(
        desk.has("rulesets/house-wave/maneuvers/bow.luau")
            && !desk.has("rulesets/house-wave/maneuvers/wave_house_wave.luau")
    );
    desk.done(&["rollback", "house-wave"]);
    assert!(
        desk.has("rulesets/house-wave/maneuvers/wave_house_wave.luau")
            && !desk.has("rulesets/house-wave/maneuvers/bow.luau")
    );
    desk.done(&["rollback", "house-wave"]);

    // Another machine gets the same, or nothing.
    fs::remove_dir_all(desk.root.join("table/rulesets")).unwrap();
    desk.done(&["add", "--locked"]);
    assert!(desk.has("rulesets/house-wave/maneuvers/bow.luau"));
    write(&desk.root.join("table/rulesets/house-wave/RULES.md"), "# Other rules\n");
    assert!(desk.done(&["list"]).contains("changed here"));
    assert!(desk.refused(&["add", "--locked"]).contains("differs from what was locked"));
    fs::remove_dir_all(desk.root.join("table/rulesets")).unwrap();
    fs::write(&file, bytes).unwrap();
    assert!(desk.refused(&["add", "--locked"]).contains("has other content now"));
    assert!(!desk.has("rulesets/house-wave"));
}

#[test]
fn packages_that_do_not_fit_say_what_to_do() {
    let desk = Desk::new("unfit");
    let one = desk.author("one", "house-one", "1.0.0", "");
    let other = desk.author("two", "house-two", "1.0.0", "conflicts = [\"house-one\"]\n");
    desk.done(&["add", &text(&one), "--yes"]);
    let told = desk.refused(&["add", &text(&other), "--yes"]);
    assert!(
        told.contains("It cannot be used with house-one") && told.contains("riskbreaker remove house-one"),
        "{told}"
    );
    let needs =
        desk.author("three", "house-three", "1.0.0", "[requires]\n\"house-one\" = \">=2\"\n\"house-none\" = \"1\"\n");
    let told = desk.refused(&["add", &text(&needs), "--yes"]);
    assert!(
        told.contains("needs house-one >=2, and version 1.0.0 is here")
            && told.contains("riskbreaker update house-one"),
        "{told}"
    );
    assert!(told.contains("needs house-none 1, which is not here"), "{told}");
    let bound = desk.author("four", "house-four", "1.0.0", "[requires]\n\"house-one\" = \">=1, <2\"\n");
    desk.done(&["add", &text(&bound), "--yes"]);
    assert!(desk.refused(&["remove", "house-one"]).contains("house-four needs house-one"));
    // A version that another one cannot use is no update.
    let manifest = fs::read_to_string(one.join("ruleset.toml")).unwrap();
    write(&one.join("ruleset.toml"), &manifest.replace("1.0.0", "2.0.0"));
    assert!(desk.refused(&["update", "house-one", "--yes"]).contains("house-four needs house-one"), "it is 2.0.0 now");
    desk.done(&["remove", "house-four"]);
    desk.done(&["update", "house-one", "--yes"]);
    desk.done(&["remove", "house-one"]);
    assert!(!desk.has("rulesets/house-one"));
    desk.done(&["rollback", "house-one"]);
    assert!(desk.has("rulesets/house-one/RULES.md"));
}

#[test]
fn forged_and_faulty_packages_change_nothing() {
    let desk = Desk::new("forged");
    // A stranger's ruleset with the id of a shipped one, one that does not load, and one whose spec fails.
    let forged = desk.author("one", "riskbreaker-0.0.3", "9.0.0", "");
    assert!(desk.refused(&["add", &text(&forged), "--yes"]).contains("one of the rulesets of the program"));
    let broken = desk.author("two", "house-broken", "1.0.0", "");
    write(&broken.join("maneuvers/wave_house_broken.luau"), "return 1 +\n");
    assert!(desk.refused(&["add", &text(&broken), "--yes"]).contains("wave_house_broken.luau:"));
    assert!(desk.refused(&["pack", &text(&broken)]).contains("Nothing was written"));
    let failing = desk.author("three", "house-failing", "1.0.0", "");
    write(
        &failing.join("specs/wave.luau"),
        "local rb = require(\"@riskbreaker\")\n\nrb.spec(\"it fails\", { \"HOUSE-1\" }, function(t)\n\tt:given(\"duel\")\n\terror(\"no\")\nend)\n",
    );
    assert!(desk.refused(&["add", &text(&failing), "--yes"]).contains("it fails"));
    #[cfg(unix)]
    {
        let linked = desk.author("four", "house-linked", "1.0.0", "");
        std::os::unix::fs::symlink("/etc/hostname", linked.join("secret.md")).unwrap();
        assert!(desk.refused(&["add", &text(&linked), "--yes"]).contains("is a link"));
    }
    assert!(!desk.has("rulesets") && !desk.has("riskbreaker.lock") && !desk.has(".riskbreaker"));
    desk.done(&["add", &text(&failing), "--yes", "--force"]);
    assert!(desk.has("rulesets/house-failing"));
}

/// A repository with a tag, a hook, a link and a folder of rules.
#[test]
fn a_tag_of_a_git_repository_is_added() {
    let desk = Desk::new("git");
    let git = |args: &[&str]| {
        let mut call = Command::new("git");
        call.args(["-c", "user.name=A", "-c", "user.email=a@host.test", "-c", "init.defaultBranch=main"]).args(args);
        call.current_dir(desk.root.join("repository")).output()
    };
    desk.author("repository", "house-git", "1.0.0", "");
    if git(&["init", "--quiet"]).is_err() {
        eprintln!("skipped: git is not installed");
        return;
    }
    let commit = |tag: &str| {
        for call in [&["add", "."][..], &["commit", "--quiet", "-m", "x"], &["tag", tag]] {
            let done = git(call).unwrap();
            assert!(done.status.success(), "{call:?}: {}", both(&done));
        }
    };
    commit("v1");
    let rules = desk.root.join("repository/house-git/RULES.md");
    write(&rules, "# Rules\n\n- **HOUSE-1** Everybody has to wave.\n");
    commit("v2");
    let source = format!("{}@v1#house-git", text(&desk.root.join("repository")));
    desk.done(&["add", &source, "--yes"]);
    let added = fs::read_to_string(desk.root.join("table/rulesets/house-git/RULES.md")).unwrap();
    assert!(added.contains("may wave"), "{added}");
    let lock = fs::read_to_string(desk.root.join("table/riskbreaker.lock")).unwrap();
    assert!(lock.contains("@v1#house-git") && lock.contains("commit = "), "{lock}");
    assert!(desk.refused(&["add", &source.replace("@v1", "@v9"), "--yes"]).contains("git cannot read"));
    assert!(desk.refused(&["add", "git://host.test/rules", "--yes"]).contains("are not taken"));
}

#[test]
fn an_index_is_searched() {
    let desk = Desk::new("index");
    let folders: Vec<String> = ["house-b", "house-a"].map(|id| text(&desk.author("all", id, "1.0.0", ""))).into();
    desk.done(&["pack", &folders[0], &folders[1], "--out", "out", "--index", "out/index.json"]);
    let found = desk.done(&["search", "HOUSE-A", "--index", "out"]);
    assert!(found.contains("house-a 1.0.0 · House house-a · MIT") && !found.contains("house-b 1.0.0"), "{found}");
    assert!(found.contains("house-a-1.0.0.zip · for riskbreaker-0.0.1"), "{found}");
    assert!(desk.refused(&["search", "nothing", "--index", "out/index.json"]).contains("Nothing in the index"));
}

#[test]
fn rulesets_of_the_user_are_found_everywhere() {
    let desk = Desk::new("user");
    let layer = desk.author("one", "house-user", "1.0.0", "");
    desk.done(&["add", &text(&layer), "--yes", "--user"]);
    assert!(!desk.has("rulesets"));
    assert!(desk.done(&["list", "--user"]).contains("house-user"));
    assert!(desk.done(&["rules", "show", "riskbreaker-0.0.1+house-user"]).contains("Wave house_user"));
    let told = desk.refused(&["add", &text(&layer), "--yes"]);
    assert!(told.contains("is in ") && told.contains("already"), "{told}");
    desk.author("table/rulesets", "house-user", "2.0.0", "");
    let told = desk.done(&["rules", "list"]);
    assert!(told.contains("note: house-user is in") && told.contains("the first one is used"), "{told}");
}
