//! Registers from the debug output of turbostat.

use host::Answers;

/// Names that turbostat prints, with addresses from arch/x86/include/asm/msr-index.h.
const REGISTERS: [(&str, u32); 24] = [
    ("MSR_PLATFORM_INFO", 0xce),
    ("MSR_PKG_CST_CONFIG_CONTROL", 0xe2),
    ("MSR_IA32_THERM_STATUS", 0x19c),
    ("MSR_IA32_MISC_ENABLE", 0x1a0),
    ("MSR_IA32_TEMPERATURE_TARGET", 0x1a2),
    ("MSR_MISC_PWR_MGMT", 0x1aa),
    ("MSR_TURBO_RATIO_LIMIT", 0x1ad),
    ("MSR_IA32_PACKAGE_THERM_STATUS", 0x1b1),
    ("MSR_IA32_POWER_CTL", 0x1fc),
    ("MSR_VR_CURRENT_CONFIG", 0x601),
    ("MSR_RAPL_POWER_UNIT", 0x606),
    ("MSR_PKG_POWER_LIMIT", 0x610),
    ("MSR_PKG_POWER_INFO", 0x614),
    ("MSR_CONFIG_TDP_NOMINAL", 0x648),
    ("MSR_CONFIG_TDP_LEVEL_1", 0x649),
    ("MSR_CONFIG_TDP_LEVEL_2", 0x64a),
    ("MSR_CONFIG_TDP_CONTROL", 0x64b),
    ("MSR_TURBO_ACTIVATION_RATIO", 0x64c),
    ("MSR_PM_ENABLE", 0x770),
    ("MSR_HWP_CAPABILITIES", 0x771),
    ("MSR_HWP_REQUEST_PKG", 0x772),
    ("MSR_HWP_REQUEST", 0x774),
    ("MSR_HWP_STATUS", 0x777),
    ("MSR_RAPL_PWR_UNIT", 0xc001_0299),
];

/// `cpu0: MSR_IA32_POWER_CTL: 0x00e4005b (C1E auto-promotion: ENabled)`.
pub(super) fn import(answers: &mut Answers, text: &str) {
    for (cpu, register, value) in text.lines().filter_map(register) {
        answers.msr(cpu, register, value);
    }
}

fn register(line: &str) -> Option<(u32, u32, u64)> {
    let (cpu, rest) = line.strip_prefix("cpu")?.split_once(": ")?;
    let (name, rest) = rest.split_once(": ")?;
    let (_, address) = REGISTERS.iter().find(|(it, _)| *it == name)?;
    let digits = rest.split_whitespace().next()?.strip_prefix("0x")?;
    Some((cpu.parse().ok()?, *address, u64::from_str_radix(digits, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::register;

    #[test]
    fn only_lines_with_a_known_register_and_a_value_count() {
        let line = "cpu0: MSR_IA32_POWER_CTL: 0x00e4005b (C1E auto-promotion: ENabled)";
        assert_eq!(register(line), Some((0, 0x1fc, 0xe4_005b)));
        assert_eq!(register("cpu0: MSR_PP0_POLICY: 9"), None);
        assert_eq!(register("cpu0: EPB: 7 (custom)"), None);
        assert_eq!(register("25 * 100.0 = 2500.0 MHz base frequency"), None);
    }
}
