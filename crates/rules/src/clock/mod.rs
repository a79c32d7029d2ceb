//! What several checks know of a held clock: heat that is counted, the on-chip controller of POWER, and counts that rose in a look.

pub(crate) mod heat;
pub(crate) mod occ;
pub(crate) mod risen;
