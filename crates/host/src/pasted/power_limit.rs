//! `ipmitool dcmi power get_limit` and `power reading` as the answers of the controller.
//!
//! Source: ipmitool, lib/ipmi_dcmi.c, ipmi_dcmi_pwr_glimit and ipmi_dcmi_pwr_rd; it prints the data of Get Power Limit also where no limit is
//! active.

use super::{Facts, number, value};
use facts::ipmi::{DcmiCapabilities, PowerLimit, PowerReading, Question, digits};

/// The completion codes of a command that was carried out, and of a controller without an active limit.
const DONE: u8 = 0;
const NO_LIMIT: u8 = 0x80;
const DCMI: u8 = 0xdc;

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let field = |key: &str| text.lines().find_map(|line| value(line, key));
    let state = field("Current Limit State")?;
    let first = text.lines().position(|it| value(it, "Current Limit State").is_some())?;
    let code = match state {
        "Power Limit Active" => DONE,
        "No Active Power Limit" => NO_LIMIT,
        _ => return None,
    };
    let watts = u16::try_from(field("Power Limit").and_then(number)?).ok()?;
    let correction = field("Correction time").and_then(number).unwrap_or(0);
    let sampling = field("Sampling period").and_then(number).unwrap_or(0);
    let action: u8 = match field("Exception actions").unwrap_or_default() {
        it if it.starts_with("Hard Power Off") => 0x01,
        it if it.contains("Log Event") => 0x11,
        _ => 0x00,
    };
    let mut answer = vec![code, DCMI, 0, 0, action];
    answer.extend(watts.to_le_bytes());
    answer.extend(correction.to_le_bytes());
    answer.extend([0, 0]);
    answer.extend(u16::try_from(sampling).unwrap_or(u16::MAX).to_le_bytes());
    manages_power(facts);
    tell(facts, &PowerLimit::question(), &answer);
    Some(first)
}

pub(super) fn read_power(text: &str, facts: &mut Facts) -> Option<usize> {
    const CURRENT: &str = "Instantaneous power reading";
    const IS_ACTIVE: u8 = 1 << 6;
    let watts = |key: &str| {
        let number = text.lines().find_map(|line| value(line, key)).and_then(number)?;
        u16::try_from(number).ok()
    };
    let first = text.lines().position(|it| value(it, CURRENT).is_some())?;
    let mut answer = vec![DONE, DCMI];
    for key in [
        CURRENT,
        "Minimum during sampling period",
        "Maximum during sampling period",
        "Average power reading over sample period",
    ] {
        answer.extend(watts(key).or_else(|| watts(CURRENT))?.to_le_bytes());
    }
    // The time is the controller's, and no check looks at it.
    answer.extend([0; 4]);
    let seconds =
        text.lines().find_map(|line| value(line, "Sampling period")).and_then(number).unwrap_or(1);
    answer.extend(seconds.saturating_mul(1000).to_le_bytes());
    let is_active =
        text.lines().find_map(|line| value(line, "Power reading state is")) != Some("deactivated");
    answer.push(if is_active { IS_ACTIVE } else { 0 });
    manages_power(facts);
    tell(facts, &PowerReading::question(), &answer);
    Some(first)
}

/// Version 1.5 with power management: else it would not have answered.
fn manages_power(facts: &mut Facts) {
    tell(facts, &DcmiCapabilities::question(), &[DONE, DCMI, 1, 5, 2, 0, 1, 0]);
}

fn tell<T>(facts: &mut Facts, question: &Question<T>, answer: &[u8]) {
    facts.line(&question.path(), digits(answer));
}
