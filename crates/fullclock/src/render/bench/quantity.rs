//! Numbers with as many digits as they are known to.

/// A number with its unit: seconds in the unit that fits, `precision` being half its interval as a share.
pub(super) fn quantity(value: f64, unit: &str, precision: Option<f64>) -> String {
    let (value, unit) = match unit {
        "s" => in_seconds(value),
        "Hz" => (value / 1e9, "GHz"),
        "cycles" => in_thousands(value),
        unit => (value, unit),
    };
    let digits = digits(precision);
    let text = significant(value, digits);
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// A share as a percentage with two digits that mean something: `0.73`, `12`, `0.0031`.
pub(super) fn percent(share: f64) -> String {
    significant(share * 100.0, 2)
}

/// The same with its sign.
pub(super) fn signed_percent(share: f64) -> String {
    let text = percent(share);
    if share > 0.0 { format!("+{text}") } else { text }
}

fn in_seconds(value: f64) -> (f64, &'static str) {
    match value.abs() {
        it if it >= 1.0 || it == 0.0 => (value, "s"),
        it if it >= 1e-3 => (value * 1e3, "ms"),
        it if it >= 1e-6 => (value * 1e6, "us"),
        _ => (value * 1e9, "ns"),
    }
}

fn in_thousands(value: f64) -> (f64, &'static str) {
    match value.abs() {
        it if it >= 1e9 => (value / 1e9, "G cycles"),
        it if it >= 1e6 => (value / 1e6, "M cycles"),
        _ => (value, "cycles"),
    }
}

/// One digit more than are certain.
fn digits(precision: Option<f64>) -> i32 {
    const UNKNOWN: i32 = 4;
    let certain = precision.filter(|it| *it > 0.0).map(|it| (-it.log10()).ceil() as i32 + 1);
    certain.unwrap_or(UNKNOWN).clamp(3, 7)
}

fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    // Beyond nanoseconds of a percent there is nothing to tell.
    let places = (digits - whole).clamp(0, 9) as usize;
    format!("{value:.places$}")
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
        assert_eq!(quantity(0.0, "s", None), "0 s");
    }

    #[test]
    fn a_percentage_has_two_digits_that_mean_something() {
        let told: Vec<String> = [0.0073, 0.123, 0.000_031, -0.05, 2.5].map(percent).to_vec();
        assert_eq!(told, ["0.73", "12", "0.0031", "-5.0", "250"]);
        assert_eq!(
            [signed_percent(0.01), signed_percent(-0.01), signed_percent(0.0)],
            ["+1.0", "-1.0", "0"]
        );
    }
}
