//! CNTVCT, and chains of `add` and `eor` between registers.
//!
//! Both take one cycle on Arm's cores (the Software Optimization Guides of Cortex-A and Neoverse, "Arithmetic and
//! logical instructions, basic"). CNTVCT ticks at 1 GHz since Armv8.6 and at some tens of MHz before, 40 ns a tick, which
//! bounds what a probe can tell apart. Linux lets user space read it: the vDSO relies on that.
#![expect(unsafe_code, reason = "time counter and chains are instructions without a Rust name")]

use super::{BLOCK, Chain, Flush};
use std::arch::asm;
use std::hint::black_box;

/// A chain of additions.
pub(crate) const ADDS: Option<Chain> = Some(adds);
/// A chain of exclusive ors.
pub(crate) const XORS: Option<Chain> = Some(xors);

/// DC CIVAC, which cleans and invalidates a line down to memory. Linux lets user space do that (SCTLR_EL1.UCI).
pub(crate) const FLUSH: Option<Flush> = Some(Flush { line, wait });

fn line(word: &u64) {
    let word = std::ptr::from_ref(word);
    // SAFETY: the line is a valid one, and holds the same values afterwards.
    unsafe { asm!("dc civac, {}", in(reg) word, options(nostack, preserves_flags)) };
}

fn wait() {
    // SAFETY: it waits and changes nothing.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
}

/// CNTVCT, read wherever the CPU likes among the instructions around it.
#[inline(always)]
pub(crate) fn now() -> u64 {
    let now;
    // SAFETY: reads a register that Linux leaves readable in user space, and touches nothing else.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) now, options(nomem, nostack, preserves_flags)) };
    now
}

/// CNTVCT after all earlier instructions and before all later ones.
#[inline(always)]
pub(crate) fn now_in_order() -> u64 {
    let now;
    // SAFETY: as in `now`; ISB waits and changes nothing.
    unsafe {
        asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) now, options(nomem, nostack, preserves_flags));
    };
    now
}

#[inline(never)]
fn adds(blocks: u64) {
    let (start, step) = (black_box(1u64), black_box(3u64));
    // SAFETY: changes the named registers and the flags only; the loop ends because `n` starts above 0.
    unsafe {
        asm!(
            "2:",
            ".rept {block}",
            "add {value}, {value}, {step}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
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
            "eor {value}, {value}, {step}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            block = const BLOCK,
            value = inout(reg) start => _,
            step = in(reg) step,
            n = inout(reg) blocks.max(1) => _,
            options(nomem, nostack),
        );
    }
}
