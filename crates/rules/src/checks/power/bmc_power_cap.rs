//! Looks for a power limit that the management controller (BMC) holds, and for what says that it clips the CPUs.
//!
//! Sources: DCMI specification 1.5, sections 6.6.1 and 6.6.2; Intel SDM vol. 3B, "Thermal Status Information". It cannot
//! know limits that a controller keeps to itself (Node Manager, a chassis, redundancy of power supplies), nor who pulls
//! PROCHOT#: a limit that is reached and a signal that is pulled go together, which is evidence and no proof.

mod reach;

use crate::check::{Check, Reference, Verdict};
use crate::commands;
use crate::finding::{Finding, OfClock};
use crate::prochot::Prochot;
use facts::HostView;
use facts::ipmi::PowerLimit;
use facts::msr::{intel, ratios};
use reach::{Reach, does_not_bind, judged, prochot_text};

pub(crate) const CHECK: Check = Check {
    id: "bmc-power-cap",
    title: "the management controller holds a limit on the board's power",
    doc: "\
## What it looks at
The power limit that the management controller (BMC) says is in force, and what it says that the board draws: DCMI's
Get Power Limit and Get Power Reading, asked through /dev/ipmi0 once, by an audit or a capture. A board is at its limit from
95 % of it on. Beside it stands whether PROCHOT# is pulled from outside: bits 2 and 3 of MSR 0x19C and 0x1B1, and the
limit reasons (0x64F, 0x690). Bit 3 and the upper half of the limit reasons are logs: they were set since boot,
or since somebody cleared them, at no known time, and say nothing of this moment.

## Why it matters
A controller keeps a board below its limit by pulling PROCHOT#, which drops the processors to their lowest clock at
once, or by lowering the processors' own limits. No file of the kernel shows the limit, and its throttle counters
do not count what it does. A limit that was set for another power supply, another rack or another season stays, and the
machine is slow whenever it has work. `fullclock ipmi power` looks at both, second by second.

## When to leave it alone
Where the limit keeps a rack, a chassis or a breaker within its power: then it costs what it costs, and the answer is
another budget. A limit that the board does not reach costs nothing, and is a note; unless PROCHOT# is pulled, for a
board that is clipped can draw far less than its limit. A controller may hold other limits that it does not tell; what
its sensors call power can be some percent off, and old by some seconds.
",
    references: &[
        Reference {
            title: "DCMI Specification 1.5, sections 6.6.1 Get Power Reading, 6.6.2 Get Power Limit, 6.6.4 Activate/Deactivate Power Limit",
            url: "https://www.intel.com/content/dam/www/public/us/en/documents/technical-specifications/dcmi-v1-5-rev-spec.pdf",
        },
        Reference {
            title: "ipmitool(1): dcmi power",
            url: "https://github.com/ipmitool/ipmitool/blob/master/doc/ipmitool.1.in",
        },
        Reference {
            title: "Intel SDM vol. 3B, Power and Thermal Management: Thermal Status Information",
            url: "https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
        },
    ],
    run,
};

fn run(host: &HostView) -> Verdict {
    let limit = host.power_cap.limit.as_ref()?;
    let Some(held) = &limit.holds else { return Ok(Vec::new()) };
    let (reach, prochot) = (Reach::of(host, held), Prochot::of(host));
    let is_note = does_not_bind(&reach, &prochot);
    let (severity, confidence) = judged(&reach, &prochot);
    let message = format!(
        "the management controller holds the board to {}{}{}{}",
        held.power,
        reach.text(&prochot),
        if let Reach::Far(_) = reach { "" } else { prochot_text(&prochot) },
        if held.action.is_power_off() { off(held) } else { String::new() }
    );
    let mut finding = Finding::new(severity, confidence, message)
        .evidence(&limit.question, limit.digits())
        .command(&commands::BMC_LIMIT, "");
    finding = finding.by_means_of(format!("a power limit of the board ({})", held.power));
    if let Ok(reading) = &host.power_cap.reading {
        finding = finding.evidence(&reading.question, reading.digits());
    }
    if is_note {
        return Ok(vec![finding]);
    }
    finding = finding.command(&commands::DCMI_DEACTIVATE, "").fix_lasting(LASTING);
    if let Prochot::Active(seen) | Prochot::Logged(seen) = &prochot {
        finding = finding
            .evidence(seen.place.register.path(seen.place.cpu), format!("{:#x}", seen.value));
        finding = finding.on(seen.cpus.clone(), host.topology.n_online());
    }
    if let Some(share) = lost_share(host, &prochot) {
        let derivation = format!(
            "while PROCHOT# is pulled the clock is the lowest that MSR {:#x} names, and not the nominal one",
            intel::PLATFORM_INFO.address
        );
        finding = finding.cost_of_clock(OfClock::lost(share / 100.0).at_most(), derivation);
    }
    Ok(vec![finding])
}

const LASTING: &str = "\
find out first whose budget it keeps, for breakers and power supplies may depend on it; then raise or remove the limit where it \
was set: the firmware's setup, the controller's own page for power, or the power management of chassis, rack or data centre, which \
would set it again";

fn off(limit: &PowerLimit) -> String {
    let within = limit.correction.as_secs_f64();
    format!("; it switches the machine off where that is exceeded for {within} s")
}

/// What PROCHOT# takes of the clock, in percent: all above the lowest ratio.
fn lost_share(host: &HostView, prochot: &Prochot) -> Option<f64> {
    let Prochot::Active(_) = prochot else { return None };
    let (_, &info) = host.msrs.of(&intel::PLATFORM_INFO).ok()?.known().next()?;
    let (lowest, nominal) = (ratios::lowest(info)?, info >> 8 & 0xff);
    (lowest < nominal).then(|| 100.0 * (nominal - lowest) as f64 / nominal as f64)
}

#[cfg(test)]
mod tests {
    use super::CHECK;
    use crate::fixture::{XEON, findings, verdict};

    const KNOWS: &str = "//- /dev/ipmi0 0x2c 0x01 dc 01\n00 dc 01 05 02 00 01 07\n";

    /// A controller that holds the board to 500 W, which draws so many watts, has on average and at most, over 10 s.
    fn board(now: u16, average: u16, most: u16) -> String {
        let two = |it: u16| format!("{:02x} {:02x}", it & 0xff, it >> 8);
        let (now, average, most) = (two(now), two(average), two(most));
        format!(
            "{KNOWS}//- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00\n\
             //- /dev/ipmi0 0x2c 0x02 dc 01 00 00\n00 dc {now} 64 00 {most} {average} 00 00 00 60 10 27 00 00 40\n"
        )
    }

    /// [`XEON`] with these values of 0x19C.
    fn xeon(cores: [&str; 2]) -> String {
        format!(
            "{XEON}//- /dev/cpu/0/msr 0x19c\n{}\n//- /dev/cpu/1/msr 0x19c\n{}\n",
            cores[0], cores[1]
        )
    }

    /// The other registers that show PROCHOT#, which do not.
    const PACKAGE: &str = "//- /dev/cpu/0/msr 0x1b1\n0x88450000\n//- /dev/cpu/0/msr 0x64f\n0x0\n";
    const READING: &str = "//- /dev/ipmi0 0x2c 0x02";
    const COOL: &str = "0x88450000";
    const PULLED: &str = "0x8845000c";
    const LOGGED: &str = "0x88450008";

    #[test]
    fn a_limit_that_is_reached_while_prochot_is_pulled_clips_the_cpus() {
        let host = board(490, 480, 500) + &xeon([COOL, PULLED]);
        assert_eq!(
            verdict(&CHECK, &host),
            "high: the management controller holds the board to 500 W, and it draws 490 W; PROCHOT# is pulled at this moment, \
             which is how a controller clips CPUs [CPUs 1,3 (2 of 4)]"
        );
        let finding = findings(&CHECK, &host).remove(0);
        let seen: Vec<_> =
            finding.evidence.iter().map(|it| format!("{} = {}", it.source, it.value)).collect();
        assert_eq!(
            seen,
            [
                "/dev/ipmi0 0x2c 0x03 dc 00 00 = 00 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00",
                "/dev/ipmi0 0x2c 0x02 dc 01 00 00 = 00 dc ea 01 64 00 f4 01 e0 01 00 00 00 60 10 27 00 00 40",
                "/dev/cpu/1/msr 0x19c = 0x8845000c",
            ]
        );
        assert_eq!(finding.cost.unwrap().estimate, "up to 58 % of the clock");
        assert!(finding.fix.by_hand[0].command.starts_with("ipmitool dcmi power deactivate"));
        assert!(finding.fix.lasting.unwrap().contains("breakers"));
    }

    #[test]
    fn a_log_has_no_date_and_is_said_to_have_none() {
        let finding = findings(&CHECK, &(board(490, 480, 500) + &xeon([LOGGED, COOL]))).remove(0);
        assert_eq!((finding.severity.name(), finding.confidence.name()), ("high", "medium"));
        assert!(
            finding.message.ends_with("since boot, or since the log was cleared"),
            "{finding:?}"
        );
        assert_eq!(finding.cost, None);
    }

    #[test]
    fn the_limit_reasons_tell_of_prochot_too() {
        let reasons = format!("{}//- /dev/cpu/0/msr 0x64f\n0x1\n", xeon([COOL; 2]));
        let shown = verdict(&CHECK, &(board(490, 480, 500) + &reasons));
        assert!(shown.starts_with("high: ") && shown.ends_with("[all 4 CPUs]"), "{shown}");
    }

    #[test]
    fn a_limit_that_is_reached_without_prochot_is_medium() {
        let shown = |board: String, registers: &str| verdict(&CHECK, &(board + registers));
        let clear = xeon([COOL; 2]) + PACKAGE;
        let medium = "medium: the management controller holds the board to 500 W, and it draws 480 W; PROCHOT# is not pulled at \
                      this moment";
        assert_eq!(shown(board(480, 300, 500), &clear), medium);
        let partial = xeon([COOL, "!denied"]) + PACKAGE;
        assert_eq!(
            shown(board(480, 300, 500), &partial),
            format!("{medium}, as far as registers could be read")
        );
        let average = shown(board(400, 480, 500), &clear);
        assert!(average.contains("has drawn 480 W on average over 10 s"), "{average}");
        let unknown = shown(board(480, 300, 500), "");
        assert!(unknown.starts_with("medium: ") && unknown.ends_with("is unknown"), "{unknown}");
    }

    #[test]
    fn registers_that_do_not_tell_of_prochot_leave_it_unknown() {
        let text = XEON.replace("acpi tm2", "pts tm2").replace("model : 85", "model : 143");
        let host = format!("{}{text}//- /dev/cpu/0/msr 0x1b1\n{COOL}\n", board(480, 300, 500));
        let shown = verdict(&CHECK, &host);
        assert!(shown.ends_with("; whether PROCHOT# is pulled is unknown"), "{shown}");
    }

    #[test]
    fn one_that_was_reached_at_some_time_is_low_unless_prochot_is_pulled() {
        let low = verdict(&CHECK, &(board(214, 184, 490) + &xeon([COOL; 2])));
        assert!(
            low.starts_with("low: ")
                && low.contains("up to 490 W within 10 s, 214 W at this moment"),
            "{low}"
        );
        let pulled = verdict(&CHECK, &(board(214, 184, 490) + &xeon([PULLED; 2])));
        assert!(pulled.starts_with("medium: "), "{pulled}");
    }

    #[test]
    fn one_that_the_board_does_not_reach_is_a_note_unless_prochot_is_pulled() {
        for registers in [xeon([COOL; 2]), xeon([LOGGED; 2]), String::new()] {
            let host = board(214, 184, 300) + &registers;
            assert_eq!(
                verdict(&CHECK, &host),
                "info: the management controller holds the board to 500 W, which does not bind: it draws 214 W"
            );
            assert_eq!(findings(&CHECK, &host)[0].fix.lasting, None);
        }
        let pulled = board(214, 184, 300) + &xeon([COOL, PULLED]);
        assert_eq!(
            verdict(&CHECK, &pulled),
            "low: the management controller holds the board to 500 W, and it draws 214 W at this moment, while PROCHOT# is pulled \
             [CPUs 1,3 (2 of 4)]"
        );
        let finding = findings(&CHECK, &pulled).remove(0);
        assert_eq!(finding.evidence.last().unwrap().source, "/dev/cpu/1/msr 0x19c");
        assert!(finding.fix.by_hand.len() == 1 && finding.fix.lasting.is_some(), "{finding:?}");
    }

    #[test]
    fn one_on_a_board_whose_power_is_not_known_is_low() {
        let board = board(214, 184, 300);
        let (limit, _) = board.split_once(READING).unwrap();
        let shown = verdict(&CHECK, &format!("{limit}{READING} dc 01 00 00\n!failed gone\n"));
        assert!(
            shown.starts_with("low: ") && shown.contains("what it draws is unknown"),
            "{shown}"
        );
    }

    #[test]
    fn a_limit_that_switches_the_machine_off_says_so() {
        let board = board(490, 480, 500).replace("00 dc 00 00 11", "00 dc 00 00 01");
        let shown = verdict(&CHECK, &board);
        assert!(
            shown.ends_with("; it switches the machine off where that is exceeded for 6 s"),
            "{shown}"
        );
    }

    #[test]
    fn no_limit_in_force_is_clean_however_much_the_board_draws() {
        let board = board(490, 480, 500);
        let (_, reading) = board.split_once(READING).unwrap();
        for none in ["80", "80 dc 00 00 11 f4 01 70 17 00 00 00 00 01 00"] {
            let host = format!(
                "{KNOWS}//- /dev/ipmi0 0x2c 0x03 dc 00 00\n{none}\n{READING}{reading}{}",
                xeon([PULLED; 2])
            );
            assert_eq!(verdict(&CHECK, &host), "clean");
        }
    }

    #[test]
    fn a_controller_that_may_not_be_asked_or_hangs_is_unknown() {
        let first = "//- /dev/ipmi0 0x2c 0x01 dc 01\n";
        assert_eq!(
            verdict(&CHECK, &format!("{first}!denied\n")),
            "unknown: /dev/ipmi0 0x2c 0x01 dc 01 may not be read"
        );
        let hangs = verdict(
            &CHECK,
            &format!("{KNOWS}//- /dev/ipmi0 0x2c 0x03 dc 00 00\n!failed no answer\n"),
        );
        assert_eq!(hangs, "unknown: /dev/ipmi0 0x2c 0x03 dc 00 00 cannot be read: no answer");
        let nonsense =
            verdict(&CHECK, &format!("{KNOWS}//- /dev/ipmi0 0x2c 0x03 dc 00 00\n00 dc 00\n"));
        assert!(
            nonsense.starts_with("unknown: ") && nonsense.contains("expected 0xdc"),
            "{nonsense}"
        );
    }

    #[test]
    fn a_host_without_a_controller_or_whose_controller_manages_no_power_is_not_judged() {
        assert!(verdict(&CHECK, XEON).starts_with("not applicable: "));
        let powerless = KNOWS.replace("00 01 07", "00 00 07");
        assert!(verdict(&CHECK, &powerless).contains("manages no power"));
        let refuses = "//- /dev/ipmi0 0x2c 0x01 dc 01\nc1\n";
        assert!(verdict(&CHECK, refuses).starts_with("not applicable: "));
        assert!(verdict(&CHECK, "fullclock capture 1\n").starts_with("unknown: "));
    }
}
