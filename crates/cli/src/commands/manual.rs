//! `writecliff completions` and `writecliff manual`: what shells and `man` know of the commands, made
//! from the same list as `--help`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::error::CliError;
use crate::output::print;

pub(crate) fn completions(shell: Shell) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "writecliff", &mut text);
    print(&String::from_utf8_lossy(&text))
}

pub(crate) fn manual(directory: &Path) -> Result<(), CliError> {
    clap_mangen::generate_to(Arguments::command(), directory)
        .map_err(|source| CliError::Manual { path: directory.to_owned(), source })
}
