//! How to repeat a study: its plan as a file that `fullclock experiment` reads, and the command line.

use super::risk::i_know_of;
use crate::render::experiment::Study;
use lab::experiment::{Design, Factor, Guards, Shape};
use serde::{Serialize, Serializer};
use std::time::Duration;

/// The command that runs the plan of `plan.toml`.
pub(in crate::render::experiment) fn command_line(study: &Study<'_>) -> String {
    format!("fullclock experiment{} plan.toml", i_know_of(study.design()))
}

/// The plan as a file.
pub(in crate::render::experiment) fn plan(study: &Study<'_>) -> String {
    // A plan is texts and numbers: what TOML can hold.
    toml::to_string_pretty(&PlanFile::of(study.design()))
        .unwrap_or_else(|error| format!("# {error}\n"))
}

/// The shape of a plan file. What is `None` is not in it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct PlanFile<'a> {
    name: &'a str,
    workloads: &'a [String],
    shape: Shape,
    trials: u32,
    until: Option<String>,
    warm_up: u32,
    rest: Option<String>,
    budget: Option<String>,
    boots: Option<u32>,
    #[serde(serialize_with = "by_name")]
    factors: &'a [Factor],
    guards: GuardsFile,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct GuardsFile {
    temperature: Option<f64>,
    stolen: Option<String>,
    other_load: Option<String>,
}

impl PlanFile<'_> {
    fn of(design: &Design) -> PlanFile<'_> {
        let Guards { temperature, stolen, other_load } = design.guards;
        PlanFile {
            name: &design.name,
            workloads: &design.workloads,
            shape: design.shape,
            trials: design.trials,
            until: design.until.map(percentage),
            warm_up: design.warm_up,
            rest: Some(design.rest).filter(|it| !it.is_zero()).map(time),
            budget: design.budget.map(time),
            boots: design.boots.as_ref().map(|it| it.rounds),
            factors: &design.factors,
            guards: GuardsFile {
                temperature,
                stolen: stolen.map(percentage),
                other_load: other_load.map(percentage),
            },
        }
    }
}

/// A table, in the order of the design.
fn by_name<S: Serializer>(factors: &[Factor], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(factors.iter().map(|it| (&it.name, &it.levels)))
}

/// `0.3%`, without the digits that a share has beyond those that somebody wrote.
fn percentage(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

/// `500ms`.
fn time(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_secs_f64() * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::parse_plan;
    use crate::render::experiment::fixture;

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

    #[test]
    fn a_plan_is_read_back_as_the_design_it_was() {
        let (mut record, analysis) = fixture::study();
        let design = &mut record.experiment.as_mut().unwrap().design;
        design.name = "it's \"quoted\"\nin two lines".to_owned();
        design.shape = Shape::OneAtATime;
        design.until = Some(0.003);
        design.warm_up = 1;
        design.rest = Duration::from_millis(1500);
        design.budget = Some(Duration::from_secs(1200));
        design.guards =
            Guards { temperature: Some(90.0), stolen: Some(0.02), other_load: Some(0.07) };
        let text = plan(&Study::of(&record, &analysis).unwrap());
        let back = parse_plan(&text).unwrap_or_else(|error| panic!("{error:#}: {text}"));
        assert_eq!(back, record.experiment.unwrap().design);
    }
}
