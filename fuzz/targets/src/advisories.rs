//! Advisories of a site: whatever the file holds, it is refused with its name, or it can be held against a host.

use crate::text;
use facts::site::AdvisoryFile;
use facts::{HostView, Origin};
use rules::advisory::standing::{State, standings};
use rules::advisory::version::{Range, Release, Version, is_build_since};
use rules::advisory::{Advisory, catalog};

/// What the file is called, without its ending: seeds have this id.
const STEM: &str = "x";

pub(crate) fn run(bytes: &[u8]) {
    let text = text(bytes);
    let Ok(advisory) = Advisory::parse("x.toml", STEM, text)
        .inspect_err(|why| assert!(why.starts_with("x.toml"), "{why}"))
    else {
        return versions(text);
    };
    assert_eq!(advisory.id, STEM);
    assert!(!advisory.affected.is_empty() && !advisory.sources.is_empty());
    assert!(advisory.loss.is_none_or(|it| it.source < advisory.sources.len()));
    let file =
        AdvisoryFile { name: "x.toml".to_owned(), stem: STEM.to_owned(), text: text.to_owned() };
    let all = catalog(&[file]).expect("it was parsed before");
    let standings = standings(&host(), all, None);
    let own = standings.iter().find(|it| it.advisory.id == STEM).expect("it is in the catalog");
    assert!(!matches!(own.state, State::Seen(_)), "no check has looked");
}

/// The host of the seeds.
fn host() -> HostView {
    let mut host = HostView::unasked(Origin::Capture);
    host.platform.hypervisor = Ok(None);
    host.dmi.vendor = Ok("Acme Inc.".to_owned());
    host.dmi.product = Ok("9000".to_owned());
    host.dmi.firmware_version = Ok("v2.3".to_owned());
    host.bmc_firmware = Some(Ok("2.3".to_owned()));
    host.kernel.release = Ok("6.1.0-49-amd64".to_owned());
    host
}

/// What is no advisory is a range, a version and a release of a kernel, a line each.
fn versions(text: &str) {
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let (range, version, release, build) = (next(), next(), next(), next());
    let version = Version::within(version);
    if let Ok(range) = Range::parse(range) {
        let again = Range::parse(&range.to_string()).expect("it was one before");
        if let Some(version) = &version {
            assert_eq!(range.has(version), again.has(version));
        }
        if let Some(release) = Release::parse(release) {
            assert_eq!(range.fits(&release), again.fits(&release));
        }
    }
    let _ = is_build_since(release, build);
}
