//! Governors that keep CPUs below their clock.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::boots::SOUND;

/// Any of these may name a CPU that is held at a low clock.
const SLOW_CPU: [&str; 3] = ["slow-governor", "capped-frequency", "mixed-frequency-settings"];

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn one_cpu_held_at_a_low_clock_is_found_by_name() {
    let audit = Audit::of(&SOUND, "one CPU at 1600 MHz");
    let cpus = SLOW_CPU.map(|id| audit.cpus(id));
    assert!(cpus.contains(&BTreeSet::from([0])), "{SLOW_CPU:?} name {cpus:?}, not CPU 0 alone");

    let fixed = Audit::of(&SOUND, "fixed");
    for id in SLOW_CPU {
        fixed.expect_silent(id);
    }
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn governors_that_save_power_are_slow_and_performance_is_not() {
    for governor in ["ondemand", "powersave"] {
        let audit = Audit::of(&SOUND, governor);
        let finding = audit.expect("slow-governor");
        let evidence = finding["evidence"].to_string();
        assert!(evidence.contains(governor), "the governor is not shown: {finding:#}");
    }
    // The other one may have raised the clock of either CPU for the audit itself.
    assert_eq!(Audit::of(&SOUND, "powersave").cpus("slow-governor"), BTreeSet::from([0, 1]));
    let chain = Audit::of(&SOUND, "powersave");
    let chain = chain.expect_one_chain(&["slow-governor"]);
    assert_eq!(chain["party"], "operating system", "{chain:#}");
    Audit::of(&SOUND, "performance").expect_clean("slow-governor");
    Audit::of(&SOUND, "fixed").expect_clean("slow-governor");
}
