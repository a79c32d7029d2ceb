//! A study as Markdown, to be pasted into a ticket: CommonMark with the tables of GitHub's dialect.

use super::{Study, prose};
use crate::harmless::{harmless, harmless_lines};
use lab::experiment::analysis::WorkloadAnalysis;
use lab::experiment::plan_file;

pub(super) fn study(study: &Study<'_>) -> String {
    let advice = prose::advice(study);
    let mut text = format!("# {}\n\n**{}**\n", plain(study.name()), plain(&prose::verdict(study)));
    paragraph(&mut text, &advice.reason);
    if let Some(command) = &advice.command {
        code(&mut text, "sh", command);
    }
    if let Some(best) = prose::pareto(study) {
        paragraph(&mut text, &best);
    }
    for workload in &study.analysis.workloads {
        of_workload(&mut text, study, workload);
    }
    section(&mut text, "Trials that failed", &prose::failures(study));
    section(&mut text, "Doubts", &prose::doubts(study.record));
    let settings = study.record.machine.0.iter();
    let settings: Vec<String> = settings.map(|(name, value)| format!("{name}: {value}")).collect();
    section(&mut text, "Machine", &settings);
    heading(&mut text, "How to repeat it");
    code(&mut text, "sh", &prose::command_line(study));
    paragraph(&mut text, "with this as plan.toml:");
    code(&mut text, "toml", plan_file::text(study.design()).trim_end());
    let record = study.record;
    paragraph(
        &mut text,
        &format!("{}, began {}, fullclock {}", record.id, record.began, record.version),
    );
    text
}

fn of_workload(text: &mut String, study: &Study<'_>, workload: &WorkloadAnalysis) {
    heading(text, &workload.workload);
    paragraph(text, &prose::figure(study, workload));
    let mut sentences = Vec::new();
    for effect in prose::effects(study, workload) {
        let beside = effect.beside.map_or_else(String::new, |it| format!(" ({it})"));
        sentences.push(effect.sentence + &beside);
    }
    sentences.extend(prose::interactions(study, workload));
    list(text, &sentences);
    arms(text, study, workload);
    let gaps = prose::gaps(study, workload);
    if !gaps.is_empty() {
        list(text, &gaps);
    }
}

fn arms(text: &mut String, study: &Study<'_>, workload: &WorkloadAnalysis) {
    const NUMBERS: [&str; 6] = ["median", "change", "95 % interval", "clock", "power", "trials"];
    let names: Vec<&str> = study.factors().map(|(_, it)| &*it.name).chain(NUMBERS).collect();
    text.push('\n');
    row(text, &names);
    let alignment: Vec<&str> = (0..names.len())
        .map(|it| if it < names.len() - NUMBERS.len() { "---" } else { "--:" })
        .collect();
    text.extend(["|", &alignment.join("|"), "|\n"]);
    for it in prose::rows(study, workload) {
        let numbers = [&it.median, &it.change, &it.interval, &it.clock, &it.watts, &it.trials];
        let cells: Vec<&str> =
            it.levels.iter().copied().chain(numbers.map(String::as_str)).collect();
        row(text, &cells);
    }
}

fn row(text: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|it| plain(it)).collect();
    text.extend(["| ", &cells.join(" | "), " |\n"]);
}

/// Nothing where there is nothing to list.
fn section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        heading(text, title);
        list(text, lines);
    }
}

fn heading(text: &mut String, words: &str) {
    text.extend(["\n## ", &plain(words), "\n"]);
}

fn paragraph(text: &mut String, words: &str) {
    text.extend(["\n", &plain(words), "\n"]);
}

fn list(text: &mut String, lines: &[String]) {
    text.push('\n');
    for line in lines {
        text.extend(["- ", &plain(line), "\n"]);
    }
}

/// A fence is longer than any run of backticks in it.
fn code(text: &mut String, language: &str, words: &str) {
    let longest = words.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    text.extend(["\n", &fence, language, "\n", &harmless_lines(words), "\n", &fence, "\n"]);
}

/// Words that mean themselves: names of users may hold anything.
fn plain(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for letter in harmless(words).chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' => {
                text.push('\\');
                text.push(letter);
            }
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_report_for_a_ticket_has_all_that_a_reader_asks_for() {
        let (record, analysis) = fixture::study();
        insta::assert_snapshot!(study(&Study::of(&record, &analysis).unwrap()));
    }

    #[test]
    fn names_of_users_stay_words() {
        assert_eq!(plain("a|b <script> _x_\n`"), r"a\|b \<script\> \_x\_\\n\`");
        let mut text = String::new();
        code(&mut text, "toml", "a = '```'");
        assert_eq!(text, "\n````toml\na = '```'\n````\n");
    }
}
