//! Reads which distribution this is, from the files that name it or from the release of its kernel.

use crate::Source;
use facts::system::distribution::Distribution;
use facts::system::kernel::Kernel;
use facts::system::platform::Platform;
use facts::{Fact, Missing, Why};

/// Where os-release is; the first counts, and is often a link to the second (os-release(5)).
const FILES: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];

/// What came before it.
const OLDER: [&str; 2] = ["/etc/redhat-release", "/etc/SuSE-release"];

/// Who edits the boot line of RHEL 6.
const GRUBBY: &str = "/sbin/grubby";

/// In a container these files are those of its image, while the kernel is the host's.
pub(super) fn read(
    source: &dyn Source,
    platform: &Platform,
    kernel: &Kernel,
) -> Fact<Distribution> {
    let in_container = matches!(&platform.container, Ok(Some(_)));
    let named = if in_container { Err(hidden(platform)) } else { named(source) };
    let is_told = named.is_ok();
    let release = kernel.release.as_deref().unwrap_or_default();
    let mut distribution = match named {
        Ok(it) => it.on_kernel(release),
        // It has a name that is none of those that are known.
        Err(missing) if matches!(missing.why, Why::Malformed { .. }) => return Err(missing),
        Err(missing) => Distribution::of_kernel(release).ok_or(missing)?,
    };
    if let Ok(line) = &kernel.boot_line {
        distribution = distribution.booted_by(line, is_told);
    }
    if distribution.is_early_red_hat() && !in_container {
        // One byte says that it is there.
        distribution.has_grubby = match source.part(GRUBBY, 0, 1) {
            Ok(bytes) => Some(!bytes.is_empty()),
            Err(missing) if missing.is_absence() => Some(false),
            Err(_) => None,
        };
    }
    Ok(distribution)
}

fn named(source: &dyn Source) -> Fact<Distribution> {
    let mut why: Option<Missing> = None;
    let newer = FILES.iter().map(|path| source.parsed(path, Distribution::parse));
    let older = OLDER.iter().map(|path| source.parsed(path, Distribution::parse_older));
    for answer in newer.chain(older) {
        match answer {
            Ok(it) => return Ok(it),
            Err(missing) if matches!(missing.why, Why::Malformed { .. }) => return Err(missing),
            Err(missing) => why = why.or(Some(missing)),
        }
    }
    Err(why.unwrap_or_else(|| Missing::absent(FILES[0])))
}

fn hidden(platform: &Platform) -> Missing {
    let kind = platform.container.as_ref().ok().and_then(Option::as_deref).unwrap_or_default();
    Missing::hidden("the host's distribution", format!("the container ({kind})"))
}

#[cfg(test)]
mod tests {
    use crate::Captured;
    use facts::system::distribution::Family;

    fn family(excerpt: &str) -> Option<Family> {
        let host = crate::view(&Captured::excerpt(excerpt).unwrap());
        host.distribution.ok().map(|it| it.family)
    }

    #[test]
    fn os_release_names_it_and_an_own_kernel_does_not_change_that() {
        let kernel = "//- /proc/sys/kernel/osrelease\n6.6.1-my.el9.x86_64\n";
        assert_eq!(
            family(&format!("{kernel}//- /etc/os-release\nID=debian\n")),
            Some(Family::Debian)
        );
        assert_eq!(
            family(&format!("{kernel}//- /usr/lib/os-release\nID=arch\n")),
            Some(Family::Arch)
        );
        assert_eq!(family(kernel), Some(Family::RedHat));
        // It has a name, which is none of those that are known.
        assert_eq!(family(&format!("{kernel}//- /etc/os-release\nID=slackware\n")), None);
        assert_eq!(family(""), None);
    }

    #[test]
    fn the_files_of_a_container_say_nothing_of_the_host() {
        let container = "//- /run/systemd/container\ndocker\n//- /etc/os-release\nID=alpine\n";
        assert_eq!(family(container), None);
        let host = format!("{container}//- /proc/sys/kernel/osrelease\n5.14.0-427.el9.x86_64\n");
        assert_eq!(family(&host), Some(Family::RedHat));
    }

    #[test]
    fn grubby_is_looked_for_where_it_may_be_missing() {
        let grubby = |files: &str| {
            let host = Captured::excerpt(files).unwrap();
            crate::view(&host).distribution.unwrap().has_grubby
        };
        let six = "//- /etc/redhat-release\nCentOS release 6.10 (Final)\n";
        assert_eq!(grubby(six), Some(false));
        assert_eq!(grubby(&format!("{six}//- /sbin/grubby\n!bytes 7f454c46\n")), Some(true));
        assert_eq!(grubby(&format!("{six}//- /sbin/grubby\n!denied\n")), None);
        assert_eq!(grubby("//- /etc/os-release\nID=rhel\nVERSION_ID=\"7.9\"\n"), None);
    }

    #[test]
    fn a_capture_answers_the_same() {
        let text = "//- /proc/sys/kernel/osrelease\n2.6.32-754.el6.x86_64\n//- /sbin/grubby\n!bytes 7f454c46\n";
        let host = Captured::excerpt(text).unwrap();
        let recording = crate::Recording::new(&host);
        let there = crate::view(&recording).distribution;
        assert!(there.is_ok());
        let capture = Captured::parse(&recording.capture()).unwrap();
        assert_eq!(crate::view(&capture).distribution, there);
    }
}
