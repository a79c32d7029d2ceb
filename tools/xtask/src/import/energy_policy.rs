//! Energy biases from the output of x86_energy_perf_policy.

use host::Answers;

/// `cpu0: EPB 7`.
pub(super) fn import(answers: &mut Answers, text: &str) {
    for (cpu, bias) in text.lines().filter_map(bias) {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/power/energy_perf_bias");
        answers.file(&file, format!("{bias}\n"));
    }
}

fn bias(line: &str) -> Option<(u32, u8)> {
    let (cpu, bias) = line.strip_prefix("cpu")?.split_once(": EPB ")?;
    Some((cpu.parse().ok()?, bias.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::bias;

    #[test]
    fn only_lines_with_a_bias_count() {
        assert_eq!(bias("cpu12: EPB 7"), Some((12, 7)));
        assert_eq!(bias("cpu12: HWP_CAP: low 1 eff 21 guar 27 high 60"), None);
        assert_eq!(bias("pkg0: MSR_HWP_STATUS: 0x00000000"), None);
    }
}
