//! A difference of the main result in words: in its own unit and direction, never as another quantity.

use lab::compare::Design;
use lab::comparison::Comparison;
use lab::stats::Interval;
use lab::verdict::Ratio;

/// How sentences about a result are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// How long it took: B takes longer.
    Elapsed,
    /// A rate: B makes fewer of them a second.
    Rate,
    /// How long something in it took: B's is longer.
    Time,
    /// Any other number: B's is higher.
    Value,
}

impl Kind {
    pub(crate) fn of(figure: &str, unit: &str) -> Kind {
        match (figure, unit) {
            ("elapsed", _) => Kind::Elapsed,
            (_, "1/s") => Kind::Rate,
            (_, "s" | "ms" | "us" | "ns") => Kind::Time,
            _ => Kind::Value,
        }
    }

    /// Which way a result differs: `less` time, `fewer` commits/s, `shorter`, `lower`.
    pub(crate) fn way(self, is_less: bool) -> &'static str {
        match (self, is_less) {
            (Kind::Elapsed, true) => "less",
            (Kind::Rate, true) => "fewer",
            (Kind::Elapsed | Kind::Rate, false) => "more",
            (Kind::Time, true) => "shorter",
            (Kind::Time, false) => "longer",
            (Kind::Value, true) => "lower",
            (Kind::Value, false) => "higher",
        }
    }

    /// `between 0.7 % less and 0.1 % more`, without what it is more of; `None` where neither end differs from nothing.
    pub(crate) fn between(self, ratio: &Ratio) -> Option<String> {
        let (_, Interval { low, high }) = ratio.change();
        let [near, far] = percents([low, high], ratio);
        let [at_low, at_high] = [low, high].map(|it| self.way(it < 0.0));
        let differs = low != 0.0 || high != 0.0;
        differs.then(|| format!("between {near} % {at_low} and {far} % {at_high}"))
    }
}

/// The words for a main result of two arms: of two single runs in the past, as they say nothing of any other run.
pub(super) struct Words<'a> {
    /// `A`; of a single run `A's`, or `the run before`.
    a: String,
    /// `B`; of a single run `B's run`, or `the run after`.
    b: String,
    figure: &'a str,
    kind: Kind,
    is_past: bool,
}

impl<'a> Words<'a> {
    pub(super) fn of(it: &'a Comparison) -> Words<'a> {
        let words = Words::between(&it.a, &it.b, &it.figure, &it.unit);
        match it.difference.design {
            Design::Separate(..) => {
                let (a, b) = match (&*it.a, &*it.b) {
                    ("before", "after") => {
                        ("the run before".to_owned(), "the run after".to_owned())
                    }
                    (a, b) => (format!("{a}'s"), format!("{b}'s run")),
                };
                Words { a, b, is_past: true, ..words }
            }
            Design::Interleaved | Design::Runs(..) | Design::Race => words,
        }
    }

    pub(super) fn between(a: &str, b: &str, figure: &'a str, unit: &str) -> Words<'a> {
        Words {
            a: a.to_owned(),
            b: b.to_owned(),
            figure,
            kind: Kind::of(figure, unit),
            is_past: false,
        }
    }

    fn verb(&self) -> &'static str {
        match (self.kind, self.is_past) {
            (Kind::Elapsed, false) => "takes",
            (Kind::Elapsed, true) => "took",
            (Kind::Rate, false) => "makes",
            (Kind::Rate, true) => "made",
            (Kind::Time | Kind::Value, false) => "is",
            (Kind::Time | Kind::Value, true) => "was",
        }
    }

    /// `B takes 6.0 % longer than A`, and its interval: `5.9 to 6.1 %`.
    pub(super) fn claim(&self, ratio: &Ratio) -> (String, String) {
        let Words { a, b, figure, .. } = self;
        let verb = self.verb();
        if ratio.is_large() && ratio.log > 0.0 {
            let (times, interval) = ratio.times();
            let decimals = ratio.decimals_of_times();
            let [times, low, high] =
                [times, interval.low, interval.high].map(|it| format!("{it:.decimals$}"));
            let sentence = match self.kind {
                Kind::Elapsed => format!("{b} {verb} {times} times as long as {a}"),
                Kind::Rate => format!("{b} {verb} {times} times as many {figure}/s as {a}"),
                Kind::Time | Kind::Value => {
                    format!("the {figure} of {b} {verb} {times} times that of {a}")
                }
            };
            return (sentence, format!("{low} to {high}"));
        }
        let (change, Interval { low, high }) = ratio.change();
        let is_less = change < 0.0;
        let [near, far] = if is_less { [high, low] } else { [low, high] };
        let [change, near, far] = percents([change, near, far], ratio);
        let way = self.kind.way(is_less);
        let sentence = match self.kind {
            Kind::Elapsed if is_less => format!("{b} {verb} {change} % less time than {a}"),
            Kind::Elapsed => format!("{b} {verb} {change} % longer than {a}"),
            Kind::Rate => format!("{b} {verb} {change} % {way} {figure}/s than {a}"),
            Kind::Time | Kind::Value => {
                format!("the {figure} of {b} {verb} {change} % {way} than that of {a}")
            }
        };
        (sentence, format!("{near} to {far} %"))
    }

    /// `B takes between 0.7 % less and 0.1 % more time than A`.
    pub(super) fn range(&self, ratio: &Ratio) -> String {
        let Words { a, b, figure, .. } = self;
        let Some(between) = self.kind.between(ratio) else { return self.alike() };
        let verb = self.verb();
        match self.kind {
            Kind::Elapsed => format!("{b} {verb} {between} time than {a}"),
            Kind::Rate => format!("{b} {verb} {between} {figure}/s than {a}"),
            Kind::Time | Kind::Value => {
                format!("the {figure} of {b} {verb} {between} than that of {a}")
            }
        }
    }

    /// `B takes as long as A`.
    fn alike(&self) -> String {
        let Words { a, b, figure, .. } = self;
        let verb = self.verb();
        match self.kind {
            Kind::Elapsed => format!("{b} {verb} as long as {a}"),
            Kind::Rate => format!("{b} {verb} as many {figure}/s as {a}"),
            Kind::Time | Kind::Value => format!("the {figure} of {b} {verb} that of {a}"),
        }
    }

    /// `B takes as long as A, within 1 %: the difference is between -0.7 and +0.1 %`.
    pub(super) fn same(&self, ratio: &Ratio, margin: f64) -> String {
        let like = self.alike();
        let ([_, low, high], margin) = (signed(ratio), requested(margin));
        format!("{like}, within {margin} %: the difference is between {low} and {high} %")
    }
}

/// A share that the user gave, in percent as it was given: `1`, `0.3`.
pub(super) fn requested(share: f64) -> String {
    // A billionth of a percent is what is lost on the way to a share and back.
    ((share * 1e11).round() / 1e9).to_string()
}

/// Shares as percentages without signs, with the digits that the interval allows.
pub(crate) fn percents<const N: usize>(shares: [f64; N], ratio: &Ratio) -> [String; N] {
    let decimals = ratio.decimals();
    shares.map(|it| format!("{:.decimals$}", it.abs() * 100.0))
}

/// The same with their signs.
pub(crate) fn signed(ratio: &Ratio) -> [String; 3] {
    let decimals = ratio.decimals();
    let (change, interval) = ratio.change();
    [change, interval.low, interval.high].map(|it| {
        let text = format!("{:.decimals$}", it.abs() * 100.0);
        let is_nothing = !text.contains(|it| matches!(it, '1'..='9'));
        let sign = match it {
            _ if is_nothing => "",
            it if it < 0.0 => "-",
            _ => "+",
        };
        format!("{sign}{text}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(value: f64, low: f64, high: f64) -> Ratio {
        let [log, low, high] = [value, low, high].map(f64::ln_1p);
        Ratio { log, interval: Interval { low, high }, confidence: 0.99 }
    }

    #[test]
    fn a_time_is_longer_or_less_and_from_half_as_much_again_on_a_multiple() {
        let time = Words::between("A", "B", "elapsed", "s");
        let of = |it: &Ratio| {
            let (sentence, interval) = time.claim(it);
            format!("{sentence}: {interval}")
        };
        assert_eq!(of(&ratio(0.06, 0.059, 0.061)), "B takes 6.0 % longer than A: 5.9 to 6.1 %");
        let less = of(&ratio(-0.07, -0.079, -0.061));
        assert_eq!(less, "B takes 7.0 % less time than A: 6.1 to 7.9 %");
        assert_eq!(of(&ratio(1.4, 1.2, 1.6)), "B takes 2.4 times as long as A: 2.2 to 2.6");
        let wide = of(&ratio(1.4, 0.004, 4.0));
        assert_eq!(wide, "B takes 2.400 times as long as A: 1.004 to 5.000");
    }

    #[test]
    fn a_rate_is_fewer_or_more_and_never_a_time() {
        let rate = Words::between("A", "B", "commits", "1/s");
        let (sentence, interval) = rate.claim(&ratio(-0.5, -0.6, -0.4));
        assert_eq!((&*sentence, &*interval), ("B makes 50 % fewer commits/s than A", "40 to 60 %"));
        let (sentence, _) = rate.claim(&ratio(1.0, 0.8, 1.2));
        assert_eq!(sentence, "B makes 2.0 times as many commits/s as A");
    }

    #[test]
    fn a_time_within_a_result_is_longer_or_shorter() {
        let latency = Words::between("A", "B", "latency", "ns");
        let (sentence, _) = latency.claim(&ratio(0.06, 0.059, 0.061));
        assert_eq!(sentence, "the latency of B is 6.0 % longer than that of A");
        let unsure = latency.range(&ratio(-0.003, -0.007, 0.001));
        assert_eq!(
            unsure,
            "the latency of B is between 0.7 % shorter and 0.1 % longer than that of A"
        );
    }

    #[test]
    fn where_neither_end_differs_they_are_alike() {
        let equal = ratio(0.0, 0.0, 0.0);
        let of = |figure, unit| Words::between("A", "B", figure, unit).range(&equal);
        assert_eq!(of("elapsed", "s"), "B takes as long as A");
        assert_eq!(of("commits", "1/s"), "B makes as many commits/s as A");
        assert_eq!(of("speed", "M/s"), "the speed of B is that of A");
    }

    #[test]
    fn two_runs_took_as_long_as_they_did() {
        let run = |figure, unit| Words {
            a: "A's".to_owned(),
            b: "B's run".to_owned(),
            is_past: true,
            ..Words::between("A", "B", figure, unit)
        };
        let longer = ratio(0.06, 0.059, 0.061);
        let time = run("elapsed", "s");
        assert_eq!(time.claim(&longer).0, "B's run took 6.0 % longer than A's");
        assert_eq!(
            time.range(&ratio(-0.003, -0.007, 0.001)),
            "B's run took between 0.7 % less and 0.1 % more time than A's"
        );
        assert_eq!(
            run("commits", "1/s").claim(&longer).0,
            "B's run made 6.0 % more commits/s than A's"
        );
        assert_eq!(
            run("speed", "M/s").claim(&longer).0,
            "the speed of B's run was 6.0 % higher than that of A's"
        );
    }

    #[test]
    fn the_same_within_a_margin_says_between_which_differences() {
        let alike = ratio(-0.003, -0.007, 0.001);
        let same = |figure, unit| Words::between("A", "B", figure, unit).same(&alike, 0.01);
        let between = "within 1 %: the difference is between -0.7 and +0.1 %";
        assert_eq!(same("elapsed", "s"), format!("B takes as long as A, {between}"));
        assert_eq!(same("commits", "1/s"), format!("B makes as many commits/s as A, {between}"));
        assert_eq!(same("speed", "M/s"), format!("the speed of B is that of A, {between}"));
    }

    #[test]
    fn a_margin_is_as_it_was_given() {
        let given = [0.01, 0.003, 0.07, 0.29, 0.000_05].map(requested);
        assert_eq!(given, ["1", "0.3", "7", "29", "0.005"]);
    }

    #[test]
    fn no_difference_is_a_range_with_both_its_ends() {
        let unsure = ratio(-0.003, -0.007, 0.001);
        assert_eq!(
            Words::between("A", "B", "elapsed", "s").range(&unsure),
            "B takes between 0.7 % less and 0.1 % more time than A"
        );
        assert_eq!(
            Words::between("A", "B", "speed", "M/s").range(&unsure),
            "the speed of B is between 0.7 % lower and 0.1 % higher than that of A"
        );
    }
}
