//! Recording what is asked of a block device, from the kernel's block tracepoints.
//!
//! ```text
//! Recorder::advance
//!  ├ Drive::look           once a second: is it there, by which disks does its I/O go
//!  ├ Instance::wait        until a buffer of the kernel fills up, or a tenth of a second
//!  ├ drain                 pages of every processor → records → events
//!  ├ settled               those that no other processor can precede any more, by time
//!  └ Operations::take      issue + completion → operation, in order of issue → TraceWriter
//! ```
//!
//! Held true: an operation is recorded as the drive gets it, behind merging and splitting, page
//! cache and scheduler. Memory is bounded, by the kernel's buffers and by what may wait for its
//! completion. What is lost is counted. The kernel's buffer is ours alone and goes with the
//! [`Recorder`]. Left out: the data themselves, so that no content class is known.

mod drive;
mod event;
mod format;
mod instance;
mod operations;
mod page;
mod streams;

use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use writecliff_device::Bytes;

use crate::kernel::What;
use crate::{Existing, Header, RecordError, Summary, TraceWriter};
use drive::Drive;
use event::{Decoder, Told};
use instance::Instance;
use operations::Operations;
use page::PageLayout;

pub use instance::Preparation;
pub use operations::Tally;

/// The longest wait for a buffer to fill up.
const PATIENCE: Duration = Duration::from_millis(100);

/// Events of different processors are put in order when they are this old: an event can be read a
/// moment after its time was taken. A later one still finds its other half ([`Operations`]), and counts
/// as issued with the one before.
const LATENESS_NS: u64 = 50_000_000;

/// What to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What the trace shall call it.
    pub name: String,
    /// Its own number, major and minor: of the disk, or of the partition.
    pub number: (u32, u32),
    /// The numbers by which the tracepoints know it: that of the whole disk first, and those of the
    /// partitions, which count on a disk without requests.
    pub numbers: Vec<(u32, u32)>,
    /// The sectors (of 512 bytes) of the disk that count, for a partition; offsets are from the
    /// first. Flushes have no sector and are recorded wherever on the disk they belong.
    pub sectors: Option<Range<u64>>,
    /// Its size.
    pub size: Bytes,
    /// Whether its driver takes requests. One that takes bios as they come (zram, most mappings
    /// and arrays) has other tracepoints; the disk of NVMe's multipathing has those of its paths.
    pub has_requests: bool,
}

/// A recording that goes on.
#[derive(Debug)]
pub struct Recorder {
    target: Target,
    drive: Drive,
    // Before the writer: it goes first, whatever the writer takes.
    instance: Instance,
    preparation: Preparation,
    layout: PageLayout,
    decoder: Decoder,
    page: Vec<u8>,
    /// Not known yet to be in order.
    events: Vec<Told>,
    operations: Operations,
    writer: TraceWriter,
    /// What the clocks of the trace and of the day differ by.
    unix_epoch_ns: u64,
    cut_off: Option<RecordError>,
}

/// What was recorded up to now.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// All operations that were issued.
    pub issued: Summary,
    /// Operations in flight; `None` as long as no completion was seen.
    pub queue_depth: Option<usize>,
    /// Events that were lost: as many operations at most.
    pub lost: u64,
}

/// How a recording ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// What is in the file.
    pub summary: Summary,
    /// Events that were lost: as many operations at most.
    pub lost: u64,
    /// What else there is to tell.
    pub tally: Tally,
    /// Why it had to end; the file is whole, up to then.
    pub cut_off: Option<RecordError>,
}

impl Recorder {
    /// Begins to record into a new file at `out`. `buffer` is what the kernel may hold for each
    /// processor until it is read.
    ///
    /// # Errors
    /// [`RecordError::Write`]; [`RecordError::NotPermitted`] without root's rights;
    /// [`RecordError::NoTracefs`], [`RecordError::NoTracepoint`] and [`RecordError::Tracefs`] if the
    /// kernel cannot.
    pub fn begin(target: Target, buffer: Bytes, out: &Path) -> Result<Self, RecordError> {
        let writer = TraceWriter::create(out, Existing::Stays)?;
        let (instance, preparation) = Instance::make(buffer)?;
        let layout = page_layout(&instance)?;
        let drive = Drive::find(&target, Path::new("/sys"), Path::new("/proc"));
        let target = Target { has_requests: target.has_requests || drive.has_paths(), ..target };
        let decoder = enable(&instance, &target, drive.numbers())?;
        instance.set("tracing_on", "1")?;
        let first_sector = target.sectors.as_ref().map_or(0, |sectors| sectors.start);
        let operations = Operations::new(first_sector, drive.has_paths());
        Ok(Self {
            target,
            drive,
            instance,
            preparation,
            layout,
            decoder,
            page: vec![0; layout.size()],
            events: Vec::new(),
            operations,
            writer,
            unix_epoch_ns: unix_epoch(),
            cut_off: None,
        })
    }

    /// What had to be done before.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Waits up to a tenth of a second and records what has happened. Breaks if it cannot go on;
    /// [`finish`](Self::finish) then says why.
    pub fn advance(&mut self) -> ControlFlow<()> {
        let advanced = self.try_advance();
        self.keep(advanced)
    }

    /// What was recorded up to now.
    ///
    /// # Errors
    /// [`RecordError::Tracefs`].
    pub fn counts(&self) -> Result<Counts, RecordError> {
        Ok(Counts {
            issued: self.operations.issued,
            queue_depth: self.operations.queue_depth(),
            lost: self.instance.lost()?,
        })
    }

    /// Ends the recording, and the file.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the file cannot be ended; nothing is left of it then.
    pub fn finish(mut self) -> Result<Recorded, RecordError> {
        let rest = match self.cut_off {
            None | Some(RecordError::DriveGone { .. }) => self.take_rest(),
            Some(_) => self.end_operations(),
        };
        let _ = self.keep(rest);
        let lost = self.instance.lost().unwrap_or_else(|error| {
            self.cut_off.get_or_insert(error);
            0
        });
        let header = self.header(lost);
        let Self { instance, writer, operations, cut_off, .. } = self;
        let tally = operations.tally();
        drop(instance);
        Ok(Recorded { summary: writer.finish(&header)?, lost, tally, cut_off })
    }

    fn keep(&mut self, done: Result<(), RecordError>) -> ControlFlow<()> {
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.cut_off.get_or_insert(error);
                ControlFlow::Break(())
            }
        }
    }

    fn try_advance(&mut self) -> Result<(), RecordError> {
        self.instance.wait(PATIENCE)?;
        let settled = now().saturating_sub(LATENESS_NS);
        self.drain()?;
        self.take_until(settled)?;
        self.writer.expect_names(self.operations.streams.json_bytes())?;
        match self.drive.look()? {
            true => set_filters(&self.instance, &self.target, self.drive.numbers()),
            false => Ok(()),
        }
    }

    fn take_rest(&mut self) -> Result<(), RecordError> {
        self.instance.set("tracing_on", "0")?;
        self.drain()?;
        self.take_until(u64::MAX)?;
        self.end_operations()
    }

    fn end_operations(&mut self) -> Result<(), RecordError> {
        Ok(self.operations.end(&mut |io| self.writer.write(io))?)
    }

    /// Takes all events out of the kernel's buffers; in order for each processor.
    fn drain(&mut self) -> Result<(), RecordError> {
        for processor in 0..self.instance.processors() {
            // No more than the buffer holds: a processor that is always busy must not keep us.
            let until = now();
            while self.instance.read(processor, &mut self.page)? {
                if self.take_page(processor)? > until {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Adds the events of the page that was read; gives the last one's time.
    fn take_page(&mut self, processor: usize) -> Result<u64, RecordError> {
        let damaged = |_| RecordError::Page { processor };
        let page = self.layout.page(&self.page).map_err(damaged)?;
        let mut last = page.began;
        if page.is_behind_gap {
            self.events.push(Told::gap(page.began));
        }
        for record in page {
            let record = record.map_err(damaged)?;
            last = record.time;
            self.events.extend(self.decoder.told(&record));
        }
        Ok(last)
    }

    /// Passes on, in order, what happened before `end`.
    fn take_until(&mut self, end: u64) -> Result<(), RecordError> {
        // Of events that are in order for each processor, this is a merge.
        self.events.sort_by_key(Told::time_ns);
        let settled = self.events.partition_point(|told| told.time_ns() < end);
        for told in self.events.drain(..settled) {
            self.operations.take(&told, &mut |io| self.writer.write(io))?;
        }
        Ok(())
    }

    fn header(&self, lost: u64) -> Header {
        let began = self.operations.began().map(|time| self.unix_epoch_ns.saturating_add(time));
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let [(_, issue), (_, completion), ..] = tracepoints(self.target.has_requests) else {
            unreachable!("every kind of device has an issue and a completion");
        };
        Header {
            source: self.target.name.clone(),
            recorded_by: format!(
                "writecliff {} trace record: {issue}, {completion} of Linux {}",
                env!("CARGO_PKG_VERSION"),
                release.trim()
            ),
            synthetic: false,
            clock: Some("CLOCK_MONOTONIC".to_owned()),
            began_unix_ns: began,
            device_size: Some(self.target.size),
            streams: self.operations.streams.names().to_vec(),
            lost,
        }
    }
}

/// The tracepoints of a kind of device, issue and completion first.
fn tracepoints(has_requests: bool) -> &'static [(What, &'static str)] {
    match has_requests {
        true => &[
            (What::Issued, "block_rq_issue"),
            (What::Completed, "block_rq_complete"),
            (What::Inserted, "block_rq_insert"),
            (What::Requeued, "block_rq_requeue"),
        ],
        false => {
            &[(What::BioQueued, "block_bio_queue"), (What::BioCompleted, "block_bio_complete")]
        }
    }
}

fn page_layout(instance: &Instance) -> Result<PageLayout, RecordError> {
    // Not every kernel repeats it in instances, and it is the same in all.
    let description = instance.get("../../events/header_page")?.unwrap_or_default();
    PageLayout::parse(&description).ok_or(RecordError::NoTracepoint { name: "header_page" })
}

/// Lets the tracepoints record what concerns the target, on the disks of these numbers.
fn enable(
    instance: &Instance,
    target: &Target,
    numbers: &[(u32, u32)],
) -> Result<Decoder, RecordError> {
    let tracepoints = tracepoints(target.has_requests);
    let mut descriptions = Vec::new();
    for (what, name) in tracepoints {
        let description = instance.get(&format!("events/block/{name}/format"))?;
        let description = description.ok_or(RecordError::NoTracepoint { name })?;
        descriptions.push((*what, description));
    }
    set_filters(instance, target, numbers)?;
    for (_, name) in tracepoints {
        instance.set(&format!("events/block/{name}/enable"), "1")?;
    }
    Decoder::new(&descriptions)
        .map_err(|index| RecordError::NoTracepoint { name: tracepoints[index].1 })
}

/// Lets nothing through but what concerns the target, on the disks of these numbers.
fn set_filters(
    instance: &Instance,
    target: &Target,
    numbers: &[(u32, u32)],
) -> Result<(), RecordError> {
    let filter = filter(target, numbers);
    // The issue last: of a path that has just come, better a completion too many than one too few.
    let mut tracepoints = tracepoints(target.has_requests).iter().rev();
    tracepoints
        .try_for_each(|(_, name)| instance.set(&format!("events/block/{name}/filter"), &filter))
}

/// As the kernel's filters say it (Documentation/trace/events.rst); a device's number is in its own
/// encoding, with 20 bits of minor number.
fn filter(target: &Target, numbers: &[(u32, u32)]) -> String {
    let is = |(major, minor): &(u32, u32)| format!("dev == {}", (major << 20) | minor);
    let devices = match numbers {
        // No path is left, and no disk has this number.
        [] => format!("dev == {}", u32::MAX),
        numbers => numbers.iter().map(is).collect::<Vec<_>>().join(" || "),
    };
    match &target.sectors {
        None => devices,
        Some(Range { start, end }) => {
            format!("({devices}) && (nr_sector == 0 || (sector >= {start} && sector < {end}))")
        }
    }
}

/// The trace's clock.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// What the trace's clock must be added to, to be nanoseconds since 1970.
fn unix_epoch() -> u64 {
    let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(day.as_nanos()).unwrap_or(u64::MAX).saturating_sub(now())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter_of(numbers: &[(u32, u32)], sectors: Option<Range<u64>>) -> String {
        let (name, number, size) = ("x".to_owned(), (7, 2), Bytes(0));
        let target =
            Target { name, number, numbers: vec![number], sectors, size, has_requests: true };
        filter(&target, numbers)
    }

    #[test]
    fn the_kernel_filters_by_device_and_sectors() {
        assert_eq!(filter_of(&[(7, 2)], None), "dev == 7340034");
        assert_eq!(filter_of(&[], None), "dev == 4294967295");
        assert_eq!(
            filter_of(&[(259, 0), (259, 1)], Some(2048..4096)),
            "(dev == 271581184 || dev == 271581185) && \
             (nr_sector == 0 || (sector >= 2048 && sector < 4096))"
        );
    }
}
