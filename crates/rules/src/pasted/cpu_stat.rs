//! `cpu.stat` of a control group: how often its CPU quota stopped it.

use super::{Found, SOUND, said, untold};
use crate::checks::cgroup_quota_throttling::{self as check, ENOUGH_PERIODS};
use facts::HostView;
use facts::pasted::CPU_STAT;
use facts::system::cgroup::{Throttling, Version};

/// The first line about a quota, and the last ones of both versions.
const PERIODS: &str = "nr_periods";
const TIMES: [(&str, Version); 2] =
    [("throttled_usec", Version::V2), ("throttled_time", Version::V1)];

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let lines: Vec<(usize, &str)> = text.lines().map(field).enumerate().collect();
    let (line, _) = *lines.iter().find(|(_, it)| it.starts_with(PERIODS))?;
    let groups: Vec<Throttling> = blocks(&lines).iter().filter_map(|it| counts(it)).collect();
    let mut meaning: Vec<String> = groups.iter().filter_map(judge).collect();
    if groups.is_empty() {
        meaning.push("Its counts are not whole.".to_owned());
    } else if meaning.is_empty() {
        meaning.push(match groups.iter().all(|it| it.n_periods == 0) {
            true => format!("{SOUND} No quota has limited the group yet."),
            false => SOUND.to_owned(),
        });
    }
    meaning.push(untold(&CPU_STAT));
    Some(Found::new(line, &CPU_STAT, meaning))
}

/// A line without the path that `grep` writes before it.
fn field(line: &str) -> &str {
    line.rsplit(':').next().unwrap_or(line).trim()
}

/// The fields of each group: a block begins with the periods.
fn blocks(lines: &[(usize, &str)]) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for (_, line) in lines {
        if line.starts_with(PERIODS) {
            blocks.push(String::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.extend([*line, "\n"]);
        }
    }
    blocks
}

fn counts(block: &str) -> Option<Throttling> {
    TIMES.iter().find_map(|(_, version)| Throttling::parse(block, *version).ok())
}

fn judge(counts: &Throttling) -> Option<String> {
    let share = counts.share();
    if counts.n_periods < ENOUGH_PERIODS {
        return None;
    }
    let severity = check::lost_share(share)?.severity();
    let each = 1000.0 * counts.time.as_secs_f64() / counts.n_throttled.max(1) as f64;
    let message = format!(
        "a CPU quota stopped the group in {:.1} % of its periods ({} of {}), for {each:.1} ms each time, all CPUs added up",
        100.0 * share,
        counts.n_throttled,
        counts.n_periods
    );
    Some(said(severity, check::CHECK.id, &message))
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    #[test]
    fn a_group_that_is_stopped_often_is_told() {
        let text = "usage_usec 9112233\nuser_usec 1\nsystem_usec 2\nnr_periods 12001\nnr_throttled 10921\nthrottled_usec 991234567\nnr_bursts 0\n";
        assert!(
            meaning(text).starts_with(
                "Medium, cgroup-quota-throttling: a CPU quota stopped the group in 91.0 %"
            ),
            "{}",
            meaning(text)
        );
        let old = "nr_periods 5000\nnr_throttled 100\nthrottled_time 99123456789";
        assert!(
            meaning(old).starts_with(
                "Low, cgroup-quota-throttling: a CPU quota stopped the group in 2.0 %"
            ),
            "{}",
            meaning(old)
        );
    }

    #[test]
    fn a_group_that_runs_is_sound() {
        assert!(
            meaning("nr_periods 12001\nnr_throttled 3\nthrottled_usec 12345").starts_with(SOUND)
        );
        assert!(
            meaning("cpu.stat:nr_periods 0\ncpu.stat:nr_throttled 0\ncpu.stat:throttled_usec 0")
                .contains("No quota")
        );
        assert!(meaning("nr_periods 12001").starts_with("Its counts"));
    }
}
