//! Registers from what turbostat prints before its table.
//!
//! Source: tools/power/x86/turbostat/turbostat.c. Releases up to Linux 4.x print the model behind the maker, later ones in a line of its own.

use super::Facts;
use crate::Answers;

/// Names that turbostat prints, with addresses from arch/x86/include/asm/msr-index.h.
const REGISTERS: [(&str, u32); 26] = [
    ("MSR_PLATFORM_INFO", 0xce),
    ("MSR_PKG_CST_CONFIG_CONTROL", 0xe2),
    ("MSR_NHM_PLATFORM_INFO", 0xce),
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
    ("MSR_CORE_PERF_LIMIT_REASONS", 0x690),
    ("MSR_PM_ENABLE", 0x770),
    ("MSR_HWP_CAPABILITIES", 0x771),
    ("MSR_HWP_REQUEST_PKG", 0x772),
    ("MSR_HWP_REQUEST", 0x774),
    ("MSR_HWP_STATUS", 0x777),
    ("MSR_RAPL_PWR_UNIT", 0xc001_0299),
];

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut first = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some((cpu, address, value)) = register(line)
            && facts.register(cpu, address, value)
        {
            first.get_or_insert(at);
        }
    }
    if first.is_some() {
        text.lines().for_each(|line| processor(line.trim(), facts));
    }
    first
}

/// What the lines of CPUID say.
fn processor(line: &str, facts: &mut Facts) {
    if let Some(rest) = line.strip_prefix("CPUID(0): ") {
        facts.processor.vendor = rest.split_whitespace().next().map(str::to_owned);
    }
    if let Some((_, rest)) = line.split_once("family:model:stepping ")
        && facts.processor.model.is_none()
    {
        // `0x6:9e:9 (6:158:9)`: in hexadecimal, then in decimal.
        let decimal = rest.split_once('(').and_then(|it| it.1.split_once(')')).map(|it| it.0);
        let mut numbers = decimal.unwrap_or_default().split(':').map(str::to_owned);
        facts.processor.model =
            numbers.next().zip(numbers.next()).zip(numbers.next()).map(|((a, b), c)| (a, b, c));
    }
    if line.starts_with("CPUID(1): ") && line.split_whitespace().any(|it| it == "ACPI-TM") {
        facts.processor.flags.insert("acpi".to_owned());
    }
    if let Some(rest) = line.strip_prefix("CPUID(6): ") {
        let flags = [
            ("TURBO", "ida"),
            ("DTS", "dtherm"),
            ("PTM", "pts"),
            ("HWP", "hwp"),
            ("EPB", "epb"),
            ("APERF", "aperfmperf"),
        ];
        for word in rest.split(',').map(str::trim) {
            let flag = flags.iter().find(|(name, _)| *name == word);
            facts.processor.flags.extend(flag.map(|it| it.1.to_owned()));
        }
        facts.answers.insert("cpuid 0x6 0x0".to_owned(), Ok(leaf(rest).into_bytes()));
    }
}

/// The words of leaf 6 as far as the line names their bits (SDM vol. 2A, CPUID.06H).
fn leaf(names: &str) -> String {
    const EAX: [(&str, u32); 8] = [
        ("DTS", 0),
        ("TURBO", 1),
        ("PTM", 6),
        ("HWP", 7),
        ("HWPnotify", 8),
        ("HWPwindow", 9),
        ("HWPepp", 10),
        ("HWPpkg", 11),
    ];
    const ECX: [(&str, u32); 2] = [("APERF", 0), ("EPB", 3)];
    let has = |name: &str| names.split(',').any(|it| it.trim() == name);
    let word = |bits: &[(&str, u32)]| {
        bits.iter().filter(|(name, _)| has(name)).fold(0_u32, |word, (_, bit)| word | 1 << bit)
    };
    format!("{:#x} 0x0 {:#x} 0x0\n", word(&EAX), word(&ECX))
}

/// `cpu0: MSR_IA32_POWER_CTL: 0x00e4005b (C1E auto-promotion: ENabled)`.
pub fn import(answers: &mut Answers, text: &str) {
    for (cpu, register, value) in text.lines().filter_map(register) {
        answers.msr(cpu, register, value);
    }
}

fn register(line: &str) -> Option<(u32, u32, u64)> {
    let (cpu, rest) = line.strip_prefix("cpu")?.split_once(": ")?;
    // `MSR_CORE_PERF_LIMIT_REASONS, 0x0` has a comma.
    let (name, rest) = rest.split_once([':', ','])?;
    let (_, address) = REGISTERS.iter().find(|(it, _)| *it == name)?;
    let digits = rest.split_whitespace().next()?.strip_prefix("0x")?;
    Some((cpu.parse().ok()?, *address, u64::from_str_radix(digits, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_a_known_register_and_a_value_count() {
        let line = "cpu0: MSR_IA32_POWER_CTL: 0x00e4005b (C1E auto-promotion: ENabled)";
        assert_eq!(register(line), Some((0, 0x1fc, 0xe4_005b)));
        let line = "cpu3: MSR_CORE_PERF_LIMIT_REASONS, 0x08000800 (Active: ) (Logged: Amps, )";
        assert_eq!(register(line), Some((3, 0x690, 0x0800_0800)));
        assert_eq!(register("cpu0: MSR_PP0_POLICY: 9"), None);
        assert_eq!(register("cpu0: EPB: 7 (custom)"), None);
        assert_eq!(register("25 * 100.0 = 2500.0 MHz base frequency"), None);
    }

    #[test]
    fn the_leaf_has_the_bits_that_are_named() {
        assert_eq!(leaf("APERF, TURBO, DTS, PTM, No-HWP, EPB"), "0x43 0x0 0x9 0x0\n");
    }
}
