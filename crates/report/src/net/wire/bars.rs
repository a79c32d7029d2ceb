//! Bars of a terminal whose length is the logarithm of a value: two bytes and 8 MiB move rates that differ ten thousandfold, and
//! each of both has to be seen.

/// The longest bar.
const LONGEST: f64 = 34.0;

/// From this ratio of the largest to the smallest on; what lies closer is compared by its length.
const WIDE: f64 = 8.0;

/// What a bar begins and ends with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bars {
    /// Where bars begin: a value below all, or zero.
    from: f64,
    /// The largest value.
    to: f64,
}

impl Bars {
    /// For these values: from half of the smallest, or from zero where they lie close.
    pub(super) fn of(values: &[u64]) -> Bars {
        let known = values.iter().filter(|it| **it > 0).map(|it| *it as f64);
        let (least, most) =
            known.fold((f64::INFINITY, 0.0_f64), |(a, b), it| (a.min(it), b.max(it)));
        let is_wide = most > WIDE * least;
        // Not from the smallest itself, so that this has a bar, too.
        let from = if is_wide { least / 2.0 } else { 0.0 };
        Bars { from, to: most }
    }

    /// The bar of a value; what is there at all has a mark.
    pub(super) fn bar(&self, value: u64) -> String {
        if value == 0 || self.to <= 0.0 {
            return String::new();
        }
        let value = value as f64;
        let share = if self.from > 0.0 {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            value / self.to
        };
        "#".repeat(((share.clamp(0.0, 1.0) * LONGEST).round() as usize).max(1))
    }

    /// What stands above the bars: where they begin and where they end, and that each mark is a factor where it is one.
    pub(super) fn ends(&self, shown: impl Fn(f64) -> String) -> String {
        if self.to <= 0.0 {
            return String::new();
        }
        let (from, to) =
            (if self.from > 0.0 { shown(self.from) } else { "0".to_owned() }, shown(self.to));
        let room = (LONGEST as usize).saturating_sub(from.chars().count() + 2);
        let each = if self.from > 0.0 {
            let factor = (self.to / self.from).powf(1.0 / LONGEST);
            format!("  (each # is {factor:.2} times as much)")
        } else {
            String::new()
        };
        format!("|{from}{to:>room$}|{each}")
    }
}

/// A number with three digits that mean something.
pub(super) fn significant(value: f64) -> String {
    let places = match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_of_a_wide_range_is_seen_and_each_doubling_is_as_long() {
        let bars = Bars::of(&[1, 2, 4, 1 << 20]);
        let lengths = [1, 2, 4, 1 << 20].map(|it| bars.bar(it).len());
        assert_eq!(lengths, [2, 3, 5, 34]);
        let head = bars.ends(|it| format!("{it} B"));
        assert!(
            head.starts_with("|0.5 B") && head.contains("1048576 B|  (each # is 1.53"),
            "{head}"
        );
    }

    #[test]
    fn what_lies_close_is_as_long_as_it_is_and_begins_at_zero() {
        let bars = Bars::of(&[50, 100]);
        assert_eq!([bars.bar(50).len(), bars.bar(100).len(), bars.bar(0).len()], [17, 34, 0]);
        assert!(bars.ends(|it| it.to_string()).starts_with("|0 "));
        assert_eq!(Bars::of(&[0]).bar(0), "");
    }
}
