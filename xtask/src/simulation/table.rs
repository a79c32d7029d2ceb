//! The tables, as Markdown.

use std::fmt::Write as _;

use super::Tally;

/// The whole page.
pub(super) fn page(n_experiments: u32, blocks: &[Tally], moments: &[Tally]) -> String {
    format!(
        "# What compare claims of known differences\n\n\
         Written as a whole by `cargo xtask simulation`: {n_experiments} experiments a row without a difference and as many \
         in which B takes 0.73 % longer, judged as `fullclock compare` judges a record. Shares are of the experiments. \
         *False claims*: without a difference, any measure (elapsed, cycles, time on the CPU, clock) was claimed to \
         differ. *Found*: with the difference, the work was claimed to be slower. *Covered*: the 95 % interval of the \
         quietest measure held the truth. *Detectable*: what the verdict says it would have found, on average. Recorded \
         noise is in `crates/lab/fixtures`.\n\n\
         ## Interleaved, in blocks of ABBA or BAAB\n\n\
         Bars: false claims under 5 % with every noise; with 20 pairs and independent noise of 0.3 %, found in at \
         least 95 %.\n\n\
         {}\n\
         ## Two moments, one right after the other\n\n\
         *If doubts forbade nothing* is how often the machine's own changes pass for a difference of the arms: no \
         statistic of two moments can know better. Doubts (a drift, another clock, other load) forbid most of these claims, \
         and many true ones with them.\n\n\
         {}",
        blocks_table(blocks),
        moments_table(moments)
    )
}

fn blocks_table(tallies: &[Tally]) -> String {
    let mut table = "| noise of a trial | pairs | false claims | found | covered | detectable |\n\
                     |---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for it in tallies {
        let [false_claims, found, covered] = [it.false_claims, it.found, it.covered].map(percent);
        let detectable = format!("{:.2} %", it.detectable * 100.0);
        // Writing to a String never fails.
        writeln!(
            table,
            "| {} | {} | {false_claims} | {found} | {covered} | {detectable} |",
            it.noise, it.pairs
        )
        .unwrap_or_default();
    }
    table
}

fn moments_table(tallies: &[Tally]) -> String {
    let mut table =
        "| noise of a trial | trials of each | false claims | if doubts forbade nothing | found | covered |\n\
         |---|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for it in tallies {
        let shares = [it.false_claims, it.despite_doubts, it.found, it.covered].map(percent);
        writeln!(table, "| {} | {} | {} |", it.noise, it.pairs, shares.join(" | "))
            .unwrap_or_default();
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
