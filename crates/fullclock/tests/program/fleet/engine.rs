//! An engine that speaks as much PromQL as `fullclock fleet` asks, and a fleet in it.

use crate::support::web_server::{Answer, WebServer};
use std::fmt::Write as _;

/// What it answers.
#[derive(Clone, Copy)]
pub(crate) enum Answering {
    /// Machines of two models, of which those with one BIOS run at 25 %, and one by itself at 50 %.
    Fleet,
    /// No machine.
    Nothing,
    /// That the token is wrong, which it repeats.
    Unauthorized,
}

/// Such an engine.
pub(crate) fn start(answering: Answering) -> WebServer {
    WebServer::start(move |head| answer(head, answering))
}

fn answer(head: &str, answering: Answering) -> Answer {
    let ok = |body| Answer { status: "200 OK", body };
    match answering {
        Answering::Unauthorized => {
            let repeated = head.lines().find(|it| it.to_lowercase().starts_with("authorization"));
            let body = format!("wrong: {}", repeated.unwrap_or_default());
            Answer { status: "401 Unauthorized", body }
        }
        Answering::Nothing => ok(vector(&[])),
        Answering::Fleet => ok(vector(&series(head.lines().next().unwrap_or_default()))),
    }
}

/// The machines of a model.
const N: usize = 60;

/// Labels and a value for each series that a query is of; the names of metrics stand in its address as they are.
fn series(target: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (model, at) in
        ["Xeon 6130", "EPYC 9654"].iter().flat_map(|it| (0..N).map(move |at| (it, at)))
    {
        let first = model.split(' ').next().unwrap_or_default().to_lowercase();
        let own = format!("\"instance\":\"{first}{at:02}:7077\",\"job\":\"fullclock\"");
        let is_bad = *model == "Xeon 6130" && at < 12;
        // Healthy ones differ by 1 %, without a pattern that a label has.
        let healthy = 1.0 + ((at * 37 + 11) % 23) as f64 / 1000.0 - 0.011;
        let clock = match (is_bad, at) {
            (true, _) => healthy * 0.25,
            (false, 40) if *model == "EPYC 9654" => healthy * 0.5,
            (false, _) => healthy,
        };
        if target.contains("fullclock_host_info") {
            let bios = if is_bad { "12010303" } else { "12010400" };
            let kernel = if at % 2 == 0 { "6.1.0" } else { "6.12.0" };
            let labels = format!(
                "{own},\"cpu_model\":\"{model}\",\"bios_version\":\"{bios}\",\"kernel\":\"{kernel}\""
            );
            found.push((labels, 1.0));
        } else if target.contains("fullclock_clock_ratio") {
            found.push((format!("{own},\"quantile\":\"0.5\""), clock));
        } else if target.contains("fullclock_unknown_checks") {
            found.push((own, 0.0));
        } else if target.contains("fullclock_finding") && is_bad {
            let id =
                "\"id\":\"clock-modulation\",\"severity\":\"critical\",\"confidence\":\"high\"";
            found.push((format!("{own},{id}"), 1.0));
        }
    }
    found
}

fn vector(series: &[(String, f64)]) -> String {
    let mut text = r#"{"status":"success","data":{"resultType":"vector","result":["#.to_owned();
    for (at, (labels, value)) in series.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{{\"metric\":{{{labels}}},\"value\":[1795000000,\"{value}\"]}}")
            .unwrap();
    }
    text + "]}}"
}
