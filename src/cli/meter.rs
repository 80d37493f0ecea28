//! The progress bar of long work.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The length of a progress bar of several parts.
pub const WHOLE: u64 = 1000;

/// A progress bar over the whole of several parts: [`WHOLE`] long, with a message that names the part.
pub fn meter_of_parts() -> ProgressBar {
    bar(WHOLE, "{bar:24} {percent:>3} % · {msg}")
}

/// A progress bar with the remaining time.
pub fn meter() -> ProgressBar {
    bar(0, "{bar:24} {percent:>3} % · {pos} of {len} · {eta} left")
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(length).with_style(style.progress_chars("█▉▊▋▌▍▎▏ "))
}

/// How often the sign of life of a spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// A sign of life for work whose end is not known, with the name of the work.
pub fn spinner(work: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(work);
    spinner.enable_steady_tick(TICK);
    spinner
}
