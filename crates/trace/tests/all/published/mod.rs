//! What is printed of the recordings that the shipped plans are about.

/// What the reviews print, in the order of this table's columns; `None` where they do not.
pub(crate) struct Published {
    pub(crate) plan: &'static str,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) read_gigabytes: Option<f64>,
    pub(crate) written_gigabytes: Option<f64>,
    /// Percent of all operations of 4, 16, 32 and 64 KiB.
    pub(crate) sizes: Option<[f64; 4]>,
    pub(crate) sequential_percent: Option<f64>,
    pub(crate) mean_queue_depth: Option<f64>,
    pub(crate) at_depth_1_percent: Option<f64>,
}

/// "AnandTech Storage Bench 2011" in the reviews since 2011: Heavy's and Light's operations and
/// sizes, Heavy's order and queue. "The Destroyer, Specs" in the review of the Crucial M500, 2013:
/// the Destroyer, and Heavy's bytes.
pub(crate) const PUBLISHED: [Published; 3] = [
    Published {
        plan: "heavy-2011",
        reads: 2_168_893,
        writes: 1_783_447,
        read_gigabytes: Some(48.63),
        written_gigabytes: Some(106.32),
        sizes: Some([28.0, 10.0, 10.0, 4.0]),
        sequential_percent: Some(42.0),
        mean_queue_depth: Some(4.625),
        at_depth_1_percent: Some(59.0),
    },
    Published {
        plan: "light-2011",
        reads: 372_630,
        writes: 459_709,
        read_gigabytes: None,
        written_gigabytes: None,
        sizes: Some([27.0, 8.0, 6.0, 5.0]),
        sequential_percent: None,
        mean_queue_depth: None,
        at_depth_1_percent: None,
    },
    Published {
        plan: "destroyer-2013",
        reads: 38_830_000,
        writes: 10_980_000,
        read_gigabytes: Some(1583.02),
        written_gigabytes: Some(875.62),
        sizes: None,
        sequential_percent: None,
        mean_queue_depth: Some(5.5),
        at_depth_1_percent: None,
    },
];
