//! What the server under test did in the trials of an arm, on average.

use crate::stats::{Sample, median};
use crate::trial::{Better, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the server did in the trials of an arm: medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerMeans {
    /// CPU seconds of its processes per second.
    pub cpu_per_s: f64,
    /// Seconds that its threads were runnable and waited for a CPU, all together, per second; `None` where that is unknown.
    pub wait_per_s: Option<f64>,
    /// CPU seconds per unit of the main result: of a rate, that by which it counts in a second if it is one of seconds; of
    /// a time, per trial.
    pub cpu_s_per_unit: Option<f64>,
}

impl ServerMeans {
    /// Of the trials of one arm; `None` where no server is known.
    pub fn of(trials: &[&Trial]) -> Option<ServerMeans> {
        let of = |value: fn(&Trial) -> Option<f64>| {
            let values: Vec<f64> = trials.iter().filter_map(|it| value(it)).collect();
            Sample::new(values).ok().map(|it| median(&it))
        };
        Some(ServerMeans {
            cpu_per_s: of(|it| it.server.as_ref()?.cpus_busy())?,
            wait_per_s: of(|it| it.server.as_ref()?.cpus_waited()),
            cpu_s_per_unit: of(cost),
        })
    }
}

/// CPU seconds of the server per unit of the main result.
fn cost(trial: &Trial) -> Option<f64> {
    let server = trial.server.as_ref()?;
    let figure = trial.outcome.figures.first()?;
    match figure.better {
        Better::Higher => (figure.value > 0.0).then_some(server.cpus_busy()? / figure.value),
        Better::Lower => Some(*server.cpu_ns.value()? as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Known;
    use crate::server::ServerWork;
    use crate::trial::{Figure, FigureShape};

    /// A trial of two seconds in which the server ran for one and a half.
    fn trial(better: Better, value: f64) -> Trial {
        let mut trial = Trial::of_one_task(0, 1, 2.0);
        let shape = FigureShape { name: "metric", unit: "", better };
        trial.outcome.figures = vec![Figure::of(shape, value)].into();
        trial.server = Some(ServerWork {
            over_ns: 2_000_000_000,
            cpu_ns: Known::Value(1_500_000_000),
            uncertainty_ns: 0,
            wait_ns: Known::missing("too short"),
        });
        trial
    }

    #[test]
    fn of_a_rate_it_is_cpu_time_for_each_and_of_a_time_for_each_trial() {
        let means = |trial: &Trial| ServerMeans::of(&[trial]).unwrap();
        let rate = means(&trial(Better::Higher, 1000.0));
        assert_eq!((rate.cpu_per_s, rate.wait_per_s), (0.75, None));
        assert_eq!(rate.cpu_s_per_unit, Some(0.000_75));
        assert_eq!(means(&trial(Better::Lower, 2.0)).cpu_s_per_unit, Some(1.5));
    }

    #[test]
    fn without_a_server_there_are_none() {
        assert_eq!(ServerMeans::of(&[&Trial::of_one_task(0, 1, 2.0)]), None);
    }
}
