//! The command that repeats a study, and whether it needs `--i-know`.

use crate::experiment::Study;
use lab::experiment::Experiment;
use rules::setting::Risk;

/// ` --i-know` if any request (`c1e=off`) is refused without it, on any machine or on that of the study.
pub(super) fn i_know<'a>(
    requests: impl IntoIterator<Item = &'a String>,
    experiment: &Experiment,
) -> &'static str {
    let is_refused = |request: &String| {
        let id = request.split_once('=').map_or(&**request, |it| it.0);
        rules::settings::find(id).is_some_and(|it| it.risk == Risk::High)
            || experiment.with_consent.iter().any(|it| it == id)
    };
    if requests.into_iter().any(is_refused) { " --i-know" } else { "" }
}

/// ` --i-know` if the study varies a setting that needs it, or its trials bring back a fault that a setting fixes.
pub fn i_know_of(experiment: &Experiment) -> &'static str {
    let factors = &experiment.design.factors;
    let requests = factors
        .iter()
        .flat_map(|factor| factor.levels.iter().filter_map(move |level| factor.request(level)));
    if factors.iter().any(|it| rules::settings::only_mends(&it.name)) {
        return " --i-know";
    }
    i_know(&requests.collect::<Vec<String>>(), experiment)
}

/// The command that runs the plan of `plan.toml`.
pub(in crate::experiment) fn command_line(study: &Study<'_>) -> String {
    format!("fullclock experiment{} plan.toml", i_know_of(study.experiment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture;
    use lab::experiment::{Design, Factor};

    fn experiment(design: Design) -> Experiment {
        Experiment::of(design, Vec::new(), 1)
    }

    #[test]
    fn only_what_is_refused_without_it_asks_for_it() {
        let mut study = experiment(Design::default());
        let of = |requests: &[&str], study: &Experiment| {
            i_know(&requests.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>(), study)
        };
        assert_eq!(of(&["governor=performance", "c1e=off@0-3"], &study), " --i-know");
        assert_eq!(of(&["governor=performance", "idle-state=C6:off"], &study), "");
        study.with_consent = vec!["clocksource".to_owned()];
        assert_eq!(of(&["governor=performance"], &study), "");
        assert_eq!(of(&["governor=performance", "clocksource=hpet"], &study), " --i-know");
    }

    #[test]
    fn a_study_that_brings_a_fault_back_asks_for_it_and_mending_the_fault_does_not() {
        let levels = [Factor::AS_FOUND, "off"].map(str::to_owned).to_vec();
        let factor = Factor { name: "on-demand-modulation".to_owned(), levels };
        let request = factor.request("off").unwrap();
        let mut study = experiment(Design { factors: vec![factor], ..Design::default() });
        assert_eq!(i_know_of(&study), " --i-know");
        assert_eq!(i_know(std::slice::from_ref(&request), &study), "");
        // On this model the register is not known to work as documented.
        study.with_consent = vec!["on-demand-modulation".to_owned()];
        assert_eq!(i_know(&[request], &study), " --i-know");
    }

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
