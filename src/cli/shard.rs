//! The option `--shard`: the part of a simulation to play, given explicitly or by the variables of a scheduler; and the exit
//! code of a part.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{CallError, call_error, report};
use riskbreaker::lab::Shard;

/// The value of `--shard`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardArg {
    /// `I/N`.
    Part(Shard),
    /// `env`, `env/N`, `env:SCHEDULER` or `env:SCHEDULER/N`.
    Environment {
        /// The scheduler; `None` to detect it.
        scheduler: Option<&'static Scheduler>,
        /// The number of parts, if the scheduler does not set it.
        count: Option<u64>,
    },
}

/// The environment variables by which a scheduler numbers the tasks of an array.
#[derive(Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// The name after `env:`.
    pub name: &'static str,
    index: &'static str,
    count: Option<&'static str>,
    first: First,
}

/// The index of the first task.
#[derive(Debug, PartialEq, Eq)]
enum First {
    Is(u64),
    /// The index is in a variable, and the step between two indices in another variable.
    In {
        first: &'static str,
        step: &'static str,
    },
}

static SCHEDULERS: [Scheduler; 5] = [
    Scheduler {
        name: "slurm",
        index: "SLURM_ARRAY_TASK_ID",
        count: Some("SLURM_ARRAY_TASK_COUNT"),
        first: First::In { first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP" },
    },
    Scheduler {
        name: "aws",
        index: "AWS_BATCH_JOB_ARRAY_INDEX",
        count: Some("AWS_BATCH_JOB_ARRAY_SIZE"),
        first: First::Is(0),
    },
    Scheduler {
        name: "cloud-run",
        index: "CLOUD_RUN_TASK_INDEX",
        count: Some("CLOUD_RUN_TASK_COUNT"),
        first: First::Is(0),
    },
    Scheduler { name: "kubernetes", index: "JOB_COMPLETION_INDEX", count: None, first: First::Is(0) },
    Scheduler { name: "parallel", index: "PARALLEL_SEQ", count: None, first: First::Is(1) },
];

/// Parses the value of `--shard`.
///
/// # Errors
///
/// A message with the expected form.
pub fn shard(text: &str) -> Result<ShardArg, String> {
    let wrong =
        || "a shard is one of several, such as 1/4 or 4/4; or `env`, with `env/4` where the scheduler sets no count";
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    if let Some(rest) = text.strip_prefix("env") {
        let (name, count) = match rest.split_once('/') {
            Some((name, count)) => (name, Some(number(count).ok_or_else(wrong)?)),
            None => (rest, None),
        };
        let scheduler = match name.strip_prefix(':') {
            None if name.is_empty() => None,
            None => return Err(wrong().into()),
            Some(name) => {
                let known = SCHEDULERS.iter().find(|scheduler| scheduler.name == name);
                let names: Vec<&str> = SCHEDULERS.iter().map(|scheduler| scheduler.name).collect();
                Some(known.ok_or_else(|| format!("`{name}` is no known scheduler; known: {}", names.join(", ")))?)
            }
        };
        return Ok(ShardArg::Environment { scheduler, count });
    }
    let parts = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, number(count)?)));
    match parts {
        Some((index, count)) => Ok(ShardArg::Part(Shard { index, count })),
        None => Err(wrong().into()),
    }
}

impl ShardArg {
    /// Returns the shard, read from the environment if requested.
    ///
    /// # Errors
    ///
    /// A call error: a part that does not exist; no scheduler is detected, or several; a missing count, or an invalid number.
    pub fn settled(&self) -> Result<Shard> {
        self.settled_by(&|name| std::env::var(name).ok())
    }

    fn settled_by(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard> {
        let (wanted, count) = match self {
            ShardArg::Part(Shard { index, count }) if !(1..=*count).contains(index) => {
                return Err(call_error(format!("there is no part {index} of {count}; parts are counted from 1")));
            }
            ShardArg::Part(shard) => return Ok(*shard),
            ShardArg::Environment { scheduler, count } => (scheduler, *count),
        };
        let visible: Vec<&Scheduler> =
            SCHEDULERS.iter().filter(|scheduler| variable(scheduler.index).is_some()).collect();
        let scheduler = match (wanted, visible.as_slice()) {
            (Some(scheduler), _) => *scheduler,
            (None, [only]) => *only,
            (None, []) => {
                let names: Vec<&str> = SCHEDULERS.iter().map(|scheduler| scheduler.index).collect();
                let help = "`--shard 1/4` names a part";
                return Err(call_error(format!(
                    "no scheduler is visible: none of {} is set; {help}",
                    names.join(", ")
                )));
            }
            (None, [first, ..]) => {
                let names: Vec<&str> = visible.iter().map(|scheduler| scheduler.name).collect();
                let help = format!("`--shard env:{}` chooses one", first.name);
                return Err(call_error(format!("several schedulers are visible: {}; {help}", names.join(", "))));
            }
        };
        scheduler.part(count, variable)
    }
}

impl Scheduler {
    fn part(&self, count: Option<u64>, variable: &dyn Fn(&str) -> Option<String>) -> Result<Shard> {
        let read = |name: &str| -> Result<Option<u64>> {
            let Some(text) = variable(name) else { return Ok(None) };
            let number =
                text.trim().parse().map_err(|_| call_error(format!("{name} is `{text}`, not a whole number")))?;
            Ok(Some(number))
        };
        let index = read(self.index)?.ok_or_else(|| call_error(format!("{} is not set", self.index)))?;
        let (first, step) = match self.first {
            First::Is(first) => (first, 1),
            First::In { first, step } => (read(first)?.unwrap_or(1), read(step)?.unwrap_or(1).max(1)),
        };
        let own = match self.count {
            Some(name) => read(name)?,
            None => None,
        };
        let Some(count) = count.or(own) else {
            let name = self.name;
            return Err(call_error(format!(
                "{name} sets no count of the parts: write `--shard env/8` for eight of them"
            )));
        };
        match index.checked_sub(first).map(|at| at / step + 1) {
            Some(index) if index <= count => Ok(Shard { index, count }),
            _ => {
                Err(call_error(format!("{} is {index}: that is no part of {count}, counted from {first}", self.index)))
            }
        }
    }
}

/// The exit code of a part of a simulation that can never succeed, however often a scheduler starts it again.
const NEVER_WORKS: u8 = 42;

/// Ends a part of a simulation: a call error is reported here, since schedulers get another exit code for it.
pub fn end_part(error: anyhow::Error) -> Result<ExitCode> {
    if error.downcast_ref::<CallError>().is_none() {
        return Err(error);
    }
    report::error(&error);
    Ok(ExitCode::from(NEVER_WORKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str, variables: &[(&str, &str)]) -> Result<(u64, u64), String> {
        let variable = |name: &str| variables.iter().find(|known| known.0 == name).map(|known| known.1.to_owned());
        let found = shard(text)?.settled_by(&variable).map_err(|error| error.to_string())?;
        Ok((found.index, found.count))
    }

    #[test]
    fn each_scheduler_numbers_its_parts_from_one() {
        let slurm = [("SLURM_ARRAY_TASK_ID", "13"), ("SLURM_ARRAY_TASK_COUNT", "4"), ("SLURM_ARRAY_TASK_MIN", "11")];
        assert_eq!(settled("env", &slurm), Ok((3, 4)));
        assert_eq!(settled("env", &[&slurm[..], &[("SLURM_ARRAY_TASK_STEP", "2")]].concat()), Ok((2, 4)));
        assert_eq!(
            settled("env", &[("AWS_BATCH_JOB_ARRAY_INDEX", "0"), ("AWS_BATCH_JOB_ARRAY_SIZE", "8")]),
            Ok((1, 8))
        );
        assert_eq!(settled("env", &[("CLOUD_RUN_TASK_INDEX", "7"), ("CLOUD_RUN_TASK_COUNT", "8")]), Ok((8, 8)));
        assert_eq!(settled("env/8", &[("JOB_COMPLETION_INDEX", "0")]), Ok((1, 8)));
        assert_eq!(settled("env/8", &[("PARALLEL_SEQ", "8")]), Ok((8, 8)));
        assert_eq!(settled("2/4", &slurm), Ok((2, 4)));
    }

    #[test]
    fn a_missing_environment_variable_is_refused_with_a_correction() {
        let refused = |text: &str, variables: &[(&str, &str)], part: &str| {
            let why = settled(text, variables).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        };
        let (slurm, parallel) = (("SLURM_ARRAY_TASK_ID", "1"), ("PARALLEL_SEQ", "2"));
        refused("env", &[], "no scheduler is visible");
        refused("env", &[slurm, parallel], "`--shard env:slurm` chooses one");
        assert_eq!(settled("env:parallel/3", &[slurm, parallel]), Ok((2, 3)));
        refused("env", &[parallel], "`--shard env/8`");
        refused("env/4", &[("PARALLEL_SEQ", "5")], "no part of 4");
        refused("env/4", &[("PARALLEL_SEQ", "0")], "no part of 4");
        refused("env/4", &[("PARALLEL_SEQ", "one")], "not a whole number");
        refused("env:slurm/4", &[parallel], "SLURM_ARRAY_TASK_ID is not set");
        refused("5/4", &[], "no part 5 of 4");
        refused("0/4", &[], "no part 0 of 4");
        for wrong in ["4", "a/b", "1/0", "env/0", "env/x", "envy", "env:pbs"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }
}

/// The number of threads that an option `--threads` asks for.
///
/// # Errors
///
/// A call error: 0.
pub fn threads(given: Option<usize>) -> Result<usize> {
    match given {
        Some(0) => Err(call_error("`--threads` must be at least 1; leave it out to use all processors")),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Options of games that may be divided among threads and processes.
#[derive(clap::Args, Clone, Debug)]
pub struct PartArgs {
    /// How many threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    threads: Option<usize>,

    /// Plays one of N parts of the trials; `merge` joins the parts. `env`: by the variables of a scheduler
    #[arg(long, value_name = "I/N|env", value_parser = shard)]
    pub shard: Option<ShardArg>,

    /// Keeps the counts in a file; the same call continues from them
    #[arg(long, value_name = "FILE.json")]
    pub save: Option<PathBuf>,
}

impl PartArgs {
    /// The number of threads.
    ///
    /// # Errors
    ///
    /// A call error: 0.
    pub fn threads(&self) -> Result<usize> {
        threads(self.threads)
    }

    /// True if the number of threads is given, and is not one.
    pub fn has_several_threads(&self) -> bool {
        self.threads.is_some_and(|threads| threads != 1)
    }

    /// Runs the work of these options. For a part of the trials, prints its cost, and ends with the exit code for schedulers if the
    /// call can never work.
    ///
    /// # Errors
    ///
    /// Those of the work.
    pub fn run(&self, work: impl FnOnce() -> Result<ExitCode>) -> Result<ExitCode> {
        let began = Instant::now();
        match (work(), &self.shard) {
            (Err(error), Some(_)) => end_part(error),
            (Ok(code), Some(_)) => {
                tell_cost(began.elapsed());
                Ok(code)
            }
            (done, None) => done,
        }
    }
}

/// The output options.
#[derive(clap::Args, Clone, Debug)]
pub struct ReportForm {
    /// Writes a JSON object
    #[arg(long)]
    pub json: bool,

    /// Writes a report with pictures, in one file
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
}

/// Prints the cost of a part: its time and peak memory.
pub fn tell_cost(took: Duration) {
    let seconds = took.as_secs_f64();
    match most_memory() {
        Some(bytes) => eprintln!("this part took {seconds:.1} s and {} MiB of memory", bytes >> 20),
        None => eprintln!("this part took {seconds:.1} s"),
    }
}

/// The peak memory of the program in bytes; `None` if the system does not report it.
fn most_memory() -> Option<u64> {
    #[cfg(unix)]
    {
        // SAFETY: the record is plain numbers, and the call writes to it alone.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) == 0).then_some(usage)
        };
        // Linux counts in kilobytes, macOS in bytes.
        let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
        usage.and_then(|usage| u64::try_from(usage.ru_maxrss).ok()).map(|most| most * unit)
    }
    #[cfg(not(unix))]
    None
}
