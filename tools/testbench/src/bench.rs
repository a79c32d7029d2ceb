//! Puts a machine together, boots it and reads its transcript, with as many others at the same time as there is room for.
#![expect(clippy::disallowed_methods, reason = "the bench keeps files of its own")]

use crate::boot::{Boot, Emulator, Step};
use crate::emulator::Guest;
use crate::initramfs;
use crate::kernel::Kernel;
use crate::program::Program;
use crate::times;
use crate::transcript::{self, Transcript};
use anyhow::{Context as _, Result, bail};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::time::Instant;
use std::{fs, thread};

/// The guest's user space: one program under every name, and what Debian's build of it leaves out (of util-linux,
/// which every Debian has).
const USER_SPACE: [&str; 2] = ["/bin/busybox", "/usr/bin/chrt"];

/// Boot options of every guest: its console is a file, which Bochs fills at the pace of a real
/// port; a kernel that panics ends the run; and one that hides its pages from its programs (page table isolation) would have
/// an emulator forget what it knows of memory twice in each system call.
const KERNEL_ARGUMENTS: &str = "console=ttyS0,115200 quiet panic=-1 pti=off";

/// Programs to try on any machine.
#[derive(Debug)]
pub struct Bench {
    programs: Vec<Program>,
}

impl Bench {
    /// A bench whose guests find each of `programs` by its file name.
    pub fn new(programs: &[&Path]) -> Result<Self> {
        let programs = USER_SPACE
            .map(Path::new)
            .iter()
            .chain(programs)
            .map(|path| Program::read(path))
            .collect::<Result<_>>()?;
        Ok(Self { programs })
    }

    /// Boots a machine whose last step cuts its power, and returns once it is off.
    ///
    /// Errors: the machine was switched off in an orderly way.
    pub fn run_to_power_cut(&self, boot: &Boot, steps: &[Step]) -> Result<()> {
        match self.run_unless_cut(boot, steps)? {
            Some(transcript) => bail!("nothing cut the power: {transcript:#?}"),
            None => Ok(()),
        }
    }

    /// Boots a machine whose steps may cut its power: as [`Self::run`], and `None` where they did.
    pub fn run_unless_cut(&self, boot: &Boot, steps: &[Step]) -> Result<Option<Transcript>> {
        match self.run(boot, steps) {
            Err(error) if error.root_cause().to_string().contains(transcript::BREAKS_OFF) => {
                Ok(None)
            }
            ended => ended.map(Some),
        }
    }

    /// Boots a machine, runs `steps` in it and returns what they printed once the machine is off. Waits while as many others run
    /// as the host has CPUs, or one that has to run alone.
    /// Fetches the machine's kernel if it is not in the cache. An error shows the end of the console.
    pub fn run(&self, boot: &Boot, steps: &[Step]) -> Result<Transcript> {
        // What it boots is made meanwhile as well: that takes as much of the host as running it.
        let _slots = Slots::take(boot.runs_alone);
        self.run_beside(boot, steps)
    }

    /// Boots several machines at the same time and no others, each with its steps. `meanwhile` is called as they start, with what tells
    /// how many of them have ended; returns what it did, and what each machine printed once all are off.
    pub fn run_together<T>(
        &self,
        machines: &[(Boot, Vec<Step>)],
        meanwhile: impl FnOnce(&dyn Fn() -> usize) -> T,
    ) -> (T, Vec<Result<Transcript>>) {
        let _slots = Slots::take(true);
        thread::scope(|scope| {
            let running: Vec<_> = machines
                .iter()
                .map(|(boot, steps)| scope.spawn(move || self.run_beside(boot, steps)))
                .collect();
            let done = meanwhile(&|| running.iter().filter(|it| it.is_finished()).count());
            let ended = running
                .into_iter()
                .map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (done, ended.collect())
        })
    }

    /// Boots a machine for which there is leave.
    fn run_beside(&self, boot: &Boot, steps: &[Step]) -> Result<Transcript> {
        let folder = tempfile::tempdir().context("cannot make a folder for the guest")?;
        let started = Instant::now();
        let guest = self.prepare(boot, steps, folder.path())?;
        let console = || format!("the guest's console ends:\n{}\n", guest.last_words());
        let ended = match &boot.emulator {
            Emulator::Qemu(qemu) => qemu.run(&guest),
            Emulator::Bochs(bochs) => bochs.run(&guest),
        };
        let sent = fs::read(guest.results()).unwrap_or_default();
        let names: Vec<&str> = steps.iter().map(|step| &*step.name).collect();
        times::keep(&times::Run { took: started.elapsed(), steps: names.join(", ") })?;
        let transcript = Transcript::parse(&sent, &names);
        let where_it_was = || match &transcript {
            Err(error) => format!("{error:#}"),
            Ok(_) => "behind its last step".to_owned(),
        };
        // An emulator's exit status says little: Bochs calls a machine switched off a panic.
        let ended = ended.with_context(where_it_was).with_context(console)?;
        transcript
            .with_context(|| format!("the emulator ended with {}", ended.status))
            .with_context(|| format!("it printed:\n{}", ended.printed))
            .with_context(console)
    }

    /// Writes what the emulator boots into `folder`.
    fn prepare(&self, boot: &Boot, steps: &[Step], folder: &Path) -> Result<Guest> {
        let kernel = Kernel::fetch(boot.kernel)?;
        let modules = kernel.modules(&boot.modules)?;
        let config = boot.has_config.then(|| kernel.config()).transpose()?;
        let image = initramfs::build(&self.programs, &modules, config.as_ref(), boot.init, steps)?;
        let initramfs = folder.join("initramfs");
        fs::write(&initramfs, image)
            .with_context(|| format!("cannot write {}", initramfs.display()))?;
        let mut command_line = KERNEL_ARGUMENTS.to_owned();
        for argument in &boot.kernel_arguments {
            command_line.push(' ');
            command_line.push_str(argument);
        }
        Ok(Guest { folder: folder.to_owned(), kernel: kernel.image, initramfs, command_line })
    }
}

/// Leave for a machine to run: that many of the slots, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slots(usize);

/// As many as the host has CPUs: more machines would slow each other down, and time passes in them all the same.
static ALL: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

static FREE: LazyLock<Mutex<usize>> = LazyLock::new(|| Mutex::new(*ALL));

static GIVEN_BACK: Condvar = Condvar::new();

impl Slots {
    /// Waits until one is free, or all are, for a machine that is to run alone.
    pub(crate) fn take(alone: bool) -> Slots {
        let n_slots = if alone { *ALL } else { 1 };
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let free = GIVEN_BACK.wait_while(free, |free| *free < n_slots);
        *free.unwrap_or_else(PoisonError::into_inner) -= n_slots;
        Slots(n_slots)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += self.0;
        GIVEN_BACK.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_free() -> usize {
        *FREE.lock().unwrap()
    }

    #[test]
    fn one_that_runs_alone_waits_for_all_others_and_each_gives_back_what_it_had() {
        let slots: Vec<Slots> = (0..*ALL).map(|_| Slots::take(false)).collect();
        assert_eq!(n_free(), 0);
        let waits = thread::spawn(|| Slots::take(true));
        drop(slots);
        let alone = waits.join().unwrap();
        assert_eq!(n_free(), 0);
        drop(alone);
        assert_eq!(n_free(), *ALL);
    }
}
