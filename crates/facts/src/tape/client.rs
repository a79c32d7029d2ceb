//! What was read of a client, as bytes: written in full, since it describes the time since the sample before.
//!
//! Each section names the client and the unit again. That takes a few bytes in the DEFLATE stream, and no damage leaves numbers
//! without their unit.

use super::wire::{Bytes, at_difference, difference, put_number, put_text};
use crate::client::{
    ClientMetric, ClientSample, Heard, LONGEST_MARK, LONGEST_NAME, MOST_MARKS, MOST_NUMBERS,
    MarkText,
};
use crate::parse::Expected;

/// Appends what was read until `at`; nothing where no client was listened to.
pub(super) fn put(out: &mut Vec<u8>, at: u64, sample: Option<&ClientSample>) {
    let Some(ClientSample { metric, heard, marks }) = sample else { return };
    put_number(out, u64::from(metric.is_some()));
    if let Some(ClientMetric { client, unit }) = metric {
        put_text(out, client);
        put_text(out, unit);
    }
    put_number(out, heard.len() as u64);
    let mut last = at;
    for Heard { at, value } in heard {
        put_number(out, difference(last, *at));
        out.extend(value.to_bits().to_le_bytes());
        last = *at;
    }
    put_number(out, marks.len() as u64);
    for MarkText { at, text } in marks {
        put_number(out, difference(last, *at));
        put_text(out, text);
        last = *at;
    }
}

/// What a section holds that was written at `at`.
pub(super) fn take(bytes: &mut Bytes, at: u64) -> Result<ClientSample, Expected> {
    let metric = match bytes.number()? {
        0 => None,
        _ => Some(ClientMetric { client: name(bytes)?, unit: name(bytes)? }),
    };
    let mut last = at;
    let n_heard = count(bytes, MOST_NUMBERS)?;
    let mut heard = Vec::with_capacity(n_heard);
    for _ in 0..n_heard {
        last = at_difference(last, bytes.number()?);
        heard.push(Heard { at: last, value: finite(bytes)? });
    }
    let n_marks = count(bytes, MOST_MARKS)?;
    let mut marks = Vec::with_capacity(n_marks);
    for _ in 0..n_marks {
        last = at_difference(last, bytes.number()?);
        let text = bytes.text()?;
        if text.chars().nth(LONGEST_MARK).is_some() {
            return Err(Expected("a mark of at most 120 characters"));
        }
        marks.push(MarkText { at: last, text: text.to_owned() });
    }
    Ok(ClientSample { metric, heard, marks })
}

fn count(bytes: &mut Bytes, most: usize) -> Result<usize, Expected> {
    let count = bytes.count()?;
    if count > most {
        return Err(Expected("no more numbers and marks than a sample can have"));
    }
    Ok(count)
}

fn name(bytes: &mut Bytes) -> Result<String, Expected> {
    let name = bytes.text()?;
    if name.len() > LONGEST_NAME {
        return Err(Expected("a name of at most 64 bytes"));
    }
    Ok(name.to_owned())
}

fn finite(bytes: &mut Bytes) -> Result<f64, Expected> {
    let value = bytes.take(8)?.try_into().map(u64::from_le_bytes).map(f64::from_bits);
    value.ok().filter(|it| it.is_finite()).ok_or(Expected("a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sample: &ClientSample) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, 1000, Some(sample));
        bytes
    }

    fn refused(sample: &ClientSample) -> bool {
        take(&mut Bytes::new(&written(sample)), 1000).is_err()
    }

    #[test]
    fn what_no_recorder_writes_is_refused() {
        let whole = ClientSample::default();
        assert!(!refused(&whole));
        let heard = |n, value| vec![Heard { at: 7, value }; n];
        assert!(!refused(&ClientSample { heard: heard(MOST_NUMBERS, 1.0), ..whole.clone() }));
        assert!(refused(&ClientSample { heard: heard(MOST_NUMBERS + 1, 1.0), ..whole.clone() }));
        assert!(refused(&ClientSample { heard: heard(1, f64::NAN), ..whole.clone() }));
        let marks = |n, length| vec![MarkText { at: 7, text: "é".repeat(length) }; n];
        assert!(!refused(&ClientSample {
            marks: marks(MOST_MARKS, LONGEST_MARK),
            ..whole.clone()
        }));
        assert!(refused(&ClientSample { marks: marks(MOST_MARKS + 1, 1), ..whole.clone() }));
        assert!(refused(&ClientSample { marks: marks(1, LONGEST_MARK + 1), ..whole.clone() }));
        let metric = ClientMetric { client: "x".repeat(LONGEST_NAME + 1), unit: String::new() };
        assert!(refused(&ClientSample { metric: Some(metric), ..whole }));
    }

    #[test]
    fn a_section_that_is_cut_is_refused() {
        let metric = ClientMetric { client: "pgbench".to_owned(), unit: "tps".to_owned() };
        let heard = vec![Heard { at: 900, value: 2616.5 }];
        let marks = vec![MarkText { at: 950, text: "vacuum".to_owned() }];
        let bytes = written(&ClientSample { metric: Some(metric), heard, marks });
        for length in 0..bytes.len() {
            assert!(take(&mut Bytes::new(&bytes[..length]), 1000).is_err(), "{length}");
        }
    }
}
