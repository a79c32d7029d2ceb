//! Captures: whatever the file holds, an audit ends; and what is written is read back as the same host.
#![no_main]

use host::{Captured, Recording};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(host) = Captured::parse(text) else { return };
    let recording = Recording::new(&host);
    let _ = rules::audit::audit(&host::view(&recording));
    let written = recording.capture();
    let read_back = Captured::parse(&written).expect("our own capture is one");
    let again = Recording::new(&read_back);
    let _ = rules::audit::audit(&host::view(&again));
    for (first, second) in written.lines().zip(again.capture().lines()) {
        assert_eq!(first, second);
    }
});
