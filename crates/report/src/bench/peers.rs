//! How the speed of a machine compares with others that have the same processor.

use lab::known::Known;
use lab::peers::Standing;

pub(super) fn standing_text(found: &Known<Standing>) -> String {
    let it = match found {
        Known::Value(it) => it,
        Known::Missing { missing } => return format!("unknown: {missing}"),
    };
    let Standing { speed, model, n_peers, median } = it;
    let whom = match n_peers {
        1 => "of its one peer".to_owned(),
        n => format!("of the median of its {n} peers"),
    };
    let percent = it.share() * 100.0;
    let duty = it.duty_in_eighths().map_or_else(String::new, |eighths| {
        let duty = f64::from(eighths) * 12.5;
        format!("; a clock modulated to a duty cycle of {duty} % would be that slow")
    });
    format!(
        "{speed:.0} M/s is {percent:.1} % {whom} with the same processor ({model}), {median:.0} M/s{duty}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(speed: f64, n_peers: usize, median: f64) -> Known<Standing> {
        let model = "Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz".to_owned();
        Known::Value(Standing { speed, model, n_peers, median })
    }

    #[test]
    fn the_published_pair_is_as_slow_as_a_duty_cycle_of_a_quarter() {
        let found = stands(673.0, 1, 2713.0);
        assert_eq!(
            standing_text(&found),
            "673 M/s is 24.8 % of its one peer with the same processor (Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz), \
             2713 M/s; a clock modulated to a duty cycle of 25 % would be that slow"
        );
    }

    #[test]
    fn a_healthy_machine_is_like_the_middle_of_its_peers() {
        let found = stands(707.0, 3, 700.0);
        let text = standing_text(&found);
        assert!(text.starts_with("707 M/s is 101.0 % of the median of its 3 peers"), "{text}");
        assert!(text.ends_with(", 700 M/s"), "{text}");
    }

    #[test]
    fn who_has_no_peers_is_told_why() {
        let none = Known::Missing { missing: "none of 4 peers has this processor, C".to_owned() };
        assert_eq!(standing_text(&none), "unknown: none of 4 peers has this processor, C");
    }
}
