//! Whatever the evidence says, the lines and the unexplained rest add up to the capacity, exactly.

use crate::fixture::books::{SECOND, ledger};
use proptest::prelude::*;

/// The text with every count replaced by the next of `numbers`, over and over: counts that agree with nothing.
fn scrambled(numbers: &[u64]) -> String {
    let (counted, host) = SECOND.split_at(SECOND.find("//- /").unwrap());
    let mut numbers = numbers.iter().cycle();
    let mut line = |line: &str| {
        let n_kept = match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["task", _, _, _] => 3,
            ["task", ..] => 6,
            ["trace", ..] => 3,
            [first, ..] if first.starts_with(|it: char| it.is_ascii_digit()) => 1,
            [_, _, "idle", ..] => 1,
            _ => usize::MAX,
        };
        let words = line.split(' ').enumerate().map(|(at, word)| match word.parse::<u64>() {
            Ok(_) if at >= n_kept => numbers.next().copied().unwrap_or(0).to_string(),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    counted.lines().map(&mut line).collect::<String>() + host
}

/// Counts of all sizes: within a second, of years, and the ends of the type.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..1_000_000_000u64,
        2 => 0..200u64,
        1 => any::<u64>(),
        1 => Just(0),
        1 => Just(u64::MAX),
    ]
}

proptest! {
    #[test]
    fn the_lines_and_the_rest_of_each_cpu_are_its_time_and_no_line_is_negative(
        numbers in proptest::collection::vec(count(), 1..120),
    ) {
        let ledger = ledger(&scrambled(&numbers));
        for &(cpu, unexplained) in &ledger.unexplained {
            let of_cpu = ledger.lines.iter().flat_map(|it| &it.cpus).filter(|(it, _)| *it == cpu);
            let known: i128 = of_cpu.map(|(_, ns)| i128::from(*ns)).sum();
            prop_assert_eq!(known + i128::from(unexplained), i128::from(ledger.wall_ns));
        }
        let known = || ledger.lines.iter().filter_map(|it| it.ns.as_ref().ok());
        let sum: i128 = known().map(|it| i128::from(*it)).sum();
        prop_assert_eq!(sum + i128::from(ledger.unexplained_ns), i128::from(ledger.capacity_ns()));
        prop_assert!(known().all(|ns| *ns >= 0));
    }
}
