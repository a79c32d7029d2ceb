//! Which rows there are, in which order, and what a filter leaves of them.

use facts::CpuSet;
use rules::watch::{Machine, Part, Reading, Row, Shown};

/// How fine the rows are. The machine and its packages are always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// One row for each package.
    Packages,
    /// One row for each core.
    Cores,
    /// One row for each CPU.
    Cpus,
}

impl Level {
    /// Those that differ on a machine, the finest first: without siblings a core is a CPU, and a single package is the machine.
    pub(super) fn of(machine: &Machine) -> Vec<Level> {
        let mut levels = vec![Level::Cpus];
        levels.extend(machine.has_siblings().then_some(Level::Cores));
        levels.extend(machine.has_packages().then_some(Level::Packages));
        levels
    }

    /// The next of `levels`, and after the last the first.
    pub(super) fn next(self, levels: &[Level]) -> Level {
        let after = levels.iter().skip_while(|it| **it != self).nth(1);
        after.or(levels.first()).copied().unwrap_or(self)
    }

    /// What its rows are.
    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Packages => "packages",
            Level::Cores => "cores",
            Level::Cpus => "CPUs",
        }
    }
}

/// By which column rows are sorted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    /// The metric's id, and what of it.
    pub(super) column: (&'static str, Part),
    /// Whether the highest value comes first.
    pub(super) descending: bool,
}

impl Order {
    /// What sorting by `column` comes after `order`: down, up, by number again.
    pub(super) fn next(order: Option<Order>, column: (&'static str, Part)) -> Option<Order> {
        match order {
            Some(order) if order.column == column => {
                order.descending.then_some(Order { column, descending: false })
            }
            _ => Some(Order { column, descending: true }),
        }
    }
}

/// Which rows and columns are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Filter {
    /// All.
    #[default]
    None,
    /// Rows that have one of these CPUs.
    Cpus(CpuSet),
    /// Columns whose name has this text in it.
    Columns(String),
}

impl Filter {
    /// What a user means by `text`: a list of CPUs, or else part of a name.
    pub(super) fn of(text: &str) -> Filter {
        let text = text.trim();
        match CpuSet::parse_list(text) {
            _ if text.is_empty() => Filter::None,
            Ok(cpus) => Filter::Cpus(cpus),
            Err(_) => Filter::Columns(text.to_lowercase()),
        }
    }

    /// What to call it; nothing where there is none.
    pub(super) fn describe(&self) -> Option<String> {
        match self {
            Filter::None => None,
            Filter::Cpus(cpus) => Some(format!("only {}", cpus.named())),
            Filter::Columns(text) => Some(format!("only columns with {text:?}")),
        }
    }

    /// Whether a column is shown.
    pub(super) fn passes_column(&self, column: &Shown) -> bool {
        match self {
            Filter::Columns(text) => {
                let has = |name: &str| name.to_lowercase().contains(text);
                has(&column.name()) || has(&column.heading()) || has(column.metric.title)
            }
            Filter::None | Filter::Cpus(_) => true,
        }
    }

    /// Whether no CPU passes.
    pub(super) fn leaves_no_row(&self, reading: &Reading) -> bool {
        self.cpus(reading).is_empty()
    }

    fn cpus(&self, reading: &Reading) -> CpuSet {
        match self {
            Filter::Cpus(cpus) => cpus.and(&reading.cpus),
            Filter::None | Filter::Columns(_) => reading.cpus.clone(),
        }
    }
}

/// Which rows are wanted, and in which order.
pub(super) struct Choice<'a> {
    /// The machine that they are of.
    pub(super) machine: &'a Machine,
    /// How fine they are.
    pub(super) level: Level,
    /// What they are sorted by, besides their numbers.
    pub(super) order: Option<&'a Order>,
    /// Which of them are shown.
    pub(super) filter: &'a Filter,
}

impl Choice<'_> {
    /// The rows: the machine, its packages, and the finer ones in the order that is wanted.
    pub(super) fn rows(&self, reading: &Reading, columns: &[Shown]) -> Vec<Row> {
        let cpus = self.filter.cpus(reading);
        let mut rows = vec![Row::Host];
        rows.extend(self.machine.packages(&cpus));
        let finer = match self.level {
            Level::Packages => Vec::new(),
            Level::Cores => self.machine.cores(&cpus),
            Level::Cpus => cpus.iter().map(Row::Cpu).collect(),
        };
        rows.extend(self.sorted(finer, reading, columns));
        rows
    }

    fn sorted(&self, rows: Vec<Row>, reading: &Reading, columns: &[Shown]) -> Vec<Row> {
        let Some(order) = self.order else { return rows };
        let is_it = |it: &&Shown| (it.metric.id, &it.part) == (order.column.0, &order.column.1);
        let Some(column) = columns.iter().find(is_it) else { return rows };
        let value = |row: &Row| column.cell(*row, self.machine, reading).value();
        let mut keyed: Vec<(Option<f64>, Row)> = rows.iter().map(|it| (value(it), *it)).collect();
        keyed.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) if order.descending => b.total_cmp(a),
            (Some(a), Some(b)) => a.total_cmp(b),
            // What has no value comes last, whichever way.
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        keyed.into_iter().map(|(_, row)| row).collect()
    }
}
