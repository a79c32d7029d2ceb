//! A trip point that is no heat, by which the kernel slows CPUs that are not hot.

use std::collections::BTreeSet;

use crate::audit::Audit;
use crate::boots::on_each_that_schedules;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn trip_point_that_is_no_heat_is_named_while_it_slows_the_cpus_and_not_otherwise() {
    on_each_that_schedules(|transcript| {
        let hot = Audit::of(transcript, "hot");
        assert_eq!(hot.cpus("capped-frequency"), BTreeSet::from([0, 1]));
        let finding = hot.expect("capped-frequency");
        let says = finding.to_string();
        assert!(says.contains("the passive trip point of acpitz is 45 °C"), "{finding:#}");
        assert!(
            says.contains("scaling_max_freq keeps the clock at 1600 MHz of 2534 MHz"),
            "{finding:#}"
        );
        Audit::of(transcript, "cool").expect_silent("capped-frequency");
    });
}
