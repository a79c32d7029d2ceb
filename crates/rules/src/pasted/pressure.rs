//! `/proc/pressure/*` and `cpu.pressure` of a control group: how long tasks waited.
//!
//! Source: Documentation/accounting/psi.rst. `full` of the CPU is that of a group which has tasks to run and may not: of the whole system
//! it is always 0. Waiting for a CPU is what a busy host does, so that it is no fault by itself.

use super::{Found, SOUND, said, untold};
use crate::checks::cgroup_quota_throttling::SOMETIMES;
use crate::finding::Severity;
use facts::HostView;
use facts::pasted::PRESSURE;

/// From this share of waiting on, one wait in ten: throughput suffers.
const OFTEN: f64 = 0.10;

/// A line of a file.
struct Row<'a> {
    /// The resource in the path that was pasted with it.
    resource: Option<&'a str>,
    is_full: bool,
    /// Percent of the last five minutes.
    share: f64,
}

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let (mut rows, mut first) = (Vec::new(), None);
    let mut resource = None;
    for (at, line) in text.lines().enumerate() {
        let named = RESOURCES.iter().find(|it| names(line, it)).copied();
        resource = named.or(resource);
        if let Some((is_full, share)) = shares(line) {
            first.get_or_insert(at);
            rows.push(Row { resource, is_full, share });
        }
    }
    let line = first?;
    let mut meaning: Vec<String> = rows.iter().filter_map(judge).collect();
    if meaning.is_empty() {
        meaning.push(SOUND.to_owned());
    }
    meaning.extend(rows.iter().filter(|it| !it.is_full && it.share >= 1.0).map(|it| {
        let resource = it.resource.unwrap_or("the resource");
        format!("Some task waited for {resource} in {:.0} % of the last five minutes.", it.share)
    }));
    if rows.iter().all(|it| it.resource.is_none()) {
        meaning.push("Which resource it is about is in the name of its file alone.".to_owned());
    }
    meaning.push(untold(&PRESSURE));
    Some(Found::new(line, &PRESSURE, meaning))
}

const RESOURCES: [&str; 3] = ["cpu", "memory", "io"];

/// Whether a line names the file of a resource: `cat /proc/pressure/cpu`, `/proc/pressure/cpu:some ...`, `==> cpu.pressure <==`.
fn names(line: &str, resource: &str) -> bool {
    line.contains(&format!("pressure/{resource}")) || line.contains(&format!("{resource}.pressure"))
}

/// Whether it is a line of all tasks, and its share of five minutes in percent.
fn shares(line: &str) -> Option<(bool, f64)> {
    let (head, rest) = line.split_once(" avg10=")?;
    let is_full = match head.rsplit([':', ' ']).next()? {
        "some" => false,
        "full" => true,
        _ => return None,
    };
    let (_, share) = rest.split_once("avg300=")?;
    let share: f64 = share.split_whitespace().next()?.parse().ok()?;
    (0.0..=100.0).contains(&share).then_some((is_full, share))
}

fn judge(row: &Row<'_>) -> Option<String> {
    let share = row.share / 100.0;
    let (check, severity, what) = match (row.resource?, row.is_full) {
        ("cpu", true) if share >= OFTEN => ("cgroup-quota-throttling", Severity::Medium, ALL_WAIT),
        ("cpu", true) if share >= SOMETIMES => ("cgroup-quota-throttling", Severity::Low, ALL_WAIT),
        ("memory", true) if share >= OFTEN => ("busy-kernel-threads", Severity::Medium, SHORTAGE),
        _ => return None,
    };
    Some(said(severity, check, &format!("{what} in {:.0} % of the last five minutes", row.share)))
}

const ALL_WAIT: &str =
    "every task of the group that had work stood still, as a CPU quota or a busy parent makes it,";
const SHORTAGE: &str =
    "every task stood still for want of memory: kswapd and the tasks reclaim, whatever the clock,";

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    #[test]
    fn a_group_that_stands_still_is_told() {
        let text = "# cat /sys/fs/cgroup/system.slice/db.service/cpu.pressure\nsome avg10=61.00 avg60=60.10 avg300=58.20 total=1\n\
                    full avg10=41.00 avg60=40.10 avg300=38.20 total=1\n";
        let said = meaning(text);
        assert!(
            said.starts_with("Medium, cgroup-quota-throttling: every task of the group"),
            "{said}"
        );
        assert!(said.contains("Some task waited for cpu in 58 %"), "{said}");
    }

    #[test]
    fn waiting_alone_is_no_fault() {
        let text = "/proc/pressure/cpu:some avg10=12.00 avg60=9.00 avg300=8.00 total=123\n/proc/pressure/cpu:full avg10=0.00 avg60=0.00 avg300=0.00 total=0";
        let said = meaning(text);
        assert!(said.starts_with(SOUND) && said.contains("waited for cpu in 8 %"), "{said}");
        assert!(
            meaning("some avg10=0.00 avg60=0.00 avg300=0.00 total=0").contains("name of its file")
        );
        assert_eq!(meaning("some avg10=nonsense"), "unknown");
    }
}
