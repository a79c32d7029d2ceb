//! The findings of one Ethernet link: which speed it could have, by what each end offers, and what to do.

use crate::finding::{Confidence, Finding, Severity};
use facts::BitsPerSecond;
use facts::links::ethtool::{Port, Question, Settings};
use facts::links::network::Interface;

/// At this share of the rate, or less, three quarters of it are lost.
const MOST_IS_LOST: u64 = 4;

/// One interface with a link.
pub(super) struct Link<'a> {
    pub(super) interface: &'a Interface,
    pub(super) settings: &'a Settings,
    /// As findings name it.
    pub(super) name: String,
}

impl Link<'_> {
    /// The finding of a speed below what could be, by what is known of both ends.
    pub(super) fn slow(&self, speed: BitsPerSecond) -> Option<Finding> {
        let Settings { supported, advertised, partner, .. } = self.settings;
        let own = supported.highest().filter(|it| *it > speed)?;
        if partner.is_empty() {
            return Some(self.below_own(speed, own));
        }
        let both = supported.common(partner).highest().filter(|it| *it > speed)?;
        Some(match self.settings.agreeable().filter(|it| *it > speed) {
            Some(offered) => self.below_both(speed, offered),
            None if advertised.is_empty() => self.below_own(speed, both),
            None => self.held_back(speed, both),
        })
    }

    /// Both ends offer more: what lies between them is at fault.
    fn below_both(&self, speed: BitsPerSecond, offered: BitsPerSecond) -> Finding {
        let is_most = speed.0.saturating_mul(MOST_IS_LOST) <= offered.0;
        let severity = if is_most { Severity::High } else { Severity::Medium };
        let message =
            format!("{} runs at {speed}, and both of its ends offer {offered}", self.name);
        self.with_speeds(Finding::new(severity, Confidence::Medium, message), speed, offered)
            .fix_lasting(CABLE)
    }

    /// The speed may have been limited on purpose.
    fn held_back(&self, speed: BitsPerSecond, possible: BitsPerSecond) -> Finding {
        let message = format!(
            "{} runs at {speed}: it advertises less than it can, and both of its ends can do {possible}",
            self.name
        );
        self.with_speeds(Finding::new(Severity::Low, Confidence::Medium, message), speed, possible)
            .fix_lasting(self.negotiate())
    }

    /// What the other end can do is not known.
    fn below_own(&self, speed: BitsPerSecond, own: BitsPerSecond) -> Finding {
        let Settings { advertised, autonegotiation, port, .. } = self.settings;
        let name = &self.name;
        let is_held_back = advertised.highest().is_some_and(|it| it <= speed);
        let (message, fix) = if *autonegotiation == Some(false) {
            let with = match port {
                Some(Port::Fibre | Port::DirectAttach) => ", perhaps with another transceiver",
                _ => "",
            };
            let fix = format!(
                "a transceiver, cable and switch port of {own} where they are slower; or {}",
                self.negotiate()
            );
            (format!("{name} is set to {speed}, and its adapter can do {own}{with}"), fix)
        } else if is_held_back {
            let message = format!(
                "{name} runs at {speed}: it advertises less than it can, and its adapter can do {own}"
            );
            (message, self.negotiate())
        } else {
            let message = format!(
                "{name} runs at {speed}, and its adapter can do {own}; what the other end can is not told"
            );
            (message, CABLE.to_owned())
        };
        self.with_speeds(Finding::new(Severity::Low, Confidence::Low, message), speed, own)
            .fix_lasting(fix)
    }

    /// The finding of half duplex.
    pub(super) fn half(&self) -> Finding {
        let message = format!("{} runs in half duplex", self.name);
        let finding = Finding::new(Severity::High, Confidence::High, message);
        self.evidence(finding, "Duplex", "Half")
            .cost(
                "half of the link's rate, and what collisions take of the rest",
                "one direction has to be quiet while the other one sends",
            )
            .fix_lasting(format!(
                "{}; and the same on the switch port: where one end is set by hand, the other one falls back to half \
                 duplex",
                self.negotiate()
            ))
    }

    fn with_speeds(
        &self,
        finding: Finding,
        speed: BitsPerSecond,
        possible: BitsPerSecond,
    ) -> Finding {
        let Settings { supported, advertised, partner, autonegotiation, .. } = self.settings;
        let mut finding = self.evidence(finding, "Speed", &speed.to_string());
        let of_ends = [
            ("Supported link modes", supported),
            ("Advertised link modes", advertised),
            ("Link partner advertised link modes", partner),
        ];
        for (what, speeds) in of_ends.into_iter().filter(|(_, it)| !it.is_empty()) {
            finding = self.evidence(finding, what, &speeds.to_string());
        }
        if let Some(is_on) = autonegotiation {
            finding = self.evidence(finding, "Auto-negotiation", if *is_on { "on" } else { "off" });
        }
        let lost = 100.0 * (1.0 - speed.bytes().share_of(possible.bytes()));
        finding.cost(
            format!("{lost:.0} % of the {possible} that the wire could carry"),
            format!("{speed} of {possible} in each direction"),
        )
    }

    /// Evidence in the words of ethtool(8), whatever the source.
    fn evidence(&self, finding: Finding, what: &str, value: &str) -> Finding {
        finding
            .evidence(format!("{}: {what}", Question::Settings.name(&self.interface.name)), value)
    }

    /// How to have both ends agree on the best speed, which takes the link down for seconds.
    fn negotiate(&self) -> String {
        let name = &self.interface.name;
        let set_by =
            "what set it is in the configuration of the network (NetworkManager, systemd.link)";
        match self.settings.port {
            // Optics of 10GBASE-SR and the like have nothing to negotiate (IEEE 802.3, clauses 28 and 73 are for copper).
            Some(Port::Fibre) => format!(
                "the same speed on this end and on the switch port, set by hand, for fibre negotiates none; {set_by}"
            ),
            Some(Port::DirectAttach) => format!(
                "`ethtool -s {name} autoneg on` where the switch port negotiates too: the link goes down, and stays down if the \
                 port does not; {set_by}"
            ),
            _ => format!(
                "`ethtool -s {name} autoneg on` lets both ends agree on the best again, where it was not set on purpose; the link goes \
                 down while they do; {set_by}"
            ),
        }
    }
}

const CABLE: &str = "change the cable or the transceiver, then look at the speed that the switch port is configured for, then \
                     try another port; `ethtool IF` shows what both ends offer";
