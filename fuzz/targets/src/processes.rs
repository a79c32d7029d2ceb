//! /proc/PID/stat and /proc/PID/schedstat.

use facts::system::ipmi::polled_interface;
use facts::system::process::{Process, run_time};
use std::time::Duration;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(process) = Process::parse(text) {
        assert!(text.contains(&process.name));
        let _ = polled_interface(&process);
        if let Ok((age, share)) = process.age_and_share(Duration::from_secs(1 << 30)) {
            assert!(share >= 0.0 && (share == 0.0 || !age.is_zero()), "{process:?}");
        }
    }
    let _ = run_time(text);
}
