//! A recording in pieces of equal length, each with its ledger, its tasks and what a client said of it.

use super::recorded::{Period, nothing, read};
use crate::measure::choice::within;
use crate::{Event, Tell};
use anyhow::{Result, bail};
use facts::client::ClientMetric;
use facts::counters::users::UserTimes;
use facts::{CpuSet, HostView, Missing};
use host::tape::Reader;
use rules::ledger::{Evidence, close};
use rules::segment::Segment;
use rules::spans::{ClientNumbers, Cutter, ServerLooks, Span, workers};
use std::path::Path;
use std::time::Duration;

/// More pieces than these are no table: ten thousand seconds by the second.
const MOST_SPANS: usize = 10_000;

/// A recording in pieces.
pub struct Course {
    /// The host, as it was.
    pub host: HostView,
    /// The pieces, in order.
    pub spans: Vec<Span>,
    /// What the client's numbers are; `None` where none was listened to.
    pub metric: Option<ClientMetric>,
    /// How often the client reports, in nanoseconds; 0 where it never did twice.
    pub every_ns: u64,
    /// Whether a command was recorded, whose tasks are the client.
    pub has_command: bool,
    /// What has to be said of all of it.
    pub notes: Vec<String>,
}

/// Cuts the samples in `period` into pieces of `every`, of these CPUs or of all.
///
/// Errors: it is no recording, or holds no interval; a CPU was not online; there would be more than ten thousand pieces.
pub fn spans(
    file: &Path,
    cpus: Option<&CpuSet>,
    mut period: Period<'_>,
    every: Duration,
    tell: &mut Tell<'_>,
) -> Result<Course> {
    let mut reader = Reader::open(file)?;
    let host = host::view(reader.host());
    let observer = reader.observer().unwrap_or_default();
    let mut cutter = Cutter::new(u64::try_from(every.as_nanos()).unwrap_or(u64::MAX));
    let (mut numbers, mut server) = (ClientNumbers::default(), ServerLooks::default());
    let mut pieces = Pieces {
        host: &host,
        cpus,
        observer,
        has_command: false,
        left_out: UserTimes::default(),
        spans: Vec::new(),
    };
    let mut closed = Ok(());
    let damages = read(&mut reader, file, &mut period, |sample| {
        sample.client.iter().for_each(|it| numbers.push(it));
        sample.server.iter().for_each(|it| server.push(it));
        if let (Some(segment), Ok(())) = (cutter.push(sample), &closed) {
            closed = pieces.close(&segment);
        }
    })?;
    closed?;
    if let Some(segment) = cutter.finish() {
        pieces.close(&segment)?;
    }
    let Pieces { mut spans, has_command, left_out, .. } = pieces;
    if spans.is_empty() {
        bail!(nothing(file, &period, damages));
    }
    for span in &mut spans {
        span.client = numbers.mean(span.from.raw_ns, span.to.raw_ns);
        span.marks = numbers.marks(span.from.raw_ns, span.to.raw_ns);
        span.server = server.seen(span.from.raw_ns, span.to.raw_ns);
        span.phases = server.phases(span.from.raw_ns, span.to.raw_ns);
    }
    damages.iter().try_for_each(|damage| tell(Event::Note(damage.clone())))?;
    let left_out = left_out.unread_note().into_iter().chain(left_out.ended_note());
    let notes =
        period.note().into_iter().chain(damages).chain(left_out).chain(server.silence()).collect();
    let every_ns = numbers.usual_ns();
    Ok(Course { host, spans, metric: numbers.metric, every_ns, has_command, notes })
}

struct Pieces<'a> {
    host: &'a HostView,
    cpus: Option<&'a CpuSet>,
    observer: u32,
    has_command: bool,
    /// How many tasks of users were not read and how many ended, without any time.
    left_out: UserTimes,
    spans: Vec<Span>,
}

impl Pieces<'_> {
    fn close(&mut self, segment: &Segment) -> Result<()> {
        if self.spans.len() >= MOST_SPANS {
            bail!(
                "the recording has more than {MOST_SPANS} such pieces: choose longer ones, or a part of it by --since and --until"
            );
        }
        let interval = segment.interval(self.host);
        let users = interval.users();
        self.has_command |= users.as_ref().is_ok_and(|it| it.has_command());
        if let Ok(users) = &users {
            let (over_ns, unread, ended) = (users.over_ns, users.unread, users.ended);
            self.left_out.extend(&UserTimes { over_ns, list: Vec::new(), unread, ended });
        }
        let elapsed_ns = interval.elapsed_ns();
        let evidence = Evidence {
            cpus: within(self.cpus, &interval.cpus())?,
            traced: segment.traced(),
            clocks: segment.clocks(),
            observer: self.observer,
            ..Evidence::of(interval)
        };
        self.spans.push(Span {
            from: segment.before.at,
            to: segment.after.at,
            ledger: close(&evidence),
            workers: users.and_then(|users| Ok(workers(users, elapsed_ns?))),
            client: Err(Missing::not_collected("numbers of a client")),
            loads: segment.loads(),
            marks: Vec::new(),
            server: Err(Missing::not_collected("a database server")),
            phases: Vec::new(),
        });
        Ok(())
    }
}
