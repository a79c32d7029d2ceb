//! A sample of a host like the one before allocates nothing for a CPU, a task or a field.
#![expect(unsafe_code, reason = "a global allocator that counts")]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which allow-unwrap-in-tests does not reach"
)]

use facts::counters::Counters;
use host::counters::{Processes, Sampler, Wanted};
use host::{Live, view};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of the third and the fourth sample.
fn allocations(n_cpus: &str) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_string_lossy().into_owned();
    xtask::tree::run(&["--cpus".to_owned(), n_cpus.to_owned(), root]).unwrap();
    let open = || Live::copy(folder.path()).unwrap();
    let wanted = Wanted { wake: false, tasks: Some(Processes::All), ..Wanted::ledger() };
    let mut sampler = Sampler::open(open(), &view(&open()), wanted);
    let mut counters = Counters::unread();
    sampler.sample(&mut counters);
    sampler.sample(&mut counters);
    [(); 2].map(|()| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        sampler.sample(&mut counters);
        ALLOCATIONS.load(Ordering::Relaxed) - before
    })
}

#[test]
fn a_sample_of_an_unchanged_host_allocates_nothing_by_cpu_task_or_field() {
    let small = allocations("8");
    // What is missing says why, in a few strings.
    assert!(small[0] <= 64, "{small:?}");
    assert_eq!(small, [small[0]; 2]);
    assert_eq!(allocations("64"), small);
}
