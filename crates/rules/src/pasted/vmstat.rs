//! `vmstat`: the share of the wanted time that the hypervisor gave to others.
//!
//! Source: procps, vmstat.c: `st` is there since 3.0, `gu` since 4.0.4. The first row of several is about the time since the boot.

use super::{Found, SOUND, said, untold};
use crate::checks::stolen_time;
use facts::HostView;
use facts::pasted::VMSTAT;

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let (mut names, mut first): (Vec<&str>, _) = (Vec::new(), None);
    let mut rows: Vec<Row> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.starts_with(&["r", "b"]) && cells.contains(&"us") && cells.contains(&"id") {
            first.get_or_insert(at);
            names = cells;
        } else if !names.is_empty() {
            rows.extend(row(&names, &cells));
        }
    }
    let line = first?;
    if rows.len() > 1 {
        rows.remove(0);
    }
    let n = rows.len().max(1) as f64;
    let mean = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() / n;
    let mut meaning = Vec::new();
    if rows.is_empty() {
        meaning.push("It has a heading and no whole row.".to_owned());
    } else if rows.iter().any(|it| it.steal.is_none()) {
        meaning.push("It has no column `st`, so that it says nothing of time that a hypervisor gave to others.".to_owned());
    } else {
        let steal = mean(|it| it.steal.unwrap_or_default());
        let wanted = 100.0 - mean(|it| it.free);
        meaning.extend(stolen(steal, wanted));
        if meaning.is_empty() {
            meaning.push(format!("{SOUND} The CPUs were busy {wanted:.0} % of the time, and {steal:.0} % was given to others."));
        }
    }
    meaning.push(untold(&VMSTAT));
    Some(Found::new(line, &VMSTAT, meaning))
}

/// What the check of stolen time says of `steal` and `wanted` percent of all time.
pub(super) fn stolen(steal: f64, wanted: f64) -> Option<String> {
    let share = steal / wanted.max(steal).max(f64::MIN_POSITIVE);
    let severity = stolen_time::lost(share, steal / 100.0)?.severity();
    let message = format!(
        "{:.1} % of the time that the CPUs had work for was given to others by the hypervisor",
        100.0 * share
    );
    Some(said(severity, stolen_time::CHECK.id, &message))
}

/// Percent of a row.
struct Row {
    /// Idle, or waiting for a disk.
    free: f64,
    steal: Option<f64>,
}

fn row(names: &[&str], cells: &[&str]) -> Option<Row> {
    // With `-t` two words of a time stand behind.
    let is_whole = cells.len() >= names.len()
        && cells.iter().take(names.len()).all(|it| it.parse::<f64>().is_ok());
    let cell = |name: &str| {
        let at = names.iter().position(|it| *it == name)?;
        cells.get(at)?.parse::<f64>().ok().filter(|it| (0.0..=100.0).contains(it))
    };
    is_whole.then_some(())?;
    Some(Row { free: cell("id")? + cell("wa").unwrap_or(0.0), steal: cell("st") })
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    const HEAD: &str = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
                        r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n";

    #[test]
    fn stolen_time_is_judged_by_the_scale_of_its_check() {
        let rows = " 1  0      0 812340  10240 402344    0    0     1     2   90  100  1  0 99  0  0\n \
                    9  0      0 812340  10240 402344    0    0     0     8  900 1200 55  5 10  0 30\n \
                    8  0      0 812340  10240 402344    0    0     0     8  900 1200 60  5 10  0 25\n";
        let said = meaning(&format!("{HEAD}{rows}"));
        assert!(said.starts_with("High, stolen-time: 30.6 %"), "{said}");
    }

    #[test]
    fn a_row_without_stolen_time_is_sound() {
        let said = meaning(&format!(
            "{HEAD} 1  0      0 812340  10240 402344    0    0     1     2   90  100 41  3 56  0  0\n"
        ));
        assert!(said.starts_with("Nothing in it is wrong. The CPUs were busy 44 %"), "{said}");
        let old = HEAD.replace(" wa st", " wa");
        assert!(
            meaning(&format!("{old} 1 0 0 1 1 1 0 0 1 2 90 100 41 3 56 0\n"))
                .contains("no column `st`")
        );
        assert!(meaning(HEAD).contains("no whole row"));
        assert_eq!(
            meaning("r b us id"),
            "It has a heading and no whole row.\nIt does not tell the clock that they did it at."
        );
    }
}
