//! `fullclock net` as a user meets it.

use crate::support::{fullclock, is_of, printed, refusal, unwrapped};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

const CEILING: &str = include_str!("../../../../schemas/net-ceiling-2.json");
const CURVE: &str = include_str!("../../../../schemas/net-curve-2.json");

/// Some sizes of a published run of `ib_read_bw -a`: RDMA read, reliable connection, MTU 2048, 4X QDR in a slot with eight
/// lanes of PCIe 2.0, two sockets of Xeon E5540. MB are 2^20 bytes.
const READ: &str = "\
---------------------------------------------------------------------------------------
                    RDMA_Read BW Test
 Mtu             : 2048[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 #bytes #iterations    BW peak[MB/sec]    BW average[MB/sec]
 2       1000            7.22               2.25
 4       1000            14.94              13.86
 64      1000            223.18             197.08
 128     1000            113.06             112.79
 256     1000            226.70             226.16
 2048    1000            1805.63            1801.26
 8192    1000            2916.02            2915.82
 65536   1000            2941.48            2940.98
 1048576 1000            2939.29            2939.29
 8388608 1000            2939.31            2938.80
---------------------------------------------------------------------------------------
";

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, bytes).unwrap();
}

fn link(root: &Path, path: &str, target: &str) {
    let link = root.join(path);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
}

/// Configuration space with a PCI Express capability whose Device Control says 128 bytes, as far as root reads it.
fn config() -> Vec<u8> {
    let mut bytes = vec![0; 256];
    (bytes[0x06], bytes[0x34]) = (0x10, 0x60);
    (bytes[0x60], bytes[0x64], bytes[0x68]) = (0x10, 0x01, 0x0e);
    bytes
}

/// ConnectX-2, whose second port has no cable, with the class that InfiniBand adapters had until 2011.
fn database_server() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let slot = "sys/devices/pci0000:00/0000:00:03.0";
    let card = &format!("{slot}/0000:05:00.0");
    for (file, text) in [
        ("class", "0x0c0600\n"),
        ("current_link_speed", "5 GT/s\n"),
        ("current_link_width", "8\n"),
        ("max_link_speed", "5 GT/s\n"),
        ("max_link_width", "8\n"),
        ("numa_node", "0\n"),
        ("net/ib0/type", "32\n"),
        ("net/ib0/mtu", "2044\n"),
        ("net/ib0/carrier", "1\n"),
        ("infiniband/mlx4_0/ports/1/link_layer", "InfiniBand\n"),
        ("infiniband/mlx4_0/ports/1/state", "4: ACTIVE\n"),
        ("infiniband/mlx4_0/ports/1/rate", "40 Gb/sec (4X QDR)\n"),
        ("infiniband/mlx4_0/ports/2/link_layer", "InfiniBand\n"),
        ("infiniband/mlx4_0/ports/2/state", "1: DOWN\n"),
        ("infiniband/mlx4_0/ports/2/rate", "10 Gb/sec (4X)\n"),
    ] {
        write(root, &format!("{card}/{file}"), text.as_bytes());
    }
    write(root, &format!("{card}/config"), &config());
    write(root, &format!("{slot}/class"), b"0x060400\n");
    let below = &card["sys/".len()..];
    link(root, "sys/class/net/ib0", &format!("../../{below}/net/ib0"));
    link(root, "sys/class/infiniband/mlx4_0", &format!("../../{below}/infiniband/mlx4_0"));
    link(root, "sys/bus/pci/devices/0000:05:00.0", &format!("../../../{below}"));
    let port = "../../../devices/pci0000:00/0000:00:03.0";
    link(root, "sys/bus/pci/devices/0000:00:03.0", port);
    folder
}

fn saved(folder: &TempDir, name: &str, text: &str) -> String {
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

fn json(arguments: &[&str], schema: &str) -> Value {
    let value: Value = serde_json::from_str(&printed(arguments)).unwrap();
    is_of(schema, &value);
    value
}

#[test]
fn the_slot_of_a_qdr_adapter_is_narrower_than_its_wire() {
    let host = database_server();
    let root = host.path().to_str().unwrap();
    let text = unwrapped(&printed(&["net", "ceiling", "--root", root]));
    for expected in [
        "mlx4_0 port 1 at most 3.37 GB/s, by the slot; the wire carries 17 % more",
        "address 0000:05:00.0",
        "wire 4X QDR: 40 Gb/s signalled, 4.00 GB/s after 8b/10b; 3.95 GB/s, in packets of 2048 bytes with 26 of overhead",
        "slot PCIe 2.0 x8: 40 Gb/s signalled, 4.00 GB/s after 8b/10b; 3.37 GB/s, 3.05 GB/s each way while both are busy",
        "no link of mlx4_0 port 2 here: 1: DOWN",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    assert!(!text.contains("a MaxPayloadSize of"), "{text}");
    let page = printed(&["net", "ceiling", "--root", root, "--format", "html"]);
    assert!(page.contains("<h2>mlx4_0 port 1</h2>"), "{page}");
    let ticket = printed(&["net", "ceiling", "--root", root, "--format", "markdown"]);
    assert!(ticket.contains("\n- **at most**: **3.37 GB/s, by the slot;"), "{ticket}");
}

#[test]
fn json_of_a_ceiling_is_what_the_schema_says() {
    let host = database_server();
    let root = host.path().to_str().unwrap();
    let value = json(&["net", "ceiling", "mlx4_0/1", "--json", "--root", root], CEILING);
    let [port] = &value["devices"].as_array().unwrap()[..] else { panic!("{value:#}") };
    assert_eq!((&port["narrowest"], &port["rdma"]), (&"slot".into(), &true.into()));
    assert_eq!(port["one_way_bytes_per_second"], 3_368_421_052_u64);
    assert_eq!(port["wire"]["one_way_bytes_per_second"], 3_949_855_351_u64);
    assert_eq!(port["slot"]["packet"]["payload_bytes"], 128);
    json(&["net", "ceiling", "--json", "--root", root], CEILING);
    json(&["net", "ceiling", "--json"], CEILING);
}

#[test]
fn a_capture_has_the_ceiling_of_its_host() {
    let host = database_server();
    let root = host.path().to_str().unwrap();
    let capture = saved(&host, "db.host", &printed(&["capture", "--root", root]));
    let of = |source: &[&str]| {
        let mut value = json(&[&["net", "ceiling", "--json"], source].concat(), CEILING);
        value["began"] = Value::Null;
        let name = value["host"].take();
        (name, value)
    };
    let (captured, copied) = (of(&["--host", &capture]), of(&["--root", root]));
    assert_eq!(captured.1, copied.1);
    let name = host.path().file_name().unwrap().to_str();
    assert_eq!((captured.0.as_str(), copied.0.as_str()), (Some("db.host"), name));
}

#[test]
fn a_saved_run_is_held_against_the_adapter_it_was_made_over() {
    let host = database_server();
    let root = host.path().to_str().unwrap();
    let file = saved(&host, "read.txt", READ);
    let arguments = ["net", "curve", &file, "--device", "mlx4_0/1", "--root", root];
    let text = unwrapped(&printed(&arguments));
    for expected in [
        "RDMA_Read BW Test, 10 message sizes from 2 to 8388608 bytes",
        "It settles at 3.08 GB/s, 91 % of the ceiling; 1 dip.",
        "plateau 3.08 GB/s from 8192 to 8388608 bytes; these sizes differ by 0.9 %",
        "ceiling 91 % of the 3.37 GB/s that the slot of mlx4_0 port 1 (PCIe 2.0 x8) can carry; the wire (4X QDR) carries 17 % more",
        "dip 128 bytes: 118.3 MB/s, 43 % below the 206.7 MB/s of 64 bytes; 256 bytes move 237.1 MB/s again (0.92 million messages a second against 3.23 million)",
        "messages at most 3.63 million a second, at 4 bytes",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
}

#[test]
fn json_of_a_curve_is_what_the_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = saved(&folder, "read.txt", READ);
    let over = ["--rate", "40 Gb/sec (4X QDR)", "--pcie", "5 GT/s x8"];
    let arguments = [&["net", "curve", &file, "--json"][..], &over].concat();
    let value = json(&arguments, CURVE);
    let share = value["bandwidth"]["share_of_ceiling"].as_f64().unwrap();
    assert!((0.914..0.916).contains(&share), "{share}");
    assert_eq!(value["bandwidth"]["dips"][0]["first_bytes"], 128);
    assert_eq!(value["ceiling"]["wire"]["packet"]["payload_bytes"], 2048);
    let alone = json(&["net", "curve", &file, "--json"], CURVE);
    assert_eq!(
        (&alone["ceiling"], &alone["bandwidth"]["share_of_ceiling"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_test_of_both_directions_is_held_against_both() {
    let folder = tempfile::tempdir().unwrap();
    let both = READ.replace("RDMA_Read BW", "RDMA_Read Bidirectional BW").replace(" 29", " 57");
    let file = saved(&folder, "both.txt", &both);
    let text = unwrapped(&printed(&["net", "curve", &file, "--pcie", "5 GT/s x8"]));
    assert!(text.contains("of the 6.10 GB/s in both directions together"), "{text}");
    assert!(
        text.contains("the other part is unknown: no wire here: --rate was not given"),
        "{text}"
    );
}

#[test]
fn a_run_above_its_ceiling_says_what_may_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = saved(&folder, "read.txt", READ);
    let arguments = ["net", "curve", &file, "--pcie", "5 GT/s x4", "--max-payload", "256"];
    assert!(unwrapped(&printed(&arguments)).contains("169 % of the 1.83 GB/s"));
    assert!(unwrapped(&printed(&arguments)).contains("more than there is"));
}

#[test]
fn a_run_without_figures_and_clocks_that_differ_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#bytes #iterations BW peak[MB/sec] BW average[MB/sec]\n\
                Conflicting CPU frequency values detected: 1600.000000 != 2534.000000. CPU Frequency is not max.\n\
                2 1000 0.00 0.00\n4 1000 0.00 0.00\n";
    let file = saved(&folder, "zero.txt", text);
    let shown = unwrapped(&printed(&["net", "curve", &file]));
    assert!(shown.contains("Every value is 0.00"), "{shown}");
    assert!(shown.contains("perftest found 1600 MHz on CPU 0 and 2534 MHz on another"), "{shown}");
    let value = json(&["net", "curve", &file, "--json"], CURVE);
    assert_eq!(value["clocks"][0]["first_hz"], 1_600_000_000_u64);
}

#[test]
fn latencies_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = " #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n\
                2 1000 1.10 9.00 1.20\n128 1000 1.8 9.9 2.40\n256 1000 1.6 9.9 1.90\n";
    let file = saved(&folder, "latency.txt", text);
    let shown = unwrapped(&printed(&["net", "curve", &file]));
    assert!(
        shown.contains(
            "bump 2.40 us for 128 bytes, which is 26 % longer than 1.90 us for 256 bytes"
        ),
        "{shown}"
    );
    let value = json(&["net", "curve", &file, "--json"], CURVE);
    assert_eq!(value["latency"]["points"][0]["typical_s"], 1.2e-6);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    let host = database_server();
    let root = host.path().to_str().unwrap();
    let file = saved(&host, "read.txt", &READ.replace("112.79", "often"));
    assert!(refusal(&["net", "curve", &file]).contains("read.txt: line 10 holds \"128"));
    assert!(refusal(&["net", "curve", "/dev/zero"]).contains("1 MiB or more"));
    let file = saved(&host, "good.txt", READ);
    let of = |device| refusal(&["net", "curve", &file, "--device", device, "--root", root]);
    assert!(of("eth9").contains("there are mlx4_0 port 1, mlx4_0 port 2"));
    assert!(of("mlx4_0").contains("name a port, as mlx4_0/1"));
    assert!(refusal(&["net", "curve", &file, "--rate", "fast"]).contains("56 Gb/sec (4X FDR)"));
    assert!(refusal(&["net", "ceiling", "--mtu", "1500"]).contains("a power of two"));
    assert!(refusal(&["net", "ceiling", "--fail-on", "low"]).contains("--fail-on"));
    assert!(refusal(&["--fail-on", "low", "net", "ceiling"]).contains("fullclock audit"));
    assert_eq!(fullclock(&["net"]).output().unwrap().status.code(), Some(2));
}
