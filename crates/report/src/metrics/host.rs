//! What a machine is: `fullclock_host_info`.

use crate::openmetrics::{Exposition, Type};

const NAME: &str = "fullclock_host_info";

/// A label that is empty is the same as none to Prometheus.
pub(super) fn tell(page: &mut Exposition, labels: &[(&'static str, String)]) {
    let told: Vec<(&str, &str)> =
        labels.iter().filter(|it| !it.1.is_empty()).map(|it| (it.0, &*it.1)).collect();
    page.family_of(Type::Info, NAME, "What the machine is", "");
    page.sample(NAME, &told, 1.0);
}
