//! Why one recorded run of a client is slower than another: the verdict, what explains it, and the numbers of both.

pub mod json;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use crate::document::{Block, Document, Text};
use facts::quantity::counted;
use lab::client;
use lab::why::{Why, Work};
use rows::{rows, table};
use words::{cause, cost, verdict};

/// What there is to say of two recordings.
pub struct Report<'a> {
    /// What A and B are called.
    pub names: [&'a str; 2],
    /// What was found.
    pub why: &'a Why,
    /// What has to be said of the recordings.
    pub notes: &'a [String],
}

/// The whole document.
pub fn document(report: &Report<'_>) -> Document {
    let why = report.why;
    let mut document = Document::new("fullclock compare of two recordings");
    document.paragraph(Text::strong(verdict(why)));
    for it in &why.causes {
        document.labelled("why", Text::sentence(&cause(why, it)));
    }
    if let (true, Some(reason)) = (why.causes.is_empty(), words::no_cause(why)) {
        document.labelled("why", reason);
    }
    document.labelled(format!("CPU time per {}", unit_of_work(why)), cost(why));
    for (label, name) in ["A", "B"].into_iter().zip(report.names) {
        document.labelled(label, crate::harmless::harmless(name).into_owned());
    }
    document.push(Block::Table(table(&rows(why))));
    notes(report).iter().for_each(|it| document.note(Text::sentence(it)));
    document
}

/// What the client does so many of: `transaction`.
fn unit_of_work(why: &Why) -> &'static str {
    client::find(&why.metric.client).map_or("unit of work", |it| it.work)
}

/// Over how many seconds the client's number counts its work.
fn over_s(why: &Why) -> f64 {
    client::find(&why.metric.client).map_or(1.0, |it| it.over_s)
}

/// What has to be said of the numbers, and of the recordings.
fn notes(report: &Report<'_>) -> Vec<String> {
    let why = report.why;
    let mut notes = vec![format!(
        "The verdict is on pieces of {:.1} s: {} of A and {} of B.",
        why.piece_s, why.pieces[0], why.pieces[1]
    )];
    if client::find(&why.metric.client).is_none() {
        notes.push(
            "The client's number is of an expression: it is taken for a rate, of which more is better."
                .to_owned(),
        );
    }
    let of = match why.work {
        Work::ClientAndServer => None,
        Work::Server => Some(
            "CPU time is that of the databases alone, and the client is one of the other tasks",
        ),
        Work::All => Some("CPU time is that of all users' tasks"),
    };
    notes.extend(of.map(|it| {
        format!("No command was recorded in both, so the client is unknown: {it}. `fullclock watch --record FILE -- CLIENT` records one.")
    }));
    for (totals, name) in why.totals.iter().zip(["A", "B"]) {
        if totals.left_out_s > 0.0 {
            let seconds = counted(totals.left_out_s.round() as u64, "second");
            notes.push(format!("{seconds} of {name} without a number of the client are left out."));
        }
    }
    notes.extend_from_slice(report.notes);
    notes
}
