//! `fullclock serve`, asked by programs and by a browser.

mod browser;
mod fleet;
mod load;
mod requests;
mod server;
mod sign_in;
