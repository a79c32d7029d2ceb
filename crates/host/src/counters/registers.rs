//! APERF, MPERF and TSC of each CPU without perf: by /dev/cpu/N/msr, or on AMD by the instruction RDPRU.
//!
//! Sources: Intel SDM vol. 3B, "Hardware Feedback using MPERF and APERF"; AMD APM vol. 3, RDPRU;
//! arch/x86/kernel/msr.c. Registers are read one after the other and mean something only as a ratio, so the
//! thread has to be on their CPU, and whatever comes between two reads makes them worthless. Emulators and
//! hypervisors have registers that read 0 or stand still: those are not believed, and reading takes cycles of
//! every true one.

use super::cell_files::TableLayout;
use super::files::{Files, failed};
use crate::source::live::{msr_device, read_register};
use crate::{Source, clock, probe};
use facts::counters::{Counters, Family};
use facts::msr::{intel, path};
use facts::{CpuSet, Fact, HostView, Missing, Origin};
use rustix::fd::{AsFd, OwnedFd};

/// IA32_TIME_STAMP_COUNTER, IA32_MPERF and IA32_APERF, of Intel's and AMD's processors alike.
const TSC: u32 = 0x10;
const MPERF: u32 = 0xe7;
const APERF: u32 = 0xe8;

/// How often to try for two reads that took about as long, as turbostat does.
const ATTEMPTS: usize = 5;

/// The clocks of each CPU, for a thread that runs on it.
#[derive(Debug)]
pub(super) struct Registers {
    layout: TableLayout,
    way: Way,
    has_smi: bool,
}

#[derive(Debug)]
enum Way {
    /// The msr devices, in the order of the rows.
    Devices(Vec<Fact<OwnedFd>>),
    #[cfg(target_arch = "x86_64")]
    Rdpru,
}

impl Registers {
    /// Chooses a way, and tries it on the first CPU.
    ///
    /// Errors: the host is a copy, neither way is open, or the counters are not true.
    pub(super) fn open(files: &mut Files, host: &HostView, online: &CpuSet) -> Fact<Registers> {
        let live = &files.live;
        if live.origin() != Origin::Live {
            return Err(Missing::not_collected(Family::Clocks.source()));
        }
        let cpuinfo = host.cpuinfo.as_ref()?;
        if !cpuinfo.has("aperfmperf") {
            let because = "/proc/cpuinfo has no flag aperfmperf";
            return Err(Missing::not_here("APERF and MPERF", because));
        }
        let has_smi = host.msrs.of(&intel::SMI_COUNT).is_ok_and(|it| it.all_known().is_ok());
        let devices = || Way::Devices(Vec::new());
        let first = online.first().unwrap_or(0);
        let device = live.file(&msr_device(first));
        #[cfg(target_arch = "x86_64")]
        let way =
            if device.is_err() && rdpru::is_here(live, host) { Way::Rdpru } else { devices() };
        #[cfg(not(target_arch = "x86_64"))]
        let way = devices();
        if matches!(way, Way::Devices(_)) {
            device?;
        }
        let has_smi = has_smi && matches!(way, Way::Devices(_));
        let columns = COLUMNS.into_iter().chain(has_smi.then_some("smi"));
        let mut registers = Registers { layout: TableLayout::new([], columns), way, has_smi };
        registers.renew(files, online);
        probe::pinned(first, || registers.prove())??;
        Ok(registers)
    }

    /// Has a row for each of these CPUs from here on.
    pub(super) fn renew(&mut self, files: &mut Files, online: &CpuSet) {
        self.layout.rows = online.iter().collect();
        if let Way::Devices(devices) = &mut self.way {
            files.give_back(devices.iter().filter(|it| it.is_ok()).count());
            let open = |cpu| {
                let device = files.live.file(&msr_device(cpu))?;
                files.take(1).map(|()| device)
            };
            *devices = online.iter().map(open).collect();
        }
    }

    /// Whether both counters move while they are read.
    fn prove(&self) -> Fact<()> {
        let (before, after) = (self.clocks(0)?, self.clocks(0)?);
        for (name, was, is) in
            [("APERF", before.aperf, after.aperf), ("MPERF", before.mperf, after.mperf)]
        {
            if was == 0 || is <= was {
                let found = format!("{was:#x}, then {is:#x}");
                return Err(Missing::malformed(
                    name,
                    &found,
                    "a counter that moves while it is read",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn begin(&self, into: &mut Counters, read_at: u64) {
        let table = into.table_mut(Family::Clocks);
        self.layout.begin(table, read_at);
        if let Ok(table) = table {
            table.set_source(match &self.way {
                Way::Devices(_) => "/dev/cpu/N/msr",
                #[cfg(target_arch = "x86_64")]
                Way::Rdpru => "instruction RDPRU",
            });
        }
    }

    /// Reads the CPU in one row, which the thread has to run on, after [`Registers::begin`].
    pub(super) fn read_row(&self, into: &mut Counters, row: usize, cpu: u32) {
        let read = self.clocks(row).and_then(|clocks| Ok((clocks, self.smi(row)?)));
        let Ok(table) = into.table_mut(Family::Clocks) else { return };
        match read {
            Ok((clocks, smi)) => {
                let cells = table.row_mut(row, clocks.read_at);
                let counts = [clocks.tsc, clocks.aperf, clocks.mperf].into_iter().chain(smi);
                cells.iter_mut().zip(counts).for_each(|(cell, count)| *cell = count);
            }
            Err(missing) => table.blank_row(cpu, missing),
        }
    }

    /// Bits 31:0.
    fn smi(&self, row: usize) -> Fact<Option<u64>> {
        match self.has_smi {
            true => self.register(row, intel::SMI_COUNT.address).map(|it| Some(it & 0xffff_ffff)),
            false => Ok(None),
        }
    }

    /// The three of them, the last two from almost the same moment.
    fn clocks(&self, row: usize) -> Fact<Clocks> {
        for _ in 0..ATTEMPTS {
            // The first access is slower than those after it.
            self.register(row, APERF)?;
            let tsc = self.register(row, TSC)?;
            let start = clock::raw_ns();
            let aperf = self.register(row, APERF)?;
            let between = clock::raw_ns();
            let mperf = self.register(row, MPERF)?;
            let end = clock::raw_ns();
            if took_alike(between.saturating_sub(start), end.saturating_sub(between)) {
                return Ok(Clocks { tsc, aperf, mperf, read_at: between });
            }
        }
        Err(failed("APERF and MPERF", format!("interrupted between them, {ATTEMPTS} times")))
    }

    fn register(&self, row: usize, address: u32) -> Fact<u64> {
        match &self.way {
            Way::Devices(devices) => {
                let cpu = self.layout.rows.get(row).copied().unwrap_or_default();
                let device = devices.get(row).ok_or_else(|| Missing::absent(path(cpu, address)))?;
                read_register(device.as_ref()?.as_fd(), cpu, address)
            }
            #[cfg(target_arch = "x86_64")]
            Way::Rdpru => match address {
                TSC => Ok(rdpru::tsc()),
                APERF => Ok(rdpru::aperf()),
                MPERF => Ok(rdpru::mperf()),
                _ => Err(Missing::absent(format!("RDPRU of MSR {address:#x}"))),
            },
        }
    }
}

const COLUMNS: [&str; 3] = ["tsc", "aperf", "mperf"];

struct Clocks {
    tsc: u64,
    aperf: u64,
    mperf: u64,
    /// Between the last two.
    read_at: u64,
}

/// Neither took more than twice as long as the other.
fn took_alike(one: u64, other: u64) -> bool {
    one <= other.saturating_mul(2) && other <= one.saturating_mul(2)
}

#[cfg(target_arch = "x86_64")]
mod rdpru {
    //! AMD's instruction that reads APERF and MPERF of the CPU it runs on, in user mode.
    //!
    //! Source: AMD APM vol. 3, RDPRU. Hypervisors intercept it, which ends the program with SIGILL
    //! (arch/x86/kvm/svm/svm.c, Xen's x86_emulate.c): it is used on bare metal only.
    #![expect(unsafe_code, reason = "instructions that no safe function wraps")]

    use crate::Source;
    use facts::HostView;
    use std::arch::asm;

    /// The registers that ECX names.
    const MPERF: u32 = 0;
    const APERF: u32 = 1;

    /// Whether the processor has the instruction and nothing is known to intercept it.
    pub(super) fn is_here(source: &dyn Source, host: &HostView) -> bool {
        let is_amd = host.cpuinfo.as_ref().is_ok_and(facts::cpu::cpuinfo::CpuInfo::is_amd);
        // CPUID 8000_0008: EBX[4] is the instruction, EDX[31:16] the highest register that it reads.
        let leaf = source.cpuid(0x8000_0008, 0);
        let has_it = leaf.is_ok_and(|[_, ebx, _, edx]| ebx >> 4 & 1 == 1 && edx >> 16 >= APERF);
        is_amd && has_it && host.platform.is_bare_metal()
    }

    /// APERF of this CPU; only where [`is_here`].
    pub(super) fn aperf() -> u64 {
        read(APERF)
    }

    /// MPERF of this CPU; only where [`is_here`].
    pub(super) fn mperf() -> u64 {
        read(MPERF)
    }

    /// The time stamp counter of this CPU.
    pub(super) fn tsc() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and Linux lets user mode have it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }

    fn read(register: u32) -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: RDPRU writes EAX, EDX and flags, and touches no memory. Where the processor lacks it, the program
        // ends with SIGILL, which is safe; callers make sure that it does not come to that.
        unsafe {
            asm!(".byte 0x0f, 0x01, 0xfd", in("ecx") register, out("eax") low, out("edx") high,
                 options(nomem, nostack));
        }
        u64::from(high) << 32 | u64::from(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_that_something_came_between_are_not_alike() {
        assert!(took_alike(500, 900) && took_alike(0, 0));
        assert!(!took_alike(500, 1001) && !took_alike(1, 0));
    }
}
