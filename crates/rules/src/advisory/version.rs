//! Versions as numbers, ranges of them, and what the release of a kernel says of its version.
//!
//! Sources: the stable releases of Linux (`6.1.94` is the 94th of the series 6.1); the names that distributions give to their kernels. Debian,
//! Ubuntu and Red Hat write the number 0 in the third place and count their own builds behind it, SUSE and Proxmox keep the release
//! that they began with: fixes of later ones are in all of these, and the name does not tell which.

use std::cmp::Ordering;
use std::fmt;

/// A version as numbers, the first one the greatest: 6.1.94, 2023-05-17, 0x59.
#[derive(Clone, Debug)]
pub struct Version(Vec<u64>);

/// What a version has to be, such as `>= 6.1.94, < 6.1.97`.
#[derive(Clone, Debug)]
pub struct Range {
    bounds: Vec<(Bound, Version)>,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Is,
    AtLeast,
    Below,
}

/// What the release of a kernel says of its version.
#[derive(Clone, Debug)]
pub enum Release {
    /// The very one of the stable releases.
    Exact(Version),
    /// Only the series: a distribution adds fixes of its own choice.
    Series(Version),
}

/// Whether something is in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is not.
    No,
    /// Its number is, and it may have been fixed all the same.
    Perhaps,
    /// It is.
    Yes,
}

/// Greater than the third number of any release.
const LAST: u64 = u64::MAX;

impl Version {
    /// Parses numbers with dots or dashes between them, or one hexadecimal number; `None` for anything else.
    pub fn parse(text: &str) -> Option<Version> {
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(Version::of);
        }
        let numbers = text.split(['.', '-']).map(|it| {
            let is_number = !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
            is_number.then(|| it.parse().ok())?
        });
        numbers.collect::<Option<Vec<u64>>>().map(Version)
    }

    /// A version of one number.
    pub fn of(number: u64) -> Version {
        Version(vec![number])
    }

    /// The version in the words of a firmware, which are its maker's own: the first numbers with a dot or a dash between them
    /// (`1.7.0` of `Dasharo (coreboot+UEFI) v1.7.0`, `1.38` of `N2CET55W (1.38 )`), or all of it where it is one number.
    pub fn within(text: &str) -> Option<Version> {
        let text = text.trim();
        let is_part = |it: char| it.is_ascii_digit() || it == '.' || it == '-';
        let mut words = text.split(|it| !is_part(it)).map(|it| it.trim_matches(['.', '-']));
        let joined = words.find(|it| it.contains(['.', '-']) && Version::parse(it).is_some());
        Version::parse(joined.unwrap_or(text))
    }

    /// Which of two is the later one; `6.1` and `6.1.0` are the same.
    pub fn compare(&self, other: &Version) -> Ordering {
        let length = self.0.len().max(other.0.len());
        let at = |it: &Version, index: usize| it.0.get(index).copied().unwrap_or(0);
        let differing = (0..length).map(|index| at(self, index).cmp(&at(other, index)));
        differing.into_iter().find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl Range {
    /// Parses `= VERSION`, `>= VERSION`, `< VERSION`, or two of these with a comma between them.
    ///
    /// Errors: anything else, and a range in which nothing is.
    pub fn parse(text: &str) -> Result<Range, String> {
        let expected =
            || format!("{text:?}: expected a range like \">= 6.1.94, < 6.1.97\" or \"= 1.2\"");
        let bound = |part: &str| {
            let part = part.trim();
            let (bound, version) = [(">=", Bound::AtLeast), ("<", Bound::Below), ("=", Bound::Is)]
                .iter()
                .find_map(|(sign, bound)| Some((*bound, part.strip_prefix(sign)?)))?;
            Some((bound, Version::parse(version.trim())?))
        };
        let bounds = text.split(',').map(bound).collect::<Option<Vec<_>>>().ok_or_else(expected)?;
        let is_empty = match &*bounds {
            [_] => false,
            [(Bound::AtLeast, low), (Bound::Below, high)] => low.compare(high).is_ge(),
            _ => true,
        };
        if is_empty { Err(expected()) } else { Ok(Range { bounds, text: text.to_owned() }) }
    }

    /// Whether a version is in it.
    pub fn has(&self, version: &Version) -> bool {
        self.bounds.iter().all(|(bound, limit)| match (bound, version.compare(limit)) {
            (Bound::Is, order) => order.is_eq(),
            (Bound::AtLeast, order) => order.is_ge(),
            (Bound::Below, order) => order.is_lt(),
        })
    }

    /// Whether a kernel is in it.
    pub fn fits(&self, release: &Release) -> Fit {
        match release {
            Release::Exact(version) if self.has(version) => Fit::Yes,
            Release::Series(series) if self.has_some_of(series) => Fit::Perhaps,
            Release::Exact(_) | Release::Series(_) => Fit::No,
        }
    }

    /// Whether a release of a series, which is named by its first two numbers, is in it.
    fn has_some_of(&self, series: &Version) -> bool {
        let last = Version(series.0.iter().copied().chain([LAST]).collect());
        self.bounds.iter().all(|(bound, limit)| match bound {
            Bound::Is => series.compare(limit).is_le() && last.compare(limit).is_ge(),
            Bound::AtLeast => last.compare(limit).is_ge(),
            Bound::Below => series.compare(limit).is_lt(),
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Release {
    /// Parses what `uname -r` prints; `None` where it does not begin with two numbers.
    pub fn parse(text: &str) -> Option<Release> {
        let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
        let (numbers, name) = text.split_at_checked(end)?;
        let version = Version::parse(numbers.trim_end_matches('.'))?;
        let (major, minor) = (*version.0.first()?, *version.0.get(1)?);
        if is_of_distribution(&version, name) {
            return Some(Release::Series(Version(vec![major, minor])));
        }
        // What is behind the third number is a builder's own.
        Some(Release::Exact(Version(version.0.into_iter().take(3).collect())))
    }
}

/// Whether a kernel of this name has fixes of later releases than its number says.
fn is_of_distribution(version: &Version, name: &str) -> bool {
    let counts_builds = name
        .strip_prefix('-')
        .is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit()));
    let keeps_number = version.0.get(2) == Some(&0) && counts_builds && !name.contains(".fc");
    let is_red_hats =
        name.split(".el").skip(1).any(|it| it.starts_with(|first: char| first.is_ascii_digit()));
    keeps_number || is_red_hats || ["-default", "-pve"].iter().any(|it| name.ends_with(it))
}

/// Whether a release is this build of a distribution, or a later one of the same: `5.14.0-427.el9.x86_64` has what came with
/// `5.14.0-181.el9`.
pub fn is_build_since(release: &str, build: &str) -> bool {
    let (numbers, tag) = numbers_and_tag(build);
    let (of_release, _) = numbers_and_tag(release);
    let is_same = release.contains(tag) && of_release.0.get(..2) == numbers.0.get(..2);
    !tag.is_empty() && is_same && of_release.compare(&numbers).is_ge()
}

/// The numbers that a build begins with, and the name behind them, with its dot or dash.
fn numbers_and_tag(build: &str) -> (Version, &str) {
    let is_number = |it: char| it.is_ascii_digit() || it == '.' || it == '-';
    let end = build.find(|it| !is_number(it)).unwrap_or(build.len());
    let numbers = build.get(..end).unwrap_or_default().trim_end_matches(['.', '-']);
    let version = Version::parse(numbers).unwrap_or(Version(Vec::new()));
    (version, build.get(numbers.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn has(range: &str, firmware: &str) -> bool {
        Range::parse(range).unwrap().has(&Version::within(firmware).unwrap())
    }

    #[test]
    fn the_version_in_the_words_of_a_firmware_is_compared_as_numbers() {
        assert!(has("= 12010303", "12010303") && !has("= 12010303", "12010304"));
        assert!(has("= 1.7.0", "Dasharo (coreboot+UEFI) v1.7.0"));
        assert!(has("= 0.9.0", "Dasharo (coreboot+UEFI) v0.9.0-rc7"));
        assert!(has(">= 4.8.0.2, < 4.8.0.5", "v4.8.0.4") && !has("< 4.8.0.5", "v4.8.0.10"));
        assert!(has("= 3.6", "03.06") && has("< 3.05", "03.03") && !has("< 3.05", "03.05"));
        assert!(has(">= 2023-04-28, < 2023-07-19", "2023-05-17_1b2c3d4"));
        assert!(has("= 1.38", "N2CET55W (1.38 )"));
        assert!(has("= 1.0", "v1.0_for_opi6plus_linux_40pin_pwm"));
        assert!(Version::within("U30").is_none() && Version::within("").is_none());
    }

    #[test]
    fn a_range_without_a_sign_or_in_which_nothing_is_is_refused() {
        for text in ["", "6.1", "> 6.1", ">= 6.1, >= 6.2", ">= 6.2, < 6.1", "= x", ">= 6.1, < 6.1"]
        {
            assert!(Range::parse(text).unwrap_err().contains("expected a range"), "{text}");
        }
        assert_eq!(Range::parse(">= 0x59").unwrap().to_string(), ">= 0x59");
        assert!(Range::parse(">= 0x59").unwrap().has(&Version::of(0x5a)));
    }

    fn fit(range: &str, release: &str) -> Fit {
        Range::parse(range).unwrap().fits(&Release::parse(release).unwrap())
    }

    #[test]
    fn a_stable_release_is_in_a_range_or_not() {
        for (release, expected) in [
            ("6.1.94", Fit::Yes),
            ("6.1.96-arch1-1", Fit::Yes),
            ("6.1.95-118.amzn2023.x86_64", Fit::Yes),
            ("6.1.96.2-microsoft-standard-WSL2", Fit::Yes),
            ("6.1.97", Fit::No),
            ("6.6.1", Fit::No),
        ] {
            assert_eq!(fit(">= 6.1.94, < 6.1.97", release), expected, "{release}");
        }
        assert_eq!(fit("= 6.15.0", "6.15.0-300.fc42.x86_64"), Fit::Yes);
        assert_eq!(fit(">= 7.0", "7.0.0-rc5"), Fit::Yes);
    }

    #[test]
    fn of_a_distributions_kernel_only_the_series_is_known() {
        for release in [
            "6.1.0-49-amd64",
            "6.1.0-1050-aws",
            "6.1.0-427.18.1.el9_4.x86_64",
            "6.1.55-150600.21-default",
            "6.1.10-4-pve",
        ] {
            assert_eq!(fit(">= 6.1.94, < 6.1.97", release), Fit::Perhaps, "{release}");
            assert_eq!(fit(">= 5.15, < 6.1", release), Fit::No, "{release}");
            assert_eq!(fit(">= 5.15", release), Fit::Perhaps, "{release}");
            assert_eq!(fit("= 6.1.3", release), Fit::Perhaps, "{release}");
            assert_eq!(fit("= 6.2.3", release), Fit::No, "{release}");
        }
        assert!(Release::parse("unknown").is_none() && Release::parse("6").is_none());
    }

    #[test]
    fn a_build_of_a_distribution_has_what_came_with_an_earlier_one() {
        let since = |release| is_build_since(release, "5.14.0-181.el9");
        assert!(since("5.14.0-181.el9.x86_64") && since("5.14.0-427.18.1.el9_4.x86_64"));
        assert!(!since("5.14.0-70.22.1.el9_0.x86_64"));
        assert!(!since("5.15.0-200.131.27.el9uek.x86_64") && !since("5.14.0-200-generic"));
        assert!(!is_build_since("5.14.0-181.el9", "5.14.0-181"));
    }

    proptest! {
        #[test]
        fn hostile_versions_are_no_panics(text in "\\PC{0,60}", range in "[<>=, 0-9.x-]{0,30}") {
            let _ = Version::within(&text);
            let release = Release::parse(&text);
            let _ = is_build_since(&text, &range);
            if let (Ok(range), Some(release)) = (Range::parse(&range), release) {
                let _ = range.fits(&release);
            }
        }
    }
}
