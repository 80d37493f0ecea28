use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::checksum::Checksum;
use super::content_hash::ContentHash;
use super::folder::Folder;
use super::layering::{Layering, with_layers};
use super::library::Library;
use super::manifest::{Manifest, Mention};
use super::nearest::instead;
use super::problem::{LoadError, Problem};
use super::quoted::quoted;
use super::source::{FOLDERS_BY_RULESET, Source, SourceKind};
use super::switch::Switch;

/// A ruleset with its parents below and its layers on top, bottom first.
///
/// Each parent is followed by its own layers, and the chosen layers are at the top. So a child is above the layers of
/// its parent, and inherits them. Each part occurs once, at its first place.
#[derive(Debug, Clone)]
pub struct Stack {
    parts: Vec<StackPart>,
    main: usize,
    /// For each part, the parts that are declared to be below it.
    below: Vec<BTreeSet<usize>>,
    switches: Vec<Switch>,
    seats: BTreeMap<String, String>,
    words: BTreeMap<String, String>,
    scenario: Option<String>,
    hash: ContentHash,
    /// The hash that programs up to 0.1.0 wrote, once it is needed.
    old_hash: OnceLock<String>,
    /// True if its scripts count how often each line runs.
    measured: bool,
}

impl Stack {
    /// The most rulesets in a stack, and the longest chain of rulesets that name each other.
    pub const MAX_PARTS: usize = 32;

    /// Reads a ruleset, all its parents, and the layers of all of them, with extra layers on top; `game+house` is the
    /// ruleset `game` with the layer `house`.
    ///
    /// # Errors
    ///
    /// All problems of all folders. An unknown ruleset is reported at the line that names it. Parents must not form a
    /// cycle. A layer must be made for this ruleset and cannot be played alone, and the declared order of layers must
    /// be possible. If a switch is declared again, one set of values must include the other. A scenario must have a
    /// file.
    pub fn resolve(library: &Library, id: &str, extra_layers: &[String]) -> Result<Self, LoadError> {
        let (main, layers) = with_layers(id, extra_layers);
        let layering = Layering::of(library, &main, &layers)?;
        Stack::merge(layering).map_err(|problems| LoadError::new(id, problems))
    }

    /// Turns on counting of executed script lines.
    pub fn measured(self) -> Self {
        Stack { measured: true, ..self }
    }

    /// The text of a file, by its path in problems and faults.
    pub fn text_of(&self, path: &str) -> Option<&str> {
        let (at, inside) = self.part_of(path)?;
        Some(&self.parts[at].folder.file(inside)?.text)
    }

    /// A line of a file, counted from 1, without the blanks at its end; `path` as for [`Stack::text_of`].
    pub fn line_of(&self, path: &str, line: u32) -> Option<&str> {
        Some(self.text_of(path)?.lines().nth(line.checked_sub(1)? as usize)?.trim_end())
    }

    /// The index of the part with which such a path begins, and the path inside that part.
    pub fn part_of<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        let (part, inside) = path.split_once('/')?;
        Some((self.parts.iter().position(|other| other.id() == part)?, inside))
    }

    pub fn is_measured(&self) -> bool {
        self.measured
    }

    /// The parts, bottom first.
    pub fn parts(&self) -> &[StackPart] {
        &self.parts
    }

    /// The requested part; the parts above it are its layers.
    pub fn main(&self) -> &StackPart {
        &self.parts[self.main]
    }

    /// The file in force for a path: that of the highest part which has it. A path without ending, as in `require`,
    /// finds the script with this name.
    pub fn file(&self, path: &str) -> Option<(&StackPart, &Source)> {
        self.file_below(self.parts.len(), path)
    }

    /// The file in force below a part, for `require("@parent/...")` in that part's scripts.
    pub fn file_below(&self, part: usize, path: &str) -> Option<(&StackPart, &Source)> {
        let below = &self.parts[..part.min(self.parts.len())];
        below.iter().rev().find_map(|part| Some((part, part.folder.file(path)?)))
    }

    /// Returns the id here of the ruleset that the files of this stack name `id`; the same id unless a part was added
    /// under an alias.
    pub fn id_here<'a>(&'a self, id: &'a str) -> &'a str {
        let mut here = self.parts.iter().rev().map(|part| part.folder.lock_entry.id_here(id));
        here.find(|here| *here != id).unwrap_or(id)
    }

    /// A sentence about each copy of a file that a program for synchronization has made, which is not read.
    pub fn copy_notices(&self) -> impl Iterator<Item = String> {
        let copies =
            self.parts.iter().flat_map(|part| part.folder.conflict_copies.iter().map(|path| (part.id(), path)));
        copies.map(|(id, path)| {
            let what = "is a copy that a program for synchronisation has made, and is not read";
            format!("{id}/{path} {what}; put what is right into the file and delete the copy")
        })
    }

    /// True if a file is for another ruleset: in a layer over several rulesets, `maneuvers/ID/` and the subfolders with that
    /// name in the other folders of [`FOLDERS_BY_RULESET`] belong to the ruleset with that id, and are ignored above others.
    pub fn is_for_another(&self, part: usize, path: &str) -> bool {
        let mut names = path.splitn(3, '/');
        let (Some(folder), Some(id), Some(_)) = (names.next(), names.next(), names.next()) else { return false };
        if !FOLDERS_BY_RULESET.contains(&folder) {
            return false;
        }
        let over = &self.parts[part].manifest().over;
        if over.is_empty() {
            return false;
        }
        let id = self.parts[part].folder.lock_entry.id_here(id);
        over.iter().any(|base| base.id == id) && self.parts.iter().all(|below| below.id() != id)
    }

    /// The files in force in a folder (`cast`, `scenarios`) and its subfolders, by path.
    pub fn files_in(&self, folder: &str) -> BTreeMap<&str, (&StackPart, &Source)> {
        let inside = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let all =
            self.parts.iter().flat_map(|part| part.folder.files.iter().map(move |(path, source)| (part, path, source)));
        all.filter(|(part, path, _)| inside(path) && !self.is_for_another(part.index, path))
            .map(|(part, path, source)| (path.as_str(), (part, source)))
            .collect()
    }

    /// The data files in force in a folder and its subfolders, by file name: `cast/old/fox.toml` is `fox`. Of several
    /// files with one name, that of the highest part.
    pub fn data_in(&self, folder: &str) -> BTreeMap<&str, (&StackPart, &Source)> {
        let mut found: BTreeMap<&str, (&StackPart, &Source)> = BTreeMap::new();
        for (path, (part, source)) in self.files_in(folder) {
            if let Some(name) = data_name(path)
                && found.get(name).is_none_or(|(known, _)| known.index < part.index)
            {
                found.insert(name, (part, source));
            }
        }
        found
    }

    /// All scripts of all parts, including specs, but without those for another ruleset ([`Stack::is_for_another`]): bottom
    /// first, then by path. Each has the index of its part, the path inside its folder, and the source.
    pub fn scripts(&self) -> impl Iterator<Item = (usize, &str, &Source)> {
        self.parts.iter().flat_map(move |part| {
            let files = part.folder.files.iter();
            let scripts = files.filter(move |(path, _)| {
                SourceKind::of(path) == Some(SourceKind::Script) && !self.is_for_another(part.index, path)
            });
            scripts.map(|(path, source)| (part.index, path.as_str(), source))
        })
    }

    /// All switches in the order of their first declaration; of several declarations, the highest is valid.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The switch with this name.
    pub fn switch(&self, name: &str) -> Option<&Switch> {
        self.switches.iter().find(|switch| switch.name == name)
    }

    /// All seats, by id. Of several declarations, the highest is valid.
    pub fn seats(&self) -> &BTreeMap<String, String> {
        &self.seats
    }

    /// The words of the prompt, each with the topic that it answers. Of several declarations, the highest is valid.
    pub fn words(&self) -> &BTreeMap<String, String> {
        &self.words
    }

    /// The scenario that is played by default: that of the highest part which declares one.
    pub fn scenario(&self) -> Option<&str> {
        self.scenario.as_deref()
    }

    /// The hash of all contents in order, with the name of its algorithm: equal if every file of every part is equal.
    pub fn hash(&self) -> String {
        self.hash.to_string()
    }

    /// True if a written hash, of today's form or of the form of programs up to 0.1.0, is that of these contents.
    pub fn has_hash(&self, written: &str) -> bool {
        if !ContentHash::is_checksum(written) {
            return self.hash.to_string() == written;
        }
        written == self.old_hash.get_or_init(|| Checksum::of_parts(contents(&self.parts)).to_string())
    }

    /// True if manifests declare that one part is below another: by `extends`, by `after`, or as the layer of a part.
    /// The order in a list of layers does not count. Both are indices of parts.
    pub fn declared_before(&self, lower: usize, upper: usize) -> bool {
        self.below.get(upper).is_some_and(|below| below.contains(&lower))
    }

    fn merge(layering: Layering) -> Result<Self, Vec<Problem>> {
        let Layering { parts, main, mut edges } = layering;
        let mut problems = Vec::new();
        // Edges are sorted by their upper end, so the parts below the lower end are known here.
        let mut below = vec![BTreeSet::new(); parts.len()];
        edges.sort_by_key(|&(_, upper)| upper);
        for (lower, upper) in edges {
            let further: BTreeSet<usize> = below[lower].clone();
            below[upper].extend(further);
            below[upper].insert(lower);
        }
        let (mut seats, mut words) = (BTreeMap::new(), BTreeMap::new());
        let mut switches: Vec<Switch> = Vec::new();
        let mut scenario = None;
        for part in &parts {
            let manifest = part.manifest();
            seats.extend(manifest.seats.clone());
            words.extend(manifest.words.clone());
            scenario = manifest.scenario.clone().map(|mention| (part.index, mention)).or(scenario);
            for switch in &manifest.switches {
                match switches.iter_mut().find(|known| known.name == switch.name) {
                    None => switches.push(switch.clone()),
                    Some(known) if known.kind.has_all_of(&switch.kind) || switch.kind.has_all_of(&known.kind) => {
                        *known = switch.clone();
                    }
                    Some(known) => problems.push(other_switch(known, switch)),
                }
            }
        }
        let hash = ContentHash::of_parts(contents(&parts));
        let old_hash = OnceLock::new();
        let mut stack =
            Stack { parts, main, below, switches, seats, words, scenario: None, hash, old_hash, measured: false };
        if let Some((part, mention)) = scenario {
            problems.extend(stack.missing_scenario(&stack.parts[part], &mention));
            stack.scenario = Some(mention.id);
        }
        problems.extend(["cast", "scenarios"].into_iter().flat_map(|folder| stack.same_names(folder)));
        if problems.is_empty() { Ok(stack) } else { Err(problems) }
    }

    fn missing_scenario(&self, part: &StackPart, mention: &Mention) -> Option<Problem> {
        let scenarios = self.data_in("scenarios");
        if scenarios.contains_key(&*mention.id) {
            return None;
        }
        let problem = Problem::new(part.manifest_path(), format!("there is no `scenarios/{}.toml`", mention.id));
        Some(problem.at((mention.line, mention.column)).with_cure(instead(&mention.id, scenarios.into_keys())))
    }

    /// Reports data files of one part in different folders with the same name: only one of them can be used.
    fn same_names(&self, folder: &str) -> Vec<Problem> {
        let held = self.data_in(folder);
        let problem = |(part, source): (&StackPart, &Source)| {
            let (holder, other) = held.get(data_name(&source.path)?)?;
            let message = format!("has the same name as {}", quoted(&other.path));
            let problem = Problem::new(&*source.path, message).with_cure("rename one: their folders are no part of it");
            (holder.index == part.index && other.path != source.path).then_some(problem)
        };
        self.files_in(folder).into_values().filter_map(problem).collect()
    }
}

/// The name of a data file, without folders and ending.
fn data_name(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".toml")
}

/// One ruleset in a stack.
#[derive(Debug, Clone)]
pub struct StackPart {
    /// Its index in the stack, from 0 at the bottom.
    pub index: usize,
    /// The reason why it is in the stack.
    pub role: PartRole,
    /// Its manifest and files.
    pub folder: Arc<Folder>,
}

impl StackPart {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.folder.id
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.folder.manifest
    }

    pub fn manifest_path(&self) -> String {
        format!("{}/{}", self.folder.id, Manifest::FILE)
    }
}

/// The role of a part in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PartRole {
    /// The requested ruleset, or a parent of it.
    Base,
    /// A layer on another part.
    Layer,
}

/// What the hash of a stack covers: the ids of its parts, and the paths and texts of their files.
fn contents(parts: &[StackPart]) -> impl Iterator<Item = &[u8]> {
    parts.iter().flat_map(|part| {
        let files = part.folder.files.iter().flat_map(|(path, source)| [path.as_bytes(), source.text.as_bytes()]);
        [&b"part"[..], part.id().as_bytes()].into_iter().chain(files)
    })
}

fn other_switch(known: &Switch, switch: &Switch) -> Problem {
    let message =
        format!("switch `{}` is {} here and {} in {}:{}", switch.name, switch.kind, known.kind, known.path, known.line);
    let cure = "declare it with a part of these values, or with all of them and further ones, or choose another name";
    Problem::new(&*switch.path, message).at((switch.line, 1)).with_cure(cure)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::switch::SwitchValue;

    /// A library of rulesets, each with extra lines in its manifest and one script `lib/x.luau` that returns its id.
    fn library(rulesets: &[(&str, &str)]) -> Library {
        Library::from_files(rulesets.iter().flat_map(|(id, lines)| {
            let script = (format!("{id}/lib/x.luau"), format!("return \"{id}\""));
            [(format!("{id}/ruleset.toml"), manifest(id, lines)), script]
        }))
    }

    fn manifest(id: &str, lines: &str) -> String {
        format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\n{lines}\n")
    }

    fn order(stack: &Stack) -> Vec<&str> {
        stack.parts().iter().map(StackPart::id).collect()
    }

    fn resolve(rulesets: &[(&str, &str)], id: &str, extra: &[&str]) -> Result<Stack, Vec<String>> {
        let extra: Vec<String> = extra.iter().map(|&layer| layer.to_owned()).collect();
        Stack::resolve(&library(rulesets), id, &extra)
            .map_err(|error| error.problems.iter().map(ToString::to_string).collect())
    }

    const FAMILY: [(&str, &str); 6] = [
        ("old", "layers = [\"old-house\"]"),
        ("new", "extends = \"old\"\nlayers = [\"upper\", \"lower\"]"),
        ("old-house", "extends = \"old\""),
        ("lower", ""),
        ("upper", "after = [\"lower\", \"absent\"]"),
        ("table", "extends = \"new\""),
    ];

    #[test]
    fn parents_are_below_and_layers_above_their_part() {
        let stack = resolve(&FAMILY, "new", &["table", "lower"]).unwrap();
        assert_eq!(order(&stack), ["old", "old-house", "new", "lower", "upper", "table"]);
        assert_eq!(stack.main().id(), "new");
        let roles: Vec<_> = stack.parts().iter().map(|part| part.role == PartRole::Base).collect();
        assert_eq!(roles, [true, false, true, false, false, false]);
    }

    #[test]
    fn the_highest_file_is_used_and_lower_ones_can_be_read() {
        let stack = resolve(&FAMILY, "new", &[]).unwrap();
        let (part, source) = stack.file("lib/x").unwrap();
        assert_eq!((part.id(), &*source.text), ("upper", "return \"upper\""));
        assert_eq!(stack.file("lib/x.luau").unwrap().0.id(), "upper");
        assert_eq!(stack.file_below(4, "lib/x").unwrap().0.id(), "lower");
        assert_eq!(stack.file_below(1, "lib/x").unwrap().0.id(), "old");
        assert!(stack.file_below(0, "lib/x").is_none());
        assert!(stack.file("lib/y").is_none());
        assert_eq!(
            stack.files_in("lib").into_iter().map(|(path, (part, _))| (path, part.id())).collect::<Vec<_>>(),
            [("lib/x.luau", "upper")]
        );
        assert!(stack.files_in("li").is_empty());
        let scripts: Vec<_> = stack.scripts().map(|(index, path, source)| (index, path, &*source.path)).collect();
        assert_eq!(scripts.len(), 5);
        assert_eq!(scripts[1], (1, "lib/x.luau", "old-house/lib/x.luau"));
    }

    #[test]
    fn an_order_is_declared_by_extends_after_and_lying_on_a_part_and_not_by_a_list() {
        let rulesets = [FAMILY.as_slice(), &[("free", ""), ("other", "")]].concat();
        let stack = resolve(&rulesets, "new", &["free", "other"]).unwrap();
        assert_eq!(order(&stack), ["old", "old-house", "new", "lower", "upper", "free", "other"]);
        for (lower, upper) in [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 4), (1, 5)] {
            assert!(stack.declared_before(lower, upper), "{lower} {upper}");
            assert!(!stack.declared_before(upper, lower), "{upper} {lower}");
        }
        assert!(!stack.declared_before(5, 6) && !stack.declared_before(4, 5));
        assert!(!stack.declared_before(9, 9) && !stack.declared_before(1, 1));
    }

    #[test]
    fn an_unknown_ruleset_is_reported_at_its_line() {
        let told = resolve(&[("base", ""), ("child", "extends = \"bsae\"\nlayers = [\"huose\"]")], "child", &["hous"])
            .unwrap_err();
        assert_eq!(
            told,
            [
                "child: the list of layers names `hous`, which is not in rulesets held in memory (known: base, child)",
                "child/ruleset.toml:4:11: `extends` names `bsae`, which is not in rulesets held in memory (did you mean `base`?)",
                "child/ruleset.toml:5:11: `layers` names `huose`, which is not in rulesets held in memory (known: base, child)",
            ]
        );
        assert!(resolve(&[("base", "")], "bas", &[]).unwrap_err()[0].contains("did you mean `base`?"));
    }

    #[test]
    fn a_cycle_is_reported_with_its_names() {
        let told = resolve(&[("a", "extends = \"b\""), ("b", "extends = \"c\""), ("c", "extends = \"b\"")], "a", &[]);
        assert_eq!(
            told.unwrap_err(),
            ["c/ruleset.toml:4:11: rulesets name each other in a circle: b -> c -> b (take one name out of it)"]
        );
        let told = resolve(&[("a", "extends = \"b\""), ("b", "layers = [\"a\"]")], "a", &[]).unwrap_err();
        assert!(told[0].contains("circle: a -> b -> a"), "{told:?}");
        let told =
            resolve(&[("a", "layers = [\"x\", \"y\"]"), ("x", "after = [\"y\"]"), ("y", "after = [\"x\"]")], "a", &[]);
        assert_eq!(
            told.unwrap_err(),
            ["x/ruleset.toml:4:10: layers require each other in a circle: x -> y -> x (take one `after` out of it)"]
        );
    }

    #[test]
    fn a_layer_is_placed_on_its_ruleset_in_the_declared_order() {
        let told = resolve(&[("a", "layers = [\"x\"]"), ("b", ""), ("x", "extends = \"b\"")], "a", &[]).unwrap_err();
        assert_eq!(
            told,
            [
                "x/ruleset.toml:4:11: is made for `b`, which is not below it here: a (take `x` off `layers`, or list `b` before it)"
            ]
        );
        let told = resolve(&[("a", "layers = [\"x\"]"), ("x", "after = [\"y\"]"), ("y", "")], "a", &["y"]).unwrap_err();
        assert!(told[0].starts_with("x/ruleset.toml:4:10: must lie above `y`, but here it lies below"), "{told:?}");
        let stack = resolve(&[("a", ""), ("x", "extends = \"y\""), ("y", "")], "a", &["x", "y"]).unwrap();
        assert_eq!(order(&stack), ["a", "y", "x"]);
    }

    #[test]
    fn a_layer_over_several_rulesets_accepts_only_those() {
        let rulesets = [("a", ""), ("b", ""), ("c", ""), ("x", "over = [\"a\", \"b\"]"), ("d", "extends = \"a\"")];
        for main in ["a", "b", "d"] {
            let stack = resolve(&rulesets, main, &["x"]).unwrap();
            assert_eq!(order(&stack).last(), Some(&"x"));
            assert!(stack.declared_before(0, stack.parts().len() - 1));
        }
        assert_eq!(order(&resolve(&rulesets, "b+x", &[]).unwrap()), ["b", "x"]);
        assert_eq!(
            resolve(&rulesets, "c", &["x"]).unwrap_err(),
            [
                "x/ruleset.toml:4:9: is a layer over `a` or `b`, but none of these is below it here: c (take `x` off the list of layers, or \
                 add to its `over` what it can lie on)"
            ]
        );
        assert_eq!(
            resolve(&rulesets, "x", &[]).unwrap_err(),
            ["x/ruleset.toml:4:9: is a layer: it is played over `a` or `b`, and not by itself (play `a+x`)"]
        );
        assert_eq!(
            resolve(&[("a", ""), ("x", "over = [\"b\"]")], "x", &[]).unwrap_err(),
            ["x/ruleset.toml:4:9: `over` names `b`, which is not in rulesets held in memory (known: a, x)"]
        );
        let child = [rulesets.as_slice(), &[("e", "extends = \"x\"")]].concat();
        assert!(resolve(&child, "e", &[]).unwrap_err()[0].contains("is a layer"));
    }

    #[test]
    fn subfolders_with_the_id_of_a_ruleset_belong_to_it_in_a_layer_over_several() {
        let files = [
            ("a/ruleset.toml", manifest("a", "")),
            ("b/ruleset.toml", manifest("b", "")),
            ("c/ruleset.toml", manifest("c", "extends = \"a\"")),
            ("x/ruleset.toml", manifest("x", "over = [\"a\", \"b\"]")),
            ("x/maneuvers/a/feint.luau", "return 1\n".to_owned()),
            ("x/maneuvers/b/feint.luau", "return 1\n".to_owned()),
            ("x/maneuvers/c/jab.luau", "return 1\n".to_owned()),
            ("x/maneuvers/both.luau", "return 1\n".to_owned()),
            ("x/lib/b/note.luau", "return 1\n".to_owned()),
            ("x/cast/a/fox.toml", "wit = 3\n".to_owned()),
            ("x/cast/b/fox.toml", "wit = 3\n".to_owned()),
        ];
        let library = Library::from_files(files.iter().map(|(path, text)| (*path, text.as_str())));
        let scripts = |main: &str| {
            let stack = Stack::resolve(&library, main, &["x".to_owned()]).unwrap();
            let cast: Vec<String> = stack.files_in("cast").into_keys().map(str::to_owned).collect();
            (stack.scripts().map(|(_, path, _)| path.to_owned()).collect::<Vec<_>>(), cast)
        };
        let shared = ["lib/b/note.luau", "maneuvers/both.luau", "maneuvers/c/jab.luau"];
        for (main, own) in [("a", "a"), ("b", "b"), ("c", "a")] {
            let (mut found, cast) = scripts(main);
            assert!(found.contains(&format!("maneuvers/{own}/feint.luau")), "{main}: {found:?}");
            found.retain(|path| !path.ends_with("feint.luau"));
            assert_eq!(found, shared, "{main}");
            assert_eq!(cast, [format!("cast/{own}/fox.toml")], "{main}");
        }
    }

    #[test]
    fn the_lengths_of_chains_and_stacks_are_limited() {
        let chain: Vec<(String, String)> = (0..50)
            .map(|n| (format!("r{n}"), format!("extends = \"r{}\"", n + 1)))
            .chain([("r50".into(), String::new())])
            .collect();
        let chain: Vec<(&str, &str)> = chain.iter().map(|(id, lines)| (&**id, &**lines)).collect();
        assert!(resolve(&chain, "r0", &[]).unwrap_err()[0].contains("more than 32 rulesets"));
        assert!(resolve(&chain, "r20", &[]).is_ok());
        let pile: Vec<String> = (0..50).map(|n| format!("l{n}")).collect();
        let mut rulesets: Vec<(&str, &str)> = pile.iter().map(|id| (&**id, "")).collect();
        rulesets.push(("a", ""));
        let told = resolve(&rulesets, "a", &pile.iter().map(|id| &**id).collect::<Vec<_>>()).unwrap_err();
        assert!(told.len() == 1 && told[0].contains("lie on one another"), "{told:?}");
    }

    #[test]
    fn problems_of_all_folders_are_reported_together() {
        let library = Library::overlay(
            Library::from_files([
                ("a/x.luau", ""),
                ("a/ruleset.toml", "id = \"a\"\ntitle = \"A\"\nversion = \"1\"\nextends = \"b\""),
            ]),
            Library::from_files([("b/ruleset.toml", "id = \"b\"\ntitel = \"B\"\nversion = \"1\"")]),
        );
        let error = Stack::resolve(&library, "a", &[]).unwrap_err();
        assert_eq!(error.problems.iter().map(|problem| &*problem.path).collect::<Vec<_>>(), ["a/x.luau"]);
        let library = Library::overlay(
            Library::from_files([(
                "c/ruleset.toml",
                "id = \"c\"\ntitle = \"C\"\nversion = \"1\"\nlayers = [\"a\", \"b\"]",
            )]),
            library,
        );
        let error = Stack::resolve(&library, "c", &[]).unwrap_err();
        let paths: Vec<_> = error.problems.iter().map(|problem| &*problem.path).collect();
        assert_eq!(paths, ["a/x.luau", "b/ruleset.toml", "b/ruleset.toml"]);
    }

    #[test]
    fn switches_seats_and_words_are_merged_with_priority_of_the_highest() {
        let low = "[switches.growth]\nvalues = [\"a\", \"b\", \"c\"]\ntext = \"x\"\n[switches.also]\nvalues = [true, false]\n\
                   text = \"x\"\n[seats]\ngm = \"GM\"\n[words]\non = \"targets\"";
        let high = "extends = \"low\"\n[switches.growth]\nvalues = [\"c\", \"a\"]\ntext = \"y\"\n[seats]\ngm = \"Judge\"\nfoe = \"Foe\"";
        let stack = resolve(&[("low", low), ("high", high)], "high", &[]).unwrap();
        let names: Vec<_> = stack.switches().iter().map(|switch| &*switch.name).collect();
        assert_eq!(names, ["growth", "also"]);
        let growth = stack.switch("growth").unwrap();
        assert_eq!((&growth.default, &*growth.path), (&SwitchValue::Text("c".into()), "high/ruleset.toml"));
        assert_eq!(stack.seats()["gm"], "Judge");
        assert_eq!(stack.seats().len(), 2);
        assert_eq!(stack.words()["on"], "targets");

        let other = "extends = \"low\"\n[switches.growth]\nvalues = [\"c\", \"z\"]\ntext = \"y\"";
        let told = resolve(&[("low", low), ("high", other)], "high", &[]).unwrap_err();
        assert!(
            told[0].starts_with(
                "high/ruleset.toml:5:1: switch `growth` is c or z here and a, b or c in low/ruleset.toml:4"
            ),
            "{told:?}"
        );
    }

    #[test]
    fn the_scenario_has_a_file() {
        let with = |name: &str| {
            let manifest = format!("id = \"a\"\ntitle = \"A\"\nversion = \"1\"\nscenario = \"{name}\"\n");
            let files = [("a/ruleset.toml", manifest), ("a/scenarios/duel.toml", String::new())];
            Stack::resolve(&Library::from_files(files), "a", &[])
        };
        assert_eq!(with("duel").unwrap().scenario(), Some("duel"));
        assert_eq!(
            with("dual").unwrap_err().problems[0].to_string(),
            "a/ruleset.toml:4:12: there is no `scenarios/dual.toml` (did you mean `duel`?)"
        );
    }

    #[test]
    fn a_data_file_is_named_without_its_folders_and_the_highest_part_has_it() {
        let manifest = |id: &str, lines: &str| format!("id = \"{id}\"\ntitle = \"{id}\"\nversion = \"1\"\n{lines}");
        let with = |more: &str| {
            let files = [
                ("a/ruleset.toml", manifest("a", "scenario = \"duel\"\n")),
                ("a/scenarios/small/duel.toml", String::new()),
                ("a/cast/old/fox.toml", "wit = 3\n".to_owned()),
                ("b/ruleset.toml", manifest("b", "extends = \"a\"\n")),
                (more, String::new()),
            ];
            Stack::resolve(&Library::from_files(files), "b", &[])
        };
        let stack = with("b/cast/fox.toml").unwrap();
        let cast: Vec<_> = stack.data_in("cast").into_iter().map(|(name, (part, _))| (name, part.id())).collect();
        assert_eq!((cast, stack.scenario()), (vec![("fox", "b")], Some("duel")));
        assert_eq!(
            with("a/cast/young/fox.toml").unwrap_err().problems[0].to_string(),
            "a/cast/young/fox.toml: has the same name as `a/cast/old/fox.toml` (rename one: their folders are no part of it)"
        );
    }

    #[test]
    fn the_hash_changes_with_any_file_and_with_the_order() {
        let hash = |rulesets: &[(&str, &str)], extra: &[&str]| resolve(rulesets, "a", extra).unwrap().hash();
        let plain = [("a", ""), ("b", ""), ("c", "")];
        assert_eq!(hash(&plain, &["b", "c"]), hash(&plain, &["b", "c"]));
        assert_ne!(hash(&plain, &["b", "c"]), hash(&plain, &["c", "b"]));
        assert_ne!(hash(&plain, &["b"]), hash(&[("a", ""), ("b", "summary = \"x\"")], &["b"]));
        let stack = resolve(&plain, "a", &["b", "c"]).unwrap();
        assert!(stack.hash().starts_with("blake3:") && stack.has_hash(&stack.hash()));
        // The form up to 0.1.0, as a program of then wrote it.
        assert!(stack.has_hash("aa2468abc842f519a1b5ebc9030e958b") && !stack.has_hash(&hash(&plain, &["c", "b"])));
    }

    proptest! {
        /// Whatever rulesets declare about each other, a stack keeps every promised order, or reports why it cannot.
        #[test]
        fn any_graph_of_rulesets_is_stacked_in_order_or_refused(
            web in prop::collection::vec((0..7_usize, prop::collection::vec(0..7_usize, 0..3), prop::collection::vec(0..7_usize, 0..2)), 6),
            extra in prop::collection::vec(0..7_usize, 0..3),
        ) {
            let id = |n: &usize| format!("r{n}");
            let lines: Vec<String> = web.iter().map(|(parent, layers, after)| {
                let extends = if *parent < 3 { format!("extends = \"r{parent}\"\n") } else { String::new() };
                let list = |ids: &[usize]| ids.iter().map(id).collect::<Vec<_>>();
                format!("{extends}layers = {:?}\nafter = {:?}", list(layers), list(after))
            }).collect();
            let ids: Vec<String> = (0..6).map(|n| id(&n)).collect();
            let rulesets: Vec<(&str, &str)> = ids.iter().zip(&lines).map(|(id, lines)| (&**id, &**lines)).collect();
            let extra: Vec<String> = extra.iter().map(id).collect();
            for main in &ids {
                match Stack::resolve(&library(&rulesets), main, &extra) {
                    Err(error) => prop_assert!(!error.problems.is_empty()),
                    Ok(stack) => for upper in stack.parts() {
                        let manifest = upper.manifest();
                        for named in manifest.extends.iter().chain(&manifest.after) {
                            let lower = stack.parts().iter().find(|part| part.id() == named.id);
                            prop_assert!(lower.is_none_or(|lower| stack.declared_before(lower.index, upper.index)));
                        }
                        prop_assert!((upper.index..9).all(|other| !stack.declared_before(other, upper.index)));
                    },
                }
            }
        }
    }
}
