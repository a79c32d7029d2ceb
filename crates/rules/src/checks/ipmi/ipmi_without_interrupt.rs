//! Looks for an interface to the BMC that the kernel has to poll because it has no interrupt.
//!
//! Source: drivers/char/ipmi/ipmi_si_intf.c: the thread kipmiN is started for every KCS and SMIC interface
//! without an interrupt. It cannot know how often somebody talks to the BMC; `kipmid-busy` measures that.

use crate::check::{Check, Reference, Verdict};
use crate::finding::{Confidence, Finding, Severity};
use facts::system::ipmi::{Interface, PollingThread};
use facts::{HostView, IfPresent, Missing};

pub(crate) const CHECK: Check = Check {
    id: "ipmi-without-interrupt",
    title: "the BMC has no interrupt, so the kernel polls it",
    doc: "\
## What it looks at
The interfaces of the `ipmi_si` driver (`type`, `interrupts_enabled` and `params` below
`/sys/bus/platform/drivers/ipmi_si` and `/sys/bus/pci/drivers/ipmi_si`), and the kernel threads kipmi0,
kipmi1 ... which exist only for interfaces that are polled. Kernels before 4.16 show only the threads.

## Why it matters
With an interrupt, a thread that waits for the BMC sleeps. Without one, the kernel asks the interface again and
again until the BMC has answered, which takes milliseconds for each of the hundreds of requests of one
sensor sweep. It goes unnoticed until a monitoring agent reads sensors: then a core is gone.

## When to leave it alone
Most servers are built this way, and while the thread takes less than 1 % of a CPU (then this is only a note)
there is nothing to do. BT interfaces are asked from a timer and not counted here.
",
    references: &[Reference {
        title: "Linux: The Linux IPMI Driver, The SI Driver",
        url: "https://docs.kernel.org/driver-api/ipmi.html#the-si-driver",
    }],
    run,
};

/// Below this share of a CPU since boot, polling costs nothing that can be measured.
const NOT_WORTH_FIXING: f64 = 0.01;

fn run(host: &HostView) -> Verdict {
    let ipmi = &host.ipmi;
    let Some(interfaces) = ipmi.interfaces.if_present()? else {
        // An old kernel, or none of our business: only a thread tells.
        return match ipmi.threads.as_ref()?.first() {
            Some(thread) => Ok(vec![thread_alone(host, thread)]),
            None => Err(Missing::not_here("BMC interface", "the driver ipmi_si drives none")),
        };
    };
    let mut findings = Vec::new();
    let mut unknown: Option<&Missing> = None;
    for interface in interfaces {
        match interface.is_polled() {
            Ok(true) => findings.push(polled(host, interface)?),
            Ok(false) => {}
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match (unknown, ipmi.threads.as_deref()) {
        (Some(_), Ok([thread, ..])) if findings.is_empty() => Ok(vec![thread_alone(host, thread)]),
        (Some(missing), _) if findings.is_empty() => Err(missing.into()),
        _ => Ok(findings),
    }
}

fn polled(host: &HostView, interface: &Interface) -> Result<Finding, Missing> {
    let kind = interface.kind.as_ref()?;
    let message =
        format!("the {kind} interface to the BMC has no interrupt, so the kernel polls it");
    let mut finding = Finding::new(severity(host), Confidence::High, message)
        .evidence(interface.path("interrupts_enabled"), 0);
    if let Ok(params) = &interface.params {
        finding = finding.evidence(interface.path("params"), params);
    }
    Ok(advised(finding))
}

/// `force_kipmid` starts the thread even where there is an interrupt, so it proves a little less.
fn thread_alone(host: &HostView, thread: &PollingThread) -> Finding {
    let message = format!("kernel thread kipmi{} polls the BMC", thread.interface);
    advised(
        Finding::new(severity(host), Confidence::Medium, message)
            .evidence(format!("/proc/{}/stat", thread.pid), format!("kipmi{}", thread.interface)),
    )
}

fn advised(finding: Finding) -> Finding {
    finding.fix_lasting(
        "firmware that gives the interface an interrupt (ACPI device IPI0001, or SMBIOS type 38), where there is \
         one; else ask the BMC over the network and keep agents on this host from reading its sensors",
    )
}

/// A note where the threads are known to have run less than 1 % of the time.
fn severity(host: &HostView) -> Severity {
    let Ok(uptime) = host.kernel.uptime else { return Severity::Low };
    let threads = host.ipmi.threads.as_deref().unwrap_or_default();
    let is_idle = |it: &PollingThread| it.share(uptime).is_ok_and(|share| share < NOT_WORTH_FIXING);
    if !threads.is_empty() && threads.iter().all(is_idle) { Severity::Info } else { Severity::Low }
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::verdict;

    const THREAD: &str = "\
//- /proc/uptime
36000.10 70000.00
//- /proc/412/stat
412 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 10 0 0
//- /proc/412/schedstat
";

    fn interface(kind: &str, interrupts: &str) -> String {
        let folder = "//- /sys/bus/platform/drivers/ipmi_si/IPI0001:00";
        format!(
            "{folder}/type\n{kind}\n{folder}/interrupts_enabled\n{interrupts}\n\
             {folder}/params\n{kind},i/o,0xca2,rsp=1,rsi=1,rsh=0,irq=0,ipmb=32\n\
             //- /proc/1/stat\n1 (init) S 0 1 1 0 -1 4194560 0\n"
        )
    }

    #[test]
    fn a_kcs_interface_without_interrupt_is_low() {
        assert_eq!(
            verdict(&CHECK, &interface("kcs", "0")),
            "low: the kcs interface to the BMC has no interrupt, so the kernel polls it"
        );
    }

    #[test]
    fn it_is_a_note_where_the_thread_hardly_runs() {
        let excerpt = interface("kcs", "0") + THREAD + "36000000000 99 7\n";
        assert!(verdict(&CHECK, &excerpt).starts_with("info: "));
        let excerpt = interface("kcs", "0") + THREAD + "3600000000000 99 7\n";
        assert!(verdict(&CHECK, &excerpt).starts_with("low: "));
    }

    #[test]
    fn an_interrupt_or_a_timer_needs_no_thread() {
        assert_eq!(verdict(&CHECK, &interface("kcs", "1")), "clean");
        assert_eq!(verdict(&CHECK, &interface("bt", "0")), "clean");
    }

    #[test]
    fn an_old_kernel_shows_only_the_thread() {
        let excerpt = THREAD.to_owned() + "3600000000000 99 7\n";
        assert_eq!(verdict(&CHECK, &excerpt), "low: kernel thread kipmi0 polls the BMC");
    }

    #[test]
    fn a_denied_attribute_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &interface("kcs", "!denied")),
            "unknown: /sys/bus/platform/drivers/ipmi_si/IPI0001:00/interrupts_enabled may not be read"
        );
    }

    #[test]
    fn a_host_without_bmc_is_not_judged() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0\n"),
            "not applicable: no BMC interface here: the driver ipmi_si drives none"
        );
    }
}
