//! How far the trials are, for whoever watches a terminal.

use super::pace::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line on standard error that is gone when it is dropped. Shows nothing where standard error is no terminal.
pub(super) struct Bar(ProgressBar);

const STEPS: u64 = 1000;

impl Bar {
    pub(super) fn new(is_wanted: bool) -> Bar {
        let target =
            if is_wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        Bar(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())))
    }

    pub(super) fn show(&self, progress: &Progress, elapsed: Duration) {
        let left = elapsed.as_secs_f64() * (1.0 / progress.share.max(1e-6) - 1.0);
        let trials = progress.trials;
        self.0.set_message(format!("{trials} trials of each, {} left, Ctrl-C ends it", time(left)));
        self.0.set_position((progress.share * STEPS as f64) as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// In a unit that one can wait in.
pub(super) fn time(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < DAY => format!("{:.0} h", s / 3600.0),
        _ => "days".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_a_unit_that_one_can_wait_in() {
        let told: Vec<String> = [3.2, 99.0, 180.0, 7200.0, 1e12].map(time).to_vec();
        assert_eq!(told, ["3 s", "99 s", "3 min", "2 h", "days"]);
    }
}
