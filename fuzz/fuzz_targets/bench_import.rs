//! Any bytes as an archive of results: never a panic, and nothing written anywhere else.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use writecliff_bench::{Home, Library, Limits, import};

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let archive = directory.path().join("archive");
    fs::write(&archive, bytes).expect("room for the archive");
    let home = Home::at(&directory.path().join("library"));
    let mut library = Library::open(home.clone()).expect("an empty library");
    let _ = import(&mut library, &home, &archive, &Limits::default());
    let beside = fs::read_dir(directory.path()).expect("the directory is there");
    assert_eq!(beside.count(), 2, "nothing beside the archive and the library");
});
