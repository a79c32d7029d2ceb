//! Reads a tar stream once, from front to back, and keeps what belongs to a host.

use super::budget::{Counted, Limits, Meter, Metered, mebibytes, too_large};
use super::compression::{Format, unpacked};
use super::roots::Roots;
use super::tree::{Folder, Node, components};
use facts::limits;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use tar::EntryType;

/// PATH_MAX of include/uapi/linux/limits.h: nobody could ask for a longer path.
const LONGEST_PATH: usize = 4096;

/// What was read before the end, or before an error.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) roots: Roots,
    /// The names of the first and the last entry, for messages.
    pub(super) first: Option<String>,
    pub(super) last: Option<String>,
}

impl Scan {
    /// Nothing read; only hosts in the folder `within` of the archive will count.
    pub(super) fn new(within: &str) -> Scan {
        Scan { roots: Roots::new(within), first: None, last: None }
    }

    /// The same; every host will count.
    pub(super) fn of_all() -> Scan {
        Scan { roots: Roots::of_all(), first: None, last: None }
    }
}

/// Why not all of an archive could be read.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: io::Error,
    /// What the archive's reader found.
    pub(super) kind: FaultKind,
}

/// What is wrong with an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// It ends before its end.
    Cut,
    /// Something in it makes no sense, or a checksum differs.
    Damaged,
    /// It is over a limit.
    TooLarge,
}

/// Reads all of `packed`, compressed or not, into `scan`; `limits_of` a format and the number of packed bytes read.
///
/// Errors: it cannot be read to its end. What was read before is in `scan`.
pub(super) fn read(
    packed: impl Read,
    scan: &mut Scan,
    limits_of: impl Fn(Format, u64) -> Limits + 'static,
) -> Result<(), Fault> {
    let (n_read, all_read) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let counted =
        Counted { inner: packed, n_read: Rc::clone(&n_read), has_ended: Rc::clone(&all_read) };
    let begun = unpacked(counted);
    let (format, stream) = begun.map_err(|error| Fault { error, kind: FaultKind::Damaged })?;
    let meter = Rc::new(Meter::new(move || limits_of(format, n_read.get())));
    let mut archive = tar::Archive::new(Metered { inner: stream, meter: Rc::clone(&meter) });
    let read = entries(&mut archive, scan, &meter).and_then(|()| match scan.last {
        // Of nothing there is no end.
        None => Ok(()),
        Some(_) => end(archive, &meter),
    });
    read.map_err(|error| {
        let is_cut =
            || error.kind() == io::ErrorKind::UnexpectedEof || meter.has_ended() || all_read.get();
        let kind = match () {
            () if meter.is_exceeded() => FaultKind::TooLarge,
            () if is_cut() => FaultKind::Cut,
            () => FaultKind::Damaged,
        };
        Fault { error, kind }
    })
}

/// Reads what is behind the last entry: the mark of the end, and the checksums of the compression, which come after that.
fn end(archive: tar::Archive<Metered<impl Read>>, meter: &Meter) -> io::Result<()> {
    /// Tools fill the last record up with zeros: 10 KiB in GNU tar, where nothing else is asked of it.
    const LONGEST_END: u64 = 1 << 20;
    if meter.has_ended() {
        let error = "it has no mark of its end";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
    }
    meter.begin_entry(LONGEST_END);
    io::copy(&mut archive.into_inner().take(LONGEST_END), &mut io::sink()).map(drop)
}

fn entries(
    archive: &mut tar::Archive<Metered<impl Read>>,
    scan: &mut Scan,
    meter: &Meter,
) -> io::Result<()> {
    for entry in archive.entries()? {
        let mut entry = entry?;
        // The size of a sparse file is that with its holes, which the stream does not hold.
        let is_sparse = entry.header().entry_type().is_gnu_sparse();
        meter.begin_entry(if is_sparse { entry.header().entry_size()? } else { entry.size() });
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        keep(&name, &mut entry, &mut scan.roots, meter)?;
        scan.first.get_or_insert_with(|| name.clone());
        scan.last = Some(name);
    }
    Ok(())
}

/// Gives `each` regular file that begins as `is_wanted` says, with its name and all of its bytes, in the order of the archive; longer ones
/// than an archive of this size may hold, and links, are left out. Returns the name of the first entry, and how many were left out.
pub(super) fn files(
    packed: impl Read,
    limits_of: impl Fn(Format, u64) -> Limits + 'static,
    is_wanted: &dyn Fn(&[u8]) -> bool,
    each: &mut dyn FnMut(&str, Vec<u8>),
) -> io::Result<(Option<String>, u64)> {
    let n_read = Rc::new(Cell::new(0));
    let counted = Counted { inner: packed, n_read: Rc::clone(&n_read), has_ended: Rc::default() };
    let (format, stream) = unpacked(counted)?;
    let meter = Rc::new(Meter::new(move || limits_of(format, n_read.get())));
    let stream = Metered { inner: stream, meter: Rc::clone(&meter) };
    let (mut first, mut n_left_out) = (None, 0);
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let is_file = entry.header().entry_type().is_file();
        let size = entry.size();
        meter.begin_entry(size);
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        first.get_or_insert_with(|| name.clone());
        let kind = entry.header().entry_type();
        if kind.is_symlink() || kind.is_hard_link() || size > meter.limits().memory as u64 {
            n_left_out += 1;
            continue;
        }
        if !is_file {
            continue;
        }
        let mut bytes = Vec::new();
        entry.by_ref().take(BEGINNING).read_to_end(&mut bytes)?;
        if is_wanted(&bytes) {
            entry.read_to_end(&mut bytes)?;
            each(&name, bytes);
        }
    }
    if first.is_some() {
        end(archive, &meter)?;
    }
    Ok((first, n_left_out))
}

/// Bytes by which it is decided whether a file is wanted.
const BEGINNING: u64 = 64;

/// Keeps an entry that belongs to a host. Entries with `..` in their name or of impossible length are left
/// out: no tool that copies a host writes them.
fn keep(
    name: &str,
    entry: &mut tar::Entry<'_, impl Read>,
    roots: &mut Roots,
    meter: &Meter,
) -> io::Result<()> {
    let path: Vec<&str> = components(name).collect();
    if name.len() > LONGEST_PATH || path.contains(&"..") {
        return Ok(());
    }
    let is_folder = entry.header().entry_type().is_dir() || name.ends_with('/');
    let Some(depth) = roots.root_of(&path, is_folder) else { return Ok(()) };
    let limits = meter.limits();
    if roots.memory() > limits.memory {
        let memory = mebibytes(limits.memory as u64);
        let what = format!("holds files of a host that take more than {memory} of memory");
        return Err(meter.exceeded(too_large(&what)));
    }
    let node = if is_folder {
        Node::Folder(Folder::new())
    } else {
        node(entry, &path, depth, roots, limits)?
    };
    roots.insert(&path, depth, node);
    Ok(())
}

/// What an entry that is no folder stands for.
fn node(
    entry: &mut tar::Entry<'_, impl Read>,
    path: &[&str],
    depth: usize,
    roots: &Roots,
    limits: Limits,
) -> io::Result<Node> {
    let target = || {
        let bytes = entry.link_name_bytes().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => {
            file(entry, &path[depth..].join("/"), roots, limits)?
        }
        EntryType::Symlink => match target() {
            target if target.len() > LONGEST_PATH => Node::Refused("a link that is too long"),
            target => Node::Link(target.into()),
        },
        // The target of a hard link is the name of an earlier entry.
        EntryType::Link => match roots.get(&components(&target()).collect::<Vec<_>>(), depth) {
            Some(file @ Node::File(_)) => file.clone(),
            _ => Node::Refused("a hard link to a file that the archive does not hold"),
        },
        EntryType::Char | EntryType::Block => Node::Refused("a device"),
        EntryType::Fifo => Node::Refused("a pipe"),
        EntryType::GNUSparse => Node::Refused("a sparse file"),
        _ => Node::Refused("an entry of unknown type"),
    })
}

fn file(
    entry: &mut tar::Entry<'_, impl Read>,
    path: &str,
    roots: &Roots,
    limits: Limits,
) -> io::Result<Node> {
    let limit = limits::longest(&format!("/{path}"));
    let size = match usize::try_from(entry.size()) {
        Ok(size) if size <= limit => size,
        _ => return Ok(Node::TooLong { length: entry.size(), limit }),
    };
    // A quarter is left to smaller entries after it: a host is more than its largest files.
    let for_files = limits.memory - limits.memory / 4;
    if size > limits.file || roots.memory().saturating_add(size) > for_files {
        return Ok(Node::NoRoom { length: size });
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    if bytes.len() != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Node::File(bytes.into()))
}
