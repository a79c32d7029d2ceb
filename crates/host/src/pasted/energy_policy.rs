//! Energy biases and HWP requests from the output of x86_energy_perf_policy.
//!
//! Source: tools/power/x86/x86_energy_perf_policy/x86_energy_perf_policy.c, print_hwp_cap and print_hwp_request; the registers are those
//! of SDM vol. 3B, 16.4.

use super::Facts;
use crate::Answers;

const HWP_ENABLE: u32 = 0x770;
const HWP_CAPABILITIES: u32 = 0x771;
const HWP_REQUEST: u32 = 0x774;

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut first = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_told = if let Some((cpu, bias)) = bias(line) {
            facts.line(&path(cpu), bias);
            facts.vendor("GenuineIntel");
            facts.processor.flags.insert("epb".to_owned());
            facts.sees(cpu)
        } else if let Some((cpu, register, value)) = request(line) {
            // The program prints both where HWP is enabled.
            facts.processor.flags.insert("hwp_epp".to_owned());
            facts.register(cpu, HWP_ENABLE, 1) && facts.register(cpu, register, value)
        } else {
            false
        };
        if is_told {
            first.get_or_insert(at);
        }
    }
    first
}

/// `cpu0: EPB 7`.
pub fn import(answers: &mut Answers, text: &str) {
    for (cpu, bias) in text.lines().filter_map(bias) {
        answers.file(&path(cpu), format!("{bias}\n"));
    }
}

fn path(cpu: u32) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/power/energy_perf_bias")
}

fn bias(line: &str) -> Option<(u32, u8)> {
    let (cpu, bias) = line.strip_prefix("cpu")?.split_once(": EPB ")?;
    Some((cpu.parse().ok()?, bias.trim().parse().ok()?))
}

/// `cpu0: HWP_CAP: low 1 eff 8 guar 21 high 40` and `cpu0: HWP_REQ: min 8 max 40 des 0 epp 128 window 0x0 (0*10^0us) use_pkg 0`.
fn request(line: &str) -> Option<(u32, u32, u64)> {
    let (cpu, rest) = line.strip_prefix("cpu")?.split_once(": HWP_")?;
    let (kind, rest) = rest.split_once(": ")?;
    let word = |name: &str| {
        let mut words = rest.split_whitespace().skip_while(|it| *it != name).skip(1);
        words.next()?.parse::<u64>().ok().filter(|it| *it < 256)
    };
    let (register, value) = match kind {
        "CAP" => (
            HWP_CAPABILITIES,
            word("high")? | word("guar")? << 8 | word("eff")? << 16 | word("low")? << 24,
        ),
        "REQ" => (
            HWP_REQUEST,
            word("min")? | word("max")? << 8 | word("des")? << 16 | word("epp")? << 24,
        ),
        _ => return None,
    };
    Some((cpu.parse().ok()?, register, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_a_bias_count() {
        assert_eq!(bias("cpu12: EPB 7"), Some((12, 7)));
        assert_eq!(bias("cpu12: HWP_CAP: low 1 eff 21 guar 27 high 60"), None);
        assert_eq!(bias("pkg0: MSR_HWP_STATUS: 0x00000000"), None);
    }

    #[test]
    fn requests_are_registers() {
        assert_eq!(
            request("cpu2: HWP_CAP: low 1 eff 8 guar 21 high 40"),
            Some((2, 0x771, 0x0108_1528))
        );
        let line = "cpu2: HWP_REQ: min 8 max 40 des 0 epp 128 window 0x0 (0*10^0us) use_pkg 0";
        assert_eq!(request(line), Some((2, 0x774, 0x8000_2808)));
        assert_eq!(request("cpu2: HWP_REQ: min 8"), None);
        assert_eq!(request("pkg0: HWP_REQ_PKG: min 1 max 255 des 0 epp 128"), None);
    }
}
