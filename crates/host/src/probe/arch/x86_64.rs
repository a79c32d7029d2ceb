//! TSC, and chains of `add` and `xor` between registers.
//!
//! Both take one cycle on every x86-64 core (Intel's Optimization Reference Manual, appendix "Instruction Latency",
//! and AMD's Software Optimization Guides). Only between registers: cores since Golden Cove add small constants while
//! they rename registers, in no time. A register with itself would be a zeroing idiom.
#![expect(unsafe_code, reason = "time counter and chains are instructions without a Rust name")]

use super::{BLOCK, Chain, Flush};
use std::arch::asm;
use std::arch::x86_64::{_mm_clflush, _mm_lfence, _mm_mfence, _rdtsc};
use std::hint::black_box;

/// A chain of additions.
pub(crate) const ADDS: Option<Chain> = Some(adds);
/// A chain of exclusive ors.
pub(crate) const XORS: Option<Chain> = Some(xors);

/// CLFLUSH, which takes a line out of the caches of all CPUs, and MFENCE, which waits for it (SDM vol. 2).
pub(crate) const FLUSH: Option<Flush> = Some(Flush { line, wait });

fn line(word: &u64) {
    // SAFETY: part of SSE2, which every x86-64 has; the line that is written back and flushed is a valid one.
    unsafe { _mm_clflush(std::ptr::from_ref(word).cast()) };
}

fn wait() {
    // SAFETY: part of SSE2; it touches no memory of ours.
    unsafe { _mm_mfence() };
}

/// TSC, read wherever the CPU likes among the instructions around it.
#[inline(always)]
pub(crate) fn now() -> u64 {
    // SAFETY: every x86-64 has RDTSC; only prctl(PR_SET_TSC), which nothing here calls, makes it fault.
    unsafe { _rdtsc() }
}

/// TSC after all earlier instructions and before all later ones (SDM vol. 2, LFENCE and RDTSC; AMD serializes LFENCE
/// where the kernel asks for it, which Linux does).
#[inline(always)]
pub(crate) fn now_in_order() -> u64 {
    // SAFETY: LFENCE is part of SSE2, which every x86-64 has; it touches no memory of ours.
    unsafe { _mm_lfence() };
    let now = now();
    // SAFETY: as above.
    unsafe { _mm_lfence() };
    now
}

#[inline(never)]
fn adds(blocks: u64) {
    // From memory, so that no constant waits in the register renamer.
    let (start, step) = (black_box(1u64), black_box(3u64));
    // SAFETY: changes the named registers and the flags only; the loop ends because `n` starts above 0.
    unsafe {
        asm!(
            "2:",
            ".rept {block}",
            "add {value}, {step}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            block = const BLOCK,
            value = inout(reg) start => _,
            step = in(reg) step,
            n = inout(reg) blocks.max(1) => _,
            options(nomem, nostack),
        );
    }
}

#[inline(never)]
fn xors(blocks: u64) {
    let (start, step) = (black_box(1u64), black_box(3u64));
    // SAFETY: as in `adds`.
    unsafe {
        asm!(
            "2:",
            ".rept {block}",
            "xor {value}, {step}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            block = const BLOCK,
            value = inout(reg) start => _,
            step = in(reg) step,
            n = inout(reg) blocks.max(1) => _,
            options(nomem, nostack),
        );
    }
}
