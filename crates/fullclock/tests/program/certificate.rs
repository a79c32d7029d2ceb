//! `fullclock certificate`, as a user meets it: a page whose hashes are right, and clear words where there is none.

use crate::support::{changes_settings, fullclock, is_of, printed, refusal};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Short enough for a test.
const SHORT: &str = "cpu-loop --iterations 100000";

/// A folder with results, a page and a journal.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// A result of some trials in the file `name`.
    fn bench(&self, name: &str, arguments: &[&str]) {
        std::fs::write(
            self.path(name),
            printed(&[&["bench", "--json", "--no-save"], arguments].concat()),
        )
        .unwrap();
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let (to, state) = (self.name("page.html"), self.name("state"));
        let common = ["certificate", "--json", "--output", &to, "--force", "--state-dir", &state];
        let value: Value = serde_json::from_str(&printed(&[&common, arguments].concat())).unwrap();
        is_of(include_str!("../../../../schemas/certificate-3.json"), &value);
        value
    }

    /// What a shell prints in the folder, where the command succeeds.
    fn shell(&self, command: &str) -> String {
        let output = Command::new("sh").args(["-c", command]).current_dir(self.0.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        fullclock(&["revert", "--all", "--quiet", "--state-dir", &self.name("state")])
            .output()
            .unwrap();
    }
}

#[test]
fn the_hashes_of_a_page_are_those_that_the_usual_programs_print() {
    let _settings = changes_settings();
    let desk = Desk::new();
    let loops = ["cpu-loop", "--iterations", "100000", "-n", "6"];
    desk.bench("before.json", &loops);
    let state = desk.name("state");
    printed(&["apply", "cpu-dma-latency=1000000", "--quiet", "--state-dir", &state]);
    desk.bench("after.json", &loops);
    let value = desk.json(&[&desk.name("before.json"), &desk.name("after.json"), "--change", "1"]);

    let sums: Vec<String> =
        desk.shell("sha256sum before.json after.json").lines().map(str::to_owned).collect();
    for (data, sum) in value["data"].as_array().unwrap().iter().zip(&sums) {
        assert!(sum.starts_with(data["sha256"].as_str().unwrap()), "{sum}");
    }
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    let page = page.replace("&#39;", "'").replace("&quot;", "\"").replace("&lt;", "<");
    let check = &page[page.find("sha256sum -c <<'END'").unwrap()..];
    desk.shell(&check[..check.find("</code>").unwrap()]);
    // What is appended to the journal later is not looked at.
    printed(&["revert", "--quiet", "--state-dir", &state]);
    let print = &page[page.find("head -n ").unwrap()..];
    let sum = desk.shell(&print[..print.find("</code>").unwrap()]);
    assert!(sum.starts_with(value["change"]["journal"]["sha256"].as_str().unwrap()), "{sum}");

    assert_eq!(value["change"]["state"], "kept");
    assert_eq!(value["change"]["writes"][0]["standing"], "in force");
    let later = desk.json(&[&desk.name("before.json"), &desk.name("after.json"), "--change", "1"]);
    assert_eq!(later["change"]["state"], "reverted");
    assert_eq!(later["change"]["writes"][0]["standing"], "reverted");
}

#[test]
fn a_proof_is_a_certificate_of_its_change_and_of_no_other() {
    let _settings = changes_settings();
    let desk = Desk::new();
    let (results, state) = (desk.name("results"), desk.name("state"));
    let workload = format!("{SHORT} --trials 4 --results {results}");
    let apply = ["apply", "cpu-dma-latency=1000000", "--quiet", "--state-dir", &state];
    // Two blocks prove nothing, so that it is not kept; its trials are.
    fullclock(&[&apply[..], &["--prove", &workload]].concat()).output().unwrap();
    printed(&apply);
    let status: Value =
        serde_json::from_str(&printed(&["status", "--all", "--json", "--state-dir", &state]))
            .unwrap();
    let changes = status["changes"].as_array().unwrap();
    let is_proof = |it: &&Value| it["command"].as_array().unwrap().contains(&"--prove".into());
    let proof = changes.iter().rev().find(is_proof).unwrap()["id"].as_str().unwrap();
    let plain = changes.last().unwrap()["id"].as_str().unwrap();
    let of =
        |change| desk.json(&["20", "--results", &results, "--change", change])["cautions"].clone();
    assert_eq!(of(proof), serde_json::json!([]));
    assert!(
        of(plain)[0].as_str().unwrap().starts_with("Nothing says that the trials are about change")
    );
}

#[test]
fn what_is_no_pair_of_results_or_no_change_is_refused_with_what_to_do() {
    let desk = Desk::new();
    desk.bench("one.json", &["cpu-loop", "--iterations", "100000", "-n", "4"]);
    desk.bench("rate.json", &["cpu-speed", "-n", "4"]);
    std::fs::write(desk.path("text.json"), "12.4 s\n").unwrap();
    let state = desk.name("state");
    let [one, rate, text, gone] =
        ["one.json", "rate.json", "text.json", "gone.json"].map(|it| desk.name(it));
    let of = |arguments: &[&str]| {
        let to = desk.name("page.html");
        refusal(&[&["certificate", "--output", &to, "--state-dir", &state], arguments].concat())
    };
    assert!(of(&[&one]).contains("has one variant; a certificate is of two"), "{}", of(&[&one]));
    assert!(of(&[&one, &rate]).contains("there is nothing to compare"));
    assert!(of(&[&one, &text]).contains("is no result of fullclock bench"));
    assert!(of(&[&one, &gone]).contains("cannot read"), "{}", of(&[&one, &gone]));
    let unknown = of(&[&one, &one, "--change", "7"]);
    assert!(unknown.contains("no change 7 is in the journal; `fullclock status`"), "{unknown}");
    assert!(!desk.path("page.html").exists());
    let over = refusal(&["certificate", &one, &one, "--output", &text]);
    assert!(
        over.contains("text.json exists; name another file or replace it with --force"),
        "{over}"
    );
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "12.4 s\n");
    let root = refusal(&["certificate", &one, &one, "--root", "/"]);
    assert!(root.contains("a result names the machine that it was measured on"), "{root}");
}
