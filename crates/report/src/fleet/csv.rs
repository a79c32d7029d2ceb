//! The slow machines as CSV.

use super::{Report, words};
use crate::harmless::csv_line;

/// A line for each slow machine (RFC 4180 with Unix line ends), the worst first. What explains none is empty.
pub fn csv(report: &Report<'_>) -> String {
    let mut text = "machine,peers,value,typical,lost,standard_deviations,explained_by\n".to_owned();
    let answer = report.answer;
    for it in &answer.slow {
        let group = answer.groups.get(it.group);
        let explanation = it.explained_by.and_then(|at| answer.explanations.get(at));
        text += &csv_line(&[
            report.name(it.machine).unwrap_or_default().to_owned(),
            group.map_or_else(String::new, |it| words::group(report, it)),
            report.own(it.value).to_string(),
            group.map_or_else(String::new, |it| report.own(it.centre).to_string()),
            it.lost.to_string(),
            it.spreads.to_string(),
            explanation.map_or_else(String::new, |it| words::attributes(&it.attributes)),
        ]);
    }
    text
}
