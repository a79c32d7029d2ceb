//! Which processors were made for laptops, by their names.
//!
//! Sources: Intel's "Processor Names, Numbers and Generation List" and AMD's naming of Ryzen, for the letters behind
//! the number. Asked only where firmware does not name a chassis.

use super::cpuinfo::CpuInfo;

/// Whether the name is one of a laptop's processor.
pub fn is_mobile(cpuinfo: &CpuInfo) -> bool {
    let name = &cpuinfo.model_name;
    let is_core = name.contains("Core(TM)") || name.contains("Ryzen");
    is_core && name.split_whitespace().any(is_mobile_number)
}

/// `M` by itself (Core i5 M 560), or a number and letters for a laptop: i7-7500U, i7-1260P, 226V, 5800HS.
fn is_mobile_number(word: &str) -> bool {
    let number = ["i3-", "i5-", "i7-", "i9-"].iter().find_map(|it| word.strip_prefix(it));
    let number = number.unwrap_or(word);
    let letters = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = number.len() - letters.len();
    match letters.chars().next() {
        _ if word == "M" || word == "U" => true,
        _ if digits < 3 => false,
        Some('U' | 'Y' | 'H' | 'M' | 'Q' | 'V') => true,
        // P was a desktop without graphics until the 12th generation; 1065G7 is a graphics level.
        Some('P') => number.starts_with('1') && digits == 4,
        Some('G') => letters.len() == 2 && digits == 4 && number.starts_with('1'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mobile(name: &str) -> bool {
        is_mobile(&CpuInfo { model_name: name.into(), ..CpuInfo::default() })
    }

    #[test]
    fn letters_behind_the_number_mark_laptops() {
        for name in [
            "Intel(R) Core(TM) i7-7500U CPU @ 2.70GHz",
            "12th Gen Intel(R) Core(TM) i7-1260P",
            "Intel(R) Core(TM) Ultra 5 226V",
            "Intel(R) Core(TM) i5 CPU       M 560  @ 2.67GHz",
            "Intel(R) Core(TM) i7-1065G7 CPU @ 1.30GHz",
            "AMD Ryzen 7 5800HS with Radeon Graphics",
        ] {
            assert!(mobile(name), "{name}");
        }
    }

    #[test]
    fn servers_and_desktops_are_not_taken_for_laptops() {
        for name in [
            "Intel(R) Xeon(R) E-2278G CPU @ 3.40GHz",
            "Intel(R) Core(TM) i5-6402P CPU @ 2.80GHz",
            "Intel(R) Core(TM) i9-13900K",
            "AMD Ryzen 5 1600 Six-Core Processor",
            "AMD Ryzen 5 5600G with Radeon Graphics",
            "Intel(R) Xeon(R) Platinum 8460H",
            "",
        ] {
            assert!(!mobile(name), "{name}");
        }
    }
}
