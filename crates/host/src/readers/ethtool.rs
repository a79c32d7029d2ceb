//! Reads what the driver of an interface says of its wire: of the kernel, or of what ethtool(8) printed.

use crate::Source;
use facts::links::ethtool::{Ethtool, Question, binary, text};
use facts::{Expected, Fact, Missing, Why};

pub(super) fn read(source: &dyn Source, interface: &str) -> Ethtool {
    let ask = Ask { source, interface };
    Ethtool {
        settings: ask.driver(Question::Settings, binary::settings, text::settings),
        fec: ask.driver(Question::Fec, binary::fec, text::fec),
        pause: ask.driver(Question::Pause, binary::pause, text::pause),
    }
}

/// Nothing is known of the wire of `interface`, `because` there is none to know of.
pub(super) fn not_here(interface: &str, because: &str) -> Ethtool {
    let missing = || Missing::not_here(format!("Ethernet link of {interface}"), because);
    Ethtool { settings: Err(missing()), fec: Err(missing()), pause: Err(missing()) }
}

struct Ask<'a> {
    source: &'a dyn Source,
    interface: &'a str,
}

impl Ask<'_> {
    /// A bundle has no driver, but may hold what somebody asked of it.
    fn driver<T>(
        &self,
        question: Question,
        of_bytes: fn(&[u8]) -> Result<T, Expected>,
        of_text: fn(&str) -> Result<Option<T>, Expected>,
    ) -> Fact<T> {
        let name = question.name(self.interface);
        match self.source.ethtool(self.interface, question) {
            Ok(bytes) => of_bytes(&bytes).map_err(|Expected(expected)| {
                Missing::malformed(name, &format!("{bytes:02x?}"), expected)
            }),
            Err(missing) if matches!(missing.why, Why::NotCollected | Why::Absent) => {
                match self.source.parsed(&question.file(self.interface), of_text) {
                    Ok(Some(answer)) => Ok(answer),
                    Ok(None) => Err(Missing::not_here(name, "its driver does not report it")),
                    Err(Missing { why: Why::NotCollected | Why::Absent, .. }) => Err(missing),
                    Err(unreadable) => Err(unreadable),
                }
            }
            Err(missing) => Err(missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Captured;

    const TEXT: &str = "\
//- /sos_commands/networking/ethtool_eth0
Settings for eth0:
\tSpeed: 1000Mb/s
\tDuplex: Full
\tLink detected: yes
//- /sos_commands/networking/ethtool_-a_eth0
Cannot get device pause settings: Operation not supported
Pause parameters for eth0:
";

    #[test]
    fn a_bundle_answers_with_what_ethtool_printed() {
        let ethtool = read(&Captured::excerpt(TEXT).unwrap(), "eth0");
        assert_eq!(ethtool.settings.unwrap().speed.unwrap().to_string(), "1 Gb/s");
        assert!(ethtool.pause.unwrap_err().is_absence());
        assert_eq!(ethtool.fec, Err(Missing::absent("ethtool eth0 fec")));
    }

    #[test]
    fn a_bundle_without_an_answer_leaves_it_open() {
        let text = format!("fullclock capture 1 (imported)\n{TEXT}");
        let ethtool = read(&Captured::parse(&text).unwrap(), "eth0");
        assert_eq!(ethtool.fec, Err(Missing::not_collected("ethtool eth0 fec")));
    }

    #[test]
    fn the_driver_comes_before_what_was_printed_and_nonsense_is_named() {
        let text = format!("{TEXT}//- ethtool eth0 link-settings\n!bytes 4c000000\n");
        let ethtool = read(&Captured::excerpt(&text).unwrap(), "eth0");
        assert_eq!(
            ethtool.settings.unwrap_err().to_string(),
            "ethtool eth0 link-settings: found \"[4c, 00, 00, 00]\", expected a struct ethtool_link_settings"
        );
    }
}
