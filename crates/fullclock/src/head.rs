//! What a document in JSON says of its host and its time.

use crate::cli::Arguments;
use facts::utc;
use host::Live;
use report::json::Head;
use std::path::Path;

/// Of the host that the options name: of a copy, its file.
pub(crate) fn head(arguments: &Arguments) -> Head {
    let host = &arguments.host;
    match host.root.as_deref().or(host.host.as_deref()) {
        Some(path) => head_of_file(arguments, path),
        None => of_host(arguments, Live::this_machine().host_name()),
    }
}

/// Of a file that holds what is known of a host.
pub(crate) fn head_of_file(arguments: &Arguments, path: &Path) -> Head {
    let name = path.file_name().unwrap_or(path.as_os_str());
    of_host(arguments, name.to_string_lossy().into_owned())
}

fn of_host(arguments: &Arguments, host: String) -> Head {
    let began_ns = u64::try_from(arguments.began.as_nanos()).unwrap_or(u64::MAX);
    Head { host, began: utc::timestamp(began_ns) }
}
