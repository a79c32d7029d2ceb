//! Reads a tar stream once, from front to back, and keeps what belongs to a host.

use super::compression::unpacked;
use super::roots::Roots;
use super::tree::{Node, components};
use crate::source::LARGEST_FILE;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::rc::Rc;
use tar::EntryType;

/// What an archive may ask of this machine; more is what one made to be awkward asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes unpacked, kept or not: a bundle with logs has some GiB.
    pub(super) unpacked: u64,
    /// Bytes kept, of all files together.
    pub(super) kept: usize,
    /// Bytes of one file.
    pub(super) file: usize,
    /// Entries kept: a host of 4,096 CPUs has a million.
    pub(super) entries: usize,
}

impl Limits {
    pub(super) const USUAL: Limits =
        Limits { unpacked: 8 << 30, kept: 512 << 20, file: LARGEST_FILE, entries: 2 << 20 };
}

/// Long names and attributes of one entry, which the tar reader holds in memory.
const LARGEST_HEADER: u64 = 1 << 20;

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
}

/// Reads all of `packed`, compressed or not, into `scan`.
pub(super) fn read(packed: impl Read, scan: &mut Scan, limits: Limits) -> io::Result<()> {
    let allowance =
        Rc::new(Allowance { whole: Cell::new(limits.unpacked), entry: Cell::new(LARGEST_HEADER) });
    let stream = Metered { inner: unpacked(packed)?, allowance: Rc::clone(&allowance) };
    for entry in tar::Archive::new(stream).entries()? {
        let mut entry = entry?;
        // The size of a sparse file is that with its holes, which the stream does not hold.
        let is_sparse = entry.header().entry_type().is_gnu_sparse();
        let size = if is_sparse { entry.header().entry_size()? } else { entry.size() };
        allowance.entry.set(size.saturating_add(LARGEST_HEADER));
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        keep(&name, &mut entry, &mut scan.roots, limits)?;
        scan.first.get_or_insert_with(|| name.clone());
        scan.last = Some(name);
    }
    Ok(())
}

/// Keeps an entry that belongs to a host. Entries with `..` in their name or of impossible length are left
/// out: no tool that copies a host writes them.
fn keep(
    name: &str,
    entry: &mut tar::Entry<'_, impl Read>,
    roots: &mut Roots,
    limits: Limits,
) -> io::Result<()> {
    let path: Vec<&str> = components(name).collect();
    if name.len() > LONGEST_PATH || path.contains(&"..") {
        return Ok(());
    }
    let is_folder = entry.header().entry_type().is_dir() || name.ends_with('/');
    let Some(depth) = roots.root_of(&path, is_folder) else { return Ok(()) };
    if roots.size().1 >= limits.entries {
        return Err(io::Error::other(format!("more than {} files of a host", limits.entries)));
    }
    let node =
        if is_folder { Node::Folder(BTreeMap::new()) } else { node(entry, depth, roots, limits)? };
    roots.insert(&path, depth, node);
    Ok(())
}

/// What an entry that is no folder stands for.
fn node(
    entry: &mut tar::Entry<'_, impl Read>,
    depth: usize,
    roots: &Roots,
    limits: Limits,
) -> io::Result<Node> {
    let target = || {
        let bytes = entry.link_name_bytes().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => file(entry, roots, limits)?,
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

fn file(entry: &mut tar::Entry<'_, impl Read>, roots: &Roots, limits: Limits) -> io::Result<Node> {
    let size = match usize::try_from(entry.size()) {
        Ok(size) if size <= limits.file => size,
        _ => return Ok(Node::Refused("a file of more than 64 MiB")),
    };
    if roots.size().0.saturating_add(size) > limits.kept {
        return Ok(Node::Refused("a file behind 512 MiB of others in one archive"));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    if bytes.len() != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Node::File(bytes.into()))
}

/// How many more bytes may be unpacked.
struct Allowance {
    whole: Cell<u64>,
    /// For the entry at hand and the header of the next one.
    entry: Cell<u64>,
}

/// A stream that ends in an error when its allowance is used up.
struct Metered<R> {
    inner: R,
    allowance: Rc<Allowance>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Allowance { whole, entry } = &*self.allowance;
        let most = whole.get().min(entry.get());
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            return Err(io::Error::other(if whole.get() == 0 {
                "it unpacks to more than a copy of a host would"
            } else {
                "the name of an entry takes more than 1 MiB"
            }));
        }
        let n_read = self.inner.read(&mut buffer[..most])?;
        let used = u64::try_from(n_read).unwrap_or(u64::MAX);
        whole.set(whole.get().saturating_sub(used));
        entry.set(entry.get().saturating_sub(used));
        Ok(n_read)
    }
}
