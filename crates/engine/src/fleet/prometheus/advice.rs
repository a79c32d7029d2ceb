//! What a failure means for an engine, and what to do next.
//!
//! Sources: prometheus.io/docs/prometheus/latest/querying/api, "Format overview", for 400, 422 and 503; docs.victoriametrics.com, "Resource usage
//! limits", and the error texts of VictoriaMetrics' `lib/storage` and `app/vmselect`; grafana.com/docs/mimir, "Grafana Mimir runbooks", for
//! `err-mimir-*`; RFC 9110, 15.5 and 15.6, for what gateways answer.

use super::queries::{Queries, Query};
use crate::http::{Client, Failure, Problem};
use anyhow::{Error, anyhow};

/// What to do where a server has no API of Prometheus.
const NO_ENGINE: &str = "is it an engine that speaks PromQL? Its address is what is before /api/v1/query, as in http://HOST:9090 \
                         (Prometheus), http://HOST:8428 (VictoriaMetrics) or https://HOST/prometheus (Mimir)";

const NO_PAGE: &str =
    "is it the address of the engine itself, and not of a page or a sign-in before it?";

/// A failure, with what it means for an engine.
pub(super) fn explained(
    failure: Failure,
    client: &Client,
    query: &Query,
    queries: &Queries,
) -> Error {
    let option = |name: &str| client.named().of(name);
    let next = match &failure.problem {
        Problem::NotFound { .. } => NO_ENGINE.to_owned(),
        // VictoriaMetrics' words for a path that it does not have.
        Problem::Refused { told, .. } if told.contains("unsupported path") => NO_ENGINE.to_owned(),
        Problem::NotJson { .. } | Problem::Redirected { .. } => NO_PAGE.to_owned(),
        Problem::Timeout { .. } | Problem::TooLarge { .. } => queries.to_fewer(),
        // Mimir's, and Cortex'.
        Problem::Denied { told, .. } if told.contains("no org id") => format!(
            "it has tenants: name yours in a line `X-Scope-OrgID: NAME` of the file of {}",
            option("token-file")
        ),
        Problem::Untrusted { .. } => match client.unknown_certificate(&failure) {
            Some(found) => {
                let (fingerprint, text) = (option("fingerprint"), &failure);
                return anyhow!(
                    "{text}; its SHA-256 fingerprint is {found}: where `openssl x509 -noout -fingerprint -sha256 -in FILE` shows the same \
                     on the engine's host, trust it with {fingerprint}"
                );
            }
            None => return failure.into(),
        },
        Problem::Refused { status, told, .. } | Problem::Failed { status, told, .. } => {
            let next = of_words(told, queries).unwrap_or_else(|| of_status(*status, queries));
            return anyhow!("{failure}; the query was `{}`: {next}", query.text);
        }
        _ => return failure.into(),
    };
    anyhow!("{failure}: {next}")
}

/// What to do by the words of an engine, whatever its status; `None` where these are not known here.
pub(super) fn of_words(told: &str, queries: &Queries) -> Option<String> {
    let fewer = || queries.to_fewer();
    let has = |words: &[&str]| words.iter().any(|it| told.contains(it));
    let limit = if has(&["too many samples"]) {
        "--query.max-samples of the engine"
    } else if has(&["timeseries exceeds", "-search.max"]) && !has(&["concurrent"]) {
        "-search.maxUniqueTimeseries of the engine"
    } else if has(&["err-mimir-max", "exceeded the maximum", "maximum number of"]) {
        "the limit of your tenant"
    } else if has(&["timed out", "timeout", "deadline exceeded", "duration exceeds"]) {
        let limits = "--query.timeout (Prometheus) or -search.maxQueryDuration (VictoriaMetrics)";
        return Some(format!("it gave up on the query: {}, or raise {limits}", fewer()));
    } else {
        return None;
    };
    Some(format!("that is more than it may read at once: {}, or raise {limit}", fewer()))
}

/// What to do by the status alone.
fn of_status(status: u16, queries: &Queries) -> String {
    let fewer = queries.to_fewer();
    match status {
        400 => format!("the engine does not take the query{}", queries.hint()),
        422 => format!(
            "it cannot run the query, for the reason that it gives{}; where that is a limit, {fewer}",
            queries.hint()
        ),
        429 => format!(
            "it takes no more queries now, or none of your tenant: try again later; where it stays so, {fewer}"
        ),
        500 => "the fault is in the engine, whose log says more: try again, and look there".to_owned(),
        502 => "what is before the engine cannot reach it: look whether the engine runs, or give its own address".to_owned(),
        503 => format!(
            "it is overloaded or has just been started: try again in some minutes; where it stays so, {fewer}"
        ),
        504 => format!(
            "what is before the engine did not wait for its answer: {fewer}, or give the engine's own address"
        ),
        _ => format!("try again later{}", queries.hint()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Question, gather};
    use super::*;
    use crate::http::fake::{Fake, Reply};
    use crate::http::{Address, Fingerprint, Named, Options, Trust};
    use std::io::Write as _;

    fn client(fake: &Fake, trust: Trust) -> Client {
        let named = Named::Options("prometheus-");
        let options = Options { trust, named, ..Options::default() };
        Client::new(Address::parse(&fake.url).unwrap(), options).unwrap()
    }

    /// The error of an engine that answers so, without its address.
    fn said_of(fake: &Fake, selector: Option<&str>) -> String {
        refused(fake, Trust::System, selector)
    }

    fn refused(fake: &Fake, trust: Trust, selector: Option<&str>) -> String {
        let question = Question { selector, ..Question::default() };
        let error = gather(&client(fake, trust), &question).unwrap_err();
        format!("{error:#}").replace(&fake.url, "ENGINE")
    }

    fn said(status: &str, told: &str) -> String {
        let body = format!("{{\"status\":\"error\",\"errorType\":\"x\",\"error\":\"{told}\"}}");
        let reply = Reply::of(status, "application/json", body);
        said_of(&Fake::start(move |_| reply.clone()), None)
    }

    #[test]
    fn a_limit_of_an_engine_is_named_with_how_to_ask_for_less() {
        for (told, limit) in [
            (
                "query processing would load too many samples into memory in query execution",
                "--query.max-samples",
            ),
            (
                "the number of matching timeseries exceeds 300000; either narrow down the search or increase -search.max*",
                "-search.maxUniqueTimeseries",
            ),
            (
                "the query exceeded the maximum number of series (limit: 1000 series) (err-mimir-max-series-per-query)",
                "the limit of your tenant",
            ),
        ] {
            let said = said("422 Unprocessable Entity", told);
            assert!(said.contains(told) && said.contains("`fullclock_host_info`"), "{said}");
            let next = format!(
                "ask for a part of the fleet with --match 'cluster=\"NAME\"', or for a shorter time with --since, or raise {limit}"
            );
            assert!(said.contains(&next), "{said}");
        }
    }

    #[test]
    fn each_status_says_what_it_means_and_what_to_do_next() {
        for (status, told, next) in [
            ("422 x", "found duplicate series", "it cannot run the query, for the reason"),
            (
                "429 x",
                "too many outstanding requests",
                "takes no more queries now, or none of your",
            ),
            ("500 x", "runtime error", "whose log says more"),
            ("502 x", "", "cannot reach it: look whether the engine runs"),
            ("503 x", "query timed out in query execution", "raise --query.timeout"),
            ("503 x", "Service Unavailable", "overloaded or has just been started"),
            ("504 x", "", "did not wait for its answer: ask for a part of the fleet"),
            ("501 x", "", "try again later"),
        ] {
            let said = said(status, told);
            assert!(said.contains(next) && said.contains(&status[..3]), "{status}: {said}");
        }
        let said = said(
            "503 x",
            "cannot handle more than 4 concurrent search requests during 10s; \
             possible solutions: increase `-search.maxQueueDuration`, increase `-search.maxConcurrentRequests`",
        );
        assert!(said.contains("overloaded") && !said.contains("maxUniqueTimeseries"), "{said}");
    }

    #[test]
    fn when_an_engine_wants_to_be_asked_again_is_passed_on() {
        for (status, after, when) in [
            ("429 x", "120", "in 120 s"),
            ("503 x", "Wed, 21 Oct 2026 07:28:00 GMT", "after Wed, 21 Oct 2026 07:28:00 GMT"),
        ] {
            let head =
                format!("HTTP/1.1 {status}\r\nRetry-After: {after}\r\nContent-Length: 0\r\n\r\n");
            let fake = Fake::start(move |_| Reply::raw(&head));
            let said = said_of(&fake, None);
            assert!(said.contains(&format!(", and wants to be asked again {when}; ")), "{said}");
        }
    }

    #[test]
    fn a_selector_that_an_engine_does_not_take_and_a_tenant_that_it_misses_are_hinted_at() {
        let refuse = |status: &'static str, told: &'static str| {
            Fake::start(move |_| Reply::of(status, "text/plain", told))
        };
        let said = said_of(&refuse("422 x", "cannot parse the query"), Some("rack=r1"));
        assert!(said.contains("--match takes labels as in"), "{said}");
        let said = said_of(&refuse("401 Unauthorized", "no org id"), None);
        assert!(said.contains("`X-Scope-OrgID: NAME`"), "{said}");
        assert!(said.ends_with("of the file of --prometheus-token-file"), "{said}");
        let denied = said_of(&refuse("403 Forbidden", ""), None);
        assert!(denied.contains("it may require a token: --prometheus-token-file"), "{denied}");
    }

    #[test]
    fn a_certificate_of_its_own_making_is_shown_and_trusted_by_its_fingerprint() {
        let vector = "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[\
                      {\"metric\":{\"instance\":\"a\"},\"value\":[1,\"1\"]}]}}";
        let usual = Fake::encrypted("127.0.0.1", move |_| Reply::json(vector));
        let authority = Fake::authority("127.0.0.1", move |_| Reply::json(vector));
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("ca.pem");
        let mut file = tempfile::NamedTempFile::new_in(folder.path()).unwrap();
        let certificate = Fake::encrypted("other", |_| Reply::json("")).certificate.clone();
        file.write_all(certificate.as_bytes()).unwrap();
        file.persist(&other).unwrap();
        for (fake, why) in [(&usual, "with --prometheus-ca FILE"), (&authority, "(CA:TRUE)")] {
            let said = refused(fake, Trust::given(None, Some(&other)), None);
            assert!(said.contains("is not trusted: ") && said.contains(why), "{said}");
            let found = said.split("its SHA-256 fingerprint is ").nth(1).unwrap();
            assert!(found.ends_with("trust it with --prometheus-fingerprint"), "{said}");
            assert_eq!(fake.requests().len(), 0, "nothing is sent to who is not trusted");
            let right = Fingerprint::parse(found.split(": ").next().unwrap());
            let pinned = client(fake, Trust::given(right, None));
            assert_eq!(gather(&pinned, &Question::default()).unwrap().machines.len(), 1);
            let wrong = Fingerprint::parse(&"ab".repeat(32));
            let pinned = client(fake, Trust::given(wrong, None));
            let said = gather(&pinned, &Question::default()).unwrap_err().to_string();
            assert!(said.contains("is not trusted") && !said.contains("trust it with"), "{said}");
        }
    }
}
