//! Who belongs to a server.

use super::comm;
use crate::Source;
use crate::descendants::{descendants, numbers, threads, times};
use facts::counters::task_stat::ProcessTimes;
use facts::system::roles::{Product, Words, product_of};
use std::collections::{BTreeMap, BTreeSet};

/// For how many looks a process counts as new: it is forked with the name and title of its parent, and gets its own later.
const YOUNG: u32 = 3;

/// How deep control groups are searched for members.
const DEEPEST: u32 = 8;

/// What a server consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every process of a product, with what these start.
    Product(&'static Product),
    /// A process and its descendants.
    Tree(u32),
    /// The processes in a control group and in those below it, by its folder.
    Group(String),
}

/// The processes of a server, as they were seen in one look after the other.
#[derive(Debug)]
pub struct Members {
    extent: Extent,
    /// When the process at the root of a tree was started: another one may have its number later.
    root_started: Option<u64>,
    seen: BTreeMap<u32, Seen>,
    /// The roles of threads, by number, in words.
    names: BTreeMap<u32, String>,
    turn: u32,
}

/// A process that was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    times: ProcessTimes,
    first_turn: u32,
    last_turn: u32,
    is_member: bool,
}

impl Members {
    /// Of a server of this extent; nobody has been looked for.
    pub fn of(extent: Extent) -> Members {
        Members {
            extent,
            root_started: None,
            seen: BTreeMap::new(),
            names: BTreeMap::new(),
            turn: 0,
        }
    }

    /// The process at the root of a tree, if it is still the one that was looked at first.
    fn root(&mut self, source: &dyn Source, root: u32) -> Option<ProcessTimes> {
        let times = times(source, root).filter(|it| !it.is_zombie)?;
        let started = *self.root_started.get_or_insert(times.started);
        (started == times.started).then_some(times)
    }

    /// Whether anybody of it was there at the last look.
    pub fn is_there(&self) -> bool {
        self.living().next().is_some()
    }

    /// Forgets those that are not there any more, whose numbers other processes get.
    pub fn forget_ended(&mut self, source: &dyn Source) {
        let turn = self.turn;
        self.seen.retain(|_, it| it.last_turn == turn);
        self.names.clear();
        self.name_threads(source);
    }

    /// Looks who is there.
    pub fn look(&mut self, source: &dyn Source) {
        self.turn = self.turn.saturating_add(1);
        match self.extent.clone() {
            Extent::Tree(root) => {
                if let Some(of_root) = self.root(source, root) {
                    let there = std::iter::once(of_root).chain(descendants(source, root));
                    there.for_each(|it| self.note(it, true));
                }
            }
            Extent::Group(folder) => {
                let mut pids = BTreeSet::new();
                members_of_group(source, &folder, DEEPEST, &mut pids);
                pids.remove(&std::process::id());
                let there = pids.into_iter().filter_map(|pid| times(source, pid));
                there.for_each(|it| self.note(it, true));
            }
            Extent::Product(product) => self.look_for(source, product),
        }
        self.name_threads(source);
    }

    /// Looks what its processes have started since, without asking every other process of the machine: a server of a product that
    /// was started since is found by the next [`Members::look`].
    pub fn glance(&mut self, source: &dyn Source) {
        if !matches!(self.extent, Extent::Product(_)) {
            return self.look(source);
        }
        let is_member = |pid: u32| self.seen.get(&pid).is_some_and(|it| it.is_member);
        let living = self.living().filter_map(|pid| self.seen.get(&pid));
        let roots: Vec<u32> =
            living.filter(|it| !is_member(it.times.parent)).map(|it| it.times.pid).collect();
        self.turn = self.turn.saturating_add(1);
        for root in roots {
            let there = times(source, root).into_iter().chain(descendants(source, root));
            there.for_each(|it| self.note(it, true));
        }
        self.name_threads(source);
    }

    /// Every process that was seen to belong to it.
    pub fn processes(&self) -> impl Iterator<Item = u32> + '_ {
        self.seen.iter().filter(|(_, it)| it.is_member).map(|(pid, _)| *pid)
    }

    /// Those of the last look.
    pub fn living(&self) -> impl Iterator<Item = u32> + '_ {
        let is_there = |it: &Seen| it.is_member && it.last_turn == self.turn;
        self.seen.iter().filter(move |(_, it)| is_there(it)).map(|(pid, _)| *pid)
    }

    /// What threads do that were seen, by number: `PostgreSQL walwriter`. One of no known product is not here.
    pub fn names(&self) -> &BTreeMap<u32, String> {
        &self.names
    }

    /// What most of those did that have ended: so those are called that nobody has seen.
    pub fn usual_of_ended(&self) -> Option<&str> {
        let ended = self.seen.iter().filter(|(_, it)| it.is_member && it.last_turn < self.turn);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for name in ended.filter_map(|(pid, _)| self.names.get(pid)) {
            let count = counts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        counts.into_iter().max_by_key(|it| it.1).map(|it| it.0)
    }

    /// Notes a process that is there.
    fn note(&mut self, times: ProcessTimes, is_member: bool) {
        let turn = self.turn;
        let known = self.seen.get(&times.pid).filter(|it| it.times.started == times.started);
        let first_turn = known.map_or(turn, |it| it.first_turn);
        // What has left a group or has run something else did its work all the same.
        let is_member = is_member || known.is_some_and(|it| it.is_member);
        if known.is_none() {
            self.names.remove(&times.pid);
        }
        self.seen.insert(times.pid, Seen { times, first_turn, last_turn: turn, is_member });
    }

    /// Looks for processes of a product, and what they have started.
    fn look_for(&mut self, source: &dyn Source, product: &Product) {
        let turn = self.turn;
        let mut others: Vec<ProcessTimes> = Vec::new();
        for pid in numbers(source, "/proc") {
            let Some(times) = times(source, pid).filter(|_| pid != std::process::id()) else {
                continue;
            };
            let known = self.seen.get(&pid).filter(|it| it.times.started == times.started).copied();
            match known {
                Some(it) if it.is_member || turn.saturating_sub(it.first_turn) > YOUNG => {
                    self.note(times, it.is_member);
                }
                _ if is_of(source, pid, product) => self.note(times, true),
                _ => others.push(times),
            }
        }
        // A list is in no order of descent; each turn finds a generation.
        loop {
            let is_child = |it: &ProcessTimes| {
                self.seen.get(&it.parent).is_some_and(|it| it.is_member && it.last_turn == turn)
            };
            let (children, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_child);
            if children.is_empty() {
                rest.into_iter().for_each(|it| self.note(it, false));
                return;
            }
            children.into_iter().for_each(|it| self.note(it, true));
            others = rest;
        }
    }

    /// Finds what the threads of new processes do, and new threads.
    fn name_threads(&mut self, source: &dyn Source) {
        let turn = self.turn;
        let is_there = |it: &&Seen| it.is_member && it.last_turn == turn && !it.times.is_zombie;
        let there: Vec<Seen> = self.seen.values().filter(is_there).copied().collect();
        for Seen { times, first_turn, .. } in there {
            let is_young = turn.saturating_sub(first_turn) <= YOUNG;
            let threads = threads(source, times.pid);
            let is_named = |tid: &u32| self.names.contains_key(tid);
            if !is_young && threads.iter().all(is_named) {
                continue;
            }
            let Some(comm) = comm(source, times.pid) else { continue };
            let cmdline = source.read(&format!("/proc/{}/cmdline", times.pid)).unwrap_or_default();
            // It ends, and is no zombie yet or was none a moment ago.
            if cmdline.is_empty() {
                continue;
            }
            let words = Words { comm: &comm, cmdline: &cmdline };
            let Some(product) = product_of(&words) else { continue };
            if is_young && self.is_untitled(source, &times, &cmdline) {
                continue;
            }
            for tid in threads {
                let path = format!("/proc/{}/task/{tid}/comm", times.pid);
                let name = source.text(&path).unwrap_or_else(|_| comm.clone());
                let role = product.role_of(&words, name.trim_end_matches('\n'));
                self.names.insert(tid, product.name_of(role));
            }
        }
    }
}

impl Members {
    /// Whether a process still has the title of the one that forked it.
    fn is_untitled(&self, source: &dyn Source, times: &ProcessTimes, cmdline: &[u8]) -> bool {
        let is_forked = self.seen.get(&times.parent).is_some_and(|it| it.is_member);
        let of_parent = || source.read(&format!("/proc/{}/cmdline", times.parent));
        is_forked && of_parent().is_ok_and(|it| it == cmdline)
    }
}

fn is_of(source: &dyn Source, pid: u32, product: &Product) -> bool {
    super::product_of_process(source, pid).is_some_and(|it| it == product)
}

/// Adds the members of a control group and of those below it. A group that is gone has none.
fn members_of_group(source: &dyn Source, folder: &str, depth: u32, into: &mut BTreeSet<u32>) {
    let Ok(members) = source.text(&format!("{folder}/cgroup.procs")) else { return };
    into.extend(members.split_ascii_whitespace().filter_map(|it| it.parse::<u32>().ok()));
    if depth == 0 {
        return;
    }
    // A file of the kernel's is no folder, and has no such file in it.
    for name in source.list(folder).unwrap_or_default() {
        members_of_group(source, &format!("{folder}/{name}"), depth - 1, into);
    }
}
