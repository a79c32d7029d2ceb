//! The audit of a host with what its findings advise there.

use crate::controller;
use crate::copies::refuse_nothing;
use crate::interrupt::Interrupt;
use anyhow::Result;
use facts::watched::Cost;
use facts::{HostView, Missing, Origin, Why, redfish};
use host::{Answered, Source, Watch};
use rules::advice;
use rules::advisory::{self, Advisory, standing};
use rules::audit::Audit;
use rules::config::Config;
use std::sync::Arc;
use std::time::Duration;

/// Asks a source for the kernel's files that the advice of its audit is planned from, for a recording that is audited later.
///
/// Files of configuration are left out, as of a capture: no rule knows what is private in them.
pub fn ask(source: &dyn Source, host: &HostView) {
    let audit = rules::audit::audit(host);
    let mut reads = advice::reads(&audit.findings);
    reads.retain(|it| is_of_kernel(it));
    host::controls(source, &reads);
}

/// Whether a file is the kernel's own.
pub fn is_of_kernel(path: &str) -> bool {
    !path.starts_with("/etc/") && !path.starts_with("/usr/")
}

/// The host called `name`, and its audit by the configuration of its site, on this day.
///
/// Errors: the source holds no host.
pub fn looked_at(
    source: &dyn Source,
    name: &str,
    config: &Config,
    today: &str,
) -> Result<(HostView, Audit)> {
    let answered = Answered::new(source);
    let mut host = host::view(&answered);
    refuse_nothing(&answered, name)?;
    let audit = audit_of_site(&answered, &mut host, config, today);
    Ok((host, audit))
}

/// A look of some time at what an audit could not decide.
pub struct Look<'a> {
    /// How long it takes.
    pub time: Duration,
    /// Is told what it costs the host, before it begins, and returns what ends it early: what was seen until then counts. Until then the
    /// user's wish to stop ends the program, as that of any audit.
    pub begin: &'a mut dyn FnMut(&Cost) -> Result<Interrupt>,
}

/// The same of the running machine, after a look at the clocks of its CPUs, and at what would show which of several causes holds them
/// down. Nothing is written, so that no log is cleared.
///
/// Errors: the source holds no host; the look cannot begin.
pub fn watched(
    source: &dyn Source,
    name: &str,
    config: &Config,
    today: &str,
    look: Look<'_>,
) -> Result<(HostView, Audit)> {
    let Look { time, begin } = look;
    let answered = Answered::new(source);
    let mut host = host::view(&answered);
    refuse_nothing(&answered, name)?;
    host.thresholds = config.thresholds.clone();
    host.advisories = config.advisories.clone();
    let open = rules::diagnosis::sights(&rules::audit::audit(&host));
    let watch = Watch::of(&host, &open, time);
    let interrupt = begin(&watch.cost())?;
    if !watch.is_empty() {
        watch.run(&answered, &mut host, &mut |time| interrupt.wait(time));
    }
    let audit = audit_of_site(&answered, &mut host, config, today);
    Ok((host, audit))
}

/// Audits what is known of a host, and asks the same source for the files that the advice is planned from.
pub fn audit(source: &dyn Source, host: &HostView) -> Audit {
    let mut audit = rules::audit::audit(host);
    let controls = host::controls(source, &advice::reads(&audit.findings));
    advice::advise(host, &controls, &mut audit.findings);
    audit
}

/// The same by the thresholds of the host's site, and without the findings that the site has decided about, which are apart. `today` is
/// a day as in `2026-11-20`.
pub fn audit_of_site(
    source: &dyn Source,
    host: &mut HostView,
    config: &Config,
    today: &str,
) -> Audit {
    host.thresholds = config.thresholds.clone();
    host.advisories = config.advisories.clone();
    // An audit that does not ask the configured controller knows nothing of it.
    let is_unasked = matches!(&host.redfish, Err(Missing { why: Why::NotHere(_), .. }));
    if config.redfish.is_some() && source.origin() == Origin::Live && is_unasked {
        host.redfish = Err(Missing::left_alone(redfish::NAME));
    }
    if let Some(results) = config.results.as_deref().filter(|_| source.origin() == Origin::Live) {
        host.baseline = host::baseline_in(source, results);
    }
    // One that makes no sense is told by the audit itself.
    if let Ok(catalog) = advisory::catalog(&config.advisories) {
        ask_controller(source, host, &catalog);
    }
    let mut audit = audit(source, host);
    audit.suppress(&config.ignored, today);
    audit
}

/// Asks the management controller of the running machine for the version of its firmware, where an advisory depends on it.
pub fn ask_controller(source: &dyn Source, host: &mut HostView, catalog: &[Arc<Advisory>]) {
    if source.origin() == Origin::Live && standing::depend_on_controller(host, catalog) {
        host.bmc_firmware = Some(controller::firmware());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Captured;

    #[test]
    fn a_controller_that_is_configured_and_not_asked_is_left_alone() {
        let live = host::Live::this_machine();
        let configured =
            "[redfish]\nurl = \"https://10.0.0.7\"\ntoken-file = \"/etc/fullclock/token\"\n";
        let told_of = |config: &str| {
            let mut host = HostView::unasked(Origin::Live);
            host.redfish = (&live as &dyn Source).redfish();
            audit_of_site(&live, &mut host, &Config::parse("c", config).unwrap(), "2026-11-27");
            host.redfish.unwrap_err()
        };
        assert_eq!(told_of(configured), Missing::left_alone(redfish::NAME));
        assert!(told_of("").is_absence());
    }

    #[test]
    fn nothing_listens_before_the_host_is_read_and_what_cannot_begin_is_an_error() {
        let look = |begin: &mut dyn FnMut(&Cost) -> Result<Interrupt>, text: &str| {
            let captured = Captured::excerpt(text).unwrap();
            let look = Look { time: Duration::from_millis(50), begin };
            let seen = watched(&captured, "db", &Config::default(), "2026-11-27", look);
            seen.map(|_| ()).map_err(|error| error.to_string())
        };
        let mut n_begun = 0;
        let mut begin = |_: &Cost| {
            n_begun += 1;
            anyhow::bail!("no signals")
        };
        let nothing = look(&mut begin, "").unwrap_err();
        assert!(!nothing.contains("signals"), "a host that is none is not looked at: {nothing}");
        let host = "//- /proc/cpuinfo\nprocessor : 0\nvendor_id : GenuineIntel\n";
        assert_eq!(look(&mut begin, host), Err("no signals".to_owned()));
        assert_eq!(n_begun, 1);
    }
}
