//! Looks at the accounted run time of the kernel threads kipmi0, kipmi1 ... that poll a BMC.
//!
//! Sources: drivers/char/ipmi/ipmi_si_intf.c (`ipmi_thread`), fs/proc/base.c (`proc_pid_schedstat`). It sees the
//! average since the thread started, not the seconds in which somebody reads the sensors.

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Confidence, Finding};
use crate::loss_scale::{self, Lost};
use facts::system::ipmi::{Ipmi, PollingThread};
use facts::system::kernel_config::KernelConfig;
use facts::{HostView, Missing, Why};
use std::time::Duration;

pub(crate) const CHECK: Check = Check {
    id: "kipmid-busy",
    title: "a kernel thread that polls the BMC takes CPU time",
    doc: "\
## What it looks at
The run time of the kernel threads kipmi0, kipmi1 ... as the scheduler accounts it in nanoseconds
(`/proc/PID/schedstat`, first field), over the time since the thread started. `ps` and `top` are no witness:
they count samples at timer ticks, and a thread that always sleeps before the tick shows 0 % while it
burns most of a CPU.

## Why it matters
A BMC behind a KCS or SMIC interface without an interrupt is polled: while a request is open, kipmiN
asks again and again. Every sensor sweep of a monitoring agent opens hundreds of requests. Case studies and
vendors' notes report 10 to 100 % of a CPU, for weeks. The thread has nice 19, so an idle core hides it; on a
loaded host it takes cycles, cache and turbo headroom from the core it runs on.

`kipmid_max_busy_us` limits how long the thread asks without a rest. Beyond it each wait costs a whole tick: 1 ms at CONFIG_HZ=1000, 4 ms at 250,
10 ms at 100. The limit trades the time of a sweep for the CPU it takes, and an agent may run into its timeout.
Measured with ten full sweeps of the sensors and the event log on a kernel that does not sleep, with CONFIG_HZ=1000, as elapsed
seconds and true CPU use: no limit 22 s, 103 %; 500: 24 s, 69 %; 200: 42 s, 47 %; 100: 68 s, 18 %. With fewer ticks a sweep takes up to so many
times longer. Kernels since 5.4, and updates of older ones (4.14, 4.19 and SLES since October
2019), sleep 100 to 200 microseconds between two questions by themselves (340ff31ab00b), so that a limit of 100 is over after one of them: there it saves a few percent of a CPU and multiplies the time of a sweep.
`fullclock ipmi tune` measures what suits a controller and its kernel.

## When to leave it alone
Below 1 % since boot nothing is lost that can be measured. During a firmware update of the BMC the thread
must spin. What fixes the cause, in this order: newer BMC firmware (many BMCs give their sensor repository no
usable timestamp, so every client fetches all records again each time); a client that stays up, fetches the records
once and then only the readings; polling less often, or taking events instead.
",
    references: &[
        Reference {
            title: "Linux: The Linux IPMI Driver, The SI Driver (kipmid_max_busy_us)",
            url: "https://docs.kernel.org/driver-api/ipmi.html#the-si-driver",
        },
        Reference {
            title: "Red Hat: kipmi kernel helper thread kipmi0 is generating high CPU load",
            url: "https://access.redhat.com/solutions/21322",
        },
        Reference {
            title: "SUSE: kipmi uses lots of cpu time",
            url: "https://www.suse.com/support/kb/doc/?id=000017027",
        },
    ],
    run,
};

/// The lowest limit that the module's own description advises ("set to 100-500").
const ADVISED_BUSY_US: u64 = 100;

/// Linux 5.4 lets the thread sleep between two questions (340ff31ab00b, "ipmi_si: Only schedule continuously in the thread in maintenance
/// mode"). Longterm kernels took it over (4.14.148, 4.19.78), and so did distributions: only kernels before all of these probably spin.
const MAY_SLEEP_SINCE: (u32, u32) = (4, 4);

/// IPMI_MAX_INTFS in ipmi_si_intf.c: more interfaces have no parameter.
const MOST_INTERFACES: usize = 4;

/// Younger averages are mostly about the boot, when the driver and the first agent read everything once.
const SETTLED: Duration = Duration::from_secs(3600);

fn run(host: &HostView) -> Verdict {
    let threads = host.ipmi.threads.as_ref()?;
    if threads.is_empty() {
        return Err(Missing::not_here("polling of a BMC", "there is no kernel thread kipmi0"));
    }
    let uptime = *host.kernel.uptime.as_ref()?;
    let mut findings = Vec::new();
    let mut unknown = None;
    for thread in threads {
        match thread.share(uptime) {
            Ok(share) => match judge(host, thread, uptime, share) {
                Some(finding) => findings.push(finding),
                None => unknown = unknown.or_else(|| may_have_run_longer(thread)),
            },
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match unknown {
        Some(missing) if findings.is_empty() => Err(missing),
        _ => Ok(findings),
    }
}

/// Why little run time is no proof of little, where only ticks show it.
fn may_have_run_longer(thread: &PollingThread) -> Option<Missing> {
    let missing = thread.only_ticks.clone()?;
    let because = "ticks show less than 1 % of a CPU, and it may have run for longer between them";
    let what = format!("the run time of kipmi{}", thread.interface);
    let why = Why::Failed(because.to_owned());
    Some(if missing.is_absence() { Missing { what, why } } else { missing })
}

/// 1 % of a CPU is a quarter of an hour a day.
const LEAST: f64 = 0.01;

fn judge(host: &HostView, thread: &PollingThread, uptime: Duration, share: f64) -> Option<Finding> {
    if share < LEAST {
        return None;
    }
    let lost =
        Lost::of(share, loss_scale::is_many(host, 1.0)).at_least_if(thread.only_ticks.is_some());
    let run_time = thread.run_time.as_ref().ok()?;
    let age = uptime.saturating_sub(*thread.started.as_ref().ok()?);
    let confidence = if age < SETTLED { Confidence::Medium } else { Confidence::High };
    let share = 100.0 * share;
    let times =
        format!("{:.0} s of run time in {:.0} s", run_time.as_secs_f64(), age.as_secs_f64());
    let name = format!("kipmi{}", thread.interface);
    let at_least = if thread.only_ticks.is_some() { "at least " } else { "" };
    let message =
        format!("{name} has taken {at_least}{share:.0} % of a CPU since it started: {times}");
    let (source, value) = match thread.only_ticks {
        None => (format!("/proc/{}/schedstat", thread.pid), run_time.as_nanos().to_string()),
        Some(_) => (
            format!("/proc/{}/stat: utime and stime", thread.pid),
            format!("{:.2} s", run_time.as_secs_f64()),
        ),
    };
    let finding = Finding::of_lost(lost, confidence, message)
        .evidence(source, value)
        .cost(format!("{share:.0} % of one CPU on average, more while sensors are read"), times);
    let finding = finding.command(&commands::IPMI_TUNE, "");
    Some(limited(host, finding, thread.interface).fix_lasting(
        "firmware of the BMC first; then a monitoring agent that keeps the sensor records, or asks less often; then the limit that `fullclock ipmi \
         tune` finds, as `options ipmi_si kipmid_max_busy_us=` in /etc/modprobe.d/ipmi.conf or `ipmi_si.kipmid_max_busy_us=` on the boot line",
    ))
}

/// Requests the limit where it is expected to help: the thread of this kernel probably never rests, and a tick is short.
fn limited(host: &HostView, mut finding: Finding, interface: usize) -> Finding {
    let Ok(limits) = &host.ipmi.max_busy_us else { return finding };
    let shown = limits.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    finding = finding.evidence(Ipmi::MAX_BUSY_US, shown);
    // A limit of its own is somebody's choice.
    let has_limit = host.ipmi.max_busy_us(interface) != Ok(0);
    let is_in_reach = interface < MOST_INTERFACES && leaves_others_alone(&host.ipmi, interface);
    if has_limit || !is_in_reach || !rests_shortly(host) {
        return finding;
    }
    finding.fix_by("kipmid-max-busy", ADVISED_BUSY_US.to_string())
}

/// Whether the limit, which the setting gives to every interface, changes nothing for the others: what one takes is no reason to slow down
/// another. `fullclock ipmi tune` looks at them one by one.
fn leaves_others_alone(ipmi: &Ipmi, interface: usize) -> bool {
    let polled = ipmi.threads.iter().flatten().map(|it| it.interface);
    let limits = ipmi.max_busy_us.iter().flatten().enumerate();
    let limited = limits.filter(|&(_, &limit)| limit != 0).map(|(other, _)| other);
    let mut others = polled.chain(limited).filter(|&it| it != interface);
    others.all(|it| ipmi.max_busy_us(it) == Ok(ADVISED_BUSY_US))
}

/// Whether the thread probably spins without a limit, and rests for a millisecond with one.
fn rests_shortly(host: &HostView) -> bool {
    let probably_spins = host.kernel.version().is_ok_and(|it| it < MAY_SLEEP_SINCE);
    let config = host.kernel.config.as_ref().ok();
    probably_spins && config.and_then(KernelConfig::ticks_per_second) == Some(1000)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{findings, verdict};

    /// A host of 32 CPUs up for ten hours, with a kipmi0 that started 0.1 s after boot.
    fn host(schedstat: &str) -> String {
        format!(
            "//- /sys/devices/system/cpu/online\n0-31\n//- /proc/uptime\n36000.10 70000.00\n//- /proc/412/stat\n412 (kipmi0) S 2 0 0 0 -1 2129984 \
             0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n//- /proc/412/schedstat\n{schedstat}\n"
        )
    }

    fn with_limit(text: &str) -> String {
        let path = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";
        host("15480000000000 99 7") + &format!("//- {path}\n{text}")
    }

    #[test]
    fn a_fifth_of_one_cpu_is_medium_among_many_and_high_where_it_is_the_only_one() {
        assert_eq!(
            verdict(&CHECK, &host("15480000000000 99 7")),
            "medium: kipmi0 has taken 43 % of a CPU since it started: 15480 s of run time in 36000 s"
        );
        let alone = host("18000000000000 99 7").replace("0-31", "0");
        assert!(verdict(&CHECK, &alone).starts_with("high: "));
        assert!(verdict(&CHECK, &host("3600000000000 99 7")).starts_with("low: "));
        assert!(verdict(&CHECK, &host("360000000000 99 7")).starts_with("low: "));
    }

    #[test]
    fn below_one_percent_is_clean() {
        assert_eq!(verdict(&CHECK, &host("350000000000 99 7")), "clean");
    }

    #[test]
    fn a_kernel_that_accounts_no_run_time_is_unknown() {
        assert_eq!(
            verdict(&CHECK, &host("0 0 0")),
            "unknown: /proc/412/schedstat: found \"0 0 0\", expected an accounted run time (CONFIG_SCHED_INFO)"
        );
    }

    #[test]
    fn without_that_the_ticks_of_the_thread_are_the_least_that_it_ran() {
        let ticks = |n: u32| {
            let times = format!("0 0 0 0 0 {n} 0 0 39 19");
            host("!absent").replace("0 0 0 0 0 0 0 0 39 19", &times)
        };
        assert_eq!(
            verdict(&CHECK, &ticks(1_548_000)),
            "medium: kipmi0 has taken at least 43 % of a CPU since it started: 15480 s of run time in 36000 s"
        );
        assert_eq!(
            verdict(&CHECK, &ticks(100)),
            "unknown: the run time of kipmi0 cannot be read: ticks show less than 1 % of a CPU, and it may have run for longer between them"
        );
    }

    #[test]
    fn a_host_that_polls_no_bmc_is_not_judged() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/2/stat\n2 (kthreadd) S 0 0 0 0 -1 2129984 0\n"),
            "not applicable: no polling of a BMC here: there is no kernel thread kipmi0"
        );
    }

    #[test]
    fn a_container_that_shows_no_kernel_thread_does_not_vouch_for_the_host() {
        assert_eq!(
            verdict(&CHECK, "//- /proc/1/stat\n1 (init) S 0 1 1 0 -1 4194560 0\n"),
            "unknown: the kernel's threads in /proc cannot be read: a container shows none; run fullclock on the host"
        );
    }

    #[test]
    fn a_process_may_call_itself_kipmi0_and_is_not_one() {
        let excerpt = host("15480000000000 99 7").replace("2129984", "4194560");
        assert!(verdict(&CHECK, &excerpt).starts_with("not applicable: "));
    }

    fn with_kernel(limit: &str, release: &str, hz: u32) -> crate::finding::Fix {
        let kernel = format!(
            "//- /proc/sys/kernel/osrelease\n{release}\n//- /boot/config-{release}\nCONFIG_HZ={hz}\n"
        );
        findings(&CHECK, &(with_limit(limit) + &kernel)).remove(0).fix
    }

    #[test]
    fn a_limit_is_advised_only_where_there_is_none() {
        let commands = |limit| with_kernel(limit, "3.10.0", 1000).now;
        let path = "/sys/module/ipmi_si/parameters/kipmid_max_busy_us";
        assert_eq!(commands("0\n"), [format!("echo 100 > {path}")]);
        assert!(commands("100\n").is_empty());
    }

    #[test]
    fn no_limit_that_somebody_set_and_none_of_another_interface_is_changed() {
        let requests = |limits| with_kernel(limits, "3.10.0", 1000).requests.len();
        assert_eq!((requests("0,0\n"), requests("0,100\n")), (1, 1));
        assert_eq!((requests("500\n"), requests("50\n")), (0, 0));
        assert_eq!((requests("0,500\n"), requests("0,50\n")), (0, 0));
        let second = "//- /proc/413/stat\n413 (kipmi1) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n\
                      //- /proc/413/schedstat\n1000000 99 7\n";
        let requests = |limits: &str| {
            with_kernel(&format!("{limits}\n{second}"), "3.10.0", 1000).requests.len()
        };
        assert_eq!((requests("0,0"), requests("0,100")), (0, 1));
    }

    #[test]
    fn a_limit_is_advised_only_to_a_kernel_that_spins_and_ticks_a_thousand_times_a_second() {
        for (release, hz) in [("5.4.0", 1000), ("4.18.0", 1000), ("6.1.0", 250), ("3.10.0", 250)] {
            let fix = with_kernel("0\n", release, hz);
            assert!(fix.now.is_empty() && fix.apply.is_empty(), "{release} {hz}: {fix:?}");
            assert_eq!(fix.by_hand[0].command, "fullclock ipmi tune", "{fix:?}");
        }
    }
}
