//! /proc/PID/stat and /proc/PID/schedstat.

use facts::system::ipmi::polled_interface;
use facts::system::process::{Process, run_time};

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(process) = Process::parse(text) {
        assert!(text.contains(&process.name));
        let _ = polled_interface(&process);
    }
    let _ = run_time(text);
}
