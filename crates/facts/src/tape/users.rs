//! The time of users' tasks as bytes. It is that since the sample before, so it is written in full.

use super::wire::{
    Bytes, at_difference, difference, put_missing, put_number, put_text, take_missing,
};
use crate::Fact;
use crate::counters::Name;
use crate::counters::users::{Kind, Owner, UserTime, UserTimes};
use crate::parse::Expected;

/// The kind of a section.
const REASON: u64 = 0;
const TIMES: u64 = 1;

/// Flags of a kind of tasks.
const IS_COMMAND: u64 = 1;
const IS_ENDED: u64 = 2;
const HAS_ROLE: u64 = 4;

/// Appends the times; nothing where they were not collected.
pub(super) fn put(out: &mut Vec<u8>, users: &Fact<UserTimes>) {
    let users = match users {
        Err(missing) if *missing == UserTimes::uncollected() => return,
        Err(missing) => {
            put_number(out, REASON);
            return put_missing(out, missing);
        }
        Ok(users) => users,
    };
    put_number(out, TIMES);
    put_number(out, users.over_ns);
    put_number(out, u64::from(users.unread));
    put_number(out, u64::from(users.ended));
    put_number(out, users.list.len() as u64);
    let mut cpu = 0;
    for time in &users.list {
        put_kind(out, &time.kind);
        put_number(out, difference(cpu, u64::from(time.cpu)));
        put_number(out, time.run_ns);
        put_number(out, time.wait_ns);
        cpu = u64::from(time.cpu);
    }
}

fn put_kind(out: &mut Vec<u8>, kind: &Kind) {
    let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
    put_number(
        out,
        flag(kind.owner == Owner::Command, IS_COMMAND)
            | flag(kind.is_ended, IS_ENDED)
            | flag(kind.role.is_some(), HAS_ROLE),
    );
    if let Some((product, role)) = kind.role {
        put_text(out, product);
        put_text(out, role);
    }
    put_text(out, kind.name.as_str());
}

/// Kinds on CPUs: every one of 257 kinds on every CPU of a very large machine.
const MOST_TIMES: usize = 1 << 20;

/// Parses a section.
pub(super) fn take(bytes: &mut Bytes) -> Result<Fact<UserTimes>, Expected> {
    match bytes.number()? {
        REASON => return Ok(Err(take_missing(bytes)?)),
        TIMES => {}
        _ => return Err(Expected("times of tasks or a reason")),
    }
    let (over_ns, unread, ended) = (bytes.number()?, bytes.small()?, bytes.small()?);
    let n_times = bytes.count()?;
    if n_times > MOST_TIMES {
        return Err(Expected("no more than a million times of tasks"));
    }
    let mut list = Vec::new();
    let mut cpu = 0;
    for _ in 0..n_times {
        let kind = take_kind(bytes)?;
        cpu = at_difference(cpu, bytes.number()?);
        list.push(UserTime {
            kind,
            cpu: u32::try_from(cpu).map_err(|_| Expected("a CPU's number of 32 bits"))?,
            run_ns: bytes.number()?,
            wait_ns: bytes.number()?,
        });
    }
    let mut users = UserTimes { over_ns, list, unread, ended };
    // Roles that are unknown here have become the same kind.
    users.add_up();
    Ok(Ok(users))
}

fn take_kind(bytes: &mut Bytes) -> Result<Kind, Expected> {
    let flags = bytes.number()?;
    if flags >= 2 * HAS_ROLE {
        return Err(Expected("a kind of tasks"));
    }
    let has = |flag: u64| flags & flag != 0;
    // A role that this fullclock does not know is none; the name is still there.
    let role = if has(HAS_ROLE) {
        crate::system::roles::by_id(bytes.text()?, bytes.text()?)
    } else {
        None
    };
    Ok(Kind {
        owner: if has(IS_COMMAND) { Owner::Command } else { Owner::Other },
        role: role.map(|(product, role)| (product.id, role.id)),
        name: Name::new(bytes.text()?.as_bytes()),
        is_ended: has(IS_ENDED),
    })
}
