//! How a CPU's speed stands to that of other machines with the same processor.
//!
//! Machines of one processor model differ by some percent; one that has a fraction of the others' speed is told by that
//! alone, whatever the cause. The published pair is 673 against 2713 million operations a second, 24.8 %: firmware
//! had left the clock modulated to a duty cycle of 25 %.

use crate::record::Record;
use crate::stats::Sample;
use std::fmt;

/// One machine's speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// The processor, as /proc/cpuinfo calls it.
    pub model: String,
    /// Million simple operations a second, above 0 and finite.
    pub speed: f64,
}

/// How a speed stands to its peers'.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The speed that was compared, in million operations a second.
    pub speed: f64,
    /// The processor.
    pub model: String,
    /// How many peers have it.
    pub n_peers: usize,
    /// The middle one of their speeds, in million operations a second.
    pub median: f64,
}

/// A line of a file of peers that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {number}: `{text}`: expected `MODEL ; SPEED`, the speed in million operations a second"
)]
pub struct BadLine {
    number: usize,
    text: String,
}

/// The peers of a file of lines `MODEL ; SPEED`. Empty lines and those that begin with `#` are left out.
///
/// Errors: the first line that is neither.
pub fn parse(text: &str) -> Result<Vec<Peer>, BadLine> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            peer(line).ok_or_else(|| BadLine { number, text: line.chars().take(80).collect() })
        })
        .collect()
}

fn peer(line: &str) -> Option<Peer> {
    // A model's name may hold a semicolon; a speed does not.
    let (model, speed) = line.rsplit_once(';')?;
    let speed = speed.trim().parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0)?;
    let model = spaced_once(model);
    (!model.is_empty()).then_some(Peer { model, speed })
}

/// The peer that a result of `cpu-speed` is: the median of its trials, over all arms. `None` where it is of another
/// workload, or does not know its processor.
pub fn of_record(record: &Record) -> Option<Peer> {
    let model = spaced_once(record.machine.0.get("cpu model")?);
    let is_speed = |arm: usize| record.arms.get(arm).is_some_and(|it| it.workload == "cpu-speed");
    let trials = record.trials.iter().filter(|it| is_speed(it.arm));
    let speeds = trials.filter_map(|it| Some(it.outcome.figures.first()?.value)).collect();
    let speed = Sample::new(speeds).ok()?.quantile(0.5);
    (speed > 0.0 && !model.is_empty()).then_some(Peer { model, speed })
}

/// How `speed` of a processor `model` stands to those peers that have the same; `None` where there are none, or it is
/// no speed.
pub fn standing(model: &str, speed: f64, peers: &[Peer]) -> Option<Standing> {
    let model = spaced_once(model);
    let of_model = peers.iter().filter(|it| it.model == model).map(|it| it.speed);
    let speeds = Sample::new(of_model.collect()).ok()?;
    let median = speeds.quantile(0.5);
    let is_speed = speed.is_finite() && speed > 0.0;
    is_speed.then_some(Standing { speed, model, n_peers: speeds.len(), median })
}

impl Standing {
    /// The speed as a share of the peers' median.
    pub fn share(&self) -> f64 {
        self.speed / self.median
    }

    /// The duty cycle of clock modulation, in eighths, that would make a peer this slow, where there is one: within one
    /// percent of full speed, and no more than half of it. Every processor with clock modulation has steps of an eighth
    /// (Intel SDM vol. 3, "Software Controlled Clock Modulation").
    pub fn duty_in_eighths(&self) -> Option<u32> {
        (1..=4).find(|eighths| (self.share() - f64::from(*eighths) / 8.0).abs() <= 0.01)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Standing { speed, model, n_peers, median } = self;
        let whom = match n_peers {
            1 => "of its one peer".to_owned(),
            n => format!("of the median of its {n} peers"),
        };
        let percent = self.share() * 100.0;
        write!(
            out,
            "{speed:.0} M/s is {percent:.1} % {whom} with the same processor ({model}), {median:.0} M/s"
        )?;
        if let Some(eighths) = self.duty_in_eighths() {
            let duty = f64::from(eighths) * 12.5;
            write!(out, "; a clock modulated to a duty cycle of {duty} % would be that slow")?;
        }
        Ok(())
    }
}

/// Firmware pads the names of processors with spaces.
fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{record, trial};

    const PEERS: &str = "\
# model ; million operations a second
Intel(R) Xeon(R) CPU           E5-2690 0 @ 2.90GHz ; 2713

Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz;2600.5
";

    fn told(model: &str, speed: f64, peers: &str) -> String {
        standing(model, speed, &parse(peers).unwrap())
            .map_or_else(|| "no peers".to_owned(), |it| it.to_string())
    }

    #[test]
    fn the_published_pair_is_a_duty_cycle_of_a_quarter() {
        let model = "Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz";
        assert_eq!(
            told(model, 673.0, PEERS),
            "673 M/s is 24.8 % of its one peer with the same processor (Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz), \
             2713 M/s; a clock modulated to a duty cycle of 25 % would be that slow"
        );
    }

    #[test]
    fn a_healthy_machine_is_like_the_middle_of_its_peers() {
        let peers = "A;700\nA;800\nA;90\nB;1\n";
        assert_eq!(
            told("A", 707.0, peers),
            "707 M/s is 101.0 % of the median of its 3 peers with the same processor (A), 700 M/s"
        );
    }

    #[test]
    fn a_duty_cycle_is_seen_only_where_turbo_cannot_be_the_cause() {
        let duty =
            |speed| standing("A", speed, &parse("A;1000").unwrap()).unwrap().duty_in_eighths();
        assert_eq!([125.0, 259.0, 375.0, 495.0].map(duty), [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([750.0, 300.0, 1000.0, 0.1].map(duty), [None; 4]);
    }

    #[test]
    fn another_processor_is_no_peer_and_no_number_is_no_speed() {
        assert_eq!(told("C", 673.0, PEERS), "no peers");
        assert_eq!(told("A", f64::NAN, "A;1"), "no peers");
        assert_eq!(told("A", 1.0, ""), "no peers");
    }

    #[test]
    fn a_result_of_the_workload_is_a_peer_and_another_is_none() {
        let trials = [650.0, 673.0, 680.0].map(|speed| trial(0, 1, speed, 2e9));
        let mut record = record(trials.into());
        record.machine.0.insert("cpu model".to_owned(), "A  B ".to_owned());
        assert_eq!(of_record(&record), None);
        record.arms[0].workload = "cpu-speed".to_owned();
        assert_eq!(of_record(&record), Some(Peer { model: "A B".to_owned(), speed: 673.0 }));
        record.machine.0.clear();
        assert_eq!(of_record(&record), None);
    }

    #[test]
    fn a_bad_line_is_named() {
        for bad in ["A 700", "A;", ";700", "A;0", "A;-1", "A;nan", "A;inf", "A;1e999"] {
            let error = parse(&format!("# peers\n{bad}\n")).unwrap_err().to_string();
            let expected = "expected `MODEL ; SPEED`, the speed in million operations a second";
            assert_eq!(error, format!("line 2: `{bad}`: {expected}"));
        }
    }
}
