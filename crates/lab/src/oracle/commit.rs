//! Commits and log writes of an Oracle instance, as its own statistics tell them (Database Reference, V$SYSSTAT and
//! V$SYSTEM_EVENT).
//!
//! `log file parallel write` is the log writer's call as the instance times it: what the log writer waited for a CPU before it
//! ran again is in it, and no view of the instance tells how much that was. That is to be read on its host.

use super::nothing;
use super::{OracleOutput, record};
use crate::failure::Failure;
use crate::known::Known;
use crate::record::Record;
use crate::trial::{Better, Figure};
use crate::workloads::COMMIT;

/// The script for SQL*Plus: a sample a second for twenty seconds, while sessions commit.
pub const SCRIPT: &str = "\
-- Commits and log writes of this instance, for 'fullclock bench commit --parse FILE'. While sessions
-- commit, as a user who may read V$SYSSTAT and V$SYSTEM_EVENT (SELECT_CATALOG_ROLE):
--   sqlplus -S USER @commit.sql > FILE
-- It reads statistics and changes nothing. Before Oracle 18c, put dbms_lock.sleep for dbms_session.sleep;
-- that takes EXECUTE on DBMS_LOCK.
whenever sqlerror exit failure
set echo off feedback off heading off linesize 300 trimout on serveroutput on size unlimited
declare
  moment interval day(9) to second(6);
  function statistic(wanted varchar2) return number is
    found number;
  begin
    select value into found from v$sysstat where name = wanted;
    return found;
  end;
  procedure sample is
    writes number := 0;
    write_us number := 0;
    syncs number := 0;
    sync_us number := 0;
  begin
    moment := sys_extract_utc(systimestamp) - timestamp '1970-01-01 00:00:00';
    for it in (select event, total_waits, time_waited_micro from v$system_event
               where event in ('log file parallel write', 'log file sync')) loop
      if it.event = 'log file sync' then
        syncs := it.total_waits;
        sync_us := it.time_waited_micro;
      else
        writes := it.total_waits;
        write_us := it.time_waited_micro;
      end if;
    end loop;
    dbms_output.put_line('sample ' || to_char(trunc((extract(day from moment) * 86400
      + extract(hour from moment) * 3600 + extract(minute from moment) * 60 + extract(second from moment)) * 1000000))
      || ' ' || to_char(statistic('user commits')) || ' ' || to_char(statistic('redo size')) || ' ' || to_char(writes)
      || ' ' || to_char(write_us) || ' ' || to_char(syncs) || ' ' || to_char(sync_us));
  end;
begin
  sample;
  for second in 1 .. 20 loop
    dbms_session.sleep(1);
    sample;
  end loop;
end;
/
exit
";

/// What an instance had counted at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Microseconds since 1970.
    at_us: u64,
    commits: u64,
    redo_bytes: u64,
    writes: u64,
    write_us: u64,
    syncs: u64,
    sync_us: u64,
}

/// The samples in the output of [`SCRIPT`]; at least two, in their order.
///
/// Errors: there are fewer, or a count went backwards: the instance was restarted.
pub fn parse(text: &str) -> Result<Vec<Counts>, Failure> {
    let samples: Vec<Counts> = text.lines().filter_map(counts).collect();
    if samples.len() < 2 {
        return Err(nothing(text, "two samples of commits"));
    }
    let is_later = |it: &[Counts]| matches!(it, [a, b] if between(*a, *b).is_some());
    if !samples.windows(2).all(is_later) {
        let why = "a count went backwards between two samples: was the instance started again?";
        return Err(Failure::NoFigure(why.to_owned()));
    }
    Ok(samples)
}

/// The samples as a result of the workload `commit`, with its doubts: a trial from each to the next.
pub fn result(samples: &[Counts]) -> Record {
    let pairs = samples.iter().zip(samples.iter().skip(1));
    let told = pairs.filter_map(|(a, b)| between(*a, *b)).map(|it| OracleOutput {
        elapsed_ns: Known::Value(it.at_us.saturating_mul(1000)),
        figures: figures(it),
    });
    record(COMMIT.id, None, told.collect())
}

fn counts(line: &str) -> Option<Counts> {
    let mut numbers = line.trim().strip_prefix("sample ")?.split(' ').map(|it| it.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(Counts {
        at_us: next()?,
        commits: next()?,
        redo_bytes: next()?,
        writes: next()?,
        write_us: next()?,
        syncs: next()?,
        sync_us: next()?,
    })
}

/// What was counted from one sample to a later one.
fn between(a: Counts, b: Counts) -> Option<Counts> {
    let since = Counts {
        at_us: b.at_us.checked_sub(a.at_us)?,
        commits: b.commits.checked_sub(a.commits)?,
        redo_bytes: b.redo_bytes.checked_sub(a.redo_bytes)?,
        writes: b.writes.checked_sub(a.writes)?,
        write_us: b.write_us.checked_sub(a.write_us)?,
        syncs: b.syncs.checked_sub(a.syncs)?,
        sync_us: b.sync_us.checked_sub(a.sync_us)?,
    };
    (since.at_us > 0).then_some(since)
}

fn figures(it: Counts) -> Vec<Figure> {
    let seconds = it.at_us as f64 / 1e6;
    let mean = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
    let figure = |name: &str, unit: &str, better, value| Figure {
        name: name.to_owned(),
        unit: unit.to_owned(),
        value,
        better,
    };
    vec![
        Figure::of(COMMIT.figure, it.commits as f64 / seconds),
        figure("log writes", "1/s", Better::Higher, it.writes as f64 / seconds),
        figure("redo", "MB/s", Better::Higher, it.redo_bytes as f64 / 1e6 / seconds),
        figure("log file parallel write", "us", Better::Lower, mean(it.write_us, it.writes)),
        figure("log file sync", "us", Better::Lower, mean(it.sync_us, it.syncs)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "sample 1700000000000000 1000 5000000 400 400000 1000 1500000\n\
        sample 1700000002000000 3000 9000000 1200 1200000 3000 5500000\r\n\nPL/SQL procedure successfully completed.\n";

    #[test]
    fn figures_are_what_was_counted_between_two_samples() {
        let record = result(&parse(PRINTED).unwrap());
        let figures = &record.trials[0].outcome.figures;
        let text: Vec<String> =
            figures.iter().map(|it| format!("{} {} {}", it.name, it.value, it.unit)).collect();
        assert_eq!(record.trials.len(), 1);
        assert_eq!(
            text,
            [
                "commits 1000 1/s",
                "log writes 400 1/s",
                "redo 2 MB/s",
                "log file parallel write 1000 us",
                "log file sync 2000 us"
            ]
        );
    }

    #[test]
    fn an_instance_that_was_started_again_and_no_samples_are_said() {
        let backwards = PRINTED.replace(" 1200 1200000 ", " 12 1200000 ");
        assert!(parse(&backwards).unwrap_err().to_string().contains("started again"));
        let error = parse("ORA-00942: table or view does not exist\n").unwrap_err().to_string();
        assert!(error.contains("ORA-00942"), "{error}");
        assert!(parse(PRINTED.lines().next().unwrap()).is_err());
    }

    #[test]
    fn a_second_without_a_commit_is_a_rate_of_nothing() {
        let line = PRINTED.lines().next().unwrap();
        let idle = format!("{line}\n{}\n", line.replace("1700000000", "1700000001"));
        let record = result(&parse(&idle).unwrap());
        assert_eq!(record.trials[0].outcome.figures.get(3).unwrap().value, 0.0);
    }
}
