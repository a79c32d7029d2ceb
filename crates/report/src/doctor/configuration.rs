//! The configuration of the site, and the management controller that it names.

use crate::document::{Block, Document, Text};
use rules::config::Config;

/// What became of the configuration.
pub enum Configuration {
    /// There is none at these places.
    Absent(Vec<String>),
    /// The user wanted none.
    Off,
    /// It was read.
    Read {
        /// The file.
        path: String,
        /// What it says.
        config: Box<Config>,
        /// The day, as in `2026-11-20`.
        today: String,
        /// The management controller that it names, which was not contacted.
        controller: Option<Controller>,
    },
    /// It may not be obeyed, or makes no sense; why.
    Refused(String),
}

/// A management controller that the configuration names, and whether it can be asked.
#[derive(Debug)]
pub struct Controller {
    /// Its address; `None` where that makes no sense.
    pub url: Option<String>,
    /// The file of the token or the password.
    pub file: Option<String>,
    /// Why it cannot be asked: the file cannot be read, or others can.
    pub refused: Option<String>,
}

/// What a controller that the configuration names adds.
const ADDED: &str = "power limits and throttled processors, as the management controller says over Redfish, in audits and captures (bmc-throttling)";

/// What became of it, and what of it an audit goes by.
pub(super) fn describe(document: &mut Document, configuration: &Configuration) {
    let (path, config, today, controller) = match configuration {
        Configuration::Absent(places) => {
            document.paragraph(format!("None: there is no {}.", places.join(", and no ")));
            document.labelled("Redfish", redfish(None));
            return;
        }
        Configuration::Off => {
            document.paragraph(Text::sentence("None is read (`--no-config`)."));
            return;
        }
        Configuration::Refused(why) => {
            document.paragraph(&**why);
            return;
        }
        Configuration::Read { path, config, today, controller } => {
            (path, config, today, controller)
        }
    };
    document.labelled("read", Text::code(&**path));
    for it in &config.ignored {
        let on = it.cpus.as_ref().map_or(String::new(), |cpus| format!(" on {}", cpus.named()));
        let (id, until, because) = (it.check.id, &it.until, &it.because);
        let does = if it.is_valid(today) { "suppresses" } else { "no longer suppresses" };
        document.labelled("", format!("{does} {id}{on}, until {until}: {because}"));
    }
    for (threshold, value) in config.thresholds.set() {
        document.labelled("", format!("{}: at least {value} {}", threshold.check, threshold.unit));
    }
    let folders = [("journal", &config.state), ("results", &config.results)];
    for (what, folder) in folders {
        document.extend(folder.iter().map(|it| Block::labelled("", format!("{what} in {it}"))));
    }
    if let Some(listen) = config.listen {
        document.labelled("", format!("serve listens at {listen}"));
    }
    document.labelled("Redfish", redfish(controller.as_ref()));
}

/// Whether the configuration names a controller that can be asked.
fn redfish(controller: Option<&Controller>) -> Text {
    let Some(Controller { url, file, refused }) = controller else {
        return Text::sentence(&format!(
            "the configuration names no management controller (`redfish.url`); one would add {ADDED}"
        ));
    };
    let who = url.as_deref().unwrap_or("the management controller that the configuration names");
    match (refused, file) {
        (Some(why), _) => Text::strong(format!("{who} cannot be asked: {why}")),
        (None, Some(file)) => Text::from(format!(
            "{who}, with {file}, which its owner alone can read; it was not asked here"
        )),
        (None, None) => Text::sentence(&format!(
            "{who}, without an account (`redfish.token-file`, or `redfish.user` and `redfish.password-file`), which most controllers refuse; it was not asked here"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_is_named_with_its_file_or_with_why_it_cannot_be_asked() {
        let of = |file: Option<&str>, refused: Option<&str>| {
            let own = |it: &str| it.to_owned();
            let (url, refused) = (Some(own("https://bmc7")), refused.map(own));
            let mut document = Document::new("x");
            document.paragraph(redfish(Some(&Controller { url, file: file.map(own), refused })));
            crate::document::every_form::text(&document, 400)
        };
        let ready = of(Some("/etc/bmc.pw"), None);
        assert!(ready.contains("https://bmc7, with /etc/bmc.pw, which its owner alone"), "{ready}");
        assert!(of(None, None).contains("without an account"));
        let open = of(Some("/etc/bmc.pw"), Some("/etc/bmc.pw: others can read it"));
        assert!(open.contains("https://bmc7 cannot be asked: /etc/bmc.pw: others"), "{open}");
    }
}
