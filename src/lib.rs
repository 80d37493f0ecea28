//! A rules host for tabletop games: dice, state and the order of play in Rust, every rule in a Lua file.

#[cfg(feature = "check")]
mod check;
mod dice;
mod lab;
mod play;
mod ruleset;
mod script;
#[cfg(feature = "serve")]
pub mod serve;
mod spec;
mod state;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "watch")]
mod watch;

#[cfg(feature = "check")]
pub use crate::check::{findings, findings_at_save};
pub use crate::dice::{Dice, DiceRng, Distribution, Face, FacesError, Fate, NotationError, Roll, TooWide};
pub use crate::lab::{
    Advice, Advised, CardOdds, CardUse, Effect, Estimate, FieldOdds, Findings, GameLimits, GameOdds, LeftOut, Limits,
    MemoReport, MemoUse, Odds, OddsQuery, Outcome, Place, Plan, PlannedVariant, PlayedOut, Position, Progress, Rate,
    Shard, Simulation, SimulationError, Sum, Tally, Variant, compare_cards, game_odds,
};
pub use crate::play::{
    Answer, Answering, Ask, Bound, Cause, Choice, DiceSource, Driver, Edit, Event, Explanation, Fault, FreeAct, Given,
    Happening, Known, Machines, Migration, MigrationError, MigrationFate, MigrationNote, Question, QuestionId, Refusal,
    ReloadReport, Remedy, Ruleset, Scenario, Seat, SeatEvent, Session, SessionError, Setup, Snapshot, SnapshotEntity,
    StartError, Step, Term, Undone, View, Viewer,
};
pub use crate::ruleset::{
    Breach, Card, Contrast, ContrastSection, Differing, Fact, FreeName, Library, LibraryError, LoadError, Manifest,
    Problem, Rulebook, Switch, SwitchKind, SwitchRefusal, SwitchValue, changes_between,
};
pub use crate::script::{Evaluated, Table, reference_page, type_module};
pub use crate::spec::{
    Coverage, FileLines, LineCoverage, RuleLine, SpecFailure, SpecReport, SpecResult, SpecSource,
    Standing as RuleStanding, measure_specs, run_only, run_specs, spec_of_fault,
};
pub use crate::state::{Audience, AudienceRule, Converted, EntityId, Entry, EntryId, Field, Kind, Schema, Type, Value};
#[cfg(feature = "store")]
pub use crate::store::{
    Campaign, CampaignInfo, Character, Difference, Holder, Kept, LogEntry, Note, RecoveredCampaign, Recovery,
    ReplaySummary, Replayed, Roster, Store, StoreError, Verification, recover,
};
#[cfg(feature = "watch")]
pub use crate::watch::{Watched, Watcher};

/// The Rust of the book, which is tested as it stands there.
#[cfg(all(doctest, feature = "watch"))]
#[doc = include_str!("../docs/embedding.md")]
struct Book;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The modules in the order of `docs/architecture.md`: each names only those before it.
    const ROOMS: [&str; 11] =
        ["dice", "state", "ruleset", "play", "script", "lab", "spec", "watch", "check", "store", "serve"];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    /// Rooms that a source names by `crate::ROOM`, or by `crate::Name`, which is the front door above all of them.
    fn named(text: &str) -> BTreeSet<String> {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        let mut names = BTreeSet::new();
        for path in code.split("crate::").skip(1) {
            let several = path.strip_prefix('{').map(|rest| rest.split('}').next().unwrap_or_default());
            for path in several.map_or(vec![path], |several| several.split(',').collect()) {
                let name = path.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
                names.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        names
    }

    #[test]
    fn no_module_names_one_above_it() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&src, &mut files);
        let (mut upward, mut looked_at) = (Vec::new(), 0);
        for file in files {
            let inside = file.strip_prefix(&src).unwrap();
            let room = inside.components().next().unwrap().as_os_str().to_string_lossy().replace(".rs", "");
            let Some(at) = ROOMS.iter().position(|known| *known == room) else {
                assert!(["lib", "main", "cli"].contains(&&*room), "{room} has no place in the order of the modules");
                continue;
            };
            looked_at += 1;
            for name in named(&fs::read_to_string(&file).unwrap()) {
                if !ROOMS[..=at].contains(&&*name) {
                    upward.push(format!("{} names crate::{name}", inside.display()));
                }
            }
        }
        assert!(looked_at > 100, "only {looked_at} files were looked at");
        assert_eq!(upward, Vec::<String>::new());
    }

    #[test]
    fn what_a_source_names_is_found() {
        let text = "use crate::play::{Game};\n// crate::cli::none\nlet x = crate::{dice::Dice, state::State};";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["dice", "play", "state"]);
        assert_eq!(named("fn f(x: crate::Session) {}").into_iter().collect::<Vec<_>>(), ["Session"]);
    }
}
