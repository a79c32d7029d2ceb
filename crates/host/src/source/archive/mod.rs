//! A tar archive that holds a copy of a host: an sosreport, a must-gather, a support bundle.
//!
//! It is read as a stream, once, and nothing is unpacked to disk. What a reader may ask for stays in memory,
//! within limits; the rest passes by. Archives come from strangers: every entry may be hostile, and the
//! worst it can do is to be refused, with its reason as the answer.

mod budget;
mod compression;
mod roots;
mod scan;
mod supportconfig;
mod tree;

use super::absence::{self, At, Kept};
use super::{Source, check_names, cpuid_name, not_a_link, within_limit};
use budget::{Limits, UNPACK};
use compression::Format;
use facts::collectors::Known;
use facts::ipmi::Question;
use facts::{Fact, Missing, Origin, Why, msr};
use scan::{Fault, FaultKind, Scan};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use supportconfig::Sections;
use tree::{Node, Tree, Unfound};

/// Why an archive holds no host.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The operating system's refusal.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// As the user wrote it.
        path: String,
        /// The operating system's words.
        error: std::io::Error,
    },
    /// Not even the first entry of an archive makes sense.
    #[error(
        "{path} is neither a folder nor a tar archive (plain, or packed with gzip, bzip2, xz or zstd), or a \
         damaged one; a file made by `fullclock capture` is read with --host"
    )]
    NotAnArchive {
        /// As the user wrote it.
        path: String,
    },
    /// An archive that starts well and then does not go on.
    #[error("{path} is damaged, cut short or too large after its entry {after:?}: {error}")]
    Broken {
        /// As the user wrote it.
        path: String,
        /// The last entry that was read.
        after: String,
        /// What the tar reader or the decompressor says.
        error: std::io::Error,
    },
    /// A sound archive of something else.
    #[error(
        "{path} has no folder with proc/ or sys/ in /{within}, so it holds no host; its first entry is {first:?}"
    )]
    NoHost {
        /// As the user wrote it.
        path: String,
        /// The folder in the archive that the user asked for.
        within: String,
        /// The name of the first entry; empty where there is none.
        first: String,
    },
}

/// A host whose files are entries of an archive.
#[derive(Debug)]
pub struct Archive {
    tree: Tree,
    /// Paths of the hosts in it, that of the tree first.
    roots: Vec<String>,
    collector: OnceCell<Option<Known>>,
    /// Files of which the copy says that the host has none.
    absent: BTreeSet<String>,
    /// Why it is not all of the copy.
    incomplete: Option<String>,
}

impl Archive {
    /// Reads the archive at `path`: tar, plain or packed with gzip, bzip2, xz or zstd. Only a host in the
    /// folder `within` of the archive counts; empty for any. Of one that is cut short or damaged, what comes before that is the host,
    /// and what that lacks is unknown ([`Source::incomplete`]).
    ///
    /// Errors: it cannot be read, is over a limit, or holds no host.
    pub fn open(path: &Path, within: &str) -> Result<Archive, ArchiveError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the archive is the user's file, not one of the host's"
        )]
        let file = std::fs::File::open(path);
        let name = path.display().to_string();
        match file {
            Ok(file) => {
                let size = file.metadata().map_or(0, |it| it.len());
                let limits = move |format, n_read: u64| Limits::of(format, n_read.max(size));
                Archive::read_within(&name, file, within, limits)
            }
            Err(error) => Err(ArchiveError::Unreadable { path: name, error }),
        }
    }

    /// The same from any stream, whose length shows as it is read; errors call it `name`.
    pub fn read(name: &str, stream: impl Read, within: &str) -> Result<Archive, ArchiveError> {
        Archive::read_within(name, stream, within, Limits::of)
    }

    /// Every host of the archive at `path`, in one reading of it, each with its path in its roots; and whether there were more hosts than
    /// are kept.
    ///
    /// Errors: it cannot be read, holds no host, or its hosts together take more memory than one may.
    pub fn hosts(path: &Path) -> Result<(Vec<Archive>, bool), ArchiveError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the archive is the user's file, not one of the host's"
        )]
        let file = std::fs::File::open(path);
        let name = path.display().to_string();
        let unreadable = |error| ArchiveError::Unreadable { path: name.clone(), error };
        let file = file.map_err(unreadable)?;
        let size = file.metadata().map_or(0, |it| it.len());
        let limits = move |format, n_read: u64| Limits::of(format, n_read.max(size));
        let Scanned { scan, fault } = Archive::scanned(&name, file, Scan::of_all(), limits)?;
        let (trees, is_full) = scan.roots.finish_all();
        if trees.is_empty() {
            return Err(without_host(name, "", scan.first, fault));
        }
        let incomplete = fault.map(|it| it.sentence());
        let archive = |(tree, root): (Tree, String)| {
            Archive::of(tree, vec![whole(&name, &root)], incomplete.clone())
        };
        Ok((trees.into_iter().map(archive).collect(), is_full))
    }

    /// Gives `each` file of the archive at `path` that begins as `is_wanted` says, with its name and all of its bytes, one at a time and
    /// within the limits of an archive. For archives of something else than a host. Returns how many entries were left out, as they are
    /// links or too long.
    ///
    /// Errors: it cannot be read to its end, or is no archive. What was given before stays so.
    pub fn files(
        path: &Path,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        each: &mut dyn FnMut(&str, Vec<u8>),
    ) -> Result<u64, ArchiveError> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the archive is the user's file, not one of the host's"
        )]
        let file = std::fs::File::open(path);
        let name = || path.display().to_string();
        let file = file.map_err(|error| ArchiveError::Unreadable { path: name(), error })?;
        let size = file.metadata().map_or(0, |it| it.len());
        let limits = move |format, n_read: u64| Limits::of(format, n_read.max(size));
        match scan::files(file, limits, is_wanted, each) {
            Ok((Some(_), n_left_out)) => Ok(n_left_out),
            Ok((None, _)) => Err(ArchiveError::NotAnArchive { path: name() }),
            Err(error) => Err(ArchiveError::Broken { path: name(), after: String::new(), error }),
        }
    }

    fn read_within(
        name: &str,
        stream: impl Read,
        within: &str,
        limits_of: impl Fn(Format, u64) -> Limits + 'static,
    ) -> Result<Archive, ArchiveError> {
        let scanned = Archive::scanned(name, stream, Scan::new(within), limits_of)?;
        let Scanned { scan, fault } = scanned;
        let Some((tree, roots)) = scan.roots.finish() else {
            return Err(without_host(name.to_owned(), within, scan.first, fault));
        };
        let roots = roots.into_iter().map(|it| whole(name, &it)).collect();
        Ok(Archive::of(tree, roots, fault.map(|it| it.sentence())))
    }

    fn scanned(
        name: &str,
        stream: impl Read,
        mut scan: Scan,
        limits_of: impl Fn(Format, u64) -> Limits + 'static,
    ) -> Result<Scanned, ArchiveError> {
        let path = name.to_owned();
        let fault = match (scan::read(stream, &mut scan, limits_of), &scan.last) {
            (Err(_), None) => return Err(ArchiveError::NotAnArchive { path }),
            (Err(Fault { error, kind: FaultKind::TooLarge }), Some(after)) => {
                return Err(ArchiveError::Broken { path, after: cut(after), error });
            }
            (Err(fault), Some(after)) => Some(FaultAfter { fault, after: cut(after) }),
            (Ok(()), _) => None,
        };
        Ok(Scanned { scan, fault })
    }

    /// The supportconfig that was unpacked to `folder`, or to a folder in it.
    pub(super) fn of_texts(folder: &Path) -> Option<Archive> {
        let (tree, root) = supportconfig::in_folder(folder)?;
        Some(Archive::of(tree, vec![root.display().to_string()], None))
    }

    fn of(tree: Tree, roots: Vec<String>, incomplete: Option<String>) -> Archive {
        let (collector, absent) = (OnceCell::new(), BTreeSet::new());
        let archive = Archive { tree, roots, collector, absent, incomplete };
        let is_tree = ["/proc", "/sys"].iter().any(|it| archive.tree.find(it, true).is_ok());
        match supportconfig::sections(&archive.tree).filter(|_| !is_tree) {
            // Whose it is shows in the texts only.
            Some(Sections { tree, absent }) => {
                let collector = OnceCell::from(archive.collector());
                Archive { tree, absent, collector, ..archive }
            }
            None => archive,
        }
    }

    fn find(&self, path: &str, follow: bool) -> Fact<&Node> {
        let failed =
            |error: &str| Missing { what: path.to_owned(), why: Why::Failed(error.to_owned()) };
        let missing = |unfound| match unfound {
            Unfound::Nothing if self.absent.contains(path) => Missing::absent(path),
            Unfound::Nothing => absence::missing(path, self),
            Unfound::Loop => failed("too many levels of symbolic links"),
            Unfound::TooManySteps => {
                failed(&format!("symbolic links take more steps than those of a host; {UNPACK}"))
            }
        };
        self.tree.find(path, follow).map_err(missing)
    }
}

impl Source for Archive {
    fn origin(&self) -> Origin {
        Origin::Tree
    }

    fn read(&self, path: &str) -> Fact<Vec<u8>> {
        let found = match self.find(path, true)? {
            Node::File(bytes) => return within_limit(path, bytes).map(|it| it.to_vec()),
            Node::TooLong { length, limit } => {
                return Err(Missing::too_long(path, Some(*length), *limit));
            }
            Node::NoRoom { length } => {
                let why = format!(
                    "no room for its {length} bytes within the limits of an archive; {UNPACK}"
                );
                return Err(Missing { what: path.to_owned(), why: Why::Failed(why) });
            }
            Node::Refused(reason) => reason,
            Node::Folder(_) | Node::Link(_) => "a folder",
        };
        Err(Missing::malformed(path, found, "a regular file"))
    }

    fn list(&self, folder: &str) -> Fact<Vec<String>> {
        match self.find(folder, true)? {
            Node::Folder(entries) => check_names(folder, entries.names()),
            _ => Err(absence::missing(folder, self)),
        }
    }

    fn folders(&self, folder: &str) -> Fact<Vec<String>> {
        let Node::Folder(entries) = self.find(folder, true)? else {
            return Err(Missing::absent(folder));
        };
        let mut names = entries.names();
        names.retain(|it| matches!(entries.get(it), Some(Node::Folder(_))));
        check_names(folder, names)
    }

    fn link(&self, path: &str) -> Fact<String> {
        match self.find(path, false)? {
            Node::Link(target) => Ok(target.to_string()),
            _ => Err(not_a_link(path)),
        }
    }

    fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
        Err(Missing::not_collected(msr::path(cpu, register)))
    }

    fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
        Err(Missing::not_collected(cpuid_name(leaf, subleaf)))
    }

    fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
        Err(Missing::not_collected(question.path()))
    }

    fn roots(&self) -> &[String] {
        &self.roots
    }

    fn incomplete(&self) -> Option<&str> {
        self.incomplete.as_deref()
    }
}

/// What was read of an archive, and what kept the rest from being read.
struct Scanned {
    scan: Scan,
    fault: Option<FaultAfter>,
}

struct FaultAfter {
    fault: Fault,
    /// The last entry that was read.
    after: String,
}

impl FaultAfter {
    /// What is wrong with the archive, without its name.
    fn sentence(&self) -> String {
        let FaultAfter { fault: Fault { error, kind }, after } = self;
        match kind {
            FaultKind::Cut => format!("it is cut short after its entry {after:?}"),
            FaultKind::Damaged | FaultKind::TooLarge => format!(
                "it is damaged after its entry {after:?} ({error}), and what comes before may be wrong too"
            ),
        }
    }
}

/// Why there is no host in an archive of which this was read.
fn without_host(
    path: String,
    within: &str,
    first: Option<String>,
    fault: Option<FaultAfter>,
) -> ArchiveError {
    match fault {
        Some(FaultAfter { fault: Fault { error, .. }, after }) => {
            ArchiveError::Broken { path, after, error }
        }
        None => {
            let first = cut(&first.unwrap_or_default());
            ArchiveError::NoHost { path, within: within.to_owned(), first }
        }
    }
}

impl Kept for Archive {
    fn is_incomplete(&self) -> bool {
        self.incomplete.is_some()
    }

    fn at(&self, path: &str) -> At {
        match self.tree.find(path, true) {
            Ok(Node::Folder(entries)) => At::Folder { is_empty: entries.is_empty() },
            Err(Unfound::Nothing) if self.tree.find(path, false).is_err() => At::Nothing,
            Ok(_) | Err(_) => At::Other,
        }
    }

    fn collector(&self) -> Option<Known> {
        let text = |path: &str| match self.tree.find(path, true) {
            Ok(Node::File(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        *self.collector.get_or_init(|| Known::of_copy(|path| self.at(path) != At::Nothing, text))
    }
}

/// The path of a folder in the archive of this name.
fn whole(name: &str, root: &str) -> String {
    if root.is_empty() { name.to_owned() } else { format!("{name}/{root}") }
}

/// The name of an entry for a message: in an archive it may have a MiB.
fn cut(name: &str) -> String {
    const READABLE: usize = 200;
    let mut shown: String = name.chars().take(READABLE).collect();
    if name.chars().nth(READABLE).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
