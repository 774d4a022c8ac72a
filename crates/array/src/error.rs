//! Arrays that there cannot be.

use writecliff_device::{Bytes, DeviceError, ErrorKind};
use writecliff_sim::ProfileError;

use crate::level::{Level, LevelError, MEMBERS_MAX};

/// Why there is no such array. Texts say what is possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// No name of an array.
    #[error(
        "'{got}' names no array; one is array:raid5:4:sim:NAME (raid0, raid1, raid10, raid5 or raid6, and how \
         many) or array:4+2:sim:NAME (data and parity), with any of ,chunk=64KiB ,dead=I ,slow=I ,rebuild=I \
         behind it"
    )]
    Grammar {
        /// What was asked for.
        got: String,
    },
    /// No level.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// An erasure code with a number of members behind it.
    #[error("{level} says how many there are; write array:{level}:sim:NAME")]
    CodeWithCount {
        /// The code.
        level: Level,
    },
    /// Too few or too many members.
    #[error(
        "a {level} has {} {} to {MEMBERS_MAX} members, and '{got}' is none of those; write \
         array:{level}:{}:sim:NAME",
        if *level == Level::Raid10 { "an even number from" } else { "from" },
        level.members_min(), level.members_min()
    )]
    Members {
        /// The level.
        level: Level,
        /// What was asked for.
        got: String,
    },
    /// Members that are no simulated drives.
    #[error(
        "an array is made of simulated solid-state drives, sim:NAME or sim:PATH.toml, and '{got}' is none; \
         real drives, disks, null: and arrays cannot be members"
    )]
    Drive {
        /// What was asked for.
        got: String,
    },
    /// Something behind the name that an array does not have.
    #[error(
        "an array has no '{got}'; there are chunk=64KiB, dead=I and slow=I (more than once if need be) and \
         rebuild=I (once), with I a member, counted from 0"
    )]
    Option {
        /// What was asked for.
        got: String,
    },
    /// No size of chunks.
    #[error("a chunk is a power of two from 4KiB to 16MiB; {} is none", got.exact())]
    Chunk {
        /// What was asked for.
        got: Bytes,
    },
    /// No such member.
    #[error("{key}={got}: there are members from 0 to {}", members - 1)]
    NoMember {
        /// `dead`, `slow` or `rebuild`.
        key: &'static str,
        /// What was asked for.
        got: u32,
        /// How many there are.
        members: u32,
    },
    /// A member that is to be two things.
    #[error("a member is one thing: dead, slow or rebuilt, and each only once")]
    Twice,
    /// Its data would be gone.
    #[error(
        "a {level} without {missing} of its members has lost data; leave out as many as it can do without"
    )]
    Lost {
        /// The level.
        level: Level,
        /// How many are dead or being rebuilt.
        missing: usize,
    },
    /// A drive that cannot be a member.
    #[error("{model} cannot be a member of this array: {reason}")]
    Unfit {
        /// The drive.
        model: String,
        /// What is in the way.
        reason: String,
    },
    /// The record of a run with an array that this version does not have.
    #[error("the recorded array cannot be built by this version: {message}")]
    Recorded {
        /// What is wrong.
        message: String,
    },
    /// A drive that there is not, or that cannot be.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A member that cannot go on before the array begins.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl ArrayError {
    /// Whether to ask differently, or to look after the machine.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Profile(error) => error.kind(),
            Self::Device(error) => error.kind(),
            _ => ErrorKind::Usage,
        }
    }
}
