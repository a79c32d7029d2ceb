//! Control groups as bytes: their paths if these changed, and the changes of their counts.

use super::wire::{
    Bytes, Reader, Writer, at_difference, difference, put_missing, put_number, put_text,
    take_missing,
};
use crate::Fact;
use crate::counters::{Group, Groups};
use crate::parse::Expected;

/// The kind of a section. A reason has a kind, too.
const REASON: u64 = 0;
const SAME_PATHS: u64 = 1;
const PATHS: u64 = 2;

/// Appends the changes of `groups`, which were read in a sample that began at `at`; nothing if there are none.
pub(super) fn put(out: &mut Vec<u8>, at: u64, before: &Fact<Groups>, groups: &Fact<Groups>) {
    let groups = match groups {
        Err(_) if before == groups => return,
        Err(missing) => {
            put_number(out, REASON);
            return put_missing(out, missing);
        }
        Ok(groups) => groups,
    };
    let same =
        before.as_ref().ok().filter(|it| it.list.iter().map(path).eq(groups.list.iter().map(path)));
    put_number(out, if same.is_some() { SAME_PATHS } else { PATHS });
    if same.is_none() {
        put_number(out, groups.list.len() as u64);
        groups.list.iter().for_each(|group| put_text(out, &group.path));
    }
    let nothing =
        Groups { read_at: 0, list: groups.list.iter().map(|it| uncounted(path(it))).collect() };
    let before = same.unwrap_or(&nothing);
    put_number(out, difference(at, groups.read_at));
    let mut counts = Writer::new(out);
    for (was, is) in before.list.iter().zip(&groups.list) {
        counts.push(difference(was.periods, is.periods));
        counts.push(difference(was.throttled_periods, is.throttled_periods));
        counts.push(difference(was.throttled_ns, is.throttled_ns));
    }
    counts.finish();
}

/// A group takes at least one byte of a payload, and about fifty in memory.
const MOST_GROUPS: usize = 1 << 18;

/// Parses a section: the groups before with the changes applied.
pub(super) fn take(
    bytes: &mut Bytes,
    at: u64,
    before: &Fact<Groups>,
) -> Result<Fact<Groups>, Expected> {
    let mut groups = match bytes.number()? {
        REASON => return Ok(Err(take_missing(bytes)?)),
        SAME_PATHS => {
            before.as_ref().map_err(|_| Expected("control groups before their changes"))?.clone()
        }
        PATHS => {
            let n_groups = bytes.count()?;
            if n_groups > MOST_GROUPS {
                return Err(Expected("no more than 262,144 control groups"));
            }
            let list = (0..n_groups).map(|_| bytes.text().map(uncounted));
            Groups { read_at: 0, list: list.collect::<Result<_, _>>()? }
        }
        _ => return Err(Expected("control groups or a reason")),
    };
    groups.read_at = at_difference(at, bytes.number()?);
    let mut counts = Reader::new(bytes);
    for group in &mut groups.list {
        group.periods = at_difference(group.periods, counts.next()?);
        group.throttled_periods = at_difference(group.throttled_periods, counts.next()?);
        group.throttled_ns = at_difference(group.throttled_ns, counts.next()?);
    }
    counts.finish()?;
    Ok(Ok(groups))
}

fn path(group: &Group) -> &str {
    &group.path
}

fn uncounted(path: &str) -> Group {
    Group { path: path.to_owned(), periods: 0, throttled_periods: 0, throttled_ns: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Missing;
    use crate::tape::wire::put_number;

    #[test]
    fn a_payload_of_strangers_makes_no_more_groups_than_a_machine_has() {
        let taken = |n_groups: usize| {
            let mut payload = Vec::new();
            put_number(&mut payload, PATHS);
            put_number(&mut payload, n_groups as u64);
            // Paths without a letter.
            payload.resize(payload.len() + 2 * n_groups, 0);
            take(&mut Bytes::new(&payload), 0, &Err(Missing::not_collected("control groups")))
        };
        let too_many = Expected("no more than 262,144 control groups");
        assert_eq!(taken(MOST_GROUPS + 1), Err(too_many));
        assert_ne!(taken(MOST_GROUPS), Err(too_many));
    }
}
