//! Which rows there are, in which order, and what a filter leaves of them.

use super::state::State;
use facts::CpuSet;
use rules::watch::{Part, Reading, Row, Shown};

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
    /// The next coarser one, and from the coarsest the finest. Without siblings a core is a CPU.
    pub(super) fn next(self, has_siblings: bool) -> Level {
        match self {
            Level::Cpus if has_siblings => Level::Cores,
            Level::Cpus | Level::Cores => Level::Packages,
            Level::Packages => Level::Cpus,
        }
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
            Filter::Cpus(cpus) => Some(format!("only CPUs {cpus}")),
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

/// The rows: the machine, its packages, and the finer ones in the order that is wanted.
pub(super) fn rows(state: &State, reading: &Reading, columns: &[Shown]) -> Vec<Row> {
    let cpus = state.filter.cpus(reading);
    let mut rows = vec![Row::Host];
    rows.extend(state.machine.packages(&cpus));
    let mut finer: Vec<Row> = match state.level {
        Level::Packages => Vec::new(),
        Level::Cores => state.machine.cores(&cpus),
        Level::Cpus => cpus.iter().map(Row::Cpu).collect(),
    };
    let by = state.order.as_ref().and_then(|order| {
        let is_it = |it: &&Shown| (it.metric.id, &it.part) == (order.column.0, &order.column.1);
        Some((columns.iter().find(is_it)?, order.descending))
    });
    if let Some((column, descending)) = by {
        let value = |row: &Row| column.cell(*row, &state.machine, reading).value();
        let mut keyed: Vec<(Option<f64>, Row)> = finer.iter().map(|it| (value(it), *it)).collect();
        keyed.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) if descending => b.total_cmp(a),
            (Some(a), Some(b)) => a.total_cmp(b),
            // What has no value comes last, whichever way.
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        finer = keyed.into_iter().map(|(_, row)| row).collect();
    }
    rows.extend(finer);
    rows
}
