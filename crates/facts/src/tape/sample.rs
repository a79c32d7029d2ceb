//! Samples as payloads of frames: tagged sections, of which a sample has those that it needs.
//!
//! A section that nothing changed in is left out, and one with an unknown tag is stepped over, so that a later
//! fullclock can add some. Tags ascend; each stands at most once.

use super::wire::{Bytes, at_difference, difference, put_number, put_section, put_text};
use super::{client, events, groups, server, table, tasks, users};
use crate::client::ClientSample;
use crate::counters::users::UserTimes;
use crate::counters::{Counters, Family, Moment};
use crate::database::ServerSample;
use crate::parse::Expected;
use crate::probe::ClockReading;
use crate::trace::CpuTotals;
use crate::{CpuSet, PerCpu};

/// Everything that is kept of one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The counts that were read.
    pub counters: Counters,
    /// The clocks that the probe found since the sample before; empty where it did not run.
    pub clocks: PerCpu<ClockReading>,
    /// Where a trace says that each CPU's time since the sample before went; empty where there was none.
    pub totals: PerCpu<CpuTotals>,
    /// What was read of a client since the sample before; `None` where none was listened to.
    pub client: Option<ClientSample>,
    /// What was seen of a database server since the sample before; `None` where none was looked at.
    pub server: Option<ServerSample>,
}

impl From<Counters> for Sample {
    fn from(counters: Counters) -> Sample {
        let (clocks, totals) = (PerCpu::default(), PerCpu::default());
        Sample { counters, clocks, totals, client: None, server: None }
    }
}

/// Tags of sections; they stay with their sections for as long as tapes are read.
const MOMENT: u64 = 1;
const ONLINE: u64 = 2;
const TASKS: u64 = 3;
const GROUPS: u64 = 4;
const CLOCKS: u64 = 5;
const TOTALS: u64 = 6;
const USERS: u64 = 7;
const CLIENT: u64 = 8;
const SERVER: u64 = 9;

/// The tag of a family's table.
fn tag(family: Family) -> u64 {
    match family {
        Family::CpuTimes => 16,
        Family::Totals => 17,
        Family::Interrupts => 18,
        Family::Softirqs => 19,
        Family::IdleTime => 20,
        Family::IdleUsage => 21,
        Family::IdleSleep => 22,
        Family::RunTime => 23,
        Family::ContextSwitches => 24,
        Family::Throttling => 25,
        Family::Clocks => 26,
        Family::CoreResidency => 27,
        Family::PackageResidency => 28,
        Family::Energy => 29,
        Family::Temperature => 30,
        Family::Pressure => 31,
        Family::TickStops => 32,
        Family::TimerEntries => 33,
        Family::CoreLimits => 34,
        Family::PackageLimits => 35,
        Family::PowerLimited => 36,
    }
}

/// The cells of all tables of a sample, at most: 8,192 CPUs with 1,500 interrupts have as many, and take 128 MiB.
const MOST_CELLS: usize = 1 << 24;

/// The payload that makes `sample` of the counters before; [`Counters::unread`] where there are none.
pub(super) fn payload(before: &Counters, sample: &Sample) -> Vec<u8> {
    let (after, at) = (&sample.counters, sample.counters.at.raw_ns);
    let (mut out, mut section) = (Vec::new(), Vec::new());
    let mut finish = |tag: u64, section: &mut Vec<u8>| {
        if !section.is_empty() {
            put_section(&mut out, tag, section);
            section.clear();
        }
    };
    put_moment(&mut section, before.at, after.at);
    finish(MOMENT, &mut section);
    if before.online != after.online {
        put_text(&mut section, &after.online.to_string());
        finish(ONLINE, &mut section);
    }
    tasks::put(&mut section, at, &before.tasks, &after.tasks);
    finish(TASKS, &mut section);
    groups::put(&mut section, at, &before.groups, &after.groups);
    finish(GROUPS, &mut section);
    events::put(&mut section, &sample.clocks, events::put_clock);
    finish(CLOCKS, &mut section);
    events::put(&mut section, &sample.totals, events::put_totals);
    finish(TOTALS, &mut section);
    users::put(&mut section, &after.users);
    finish(USERS, &mut section);
    client::put(&mut section, at, sample.client.as_ref());
    finish(CLIENT, &mut section);
    server::put(&mut section, at, sample.server.as_ref());
    finish(SERVER, &mut section);
    for ((_, was), (family, is)) in before.tables().zip(after.tables()) {
        table::put(&mut section, at, was, is);
        finish(tag(family), &mut section);
    }
    out
}

/// The sample that a payload makes of the counters before, and how many sections were of an unknown kind.
pub(super) fn take(payload: &[u8], before: &Counters) -> Result<(Sample, usize), Expected> {
    let mut sample = Sample::from(before.clone());
    sample.counters.users = Err(UserTimes::uncollected());
    let (mut n_unknown, mut last, mut room) = (0, 0, MOST_CELLS);
    let mut bytes = Bytes::new(payload);
    while !bytes.is_empty() {
        let (tag, mut section) = bytes.section()?;
        if tag <= last {
            return Err(Expected("parts in ascending order"));
        }
        if last < MOMENT && tag != MOMENT {
            return Err(Expected("the moment of the sample first"));
        }
        last = tag;
        if !take_section(tag, &mut section, &mut sample, &mut room)? {
            n_unknown += 1;
        } else if !section.is_empty() {
            return Err(Expected("the end of a part"));
        }
    }
    if last == 0 { Err(Expected("the moment of the sample")) } else { Ok((sample, n_unknown)) }
}

/// Changes a part of the sample; whether the part is one that is known.
fn take_section(
    tag: u64,
    section: &mut Bytes,
    sample: &mut Sample,
    room: &mut usize,
) -> Result<bool, Expected> {
    let counters = &mut sample.counters;
    let at = counters.at.raw_ns;
    match tag {
        MOMENT => counters.at = take_moment(section, counters.at)?,
        ONLINE => counters.online = CpuSet::parse_list(section.text()?)?,
        TASKS => counters.tasks = tasks::take(section, at, &counters.tasks)?,
        GROUPS => counters.groups = groups::take(section, at, &counters.groups)?,
        CLOCKS => sample.clocks = events::take(section, events::take_clock)?,
        TOTALS => sample.totals = events::take(section, events::take_totals)?,
        USERS => counters.users = users::take(section)?,
        CLIENT => sample.client = Some(client::take(section, at)?),
        SERVER => sample.server = Some(server::take(section, at)?),
        _ => {
            let Some(&family) = Family::ALL.iter().find(|it| self::tag(**it) == tag) else {
                return Ok(false);
            };
            let table = counters.table_mut(family);
            *table = table::take(section, at, table, room)?;
        }
    }
    Ok(true)
}

/// The other clocks go with the raw one, but for what somebody set them by.
fn put_moment(out: &mut Vec<u8>, before: Moment, after: Moment) {
    let step = after.raw_ns.wrapping_sub(before.raw_ns);
    put_number(out, difference(before.raw_ns, after.raw_ns));
    put_number(out, difference(before.boot_ns.wrapping_add(step), after.boot_ns));
    put_number(out, difference(before.real_ns.wrapping_add(step), after.real_ns));
}

fn take_moment(bytes: &mut Bytes, before: Moment) -> Result<Moment, Expected> {
    let raw_ns = at_difference(before.raw_ns, bytes.number()?);
    let step = raw_ns.wrapping_sub(before.raw_ns);
    Ok(Moment {
        raw_ns,
        boot_ns: at_difference(before.boot_ns.wrapping_add(step), bytes.number()?),
        real_ns: at_difference(before.real_ns.wrapping_add(step), bytes.number()?),
    })
}
