//! An earlier version has a field or a kind that this version lacks, and no conversion carries its values over.

use std::sync::Arc;

use crate::lint::{Example, Lint, Severity};
use riskbreaker_play::{Ruleset, renames};
use riskbreaker_ruleset::{ConversionStep, DroppedName, Manifest, Problem, find_whole, likeliest};
use riskbreaker_state::{Field, Kind, Renames, Type};

pub(crate) static LINT: Lint = Lint {
    name: "lost-field",
    severity: Severity::Warning,
    summary: "an earlier version has a field or a kind that this version lacks",
    explanation: "A game of the earlier version that changes to this one keeps such values aside, where no rule reads \
                  them. Write the new names, or what is lost on purpose, into the file in `convert/` that is named \
                  after the ruleset. The check compares with the campaigns in the current folder, and with what \
                  `--since` names.",
    bad: Example::None,
    good: Example::None,
};

/// Returns the problems of kinds and fields of an earlier version that this version neither has, nor renames, nor drops on
/// purpose. A conversion whose function names them is trusted. `whose`: whose rules the earlier ones are, for the message.
pub fn lost_since(earlier: &Ruleset, now: &Ruleset, whose: &str) -> Vec<Problem> {
    let names = renames(earlier, now);
    let lost = Lost { earlier, now, whose, names };
    let mut found = Vec::new();
    for kind in &earlier.schema().kinds {
        let new_kind = lost.names.kind(&kind.name);
        let Some(place) = now.schema().kind_named(&new_kind) else {
            found.extend(lost.kind(kind, &new_kind));
            continue;
        };
        for field in &kind.fields {
            let (_, new) = lost.names.field(&kind.name, &field.name);
            let new_kind = now.schema().kind(place);
            if new_kind.field_named(&new).is_none() {
                found.extend(lost.field(kind, new_kind, field, &new));
            }
        }
    }
    found
}

/// What an earlier version has and this one lacks.
struct Lost<'r> {
    earlier: &'r Ruleset,
    now: &'r Ruleset,
    whose: &'r str,
    names: Renames,
}

impl Lost<'_> {
    fn kind(&self, kind: &Kind, new_name: &Arc<str>) -> Option<Problem> {
        if self.is_dropped(new_name, None) || self.is_mentioned(&kind.name) {
            return None;
        }
        let others = self.now.schema().kinds.iter().map(|kind| &kind.name);
        let added = others.filter(|name| self.earlier.schema().kind_named(name).is_none());
        let added: Vec<&str> = added.map(|name| &**name).collect();
        let meant = likeliest(&kind.name, added.iter().copied()).or(only(&added));
        let renamed = match meant {
            Some(meant) => format!("renamed = {{ {} = \"{meant}\" }}", kind.name),
            None => format!("dropped = {{ {} = true }}", kind.name),
        };
        Some(self.problem(&kind.name, &format!("the kind `{}`", kind.name), "such entities", &renamed))
    }

    fn field(&self, kind: &Kind, new_kind: &Kind, field: &Field, new_name: &Arc<str>) -> Option<Problem> {
        if self.is_dropped(&new_kind.name, Some(new_name)) || self.is_mentioned(&field.name) {
            return None;
        }
        let back = self.names.reversed();
        let is_added = |other: &&Field| {
            let (_, old) = back.field(&new_kind.name, &other.name);
            kind.field_named(&old).is_none() && is_alike(&other.ty, &field.ty)
        };
        let added: Vec<&str> = new_kind.fields.iter().filter(is_added).map(|field| &*field.name).collect();
        let meant = likeliest(&field.name, added.iter().copied()).or(only(&added));
        let renamed = match meant {
            Some(meant) => format!("renamed = {{ {} = {{ {} = \"{meant}\" }} }}", new_kind.name, field.name),
            None => format!("dropped = {{ {} = {{ \"{}\" }} }}", new_kind.name, field.name),
        };
        let what = format!("the field `{}` of `{}`", field.name, kind.name);
        Some(self.problem(&new_kind.name, &what, "its values", &renamed))
    }

    /// The conversions that apply to games of the earlier version: the ruleset, and the places of the steps.
    fn steps(&self) -> impl Iterator<Item = (&str, &ConversionStep)> {
        let earlier = self.earlier.book().stack();
        self.now.declarations().converts.iter().flat_map(move |conversion| {
            let part = earlier.parts().iter().find(|part| *part.id() == *conversion.ruleset);
            let steps = part.map(|part| conversion.steps_from(&part.manifest().version)).unwrap_or_default();
            steps.into_iter().map(|at| (&*conversion.ruleset, &conversion.steps[at]))
        })
    }

    /// Whether a conversion drops a kind, or a field of it, on purpose. The names are those of this version.
    fn is_dropped(&self, kind: &str, field: Option<&str>) -> bool {
        let names = |dropped: &DroppedName| {
            *dropped.kind == *kind && (dropped.field.is_none() || dropped.field.as_deref() == field)
        };
        self.steps().flat_map(|(_, step)| &step.dropped).any(names)
    }

    /// Whether the file of a conversion that has a function names something.
    fn is_mentioned(&self, name: &str) -> bool {
        let stack = self.now.book().stack();
        let mut files = self.steps().filter(|(_, step)| step.runs).flat_map(|(ruleset, _)| {
            stack.parts().iter().filter_map(move |part| stack.text_of(&format!("{}/convert/{ruleset}.luau", part.id())))
        });
        files.any(|text| find_whole(text, name).is_some())
    }

    /// The part whose versions differ, or else the main one: its id, its earlier version and its version.
    fn part(&self) -> (&str, &str, &str) {
        let (old, new) = (self.earlier.book().stack(), self.now.book().stack());
        let both = new.parts().iter().rev().filter_map(|part| {
            let earlier = old.parts().iter().find(|other| other.id() == part.id())?;
            Some((part.id(), &*earlier.manifest().version, &*part.manifest().version))
        });
        let mut both = both.peekable();
        let first = both.peek().copied();
        both.find(|(_, old, new)| old != new).or(first).unwrap_or((new.main().id(), "", ""))
    }

    /// A problem where the changed part declares a kind, or else at the version in its manifest.
    fn problem(&self, kind: &str, what: &str, lost: &str, to_write: &str) -> Problem {
        let (id, old, new) = self.part();
        let stack = self.now.book().stack();
        let line_of = |text: &str, word: &str| {
            let names = |line: &str| !line.trim_start().starts_with("--") && find_whole(line, word).is_some();
            text.lines().position(names).map(|at| at as u32 + 1)
        };
        let kinds = format!("{id}/kinds.luau");
        let manifest = format!("{id}/{}", Manifest::FILE);
        let (path, line) = match stack.text_of(&kinds).and_then(|text| line_of(text, kind)) {
            Some(line) => (kinds, Some(line)),
            None => (manifest.clone(), stack.text_of(&manifest).and_then(|text| line_of(text, "version"))),
        };
        let message = format!(
            "{} ({id} {old}) has {what}, and this version does not: its games keep {lost} aside, where no rule reads them",
            self.whose
        );
        let file = format!("{id}/convert/{id}.luau");
        let cure = match (old == new, stack.text_of(&file)) {
            (true, _) => format!(
                "raise `version` above {old} in {manifest}, then write {to_write} with from = \"<\" and the new version into {file}"
            ),
            (false, Some(_)) => format!("write {to_write} into {file}, for from = \"<{new}\""),
            (false, None) => {
                format!("write {file}: return rb.convert({{ id = \"{id}\", from = \"<{new}\", {to_write} }})")
            }
        };
        let mut problem = LINT.problem(path, message).with_cure(cure);
        problem.line = line;
        problem
    }
}

/// Whether most values of one type are also of the other.
fn is_alike(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Int { .. } | Type::Ratio, Type::Int { .. } | Type::Ratio) => true,
        (Type::Text | Type::Enum(_), Type::Text | Type::Enum(_)) => true,
        (Type::List(one), Type::List(other)) | (Type::Map(one), Type::Map(other)) => is_alike(one, other),
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

fn only<'n>(names: &[&'n str]) -> Option<&'n str> {
    match names {
        [only] => Some(*only),
        _ => None,
    }
}
