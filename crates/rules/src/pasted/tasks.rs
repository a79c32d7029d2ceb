//! Rows of `top`: what threads of the kernel take at this moment, and the time that the hypervisor gave to others.
//!
//! Source: procps, top(1). Of `ps`, files are made: its times are those of /proc/PID/stat.

use super::vmstat::stolen;
use super::{Found, SOUND, said, untold};
use crate::checks::busy_kernel_threads::{self as check, LEAST};
use crate::finding::Severity;
use crate::kernel_threads::Named;
use facts::HostView;
use facts::pasted::TOP;

/// A row of a thread of the kernel.
struct Row<'a> {
    name: &'a str,
    /// Of one CPU.
    share: f64,
}

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let (mut heading, mut first): (Option<Vec<&str>>, _) = (None, None);
    let (mut rows, mut steal): (Vec<Row<'_>>, Option<(f64, f64)>) = (Vec::new(), None);
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let Some(percent) = times(line) {
            first.get_or_insert(at);
            steal = steal.or(Some(percent));
        } else if cells.starts_with(&["PID", "USER"])
            && cells.contains(&"%CPU")
            && cells.contains(&"TIME+")
        {
            first.get_or_insert(at);
            heading = Some(cells);
        } else if let Some(row) = row(heading.as_deref().unwrap_or(&HEADING), &cells) {
            first.get_or_insert(at);
            rows.push(row);
        }
    }
    let line = first?;
    rows.retain(|it| it.share >= LEAST);
    rows.sort_by(|a, b| b.share.total_cmp(&a.share));
    let mut meaning: Vec<String> = rows.iter().take(MOST_NAMED).map(judge).collect();
    meaning.extend(steal.and_then(|(steal, wanted)| stolen(steal, wanted)));
    if meaning.is_empty() {
        meaning.push(format!("{SOUND} No thread of the kernel takes much."));
    }
    meaning.push(untold(&TOP));
    Some(Found::new(line, &TOP, meaning))
}

/// The columns that top shows where nobody has chosen others.
const HEADING: [&str; 12] =
    ["PID", "USER", "PR", "NI", "VIRT", "RES", "SHR", "S", "%CPU", "%MEM", "TIME+", "COMMAND"];

/// Threads with a line of their own.
const MOST_NAMED: usize = 5;

/// Steal, and what is neither idle nor waiting for a disk, in percent: `%Cpu(s):  3.2 us,  1.1 sy, ..., 15.7 st`; `Cpu(s):  3.2%us, ...` in
/// older releases.
fn times(line: &str) -> Option<(f64, f64)> {
    let line = line.trim();
    let rest = line.strip_prefix("%Cpu").or_else(|| line.strip_prefix("Cpu"))?.split_once(':')?.1;
    let share = |name: &str| {
        rest.split(", ").find_map(|it| {
            let number =
                it.trim().trim_end_matches(',').strip_suffix(name)?.trim_end_matches(['%', ' ']);
            number
                .trim()
                .replace(',', ".")
                .parse::<f64>()
                .ok()
                .filter(|it| (0.0..=100.0).contains(it))
        })
    };
    Some((share("st")?, 100.0 - share("id")? - share("wa").unwrap_or(0.0)))
}

/// A row of a thread that has no memory of its own, as only the kernel's have none.
fn row<'a>(names: &[&str], cells: &[&'a str]) -> Option<Row<'a>> {
    let cell = |name: &str| cells.get(names.iter().position(|it| *it == name)?).copied();
    let is_whole = cells.len() == names.len()
        && cell("PID")?.parse::<u32>().is_ok()
        && cell("TIME+")?.contains(':');
    let has_no_memory = ["VIRT", "RES"].iter().all(|it| cell(it) == Some("0"));
    let share: f64 =
        cell("%CPU")?.replace(',', ".").parse().ok().filter(|it| (0.0..=100_000.0).contains(it))?;
    (is_whole && has_no_memory).then_some(Row { name: cell("COMMAND")?, share: share / 100.0 })
}

fn judge(row: &Row<'_>) -> String {
    let Row { name, share } = row;
    if name.starts_with("kipmi") {
        let message = format!(
            "{name} takes {:.0} % of a CPU: it asks a management controller that raises no interrupt",
            100.0 * share
        );
        return said(
            if *share >= 0.1 { Severity::Medium } else { Severity::Low },
            "kipmid-busy",
            &message,
        );
    }
    let named = Named::of(name);
    let what = named.known.map_or(String::new(), |it| format!(" ({})", it.what));
    let lasting = named.known.map_or(String::new(), |it| format!("; {}", it.fix));
    // One moment is no average.
    let severity = check::lost_to(&named, *share, false).severity().min(Severity::Medium);
    said(
        severity,
        check::CHECK.id,
        &format!("{name}{what} takes {:.0} % of a CPU at this moment{lasting}", 100.0 * share),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    const HEAD: &str = "top - 10:11:12 up 12 days,  3:04,  1 user,  load average: 1.12, 1.05, 1.01\n\
                        Tasks: 512 total,   2 running, 510 sleeping,   0 stopped,   0 zombie\n";
    const ROWS: &str = "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n\
                        \u{20}  4711 postgres  20   0 8412344 120344 110000 R  99.7   0.1  12:00.12 postgres\n";

    #[test]
    fn busy_threads_of_the_kernel_and_stolen_time_are_told() {
        let text = format!(
            "{HEAD}%Cpu(s): 40.2 us,  5.1 sy,  0.0 ni, 39.0 id,  0.0 wa,  0.0 hi,  0.0 si, 15.7 st\n{ROWS}\
             \u{20}   131 root      20   0       0      0      0 R  46.2   0.0 812:40.01 kswapd0\n"
        );
        let said = meaning(&text);
        assert!(said.starts_with("Medium, busy-kernel-threads: kswapd0 ("), "{said}");
        assert!(said.contains("High, stolen-time: 25.7 %"), "{said}");
        let row = "   2393 root      39  19       0      0      0 R  54.3   0.0  33621:07 kipmi0";
        assert!(
            meaning(row).starts_with("Medium, kipmid-busy: kipmi0 takes 54 %"),
            "{}",
            meaning(row)
        );
    }

    #[test]
    fn busy_programs_are_no_fault() {
        let text = format!(
            "{HEAD}%Cpu(s): 99.0 us,  1.0 sy,  0.0 ni,  0.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n{ROWS}"
        );
        assert!(meaning(&text).starts_with(SOUND), "{}", meaning(&text));
        let old = "Cpu(s):  3.2%us,  1.1%sy,  0.0%ni, 95.7%id,  0.0%wa,  0.0%hi,  0.0%si,  0.0%st";
        assert!(meaning(old).starts_with(SOUND), "{}", meaning(old));
        assert_eq!(meaning("1 2 3"), "unknown");
    }
}
