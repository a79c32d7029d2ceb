//! The limits of a plan: when to end a study for the machine's sake, or the figures'.
//!
//! A limit whose figure is missing would never be passed, and whoever set it relies on it: that ends the study, too. Trials that
//! failed have no figures, and pass.

use lab::experiment::Guards;
use lab::failure::Failure;
use lab::known::Known;
use lab::trial::{Trial, TrialContext};

/// A limit, and what was found.
struct Watched {
    option: &'static str,
    limit: Option<f64>,
    found: Known<f64>,
    /// What it is shown in, and how many of it are 1.
    unit: (&'static str, f64),
    what: &'static str,
}

/// Ends the study where its plan says so.
pub(super) fn guarded(trial: &Trial, guards: Guards) -> Result<(), Failure> {
    if trial.failed.is_some() {
        return Ok(());
    }
    let percent = ("% of the CPUs", 100.0);
    let of = |find: &dyn Fn(&TrialContext) -> Known<f64>| match &trial.surroundings {
        Known::Value(around) => find(around),
        Known::Missing { missing } => Known::Missing { missing: missing.clone() },
    };
    let watched = [
        Watched {
            option: "--max-temperature",
            limit: guards.temperature,
            found: of(&hottest),
            unit: ("degrees Celsius", 1.0),
            what: "a CPU was at",
        },
        Watched {
            option: "--max-stolen",
            limit: guards.stolen,
            found: of(&|it| share(it, "stolen")),
            unit: percent,
            what: "the hypervisor took",
        },
        Watched {
            option: "--max-other-load",
            limit: guards.other_load,
            found: of(&|it| share(it, "other-tasks")),
            unit: percent,
            what: "other tasks took",
        },
    ];
    watched.iter().try_for_each(|it| kept(trial.number, it))
}

fn kept(number: u32, it: &Watched) -> Result<(), Failure> {
    let Some(limit) = it.limit else { return Ok(()) };
    let (unit, factor) = it.unit;
    let why = match &it.found {
        Known::Value(found) if *found <= limit => return Ok(()),
        Known::Value(found) => format!(
            "{} {:.1} {unit}, and the limit is {:.1}",
            it.what,
            found * factor,
            limit * factor
        ),
        Known::Missing { missing } => {
            format!("{} cannot be watched here: {missing}; leave it out", it.option)
        }
    };
    Err(Failure::Guarded(format!("trial {number}: {why}")))
}

/// The hottest of all sensors; missing where none has a reading.
fn hottest(around: &TrialContext) -> Known<f64> {
    let sensors = || around.metrics.iter().filter(|it| it.metric == "temperature");
    let readings = sensors().filter_map(|it| it.value.value().copied());
    let missing = || {
        let why = sensors().find_map(|it| it.value.reason().map(str::to_owned));
        Known::missing(why.unwrap_or_else(|| "no sensor was read".to_owned()))
    };
    readings.reduce(f64::max).map_or_else(missing, Known::Value)
}

/// All parts of a line of the ledger; missing where there is none, or one of them is.
fn share(around: &TrialContext, id: &str) -> Known<f64> {
    let lines = || around.ledger.iter().filter(|it| it.loss == id);
    if lines().next().is_none() {
        return Known::missing("the ledger has no such line");
    }
    match lines().find_map(|it| it.share.reason().map(str::to_owned)) {
        Some(why) => Known::missing(why),
        None => Known::Value(lines().filter_map(|it| it.share.value().copied()).sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::trial::{Reading, Share};

    const ALL: Guards =
        Guards { temperature: Some(90.0), stolen: Some(0.02), other_load: Some(0.1) };

    fn missing() -> Known<f64> {
        Known::Missing { missing: "nobody can tell".to_owned() }
    }

    fn good(surroundings: Known<TrialContext>) -> Trial {
        let none = Failure::NoFigure("none".to_owned());
        let trial = Trial::failed(0, 1, Known::Value(0), &none);
        Trial { number: 7, failed: None, surroundings, ..trial }
    }

    fn trial(stolen: Known<f64>, degrees: &[Known<f64>]) -> Trial {
        let share = |loss: &str, share: Known<f64>| Share {
            loss: loss.to_owned(),
            part: String::new(),
            share,
        };
        let reading = |value: &Known<f64>| Reading {
            metric: "temperature".to_owned(),
            part: String::new(),
            value: value.clone(),
        };
        good(Known::Value(TrialContext {
            ledger: vec![share("stolen", stolen), share("other-tasks", Known::Value(0.0))].into(),
            metrics: degrees.iter().map(reading).collect(),
            ..TrialContext::default()
        }))
    }

    fn ended(it: &Trial) -> String {
        guarded(it, ALL).map_or_else(|why| why.to_string(), |()| String::new())
    }

    #[test]
    fn a_limit_that_is_passed_ends_the_study_and_says_which() {
        let of = |stolen, degrees| trial(Known::Value(stolen), &[Known::Value(degrees)]);
        assert_eq!(
            ended(&of(0.03, 20.0)),
            "trial 7: the hypervisor took 3.0 % of the CPUs, and the limit is 2.0"
        );
        assert!(ended(&of(0.0, 95.0)).starts_with("trial 7: a CPU was at 95.0 degrees"));
        assert_eq!(ended(&of(0.01, 50.0)), "");
        assert!(guarded(&of(0.9, 500.0), Guards::default()).is_ok());
    }

    #[test]
    fn the_hottest_sensor_counts() {
        let degrees = [Known::Value(50.0), missing(), Known::Value(91.0), Known::Value(60.0)];
        assert!(ended(&trial(Known::Value(0.0), &degrees)).contains("at 91.0 degrees"));
    }

    #[test]
    fn a_limit_that_cannot_be_watched_ends_the_study_and_says_why() {
        assert_eq!(
            ended(&trial(Known::Value(0.0), &[missing()])),
            "trial 7: --max-temperature cannot be watched here: nobody can tell; leave it out"
        );
        assert!(ended(&trial(Known::Value(0.0), &[])).contains("no sensor was read"));
        let error = ended(&trial(missing(), &[Known::Value(20.0)]));
        assert!(error.contains("--max-stolen cannot be watched here"), "{error}");
        let blind = good(Known::Missing { missing: "no sample".to_owned() });
        assert!(ended(&blind).contains("cannot be watched here: no sample"));
        assert!(guarded(&trial(missing(), &[]), Guards::default()).is_ok());
    }

    #[test]
    fn a_trial_that_failed_has_no_figures_and_ends_nothing() {
        let why = Failure::NoFigure("none".to_owned());
        assert_eq!(ended(&Trial::failed(0, 1, Known::Value(0), &why)), "");
    }
}
