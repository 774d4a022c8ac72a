//! Encryption: what it costs, in speed, in the host's processor, and in what TRIM brings back.

use writecliff_device::DeviceInfo;
use writecliff_suite::encryption::{Outcome, Part, PartFigures, Plan, Setting};
use writecliff_suite::{Good, Plan as AnyPlan};

use super::{Answer, answers, number_row, per_drive, table_of};
use crate::number;
use crate::number::NONE;
use crate::picture::{Bar, Picture, nth_style};
use crate::section::{Column, Place, Row, Section, Table, View};
use crate::subjects::Subjects;

const TITLE: &str = "Encryption";

pub(super) fn section(subjects: &Subjects<'_>) -> Option<Section> {
    let answers = answers::<Outcome>(subjects);
    if answers.is_empty() {
        return None;
    }
    let views = [
        view(subjects, &answers, ("encryption-random", "Random reads and writes"), true),
        view(subjects, &answers, ("encryption-sequential", "Sequential reads and writes"), false),
    ];
    let method = method(subjects, &answers);
    let tables = tables(subjects, &answers);
    Some(Section::new(Plan::NAME, TITLE, &method, views.into_iter().flatten().collect(), tables))
}

/// The test in a sentence or two.
pub(super) fn headline(outcome: &Outcome, drive: &DeviceInfo) -> Option<String> {
    let Some(writes) = Cost::of(outcome, Part::Used, drive) else {
        let plain = outcome.find(Setting::Plain, Part::Used)?;
        return Some(format!(
            "Without encryption it does {} of random writes {}; with any it was not measured.",
            rate(plain),
            when(plain, drive)
        ));
    };
    let mut text = match writes.kept {
        ..LITTLE => format!("Software encryption costs this drive {}", writes.in_words()),
        _ => format!(
            "Software encryption costs random writes of this drive, {}, next to nothing: {}",
            writes.when,
            writes.in_words()
        ),
    };
    text += &writes.reason();
    let more = [worst_corner(outcome), trim(outcome)].into_iter().flatten();
    let more: String = more.map(|sentence| format!(" {sentence}")).collect();
    Some(format!("{text}.{more}"))
}

/// The corner that loses most, if any loses much.
fn worst_corner(outcome: &Outcome) -> Option<String> {
    const CORNERS: [Part; 4] =
        [Part::SequentialWrite, Part::RandomWrite, Part::SequentialRead, Part::RandomRead];
    let kept = |part| Some((part, outcome.kept(Setting::Encrypted, part)?));
    let known = CORNERS.into_iter().filter_map(kept);
    let (part, kept) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let lost = number::percent(1.0 - kept);
    (kept < LITTLE).then(|| format!("Of the corners it costs {} most: {lost}.", name(part)))
}

/// From this share of the plain rate on there is no difference worth a reason.
const LITTLE: f64 = 0.97;
/// A processor that is busy for this share of the time is what bounds the rate.
const BOUND: f64 = 0.95;
/// Data that take so many times as much NAND are what the drive saved before.
const SAVED: f64 = 1.1;

/// Spare area takes as much of most drives, or less: random writes of less may leave some of it unused.
const USED: f64 = 0.1;

/// The state of a drive after so many random writes.
fn when(used: &PartFigures, drive: &DeviceInfo) -> String {
    if drive.rotational {
        return "all over it".to_owned();
    }
    if used.bytes.0 as f64 >= USED * drive.capacity.0 as f64 {
        return "once it is used".to_owned();
    }
    format!("after {} of them, which its spare area may hold", number::bytes(used.bytes.0 as f64))
}

/// What encryption costs in one part.
struct Cost<'a> {
    /// The drive's state.
    when: String,
    kept: f64,
    plain: &'a PartFigures,
    encrypted: &'a PartFigures,
}

impl<'a> Cost<'a> {
    fn of(outcome: &'a Outcome, part: Part, drive: &DeviceInfo) -> Option<Self> {
        let kept = outcome.kept(Setting::Encrypted, part)?;
        let plain = outcome.find(Setting::Plain, part)?;
        let encrypted = outcome.find(Setting::Encrypted, part)?;
        Some(Self { when: when(plain, drive), kept, plain, encrypted })
    }

    /// `38 % of its random writes once it is used, 4,700 IOPS instead of 7,580`, `4,700 IOPS with it, and 4,710 IOPS
    /// without`.
    fn in_words(&self) -> String {
        let [plain, encrypted] = [self.plain, self.encrypted].map(rate);
        match self.kept {
            ..LITTLE => format!(
                "{} of its random writes {}, {encrypted} instead of {plain}",
                number::percent(1.0 - self.kept),
                self.when
            ),
            _ => format!("{encrypted} with it, and {plain} without"),
        }
    }

    /// Why, where figures tell; a part of the sentence.
    fn reason(&self) -> String {
        let nand = |figures: &PartFigures| figures.write_amplification;
        let (before, after) = (nand(self.plain), nand(self.encrypted));
        // The plain setting takes a model's processor no time.
        let is_model = self.plain.processors_busy == Some(0.0);
        let busy = self.encrypted.processors_busy.filter(|_| is_model);
        match (self.kept, before.zip(after), busy) {
            (LITTLE.., ..) => String::new(),
            (_, Some((before, after)), _) if after > before * SAVED => format!(
                ". Its controller reduces what it writes, and encrypted data do not shrink: a byte \
                 of the host's takes {} bytes of NAND writes instead of {}",
                number::ratio(after),
                number::ratio(before)
            ),
            (_, _, Some(busy)) if busy >= BOUND => ". The host's processor is what bounds it: it \
                                                    encrypts all the time"
                .to_owned(),
            _ => String::new(),
        }
    }
}

/// What a TRIM of everything brings back, if it passes and if not.
fn trim(outcome: &Outcome) -> Option<String> {
    let after = |setting| outcome.find(setting, Part::AfterTrim).map(rate);
    let (kept, passed) = (after(Setting::Encrypted)?, after(Setting::EncryptedWithTrim)?);
    Some(format!(
        "After a TRIM of everything it writes {passed} where encryption lets it pass, and {kept} \
         where it does not."
    ))
}

/// How it was encrypted, and what the drives do by themselves; once, where it is the same for all.
fn method(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for answer in answers {
        let (text, who) = (said(answer), subjects.full_name(answer.subject));
        match told.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push(who),
            None => told.push((text, vec![who])),
        }
    }
    if let [(text, _)] = &told[..] {
        return text.clone();
    }
    let each = told.iter().map(|(text, names)| format!("{}: {text}", names.join(", ")));
    each.collect::<Vec<_>>().join(" ")
}

fn said(answer: &Answer<'_, Outcome>) -> String {
    let AnyPlan::Encryption(plan) = &answer.run.record.plan else { return String::new() };
    let drive = &answer.run.record.drive;
    let host = match (answer.run.is_simulated(), &plan.cipher_of) {
        (false, _) => "dm-crypt of this machine, aes-xts-plain64 with 256 bits; processor time is \
                       of the whole machine"
            .to_owned(),
        (true, Some(processor)) => {
            format!(
                "one processor of a model's host, as fast as measured on {processor}: {}",
                plan.cipher
            )
        }
        (true, None) => {
            format!("one processor of a model's host, at a fixed speed: {}", plan.cipher)
        }
    };
    let own = drive.specification.own_encryption.as_ref().map_or_else(String::new, |own| {
        format!(
            " The drive's own ({own}) is always on: it costs nothing beyond what the plain \
             figures hold."
        )
    });
    let compressible = plan.compressible_percent;
    let first = plan.random_write_span;
    let places = match plan.span.unwrap_or(drive.capacity) {
        all if first < all => format!(
            " Random writes go to the first {} while the drive is fresh, and afterwards to all of it that is tested.",
            number::size(first)
        ),
        _ => String::new(),
    };
    let seconds = match plan.measurement < plan.random_duration {
        true => format!(
            " Of random writes to the fresh drive the first {} count, as long as those after TRIM last.",
            number::seconds(plan.measurement.as_secs_f64())
        ),
        false => String::new(),
    };
    format!(
        "Data are {compressible} % compressible before they are encrypted. What encrypts them: {host}.{places}{seconds}{own}"
    )
}

/// A bar for each part and setting.
fn view(
    subjects: &Subjects<'_>,
    answers: &[Answer<'_, Outcome>],
    (id, title): (&str, &str),
    random: bool,
) -> Option<View> {
    let parts = || Part::ALL.into_iter().filter(|part| part.is_random() == random);
    let value = |answer: &Answer<'_, Outcome>, part, setting| {
        Some(answer.outcome.find(setting, part)?.value())
    };
    let all = answers.iter().flat_map(|answer| {
        parts().flat_map(move |part| Setting::ALL.map(|setting| value(answer, part, setting)))
    });
    let highest = all.flatten().fold(0.0, f64::max);
    let encrypted = |answer: &Answer<'_, Outcome>| {
        let mut settings = Setting::ALL.into_iter().filter(|setting| *setting != Setting::Plain);
        settings.any(|setting| parts().any(|part| value(answer, part, setting).is_some()))
    };
    let text = match answers.iter().any(encrypted) {
        true => "The same with and without software encryption. Higher is better.",
        false => "Without software encryption: the test ended before that. Higher is better.",
    };
    per_drive(subjects, answers, (id, title, text), |answer, id, heading| {
        let bar = |part: Part, (nth, setting): (usize, Setting)| {
            let figures = answer.outcome.find(setting, part)?;
            let name = format!("{}: {}", name(part), of_setting(setting));
            let (value, mut words, style) = (figures.value(), rate(figures), nth_style(nth));
            if subjects.all[answer.subject].is_doubtful(Plan::NAME) {
                words += " ?";
            }
            Some(Bar { name, value, error: None, words, style })
        };
        let settings = || Setting::ALL.into_iter().enumerate();
        let bars = parts().flat_map(|part| settings().filter_map(move |each| bar(part, each)));
        let bars: Vec<Bar> = bars.collect();
        let unit = if random { "IOPS" } else { "MB/s" };
        (!bars.is_empty()).then(|| Picture::bars(id, heading, unit, bars, highest))
    })
}

/// What a table is of: its title, what it says, which way is better, where its values are, and how they
/// are written; `None` where the part has its own way.
struct Said {
    title: &'static str,
    text: &'static str,
    good: Good,
    value: fn(&Outcome, Setting, Part) -> Option<f64>,
    words: Option<fn(f64) -> String>,
}

const SAID: [Said; 5] = [
    Said {
        title: "Rates",
        text: "",
        good: Good::AtLeast,
        value: |outcome, setting, part| Some(outcome.find(setting, part)?.value()),
        words: None,
    },
    Said {
        title: "As a share of the plain rate",
        text: "",
        good: Good::AtLeast,
        value: |outcome, setting, part| {
            outcome.kept(setting, part).filter(|_| setting != Setting::Plain)
        },
        words: Some(number::percent),
    },
    Said {
        title: "Processor time per GB",
        text: "Of the host: of the whole machine, or of the model's one processor.",
        good: Good::AtMost,
        value: |outcome, setting, part| outcome.find(setting, part)?.processor_s_per_gb,
        words: Some(milliseconds),
    },
    Said {
        title: "NAND writes",
        text: "Bytes programmed for each byte that the host writes.",
        good: Good::AtMost,
        value: |outcome, setting, part| outcome.find(setting, part)?.write_amplification,
        words: Some(number::ratio),
    },
    Said {
        title: "Power",
        text: "",
        good: Good::AtMost,
        value: |outcome, setting, part| outcome.find(setting, part)?.watts,
        words: Some(number::watts),
    },
];

fn tables(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>]) -> Vec<Table> {
    let table = |said: &Said| match answers {
        [answer] => matrix(answer.outcome, said),
        answers => list(subjects, answers, said),
    };
    SAID.iter().filter_map(table).collect()
}

/// Of one drive: parts down, settings across.
fn matrix(outcome: &Outcome, said: &Said) -> Option<Table> {
    let is_known = |part: Part, setting| (said.value)(outcome, setting, part).is_some();
    let of_any = |setting: &Setting| Part::ALL.into_iter().any(|part| is_known(part, *setting));
    let settings: Vec<Setting> = Setting::ALL.into_iter().filter(of_any).collect();
    let row = |part: Part| {
        let words = |value| (said.words.unwrap_or_else(|| in_units(part)))(value);
        let value = |setting: &Setting| {
            (said.value)(outcome, *setting, part).map_or_else(|| NONE.to_owned(), words)
        };
        let is_known = settings.iter().any(|setting| is_known(part, *setting));
        is_known.then(|| Row::new(name(part), settings.iter().map(value).collect(), ""))
    };
    let column =
        |setting: &Setting| Column { of: Place::default(), name: of_setting(*setting).to_owned() };
    let rows: Vec<Row> = Part::ALL.into_iter().filter_map(row).collect();
    let columns = settings.iter().map(column).collect();
    (!rows.is_empty()).then(|| Table::new(said.title, said.text, columns, rows))
}

/// Of several drives: a row for each part and setting that any of them has.
fn list(subjects: &Subjects<'_>, answers: &[Answer<'_, Outcome>], said: &Said) -> Option<Table> {
    let row = |part: Part, setting: Setting| {
        let values: Vec<Option<f64>> =
            answers.iter().map(|answer| (said.value)(answer.outcome, setting, part)).collect();
        let name = format!("{}: {}", name(part), of_setting(setting));
        let words = said.words.unwrap_or_else(|| in_units(part));
        let is_known = values.iter().any(Option::is_some);
        is_known.then(|| number_row(&name, said.good, values.into_iter(), words))
    };
    let of_part = |part| Setting::ALL.into_iter().filter_map(move |setting| row(part, setting));
    let rows: Vec<Row> = Part::ALL.into_iter().flat_map(of_part).collect();
    (!rows.is_empty()).then(|| table_of(subjects, answers, (said.title, said.text), rows))
}

/// How a rate of this part is written.
fn in_units(part: Part) -> fn(f64) -> String {
    if part.is_random() { number::iops } else { number::megabytes_per_second }
}

fn name(part: Part) -> &'static str {
    match part {
        Part::SequentialWrite => "sequential writes, fresh",
        Part::RandomWrite => "random writes, fresh",
        Part::SequentialRead => "sequential reads",
        Part::RandomRead => "random reads",
        Part::Used => "random writes, used",
        Part::AfterTrim => "random writes after TRIM",
    }
}

fn of_setting(setting: Setting) -> &'static str {
    match setting {
        Setting::Plain => "plain",
        Setting::Encrypted => "encrypted",
        Setting::EncryptedWithTrim => "encrypted, TRIM passes",
    }
}

fn rate(figures: &PartFigures) -> String {
    in_units(figures.part)(figures.value())
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", number::significant(seconds * 1e3))
}
