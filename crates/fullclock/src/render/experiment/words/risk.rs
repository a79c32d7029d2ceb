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

/// The same for everything that a plan varies.
pub(super) fn i_know_of(design: &Design) -> &'static str {
    let requests = design
        .factors
        .iter()
        .flat_map(|factor| factor.levels.iter().filter_map(move |level| factor.request(level)));
    i_know(&requests.collect::<Vec<String>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_refused_without_it_asks_for_it() {
        let of = |requests: &[&str]| {
            i_know(&requests.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>())
        };
        assert_eq!(of(&["governor=performance", "c1e=off@0-3"]), " --i-know");
        assert_eq!(of(&["governor=performance", "idle-state=C6:off"]), "");
    }
}
