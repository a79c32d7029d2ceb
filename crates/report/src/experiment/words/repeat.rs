//! How to repeat a study.

use super::risk::i_know_of;
use crate::experiment::Study;

/// The command that runs the plan of `plan.toml`.
pub(in crate::experiment) fn command_line(study: &Study<'_>) -> String {
    format!("fullclock experiment{} plan.toml", i_know_of(study.experiment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::experiment::Factor;

    #[test]
    fn the_command_asks_for_what_can_do_harm_where_the_plan_varies_it() {
        let (mut record, analysis) = fixture::study();
        let of =
            |record: &lab::record::Record| command_line(&Study::of(record, &analysis).unwrap());
        assert_eq!(of(&record), "fullclock experiment plan.toml");
        let design = &mut record.experiment.as_mut().unwrap().design;
        design.factors[0] =
            Factor { name: "c1e".to_owned(), levels: vec!["on".to_owned(), "off".to_owned()] };
        assert_eq!(of(&record), "fullclock experiment --i-know plan.toml");
    }
}
