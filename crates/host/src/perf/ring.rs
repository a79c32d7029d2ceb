//! The ring that the kernel writes one CPU's records into.
//!
//! Source: perf_event_open(2), "MMAP layout"; the memory barriers are those of the comment on perf_output_put_handle
//! in kernel/events/ring_buffer.c. Between tail and head the kernel writes nothing; where there is no room it
//! counts what is lost.
#![expect(unsafe_code, reason = "the ring is memory that the kernel shares and writes to")]

use facts::trace::record;
use perf_event_open_sys::bindings::perf_event_mmap_page as ControlPage;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of records. With the control page it is what every user may lock for each CPU by default
/// (kernel.perf_event_mlock_kb = 516).
pub(super) const SIZE: usize = 512 * 1024;

/// How much of a record is looked at. The longest that is, a switch, has 88 bytes.
pub(super) const LONGEST: usize = 128;

#[derive(Debug)]
pub(super) struct Ring {
    map: NonNull<u8>,
    page_size: usize,
    /// Where the next record to read begins; the kernel knows when it is told.
    tail: u64,
}

// SAFETY: the mapping belongs to this value alone, and nothing about it is tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps the ring of an event that has none.
    pub(super) fn map(event: &OwnedFd) -> Result<Ring, Errno> {
        let page_size = page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let map =
            unsafe { mmap(null_mut(), page_size + SIZE, access, MapFlags::SHARED, event, 0) }?;
        let map = NonNull::new(map.cast()).ok_or(Errno::FAULT)?;
        Ok(Ring { map, page_size, tail: 0 })
    }

    /// Where the kernel has written up to.
    pub(super) fn head(&self) -> u64 {
        // SAFETY: the control page is mapped and aligned, and the kernel writes the word at once.
        let head = unsafe { AtomicU64::from_ptr(&raw mut (*self.control()).data_head) };
        // Pairs with the kernel's barrier: the records up to the head are read after it.
        head.load(Ordering::Acquire)
    }

    /// Whether there was no room up to `head` for a record of any kind that is looked at.
    pub(super) fn is_full(&self, head: u64) -> bool {
        SIZE as u64 - head.wrapping_sub(self.tail).min(SIZE as u64) < LONGEST as u64
    }

    /// Whether everything up to `head` was left behind.
    pub(super) fn is_empty(&self, head: u64) -> bool {
        self.tail == head
    }

    /// The first bytes of the next record, and its size; `None` at `head`. A ring that holds no record there
    /// is skipped to `head`.
    pub(super) fn peek(&mut self, head: u64, bytes: &mut [u8; LONGEST]) -> Option<usize> {
        let available = usize::try_from(head.wrapping_sub(self.tail)).unwrap_or(usize::MAX);
        if available == 0 {
            return None;
        }
        let mut header = [0; record::HEADER];
        self.copy(&mut header);
        let size = record::size(header).filter(|size| *size <= available && available <= SIZE);
        let Some(size) = size else {
            self.tail = head;
            return None;
        };
        let n_needed = size.min(bytes.len());
        self.copy(bytes.get_mut(..n_needed).unwrap_or_default());
        Some(size)
    }

    /// Leaves a record of this size behind.
    pub(super) fn skip(&mut self, size: usize) {
        self.tail = self.tail.wrapping_add(size as u64);
    }

    /// Gives what was left behind back to the kernel.
    pub(super) fn release(&self) {
        // SAFETY: as for the head; this word is the kernel's to read and ours to write.
        let tail = unsafe { AtomicU64::from_ptr(&raw mut (*self.control()).data_tail) };
        // The kernel overwrites what was read only after it was read.
        tail.store(self.tail, Ordering::Release);
    }

    fn control(&self) -> *mut ControlPage {
        self.map.as_ptr().cast()
    }

    /// Copies what stands at the tail; `to` is no longer than the ring.
    fn copy(&self, to: &mut [u8]) {
        const { assert!(SIZE.is_power_of_two() && LONGEST <= SIZE) };
        // The position in the ring; what does not fit a usize is a multiple of the size.
        let at = self.tail as usize % SIZE;
        let n_first = to.len().min(SIZE - at);
        let (first, rest) = to.split_at_mut(n_first);
        // SAFETY: both parts lie within the SIZE bytes that are mapped behind the control page, which the
        // kernel does not write to while they are between tail and head; `to` is memory of our own.
        unsafe {
            let data = self.map.as_ptr().add(self.page_size);
            data.add(at).copy_to_nonoverlapping(first.as_mut_ptr(), first.len());
            data.copy_to_nonoverlapping(rest.as_mut_ptr(), rest.len());
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: nobody else has the mapping, and it is not used again.
        let unmapped = unsafe { munmap(self.map.as_ptr().cast(), self.page_size + SIZE) };
        debug_assert!(unmapped.is_ok(), "the mapping was ours");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use rustix::io::pwrite;
    use std::mem::offset_of;

    /// A ring in a file, with `records` (sizes) written from position `start` on and the head behind them.
    fn ring(start: u64, records: &[u16]) -> (OwnedFd, Ring) {
        let file = memfd_create("ring", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, (page_size() + SIZE) as u64).unwrap();
        let mut at = start;
        for (number, &size) in (0u8..).zip(records) {
            let mut bytes = vec![number; size.max(8).into()];
            bytes[6..8].copy_from_slice(&size.to_ne_bytes());
            for (offset, byte) in (at..).zip(bytes) {
                pwrite(&file, &[byte], page_size() as u64 + offset % SIZE as u64).unwrap();
            }
            at += u64::from(size);
        }
        pwrite(&file, &at.to_ne_bytes(), offset_of!(ControlPage, data_head) as u64).unwrap();
        let mut ring = Ring::map(&file).unwrap();
        ring.tail = start;
        (file, ring)
    }

    /// Each record's size, first and last byte that is looked at.
    fn read(ring: &mut Ring) -> Vec<(usize, u8, u8)> {
        let head = ring.head();
        let (mut bytes, mut found) = ([0; LONGEST], Vec::new());
        while let Some(size) = ring.peek(head, &mut bytes) {
            found.push((size, bytes[0], bytes[size.min(LONGEST) - 1]));
            ring.skip(size);
        }
        ring.release();
        found
    }

    #[test]
    fn a_record_goes_on_at_the_start_of_the_ring() {
        for start in [0, SIZE as u64 - 24, SIZE as u64 - 4, 1 << 40] {
            let (_file, mut ring) = ring(start, &[32, 200, 16]);
            assert_eq!(read(&mut ring), [(32, 0, 0), (200, 1, 1), (16, 2, 2)], "from {start}");
            assert!(ring.is_empty(ring.head()) && read(&mut ring).is_empty());
        }
    }

    #[test]
    fn the_kernel_learns_what_was_read() {
        let (file, mut ring) = ring(0, &[32, 16]);
        read(&mut ring);
        let mut tail = [0; 8];
        rustix::io::pread(&file, &mut tail, offset_of!(ControlPage, data_tail) as u64).unwrap();
        assert_eq!(u64::from_ne_bytes(tail), 48);
    }

    #[test]
    fn what_is_no_record_ends_the_reading() {
        let (_file, mut ring) = ring(0, &[16, 3]);
        assert_eq!(read(&mut ring), [(16, 0, 0)]);
        assert!(ring.is_empty(ring.head()));
    }

    #[test]
    fn a_ring_without_room_for_a_record_is_full() {
        let (_file, ring) = ring(0, &[]);
        assert!(!ring.is_full(0) && !ring.is_full((SIZE - LONGEST) as u64));
        assert!(ring.is_full((SIZE - 8) as u64) && ring.is_full(u64::MAX));
    }
}
