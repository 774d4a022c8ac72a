//! A section's options, put together to a job.

use std::collections::BTreeMap;

use writecliff_device::{Bytes, Durability, Layout, Nanos, Operation, Throughput};

use super::lines::Entry;
use super::value::Value;
use super::{Judged, Note, Treatment, engine, options, split, wrong, zones};
use crate::job::DEFAULT_BLOCK;
use crate::{
    Amount, Blocks, By, Distribution, Gaps, Job, Mix, Of, Order, Pace, RandomShare, Share, Sizes,
    SizesByOperation, Steady,
};

/// More sizes than this in a range are more than anybody means.
const RANGE_MAX: u64 = 1024;

/// The job of a section, from the options that apply to it, later ones before earlier; and whether
/// it waits for those before it.
pub(super) fn job(
    (name, line): (&str, usize),
    entries: impl Iterator<Item = Entry>,
    variable: &dyn Fn(&str) -> Option<String>,
    notes: &mut Vec<Note>,
) -> Judged<(Job, bool)> {
    let options = Options::collect(entries, variable)?;
    options.refuse_the_rest()?;
    let (mix, trim_first, order) = options.direction()?;
    let engine = options.engine()?;
    let Extent { size, end, io_size } = options.extent()?;
    let job = Job {
        name: name.to_owned(),
        mix,
        trim_first,
        order,
        block: options.blocks(notes)?,
        align: options.align()?,
        offset: options.amount("offset")?.unwrap_or(Amount::ZERO),
        offset_increment: options.amount("offset_increment")?.unwrap_or(Amount::ZERO),
        offset_align: options.offset_align()?,
        size,
        end,
        io_size,
        number_ios: options.count("number_ios")?.filter(|count| *count > 0),
        loops: options.number("loops", 1)?,
        queue_depth: options.depth(engine, notes)?,
        compressible_percent: options.compressible()?,
        duplicate_percent: options.percent("dedupe_percentage", 0)?,
        distribution: options.distribution()?,
        random_percent: options.random_percent()?,
        once_each: !options.flag("norandommap")?,
        pace: options.pace(mix, notes)?,
        start_delay: options.time("startdelay", Nanos::from_secs(1))?.unwrap_or(Nanos::ZERO),
        runtime: options.time("runtime", Nanos::from_secs(1))?.filter(|time| *time > Nanos::ZERO),
        time_based: options.flag("time_based")?,
        ramp: options.time("ramp_time", Nanos::from_secs(1))?.unwrap_or(Nanos::ZERO),
        steady: options.steady()?,
        durability: options.durability()?,
        layout: options.layout()?,
        flush_every: options.flush_every()?,
        flush_at_end: options.flag("end_fsync")?,
        seed: options.count("randseed")?,
        group: 0,
        copies: options.number("numjobs", 1)?,
    };
    options.refuse_combinations(&job)?;
    options.note_the_map(&job, notes);
    options.note_the_cache(line, notes);
    Ok((job, options.flag("stonewall")?))
}

/// The rates that a job is given.
enum Rates {
    One(u64),
    Each { read: u64, write: u64 },
}

/// Which part of the drive a job is about, and how many bytes it does.
struct Extent {
    size: Option<Amount>,
    end: Option<Bytes>,
    io_size: Option<Amount>,
}

/// Options that are followed, by their first spelling.
struct Options(BTreeMap<&'static str, Value>);

impl Options {
    fn collect(
        entries: impl Iterator<Item = Entry>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Judged<Self> {
        let mut values = BTreeMap::new();
        for Entry { line, option, value } in entries {
            let Some(row) = options::known(&option) else { continue };
            if !matches!(row.treatment, Treatment::Followed(_)) {
                continue;
            }
            let text = with_variables(line, value.as_deref().unwrap_or_default(), variable)?;
            let value = Value { line, option: row.names[0], text, binary: true };
            values.insert(row.names[0], value);
        }
        let binary = match values.get("kb_base").map(|value| (value, value.text.as_str())) {
            None | Some((_, "1024")) => true,
            Some((_, "1000")) => false,
            Some((value, _)) => return value.refuse("it is 1024 or 1000"),
        };
        values.values_mut().for_each(|value| value.binary = binary);
        Ok(Self(values))
    }

    fn get(&self, option: &str) -> Option<&Value> {
        self.0.get(option)
    }

    fn flag(&self, option: &str) -> Judged<bool> {
        self.get(option).map_or(Ok(false), Value::flag)
    }

    fn count(&self, option: &str) -> Judged<Option<u64>> {
        self.get(option).map(Value::count).transpose()
    }

    fn number<T: TryFrom<u64>>(&self, option: &str, default: T) -> Judged<T> {
        self.get(option).map_or(Ok(default), Value::small)
    }

    fn percent(&self, option: &str, default: u8) -> Judged<u8> {
        self.get(option).map_or(Ok(default), Value::percent)
    }

    fn time(&self, option: &str, unit: Nanos) -> Judged<Option<Nanos>> {
        self.get(option).map(|value| value.time(unit)).transpose()
    }

    fn amount(&self, option: &str) -> Judged<Option<Amount>> {
        let amount = |value: &Value| match value.text.strip_suffix('%') {
            Some(percent) => match percent.parse() {
                Ok(percent) => Ok(Amount::Percent(percent)),
                Err(_) => value.refuse("whole percent such as 25% are needed"),
            },
            None => value.size().map(Amount::Bytes),
        };
        self.get(option).map(amount).transpose()
    }

    /// What can be asked of these options is only part of what fio takes.
    fn refuse_the_rest(&self) -> Judged<()> {
        let only = [
            (
                "direct",
                ["1"].as_slice(),
                "I/O is always direct, past the page cache; make it direct=1",
            ),
            ("buffered", &["0"], "I/O is always direct, past the page cache; make it direct=1"),
            ("nrfiles", &["1"], "there are no files, only the drive; leave it out"),
        ];
        for (option, good, instead) in only {
            let bare = option == "direct";
            if let Some(value) = self.get(option)
                && !good.contains(&value.text.as_str())
                && !(bare && value.text.is_empty())
            {
                return value.refuse(format!("not supported: {instead}"));
            }
        }
        Ok(())
    }

    fn direction(&self) -> Judged<(Mix, bool, Order)> {
        let text = self.get("rw").map_or("read", |value| value.text.as_str());
        let only = |operation| Ok((Mix::only(operation), false));
        let (order, kind) = match text.strip_prefix("rand") {
            Some(kind) => (Order::Random, kind),
            None => (Order::Sequential, text),
        };
        let (mix, trim_first) = match (kind, self.get("rw")) {
            ("read", _) => only(Operation::Read),
            ("write", _) => only(Operation::Write),
            ("trim", _) => only(Operation::Trim),
            ("rw", _) => Ok((self.read_write_mix()?, false)),
            ("readwrite", _) if order == Order::Sequential => Ok((self.read_write_mix()?, false)),
            ("trimwrite", _) => Ok((Mix::only(Operation::Write), true)),
            (kind, Some(value)) if kind.contains(':') => value.refuse(stepped(order, kind)),
            (_, Some(value)) => value.refuse(
                "it is read, write, randread, randwrite, rw, readwrite, randrw, trim, randtrim, \
                 trimwrite or randtrimwrite",
            ),
            (_, None) => unreachable!("the default is read"),
        }?;
        Ok((mix, trim_first, order))
    }

    /// What was said last counts in fio; where both are said they must agree here.
    fn read_write_mix(&self) -> Judged<Mix> {
        let read = self.get("rwmixread").map(Value::percent).transpose()?;
        let write = self.get("rwmixwrite").map(Value::percent).transpose()?;
        if let (Some(read), Some(write), Some(value)) = (read, write, self.get("rwmixwrite"))
            && read + write != 100
        {
            return value.refuse(format!("rwmixread is {read}; leave one of the two out"));
        }
        let read = read.or(write.map(|write| 100 - write)).unwrap_or(50);
        Ok(Mix { read, write: 100 - read, trim: 0 })
    }

    fn blocks(&self, notes: &mut Vec<Note>) -> Judged<Blocks> {
        let default = Sizes::One(DEFAULT_BLOCK);
        let last = ["bs", "bsrange", "bssplit"].iter().filter_map(|option| self.get(option));
        let Some(value) = last.max_by_key(|value| value.line) else {
            return Ok(Blocks::Same(default));
        };
        let parse = |value: &Value| match value.option {
            _ if value.text.is_empty() => Ok(default.clone()),
            "bsrange" => range(value),
            "bssplit" => split::sizes(value, notes),
            _ => value.size().map(Sizes::One),
        };
        let parts = value.parts();
        let sizes: Vec<Sizes> = parts.iter().map(parse).collect::<Judged<_>>()?;
        match sizes.as_slice() {
            [all] if !value.text.is_empty() => Ok(Blocks::Same(all.clone())),
            [read, write] => Ok(each(read, write, write)),
            [read, write, trim] => Ok(each(read, write, trim)),
            _ => value.refuse("a value, or one for reads, writes and trims each, is needed"),
        }
    }

    /// How long the span is, where the drive ends, and how much is done. With filesize, size is only
    /// the latter, and no more than there is.
    fn extent(&self) -> Judged<Extent> {
        let size = self.amount("size")?;
        let io_size = self.amount("io_size")?.filter(|amount| *amount != Amount::ZERO);
        let value = self.get("filesize").filter(|value| value.text != "0");
        let Some(value) = value else { return Ok(Extent { size, end: None, io_size }) };
        let end = value.size()?;
        let beginning = match self.amount("offset")?.unwrap_or(Amount::ZERO) {
            Amount::Bytes(offset) if !self.has_copies_apart()? => Some(offset),
            _ => None,
        };
        let done = match (size, beginning) {
            (Some(size), Some(offset)) => {
                let length = Bytes(end.0.saturating_sub(offset.0));
                Some(Amount::Bytes(size.of(end).min(length)))
            }
            (Some(_), None) if io_size.is_none() => {
                let message = "how much of size there is depends on the offset, in percent or of \
                               each copy; leave size out, or say io_size";
                return value.refuse(message);
            }
            _ => None,
        };
        Ok(Extent { size: None, end: Some(end), io_size: io_size.or(done) })
    }

    /// Whether copies begin at places of their own.
    fn has_copies_apart(&self) -> Judged<bool> {
        let increment = self.amount("offset_increment")?.unwrap_or(Amount::ZERO);
        Ok(increment != Amount::ZERO && self.number("numjobs", 1_u32)? > 1)
    }

    fn align(&self) -> Judged<Option<Bytes>> {
        let Some(value) = self.get("ba") else { return Ok(None) };
        if value.parts().len() > 1 {
            return value.refuse("one for all operations is supported");
        }
        value.size().map(|size| Some(size).filter(|size| size.0 > 0))
    }

    fn distribution(&self) -> Judged<Distribution> {
        let Some(value) = self.get("random_distribution") else {
            return Ok(Distribution::Uniform);
        };
        let mut parts = value.text.split(':');
        let name = parts.next().unwrap_or_default();
        if let "zoned" | "zoned_abs" = name {
            return zones::distribution(value, name == "zoned_abs");
        }
        let number = |default: f64| match value.text.split(':').nth(1) {
            Some(text) => Value { text: text.to_owned(), ..value.clone() }.fraction(),
            None => Ok(default),
        };
        if parts.count() > 1 && name != "random" {
            return value.refuse(format!(
                "a centre is not supported, favourites lie scattered; {name} without it has the same \
                 shares, and zoned has favourites at places of your choice"
            ));
        }
        // The defaults are fio's.
        match name {
            "random" => Ok(Distribution::Uniform),
            "zipf" => Ok(Distribution::Zipf(number(1.1)?)),
            "pareto" => Ok(Distribution::Pareto(number(0.2)?)),
            "normal" | "gauss" => match number(0.0)? {
                0.0 => value.refuse("a deviation in percent is needed, such as normal:20"),
                percent => Ok(Distribution::Normal(percent)),
            },
            _ => value
                .refuse("it is random, zipf:1.2, pareto:0.2, normal:20 or zoned:50/5:30/15:20/80"),
        }
    }

    fn engine(&self) -> Judged<bool> {
        self.get("ioengine").map_or(Ok(false), engine::is_asynchronous)
    }

    /// A synchronous engine has one I/O in flight whatever the depth, which few people mean.
    fn depth(&self, is_asynchronous: bool, notes: &mut Vec<Note>) -> Judged<usize> {
        let depth = self.number("iodepth", 1)?;
        if is_asynchronous || depth <= 1 {
            return Ok(depth);
        }
        if let Some(value) = self.get("iodepth") {
            let text = "has no effect, as in fio: the ioengine (psync by default) is synchronous; \
                        ioengine=io_uring or libaio has so many in flight";
            let option = format!("iodepth={depth}");
            notes.push(Note { line: value.line, option, text: text.to_owned() });
        }
        Ok(1)
    }

    fn compressible(&self) -> Judged<u8> {
        if self.flag("zero_buffers")? {
            return Ok(100);
        }
        self.percent("buffer_compress_percentage", 0)
    }

    /// To a drive, data and all of a file are the same.
    fn durability(&self) -> Judged<Durability> {
        let Some(value) = self.get("sync") else { return Ok(Durability::Later) };
        match value.text.as_str() {
            "none" | "0" => Ok(Durability::Later),
            "sync" | "dsync" | "1" => Ok(Durability::Forced),
            _ => value.refuse("it is none, sync or dsync"),
        }
    }

    /// What fio does with a file before the job: writes it, has its space set aside, or neither.
    fn layout(&self) -> Judged<Option<Layout>> {
        if self.flag("overwrite")? {
            return Ok(Some(Layout::Overwritten));
        }
        let Some(value) = self.get("fallocate") else { return Ok(None) };
        match value.text.as_str() {
            "none" | "truncate" | "0" => Ok(Some(Layout::Appended)),
            "native" | "posix" | "keep" | "1" => Ok(Some(Layout::Preallocated)),
            _ => value.refuse("it is none, native, posix, keep or truncate"),
        }
    }

    fn flush_every(&self) -> Judged<Option<u32>> {
        let every = |option| self.number(option, 0);
        let (full, data): (u32, u32) = (every("fsync")?, every("fdatasync")?);
        if let (Some(value), 1.., 1..) = (self.get("fdatasync"), full, data) {
            return value.refuse("fsync is there as well; leave one of the two out");
        }
        Ok(Some(full.max(data)).filter(|every| *every > 0))
    }

    fn pace(&self, mix: Mix, notes: &mut Vec<Note>) -> Judged<Pace> {
        let rest = self.time("thinktime", Nanos::from_micros(1))?.filter(|rest| rest.0 > 0);
        let think = rest
            .map(|rest| {
                let every = self.number("thinktime_blocks", 1)?;
                Ok(Pace::Think { rest, every })
            })
            .transpose()?;
        let bytes = self.rate("rate", mix)?.map(|rates| match rates {
            Rates::One(rate) => Pace::Rate(Throughput(rate)),
            Rates::Each { read, write } => {
                Pace::Rates { read: Throughput(read), write: Throughput(write) }
            }
        });
        let ios = match (self.rate("rate_iops", mix)?, self.get("rate_iops")) {
            (Some(Rates::One(rate)), _) => Some(Pace::Iops(rate)),
            (Some(Rates::Each { .. }), Some(value)) => {
                let message = "fio gives reads and writes this rate each; make a job of reads and \
                               one of writes, each with its rate";
                return value.refuse(message);
            }
            _ => None,
        };
        let paces: Vec<Pace> = [think, bytes, ios].into_iter().flatten().collect();
        match (paces.as_slice(), self.get("rate_iops").or(self.get("rate"))) {
            ([], _) => Ok(Pace::Closed),
            ([pace], _) => self.arrivals(*pace, notes),
            ([Pace::Think { rest, every }, Pace::Rate(rate)], _) => {
                Ok(Pace::Bursts { rate: *rate, rest: *rest, every: *every })
            }
            (_, Some(value)) => {
                value.refuse("a job has rate or rate_iops; of these, thinktime goes with rate")
            }
            (_, None) => unreachable!("two paces are not both think times"),
        }
    }

    /// The same rate as users come, if that is asked for.
    fn arrivals(&self, pace: Pace, notes: &mut Vec<Note>) -> Judged<Pace> {
        let Some(value) = self.get("rate_process") else { return Ok(pace) };
        let iops = match (value.text.as_str(), pace) {
            ("linear", _) | ("poisson", Pace::Closed | Pace::Think { .. }) => return Ok(pace),
            ("poisson", Pace::Iops(iops)) => iops,
            ("poisson", _) => return value.refuse("give the job rate_iops, for one operation"),
            _ => return value.refuse("it is linear or poisson"),
        };
        let text = "latency counts from when an I/O is due; fio's counts from when it begins";
        notes.push(Note { line: value.line, option: value.option.into(), text: text.into() });
        Ok(Pace::Arrivals { iops, gaps: Gaps::Poisson })
    }

    /// The rate of the operations that the job has: of one, or of reads and writes each.
    fn rate(&self, option: &str, mix: Mix) -> Judged<Option<Rates>> {
        let Some(value) = self.get(option) else { return Ok(None) };
        let parts = value.parts();
        let of = |operation: Operation| -> Judged<Option<u64>> {
            let part = parts.get(operation as usize).or(parts.last());
            let rate = part.filter(|part| !part.text.is_empty()).map(Value::count).transpose()?;
            Ok(rate.filter(|rate| *rate > 0))
        };
        let operations: Vec<Operation> = mix.operations().collect();
        let rates = match operations.as_slice() {
            [operation] => of(*operation)?.map(Rates::One),
            _ => match (of(Operation::Read)?, of(Operation::Write)?) {
                (Some(read), Some(write)) => Some(Rates::Each { read, write }),
                (None, None) => None,
                _ => return value.refuse("give reads and writes a rate each, or neither"),
            },
        };
        Ok(rates)
    }

    fn random_percent(&self) -> Judged<RandomShare> {
        let Some(value) = self.get("percentage_random") else {
            return Ok(RandomShare::default());
        };
        let parts = value.parts();
        let of = |index: usize| match parts.get(index).or(parts.last()) {
            Some(part) if !part.text.is_empty() => part.percent(),
            _ => Ok(100),
        };
        Ok(RandomShare { read: of(0)?, write: of(1)?, trim: of(2)? })
    }

    fn offset_align(&self) -> Judged<Option<Bytes>> {
        let align = self.get("offset_align").map(Value::size).transpose()?;
        Ok(align.filter(|align| align.0 > 0))
    }

    /// `bw_slope:0.1%`: the rate, how it is judged, and how near is near enough.
    fn steady(&self) -> Judged<Option<Steady>> {
        let Some(value) = self.get("steadystate") else { return Ok(None) };
        let (what, limit) = value.text.split_once(':').unwrap_or((&value.text, ""));
        let (of, by) = match what {
            "iops" => (Of::Iops, By::Deviation),
            "iops_slope" => (Of::Iops, By::Slope),
            "bw" => (Of::Bandwidth, By::Deviation),
            "bw_slope" => (Of::Bandwidth, By::Slope),
            _ => return value.refuse("it is iops, bw, iops_slope or bw_slope, and a limit"),
        };
        let Some(limit) = limit.strip_suffix('%') else {
            return value.refuse("the limit is in percent of the mean, such as bw_slope:0.1%");
        };
        let limit_percent = value.part(limit).fraction()?;
        let second = Nanos::from_secs(1);
        // fio judges over no time at all unless it is told.
        let Some(over) = self.time("steadystate_duration", second)?.filter(|time| time.0 > 0)
        else {
            return value.refuse("the seconds that are judged together are needed: ss_dur=300");
        };
        let after = self.time("steadystate_ramp_time", second)?.unwrap_or(Nanos::ZERO);
        let together = self.flag("group_reporting")?;
        Ok(Some(Steady { of, by, limit_percent, over, after, together }))
    }

    fn refuse_combinations(&self, job: &Job) -> Judged<()> {
        if let (true, Some(value)) = (job.time_based, self.get("number_ios"))
            && job.number_ios.is_some()
        {
            return value.refuse("fio ignores it beside time_based; leave one of the two out");
        }
        if let (true, None, Some(value)) = (job.time_based, job.runtime, self.get("time_based")) {
            return wrong(value.line, "time_based needs a runtime, such as runtime=60s");
        }
        if let (Pace::Rates { .. }, false, Some(value)) =
            (job.pace, job.time_based, self.get("rate"))
        {
            let message = "reads and writes at rates of their own need time_based and a runtime";
            return value.refuse(message);
        }
        Ok(())
    }

    /// What says nothing of the page cache goes through it in fio, which hides the drive.
    fn note_the_cache(&self, line: usize, notes: &mut Vec<Note>) {
        let engine = self.get("ioengine").map_or("", |value| &value.text);
        let is_told = ["direct", "buffered"].iter().any(|option| self.get(option).is_some());
        let is_noted = notes.iter().any(|note| note.option == "direct");
        if is_told || is_noted || engine::is_past_the_cache(engine) {
            return;
        }
        let text = "is left out, which is buffered in fio; here I/O on a drive is direct, past the page cache, as \
                    with direct=1 (in a directory, with --in, through it)";
        notes.push(Note { line, option: "direct".to_owned(), text: text.to_owned() });
    }

    /// fio cuts blocks short to visit everything once; with blocks of several sizes that changes
    /// the sizes that were asked for.
    fn note_the_map(&self, job: &Job, notes: &mut Vec<Note>) {
        let wants_map = job.once_each
            && job.order == Order::Random
            && job.distribution == Distribution::Uniform
            && job.align.is_none();
        let options = ["percentage_random", "bs", "bsrange", "bssplit"];
        let value = options.iter().find_map(|option| self.get(option));
        if let (true, false, Some(value)) = (wants_map, job.visits_once(), value) {
            let text = match value.option {
                "percentage_random" => "places may repeat, as with norandommap",
                _ => "blocks of several sizes go to places that may repeat, as with norandommap",
            };
            let option = value.option.to_owned();
            notes.push(Note { line: value.line, option, text: text.to_owned() });
        }
    }
}

/// What comes nearest to an order with steps, such as `read:4k`, `read:-4k` or `randread:8`.
fn stepped(order: Order, kind: &str) -> String {
    let (kind, step) = kind.split_once(':').unwrap_or((kind, ""));
    let every = step.parse::<u64>().ok().filter(|every| (1..=100).contains(every));
    let nearest = match (order, every) {
        (Order::Random, Some(every)) => format!(
            "percentage_random={} comes nearest: so many of the I/Os go anywhere, the others on from \
             there",
            100 / every
        ),
        (Order::Random, None) => "leave them out".to_owned(),
        (Order::Sequential, _) if step.starts_with('-') => {
            format!("backwards nothing is read ahead, to which rw=rand{kind} comes nearest")
        }
        (Order::Sequential, _) => format!(
            "rw={kind} with the step added to bs touches as much of the drive, rw=rand{kind} as little \
             in one piece"
        ),
    };
    format!("steps behind ':' are not supported; {nearest}")
}

fn each(read: &Sizes, write: &Sizes, trim: &Sizes) -> Blocks {
    let (read, write, trim) = (read.clone(), write.clone(), trim.clone());
    Blocks::Each(SizesByOperation { read, write, trim })
}

/// `4k-16k`: every multiple of the shorter up to the longer, all alike, as fio draws them.
fn range(value: &Value) -> Judged<Sizes> {
    let Some((shortest, longest)) = value.text.split_once('-') else {
        return value.refuse("a range such as 4k-64k is needed");
    };
    let (shortest, longest) = (value.part(shortest).size()?.0, value.part(longest).size()?.0);
    if shortest == 0 || longest < shortest || !longest.is_multiple_of(shortest) {
        return value.refuse("the longer size must be a multiple of the shorter; or use bssplit");
    }
    if longest / shortest > RANGE_MAX {
        return value.refuse(format!("at most {RANGE_MAX} sizes are supported; use bssplit"));
    }
    let sizes = (1..=longest / shortest).map(|times| Bytes(shortest * times));
    Ok(Sizes::Split(sizes.map(|size| Share { size, weight: 1 }).collect()))
}

/// The text with every `${NAME}` replaced.
fn with_variables(
    line: usize,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Judged<String> {
    let Some((before, rest)) = text.split_once("${") else {
        return Ok(text.to_owned());
    };
    let Some((name, after)) = rest.split_once('}') else {
        return wrong(line, format!("'{text}' lacks the '}}' of a variable"));
    };
    let Some(value) = variable(name) else {
        return wrong(line, format!("the variable {name} is not set; set it, or write its value"));
    };
    Ok(format!("{before}{value}{}", with_variables(line, after, variable)?))
}
