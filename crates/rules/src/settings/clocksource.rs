//! `clocksource`: the clock from which the kernel and every program read the time.
//!
//! Sources: Documentation/timers/timekeeping.rst; kernel/time/clocksource.c. A tsc that the kernel has found unstable
//! is not in available_clocksource, and cannot be chosen.

use crate::check::Reference;
use crate::setting::{Effect, Planned, Refusal, Risk, Scene, Scope, Setting, Survives, Wanted};
use crate::settings::file;
use facts::{HostView, Subject, Subjects};

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

pub(super) const SETTING: Setting = Setting {
    id: "clocksource",
    title: "the clock that programs tell the time by",
    doc: "\
## What it changes
`current_clocksource`: one that `available_clocksource` lists, or `best`, the first of tsc, kvm-clock and
hyperv_clocksource_tsc_page that is listed. Programs read tsc without a system call, and the other two while the hypervisor
marks them as stable, which `fullclock bench timer` shows; `best` leaves any of them as it is. In a guest it takes tsc only
where the processor's flags say constant_tsc and nonstop_tsc: without them the guest may move to a host on which tsc runs at
another speed.

## What it costs
Nothing, where the kernel offers the better clock. A worse one costs every reading of the time a system call and up to
a microsecond; that is refused without `--i-know`.

## When to leave it alone
Where the kernel has dropped tsc because the cores disagree about it: it is not listed then, and forcing it on the
boot line makes time jump.
",
    references: &[Reference {
        title: "Linux: Clock sources, Clock events, sched_clock() and delay timers",
        url: "https://docs.kernel.org/timers/timekeeping.html",
    }],
    takes: "`best`, or a clock that available_clocksource lists",
    scope: Scope::Host,
    effect: Effect::AtOnce,
    survives: Survives::THIS_BOOT,
    risk: Risk::Medium,
    power: "none",
    after: &["tuner"],
    fixes: &["slow-clocksource"],
    reads: &[CURRENT, AVAILABLE],
    looks_at: Subjects::of(&[Subject::Platform, Subject::Cpuinfo]),
    plan,
};

/// From the best to the worst, those that are read without a system call first; what is not listed is of another
/// architecture, or of a hypervisor, and not compared.
const BY_SPEED: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "xen",
    "hyperv_clocksource_msr",
    "hpet",
    "acpi_pm",
    "pit",
    "refined-jiffies",
    "jiffies",
];

/// How many of them are read without a system call.
const FAST: usize = 3;

fn plan(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Planned {
    wanted.for_the_host(SETTING.id)?;
    let current = file::read(scene, CURRENT)?;
    let available = file::read(scene, AVAILABLE)?;
    let offers = |clock: &str| available.split_whitespace().any(|it| it == clock);
    let clock = match wanted.value {
        "best" => best(scene, current, available)?,
        clock if offers(clock) => clock,
        "tsc" => {
            return Err(Refusal::Host(format!(
                "the kernel does not offer tsc, having found it unstable or missing: {AVAILABLE} lists {available}"
            )));
        }
        other => {
            return Err(Refusal::Value(format!("{AVAILABLE} lists {available}, and no {other:?}")));
        }
    };
    if is_worse(clock, current) && !wanted.i_know {
        return Err(Refusal::NeedsConsent(format!(
            "{clock} takes longer to read than {current}, which every program that asks for the time will feel"
        )));
    }
    file::set(scene, CURRENT, clock)
}

/// One that is read without a system call: the current one where it is, or else the first that may be relied on.
fn best<'a>(scene: &Scene<'_>, current: &'a str, available: &'a str) -> Result<&'a str, Refusal> {
    let fast = BY_SPEED.iter().copied().take(FAST);
    if fast.clone().any(|it| it == current) {
        return Ok(current);
    }
    let mut offered = fast.filter(|it| available.split_whitespace().any(|other| other == *it));
    let steady = is_tsc_steady(scene.host, available);
    offered.find(|it| *it != "tsc" || steady).ok_or_else(|| {
        let but = if steady || !available.split_whitespace().any(|it| it == "tsc") {
            ""
        } else {
            ", and neither the processor (constant_tsc, nonstop_tsc) nor Xen promises that tsc is steady here: request tsc by name to have it"
        };
        let text = format!("the kernel offers no fast clock: {AVAILABLE} lists {available}{but}");
        Refusal::Host(text)
    })
}

/// Whether tsc keeps its speed: on bare metal the kernel watches it, in a guest the hypervisor has to promise it.
///
/// Not on Xen: where it promises a steady TSC, the kernel ranks tsc above Xen's clock and has chosen it already
/// (`xen_tsc_safe_clocksource` and `xen_time_init` in arch/x86/xen/time.c, which also look at the TSC mode, shown nowhere). Time that
/// jumps when a guest is moved is worse than a slow clock.
pub(crate) fn is_tsc_steady(host: &HostView, available: &str) -> bool {
    let is_xen =
        host.platform.is_control_domain || available.split_whitespace().any(|it| it == "xen");
    let promised = ["constant_tsc", "nonstop_tsc"];
    let is_promised =
        || host.cpuinfo.as_ref().is_ok_and(|it| promised.iter().all(|flag| it.has(flag)));
    !is_xen && (host.platform.hypervisor == Ok(None) || is_promised())
}

fn is_worse(clock: &str, than: &str) -> bool {
    let rank = |name: &str| BY_SPEED.iter().position(|it| *it == name);
    matches!((rank(clock), rank(than)), (Some(clock), Some(than)) if clock > than)
}

#[cfg(test)]
mod tests {
    use super::SETTING;
    use crate::fixture::planned::{files, planned, planned_knowing};

    fn host(current: &str, available: &str) -> String {
        let folder = "/sys/devices/system/clocksource/clocksource0";
        files(&format!(
            "{folder}/current_clocksource {current}\n{folder}/available_clocksource {available}"
        ))
    }

    fn cpu(flags: &str) -> String {
        files(&format!("/proc/cpuinfo processor : 0\\nvendor_id : GenuineIntel\\nflags : {flags}"))
    }

    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

    #[test]
    fn the_best_clock_that_is_offered_is_chosen() {
        assert_eq!(
            planned(&SETTING, "best", &(host("hpet", "hpet tsc acpi_pm") + &cpu("tsc"))),
            format!("{CURRENT}: hpet -> tsc")
        );
        assert_eq!(planned(&SETTING, "best", &host("kvm-clock", "kvm-clock acpi_pm")), "nothing");
        assert_eq!(
            planned(&SETTING, "kvm-clock", &host("acpi_pm", "kvm-clock acpi_pm")),
            format!("{CURRENT}: acpi_pm -> kvm-clock")
        );
    }

    #[test]
    fn a_clock_that_is_fast_already_stays() {
        assert_eq!(
            planned(&SETTING, "best", &host("kvm-clock", "kvm-clock tsc acpi_pm")),
            "nothing"
        );
    }

    #[test]
    fn a_guest_gets_tsc_only_where_it_is_said_to_keep_its_speed() {
        let plan = |available: &str, flags: &str| {
            planned(&SETTING, "best", &(host("acpi_pm", available) + &cpu(flags)))
        };
        let steady = "hypervisor constant_tsc nonstop_tsc";
        assert_eq!(plan("tsc kvm-clock acpi_pm", steady), format!("{CURRENT}: acpi_pm -> tsc"));
        assert_eq!(
            plan("tsc kvm-clock acpi_pm", "hypervisor constant_tsc"),
            format!("{CURRENT}: acpi_pm -> kvm-clock")
        );
        assert!(plan("tsc acpi_pm", "hypervisor").ends_with("request tsc by name to have it"));
    }

    #[test]
    fn a_clock_of_xen_is_kept_because_the_kernel_takes_tsc_where_xen_promises_it() {
        for flags in
            ["hypervisor", "hypervisor constant_tsc nonstop_tsc", "constant_tsc nonstop_tsc"]
        {
            let plan = planned(&SETTING, "best", &(host("xen", "xen tsc hpet") + &cpu(flags)));
            assert!(plan.starts_with("refused: "), "{flags}: {plan}");
        }
    }

    #[test]
    fn a_worse_clock_needs_consent() {
        let host = host("tsc", "tsc hpet");
        assert_eq!(
            planned(&SETTING, "hpet", &host),
            "consent: hpet takes longer to read than tsc, which every program that asks for the time will feel"
        );
        assert_eq!(planned_knowing(&SETTING, "hpet", &host), format!("{CURRENT}: tsc -> hpet"));
    }

    #[test]
    fn what_the_kernel_does_not_offer_is_refused() {
        let host = host("hpet", "hpet acpi_pm");
        assert!(
            planned(&SETTING, "tsc", &host).starts_with("refused: the kernel does not offer tsc")
        );
        assert!(planned(&SETTING, "best", &host).starts_with("refused: the kernel offers no fast"));
        assert!(
            planned(&SETTING, "sundial", &host).ends_with("lists hpet acpi_pm, and no \"sundial\"")
        );
    }
}
