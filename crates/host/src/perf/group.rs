//! Counters of one CPU that are read together.
//!
//! Source: perf_event_open(2), PERF_FORMAT_GROUP. One system call reads all of a group on its CPU, back to
//! back, which is what ratios of APERF, MPERF and TSC need; it wakes a CPU that sleeps. What shows here as a
//! count was counted all the time since the first reading: a group that had to share its hardware, and one
//! whose CPU went offline, has none.

use super::attr::{self, Attributes, PARANOID_COUNTING};
use super::counters::{SOFTWARE, TRACEPOINT, dummy};
use crate::clock::raw_ns;
use facts::counters::Table;
use facts::pmu::Counter;
use facts::{CpuSet, Fact, Missing, Why};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::Arc;

/// The most counters of one group. The kernel limits the size of a reading, to 16 KiB.
const MOST_COUNTERS: usize = 32;

/// With a dummy event, there may be one more.
const MOST_EVENTS: usize = MOST_COUNTERS + 1;

/// What a reading begins with: the number of counters, time enabled, time running.
const N_HEADERS: usize = 3;

/// What the reading of one member is: its count, time enabled, time running.
const N_MEMBER_WORDS: usize = 3;

/// Open counters of one CPU.
#[derive(Debug)]
pub struct Group {
    cpu: u32,
    names: String,
    /// The leader first; at the end, where there would be no other, one that only shows whether the CPU stayed.
    events: Vec<OwnedFd>,
    n_counters: usize,
    last: Option<Times>,
}

/// How long a group was enabled, and how much of that it counted.
#[derive(Clone, Copy, Debug)]
struct Times {
    enabled_ns: u64,
    running_ns: u64,
}

impl Group {
    /// Opens `counters`, which count from then on. They have to be of one PMU; those of software, tracepoints
    /// and the `msr` PMU mix. `counters` are 1 to 32.
    ///
    /// Errors: the reason of the first that could not be opened.
    pub fn open(cpu: u32, counters: &[Counter]) -> Fact<Group> {
        let mut events: Vec<OwnedFd> = Vec::with_capacity(counters.len());
        if counters.is_empty() || counters.len() > MOST_COUNTERS {
            let found = format!("{} counters", counters.len());
            return Err(Missing::malformed("group of perf events", &found, "1 to 32 counters"));
        }
        for counter in counters {
            let refused = |error| attr::missing(&counter.name, cpu, PARANOID_COUNTING, error);
            let event = Attributes::counting(counter).open(cpu, events.first()).map_err(refused)?;
            if let Some(filter) = &counter.filter {
                attr::set_filter(&event, filter).map_err(refused)?;
            }
            events.push(event);
        }
        if let ([leader], [counter]) = (events.as_slice(), counters) {
            let dummy = join_dummy(cpu, counter, leader)?;
            events.extend(dummy);
        }
        let n_counters = counters.len();
        let names: Vec<&str> = counters.iter().map(|it| it.name.as_str()).collect();
        let group = Group { cpu, names: names.join(","), events, n_counters, last: None };
        group.start()?;
        Ok(group)
    }

    /// Starts the leader, and makes sure that every member runs with it: a reading of the group would not
    /// tell.
    fn start(&self) -> Fact<()> {
        let mut events = self.events.iter();
        let Some(leader) = events.next() else { return Ok(()) };
        attr::enable(leader).map_err(|error| self.failed(&text(error)))?;
        for member in events {
            let mut words = [0; N_MEMBER_WORDS];
            read_words(member, &mut words).map_err(|error| self.failed(&text(error)))?;
            let [_count, enabled_ns, running_ns] = words;
            if running_ns == 0 && enabled_ns > 0 {
                return Err(self.failed("the kernel does not start all of its counters"));
            }
        }
        Ok(())
    }

    /// The CPU whose counts they are.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// How many counters there are.
    pub fn n_counters(&self) -> usize {
        self.n_counters
    }

    /// Reads every counter, in the order in which they were opened, without scaling; `counts` has a place for
    /// each. Only differences of readings mean anything.
    ///
    /// Errors: the CPU went offline (for good: the group has to be opened again once it is back), or the
    /// counters did not count all the time.
    pub fn read(&mut self, counts: &mut [u64]) -> Fact<()> {
        let mut words = [0; N_HEADERS + MOST_EVENTS];
        let leader = self.events.first().ok_or_else(|| self.failed("it has no counters"))?;
        let wanted = words.get_mut(..N_HEADERS + self.events.len()).unwrap_or_default();
        let n_words = read_words(leader, wanted).map_err(|error| self.failed(&text(error)))?;
        let [n_counters, enabled_ns, running_ns] = [words[0], words[1], words[2]];
        // A CPU that goes offline leaves every event a group of its own.
        let complete = n_words == N_HEADERS + self.events.len()
            && usize::try_from(n_counters) == Ok(self.events.len());
        if !complete {
            return Err(self.lost_its_cpu());
        }
        self.check(Times { enabled_ns, running_ns })?;
        let counted = words.iter().skip(N_HEADERS).take(self.n_counters);
        counts.iter_mut().zip(counted).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Whether the group counted all the time since the last reading. What it missed before the first one
    /// does not matter, and stays between the two times for ever.
    fn check(&mut self, times: Times) -> Fact<()> {
        let last = self.last.replace(times);
        let Some(last) = last else { return Ok(()) };
        if times.enabled_ns <= last.enabled_ns {
            return Err(self.lost_its_cpu());
        }
        if times.missed_ns() != last.missed_ns() {
            // Counts on both sides of the gap must not be compared, however often it is read.
            self.last = Some(last);
            return Err(self.failed("it was not counted all the time: other users of the hardware"));
        }
        Ok(())
    }

    fn lost_its_cpu(&self) -> Missing {
        Missing::was_offline(self.what(), self.cpu)
    }

    fn failed(&self, why: &str) -> Missing {
        Missing { what: self.what(), why: Why::Failed(why.to_owned()) }
    }

    fn what(&self) -> String {
        format!("perf group {} of CPU {}", self.names, self.cpu)
    }
}

/// Reads what fits into `words`, and says how many that were.
fn read_words(event: &OwnedFd, words: &mut [u64]) -> Result<usize, Errno> {
    const WORD: usize = size_of::<u64>();
    let mut bytes = [0; (N_HEADERS + MOST_EVENTS) * WORD];
    let wanted = bytes.get_mut(..words.len().saturating_mul(WORD)).unwrap_or_default();
    let n_read = rustix::io::read(event, &mut *wanted)?;
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<WORD>().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    Ok(n_read / WORD)
}

fn text(error: Errno) -> String {
    std::io::Error::from(error).to_string()
}

impl Times {
    fn missed_ns(self) -> u64 {
        self.enabled_ns.wrapping_sub(self.running_ns)
    }
}

/// Opens a dummy event next to the only event of a group, so that [`is_together`] can detect that its CPU went offline.
///
/// Source: kernel/events/core.c. When a CPU goes offline, the kernel removes its events from their context and splits every
/// group (perf_event_exit_cpu_context, DETACH_GROUP). The descriptors stay open and return the last counts, and
/// PERF_EVENT_IOC_ENABLE does not bring the events back. So a leader without its group has lost its CPU.
///
/// `None` for a `counter` whose kind does not stay on its CPU: the kernel moves the events of a PMU that serves several
/// CPUs to another CPU, each without its group.
pub(super) fn join_dummy(cpu: u32, counter: &Counter, leader: &OwnedFd) -> Fact<Option<OwnedFd>> {
    if !matches!(counter.type_id, SOFTWARE | TRACEPOINT) {
        return Ok(None);
    }
    let dummy = dummy();
    let refused = |error| attr::missing(&dummy.name, cpu, PARANOID_COUNTING, error);
    Attributes::counting(&dummy).open(cpu, Some(leader)).map(Some).map_err(refused)
}

/// Whether a group still has all of its `n_events`, so that its CPU is online. The leader was opened with PERF_FORMAT_GROUP.
pub(super) fn is_together(leader: &OwnedFd, n_events: usize) -> Result<bool, Errno> {
    const WORD: usize = size_of::<u64>();
    let mut bytes = vec![0; n_events.saturating_add(N_HEADERS).saturating_mul(WORD)];
    let n_read = rustix::io::read(leader, &mut *bytes)?;
    let n_found = bytes.first_chunk::<WORD>().filter(|_| n_read >= WORD);
    Ok(n_found.is_some_and(|it| usize::try_from(u64::from_ne_bytes(*it)) == Ok(n_events)))
}

/// The same counters on several CPUs, read into a table: a row for each CPU, a column for each counter.
///
/// Everything is opened at once and stays open; a CPU on which that fails is a row with the reason.
#[derive(Debug)]
pub struct GroupTable {
    rows: Arc<[u32]>,
    columns: Arc<[Box<str>]>,
    groups: Vec<Fact<Group>>,
}

impl GroupTable {
    /// Opens `counters` on every CPU of `cpus`; `columns` are their names in the table, in the same order.
    ///
    /// Fails where no CPU lets them be opened, with the reason of the first.
    pub fn open(cpus: &CpuSet, counters: &[Counter], columns: &[&str]) -> Fact<GroupTable> {
        let rows: Arc<[u32]> = cpus.iter().collect();
        let groups: Vec<_> = rows.iter().map(|&cpu| Group::open(cpu, counters)).collect();
        if groups.iter().all(Result::is_err) {
            let first = groups.into_iter().find_map(Result::err);
            return Err(first.unwrap_or_else(|| Missing::absent("a CPU to count on")));
        }
        let columns = columns.iter().map(|&name| name.into()).collect();
        Ok(GroupTable { rows, columns, groups })
    }

    /// The counts of this moment, each row with the time it was read at.
    pub fn read(&mut self) -> Table {
        let mut table = Table::new(self.rows.clone(), self.columns.clone());
        for (index, (&cpu, group)) in self.rows.iter().zip(&mut self.groups).enumerate() {
            let counts = table.row_mut(index, raw_ns());
            let answer = group.as_mut().map_err(|why| why.clone());
            if let Err(why) = answer.and_then(|group| group.read(counts)) {
                table.blank_row(cpu, why);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(times: &[(u64, u64)]) -> Vec<bool> {
        let names = "msr/tsc/".into();
        let mut group = Group { cpu: 0, names, events: Vec::new(), n_counters: 0, last: None };
        let times = times.iter().map(|&(enabled_ns, running_ns)| Times { enabled_ns, running_ns });
        times.map(|times| group.check(times).is_ok()).collect()
    }

    #[test]
    fn a_group_that_counted_all_the_time_is_a_number() {
        assert_eq!(checks(&[(100, 90), (200, 190), (300, 290)]), [true; 3]);
    }

    #[test]
    fn a_group_that_once_missed_something_is_none_for_good() {
        assert_eq!(
            checks(&[(100, 100), (200, 150), (300, 250), (400, 350)]),
            [true, false, false, false]
        );
    }

    #[test]
    fn a_group_whose_time_stands_still_is_none() {
        assert_eq!(checks(&[(100, 100), (100, 100), (100, 100)]), [true, false, false]);
    }

    #[test]
    fn no_counters_are_no_group() {
        assert!(Group::open(0, &[]).is_err());
    }
}
