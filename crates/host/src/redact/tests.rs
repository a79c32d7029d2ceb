//! Lines as real hosts have them, and what must be left of them.

use super::*;
use proptest::prelude::*;

/// `text` of the host db7.corp.example, which runs kernel 5.15.0-101.103.2.1.el9uek.
fn redacted(text: &str) -> String {
    redactor().text(text)
}

fn redactor() -> Redactor {
    Redactor::new("db7.corp.example", "5.15.0-101.103.2.1.el9uek.x86_64", |_| false)
}

fn answer(name: &str, text: &str) -> String {
    String::from_utf8(redactor().answer(name, text.as_bytes())).unwrap()
}

/// Lines of which every byte is evidence.
const EVIDENCE: [&str; 19] = [
    "0000:3b:00.0 0000:3b:00.1 10000:e1:00.0 pci0000:00/0000:00:1c.0",
    "0-3,8-11,16,24-31 10-19 00000000,ffffffff,0000ffff",
    " 42:   1203   0  PCI-MSIX-0000:3b:00.0   0-edge  mlx5_comp0@pci:0000:3b:00.0",
    "LOC:  10293847  29384756   Local timer interrupts",
    "5.15.0-101.103.2.1.el9uek.x86_64 6.1.0-18-amd64 4.18.0-553.el8_10.x86_64",
    "BOOT_IMAGE=/vmlinuz-5.3.18-24.67.2.1-default 2136.315.5.8.el8uek",
    "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0)",
    "nohz_full=2-11,14-23 isolcpus=managed_irq,domain,2-11 intel_idle.max_cstate=1 idle=poll",
    "console=ttyS0,115200n8 crashkernel=1G-4G:192M,4G-64G:256M root=/dev/mapper/rhel-root ro",
    "0x00000000000a8405 0x14 0xffffffffffffffff 0x2c000260",
    "0x16 0x756e6547 0x6c65746e 0x49656e69",
    "350735.47 234388.90 12:34:56 2024-01-31T12:34:56",
    "12:cpu,cpuacct:/user.slice 0::/system.slice/postgresql@15-main.service",
    "1843 (postgres) S 1 1843 1843 0 -1 4194560 8392 0 0",
    "CONFIG_USB_SERIAL=m CONFIG_SERIAL_8250=y CONFIG_DEFAULT_HOSTNAME=\"(none)\"",
    "cpu MHz\t\t: 2596.992 bogomips : 5193.98 microcode : 0x5003604",
    "8086:1572 100 Gb/sec (4X EDR) 8.0 GT/s PCIe 4: ACTIVE",
    "S-1-5 1.2.3 1.2.3.4.5 256.1.1.1 std::thread",
    "BogoMIPS 4800.00, 00-01-02 aa:bb:cc:dd:ee",
];

#[test]
fn evidence_is_left_as_it_is() {
    for line in EVIDENCE {
        assert_eq!(redacted(line), line);
    }
    for name in ["/sys/class/dmi/id/bios_version", "/proc/sys/kernel/osrelease"] {
        assert_eq!(answer(name, "1.10.0.4\n"), "1.10.0.4\n");
    }
}

#[test]
fn a_boot_line_keeps_its_parameters_and_loses_its_addresses() {
    assert_eq!(
        redacted("root=UUID=0a3407de-014b-458b-b5c1-848e92a327a3 ro nohz_full=2-7"),
        "root=UUID=<uuid1> ro nohz_full=2-7"
    );
    assert_eq!(
        redacted("ip=10.1.2.3::10.1.2.1:255.255.255.0:db7:eth0:none BOOTIF=01-aa-bb-cc-dd-ee-ff"),
        "ip=<ip1>::<ip2>:<ip3>:<host>:eth0:none BOOTIF=<mac1>"
    );
    assert_eq!(
        redacted(
            "root=PARTUUID=5e3f2a1b-02 boot=UUID=1A2B-3C4D rd.md.uuid=3a1f2b3c:00112233:aabbccdd:99887766"
        ),
        "root=PARTUUID=<uuid1> boot=UUID=<uuid2> rd.md.uuid=<uuid3>"
    );
    assert_eq!(
        redacted(
            "ip=[2001:db8::17]::[fe80::1%eth0]:64 systemd.hostname=other.site rd.iscsi.password=x"
        ),
        "ip=[<ip1>]::[<ip2>%eth0]:64 systemd.hostname=<host> rd.iscsi.password=<secret1>"
    );
    assert_eq!(
        redacted(
            "root=/dev/disk/by-id/nvme-SAMSUNG_MZQL2_S64HNE0T-part3 resume=/dev/disk/by-uuid/12AB-34CD"
        ),
        "root=/dev/disk/by-id/<serial1> resume=/dev/disk/by-uuid/<uuid1>"
    );
}

#[test]
fn servers_of_a_boot_line_go_with_their_passwords() {
    assert_eq!(
        redacted(
            "inst.ks=https://ann:pw@deploy.corp.example:8443/el9.ks inst.repo=nfs:filer.corp.example:/el9"
        ),
        "inst.ks=https://<server1>/el9.ks inst.repo=nfs:<server2>/el9"
    );
    assert_eq!(
        redacted("root=/dev/nfs nfsroot=filer.corp.example:/db7,vers=4"),
        "root=/dev/nfs nfsroot=<server1>/<host>,vers=4"
    );
}

#[test]
fn mounts_that_no_check_asks_for_are_left_out() {
    let kept = "22 27 0:21 / /proc rw - proc proc rw,hidepid=2\n\
                41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let mounts =
        format!("29 1 0:9 / /home/ann rw - nfs4 filer.corp.example:/home rw,addr=10.0.0.9\n{kept}");
    assert_eq!(answer("/proc/self/mountinfo", &mounts), kept);
}

#[test]
fn a_process_keeps_its_times_and_loses_its_addresses() {
    let fields: Vec<String> = (3..=52).map(|field| format!("9{field}")).collect();
    let line = format!("7 (a) b) {}\n", fields.join(" "));
    let expected = line
        .replace("926 927 928 929 930", "0 0 0 0 0")
        .replace("935", "0")
        .replace("945 946 947 948 949 950 951", "0 0 0 0 0 0 0");
    assert_eq!(answer("/proc/7/stat", &line), expected);
    assert_eq!(answer("/proc/stat", "cpu  1 2 3\n"), "cpu  1 2 3\n");
}

#[test]
fn the_colons_of_a_control_groups_line_stay_beside_an_address() {
    let file = "/proc/self/cgroup";
    assert_eq!(answer(file, "0::/fe80::5054:ff:fe12:3456\n"), "0::/<ip1>\n");
    // The number and what divides the line would be an address too.
    assert_eq!(answer(file, "12::/a\n5:cpu:/10.0.0.1:80\n"), "12::/a\n5:cpu:/<ip1>:80\n");
    // What the kernel does not write may be anything.
    assert_eq!(answer(file, "fe80::5054:ff:1\n1:uuid:x\n"), "<ip1>\n1:uuid:<uuid1>\n");
}

#[test]
fn the_parentheses_of_a_process_stay_beside_a_secret() {
    let line = |name: &str| format!("7 ({name}) S 1 7 7 0 -1 4194560 8392 0 0\n");
    for (name, expected) in [
        ("uuid=abc", "uuid=<uuid1>"),
        ("http://filer", "http://<server1>"),
        ("token: x", "token: <secret1>"),
    ] {
        assert_eq!(answer("/proc/7/stat", &line(name)), line(expected));
    }
    assert_eq!(answer("/proc/7/stat", "7 uuid=abc\n"), "7 uuid=<uuid1>\n");
}

#[test]
fn the_hosts_own_name_goes_as_a_whole_word_with_its_domain() {
    assert_eq!(redacted("DB7 db7.corp.example db7.other.zone:3260"), "<host> <host> <host>:3260");
    assert_eq!(redacted("/dev/vg_db7/root (db7-backup)"), "/dev/vg_<host>/root (<host>-backup)");
    assert_eq!(redacted("db70 xdb7 db"), "db70 xdb7 db");
}

#[test]
fn a_host_with_the_name_of_a_file_or_of_its_database_keeps_it() {
    let text = "/sys/devices/system/cpu postgres ab";
    for name in ["system", "postgres", "ab", "localhost", ""] {
        let mut redactor = Redactor::new(name, "", |word| word == "system");
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn a_value_has_the_same_mark_wherever_it_comes_up() {
    let mut redactor = redactor();
    let pod = "/kubepods.slice/kubepods-pod0a3407de_014b_458b_b5c1_848e92a327a3.slice";
    let container =
        "cri-containerd-64aa9c61e2ed7d8d5c6d2e1bcb0a5b6dfc33e3c2bb7c3ad7fef3ed1b8b7ad0e4.scope";
    let path = format!("{pod}/{container}/cpu.max");
    assert_eq!(
        redactor.text(&format!("/sys/fs/cgroup{path}")),
        "/sys/fs/cgroup/kubepods.slice/kubepods-pod<uuid1>.slice/cri-containerd-<id1>.scope/cpu.max"
    );
    assert_eq!(
        String::from_utf8(redactor.answer("/proc/1843/cgroup", format!("0::{path}").as_bytes())),
        Ok("0::/kubepods.slice/kubepods-pod<uuid1>.slice/cri-containerd-<id1>.scope/cpu.max"
            .into())
    );
}

#[test]
fn hardware_addresses_go_in_every_notation() {
    assert_eq!(redacted("b8:ce:f6:3a:1c:02 B8-CE-F6-3A-1C-02"), "<mac1> <mac2>");
    assert_eq!(redacted("/sys/class/net/enxb8cef63a1c02/speed"), "/sys/class/net/enx<mac1>/speed");
    assert_eq!(redacted("0c42:a103:0065:1234"), "<guid1>");
    assert_eq!(redacted("fe80:0000:0000:0000:0c42:a103:0065:1234"), "<guid1>");
    let infiniband = "80:00:02:08:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:65:12:34";
    assert_eq!(redacted(infiniband), "<mac1>");
}

#[test]
fn serial_numbers_go_by_the_name_before_them_or_of_their_file() {
    assert_eq!(redacted("Serial\t\t: 10000000a1b2c3d4"), "Serial\t\t: <serial1>");
    assert_eq!(
        redacted("processor 0: version = FF,  identification = 0A1B2C,  machine = 2964"),
        "processor 0: version = FF,  identification = <serial1>,  machine = 2964"
    );
    assert_eq!(answer("/sys/class/dmi/id/product_serial", "CZ3234ABCD\n"), "<serial1>\n");
    assert_eq!(answer("/sys/class/infiniband/mlx5_0/node_desc", "dbx mlx5_0\n"), "<host>\n");
    assert_eq!(answer("/sys/class/dmi/id/chassis_asset_tag", "\n"), "\n");
}

#[test]
fn what_is_redacted_stays_as_it_is_when_redacted_again() {
    for text in [
        "root=UUID=1A2B-3C4D ip=10.0.0.1 by-id/x hostname=y b8:ce:f6:3a:1c:02",
        "http://ann:pw@10.0.0.1/b nfsroot=filer:/d",
        "10.0.0.1.db7 00:11:22:33:44:55.10.0.0.1 10.0.0.1-10.0.0.2",
        "0a3407de-014b-458b-b5c1-848e92a327a310.0.0.1",
    ] {
        assert_eq!(redacted(&redacted(text)), redacted(text));
        assert!(!redacted(text).contains("10.0.0"), "{}", redacted(text));
    }
    let mut named_like_a_mark = Redactor::new("host", "", |_| false);
    assert_eq!(named_like_a_mark.text("a host, uuid=1"), "a <host>, uuid=<uuid1>");
}

#[test]
fn bytes_that_are_no_text_are_kept_and_the_text_between_them_is_redacted() {
    let bytes = b"\xff\0ip 10.1.2.3\0\xfe";
    assert_eq!(redactor().answer("/proc/7/cmdline", bytes), b"\xff\0ip <ip1>\0\xfe");
}

/// Something to hide, as it may stand in a text.
fn secret() -> impl Strategy<Value = String> {
    let mac = "([0-9a-f]{2}:){5}[0-9a-f]{2}|([0-9A-F]{2}-){5}[0-9A-F]{2}";
    let uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    let ipv6 = any::<std::net::Ipv6Addr>().prop_map(|it| it.to_string());
    let ipv4 = any::<std::net::Ipv4Addr>().prop_map(|it| it.to_string());
    prop_oneof![mac, uuid, ipv4, ipv6, Just("db7".to_owned()), Just("DB7.corp.example".to_owned())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_secret_survives_between_words(
        line in prop::sample::select(&EVIDENCE[..]),
        word in any::<prop::sample::Index>(),
        secret in secret(),
        before in "[ =,/@(\\[\"']",
        after in "[ ,/@)\\]\"'%;]",
    ) {
        let words: Vec<&str> = line.split(' ').collect();
        let (head, tail) = words.split_at(word.index(words.len()));
        let text = format!("{}{before}{secret}{after}{}", head.join(" "), tail.join(" "));
        let redacted = redacted(&text);
        prop_assert!(!redacted.contains(&secret), "{}", redacted);
        prop_assert!(redacted.starts_with(&head.join(" ")), "{}", redacted);
        prop_assert!(redacted.ends_with(&tail.join(" ")), "{}", redacted);
    }

    #[test]
    fn any_text_is_redacted_without_a_panic(text in ".{0,200}", name in ".{0,40}") {
        redactor().answer(&name, text.as_bytes());
    }

    #[test]
    fn what_any_text_becomes_stays_so(text in "([0-9a-f:.\\-_ =<>]{0,20}|db7|host|uuid=|10\\.0\\.0\\.1){0,9}") {
        let once = redacted(&text);
        prop_assert_eq!(redacted(&once), once);
    }
}
