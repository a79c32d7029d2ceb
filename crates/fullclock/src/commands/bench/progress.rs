//! How far the trials are, for whoever watches a terminal.

use facts::quantity::roughly;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line on standard error that is gone when it is dropped. Shows nothing where standard error is no terminal.
pub(crate) struct Bar(ProgressBar);

const STEPS: u64 = 1000;

impl Bar {
    pub(crate) fn new(is_wanted: bool) -> Bar {
        let target =
            if is_wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    /// Says what has been done in `elapsed`, `share` of all of it, from 0 to 1.
    pub(crate) fn show(&self, done: &str, share: f64, elapsed: Duration) {
        let left = elapsed.as_secs_f64() * (1.0 / share.max(1e-6) - 1.0);
        self.0.set_message(format!("{done}, {} left, Ctrl-C ends it", roughly(left)));
        self.0.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
