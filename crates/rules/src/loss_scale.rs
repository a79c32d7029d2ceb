//! How severe a loss of clock is: one scale for every check that can say how much is lost (docs/guide/audit.md).

use crate::finding::Severity;

/// From which loss on a finding is how severe, the most first. Less than the last is low.
pub const SCALE: [(f64, Severity); 2] = [(0.2, Severity::High), (0.05, Severity::Medium)];

/// The severity of a cap or limit that leaves this share of the clock, 0 to 1.
pub(crate) fn of_what_is_left(share: f64) -> Severity {
    // A share is a quotient of two clocks: 2400 of 3000 MHz is a loss of 20 %, whatever its last bit says.
    const ROUNDED: f64 = 1e-9;
    let lost = 1.0 - share + ROUNDED;
    SCALE.iter().find(|(least, _)| lost >= *least).map_or(Severity::Low, |it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_is_lost_the_more_severe_it_is() {
        let of = |share| of_what_is_left(share);
        assert_eq!([of(0.5), of(2400.0 / 3000.0), of(0.0)], [Severity::High; 3]);
        assert_eq!([of(0.81), of(0.95)], [Severity::Medium; 2]);
        assert_eq!([of(0.96), of(1.0), of(1.2)], [Severity::Low; 3]);
    }
}
