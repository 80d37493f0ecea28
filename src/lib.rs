//! A rules host for tabletop games: dice, state and the order of play in Rust, every rule in a Lua file.
//!
//! A [`Library`] finds rulesets, [`Ruleset::load`] checks one and shares it between games, and a [`Session`] is one game:
//! [`Session::advance`] plays until somebody must decide, [`Session::answer`] takes the decision. No thread is held in between,
//! and no type of the script engine is in the signatures.
//!
//! ```
//! use riskbreaker::{Driver, Library, Remedy, Ruleset, Session, Setup, Step};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     # #[cfg(feature = "bundled")] {
//!     let library = Library::locate(None)?; // ./rulesets if it is there, else the rulesets inside the program
//!     let rules = Ruleset::load(&library, "riskbreaker-0.0.1")?;
//!     let setup = Setup::scenario("duel").seed(7719).seat("foes", Driver::Policy("bold".into()));
//!     let mut session = Session::start(&rules, setup)?;
//!     loop {
//!         match session.advance()? {
//!             Step::Ask => {
//!                 let question = session.questions()[0].clone();
//!                 let answer = question.default.clone().ok_or("somebody has to decide")?;
//!                 session.answer(question.id, answer)?;
//!             }
//!             Step::Fault(fault) => {
//!                 eprintln!("{fault}");
//!                 session.remedy(Remedy::SkipAction)?;
//!             }
//!             Step::Over(outcome) => {
//!                 println!("{outcome}");
//!                 break;
//!             }
//!         }
//!     }
//!     # }
//!     Ok(())
//! }
//! ```
//!
//! A client of one seat uses [`Session::seat`]: what it gives is built for that seat. Exact odds, simulations and advice
//! come from [`lab`]:
//!
//! ```no_run
//! use riskbreaker::lab::{OddsQuery, SessionExt as _};
//! use riskbreaker::{Library, Ruleset, Session, Setup};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     # #[cfg(feature = "bundled")] {
//!     let rules = Ruleset::load(&Library::embedded(), "riskbreaker-0.0.1")?;
//!     let mut session = Session::start(&rules, Setup::scenario("duel").seed(1))?;
//!     let _ = session.advance()?;
//!     if let Some(question) = session.questions().first().cloned() {
//!         let odds = session.odds_at(question.id, OddsQuery::default())?;
//!         odds.lines().iter().for_each(|line| println!("{line}"));
//!     }
//!     # }
//!     Ok(())
//! }
//! ```
//!
//! What a game needs is at the root; the rest stands in modules:
//!
//! | module | holds | feature |
//! |---|---|---|
//! | [`play`] | sessions, seats, questions, events, moving to other rules | |
//! | [`ruleset`] | libraries, cards, house rules, what is wrong with a ruleset | |
//! | [`state`] | values, entities, schemas, audiences | |
//! | [`names`] | how a name finds what it names | |
//! | [`dice`] | notation, rolls, seeded dice, distributions | |
//! | [`lab`] | odds, simulation, comparison, advice | |
//! | [`spec`] | tests that rulesets bring along | |
//! | [`script`] | Luau at the table, the types and the reference for authors | |
//! | `check` | mistakes that show only when they are played | `check` |
//! | `store` | campaigns that survive | `store` |
//! | `watch` | rules that are edited while a game runs | `watch` |
//! | `serve` | the protocol for other languages | `serve` |
//! | `lsp` | the language server for editors | `lsp` |
//!
//! `bundled` puts the rulesets of the repository into the program. An enum to which a kind may be added is
//! `#[non_exhaustive]`. `docs/embedding.md` has the rest.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

#[cfg(feature = "check")]
pub mod check;
#[doc(inline)]
pub use riskbreaker_dice as dice;
pub mod lab;
#[cfg(feature = "lsp")]
pub mod lsp;
#[doc(inline)]
pub use riskbreaker_names as names;
pub mod play;
pub mod ruleset;
pub mod script;
#[cfg(feature = "serve")]
pub mod serve;
pub mod spec;
#[doc(inline)]
pub use riskbreaker_state as state;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "watch")]
pub mod watch;
use riskbreaker_work as work;

pub use crate::play::{
    Answer, Ask, Choice, DiceSource, Driver, Edit, Event, Fault, FreeAct, Happening, Question, QuestionId, Refusal,
    Remedy, Ruleset, Scenario, Seat, SeatEvent, Session, SessionError, Setup, StartError, Step, Undone, View, Viewer,
};
pub use crate::ruleset::{Card, Library, LoadError};
pub use crate::state::{Audience, EntityId, Value};
pub use crate::work::WorkBudget;

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
    const ROOMS: [&str; 14] = [
        "work", "names", "dice", "state", "ruleset", "play", "script", "lab", "spec", "watch", "check", "store",
        "serve", "lsp",
    ];

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
    fn the_front_door_has_about_thirty_names() {
        let text = include_str!("lib.rs");
        let exports = text.lines().skip_while(|line| !line.starts_with("pub use crate::"));
        let exports: String = exports.take_while(|line| !line.is_empty()).collect();
        let names = exports.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_uppercase));
        assert!((25..=35).contains(&names.count()), "{exports}");
    }

    #[test]
    fn what_a_source_names_is_found() {
        let text = "use crate::play::{Game};\n// crate::cli::none\nlet x = crate::{dice::Dice, state::State};";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["dice", "play", "state"]);
        assert_eq!(named("fn f(x: crate::Session) {}").into_iter().collect::<Vec<_>>(), ["Session"]);
    }
}
