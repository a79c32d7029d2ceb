//! What reading an archive may cost, by its format and its packed size.
//!
//! An archive of up to [`SMALL`] is read or refused within some 5 s and 200 MiB of memory, whatever it holds. The limits are
//! counts of bytes, so the same archive gets the same answer on every machine. Larger archives get more in proportion to
//! their size, because genuine bundles of hundreds of MiB unpack to many GiB.

use super::compression::Format;
use facts::limits::LARGEST_FILE;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Packed bytes up to which an archive gets the base of each limit.
pub(super) const SMALL: u64 = 10 << 20;

/// Long names and attributes of one entry, which the tar reader holds in memory.
const LARGEST_HEADER: u64 = 1 << 20;

/// What an archive may ask of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes unpacked, kept or not.
    pub(super) unpacked: u64,
    /// Memory that the entries kept take together.
    pub(super) memory: usize,
    /// Bytes of one file.
    pub(super) file: usize,
}

impl Limits {
    /// Of an archive of `packed` bytes in `format`.
    pub(super) fn of(format: Format, packed: u64) -> Limits {
        // Measured on x86 at 2.5 GHz: bzip2 unpacks 18 MB/s of data that misses the caches, zstd and gzip several hundred
        // MB/s. xz needs nine decisions of its range decoder for a literal, which makes some 65 MB/s.
        let base = match format {
            Format::Plain => 8 << 30,
            Format::Gzip => 1 << 30,
            Format::Bzip2 => 96 << 20,
            Format::Xz => 320 << 20,
            Format::Zstd => 512 << 20,
        };
        let more = packed.saturating_sub(SMALL);
        let memory = |base: u64, most: u64| {
            let bytes = base.saturating_add(more.saturating_mul(16)).min(most);
            usize::try_from(bytes).unwrap_or(usize::MAX)
        };
        Limits {
            // Kernel logs and trees of small files shrink to a hundredth; 64 GiB unpack for minutes.
            unpacked: more.saturating_mul(128).saturating_add(base).min(64 << 30),
            memory: memory(80 << 20, 1 << 30),
            // A table of interrupts takes eight times its length once it is parsed.
            file: memory(10 << 20, LARGEST_FILE as u64),
        }
    }
}

/// Counts the bytes that are read from the archive itself.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) n_read: Rc<Cell<u64>>,
    /// Whether all of it was read.
    pub(super) has_ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        self.n_read.set(self.n_read.get().saturating_add(length(n_read)));
        if n_read == 0 && !buffer.is_empty() {
            self.has_ended.set(true);
        }
        Ok(n_read)
    }
}

/// What was unpacked, and what the entry at hand may still take.
pub(super) struct Meter {
    unpacked: Cell<u64>,
    /// For the entry at hand and the header of the next one.
    entry: Cell<u64>,
    /// Whether a limit was reached.
    is_exceeded: Cell<bool>,
    /// Whether the stream has ended.
    has_ended: Cell<bool>,
    limits: Box<dyn Fn() -> Limits>,
}

impl Meter {
    /// Nothing unpacked; `limits` are asked again and again, because they grow with what was read.
    pub(super) fn new(limits: impl Fn() -> Limits + 'static) -> Meter {
        let entry = Cell::new(LARGEST_HEADER);
        Meter {
            unpacked: Cell::new(0),
            entry,
            is_exceeded: Cell::new(false),
            has_ended: Cell::new(false),
            limits: Box::new(limits),
        }
    }

    /// The limits as far as the archive was read.
    pub(super) fn limits(&self) -> Limits {
        (self.limits)()
    }

    /// The error that says in words which limit was reached.
    pub(super) fn exceeded(&self, what: impl Into<String>) -> io::Error {
        self.is_exceeded.set(true);
        io::Error::other(what.into())
    }

    /// Whether a limit was reached.
    pub(super) fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }

    /// Whether the stream has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// An entry of `size` bytes begins.
    pub(super) fn begin_entry(&self, size: u64) {
        self.entry.set(size.saturating_add(LARGEST_HEADER));
    }
}

/// A stream that ends in an error when a limit is reached.
pub(super) struct Metered<R> {
    pub(super) inner: R,
    pub(super) meter: Rc<Meter>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Meter { unpacked, entry, .. } = &*self.meter;
        let limit = self.meter.limits().unpacked;
        let most = limit.saturating_sub(unpacked.get()).min(entry.get());
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            return Err(self.meter.exceeded(if unpacked.get() >= limit {
                too_large(&format!("unpacks to more than {}", mebibytes(limit)))
            } else {
                "the name of an entry takes more than 1 MiB".to_owned()
            }));
        }
        let n_read = self.inner.read(&mut buffer[..most])?;
        if n_read == 0 && !buffer.is_empty() {
            self.meter.has_ended.set(true);
        }
        unpacked.set(unpacked.get().saturating_add(length(n_read)));
        entry.set(entry.get().saturating_sub(length(n_read)));
        Ok(n_read)
    }
}

/// That an archive is over a limit, and what to do when it is genuine.
pub(super) fn too_large(what: &str) -> String {
    format!("it {what}, the limit for an archive of its size; {UNPACK}")
}

/// What to do with a genuine archive that is over a limit.
pub(super) const UNPACK: &str = "unpack it and give the folder to --root";

/// A size for a message.
pub(super) fn mebibytes(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MiB", bytes >> 20) }
}

fn length(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_of_up_to_10_mib_gets_the_base_and_a_larger_one_more() {
        let of = |format, packed: u64| {
            let Limits { unpacked, memory, file } = Limits::of(format, packed);
            [unpacked >> 20, (memory >> 20) as u64, (file >> 20) as u64]
        };
        assert_eq!(of(Format::Gzip, 0), [1024, 80, 10]);
        assert_eq!(of(Format::Gzip, SMALL), [1024, 80, 10]);
        assert_eq!(of(Format::Bzip2, SMALL), [96, 80, 10]);
        assert_eq!(of(Format::Xz, 300 << 20), [320 + 290 * 128, 1024, 64]);
        assert_eq!(of(Format::Xz, u64::MAX), [64 << 10, 1024, 64]);
    }
}
