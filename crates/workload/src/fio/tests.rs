use writecliff_device::{Bytes, Durability, Layout, Nanos, Throughput};

use super::*;
use crate::{Amount, By, Distribution, Gaps, Job, Mix, Of, Order, Pace, RandomShare, Steady, Zone};

fn variable(name: &str) -> Option<String> {
    (name == "DEPTH").then(|| "16".to_owned())
}

fn file(text: &str) -> Result<FioJobs, FioError> {
    read("jobs.fio", text, &variable)
}

/// The only job of a file with these lines in its section.
fn job(lines: &str) -> Job {
    let jobs = file(&format!("[job]\n{lines}\n")).unwrap();
    jobs.list.jobs.into_iter().next().unwrap()
}

fn default() -> Job {
    Job { name: "job".to_owned(), ..Job::default() }
}

#[test]
fn a_job_that_says_nothing_is_our_default() {
    assert_eq!(job(""), default());
}

#[test]
fn options_mean_what_they_mean_to_fio() {
    let kib = Bytes::from_kib;
    let bytes = |bytes| Amount::Bytes(bytes);
    let random = Job { order: Order::Random, ..default() };
    for (lines, expected) in [
        ("rw=randread", random.clone()),
        ("readwrite=randrw\nrwmixread=70", Job { mix: mix(70), ..random }),
        ("rw=rw\nrwmixwrite=20", Job { mix: mix(80), ..default() }),
        ("rw=readwrite", Job { mix: mix(50), ..default() }),
        (
            "size=10%\noffset=1m",
            Job { size: Some(Amount::Percent(10)), offset: bytes(kib(1024)), ..default() },
        ),
        (
            "filesize=8m\noffset=2m\nsize=12m",
            Job {
                end: Some(kib(8192)),
                io_size: Some(bytes(kib(6144))),
                offset: bytes(kib(2048)),
                ..default()
            },
        ),
        ("filesize=0\nsize=8m", Job { size: Some(bytes(kib(8192))), ..default() }),
        (
            "io_limit=1g\nnumber_ios=1k\nloops=3",
            Job {
                io_size: Some(bytes(Bytes::from_gib(1))),
                number_ios: Some(1024),
                loops: 3,
                ..default()
            },
        ),
        ("ioengine=libaio\niodepth=${DEPTH}", Job { queue_depth: 16, ..default() }),
        ("numjobs=4\nstonewall", Job { copies: 4, ..default() }),
        (
            "runtime=2m\ntime_based\nramp_time=500ms",
            Job {
                runtime: Some(Nanos::from_secs(120)),
                time_based: true,
                ramp: Nanos::from_millis(500),
                ..default()
            },
        ),
        ("timeout=60\ntime_based=0", Job { runtime: Some(Nanos::from_secs(60)), ..default() }),
        (
            "thinktime=500\nthinktime_blocks=8",
            Job { pace: Pace::Think { rest: Nanos::from_micros(500), every: 8 }, ..default() },
        ),
        ("rate=10m", Job { pace: Pace::Rate(Throughput(10 << 20)), ..default() }),
        (
            "rw=write\nrate=10m,20m",
            Job {
                mix: Mix { read: 0, write: 100, trim: 0 },
                pace: Pace::Rate(Throughput(20 << 20)),
                ..default()
            },
        ),
        (
            "rw=write\nrate_iops=500,",
            Job { mix: Mix { read: 0, write: 100, trim: 0 }, ..default() },
        ),
        ("rate_iops=500", Job { pace: Pace::Iops(500), ..default() }),
        (
            "random_distribution=zipf:1.2",
            Job { distribution: Distribution::Zipf(1.2), ..default() },
        ),
        (
            "random_distribution=pareto",
            Job { distribution: Distribution::Pareto(0.2), ..default() },
        ),
        (
            "random_distribution=normal:20",
            Job { distribution: Distribution::Normal(20.0), ..default() },
        ),
        ("sync=dsync", Job { durability: Durability::Forced, ..default() }),
        ("sync=1", Job { durability: Durability::Forced, ..default() }),
        ("overwrite=1", Job { layout: Some(Layout::Overwritten), ..default() }),
        ("overwrite=1\nfallocate=none", Job { layout: Some(Layout::Overwritten), ..default() }),
        ("fallocate=none", Job { layout: Some(Layout::Appended), ..default() }),
        ("fallocate=posix", Job { layout: Some(Layout::Preallocated), ..default() }),
        ("sync=0", default()),
        ("fsync=8\nend_fsync=1", Job { flush_every: Some(8), flush_at_end: true, ..default() }),
        (
            "buffer_compress_percentage=40\ndedupe_percentage=10",
            Job { compressible_percent: 40, duplicate_percent: 10, ..default() },
        ),
        ("norandommap\nrandseed=5", Job { once_each: false, seed: Some(5), ..default() }),
        ("kb_base=1000\noffset=4k", Job { offset: bytes(Bytes(4000)), ..default() }),
        ("blockalign=16k", Job { align: Some(kib(16)), ..default() }),
        (
            "rate_process=poisson\nrate_iops=500",
            Job { pace: Pace::Arrivals { iops: 500, gaps: Gaps::Poisson }, ..default() },
        ),
        ("rate_process=poisson", default()),
        (
            "rate=1m\nthinktime=5s\nthinktime_blocks=27",
            Job {
                pace: Pace::Bursts {
                    rate: Throughput(1 << 20),
                    rest: Nanos::from_secs(5),
                    every: 27,
                },
                ..default()
            },
        ),
        (
            "fileoffset=4k\nthreads=1\nnr_files=1\nratecycle=500\nratemin=0",
            Job { offset: bytes(kib(4)), ..default() },
        ),
        ("offset_align=64k", Job { offset_align: Some(kib(64)), ..default() }),
        ("ramp_time=5", Job { ramp: Nanos::from_secs(5), ..default() }),
        ("start_delay=1500ms", Job { start_delay: Nanos::from_millis(1500), ..default() }),
        ("percentage_random=94,0,0", Job { random_percent: share(94, 0, 0), ..default() }),
        ("percentage_random=,92,", Job { random_percent: share(100, 92, 100), ..default() }),
        ("percentage_random=77,54", Job { random_percent: share(77, 54, 54), ..default() }),
        (
            "ss=bw_slope:0.1%\nss_dur=5m\nss_ramp=600\ngroup_reporting",
            Job { steady: Some(STEADY), ..default() },
        ),
    ] {
        assert_eq!(job(lines), expected, "{lines}");
    }
}

const STEADY: Steady = Steady {
    of: Of::Bandwidth,
    by: By::Slope,
    limit_percent: 0.1,
    over: Nanos::from_secs(300),
    after: Nanos::from_secs(600),
    together: true,
};

fn share(read: u8, write: u8, trim: u8) -> RandomShare {
    RandomShare { read, write, trim }
}

/// Reads at 1 MiB/s and writes at 2: each keeps to its own, whatever the mix.
#[test]
fn reads_and_writes_of_one_job_each_have_their_rate() {
    let job = job("rw=randrw\nrwmixread=74\nrate=1m,2m\ntime_based\nruntime=60");
    let (read, write) = (Throughput(1 << 20), Throughput(2 << 20));
    assert_eq!(job.pace, Pace::Rates { read, write });
    let loads: Vec<_> = job.by_rate().iter().map(|load| (load.mix, load.pace)).collect();
    assert_eq!(loads, [(mix(100), Pace::Rate(read)), (mix(0), Pace::Rate(write))]);
}

/// fio says nothing to any of these; the tests beside it show what it makes of them.
#[test]
fn a_split_that_fio_takes_without_a_word_is_taken_with_a_note() {
    for (split, expected, part) in [
        ("4k/33:8k/33:16k/33", vec![(4, 33), (8, 33), (16, 34)], "99 percent"),
        ("4k/80:8k/40", vec![(4, 80), (8, 20)], "120 percent"),
        ("4k/60:36k-60k/40", vec![(4, 60), (36, 40)], "beginning"),
        ("16k/60:20k-128/40", vec![(16, 60), (16, 40)], "multiples"),
    ] {
        let jobs = file(&format!("[a]\nrw=randread\nnorandommap\nbssplit={split}\n")).unwrap();
        let shares = jobs.list.jobs[0].block.of(writecliff_device::Operation::Read).shares();
        let shares: Vec<_> = shares.iter().map(|s| (s.size.0 >> 10, s.weight)).collect();
        assert_eq!(shares, expected, "{split}");
        let is_told = jobs.notes.iter().any(|note| note.text.contains(part));
        assert!(is_told, "{split}: {:?}", jobs.notes);
    }
    let text = "[a]\ndirect=1\nrw=randread\nnorandommap\nbssplit=4k/5.:8k/95\n";
    assert_eq!(file(text).unwrap().notes, [], "that is what it says");
}

fn mix(read: u8) -> Mix {
    Mix { read, write: 100 - read, trim: 0 }
}

#[test]
fn block_sizes_are_one_or_each_or_split() {
    let sizes = |lines: &str| {
        let block = job(lines).block;
        let of = |operation| -> Vec<(u64, u32)> {
            let shares = block.of(operation).shares();
            shares.iter().map(|share| (share.size.0 >> 10, share.weight)).collect()
        };
        use writecliff_device::Operation::{Read, Trim, Write};
        [of(Read), of(Write), of(Trim)]
    };
    let one = |kib| vec![(kib, 1)];
    assert_eq!(sizes("bs=64k"), [one(64), one(64), one(64)]);
    assert_eq!(sizes("blocksize=8k,16k"), [one(8), one(16), one(16)]);
    assert_eq!(sizes("bs=,16k"), [one(4), one(16), one(16)]);
    assert_eq!(sizes("bs=8k,16k,"), [one(8), one(16), one(4)]);
    let split = vec![(4, 60), (64, 40)];
    assert_eq!(sizes("bssplit=4k/60:64k/40"), [split.clone(), split.clone(), split]);
    let rest = vec![(4, 100), (8, 50), (16, 50)];
    assert_eq!(sizes("bssplit=4k/50:8k/:16k/")[0], rest);
    assert_eq!(sizes("bssplit=4k/100,8k/100")[1], [(8, 100)]);
    assert_eq!(sizes("bsrange=4k-16k")[0], [(4, 1), (8, 1), (12, 1), (16, 1)]);
    assert_eq!(sizes("bs=8k\nbssplit=4k/100")[0], [(4, 100)], "the last one counts");
}

#[test]
fn sections_comments_and_globals_as_in_fio() {
    let text = "
; a comment
[global]
bs=8k   # for all
rw=randread ; that follow

[first]
iodepth=4

[global]
rw=write
[second]
stonewall
bs=16k
[third]
";
    let jobs = file(text).unwrap();
    let seen: Vec<_> = jobs.list.jobs.iter().map(|job| (job.order, job.mix, job.group)).collect();
    let write = Mix { read: 0, write: 100, trim: 0 };
    assert_eq!(seen[0], (Order::Random, mix(100), 0));
    assert_eq!(seen[1..], [(Order::Sequential, write, 1), (Order::Sequential, write, 1)]);
    assert_eq!(jobs.list.jobs[1].io_size_max(), Bytes::from_kib(16));
    assert_eq!(jobs.list.jobs[2].io_size_max(), Bytes::from_kib(8));
}

#[test]
fn what_is_not_followed_is_noted() {
    let text = "[global]\nfilename=/dev/${DISK}\nrandrepeat=0\n[a]\ndirect=1\niodepth=8\n[b]\nbuffered=0\n";
    let notes: Vec<_> = file(text).unwrap().notes;
    let seen: Vec<_> = notes.iter().map(|note| (note.line, note.option.as_str())).collect();
    assert_eq!(seen, [(2, "filename"), (3, "randrepeat"), (6, "iodepth=8")]);
    assert!(notes[2].text.contains("ioengine=io_uring"), "{}", notes[2].text);
    let split = file("[a]\ndirect=1\nrw=randread\nbssplit=4k/50:8k/50\n").unwrap().notes;
    assert!(split[0].text.contains("norandommap"), "{split:?}");
}

#[test]
fn what_fio_does_otherwise_where_nothing_is_said_is_noted() {
    let notes = |text: &str| -> Vec<(usize, String)> {
        let notes = file(text).unwrap().notes.into_iter();
        notes.map(|note| (note.line, note.option)).collect()
    };
    let direct = (3, "direct".to_owned());
    assert_eq!(notes("[global]\nrw=read\n[a]\n[b]\nstonewall\n"), [direct], "once");
    assert_eq!(notes("[global]\ndirect\n[a]\n"), []);
    assert_eq!(notes("[a]\nioengine=sg\n"), [], "past the cache by itself");
    let summed = [(3, "group_reporting".to_owned())];
    assert_eq!(notes("[a]\ndirect=1\ngroup_reporting\nnumjobs=4\noffset_increment=1m\n"), summed);
    assert_eq!(notes("[a]\ndirect=1\ngroup_reporting\n[b]\ndirect=1\noffset=1m\n"), summed);
    assert_eq!(notes("[a]\ndirect=1\ngroup_reporting\n"), [], "of one job there is no sum");
    assert_eq!(notes("[a]\ndirect=1\ngroup_reporting=0\nnumjobs=4\noffset_increment=1m\n"), []);
}

/// A job that names no file has one to itself in fio, and so has each copy.
#[test]
fn jobs_that_share_the_drive_and_no_file_are_told() {
    let notes = |text: &str| -> Vec<(usize, String)> {
        let notes = file(&format!("[global]\ndirect=1\n{text}")).unwrap().notes.into_iter();
        notes.map(|note| (note.line, note.option)).collect()
    };
    let shared = |line| [(line, "filename".to_owned())];
    assert_eq!(notes("[a]\nnumjobs=4\n"), shared(3));
    assert_eq!(notes("[a]\n[b]\n"), shared(3), "once");
    assert_eq!(notes("[a]\n[b]\nstonewall\n[c]\n"), shared(4));
    assert_eq!(notes("[a]\nnumjobs=4\noffset_increment=1m\n"), []);
    assert_eq!(notes("[a]\n[b]\noffset=50%\n"), []);
    assert_eq!(notes("[a]\n[b]\nstonewall\n"), []);
    assert_eq!(notes("[/dev/sda]\nnumjobs=4\n"), [], "called after its drive");
    assert_eq!(notes("filename=/dev/sda\n[a]\n[b]\n"), shared(3), "named, as is noted of any");
}

/// kubestr's and dbench's own files say verify=0.
#[test]
fn what_asks_for_nothing_is_as_if_it_were_not_there() {
    let lines = "verify=0\nverify_only=0\nrate_min=0\nzonemode=none\nsync=none\nmax_latency=0\n\
                 rw_sequencer=sequential\ndirect=1\nfill_device=0";
    assert_eq!(job(lines), default());
    assert_eq!(file(&format!("[job]\n{lines}\n")).unwrap().notes, []);
    assert!(file("[job]\nverify_only\n").is_err(), "without a value it is on");
}

#[test]
fn zones_are_those_of_the_span_one_after_the_other() {
    let percent = |zones: &[(u32, u32)]| {
        let zone = |(ios, span): &(u32, u32)| Zone { ios: *ios, span: Amount::Percent(*span) };
        Distribution::Zoned(zones.iter().map(zone).collect())
    };
    for (text, expected) in [
        ("zoned:50/5:30/15:20/", percent(&[(50, 5), (30, 15), (20, 80)])),
        ("zoned:60/10:30/20:8/30:2/40", percent(&[(60, 10), (30, 20), (8, 30), (2, 40)])),
        ("zoned:80/10:10/:10/", percent(&[(80, 10), (10, 45), (10, 45)])),
        (
            "zoned_abs:70/1m:30/15m",
            Distribution::Zoned(vec![
                Zone { ios: 70, span: Amount::Bytes(Bytes::from_mib(1)) },
                Zone { ios: 30, span: Amount::Bytes(Bytes::from_mib(15)) },
            ]),
        ),
    ] {
        assert_eq!(job(&format!("random_distribution={text}")).distribution, expected, "{text}");
    }
}

/// What is wrong is said with file, line, option and what to do.
#[test]
fn what_is_not_supported_is_refused_at_its_line() {
    for (lines, part) in [
        ("iodpeth=4", "did you mean iodepth, "),
        ("frobnicate=1", "run the job with fio"),
        ("verify=crc32c", "run integrity"),
        ("read_iolog=log", "not replayed"),
        ("latency_target=10ms", "rate"),
        ("zonemode=zbd", "zones"),
        ("include other.fio", "put that file's lines here"),
        ("direct=0", "make it direct=1"),
        ("buffered=1", "always direct"),
        ("rate_process=chaotic\nrate_iops=5", "linear or poisson"),
        ("rate_process=poisson\nrate=1m", "give the job rate_iops"),
        ("ioengine=cpuio", "does no I/O"),
        ("ioengine=frobnicate", "io_uring or libaio"),
        ("rw=randread:8", "percentage_random=12"),
        ("rw=read:4k", "added to bs"),
        ("rw=write:-4k", "rw=randwrite"),
        ("sync=2", "sync or dsync"),
        ("iodepth_low=4", "thinktime_blocks"),
        ("rate_min=1m", "suite's target"),
        ("ioengine=rbd", "rbd map"),
        ("clientname=admin\nioengine=rbd", "rbd map"),
        ("random_distribution=zoned:50/5:30/15", "80 percent of I/Os"),
        ("random_distribution=zoned:50/5:50/15", "20 percent of the span"),
        ("random_distribution=zoned:60/10:40/90,50/50:50/50", "each operation"),
        ("random_distribution=zoned", "zoned:50/5"),
        ("random_distribution=zoned_abs:60/20g:40/", "needs its bytes"),
        ("rw=sideways", "it is read, write,"),
        ("bs=4x", "4k or 10g"),
        ("bs=", "is needed"),
        ("bs", "is needed"),
        ("bs=1k,2k,3k,4k", "reads, writes and trims"),
        ("bssplit=4k/80:8k/40:16k", "add up to 120 percent"),
        ("bssplit=4k/many", "0 to 100"),
        ("ss=speed:1%\nss_dur=5", "iops, bw, iops_slope or bw_slope"),
        ("ss=iops:100\nss_dur=5", "in percent of the mean"),
        ("ss=iops:5%", "ss_dur=300"),
        ("startdelay=1-2", "60s"),
        ("percentage_random=110", "0 to 100"),
        ("bsrange=4k-10k", "multiple"),
        ("bsrange=512-1g", "at most 1024 sizes"),
        ("runtime=soon", "60s"),
        ("iodepth=${NOTHING}", "NOTHING is not set"),
        ("iodepth=${DEPTH", "'}'"),
        ("time_based", "runtime=60s"),
        ("rate_iops=5\nthinktime=5", "thinktime goes with rate"),
        ("rate_iops=1\nrw=randrw", "a job of reads and one of writes"),
        ("rate=1m\nrw=randrw", "need time_based"),
        ("rate=1m,\nrw=randrw", "a rate each, or neither"),
        ("random_distribution=zipf:1.2:0.5", "zoned has favourites"),
        ("random_distribution=normal", "normal:20"),
        ("kb_base=7", "1024 or 1000"),
        ("filename=/dev/one:/dev/two", "one more drive"),
        ("nrfiles=2", "only the drive"),
        ("filesize=4k-1m", "a size such as"),
        ("filesize=1m\nsize=1m\noffset=25%", "leave size out"),
        ("ioengine=null", "the drive null:"),
        ("iodepth_mode=stepped:10-130/5", "with stonewall"),
        ("sprandom=1", "loops=2"),
        ("fdp=1", "no placement"),
        ("a b=1", "is no option"),
    ] {
        let error = file(&format!("[job]\n{lines}\n")).expect_err(lines);
        let line = if lines.starts_with("clientname") { 3 } else { 2 };
        assert_eq!((error.file.as_str(), error.line), ("jobs.fio", line), "{error}");
        assert!(error.message.contains(part), "{lines}: {error}");
    }
    for (text, line, part) in [
        ("", 1, "no job"),
        ("[global]\nbs=4k\n", 1, "no job"),
        ("bs=4k\n", 1, "in no section"),
        ("[a]\n[\n", 2, "is no section"),
        ("[a]\n[b]\n[a]\n", 3, "a second job"),
        ("[a]\nfilename=one\n[b]\nfilename=two\n", 4, "line 2 names the first"),
        ("[/dev/sda]\n[/dev/sdb]\n", 2, "filename=/dev/sdb is one more drive"),
        ("[a]\nfilename=/dev/sda\n[/dev/sdb]\nfilename=/dev/sda\n[/dev/sdc]\n", 5, "line 2 names"),
        ("[a]\nnumjobs=2\noffset_increment=1g\nsize=1g\nfilesize=4g\n", 5, "leave size out"),
        ("[a]\nrwmixread=140\nrw=rw\n", 2, "0 to 100"),
        ("[a]\nruntime=5\ntime_based\nnumber_ios=5\n", 4, "fio ignores it"),
        ("[a]\nstonewall\n[b]\nstonewall\nstartdelay=2\n", 3, "its own beginning"),
        ("[a]\nss=iops:5%\nss_dur=3\n[b]\n", 4, "put it into [global]"),
        ("[a]\nrw=rw\nrwmixread=70\nrwmixwrite=70\n", 4, "leave one"),
    ] {
        let error = file(text).expect_err(text);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(part), "{text}: {error}");
    }
}

#[test]
fn no_option_has_two_rows() {
    let mut names: Vec<&str> = OPTIONS.iter().flat_map(|row| row.names).copied().collect();
    names.sort_unstable();
    assert_eq!(names.windows(2).find(|pair| pair[0] == pair[1]), None);
}

/// The table in docs/formats.md is made from [`OPTIONS`]; the message has what it should be.
#[test]
fn the_table_in_the_docs_is_this_one() {
    let docs = include_str!("../../../../docs/formats.md");
    let table = table();
    assert!(docs.contains(&table), "docs/formats.md should have this table:\n\n{table}");
}

fn table() -> String {
    let rows = |wanted: fn(Treatment) -> Option<&'static str>| {
        let mut by_text = Vec::<(String, Vec<String>)>::new();
        for row in OPTIONS {
            let Some(text) = wanted(row.treatment) else { continue };
            let text = match row.idle {
                [] => text.to_owned(),
                idle => format!("unless it is `{}`: {text}", idle.join("` or `")),
            };
            let names = format!("`{}`", row.names.join("`/`"));
            match by_text.iter_mut().find(|(known, _)| *known == text) {
                Some((_, all)) => all.push(names),
                None => by_text.push((text, vec![names])),
            }
        }
        by_text
    };
    let mut table = "| options | | |\n|---|---|---|\n".to_owned();
    let mut add = |what: &str, rows: Vec<(String, Vec<String>)>| {
        for (text, names) in rows {
            table += &format!("| {} | {what} | {text} |\n", names.join(" "));
        }
    };
    add(
        "followed",
        rows(|row| if let Treatment::Followed(text) = row { Some(text) } else { None }),
    );
    add("noted", rows(|row| if let Treatment::Noted(text) = row { Some(text) } else { None }));
    add("refused", rows(|row| if let Treatment::Refused(text) = row { Some(text) } else { None }));
    table
}
