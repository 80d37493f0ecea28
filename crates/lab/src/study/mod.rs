//! Studies of a game: trials are recorded once, and all figures are computed from the facts of the games.

mod bias;
mod facts;
mod figures;
mod known;
mod ladder;
mod mirror;
mod positions;
mod recorder;
mod runner;
mod watched;
mod worth;

pub use bias::{FirstBias, SeatBias};
pub use facts::{CardOffer, GameEnd, GameFacts, TopicUse};
pub use figures::{CardFigures, Percentile, Spread, StudyFigures, TopicFigures, UnendedGame};
pub use known::{GameStore, KnownGames};
pub use ladder::LadderPair;
pub use mirror::{Exchange, Mirrored, SeatExchange};
pub use positions::{ClosestPosition, NeverBetter, TopicDifference, WeighedPositions};
pub use recorder::{RANDOM, Recorded, Study};
pub use watched::WatchedTrial;
pub use worth::CardWorth;
