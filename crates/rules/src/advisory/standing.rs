//! Which advisories concern a host: by its versions, and by what the checks found there.

use super::version::{Fit, Range, Release, Version, is_build_since};
use super::{Advisory, Affected, Symptom};
use crate::check::Check;
use crate::finding::{Confidence, Evidence, Finding, Moment, Severity};
use facts::{Fact, HostView, Missing, Why};
use std::sync::Arc;

/// What an advisory is to a host.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The advisory.
    pub advisory: Arc<Advisory>,
    /// How far it concerns the host.
    pub state: State,
    /// What of the host was compared; empty where it does not concern it.
    pub compared: Vec<Evidence>,
}

/// How far an advisory concerns a host.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The host has what is affected, and a check found what the fault does.
    Seen(Sight),
    /// The host has a version that is affected.
    Affected(Unseen),
    /// The number of its kernel is affected; the distribution may have fixed it.
    Perhaps,
    /// It could not be read.
    Unknown(Missing),
    /// The host has nothing that is affected.
    Not,
}

/// What shows that a fault acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// The checks that found it.
    pub by: Vec<&'static str>,
    /// The worst of their findings.
    pub severity: Severity,
    /// How sure the surest of them is.
    pub confidence: Confidence,
    /// Whether it acts at the moment.
    pub is_live: bool,
    /// Whether the version is affected for certain.
    pub is_certain: bool,
}

/// Why a fault is not seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Unseen {
    /// The checks that would find it did not.
    NotFound,
    /// A check that would find it could not be made.
    Unknown(Missing),
    /// No check can see it.
    NoCheck,
}

/// What the other checks said of a host.
#[derive(Clone, Copy)]
pub struct Looked<'a> {
    /// Their findings.
    pub findings: &'a [(&'static Check, Finding)],
    /// Those that could not be made.
    pub unknown: &'a [(&'static Check, Missing)],
}

impl State {
    /// The words in output.
    pub fn name(&self) -> &'static str {
        match self {
            State::Seen(_) => "seen here",
            State::Affected(_) => "affected by version",
            State::Perhaps => "perhaps affected",
            State::Unknown(_) => "unknown",
            State::Not => "not affected",
        }
    }

    /// What concerns a host most is first.
    fn rank(&self) -> u8 {
        match self {
            State::Seen(_) => 0,
            State::Affected(_) => 1,
            State::Perhaps => 2,
            State::Unknown(_) => 3,
            State::Not => 4,
        }
    }
}

/// What each of these advisories is to a host, those first that concern it most. Without what the checks said, none is seen.
pub fn standings(
    host: &HostView,
    catalog: Vec<Arc<Advisory>>,
    looked: Option<Looked<'_>>,
) -> Vec<Standing> {
    let standing = |advisory: Arc<Advisory>| {
        let (state, compared) = state(host, &advisory, looked);
        Standing { advisory, state, compared }
    };
    let mut standings: Vec<Standing> = catalog.into_iter().map(standing).collect();
    // The sort is stable: of equals, the order of the catalog stays.
    standings.sort_by_key(|it| it.state.rank());
    standings
}

fn state(
    host: &HostView,
    advisory: &Advisory,
    looked: Option<Looked<'_>>,
) -> (State, Vec<Evidence>) {
    let fits = advisory.affected.iter().map(|it| (it, it.fit(host)));
    let mut unknown = None;
    let mut best: Option<(Fit, &Affected)> = None;
    for (affected, fit) in fits {
        match fit {
            Ok(Fit::No) => {}
            Ok(fit) if best.is_none_or(|(other, _)| other < fit) => best = Some((fit, affected)),
            Ok(_) => {}
            Err(missing) => unknown = unknown.or(Some(missing)),
        }
    }
    let Some((fit, affected)) = best else {
        return (unknown.map_or(State::Not, State::Unknown), Vec::new());
    };
    let state = match (fit, sight(advisory, looked)) {
        (_, Ok(sight)) => State::Seen(Sight { is_certain: fit == Fit::Yes, ..sight }),
        (Fit::Yes, Err(unseen)) => State::Affected(unseen),
        (_, Err(_)) => State::Perhaps,
    };
    (state, affected.compared(host))
}

/// What shows that it acts, or why nothing does.
fn sight(advisory: &Advisory, looked: Option<Looked<'_>>) -> Result<Sight, Unseen> {
    let Some(looked) = looked.filter(|_| !advisory.symptoms.is_empty()) else {
        return Err(Unseen::NoCheck);
    };
    let is_of = |symptom: &Symptom, check: &Check| symptom.check == check.id;
    let shows = |(check, finding): &&(&'static Check, Finding)| {
        advisory.symptoms.iter().any(|it| is_of(it, check) && it.is_in(finding))
    };
    let found: Vec<&(&'static Check, Finding)> = looked.findings.iter().filter(shows).collect();
    let Some(severity) = found.iter().map(|it| it.1.severity).max() else {
        let mut unknown = looked.unknown.iter();
        let unknown =
            unknown.find(|(check, _)| advisory.symptoms.iter().any(|it| is_of(it, check)));
        return Err(unknown.map_or(Unseen::NotFound, |it| Unseen::Unknown(it.1.clone())));
    };
    let mut by: Vec<&'static str> = Vec::new();
    for (check, _) in &found {
        if !by.contains(&check.id) {
            by.push(check.id);
        }
    }
    let confidence = found.iter().map(|it| it.1.confidence).max().unwrap_or(Confidence::Low);
    let is_live = found.iter().any(|it| it.1.held.moment == Moment::Now);
    Ok(Sight { by, severity, confidence, is_live, is_certain: true })
}

impl Symptom {
    /// Whether a finding of its check is about it.
    fn is_in(&self, finding: &Finding) -> bool {
        let Some(words) = &self.mentions else { return true };
        let evidence = finding.evidence.iter().flat_map(|it| [&it.source, &it.value]);
        [&finding.message].into_iter().chain(evidence).any(|it| it.contains(words.as_str()))
    }
}

fn fit_if(is_so: bool) -> Fit {
    if is_so { Fit::Yes } else { Fit::No }
}

/// Whether the version of the management controller's firmware has to be read, because an advisory concerns the host or not by it alone.
pub fn depend_on_controller(host: &HostView, catalog: &[Arc<Advisory>]) -> bool {
    let fits = |it: &Affected| !it.bmc.is_empty() && it.fit_besides(host) != Ok(Fit::No);
    host.bmc_firmware.is_none() && catalog.iter().any(|it| it.affected.iter().any(fits))
}

/// Whether a fact fits, where the advisory asks for it: what a host does not have, does not.
fn asked<A: ?Sized, T>(
    wanted: Option<&A>,
    fact: Result<&T, &Missing>,
    fits: impl Fn(&A, &T) -> bool,
) -> Fact<Fit> {
    compared(wanted, fact, |wanted, fact| Ok(fit_if(fits(wanted, fact))))
}

/// The same of what may be no version, and cannot be compared then.
fn compared<A: ?Sized, T>(
    wanted: Option<&A>,
    fact: Result<&T, &Missing>,
    fit: impl Fn(&A, &T) -> Fact<Fit>,
) -> Fact<Fit> {
    match (wanted, fact) {
        (None, _) => Ok(Fit::Yes),
        (Some(wanted), Ok(fact)) => fit(wanted, fact),
        (Some(_), Err(missing)) if missing.is_absence() => Ok(Fit::No),
        (Some(_), Err(missing)) => Err(missing.clone()),
    }
}

/// Where one of these ranges has to have the version in the words of a firmware, which `what` is that of. Words without a version are unknown.
fn in_ranges(ranges: &[Range], words: &str, what: &str) -> Fact<Fit> {
    let version = Version::within(words)
        .ok_or_else(|| Missing::malformed(what, words, "a version of numbers, as in 1.2.3"))?;
    Ok(fit_if(ranges.iter().any(|it| it.has(&version))))
}

/// What holds the version of the machine's firmware.
const FIRMWARE: &str = "/sys/class/dmi/id/bios_version";

/// What holds that of its management controller.
const CONTROLLER: &str = "the firmware of the management controller";

/// What holds the revision of a processor's microcode.
const MICROCODE: &str = "/proc/cpuinfo: microcode";

/// What holds that of the kernel.
const RELEASE: &str = "/proc/sys/kernel/osrelease";

/// All have to fit: one that does not settles it, whatever could not be read.
fn all(conditions: impl IntoIterator<Item = Fact<Fit>>) -> Fact<Fit> {
    let mut fit = Ok(Fit::Yes);
    for condition in conditions {
        match condition {
            Ok(Fit::No) => return Ok(Fit::No),
            Ok(other) => fit = fit.map(|it| it.min(other)),
            Err(missing) => fit = fit.and(Err(missing)),
        }
    }
    fit
}

fn begins(wanted: &str, text: &str) -> bool {
    let beginning = text.get(..wanted.len());
    beginning.is_some_and(|it| it.eq_ignore_ascii_case(wanted))
}

/// `None` where nothing is asked for.
fn some<T>(list: &[T]) -> Option<&[T]> {
    Some(list).filter(|it| !it.is_empty())
}

impl Affected {
    /// Whether a host has this.
    fn fit(&self, host: &HostView) -> Fact<Fit> {
        all([self.fit_besides(host), self.controller(host)])
    }

    /// Whether a host has all but the firmware of the management controller.
    fn fit_besides(&self, host: &HostView) -> Fact<Fit> {
        all([self.machine(host), self.processor(host), self.microcode(host), self.kernel(host)])
    }

    fn controller(&self, host: &HostView) -> Fact<Fit> {
        let unasked = || Missing::not_collected(CONTROLLER);
        let told = host.bmc_firmware.clone().unwrap_or_else(|| Err(unasked()));
        let fit = |ranges: &[Range], text: &String| in_ranges(ranges, text, CONTROLLER);
        compared(some(&self.bmc), told.as_ref(), fit)
    }

    fn machine(&self, host: &HostView) -> Fact<Fit> {
        let dmi = &host.dmi;
        let version = dmi.firmware_version.as_ref();
        let names =
            [(&self.maker, &dmi.vendor), (&self.product, &dmi.product), (&self.board, &dmi.board)];
        let asks = names.iter().any(|(it, _)| it.is_some())
            || self.firmware_name.is_some()
            || !self.firmware.is_empty();
        if !asks {
            return Ok(Fit::Yes);
        }
        let hidden = host.platform.hides_devices("the firmware of the machine");
        let names = names.map(|(wanted, fact)| {
            asked(wanted.as_ref(), fact.as_ref(), |wanted, text| begins(wanted, text))
        });
        let name = asked(self.firmware_name.as_ref(), version, |it, text: &String| {
            text.contains(it.as_str())
        });
        let fit = |ranges: &[Range], text: &String| in_ranges(ranges, text, FIRMWARE);
        let firmware = compared(some(&self.firmware), version, fit);
        all(names.into_iter().chain([name, firmware, hidden.map(|()| Fit::Yes)]))
    }

    fn processor(&self, host: &HostView) -> Fact<Fit> {
        let info = host.cpuinfo.as_ref();
        all([
            asked(self.cpu_maker.as_ref(), info, |it, info| info.vendor == *it),
            asked(self.cpu_flag.as_ref(), info, |it, info| info.has(it)),
            asked(self.family.as_ref(), info, |it, info| info.family == *it),
            asked(some(&self.models), info, |it, info| it.contains(&info.model)),
            asked(self.model_name.as_ref(), info, |it, info| info.model_name.contains(it.as_str())),
        ])
    }

    fn microcode(&self, host: &HostView) -> Fact<Fit> {
        let Some(ranges) = some(&self.microcode) else { return Ok(Fit::Yes) };
        let has = compared(Some(ranges), host.cpuinfo.as_ref(), |ranges, info| {
            let is_in = |revision: &u64| ranges.iter().any(|it| it.has(&Version::of(*revision)));
            match info.microcode.missing() {
                _ if info.microcode.known().any(|(_, it)| is_in(it)) => Ok(Fit::Yes),
                // Of a CPU whose revision is none, it is unknown; and so where no line tells one.
                Some(missing) => Err(missing.clone()),
                None if info.microcode.is_empty() => Err(Missing {
                    what: MICROCODE.to_owned(),
                    why: Why::Failed("no CPU shows a revision".to_owned()),
                }),
                None => Ok(Fit::No),
            }
        });
        // A hypervisor shows its guests any revision.
        let hidden = host.platform.hides_devices("the microcode of the processor");
        all([has, hidden.map(|()| Fit::Yes)])
    }

    fn kernel(&self, host: &HostView) -> Fact<Fit> {
        let kernel = &host.kernel;
        let policies = host.cpufreq.policies.as_ref();
        let driver = compared(self.driver.as_ref(), policies, |it, policies| {
            let drivers = || policies.iter().map(|policy| policy.driver.as_ref());
            let unread = || drivers().find_map(|it| it.err().filter(|it| !it.is_absence()));
            match drivers().any(|other| other == Ok(it)) {
                true => Ok(Fit::Yes),
                false => unread().map_or(Ok(Fit::No), |it| Err(it.clone())),
            }
        });
        let config = asked(self.config.as_ref(), kernel.config.as_ref(), |it, config| {
            config.value(&it.0) == Some(it.1.as_str())
        });
        let boot = asked(self.boot.as_ref(), kernel.boot_line.as_ref(), |it, line| line.has(it));
        let hypervisor =
            asked(self.hypervisor.as_ref(), host.platform.hypervisor.as_ref(), |it, name| {
                name.as_ref().is_some_and(|name| begins(it, name))
            });
        all([self.release(host), driver, config, boot, hypervisor])
    }

    fn release(&self, host: &HostView) -> Fact<Fit> {
        if self.kernel.is_empty() {
            return Ok(Fit::Yes);
        }
        let release = match host.kernel.release.as_ref() {
            Err(missing) if missing.is_absence() => return Ok(Fit::No),
            release => release?,
        };
        if self.backports.iter().any(|it| is_build_since(release, it)) {
            return Ok(Fit::No);
        }
        let parsed = Release::parse(release).ok_or_else(|| {
            Missing::malformed(
                RELEASE,
                release,
                "a release that begins with a version, as in 6.1.94",
            )
        })?;
        Ok(self.kernel.iter().map(|range| range.fits(&parsed)).max().unwrap_or(Fit::No))
    }

    /// What of a host that has this was compared.
    fn compared(&self, host: &HostView) -> Vec<Evidence> {
        let dmi = &host.dmi;
        let revisions = host.cpuinfo.as_ref().ok().and_then(|it| it.microcode.known().next());
        let revision = revisions.map(|(_, it)| format!("{it:#x}"));
        let text = |fact: &Fact<String>| fact.as_ref().ok().cloned();
        let asked = [
            (!self.firmware.is_empty(), FIRMWARE, text(&dmi.firmware_version)),
            (
                !self.bmc.is_empty(),
                "firmware_revision of the management controller",
                host.bmc_firmware.as_ref().and_then(text),
            ),
            (self.product.is_some(), "/sys/class/dmi/id/product_name", text(&dmi.product)),
            (self.board.is_some(), "/sys/class/dmi/id/board_name", text(&dmi.board)),
            (!self.microcode.is_empty(), MICROCODE, revision),
            (!self.kernel.is_empty(), RELEASE, text(&host.kernel.release)),
            (self.driver.is_some(), "scaling_driver", self.driver.clone()),
        ];
        let compared = asked.into_iter().filter(|(is_asked, ..)| *is_asked);
        compared
            .filter_map(|(_, source, value)| {
                Some(Evidence { source: source.to_owned(), value: value? })
            })
            .collect()
    }
}
