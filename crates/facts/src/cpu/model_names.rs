//! What the name of a processor says: whether it was sold with turbo, and whether it was made for laptops.
//!
//! A processor whose turbo is switched off in firmware looks like one that never had it: CPUID.06H:EAX[1] is 0 for
//! both. Only the model shows it. Sources: "Max Turbo Frequency" on ark.intel.com and "Max. Boost Clock" on
//! amd.com. Names that are not listed, and families that mix parts with and without turbo, are unknown. For
//! laptops: Intel's "Processor Names, Numbers and Generation List" and AMD's naming of Ryzen, for the letters after
//! the number. This is used only where firmware does not report the type of the chassis.

use super::cpuinfo::CpuInfo;

/// Patterns for a name in lower case and without trade marks; the first match counts. `#` is a digit, and any text
/// may follow a pattern.
const MODELS: &[(&str, Option<bool>)] = &[
    // Entry models without turbo, in families that have it.
    ("xeon bronze 31", Some(false)),
    ("xeon bronze 32", Some(false)),
    ("xeon w-2102", Some(false)),
    ("xeon w-2104", Some(false)),
    ("xeon e-2104", Some(false)),
    ("xeon e3-11", Some(false)),
    ("xeon e5-#403", Some(false)),
    ("xeon e5-#407", Some(false)),
    ("xeon e5-#603", Some(false)),
    ("xeon e5-#607", Some(false)),
    // 1.6 GHz, and 1.7 GHz with turbo.
    ("xeon e5-2608l v4", None),
    ("xeon e5-#608l", Some(false)),
    ("xeon e5-#609", Some(false)),
    ("xeon e7-2803", Some(false)),
    ("xeon e7-4807", Some(false)),
    ("xeon e7-4809", Some(false)),
    // Of these, some versions have turbo.
    ("xeon e5-4610", None),
    ("xeon e7-4820", None),
    ("xeon e5-#4##l", None),
    // Nehalem and Westmere.
    ("xeon e550", Some(false)),
    ("xeon l5506", Some(false)),
    ("xeon e560", Some(false)),
    ("xeon l5609", Some(false)),
    ("xeon e7520", Some(false)),
    ("xeon w3503", Some(false)),
    ("xeon w3505", Some(false)),
    ("xeon e55##", Some(true)),
    ("xeon l55##", Some(true)),
    ("xeon x55##", Some(true)),
    ("xeon e56##", Some(true)),
    ("xeon l56##", Some(true)),
    ("xeon x56##", Some(true)),
    ("xeon e75##", Some(true)),
    ("xeon l75##", Some(true)),
    ("xeon x75##", Some(true)),
    ("xeon x34##", Some(true)),
    ("xeon l34##", Some(true)),
    ("xeon w35##", Some(true)),
    ("xeon w36##", Some(true)),
    // Sandy Bridge and later.
    ("xeon e3-12", Some(true)),
    ("xeon e3-15", Some(true)),
    ("xeon e5-", Some(true)),
    ("xeon e7-", Some(true)),
    ("xeon e-2", Some(true)),
    ("xeon d-17", Some(true)),
    ("xeon d-18", Some(true)),
    ("xeon d-2", Some(true)),
    ("xeon w-", Some(true)),
    ("xeon w#-", Some(true)),
    ("xeon bronze 3", Some(true)),
    ("xeon silver", Some(true)),
    ("xeon gold", Some(true)),
    ("xeon platinum", Some(true)),
    ("xeon max", Some(true)),
    ("xeon 6###", Some(true)),
    // Desktops and laptops; i3 has turbo from the 9th generation on, and in the mobile 8th.
    ("core i3-8###u", Some(true)),
    ("core i3-8", Some(false)),
    ("core i3-9###", Some(true)),
    // i3-10100 and i3-1005G1, i3-1215U, i3-1320PE.
    ("core i3-1###", Some(true)),
    ("core i3-n", Some(true)),
    ("core i3", Some(false)),
    ("core i5", Some(true)),
    ("core i7", Some(true)),
    ("core i9", Some(true)),
    ("core ultra", Some(true)),
    // AMD, from Zen on.
    ("epyc", Some(true)),
    ("ryzen", Some(true)),
];

/// Whether processors of this name are sold with turbo; `None` where that is unknown.
pub fn is_sold_with_turbo(cpuinfo: &CpuInfo) -> Option<bool> {
    let name = plain(&cpuinfo.model_name);
    // The name of the family follows those of the manufacturer and the generation. "core" is tried last: the name of
    // a Ryzen ends in "Six-Core Processor".
    let from = ["xeon", "epyc", "ryzen", "core"].iter().find_map(|it| name.find(it))?;
    let name = name.get(from..)?;
    MODELS.iter().find(|(pattern, _)| fits(name, pattern)).and_then(|(_, has_turbo)| *has_turbo)
}

/// The name in lower case, without trade marks, the word CPU and double spaces.
fn plain(name: &str) -> String {
    let name = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    name.split_whitespace().filter(|&it| it != "cpu").collect::<Vec<_>>().join(" ")
}

fn fits(name: &str, pattern: &str) -> bool {
    let mut name = name.chars();
    pattern.chars().all(|wanted| match name.next() {
        Some(found) if wanted == '#' => found.is_ascii_digit(),
        found => found == Some(wanted),
    })
}

/// Whether the name is that of a laptop's processor.
pub fn is_mobile(cpuinfo: &CpuInfo) -> bool {
    let name = &cpuinfo.model_name;
    let is_core = name.contains("Core(TM)") || name.contains("Ryzen");
    is_core && name.split_whitespace().any(is_mobile_number)
}

/// `M` alone (Core i5 M 560), or a number with the letters of a laptop: i7-7500U, i7-1260P, 226V, 5800HS.
fn is_mobile_number(word: &str) -> bool {
    let number = ["i3-", "i5-", "i7-", "i9-"].iter().find_map(|it| word.strip_prefix(it));
    let number = number.unwrap_or(word);
    let letters = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = number.len() - letters.len();
    match letters.chars().next() {
        _ if word == "M" || word == "U" => true,
        _ if digits < 3 => false,
        Some('U' | 'Y' | 'H' | 'M' | 'Q' | 'V') => true,
        // P was a desktop without graphics until the 12th generation; in 1065G7, G7 is the graphics level.
        Some('P') => number.starts_with('1') && digits == 4,
        Some('G') => letters.len() == 2 && digits == 4 && number.starts_with('1'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_turbo(name: &str) -> Option<bool> {
        is_sold_with_turbo(&CpuInfo { model_name: name.into(), ..CpuInfo::default() })
    }

    #[test]
    fn server_families_have_turbo() {
        for name in [
            "Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz",
            "Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz",
            "Intel(R) Xeon(R) CPU E3-1220 v3 @ 3.10GHz",
            "Intel(R) Xeon(R) CPU           L5640  @ 2.27GHz",
            "INTEL(R) XEON(R) PLATINUM 8592+",
            "Intel(R) Xeon(R) 6980P",
            "AMD EPYC 7543 32-Core Processor",
            "AMD Ryzen 5 1600 Six-Core Processor",
            "13th Gen Intel(R) Core(TM) i7-1370P",
            "12th Gen Intel(R) Core(TM) i3-1215U",
            "13th Gen Intel(R) Core(TM) i3-1315U",
            "Intel(R) Core(TM) i3-10100 CPU @ 3.60GHz",
            "Intel(R) Core(TM) i3-1005G1 CPU @ 1.20GHz",
        ] {
            assert_eq!(has_turbo(name), Some(true), "{name}");
        }
    }

    #[test]
    fn entry_models_of_the_same_families_have_none() {
        for name in [
            "Intel(R) Core(TM) i3-4005U CPU @ 1.70GHz",
            "Intel(R) Core(TM) i3-8100 CPU @ 3.60GHz",
            "Intel(R) Xeon(R) CPU E5-2603 v4 @ 1.70GHz",
            "Intel(R) Xeon(R) CPU E5-2609 0 @ 2.40GHz",
            "Intel(R) Xeon(R) CPU           E5506  @ 2.13GHz",
            "Intel(R) Xeon(R) Bronze 3106 CPU @ 1.70GHz",
        ] {
            assert_eq!(has_turbo(name), Some(false), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_guessed_at() {
        for name in [
            "",
            "Genuine Intel(R) CPU 0000%@",
            "Intel(R) Pentium(R) Gold G5400 CPU @ 3.70GHz",
            "Intel(R) Xeon(R) CPU           E5345  @ 2.33GHz",
            "Intel(R) Xeon(R) CPU E5-4610 v3 @ 1.70GHz",
            "Intel(R) Xeon(R) CPU E5-2608L v4 @ 1.60GHz",
            "Intel(R) Core(TM)2 Duo CPU     T9300  @ 2.50GHz",
            "AMD Opteron(tm) Processor 6168",
        ] {
            assert_eq!(has_turbo(name), None, "{name}");
        }
    }

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
