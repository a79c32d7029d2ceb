//! Captures: whatever the file holds, it is refused or an audit of it ends.

use host::Captured;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    if let Ok(host) = Captured::parse(text) {
        let _ = rules::audit::audit(&host::view(&host));
    }
}
