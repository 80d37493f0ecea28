use riskbreaker_play::StartError;

/// An error of a simulation, or of merging findings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// Zero trials were requested.
    #[error("zero trials were asked for; `--trials 1000` plays a thousand games")]
    NoTrials,
    /// A study of more games than [`Study::MOST_TRIALS`](super::Study::MOST_TRIALS).
    #[error("{0} games are too many: the facts of each are kept, so 1000000 are the most; `sim` alone counts more")]
    TooManyTrials(u64),
    /// No variant was given.
    #[error("nothing is to be played")]
    NoVariants,
    /// A game cannot begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A shard that does not exist.
    #[error("a shard is one of several, such as 1/4 or 4/4, not {index}/{count}")]
    Shard {
        /// The number of the requested part.
        index: u64,
        /// The number of parts.
        count: u64,
    },
    /// A margin was given for a shard. Only a whole simulation can stop at a margin.
    #[error("where it stops is decided over all trials: leave `--until` out where there are shards")]
    UntilInShards,
    /// Findings that cannot be read or merged.
    #[error("{0}")]
    Findings(String),
    /// A policy looks ahead, but the ruleset has no `value`.
    #[error("{0} looks ahead but does not say what a state is worth: it needs `value = function(seat)` in play.luau")]
    NoValue(String),
    /// The memo and the script gave different results.
    #[error(
        "the trace cache and the script of `{entry}` differ, in trial {trial} of seed {seed}: this is a bug of the host, or the \
         script keeps something between calls. Recorded: {known}. The script: {found}. `--every-script` plays without the cache"
    )]
    Differs {
        /// The agenda entry.
        entry: String,
        /// The seed of the simulation.
        seed: u64,
        /// The number of the game.
        trial: u64,
        /// The recorded result.
        known: String,
        /// The result of the script.
        found: String,
    },
    /// A script machine could not be started: the variant, and why.
    #[error("the machine of {0} could not be started: {1}")]
    Machine(String, String),
}
