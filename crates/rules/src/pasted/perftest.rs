//! perftest's "Conflicting CPU frequency values detected: A != B. CPU Frequency is not max."
//!
//! Source: linux-rdma/perftest, src/get_clock.c: it compares the "cpu MHz" lines of /proc/cpuinfo and
//! complains when one differs by more than 2 % from the first CPU's.

use super::Found;
use facts::HostView;
use facts::pasted::PERFTEST;

const MARK: &str = "Conflicting CPU frequency values detected:";

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let (before, values) = text.split_once(MARK)?;
    let mut numbers = values.split("!=").map(leading_number);
    let (first, other) = (numbers.next()??, numbers.next()??);
    let (low, high) = if first < other { (first, other) } else { (other, first) };
    if low <= 0.0 {
        return None;
    }
    let lost = 100.0 * (1.0 - low / high);
    let line = before.matches('\n').count();
    Some(Found::new(
        line,
        &PERFTEST,
        vec![
            format!(
                "CPU 0 reported {first:.0} MHz in /proc/cpuinfo and another CPU {other:.0} MHz, more than 2 % apart. \
                 The message says no more than that."
            ),
            format!(
                "The usual reason is an idle CPU: a governor that follows the load, or the hardware itself, keeps it at a \
                 low clock until there is work. If the CPU that runs the test stays at {low:.0} MHz, it does its work \
                 {lost:.0} % slower than at {high:.0} MHz; latency and small messages suffer, large transfers hardly do."
            ),
            "It does not prove a slow link: compare the bandwidth with the link's rate. It is also silent when all CPUs are \
             equally slow, which is the worse fault. On processors with a constant TSC the measured times are right all \
             the same; very old versions of perftest gave up with 0.00 MB/s. `-F` only hides the message."
                .to_owned(),
            "Run `fullclock audit` on both ends, and look at the CPUs while the test keeps them busy.".to_owned(),
        ],
    ))
}

fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(line: &str) -> Option<String> {
        let host = host::view(&host::Captured::empty());
        Some(explain(line, &host)?.explanation.meaning.join("\n"))
    }

    #[test]
    fn both_clocks_are_named_and_compared() {
        let line = "Conflicting CPU frequency values detected: 1600.000000 != 2534.000000. CPU Frequency is not max.";
        let meaning = explained(line).unwrap();
        assert!(
            meaning.contains("CPU 0 reported 1600 MHz in /proc/cpuinfo and another CPU 2534 MHz")
        );
        assert!(meaning.contains("37 % slower than at 2534 MHz"));
    }

    #[test]
    fn the_order_of_the_clocks_does_not_matter() {
        let line = "Conflicting CPU frequency values detected: 3177.4 != 800.0";
        assert!(explained(line).unwrap().contains("75 % slower"));
    }

    #[test]
    fn a_cut_line_is_not_explained() {
        assert_eq!(explained("Conflicting CPU frequency values detected: 1600"), None);
        assert_eq!(explained("Conflicting CPU frequency values detected: 0 != 0"), None);
    }
}
