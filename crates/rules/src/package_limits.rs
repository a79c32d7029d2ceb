//! The power limits of every package that count, from powercap and from the registers.
//!
//! Powercap shows limits as disabled that firmware has locked (drivers/powercap/intel_rapl_common.c, get_domain_enable): MSR 0x610
//! tells then. The design power is that of the configurable TDP level that firmware chose.

use facts::msr::{intel, rapl};
use facts::power::limit::PowerLimit;
use facts::{CpuSet, Fact, HostView, IfPresent, Microwatts, Missing};

/// Vendors fit a model into a chassis by limits within a fifth of the TDP.
const FAR_BELOW: f64 = 0.8;

/// One limit that counts.
pub(crate) struct Limit {
    /// "package-0", "the package of CPU 0".
    pub(crate) package: String,
    /// `long-term` or `short-term`.
    pub(crate) name: &'static str,
    pub(crate) power: Microwatts,
    /// The design power that it is judged by.
    pub(crate) design: Microwatts,
    /// The CPUs whose register was read; empty where powercap told.
    pub(crate) cpus: CpuSet,
    /// The first CPU of the package.
    pub(crate) leader: u32,
    /// The configurable TDP level that `design` is of; 0 is the base level.
    pub(crate) level: u64,
    /// What was read: the limit, then the design power.
    pub(crate) evidence: Vec<(String, String)>,
    /// What raises it, for [`crate::commands::POWERCAP_LIMIT`].
    pub(crate) command: Option<String>,
    /// How to raise it for good.
    pub(crate) lasting: &'static str,
}

impl Limit {
    /// Whether it takes more than vendors take to fit a model into a chassis.
    pub(crate) fn is_far_below(&self) -> bool {
        self.power.share_of(self.design) < FAR_BELOW
    }

    /// Whether firmware has locked it until the next reset.
    pub(crate) fn is_locked(&self) -> bool {
        self.lasting == LOCKED
    }

    /// Judged by the design power of the configurable TDP level that firmware chose.
    fn at_level(mut self, host: &HostView) -> Limit {
        if let Some(level) = host.msrs.tdp_level(self.leader).filter(|it| it.power < self.design) {
            self.design = level.power;
            self.level = level.level;
            let read = level.evidence.map(|(path, value)| (path, format!("{value:#x}")));
            self.evidence.extend(read);
            // What raises it to the base level is no repair.
            self.command = None;
        }
        self
    }
}

const FIND_OUT: &str = "find out first who set it and whose budget it keeps: the power cap or profile in the firmware's setup, the management controller \
     (`ipmitool dcmi power get_limit`), a lost power supply, a lower TDP level of the processor, thermald (its adaptive mode writes both limits), or another \
     service that writes powercap; a short-term limit is raised to its own maximum (constraint_1_max_power_uw), not to the design power";
const LOCKED: &str = "firmware has locked the limit until the next reset (MSR 0x610 bit 63): look for a power cap or a power profile in its \
     setup, and in the management controller (`ipmitool dcmi power get_limit`)";

const NAMES: [&str; 2] = ["long-term", "short-term"];

/// The limits that count, and why others are not known.
pub(crate) fn package_limits(host: &HostView) -> Fact<(Vec<Limit>, Option<Missing>)> {
    let zones = host.power_limits.if_present()?.map(Vec::as_slice).unwrap_or_default();
    let registers = (!driver_knows(zones)).then(|| by_register(host));
    let by_registers = matches!(registers, Some(Ok(_)));
    let (mut limits, mut unknown) = (Vec::new(), None);
    for zone in zones.iter().filter(|it| it.is_memory_mapped() || !by_registers) {
        match by_zone(zone, zones, registers.as_ref(), leader(host, &zone.name)) {
            Ok(found) => limits.extend(found),
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    match registers {
        Some(Ok(found)) => limits.extend(found),
        Some(Err(missing)) if zones.is_empty() => return Err(missing),
        _ => {}
    }
    Ok((limits.into_iter().map(|it| it.at_level(host)).collect(), unknown))
}

/// Whether the driver shows the packages' limits as enabled, and so neither off nor locked by firmware.
fn driver_knows(zones: &[PowerLimit]) -> bool {
    let mut packages = zones.iter().filter(|it| !it.is_memory_mapped()).peekable();
    packages.peek().is_some() && packages.all(|it| it.enabled == Ok(true))
}

/// The first CPU of the package that powercap calls `package-N`, or `package-N-die-M`.
fn leader(host: &HostView, zone: &str) -> u32 {
    let number = zone.strip_prefix("package-").and_then(|it| it.split('-').next()?.parse().ok());
    let packages = host.topology.packages.as_deref().unwrap_or_default();
    let package = number.and_then(|it: usize| packages.get(it));
    package.and_then(CpuSet::first).unwrap_or_default()
}

/// The limits in the registers of every package.
fn by_register(host: &HostView) -> Fact<Vec<Limit>> {
    let mut limits = Vec::new();
    for (cpu, value) in host.msrs.of(&intel::PKG_POWER_LIMIT)?.iter() {
        let value = *value.as_ref()?;
        let units = rapl::Units(host.msrs.value(&intel::RAPL_POWER_UNIT, cpu)?);
        let info = host.msrs.value(&intel::PKG_POWER_INFO, cpu)?;
        let design = units.design_power(info);
        let counting = NAMES.into_iter().zip(units.limits(value));
        let counts = |name: &str, limit: &rapl::Limit| {
            limit.is_enabled && (limit.power.0 > 0 || name == NAMES[0])
        };
        for (name, limit) in counting.filter(|(name, it)| counts(name, it)) {
            limits.push(Limit {
                package: format!("the package of CPU {cpu}"),
                name,
                power: limit.power,
                design,
                cpus: host.topology.package_of(cpu),
                leader: cpu,
                level: 0,
                evidence: vec![
                    (intel::PKG_POWER_LIMIT.path(cpu), format!("{value:#x}")),
                    (intel::PKG_POWER_INFO.path(cpu), format!("{info:#x}")),
                ],
                command: None,
                lasting: if rapl::is_locked(value) { LOCKED } else { FIND_OUT },
            });
        }
    }
    match limits.iter().find(|it| it.design.0 == 0) {
        Some(limit) => Err(no_design_power(&limit.evidence[1].0)),
        None => Ok(limits),
    }
}

/// The limits of one powercap zone. The memory-mapped copy has no design power of its own.
fn by_zone(
    zone: &PowerLimit,
    zones: &[PowerLimit],
    registers: Option<&Fact<Vec<Limit>>>,
    leader: u32,
) -> Fact<Vec<Limit>> {
    let same = zones.iter().filter(|it| it.name == zone.name);
    let Some(&design) = same.filter_map(|it| it.design.as_ref().ok()).find(|it| it.0 > 0) else {
        zone.design.as_ref()?;
        return Err(no_design_power(&zone.path("constraint_0_max_power_uw")));
    };
    let long = Some(*zone.long_term.as_ref()?);
    let short = zone.short_term.if_present()?.copied();
    let limits = NAMES.into_iter().zip([long, short]).enumerate();
    // From the factory the short-term limit lies above the design power: it has a maximum of its own.
    let highest = |number| match number {
        0 => Some(design),
        _ => zone.short_term_max.as_ref().ok().copied().filter(|it| *it > design),
    };
    let limit = |(number, (name, power)): (usize, (&'static str, Option<Microwatts>))| {
        let path = zone.path(&format!("constraint_{number}_power_limit_uw"));
        // No power at all for long stops a processor, and only the zone itself can mean it. Other limits are off at 0.
        let may_be_zero = number == 0 && !zone.is_memory_mapped();
        let power = power.filter(|it| it.0 > 0 || may_be_zero)?;
        Some(Limit {
            package: zone.name.clone(),
            name,
            power,
            design,
            cpus: CpuSet::default(),
            leader,
            level: 0,
            command: highest(number).map(|it| format!("{} > {path}", it.0)),
            lasting: FIND_OUT,
            evidence: vec![
                (path, power.0.to_string()),
                (zone.path("constraint_0_max_power_uw"), design.0.to_string()),
            ],
        })
    };
    let limits: Vec<Limit> = limits.filter_map(limit).collect();
    if *zone.enabled.as_ref()? {
        return Ok(limits);
    }
    // Switched off, or locked and in force: the register would tell.
    let is_low = limits.iter().any(Limit::is_far_below);
    match registers {
        Some(Err(missing)) if is_low && !zone.is_memory_mapped() => Err(missing.clone()),
        _ => Ok(Vec::new()),
    }
}

fn no_design_power(path: &str) -> Missing {
    Missing::not_here(path, "the processor states no design power")
}
