//! What pasted texts mean: what shows a host's files and registers is audited, the rest has rules of its own.

use crate::advised;
use host::Live;
use rules::audit::Audit;
use rules::config::Config;
use rules::pasted::{self, Explanation};

/// What a pasted text means.
pub struct Pasted {
    /// Of all that is recognised in it, in its order. Empty where nothing is.
    pub explanations: Vec<Explanation>,
    /// The audit of the host that it shows, where it shows files or registers of one.
    pub audit: Option<Audit>,
}

/// Explains all that is recognised in a text, by the configuration of a site on this day.
pub fn pasted(text: &str, config: &Config, today: &str) -> Pasted {
    let text = facts::pasted::cleaned(text);
    let read = host::pasted::read(&text);
    let mut view = host::view(&read.host);
    let mut found = pasted::explain(&text, &view);
    let audit = (!read.outputs.is_empty())
        .then(|| advised::audit_of_site(&read.host, &mut view, config, today));
    if let Some(audit) = &audit {
        found.extend(pasted::audited(&read.outputs, audit));
    }
    Pasted { explanations: pasted::in_order(found), audit }
}

/// The audit of the running machine by the configuration of its site, without a question to its management controller and without a
/// look: for a word on one check.
pub fn this_machine(config: &Config, today: &str) -> Audit {
    let source = Live::this_machine();
    advised::audit_of_site(&source, &mut host::view(&source), config, today)
}

#[cfg(test)]
mod tests;
