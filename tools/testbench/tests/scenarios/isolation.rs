//! CPUs set aside for one program, and what still disturbs them there.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::boots::{HALF_ISOLATED, MISSPELT, SOUND, TICKLESS};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn isolated_cpu_that_keeps_its_tick_is_found_and_gone_with_nohz_full() {
    let cpus = |audit: Audit| audit.cpus("isolated-without-nohz-full");
    let half = cpus(Audit::of(&HALF_ISOLATED, "as booted"));
    let tickless = cpus(Audit::of(&TICKLESS, "statistics every minute"));
    assert_eq!((half, tickless), (BTreeSet::from([1]), BTreeSet::from([2])));
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn statistics_that_wake_a_tickless_cpu_are_found_and_gone_when_rare() {
    Audit::of(&TICKLESS, "statistics every second").expect("vmstat-tick");
    Audit::of(&TICKLESS, "statistics every minute").expect_silent("vmstat-tick");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn cpus_named_on_the_boot_line_but_absent_are_found_and_gone_without() {
    let audit = Audit::of(&MISSPELT, "as booted");
    let finding = audit.expect("nonexistent-cpus-listed");
    assert!(finding.to_string().contains("6-7"), "CPUs 6 and 7 are not named: {finding:#}");
    Audit::of(&SOUND, "performance").expect_silent("nonexistent-cpus-listed");
}
