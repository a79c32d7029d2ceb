//! Holds all advice on all hosts to its rule: what is printed, the plan of that host accepts, and it writes only places that the finding
//! names.

use crate::{hosts, rows, source};
use facts::HostView;
use facts::change::Aim;
use host::Source;
use rules::advice::{self, is_named};
use rules::finding::Finding;
use rules::plan::{self, Request};
use std::path::{Path, PathBuf};

/// What was printed on some hosts.
#[derive(Default)]
struct Printed {
    apply: usize,
    now: usize,
    by_hand: usize,
    look: usize,
    refused: usize,
    faults: Vec<String>,
}

/// What is wrong with the line of `fullclock apply` of one finding.
fn fault(source: &dyn Source, host: &HostView, finding: &Finding) -> Option<String> {
    let requests: Result<Vec<Request>, String> =
        finding.fix.apply.iter().map(|it| Request::parse(it)).collect();
    let requests = match requests {
        Ok(requests) => requests,
        Err(why) => return Some(why),
    };
    let controls = host::controls(source, &plan::reads(&requests));
    let plan = plan::plan(host, controls, &requests, false);
    if let Some((request, why)) = plan.refused.iter().chain(&plan.left_out).next() {
        return Some(format!("{} is refused: {why}", request.text()));
    }
    for step in &plan.steps {
        let mut writes = step.change.writes.iter().filter(|it| it.aim != Aim::Forgotten).peekable();
        if writes.peek().is_none() {
            return Some(format!("{} writes nothing", step.request.text()));
        }
        if let Some(other) = writes.find(|it| !is_named(host, finding, &it.target)) {
            return Some(format!("{} writes {}", step.request.text(), other.target));
        }
    }
    None
}

fn look_at(name: &str, source: &dyn Source, printed: &mut Printed) {
    let host = host::view(source);
    let mut findings = rules::audit::audit(&host).findings;
    let controls = host::controls(source, &advice::reads(&findings));
    advice::advise(&host, &controls, &mut findings);
    for (check, finding) in &findings {
        let fix = &finding.fix;
        printed.apply += usize::from(!fix.apply.is_empty());
        printed.now += fix.now.len();
        printed.by_hand += fix.by_hand.len();
        printed.look += fix.look.len();
        printed.refused += fix.refused.len();
        for it in &fix.commands {
            let held = (it.command.holds)(&host).is_ok();
            let text = it.command.text.replace("{}", &it.argument);
            let is_shown =
                fix.look.contains(&text) || fix.by_hand.iter().any(|it| it.command == text);
            if held != is_shown {
                printed.faults.push(format!("{name}: {}: {text}", check.id));
            }
        }
        let wrong = fault(source, &host, finding);
        printed.faults.extend(wrong.map(|why| format!("{name}: {}: {why}", check.id)));
        for why in &fix.refused {
            println!("{name}: {}: no command: {why}", check.id);
        }
        if !fix.apply.is_empty() {
            println!("{name}: {}: fullclock apply {}", check.id, fix.apply.join(" "));
        }
    }
}

/// Captures and archives from the field, where they are there.
fn field() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/field");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_host = |it: &PathBuf| {
        let name = it.to_string_lossy();
        name.ends_with(".host") || name.ends_with(".tar.gz")
    };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|it| Some(it.ok()?.path())).filter(is_host).collect();
    paths.sort();
    paths
}

#[test]
fn advice_is_accepted_by_the_plan_of_its_host_and_writes_only_what_the_finding_names() {
    let Some(folder) = hosts() else { return };
    let mut printed = Printed::default();
    let mut n_hosts = 0;
    for row in rows(&folder.join("truth.tsv")) {
        let source = source::open(&folder.join(&row[1])).expect("a host that opens");
        look_at(&row[0], &*source, &mut printed);
        n_hosts += 1;
    }
    for path in field() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let opened = match name.ends_with(".host") {
            true => source::captured(&std::fs::read_to_string(&path).expect("a readable capture")),
            false => source::open(&path),
        };
        look_at(&name, &*opened.expect("a host that opens"), &mut printed);
        n_hosts += 1;
    }
    let Printed { apply, now, by_hand, look, refused, faults } = printed;
    println!(
        "{n_hosts} hosts: {apply} lines of apply, {now} commands of settings, {by_hand} by hand, {look} that look, {refused} reasons for none, {} faults",
        faults.len()
    );
    assert!(apply > 0 && look > 0 && refused > 0);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
