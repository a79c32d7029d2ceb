//! Reads what the last baseline said of the speed of the machine, and which boot this is.

use crate::Source;
use facts::baseline::{Baseline, RESULTS, STANDING, Standing, VERSION};
use facts::{Expected, Fact};

pub(super) fn read(source: &dyn Source) -> Fact<Baseline> {
    baseline_in(source, RESULTS)
}

/// The last baseline of this machine whose results are in a folder other than the usual one.
pub fn baseline_in(source: &dyn Source, results: &str) -> Fact<Baseline> {
    let standing = source.parsed(&format!("{results}/{STANDING}"), standing)?;
    Ok(Baseline { standing, boot: source.boot_id() })
}

fn standing(text: &str) -> Result<Standing, Expected> {
    let expected = Expected("a standing of fullclock baseline, version 1");
    let standing: Standing = serde_json::from_str(text).map_err(|_| expected)?;
    if standing.version == VERSION { Ok(standing) } else { Err(expected) }
}

#[cfg(test)]
mod tests {
    use crate::{Captured, Source};
    use facts::Fact;
    use facts::baseline::Baseline;

    const TEXT: &str = r#"{"version":1,"boot":"b-1","at":"2026-05-12T08:00:00.000Z","n_boots":4,"ratios":[{"part":"memory","ratio":0.9}],"slower":[]}"#;

    fn read(excerpt: &str) -> Fact<Baseline> {
        let captured = Captured::excerpt(excerpt).unwrap();
        super::read(&captured as &dyn Source)
    }

    #[test]
    fn a_standing_is_read_with_the_boot_that_it_is_looked_at_in() {
        let host = format!(
            "//- /var/lib/fullclock/baseline/standing.json\n{TEXT}\n\
             //- /proc/sys/kernel/random/boot_id\nb-2\n"
        );
        let baseline = read(&host).unwrap();
        assert_eq!((&*baseline.standing.boot, baseline.standing.n_boots), ("b-1", 4));
        assert_eq!(baseline.boot.as_deref(), Ok("b-2"));
    }

    #[test]
    fn a_machine_without_baselines_has_none_and_a_damaged_file_is_not_taken_for_that() {
        assert!(read("").unwrap_err().is_absence());
        for text in [&TEXT[..60], &TEXT.replace("\"version\":1", "\"version\":2"), ""] {
            let host = format!("//- /var/lib/fullclock/baseline/standing.json\n{text}\n");
            let missing = read(&host).unwrap_err();
            assert!(
                !missing.is_absence() && missing.to_string().contains("version 1"),
                "{missing}"
            );
        }
    }
}
