//! The word without which a command refuses what can do harm.

use lab::experiment::Design;
use rules::setting::Risk;

/// ` --i-know` where one of these requests, `c1e=off`, is refused without it.
pub(super) fn i_know<'a>(requests: impl IntoIterator<Item = &'a String>) -> &'static str {
    let is_high = |request: &String| {
        let id = request.split_once('=').map_or(&**request, |it| it.0);
        rules::settings::find(id).is_some_and(|it| it.risk == Risk::High)
    };
    if requests.into_iter().any(is_high) { " --i-know" } else { "" }
}

/// The same for everything that a plan varies, and where trials bring back what a setting mends.
pub(crate) fn i_know_of(design: &Design) -> &'static str {
    let requests = design
        .factors
        .iter()
        .flat_map(|factor| factor.levels.iter().filter_map(move |level| factor.request(level)));
    if design.factors.iter().any(|it| rules::settings::only_mends(&it.name)) {
        return " --i-know";
    }
    i_know(&requests.collect::<Vec<String>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::experiment::Factor;

    #[test]
    fn only_what_is_refused_without_it_asks_for_it() {
        let of = |requests: &[&str]| {
            i_know(&requests.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(of(&["governor=performance", "c1e=off@0-3"]), " --i-know");
        assert_eq!(of(&["governor=performance", "idle-state=C6:off"]), "");
    }

    #[test]
    fn a_study_that_brings_a_fault_back_asks_for_it_and_mending_the_fault_does_not() {
        let levels = [Factor::AS_FOUND, "off"].map(str::to_owned).to_vec();
        let factor = Factor { name: "on-demand-modulation".to_owned(), levels };
        let request = factor.request("off").unwrap();
        let design = Design { factors: vec![factor], ..Design::default() };
        assert_eq!(i_know_of(&design), " --i-know");
        assert_eq!(i_know(&[request]), "");
    }
}
