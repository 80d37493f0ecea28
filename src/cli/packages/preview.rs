//! The preview of a package: what it would change, found before anything is written.

use anyhow::Result;
use riskbreaker::check::{self, CheckReport};
use riskbreaker::ruleset::{Contrast, Manifest, Problem};
use riskbreaker::spec::SpecRun;
use riskbreaker::{Library, LoadError, Ruleset, WorkBudget};

use super::package::Package;
use crate::cli::figures::counted;
use crate::cli::interrupt::watched_briefly;
use crate::cli::row::{Row, Tone, harmless};
use crate::cli::screen::Screen;

/// The most names of one sort that are listed.
const MOST_LISTED: usize = 12;

/// The findings about a package.
pub struct Preview {
    pub manifest: Manifest,
    rows: Vec<Row>,
    /// Reasons why it cannot be added as it is, each with advice.
    pub obstacles: Vec<String>,
    /// The problems that `check` and its specs found.
    pub faults: Vec<String>,
}

impl Preview {
    /// Loads the package in front of the existing rulesets, checks it and runs its specs. `present`: the version that
    /// it would replace.
    ///
    /// # Errors
    ///
    /// Its manifest cannot be read, or the work was interrupted.
    pub fn of(package: &Package, library: &Library, present: Option<&Package>) -> Result<Preview> {
        let combined = package.before(library.clone())?;
        let manifest = combined.manifest(&package.id).map_err(|error| unreadable(&error))?;
        let mut preview = Preview { rows: Vec::new(), obstacles: Vec::new(), faults: Vec::new(), manifest };
        preview.head(package);
        preview.obstacles = obstacles(package, &preview.manifest, library);
        if preview.obstacles.is_empty() {
            let before = present.map(|present| present.before(library.clone())).transpose()?;
            preview.try_out(package, &combined, library, before.as_ref())?;
        }
        Ok(preview)
    }

    pub fn print(&self, screen: &mut Screen) -> Result<()> {
        screen.rows(&self.rows)?;
        for fault in self.faults.iter().take(MOST_LISTED) {
            screen.row(&Row::at(2).with(fault, Tone::Bad))?;
        }
        if self.faults.len() > MOST_LISTED {
            screen.row(&Row::at(2).with(format!("and {} more", self.faults.len() - MOST_LISTED), Tone::Bad))?;
        }
        for obstacle in &self.obstacles {
            screen.row(&Row::prose(2).with(obstacle, Tone::Bad))?;
        }
        Ok(())
    }

    fn say(&mut self, text: impl AsRef<str>) {
        self.rows.push(Row::prose(2).plain(text));
    }

    fn head(&mut self, package: &Package) {
        let Manifest { title, version, id, license, summary, over, extends, homepage, .. } = &self.manifest;
        let license = license.as_deref().unwrap_or("no licence is named: ask its author before you pass it on");
        let mut rows = vec![Row::at(0).strong(format!("{title} {version}")).plain(format!(" ({id}) · {license}"))];
        rows.extend(summary.iter().map(|summary| Row::prose(2).plain(summary)));
        let below: Vec<&str> = over.iter().chain(extends).map(|base| &*base.id).collect();
        if !below.is_empty() {
            let word = if over.is_empty() { "Extends" } else { "House rules for" };
            rows.push(Row::prose(2).plain(format!("{word} {}.", below.join(", "))));
        }
        rows.extend(homepage.iter().map(|page| Row::at(2).faint(harmless(page))));
        self.rows = rows;
        if package.own_id != package.id {
            self.say(format!("It is called {} in its own files, and {} here.", package.own_id, package.id));
        }
        for (own, here) in &package.names {
            self.say(format!("What it calls {own} is {here} here."));
        }
        if !package.left_out.is_empty() {
            self.say(format!("Left out, since no ruleset is made of it: {}.", listed(&package.left_out)));
        }
    }

    fn try_out(
        &mut self,
        package: &Package,
        combined: &Library,
        library: &Library,
        before: Option<&Library>,
    ) -> Result<()> {
        let stop = watched_briefly();
        for way in combined.ways_to_play(&package.id) {
            let report = check::check(combined, &way, &[], &WorkBudget::new(CheckReport::WORK).until(&stop));
            let problems = report.problems.iter().filter(|problem| !problem.is_warning);
            self.faults.extend(problems.map(ToString::to_string));
            let rules = match Ruleset::load(combined, &way) {
                Ok(rules) => rules,
                Err(error) => {
                    if report.is_passed() {
                        self.faults.extend(error.problems.iter().map(ToString::to_string));
                    }
                    continue;
                }
            };
            self.changes(&way, &rules, library, before);
            self.try_beside_others(package, &way, combined);
            let budget = WorkBudget::new(SpecRun::WORK).until(&stop);
            let specs = SpecRun { budget, only_layers: true, ..SpecRun::default() }.of(combined, &way, &[]);
            let specs = specs.map_err(|error| unreadable(&error))?;
            let name = |path: &str, name: &str| format!("{path}: {name}");
            for result in specs.results.iter().filter(|result| result.has_failed()) {
                self.faults.push(format!("the spec {} does not hold", name(&result.path, &result.name)));
            }
            self.faults.extend(specs.broken.iter().map(ToString::to_string));
            let overruled: Vec<String> = specs.overruled().map(|result| name(&result.path, &result.name)).collect();
            let is_partial = report.is_partial() || specs.is_partial();
            let mut told = match specs.passed() {
                0 if specs.results.is_empty() => format!("{way} has no specs"),
                passed => format!("{way}: {} hold", counted(passed, "spec", "specs")),
            };
            if !overruled.is_empty() {
                let of = counted(overruled.len(), "spec of a ruleset below has", "specs of rulesets below have");
                told.push_str(&format!("; {of} another result: {}", listed(&overruled)));
            }
            self.say(format!("{told}."));
            if is_partial {
                self.faults.push(format!("{way}: not all of it was examined, since it is too much for one run"));
            }
        }
        anyhow::ensure!(!WorkBudget::unlimited().until(&stop).is_interrupted(), "interrupted: nothing was written");
        Ok(())
    }

    /// Notes which layers that were added before cannot be played together with it.
    fn try_beside_others(&mut self, package: &Package, way: &str, combined: &Library) {
        let is_below = |id: &str| way.split('+').any(|part| part == id);
        let ids = combined.ids();
        let added = ids.iter().filter(|id| !is_below(id) && combined.folder_of(id).is_some());
        let others = added.filter(|id| {
            let over = combined.manifest(id).map(|manifest| manifest.over).unwrap_or_default();
            over.iter().any(|base| is_below(&base.id) && base.id != package.id)
        });
        for other in others.take(MOST_LISTED) {
            let base = way.split('+').next().unwrap_or(way);
            let load = |name: &str| Ruleset::load(combined, name);
            if let (Err(error), Ok(_)) = (load(&format!("{way}+{other}")), load(&format!("{base}+{other}"))) {
                let problem = error.problems.first().map(Problem::to_string).unwrap_or_default();
                let text = format!("It cannot be played together with {other}, which is here: {problem}");
                self.rows.push(Row::prose(2).with(harmless(&text), Tone::Bad));
            }
        }
    }

    /// Adds the differences from the installed version, which is in the library `before`; without one, from the ruleset
    /// below.
    fn changes(&mut self, way: &str, rules: &Ruleset, library: &Library, before: Option<&Library>) {
        let loaded = match (before, way.rsplit_once('+'), &self.manifest.extends) {
            (Some(before), ..) => Ruleset::load(before, way),
            (None, Some((base, _)), _) => Ruleset::load(library, base),
            (None, None, Some(base)) => Ruleset::load(library, &base.id),
            (None, None, None) => {
                let cards = counted(rules.cards().len(), "card", "cards");
                let switches = counted(rules.switches().count(), "switch", "switches");
                self.say(format!("A game of its own: {cards}, {switches}."));
                return;
            }
        };
        let Ok(loaded) = loaded else { return };
        let id = self.manifest.id.clone();
        if let Some(Ok(installed)) = before.map(|before| before.manifest(&id)) {
            for (version, lines) in rules.changes_of(&id, &installed.version) {
                self.say(format!("New in {version}: {}", lines.join(" ")));
            }
        }
        let Contrast { sentences, files, .. } = Contrast::between(&loaded, rules);
        let files = files.iter().map(ToString::to_string);
        let told = if sentences.is_empty() { files.collect() } else { sentences };
        match told.as_slice() {
            [] => self.say(format!("{way} plays as before.")),
            told => self.say(format!("{way}: {}.", listed(told))),
        }
    }
}

/// Returns the reasons why a version of a ruleset cannot be here: missing requirements, wrong versions and conflicts, each with
/// advice.
pub fn obstacles(package: &Package, manifest: &Manifest, library: &Library) -> Vec<String> {
    let here = |id: &str| library.contains(id).then(|| library.manifest(id).ok()).flatten();
    let Manifest { requires, conflicts, over, id: own, version, .. } = manifest;
    let mut found = Vec::new();
    for needed in requires {
        let id = &needed.ruleset.id;
        match here(id) {
            None => {
                found.push(format!("It needs {id} {}, which is not here: `riskbreaker add` it first.", needed.range))
            }
            Some(there) if !needed.admits(&there.version) => found.push(format!(
                "It needs {id} {}, and version {} is here: `riskbreaker update {id}`, or add another version of {own}.",
                needed.range, there.version
            )),
            Some(_) => {}
        }
    }
    if !over.is_empty() && !over.iter().any(|base| library.contains(&base.id)) {
        let bases: Vec<&str> = over.iter().map(|base| &*base.id).collect();
        found.push(format!("It lies over {}, and none of them is here: add one first.", bases.join(" or ")));
    }
    for other in conflicts.iter().filter(|other| library.contains(&other.id)) {
        found.push(format!("It cannot be used with {0}, which is here: `riskbreaker remove {0}` first.", other.id));
    }
    for id in library.ids().iter().filter(|id| **id != package.id) {
        let Some(other) = here(id) else { continue };
        if other.conflicts.iter().any(|other| other.id == package.id || other.id == package.own_id) {
            found.push(format!("{id}, which is here, cannot be used with it: `riskbreaker remove {id}` first."));
        }
        for needed in other.requires.iter().filter(|needed| needed.ruleset.id == package.id) {
            if !needed.admits(version) {
                found.push(format!(
                    "{id} needs {own} {}, and this is {version}: bring {id} to another version with `riskbreaker update {id}` or \
                     `riskbreaker rollback {id}`, or `riskbreaker remove {id}` first.",
                    needed.range
                ));
            }
        }
    }
    found
}

/// Joins names with commas; after the first ones, the number of further ones.
fn listed(names: &[String]) -> String {
    let mut told: Vec<String> = names.iter().take(MOST_LISTED).map(|name| harmless(name)).collect();
    if names.len() > MOST_LISTED {
        told.push(format!("and {} more", names.len() - MOST_LISTED));
    }
    told.join(", ")
}

fn unreadable(error: &LoadError) -> anyhow::Error {
    let problems: Vec<String> = error.problems.iter().take(MOST_LISTED).map(Problem::to_string).collect();
    anyhow::anyhow!("{} cannot be read: {}", error.ruleset, problems.join("; "))
}
