//! The tables, as Markdown.

use std::fmt::Write as _;

use super::Tally;
use super::study::StudyTally;

/// The whole page.
pub(super) fn page(
    (n_experiments, [blocks, pieces, moments]): (u32, [Vec<Tally>; 3]),
    (n_studies, studies): (u32, Vec<StudyTally>),
) -> String {
    let comparisons = comparisons(n_experiments, &blocks, &pieces, &moments);
    format!("{comparisons}\n{}", studies_section(n_studies, &studies))
}

fn comparisons(
    n_experiments: u32,
    blocks: &[Tally],
    pieces: &[Tally],
    moments: &[Tally],
) -> String {
    format!(
        "# What compare claims of known differences\n\n\
         Written as a whole by `cargo xtask simulation`: {n_experiments} experiments a row without a difference and as many \
         in which B takes 0.73 % longer, judged as `fullclock compare` judges a record. Shares are of the experiments. \
         *False claims*: without a difference, one was claimed. *Found*: with the difference, B was claimed to take \
         longer. *Covered*: the 99 % interval held the truth. *Half*: half of the interval, on average. Recorded \
         noise is in `crates/lab/fixtures`.\n\n\
         ## Interleaved, in blocks of ABBA or BAAB\n\n\
         Bars: false claims at most 1.5 %, but for what chance does; with 20 pairs and independent noise of 0.3 %, found in at \
         least 95 %.\n\n\
         {}\n\
         ## In pieces that take turns\n\n\
         Each trial is cut into ten pieces, and each piece has the noise that a whole trial has above.\n\n\
         {}\n\
         ## Two moments, one right after the other\n\n\
         *Interval without 0* is how often the machine's own changes pass for a difference of the arms: no statistic of two \
         moments can know better. The allowance for what moved within a run and for what runs differ by keeps them, and \
         differences as small as this one, from being claimed.\n\n\
         {}",
        blocks_table(blocks),
        blocks_table(pieces),
        moments_table(moments)
    )
}

fn studies_section(n_studies: u32, tallies: &[StudyTally]) -> String {
    let mut section = format!(
        "## Studies of settings\n\n\
         {n_studies} studies a row with effects and as many without, analysed as `fullclock experiment` analyses a study: turbo, \
         a deep idle state and three governors in all 12 combinations, by two workloads, each once in every block. Turbo \
         gives the one workload 3 %, of which 2 points are lost without the idle state, whose loss alone costs 1 %; it gives \
         the other one 1 %. The governor does nothing. *Covered*: of all intervals of effects and interactions, each of 99 % or more so that all of a study hold together with 99 %, \
         how many held the truth, with effects and without. *Right*: turbo alone was advised, which is best. *Wrong*: something was \
         advised that makes nothing faster. *Nothing advised*, *nothing claimed*: of the studies without effects.\n\n\
         Bars: covered, and nothing advised, in 95 % with every noise, but for what chance does to as many studies; right in \
         95 % where the noise allows it (independent noise of 0.3 %). Noise that is larger than the effects leaves them \
         unfound: *right* is then low, and *wrong* has to stay so.\n\n\
         | noise of a trial | blocks | covered | right | wrong | covered without | nothing advised | nothing claimed |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    for it in tallies {
        let shares = [
            it.covered,
            it.right,
            it.wrong,
            it.covered_without,
            it.nothing_advised,
            it.nothing_claimed,
        ];
        let shares = shares.map(percent).join(" | ");
        writeln!(section, "| {} | {} | {shares} |", it.noise, it.blocks).unwrap_or_default();
    }
    section
}

fn blocks_table(tallies: &[Tally]) -> String {
    let mut table = "| noise of a trial | pairs | false claims | found | covered | half |\n\
                     |---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for it in tallies {
        let [false_claims, found, covered] = [it.false_claims, it.found, it.covered].map(percent);
        let half = format!("{:.2} %", it.half * 100.0);
        // Writing to a String never fails.
        writeln!(
            table,
            "| {} | {} | {false_claims} | {found} | {covered} | {half} |",
            it.noise, it.pairs
        )
        .unwrap_or_default();
    }
    table
}

fn moments_table(tallies: &[Tally]) -> String {
    let mut table =
        "| noise of a trial | trials of each | false claims | interval without 0 | found | covered |\n\
         |---|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for it in tallies {
        let shares = [it.false_claims, it.excluded, it.found, it.covered].map(percent);
        writeln!(table, "| {} | {} | {} |", it.noise, it.pairs, shares.join(" | "))
            .unwrap_or_default();
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
