//! Archives from anywhere: what is taken, what is refused, and that figures are computed anew.
use crate::common;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use common::{Place, own};
use serde_json::Value;
use writecliff_bench::{ImportError, Imported, Library, Limits, import};

/// An archive of these files, as a tar that nothing is compressed of.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // Names that the library would refuse to write.
        let bytes = name.as_bytes();
        header.as_gnu_mut().unwrap().name[..bytes.len()].copy_from_slice(bytes);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// The files of a run, as archives have them.
fn files_of(run: &Path, at: &str) -> Vec<(String, Vec<u8>)> {
    let names = ["run.json", "series.parquet", "histograms.parquet"];
    names.map(|name| (format!("{at}/{name}"), fs::read(run.join(name)).unwrap())).to_vec()
}

fn tar_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    tar(&files)
}

struct Importer {
    place: Place,
    library: Library,
}

impl Importer {
    fn new() -> Self {
        let place = Place::new();
        let library = place.library();
        Self { place, library }
    }

    fn take(&mut self, name: &str, archive: &[u8]) -> Result<Imported, ImportError> {
        self.take_within(name, archive, &Limits::default())
    }

    fn take_within(
        &mut self,
        name: &str,
        archive: &[u8],
        limits: &Limits,
    ) -> Result<Imported, ImportError> {
        let path = self.place.path(name);
        fs::write(&path, archive).unwrap();
        import(&mut self.library, &self.place.home(), &path, limits)
    }

    /// Every file of the library's directory.
    fn copies(&self) -> Vec<PathBuf> {
        fn below(directory: &Path, all: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { below(&path, all) } else { all.push(path) }
            }
        }
        let mut all = Vec::new();
        below(&self.place.home().path().join("imported"), &mut all);
        all
    }
}

#[test]
fn an_archive_is_taken_however_it_is_packed() {
    let mut importer = Importer::new();
    let run = importer.place.consistency("original", 1);
    let plain = tar_of(&files_of(&run, "theirs/consistency"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files_of(&run, "theirs") {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&content).unwrap();
    }
    let archives = [
        ("a.tar", plain.clone()),
        ("b.tar.gz", gzip.finish().unwrap()),
        ("c.tar.zst", zstd::encode_all(&plain[..], 1).unwrap()),
        ("d.zip", zip.finish().unwrap().into_inner()),
    ];
    for (name, archive) in archives {
        let imported = importer.take(name, &archive).unwrap();
        assert_eq!((imported.runs, imported.corrected.len()), (1, 0), "{name}");
        let bench = importer.library.bench().unwrap();
        let (record, _) = writecliff::open(&run).unwrap();
        let figures: Vec<f64> = own(&bench)[0].figures.iter().map(|(_, value)| *value).collect();
        let expected: Vec<f64> = record.figures().iter().map(|figure| figure.value).collect();
        assert_eq!(figures, expected, "{name}");
        let again = importer.take(name, &archive).unwrap();
        assert_eq!((again.place, again.runs), (None, 0), "{name}: it is there already");
        importer.library.remove(&[imported.place.unwrap()]).unwrap();
        assert!(importer.copies().is_empty(), "{name}");
    }
    let imported = import(
        &mut importer.library,
        &importer.place.home(),
        &importer.place.path("original"),
        &Limits::default(),
    );
    assert_eq!(imported.unwrap().runs, 1, "a directory, too");
}

#[test]
fn forged_figures_become_what_the_seconds_give() {
    let mut importer = Importer::new();
    let run = importer.place.consistency("original", 1);
    let (honest, _) = writecliff::open(&run).unwrap();
    let mut files = files_of(&run, "forged");
    let mut record: Value = serde_json::from_slice(&files[0].1).unwrap();
    record["outcome"]["steady_iops"]["floor"] = 9_999_999.into();
    record["drive"]["model"] = "<script>alert(1)</script>\u{1b}[2J".into();
    files[0].1 = serde_json::to_vec(&record).unwrap();
    let imported = importer.take("forged.tar", &tar_of(&files)).unwrap();
    assert_eq!(imported.corrected, ["forged"]);
    let bench = importer.library.bench().unwrap();
    let run = own(&bench)[0];
    let shown: Vec<f64> = run.figures.iter().map(|(_, value)| *value).collect();
    let expected: Vec<f64> = honest.figures().iter().map(|figure| figure.value).collect();
    assert_eq!(shown, expected);
    let drive = &bench.drives[run.drive];
    assert!(!drive.name.contains('\u{1b}'), "{drive:?}");
    assert!(drive.id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{drive:?}");
    // The copy says so, too: whoever reads it is not told what was forged.
    let copy = run.private.directory.as_ref().unwrap();
    let (record, _) = writecliff::open(copy).unwrap();
    assert_eq!(record.figures(), honest.figures());
}

#[test]
fn nothing_leads_out_of_the_library() {
    let mut importer = Importer::new();
    let names = ["../run.json", "/tmp/run.json", "a/../../run.json", "a/b/../run.json"];
    for name in names {
        let refused = importer.take("bad.tar", &tar(&[(name, b"{}")]));
        assert!(matches!(refused, Err(ImportError::Escapes { .. })), "{name}: {refused:?}");
    }
    assert!(importer.copies().is_empty());
    assert!(!importer.place.path("run.json").exists());
}

#[test]
fn links_devices_and_pages_are_left_out() {
    let mut importer = Importer::new();
    let run = importer.place.consistency("original", 1);
    let mut builder = tar::Builder::new(Vec::new());
    for (kind, name) in [
        (tar::EntryType::Symlink, "x/run.json"),
        (tar::EntryType::Link, "x/series.parquet"),
        (tar::EntryType::Char, "x/histograms.parquet"),
        (tar::EntryType::Fifo, "x/review.json"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        match kind {
            tar::EntryType::Symlink | tar::EntryType::Link => {
                builder.append_link(&mut header, name, "/etc/passwd").unwrap();
            }
            _ => builder.append_data(&mut header, name, &[][..]).unwrap(),
        }
    }
    let mut files = files_of(&run, "x/y");
    files.push(("x/y/report/index.html".to_owned(), b"<script>".to_vec()));
    files.push(("x/y/ios.parquet".to_owned(), b"PAR1".to_vec()));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, &content[..]).unwrap();
    }
    let imported = importer.take("mixed.tar", &builder.into_inner().unwrap()).unwrap();
    assert_eq!((imported.runs, imported.left_out), (1, 6));
    let names: Vec<_> =
        importer.copies().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(importer.copies().iter().all(|path| path.symlink_metadata().unwrap().is_file()));
}

#[test]
fn bombs_are_stopped_at_the_bounds() {
    let mut importer = Importer::new();
    let zeros = vec![0; 40 << 20];
    for name in ["a/run.json", "a/passed-over.bin", "a/series.parquet"] {
        let bomb = zstd::encode_all(&tar(&[(name, &zeros)])[..], 1).unwrap();
        let refused = importer.take("bomb.tar.zst", &bomb);
        assert!(matches!(refused, Err(ImportError::TooMuch { .. })), "{name}: {refused:?}");
    }
    let many: Vec<(String, Vec<u8>)> = (0..50).map(|n| (format!("{n}.txt"), Vec::new())).collect();
    let few = Limits { entries: 20, ..Limits::default() };
    let refused = importer.take_within("many.tar", &tar_of(&many), &few);
    assert!(matches!(refused, Err(ImportError::TooMuch { .. })), "{refused:?}");
    let deep = format!("{}run.json", "d/".repeat(30));
    let refused = importer.take("deep.tar", &tar(&[(&deep, b"{}")]));
    assert!(matches!(refused, Err(ImportError::TooMuch { .. })), "{refused:?}");
    let run = importer.place.consistency("original", 1);
    let short = Limits { samples: 3, ..Limits::default() };
    let refused = importer.take_within("long.tar", &tar_of(&files_of(&run, "a")), &short);
    assert!(matches!(refused, Err(ImportError::Nothing { .. })), "{refused:?}");
    assert!(importer.copies().is_empty());
}

#[test]
fn what_is_no_archive_is_told() {
    let mut importer = Importer::new();
    for (name, content) in [("empty", &b""[..]), ("text", b"hello"), ("half.gz", b"\x1f\x8b\x08")] {
        let refused = importer.take(name, content).unwrap_err().to_string();
        assert!(refused.contains(name), "{refused}");
    }
    let twice = tar(&[("a/run.json", b"{}"), ("a/run.json", b"{}")]);
    assert!(matches!(importer.take("twice.tar", &twice), Err(ImportError::Damaged { .. })));
}

#[test]
fn a_review_comes_with_its_good_runs_and_word_of_the_others() {
    let mut importer = Importer::new();
    let (one, two) = (importer.place.consistency("one", 1), importer.place.consistency("two", 2));
    let mut files = [files_of(&one, "r/one"), files_of(&two, "r/two")].concat();
    files[1].1.truncate(100);
    let imported = importer.take("r.tar", &tar_of(&files)).unwrap();
    assert_eq!((imported.runs, imported.refused.len()), (1, 1));
    assert!(imported.refused[0].starts_with("r/one:"), "{:?}", imported.refused);
    let bench = importer.library.bench().unwrap();
    assert_eq!((own(&bench).len(), bench.problems.len()), (1, 0));
}

/// Whatever bytes are wrong, an import ends with an answer, and nothing lies where it should not.
#[test]
fn damaged_archives_end_with_an_answer() {
    let mut importer = Importer::new();
    let run = importer.place.consistency("original", 1);
    let whole = tar_of(&files_of(&run, "a"));
    let packed = zstd::encode_all(&whole[..], 1).unwrap();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for turn in 0..200 {
        let mut bytes = if turn % 4 == 0 { packed.clone() } else { whole.clone() };
        match turn % 3 {
            0 => bytes.truncate(next(whole.len().min(bytes.len()))),
            _ => {
                for _ in 0..1 + next(8) {
                    let place = next(bytes.len());
                    bytes[place] = next(256) as u8;
                }
            }
        }
        if let Ok(Imported { place: Some(place), .. }) = importer.take("mutant", &bytes) {
            importer.library.remove(&[place]).unwrap();
        }
        assert!(importer.copies().is_empty(), "turn {turn}");
    }
}

/// Records that no run wrote, with seconds that one did.
#[test]
fn damaged_records_end_with_an_answer() {
    let mut importer = Importer::new();
    let run = importer.place.consistency("original", 1);
    let files = files_of(&run, "a");
    let record: Value = serde_json::from_slice(&files[0].1).unwrap();
    let wrong =
        [Value::Null, Value::from(-1), Value::from("0s"), Value::from(u64::MAX), Value::from("")];
    let mut turn = 0;
    for section in ["plan", "drive", "phases", "outcome", "options"] {
        let keys: Vec<String> = record[section]
            .as_object()
            .map_or_else(Vec::new, |values| values.keys().cloned().collect());
        for key in keys {
            let mut mutant = record.clone();
            mutant[section][&key] = wrong[turn % wrong.len()].clone();
            turn += 1;
            let mut files = files.clone();
            files[0].1 = serde_json::to_vec(&mutant).unwrap();
            if let Ok(Imported { place: Some(place), .. }) = importer.take("m.tar", &tar_of(&files))
            {
                importer.library.remove(&[place]).unwrap();
            }
            assert!(importer.copies().is_empty(), "{section}.{key}");
        }
    }
    assert!(File::open(run.join("run.json")).is_ok());
}
