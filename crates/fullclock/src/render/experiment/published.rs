//! What a published table says, as text for a terminal, and as JSON.

use super::polling_under_load::loaded;
use crate::output::Style;
use crate::render::json::pretty;
use crate::render::page::{BOLD, Page};
use lab::experiment::published::{
    KipmidRow, KipmidTable, ModelledLoop, OutOfOrder, Published, TurboTable,
};
use serde_json::{Result, json};

/// How wide what a paragraph is about is.
pub(super) const LABEL: usize = 16;

/// As text.
pub(crate) fn published(table: &Published, style: Style) -> String {
    let mut page = Page::new(style);
    match table {
        Published::Turbo(table) => turbo(&mut page, table),
        Published::Kipmid(table) => kipmid(&mut page, table),
        Published::KipmidLoaded(table) => loaded(&mut page, table),
    }
    page.finish()
}

/// As JSON.
pub(crate) fn published_json(table: &Published) -> Result<String> {
    pretty(&json!({ "schema_version": 1, "published": table }))
}

fn turbo(page: &mut Page, table: &TurboTable) {
    page.painted_paragraph(BOLD, &clock(table));
    if let Some(limited) = &table.limited_to_c1 {
        let defaults = limited
            .slower_than_defaults
            .map_or_else(String::new, |it| format!(" ({:.0} % against the defaults)", it * 100.0));
        let (low, high) = limited.ghz;
        page.labelled(LABEL, "  C1 only", &format!(
            "{} costs {:.0} % against {}{defaults}: the busy core runs at {low:.2} GHz instead of {high:.2}, since idle cores that stay in C1 leave \
             it no turbo headroom.",
            limited.setting,
            limited.slower * 100.0,
            limited.against
        ));
    }
    page.line("");
    page.line("  elapsed  slower      clock      cycles  setting");
    for row in &table.rows {
        let cycles = row.busy_ghz.map(|it| format!("{:.1} G", it * row.elapsed_s));
        let ghz = row.busy_ghz.map(|it| format!("{it:.2} GHz"));
        page.line(&format!(
            "{:>7.2} s {:>6.1} % {:>10} {:>11}  {}",
            row.elapsed_s,
            row.slower * 100.0,
            ghz.unwrap_or_else(|| "-".to_owned()),
            cycles.unwrap_or_else(|| "-".to_owned()),
            row.setting
        ));
    }
    if !table.has_repeats {
        page.line("");
        page.labelled(LABEL, "  doubt", ONE_RUN);
    }
}

/// The doubt of every published table without repetitions.
pub(super) const ONE_RUN: &str = "one run of each setting: how much two runs of one differ is not known, so no difference has an interval";

fn clock(table: &TurboTable) -> String {
    let cycles = table.cycles.map_or_else(String::new, |(low, high)| {
        format!(": every setting took {low:.1} to {high:.1} thousand million cycles")
    });
    if table.clock_explains {
        format!("The clock explains the difference{cycles}.")
    } else {
        format!("The clock does not explain the difference{cycles}.")
    }
}

fn kipmid(page: &mut Page, table: &KipmidTable) {
    let row = |at: usize| table.rows.get(at);
    let knee = table.knee_without_outliers.or(table.knee).and_then(row);
    page.painted_paragraph(BOLD, &knee.map_or_else(
        || "No setting stands out: each takes less time only for more CPU.".to_owned(),
        |it| format!(
            "The knee is {}: {:.0} s, {:.2} times the default, at {:.0} % of a CPU. Shorter limits cost much time for little \
             CPU, longer ones much CPU for little time.",
            it.setting, it.elapsed_s, it.elapsed_relative, it.busy_percent
        ),
    ));
    if let Some(at_table) = table.knee.and_then(row)
        && knee.is_some_and(|it| it != at_table)
    {
        page.labelled(
            LABEL,
            "  knee",
            &format!("with the outlier below taken as it is, it would be {}", at_table.setting),
        );
    }
    if let Some(busiest) = table.blind.first().copied().and_then(row) {
        let ticks = table.blind_up_to.map_or_else(String::new, |(unseen, seen)| {
            format!(": a thread that polls for {unseen:.0} us at a time is never met by a tick, one of {seen:.0} us is")
        });
        page.labelled(
            LABEL,
            "  ps is blind",
            &format!(
                "it says 0 % of {} settings, while the CPU was up to {:.0} % busy ({}){ticks}",
                table.blind.len(),
                busiest.busy_percent,
                busiest.setting
            ),
        );
    }
    for found in &table.out_of_order {
        if let Some(row) = row(found.row) {
            page.labelled(LABEL, label(found), &expected(found, row));
        }
    }
    if let Some(found) = &table.polling_loop {
        page.labelled(LABEL, "  model", &modelled(found));
    }
    polling_rows(page, table);
    page.line("");
    page.labelled(LABEL, "  doubt", ONE_RUN);
}

fn modelled(found: &ModelledLoop) -> String {
    let ModelledLoop { handshakes, handshake_us, n_questions, farthest, .. } = found;
    format!(
        "{:.0} thousand questions of {handshakes} handshakes, {handshake_us:.0} us each on average, and a wait for the answer as long as was \
         published beside the table, driven as kernels before 5.4 do with 1000 ticks a second, give each elapsed time within {:.0} %; \
         these three numbers are found from the table, and shares of a CPU are of the thread alone",
        n_questions / 1e3,
        farthest * 100.0
    )
}

/// What was measured, and what the model makes of it.
fn polling_rows(page: &mut Page, table: &KipmidTable) {
    let model = table.polling_loop.as_ref();
    page.line("");
    let heading = if model.is_some() { "    model    busy" } else { "" };
    page.line(&format!("  elapsed  relative    ps    busy{heading}  setting"));
    for (place, row) in table.rows.iter().enumerate() {
        let predicted = model.map(|it| it.rows.get(place).copied().flatten()).map(|it| match it {
            Some(it) => format!("{:>7.0} s {:>5.1} %", it.elapsed_s, it.busy_percent),
            None => format!("{:>9} {:>7}", "-", "-"),
        });
        page.line(&format!(
            "{:>7.0} s {:>9.2} {:>3.0} % {:>5.1} %{}  {}",
            row.elapsed_s,
            row.elapsed_relative,
            row.ps_percent,
            row.busy_percent,
            predicted.unwrap_or_default(),
            row.setting
        ));
    }
}

fn label(found: &OutOfOrder) -> &'static str {
    if found.is_outlier { "  outlier" } else { "  out of order" }
}

/// What the rows beside it let expect.
fn expected(found: &OutOfOrder, row: &KipmidRow) -> String {
    let range = match (found.at_least, found.at_most) {
        (Some(low), Some(high)) => format!("{low:.0} to {high:.0} %"),
        (Some(low), None) => format!("{low:.0} % or more"),
        (None, Some(high)) => format!("{high:.0} % or less"),
        (None, None) => return format!("{}: {:.1} % busy", row.setting, row.busy_percent),
    };
    format!(
        "{}: {:.1} % busy, where the limits beside it let expect {range}",
        row.setting, row.busy_percent
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::output::Style;
    use lab::experiment::published::from_csv;

    pub(in crate::render::experiment) fn text(csv: &str) -> String {
        let text = published(&from_csv(csv).unwrap(), Style { color: false, width: 80 });
        assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_table_of_clocks_says_what_the_clock_explains_and_what_shallow_idle_costs() {
        let text = text(
            "setting,elapsed_s,busy_percent,busy_ghz,tsc_ghz,deepest_idle_state\n\
             max_cstate=3,7.97,99.94,3.45,2.69,C6\nmax_cstate=1,9.00,92.89,3.09,2.69,C1\n",
        );
        assert!(
            text.starts_with("The clock explains the difference: every setting took 27.5 to 27.8"),
            "{text}"
        );
        assert!(
            text.contains(
                "max_cstate=1 costs 13 % against max_cstate=3: the busy core runs at 3.09 GHz"
            ),
            "{text}"
        );
        assert!(text.contains("one run of each setting"), "{text}");
    }

    #[test]
    fn a_table_of_polling_with_enough_limits_stands_beside_a_model_of_the_loop() {
        let text = text(include_str!("../../../../lab/fixtures/published-kipmid.csv"));
        assert!(text.contains("elapsed relative ps busy model busy setting"), "{text}");
        assert!(text.contains("0.0 % force_kipmid=0"), "{text}");
        assert!(text.contains("give each elapsed time within 9 %"), "{text}");
    }

    #[test]
    fn a_table_of_polling_names_the_knee_and_what_ps_does_not_see() {
        let text = text(
            "setting,elapsed_s,elapsed_relative,kipmid_cpu_percent_ps,cpu_busy_cycles_percent\n\
             default,22,1,32,103.15\nkipmid_max_busy=500,24,1.09,0,69.44\n\
             kipmid_max_busy=100,68,3.09,0,17.87\nkipmid_max_busy=10,213,9.68,0,13.19\n",
        );
        assert!(
            text.starts_with("The knee is kipmid_max_busy=100: 68 s, 3.09 times the default"),
            "{text}"
        );
        assert!(
            text.contains("it says 0 % of 2 settings, while the CPU was up to 69 % busy"),
            "{text}"
        );
    }
}
