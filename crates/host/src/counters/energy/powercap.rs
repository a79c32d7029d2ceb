//! The zones of powercap.

use super::super::clock;
use super::super::files::{File, Files};
use super::super::shape::Shape;
use super::MOST_MICROWATTS;
use super::total::Total;
use super::wrapping::Wrapping;
use crate::Source;
use facts::counters::Table;
use facts::{Fact, Missing, parse};

const POWERCAP: &str = "/sys/class/powercap";

/// Every zone, in order of their names.
#[derive(Debug)]
pub(in super::super) struct Powercap {
    shape: Shape,
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    file: File,
    energy: Wrapping,
    total: Total,
}

impl Powercap {
    /// Finds the zones.
    ///
    /// Errors: there are none, or their energy is not for us.
    pub(super) fn open(files: &mut Files) -> Fact<Powercap> {
        let source: &dyn Source = &files.live;
        let names = names(source)?;
        let zone = |(_, zone): &(String, String)| -> Fact<Zone> {
            let range = source.parsed(&format!("{zone}/max_energy_range_uj"), parse::number)?;
            Ok(Zone {
                file: File::new(format!("{zone}/energy_uj")),
                energy: Wrapping::new(range, MOST_MICROWATTS),
                total: Total::zero(),
            })
        };
        let mut zones: Vec<Zone> = names.iter().map(zone).collect::<Fact<_>>()?;
        let first =
            zones.first_mut().ok_or_else(|| Missing::absent(format!("{POWERCAP}/intel-rapl:0")))?;
        files.number(&mut first.file)?;
        Ok(Powercap { shape: Shape::new([0], names.iter().map(|(name, _)| name.as_str())), zones })
    }

    pub(super) fn sample(&mut self, files: &mut Files, into: &mut Fact<Table>) -> Fact<()> {
        let read_at = clock::now_ns();
        self.shape.begin(into, read_at);
        let Ok(table) = into else { return Ok(()) };
        for (column, zone) in self.zones.iter_mut().enumerate() {
            let energy = files.number(&mut zone.file)?;
            zone.total.add(zone.energy.rise(energy, read_at));
            table.set(0, column, zone.total.count(|microjoules| microjoules));
        }
        Ok(())
    }
}

/// The name of every zone, and its folder, sorted: `package-0`, `package-0/dram`.
fn names(source: &dyn Source) -> Fact<Vec<(String, String)>> {
    let mut names: Vec<(String, String)> = Vec::new();
    for package in source.numbered(POWERCAP, "intel-rapl:")? {
        let zone = format!("{POWERCAP}/intel-rapl:{package}");
        let name = source.parsed(&format!("{zone}/name"), parse::line)?;
        // Its parts are folders of its own folder, with its name in front of theirs.
        for part in source.numbered(&zone, &format!("intel-rapl:{package}:")).unwrap_or_default() {
            let zone = format!("{zone}/intel-rapl:{package}:{part}");
            if let Ok(of_part) = source.parsed(&format!("{zone}/name"), parse::line) {
                names.push((format!("{name}/{of_part}"), zone));
            }
        }
        names.push((name, zone));
    }
    names.sort();
    Ok(names)
}
