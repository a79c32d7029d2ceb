//! What the threads of one pool share in their names: no CPU, device or process number, so that a name is one series for good.

use crate::kernel_threads::family;

/// The name of a kernel thread's pool: `kworker` of `kworker/3:1-events`, `kswapd` of `kswapd1`, `jbd2` of `jbd2/dm-0-8`.
///
/// Numbers at the end of a name count copies (`kipmi0`, `scsi_eh_12`, `md127_raid1`), unless something follows that was taken off:
/// `jbd2/...` is the name of a module. What is left of a name that is all numbers is `other`.
pub fn pool(name: &str) -> String {
    let family = family(name);
    let stem = if family.len() < name.len() && name[family.len()..].starts_with('/') {
        family
    } else {
        family.trim_end_matches(|it: char| it.is_ascii_digit() || it == ':')
    };
    let mut pool = String::with_capacity(stem.len());
    let mut letters = stem.chars().peekable();
    while let Some(letter) = letters.next() {
        // A number in front of `_` is that of a device: md127_raid1.
        let is_counted = letter.is_ascii_digit() && {
            let rest: String = letters.clone().skip_while(char::is_ascii_digit).take(1).collect();
            rest == "_"
        };
        if !is_counted {
            pool.push(letter);
        }
    }
    let pool = pool.trim_end_matches(['_', '-', '.', ' ']);
    if pool.is_empty() { super::OTHERS.to_owned() } else { pool.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::pool;

    #[test]
    fn a_pool_has_no_number_of_a_cpu_device_or_process() {
        for (thread, expected) in [
            ("kworker/3:1-events", "kworker"),
            ("kworker/u8:2+flush-8:0", "kworker"),
            ("ksoftirqd/127", "ksoftirqd"),
            ("irq/24-nvme0q1", "irq"),
            ("vhost-123456", "vhost"),
            ("kswapd1", "kswapd"),
            ("kipmi0", "kipmi"),
            ("kpktgend_63", "kpktgend"),
            ("scsi_eh_12", "scsi_eh"),
            ("md127_raid1", "md_raid"),
            ("jbd2/dm-0-8", "jbd2"),
            ("xfsaild/sda1", "xfsaild"),
            ("iou-sqp-4711", "iou-sqp"),
            ("rcu_preempt", "rcu_preempt"),
            ("ext4-rsv-conver", "ext4-rsv-conver"),
            ("4711", "other"),
        ] {
            assert_eq!(pool(thread), expected, "{thread}");
        }
    }
}
