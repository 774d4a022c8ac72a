//! What an array is called.

use std::fmt;
use std::str::FromStr;

use writecliff_device::Bytes;

use crate::error::ArrayError;
use crate::level::Level;
use crate::shape::{CHUNK, Shape};

/// What the names of arrays begin with.
pub const ARRAY: &str = "array:";
/// What the names of simulated drives begin with.
const SIMULATED: &str = "sim:";

/// `array:LEVEL:N:sim:NAME`, or `array:K+M:sim:NAME` of an erasure code, which says by itself how many
/// there are; behind it any of `,chunk=64KiB`, `,dead=I`, `,slow=I` (both more than once) and `,rebuild=I`.
///
/// ```
/// use writecliff_array::ArrayName;
///
/// let name: ArrayName = "array:raid5:4:sim:tiny,chunk=64KiB,dead=1".parse()?;
/// assert_eq!((name.shape.members, name.drive.as_str()), (4, "tiny"));
/// assert_eq!(name.to_string(), "array:raid5:4:sim:tiny,chunk=64KiB,dead=1");
/// # Ok::<(), writecliff_array::ArrayError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayName {
    /// What it is but for its drives; there can be such an array.
    pub shape: Shape,
    /// The simulated drive that every member is: a name of the catalogue, or a profile's path.
    pub drive: String,
}

impl FromStr for ArrayName {
    type Err = ArrayError;

    fn from_str(text: &str) -> Result<Self, ArrayError> {
        let grammar = || ArrayError::Grammar { got: text.to_owned() };
        let rest = text.strip_prefix(ARRAY).ok_or_else(grammar)?;
        let (level, rest) = rest.split_once(':').ok_or_else(grammar)?;
        let level: Level = level.parse()?;
        let (members, rest) = match (level, rest.split_once(':').ok_or_else(grammar)?) {
            (Level::Code { data, parity }, (first, _)) => {
                if first.parse::<u32>().is_ok() {
                    return Err(ArrayError::CodeWithCount { level });
                }
                (data + parity, rest)
            }
            (_, (count, rest)) => {
                let members = count
                    .parse()
                    .map_err(|_| ArrayError::Members { level, got: count.to_owned() })?;
                (members, rest)
            }
        };
        let mut parts = rest.split(',');
        let drive = parts.next().unwrap_or_default();
        let name = drive.strip_prefix(SIMULATED).filter(|name| !name.is_empty());
        let drive = name.ok_or_else(|| ArrayError::Drive { got: drive.to_owned() })?.to_owned();
        let mut shape = Shape::new(level, members);
        parts.try_for_each(|option| take(option, &mut shape))?;
        shape.check()?;
        Ok(Self { shape, drive })
    }
}

/// Takes `key=value` into a shape.
fn take(option: &str, shape: &mut Shape) -> Result<(), ArrayError> {
    let unknown = || ArrayError::Option { got: option.to_owned() };
    let (key, value) = option.split_once('=').ok_or_else(unknown)?;
    let member = || value.parse::<u32>().map_err(|_| unknown());
    match key {
        "chunk" => {
            shape.chunk = value.parse::<Bytes>().map_err(|_| unknown())?;
        }
        "dead" => shape.dead.push(member()?),
        "slow" => shape.slow.push(member()?),
        "rebuild" if shape.rebuild.is_none() => shape.rebuild = Some(member()?),
        _ => return Err(unknown()),
    }
    Ok(())
}

/// As it is called.
impl fmt::Display for ArrayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { level, members, chunk, dead, slow, rebuild } = &self.shape;
        write!(f, "{ARRAY}{level}:")?;
        if !matches!(level, Level::Code { .. }) {
            write!(f, "{members}:")?;
        }
        write!(f, "{SIMULATED}{}", self.drive)?;
        if *chunk != CHUNK {
            write!(f, ",chunk={}", chunk.exact())?;
        }
        dead.iter().try_for_each(|member| write!(f, ",dead={member}"))?;
        slow.iter().try_for_each(|member| write!(f, ",slow={member}"))?;
        rebuild.iter().try_for_each(|member| write!(f, ",rebuild={member}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        name.parse::<ArrayName>().unwrap_err().to_string()
    }

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in [
            "array:raid0:1:sim:tiny",
            "array:raid1:3:sim:a/b.toml,dead=0,dead=2",
            "array:raid10:4:sim:tiny@1/4,slow=1",
            "array:raid6:6:sim:tiny,chunk=64KiB,dead=1,slow=2,rebuild=3",
            "array:4+2:sim:tiny",
        ] {
            assert_eq!(name.parse::<ArrayName>().unwrap().to_string(), name);
        }
        let code: ArrayName = "array:4+2:sim:tiny".parse().unwrap();
        assert_eq!(code.shape.members, 6);
    }

    #[test]
    fn whatever_is_wrong_is_said_with_what_is_possible() {
        for (name, says) in [
            ("array:", "array:raid5:4:sim:NAME"),
            ("array:raid5:4", "array:raid5:4:sim:NAME"),
            ("array:raid7:4:sim:tiny", "raid0, raid1, raid10, raid5, raid6"),
            ("array:raid55:4:sim:tiny", "did you mean raid5"),
            ("array:raid5:sim:tiny", "from 3 to 32"),
            ("array:raid5:2:sim:tiny", "from 3 to 32"),
            ("array:raid5:4000000000:sim:tiny", "from 3 to 32"),
            ("array:raid5:99999999999999999999:sim:tiny", "from 3 to 32"),
            ("array:raid10:5:sim:tiny", "even number from 4 to 32"),
            ("array:raid0:0:sim:tiny", "from 1 to 32"),
            ("array:0+2:sim:tiny", "at least one"),
            ("array:30+4:sim:tiny", "32"),
            ("array:4+2:6:sim:tiny", "array:4+2:sim:NAME"),
            ("array:raid5:4:null:", "simulated"),
            ("array:raid5:4:/dev/sda", "simulated"),
            ("array:raid5:4:array:raid1:2:sim:tiny", "simulated"),
            ("array:raid5:4:sim:", "simulated"),
            ("array:raid5:4:sim:tiny,chunk=3KiB", "power of two"),
            ("array:raid5:4:sim:tiny,chunk=1GiB", "power of two"),
            ("array:raid5:4:sim:tiny,chunk=big", "chunk=64KiB"),
            ("array:raid5:4:sim:tiny,dead=4", "from 0 to 3"),
            ("array:raid5:4:sim:tiny,dead", "dead=I"),
            ("array:raid5:4:sim:tiny,lame=1", "slow=I"),
            ("array:raid5:4:sim:tiny,rebuild=1,rebuild=2", "once"),
            ("array:raid5:4:sim:tiny,dead=1,dead=2", "raid5 without 2"),
            ("array:raid5:4:sim:tiny,dead=1,rebuild=2", "raid5 without 2"),
            ("array:raid5:4:sim:tiny,dead=1,rebuild=1", "one thing"),
            ("array:raid5:4:sim:tiny,dead=1,slow=1", "one thing"),
            ("array:raid0:4:sim:tiny,dead=1", "raid0 without 1"),
            ("array:raid10:4:sim:tiny,dead=2,dead=3", "raid10 without 2"),
            ("array:raid1:2:sim:tiny,dead=0,dead=1", "raid1 without 2"),
        ] {
            assert!(refused(name).contains(says), "{name}: {}", refused(name));
        }
        assert!("array:raid10:4:sim:tiny,dead=0,dead=3".parse::<ArrayName>().is_ok());
    }
}
