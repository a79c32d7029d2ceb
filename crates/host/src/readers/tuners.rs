//! Reads what programs that tune frequencies leave behind, beside their processes.

use crate::Source;
use facts::parse;
use facts::system::tuners::Tuners;

pub(super) fn read(source: &dyn Source) -> Tuners {
    Tuners {
        tuned_profile: source.parsed("/etc/tuned/active_profile", parse::words),
        tlp_state: source.list("/run/tlp"),
    }
}
