//! `writecliff export`: a drive is served, told of, and ends in order.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::user::{User, errors};

/// An export that says that it is ready.
fn exported(user: &User, arguments: &[&str]) -> (Child, String) {
    let arguments = [&["export"], arguments].concat();
    let mut export = user.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(export.stdout.as_mut().unwrap());
    while !said.ends_with("Ctrl-C ends it.\n") {
        assert!(lines.read_line(&mut said).unwrap() > 0, "it has ended: {said}");
    }
    (export, said)
}

fn interrupted(mut export: Child) -> Option<i32> {
    let pid = export.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    export.wait().unwrap().code()
}

#[test]
fn a_drive_is_served_until_ctrl_c_and_its_plug_is_pulled_and_put_in() {
    let user = User::new();
    let (export, said) =
        exported(&user, &["sim:tiny", "--prepare", "filled", "--trace", "asked.trace"]);
    for expected in [
        "simulated Tiny (sim:tiny), 235 MB, filled, in real time",
        "nbd-client -unix ",
        "?socket=/",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    let status = |order: &str| -> Value {
        let told = user.well(&["export", "ctl", "tiny.sock", order, "--json"]);
        serde_json::from_str::<Value>(&told).unwrap()[0].clone()
    };
    assert_eq!(
        (&status("status")["has_power"], &status("power-cut")["has_power"]),
        (&true.into(), &false.into())
    );
    let again = user.run(&["export", "ctl", "tiny.sock", "power-cut"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(errors(&again).contains("it has no power"), "{}", errors(&again));
    let on = status("power-on");
    assert_eq!((&on["has_power"], &on["power_cuts"]), (&true.into(), &1.into()));
    let second = user.run(&["export", "sim:tiny"]);
    assert_eq!(second.status.code(), Some(2), "{}", errors(&second));
    assert!(errors(&second).contains("--socket"), "{}", errors(&second));
    assert_eq!(interrupted(export), Some(0));
    assert!(user.path().join("asked.trace").exists());
    assert!(!user.path().join("tiny.sock").exists() && !user.path().join("tiny.sock.ctl").exists());
}

#[test]
fn what_cannot_be_exported_is_said_with_what_to_do() {
    let user = User::new();
    let cases: [(&[&str], i32, &str); 6] = [
        (&["export", "/dev/null"], 2, "sim:NAME"),
        (&["export", "sim:tinny"], 2, "tiny"),
        (&["export", "sim:tiny", "sim:tiny"], 2, "other=sim:tiny"),
        (&["export", "sim:tiny", "--listen", "0.0.0.0:0"], 3, "--listen-to-all"),
        (&["export", "sim:tiny", "--store", "/etc/passwd"], 3, "no store"),
        (&["export", "ctl", "nobody.sock", "status"], 2, "nobody.sock"),
    ];
    for (arguments, code, expected) in cases {
        let output = user.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", errors(&output));
        assert!(errors(&output).contains(expected), "{arguments:?}: {}", errors(&output));
    }
    assert_eq!(std::fs::read_dir(user.path()).unwrap().count(), 0, "nothing is left behind");
}
