//! A recording in pieces: a row for each with the client's number, who ran, who waited, and what marks there were.

mod chart;
pub mod csv;
pub mod json;
mod server;

pub use server::sentence as server_sentence;

use crate::audit::describe;
use crate::document::{Align, Block, Document, Table, Text};
use crate::wording::{capital, four_digits};
use facts::client::ClientMetric;
use facts::{Fact, HostView, utc};
use rules::spans::{Span, Who, Worker};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What there is to say of a recording in pieces.
pub struct Course<'a> {
    /// What the recording is called.
    pub name: &'a str,
    /// The host that was recorded.
    pub host: &'a HostView,
    /// The pieces, in order; at least one.
    pub spans: &'a [Span],
    /// What the client's numbers are.
    pub metric: Option<&'a ClientMetric>,
    /// Whether a command was recorded: its tasks are the client.
    pub has_command: bool,
    /// What has to be said of all of it.
    pub notes: &'a [String],
}

/// Names that have a column of their own, of each side: a table of more would not fit a terminal.
const MOST_NAMES: usize = 3;

/// Tasks that never ran for as large a share have no column.
const SMALLEST: f64 = 0.01;

/// A column of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tasks {
    who: Who,
    /// The database product and the name; `None` of all that have no column of their own.
    name: Option<(Option<&'static str>, String)>,
}

/// The whole document.
pub fn document(course: &Course<'_>) -> Document {
    let columns = course.columns();
    let mut document = Document::new(format!("fullclock ledger of {} over time", course.name));
    document.paragraph(describe(course.host));
    if let Some(sentence) = course.who_ran() {
        document.paragraph(Text::strong(sentence));
    }
    document.extend(chart::chart(course, &columns).map(Block::Chart));
    document.push(Block::Table(course.ran(&columns)));
    document.extend(course.waited().map(Block::Table));
    if let Some(table) = server::table(course.spans) {
        document.push(Block::Table(table));
        document.note(server::explained());
    }
    for (at, mark) in course.marks() {
        document.labelled(at, mark);
    }
    if !course.has_command {
        document.note(
            "No command was recorded, so which tasks are the client is unknown: `fullclock watch --record FILE -- CLIENT` \
             records one.",
        );
    }
    for note in course.notes {
        document.note(Text::sentence(note));
    }
    document
}

impl Course<'_> {
    /// The tasks that have a column, by side, the busiest first.
    fn columns(&self) -> Vec<Tasks> {
        // By each name the largest share that it ever had.
        let mut largest: BTreeMap<(Who, Option<&'static str>, &str), f64> = BTreeMap::new();
        for span in self.spans {
            for worker in span.workers.iter().flatten() {
                let share = worker.run_ns as f64 / span.capacity_ns();
                let most = largest.entry((worker.who, worker.product, &worker.name)).or_default();
                *most = most.max(share);
            }
        }
        let mut columns = Vec::new();
        for who in [Who::Client, Who::Server, Who::Other] {
            if who == Who::Client {
                // A client's threads do one thing.
                columns.extend(self.sides().contains(&who).then_some(Tasks { who, name: None }));
                continue;
            }
            let of_side = largest.iter().filter(|((it, ..), _)| *it == who);
            let mut names: Vec<_> =
                of_side.map(|((_, product, name), share)| ((*product, *name), *share)).collect();
            names.sort_by_key(|(_, share)| Reverse((share * 1e9) as u64));
            let n_names = names.iter().take(MOST_NAMES).filter(|it| it.1 >= SMALLEST).count();
            let named = names.iter().take(n_names);
            let named = named.map(|((product, name), _)| Some((*product, (*name).to_owned())));
            columns.extend(named.map(|name| Tasks { who, name }));
            if names.iter().skip(n_names).any(|it| it.1 > 0.0) {
                columns.push(Tasks { who, name: None });
            }
        }
        columns
    }

    /// Who ran in each piece, as shares of the CPUs' time.
    fn ran(&self, columns: &[Tasks]) -> Table {
        let client = self.metric.map(client_heading);
        let tasks: Vec<String> = columns.iter().map(|it| it.heading(columns)).collect();
        let fixed =
            ["idle"].into_iter().chain(tasks.iter().map(String::as_str)).chain(["slow clock"]);
        let mut headings = vec![("from", Align::Left)];
        headings.extend(client.as_deref().map(|it| (it, Align::Right)));
        headings.extend(fixed.map(|it| (it, Align::Right)));
        let row = |span: &Span| {
            let mut row = vec![from(span)];
            row.extend(self.metric.map(|_| text(&span.client, |it| number(*it))));
            row.push(share_of_loss(span, "idle"));
            let ran = |tasks: &Tasks| text(&span.ran(|it| tasks.has(it, columns)), percent);
            row.extend(columns.iter().map(ran));
            row.push(share_of_loss(span, "slow-clock"));
            row
        };
        Table::new(&headings, self.spans.iter().map(row))
    }

    /// Who waited for a CPU in each piece; `None` where nothing is known of any.
    fn waited(&self) -> Option<Table> {
        let sides = self.sides();
        let words: Vec<String> =
            sides.iter().map(|it| format!("the {} waited for a CPU", side(*it))).collect();
        let mut headings = vec![("from", Align::Left)];
        headings.extend(words.iter().map(|it| (&**it, Align::Right)));
        let row = |span: &Span| {
            let waited =
                |who: &Who| text(&span.waited(|it| it.who == *who), |it| format!("{it:.2} s/s"));
            std::iter::once(from(span)).chain(sides.iter().map(waited)).collect()
        };
        (!sides.is_empty()).then(|| Table::new(&headings, self.spans.iter().map(row)))
    }

    /// The sides of which tasks ran.
    fn sides(&self) -> Vec<Who> {
        let ran = |who: &Who| {
            self.spans.iter().any(|span| span.workers.iter().flatten().any(|it| it.who == *who))
        };
        [Who::Client, Who::Server, Who::Other].into_iter().filter(ran).collect()
    }

    /// Who ran and who waited over all of it, in one sentence; `None` without a client or without a server, where nobody can be
    /// said to limit the other.
    fn who_ran(&self) -> Option<String> {
        let sides = self.sides();
        if !sides.contains(&Who::Client) || !sides.contains(&Who::Server) {
            return None;
        }
        let capacity: f64 = self.spans.iter().map(Span::capacity_ns).sum();
        let elapsed: f64 = self.spans.iter().map(|it| it.elapsed_ns() as f64).sum();
        let sum = |who: Who, of: fn(&Worker) -> u64| -> f64 {
            let workers = self.spans.iter().flat_map(|it| it.workers.iter().flatten());
            workers.filter(|it| it.who == who).map(|it| of(it) as f64).sum()
        };
        let of = |who: Who| {
            let ran = percent(&(sum(who, |it| it.run_ns) / capacity));
            let waited = sum(who, |it| it.wait_ns) / elapsed;
            format!(
                "the {} ran {ran} of the CPUs' time and waited {waited:.2} s for a CPU in each second",
                side(who)
            )
        };
        let other = sum(Who::Other, |it| it.run_ns) / capacity;
        let others = if other >= SMALLEST {
            format!("; other tasks ran {}", percent(&other))
        } else {
            String::new()
        };
        Some(format!("{}; {}{others}.", capital(&of(Who::Client)), of(Who::Server)))
    }

    /// What the client marked and where the server's main activity changed, with the time of day.
    fn marks(&self) -> impl Iterator<Item = (String, String)> {
        self.spans.iter().flat_map(|span| {
            span.marks.iter().chain(&span.phases).map(move |mark| {
                let after = mark.at.saturating_sub(span.from.raw_ns);
                let at = utc::clock_time(span.from.real_ns.saturating_add(after));
                (at, crate::harmless::harmless(&mark.text).into_owned())
            })
        })
    }
}

impl Tasks {
    /// The only column of a side is the side; another one without a name is the rest of it.
    fn heading(&self, columns: &[Tasks]) -> String {
        let is_only = columns.iter().filter(|it| it.who == self.who).count() == 1;
        match &self.name {
            Some((Some(product), name)) if has_other_product(columns, product) => {
                format!("{product} {name}")
            }
            Some((_, name)) => name.clone(),
            None if is_only => side(self.who).to_owned(),
            None if self.who == Who::Other => "more others".to_owned(),
            None => format!("more of the {}", side(self.who)),
        }
    }

    /// Whether a worker's time is in this column.
    fn has(&self, worker: &Worker, columns: &[Tasks]) -> bool {
        if worker.who != self.who {
            return false;
        }
        let is = |it: &Tasks| {
            it.who == worker.who
                && it.name.as_ref().is_some_and(|(product, name)| {
                    *product == worker.product && *name == worker.name
                })
        };
        // What has a column of its own is in that.
        if self.name.is_some() { is(self) } else { !columns.iter().any(is) }
    }
}

/// Whether columns are of more than one database product, so that a role alone does not say whose it is.
fn has_other_product(columns: &[Tasks], product: &str) -> bool {
    let products = columns.iter().filter_map(|it| it.name.as_ref()?.0);
    products.into_iter().any(|it| it != product)
}

/// When a piece began, by the time of day.
fn from(span: &Span) -> Text {
    utc::clock_time(span.from.real_ns).into()
}

fn side(who: Who) -> &'static str {
    match who {
        Who::Client => "client",
        Who::Server => "server",
        Who::Other => "others",
    }
}

fn client_heading(metric: &ClientMetric) -> String {
    if metric.unit.is_empty() { "client".to_owned() } else { format!("client {}", metric.unit) }
}

fn text<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> Text {
    fact.as_ref().map_or_else(|_| Text::quiet("unknown"), |it| words(it).into())
}

fn share_of_loss(span: &Span, id: &str) -> Text {
    text(&span.share(id), percent)
}

fn percent(share: &f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A rate.
fn number(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { four_digits(value) }
}
