//! Tables as they are saved: with banners, warnings, prompts and mistakes.

use super::*;
use proptest::prelude::*;

fn bandwidths(text: &str) -> Vec<Bandwidth> {
    match Curve::parse(text).unwrap().figures {
        Figures::Bandwidth(points) => points,
        Figures::Latency(points) => panic!("{points:?}"),
    }
}

fn error(text: &str) -> String {
    Curve::parse(text).unwrap_err().to_string()
}

/// As later versions print it, with what stands around it on a terminal.
const WITH_BANNER: &str = "\
[root@db1 ~]# ib_read_bw -a db2
---------------------------------------------------------------------------------------
                    RDMA_Read BW Test
 Dual-port       : OFF\t\tDevice         : mlx4_0
 Mtu             : 2048[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x01 QPN 0x004c PSN 0x3a0d1f
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 1600.000000 != 2534.000000. CPU Frequency is not max.
 2          1000             7.22               2.25   \t\t     1.179648
Conflicting CPU frequency values detected: 1600.000000 != 2534.000000. CPU Frequency is not max.
 4          1000             14.94              13.86  \t\t     3.633316
---------------------------------------------------------------------------------------
2 servers left
";

#[test]
fn a_table_is_read_with_whatever_stands_around_it() {
    let curve = Curve::parse(WITH_BANNER).unwrap();
    assert_eq!(curve.test.as_deref(), Some("RDMA_Read BW Test"));
    assert_eq!(curve.mtu, Some(Bytes(2048)));
    let clocks = Conflict { first: Hertz::from_mhz(1600), other: Hertz::from_mhz(2534) };
    assert_eq!(curve.clocks, [clocks]);
    let points = bandwidths(WITH_BANNER);
    assert_eq!(points.len(), 2);
    assert_eq!(points[1].message, Bytes(4));
    assert_eq!(format!("{:.2}", points[1].average.mebibytes()), "13.86");
    assert_eq!(points[1].messages(), MessagesPerSecond(3_633_316));
    assert!(!curve.is_bidirectional());
}

#[test]
fn an_old_table_has_no_message_rate_and_its_megabytes_are_binary() {
    let text =
        "#bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]\n 65536 1000 0.00 2940.98\n";
    let point = bandwidths(text)[0];
    assert_eq!((point.peak, point.rate), (None, None));
    assert_eq!(point.average, BytesPerSecond(3_083_841_044));
    assert_eq!(point.messages(), MessagesPerSecond(47_055));
}

#[test]
fn gigabits_are_decimal() {
    let text = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 8388608 5000 197.10 196.92 0.002934\n";
    assert_eq!(bandwidths(text)[0].average, BytesPerSecond(24_615_000_000));
}

#[test]
fn a_test_of_both_directions_says_so() {
    let text = WITH_BANNER.replace("RDMA_Read BW", "RDMA_Read Bidirectional BW");
    assert!(Curve::parse(&text).unwrap().is_bidirectional());
}

#[test]
fn latencies_are_read_from_long_and_short_tables() {
    let long = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n 2       1000          1.76           6.12         1.79                1.80             0.06            1.88                    6.12\n";
    let short = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 2 1000 1.76 6.12 1.79\n";
    let timed =
        "#bytes        #iterations       t_avg[usec]    tps average\n 2 400000 1.79 558659.22\n";
    for text in [long, short, timed] {
        let Figures::Latency(points) = Curve::parse(text).unwrap().figures else {
            panic!("{text}")
        };
        assert_eq!(points[0].typical, Duration::from_nanos(1790), "{text}");
    }
    let Figures::Latency(points) = Curve::parse(long).unwrap().figures else { panic!("{long}") };
    assert_eq!(points[0].percentile_99, Some(Duration::from_nanos(1880)));
}

#[test]
fn csv_is_read_by_the_names_of_its_columns() {
    let text = "bytes,iterations,bw_peak_mib_s,bw_average_mib_s\n64,1000,223.18,197.08\n128,1000,,112.79\n";
    let points = bandwidths(text);
    assert_eq!((points[0].iterations, points[1].peak), (Some(1000), None));
    assert_eq!(format!("{:.2}", points[1].average.mebibytes()), "112.79");
    assert_eq!(bandwidths("bytes,bw_average_gbit_s\n64,1.6\n")[0].average.0, 200_000_000);
}

#[test]
fn a_table_that_both_ends_printed_is_one() {
    let heading =
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
    let row = " 1000       5000             4104.91            4020.54              4.215846\n";
    assert_eq!(bandwidths(&format!("{heading}{heading}{row}-------\n{row}")).len(), 1);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    assert_eq!(
        error("bytes,bw_average_mib_s\n64,fast\n"),
        "line 2 holds \"64,fast\", expected numbers for the columns that the first line names"
    );
    assert!(error("bytes,rate\n").starts_with("line 1 holds \"bytes,rate\", expected names of"));
    assert!(error("hello\n").contains("expected perftest's table"));
    assert!(error("").starts_with("line 1 holds \"\""));
    let heading = "#bytes #iterations BW peak[MB/sec] BW average[MB/sec]\n";
    assert!(error(heading).contains("lines of figures"));
    assert!(error(&format!("{heading}64 1000 nan nan\n")).starts_with("line 2 holds"));
    assert!(error(&format!("{heading}64 1000 5.0\n")).contains("a number for each column"));
    assert!(error(&format!("{heading}64 9 5 5\n32 9 5 5\n")).contains("line 3 holds"));
    assert!(error(&format!("{heading}64 9 5 5\n64 9 5 6\n")).contains("each message size once"));
    assert!(error("#bytes #iterations BW peak[MB/sec]\n").contains("a heading with"));
}

#[test]
fn times_that_perftest_prints_without_a_clock_are_none() {
    let heading =
        "#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec]\n";
    let row =
        "4096    20          inf            inf          inf      \t       inf         \t-nan\n";
    let why = error(&format!("{heading}{row}"));
    assert!(why.contains("could not measure its clock"), "{why}");
}

#[test]
fn a_text_without_end_is_refused() {
    assert!(error(&"x\n".repeat(LARGEST_TEXT)).contains("at most 1 MiB"));
    let many: String = (1..=5000).map(|it| format!("{it},1\n")).collect();
    assert!(error(&format!("bytes,bw_average_mib_s\n{many}")).contains("at most 4096"));
}

const HEADING: &str =
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";

#[test]
fn a_name_that_lost_its_sign_is_the_same_column() {
    let text = " #bytes     iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n \
                128        1000             310.13             310.05             2.539960\n";
    for text in [text, &text.replace('#', "")] {
        let point = bandwidths(text)[0];
        assert_eq!((point.iterations, point.messages().0), (Some(1000), 2_539_960));
        assert_eq!(format!("{:.2}", point.average.mebibytes()), "310.05");
    }
}

#[test]
fn a_column_that_perftest_does_not_print_is_refused_by_its_name() {
    let unknown = |columns: &str| {
        let text = format!("#bytes #iterations {columns}\n64 1000 3.2 5.1 4.7\n");
        let error = error(&text);
        assert!(error.contains("expected a column that perftest prints: #bytes"), "{error}");
        error.split('"').nth(1).unwrap().to_owned()
    };
    for (columns, name) in [
        ("Jitter[usec]  BW peak[MB/sec]   BW average[MB/sec]", "Jitter[usec]"),
        ("#qp_num  BW peak[MB/sec]   BW average[MB/sec]", "#qp_num"),
        ("BW peak[kB/sec]   BW average[MB/sec]", "BW peak[kB/sec]"),
        ("BW averages[MB/sec]", "BW averages[MB/sec]"),
        ("BW average[MB/sec]   MsgRate[Kpps]", "MsgRate[Kpps]"),
        ("t_typical[cycles]", "t_typical[cycles]"),
    ] {
        assert_eq!(unknown(columns), name);
    }
    let twice = error("#bytes #iterations BW average[MB/sec] BW average[MB/sec]\n64 9 5.0 4.0\n");
    assert!(twice.contains("\"BW average[MB/sec]\", expected each column once"), "{twice}");
    let mixed = error("#bytes #iterations BW peak[Gb/sec] BW average[MB/sec]\n64 9 5.0 4.0\n");
    assert!(mixed.contains("the same unit"), "{mixed}");
}

#[test]
fn columns_whose_figures_are_not_used_have_cells_of_their_own() {
    let ports = HEADING.trim_end().to_owned()
        + "   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]    CPU_Util[%]\n";
    let row = "65536      5000             98.10              97.20              0.185394     48.60    0.092697   48.60   0.092697   3.25\n";
    let text = ports + row;
    assert_eq!(bandwidths(&text)[0].average.0, 12_150_000_000);
    assert!(error(&text.replace("   3.25", "")).contains("a number for each column"));
    assert!(error(&text.replace("3.25", "3.25 1")).contains("a number for each column"));
    assert!(error(&text.replace("5000 ", "50.5 ")).contains("a number for each column"));
    let minimum = text
        .replace("   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]    CPU_Util[%]", "        BW min[Gb/sec]")
        .replace("     48.60    0.092697   48.60   0.092697   3.25", "  90.00");
    assert_eq!(bandwidths(&minimum)[0].rate, Some(MessagesPerSecond(185_394)));
}

#[test]
fn service_levels_are_tests_of_their_own() {
    let heading = " #bytes    #sl      #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n";
    let first =
        " 65536      0       5000             5900.10            5890.20            0.094243\n";
    let second =
        " 65536      1       5000             2900.10            2890.20            0.046243\n";
    let point = bandwidths(&format!("{heading}{first}"))[0];
    assert_eq!((point.iterations, point.rate), (Some(5000), Some(MessagesPerSecond(94_243))));
    assert_eq!(format!("{:.2}", point.average.mebibytes()), "5890.20");
    let why = error(&format!("{heading}{first}{second}"));
    assert!(why.starts_with("line 3 holds") && why.contains("one service level (#sl)"), "{why}");
}

#[test]
fn a_decimal_comma_is_read_where_the_whole_table_has_it() {
    let row = " 65536      1000          90,12               89,55             0,170803\n";
    let point = bandwidths(&format!("{HEADING}{row}"))[0];
    assert_eq!((point.average.0, point.rate), (11_193_750_000, Some(MessagesPerSecond(170_803))));
    for mixed in [
        row.replace("90,12", "90.12"),
        format!("{row} 131072     1000          90.12               89.55             0.085401\n"),
        // Thousands, as a spreadsheet writes them.
        row.replace("89,55", "1,024"),
        row.replace("89,55", "1.024,00"),
    ] {
        let why = error(&format!("{HEADING}{mixed}"));
        assert!(why.contains("the same decimal sign in all lines"), "{why}");
    }
    assert!(
        error(&format!("{HEADING}{}", row.replace("1000 ", "10,00 "))).contains("a number for")
    );
}

#[test]
fn a_negative_number_is_refused_with_what_makes_perftest_print_it() {
    let row = " 65536      7044000          0.00               -18.03             -0.034390\n";
    let csv = "bytes,bw_average_mib_s\n64,-5.1\n";
    for (text, line) in [(format!("{HEADING}{row}"), "line 2"), (csv.to_owned(), "line 2")] {
        let why = error(&text);
        assert!(why.starts_with(line) && why.contains("its clock went backwards"), "{why}");
    }
    let latencies = "#bytes #iterations t_avg[usec] tps average\n2 400000 -1.79 558659.22\n";
    assert!(error(latencies).contains("numbers of at least 0"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,300}") {
        drop(Curve::parse(&text));
        drop(Curve::parse(&format!("bytes,bw_average_mib_s\n{text}")));
    }

    #[test]
    fn no_row_makes_it_panic(rows in "([0-9.\\-a# ]{0,30}\n){0,5}") {
        drop(Curve::parse(&format!("#bytes #iterations BW peak[MB/sec] BW average[MB/sec]\n{rows}")));
        drop(Curve::parse(&format!("#bytes #iterations t_min[usec] 99% percentile[usec] t_avg[usec]\n{rows}")));
    }

    #[test]
    fn no_heading_makes_it_panic(names in "[#a-zA-Z0-9 \\t%\\[\\]_\u{e9}]{0,60}") {
        drop(Curve::parse(&format!("#bytes {names}\n2 1 1.0\n")));
    }
}

#[test]
fn numbers_keep_their_places_and_nothing_else_is_one() {
    assert_eq!(decimal("2941.54", 1 << 20), Some(3_084_428_247));
    assert_eq!(decimal("0.00", 1 << 20), Some(0));
    assert_eq!(decimal("7", 1000), Some(7000));
    for text in ["", ".", ".5", "-1", "+1", "inf", "nan", "1e9", "1,5", "1.2.3"] {
        assert_eq!(decimal(text, 1), None, "{text:?}");
    }
    assert_eq!(decimal(&"9".repeat(13), 1), None);
    assert_eq!(decimal(&"9".repeat(12), u64::MAX), None);
    assert_eq!((bytes("0"), bytes("2.5"), bytes("64")), (None, None, Some(Bytes(64))));
}
