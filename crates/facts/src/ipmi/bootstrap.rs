//! Get Bootstrap Account Credentials: an account that the controller makes for the host interface of the machine that asks.
//!
//! Sources: DMTF DSP0270 1.3, section 9 (credential bootstrapping via IPMI commands); RedfishPkg of edk2, RedfishPlatformCredentialIpmiLib:
//! group extension 52h, command 02h; the second byte of the question keeps the service enabled as A5h and switches it off for others with any
//! other value; the answer has the group, 16 bytes of name and 16 of password, filled with NUL; completion code 80h says that it is
//! switched off.

use super::Question;
use std::fmt;

const GROUP_EXTENSION: u8 = 0x2c;
const REDFISH: u8 = 0x52;
const COMMAND: u8 = 0x02;

/// Others may still get an account after this question.
const KEEP_ENABLED: u8 = 0xa5;

/// The bytes of each text.
const LENGTH: usize = 16;

/// An account on the host interface. Its password shows in no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct BootstrapAccount {
    /// The name of the user.
    pub name: String,
    /// The password.
    pub password: String,
}

impl BootstrapAccount {
    /// The question, which leaves the service enabled. The answer is `None` where it is no account: its bytes may hold a secret, and are not
    /// for an error to show.
    pub fn question() -> Question<Option<BootstrapAccount>> {
        Question {
            name: "Get Bootstrap Account Credentials",
            function: GROUP_EXTENSION,
            command: COMMAND,
            data: vec![REDFISH, KEEP_ENABLED],
            read: |_, data| Ok(BootstrapAccount::parse(data)),
        }
    }

    fn parse(data: &[u8]) -> Option<BootstrapAccount> {
        let (&group, texts) = data.split_first()?;
        let (name, password) = texts.split_at_checked(LENGTH)?;
        if group != REDFISH || password.len() != LENGTH {
            return None;
        }
        Some(BootstrapAccount { name: text(name)?, password: text(password)? })
    }
}

impl fmt::Debug for BootstrapAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapAccount").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Printable characters up to the first NUL; a colon would end the name of a user.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
    let text = str::from_utf8(bytes.get(..end)?).ok()?;
    let is_plain = text.bytes().all(|it| it.is_ascii_graphic());
    (is_plain && !text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipmi::{Completion, Unanswered};

    fn answer(name: &str, password: &str) -> Vec<u8> {
        let mut data = vec![0, REDFISH];
        for text in [name, password] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(LENGTH, 0);
            data.extend(bytes);
        }
        data
    }

    #[test]
    fn the_question_leaves_the_service_enabled_and_its_answer_is_an_account() {
        let question = BootstrapAccount::question();
        assert_eq!((question.function, question.command), (0x2c, 2));
        assert_eq!(question.data, [0x52, 0xa5]);
        let account = question.parse(&answer("host_a1b2c3", "0123456789abcdef")).unwrap().unwrap();
        assert_eq!((&*account.name, &*account.password), ("host_a1b2c3", "0123456789abcdef"));
        assert!(!format!("{account:?}").contains("0123"));
        let disabled = question.parse(&[0x80]);
        assert_eq!(disabled, Err(Unanswered::Refused(Completion(0x80))));
    }

    #[test]
    fn what_is_no_account_is_none_and_is_not_repeated() {
        let question = BootstrapAccount::question();
        let mut cut = answer("host", "secret");
        cut.pop();
        let mut group = answer("host", "secret");
        group[1] = 0xdc;
        for data in [cut, group, answer("", "secret"), answer("a b", "secret"), vec![0]] {
            assert_eq!(question.parse(&data), Ok(None), "{data:?}");
        }
    }
}
