//! What is requested: settings, profiles, and what an audit of the host requests for its findings.

use anyhow::{Context, Result, anyhow, bail};
use facts::HostView;
use host::{Source, trusted_file};
use rules::audit::Audit;
use rules::finding::Finding;
use rules::plan::{Plan, Request};
use rules::profile::{LARGEST, Profile, SHIPPED};
use std::path::{Path, PathBuf};

/// What a user requests.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// `SETTING=VALUE`, or the id of a finding.
    pub what: &'a [String],
    /// Profiles, by name or path.
    pub profiles: &'a [String],
    /// Whether what can do harm is planned, too.
    pub i_know: bool,
}

/// What is requested of a host.
pub struct Requested {
    /// Each once.
    pub requests: Vec<Request>,
    /// The host, as far as the requests look at it.
    pub host: HostView,
    /// The findings that are to be fixed.
    faults: Vec<Fault>,
    /// Named checks that have no finding here.
    pub unfound: Vec<&'static str>,
}

/// The findings of one check, what is requested for them, and what else fixes the first.
struct Fault {
    check: &'static str,
    requests: Vec<Request>,
    means: String,
}

impl Requested {
    /// Checks with a finding that the plan does not change anything for, and what fixes that.
    pub fn unfixed(&self, plan: &Plan) -> Vec<(&'static str, String)> {
        let is_changed = |request: &Request| {
            let mut steps = plan.steps.iter().filter(|it| !it.change.writes.is_empty());
            // Of requests for one place one is planned, in the words of the first.
            steps.any(|it| {
                (it.request.setting.id, &it.request.value) == (request.setting.id, &request.value)
            })
        };
        let unfixed = self.faults.iter().filter(|it| !it.requests.iter().any(is_changed));
        unfixed.map(|it| (it.check, it.means.clone())).collect()
    }
}

/// What is requested. Where nothing is named, all findings of the host are to be fixed.
///
/// Errors: something named is neither a finding nor a setting; two requests contradict each other; a profile cannot be read.
pub fn asked(source: &dyn Source, options: Asked<'_>) -> Result<Requested> {
    let names: Vec<&String> = options.what.iter().filter(|it| !it.contains('=')).collect();
    if let Some(name) = names.iter().find(|it| rules::checks::find(it).is_none()) {
        bail!(not_a_check(name));
    }
    let is_bare = options.profiles.is_empty() && options.what.is_empty();
    if is_bare || !names.is_empty() {
        let host = host::view(source);
        let found = Found::on(&host);
        let requests = requests(options, &found)?;
        let named = |id: &str| is_bare || names.iter().any(|it| it.as_str() == id);
        let faults = found.faults(named);
        let checks = names.iter().filter_map(|it| rules::checks::find(it)).map(|it| it.id);
        let unfound = checks.filter(|id| faults.iter().all(|it| it.check != *id)).collect();
        return Ok(Requested { requests, host, faults, unfound });
    }
    let requests = requests(options, &Found::nothing())?;
    let host = host::view_of(source, rules::plan::looks_at(&requests));
    Ok(Requested { requests, host, faults: Vec::new(), unfound: Vec::new() })
}

/// What an audit found, and what it requests for that.
struct Found<'a> {
    host: Option<(&'a HostView, Audit)>,
}

impl<'a> Found<'a> {
    fn nothing() -> Found<'a> {
        Found { host: None }
    }

    fn on(host: &'a HostView) -> Found<'a> {
        Found { host: Some((host, rules::audit::audit(host))) }
    }

    /// The requests of all findings, or of those of one check.
    fn requests(&self, check: Option<&str>) -> Vec<Request> {
        let Some((host, audit)) = &self.host else { return Vec::new() };
        let found = audit.findings.iter().filter(|(it, _)| check.is_none_or(|id| it.id == id));
        found.flat_map(|(check, finding)| rules::advice::requests(host, check, finding)).collect()
    }

    /// The findings of the checks that are meant, a check's together.
    fn faults(&self, is_meant: impl Fn(&str) -> bool) -> Vec<Fault> {
        let Some((_, audit)) = &self.host else { return Vec::new() };
        let mut faults: Vec<Fault> = Vec::new();
        for (check, finding) in audit.findings.iter().filter(|(it, _)| is_meant(it.id)) {
            if faults.iter().all(|it| it.check != check.id) {
                let (requests, means) = (self.requests(Some(check.id)), by_other_means(finding));
                faults.push(Fault { check: check.id, requests, means });
            }
        }
        faults
    }

    /// The requests that fix a check's findings; none where it has no finding here.
    ///
    /// Errors: no setting fixes it, or whether it has a finding is unknown.
    fn fixing(&self, id: &str) -> Result<Vec<Request>> {
        let is_fixable = rules::settings::SETTINGS.iter().any(|it| it.fixes.contains(&id));
        let requests = self.requests(Some(id));
        if let Some((_, audit)) = &self.host {
            if let Some((_, missing)) = audit.unknown.iter().find(|(check, _)| check.id == id) {
                bail!("whether {id} is to be fixed is unknown: {missing}");
            }
            let found = audit.findings.iter().find(|(check, _)| check.id == id);
            match found.filter(|_| requests.is_empty()) {
                Some((_, finding)) => {
                    bail!("no setting fixes {id} here: {}", by_other_means(finding))
                }
                None if !is_fixable => {
                    bail!("no setting fixes {id}; `fullclock explain {id}` says what does")
                }
                None => {}
            }
        }
        Ok(requests)
    }
}

/// What fixes a finding that no setting fixes, or that nothing does.
fn by_other_means(finding: &Finding) -> String {
    let fix = &finding.fix;
    let said = fix.lasting.as_ref().or(fix.refused.first()).cloned();
    said.unwrap_or_else(|| "nothing is known to do about it".to_owned())
}

/// What is requested, by name or by what was found.
fn requests(options: Asked<'_>, found: &Found<'_>) -> Result<Vec<Request>> {
    if options.profiles.is_empty() && options.what.is_empty() {
        return without_repetition(found.requests(None));
    }
    let mut requests = Vec::new();
    for name in options.profiles {
        requests.extend(profile_requests(name)?);
    }
    for what in options.what {
        if what.contains('=') {
            requests.push(Request::parse(what).map_err(|error| anyhow!(error))?);
        } else {
            requests.extend(found.fixing(what)?);
        }
    }
    without_repetition(requests)
}

fn not_a_check(id: &str) -> String {
    match rules::settings::find(id) {
        Some(setting) => {
            format!("{id} is a setting: say {id}=VALUE, VALUE being {}", setting.takes)
        }
        None => {
            format!("{id:?} is neither a finding nor SETTING=VALUE; `fullclock explain` lists both")
        }
    }
}

/// The requests, each once. Two that want different things of one setting are an error, unless they name different CPUs.
fn without_repetition(requests: Vec<Request>) -> Result<Vec<Request>> {
    let mut kept: Vec<Request> = Vec::new();
    for request in requests {
        // Of `C6:off` and `C3:off` each is about another thing.
        let subject =
            |it: &Request| it.value.split_once(':').map(|(subject, _)| subject.to_owned());
        let is_same_place = |it: &&Request| {
            it.setting.id == request.setting.id
                && it.cpus == request.cpus
                && subject(it) == subject(&request)
        };
        match kept.iter().find(is_same_place) {
            None => kept.push(request),
            Some(earlier) if earlier.value == request.value => {}
            Some(earlier) => bail!(
                "{id}={} and {id}={} are requested; give one of them",
                earlier.value_text(),
                request.value_text(),
                id = request.setting.id
            ),
        }
    }
    Ok(kept)
}

/// Plans requests on a host that has been looked at.
pub fn planned(source: &dyn Source, requested: &Requested, options: Asked<'_>) -> Plan {
    let Requested { requests, host, .. } = requested;
    let controls = host::controls(source, &rules::plan::reads(requests));
    let mut plan = rules::plan::plan(host, controls, requests, options.i_know);
    // What was named and is no SETTING=VALUE is a finding.
    options.what.iter().for_each(|it| plan.must_fix(it));
    plan
}

const PROFILES: &str = "/etc/fullclock";

/// The requests of the profile with this name or path. One in /etc/fullclock has precedence over one that comes with the program.
///
/// Errors: there is none; others than root and the caller can write it, or a folder on the way to it; it is no profile.
pub(super) fn profile_requests(name: &str) -> Result<Vec<Request>> {
    let text = text_of(name)?;
    let profile = Profile::parse(name, &text).map_err(|error| anyhow!(error))?;
    profile.requests(name).map_err(|error| anyhow!(error))
}

fn text_of(name: &str) -> Result<String> {
    if name.contains('/') {
        let path = Path::new(name);
        return read_profile(path)?.with_context(|| format!("{name}: there is no such file"));
    }
    let path = PathBuf::from(PROFILES).join(format!("{name}.toml"));
    // Where there is none, it does not matter who could write the folders on the way.
    if path.exists()
        && let Some(text) = read_profile(&path)?
    {
        return Ok(text);
    }
    match SHIPPED.iter().find(|it| it.name == name) {
        Some(shipped) => Ok(shipped.text.to_owned()),
        None => {
            let shipped: Vec<&str> = SHIPPED.iter().map(|it| it.name).collect();
            let shipped = shipped.join(", ");
            bail!("there is no profile {name:?}: neither {} nor one of {shipped}", path.display())
        }
    }
}

/// The text of a profile; `None` where there is no such file.
fn read_profile(path: &Path) -> Result<Option<String>> {
    let bytes = trusted_file::read(path, LARGEST)?;
    let text = bytes.map(String::from_utf8).transpose();
    text.with_context(|| format!("{} is not a text file", path.display()))
}
