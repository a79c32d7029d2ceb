//! Rows of turbostat, with or without the line of column names.
//!
//! Source: tools/power/x86/turbostat/turbostat.8. The columns vary with version and processor, but three
//! of them stand together and prove themselves: Avg_MHz = Busy% x Bzy_MHz. Until Linux 3.11 (RHEL 6) the columns were `%c0`, and
//! `GHz` and `TSC` in GHz.

use super::Found;
use facts::HostView;
use facts::pasted::TURBOSTAT;

pub(super) fn explain(text: &str, _host: &HostView) -> Option<Found> {
    let (line, rows) = rows(text)?;
    let subject = subject(&rows)?;
    let mut meaning = vec![format!(
        "The {} row shows {} busy {:.1} % of the interval, and while busy ran at {:.0} MHz on average; \
         over the whole interval that makes {:.0} MHz.",
        subject.which,
        if subject.row.is_summary { "all CPUs together, which were" } else { "a CPU that was" },
        subject.row.busy,
        subject.row.bzy,
        subject.row.avg
    )];
    meaning.extend(subject.others.map(|median| {
        format!("The busy rows in the middle ran at {median:.0} MHz: this CPU is held back, and the others are not.")
    }));
    meaning.push(judge(subject.row));
    let n_cpus = rows.iter().filter(|it| !it.is_summary).count();
    if n_cpus > 1 {
        meaning.push(format!("{n_cpus} rows of CPUs were recognised."));
    }
    Some(Found::new(line, &TURBOSTAT, meaning))
}

/// The row that a table is about.
struct Subject<'a> {
    row: &'a Row,
    which: &'static str,
    /// The clock of the busy rows in the middle, where the row is far below it.
    others: Option<f64>,
}

/// The slowest of the busy rows where it is far below the others, otherwise the busiest. The summary only where there is no other.
fn subject(rows: &[Row]) -> Option<Subject<'_>> {
    /// Cores differ by less in turbo.
    const FAR_BELOW: f64 = 0.85;
    let of_cpus: Vec<&Row> = rows.iter().filter(|it| !it.is_summary).collect();
    let mut busy: Vec<&Row> = of_cpus.iter().copied().filter(|it| it.busy >= BUSY_ENOUGH).collect();
    busy.sort_by(|a, b| a.bzy.total_cmp(&b.bzy));
    let median = busy.get(busy.len() / 2).map(|it| it.bzy);
    if let (Some(slowest), Some(median)) = (busy.first(), median)
        && slowest.bzy < FAR_BELOW * median
    {
        return Some(Subject { row: slowest, which: "slowest busy", others: Some(median) });
    }
    let busiest = of_cpus.into_iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
    let row = busiest.or_else(|| rows.first())?;
    Some(Subject { row, which: "busiest", others: None })
}

/// Below this, the interval's few busy moments are wake-ups, whose clock says nothing about load.
const BUSY_ENOUGH: f64 = 5.0;

fn judge(row: &Row) -> String {
    let Row { busy, bzy, tsc, .. } = *row;
    if busy < BUSY_ENOUGH {
        return format!(
            "A CPU that is busy {busy:.1} % of the time says nothing about its speed under load: keep one busy and look again."
        );
    }
    let Some(tsc) = tsc else {
        return "Without the TSC_MHz column there is nothing to compare the clock with; the nominal clock in the model's name will do.".to_owned();
    };
    let share = 100.0 * bzy / tsc;
    match share {
        share if share >= 103.0 => format!(
            "The TSC runs at {tsc:.0} MHz, the nominal clock on most processors: the CPU was {:.0} % above it, in turbo. Compare with the most that the model promises for as many busy cores.",
            share - 100.0
        ),
        share if share >= 97.0 => format!(
            "The TSC runs at {tsc:.0} MHz, the nominal clock on most processors: the CPU ran at just that. If the model has turbo, something keeps it from being used: a switch, a cap, power or heat."
        ),
        share => format!(
            "The TSC runs at {tsc:.0} MHz, the nominal clock on most processors: the CPU had {share:.0} % of it while busy, so {:.0} % of its speed was lost. A governor, a cap, PROCHOT or a power limit does that. Clock modulation does too, or shows as Busy% below 100 for a CPU that never rests.",
            100.0 - share
        ),
    }
}

/// The columns that matter, of one row.
struct Row {
    avg: f64,
    busy: f64,
    bzy: f64,
    tsc: Option<f64>,
    /// Whether it is that of all CPUs together.
    is_summary: bool,
}

/// The rows, and the number of the first line of the table.
fn rows(text: &str) -> Option<(usize, Vec<Row>)> {
    let mut names: Option<Vec<&str>> = None;
    let (mut first, mut rows) = (None, Vec::new());
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.contains(&"Bzy_MHz") || (cells.contains(&"%c0") && cells.contains(&"GHz")) {
            first.get_or_insert(at);
            names = Some(cells);
        } else {
            let row = match &names {
                Some(names) => named(names, &cells),
                None => unnamed(&cells),
            };
            if row.is_some() {
                first.get_or_insert(at);
            }
            rows.extend(row);
        }
    }
    Some((first?, rows))
}

fn named(names: &[&str], cells: &[&str]) -> Option<Row> {
    if names.contains(&"%c0") {
        return older(names, cells);
    }
    // Rows of single threads leave out trailing columns of core and package, never leading ones.
    let cell = |wanted: &[&str]| {
        let column = names.iter().position(|name| wanted.contains(name))?;
        cells.get(column)?.parse::<f64>().ok()
    };
    let (busy, bzy) = (cell(&["Busy%", "%Busy"])?, cell(&["Bzy_MHz"])?);
    let avg = cell(&["Avg_MHz"]).unwrap_or(busy / 100.0 * bzy);
    Some(Row { avg, busy, bzy, tsc: cell(&["TSC_MHz"]), is_summary: is_summary(cells) })
}

/// A row of a turbostat before Linux 3.11. That of all CPUs has nothing in the columns before `%c0`.
fn older(names: &[&str], cells: &[&str]) -> Option<Row> {
    let n_before = names.iter().position(|it| *it == "%c0")?;
    let is_summary = cells.first()?.contains('.');
    let left_out = if is_summary { n_before } else { 0 };
    let cell = |wanted: &str| {
        let column = names.iter().position(|name| *name == wanted)?.checked_sub(left_out)?;
        cells.get(column)?.parse::<f64>().ok()
    };
    let (busy, bzy) = (cell("%c0")?, 1000.0 * cell("GHz")?);
    let tsc = cell("TSC").map(|it| 1000.0 * it);
    Some(Row { avg: busy / 100.0 * bzy, busy, bzy, tsc, is_summary })
}

/// All CPUs together are no CPU of any package.
fn is_summary(cells: &[&str]) -> bool {
    cells.first() == Some(&"-")
}

/// In MHz: no processor is faster.
const FASTEST: f64 = 10_000.0;

fn unnamed(cells: &[&str]) -> Option<Row> {
    let number = |cell: &str| cell.parse::<f64>().ok();
    // Rows of other programs have words in them.
    if !cells.iter().all(|it| *it == "-" || number(it).is_some()) {
        return None;
    }
    let triple =
        |window: &[&str]| Some((number(window[0])?, number(window[1])?, number(window[2])?));
    cells.windows(3).enumerate().find_map(|(at, window)| {
        let (avg, busy, bzy) = triple(window)?;
        // Published rows miss the product by up to 0.2 % of the clock: the counters are not read at the same
        // instant. A clock is at least 100 MHz.
        let fits = (avg - busy / 100.0 * bzy).abs() <= 1.0 + bzy * 0.005;
        let plausible = (0.0..=100.5).contains(&busy)
            && window[1].contains('.')
            && (100.0..=FASTEST).contains(&bzy);
        let tsc = cells.get(at + 3).and_then(|cell| number(cell)).filter(|&tsc| tsc >= 500.0);
        let is_summary = is_summary(cells);
        (fits && plausible && avg >= 1.0).then_some(Row { avg, busy, bzy, tsc, is_summary })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests;
    use super::*;

    fn meaning(text: &str) -> String {
        tests::meaning(text, &[explain])
    }

    #[test]
    fn a_row_without_names_proves_itself_by_its_product() {
        assert!(meaning("- - 279 56.01 500 998").contains("the CPU had 50 % of it while busy"));
        assert_eq!(meaning("0 4 100 50.00 900 998"), "unknown");
    }

    #[test]
    fn columns_are_found_by_name_in_either_spelling() {
        let text =
            "CPU Avg_MHz %Busy Bzy_MHz TSC_MHz\n- 1596 80.10 1996 998\n1 1743 87.54 1996 998";
        assert!(meaning(text).starts_with("The busiest row shows a CPU that was busy 87.5 %"));
        assert!(meaning(text).contains("100 % above it, in turbo"));
    }

    #[test]
    fn a_table_of_busy_rows_is_about_the_one_that_is_held_back() {
        let text = "Core CPU Avg_MHz Busy% Bzy_MHz TSC_MHz\n- - 3025 99.99 3025 2500\n\
                    0 0 3900 100.00 3900 2500\n1 1 400 100.00 400 2500\n2 2 3900 100.00 3900 2500\n\
                    3 3 3900 99.90 3904 2500";
        let said = meaning(text);
        assert!(
            said.starts_with("The slowest busy row shows a CPU that was busy 100.0 %"),
            "{said}"
        );
        assert!(said.contains("in the middle ran at 3900 MHz"), "{said}");
        assert!(said.contains("the CPU had 16 % of it"), "{said}");
        assert!(said.ends_with("4 rows of CPUs were recognised."), "{said}");
        // Favoured cores differ by less.
        let even = text.replace("400 100.00 400", "3500 100.00 3500");
        assert!(meaning(&even).starts_with("The busiest row"), "{}", meaning(&even));
    }

    #[test]
    fn a_table_of_rhel_6_has_its_clocks_in_ghz() {
        let text = "cor CPU    %c0  GHz  TSC    %c1    %c3    %c6   %pc3   %pc6\n\
                    \u{20}         60.00 2.10 2.93  10.00   0.00   0.00   0.00   0.00\n\
                    0   0  99.98 1.60 2.93   0.02   0.00   0.00   0.00   0.00\n\
                    1   4  20.00 3.20 2.93  80.00   0.00   0.00";
        let said = meaning(text);
        assert!(
            said.starts_with("The slowest busy row shows a CPU that was busy 100.0 %"),
            "{said}"
        );
        assert!(said.contains("the CPU had 55 % of it"), "{said}");
        assert!(said.ends_with("2 rows of CPUs were recognised."), "{said}");
    }

    #[test]
    fn a_row_of_another_program_is_none() {
        let ps = "root        23  0.5  0.0 4600 4600 ?        S    Mar06   0:07 sleep";
        assert_eq!(meaning(ps), "unknown");
        assert_eq!(meaning("23 0.5 4600 1000 a"), "unknown");
        assert_eq!(meaning("2508 0.5 501724 1000"), "unknown");
    }

    #[test]
    fn an_idle_row_is_not_judged() {
        assert!(meaning("1 0.05 1600 2500").contains("says nothing about its speed under load"));
    }

    #[test]
    fn a_row_without_tsc_is_not_compared() {
        let text = "Busy% Bzy_MHz PkgTmp\n98.69 4530 66";
        assert!(meaning(text).contains("Without the TSC_MHz column"));
    }
}
