//! Faults put into emulated machines, found there by the built program, and gone when mended.
//!
//! The program is the file that the environment names in `FULLCLOCK_BINARY`, and `THIEF_BINARY` names the one
//! that steals a known share of a CPU. Machines boot once for all scenarios that look at them; see `boots`.

mod absence;
mod audit;
mod boots;
mod clock_modulation;
mod cpu_loop;
mod governors;
mod idle_states;
mod ipmi;
mod isolation;
mod ledger;
mod ticks;
mod zero_registers;
