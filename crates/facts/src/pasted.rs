//! Outputs of other programs that people paste: which are known, and how their text is cleaned before it is read.

/// An output that is recognised by its shape.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    /// The command, a colon, and what its output shows.
    pub what: &'static str,
    /// Ids of the checks that judge what it shows.
    pub checks: &'static [&'static str],
    /// What it does not tell, to end a sentence that begins with "It does not tell".
    pub untold: &'static str,
}

impl Output {
    /// The command that prints it: `cpupower frequency-info`.
    pub fn command(&self) -> &'static str {
        self.what.split(": ").next().unwrap_or(self.what)
    }

    /// What it shows, without the command.
    pub fn shows(&self) -> &'static str {
        self.what.split_once(": ").map_or(self.what, |it| it.1)
    }
}

/// Checks of the registers of Intel's and AMD's processors.
const REGISTERS: &[&str] = &[
    "prochot-asserted",
    "clock-modulation",
    "low-power-limit",
    "capped-frequency",
    "turbo-off",
    "power-saving-bias",
    "turbo-headroom-lost",
    "thermal-throttling",
];

/// perftest's line.
pub const PERFTEST: Output = Output {
    what: "perftest: the CPUs report different clocks",
    checks: &["slow-governor", "capped-frequency", "mixed-frequency-settings", "clock-modulation"],
    untold: "whether the CPUs were busy",
};

/// Rows of turbostat.
pub const TURBOSTAT: Output = Output {
    what: "turbostat: how busy the CPUs were, and how fast while busy",
    checks: &[
        "slow-governor",
        "turbo-off",
        "clock-modulation",
        "prochot-asserted",
        "turbo-headroom-lost",
    ],
    untold: "who lowered the clock",
};

/// The lines of registers that turbostat prints first.
pub const TURBOSTAT_REGISTERS: Output = Output {
    what: "turbostat --debug: registers of the processor",
    checks: REGISTERS,
    untold: "the governor and the limits of Linux, and what the registers held at another time",
};

/// `cpupower frequency-info`, and `cpufreq-info` before it.
pub const FREQUENCY_INFO: Output = Output {
    what: "cpupower frequency-info: driver, limits and governor of the CPUs",
    checks: &[
        "slow-governor",
        "capped-frequency",
        "turbo-off",
        "mixed-frequency-settings",
        "no-frequency-driver",
        "clock-not-delivered",
    ],
    untold: "the limits of the firmware, heat and power, and those of CPUs that it does not show (`-c all` shows all)",
};

/// `cpupower idle-info`.
pub const IDLE_INFO: Output = Output {
    what: "cpupower idle-info: driver, governor and states of cpuidle",
    checks: &["no-idle-driver", "slow-idle-governor", "turbo-headroom-lost"],
    untold: "which latency programs request, and what the firmware makes of a state",
};

/// `rdmsr`.
pub const RDMSR: Output = Output {
    what: "rdmsr: a register of the processor",
    checks: REGISTERS,
    untold: "the processor's model, without which some bits have no meaning (paste `lscpu` with it)",
};

/// `lscpu`.
pub const LSCPU: Output = Output {
    what: "lscpu: the processor, its CPUs, and the range of its clock",
    checks: &[
        "turbo-off",
        "capped-frequency",
        "offline-cpus",
        "clock-below-minimum",
        "mixed-frequency-settings",
    ],
    untold: "the governor and limits of Linux, heat and power; its clock is that of one CPU at one moment",
};

/// `perf stat`.
pub const PERF_STAT: Output = Output {
    what: "perf stat: cycles, and the time on the CPU that they took",
    checks: &["slow-governor", "capped-frequency", "turbo-off", "clock-not-delivered"],
    untold: "the nominal clock, and who lowered it",
};

/// `ipmitool dcmi power reading`.
pub const POWER_READING: Output = Output {
    what: "ipmitool dcmi power reading: the power of the board",
    checks: &["bmc-power-cap"],
    untold: "whether a limit is set (`ipmitool dcmi power get_limit`)",
};

/// `ipmitool dcmi power get_limit`.
pub const POWER_LIMIT: Output = Output {
    what: "ipmitool dcmi power get_limit: the power limit of the management controller",
    checks: &["bmc-power-cap"],
    untold: "limits that are set in another way (a chassis, power supplies, the processor's own)",
};

/// `ipmitool sel list` and `elist`, also with `-c`.
pub const EVENT_LOG: Output = Output {
    what: "ipmitool sel: the log of the management controller",
    checks: &["prochot-asserted", "thermal-throttling", "bmc-power-cap"],
    untold: "what the processor does now",
};

/// `ipmitool sensor` and `sdr`.
pub const CONTROLLER_SENSORS: Output = Output {
    what: "ipmitool sensor: sensors of the management controller",
    checks: &["prochot-asserted", "thermal-throttling", "bmc-power-cap"],
    untold: "whether the processor has lowered its clock",
};

/// `sensors` of lm-sensors.
pub const SENSORS: Output = Output {
    what: "sensors: temperatures and voltages",
    checks: &["thermal-throttling", "prochot-asserted", "undervoltage"],
    untold: "whether the processor has lowered its clock, and how hot it was at another time",
};

/// `ibstat` and `ibstatus`.
pub const IBSTAT: Output = Output {
    what: "ibstat: InfiniBand ports",
    checks: &["infiniband-link-degraded"],
    untold: "errors on the wire (`perfquery`), and what cable and switch can do",
};

/// `ethtool INTERFACE`.
pub const ETHTOOL: Output = Output {
    what: "ethtool: an Ethernet link",
    checks: &["ethernet-link-degraded"],
    untold: "the slot of the adapter, errors on the wire (`ethtool -S`), and on which CPUs its interrupts are",
};

/// `lspci -vv`.
pub const LSPCI: Output = Output {
    what: "lspci -vv: links of PCI Express",
    checks: &["pcie-link-degraded", "slot-narrower-than-ports"],
    untold: "what the wires of an adapter need",
};

/// `vmstat`.
pub const VMSTAT: Output = Output {
    what: "vmstat: what the CPUs did",
    checks: &["stolen-time"],
    untold: "the clock that they did it at",
};

/// `/proc/pressure/*`.
pub const PRESSURE: Output = Output {
    what: "/proc/pressure: how long tasks waited for CPU, memory and disks",
    checks: &["cgroup-quota-throttling", "stolen-time"],
    untold: "who waited, and at which clock the CPUs ran",
};

/// `cpu.stat` of a control group.
pub const CPU_STAT: Output = Output {
    what: "cpu.stat: how often a CPU quota has stopped a control group",
    checks: &["cgroup-quota-throttling"],
    untold: "the quota itself (`cpu.max`), and who is in the group",
};

/// Rows of `ps`.
pub const PS: Output = Output {
    what: "ps: threads of the kernel, and the CPU time that they took",
    checks: &["busy-kernel-threads", "kipmid-busy"],
    untold: "what they do now: the times are since each started",
};

/// Rows of `top`.
pub const TOP: Output = Output {
    what: "top: what takes CPU time at this moment",
    checks: &["busy-kernel-threads", "kipmid-busy", "stolen-time"],
    untold: "how long it has been so",
};

/// `xenpm get-cpufreq-para`.
pub const XENPM_FREQUENCY: Output = Output {
    what: "xenpm get-cpufreq-para: governor and limits of Xen",
    checks: &["slow-governor", "capped-frequency", "power-saving-bias", "turbo-off"],
    untold: "heat and power; a guest or Dom0 can change none of it by files of Linux",
};

/// `xenpm get-cpuidle-states`.
pub const XENPM_IDLE: Output = Output {
    what: "xenpm get-cpuidle-states: idle states of Xen",
    checks: &["turbo-headroom-lost"],
    untold: "the governor and the clock (`xenpm get-cpufreq-para`)",
};

/// `tuned-adm active`, `profile` and `verify`.
pub const TUNED: Output = Output {
    what: "tuned-adm: the profile of TuneD",
    checks: &["rival-tuner", "slow-governor", "power-saving-bias"],
    untold: "whether the settings are as the profile set them (`tuned-adm verify`)",
};

/// `x86_energy_perf_policy`.
pub const ENERGY_POLICY: Output = Output {
    what: "x86_energy_perf_policy: hints and requests to the hardware that chooses the clock",
    checks: &["power-saving-bias", "capped-frequency"],
    untold: "the limits of Linux and of the firmware",
};

/// Every output that is known beside the kernel's log, in the order of the documentation.
pub const OUTPUTS: &[&Output] = &[
    &TURBOSTAT,
    &TURBOSTAT_REGISTERS,
    &FREQUENCY_INFO,
    &IDLE_INFO,
    &ENERGY_POLICY,
    &TUNED,
    &RDMSR,
    &LSCPU,
    &PERF_STAT,
    &POWER_READING,
    &POWER_LIMIT,
    &EVENT_LOG,
    &CONTROLLER_SENSORS,
    &SENSORS,
    &IBSTAT,
    &ETHTOOL,
    &LSPCI,
    &PERFTEST,
    &VMSTAT,
    &PRESSURE,
    &CPU_STAT,
    &PS,
    &TOP,
    &XENPM_FREQUENCY,
    &XENPM_IDLE,
];

/// A pasted text as the program printed it: without colours and other sequences of terminals, with newlines alone.
pub fn cleaned(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match it {
            '\u{1b}' => skip_sequence(&mut rest),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => cleaned.push('\n'),
            '\u{a0}' | '\u{202f}' => cleaned.push(' '),
            '\u{feff}' | '\0' => {}
            it => cleaned.push(it),
        }
    }
    cleaned
}

/// Skips the rest of an escape sequence (ECMA-48): `[` up to a letter, `]` up to a bell, else one character.
fn skip_sequence(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    /// A sequence that was cut does not swallow the text behind it.
    const LONGEST: usize = 64;
    let ends: fn(char) -> bool = match rest.peek() {
        Some('[') => |it| ('@'..='~').contains(&it),
        Some(']') => |it| it == '\u{7}',
        _ => {
            rest.next();
            return;
        }
    };
    rest.next();
    for _ in 0..LONGEST {
        match rest.peek() {
            None | Some('\n') => return,
            Some(_) => {}
        }
        if rest.next().is_some_and(ends) {
            return;
        }
    }
}

/// The command in a line with a prompt: `$ rdmsr 0x1b1`, `root@db7:~# rdmsr 0x1b1`, `[root@db7 ~]# sudo rdmsr 0x1b1`; a `sudo` is left out.
pub fn command(line: &str) -> Option<&str> {
    let line = line.trim();
    let (before, command) = line.split_once(['$', '#'])?;
    let is_prompt = before.is_empty() || before.ends_with([']', '~', ' ']) || before.contains('@');
    let command =
        command.strip_prefix(' ').or_else(|| before.is_empty().then_some(command))?.trim();
    let command = command.strip_prefix("sudo ").unwrap_or(command).trim_start();
    (is_prompt && !command.is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_carriage_returns_are_left_out() {
        let text = "\u{1b}[1;31mCPU0\u{1b}[0m: hot\r\n\u{1b}]0;title\u{7}next\rline\0";
        assert_eq!(cleaned(text), "CPU0: hot\nnext\nline");
        assert_eq!(cleaned("cut \u{1b}[31\nnext"), "cut \nnext");
        assert_eq!(cleaned("end \u{1b}"), "end ");
    }

    #[test]
    fn a_command_stands_behind_a_prompt() {
        for line in [
            "$ rdmsr 0x1b1",
            "# rdmsr 0x1b1",
            "root@db7:~# rdmsr 0x1b1",
            "[root@db7 ~]# sudo rdmsr 0x1b1",
        ] {
            assert_eq!(command(line), Some("rdmsr 0x1b1"), "{line}");
        }
        assert_eq!(command("cost is 5$ a day"), None);
        assert_eq!(command("rdmsr 0x1b1"), None);
        assert_eq!(command("$"), None);
    }

    #[test]
    fn every_output_has_a_command_and_says_what_it_shows() {
        for output in OUTPUTS {
            assert!(output.shows() != output.what && !output.untold.ends_with('.'), "{output:?}");
            assert!(!output.checks.is_empty(), "{output:?}");
        }
    }
}
