//! The figure in what a command prints.

use crate::child::tail;
use crate::failure::Failure;
use regex_lite::Regex;

/// Where the figure is.
pub(super) struct Metric {
    regex: Regex,
}

impl Metric {
    /// Errors: it is no regular expression, or has not exactly one group.
    pub(super) fn new(text: &str) -> Result<Metric, Failure> {
        let unready = |why: String| Failure::Unready(format!("--metric {text:?}: {why}"));
        let regex = Regex::new(text).map_err(|error| unready(error.to_string()))?;
        // The whole match counts as a group.
        match regex.captures_len() {
            2 => Ok(Metric { regex }),
            n => Err(unready(format!(
                "it needs one group around the number, as in 'tps = ([0-9.]+)', and has {}",
                n.saturating_sub(1)
            ))),
        }
    }

    /// The number that it finds in what `program` printed; the last one, which is that of the whole run where others
    /// are of its parts.
    pub(super) fn find(&self, program: &str, printed: &str) -> Result<f64, Failure> {
        let found = self.regex.captures_iter(printed).last();
        let Some(text) = found.as_ref().and_then(|it| it.get(1)).map(|it| it.as_str()) else {
            let (regex, tail) = (self.regex.as_str(), tail(printed));
            let text = format!(
                "{program} printed nothing that matches --metric {regex:?}; its last words: {tail}"
            );
            return Err(Failure::NoFigure(text));
        };
        match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(Failure::NoFigure(format!(
                "{program} printed {text:?} as its metric, which is no finite number"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(regex: &str, text: &str) -> String {
        let found = Metric::new(regex).and_then(|it| it.find("pgbench", text));
        found.map_or_else(|error| error.to_string(), |it| it.to_string())
    }

    #[test]
    fn the_last_number_counts() {
        assert_eq!(found("tps = ([0-9.]+)", "tps = 1\ntps = 812.5 (without)\n"), "812.5");
    }

    #[test]
    fn what_is_no_number_is_told_and_never_a_figure() {
        let no_number = "pgbench printed \"NaN\" as its metric, which is no finite number";
        assert_eq!(found("tps = (\\S+)", "tps = NaN"), no_number);
        assert!(found("tps = (\\S+)", "tps = inf").ends_with("no finite number"));
        assert!(
            found("tps = ([0-9.]+)", "ERROR: no table\n")
                .ends_with("its last words: ERROR: no table")
        );
    }

    #[test]
    fn an_expression_has_one_group() {
        assert!(found("tps", "").contains("has 0"));
        assert!(found("(a)(b)", "").contains("has 2"));
        assert!(found("(", "").starts_with("--metric \"(\": "));
    }
}
