//! Deep idle states taken away, from which busy CPUs would draw their turbo.
//!
//! Gone means silent and not clean: what limits the package is in a register that these machines
//! do not have.

use crate::audit::Audit;
use crate::boots::{HALF_ISOLATED, SOUND};

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn idle_state_disabled_in_sysfs_is_found_and_gone_when_enabled() {
    let disabled = Audit::of(&SOUND, "C2 disabled");
    disabled.expect("turbo-headroom-lost");
    assert_eq!(disabled.expect_one_chain(&["turbo-headroom-lost"])["lost"], "turbo");
    Audit::of(&SOUND, "C2 enabled").expect_silent("turbo-headroom-lost");
}

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn idle_state_forbidden_on_the_boot_line_is_found_and_gone_without() {
    let forbidden = Audit::of(&HALF_ISOLATED, "as booted");
    forbidden.expect("turbo-headroom-lost");
    assert_eq!(forbidden.expect_one_chain(&["turbo-headroom-lost"])["lost"], "turbo");
    Audit::of(&SOUND, "fixed").expect_silent("turbo-headroom-lost");
}
