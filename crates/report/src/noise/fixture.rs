//! A report for tests: CPU 1, watched for a second, with three gaps; CPU 7 was not there.

use super::Report;
use facts::Missing;
use facts::counters::Moment;
use facts::probe::{Gap, NotKept};
use facts::trace::{Cause, Comm};
use rules::noise::{CpuNoise, Histogram, LongGap, Noise, Part, Percentiles, Taker, Ticks};
use rules::spin::{Method, NoiseSource, Taken};

/// The output of `show` for a sample report.
pub(super) fn with_report(show: impl FnOnce(&Report<'_>) -> String) -> String {
    let host =
        host::view(&host::Captured::excerpt("//- /proc/sys/kernel/osrelease\n6.18.0\n").unwrap());
    let unwatched = vec![(7, Missing::absent("CPU 7"))];
    let noise = Noise { cpus: vec![cpu()], unwatched };
    // 2026-11-20T12:14:05.500Z
    let at = Moment { raw_ns: 0, boot_ns: 0, real_ns: 1_795_176_845_500_000_000 };
    show(&Report { host: &host, noise: &noise, at, untraced: None, is_apart: true })
}

fn cpu() -> CpuNoise {
    let gap = |at_ns, length_ns| Gap { at_ns, length_ns };
    let gaps = [gap(1_000_000, 2000), gap(4_000_000, 50_000), gap(5_000_000, 21_000)];
    let task = Taker::Source(NoiseSource::Task(40, Comm::new("evil\u{1b}")));
    let tick = Taker::Source(NoiseSource::Kernel(Cause::LocalTimer));
    let part = |taker, ns| Part { taker, taken: Taken { ns, count: 1 } };
    let long = |gap: Gap, takers| LongGap { at_ns: gap.at_ns, length_ns: gap.length_ns, takers };
    CpuNoise {
        cpu: 1,
        started_ns: 0,
        wall_ns: 1_000_000_000,
        step_ns: Ok(18.24),
        floor_ns: 40,
        n_gaps: 3,
        lost_ns: 23_000,
        own_ns: 50_000,
        not_kept: NotKept::default(),
        method: Method::Trace,
        parts: vec![part(Taker::Own, 50_000), part(task, 21_000), part(tick, 2000)],
        histogram: Histogram::of(gaps.iter().map(|it| it.length_ns)),
        percentiles: Ok(Percentiles {
            p50: 2000,
            p90: 50_000,
            p99: 50_000,
            p99_9: 50_000,
            longest: 50_000,
        }),
        longest: vec![long(gaps[1], Some(vec![(Taker::Own, 50_000)])), long(gaps[2], None)],
        ticks: Ok(Ticks { found: 1, counted: 1 }),
    }
}
