//! What traces are called among the phases and series of a run.

use writecliff_measure::ReplaySeries;

/// The phase that writes every LBA once before a trace.
pub fn fill_phase(trace: &str) -> String {
    format!("{trace}/fill")
}

/// What a series of a trace is called.
pub fn series_name(trace: &str, series: ReplaySeries) -> String {
    let what = match series {
        ReplaySeries::Reads => "reads",
        ReplaySeries::Writes => "writes",
        ReplaySeries::Others => "others",
        ReplaySeries::Response => "response",
        ReplaySeries::Lateness => "lateness",
    };
    format!("{trace}/{what}")
}
