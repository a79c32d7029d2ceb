//! Faults put into emulated machines, found there by the built program, and gone when fixed.
//!
//! The program is the file that the environment names in `FULLCLOCK_BINARY`, built with the feature `faults`, and `THIEF_BINARY`
//! names the one that steals a known share of a CPU. Machines boot once for all scenarios that look at them; see `boots`.

mod absence;
mod audit;
mod baseline;
mod boot_parts;
mod boots;
mod cases;
mod changes;
mod clock_modulation;
mod cpu_loop;
mod experiments;
mod fleet;
mod governors;
mod guide;
mod idle_states;
mod ipmi;
mod isolation;
mod killed;
mod lasting;
mod ledger;
mod partitions;
mod power;
mod scheduler;
mod sensors;
mod struct_ops;
mod there_and_back;
mod thermal_zone;
mod ticks;
mod under_systemd;
mod wire;
mod zero_registers;
