//! What Prometheus reads: <https://prometheus.io/docs/specs/om/open_metrics_spec/>, and its older text format for who does
//! not ask for that.

use std::fmt::Write as _;

/// Families of gauges, one after the other.
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
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        writeln!(self.text, "# HELP {name} {help}").ok();
        writeln!(self.text, "# TYPE {name} gauge").ok();
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
