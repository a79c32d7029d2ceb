//! Tar archives, plain or packed: a hostile one is refused or answers, and an audit of it ends.
#![no_main]

use host::Archive;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(archive) = Archive::read("archive", bytes, "") {
        let _ = rules::audit::audit(&host::view(&archive));
    }
});
