//! Numbers as a table shows them: as many digits as they deserve, in eight columns.

use crate::metric::Unit;

/// A value in its unit, without the unit's symbol.
///
/// Shares have two decimals as turbostat's have; a clock has none, because a MHz is already less than it varies by.
pub fn number(unit: Unit, value: f64) -> String {
    // What rounds to zero has no sign.
    let value = if value.abs() < 0.005 { 0.0 } else { value };
    match unit {
        Unit::Megahertz | Unit::Celsius => format!("{value:.0}"),
        Unit::Percent | Unit::Watts | Unit::MillisecondsPerSecond => format!("{value:.2}"),
        Unit::PerSecond => rate(value),
    }
}

/// Rates reach from one an hour to millions a second.
fn rate(value: f64) -> String {
    match value {
        it if it >= 1e8 => format!("{:.0}M", it / 1e6),
        it if it >= 100.0 || it == 0.0 => format!("{it:.0}"),
        it if it >= 10.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_size_of_a_rate() {
        let shown: Vec<String> = [0.0, 0.25, 12.34, 250.4, 1_234_567.0, 2e9]
            .map(|it| number(Unit::PerSecond, it))
            .to_vec();
        assert_eq!(shown, ["0", "0.25", "12.3", "250", "1234567", "2000M"]);
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!(number(Unit::Percent, -0.001), "0.00");
        assert_eq!(number(Unit::Megahertz, 2533.7), "2534");
    }
}
