//! The files in `convert/` that apply on the way from one set of rules to another.

use super::MigrationError;
use crate::Ruleset;
use riskbreaker_ruleset::{Conversion, Version};
use riskbreaker_state::Renames;

/// The steps of one file in `convert/` that convert a game.
pub(super) struct PartConversion {
    /// The ruleset that the file is for.
    pub ruleset: String,
    /// The version of that ruleset by which the game was played.
    pub version: String,
    /// The places of the steps, from 0.
    pub steps: Vec<usize>,
}

/// The conversions on the way from one set of rules to another, in the order in which they run: those of other versions of
/// the same rulesets, the lowest layer first, then that of another ruleset. None: names mean the same in both.
///
/// # Errors
///
/// The rulesets have nothing in common, and none converts games of the other.
pub(super) fn conversions(from: &Ruleset, to: &Ruleset) -> Result<Vec<PartConversion>, MigrationError> {
    let (old, new) = (from.parts(), to.parts());
    let of = |part: &String| {
        let version = version_of(from, part).to_owned();
        let conversion = to.declarations().converts.iter().find(|known| *known.ruleset == **part)?;
        let steps = conversion.steps_from(&version);
        (!steps.is_empty()).then(|| PartConversion { ruleset: part.clone(), version, steps })
    };
    let is_other_version = |part: &&String| new.contains(*part) && version_of(from, part) != version_of(to, part);
    let mut found: Vec<PartConversion> = old.iter().filter(is_other_version).filter_map(of).collect();
    let is_same_game = old.iter().any(|part| part == to.id()) || new.iter().any(|part| part == from.id());
    if !is_same_game {
        let other = old.iter().rev().filter(|part| !new.contains(part)).find_map(of);
        if other.is_none() && found.is_empty() && !old.iter().any(|part| new.contains(part)) {
            return Err(MigrationError::NoWay { from: from.id().to_string(), to: to.id().to_string() });
        }
        found.extend(other);
    }
    Ok(found)
}

/// The names of kinds and fields that change on the way from one set of rules to another. The rules of the later version
/// know them, so they also hold for a game that returns to an earlier version.
pub fn renames(from: &Ruleset, to: &Ruleset) -> Renames {
    let mut names = Renames::default();
    let known = |rules: &Ruleset, part: &str| rules.parts().iter().any(|other| *other == *part);
    // Whether games of `old` are earlier than `new` for the conversion.
    let is_earlier = |old: &Ruleset, new: &Ruleset, conversion: &Conversion| {
        let part = &*conversion.ruleset;
        if !known(old, part) || !known(new, part) {
            return known(old, part);
        }
        match [old, new].map(|rules| Version::parse(version_of(rules, part))) {
            [Some(old), Some(new)] => old < new,
            _ => false,
        }
    };
    let steps = |old: &Ruleset, new: &Ruleset, names: &mut Renames| {
        for conversion in new.declarations().converts.iter().filter(|known| is_earlier(old, new, known)) {
            for at in conversion.steps_from(version_of(old, &conversion.ruleset)) {
                names.push(&conversion.steps[at].names);
            }
        }
    };
    steps(from, to, &mut names);
    let mut back = Renames::default();
    steps(to, from, &mut back);
    names.append(back.reversed());
    names
}

/// The version of a part of a ruleset; empty if it has no such part.
fn version_of<'r>(rules: &'r Ruleset, part: &str) -> &'r str {
    let parts = rules.book().stack().parts();
    parts.iter().find(|other| other.id() == part).map_or("", |part| &part.manifest().version)
}
