//! `ethtool INTERFACE` as the file that bundles keep it in.

use super::Facts;
use facts::links::ethtool::Question;

const HEAD: &str = "Settings for ";

pub(super) fn read(text: &str, facts: &mut Facts) -> Option<usize> {
    let mut first = None;
    let mut open: Option<(String, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let name = line.trim().strip_prefix(HEAD).and_then(|it| it.strip_suffix(':'));
        if let Some(name) = name.filter(|it| is_name(it)) {
            first.get_or_insert(at);
            write(open.take(), facts);
            open = Some((name.to_owned(), String::new()));
        }
        if let Some((_, said)) = &mut open {
            if facts::pasted::command(line).is_some() {
                write(open.take(), facts);
            } else {
                said.extend([line, "\n"]);
            }
        }
    }
    write(open, facts);
    first
}

/// Names of interfaces have at most 15 bytes (IFNAMSIZ in include/uapi/linux/if.h).
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() < 16 && !name.contains(['/', ' ']) && !matches!(name, "." | "..")
}

fn write(said: Option<(String, String)>, facts: &mut Facts) {
    let Some((name, text)) = said else { return };
    facts.answers.file(&Question::Settings.file(&name), text);
    // An Ethernet interface: nothing else has such settings (ARPHRD_ETHER of include/uapi/linux/if_arp.h).
    facts.line(&format!("/sys/class/net/{name}/type"), 1);
}
