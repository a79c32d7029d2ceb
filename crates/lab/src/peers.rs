//! How a CPU's speed stands to that of other machines with the same processor.
//!
//! Machines of one processor model differ by some percent; one that has a fraction of the others' speed is told by that
//! alone, whatever the cause. The published pair is 673 against 2713 million operations a second, 24.8 %: firmware
//! had left the clock modulated to a duty cycle of 25 %.

use crate::known::Known;
use crate::record::Record;
use crate::stats::Sample;
use crate::workloads::CPU_SPEED;

/// A machine with its speed, to compare with.
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
    /// The model name of the processor.
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
            peer_of(line).ok_or_else(|| BadLine { number, text: line.chars().take(80).collect() })
        })
        .collect()
}

fn peer_of(line: &str) -> Option<Peer> {
    // A model's name may hold a semicolon; a speed does not.
    let (model, speed) = line.rsplit_once(';')?;
    let speed = speed.trim().parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0)?;
    let model = spaced_once(model);
    (!model.is_empty()).then_some(Peer { model, speed })
}

/// The peer that a result of `cpu-speed` is: the median of its trials, over all arms.
///
/// Missing: it is of another workload or of another program's, or does not know its processor.
pub fn of_record(record: &Record) -> Known<Peer> {
    let is_speed = |arm: usize| record.arms.get(arm).is_some_and(|it| it.workload == CPU_SPEED.id);
    let figures = record.trials.iter().filter(|it| is_speed(it.arm));
    let figures = figures.filter_map(|it| it.outcome.figures.first());
    // What Oracle calls a speed counts other operations.
    let figures = figures.filter(|it| it.name == CPU_SPEED.figure.name);
    let Ok(speeds) = Sample::new(figures.map(|it| it.value).collect()) else {
        return Known::missing("it holds no speed of cpu-speed");
    };
    let Some(model) = record.machine.cpu_model() else {
        return Known::missing("it does not name its processor");
    };
    match speeds.quantile(0.5) {
        speed if speed > 0.0 => Known::Value(Peer { model: spaced_once(model), speed }),
        _ => Known::missing("its speed is 0"),
    }
}

/// How `own` stands to those peers that have the same processor.
///
/// Missing: there are none.
pub fn standing(own: &Peer, peers: &[Peer]) -> Known<Standing> {
    let Peer { model, speed } = own;
    let of_model = peers.iter().filter(|it| it.model == *model).map(|it| it.speed);
    let Ok(speeds) = Sample::new(of_model.collect()) else {
        let why = format!("none of {} peers has this processor, {model}", peers.len());
        return Known::missing(why);
    };
    let (n_peers, median) = (speeds.len(), speeds.quantile(0.5));
    Known::Value(Standing { speed: *speed, model: model.clone(), n_peers, median })
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

/// Firmware pads the names of processors with spaces.
fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixture::{record, trial};

    fn peer(model: &str, speed: f64) -> Peer {
        Peer { model: model.to_owned(), speed }
    }

    fn duty(speed: f64, of: f64) -> Option<u32> {
        standing(&peer("A", speed), &[peer("A", of)]).value().unwrap().duty_in_eighths()
    }

    #[test]
    fn the_published_pair_is_a_duty_cycle_of_a_quarter() {
        assert_eq!(duty(673.0, 2713.0), Some(2));
    }

    #[test]
    fn a_duty_cycle_is_seen_only_where_turbo_cannot_be_the_cause() {
        let eighths = [125.0, 259.0, 375.0, 495.0].map(|it| duty(it, 1000.0));
        assert_eq!(eighths, [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([750.0, 300.0, 1000.0, 0.1].map(|it| duty(it, 1000.0)), [None; 4]);
    }

    #[test]
    fn a_machine_is_compared_with_the_middle_of_those_of_its_model() {
        let peers = parse("# fleet\nA  1 ;700\nA 1;800\n\nA 1 ; 90\nB;1\n").unwrap();
        let found = standing(&peer("A 1", 707.0), &peers);
        let it = found.value().unwrap();
        assert_eq!((it.n_peers, it.median, it.share()), (3, 700.0, 1.01));
        let none = standing(&peer("C", 707.0), &peers);
        assert_eq!(none.reason(), Some("none of 4 peers has this processor, C"));
    }

    #[test]
    fn a_result_of_the_workload_is_a_peer_and_another_is_none() {
        let speeds = || {
            let trials = [650.0, 673.0, 680.0].map(|speed| trial(0, 1, speed, 2e9));
            let mut record = record(trials.into());
            record.machine.0.insert("cpu model".to_owned(), "A  B ".to_owned());
            for trial in &mut record.trials {
                trial.outcome.figures.edit(|it| "speed".clone_into(&mut it[0].name));
            }
            record
        };
        let why = |record: &Record| of_record(record).reason().unwrap().to_owned();
        let mut record = speeds();
        assert_eq!(why(&record), "it holds no speed of cpu-speed");
        "cpu-speed".clone_into(&mut record.arms[0].workload);
        assert_eq!(of_record(&record), Known::Value(peer("A B", 673.0)));
        record.machine.0.insert("cpu model".to_owned(), "unknown: denied".to_owned());
        assert_eq!(why(&record), "it does not name its processor");
        let told = crate::oracle::cpu_speed::result(673.0);
        assert_eq!(why(&told), "it holds no speed of cpu-speed");
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
