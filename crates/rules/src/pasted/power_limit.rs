//! The kernel's "CPU0: Package power limit notification (total events = N)".
//!
//! Source: therm_throt.c; later kernels have the interrupt only with `int_pln_enable` on the boot line (kernel-parameters.txt).

use super::Explanation;

pub(super) fn explain(text: &str) -> Option<Explanation> {
    text.contains("power limit notification").then(|| Explanation {
        what: "kernel: a core or a package reached its power limit",
        meaning: vec![
            "The processor would have drawn more than its power limit (PL1 or PL2), and lowered its clock until it did not. That is how \
             turbo works: under full load a limit is reached all the time, and is no fault."
                .to_owned(),
            "It matters where the limit is lower than the processor's design power: set by firmware, by the management controller or by \
             a power supply that is short of capacity. The message does not say which. Newer kernels do not print it."
                .to_owned(),
        ],
        checks: &["low-power-limit", "bmc-power-cap", "prochot-asserted"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_and_package_are_known_with_whatever_stands_before() {
        for text in [
            "[   15.284963] CPU1: Package power limit notification (total events = 1)",
            "mce: CPU0: Core power limit notification",
        ] {
            assert!(explain(text).unwrap().meaning[0].contains("PL1"), "{text}");
        }
        assert_eq!(explain("CPU1: Package power limit normal"), None);
    }
}
