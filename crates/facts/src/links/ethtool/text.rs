//! What ethtool(8) prints: `ethtool IF`, `ethtool --show-fec IF`, `ethtool -a IF`.
//!
//! Sources: ethtool 3 to 6, ethtool.c and netlink/settings.c, fec.c, pause.c. Where a driver does not answer, the program
//! says so in place of the answer, and that is `None`.

use super::{Duplex, Encodings, Fec, Pause, Port, Settings, modes};
use crate::links::network::speed_of;
use crate::parse::{Expected, number};

/// How errno and the program word that a driver has no such thing: EOPNOTSUPP, and nothing of all that was asked for.
const REFUSALS: [&str; 2] = ["Operation not supported", "No data available"];

/// Parses what `ethtool IF` prints.
pub fn settings(text: &str) -> Result<Option<Settings>, Expected> {
    let Some(lines) = answer(text, "Settings for ", "what `ethtool IF` prints")? else {
        return Ok(None);
    };
    let modes = |key: &str| modes::of_names(value(&lines, key).unwrap_or_default());
    Ok(Some(Settings {
        speed: value(&lines, "Speed").map_or(Ok(None), speed)?,
        duplex: match value(&lines, "Duplex") {
            Some("Full") => Some(Duplex::Full),
            Some("Half") => Some(Duplex::Half),
            _ => None,
        },
        autonegotiation: value(&lines, "Auto-negotiation").and_then(switch),
        port: value(&lines, "Port").map(port),
        supported: modes("Supported link modes"),
        advertised: modes("Advertised link modes"),
        partner: modes("Link partner advertised link modes"),
        // Behind `no` there may be the reason.
        link: value(&lines, "Link detected").and_then(|it| match it.split(' ').next() {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        }),
    }))
}

/// Parses what `ethtool --show-fec IF` prints.
pub fn fec(text: &str) -> Result<Option<Fec>, Expected> {
    const FEC: &str = "what `ethtool --show-fec IF` prints";
    let Some(lines) = answer(text, "FEC parameters for ", FEC)? else { return Ok(None) };
    let encodings = |keys: [&str; 2]| -> Result<Encodings, Expected> {
        let names = keys.iter().find_map(|key| value(&lines, key)).ok_or(Expected(FEC))?;
        let bits = names.split_whitespace().filter_map(Encodings::named);
        Ok(Encodings(bits.fold(0, |all, it| all | it.0)))
    };
    Ok(Some(Fec {
        // Its name since ethtool 5.19.
        configured: encodings(["Supported/Configured FEC encodings", "Configured FEC encodings"])?,
        active: encodings(["Active FEC encoding", "Active FEC encodings"])?,
    }))
}

/// Parses what `ethtool -a IF` prints.
pub fn pause(text: &str) -> Result<Option<Pause>, Expected> {
    const PAUSE: &str = "what `ethtool -a IF` prints";
    let Some(lines) = answer(text, "Pause parameters for ", PAUSE)? else { return Ok(None) };
    let is_on = |key| value(&lines, key).and_then(switch).ok_or(Expected(PAUSE));
    Ok(Some(Pause { autonegotiate: is_on("Autonegotiate")?, rx: is_on("RX")?, tx: is_on("TX")? }))
}

/// The lines `key: value` below a heading, each with what goes on in the lines below it; `None` of a refusal.
fn answer(
    text: &str,
    heading: &str,
    expected: &'static str,
) -> Result<Option<Vec<(String, String)>>, Expected> {
    let mut lines = text.lines().map(str::trim);
    let has_heading = lines.any(|it| it.starts_with(heading));
    let mut found: Vec<(String, String)> = Vec::new();
    for line in lines.filter(|it| has_heading && !it.is_empty()) {
        match (line.split_once(':'), found.last_mut()) {
            (Some((key, value)), _) => found.push((key.trim().to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(line);
            }
            (None, None) => {}
        }
    }
    let is_refused = REFUSALS.iter().any(|it| text.contains(it));
    match found.is_empty() {
        false => Ok(Some(found)),
        true if is_refused => Ok(None),
        true => Err(Expected(expected)),
    }
}

fn value<'a>(lines: &'a [(String, String)], key: &str) -> Option<&'a str> {
    lines.iter().find(|(it, _)| it == key).map(|(_, value)| value.as_str())
}

/// `1000Mb/s`, `Unknown!`, `Unknown! (65535)`.
fn speed(text: &str) -> Result<Option<crate::BitsPerSecond>, Expected> {
    const SPEED: Expected = Expected("a speed like `1000Mb/s`");
    if text.starts_with("Unknown") {
        return Ok(None);
    }
    let megabits = text.strip_suffix("Mb/s").and_then(|it| number(it).ok()).ok_or(SPEED)?;
    speed_of(i64::try_from(megabits).map_err(|_| SPEED)?)
}

/// `on`, `off`; some versions say why behind it.
fn switch(text: &str) -> Option<bool> {
    match text.split(' ').next()? {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn port(text: &str) -> Port {
    match text {
        "Twisted Pair" => Port::TwistedPair,
        "FIBRE" => Port::Fibre,
        "Direct Attach Copper" => Port::DirectAttach,
        _ => Port::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: &str = "\
Cannot get wake-on-lan settings: Operation not permitted
Settings for eno1:
\tSupported ports: [ TP ]
\tSupported link modes:   10baseT/Half 10baseT/Full
\t                        1000baseT/Full
\t                        10000baseT/Full
\tSupported pause frame use: Symmetric
\tSupports auto-negotiation: Yes
\tSupported FEC modes: Not reported
\tAdvertised link modes:  1000baseT/Full
\tLink partner advertised link modes:  100baseT/Full
\t                                     1000baseT/Full
\tSpeed: 1000Mb/s
\tDuplex: Full
\tAuto-negotiation: on
\tPort: Twisted Pair
\tMDI-X: off (auto)
\tLink detected: yes
";

    #[test]
    fn settings_are_read_with_the_lines_that_go_on() {
        let settings = settings(GIGABIT).unwrap().unwrap();
        assert_eq!(settings.speed.unwrap().to_string(), "1 Gb/s");
        assert_eq!(settings.supported.to_string(), "0.01, 1, 10 Gb/s");
        assert_eq!(settings.advertised.to_string(), "1 Gb/s");
        assert_eq!(settings.partner.to_string(), "0.1, 1 Gb/s");
        assert_eq!((settings.duplex, settings.autonegotiation), (Some(Duplex::Full), Some(true)));
        assert_eq!((settings.port, settings.link), (Some(Port::TwistedPair), Some(true)));
    }

    #[test]
    fn what_the_driver_does_not_know_is_none() {
        let text = "Settings for eth0:\n\tSupported link modes:   Not reported\n\tSpeed: Unknown! (65535)\n\
                    \tDuplex: Unknown! (255)\n\tLink detected: no (No cable)\n";
        let settings = settings(text).unwrap().unwrap();
        assert_eq!((settings.speed, settings.duplex, settings.autonegotiation), (None, None, None));
        assert!(settings.supported.is_empty());
        assert_eq!(settings.link, Some(false));
    }

    #[test]
    fn a_refusal_is_none_and_anything_else_is_malformed() {
        let refused = "netlink error: Operation not supported\n";
        assert_eq!(
            (settings(refused), fec(refused), pause(refused)),
            (Ok(None), Ok(None), Ok(None))
        );
        let pause_of = |text| pause(text);
        let heading_behind = "Cannot get device pause settings: Operation not supported\n\
                              Pause parameters for wlp3s0:\n";
        assert_eq!(pause_of(heading_behind), Ok(None));
        for text in ["", "ethtool: bad command line argument(s)", "Settings for eth0:\n"] {
            assert!(
                settings(text).is_err() && fec(text).is_err() && pause(text).is_err(),
                "{text}"
            );
        }
        assert!(settings("Settings for eth0:\nSpeed: fast\n").is_err());
    }

    #[test]
    fn corrections_of_old_and_new_versions_are_read() {
        let of = |text| fec(text).unwrap().unwrap();
        let old = of("FEC parameters for eth0:\nConfigured FEC encodings: Auto Off BaseR RS\n\
                      Active FEC encoding: BaseR\n");
        assert_eq!(old.active.to_string(), "BaseR");
        let new = of("FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto\n\
                      Active FEC encoding: RS\nStatistics:\n  corrected_blocks: 0\n");
        assert_eq!(
            (new.configured.to_string(), new.active.to_string()),
            ("Auto".into(), "RS".into())
        );
    }

    #[test]
    fn pause_is_read_however_its_colon_stands() {
        let text = "Pause parameters for enp0s25:\n\nAutonegotiate : on\nRX:             off\n\
                    TX:             on\nRX negotiated:  off\n";
        let pause = pause(text).unwrap().unwrap();
        assert_eq!((pause.autonegotiate, pause.rx, pause.tx), (true, false, true));
    }
}
