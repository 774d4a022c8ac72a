//! `writecliff fleet`: a service over many simulated drives, by a plan.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use writecliff_device::Bytes;
use writecliff_fleet::{DRIVES, FleetRun, MINUTES, Service, summary, write_page};
use writecliff_measure::REPORT;
use writecliff_sweep::{RowFigure, Work};

use super::work::{Asked, done};
use crate::error::CliError;
use crate::output::{print, print_json};

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    /// The fleet's plan: docs/formats.md
    #[arg(value_name = "PLAN.toml", required_unless_present = "resume")]
    pub(crate) plan: Option<PathBuf>,
    /// Go on with the fleet in this directory: finished groups are kept
    #[arg(long, value_name = "FLEET", conflicts_with_all = ["plan", "out"])]
    pub(crate) resume: Option<PathBuf>,
    /// Directory for the results, new or empty [default: ./runs/fleet-PLAN-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Memory that drives may take together [default: three quarters of what is free]
    #[arg(long, value_name = "BYTES")]
    pub(crate) memory: Option<Bytes>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a script gets.
#[derive(Serialize)]
struct Told {
    minutes: PathBuf,
    drives: PathBuf,
    page: PathBuf,
    variants: Vec<ToldVariant>,
}

#[derive(Serialize)]
struct ToldVariant {
    figures: Vec<RowFigure>,
    #[serde(flatten)]
    service: Service,
}

pub(crate) fn fleet(arguments: &FleetArguments) -> Result<(), CliError> {
    let FleetArguments { plan, resume, out, memory, json } = arguments;
    let (plan, resume, out) = (plan.as_deref(), resume.as_deref(), out.as_deref());
    let run: FleetRun = done(&Asked { plan, resume, out, memory: *memory })?;
    tell(&run, *json)
}

fn tell(run: &FleetRun, json: bool) -> Result<(), CliError> {
    let services = run.services()?;
    let page = write_page(run.fleet(), &services, &run.path().join(REPORT));
    let page = page.map_err(writecliff::Error::from)?;
    let [minutes, drives] = [MINUTES, DRIVES].map(|file| run.path().join(file));
    if json {
        let variants = services.into_iter().map(|(_, service)| {
            let figures = service.figures();
            ToldVariant { figures, service }
        });
        return print_json(&Told { minutes, drives, page, variants: variants.collect() });
    }
    let text = summary(run.fleet(), &services);
    let [minutes, drives] = [minutes, drives].map(|file| file.display().to_string());
    print(&format!("{text}\nTables: {minutes}, {drives}\nReport: {}\n", page.display()))
}
