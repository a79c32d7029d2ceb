//! How large the buffer is: many times the last-level cache, and no more than this process may safely take.
//!
//! Sources: cache/indexN of each CPU in sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu), MemAvailable of
//! /proc/meminfo, and the limits of the memory control groups above this process (Documentation/admin-guide/cgroup-v2.rst,
//! cgroup-v1/memory.rst). Guests may be shown a cache that is not the machine's.

use crate::failure::Failure;
use facts::Fact;
use facts::parse::{Expected, number, words};
use host::Source;
use host::probe::caches;

/// The share of accesses that find their line in the cache is one by this, once the cache is full.
const CACHES: u64 = 8;

/// With less, half of the accesses would be the cache's.
const FEWEST_CACHES: u64 = 2;

/// Filling it takes some seconds.
const MOST_BYTES: u64 = 2 << 30;

/// Where the size of the cache is unknown: twice that of most servers' sockets, and less than most have memory.
const UNKNOWN_CACHE: u64 = 64 << 20;

/// What a buffer is to be.
#[derive(Debug)]
pub(super) struct Size {
    /// In bytes.
    pub(super) bytes: u64,
    /// What results keep of it.
    pub(super) about: Vec<(String, String)>,
}

/// The size for a chain of which nearly no access is to be in the last-level cache of `cpu`.
///
/// Errors: there is too little memory for that.
pub(super) fn of_buffer(source: &dyn Source, cpu: u32) -> Result<Size, Failure> {
    let cache = caches(source, cpu).map(|it| it.last_bytes);
    let room = room(source);
    let cache_bytes = *cache.as_ref().unwrap_or(&UNKNOWN_CACHE);
    let bytes = cache_bytes.saturating_mul(CACHES).min(MOST_BYTES).min(room.unwrap_or(u64::MAX));
    if bytes < cache_bytes.saturating_mul(FEWEST_CACHES) {
        let [bytes, cache] = [bytes, cache_bytes].map(mebibytes);
        let text = format!(
            "memory needs a buffer of at least twice the last-level cache ({cache}), and may take {bytes}: a quarter of \
             the available memory, half of what its control group leaves, at most 2 GiB"
        );
        return Err(Failure::Unready(text));
    }
    let huge = source.parsed("/sys/kernel/mm/transparent_hugepage/enabled", chosen);
    let in_words = |fact: Fact<String>| fact.unwrap_or_else(|why| why.to_string());
    let about = [
        ("buffer", mebibytes(bytes)),
        ("last-level cache", in_words(cache.map(mebibytes))),
        ("transparent huge pages", in_words(huge)),
    ];
    let about = about.map(|(name, value)| (name.to_owned(), value)).into();
    Ok(Size { bytes, about })
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// How many bytes this process may safely take; `None` where that is unknown.
fn room(source: &dyn Source) -> Option<u64> {
    let available = source.parsed("/proc/meminfo", available).ok().map(|it| it / 4);
    let groups = source.text("/proc/self/cgroup").unwrap_or_default();
    let left = groups.lines().filter_map(memory_group).flat_map(|group| left_above(source, &group));
    left.map(|it| it / 2).chain(available).min()
}

/// Where the memory controller's files are and how they are called.
struct MemoryGroup<'a> {
    mount: &'static str,
    path: &'a str,
    limit: &'static str,
    usage: &'static str,
}

/// The mounts are where every distribution has them.
fn memory_group(line: &str) -> Option<MemoryGroup<'_>> {
    let mut fields = line.splitn(3, ':');
    let (_number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    if controllers.is_empty() {
        let (mount, limit, usage) = ("/sys/fs/cgroup", "memory.max", "memory.current");
        return Some(MemoryGroup { mount, path, limit, usage });
    }
    let (mount, limit) = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes");
    let is_memory = controllers.split(',').any(|it| it == "memory");
    is_memory.then_some(MemoryGroup { mount, path, limit, usage: "memory.usage_in_bytes" })
}

/// What each group from the process's own up to the root leaves; those without a limit are left out (`max` is no number).
fn left_above(source: &dyn Source, group: &MemoryGroup<'_>) -> Vec<u64> {
    let MemoryGroup { mount, path, limit, usage } = group;
    let folders =
        std::iter::successors(Some(path.trim_end_matches('/')), |it| Some(it.rsplit_once('/')?.0));
    let left = |folder: &str| {
        let file = |name| source.parsed(&format!("{mount}{folder}/{name}"), number).ok();
        Some(file(limit)?.saturating_sub(file(usage)?))
    };
    folders.filter_map(left).collect()
}

/// MemAvailable, in bytes.
fn available(text: &str) -> Result<u64, Expected> {
    let expected = Expected("MemAvailable in kB");
    let value = text.lines().find_map(|it| it.strip_prefix("MemAvailable:")).ok_or(expected)?;
    let kibibytes = value.trim().strip_suffix(" kB").ok_or(expected)?;
    number(kibibytes).ok().and_then(|it| it.checked_mul(1024)).ok_or(expected)
}

/// The word in brackets.
fn chosen(text: &str) -> Result<String, Expected> {
    let word = words(text)?
        .into_iter()
        .find_map(|it| it.strip_prefix('[').and_then(|it| it.strip_suffix(']')).map(str::to_owned));
    word.ok_or(Expected("one of the words in brackets"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Live;
    use std::fs;

    /// A machine of these files, and the size of its buffer in words.
    #[expect(clippy::disallowed_methods, reason = "lays out the files of a machine")]
    fn size(files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        match of_buffer(&Live::copy(root.path()).unwrap(), 0) {
            Ok(size) => {
                let about = size.about.iter().map(|(name, value)| format!("{name} {value}"));
                about.collect::<Vec<_>>().join(", ")
            }
            Err(why) => why.to_string(),
        }
    }

    const L1: [(&str, &str); 2] = [
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
    ];
    const L3: [(&str, &str); 2] = [
        ("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
    ];
    const MEMINFO: &str = "MemTotal: 8388608 kB\nMemAvailable:    4194304 kB\n";
    const HUGE: (&str, &str) =
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");

    #[test]
    fn the_buffer_is_eight_times_the_last_level() {
        let files = [L3[0], L3[1], L1[0], L1[1], ("proc/meminfo", MEMINFO), HUGE];
        assert_eq!(
            size(&files),
            "buffer 256.0 MiB, last-level cache 32.0 MiB, transparent huge pages madvise"
        );
    }

    #[test]
    fn little_memory_makes_it_smaller_and_too_little_is_told() {
        let meminfo = |kib: u64| format!("MemAvailable: {kib} kB\n");
        let sized = |kib: u64| size(&[L3[0], L3[1], HUGE, ("proc/meminfo", &meminfo(kib))]);
        assert!(sized(400 << 10).starts_with("buffer 100.0 MiB,"), "{}", sized(400 << 10));
        let told = sized(100 << 10);
        assert!(told.contains("(32.0 MiB), and may take 25.0 MiB"), "{told}");
    }

    #[test]
    fn a_control_group_above_limits_it_too() {
        let group = |own: &str, limit: &str, usage: &str| {
            let own = format!("12:cpu:/x\n{own}\n");
            size(&[
                L3[0],
                L3[1],
                ("proc/meminfo", MEMINFO),
                ("proc/self/cgroup", &own),
                (limit, "314572800\n"),
                (usage, "104857600\n"),
            ])
        };
        let second = group(
            "0::/a.slice/b.scope",
            "sys/fs/cgroup/a.slice/memory.max",
            "sys/fs/cgroup/a.slice/memory.current",
        );
        assert!(second.starts_with("buffer 100.0 MiB,"), "{second}");
        let first = group(
            "3:hugetlb,memory:/",
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "sys/fs/cgroup/memory/memory.usage_in_bytes",
        );
        assert!(first.starts_with("buffer 100.0 MiB,"), "{first}");
    }

    #[test]
    fn a_cache_that_nobody_tells_is_taken_for_a_large_one_and_said() {
        let text = size(&[("proc/meminfo", MEMINFO)]);
        assert!(text.starts_with("buffer 512.0 MiB, last-level cache /sys/devices"), "{text}");
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        for text in
            ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 18446744073709551615 kB"]
        {
            assert!(available(text).is_err(), "{text}");
        }
    }
}
