//! What fio was asked, as a plan of ours: its options are read as those of a job file.

use writecliff_suite::mixed;
use writecliff_workload::fio::{self, FioJobs};

use super::output::{Options, Output};

/// The plan, and the options that say something that it does not.
pub(super) struct Asked {
    pub(super) plan: mixed::Plan,
    pub(super) beside: Vec<String>,
}

/// Options of fio's that say where and how something is printed, or that are told elsewhere.
const OF_NO_PLAN: [&str; 1] = ["name"];

impl Asked {
    /// Of fio's output; an error if nothing of a job can be followed.
    pub(super) fn of(output: &Output) -> Result<Self, String> {
        let mut lines = section("global", &output.global);
        let mut seen: Vec<&str> = Vec::new();
        let mut groups = Vec::new();
        for job in &output.jobs {
            // Copies have one name.
            if !seen.contains(&job.jobname.as_str()) {
                seen.push(&job.jobname);
                groups.push(job.groupid);
                lines.extend(section(&job.jobname, &job.options));
            }
        }
        let engines = lines.iter().filter_map(|line| line.strip_prefix("ioengine="));
        if let Some(engine) = { engines }.find(|engine| fio::asks_no_drive(engine)) {
            return Err(format!(
                "ioengine={engine} asks no drive: nothing here was measured of one"
            ));
        }
        let (mut beside, mut left) = (Vec::new(), lines);
        let FioJobs { list, .. } = loop {
            match fio::read("fio", &left.join("\n"), &|_| None) {
                Ok(jobs) => break jobs,
                Err(error) => {
                    let at = error.line.wrapping_sub(1);
                    match left.get_mut(at) {
                        // A second drive by its section's name: what was measured is told all the same.
                        Some(line) if line.starts_with("[/") => *line = line.replacen('/', "", 1),
                        Some(line) if !line.starts_with('[') => beside.push(left.remove(at)),
                        _ => return Err(format!("its options are no jobs: {}", error.message)),
                    }
                }
            }
        };
        beside.sort();
        beside.dedup();
        let mut plan = mixed::Plan::from(list);
        plan.jobs.iter_mut().zip(groups).for_each(|(job, group)| job.group = group);
        Ok(Self { plan, beside })
    }
}

fn section(name: &str, options: &Options) -> Vec<String> {
    let told = options.iter().filter(|(key, _)| !OF_NO_PLAN.contains(&key.as_str()));
    let line = |(key, value): (&String, &String)| one_line(&format!("{key}={value}"));
    std::iter::once(one_line(&format!("[{name}]"))).chain(told.map(line)).collect()
}

/// Somebody else's text as one line of a file.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
