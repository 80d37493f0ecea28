use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use riskbreaker::check::{CheckReport, check, derived_types, first_and_count};
use riskbreaker::ruleset::Fact;
use riskbreaker::script::type_module;
use riskbreaker::spec::{SpecRun, run_specs};
use riskbreaker::{Driver, Happening, Library, Ruleset, Session, Setup, WorkBudget};

use super::part::{NewPart, Written};
use super::spec_text::{played, spec_file, started, written_as_luau};
use super::titles::{rule_prefix, title_of};
use super::trial::{Trial, play_once};
use crate::cli::figures::counted;
use crate::cli::interrupt::watched_briefly;
use crate::cli::{call_error, library, types};

/// A ruleset on disk to which a part is added.
pub struct Scaffold {
    name: String,
    library: Library,
    id: String,
    folder: PathBuf,
    /// The ids under which it can be played: for a layer, one for each ruleset that it extends.
    ways: Vec<String>,
    /// The id that is used now, and its rules.
    way: String,
    rules: Arc<Ruleset>,
}

impl Scaffold {
    pub fn open(part: NewPart, folder: Option<PathBuf>) -> Result<Scaffold> {
        let name = part.name;
        let proper = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !proper {
            let text = format!("`{name}` cannot be an id: use small letters, digits and `_`, and begin with a letter");
            return Err(call_error(text));
        }
        let here = Path::new("ruleset.toml").is_file() && folder.is_none() && part.ruleset.is_none();
        let (library, id) = if here {
            let (library, mut ids) = crate::cli::check::chosen(Some(PathBuf::from(".")), None)?;
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

    /// Returns one scaffold for each ruleset that a layer extends, with its id; for any other ruleset, one without an
    /// id.
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

    /// Adds specs made by `spec` to files. A layer of several rulesets gets one for each, unless they are equal.
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
        let interrupt = watched_briefly();
        let to_check = WorkBudget::new(CheckReport::WORK).until(&interrupt);
        let to_test = WorkBudget::new(SpecRun::WORK).until(&interrupt);
        let run = SpecRun { filter: Some(self.name.clone()), budget: to_test, ..SpecRun::default() };
        let mut unexamined = Vec::new();
        for way in &self.ways {
            let mut report = check(&self.library, way, &[], &to_check);
            let problems = report.problems.iter().filter(|problem| !problem.is_warning);
            wrong.extend(problems.map(ToString::to_string));
            unexamined.append(&mut report.unexamined);
            match run.of(&self.library, way, &[]) {
                Ok(mut report) => {
                    unexamined.append(&mut report.unexamined);
                    passed += report.passed();
                    failed += report.failed() + report.broken.len();
                }
                Err(_) => loads = false,
            }
        }
        if loads {
            self.refresh_types()?;
        }
        wrong.sort();
        wrong.dedup();
        let specs = match (loads, passed, failed) {
            (false, ..) => Some("the ruleset does not load".to_owned()),
            (_, 0, 0) => None,
            (_, passed, 0) => Some(counted(passed, "spec passes", "specs pass")),
            (_, _, failed) => {
                let fail = counted(failed, "spec fails", "specs fail");
                Some(format!("{fail}; `riskbreaker test {}` shows why", self.id))
            }
        };
        let well = loads && failed == 0 && wrong.is_empty();
        let partial =
            (!unexamined.is_empty()).then(|| format!("partial, not examined: {}", first_and_count(&unexamined)));
        Ok(Written { files: written, then: specs.into_iter().chain(wrong).chain(partial).collect(), well })
    }

    /// Writes the types for editors again, if the ruleset has them: they list the cards, items and hooks.
    fn refresh_types(&self) -> Result<()> {
        if self.folder.join(types::DEFINITION).is_file()
            && let Ok(rules) = Ruleset::load(&self.library, &self.ways[0])
        {
            types::write_inside(&self.folder, types::DEFINITION, &type_module(&rules, &derived_types(&rules)))?;
        }
        Ok(())
    }

    /// The required facts of a card or item as source text, copied from another one.
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

    /// Loads the ruleset with additional files; `None` if it has a problem.
    fn with(&self, files: &[(String, String)]) -> Option<Arc<Ruleset>> {
        let library = self.library_with(files)?;
        Ruleset::load(&library, &self.way).ok()
    }

    /// Returns the first spec that passes with these files; the last one if none does.
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

    /// Returns the library with additional files.
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
    fn try_card(rules: &Arc<Ruleset>, card: &str) -> Option<Trial> {
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

    pub fn maneuver(&self) -> Result<Written> {
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

    /// Returns a spec that plays a card if possible, and otherwise only starts the game.
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

    /// Returns a spec from the trial of a card; without a trial it only starts the game.
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

    /// The faces rolled before the first question of the default scenario.
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

    pub fn item(&self) -> Result<Written> {
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
        let verb = self.rules.verbs().first().map(|verb| verb.name.clone());
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
        // The player of a card is called `ctx.actor` if other cards do so.
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

    pub fn hook(&self) -> Result<Written> {
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
        'search: for verb in self.rules.verbs().iter().map(|verb| &verb.name) {
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
            (None, Some(verb)) => verb.name.to_string(),
            (None, None) => {
                return Err(call_error(format!("{} has no verb that a hook could follow up on", self.id)));
            }
        };
        let said = format!("{title}: {verb} was done");
        let files = self.with_specs(vec![(paths[0].clone(), text(&verb))], &paths[1], |scaffold, files, path| {
            // The card that reaches it in the first ruleset, or one that does in this ruleset.
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

    /// Writes a character like the first one of the cast.
    pub fn character(&self) -> Result<Written> {
        self.copy("cast", "a character", None)
    }

    /// Writes a scenario like the default one.
    pub fn scenario(&self) -> Result<Written> {
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

    pub fn spec(&self) -> Result<Written> {
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

/// Returns a data file with another `name` or `title` at its top level.
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

/// Returns a rule text with another rule, after the last numbered one before the section of the GM.
fn with_rule(text: &str, id: &str, rule: &str) -> String {
    let line = format!("- **{id}** {rule}");
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("## ")).unwrap_or(lines.len());
    match lines[..end].iter().rposition(|line| line.starts_with("- **")) {
        Some(last) => {
            // The text of a rule may continue in the lines below it.
            let goes_on = |line: &&&str| !line.trim().is_empty() && !line.starts_with(['#', '-', '*', '|']);
            let more = lines[last + 1..end].iter().take_while(goes_on).count();
            lines.insert(last + 1 + more, &line);
        }
        None => {
            while lines.last() == Some(&"") {
                lines.pop();
            }
            lines.extend(["", &line]);
        }
    }
    format!("{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_rule_is_inserted_after_the_last_numbered_one() {
        let text = "# T\n\n- **T-1** a\n- **T-2** b\n\n## What is left to the GM\n\n- **T-9** c\n";
        assert_eq!(
            with_rule(text, "T-3", "d"),
            "# T\n\n- **T-1** a\n- **T-2** b\n- **T-3** d\n\n## What is left to the GM\n\n- **T-9** c\n"
        );
        assert_eq!(with_rule("# T\n", "T-1", "a"), "# T\n\n- **T-1** a\n");
        // A rule may have more than one line.
        for more in ["  and more\n", "  and more\n  - or this\n", "and more\n"] {
            let text = format!("# T\n\n- **T-1** a\n{more}\nThe end.\n");
            let with = format!("# T\n\n- **T-1** a\n{more}- **T-2** b\n\nThe end.\n");
            assert_eq!(with_rule(&text, "T-2", "b"), with);
        }
    }
}
