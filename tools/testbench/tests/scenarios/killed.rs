//! Changes of several settings, killed at points at which a crash may come between, on a real kernel (at every point in a sweep): what a killed one
//! has left is undone by `fullclock revert --all` or by the next `fullclock apply`, and nothing is lost.
#![expect(clippy::print_stdout, reason = "the number of points is to be read")]

use crate::boots::{in_usual_and_sweep, killed};

/// Fewer points than any of these plans has would mean that it is not killed where it should be.
const LEAST_POINTS: u32 = 25;
/// Prime, so that it meets all of what a change does for each setting.
const USUAL_STRIDE: u32 = 11;

#[test]
#[ignore = "boots emulated machines; run by cargo xtask test"]
fn change_that_is_made_to_last_and_killed_anywhere_is_undone_and_nothing_is_lost() {
    expect_nothing_lost("--persist resume-latency=50us stat-interval=10");
}

fn expect_nothing_lost(plan: &str) {
    let stride = in_usual_and_sweep(USUAL_STRIDE, 1);
    let transcript = killed(plan, stride);
    let output = transcript.step(plan).unwrap_or_else(|error| panic!("{error:#}"));
    let said = output.stdout.trim();
    let number = |after: &str| {
        let number = said.split(after).nth(1).and_then(|it| it.split([' ', ',']).next());
        number.and_then(|it| it.parse::<u32>().ok()).unwrap_or_else(|| panic!("{output:#?}"))
    };
    let (points, kept) = (number("killed at "), number("kept at "));
    let expected = format!(
        "{plan}: killed at {points} points, kept at {kept}, lost at 0, then ended with 0, reverted with 0, left"
    );
    assert_eq!(said, expected, "{}", output.stderr);
    assert!(kept <= 1, "{said}");
    assert!(points >= LEAST_POINTS / stride, "{said}");
    println!("{said}");
}

/// Other plans, each of which takes a machine.
mod sweep {
    use super::*;

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn change_of_controls_that_is_killed_anywhere_is_undone_and_nothing_is_lost() {
        expect_nothing_lost("governor=ondemand scaling-max=2133MHz stat-interval=10");
    }

    #[test]
    #[ignore = "boots emulated machines; run by cargo xtask sweep"]
    fn change_with_a_request_that_is_killed_anywhere_is_undone_and_nothing_is_lost() {
        expect_nothing_lost("idle-state=C1:off@0 cpu-dma-latency=20us kipmid-max-busy=200");
    }
}
