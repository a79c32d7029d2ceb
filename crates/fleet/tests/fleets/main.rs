//! Generated fleets of which is known who is slow and why.
#![expect(
    clippy::expect_used,
    reason = "helpers of tests, which allow-expect-in-tests does not reach"
)]

mod generated;
mod hidden;
mod hostile;
mod many;
mod shapes;
