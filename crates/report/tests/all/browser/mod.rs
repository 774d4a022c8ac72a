//! Chromium without a network, driven through its debugging pipe: NUL-separated JSON messages.
#![allow(dead_code, reason = "the tests of report and of bench use a part each")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Long enough for a machine that does a lot besides.
const PATIENCE: Duration = Duration::from_secs(120);

/// The debugging pipe is file 3 and 4 of the browser; a shell puts our two ends there.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1 </dev/null";

/// A page open in a browser, and what the browser complained about.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Chromium where Debian puts it; `None`, said loudly, where it is not installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    let found = places.find(|place| place.is_file());
    if found.is_none() {
        println!("SKIPPED: the report is not opened, chromium is not installed");
    }
    found
}

impl Browser {
    /// Opens a page; whatever it asks of the network from then on is a complaint.
    pub(crate) fn open(chromium: &Path, page: &Path) -> Self {
        let mut browser = Self::start(chromium);
        browser.go(&format!("file://{}", page.display()));
        browser
    }

    /// Opens no page yet.
    pub(crate) fn start(chromium: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.arg("-c").arg(START).arg(chromium).args([
            "--headless",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = pipes.spawn().unwrap();
        let to = process.stdin.take().unwrap();
        let from = messages(BufReader::new(process.stdout.take().unwrap()));
        let mut browser = Self {
            process,
            to,
            from,
            session: None,
            last_id: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        browser
    }

    /// Leaves the page for another address.
    pub(crate) fn go(&mut self, address: &str) {
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.call("Page.navigate", &json!({ "url": address }));
        self.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'");
    }

    /// No script of any page runs from now on.
    pub(crate) fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    }

    /// Shows pages on `screen` or `print`, in light or dark colours.
    pub(crate) fn media(&mut self, media: &str, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let features = [json!({ "name": "prefers-color-scheme", "value": scheme })];
        self.call("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
    }

    /// The page on A4: its pages, and its size in bytes.
    pub(crate) fn print(&mut self) -> (usize, usize) {
        let paper = json!({ "preferCSSPageSize": true, "printBackground": true });
        let printed = self.call("Page.printToPDF", &paper);
        let pdf = BASE64_STANDARD.decode(printed["data"].as_str().unwrap()).unwrap();
        let text = String::from_utf8_lossy(&pdf);
        let pages = text.matches("/Type /Page\n").count().max(text.matches("/Type /Page ").count());
        (pages, pdf.len())
    }

    /// A mouse at these places of the window one after the other, its button down from the first to
    /// the last if it drags.
    pub(crate) fn mouse(&mut self, places: &[(f64, f64)], drags: bool) {
        let last = places.len() - 1;
        for (index, (x, y)) in places.iter().enumerate() {
            let mut event = |kind: &str| {
                let event = json!({ "type": kind, "x": x, "y": y, "button": "left",
                    "buttons": u8::from(drags), "clickCount": 1 });
                self.call("Input.dispatchMouseEvent", &event);
            };
            event("mouseMoved");
            if drags && index == 0 {
                event("mousePressed");
            }
            if drags && index == last {
                event("mouseReleased");
            }
        }
    }

    /// A key by its code as well, which moves the focus and the like.
    pub(crate) fn key_of(&mut self, name: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({ "type": kind, "key": name, "code": name,
                "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// A key, as whoever has no mouse would press it.
    pub(crate) fn key(&mut self, name: &str) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({ "type": kind, "key": name, "code": name });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let id = target["targetId"].clone();
        let attached =
            self.call("Target.attachToTarget", &json!({ "targetId": id, "flatten": true }));
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// The value of a JavaScript expression.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Waits until a JavaScript expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluate(expression) != json!(true) {
            assert!(begun.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Focuses a button and presses Enter, as somebody without a mouse would.
    pub(crate) fn press(&mut self, selector: &str) {
        self.evaluate(&format!("document.querySelector('{selector}').focus()"));
        for kind in ["keyDown", "keyUp"] {
            let key = json!({ "type": kind, "key": "Enter", "code": "Enter", "text": "\r",
                "windowsVirtualKeyCode": 13 });
            self.call("Input.dispatchKeyEvent", &key);
        }
    }

    /// Shows the page on a screen of this width.
    pub(crate) fn resize(&mut self, width: u32) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1,
            "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &screen);
        self.wait_for(&format!("window.innerWidth === {width}"));
    }

    /// Asserts that there was no error, no console message and no request to a network.
    pub(crate) fn assert_no_complaints(&self) {
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.from.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == json!(self.last_id) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
        let is_local = ["file:", "data:", "blob:", "about:", "http://127.0.0.1:"]
            .iter()
            .any(|own| url.starts_with(own));
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(event.to_string());
            }
            Some("Network.requestWillBeSent") if !is_local => {
                self.complaints.push(format!("asked the network for {url}"));
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Messages of the browser, read by a thread of their own so that waiting can have an end.
fn messages(mut pipe: impl BufRead + Send + 'static) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut message = Vec::new();
        while pipe.read_until(0, &mut message).is_ok_and(|length| length > 0) {
            message.pop();
            let Ok(value) = serde_json::from_slice(&message) else { break };
            if sender.send(value).is_err() {
                break;
            }
            message.clear();
        }
    });
    receiver
}
