//! Written captures: what is recorded of any host is a capture, redacted once and for all, that answers the same.

use host::{Captured, Recording};

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    let Ok(host) = Captured::parse(text) else { return };
    let written = record(&host);
    let read_back = Captured::parse(&written).expect("our own capture is one");
    // Names that no file system has are left out of a capture, and then asked for in vain.
    if text.contains(|it: char| it.is_control() && !matches!(it, '\n' | '\t')) {
        return;
    }
    for (first, second) in written.lines().zip(record(&read_back).lines()) {
        assert_eq!(first, second);
    }
}

fn record(host: &Captured) -> String {
    let recording = Recording::new(host);
    let _ = host::view(&recording);
    recording.capture()
}
