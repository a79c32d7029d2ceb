//! Of a recording, the samples in a row that make one interval.
//!
//! A difference of two counters is only true where nothing between them began again: a CPU that was offline, another
//! boot. A recording is therefore cut where something did, and the longest piece is what a ledger is made of; adding
//! up pieces would account for time in which some CPUs were not there.

mod gap;

pub use gap::Gap;

use crate::interval::Interval;
use facts::counters::Counters;
use facts::counters::users::UserTimes;
use facts::probe::{ClockReading, LoadReading};
use facts::quantity::counted;
use facts::tape::Sample;
use facts::trace::CpuTotals;
use facts::{Fact, HostView, Missing, PerCpu};
use std::collections::BTreeMap;

/// Samples in a row without a gap.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The counters at the beginning.
    pub before: Counters,
    /// The counters at the end; what users' tasks ran is added up from the beginning on.
    pub after: Counters,
    /// How many samples there are, at both ends and between.
    pub samples: usize,
    clocks: BTreeMap<u32, Thinned<ClockReading>>,
    loads: Thinned<LoadReading>,
    /// Each CPU's traces, as long as there is one for every sample behind the first.
    traced: BTreeMap<u32, (usize, CpuTotals)>,
}

impl Segment {
    pub(crate) fn begin(sample: Sample) -> Segment {
        Segment {
            before: sample.counters.clone(),
            after: sample.counters,
            samples: 1,
            // What was probed and traced belongs to the time before the sample.
            clocks: BTreeMap::new(),
            loads: Thinned::default(),
            traced: BTreeMap::new(),
        }
    }

    pub(crate) fn extend(&mut self, sample: Sample) {
        for (cpu, &clock) in sample.clocks.known() {
            self.clocks.entry(cpu).or_default().push(clock);
        }
        for (_, reading) in sample.loads.known() {
            self.loads.push(reading.clone());
        }
        for (cpu, totals) in sample.totals.known() {
            let (n_traced, sum) = self.traced.entry(cpu).or_default();
            *n_traced += 1;
            sum.extend(totals);
        }
        // What the first sample holds belongs to the time before it.
        let none = || Err(UserTimes::uncollected());
        let before = (self.samples > 1).then(|| std::mem::replace(&mut self.after.users, none()));
        self.after = sample.counters;
        if let Some(before) = before {
            self.after.users = together(before, &self.after.users);
        }
        self.samples += 1;
    }

    /// What happened from its beginning to its end.
    pub fn interval<'a>(&'a self, host: &'a HostView) -> Interval<'a> {
        Interval { host, before: &self.before, after: &self.after }
    }

    /// What the clock probe saw on each CPU: some thousand readings at most, evenly over time.
    pub fn clocks(&self) -> PerCpu<Vec<ClockReading>> {
        self.clocks.iter().map(|(&cpu, readings)| (cpu, Ok(readings.kept().to_vec()))).collect()
    }

    /// How long loads took: some thousand readings at most, evenly over time.
    pub fn loads(&self) -> Vec<LoadReading> {
        self.loads.kept().to_vec()
    }

    /// What was traced on each CPU, added up; missing where it was not traced all the time.
    pub fn traced(&self) -> PerCpu<CpuTotals> {
        let whole = |(&cpu, (n_traced, sum)): (&u32, &(usize, CpuTotals))| {
            let fact = if n_traced + 1 == self.samples {
                Ok(sum.clone())
            } else {
                Err(Missing::not_collected(format!("a trace of CPU {cpu} for all of the time")))
            };
            (cpu, fact)
        };
        self.traced.iter().map(whole).collect()
    }

    fn length_ns(&self) -> u64 {
        self.after.at.raw_ns.saturating_sub(self.before.at.raw_ns)
    }
}

/// What users' tasks ran in two intervals in a row.
fn together(before: Fact<UserTimes>, next: &Fact<UserTimes>) -> Fact<UserTimes> {
    let mut sum = before?;
    sum.extend(next.as_ref().map_err(Missing::clone)?);
    Ok(sum)
}

/// The longest segment of a recording whose samples are pushed one by one; it holds two segments at most.
#[derive(Clone, Debug, Default)]
pub struct Longest {
    begins_ns: u64,
    current: Option<Segment>,
    best: Option<Segment>,
    gaps: Vec<Gap>,
    n_seams: usize,
    measured_ns: u64,
}

/// Seams that are told of; a recording has one or two, and a broken one may have thousands.
const MOST_SEAMS: usize = 10;

impl Longest {
    /// Nothing yet.
    pub fn new() -> Longest {
        Longest::default()
    }

    /// Goes on with the next sample.
    pub fn push(&mut self, sample: Sample) {
        let Some(current) = &mut self.current else {
            self.begins_ns = sample.counters.at.raw_ns;
            self.current = Some(Segment::begin(sample));
            return;
        };
        match Gap::between(&current.after, &sample.counters, self.begins_ns) {
            None => current.extend(sample),
            Some(gap) => {
                self.n_seams += 1;
                if self.gaps.len() < MOST_SEAMS {
                    self.gaps.push(gap);
                }
                self.end_stretch();
                self.current = Some(Segment::begin(sample));
            }
        }
    }

    /// The longest segment; `None` where there are no two samples in a row.
    pub fn finish(mut self) -> Option<Found> {
        self.end_stretch();
        let segment = self.best.filter(|it| it.samples > 1)?;
        let notes = notes(&segment, self.measured_ns, &self.gaps, self.n_seams);
        Some(Found { segment, notes })
    }

    fn end_stretch(&mut self) {
        let Some(ended) = self.current.take() else { return };
        self.measured_ns = self.measured_ns.saturating_add(ended.length_ns());
        if self.best.as_ref().is_none_or(|best| ended.length_ns() > best.length_ns()) {
            self.best = Some(ended);
        }
    }
}

/// What was chosen of a recording, and what has to be said of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The longest segment.
    pub segment: Segment,
    /// Sentences: which part it is, and what ended the others. None where it is all of the recording.
    pub notes: Vec<String>,
}

fn notes(segment: &Segment, measured_ns: u64, gaps: &[Gap], n_seams: usize) -> Vec<String> {
    if n_seams == 0 {
        return Vec::new();
    }
    let mut notes = vec![format!(
        "the recording has {} parts; this is the longest, {} of {}",
        n_seams + 1,
        gap::length(segment.length_ns()),
        gap::length(measured_ns),
    )];
    notes.extend(gaps.iter().map(ToString::to_string));
    let n_more = n_seams.saturating_sub(gaps.len());
    notes.extend(
        (n_more > 0)
            .then(|| format!("and it was interrupted {} more", counted(n_more as u64, "time"))),
    );
    notes
}

/// How many readings are kept, at most: more would move no mean and no extreme by what anybody can see.
const MOST: usize = 1024;

/// Every n-th of the readings that were pushed, n as large as it must be.
#[derive(Clone, Debug)]
pub(super) struct Thinned<T> {
    kept: Vec<T>,
    /// One of so many readings is kept.
    every: usize,
    /// How many are left out before the next.
    to_skip: usize,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { kept: Vec::new(), every: 1, to_skip: 0 }
    }
}

impl<T> Thinned<T> {
    pub(super) fn push(&mut self, reading: T) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return;
        }
        if self.kept.len() == MOST {
            let mut is_odd = true;
            self.kept.retain(|_| {
                is_odd = !is_odd;
                !is_odd
            });
            self.every = self.every.saturating_mul(2);
        }
        self.kept.push(reading);
        self.to_skip = self.every - 1;
    }

    pub(super) fn kept(&self) -> &[T] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::counters;

    fn found(samples: &[&str]) -> Option<Found> {
        let mut longest = Longest::new();
        samples.iter().for_each(|text| longest.push(Sample::from(counters(text))));
        longest.finish()
    }

    fn ends(found: &Found) -> (u64, u64) {
        let ms = |counters: &Counters| counters.at.raw_ns / 1_000_000;
        (ms(&found.segment.before), ms(&found.segment.after))
    }

    #[test]
    fn a_recording_without_a_seam_is_one_interval_from_first_to_last() {
        let found = found(&[
            "at 0\nCpuTimes user\n0 1\n1 5\n",
            "at 1000\nCpuTimes user\n0 2\n1 5\n",
            "at 2000\nCpuTimes user\n0 3\n1 6\n",
        ]);
        let found = found.unwrap();
        assert_eq!((ends(&found), found.segment.samples), ((0, 2000), 3));
        assert!(found.notes.is_empty());
    }

    #[test]
    fn where_a_cpu_was_away_the_longest_stretch_is_taken_and_named() {
        let found = found(&[
            "at 0\nCpuTimes user\n0 1\n1 5\n",
            "at 1000\nCpuTimes user\n0 2\n1 5\n",
            "at 2000\nCpuTimes user\n0 3\n",
            "at 3000\nCpuTimes user\n0 4\n",
            "at 5000\nCpuTimes user\n0 5\n",
            "at 6000\nCpuTimes user\n0 5\n1 7\n",
        ]);
        let found = found.unwrap();
        assert_eq!(ends(&found), (2000, 5000));
        assert_eq!(
            found.notes,
            [
                "the recording has 3 parts; this is the longest, 3.0 s of 4.0 s",
                "2.0 s after its beginning CPU 1 went offline",
                "6.0 s after its beginning CPU 1 came online",
            ]
        );
    }

    #[test]
    fn one_sample_or_none_is_no_interval() {
        assert!(found(&[]).is_none());
        assert!(found(&["at 5\n"]).is_none());
    }

    #[test]
    fn a_trace_counts_only_where_there_is_one_for_every_sample() {
        let of = |at: &str, cpus: &[u32]| {
            let mut sample = Sample::from(counters(at));
            let totals = CpuTotals { wall_ns: 5, ..CpuTotals::default() };
            sample.totals = cpus.iter().map(|&cpu| (cpu, Ok(totals.clone()))).collect();
            sample
        };
        let mut longest = Longest::new();
        longest.push(of("at 0\n", &[0, 1]));
        longest.push(of("at 10\n", &[0, 1]));
        longest.push(of("at 20\n", &[0]));
        let traced = longest.finish().unwrap().segment.traced();
        assert_eq!(traced.get(0).unwrap().as_ref().map(|it| it.wall_ns), Ok(10));
        assert!(traced.get(1).unwrap().is_err());
    }

    #[test]
    fn what_users_ran_is_added_up_from_the_first_sample_on() {
        let samples = [
            "at 0\nusers 900\nuser other gzip - 0 7 7\n",
            "at 1000\nusers 1000\nuser other gzip - 0 20 2\n",
            "at 2000\nusers 1000\nuser other gzip - 0 30 3\nuser other xz - 1 4 5\n",
        ];
        let users = |samples: &[&str]| {
            found(samples).unwrap().segment.after.users.map(|users| {
                let times =
                    users.list.iter().map(|it| (it.kind.name.to_string(), it.run_ns, it.wait_ns));
                (users.over_ns, times.collect::<Vec<_>>())
            })
        };
        let gzip = ("gzip".to_owned(), 50, 5);
        let sum = (2_000_000_000, vec![gzip, ("xz".to_owned(), 4, 5)]);
        assert_eq!(users(&samples), Ok(sum));
        // A sample without them leaves a hole.
        assert!(users(&[samples[0], "at 1000\n", samples[2]]).is_err());
    }

    #[test]
    fn few_are_all_kept_and_many_evenly() {
        let mut thinned = Thinned::default();
        (0..1000).for_each(|it| thinned.push(it));
        assert_eq!(thinned.kept().len(), 1000);
        (1000..10_000).for_each(|it| thinned.push(it));
        let kept = thinned.kept();
        assert!((512..=1024).contains(&kept.len()));
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] == 16), "{kept:?}");
    }
}
