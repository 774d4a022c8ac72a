//! `writecliff drives`: the catalogue, and the block devices here with what the guard says.

use std::ffi::OsStr;
use std::path::Path;

use writecliff::profile;
use writecliff_device::Bytes;
use writecliff_sim::{Profile, catalogue};
use writecliff_uring::{Inspection, advice, block_devices, inspect};

use crate::error::CliError;
use crate::output::print;

pub(crate) fn list() -> Result<(), CliError> {
    let mut text = String::from("Simulated drives (say sim:NAME):\n");
    let names = catalogue();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let profile = profile(name)?;
        let identity = profile.identity();
        text += &format!(
            "  {name:width$}  {:28} {:>8}  {}\n",
            identity.model,
            identity.capacity.to_string(),
            build(&profile),
        );
    }
    text += "\nBlock devices here:\n";
    let devices = block_devices();
    if devices.is_empty() {
        text += "  none\n";
    }
    devices.iter().for_each(|device| text += &describe(device));
    print(&text)
}

pub(crate) fn show(name: &OsStr) -> Result<(), CliError> {
    let is_profile =
        |name: &&str| name.starts_with("sim:") || name.ends_with(".toml") || !name.contains('/');
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

/// Everything that is known of a device without sending it a command of its own.
fn describe_whole(device: &Inspection) -> String {
    let drive = &device.identity;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not told".to_owned());
    let discard = match drive.discard_max {
        Bytes::ZERO => "none".to_owned(),
        Bytes(u64::MAX) => "holes in the file".to_owned(),
        most => format!("up to {} at a time", most.exact()),
    };
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
        ("contents", contents),
    ];
    rows.extend(drive.stands_on.iter().map(|below| ("stands on", below.clone())));
    if device.unseen_processes > 0 {
        rows.push((
            "not seen",
            format!("{} of the processes could not be looked into", device.unseen_processes),
        ));
    }
    let rows: String = rows.iter().map(|(name, value)| format!("  {name:16} {value}\n")).collect();
    rows + &verdict(device) + &how_to_erase(device)
}

/// The commands that make a drive testable, if only its content speaks against it.
fn how_to_erase(device: &Inspection) -> String {
    advice(&device.refusals).map_or_else(String::new, |advice| format!("{advice}\n"))
}

/// What a drive is built of, in a few words.
fn build(profile: &Profile) -> String {
    match profile {
        Profile::Ssd(ssd) => format!(
            "{:4.1} % spare area  {} x {}",
            ssd.spare_area() * 100.0,
            ssd.dies(),
            ssd.nand.name
        ),
        Profile::Disk(disk) => format!("disk, {} rpm", disk.mechanics.rpm),
    }
}

fn describe_profile(name: &str, profile: &Profile) -> String {
    let (derived, keys) = match profile {
        Profile::Ssd(ssd) => (
            format!(
                "{} of NAND on the board: spare area {:.1} % of the capacity\n# {} of it hold data \
                 in the end, without reserved and bad blocks, parity and a fixed SLC buffer\n# {} \
                 dies, superblocks of {}",
                ssd.raw_capacity(),
                ssd.spare_area() * 100.0,
                ssd.usable_capacity(),
                ssd.dies(),
                ssd.superblock_size(),
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
