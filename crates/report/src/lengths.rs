//! Lengths of time, and how many things there were of each.

use rules::noise::Bucket;

/// A length with three digits, in the largest unit that it has a whole one of.
pub(super) fn span(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", digits(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", digits(ns as f64 / 1e6)),
        _ => format!("{} s", digits(ns as f64 / 1e9)),
    }
}

fn digits(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// The lengths that belong to a bucket.
pub(super) fn range(bucket: &Bucket) -> String {
    match bucket.below_ns {
        Some(below_ns) => format!("{} to {}", span(bucket.from_ns), span(below_ns)),
        None => format!("{} and more", span(bucket.from_ns)),
    }
}

/// As long as its part of the largest; what is there at all has a mark.
pub(super) fn bar(value: u64, most: u64) -> String {
    const LONGEST: f64 = 34.0;
    let length = (value as f64 / most.max(1) as f64 * LONGEST).round() as usize;
    "#".repeat(if value > 0 { length.max(1) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_as_people_say_them() {
        let shown = [0, 999, 1000, 2500, 12_340, 999_999, 5_000_000, 1_234_000_000].map(span);
        assert_eq!(
            shown,
            ["0 ns", "999 ns", "1 us", "2.5 us", "12.3 us", "1000 us", "5 ms", "1.23 s"]
        );
    }

    #[test]
    fn the_largest_bucket_has_the_longest_bar_and_none_but_an_empty_one_has_no_mark() {
        assert_eq!([bar(0, 100), bar(1, 1000), bar(5, 10)].map(|it| it.len()), [0, 1, 17]);
        let open = Bucket { from_ns: 1_000, below_ns: None, count: 1, ns: 1_000 };
        assert_eq!(range(&open), "1 us and more");
    }
}
