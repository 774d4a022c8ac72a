//! Recording real I/O on block devices, from the kernel of this machine.
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use writecliff_device::{Bytes, Operation};
use writecliff_loop_device::{LoopDevice, Zram};
use writecliff_trace::{Existing, Header, TraceFile, TraceIo, TraceWriter};

use crate::user::command;

const INSTANCES: &str = "/sys/kernel/tracing/instances";
/// Enough for all that these tests do, even if nobody reads for seconds.
const BUFFER: &[&str] = &["--buffer", "64MiB"];

/// A device to record, and a place for traces that is not on it.
struct Bench {
    drive: LoopDevice,
    directory: TempDir,
}

impl Bench {
    /// `None`, said loudly, where recording cannot be tested: without root, tracing, loop devices
    /// or one of these programs.
    fn with(programs: &[&str]) -> Option<Self> {
        let installed = |program: &&&str| {
            ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|directory| Path::new(directory).join(program).exists())
        };
        let missing = programs.iter().find(|program| !installed(program));
        let lacks = if !rustix::process::getuid().is_root() {
            Some("root".to_owned())
        } else if !Path::new("/sys/kernel/tracing").exists() {
            Some("a kernel with tracefs".to_owned())
        } else {
            missing.map(|program| format!("the program {program}"))
        };
        let drive = if lacks.is_none() { LoopDevice::in_memory(128 << 20).ok() } else { None };
        let Some(drive) = drive else {
            let lacks = lacks.as_deref().unwrap_or("loop devices");
            let name = thread::current().name().unwrap_or("a test").to_owned();
            let _ = writeln!(io::stderr(), "SKIPPED {name}: it needs {lacks}");
            return None;
        };
        Some(Self { drive, directory: TempDir::new_in("/dev/shm").unwrap() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `trace record` with these arguments, in the bench's directory.
    fn command(&self, device: &str, arguments: &[&str]) -> Command {
        let mut command = command();
        command.args(["trace", "record", device]).args(arguments);
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Records the bench's device until the command behind `--` ends.
    fn record(&self, arguments: &[&str]) -> Output {
        self.record_device(self.drive.path(), arguments)
    }

    fn record_device(&self, device: &str, arguments: &[&str]) -> Output {
        let output = self.command(device, arguments).output().unwrap();
        let errors = text(&output.stderr);
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
        output
    }

    fn trace(&self, name: &str) -> (Header, Vec<TraceIo>) {
        let file = TraceFile::open(&self.path(name)).unwrap();
        let header = file.header().clone();
        (header, file.collect::<Result<_, _>>().unwrap())
    }

    /// `dd` onto a device, so many blocks of 64 KiB behind so many.
    fn dd(&self, device: &str, skip: u32, blocks: u32) {
        let status = Command::new("dd")
            .args(["if=/dev/zero", "bs=64k", "oflag=direct", "conv=notrunc", "status=none"])
            .args([format!("of={device}"), format!("seek={skip}"), format!("count={blocks}")])
            .status();
        assert!(status.unwrap().success());
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn assert_code(output: &Output, code: i32) {
    let said = text(&output.stderr) + &text(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{said}");
}

/// The instances that this process's child has, or a killed one had.
fn instances_of(process: u32) -> Vec<String> {
    let entries = fs::read_dir(INSTANCES).into_iter().flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("writecliff-{process}-"))).collect()
}

/// What fio says that it asked for, in order, and its calls to fsync.
fn iolog(path: &Path) -> (Vec<(Operation, u64, u64)>, u64) {
    let (mut ios, mut syncs) = (Vec::new(), 0);
    for line in fs::read_to_string(path).unwrap().lines() {
        // Since version 3 a time goes before.
        let words: Vec<&str> = line.split(' ').skip_while(|word| !word.starts_with('/')).collect();
        let operation = match words.get(1).copied() {
            Some("read") => Operation::Read,
            Some("write") => Operation::Write,
            Some("trim") => Operation::Trim,
            Some("sync") => {
                syncs += 1;
                continue;
            }
            _ => continue,
        };
        ios.push((operation, words[2].parse().unwrap(), words[3].parse().unwrap()));
    }
    (ios, syncs)
}

fn asked(ios: &[TraceIo]) -> Vec<(Operation, u64, u64)> {
    ios.iter().map(|io| (io.operation, io.offset.0, io.length.0)).collect()
}

#[test]
fn a_fio_job_is_recorded_operation_by_operation() {
    let Some(bench) = Bench::with(&["losetup", "fio"]) else {
        return;
    };
    let job = format!(
        "[global]\nfilename={}\ndirect=1\nioengine=psync\nsize=64m\n\
         [mixed]\nrw=randrw\nbssplit=4k/50:16k/30:128k/20\nnumber_ios=600\nfsync=50\n\
         write_iolog=mixed.log\n\
         [trims]\nstonewall\nrw=randtrim\nbs=64k\nnumber_ios=40\nwrite_iolog=trims.log\n\
         [reads]\nstonewall\nrw=read\nbs=128k\nnumber_ios=100\nwrite_iolog=reads.log\n",
        bench.drive.path()
    );
    fs::write(bench.path("job.fio"), job).unwrap();
    let command = ["--out", "t.trace", "--", "fio", "--output=fio.out", "job.fio"];
    let output = bench.record(&[BUFFER, &command].concat());
    assert_code(&output, 0);

    let (header, ios) = bench.trace("t.trace");
    let (mut expected, mut syncs) = (Vec::new(), 0);
    for log in ["mixed.log", "trims.log", "reads.log"] {
        let (ios, more) = iolog(&bench.path(log));
        expected.extend(ios);
        syncs += more;
    }
    assert_eq!((expected.len(), header.lost), (740, 0));
    // Others may look at the device meanwhile; a flush is issued by the kernel's own worker.
    let fio = header.streams.iter().position(|name| name == "fio").unwrap();
    let (flushes, rest): (Vec<TraceIo>, Vec<TraceIo>) =
        ios.iter().partition(|io| io.operation == Operation::Flush);
    let by_fio: Vec<TraceIo> =
        rest.into_iter().filter(|io| usize::from(io.stream) == fio).collect();
    assert_eq!(asked(&by_fio), expected);
    assert_eq!(flushes.len() as u64, syncs);
    // One at a time: each was complete before the next was issued.
    assert!(by_fio.iter().all(|io| io.queue_depth == Some(1)));
    let completed: Vec<_> = by_fio.iter().map(|io| io.completed.unwrap()).collect();
    assert!(completed.iter().zip(&by_fio[1..]).all(|(before, next)| *before <= next.issued));

    assert_eq!(header.device_size, Some(Bytes(128 << 20)));
    assert_eq!((header.source.as_str(), header.synthetic), (bench.drive.path(), false));
    assert!(header.recorded_by.contains("block_rq_issue"), "{}", header.recorded_by);
    assert!(header.began_unix_ns > Some(1_700_000_000_000_000_000));
    let said = text(&output.stdout);
    assert!(said.contains("40 trims") && said.contains("0 events lost"), "{said}");
}

#[test]
fn nothing_is_lost_at_ten_thousand_a_second() {
    let Some(bench) = Bench::with(&["losetup", "fio"]) else {
        return;
    };
    let device = format!("--filename={}", bench.drive.path());
    let job = ["--name=rate", "--rw=randrw", "--bs=4k", "--direct=1", "--norandommap"];
    let pace = ["--ioengine=libaio", "--iodepth=16", "--rate_iops=5000,5000"];
    let end = ["--number_ios=50000", "--size=128m", "--io_size=1g", "--output=fio.out"];
    let fio = [&["--out", "t.trace", "--", "fio", &*device], &job[..], &pace, &end].concat();
    assert_code(&bench.record(&fio), 0);

    let (header, ios) = bench.trace("t.trace");
    assert_eq!(header.lost, 0);
    let fio = header.streams.iter().position(|name| name == "fio").unwrap();
    let own: Vec<_> = ios.iter().filter(|io| usize::from(io.stream) == fio).collect();
    assert_eq!(own.len(), 50_000);
    let is_whole = |io: &&&TraceIo| io.completed.is_some() && io.length == Bytes(4096);
    assert_eq!(own.iter().filter(is_whole).count(), 50_000);
    let depths = own.iter().filter_map(|io| io.queue_depth);
    assert!((1..=16).contains(&depths.max().unwrap()));
    // Of the seconds in which the load ran; a busy machine may not let it.
    let seconds: Vec<usize> = own
        .chunk_by(|one, next| one.issued.0 / 1_000_000_000 == next.issued.0 / 1_000_000_000)
        .map(<[_]>::len)
        .collect();
    let fast = seconds.iter().filter(|count| **count >= 9000).count();
    if 2 * fast < seconds.len() - 1 || fast == 0 {
        let _ = writeln!(io::stderr(), "SKIPPED the rate: a busy machine reached only {seconds:?}");
    }
}

#[test]
fn a_replay_that_is_recorded_is_the_trace_again() {
    let Some(bench) = Bench::with(&["losetup", "fio"]) else {
        return;
    };
    let device = bench.drive.path();
    let job = format!(
        "[global]\nfilename={device}\ndirect=1\nsize=64m\n\
         [alone]\nioengine=psync\nrw=randrw\nbssplit=4k/50:16k/50\nnumber_ios=1000\n\
         [deep]\nstonewall\nioengine=libaio\niodepth=4\nrw=randrw\nbs=8k\nnumber_ios=1000\n"
    );
    fs::write(bench.path("job.fio"), job).unwrap();
    let fio = ["--out", "first.trace", "--", "fio", "--output=fio.out", "job.fio"];
    assert_code(&bench.record(&[BUFFER, &fio].concat()), 0);

    // Done again by fio's own operations alone: others may have looked at the device.
    let (header, ios) = bench.trace("first.trace");
    let fio = header.streams.iter().position(|name| name == "fio").unwrap();
    let mut writer = TraceWriter::create(&bench.path("fio.trace"), Existing::Replaced).unwrap();
    let own: Vec<TraceIo> = ios.into_iter().filter(|io| usize::from(io.stream) == fio).collect();
    own.iter().for_each(|io| writer.write(io).unwrap());
    writer.finish(&header).unwrap();
    assert_eq!(own.len(), 2000);

    let replay = ["trace", "replay", "fio.trace", device, "--as-is", "--out", "run"];
    let consent = ["--destroy-data-on", device];
    let program = env!("CARGO_BIN_EXE_writecliff");
    let command = [&["--out", "second.trace", "--", program], &replay[..], &consent].concat();
    assert_code(&bench.record(&[BUFFER, &command].concat()), 0);

    let (header, ios) = bench.trace("second.trace");
    // What would have to wait on its way to the device is issued by a worker of the kernel's.
    let is_ours = |name: &str| name == "writecliff" || name.starts_with("iou-wrk");
    let ours = |io: &TraceIo| is_ours(&header.streams[usize::from(io.stream)]);
    let again: Vec<TraceIo> = ios.into_iter().filter(ours).collect();
    // Before the replay comes what the guard looks at.
    let again = &again[again.len() - own.len()..];
    let (mut now, mut then) = (asked(again), asked(&own));
    assert!(now[..1000] == then[..1000], "one after the other");
    for asked in [&mut now, &mut then] {
        asked.sort_unstable_by_key(|(operation, offset, length)| {
            (*operation as u8, *offset, *length)
        });
    }
    assert!(now == then, "four at a time");
    let depths = |ios: &[TraceIo]| ios.iter().filter_map(|io| io.queue_depth).max().unwrap();
    assert_eq!((depths(&own[..1000]), depths(&again[..1000])), (1, 1));
    assert!(depths(again) <= depths(&own), "{} and {}", depths(again), depths(&own));
}

#[test]
fn a_partition_is_recorded_by_its_own_offsets() {
    let Some(bench) = Bench::with(&["losetup", "addpart", "delpart", "dd"]) else {
        return;
    };
    let disk = bench.drive.path();
    let partition = |program: &str, numbers: &[&str]| {
        Command::new(program).arg(disk).args(numbers).status().unwrap().success()
    };
    assert!(partition("addpart", &["1", "2048", "65536"]));
    let part = format!("{disk}p1");
    let script = format!(
        "d() {{ dd if=/dev/zero bs=64k count=2 oflag=direct conv=notrunc \"$@\"; }}; \
                          d of={part} && d of={disk} && d of={disk} seek=16 && d of={part} seek=5"
    );
    let recorded = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        Path::new(&part).exists()
    });
    let output = bench.record_device(&part, &["--out", "t.trace", "--", "sh", "-c", &script]);
    assert!(partition("delpart", &["1"]) && recorded);
    assert_code(&output, 0);
    let (header, ios) = bench.trace("t.trace");
    assert_eq!(header.device_size, Some(Bytes(65536 * 512)));
    let writes: Vec<u64> = ios
        .iter()
        .filter(|io| io.operation == Operation::Write)
        .map(|io| io.offset.0 / 65536)
        .collect();
    // The disk's own 64 KiB blocks 16 and 17 are the partition's first; its blocks 0 and 1 are not.
    assert_eq!(writes, [0, 1, 0, 1, 5, 6]);
}

#[test]
fn a_disk_without_requests_is_recorded_too() {
    let Some(bench) = Bench::with(&["losetup", "dd", "blkdiscard"]) else {
        return;
    };
    let Ok(zram) = Zram::new(64 << 20) else {
        let _ = writeln!(io::stderr(), "SKIPPED a_disk_without_requests...: it needs zram");
        return;
    };
    let device = zram.path();
    let script = format!(
        "dd if=/dev/zero of={device} bs=64k count=3 oflag=direct conv=notrunc && \
                          blkdiscard --force -o 1M -l 1M {device}"
    );
    let output = bench.record_device(device, &["--out", "t.trace", "--", "sh", "-c", &script]);
    assert_code(&output, 0);
    let (header, ios) = bench.trace("t.trace");
    assert!(header.recorded_by.contains("block_bio_queue"), "{}", header.recorded_by);
    let changes: Vec<_> = asked(&ios).into_iter().filter(|io| io.0 != Operation::Read).collect();
    let write = |block: u64| (Operation::Write, block << 16, 1 << 16);
    let trim = (Operation::Trim, 1 << 20, 1 << 20);
    assert_eq!(changes, [write(0), write(1), write(2), trim]);
    assert!(ios.iter().all(|io| io.completed.is_some()));
}

#[test]
fn a_command_that_fails_keeps_its_trace() {
    let Some(bench) = Bench::with(&["losetup", "dd"]) else {
        return;
    };
    let device = bench.drive.path();
    let script = format!("dd if=/dev/zero of={device} bs=64k count=1 oflag=direct; exit 7");
    let output = bench.record(&["--out", "t.trace", "--", "sh", "-c", &script]);
    assert_code(&output, 1);
    let errors = text(&output.stderr);
    assert!(errors.contains("sh failed (exit status: 7)"), "{errors}");
    let (_, ios) = bench.trace("t.trace");
    assert!(ios.iter().any(|io| io.operation == Operation::Write), "{ios:?}");
}

/// Waits for the first line that shows counts: it records then.
fn recording(bench: &Bench, arguments: &[&str]) -> Child {
    recording_of(bench, bench.drive.path(), arguments)
}

fn recording_of(bench: &Bench, device: &str, arguments: &[&str]) -> Child {
    let mut child = bench.command(device, arguments).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    // What another test's killed recording has left is removed, which is said first.
    while !said.contains("0 lost") {
        assert_ne!(errors.read_line(&mut said).unwrap(), 0, "{said}");
    }
    // Nobody reads it any more, and it must be able to go on.
    thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
    child
}

/// Waits for a recording's end without a signal; one that goes on is a failure after a minute.
fn end_by_itself(mut child: Child) -> Output {
    for _ in 0..600 {
        if child.try_wait().unwrap().is_some() {
            return child.wait_with_output().unwrap();
        }
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    panic!("the recording went on for a minute without its drive");
}

/// What a recording says and keeps that ended because its drive went away, after writes to three
/// blocks of 64 KiB.
fn assert_ended_with_its_drive(bench: &Bench, child: Child, trace: &str) {
    let process = child.id();
    let output = end_by_itself(child);
    assert_code(&output, 1);
    assert!(instances_of(process).is_empty());
    let (_, ios) = bench.trace(trace);
    let writes = asked(&ios).into_iter().filter(|io| io.0 == Operation::Write);
    assert!(writes.eq((4..7).map(|block| (Operation::Write, block << 16, 1 << 16))));
    assert!(text(&output.stdout).contains("3 writes"), "{}", text(&output.stdout));
}

#[test]
fn a_recording_ends_when_its_drive_is_detached_and_says_so() {
    let Some(bench) = Bench::with(&["losetup", "dd", "sleep"]) else {
        return;
    };
    let device = bench.drive.path();
    // Standard error is read by then; the end of it is looked at around a command below.
    let child = recording(&bench, &["--out", "t.trace"]);
    bench.dd(device, 4, 3);
    let detached = Command::new("losetup").args(["--detach", device]).status().unwrap();
    assert!(detached.success());
    assert_ended_with_its_drive(&bench, child, "t.trace");
}

#[test]
fn a_recording_of_a_drive_that_goes_away_names_it_and_where_the_trace_is() {
    let Some(bench) = Bench::with(&["losetup", "sleep"]) else {
        return;
    };
    let script = format!("losetup --detach {} && sleep 3", bench.drive.path());
    let output = bench.record(&["--out", "t.trace", "--", "sh", "-c", &script]);
    assert_code(&output, 1);
    let errors = text(&output.stderr);
    assert!(errors.contains(&format!("{} has gone", bench.drive.path())), "{errors}");
    assert!(errors.contains("recorded before is in t.trace"), "{errors}");
    assert!(bench.path("t.trace").exists());
}

#[test]
fn a_recording_ends_when_its_partition_is_removed() {
    let Some(bench) = Bench::with(&["losetup", "partx", "addpart", "dd"]) else {
        return;
    };
    let disk = bench.drive.path();
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).status().unwrap().success()
    };
    assert!(run("addpart", &[disk, "1", "2048", "65536"]));
    let part = format!("{disk}p1");
    let appeared = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        Path::new(&part).exists()
    });
    assert!(appeared);
    let child = recording_of(&bench, &part, &["--out", "t.trace"]);
    bench.dd(&part, 4, 3);
    // Another partition of the disk is none of its business.
    assert!(run("addpart", &[disk, "2", "131072", "2048"]));
    assert!(run("partx", &["--delete", "--nr", "1", disk]));
    assert_ended_with_its_drive(&bench, child, "t.trace");
    assert!(run("partx", &["--delete", "--nr", "2", disk]));
}

fn tell(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn ctrl_c_ends_a_recording_in_order() {
    let Some(bench) = Bench::with(&["losetup", "dd"]) else {
        return;
    };
    for (signal, name) in [(Signal::INT, "int.trace"), (Signal::TERM, "term.trace")] {
        let child = recording(&bench, &["--out", name]);
        bench.dd(bench.drive.path(), 4, 3);
        assert_eq!(instances_of(child.id()).len(), 1);
        tell(&child, signal);
        let process = child.id();
        let output = child.wait_with_output().unwrap();
        assert_code(&output, 0);
        assert!(instances_of(process).is_empty());
        let (_, ios) = bench.trace(name);
        let writes = asked(&ios).into_iter().filter(|io| io.0 == Operation::Write);
        assert!(writes.eq((4..7).map(|block| (Operation::Write, block << 16, 1 << 16))));
    }
}

#[test]
fn a_recording_tells_how_long_it_was_and_what_it_found() {
    let Some(bench) = Bench::with(&["losetup", "dd"]) else {
        return;
    };
    let idle = bench.record(&["--out", "idle.trace", "--", "sleep", "0.2"]);
    assert_code(&idle, 0);
    let said = text(&idle.stdout);
    // Whoever scans new drives may read this one, too.
    if bench.trace("idle.trace").1.is_empty() {
        assert!(said.contains("nothing was asked of it in the "), "{said}");
        assert!(!said.contains("0 reads"), "{said}");
    }
    let of = format!("of={}", bench.drive.path());
    let dd = ["dd", "if=/dev/zero", "bs=64k", "count=2", "oflag=direct", "conv=notrunc", &of];
    let busy = bench.record(&[&["--out", "busy.trace", "--"], &dd[..]].concat());
    assert_code(&busy, 0);
    let said = text(&busy.stdout);
    assert!(said.contains(" 2 writes (131 kB)"), "{said}");
    let spans = said
        .lines()
        .any(|line| line.starts_with("Recorded for ") && line.contains("; the operations span "));
    assert!(spans, "{said}");
}

#[test]
fn ctrl_c_reaches_the_command_and_is_no_failure() {
    let Some(bench) = Bench::with(&["losetup"]) else {
        return;
    };
    let command = ["sh", "-c", "trap 'echo told > told; exit 3' INT; while :; do sleep 0.1; done"];
    let child = recording(&bench, &[&["--out", "t.trace", "--"], &command[..]].concat());
    tell(&child, Signal::INT);
    assert_code(&child.wait_with_output().unwrap(), 0);
    assert!(bench.path("told").exists());
    assert!(bench.trace("t.trace").1.iter().all(|io| io.operation != Operation::Write));
}

/// A job of fio on the bench's device that reads 4 KiB so many times.
fn read(bench: &Bench, ios: u32) {
    let device = format!("--filename={}", bench.drive.path());
    let job = ["--name=x", "--rw=randread", "--bs=4k", "--direct=1", "--norandommap"];
    let more = ["--ioengine=psync", "--size=128m", "--io_size=1g", "--output=/dev/null"];
    let mut fio = Command::new("fio");
    let fio = fio.args(job).args(more).args([device, format!("--number_ios={ios}")]);
    assert!(fio.status().unwrap().success());
}

#[test]
fn what_is_lost_is_counted_to_the_event() {
    let Some(bench) = Bench::with(&["losetup", "fio"]) else {
        return;
    };
    let before = requests(&bench);
    let child = recording(&bench, &["--out", "t.trace", "--buffer", "64KiB"]);
    tell(&child, Signal::STOP);
    // 2.5 MB of events, most of them on the processors that one process ran on.
    read(&bench, 20_000);
    tell(&child, Signal::CONT);
    tell(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 0);

    let said = text(&output.stdout);
    let passed_over = said.lines().find(|line| line.contains("completions passed over"));
    let number = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    let (header, ios) = bench.trace("t.trace");
    let completions = ios.iter().filter(|io| io.completed.is_some()).count() as u64;
    let issues_lost = 20_000 - ios.len() as u64;
    let completions_lost = 20_000 - completions - passed_over.map_or(0, number);
    assert!(header.lost > 0, "{said}");
    // Whoever looks at all drives of the machine meanwhile loses events, too.
    let of_others = requests(&bench) - before - 20_000;
    let least = issues_lost + completions_lost;
    assert!(
        (least..=least + 2 * of_others).contains(&header.lost),
        "{of_others} of others; {said}"
    );
}

/// What was ever asked of the drive, by the kernel's count.
fn requests(bench: &Bench) -> u64 {
    let name = bench.drive.path().trim_start_matches("/dev/").to_owned();
    let counted = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let counted: Vec<u64> = counted.split_whitespace().map(|n| n.parse().unwrap()).collect();
    // Reads, writes, discards and flushes.
    [0, 4, 11, 15].iter().map(|column| counted[*column]).sum()
}

#[test]
fn what_a_killed_recording_leaves_is_removed_by_the_next() {
    let Some(bench) = Bench::with(&["losetup"]) else {
        return;
    };
    let mut child = recording(&bench, &["--out", "killed.trace"]);
    let process = child.id();
    assert_eq!(instances_of(process).len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    // Others have their own names, and one of a process that lives is not left behind.
    let kept = ["other-1-1".to_owned(), format!("writecliff-{}-77", std::process::id())];
    let kept = kept.map(|name| Path::new(INSTANCES).join(name));
    kept.iter().for_each(|path| fs::create_dir(path).unwrap());

    let output = bench.record(&["--out", "next.trace", "--duration", "100ms"]);
    let still_there = kept.clone().map(|path| path.exists());
    kept.iter().for_each(|path| fs::remove_dir(path).unwrap());
    assert_code(&output, 0);
    assert_eq!(still_there, [true, true]);
    assert!(instances_of(process).is_empty());
    assert!(!bench.path("killed.trace").exists());
    // Nothing without a name outlives its process.
    assert_eq!(partial_files(bench.directory.path()), 0);
}

fn partial_files(directory: &Path) -> usize {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains("partial")).count()
}

/// A small filesystem in memory, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn at(path: PathBuf, size: &str) -> Self {
        fs::create_dir(&path).unwrap();
        let options = ["-t", "tmpfs", "-o", size, "tmpfs"];
        assert!(Command::new("mount").args(options).arg(&path).status().unwrap().success());
        Self(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_ends_a_recording_and_keeps_what_was_recorded() {
    let Some(bench) = Bench::with(&["losetup", "fio"]) else {
        return;
    };
    let disk = SmallDisk::at(bench.path("small"), "size=6m");
    let device = format!("--filename={}", bench.drive.path());
    let job = ["--name=x", "--rw=randread", "--bs=4k", "--direct=1", "--norandommap"];
    let more = ["--ioengine=libaio", "--iodepth=32", "--number_ios=1000000", "--io_size=64g"];
    let fio = [&["fio", &*device, "--output=fio.out", "--size=128m"], &job[..], &more].concat();
    // The recording ends first; nobody needs the rest of the job.
    let script = format!(
        "{} & wait=$!; while kill -0 $wait 2>&-; do \
                          [ -e small/t.trace ] && kill $wait; sleep 0.1; done; true",
        fio.join(" ")
    );
    let command = ["--out", "small/t.trace", "--", "sh", "-c", &*script];
    let output = bench.record(&[BUFFER, &command].concat());
    assert_code(&output, 1);
    let errors = text(&output.stderr);
    assert!(errors.contains("ended early") && errors.contains("No space left"), "{errors}");
    let (_, ios) = bench.trace("small/t.trace");
    assert!(ios.len() >= 65_536 && ios.len() < 1_000_000, "{}", ios.len());
    assert_eq!(partial_files(&disk.0), 0);

    fs::write(disk.0.join("rest"), vec![0; 3 << 20]).unwrap();
    let output = bench.record(&["--out", "small/next.trace", "--duration", "100ms"]);
    assert_code(&output, 1);
    assert!(text(&output.stderr).contains("No space left"), "{}", text(&output.stderr));
    assert!(!disk.0.join("next.trace").exists());
    assert_eq!(partial_files(&disk.0), 0);
}

#[test]
fn a_trace_is_never_written_to_what_is_recorded() {
    let Some(bench) = Bench::with(&["losetup", "mkfs.ext4", "addpart", "delpart"]) else {
        return;
    };
    let device = bench.drive.path();
    let place = bench.path("mounted");
    fs::create_dir(&place).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).status().unwrap().success()
    };
    assert!(run("mkfs.ext4", &["-q", device]));
    assert!(run("mount", &[device, place.to_str().unwrap()]));
    let outputs = ["mounted/t.trace", "t.trace"]
        .map(|out| bench.record(&["--out", out, "--duration", "100ms"]));
    // A loop device of a file on it is on it, too, one layer down.
    fs::File::create(place.join("file")).unwrap().set_len(32 << 20).unwrap();
    let attached = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(place.join("file"))
        .output()
        .unwrap();
    let upper = text(&attached.stdout).trim().to_owned();
    let above = bench.record_device(&upper, &["--out", "mounted/u.trace", "--duration", "100ms"]);
    let detached = run("losetup", &["--detach", &upper]);
    let unmounted = run("umount", &[place.to_str().unwrap()]);
    assert!(detached && unmounted);

    assert_code(&outputs[0], 3);
    let errors = text(&outputs[0].stderr);
    assert!(errors.contains("mounted/t.trace") && errors.contains("another disk"), "{errors}");
    assert_code(&outputs[1], 0);
    // Writing below a loop device is no I/O of its own.
    assert_code(&above, 0);
}

/// What was typed, the exit code, and what the message must say.
#[test]
fn what_cannot_be_recorded_is_said_in_one_line() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("file"), "").unwrap();
    let file = directory.path().join("file").display().to_string();
    let here = directory.path().display().to_string();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["sim:tiny"], 2, "no drive of this system"),
        (&["null:"], 2, "no drive of this system"),
        (&["/dev/null"], 2, "name a block device"),
        (&[&file], 2, "is a plain file"),
        (&[&here], 2, "is a directory"),
        (&["/dev/no-such-drive"], 2, "is not there"),
        (&["/dev/null", "--duration", "5"], 2, "2000s"),
        (&["/dev/null", "--duration", "0s"], 2, "more than nothing"),
        (&["/dev/null", "--buffer", "1KiB"], 2, "64KiB"),
        (&[], 2, "<DEVICE>"),
    ];
    for (arguments, code, expected) in cases {
        let output = command()
            .args(["trace", "record"])
            .args(*arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_trace_that_is_there_is_not_overwritten_and_a_command_must_exist() {
    let Some(bench) = Bench::with(&["losetup"]) else {
        return;
    };
    fs::write(bench.path("t.trace"), "precious").unwrap();
    let output = bench.record(&["--out", "t.trace"]);
    assert_code(&output, 2);
    assert_eq!(fs::read(bench.path("t.trace")).unwrap(), b"precious");
    let output = bench.record(&["--out", "nowhere/t.trace"]);
    assert_code(&output, 2);
    assert!(text(&output.stderr).contains("there is no directory nowhere; make it"));
    let output = bench.record(&["--out", "u.trace", "--", "no-such-program"]);
    assert_code(&output, 2);
    assert!(text(&output.stderr).contains("cannot run no-such-program"));
    assert!(!bench.path("u.trace").exists());
    assert_eq!(partial_files(bench.directory.path()), 0);
}

#[test]
fn without_rights_it_says_so() {
    let Some(bench) = Bench::with(&["losetup", "setpriv"]) else {
        return;
    };
    // Another user who may still read the program and write the directory.
    let program = bench.path("writecliff");
    fs::copy(env!("CARGO_BIN_EXE_writecliff"), &program).unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(bench.directory.path(), all).unwrap();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let output = Command::new("setpriv")
        .args(user)
        .arg(&program)
        .args(["trace", "record", "/dev/null", "--duration", "100ms"])
        .output()
        .unwrap();
    assert_code(&output, 2);
    let record = ["trace", "record", bench.drive.path(), "--out", "t.trace"];
    let mut command = Command::new("setpriv");
    let output = command.args(user).arg(&program).args(record);
    let output = output.current_dir(bench.directory.path()).output().unwrap();
    assert_code(&output, 1);
    assert!(text(&output.stderr).contains("run as root"), "{}", text(&output.stderr));
}
