//! Tar archives, plain or packed: a hostile one is refused or answers, and an audit of it ends.

use host::Archive;

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(archive) = Archive::read("archive", bytes, "") {
        let _ = rules::audit::audit(&host::view(&archive));
    }
}
