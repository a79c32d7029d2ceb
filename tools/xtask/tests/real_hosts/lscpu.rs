//! Outputs of lscpu (github.com/linuxhw/LsCPU), as `fullclock explain` takes them.

use crate::expectation::{Expectation, clean};
use host::Source;
use rules::finding::Severity::{Info, Low, Medium};

/// What the samples of one category must lead to.
pub(crate) fn expectation(category: &str) -> Option<Expectation> {
    let expectation = match category.split('_').next()? {
        "A1" | "A1b" => clean().finds("turbo-off", Medium),
        // Nothing says whether a switch or the firmware's table lacks turbo.
        "A2" => clean().finds_one_of(&["turbo-off", "capped-frequency"], Medium),
        "A3" => clean().never(&["turbo-off", "capped-frequency"]),
        // One of them is of the family that the ambiguous ones are of, so no severity is demanded.
        "B" => clean().finds("clock-below-minimum", Info),
        "Bq" => clean().may_find("capped-frequency"),
        "C" => clean().outside("SMT is off: information, and no matter of clocks"),
        "D" => clean().finds("capped-frequency", Low),
        // One of them says "Frequency boost: disabled" as well.
        "E" => clean().finds("offline-cpus", Low).may_find("turbo-off"),
        "F" => clean().outside("whether NUMA is shown: memory locality"),
        "G" => clean().outside("mitigations are off: no matter of clocks"),
        "Z" => clean().at_most(Info),
        _ => return None,
    };
    Some(expectation)
}

/// The host that `text` tells of; nothing else counts as asked.
pub(crate) fn host(text: &str) -> Box<dyn Source> {
    Box::new(host::pasted::read(text).host)
}
