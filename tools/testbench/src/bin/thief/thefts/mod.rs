//! The ways to steal, one file each.

mod hog;
mod idle;
mod quota;
mod spin;
mod stop;
mod timer;

use anyhow::Result;

use crate::cli::{Arguments, Theft};
use crate::duty::Duty;
use crate::orders::Orders;
use crate::taken::Taken;

/// Steals until the time is up or the order to stop comes.
pub(crate) fn commit(arguments: &Arguments, orders: &Orders) -> Result<Taken> {
    match &arguments.theft {
        Theft::Hog { place, share, period } => {
            hog::run(*place, Duty { percent: share.percent, period: *period }, orders)
        }
        Theft::Timer { place, hz, cost: false } => timer::storm(*place, *hz, orders),
        Theft::Timer { place, hz, cost: true } => timer::cost(*place, *hz, orders),
        Theft::Quota { place, share } => quota::run(*place, share.percent, orders),
        Theft::Stop { place, share, period } => {
            stop::run(*place, Duty { percent: share.percent, period: *period }, orders)
        }
        Theft::Spin { place, parent } => spin::run(*place, *parent, orders),
        Theft::Idle { place } => idle::run(*place, orders),
    }
}
