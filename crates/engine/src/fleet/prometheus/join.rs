//! Joins the series of several answers into machines, by what names a machine.
//!
//! A machine is an `instance` of a `job` in a `cluster`: the labels that the scrape gives every series of it. Where several series are of
//! one machine, from replicas of the engine or from a restart within the time, their mean counts; what they do not agree in is no label of it.

use super::queries::{CLOCK_RATIO, FINDING, HOST_INFO, Holds, SPEED_RATIO};
use super::vector::Series;
use crate::fleet::Gathered;
use facts::quantity::counted;
use fleet::{Attribute, Figure, Kind, Machine, Words};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The machines that one answer may be of.
pub(super) const MOST_MACHINES: usize = 250_000;

/// Labels that name the replica of the engine, and not the machine (Prometheus operator, Thanos, Mimir).
const REPLICAS: [&str; 7] = [
    "__replica__",
    "monitor",
    "prometheus",
    "prometheus_replica",
    "receive_replica",
    "replica",
    "rule_replica",
];

/// Labels that name the machine, or what a series of it is.
const NAMING: [&str; 7] =
    ["__name__", "instance", "job", "quantile", "id", "severity", "confidence"];

/// Severities in their order.
const SEVERITIES: [&str; 5] = ["info", "low", "medium", "high", "critical"];

/// What names a machine.
type Key = [Arc<str>; 3];

/// The machines so far.
pub(super) struct Fleet {
    words: Words,
    places: HashMap<Key, usize>,
    machines: Vec<Half>,
    most: usize,
    is_full: bool,
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

/// A machine that is being joined.
struct Half {
    key: Key,
    has_info: bool,
    /// Whether one answer had several series of it.
    has_several: bool,
    /// Whether a figure of it was no number above 0.
    has_no_number: bool,
    /// Sums and counts, of [`FIGURES`].
    figures: [(f64, u32); 2],
    labels: Vec<(Arc<str>, Arc<str>)>,
    /// Labels of which there were two values.
    ambiguous: Vec<Arc<str>>,
    /// Ids and their places in [`SEVERITIES`].
    findings: Vec<(Arc<str>, usize)>,
    /// The answer that the last series was of.
    answer: usize,
}

const FIGURES: [Figure; 2] = [Figure::Clock, Figure::Speed];

impl Fleet {
    /// None yet, and at most so many.
    pub(super) fn new(most: usize) -> Fleet {
        Fleet {
            words: Words::default(),
            places: HashMap::new(),
            machines: Vec::new(),
            most,
            is_full: false,
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
    pub(super) fn take(&mut self, holds: Holds, answer: usize, series: &Series) -> bool {
        let Some(instance) = series.metric.get("instance").filter(|it| !it.is_empty()) else {
            self.n_nameless += 1;
            return true;
        };
        let label = |name: &str| series.metric.get(name).map_or("", String::as_str);
        let key = [instance.as_str(), label("job"), label("cluster")].map(|it| self.words.keep(it));
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
            Holds::Clock => machine.take_figure(0, series),
            Holds::Speed => machine.take_figure(1, series),
        }
        machine.has_several |= machine.answer == answer;
        machine.answer = answer;
        self.take_labels(place, series);
        true
    }

    fn add(&mut self, key: Key) -> usize {
        self.machines.push(Half {
            key: key.clone(),
            has_info: false,
            has_several: false,
            has_no_number: false,
            figures: [(0.0, 0); 2],
            labels: Vec::new(),
            ambiguous: Vec::new(),
            findings: Vec::new(),
            answer: usize::MAX,
        });
        self.places.insert(key, self.machines.len() - 1);
        self.machines.len() - 1
    }

    fn take_finding(&mut self, place: usize, series: &Series) {
        // A value of 0 says that it is over.
        let is_there = series.value().is_some_and(|it| it != 0.0);
        let severity = series.metric.get("severity");
        let severity = severity.and_then(|it| SEVERITIES.iter().position(|known| known == it));
        let (Some(id), Some(severity), true) = (series.metric.get("id"), severity, is_there) else {
            return;
        };
        let id = self.words.keep(id);
        let findings = &mut self.machines[place].findings;
        match findings.iter_mut().find(|(it, _)| *it == id) {
            Some((_, known)) => *known = severity.max(*known),
            None => findings.push((id, severity)),
        }
    }

    fn take_labels(&mut self, place: usize, series: &Series) {
        let Fleet { words, machines, .. } = self;
        let machine = &mut machines[place];
        for (name, value) in &series.metric {
            let is_other = NAMING.contains(&name.as_str()) || REPLICAS.contains(&name.as_str());
            if is_other || value.is_empty() {
                continue;
            }
            match machine.labels.iter().position(|(it, _)| **it == **name) {
                Some(at) if *machine.labels[at].1 == **value => {}
                Some(at) => {
                    let (name, _) = machine.labels.swap_remove(at);
                    machine.ambiguous.push(name);
                }
                None if machine.ambiguous.iter().any(|it| **it == **name) => {}
                None => machine.labels.push((words.keep(name), words.keep(value))),
            }
        }
    }

    /// The machines, and what users should know besides what the engine `told`.
    pub(super) fn gathered(mut self, told: Vec<String>) -> Gathered {
        let mut notes = told;
        notes.extend(self.trouble());
        notes.extend(self.silence());
        // Machines of unknown models would be each other's peers: they were shut down in the time that figures are averaged over.
        if self.machines.iter().any(|it| it.has_info) {
            let unknown = self.machines.iter_mut().filter(|it| !it.has_info);
            unknown.for_each(|it| it.figures = [(0.0, 0); 2]);
        }
        let kinds = SEVERITIES.map(|it| self.words.keep(it));
        let mut times: HashMap<Arc<str>, usize> = HashMap::new();
        for machine in &self.machines {
            *times.entry(Arc::clone(&machine.key[0])).or_default() += 1;
        }
        // The places take a third of the memory.
        self.places = HashMap::new();
        let name = |key: &Key| match times.get(&key[0]) {
            Some(1) => Arc::clone(&key[0]),
            _ => of_several(key),
        };
        let mut machines: Vec<Machine> =
            self.machines.into_iter().map(|it| it.whole(name, &kinds)).collect();
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        Gathered { machines, skipped: Vec::new(), notes }
    }

    /// What was wrong with series.
    fn trouble(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.n_nameless > 0 {
            notes.push(format!(
                "{} series without a label `instance` are left out",
                self.n_nameless
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

    /// What machines do not tell.
    fn silence(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(named) = Example::of(&self.machines, |it| !it.has_info).named() {
            notes.push(format!("no {HOST_INFO} of {named}: of an unknown model, it has no peers"));
        }
        if self.machines.iter().all(|it| it.figures.iter().all(|(_, count)| *count == 0)) {
            notes.push(format!(
                "no {CLOCK_RATIO} or {SPEED_RATIO} of any machine in that time: nothing says how fast they are"
            ));
        }
        if self.machines.iter().all(|it| it.findings.is_empty()) {
            notes.push(format!(
                "no {FINDING} of any machine: either none has a finding, or they are not exported"
            ));
        }
        notes
    }
}

impl Half {
    fn take_figure(&mut self, figure: usize, series: &Series) {
        match series.value().filter(|it| *it > 0.0) {
            Some(value) => {
                let (sum, count) = &mut self.figures[figure];
                *sum += value;
                *count += 1;
            }
            None => self.has_no_number = true,
        }
    }

    fn whole(self, name: impl Fn(&Key) -> Arc<str>, severities: &[Arc<str>; 5]) -> Machine {
        let of = |(figure, (sum, count)): (Figure, (f64, u32))| {
            (count > 0).then(|| (figure, sum / f64::from(count)))
        };
        let label = |(name, value)| Attribute { kind: Kind::Label, name, value };
        let finding = |(id, severity): (Arc<str>, usize)| Attribute {
            kind: Kind::Finding,
            name: id,
            value: Arc::clone(&severities[severity]),
        };
        let mut attributes: Vec<Attribute> = self
            .labels
            .into_iter()
            .map(label)
            .chain(self.findings.into_iter().map(finding))
            .collect();
        attributes.sort();
        attributes.shrink_to_fit();
        Machine {
            name: name(&self.key),
            figures: FIGURES.into_iter().zip(self.figures).filter_map(of).collect(),
            attributes,
        }
    }
}

/// The name of one of several machines whose `instance` is the same: `db7:9100 (node, cluster east)`.
fn of_several([instance, job, cluster]: &Key) -> Arc<str> {
    let cluster = if cluster.is_empty() { String::new() } else { format!("cluster {cluster}") };
    let others: Vec<&str> = [&**job, &cluster].into_iter().filter(|it| !it.is_empty()).collect();
    format!("{instance} ({})", others.join(", ")).into()
}
