//! Hosts of which no defect is known: an audit that finds something serious on one of them is wrong.

use crate::audited::Audited;
use crate::{hosts, lscpu, rows, source};
use rules::finding::Severity;
use std::collections::BTreeMap;

/// By their ids in truth.tsv.
const WITHOUT_DEFECT: [&str; 57] = [
    "ul-epyc7451",
    "ul-ppc64-POWER7-64cpu",
    "ul-rv64-milkvpioneer",
    "ul-loongarch-loongson_3a5000_hv",
    "ul-s390-lpar-drawer",
    "ul-s390-zvm",
    "ul-s390-lpar",
    "ul-ppc-qemu",
    "hw-32em64t-2n8c+dax+nvme+mic+dimms",
    "hw-16amd64-8n2c",
    "hw-48amd64-4pa2n6c-sparse",
    "hw-8em64t-2s2ca2c-buggynuma",
    "hw-8em64t-2s2ca2c",
    "hw-8em64t-2s4c-asymcaches",
    "hw-20em64t-hybrid-1p6c2t+2ca4co1t",
    "hw-memorysidecaches",
    "hw-128arm-2pa2n8cluster4co",
    "hw-256ppc-8n8s4t",
    "hw-2pa-pcidomain32bits",
    "hw-2i386-2t-hugepagesizecount",
    "hwx-lakefield",
    "pcp-4005u",
    "pcp-sgi480",
    "pcp-t480s",
    "pcp-irq8",
    "pcp-irqs390",
    "cnto-worker2",
    "ghw-2e9d8b3d3d6d",
    "ghw-accel-nvidia",
    "ghw-93b2a4e61939",
    "stc-adl0",
    "stc-knl0",
    "stc-milan0",
    "stc-srf0",
    "pepc-adl0",
    "pepc-bdw0",
    "pepc-bdwde0",
    "pepc-bdwex0-nocpuidle",
    "pepc-clx2s0",
    "pepc-clxap1",
    "pepc-cpx0",
    "pepc-cwf0",
    "pepc-dell-9360-kbl",
    "pepc-emr0",
    "pepc-gnr0",
    "pepc-gnrd0",
    "pepc-hswep0",
    "pepc-icx2s3",
    "pepc-ivbep1",
    "pepc-knl0",
    "pepc-lnl0",
    "pepc-mhl0",
    "pepc-milan0",
    "pepc-ptl-h-4",
    "pepc-sklep0",
    "pepc-spr1",
    "pepc-srf2",
];

/// Categories of lscpu's samples: turbo by its driver's word, SMT or NUMA or mitigations off, nothing at all.
const CATEGORIES: [&str; 5] = ["A3", "C", "F", "G", "Z"];

#[test]
fn hosts_without_a_known_defect_have_nothing_serious() {
    let Some(folder) = hosts() else { return };
    let paths: BTreeMap<String, String> = rows(&folder.join("truth.tsv"))
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let mut faults = Vec::new();
    for id in WITHOUT_DEFECT {
        let path = folder.join(&paths[id]);
        faults.extend(serious(id, Audited::new(|| source::open(&path))));
    }
    let samples = folder.join("lscpu-linuxhw");
    let mut n_samples = 0;
    for row in rows(&samples.join("truth.tsv")) {
        if !CATEGORIES.iter().any(|it| row[1].split('_').next() == Some(*it)) {
            continue;
        }
        let text = std::fs::read_to_string(samples.join("samples").join(&row[0]));
        let text = text.expect("a readable sample");
        faults.extend(serious(&row[0], Audited::new(|| Ok(lscpu::host(&text)))));
        n_samples += 1;
    }
    assert!(n_samples >= 20, "{n_samples} samples of lscpu");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What an audit finds at medium or above.
fn serious(id: &str, audited: Result<Audited, String>) -> Vec<String> {
    match audited {
        Ok(audited) => {
            let serious = audited.findings.into_iter().filter(|it| it.1 >= Severity::Medium);
            serious.map(|(check, _, line)| format!("{id}: {check}: {line}")).collect()
        }
        Err(error) => vec![format!("{id}: {error}")],
    }
}
