//! What several checks know of a held clock: heat that is counted, and the on-chip controller of POWER.

pub(crate) mod heat;
pub(crate) mod occ;
