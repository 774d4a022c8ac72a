//! Runs on the tiny simulated drive, and what is read back from a page about them.
#![allow(dead_code, reason = "benches use a part of it")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use writecliff_device::{Bytes, Nanos, Power, Temperature};
use writecliff_report::{Run, Subject, write_page};
use writecliff_sim::{SleepState, Ssd, load};
use writecliff_suite::{InReviews, Plan, RunOptions, TESTS, TestEntry, consistency, run};

/// As long as the documents' method.
const SECONDS: u64 = 2000;
const SPARES: [f64; 4] = [0.0, 10.0, 25.0, 40.0];

/// Runs any test on the tiny drive.
pub(crate) fn tiny(plan: &Plan, path: &Path) -> Run {
    let mut ssd = Ssd::new(load("tiny").unwrap().into_ssd().unwrap(), "sim:tiny");
    run(plan, &mut ssd, path, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    Run::open(path).unwrap()
}

/// The same of a drive with the mechanism that the test is about.
pub(crate) fn modelling_what_it_needs(plan: &Plan, path: &Path) -> Run {
    broken_off(plan, path, usize::MAX)
}

/// The same, ended by the user when it has told its progress so many times.
pub(crate) fn broken_off(plan: &Plan, path: &Path, told: usize) -> Run {
    let mut profile = load("tiny").unwrap().into_ssd().unwrap();
    match plan {
        Plan::Idle(_) => {
            profile.link.sleep = vec![SleepState {
                name: "slumber".to_owned(),
                after: Nanos::from_secs(2),
                exit_time: Nanos::from_millis(7),
                power: Power(1000),
            }];
        }
        Plan::Heat(_) => profile.power.ambient = Temperature(25_000),
        Plan::WorkingSet(_) => profile.mapping.cache = Some(Bytes::from_kib(64)),
        _ => {}
    }
    let mut ssd = Ssd::new(profile, "sim:tiny");
    let mut left = told;
    let mut goes_on = |_: &writecliff_suite::Progress<'_>| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    run(plan, &mut ssd, path, RunOptions::default(), &mut goes_on).unwrap();
    Run::open(path).unwrap()
}

/// Runs the consistency test.
pub(crate) fn consistency(path: &Path, seconds: u64, spare_percent: f64) -> Run {
    let duration = Nanos::from_secs(seconds);
    let plan = consistency::Plan { spare_percent, ..consistency::Plan::lasting(duration) };
    tiny(&Plan::Consistency(plan), path)
}

/// A subject of one run.
pub(crate) fn alone(run: Run) -> Subject {
    Subject { runs: vec![run], planned: None }
}

/// A review with every test, with seconds as many and as different as those of a large drive.
pub(crate) fn whole_review(dir: &Path) -> Subject {
    review_of(dir, |_| true)
}

/// The same with the tests that reviews have by default.
pub(crate) fn usual_review(dir: &Path) -> Subject {
    review_of(dir, |test| test.reviews == InReviews::ByDefault)
}

fn review_of(dir: &Path, is_in_it: impl Fn(&TestEntry) -> bool) -> Subject {
    let long = consistency(&dir.join("consistency"), SECONDS, 0.0);
    let spared = |spare_percent: f64| -> Run {
        let mut run = long.clone();
        let Plan::Consistency(plan) = &mut run.record.plan else { panic!("another plan") };
        plan.spare_percent = spare_percent;
        run
    };
    let others = TESTS.iter().filter(|test| test.name != "consistency" && is_in_it(test));
    let other = |test: &TestEntry| tiny(&(test.plan)().quick(), &dir.join(test.name));
    let runs = SPARES.into_iter().map(spared).chain(others.map(other)).collect();
    Subject { runs, planned: None }
}

/// The same of four drives.
pub(crate) fn four_of(one: &Subject) -> Vec<Subject> {
    let named = |index: usize| {
        let mut drive = one.clone();
        drive.runs.iter_mut().for_each(|run| run.record.drive.model = format!("Drive {index}"));
        drive
    };
    (1..=4).map(named).collect()
}

/// The page's text.
pub(crate) fn page(subjects: &[Subject], out: &Path) -> String {
    fs::read_to_string(write_page(subjects, out).unwrap()).unwrap()
}

/// A picture of a page.
pub(crate) struct Drawn {
    /// The name of its files.
    pub(crate) id: String,
    /// All that the page holds of it.
    pub(crate) markup: String,
}

impl Drawn {
    /// How many dots are drawn, round ones and square ones.
    pub(crate) fn dots(&self) -> usize {
        let drawn = self.markup.split("<ul class=\"legend\"").next().unwrap();
        ["h0", "h1m", "h1\"/>"].iter().map(|dot| drawn.matches(dot).count()).sum()
    }

    /// The beginning and the end of its x axis.
    pub(crate) fn x(&self) -> (f64, f64) {
        let scale = self.markup.split(" data-x=\"").nth(1).unwrap().split('"').next().unwrap();
        let ends: Vec<f64> = scale.split(' ').skip(1).map(|end| end.parse().unwrap()).collect();
        (ends[0], ends[1])
    }

    /// The names of its marks.
    pub(crate) fn marks(&self) -> Vec<&str> {
        let marks = self.markup.split("<text class=\"mark").skip(1);
        marks.map(|mark| mark.split(['>', '<']).nth(1).unwrap()).collect()
    }
}

/// The pictures of a page, in its order.
pub(crate) fn pictures(html: &str) -> Vec<Drawn> {
    let figures = html.split("<figure").skip(1);
    let markup = figures.map(|rest| rest.split("</figure>").next().unwrap());
    let id = |markup: &str| {
        let file = markup.split("href=\"pictures/").nth(1).unwrap();
        file.split(".svg").next().unwrap().to_owned()
    };
    markup.map(|markup| Drawn { id: id(markup), markup: markup.to_owned() }).collect()
}

/// The pictures whose names begin so, in the order of the page.
pub(crate) fn of_view<'a>(pictures: &'a [Drawn], view: &str) -> Vec<&'a Drawn> {
    let is_of_view = |id: &str| id.strip_prefix(view).is_some_and(|rest| !rest.starts_with("-map"));
    pictures.iter().filter(|picture| is_of_view(&picture.id)).collect()
}
