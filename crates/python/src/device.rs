//! The seam itself: batches of I/Os into a simulated drive, completions out of it.

use pyo3::prelude::*;
use writecliff::device::{
    self, Bytes, Completion, DeviceError, DeviceTime, Io, Nanos, Operation, Status,
};

use crate::errors::{Raised, UsageError};
use crate::json;
use crate::table::{Table, of_numbers};

/// A simulated drive with its clock.
#[pyclass(unsendable, module = "writecliff._native")]
pub(crate) struct Device {
    device: Box<dyn device::Device>,
    in_flight: usize,
}

impl Device {
    pub(crate) fn new(device: Box<dyn device::Device>) -> Self {
        Self { device, in_flight: 0 }
    }
}

#[pymethods]
impl Device {
    /// What it is, as JSON.
    fn info(&self) -> PyResult<String> {
        json::text(self.device.info())
    }

    /// What it says of itself now, as JSON.
    fn telemetry(&mut self) -> PyResult<String> {
        json::text(&self.device.telemetry())
    }

    /// Its clock, in nanoseconds since it was opened.
    #[getter]
    fn now(&self) -> u64 {
        self.device.now().0
    }

    /// I/Os submitted and not reaped.
    #[getter]
    fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Hands it a batch: an operation's number for each I/O, offsets and lengths in bytes as unsigned
    /// 64-bit numbers of this machine.
    fn submit(&mut self, operations: &[u8], offsets: &[u8], lengths: &[u8]) -> PyResult<()> {
        let (offsets, lengths) = (numbers(offsets)?, numbers(lengths)?);
        if operations.len() != offsets.len() || offsets.len() != lengths.len() {
            let text = "operations, offsets and lengths have to be as many";
            return Err(UsageError::new_err(text));
        }
        let room = self.device.info().queue_depth_max - self.in_flight;
        if offsets.len() > room {
            let text = format!(
                "{} I/Os are more than the {room} that the drive takes now; reap first",
                offsets.len()
            );
            return Err(UsageError::new_err(text));
        }
        let ranges = offsets.into_iter().zip(lengths);
        let ios: Vec<Io> = operations.iter().zip(ranges).map(io).collect::<PyResult<_>>()?;
        self.device.submit(&ios).map_err(not_submitted)?;
        self.in_flight += ios.len();
        Ok(())
    }

    /// Lets its time pass until at least `count` I/Os have completed, or until `until`; with nothing in
    /// flight it idles.
    fn reap(&mut self, py: Python<'_>, count: usize, until: Option<u64>) -> PyResult<Table> {
        let until = DeviceTime(until.unwrap_or(u64::MAX));
        let wanted = count.min(self.in_flight);
        let mut done = Vec::with_capacity(wanted);
        if self.in_flight == 0 && until.0 < u64::MAX {
            self.reap_once(until, &mut done)?;
        }
        while done.len() < wanted && self.device.now() < until {
            self.reap_once(until, &mut done)?;
            py.check_signals()?;
        }
        self.in_flight -= done.len();
        table(&done)
    }

    /// Brings the drive to its fresh state.
    fn purge(&mut self) -> PyResult<()> {
        let Some(how) = self.device.info().purges.first().copied() else {
            return Err(UsageError::new_err("the drive cannot be purged"));
        };
        if self.in_flight > 0 {
            return Err(UsageError::new_err("I/Os are in flight; reap them first"));
        }
        let purged = self.device.purge(how, &mut |_| std::ops::ControlFlow::Continue(()));
        purged.map(drop).map_err(|error| writecliff::Error::from(error).raised())
    }
}

impl Device {
    fn reap_once(&mut self, until: DeviceTime, done: &mut Vec<Completion>) -> PyResult<()> {
        self.device.reap(until, done).map_err(|error| writecliff::Error::from(error).raised())
    }
}

/// Who hands over an I/O that the drive does not have has to ask differently.
fn not_submitted(error: DeviceError) -> PyErr {
    match error {
        DeviceError::OutOfRange { .. } | DeviceError::Misaligned { .. } => {
            UsageError::new_err(error.to_string())
        }
        error => writecliff::Error::from(error).raised(),
    }
}

fn numbers(bytes: &[u8]) -> PyResult<Vec<u64>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    match rest {
        [] => Ok(numbers.iter().map(|number| u64::from_ne_bytes(*number)).collect()),
        _ => Err(UsageError::new_err("offsets and lengths are 64-bit numbers")),
    }
}

fn io((operation, (offset, length)): (&u8, (u64, u64))) -> PyResult<Io> {
    let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
    let Some(operation) = all.get(usize::from(*operation)) else {
        return Err(UsageError::new_err(format!("{operation} is no operation's number")));
    };
    Ok(match operation {
        Operation::Flush => Io::flush(),
        operation => Io::new(*operation, Bytes(offset), Bytes(length)),
    })
}

fn table(done: &[Completion]) -> PyResult<Table> {
    let column = |value: fn(&Completion) -> u64| done.iter().map(value).collect::<Vec<u64>>();
    let nanos = |time: Nanos| time.0;
    of_numbers(vec![
        ("operation", column(|done| done.io.operation as u64)),
        ("offset", column(|done| done.io.offset.0)),
        ("length", column(|done| done.io.length.0)),
        ("submitted_ns", column(|done| done.submitted.0)),
        ("latency_ns", done.iter().map(|done| nanos(done.service_time())).collect()),
        ("failed", column(|done| u64::from(done.status != Status::Done))),
    ])
}
