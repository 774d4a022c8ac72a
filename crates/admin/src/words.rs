//! A drive's facts in words that a person can act on.

use std::time::Duration;

use writecliff_device::{Bytes, Link};

use crate::facts::{Facts, Health, PowerState, PurgeOffer, Security};
use crate::state::{FirmwareSlots, HostMemory, LoggedError, PowerMode, PowerTransitions};
use crate::trusted::SelfEncryption;

impl Facts {
    /// What each thing is called, and what is known of it; several lines may have one name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("speaks", self.speaks.clone())];
        let formats = Some(self.formats_in_words()).filter(|formats| !formats.is_empty());
        lines.extend(formats.map(|formats| ("LBA formats", formats)));
        lines.extend(self.link.map(|link| ("link", link_in_words(link))));
        lines.extend(self.write_cache.map(|cache| {
            let words = match cache.enabled {
                Some(true) => "on",
                Some(false) => "off: writes are slower than they could be",
                None => "there is one",
            };
            ("write cache", words.to_owned())
        }));
        if let Some(health) = &self.health {
            lines.extend(health.lines(self.warning_c, self.critical_c));
        }
        lines.extend(self.errors_in_words());
        lines.extend(self.power_states.iter().map(|state| ("power state", state.in_words())));
        lines.extend(joined("power now", self.power_in_words()));
        lines.extend(self.host_memory.map(|memory| ("host memory", memory.in_words())));
        lines.extend(self.firmware_slots.as_ref().map(|slots| ("firmware slot", slots.in_words())));
        lines.extend(self.security.map(|security| ("security", security.in_words())));
        lines.extend(self.encryption.iter().map(|own| ("encryption", own.in_words())));
        lines.extend(self.purges.iter().map(|offer| ("can purge by", offer.in_words())));
        lines
    }

    /// What went wrong: how much of it was the drive's own fault, and the last of that.
    fn errors_in_words(&self) -> Vec<(&'static str, String)> {
        const SHOWN: usize = 3;
        let Some(ever) = self.health.as_ref().and_then(|health| health.logged_errors) else {
            return Vec::new();
        };
        let remembered = self.errors.len();
        let real: Vec<&LoggedError> = self.errors.iter().filter(|error| error.is_real).collect();
        let log = match (ever, remembered, real.len()) {
            (0, ..) => "empty".to_owned(),
            (_, 0, _) => format!("{ever} in its life, none of which it remembers"),
            (_, _, 0) => format!(
                "{ever} in its life; the last {remembered} are commands that it does not take, as \
                 tools try them: no fault of the drive"
            ),
            (_, _, own) => format!("{ever} in its life; of the last {remembered}, {own} its own"),
        };
        let errors = real.into_iter().take(SHOWN).map(|error| ("ERROR", error.in_words()));
        std::iter::once(("error log", log)).chain(errors).collect()
    }

    /// The state or mode, and what it does by itself.
    fn power_in_words(&self) -> [Option<String>; 3] {
        [
            self.power_state_now.map(|state| format!("state {state}")),
            self.power_mode.map(|mode| mode.in_words().to_owned()),
            self.power_transitions.as_ref().map(PowerTransitions::in_words),
        ]
    }

    fn formats_in_words(&self) -> String {
        let format = |format: &crate::LbaFormat| {
            let metadata = match format.metadata.0 {
                0 => String::new(),
                bytes => format!(" + {bytes}"),
            };
            let rank = match format.rank {
                Some(0) => ", the best by its own word",
                _ => "",
            };
            let in_use = if format.in_use { " in use" } else { "" };
            format!("{}{metadata} bytes{in_use}{rank}", format.data.0)
        };
        self.formats.iter().map(format).collect::<Vec<_>>().join("; ")
    }
}

fn link_in_words(link: Link) -> String {
    let advice = if link.is_reduced() { ": look at cable, slot and port" } else { "" };
    format!("{link}{advice}")
}

impl Health {
    fn lines(&self, warning: Option<i32>, critical: Option<i32>) -> Vec<(&'static str, String)> {
        let mut lines: Vec<_> =
            self.warnings.iter().map(|warning| ("WARNING", warning.clone())).collect();
        let wear = [
            self.used_percent.map(|used| format!("{used} % of the endurance used")),
            self.spare_percent.map(|spare| match self.spare_threshold_percent {
                Some(least) => {
                    format!("{spare} % of the spare blocks left (warns below {least} %)")
                }
                None => format!("{spare} % of the spare blocks left"),
            }),
        ];
        lines.extend(joined("wear", wear));
        let written = [
            self.host_written.map(|bytes| format!("{} by hosts", amount(bytes))),
            self.nand_written.map(|bytes| format!("{} into NAND", amount(bytes))),
            self.write_amplification().map(|times| format!("write amplification {times:.2}")),
        ];
        lines.extend(joined("written", written));
        lines.extend(joined(
            "read",
            [self.host_read.map(|bytes| format!("{} by hosts", amount(bytes)))],
        ));
        let degrees = [
            self.temperature_c.map(|now| format!("{now} °C")),
            self.highest_c.map(|most| format!("{most} °C at most ever")),
            warning.map(|at| format!("slows down at {at} °C")),
            critical.map(|at| format!("stops at {at} °C")),
            self.warm_minutes
                .filter(|minutes| *minutes > 0)
                .map(|m| format!("{m} min beyond the first")),
            self.hot_minutes.filter(|minutes| *minutes > 0).map(|m| format!("{m} min too hot")),
        ];
        lines.extend(joined("temperature", degrees));
        let power = [
            self.power_on_hours.map(|hours| format!("{hours} h")),
            self.power_cycles.map(|times| format!("switched on {times} times")),
            self.unsafe_shutdowns.map(|times| format!("{times} times off without a word")),
        ];
        lines.extend(joined("power on", power));
        lines.extend(self.losses());
        lines
    }

    /// Data, blocks and transfers that were lost.
    fn losses(&self) -> Vec<(&'static str, String)> {
        let more_than_none = |count: &u128| *count > 0;
        let media = self.media_errors.map(|count| match count {
            0 => "none".to_owned(),
            count => format!("{count}: data that it could not give back"),
        });
        let blocks = self.reallocated.filter(more_than_none);
        let blocks = blocks.map(|count| format!("{count} blocks that spare ones replace"));
        let transfers = self.link_errors.filter(more_than_none);
        let transfers = transfers
            .map(|count| format!("{count} transfers that came damaged: look at cable and port"));
        let all = [("media errors", media), ("reallocated", blocks), ("link errors", transfers)];
        all.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
    }

    /// What was programmed for each byte of a host, in the drive's life.
    pub fn write_amplification(&self) -> Option<f64> {
        let (nand, host) = (self.nand_written?, self.host_written.filter(|bytes| *bytes > 0)?);
        Some(nand as f64 / host as f64)
    }
}

/// One line of what is known, if anything is.
fn joined<const N: usize>(
    name: &'static str,
    parts: [Option<String>; N],
) -> Option<(&'static str, String)> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| (name, known.join(", ")))
}

fn amount(bytes: u128) -> String {
    u64::try_from(bytes).map_or_else(|_| format!("{bytes} bytes"), |bytes| Bytes(bytes).to_string())
}

impl PowerState {
    fn in_words(&self) -> String {
        let time = |what: &str, time: Option<Duration>| {
            time.map(|time| format!("{what} in {}", short(time)))
        };
        let parts = [
            self.max_w.map(|watts| format!("{watts} W at most")),
            (!self.works).then(|| "idle".to_owned()),
            time("entered", self.entry),
            time("left", self.exit),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        let known = if known.is_empty() { "nothing told".to_owned() } else { known.join(", ") };
        format!("{}: {known}", self.number)
    }
}

impl LoggedError {
    fn in_words(&self) -> String {
        let parts = [
            Some(format!("no. {}: {}", self.count, self.words)),
            self.lba.map(|lba| format!("LBA {lba}")),
            self.namespace.map(|namespace| format!("namespace {namespace}")),
            Some(format!("status {:#05x}", self.status)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl PowerTransitions {
    /// The way that it goes from the first state on, each step further down.
    fn in_words(&self) -> String {
        if !self.enabled {
            return "it changes it only when told to".to_owned();
        }
        let mut state = 0;
        let mut steps = Vec::new();
        while let Some(step) = self.steps.iter().find(|step| step.from == state && step.to > state)
        {
            steps.push(format!("into state {} after {} idle", step.to, short(step.after)));
            state = step.to;
        }
        match steps.is_empty() {
            true => "it may change it by itself, and is not told when".to_owned(),
            false => format!("by itself {}", steps.join(", ")),
        }
    }
}

impl PowerMode {
    fn in_words(self) -> &'static str {
        match self {
            Self::ActiveOrIdle => "active or idle",
            Self::Idle => "idle",
            Self::Standby => "standby until it was asked: a disk stood still",
        }
    }
}

impl HostMemory {
    fn in_words(self) -> String {
        let Self { preferred, least, lent } = self;
        match lent {
            Some(Bytes::ZERO) => format!(
                "none is lent to it, and it would like {preferred} ({least} at least): random reads \
                 are slower without"
            ),
            Some(lent) => format!("{lent} lent to it, of {preferred} that it would like"),
            None => format!("it would like {preferred}, {least} at least"),
        }
    }
}

impl FirmwareSlots {
    fn in_words(&self) -> String {
        let revision = |number: u8| {
            let slot = self.slots.iter().find(|slot| slot.number == number);
            slot.map_or("nothing", |slot| slot.revision.as_str())
        };
        let runs = format!("{} runs ({})", self.active, revision(self.active));
        match self.next {
            Some(next) => format!("{runs}, {next} after the next reset ({})", revision(next)),
            None => runs,
        }
    }
}

fn short(time: Duration) -> String {
    match time.as_micros() {
        micros @ 0..1000 => format!("{micros} us"),
        micros => format!("{} ms", micros as f64 / 1000.0),
    }
}

impl Security {
    fn in_words(self) -> String {
        let all = [
            (self.locked, "locked: it gives no data without its password"),
            (self.enabled && !self.locked, "a password is set, and the drive is unlocked"),
            (!self.enabled, "no password is set"),
            (self.frozen, "frozen until its power is off"),
            (self.count_expired, "too many wrong passwords"),
        ];
        let said: Vec<_> =
            all.into_iter().filter_map(|(is_so, words)| is_so.then_some(words)).collect();
        said.join("; ")
    }
}

impl SelfEncryption {
    fn in_words(&self) -> String {
        let classes: Vec<_> = self.subsystems.iter().map(|class| class.name()).collect();
        let classes = match &classes[..] {
            [] => "no TCG subsystem".to_owned(),
            classes => format!("TCG {}", classes.join(", ")),
        };
        let locking = self.locking.map(|locking| {
            let all = [
                (locking.encrypts, "encrypts all that it stores"),
                (!locking.enabled, "locking is off"),
                (locking.enabled && !locking.locked, "locking is on, and nothing is locked now"),
                (
                    locking.locked,
                    "LOCKED: it gives no data without its password, or takes a PSID revert, which \
                     erases all",
                ),
                (
                    locking.shadow_mbr_enabled && !locking.shadow_mbr_done,
                    "shows a shadow MBR in place of its data",
                ),
            ];
            let said = all.into_iter().filter_map(|(is_so, words)| is_so.then_some(words));
            said.collect::<Vec<_>>().join("; ")
        });
        let owner = [
            self.is_owned.map(|owned| if owned { "has an owner" } else { "has no owner" }),
            self.is_owner_blocked
                .filter(|blocked| *blocked)
                .map(|_| "its owner is blocked until power goes"),
            self.has_single_user_mode.then_some("single user mode"),
            self.has_ieee_1667.then_some("IEEE 1667 (eDrive)"),
        ];
        let owner = owner.into_iter().flatten().map(str::to_owned);
        let parts = std::iter::once(classes).chain(locking).chain(owner);
        parts.collect::<Vec<_>>().join("; ")
    }
}

impl PurgeOffer {
    fn in_words(&self) -> String {
        let time = self.time.map(|time| match time.as_secs() {
            seconds @ 0..120 => format!(", {seconds} s by its own word"),
            seconds => format!(", {} min by its own word", seconds.div_ceil(60)),
        });
        let but = self.hindrances.iter().map(|words| format!("; {words}")).collect::<String>();
        format!("{}{}{but}", self.kind, time.unwrap_or_default())
    }
}
