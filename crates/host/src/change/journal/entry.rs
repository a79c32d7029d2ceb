//! A line of the journal: `{"crc32":"0123abcd","sequence":7,"step":{...},"body":...}`.
//!
//! The checksum (CRC-32 of IEEE 802.3) is that of everything behind it, to the end of the line. What is long, the writes of a
//! group and what became of them, is the body, which is read only when it is asked for: a journal of years opens at once.

use facts::change::WriteOutcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// The version of the format.
pub(super) const VERSION: u32 = 1;

const BEFORE_SUM: &[u8] = b"{\"crc32\":\"";
const AFTER_SUM: &[u8] = b"\",";
const BEFORE_BODY: &[u8] = b",\"body\":";

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(in crate::change) enum Step {
    /// The first line of every journal.
    Journal { version: u32 },
    Begun {
        change: String,
        milliseconds: u64,
        boot: String,
        command: Vec<String>,
        /// A version that does not know it leaves the faults away.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        brings_faults_back: bool,
    },
    /// A group is about to be written; the body is [`super::Compact`].
    Intended { change: String, group: u32 },
    /// A process is about to be told to keep a request.
    Held { change: String, pid: u32, started: u64 },
    /// A group was written; the body is [`Fates`].
    Done { change: String },
    /// The change is in force.
    Kept { change: String },
    /// It is in force until it is confirmed or the time is over.
    Awaiting { change: String, until_milliseconds: u64, deadline_milliseconds: u64 },
    /// It is about to be reverted.
    Reverting { change: String },
    /// It was reverted, but for what is left; the body is [`Fates`].
    Reverted { change: String, left: u32 },
}

/// What became of the writes of some groups, by the number of the group: how many in a row, and what.
pub(in crate::change) type Fates = BTreeMap<u32, Vec<(u32, WriteOutcome)>>;

#[derive(Serialize, Deserialize)]
struct Head {
    sequence: u64,
    step: Step,
}

/// A line that is whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) step: Step,
    /// Where in the line its body is, JSON.
    pub(super) body: Range<usize>,
}

/// The line of a step, with its end.
pub(super) fn line(sequence: u64, step: &Step, body: &str) -> serde_json::Result<String> {
    let head = serde_json::to_string(&Head { sequence, step: step.clone() })?;
    let head = head.trim_start_matches('{').trim_end_matches('}');
    // The step's own brace was taken along with the head's.
    let summed = format!("{head}}},\"body\":{body}}}");
    let sum = crc32fast::hash(summed.as_bytes());
    Ok(format!("{{\"crc32\":\"{sum:08x}\",{summed}\n"))
}

/// Reads a line without its end. Error: what is wrong with it.
pub(super) fn entry(line: &[u8]) -> Result<Entry, String> {
    let not_ours = || "it is no entry of a journal".to_owned();
    let rest = line.strip_prefix(BEFORE_SUM).ok_or_else(not_ours)?;
    let (sum, rest) = rest.split_at_checked(8).ok_or_else(not_ours)?;
    let summed = rest.strip_prefix(AFTER_SUM).ok_or_else(not_ours)?;
    let sum = str::from_utf8(sum).unwrap_or_default();
    let found = format!("{:08x}", crc32fast::hash(summed));
    if sum != found {
        return Err(format!("its checksum is {found}, and it says {sum}"));
    }
    let head_length =
        summed.windows(BEFORE_BODY.len()).position(|it| it == BEFORE_BODY).ok_or_else(not_ours)?;
    let (head, body) = summed.split_at(head_length);
    let body = body.strip_prefix(BEFORE_BODY).and_then(|it| it.strip_suffix(b"}"));
    let body = body.ok_or_else(not_ours)?;
    let head = [b"{", head, b"}"].concat();
    let Head { sequence, step } = serde_json::from_slice(&head).map_err(|it| it.to_string())?;
    let end = line.len() - 1;
    Ok(Entry { sequence, step, body: end - body.len()..end })
}

/// The same fates, those in a row that are equal as one.
pub(in crate::change) fn runs(fates: &[WriteOutcome]) -> Vec<(u32, WriteOutcome)> {
    let mut runs: Vec<(u32, WriteOutcome)> = Vec::new();
    for fate in fates {
        match runs.last_mut() {
            Some((n, last)) if last == fate => *n += 1,
            _ => runs.push((1, fate.clone())),
        }
    }
    runs
}

/// The fates of so many writes; those that runs do not tell are [`WriteOutcome::Intended`].
pub(in crate::change) fn unrolled(
    runs: Vec<(u32, WriteOutcome)>,
    n_writes: usize,
) -> Vec<WriteOutcome> {
    // A run is no longer than its group, whatever it says.
    let known = runs.into_iter().flat_map(|(n, fate)| std::iter::repeat_n(fate, n as usize));
    known.chain(std::iter::repeat(WriteOutcome::Intended)).take(n_writes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Step {
        Step::Kept { change: "a \",\"body\":{} b".to_owned() }
    }

    #[test]
    fn a_line_is_one_object_of_json_and_reads_back() {
        let line = line(7, &kept(), "[1,2]").unwrap();
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(object["sequence"], 7);
        assert_eq!(object["body"][1], 2);
        let entry = entry(line.trim_end().as_bytes()).unwrap();
        assert_eq!((entry.sequence, &entry.step), (7, &kept()));
        assert_eq!(&line[entry.body], "[1,2]");
    }

    #[test]
    fn no_bit_of_a_line_may_differ() {
        let line = line(7, &kept(), "null").unwrap();
        let line = line.trim_end().as_bytes();
        for place in 0..line.len() * 8 {
            let mut damaged = line.to_vec();
            damaged[place / 8] ^= 1 << (place % 8);
            assert!(entry(&damaged).is_err(), "bit {place}");
        }
    }

    #[test]
    fn equal_fates_in_a_row_are_one() {
        let fates = [WriteOutcome::Noted, WriteOutcome::Noted, WriteOutcome::Intended];
        assert_eq!(runs(&fates), [(2, WriteOutcome::Noted), (1, WriteOutcome::Intended)]);
    }
}
