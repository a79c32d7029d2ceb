//! Which columns a table has: those that were asked for, or those that the first reading knows.

use anyhow::{Result, bail};
use rules::metric::Metric;
use rules::metrics::METRICS;
use rules::watch::{Column, Part, Reading, Shown, View, find_metric, shown_columns};

/// What the user asked for.
#[derive(Debug)]
pub struct Selection(Vec<Chosen>);

/// A metric with all its parts, or one part of it.
struct Chosen {
    metric: &'static Metric,
    part: Option<String>,
}

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.metric.id, self.part)
    }
}

/// A column from one reading to the next.
pub(super) type Key = (&'static Metric, Part);

impl Selection {
    /// Ids of metrics, in the order of columns; `interrupts:LOC` is one part of one. None are all that are known.
    ///
    /// Fails on an id that no metric has, and names those that are near.
    pub fn parse(ids: &[String]) -> Result<Selection> {
        let chosen = |text: &String| {
            let (id, part) = match text.split_once(':') {
                Some((id, part)) => (id, Some(part.to_owned())),
                None => (text.as_str(), None),
            };
            match find_metric(id.trim()) {
                Some(metric) => Ok(Chosen { metric, part }),
                None => bail!("{}", nobody_knows(id.trim())),
            }
        };
        ids.iter().map(chosen).collect::<Result<Vec<_>>>().map(Selection)
    }

    /// The columns of a table whose first reading this is.
    pub(super) fn columns(&self, first: &Reading) -> Vec<Key> {
        let of = |it: &Shown| (it.metric, it.part.clone());
        let all = shown_columns(first, &Default::default());
        if self.0.is_empty() {
            return all.iter().filter(|it| it.is_known()).map(of).collect();
        }
        let chosen = |Chosen { metric, part }: &Chosen| match part {
            Some(part) => vec![(*metric, Part::Named(part.clone()))],
            None => all.iter().filter(|it| it.metric.id == metric.id).map(of).collect(),
        };
        self.0.iter().flat_map(chosen).collect()
    }

    /// What has to be made of each interval for it; with a ledger where an observer is given ([`View::ledger`]).
    pub fn view(&self, ledger: Option<u32>) -> View {
        let is_chosen = |metric: &Metric| self.0.iter().any(|it| it.metric.id == metric.id);
        let view = View::of_metrics(|it| self.0.is_empty() || is_chosen(it));
        View { ledger, ..view }
    }

    /// Whether a column is one of them.
    pub fn has(&self, column: &Column) -> bool {
        let is_it = |it: &Chosen| {
            it.metric.id == column.metric.id
                && it.part.as_deref().is_none_or(|part| part == column.part())
        };
        self.0.is_empty() || self.0.iter().any(is_it)
    }

    /// Whether the user has named columns.
    pub(super) fn is_explicit(&self) -> bool {
        !self.0.is_empty()
    }
}

/// What to say of an id that no metric has.
fn nobody_knows(id: &str) -> String {
    let shown: String = id.chars().take(60).collect();
    let id = id.to_lowercase().replace('_', "-");
    let has_heading = |it: &&&Metric| it.column.to_lowercase().replace('_', "-") == id;
    let resembles = |it: &&&Metric| {
        it.id.split('-').any(|word| word.len() > 2 && id.contains(word))
            || (id.len() > 2 && it.id.contains(&id))
    };
    let mut near: Vec<&str> = METRICS.iter().filter(has_heading).map(|it| it.id).collect();
    if near.is_empty() {
        near = METRICS.iter().filter(resembles).map(|it| it.id).collect();
    }
    if near.is_empty() {
        return format!("there is no metric {shown:?}: `fullclock explain` lists the ids");
    }
    format!("there is no metric {shown:?}; did you mean {}?", near.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(id: &str) -> String {
        Selection::parse(&[id.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_id_names_those_that_are_near() {
        assert!(refusal("busy%").starts_with("there is no metric \"busy%\"; did you mean busy"));
        assert!(refusal("Bzy_MHz").contains("did you mean busy-mhz"));
        assert!(refusal("xyzzy").contains("`fullclock explain` lists the ids"));
    }
}
