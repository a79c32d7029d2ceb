//! Captures: whatever the file holds, it is refused or an audit of it ends.
#![no_main]

use host::Captured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(host) = Captured::parse(text) {
        let _ = rules::audit::audit(&host::view(&host));
    }
});
