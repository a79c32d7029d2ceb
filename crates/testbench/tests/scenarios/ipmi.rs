//! Management controllers that cost CPU time.

use crate::audit::Audit;
use crate::boots::{HALF_ISOLATED, SOUND, TICKLESS};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn controller_without_interrupt_is_found_and_one_with_is_not() {
    Audit::of(&HALF_ISOLATED, "as booted").expect("ipmi-without-interrupt");
    Audit::of(&SOUND, "performance").expect_silent("ipmi-without-interrupt");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn thread_that_waits_for_a_slow_controller_is_found_and_none_is_with_an_interrupt() {
    let idle = polling_nanoseconds(&Audit::of(&TICKLESS, "statistics every minute"));
    let busy = polling_nanoseconds(&Audit::of(&TICKLESS, "busy BMC"));
    assert!(busy > 5 * idle, "questions to the BMC cost {busy} ns after {idle} ns");
    Audit::of(&SOUND, "performance").expect_silent("kipmid-busy");
}

/// What `kipmid-busy` shows as the thread's run time; zero if it is not found.
fn polling_nanoseconds(audit: &Audit) -> u64 {
    let findings = audit.findings("kipmid-busy");
    let evidence = findings.iter().filter_map(|finding| finding["evidence"].as_array()).flatten();
    evidence
        .filter(|one| one["source"].as_str().is_some_and(|path| path.ends_with("/schedstat")))
        .filter_map(|one| one["value"].as_str()?.parse::<u64>().ok())
        .sum()
}
