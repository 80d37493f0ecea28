//! The progress bar of long work.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar with the remaining time.
pub fn meter() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} % · {pos} of {len} · {eta} left");
    ProgressBar::new(0).with_style(style.expect("the template is well formed").progress_chars("█▉▊▋▌▍▎▏ "))
}
