//! What people paste or write: lines of other tools, profiles, requests of settings, files of peers, output of oracles.

use rules::plan::Request;
use rules::profile::Profile;

pub(crate) fn run(input: &[u8]) {
    let text = crate::text(input);
    explain(text);
    // What a capture keeps of a log is read again.
    let _ = facts::log::messages_of(&facts::log::excerpt(text));
    if let Ok(profile) = Profile::parse("fuzz.toml", text) {
        let _ = profile.requests("fuzz.toml");
    }
    for line in text.lines() {
        if let Ok(request) = Request::parse(line) {
            assert!(Request::parse(&request.text()).is_ok(), "{line:?}");
        }
    }
    if let Ok(peers) = lab::peers::parse(text) {
        assert!(peers.iter().all(|it| it.speed > 0.0));
    }
    let _ = lab::oracle::cpu_speed::parse(text);
    let _ = lab::oracle::plsql_loop::parse(text);
    let _ = lab::oracle::commit::parse(text);
}

/// As `fullclock explain` does it: what shows a host is audited.
fn explain(text: &str) {
    let text = facts::pasted::cleaned(text);
    let pasted = host::pasted::read(&text);
    let host = host::view(&pasted.host);
    let mut found = rules::pasted::explain(&text, &host);
    if !pasted.outputs.is_empty() {
        found.extend(rules::pasted::audited(&pasted.outputs, &rules::audit::audit(&host)));
    }
    let n_found = found.len();
    let explanations = rules::pasted::in_order(found);
    assert!(explanations.len() <= n_found);
    for explanation in explanations {
        assert!(!explanation.meaning.is_empty(), "{}", explanation.what);
    }
}
