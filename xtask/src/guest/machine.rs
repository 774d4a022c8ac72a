//! One virtual machine: QEMU by software emulation, ended with the value that stands for it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::drives;
use super::image::Image;

/// Many times what it takes on a busy machine.
const BOOT_LIMIT: Duration = Duration::from_secs(300);
/// What the guest's `timeout` gets to end a case by itself, and the guest to tidy up after it.
const GRACE: Duration = Duration::from_secs(60);
/// Lines of the console that a failure shows.
const LAST_LINES: usize = 15;

/// A running guest, waiting for cases. Its standard input and output are a serial port in the guest.
pub(super) struct Machine {
    qemu: Child,
    lines: Receiver<String>,
    folder: PathBuf,
}

/// What a guest said of a case.
pub(super) struct Answer {
    /// `ok`, or `WRONG`.
    pub(super) is_ok: bool,
    pub(super) text: String,
    /// The end of what the case printed, if it went wrong.
    pub(super) log: Vec<String>,
}

impl Machine {
    /// Boots a guest that has the `share` beside `folder` at `/host`, and its own drives in `folder`.
    ///
    /// # Errors
    ///
    /// If QEMU cannot be run or the guest does not come up; the text has the console's last lines.
    pub(super) fn boot(image: &Image, folder: &Path, kernel: &str) -> Result<Self, String> {
        let mut command = qemu(image, folder, kernel).map_err(|error| error.to_string())?;
        command.args(["-chardev", "stdio,id=cases,signal=off", "-serial", "file:console"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut qemu = command.spawn().map_err(|error| format!("cannot run QEMU: {error}"))?;
        let (sender, lines) = channel();
        let output = qemu.stdout.take().ok_or("QEMU has no output")?;
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        let machine = Self { qemu, lines, folder: folder.to_owned() };
        match machine.lines.recv_timeout(BOOT_LIMIT) {
            Ok(line) if line == "up" => Ok(machine),
            Ok(line) => Err(machine.told(&format!("the guest said '{line}', not 'up'"))),
            Err(_) => Err(machine.told("the guest did not come up")),
        }
    }

    /// Runs a case to its end, or to the end of its time. An error is the end of the machine too.
    pub(super) fn run(
        &mut self,
        file: &str,
        name: &str,
        limit: Duration,
    ) -> Result<Answer, String> {
        let port = self.qemu.stdin.as_mut().ok_or("QEMU has no input")?;
        let order = format!("{file} {name} {}\n", limit.as_secs());
        port.write_all(order.as_bytes()).map_err(|error| self.told(&error.to_string()))?;
        let end = Instant::now() + limit + GRACE;
        let nothing = "the case told nothing".to_owned();
        let mut answer = Answer { is_ok: false, text: nothing, log: Vec::new() };
        let mut is_told = false;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|_| self.told("the guest hangs"))?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("done", _) => return Ok(answer),
                ("log", text) => answer.log.push(text.to_owned()),
                ("pause", seconds) => self.pause(seconds),
                (verdict, text) if !is_told => {
                    is_told = true;
                    answer.is_ok = verdict == "ok";
                    text.clone_into(&mut answer.text);
                }
                _ => {}
            }
        }
    }

    /// Stops the whole machine for a time, of which it does not learn.
    fn pause(&self, seconds: &str) {
        let Some(pid) = i32::try_from(self.qemu.id()).ok().and_then(Pid::from_raw) else { return };
        let seconds = seconds.parse().unwrap_or(1);
        if kill_process(pid, Signal::STOP).is_ok() {
            thread::sleep(Duration::from_secs(seconds));
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// What happened, and what QEMU and the guest's kernel said last.
    fn told(&self, what: &str) -> String {
        let mut text = String::new();
        for log in ["qemu.log", "console"] {
            let log = fs::read(self.folder.join(log)).unwrap_or_default();
            text += &String::from_utf8_lossy(&log);
        }
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        format!("{what}; its console's last lines:\n    {}", last.join("\n    "))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// Boots a guest with a shell on this terminal; ends with that shell.
pub(super) fn shell(image: &Image, folder: &Path, kernel: &str) -> Result<ExitStatus, String> {
    let mut command = qemu(image, folder, &format!("{kernel} shell")).map_err(|e| e.to_string())?;
    command.args(["-chardev", "null,id=cases", "-serial", "mon:stdio"]);
    command.status().map_err(|error| format!("cannot run QEMU: {error}"))
}

/// QEMU with everything but its console and the port for the cases.
///
/// It dies with this process (`setpriv --pdeathsig`), whatever ends that. The guest can talk to its
/// own monitor by the port `qmp`, which QEMU plugs into itself: so cases unplug drives by themselves.
fn qemu(image: &Image, folder: &Path, kernel: &str) -> std::io::Result<Command> {
    // Of NVMe's queues one is for polled completions. Emulated, what the kernel does against spying
    // costs a third of all the time: every system call forgets which code was translated for where.
    // A machine that is emulated on a busy one may be too late for the kernel's check of its timer.
    let append = "console=ttyS0 quiet panic=-1 nvme.poll_queues=1 mitigations=off no_timer_check";
    let append = format!("{append} {kernel}");
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]).current_dir(folder);
    // A second processor would mostly wait for the first.
    command.args(["-machine", "q35", "-accel", "tcg", "-cpu", "Nehalem", "-smp", "1"]);
    command.args(["-m", "1280", "-display", "none", "-nodefaults", "-no-user-config"]);
    command.arg("-no-reboot").args(["-append", &append]);
    command.arg("-kernel").arg(image.kernel()).arg("-initrd").arg(image.initrd());
    command.arg("-drive").arg(format!(
        "file={},format=raw,if=none,id=root,snapshot=on,cache=unsafe",
        image.root().display()
    ));
    command.args(["-device", "virtio-blk-pci,drive=root", "-virtfs"]);
    command.arg("local,path=../share,mount_tag=host,security_model=none,readonly=on");
    // What the drives hold, behind the guest's back.
    command.args(["-virtfs", "local,path=drives,mount_tag=images,security_model=none,readonly=on"]);
    command.args(["-device", "virtio-serial-pci"]);
    command.args(["-device", "virtserialport,chardev=cases,name=cases"]);
    command.args(["-chardev", "socket,id=monitor,path=qmp,server=on,wait=off"]);
    command.args(["-mon", "chardev=monitor,mode=control"]);
    command.args(["-chardev", "socket,id=qmp,path=qmp"]);
    command.args(["-device", "virtserialport,chardev=qmp,name=qmp"]);
    fs::create_dir_all(folder.join("drives"))?;
    drives::plug_in(&mut command, &folder.join("drives"))?;
    command.stderr(File::create(folder.join("qemu.log"))?);
    Ok(command)
}
