//! A study of a game: trials are recorded once, and all figures are counted from the facts of the games.

mod facts;
mod figures;
mod recorder;

pub use facts::{CardOffer, GameEnd, GameFacts, TopicUse};
pub use figures::{CardFigures, Spread, StudyFigures, TopicFigures};
pub use recorder::{Recorded, Study};
