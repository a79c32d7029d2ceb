//! Network tests: what comes through between a client and a server by message size, and where the time of both ends goes.

pub mod adapter;
pub mod client;
mod guard;
mod placement;
pub mod server;

use facts::{HostView, Subject, Subjects};
use host::{Live, Source};

/// The port where a client looks for a server.
const PORT: u16 = 7079;

/// The name of the file of a server's token.
pub const TOKEN: &str = "net.token";

/// What decides a ceiling, and nothing else of the host: it may have a thousand CPUs.
const LOOKED_AT: &[Subject] =
    &[Subject::Platform, Subject::Infiniband, Subject::Pcie, Subject::Network];

/// What is known of the adapters of a host, for their ceilings.
pub fn adapters_of(source: &dyn Source) -> HostView {
    host::view_of(source, Subjects::of(LOOKED_AT))
}

/// What this machine's own adapters are, for a test over one of them.
fn own_adapters() -> HostView {
    adapters_of(&Live::this_machine())
}
