//! What Prometheus reads: <https://prometheus.io/docs/specs/om/open_metrics_spec/>, and its older text format for who does
//! not ask for that.

use std::fmt::Write as _;

/// What kind of values a family has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A state.
    Gauge,
    /// What only grows; the names of its samples end in `_total`.
    Counter,
    /// Quantiles of one state of several things: only such a family may have the label `quantile`.
    Summary,
    /// 1, with what it says in its labels; its name ends in `_info`.
    Info,
}

/// Families of samples, one after the other.
pub struct Exposition {
    text: String,
    is_open: bool,
}

impl Exposition {
    /// An empty one: OpenMetrics, or the older format.
    pub fn begin(is_open: bool) -> Exposition {
        Exposition { text: String::new(), is_open }
    }

    /// Begins a family of gauges. `unit` is how its name ends, or empty.
    pub fn family(&mut self, name: &str, help: &str, unit: &str) {
        self.family_of(Type::Gauge, name, help, unit);
    }

    /// Begins a family of this type, `name` being that of its samples. `unit` is how that ends before `_total`, or empty.
    ///
    /// OpenMetrics calls a family by what is left of its samples' names without `_total` and `_info`; the older format knows neither.
    pub fn family_of(&mut self, of: Type, name: &str, help: &str, unit: &str) {
        let (suffix, word) = match (of, self.is_open) {
            (Type::Gauge, _) | (Type::Info, false) => ("", "gauge"),
            (Type::Summary, _) => ("", "summary"),
            (Type::Counter, false) => ("", "counter"),
            (Type::Counter, true) => ("_total", "counter"),
            (Type::Info, true) => ("_info", "info"),
        };
        let name = name.strip_suffix(suffix).unwrap_or(name);
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        writeln!(self.text, "# HELP {name} {help}").ok();
        writeln!(self.text, "# TYPE {name} {word}").ok();
        if self.is_open && !unit.is_empty() {
            writeln!(self.text, "# UNIT {name} {unit}").ok();
        }
    }

    /// A sample of the family that was begun last.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text += name;
        let shown: Vec<String> =
            labels.iter().map(|(label, it)| format!("{label}=\"{}\"", escaped(it))).collect();
        if !shown.is_empty() {
            write!(self.text, "{{{}}}", shown.join(",")).ok();
        }
        writeln!(self.text, " {value}").ok();
    }

    /// The text, with its end mark.
    pub fn finish(mut self) -> String {
        if self.is_open {
            self.text += "# EOF\n";
        }
        self.text
    }
}

/// As a label may hold it. Names of threads and sensors are their makers', and may be anything.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(is_open: bool) -> String {
        let mut page = Exposition::begin(is_open);
        page.family_of(Type::Counter, "a_seconds_total", "One.", "seconds");
        page.sample("a_seconds_total", &[], 1.0);
        page.family_of(Type::Info, "b_info", "Two", "");
        page.sample("b_info", &[("x", "y\"")], 1.0);
        page.finish()
    }

    #[test]
    fn a_family_has_the_name_that_its_format_gives_it_and_samples_are_the_same_in_both() {
        assert_eq!(
            page(true),
            "# HELP a_seconds One.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\na_seconds_total 1\n\
             # HELP b Two\n# TYPE b info\nb_info{x=\"y\\\"\"} 1\n# EOF\n"
        );
        assert_eq!(
            page(false),
            "# HELP a_seconds_total One.\n# TYPE a_seconds_total counter\na_seconds_total 1\n\
             # HELP b_info Two\n# TYPE b_info gauge\nb_info{x=\"y\\\"\"} 1\n"
        );
    }
}
