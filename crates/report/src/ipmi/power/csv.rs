//! Power as CSV: a row for each sample. Unknown values are empty; `missing` says why the power is.

use crate::harmless::{csv_cell, csv_line};
use facts::Microwatts;
use lab::ipmi::power::{Power, Sample, Signals};
use rules::prochot::Since;

const HEADING: &str = "after_s,power_w,limit_w,at_limit,prochot,prochot_began,power_limit,power_limit_began,missing\n";

/// In the order of time. A signal is `true` where it held a clock down at the moment of the sample, and one that `began` where its log
/// was set since the sample before.
pub fn csv(power: &Power) -> String {
    let rows: String = power.samples.iter().map(|it| row(power, it)).collect();
    HEADING.to_owned() + &rows
}

fn row(power: &Power, sample: &Sample) -> String {
    let watts = |it: Microwatts| it.0 as f64 / 1e6;
    let signal = |of: fn(&Signals) -> Option<Since>| sample.signals.as_ref().and_then(of);
    let (prochot, power_limit) = (signal(|it| it.prochot), signal(|it| it.power_limit));
    csv_line(&[
        sample.at.as_secs_f64().to_string(),
        csv_cell(sample.reading.as_ref().ok().map(|it| watts(it.current))),
        csv_cell(power.limit.as_ref().map(|it| watts(it.power))),
        csv_cell(power.is_at_limit(sample)),
        csv_cell(prochot.map(|it| it.is_active)),
        csv_cell(prochot.map(|it| it.has_begun)),
        csv_cell(power_limit.map(|it| it.is_active)),
        csv_cell(power_limit.map(|it| it.has_begun)),
        csv_cell(sample.reading.as_ref().err()),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::fixture::power;
    use super::*;

    #[test]
    fn what_no_register_tells_and_no_controller_answers_is_empty() {
        let mut told = power(&[(310, ""), (490, "P"), (0, "L"), (480, "?")]);
        told.samples[2].reading = Err("busy, =1+1".to_owned());
        assert_eq!(
            csv(&told),
            "\
after_s,power_w,limit_w,at_limit,prochot,prochot_began,power_limit,power_limit_began,missing
0,310,500,false,false,false,false,false,
1,490,500,true,true,false,false,false,
2,,500,,false,true,false,false,\"busy, =1+1\"
3,480,500,true,,,,,
"
        );
        told.limit = None;
        assert!(csv(&told).contains("\n1,490,,,true,"));
    }
}
