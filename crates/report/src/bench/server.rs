//! What the server under test did: a line of a result, and what it says beside a verdict.

use super::quantity::quantity;
use lab::server::ServerMeans;
use lab::summary::Summary;
use lab::trial::Better;

/// Of one arm: `1.24 s of CPU time each second, 0.53 s of waiting for a CPU; 57 us of CPU time per unit of commits`.
pub(super) fn of_one(summary: &Summary) -> Option<String> {
    let means = summary.server.as_ref()?;
    let mut text = format!("{} of CPU time each second", quantity(means.cpu_per_s, "s", None));
    text += &match means.wait_per_s {
        Some(wait) => format!(", {} of waiting for a CPU", quantity(wait, "s", None)),
        None => ", wait for a CPU unknown".to_owned(),
    };
    if let Some(cost) = cost(summary, means) {
        text += &format!("; {cost}");
    }
    Some(text)
}

/// CPU time per unit, where it is known what a unit is.
fn cost(summary: &Summary, means: &ServerMeans) -> Option<String> {
    let figure = summary.figures.first()?;
    let cost = quantity(means.cpu_s_per_unit?, "s", None);
    match figure.better {
        Better::Lower => Some(format!("{cost} of CPU time per trial")),
        Better::Higher if figure.unit == "1/s" => {
            Some(format!("{cost} of CPU time for each of {}", figure.name))
        }
        Better::Higher => None,
    }
}

/// Of two arms: the server's times in both. They stand beside a verdict, and are none.
pub(super) fn of_two(a: &Summary, b: &Summary) -> Option<String> {
    let (of_a, of_b) = (a.server.as_ref()?, b.server.as_ref()?);
    let seconds = |it: f64| quantity(it, "s", None);
    let mut text = format!(
        "{} of CPU time each second in {}, {} in {}",
        seconds(of_a.cpu_per_s),
        a.arm,
        seconds(of_b.cpu_per_s),
        b.arm
    );
    if let Some((of_a, of_b)) = of_a.cpu_s_per_unit.zip(of_b.cpu_s_per_unit) {
        let unit = match a.figures.first().map(|it| it.better) {
            Some(Better::Higher) => "for each unit of the result",
            _ => "per trial",
        };
        text += &format!("; {unit} {} in {}, {} in {}", seconds(of_a), a.arm, seconds(of_b), b.arm);
    }
    if let Some((of_a, of_b)) = of_a.wait_per_s.zip(of_b.wait_per_s) {
        text += &format!(
            "; it waited for a CPU for {} each second in {}, {} in {}",
            seconds(of_a),
            a.arm,
            seconds(of_b),
            b.arm
        );
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{QUIET, interleaved};
    use super::*;
    use lab::record::Record;
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
            "1.500 s of CPU time each second in A, 1.000 s in B; per trial 750.0 ms in A, 600.0 ms in B; it waited for a CPU for 250.0 ms \
             each second in A, 500.0 ms in B"
        );
    }
}
