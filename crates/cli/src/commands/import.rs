//! `writecliff import`: what fio measured, as runs beside ours.

use std::path::{Path, PathBuf};

use clap::Args;
use writecliff::{Imported, import_fio};
use writecliff_device::Bytes;
use writecliff_output::check_directory;
use writecliff_suite::Label;

use super::report::page_of;
use crate::error::CliError;
use crate::library::keep;
use crate::options::ShownOptions;
use crate::place::Place;

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// What fio printed with --output-format=json or json+; its logs are read where they lie beside it
    #[arg(required = true, value_name = "FIO.json")]
    files: Vec<PathBuf>,
    /// The drive's model name [default: the file that fio was given]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The drive's serial number
    #[arg(long, value_name = "TEXT")]
    serial: Option<String>,
    /// The drive's firmware revision
    #[arg(long, value_name = "TEXT")]
    firmware: Option<String>,
    /// The drive's capacity, like 960GB
    #[arg(long, value_name = "BYTES")]
    capacity: Option<Bytes>,
    /// A name of your own for the result, shown beside the drive's
    #[arg(long, value_name = "NAME")]
    label: Option<Label>,
    /// Directory for the run, new or empty; of several files for a directory each, by their names
    /// [default: ./runs/fio-FILE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave the result out of the results library (`writecliff bench`)
    #[arg(long)]
    no_bench: bool,
    #[command(flatten)]
    shown: ShownOptions,
}

pub(crate) fn import(arguments: &ImportArguments) -> Result<(), CliError> {
    let ImportArguments { model, serial, firmware, capacity, label, .. } = arguments;
    let known = Imported {
        model: model.clone(),
        serial: serial.clone(),
        firmware: firmware.clone(),
        capacity: *capacity,
        label: label.clone(),
    };
    for file in &arguments.files {
        let out = arguments.out.as_ref().map(|out| match arguments.files.len() {
            1 => out.clone(),
            _ => out.join(stem(file)),
        });
        let name = || {
            let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
            format!("fio-{}-{now}", stem(file))
        };
        let place = Place::named_or(out.as_deref(), name);
        check_directory(&place).map_err(writecliff::Error::from)?;
        import_fio(file, &known, &place).map_err(writecliff::Error::from)?;
        keep(&place, arguments.no_bench);
        page_of(&place, &arguments.shown)?;
    }
    Ok(())
}

fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(|| "fio".into(), |stem| stem.to_string_lossy()).into_owned()
}
