//! Fleets as they are made: machines with labels that are drawn by chance, and figures.

use fastrand::Rng;
use fleet::{Answer, Attribute, Audit, Explanation, Figure, Kind, Machine, Words};
use std::collections::HashSet;

/// Machines with labels by chance, each at 1 but for a spread.
pub(crate) struct Fleet {
    pub(crate) machines: Vec<Machine>,
    pub(crate) rng: Rng,
    words: Words,
    /// Machines that are slow by what was hidden.
    pub(crate) slow: HashSet<usize>,
}

impl Fleet {
    /// Groups of one model each, by how many machines they have; each label with how many values it has, of which those in `of_model`
    /// are values of one model.
    pub(crate) fn new(
        seed: u64,
        sizes: &[usize],
        labels: &[(&str, usize)],
        of_model: &[&str],
    ) -> Self {
        let mut fleet = Self {
            machines: Vec::new(),
            rng: Rng::with_seed(seed),
            words: Words::default(),
            slow: HashSet::new(),
        };
        let models = sizes.iter().enumerate().flat_map(|(model, n)| std::iter::repeat_n(model, *n));
        for (at, model) in models.enumerate() {
            let name = fleet.words.keep(&format!("host-{at}"));
            let figures = vec![(Figure::Clock, 1.0)];
            let audit = Audit::But(Vec::new());
            fleet.machines.push(Machine { name, figures, audit, ..Machine::default() });
            fleet.add(at, Kind::Label, "cpu_model", &format!("cpu_model-{model}"));
            for (name, n_values) in labels {
                let drawn = fleet.rng.usize(..*n_values);
                let value = if of_model.contains(name) {
                    format!("{name}-{model}-{drawn}")
                } else {
                    format!("{name}-{drawn}")
                };
                fleet.add(at, Kind::Label, name, &value);
            }
        }
        fleet
    }

    /// Five models, with the labels that hosts have.
    pub(crate) fn usual(seed: u64, n: usize) -> Self {
        let labels = [
            ("microcode", 3),
            ("bios_version", 4),
            ("rack", (n / 40).max(1)),
            ("kernel", 4),
            ("board", 2),
            ("bmc_firmware", 5),
            ("governor", 2),
            ("cpufreq_driver", 2),
            ("hypervisor", 2),
            ("product", 3),
        ];
        let sizes: Vec<usize> = (0..5).map(|it| (n + it) / 5).collect();
        let mut fleet = Self::new(seed, &sizes, &labels, &["microcode", "board", "product"]);
        for machine in 0..n {
            // A date tells no more than its version.
            let version = fleet.value(machine, "bios_version").replace("version", "date");
            fleet.add(machine, Kind::Label, "bios_date", &version);
        }
        fleet
    }

    pub(crate) fn add(&mut self, machine: usize, kind: Kind, name: &str, value: &str) {
        let (name, value) = (self.words.keep(name), self.words.keep(value));
        self.machines[machine].attributes.push(Attribute { kind, name, value });
    }

    pub(crate) fn value(&self, machine: usize, name: &str) -> String {
        let of_name = self.machines[machine].attributes.iter().find(|it| &*it.name == name);
        of_name.expect("a label of the fleet").value.to_string()
    }

    /// Machines that have all of these labels.
    pub(crate) fn with(&self, labels: &[(&str, &str)]) -> Vec<usize> {
        let has = |it: &&usize| labels.iter().all(|(name, value)| self.value(**it, name) == *value);
        let all: Vec<usize> = (0..self.machines.len()).collect();
        all.iter().filter(has).copied().collect()
    }

    /// Gives each figure a spread: multiplies it by 1, give or take this share.
    pub(crate) fn spread(&mut self, spread: f64) {
        for machine in 0..self.machines.len() {
            let factor = (spread * self.normal()).exp();
            self.machines[machine].figures[0].1 *= factor;
        }
    }

    /// Makes machines slow.
    pub(crate) fn slow(&mut self, machines: &[usize], speed: f64) {
        for machine in machines {
            self.machines[*machine].figures[0].1 *= speed;
            self.slow.insert(*machine);
        }
    }

    pub(crate) fn normal(&mut self) -> f64 {
        // Box and Muller.
        (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * self.rng.f64()).cos()
    }
}

/// The values of an explanation, those of equal ones too, in words.
pub(crate) fn said(explanation: &Explanation) -> Vec<String> {
    let words = |it: &[Attribute]| {
        let mut values: Vec<&str> = it.iter().map(|it| &*it.value).collect();
        values.sort_unstable();
        values.join(" + ")
    };
    let mut all = vec![words(&explanation.attributes)];
    all.extend(explanation.same.iter().map(|it| words(it)));
    all
}

/// Slow machines, and those that an explanation holds.
pub(crate) fn accused(answer: &Answer) -> HashSet<usize> {
    let whole = answer.explanations.iter().filter(|it| !it.partly);
    let explained = whole.flat_map(|it| &it.inside).copied();
    explained.chain(answer.slow.iter().map(|it| it.machine)).collect()
}

/// For who runs a long test with `--nocapture`.
#[expect(clippy::print_stdout, reason = "what was measured, on request")]
pub(crate) fn tell(words: &str) {
    println!("{words}");
}
