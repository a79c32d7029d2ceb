//! Reads the kernel's log: of the running kernel, or of the files in which a copy of a host has it.
//!
//! Sources: sos's plugins kernel.py (`dmesg`, `dmesg -T`) and logs.py (`journalctl --no-pager --boot`), rsyslog's and Debian's
//! names in /var/log, and must-gather's `dmesg` of a node. An earlier boot's log is not read.

use crate::Source;
use facts::log::KernelLog;
use facts::{Fact, Missing, Origin};

/// The log of the running kernel.
const LIVE: &str = "/dev/kmsg";

/// The ring buffer, as tools that copy a host keep it, and the files that syslogd writes.
const FILES: [&str; 7] = [
    "/sos_commands/kernel/dmesg",
    "/sos_commands/kernel/dmesg_-T",
    "/var/log/dmesg",
    "/dmesg",
    "/var/log/messages",
    "/var/log/kern.log",
    "/var/log/syslog",
];

/// The folder in which sos keeps what journalctl prints.
const JOURNALS: &str = "/sos_commands/logs";

/// What the host's logs say, or why there are none.
pub(super) fn read(source: &dyn Source) -> Fact<KernelLog> {
    if source.origin() != Origin::Tree {
        return Ok(KernelLog::of([(LIVE, &*source.text(LIVE)?)]));
    }
    let mut paths: Vec<String> = FILES.map(str::to_owned).into();
    let journals = source.list(JOURNALS).unwrap_or_default();
    paths.extend(journals.iter().map(|it| format!("{JOURNALS}/{it}")).filter(|it| is_log(it)));
    let mut unreadable = None;
    let mut texts = Vec::new();
    for path in &paths {
        match source.text(path) {
            Ok(text) => texts.push((&**path, text)),
            Err(missing) if missing.is_absence() || missing == Missing::not_collected(&**path) => {}
            Err(missing) => unreadable = unreadable.or(Some(missing)),
        }
    }
    if texts.is_empty() {
        return Err(unreadable.unwrap_or_else(|| Missing::not_collected("/var/log/dmesg")));
    }
    let log = KernelLog::of(texts.iter().map(|(path, text)| (*path, &**text)));
    Ok(KernelLog { missing: unreadable, ..log })
}

/// Whether a file is one that this reader reads: of others, and of these in a capture, only what the table knows is kept.
pub(crate) fn is_log(path: &str) -> bool {
    let journal = path.strip_prefix(JOURNALS).and_then(|it| it.strip_prefix("/journalctl_"));
    path == LIVE
        || FILES.contains(&path)
        || journal.is_some_and(|it| it.ends_with("--boot") || it == "--no-pager")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Captured, Recording};

    fn said(capture: &str) -> String {
        let host = Captured::parse(capture).unwrap();
        match read(&host) {
            Ok(log) => {
                let line =
                    |it: &facts::log::Logged| format!("{} {}", it.source, it.messages.kind.id);
                log.messages.iter().map(line).collect::<Vec<_>>().join(", ")
            }
            Err(missing) => missing.to_string(),
        }
    }

    const HOT: &str =
        "[ 36.0] CPU0: Core temperature above threshold, cpu clock throttled (total events = 9)\n";

    #[test]
    fn a_copy_has_its_log_in_one_of_many_files() {
        for path in [
            "/sos_commands/kernel/dmesg",
            "/var/log/messages",
            "/dmesg",
            "/sos_commands/logs/journalctl_--no-pager_--boot",
        ] {
            let text = format!("fullclock capture 1 (imported)\n//- {path}\n{HOT}");
            assert_eq!(said(&text), format!("{path} cpu-throttled-by-heat"));
        }
        let earlier = "/sos_commands/logs/journalctl_--no-pager_--boot_-1";
        let text = format!("fullclock capture 1 (imported)\n//- {earlier}\n{HOT}");
        assert_eq!(said(&text), "/var/log/dmesg is not in this copy of the host");
    }

    #[test]
    fn a_log_that_may_not_be_read_is_missing_beside_one_that_was() {
        let denied = "fullclock capture 1 (imported)\n//- /dmesg\n[ 1.0] hello\n//- /var/log/messages\n!denied\n";
        let log = read(&Captured::parse(denied).unwrap()).unwrap();
        assert_eq!(log.missing, Some(Missing::denied("/var/log/messages")));
        assert_eq!(log.messages, []);
    }

    #[test]
    fn a_live_log_that_may_not_be_read_is_unknown() {
        let text = "fullclock capture 1\n//- /dev/kmsg\n!denied\n";
        assert_eq!(said(text), "/dev/kmsg may not be read");
        assert_eq!(said("fullclock capture 1\n"), "/dev/kmsg is not in this copy of the host");
    }

    #[test]
    fn a_capture_keeps_the_messages_of_the_table_and_nothing_else() {
        let text = format!(
            "//- /dev/kmsg\n[ 1.0] systemd[1]: Hostname set to <db7.corp.example>\n{HOT}[ 40.0] audit: login of ann\n"
        );
        let host = Captured::excerpt(&text).unwrap();
        let recording = Recording::new(&host);
        let before = read(&recording).unwrap();
        let capture = recording.capture();
        assert_eq!(
            capture,
            format!(
                "fullclock capture 1\n# its last line is `//- end`\n//- /dev/kmsg\n{}//- end\n",
                HOT.replace(" 36.0", "36.000000")
            )
        );
        assert_eq!(read(&Captured::parse(&capture).unwrap()), Ok(before));
    }
}
