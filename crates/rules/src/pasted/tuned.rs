//! `tuned-adm active`, `profile` and `verify`: which profile of TuneD is active, and whether it holds.
//!
//! Source: TuneD, profiles/*/tuned.conf and tuned/admin/admin.py.

use super::{Found, SOUND, said, untold};
use crate::finding::Severity;
use facts::HostView;
use facts::pasted::TUNED;
use facts::system::programs::is_performance_profile;

/// Profiles that save power: the governor powersave or conservative, and hints to save power.
const SAVING: [&str; 4] =
    ["powersave", "server-powersave", "laptop-battery-powersave", "spindown-disk"];

/// Profiles that leave the clock to a governor that follows the load, or to the hardware's balance.
const BALANCED: [&str; 5] =
    ["balanced", "balanced-battery", "desktop", "desktop-powersave", "default"];

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    const ACTIVE: &str = "Current active profile:";
    const NONE: &str = "No current active profile.";
    let mut first = None;
    let mut meaning = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(profiles) = line.strip_prefix(ACTIVE) {
            first.get_or_insert(at);
            meaning.extend(profiles.split_whitespace().next_back().map(judge));
        } else if line == NONE {
            first.get_or_insert(at);
            meaning
                .push(format!("{SOUND} TuneD has no active profile, so that it changes nothing."));
        } else if line.starts_with("Verification failed") {
            first.get_or_insert(at);
            let message = "the settings are not those of the profile: something has changed them since, or the profile could not set them; \
                           /var/log/tuned/tuned.log says which";
            meaning.push(said(Severity::Medium, "rival-tuner", message));
        } else if line.starts_with("Verification succe") {
            first.get_or_insert(at);
            meaning.push("The settings are those of the profile.".to_owned());
        }
    }
    let line = first?;
    meaning.push(untold(&TUNED));
    Some(Found::new(line, &TUNED, meaning))
}

/// Of several profiles the last one counts.
fn judge(profile: &str) -> String {
    const SET: &str = "`tuned-adm profile throughput-performance` sets the governor performance";
    match profile {
        it if is_performance_profile(it) => {
            format!("{SOUND} The profile {it} sets the governor performance.")
        }
        it if SAVING.contains(&it) => {
            let message = format!(
                "the profile {it} saves power: it lowers clocks or lets the hardware lower them; {SET}"
            );
            said(Severity::Medium, "power-saving-bias", &message)
        }
        it if BALANCED.contains(&it) => {
            let message = format!(
                "the profile {it} leaves the clock to a governor that follows the load, or to the hardware's balance; {SET}"
            );
            said(Severity::Low, "slow-governor", &message)
        }
        it => format!("The profile {it} is none of those whose settings are known here."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    #[test]
    fn profiles_are_judged_by_what_they_set() {
        assert!(
            meaning("Current active profile: powersave\n")
                .starts_with("Medium, power-saving-bias: the profile powersave")
        );
        assert!(meaning("Current active profile: balanced\n").starts_with("Low, slow-governor"));
        assert!(meaning("Current active profile: throughput-performance\n").starts_with(SOUND));
        assert!(
            meaning("Current active profile: virtual-guest mine\n")
                .contains("mine is none of those")
        );
        let failed = "Verification failed, current system settings differ from the preset profile.\nYou can mostly fix this by restarting the TuneD daemon";
        assert!(meaning(failed).starts_with("Medium, rival-tuner"));
        assert!(meaning("No current active profile.\n").starts_with(SOUND));
        assert_eq!(meaning("tuned is a daemon"), "unknown");
    }
}
