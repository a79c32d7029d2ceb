//! A finished result without most of the surroundings of its trials: enough to show the figures of a long race on a
//! machine that has something else to do. What is left takes a tenth of the memory.

use super::read::{Unreadable, read};
use crate::doubt::Raised;
use crate::experiment::Experiment;
use crate::known::Known;
use crate::record::{Arm, Fingerprint, Record};
use crate::trial::{Trial, TrialContext};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// [`Record`], as it is read here.
#[derive(Deserialize)]
struct Trimmed {
    format: u32,
    id: String,
    version: String,
    began: String,
    arms: Vec<Arm>,
    machine: Fingerprint,
    #[serde(default = "one")]
    pieces: u32,
    #[serde(default)]
    experiment: Option<Experiment>,
    #[serde(deserialize_with = "one_by_one")]
    trials: Vec<Trial>,
    doubts: Vec<Raised>,
    is_complete: bool,
}

fn one() -> u32 {
    1
}

/// The result in a file that was written to its end.
///
/// Errors: as those of [`read`].
#[expect(clippy::disallowed_methods, reason = "reads results where the user keeps them")]
pub(super) fn read_trimmed(path: &Path) -> Result<Record, Unreadable> {
    let file = File::open(path).map_err(|why| Unreadable::io(path, why))?;
    let Ok(found) = serde_json::from_reader::<_, Trimmed>(BufReader::new(file)) else {
        // It knows what to say, and what else a result may look like.
        return read(path);
    };
    let Trimmed { format, id, version, began, arms, machine, pieces, .. } = found;
    let Trimmed { experiment, trials, doubts, is_complete, .. } = found;
    let record = Record {
        format,
        id,
        version,
        began,
        arms,
        machine,
        pieces,
        experiment,
        trials,
        doubts,
        is_complete,
    };
    super::read::check(path, record)
}

/// Each trial is trimmed before the next is read.
fn one_by_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Trial>, D::Error> {
    struct OneByOne;
    impl<'de> Visitor<'de> for OneByOne {
        type Value = Vec<Trial>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of trials")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Trial>, A::Error> {
            let mut trials = Vec::new();
            while let Some(mut trial) = list.next_element::<Trial>()? {
                if let Known::Value(surroundings) = &mut trial.surroundings {
                    surroundings.ledger = Vec::new();
                    surroundings.metrics.retain(|it| it.metric == TrialContext::CLOCK);
                    surroundings.metrics.shrink_to_fit();
                }
                trials.push(trial);
            }
            Ok(trials)
        }
    }
    deserializer.deserialize_seq(OneByOne)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "writes results to read them")]

    use super::super::Journal;
    use super::super::fixture::record;
    use super::*;

    #[test]
    fn all_but_the_surroundings_is_as_it_was_written_and_what_is_no_result_is_refused_as_ever() {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = record(3);
        let path = Journal::begin(folder.path(), &mut whole).unwrap().finish(&whole).unwrap();
        let mut read = read_trimmed(&path).unwrap();
        for (trial, written) in read.trials.iter_mut().zip(&whole.trials) {
            if let Some(it) = trial.surroundings.value() {
                assert!(
                    it.ledger.is_empty()
                        && it.metrics.iter().all(|it| it.metric == TrialContext::CLOCK)
                );
            }
            trial.surroundings = written.surroundings.clone();
        }
        assert_eq!(read, whole);
        std::fs::write(&path, "{").unwrap();
        let why = read_trimmed(&path).unwrap_err().to_string();
        assert_eq!(why, super::read(&path).unwrap_err().to_string());
    }
}
