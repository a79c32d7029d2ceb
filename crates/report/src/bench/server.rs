//! What the server under test did: a line of a result, and what it says beside a verdict.

use super::quantity::quantity;
use lab::summary::Summary;
use lab::trial::Better;

/// Of one arm: `1.24 s of CPU time each second, 0.53 s of waiting for a CPU; 57 us of CPU time for each of commits`.
pub(super) fn of_one(summary: &Summary) -> Option<String> {
    let means = summary.server.as_ref()?;
    let ran = seconds(means.cpu_per_s);
    let waited = match means.wait_per_s {
        Some(wait) => format!("{} of waiting for a CPU", seconds(wait)),
        None => "wait for a CPU unknown".to_owned(),
    };
    let cost = unit(summary).zip(means.cpu_s_per_unit);
    let cost = cost
        .map(|(unit, cost)| format!("; {} of CPU time {unit}", seconds(cost)))
        .unwrap_or_default();
    Some(format!("{ran} of CPU time each second, {waited}{cost}"))
}

/// Of two arms: the server's times in both. They stand beside a verdict, and are none.
pub(super) fn of_two(a: &Summary, b: &Summary) -> Option<String> {
    let (of_a, of_b) = (a.server.as_ref()?, b.server.as_ref()?);
    let both = |what: &str, in_a: Option<f64>, in_b: Option<f64>| {
        let (in_a, in_b) = (seconds(in_a?), seconds(in_b?));
        Some(format!("{what} {in_a} in {}, {in_b} in {}", a.arm, b.arm))
    };
    let parts = [
        both("CPU time each second", Some(of_a.cpu_per_s), Some(of_b.cpu_per_s)),
        unit(a).and_then(|unit| {
            both(&format!("CPU time {unit}"), of_a.cpu_s_per_unit, of_b.cpu_s_per_unit)
        }),
        both("waiting for a CPU each second", of_a.wait_per_s, of_b.wait_per_s),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// For what a cost is, where it is known what a unit is.
fn unit(summary: &Summary) -> Option<String> {
    let figure = summary.figures.first()?;
    match figure.better {
        Better::Lower => Some("per trial".to_owned()),
        Better::Higher if figure.unit == "1/s" => Some(format!("for each of {}", figure.name)),
        Better::Higher => None,
    }
}

fn seconds(seconds: f64) -> String {
    quantity(seconds, "s", None)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved};
    use super::*;
    use lab::record::Record;
    use lab::server::ServerMeans;
    use lab::summary::summary;

    /// Twenty trials of each of two arms, in which a server ran and waited.
    fn with_server(a: ServerMeans, b: ServerMeans) -> [Summary; 2] {
        let record: Record = interleaved(QUIET, QUIET, 10);
        let of =
            |arm: usize, means| Summary { server: Some(means), ..summary(&record, arm).unwrap() };
        [of(0, a), of(1, b)]
    }

    fn means(cpu_per_s: f64, wait_per_s: Option<f64>, cost: f64) -> ServerMeans {
        ServerMeans { cpu_per_s, wait_per_s, cpu_s_per_unit: Some(cost) }
    }

    #[test]
    fn the_servers_part_is_told_per_second_and_per_trial() {
        let [a, _] = with_server(means(1.5, Some(0.25), 0.75), means(1.0, None, 1.0));
        assert_eq!(
            of_one(&a).unwrap(),
            "1.500 s of CPU time each second, 250.0 ms of waiting for a CPU; 750.0 ms of CPU time per trial"
        );
    }

    #[test]
    fn two_arms_show_what_the_server_took_for_each() {
        let [a, b] = with_server(means(1.5, Some(0.25), 0.75), means(1.0, Some(0.5), 0.6));
        assert_eq!(
            of_two(&a, &b).unwrap(),
            "CPU time each second 1.500 s in A, 1.000 s in B; CPU time per trial 750.0 ms in A, 600.0 ms in B; waiting for \
             a CPU each second 250.0 ms in A, 500.0 ms in B"
        );
    }
}
