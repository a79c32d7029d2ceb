//! What a published table says of polling a BMC beside a load.

use super::published::{LABEL, ONE_RUN};
use crate::render::page::{BOLD, Page};
use lab::experiment::published::{LoadedRow, LoadedTable};

/// A table of polling beside a load.
pub(super) fn loaded(page: &mut Page, table: &LoadedTable) {
    page.painted_paragraph(BOLD, &saved(table));
    let range = |of: fn(&LoadedRow) -> f64| range(table.rows.iter().map(of));
    if let (Some(one), Some((low, high))) = (table.one_s, range(|it| it.elapsed_relative)) {
        page.labelled(
            LABEL,
            "  load",
            &format!(
                "every setting takes {low:.1} to {high:.1} times the {one:.0} s that the table calls 1 and that no setting has: as \
                 where every CPU is busy, and kipmi0, which has nice 19, polls only when nobody else wants one"
            ),
        );
    }
    let row = |at: usize| table.rows.get(at).map_or("", |it| &*it.setting);
    if let Some(found) = table.at_odds {
        page.labelled(
            LABEL,
            "  at odds",
            &format!(
                "{} polls for longer than {} and took {:.0} % longer: either runs differ by as much or polling costs it; smaller differences say nothing",
                row(found.longer_poll),
                row(found.shorter_poll),
                found.slower * 100.0
            ),
        );
    }
    page.line("");
    page.line("  elapsed  relative     saved  setting");
    for row in &table.rows {
        let saved = row.saved.map_or_else(|| "-".to_owned(), |it| format!("{:.0} %", it * 100.0));
        page.line(&format!(
            "{:>7.0} s {:>9.2} {saved:>9}  {}",
            row.elapsed_s, row.elapsed_relative, row.setting
        ));
    }
    page.line("");
    page.labelled(LABEL, "  doubt", ONE_RUN);
}

/// What polling saves.
fn saved(table: &LoadedTable) -> String {
    let with = || table.rows.iter().filter(|it| it.saved.is_some());
    let shares = range(with().filter_map(|it| it.saved));
    match (
        table.without.and_then(|it| table.rows.get(it)),
        range(with().map(|it| it.elapsed_s)),
        shares,
    ) {
        (Some(without), Some((fastest, slowest)), Some((least, most))) => format!(
            "Reading takes {fastest:.0} to {slowest:.0} s where kipmi0 polls and {:.0} s where it does not: \
             polling saves {:.0} to {:.0} %.",
            without.elapsed_s,
            least * 100.0,
            most * 100.0
        ),
        _ => {
            "What polling saves cannot be told: no row has force_kipmid=0 beside others.".to_owned()
        }
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, it| {
        Some(range.map_or((it, it), |(low, high): (f64, f64)| (low.min(it), high.max(it))))
    })
}

#[cfg(test)]
mod tests {
    use super::super::published::tests::text;

    #[test]
    fn a_table_of_polling_under_load_says_what_polling_saves_and_how_much_runs_differ() {
        let text = text(include_str!("../../../../lab/fixtures/published-kipmid-loaded.csv"));
        assert!(
            text.starts_with(
                "Reading takes 460 to 570 s where kipmi0 polls and 620 s where it does not: polling saves \
                 8 to 26 %."
            ),
            "{text}"
        );
        assert!(
            text.contains("takes 20.9 to 28.2 times the 22 s that the table calls 1"),
            "{text}"
        );
        assert!(
            text.contains("default polls for longer than kipmid_max_busy=1000 and took 9 % longer"),
            "{text}"
        );
    }
}
