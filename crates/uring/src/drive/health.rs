//! What a drive counts of itself, asked for between the phases of a test.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use writecliff_admin::{Health, health};
use writecliff_device::{Bytes, OwnCounters, Telemetry};

use crate::drive::admin_port::KernelPort;

/// A drive that has not answered by then is not asked again: a dead one keeps the kernel waiting for
/// minutes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks in a thread of its own, which nobody waits for longer than [`PATIENCE`].
#[derive(Debug)]
pub(crate) struct Asker {
    questions: Sender<()>,
    answers: Receiver<Option<Health>>,
    owes: bool,
}

impl Asker {
    /// `None` if there can be no thread.
    pub(crate) fn of(mut port: KernelPort) -> Option<Self> {
        let (questions, asked) = channel();
        let (answer, answers) = channel();
        let work = move || {
            while asked.recv().is_ok() && answer.send(health(&mut port)).is_ok() {}
        };
        thread::Builder::new().name("counters".to_owned()).spawn(work).ok()?;
        Some(Self { questions, answers, owes: false })
    }

    /// Whether the drive has left a question unanswered.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.owes
    }

    /// `telemetry`, and what the drive counts; as it is if the drive does not tell.
    pub(crate) fn complete(&mut self, telemetry: Telemetry) -> Telemetry {
        if self.owes || self.questions.send(()).is_err() {
            return telemetry;
        }
        match self.answers.recv_timeout(PATIENCE) {
            Ok(Some(health)) => completed(telemetry, &health),
            Ok(None) => telemetry,
            Err(_) => {
                self.owes = true;
                telemetry
            }
        }
    }
}

fn completed(telemetry: Telemetry, health: &Health) -> Telemetry {
    let narrow = |count: Option<u128>| count.and_then(|count| u64::try_from(count).ok());
    let throttled = [health.warm_minutes, health.hot_minutes].into_iter().flatten();
    Telemetry {
        host_written: narrow(health.host_written).map(Bytes),
        nand_written: narrow(health.nand_written).map(Bytes),
        wear_permille: health.used_percent.map(|percent| u64::from(percent) * 10),
        own: Some(OwnCounters {
            written_unit: Bytes(health.written_unit.unwrap_or_default()),
            spare_percent: health.spare_percent,
            media_errors: narrow(health.media_errors),
            unsafe_shutdowns: narrow(health.unsafe_shutdowns),
            throttled_minutes: narrow(throttled.reduce(u128::saturating_add)),
        }),
        ..telemetry
    }
}
