//! What a performance monitoring unit says of itself in /sys/bus/event_source/devices.
//!
//! Sources: Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format} and perf_event_open(2).
//! An event is a list of terms, `event=0x3c,umask=0x01`; the unit's `format` says which bits of which
//! config word a term fills. Not known here: whether an event that is listed counts anything.

use crate::{CpuSet, Expected, parse};

/// One performance monitoring unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmu {
    /// Its folder's name: `msr`, `power`, `cstate_core`.
    pub name: String,
    /// The number by which perf_event_open(2) knows it.
    pub type_id: u32,
    /// The CPUs that read it, one for each core, die or package; `None` where every CPU has its own.
    pub cpus: Option<CpuSet>,
    /// The events that it lists and that could be understood, by name.
    pub events: Vec<Counter>,
}

/// One thing perf can count, ready to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// How perf writes it: `msr/aperf/`, `timer:tick_stop`.
    pub name: String,
    /// The unit that counts it.
    pub type_id: u32,
    /// Which of the unit's events it is.
    pub config: Config,
    /// Which occurrences of a tracepoint count, in the words of Documentation/trace/events.rst.
    pub filter: Option<String>,
    /// How much of `unit` one count is.
    pub scale: f64,
    /// The unit of the scaled count; empty for a plain number.
    pub unit: String,
}

/// The config words of an event, as `perf_event_attr` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config(pub [u64; 3]);

impl Pmu {
    /// The event called `name` in the unit's folder.
    pub fn event(&self, name: &str) -> Option<&Counter> {
        let full = |it: &&Counter| {
            let inner =
                it.name.strip_prefix(self.name.as_str()).and_then(|it| it.strip_prefix('/'));
            inner.and_then(|it| it.strip_suffix('/')) == Some(name)
        };
        self.events.iter().find(full)
    }
}

impl Counter {
    /// A counter of plain occurrences.
    pub fn plain(name: impl Into<String>, type_id: u32, config: u64) -> Counter {
        Counter {
            name: name.into(),
            type_id,
            config: Config([config, 0, 0]),
            filter: None,
            scale: 1.0,
            unit: String::new(),
        }
    }
}

/// The bits of one config word that a term fills: `config1:0-7,32-35`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    word: usize,
    /// First and last bit, the lowest bits of a value first.
    ranges: Vec<(u32, u32)>,
}

impl Bits {
    /// Parses a file of the `format` folder.
    pub fn parse(text: &str) -> Result<Bits, Expected> {
        const BITS: Expected = Expected("bits like `config:0-7,32`");
        let (word, ranges) = parse::trimmed(text).split_once(':').ok_or(BITS)?;
        let word =
            ["config", "config1", "config2"].iter().position(|it| *it == word).ok_or(BITS)?;
        let range = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last && last < u64::BITS).then_some((first, last))
        };
        let ranges: Vec<(u32, u32)> =
            ranges.split(',').map(range).collect::<Option<_>>().ok_or(BITS)?;
        // More parts than bits would have to overlap.
        if ranges.len() > u64::BITS as usize { Err(BITS) } else { Ok(Bits { word, ranges }) }
    }

    /// Puts `value` into its bits; `None` where it does not fit them.
    fn fill(&self, config: &mut Config, value: u64) -> Option<()> {
        let word = config.0.get_mut(self.word)?;
        let mut rest = value;
        for &(first, last) in &self.ranges {
            let n_bits = last - first + 1;
            let mask = u64::MAX >> (u64::BITS - n_bits);
            *word = (*word & !(mask << first)) | ((rest & mask) << first);
            rest = rest.checked_shr(n_bits).unwrap_or(0);
        }
        (rest == 0).then_some(())
    }
}

/// The config words of an event, from its file's terms and the unit's `formats` by name.
pub fn config(terms: &str, formats: &[(String, Bits)]) -> Result<Config, Expected> {
    const TERMS: Expected =
        Expected("terms like `event=0x3c,umask=0x01` that the unit's format has");
    let mut config = Config::default();
    for term in parse::trimmed(terms).split(',') {
        // A term without a value is a switch.
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let (_, bits) = formats.iter().find(|(format, _)| format == name).ok_or(TERMS)?;
        number(value).and_then(|value| bits.fill(&mut config, value)).ok_or(TERMS)?;
    }
    Ok(config)
}

/// The factor in an event's `.scale` file.
pub fn scale(text: &str) -> Result<f64, Expected> {
    let factor = parse::trimmed(text).parse().ok().filter(|it: &f64| it.is_normal() && *it > 0.0);
    factor.ok_or(Expected("a factor above 0"))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> Vec<(String, Bits)> {
        [
            ("event", "config:0-7,32-35\n"),
            ("umask", "config:8-15"),
            ("edge", "config:18"),
            ("ldlat", "config1:0-15"),
            ("all", "config2:0-63"),
        ]
        .map(|(name, text)| (name.to_owned(), Bits::parse(text).unwrap()))
        .into()
    }

    fn words(terms: &str) -> Result<[u64; 3], Expected> {
        config(terms, &formats()).map(|it| it.0)
    }

    #[test]
    fn terms_fill_the_bits_that_the_format_gives_them() {
        assert_eq!(words("event=0x3c,umask=0x01\n"), Ok([0x13c, 0, 0]));
        assert_eq!(words("event=0xf3c,edge,ldlat=3"), Ok([0xf_0004_003c, 3, 0]));
        assert_eq!(words("all=0xffffffffffffffff"), Ok([0, 0, u64::MAX]));
    }

    #[test]
    fn a_value_too_wide_a_parameter_or_a_strange_term_is_refused() {
        for terms in ["umask=0x100", "event=0x1,core=0x1", "event=?", "", "event=-1"] {
            assert!(words(terms).is_err(), "{terms:?}");
        }
    }

    #[test]
    fn bits_outside_of_a_word_are_refused() {
        for text in
            ["config:0-64", "config3:0", "config:7-0", "config:", "0-7", "config:0-4294967295"]
        {
            assert!(Bits::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_scale_is_a_factor_above_zero() {
        assert_eq!(scale("2.3283064365386962890625e-10\n"), Ok(1.0 / 4_294_967_296.0));
        assert!(["0", "-1", "nan", "inf", "J"].iter().all(|text| scale(text).is_err()));
    }
}
