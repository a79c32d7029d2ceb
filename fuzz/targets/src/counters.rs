//! Every source of counters, two texts into the same tables: what the first left behind never shows.

use facts::counters::task_stat::{Scheduled, TaskStat};
use facts::counters::{
    Table, cpuacct, exits, interrupts, pressure, schedstat, softirqs, stat, timer_list,
};
use facts::{CpuSet, Fact, Missing, netlink};

pub(crate) fn run(texts: &[u8]) {
    // A NUL byte stands between the texts.
    let middle = texts.iter().position(|it| *it == 0).unwrap_or(texts.len());
    let (first, second) = (&texts[..middle], texts.get(middle + 1..).unwrap_or_default());
    let online: CpuSet = [0, 1, 3].into_iter().collect();
    let possible: CpuSet = (0..8).collect();
    let cpus = cpuacct::Cpus { possible: &possible, online: &online };
    twice(first, second, stat::cpu_times);
    twice(first, second, stat::totals);
    twice(first, second, interrupts::fill);
    twice(first, second, |text, at, table| softirqs::fill(text, at, &online, table));
    twice(first, second, schedstat::fill);
    twice(first, second, |text, at, table| cpuacct::fill("/usage", text, at, cpus, table));
    twice(first, second, timer_list::fill);
    for text in [first, second] {
        let _ = (pressure::stalled(text), pressure::stalled_by_interrupts(text));
        let _ = (TaskStat::parse(text), Scheduled::parse(text));
        let _ = facts::counters::number(text);
        for message in netlink::messages(text).flatten() {
            let _ = (message.error(), exits::parse(message.body));
        }
    }
}

fn twice(first: &[u8], second: &[u8], fill: impl Fn(&[u8], u64, &mut Fact<Table>)) {
    let unread = || Err(Missing::not_collected("table"));
    let (mut used, mut fresh) = (unread(), unread());
    fill(first, 1, &mut used);
    fill(second, 2, &mut used);
    fill(second, 2, &mut fresh);
    assert_eq!(used, fresh);
    if let Ok(table) = fresh {
        assert!(table.rows().is_sorted_by(|a, b| a < b), "{:?}", table.rows());
        assert!((0..table.rows().len()).all(|row| table.read_at(row) == 2));
    }
}
