//! A machine that answers every model-specific register with zero, as some hypervisors do.

use crate::audit::Audit;
use crate::boots::{MISSPELT, SOUND};

/// Checks that cannot be clean without such registers.
const REGISTER_CHECKS: [&str; 2] = ["clock-modulation", "prochot-asserted"];

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn registers_that_are_all_zero_are_no_evidence_of_health() {
    // One machine passes for a real one, the other says that it is a guest.
    for audit in [Audit::of(&SOUND, "performance"), Audit::of(&MISSPELT, "as booted")] {
        for id in REGISTER_CHECKS {
            assert!(audit.leaves_open(id), "'{id}' was judged on registers that do not exist");
        }
        let registers: Vec<String> =
            audit.evidence().into_iter().filter(|one| one.contains("/msr ")).collect();
        assert!(registers.is_empty(), "values of registers that do not exist: {registers:#?}");
    }
}
