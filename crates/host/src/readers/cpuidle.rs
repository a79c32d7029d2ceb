//! Reads the idle states and their limits.

use crate::Source;
use facts::cpu::cpuidle::{
    Cpuidle, FOLDER, IdleState, LATENCY_DEVICE, PARAMETERS, ResumeLatency, StateTable,
    latency_limit,
};
use facts::cpu::topology::Topology;
use facts::system::process::Process;
use facts::{CpuSet, Fact, HostView, IfPresent, Missing, PerCpu, Why, parse};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn read_driver(source: &dyn Source, host: &mut HostView) {
    host.cpuidle.driver = subsystem(source, &["current_driver"]);
    host.cpuidle.governor = subsystem(source, &["current_governor", "current_governor_ro"]);
    host.cpuidle.parameters = parameters(source);
}

/// Those of one word each: ten at most.
fn parameters(source: &dyn Source) -> Fact<Vec<(String, String)>> {
    let mut parameters = Vec::new();
    for name in source.list(PARAMETERS)? {
        let value = source.text(&format!("{PARAMETERS}/{name}"))?;
        let value = parse::trimmed(&value);
        if !value.is_empty() {
            parameters.push((name, value.to_owned()));
        }
    }
    Ok(parameters)
}

pub(super) fn read_states(source: &dyn Source, host: &mut HostView) {
    host.cpuidle.tables = tables(source, &host.topology);
}

pub(super) fn read_latency_limit(source: &dyn Source, host: &mut HostView) {
    host.cpuidle.latency_limit = source.read(LATENCY_DEVICE).and_then(|bytes| {
        latency_limit(&bytes)
            .map_err(|it| Missing::malformed(LATENCY_DEVICE, &format!("{bytes:?}"), it.0))
    });
}

pub(super) fn read_limits(source: &dyn Source, host: &mut HostView) {
    let Cpuidle { tables, latency_limit, .. } = &host.cpuidle;
    let holders = latency_holders(source, tables, latency_limit, &host.processes);
    host.cpuidle.latency_holders = holders;
    host.cpuidle.resume_latency = resume_latency(source, &host.topology);
}

/// The first of `files` that the subsystem has. Its folder is listed first: in a copy of a host that shows
/// whether it is the folder that the host lacks, or its file that was not collected.
fn subsystem(source: &dyn Source, files: &[&str]) -> Fact<String> {
    let names = source.list(FOLDER)?;
    let file = files.iter().find(|&&file| names.iter().any(|name| name == file));
    source.parsed(&format!("{FOLDER}/{}", file.unwrap_or(&files[0])), parse::line)
}

/// One table for each kind of core, from its first CPU: like cores have like states.
fn tables(source: &dyn Source, topology: &Topology) -> Fact<Vec<StateTable>> {
    let online = topology.online.as_ref()?;
    let kinds: Vec<CpuSet> = match topology.core_types.if_present().ok().flatten() {
        Some(types) => types.iter().map(|(_, cpus)| cpus.and(online)).collect(),
        None => vec![online.clone()],
    };
    kinds.into_iter().filter(|cpus| !cpus.is_empty()).map(|cpus| table(source, cpus)).collect()
}

fn table(source: &dyn Source, cpus: CpuSet) -> Fact<StateTable> {
    let folder = format!("{CPUS}/cpu{}/cpuidle", cpus.first().unwrap_or(0));
    let numbers = source.numbered(&folder, "state")?;
    let states = numbers.into_iter().map(|it| state(source, &folder, it, &cpus));
    Ok(StateTable { states: states.collect::<Fact<Vec<IdleState>>>()?, cpus })
}

fn state(source: &dyn Source, folder: &str, number: u32, cpus: &CpuSet) -> Fact<IdleState> {
    let file = |name: &str| format!("{folder}/state{number}/{name}");
    let mut state = IdleState {
        number,
        name: source.parsed(&file("name"), parse::line)?,
        description: source.parsed(&file("desc"), parse::line),
        latency: source.parsed(&file("latency"), parse::number),
        residency: source.parsed(&file("residency"), parse::number),
        disabled: PerCpu::default(),
        is_off_by_default: Err(Missing::not_collected(file("default_status"))),
    };
    if state.is_deep() {
        state.is_off_by_default = source.parsed(&file("default_status"), IdleState::parse_default);
        let disabled = |cpu| {
            let path = format!("{CPUS}/cpu{cpu}/cpuidle/state{number}/disable");
            // Kernels that also show the driver's own switch here write 2 or 3.
            (cpu, source.parsed(&path, |text| parse::number(text).map(|it| it > 0)))
        };
        state.disabled = cpus.iter().map(disabled).collect();
    }
    Ok(state)
}

fn resume_latency(source: &dyn Source, topology: &Topology) -> PerCpu<ResumeLatency> {
    let Ok(online) = &topology.online else { return PerCpu::default() };
    let path = |cpu| format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us");
    online.iter().map(|cpu| (cpu, source.parsed(&path(cpu), ResumeLatency::parse))).collect()
}

/// Looks through the descriptors of every process for the latency device, and only where the limit keeps some
/// state from being used: a database server has a hundred thousand descriptors.
fn latency_holders(
    source: &dyn Source,
    tables: &Fact<Vec<StateTable>>,
    limit: &Fact<u32>,
    processes: &Fact<Vec<Process>>,
) -> Fact<Vec<Process>> {
    let states = tables.as_ref()?.iter().flat_map(|table| &table.states);
    let deepest = states.filter_map(|state| state.latency.as_ref().ok()).max();
    let limit = u64::from(*limit.as_ref()?);
    if deepest.is_none_or(|&latency| latency <= limit) {
        return Ok(Vec::new());
    }
    let (mut holders, mut denied) = (Vec::new(), None);
    let mut n_left = MOST_DESCRIPTORS;
    for process in processes.as_ref()?.iter().filter(|it| !it.is_kernel_thread) {
        let folder = format!("/proc/{}/fd", process.pid);
        match source.list(&folder) {
            Ok(descriptors) => {
                n_left = n_left.saturating_sub(descriptors.len());
                let is_device = |fd: &String| {
                    source.link(&format!("{folder}/{fd}")).is_ok_and(|it| it == LATENCY_DEVICE)
                };
                if descriptors.iter().any(is_device) {
                    holders.push(process.clone());
                }
            }
            Err(missing) if missing.is_absence() => {}
            Err(missing) => denied = denied.or(Some(missing)),
        }
        if n_left == 0 {
            let why = Why::Failed(format!("more than {MOST_DESCRIPTORS} open files"));
            denied = denied.or(Some(Missing { what: "/proc/*/fd".to_owned(), why }));
            break;
        }
    }
    match denied {
        Some(missing) if holders.is_empty() => Err(missing),
        _ => Ok(holders),
    }
}

/// So many links take some 20 ms to read. Services like tuned start before databases and have lower
/// process numbers, so they are found long before.
const MOST_DESCRIPTORS: usize = 20_000;
