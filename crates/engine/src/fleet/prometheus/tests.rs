//! Engines that are well, partial, wrong, or of another kind; and a fleet of machines that they tell of.

use super::join::MOST_FINDINGS;
use super::*;
use crate::http::fake::{Fake, Reply};
use crate::http::{Address, Named, Options};
use fleet::{Figure, Kind, Machine};

/// A series, as `LABELS VALUE`: `instance="a",job="n" 0.5`.
fn series(line: &str) -> String {
    let (labels, value) = line.rsplit_once(' ').unwrap();
    let labels: Vec<String> = labels
        .split(',')
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| format!("\"{name}\":\"{value}\""))
        .collect();
    format!("{{\"metric\":{{{}}},\"value\":[1764273600,\"{value}\"]}}", labels.join(","))
}

fn vector(lines: &str) -> String {
    let all: Vec<String> =
        lines.lines().map(str::trim).filter(|it| !it.is_empty()).map(series).collect();
    format!(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"vector\",\"result\":[{}]}}}}",
        all.join(",")
    )
}

/// An engine that knows these series of each metric, and an audit without unknown checks of each machine.
fn engine(info: &str, clock: &str, speed: &str, findings: &str) -> Fake {
    let labels = info.lines().filter_map(|it| it.trim().rsplit_once(' '));
    let audits: Vec<String> = labels.map(|it| format!("{} 0", it.0)).collect();
    audited(info, clock, speed, findings, &audits.join("\n"))
}

/// The same with these audits: how many checks each could not make.
fn audited(info: &str, clock: &str, speed: &str, findings: &str, audits: &str) -> Fake {
    let [info, clock, speed, findings, audits] = [info, clock, speed, findings, audits].map(vector);
    Fake::start(move |head| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let body = if path.contains("count%28") {
            let is_any = info.contains("instance");
            vector(if is_any { "x=y 3" } else { "" })
        } else if path.contains("rack%3D%22none") {
            vector("")
        } else if path.contains(CLOCK_RATIO) {
            clock.clone()
        } else if path.contains(SPEED_RATIO) {
            speed.clone()
        } else if path.contains(UNKNOWN_CHECKS) {
            audits.clone()
        } else if path.contains(FINDING) {
            findings.clone()
        } else {
            info.clone()
        };
        Reply::json(body)
    })
}

fn client(fake: &Fake) -> Client {
    Client::new(Address::parse(&fake.url).unwrap(), Options::default()).unwrap()
}

fn gathered(fake: &Fake) -> Gathered {
    gather(&client(fake), &Question::default()).unwrap()
}

/// Why nothing was gathered, the server's address left out.
fn refused(fake: &Fake, selector: Option<&str>) -> String {
    let question = Question { selector, ..Question::default() };
    let error = gather(&client(fake), &question).unwrap_err();
    format!("{error:#}").replace(&fake.url, "ENGINE")
}

/// A machine in a line: name, figures, labels, findings.
fn shown(machine: &Machine) -> String {
    let figures: Vec<String> =
        machine.figures.iter().map(|(it, value)| format!("{it:?} {value}")).collect();
    let attributes: Vec<String> = machine
        .attributes
        .iter()
        .map(|it| {
            format!("{}{}={}", if it.kind == Kind::Finding { "!" } else { "" }, it.name, it.value)
        })
        .collect();
    format!("{}: {}; {}", machine.name, figures.join(", "), attributes.join(" "))
}

#[test]
fn series_of_a_machine_are_joined_whatever_their_order() {
    let fake = engine(
        "instance=b,job=n,cpu_model=X,bios_version=1.2,rack=r2,__name__=fullclock_host_info 1
         instance=a,job=n,cpu_model=X,bios_version=1.1,rack=r1,microcode= 1",
        "instance=a,job=n,rack=r1,quantile=0.5 0.25
         instance=b,job=n,rack=r2,quantile=0.5 1.125",
        "instance=b,job=n,rack=r2 1.5",
        "instance=b,job=n,id=slow-governor,severity=high,confidence=high 1
         instance=b,job=n,id=capped-frequency,severity=low,confidence=high 1
         instance=a,job=n,id=over,severity=low,confidence=high 0
         instance=a,job=n,id=later,severity=dire,confidence=high 1",
    );
    let Gathered { machines, skipped, notes } = gathered(&fake);
    let machines: Vec<String> = machines.iter().map(shown).collect();
    assert_eq!(
        machines,
        [
            "a: Clock 0.25; bios_version=1.1 cpu_model=X rack=r1",
            "b: Clock 1.125, Speed 1.5; bios_version=1.2 cpu_model=X rack=r2 !capped-frequency=low \
             !slow-governor=high",
        ]
    );
    assert_eq!((skipped.len(), notes.len()), (0, 0), "{notes:?}");
    let requests = fake.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|it| it.starts_with("GET /api/v1/query?query=")));
}

#[test]
fn replicas_and_restarts_are_one_machine_and_what_they_differ_in_is_no_label() {
    let fake = engine(
        "instance=a,job=n,kernel=6.1,prometheus_replica=p0,bios_version=1 1
         instance=a,job=n,kernel=6.12,prometheus_replica=p1,bios_version=1 1
         instance=a,job=n,kernel=6.1,prometheus_replica=p2,bios_version=1 1",
        "instance=a,job=n,prometheus_replica=p0 0.5
         instance=a,job=n,prometheus_replica=p1 1
         instance=a,job=n,prometheus_replica=p2 NaN",
        "",
        "instance=a,job=n,prometheus_replica=p0,id=x,severity=low 1
         instance=a,job=n,prometheus_replica=p1,id=x,severity=high 1",
    );
    let Gathered { machines, notes, .. } = gathered(&fake);
    assert_eq!(shown(&machines[0]), "a: Clock 0.75; bios_version=1 !x=high");
    assert_eq!(machines.len(), 1);
    let notes = notes.join("\n");
    for said in [
        "several series of 1 machine, a",
        "a series of 1 machine, a, has no number above 0",
        "two values of the label kernel of 1 machine, a",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

/// `serve` and the textfile of a host have its boot; its clone has it, too, and another machine behind the same address has its own.
#[test]
fn a_host_that_is_scraped_twice_is_one_machine_and_its_clone_is_another() {
    let fake = engine(
        "instance=db7:7077,job=fullclock,boot=b7,cpu_model=X 1
         instance=db7:9100,job=node,boot=b7,cpu_model=X,rack=r1 1
         instance=db8:9100,job=node,boot=b7,cpu_model=X 1
         instance=db7:7078,job=fullclock,boot=b9,cpu_model=X 1",
        "instance=db7:7077,job=fullclock 0.5",
        "instance=db7:7077,job=fullclock 0.6
         instance=db7:9100,job=node 0.4
         instance=db8:9100,job=node 1",
        "instance=db7:9100,job=node,id=x,severity=low 1",
    );
    let Gathered { machines, notes, .. } = gathered(&fake);
    let machines: Vec<String> = machines.iter().map(shown).collect();
    assert_eq!(
        machines,
        [
            "db7:7077: Clock 0.5, Speed 0.5; cpu_model=X rack=r1 !x=low",
            "db7:7078: ; cpu_model=X",
            "db8:9100: Speed 1; cpu_model=X",
        ]
    );
    let notes = notes.join("\n");
    for said in [
        "scraped under two instances or jobs: 1 machine, db7:7077; each counts once",
        "1 machine of the same boot as one of another name: clones of a snapshot, or scraped",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[test]
fn a_machine_is_audited_where_its_audit_is_exported_and_unknown_checks_are_said() {
    let fake = audited(
        "instance=a,job=n 1\ninstance=b,job=n 1\ninstance=c,job=n 1\ninstance=d,job=n 1",
        "",
        "",
        "instance=d,job=n,id=x,severity=low 1",
        "instance=a,job=n 0\ninstance=b,job=n 3",
    );
    let Gathered { machines, notes, .. } = gathered(&fake);
    let audits: Vec<bool> = machines.iter().map(|it| it.audit.is_made()).collect();
    assert_eq!(audits, [true, true, false, true], "a finding comes of an audit");
    let notes = notes.join("\n");
    assert!(notes.contains("some checks could not be made on 1 machine, b (fullclock_"), "{notes}");
}

#[test]
fn more_ids_of_findings_than_there_are_checks_are_left_out_with_a_word() {
    let findings: String = (0..MOST_FINDINGS + 7)
        .map(|it| format!("instance=a,job=n,id=x{it},severity=low 1\n"))
        .collect();
    let Gathered { machines, notes, .. } =
        gathered(&engine("instance=a,job=n 1", "", "", &findings));
    assert_eq!(machines[0].attributes.len(), MOST_FINDINGS);
    let notes = notes.join("\n");
    assert!(notes.contains("has more than 1000 ids") && notes.contains(": 7 series"), "{notes}");
}

#[test]
fn several_queries_share_one_deadline() {
    let pause = Duration::from_millis(400);
    let fake = Fake::start(move |_| Reply { pause, ..Reply::json(vector("instance=a,job=n 1")) });
    let options = Options { deadline: Duration::from_secs(1), ..Options::default() };
    let client = Client::new(Address::parse(&fake.url).unwrap(), options).unwrap();
    let said = gather(&client, &Question::default()).unwrap_err().to_string();
    assert!(said.contains("within 1 s"), "{said}");
}

#[test]
fn machines_of_one_instance_in_two_clusters_are_two_and_called_so() {
    let fake = engine(
        "instance=a,job=n,cluster=east 1\ninstance=a,job=n,cluster=west 1\ninstance=a,job=m 1",
        "instance=a,job=n,cluster=east 1\ninstance=a,job=n,cluster=west 0.5",
        "",
        "",
    );
    let names: Vec<String> =
        gathered(&fake).machines.iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["a (m)", "a (n, cluster east)", "a (n, cluster west)"]);
}

#[test]
fn what_is_no_number_is_no_figure_and_what_is_missing_is_said() {
    let fake = engine(
        "instance=a,job=n 1\ninstance=b,job=n 1",
        "instance=a,job=n +Inf\ninstance=b,job=n 0\ninstance=c,job=n -1\njob=n 1\ninstance=,job=n 1",
        "",
        "",
    );
    let Gathered { machines, notes, .. } = gathered(&fake);
    assert!(machines.len() == 3 && machines.iter().all(|it| it.figures.is_empty()));
    let notes = notes.join("\n");
    for said in [
        "2 series without a label `instance` are left out",
        "a series of 3 machines, a among them, has no number above 0",
        "no fullclock_host_info of 1 machine, c: of an unknown model, it has no peers",
        "no fullclock_clock_ratio or fullclock_speed_ratio of any machine",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[test]
fn an_engine_without_machines_says_what_exports_them_or_that_none_matches() {
    let fake = engine("", "", "", "");
    let said = refused(&fake, None);
    assert!(
        said.starts_with("ENGINE has no fullclock_host_info") && said.contains("--textfile"),
        "{said}"
    );
    let fake = engine("instance=a,job=n 1", "", "", "");
    let said = refused(&fake, Some("rack=\"none\""));
    assert!(said.starts_with("no machine at ENGINE has {rack=\"none\"}"), "{said}");
    let said = refused(&engine("", "", "", ""), Some("rack=\"none\""));
    assert!(said.starts_with("ENGINE has no fullclock_host_info"), "{said}");
}

#[test]
fn a_refused_query_is_shown_with_the_engines_words() {
    let error = |status: &'static str, text: &'static str| {
        Fake::start(move |_| {
            let body = format!("{{\"status\":\"error\",\"errorType\":\"x\",\"error\":\"{text}\"}}");
            Reply::of(status, "application/json", body)
        })
    };
    let said = refused(&error("400 Bad Request", "1:21: parse error: unexpected"), Some("rack=r1"));
    assert!(said.contains("(400: 1:21: parse error: unexpected)"), "{said}");
    assert!(said.contains("`fullclock_host_info{rack=r1}`: "), "{said}");
    assert!(said.contains("; --match takes labels as in"), "{said}");
    let said = refused(&error("422 Unprocessable Entity", "too many samples"), None);
    assert!(
        said.contains("(422: too many samples); the query was `fullclock_host_info`"),
        "{said}"
    );
    let said = refused(&error("503 Unavailable", "query timed out"), None);
    assert!(said.contains("failed (503: query timed out)"), "{said}");
    // VictoriaMetrics' gateways have answered so.
    let said = refused(&error("200 OK", "cannot reach vmstorage"), None);
    assert!(
        said.contains("refuses the query `fullclock_host_info`: cannot reach vmstorage"),
        "{said}"
    );
}

#[test]
fn what_is_no_engine_is_asked_whether_it_is_one() {
    let fake = Fake::start(|_| Reply::of("404 Not Found", "text/plain", "404 page not found"));
    let said = refused(&fake, None);
    assert!(said.starts_with("ENGINE has no /api/v1/query (404): is it an engine"), "{said}");
    let told = "requestURI: /x/api/v1/query; unsupported path requested: \"/x/api/v1/query\"";
    let fake = Fake::start(move |_| Reply::of("400 Bad Request", "text/plain", told));
    assert!(refused(&fake, None).contains("is it an engine that speaks PromQL?"));
    let fake = Fake::start(|_| Reply::of("200 OK", "text/html", "<!doctype html><title>Grafana"));
    let said = refused(&fake, None);
    assert!(said.contains("<!doctype html>") && said.contains("sign-in"), "{said}");
    let fake = Fake::start(|_| {
        Reply::json("{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\"}}")
    });
    assert!(refused(&fake, None).contains("a scalar and not a vector"));
}

#[test]
fn warnings_are_passed_on_once() {
    let fake = Fake::start(|_| {
        let series = series("instance=a,job=n 1");
        Reply::json(format!(
            "{{\"status\":\"success\",\"isPartial\":true,\"data\":{{\"resultType\":\"vector\",\"result\":[{series}]}},\
             \"warnings\":[\"store b: timeout\"]}}"
        ))
    });
    let notes = gathered(&fake).notes;
    assert_eq!(notes.iter().filter(|it| it.contains("store b: timeout")).count(), 1);
    assert_eq!(notes.iter().filter(|it| it.contains("partial")).count(), 1);
}

#[test]
fn more_series_or_machines_than_can_be_compared_say_how_to_ask_for_fewer() {
    let lines: String = (0..50).map(|it| format!("instance=i{it},job=n 1\n")).collect();
    let fake = engine(&lines, "", "", "");
    let queries = Queries::of(&Question::default()).unwrap();
    let said = |series, machines| {
        let limits = Limits { series, machines };
        gather_within(&client(&fake), &queries, limits)
            .map_or_else(|it| it.to_string(), |_| String::new())
    };
    assert_eq!(said(50, 50), "");
    assert!(said(49, 50).starts_with("`fullclock_host_info` has more than 49 series: "));
    assert!(said(50, 49).starts_with("`fullclock_host_info` has more than 49 machines: "));
    assert!(said(49, 50).contains("--match"));
}

#[test]
fn an_engine_that_is_too_slow_says_how_to_ask_for_less() {
    let fake = Fake::start(|_| Reply { hangs: true, ..Reply::default() });
    let options = Options { deadline: Duration::from_millis(200), ..Options::default() };
    let client = Client::new(Address::parse(&fake.url).unwrap(), options).unwrap();
    let said = gather(&client, &Question::default()).unwrap_err().to_string();
    assert!(said.contains("did not answer within 0.2 s: ") && said.contains("--since"), "{said}");
}

/// A page cannot choose the time, and its options have other names.
#[test]
fn advice_names_the_options_that_there_are() {
    let said = |reply: Reply, is_time_chosen| {
        let fake = Fake::start(move |_| reply.clone());
        let options = Options {
            deadline: Duration::from_millis(200),
            named: Named::Options("prometheus-"),
            ..Options::default()
        };
        let client = Client::new(Address::parse(&fake.url).unwrap(), options).unwrap();
        let question = Question { is_time_chosen, ..Question::default() };
        gather(&client, &question).unwrap_err().to_string()
    };
    let slow = Reply { hangs: true, ..Reply::default() };
    assert!(said(slow.clone(), true).contains("--since"));
    assert!(!said(slow, false).contains("--since"));
    let denied = said(Reply::of("401 Unauthorized", "text/plain", ""), true);
    assert!(denied.ends_with("give a token with --prometheus-token-file FILE"), "{denied}");
}

#[test]
fn machines_without_figures_or_with_both_keep_the_order_of_figures() {
    let fake = engine("", "instance=a,job=n 1", "instance=a,job=n 2\ninstance=b,job=n 3", "");
    let figures: Vec<Vec<Figure>> = gathered(&fake)
        .machines
        .iter()
        .map(|it| it.figures.iter().map(|(figure, _)| *figure).collect())
        .collect();
    assert_eq!(figures, [vec![Figure::Clock, Figure::Speed], vec![Figure::Speed]]);
}
