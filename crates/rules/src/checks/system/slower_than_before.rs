//! Looks for a speed below that of earlier boots, by what `fullclock baseline` keeps of each.
//!
//! Source: /var/lib/fullclock/baseline/standing.json, the verdict on all baselines of this machine. It knows what changed at the same
//! time, not that it is the cause: two settings that changed with one boot cannot be told apart.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use crate::loss_scale::Lost;
use facts::baseline::{Baseline, Part, PartChange, STANDING, Slower, UNKNOWN, listed};
use facts::{HostView, Missing, Why};

pub(crate) const CHECK: Check = Check {
    id: "slower-than-before",
    title: "this machine is slower than in earlier boots",
    doc: "\
## What it looks at
What `fullclock baseline` measured in each boot: the speed of one core and of all cores, the latency of a wake-up and of memory. Its
history has the settings of the machine with each, so that the finding names what changed with the speed: BIOS, firmware of the
management controller, microcode, kernel, boot line, mitigations, settings of the clock. `fullclock baseline diff` shows every change.

A loss counts where its 99 % interval leaves it out that nothing changed, and where boots of the same settings do not differ by as much
anyway: three boots or more have to tell that. A loss of less than 1 % is left out, and one that was made up for since.

## Why it matters
An update of the firmware can cost a fifth of the clock and more, and nothing on the machine says so: all settings are as before. Who
knows the day knows the update, and what to go back to.

## When to leave it alone
When the loss is the price of something wanted: a mitigation, a power limit, an encrypted memory. Suppress it in the configuration then,
with a date.
",
    references: &[Reference {
        title: "Pythian: ODA Patch Bundle 2.1.0.3.0 Fixes CPU Performance Issue (2012)",
        url: "https://blog.pythian.com/oracle-database-appliance-oda-patch-bundle-2-1-0-3-0-fixes-cpu-performance-issue/",
    }],
    run,
};

fn run(host: &HostView) -> Verdict {
    let baseline = host.baseline.as_ref()?;
    check_boot(baseline)?;
    Ok(baseline.standing.slower.iter().filter_map(finding).collect())
}

/// An earlier boot says nothing of this one.
fn check_boot(baseline: &Baseline) -> Result<(), Missing> {
    let Baseline { standing, boot } = baseline;
    if boot.as_ref()? == &standing.boot {
        return Ok(());
    }
    let of = match standing.at.get(..10) {
        Some(day) => format!(", of {day}"),
        None => String::new(),
    };
    let why = format!("the last one is of an earlier boot{of}; `fullclock baseline` takes one");
    Err(Missing { what: "a baseline of this boot".to_owned(), why: Why::Failed(why) })
}

/// Less is not worth a word: fans and dust make as much.
const LEAST: f64 = 0.01;

fn finding(slower: &Slower) -> Option<Finding> {
    let lost = |it: &PartChange| 1.0 - it.speed();
    let parts: Vec<&PartChange> = slower.parts.iter().filter(|it| lost(it) >= LEAST).collect();
    if parts.is_empty() {
        return None;
    }
    let words: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let Slower { since, number, n_before, n_after, changed, .. } = slower;
    let since = match &**since {
        UNKNOWN => "since a day that is unknown".to_owned(),
        day => format!("since {day}"),
    };
    let what = match changed.is_empty() {
        true => format!("{since}, and nothing changed that is recorded"),
        false => format!("{since}: {}", listed(changed)),
    };
    let message = format!("slower {what}: {}", words.join(", "));
    let of_cores = parts.iter().filter(|it| it.part.is_rate()).map(|it| lost(it));
    let most = of_cores.fold(0.0, f64::max);
    let confidence = if *n_after < SURE { Confidence::Medium } else { Confidence::High };
    let finding = match most > 0.0 {
        // What a loss of all cores takes, it takes of each CPU.
        true => Finding::of_lost(Lost::of(most, true), confidence, message).cost(
            format!("{:.0} % of the speed of a core", 100.0 * most),
            format!("baseline {number} and later ({n_after} boots) against those before ({n_before} boots)"),
        ),
        // A latency is no share of the CPUs' capacity.
        false => Finding::new(Severity::Low, confidence, message),
    };
    let with_settings = changed.iter().fold(finding, |finding, it| {
        let [before, after] = [&it.before, &it.after].map(|it| it.as_deref().unwrap_or("unknown"));
        finding.evidence(format!("{STANDING} ({})", it.name), format!("{before} -> {after}"))
    });
    let with_parts = parts.iter().fold(with_settings, |finding, it| {
        let percent = |share: f64| format!("{:+.*} %", it.decimals, 100.0 * share);
        let interval =
            format!("{}, interval {} to {}", percent(it.change), percent(it.low), percent(it.high));
        finding.evidence(format!("{STANDING} ({})", it.part.name()), interval)
    });
    Some(with_parts.fix_lasting(advice(slower, &parts)))
}

/// Fewer boots may share what is no property of the change.
const SURE: usize = 3;

fn advice(slower: &Slower, parts: &[&PartChange]) -> &'static str {
    let has = |names: &[&str]| slower.changed.iter().any(|it| names.contains(&&*it.name));
    if has(&["firmware version", "firmware date", "management controller firmware"]) {
        "compare the settings of the firmware with those before, then ask its maker, or go back to the version before; `fullclock baseline` tells in the next boot whether it helped"
    } else if has(&["cpu microcode", "kernel release", "kernel boot line"]) {
        "boot the kernel or the microcode from before once; `fullclock baseline` tells whether it is as fast again"
    } else if slower.changed.is_empty() && parts.iter().any(|it| it.part == Part::SingleCore) {
        "look for what no setting shows: heat, a power limit of the board, a neighbour on the same host; `fullclock audit --look 10s` watches for it"
    } else {
        "`fullclock baseline diff` lists what changed with the boot"
    }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    const SINGLE: &str = r#"{"part":"single-core","change":-0.19,"low":-0.2,"high":-0.18,"confidence":0.9975,"decimals":0}"#;
    const MEMORY: &str =
        r#"{"part":"memory","change":0.12,"low":0.1,"high":0.14,"confidence":0.9975,"decimals":0}"#;
    const BIOS: &str = r#"{"name":"firmware version","before":"2.1","after":"2.3"}"#;

    fn host(changed: &str, parts: &str, boot: &str) -> String {
        let slower = match parts {
            "" => String::new(),
            parts => format!(
                r#"{{"since":"2026-05-12","number":41,"n_before":12,"n_after":3,"changed":[{changed}],"parts":[{parts}]}}"#
            ),
        };
        format!(
            "//- /var/lib/fullclock/baseline/standing.json\n{{\"version\":1,\"boot\":\"b-1\",\"at\":\"2026-05-14T08:00:00.000Z\",\"n_boots\":15,\"ratios\":[],\"slower\":[{slower}]}}\n\
             //- /proc/sys/kernel/random/boot_id\n{boot}\n"
        )
    }

    #[test]
    fn a_firmware_that_came_with_the_loss_is_named_with_both_versions() {
        assert_eq!(
            verdict(&CHECK, &host(BIOS, SINGLE, "b-1")),
            "medium: slower since 2026-05-12: BIOS 2.1 -> 2.3: single-core speed 19 % lower (18 to 20 %)"
        );
        let found = findings(&CHECK, &host(BIOS, &format!("{SINGLE},{MEMORY}"), "b-1"));
        assert!(found[0].message.ends_with("20 %), memory latency 12 % longer (10 to 14 %)"));
        assert_eq!(found[0].evidence[0].value, "2.1 -> 2.3");
        assert!(found[0].fix.lasting.as_ref().unwrap().contains("the version before"));
    }

    #[test]
    fn a_loss_without_a_change_is_said_to_be_one_and_a_latency_alone_is_low() {
        assert_eq!(
            verdict(&CHECK, &host("", MEMORY, "b-1")),
            "low: slower since 2026-05-12, and nothing changed that is recorded: memory latency 12 % longer (10 to 14 %)"
        );
    }

    #[test]
    fn no_loss_and_one_of_half_a_percent_are_clean() {
        assert_eq!(verdict(&CHECK, &host("", "", "b-1")), "clean");
        let little = SINGLE.replace("-0.19", "-0.005");
        assert_eq!(verdict(&CHECK, &host(BIOS, &little, "b-1")), "clean");
    }

    #[test]
    fn the_baseline_of_another_boot_says_nothing_of_this_one() {
        assert_eq!(
            verdict(&CHECK, &host(BIOS, SINGLE, "b-2")),
            "unknown: a baseline of this boot cannot be read: the last one is of an earlier boot, of 2026-05-14; `fullclock baseline` takes one"
        );
        assert!(verdict(&CHECK, "").starts_with("not applicable: "));
    }
}
