//! `perf stat`: cycles over the time that the tasks ran, which is their clock.
//!
//! Source: tools/perf/util/stat-shadow.c: the GHz behind `cycles` are cycles over `task-clock`. With `-a` and `-C` the time
//! (`cpu-clock`, or `task-clock` as well) is that of CPUs with their idle time, and the GHz are no clock.

use super::{Found, SOUND, said, untold};
use crate::finding::Severity;
use crate::loss_scale::Lost;
use facts::pasted::PERF_STAT;
use facts::{Hertz, HostView};

/// At this share of the nominal clock and above nothing is lost: counters are multiplexed.
const AS_NOMINAL: f64 = 0.95;

/// No server of the last fifteen years has a lower nominal clock.
const SLOW: Hertz = Hertz(1_000_000_000);

pub(super) fn explain(text: &str, host: &HostView) -> Option<Found> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let head = lines.iter().position(|it| it.starts_with(HEAD));
    let cycles = lines.iter().position(|it| is_cycles(it))?;
    let has_time =
        |name: &str| lines.iter().any(|it| it.split_whitespace().any(|it| it.starts_with(name)));
    if head.is_none() && !has_time("task-clock") && !has_time("cpu-clock") {
        return None;
    }
    let of = head.and_then(|at| lines.get(at)).map(|it| it[HEAD.len()..].trim());
    let mut meaning = vec![match (lines.get(cycles).and_then(|it| clock(it)), of) {
        (None, _) => {
            "It counts cycles, and not the time that they took (`-e task-clock,cycles`).".to_owned()
        }
        (Some(_), Some(of)) if of.starts_with("'system wide") || of.starts_with("'CPU(s)") => {
            OF_CPUS.to_owned()
        }
        (Some(_), None) if has_time("cpu-clock") => OF_CPUS.to_owned(),
        (Some(clock), _) if is_of_user(lines[cycles]) => {
            format!(
                "{SOUND} It counts cycles of user mode alone, so that the clock was {clock} or more."
            )
        }
        (Some(clock), None) => {
            format!(
                "{SOUND} If that is of a command, and not of CPUs (`-a`), it ran at {clock}: compare it with the nominal clock in the model's name."
            )
        }
        (Some(clock), Some(_)) => judge(clock, host),
    }];
    meaning.push(untold(&PERF_STAT));
    Some(Found::new(head.unwrap_or(cycles), &PERF_STAT, meaning))
}

const HEAD: &str = "Performance counter stats for";

const OF_CPUS: &str = "It counts all CPUs with their idle time: the GHz are no clock. `perf stat -e task-clock,cycles -- COMMAND` tells that of a command.";

/// Whether a line counts cycles: `cycles`, `cycles:u`, `cpu-cycles`, `cpu_core/cycles/`; with `-A` the CPU stands before the count.
fn is_cycles(line: &str) -> bool {
    let is_event = |it: &str| {
        let name = it.split(':').next().unwrap_or(it);
        matches!(name, "cycles" | "cpu-cycles") || name.ends_with("/cycles/")
    };
    let words: Vec<&str> = line.split('#').next().unwrap_or(line).split_whitespace().collect();
    let event = words.iter().position(|it| is_event(it));
    event.is_some_and(|at| at > 0 && words[at - 1].starts_with(|it: char| it.is_ascii_digit()))
}

fn is_of_user(line: &str) -> bool {
    line.split_whitespace().any(|it| it.ends_with("cycles:u") || it.ends_with("cycles/u"))
}

/// The clock in `# 2.482 GHz`, with a comma in some languages.
fn clock(line: &str) -> Option<Hertz> {
    let (_, behind) = line.split_once('#')?;
    let mut words = behind.split_whitespace();
    let number: f64 = words.next()?.replace(',', ".").parse().ok()?;
    let hertz = match words.next()? {
        "GHz" => number * 1e9,
        "MHz" => number * 1e6,
        _ => return None,
    };
    (1e6..1e11).contains(&hertz).then_some(Hertz(hertz as u64))
}

fn judge(clock: Hertz, host: &HostView) -> String {
    let Some((nominal, source)) = host.nominal_clock() else {
        return match clock < SLOW {
            true => said(
                Severity::Medium,
                "clock-not-delivered",
                &format!(
                    "the tasks ran at {clock} while they ran, which is below the nominal clock of every server's processor"
                ),
            ),
            false => format!(
                "{SOUND} The tasks ran at {clock} while they ran: compare it with the nominal clock in the model's name."
            ),
        };
    };
    let share = clock.share_of(nominal);
    if share >= AS_NOMINAL {
        return format!(
            "{SOUND} The tasks ran at {clock} while they ran, and the nominal clock is {nominal} ({source})."
        );
    }
    let message = format!(
        "the tasks ran at {clock} while they ran, {:.0} % of the nominal {nominal} ({source})",
        100.0 * share
    );
    said(Lost::of_what_is_left(share, true).severity(), "clock-not-delivered", &message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str, host: &str) -> String {
        let host = host::view(&host::Captured::excerpt(host).unwrap());
        explain(text, &host).map_or("unknown".to_owned(), |it| it.explanation.meaning.join("\n"))
    }

    fn output(cycles: &str) -> String {
        format!(
            " Performance counter stats for 'pgbench':\n\n          1,012.34 msec task-clock                #    0.998 CPUs utilized\n\
             {cycles}\n       1.014 seconds time elapsed\n"
        )
    }

    #[test]
    fn a_clock_is_compared_with_the_nominal_one_of_the_same_text() {
        let text = output(
            "     1,214,808,000      cycles                    #    1.200 GHz                      (83.2%)",
        );
        let host = "//- /proc/cpuinfo\nprocessor : 0\nmodel name : Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\n";
        assert!(
            meaning(&text, host)
                .starts_with("High, clock-not-delivered: the tasks ran at 1200 MHz"),
            "{}",
            meaning(&text, host)
        );
        assert!(meaning(&text, "").starts_with(SOUND));
        let slow = output("       809,872,000      cycles                    #    0.800 GHz");
        assert!(
            meaning(&slow, "").starts_with("Medium, clock-not-delivered"),
            "{}",
            meaning(&slow, "")
        );
    }

    #[test]
    fn what_is_no_clock_is_said_to_be_none() {
        let idle = "     1,214,808,000      cycles                    #    0.054 GHz";
        let cut = output(idle);
        let all = cut.replace("'pgbench'", "'system wide'");
        assert!(meaning(&all, "").starts_with("It counts all CPUs"));
        let (_, rest) = cut.split_once('\n').unwrap();
        assert!(meaning(rest, "").contains("If that is of a command"));
        let rest = rest.replace("task-clock", "cpu-clock");
        assert!(meaning(&rest, "").starts_with("It counts all CPUs"));
        let user = output("       809,872,000      cycles:u                  #    0.800 GHz");
        assert!(meaning(&user, "").contains("user mode alone"));
        assert!(meaning(&output("     1,214,808,000      cycles"), "").contains("not the time"));
        assert_eq!(meaning("1,214,808,000 instructions # 1.2 insn per cycle", ""), "unknown");
    }
}
