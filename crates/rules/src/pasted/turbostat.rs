//! Rows of turbostat, with or without the line of column names.
//!
//! Source: tools/power/x86/turbostat/turbostat.8. The columns vary with version and processor, but three
//! of them stand together and prove themselves: Avg_MHz = Busy% x Bzy_MHz.

use super::Explanation;

pub(super) fn explain(text: &str) -> Option<Explanation> {
    let rows = rows(text);
    let busiest = rows.iter().max_by(|a, b| a.busy.total_cmp(&b.busy))?;
    let mut meaning = vec![format!(
        "The busiest row shows a CPU that was busy {:.1} % of the interval, and while busy ran at {:.0} MHz on average; \
         over the whole interval that makes {:.0} MHz.",
        busiest.busy, busiest.bzy, busiest.avg
    )];
    meaning.push(judge(busiest));
    if rows.len() > 1 {
        meaning.push(format!("{} rows were recognised; the others were less busy.", rows.len()));
    }
    Some(Explanation {
        what: "turbostat: how busy the CPUs were, and how fast while busy",
        meaning,
        checks: &[
            "slow-governor",
            "turbo-off",
            "clock-modulation",
            "prochot-asserted",
            "turbo-headroom-lost",
        ],
    })
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
}

fn rows(text: &str) -> Vec<Row> {
    let mut names: Option<Vec<&str>> = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if cells.contains(&"Bzy_MHz") {
            names = Some(cells);
        } else {
            rows.extend(match &names {
                Some(names) => named(names, &cells),
                None => unnamed(&cells),
            });
        }
    }
    rows
}

fn named(names: &[&str], cells: &[&str]) -> Option<Row> {
    // Rows of single threads leave out trailing columns of core and package, never leading ones.
    let cell = |wanted: &[&str]| {
        let column = names.iter().position(|name| wanted.contains(name))?;
        cells.get(column)?.parse::<f64>().ok()
    };
    let (busy, bzy) = (cell(&["Busy%", "%Busy"])?, cell(&["Bzy_MHz"])?);
    let avg = cell(&["Avg_MHz"]).unwrap_or(busy / 100.0 * bzy);
    Some(Row { avg, busy, bzy, tsc: cell(&["TSC_MHz"]) })
}

fn unnamed(cells: &[&str]) -> Option<Row> {
    let number = |cell: &str| cell.parse::<f64>().ok();
    let triple =
        |window: &[&str]| Some((number(window[0])?, number(window[1])?, number(window[2])?));
    cells.windows(3).enumerate().find_map(|(at, window)| {
        let (avg, busy, bzy) = triple(window)?;
        // Published rows miss the product by up to 0.2 % of the clock: the counters are not read at the same
        // instant. A clock is at least 100 MHz.
        let fits = (avg - busy / 100.0 * bzy).abs() <= 1.0 + bzy * 0.005;
        let plausible = (0.0..=100.5).contains(&busy) && window[1].contains('.') && bzy >= 100.0;
        let tsc = cells.get(at + 3).and_then(|cell| number(cell)).filter(|&tsc| tsc >= 500.0);
        (fits && plausible && avg >= 1.0).then_some(Row { avg, busy, bzy, tsc })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str) -> String {
        explain(text).map_or("unknown".to_owned(), |it| it.meaning.join("\n"))
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
    fn an_idle_row_is_not_judged() {
        assert!(meaning("1 0.05 1600 2500").contains("says nothing about its speed under load"));
    }

    #[test]
    fn a_row_without_tsc_is_not_compared() {
        let text = "Busy% Bzy_MHz PkgTmp\n98.69 4530 66";
        assert!(meaning(text).contains("Without the TSC_MHz column"));
    }
}
