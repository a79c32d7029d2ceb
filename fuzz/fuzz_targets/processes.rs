//! /proc/PID/stat and /proc/PID/schedstat.
#![no_main]

use facts::system::ipmi::polled_interface;
use facts::system::process::{Process, run_time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(process) = Process::parse(text) {
        assert!(text.contains(&process.name));
        let _ = polled_interface(&process);
    }
    let _ = run_time(text);
});
