//! What two arms took of a database server's log, in words and in JSON.

use crate::wording::milliseconds as ms;
use lab::comparison::Comparison;
use lab::record::Record;
use lab::server_log::LogWork;
use schemars::JsonSchema;
use serde::Serialize;

/// A change of less than this is called none: the counts are of the whole server.
const SAME: f64 = 0.1;

/// `Log syncs per commit fell from 0.98 to 0.02; each took 0.48 ms`; `None` without counts of both.
pub(super) fn words(it: &Comparison) -> Option<String> {
    let log = it.log.as_ref()?;
    let durable = changed(&per_commit(log), log.map(|it| it.durable_per_commit()), number);
    let bytes = changed("log per commit", log.map(|it| it.bytes_per_commit()), |it| {
        format!("{it:.0} bytes")
    });
    Some(format!("{durable}; {}; {bytes}", each(it, log)))
}

/// `NAME fell from A to B`, `NAME is the same, B`.
fn changed(name: &str, [a, b]: [f64; 2], words: impl Fn(f64) -> String) -> String {
    let largest = a.max(b);
    if (a - b).abs() <= SAME * largest {
        return format!("{name}: the same, {}", words(b));
    }
    let way = if b < a { "fell" } else { "rose" };
    format!("{name} {way} from {} to {}", words(a), words(b))
}

/// Syncs, or writes where the server counts no syncs.
fn per_commit(works: &[LogWork]) -> String {
    let are_syncs = works.iter().all(|it| it.are_syncs);
    format!("log {} per commit", if are_syncs { "syncs" } else { "writes" })
}

fn each(it: &Comparison, log: &[LogWork; 2]) -> String {
    match log.map(|it| it.each_ns()) {
        [Some(a), Some(b)] => format!("each took {} in {} and {} in {}", ms(a), it.a, ms(b), it.b),
        [Some(a), None] => format!("each took {} in {}", ms(a), it.a),
        [None, Some(b)] => format!("each took {} in {}", ms(b), it.b),
        [None, None] => untimed(log),
    }
}

/// Why there is no time of a log write.
fn untimed(works: &[LogWork]) -> String {
    if works.iter().all(|it| it.durable == 0) {
        return "there was none".to_owned();
    }
    let setting = works.iter().any(|it| it.is_timing_off);
    let setting = if setting { ": track_wal_io_timing is off" } else { "" };
    format!("how long each took is unknown, because the server does not time them{setting}")
}

/// Two digits behind the point; of a small number two that are no zeros.
fn number(value: f64) -> String {
    if value >= 0.01 || value == 0.0 { format!("{value:.2}") } else { format!("{value:.1e}") }
}

/// The same of one arm; `None` without counts.
pub(super) fn alone(record: &Record, arm: usize) -> Option<String> {
    let work = record.log_work(arm)?;
    let works = [work];
    let (name, durable) = (per_commit(&works), number(work.durable_per_commit()));
    let each = work.each_ns().map_or_else(|| untimed(&works), |ns| format!("{} each", ms(ns)));
    Some(format!(
        "{name} {durable}, {each}; {:.0} bytes of log per commit",
        work.bytes_per_commit()
    ))
}

/// What the trials of both took of a server's log.
#[derive(Serialize, JsonSchema)]
pub(super) struct LogView {
    a: WorkView,
    b: WorkView,
}

/// What the trials of one took of a server's log, all together.
#[derive(Serialize, JsonSchema)]
struct WorkView {
    commits: u64,
    /// Log writes that were made durable: syncs, or writes where the server counts no syncs.
    durable_writes: u64,
    bytes: u64,
    /// Time in log writes; null where the server does not time them.
    time_s: Option<f64>,
}

impl LogView {
    pub(super) fn of([a, b]: &[LogWork; 2]) -> LogView {
        LogView { a: WorkView::of(a), b: WorkView::of(b) }
    }
}

impl WorkView {
    fn of(it: &LogWork) -> WorkView {
        WorkView {
            commits: it.commits,
            durable_writes: it.durable,
            bytes: it.bytes,
            time_s: it.time_ns.map(crate::json::seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::fixture::{QUIET, interleaved};

    fn work(durable: u64, bytes: u64, time_ns: Option<u64>) -> LogWork {
        let is_timing_off = time_ns.is_none();
        LogWork { commits: 100, durable, bytes, time_ns, are_syncs: true, is_timing_off }
    }

    fn said(log: [LogWork; 2]) -> String {
        let record = interleaved(QUIET, QUIET, 10);
        let mut comparison = lab::comparison::within(&record).unwrap().remove(0);
        comparison.log = Some(log);
        words(&comparison).unwrap()
    }

    #[test]
    fn fewer_syncs_are_said_with_how_long_each_took() {
        let text = said([work(98, 20_000, Some(47_040_000)), work(2, 20_400, Some(1_000_000))]);
        assert!(
            text.starts_with("log syncs per commit fell from 0.98 to 0.02; each took 0.48 ms in "),
            "{text}"
        );
        assert!(text.ends_with("; log per commit: the same, 204 bytes"), "{text}");
    }

    #[test]
    fn a_server_that_does_not_time_them_says_what_would() {
        let text = said([work(98, 20_000, None), work(95, 40_000, None)]);
        assert!(text.starts_with("log syncs per commit: the same, 0.95; how long"), "{text}");
        assert!(text.contains("track_wal_io_timing"), "{text}");
        assert!(text.ends_with("log per commit rose from 200 bytes to 400 bytes"), "{text}");
    }

    #[test]
    fn a_server_that_counts_writes_is_not_said_to_sync_and_none_is_not_untimed() {
        let of_mariadb = |durable| LogWork {
            are_syncs: false,
            is_timing_off: false,
            ..work(durable, 20_000, None)
        };
        let text = said([of_mariadb(98), of_mariadb(95)]);
        assert!(text.starts_with("log writes per commit: the same, 0.95; how long"), "{text}");
        assert!(!text.contains("track_wal_io_timing"), "{text}");
        let text = said([of_mariadb(0), of_mariadb(0)]);
        assert!(
            text.starts_with("log writes per commit: the same, 0.00; there was none"),
            "{text}"
        );
    }
}
