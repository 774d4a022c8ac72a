//! What a model tells whoever keeps the data for it.
//!
//! The models move no data. Somebody who does, so that a simulated drive can be a real block device,
//! has to know which parts of them a drive would give back: after a trim, after a power cut, and when
//! it is worn out. He writes and reads in the order in which the model gets its commands: a model's
//! books are that far, whenever a command is complete.

use serde::{Deserialize, Serialize};
use writecliff_device::{Bytes, Completion, DeviceTime};

/// What becomes of the data that a host has written.
pub trait Contents {
    /// Bytes that share their fate: all of a unit is trimmed, or lost, or none.
    fn unit(&self) -> Bytes;

    /// Bytes that it really has; places behind them are those from the beginning again.
    fn real_capacity(&self) -> Bytes;

    /// What becomes of trimmed data.
    fn forgets(&self) -> Forgets;

    /// Whether it stores less where data can be compressed.
    fn compresses(&self) -> bool;

    /// Whether a unit of the real capacity reads as what was written to it; as zeros otherwise.
    fn holds(&self, unit: u32) -> bool;

    /// Whether what was written to a unit is lost, so that reading it fails.
    fn has_lost(&self, unit: u32) -> bool;

    /// Whether it is not worn out: otherwise every write fails, and leaves what is there.
    fn takes_writes(&self) -> bool;

    /// Nothing completes and nothing goes wrong before this moment; `None` if nothing will unless
    /// something is submitted.
    fn next_event(&self) -> Option<DeviceTime>;

    /// Has it keep account of what is volatile from now on, and [tell](Self::take_power_cut) what a power
    /// cut took. What was written before must have been flushed.
    fn expect_power_cuts(&mut self) -> AtPowerCut {
        AtPowerCut::NotModelled
    }

    /// What a power cut at this moment would take. Takes time with all that is volatile.
    fn volatile(&self) -> Vec<LostUnit> {
        Vec::new()
    }

    /// Takes the power away and gives it back: what is in flight has failed, and the drive answers when
    /// it has recovered.
    ///
    /// # Panics
    /// If the model has [no power cut](AtPowerCut::NotModelled).
    fn cut_power(&mut self, done: &mut Vec<Completion>) {
        let _ = done;
        panic!("this model has no power cut, and says so");
    }

    /// What the last power cut took, of those that the profile plans as well; once.
    fn take_power_cut(&mut self) -> Option<PowerCut> {
        None
    }

    /// Has a die stop working at this moment, as its profile may plan it. What it held is lost where no parity
    /// makes up for it.
    ///
    /// # Errors
    /// [`DieRefused`]; nothing has happened then.
    fn lose_die(&mut self, die: u32) -> Result<(), DieRefused> {
        let _ = die;
        Err(DieRefused::NotModelled)
    }

    /// What it can do without; `None` if the model does not tell.
    fn spare(&self) -> Option<Spare> {
        None
    }
}

/// Why no die is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DieRefused {
    /// It has none.
    #[error("this model has no dies to lose; export one solid-state drive")]
    NotModelled,
    /// It has others.
    #[error("it has no die {die}: there are {dies}, counted from 0")]
    NoSuchDie {
        /// What was asked for.
        die: u32,
        /// How many there are.
        dies: u32,
    },
    /// What a second one takes is not modelled.
    #[error("it has lost die {die} already, and a second failure is not modelled")]
    LostAnother {
        /// The one before.
        die: u32,
    },
}

/// Blocks, in the unit that the drive allocates, and how many of them it can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spare {
    /// Those in use, free ones among them.
    pub blocks: u64,
    /// So many hold its capacity, and let it go on collecting.
    pub needed: u64,
    /// Others that take the place of the next ones to wear out.
    pub replacements: u64,
}

/// What a drive forgets of trimmed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgets {
    /// All whole units, for good, before the trim is complete.
    AtOnce,
    /// Some of them, for good, before the trim is complete.
    SomeAtOnce,
    /// All of them, at some later time; they read as zeros until then, but not after a power cut.
    Later,
    /// None of them.
    Nothing,
}

/// What a power cut does to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtPowerCut {
    /// The model does not tell.
    NotModelled,
    /// Capacitors bring all that was acknowledged to NAND, and what is in flight as well.
    KeepsAll,
    /// What was not in NAND is gone.
    LosesWhatIsVolatile,
}

/// A power cut, as far as data are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerCut {
    /// When the power went.
    pub at: DeviceTime,
    /// What was lost.
    pub lost: Vec<LostUnit>,
}

/// A unit whose last writes are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostUnit {
    /// Its number among the units of the real capacity.
    pub unit: u32,
    /// How many of the last writes that it was part of are lost: it holds what it did before them.
    pub writes: u32,
    /// Whether that was anything; it reads as zeros otherwise.
    pub held_before: bool,
}
