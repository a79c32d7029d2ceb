//! Which idle states each CPU has and may use.

use super::by_cpu::by_cpu;
use facts::cpu::cpuidle::StateTable;
use facts::{Fact, Missing};

/// `POLL C1 C1E C6` where all may be used, and `POLL C1 C1E C6:disabled` where one may not. Only states deeper than C1
/// are asked whether they are disabled.
pub(super) fn idle_states(tables: &[StateTable]) -> Fact<String> {
    let of = |table: &StateTable| {
        table.cpus.iter().map(|cpu| (cpu, of_cpu(table, cpu))).collect::<Vec<_>>()
    };
    by_cpu(&tables.iter().flat_map(of).collect(), String::clone)
}

fn of_cpu(table: &StateTable, cpu: u32) -> Fact<String> {
    let mut words = Vec::new();
    for state in &table.states {
        let mark = match state.disabled.get(cpu) {
            Some(Ok(true)) => ":disabled",
            Some(Err(why)) if !why.is_absence() => return Err(Missing::from(why)),
            Some(Ok(false) | Err(_)) | None => "",
        };
        words.push(format!("{}{mark}", state.name));
    }
    Ok(words.join(" "))
}
