//! How large the caches of a CPU are.
//!
//! Source: cache/indexN in sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu). Guests may be shown a cache that is not
//! the machine's.

use crate::Source;
use facts::parse::{Expected, number};
use facts::{Fact, Missing};

/// The caches of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The second-level cache, in bytes; `None` where there is none.
    pub second_bytes: Option<u64>,
    /// The cache of the highest level, in bytes.
    pub last_bytes: u64,
    /// Its level.
    pub last_level: u64,
}

/// The caches that `cpu` has.
pub fn caches(source: &dyn Source, cpu: u32) -> Fact<Caches> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let mut levels: Vec<(u64, u64)> = Vec::new();
    for index in source.numbered(&folder, "index")? {
        let level = source.parsed(&format!("{folder}/index{index}/level"), number)?;
        levels.push((level, source.parsed(&format!("{folder}/index{index}/size"), cache_size)?));
    }
    let second = levels.iter().find(|it| it.0 == 2);
    let &(last_level, last_bytes) =
        levels.iter().max().ok_or_else(|| Missing::absent(folder.clone()))?;
    Ok(Caches { second_bytes: second.map(|it| it.1), last_bytes, last_level })
}

/// `36608K`, as show_size of drivers/base/cacheinfo.c prints it.
fn cache_size(text: &str) -> Result<u64, Expected> {
    let expected = Expected("a size in K");
    let kibibytes = text.trim().strip_suffix('K').ok_or(expected)?;
    let bytes = number(kibibytes).ok().and_then(|it| it.checked_mul(1024));
    bytes.filter(|it| *it > 0).ok_or(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    fn of(sizes: &[(u64, &str)]) -> Fact<Caches> {
        let folder = "/sys/devices/system/cpu/cpu0/cache";
        let files = sizes.iter().enumerate().map(|(index, (level, size))| {
            format!(
                "//- {folder}/index{index}/level\n{level}\n//- {folder}/index{index}/size\n{size}\n"
            )
        });
        let text: String = files.collect();
        caches(&Captured::excerpt(&text).unwrap(), 0)
    }

    #[test]
    fn the_second_and_the_last_level_are_told() {
        let all = of(&[(1, "32K"), (1, "32K"), (2, "1024K"), (3, "32768K")]).unwrap();
        assert_eq!((all.second_bytes, all.last_bytes), (Some(1 << 20), 32 << 20));
        let two = of(&[(1, "32K"), (2, "512K")]).unwrap();
        assert_eq!((two.second_bytes, two.last_level), (Some(512 << 10), 2));
    }

    #[test]
    fn a_size_that_is_none_is_refused() {
        for text in
            ["", "K", "0K", "32", "-1K", "1M", "99999999999999999999K", "18446744073709551615K"]
        {
            assert!(of(&[(1, text)]).is_err(), "{text}");
        }
        assert!(of(&[]).is_err());
    }
}
