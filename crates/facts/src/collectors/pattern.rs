//! Patterns of paths: `*` stands for any characters of one name, `?` for one, `#` for a number, `**` for one name or
//! more, and at the end for a folder and all that is below it.

/// Whether an absolute path is one of those that `pattern` names.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    names_fit(&pattern, &path)
}

/// The same of one name.
pub(super) fn name_fits(pattern: &str, name: &str) -> bool {
    bytes_fit(pattern.as_bytes(), name.as_bytes())
}

fn names_fit(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None | Some((&"**", [])), None) => true,
        (Some((&"**", rest)), Some((_, below))) => {
            names_fit(rest, below) || names_fit(pattern, below)
        }
        (Some((name, rest)), Some((of_path, below))) => {
            name_fits(name, of_path) && names_fit(rest, below)
        }
        _ => false,
    }
}

fn bytes_fit(pattern: &[u8], name: &[u8]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return name.is_empty() };
    match first {
        b'*' => (0..=name.len()).any(|n| bytes_fit(rest, &name[n..])),
        b'#' => {
            let n_digits = name.iter().take_while(|it| it.is_ascii_digit()).count();
            n_digits > 0 && bytes_fit(rest, &name[n_digits..])
        }
        _ => name
            .split_first()
            .is_some_and(|(byte, more)| (first == byte || *first == b'?') && bytes_fit(rest, more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign_stands_for_what_it_says() {
        for (pattern, path, expected) in [
            ("/sys/cpu/cpu#/online", "/sys/cpu/cpu12/online", true),
            ("/sys/cpu/cpu#/online", "/sys/cpu/cpuidle/online", false),
            ("/sys/cpu/cpu#/online", "/sys/cpu/cpu/online", false),
            ("/sys/cpu/*", "/sys/cpu/cpu0/online", false),
            ("/sys/cpu/**", "/sys/cpu/cpu0/online", true),
            ("/sys/cpu/**", "/sys/cpu", true),
            ("/sys/cpu/**", "/sys/cpufreq", false),
            ("/sys/**/*:??:??.?", "/sys/pci0000:00/0000:00:1c.0/10000:3b:00.1", true),
            ("/sys/**/*:??:??.?", "/sys/pci0000:00/0000:00:1c.0/net", false),
            ("/boot/config-*", "/boot/config-6.1.0", true),
            ("/sys/dmi/bios*", "/sys/dmi/sys_vendor", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }
}
