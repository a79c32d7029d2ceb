//! Joins the series of several answers into machines, by what names a machine.
//!
//! A machine is an `instance` of a `job` in a `cluster`: the labels that the scrape gives every series of it. Where several series are of
//! one machine, from replicas of the engine or from a restart within the time, their mean counts; what they do not agree in is no label of it.
//! A host that is scraped twice, `serve` by itself and a textfile by node_exporter, is one machine where both have the same boot and the
//! same host in `instance`. Either alone would not do: clones of a snapshot share a boot, and machines behind one gateway an address.

use super::half::{Half, Key};
use super::queries::{CLOCK_RATIO, FINDING, HOST_INFO, Holds, SPEED_RATIO, UNKNOWN_CHECKS};
use super::vector::Series;
use crate::fleet::Gathered;
use facts::quantity::counted;
use fleet::{Machine, SEVERITIES, Words};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The machines that one answer may be of.
pub(super) const MOST_MACHINES: usize = 250_000;

/// Ids of findings that are kept: there are fewer checks. Each takes memory for each machine when all are compared.
pub(super) const MOST_FINDINGS: usize = 1_000;

/// The machines so far.
pub(super) struct Fleet {
    words: Words,
    places: HashMap<Key, usize>,
    machines: Vec<Half>,
    most: usize,
    is_full: bool,
    /// The ids of findings that are kept.
    findings: HashSet<Arc<str>>,
    /// Series of findings with others.
    n_other_findings: u64,
    /// Series that name no machine.
    n_nameless: usize,
}

/// How many machines something holds for, and the first of them.
#[derive(Default)]
struct Example<'a> {
    count: u64,
    of: &'a str,
}

impl<'a> Example<'a> {
    fn add(&mut self, machine: &'a Half) {
        if self.count == 0 {
            self.of = &machine.key[0];
        }
        self.count += 1;
    }

    fn of(machines: &'a [Half], holds: impl Fn(&Half) -> bool) -> Example<'a> {
        let mut example = Example::default();
        machines.iter().filter(|it| holds(it)).for_each(|it| example.add(it));
        example
    }

    /// "1 machine, db7", "3 machines, db7 among them"; `None` where there is none.
    fn named(&self) -> Option<String> {
        let among = if self.count == 1 { "" } else { " among them" };
        (self.count > 0).then(|| format!("{}, {}{among}", counted(self.count, "machine"), self.of))
    }
}

impl Fleet {
    /// None yet, and at most so many.
    pub(super) fn new(most: usize) -> Fleet {
        Fleet {
            words: Words::default(),
            places: HashMap::new(),
            machines: Vec::new(),
            most,
            is_full: false,
            findings: HashSet::new(),
            n_other_findings: 0,
            n_nameless: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// How many there may be, where there were more.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.is_full.then_some(self.most)
    }

    /// Takes a series of the answer with that number; returns whether more are taken.
    pub(super) fn take(&mut self, holds: Holds, answer: usize, series: &Series<'_>) -> bool {
        let Some(instance) = series.label("instance").filter(|it| !it.is_empty()) else {
            self.n_nameless += 1;
            return true;
        };
        let label = |name: &str| series.label(name).unwrap_or_default();
        let key = [instance, label("job"), label("cluster")].map(|it| self.words.keep(it));
        let known = self.places.get(&key).copied();
        if known.is_none() && self.machines.len() >= self.most {
            self.is_full = true;
            return false;
        }
        let place = known.unwrap_or_else(|| self.add(key));
        let machine = &mut self.machines[place];
        match holds {
            Holds::Labels => machine.has_info = true,
            Holds::Findings => {
                self.take_finding(place, series);
                return true;
            }
            Holds::Audits => {
                machine.take_audit(series);
                return true;
            }
            Holds::Clock => machine.take_figure(0, series),
            Holds::Speed => machine.take_figure(1, series),
        }
        machine.begin(answer);
        machine.take_labels(&mut self.words, series);
        true
    }

    fn add(&mut self, key: Key) -> usize {
        self.machines.push(Half::new(key.clone()));
        self.places.insert(key, self.machines.len() - 1);
        self.machines.len() - 1
    }

    fn take_finding(&mut self, place: usize, series: &Series<'_>) {
        // A value of 0 says that it is over.
        let is_there = series.value().is_some_and(|it| it != 0.0);
        let severity = series.label("severity");
        let severity = severity.and_then(|it| SEVERITIES.iter().position(|known| *known == it));
        let (Some(id), Some(severity), true) = (series.label("id"), severity, is_there) else {
            return;
        };
        let is_known = self.findings.contains(id);
        if !is_known && self.findings.len() >= MOST_FINDINGS {
            self.n_other_findings += 1;
            return;
        }
        let id = self.words.keep(id);
        self.findings.insert(Arc::clone(&id));
        self.machines[place].take_finding(id, severity);
    }

    /// The machines, and what users should know besides what the engine `told`.
    pub(super) fn gathered(mut self, told: Vec<String>) -> Gathered {
        let mut notes = told;
        // The places take a third of the memory.
        self.places = HashMap::new();
        let n_alike = self.join_boots();
        notes.extend(self.trouble(n_alike));
        notes.extend(self.silence());
        // Machines of unknown models would be each other's peers: they were shut down in the time that figures are averaged over.
        if self.machines.iter().any(|it| it.has_info) {
            let unknown = self.machines.iter_mut().filter(|it| !it.has_info);
            unknown.for_each(Half::forget_figures);
        }
        let kinds = SEVERITIES.map(|it| self.words.keep(it));
        let mut times: HashMap<Arc<str>, usize> = HashMap::new();
        for machine in &self.machines {
            *times.entry(Arc::clone(&machine.key[0])).or_default() += 1;
        }
        let name = |key: &Key| match times.get(&key[0]) {
            Some(1) => Arc::clone(&key[0]),
            _ => of_several(key),
        };
        let whole = |it: Half| {
            let name = name(&it.key);
            it.whole(name, &kinds)
        };
        let mut machines: Vec<Machine> = self.machines.into_iter().map(whole).collect();
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        Gathered { machines, skipped: Vec::new(), notes }
    }

    /// Joins what is of one boot and of one host. Returns how many machines have the boot of one of another host.
    fn join_boots(&mut self) -> u64 {
        let mut all = std::mem::take(&mut self.machines);
        // The first by name gives its own.
        all.sort_by(|a, b| a.key.cmp(&b.key));
        let mut n_alike = 0;
        let mut of_boot: HashMap<[Arc<str>; 2], Vec<usize>> = HashMap::new();
        for machine in all {
            let Some(boot) = machine.boot.clone() else {
                self.machines.push(machine);
                continue;
            };
            let known = of_boot.entry([boot, Arc::clone(&machine.key[2])]).or_default();
            let same = known.iter().find(|it| self.machines[**it].host() == machine.host());
            if let Some(same) = same {
                self.machines[*same].join(machine);
                continue;
            }
            n_alike += u64::from(!known.is_empty());
            known.push(self.machines.len());
            self.machines.push(machine);
        }
        n_alike
    }

    /// What was wrong with series; `n_alike` machines have the boot of another one.
    fn trouble(&self, n_alike: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.n_nameless > 0 {
            notes.push(format!(
                "{} series without a label `instance` are left out",
                self.n_nameless
            ));
        }
        if let Some(named) = Example::of(&self.machines, |it| it.is_joined).named() {
            notes.push(format!(
                "scraped under two instances or jobs: {named}; each counts once, as host and boot are the same"
            ));
        }
        if n_alike > 0 {
            notes.push(format!(
                "{} of the same boot as one of another name: clones of a snapshot, or scraped by two names and counted twice",
                counted(n_alike, "machine")
            ));
        }
        if let Some(named) = Example::of(&self.machines, |it| it.has_several).named() {
            notes.push(format!(
                "several series of {named}, from replicas or a restart: their mean counts"
            ));
        }
        if let Some(named) = Example::of(&self.machines, |it| it.has_no_number).named() {
            notes.push(format!("a series of {named}, has no number above 0 and is left out"));
        }
        if self.n_other_findings > 0 {
            notes.push(format!(
                "{FINDING} has more than {MOST_FINDINGS} ids, and fullclock has fewer checks: {} series with others are left out",
                self.n_other_findings
            ));
        }
        let mut ambiguous: BTreeMap<&str, Example<'_>> = BTreeMap::new();
        for machine in &self.machines {
            for label in &machine.ambiguous {
                ambiguous.entry(label).or_default().add(machine);
            }
        }
        for (label, named) in ambiguous.iter().filter_map(|(it, of)| Some((it, of.named()?))) {
            notes.push(format!("two values of the label {label} of {named}: it is left out there"));
        }
        notes
    }

    /// What machines do not export.
    fn silence(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(named) = Example::of(&self.machines, |it| !it.has_info).named() {
            notes.push(format!("no {HOST_INFO} of {named}: of an unknown model, it has no peers"));
        }
        if self.machines.iter().all(Half::is_silent) {
            notes.push(format!(
                "no {CLOCK_RATIO} or {SPEED_RATIO} of any machine in that time: nothing says how fast they are"
            ));
        }
        if let Some(named) = Example::of(&self.machines, Half::has_unknown_checks).named() {
            notes.push(format!(
                "some checks could not be made on {named} ({UNKNOWN_CHECKS}), and which is not exported: a finding that is absent there may be unknown"
            ));
        }
        notes
    }
}

/// The name of one of several machines whose `instance` is the same: `db7:9100 (node, cluster east)`.
fn of_several([instance, job, cluster]: &Key) -> Arc<str> {
    let cluster = if cluster.is_empty() { String::new() } else { format!("cluster {cluster}") };
    let others: Vec<&str> = [&**job, &cluster].into_iter().filter(|it| !it.is_empty()).collect();
    format!("{instance} ({})", others.join(", ")).into()
}
