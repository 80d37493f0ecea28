use std::collections::BTreeMap;
use std::sync::Arc;

use super::folder::Folder;
use super::library::Library;
use super::manifest::{Manifest, Mention};
use super::problem::{LoadError, Problem};
use super::quoted::quoted;
use super::stack::{PartRole, Stack, StackPart};

/// The rulesets that one name includes, in the order of layers.
pub struct Layering {
    /// The parts, bottom first.
    pub parts: Vec<StackPart>,
    /// The index of the requested ruleset.
    pub main: usize,
    /// Pairs of indices that a manifest orders, the lower first.
    pub edges: Vec<(usize, usize)>,
}

impl Layering {
    /// Reads a ruleset, its parents, and the layers of all of them, with extra layers on top.
    ///
    /// # Errors
    ///
    /// As for [`Stack::resolve`], except problems found by merging contents.
    pub fn of(library: &Library, id: &str, extra_layers: &[String]) -> Result<Self, LoadError> {
        if !library.contains(id) {
            return Err(LoadError::new(id, vec![library.unknown(id)]));
        }
        let mut builder = Builder {
            library,
            folders: BTreeMap::new(),
            problems: Vec::new(),
            parts: Vec::new(),
            index_of: BTreeMap::new(),
            edges: Vec::new(),
            trail: Vec::new(),
        };
        let main = builder.place_ruleset(id);
        if let Some(main) = main {
            let naming = Naming { path: id.to_owned(), place: None, how: "the list of layers" };
            let layers = extra_layers.iter().map(|layer| (naming.clone(), layer.clone()));
            builder.place_layers(main, layers.collect());
        }
        builder.hold_to_orders();
        match main {
            Some(main) if builder.problems.is_empty() => {
                Ok(Layering { parts: builder.parts, main, edges: builder.edges })
            }
            _ => Err(LoadError::new(id, builder.problems)),
        }
    }
}

/// Splits a name with layers, such as `game+house+table`, into the id and the layers, followed by the further layers.
pub fn with_layers(name: &str, further: &[String]) -> (String, Vec<String>) {
    let mut ids = name.split('+').map(str::to_owned);
    let id = ids.next().unwrap_or_default();
    (id, ids.chain(further.iter().cloned()).collect())
}

struct Builder<'l> {
    library: &'l Library,
    /// Each folder that was read; `None` if it could not be read.
    folders: BTreeMap<String, Option<Arc<Folder>>>,
    problems: Vec<Problem>,
    parts: Vec<StackPart>,
    index_of: BTreeMap<String, usize>,
    /// Declared orders as pairs of indices, the lower first.
    edges: Vec<(usize, usize)>,
    /// The rulesets that are being added, each named by the one before it.
    trail: Vec<String>,
}

impl Builder<'_> {
    /// Adds the parents of a ruleset, the ruleset itself, and its layers. Returns its index.
    fn place_ruleset(&mut self, id: &str) -> Option<usize> {
        self.trail.push(id.to_owned());
        let index = self.folder(id).and_then(|folder| {
            if let Some(problem) = only_a_layer(self.library, &folder) {
                self.problems.push(problem);
                return None;
            }
            if let Some(mention) = &folder.manifest.extends {
                let (naming, parent) = Naming::in_manifest(&folder, mention, "`extends`");
                if self.may_stand_below(&naming, &parent) {
                    self.place_ruleset(&parent);
                }
            }
            let layers = layers_of(&folder);
            // All parts added so far belong to the parent, including its layers.
            let index = self.push(folder, PartRole::Base, (0..self.parts.len()).collect())?;
            self.place_layers(index, layers);
            Some(index)
        });
        self.trail.pop();
        index
    }

    /// Adds layers on a part, each at its place in the list or higher, above those that it declares as below it.
    fn place_layers(&mut self, host: usize, layers: Vec<(Naming, String)>) {
        let mut waiting: Vec<(Naming, Arc<Folder>)> = Vec::new();
        for (naming, id) in layers {
            let twice = waiting.iter().any(|(_, folder)| folder.id == id);
            if twice || self.index_of.contains_key(&id) || !self.may_stand_below(&naming, &id) {
                continue;
            }
            if let Some(folder) = self.folder(&id) {
                waiting.push((naming, folder));
            }
        }
        while !waiting.is_empty() {
            let is_free = |folder: &Folder| !waiting.iter().any(|(_, other)| wants_below(folder, &other.id));
            match waiting.iter().position(|(_, folder)| is_free(folder)) {
                Some(place) => {
                    let (naming, folder) = waiting.remove(place);
                    self.place_layer(host, &naming, folder);
                }
                None => return self.problems.push(circle_of_orders(&waiting)),
            }
        }
    }

    fn place_layer(&mut self, host: usize, naming: &Naming, folder: Arc<Folder>) {
        let manifest = &folder.manifest;
        // Another layer may have added it already.
        if self.index_of.contains_key(&folder.id) {
            return;
        }
        let is_there = |mention: &Mention| self.index_of.contains_key(&mention.id);
        let (own, list) = (quoted(&folder.id), naming.how);
        let unmet = match (&manifest.extends, manifest.over.first()) {
            (Some(base), _) if !is_there(base) => {
                let base_id = quoted(&base.id);
                let message = format!("is made for {base_id}, which is not below it here");
                Some((base, message, format!("take {own} off {list}, or list {base_id} before it")))
            }
            (_, Some(first)) if !manifest.over.iter().any(is_there) => {
                let message = format!("is a layer over {}, but none of these is below it here", listed(&folder));
                Some((first, message, format!("take {own} off {list}, or add to its `over` what it can lie on")))
            }
            _ => None,
        };
        if let Some((mention, message, cure)) = unmet.filter(|_| self.problems.is_empty()) {
            let stack: Vec<&str> = self.parts.iter().map(StackPart::id).collect();
            let message = format!("{message}: {}", stack.join(", "));
            self.problems.push(mention.problem(&folder.id, message).with_cure(cure));
            return;
        }
        let wanted = wishes(&folder).filter_map(|mention| self.index_of.get(&mention.id));
        let below: Vec<usize> = wanted.copied().chain([host]).collect();
        let layers = layers_of(&folder);
        let id = folder.id.clone();
        if let Some(index) = self.push(folder, PartRole::Layer, below) {
            self.trail.push(id);
            self.place_layers(index, layers);
            self.trail.pop();
        }
    }

    fn push(&mut self, folder: Arc<Folder>, role: PartRole, below: Vec<usize>) -> Option<usize> {
        if self.parts.len() == Stack::MAX_PARTS {
            let message = format!("more than {} rulesets and layers lie on one another", Stack::MAX_PARTS);
            self.problems.push(Problem::new(self.parts[0].manifest_path(), message));
            return None;
        }
        let index = self.parts.len();
        self.edges.extend(below.into_iter().map(|lower| (lower, index)));
        self.index_of.insert(folder.id.clone(), index);
        self.parts.push(StackPart { index, role, folder });
        Some(index)
    }

    /// Checks a name before it is followed: it exists, and is not currently being added.
    fn may_stand_below(&mut self, naming: &Naming, id: &str) -> bool {
        let problem = if let Some(start) = self.trail.iter().position(|other| other == id) {
            let circle = [&self.trail[start..], &[id.to_owned()]].concat().join(" -> ");
            naming
                .problem(format!("rulesets name each other in a circle: {circle}"))
                .with_cure("take one name out of it")
        } else if self.trail.len() >= Stack::MAX_PARTS {
            naming.problem(format!("more than {} rulesets name each other in a chain", Stack::MAX_PARTS))
        } else if !self.library.contains(id) {
            let message = format!("{} names {}, which is not in {}", naming.how, quoted(id), self.library.describe());
            naming.problem(message).with_cure(self.library.instead_of(id))
        } else {
            return true;
        };
        self.problems.push(problem);
        false
    }

    /// Reports the declared orders that the stack violates.
    fn hold_to_orders(&mut self) {
        for part in &self.parts {
            for mention in &part.manifest().after {
                if self.index_of.get(&mention.id).is_some_and(|&other| other > part.index) {
                    let message = format!("must lie above {}, but here it lies below", quoted(&mention.id));
                    let cure = format!("list {} where {} is listed", quoted(&mention.id), quoted(part.id()));
                    self.problems.push(mention.problem(part.id(), message).with_cure(cure));
                }
            }
        }
    }

    fn folder(&mut self, id: &str) -> Option<Arc<Folder>> {
        if !self.folders.contains_key(id) {
            let read = match self.library.read(id) {
                Ok(folder) => Some(Arc::new(folder)),
                Err(error) => {
                    self.problems.extend(error.problems);
                    None
                }
            };
            self.folders.insert(id.to_owned(), read);
        }
        self.folders.get(id)?.clone()
    }
}

/// Reports a ruleset that can only be a layer, if it is used alone.
fn only_a_layer(library: &Library, folder: &Folder) -> Option<Problem> {
    let first = folder.manifest.over.first()?;
    let Some(base) = folder.manifest.over.iter().find(|base| library.contains(&base.id)) else {
        let message = format!("`over` names {}, which is not in {}", quoted(&first.id), library.describe());
        return Some(first.problem(&folder.id, message).with_cure(library.instead_of(&first.id)));
    };
    let message = format!("is a layer: it is played over {}, and not by itself", listed(folder));
    let cure = format!("play {}", quoted(&format!("{}+{}", base.id, folder.id)));
    Some(base.problem(&folder.id, message).with_cure(cure))
}

/// Lists the rulesets that a layer may be put on: `a`, `b` or `c`.
fn listed(folder: &Folder) -> String {
    let ids: Vec<String> = folder.manifest.over.iter().map(|mention| quoted(&mention.id)).collect();
    match ids.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn layers_of(folder: &Folder) -> Vec<(Naming, String)> {
    folder.manifest.layers.iter().map(|mention| Naming::in_manifest(folder, mention, "`layers`")).collect()
}

/// The parts that a layer declares as below it.
fn wishes(folder: &Folder) -> impl Iterator<Item = &Mention> {
    let manifest = &folder.manifest;
    manifest.after.iter().chain(&manifest.extends).chain(&manifest.over)
}

fn wants_below(folder: &Folder, id: &str) -> bool {
    wishes(folder).any(|mention| mention.id == id)
}

/// Reports a cycle of waiting layers, each of which needs another below it.
fn circle_of_orders(waiting: &[(Naming, Arc<Folder>)]) -> Problem {
    let mut walked: Vec<usize> = Vec::new();
    let mut at = 0;
    while !walked.contains(&at) {
        walked.push(at);
        let next = waiting.iter().position(|(_, other)| wants_below(&waiting[at].1, &other.id));
        at = next.unwrap_or(at);
    }
    let start = walked.iter().position(|&place| place == at).unwrap_or(0);
    let ids = walked[start..].iter().chain([&at]).map(|&place| waiting[place].1.id.as_str());
    let folder = &waiting[at].1;
    let message = format!("layers require each other in a circle: {}", ids.collect::<Vec<_>>().join(" -> "));
    let wish = wishes(folder).find(|mention| waiting.iter().any(|(_, other)| other.id == mention.id));
    let problem = wish.map_or_else(|| Problem::new(&*folder.id, &*message), |wish| wish.problem(&folder.id, &*message));
    problem.with_cure("take one `after` out of it")
}

/// The place at which a ruleset is named: in a manifest, or by the caller.
#[derive(Clone)]
struct Naming {
    path: String,
    place: Option<(u32, u32)>,
    how: &'static str,
}

impl Naming {
    fn in_manifest(folder: &Folder, mention: &Mention, how: &'static str) -> (Self, String) {
        let path = format!("{}/{}", folder.id, Manifest::FILE);
        (Naming { path, place: Some((mention.line, mention.column)), how }, mention.id.clone())
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        let problem = Problem::new(&*self.path, message);
        match self.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}
