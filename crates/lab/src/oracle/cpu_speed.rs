//! `CPUSPEEDNW`: how many million simple operations a second Oracle's optimizer believes a CPU does.
//!
//! `DBMS_STATS.GATHER_SYSTEM_STATS('NOWORKLOAD')` measures it and keeps it in `SYS.AUX_STATS$` (PL/SQL Packages and
//! Types Reference, DBMS_STATS). What an operation is, Oracle does not say: the figure compares machines of one CPU
//! model and one release, and nothing else.

use super::{OracleOutput, record, untold};
use super::{nothing, number};
use crate::failure::Failure;
use crate::record::Record;
use crate::trial::{Better, Figure, FigureShape};
use crate::workloads::CPU_SPEED;

/// Of its own name: its operations are not those of the workload, and the two figures are never compared.
const SPEED: FigureShape = FigureShape { name: "CPUSPEEDNW", unit: "M/s", better: Better::Higher };

/// The script for SQL*Plus. It replaces the system statistics of the database, which the optimizer goes by; it prints
/// the ones before, and how to bring them back.
pub const SCRIPT: &str = "\
-- The CPU speed that Oracle measures, for 'fullclock bench cpu-speed --parse FILE'. As SYSDBA:
--   sqlplus -S / as sysdba @cpu-speed.sql > FILE
--
-- This REPLACES the system statistics of the database, which the optimizer goes by. To have those of
-- before back, give DBMS_STATS.RESTORE_SYSTEM_STATS the moment that is printed first:
--   exec dbms_stats.restore_system_stats(to_timestamp_tz('MOMENT', 'YYYY-MM-DD\"T\"HH24:MI:SS.FF6TZH:TZM'))
whenever sqlerror exit failure
set echo off feedback off heading off pagesize 0 linesize 200 trimout on
alter session set nls_numeric_characters = '.,';
select 'before ' || to_char(systimestamp, 'YYYY-MM-DD\"T\"HH24:MI:SS.FF6TZH:TZM') from dual;
select 'before ' || pname || ' ' || nvl(pval2, to_char(pval1)) from sys.aux_stats$ order by sname, pname;
exec dbms_stats.gather_system_stats('NOWORKLOAD')
select pname || ' ' || pval2 from sys.aux_stats$ where sname = 'SYSSTATS_INFO' and pname = 'STATUS';
select pname || ' ' || to_char(pval1) from sys.aux_stats$ where sname = 'SYSSTATS_MAIN' and pname = 'CPUSPEEDNW';
exit
";

/// The speed in the output of [`SCRIPT`], or of any query of `SYS.AUX_STATS$` that prints names with values, in
/// million operations a second. The last one where there are several.
///
/// Errors: there is none, or the database says that gathering went wrong.
pub fn parse(text: &str) -> Result<f64, Failure> {
    if text
        .lines()
        .filter(|it| !is_of_before(it))
        .any(|it| value_of(it, "STATUS") == Some("BADSTATS"))
    {
        let why = "the database says BADSTATS: it could not gather its system statistics";
        return Err(Failure::NoFigure(why.to_owned()));
    }
    let speeds =
        text.lines().filter(|it| !is_of_before(it)).filter_map(|it| value_of(it, SPEED.name));
    let speed = speeds.filter_map(number).next_back().filter(|it| *it > 0.0);
    speed.ok_or_else(|| nothing(text, SPEED.name))
}

/// The speed, in million operations a second, as a result of the workload `cpu-speed`, with its doubts.
pub fn result(speed: f64) -> Record {
    let told = OracleOutput { figures: vec![Figure::of(SPEED, speed)], elapsed_ns: untold() };
    record(CPU_SPEED.id, None, vec![told])
}

/// The script prints the statistics that it replaces, too.
fn is_of_before(line: &str) -> bool {
    line.trim_start().starts_with("before ")
}

/// The word after `name`.
fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace().skip_while(|it| !it.eq_ignore_ascii_case(name));
    words.nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_pair_is_read_from_a_query_of_the_table() {
        let published = "SNAME          PNAME               PVAL1 PVAL2\n\
                         -------------- -------------- ---------- ------------\n\
                         SYSSTATS_INFO  STATUS                    COMPLETED\n\
                         SYSSTATS_MAIN  CPUSPEEDNW          SPEED\n\
                         SYSSTATS_MAIN  IOSEEKTIM              10\n";
        assert_eq!(parse(&published.replace("SPEED\n", "673\n")).unwrap().to_string(), "673");
        assert_eq!(parse(&published.replace("SPEED\n", "2713\n")).unwrap().to_string(), "2713");
    }

    #[test]
    fn what_the_script_prints_is_read_back_and_the_value_of_before_is_not() {
        let output = "before 2014-03-05T10:11:12.000000+01:00\nbefore CPUSPEEDNW 2713\nbefore STATUS BADSTATS\n\
                      STATUS COMPLETED\nCPUSPEEDNW 673.512\n";
        assert_eq!(parse(output).unwrap().to_string(), "673.512");
        assert_eq!(parse("cpuspeednw   2713,25").unwrap().to_string(), "2713.25");
    }

    #[test]
    fn its_figure_has_a_name_that_no_figure_of_ours_has() {
        let record = result(673.0);
        let figure = record.trials[0].outcome.figures.first().unwrap();
        assert_eq!((figure.name, figure.unit, figure.value), ("CPUSPEEDNW", "M/s", 673.0));
        assert_ne!(figure.name, CPU_SPEED.figure.name);
    }

    #[test]
    fn no_speed_is_said_with_the_databases_own_error() {
        let error = |text| parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "the output holds no CPUSPEEDNW");
        assert_eq!(error("CPUSPEEDNW\n"), "the output holds no CPUSPEEDNW");
        assert_eq!(error("CPUSPEEDNW 0"), "the output holds no CPUSPEEDNW");
        assert_eq!(
            error("BEGIN ...\nORA-20000: Insufficient privileges\nCPUSPEEDNW none\n"),
            "the output holds no CPUSPEEDNW, but an error: ORA-20000: Insufficient privileges"
        );
        let bad = "STATUS BADSTATS\nCPUSPEEDNW 673\n";
        assert_eq!(
            error(bad),
            "the database says BADSTATS: it could not gather its system statistics"
        );
    }
}
