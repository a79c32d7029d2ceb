//! Profiles: settings that belong together, each with its reason, as TOML.

use crate::plan::Request;
use serde::{Deserialize, Serialize};

/// What one file holds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is for, in a few words.
    pub title: String,
    /// In any order: a plan brings them into the one that works.
    #[serde(rename = "setting")]
    pub lines: Vec<Line>,
}

/// One setting of a profile.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// `governor=performance`, as on the command line.
    pub set: String,
    /// Why the profile has the line, in its author's words.
    pub because: String,
    /// Whether a host that has no such thing is an error; otherwise it is left as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// More than anybody writes by hand; a larger file is something else.
pub const LARGEST: usize = 1 << 16;

/// A profile that comes with the program.
pub struct Shipped {
    /// The name it is asked for by.
    pub name: &'static str,
    /// Its TOML.
    pub text: &'static str,
}

/// Every profile that comes with the program.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "database-throughput",
        text: include_str!("../profiles/database-throughput.toml"),
    },
    Shipped { name: "database-latency", text: include_str!("../profiles/database-latency.toml") },
    Shipped { name: "powersave-night", text: include_str!("../profiles/powersave-night.toml") },
];

impl Profile {
    /// Parses a file, `name` being what errors call it.
    ///
    /// Errors: no TOML, a field that is missing or unknown, no setting at all.
    pub fn parse(name: &str, text: &str) -> Result<Profile, String> {
        if text.len() > LARGEST {
            return Err(format!(
                "{name} has {} bytes, expected a profile of at most {LARGEST}",
                text.len()
            ));
        }
        let profile: Profile =
            toml::from_str(text).map_err(|error| format!("{name}{}", toml_fault(text, &error)))?;
        if profile.lines.is_empty() {
            return Err(format!("{name} has no [[setting]]"));
        }
        Ok(profile)
    }

    /// Its settings as requests.
    ///
    /// Errors: a line that names no setting, with the line.
    pub fn requests(&self, name: &str) -> Result<Vec<Request>, String> {
        let request = |line: &Line| {
            let request = Request::parse(&line.set).map_err(|error| format!("{name}: {error}"))?;
            Ok(Request { because: line.because.clone(), if_here: !line.required, ..request })
        };
        self.lines.iter().map(request).collect()
    }
}

/// What is wrong with a text of TOML, and where, as the end of a message of one line: `, line 3, column 1: ...`. The error's own words
/// quote the line below each other, which would look like lines of output.
pub fn toml_fault(text: &str, error: &toml::de::Error) -> String {
    let what = error.message().lines().collect::<Vec<_>>().join("; ");
    let Some(before) = error.span().and_then(|it| text.get(..it.start)) else {
        return format!(": {what}");
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
    format!(", line {line}, column {column}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_shipped_profile_names_settings_and_gives_reasons() {
        for Shipped { name, text } in SHIPPED {
            let profile = Profile::parse(name, text).unwrap();
            assert!(
                profile.requests(name).unwrap().iter().all(|it| it.because.len() > 20),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_profile_is_said_with_its_name_and_line() {
        let error = |text: &str| Profile::parse("night.toml", text).unwrap_err();
        assert!(
            error("title = 1").starts_with("night.toml, line 1, column 9: invalid type"),
            "{}",
            error("title = 1")
        );
        let unknown = "title = ''\n[[setting]]\nset = 'x=1'\nbecause = ''\nwhen = 'night'";
        assert!(error(unknown).contains("unknown field `when`"), "{}", error(unknown));
        assert_eq!(error("title = ''\nsetting = []"), "night.toml has no [[setting]]");
        let profile =
            Profile::parse("p", "title = ''\n[[setting]]\nset = 'x=1'\nbecause = ''").unwrap();
        let error = profile.requests("p").err().unwrap();
        assert_eq!(error, "p: there is no setting \"x\"; `fullclock explain` lists them");
    }

    #[test]
    fn the_page_has_every_key_and_an_example_that_is_read() {
        const PAGE: &str = include_str!("../../../docs/profile.md");
        // Where a key is unknown, the parser lists those that there are.
        let keys = |text: &str, of: &str| -> Vec<String> {
            let error = Profile::parse("p", text).unwrap_err();
            let (_, expected) = error.split_once("expected ").unwrap();
            expected.split('`').skip(1).step_by(2).map(|it| format!("{of}{it}")).collect()
        };
        let line = keys("title = ''\n[[setting]]\nunknown = 1", "setting.");
        let expected = [keys("unknown = 1", ""), line].concat();
        let rows = PAGE.lines().filter_map(|it| it.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<&str>>(), expected);
        let (_, rest) = PAGE.split_once("```toml\n").unwrap();
        let example = Profile::parse("example", rest.split("```").next().unwrap()).unwrap();
        assert_eq!(example.requests("example").unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn hostile_profiles_are_errors_and_no_panics(text in "\\PC{0,200}") {
            if let Ok(profile) = Profile::parse("p", &text) {
                prop_assert!(profile.lines.iter().all(|it| it.set.len() <= text.len()));
            }
        }

        #[test]
        fn hostile_lines_are_errors_and_no_panics(set in "[a-z-]{0,12}=?[\\PC]{0,20}@?[0-9,-]{0,9}") {
            let line = Line { set, because: String::new(), required: false };
            let profile = Profile { title: String::new(), lines: vec![line.clone()] };
            if let Ok(requests) = profile.requests("p") {
                prop_assert_eq!(requests.len(), 1);
                prop_assert!(line.set.starts_with(requests[0].setting.id));
            }
        }
    }
}
