//! What the kernel does about each fault of the processor: a setting each, since a line of all would differ as a whole.

use super::or_why;
use facts::HostView;

/// `vulnerability: spectre_v2` and the kernel's words. Where the kernel cannot be asked, one setting says why.
pub(super) fn vulnerabilities(host: &HostView) -> Vec<(String, String)> {
    match &host.vulnerabilities {
        Ok(known) => known
            .iter()
            .map(|it| (format!("vulnerability: {}", it.name), or_why(it.state.clone())))
            .collect(),
        Err(why) => vec![("vulnerabilities".to_owned(), or_why(Err(why.clone())))],
    }
}
