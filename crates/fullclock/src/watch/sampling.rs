//! Samples of this machine at even distances, on a tape where there is one.
#![expect(clippy::disallowed_methods, reason = "samples are due at times")]

use super::View;
use super::pace::Pace;
use facts::HostView;
use facts::counters::Counters;
use facts::tape::Sample;
use host::Live;
use host::counters::Sampler;
use host::tape::{RecordError, Writer};
use std::time::{Duration, Instant};

/// A sampler, when it is due, and where its samples are kept. A sample is [`counted`](Self::counters), kept and
/// [`done`](Self::done), in this order.
pub(super) struct Sampling {
    sampler: Sampler,
    tape: Option<Writer>,
    started: Instant,
    pace: Pace,
    /// When the latest sample began, since the start.
    began: Duration,
}

impl Sampling {
    /// Samples what `view` is made of, and everything where there is a tape.
    pub(super) fn of(
        live: Live,
        host: &HostView,
        view: &View,
        interval: Duration,
        tape: Option<Writer>,
    ) -> Sampling {
        let wanted = if tape.is_some() { View::everything().wanted() } else { view.wanted() };
        Sampling {
            sampler: Sampler::open(live, host, wanted),
            tape,
            started: Instant::now(),
            pace: Pace::new(interval),
            began: Duration::ZERO,
        }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.tape.is_some()
    }

    /// The length of the tape in bytes.
    pub(super) fn recorded(&self) -> u64 {
        self.tape.as_ref().map_or(0, Writer::length)
    }

    /// The time until the next sample is due.
    pub(super) fn left(&self) -> Duration {
        self.pace.left(self.started.elapsed())
    }

    /// Begins a sample; how long it took to read the counters.
    pub(super) fn counters(&mut self, into: &mut Counters) -> Duration {
        self.began = self.started.elapsed();
        self.sampler.sample(into);
        self.started.elapsed().saturating_sub(self.began)
    }

    /// Appends the sample to the tape, if there is one.
    pub(super) fn keep(&mut self, sample: &Sample) -> Result<(), RecordError> {
        self.tape.as_mut().map_or(Ok(()), |it| it.append(sample))
    }

    /// Says that everything that the sample is for is done. What has to be told where the next one cannot come in time.
    pub(super) fn done(&mut self) -> Option<String> {
        let now = self.started.elapsed();
        self.pace.sampled(now.saturating_sub(self.began), now)
    }

    /// Waits until the tape, if there is one, is on disk.
    pub(super) fn finish(self) -> Result<(), RecordError> {
        self.tape.map_or(Ok(()), Writer::finish)
    }
}
