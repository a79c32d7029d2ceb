//! How far the trials are, for whoever watches a terminal.

use engine::Progress;
use facts::quantity::roughly;
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};

/// A line on standard error that is gone when it is dropped. Shows nothing where standard error is no terminal.
pub(crate) struct ProgressBar(Bar);

const STEPS: u64 = 1000;

impl ProgressBar {
    pub(crate) fn new(is_wanted: bool) -> ProgressBar {
        let target =
            if is_wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = Bar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        ProgressBar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Shows what has been done, and how long the rest will take.
    pub(crate) fn show(&self, progress: &Progress) {
        let Progress { done, share, elapsed } = progress;
        let left = elapsed.as_secs_f64() * (1.0 / share.max(1e-6) - 1.0);
        self.0.set_message(format!("{done}, {} left, Ctrl-C ends it", roughly(left)));
        self.0.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
