//! The load probe: times dependent loads from the last-level cache and from memory on one CPU after the other.
//!
//! A buffer is twice as large as the second-level cache, and as one of 2 MiB, since a guest may be shown a smaller one than there is.
//! Some lines of its first quarter are linked to a cycle in random order (Sattolo's algorithm, Information Processing Letters 22, 1986),
//! so that no prefetcher knows the next; two of them are never in the same pair of lines, which some prefetchers fetch together. A
//! reading goes through the whole buffer once, after which the first quarter has left the second-level cache for the last one, and
//! follows the cycle. Then it flushes its lines, and follows another cycle through the same lines, from memory.
//!
//! The quarter is 1 MiB or 2, whose translations fit a second-level TLB in pages of 4 KiB. Huge pages are refused: whether a kernel has one
//! left differs between recordings, and the time of a load with it. What the numbers mean, and what they cannot show, is in
//! `facts::probe::LoadReading`.
//!
//! Cost: with a buffer of 2 MiB a reading took 0.35 ms of CPU time, and with one of 4 MiB it goes through twice as many lines, which a
//! workload on that CPU has to fetch again, and as many lines of the last-level cache. After a reading, no other is due before 2,500
//! times the CPU time that it took has passed: 0.04 % of a CPU, whatever the machine.
#![expect(
    unsafe_code,
    reason = "rustix has no getcpu(2) with a node, and madvise(2) takes a pointer"
)]

use super::arch::{self, FLUSH, Flush};
use super::{Caches, anchor, caches, pinned, rusage};
use crate::Source;
use crate::clock::{raw_ns, thread_cpu_ns};
use facts::probe::{Batch, LoadReading, LoadTime, TickClock};
use facts::{CpuSet, Fact, Missing, Why};
use std::collections::BTreeMap;
use std::hint::black_box;

/// Bytes and words of a cache line of x86-64 and of most Arm servers.
const LINE: u64 = 64;
const WORDS: usize = 8;

/// Lines of a cycle: 8 batches of 64 loads. A batch from a cache takes a microsecond, so that a counter of 25 MHz shows it.
const N_LINKED: usize = N_BATCHES * BATCH;
const N_BATCHES: usize = 8;
const BATCH: usize = 64;

/// With less, linked lines would share pairs of lines.
const LEAST_BYTES: u64 = 4 * 2 * LINE * N_LINKED as u64;

/// All buffers together: one for each NUMA node, so that no load goes to the memory of another.
const MOST_BYTES: u64 = 32 << 20;

/// A second-level cache of more than 4 MiB would take milliseconds to go through.
const LARGEST: u64 = 8 << 20;

/// The time to the next reading, as a multiple of the CPU time of this one.
const PAUSE: u64 = 2500;

/// And at least this: a sample comes each second, some of them early.
const LEAST_PAUSE_NS: u64 = 900_000_000;

const MEMORY: &str = "a load from memory";
const LAST_LEVEL: &str = "a load from the last-level cache";

/// A guest may be shown a smaller second-level cache than there is: this is that of most servers, or more.
const LEAST_SECOND: u64 = 2 << 20;

/// A visit that takes longer waited for a task that let no other run, such as one of SCHED_FIFO: none is made there again.
const LONGEST_VISIT_NS: u64 = 50_000_000;

/// Times loads on one CPU after the other, as rarely as its cost asks for.
#[derive(Default)]
pub struct Loads {
    /// By NUMA node.
    buffers: BTreeMap<u32, Buffer>,
    caches: BTreeMap<u32, Caches>,
    /// CPUs where a visit took too long.
    left_out: CpuSet,
    last_cpu: Option<u32>,
    due_ns: u64,
}

impl Loads {
    /// Nothing is allocated before the first reading.
    pub fn new() -> Loads {
        Loads::default()
    }

    /// Whether it is time for a reading.
    pub fn is_due(&self) -> bool {
        raw_ns() >= self.due_ns
    }

    /// A reading on the next of `cpus`; `None` where none is due, or no CPU is there. `source` is this machine. A CPU on which the
    /// calling thread had to wait for long is left out from then on.
    ///
    /// Errors: the CPU is offline or outside of the thread's cpuset; the time counter does not move. What keeps one of the two
    /// times from being known is in the reading.
    pub fn read(&mut self, source: &dyn Source, cpus: &CpuSet) -> Option<(u32, Fact<LoadReading>)> {
        if !self.is_due() {
            return None;
        }
        let is_next = |it: &u32| self.last_cpu.is_none_or(|last| *it > last);
        let cpus = cpus.minus(&self.left_out);
        let cpu = cpus.iter().find(is_next).or_else(|| cpus.first())?;
        self.last_cpu = Some(cpu);
        let caches = self.caches(source, cpu);
        let (before_ns, came_ns) = (thread_cpu_ns(), raw_ns());
        let reading = pinned(cpu, || self.on(cpu, caches)).flatten();
        let took_ns = thread_cpu_ns().saturating_sub(before_ns);
        let pause_ns = took_ns.saturating_mul(PAUSE).max(LEAST_PAUSE_NS);
        let left_ns = raw_ns();
        self.due_ns = left_ns.saturating_add(pause_ns);
        self.visited(cpu, left_ns.saturating_sub(came_ns));
        Some((cpu, reading.map(|it| LoadReading { took_ns, ..it })))
    }

    fn visited(&mut self, cpu: u32, wall_ns: u64) {
        if wall_ns > LONGEST_VISIT_NS {
            self.left_out.extend([cpu]);
        }
    }

    /// Read once. What could not be read is tried again.
    fn caches(&mut self, source: &dyn Source, cpu: u32) -> Fact<Caches> {
        if let Some(known) = self.caches.get(&cpu) {
            return Ok(*known);
        }
        let caches = caches(source, cpu)?;
        self.caches.insert(cpu, caches);
        Ok(caches)
    }

    /// One of at least `bytes` for the CPUs of a node, on which the calling thread runs.
    fn buffer(&mut self, node: u32, bytes: u64) -> Fact<&Buffer> {
        if self.buffers.get(&node).is_none_or(|it| it.bytes() < bytes) {
            let others = self.buffers.iter().filter(|it| *it.0 != node);
            let others = others.fold(0, |sum: u64, it| sum.saturating_add(it.1.bytes()));
            if others.saturating_add(bytes) > MOST_BYTES {
                let text = "buffers on other NUMA nodes take the 32 MiB that the probe may have";
                return Err(Missing { what: MEMORY.into(), why: Why::Failed(text.into()) });
            }
            self.buffers.insert(node, Buffer::new(bytes)?);
        }
        self.buffers.get(&node).ok_or_else(|| Missing::not_collected(MEMORY))
    }

    /// On the CPU that the calling thread is pinned to.
    fn on(&mut self, cpu: u32, caches: Fact<Caches>) -> Fact<LoadReading> {
        let first = anchor();
        let buffer = self.buffer(node(), buffer_bytes(caches.as_ref().ok()))?;
        let last_level =
            has_last_level(caches).and_then(|()| undisturbed(LAST_LEVEL, || buffer.last_level()));
        let memory = match FLUSH {
            Some(flush) => undisturbed(MEMORY, || buffer.memory(flush)),
            None => {
                let because = format!(
                    "fullclock knows no instruction of {} that flushes a line",
                    std::env::consts::ARCH
                );
                Err(Missing::not_here(MEMORY, because))
            }
        };
        let overhead = (0..8).map(|_| timed(|| ())).min().unwrap_or_default();
        let ticks = TickClock::between(first, anchor())?;
        let judge =
            |what, batches: Fact<Vec<Batch>>| LoadTime::judge(what, &batches?, overhead, &ticks);
        Ok(LoadReading {
            cpu,
            memory: judge(MEMORY, memory),
            last_level: judge(LAST_LEVEL, last_level),
            at_ns: ticks.started_ns(),
            took_ns: 0,
        })
    }
}

/// Twice the second-level cache, within what a reading may take.
fn buffer_bytes(caches: Option<&Caches>) -> u64 {
    let second = caches.and_then(|it| it.second_bytes).unwrap_or_default();
    second.max(LEAST_SECOND).saturating_mul(2).clamp(LEAST_BYTES, LARGEST)
}

/// Whether lines that leave the second-level cache have a larger cache to go to.
fn has_last_level(caches: Fact<Caches>) -> Fact<()> {
    let caches = caches?;
    let bytes = buffer_bytes(Some(&caches));
    let second = caches.second_bytes.filter(|_| caches.last_level > 2);
    let missing = |because: &str| Err(Missing::not_here(LAST_LEVEL, because));
    match second {
        None => missing("sysfs shows no cache beyond the second level"),
        Some(second) if second.saturating_mul(2) > LARGEST => {
            missing("the second-level cache is larger than 4 MiB")
        }
        Some(_) if caches.last_bytes < bytes => {
            missing("the last-level cache is smaller than the probe's buffer of 4 to 8 MiB")
        }
        Some(_) => Ok(()),
    }
}

/// What `work` gives, unless another task ran: it may have evicted what was to be loaded.
fn undisturbed<T>(what: &str, work: impl FnOnce() -> T) -> Fact<T> {
    let before = rusage::switches()?;
    let done = work();
    if rusage::switches()? == before {
        return Ok(done);
    }
    let text = "another task ran on the CPU in between".to_owned();
    Err(Missing { what: what.to_owned(), why: Why::Failed(text) })
}

fn timed<T>(work: impl FnOnce() -> T) -> u64 {
    let before = arch::now_in_order();
    black_box(work());
    arch::now_in_order().saturating_sub(before)
}

/// The NUMA node of the CPU that the calling thread runs on; 0 where the kernel does not say.
fn node() -> u32 {
    let mut node: libc::c_uint = 0;
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: getcpu(2) writes to the one pointer that is not null, which is to a whole c_uint.
    unsafe { libc::syscall(libc::SYS_getcpu, none, &raw mut node, none) };
    node
}

/// Memory with two cycles through the same lines.
struct Buffer {
    /// The first word of a line holds the place of the next one of the first cycle, the second that of the second.
    words: Vec<u64>,
    /// Where each cycle begins.
    begins: [usize; 2],
}

impl Buffer {
    /// Every page is written, on the node that the calling thread runs on.
    fn new(bytes: u64) -> Fact<Buffer> {
        let missing = || Missing { what: MEMORY.into(), why: Why::Failed("out of memory".into()) };
        let n_words = usize::try_from(bytes / 8).map_err(|_| missing())?;
        let mut words: Vec<u64> = Vec::new();
        words.try_reserve_exact(n_words).map_err(|_| missing())?;
        refuse_huge_pages(&mut words);
        // Not zeros: those could be had without a write.
        words.resize(n_words, u64::MAX);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        // A line of each block of the first quarter.
        let block = n_words / WORDS / 4 / N_LINKED;
        let places: Vec<usize> =
            (0..N_LINKED).map(|it| (it * block + random.below(block)) * WORDS).collect();
        let mut buffer = Buffer { words, begins: [0, 0] };
        for word in [0, 1] {
            buffer.link(&places, word, &mut random);
        }
        Ok(buffer)
    }

    fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// Links lines to one random cycle: Sattolo's algorithm.
    fn link(&mut self, places: &[usize], word: usize, random: &mut Random) {
        let mut next: Vec<usize> = (0..places.len()).collect();
        for at in (1..next.len()).rev() {
            next.swap(at, random.below(at));
        }
        let place = |at: usize| places.get(at).map_or(0, |it| it + word);
        for (at, &next) in next.iter().enumerate() {
            if let Some(link) = self.words.get_mut(place(at)) {
                *link = place(next) as u64;
            }
        }
        if let Some(begin) = self.begins.get_mut(word) {
            *begin = place(0);
        }
    }

    /// Follows the first cycle after going through all of the buffer.
    fn last_level(&self) -> Vec<Batch> {
        let lines = self.words.iter().step_by(WORDS);
        black_box(lines.fold(0, |sum: u64, it| sum ^ it));
        self.follow(self.begins[0])
    }

    /// Follows the second cycle after flushing its lines.
    fn memory(&self, flush: Flush) -> Vec<Batch> {
        let mut at = self.begins[1];
        for _ in 0..N_LINKED {
            let Some(word) = self.words.get(at) else { break };
            at = *word as usize;
            (flush.line)(word);
        }
        (flush.wait)();
        self.follow(self.begins[1])
    }

    fn follow(&self, mut at: usize) -> Vec<Batch> {
        let mut batches = vec![Batch::default(); N_BATCHES];
        for batch in &mut batches {
            let ticks = timed(|| {
                for _ in 0..BATCH {
                    at = self.words.get(at).map_or(0, |it| *it as usize);
                }
                at
            });
            *batch = Batch { loads: BATCH as u32, ticks };
        }
        batches
    }
}

/// Refuses huge pages (madvise(2), MADV_NOHUGEPAGE). A kernel without them knows no such advice, and has none to give.
fn refuse_huge_pages(words: &mut Vec<u64>) {
    const PAGE: usize = 4096;
    let begin = words.as_mut_ptr();
    let to_page = begin.align_offset(PAGE);
    let bytes = words.capacity().saturating_sub(to_page) * 8 / PAGE * PAGE;
    let advice = rustix::mm::Advice::LinuxNoHugepage;
    // SAFETY: the pages lie within the capacity, and the advice changes nothing of what they hold.
    let _unknown =
        unsafe { rustix::mm::madvise(begin.wrapping_add(to_page).cast(), bytes, advice) }.is_err();
}

/// Numbers that no prefetcher foresees; the same in each run (xorshift, Marsaglia, Journal of Statistical Software 8, 2003).
struct Random(u64);

impl Random {
    /// From 0 to `limit` - 1.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % (limit as u64).max(1)) as usize
    }
}

#[cfg(test)]
mod tests;
