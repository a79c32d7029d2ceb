//! The sizes of messages.

use facts::Bytes;

/// The smallest and the largest, as exponents of two: 2 to 8,388,608 bytes, as `-a` of perftest has them.
pub const ALL: std::ops::RangeInclusive<u32> = 1..=23;

/// The sizes that `text` names, ascending: `all`, or a list of them.
///
/// Errors, in words for the user: it is no list of powers of two from 2 to 8,388,608.
pub fn sizes(text: &str) -> Result<Vec<Bytes>, String> {
    let all = || ALL.map(|it| Bytes(1 << it));
    if text == "all" {
        return Ok(all().collect());
    }
    let size = |word: &str| {
        let bytes = word.trim().parse().ok().map(Bytes);
        let known = bytes.filter(|it| all().any(|size| size == *it));
        known.ok_or_else(|| {
            format!(
                "{word:?} is no message size: expected `all`, or powers of two from 2 to 8388608 with commas between"
            )
        })
    };
    let mut sizes = text.split(',').map(size).collect::<Result<Vec<Bytes>, String>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sizes_are_those_of_perftest() {
        let all = sizes("all").unwrap();
        assert_eq!((all.len(), all[0], all[22]), (23, Bytes(2), Bytes(8_388_608)));
    }

    #[test]
    fn a_list_is_put_in_order_and_each_size_is_there_once() {
        assert_eq!(sizes("65536, 2,64,2"), Ok(vec![Bytes(2), Bytes(64), Bytes(65536)]));
    }

    #[test]
    fn what_is_no_size_is_refused_by_name() {
        for text in ["", "1", "3", "16777216", "-2", "64k", "2,,4", "2 4"] {
            let refused = sizes(text).unwrap_err();
            assert!(refused.contains("powers of two from 2 to 8388608"), "{text}: {refused}");
        }
    }
}
