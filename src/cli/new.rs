use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use include_dir::{Dir, include_dir};
use riskbreaker::check::findings;
use riskbreaker::ruleset::Fact;
use riskbreaker::spec::run_specs;
use riskbreaker::{Driver, Happening, Library, Question, Ruleset, Session, Setup, Step, Value};

use super::row::{Row, Tone};
use super::screen::Screen;
use super::{call_error, library, types};

/// Writes a working example: a ruleset, or a part of one
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,

    /// A ruleset of this name, the same as `new ruleset NAME`
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(clap::Subcommand)]
enum What {
    /// A ruleset with cards, an item, a hook, a switch and specs; or house rules for another ruleset
    Ruleset {
        /// Its id, which is also the name of its folder: small letters, digits, `-` and `.`
        name: String,
        /// The ruleset that it extends: a version of its own
        #[arg(long, value_name = "ID")]
        extends: Option<String>,
        /// The rulesets that it lies over as house rules
        #[arg(long, value_name = "ID,ID...", value_delimiter = ',', conflicts_with = "extends")]
        over: Vec<String>,
    },
    /// A maneuver card with its spec
    Maneuver(Part),
    /// An item, a card that hands it out, and their spec
    Item(Part),
    /// A hook that runs after a verb, with its spec
    Hook(Part),
    /// A spec
    Spec(Part),
    /// A character sheet for the cast
    Character(Part),
    /// A scenario to start from
    Scenario(Part),
}

#[derive(clap::Args)]
struct Part {
    /// Its id, which is also the name of its file: small letters, digits and `_`
    name: String,
    /// The ruleset it is for; the only one on the disk if none is named
    #[arg(long = "in", value_name = "ID")]
    ruleset: Option<String>,
}

static TEMPLATE: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/templates/ruleset");

pub fn new(args: Args, folder: Option<PathBuf>) -> Result<ExitCode> {
    let written = match (args.what, args.name) {
        (Some(What::Ruleset { name, extends, over }), _) => {
            ruleset(&name, extends.as_deref(), &over, folder.as_deref())?
        }
        (Some(What::Maneuver(part)), _) => Scaffold::open(part, folder)?.maneuver()?,
        (Some(What::Item(part)), _) => Scaffold::open(part, folder)?.item()?,
        (Some(What::Hook(part)), _) => Scaffold::open(part, folder)?.hook()?,
        (Some(What::Spec(part)), _) => Scaffold::open(part, folder)?.spec()?,
        (Some(What::Character(part)), _) => Scaffold::open(part, folder)?.character()?,
        (Some(What::Scenario(part)), _) => Scaffold::open(part, folder)?.scenario()?,
        (None, Some(name)) => ruleset(&name, None, &[], folder.as_deref())?,
        (None, None) => {
            let text = "say what to write: `new ruleset NAME`, or `new maneuver NAME`, `item`, `hook`, `spec`, `character`, `scenario`";
            return Err(call_error(text));
        }
    };
    let mut screen = Screen::stdout(false);
    for path in &written.files {
        screen.row(&Row::at(0).with("new  ", Tone::Good).plain(path.display().to_string()))?;
    }
    for line in &written.then {
        screen.row(&Row::at(0).faint(line))?;
    }
    Ok(if written.well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The written files, and what to do with them.
struct Written {
    files: Vec<PathBuf>,
    then: Vec<String>,
    /// Whether it passes the check and its specs.
    well: bool,
}

/// Writes a ruleset.
fn ruleset(name: &str, extends: Option<&str>, over: &[String], folder: Option<&Path>) -> Result<Written> {
    let proper = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.');
    if !proper || name.ends_with(['-', '.']) || name.contains("..") {
        let text = format!("`{name}` cannot be an id: use small letters, digits, `-` and `.`, and begin with a letter");
        return Err(call_error(text));
    }
    let root = folder.map_or_else(|| PathBuf::from(Library::FOLDER), Path::to_path_buf);
    let target = root.join(name);
    if target.exists() {
        return Err(call_error(format!("{} exists already", target.display())));
    }
    let around = if root.is_dir() { library::open(Some(&root))? } else { Library::embedded() };
    let below = |id: &str| {
        library::known(&around, id)?;
        library::load(&around, id, &[])
    };
    let mut files = match (extends, over) {
        (None, []) => filled(name),
        (Some(parent), _) => house(name, &format!("extends = \"{parent}\""), &[below(parent)?]),
        (None, bases) => {
            let rules = bases.iter().map(|id| below(id)).collect::<Result<Vec<_>>>()?;
            house(name, &format!("over = {bases:?}"), &rules)
        }
    };
    files.extend(types::settings());
    let written = write_all(&target, &files)?;
    let library = library::open(Some(&root))?;
    let way = library.ways_to_play(name).remove(0);
    let rules = library::load(&library, &way, &[])?;
    types::write_inside(&target, types::DEFINITION, &types::definition(&rules))?;
    if extends.is_some() || !over.is_empty() {
        // A house rule with its spec, made for what it lies on.
        let part = Part { name: "first_house_rule".into(), ruleset: Some(name.to_owned()) };
        let more = Scaffold::open(part, Some(root))?.hook()?;
        let mut files = written;
        files.extend(more.files.into_iter().filter(|path| !path.ends_with("RULES.md")));
        return Ok(Written { files, then: next_steps(name, &way), well: more.well });
    }
    Ok(Written { files: written, then: next_steps(name, &way), well: true })
}

fn next_steps(name: &str, way: &str) -> Vec<String> {
    vec![
        format!("Play it: riskbreaker play --rules {way}   (a saved file takes effect at once)"),
        format!("Check and test it at every save: riskbreaker dev {name}"),
    ]
}

/// The template with its names filled in.
fn filled(id: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![&TEMPLATE];
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        for file in folder.files() {
            let text = file.contents_utf8().unwrap_or_default();
            let text = text.replace("{id}", id).replace("{title}", &title_of(id)).replace("{RULE}", &rule_prefix(id));
            files.insert(file.path().to_string_lossy().replace('\\', "/"), text);
        }
    }
    files
}

/// A ruleset that only changes others.
fn house(id: &str, below: &str, parents: &[Arc<Ruleset>]) -> BTreeMap<String, String> {
    let title = title_of(id);
    let on = parents.iter().map(|parent| parent.title()).collect::<Vec<_>>().join(" and ");
    let manifest = format!(
        "id = \"{id}\"\ntitle = \"{title}\"\nversion = \"0.1.0\"\nengine = \"0.1\"\n{below}\nsummary = \"House rules for {on}.\"\n",
    );
    let rules = format!("# {title}\n\nHouse rules for {on}. All its other rules stay in force.\n");
    BTreeMap::from([("ruleset.toml".to_owned(), manifest), ("RULES.md".to_owned(), rules)])
}

fn write_all(target: &Path, files: &BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
    files.iter().map(|(path, text)| types::write_inside(target, path, text)).collect()
}

/// `my-game` -> `My Game`.
fn title_of(id: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    id.split(['-', '_']).map(word).collect::<Vec<_>>().join(" ")
}

/// `my-game` -> `MG`; an id of one word gives its beginning.
fn rule_prefix(id: &str) -> String {
    let initials: String = id.split(['-', '_']).filter_map(|word| word.chars().next()).collect();
    let short =
        if initials.len() > 1 { initials } else { id.chars().filter(char::is_ascii_alphabetic).take(4).collect() };
    short.to_uppercase()
}

/// A ruleset on the disk to which a part is added.
struct Scaffold {
    name: String,
    library: Library,
    id: String,
    folder: PathBuf,
    /// The ids under which it is played. A layer has one for each ruleset that it lies over.
    ways: Vec<String>,
    /// The current one of them, and its rules.
    way: String,
    rules: Arc<Ruleset>,
}

/// How a card is played in the default scenario: by whom, with which dice.
struct Trial {
    about: String,
    kind: String,
    faces: Vec<u32>,
    said: Vec<String>,
    /// The answers that were needed, by topic, as Luau source.
    answers: Vec<(String, String)>,
}

impl Scaffold {
    fn open(part: Part, folder: Option<PathBuf>) -> Result<Scaffold> {
        let name = part.name;
        let proper = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !proper {
            let text = format!("`{name}` cannot be an id: use small letters, digits and `_`, and begin with a letter");
            return Err(call_error(text));
        }
        let here = Path::new("ruleset.toml").is_file() && folder.is_none() && part.ruleset.is_none();
        let (library, id) = if here {
            let (library, mut ids) = super::check::chosen(Some(PathBuf::from(".")), None)?;
            (library, ids.remove(0))
        } else {
            let library = library::open(folder.as_deref())?;
            let id = match part.ruleset {
                Some(id) => id,
                None => {
                    let mut ids: Vec<String> =
                        library.ids().into_iter().filter(|id| library.folder_of(id).is_some()).collect();
                    if ids.len() != 1 {
                        return Err(call_error(if ids.is_empty() {
                            "there is no ruleset in the folder `rulesets`; write one with `riskbreaker new ruleset NAME`".into()
                        } else {
                            format!("name the ruleset with `--in ID`: {}", ids.join(", "))
                        }));
                    }
                    ids.remove(0)
                }
            };
            (library, id)
        };
        library::known(&library, &id)?;
        let Some(folder) = library.folder_of(&id) else {
            return Err(call_error(format!(
                "{id} is built into the program; `riskbreaker new ruleset NAME --extends {id}` makes one of your own"
            )));
        };
        let ways = library.ways_to_play(&id);
        let way = ways[0].clone();
        let rules = library::load(&library, &way, &[])?;
        Ok(Scaffold { name, library, id, folder, ways, way, rules })
    }

    /// The result for each ruleset that a layer lies over, with its id; for other rulesets one, without an id.
    fn over_each(&self) -> Result<Vec<(Option<String>, Scaffold)>> {
        let one = |way: &String| {
            let rules = library::load(&self.library, way, &[])?;
            let base = way.rsplit_once('+').map(|(base, _)| base.to_owned());
            let (name, library, id) = (self.name.clone(), self.library.clone(), self.id.clone());
            let (folder, ways) = (self.folder.clone(), self.ways.clone());
            Ok((base, Scaffold { name, library, id, folder, ways, way: way.clone(), rules }))
        };
        self.ways.iter().map(one).collect()
    }

    /// Files, and a spec for them made by `spec`. A layer over several rulesets has one for each, unless they are equal.
    fn with_specs(
        &self,
        files: Vec<(String, String)>,
        path: &str,
        spec: impl Fn(&Scaffold, &[(String, String)], &str) -> String,
    ) -> Result<Vec<(String, String)>> {
        let mut specs = Vec::new();
        for (base, scaffold) in self.over_each()? {
            let path = match base {
                Some(base) if self.ways.len() > 1 => path.replacen("specs/", &format!("specs/{base}/"), 1),
                _ => path.to_owned(),
            };
            let text = spec(&scaffold, &files, &path);
            specs.push((path, text));
        }
        let mut all = files;
        match specs.as_slice() {
            [(_, first), others @ ..] if others.iter().all(|(_, text)| text == first) => {
                all.push((path.to_owned(), first.clone()));
            }
            _ => all.extend(specs),
        }
        Ok(all)
    }

    fn title(&self) -> String {
        title_of(&self.name)
    }

    /// The next free id of the rule text.
    fn next_rule(&self) -> String {
        let prefix = rule_prefix(&self.id);
        let path = format!("{}/RULES.md", self.id);
        let texts: Vec<&str> = self.rules.rule_texts().map(|(_, text)| text).collect();
        let own = self.rules.rule_texts().find(|(of, _)| *of == path).map_or("", |(_, text)| text);
        let first = own.lines().find_map(|line| {
            let id = line.trim_start_matches(['-', '*', ' ']).split(['*', ' ']).next()?;
            let (stem, number) = id.rsplit_once('-')?;
            (line.starts_with("- **") && number.parse::<u32>().is_ok()).then(|| stem.to_owned())
        });
        let stem = first.unwrap_or(prefix);
        let taken = |n: &u32| texts.iter().any(|text| text.contains(&format!("**{stem}-{n}**")));
        let n = (1..10_000).find(|n| !taken(n)).unwrap_or(1);
        format!("{stem}-{n}")
    }

    fn refuse_taken(&self, paths: &[String]) -> Result<()> {
        for path in paths {
            if self.folder.join(path).exists() {
                return Err(call_error(format!("{} exists already", self.folder.join(path).display())));
            }
        }
        Ok(())
    }

    /// Writes files and their rule, and checks the result.
    fn finish(&self, files: Vec<(String, String)>, rule: Option<(String, String)>) -> Result<Written> {
        let mut written = Vec::new();
        for (path, text) in files {
            written.push(types::write_inside(&self.folder, &path, &text)?);
        }
        if let Some((id, text)) = rule {
            let path = self.folder.join("RULES.md");
            let before = fs::read_to_string(&path).unwrap_or_else(|_| format!("# {}\n", title_of(&self.id)));
            written.push(types::write_inside(&self.folder, "RULES.md", &with_rule(&before, &id, &text))?);
        }
        let mut wrong: Vec<String> = Vec::new();
        let (mut passed, mut failed, mut loads) = (0, 0, true);
        for way in &self.ways {
            wrong.extend(findings(&self.library, way, &[]).iter().map(ToString::to_string));
            match run_specs(&self.library, way, &[], Vec::new(), Some(&self.name)) {
                Ok(report) => {
                    passed += report.passed();
                    failed += report.failed() + report.broken.len();
                }
                Err(_) => loads = false,
            }
        }
        wrong.sort();
        wrong.dedup();
        let specs = match (loads, passed, failed) {
            (false, ..) => Some("the ruleset does not load".to_owned()),
            (_, 0, 0) => None,
            (_, 1, 0) => Some("1 spec passes".to_owned()),
            (_, passed, 0) => Some(format!("{passed} specs pass")),
            (_, _, 1) => Some(format!("1 spec fails; `riskbreaker test {}` shows why", self.id)),
            (_, _, failed) => Some(format!("{failed} specs fail; `riskbreaker test {}` shows why", self.id)),
        };
        let well = loads && failed == 0 && wrong.is_empty();
        Ok(Written { files: written, then: specs.into_iter().chain(wrong).collect(), well })
    }

    /// The required facts of a card or an item, copied from another one.
    fn facts(&self, what: &str) -> String {
        let (folder, others) = match what {
            "item" => ("items", self.rules.items()),
            _ => ("maneuvers", self.rules.cards()),
        };
        let resolve = if what == "item" { "" } else { ", resolve = function() end" };
        let bare = format!("return require(\"@riskbreaker\").{what}({{ id = \"bare\", title = \"Bare\"{resolve} }})\n");
        let sound = |way: &String| {
            let library = self.library_with(&[(format!("{folder}/bare.luau"), bare.clone())])?;
            Ruleset::load(&library, way).ok()
        };
        if self.ways.iter().all(|way| sound(way).is_some()) {
            return String::new();
        }
        let Some(card) = others.first() else { return String::new() };
        let everywhere = |name: &str| others.iter().all(|card| card.facts.contains_key(name));
        let mut lines = String::new();
        for (name, fact) in card.facts.iter().filter(|(name, _)| everywhere(name)) {
            if let Fact::Plain(value) = fact
                && let Some(text) = written_as_luau(value)
            {
                lines.push_str(&format!("\t{name} = {text},\n"));
            }
        }
        lines
    }

    /// The ruleset with additional files, if it has no problem.
    fn with(&self, files: &[(String, String)]) -> Option<std::sync::Arc<Ruleset>> {
        let library = self.library_with(files)?;
        Ruleset::load(&library, &self.way).ok()
    }

    /// The first of some specs that passes with these files; the last one if none does.
    fn first_that_holds(&self, files: &[(String, String)], path: &str, specs: Vec<String>) -> String {
        let holds = |spec: &String| {
            let mut files = files.to_vec();
            files.push((path.to_owned(), spec.clone()));
            let library = self.library_with(&files)?;
            let report = run_specs(&library, &self.way, &[], Vec::new(), Some(path)).ok()?;
            (report.is_green() && report.passed() > 0).then_some(())
        };
        let at = specs.iter().position(|spec| holds(spec).is_some()).unwrap_or(specs.len() - 1);
        specs.into_iter().nth(at).unwrap_or_default()
    }

    /// The library with some files more.
    fn library_with(&self, files: &[(String, String)]) -> Option<Library> {
        let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut parts = self.rules.parts();
        for way in self.ways.iter().filter(|way| **way != self.way) {
            parts.extend(Ruleset::load(&self.library, way).map(|rules| rules.parts()).unwrap_or_default());
        }
        for part in parts {
            for (path, source) in self.library.read(&part).ok()?.files {
                all.insert(format!("{part}/{path}"), source.text.as_bytes().to_vec());
            }
        }
        for (path, text) in files {
            all.insert(format!("{}/{path}", self.id), text.as_bytes().to_vec());
        }
        Some(Library::from_files(all))
    }

    /// Plays a card once in the default scenario, with defaults for all other answers.
    fn try_card(rules: &std::sync::Arc<Ruleset>, card: &str) -> Option<Trial> {
        for seed in 1..6 {
            let mut setup = Setup::default().seed(seed);
            for seat in rules.seats().keys() {
                setup = setup.seat(seat, Driver::Human);
            }
            let mut session = Session::start(rules, setup).ok()?;
            if let Some(trial) = play_once(&mut session, card) {
                return Some(trial);
            }
        }
        None
    }

    fn maneuver(&self) -> Result<Written> {
        let (card, spec) = (format!("maneuvers/{}.luau", self.name), format!("specs/maneuvers/{}.luau", self.name));
        self.refuse_taken(&[card.clone(), spec.clone()])?;
        let (title, rule) = (self.title(), self.next_rule());
        let text =
            self.card(&self.name, &title, &rule, "Says that it was tried.", &format!("rb.say(\"{title} is tried\")"));
        let said = format!("{title} is tried");
        let files = self.with_specs(vec![(card, text)], &spec, |scaffold, files, path| {
            scaffold.card_spec(files, path, &self.name, &rule, &said, &said)
        })?;
        self.finish(files, Some((rule.clone(), format!("{title}: says that it was tried."))))
    }

    fn card(&self, id: &str, title: &str, rule: &str, text: &str, resolve: &str) -> String {
        format!(
            "-- {title}. {text}\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.maneuver({{\n\tid = \"{id}\",\n\ttitle = \"{title}\",\n\trules = {{ \"{rule}\" }},\n\
             {}\ttext = \"{text}\",\n\twhen = function(ctx)\n\t\t-- return false, \"why it cannot be played now\"\n\t\treturn true\n\tend,\n\tresolve = function(ctx)\n\t\t{resolve}\n\tend,\n}})\n",
            self.facts("maneuver")
        )
    }

    /// A spec that plays a card if that is possible, and otherwise only starts the game.
    fn card_spec(
        &self,
        files: &[(String, String)],
        path: &str,
        card: &str,
        rule: &str,
        name: &str,
        said: &str,
    ) -> String {
        let trial = self.with(files).and_then(|rules| Scaffold::try_card(&rules, card));
        let trial = trial.filter(|trial| trial.said.iter().any(|line| line.contains(said)));
        self.spec_that_holds(files, path, rule, name, trial.as_ref().map(|trial| (trial, card, said)))
    }

    /// A spec from the trial of a card; without a trial it only starts the game.
    fn spec_that_holds(
        &self,
        files: &[(String, String)],
        path: &str,
        rule: &str,
        name: &str,
        tried: Option<(&Trial, &str, &str)>,
    ) -> String {
        let scenario = self.rules.default_scenario();
        let mut bodies = Vec::new();
        if let Some((trial, card, said)) = tried {
            let [said_at_once, said_later] = ["", "\tt:run()\n"].map(|run| played(trial, card, run, said, scenario));
            bodies.extend([said_at_once, said_later, played(trial, card, "", "", scenario)]);
        }
        bodies.push(started(scenario, &self.faces_at_the_start()));
        let specs = bodies.iter().map(|body| spec_file(rule, name, body)).collect();
        self.first_that_holds(files, path, specs)
    }

    /// The dice before the first question of the default scenario.
    fn faces_at_the_start(&self) -> Vec<u32> {
        let mut setup = Setup::default().seed(1);
        for seat in self.rules.seats().keys() {
            setup = setup.seat(seat, Driver::Human);
        }
        let Ok(mut session) = Session::start(&self.rules, setup) else { return Vec::new() };
        let _ = session.advance();
        let mut faces = Vec::new();
        for event in session.log() {
            if let Happening::Rolled { faces: rolled, .. } = event.happening {
                faces.extend(rolled);
            }
        }
        faces
    }

    fn item(&self) -> Result<Written> {
        let (name, title) = (&self.name, self.title());
        let hand = format!("take_{name}");
        let paths =
            [format!("items/{name}.luau"), format!("maneuvers/{hand}.luau"), format!("specs/items/{name}.luau")];
        self.refuse_taken(&paths)?;
        let rule = self.next_rule();
        let known = self.rules.cards().first().and_then(|card| Scaffold::try_card(&self.rules, &card.id));
        let kind = known
            .map(|trial| trial.kind)
            .or_else(|| self.rules.schema().kinds.first().map(|kind| kind.name.to_string()));
        let verb = self.rules.verbs().first().cloned();
        let follows = match &verb {
            Some(verb) => format!(
                "\tafter = {{\n\t\t{verb} = function(e, holder)\n\t\t\trb.say(\"{title} of {{}} stirs\", holder.owner)\n\t\tend,\n\t}},\n"
            ),
            None => String::new(),
        };
        let item = format!(
            "-- {title}. It follows up on a verb while somebody has it.\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.item({{\n\tid = \"{name}\",\n\ttitle = \"{title}\",\n\trules = {{ \"{rule}\" }},\n\ttext = \"Stirs when something happens to anybody.\",\n{}{follows}}})\n",
            self.facts("item")
        );
        // The player of a card is `ctx.actor` if other cards use that name.
        let texts = self.rules.cards().iter().flat_map(|card| card.origins.values());
        let mut texts = texts.filter_map(|path| self.rules.source(path));
        let acts = texts.any(|text| text.contains("ctx.actor"));
        let take = match &kind {
            Some(kind) => format!(
                "local owner = {}\n\t\trb.attach(\"{name}\", owner)\n\t\trb.say(\"{{}} has the {title}\", owner)",
                if acts { "ctx.actor".into() } else { format!("rb.first(\"{kind}\")") }
            ),
            None => format!("rb.say(\"somebody has the {title}\")"),
        };
        let card = self.card(&hand, &format!("Take {title}"), &rule, &format!("The {title} is yours."), &take);
        let files = vec![(paths[0].clone(), item), (paths[1].clone(), card)];
        let files = self.with_specs(files, &paths[2], |scaffold, files, path| {
            let (name, said) = (format!("the {title} is handed out"), format!("the {title}"));
            scaffold.card_spec(files, path, &hand, &rule, &name, &said)
        })?;
        self.finish(files, Some((rule.clone(), format!("{title}: stirs when something happens; a card hands it out."))))
    }

    fn hook(&self) -> Result<Written> {
        let (name, title) = (&self.name, self.title());
        let paths = [format!("hooks/{name}.luau"), format!("specs/hooks/{name}.luau")];
        self.refuse_taken(&paths)?;
        let rule = self.next_rule();
        let text = |verb: &str| {
            format!(
                "-- {title}. A house rule that follows up on the verb `{verb}`.\nlocal rb = require(\"@riskbreaker\")\n\nreturn rb.hook({{\n\tid = \"{name}\",\n\trules = {{ \"{rule}\" }},\n\talways = true, -- in force without being attached to anybody\n\tafter = {{\n\t\t{verb} = function(e)\n\t\t\trb.say(\"{title}: {verb} was done\")\n\t\tend,\n\t}},\n}})\n"
            )
        };
        // A verb that a card reaches in the default scenario, so that the spec can show it.
        let mut chosen = None;
        'search: for verb in self.rules.verbs() {
            let Some(rules) = self.with(&[(paths[0].clone(), text(verb))]) else { continue };
            for card in rules.cards() {
                let said = format!("{title}: {verb} was done");
                if let Some(trial) = Scaffold::try_card(&rules, &card.id).filter(|trial| trial.said.contains(&said)) {
                    chosen = Some((verb.to_string(), card.id.to_string(), said, trial));
                    break 'search;
                }
            }
        }
        let verb = match (&chosen, self.rules.verbs().first()) {
            (Some((verb, ..)), _) => verb.clone(),
            (None, Some(verb)) => verb.to_string(),
            (None, None) => {
                return Err(call_error(format!("{} has no verb that a hook could follow up on", self.id)));
            }
        };
        let said = format!("{title}: {verb} was done");
        let files = self.with_specs(vec![(paths[0].clone(), text(&verb))], &paths[1], |scaffold, files, path| {
            // The card that reached it in the first ruleset, or one that does in this ruleset.
            let tried = scaffold.with(files).and_then(|rules| {
                let first = chosen.iter().map(|(_, card, ..)| card.clone());
                let cards = rules.cards().iter().map(|card| card.id.to_string());
                let mut trials = first.chain(cards).filter_map(|card| Some((Scaffold::try_card(&rules, &card)?, card)));
                trials.find(|(trial, _)| trial.said.contains(&said))
            });
            let tried = tried.as_ref().map(|(trial, card)| (trial, card.as_str(), said.as_str()));
            scaffold.spec_that_holds(files, path, &rule, &format!("{title} runs after {verb}"), tried)
        })?;
        self.finish(files, Some((rule.clone(), format!("{title}: says so after {verb}."))))
    }

    /// A character like the first one of the cast.
    fn character(&self) -> Result<Written> {
        self.copy("cast", "a character", None)
    }

    /// A scenario like the default one.
    fn scenario(&self) -> Result<Written> {
        let written = self.copy("scenarios", "a scenario", self.rules.default_scenario())?;
        let play = format!("Play it: riskbreaker play {} --rules {}", self.name, self.way);
        Ok(Written { then: written.then.into_iter().chain([play]).collect(), ..written })
    }

    /// Writes a copy of another data file in the folder: the named one, or the first.
    fn copy(&self, folder: &str, what: &str, named: Option<&str>) -> Result<Written> {
        let path = format!("{folder}/{}.toml", self.name);
        self.refuse_taken(std::slice::from_ref(&path))?;
        let wanted = named.map(|name| format!("{folder}/{name}.toml"));
        let mut model = None;
        for part in self.rules.parts().iter().rev() {
            let files = self.library.read(part)?.files;
            let inside = |path: &&String| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
            let found = match &wanted {
                Some(wanted) => files.keys().find(|path| *path == wanted),
                None => files.keys().find(inside),
            };
            if let Some(found) = found {
                model = Some((format!("{part}/{found}"), files[found].text.to_string()));
                break;
            }
        }
        let Some((from, text)) = model else {
            return Err(call_error(format!("{} has no {what} to copy", self.way)));
        };
        let text = retitled(&text, &self.title());
        let files = vec![(path, format!("# Copied from {from}: change what differs.\n{text}"))];
        let mut written = self.finish(files, None)?;
        written.then.insert(0, format!("It is a copy of {from}."));
        Ok(written)
    }

    fn spec(&self) -> Result<Written> {
        let path = format!("specs/{}.luau", self.name);
        self.refuse_taken(std::slice::from_ref(&path))?;
        let trial = self.rules.cards().iter().find_map(|card| Some((card, Scaffold::try_card(&self.rules, &card.id)?)));
        let (rule, name) = match &trial {
            Some((card, trial)) => (card.rules.first(), format!("{} plays {}", trial.about, card.title)),
            None => (None, "the game starts".to_owned()),
        };
        let tried =
            trial.as_ref().map(|(card, trial)| (trial, &*card.id, trial.said.last().map_or("", String::as_str)));
        let path = match self.way.rsplit_once('+') {
            Some((base, _)) if self.ways.len() > 1 => path.replacen("specs/", &format!("specs/{base}/"), 1),
            _ => path,
        };
        let text = self.spec_that_holds(&[], &path, rule.map_or("", String::as_str), &name, tried);
        self.finish(vec![(path, text)], None)
    }
}

/// A data file under another name or title: its first `name` or `title` at the top level.
fn retitled(text: &str, title: &str) -> String {
    let mut done = false;
    let line = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            done = true;
        }
        if done || !matches!(key, "name" | "title") {
            return format!("{line}\n");
        }
        done = true;
        format!("{key} = {title:?}\n")
    };
    text.lines().map(line).collect()
}

fn spec_file(rule: &str, name: &str, body: &str) -> String {
    let (ids, head) = if rule.is_empty() {
        ("{}".to_owned(), String::new())
    } else {
        (format!("{{ \"{rule}\" }}"), format!("{rule}: "))
    };
    format!("local rb = require(\"@riskbreaker\")\n\nrb.spec(\"{head}{name}\", {ids}, function(t)\n{body}end)\n")
}

fn given(scenario: Option<&str>) -> String {
    scenario.map_or_else(|| "\tt:given({})\n".to_owned(), |name| format!("\tt:given(\"{name}\")\n"))
}

fn started(scenario: Option<&str>, faces: &[u32]) -> String {
    format!("{}{}\tt:ongoing()\n", given(scenario), dice(faces))
}

fn dice(faces: &[u32]) -> String {
    let faces: Vec<String> = faces.iter().map(u32::to_string).collect();
    if faces.is_empty() { String::new() } else { format!("\tt:dice({})\n", faces.join(", ")) }
}

/// `run`: the call that continues the game before the log is compared.
fn played(trial: &Trial, card: &str, run: &str, said: &str, scenario: Option<&str>) -> String {
    let mut body = given(scenario);
    body.push_str(&dice(&trial.faces));
    let answers: Vec<String> = trial.answers.iter().map(|(topic, value)| format!("{topic} = {value}")).collect();
    let answers = if answers.is_empty() { String::new() } else { format!(", {{ {} }}", answers.join(", ")) };
    body.push_str(&format!("\tt:play({:?}, \"{card}\"{answers})\n", trial.about));
    body.push_str(run);
    if !said.is_empty() {
        body.push_str(&format!("\tt:said({said:?})\n"));
    }
    body
}

/// Plays to the first question for a card, plays this card, and returns the dice and answers.
fn play_once(session: &mut Session, card: &str) -> Option<Trial> {
    let mut action = None;
    let mut trial = None;
    let mut answers = Vec::new();
    for _ in 0..40 {
        let step = session.advance().ok()?;
        let open = if matches!(step, Step::Ask) { session.questions().first().cloned() } else { None };
        let ended = trial.is_some() && open.as_ref().map(|question| question.id.action) != action;
        if ended || !matches!(step, Step::Ask) {
            if matches!(step, Step::Fault(_)) {
                return None;
            }
            break;
        }
        let question = open?;
        if trial.is_none() && &*question.topic == "card" {
            action = Some(question.id.action);
            let about = question.about?;
            let view = session.view();
            trial = Some((view.title(about).to_string(), view.kind(about)?.to_owned()));
            let answer = question.read(&Value::text(card)).ok()?;
            session.answer(question.id, answer).ok()?;
            continue;
        }
        if let Some(default) = question.default.clone() {
            session.answer(question.id, default).ok()?;
            continue;
        }
        let value = some_answer(&question)?;
        if trial.is_some() {
            answers.push((question.topic.to_string(), written_as_luau(&value)?));
        }
        session.answer(question.id, question.read(&value).ok()?).ok()?;
    }
    let (about, kind) = trial?;
    let (mut faces, mut said) = (Vec::new(), Vec::new());
    for event in session.log() {
        match event.happening {
            Happening::Rolled { faces: rolled, .. } => faces.extend(rolled),
            Happening::Said { text } => said.push(text),
            _ => {}
        }
    }
    Some(Trial { about, kind, faces, said, answers })
}

/// An answer that a question takes, where it has no default.
fn some_answer(question: &Question) -> Option<Value> {
    let open = question.ask.options().iter().filter(|option| option.enabled);
    let ids: Vec<Value> = open.map(|option| Value::text(&option.id)).collect();
    let mut tried = ids.clone();
    tried.extend([Value::Int(1), Value::Int(0), Value::Bool(true)]);
    tried.extend([Value::list(ids.iter().take(1).cloned()), Value::list(ids)]);
    tried.into_iter().find(|value| question.read(value).is_ok())
}

/// A rule text with one more rule, after the last numbered one before the section of the GM.
fn with_rule(text: &str, id: &str, rule: &str) -> String {
    let line = format!("- **{id}** {rule}");
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("## ")).unwrap_or(lines.len());
    match lines[..end].iter().rposition(|line| line.starts_with("- **")) {
        Some(last) => lines.insert(last + 1, &line),
        None => {
            while lines.last() == Some(&"") {
                lines.pop();
            }
            lines.extend(["", &line]);
        }
    }
    format!("{}\n", lines.join("\n"))
}

/// What cannot be a name in a script.
const KEYWORDS: &[&str] = &[
    "", "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not",
    "or", "repeat", "return", "then", "true", "until", "while",
];

/// A plain value as a script writes it.
fn written_as_luau(value: &Value) -> Option<String> {
    match value {
        Value::Bool(yes) => Some(yes.to_string()),
        Value::Int(n) => Some(n.to_string()),
        Value::Text(text) => Some(format!("{text:?}")),
        Value::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(written_as_luau).collect();
            Some(format!("{{ {} }}", items?.join(", ")))
        }
        Value::Map(items) => {
            let is_name = |key: &str| {
                !key.starts_with(|c: char| c.is_ascii_digit())
                    && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    && !KEYWORDS.contains(&key)
            };
            let entry = |(key, value): (&Arc<str>, &Value)| {
                let key = if is_name(key) { key.to_string() } else { format!("[{key:?}]") };
                Some(format!("{key} = {}", written_as_luau(value)?))
            };
            Some(format!("{{ {} }}", items.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", ")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_written_as_scripts_write_them() {
        let fact = Value::map([
            ("end", Value::Int(2)),
            ("mail", Value::Int(50)),
            ("of two", Value::list([Value::Bool(true), Value::text("a")])),
        ]);
        assert_eq!(written_as_luau(&fact).unwrap(), "{ [\"end\"] = 2, mail = 50, [\"of two\"] = { true, \"a\" } }");
    }

    #[test]
    fn names_become_titles_and_prefixes() {
        assert_eq!(title_of("my-game"), "My Game");
        assert_eq!(rule_prefix("my-game"), "MG");
        assert_eq!(rule_prefix("tug"), "TUG");
    }

    #[test]
    fn a_rule_comes_behind_the_last_numbered_one() {
        let text = "# T\n\n- **T-1** a\n- **T-2** b\n\n## What is left to the GM\n\n- **T-9** c\n";
        assert_eq!(
            with_rule(text, "T-3", "d"),
            "# T\n\n- **T-1** a\n- **T-2** b\n- **T-3** d\n\n## What is left to the GM\n\n- **T-9** c\n"
        );
        assert_eq!(with_rule("# T\n", "T-1", "a"), "# T\n\n- **T-1** a\n");
    }
}
