//! Made-up hosts whose findings are joined, and those that are not.

use super::explains::EXPLAINS;
use super::parts::{Kind, PARTS, part_of};
use super::*;
use crate::audit::audit;
use crate::fixture::watched::watched;
use crate::fixture::{XEON, host_of};
use facts::HostView;
use facts::watched::Sight;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The chains of a host, a line each: severity, checks, share, party, program, mechanism; then candidates.
fn diagnosed(excerpt: &str) -> String {
    diagnosed_of(&host_of(excerpt))
}

fn diagnosed_of(host: &HostView) -> String {
    let audit = audit(host);
    let line = |it: &Chain<'_>| {
        let ids: Vec<&str> = it.links().map(|it| it.check.id).collect();
        let loss = it.loss().map_or("?".to_owned(), |it| {
            let bound = match it.bound {
                Bound::Measured => "",
                Bound::AtLeast => ">= ",
                Bound::AtMost => "<= ",
            };
            format!("{bound}{:.0} %", 100.0 * it.share)
        });
        let party = it.party().map_or("nobody known", Party::name);
        let program = it.program().map_or(String::new(), |it| format!(" {it}"));
        let candidates: Vec<&str> = it.candidates.iter().map(|it| it.check.id).collect();
        format!(
            "{}: {} {loss}: {party}{program}, {}{}",
            it.severity().name(),
            ids.join(" -> "),
            it.mechanism(),
            if candidates.is_empty() {
                String::new()
            } else {
                format!("; perhaps {}", candidates.join(", "))
            }
        )
    };
    chains(&audit).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// [`XEON`] (2400 MHz nominal, 1000 at least) whose CPUs report this clock, each with a busy process on it, and have these values of
/// 0x19A and 0x19C; 0x1B1 says the same, and 0x64F nothing.
fn xeon(mhz: u32, modulation: &str, status: &str) -> String {
    let flags = "flags : acpi tm2 est ida pln pts epb hwp";
    let block = |cpu: u32| {
        format!(
            "processor : {cpu}\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz\n{flags}\ncpu MHz : {mhz}.000\n\n"
        )
    };
    let rest = XEON.split_once(flags).unwrap().1.trim_start();
    let mut text = format!("//- /proc/cpuinfo\n{}{rest}", (0..4).map(block).collect::<String>());
    for cpu in 0..4 {
        let pid = 100 + cpu;
        let policy = format!("//- /sys/devices/system/cpu/cpufreq/policy{cpu}");
        for (file, value) in POLICY {
            write!(text, "{policy}/{file}\n{value}\n").unwrap();
        }
        write!(text, "{policy}/affected_cpus\n{cpu}\n{policy}/scaling_cur_freq\n{mhz}000\n")
            .unwrap();
        let before = "1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 500";
        let fields = "0 ".repeat(16);
        write!(
            text,
            "//- /dev/cpu/{cpu}/msr 0x19a\n{modulation}\n//- /dev/cpu/{cpu}/msr 0x19c\n{status}\n\
             //- /proc/{pid}/stat\n{pid} (work) R {before} {fields}{cpu} 0 0 0 0 0 0\n"
        )
        .unwrap();
    }
    text + &format!("//- /dev/cpu/0/msr 0x1b1\n{status}\n//- /dev/cpu/0/msr 0x64f\n0x0\n")
}

/// What every policy says: the driver obeys the governor, which wants the highest clock.
const POLICY: [(&str, &str); 6] = [
    ("scaling_driver", "intel_cpufreq"),
    ("scaling_governor", "performance"),
    ("scaling_min_freq", "1000000"),
    ("scaling_max_freq", "3700000"),
    ("cpuinfo_min_freq", "1000000"),
    ("cpuinfo_max_freq", "3700000"),
];

const COOL: &str = "0x88450000";
const PULLED: &str = "0x881f000c";
const LOGGED: &str = "0x881f0008";

#[test]
fn parts_and_relations_name_checks_and_no_relation_leads_back() {
    let ids: BTreeSet<&str> = CHECKS.iter().map(|it| it.id).collect();
    for part in PARTS {
        assert!(ids.contains(part.check), "{}", part.check);
        let is_cause = part.kind == Kind::Mechanism;
        assert_eq!(is_cause, !part.action.is_empty(), "{}", part.check);
    }
    let mut below: BTreeSet<(&str, &str)> = BTreeSet::new();
    for it in EXPLAINS {
        let (cause, effect) = (part_of(it.cause).unwrap(), part_of(it.effect).unwrap());
        assert_eq!(cause.kind, Kind::Mechanism, "{}", it.cause);
        assert_eq!(cause.of, effect.of, "{} {}", it.cause, it.effect);
        assert!(below.insert((it.cause, it.effect)), "{} {} twice", it.cause, it.effect);
    }
    // All that is reached from a cause, until nothing new is.
    let mut n_before = 0;
    while below.len() > n_before {
        n_before = below.len();
        let reached: Vec<(&str, &str)> = below
            .iter()
            .flat_map(|(a, b)| below.iter().filter(move |it| it.0 == *b).map(move |it| (*a, it.1)))
            .collect();
        below.extend(reached);
    }
    assert!(below.iter().all(|(a, b)| a != b), "{below:?}");
}

#[test]
fn every_check_that_the_slow_clock_names_has_a_part() {
    let slow = crate::losses::LOSSES.iter().find(|it| it.id == "slow-clock").unwrap();
    for check in slow.checks {
        assert!(part_of(check).is_some(), "{check}");
    }
}

/// An EPYC of 2450 MHz that its controller holds to 1500 MHz by its power limit of 140 W, and which draws so many watts.
fn epyc(drawn: u64) -> String {
    let folder = "//- /sys/devices/platform/AMDI0097:00";
    let power = format!("{folder}/hwmon/hwmon3");
    format!(
        "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\n\
         model name : AMD EPYC 7763 64-Core Processor\n//- /sys/devices/system/cpu/online\n0-1\n\
         //- /sys/devices/system/cpu/cpu0/topology/package_cpus_list\n0-1\n\
         //- /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq\n2450\n\
         //- /sys/devices/system/cpu/cpufreq/policy0/affected_cpus\n0 1\n\
         {folder}/prochot_status\n0\n{folder}/cclk_freq_limit_input\n1500\n\
         {folder}/pwr_current_active_freq_limit_source\nPPT Limit\n{power}/name\namd_hsmp_hwmon\n\
         {power}/power1_cap\n140000000\n{power}/power1_cap_max\n280000000\n{power}/power1_input\n{drawn}000000\n"
    )
}

#[test]
fn a_power_limit_that_a_socket_is_at_explains_the_limit_on_its_clock_and_one_above_it_does_not() {
    assert_eq!(
        diagnosed(&epyc(139)),
        "high: low-power-limit -> capped-frequency <= 39 %: nobody known, a package power limit of 140 W, of 280 W"
    );
    let apart = diagnosed(&epyc(60));
    assert!(apart.starts_with("high: capped-frequency <= 39 %: power and heat, "), "{apart}");
    assert!(apart.contains("\ninfo: low-power-limit ?"), "{apart}");
}

#[test]
fn a_clock_that_the_duty_cycle_predicts_is_one_chain_with_it() {
    assert_eq!(
        diagnosed(&xeon(600, "0x14", COOL)),
        "critical: clock-modulation -> clock-below-minimum >= 75 %: nobody known, clock modulation (duty cycle 25 %)"
    );
}

#[test]
fn a_clock_that_the_duty_cycle_does_not_predict_is_a_sign_of_something_else() {
    assert_eq!(
        diagnosed(&xeon(600, "0x1c", COOL)),
        "high: clock-below-minimum >= 75 %: nobody known, a clock below the hardware's minimum; perhaps clock-modulation, \
         low-power-limit\n\
         high: clock-modulation <= 25 %: nobody known, clock modulation (duty cycle 75 %)"
    );
}

#[test]
fn prochot_explains_a_low_clock_at_the_same_time_and_its_log_does_not() {
    assert_eq!(
        diagnosed(&xeon(800, "0x0", PULLED)),
        "high: prochot-asserted -> clock-below-minimum >= 67 %: nobody known, PROCHOT# from another device"
    );
    assert_eq!(
        diagnosed(&xeon(800, "0x0", LOGGED)),
        "high: clock-below-minimum >= 67 %: nobody known, a clock below the hardware's minimum; perhaps prochot-asserted, \
         low-power-limit\n\
         low: prochot-asserted ?: nobody known, PROCHOT# from another device"
    );
}

#[test]
fn prochot_at_exactly_the_minimum_clock_has_the_share_that_is_lost() {
    assert_eq!(
        diagnosed(&xeon(1000, "0x0", PULLED)),
        "high: prochot-asserted -> clock-not-delivered 58 %: nobody known, PROCHOT# from another device"
    );
}

#[test]
fn a_limit_of_the_board_that_pulls_prochot_is_the_controllers() {
    let limit = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n\
                 //- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00\n\
                 //- /dev/ipmi0 0x2c 0x02 dc 01 00 00\n00 dc f4 01 64 00 f4 01 f4 01 00 00 00 60 10 27 00 00 40\n";
    assert_eq!(
        diagnosed(&(xeon(800, "0x0", PULLED) + limit)),
        "high: bmc-power-cap -> prochot-asserted -> clock-below-minimum >= 67 %: management controller, a power limit of the board (500 W)"
    );
}

#[test]
fn what_was_looked_at_and_not_found_is_no_candidate_and_what_could_not_be_is() {
    assert_eq!(
        diagnosed(&xeon(800, "0x0", COOL)),
        "high: clock-below-minimum >= 67 %: nobody known, a clock below the hardware's minimum; perhaps low-power-limit"
    );
    assert_eq!(
        diagnosed(&xeon(800, "!denied", "!denied")),
        "high: clock-below-minimum >= 67 %: nobody known, a clock below the hardware's minimum; perhaps clock-modulation, \
         prochot-asserted, thermal-throttling, low-power-limit"
    );
}

#[test]
fn a_power_limit_that_a_register_shows_at_the_moment_explains_a_low_clock_and_its_log_does_not() {
    // Sapphire Rapids: no limit reasons are documented, and bit 10 of the thermal status says it.
    let host = |status: &str| {
        let low = limited(1500, "").replace(COOL, status).replace("model : 85", "model : 143");
        low.replace("constraint_0_power_limit_uw\n100", "constraint_0_power_limit_uw\n150")
    };
    let live = diagnosed(&host("0x88450400"));
    let chain =
        "high: power-limit-reached -> clock-not-delivered 38 %: power and heat, a power limit";
    assert!(live.starts_with(chain), "{live}");
    let logged = diagnosed(&host("0x88450800"));
    assert!(logged.starts_with("high: clock-not-delivered 38 %: nobody known"), "{logged}");
    // A limit below the design power is what is found to bind.
    let low = diagnosed(
        &limited(1500, "").replace(COOL, "0x88450400").replace("model : 85", "model : 143"),
    );
    assert!(
        low.starts_with("high: low-power-limit -> power-limit-reached -> clock-not-delivered 38 %"),
        "{low}"
    );
}

#[test]
fn registers_that_read_as_zero_leave_heat_and_prochot_no_candidates() {
    let denied = diagnosed(&xeon(800, "0x0", "!denied"));
    assert!(denied.contains("prochot-asserted, thermal-throttling"), "{denied}");
    let zero = diagnosed(&xeon(800, "0x0", "0x0"));
    assert!(!zero.contains("prochot-asserted") && !zero.contains("thermal-throttling"), "{zero}");
    // On a processor whose limit reasons nobody decodes the check stays unknown, and is no candidate.
    let sapphire_rapids = diagnosed(&xeon(800, "0x0", "0x0").replace("model : 85", "model : 143"));
    assert!(!sapphire_rapids.contains("prochot-asserted"), "{sapphire_rapids}");
}

#[test]
fn a_governor_at_the_limit_that_it_was_given_is_the_limits_effect() {
    let file = "//- /sys/devices/system/cpu/cpufreq/policy0";
    let host = |current: &str| {
        format!(
            "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 94\n\
             model name : X CPU @ 2.80GHz\nflags : ida\n//- /sys/devices/system/cpu/online\n0\n\
             {file}/affected_cpus\n0\n{file}/scaling_driver\nacpi-cpufreq\n{file}/scaling_governor\nondemand\n\
             {file}/scaling_max_freq\n1500000\n{file}/scaling_min_freq\n800000\n{file}/cpuinfo_max_freq\n2801000\n\
             {file}/cpuinfo_min_freq\n800000\n{file}/scaling_cur_freq\n{current}\n"
        )
    };
    assert_eq!(
        diagnosed(&host("1500000")),
        "high: capped-frequency -> slow-governor <= 46 %: operating system, scaling_max_freq (1500 MHz)"
    );
    // It runs below what the limit leaves it.
    assert_eq!(diagnosed(&host("800000")).lines().count(), 2);
}

/// A Xeon whose busy CPUs ask for 2400 MHz and run at so many, with a power limit of 100 of 150 W, and this status of its package.
fn limited(mhz: u64, more: &str) -> String {
    let look = |cpu: u32| {
        let (tsc, mperf) = (120_000_000, 108_000_000);
        let aperf = mperf * mhz / 2400;
        format!(
            "//- twice TSC, MPERF and APERF of CPU {cpu}\n0 1 1 1\n50000000 {} {} {}\n",
            tsc + 1,
            mperf + 1,
            aperf + 1
        )
    };
    let looks: String = (0..4).map(look).collect();
    let host = xeon(mhz as u32, "0x0", COOL).replace("epb hwp", "epb hwp aperfmperf");
    let package = "//- /sys/class/powercap/intel-rapl:0";
    format!(
        "{host}{looks}{package}/name\npackage-0\n{package}/enabled\n1\n\
         {package}/constraint_0_name\nlong_term\n{package}/constraint_0_power_limit_uw\n100000000\n\
         {package}/constraint_0_max_power_uw\n150000000\n//- /dev/cpu/0/msr 0x606\n0xa0e03\n{more}"
    )
}

#[test]
fn a_look_that_sees_a_power_limit_bind_joins_what_a_low_limit_alone_does_not() {
    let host = limited(1500, "");
    let alone = diagnosed(&host);
    assert!(alone.starts_with("high: clock-not-delivered 38 %"), "{alone}");
    assert!(alone.contains("perhaps low-power-limit"), "{alone}");
    let sights = [Sight::Throttling, Sight::Signals];
    let seen = |readings: [u64; 2]| {
        diagnosed_of(&watched(&host, &host, &sights, &[((0x613, 0), &readings)]))
    };
    assert_eq!(
        seen([0, 2000]),
        "high: low-power-limit -> power-limit-reached -> clock-not-delivered 38 %: nobody known, the long-term power limit of the package (100 W of 150 W)"
    );
    assert_eq!(seen([7, 7]), alone);
}

#[test]
fn a_signal_that_comes_in_a_look_joins_and_a_log_of_before_is_a_candidate_that_was_quiet() {
    let place = |readings: &'static [u64]| [((0x1b1, 0), readings), ((0x19c, 0), readings)];
    let watches = [Sight::Signals];
    let host = limited(1500, "")
        .replace("constraint_0_power_limit_uw\n100", "constraint_0_power_limit_uw\n150");
    assert_eq!(sights(&audit(&host_of(&host))), [Sight::Throttling, Sight::Signals, Sight::Logs]);
    let pulled = watched(&host, &host, &watches, &place(&[0x8845_0000, 0x8845_000c, 0x8845_000c]));
    let joined = diagnosed_of(&pulled);
    assert!(joined.starts_with("high: prochot-asserted -> clock-not-delivered 38 %"), "{joined}");
    let logged = host.replace(COOL, LOGGED);
    let quiet = watched(&logged, &logged, &watches, &place(&[0x881f_0008, 0x881f_0008]));
    let apart = diagnosed_of(&quiet);
    assert!(apart.starts_with("high: clock-not-delivered 38 %"), "{apart}");
    let audit = audit(&quiet);
    let chains = chains(&audit);
    let last = chains[0].candidates.last().unwrap().because;
    assert!(matches!(last, Because::Still(_, time) if time.as_secs() == 2), "{last:?}");
}

#[test]
fn a_healthy_host_has_nothing_to_look_for() {
    assert_eq!(sights(&audit(&host_of(XEON))), []);
}

#[test]
fn a_controller_that_is_polled_for_want_of_an_interrupt_is_one_chain_with_the_thread_that_polls_it()
{
    let folder = "//- /sys/bus/platform/drivers/ipmi_si/IPI0001:00";
    // The fourth of the shared cases: up to a whole CPU.
    let host = format!(
        "{folder}/type\nkcs\n{folder}/interrupts_enabled\n0\n\
         {folder}/params\nkcs,i/o,0xca2,rsp=1,rsi=1,rsh=0,irq=0,ipmb=32\n//- /sys/devices/system/cpu/online\n0-31\n\
         //- /proc/uptime\n36000.10 70000.00\n//- /proc/412/schedstat\n15480000000000 99 7\n\
         //- /proc/412/stat\n412 (kipmi0) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 39 19 1 0 10 0 0\n"
    );
    let chains = diagnosed(&host);
    assert!(chains.starts_with("medium: ipmi-without-interrupt -> kipmid-busy "), "{chains}");
    assert!(chains.contains(": management controller, "), "{chains}");
    assert_eq!(chains.lines().count(), 1, "{chains}");
}

#[test]
fn idle_states_that_are_forbidden_for_performance_are_one_chain_that_costs_turbo() {
    // The fifth of them: a limit to C1 on a processor with turbo, which has C3 and C6 no more.
    let state = "//- /sys/devices/system/cpu/cpu0/cpuidle/state";
    let host = format!(
        "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 45\nflags : ida\n\
         //- /sys/devices/system/cpu/online\n0-1\n//- /sys/devices/system/cpu/cpuidle/current_driver\nintel_idle\n\
         //- /proc/cmdline\nquiet intel_idle.max_cstate=1\n{state}0/name\nPOLL\n{state}1/name\nC1\n"
    );
    let audit = audit(&host_of(&host));
    let of_turbo = |it: &&Chain<'_>| it.of() == parts::Lost::Turbo;
    let all = chains(&audit);
    let turbo: Vec<&Chain<'_>> = all.iter().filter(of_turbo).collect();
    assert_eq!(turbo.len(), 1);
    let ids: Vec<&str> = turbo[0].links().map(|it| it.check.id).collect();
    assert_eq!((ids, turbo[0].severity()), (vec!["turbo-headroom-lost"], Severity::Medium));
}

#[test]
fn whose_a_signal_is_depends_on_the_cpu() {
    let find = |id: &str| CHECKS.iter().copied().find(|it| it.id == id).unwrap();
    let on = |list: &str, party| {
        let finding = Finding::new(Severity::High, Confidence::High, "x");
        finding.on(facts::CpuSet::parse_list(list).unwrap(), 4).held_by(party)
    };
    let check = find("low-power-limit");
    let findings =
        [(check, on("0-1", Party::Firmware)), (check, on("2-3", Party::ManagementController))];
    let party = |cpu| explains::party_behind(&findings, "low-power-limit", cpu);
    assert_eq!(
        [party(1), party(2), party(4)],
        [Some(Party::Firmware), Some(Party::ManagementController), None]
    );
}

#[test]
fn a_speed_select_profile_explains_the_low_power_limit_that_comes_with_it() {
    let of = |command: &str, bytes: &str| {
        format!("//- /dev/isst_interface mailbox cpu0 {command}\n!bytes {bytes}\n")
    };
    let limit = "//- /sys/class/powercap/intel-rapl:0";
    let host = |level: &str| {
        xeon(2400, "0x0", COOL)
            + &of("0x7f 0x0 0x0", level)
            + &of("0x7f 0x1 0x0", "03000000")
            + &of("0x7f 0x1 0x2", "03000000")
            + &of("0x7f 0x3 0x0", "96001800")
            + &of("0x7f 0x7 0x0", "25252322")
            + &of("0x7f 0x3 0x2", "64001400")
            + &of("0x7f 0x7 0x2", "20202020")
            + &of("0x94 0x3 0x0", "01000000")
            + &format!(
                "{limit}/name\npackage-0\n{limit}/enabled\n1\n{limit}/constraint_0_power_limit_uw\n100000000\n\
                 {limit}/constraint_0_max_power_uw\n150000000\n"
            )
    };
    let chains = diagnosed(&host("04040281"));
    assert!(
        chains.contains("speed-select-profile -> low-power-limit <= 14 %: firmware"),
        "{chains}"
    );
    let without = diagnosed(&host("04040080"));
    assert!(!without.contains("speed-select-profile"), "{without}");
}

#[test]
fn a_known_fault_is_the_cause_of_what_it_does_and_in_no_chain_alone() {
    const DMI: &str = "//- /sys/class/dmi/id/sys_vendor\nORACLE CORPORATION\n\
        //- /sys/class/dmi/id/product_name\nSUN FIRE X4370 M2 SERVER\n//- /sys/class/dmi/id/bios_version\n12010303\n";
    let of = |modulation| {
        let audit = audit(&host_of(&(xeon(600, modulation, COOL) + DMI)));
        let chains = chains(&audit);
        let causes = chains.iter().filter_map(|it| Some((it.cause()?.check.id, it.party())));
        causes.collect::<Vec<_>>()
    };
    assert_eq!(of("0x14")[0], ("known-fault", Some(Party::Firmware)));
    assert!(of("0x0").iter().all(|it| it.0 != "known-fault"), "{:?}", of("0x0"));
}

#[test]
fn a_known_fault_explains_a_clock_that_nothing_else_does() {
    let apu = |modulation, version: &str| {
        let dmi = format!(
            "//- /sys/class/dmi/id/sys_vendor\nPC Engines\n//- /sys/class/dmi/id/product_name\napu2\n\
             //- /sys/class/dmi/id/bios_version\n{version}\n"
        );
        diagnosed(&(xeon(1500, modulation, COOL) + &dmi))
    };
    let explained = apu("0x0", "v4.8.0.2");
    assert!(explained.contains("known-fault -> clock-not-delivered"), "{explained}");
    let newer = apu("0x0", "v4.8.0.5");
    assert!(newer.contains("clock-not-delivered") && !newer.contains("known-fault"), "{newer}");
    // What stops the clock is read, and is the cause.
    let stopped = apu("0x18", "v4.8.0.2");
    assert!(stopped.contains("clock-modulation"), "{stopped}");
    assert!(!stopped.contains("known-fault"), "{stopped}");
}

#[test]
fn what_is_of_one_socket_explains_nothing_of_another() {
    let mut relations = EXPLAINS.iter();
    let relation =
        relations.find(|it| (it.cause, it.effect) == ("prochot-asserted", "capped-frequency"));
    let relation = relation.unwrap();
    let of_machine =
        || Finding::new(Severity::High, Confidence::High, "held").held_by(Party::Physics);
    let of = |socket: u32| of_machine().of_place(format!("socket {socket}"));
    assert!(relation.joins(&of(0), &of(0)));
    assert!(!relation.joins(&of(0), &of(1)));
    assert!(!relation.joins(&of(0), &of_machine()));
    assert!(relation.joins(&of_machine(), &of(1)));
    assert_eq!(of(1).message, "socket 1: held");
}

#[test]
fn a_sign_that_is_less_sure_makes_a_cause_that_acts_no_less_sure() {
    let host = host_of(&xeon(800, "0x0", PULLED));
    let audit = audit(&host);
    let chains = chains(&audit);
    let least = chains[0].links().map(|it| it.finding.confidence).min();
    assert!(least < Some(Confidence::High), "{:?}", chains[0]);
    assert_eq!(chains[0].confidence(), Confidence::High, "{:?}", chains[0]);
}
