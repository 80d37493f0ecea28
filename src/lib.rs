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
//! A client of one seat uses [`Session::seat`], whose results contain only what that seat may know. Exact odds,
//! simulations and advice come from [`lab`]:
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
//! The types for playing a game are at the root, all others in modules:
//!
//! | module | holds | feature |
//! |---|---|---|
//! | [`play`] | sessions, seats, questions, events, changing rules during a game | |
//! | [`ruleset`] | libraries, cards, house rules, problems of a ruleset | |
//! | [`state`] | values, entities, schemas, audiences | |
//! | [`names`] | how typed names are matched | |
//! | [`dice`] | notation, rolls, seeded dice, distributions | |
//! | [`lab`] | odds, simulation, comparison, advice | |
//! | [`spec`] | the specs of rulesets | |
//! | [`script`] | Lua programs, the types and the reference for authors | |
//! | `check` | static checks of rulesets | `check` |
//! | `store` | campaign files | `store` |
//! | `watch` | reloading rules during a game | `watch` |
//! | `serve` | the protocol for other languages | `serve` |
//! | `lsp` | the language server for editors | `lsp` |
//!
//! `bundled` puts the rulesets of the repository into the program. An enum that only reports something is
//! `#[non_exhaustive]`. `docs/embedding.md` has the rest.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

#[cfg(feature = "check")]
#[doc(inline)]
pub use riskbreaker_check as check;
#[doc(inline)]
pub use riskbreaker_dice as dice;
#[doc(inline)]
pub use riskbreaker_lab as lab;
#[cfg(feature = "lsp")]
#[doc(inline)]
pub use riskbreaker_lsp as lsp;
#[doc(inline)]
pub use riskbreaker_names as names;
#[doc(inline)]
pub use riskbreaker_play as play;
#[doc(inline)]
pub use riskbreaker_ruleset as ruleset;
#[doc(inline)]
pub use riskbreaker_script as script;
#[cfg(feature = "serve")]
#[doc(inline)]
pub use riskbreaker_serve as serve;
#[doc(inline)]
pub use riskbreaker_spec as spec;
#[doc(inline)]
pub use riskbreaker_state as state;
#[cfg(feature = "store")]
#[doc(inline)]
pub use riskbreaker_store as store;
#[cfg(feature = "watch")]
#[doc(inline)]
pub use riskbreaker_watch as watch;
use riskbreaker_work as work;

pub use crate::play::{
    Answer, Ask, Choice, DiceSource, Driver, Edit, Event, Fault, FreeAct, Happening, Question, QuestionId, Refusal,
    Remedy, Ruleset, Scenario, Seat, SeatEvent, Session, SessionError, Setup, StartError, Step, Undone, View, Viewer,
};
pub use crate::ruleset::{Card, Library, LoadError};
pub use crate::state::{Audience, EntityId, Value};
pub use crate::work::WorkBudget;

/// Tests the Rust examples in the book.
#[cfg(all(doctest, feature = "watch"))]
#[doc = include_str!("../docs/embedding.md")]
struct Book;

/// The rulesets of this repository, for [`Library::embedded`].
#[cfg(feature = "bundled")]
#[linkme::distributed_slice(riskbreaker_ruleset::EMBEDDED)]
static RULESETS: include_dir::Dir<'static> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/rulesets");

#[cfg(test)]
mod tests {
    #[test]
    fn the_crate_root_exports_about_thirty_names() {
        let text = include_str!("lib.rs");
        let exports = text.lines().skip_while(|line| !line.starts_with("pub use crate::"));
        let exports: String = exports.take_while(|line| !line.is_empty()).collect();
        let names = exports.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(char::is_uppercase));
        assert!((25..=35).contains(&names.count()), "{exports}");
    }

    #[cfg(feature = "bundled")]
    #[test]
    fn every_built_in_ruleset_reads() {
        let library = crate::Library::embedded();
        assert_eq!(library.describe(), "the built-in rulesets");
        assert!(library.ids().len() >= 5, "{:?}", library.ids());
        for id in library.ids() {
            library.read(&id).unwrap();
        }
    }
}
