//! Every option of fio that is known here, and what becomes of it.

use writecliff_device::did_you_mean;

use super::lines::Entry;
use super::{Judged, Note, wrong};

/// A row of the table of options.
#[derive(Debug)]
pub struct OptionEntry {
    /// As fio lists it, then its other spellings.
    pub names: &'static [&'static str],
    /// What becomes of it.
    pub treatment: Treatment,
    /// Values with which it asks for nothing, fio's default among them: the same as leaving it out.
    pub idle: &'static [&'static str],
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// The job does what it says; the text says how far, where that is not all.
    Followed(&'static str),
    /// It cannot change the I/O, or Writecliff has its own way; the text says which.
    Noted(&'static str),
    /// The job would not do what its file says; the text says what to do instead.
    Refused(&'static str),
}

use Treatment::{Followed, Noted, Refused};

const fn row(names: &'static [&'static str], treatment: Treatment) -> OptionEntry {
    OptionEntry { names, treatment, idle: &[] }
}

/// An option that is refused unless it is off.
const fn off(names: &'static [&'static str], instead: &'static str) -> OptionEntry {
    unless(names, &["0"], instead)
}

/// An option that is refused but for these values.
const fn unless(
    names: &'static [&'static str],
    idle: &'static [&'static str],
    instead: &'static str,
) -> OptionEntry {
    OptionEntry { names, treatment: Refused(instead), idle }
}

const DRIVE: &str = "the drive is the one named on the command line";
const DIRECTORY: &str = "the drive is the one named on the command line; with `--in DIRECTORY` in its place, jobs whose \
                         writes are flushed or forced run in a file there";
const ENGINE: &str = "I/O goes through Writecliff's own engine";
const RECORD: &str = "Writecliff keeps its own record, a sample every second";
const HOST: &str = "how Writecliff runs on the host is not part of a job";
const DATA: &str = "data are always random, and new in every block, but for the content class";
const VERIFY: &str = "a job's data are not verified; leave it out: `writecliff run integrity` verifies the whole drive";
const PLACEMENT: &str = "writes carry no placement; leave it out";
const SPRANDOM: &str = "the drive is not brought into its steady state in one pass; rw=randwrite with \
                        loops=2 comes nearest";
const FILES: &str = "there are no files, only the drive; leave it out";
const ZONES: &str = "zones are not supported; use size and offset, a job for each";
const TRACE: &str =
    "I/O logs are not replayed by jobs; `writecliff trace convert` and `trace replay` do that";
const TARGETS: &str = "a job's load does not depend on its latency; give it an iodepth or a rate, or see \
                       `writecliff run latency-at-load`";
const PROFILE: &str = "leave it out and say what the job is to do in options";

/// All options. What is in none of the rows is refused as unknown.
pub const OPTIONS: &[OptionEntry] = &[
    row(&["rw", "readwrite"], Followed("without `:N` behind it")),
    row(&["rwmixread"], Followed("")),
    row(&["rwmixwrite"], Followed("")),
    row(&["bs", "blocksize"], Followed("")),
    row(&["bsrange", "blocksize_range"], Followed("if the longer is a multiple of the shorter")),
    row(
        &["bssplit"],
        Followed(
            "as fio takes it, with a note: of a range only its beginning, sizes rounded down to \
             multiples of the shortest, what is missing to 100 percent for the last, what is beyond \
             it for nobody",
        ),
    ),
    row(&["ba", "blockalign"], Followed("one for all operations; turns the random map off")),
    row(&["offset", "fileoffset"], Followed("")),
    row(&["offset_increment"], Followed("")),
    row(&["size"], Followed("")),
    row(
        &["filesize"],
        Followed(
            "as in fio: the drive ends there for the job, and size is only how much is done; no range",
        ),
    ),
    row(&["io_size", "io_limit"], Followed("")),
    row(&["number_ios"], Followed("not beside time_based")),
    row(&["loops"], Followed("")),
    row(
        &["iodepth"],
        Followed(
            "1 with a synchronous ioengine, as in fio; what all jobs of a group have in flight beyond \
             what the drive takes waits in the host, with a note",
        ),
    ),
    row(&["numjobs"], Followed("")),
    row(&["stonewall", "wait_for_previous"], Followed("")),
    row(&["norandommap"], Followed("")),
    row(
        &["random_distribution"],
        Followed(
            "random, zipf, pareto, normal, without centre; zoned, zoned_abs, alike for all operations, \
                  as with norandommap",
        ),
    ),
    row(&["percentage_random"], Followed("below 100 as with norandommap")),
    row(&["thinktime"], Followed("")),
    row(&["thinktime_blocks"], Followed("")),
    row(
        &["rate"],
        Followed(
            "reads and writes of one job each at theirs, if it is time_based, each with the iodepth for itself",
        ),
    ),
    row(&["rate_iops"], Followed("for jobs of one operation")),
    row(&["rate_process"], Followed("poisson with rate_iops, and with latency from the due time")),
    row(&["runtime", "timeout"], Followed("")),
    row(&["time_based"], Followed("")),
    row(&["ramp_time"], Followed("")),
    row(&["startdelay", "start_delay"], Followed("one time; not behind stonewall")),
    row(&["offset_align"], Followed("")),
    row(
        &["group_reporting"],
        Followed(
            "only whether the sum of all jobs is to be steady; every job is reported by itself, with a \
             note",
        ),
    ),
    row(
        &["steadystate", "ss"],
        Followed("with a limit in percent; the same for all jobs of a group"),
    ),
    row(&["steadystate_duration", "ss_dur"], Followed("")),
    row(&["steadystate_ramp_time", "ss_ramp"], Followed("")),
    row(&["fsync"], Followed("a flush; only a write brings one about")),
    row(&["fdatasync"], Followed("as fsync")),
    row(&["end_fsync"], Followed("")),
    row(&["randseed"], Followed("the seed decides here too, but not the same places as in fio")),
    row(&["buffer_compress_percentage"], Followed("")),
    row(&["dedupe_percentage"], Followed("")),
    row(&["zero_buffers"], Followed("as 100 % compressible")),
    row(&["kb_base"], Followed("")),
    row(&["ioengine"], Followed("only whether it is synchronous; refused if not for drives")),
    row(&["direct"], Followed("I/O is always direct; left out, a note; direct=0 is refused")),
    row(&["buffered"], Followed("buffered=1 is refused")),
    row(&["nrfiles", "nr_files"], Followed("1 only")),
    row(&["sync"], Followed("sync and dsync alike: writes are forced (FUA)")),
    row(
        &["fallocate"],
        Followed("of a file in a directory: truncate as none, a file that grows; keep as native"),
    ),
    row(&["overwrite"], Followed("of a file in a directory; a drive is as it is")),
    row(&["filename"], Noted(DRIVE)),
    row(&["directory"], Noted(DIRECTORY)),
    row(&["filename_format"], Noted(DRIVE)),
    row(&["unique_filename"], Noted(DRIVE)),
    row(&["openfiles"], Noted(DRIVE)),
    row(&["file_service_type"], Noted(DRIVE)),
    row(&["lockfile"], Noted(DRIVE)),
    row(&["fadvise_hint", "fadvise"], Noted(DRIVE)),
    row(&["unlink"], Noted(DRIVE)),
    row(&["unlink_each_loop"], Noted(DRIVE)),
    row(&["create_serialize"], Noted(DRIVE)),
    row(&["create_fsync"], Noted(DRIVE)),
    row(&["create_on_open"], Noted(DRIVE)),
    row(&["allow_file_create"], Noted(DRIVE)),
    row(&["allow_mounted_write"], Noted("a drive in use is never written to")),
    row(&["invalidate"], Noted("I/O is always direct")),
    row(&["pre_read"], Noted("I/O is always direct")),
    row(&["fsync_on_close"], Noted(DRIVE)),
    row(&["name"], Noted("a job is called what its section is")),
    row(&["description"], Noted("for people")),
    row(&["new_group"], Noted("every job is reported by itself")),
    row(&["unified_rw_reporting"], Noted("every job is reported by itself")),
    row(&["stats"], Noted("every job is reported by itself")),
    row(&["thread", "threads"], Noted(HOST)),
    row(&["iodepth_batch", "iodepth_batch_submit"], Noted(ENGINE)),
    row(&["iodepth_batch_complete_min", "iodepth_batch_complete"], Noted(ENGINE)),
    row(&["iodepth_batch_complete_max"], Noted(ENGINE)),
    row(&["io_submit_mode"], Noted(ENGINE)),
    row(&["hipri"], Noted(ENGINE)),
    row(&["fixedbufs"], Noted(ENGINE)),
    row(&["registerfiles"], Noted(ENGINE)),
    row(&["sqthread_poll"], Noted(ENGINE)),
    row(&["sqthread_poll_cpu"], Noted(ENGINE)),
    row(&["nonvectored"], Noted(ENGINE)),
    row(&["uncached"], Noted(ENGINE)),
    row(&["nowait"], Noted(ENGINE)),
    row(&["force_async"], Noted(ENGINE)),
    row(&["cmd_type"], Noted(ENGINE)),
    row(&["userspace_reap"], Noted(ENGINE)),
    row(&["mem", "iomem"], Noted(ENGINE)),
    row(&["mem_align", "iomem_align"], Noted(ENGINE)),
    row(&["hugepage-size"], Noted(ENGINE)),
    row(&["lockmem"], Noted(HOST)),
    row(&["nice"], Noted(HOST)),
    row(&["cpumask"], Noted(HOST)),
    row(&["cpus_allowed"], Noted(HOST)),
    row(&["cpus_allowed_policy"], Noted(HOST)),
    row(&["numa_cpu_nodes"], Noted(HOST)),
    row(&["numa_mem_policy"], Noted(HOST)),
    row(&["cgroup"], Noted(HOST)),
    row(&["cgroup_nodelete"], Noted(HOST)),
    row(&["cgroup_weight"], Noted(HOST)),
    row(&["uid"], Noted(HOST)),
    row(&["gid"], Noted(HOST)),
    row(&["clocksource"], Noted("time is the device's own clock")),
    row(&["gtod_reduce"], Noted(RECORD)),
    row(&["gtod_cpu"], Noted(RECORD)),
    row(&["disable_lat"], Noted(RECORD)),
    row(&["disable_clat"], Noted(RECORD)),
    row(&["disable_slat"], Noted(RECORD)),
    row(&["disable_bw_measurement", "disable_bw"], Noted(RECORD)),
    row(&["disk_util"], Noted(RECORD)),
    row(&["bwavgtime"], Noted(RECORD)),
    row(&["iopsavgtime"], Noted(RECORD)),
    row(&["write_bw_log"], Noted(RECORD)),
    row(&["write_lat_log"], Noted(RECORD)),
    row(&["write_iops_log"], Noted(RECORD)),
    row(&["write_hist_log"], Noted(RECORD)),
    row(&["write_iolog"], Noted("Writecliff keeps every I/O on request")),
    row(&["per_job_logs"], Noted(RECORD)),
    row(&["log_entries"], Noted(RECORD)),
    row(&["log_avg_msec"], Noted(RECORD)),
    row(&["log_hist_msec"], Noted(RECORD)),
    row(&["log_hist_coarseness"], Noted(RECORD)),
    row(&["log_max_value", "log_window_value"], Noted(RECORD)),
    row(&["log_offset"], Noted(RECORD)),
    row(&["log_issue_time"], Noted(RECORD)),
    row(&["log_prio"], Noted(RECORD)),
    row(&["log_compression"], Noted(RECORD)),
    row(&["log_compression_cpus"], Noted(RECORD)),
    row(&["log_store_compressed"], Noted(RECORD)),
    row(&["log_unix_epoch"], Noted(RECORD)),
    row(&["log_alternate_epoch"], Noted(RECORD)),
    row(&["log_alternate_epoch_clock_id"], Noted(RECORD)),
    row(&["block_error_percentiles"], Noted(RECORD)),
    row(&["clat_percentiles"], Noted(RECORD)),
    row(&["lat_percentiles"], Noted(RECORD)),
    row(&["slat_percentiles"], Noted(RECORD)),
    row(&["percentile_list"], Noted(RECORD)),
    row(&["significant_figures"], Noted(RECORD)),
    row(&["unit_base"], Noted(RECORD)),
    row(&["error_dump"], Noted(RECORD)),
    row(&["continue_on_error"], Noted("failed I/Os are counted, and the job goes on")),
    row(&["ignore_error"], Noted("failed I/Os are counted, and the job goes on")),
    row(&["refill_buffers"], Noted(DATA)),
    row(&["scramble_buffers"], Noted(DATA)),
    row(&["buffer_compress_chunk"], Noted("data compress alike in every 4 KiB")),
    row(&["dedupe_global"], Noted(DATA)),
    row(&["randrepeat"], Noted("the run's seed decides whether places repeat")),
    row(&["allrandrepeat"], Noted("the run's seed decides whether places repeat")),
    row(&["random_generator"], Noted("places come from Writecliff's own generator")),
    row(&["thinktime_spin"], Noted("a rest is a rest, whatever the processor does")),
    row(&["thinktime_blocks_type"], Noted("blocks are counted as they are issued")),
    row(&["rate_cycle", "ratecycle"], Noted("due times are exact")),
    row(&["ioscheduler"], Noted("the host's setting stays; it is in the run's record")),
    row(&["exitall_on_error"], Noted("failed I/Os are counted, and the job goes on")),
    row(&["do_verify"], Noted("data are not verified")),
    row(&["verify_state_save"], Noted("data are not verified")),
    row(&["verify_fatal"], Noted("data are not verified")),
    row(&["verify_dump"], Noted("data are not verified")),
    row(&["verify_write_sequence"], Noted("data are not verified")),
    row(&["verify_header_seed"], Noted("data are not verified")),
    off(&["verify"], VERIFY),
    off(&["verify_only"], VERIFY),
    off(&["verify_interval"], VERIFY),
    off(&["verify_offset"], VERIFY),
    row(&["verify_pattern"], Refused(VERIFY)),
    off(&["verify_async"], VERIFY),
    row(&["verify_async_cpus"], Refused(VERIFY)),
    off(&["verify_backlog"], VERIFY),
    off(&["verify_backlog_batch"], VERIFY),
    off(&["verify_state_load"], VERIFY),
    off(&["experimental_verify"], VERIFY),
    off(&["trim_percentage"], "it is part of verify; use rw=randtrim in a job of its own"),
    off(&["trim_verify_zero"], VERIFY),
    off(&["trim_backlog"], VERIFY),
    off(&["trim_backlog_batch"], VERIFY),
    row(&["read_iolog"], Refused(TRACE)),
    off(&["read_iolog_chunked"], TRACE),
    off(&["replay_no_stall"], TRACE),
    row(&["replay_redirect"], Refused(TRACE)),
    unless(&["replay_scale"], &["0", "1"], TRACE),
    off(&["replay_align"], TRACE),
    unless(&["replay_time_scale"], &["100"], TRACE),
    row(&["replay_skip"], Refused(TRACE)),
    row(&["merge_blktrace_file"], Refused(TRACE)),
    row(&["merge_blktrace_scalars"], Refused(TRACE)),
    row(&["merge_blktrace_iters"], Refused(TRACE)),
    unless(
        &["steadystate_check_interval", "ss_interval"],
        &["1", "1s"],
        "rates are looked at every second; leave it out",
    ),
    off(&["latency_target"], TARGETS),
    off(&["latency_window"], TARGETS),
    unless(&["latency_percentile"], &["100", "100.0"], TARGETS),
    off(&["latency_run"], TARGETS),
    off(
        &["max_latency"],
        "no latency ends a job; as figure = \"longest\" of a suite's target it is judged",
    ),
    off(&["rate_min", "ratemin"], "no rate ends a job; as a suite's target it is judged"),
    off(&["rate_iops_min"], "no rate ends a job; as a suite's target it is judged"),
    off(
        &["rate_ignore_thinktime"],
        "what is late after a rest catches up, as by default; leave it out",
    ),
    off(&["thinktime_iotime"], "use thinktime_blocks"),
    off(&["flow"], "use rwmixread, or a rate for each job"),
    off(&["flow_id"], "use rwmixread, or a rate for each job"),
    off(&["flow_sleep"], "use rwmixread, or a rate for each job"),
    row(&["wait_for"], Refused("use stonewall")),
    off(&["exitall"], "give every job the same runtime"),
    unless(&["exit_what"], &["job"], "give every job the same runtime"),
    off(&["serialize_overlap"], "I/Os that overlap are not held back; leave it out"),
    off(
        &["iodepth_low"],
        "the queue is kept full; thinktime=1us with thinktime_blocks=N, which lets it run empty \
             after every N, comes nearest",
    ),
    row(
        &["iodepth_mode"],
        Refused("a job has one depth; a job for each, with stonewall, comes nearest"),
    ),
    unless(&["rw_sequencer"], &["sequential"], "use rw=read or rw=randread"),
    off(
        &["bs_unaligned", "blocksize_unaligned"],
        "direct I/O is in whole LBAs; leave it out, and take sizes that are multiples of them",
    ),
    off(&["bs_is_seq_rand"], "make two jobs, a sequential and a random one"),
    row(&["buffer_pattern"], Refused("use zero_buffers or buffer_compress_percentage")),
    unless(&["dedupe_mode"], &["repeat"], "only the default is there; leave it out"),
    row(
        &["dedupe_working_set_percentage"],
        Refused("only the default mode is there; leave it out"),
    ),
    row(&["sync_file_range"], Refused("use fsync")),
    off(&["write_barrier"], "use fsync"),
    off(&["atomic"], "writes are not asked to be atomic; leave it out"),
    unless(&["write_hint"], &["none"], "writes carry no hint; leave it out"),
    off(&["fdp"], PLACEMENT),
    unless(&["dataplacement"], &["none"], PLACEMENT),
    row(&["fdp_pli", "plids"], Refused(PLACEMENT)),
    row(&["fdp_pli_select", "plid_select"], Refused(PLACEMENT)),
    row(&["prio"], Refused("I/Os have no priority; leave it out")),
    off(&["prioclass"], "I/Os have no priority; leave it out"),
    off(&["cmdprio_percentage"], "I/Os have no priority; leave it out"),
    row(&["cmdprio_class"], Refused("I/Os have no priority; leave it out")),
    row(&["cmdprio"], Refused("I/Os have no priority; leave it out")),
    row(&["cmdprio_bssplit"], Refused("I/Os have no priority; leave it out")),
    off(&["sprandom"], SPRANDOM),
    row(&["spr_op"], Refused(SPRANDOM)),
    row(&["spr_num_regions"], Refused(SPRANDOM)),
    off(&["fill_device", "fill_fs"], "leave it and size out: size is the whole drive"),
    off(&["file_append"], FILES),
    off(&["create_only"], FILES),
    row(&["opendir"], Refused(FILES)),
    unless(&["zonemode"], &["none"], ZONES),
    off(&["zonesize"], ZONES),
    off(&["zonecapacity"], ZONES),
    off(&["zonerange"], ZONES),
    off(&["zoneskip"], ZONES),
    off(&["read_beyond_wp"], ZONES),
    off(&["max_open_zones"], ZONES),
    off(&["job_max_open_zones"], ZONES),
    off(&["ignore_zone_limits"], ZONES),
    row(&["zone_reset_threshold"], Refused(ZONES)),
    row(&["zone_reset_frequency"], Refused(ZONES)),
    row(&["exec_prerun"], Refused("no program is started; leave it out and start it yourself")),
    row(&["exec_postrun"], Refused("no program is started; leave it out and start it yourself")),
    row(&["profile"], Refused(PROFILE)),
];

/// The row of an option, by any of its spellings.
pub(super) fn known(option: &str) -> Option<&'static OptionEntry> {
    OPTIONS.iter().find(|row| row.names.contains(&option))
}

/// Refuses what is not supported, and gives the note on what is not followed.
pub(super) fn judge(entry: &Entry) -> Judged<Option<Note>> {
    let Entry { line, option, value } = entry;
    let row = known(option);
    if row.zip(value.as_deref()).is_some_and(|(row, value)| row.idle.contains(&value)) {
        return Ok(None);
    }
    match row.map(|row| row.treatment) {
        Some(Followed(_)) => Ok(None),
        Some(Noted(text)) => {
            Ok(Some(Note { line: *line, option: option.clone(), text: text.to_owned() }))
        }
        Some(Refused(instead)) => wrong(*line, format!("'{option}' is not supported: {instead}")),
        None => wrong(*line, format!("'{option}' is no option of fio{}", nearest(option))),
    }
}

fn nearest(option: &str) -> String {
    let names = OPTIONS.iter().flat_map(|row| row.names).copied();
    match did_you_mean(option, names) {
        hint if hint.is_empty() => " known here; leave it out, or run the job with fio".to_owned(),
        hint => format!(" known here{hint}"),
    }
}
