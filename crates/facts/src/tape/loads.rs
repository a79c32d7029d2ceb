//! How long loads took, as bytes: written in full, since it describes the time since the sample before.

use super::wire::{Bytes, at_difference, difference, put_missing, put_number, take_missing};
use crate::Fact;
use crate::parse::Expected;
use crate::probe::{LoadReading, LoadTime};

/// Appends what was read before `at`.
pub(super) fn put(out: &mut Vec<u8>, at: u64, reading: &LoadReading) {
    put_number(out, difference(at, reading.at_ns));
    put_number(out, reading.took_ns);
    put_time(out, &reading.memory);
    put_time(out, &reading.last_level);
}

/// What a section holds that was written at `at`.
pub(super) fn take(bytes: &mut Bytes, at: u64, cpu: u32) -> Result<LoadReading, Expected> {
    Ok(LoadReading {
        cpu,
        at_ns: at_difference(at, bytes.number()?),
        took_ns: bytes.number()?,
        memory: take_time(bytes)?,
        last_level: take_time(bytes)?,
    })
}

fn put_time(out: &mut Vec<u8>, time: &Fact<LoadTime>) {
    put_number(out, u64::from(time.is_ok()));
    match time {
        Ok(time) => {
            put_number(out, time.best_ps);
            put_number(out, difference(time.best_ps, time.typical_ps));
        }
        Err(missing) => put_missing(out, missing),
    }
}

fn take_time(bytes: &mut Bytes) -> Result<Fact<LoadTime>, Expected> {
    if bytes.number()? == 0 {
        return Ok(Err(take_missing(bytes)?));
    }
    let best_ps = bytes.number()?;
    Ok(Ok(LoadTime { best_ps, typical_ps: at_difference(best_ps, bytes.number()?) }))
}
