//! Which CPUs the calling thread may run on.
//!
//! sched_setaffinity(2). The kernel refuses to report into a mask smaller than its own, which is larger than the C
//! library's 1,024 CPUs on the largest machines; so masks have room for every CPU that a kernel can be built for.
#![expect(unsafe_code, reason = "rustix's masks end at 1,024 CPUs")]

use facts::{CpuSet, Fact, Missing, Why};

/// 8,192 CPUs, the largest NR_CPUS (arch/x86/Kconfig), in words of 64.
const N_WORDS: usize = 8192 / 64;

type Mask = [u64; N_WORDS];

/// Runs `work` with the calling thread pinned to `cpu`, then lets the thread run where it could before.
///
/// Errors: the CPU is offline, or outside of the thread's cpuset.
pub fn pinned<T>(cpu: u32, work: impl FnOnce() -> T) -> Fact<T> {
    let _restored = Restored(mask()?);
    set(&mask_of(cpu)?).map_err(|error| missing(cpu, &error))?;
    Ok(work())
}

/// Runs `work` with the calling thread, and whatever it starts meanwhile, on `cpus` only, then lets the thread run where
/// it could before.
///
/// Errors: one of the CPUs is offline, or outside of the thread's cpuset.
pub fn pinned_to<T>(cpus: &CpuSet, work: impl FnOnce() -> T) -> Fact<T> {
    let before = mask()?;
    let _restored = Restored(before);
    let mut wanted: Mask = [0; N_WORDS];
    for cpu in cpus.iter() {
        // The kernel takes out what is not there, and refuses only where nothing is left.
        set(&mask_of(cpu)?).map_err(|error| missing(cpu, &error))?;
        wanted.iter_mut().zip(mask_of(cpu)?).for_each(|(word, bit)| *word |= bit);
    }
    let shown = || Missing { what: cpus.named(), why: Why::Failed("it names none".into()) };
    set(&wanted).map_err(|_| shown())?;
    Ok(work())
}

/// Lets task `tid` run on `cpu` only, until it is told otherwise. Tasks that it starts afterwards inherit that.
///
/// Errors: the CPU is offline or outside of the task's cpuset, the task is gone, or it is another user's and this
/// process lacks CAP_SYS_NICE.
pub fn pin_task(tid: u32, cpu: u32) -> Fact<()> {
    // 0 is the caller itself (sched_setaffinity(2)), and no task has a number beyond an i32.
    let Some(pid) = libc::pid_t::try_from(tid).ok().filter(|it| *it > 0) else {
        return Err(Missing::absent(format!("task {tid}")));
    };
    set_of(pid, &mask_of(cpu)?).map_err(|error| missing(cpu, &error))
}

/// Puts a mask back when it is dropped, also on a panic.
struct Restored(Mask);

impl Drop for Restored {
    fn drop(&mut self) {
        // The kernel accepted this mask once. Where every CPU of it has gone offline since, it lets the thread run
        // anywhere by itself.
        let _refused = set(&self.0).is_err();
    }
}

/// The CPUs that the calling thread may run on.
///
/// Errors: the kernel refuses, as no Linux does.
pub fn allowed() -> Fact<CpuSet> {
    mask().map(|it| cpus_of(&it))
}

/// The CPUs that task `tid` may run on.
pub(crate) fn affinity_of(tid: u32) -> std::io::Result<CpuSet> {
    mask_of_task(task(tid)?).map(|it| cpus_of(&it))
}

/// Lets task `tid` run on these CPUs only.
pub(crate) fn set_affinity_of(tid: u32, cpus: &CpuSet) -> std::io::Result<()> {
    let mut mask: Mask = [0; N_WORDS];
    for cpu in cpus.iter() {
        let word = mask.get_mut(cpu as usize / 64);
        *word.ok_or(std::io::ErrorKind::InvalidInput)? |= 1 << (cpu % 64);
    }
    set_of(task(tid)?, &mask)
}

/// 0 would be the calling thread (sched_setaffinity(2)).
fn task(tid: u32) -> std::io::Result<libc::pid_t> {
    let pid = libc::pid_t::try_from(tid).ok().filter(|it| *it > 0);
    pid.ok_or_else(|| std::io::Error::from_raw_os_error(libc::ESRCH))
}

fn cpus_of(mask: &Mask) -> CpuSet {
    let cpus = (0u32..).zip(mask).flat_map(|(word, bits)| {
        (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
    });
    cpus.collect()
}

/// Keeps the calling thread off `cpus`, and the threads that it starts afterwards; whether there are others that it may
/// run on. [`pinned`] goes where it is told all the same.
pub fn keep_off(cpus: &CpuSet) -> bool {
    let Ok(mut mask) = mask() else { return false };
    for cpu in cpus.iter() {
        if let Some(word) = mask.get_mut(cpu as usize / 64) {
            *word &= !(1 << (cpu % 64));
        }
    }
    mask.iter().any(|word| *word != 0) && set(&mask).is_ok()
}

fn mask_of(cpu: u32) -> Fact<Mask> {
    let mut mask = [0; N_WORDS];
    let word = mask.get_mut(cpu as usize / 64);
    *word.ok_or_else(|| Missing::absent(format!("CPU {cpu}")))? = 1 << (cpu % 64);
    Ok(mask)
}

fn mask() -> Fact<Mask> {
    mask_of_task(0).map_err(|error| {
        let what = "the CPUs this thread may run on".into();
        Missing { what, why: Why::Failed(error.to_string()) }
    })
}

fn mask_of_task(pid: libc::pid_t) -> std::io::Result<Mask> {
    let mut mask: Mask = [0; N_WORDS];
    // SAFETY: the kernel writes at most the given number of bytes, which is the mask's size.
    let status =
        unsafe { libc::sched_getaffinity(pid, size_of::<Mask>(), mask.as_mut_ptr().cast()) };
    if status == 0 { Ok(mask) } else { Err(std::io::Error::last_os_error()) }
}

fn set(mask: &Mask) -> std::io::Result<()> {
    set_of(0, mask)
}

fn set_of(pid: libc::pid_t, mask: &Mask) -> std::io::Result<()> {
    // SAFETY: the kernel reads the given number of bytes, which is the mask's size.
    let status = unsafe { libc::sched_setaffinity(pid, size_of::<Mask>(), mask.as_ptr().cast()) };
    if status == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// EINVAL is a mask without any CPU that is online and in the thread's cpuset (sched_setaffinity(2)).
fn missing(cpu: u32, error: &std::io::Error) -> Missing {
    let text = match error.raw_os_error() {
        Some(libc::EINVAL) => "it is offline, or not in this process's cpuset".to_owned(),
        _ => error.to_string(),
    };
    Missing { what: format!("CPU {cpu}, by running on it,"), why: Why::Failed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_the_cpu_and_the_thread_is_let_go_afterwards() {
        let before = allowed().unwrap();
        let cpu = before.last().unwrap();
        let seen = pinned(cpu, || (allowed().unwrap().to_string(), rustix::thread::sched_getcpu()));
        assert_eq!(seen, Ok((cpu.to_string(), cpu as usize)));
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn a_task_that_is_pinned_stays_on_its_cpu_and_one_that_is_not_there_is_missing() {
        let cpu = allowed().unwrap().last().unwrap();
        let of_thread = std::thread::spawn(move || {
            let tid = rustix::thread::gettid().as_raw_nonzero().get();
            pin_task(tid.unsigned_abs(), cpu).unwrap();
            allowed().unwrap().to_string()
        });
        assert_eq!(of_thread.join().unwrap(), cpu.to_string());
        for tid in [0, u32::MAX, i32::MAX.unsigned_abs()] {
            assert!(pin_task(tid, cpu).is_err(), "{tid}");
        }
    }

    #[test]
    fn a_thread_keeps_off_cpus_where_there_are_others() {
        let before = allowed().unwrap();
        let cpu = before.first().unwrap();
        let (is_apart, after) = std::thread::spawn(move || {
            (keep_off(&[cpu, 8191, u32::MAX].into_iter().collect()), allowed().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(is_apart, before.len() > 1);
        assert_eq!(after.contains(cpu), !is_apart);
        assert!(!keep_off(&before));
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn work_runs_on_all_of_the_cpus_or_not_at_all() {
        let before = allowed().unwrap();
        assert_eq!(pinned_to(&before, || allowed().unwrap()), Ok(before.clone()));
        let absent: CpuSet = before.iter().chain([8191]).collect();
        assert!(pinned_to(&absent, || unreachable!("ran without CPU 8191")).is_err());
        assert!(pinned_to(&CpuSet::default(), || unreachable!("ran nowhere")).is_err());
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_missing_and_nothing_runs() {
        for cpu in [8191, 8192, u32::MAX] {
            assert!(pinned(cpu, || unreachable!("ran on CPU {cpu}")).is_err());
        }
        let text = pinned(8191, || ()).unwrap_err().to_string();
        assert_eq!(
            text,
            "CPU 8191, by running on it, cannot be read: it is offline, or not in this process's cpuset"
        );
    }
}
