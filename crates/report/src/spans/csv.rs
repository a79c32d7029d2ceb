//! A recording in pieces as CSV: a row for each piece and quantity.
//!
//! Long and not wide, because which tasks there are changes from piece to piece. `share` is of the time of all CPUs; waits are
//! seconds in each second, of all tasks of a name together. Unknown values are empty, and `missing` says why.

use super::{Course, server};
use crate::harmless::{csv_cell, csv_line};
use facts::client::MarkText;
use facts::{Fact, Missing, utc};
use rules::spans::{ServerSeen, Span};

const HEADING: &str = "from,length_s,quantity,who,product,name,value,unit,missing\n";

/// Every piece.
pub fn csv(course: &Course<'_>) -> String {
    let lines: String = course.spans.iter().flat_map(|it| rows(course, it)).collect();
    HEADING.to_owned() + &lines
}

fn rows(course: &Course<'_>, span: &Span) -> Vec<String> {
    let row = |quantity: &str,
               [who, product, name]: [&str; 3],
               value: Result<f64, &Missing>,
               unit: &str| {
        csv_line(&[
            utc::timestamp(span.from.real_ns),
            csv_cell(Some(span.elapsed_ns() as f64 / 1e9)),
            quantity.to_owned(),
            who.to_owned(),
            product.to_owned(),
            name.to_owned(),
            csv_cell(value.ok()),
            unit.to_owned(),
            csv_cell(value.err()),
        ])
    };
    let mut rows = Vec::new();
    if let Some(metric) = course.metric {
        let value = span.client.as_ref().copied();
        rows.push(row("client", ["client", "", metric.name()], value, &metric.unit));
    }
    for id in ["idle", "slow-clock"] {
        rows.push(row(id, ["", "", ""], span.share(id).as_ref().copied(), "share"));
    }
    match &span.workers {
        Err(missing) => rows.push(row("ran", ["", "", ""], Err(missing), "share")),
        Ok(workers) => {
            for it in workers {
                let who = [it.who.name(), it.product.unwrap_or_default(), &it.name];
                rows.push(row("ran", who, Ok(it.run_ns as f64 / span.capacity_ns()), "share"));
                let waited = it.wait_ns as f64 / (span.elapsed_ns() as f64).max(1.0);
                rows.push(row("waited", who, Ok(waited), "s/s"));
            }
        }
    }
    let mark = |who: &str, it: &MarkText| row("mark", [who, "", &it.text], Ok(1.0), "");
    rows.extend(span.marks.iter().map(|it| mark("client", it)));
    rows.extend(span.phases.iter().map(|it| mark("server", it)));
    if server::is_watched(course.spans) {
        let seen = span.server.as_ref();
        let of =
            |value: &dyn Fn(&ServerSeen) -> Fact<f64>| seen.map_err(Missing::clone).and_then(value);
        let values = [
            ("active-sessions", of(&|it| it.active.clone()), "sessions"),
            ("commits", of(&|it| server::rate(it, &it.log.commits)), "1/s"),
            ("log-writes", of(&|it| server::rate(it, &it.log.durable())), "1/s"),
            ("log-write-time", of(&|it| it.log.each_ns().map(|ns| ns / 1e9)), "s"),
        ];
        let value = |(name, value, unit): (&str, Fact<f64>, &str)| {
            row(name, ["server", "", ""], value.as_ref().copied(), unit)
        };
        rows.extend(values.into_iter().map(value));
        let waits = seen.into_iter().flat_map(|it| &it.waits);
        rows.extend(
            waits.map(|it| {
                row("wait-event", ["server", &it.kind, &it.event], Ok(it.share), "share")
            }),
        );
    }
    rows
}
