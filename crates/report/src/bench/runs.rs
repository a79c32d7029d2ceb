//! Several results of each of two things, as a document.

use super::manner::Manner;
use super::quantity::{Scale, decimals};
use super::{comparison, described, document};
use crate::document::{Align, Block, Document, Table, Text};
use lab::compare::{Run, Side};
use lab::comparison::Comparison;
use lab::record::Record;
use lab::verdict::Ratio;

/// What `fullclock compare` says of several results of A and of B.
pub fn of_each(it: &Comparison, a: &[Side<'_>], b: &[Side<'_>]) -> Document {
    let nothing = Record::of(Vec::new());
    let manner = Manner::of(a.first().map_or(&nothing, |it| it.record)).apart();
    let title = format!("fullclock compare of {} results with {}", a.len(), b.len());
    let mut document = Document::new(title);
    comparison::conclusion(&mut document, it, manner);
    comparison::explanation(&mut document, it);
    document.heading("Measured");
    for (name, sides) in [(&it.a, a), (&it.b, b)] {
        let arm = sides.first().and_then(|it| it.record.arms.get(it.arm));
        document.labelled(name.as_str(), arm.map_or_else(String::new, described));
    }
    document.push(Block::Table(results(it, a, b, manner)));
    document.note("The middle of a result is the trimmed mean of its trials, in logarithms.");
    document.push(Block::Table(comparison::differences(it)));
    comparison::settings(&mut document, it);
    document::doubts_of(&mut document, &it.doubts, manner);
    document
}

/// A row for each result.
fn results(it: &Comparison, a: &[Side<'_>], b: &[Side<'_>], manner: Manner) -> Table {
    let runs = it.runs.iter().flatten().flatten();
    let scale = Scale::of(runs.clone().find_map(|it| it.middle).unwrap_or_default(), &it.unit);
    let half_width = it.difference.verdict.ratio().map(Ratio::half_width);
    let middle = |run: &Run| {
        let number = run.middle.map(|it| scale.number(it));
        number.map_or("unknown".to_owned(), |it| {
            let places = decimals(it, half_width);
            format!("{it:.places$}")
        })
    };
    let heading = scale.heading(&it.figure);
    let columns = [
        ("", Align::Left),
        ("result", Align::Left),
        ("began", Align::Left),
        (if manner.is_race { "intervals" } else { "trials" }, Align::Right),
        (&*heading, Align::Right),
    ];
    let names = a.iter().map(|_| &it.a).chain(b.iter().map(|_| &it.b));
    let rows = names.zip(a.iter().chain(b)).zip(runs).map(|((name, side), run)| {
        let began = side.record.began.clone();
        let cells = [name.clone(), run.name.clone(), began, run.trials.to_string(), middle(run)];
        cells.map(Text::from).into()
    });
    Table::new(&columns, rows)
}
