//! How fast the machine is compared with its earlier boots: `fullclock baseline`.

use crate::openmetrics::Exposition;
use facts::baseline::Standing;

const NAME: &str = "fullclock_baseline_speed_ratio";

pub(super) fn tell(page: &mut Exposition, standing: &Standing) {
    if standing.ratios.is_empty() {
        return;
    }
    let help = "Speed in the last baseline over that of boots before the change that made it slower, else over that of the other boots with these settings; of latencies their inverse";
    page.family(NAME, help, "ratio");
    for it in &standing.ratios {
        page.sample(NAME, &[("part", it.part.name())], it.ratio);
    }
}
