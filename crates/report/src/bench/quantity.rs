//! Numbers with as many digits as they are known to.

use lab::stats::Interval;

/// A number with its unit: seconds in the unit that fits, `precision` being half its interval as a share.
pub(crate) fn quantity(value: f64, unit: &str, precision: Option<f64>) -> String {
    let scale = Scale::of(value, unit);
    scale.named(significant(scale.number(value), digits(precision)))
}

/// A value and its interval, `12.401 s` and `12.390 to 12.412 s`, in the unit that fits the value and with the digits that the
/// interval allows: its ends are printed differently unless they are the same.
pub(crate) fn with_interval(value: f64, interval: Interval, unit: &str) -> (String, String) {
    let scale = Scale::of(value, unit);
    let places = scale.decimals(value, interval);
    let [value, low, high] = [value, interval.low, interval.high]
        .map(|it| without_sign_of_nothing(format!("{:.places$}", scale.number(it))));
    (scale.named(value), range(&scale.named(low), &scale.named(high)))
}

/// The unit in which values about as large as one of them are printed: seconds as milliseconds, hertz as GHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale<'a> {
    /// How many of the value's own units are one of these.
    factor: f64,
    unit: &'a str,
}

impl<'a> Scale<'a> {
    pub(crate) fn of(value: f64, unit: &'a str) -> Scale<'a> {
        let (factor, unit) = match unit {
            "s" => seconds(value.abs()),
            "Hz" => (1e9, "GHz"),
            "cycles" => cycles(value.abs()),
            unit => (1.0, unit),
        };
        Scale { factor, unit }
    }

    /// The value in this unit.
    pub(crate) fn number(self, value: f64) -> f64 {
        value / self.factor
    }

    /// How many decimals show a value in this unit, and the ends of its interval.
    pub(crate) fn decimals(self, value: f64, interval: Interval) -> usize {
        let half = interval.half_width();
        if value == 0.0 && half > 0.0 {
            let places = -self.number(half).log10().floor();
            return places.clamp(0.0, f64::from(MOST_PLACES)) as usize;
        }
        decimals(self.number(value), Some(half / value.abs()))
    }

    /// A number in this unit with its name.
    fn named(self, number: String) -> String {
        match self.unit {
            "" => number,
            "1/s" => format!("{number}/s"),
            unit => format!("{number} {unit}"),
        }
    }

    /// What a column of such values is called: `elapsed (ms)`, `commits/s`.
    pub(crate) fn heading(self, name: &str) -> String {
        match self.unit {
            "" => name.to_owned(),
            "1/s" => format!("{name}/s"),
            unit => format!("{name} ({unit})"),
        }
    }
}

/// How many decimals show `value` with the digits that `precision` allows.
pub(crate) fn decimals(value: f64, precision: Option<f64>) -> usize {
    places(value, digits(precision))
}

/// `12.39 to 12.41 s`, `980 to 990/s`: two quantities of one unit name it once.
pub(crate) fn range(low: &str, high: &str) -> String {
    match (low.split_once([' ', '/']), high.split_once([' ', '/'])) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// A share as a percentage with two digits that mean something: `0.73`, `12`, `0.0031`.
pub(crate) fn percent(share: f64) -> String {
    significant(share * 100.0, 2)
}

/// `99 %`, `99.9 %`: with which chance an interval holds the truth.
pub(crate) fn confidence(share: f64) -> String {
    let missing = (1.0 - share) * 100.0;
    // As many digits as show what is missing to all.
    let places =
        if missing > 0.99 { 0 } else { (-missing.log10()).ceil().clamp(1.0, 4.0) as usize };
    // Rounded down: more is not promised.
    let shift = 10_f64.powi(places as i32);
    format!("{:.places$} %", (share * 100.0 * shift + 1e-6).floor() / shift)
}

/// Shares as percentages with the digits that an interval leaves certain of which `half` is half the width: two of
/// that.
pub(crate) fn percents<const N: usize>(shares: [f64; N], half: f64) -> [String; N] {
    const UNKNOWN: i32 = 2;
    let half = half.abs() * 100.0;
    let digits =
        if half > 0.0 && half.is_finite() { 1 - half.log10().floor() as i32 } else { UNKNOWN };
    // A hundred thousandth of a percent is less than any clock shows.
    let places = digits.clamp(0, 5) as usize;
    shares.map(|it| without_sign_of_nothing(format!("{:.places$}", it * 100.0)))
}

/// The same with their signs.
pub(crate) fn signed_percents<const N: usize>(shares: [f64; N], half: f64) -> [String; N] {
    percents(shares, half)
        .map(|it| if it.starts_with('-') || is_nothing(&it) { it } else { format!("+{it}") })
}

/// What was rounded to 0 is neither more nor less.
fn without_sign_of_nothing(text: String) -> String {
    if is_nothing(&text) { text.trim_start_matches('-').to_owned() } else { text }
}

fn is_nothing(number: &str) -> bool {
    !number.contains(|it: char| ('1'..='9').contains(&it))
}

fn seconds(value: f64) -> (f64, &'static str) {
    match value {
        it if it >= 1.0 || it == 0.0 => (1.0, "s"),
        it if it >= 1e-3 => (1e-3, "ms"),
        it if it >= 1e-6 => (1e-6, "us"),
        _ => (1e-9, "ns"),
    }
}

fn cycles(value: f64) -> (f64, &'static str) {
    match value {
        it if it >= 1e9 => (1e9, "G cycles"),
        it if it >= 1e6 => (1e6, "M cycles"),
        _ => (1.0, "cycles"),
    }
}

/// One digit more than are certain.
fn digits(precision: Option<f64>) -> i32 {
    const UNKNOWN: i32 = 4;
    let certain = precision.filter(|it| *it > 0.0).map(|it| (-it.log10()).ceil() as i32 + 1);
    certain.unwrap_or(UNKNOWN).clamp(3, MOST_DIGITS)
}

/// An f64 has no more.
const MOST_DIGITS: i32 = 15;

/// A clock of 2.7 GHz is known to a few Hz at best.
const MOST_PLACES: i32 = 12;

/// With that many significant digits.
pub(super) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let places = places(value, digits);
    format!("{value:.places$}")
}

/// Decimals of a value with that many significant digits.
fn places(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    (digits - whole).clamp(0, MOST_PLACES) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_the_digits_that_its_precision_allows() {
        assert_eq!(quantity(12.314_159, "s", Some(0.003)), "12.31 s");
        assert_eq!(quantity(0.012_314_159, "s", Some(0.2)), "12.3 ms");
        assert_eq!(quantity(0.000_012_314, "s", None), "12.31 us");
        assert_eq!(quantity(3.2054e9, "Hz", Some(0.001)), "3.205 GHz");
        assert_eq!(quantity(395_123_456.0, "cycles", Some(0.0001)), "395.12 M cycles");
        assert_eq!(quantity(1234.0, "tps", None), "1234 tps");
        assert_eq!(quantity(17_123.4, "1/s", Some(0.01)), "17123/s");
        assert_eq!(quantity(0.0, "s", None), "0 s");
    }

    #[test]
    fn values_of_a_row_share_a_unit() {
        let scale = Scale::of(0.001_02, "s");
        let shown = [0.000_981, 0.001_02].map(|it| format!("{:.3}", scale.number(it)));
        assert_eq!(shown, ["0.981", "1.020"]);
        assert_eq!(scale.heading("elapsed"), "elapsed (ms)");
        assert_eq!(Scale::of(20_000.0, "1/s").heading("commits"), "commits/s");
        assert_eq!(Scale::of(2.0, "").heading("score"), "score");
        assert_eq!([decimals(1.02, Some(0.003)), decimals(0.0, None)], [3, 0]);
    }

    #[test]
    fn an_interval_has_the_unit_of_its_value_and_the_digits_that_it_allows() {
        let shown = |value, low, high| {
            let (value, interval) = with_interval(value, Interval { low, high }, "s");
            format!("{value} ({interval})")
        };
        assert_eq!(shown(0.0497, 0.0496, 0.0498), "49.70 ms (49.60 to 49.80 ms)");
        assert_eq!(shown(1.02, 0.981, 1.06), "1.02 s (0.98 to 1.06 s)");
        assert_eq!(shown(0.05, 0.05, 0.05), "50.00 ms (50.00 to 50.00 ms)");
        assert_eq!(shown(0.0, -0.31, 0.29), "0.0 s (-0.3 to 0.3 s)");
        let rate = with_interval(17_123.4, Interval { low: 17_000.0, high: 17_250.0 }, "1/s");
        assert_eq!(rate, ("17123/s".to_owned(), "17000 to 17250/s".to_owned()));
    }

    #[test]
    fn different_ends_are_printed_differently() {
        for (at, half) in (0..400).flat_map(|at| (0..24).map(move |half| (at, half))) {
            let value =
                10.0_f64.powf(f64::from(at) / 25.0 - 8.0) * if at % 3 == 0 { -1.0 } else { 1.0 };
            let half = value.abs() * 10.0_f64.powf(-f64::from(half) / 3.0);
            let interval = Interval { low: value - half, high: value + half };
            let (_, text) = with_interval(value, interval, "s");
            let (low, high) = text.split_once(" to ").unwrap();
            assert_ne!(Some(low), high.split(' ').next(), "{text} of {interval:?}");
        }
    }

    #[test]
    fn a_range_names_its_unit_once() {
        assert_eq!(range("12.39 s", "12.41 s"), "12.39 to 12.41 s");
        assert_eq!(range("981 us", "1.02 ms"), "981 us to 1.02 ms");
        assert_eq!(range("980/s", "990/s"), "980 to 990/s");
        assert_eq!(range("7", "8"), "7 to 8");
    }

    #[test]
    fn percentages_have_two_digits_of_half_their_interval() {
        let shares = [0.0073, 0.0049, -0.000_001];
        assert_eq!(percents(shares, 0.0012), ["0.73", "0.49", "0.00"]);
        assert_eq!(signed_percents(shares, 0.000_12), ["+0.730", "+0.490", "0.000"]);
        assert_eq!(signed_percents([-0.228_2, 1.5], 0.12), ["-23", "+150"]);
        assert_eq!(percents([0.25], 0.0), ["25.00"]);
    }

    #[test]
    fn a_percentage_has_two_digits_that_mean_something() {
        let told: Vec<String> = [0.0073, 0.123, 0.000_031, -0.05, 2.5].map(percent).to_vec();
        assert_eq!(told, ["0.73", "12", "0.0031", "-5.0", "250"]);
    }

    #[test]
    fn a_confidence_shows_what_is_missing_to_all() {
        let shown = [0.99, 0.995, 1.0 - 0.01 / 7.0].map(confidence);
        assert_eq!(shown, ["99 %", "99.5 %", "99.8 %"]);
    }
}
