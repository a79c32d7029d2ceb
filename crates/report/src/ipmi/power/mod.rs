//! The board's power against the controller's limit, and the PROCHOT# signals sampled with it.

mod csv;
mod document;
#[cfg(test)]
mod fixture;
mod json;

pub use csv::csv;
pub use document::document;
pub(crate) use json::PowerDocument;
pub use json::json;

use facts::ipmi::PowerLimit;
use lab::ipmi::power::Power;
use rules::power_cap::{Counts, Relation};

/// The limit, and the action if it is exceeded.
fn limit(limit: Option<&PowerLimit>) -> String {
    let Some(limit) = limit else { return "none is in force".to_owned() };
    let within = limit.correction.as_secs_f64();
    format!("{}; after {within} s above the limit, {}", limit.power, limit.action)
}

/// The number of samples in which something was seen.
fn of_samples((n_seen, n_told): (usize, usize)) -> String {
    match n_seen {
        0 => format!("in none of {n_told} samples"),
        _ => format!("in {n_seen} of {n_told} samples"),
    }
}

/// How PROCHOT# and the limit are related.
fn conclusion(power: &Power) -> String {
    if let Err(why) = &power.registers {
        return format!("Whether the CPUs are clipped is unknown: {why}.");
    }
    let (n_pulled, n_told) = power.seen(|it| it.prochot);
    if power.limit.is_none() {
        return match (n_told, n_pulled) {
            (0, _) => "Whether PROCHOT# is pulled is unknown: no register that could be read shows it.".to_owned(),
            (_, 0) => "There is no limit, and PROCHOT# is not pulled: power clips nothing here.".to_owned(),
            _ => "There is no limit, and PROCHOT# is pulled all the same: look at power supplies, heat and the chassis \
                  (`ipmitool sel elist`, `fullclock explain prochot-asserted`)."
                .to_owned(),
        };
    }
    together(&power.counts())
}

fn together(counts: &Counts) -> String {
    let Counts { n_moments, n_at_limit, n_both, .. } = *counts;
    let (n_below, n_pulled_below) = (n_moments - n_at_limit, counts.n_pulled_below());
    match counts.relation() {
        Relation::Unknown => {
            "Whether the limit clips the CPUs is unknown: no sample has both the board's power and PROCHOT#.".to_owned()
        }
        Relation::NeverPulled if n_at_limit == 0 => {
            "The board stays below its limit, and PROCHOT# is not pulled: the limit costs nothing now. Look again under load."
                .to_owned()
        }
        Relation::NeverPulled => format!(
            "The board is at its limit in {n_at_limit} of {n_moments} samples, and PROCHOT# is not pulled: what keeps it there \
             is no PROCHOT# that a sample caught; the processors' own power limits are the other way."
        ),
        Relation::Together => format!(
            "PROCHOT# and the limit go together: it is pulled in {n_both} of the {n_at_limit} samples at the limit and in none of the \
             {n_below} below it, as by a controller that clips the CPUs to keep its limit (`fullclock explain bmc-power-cap`)."
        ),
        Relation::Mostly => format!(
            "PROCHOT# and the limit mostly go together: it is pulled in {n_both} of the {n_at_limit} samples at the limit and in \
             {n_pulled_below} of the {n_below} below it; what the controller reads may lag by some seconds."
        ),
        Relation::AlwaysAtLimit => format!(
            "The board was at its limit in all {n_moments} samples, and PROCHOT# pulled in {n_both}: nothing to compare with. \
             Look again with less load, whether PROCHOT# ends when the board is below its limit."
        ),
        Relation::Apart => format!(
            "PROCHOT# and the limit do not go together: it is pulled in {n_pulled_below} of the {n_below} samples below the limit and \
             in {n_both} of the {n_at_limit} at it, so that something else pulls it (`fullclock explain prochot-asserted`)."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::power;
    use super::*;

    fn conclude(samples: &[(u64, &str)]) -> String {
        conclusion(&power(samples))
    }

    #[test]
    fn what_goes_together_is_told_with_its_numbers() {
        let together = conclude(&[(300, ""), (490, "P"), (495, "P"), (310, "")]);
        let begins = "PROCHOT# and the limit go together: it is pulled in 2 of the 2 samples at the limit and in none of the 2 below it";
        assert!(together.starts_with(begins), "{together}");
        assert!(
            conclude(&[(300, "L"), (490, "P"), (495, "P"), (310, ""), (310, "")])
                .starts_with("PROCHOT# and the limit mostly go")
        );
    }

    #[test]
    fn what_does_not_go_together_is_not_blamed_on_the_limit() {
        let apart = conclude(&[(300, "P"), (310, "P"), (490, "")]);
        assert!(apart.starts_with("PROCHOT# and the limit do not go together"), "{apart}");
        assert!(conclude(&[(490, "P"), (490, "P")]).contains("nothing to compare with"));
        assert!(conclude(&[(490, ""), (300, "")]).contains("is not pulled: what keeps it there"));
        assert!(conclude(&[(300, "")]).contains("the limit costs nothing now"));
        assert!(conclude(&[(0, "P"), (300, "?")]).contains("no sample has both"));
    }

    #[test]
    fn without_a_limit_and_without_registers_it_says_so() {
        let mut free = power(&[(490, "P")]);
        free.limit = None;
        assert!(
            conclusion(&free).starts_with("There is no limit, and PROCHOT# is pulled all the same")
        );
        free.registers = Err("no device (modprobe msr)".to_owned());
        assert_eq!(
            conclusion(&free),
            "Whether the CPUs are clipped is unknown: no device (modprobe msr)."
        );
    }

    #[test]
    fn a_limit_says_what_follows() {
        let limited = power(&[]).limit;
        assert_eq!(limit(limited.as_ref()), "500 W; after 6 s above the limit, an event is logged");
        assert_eq!(limit(None), "none is in force");
    }
}
