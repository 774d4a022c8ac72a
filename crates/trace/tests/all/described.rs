//! Made traces as `trace info` describes them, beside what the reviews print.
use crate::published;

use published::{PUBLISHED, Published};
use writecliff_trace::{Info, Maker, Plan, Share, Transfers, describe};

/// How far a figure may be from the printed one, as a part of it.
const TOLERANCE: f64 = 0.01;

/// The trace of this share of a plan.
fn described(plan: &str, share: f64) -> Info {
    let plan = Plan::shipped(plan).unwrap();
    let plan = if share < 1.0 { plan.scaled(share) } else { plan };
    let maker = Maker::new(&plan, 1).unwrap();
    let duration = maker.summary().duration();
    describe(maker.map(Ok), duration).unwrap()
}

/// Each figure that is printed, with what was found; bytes in GB.
fn compared(published: &Published, share: f64, info: &Info) -> Vec<(String, f64, f64)> {
    let gigabytes = |transfers: &Transfers| transfers.bytes as f64 / 1e9 / share;
    let depths = info.queue_depths.as_ref().unwrap();
    let mut figures = vec![
        ("GB read".to_owned(), published.read_gigabytes, gigabytes(&info.reads)),
        ("GB written".to_owned(), published.written_gigabytes, gigabytes(&info.writes)),
        (
            "% sequential".to_owned(),
            published.sequential_percent,
            info.transfers.sequential.percent,
        ),
        ("mean queue depth".to_owned(), published.mean_queue_depth, depths.mean),
        ("% at queue depth 1".to_owned(), published.at_depth_1_percent, depths.at_one.percent),
    ];
    let sizes = &info.transfers.sizes;
    let found: [(u32, Share); 4] =
        [(4, sizes.kb4), (16, sizes.kb16), (32, sizes.kb32), (64, sizes.kb64)];
    for (index, (kib, share)) in found.into_iter().enumerate() {
        let asked = published.sizes.map(|sizes| sizes[index]);
        figures.push((format!("% of {kib} KiB"), asked, share.percent));
    }
    let printed = |(name, asked, found): (String, Option<f64>, f64)| Some((name, asked?, found));
    figures.into_iter().filter_map(printed).collect()
}

/// All three; of the Destroyer 2 % by day.
#[test]
fn made_traces_are_described_as_the_reviews_print_them() {
    let is_night = std::env::var_os("WRITECLIFF_NIGHTLY").is_some();
    let destroyer = if is_night { 1.0 } else { 0.02 };
    for (published, share, figures) in
        [(&PUBLISHED[0], 1.0, 9), (&PUBLISHED[1], 1.0, 4), (&PUBLISHED[2], destroyer, 3)]
    {
        let info = described(published.plan, share);
        let part = |whole: u64| (whole as f64 * share).round() as u64;
        let counts = (info.reads.count, info.writes.count);
        assert_eq!(counts, (part(published.reads), part(published.writes)), "{}", published.plan);
        let compared = compared(published, share, &info);
        assert_eq!(compared.len(), figures, "{}: each that is printed", published.plan);
        for (name, asked, found) in compared {
            let off = (found - asked).abs() / asked;
            assert!(off <= TOLERANCE, "{}, {name}: {found}, not {asked}", published.plan);
        }
    }
}
