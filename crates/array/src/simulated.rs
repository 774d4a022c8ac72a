//! What a simulated device is built of: one drive, or an array of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use writecliff_device::{Bytes, DeviceInfo, ProfileRecord, Specification};
use writecliff_sim::{
    Model, Profile, ProfileError, SsdProfile, changed, in_host, recorded, sha256,
};

use crate::array::Array;
use crate::error::ArrayError;
use crate::layout::Layout;
use crate::member::Member;
use crate::rebuild::Rebuild;
use crate::shape::Shape;
use writecliff_sim::Build;

/// What an array adds to the sections of its members' profile, in the record of a run.
const SECTION: &str = "array";
/// NAND of a slow member takes so many times as long.
const SLOWER: u64 = 10;
/// I/Os that an array takes at once, unless one of its members takes more.
const QUEUE_DEPTH_MAX: usize = 1024;

/// A simulated drive, or an array of drives of one kind: all that is needed to build it.
#[derive(Debug, Clone, PartialEq)]
pub enum Simulated {
    /// One drive.
    Drive(Profile),
    /// Several as one.
    Array {
        /// What each of them is.
        member: Box<SsdProfile>,
        /// How they are put together.
        shape: Shape,
    },
}

impl From<Profile> for Simulated {
    fn from(profile: Profile) -> Self {
        Self::Drive(profile)
    }
}

/// The section of an array: its shape, and where its members' profile comes from.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    catalogue: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    changes: Map<String, Value>,
    shape: Shape,
}

impl Simulated {
    /// An array of drives of this profile.
    ///
    /// # Errors
    /// [`ArrayError`] if there can be no such array, or if this drive can be no member of it.
    pub fn array(member: Profile, shape: Shape) -> Result<Self, ArrayError> {
        shape.check()?;
        let model = member.identity().model.clone();
        let unfit = |reason: String| ArrayError::Unfit { model: model.clone(), reason };
        let Some(member) = member.into_ssd() else {
            return Err(unfit(
                "it is a magnetic disk, and members are solid-state drives".to_owned(),
            ));
        };
        match misfit(&member, &shape) {
            Some(reason) => Err(unfit(reason)),
            None => Ok(Self::Array { member: Box::new(member), shape }),
        }
    }

    /// What a drive, or every member, is built of.
    pub fn profile(&self) -> Profile {
        match self {
            Self::Drive(profile) => profile.clone(),
            Self::Array { member, .. } => Profile::Ssd(member.clone()),
        }
    }

    /// Drives that are simulated.
    pub fn drives(&self) -> u32 {
        match self {
            Self::Drive(_) => 1,
            Self::Array { shape, .. } => shape.members,
        }
    }

    /// The same with these keys of the drive's, or of every member's, profile changed.
    ///
    /// # Errors
    /// [`ProfileError::Changed`] as of [`changed`]; [`ArrayError::Unfit`] if that can be no member.
    pub fn changed(&self, changes: &Map<String, Value>) -> Result<Self, ArrayError> {
        match self {
            Self::Drive(profile) => Ok(Self::Drive(changed(profile, changes)?)),
            Self::Array { shape, .. } => {
                Self::array(changed(&self.profile(), changes)?, shape.clone())
            }
        }
    }

    /// What a run keeps of it: of an array the sections of its members' profile and one more.
    pub fn record(&self) -> ProfileRecord {
        let record = self.profile().record();
        let Self::Array { shape, .. } = self else { return record };
        let ProfileRecord { catalogue, changes, mut values, .. } = record;
        let section = Section { catalogue, changes, shape: shape.clone() };
        match serde_json::to_value(section) {
            Ok(section) => drop(values.insert(SECTION.to_owned(), section)),
            Err(error) => unreachable!("a shape is plain data: {error}"),
        }
        let sha256 = sha256(&values);
        ProfileRecord { catalogue: None, changes: Map::new(), sha256, values }
    }

    /// What a run has kept.
    ///
    /// # Errors
    /// [`ArrayError::Profile`] if it is not what was kept, or if this version has no such drive;
    /// [`ArrayError::Recorded`] if it has no such array.
    pub fn recorded(record: &ProfileRecord) -> Result<Self, ArrayError> {
        if !record.values.contains_key(SECTION) {
            return Ok(Self::Drive(recorded(record)?));
        }
        if sha256(&record.values) != record.sha256 {
            return Err(ProfileError::Altered { expected: record.sha256.clone() }.into());
        }
        let mut values = record.values.clone();
        let section = values.remove(SECTION).unwrap_or_default();
        let unknown =
            |error: serde_json::Error| ArrayError::Recorded { message: error.to_string() };
        let Section { catalogue, changes, shape } =
            serde_json::from_value(section).map_err(unknown)?;
        let sha256 = sha256(&values);
        let member = recorded(&ProfileRecord { catalogue, changes, sha256, values })?;
        Self::array(member, shape)
    }

    /// The drive, or the array, as its drives leave the factory, but for the pasts of an array's
    /// members. `address` is how the user named it.
    ///
    /// # Errors
    /// [`ArrayError::Profile`] if a member that is to be slow cannot be; [`ArrayError::Device`] if one
    /// cannot go on.
    pub fn build(&self, address: &str) -> Result<Box<dyn Model>, ArrayError> {
        match self {
            Self::Drive(profile) => Ok(profile.clone().build(address)),
            Self::Array { member, shape } => Ok(in_host(self.assemble(address, member, shape)?)),
        }
    }

    /// The array of such members, without a host.
    pub(crate) fn assemble(
        &self,
        address: &str,
        member: &SsdProfile,
        shape: &Shape,
    ) -> Result<Array, ArrayError> {
        let build = |number: u32| {
            let profile = match shape.slow.contains(&number) {
                true => slowed(member)?,
                false => self.profile(),
            };
            let is_dead = shape.dead.contains(&number);
            Ok(Member::new(profile.build(&format!("{address}, member {number}")), is_dead))
        };
        let members: Result<Vec<_>, ArrayError> = (0..shape.members).map(build).collect();
        let members = members?;
        let layout = layout(member, shape);
        let info = self.info(address);
        let rebuild = shape.rebuild.map(|new| Rebuild::new(new as usize, &layout));
        Ok(Array::new(info, layout, members, member.superblock_size(), rebuild)?)
    }

    /// What the drive, or the array, says of itself. `address` is how the user named it.
    pub fn info(&self, address: &str) -> DeviceInfo {
        let of_one = self.profile().open(address).info().clone();
        match self {
            Self::Drive(_) => of_one,
            Self::Array { member, shape } => {
                self.info_of_array(of_one, &layout(member, shape), shape)
            }
        }
    }

    /// What an array of drives that say `of_one` says of itself.
    fn info_of_array(&self, of_one: DeviceInfo, layout: &Layout, shape: &Shape) -> DeviceInfo {
        let members = shape.members as usize;
        let depth = of_one.queue_depth_max;
        let least = if layout.parities > 0 { Bytes::from_kib(4) } else { Bytes::ZERO };
        let times = |bytes: Bytes| bytes * u64::from(shape.members);
        let of = &of_one.specification;
        DeviceInfo {
            model: shape.model(&of_one.model),
            capacity: Bytes(layout.capacity()),
            physical_block_size: of_one.physical_block_size.max(least),
            queue_depth_max: depth.max((depth * members).min(QUEUE_DEPTH_MAX)),
            trim: of_one.trim && layout.parities == 0,
            specification: Specification {
                controller: of.controller.clone(),
                dram: of.dram.map(times),
                nand: of.nand.clone(),
                own_encryption: of.own_encryption.clone(),
                price_usd: of.price_usd.map(|price| price * f64::from(shape.members)),
                price_of: of
                    .price_of
                    .as_ref()
                    .map(|of| format!("{} drives, each {of}", shape.members)),
                ..Specification::default()
            },
            profile: Some(self.record()),
            ..of_one
        }
    }
}

fn layout(member: &SsdProfile, shape: &Shape) -> Layout {
    let parts = shape.level.parts(shape.members);
    Layout::new(parts, shape.chunk.0, member.identity.capacity.0)
}

/// Why a drive can be no member.
fn misfit(member: &SsdProfile, shape: &Shape) -> Option<String> {
    let (unit, chunk) = (member.mapping.unit, shape.chunk);
    let capacity = member.identity.capacity;
    if capacity < chunk {
        return Some(format!("it has {}, which is less than a chunk", capacity.exact()));
    }
    if !chunk.is_multiple_of(unit) {
        let unit = unit.exact();
        return Some(format!("it maps {unit} at a time, and a chunk is {}", chunk.exact()));
    }
    if !member.faults.power_cuts.is_empty() {
        return Some(
            "its profile plans power cuts, and those of arrays are not modelled".to_owned(),
        );
    }
    if member.faults.real_capacity.is_some() {
        return Some("it has less than it claims".to_owned());
    }
    // Whoever keeps the data numbers units in 32 bits.
    let all = layout(member, shape).capacity();
    (all / unit.0.max(1) > u64::from(u32::MAX)).then(|| {
        format!(
            "so many of them are {}, and a model has 2^32 units of {} at most",
            Bytes(all),
            unit.exact()
        )
    })
}

/// The drive with NAND that takes longer.
fn slowed(member: &SsdProfile) -> Result<Profile, ArrayError> {
    let (nand, slc) = (&member.nand, &member.slc_buffer);
    let programs: Vec<_> = nand.program_time.0.iter().map(|time| *time * SLOWER).collect();
    let times = [
        ("nand.read_time", nand.read_time),
        ("nand.erase_time", nand.erase_time),
        ("slc_buffer.read_time", slc.read_time),
        ("slc_buffer.program_time", slc.program_time),
        ("slc_buffer.erase_time", slc.erase_time),
    ];
    let there = times.into_iter().filter(|(_, time)| time.0 > 0);
    let mut changes: Map<String, Value> =
        there.map(|(key, time)| (key.to_owned(), (time * SLOWER).exact().into())).collect();
    let programs: Vec<Value> = programs.iter().map(|time| time.exact().into()).collect();
    changes.insert("nand.program_time".to_owned(), programs.into());
    Ok(changed(&Profile::Ssd(Box::new(member.clone())), &changes)?)
}

#[cfg(test)]
mod tests {
    use writecliff_sim::load;

    use super::*;
    use crate::ArrayName;

    fn array(name: &str) -> Simulated {
        let name: ArrayName = name.parse().unwrap();
        Simulated::array(load(&name.drive).unwrap(), name.shape).unwrap()
    }

    #[test]
    fn an_array_comes_back_from_its_record() {
        let array = array("array:raid6:6:sim:tiny,chunk=64KiB,dead=1,slow=2,rebuild=3");
        let record = array.record();
        let text = serde_json::to_string(&record).unwrap();
        let read: ProfileRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(Simulated::recorded(&read).unwrap(), array);
        assert_eq!(record.catalogue, None, "it is no drive of the catalogue");
        let mut other = read;
        other.values["array"]["shape"]["members"] = 7.into();
        assert!(matches!(
            Simulated::recorded(&other),
            Err(ArrayError::Profile(ProfileError::Altered { .. }))
        ));
        other.sha256 = sha256(&other.values);
        assert!(Simulated::recorded(&other).is_ok());
        other.values["array"]["shape"]["level"] = "raid9".into();
        other.sha256 = sha256(&other.values);
        assert!(Simulated::recorded(&other).unwrap_err().to_string().contains("raid9"));
    }

    #[test]
    fn a_drive_s_record_is_what_it_is_without_arrays() {
        let tiny = load("tiny").unwrap();
        let drive = Simulated::Drive(tiny.clone());
        assert_eq!(drive.record(), tiny.record());
        assert_eq!(Simulated::recorded(&tiny.record()).unwrap(), drive);
    }

    #[test]
    fn every_drive_of_the_catalogue_can_be_slow_and_most_are_members() {
        for name in writecliff_sim::catalogue() {
            let profile = load(name).unwrap();
            let shape = Shape::new(crate::Level::Raid1, 2);
            match Simulated::array(profile, shape) {
                Ok(Simulated::Array { member, .. }) => {
                    assert!(slowed(&member).is_ok(), "{name}");
                }
                Ok(_) => unreachable!(),
                Err(error) => {
                    let why = error.to_string();
                    let known = ["magnetic", "plans power cuts", "less than it claims"];
                    assert!(known.iter().any(|known| why.contains(known)), "{why}");
                }
            }
        }
    }

    #[test]
    fn unfit_members_are_refused_with_the_reason() {
        let refused = |name: &str| {
            let name: ArrayName = name.parse().unwrap();
            let member = load(&name.drive).unwrap();
            Simulated::array(member, name.shape).unwrap_err().to_string()
        };
        assert!(refused("array:raid1:2:sim:wd-velociraptor-300gb").contains("magnetic disk"));
        assert!(refused("array:raid0:2:sim:ocz-vertex-120gb,chunk=4KiB").contains("at a time"));
        assert!(refused("array:raid0:32:sim:kioxia-cm7-r-3840gb").contains("2^32"));
    }

    #[test]
    fn it_says_what_it_is() {
        let model = |name| {
            let built = array(name).build(name).unwrap();
            built.info().model.clone()
        };
        let tiny = load("tiny").unwrap().identity().model.clone();
        assert_eq!(model("array:raid5:4:sim:tiny"), format!("RAID-5 of 4 {tiny}"));
        assert_eq!(
            model("array:4+2:sim:tiny,chunk=64KiB,dead=0,slow=1,rebuild=2"),
            format!(
                "4+2 of 6 {tiny}, chunk 64KiB, member 0 dead, NAND of member 1 slow, member 2 rebuilt"
            )
        );
    }
}
