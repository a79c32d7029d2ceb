//! Histories that are made up.

use super::history::{History, Moment};
use super::record::{Measured, rounded};
use crate::known::Known;
use crate::record::Fingerprint;
use facts::baseline::Part;

/// A machine with this firmware.
pub(crate) fn machine(bios: &str) -> Fingerprint {
    let settings = [("firmware version", bios), ("kernel release", "6.1.0"), ("turbo", "0")];
    Fingerprint(settings.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
}

/// A day of May, and of the months after it.
pub(crate) fn day(at: u32) -> String {
    format!("2026-{:02}-{:02}T08:00:00.000Z", 5 + (at - 1) / 28, 1 + (at - 1) % 28)
}

/// A boot a day.
pub(crate) fn moment(boot: u32) -> Moment {
    Moment { boot: format!("boot-{boot}"), at: day(boot), up_s: 900 }
}

/// Trials about this speed, the latencies being its inverse.
pub(crate) fn made(speed: f64) -> Known<Measured> {
    measured(|part, trial| part.speed(speed) * (1.0 + 0.001 * f64::from(trial * 7 % 5)))
}

/// Trials of each part.
pub(crate) fn measured(mut value: impl FnMut(Part, u32) -> f64) -> Known<Measured> {
    let mut trials = |part| Known::Value((0..8).map(|it| rounded(value(part, it))).collect());
    Known::Value(Measured(Part::ALL.into_iter().map(|it| (it, trials(it))).collect()))
}

/// A boot for each firmware and speed.
pub(crate) fn history(boots: &[(&str, f64)]) -> History {
    let mut history = History::default();
    for (at, (bios, speed)) in (1..).zip(boots) {
        history.add(moment(at), &machine(bios), made(*speed)).unwrap();
    }
    history
}
