//! Exact odds, simulation, comparison and advice, all computed from the scripts themselves.

#![deny(missing_docs)]
// Tables of cases in tests may be longer.
#![cfg_attr(not(test), deny(clippy::too_many_lines))]

// Tests play games, so the engine has to be linked.
#[cfg(test)]
use riskbreaker_script as _;

mod advice;
mod advice_report;
mod advise;
mod alarm;
mod chain;
mod chance;
mod compared;
mod comparison;
mod damage;
mod encounter;
mod exploration;
mod findings;
mod foresight;
mod interval;
mod memo_report;
mod merging;
mod odds;
mod odds_for_program;
mod odds_in_words;
mod opening;
mod outcome;
mod outcome_kind;
mod paired;
mod playouts;
mod position;
mod reason;
mod search;
mod seat;
mod session;
mod simulation;
mod simulation_error;
mod solution;
mod study;
mod tally;
mod trial;
mod whole_game;

pub use advice::{Advice, AdviceLimits, Advised, PlayedOut};
pub use advice_report::{AdviceReport, AnswerReport, DifferenceReport, PlayedReport, ShareReport};
pub use chance::Chance;
pub use compared::Compared;
pub use comparison::{CardOdds, ComparedCards, compare_cards};
pub use encounter::{ENCOUNTER_ACTIONS, Encounter, EncounterMember, EncounterOdds, EncounterSide, MOST_ON_A_SIDE};
pub use exploration::until;
pub use findings::{Findings, Plan, PlannedVariant, Shard};
pub use foresight::{AHEAD, Foresight};
pub use memo_report::MemoReport;
pub use odds::{Estimate, FieldOdds, Limits, Odds, OddsQuery};
pub use odds_for_program::{advice_for_program, odds_for_program};
pub use odds_in_words::{chance_of, fraction, fraction_of, percent, percent_of, share_within};
pub use opening::Opening;
pub use outcome::{ChangeWords, Effect, Outcome};
pub use outcome_kind::kinds_of_outcomes;
pub use paired::Difference;
pub use position::{Place, Position};
pub use search::Search;
pub use seat::SeatExt;
pub use session::SessionExt;
pub use simulation::{GameRow, Progress, Simulation, Variant};
pub use simulation_error::SimulationError;
pub use solution::{AnswerShare, BestAnswer, Payoff, SkillAndLuck, Solution, solve_game};
pub use study::{
    CardFigures, CardOffer, CardWorth, ClosestPosition, Exchange, FirstBias, GameEnd, GameFacts, GameStore, KnownGames,
    LadderPair, Mirrored, NeverBetter, Percentile, RANDOM, Recorded, SeatBias, SeatExchange, Spread, Study,
    StudyFigures, TopicDifference, TopicFigures, TopicUse, UnendedGame, WatchedTrial, WeighedPositions,
};
pub use tally::{Average, CardUse, LeftOut, Rate, Sum, Tally};
pub use trial::MemoUse;
pub use whole_game::{GameEstimate, GameLimits, GameOdds, game_odds};

#[doc(hidden)]
pub use compared::check_compared;
