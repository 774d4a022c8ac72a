//! The machine that a run was made on.

use serde::{Deserialize, Serialize};

/// The machine that ran a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub processor: String,
    /// Processors available.
    pub processors: usize,
}

impl Host {
    /// This machine, as far as the kernel tells.
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model =
            cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            kernel: format!("{} {}", read("/proc/sys/kernel/ostype").trim(), release.trim()),
            processor: model.map_or("unknown", |(_, name)| name.trim()).to_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
