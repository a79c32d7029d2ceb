//! How large the files and folders of a host can be, by kind.
//!
//! Somebody else's copy of a host may hold anything under any name. Each limit is above what the kernel can write on a
//! machine of 8,192 CPUs (the maximum of CONFIG_NR_CPUS on x86, arch/x86/Kconfig) and far below what exhausts the memory
//! of whoever reads the copy.

/// The largest of the limits of a file.
pub const LARGEST_FILE: usize = 64 * MIB;

/// The smallest of the limits of a file.
pub const SMALLEST_FILE: usize = 4 * KIB;

/// Network interfaces with hardware, RDMA devices or PCI Express links that are looked at one by one: a machine has
/// some hundreds, with SR-IOV a few thousands.
pub const MOST_DEVICES: usize = 4096;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Paths, most specific first, and the longest content in bytes. `*` stands for any part of a name, `**` for the rest of the
/// path; with a name after it, of a path that ends in that name.
const FILES: &[(&str, usize)] = &[
    // COMMAND_LINE_SIZE is 256 to 4096, 2048 on x86 (arch/*/include/asm/setup.h); the parameters of a bootconfig stand in
    // front of it (setup_command_line in init/main.c), up to 32 KiB (XBC_DATA_MAX in include/linux/bootconfig.h).
    ("/proc/cmdline", 36 * KIB),
    // Some 1.5 KiB for each CPU, most of it flags and bugs (arch/x86/kernel/cpu/proc.c).
    ("/proc/cpuinfo", 16 * MIB),
    // A column of 11 characters for each CPU (kernel/irq/proc.c): 44 KiB a line with 4,096 CPUs.
    ("/proc/interrupts", LARGEST_FILE),
    // A mask of CPUs for each scheduling domain of each CPU (kernel/sched/stats.c).
    ("/proc/schedstat", LARGEST_FILE),
    // Some 4 KiB for each CPU (kernel/time/timer_list.c).
    ("/proc/timer_list", LARGEST_FILE),
    // A line for each CPU, and a number for each possible interrupt (fs/proc/stat.c).
    ("/proc/stat", 16 * MIB),
    ("/proc/softirqs", 4 * MIB),
    // A line for each mount; hosts of containers have thousands (fs/proc_namespace.c).
    ("/proc/*/mountinfo", 16 * MIB),
    // 100 to 300 KiB unpacked.
    ("/proc/config.gz", 4 * MIB),
    ("/boot/config-*", 4 * MIB),
    ("/lib/modules/*/config", 4 * MIB),
    ("/usr/lib/modules/*/config", 4 * MIB),
    // The name of a task is 15 or, of a kworker, 63 characters (fs/proc/array.c).
    ("/proc/*/comm", 4 * KIB),
    ("/proc/*/stat", 4 * KIB),
    ("/proc/*/task/*/stat", 4 * KIB),
    ("/proc/*/schedstat", 4 * KIB),
    ("/proc/*/task/*/schedstat", 4 * KIB),
    // A quarter of the stack's limit, which is 8 MiB (execve(2)).
    ("/proc/*/cmdline", 2 * MIB),
    // A path for each of some 14 hierarchies (fs/kernfs, PATH_MAX).
    ("/proc/*/cgroup", 64 * KIB),
    ("/proc/pressure/*", 4 * KIB),
    ("/proc/loadavg", 4 * KIB),
    ("/proc/uptime", 4 * KIB),
    ("/proc/sys/**", 64 * KIB),
    ("/proc/irq/**", 64 * KIB),
    // Up to 65,536 groups in `status` (NGROUPS_MAX in include/uapi/linux/limits.h).
    ("/proc/**", MIB),
    // cgroup.procs has a line for each process.
    ("/sys/fs/cgroup/**", 16 * MIB),
    // tasks has a line for each thread.
    ("/sys/fs/resctrl/**", 16 * MIB),
    ("/sys/kernel/debug/**", MIB),
    ("/sys/kernel/tracing/**", MIB),
    // An attribute is at most a page (Documentation/filesystems/sysfs.rst), which is 64 KiB on some arm64 and POWER
    // kernels; lists of CPUs may be longer than a page of 4 KiB (drivers/base/topology.c).
    ("/sys/**", 64 * KIB),
    // 32 MiB at most by the kernel's build (CONFIG_LOG_BUF_SHIFT in init/Kconfig), and the fields before each message.
    ("/dev/kmsg", LARGEST_FILE),
    ("/dev/**", 4 * KIB),
    // The text files of a supportconfig, of which one holds all of /proc/sys.
    ("/*.txt", 16 * MIB),
    // Logs of weeks. A longer one is not read: what it says is unknown.
    ("/var/log/**", LARGEST_FILE),
    ("/sos_commands/kernel/**", LARGEST_FILE),
    ("/sos_commands/logs/**", LARGEST_FILE),
    // Configuration, and outputs of programs in a bundle.
    ("/**", MIB),
];

/// Folders with a limit of their own, as [`FILES`].
const FOLDERS: &[(&str, usize)] = &[
    // One for each process; the kernel allows 4,194,304 (PID_MAX_LIMIT in include/linux/threads.h).
    ("/proc", 1 << 18),
    // Vectors of a function of a PCI device (PCI Local Bus Specification 3.0, section 6.8.2).
    ("/sys/devices/**/msi_irqs", 4096),
    ("/**", 1 << 16),
];

/// The longest content that the file at an absolute `path` can have, in bytes.
pub fn longest(path: &str) -> usize {
    limit(FILES, path)
}

/// The limit of the file at an absolute `path`, where `length` is above it.
pub fn exceeded(path: &str, length: usize) -> Option<usize> {
    // To look for the limit of a path takes as long as a system call, and most files are short.
    (length > SMALLEST_FILE).then(|| longest(path)).filter(|limit| length > *limit)
}

/// How many names the folder at an absolute `path` can have.
pub fn most_names(path: &str) -> usize {
    limit(FOLDERS, path.trim_end_matches('/'))
}

fn limit(table: &[(&str, usize)], path: &str) -> usize {
    let found = table.iter().find(|(pattern, _)| fits(pattern, path));
    found.map_or(MIB, |(_, limit)| *limit)
}

/// Whether `path` is one of those that `pattern` stands for. Empty names and `.` in it mean nothing; a path with `..` leads
/// elsewhere and is judged by its first name.
fn fits(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/').filter(|it| !it.is_empty() && *it != ".");
    let mut patterns = pattern.split('/').skip(1).peekable();
    while let Some(part) = patterns.next() {
        if part == "**" {
            return patterns.peek().is_none_or(|last| names.next_back() == Some(last));
        }
        let Some(name) = names.next() else { return false };
        let is_equal = match part.split_once('*') {
            Some((before, after)) => {
                name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
            }
            None => part == name,
        };
        if !is_equal {
            return false;
        }
    }
    names.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_limit_of_its_kind() {
        let files = [
            "/proc/cmdline",
            "//proc/./cmdline",
            "/proc/7/cmdline",
            "/proc/7/task/8/stat",
            "/proc/7/status",
            "/proc/self/mountinfo",
            "/proc/interrupts",
            "/sys/devices/system/cpu/online",
            "/sys/fs/cgroup/a/b/cgroup.procs",
            "/boot/config-6.1.0",
            "/etc/tuned/active_profile",
            "relative",
        ];
        let limits = files.map(|it| format!("{it} {}\n", longest(it)));
        assert_eq!(
            limits.concat(),
            "/proc/cmdline 36864\n//proc/./cmdline 36864\n/proc/7/cmdline 2097152\n/proc/7/task/8/stat 4096\n\
             /proc/7/status 1048576\n/proc/self/mountinfo 16777216\n/proc/interrupts 67108864\n\
             /sys/devices/system/cpu/online 65536\n/sys/fs/cgroup/a/b/cgroup.procs 16777216\n\
             /boot/config-6.1.0 4194304\n/etc/tuned/active_profile 1048576\nrelative 1048576\n"
        );
    }

    #[test]
    fn the_limit_of_a_kind_is_exceeded_by_what_is_longer() {
        assert_eq!(exceeded("/proc/7/stat", 4096), None);
        assert_eq!(exceeded("/proc/7/stat", 4097), Some(4096));
        assert_eq!(exceeded("/proc/cmdline", 36 << 10), None);
        assert_eq!(exceeded("/proc/cmdline", (36 << 10) + 1), Some(36 << 10));
        let limits: Vec<usize> = FILES.iter().map(|(_, limit)| *limit).collect();
        assert_eq!(limits.iter().min(), Some(&SMALLEST_FILE));
        assert_eq!(limits.iter().max(), Some(&LARGEST_FILE));
    }

    #[test]
    fn a_folder_has_the_limit_of_its_kind() {
        let folders = [
            "/proc",
            "/proc/",
            "/proc/irq",
            "/sys/devices/pci0000:00/0000:00:01.0/msi_irqs",
            "/sys/class/net",
        ];
        assert_eq!(folders.map(most_names), [1 << 18, 1 << 18, 1 << 16, 4096, 1 << 16]);
    }

    #[test]
    fn no_limit_stands_behind_a_more_general_one() {
        for table in [FILES, FOLDERS] {
            for (at, (pattern, _)) in table.iter().enumerate() {
                let example = pattern.replace("**", "x").replace('*', "x");
                let first = table.iter().position(|(earlier, _)| fits(earlier, &example));
                assert_eq!(first, Some(at), "{pattern}");
            }
        }
    }

    #[test]
    fn the_longest_boot_line_and_attribute_of_any_kernel_fit() {
        // 8,192 CPUs, every second one: the longest list there is.
        let list: String = (0..8192).step_by(2).map(|cpu| format!("{cpu},")).collect();
        assert!(list.len() <= longest("/sys/devices/system/cpu/offline"));
        // With a bootconfig of the largest size.
        assert!(4096 + 32_767 <= longest("/proc/cmdline"));
    }
}
