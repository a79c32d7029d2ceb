//! Compares the clock that Linux asks for with the one that the hardware runs at.
//!
//! Sources: see `asked` and facts::cpu::delivered. It cannot know who holds the clock, nor judge a CPU that does not work.

mod asked;
mod finding;
mod judged;
mod platform;

use super::{clock_below_minimum, clock_modulation, prochot_asserted, thermal_throttling};
use crate::check::{Check, Reference, Verdict};
use crate::checks::frequency::capped_frequency;
use crate::checks::power::undervoltage;
use crate::finding::{Finding, Moment, Severity};
use facts::{CpuSet, HostView, Missing};
use judged::{Judged, Low, low, of_mainframe, of_policies};

pub(crate) const CHECK: Check = Check {
    id: "clock-not-delivered",
    title: "the hardware runs slower than Linux asks",
    doc: "\
## What it looks at
What is asked of each CPU: the governor `performance`; a `scaling_min_freq` that is the `scaling_max_freq`; or load, where the
governor or the driver follows it. At most the nominal clock counts, and no more than `scaling_max_freq`, `bios_limit` and
`max_perf_pct` allow. Against it the clock that the hardware has, by the most telling of these:

- APERF and MPERF (x86, root), or CPPC's `feedback_ctrs`, over a look of 50 ms. Only an audit or a capture of this machine looks, and not at
  CPUs that are kept free of interruptions (isolated, nohz_full).
- `feedback_ctrs` since boot, with `reference_perf` and `nominal_perf`: the counts alone are no share of the nominal clock.
- `cpuinfo_cur_freq` (root), and `clock` of POWER in /proc/cpuinfo.
- \"cpu MHz\" of x86 and `cpuinfo_avg_freq`: a sample of some milliseconds. Where that file says that there is none (EAGAIN), the CPU
  was idle, and its `cpuinfo_cur_freq` is no evidence. `fullclock audit --look 2s` takes up to ten such samples where no counter can be
  read, and the middle one of a CPU that worked for most of the time decides.

A mainframe asks by itself: \"cpu MHz dynamic\" against \"cpu MHz static\". Below 90 % it is not delivered; where nothing tells the
nominal clock, below half of the highest. Nothing is said of idle CPUs: those that ran for less than a tenth of the look, by /proc/stat where no counter
tells (two fifths for a sample), and without a look those of a host that worked for less than a twentieth of the time since boot. Which
process happens to run at the instant of reading does not count. The severity follows the share that is
missing; it is a step lower where other CPUs have the clock that Linux asks for, and where only load asks for it. CPUs with a finding of
clock-below-minimum, prochot-asserted, clock-modulation, thermal-throttling or undervoltage, or with a limit in a register, are left out, unless one of them holds
all CPUs at this moment and says no clock.

## Why it matters
Firmware, a board, a controller on the chip or a power supply holds the clock, and Linux does not know: it shows its request
as the clock. An arm64 board whose clock could not be changed said 2600 MHz and ran at 800. Without root
it is the only sign on Intel, and on POWER and arm64 often the only one at all.

## When to leave it alone
Turbo clocks differ between the cores of a processor that prefers some of them (`amd_pstate_prefcore_ranking`): that is no finding, because nothing
above the nominal clock is promised. Under vector code (AVX-512, AMX) Intel's processors run below the nominal clock by design, and under full load within a power limit
they may, too: look again under another load. Counters since boot also count the time before the governor was set.
",
    references: &[
        Reference {
            title: "Linux: CPU Performance Scaling, Policy Interface in sysfs",
            url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html#policy-interface-in-sysfs",
        },
        Reference {
            title: "Linux: Collaborative Processor Performance Control (CPPC)",
            url: "https://docs.kernel.org/admin-guide/acpi/cppc_sysfs.html",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Hardware Feedback using MPERF and APERF",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    host.platform.hides("the clock of the processor")?;
    let (judged, mut unknown) =
        if host.cpuinfo.as_ref().is_ok_and(|it| !it.static_clocks.is_empty()) {
            (of_mainframe(host), None)
        } else {
            of_policies(host)?
        };
    if judged.is_empty() {
        return Err(unknown.unwrap_or_else(|| {
            let because = "no governor or limit asks for one, and no busy CPU was looked at";
            Missing::not_here("clock that must be delivered", because)
        }));
    }
    for it in judged.iter().filter(|it| it.readings.is_empty()) {
        let missing = || it.policy.map(|policy| asked::unreadable(host, policy, it.cpu));
        unknown = unknown.or_else(missing);
    }
    let Some(low) = low(host, &judged)? else {
        return unknown.map_or(Ok(Vec::new()), Err);
    };
    let said = said_already(host);
    let is_left = |it: &&Judged<'_>| !said.contains(it.cpu);
    let left: Vec<&Judged<'_>> = low.cpus.iter().copied().filter(is_left).collect();
    if left.is_empty() {
        if is_effect(host, &low.cpus) {
            return Ok(vec![finding::of(host, &low)]);
        }
        return Err(Missing::not_here("low clock that no other finding explains", SAID));
    }
    let is_all = low.is_all && left.len() == low.cpus.len();
    Ok(vec![finding::of(host, &Low { cpus: left, is_all, work: low.work })])
}

const SAID: &str = "another finding says it of the same CPUs";

/// Whether one of the checks that say no clock holds all of these CPUs at the moment: then this is its effect, which says how much is lost.
fn is_effect(host: &HostView, low: &[&Judged<'_>]) -> bool {
    let low: CpuSet = low.iter().map(|it| it.cpu).collect();
    let covers = |it: &Finding| {
        let is_live = it.held.moment == Moment::Now && it.severity >= Severity::Medium;
        is_live && it.cpus.as_ref().is_some_and(|it| low.minus(&it.cpus).is_empty())
    };
    let found = |check: &Check| (check.run)(host).unwrap_or_default();
    let says_no_clock =
        [&thermal_throttling::CHECK, &prochot_asserted::CHECK, &undervoltage::CHECK];
    let is_held = says_no_clock.into_iter().any(|it| found(it).iter().any(covers));
    is_held
        && found(&clock_below_minimum::CHECK).is_empty()
        && found(&clock_modulation::CHECK).is_empty()
}

/// The CPUs of which another check says that they are held, at medium or above.
fn said_already(host: &HostView) -> CpuSet {
    let mut said = CpuSet::default();
    for check in [
        &clock_below_minimum::CHECK,
        &thermal_throttling::CHECK,
        &prochot_asserted::CHECK,
        &clock_modulation::CHECK,
        &undervoltage::CHECK,
        &capped_frequency::CHECK,
    ] {
        let found = (check.run)(host).unwrap_or_default();
        // What was there at some time since boot does not say why a clock is low at this moment.
        let holds =
            |it: &&Finding| it.held.moment == Moment::Now && it.severity >= Severity::Medium;
        for it in found.iter().filter(|it| holds(it) || is_below(check)) {
            // The limits of policies are part of what is asked for.
            let sources = it.evidence.iter().map(|it| it.source.as_str());
            // What shows which programs run says nothing of the limit.
            let is_limit = |it: &&str| it.starts_with("/sys/") || it.starts_with("/dev/");
            let is_policy =
                sources.filter(is_limit).all(|it| it.starts_with("/sys/devices/system/cpu/"));
            if check.id == capped_frequency::CHECK.id && is_policy {
                continue;
            }
            said.extend(it.cpus.iter().flat_map(|it| it.cpus.iter()));
        }
    }
    said
}

/// It says the same thing, however sure it is.
fn is_below(check: &Check) -> bool {
    check.id == clock_below_minimum::CHECK.id
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::finding::Confidence;
    use crate::fixture::{findings, verdict};

    const CPU: &str = "/sys/devices/system/cpu";

    /// Two CPUs with these lines of /proc/cpuinfo for each, and these files of both policies, `FILE VALUE` a line.
    fn host(cpuinfo: &str, policy: &str, rest: &str) -> String {
        let files = |number: u32| -> String {
            let file = |line: &str| {
                let (file, value) = line.split_once(' ').unwrap();
                format!("//- {CPU}/cpufreq/policy{number}/{file}\n{value}\n")
            };
            policy.lines().map(file).collect()
        };
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\n{cpuinfo}processor : 1\n{cpuinfo}//- {CPU}/online\n0-1\n{}{}{rest}",
            files(0),
            files(1)
        )
    }

    /// A quarter of the time since boot, and a hundredth.
    const BUSY: &str = "//- /proc/stat\ncpu0 9000 0 0 1000 0 0 0 0 0 0\n";
    const IDLE: &str = "//- /proc/stat\ncpu0 100 0 0 9900 0 0 0 0 0 0\n";

    const PI: &str = "scaling_driver raspberrypi-cpufreq\nscaling_governor performance\n\
                      scaling_min_freq 600000\nscaling_max_freq 1000000\ncpuinfo_min_freq 600000\n\
                      cpuinfo_max_freq 1000000\ncpuinfo_cur_freq 666666\nscaling_cur_freq 1000000";

    const ARM: &str = "CPU part : 0xd80\n";

    #[test]
    fn a_board_that_runs_slower_than_performance_asks_is_high_with_the_share_that_is_lost() {
        let slow = host(ARM, PI, BUSY);
        assert_eq!(
            verdict(&CHECK, &slow),
            "high: governor performance asks for 1000 MHz, and the hardware runs at 667 MHz [all 2 CPUs]"
        );
        let finding = findings(&CHECK, &slow).remove(0);
        assert_eq!(finding.confidence, Confidence::Medium);
        assert_eq!(finding.cost.unwrap().estimate, "33 % of the clock while it lasts");
        assert_eq!(finding.evidence[1].value, "666666");
        let full = slow.replace("cur_freq\n666666", "cur_freq\n1000000");
        assert_eq!(verdict(&CHECK, &full), "clean");
        // As much as a limit allows is delivered.
        let limited = slow.replace("max_freq\n1000000", "max_freq\n666666");
        assert_eq!(verdict(&CHECK, &limited), "clean");
    }

    #[test]
    fn less_than_a_limit_allows_is_a_finding_whatever_program_may_have_written_the_limit() {
        let limited = host(ARM, PI, BUSY)
            .replace("scaling_max_freq\n1000000", "scaling_max_freq\n800000")
            .replace("cpuinfo_cur_freq\n666666", "cpuinfo_cur_freq\n400000");
        let tuner = "//- /proc/9/stat\n9 (auto-cpufreq) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 500\n";
        for host in [limited.clone(), limited + tuner] {
            let told = verdict(&CHECK, &host);
            assert!(told.starts_with("high: governor performance asks for 800 MHz"), "{told}");
        }
    }

    #[test]
    fn one_cpu_of_two_is_a_step_lower_and_less_sure() {
        let one = host(ARM, PI, BUSY).replacen("cur_freq\n666666", "cur_freq\n1000000", 1);
        assert!(verdict(&CHECK, &one).starts_with("medium: "), "{}", verdict(&CHECK, &one));
        assert_eq!(findings(&CHECK, &one)[0].confidence, Confidence::Low);
    }

    #[test]
    fn an_idle_host_says_nothing_and_one_of_which_that_is_not_known_says_it_with_little_confidence()
    {
        let idle = verdict(&CHECK, &host(ARM, PI, IDLE));
        assert_eq!(
            idle,
            "unknown: the clock of a busy CPU cannot be read: the CPUs were idle, or which of them worked is unknown"
        );
        let unknown = host(ARM, PI, "");
        assert!(verdict(&CHECK, &unknown).starts_with("high: "));
        assert_eq!(findings(&CHECK, &unknown)[0].confidence, Confidence::Low);
        let one = unknown.replacen("cur_freq\n666666", "cur_freq\n1000000", 1);
        assert!(verdict(&CHECK, &one).starts_with("unknown: "), "{}", verdict(&CHECK, &one));
    }

    #[test]
    fn a_clock_that_only_root_may_read_is_unknown_and_one_that_nobody_asks_for_is_no_matter() {
        let denied = host(ARM, PI, BUSY).replace("cur_freq\n666666", "cur_freq\n!denied");
        assert_eq!(
            verdict(&CHECK, &denied),
            format!("unknown: {CPU}/cpufreq/policy0/cpuinfo_cur_freq may not be read")
        );
        let dynamic = host(ARM, PI, BUSY).replace("performance", "schedutil");
        assert!(verdict(&CHECK, &dynamic).starts_with("not applicable: "));
        let fixed = dynamic.replace("min_freq\n600000", "min_freq\n1000000");
        assert!(verdict(&CHECK, &fixed).contains("scaling_min_freq and scaling_max_freq ask for"));
        assert!(
            verdict(
                &CHECK,
                &host(ARM, PI, BUSY).replace("governor\nperf", "governor\n!denied\n//- /x\n")
            )
            .starts_with("unknown: ")
        );
    }

    const CPPC: &str = "scaling_driver cppc_cpufreq\nscaling_governor performance\nscaling_min_freq 800000\n\
                        scaling_max_freq 2600000\ncpuinfo_min_freq 800000\ncpuinfo_max_freq 2600000\nscaling_cur_freq 2600000";

    /// The counters of a board whose clock could not be changed.
    fn cppc() -> String {
        let levels = "reference_perf 1000\nnominal_perf 3150\nlowest_perf 970\nlowest_freq 800\nnominal_freq 2600";
        let of = |cpu: u32| -> String {
            let file = |line: &str| {
                let (file, value) = line.split_once(' ').unwrap();
                format!("//- {CPU}/cpu{cpu}/acpi_cppc/{file}\n{value}\n")
            };
            let counters = file("feedback_ctrs ref:746123548456952 del:600147015590292");
            counters + &levels.lines().map(file).collect::<String>()
        };
        host(ARM, CPPC, BUSY) + &of(0) + &of(1)
    }

    #[test]
    fn feedback_counters_count_at_a_level_of_their_own() {
        assert_eq!(
            verdict(&CHECK, &cppc()),
            "high: governor performance asks for 2600 MHz, and the hardware has run at 663 MHz on average since boot (CPPC level 804, where 3150 is nominal) [all 2 CPUs]"
        );
        let finding = findings(&CHECK, &cppc()).remove(0);
        assert_eq!(finding.confidence, Confidence::Medium);
        assert_eq!(finding.cost.unwrap().estimate, "74 % of the clock since boot");
        let shown: Vec<&str> = finding.evidence.iter().map(|it| &*it.value).collect();
        assert_eq!(shown[1..], ["ref:746123548456952 del:600147015590292", "1000", "3150"]);
        // At the nominal level it is delivered.
        let nominal = cppc().replace("reference_perf\n1000", "reference_perf\n3917");
        assert_eq!(verdict(&CHECK, &nominal), "clean");
    }

    #[test]
    fn what_the_hardware_does_now_counts_more_than_what_it_did_since_boot() {
        let now = |delivered: u64| {
            let look = |cpu| {
                format!(
                    "//- twice {CPU}/cpu{cpu}/acpi_cppc/feedback_ctrs\nref:1000 del:1000\nref:2000 del:{}\n",
                    1000 + delivered
                )
            };
            cppc() + &look(0) + &look(1)
        };
        assert_eq!(verdict(&CHECK, &now(3150)), "clean");
        let slow = findings(&CHECK, &now(800)).remove(0);
        assert_eq!(slow.confidence, Confidence::High);
        assert!(slow.message.ends_with("runs at 660 MHz (CPPC level 800, where 3150 is nominal)"));
    }

    const INTEL: &str = "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\n\
                         model name : Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\nflags : ida hwp aperfmperf\n";

    const PSTATE: &str = "scaling_driver intel_pstate\nscaling_governor performance\nscaling_min_freq 800000\n\
                          scaling_max_freq 3700000\ncpuinfo_min_freq 800000\ncpuinfo_max_freq 3700000";

    /// Two CPUs that report this clock, and ran for so much of a look at so many MHz.
    fn looked_at(mhz: u64, looks: [(u64, u64); 2], policy: &str) -> String {
        let cpuinfo = format!("{INTEL}cpu MHz : {mhz}\n");
        let look = |(cpu, (percent, mhz)): (usize, (u64, u64))| {
            // The time stamp counter has 2100 MHz.
            let (tsc, mperf) = (105_000_000, 1_050_000 * percent);
            let aperf = mperf * mhz / 2100;
            format!(
                "//- twice TSC, MPERF and APERF of CPU {cpu}\n0 1 1 1\n50000000 {} {} {}\n",
                tsc + 1,
                mperf + 1,
                aperf + 1
            )
        };
        host(&cpuinfo, policy, BUSY) + &looks.into_iter().enumerate().map(look).collect::<String>()
    }

    #[test]
    fn busy_cpus_that_are_looked_at_decide_and_idle_ones_say_nothing() {
        let of = |looks| verdict(&CHECK, &looked_at(900, looks, PSTATE));
        assert_eq!(
            of([(90, 1000), (3, 900)]),
            "high: governor performance asks for 2100 MHz, and the hardware runs at 1000 MHz [CPU 0 (1 of 2)]"
        );
        assert_eq!(of([(90, 2100), (3, 900)]), "clean");
        assert!(of([(3, 900), (3, 900)]).starts_with("unknown: the clock of a busy CPU"));
        let slow = looked_at(900, [(90, 1000), (90, 1900)], PSTATE);
        assert!(verdict(&CHECK, &slow).starts_with("medium: "), "{}", verdict(&CHECK, &slow));
        assert_eq!(findings(&CHECK, &slow)[0].confidence, Confidence::High);
    }

    #[test]
    fn busy_cpus_ask_where_the_clock_follows_load_and_a_short_burst_of_one_does_not() {
        let hwp = PSTATE.replace("performance", "powersave");
        let of = |looks| verdict(&CHECK, &looked_at(900, looks, &hwp));
        assert!(of([(99, 900), (99, 900)]).starts_with("medium: busy CPUs ask for 2100 MHz"));
        assert!(of([(99, 1500), (2, 900)]).starts_with("not applicable: "));
        assert!(of([(99, 800), (2, 900)]).starts_with("medium: "));
        let saving = format!("{hwp}\nenergy_performance_preference power");
        let saved = looked_at(900, [(99, 900), (99, 900)], &saving);
        assert!(verdict(&CHECK, &saved).starts_with("not applicable: "));
    }

    #[test]
    fn a_sample_below_the_highest_turbo_is_no_fault_where_the_nominal_clock_is_unknown() {
        let unnamed = |mhz: u64| {
            let cpuinfo = "vendor_id : GenuineIntel\nflags : ida hwp aperfmperf\n";
            host(&format!("{cpuinfo}cpu MHz : {mhz}\n"), PSTATE, BUSY)
        };
        assert_eq!(verdict(&CHECK, &unnamed(2000)), "clean");
        assert!(verdict(&CHECK, &unnamed(1000)).starts_with("high: "));
    }

    #[test]
    fn samples_of_cpus_that_may_all_have_been_idle_say_nothing() {
        let of = |share: &str| {
            let busy = format!("//- /proc/stat\ncpu0 {share} 0 0 0 0 0 0\n");
            verdict(&CHECK, &host(&format!("{INTEL}cpu MHz : 1000\n"), PSTATE, &busy))
        };
        assert!(of("1000 0 0 9000").starts_with("unknown: "), "{}", of("1000 0 0 9000"));
        assert!(of("9000 0 0 1000").starts_with("high: "), "{}", of("9000 0 0 1000"));
    }

    /// Two CPUs of 2100 MHz without a counter of their clock, which the kernel shows as so many MHz.
    fn sampled(mhz: u64) -> String {
        host(&format!("{}cpu MHz : {mhz}\n", INTEL.replace("aperfmperf", "")), PSTATE, "")
    }

    /// What the host said at one of twenty instants: another process runs on another CPU, or none does.
    fn instant(at: u64, look: Option<[u64; 2]>) -> String {
        let sample = sampled(990 + at % 7);
        let state = if at.is_multiple_of(3) { 'S' } else { 'R' };
        let fields = "0 ".repeat(16);
        let process = format!(
            "//- /proc/{at}/stat\n{at} (work) {state} 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 500 {fields}{} 0 0 0 0 0 0\n",
            at % 2
        );
        let (busy, idle) = (2000 + 3 * at, 8000 + 2 * at);
        let times = format!(
            "//- /proc/stat\ncpu0 {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu1 {busy} 0 0 {idle} 0 0 0 0 0 0\n"
        );
        let look = look.map_or(String::new(), |[one, two]| {
            format!("//- twice /proc/stat\n0 0:0:0 1:0:0\n50000000 0:{one}:5 1:{two}:5\n")
        });
        format!("{sample}{process}{times}{look}")
    }

    #[test]
    fn which_process_happens_to_run_at_the_instant_of_reading_decides_nothing() {
        let verdicts = |look: &dyn Fn(u64) -> Option<[u64; 2]>| {
            let all = (0..20).map(|at| verdict(&CHECK, &instant(at, look(at))));
            let words =
                all.map(|it| it.split_once(' ').map_or(it.clone(), |(word, _)| word.to_owned()));
            words.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        // Four of five ticks at least one of them worked.
        assert_eq!(verdicts(&|at| Some([2 + at % 4, 5 - at % 4])), ["high:"]);
        assert_eq!(verdicts(&|_| Some([0, 1])), ["unknown:"]);
        // A copy has no look: they worked for a fifth of the time, and may both have been idle.
        assert_eq!(verdicts(&|_| None), ["unknown:"]);
        let busy = findings(&CHECK, &instant(4, Some([5, 5]))).remove(0);
        assert_eq!(busy.confidence, Confidence::Medium);
    }

    #[test]
    fn an_idle_cpu_beside_a_busy_one_that_has_its_clock_is_not_low() {
        let one = instant(4, Some([5, 0])).replacen("cpu MHz : 994", "cpu MHz : 2100", 1);
        assert_eq!(verdict(&CHECK, &one), "clean");
    }

    #[test]
    fn a_look_decides_by_the_middle_one_of_several_samples_of_a_cpu_that_worked() {
        use crate::fixture::watched::watched;
        use facts::Hertz;
        let look = |mhz: [u64; 3], ticks: u64| {
            let text = sampled(mhz[2])
                + &format!(
                    "//- twice /proc/stat\n0 0:0:0 1:0:0\n2000000000 0:{ticks}:200 1:0:200\n"
                );
            let mut host = watched(&text, &text, &[], &[]);
            let clocks = mhz.map(Hertz::from_mhz).to_vec();
            if let Some(watched) = &mut host.watched {
                watched.clocks = [(0, clocks)].into_iter().collect();
            }
            (CHECK.run)(&host).map_err(|it| it.reason())
        };
        let low = look([2100, 900, 880], 190).unwrap().remove(0);
        assert_eq!(
            low.message,
            "governor performance asks for 2100 MHz, and the hardware runs at 900 MHz"
        );
        assert_eq!(low.confidence, Confidence::High);
        let shown = &low.evidence[1];
        assert!(shown.source.ends_with("3 readings in the 2 s that were looked at"), "{shown:?}");
        assert_eq!(shown.value, "880 MHz to 2100 MHz, busy for 95 % of it");
        assert_eq!(look([2100, 900, 2100], 190), Ok(Vec::new()));
        assert!(look([900, 900, 900], 4).is_err());
    }

    #[test]
    fn what_another_finding_says_of_these_cpus_is_not_said_again() {
        let stopped = host(&format!("{INTEL}cpu MHz : 400\n"), PSTATE, BUSY);
        let told = "not applicable: no low clock that no other finding explains here: another finding says it of the same CPUs";
        assert_eq!(verdict(&CHECK, &stopped), told);
    }

    #[test]
    fn a_request_that_was_read_back_does_not_outweigh_a_sample() {
        let table = PSTATE.replace("intel_pstate", "acpi-cpufreq") + "\ncpuinfo_cur_freq 2100000";
        let slow = host(&format!("{INTEL}cpu MHz : 1000\n"), &table, BUSY);
        assert!(verdict(&CHECK, &slow).starts_with("high: "), "{}", verdict(&CHECK, &slow));
    }

    #[test]
    fn a_mainframe_that_runs_slower_than_it_was_made_for_is_reported() {
        let s390 = |mhz: u32| {
            format!(
                "//- /proc/cpuinfo\nvendor_id : IBM/S390\ncpu number : 0\ncpu MHz dynamic : {mhz}\ncpu MHz static : 5000\n\
                 //- {CPU}/online\n0\n"
            )
        };
        assert_eq!(
            verdict(&CHECK, &s390(4000)),
            "high: the processor was made for 5000 MHz, and the hardware runs at 4000 MHz [CPU 0 (1 of 1)]"
        );
        assert_eq!(verdict(&CHECK, &s390(5000)), "clean");
    }

    #[test]
    fn a_guest_is_unknown() {
        let guest = host(&INTEL.replace("ida", "ida hypervisor"), PSTATE, BUSY);
        assert!(verdict(&CHECK, &guest).starts_with("unknown: the clock of the processor"));
    }
}
