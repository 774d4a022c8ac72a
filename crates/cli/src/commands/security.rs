//! `writecliff security` and `writecliff psid-revert`: the locks that a drive has by itself.

use std::fmt::Write;

use clap::Args;
use serde::Serialize;
use writecliff::{DriveName, Inspection, Psid, psid_revert};
use writecliff_device::printable;
use writecliff_uring::{Facts, KernelOpal, Refusal, Security, SelfEncryption};

use crate::consent::{ComesFirst, consent};
use crate::error::CliError;
use crate::options::ConsentOptions;
use crate::output::{print, print_json, say};

#[derive(Debug, Args)]
pub(crate) struct SecurityArguments {
    /// The drive
    pub(crate) drive: DriveName,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PsidRevertArguments {
    /// The drive
    pub(crate) drive: DriveName,
    /// The number on the drive's label, 32 letters and digits beside the word PSID
    #[arg(long, value_name = "PSID")]
    pub(crate) psid: Psid,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
}

/// What a script gets.
#[derive(Serialize)]
struct Told<'a> {
    drive: String,
    ata_security: Option<Security>,
    encryption: Option<&'a SelfEncryption>,
    crypto_erase: Vec<&'static str>,
    kernel_opal: Option<&'static str>,
    refusals: Vec<String>,
    missing: Option<&'a str>,
}

/// Shows every lock, whether it is closed, and the way out.
pub(crate) fn security(arguments: &SecurityArguments) -> Result<(), CliError> {
    let SecurityArguments { drive, json } = arguments;
    let Some(inspection) = drive.inspect()? else {
        let name = drive.to_string();
        return Err(writecliff::Error::NoRealDrive { name }.into());
    };
    let (facts, missing) = match &inspection.own_words {
        Some(Ok(facts)) => (Some(facts), None),
        Some(Err(why)) => (None, Some(why.as_str())),
        None => {
            (None, Some("it is a file, a partition or stands on other devices: name the drive"))
        }
    };
    if *json {
        return print_json(&told(drive, &inspection, facts, missing));
    }
    let mut text = format!("{}\n", inspection.identity.path.display());
    for (name, words) in lines(&inspection, facts, missing) {
        let _ = writeln!(text, "  {name}: {}", printable(&words));
    }
    print(&text)
}

fn lines(
    inspection: &Inspection,
    facts: Option<&Facts>,
    missing: Option<&str>,
) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    lines.extend(missing.map(|why| ("not known", why.to_owned())));
    if let Some(facts) = facts {
        let own = facts.lines();
        let of = |name: &str, otherwise: &str| {
            let found = own.iter().find(|(known, _)| *known == name);
            found.map_or_else(|| otherwise.to_owned(), |(_, words)| words.clone())
        };
        lines.push(("ATA security", of("security", "the drive has none")));
        let none = "the drive shows none; of a SATA drive the kernel passes the question on only if \
                    it was started with libata.allow_tpm=1";
        lines.push(("TCG and IEEE 1667", of("encryption", none)));
        let crypto = crypto_erase(facts).join(", ");
        let crypto = if crypto.is_empty() { "the drive has none".to_owned() } else { crypto };
        lines.push(("crypto erase", crypto));
    }
    let kernel = inspection.kernel_opal.map_or("nothing", in_words);
    lines.push(("the kernel's Opal support", kernel.to_owned()));
    let locks = inspection.refusals.iter().filter(|refusal| is_of_lock(refusal));
    lines.extend(locks.map(|refusal| ("REFUSED", refusal.to_string())));
    lines
}

fn told<'a>(
    drive: &DriveName,
    inspection: &Inspection,
    facts: Option<&'a Facts>,
    missing: Option<&'a str>,
) -> Told<'a> {
    let locks = inspection.refusals.iter().filter(|refusal| is_of_lock(refusal));
    Told {
        drive: drive.to_string(),
        ata_security: facts.and_then(|facts| facts.security),
        encryption: facts.and_then(|facts| facts.encryption.as_ref()),
        crypto_erase: facts.map_or_else(Vec::new, crypto_erase),
        kernel_opal: inspection.kernel_opal.map(in_words),
        refusals: locks.map(Refusal::to_string).collect(),
        missing,
    }
}

/// The purges that change the key of the data.
fn crypto_erase(facts: &Facts) -> Vec<&'static str> {
    let names = facts.purges.iter().map(|offer| offer.kind.name());
    names.filter(|name| name.ends_with("crypto")).collect()
}

const fn is_of_lock(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::DriveLocked { .. } | Refusal::UnfinishedPurge { .. })
}

const fn in_words(kernel: KernelOpal) -> &'static str {
    match kernel {
        KernelOpal { locked: true, .. } => "sees the drive locked",
        KernelOpal { locking_enabled: true, .. } => "sees locking on, and nothing locked",
        KernelOpal { supported: true, .. } => "can give it Opal commands; locking is off",
        _ => "has no Opal commands for it",
    }
}

/// Asks for consent, and reverts the drive to its factory state.
pub(crate) fn revert(arguments: &PsidRevertArguments) -> Result<(), CliError> {
    let PsidRevertArguments { drive, psid, consent: passed } = arguments;
    let consent = consent(drive, true, passed, ComesFirst::Revert)?;
    say("note: a revert takes a drive a few seconds to minutes, and cannot be undone");
    psid_revert(drive, psid, consent.as_ref())?;
    print("Reverted to the factory state: no password, no lock, no data.\n")
}
