//! A plan that is shown: nothing is written.

use super::requested::{Asked, asked, planned};
use crate::copies::refuse_nothing;
use anyhow::Result;
use facts::{Fact, Subject, Subjects};
use host::{Answered, CachedSource, Source};
use rules::plan::Plan;

/// What a change would write to a host, and what it would not fix.
pub struct Drafted {
    /// What would be written.
    pub plan: Plan,
    /// Checks with a finding that the plan does not change anything for, and what fixes that.
    pub unfixed: Vec<(&'static str, String)>,
    /// Named checks that have no finding on the host.
    pub unfound: Vec<&'static str>,
    /// TuneD's active profiles.
    pub tuned_profiles: Fact<Vec<String>>,
}

/// Plans what is requested for the host called `name`.
///
/// Errors: the source holds no host; something is named that does not exist.
pub fn drafted(source: &dyn Source, name: &str, request: Asked<'_>) -> Result<Drafted> {
    let cached = CachedSource::new(source);
    let answered = Answered::new(&cached);
    let requested = asked(&answered, request)?;
    let plan = planned(&answered, &requested, request);
    refuse_nothing(&answered, name)?;
    let unfixed = requested.unfixed(&plan);
    let tuners = host::view_of(&answered, Subjects::of(&[Subject::Tuners])).tuners;
    let tuned_profiles = tuners.tuned_profile;
    Ok(Drafted { plan, unfixed, unfound: requested.unfound, tuned_profiles })
}
