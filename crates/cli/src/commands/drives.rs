//! `writecliff drives`: the catalogue, and the block devices here with what the guard says.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde::Serialize;
use writecliff::array::ArrayName;
use writecliff::{DriveName, profile};
use writecliff_device::{Bytes, printable};
use writecliff_report::TextTable;
use writecliff_sim::{Profile, Security, catalogue};
use writecliff_uring::Facts;
use writecliff_uring::{Inspection, Refusal, advice, block_devices, inspect};

use crate::error::CliError;
use crate::output::{print, print_json};

/// What was asked for: everything, some drives by a part of their names, or all about single ones.
pub(crate) fn drives(names: &[OsString], json: bool) -> Result<(), CliError> {
    if json {
        return print_json(&chosen(names)?);
    }
    if names.is_empty() {
        return list();
    }
    names.iter().try_for_each(|name| match simulated_of(name) {
        Some(found) if !found.is_exact => print(&table(&found.names)?),
        _ => show(name),
    })
}

fn list() -> Result<(), CliError> {
    let mut text = String::from("Simulated drives (say sim:NAME):\n");
    text += &table(&catalogue())?;
    text += "Several as one: array:raid5:4:sim:NAME (raid0, raid1, raid10, raid5, raid6), array:4+2:sim:NAME\n";
    text += "\nBlock devices here:\n";
    let devices = block_devices();
    if devices.is_empty() {
        text += "  none\n";
    }
    devices.iter().for_each(|device| text += &describe(device));
    print(&text)
}

/// Simulated drives, a line each.
fn table(names: &[&str]) -> Result<String, CliError> {
    let mut table = TextTable::new()
        .text("", 0, usize::MAX)
        .text("", 0, usize::MAX)
        .numbers("", 0)
        .numbers("", 0)
        .text("", 0, usize::MAX);
    for name in names {
        let profile = profile(name)?;
        let identity = profile.identity();
        let (spare, build) = match &profile {
            Profile::Ssd(ssd) => (
                format!("{:.1} % spare area", ssd.spare_area() * 100.0),
                format!("{} x {}", ssd.dies(), ssd.nand.name),
            ),
            Profile::Disk(disk) => (String::new(), format!("disk, {} rpm", disk.mechanics.rpm)),
        };
        let (model, capacity) = (identity.model.clone(), identity.capacity.to_string());
        table.row(vec![(*name).to_owned(), model, capacity, spare, build]);
    }
    Ok(table.render())
}

/// Simulated drives that were meant by a name.
struct Found {
    names: Vec<&'static str>,
    /// By its whole name, so that it is only one.
    is_exact: bool,
}

/// The simulated drives whose name or model contains this; nothing for a path, and for what none of
/// them contains.
fn simulated_of(name: &OsStr) -> Option<Found> {
    let name = name.to_str()?;
    let name = name.strip_prefix("sim:").unwrap_or(name);
    if name.contains('/') {
        return None; // every profile would be read for it
    }
    if let Some(exact) = catalogue().into_iter().find(|known| *known == name) {
        return Some(Found { names: vec![exact], is_exact: true });
    }
    let part = name.to_lowercase();
    let has_part = |known: &&str| {
        known.contains(&part)
            || profile(known).is_ok_and(|p| p.identity().model.to_lowercase().contains(&part))
    };
    let names: Vec<_> = catalogue().into_iter().filter(has_part).collect();
    (!names.is_empty()).then_some(Found { names, is_exact: false })
}

/// What a script gets.
#[derive(Default, Serialize)]
struct Drives {
    simulated: Vec<SimulatedDrive>,
    devices: Vec<RealDrive>,
}

#[derive(Serialize)]
struct SimulatedDrive {
    name: String,
    model: String,
    capacity_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spare_area_percent: Option<f64>,
    /// Of one that was asked for by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct RealDrive {
    path: String,
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    world_wide_name: Option<String>,
    capacity_bytes: u64,
    lba_bytes: u64,
    physical_block_bytes: u64,
    rotational: bool,
    scheduler: Option<String>,
    /// How the kernel takes it.
    write_cache: Option<String>,
    may_be_tested: bool,
    consent: String,
    refusals: Vec<String>,
    /// What could not be looked into and may have it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_inspected: Option<String>,
    /// Of a disk that was asked for by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Facts>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts_missing: Option<String>,
}

fn chosen(names: &[OsString]) -> Result<Drives, CliError> {
    let mut drives = Drives::default();
    if names.is_empty() {
        for name in catalogue() {
            drives.simulated.push(simulated_drive(name, false)?);
        }
        drives.devices = block_devices().iter().map(real_drive).collect();
    }
    for name in names {
        if let drive @ DriveName::Array(_) = DriveName::from(name.clone()) {
            drives.simulated.push(array(&drive)?);
            continue;
        }
        match (simulated_of(name), name.to_str().filter(is_profile)) {
            (Some(Found { names, is_exact }), _) => {
                for name in names {
                    drives.simulated.push(simulated_drive(name, is_exact)?);
                }
            }
            (None, Some(name)) => drives.simulated.push(simulated_drive(name, true)?),
            (None, None) => {
                let device = inspect(Path::new(name)).map_err(writecliff::Error::from)?;
                drives.devices.push(real_drive(&device));
            }
        }
    }
    Ok(drives)
}

fn simulated_drive(name: &str, whole: bool) -> Result<SimulatedDrive, CliError> {
    let name = name.strip_prefix("sim:").unwrap_or(name);
    let profile = profile(name)?;
    let identity = profile.identity();
    let (spare, keys) = match &profile {
        Profile::Ssd(ssd) => (Some(ssd.spare_area() * 100.0), serde_json::to_value(ssd)),
        Profile::Disk(disk) => (None, serde_json::to_value(disk)),
    };
    let keys = keys.map_err(|error| CliError::Output { source: error.into() })?;
    Ok(SimulatedDrive {
        name: name.to_owned(),
        model: identity.model.clone(),
        capacity_bytes: identity.capacity.0,
        spare_area_percent: spare,
        profile: whole.then_some(keys),
    })
}

/// An array, with the record of what it is built of.
fn array(drive: &DriveName) -> Result<SimulatedDrive, CliError> {
    let info = drive.look()?;
    Ok(SimulatedDrive {
        name: drive.to_string(),
        model: info.model,
        capacity_bytes: info.capacity.0,
        spare_area_percent: None,
        profile: info.profile.map(|profile| profile.values.into()),
    })
}

fn real_drive(device: &Inspection) -> RealDrive {
    let Inspection { identity, refusals, consent, own_words, .. } = device;
    RealDrive {
        path: identity.path.display().to_string(),
        model: identity.model.clone(),
        serial: identity.serial.clone(),
        firmware: identity.firmware.clone(),
        world_wide_name: identity.world_wide_name.clone(),
        capacity_bytes: identity.capacity.0,
        lba_bytes: identity.lba_size.0,
        physical_block_bytes: identity.physical_block_size.0,
        rotational: identity.rotational,
        scheduler: identity.scheduler.clone(),
        write_cache: identity.write_cache.clone(),
        may_be_tested: refusals.is_empty(),
        consent: consent.name.to_string_lossy().into_owned(),
        refusals: refusals.iter().map(ToString::to_string).collect(),
        not_inspected: (!device.unseen.is_empty()).then(|| device.unseen.to_string()),
        facts: own_words.as_ref().and_then(|words| words.as_ref().ok().cloned()),
        facts_missing: own_words.as_ref().and_then(|words| words.as_ref().err().cloned()),
    }
}

/// Whether a name can be meant for a simulated drive: not that of a file which is here.
fn is_profile(name: &&str) -> bool {
    let is_bare = !name.contains('/') && !Path::new(name).exists();
    name.starts_with("sim:") || name.ends_with(".toml") || is_bare
}

fn show(name: &OsStr) -> Result<(), CliError> {
    if let drive @ DriveName::Array(_) = DriveName::from(name.to_owned()) {
        return print(&describe_array(&drive)?);
    }
    let text = match name.to_str().filter(is_profile) {
        Some(name) => {
            let simulated = name.strip_prefix("sim:").unwrap_or(name);
            describe_profile(simulated, &profile(simulated)?)
        }
        None => describe_whole(&inspect(Path::new(name)).map_err(writecliff::Error::from)?),
    };
    print(&text)
}

/// A device and the verdict on it, with everything that speaks against it.
fn describe(device: &Inspection) -> String {
    let drive = &device.identity;
    let names = [&drive.model, &drive.serial];
    let [model, serial] = names.map(|name| name.as_deref());
    let path = drive.path.display();
    let (model, serial) = (model.unwrap_or("no model name"), serial.unwrap_or("no serial"));
    format!("  {path}  {model}, {serial}, {}\n{}", drive.capacity, verdict(device))
}

/// What the guard says.
fn verdict(device: &Inspection) -> String {
    let mut text = String::new();
    if device.refusals.is_empty() {
        let Inspection { consent, .. } = device;
        text += &format!(
            "    may be tested: --destroy-data-on {} ({})\n",
            consent.quoted(),
            consent.kind
        );
    }
    for refusal in &device.refusals {
        let lines = refusal.to_string().replace('\n', "\n      ");
        text += &format!("    refused: {lines}\n");
    }
    text
}

/// Everything that is known of a device: from the system, then from itself.
fn describe_whole(device: &Inspection) -> String {
    let drive = &device.identity;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not told".to_owned());
    let discard = match drive.discard_max {
        Bytes::ZERO => "none".to_owned(),
        Bytes(u64::MAX) => "holes in the file".to_owned(),
        most => format!("up to {most} at a time"),
    };
    let said = |said: &String| format!("{said}, as the kernel takes it");
    let write_cache = drive.write_cache.as_ref().map_or_else(|| "not told".to_owned(), said);
    let contents = device.survey.map_or_else(|| "not looked at".to_owned(), |s| s.to_string());
    let mut rows = vec![
        ("path", drive.path.display().to_string()),
        ("model", text(&drive.model)),
        ("serial", text(&drive.serial)),
        ("firmware", text(&drive.firmware)),
        ("world-wide name", text(&drive.world_wide_name)),
        ("capacity", format!("{} ({} bytes)", drive.capacity, drive.capacity.0)),
        ("LBA", format!("{} bytes (physical {})", drive.lba_size.0, drive.physical_block_size.0)),
        ("medium", if drive.rotational { "called rotating" } else { "not rotating" }.to_owned()),
        ("discard", discard),
        ("scheduler", text(&drive.scheduler)),
        ("write cache", write_cache),
        ("contents", contents),
    ];
    rows.extend(drive.stands_on.iter().map(|below| ("stands on", below.clone())));
    if !device.unseen.is_empty() {
        rows.push(("not inspected", device.unseen.to_string()));
    }
    if let Some(commands) = device.found_anew.as_ref().filter(|_| is_held(device)) {
        rows.push(("found anew", commands.clone()));
    }
    match &device.own_words {
        Some(Ok(facts)) => rows.extend(facts.lines()),
        Some(Err(why)) => rows.push(("own words", format!("nothing: {}", printable(why)))),
        None => {}
    }
    let rows: String = rows.iter().map(|(name, value)| format!("  {name:16} {value}\n")).collect();
    rows + &verdict(device) + &how_to_erase(device)
}

/// The commands that make a drive testable, if only its content speaks against it.
fn how_to_erase(device: &Inspection) -> String {
    advice(&device.refusals).map_or_else(String::new, |advice| format!("{advice}\n"))
}

/// Whether somebody holds it, or may.
fn is_held(device: &Inspection) -> bool {
    let is_use = |refusal: &Refusal| {
        matches!(
            refusal,
            Refusal::InUse(_) | Refusal::HeldUnseen { .. } | Refusal::ExportOfUnknown { .. }
        )
    };
    !device.unseen.is_empty() || device.refusals.iter().any(is_use)
}

fn describe_profile(name: &str, profile: &Profile) -> String {
    let (derived, keys) = match profile {
        Profile::Ssd(ssd) => (
            format!(
                "{} of NAND on the board: spare area {:.1} % of the capacity\n# {} of it hold data \
                 in the end, without reserved and bad blocks, parity and a fixed SLC buffer\n# {} \
                 dies, superblocks of {}{}",
                ssd.raw_capacity(),
                ssd.spare_area() * 100.0,
                ssd.usable_capacity(),
                ssd.dies(),
                ssd.superblock_size(),
                own_encryption(&ssd.security),
            ),
            toml::to_string(ssd),
        ),
        Profile::Disk(disk) => {
            (format!("magnetic disk, {} rpm", disk.mechanics.rpm), toml::to_string(disk))
        }
    };
    let price = profile.identity().price_per_gb().map_or(String::new(), |price| {
        format!(
            "# {price:.2} USD per GB ({})\n",
            profile.identity().price_of.as_deref().unwrap_or("undated")
        )
    });
    format!("# Simulated drive sim:{name}\n# {derived}\n{price}\n{}", keys.unwrap_or_default())
}

/// What an array makes of its members, and one of these.
fn describe_array(drive: &DriveName) -> Result<String, CliError> {
    let info = drive.look()?;
    let name: ArrayName = drive.to_string().parse().map_err(writecliff::Error::from)?;
    let trims = if info.trim { "passed on to the members" } else { "not taken" };
    let (model, capacity) = (&info.model, info.capacity);
    Ok(format!(
        "# Simulated array {drive}: {model}\n# {capacity} ({} bytes) in chunks of {}; trims are \
         {trims}\n# What it does: docs/arrays.md. Each of its members is\n{}",
        capacity.0,
        name.shape.chunk.exact(),
        describe_profile(&name.drive, &profile(&name.drive)?)
    ))
}

/// A line about what the drive encrypts, if it does.
fn own_encryption(security: &Security) -> String {
    let key = match security.crypto_erase {
        true => "; a new key forgets everything in no time",
        false => "",
    };
    let said = security.in_words();
    said.map_or_else(String::new, |said| format!("\n# encrypts all data by itself: {said}{key}"))
}
