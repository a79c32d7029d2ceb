//! What a look of some seconds costs a host, in words, before it begins.

use facts::quantity::counted;
use facts::watched::{Cost, time};
use std::fmt::Write;

/// "looks for 2 s: reads ...", without a stop.
pub fn cost(cost: &Cost) -> String {
    let mut parts = Vec::new();
    if cost.n_clocks > 0 {
        let cpus = counted(cost.n_clocks as u64, "CPU");
        parts.push(format!("the counters of the clock of {cpus} twice"));
    }
    for (n, times) in [
        (cost.n_registers, format!("{} times", cost.n_readings)),
        (cost.n_counts, "twice".to_owned()),
    ] {
        if n > 0 {
            parts.push(format!("{} {times}", counted(n as u64, "register")));
        }
    }
    if cost.n_samples > 0 {
        let times = counted(cost.n_samples as u64, "time");
        parts.push(format!("the clocks that the kernel shows {times}"));
    }
    if cost.n_files > 0 {
        let other = if parts.is_empty() { "counter" } else { "other counter" };
        parts.push(format!("{} twice", counted(cost.n_files as u64, other)));
    }
    if parts.is_empty() {
        return "no counter here shows more in a look: --look adds nothing".to_owned();
    }
    let mut text = format!("looks for {}: reads {}", time(cost.time), parts.join(", "));
    if cost.n_clocks + cost.n_registers + cost.n_counts > 0 {
        text += "; each reading of a counter of the clock or a register interrupts its CPU";
    }
    if !cost.left_alone.is_empty() {
        let cpus = cost.left_alone.named();
        write!(text, "; {cpus}, kept free of interruptions, are not interrupted").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::CpuSet;
    use std::time::Duration;

    #[test]
    fn the_cost_says_what_is_read_how_often_and_who_is_left_alone() {
        let all = Cost {
            time: Duration::from_secs(2),
            n_clocks: 14,
            n_registers: 9,
            n_readings: 21,
            n_counts: 1,
            n_samples: 0,
            n_files: 10,
            left_alone: CpuSet::parse_list("2-3").unwrap(),
        };
        assert_eq!(
            cost(&all),
            "looks for 2 s: reads the counters of the clock of 14 CPUs twice, 9 registers 21 times, 1 register twice, 10 other counters twice; \
             each reading of a counter of the clock or a register interrupts its CPU; CPUs 2-3, kept free of interruptions, are not interrupted"
        );
        let counts = Cost { time: Duration::from_secs(2), n_counts: 2, ..Cost::default() };
        assert_eq!(
            cost(&counts),
            "looks for 2 s: reads 2 registers twice; each reading of a counter of the clock or a register interrupts its CPU"
        );
        let samples = Cost { time: Duration::from_secs(2), n_samples: 10, ..Cost::default() };
        assert_eq!(
            cost(&samples),
            "looks for 2 s: reads the clocks that the kernel shows 10 times"
        );
        let none = Cost { time: Duration::from_millis(50), ..Cost::default() };
        assert_eq!(cost(&none), "no counter here shows more in a look: --look adds nothing");
    }
}
