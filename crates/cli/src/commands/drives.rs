//! `writecliff drives`: the catalogue, and the block devices here with what the guard says.

use std::path::Path;

use writecliff_sim::{Profile, catalogue, load};
use writecliff_uring::{Inspection, advice, block_devices, inspect};

use super::print;
use crate::drive::profile;
use crate::error::CliError;

pub(crate) fn list() -> Result<(), CliError> {
    let mut text = String::from("Simulated drives (say sim:NAME):\n");
    let names = catalogue();
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    for name in names {
        let profile = load(name)?;
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

pub(crate) fn show(name: &str) -> Result<(), CliError> {
    let is_profile = name.starts_with("sim:") || name.ends_with(".toml") || !name.contains('/');
    let text = if is_profile {
        let simulated = name.strip_prefix("sim:").unwrap_or(name);
        describe_profile(simulated, &profile(simulated)?)
    } else {
        let device = inspect(Path::new(name))?;
        describe(&device) + &how_to_erase(&device)
    };
    print(&text)
}

/// A device and the verdict on it, with everything that speaks against it.
fn describe(device: &Inspection) -> String {
    let drive = &device.identity;
    let mut text = format!(
        "  {}  {}, {}, {}\n",
        drive.path.display(),
        drive.model.as_deref().unwrap_or("no model name"),
        drive.serial.as_deref().unwrap_or("no serial"),
        drive.capacity
    );
    if device.refusals.is_empty() {
        text += &format!("    may be tested: --destroy-data-on '{}'\n", device.consent);
    }
    for refusal in &device.refusals {
        let lines = refusal.to_string().replace('\n', "\n      ");
        text += &format!("    refused: {lines}\n");
    }
    text
}

/// The commands that make a drive testable, if only its content speaks against it.
fn how_to_erase(device: &Inspection) -> String {
    advice(&device.refusals).map_or_else(String::new, |advice| format!("{advice}\n"))
}

/// What a drive is built of, in a few words.
fn build(profile: &Profile) -> String {
    match profile {
        Profile::Ssd(ssd) => format!(
            "{:4.1} % spare  {} x {}",
            ssd.spare_factor() * 100.0,
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
                "{} of NAND, {} usable, {:.2} % of that spare; {} dies, superblocks of {}",
                ssd.raw_capacity(),
                ssd.usable_capacity(),
                ssd.spare_factor() * 100.0,
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
