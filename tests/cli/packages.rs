//! Rulesets that are packed, added, updated and removed, as by different people.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Folders for a table and for authors, without any files of the user.
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

    fn call(&self, args: &[&str]) -> Command {
        let mut call = Command::new(env!("CARGO_BIN_EXE_riskbreaker"));
        call.args(args)
            .current_dir(self.root.join("table"))
            .env("NO_COLOR", "1")
            .env("XDG_DATA_HOME", self.root.join("data"))
            .env("XDG_STATE_HOME", self.root.join("state"));
        call
    }

    fn run(&self, args: &[&str]) -> Output {
        self.call(args).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a call with lines of input.
    fn with_lines(&self, args: &[&str], lines: &str) -> String {
        let mut child =
            self.call(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", both(&output));
        both(&output)
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

    // A newer version without the card, and with another one, at the same place.
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

    // Another machine gets the same content, or nothing.
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
fn packages_that_do_not_fit_are_refused_with_advice() {
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
    // A version that another package does not accept is no update.
    let manifest = fs::read_to_string(one.join("ruleset.toml")).unwrap();
    write(&one.join("ruleset.toml"), &manifest.replace("1.0.0", "2.0.0"));
    assert!(desk.refused(&["update", "house-one", "--yes"]).contains("house-four needs house-one"), "it is 2.0.0 now");
    desk.done(&["remove", "house-four"]);
    desk.done(&["update", "house-one", "--yes"]);
    // Nor is the previous version, below the range of another package.
    let later = desk.author("five", "house-five", "1.0.0", "[requires]\n\"house-one\" = \">=2\"\n");
    desk.done(&["add", &text(&later), "--yes"]);
    let told = desk.refused(&["rollback", "house-one"]);
    assert!(told.contains("house-five needs house-one >=2, and this is 1.0.0"), "{told}");
    assert!(told.contains("`riskbreaker remove house-five` first"), "{told}");
    assert!(desk.done(&["list"]).contains("2.0.0"));
    desk.done(&["remove", "house-five"]);
    desk.done(&["rollback", "house-one"]);
    desk.done(&["rollback", "house-one"]);
    desk.done(&["remove", "house-one"]);
    assert!(!desk.has("rulesets/house-one"));
    desk.done(&["rollback", "house-one"]);
    assert!(desk.has("rulesets/house-one/RULES.md"));
}

#[test]
fn a_ruleset_whose_name_is_taken_is_added_under_another() {
    let desk = Desk::new("alias");
    let first = desk.author("one", "house-wave", "1.0.0", "");
    let second = desk.author("two", "house-wave", "2.0.0", "summary = \"Another wave.\"\n");
    desk.done(&["add", &text(&first), "--yes"]);
    let told = desk.refused(&["add", &text(&second), "--yes"]);
    assert!(told.contains("house-wave 1.0.0 (House house-wave) is in rulesets/house-wave already"), "{told}");
    assert!(told.contains("house-wave 2.0.0 (House house-wave)") && told.contains("--as NAME"), "{told}");
    for (name, why) in [("No/Id", "is no id"), ("house-wave", "is taken"), ("riskbreaker-0.0.1", "is taken")] {
        let told = desk.refused(&["add", &text(&second), "--as", name, "--yes"]);
        assert!(told.contains(why), "{name}: {told}");
    }
    let shown = desk.done(&["add", &text(&second), "--as", "house-bow", "--yes"]);
    assert!(shown.contains("called house-wave in its own files, and house-bow here"), "{shown}");
    assert!(shown.contains("riskbreaker play --rules riskbreaker-0.0.1+house-bow"), "{shown}");
    let manifest = |folder: &Path| fs::read_to_string(folder.join("ruleset.toml")).unwrap();
    assert_eq!(manifest(&desk.root.join("table/rulesets/house-bow")), manifest(&second), "the files stay unchanged");

    // The alias is used everywhere.
    let listed = desk.done(&["list"]);
    assert!(listed.contains("house-bow") && listed.contains("house-wave from "), "{listed}");
    assert!(desk.done(&["rules", "show", "riskbreaker-0.0.1+house-bow"]).contains("Wave house_wave"));
    assert!(desk.done(&["check", "house-bow"]).contains("house-bow"));
    let card = desk.root.join("table/rulesets/house-bow/maneuvers/wave_house_wave.luau");
    let whole = fs::read_to_string(&card).unwrap();
    write(&card, "return 1 +\n");
    assert!(desk.refused(&["check", "house-bow"]).contains("house-bow/maneuvers/wave_house_wave.luau:"));
    write(&card, &whole);
    let played =
        desk.with_lines(&["play", "evening", "--rules", "riskbreaker-0.0.1+house-bow", "--seed", "1"], "ok\nrules\n");
    assert!(played.contains("riskbreaker-0.0.1+house-bow"), "{played}");
    let needs = desk.author("three", "house-needs", "1.0.0", "[requires]\n\"house-wave\" = \">=2\"\n");
    let shown = desk.done(&["add", &text(&needs), "--yes"]);
    assert!(shown.contains("What it calls house-wave is house-bow here"), "{shown}");
    assert!(desk.refused(&["remove", "house-bow"]).contains("house-needs needs house-bow"));

    // And keeps it.
    write(&second.join("ruleset.toml"), &manifest(&second).replace("2.0.0", "2.1.0"));
    desk.done(&["update", "house-bow", "--yes"]);
    assert!(desk.done(&["list"]).contains("2.1.0"));
    desk.done(&["remove", "house-needs"]);
    desk.done(&["remove", "house-bow"]);
    desk.done(&["rollback", "house-bow"]);
    desk.done(&["check", "house-bow"]);
    fs::remove_dir_all(desk.root.join("table/rulesets")).unwrap();
    // The rules stored in the campaign use this alias.
    assert!(desk.with_lines(&["play", "evening"], "rules\n").contains("house-bow"));
}

#[test]
fn forged_and_faulty_packages_change_nothing() {
    let desk = Desk::new("forged");
    // A stranger's ruleset with the id of a shipped one, one that does not load, and one whose spec fails.
    let forged = desk.author("one", "riskbreaker-0.0.3", "9.0.0", "");
    let told = desk.refused(&["add", &text(&forged), "--yes"]);
    assert!(
        told.contains("riskbreaker-0.0.3 9.0.0 (House riskbreaker-0.0.3)") && told.contains("in the program already"),
        "{told}"
    );
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

/// The lock of a campaign that somebody else gives away names folders outside of it.
#[test]
fn a_hostile_lock_reaches_nothing_outside() {
    let desk = Desk::new("hostile lock");
    write(&desk.root.join("victim/ruleset.toml"), "id = \"victim\"\n");
    fs::create_dir_all(desk.root.join("table/rulesets")).unwrap();
    let entry = "version = \"1\"\nsource = \"x\"\nhash = \"sha256:0\"\n";
    for table in ["rulesets", "previous"] {
        let lock = format!("format = 1\n[{table}.\"../../victim\"]\n{entry}");
        write(&desk.root.join("table/riskbreaker.lock"), &lock);
        let calls: [&[&str]; 4] = [&["remove", "../../victim"], &["update"], &["list"], &["add", "--locked"]];
        for call in calls {
            let told = desk.refused(call);
            assert!(told.contains("`../../victim` is no id of a ruleset"), "{call:?}: {told}");
        }
        assert!(desk.root.join("victim/ruleset.toml").exists());
    }
}

#[test]
fn layers_lie_on_layers_and_say_which_others_they_do_not_fit() {
    let desk = Desk::new("layers");
    let below = desk.author("one", "house-below", "1.0.0", "");
    let above = desk.author("two", "house-above", "1.0.0", "");
    let manifest = fs::read_to_string(above.join("ruleset.toml")).unwrap();
    write(&above.join("ruleset.toml"), &manifest.replace("riskbreaker-0.0.1", "house-below"));
    let told = desk.refused(&["add", &text(&above), "--yes"]);
    assert!(told.contains("It lies over house-below, and none of them is here"), "{told}");
    desk.done(&["add", &text(&below), "--yes"]);
    let shown = desk.done(&["add", &text(&above), "--yes"]);
    assert!(shown.contains("--rules riskbreaker-0.0.1+house-below+house-above"), "{shown}");
    desk.done(&["check", "house-above"]);
    assert!(desk.refused(&["remove", "house-below"]).contains("house-above needs house-below"));
    // One that requires another layer is tried over it, too.
    let third = desk.author("three", "house-third", "1.0.0", "[requires]\n\"house-below\" = \"1\"\n");
    let shown = desk.done(&["add", &text(&third), "--yes"]);
    assert!(shown.contains("--rules riskbreaker-0.0.1+house-below+house-third"), "{shown}");
    // Two that declare the same card can both be here, but not be played together.
    let twin = desk.author("four", "house-twin", "1.0.0", "");
    let card = |folder: &Path, id: &str| folder.join(format!("maneuvers/wave_house_{id}.luau"));
    fs::copy(card(&below, "below"), card(&twin, "below")).unwrap();
    let shown = desk.done(&["add", &text(&twin), "--yes"]);
    assert!(shown.contains("It cannot be played together with house-below, which is here"), "{shown}");
}

#[test]
fn the_source_survives_removal_and_rollback() {
    let desk = Desk::new("source");
    let place = desk.author("one", "house-wave", "1.0.0", "");
    desk.done(&["add", &text(&place), "--yes"]);
    desk.done(&["remove", "house-wave"]);
    desk.done(&["rollback", "house-wave"]);
    assert!(desk.done(&["list"]).contains(&text(&place)));
    let manifest = fs::read_to_string(place.join("ruleset.toml")).unwrap();
    write(&place.join("ruleset.toml"), &manifest.replace("1.0.0", "1.1.0"));
    assert!(desk.done(&["update", "--yes"]).contains("1.1.0"));
    let moved = desk.root.join("moved");
    fs::rename(&place, &moved).unwrap();
    write(&moved.join("ruleset.toml"), &manifest.replace("1.0.0", "1.2.0"));
    desk.done(&["update", "house-wave", "--from", &text(&moved), "--yes"]);
    desk.done(&["rollback", "house-wave"]);
    let listed = desk.done(&["list"]);
    assert!(listed.contains("1.1.0") && listed.contains(&text(&place)), "{listed}");
    desk.done(&["rollback", "house-wave"]);
    assert!(desk.done(&["list"]).contains(&text(&moved)));
}

/// Packs files into a zip file with another library.
fn zip(path: &Path, files: &[(&str, &[u8])]) {
    let mut writer = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn hostile_files_are_refused_and_write_nothing() {
    let desk = Desk::new("hostile");
    let file = desk.root.join("hostile.zip");
    let manifest: &[u8] = b"id = \"house-x\"\ntitle = \"X\"\nversion = \"1\"\nover = [\"riskbreaker-0.0.1\"]\n";
    let own = ("house-x/ruleset.toml", manifest);
    let refused = |files: &[(&str, &[u8])], why: &str| {
        zip(&file, files);
        let told = desk.refused(&["add", &text(&file), "--yes"]);
        assert!(told.contains(why), "{why}: {told}");
        assert!(!desk.has("rulesets") && !desk.has("riskbreaker.lock") && !desk.has(".riskbreaker"), "{why}");
    };
    for path in ["../evil.md", "/etc/evil.md", "house-x/../../evil.md"] {
        refused(&[own, (path, b"x")], "leads out of its folder");
    }
    refused(&[own, ("house-x/nul.md", b"x")], "cannot be written on every system");
    // A bomb: 64 MiB of zeros, which compress to 64 KiB.
    refused(&[own, ("house-x/bomb.md", &vec![b'0'; 64 << 20])], "a file of a ruleset has at most");
    let page = vec![b'0'; 200 << 10];
    let names: Vec<String> = (0..200).map(|n| format!("house-x/page-{n}.md")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &*page)).chain([own]).collect();
    refused(&many, "MiB of them");
    refused(&[("house-x/ruleset.toml", b"id = \"../../house\"\n")], "is no id of a ruleset");
    refused(&[("house-x/ruleset.toml", b"id = \"con\"\n")], "is no id of a ruleset");
    refused(&[own, ("house-x/a.md", b"x"), ("house-x/a.md/b.md", b"x")], "is a file and a folder in it");
    for twins in [["RULES.md", "rules.md"], ["lib/\u{e9}.luau", "lib/e\u{301}.luau"]] {
        let [one, other] = twins.map(|name| format!("house-x/{name}"));
        refused(&[own, (&one, b"return {}"), (&other, b"return {}")], "are the same name");
    }
    refused(&[("a/ruleset.toml", manifest), ("b/ruleset.toml", manifest)], "holds several rulesets");
    let label = br#"{ "format": 1, "id": "house-y", "title": "Y", "version": "1", "hash": "sha256:0" }"#;
    refused(&[("riskbreaker-package.json", label), own], "says that it holds house-y");

    // A size in the directory of the file that is smaller than the content.
    zip(&file, &[own, ("house-x/lie.md", &[b'0'; 5000])]);
    let mut bytes = fs::read(&file).unwrap();
    let entry = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&10_u32.to_le_bytes());
    fs::write(&file, bytes).unwrap();
    let told = desk.refused(&["add", &text(&file), "--yes"]);
    assert!(told.contains("larger than it says") || told.contains("is damaged"), "{told}");

    let mut writer = zip::ZipWriter::new(fs::File::create(&file).unwrap());
    writer.add_symlink("house-x/ruleset.toml", "/etc/hostname", zip::write::SimpleFileOptions::default()).unwrap();
    writer.finish().unwrap();
    assert!(desk.refused(&["add", &text(&file), "--yes"]).contains("is a link"));
    assert!(!desk.has("rulesets"));
}

#[test]
fn a_pinned_key_admits_its_author_alone() {
    let desk = Desk::new("signed");
    let key = |name: &str| text(&desk.root.join(name));
    for name in ["author", "stranger"] {
        assert!(desk.done(&["pack", "--make-key", &key(name)]).contains("keep it secret"));
    }
    assert!(desk.refused(&["pack", "--make-key", &key("author")]).contains("cannot write"), "it is there already");
    let house = desk.author("one", "house-sealed", "1.0.0", "");
    let packed = desk.done(&["pack", &text(&house), "--out", "out", "--sign", &key("author")]);
    assert!(packed.contains("house-sealed-1.0.0.zip.minisig") && packed.contains("for `add --key RW"), "{packed}");
    let file = desk.root.join("table/out/house-sealed-1.0.0.zip");
    let signature = desk.root.join("table/out/house-sealed-1.0.0.zip.minisig");

    // A wrong key, no signature, another file, no packed file.
    let refused = |source: &Path, with: &str| desk.refused(&["add", &text(source), "--key", &key(with), "--yes"]);
    assert!(refused(&file, "stranger.pub").contains("signed with another key"));
    assert!(refused(&house, "author.pub").contains("is no packed file"));
    assert!(desk.refused(&["add", &text(&file), "--key", "nonsense", "--yes"]).contains("`nonsense` is no public key"));
    let kept = fs::read(&signature).unwrap();
    fs::remove_file(&signature).unwrap();
    assert!(refused(&file, "author.pub").contains("there is no signature"));
    fs::write(&signature, "no signature").unwrap();
    assert!(refused(&file, "author.pub").contains("is no signature of minisign"));
    fs::write(&signature, &kept).unwrap();
    assert!(!desk.has("rulesets") && !desk.has("riskbreaker.lock"));

    let added = desk.done(&["add", &text(&file), "--key", &key("author.pub"), "--yes"]);
    assert!(added.contains("Signed with the key RW"), "{added}");
    let lock = fs::read_to_string(desk.root.join("table/riskbreaker.lock")).unwrap();
    assert!(lock.contains("[keys]\nhouse-sealed = \"RW"), "{lock}");

    // The key is required at each update, and when the ruleset is added again.
    write(&house.join("RULES.md"), "# Rules\n\n- **HOUSE-1** Everybody has to wave.\n");
    desk.done(&["pack", &text(&house), "--out", "out"]);
    assert!(!signature.exists(), "it would be that of another file");
    assert!(desk.refused(&["update", "--yes"]).contains("there is no signature"));
    fs::write(&signature, &kept).unwrap();
    assert!(desk.refused(&["update", "--yes"]).contains("was changed after it was signed"));
    desk.done(&["pack", &text(&house), "--out", "out", "--sign", &key("author")]);
    desk.done(&["update", "--yes"]);
    desk.done(&["remove", "house-sealed"]);
    assert!(desk.refused(&["add", &text(&house), "--yes"]).contains("must be signed"));
    assert!(refused(&file, "stranger.pub").contains("pins another key for house-sealed"));
    desk.done(&["add", &text(&file), "--yes"]);

    // Without a key, a signature is only mentioned.
    let other = Desk::new("unsigned");
    assert!(other.done(&["add", &text(&file), "--yes"]).contains("which nobody has checked"));
}

/// Writes a layer that adds a field to each character.
fn nerve(desk: &Desk, version: &str, field: &str) -> PathBuf {
    let place = desk.author("nerve", "house-nerve", version, "");
    let kinds = format!(
        "-- Declares the {field} of a character.\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.kinds({{\n\tcharacter = \
         rb.extend({{ fields = {{ {field} = rb.int({{ min = 0, max = 9, default = 1, show = \"said\" }}) }} }}),\n}})\n"
    );
    write(&place.join("kinds.luau"), &kinds);
    place
}

const NERVE: &str = "riskbreaker-0.0.1+house-nerve";

#[test]
fn a_campaign_reports_a_new_version_and_keeps_a_renamed_field() {
    let desk = Desk::new("renamed");
    let place = nerve(&desk, "1.2.0", "grit");
    desk.done(&["add", &text(&place), "--yes"]);
    let played =
        desk.with_lines(&["play", "evening", "--rules", NERVE, "--seed", "1"], "ok\nset Fighter grit 5\nquit\n");
    assert!(played.contains("1 -> 5"), "{played}");
    let earlier = desk.author("earlier", "house-nerve", "1.2.0", "");
    write(&earlier.join("kinds.luau"), &fs::read_to_string(place.join("kinds.luau")).unwrap());
    nerve(&desk, "1.3.0", "nerve");
    write(&place.join("CHANGELOG.md"), "# Changelog\n\n## 1.3.0\n- What was called grit is called nerve.\n");
    desk.done(&["update", "--yes"]);
    let lost = "house-nerve/kinds.luau:5: warning: the campaign evening.rbsave (house-nerve 1.2.0) has the field `grit` of \
                `character`, and this version does not: its games keep its values aside, where no rule reads them (write \
                house-nerve/convert/house-nerve.luau: return rb.convert({ id = \"house-nerve\", from = \"<1.3.0\", renamed = { \
                character = { grit = \"nerve\" } } })) [lost-field]";
    let told = desk.done(&["check", "house-nerve"]);
    assert!(told.contains(lost), "{told}");
    let told = desk.done(&["check", "house-nerve", "--since", &text(&earlier)]);
    assert!(told.contains("house-nerve (house-nerve 1.2.0) has the field `grit` of `character`"), "{told}");
    assert!(desk.refused(&["check", "house-nerve", "--since", "nowhere"]).contains("there is no such file"));
    let convert = "-- Version 1.2.0 calls the nerve of a character its grit.\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.convert({\n\
        \tid = \"house-nerve\",\n\trun = function(change)\n\t\tfor _, character in ipairs(rb.each(\"character\")) do\n\
        \t\t\tcharacter:set(\"nerve\", change.was(character).grit)\n\
        \t\t\tchange.carried(\"nerve\", \"{} has {}, called grit in {}\", character, character.nerve, change.version)\n\
        \t\tend\n\tend,\n})\n";
    write(&place.join("convert/house-nerve.luau"), convert);
    desk.done(&["update", "--yes"]);
    assert!(!desk.done(&["check", "house-nerve"]).contains("lost-field"));

    // The game is unchanged until it is switched.
    let told = desk.with_lines(&["play", "evening"], "set Fighter grit 6\nquit\n");
    for part in [
        "the folder has house-nerve 1.3.0, the campaign 1.2.0",
        "New in 1.3.0: What was called grit is called nerve.",
        "It removes `grit` of `character`.",
        "`rules riskbreaker-0.0.1+house-nerve yes` switches to them; otherwise it stays with its own",
        "5 -> 6",
    ] {
        assert!(told.contains(part), "no `{part}` in\n{told}");
    }
    let lines = format!("rules {NERVE}\nrules {NERVE} yes\nauto\nset Fighter nerve 8\nquit\n");
    let told = desk.with_lines(&["play", "evening"], &lines);
    assert!(told.contains("Fighter has 6, called grit in 1.2.0"), "{told}");
    assert!(told.contains("6 -> 8"), "{told}");
}

#[test]
fn an_update_under_a_running_game_waits_for_the_game_master() {
    let desk = Desk::new("running");
    let place = desk.author("one", "house-live", "1.0.0", "");
    desk.done(&["add", &text(&place), "--yes"]);
    let rules = "riskbreaker-0.0.1+house-live";
    let call = ["play", "--rules", rules, "--seed", "1"];
    let mut game = desk.call(&call).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut says = game.stdin.take().unwrap();
    let (tell, lines) = std::sync::mpsc::channel();
    let out = game.stdout.take().unwrap();
    std::thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    // Types `look` until the output contains a text. Returns all output.
    let until = |says: &mut std::process::ChildStdin, text: &str| {
        let (began, mut shown) = (std::time::Instant::now(), String::new());
        while !shown.contains(text) {
            assert!(began.elapsed().as_secs() < 60, "no `{text}` in\n{shown}");
            says.write_all(b"look\n").unwrap();
            says.flush().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
            lines.try_iter().for_each(|line| shown.extend([&line, "\n"]));
        }
        shown
    };
    until(&mut says, "Fighter");
    desk.author("one", "house-live", "1.1.0", "");
    write(&place.join("RULES.md"), "# Rules\n\n- **HOUSE-1** Everybody has to wave.\n");
    let card = place.join("maneuvers/wave_house_live.luau");
    write(&card, &fs::read_to_string(&card).unwrap().replace("You wave.", "You wave twice."));
    desk.done(&["update", "house-live", "--yes"]);
    let shown = until(&mut says, "puts it in force");
    assert!(shown.contains("~ Installed: house-live 1.0.0 -> 1.1.0. This game stays as it is"), "{shown}");
    assert!(shown.contains("changes `text` of Wave house_live") && !shown.contains("reloaded"), "{shown}");
    // Editing the new files changes nothing either.
    let installed = desk.root.join("table/rulesets/house-live/maneuvers/wave_house_live.luau");
    write(&installed, &fs::read_to_string(&installed).unwrap().replace("twice", "thrice"));
    std::thread::sleep(std::time::Duration::from_millis(500));
    writeln!(says, "rules {rules} yes\nok\nauto").unwrap();
    let shown = until(&mut says, "is in force");
    assert!(!shown.contains("reloaded"), "{shown}");
    // Rules in force are reloaded when they are edited.
    write(&installed, &fs::read_to_string(&installed).unwrap().replace("thrice", "four times"));
    until(&mut says, "wave_house_live.luau reloaded");
    writeln!(says, "quit").unwrap();
    drop(says);
    game.wait().unwrap();
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
