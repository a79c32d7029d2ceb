//! A machine that is being joined from the series of several answers.

use super::vector::Series;
use fleet::{Attribute, Audit, Figure, Kind, Machine, Words};
use rules::host_labels::BOOT;
use std::sync::Arc;

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
const NAMING: [&str; 8] =
    ["__name__", BOOT, "instance", "job", "quantile", "id", "severity", "confidence"];

const FIGURES: [Figure; 2] = [Figure::Clock, Figure::Speed];

/// What names a machine: its instance, job and cluster.
pub(super) type Key = [Arc<str>; 3];

/// A machine so far.
pub(super) struct Half {
    pub(super) key: Key,
    pub(super) has_info: bool,
    /// Which boot of which machine it is, where it is told.
    pub(super) boot: Option<Arc<str>>,
    /// Whether one answer had several series of it.
    pub(super) has_several: bool,
    /// Whether a figure of it was no number above 0.
    pub(super) has_no_number: bool,
    /// Whether it was joined from several of them.
    pub(super) is_joined: bool,
    /// Sums and counts, of [`FIGURES`].
    figures: [(f64, u32); 2],
    labels: Vec<(Arc<str>, Arc<str>)>,
    /// Labels of which there were two values.
    pub(super) ambiguous: Vec<Arc<str>>,
    /// Ids and their places in [`fleet::SEVERITIES`].
    findings: Vec<(Arc<str>, usize)>,
    /// How many checks its audit could not make; `None` where there was no audit.
    n_unknown: Option<u64>,
    /// The answer that the last series was of.
    answer: usize,
}

impl Half {
    pub(super) fn new(key: Key) -> Half {
        Half {
            key,
            has_info: false,
            boot: None,
            has_several: false,
            has_no_number: false,
            is_joined: false,
            figures: [(0.0, 0); 2],
            labels: Vec::new(),
            ambiguous: Vec::new(),
            findings: Vec::new(),
            n_unknown: None,
            answer: usize::MAX,
        }
    }

    /// The host of its instance: `db7` of `db7:9100`.
    pub(super) fn host(&self) -> &str {
        let instance = &*self.key[0];
        let port =
            instance.rsplit_once(':').filter(|it| it.1.bytes().all(|it| it.is_ascii_digit()));
        port.map_or(instance, |it| it.0)
    }

    pub(super) fn is_silent(&self) -> bool {
        self.figures.iter().all(|(_, count)| *count == 0)
    }

    /// Forgets how fast it is.
    pub(super) fn forget_figures(&mut self) {
        self.figures = [(0.0, 0); 2];
    }

    /// Whether some checks of its audit could not be made.
    pub(super) fn has_unknown_checks(&self) -> bool {
        self.n_unknown.is_some_and(|it| it > 0)
    }

    /// Takes a series of the answer with that number, which a machine has once.
    pub(super) fn begin(&mut self, answer: usize) {
        self.has_several |= self.answer == answer;
        self.answer = answer;
    }

    /// Takes a figure, by its place in [`FIGURES`].
    pub(super) fn take_figure(&mut self, figure: usize, series: &Series<'_>) {
        match series.value().filter(|it| *it > 0.0) {
            Some(value) => {
                let (sum, count) = &mut self.figures[figure];
                *sum += value;
                *count += 1;
            }
            None => self.has_no_number = true,
        }
    }

    /// Takes a finding, by the place of its severity.
    pub(super) fn take_finding(&mut self, id: Arc<str>, severity: usize) {
        match self.findings.iter_mut().find(|(it, _)| *it == id) {
            Some((_, known)) => *known = severity.max(*known),
            None => self.findings.push((id, severity)),
        }
    }

    /// Takes how many checks could not be made; of replicas the fewest count.
    pub(super) fn take_audit(&mut self, series: &Series<'_>) {
        if let Some(n) = series.value().filter(|it| *it >= 0.0) {
            self.n_unknown = Some(self.n_unknown.map_or(n as u64, |it| it.min(n as u64)));
        }
    }

    /// Takes the labels of a series that say what the machine is.
    pub(super) fn take_labels(&mut self, words: &mut Words, series: &Series<'_>) {
        if let Some(boot) = series.label(BOOT).filter(|it| !it.is_empty()) {
            self.boot = Some(words.keep(boot));
        }
        for (name, value) in series.labels() {
            let is_other = NAMING.contains(&name) || REPLICAS.contains(&name);
            if !is_other && !value.is_empty() {
                self.take_label(words.keep(name), words.keep(value));
            }
        }
    }

    fn take_label(&mut self, name: Arc<str>, value: Arc<str>) {
        match self.labels.iter().position(|(it, _)| *it == name) {
            Some(at) if self.labels[at].1 == value => {}
            Some(at) => {
                let (name, _) = self.labels.swap_remove(at);
                self.ambiguous.push(name);
            }
            None if self.ambiguous.contains(&name) => {}
            None => self.labels.push((name, value)),
        }
    }

    /// Takes all that another one has, which is the same machine.
    pub(super) fn join(&mut self, other: Half) {
        self.is_joined = true;
        self.has_info |= other.has_info;
        self.has_several |= other.has_several;
        self.has_no_number |= other.has_no_number;
        for (own, (sum, count)) in self.figures.iter_mut().zip(other.figures) {
            *own = (own.0 + sum, own.1 + count);
        }
        for name in other.ambiguous {
            self.labels.retain(|it| it.0 != name);
            if !self.ambiguous.contains(&name) {
                self.ambiguous.push(name);
            }
        }
        other.labels.into_iter().for_each(|(name, value)| self.take_label(name, value));
        other.findings.into_iter().for_each(|(id, severity)| self.take_finding(id, severity));
        self.n_unknown = self.n_unknown.into_iter().chain(other.n_unknown).min();
    }

    /// The machine, of this name. Of checks that could not be made only the number is exported: a finding counts as absent where an audit
    /// was made.
    pub(super) fn whole(self, name: Arc<str>, severities: &[Arc<str>; 5]) -> Machine {
        let of = |(figure, (sum, count)): (Figure, (f64, u32))| {
            (count > 0).then(|| (figure, sum / f64::from(count)))
        };
        let is_audited = self.n_unknown.is_some() || !self.findings.is_empty();
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
            name,
            figures: FIGURES.into_iter().zip(self.figures).filter_map(of).collect(),
            result: None,
            attributes,
            audit: if is_audited { Audit::But(Vec::new()) } else { Audit::None },
        }
    }
}
