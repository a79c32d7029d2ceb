//! What tells whether sensor records that were fetched before are still those that there are.

use super::controller::{Controller, Patience};
use super::failure::Failure;
use facts::ipmi::{DeviceId, Guid, RepositoryInfo, Timestamp, Unanswered};
use serde::{Deserialize, Serialize};

/// A state of a controller's sensor records: where two of them are equal and [`Stamp::doubt`] has none, so are the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    /// The number that no other controller has, as 32 hexadecimal digits.
    pub(super) guid: Option<String>,
    /// The controller and its firmware: another firmware may have other records.
    pub(super) device: String,
    /// How many records there are.
    pub(super) n_records: Option<u16>,
    /// When one was added last, in seconds since 1970 by the controller's clock.
    pub(super) last_addition: Option<u32>,
    /// When one was deleted last, in the same way.
    pub(super) last_erase: Option<u32>,
    /// Whether the controller's clock was not set yet when they changed last.
    pub(super) is_unset: bool,
}

impl Stamp {
    /// Asks for it. What a controller does not know is left out.
    pub(super) fn of(
        controller: &mut Controller,
        patience: Patience<'_>,
    ) -> Result<Stamp, Failure> {
        let device = controller.ask(&DeviceId::question(), patience.anew())?;
        let own = if_known(controller.ask(&Guid::of_device(), patience.anew()))?;
        let guid = match own.filter(|it| it.is_given()) {
            Some(guid) => Some(guid),
            None => if_known(controller.ask(&Guid::of_system(), patience.anew()))?,
        };
        let info = if_known(controller.ask(&RepositoryInfo::question(), patience.anew()))?;
        let (addition, erase) =
            info.as_ref().map_or((None, None), |it| (it.last_addition, it.last_erase));
        let since_start = |it: Option<Timestamp>| matches!(it, Some(Timestamp::SinceStart(_)));
        Ok(Stamp {
            guid: guid.filter(|it| it.is_given()).map(|it| digits(&it.0)),
            device: device.to_string(),
            n_records: info.map(|it| it.n_records),
            last_addition: seconds(addition),
            last_erase: seconds(erase),
            is_unset: since_start(addition) || since_start(erase),
        })
    }

    /// Why an equal one may belong to other records all the same; none where it cannot.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        match self {
            Stamp { guid: None, .. } => Some("the controller has no number of its own (GUID)"),
            Stamp { last_addition: None, .. } => {
                Some("the controller does not tell when its sensor records changed last")
            }
            Stamp { is_unset: true, .. } => Some(
                "the controller's clock was not set when its sensor records changed last, so that the same time comes again \
                 with other records",
            ),
            _ => None,
        }
    }
}

/// What a controller that does not know such a question has not.
fn if_known<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(it) => Ok(Some(it)),
        Err(Failure::Unanswered { why: Unanswered::Refused(_), .. }) => Ok(None),
        Err(why) => Err(why),
    }
}

fn seconds(time: Option<Timestamp>) -> Option<u32> {
    match time? {
        Timestamp::Date(seconds) | Timestamp::SinceStart(seconds) => Some(seconds),
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    const DEVICE_ID: [u8; 12] = [0, 0x20, 1, 1, 0, 2, 0xbf, 0, 0, 0, 0, 0];
    /// Ninety records; one was added, and none was ever deleted.
    const REPOSITORY: [u8; 15] = [0, 0x51, 90, 0, 0, 1, 1, 0, 0, 0x5f, 0xff, 0xff, 0xff, 0xff, 0];

    /// That of a controller with this answer to the question after its own number, after that of its system, and after its
    /// records.
    fn stamp(own: &[u8], system: &[u8], repository: &[u8]) -> Stamp {
        let (own, system, repository) = (own.to_vec(), system.to_vec(), repository.to_vec());
        let mut controller = fake::controller(move |asked| {
            Some(match (asked.function, asked.command) {
                (0x06, 0x01) => DEVICE_ID.to_vec(),
                (0x06, 0x08) => own.clone(),
                (0x06, 0x37) => system.clone(),
                _ => repository.clone(),
            })
        });
        let stop = AtomicBool::new(false);
        Stamp::of(&mut controller, Patience::begin(Duration::from_secs(60), &stop)).unwrap()
    }

    fn guid(byte: u8) -> Vec<u8> {
        [&[0][..], &[byte; 16]].concat()
    }

    #[test]
    fn a_controller_with_a_number_and_a_time_leaves_no_doubt() {
        let stamp = stamp(&guid(0x5a), &guid(0x11), &REPOSITORY);
        assert_eq!(stamp.doubt(), None);
        assert_eq!(stamp.guid, Some("5a".repeat(16)));
        assert_eq!((stamp.n_records, stamp.last_erase), (Some(90), None));
        assert_eq!(stamp.last_addition, Some(0x5f00_0001));
    }

    #[test]
    fn one_without_a_number_of_its_own_has_that_of_its_system_or_none() {
        for own in [guid(0), guid(0xff), vec![0xc1]] {
            assert_eq!(stamp(&own, &guid(0x11), &REPOSITORY).guid, Some("11".repeat(16)));
        }
        let none = stamp(&[0xc1], &[0xc1], &REPOSITORY);
        assert_eq!(none.doubt(), Some("the controller has no number of its own (GUID)"));
    }

    #[test]
    fn a_time_that_is_not_told_or_comes_again_is_doubted() {
        let doubt = |repository: &[u8]| stamp(&guid(1), &guid(2), repository).doubt();
        let (mut never, mut unset) = (REPOSITORY, REPOSITORY);
        never[6..10].fill(0);
        unset[9] = 0;
        assert!(doubt(&[0xc1]).is_some_and(|it| it.contains("does not tell when")));
        assert!(doubt(&never).is_some_and(|it| it.contains("does not tell when")));
        assert!(doubt(&unset).is_some_and(|it| it.contains("clock was not set")));
    }
}
