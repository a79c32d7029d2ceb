//! A tab of a headless Chromium, over the DevTools protocol on a pipe.
//!
//! With --remote-debugging-pipe Chromium reads messages from descriptor 3 and writes them to 4, each of them JSON that ends
//! with a NUL byte (content/browser/devtools/devtools_pipe_handler.cc).
#![expect(clippy::disallowed_methods, reason = "writes a page and runs a browser")]

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use tempfile::TempDir;

/// Debian's package of that name. As root it has no sandbox, and the pages are this program's own.
const START: &str = "exec chromium-headless-shell --no-sandbox --disable-gpu --remote-debugging-pipe \
    --user-data-dir=\"$0\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";

/// A browser that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tab with a page in it. Dropping it ends the browser.
pub(crate) struct Tab {
    browser: Child,
    orders: ChildStdin,
    answers: Receiver<Value>,
    /// The tab that orders go to.
    pub(crate) session: Option<String>,
    last_id: u64,
    events: Vec<Value>,
    /// What the browser keeps.
    _folder: TempDir,
}

impl Tab {
    /// A tab without a page.
    pub(crate) fn empty() -> Tab {
        let mut tab = Tab::start();
        tab.attach();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        tab
    }

    /// Goes to an address, and waits until what is there is loaded.
    pub(crate) fn go(&mut self, url: &str) {
        let is_loaded = |it: &Value| it["method"] == "Page.loadEventFired";
        let n_loaded = self.events.iter().filter(|it| is_loaded(it)).count();
        self.call("Page.navigate", &json!({ "url": url }));
        while self.events.iter().filter(|it| is_loaded(it)).count() == n_loaded {
            let event = self.next();
            self.events.push(event);
        }
    }

    fn start() -> Tab {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        let mut browser = Command::new("sh")
            .args(["-c", START])
            .arg(profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = browser.stdin.take().unwrap();
        let stdout = browser.stdout.take().unwrap();
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for message in BufReader::new(stdout).split(0) {
                let Ok(message) = message else { return };
                let message = serde_json::from_slice(&message).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (session, events) = (None, Vec::new());
        Tab { browser, orders, answers, session, last_id: 0, events, _folder: folder }
    }

    /// Makes an empty tab of its own that orders go to; the one that they went to before.
    pub(crate) fn attach(&mut self) -> Option<String> {
        let before = self.session.take();
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let flat = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", &flat);
        self.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        before
    }

    /// What a method answers.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let mut order = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            order["sessionId"] = session.as_str().into();
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.next();
            if message["id"] == self.last_id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// The value of an expression of JavaScript, also of a promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let how = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", &how);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// What the console says of the page: of any level.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        const COMPLAINTS: [&str; 3] =
            ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"];
        let is_complaint = |it: &&Value| COMPLAINTS.iter().any(|method| it["method"] == **method);
        self.events.iter().filter(is_complaint).cloned().collect()
    }

    /// Every address that was asked for, the page's own included.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.events.iter().filter(|it| it["method"] == "Network.requestWillBeSent");
        let address = |it: &Value| it["params"]["request"]["url"].as_str().unwrap().to_owned();
        requests.map(address).collect()
    }

    fn next(&mut self) -> Value {
        self.answers
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|why| panic!("Chromium says nothing: {why}"))
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // Its children end when it does, and so does the thread that reads from it.
        self.browser.kill().unwrap();
        self.browser.wait().unwrap();
    }
}
