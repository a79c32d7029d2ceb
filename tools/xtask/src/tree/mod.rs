//! `cargo xtask tree --cpus N DIR`: makes up the /proc and /sys of a large server.
//!
//! For measuring and fuzzing on machines that are not large. It holds what a kernel has for every CPU,
//! interrupt, thread and slot, and also what an audit does not ask; values are those of a healthy host.

mod counters;
mod cpus;
mod devices;
mod packages;
mod processes;
mod system;
#[cfg(test)]
mod told;

use anyhow::{Context as _, Result, bail};
use host::Answers;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "cargo xtask tree --cpus N DIR";

/// Runs the command with the arguments behind its name.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let [option, n_cpus, folder] = arguments else { bail!("usage: {USAGE}") };
    let n_cpus = n_cpus.parse().ok().filter(|_| option == "--cpus");
    let Some(server) = n_cpus.and_then(Server::new) else {
        bail!("usage: {USAGE}, with an even N of at least 2");
    };
    let entries = server.entries();
    for entry in &entries {
        write(Path::new(folder), entry).with_context(|| format!("cannot write {}", entry.path))?;
    }
    #[expect(clippy::print_stdout, reason = "the result of a chore")]
    {
        println!("{} files and links of {} CPUs in {folder}", entries.len(), server.n_cpus);
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::disallowed_methods, reason = "writes into the folder that the user named")]
fn write(folder: &Path, entry: &Entry) -> std::io::Result<()> {
    let path = folder.join(entry.path.trim_start_matches('/'));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match &entry.content {
        Content::File(text) => std::fs::write(path, text),
        Content::Link(target) => std::os::unix::fs::symlink(target, path),
    }
}

/// One file or link.
pub struct Entry {
    /// Its absolute path on the host.
    pub path: String,
    /// What it holds.
    pub content: Content,
}

/// What an entry holds.
pub enum Content {
    /// A file's text.
    File(String),
    /// A link's target.
    Link(String),
}

/// A server with two threads a core, and up to 16 packages.
#[derive(Clone, Copy)]
pub struct Server {
    n_cpus: u32,
    n_packages: u32,
}

impl Server {
    /// A server of `n_cpus` CPUs; `None` where they make no pairs of threads.
    pub fn new(n_cpus: u32) -> Option<Server> {
        let n_packages = (n_cpus / 64).next_power_of_two().clamp(1, 16);
        let is_whole = n_cpus >= 2 && n_cpus.is_multiple_of(2 * n_packages);
        is_whole.then_some(Server { n_cpus, n_packages })
    }

    /// Everything that its kernel shows.
    pub fn entries(self) -> Vec<Entry> {
        let mut tree = Tree(Vec::new());
        system::add(&mut tree, self);
        packages::add(&mut tree, self);
        cpus::add(&mut tree, self);
        devices::add(&mut tree, self);
        processes::add(&mut tree, self);
        counters::add(&mut tree, self);
        tree.0
    }

    /// What a source answers that reads it from disk: what lies in a folder, under the names of the links to
    /// that folder too.
    pub fn answers(self) -> Answers {
        let entries = self.entries();
        let mut answers = Answers::default();
        let mut files = BTreeMap::new();
        for entry in &entries {
            if let Content::File(text) = &entry.content {
                answers.file(&entry.path, text.as_str());
                files.insert(entry.path.as_str(), text.as_str());
            }
        }
        for entry in &entries {
            if let Content::Link(target) = &entry.content {
                answers.link(&entry.path, target);
                let folder = resolved(&entry.path, target) + "/";
                let below = files.range(folder.as_str()..);
                for (path, text) in below.take_while(|(path, _)| path.starts_with(&folder)) {
                    let name = &path[folder.len()..];
                    answers.file(&format!("{}/{name}", entry.path), *text);
                }
            }
        }
        answers
    }

    fn cpus(self) -> std::ops::Range<u32> {
        0..self.n_cpus
    }

    /// Like Linux on most servers, CPUs count through all cores before their second threads.
    fn core(self, cpu: u32) -> u32 {
        cpu % (self.n_cpus / 2)
    }

    fn package(self, cpu: u32) -> u32 {
        self.core(cpu) / self.cores_per_package()
    }

    fn cores_per_package(self) -> u32 {
        self.n_cpus / 2 / self.n_packages
    }

    fn core_list(self, cpu: u32) -> String {
        let core = self.core(cpu);
        format!("{core},{}", core + self.n_cpus / 2)
    }

    fn package_list(self, package: u32) -> String {
        let first = package * self.cores_per_package();
        let last = first + self.cores_per_package() - 1;
        let half = self.n_cpus / 2;
        format!("{first}-{last},{}-{}", first + half, last + half)
    }
}

/// The path that a relative link leads to.
fn resolved(link: &str, target: &str) -> String {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The entries, as they are added.
struct Tree(Vec<Entry>);

impl Tree {
    /// A file of one line.
    fn line(&mut self, path: impl Into<String>, line: impl std::fmt::Display) {
        self.text(path, format!("{line}\n"));
    }

    fn text(&mut self, path: impl Into<String>, text: String) {
        self.0.push(Entry { path: path.into(), content: Content::File(text) });
    }

    fn link(&mut self, path: impl Into<String>, target: impl Into<String>) {
        self.0.push(Entry { path: path.into(), content: Content::Link(target.into()) });
    }

    /// Files of one line each in one folder.
    fn lines(&mut self, folder: &str, files: &[(&str, &str)]) {
        for (file, line) in files {
            self.line(format!("{folder}/{file}"), line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::ipmi::Question;
    use facts::{Fact, Origin};
    use host::{Captured, Identity, Source};
    use std::cell::Cell;

    fn copy(n_cpus: u32) -> Captured {
        let answers = Server::new(n_cpus).unwrap().answers();
        Captured::parse(&answers.capture(Origin::Tree, &Identity::default())).unwrap()
    }

    fn view(n_cpus: u32) -> facts::HostView {
        host::view(&copy(n_cpus))
    }

    /// A host, and how often it was asked for a file, a folder or a link: each is a path that the kernel resolves.
    struct Counting {
        host: Captured,
        n_asked: Cell<u32>,
    }

    impl Counting {
        fn asked(&self) -> &Captured {
            self.n_asked.set(self.n_asked.get() + 1);
            &self.host
        }
    }

    impl Source for Counting {
        fn origin(&self) -> Origin {
            Origin::Tree
        }

        fn read(&self, path: &str) -> Fact<Vec<u8>> {
            self.asked().read(path)
        }

        fn list(&self, folder: &str) -> Fact<Vec<String>> {
            self.asked().list(folder)
        }

        fn folders(&self, folder: &str) -> Fact<Vec<String>> {
            self.asked().folders(folder)
        }

        fn link(&self, path: &str) -> Fact<String> {
            self.asked().link(path)
        }

        fn msr(&self, cpu: u32, register: u32) -> Fact<u64> {
            self.host.msr(cpu, register)
        }

        fn cpuid(&self, leaf: u32, subleaf: u32) -> Fact<[u32; 4]> {
            self.host.cpuid(leaf, subleaf)
        }

        fn controller(&self, question: &Question<Vec<u8>>) -> Fact<Vec<u8>> {
            self.host.controller(question)
        }
    }

    #[test]
    fn an_audit_asks_for_few_files_of_each_cpu() {
        /// The made-up server has five kernel threads for each CPU, and each has a policy of its own.
        const MOST: u32 = 20;
        let n_asked = |n_cpus| {
            let host = Counting { host: copy(n_cpus), n_asked: Cell::new(0) };
            rules::audit::audit(&host::view(&host));
            host.n_asked.get()
        };
        let (few, many) = (n_asked(128), n_asked(256));
        let of_each = (many - few).div_ceil(128);
        assert!(of_each <= MOST, "{of_each} files of each CPU: {few} of 128, {many} of 256");
        assert!(few < 128 * (MOST + 5), "{few} files of 128 CPUs");
    }

    #[test]
    fn every_subject_of_the_made_up_server_is_read() {
        let host = view(128);
        assert_eq!(host.topology.n_online(), 128);
        assert_eq!(host.topology.packages.unwrap().len(), 2);
        assert_eq!(host.topology.cores.unwrap().len(), 64);
        assert_eq!(host.cpufreq.policies.unwrap().len(), 128);
        assert_eq!(host.interrupts.unwrap().cpus.len(), 128);
        assert!(host.processes.unwrap().len() > 5 * 128);
        assert!(host.throttling.cores.all_known().is_ok());
        assert_eq!(host.cpuidle.tables.unwrap()[0].states.len(), 4);
        assert_eq!(host.power_limits.unwrap().len(), 2);
        assert_eq!(host.uncore.unwrap().len(), 2);
        assert_eq!(host.pcie.links.unwrap().len(), 12);
        assert_eq!(host.ipmi.interfaces.unwrap().len(), 1);
        assert_eq!(host.cooling.unwrap().len(), 128);
        assert_eq!(host.infiniband.ports.unwrap().len(), 1);
    }

    #[test]
    fn a_server_is_made_of_whole_cores() {
        assert!(Server::new(3).is_none() && Server::new(0).is_none());
        assert_eq!(Server::new(4096).map(|it| it.n_packages), Some(16));
    }
}
